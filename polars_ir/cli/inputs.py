"""The files that commands read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from polars_ir.cli.progress import progress
from polars_ir.errors import ColumnError, FileError, Fix, OptionError, door, known_as, nearest, quoted
from polars_ir.files import read_qrels, read_run, scan_run, tables
from polars_ir.files.delimited import read_table
from polars_ir.files.downloads import downloaded
from polars_ir.files.formats import TABLES, FormatName
from polars_ir.files.formats.separated import SEPARATORS
from polars_ir.files.incoming import STDIN, as_file, shown_name
from polars_ir.files.locations import located
from polars_ir.files.record import Typed
from polars_ir.files.sources import names, resolve
from polars_ir.files.unpacking import MAX_RATIO
from polars_ir.frames.columns import ROLES, find
from polars_ir.trec_eval.results import read_trec_eval

#: Parquet files of so many bytes are read by the plan of an evaluation, in parts; in memory they take six times as
#: many, which is faster where there is room.
LARGE = 500_000_000

Table = TypeVar("Table", pl.DataFrame, pl.LazyFrame)


def check_stdin(options: argparse.Namespace) -> None:
    """Raise an `OptionError` where standard input is named twice: it can be read once."""
    named = [name for option, value in vars(options).items() if option != "target" for name in _listed(value)]
    if named.count(STDIN) > 1:
        raise OptionError("standard input (-) can be read once; give files for the others.")


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def limits_of(options: argparse.Namespace) -> dict[str, Any]:
    """What files may not do, as the readers take it."""
    return {"remote": options.remote, "max_ratio": options.max_ratio}


def qrels_of(
    name: str, format: FormatName | None = None, *, option: str = "qrels_format", **limits: Any
) -> pl.DataFrame:
    """Judgments, from a file or standard input; `option` sets their format."""
    shell_names = {"qrels": shown_name(name), "format": door().names.get(option, door().name("format"))}
    with as_file(name) as file, known_as(**shell_names):
        return read_qrels(file, format=format, **limits)


def run_of(name: str, format: FormatName | None = None, **limits: Any) -> pl.DataFrame:
    """A run, from a file or standard input."""
    with as_file(name) as file, known_as(run=shown_name(name)):
        return read_run(file, format=format, **limits)


def run_or_plan_of(name: str, format: FormatName | None = None, **limits: Any) -> Any:
    """A run, from a file or standard input; a plan of Parquet files that are so large that they are read in parts."""
    if name != STDIN and (format or Path(name).suffix.removeprefix(".")) == "parquet":
        with known_as(run=shown_name(name)):
            files = [Path(file) for file in resolve(name, **limits)]
            if sum(file.stat().st_size for file in files if file.exists()) >= LARGE:
                return scan_run(name, format=format, **limits)
    return run_of(name, format, **limits)


def alike(left: Table, right: pl.DataFrame) -> tuple[Table, pl.DataFrame]:
    """Two tables with their ids as text, if one of them has them so: a text file knows no other."""
    for role in ("query_id", "doc_id"):
        of_left, of_right = left.collect_schema(), right.schema
        ours, theirs = find("run", role, of_left.names()), find("qrels", role, of_right.names())
        if ours and theirs and of_left[ours].is_integer() != of_right[theirs].is_integer():
            left, right = left.cast({ours: pl.String}), right.cast({theirs: pl.String})
    return left, right


def systems_of(files: Sequence[str], read: Callable[[str], pl.DataFrame]) -> pl.DataFrame:
    """What is read from files of a system each, told apart by their names; one that holds several brings their names.

    The query column is called as in the first.
    """
    frames = [_named(_read(file, read), name) for file, name in progress(list(_names(files).items()), "files")]
    query = find("run", "query_id", frames[0].columns)
    return pl.concat([_with_query(frame, query) for frame in frames], how="diagonal_relaxed")


def _with_query(frame: pl.DataFrame, name: str | None) -> pl.DataFrame:
    """A frame whose query column, if there is one, has this name."""
    query = find("run", "query_id", frame.columns)
    return frame.rename({query: name}) if query and name else frame


def _names(files: Sequence[str]) -> dict[str, str]:
    """The name of each file's system; files of one name in several folders are told apart by their paths."""
    if len(set(files)) < len(files):
        raise OptionError(f"each file can be given once; got {', '.join(files)}.")
    places = [Path("stdin") if file == STDIN else located(file) for file in files]
    return dict(zip(files, names(places), strict=True))


def _read(file: str, read: Callable[[str], pl.DataFrame]) -> pl.DataFrame:
    with known_as(run=shown_name(file)):
        return read(file)


def _named(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A frame with the name of its system."""
    if find("run", "run", frame.columns):
        return frame
    return frame.select(pl.lit(name).alias("run"), pl.all())


def per_query_of(name: str, **limits: Any) -> pl.DataFrame:
    """The figures of each query: a table that `evaluate --per-query` wrote, or what trec_eval printed."""
    with as_file(name) as file, known_as(per_query=shown_name(name)):
        if Path(file).suffix in TABLES:
            return table_of(file, **limits)
        try:
            return read_trec_eval(file, **limits)
        except FileError as error:
            error.fix = Fix(
                f"Figures of queries come from evaluate --per-query ({', '.join(TABLES)}), or as trec_eval -q prints "
                "them; runs go with --qrels"
            )
            raise


def table_of(name: str, **limits: Any) -> pl.DataFrame:
    """A table with a query column, whose ids stay as they are written: 007 is not 7."""
    file, *others = resolve(name, **limits)
    if others:
        raise FileError(f"{name}: a table is in one file here; this stands for {len(others) + 1}.")
    format = TABLES.get(Path(name).suffix)
    if format is None:
        raise FileError(f"{name}: unknown ending; tables are read from {', '.join(TABLES)}.")
    reader, max_ratio = format.reader, limits.get("max_ratio", MAX_RATIO)
    with downloaded([file], format, max_ratio) as (local,):
        if isinstance(reader, Typed):
            table = tables.read([local], reader, max_ratio)
        else:
            table = read_table(local, SEPARATORS[format.name])
    if table.is_empty():
        raise FileError.empty(file)
    return table


def queries_of(options: argparse.Namespace, wanted: Sequence[str]) -> pl.DataFrame:
    """The table of queries that an option names columns of."""
    queries = table_of(options.queries, **limits_of(options))
    if find("queries", "query_id", queries.columns) is None:
        raise ColumnError.missing("queries", "query_id", ROLES["query_id"], queries.columns)
    for name in wanted:
        if name not in queries.columns:
            says = f"has no column {name!r}; it has {quoted(queries.columns)}."
            raise ColumnError(says, about="queries", near=nearest(name, queries.columns))
    return queries


def slices_of(per_query: pl.DataFrame, options: argparse.Namespace) -> tuple[pl.DataFrame, Any]:
    """The figures of queries, and what `by` names: columns of theirs, or of a table of queries."""
    if options.queries is None or options.by is None:
        if options.queries is not None:
            raise OptionError("--queries is a table for --by to name columns of; give both.")
        return per_query, options.by
    queries = queries_of(options, options.by)
    per_query, queries = alike(per_query, queries)
    return per_query, queries.select(find("queries", "query_id", queries.columns), *options.by)
