"""The records of files of judged answers: a row each, with system and query by the names that they have there."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import SHOWN, Code, ColumnError, DataError, Fix, InputTypeError, quoted, with_names
from polars_ir.files.finding.sources import names, resolve
from polars_ir.files.tables import read_records
from polars_ir.frames.kinds import give_back, to_polars
from polars_ir.inputs.fields import depth_of, fields_of, first_field, innermost, paths_of, refuse

#: The fields of the query and of the system.
QUERY = tuple(
    f"{outer}{name}" for outer in ("", "metadata.") for name in ("qid", "query_id", "topic_id", "narrative_id")
)
RUN = tuple(f"{outer}{name}" for outer in ("", "metadata.") for name in ("run_id", "run"))


def folded(words: pl.Expr) -> pl.Expr:
    """Words of judgments in lower case, with blanks for underscores."""
    return words.cast(pl.String).str.to_lowercase().str.replace_all("_", " ").str.strip_chars()


def underscored(words: pl.Expr) -> pl.Expr:
    """Words of judgments in lower case, with underscores for blanks."""
    return folded(words).str.replace_all(" ", "_")


def is_of_files(source: Any) -> bool:
    """True of a path, or a list of them."""
    return isinstance(source, str | os.PathLike) or (
        isinstance(source, Sequence) and bool(source) and all(isinstance(each, str | os.PathLike) for each in source)
    )


def records_of(source: Any, parts: str, **limits: Any) -> pl.DataFrame:
    """The records of files, or of a frame: `run`, `query_id`, `parts` (a list of objects) and their other fields.

    A record of a file without a system's name is of one called as the file.
    """
    if isinstance(source, Mapping) and parts in source:
        says = f"must be records in a list or table, or files; got one record, a dict with {parts!r}"
        raise InputTypeError(f"{says}.", about="source", fix=Fix("Give it in a list", Code("[source]")))
    if not is_of_files(source):
        return _recognised(to_polars("source", source, column=parts).lazy().collect(), parts, None)
    files = resolve(source, **limits)
    return pl.concat(
        [_of_file(os.fspath(file), parts, name, limits) for file, name in zip(files, names(files), strict=True)],
        how="diagonal_relaxed",
    )


def _of_file(file: str, parts: str, name: str, limits: dict[str, Any]) -> pl.DataFrame:
    with with_names(source=file):
        return _recognised(read_records(file, **limits), parts, name)


def _recognised(table: pl.DataFrame, parts: str, name: str | None) -> pl.DataFrame:
    """The records of a table under our names."""
    query, run = first_field(table.schema, QUERY), first_field(table.schema, RUN)
    dtype = table.schema.get(parts)
    if query is None or dtype is None or depth_of(dtype) != 1 or not fields_of(innermost(dtype)):
        wanted = f"must have a query ({', '.join(QUERY[:4])}) and {parts!r}, a list of objects"
        says = f"{wanted}; it has {quoted(paths_of(table.schema))}."
        scores = [each for each in table.columns if each.endswith("_score")]
        fix = f"Those with {scores[0]!r} are figures: read them with pl.read_ndjson" if scores else None
        raise ColumnError(says, about="source", fix=fix)
    system = pl.lit(name, pl.String) if run is None else pl.coalesce(run.value.cast(pl.String), pl.lit(name, pl.String))
    found = table.with_columns(run=system, query_id=query.value.cast(pl.String))
    found = found.filter(pl.col("query_id").ne_missing("all"))  # the mean over the others
    for wrong, problem, fix in (
        (pl.col("query_id").is_null(), "without a query", "Give each record one"),
        (pl.col(parts).list.len().fill_null(0) == 0, f"without {parts}", "Leave them out, and name them with missing="),
    ):
        refuse(found.filter(wrong), problem, fix, "run", "query_id")
    return found


def exploded(records: pl.DataFrame, parts: str, number: str, kept: Sequence[str] = ()) -> pl.DataFrame:
    """A row for each object of a list, numbered from 1 within its record."""
    rows = records.select(pl.int_range(pl.len()).alias("record"), *kept, parts).explode(parts, empty_as_null=True)
    return rows.with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("record").alias(number))


def check_once(rows: pl.DataFrame, keys: Sequence[str], what: str) -> None:
    """Raise a `DataError` for two records of an answer."""
    again = rows.filter(pl.struct(*keys).is_duplicated())
    if again.height:
        shown = again.select(*keys).unique(maintain_order=True).head(SHOWN)
        raise DataError.rows("source", f"of {what} that occur twice", "Keep one of each", again.height, shown)


def returned(rows: pl.DataFrame, source: Any) -> Any:
    """The rows, of the kind of a frame that was given; without the column of systems where there is one system."""
    rows = rows.drop("run") if rows["run"].n_unique() < 2 else rows
    return give_back(rows, None if is_of_files(source) else source)
