"""Invariants of every measure of the catalogue, and promises of the judged relation.

A measure enters these tests by being in the catalogue; where it is left out of one, its name and the reason stand here.
"""

import inspect
import math
import re
from collections.abc import Iterator
from functools import cache

import polars as pl
import pytest
from generated import collection, collection_of, collections, every_measure, qrels_frame, run_frame, samples
from hypothesis import given
from polars.testing import assert_frame_equal
from suite import examples, share
from tuned import tune

import polars_ir as ir
from polars_ir.language.catalog import MeasureInfo

GRADES = {"whole": (-1, 0, 0, 0, 1, 2, 3), "fractional": (-0.5, 0.0, 0.0, 0.5, 1.0, 1.5, 2.25, 3.0)}

#: Sums of fractions may pass a bound that they reach by rounding.
ROUNDING = 1e-12

COUNTS = {"NumRet", "NumRel", "NumRelRet"}

KINDS_OF_JUDGMENTS = ("documents", "subtopics", "preferences")

#: The kind of judgments of each measure; figures of two kinds cannot be had in one call.
KIND = {name: info.kind for name, info in ir.CATALOG.items() if info.kind in KINDS_OF_JUDGMENTS}

#: Measures that have a value also where no document is relevant.
ALWAYS_DEFINED = {
    **dict.fromkeys(COUNTS, "a count is 0"),
    "NumNonRelJudgedRet": "a count is 0",
    "NumQ": "counts the query",
    "utility": "what is not relevant has its worth too",
    "RBP_residual": "asks for judgments of any grade",
    "Judged": "asks for judgments of any grade",
    "unj": "asks for judgments of any grade",
    "Hole": "asks for judgments of any grade",
    "Fallout": "asks for documents that are not relevant",
}

#: Measures that do not fall to 0 when nothing relevant is retrieved.
NO_FLOOR = {
    "NumRel": "counts the judgments, whatever was retrieved",
    "NumQ": "counts the query, whatever was retrieved",
    "IDCG": "is the best there can be, whatever was retrieved",
    "prefs_num_prefs_poss": "counts the preferences, whatever was retrieved",
    "utility": "what is not relevant or not retrieved has its worth too",
    "yaap": "is -log(1 + R)",
    "RBP_residual": "is 1: all is open",
    "CWL_cost": "is what reading costs, whatever was retrieved",
    "CWL_total_cost": "is what reading costs, whatever was retrieved",
}

#: Measures for which another ranking can be better than that of the relevant documents alone.
NO_BEST_RANKING = {"NumRet": "counts all documents alike"}

#: Measures that the perfect ranking does not lead to their best value.
BEST_OUT_OF_REACH = {
    "RBP": "1 - p^R for R relevant documents",
    "ERR": "stays below 1 with finitely many documents",
    "infAP": "its smoothing takes some 1e-5 off",
    "DCG": "has no upper bound",
    "IDCG": "has no upper bound",
    "yaap": "has no upper bound",
    "utility": "has no upper bound",
    "RBP_residual": "p^R for R relevant documents",
    "CWL_total": "has no upper bound",
    "CWL_cost": "to read costs",
    "CWL_total_cost": "to read costs",
    "CWL": "its reader goes on below the relevant documents",
    "SDCG": "needs as many documents of the highest grade as there are positions",
    "INSQ": "its reader goes on below the relevant documents",
    "INST": "its reader goes on below the relevant documents",
    **dict.fromkeys(COUNTS, "has no upper bound"),
}

#: Measures that a cutoff k keeps from their best value, and where.
OUT_OF_REACH_AT_K = {
    "MCC": "where R > k not all of them fit in",
    "Rprec": "where R > k not all of them fit in",
    "P": "where R < k the list cannot be filled with relevant documents",
    "F": "needs R = k",
    "R": "where R > k not all of them fit in",
    "AP": "is divided by R, also where R > k",
    "Q": "is divided by R, also where R > k",
}

of_every_kind = pytest.mark.parametrize("kind", dict.fromkeys(KIND.values()))

#: The kinds whose documents are relevant or not: preferences of one judge may contradict another's.
of_grades = pytest.mark.parametrize("kind", ["documents", "subtopics"])
with_grades = pytest.mark.parametrize(
    "grades", ["whole", pytest.param("fractional", marks=pytest.mark.whole("as many seconds again"))]
)

# A run from which everything judged was taken has no document in common with the qrels.
nothing_in_common = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")


def specs(kind: str) -> Iterator[MeasureInfo]:
    """The measures of a kind of judgments."""
    return (info for info in ir.CATALOG.values() if info.kind == kind)


def expressions(info: MeasureInfo) -> list[pl.Expr]:
    """A measure with every sample of its parameters."""
    return [info.function(**arguments) for arguments in samples(info)]


def every_sample(kind: str) -> list[pl.Expr]:
    """The measures of a kind, each with every sample of its parameters."""
    return [expression for info in specs(kind) for expression in expressions(info)]


def values_of(info: MeasureInfo, frame: pl.DataFrame) -> pl.DataFrame:
    """The values of a measure with every sample of its parameters, among others."""
    return frame.select(expression.meta.output_name() for expression in expressions(info))


@cache
def figures(kind: str, grades: str = "whole") -> pl.DataFrame:
    """All measures of a collection, at once."""
    return ir.evaluate(*collection_of(kind, 1, grades=GRADES[grades]), every_sample(kind))


def perfect(qrels: pl.DataFrame) -> pl.DataFrame:
    """The run of all relevant documents, and no others, grades falling."""
    return qrels.filter(pl.col("relevance") >= 1).select("query_id", "doc_id", score="relevance")


def with_relevant(qrels: pl.DataFrame) -> pl.DataFrame:
    """The judgments of queries that have a relevant document."""
    return qrels.filter((pl.col("relevance") >= 1).any().over("query_id"))


def assert_same(found: pl.DataFrame, wanted: pl.DataFrame) -> None:
    """Assert that results are those wanted of the same measures, to the last bit."""
    assert_frame_equal(found, wanted.select(found.columns), check_exact=True)


@nothing_in_common
@of_every_kind
@pytest.mark.whole("seconds a kind", quick=1)
def test_no_judgment_gives_no_row(kind):
    run, qrels = collection_of(kind, 1)
    found = ir.evaluate(run, qrels.head(0), every_measure(kind))
    assert found.is_empty()
    assert found.schema == figures(kind).select(found.columns).schema


@with_grades
@of_every_kind
def test_values_are_within_the_bounds(kind, grades):
    for info in specs(kind):
        low, high = info.bounds
        values = values_of(info, figures(kind, grades))
        assert values.null_count().sum_horizontal().item() == 0, info.name
        assert all(low <= value <= high + ROUNDING for row in values.iter_rows() for value in row), info.name
        assert any(value > low for row in values.iter_rows() for value in row), info.name


@of_every_kind
def test_a_name_is_read_back_as_the_expression_it_names(kind):
    measures = every_sample(kind)
    for expression in measures:
        assert ir.parse(expression.meta.output_name()).meta.eq(expression)
    assert len({expression.meta.output_name() for expression in measures}) == len(measures)


@of_every_kind
@pytest.mark.whole("seconds a kind", quick=1)
def test_a_rising_map_of_the_scores_changes_nothing(kind):
    run, qrels = collection_of(kind, 1)
    score = pl.col("score")
    mapped = run.with_columns(pl.when(score < 7).then(score - 1000).otherwise(score**3))
    assert_same(ir.evaluate(mapped, qrels, every_measure(kind)), figures(kind))


def zeros(kind: str, frame: pl.DataFrame) -> set[str]:
    """The measures whose values are all 0."""
    return {info.name for info in specs(kind) if set(values_of(info, frame).to_numpy().ravel()) == {0.0}}


@nothing_in_common
@of_every_kind
@pytest.mark.whole("seconds a kind", quick=1)
def test_without_a_retrieved_document_a_measure_is_0(kind):
    run, qrels = collection_of(kind, 3)
    found = ir.evaluate(run.clear(), qrels, every_sample(kind), missing="zero")
    assert found.height == qrels["query_id"].n_unique()
    assert zeros(kind, found) == {info.name for info in specs(kind)} - NO_FLOOR.keys()


@nothing_in_common
@of_every_kind
@pytest.mark.whole("seconds a kind", quick=1)
def test_without_a_judged_document_retrieved_only_what_is_unjudged_is_found(kind):
    run, qrels = collection_of(kind, 3)
    unjudged = run.join(qrels, on=["query_id", "doc_id"], how="anti")
    found = ir.evaluate(unjudged, qrels, every_sample(kind))
    others = {*NO_FLOOR, "NumRet", "unj", "Hole", "Fallout", "MCC"}
    assert zeros(kind, found) == {info.name for info in specs(kind)} - others


@pytest.mark.whole("seconds")
def test_no_ranking_is_better_than_the_perfect_one():
    """The best ranking for several subtopics is not that of one grade a document: test_diversity has it."""
    run, qrels = collection_of("documents", 4)
    qrels = with_relevant(qrels)
    best, other = (ir.evaluate(ranking, qrels, every_sample("documents")) for ranking in (perfect(qrels), run))
    for info in specs("documents"):
        low, high = (other, best) if info.best != info.bounds[0] else (best, other)
        # The perfect ranking for these parameters is another one.
        of_grades = [arguments for arguments in samples(info) if not arguments.keys() & {"rel", "gains"}]
        columns = [info.function(**arguments).meta.output_name() for arguments in of_grades]
        never_worse = all((high[column] >= low[column] - ROUNDING).all() for column in columns)
        assert never_worse is (info.name not in NO_BEST_RANKING), info.name


def test_the_perfect_ranking_reaches_the_best_value():
    qrels = with_relevant(collection_of("documents", 4)[1])
    cutoffs = [(info, k) for info in specs("documents") for k in (None, 1, 5) if k is None or "k" in info.parameters]
    measures = [info.function(**({"k": k} if k else {})) for info, k in cutoffs]
    found = ir.evaluate(perfect(qrels), qrels, measures).drop("query_id")
    missed = {None: set(), 1: set(), 5: set()}
    for (info, k), values in zip(cutoffs, found, strict=True):
        if not all(math.isclose(value, info.best, abs_tol=ROUNDING) for value in values):
            missed[k].add(info.name)
    with_k = {info.name for info, k in cutoffs if k}
    assert missed[None] == BEST_OUT_OF_REACH.keys()
    assert missed[1] | missed[5] == (BEST_OUT_OF_REACH.keys() & with_k) | OUT_OF_REACH_AT_K.keys()


#: Measures of the two kinds of relation that can hold unjudged documents, which bring these in.
OF_THE_RUN = {
    "documents": pl.col("price").max().alias("reads the run"),
    "subtopics": pl.col("price").filter(pl.col("subtopic").is_not_null()).max().alias("reads the run"),
}


@with_grades
@pytest.mark.parametrize("kind", OF_THE_RUN)
def test_unjudged_documents_in_the_relation_change_nothing(kind, grades):
    run, qrels = collection_of(kind, 1, grades=GRADES[grades])
    within = ir.evaluate(run.with_columns(price=1.0), qrels, [*every_measure(kind), OF_THE_RUN[kind]])
    assert_same(within.drop("reads the run"), figures(kind, grades))


@of_every_kind
@pytest.mark.whole("seconds a kind", quick=1)
def test_method_function_and_name_are_one(kind):
    run, qrels = collection_of(kind, 1)
    assert_same(ir.evaluate(run, qrels, [measure.meta.output_name() for measure in every_measure(kind)]), figures(kind))
    for info in specs(kind):
        name = info.function.__name__
        assert getattr(ir, name) is info.function
        of_spec = samples(info)
        for arguments in of_spec[: share(len(of_spec), 1)]:
            assert_same(getattr(run.ir, name)(qrels, **arguments), figures(kind))


@of_grades
def test_a_measure_is_undefined_where_no_document_is_relevant(kind):
    run, qrels = collection_of(kind, 7)
    relevant = qrels.group_by("query_id").agg((pl.col("relevance") >= 1).any()).sort("query_id")["relevance"]
    assert not relevant.all()
    measures = [info.function() for info in specs(kind)]
    values = ir.evaluate(run, qrels, measures, undefined=None)
    for info in specs(kind):
        defined = values[info.name].is_not_null()
        assert defined.all() if info.name in ALWAYS_DEFINED else defined.to_list() == relevant.to_list(), info.name
    assert values.fill_null(0).equals(ir.evaluate(run, qrels, measures))


def test_the_catalogue_explains_a_measure():
    for row in ir.catalog().iter_rows(named=True):
        assert row["meaning"].endswith(".")
        assert "https://" in row["source"]
        documentation = inspect.getdoc(getattr(ir, row["function"]))
        assert re.search(r"\n\n::\n\n    \S.* = ", documentation), f"{row['name']} has no formula"
        assert f"References\n----------\n{row['source']}" in documentation
        assert row["low"] <= row["best"] <= row["high"]
        assert ">>> " in documentation.partition("Examples")[2]


def test_exceptions_are_of_measures_there_are():
    exceptions = (ALWAYS_DEFINED, NO_FLOOR, NO_BEST_RANKING, BEST_OUT_OF_REACH, OUT_OF_REACH_AT_K)
    assert {name for names in exceptions for name in names} <= set(ir.CATALOG)


# The judged relation.


def ranked_by_hand(run: dict[str, float]) -> list[str]:
    """The documents of a ranking in order: scores falling, equal scores by id falling."""
    return sorted(run, key=lambda document: (run[document], document), reverse=True)


@examples(100)
@given(collections())
def test_the_judged_relation_holds_what_it_promises(run_and_qrels):
    run, qrels = run_and_qrels
    relation = ir.judge(run_frame(run), qrels_frame(qrels))
    found = {(row["query_id"], row["doc_id"]): row for row in relation.iter_rows(named=True)}
    assert len(found) == relation.height
    assert found.keys() == {(query, document) for query, judged in qrels.items() for document in judged}
    for (query, document), row in found.items():
        ranking = run.get(query, {})
        retrieved = document in ranking
        assert row["relevance"] == qrels[query][document]
        assert row["n_retrieved"] == len(ranking)
        assert row["rank"] == (ranked_by_hand(ranking).index(document) + 1 if retrieved else None)
        assert row["ideal_rank"] == ranked_by_hand(qrels[query]).index(document) + 1
        if retrieved:
            assert row["n_tied"] == list(ranking.values()).count(ranking[document])


@pytest.mark.parametrize("deep", [0, 10**9])
def test_each_system_has_every_judged_query(deep, monkeypatch):
    tune(monkeypatch, deep=deep)
    run, qrels = collection(8)
    other, _ = collection(9)
    relation = ir.judge({"a": run, "b": other, "none": run.clear()}, qrels)
    keys = ["run", "query_id"]
    assert relation.select(*keys, "doc_id").is_unique().all()
    assert relation.height == 3 * qrels.height
    assert relation.group_by("run").agg(pl.col("query_id").n_unique())["query_id"].unique().to_list() == [
        qrels["query_id"].n_unique()
    ]
    rank, ideal_rank = pl.col("rank"), pl.col("ideal_rank")
    per_query = relation.group_by(keys).agg(
        distinct=rank.drop_nulls().is_unique().all(),
        within=rank.drop_nulls().is_between(1, pl.col("n_retrieved").first()).all(),
        ideal=(ideal_rank.sort() == pl.int_range(1, pl.len() + 1)).all(),
        tied=(pl.col("n_tied").is_not_null() == rank.is_not_null()).all(),
    )
    assert per_query.select(pl.all_horizontal("distinct", "within", "ideal", "tied").all()).item()


def test_unjudged_documents_complete_the_ranking():
    run, qrels = collection(10)
    relation = ir.judge(run, qrels, unjudged=True)
    retrieved = relation.filter(pl.col("rank").is_not_null())
    assert retrieved.height == run.join(qrels, on="query_id", how="semi").height
    complete = retrieved.group_by("query_id").agg((pl.col("rank").sort() == pl.int_range(1, pl.len() + 1)).all())
    assert complete["rank"].all()
    judged = relation.filter(pl.col("relevance").is_not_null()).drop("score")
    assert_frame_equal(judged, ir.judge(run, qrels), check_row_order=False, check_column_order=False)


def test_every_measure_is_there_at_once():
    result = figures("documents")
    assert result.width == 1 + len(every_sample("documents"))
    assert all(math.isfinite(value) for value in result.drop("query_id").to_numpy().ravel())
