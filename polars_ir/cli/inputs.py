"""The files that commands read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from polars_ir.errors import FileError, OptionError
from polars_ir.files import read_qrels, read_run, tables
from polars_ir.files.formats import Format
from polars_ir.files.incoming import STDIN, as_file
from polars_ir.files.sources import resolve, stem
from polars_ir.files.unreadable import FAILURES, unreadable
from polars_ir.schema import find
from polars_ir.trec_eval.results import read_trec_eval

#: Tables that know their types, and texts with a separator, by the file's ending.
TYPED = {".parquet": "parquet", ".arrow": "ipc", ".ndjson": "ndjson"}
SEPARATORS = {".csv": ",", ".tsv": "\t"}


def qrels_of(name: str, format: Format | None = None) -> pl.DataFrame:
    """Judgments, from a file or standard input."""
    with as_file(name) as file:
        return read_qrels(file, format=format)


def run_of(name: str, format: Format | None = None) -> pl.DataFrame:
    """A run, from a file or standard input."""
    with as_file(name) as file:
        return read_run(file, format=format)


def systems_of(files: Sequence[str], read: Callable[[str], pl.DataFrame]) -> pl.DataFrame:
    """Files of a system each, told apart by their names; one that holds several brings their names along."""
    names = [stem(Path(file)) if file != STDIN else "stdin" for file in files]
    # Files of one name in several folders are told apart by their paths.
    names = names if len(set(names)) == len(names) else list(files)
    if len(set(names)) < len(names):
        raise OptionError(f"each file can be given once; got {', '.join(files)}.")
    frames = [_named(read(file), name) for file, name in zip(files, names, strict=True)]
    return pl.concat(frames, how="diagonal_relaxed")


def _named(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A frame with the name of its system."""
    if find("run", "run", frame.columns):
        return frame
    return frame.select(pl.lit(name).alias("run"), pl.all())


def per_query_of(name: str) -> pl.DataFrame:
    """The figures of each query: a table that `evaluate --per-query` wrote, or what trec_eval printed."""
    with as_file(name) as file:
        if Path(file).suffix in {*TYPED, *SEPARATORS}:
            return table_of(file)
        try:
            return read_trec_eval(file)
        except FileError as error:
            raise FileError(
                f"{error}\nFigures of queries come from evaluate --per-query ({', '.join([*TYPED, *SEPARATORS])}), "
                "or as trec_eval -q prints them; runs go with --qrels."
            ) from None


def table_of(name: str) -> pl.DataFrame:
    """A table with a query column, whose ids stay as they are written: 007 is not 7."""
    file, *others = resolve(name)
    if others:
        raise FileError(f"{name}: a table is in one file here; this stands for {len(others) + 1}.")
    suffix = Path(name).suffix
    if suffix in TYPED:
        return tables.read([file], TYPED[suffix])
    if suffix not in SEPARATORS:
        raise FileError(f"{name}: unknown ending; tables are read from {', '.join([*TYPED, *SEPARATORS])}.")
    separator = SEPARATORS[suffix]
    try:
        columns = pl.read_csv(file, separator=separator, n_rows=0).columns
        ids = [found for role in ("query_id", "run") if (found := find(name, role, columns))]
        types = dict.fromkeys(ids, pl.String)
        return pl.read_csv(file, separator=separator, schema_overrides=types, infer_schema_length=None)
    except FAILURES as error:
        raise unreadable(file, error, separator) from None
