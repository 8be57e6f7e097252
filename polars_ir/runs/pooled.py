"""Warnings of days, tenants or collections pooled into one ranking, since the call did not name them as keys."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from polars_ir.engine import tuning
from polars_ir.errors import Fix, Setting, fold, table_name, warn
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.roles import PARTS

#: Rows of a plan, beside a sample, that show whether a column is of documents.
FIRST = 10_000


def with_pooled(
    result: pl.LazyFrame, run: CanonicalFrame, read: Collection[str], marks: dict[str, Any]
) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """The result and its marks, after a warning of the columns that no measure reads, or with marks for that."""
    names = perhaps_pooled(run, read)
    if run.eager:
        warn_of_pooled(run, names)
    elif names and marks:
        pools = (several(name).alias(pooled(name)) for name in names)
        of_rankings = run.select(*run.keys, *names).group_by(run.keys).agg(pools)
        return result.join(of_rankings, on=run.keys, how="left"), marks | dict.fromkeys(map(pooled, names))
    return result, marks


def warn_of_pooled_rows(run: CanonicalFrame) -> None:
    """Warn of columns with several values in a ranking of a run in memory."""
    warn_of_pooled(run, perhaps_pooled(run))


def perhaps_pooled(run: CanonicalFrame, read: Collection[str] = ()) -> list[str]:
    """Unread columns of a run that may distinguish rankings by their names, or as days."""
    taken = {*run.names, *read}
    return [
        name for name, dtype in run.dtypes.items() if name not in taken and (fold(name) in PARTS or dtype == pl.Date)
    ]


def pooled(name: str) -> str:
    """The mark of a plan that is true of a ranking with several values of a column."""
    return f"polars_ir: pooled {name}"


def warn_of_pooled(run: CanonicalFrame, names: Sequence[str], marks: pl.DataFrame | None = None) -> None:
    """Warn of columns with several values in a ranking, of a plan by its marks alone."""
    for name in names:
        if marks is None:
            pools = run.found(run.select(*run.keys, name).group_by(run.keys).agg(several(name)))[name]
        else:
            pools = marks[pooled(name)]
        if pools.any() and not fixed_by_document(run, name).collect(engine=run.engine).item():
            fix = Fix("If these are separate rankings, name it", Setting("by", name))
            warn(
                f"{table_name('run')} has several {name!r} in a ranking, whose documents are ranked together.", fix=fix
            )


def several(name: str) -> pl.Expr:
    """True for a ranking with several values of a column."""
    return pl.col(name).n_unique() > 1


def fixed_by_document(run: CanonicalFrame, name: str) -> pl.LazyFrame:
    """A row whose `fixed` is true for a column with one value per document, as far as documents recur."""
    rows = run.select("doc_id", name)
    if not run.rows:  # A LazyFrame, of which a sample is searched.
        sampled = pl.col("doc_id").hash() % tuning.TUNING.sampled == 0
        rows = rows.with_row_index("polars_ir: row").filter(sampled | (pl.col("polars_ir: row") < FIRST))
    documents = rows.group_by("doc_id").agg(n=pl.len(), values=pl.col(name).n_unique())
    return documents.select(fixed=(pl.col("n") > 1).any() & (pl.col("values") == 1).all())
