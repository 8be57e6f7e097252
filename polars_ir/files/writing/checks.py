"""Shared by writers: rankings, lines of fields, and errors for content that a format cannot hold."""

from __future__ import annotations

from typing import IO, Any

import polars as pl

from polars_ir.errors import SHOWN, DataError
from polars_ir.frames.canonical_frame import CanonicalFrame

#: The rows of a run that are sorted at a time, and more only of a query that has more: about 1 GB of memory. Each
#: time is a pass over the run, so that fewer would make it slow.
ROWS_AT_ONCE = 5_000_000

#: Characters that break lines, or end a text in some programs.
BROKEN = "[\r\n\0]"

#: Number of digits up to which Float64 keeps Decimals different.
DIGITS = 15


def sink_fields(frame: pl.LazyFrame, file: IO[bytes] | str, separator: str = " ", **options: Any) -> None:
    """Write lines of fields, which hold no separator."""
    frame.sink_csv(file, separator=separator, include_header=False, quote_style="never", **options)


def ranked(table: CanonicalFrame, tag: str) -> list[pl.LazyFrame]:
    """A run with its ranks, in the order of its ranking, some queries at a time; `tag` must be a field, too."""
    rows = table.select("query_id", "doc_id", "score")
    check_fields("run", rows.select("query_id", "doc_id", tag=pl.lit(tag)), table)
    check_scores(table, pl.col("score").cast(pl.Float64).is_nan().fill_null(True), "whose score is null or NaN")
    check_precise(table)
    check_any("run", rows)
    parts = _some_queries_at_a_time(rows)
    rank = pl.struct("score", "doc_id").rank("ordinal", descending=True).over("query_id")
    return [part.with_columns(rank=rank).sort("query_id", "rank") for part in parts]


def _some_queries_at_a_time(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Rows in chunks that can be sorted in memory, by query id."""
    sizes = rows.group_by("query_id").len().sort("query_id").collect(engine="streaming")
    before = pl.col("len").cast(pl.Int64).cum_sum() - pl.col("len")
    query = pl.col("query_id")
    parts = sizes.group_by(before // ROWS_AT_ONCE, maintain_order=True).agg(first=query.first(), last=query.last())
    ends = parts.select("first", "last").rows()
    if len(ends) == 1:
        return [rows]
    return [rows.filter(query.is_between(pl.lit(first), pl.lit(last))) for first, last in ends]


def check_scores(table: CanonicalFrame, wrong: pl.Expr, problem: str) -> None:
    """Raise a `DataError` for scores outside a format."""
    bad = table.select(*table.keys, "doc_id", "score").filter(wrong)
    raise_if_any("run", bad, problem, "Leave them out, or write Parquet.", {})


def check_text(name: str, table: CanonicalFrame) -> None:
    """Raise a `DataError` for ids that go on over lines, and scores that texts do not hold."""
    if name == "run" and "score" in table.dtypes:
        check_precise(table)
    ids = [id for id in ("query_id", "doc_id") if table.dtypes.get(id) in (pl.String, pl.Categorical, pl.Enum)]
    if ids:
        broken = pl.any_horizontal(pl.col(id).cast(pl.String).str.contains(BROKEN) for id in ids)
        problem = "whose id has a line end or a NUL, and could not be read back"
        raise_if_any(name, table.select(*ids).filter(broken), problem, "Give them other ids, or write Parquet.", {})


def check_precise(table: CanonicalFrame) -> None:
    """Raise a `DataError` for integers and Decimals that Float64, as which scores are read, could make equal."""
    score, dtype = pl.col("score"), table.dtypes["score"]
    if dtype.is_integer():
        wrong = score.cast(pl.Float64).cast(dtype, strict=False).ne_missing(score)
    elif dtype.is_decimal():
        digits = score.cast(pl.String).str.replace_all(r"[-.]", "").str.replace_all(r"^0+|0+$", "")
        wrong = digits.str.len_bytes() > DIGITS
    else:
        return
    check_scores(table, wrong, "whose score has more digits than Float64, the type it is read back as")


def check_finite(table: CanonicalFrame) -> None:
    """Raise a `DataError` for scores that JSON cannot hold."""
    check_scores(
        table, ~pl.col("score").cast(pl.Float64).is_finite(), "whose score is NaN or infinite, which JSON cannot hold"
    )


def check_fields(name: str, fields: pl.LazyFrame, table: CanonicalFrame) -> None:
    """Raise a `DataError` for a value that would not be read back as one field of a line."""
    first, *_ = columns = fields.collect_schema().names()
    text = [pl.col(column).cast(pl.String) for column in columns]
    broken = pl.any_horizontal(field.is_null() | (field == "") | field.str.contains(r"[\s\x00]") for field in text)
    bad = fields.filter(broken | text[0].str.starts_with("#") | text[0].str.starts_with("\ufeff"))
    names = {role: user for role, user in table.names.items() if role in columns and user not in columns}
    problem = f"that are no fields of a TREC file (empty, with a blank, or {first!r} begins with #)"
    raise_if_any(name, bad, problem, "Write a table instead (.parquet, .tsv), or give them other ids.", names)


def check_any(name: str, rows: pl.LazyFrame) -> None:
    """Raise a `DataError` for a table without rows, where the format could not tell it from a broken file."""
    if rows.head(1).collect(engine="streaming").is_empty():
        fix = "Write a table (.parquet, .csv)"
        raise DataError("has no rows, and an empty file of this format cannot be read.", about=name, fix=fix)


def check_judged_once(rows: pl.LazyFrame, keys: list[str]) -> None:
    """Raise a `DataError` for repeated judgments, whose distinguishing column the format lacks."""
    remedy = "Keep one of each; of subtopics or judges, write that format or a table (.parquet, .csv)."
    check_once("qrels", rows, keys, remedy)


def check_once(name: str, rows: pl.LazyFrame, keys: list[str], remedy: str) -> None:
    """Raise a `DataError` for rows with the same keys."""
    again = rows.filter(pl.len().over(keys) > 1).select(keys)
    raise_if_any(name, again, f"that repeat the ids of another ({', '.join(keys)})", remedy, {})


def raise_if_any(name: str, bad: pl.LazyFrame, problem: str, remedy: str, names: dict[str, str]) -> None:
    """Raise a `DataError` that counts and shows the rows of a plan, if it has any."""
    examples = bad.head(SHOWN).collect(engine="streaming")
    if examples.height:
        count = bad.select(pl.len()).collect(engine="streaming").item()
        raise DataError.rows(name, problem, remedy, count, examples.rename(names))
