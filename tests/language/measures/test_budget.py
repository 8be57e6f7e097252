"""Budgets: the worked figures, and costs that are added up by hand."""

import random

import polars as pl
import pytest

import polars_ir as ir

#: Lengths of five documents, of which the first, third and fifth are all that is relevant.
RUN = pl.DataFrame(
    {"query_id": "q", "doc_id": [*"abcde"], "score": [5, 4, 3, 2, 1], "tokens": [300, 500, 400, 200, 100]}
)
QRELS = {"q": [*"ace"]}
WORKED = {"stop": [1 / 3, 1 / 3, 2 / 3, 1], "include": [2 / 3, 2 / 3, 2 / 3, 1]}


@pytest.mark.parametrize("kind", [lambda run: run, pl.DataFrame.lazy])
@pytest.mark.parametrize("over", WORKED)
def test_recall_at_budgets_is_as_worked(over, kind):
    found = ir.evaluate(kind(RUN), QRELS, [ir.recall(budget=b, over=over) for b in (900, 1000, 1300, 1500)])
    assert found.lazy().collect().row(0)[1:] == pytest.approx(WORKED[over])


@pytest.mark.parametrize("kind", [lambda run: run, pl.DataFrame.lazy])
@pytest.mark.parametrize(
    ("costs", "enough", "too_little"),
    [
        (pl.Series([0.1, 0.2, 0.5]), 0.3, 0.29),
        (pl.Series([0.1, 0.2, 0.5], dtype=pl.Float32), 0.3, 0.29),
        (pl.Series([1e12, 1, 1]), 1e12 + 1, 1e12),
    ],
)
def test_costs_that_add_up_to_a_budget_are_within_it(kind, costs, enough, too_little):
    run = kind(RUN.head(3).with_columns(price=costs))
    found = ir.evaluate(run, {"q": ["b"]}, [ir.recall(budget=most, cost="price") for most in (enough, too_little)])
    assert found.lazy().collect().row(0)[1:] == (1.0, 0.0)


def counted(costs: list[float], budget: float, over: str) -> int:
    """The number of documents that count."""
    spent, n = 0.0, 0
    for cost in costs:
        spent += cost
        if spent > budget:
            return n + (over == "include")
        n += 1
    return n


@pytest.mark.parametrize("over", ["stop", "include"])
@pytest.mark.parametrize("seed", range(3))
def test_every_measure_with_a_budget_is_that_of_the_run_cut_by_hand(seed, over):
    chance = random.Random(seed)
    rows = [
        (system, query, document, chance.randint(1, 3), chance.choice([0, 10, 20, 30]))
        for system in "xy"
        for query in "pqrs"
        for document in chance.sample("abcdefgh", chance.randint(0, 8))
    ]
    run = pl.DataFrame(rows, ["run", "query_id", "doc_id", "score", "words"], orient="row")
    judged = [(q, s, d, g) for q in "pqrs" for s in (1, 2) for d in "abcdefgh" if (g := chance.choice([0, 0, 1, 2]))]
    qrels = pl.DataFrame(judged, ["query_id", "subtopic", "doc_id", "relevance"], orient="row")
    ordered = run.sort("run", "query_id", "score", "doc_id", descending=[False, False, True, True])
    kept = [
        rows.head(counted(rows["words"].to_list(), 45, over))
        for rows in ordered.partition_by("run", "query_id", maintain_order=True)
    ]
    names = ["R", "Success", "RR", "DCG", "StRecall", "FullRecall", "GroupRR", "R@2", "GroupRR@2"]
    budget = f"(budget=45,cost='words',over='{over}')"
    asked = [f"{name}{budget}{at}{k}" for name, at, k in (name.partition("@") for name in names)]
    systems = {name: pl.concat(kept).filter(run=name).drop("run") for name in "xy"}
    wanted = ir.evaluate(systems, qrels, names)
    for frame, judgments in ((run, qrels), (run.sample(fraction=1, shuffle=True), qrels), (run.lazy(), qrels.lazy())):
        found = ir.evaluate(frame, judgments, asked).lazy()
        for engine in ("in-memory", "streaming"):
            assert found.collect(engine=engine).rows() == wanted.rows()


def test_a_name_with_a_budget_is_read_back_and_has_one_in_sql():
    measure = ir.recall(budget=4000)
    assert measure.meta.output_name() == "R(budget=4000)"
    assert ir.name(measure, names="sql") == "r_budget_4000"
    assert ir.name("r_budget_4000") == ir.name(measure) == "R(budget=4000)"
    assert ir.name(ir.precision(k=5, budget=10, over="include"), names="sql") == "p_5_budget_10_over_include"


@pytest.mark.parametrize("cost", ["chars", "n_tokens", "over", "a_2"])
def test_a_name_in_sql_has_the_column_of_costs(cost):
    measure = ir.precision(k=5, budget=10, cost=cost, over="include")
    name = ir.name(measure, names="sql")
    assert name == f"p_5_budget_10_cost_{cost}_over_include"
    assert ir.name(name) == ir.name(measure)


@pytest.mark.parametrize("cost", ["Chars", "my tokens", "none", "a_over_include"])
def test_a_column_of_costs_that_could_not_be_read_back_has_no_name_in_sql(cost):
    with pytest.raises(ir.IRError, match="has no name of letters, digits and underscores"):
        ir.name(ir.recall(budget=10, cost=cost), names="sql")


@pytest.mark.parametrize("name", ["n_tokens", "token_count", "numTokens", "Tokens", "total_tokens"])
def test_costs_of_another_name_are_advised(name):
    run = RUN.rename({"tokens": name})
    with pytest.raises(ir.IRError, match="or name the column that has it") as error:
        run.with_columns(page=1).ir.evaluate(QRELS, "R(budget=9)")
    assert f"cost='{name}'" in str(error.value)


@pytest.mark.parametrize("name", ["step", "token_offset", "token_rank", "year", "lc", "length", "n"])
def test_other_numbers_are_not_advised_as_costs(name):
    with pytest.raises(ir.IRError, match=r"or name the column with cost=\.$"):
        RUN.rename({"tokens": name}).ir.evaluate(QRELS, "R(budget=9)")


@pytest.mark.parametrize("kind", [lambda run: run, pl.DataFrame.lazy])
def test_the_system_without_the_costs_of_another_is_named(kind):
    for other, says in (
        (RUN.drop("tokens"), "run 'b' has no column 'tokens' with the costs of documents, which run 'a' has"),
        (RUN.cast({"tokens": pl.Float64}), "run 'b' column 'tokens' must be Int64, as in the first run"),
    ):
        with pytest.raises(ir.IRError, match=says):
            ir.evaluate({"a": kind(RUN), "b": kind(other)}, QRELS, "R(budget=9)")


def test_costs_that_some_runs_lack_are_not_advised():
    runs = {"a": RUN.rename({"tokens": "n_tokens"}), "b": RUN.drop("tokens")}
    with pytest.raises(ir.IRError, match=r"or name the column with cost=\.$"):
        ir.evaluate(runs, QRELS, "R(budget=9)")


def test_a_query_whose_first_document_is_too_long_counts_0():
    assert RUN.ir.evaluate(QRELS, ["R(budget=299)", "P(budget=299)", "RR(budget=299)"]).row(0) == ("q", 0.0, 0.0, 0.0)


@pytest.mark.parametrize("over", WORKED)
def test_a_run_that_holds_its_grades_has_the_figures_of_its_plan(over):
    run = pl.concat([RUN.with_columns(query_id=pl.lit(query), relevance=pl.Series([1, 0, 1, 0, 1])) for query in "qr"])
    run = run.with_columns(tokens=pl.int_range(pl.len()) + 1, score=pl.int_range(pl.len()) // 2)
    asked = [f"{name}(budget={b},over='{over}')" for name in ("R", "P") for b in (5, 12, 1000)]
    for rows in (run, run.sample(fraction=1, shuffle=True, seed=1)):
        found = rows.ir.evaluate(None, asked).sort("query_id")
        assert found.rows() == rows.lazy().ir.evaluate(None, asked).collect().sort("query_id").rows()
    assert found.to_series(2).n_unique() == 2


@pytest.mark.parametrize("wrong", [None, -1.0, float("nan"), float("inf")])
def test_a_cost_that_is_none_is_an_error(wrong):
    run = RUN.with_columns(tokens=pl.Series([1.0, 2.0, wrong, 3.0, 4.0]))
    with pytest.raises(ir.IRError, match="1 row whose 'tokens' is null, negative, infinite or NaN") as error:
        run.ir.evaluate(QRELS, "R(budget=5)")
    assert "| q        | c      |" in str(error.value)
    with pytest.raises(pl.exceptions.PolarsError, match="whose 'tokens' is null, negative"):
        run.lazy().ir.evaluate(QRELS, "R(budget=5)").collect()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ir.recall(budget=0), "budget must be a number above 0"),
        (lambda: ir.recall(budget=9, over="skip"), "would lower recall as the budget grows"),
        (lambda: ir.evaluate(RUN, QRELS, "R(cost='x',over='include')@2"), "cost='x' and over='include' needs a budget"),
        (lambda: ir.recall(over="include"), "a measure with over='include' needs a budget. Give one: budget=4000"),
        (lambda: ir.ndcg(budget=9), "nDCG is not defined within a budget; P, R, "),
        (lambda: RUN.drop("tokens").ir.evaluate(QRELS, "R(budget=9)"), "no column 'tokens' with the costs"),
        (
            lambda: RUN.ir.evaluate(QRELS, "R(budget=9,cost='score')"),
            "scores or grades in its column 'score', which are no",
        ),
        (lambda: RUN.with_columns(tokens=None).ir.evaluate(QRELS, "R(budget=9)"), "it is Null. Give each retrieved"),
        (lambda: RUN.cast({"tokens": pl.String}).ir.evaluate(QRELS, "R(budget=9)"), "'tokens' must be numbers"),
        (lambda: RUN.ir.evaluate(QRELS, "R(budget=9)", ties="best"), "ties='best' does not go with a budget"),
        (lambda: RUN.ir.evaluate(QRELS, "R(budget=9)", judged_only=True), "judged_only=True does not go with a budget"),
        (lambda: RUN.ir.evaluate(QRELS, "FullRecall", bounds=True), "documents; these are of groups of evidence"),
        (lambda: RUN.ir.evaluate(QRELS, "R(budget=9)", bounds=True), "bounds=True does not go with a budget"),
    ],
)
def test_budgets_that_can_not_be_are_errors(call, says):
    with pytest.raises(ir.IRError, match=says):
        call()
