"""NDJSON: a JSON object a line, whose keys are the columns of a table.

Conventions: only all lines tell the columns, so that a scan reads the file once before it returns, and so finds every
wrong line. Of a key that is twice in a line the first one counts.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.finding.file import File, beginning, one_file
from polars_ir.files.formats import elasticsearch
from polars_ir.files.formats.record import Format, Typed, Writer
from polars_ir.files.rows.unreadable import FAILURES, unreadable_objects
from polars_ir.files.writing.checks import check_any, check_finite, check_precise
from polars_ir.frames.canonical_frame import CanonicalFrame

#: A surrogate as JSON writes it, in a pair or alone.
_HALF = r"(?i)\\ud[89a-f]"


def scan(files: list[File]) -> pl.LazyFrame:
    """The files as one table."""
    local = [file for file in files if isinstance(file, Path)]
    if len(local) == len(files) and any(beginning(file).startswith(BOM_UTF8) for file in local):
        # Polars takes a byte-order mark for no JSON.
        read = [file.read_bytes().removeprefix(BOM_UTF8) for file in local]
        return pl.scan_ndjson(read, infer_schema_length=None)  # type: ignore[arg-type]  # it takes these too
    return pl.scan_ndjson([one_file(file) for file in files], infer_schema_length=None)


def _check(file: File, schema: pl.Schema) -> None:
    """Raise a `FileError` for search responses, and for unpaired surrogates."""
    if elasticsearch.is_response(schema):
        raise elasticsearch.nameless(file)
    # To fetch a remote file once more would take too long.
    if isinstance(file, Path):
        _check_characters(file)


def _check_characters(path: Path) -> None:
    """Raise a `FileError` for an unpaired surrogate, which JSON can write and Polars would read as NUL."""
    lines = pl.scan_lines(path, name="line", row_index_name="number", row_index_offset=1, glob=False)
    rest = pl.col("line")
    for whole in (r"\\\\", r"(?i)\\ud[89ab]..\\ud[c-f].."):
        rest = rest.str.replace_all(whole, "")
    # Few lines have such an escape at all.
    halves = lines.filter(pl.col("line").str.contains(_HALF)).filter(rest.str.contains(_HALF)).head(1)
    try:
        offenders = halves.select("number", "line").collect(engine="streaming").rows()
    except FAILURES as error:
        raise unreadable_objects(path, error) from None
    for number, line in offenders:
        raise FileError.at_line(path, number, line, "an escape from \\ud800 to \\udfff is an unpaired surrogate.")


def _finite_rows(table: CanonicalFrame, _tag: str) -> list[pl.LazyFrame]:
    check_any("run", table.select("query_id"))
    check_finite(table)
    if table.dtypes["score"].is_decimal():
        # Polars writes it as a text.
        check_precise(table)
        return [table.all_columns().with_columns(pl.col("score").cast(pl.Float64))]
    return [table.all_columns()]


def _judged_rows(table: CanonicalFrame, _tag: str) -> list[pl.LazyFrame]:
    check_any("qrels", table.select("query_id"))
    return [table.all_columns()]


NDJSON = Format(
    "ndjson",
    {"run": "a JSON object a row", "qrels": "a JSON object a row"},
    Typed(scan, _check, unreadable_objects, by_rows=True),
    Writer({"run": _finite_rows, "qrels": _judged_rows}, pl.LazyFrame.sink_ndjson, table=True),
    {
        "run": '{"query_id": "q1", "doc_id": "d3", "score": 14.5}\n',
        "qrels": '{"query_id": "q1", "doc_id": "d1", "relevance": 2}\n',
    },
    extensions=(".ndjson", ".jsonl"),
)
