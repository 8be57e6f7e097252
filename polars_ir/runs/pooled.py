"""Warnings of days, tenants or collections that are pooled into one ranking, since no call said that they are apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from polars_ir.engine import tuning
from polars_ir.errors import Fix, Setting, the, warn
from polars_ir.frames.roles import fold
from polars_ir.frames.table import Table

#: Names of what tells rankings apart; dates do under any name.
PARTS = {"date", "day", "ds", "month", "night", "time", "timestamp", "week", "year"}
PARTS |= {"batch", "collection", "corpus", "dataset", "index", "job", "partition", "snapshot", "split"}
PARTS |= {"tenant", "version"}

#: So many rows of a plan, beside a sample, tell whether a column is of documents.
FIRST = 10_000


def told_of_pooled(
    result: pl.LazyFrame, run: Table, read: Collection[str], marks: dict[str, Any]
) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """The result and its marks, after a warning of the columns that no measure reads, or with marks for that."""
    names = perhaps_pooled(run, read)
    if run.eager:
        warn_of_pooled(run, names)
    elif names and marks:
        several = (_several(name).alias(pooled(name)) for name in names)
        of_rankings = run.select(*run.keys, *names).group_by(run.keys).agg(several)
        return result.join(of_rankings, on=run.keys, how="left"), marks | dict.fromkeys(map(pooled, names))
    return result, marks


def perhaps_pooled(run: Table, read: Collection[str] = ()) -> list[str]:
    """The columns of a run, none of them read, that may tell rankings apart by their names, or as days."""
    spare = [name for name in run.columns if name not in run.names and name not in read]
    return [name for name in spare if fold(name) in PARTS or run.dtypes[name] == pl.Date]


def pooled(name: str) -> str:
    """The mark of a plan that is true of a ranking with several values of a column."""
    return f"polars_ir: pooled {name}"


def warn_of_pooled(run: Table, names: Sequence[str], marks: pl.DataFrame | None = None) -> None:
    """Warn of columns with several values in a ranking, of a plan by its marks."""
    for name in names:
        if marks is None:
            several = (
                run.select(*run.keys, name).group_by(run.keys).agg(_several(name)).collect(engine=run.engine)[name]
            )
        else:
            several = marks[pooled(name)]
        if several.any() and not _is_of_documents(run, name):
            fix = Fix("If these are rankings of their own, name it", Setting("by", name))
            warn(f"{the('run')} has several {name!r} in a ranking, whose documents are ranked together.", fix=fix)


def _several(name: str) -> pl.Expr:
    return pl.col(name).n_unique() > 1


def _is_of_documents(run: Table, name: str) -> bool:
    """True of a column that always has one value for a document, as far as documents come again."""
    rows = run.select("doc_id", name)
    if not run.eager:
        sampled = pl.col("doc_id").hash() % tuning.TUNING.sampled == 0
        rows = rows.with_row_index("polars_ir: row").filter(sampled | (pl.col("polars_ir: row") < FIRST))
    documents = rows.group_by("doc_id").agg(n=pl.len(), values=pl.col(name).n_unique()).collect(engine=run.engine)
    return bool((documents["n"] > 1).any() and (documents["values"] == 1).all())
