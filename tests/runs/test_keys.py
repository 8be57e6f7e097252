"""Rankings that columns of the run tell apart, such as days: as each part alone, to the last bit."""

import datetime as dt
import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from tests.support.tuned import tune

MEASURES = ["nDCG@5", "AP", "RR", "P@3", "NumRet", "Judged@5", "Bpref", (1 / ir.rank).max().alias("mine")]
DRAW = random.Random(31)
DAYS = [dt.date(2026, 11, day) for day in range(18, 22)]

#: Three days of two systems, one of which was not run on the last; a query has few rows, some are tied.
RUN = pl.DataFrame(
    [
        (day, system, f"q{query}", f"d{document}", round(DRAW.random(), 1))
        for day in DAYS[:3]
        for system in "ab"
        if (day, system) != (DAYS[2], "b")
        for query in range(8)
        if DRAW.random() < 0.9
        for document in DRAW.sample(range(30), 8)
    ],
    schema=["date", "run", "query_id", "doc_id", "score"],
    orient="row",
).sample(fraction=1, shuffle=True, seed=1)

#: Judgments of every day, and such of days of their own: the first and the last of the run, and a later one.
SHARED = pl.DataFrame(
    [(f"q{query}", f"d{doc}", DRAW.randrange(3)) for query in range(9) for doc in DRAW.sample(range(30), 6)],
    schema=["query_id", "doc_id", "relevance"],
    orient="row",
)
DAILY = pl.DataFrame(
    [
        (day, f"q{query}", f"d{document}", DRAW.randrange(3))
        for day in (DAYS[0], DAYS[2], DAYS[3])
        for query in range(9)
        for document in DRAW.sample(range(30), 6)
    ],
    schema=["date", "query_id", "doc_id", "relevance"],
    orient="row",
)


def alone(run, qrels, measures, by=("date",), **options):
    """The results of each part by itself, below each other."""
    parts, on = [], [] if qrels is None else [key for key in by if key in qrels.columns]
    for values, part in run.partition_by(by, as_dict=True).items():
        key = dict(zip(by, values, strict=True))
        judged = qrels if qrels is None else qrels.filter(**{name: key[name] for name in on}).drop(on)
        result = ir.evaluate(part.drop(by), judged, measures, **options)
        parts.append(result.select(*(pl.lit(value).alias(name) for name, value in key.items()), pl.all()))
    systems = ["run"] if "run" in run.columns else []
    return pl.concat(parts).sort([*by, *systems, "query_id"])


def forms(run, qrels):
    """The tables in memory and as plans."""
    return [(run, qrels), (run.lazy(), qrels), (run.lazy(), qrels.lazy())]


every_way = pytest.mark.whole("every way to the judged relation")


@pytest.fixture(params=["small", *(pytest.param(way, marks=every_way) for way in ("number", "counting", "sorting"))])
def way(request, monkeypatch):
    """The ways in which documents are ranked."""
    limits: dict[str, dict[str, float]] = {
        "small": {"small": 10_000},
        "number": {},
        "counting": {"counted": 0, "deep": 1000, "numbered": 10**9, "together": 10**9},
        "sorting": {"deep": 1},
    }
    tune(monkeypatch, **limits[request.param])
    return request.param


@pytest.mark.usefixtures("way")
@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
@pytest.mark.parametrize("qrels", [SHARED, DAILY], ids=["shared", "daily"])
@pytest.mark.parametrize(
    "options",
    [{}, *(pytest.param(o, marks=every_way) for o in ({"missing": "skip"}, {"judged_only": True}, {"ties": "best"}))],
    ids=str,
)
def test_the_figures_of_days_are_those_of_each_alone(qrels, options):
    for run in (RUN, RUN.filter(run="a").drop("run")):
        expected = alone(run, qrels, MEASURES, **options)
        for rows, judgments in forms(run, qrels):
            result = ir.evaluate(rows, judgments, MEASURES, by="date", **options)
            assert_frame_equal(result.lazy().collect(), expected, check_exact=True)


@pytest.mark.usefixtures("way")
@pytest.mark.whole("every kind of judgments")
@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
@pytest.mark.parametrize("qrels", [SHARED, DAILY], ids=["shared", "daily"])
def test_every_kind_of_judgments_takes_keys(qrels):
    topics = qrels.with_columns(subtopic="s" + (pl.col("doc_id").hash() % 3).cast(pl.String))
    judges = pl.concat([qrels.with_columns(judge=pl.lit("x")), qrels.with_columns(pl.lit("y").alias("judge"))])
    elsewhere = pl.col("judged_elsewhere").sum().alias("elsewhere")
    cases = [
        (topics, ["alpha_nDCG@5", "StRecall@5"], {}),
        (judges, ["nDCG@5", "AP"], {"judges": "judge"}),
        (qrels, ["nDCG@5", "P@3"], {"bounds": True}),
        (qrels, ["infAP", elsewhere, pl.col("score").max().alias("highest")], {}),
        (qrels, ["prefs_simp"], {}),
    ]
    for judgments, measures, options in cases:
        expected = alone(RUN, judgments, measures, **options)
        for run, judged in [(RUN, judgments), (RUN.lazy(), judgments)]:
            result = ir.evaluate(run, judged, measures, by="date", **options).lazy().collect()
            assert_frame_equal(result, expected, check_exact=True)


@pytest.mark.parametrize("columns", [[], ["run"], ["doc_id"]], ids=str)
@pytest.mark.parametrize("options", [{}, {"ties": "best"}, {"judged_only": True}, {"bounds": True}], ids=str)
def test_frames_with_their_grades_take_keys(columns, options):
    labelled = RUN.join(DAILY, on=["date", "query_id", "doc_id"], how="left")
    labelled = (labelled.filter(run="a") if "run" in columns else labelled).drop(columns)
    measures = ["nDCG@5", "AP", "P@3"]
    expected = alone(labelled, None, measures, **options)
    for run in (labelled, labelled.lazy()):
        result = ir.evaluate(run, measures, by="date", **options).lazy().collect()
        assert_frame_equal(result, expected, check_exact=True)


@pytest.mark.usefixtures("way")
def test_several_keys_meet_the_judgments_on_those_that_they_have():
    run = pl.concat(RUN.sample(fraction=0.7, seed=seed).with_columns(tenant=pl.lit(t)) for seed, t in enumerate("uv"))
    by = ["tenant", "date"]
    daily = DAILY.filter(pl.col("date") != DAYS[3]).vstack(DAILY.filter(date=DAYS[0]).with_columns(date=DAYS[1]))
    for qrels in (SHARED, daily):
        expected = alone(run, qrels, ["nDCG@5"], by=by)
        for rows, judgments in forms(run, qrels):
            result = ir.evaluate(rows, judgments, "nDCG@5", by=by).lazy().collect()
            assert result.columns == ["tenant", "date", "run", "query_id", "nDCG@5"]
            assert_frame_equal(result, expected, check_exact=True)


@pytest.mark.usefixtures("way")
@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
def test_a_system_of_a_dict_is_there_on_every_day():
    runs = {name: RUN.filter(run=name).drop("run") for name in "abc"}  # nobody ran c
    parts = []
    for day in DAYS[:3]:
        of_day = {name: run.filter(date=day).drop("date") for name, run in runs.items()}
        result = ir.evaluate(of_day, SHARED, ["AP"])
        parts.append(result.select(pl.lit(day).alias("date"), pl.all()))
    expected = pl.concat(parts)
    lazy = {name: run.lazy() for name, run in runs.items()}
    for given in (runs, lazy):
        assert_frame_equal(ir.evaluate(given, SHARED, ["AP"], by="date").lazy().collect(), expected, check_exact=True)


def test_keys_are_a_column_of_pandas_too_and_a_measure_can_read_them():
    pytest.importorskip("pandas")
    result = ir.evaluate(RUN.to_pandas(), SHARED.to_pandas(), ["AP"], by="date")
    assert list(result.columns) == ["date", "run", "query_id", "AP"]
    assert result["AP"].tolist() == alone(RUN, SHARED, ["AP"])["AP"].to_list()
    day = pl.col("date").first().dt.day().alias("day")
    assert ir.evaluate(RUN, SHARED, day, by="date")["day"].unique().sort().to_list() == [18, 19, 20]


def test_the_methods_of_measures_and_prepared_judgments_take_keys():
    expected = alone(RUN, SHARED, ["nDCG@5"])
    assert_frame_equal(RUN.ir.ndcg(ir.judgments(SHARED), k=5, by=["date"]), expected, check_exact=True)
    first = RUN.filter(date=DAYS[0])
    result = first.ir.ndcg(ir.judgments(DAILY), k=5, by="date")
    assert_frame_equal(result, alone(first, DAILY, ["nDCG@5"]), check_exact=True)


@pytest.mark.parametrize("lazy", [False, True])
def test_days_without_judgments_and_days_that_never_meet_are_told_of(lazy):
    run = RUN.lazy() if lazy else RUN
    with pytest.warns(ir.IRWarning, match="no rows of 'date 2026-11-19', which the result lacks"):
        ir.evaluate(run, DAILY, "AP", by="date").lazy().collect()
    other = RUN.with_columns(
        pl.when(pl.col("date") == DAYS[1]).then("X" + pl.col("doc_id")).otherwise("doc_id").alias("doc_id")
    )
    with pytest.warns(
        ir.IRWarning, match="no retrieved document of 'date 2026-11-19, run a', 'date 2026-11-19, run b'"
    ):
        ir.evaluate(other.lazy() if lazy else other, SHARED, "AP", by="date").lazy().collect()


def test_days_may_name_systems():
    days = RUN.filter(run="a").drop("run").rename({"date": "run"})
    result = ir.evaluate(days, SHARED, "AP")
    assert result["run"].dtype == pl.Date
    assert_frame_equal(result, alone(RUN.filter(run="a").drop("run"), SHARED, ["AP"]).rename({"date": "run"}))


@pytest.mark.parametrize(
    ("run", "qrels", "options", "message"),
    [
        (RUN.with_columns(date=pl.lit(None, pl.Date)), SHARED, {}, "rows whose 'date' is null"),
        (
            RUN.rename({"date": "AP"}),
            SHARED,
            {"by": "AP"},
            "names a column 'AP' of the run, which has the name of a measure",
        ),
        (RUN.with_columns(pl.col("date").cast(pl.String)), DAILY, {}, "a key must have one type on both sides"),
        (
            RUN,
            DAILY.with_columns(pl.col("date").cast(pl.String)),
            {},
            r"qrels.with_columns\(pl.col\('date'\).cast\(pl.String\).str.to_date",
        ),
        (RUN.with_columns(date=1), DAILY, {}, "'date' is Int64 in the run and Date in the qrels"),
        (RUN.drop("date"), DAILY, {}, "has no column 'date', which by says"),
        (
            RUN.rename({"date": "ap"}),
            SHARED,
            {"by": "ap", "names": "sql"},
            "which has the name of a measure. Rename it: run.rename",
        ),
        (RUN.filter(date=DAYS[0]), DAILY, {"by": None}, "'date' distinguishes judgments.* name that: by='date'"),
        (RUN, SHARED, {"by": "dates"}, "Did you mean 'date'"),
        (RUN, SHARED, {"by": ["run"]}, "by names 'run', which distinguishes rankings anyway"),
        (RUN, SHARED, {"by": "score"}, "another meaning here"),
        (RUN.rename({"date": "hit_score"}), SHARED, {"by": "hit_score"}, "another meaning here"),
        (RUN.rename({"date": "provenance"}), SHARED, {"by": "provenance"}, "another meaning here"),
        (
            RUN,
            DAILY.with_columns(pl.col("date").cast(pl.Datetime)),
            {},
            r"qrels.with_columns\(pl.col\('date'\).cast\(pl.Date",
        ),
        (
            RUN.with_columns(pl.col("date").cast(pl.Datetime)),
            DAILY,
            {},
            r"run.with_columns\(pl.col\('date'\).cast\(pl.Date",
        ),
        (RUN.with_columns(date=0.5), SHARED, {}, "must be strings, integers, dates, times or Booleans"),
        (RUN, SHARED, {"by": 3}, "must be the name of a column of the run, or a list of such"),
        (RUN.with_columns(run=pl.struct("run", "date")), SHARED, {}, "An id is one value"),
    ],
)
def test_keys_that_can_not_be_are_refused_with_what_to_do(run, qrels, options, message):
    with pytest.raises(ir.IRError, match=message):
        ir.evaluate(run, qrels, ["AP"], **{"by": "date", **options})


def test_a_plan_fails_for_a_null_key():
    null = RUN.with_columns(date=pl.when(pl.col("query_id") != "q1").then("date"))
    for qrels in (SHARED, DAILY):
        with pytest.raises(pl.exceptions.PolarsError, match="ids, 'date' or scores that are null"):
            ir.evaluate(null.lazy(), qrels.lazy(), ["AP"], by="date").collect()
    with pytest.raises(pl.exceptions.PolarsError, match="ids, 'date' or grades that are null"):
        ir.evaluate(RUN.lazy(), DAILY.with_columns(date=pl.lit(None, pl.Date)).lazy(), ["AP"], by="date").collect()


def test_one_value_of_a_key_is_a_key():
    one = RUN.filter(date=DAYS[0])
    expected = ir.evaluate(one.drop("date"), SHARED, "AP").select(pl.lit(DAYS[0]).alias("date"), pl.all())
    assert_frame_equal(ir.evaluate(one, SHARED, "AP", by="date"), expected)


def test_documents_are_repeated_in_a_ranking_only():
    twice = pl.concat([RUN, RUN.head(3)])
    with pytest.raises(ir.IRError, match=r"6 rows that repeat the ids of another \(date, run, query_id, doc_id\)"):
        ir.evaluate(twice, SHARED, "AP", by="date")


def of_each_day(function, run, qrels):
    """The results of days, each alone."""
    parts = []
    for (day,), part in sorted(run.partition_by("date", as_dict=True, include_key=False).items()):
        judged = qrels.filter(date=day).drop("date") if "date" in qrels.columns else qrels
        parts.append(function(part, judged).select(pl.lit(day).alias("date"), pl.all()))
    return pl.concat(parts)


@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
@pytest.mark.parametrize("qrels", [SHARED, DAILY], ids=["shared", "daily"])
def test_relations_explanations_and_differences_of_days_are_those_of_each_alone(qrels):
    run = RUN.filter(pl.col("date") != DAYS[1])
    order = ["date", "run", "query_id", "doc_id"]
    for unjudged in (False, True):
        relation = ir.judge(run, qrels, unjudged=unjudged, by="date").sort(order)
        lazily = ir.judge(run.lazy(), qrels.lazy(), unjudged=unjudged, by="date").select(relation.columns)
        alone = of_each_day(lambda r, q, of=unjudged: ir.judge(r, q, unjudged=of), run, qrels)
        assert_frame_equal(lazily.collect().sort(order), relation, check_exact=True)
        assert_frame_equal(relation, alone.sort(order).select(relation.columns), check_exact=True)
    explained = ir.explain(run.lazy(), qrels, "nDCG@5", ["q1", "q2"], by=["date"]).collect()
    alone = of_each_day(lambda r, q: ir.explain(r, q, "nDCG@5", ["q1", "q2"]), run, qrels)
    assert_frame_equal(explained, alone, check_exact=True)
    a, b = (run.filter(run=name).drop("run") for name in "ab")
    compared = ir.diff(a, b, qrels, "AP", n_queries=2, by="date").filter(date=DAYS[0])
    days = (rows.filter(date=DAYS[0]).drop("date") for rows in (a, b))
    alone = ir.diff(*days, SHARED if qrels is SHARED else DAILY.filter(date=DAYS[0]).drop("date"), "AP", n_queries=2)
    assert_frame_equal(compared.drop("date"), alone, check_exact=True)


def test_validate_counts_rankings_by_their_keys_and_finds_those_that_are_pooled():
    found = {row["finding"]: row for row in ir.validate(RUN, DAILY, by="date").to_dicts()}
    assert not [finding for finding in found if "duplicates" in finding or "several" in finding]
    unjudged = RUN.filter(date=DAYS[1]).select("run", "query_id").n_unique()
    assert found["queries without judgments"]["count"] == unjudged
    assert found["queries without judgments"]["examples"][0].startswith("2026-11-19 a q")
    retrieved = RUN.select("date", "run", "query_id").unique()
    systems = RUN.select("date", "run").unique()
    judged = DAILY.select("date", "query_id").unique().join(systems, on="date")
    missing = judged.join(retrieved, on=["date", "run", "query_id"], how="anti")
    assert found["judged queries missing from the run"]["count"] == missing.height
    pools = ir.validate(RUN, SHARED).row(0, named=True)
    assert pools["finding"] == "rankings of several days or tenants"
    assert pools["meaning"].endswith("by=['date'] distinguishes them")
    assert pools["count"] == RUN.select("run", "query_id").n_unique()
    lazily = ir.validate(RUN.lazy(), SHARED.lazy())
    assert_frame_equal(lazily.collect(), ir.validate(RUN, SHARED))
    as_text = ir.validate(RUN.with_columns(pl.col("date").cast(pl.String)), DAILY, by="date")
    assert as_text["finding"][0] == "ids of different types"


@pytest.mark.parametrize(
    "call",
    [
        lambda run, **by: ir.judge(run, SHARED, **by),
        lambda run, **by: ir.explain(run, SHARED, "AP", "q1", **by),
        lambda run, **by: ir.diff(*(run.filter(run=name) for name in "ab"), SHARED, "AP", **by),
        lambda run, **by: ir.validate(run, SHARED, **by),
    ],
)
def test_what_looks_into_a_run_takes_its_keys_and_tells_of_those_that_it_pools(call):
    with pytest.raises(ir.IRError, match="'dates', which by says distinguishes rankings"):
        call(RUN, by="dates")
    both = RUN.filter(pl.col("date") != DAYS[2])
    if call(both, by="date").columns[0] == "finding":
        return
    with pytest.raises(ir.IRError, match="by='date'"):
        call(RUN)
    # Days without a document of a query in common repeat none.
    apart = RUN.unique(["run", "query_id", "doc_id"], keep="first", maintain_order=True)
    with pytest.warns(ir.IRWarning, match="several 'date' in a ranking"):
        call(apart)
