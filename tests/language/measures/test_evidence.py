"""Groups of evidence: worked figures, and brute force over lists of lists."""

import random
from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.engine.needs import needs_of
from polars_ir.language.names import resolve
from tests.support.tuned import tune

#: (A or B) and C and D, whose first documents stand at ranks 1, 3 and 5.
LOG = pl.DataFrame({"query_id": ["q"], "retrieved": [[*"BxCAD"]], "relevant": [[["A", "B"], ["C"], ["D"]]]})

WORKED = {
    **{f"group_recall@{k}": value for k, value in enumerate([1 / 3, 1 / 3, 2 / 3, 2 / 3, 1], 1)},
    "FullRecall@4": 0.0,
    "FullRecall@5": 1.0,
    "GroupRR": (1 + 1 / 3 + 1 / 5) / 3,
    "GroupRR@4": (1 + 1 / 3) / 3,
    "R@4": 0.75,
}


@pytest.mark.parametrize("kind", [lambda log: log, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_one_call_has_the_worked_figures_of_groups_and_of_documents(kind):
    found = ir.evaluate(*ir.from_lists(kind(LOG)), list(WORKED))
    found = found.collect() if isinstance(found, pl.LazyFrame) else pl.DataFrame(found)
    assert found.row(0)[1:] == pytest.approx(tuple(WORKED.values()))


def drawn(seed: int) -> pl.DataFrame:
    """A log of some questions, with groups that overlap."""
    chance = random.Random(seed)
    rows = [
        {
            "query_id": f"q{number}",
            "retrieved": chance.sample("abcdefgh", chance.randint(0, 8)),
            "relevant": [chance.sample("abcdefghij", chance.randint(1, 3)) for _ in range(chance.randint(1, 4))],
        }
        for number in range(20)
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_as_found_by_hand(seed):
    log, wanted, lost = drawn(seed), [], []
    for query, retrieved, groups in log.iter_rows():
        places = {document: rank for rank, document in enumerate(retrieved, 1)}
        ranks = [min((places[each] for each in group if each in places), default=None) for group in groups]
        found = [rank is not None and rank <= 3 for rank in ranks]
        reciprocal = sum(1 / rank for rank, hit in zip(ranks, found, strict=True) if hit) / len(groups)
        wanted.append((query, sum(found) / len(groups), float(all(found)), reciprocal))
        for number, (group, rank, hit) in enumerate(zip(groups, ranks, found, strict=True), 1):
            if not hit:
                lost.append((query, number, min(group) if rank is None else retrieved[rank - 1], rank))
    run, qrels = ir.from_lists(log)
    for asked, judged in ((run, qrels), (run.lazy(), qrels.lazy())):
        figures = ir.evaluate(asked, judged, ["StRecall@3", "FullRecall@3", "GroupRR@3"]).lazy().collect()
        expected = pl.DataFrame(wanted, figures.schema, orient="row").sort("query_id")
        assert_frame_equal(figures, expected)
        missing = ir.missing_evidence(asked, judged, k=3).lazy().collect()
        assert missing.rows() == sorted(lost)


@pytest.mark.parametrize("seed", range(3))
def test_measures_of_documents_read_each_document_once_with_its_highest_grade(seed):
    run, qrels = ir.from_lists(drawn(seed))
    qrels = qrels.with_columns(relevance=pl.Series(random.Random(seed).choices([0, 1, 2], k=qrels.height)))
    once = qrels.group_by("query_id", "doc_id").agg(pl.col("relevance").max())
    measures = ["R@3", "nDCG@5", "AP", "NumRet", "Judged@3", "bpref"]
    wanted = ir.evaluate(run, once, measures)
    assert ir.evaluate(run, qrels, measures).equals(wanted)
    assert ir.evaluate(run, qrels.sample(fraction=1, shuffle=True), measures).equals(wanted)
    assert ir.evaluate(run, qrels, ["FullRecall@3", *measures]).drop("FullRecall@3").equals(wanted)
    both = ir.evaluate(run.lazy(), qrels.lazy(), [*measures, "FullRecall@3"])
    for engine in ("in-memory", "streaming"):
        assert both.collect(engine=engine).drop("FullRecall@3").equals(wanted)
    assert ir.evaluate(run.lazy(), qrels.lazy(), measures).collect().equals(wanted)


@pytest.mark.parametrize("groups", [[1.0, 1.0, 2.0], [True, True, False], [[1], [1], [2]], [None] * 3])
@pytest.mark.parametrize("kind", [lambda qrels: qrels, pl.DataFrame.lazy, lambda qrels: qrels.to_pandas()])
def test_groups_that_are_no_ids_are_an_error_and_never_documents_by_themselves(groups, kind):
    qrels = kind(pl.DataFrame({"query_id": "q", "doc_id": [*"abc"], "subtopic": groups, "relevance": 1}))
    run = {"q": [*"axc"]}
    measures = ["StRecall@5", "FullRecall@5", "GroupRR", ["FullRecall@5", "R"]]
    for ask in (*(partial(ir.evaluate, measures=each) for each in measures), ir.missing_evidence):
        with pytest.raises((ir.IRError, pl.exceptions.PolarsError), match=r"subtopic|qrels have ids"):
            pl.DataFrame(ask(run, qrels).lazy().collect())


def test_without_groups_each_relevant_document_is_one():
    run, qrels = {"q": ["a", "x", "b"], "p": ["x"]}, {"q": {"a": 1, "b": 2, "z": 0}, "p": {"x": 0}}
    found = ir.evaluate(run, qrels, ["FullRecall@2", "FullRecall@3", "GroupRR", "R@2"], undefined=None)
    assert found.rows() == [("p", None, None, None, None), ("q", 0.0, 1.0, (1 + 1 / 3) / 2, 0.5)]
    assert ir.missing_evidence(run, qrels, k=2).rows() == [("q", "b", "b", 3)]


@pytest.mark.parametrize("by", [[], ["step"]])
def test_documents_are_groups_where_rows_of_a_query_stand_together_and_where_not(monkeypatch, by):
    tune(monkeypatch)
    run = pl.DataFrame({"step": [1, 2], "query_id": ["p", "q"], "doc_id": [[*"zyxw"]] * 2}).explode("doc_id")
    run = run.with_columns(score=pl.Series([4.0, 3, 2, 1] * 2))
    qrels = run.select(*by, "query_id", "doc_id", relevance=1)
    for rows in (qrels, qrels.sort("doc_id")):
        found = ir.evaluate(run, rows, ["FullRecall@3", "FullRecall@4", "GroupRR@2", "R@3"], by=by)
        assert found.drop("step", strict=False).rows() == [(query, 0.0, 1.0, 0.375, 0.75) for query in "pq"]


def test_groups_and_documents_together_make_no_plan_that_looks_for_documents_of_two_groups():
    judgments = pl.DataFrame({"query_id": "q", "subtopic": [1, 2], "doc_id": ["a", "b"], "relevance": 1})
    needs = needs_of(resolve(["FullRecall", "R"]))
    assert ".over(" not in needs.with_derived(judgments, "judgments", keys=["query_id"]).explain()
    assert ".over(" in needs.with_derived(judgments.lazy(), "judgments", keys=["query_id"]).explain()


def test_a_column_of_evidence_holds_groups():
    qrels = pl.DataFrame({"query_id": "q", "doc_id": ["a", "b", "c"], "evidence": ["1", "1", "2"], "relevance": 1})
    assert ir.evaluate({"q": ["b"]}, qrels, ["group_recall@5", "R@5"]).row(0) == ("q", 0.5, 1 / 3)


@pytest.mark.filterwarnings("ignore:no retrieved document of 'one'")
def test_missing_evidence_names_the_best_document_of_a_group_that_was_not_retrieved():
    qrels = pl.DataFrame({"query_id": "q", "subtopic": 1, "doc_id": ["a", "b", "c"], "relevance": [1, 2, 2]})
    assert ir.missing_evidence({"one": {"q": ["x"]}, "two": {"q": ["c"]}}, qrels).rows() == [("one", "q", 1, "b", None)]


def test_a_document_twice_in_a_group_is_an_error_and_so_is_one_twice_without_groups():
    run, qrels = ir.from_lists(LOG)
    for judged in (pl.concat([qrels, qrels[:1]]), qrels.drop("subtopic").vstack(qrels[:1].drop("subtopic"))):
        with pytest.raises(ir.IRError, match="repeat the ids of another"):
            ir.evaluate(run, judged, "R@5")
        with pytest.raises(pl.exceptions.PolarsError, match="more than once"):
            ir.evaluate(run.lazy(), judged.lazy(), "R@5").collect()


def test_documents_of_grade_0_count_beside_other_measures_as_alone_where_rel_is_0():
    run, qrels = {"q": ["y", "a", "z"]}, {"q": {"a": 0, "b": 0, "c": 0, "y": 2, "n": -1}}
    measures = ["FullRecall(rel=0)@5", "GroupRR(rel=0)@5", "R(rel=0)@5"]
    alone = [ir.evaluate(run, qrels, each)[each].item() for each in measures]
    assert alone == [0.0, 1.5 / 4, 0.5]
    assert list(ir.evaluate(run, qrels, [*measures, "Judged@5"]).row(0)[1:4]) == alone
