"""Broken tables and TREC files, kept in `corpus`: every row is read, as other parsers read it, or the file is refused.

`expected.json` has, for each file, the rows that are read or the message that refuses it. After a change that is meant,
`python tests/files/test_corpus.py` writes it anew; look at the difference.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_qrels, scan_run

CORPUS = Path(__file__).with_name("corpus")
EXPECTED = CORPUS / "expected.json"
FILES = sorted(path for path in CORPUS.iterdir() if path != EXPECTED and path.is_file())
SEPARATORS = {".csv": ",", ".tsv": "\t"}

every = pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
tables = pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix in SEPARATORS], ids=lambda path: path.name
)
lines = pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix not in SEPARATORS], ids=lambda path: path.name
)

#: The fields of a TREC line that become columns.
PLACES = {".run": [0, 2, 3, 4], ".qrels": [0, 2, 3]}


def is_qrels(path: Path) -> bool:
    return path.suffix == ".qrels" or path.name == "grades.tsv"


def ours(path: Path) -> list[list[str | None]] | str:
    """The rows of a file as texts, or what refuses it."""
    try:
        frame = (read_qrels if is_qrels(path) else read_run)(path)
    except FileError as error:
        return str(error).replace(f"{path.parent}/", "")
    return [[None if value is None else str(value) for value in row] for row in frame.rows()]


@every
@pytest.mark.whole("many cases", quick=24)
def test_a_file_is_read_or_refused_as_ever(path: Path) -> None:
    assert ours(path) == json.loads(EXPECTED.read_text("utf-8"))[path.name]


@every
@pytest.mark.whole("many cases", quick=24)
def test_a_file_is_scanned_as_it_is_read(path: Path) -> None:
    read, scan = (read_qrels, scan_qrels) if is_qrels(path) else (read_run, scan_run)
    if isinstance(ours(path), str):
        with pytest.raises(FileError):
            scan(path)
    else:
        assert scan(path).collect().equals(read(path))


def is_same(text: str | None, other: str | None) -> bool:
    """True if two parsers read the same from a field; numbers may be written otherwise, and nothing be null."""
    if (text or "") == (other or ""):
        return True
    try:
        return float(text or "") == float(other or "")
    except ValueError:
        return False


def assert_same(path: Path, rows: list[tuple[str | None, ...]]) -> None:
    """The rows of another parser are ours, unless we refuse the file."""
    read = ours(path)
    if isinstance(read, str):
        return
    assert len(read) == len(rows)
    for row, other in zip(read, rows, strict=True):
        assert all(map(is_same, row, other)), (row, other)
        assert len(row) == len(other)


@tables
@pytest.mark.whole("many cases", quick=13)
def test_a_table_is_read_as_pandas_reads_it(path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    if path.name == "nul.csv" and pandas.__version__ < "3":
        pytest.skip("to pandas 2.2 a NUL ends a field")
    if path.name == "carriage_return_inside.csv":
        pytest.skip("pandas takes it for the end of a line")
    try:
        frame = pandas.read_csv(path, sep=SEPARATORS[path.suffix], dtype=str, keep_default_na=False, index_col=False)
    except (ValueError, pandas.errors.ParserError, pandas.errors.ParserWarning):  # it tells nothing of these
        return
    assert_same(path, [tuple(row) for row in frame.to_numpy().tolist()])


@tables
@pytest.mark.whole("many cases", quick=13)
def test_a_table_is_read_as_duckdb_reads_it(path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    if path.name == "blank_before_a_quoted_word.csv":
        pytest.skip("DuckDB leaves out a blank before a quote, which RFC 4180 keeps")
    try:
        rows = duckdb.read_csv(str(path), sep=SEPARATORS[path.suffix], all_varchar=True, header=True).fetchall()
    except duckdb.Error:
        return
    assert_same(path, rows)


#: The fields of each line that holds data, in SQL.
FIELDS = r"""
    with lines as (
        select unnest(string_split(ltrim(content, chr(65279)), chr(10))) as line from read_text($path)
    ), stripped as (
        select regexp_replace(line, '^[ \t\v\f]+|[ \t\v\f\r]+$', '', 'g') as line from lines
    )
    select regexp_split_to_array(line, '[ \t\v\f]+') from stripped where line <> '' and line[1] <> '#'
"""


@lines
def test_lines_are_split_as_duckdb_splits_them(path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = [fields for (fields,) in duckdb.execute(FIELDS, {"path": str(path)}).fetchall()]
    assert_same(path, [tuple(fields[place] for place in PLACES[path.suffix] if place < len(fields)) for fields in rows])


if __name__ == "__main__":
    found = {path.name: ours(path) for path in FILES}
    files = [json.dumps({name: rows}, ensure_ascii=False)[1:-1] for name, rows in found.items()]
    EXPECTED.write_text("{\n" + ",\n".join(files).replace("[[", "[\n  [").replace("], [", "],\n  [") + "\n}\n", "utf-8")
