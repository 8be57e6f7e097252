"""Tables of judgments, by their recognised kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from polars_ir.errors import (
    Code,
    ColumnError,
    DataError,
    DtypeError,
    Fix,
    InputTypeError,
    MeasureError,
    fold,
    option,
    quoted,
)
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import has_column, to_polars
from polars_ir.frames.roles import ROLE_OF, could_be, find
from polars_ir.frames.table import qrels_table
from polars_ir.language.kinds import PROBABILITY, STRATUM, Kind, kind_shown


def preference_table(judgments: object, *, check: bool = True, by: Sequence[str] = ()) -> CanonicalFrame:
    """Preference judgments in any form as a table with `query_id`, `judge`, `group`, `doc_id` and `relevance`.

    They are levels (`doc_id`, `relevance`) or pairs of documents (`preferred`, `other`); a pair is a group of two.
    """
    if isinstance(judgments, pl.LazyFrame):
        raise InputTypeError(
            "must be in memory where they are preferences; got a LazyFrame.",
            about="qrels",
            fix=Fix("Collect it first", Code.collecting("qrels")),
        )
    if "judge" in by:
        fix = Fix("Rename it, and name that", Code.renaming("qrels", {"judge": "assessor"}))
        raise ColumnError("names 'judge', by which preferences are counted anyway.", about=option("by"), fix=fix)
    frame = to_polars("qrels", judgments, column="relevance").lazy().collect(engine="in-memory")
    table = qrels_table(_as_levels(frame) if {"preferred", "other"} & set(frame.columns) else frame, check=check, by=by)
    rows = table.all_columns().collect(engine="in-memory")
    absent = {"judge": pl.lit("0"), "group": pl.lit(0)}
    rows = rows.with_columns(**{column: value for column, value in absent.items() if column not in rows.columns})
    rows = rows.select(*table.keys, "judge", "group", "doc_id", "relevance")
    for column in ("judge", "group"):
        if count := rows[column].null_count():
            remedy = Fix("Leave them out", Code.without_nulls("qrels", column))
            null = rows.filter(pl.col(column).is_null()).rename(dict(table.names))
            raise DataError.rows("qrels", f"whose {column!r} is null", remedy, count, null)
    return replace(table.with_frame(rows), per=("judge", "group"))


def _as_levels(pairs: pl.DataFrame) -> pl.DataFrame:
    """Pairs of documents as levels: each pair is a group, the preferred document a level above the other."""
    columns = pairs.columns
    for role in ("preferred", "other"):
        if role not in columns:
            spare = [column for column in columns if column not in ("query_id", "judge", "preferred", "other")]
            raise ColumnError.missing("qrels", role, (role,), columns, spare)
    if both := [column for column in ("doc_id", "relevance", "group") if column in columns]:
        raise ColumnError(
            "are pairs of documents ('preferred', 'other') or levels ('doc_id', 'relevance'); they have both: "
            f"{quoted(columns)}.",
            about="qrels",
            fix=Fix("Keep one kind", Code.dropping("qrels", both)),
        )
    if pairs["preferred"].dtype != pairs["other"].dtype:
        wanted = f"{pairs['preferred'].dtype}, as 'preferred' is"
        raise DtypeError.of_column("qrels", "other", wanted, pairs["other"].dtype, "Cast one of them.")
    # A null is no document, and no document is preferred to itself.
    wrong = ~pl.col("preferred").ne(pl.col("other")).fill_null(False)
    if count := int(pairs.select(wrong.sum()).item()):
        different = "pl.col('preferred') != pl.col('other')"
        of_pandas = "qrels['preferred'].ne(qrels['other']) & qrels[['preferred', 'other']].notna().all(axis=1)"
        remedy = Fix("Leave them out", Code.keeping("qrels", different, of_pandas))
        raise DataError.rows("qrels", "without two different documents", remedy, count, pairs.filter(wrong))
    pairs = pairs.with_row_index("group")
    sides = [("preferred", "other", 2), ("other", "preferred", 1)]
    return pl.concat(
        pairs.drop(without).rename({side: "doc_id"}).with_columns(relevance=level) for side, without, level in sides
    )


#: The table of the judgments of each kind.
TABLES: Mapping[str, Callable[..., CanonicalFrame]] = {
    "documents": qrels_table,
    "subtopics": partial(qrels_table, per="subtopic"),
    "preferences": preference_table,
}


def judgment_table(judgments: object, *, check: bool = True, by: Sequence[str] = ()) -> tuple[Kind, CanonicalFrame]:
    """The kind of judgments, by their columns, and their table."""
    frame = to_polars("qrels", judgments, column="relevance")
    schema = frame.collect_schema()
    could = {name for name, dtype in schema.items() if could_be("subtopic", dtype)}
    named = [name for name in could if ROLE_OF.get(fold(name)) == "subtopic"]
    shows = len(named) == 1 or (not named and find("qrels", "subtopic", schema) in could)
    kind = kind_shown([*schema, "subtopic"] if shows else schema.names())
    return kind, TABLES[kind.name](judgments if isinstance(judgments, pl.LazyFrame) else frame, check=check, by=by)


def check_whole(judgments: object, read: Collection[str] = (), *, about: str = "qrels") -> None:
    """Refuse judgments that are a sample where they are taken for all; `read` are columns that a measure names."""
    if has_column(judgments, PROBABILITY):
        says = f"are a sample, as {PROBABILITY!r} says, of which `evaluate` alone gives estimates."
        fix = Fix("To take it for the whole pool", Code.dropping(about, [PROBABILITY]))
        raise ColumnError(says, about=about, fix=fix)
    if STRATUM in read:
        raise MeasureError(
            f"a measure that reads the {STRATUM!r} of the pool, such as xinfAP, is one of `evaluate`, `explain` alone; "
            "here take one of the whole pool, such as AP."
        )
