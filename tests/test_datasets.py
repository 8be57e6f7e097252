"""The bundled test collection holds what its description says."""

import polars as pl
import pytest

import polars_ir as ir


@pytest.fixture(scope="module")
def pydocs() -> ir.datasets.Dataset:
    return ir.datasets.load("pydocs")


def test_there_are_enough_queries_with_a_text(pydocs):
    assert pydocs.queries.columns == ["query_id", "text", "category"]
    assert pydocs.queries.height >= 60
    assert pydocs.queries["query_id"].is_unique().all()
    assert pydocs.queries.filter(pl.any_horizontal(pl.all().fill_null("").str.strip_chars() == "")).is_empty()


def test_grades_go_from_0_to_3(pydocs):
    assert pydocs.qrels.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    assert sorted(pydocs.qrels["relevance"].unique()) == [0, 1, 2, 3]


def test_two_queries_have_no_relevant_document_as_the_description_says(pydocs):
    relevant = pydocs.qrels.filter(pl.col("relevance") > 0)
    assert set(pydocs.queries["query_id"]) - set(relevant["query_id"]) == {"q43", "q74"}


def test_three_systems_give_at_most_100_documents_a_query(pydocs):
    assert pydocs.runs.schema == {"run": pl.String, "query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert sorted(pydocs.runs["run"].unique()) == ["bm25", "chargrams", "tfidf"]
    assert pydocs.runs.group_by("run", "query_id").len()["len"].max() <= 100


def test_every_judged_or_retrieved_query_is_one_of_the_queries(pydocs):
    queries = set(pydocs.queries["query_id"])
    assert set(pydocs.qrels["query_id"]) <= queries
    assert set(pydocs.runs["query_id"]) <= queries


def test_the_top_10_of_every_run_is_judged(pydocs):
    judged = pydocs.runs.ir.judged(pydocs.qrels, k=10)
    assert judged["Judged@10"].unique().to_list() == [1.0]


def test_the_collection_has_no_other_findings_than_what_all_collections_have(pydocs):
    found = ir.validate(pydocs.runs, pydocs.qrels)["finding"].to_list()
    assert [name for name in found if "null" in name or "duplicates" in name or "different" in name] == []


@pytest.mark.parametrize("name", ["pydoc", "PYDOCS"])
def test_an_unknown_name_shows_the_names_there_are(name):
    with pytest.raises(ir.IRError) as error:
        ir.datasets.load(name)
    assert str(error.value) == f"name must be one of 'pydocs'; got {name!r}. Did you mean 'pydocs'?"
