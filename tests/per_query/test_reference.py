"""Means and differences by people's judgments of some queries and a model's of all."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from messages import message_of
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.per_query.shared import pair_schema
from polars_ir.statistics import prediction
from tests.bench import judges

Y = [0.2, 0.5, 0, 0.9, 0.4, 0.7, 0.1, 0.6, 0.3, 0.8, 0.2, 0.5]
F = [0.3, 0.4, 0.1, 0.8, 0.6, 0.7, 0, 0.5, 0.5, 0.6, 0.3, 0.5]
U = [0.5, 0.2, 0.9, 0.1, 0.6, 0.3, 0.8, 0.4, 0, 0.7, 0.5, 0.6]
MODEL = pl.DataFrame({"query_id": [f"q{number:02}" for number in range(24)], "AP": F + U})
PEOPLE = MODEL.head(12).with_columns(AP=pl.Series(Y))


def drawn(seed=0, queries=60, n=20, alike=0.7, measures=("AP", "RR"), systems="abc"):
    """Figures of systems by a model, and of n queries by people; a query that one system lacks, and a slice."""
    source = np.random.default_rng(seed)
    ids = [f"q{number:03}" for number in range(queries)]
    chosen = source.choice(ids, n, replace=False).tolist()
    rows = pl.DataFrame({"query_id": ids}).join(pl.DataFrame({"run": list(systems)}), how="cross")
    rows = rows.with_columns(digit=pl.col("query_id").str.slice(3, 1)).filter(pl.int_range(pl.len()) != 4)
    people, model = rows, rows
    for measure in measures:
        value, noise = source.beta(1, 2, len(rows)), source.random(len(rows))
        people = people.with_columns(pl.Series(measure, value))
        model = model.with_columns(pl.Series(measure, alike * value + (1 - alike) * noise))
    return model, people.filter(pl.col("query_id").is_in(chosen))


@pytest.mark.whole("fifty-six pairs and measures")
def test_many_systems_of_a_plan_are_compared_as_in_memory():
    model, people = drawn(systems="abcdefgh")
    assert pair_schema.AT_ONCE < 2 * 28
    figures = ["run", "baseline", "measure", "difference", "low", "high", "p", "lambda", "people_mean"]
    plan, found = (ir.compare(each, reference=people).select(figures) for each in (model.lazy(), model))
    assert_frame_equal(plan.collect(), found, rel_tol=1e-11, abs_tol=1e-12)


def test_the_example_of_the_formulas():
    by_t = ir.summarize(MODEL, reference=PEOPLE, interval="t").row(0, named=True)
    assert [round(by_t[name], 6) for name in ("mean", "low", "high")] == [0.445032, 0.284509, 0.605556]
    assert [round(by_t[name], 6) for name in ("lambda", "rho", "people_mean")] == [0.467963, 0.888969, 0.433333]
    assert (round(by_t["n_equivalent"], 4), by_t["n_queries"], by_t["n_model"], by_t["note"]) == (15.1539, 12, 24, None)
    auto = ir.summarize(MODEL, reference=PEOPLE).row(0, named=True)
    assert [round(auto[name], 6) for name in ("mean", "low", "high")] == [0.445032, 0.277023, 0.626622]
    of_0 = {"AP": 0.0}
    pairs = ({"new": each, "old": each.with_columns(**of_0)} for each in (MODEL, PEOPLE))
    row = ir.compare(next(pairs), reference=next(pairs), baseline="old").row(0, named=True)
    assert [round(row[name], 6) for name in ("difference", "low", "high")] == [0.445032, 0.284509, 0.605556]
    assert f"{row['p']:.4e}" == "7.7157e-05"


@pytest.mark.whole("kinds of both", quick=2)
@pytest.mark.parametrize("kind", [pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
@pytest.mark.parametrize("of_people", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_both_sides_are_of_any_kind(kind, of_people):
    expected = ir.summarize(MODEL, reference=PEOPLE)
    found = ir.summarize(kind(MODEL), reference=of_people(PEOPLE))
    found = pl.from_pandas(found) if isinstance(found, pd.DataFrame) else found.lazy().collect()
    assert_frame_equal(found, expected, check_dtypes=kind is not pl.DataFrame.to_pandas, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.whole("plans and slices of each", quick=1)
@pytest.mark.parametrize("by", ["digit", None])
def test_plans_and_order_of_rows_change_no_figure(by):
    model, people = drawn()
    for call in (ir.mean, ir.summarize):
        expected = call(model, reference=people, by=by)
        assert_frame_equal(call(model.reverse(), reference=people.reverse(), by=by), expected, check_exact=True)
        assert_frame_equal(
            call(model.lazy(), reference=people, by=by).collect(), expected, rel_tol=1e-12, abs_tol=1e-12
        )
        assert_frame_equal(model.ir.summarize(reference=people), ir.summarize(model, reference=people))
    for missing in ("zero", "skip"):
        expected = ir.compare(model, reference=people, by=by, missing=missing)
        shuffled = ir.compare(model.reverse(), reference=people.reverse(), by=by, missing=missing)
        assert_frame_equal(shuffled, expected, check_exact=True)
        found = ir.compare(model.lazy(), reference=people.lazy(), by=by, missing=missing).collect()
        without = pl.exclude("^rank_biserial.*$", "^cohen_d.*$", "note")
        assert_frame_equal(found.select(without), expected.select(without), rel_tol=1e-12, abs_tol=1e-12)


def test_a_mean_is_that_of_the_summary():
    model, people = drawn()
    long = ir.summarize(model, reference=people)
    for measure in ("AP", "RR"):
        assert ir.mean(model, reference=people)[measure].to_list() == long.filter(measure=measure)["mean"].to_list()
    geometric = {"AP": "GMAP"}
    logs = ir.summarize(model.rename(geometric).drop("RR"), reference=people.rename(geometric))
    own = ir.summarize(people.rename(geometric).drop("RR"))
    assert logs["people_mean"].to_list() == own["mean"].to_list()


def test_a_comparison_is_the_summary_of_differences():
    model, people = drawn(queries=80, n=25)
    value = pl.col("AP").filter(pl.col("run") == "b").sum() - pl.col("AP").filter(pl.col("run") == "a").sum()
    of = [each.group_by("query_id").agg(DCG=value) for each in (model, people)]
    expected = ir.summarize(of[0], reference=of[1], interval="t").row(0, named=True)
    found = ir.compare(model, "AP", reference=people, baseline="a").filter(run="b").row(0, named=True)
    names = ("low", "high", "n_queries", "n_model", "lambda", "rho", "n_equivalent", "people_mean", "model_mean")
    assert [found[name] for name in names] == pytest.approx([expected[name] for name in names])
    assert found["difference"] == pytest.approx(expected["mean"])
    assert 0 < found["lambda"] < 1
    at_p = ir.compare(model, "AP", reference=people, baseline="a", alpha=found["p"] * 1.0001).filter(run="b")
    assert at_p.select((pl.col("low") > 0) | (pl.col("high") < 0)).item()


@pytest.mark.whole("some cases of many", quick=2)
@pytest.mark.parametrize(
    ("model", "people", "note"),
    [
        (MODEL, PEOPLE.head(9), prediction.FEW),
        (MODEL.with_columns(AP=1 - pl.col("AP")), PEOPLE, prediction.REVERSED),
        (MODEL.with_columns(AP=0.5), PEOPLE, prediction.NOTHING),
        (MODEL.head(13), PEOPLE, prediction.NO_OTHERS),
        (PEOPLE, PEOPLE, prediction.NO_OTHERS),
        (MODEL.with_columns(AP=pl.when(pl.col("AP") > 0.1).then("AP")), PEOPLE, prediction.UNMATCHED.format(2)),
    ],
    ids=["few", "reversed", "constant", "no others", "itself", "undefined"],
)
def test_people_alone_where_the_model_adds_nothing(model, people, note):
    for kind in (pl.DataFrame.clone, pl.DataFrame.lazy):
        for interval in ("auto", "t"):
            alone = ir.summarize(people, interval=interval).drop("note")
            found = ir.summarize(kind(model), reference=kind(people), interval=interval).lazy().collect()
            assert_frame_equal(found.select(alone.columns), alone)
            assert found["note"].to_list() == [note]
            assert (found["lambda"][0], found["n_equivalent"][0]) == (0, found["n_queries"][0])
    pairs = ({"b": each, "a": each.with_columns(AP=0.0)} for each in (people, model))
    alone, found = (
        ir.compare(next(pairs)),
        ir.compare(
            {"b": model, "a": model.with_columns(AP=0.0)}, reference={"b": people, "a": people.with_columns(AP=0.0)}
        ),
    )
    # What is undefined for both is left out by the comparison of both.
    assert_frame_equal(found.select("difference", "low", "high", "p"), alone.select("difference", "low", "high", "p"))
    assert note in found["note"][0]


@pytest.mark.parametrize("interval", ["auto", "t"])
def test_never_wider_than_people_alone(interval):
    model, people = drawn(n=11, alike=0.5, systems=map(str, range(150)), measures=["AP"])
    both = ir.summarize(model, reference=people, interval=interval)
    alone = ir.summarize(people, interval=interval)
    narrower = both["high"] - both["low"] < (alone["high"] - alone["low"]) * (1 - 1e-12)
    assert narrower.to_list() == (both["lambda"] > 0).to_list() == both["note"].is_null().to_list()
    ends = ["mean", "low", "high"]
    assert_frame_equal(both.filter(~narrower).select(ends), alone.filter(~narrower).select(ends))
    assert 0.2 < narrower.mean() < 1
    by_t = ir.summarize(model, reference=people, interval="t")["lambda"] > 0
    # Wilson's interval of a mean nearer to the middle can be wider, though its error is not.
    assert (by_t.sum() > narrower.sum()) == (interval == "auto")


def test_what_can_not_be_is_told_in_the_note():
    same = ir.summarize(MODEL, reference=MODEL.head(12))
    assert same["note"].to_list() == [prediction.SAME]
    hard = MODEL.with_columns(AP=pl.Series([each / 100 for each in F] + [each / 10 + 0.9 for each in U]))
    assert prediction.NOT_RANDOM in ir.summarize(hard, reference=PEOPLE)["note"][0]


def test_a_system_without_people_s_rows_of_a_plan_has_no_figure():
    model = pl.concat([MODEL.with_columns(run=pl.lit(name)) for name in "ab"])
    found = ir.summarize(model.lazy(), reference=PEOPLE.with_columns(run=pl.lit("a"))).collect()
    assert found["mean"].is_null().to_list() == [False, True]


ALIEN = PEOPLE.with_columns(query_id=pl.col("query_id").replace("q03", "zz"))
TWICE = pl.concat([PEOPLE, PEOPLE.head(1)])
OF_A = PEOPLE.with_columns(run=pl.lit("a"))
SYSTEMS = pl.concat([MODEL.with_columns(run=pl.lit(name)) for name in "ab"])


OF_ALL = "Evaluate the model's judgments of them too, or leave them out"
SHOWN = "+----------+\n| query_id |\n+==========+\n| zz       |\n+----------+"


def summary(reference, per_query=MODEL, **options):
    return lambda: ir.summarize(per_query, reference=reference, **options)


WRONG = {
    "a query that the model lacks": (
        summary(ALIEN),
        f"reference has 1 row that per_query lacks. {OF_ALL}. The first:\n{SHOWN}",
    ),
    "figures in each other's place": (
        summary(MODEL, per_query=MODEL.head(12)),
        r"that per_query lacks. It has all rows of per_query besides; exchange them",
    ),
    "such a query in a comparison": (
        lambda: ir.compare(SYSTEMS, reference=ALIEN.with_columns(run=pl.lit("a"))),
        "reference has 1 row that per_query lacks",
    ),
    "a query twice": (summary(TWICE), "reference has 2 rows that repeat the ids of another (query_id). Keep one"),
    "no measure in common": (
        summary(PEOPLE.rename({"AP": "RR"})),
        "reference has no measure 'AP', as per_query has; it has 'RR'. Evaluate both with the same measures.",
    ),
    "a named measure that people lack": (
        lambda: ir.compare(
            SYSTEMS.with_columns(RR=0.5), ["AP", "RR"], reference=SYSTEMS.filter(pl.col("query_id") < "q12")
        ),
        "reference has no measure 'RR', as per_query has; it has 'AP'. Evaluate both with the same measures.",
    ),
    "no systems": (
        summary(PEOPLE, SYSTEMS),
        "reference must have systems like per_query; per_query has a column of them, and reference has none.",
    ),
    "systems of people only": (summary(OF_A), "reference must have systems like per_query; reference has a column"),
    "a system that people lack": (
        summary(OF_A, SYSTEMS),
        "reference lacks systems that per_query has: 'b'. Evaluate them by people's judgments too",
    ),
    "ids of another type": (
        summary(PEOPLE.with_columns(query_id=pl.int_range(12))),
        "reference column 'query_id' must be String, as per_query has it; it is Int64.",
    ),
    "NaN": (summary(PEOPLE.with_columns(AP=float("nan"))), "reference has 12 rows whose 'AP' is NaN or infinite"),
    "no table": (summary(3), "reference must be a table (Polars, pandas, Arrow) or nested dicts; got int: 3."),
    "several rows of a query": (
        summary(PEOPLE, pl.concat([MODEL.with_columns(night=pl.lit(night)) for night in "xy"]), by="night"),
        "reference needs one row per query and system in per_query, which has several.",
    ),
    "a sum": (
        summary(PEOPLE.with_columns(NumQ=1), MODEL.with_columns(NumQ=1)),
        "per_query has 'NumQ', which is not a mean over queries, and has no estimate from a sample. Leave it out",
    ),
    "weights": (
        summary(PEOPLE, weights=MODEL.select("query_id", w=1.0)),
        "reference does not go with weights: how often its intervals then hold is not known. Leave one of them out.",
    ),
    "strata": (summary(PEOPLE, strata="AP"), "reference does not go with strata"),
    "a bootstrap": (
        summary(PEOPLE, interval="BCa"),
        "reference goes with interval='auto' or interval='t'; got interval='BCa'.",
    ),
    "a micro average": (
        lambda: ir.mean(MODEL, reference=PEOPLE, average="micro"),
        "reference goes with average='macro'; got average='micro'. Leave one of them out.",
    ),
    "another test": (
        lambda: ir.compare(SYSTEMS, reference=SYSTEMS, test="wilcoxon"),
        "reference goes with test='t'; got test='wilcoxon'. Leave one of them out.",
    ),
    "another interval": (
        lambda: ir.compare(SYSTEMS, reference=SYSTEMS, interval="auto"),
        "reference goes with interval='t'; got interval='auto'.",
    ),
    "a margin": (lambda: ir.compare(SYSTEMS, reference=SYSTEMS, margin=0.1), "reference does not go with margin"),
    "clusters": (lambda: ir.compare(SYSTEMS, reference=SYSTEMS, cluster="AP"), "reference does not go with cluster"),
    "a gate": (lambda: ir.gate(MODEL, MODEL, reference=PEOPLE), "unexpected keyword argument 'reference'"),
    "ranks": (lambda: ir.ranks(SYSTEMS, reference=OF_A), "unexpected keyword argument 'reference'"),
    "drift": (
        lambda: ir.drift(SYSTEMS.with_columns(night=1), "night", reference=OF_A),
        "reference must be",
    ),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG)
def test_bad_references_are_told(call, message):
    assert message in message_of(call)


@pytest.mark.parametrize(("people", "message"), [(ALIEN, "that per_query lacks"), (TWICE, "that repeat the ids")])
def test_plans_fail_for_bad_references(people, message):
    with pytest.raises(pl.exceptions.InvalidOperationError, match=message):
        ir.summarize(MODEL.lazy(), reference=people.lazy()).collect()


def test_measures_that_people_lack_are_told_and_left_out():
    with pytest.warns(ir.IRWarning, match="reference lacks measures of per_query, which are left out: 'RR'"):
        found = ir.summarize(MODEL.with_columns(RR=0.5), reference=PEOPLE)
    assert found["measure"].to_list() == ["AP"]


@pytest.mark.whole("simulations")
@pytest.mark.parametrize("made", [judges.robust, judges.deep_learning])
def test_intervals_hold_as_people_s_own(made):
    if not judges.DATA.exists():
        pytest.skip("needs the collections")
    judged = made()
    for n, total in ((10, 100), (15, 1000)):
        rows = pl.DataFrame(list(judges.coverage(judged, n, total, 400)))
        assert rows["wider"].sum() == 0
        # Draws are few: the bench has 2,000.
        means = rows.filter(figure="mean")
        assert (rows["t"] - rows["people t"]).min() > -0.035
        assert means["auto"].min() > 0.93


def test_queries_that_people_judged_for_some_systems_only_are_an_error():
    model, people = drawn()
    query = people["query_id"].max()
    part = people.filter((pl.col("run") != "a") | (pl.col("query_id") != query))
    for frame, reference in ((model, part), (model.lazy(), part.lazy())):
        with pytest.raises(ir.IRError, match="reference has 1 row too few, of queries that people judged") as raised:
            ir.compare(frame, reference=reference).lazy().collect()
        assert query in str(raised.value)


def test_one_query_has_no_deviation_and_no_clusters_are_advised():
    of_topics = MODEL.with_columns(topic=pl.lit("t"))
    row = ir.summarize(of_topics, reference=PEOPLE.head(1)).row(0, named=True)
    assert row["std"] is None
    assert row["note"].endswith("queries of one 'topic' are treated as independent")


def test_a_difference_that_the_model_turns_is_told():
    f = np.linspace(0, 1, 12)
    people = pl.DataFrame({"query_id": MODEL["query_id"].head(12), "AP": f - 0.51})
    model = MODEL.with_columns(AP=pl.Series([*f, *np.linspace(0.1, 1, 12)]))
    pairs = ({"new": each, "old": each.with_columns(AP=pl.lit(0.0))} for each in (model, people))
    row = ir.compare(next(pairs), reference=next(pairs), baseline="old").row(0, named=True)
    assert row["people_mean"] < 0 < row["difference"]
    assert "the estimate and people's difference differ in sign" in row["note"]
