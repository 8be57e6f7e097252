"""Files that are not what they were said to be: a `FileError` with file, line and text, and never a wrong table."""

from __future__ import annotations

import gzip
from typing import Any

import polars as pl
import pytest
from reading import Reader, Write, message, qrels_readers, readers, run_readers

from polars_ir.errors import FileError
from polars_ir.files import read_run, scan_run
from polars_ir.files.finding.file import LONGEST

RUN_LINE = "q1 Q0 d1 1 0.5 tag\n"
engines = pytest.mark.parametrize("engine", ["streaming", "in-memory"])


@run_readers
def test_a_run_line_of_five_fields_is_an_error(write: Write, reader: Reader) -> None:
    assert message(reader, write(RUN_LINE + "q1 Q0 d2 2 0.25\n")) == (
        "a.run, line 2: a run line has 6 fields (query_id Q0 doc_id rank score tag); this one has 5.\n"
        "    'q1 Q0 d2 2 0.25'"
    )


@run_readers
def test_five_fields_after_a_blank_are_not_six(write: Write, reader: Reader) -> None:
    assert "line 1: a run line has 6 fields" in message(reader, write(" q1 Q0 d1 1 0.5\n"))


@run_readers
def test_the_number_of_the_line_counts_blank_lines_and_comments(write: Write, reader: Reader) -> None:
    assert message(reader, write(f"# comment\r\n\r\n{RUN_LINE}wrong\n")).startswith("a.run, line 4: ")


@run_readers
def test_the_other_wrong_lines_are_counted(write: Write, reader: Reader) -> None:
    assert "this one has 1. One more line is wrong.\n" in message(reader, write("x\ny\n" + RUN_LINE))
    assert "this one has 1. 2 more lines are wrong.\n" in message(reader, write("x\ny\nz\n" + RUN_LINE))


@run_readers
def test_qrels_are_no_run(write: Write, reader: Reader) -> None:
    words = "line 1: 4 fields; this looks like qrels; use read_qrels, or format='msmarco'."
    assert words in message(reader, write("q1 0 d1 1\n"))


@qrels_readers
def test_a_run_is_no_qrels(write: Write, reader: Reader) -> None:
    assert "line 1: 6 fields; this looks like a run; use read_run." in message(reader, write(RUN_LINE))


@qrels_readers
def test_qrels_of_three_fields_hint_at_beir(write: Write, reader: Reader) -> None:
    assert "format='beir'" in message(reader, write("q1\td1\t1\n"))


@qrels_readers
@pytest.mark.parametrize("grade", ["abc", "nan", "inf", "1,5", "0x1"])
def test_a_grade_is_a_number(write: Write, reader: Reader, grade: str) -> None:
    said = message(reader, write(f"q1 0 d1 {grade}\n"))
    hint = " Words have numbers by grades={word: number}." * (grade == "abc")
    assert said == f"a.run, line 1: the grade (field 4) must be a number; got '{grade}'.{hint}\n    'q1 0 d1 {grade}'"


@run_readers
@pytest.mark.parametrize("score", ["abc", "nan", "-NaN", "1,5", "--5", "0.5x"])
@pytest.mark.parametrize("blank", [" ", "\t"])
@pytest.mark.whole("many cases", quick=8)
def test_a_score_is_a_number(write: Write, reader: Reader, score: str, blank: str) -> None:
    line = blank.join(["q1", "Q0", "d1", "1", score, "tag"])
    assert f"line 2: the score (field 5) must be a number; got '{score}'." in message(reader, write(RUN_LINE + line))


@readers
@pytest.mark.parametrize("content", [b"PAR1\x15\x00\xff\xfe", b"q1 Q0 d\xe9 1 0.5 tag\n"])
def test_bytes_that_are_no_utf8_are_an_error(write: Write, reader: Reader, content: bytes) -> None:
    assert "line 1: this is not UTF-8 text" in message(reader, write(content))


@readers
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.run", "a.csv", "a.jsonl"])
def test_utf16_is_an_error(write: Write, reader: Reader, encoding: str, name: str) -> None:
    content = f"\ufeff{RUN_LINE}".encode(encoding)
    assert message(reader, write(content, name)) == f"{name}: this is text in UTF-16; save it as UTF-8."


@readers
def test_a_nul_byte_is_an_error(write: Write, reader: Reader) -> None:
    assert "line 1: a NUL byte" in message(reader, write("q1 Q0 d\0 1 0.5 tag\n"))


@readers
@pytest.mark.parametrize("begin", [b" ", b"a ", b"x", b"\0", b"# "])
@pytest.mark.whole("large files", quick=2)
def test_a_line_without_end_is_an_error(write: Write, reader: Reader, begin: bytes) -> None:
    path = write(b"\n" + begin * (LONGEST // len(begin) + 1))
    assert "a.run, line 2: the line has more than 16 MB; lines end in \\n.\n" in message(reader, path)


@pytest.mark.parametrize("blanks", [10, 10_000_000])
@pytest.mark.whole("a second a case", quick=1)
def test_a_long_line_is_a_line(write: Write, blanks: int) -> None:
    path = write(RUN_LINE + "q2\tQ0 \u00e9" + " " * blanks + "\v1 0.5 tag\n")
    assert read_run(path).rows()[1:] == scan_run(path).collect().rows()[1:] == [("q2", "\u00e9", 1, 0.5)]


@readers
def test_lone_carriage_returns_are_an_error(write: Write, reader: Reader) -> None:
    assert "line 1: a carriage return inside the line" in message(reader, write(2 * RUN_LINE.replace("\n", "\r")))


@readers
def test_the_line_of_a_late_binary_byte_is_found_in_gzip(write: Write, reader: Reader) -> None:
    content = gzip.compress(b"# comment\n" + b"\xe9\n")
    assert "line 2: this is not UTF-8 text" in message(reader, write(content, "a.gz"))


@readers
@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
def test_a_name_that_promises_compression_is_held_to_it(write: Write, reader: Reader, name: str) -> None:
    assert "but the file is not compressed; rename it" in message(reader, write(RUN_LINE, name))


@readers
def test_damaged_gzip_is_an_error(write: Write, reader: Reader) -> None:
    content = bytearray(gzip.compress(RUN_LINE.encode()))
    content[-6] ^= 0xFF
    assert "checksum" in message(reader, write(bytes(content), "a.gz"))


@readers
@pytest.mark.parametrize("content", ["", "\n", " \t \r\n", "# only\n# comments\n", "\ufeff", "\ufeff# comment\n"])
@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
@pytest.mark.whole("many cases", quick=16)
def test_a_file_without_data_is_an_error(write: Write, reader: Reader, content: str, name: str) -> None:
    path = write(gzip.compress(content.encode()) if name.endswith("gz") else content, name)
    assert message(reader, path) == f"{name}: the file is empty: no line holds data."


@readers
@pytest.mark.parametrize("name", ["a.gz", "a.csv", "a.tsv", "a.parquet", "a.arrow", "a.jsonl"])
def test_a_file_of_no_bytes_is_an_error(write: Write, reader: Reader, name: str) -> None:
    assert message(reader, write("", name)) == f"{name}: the file is empty: no line holds data."


@readers
def test_one_empty_file_among_several_is_an_error(write: Write, reader: Reader) -> None:
    line = RUN_LINE if reader in (read_run, scan_run) else "q1 0 d1 1\n"
    with pytest.raises(FileError, match=r"b\.run: the file is empty"):
        reader([write(line, "a.run"), write("", "b.run")])


LATE = {
    "five fields": "q2 Q0 d2 2 0.25",
    "no number": "q2 Q0 d2 2 x tag",
    "NaN": "q2\tQ0\td2\t2\tnan\ttag",
    "one number": "1",
    "a NUL byte": "q2 Q0 d2 2 0.5 t\0g",
    "a lone carriage return": "q2 Q0 d2 2 0.5 tag\rq3 Q0 d3 3 0.5 tag",
}
late_lines = pytest.mark.parametrize("late", LATE.values(), ids=LATE)


@late_lines
def test_a_late_wrong_line_is_found_by_read(write: Write, late: str) -> None:
    assert "a.run, line 5001: " in message(read_run, write(RUN_LINE * 5000 + late + "\n" + RUN_LINE))


@late_lines
@engines
@pytest.mark.whole("many cases", quick=4)
def test_a_late_wrong_line_is_never_scanned_over(write: Write, late: str, engine: Any) -> None:
    run = scan_run(write(RUN_LINE * 5000 + late + "\n" + RUN_LINE))
    told = pytest.raises(
        pl.exceptions.InvalidOperationError, match=r"polars_ir: .*a\.run, line 5001: wanted query_id Q0"
    )
    plans = [
        run,
        run.select("query_id"),
        run.select(pl.len()),
        run.filter(pl.col("score") > -1).select(pl.len()),
        run.filter(query_id="q1").select("doc_id"),
        run.filter(rank=7),
        run.group_by("query_id").agg(pl.col("doc_id").n_unique()),
        run.join(run.select("doc_id").unique(), on="doc_id"),
        run.tail(1),
        run.with_columns(score=pl.lit(1.0)).select(pl.col("score").sum()),
    ]
    for plan in plans:
        with told:
            plan.collect(engine=engine)


def test_a_wrong_line_in_the_second_file_names_that_file(write: Write) -> None:
    paths = [write(RUN_LINE, "a.run"), write(RUN_LINE * 2000 + "wrong\n", "b.run")]
    with pytest.raises(FileError, match=r"b\.run, line 2001: "):
        read_run(paths)
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"b\.run, line 2001: "):
        scan_run(paths).collect()
