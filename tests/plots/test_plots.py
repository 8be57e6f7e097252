"""Charts: what they are drawn from, what they say, and that they can be drawn."""

from datetime import date, timedelta

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.per_query.drifting import drift
from polars_ir.per_query.summary import mean, summarize
from polars_ir.per_query.systems import compare

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
        "forest": plots.forest(per_query, baseline=baseline),
        "distribution": plots.distribution(per_query),
        "heatmap": plots.heatmap(per_query),
        "series": plots.series(per_query, days, every="1w", measures=measure),
    }


def sizes(chart) -> list[int]:
    return [len(rows) for rows in chart.to_dict()["datasets"].values()]


def fields(spec) -> set:
    """The fields of all encodings of a specification."""
    if isinstance(spec, list):
        return set().union(*map(fields, spec))
    if not isinstance(spec, dict):
        return set()
    own = {spec["field"]} if isinstance(spec.get("field"), str) else set()
    return own.union(*(fields(value) for key, value in spec.items() if key != "datasets"))


def test_every_chart_is_drawn_whatever_measures_and_systems_are_called(per_query, days, tmp_path):
    odd = per_query.rename(ODD).with_columns(pl.col("run").replace({"bm25": "b.m[2]:5'\"", "tfidf": "tf\\idf"}))
    for name, chart in every(odd, days, ODD["AP"], "b.m[2]:5'\"", "tf\\idf").items():
        spec = chart.to_dict()
        assert all(field.isidentifier() for field in fields(spec)), name
        chart.save(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5000


def test_charts_of_runs_are_drawn(tmp_path):
    for name, draw in {"cutoffs": plots.cutoffs, "precision_recall": plots.precision_recall}.items():
        draw(PYDOCS.runs, PYDOCS.qrels).save(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5000


def test_the_same_call_makes_the_same_chart(per_query, days):
    shown = per_query.select("run", "query_id", "AP")
    calls = [every(shown, days, "AP", "bm25", "tfidf") for _ in range(2)]
    first, second = ({name: chart.to_dict() for name, chart in charts.items()} for charts in calls)
    assert first == second


def test_a_chart_can_be_extended(per_query):
    chart = plots.scatter(per_query, "AP", x="bm25", y="tfidf").properties(width=111)
    assert chart.to_dict()["width"] == 111
    assert isinstance(chart + alt.Chart(pl.DataFrame({"x": [0]})).mark_rule().encode(x="x:Q"), alt.LayerChart)


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
    assert said["differences of one"] == "Each bar is the mean of up to 6 queries next to each other."
    assert said["scatter"] == "A point stands for the queries in a cell of 0.025 x 0.025, at their mean."
    assert (
        said["distribution"]
        == "A point is one of up to 15 queries next to each other by value; boxes are of all queries."
    )
    assert charts["series"].title.subtitle[0].startswith("Mean over queries. Intervals of 20 systems would hide")


# differences


def test_bars_are_the_differences_the_greatest_win_first(per_query):
    wide = per_query.pivot("run", index="query_id", values="nDCG@10")
    wanted = (wide["tfidf"] - wide["bm25"]).sort(descending=True)
    bars = plots.differences(per_query, "nDCG@10", baseline="bm25", run="tfidf").layer[0].data
    assert bars["difference"].to_list() == wanted.to_list()
    assert bars["outcome"].to_list() == ["win" if d > 0 else "loss" if d < 0 else "tie" for d in wanted]
    assert bars["start"].to_list() == list(range(96))


def test_of_a_cost_the_lowest_difference_is_the_greatest_win(per_query):
    bars = plots.differences(per_query, "Hole@10", baseline="bm25", run="tfidf").layer[0].data
    assert bars["difference"].is_sorted()
    assert bars["outcome"][0] == "win"


def test_bars_say_what_compare_says(per_query):
    chart = plots.differences(per_query, "ndcg_cut_10", baseline="bm25", test="sign", tolerance=0.05)
    found = compare(per_query, baseline="bm25", measures="nDCG@10", test="sign", tolerance=0.05)
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


# forest


def test_a_forest_is_compare_in_the_order_of_the_first_measure(per_query):
    chart = plots.forest(per_query, baseline="bm25", measures=["nDCG@10", "Hole@10"], test="wilcoxon")
    found = compare(per_query, baseline="bm25", measures=["nDCG@10", "Hole@10"], test="wilcoxon")
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


def test_boxes_by_hand():
    # Quartiles of 1 to 9 are 3, 5 and 7; whiskers reach to 7 + 1.5 * 4 = 13, so that 20 is beyond them.
    values = pl.DataFrame({"query_id": range(9), "DCG": [4.0, 2.0, 1.0, 3.0, 5.0, 8.0, 7.0, 6.0, 20.0]})
    strip, box = (plots.distribution(values).layer[i].data for i in (0, 1))
    assert box.rows() == [("", 1.0, 3.0, 5.0, 7.0, 8.0, 56 / 9, 9)]
    assert strip["value"].to_list() == sorted(values["DCG"])


def test_a_strip_samples_neighbours_evenly_and_the_box_is_of_all(many):
    strip, box = (plots.distribution(many).layer[i].data for i in (0, 1))
    assert strip.group_by("run").len()["len"].unique().to_list() == [200]
    first = many["run"][0]
    wanted = many.filter(pl.col("run") == first)["nDCG@10"].sort().gather_every(15, 7)
    assert strip.filter(pl.col("run") == first)["value"].to_list() == wanted.to_list()
    assert box["n_queries"].to_list() == [3000] * 20
    assert strip["jitter"].is_between(0, 1).all()


def test_undefined_values_are_no_points():
    some = pl.DataFrame({"run": ["a", "a", "b"], "query_id": ["q", "r", "q"], "AP": [0.5, None, None]})
    strip, box = (plots.distribution(some).layer[i].data for i in (0, 1))
    assert strip.select("run", "value").rows() == [("a", 0.5)]
    assert box.select("run", "n_queries").rows() == [("a", 1)]


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
    assert chart.title.subtitle == ["Lower is better for Hole@10."]


def test_cells_of_equal_and_of_undefined_means():
    means = pl.DataFrame(
        {"run": ["a", "b"], "query_id": ["q", "q"], "AP": [0.5, 0.5], "RR": [None, 1.0], "NumRet": [1000, 12000]}
    )
    cells = plots.heatmap(means).data
    assert cells["text"].to_list() == ["0.500", "0.500", "\N{EN DASH}", "1.000", "1,000", "12,000"]
    assert cells["shade"].to_list() == [0.5, 0.5, None, 0.5, 0, 1]


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


# series


def test_a_series_is_drift(per_query, days):
    chart = plots.series(per_query, days, every="1w", measures=["nDCG@10", "AP"], alpha=0.5)
    found = drift(per_query, days, every="1w", measures=["nDCG@10", "AP"], alpha=0.5)
    assert_frame_equal(pl.concat([panel.data for panel in chart.concat]), found)
    assert [panel.title.text for panel in chart.concat] == ["nDCG@10", "AP"]


def test_buckets_that_are_no_times_keep_their_order():
    # As texts, v10 stands before v9; their order is that of the type.
    versions = pl.Enum(["v9", "v10"])
    log = pl.DataFrame({"query_id": range(4), "AP": [0.1, 0.2, 0.3, 0.4], "version": ["v10", "v9", "v10", "v9"]})
    chart = plots.series(log.cast({"version": versions}), "version", min_queries=2)
    assert chart.to_dict()["layer"][0]["encoding"]["x"]["sort"] == ["v9", "v10"]
    assert chart.data["mean"].to_list() == pytest.approx([0.3, 0.2])


# systems


def test_up_to_35_lines_and_42_points_look_different():
    looks = {"dash": (plots.style.DASHES, 35), "shape": (plots.style.SHAPES, 42)}
    for channel, (kinds, number) in looks.items():
        systems = [str(i) for i in range(number)]
        colours = plots.style.colour(systems).to_dict()["scale"]["range"]
        others = getattr(plots.style, channel)(systems).to_dict()["scale"]["range"]
        assert len(kinds) * 7 == number
        assert len({(a, str(b)) for a, b in zip(colours, others, strict=True)}) == number


def test_pandas_and_dicts_make_the_same_chart(per_query):
    pytest.importorskip("pandas")
    wanted = plots.forest(per_query, baseline="bm25").to_dict()
    apart = {str(run): frame.drop("run") for (run,), frame in per_query.partition_by("run", as_dict=True).items()}
    for given in (per_query.to_pandas(), apart):
        assert plots.forest(given, baseline="bm25").to_dict() == wanted


def test_methods_are_the_functions_with_the_frame(per_query):
    assert per_query.ir.plot.heatmap("AP").to_dict() == plots.heatmap(per_query, "AP").to_dict()


# bad input


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda f: plots.differences(f, "nDCG@10", baseline="bm52"), ["baseline must be", "Did you mean 'bm25'"]),
        (
            lambda f: plots.differences(f, "nDCG@10", baseline="bm25", run="tfdf"),
            ["run must be", "Did you mean 'tfidf'"],
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
        (lambda f: plots.scatter(f, "AP", x="bm25", y="tfidd"), ["y must be", "'tfidf'"]),
        (lambda f: plots.scatter(f, "AP", x="bm25", y="tfidf", tolerance=-1), ["tolerance", "-1"]),
        (lambda f: plots.scatter(f.drop("run"), "AP", x="bm25", y="tfidf"), ["needs several systems"]),
        (lambda f: plots.forest(f, baseline="bm25", test="T"), ["test must be one of"]),
        (lambda f: plots.distribution(f.with_columns(AP=float("nan"))), ["'AP' is NaN"]),
        (lambda f: plots.distribution(f.head(0)), ["no row"]),
        (lambda f: plots.heatmap(f, "RR"), ["no measure 'RR'"]),
        (lambda f: plots.series(f, "day"), ["by must name a column", "'day'"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "nDCG@5"), ["without a cutoff", "'nDCG@5'"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "nDGC"), ["Did you mean"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "AP", k=[0, 5]), ["whole numbers from 1", "[0]"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "AP", k="5"), ["whole numbers", "'5'"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "bpref"), ["bpref has no parameter 'k'"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, lambda k: k), ["a measure is a name"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, "AP", k=[]), ["whole numbers"]),
        (lambda _: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, 3), ["a measure is a name"]),
        (lambda _: plots.precision_recall(PYDOCS.runs, PYDOCS.qrels, rel="a"), ["rel"]),
    ],
)
def test_what_can_not_be_drawn_is_an_error_that_says_so(per_query, draw, words):
    with pytest.raises(ir.IRError) as error:
        draw(per_query)
    for word in words:
        assert word in str(error.value)


def test_a_series_of_too_many_stretches_says_what_to_do():
    times = pl.DataFrame({"query_id": range(5001), "AP": 0.5}).with_columns(at=pl.col("query_id"))
    with pytest.raises(ir.IRError, match=r"up to 5,000 marks; this one would have 5,001\. .*every="):
        plots.series(times, "at")


def test_bars_and_title_count_the_same_ties():
    values = {"a": [0.4, 0.3, 0.9], "b": [0.3, 0.2, 0.5]}
    frames = {name: pl.DataFrame({"query_id": ["q1", "q2", "q3"], "AP": of_run}) for name, of_run in values.items()}
    chart = plots.differences(frames, "AP", baseline="b", tolerance=0.1)
    # 0.4 - 0.3 is more than 0.1 in floats, and a tie all the same.
    assert chart.title.subtitle[0].startswith("1 wins, 2 ties, 0 losses")
    assert chart.layer[0].data["outcome"].to_list() == ["win", "tie", "tie"]
