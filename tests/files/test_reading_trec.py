"""TREC files that can be read, in all their layouts."""

from __future__ import annotations

import gzip
import math
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from reading import Write, qrels_readers, run_readers

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_qrels, scan_run

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the real runs are not beside this checkout")

Row = tuple[Any, ...]


def both(read: Callable[..., pl.DataFrame], scan: Callable[..., pl.LazyFrame], source: Any) -> pl.DataFrame:
    """The frame of the eager reader, after a check that the lazy one gives the same in either engine."""
    frame = read(source)
    assert_frame_equal(frame, scan(source).collect(engine="streaming"))
    assert_frame_equal(frame, scan(source).collect(engine="in-memory"))
    return frame


def run_rows(source: Any) -> list[Row]:
    return both(read_run, scan_run, source).rows()


def qrels_rows(source: Any) -> list[Row]:
    return both(read_qrels, scan_qrels, source).rows()


def test_a_run_has_four_columns(write: Write) -> None:
    frame = both(read_run, scan_run, write("q1 Q0 d1 1 0.5 tag\n"))
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64, "score": pl.Float64}
    assert frame.rows() == [("q1", "d1", 1, 0.5)]


def test_qrels_have_three_columns(write: Write) -> None:
    frame = both(read_qrels, scan_qrels, write("q1 0 d1 2\n"))
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    assert frame.rows() == [("q1", "d1", 2)]


@pytest.mark.parametrize(
    ("format", "line", "row"),
    [
        ("subtopics", "q1 2 d1 1", {"query_id": "q1", "subtopic": "2", "doc_id": "d1", "relevance": 1}),
        ("judges", "q1\tann  d1 0.5", {"query_id": "q1", "judge": "ann", "doc_id": "d1", "relevance": 0.5}),
        (
            "preferences",
            "q1 ann 3 d1 2.0",
            {"query_id": "q1", "judge": "ann", "group": "3", "doc_id": "d1", "relevance": 2.0},
        ),
    ],
)
def test_a_format_says_what_the_fields_between_are(write: Write, format: str, line: str, row: dict) -> None:
    read, scan = (partial(reader, format=format) for reader in (read_qrels, scan_qrels))
    assert both(read, scan, write(f"{line}\n")).to_dicts() == [row]


@pytest.mark.parametrize(
    ("format", "problem"),
    [
        ("trec", "5 fields, not 4 (query_id iteration doc_id relevance); say what they are: format="),
        ("subtopics", "5 fields, not 4 (query_id subtopic doc_id relevance); say what they are: format="),
        ("judges", "5 fields, not 4 (query_id judge doc_id relevance); say what they are: format="),
        ("preferences", "the grade (field 5) must be a number; got 'x'."),
    ],
)
def test_a_line_of_another_format_is_an_error(write: Write, format: str, problem: str) -> None:
    with pytest.raises(ir.IRError, match=re.escape(problem)):
        read_qrels(write("q1 0 d1 1 x\n"), format=format)


@pytest.mark.parametrize(
    "line",
    [
        "q1 Q0 d1 1 0.5 tag\n",
        "q1 Q0 d1 1 0.5 tag",
        "q1\tQ0\td1\t1\t0.5\ttag\n",
        "q1  Q0   d1 1    0.5 tag\n",
        "  q1 Q0 d1 1 0.5 tag \t\n",
        "q1 \t Q0 d1\t 1 0.5\ttag\n",
        "q1 Q0 d1 1 0.5 tag\r\n",
        "q1 Q0 d1 1 0.5 a tag of words\n",
        "\ufeffq1 Q0 d1 1 0.5 tag\n",
        "# a comment\nq1 Q0 d1 1 0.5 tag\n",
        "\ufeff# a comment\r\n\r\nq1 Q0 d1 1 0.5 tag\r\n",
        "  # q0 Q0 d1 1 0.5 tag\nq1 Q0 d1 1 0.5 tag\n",
        "\n \t \nq1 Q0 d1 1 0.5 tag\n\n\n",
    ],
)
def test_layout_does_not_matter(write: Write, line: str) -> None:
    assert run_rows(write(line)) == [("q1", "d1", 1, 0.5)]


@pytest.mark.parametrize("name", ['"', '"d', "d'1'", "d#1", "a,b", "007", "null", "NA", "ñ文", "d\\t"])
def test_an_id_is_kept_as_it_is_written(write: Write, name: str) -> None:
    assert run_rows(write(f"q{name} Q0 {name} 1 0.5 tag\n")) == [(f"q{name}", name, 1, 0.5)]


@pytest.mark.parametrize(
    ("text", "score"),
    [("1e-3", 0.001), ("inf", math.inf), ("-INF", -math.inf), ("-5", -5.0), ("+.5", 0.5), ("7.", 7.0), ("1E2", 100.0)],
)
@pytest.mark.parametrize("blank", [" ", "\t"])
def test_a_score_is_any_number(write: Write, text: str, score: float, blank: str) -> None:
    assert run_rows(write(blank.join(["q", "Q0", "d", "1", text, "tag"]))) == [("q", "d", 1, score)]


@pytest.mark.parametrize(("text", "rank"), [("0", 0), ("-1", -1), ("1.0", None), ("Q0", None), ("9" * 30, None)])
def test_a_rank_that_is_no_integer_is_null(write: Write, text: str, rank: int | None) -> None:
    assert run_rows(write(f"q Q0 d {text} 0.5 tag\n")) == [("q", "d", rank, 0.5)]


def test_rows_keep_the_order_of_the_lines(write: Write) -> None:
    lines = [f"q{i % 7} Q0 d{i} {i} {i % 11} tag" for i in range(50_000)]
    assert read_run(write("\n".join(lines)))["doc_id"].to_list() == [f"d{i}" for i in range(50_000)]


@pytest.mark.filterwarnings("ignore:.*the run has several tags")
@pytest.mark.parametrize(
    "late",
    [
        "q9\tQ0\td9\t9\t0.9\ttag",
        "q9\tQ0 d9 9 0.9 7 x",
        " q9 Q0 d9 9 0.9 tag",
        "q9 Q0  d9 9 0.9 tag",
        "q9 Q0 d9 9 0.9 tag x",
    ],
)
def test_a_late_odd_line_is_read_right(write: Write, late: str) -> None:
    clean = "".join(f"q{i} Q0 d{i} 1 0.5 tag\n" for i in range(20_000))
    frame = both(read_run, scan_run, write(clean + late + "\n"))
    assert frame.height == 20_001
    assert frame.row(-1) == ("q9", "d9", 9, 0.9)


@pytest.mark.parametrize("blank", [" ", "\t"])
@run_readers
def test_an_id_with_a_blank_is_no_document_whose_score_is_its_rank(write: Write, reader: Any, blank: str) -> None:
    lines = [blank.join(["q", "Q0", document, "1", "3.5", "tag"]) + "\n" for document in ("d", "my doc")]
    with pytest.raises(
        FileError, match=r"line 2: 7 fields, of which the fifth and the sixth, '1' and '3\.5', could be rank and score"
    ):
        reader(write("".join(lines), "a.run"))


WORD = st.sampled_from(["Genesis", "1", "2.5", "x", "-7", "1e3"])


@given(st.lists(WORD, min_size=2, max_size=2), st.integers(1, 99), st.floats(-9, 9, width=16), st.booleans())
def test_an_id_of_two_words_is_never_read_as_another_row(words, rank, score, of_query):
    document, query = ("d", " ".join(words)) if of_query else (" ".join(words), "q")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.run")
        path.write_text(f"{query} Q0 {document} {rank} {score} tag\n", encoding="utf-8")
        with pytest.raises(FileError, match=r"line 1: "):
            read_run(path)


@qrels_readers
def test_a_comment_with_the_fields_of_a_row_is_skipped_with_a_warning(write: Write, reader: Any) -> None:
    path = write("# judged by ann\n#ai 0 d1 1\nq2 0 d2 1\n#ai 0 d3 0\n# q3 0 d1 1\n", "a.qrels")
    with pytest.warns(ir.IRWarning, match=r"a.qrels, line 2 \(and 1 more\): a comment with .* '#ai 0 d1 1'. No query"):
        assert reader(path).lazy().collect().rows() == [("q2", "d2", 1)]


@pytest.mark.filterwarnings("ignore:.*the run has several tags")
def test_a_tag_may_have_words_and_numbers(write: Write) -> None:
    lines = "q Q0 a x 3.5 my 2\nq Q0 b 1 2.5 2024 06 01\nq Q0 c - 1.5 2024 06\n"
    assert run_rows(write(lines)) == [("q", "a", None, 3.5), ("q", "b", 1, 2.5), ("q", "c", None, 1.5)]


def test_a_byte_order_mark_in_the_middle_is_left_out(write: Write) -> None:
    assert [row[0] for row in run_rows(write("q1 Q0 d 1 1 t\n\ufeffq2 Q0 d 1 1 t\n"))] == ["q1", "q2"]


@pytest.mark.parametrize("members", [1, 2])
def test_gzip_is_read_to_its_last_member(write: Write, members: int) -> None:
    parts = [gzip.compress(f"q{i} Q0 d 1 0.5 tag\n".encode()) for i in range(members)]
    assert [row[0] for row in run_rows(write(b"".join(parts), "a.run.gz"))] == [f"q{i}" for i in range(members)]


def test_zstandard_is_read(write: Write) -> None:
    # "q1 Q0 d1 1 0.5 tag\n" in one raw block, so that no compressor is needed.
    frame = bytes.fromhex("28b52ffd2013990000") + b"q1 Q0 d1 1 0.5 tag\n"
    assert run_rows(write(frame, "a.run.zst")) == [("q1", "d1", 1, 0.5)]


def test_whole_grades_are_integers(write: Write) -> None:
    assert qrels_rows(write("q 0 a -2\nq 0 b 3\n")) == [("q", "a", -2), ("q", "b", 3)]


def test_one_fraction_makes_all_grades_floats(write: Write) -> None:
    frame = both(read_qrels, scan_qrels, write("q 0 a 1\nq 0 b 0.5\n"))
    assert frame["relevance"].dtype == pl.Float64
    assert frame["relevance"].to_list() == [1.0, 0.5]


def test_a_late_fraction_is_read_but_not_scanned(write: Write) -> None:
    path = write("q 0 a 1\n" * 2000 + "q 0 late 0.5\n")
    assert read_qrels(path)["relevance"].sum() == 2000.5
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"line 2001: wanted .*read_qrels.*q 0 late 0.5"):
        scan_qrels(path).collect()


def test_several_runs_are_told_apart_by_their_tags(write: Write, tmp_path: Path) -> None:
    write("q Q0 d 1 1 one\n", "a.run")
    write("q Q0 d 1 1 two\n", "b.run")
    frame = both(read_run, scan_run, tmp_path / "*.run")
    assert frame.columns == ["run", "query_id", "doc_id", "rank", "score"]
    assert frame["run"].to_list() == ["one", "two"]


@pytest.mark.filterwarnings("ignore:.*the run has several tags")
@run_readers
def test_a_run_whose_lines_have_several_tags_is_named_by_its_file(write: Write, reader: Any) -> None:
    both_systems = write("q Q0 d 1 1 bm25\nq Q0 e 1 1 dense\n", "fused.run")
    frame = reader([both_systems, write("q Q0 d 1 1 bm25\n", "a.run")]).lazy().collect()
    assert frame["run"].to_list() == ["fused", "fused", "a"]


def test_several_runs_of_one_tag_are_told_apart_by_their_file_names(write: Write) -> None:
    paths = [write("q Q0 d 1 1 same\n", name) for name in ("bm25.k1=0.9.run", "bm25.k1=1.2.run")]
    assert [row[0] for row in run_rows(paths)] == ["bm25.k1=0.9", "bm25.k1=1.2"]


def test_several_runs_of_one_tag_and_one_file_name_are_told_apart_by_their_paths(write: Write, tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
    paths = [write("q Q0 d 1 1 same\n", f"{folder}/a.run") for folder in ("x", "y")]
    assert [row[0] for row in run_rows(paths)] == [str(path) for path in paths]


def test_one_run_has_no_run_column_even_in_a_list(write: Write) -> None:
    assert "run" not in read_run([write("q Q0 d 1 1 tag\n")]).columns


def test_several_qrels_are_one_table(write: Write) -> None:
    paths = [write("q1 0 d 1\n", "a.txt"), write("q2 0 d 0.5\n", "b.txt")]
    assert qrels_rows(paths) == [("q1", "d", 1.0), ("q2", "d", 0.5)]


def test_a_scan_holds_no_python_function(write: Write) -> None:
    path = write("q Q0 d 1 1 tag\n")
    plan = scan_run(path).explain().replace(str(path), "").upper()
    assert "PYTHON" not in plan
    assert "MAP" not in plan


ids = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1, max_size=5)
query_ids = ids.filter(lambda name: not name.startswith("#"))
scores = st.floats(allow_nan=False)
blanks = st.sampled_from([" ", "\t", "  ", " \t "])
ends = st.sampled_from(["\n", "\r\n", " \n", "\t\r\n", "\n\n", "\n# comment\n"])


@st.composite
def layouts(draw: st.DrawFn, line: st.SearchStrategy[list[str]]) -> tuple[list[list[str]], bytes]:
    """Rows of fields, and a file that holds them in one uniform layout or in a mixture."""
    rows = draw(st.lists(line, min_size=1, max_size=8))
    uniform = draw(st.booleans())
    blank, end = draw(blanks), draw(ends)
    text = draw(st.sampled_from(["", "\ufeff", "# comment\n", "\r\n"]))
    for row in rows:
        fields = row[0] if uniform else draw(st.sampled_from(["", " ", "\t"])) + row[0]
        for field in row[1:]:
            fields += (blank if uniform else draw(blanks)) + field
        text += fields + (end if uniform else draw(ends))
    content = (text if draw(st.booleans()) else text.rstrip("\n")).encode()
    return rows, content


def written(content: bytes, zipped: bool, folder: str) -> Path:
    path = Path(folder, "file.gz" if zipped else "file")
    path.write_bytes(gzip.compress(content) if zipped else content)
    return path


run_lines = st.tuples(query_ids, ids, ids, st.integers(0, 99).map(str), scores.map(repr), ids).map(list)
qrels_lines = st.tuples(query_ids, ids, ids, st.integers(-3, 9).map(str)).map(list)


@pytest.mark.filterwarnings("ignore:.*the run has several tags")
@given(layouts(run_lines), st.booleans())
@example(([["[{", "0", "0", "0", "0.0", "0"]], b"[{ 0 0 0 0.0 0"), False)
def test_any_run_is_read_back(layout: tuple[list[list[str]], bytes], zipped: bool) -> None:
    rows, content = layout
    with tempfile.TemporaryDirectory() as folder:
        expected = [(row[0], row[2], int(row[3]), float(row[4])) for row in rows]
        assert run_rows(written(content, zipped, folder)) == expected


@given(layouts(qrels_lines), st.booleans())
@example(([['{"', "0", "0", "1"]], b'{" 0 0 1'), False)
def test_any_qrels_are_read_back(layout: tuple[list[list[str]], bytes], zipped: bool) -> None:
    rows, content = layout
    with tempfile.TemporaryDirectory() as folder:
        assert qrels_rows(written(content, zipped, folder)) == [(row[0], row[2], int(row[3])) for row in rows]


@needs_data
@pytest.mark.parametrize("name", ["MU03rob01", "UIUC03Rd1", "humR03dc", "pircRBa1"])
@pytest.mark.whole("a quarter of a second a case", quick=1)
def test_a_real_run_is_read_as_pytrec_eval_reads_it(name: str) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    path = DATA / f"{name}.run.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        expected = pytrec_eval.parse_run(file)
    frame = both(read_run, scan_run, path)
    assert frame.height == sum(map(len, expected.values()))
    assert all(expected[query][document] == score for query, document, _, score in frame.iter_rows())


@needs_data
def test_real_qrels_are_read_as_pytrec_eval_reads_them() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    path = DATA / "qrels.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        expected = pytrec_eval.parse_qrel(file)
    frame = both(read_qrels, scan_qrels, path)
    assert frame.height == sum(map(len, expected.values()))
    assert all(expected[query][document] == grade for query, document, grade in frame.iter_rows())


@needs_data
def test_real_runs_of_a_folder_are_named_by_their_tags() -> None:
    frame = read_run(str(DATA / "*.run.gz"))
    assert frame["run"].n_unique() == 4
    assert frame.columns[0] == "run"


RATINGS = {
    "MovieLens": "".join(f"{u}\t{i}\t{1 + (u + i) % 5}\t{978824351 + i}\n" for u in range(5) for i in range(9)),
    "NCF": "".join(f"{u} {u * 7 % 300} {1 + u % 5} 0\n" for u in range(300)),
    "many items": "".join(f"{u} {u * 7} {u * 3} 1\n" for u in range(100)),
}


@pytest.mark.parametrize("reader", [read_qrels, scan_qrels])
@pytest.mark.parametrize("name", RATINGS)
def test_a_table_of_ratings_is_no_judgments_unless_it_is_said_to_be(name, reader, write):
    file = write(RATINGS[name], "u.data")
    with pytest.raises(ir.IRError, match="by its first lines this is a table of numbers") as error:
        reader(file)
    rated = eval(str(error.value).partition("give format='trec': ")[2].removesuffix("."), {"pl": pl})  # noqa: S307
    assert rated.columns == ["query_id", "doc_id", "relevance", "time"]
    assert rated.height == reader(file, format="trec").lazy().collect().height


JUDGMENTS = {
    "seconds watched": "1 0 doc-1-0 2500\n",
    "seconds of documents of numbers": "1 0 17 2500\n2 0 18 1\n",
    "few answers": "".join(f"{query} 0 doc{query % 3} 1\n" for query in range(200)),
    "few answers of numbers": "".join(f"{query} 0 {query % 3} 1\n" for query in range(200)),
}


@pytest.mark.parametrize("name", JUDGMENTS)
def test_judgments_of_many_seconds_or_few_documents_are_read(name, write):
    file = write(JUDGMENTS[name], "a.txt")
    assert read_qrels(file).equals(read_qrels(file, format="trec"))


@run_readers
@pytest.mark.filterwarnings("error")
def test_a_tag_for_each_query_is_no_second_system(reader, write):
    lines = "".join(f"q{number} Q0 a{rank} {rank} {9 - rank} r_q{number}\n" for number in (1, 2) for rank in (1, 2))
    assert reader(write(lines, "a.run")).lazy().collect().height == 4
    assert reader(write(lines.replace(" Q0", "  Q0"), "b.run")).lazy().collect().height == 4


def test_what_is_cut_short_is_of_the_format_of_its_first_line(write):
    with pytest.raises(ir.IRError, match=r"line 3: a run line has 6 fields .*; this one has 4"):
        read_run(write("q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.5 t\nq1 Q0 c 3\n", "cut.run"))
    with pytest.raises(ir.IRError, match=r"line 2: a qrels line has 4 fields .*; this one has 3"):
        read_qrels(write("q1 0 a 1\nq1 0 b\n", "cut.qrels"))


def test_judgments_of_subtopics_that_were_read_as_others_say_how_they_are_read(write, capsys):
    file = write("201 1 d1 1\n201 2 d1 0\n201 1 d2 0\n201 2 d2 1\n", "web.txt")
    with pytest.raises(ir.IRError, match="read it with format='subtopics' or format='judges'"):
        ir.evaluate({"201": ["d1"]}, read_qrels(file), "nDCG@10")
    run = write("201 Q0 d1 1 1.0 t\n", "a.run")
    assert main(["evaluate", str(file), str(run), "-m", "nDCG@10"]) == 2
    assert "--qrels-format subtopics" in capsys.readouterr().err
    assert ir.evaluate(read_run(run), read_qrels(file, format="subtopics"), "alpha_nDCG@10").height == 1


@run_readers
@pytest.mark.parametrize("name", ["two.run", "two.run.gz"])
@pytest.mark.parametrize("before", [0, 1500])
def test_several_tags_in_a_run_are_told_and_read_as_systems_as_advised(reader, name, before, write):
    # A scan of a compressed file sees the first lines alone.
    before = 0 if reader is scan_run and name.endswith("gz") else before
    others = "".join(f"q{number} Q0 a 1 2.0 bm25\n" for number in range(2, before))
    lines = f"q1 Q0 a 1 2.0 bm25\n{others}q1 Q0 b 1 9.0 dense\n".encode()
    file = write(gzip.compress(lines) if name.endswith("gz") else lines, name)
    with pytest.warns(ir.IRWarning, match="several tags, 'bm25', 'dense', whose documents are ranked") as warned:
        reader(file).lazy().collect()
    code = str(warned[0].message).partition("read them like this: ")[2].removesuffix(".")
    run = eval(code, {"pl": pl})  # noqa: S307  # what the message says
    found = ir.evaluate(run.lazy().collect(), {"q1": {"a": 1, "b": 0}}, "RR")
    assert found.rows() == [("bm25", "q1", 1.0), ("dense", "q1", 0.0)]


@run_readers
def test_several_tags_between_other_blanks_are_told_without_code(reader, write):
    file = write("q1 Q0 a 1  2.0 bm25\nq1 Q0 b 1 9.0 dense\n", "two.run")
    with pytest.warns(ir.IRWarning, match="several tags.* If they are systems, write each to a file of its own\\.$"):
        reader(file).lazy().collect()


def test_a_sample_by_strata_has_a_column_of_them(write: Write) -> None:
    read, scan = (partial(reader, format="sample_eval") for reader in (read_qrels, scan_qrels))
    frame = both(read, scan, write("q1 0 d1 1 2\nq1 0 d2 1 -1\n"))
    assert frame.rows(named=True)[1] == {"query_id": "q1", "doc_id": "d2", "stratum": "1", "relevance": -1}


def test_a_sample_by_strata_given_as_preferences_is_told(write: Write) -> None:
    path = write("q1 0 d1 1 2\nq1 0 d2 1 -1\n")
    for read in (read_qrels, scan_qrels):
        with pytest.warns(ir.IRWarning, match="no group has two documents.*is read with format='sample_eval'"):
            read(path, format="preferences")
    # Documents that are numbers, in groups of two, are preferences.
    read_qrels(write("q1 0 1 7 2\nq1 0 1 8 1\n", "preferences"), format="preferences")


PRELS = "1 a 2 1 0.5\n1 b 0 0 0.3\n1 c 1 2 0.2\n1 d 0 1 NA\n1 e 1 1 -1\n1 f 1 1 1.5\n1 g -999 1 0.5\n"


def test_prels_have_a_probability_and_what_was_not_drawn_is_skipped_and_counted(write: Write) -> None:
    path = write(PRELS)
    with pytest.warns(ir.errors.IRWarning, match=r"line 4: skipped 4 lines, whose probability is NA, below 0 or above"):
        frame = read_qrels(path, format="prels")
    # Documents that were chosen, by methods 0 and 2, stand for themselves.
    assert frame.rows() == [("1", "a", 2, 0.5), ("1", "b", 0, 1.0), ("1", "c", 1, 1.0)]
    assert frame.columns == ["query_id", "doc_id", "relevance", "inclusion_probability"]
    with pytest.warns(ir.errors.IRWarning, match="skipped 4 lines of the first 1000"):
        plan = scan_qrels(path, format="prels")
    assert_frame_equal(plan.collect(), frame)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 a 2 1 0", "the inclusion probability (field 5) must be above 0 and at most 1, or NA; got '0'."),
        ("1 a 2 1 nan", "the inclusion probability (field 5) must be above 0 and at most 1, or NA; got 'nan'."),
        ("1 a 2 7 0.5", "the method (field 4) must be 0, 1 or 2; got '7'."),
        ("1 a x 1 0.5", "the grade (field 3) must be a number; got 'x'."),
        ("1 a 2 0.5", "has 5 fields (query_id doc_id relevance method inclusion_probability); this one has 4."),
    ],
)
def test_a_line_that_is_no_prel_is_an_error(write: Write, line: str, problem: str) -> None:
    for read in (read_qrels, scan_qrels):
        with pytest.raises(ir.IRError, match=re.escape(problem)):
            read(write(f"{line}\n"), format="prels")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("q1 ann 1 d1 2", "preferences are read with format='preferences'."),
        ("q1 0 d1 1 2", "a sample by strata is read with format='sample_eval'."),
        ("q1 0 d1 1 -1", "a sample by strata is read with format='sample_eval'."),
        ("1 d1 2 1 0.5", "a sample with probabilities is read with format='prels'."),
        ("1 d1 2 1 NA", "a sample with probabilities is read with format='prels'."),
        ("1 2 3 1 2", "say what they are: format='preferences' (query_id judge group doc_id relevance); format='samp"),
    ],
)
def test_five_fields_are_never_guessed_and_told_as_far_as_they_tell(write: Write, line: str, says: str) -> None:
    for read in (read_qrels, scan_qrels):
        with pytest.raises(ir.IRError, match=re.escape(says)):
            read(write(f"{line}\n"))


@pytest.mark.parametrize("format", ["sample_eval", "prels"])
def test_samples_are_read_back_as_written(tmp_path: Path, format: str) -> None:
    columns = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "stratum": ["1", "2"]}
    qrels = pl.DataFrame({**columns, "relevance": [1, 0], "inclusion_probability": [0.5, 1.0]})
    qrels = qrels.drop("inclusion_probability" if format == "sample_eval" else "stratum")
    ir.write_qrels(qrels, tmp_path / "a", format=format)
    assert_frame_equal(ir.read_qrels(tmp_path / "a", format=format), qrels)


def test_a_sample_that_is_written_without_its_probability_is_told(tmp_path: Path) -> None:
    drawn = pl.DataFrame({"query_id": "q", "doc_id": ["d1"], "relevance": [1], "inclusion_probability": [0.5]})
    with pytest.warns(ir.IRWarning, match="'inclusion_probability' is not written.*; format='prels' has it"):
        ir.write_qrels(drawn, tmp_path / "a.txt")
    ir.write_qrels(drawn, tmp_path / "a.txt", format="prels")
