"""Files of any content: the readers give what a plain reader of the documented rules gives, or a `FileError`.

The references here are written from the docstrings, one line at a time and in plain Python; they share no code with
the package. A reference returns rows, or raises `Wrong` with the number of the first line that is to blame.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from suite import examples

from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_qrels, scan_run

FUZZ = examples(60, suppress_health_check=list(HealthCheck))

#: The number of lines that a lazy reader looks at before it returns.
FIRST_LINES = 1000

Row = tuple[Any, ...]
Reference = Callable[[bytes], list[Row]]


class Wrong(Exception):  # noqa: N818  # a line is wrong, not the program
    """The file cannot be read; `line` is the first that is to blame, None for the file as a whole."""

    def __init__(self, line: int | None = None) -> None:
        self.line = line


# The references.

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?[0-9]+")


def number(text: str) -> float | None:
    """A decimal number or an infinity; NaN is none, nor is what only Python takes for a number (`1_000`)."""
    return float(text) if _DECIMAL.fullmatch(text) else None


def integer(text: str) -> int | None:
    """An integer that 64 bits can hold."""
    value = int(text) if _INTEGER.fullmatch(text) and len(text) < 100 else None
    return value if value is not None and -(2**63) <= value < 2**63 else None


def trec_lines(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of each line that holds data."""
    if undecodable := _undecodable(content):
        raise Wrong(undecodable)
    for place, line in enumerate(content.split(b"\n"), start=1):
        text = line.decode().removesuffix("\r")
        fields = [field for field in re.split("[ \t\v\f]", text.removeprefix("\ufeff")) if field]
        if not fields or fields[0].startswith("#"):
            continue
        if "\0" in text or "\r" in text:
            raise Wrong(place)
        yield place, fields


def _undecodable(content: bytes) -> int | None:
    for place, line in enumerate(content.split(b"\n"), start=1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return place
    return None


def trec_run(content: bytes) -> list[Row]:
    """A TREC run: query, document, rank, score."""
    rows: list[Row] = []
    for line, fields in trec_lines(content):
        score = number(fields[4]) if len(fields) >= 6 else None
        if score is None:
            raise Wrong(line)
        rows.append((fields[0], fields[2], integer(fields[3]), score))
    if not rows:
        raise Wrong
    return rows


def trec_qrels(*places: int) -> Reference:
    """Judgments whose columns stand at some places, the grade at the last of them."""

    def read(content: bytes) -> list[Row]:
        rows: list[Row] = []
        for line, fields in trec_lines(content):
            grade = number(fields[-1]) if len(fields) == places[-1] + 1 else None
            if grade is None or math.isinf(grade):
                raise Wrong(line)
            rows.append(tuple(fields[place] for place in places))
        if not rows:
            raise Wrong
        return graded(rows)

    return read


def graded(rows: list[Row]) -> list[Row]:
    """Rows with their last value, a text, as an integer if it is one in all of them, and otherwise as a float."""
    whole = all(integer(row[-1]) is not None for row in rows)
    return [(*row[:-1], integer(row[-1]) if whole else number(row[-1])) for row in rows]


def table_run(separator: str) -> Reference:
    """A run as a table with the columns query, document, score; an empty field is null."""

    def read(content: bytes) -> list[Row]:
        rows = [(query, document, number(score or "")) for query, document, score in table_rows(content, separator)]
        if any(score is None for _, _, score in rows):
            raise Wrong
        return rows

    return read


def table_qrels(separator: str, *, ids: bool = False) -> Reference:
    """Judgments as a table; BEIR's must have both ids and a grade in each row."""

    def read(content: bytes) -> list[Row]:
        rows = table_rows(content, separator)
        if ids and any(None in row for row in rows):
            raise Wrong
        grades = [number(row[-1]) for row in rows if row[-1] is not None]
        if any(grade is None or math.isinf(grade) for grade in grades):
            raise Wrong
        whole = all(row[-1] is None or integer(row[-1]) is not None for row in rows)
        value = integer if whole else number
        return [(*row[:-1], None if row[-1] is None else value(row[-1])) for row in rows]

    return read


def table_rows(content: bytes, separator: str) -> list[list[str | None]]:
    """The rows under the header, each of as many fields; blank ones are left out."""
    if _undecodable(content):
        raise Wrong
    lines = io.StringIO(content.decode().removeprefix("\ufeff"), newline="")
    header, *rows = [row for row in csv.reader(lines, delimiter=separator) if any(row)]
    if any(len(row) > len(header) for row in rows):
        raise Wrong
    if any(re.search("[\r\n\0]", "".join(row[:2])) for row in rows):  # the ids
        raise Wrong
    return [[field or None for field in row] + [None] * (len(header) - len(row)) for row in rows]


# Files of any content.

BLANKS = st.sampled_from([" "] * 12 + ["\t"] * 4 + ["  ", " \t", "\u00a0", "\u2028", "\x0b", "\x0c", "\x85", "\x1c"])
ENDS = st.sampled_from(["\n"] * 12 + ["\r\n"] * 4 + [" \n", "\t\r\n", "\n\n", "\r", "\r\r\n", "\u2028", "\0\n", ""])
ODD_NUMBERS = [
    "1e-3", "1E+5", "inf", "-Infinity", "+inf", "nan", "-NaN", "1e400", "1e-400", "0x1p3", "0x10", "1_000", "1,5",
    "\u0661", "\uff11", "1\u00a0", "9" * 30, "-0", "+1", "1.", ".5", ".", "-", "e5", "1e", "1d0", "None", "true", '"1"',
    "5e-324", "9007199254740993", "9223372036854775808", "-9223372036854775808", "0.1" + "0" * 50,
]  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-3, 99).map(str),
    st.integers(-3, 99).map(str),
    st.floats().map(repr),
    st.sampled_from(ODD_NUMBERS),
)
ODD_IDS = [
    '"', '"a', 'a"', '""', "'", "#", "#1", "a#b", ",", "a,b", "\\", "\\n", "007", "NA", "null", "\ufeff", "\ufeff#",
    "ñ", "文", "e\u0301", "\u00a0", "a\u00a0b", "\u2028", "\x1a", "\0", "\x7f", "\U0001f600", "-", "--", "[1]", "{}",
    "x" * 300,
]  # fmt: skip
IDS = st.one_of(st.sampled_from(["q1", "q2", "d1", "d2", "Q0", "0"]), st.sampled_from(ODD_IDS), st.text(max_size=4))
COMMENTS = ["# comment", "#", " # q Q0 d 1 1 t", "\t#\0", "\ufeff# x", "", " ", "\t", "\ufeff", "#\r#"]


@st.composite
def contents(draw: st.DrawFn, *numeric: int, fields: int, plain: str) -> bytes:
    """A TREC file of mostly right lines, some of them far down behind many plain ones."""
    text = draw(st.sampled_from(["", "", "", "\ufeff", "\ufeff\ufeff", "\r\n"]))
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.integers(0, 9))
        if kind == 0:
            text += draw(st.sampled_from(COMMENTS)) + draw(ENDS)
        elif kind == 1:
            text += plain * draw(st.sampled_from([1, 2, 999, 1000, 1001, 3000]))
        elif kind == 2:
            text += draw(st.text(max_size=20)) + draw(ENDS)
        else:
            count = fields + draw(st.sampled_from([0] * 12 + [-1, 1, 2, -3]))
            values = [draw(NUMBERS if place in numeric else IDS) for place in range(count)]
            text += draw(st.sampled_from([""] * 8 + [" ", "\t"])) + values[0] if values else ""
            text += "".join(draw(BLANKS) + value for value in values[1:]) + draw(ENDS)
    content = text.encode(errors="surrogatepass" if draw(st.integers(0, 30)) == 0 else "replace")
    if draw(st.integers(0, 9)) == 0 and content:
        place = draw(st.integers(0, len(content) - 1))
        content = content[:place] + draw(st.binary(max_size=3)) + content[place + draw(st.integers(0, 3)) :]
    return content


RUN = contents(3, 4, fields=6, plain="q Q0 d 1 0.5 t\n")
QRELS = contents(3, fields=4, plain="q 0 d 1\n")
PREFERENCES = contents(4, fields=5, plain="q j 0 d 1\n")


# The comparison.


def check(
    content: bytes,
    reference: Reference,
    read: Any,
    scan: Any,
    name: str = "file",
    pack: Callable[[bytes], bytes] = bytes,
    **options: Any,
) -> None:
    """Both readers give what the reference gives, or say which line is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(pack(content))
        try:
            expected = reference(content)
        except Wrong as wrong:
            fails(wrong, path, lambda: read(path, **options))
            fails(wrong, path, lambda: scan(path, **options).collect(), lazy=True)
            return
        frame = read(path, **options)
        assert [repr(row) for row in frame.rows()] == [repr(row) for row in expected]
        agrees(frame, lambda: scan(path, **options).collect())


def agrees(frame: pl.DataFrame, scan: Callable[[], pl.DataFrame]) -> None:
    """A scan gives the same, but for a fraction after its first lines, which it may refuse."""
    try:
        scanned = scan()
    except pl.exceptions.InvalidOperationError as error:
        assert "with whole grades like the first lines" in str(error)  # noqa: PT017
        assert frame.height > FIRST_LINES
    else:
        assert_frame_equal(scanned, frame, check_exact=True)


def fails(wrong: Wrong, path: Path, act: Callable[[], object], *, lazy: bool = False) -> None:
    """A reader raises an error with the file and the first wrong line; a scan, late, with any wrong line."""
    with pytest.raises((FileError, pl.exceptions.InvalidOperationError) if lazy else FileError) as caught:
        act()
    line = None if not isinstance(caught.value, FileError) else wrong.line
    assert f"{path}" + ("" if line is None else f", line {line}: ") in str(caught.value)


def refuses_or_agrees(content: bytes, path: Path, expected: list[Row] | None, read: Any, scan: Any) -> None:
    """Both readers refuse a file, or both give the rows that are expected, if any are."""
    path.write_bytes(content)
    try:
        frame = read(path)
    except FileError as error:
        assert str(path) in str(error)  # noqa: PT017
        with pytest.raises((FileError, pl.exceptions.PolarsError, OSError)):
            scan(path).collect()
        return
    if expected is not None:
        assert [repr(row) for row in frame.rows()] == [repr(row) for row in expected]
    agrees(frame, lambda: scan(path).collect())


@FUZZ
@given(RUN)
def test_a_run_of_any_content_is_read_by_the_rules_or_not_at_all(content: bytes) -> None:
    check(content, trec_run, read_run, scan_run, format="trec")


@FUZZ
@given(QRELS)
def test_qrels_of_any_content_are_read_by_the_rules_or_not_at_all(content: bytes) -> None:
    check(content, trec_qrels(0, 2, 3), read_qrels, scan_qrels, format="trec")


@FUZZ
@given(QRELS, st.sampled_from(["subtopics", "judges"]))
def test_qrels_of_subtopics_and_judges_are_read_by_the_rules_or_not_at_all(content: bytes, format: str) -> None:
    check(content, trec_qrels(0, 1, 2, 3), read_qrels, scan_qrels, format=format)


@FUZZ
@given(PREFERENCES)
def test_preferences_are_read_by_the_rules_or_not_at_all(content: bytes) -> None:
    check(content, trec_qrels(0, 1, 2, 3, 4), read_qrels, scan_qrels, format="preferences")


@FUZZ
@given(st.binary(max_size=300))
def test_random_bytes_are_read_by_the_rules_or_not_at_all(content: bytes) -> None:
    check(content, trec_run, read_run, scan_run, format="trec")
    check(content, trec_qrels(0, 2, 3), read_qrels, scan_qrels, format="trec")


@FUZZ
@given(st.one_of(RUN, QRELS))
def test_a_format_told_from_the_content_is_the_right_one_or_none(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        for reference, read, scan in ((trec_run, read_run, scan_run), (trec_qrels(0, 2, 3), read_qrels, scan_qrels)):
            try:
                expected: list[Row] | None = reference(content)
            except Wrong:
                expected = None
            refuses_or_agrees(content, path, expected, read, scan)


def zstandard(content: bytes) -> bytes:
    """The bytes as a frame of Zstandard."""
    packed: bytes = pytest.importorskip("pyarrow").compress(content, codec="zstd", asbytes=True)
    return packed


PACKS = {"file.gz": gzip.compress, "file.zst": zstandard}


@pytest.mark.filterwarnings("ignore:.*a comment with the fields of a row")
@FUZZ
@given(RUN.filter(bool), st.sampled_from(sorted(PACKS)))
def test_a_compressed_run_is_read_like_a_plain_one(content: bytes, name: str) -> None:
    try:
        expected = trec_run(content)
    except Wrong:
        expected = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        if expected is None:
            path.write_bytes(PACKS[name](content))
            with pytest.raises(FileError, match=re.escape(str(path))):
                read_run(path, format="trec")
        else:
            check(content, trec_run, read_run, scan_run, name, PACKS[name], format="trec")


@FUZZ
@given(RUN.filter(bool), st.sampled_from(sorted(PACKS)), st.data())
def test_a_damaged_compressed_run_is_refused_unless_its_rows_are_the_same(
    content: bytes, name: str, data: st.DataObject
) -> None:
    try:
        expected: list[Row] | None = trec_run(content)
    except Wrong:
        expected = []
    packed = bytearray(PACKS[name](content))
    place = data.draw(st.integers(0, len(packed) - 1))
    if name == "file.zst" or data.draw(st.booleans()):  # a frame of Zstandard need not have a checksum
        del packed[place:]
    else:
        packed[place] ^= data.draw(st.integers(1, 255))
    with tempfile.TemporaryDirectory() as folder:
        read, scan = (partial(reader, format="trec") for reader in (read_run, scan_run))
        refuses_or_agrees(bytes(packed), Path(folder, name), expected, read, scan)


HEADERS = {"csv": "qid,docno,{}", "tsv": "qid\tdocno\t{}", "beir": "query-id\tcorpus-id\tscore"}
CELLS = st.sampled_from(
    ["q1", "d1", "007", "", "'", " x ", "\\", "NA", "null", "#c", "é", "\u00a0", "\u2028", "\x85", "\ufeff", "\0",
     'a"b', 'a"', '"', '"a', '"a"b"', '5" x 6"', '"a"', '"a,b"', '"a\tb"', '"a""b"', '"a\nb"', '"a\r\nb"']
)  # fmt: skip


@st.composite
def tables(draw: st.DrawFn, separator: str, header: str) -> str:
    """A table of mostly right rows, some of them far down."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = draw(st.sampled_from(["", "", "\ufeff"])) + header + end
    for _ in range(draw(st.integers(0, 5))):
        cells = [draw(CELLS), draw(CELLS), draw(NUMBERS)]
        cells += draw(st.sampled_from([[]] * 9 + [["z"]]))
        text += draw(st.sampled_from(["", "", "", end, f"q{separator}d{separator}1{end}" * 1500]))
        text += separator.join(cells[: draw(st.sampled_from([4] * 9 + [2]))]) + end
    return text


@FUZZ
@given(st.data(), st.sampled_from(["run", "qrels"]), st.sampled_from(["csv", "tsv", "beir"]))
def test_tables_are_read_by_the_rules_or_not_at_all(data: st.DataObject, role: str, format: str) -> None:
    separator = "," if format == "csv" else "\t"
    if role == "run":
        reference, read, scan, name = table_run(separator), read_run, scan_run, "score"
    else:
        reference, read, scan, name = table_qrels(separator, ids=format == "beir"), read_qrels, scan_qrels, "rel"
    text = data.draw(tables(separator, HEADERS[format].format(name)))
    try:
        expected: list[Row] | None = [tuple(row) for row in reference(text.encode())]
    except Wrong:
        expected = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file.{'csv' if format == 'csv' else 'tsv'}")
        path.write_bytes(text.encode())
        if expected is None:
            with pytest.raises(FileError, match=re.escape(str(path))):
                read(path)
            fails(Wrong(), path, lambda: scan(path).collect(), lazy=True)
        elif '"' in text:
            # A quote inside a field may be refused.
            refuses_or_agrees(text.encode(), path, expected, read, scan)
        else:
            check(text.encode(), lambda _: expected, read, scan, path.name)


JSON_ROWS = st.tuples(st.text(max_size=5), st.text(max_size=5), st.floats(-9, 9))


@FUZZ
@given(st.lists(JSON_ROWS, min_size=1, max_size=5), st.sampled_from(["\n", "\r\n", "\n\n"]), st.data())
def test_damaged_ndjson_is_refused_or_read(rows: list[Row], end: str, data: st.DataObject) -> None:
    expected: list[Row] | None = rows
    names = ("query_id", "doc_id", "score")
    content = end.join(json.dumps(dict(zip(names, row, strict=True))) for row in rows).encode()
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(content) - 1))
        content, expected = content[:place] + data.draw(st.binary(max_size=2)) + content[place + 1 :], None
    with tempfile.TemporaryDirectory() as folder:
        refuses_or_agrees(content, Path(folder, "file.jsonl"), expected, read_run, scan_run)


# Faults found so far, and files too large to be generated.


@pytest.mark.parametrize("line", [b"x" * 10_000_000, b"q " * 1_000_000, b"q Q0 d 1 " + b"1" * 10_000_000 + b"x t"])
@pytest.mark.whole("large files", quick=1)
def test_a_line_of_megabytes_is_told_in_short(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"q Q0 d 1 1 t\n" * 2000 + line + b"\n")
    with pytest.raises(FileError, match=r"a\.run, line 2001: ") as caught:
        read_run(path)
    assert len(str(caught.value)) < 500


def test_an_id_of_megabytes_is_an_id(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"q Q0 " + b"d" * 10_000_000 + b" 1 1 t\n")
    assert read_run(path)["doc_id"].str.len_bytes().item() == 10_000_000
