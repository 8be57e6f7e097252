"""Nested JSON, as pytrec_eval, ranx and MTEB have it: read as it is, or an error that says where it is wrong."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from reading import Reader, Write, message, qrels_readers, run_readers
from suite import examples

import polars_ir as ir
from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, tag_of

RUN = {"q1": {"d1": 0.5, "d2": 2}, "007": {"d 1": -1e-3}}

ids = st.text(st.characters(exclude_categories=("Cs",)), max_size=5)
scores = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**9), 10**9)


@run_readers
def test_a_run_is_read_in_the_order_of_the_file(write: Write, reader: Reader) -> None:
    frame = reader(write(json.dumps(RUN), "a.json")).lazy().collect()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert frame.rows() == [("q1", "d1", 0.5), ("q1", "d2", 2.0), ("007", "d 1", -0.001)]


@qrels_readers
def test_grades_are_integers_if_all_are_written_so(write: Write, reader: Reader) -> None:
    frame = reader(write('{"q1": {"d1": 1, "d2": 0}}', "a.json")).lazy().collect()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    assert frame.rows() == [("q1", "d1", 1), ("q1", "d2", 0)]


@qrels_readers
def test_one_fraction_makes_all_grades_fractions(write: Write, reader: Reader) -> None:
    assert reader(write('{"q1": {"d1": 1}, "q2": {"d": 0.5}}', "a.json")).lazy().collect()["relevance"].to_list() == [
        1.0,
        0.5,
    ]


def test_a_query_without_documents_was_judged_but_retrieved_nothing(write: Write) -> None:
    path = write('{"q1": {"d1": 1}, "q2": {}}', "a.json")
    assert read_qrels(path).rows() == [("q1", "d1", 1), ("q2", None, None)]
    assert read_run(path).rows() == [("q1", "d1", 1.0)]


def test_only_queries_without_documents_are_a_table_of_the_same_types(write: Write) -> None:
    path = write('{"q1": {}}', "a.json")
    assert read_qrels(path).schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    assert read_run(path).schema == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}


def test_compressed_json_is_read(write: Write, tmp_path: Path) -> None:
    write(gzip.compress(json.dumps(RUN).encode()), "a.json.gz")
    pl.Series([json.dumps(RUN)]).to_frame().lazy().sink_csv(
        tmp_path / "a.json.zst",
        include_header=False,
        quote_style="never",
        compression="zstd",
        check_extension=False,
    )
    assert read_run(tmp_path / "a.json.gz").rows() == read_run(tmp_path / "a.json.zst").rows()


@pytest.mark.parametrize("name", ["a", "a.txt", "a.2019"])
def test_json_is_known_by_its_first_line(write: Write, name: str) -> None:
    assert read_run(write("\ufeff\n {\r\n" + json.dumps(RUN)[1:], name)).height == 3


def test_the_format_can_be_said(write: Write) -> None:
    assert read_run(write(json.dumps(RUN), "a.run"), format="json").height == 3


def test_several_runs_are_named_by_their_files(write: Write) -> None:
    paths = [write('{"q": {"d": 1}}', "bm25.json"), write('{"q": {"d": 2}}', "dense.json")]
    assert read_run(paths).rows() == [("bm25", "q", "d", 1.0), ("dense", "q", "d", 2.0)]
    assert tag_of(paths[0]) == "bm25"


def test_several_files_of_judgments_are_parts_of_one(write: Write) -> None:
    paths = [write('{"q": {"d": 1}}', "a.json"), write('{"p": {"d": 0.5}}', "b.json")]
    assert read_qrels(paths).rows() == [("q", "d", 1.0), ("p", "d", 0.5)]


def test_predictions_of_mteb_have_subset_and_split(write: Write) -> None:
    content = {
        "mteb_model_meta": {"model_name": "m", "revision": "1", "n": {"x": 1}},
        "default": {"test": {"q1": {"d1": 0.5}, "q2": {}}, "dev": {"q1": {"d2": 1}}},
        "de": {"test": {"q1": {"d1": 2}}},
    }
    frame = read_run(write(json.dumps(content), "SciFact_predictions.json"))
    assert frame.columns == ["subset", "split", "query_id", "doc_id", "score"]
    assert frame.rows() == [
        ("default", "test", "q1", "d1", 0.5),
        ("default", "dev", "q1", "d2", 1.0),
        ("de", "test", "q1", "d1", 2.0),
    ]
    del content["mteb_model_meta"]
    assert_frame_equal(read_run(write(json.dumps(content), "a.json")), frame)


def test_predictions_of_mteb_with_one_of_each_are_evaluated_as_they_are(write: Write) -> None:
    run = read_run(write('{"mteb_model_meta": {}, "default": {"test": {"q": {"d": 1, "e": 2}}}}', "a.json"))
    assert ir.evaluate(run, {"q": {"d": 1}}, ["RR"]).row(0) == ("q", 0.5)


def test_predictions_of_mteb_are_no_judgments(write: Write) -> None:
    path = write('{"mteb_model_meta": {}, "default": {"test": {"q": {"d": 1}}}}', "a.json")
    assert message(read_qrels, path) == "a.json: these are predictions of MTEB, which are a run; use read_run."


WRONG = {
    '{"q": {"d": 1, "d": 2}}': "query 'q': the document 'd' occurs twice. Leave one out.",
    '{"q": {"d": 1}, "q": {}}': "the whole: the query 'q' occurs twice. Leave one out.",
    '{"q": {"c": 1, "d": NaN}}': "query 'q', document 'd': a score must be a finite number; got NaN.",
    '{"q": {"d": -Infinity}}': "query 'q', document 'd': a score must be a finite number; got -Infinity.",
    '{"q": {"d": 1e999}}': "query 'q', document 'd': a score must be a finite number; got Infinity.",
    '{"q": {"c": 1, "d": "0.5"}}': "query 'q', document 'd': a score must be a number; got \"0.5\".",
    '{"q": {"d": null}}': "query 'q', document 'd': a score must be a number; got null.",
    '{"q": {"d": true}}': "query 'q', document 'd': a score must be a number; got true.",
    '{"q": {"d": {"e": "f"}}}': "query 'q', document 'd': a score must be a number; got an object.",
    '{"q": [["d"]]}': "query 'q' must be an object, {document: score}; got a list.",
    '{"p": {"d": 1}, "q": 1}': "query 'q' must be an object, {document: score}; got 1.",
    '{"d": 1}': "the whole must be an object, {query: {document: score}}; got an object of numbers.",
    '[{"query_id": "q"}]': (
        "the whole must be an object, {query: {document: score}}; got a list. If they are rows, read them: "
        "pl.read_json('a.json')."
    ),
    "5": "the whole must be an object, {query: {document: score}}; got 5.",
    "{}": "the file is empty: no query has documents.",
    " \n": "the file is empty: no line holds data.",
    '{"a": {"b": {"q": {"d": "x"}, "p": {"d": 1}}}, "mteb_model_meta": 1}': (
        "subset 'a', split 'b', query 'q', document 'd': a score must be a number; got \"x\"."
    ),
    "[" * 100_000: "the JSON is nested too deeply to be a run or judgments.",
    '{"q": {"d": ' + "1" * 5000 + "}}": "query 'q', document 'd': a score must be a finite number; got Infinity.",
}


@run_readers
@pytest.mark.parametrize("content", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_told_with_its_place_in_the_json(write: Write, reader: Reader, content: str) -> None:
    assert message(reader, write(content, "a.json")) == f"a.json: {WRONG[content]}"


def test_a_wrong_grade_is_called_a_grade(write: Write) -> None:
    path = write('{"q": {"d": "1"}}', "a.json")
    assert message(read_qrels, path) == "a.json: query 'q', document 'd': a grade must be a number; got \"1\"."


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"q": {"d": 1}', "a.json, line 1: this is not JSON at column 15: Expecting ',' delimiter."),
        (b'{"q":\n{"d": 01}}', "a.json, line 2: this is not JSON at column 8: Expecting ',' delimiter."),
        (b"q Q0 d 1 0.5 tag", "a.json, line 1: this is not JSON at column 1: Expecting value."),
        (
            b'{"q": {"d": 1}}\n{"q": {"e": 1}}',
            (
                "a.json, line 2: this is not JSON at column 1: Extra data. "
                "Is it one JSON value a line? Then say format='ndjson'."
            ),
        ),
        (b'{"q":\n{"d\xe9": 1}}', "a.json, line 2: this is not UTF-8 text; is it binary, or in another encoding?"),
    ],
)
def test_what_is_no_json_is_told_with_its_line(write: Write, content: bytes, said: str) -> None:
    assert message(read_run, write(content, "a.json")).startswith(f"{said}\n")


def test_a_truncated_gzip_is_an_error(write: Write) -> None:
    assert "cannot be read" in message(read_run, write(gzip.compress(json.dumps(RUN).encode())[:-9], "a.json.gz"))


@examples(60)
@given(st.dictionaries(ids, st.dictionaries(ids, scores, min_size=1), min_size=1))
def test_what_json_writes_is_read_back(run: dict[str, dict[str, float]]) -> None:
    rows = [(query, doc, float(score)) for query, docs in run.items() for doc, score in docs.items()]
    with tempfile.TemporaryDirectory() as folder:
        for indent in (None, 1):
            path = Path(folder, "a.json")
            path.write_text(json.dumps(run, indent=indent, ensure_ascii=False), "utf-8", newline="\n")
            assert read_run(path).rows() == rows


@examples(60)
@given(st.text('{}[]":,01.eN\\qd ', max_size=40))
def test_odd_text_is_read_as_json_reads_it_or_is_an_error(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.json")
        path.write_text(text, "utf-8")
        try:
            frame = read_run(path)
        except FileError:
            return
    value = json.loads(text)
    assert frame.rows() == [(query, doc, score) for query, docs in value.items() for doc, score in docs.items()]


def test_keys_of_any_length_leave_a_message_short(write: Write) -> None:
    assert len(message(read_run, write('{"' + "q" * 10_000 + '": {"' + "d" * 10_000 + '": null}}', "a.json"))) < 300


@pytest.mark.whole("a large file")
def test_many_documents_come_in_several_pieces(write: Write) -> None:
    run = {f"q{q}": {f"d{d}": d / 2 if q % 2 else d for d in range(700)} for q in range(400)}
    frame = read_run(write(json.dumps(run), "a.json"))
    assert frame.height == 280_000
    assert frame.rows() == [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]


def test_pytrec_eval_gives_the_same_figures_for_the_same_file(write: Write) -> None:
    run, qrels = {"q1": {"a": 1.5, "b": 1.0, "c": 0.5}, "q2": {"a": 0.1}}, {"q1": {"b": 2, "c": 1}, "q2": {"b": 1}}
    paths = write(json.dumps(run), "run.json"), write(json.dumps(qrels), "qrels.json")
    ours = ir.evaluate(read_run(paths[0]), read_qrels(paths[1]), ["nDCG"]).rows()
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(run)
    assert dict(ours) == pytest.approx({query: figures["ndcg"] for query, figures in theirs.items()})


# A file of ranx 0.3.21, whose import takes longer than all of these tests.
RANX: dict[str, dict[str, str]] = {
    "json": {
        "run": '{\n  "q1": {\n    "d2": 2.0,\n    "d1": 0.5\n  },\n  "q2": {\n    "d3": -1.0\n  }\n}',
        "qrels": '{\n  "q1": {\n    "d1": 1,\n    "d2": 0\n  },\n  "q2": {\n    "d3": 2\n  }\n}',
    },
    "trec": {
        "run": "q1 Q0 d2 1 2.0 None\nq1 Q0 d1 2 0.5 None\nq2 Q0 d3 1 -1.0 None",
        "qrels": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2",
    },
}
RANKING = [("q1", "d2", 2.0), ("q1", "d1", 0.5), ("q2", "d3", -1.0)]
GRADES = [("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d3", 2)]


@pytest.mark.parametrize("extension", RANX)
def test_what_ranx_writes_as_text_is_read(write: Write, extension: str) -> None:
    run, qrels = (write(RANX[extension][name], f"{name}.{extension}") for name in ("run", "qrels"))
    assert read_run(run).select("query_id", "doc_id", "score").rows() == RANKING
    assert read_qrels(qrels).rows() == GRADES


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_what_ranx_writes_as_parquet_is_evaluated_as_it_is(tmp_path: Path, dtype: Any) -> None:
    pandas = pytest.importorskip("pandas")
    for name, rows in (("run", RANKING), ("qrels", GRADES)):
        frame = pandas.DataFrame(rows, columns=["q_id", "doc_id", "score"])
        if dtype is pl.Categorical:
            frame = frame.astype({"q_id": "category", "doc_id": "category"})
        frame.to_parquet(tmp_path / f"{name}.parquet", index=False)
    run, qrels = read_run(tmp_path / "run.parquet"), read_qrels(tmp_path / "qrels.parquet")
    assert run.columns == ["q_id", "doc_id", "score"]
    assert sorted(ir.evaluate(run, qrels, ["RR"]).rows()) == [("q1", 0.5), ("q2", 1.0)]


@pytest.mark.parametrize("content", [r'{"q": {"\ud800": 1}}', r'{"\ud800": {"d": 1}}'])
def test_half_of_a_character_is_an_error(write: Write, content: str) -> None:
    for reader in (read_run, read_qrels):
        with pytest.raises(FileError, match=r"a\.json: an id is not text: '\\ud800' has an unpaired surrogate\.$"):
            reader(write(content, "a.json"))


def test_the_levels_are_those_of_the_first_query_with_documents(write: Write) -> None:
    rows = read_run(write('{"empty": {}, "default": {"dev": {}, "test": {"q": {}, "r": {"d": 1}}}}', "a.json")).rows()
    assert rows == [("default", "test", "r", "d", 1.0)]


def test_a_repeated_document_among_many_is_found(write: Write) -> None:
    documents = ",".join(f'"d{number}":1' for number in range(100_000))
    with pytest.raises(FileError, match=r"the document 'd99999' occurs twice"):
        read_run(write(f'{{"q":{{{documents},"d99999":1}}}}', "a.json"))
