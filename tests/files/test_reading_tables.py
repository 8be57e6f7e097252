"""Tables: CSV, TSV and BEIR, whose types are decided here, and Parquet, IPC and NDJSON, whose are not."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from reading import Reader, Write, qrels_readers, readers, run_readers

import polars_ir as ir
from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_qrels, scan_run

FRAME = pl.DataFrame({"qid": [1, 2], "docno": ["a", "b"], "score": [0.5, 1.5], "note": [None, "x"]})
WRITERS: dict[str, Callable[[Path], Any]] = {
    "a.parquet": FRAME.write_parquet,
    "a.pq": FRAME.write_parquet,
    "a.arrow": FRAME.write_ipc,
    "a.ipc": FRAME.write_ipc,
    "a.feather": FRAME.write_ipc,
    "a.ndjson": FRAME.write_ndjson,
    "a.jsonl": FRAME.write_ndjson,
}
typed = pytest.mark.parametrize("name", WRITERS)


@typed
@readers
def test_a_typed_table_is_read_as_it_is(tmp_path: Path, name: str, reader: Reader) -> None:
    WRITERS[name](tmp_path / name)
    assert_frame_equal(reader(tmp_path / name).lazy().collect(), FRAME)


@typed
@readers
def test_text_is_no_typed_table(write: Write, name: str, reader: Reader) -> None:
    said = (
        ", line 1: this is not JSON at column 1: " if name in ("a.ndjson", "a.jsonl") else ": the file cannot be read: "
    )
    with pytest.raises(FileError, match=name + said):
        reader(write("q1 Q0 d1 1 0.5 tag\n", name))


def test_gzipped_ndjson_is_read(write: Write, tmp_path: Path) -> None:
    FRAME.write_ndjson(tmp_path / "a.jsonl")
    path = write(gzip.compress((tmp_path / "a.jsonl").read_bytes()), "a.jsonl.gz")
    assert_frame_equal(read_run(path), FRAME)


@typed
def test_typed_tables_are_parts_of_one(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name)
    WRITERS[name](tmp_path / f"b{name}")
    assert_frame_equal(read_run([tmp_path / name, tmp_path / f"b{name}"]), pl.concat([FRAME, FRAME]))


@run_readers
def test_typed_tables_of_other_columns_are_an_error(tmp_path: Path, reader: Reader) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    FRAME.drop("note").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(
        FileError, match=r"b\.parquet: its columns are qid Int64, docno String, score Float64; those of"
    ):
        reader(tmp_path / "*.parquet")


def test_a_parquet_file_cut_short_inside_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"qid": ["q"] * 1000, "score": [float(i) for i in range(1000)]}).write_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"a\.parquet: the file cannot be read"):
        read_run(path)


@run_readers
def test_only_scores_and_ranks_of_a_csv_run_are_numbers(write: Write, reader: Reader) -> None:
    path = write("q_id,docno,Score,rank,label\n007,1,2,3,4\n", "a.csv")
    frame = reader(path).lazy().collect()
    assert frame.columns == ["q_id", "docno", "Score", "rank", "label"]
    assert frame.rows() == [("007", "1", 2.0, 3, "4")]


@qrels_readers
@pytest.mark.parametrize("grade", ["relevance", "rel", "LABEL", "rating", "gain", "score"])
def test_only_grades_of_csv_qrels_are_numbers(write: Write, reader: Reader, grade: str) -> None:
    frame = reader(write(f"qid,docno,{grade},note\n007,1,2,3\n", "a.csv")).lazy().collect()
    assert frame.rows() == [("007", "1", 2, "3")]
    assert frame[grade].dtype == pl.Int64


def test_a_score_beside_a_grade_stays_as_it_is_written(write: Write) -> None:
    assert read_qrels(write("qid,docno,rel,score\nq,d,1,high\n", "a.csv")).rows() == [("q", "d", 1, "high")]


@qrels_readers
@pytest.mark.parametrize("text", ["qid,docno,rel\nq,a,1\nq,b,0.5\n", "qid,docno,rel\nq,a,1\nq,b,5e-1\n"])
def test_fractions_among_the_grades_of_a_csv_are_kept(write: Write, reader: Reader, text: str) -> None:
    assert reader(write(text, "a.csv")).lazy().collect()["rel"].to_list() == [1.0, 0.5]


def test_a_late_fraction_in_a_csv_is_read_but_not_scanned(write: Write) -> None:
    path = write("qid,docno,rel\n" + "q,a,1\n" * 2000 + "q,late,0.5\n", "a.csv")
    assert read_qrels(path)["rel"].sum() == 2000.5
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"a\.csv, row 2002: wanted .*q,late,0\.5"):
        scan_qrels(path).collect()


def test_a_rank_beside_a_score_may_be_anything(write: Write) -> None:
    assert read_run(write("qid,docno,score,rank\nq,d,1,first\n", "a.csv")).rows() == [("q", "d", 1.0, None)]


@run_readers
def test_a_rank_without_score_must_be_an_integer(write: Write, reader: Reader) -> None:
    with pytest.raises(FileError, match=r"a\.csv, line 3: rank must be an integer; got 'x'\.\n    'q,e,x'"):
        reader(write("qid,docno,rank\nq,d,1\nq,e,x\n", "a.csv"))


@run_readers
@pytest.mark.parametrize("score", ["", "nan", "abc"])
def test_a_score_in_a_csv_is_a_number(write: Write, reader: Reader, score: str) -> None:
    with pytest.raises(FileError, match=rf"a\.csv, line 3: score must be a number; got '{score}'\.\n    'q,e,{score}'"):
        reader(write(f"qid,docno,score\nq,d,1\nq,e,{score}\n", "a.csv"))


@qrels_readers
@pytest.mark.parametrize("grade", ["nan", "abc"])
def test_a_grade_in_a_csv_is_a_number(write: Write, reader: Reader, grade: str) -> None:
    with pytest.raises(FileError, match=rf"a\.csv, line 3: rel must be a number; got '{grade}'"):
        reader(write(f"qid,docno,rel\nq,d,1\nq,e,{grade}\n", "a.csv"))


def test_an_empty_grade_in_a_csv_is_null(write: Write) -> None:
    assert read_qrels(write("qid,docno,rel\nq,d,1\np,,\n", "a.csv")).rows() == [("q", "d", 1), ("p", None, None)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@run_readers
def test_blank_lines_and_marks_in_a_csv_mean_nothing(write: Write, reader: Reader, end: str) -> None:
    path = write(end.join(["\ufeffqid,docno,score", "q,d,1", "", 'q,"e,f",2', ""]), "a.csv")
    assert reader(path).lazy().collect().rows() == [("q", "d", 1.0), ("q", "e,f", 2.0)]


@run_readers
def test_a_header_alone_is_an_empty_table(write: Write, reader: Reader) -> None:
    frame = reader(write("qid,docno,score\n", "a.csv")).lazy().collect()
    assert frame.schema == {"qid": pl.String, "docno": pl.String, "score": pl.Float64}
    assert frame.is_empty()


@run_readers
@pytest.mark.parametrize("separator", ["\t", ";", "|"])
def test_a_csv_with_other_separators_is_an_error_that_names_them(write: Write, reader: Reader, separator: str) -> None:
    text = "qid,docno,score\nq,d,1\n".replace(",", separator)
    with pytest.raises(FileError, match=r"a\.csv, line 1: this is one column; (tabs|semicolons|bars) seem to separate"):
        reader(write(text, "a.csv"))


@run_readers
def test_a_row_with_too_many_fields_is_an_error(write: Write, reader: Reader) -> None:
    with pytest.raises(FileError, match=r"a\.csv, line 3: the header names 3 columns; this row has 4 fields"):
        reader(write("qid,docno,score\nq,d,1\nq,e,f,2\n", "a.csv"))


@run_readers
def test_a_quote_that_does_not_end_is_an_error(write: Write, reader: Reader) -> None:
    path = write('qid,docno,score\nq,d,1\nq,"e,2\n', "a.csv")
    with pytest.raises(FileError, match=r"a\.csv, line 3: a quote is opened here and does not end\.\n    'q,\"e,2'"):
        reader(path)


@run_readers
@pytest.mark.parametrize("row", ['q,5" disk,2', 'q,"5" disk",2'])
def test_a_quote_inside_a_field_is_an_error_that_says_how_to_write_it(write: Write, reader: Reader, row: str) -> None:
    with pytest.raises(FileError) as error:
        reader(path := write(f'qid,docno,score\nq,"""d""",1\n\n{row}\nq,f,3\n', "a.csv"))
    assert str(error.value) == (
        f"{path}, line 4: a quote inside a field. Put the field in quotes and double the quote in it: "
        f'"5"" disk".\n    {row!r}'
    )


def test_a_long_field_before_a_wrong_row_is_not_taken_for_an_open_quote(write: Write) -> None:
    with pytest.raises(FileError, match=r"a\.csv: the file cannot be read: "):
        read_run(write(f"qid,docno,score\nq,{'d' * 200_000},1\nq,e,f,2\n", "a.csv"))


@run_readers
def test_a_binary_csv_is_an_error(write: Write, reader: Reader) -> None:
    with pytest.raises(FileError, match=r"a\.csv, line 2: this is not UTF-8 text"):
        reader(write(b"qid,docno,score\nq,d\xe9,1\n", "a.csv"))


@run_readers
def test_csv_files_of_other_columns_are_an_error(write: Write, reader: Reader) -> None:
    paths = [write("qid,docno,score\nq,d,1\n", "a.csv"), write("qid,docno,sim\nq,d,1\n", "b.csv")]
    with pytest.raises(
        FileError, match=r"b\.csv: its columns are qid, docno, sim; those of .*a\.csv are qid, docno, score"
    ) as error:
        reader(paths)
    # Put together as they are, half of the scores would be null.
    assert "pl.concat([..., other.rename({'sim': 'score'})], how='diagonal_relaxed')" in str(error.value)
    for header, advice in (
        ("qid,docno,sim,similarity", "Give both the same columns; only one has 'score', 'sim', 'similarity'\\."),
        (
            "query_id,doc,score,note",
            "Give both the same columns; only one has 'qid', 'docno', 'query_id', 'doc', 'note'",
        ),
        ("qid,docno,score,tag", "Give both the same columns; only one has 'tag'\\."),
        ("qid,docno,score,rank", r"pl\.concat\(\[\.\.\.\], how='diagonal_relaxed'\)"),
    ):
        with pytest.raises(FileError, match=rf"are qid, docno, score\. .*{advice}"):
            reader([paths[0], write(f"{header}\nq,d,1,1\n", "c.csv")])
    with pytest.raises(FileError, match=r"{'question_id': 'qid', 'product_id': 'docno'}"):
        reader([paths[0], write("question_id,product_id,score\nq,d,1\n", "d.csv")])


@run_readers
def test_csv_files_are_parts_of_one_table(write: Write, reader: Reader) -> None:
    paths = [write(f"qid,docno,score\n{i},d,1\n", f"{i}.csv") for i in range(3)]
    assert reader(paths).lazy().collect()["qid"].to_list() == ["0", "1", "2"]


@qrels_readers
@pytest.mark.parametrize("name", ["test.tsv", "test.tsv.gz"])
def test_beir_qrels_get_our_column_names(write: Write, reader: Reader, name: str) -> None:
    text = b"query-id\tcorpus-id\tscore\n007\td 1\t2\nq2\td2\t0\n"
    frame = reader(write(gzip.compress(text) if name.endswith("gz") else text, name)).lazy().collect()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    assert frame.rows() == [("007", "d 1", 2), ("q2", "d2", 0)]


@qrels_readers
def test_beir_qrels_without_their_header_are_an_error(write: Write, reader: Reader) -> None:
    with pytest.raises(
        FileError, match=r"a\.tsv, line 1: this is not a header: .* Add one, such as 'query-id.*corpus-id.*score'"
    ):
        reader(write("q1\td1\t1\n", "a.tsv"), format="beir")


@qrels_readers
@pytest.mark.parametrize(
    ("row", "said"), [("q\td", "got ''"), ("q\td\tx", "got 'x'"), ("q\t\t1", "doc_id must be an id")]
)
def test_a_wrong_row_of_beir_qrels_is_an_error(write: Write, reader: Reader, row: str, said: str) -> None:
    with pytest.raises(FileError, match=rf"a\.tsv, line 3: .*{said}"):
        reader(write(f"query-id\tcorpus-id\tscore\nq\td\t1\n{row}\n", "a.tsv"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qid,docno,score\rq,d,1\r", "line 1: a carriage return inside the line"),
        ("qid,docno,score,score\nq,d,1,2\n", "line 1: two columns are called 'score'"),
        ('qid,score,docno\nq1,1,"a\nq1,2,b\n"\n', "docno must be an id; got 'a\nq1,2,b\n'"),
    ],
)
def test_a_table_that_polars_reads_otherwise_than_its_author_meant_is_told(text, message, tmp_path):
    (tmp_path / "a.csv").write_bytes(text.encode())
    for read in (read_run, lambda path: scan_run(path).collect()):
        with pytest.raises((FileError, pl.exceptions.PolarsError)) as error:
            read(tmp_path / "a.csv")
        assert message in str(error.value) or "line 2" in str(error.value)


def test_a_column_that_first_comes_far_down_is_read(tmp_path):
    lines = [f'{{"qid": "q", "docno": "d{i}", "score": 1}}' for i in range(3000)]
    (tmp_path / "a.ndjson").write_text(
        "\n".join([*lines, '{"qid": "q", "docno": "x", "score": 1, "run": "a"}']), encoding="utf-8"
    )
    assert read_run(tmp_path / "a.ndjson").columns == ["qid", "docno", "score", "run"]


@readers
@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (
            "q1,d1,1",
            "this is not a header: it names no ids, and 1 is a number. Add one, such as 'query_id,doc_id,{}'.",
        ),
        (
            "q1,d1,-.5e3",
            "this is not a header: it names no ids, and -.5e3 is a number. Add one, such as 'query_id,doc_id,{}'.",
        ),
        ("qid,docno,*", "no column can be called '*' here; rename it."),
        ("qid,docno,^docno$", "no column can be called '^docno$' here; rename it."),
        ("qid,docno,polars_ir: line text", "no column can be called 'polars_ir: line text' here; rename it."),
        ("q\0id,docno,score", "a NUL byte; is this a binary file, or UTF-16?"),
    ],
)
def test_a_header_is_one_of_names(write: Write, reader: Any, header: str, problem: str) -> None:
    with pytest.raises(FileError) as error:
        reader(path := write(f"{header}\nq,d,1\n", "a.csv"))
    value = "score" if reader in (read_run, scan_run) else "relevance"
    assert str(error.value) == f"{path}, line 1: {problem.format(value)}\n    {header!r}"


def test_a_header_of_other_names_can_be_renamed(write: Write) -> None:
    assert read_run(write("frage,dokument,wert\nq,d,1\n", "a.csv")).columns == ["frage", "dokument", "wert"]


@pytest.mark.parametrize(
    ("before", "row", "line"),
    [
        ("", 'q,d,1,"a\nb\n"\n', 5),
        ("\n\r\n\n", "", 5),
        ("\ufeff", "\n\n", 4),
        ("\n", 'q,d,1,"a\nb"\n\n' * 2, 9),
    ],
)
def test_the_line_of_a_row_counts_all_lines(write: Write, before: str, row: str, line: int) -> None:
    path = write(f"{before}qid,docno,score,text\n{row}q,d,x,t\n", "a.csv")
    for reader in (read_run, scan_run):
        with pytest.raises(FileError, match=rf"a\.csv, line {line}: score must be a number; got 'x'"):
            reader(path)


@pytest.mark.parametrize("row", ["q,d,{}", '"q\n{}",d,1', "q,d,1,{}"])
def test_a_message_of_a_megabyte_is_cut(write: Write, row: str) -> None:
    for content in ("qid,docno,score\n" + row.format("x" * 1_000_000), ",".join(["x" * 1_000_000] * 2) + "\nq,d\n"):
        with pytest.raises(FileError) as error:
            read_run(path := write(content, "a.csv"))
        assert len(str(error.value)) < 300 + len(str(path))


def test_a_carriage_return_in_a_row_is_told(write: Write) -> None:
    with pytest.raises(FileError, match=r"a\.csv, line 3: a carriage return inside the line"):
        read_run(write("qid,docno,score\nq,c,1\nq,d,1\rq,e,2\n", "a.csv"))


@pytest.mark.parametrize("column", ["query_id", "doc_id"])
@pytest.mark.parametrize("format", ["parquet", "ipc", "ndjson"])
def test_a_part_with_null_ids_is_named(tmp_path: Path, column: str, format: str) -> None:
    part = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "score": [1.0, 2.0]})
    bad = part.with_columns(pl.when(pl.col("score") > 1).then(column).alias(column))
    paths = [tmp_path / f"part-{number}.{format}" for number in range(3)]
    for path, frame in zip(paths, [part, bad, part], strict=True):
        getattr(frame, f"write_{format}")(path)
    with pytest.raises(FileError) as error:
        read_run(paths)
    assert str(error.value) == f"{paths[1]}: rows of this part without {column}: 1. Leave them out."
    assert read_run(paths[1]).height == 2


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    part = pl.DataFrame({"query_id": ["q"] * 9, "doc_id": list("abcdefghi"), "score": [1.0] * 9})
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path in paths:
        part.write_parquet(path)
    content = bytearray(paths[1].read_bytes())
    content[4:24] = bytes(255 - byte for byte in content[4:24])
    paths[1].write_bytes(content)
    with pytest.raises(FileError, match=r"b\.parquet: the file cannot be read: .+\.$"):
        read_run(paths)


def test_two_columns_of_ids_are_read_as_they_are(tmp_path: Path) -> None:
    """The error that asks for one of them comes where the run is used."""
    frame = FRAME.with_columns(doc_id="docno")
    for name in "ab":
        frame.write_parquet(tmp_path / f"{name}.parquet")
    assert_frame_equal(read_run(tmp_path / "a.parquet"), frame)
    assert_frame_equal(read_run([tmp_path / "a.parquet", tmp_path / "b.parquet"]), pl.concat([frame, frame]))


LISTS = {
    "a submission": ("customer_id,prediction\n1,07 08\n2,08\n", "relevant=..."),
    "lists of users": (
        "user_id,retrieved,relevant\n1,07 08,08\n2,08,09\n",
        "retrieved='retrieved', relevant='relevant'",
    ),
    "printed lists": ("query_id,retrieved,relevant\n1,\"['07', '08']\",['08']\n2,['08'],['09']\n", "query='query_id'"),
}


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
@run_readers
def test_a_file_of_lists_is_named_with_the_code_that_reads_it(
    write: Write, text: tuple[str, str], reader: Reader
) -> None:
    path = write(text[0], "lists.csv")
    with pytest.raises(FileError, match="a row for each query, and lists in") as raised:
        reader(path)
    assert text[1] in str(raised.value)
    if "..." not in str(raised.value):
        code = str(raised.value).partition("beside the retrieved: ")[2].removesuffix(".")
        names: dict[str, Any] = {"pl": pl, "ir": ir}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ir.IRWarning)
            exec(code, names)  # noqa: S102  # code of ours
        assert names["qrels"]["doc_id"].to_list() == ["08", "09"]


@run_readers
def test_texts_of_queries_are_no_lists_of_documents(write: Write, reader: Reader) -> None:
    """A file without documents is another error, of the evaluation."""
    path = write("query_id,answer,score\n1,two words,0.5\n", "a.csv")
    assert reader(path).lazy().collect().height == 1
