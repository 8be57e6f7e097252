"""A query that stands in a partition for all others: the core learns from it what only other partitions hold.

Conventions
    * What a figure depends on beside its own query are three things: the systems there are (each has a row for every
      judged query), the highest grade that occurs (`bounds`), and the documents judged for any query
      (`judged_elsewhere`).
    * The stand-in has an id that no query of the partition has. Its row is left out of the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import polars.selectors as cs

#: What partitions share: columns of a row that every judged query brings along.
SYSTEMS, HIGHEST = "systems", "highest"


@dataclass(frozen=True)
class Names:
    """The columns of both tables by their roles, under the names their user gave; `qrels` is empty without qrels."""

    run: Mapping[str, str]
    qrels: Mapping[str, str]


def with_stand_in(
    run: pl.DataFrame,
    qrels: pl.DataFrame | None,
    names: Names,
    shared: pl.DataFrame | None,
    pooled: pl.DataFrame | None,
) -> tuple[pl.DataFrame, pl.DataFrame | None, Any]:
    """Both tables with the rows of a stand-in, and its id; None, and the tables as they are, where none is needed.

    `shared` has what partitions share, in one row or, where no query is judged, none; `pooled` are those rows of the
    run whose documents are judged for any query.
    """
    if (shared is None or not shared.height) and (pooled is None or not pooled.height):
        return run, qrels, None
    facts = shared.row(0, named=True) if shared is not None and shared.height else {}
    run, qrels = _wide(run, names.run), None if qrels is None else _wide(qrels, names.qrels)
    judged, of_judged = (run, names.run) if qrels is None else (qrels, names.qrels)
    query = _unused(run[names.run["query_id"]], judged[of_judged["query_id"]])
    if SYSTEMS in facts:
        systems = pl.Series(facts[SYSTEMS], dtype=run.schema[names.run["run"]])
        run = _followed_by(run, {names.run["query_id"]: [query] * len(systems), names.run["run"]: systems})
    if HIGHEST in facts or pooled is not None:
        # A document that nobody retrieved for the grade, so that there is a row of it also without a pool.
        doc = names.run["doc_id"]
        docs = [_unused(run[doc]), *([] if pooled is None else pooled[doc].unique())]
        grade = facts.get(HIGHEST)
        rows = {
            of_judged["query_id"]: [query] * len(docs),
            of_judged["doc_id"]: docs,
            of_judged["relevance"]: [0 if grade is None else grade] * len(docs),
        }
        judged = _followed_by(run if qrels is None else judged, rows)
    return (judged, None, query) if qrels is None else (run, judged, query)


def _wide(frame: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """The frame with integer ids as Int64, as the core has them: a short one may have no number left to add."""
    ids = [names[role] for role in ("query_id", "doc_id") if role in names]
    return frame.with_columns((cs.integer() & cs.by_name(ids)).cast(pl.Int64))


def _followed_by(frame: pl.DataFrame, columns: Mapping[str, Sequence[Any] | pl.Series]) -> pl.DataFrame:
    """The frame and some rows that have values in some columns, and 0 in the others, or null where there is no 0."""
    rows = pl.DataFrame(columns, strict=False)
    values = (
        pl.col(name).cast(dtype)
        if name in columns
        else pl.lit(0 if dtype.is_numeric() or dtype == pl.String else None).cast(dtype).alias(name)
        for name, dtype in frame.schema.items()
    )
    return pl.concat([frame, rows.select(values)])


def _unused(*ids: pl.Series) -> Any:
    """The first number that is none of some ids; as text where they are."""
    used = pl.concat(ids).unique()
    numbers = pl.int_range(len(used) + 1, eager=True).cast(used.dtype)
    return numbers.filter(~numbers.is_in(used.implode()))[0]
