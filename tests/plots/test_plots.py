"""Charts: what they are drawn from, what they say, and that they can be drawn."""

import html
import json
import math
import re
from datetime import UTC, date, datetime, timedelta
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from messages import message_of
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.per_query.compare import compare
from polars_ir.per_query.drift import drift
from polars_ir.per_query.means import mean, summarize

alt = pytest.importorskip("altair")
plots = pytest.importorskip("polars_ir.plots")

PYDOCS = ir.datasets.load("pydocs")
MEASURES = ["nDCG@10", "AP", "Hole@10"]
#: Names that would be an expression, a path or an end of text to Vega, were they names of fields.
ODD = {"nDCG@10": "nDCG(dcg='exp-log2')@10", "AP": "a.b[0]:Q", "Hole@10": "x'\"\\y"}


@pytest.fixture(scope="module")
def per_query() -> pl.DataFrame:
    return ir.evaluate(PYDOCS.runs, PYDOCS.qrels, MEASURES).with_columns(
        # The bundled runs have few unjudged documents, so that the cost is made up.
        pl.when(pl.col("run") == "bm25").then(pl.col("AP") / 2).otherwise(pl.col("nDCG@10")).alias("Hole@10")
    )


@pytest.fixture(scope="module")
def days(per_query) -> pl.DataFrame:
    queries = per_query["query_id"].unique().sort()
    times = [date(2026, 3, 2) + timedelta(days=i // 4) for i in range(len(queries))]
    return pl.DataFrame({"query_id": queries, "day": times})


@pytest.fixture(scope="module")
def many() -> pl.DataFrame:
    """20 systems with long names and 3,000 queries, the same whenever it is made."""
    queries = pl.DataFrame({"query_id": range(3000)})
    systems = [f"a system whose name says everything there is to say about how it was trained, {i}" for i in range(20)]
    grid = pl.DataFrame({"run": systems}).with_row_index("i").join(queries, how="cross")
    spread = ((pl.col("query_id") * 7919 + pl.col("i").cast(pl.Int64) * 104729) % 10007) / 10007
    return grid.select("run", "query_id", spread.alias("nDCG@10"))


def every(per_query: pl.DataFrame, days: pl.DataFrame, measure: str, baseline: str, other: str) -> dict:
    """Each chart of a per-query frame."""
    return {
        "differences of one": plots.differences(per_query, measure, baseline=baseline, run=other),
        "differences": plots.differences(per_query, measure, baseline=baseline),
        "scatter": plots.scatter(per_query, measure, x=baseline, y=other),
        "ranks": plots.ranks(per_query),
        "forest": plots.forest(per_query, baseline=baseline),
        "distribution": plots.distribution(per_query),
        "heatmap": plots.heatmap(per_query),
        "series": plots.series(per_query, days, every="1w", measures=measure),
    }


def sizes(chart) -> list[int]:
    return [len(rows) for rows in chart.to_dict()["datasets"].values()]


def fields(info) -> set:
    """The fields of all encodings of a specification."""
    if isinstance(info, list):
        return set().union(*map(fields, info))
    if not isinstance(info, dict):
        return set()
    own = {info["field"]} if isinstance(info.get("field"), str) else set()
    return own.union(*(fields(value) for key, value in info.items() if key != "datasets"))


@pytest.mark.whole("all charts, drawn")
def test_every_chart_is_drawn_whatever_measures_and_systems_are_called(per_query, days, tmp_path):
    odd = per_query.rename(ODD).with_columns(pl.col("run").replace({"bm25": "b.m[2]:5'\"", "tfidf": "tf\\idf"}))
    for name, chart in every(odd, days, ODD["AP"], "b.m[2]:5'\"", "tf\\idf").items():
        info = chart.to_dict()
        assert all(field.isidentifier() for field in fields(info)), name
        chart.save(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5000


@pytest.mark.whole("a second")
def test_charts_of_runs_are_drawn(tmp_path):
    for name, draw in {"cutoffs": plots.cutoffs, "precision_recall": plots.precision_recall}.items():
        draw(PYDOCS.runs, PYDOCS.qrels).save(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5000


def told(chart) -> str:
    """The specification of a chart; the views are numbered anew, since Altair 5 counts on from chart to chart."""
    numbers: dict[str, str] = {}
    written = json.dumps(chart.to_dict(), sort_keys=True)
    return re.sub(r"view_\d+", lambda view: numbers.setdefault(view[0], f"view {len(numbers)}"), written)


@pytest.mark.whole("all charts, twice")
def test_the_same_call_makes_the_same_chart(per_query, days):
    shown = per_query.select("run", "query_id", "AP")
    calls = [every(shown, days, "AP", "bm25", "tfidf") for _ in range(2)]
    first, second = ({name: told(chart) for name, chart in charts.items()} for charts in calls)
    assert first == second


def test_a_chart_can_be_extended(per_query):
    chart = plots.scatter(per_query, "AP", x="bm25", y="tfidf").properties(width=111)
    assert chart.to_dict()["width"] == 111
    assert isinstance(chart + alt.Chart(pl.DataFrame({"x": [0]})).mark_rule().encode(x="x:Q"), alt.LayerChart)


@pytest.mark.whole("charts of many queries")
def test_no_chart_of_many_queries_has_too_many_rows_and_all_say_what_they_did(many):
    systems = many["run"].unique(maintain_order=True)
    days = pl.DataFrame({"query_id": range(3000)}).with_columns(
        day=pl.lit(date(2026, 1, 1)) + pl.duration(days=pl.col("query_id") // 10)
    )
    charts = every(many, days, "nDCG@10", systems[0], systems[1])
    for chart in charts.values():
        assert max(sizes(chart)) <= 5000
    said = {
        name: chart.title.subtitle[-1] for name, chart in charts.items() if chart.title.subtitle is not alt.Undefined
    }
    assert said["differences of one"] == "Each bar is the mean of up to 6 neighbouring queries."
    assert said["scatter"] == "A square stands for the queries in a cell of 0.025 x 0.025, at their mean."
    assert charts["distribution"].title.subtitle[0] == "Shades: the share of queries, the stronger the more."
    assert charts["series"].title.subtitle[0].startswith("Mean over queries; intervals of 20 systems are in the")
    assert charts["series"].title.subtitle[0].endswith("In colour: the 5 best at the end.")


# differences


def test_bars_are_the_differences_the_greatest_win_first(per_query):
    wide = per_query.pivot("run", index="query_id", values="nDCG@10")
    wanted = (wide["tfidf"] - wide["bm25"]).sort(descending=True)
    bars = plots.differences(per_query, "nDCG@10", baseline="bm25", run="tfidf").layer[0].data
    assert bars["difference"].to_list() == wanted.to_list()
    assert bars["outcome"].to_list() == ["win" if d > 0 else "loss" if d < 0 else "tie" for d in wanted]
    assert bars["start"].to_list() == list(range(96))


def test_panels_stand_in_the_order_of_their_effect(per_query):
    more = pl.concat([per_query, per_query.filter(run="tfidf").with_columns(pl.col("AP") / 4, run=pl.lit("aaa"))])
    chart = plots.differences(more, "AP", baseline="bm25")
    found = compare(more, "AP", baseline="bm25").sort("difference", descending=True)
    assert [panel.title.text for panel in chart.concat] == found["run"].to_list()


def test_ties_have_a_mark_of_their_own(per_query):
    chart = plots.differences(per_query, "AP", baseline="bm25", run="tfidf").to_dict()
    (ties,) = [layer for layer in chart["layer"] if "tie" in str(layer.get("transform"))]
    assert ties["mark"]["strokeWidth"] >= 3


def test_of_a_cost_the_lowest_difference_is_the_greatest_win(per_query):
    bars = plots.differences(per_query, "Hole@10", baseline="bm25", run="tfidf").layer[0].data
    assert bars["difference"].is_sorted()
    assert bars["outcome"][0] == "win"


def test_bars_say_what_compare_says(per_query):
    chart = plots.differences(per_query, "ndcg_cut_10", baseline="bm25", test="sign", tolerance=0.05)
    found = compare(per_query, baseline="bm25", measures="nDCG@10", test="sign", tolerance=0.05, interval="t")
    found = found.with_columns(low="simultaneous_low", high="simultaneous_high")
    for panel, row in zip(chart.concat, found.to_dicts(), strict=True):
        assert panel.title.text == row["run"]
        assert panel.title.subtitle[0] == f"{row['wins']} wins, {row['ties']} ties, {row['losses']} losses"
        counts = panel.layer[0].data["outcome"].value_counts().sort("outcome")["count"].to_list()
        assert counts == [row["losses"], row["ties"], row["wins"]]
        assert_frame_equal(
            panel.layer[3].data.select("low", "difference", "high", "p_corrected"),
            found.filter(pl.col("run") == row["run"]).select("low", "difference", "high", "p_corrected"),
        )


def test_neighbours_that_share_a_bar_keep_their_sum_and_outcome(many):
    systems = many["run"].unique(maintain_order=True)
    bars = plots.differences(many, "nDCG@10", baseline=systems[0], run=systems[3]).layer[0].data
    found = compare(many, baseline=systems[0]).filter(pl.col("run") == systems[3])
    assert bars.height <= 502
    assert (bars["difference"] * bars["n_queries"]).sum() / 3000 == pytest.approx(found["difference"].item(), abs=1e-12)
    of_wins = bars.filter(pl.col("outcome") == "win")
    assert of_wins["n_queries"].sum() == found["wins"].item()
    assert (of_wins["difference"] > 0).all()


def test_a_difference_that_is_not_defined_leaves_no_line_and_says_why():
    both = {"a": pl.DataFrame({"query_id": ["q", "r"], "AP": [0.5, 1.0]})}
    chart = plots.differences({**both, "b": both["a"]}, "AP", baseline="a")
    assert chart.title.subtitle[0] == (
        "0 wins, 2 ties, 0 losses; mean difference 0.000; p not defined (all differences are 0)"
    )
    assert chart.title.subtitle[1].endswith("not tested.")


@pytest.mark.whole("two charts")
def test_differences_that_floats_alone_make_are_ties():
    values = {"a": [0.3, 0.3], "b": [0.1 + 0.2, 0.5]}
    frames = {name: pl.DataFrame({"query_id": ["q", "r"], "AP": of}) for name, of in values.items()}
    assert plots.differences(frames, "AP", baseline="a").layer[0].data["outcome"].to_list() == ["win", "tie"]
    assert plots.scatter(frames, "AP", x="a", y="b").title.subtitle == ["1 wins of b, 1 ties, 0 losses."]


def test_axes_end_at_the_bounds_of_a_measure_but_for_values_in_another_unit():
    ends = plots.style.ends_of_axis
    assert ends("AP", [0.2, 0.4], [-0.1, 1.5]) == [0, 1]
    assert ends("AP", [0.2, math.nextafter(1, 2)], [-0.1]) == [0, 1]
    assert ends("AP", [20, 40], [-67.9, 167.2]) == [0, 100]
    assert ends("AP", [-20, 40], [-30, 50]) == ends("mine", [-20, 40], [-30, 50]) == [-30, 50]


@pytest.mark.whole("three charts")
def test_zero_is_in_the_middle_of_differences(per_query):
    for chart in (plots.differences(per_query, "AP", baseline="bm25").concat[0], _constant(0.5), _constant(0.0)):
        low, high = chart.layer[0].to_dict()["encoding"]["y"]["scale"]["domain"]
        assert low == -high < 0
        ends = chart.layer[3].data.select("low", "high").unpivot()["value"].drop_nulls()
        assert all(low <= end <= high for end in [*ends, *chart.layer[0].data["difference"]])


def _constant(value: float) -> alt.LayerChart:
    """Differences that are all the same."""
    frames = {name: pl.DataFrame({"query_id": ["q", "r"], "AP": [of, of]}) for name, of in (("a", 0.0), ("b", value))}
    return plots.differences(frames, "AP", baseline="a")


# scatter


def test_queries_with_the_same_values_are_one_point():
    a = pl.DataFrame({"query_id": list("wxyz"), "RR": [1.0, 1.0, 0.5, 0.0]})
    b = pl.DataFrame({"query_id": list("zyxw"), "RR": [0.0, 1.0, 0.5, 0.5]})
    chart = plots.scatter({"a": a, "b": b}, "RR", x="a", y="b")
    assert chart.layer[1].data.rows() == [
        ("w", 1.0, 0.5, "loss", 2),
        ("y", 0.5, 1.0, "win", 1),
        ("z", 0.0, 0.0, "tie", 1),
    ]
    assert chart.title.subtitle == ["1 wins of b, 1 ties, 2 losses."]


def test_points_put_together_are_all_queries(many):
    systems = many["run"].unique(maintain_order=True)
    points = plots.scatter(many, "nDCG@10", x=systems[0], y=systems[1]).layer[1].data
    assert points["n_queries"].sum() == 3000
    mean_of_x = (points["x_value"] * points["n_queries"]).sum() / 3000
    assert mean_of_x == pytest.approx(many.filter(pl.col("run") == systems[0])["nDCG@10"].mean(), abs=1e-12)


def test_from_2000_queries_on_points_are_binned(many):
    systems = many["run"].unique(maintain_order=True)[:2]
    for n, binned in ((1999, False), (2000, True)):
        chart = plots.scatter(many.filter(pl.col("query_id") < n), "nDCG@10", x=systems[0], y=systems[1])
        assert (chart.layer[1].to_dict()["mark"]["type"] == "square") == binned
        assert (chart.layer[1].data.height < n) == binned


# forest


def test_a_forest_is_compare_in_the_order_of_the_first_measure(per_query):
    chart = plots.forest(per_query, baseline="bm25", measures=["nDCG@10", "Hole@10"], test="wilcoxon")
    found = compare(per_query, baseline="bm25", measures=["nDCG@10", "Hole@10"], test="wilcoxon", interval="t")
    drawn = pl.concat([panel.layer[1].data for panel in chart.concat])
    assert_frame_equal(drawn.drop("verdict"), found)
    # Both are worse than the baseline: lower where higher is better, and higher where lower is.
    assert drawn["verdict"].to_list() == ["significantly worse"] * 4
    assert found["difference"].sign().to_list() == [-1, -1, 1, 1]
    assert chart.to_dict()["concat"][0]["layer"][1]["encoding"]["y"]["sort"] == ["chargrams", "tfidf"]


def test_what_is_not_tested_has_a_shape_of_its_own():
    one = pl.DataFrame({"query_id": ["q", "r"], "AP": [0.5, 1.0]})
    chart = plots.forest({"a": one, "b": one}, baseline="a")
    assert chart.layer[1].data["verdict"].to_list() == ["not tested"]


# distribution


def test_a_dot_is_a_query_of_few_and_a_twentieth_of_many():
    few = pl.DataFrame({"query_id": range(9), "DCG": [4.0, 2.0, 1.0, 3.0, 5.0, 8.0, 7.0, 6.0, 20.0]})
    chart = plots.distribution(few)
    dots, means = (chart.layer[i].data for i in (0, 1))
    assert dots["value"].to_list() == sorted(few["DCG"])
    assert chart.title.subtitle[0] == "Each dot is a query."
    assert means.select("run", "n_queries", "mean").rows() == [("", 9, 56 / 9)]
    # Of 100 values, 0 to 99, the middle ones of each five.
    many = pl.DataFrame({"query_id": range(100), "DCG": [float((37 * i) % 100) for i in range(100)]})
    chart = plots.distribution(many)
    assert chart.layer[0].data["value"].to_list() == [2.0 + 5 * i for i in range(20)]
    assert chart.title.subtitle[0] == "Each dot is one of 20 equal parts of the queries."


def test_dots_of_equal_values_stand_on_each_other():
    values = pl.DataFrame({"query_id": range(10), "RR": [1.0] * 4 + [0.5] * 6})
    dots = plots.distribution(values).layer[0].data
    heights = dots.group_by("stacked_at", maintain_order=True).agg(
        pl.len(), step=pl.col("height").diff().round(9).drop_nulls().unique()
    )
    assert heights["len"].to_list() == [6, 4]
    assert [len(step) for step in heights["step"]] == [1, 1]


def test_from_1000_queries_on_bars_hold_the_shares_of_all_of_them(many):
    bars = plots.distribution(many).layer[0].data
    assert bars.group_by("run").agg(pl.col("n_queries").sum())["n_queries"].unique().to_list() == [3000]
    first = many.filter(pl.col("run") == many["run"][0])["nDCG@10"]
    for row in bars.filter(pl.col("run") == many["run"][0]).head(39).iter_rows(named=True):
        inside = first.is_between(row["low"] + 1e-12, row["high"] - 1e-12).sum()
        assert abs(row["n_queries"] - inside) <= 1
        assert row["share"] == row["n_queries"] / 3000


def test_many_queries_of_one_value_are_bars_too():
    systems = {f"s{i}": pl.DataFrame({"query_id": range(60), "Success@10": [1.0] * 59 + [0.0]}) for i in range(12)}
    strips, bars = plots.distribution(systems), plots.distribution({name: systems[name] for name in ("s0", "s1")})
    assert strips.title.subtitle[0] == "Shades: the share of queries, the stronger the more."
    assert bars.title.subtitle[0].startswith("Bars: the share of queries, the highest of each system")
    for chart, shades in ((strips, 12), (bars, 0)):
        marks = chart.layer[0].to_dict()
        assert ("fillOpacity" in marks["encoding"]) == bool(shades)
        heights = chart.layer[0].data.select((pl.col("top") - pl.col("floor")).round(9).unique())
        assert heights.height == (1 if shades else 2)  # cells, or bars of 59 and of one query
        assert not [layer for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == "text"]


def test_means_have_the_interval_of_summarize(per_query):
    found = summarize(per_query)
    means = plots.distribution(per_query, "AP").layer[1].data
    assert_frame_equal(means.select(found.columns), found.filter(pl.col("measure") == "AP"))


def test_undefined_values_are_no_dots():
    some = pl.DataFrame({"run": ["a", "a", "b"], "query_id": ["q", "r", "q"], "AP": [0.5, None, None]})
    dots, means = (plots.distribution(some).layer[i].data for i in (0, 1))
    assert dots.select("run", "value").rows() == [("a", 0.5)]
    assert means.select("run", "n_queries").rows() == [("a", 1)]


# ranks


@pytest.mark.whole("a second")
def test_a_chart_of_ranks_is_ranks(per_query):
    chart = plots.ranks(per_query, ["nDCG@10", "Hole@10"], alpha=0.1)
    found = ir.ranks(per_query, ["nDCG@10", "Hole@10"], alpha=0.1)
    drawn = pl.concat([panel.data for panel in chart.concat])
    assert_frame_equal(drawn.drop("group"), found)
    assert drawn["group"].to_list() == ["may be first" if tied else "is not first" for tied in found["tied_with_first"]]
    assert titles(chart) == [{"system", "rank by nDCG@10"}, {"system", "rank by Hole@10 (lower is better)"}]
    assert "confidence of 90%" in chart.title.subtitle[0]


# heatmap


def test_shades_go_from_the_worst_to_the_best_of_each_measure(per_query):
    chart = plots.heatmap(per_query, ["nDCG@10", "Hole@10"])
    cells, means = chart.data, mean(per_query)
    for measure, best in (("nDCG@10", means["nDCG@10"].max()), ("Hole@10", means["Hole@10"].min())):
        column = cells.filter(pl.col("measure") == measure)
        assert sorted(column["mean"]) == sorted(means[measure])
        assert column.filter(pl.col("shade") == 1)["mean"].to_list() == [best]
        assert column["shade"].min() == 0
    assert cells["run"].head(3).to_list() == ["bm25", "chargrams", "tfidf"]
    assert chart.title.subtitle == [
        "Shades run from the worst to the best system of each measure.",
        "Lower is better for Hole@10.",
    ]


def test_cells_of_equal_and_of_undefined_means():
    means = pl.DataFrame(
        {"run": ["a", "b"], "query_id": ["q", "q"], "AP": [0.5, 0.5], "RR": [None, 1.0], "NumRet": [1000, 12000]}
    )
    cells = plots.heatmap(means).data
    assert cells["text"].to_list() == ["0.500", "0.500", "\N{EN DASH}", "1.000", "1,000", "12,000"]
    assert cells["shade"].to_list() == [0.5, 0.5, None, 0.5, 0, 1]
    # Their means differ in the last bit.
    sums = pl.DataFrame({"run": ["a", "a", "b", "b"], "query_id": ["p", "q"] * 2, "AP": [0.1, 0.2, 0.3, 0.0]})
    assert plots.heatmap(sums).data["shade"].to_list() == [0.5, 0.5]


# cutoffs, precision_recall


@pytest.mark.parametrize("measure", ["P", "precision", ir.precision])
def test_a_curve_of_cutoffs_is_summarize(measure):
    chart = plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, measure, k=[10, 1])
    found = summarize(ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["P@1", "P@10"]), interval="t")
    columns = ["run", "mean", "low", "high", "n_queries"]
    assert_frame_equal(chart.data.sort("k", "run").select(columns), found.sort("measure", "run").select(columns))
    assert chart.title.text == "P by cutoff"
    assert chart.to_dict()["layer"][1]["encoding"]["y"]["title"] == "P@k"


def test_a_curve_of_one_lazy_run_is_drawn():
    run = PYDOCS.runs.filter(pl.col("run") == "bm25").drop("run")
    chart = plots.cutoffs(run.lazy(), PYDOCS.qrels, k=[5])
    assert chart.data["mean"].to_list() == ir.mean(ir.evaluate(run, PYDOCS.qrels, "nDCG@5"))["nDCG@5"].to_list()
    assert chart.to_dict()["layer"][0]["encoding"]["color"]["legend"] is None


def test_precision_at_recall_by_hand():
    # Both relevant documents are found at ranks 1 and 4. Up to 0.7 of them, rounded, is one of them; from 0.8 on both.
    chart = plots.precision_recall({"q": ["d1", "x", "y", "d2"]}, {"q": ["d1", "d2"]})
    assert chart.data["recall"].to_list() == [i / 10 for i in range(11)]
    assert chart.data["mean"].to_list() == [1.0] * 8 + [0.5] * 3


def test_a_curve_of_differences_is_compare():
    chart = plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "P", k=[1, 10], baseline="bm25", alpha=0.1)
    found = compare(ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["P@1", "P@10"]), baseline="bm25", alpha=0.1)
    drawn = chart.data.sort("k", "run").select("run", "low", "high", difference="mean")
    assert_frame_equal(drawn, found.sort("measure", "run").select("run", "low", "high", "difference"))
    assert chart.title.text == "P by cutoff: differences from bm25"
    assert chart.title.subtitle == ["Mean difference over queries with its 90% interval (t)."]


def test_names_at_the_ends_of_lines_do_not_overlap():
    systems = {f"s{i}": PYDOCS.runs.filter(run="bm25").drop("run") for i in range(4)}
    chart = plots.cutoffs(systems, PYDOCS.qrels, "P", k=[1, 10])
    places = chart.layer[-1].data["place"].sort().diff().drop_nulls()
    assert (places > 0).all()
    assert chart.layer[-1].data["run"].sort().to_list() == list(systems)


def test_of_six_systems_the_best_five_at_the_last_cutoff_are_in_colour():
    bm25 = PYDOCS.runs.filter(run="bm25").drop("run")
    systems = {f"s{n}": bm25.filter(pl.col("score").rank("ordinal").over("query_id") > 4 * n) for n in range(6)}
    info = plots.cutoffs(systems, PYDOCS.qrels, "R", k=[1, 100]).to_dict()
    scale = info["layer"][0]["encoding"]["color"]["scale"]
    greys = [name for name, colour in zip(scale["domain"], scale["range"], strict=True) if colour == plots.style.GREY]
    assert greys == ["s5"]


def test_the_curve_of_precision_has_the_intervals_of_summarize():
    chart = plots.precision_recall(PYDOCS.runs, PYDOCS.qrels)
    found = summarize(ir.evaluate(PYDOCS.runs, PYDOCS.qrels, "IPrec@0.5"))
    at_half = chart.data.filter(recall=0.5).sort("run")
    assert at_half["low"].to_list() == found.sort("run")["low"].to_list()
    assert at_half["high"].to_list() == found.sort("run")["high"].to_list()


# series


@pytest.mark.whole("a second")
def test_a_series_is_drift(per_query, days):
    chart = plots.series(per_query, days, every="1w", measures=["nDCG@10", "AP"], alpha=0.5)
    found = drift(per_query, days, every="1w", measures=["nDCG@10", "AP"], alpha=0.5)
    assert_frame_equal(pl.concat([panel.data for panel in chart.concat]), found)
    assert titles(chart)[0] == {"time (every 1w)", "nDCG@10"}
    assert titles(chart)[1] == {"time (every 1w)", "AP"}


@pytest.mark.whole("a second")
def test_every_stretch_has_a_tick_and_its_number_of_queries(per_query, days):
    chart = plots.series(per_query, days, every="1w", measures="AP")
    info = chart.to_dict()
    buckets = chart.data["bucket"].unique()
    assert len(info["layer"][0]["encoding"]["x"]["axis"]["values"]) == len(buckets)
    (sizes,) = [
        layer.data
        for layer in chart.layer
        if "n_queries" in layer.to_dict()["encoding"].get("text", {}).get("field", "")
    ]
    assert sizes["n_queries"].sum() == 96


def test_a_ring_has_the_colour_of_its_system():
    log = pl.DataFrame({"query_id": range(90), "day": [d for d in range(9) for _ in range(10)]})
    values = pl.Series([0.8 + i % 3 / 100 - (i >= 60) * 0.5 for i in range(90)])
    both = {"steady": log.with_columns(AP=0.8 + pl.col("query_id") % 3 / 100), "falls": log.with_columns(AP=values)}
    chart = plots.series(both, "day", measures="AP")
    drifted = chart.data.filter(pl.col("drifted"))
    assert drifted["run"].unique().to_list() == ["falls"]
    rings = [layer for layer in chart.to_dict()["layer"] if layer["mark"].get("filled") is False]
    assert [ring["encoding"]["color"]["field"] for ring in rings] == ["run"]


def test_buckets_that_are_no_times_keep_their_order():
    # As texts, v10 stands before v9; their order is that of the type.
    versions = pl.Enum(["v9", "v10"])
    log = pl.DataFrame({"query_id": range(4), "AP": [0.1, 0.2, 0.3, 0.4], "version": ["v10", "v9", "v10", "v9"]})
    chart = plots.series(log.cast({"version": versions}), "version", min_queries=2)
    assert chart.to_dict()["layer"][0]["encoding"]["x"]["sort"] == ["v9", "v10"]
    assert chart.data["mean"].to_list() == pytest.approx([0.3, 0.2])
    stretches = [timedelta(days=day) for day in (2, 10, 2, 10)]
    chart = plots.series(log.with_columns(version=pl.Series(stretches)), "version", min_queries=2)
    assert chart.layer[0].encoding.x["sort"] == ["P2D", "P10D"]


@pytest.mark.parametrize(("zone", "hour", "form"), [(None, 0, "%Y-%m-%d"), ("Asia/Kolkata", 3, "%Y-%m-%d %H:%M")])
def test_times_of_an_axis_are_those_of_the_clock(zone, hour, form):
    at = pl.Series([datetime(2026, 1, day, hour, tzinfo=UTC) for day in (1, 2)] * 2).dt.replace_time_zone(zone)
    log = pl.DataFrame({"query_id": range(4), "AP": [0.1, 0.2, 0.3, 0.4], "at": at})
    axis = plots.series(log, "at", min_queries=2).layer[0].encoding.x["axis"]
    assert (axis["values"][0], axis["format"]) == (datetime(2026, 1, 1, hour, tzinfo=UTC).timestamp() * 1000, form)


# systems


def contrast(one: str, other: str) -> float:
    """WCAG's contrast of two colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def colours(info) -> set:
    """The colours that a specification names outside its data."""
    if isinstance(info, list):
        return set().union(*map(colours, info))
    if isinstance(info, dict):
        return set().union(*(colours(value) for key, value in info.items() if key not in ("datasets", "config")))
    return {info} if isinstance(info, str) and info.startswith("#") and len(info) == 7 else set()


@pytest.mark.whole("all charts")
def test_every_colour_stands_out_on_a_light_and_on_a_dark_background(per_query, days):
    charts = every(per_query, days, "AP", "bm25", "tfidf")
    on_cells = colours(charts.pop("heatmap").to_dict())
    assert on_cells == {"#FFFFFF", "#000000"}  # the text of the cells, on their own shades
    charts["cutoffs"] = plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, baseline="bm25")
    for name, chart in charts.items():
        for colour in colours(chart.to_dict()):
            assert min(contrast(colour, back) for back in ("#FFFFFF", "#333333")) >= 3, (name, colour)


@pytest.mark.whole("all charts, drawn")
def test_charts_are_drawn_in_the_dark_theme(per_query, days, tmp_path):
    with alt.theme.enable("dark"):
        for name, chart in every(per_query, days, "AP", "bm25", "tfidf").items():
            chart.save(tmp_path / f"{name}.svg")
            drawn = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
            assert 'stroke="black"' not in drawn, name
            assert 'stroke="#000"' not in drawn, name
            assert name == "heatmap" or 'fill="#000"' not in drawn, name


@pytest.mark.whole("drawn")
def test_a_click_on_a_system_is_seen_in_every_panel(per_query, days):
    charts = {
        "series": plots.series(per_query, days, ["AP", "nDCG@10"], every="1w"),
        "distribution": plots.distribution(per_query),
        "forest": plots.forest(per_query, baseline="bm25"),
        "ranks": plots.ranks(per_query),
    }
    for name, chart in charts.items():
        info = chart.to_dict()
        (param,) = [param for param in info["params"] if param["name"] == "system"]
        assert param["select"]["fields"] == ["run"]
        # With a legend of the systems that takes the clicks; without one, the marks of every panel.
        views = {layer.get("name") for panel in info["concat"] for layer in panel["layer"]}.intersection(param["views"])
        assert name == "series" or len(views) == len(info["concat"]), name
        for panel in info["concat"]:
            assert any("opacity" in layer["encoding"] for layer in panel["layer"]), name


@pytest.mark.whole("a second")
def test_a_click_chooses_by_columns_of_the_per_query_frame(per_query):
    names = "nDCG@10", "bm25"
    charts = {
        "query": [plots.scatter(per_query, *names, "tfidf"), plots.differences(per_query, *names)],
        "system": [plots.heatmap(per_query), plots.forest(per_query, baseline="bm25")],
    }
    for name, of_name in charts.items():
        for chart in of_name:
            (param,) = chart.to_dict()["params"]
            assert param["name"] == name
            assert set(param["select"]["fields"]) < set(per_query.columns)


@pytest.mark.parametrize(("test", "told"), [("t", "t, holm"), ("tukey", "tukey"), ("max-t", "max-t")])
@pytest.mark.whole("a second a case")
def test_a_test_of_all_comparisons_is_not_said_to_be_corrected(per_query, test, told):
    options = {"baseline": "bm25", "test": test, "resamples": 200}
    assert plots.forest(per_query, **options).title.subtitle[0].endswith(f"({told}).")
    assert f"p by {told};" in plots.differences(per_query, "AP", **options).title.subtitle[0]


def test_ranks_are_whole_numbers_on_their_axis(per_query):
    panels = plots.ranks(per_query).to_dict()["concat"]
    axes = [
        layer["encoding"]["x"]["axis"]
        for panel in panels
        for layer in panel["layer"]
        if "axis" in layer["encoding"]["x"]
    ]
    assert len(axes) == len(panels)
    assert all(axis["format"] == "d" and all(isinstance(tick, int) for tick in axis["values"]) for axis in axes)


def lab(colour: str, seen_as: list[list[float]]) -> np.ndarray:
    """CIELAB of a colour as some see it."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(seen_as) @ linear, 0, 1)
    to_xyz = [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
    x, y, z = (np.cbrt(part) for part in to_xyz @ linear / [0.9505, 1, 1.0888])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


#: Colours as most see them, and those who lack a kind of cone: Machado et al. 2009, doi 10.1109/TVCG.2009.113.
SIGHTS = {
    "most": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "deuteranopia": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "tritanopia": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9309, 0.1476], [0.0047, 0.6914, 0.3039]],
}


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_colours_of_systems_can_be_told_apart(sight):
    seen = [lab(colour, SIGHTS[sight]) for colour in plots.style.PALETTE]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 14


def test_there_are_as_many_dashes_and_shapes_as_colours():
    assert len(plots.style.PALETTE) == len(plots.style.DASHES) == len(plots.style.SHAPES)


def titles(chart) -> list[set]:
    """The titles of the axes of each panel; every axis has one."""
    info = chart.to_dict()
    panels = []
    for panel in info.get("concat", [info]):
        places = [layer["encoding"].get(axis, {}) for layer in panel["layer"] for axis in "xy"]
        panels.append({place["title"] for place in places if place.get("title")})
    return panels


@pytest.mark.whole("all charts")
def test_every_axis_has_a_title(per_query, days):
    for name, chart in every(per_query, days, "AP", "bm25", "tfidf").items():
        assert {len(panel) for panel in titles(chart)} == {2}, name


LONG = "organisation/a-model-of-many-words-finetuned-version-{}-reranked"


@pytest.mark.whole("drawn")
def test_long_names_are_shortened_in_the_middle(per_query, tmp_path):
    systems = dict(zip(("bm25", "chargrams", "tfidf"), map(LONG.format, range(3)), strict=True))
    renamed = per_query.with_columns(pl.col("run").replace(systems))
    for draw in (plots.ranks, plots.distribution):
        draw(renamed, "AP").save(tmp_path / "chart.svg")
        drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
        assert ">organisation/a-mode\u2026d-version-1-reranked<" in drawn
        assert drawn.count(">organisation/a-model") == 0
    assert plots.style.shortened("as it is") == "as it is"


def test_lines_of_many_systems_are_named_at_their_ends_and_nowhere_else():
    bm25 = PYDOCS.runs.filter(run="bm25").drop("run")
    info = plots.cutoffs({f"s{n}": bm25 for n in range(7)}, PYDOCS.qrels, "R", k=[1, 100]).to_dict()
    legends = [
        encoding["legend"]
        for layer in info["layer"]
        for encoding in layer["encoding"].values()
        if isinstance(encoding, dict) and "legend" in encoding
    ]
    assert set(legends) == {None}
    (param,) = info["params"]
    assert "bind" not in param


def scales(info: dict) -> set[str]:
    """The scales of colours, shapes and dashes of systems in all panels, as texts."""
    return {
        json.dumps([channel, layer["encoding"][channel]["scale"]])
        for panel in info["concat"]
        for layer in panel["layer"]
        for channel in ("color", "shape", "strokeDash")
        if isinstance(layer["encoding"].get(channel), dict) and "scale" in layer["encoding"][channel]
    }


def small() -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run of a few queries, and their judgments."""
    few = pl.col("query_id") < "q05"
    return PYDOCS.runs.filter(few, run="bm25").drop("run"), PYDOCS.qrels.filter(few)


@pytest.mark.whole("charts of panels")
def test_a_system_has_one_colour_in_all_panels():
    # Which are the best, and which comes first in a panel, differs from panel to panel.
    grid = pl.DataFrame({"query_id": range(12)}).join(
        pl.DataFrame({"run": list("abcdefg"), "n": range(7)}), how="cross"
    )
    grid = grid.with_columns(day=pl.col("query_id") // 4, AP=pl.col("n") / 8, RR=(6 - pl.col("n")) / 8).drop("n")
    series = plots.series(grid, "day", ["AP", "RR"], min_queries=2)
    assert series.title.subtitle[0].endswith("In colour: the 5 best at the end by AP.")
    bm25, qrels = small()
    days = [
        bm25.with_columns(run=pl.lit(name), day=pl.lit(day))
        for day, names in (("mon", "abcdefg"), ("tue", "gfedcba"))
        for name in names
    ]
    cutoffs = plots.cutoffs(pl.concat(days), qrels, "P", k=[1, 5], by="day")
    for chart in (series, cutoffs):
        info = chart.to_dict()
        assert len(info["concat"]) == 2
        assert len(scales(info)) == 3
        assert "color" not in info.get("resolve", {}).get("scale", {})


def test_grey_lines_have_names_too_where_there_is_room():
    bm25, qrels = small()
    for n, named in ((7, 7), (24, 5)):
        names = plots.cutoffs({f"s{i:02}": bm25 for i in range(n)}, qrels, "R", k=[1, 100]).layer[-1].data
        assert (names.height, names["bold"].sum()) == (named, 5)


@pytest.mark.whole("drawn")
def test_names_of_any_characters_are_drawn_as_they_are(per_query, tmp_path):
    odd = {"bm25": "a\\b\nc", "chargrams": "d\\u\t'\"", "tfidf": "\u202etxt.exe"}
    renamed = per_query.with_columns(pl.col("run").replace(odd)).rename({"AP": "A\\x\nP"})
    first, second, third = odd.values()
    for chart in (
        plots.forest(renamed, baseline=first, measures="A\\x\nP"),
        plots.scatter(renamed, "A\\x\nP", x=first, y=third),
        plots.differences(renamed, "A\\x\nP", baseline=first, run=third),
        plots.distribution(renamed, "A\\x\nP"),
        plots.ranks(renamed, "A\\x\nP"),
    ):
        chart.save(tmp_path / "chart.svg")
        drawn = html.unescape((tmp_path / "chart.svg").read_text(encoding="utf-8")).replace("\u2060", "")
        assert "\\u202etxt.exe" in drawn
        assert ">A\\x\\u000aP" in drawn
        assert not set("\u202e\x08\x0b") & set(drawn)
    assert second in renamed["run"]


@pytest.mark.whole("a second")
def test_dots_have_one_size_in_all_panels(per_query):
    few = per_query.with_columns(half=pl.col("AP") / 2, quarters=(pl.col("AP") * 4).round() / 4)
    panels = plots.distribution(few, ["AP", "half", "quarters"]).to_dict()["concat"]
    sizes = {panel["layer"][0]["mark"]["size"] for panel in panels if panel["layer"][0]["mark"]["type"] == "circle"}
    assert len(sizes) == 1


@pytest.mark.whole("a second")
def test_pandas_and_dicts_make_the_same_chart(per_query):
    pytest.importorskip("pandas")
    wanted = told(plots.forest(per_query, baseline="bm25"))
    apart = {str(run): frame.drop("run") for (run,), frame in per_query.partition_by("run", as_dict=True).items()}
    for given in (per_query.to_pandas(), apart):
        assert told(plots.forest(given, baseline="bm25")) == wanted


def test_methods_are_the_functions_with_the_frame(per_query):
    assert told(per_query.ir.plot.heatmap("AP")) == told(plots.heatmap(per_query, "AP"))


# bad input


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda f: plots.differences(f, "nDCG@10", baseline="bm52"), ["baseline names", "Did you mean 'bm25'"]),
        (
            lambda f: plots.differences(f, "nDCG@10", baseline="bm25", run="tfdf"),
            ["run names", "Did you mean 'tfidf'"],
        ),
        (lambda f: plots.differences(f, "nDCG@10", baseline="bm25", run="bm25"), ["another system", "'bm25'"]),
        (lambda f: plots.differences(f, ["nDCG@10", "AP"], baseline="bm25"), ["one measure", "'nDCG@10', 'AP'"]),
        (lambda f: plots.differences(f, "RR", baseline="bm25"), ["no measure 'RR'"]),
        (lambda f: plots.differences(f, "AP", baselin="bm25"), ["Did you mean 'baseline'"]),
        (
            lambda f: plots.differences(f.lazy(), "AP", baseline="bm25"),
            ["ir.plots.differences", "LazyFrame", "collect"],
        ),
        (lambda f: plots.scatter(f, "AP", x="bm25", y="bm25"), ["two systems"]),
        (lambda f: plots.scatter(f, "AP", x="bm25", y="tfidd"), ["y names", "'tfidf'"]),
        (lambda f: plots.scatter(f, "AP", x="bm25", y="tfidf", tolerance=-1), ["tolerance", "-1"]),
        (lambda f: plots.scatter(f.drop("run"), "AP", x="bm25", y="tfidf"), ["several systems"]),
        (lambda f: plots.forest(f, baseline="bm25", test="T"), ["test must be one of"]),
        (lambda f: plots.distribution(f.with_columns(AP=float("nan"))), ["'AP' is NaN"]),
        (lambda f: plots.distribution(f.head(0)), ["no row"]),
        (lambda f: plots.heatmap(f, "RR"), ["no measure 'RR'"]),
        (lambda f: plots.series(f, "day"), ["by must name a column", "'day'"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "nDCG@5"), ["without a cutoff", "'nDCG@5'"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "nDGC"), ["Did you mean"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "AP", k=[0, 5]), ["whole numbers, 1 or more", "[0]"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "AP", k="5"), ["whole numbers", "'5'"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "bpref"), ["bpref has no parameter 'k'"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, lambda k: k), ["must give a Polars expression"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "AP", k=[]), ["whole numbers"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, 3), ["a measure is a name"]),
        (lambda _: plots.precision_recall(PYDOCS.runs, PYDOCS.qrels, rel="a"), ["rel"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, k=1, baseline="bm52"), ["Did you mean 'bm25'"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, k=1, baseline="bm25", alpha="a"), ["alpha must"]),
        (lambda f: plots.ranks(f.filter(run="bm25")), ["several systems"]),
    ],
)
def test_what_can_not_be_drawn_is_an_error_that_says_so(per_query, draw, words):
    message = message_of(lambda: draw(per_query))
    assert [word for word in words if word not in message] == []


@pytest.mark.whole("a summary of 5,001 days")
def test_a_series_of_too_many_stretches_says_what_to_do():
    times = pl.DataFrame({"query_id": range(10_002), "AP": 0.5}).with_columns(at=pl.col("query_id") // 2)
    with pytest.raises(ir.IRError, match=r"up to 5,000 marks; this one would have 5,001\. .*every="):
        plots.series(times, "at")


def test_bars_and_title_count_the_same_ties():
    values = {"a": [0.4, 0.3, 0.9], "b": [0.3, 0.2, 0.5]}
    frames = {name: pl.DataFrame({"query_id": ["q1", "q2", "q3"], "AP": of_run}) for name, of_run in values.items()}
    chart = plots.differences(frames, "AP", baseline="b", tolerance=0.1)
    # 0.4 - 0.3 is more than 0.1 in floats, and a tie all the same.
    assert chart.title.subtitle[0].startswith("1 wins, 2 ties, 0 losses")
    assert chart.layer[0].data["outcome"].to_list() == ["win", "tie", "tie"]
