"""The files that commands read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from polars_ir.cli.messages import about, option_for
from polars_ir.errors import FileError, OptionError
from polars_ir.files import read_qrels, read_run, tables
from polars_ir.files.delimited import SEPARATORS
from polars_ir.files.formats import Format
from polars_ir.files.incoming import STDIN, as_file
from polars_ir.files.locations import File
from polars_ir.files.sources import resolve, stem
from polars_ir.files.unreadable import FAILURES, unreadable
from polars_ir.files.writers import TABLES
from polars_ir.progress import progress
from polars_ir.schema import find
from polars_ir.trec_eval.results import read_trec_eval


def check_stdin(options: argparse.Namespace) -> None:
    """Raise an `OptionError` where standard input is named twice: it can be read once."""
    named = [name for option, value in vars(options).items() if option != "target" for name in _listed(value)]
    if named.count(STDIN) > 1:
        raise OptionError("standard input (-) can be read once; give files for the others.")


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def qrels_of(name: str, format: Format | None = None, *, option: str = "qrels_format") -> pl.DataFrame:
    """Judgments, from a file or standard input; `option` sets their format."""
    with as_file(name) as file, option_for("format", option):
        return read_qrels(file, format=format)


def run_of(name: str, format: Format | None = None) -> pl.DataFrame:
    """A run, from a file or standard input."""
    with as_file(name) as file:
        return read_run(file, format=format)


def alike(left: pl.DataFrame, right: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two tables with their ids as text, if one of them has them so: a text file knows no other."""
    for role in ("query_id", "doc_id"):
        ours, theirs = find("run", role, left.columns), find("qrels", role, right.columns)
        if ours and theirs and left.schema[ours].is_integer() != right.schema[theirs].is_integer():
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
    found = find("run", "query_id", frame.columns)
    return frame.rename({found: name}) if found and name else frame


def _names(files: Sequence[str]) -> dict[str, str]:
    """The name of each file's system; files of one name in several folders are told apart by their paths."""
    if len(set(files)) < len(files):
        raise OptionError(f"each file can be given once; got {', '.join(files)}.")
    names = ["stdin" if file == STDIN else stem(Path(file)) for file in files]
    return dict(zip(files, names if len(set(names)) == len(names) else files, strict=True))


def _read(file: str, read: Callable[[str], pl.DataFrame]) -> pl.DataFrame:
    with about(file):
        return read(file)


def _named(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A frame with the name of its system."""
    if find("run", "run", frame.columns):
        return frame
    return frame.select(pl.lit(name).alias("run"), pl.all())


def per_query_of(name: str) -> pl.DataFrame:
    """The figures of each query: a table that `evaluate --per-query` wrote, or what trec_eval printed."""
    with as_file(name) as file:
        if Path(file).suffix in TABLES:
            return table_of(file)
        try:
            return read_trec_eval(file)
        except FileError as error:
            raise FileError(
                f"{error}\nFigures of queries come from evaluate --per-query ({', '.join(TABLES)}), "
                "or as trec_eval -q prints them; runs go with --qrels."
            ) from None


def table_of(name: str) -> pl.DataFrame:
    """A table with a query column, whose ids stay as they are written: 007 is not 7."""
    file, *others = resolve(name)
    if others:
        raise FileError(f"{name}: a table is in one file here; this stands for {len(others) + 1}.")
    format = TABLES.get(Path(name).suffix)
    if format is None:
        raise FileError(f"{name}: unknown ending; tables are read from {', '.join(TABLES)}.")
    table = tables.read([file], format) if format in tables.FORMATS else _text_table(file, SEPARATORS[format])
    if table.is_empty():
        raise FileError.empty(file)
    return table


def _text_table(file: File, separator: str) -> pl.DataFrame:
    try:
        columns = pl.read_csv(file, separator=separator, n_rows=0).columns
        ids = [found for role in ("query_id", "run") if (found := find(str(file), role, columns))]
        types = dict.fromkeys(ids, pl.String)
        return pl.read_csv(file, separator=separator, schema_overrides=types, infer_schema_length=None)
    except pl.exceptions.NoDataError:
        raise FileError.empty(file) from None
    except FAILURES as error:
        raise unreadable(file, error, separator) from None
