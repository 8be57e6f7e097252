"""The formats, and how a file tells its own: by its extension, and without a known one by its beginning.

Conventions: blank lines and comments (`#`) are not looked at. What fits no format is an error, never a guess.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.delimited import NUMERAL, is_beir, is_header
from polars_ir.files.locations import File, pure
from polars_ir.files.signatures import GZIP, ZSTD, beginning
from polars_ir.files.trec import BLANKS, FIELD
from polars_ir.files.unreadable import FAILURES, unreadable

Format: TypeAlias = Literal[
    "trec",
    "subtopics",
    "judges",
    "preferences",
    "beir",
    "parquet",
    "csv",
    "tsv",
    "ipc",
    "ndjson",
    "json",
    "msmarco",
    "letor",
]
Role: TypeAlias = Literal["run", "qrels"]

FORMATS: tuple[Format, ...] = get_args(Format)
#: Formats that only judgments have.
OF_QRELS = ("subtopics", "judges", "preferences", "letor", "beir")

EXTENSIONS: dict[str, Format] = {
    ".run": "trec",
    ".runs": "trec",
    ".trec": "trec",
    ".res": "trec",
    ".qrels": "trec",
    ".qrel": "trec",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".parq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".arrow": "ipc",
    ".ipc": "ipc",
    ".feather": "ipc",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}
#: The first bytes of files that are no text, whatever they are called.
BEGINNINGS: dict[bytes, Format] = {b"PAR1\x15": "parquet", b"ARROW1\0\0": "ipc"}

#: The first bytes of a compressed file, by its extension.
COMPRESSED = {".gz": GZIP, ".zst": ZSTD}

#: How JSON begins, in a way that no query id does.
_JSON = re.compile(r"[\[{]\s*([\[{}\]\"]|$)")

#: How much of the first line is looked at; JSON can be one line of any length.
_BEGINNING = 1_000_000


def choices(role: Role) -> list[Format]:
    """The formats that runs, or judgments, come in."""
    return [name for name in FORMATS if role == "qrels" or name not in OF_QRELS]


def by_extension(file: File) -> Format | None:
    """The format that the name of a file tells."""
    path = pure(file)
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return EXTENSIONS.get(plain.suffix.lower())


def format_of(file: File, role: Role) -> Format:
    """The format of a file, by its extension or its first line."""
    format = by_extension(file)
    # A .tsv is a table only with a header.
    if format not in (None, "tsv"):
        return format
    told = None if isinstance(file, str) else _by_bytes(file)
    if told is not None:
        return told
    number, line = first_line(file)
    told = _by_line(line, role)
    if told is None:
        raise FileError.at_line(file, number, line, _unknown(role))
    return told


def first_line(file: File) -> tuple[int, str]:
    """The beginning of the first line that holds data, and its number."""
    return _line(file, _lines(file).head(1))


def last_line(file: File) -> tuple[int, str]:
    """The beginning of the last line that holds data, and its number."""
    return _line(file, _lines(file).select(pl.all().last()).drop_nulls())


def _lines(file: File) -> pl.LazyFrame:
    """The number and the beginning of each line that holds data."""
    text = pl.col("line").str.strip_prefix("\ufeff").str.strip_chars(BLANKS + "\r")
    # With globbing on, Polars would take a file named `x[1].run` for a pattern.
    lines = pl.scan_lines(file, name="line", row_index_name="number", row_index_offset=1, glob=False)
    holds_data = (text != "") & text.str.starts_with("#").not_()
    return lines.filter(holds_data).select("number", text.str.slice(0, _BEGINNING))


def _line(file: File, plan: pl.LazyFrame) -> tuple[int, str]:
    try:
        rows = plan.collect(engine="streaming").rows()
    except FAILURES as error:
        raise unreadable(file, error) from None
    if not rows:
        raise FileError.empty(file)
    number, line = rows[0]
    return number, line


def fields(line: str) -> list[str]:
    """What stands between the blanks of a line, as in `trec`."""
    return FIELD.findall(line)


def _by_bytes(path: Path) -> Format | None:
    begin = beginning(path)
    return next((format for first, format in BEGINNINGS.items() if begin.startswith(first)), None)


def _by_line(line: str, role: Role) -> Format | None:
    found = fields(line)
    # Also an id can begin as JSON does; then a number stands where TREC has it.
    if _JSON.match(line) and not _is_trec(found, role):
        return "json"
    table = _table(line, role)
    if table is not None:
        return table
    if role == "qrels" and len(found) > 1 and found[1].startswith("qid:"):
        return "letor"
    return "trec" if len(found) >= 4 else None


def _is_trec(found: list[str], role: Role) -> bool:
    """Whether the fields are those of a TREC line, by their number and the score or grade among them."""
    place, count = (4, 6) if role == "run" else (3, 4)
    return len(found) >= count and NUMERAL.fullmatch(found[place]) is not None


def _unknown(role: Role) -> str:
    """What was tried with a line that tells no format, and what to do."""
    tried = "JSON, a table with a header, TREC" + (", LETOR" if role == "qrels" else "")
    # Its two or three fields could as well be grades, scores or texts.
    msmarco = "'query_id doc_id'" if role == "qrels" else "'query_id doc_id rank'"
    return (
        f"neither the name nor the first line tells the format; tried {tried}. Say it: format='msmarco' for lines of "
        f"{msmarco}, or one of {', '.join(map(repr, choices(role)))}."
    )


def _table(line: str, role: Role) -> Format | None:
    if role == "qrels" and is_beir(line.split("\t")):
        return "beir"
    if is_header(line.split("\t")):
        return "tsv"
    return "csv" if is_header(line.split(",")) else None
