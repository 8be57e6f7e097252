"""Folders of BEIR, as they are downloaded."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.errors import FileError, InputTypeError
from polars_ir.files import read_beir

CORPUS = (
    '{"_id": "d1", "title": "Cats", "text": "They purr.", "metadata": {"year": 1}}\n'
    '{"_id": 7, "title": "", "text": "They bark."}\n'
    '{"_id": "d3", "text": "No title."}\n'
)
QUERIES = (
    '{"_id": "q2", "text": "who barks", "metadata": {}}\n'
    '{"_id": "q1", "text": "who purrs"}\n'
    '{"_id": "q3", "text": "x"}\n'
)
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\t7\t1\nq2\td1\t0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(CORPUS, encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(QRELS, encoding="utf-8")
    (tmp_path / "qrels" / "dev.tsv").write_text(QRELS.replace("q2", "q3"), encoding="utf-8")
    return tmp_path


def message(folder: Any, **options: Any) -> str:
    with pytest.raises(FileError) as caught:
        read_beir(folder, **options)
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize("as_path", [str, Path])
def test_a_folder_holds_corpus_queries_and_judgments(folder: Path, as_path: Any) -> None:
    beir = read_beir(as_path(folder))
    assert isinstance(beir.corpus, pl.LazyFrame)
    assert beir.corpus.collect_schema() == {"doc_id": pl.String, "title": pl.String, "text": pl.String}
    assert beir.corpus.collect().rows() == [
        ("d1", "Cats", "They purr."),
        ("7", "", "They bark."),
        ("d3", None, "No title."),
    ]
    assert beir.queries.rows() == [("q2", "who barks"), ("q1", "who purrs")]
    assert beir.qrels.rows() == [("q1", "d1", 2), ("q2", "7", 1), ("q2", "d1", 0)]


def test_the_queries_are_those_of_the_split(folder: Path) -> None:
    assert read_beir(folder, split="dev").queries["query_id"].to_list() == ["q1", "q3"]


def test_files_may_be_compressed(folder: Path) -> None:
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        plain = folder / name
        plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    beir = read_beir(folder)
    assert (beir.corpus.collect().height, beir.queries.height, beir.qrels.height) == (3, 2, 3)


def test_a_collection_is_evaluated(folder: Path) -> None:
    beir = read_beir(folder)
    assert sorted(ir.evaluate({"q1": {"d1": 1.0}}, beir.qrels, ["RR"]).rows()) == [("q1", 1.0), ("q2", 0.0)]


def test_a_missing_split_names_those_there_are(folder: Path) -> None:
    assert message(folder, split="train") == "qrels/train.tsv: there is no such file; the splits are 'dev', 'test'."


def test_a_folder_without_judgments_has_no_splits(folder: Path) -> None:
    for file in (folder / "qrels").iterdir():
        file.unlink()
    (folder / "qrels").rmdir()
    assert message(folder) == "qrels/test.tsv: there is no such file; the splits are none."


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_a_missing_file_shows_what_the_folder_holds(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert message(folder).startswith(f"{name}: there is no such file; the folder holds ")


def test_the_name_of_a_folder_may_be_a_pattern(folder: Path) -> None:
    wanted = read_beir(folder)
    found = read_beir(folder.rename(folder.with_name("x[1]*")))
    assert found.queries.equals(wanted.queries)
    assert found.corpus.collect().height == CORPUS.count("\n")


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nowhere: there is no such folder\.$"):
        read_beir(tmp_path / "nowhere")


def test_what_is_no_path_is_an_error() -> None:
    with pytest.raises(InputTypeError) as error:
        read_beir(7)  # type: ignore[arg-type]
    assert str(error.value) == "folder must be the path of a folder; got int: 7."


def test_a_query_without_id_is_an_error(folder: Path) -> None:
    (folder / "queries.jsonl").write_text('{"id": "q1", "text": "x"}\n', encoding="utf-8")
    assert message(folder) == "queries.jsonl: queries without _id: 1."


def test_queries_that_are_no_json_are_an_error(folder: Path) -> None:
    (folder / "queries.jsonl").write_text("q1 who purrs\n", encoding="utf-8")
    assert message(folder).startswith("queries.jsonl: the file cannot be read: ")


def test_wrong_judgments_are_an_error_with_their_line(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").write_text(QRELS + "q1\td9\tx\n", encoding="utf-8")
    assert message(folder).startswith("qrels/test.tsv, line 5: relevance must be ")


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ("", "the file is empty: no line holds data."),
        (QUERIES + QUERIES, "the query 'q2' occurs more than once; keep one."),
        (QUERIES.replace("q2", "q9"), "judged queries missing from it: 1, such as 'q2'."),
    ],
)
def test_every_judged_query_is_there_once(folder: Path, queries: str, said: str) -> None:
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    assert message(folder) == f"queries.jsonl: {said}"


def test_a_document_without_id_fails_when_the_corpus_is_collected(folder: Path) -> None:
    (folder / "corpus.jsonl").write_text(CORPUS + '{"title": "Nameless", "text": "x"}\n', encoding="utf-8")
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"corpus\.jsonl: a document has no _id: Nameless"):
        read_beir(folder).corpus.collect()
