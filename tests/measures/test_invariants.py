"""What holds for every measure of the catalogue, and what the judged relation promises.

A measure enters these tests by being in the catalogue; where it is left out of one, its name and the reason stand here.
"""

import inspect
import math
import re

import polars as pl
import pytest
from generated import (
    STEADY,
    collection,
    collection_of,
    collections,
    every_measure,
    qrels_frame,
    run_frame,
    samples,
)
from hypothesis import given, settings
from polars.testing import assert_frame_equal
from tuned import tune

import polars_ir as ir

GRADES = {"whole": (-1, 0, 0, 0, 1, 2, 3), "fractional": (-0.5, 0.0, 0.0, 0.5, 1.0, 1.5, 2.25, 3.0)}

#: Sums of fractions may pass a bound that they reach by rounding.
ROUNDING = 1e-12

COUNTS = {"NumRet", "NumRel", "NumRelRet"}

#: What judgments measures are of, by name; the figures of one kind can not be had in a call with those of another.
KIND = {name: spec.kind for name, spec in ir.CATALOG.items()}

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
    "P": "where R < k the list can not be filled with relevant documents",
    "F": "needs R = k",
    "R": "where R > k not all of them fit in",
    "AP": "is divided by R, also where R > k",
    "Q": "is divided by R, also where R > k",
}

of_every_measure = pytest.mark.parametrize("name", ir.CATALOG)

#: Where it is asked which document is relevant, or which ranking is perfect: of preferences a judge may contradict
#: another's, and the best ranking for several subtopics is not that of one grade a document (test_diversity has it).
of_grades = pytest.mark.parametrize("name", [name for name, kind in KIND.items() if kind != "preferences"])
of_documents = pytest.mark.parametrize("name", [name for name, kind in KIND.items() if kind == "documents"])
with_grades = pytest.mark.parametrize("grades", GRADES)

# A run from which everything judged was taken has no document in common with the qrels.
nothing_in_common = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")


def expressions(name: str) -> list[pl.Expr]:
    """A measure with every sample of its parameters."""
    return [ir.CATALOG[name].function(**arguments) for arguments in samples(ir.CATALOG[name])]


def perfect(qrels: pl.DataFrame) -> pl.DataFrame:
    """The run of all relevant documents, and no others, grades falling."""
    return qrels.filter(pl.col("relevance") >= 1).select("query_id", "doc_id", score="relevance")


def with_relevant(qrels: pl.DataFrame) -> pl.DataFrame:
    """The judgments of queries that have a relevant document."""
    return qrels.filter((pl.col("relevance") >= 1).any().over("query_id"))


def assert_same(left: pl.DataFrame, right: pl.DataFrame) -> None:
    """Assert that two results are the same to the last bit."""
    assert_frame_equal(left, right, check_exact=True)


@nothing_in_common
@of_every_measure
def test_no_judgment_gives_no_row(name):
    run, qrels = collection_of(KIND[name], 1)
    found = ir.evaluate(run, qrels.head(0), expressions(name))
    assert found.is_empty()
    assert found.schema == ir.evaluate(run, qrels, expressions(name)).schema


@with_grades
@of_every_measure
def test_values_are_within_the_bounds(name, grades):
    low, high = ir.CATALOG[name].bounds
    run, qrels = collection_of(KIND[name], 1, grades=GRADES[grades])
    values = ir.evaluate(run, qrels, expressions(name)).drop("query_id")
    assert values.null_count().sum_horizontal().item() == 0
    assert all(low <= value <= high + ROUNDING for row in values.iter_rows() for value in row)
    assert any(value > low for row in values.iter_rows() for value in row)


@of_every_measure
def test_a_name_is_read_back_as_the_expression_it_names(name):
    for expression in expressions(name):
        assert ir.parse(expression.meta.output_name()).meta.eq(expression)


@of_every_measure
def test_samples_of_parameters_have_different_names(name):
    names = [expression.meta.output_name() for expression in expressions(name)]
    assert len(set(names)) == len(names)


@of_every_measure
def test_a_rising_map_of_the_scores_changes_nothing(name):
    run, qrels = collection_of(KIND[name], 2)
    score = pl.col("score")
    mapped = run.with_columns(pl.when(score < 7).then(score - 1000).otherwise(score**3))
    assert_same(ir.evaluate(mapped, qrels, expressions(name)), ir.evaluate(run, qrels, expressions(name)))


@nothing_in_common
@of_every_measure
def test_without_a_retrieved_document_a_measure_is_0(name):
    run, qrels = collection_of(KIND[name], 3)
    values = ir.evaluate(run.clear(), qrels, expressions(name), missing="zero").drop("query_id")
    assert values.height == qrels["query_id"].n_unique()
    assert (set(values.to_numpy().ravel()) == {0.0}) is (name not in NO_FLOOR)


@nothing_in_common
@of_every_measure
def test_without_a_judged_document_retrieved_only_what_is_unjudged_is_found(name):
    run, qrels = collection_of(KIND[name], 3)
    unjudged = run.join(qrels, on=["query_id", "doc_id"], how="anti")
    values = ir.evaluate(unjudged, qrels, expressions(name)).drop("query_id", "NumRet", strict=False)
    assert (set(values.to_numpy().ravel()) == {0.0}) is (name not in {*NO_FLOOR, "unj", "Hole", "Fallout", "MCC"})


@of_documents
def test_no_ranking_is_better_than_the_perfect_one(name):
    spec = ir.CATALOG[name]
    # What is perfect for these parameters is another ranking.
    measures = [spec.function(**arguments) for arguments in samples(spec) if not arguments.keys() & {"rel", "gains"}]
    run, qrels = collection_of(KIND[name], 4)
    qrels = with_relevant(qrels)
    best, other = (ir.evaluate(ranking, qrels, measures).drop("query_id") for ranking in (perfect(qrels), run))
    if spec.best == spec.bounds[0]:
        best, other = other, best
    never_worse = all((best[column] >= other[column] - ROUNDING).all() for column in best.columns)
    assert never_worse is (name not in NO_BEST_RANKING)


@of_documents
def test_the_perfect_ranking_reaches_the_best_value(name):
    spec = ir.CATALOG[name]
    qrels = with_relevant(collection_of(KIND[name], 4)[1])

    def reached(**cutoff: int) -> bool:
        values = ir.evaluate(perfect(qrels), qrels, spec.function(**cutoff)).to_series(1)
        return all(math.isclose(value, spec.best, abs_tol=ROUNDING) for value in values)

    assert reached() is (name not in BEST_OUT_OF_REACH)
    if "k" in spec.parameters:
        assert (reached(k=1) and reached(k=5)) is (name not in {**BEST_OUT_OF_REACH, **OUT_OF_REACH_AT_K})


#: Measures of the two kinds of relation that can hold unjudged documents, which bring these in.
OF_THE_RUN = {
    "documents": pl.col("price").max().alias("reads the run"),
    "subtopics": pl.col("price").filter(pl.col("subtopic").is_not_null()).max().alias("reads the run"),
}


@with_grades
@pytest.mark.parametrize("name", [name for name, kind in KIND.items() if kind in OF_THE_RUN])
def test_unjudged_documents_in_the_relation_change_nothing(name, grades):
    run, qrels = collection_of(KIND[name], 5, grades=GRADES[grades])
    run = run.with_columns(price=1.0)
    within = ir.evaluate(run, qrels, [*expressions(name), OF_THE_RUN[KIND[name]]])
    assert_same(within.drop("reads the run"), ir.evaluate(run, qrels, expressions(name)))


@of_every_measure
def test_method_function_and_name_are_one(name):
    run, qrels = collection_of(KIND[name], 6)
    for arguments in samples(ir.CATALOG[name]):
        function = ir.CATALOG[name].function
        expression = function(**arguments)
        wanted = ir.evaluate(run, qrels, expression)
        assert_same(ir.evaluate(run, qrels, expression.meta.output_name()), wanted)
        assert_same(getattr(run.ir, function.__name__)(qrels, **arguments), wanted)
        assert getattr(ir, function.__name__) is function


@of_grades
def test_a_measure_is_undefined_where_no_document_is_relevant(name):
    run, qrels = collection_of(KIND[name], 7)
    relevant = qrels.group_by("query_id").agg((pl.col("relevance") >= 1).any()).sort("query_id")["relevance"]
    values = ir.evaluate(run, qrels, ir.CATALOG[name].function(), undefined=None)
    defined = values[name].is_not_null()
    assert not relevant.all()
    assert defined.all() if name in ALWAYS_DEFINED else defined.to_list() == relevant.to_list()
    assert values.with_columns(pl.col(name).fill_null(0)).equals(ir.evaluate(run, qrels, name))


@of_every_measure
def test_the_catalogue_explains_a_measure(name):
    row = ir.catalog().row(by_predicate=pl.col("name") == name, named=True)
    assert row["meaning"].endswith(".")
    assert "https://" in row["source"]
    documentation = inspect.getdoc(getattr(ir, row["function"]))
    assert re.search(r"\n\n::\n\n    \S.* = ", documentation), f"{name} has no formula"
    assert f"References\n----------\n{row['source']}" in documentation
    assert row["low"] <= row["best"] <= row["high"]
    assert ">>> " in getattr(ir, row["function"]).__doc__.partition("Examples")[2]


def test_exceptions_are_of_measures_there_are():
    exceptions = (ALWAYS_DEFINED, NO_FLOOR, NO_BEST_RANKING, BEST_OUT_OF_REACH, OUT_OF_REACH_AT_K)
    assert {name for names in exceptions for name in names} <= set(ir.CATALOG)


# The judged relation.


def ranked_by_hand(run: dict[str, float]) -> list[str]:
    """The documents of a ranking in order: scores falling, equal scores by id falling."""
    return sorted(run, key=lambda document: (run[document], document), reverse=True)


@settings(STEADY, max_examples=100)
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
    run, qrels = collection(11)
    result = ir.evaluate(run, qrels, every_measure())
    assert result.width == 1 + len(every_measure())
    assert all(math.isfinite(value) for value in result.drop("query_id").to_numpy().ravel())
