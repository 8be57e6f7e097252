"""Tags of a run's lines, with a warning of several for one query, whose documents are ranked together.

Conventions: a reader sees all lines; a scan sees the first ones and, of a plain file on disk, the last.
"""

from __future__ import annotations

import os

import polars as pl

from polars_ir.errors import Code, Fix, called, quoted, warn
from polars_ir.files.finding.file import UNPACKED, File, beginning
from polars_ir.files.rows.blanks import COUNT, field, fields, first_line
from polars_ir.files.rows.unreadable import FAILURES
from polars_ir.files.rows.verdicts import KEEP, TEXT, Checked

#: True for a line with another tag than the first.
OTHER_TAG = "polars_ir: other tag"

#: Number of fields read by `read_csv`, and of bytes at a file's end that hold its last line.
_COLUMNS, _END = ["query_id", "Q0", "doc_id", "rank", "score", "run"], 1 << 16


def other_tag(part: Checked, place: int) -> dict[str, pl.Expr]:
    """The column that marks lines with another tag than the first one's."""
    try:
        first = part.rows.filter(KEEP).head(1).select(field(place)).collect(engine="streaming").to_series().to_list()
    except FAILURES:
        first = []  # the rows tell it
    return {OTHER_TAG: (field(place) != pl.lit(first[0] if first else None, pl.String)).fill_null(False)}


def tags_of(lines: Checked, place: int | None) -> list[str]:
    """The distinct tags in some lines."""
    if place is None:
        return []
    distinct = lines.rows.filter(KEEP).select(field(place)).unique(maintain_order=True)
    tags: list[str] = distinct.collect(engine="streaming").to_series().to_list()
    return tags


def warn_of_tags_at_ends(part: Checked, head: Checked, place: int) -> None:
    """Warn of the tags in a run, if its first and last lines have several."""
    if len({*tags_of(head, place), *_last_tag(part.path, place)}) > 1:
        warn_of_tags(part, place, "scan_csv")


def _last_tag(file: File, place: int) -> list[str]:
    """The tag at the end of a file on disk that is not compressed."""
    if isinstance(file, str) or UNPACKED.match(beginning(file)):
        return []
    with file.open("rb") as lines:
        lines.seek(-min(_END, lines.seek(0, os.SEEK_END)), os.SEEK_END)
        last = lines.read().rstrip().rpartition(b"\n")[2].decode(errors="replace").rstrip("\r")
    found = fields(last)
    return [] if last.startswith("#") or len(found) <= place else [found[place]]


def warn_of_tags(part: Checked, place: int, reader: str = "read_csv") -> None:
    """Warn of queries with several tags; what the systems are read with needs one separator."""
    tags = pooled_tags(part.rows.filter(KEEP).select("query_id", tag=field(place)))
    if not tags:
        return
    separator = "\t" if "\t" in first_line(part.path)[1] else " "
    n_fields = len(_COLUMNS)
    plain = (pl.col(COUNT) == n_fields) & (pl.col(TEXT).str.count_matches(separator, literal=True) == n_fields - 1)
    is_plain = part.rows.select(plain.all()).collect(engine="streaming").item()
    warn_of_systems(part.path, tags, separator if is_plain else None, reader)


def pooled_tags(lines: pl.LazyFrame) -> list[str]:
    """The tags of a run with a query of several, which are pooled; none where each query has one, as of shards."""
    tags = lines.unique(maintain_order=True).collect(engine="streaming")
    return tags["tag"].unique(maintain_order=True).to_list() if tags["query_id"].is_duplicated().any() else []


def warn_of_systems(path: File, tags: list[str], separator: str | None, reader: str = "read_csv") -> None:
    """Warn of several tags in a run, with the code that reads them as systems where one separator does."""
    code = Code(
        f"pl.{reader}({str(path)!r}, separator={separator!r}, quote_char=None, has_header=False, "
        f"new_columns={_COLUMNS!r}, schema_overrides={{'column_1': pl.String, 'column_3': pl.String}})"
    )
    own_file = "If they are systems, write each to a file of its own"
    fix = Fix("If they are systems, read them like this", code, without_code=own_file) if separator else Fix(own_file)
    warn(f"{called(path)}: the run has several tags, {quoted(tags, 3)}, whose documents are ranked together.", fix=fix)
