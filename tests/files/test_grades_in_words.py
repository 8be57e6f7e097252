"""Grades in words, as NTCIR and ESCI have them, read by the numbers that a call gives them."""

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.errors import IRError, OptionError
from polars_ir.files import read_qrels, scan_qrels

GRADES = {"L2": 2, "L1": 1, "L0": 0}
ROWS = [("q1", "a", 2), ("q1", "b", 0), ("q2", "c", 1)]
WORDS = [(query, document, f"L{grade}") for query, document, grade in ROWS]

FILES = {
    "a.qrels": "".join(f"{query} 0 {document} {word}\n" for query, document, word in WORDS),
    "ntcir.txt": "".join(f"{query} {document} {word}\n" for query, document, word in WORDS),
    "a.csv": "query_id,doc_id,label\n" + "".join(f"{','.join(row)}\n" for row in WORDS),
    "beir.tsv": "query-id\tcorpus-id\tscore\n" + "".join("\t".join(row) + "\n" for row in WORDS),
    "a.letor": "".join(f"{word} qid:{query} 1:0 # docid = {document}\n" for query, document, word in WORDS),
}


@pytest.fixture(params=[*FILES, "a.parquet", "a.ndjson"])
def file(request, tmp_path):
    path = tmp_path / request.param
    frame = pl.DataFrame(WORDS, schema=["query_id", "doc_id", "relevance"], orient="row")
    if path.suffix == ".parquet":
        frame.cast({"relevance": pl.Categorical}).write_parquet(path)
    elif path.suffix == ".ndjson":
        frame.write_ndjson(path)
    else:
        path.write_text(FILES[request.param], encoding="utf-8")
    return path


def test_each_word_is_its_number_and_another_one_is_refused(file):
    for read in (read_qrels, lambda *of, **how: scan_qrels(*of, **how).collect()):
        found = read(file, grades=GRADES)
        assert found.rows() == ROWS
        assert found.dtypes[2] == pl.Int64
        assert read(file, grades={**GRADES, "L1": 0.5})[:, 2].to_list() == [2.0, 0.0, 0.5]
        with pytest.raises((IRError, pl.exceptions.PolarsError), match=r"L1|q2"):
            read(file, grades={"L2": 2, "L0": 0})


@pytest.mark.parametrize("grades", [{}, {"L2": "two"}, {1: 2}, {"L2": None}, "L2=2", {"L2": float("nan")}])
def test_what_gives_words_no_numbers_is_refused(grades, tmp_path):
    with pytest.raises(OptionError, match="grades must be a dict of the words"):
        read_qrels(tmp_path / "a.qrels", grades=grades)


JSON = {
    "documents": '{"q1": {"a": "L2", "b": "L0"}, "q2": {"c": "L1"}}',
    "ratings": """{"requests": [
        {"id": "q1", "ratings": [{"_id": "a", "rating": "L2"}, {"_id": "b", "rating": "L0"}]},
        {"id": "q2", "ratings": [{"_id": "c", "rating": "L1"}]}]}""",
    "lists by grade": """{"q1": {"L2": ["a"], "L0": ["b"]}, "q2": {"L1": ["c"]}}""",
    "a workbench": """{"name": "L2", "judgmentRatings": [
        {"query": "q1", "ratings": [{"docId": "a", "rating": "L2"}, {"docId": "b", "rating": "L0"}]},
        {"query": "q2", "ratings": [{"docId": "c", "rating": "L1"}]}]}""",
}


@pytest.mark.parametrize("text", JSON.values(), ids=JSON)
@pytest.mark.parametrize("read", [read_qrels, lambda *of, **how: scan_qrels(*of, **how).collect()])
def test_json_has_words_in_the_place_of_numbers(text, read, tmp_path):
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert read(tmp_path / "a.json", grades=GRADES).rows() == ROWS
    with pytest.raises(IRError, match=r'got "L1"\. Words have numbers by grades={word: number}\.'):
        read(tmp_path / "a.json", grades={"L2": 2, "L0": 0})


@pytest.mark.parametrize("name", FILES)
def test_the_error_of_a_word_names_the_option(name, tmp_path, capsys):
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    with pytest.raises(IRError, match=r"Words have numbers by grades={word: number}\."):
        read_qrels(tmp_path / name)
    (tmp_path / "a.run").write_text("q1 Q0 b 1 2 t\n", encoding="utf-8")
    assert main(["evaluate", str(tmp_path / "a.run"), "--qrels", str(tmp_path / name), "-m", "RR"]) == 2
    assert "Words have numbers by --grades WORD=NUMBER." in capsys.readouterr().err


def test_what_is_no_word_has_no_hint(tmp_path):
    (tmp_path / "a.qrels").write_text("q1 0 a ?\n", encoding="utf-8")
    with pytest.raises(IRError, match=r"must be a number; got '\?'\.$|got '\?'\.\n"):
        read_qrels(tmp_path / "a.qrels")


def test_the_shell_takes_a_word_at_a_time(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in {**FILES, "a.run": "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    grades = [word for pair in GRADES.items() for word in ("--grades", "{}={}".format(*pair))]
    assert main(["evaluate", "a.run", "--qrels", "a.qrels", "-m", "RR", *grades]) == 0
    assert capsys.readouterr().out == "run\tRR\na\t0.25\n"
    assert main(["convert", "--qrels", "a.qrels", "b.qrels", *grades]) == 0
    assert ir.read_qrels("b.qrels").rows() == ROWS
    capsys.readouterr()
    for wrong, says in (("L2", "L2 is not a word with a number"), ("L2=2", "a word with a number ('L2'); got 'L0'")):
        assert main(["evaluate", "a.run", "--qrels", "a.qrels", "-m", "RR", "--grades", wrong]) == 2
        assert says in capsys.readouterr().err


@pytest.mark.parametrize("write", [pl.DataFrame.write_csv, pl.DataFrame.write_parquet])
@pytest.mark.parametrize("read", [read_qrels, scan_qrels])
def test_words_without_a_column_of_grades_are_refused(read, write, tmp_path):
    file = tmp_path / f"esci.{write.__name__.removeprefix('write_')}"
    write(pl.DataFrame({"query_id": ["q1"], "product_id": ["a"], "esci_label": ["E"]}), file)
    with pytest.raises(IRError, match=r"no column of grades, .* grades gives numbers; rename 'esci_label' to 'relev"):
        read(file, grades={"E": 3})


def test_three_fields_whose_last_is_a_word_are_told_of_its_number(tmp_path):
    (tmp_path / "ntcir.txt").write_text(FILES["ntcir.txt"], encoding="utf-8")
    with pytest.raises(IRError, match=r"3 fields, not 4 .*\)\. Words have numbers by grades="):
        read_qrels(tmp_path / "ntcir.txt", format="trec")
    assert read_qrels(tmp_path / "ntcir.txt", format="trec", grades=GRADES).rows() == ROWS
