"""Frames with a row for each night, system and query: named, a night is as it is alone; else they are refused."""

import datetime as dt
import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_ir as ir
from polars_ir.per_query.assert_no_worse import as_text as gate_text
from polars_ir.per_query.shared.attributes import texts_of

PYDOCS = ir.datasets.load("pydocs")
NIGHTS = [dt.date(2026, 11, day) for day in range(1, 5)]


def _night(day: dt.date) -> pl.DataFrame:
    """The runs of a night, each with some documents missing."""
    kept = pl.struct("query_id", "doc_id").hash(seed=day.day) % 10 > 0
    return PYDOCS.runs.filter(kept).select(pl.lit(day).alias("date"), pl.all())


RUNS = pl.concat(map(_night, NIGHTS))
PER_QUERY = ir.evaluate(RUNS, PYDOCS.qrels, ["nDCG@10", "RR"], by="date")


def each_night(verb, frame=PER_QUERY):
    """The results of the nights, each alone."""
    nights = ((day, verb(frame.filter(date=day).drop("date"))) for day in NIGHTS)
    return pl.concat(result.select(pl.lit(day).alias("date"), pl.all()) for day, result in nights)


@pytest.mark.parametrize("order", [1, 2])
def test_means_and_summaries_of_nights_are_those_of_each_alone(order):
    shuffled = PER_QUERY.sample(fraction=1, shuffle=True, seed=order)
    means = each_night(ir.mean)
    assert_frame_equal(shuffled.ir.mean(by="date"), means, check_exact=True)
    assert_frame_equal(shuffled.lazy().ir.mean(by="date").collect(), means, rel_tol=1e-13, abs_tol=0)
    summaries = each_night(ir.summarize).sort("measure", "date", "run")
    assert_frame_equal(shuffled.ir.summarize(by=["date"]).sort("measure", "date", "run"), summaries, check_exact=True)


def test_comparisons_of_nights_are_those_of_each_alone_but_for_their_correction():
    of_all = ["p_corrected", "significant", "simultaneous_low", "simultaneous_high"]
    compared = PER_QUERY.ir.compare(by="date", baseline="bm25").drop(of_all)
    alone = each_night(lambda night: night.ir.compare(baseline="bm25").drop(of_all))
    assert_frame_equal(compared, alone, check_exact=True)


def test_a_collection_counts_once_by_cluster():
    collections = PER_QUERY.rename({"date": "collection"})
    means = collections.ir.mean(by="collection")
    macro = collections.ir.summarize(cluster="collection").filter(measure="RR").select("run", "mean")
    expected = means.group_by("run").agg(mean=pl.col("RR").mean()).sort("run")
    assert_frame_equal(macro, expected)
    ranks = collections.ir.ranks("RR", cluster="collection")
    assert ranks["n_queries"].unique().to_list() == [len(NIGHTS)]
    assert ranks["run"].to_list() == expected.sort("mean", descending=True)["run"].to_list()


@pytest.mark.parametrize(
    "verb", [ir.mean, ir.summarize, ir.compare, ir.ranks, lambda frame: ir.worst_slices(frame, "run_of")]
)
def test_frames_of_nights_are_refused_with_their_column(verb):
    with pytest.raises(ir.IRError, match=r"They are of several 'date': .*by=.*'date'") as raised:
        verb(PER_QUERY.with_columns(run_of=pl.lit("x")))
    assert "unique" not in str(raised.value)


def test_plans_of_nights_are_refused_with_their_column():
    with pytest.raises(pl.exceptions.PolarsError, match="name what distinguishes them: by='date'"):
        PER_QUERY.lazy().ir.mean().collect()


def test_comparisons_of_plans_of_nights_are_refused_with_their_column():
    new, old = (PER_QUERY.filter(run=run).lazy() for run in ("tfidf", "bm25"))
    for call in (lambda: PER_QUERY.lazy().ir.compare(["RR"]), lambda: ir.gate(new, old, "RR", max_drop=0.5)):
        with pytest.raises(ir.IRError, match="Name what distinguishes them: by='date'"):
            call()


def test_keys_of_two_frames_have_one_type_and_no_name_of_a_verdict():
    new, old = (PER_QUERY.filter(run=run) for run in ("tfidf", "bm25"))
    for dtype in (pl.String, pl.Datetime, pl.Categorical):
        other = old.with_columns(pl.col("date").cast(pl.String if dtype == pl.Categorical else dtype).cast(dtype))
        with pytest.raises(ir.IRError, match="a key must have one type in both frames; 'date' is Date in new and"):
            ir.gate(new, other, "RR")
    with pytest.raises(
        ir.IRError, match="a key or a column of slices may not be called 'note', like one of the result"
    ):
        ir.gate(new.rename({"date": "note"}), old.rename({"date": "note"}), "RR", by="note")


def test_two_keys_are_both_named():
    both = pl.concat([PER_QUERY.with_columns(tenant=pl.lit(name)) for name in "xy"])
    with pytest.raises(ir.IRError, match="They are of several 'tenant', 'date'") as raised:
        both.ir.mean()
    assert "by=['tenant', 'date']" in str(raised.value)
    with pytest.raises(ir.IRError, match=r"by=\['date', 'tenant'\]") as raised:
        both.ir.mean(by="date")
    assert "q01" in str(raised.value), "queries are shown by their ids"
    assert both.ir.mean(by=["tenant", "date"]).height == 2 * PER_QUERY.ir.mean(by="date").height
    for over_time in (ir.drift, ir.plots.series):
        with pytest.raises(ir.IRError, match=r"keep one, such as the last: per_query.filter\(pl.col\('tenant'\)"):
            over_time(both, "date")


@pytest.mark.parametrize("verb", [lambda frame: ir.mean(frame, by="date"), ir.mean, ir.power])
def test_a_row_that_is_there_twice_is_still_an_error(verb):
    loaded_again = pl.concat([PER_QUERY, PER_QUERY.filter(date=NIGHTS[2])])
    with pytest.raises(ir.IRError, match=r"repeat the ids of another \(date, run, query_id\)") as raised:
        verb(loaded_again)
    assert "per_query.unique(['date', 'run', 'query_id'], keep='first')" in str(raised.value)
    verb(loaded_again.unique(["date", "run", "query_id"], keep="first").filter(date=NIGHTS[2]))


@pytest.mark.parametrize(
    "call",
    [
        lambda rows: ir.geo_risk(rows, "RR"),
        pytest.param(ir.discriminative_power, marks=pytest.mark.whole("0.6 s, as the other")),
    ],
)
def test_a_call_without_by_is_refused_with_the_line_that_keeps_one(call):
    line = "per_query.filter(pl.col('date') == pl.col('date').max())"
    with pytest.raises(ir.IRError, match="They are of several 'date': keep one, such as the last: ") as raised:
        call(PER_QUERY)
    assert f"the last: {line}. " in str(raised.value)
    call(PER_QUERY.filter(pl.col("date") == pl.col("date").max()))
    of_pandas = re.escape("per_query[lambda rows: rows['date'] == rows['date'].max()]")
    with pytest.raises(ir.IRError, match=of_pandas):
        call(PER_QUERY.to_pandas())


def test_a_table_of_nights_has_the_columns_of_each():
    columns = []
    for night in NIGHTS[:2]:
        text = ir.table(PER_QUERY.filter(date=night).drop("date"), test=None, order="RR", format="markdown")
        cells = [line.strip("| ").split("|") for line in text.splitlines() if line.startswith("|")]
        columns.append([[cell.strip() for cell in row] for row in cells])
    both = ir.table(PER_QUERY.filter(pl.col("date") <= NIGHTS[1]), by="date", test=None, order="RR", format="markdown")
    found = [[cell.strip() for cell in line.strip("| ").split("|")] for line in both.splitlines() if line[:1] == "|"]
    assert found[0][-4:] == [f"{night} {name}" for night in NIGHTS[:2] for name in ("nDCG@10", "RR")]
    assert found[2:] == [[*first, *second[1:]] for first, second in zip(columns[0][2:], columns[1][2:], strict=True)]
    assert both.count("96 queries") == 1


def test_a_table_of_nights_marks_what_compare_finds():
    two = PER_QUERY.filter(pl.col("date") <= NIGHTS[1])
    compared = two.ir.compare(["RR"], by="date", baseline="bm25")
    text = ir.table(two, ["RR"], by="date", baseline="bm25", show="p", format="markdown")
    for p in compared["p_corrected"]:
        assert ("<.001" if p < 0.001 else f"{p:.3f}"[1:]) in text
    assert text.count("</sup> ") == compared["significant"].sum() > 0
    renamed = two.rename({"date": "self"})
    assert ir.table(renamed, ["RR"], by="self", baseline="bm25", show="p", format="markdown") == text
    with pytest.raises(ir.IRError, match=r"by names 'dates'.* Did you mean 'date'"):
        ir.table(two, by="dates", format="markdown")


def test_a_system_without_a_night_counts_0_in_its_columns():
    lacking = PER_QUERY.filter(pl.col("date") <= NIGHTS[1]).filter(
        (pl.col("run") != "tfidf") | (pl.col("date") == NIGHTS[1])
    )
    text = ir.table(lacking, ["RR"], by="date", format="markdown")
    assert "| tfidf (c)     | 0.0000 " in text
    assert f"{NIGHTS[0]}: Queries without an answer count as 0: 96 of tfidf." in text
    text = ir.table(lacking, ["RR"], by="date", missing="skip", format="markdown")
    assert f"{NIGHTS[0]}: Queries without an answer are left out: 96 of tfidf." in text


SLICED = PER_QUERY.join(PYDOCS.queries.select("query_id", "category"), on="query_id")


@pytest.mark.parametrize("baseline", [None, "bm25"])
def test_slices_of_nights_are_those_of_each_alone_but_for_their_correction(baseline):
    of_all = ["p_corrected", "significant"]
    found = SLICED.sample(fraction=1, shuffle=True, seed=1).ir.worst_slices(["category", "date"], baseline=baseline)
    alone = each_night(lambda night: night.ir.worst_slices("category", baseline=baseline), SLICED)
    assert_frame_equal(found.drop(of_all), alone.drop(of_all), check_exact=True)


def test_slices_share_no_query():
    instead = r"name what slices queries, too; .* there is: per_query.ir"
    with pytest.raises(ir.IRError, match=rf"(?i)'date', whose values share queries.*{instead}.drift\('date'"):
        SLICED.ir.worst_slices("date")
    tenants = SLICED.rename({"date": "tenant"}).cast({"tenant": pl.String})
    with pytest.raises(ir.IRError, match=rf"(?i){instead}.compare\(systems='tenant'"):
        tenants.ir.worst_slices(["tenant"], baseline="bm25")
    both = pl.concat([SLICED.with_columns(tenant=pl.lit(name)) for name in "xy"])
    assert both.ir.worst_slices(["tenant", "category", "date"]).columns[:3] == ["tenant", "date", "run"]


def _side(name: str) -> pl.DataFrame:
    return PER_QUERY.filter(run=name).drop("run")


def test_a_gate_of_nights_has_the_queries_for_units():
    verdict = ir.gate(_side("tfidf"), _side("bm25"), ["RR"], max_drop=0.1)
    means = PER_QUERY.group_by("run", "query_id").agg(pl.col("RR").mean())
    expected = ir.gate(*(means.filter(run=run).drop("run") for run in ("tfidf", "bm25")), ["RR"], max_drop=0.1)
    assert verdict["n_queries"].to_list() == [96]
    columns = ["difference", "low", "high", "mean", "old_mean"]
    assert_frame_equal(verdict.select(columns), expected.select(columns))
    assert verdict["note"].item().endswith("each query counts once, as the mean of its rows")


@pytest.mark.parametrize(
    "options",
    [{}, {"n_queries": 50}, pytest.param({"max_drop": 0.1, "n_queries": 50}, marks=pytest.mark.whole("0.3 s"))],
)
def test_the_power_of_nights_has_the_queries_for_units(options):
    means = PER_QUERY.group_by("run", "query_id").agg(pl.col("RR").mean())
    plan, of_means = (ir.power(frame, "RR", baseline="bm25", **options) for frame in (PER_QUERY, means))
    assert_frame_equal(plan.drop("note"), of_means.drop("note"))
    assert plan["note"].unique().to_list() == ["each query counts once, as the mean of its rows"]


def test_the_power_of_a_plan_of_nights_is_refused():
    with pytest.raises(ir.IRError, match="Keep one of each; or, as a query counts once, collect it first"):
        ir.power(PER_QUERY.lazy(), "RR")


@pytest.mark.whole("a second")
def test_a_gate_by_nights_has_a_row_for_each_as_alone():
    verdict = ir.gate(_side("tfidf"), _side("bm25"), ["RR", "nDCG@10"], max_drop=0.1, by="date")
    alone = []
    for day in NIGHTS:
        new, old = (_side(run).filter(date=day).drop("date") for run in ("tfidf", "bm25"))
        alone.append(ir.gate(new, old, ["RR", "nDCG@10"], max_drop=0.1).select(pl.lit(day).alias("date"), pl.all()))
    # p is corrected for all rows of a call.
    assert_frame_equal(verdict.drop("p", "note"), pl.concat(alone).drop("p", "note"), check_exact=True)
    assert (verdict["p"] >= pl.concat(alone)["p"]).all()
    twice = ir.gate(_side("tfidf"), _side("bm25"), ["RR", "nDCG@10"], max_drop=0.1, by=["date", "date"])
    assert_frame_equal(twice, verdict, check_exact=True)
    assert gate_text(verdict, {"alpha": 0.05, "looks": None}).startswith("2026-11-01 RR: dropped")


def test_a_gate_by_systems_has_a_row_for_each_as_alone():
    new, old = (PER_QUERY.filter(date=day) for day in NIGHTS[:2])
    verdicts = ir.gate(new, old, "RR", by="run", max_drop=0.5)
    alone = [
        ir.gate(new.filter(run=run), old.filter(run=run), "RR", max_drop=0.5).select(pl.lit(run).alias("run"), pl.all())
        for run in ("bm25", "chargrams", "tfidf")
    ]
    assert_frame_equal(verdicts.drop("p", "note"), pl.concat(alone).drop("p", "note"), check_exact=True)
    assert (verdicts["p"] >= pl.concat(alone)["p"]).all()
    with pytest.raises(ir.IRError, match=r"it has 3: .* Give by='run' for a verdict on each, or keep one: new.filter"):
        ir.gate(new, old, "RR")


def test_a_gate_pairs_nights_of_both_and_tells_of_others():
    new = _side("tfidf").filter(pl.col("date") != NIGHTS[0])
    with pytest.warns(ir.IRWarning, match="values of 'date' in only one frame are left out .1.: 2026-11-01"):
        assert ir.gate(new, _side("bm25"), "RR", by="date").height == 3
    tonight, before = _side("bm25").filter(date=NIGHTS[1]), _side("bm25").filter(date=NIGHTS[0])
    assert ir.gate(tonight, before, "RR")["n_queries"].item() == 96
    with pytest.raises(ir.IRError, match="new has no column 'date', which distinguishes the rows of a query"):
        ir.gate(tonight.drop("date"), _side("bm25"), "RR")
    with pytest.raises(ir.IRError, match="a key must have one type in both frames; 'date' is Date in new and String"):
        ir.gate(_side("bm25"), _side("bm25").cast({"date": pl.String}), "RR", by="date")
    other = _side("bm25").with_columns(pl.col("date").dt.offset_by("1y"))
    with pytest.raises(ir.IRError, match="'2026-11-01', '2026-11-02', '2026-11-03'; old has '2027-11-01'"):
        ir.gate(_side("bm25").reverse(), other, "RR", by="date")
    with pytest.raises(ir.IRError, match="must have the same queries and 'date'; they share none"):
        ir.gate(_side("bm25"), other, "RR")


def test_days_are_compared_as_systems():
    of_one = PER_QUERY.filter(run="bm25")
    as_systems = of_one.drop("run").rename({"date": "run"}).cast({"run": pl.String})
    expected = as_systems.ir.compare("RR", baseline="2026-11-01")
    for baseline in ("2026-11-01", NIGHTS[0]):
        assert_frame_equal(of_one.ir.compare("RR", baseline=baseline, systems="date"), expected)
    with pytest.raises(ir.IRError, match=r"several systems, too. Keep one: per_query.filter"):
        PER_QUERY.ir.compare(systems="date")
    with pytest.raises(ir.IRError, match="Did you mean 'date'"):
        of_one.ir.compare(systems="dates")


def test_ranks_of_nights_are_those_of_each_alone():
    assert_frame_equal(PER_QUERY.ir.ranks(by="date"), each_night(ir.ranks), check_exact=True)


def _nights(n_nights: int, shift: float) -> pl.DataFrame:
    """Nights of a hundred queries that differ far more than their nights do; the last is shifted."""
    query, night = pl.col("query_id"), pl.col("night")
    noise = (pl.struct("query_id", "night").hash(seed=7) % 1000) / 1000 - 0.5
    rows = pl.DataFrame({"query_id": range(100)}).join(pl.DataFrame({"night": range(n_nights)}), how="cross")
    shifted = pl.when(night == n_nights - 1).then(shift).otherwise(0)
    return rows.with_columns(AP=0.1 + 0.008 * query + 0.04 * noise + shifted)


def test_drift_pairs_the_queries_of_nights():
    rows = _nights(12, 0.02)
    course = rows.ir.drift("night")
    assert course["drifted"].to_list() == [None] * 4 + [False] * 7 + [True]
    assert course["note"].str.contains("paired").all()
    # As if other queries came each night, it does not show.
    fresh = rows.with_columns(query_id=pl.col("query_id") + 1000 * pl.col("night")).ir.drift("night")
    assert not fresh["drifted"].any()
    last = course.row(-1, named=True)
    wide = rows.pivot("night", index="query_id", values="AP").drop("query_id").to_numpy()
    means = wide[:, :4].mean(axis=0)
    differences = wide[:, 11] - wide[:, :4].mean(axis=1)
    of_queries = stats.ttest_1samp(differences, 0)
    t = differences.mean() / (means.std(ddof=1) * 1.25**0.5)
    of_nights = 2 * stats.t.sf(abs(t), 3)
    assert last["difference"] == pytest.approx(differences.mean())
    assert last["p"] == pytest.approx(max(of_queries.pvalue, of_nights))
    assert last["statistic"] == pytest.approx(t if of_nights > of_queries.pvalue else of_queries.statistic)


def test_drift_tells_of_queries_that_were_judged_otherwise():
    fewer = PYDOCS.qrels.filter((pl.col("query_id") != "q01") | (pl.col("relevance") > 0))
    assert fewer.height < PYDOCS.qrels.height
    nights = [
        ir.evaluate(RUNS.filter(date=night), qrels, "RR", by="date", provenance=True)
        for night, qrels in zip(NIGHTS, [PYDOCS.qrels] * 3 + [fewer], strict=True)
    ]
    with pytest.warns(ir.IRWarning, match="has 1 queries with different judgments in different rows"):
        pl.concat(nights).ir.drift("date", "RR", reference=2)
    pl.concat(nights[:3]).ir.drift("date", "RR", reference=2)


def test_drift_of_few_nights_is_the_paired_t_of_the_queries():
    rows = _nights(3, 0.01)
    course = rows.ir.drift("night", reference=2)
    days = rows.with_columns(run=pl.when(pl.col("night") < 2).then(pl.lit("before")).otherwise(pl.lit("after")))
    means = days.group_by("run", "query_id").agg(pl.col("AP").mean())
    expected = means.ir.compare(baseline="before")
    assert course["p"][-1] == pytest.approx(expected["p"].item())
    assert "fewer than 4 buckets of reference" in course["note"][-1]


def test_drift_of_nights_that_share_few_queries_has_no_test():
    rows = _nights(3, 0.0).filter((pl.col("night") < 2) | (pl.col("query_id") < 3))
    assert rows.ir.drift("night", reference=2)["note"][-1].startswith("3 queries of all these buckets; a test needs 5")


def _drawn(chart) -> list[pl.DataFrame]:
    """The rows of the layers of a chart, without what places them on its axes and what corrects their p."""
    placed = ["stacked_at", "height", "floor", "zero"]
    corrected = ["p_corrected", "simultaneous_low", "simultaneous_high", "significant", "verdict"]
    frames = [each for each in (chart.data, *(layer.data for layer in chart.layer)) if isinstance(each, pl.DataFrame)]
    return [each for frame in frames if (each := frame.drop(*placed, *corrected, strict=False)).width]


@pytest.mark.whole("1 s a chart")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ranks", ["RR"]),
        ("distribution", ["RR"]),
        ("forest", ["bm25", "RR"]),
        ("differences", ["RR", "bm25", "tfidf"]),
        ("scatter", ["RR", "bm25", "tfidf"]),
    ],
)
def test_a_chart_by_nights_has_the_panel_of_each_alone(name, arguments):
    plots = pytest.importorskip("polars_ir.plots")

    def draw(frame, **by):
        if name == "differences":
            return plots.differences(frame, *arguments[:2], run=arguments[2], **by)
        return getattr(plots, name)(frame, *arguments, **by)

    chart = draw(PER_QUERY.rename({"run": "system"}), by="date")
    headings, alone = [f"date: {day}" for day in NIGHTS], [_drawn(draw(PER_QUERY.filter(date=day))) for day in NIGHTS]
    if name == "differences":
        headings = [f"{heading}, tfidf" for heading in headings]
    panels = [
        panel for part in [chart, *chart.concat] for panel in getattr(part, "concat", []) if hasattr(panel, "layer")
    ]
    assert [panel.title.text for panel in panels] == headings
    for panel, expected in zip(panels, alone, strict=True):
        for rows, of_night in zip(_drawn(panel), expected, strict=True):
            # The band and its p are those of all comparisons that are made at once, the nights' as well.
            its = [each for each in of_night.columns if name != "differences" or each not in ("low", "high", "p")]
            assert_frame_equal(rows.select(its), of_night.select(its), check_row_order=name != "forest")


@pytest.mark.whole("0.5 s; panels as of the other charts")
@pytest.mark.parametrize("name", ["cutoffs", "precision_recall"])
def test_a_chart_of_runs_by_nights_has_the_panel_of_each_alone(name):
    draw = getattr(pytest.importorskip("polars_ir.plots"), name)
    chart = draw(RUNS, PYDOCS.qrels, by="date")
    for panel, day in zip(chart.concat, NIGHTS, strict=True):
        assert panel.title.text == f"date: {day}"
        expected = draw(RUNS.filter(date=day).drop("date"), PYDOCS.qrels).data
        assert_frame_equal(panel.data.select(expected.columns), expected, check_row_order=False)


def test_a_heatmap_by_nights_has_a_column_for_each():
    plots = pytest.importorskip("polars_ir.plots")
    cells = plots.heatmap(PER_QUERY.sort("date", descending=True), "RR", by="date").data
    means = PER_QUERY.ir.mean(by="date").select("run", pl.col("date").cast(pl.String).alias("part"), mean="RR")
    assert_frame_equal(cells.select("run", "part", "mean"), means, check_row_order=False)
    assert (cells["shade"].min(), cells["shade"].max()) == (0.0, 1.0)
    # A key may be called as a column of the chart's own.
    assert plots.heatmap(PER_QUERY.rename({"date": "part"}), "RR", by="part").data.equals(
        plots.heatmap(PER_QUERY, "RR", by="date").data
    )
    several = plots.heatmap(PER_QUERY, by=["date"])
    assert [panel.title.text for panel in several.concat] == ["nDCG@10", "RR"]


def test_a_chart_has_twelve_panels_at_most_and_tells_of_queries_that_a_system_lacks():
    plots = pytest.importorskip("polars_ir.plots")
    with pytest.raises(
        ir.IRError, match=r"up to 12 panels; 384 values of 'query_of', 'date' make 384\. Keep some of the values"
    ):
        plots.ranks(PER_QUERY.with_columns(query_of="query_id"), "RR", by=["query_of", "date"])
    lacking = PER_QUERY.filter((pl.col("date") != NIGHTS[1]) | (pl.col("run") != "tfidf"))
    shown = plots.scatter(lacking, "RR", "bm25", "tfidf", by="date")
    assert shown.title.subtitle[-1] == "Queries that one of two systems lacks, up to 96, count 0 for it."


def test_keys_in_words_are_without_the_digits_of_rounding():
    assert texts_of([(0.1 + 0.2, "x"), (1.0, "y")]) == ["0.3, x", "1, y"]
    assert texts_of([(0.1 + 0.2,), (0.3,)]) == ["0.30000000000000004", "0.3"]


def test_a_chart_over_nights_draws_what_drift_finds():
    plots = pytest.importorskip("polars_ir.plots")
    chart = plots.series(PER_QUERY, "date", "RR")
    expected = PER_QUERY.ir.drift("date", "RR")
    drawn = pl.DataFrame(chart.data).sort("run", "bucket")
    assert drawn["mean"].to_list() == expected.sort("run", "bucket")["mean"].to_list()


@pytest.mark.parametrize("numbers", [False, True])
def test_weights_and_clusters_of_other_frames_are_of_the_queries_of_each_night(numbers):
    query = pl.col("query_id")
    ids = query.str.slice(1).cast(pl.Int64) if numbers else query
    frame = PER_QUERY.with_columns(query_id=ids)
    weights = PYDOCS.queries.select(query_id=ids, asked=pl.col("text").str.len_chars())
    expected = each_night(lambda night: night.ir.mean(weights=weights), frame)
    assert_frame_equal(frame.ir.mean(by="date", weights=weights), expected, check_exact=True)
    assert_frame_equal(frame.lazy().ir.mean(by="date", weights=weights).collect(), expected, check_exact=True)
    of_queries = PYDOCS.queries.select("category", query_id=ids)
    summaries = each_night(lambda night: night.ir.summarize(cluster=of_queries), frame).sort("measure", "date", "run")
    found = frame.ir.summarize(by="date", cluster=of_queries).sort("measure", "date", "run")
    assert_frame_equal(found, summaries, check_exact=True)


NULL = PER_QUERY.with_columns(date=pl.when(pl.col("query_id") != "q03").then("date"))
OF_CATEGORY = NULL.join(PYDOCS.queries.select("query_id", "category"), on="query_id")


@pytest.mark.parametrize(
    "call",
    [
        lambda: NULL.ir.mean(by="date"),
        lambda: NULL.ir.ranks(by="date"),
        lambda: NULL.ir.drift("date"),
        lambda: OF_CATEGORY.ir.worst_slices(["date", "category"]),
        lambda: NULL.filter(run="bm25").ir.compare(systems="date"),
        lambda: ir.gate(NULL.filter(run="bm25"), _side("tfidf"), "RR"),
        lambda: ir.gate(NULL.filter(run="bm25"), _side("tfidf"), "RR", by="date"),
    ],
)
def test_rows_without_a_key_are_an_error_that_names_it(call):
    with pytest.raises(ir.IRError, match=r"rows whose 'date' is null\. Leave them out: ") as raised:
        call()
    assert "q03" in str(raised.value)


def test_times_name_systems_as_python_writes_them():
    times = PER_QUERY.filter(run="bm25").with_columns(pl.col("date").cast(pl.Datetime("us")))
    expected = PER_QUERY.filter(run="bm25").ir.compare("RR", systems="date", baseline=NIGHTS[1])
    found = times.ir.compare("RR", systems="date", baseline="2026-11-02 00:00:00")
    assert set(found["baseline"]) == {"2026-11-02 00:00:00"}
    assert_frame_equal(found.drop("run", "baseline"), expected.drop("run", "baseline"))
    as_text = PER_QUERY.filter(run="bm25").cast({"date": pl.String})
    assert_frame_equal(as_text.ir.compare("RR", systems="date", baseline=NIGHTS[1]), expected)


def test_a_key_that_is_called_like_a_cost_is_one():
    frame = pl.DataFrame(
        {"query_id": [*"abcd"] * 2, "chunk_size": [256] * 4 + [512] * 4, "AP": [0.1, 0.2, 0.3, 0.4] * 2}
    )
    assert "each query counts once" in ir.gate(frame, frame, "AP", max_drop=0.5)["note"].item()
