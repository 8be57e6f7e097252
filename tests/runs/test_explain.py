"""`explain`: the contributions of documents, by hand, against the formulas, and as parts of what `evaluate` gives."""

from math import log2
from pathlib import Path

import polars as pl
import pytest
from generated import collection, collection_of, samples
from messages import message_of
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.runs import alternatives
from polars_ir.runs.explain import explain

ROBUST03 = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"

RUN = {"q": ["d1", "d2", "d3", "d4"], "r": ["d7"]}
QRELS = {"q": {"d2": 2, "d3": 0, "d4": 1, "d9": 1, "d8": 0}, "r": {"d5": 1}}

#: Measures that are not 0 where nothing judged is retrieved, and so have no parts; NumRet(rel=2) counts hits.
SPENT = {"CWL_cost", "CWL_total_cost"}
NOT_ADDITIVE = {"yaap", "IDCG", "NumRet", "NumRel", "NumQ", "RBP_residual", "unj", "Hole", "utility", *SPENT}
WITH_A_PARAMETER = {
    *("yaap(rel=2)", "IDCG@3", "NumRel(rel=2)", "RBP_residual@3", "unj@3", "Hole@3", "utility(rel=2)"),
    *(f"{name}@3" for name in SPENT),
}

pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")


def contributions(measure: str | pl.Expr, run: object = RUN, qrels: object = QRELS, **options: object) -> list[float]:
    """The contributions of the documents of the query q."""
    return explain(run, qrels, measure, query_id="q", **options)["contribution"].to_list()


def test_the_ranking_and_then_what_was_missed():
    found = explain(RUN, QRELS, "nDCG", query_id="q")
    columns = ["query_id", "rank", "doc_id", "relevance", "gain", "ideal_relevance"]
    assert found.select(columns).rows() == [
        ("q", 1, "d1", None, 0.0, 2),
        ("q", 2, "d2", 2, 2.0, 1),
        ("q", 3, "d3", 0, 0.0, 1),
        ("q", 4, "d4", 1, 1.0, 0),
        ("q", None, "d9", 1, 1.0, None),
    ]
    assert found["discount"].to_list() == [1.0, pytest.approx(log2(3)), 2.0, pytest.approx(log2(5)), None]


@pytest.mark.parametrize("side", ["run", "qrels"])
@pytest.mark.parametrize("name", ["value", "discount", "ideal_relevance", "doc_id_right"])
def test_columns_of_ones_own_change_nothing(name, side):
    tables = {
        "run": pl.DataFrame({"query_id": ["q"] * 4, "doc_id": RUN["q"], "score": [4, 3, 2, 1]}),
        "qrels": pl.DataFrame({"query_id": "q", "doc_id": list(QRELS["q"]), "relevance": list(QRELS["q"].values())}),
    }
    with_it = tables | {side: tables[side].with_columns(pl.lit(7.5).alias(name))}
    for call in (
        lambda run, qrels: explain(run, qrels, "nDCG", query_id="q"),
        lambda run, qrels: ir.diff(run, tables["run"].reverse(), qrels, "nDCG"),
        lambda run, qrels: ir.judge_next(run, qrels, "nDCG"),
    ):
        assert call(**with_it).equals(call(**tables))


def test_contributions_to_ndcg_by_hand():
    ideal = 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
    parts = [0, 2 / log2(3) / ideal, 0, 1 / log2(5) / ideal, 0]
    assert contributions("nDCG") == pytest.approx(parts, abs=1e-14)
    assert contributions("nDCG@3")[3] == 0.0


def test_contributions_to_ap_by_hand():
    # The precision at the two hits, 1/2 and 2/4, out of three relevant documents.
    assert contributions("AP") == pytest.approx([0, 1 / 6, 0, 1 / 6, 0], abs=1e-14)


def test_a_hit_contributes_one_share_to_precision():
    assert contributions("P@5") == [0.0, 0.2, 0.0, 0.2, 0.0]
    assert contributions("P") == [0.0, 0.25, 0.0, 0.25, 0.0]


def test_the_first_hit_is_all_of_the_reciprocal_rank():
    found = explain(RUN, QRELS, "RR", query_id="q")
    assert found.select("gain", "discount", "contribution", "value").rows() == [
        (0.0, 1.0, 0.0, 0.0),
        (1.0, 2.0, 0.5, 0.5),
        (0.0, 3.0, 0.0, 0.5),
        (1.0, 4.0, 0.0, 0.5),
        (1.0, None, 0.0, None),
    ]


def test_contributions_to_rbp_by_hand():
    found = explain(RUN, QRELS, "RBP(p=0.5)", query_id="q")
    assert found["contribution"].to_list() == [0.0, 0.25, 0.0, 0.0625, 0.0]
    assert found["discount"].to_list() == [1.0, 2.0, 4.0, 8.0, None]


def test_every_judged_document_has_a_gain_where_all_are_relevant():
    found = explain(RUN, QRELS, ir.precision(k=3, rel=0), query_id="q").select("doc_id", "gain").rows()
    assert found == [("d1", 0.0), ("d2", 1.0), ("d3", 1.0), ("d4", 1.0), ("d9", 1.0), ("d8", 1.0)]


def test_gains_are_those_of_the_measure():
    assert explain(RUN, QRELS, "nDCG(dcg='exp-log2')", query_id="q")["gain"].to_list() == [0, 3, 0, 1, 1]
    assert explain(RUN, QRELS, "ERR", query_id="q")["gain"].to_list() == [0, 3 / 16, 0, 1 / 16, 1 / 16]
    assert explain(RUN, QRELS, "P(rel=2)@5", query_id="q")["gain"].to_list() == [0, 1, 0, 0]
    in_words = explain(RUN, QRELS, "catboost NDCG@3", query_id="q").select("gain", "discount")
    assert in_words.equals(explain(RUN, QRELS, "nDCG@3", query_id="q").select("gain", "discount"))
    assert explain(RUN, QRELS, "xgboost map(rel=2)@7", query_id="q")["gain"].to_list() == [0, 1, 0, 0]
    shares = ir.dcg(gains=(ir.relevance / ir.relevance.max()).alias("share"))
    assert explain(RUN, QRELS, shares, query_id="q")["gain"].to_list() == [0, 1, 0, 0.5, 0.5]


def test_a_measure_of_your_own_can_say_what_its_gains_and_discounts_are(monkeypatch):
    monkeypatch.setitem(ir.CATALOG, "Squared", None)  # which is gone after the test
    of_grade = {"gain": lambda scale: scale * ir.relevance, "discount": lambda **_: ir.rank**2}

    @ir.measure("Squared", source="an example", **of_grade)
    def squared(*, scale: float = 1) -> pl.Expr:
        return (scale * ir.relevance / ir.rank**2).sum()

    found = explain(RUN, QRELS, squared(scale=10), query_id="q")
    assert found.select("gain", "discount", "contribution").rows()[1] == (20.0, 4.0, 5.0)


def test_a_document_that_lowers_the_value_contributes_less_than_nothing():
    # After the hit at 1 all three pairs are right, and after the one at 4 two of four.
    assert contributions("Accuracy", qrels={"q": ["d1", "d4"]}) == [1.0, 0.0, 0.0, -0.5]


def test_an_aggregation_of_your_own_is_explained_too():
    own = (1 / ir.rank.filter(ir.relevance > 0)).sum().alias("mine")
    assert contributions(own) == [0.0, 0.5, 0.0, 0.25, 0.0]


def test_an_aggregation_that_counts_rows_sees_the_rows_that_evaluate_gives_it():
    own = ((ir.rank <= 3).sum() / pl.len()).alias("mine")
    parts = contributions(own)
    assert sum(parts) == pytest.approx(ir.evaluate(RUN, QRELS, own)["mine"][0], abs=1e-14)
    assert parts == pytest.approx([0, 1 / 5, 1 / 5, 0, 0], abs=1e-14)


def test_a_measure_of_a_column_of_the_run_counts_unjudged_documents():
    run = pl.DataFrame({"query_id": "q", "doc_id": ["d1", "d2"], "score": [2, 1], "price": [5.0, 3.0]})
    spent = pl.col("price").filter(ir.top(10)).sum().alias("spent")
    assert contributions(spent, run) == [5.0, 3.0, 0.0, 0.0]


@pytest.mark.parametrize("kind", ["documents", "subtopics"])
@pytest.mark.whole("a second a case", quick=1)
def test_contributions_add_up_for_every_measure_that_is_additive(kind):
    run, qrels = collection_of(kind, 1)
    qrels = qrels.filter(pl.col("query_id").is_in([f"q{i}" for i in range(14)]))
    measures = [info.function(**of) for info in ir.CATALOG.values() if info.kind == kind for of in samples(info)[:2]]
    values = ir.evaluate(run, qrels, measures)
    not_additive = set()
    for name in values.columns[1:]:
        try:
            found = explain(run, qrels, name, query_id=values["query_id"])
        except ir.IRError:
            not_additive.add(name)
            continue
        sums = found.group_by("query_id").agg(pl.col("contribution").sum().alias("sum"))
        both = values.select("query_id", name).join(sums, on="query_id", how="left")
        assert both.select((pl.col(name) - pl.col("sum").fill_null(0.0)).abs().max()).item() < 1e-12, name
    assert not_additive == (NOT_ADDITIVE | WITH_A_PARAMETER if kind == "documents" else set())


def test_the_contribution_to_ndcg_is_gain_by_discount_by_ideal():
    run, qrels = collection(4)
    queries = qrels["query_id"].unique()
    found = explain(run, qrels, "nDCG", query_id=queries).filter(pl.col("rank").is_not_null())
    ideal = ir.evaluate(run, qrels, "IDCG", undefined=None)
    terms = found.join(ideal, on="query_id").with_columns(term=pl.col("gain") / pl.col("discount") / pl.col("IDCG"))
    assert_frame_equal(terms.select(contribution="term"), terms.select("contribution"), abs_tol=1e-14)


def test_the_contribution_to_ap_is_the_precision_at_the_hit_by_the_relevant_documents():
    run, qrels = collection(5)
    found = explain(run, qrels, "AP", query_id=qrels["query_id"].unique())
    n_relevant = dict(ir.evaluate(run, qrels, "NumRel").rows())
    for (query,), rows in found.filter(pl.col("rank").is_not_null()).group_by("query_id"):
        hits = 0
        for place, gain, contribution in rows.sort("rank").select("rank", "gain", "contribution").iter_rows():
            hits += gain
            if n_relevant[query]:
                assert contribution == pytest.approx(gain * hits / place / n_relevant[query], abs=1e-14)


def test_where_the_measure_is_undefined_nothing_is_said():
    found = explain({"q": ["a"]}, {"q": {"a": 0, "b": 0}}, "nDCG", query_id="q")
    assert found.select("doc_id", "gain", "contribution", "value").rows() == [("a", 0.0, None, None)]


def test_a_judged_query_that_the_run_missed_has_the_missed_documents_only():
    found = explain({"r": ["d7"]}, QRELS, "AP", query_id="q")
    assert found.select("rank", "doc_id", "contribution").rows() == [(None, d, 0.0) for d in ("d2", "d9", "d4")]


def test_several_queries_and_systems_are_explained_at_once():
    runs = {"b": RUN, "a": {"r": ["d5"]}}
    found = explain(runs, QRELS, "RR", query_id=["r", "q"])
    assert found.columns[:2] == ["run", "query_id"]
    assert found.filter(rank=1).select("run", "query_id", "doc_id", "contribution").rows() == [
        ("a", "r", "d5", 1.0),
        ("b", "q", "d1", 0.0),
        ("b", "r", "d7", 0.0),
    ]
    # A system without an answer is shown with all that it missed, also where systems are a column.
    column = pl.DataFrame({"run": ["a", "b"], "query_id": ["r", "q"], "doc_id": ["d5", "d2"], "score": 1.0})
    assert explain(column, QRELS, "RR", query_id="q").filter(run="a")["doc_id"].to_list() == ["d2", "d9", "d4"]


def test_parts_of_alternatives_are_together_what_they_are_at_once(monkeypatch):
    run, qrels = collection(6)
    at_once = explain(run, qrels, "AP", query_id=qrels["query_id"].unique())
    monkeypatch.setattr(alternatives, "MOST_ROWS", 100)
    assert_frame_equal(explain(run, qrels, "AP", query_id=qrels["query_id"].unique()), at_once, check_exact=True)


def test_ties_and_condensed_lists_are_those_of_evaluate():
    run, qrels = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, {"q": {"a": 1, "c": 0}}
    orders = {
        ties: explain(run, qrels, "RR", query_id="q", ties=ties)["doc_id"].to_list() for ties in ("best", "worst")
    }
    assert orders == {"best": ["a", "b", "c"], "worst": ["c", "b", "a"]}
    assert explain(run, qrels, "RR", query_id="q", judged_only=True)["doc_id"].to_list() == ["c", "a"]


def test_a_frame_with_its_own_grades_needs_no_qrels():
    run = pl.DataFrame({"topic": ["q", "q", "r"], "score": [2, 1, 3], "label": [0, 1, 1]})
    found = explain(run, None, "RR", query_id="q")
    assert found.select("topic", "rank", "relevance", "contribution").rows() == [("q", 1, 0, 0.0), ("q", 2, 1, 0.5)]


def test_numbers_can_be_ids():
    run = pl.DataFrame(
        {"qid": pl.Series([1, 1, 2], dtype=pl.Int32), "docno": ["a", "b", "a"], "score": [2.0, 1.0, 1.0]}
    )
    qrels = pl.DataFrame({"query_id": [1, 2], "doc_id": ["b", "a"], "relevance": 1})
    found = explain(run, qrels, "RR", query_id=1)
    assert found.select("qid", "doc_id", "contribution").rows() == [(1, "a", 0.0), (1, "b", 0.5)]
    assert_frame_equal(explain(run.lazy(), qrels.lazy(), "RR", query_id=[1]).collect(), found)


@pytest.mark.parametrize(
    ("query_id", "message"),
    [
        ("q11", "has no judgments, and the run does not answer it. Did you mean 'q10'? There are 'q10', 'r20'."),
        ("q13", "'q13' has no judgments, though the run answers it. Did you mean 'q10'?"),
        (7, "query_id must be of the type of qrels column 'query_id', String; got [7]"),
        ([], "query_id must be the id of a query, or several; got []"),
        (["p1", 2], "ids of one type; got ['p1', 2]"),
        (None, "query_id must be the id of a query, or several; got None"),
        (0.5, "query_id must be the id of a query, or several; got 0.5"),
    ],
)
def test_a_query_that_can_not_be_explained_is_an_error(query_id, message):
    assert message in message_of(
        lambda: explain({"q10": ["a"], "q13": ["a"]}, {"q10": ["a"], "r20": ["a"]}, "RR", query_id=query_id)
    )


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        (
            "NumRel",
            {},
            "'NumRel' is not a sum over the documents of a ranking: without any judged document retrieved it",
        ),
        ("Hole@5", {}, "explain evaluates queries separately; 'Hole@5' reads the judgments of others"),
        (["RR", "AP"], {}, "explain takes one measure; got 'RR', 'AP'."),
        ("relstring", {}, "must be a number; it is String"),
        ("prefs_simp", {}, "explain goes with measures of documents; these are of preferences"),
        (ir.rank.alias("ranks"), {}, "gives a list per query"),
        (pl.col("colour").max(), {}, "which neither the judged relation nor the run has"),
    ],
)
def test_a_measure_that_can_not_be_explained_is_an_error(measure, options, message):
    assert message in message_of(lambda: explain(RUN, QRELS, measure, query_id="q", **options))


@pytest.mark.skipif(not ROBUST03.exists(), reason="the real data are not here")
@pytest.mark.parametrize("measure", ["nDCG", "AP", "RR", "P@10", "RBP"])
@pytest.mark.whole("a third of a second a case", quick=2)
def test_contributions_add_up_on_real_runs_with_heavy_ties(measure):
    qrels = ir.read_qrels(ROBUST03 / "qrels.txt.gz")
    run = ir.read_run(ROBUST03 / "MU03rob01.run.gz").drop("run", strict=False)
    queries = qrels["query_id"].unique().sort().head(8)
    values = ir.evaluate(run, qrels, measure).filter(pl.col("query_id").is_in(queries.implode()))
    found = explain(run, qrels, measure, query_id=queries)
    sums = found.group_by("query_id").agg(pl.col("contribution").sum().alias(measure)).sort("query_id")
    assert_frame_equal(sums, values, abs_tol=1e-12, rel_tol=0)


LONG = {"q": [f"d{i}" for i in range(1, 101)]}
OF_LONG = {"q": {"d1": 2, "d5": 0, "d40": 1, "gone": 1, "bad": 0}}


def test_a_ranking_is_shown_down_to_the_cutoff_with_what_was_lost():
    found = explain(LONG, OF_LONG, "nDCG@10", query_id="q")
    assert found["rank"].to_list() == [*range(1, 11), 40, None]
    assert found.filter("lost")["doc_id"].to_list() == ["d40", "gone"]
    whole = explain(LONG, OF_LONG, "nDCG@10", query_id="q", depth=None)
    assert whole.height == 101
    assert whole.filter("lost")["doc_id"].to_list() == ["gone"]
    assert found["contribution"].sum() == whole["contribution"].sum()
    assert found.drop("lost").equals(whole.drop("lost").join(found, on="doc_id", how="semi", maintain_order="left"))


def test_a_ranking_is_shown_down_to_the_budget_and_what_it_cut_is_lost():
    run = pl.DataFrame({"query_id": "q", "doc_id": [*"axcdy"], "score": [5, 4, 3, 2, 1], "tokens": [100] * 5})
    qrels = {"q": {"a": 1, "c": 1, "d": 1, "e": 1}}
    found = explain(run, qrels, "R(budget=250)", query_id="q")
    assert found.filter("lost")["doc_id"].to_list() == ["c", "d", "e"]
    assert found["rank"].to_list() == [1, 2, 3, 4, None]
    longer = explain(run, qrels, "R(budget=250,over='include')", query_id="q")
    assert longer.filter("lost")["doc_id"].to_list() == ["d", "e"]
    assert explain(run, qrels, "R(budget=250)@1", query_id="q")["rank"].to_list() == [1, 3, 4, None]
    cheaper = run.with_columns(tokens=pl.Series([100, 100, 20, 100, 100]))
    assert ir.diff(run, cheaper, qrels, "R(budget=250)").select("doc_id", "lost_by").rows() == [("c", "a")]


def test_a_ranking_is_shown_down_to_a_rank():
    found = explain(LONG, OF_LONG, "AP", query_id="q", depth=3)
    assert found["rank"].to_list() == [1, 2, 3, 40, None]
    assert explain(LONG, OF_LONG, "AP", query_id="q")["rank"].to_list() == [*range(1, 101), None]


@pytest.mark.parametrize("depth", [0, -1, 2.5, "all", True])
def test_a_depth_that_is_none_is_an_error(depth):
    with pytest.raises(ir.IRError, match="depth must be 'cutoff', a rank of 1 or more, or None for all"):
        explain(LONG, OF_LONG, "AP", query_id="q", depth=depth)


@pytest.mark.parametrize(
    "documents",
    [
        {"d1": "Cats purr.", "d5": None},
        pl.DataFrame({"doc_id": ["d1", "d7"], "title": ["Cats", None], "text": ["purr.", "x"]}),
        pl.LazyFrame({"_id": ["d1"], "contents": ["Cats purr."]}),
        {"d1": {"title": "Cats", "text": "purr.", "url": 3}, "d7": {"title": "x"}},
        pl.DataFrame({"docno": ["d1", "d1"], "anything": ["Cats purr.", "again"]}),
    ],
)
def test_texts_of_documents_stand_behind_their_ids(documents):
    found = explain(LONG, OF_LONG, "nDCG@2", query_id="q", documents=documents)
    assert found.columns[found.columns.index("doc_id") + 1] == "text"
    assert found["text"].to_list() == ["Cats purr.", None, None, None]


def test_texts_of_queries_and_of_ids_that_are_numbers():
    found = explain({7: [1, 2]}, {7: {2: 1}}, "RR", query_id=7, documents={1: "one", 2: "two"}, queries={7: "seven?"})
    assert found.select("query", "text").rows() == [("seven?", "one"), ("seven?", "two")]


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        (pl.DataFrame({"name": ["d1"], "text": ["x"]}), "documents has no column of ids"),
        (pl.DataFrame({"doc_id": ["d1"], "length": [3]}), "documents has no column of texts"),
        (3, "documents must be"),
    ],
)
def test_texts_that_can_not_be_read_are_an_error(documents, words):
    assert words in message_of(lambda: explain(LONG, OF_LONG, "AP", query_id="q", documents=documents))


def test_a_measure_of_the_users_own_may_have_a_cost_without_a_budget():
    @ir.measure("Paid", source="x")
    def paid(*, k: int | None = None, cost: float = 0.5, rel: float = 1) -> pl.Expr:
        """Paid."""
        return ir.or_zero((ir.relevance.cast(float) * cost).filter(ir.relevant(rel) & ir.top(k)).sum())

    try:
        rows = ir.explain({"q": ["a", "b", "c"]}, {"q": {"a": 1, "c": 1}}, "Paid@2", query_id="q")
    finally:
        del ir.CATALOG["Paid"]
    assert rows.filter(doc_id="a")["contribution"].item() == 0.5
