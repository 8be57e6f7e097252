"""A run in the place of judgments, and a rank in the place of a score, are told."""

import warnings

import polars as pl
import pytest

import polars_ir as ir

QRELS, RUN = {"q": {"a": 5, "b": 3}}, {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}


def frame(table: dict, value: str) -> pl.DataFrame:
    rows = [(query, doc, number) for query, docs in table.items() for doc, number in docs.items()]
    return pl.DataFrame(rows, schema=["query-id", "corpus-id", value], orient="row")


@pytest.mark.parametrize("kind", [lambda table: table, lambda table: frame(table, "score")], ids=["dicts", "BEIR"])
def test_run_and_judgments_in_each_others_place_are_told(kind):
    with pytest.warns(ir.IRWarning, match="scores of the run look like grades, and grades of the qrels like scores"):
        ir.evaluate(kind(QRELS), kind(RUN), "ndcg@5")
    with warnings.catch_warnings(action="error"):
        assert round(ir.evaluate(kind(RUN), kind(QRELS), "ndcg@5").item(0, 1), 4) == 0.9430


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        ({"q": ["a", "b"], "r": ["a"]}, {"q": {"a": 0.5, "b": 1.0}}),
        ({"q": {"a": 5, "b": 3}}, {"q": {"a": 0.5, "b": 0.5, "c": 1.0}}),
        ({"q": {"a": 0.9, "b": 0.1}}, {"q": {"a": 0.5, "b": 1.0}}),
    ],
    ids=["lists", "grades that come again", "scores"],
)
def test_fractions_for_grades_are_no_scores(run, qrels):
    with warnings.catch_warnings(action="error"):
        ir.evaluate(run, qrels, "nDCG@5")


@pytest.mark.parametrize("kind", [pl.DataFrame, lambda columns: pl.DataFrame(columns).to_pandas()])
def test_a_rank_that_contradicts_the_scores_throughout_is_told(kind):
    columns = {
        "query_id": ["q", "q", "r", "r"],
        "doc_id": list("abab"),
        "rank": [1, 2, 1, 2],
        "score": [0.1, 0.7, 1, 2],
    }
    with pytest.warns(ir.IRWarning, match="'rank' contradicts 'score' throughout"):
        ir.evaluate(kind(columns), {"q": ["a"]}, "RR", missing="skip")
    with warnings.catch_warnings(action="error"):
        ir.evaluate(kind({**columns, "score": [0.1, 0.7, 2.0, 1.0]}), {"q": ["a"]}, "RR", missing="skip")


def test_a_score_in_the_place_of_a_rank_is_told(tmp_path):
    (tmp_path / "rs.run").write_text("q1 Q0 a 14.5 1 t\nq1 Q0 b 9.2 2 t\n", encoding="utf-8")
    with pytest.warns(ir.IRWarning, match="are they exchanged"):
        ir.evaluate(ir.read_run(tmp_path / "rs.run"), {"q1": ["a"]}, "RR")


@pytest.mark.parametrize("ids", [[5, 7, -1], ["5", "7", "-1"], ["5", "7", ""]])
def test_an_id_of_no_document_is_told(ids):
    run, qrels = pl.DataFrame({"query_id": "a", "doc_id": ids, "score": [3, 2, 1]}), {"a": [ids[1]]}
    for kind in (run, run.to_pandas(), {"a": ids}):
        with pytest.warns(ir.IRWarning, match=f"the run has the id {ids[-1]!r}, which counts as a retrieved") as told:
            ir.evaluate(kind, qrels, "SetP")
        fix = told[0].message.fix
        assert (fix.code is None) == isinstance(kind, dict)


@pytest.mark.parametrize("ids", [[5, 7, -1, -1], ["5", "7", "", ""]])
def test_of_two_such_ids_neither_is_kept(ids):
    run, qrels = pl.DataFrame({"query_id": "a", "doc_id": ids, "score": [4, 3, 2, 1]}), {"a": [ids[1]]}
    with pytest.raises(ir.IRError, match=f"2 rows of the id {ids[-1]!r}, which stands for no document") as error:
        ir.evaluate(run, qrels, "SetP")
    better = eval(error.value.fix.code.polars, {"pl": pl, "run": run})  # noqa: S307  # what the message says
    assert ir.evaluate(better, qrels, "SetP").rows() == [("a", 0.5)]
    with pytest.raises(ir.IRError, match=r"leave these rows out\. The first:"):
        ir.evaluate({"a": ids}, qrels, "SetP")
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"and no id of '' or -1"):
        ir.evaluate(run.lazy(), qrels, "SetP").collect()
