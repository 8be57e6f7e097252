"""Figures by each judge, agreement of judges, and the judgments of several made one."""

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir

DRAW = random.Random(46)
RUN = pl.DataFrame(
    [(s, f"q{q}", f"d{d}", DRAW.randrange(4)) for s in "ab" for q in range(6) for d in DRAW.sample(range(20), 8)],
    schema=["run", "query_id", "doc_id", "score"],
    orient="row",
)
#: The third judge lacks a query, and each some documents.
QRELS = pl.DataFrame(
    [
        (judge, f"q{q}", f"d{d}", DRAW.randrange(3))
        for judge, n in (("people", 7), ("m1", 7), ("m2", 5))
        for q in range(n)
        for d in DRAW.sample(range(20), 9)
    ],
    schema=["judge", "query_id", "doc_id", "relevance"],
    orient="row",
)
MEASURES = ["nDCG@5", "AP", "RR", "NumRet", pl.col("judged_elsewhere").sum().alias("elsewhere")]


def each_alone(run, qrels, measures, **options):
    """The figures of a call per judge, below each other."""
    parts = []
    for (judge,), of_judge in sorted(qrels.partition_by("judge", as_dict=True, include_key=False).items()):
        result = ir.evaluate(run, of_judge, measures, **options)
        parts.append(result.select(pl.lit(judge).alias("judge"), pl.all()))
    return pl.concat(parts).drop("provenance", strict=False)


@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
@pytest.mark.parametrize(
    "options",
    [{}, {"missing": "skip"}, {"judged_only": True}, {"ties": "input"}, {"ties": "best"}, {"provenance": True}],
    ids=str,
)
def test_figures_by_judge_are_those_of_a_call_per_judge(options):
    expected = each_alone(RUN, QRELS, MEASURES, **options)
    for run, qrels in ((RUN, QRELS), (RUN, ir.judgments(QRELS)), (RUN.lazy(), QRELS.lazy()), (RUN, QRELS.lazy())):
        result = ir.evaluate(run, qrels, MEASURES, by="judge", **options)
        assert isinstance(result, type(run))
        rows = result.lazy().drop("provenance", strict=False).collect(engine="streaming")
        assert_frame_equal(rows, expected, check_exact=True)


@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
def test_bounds_subtopics_and_preferences_are_by_judge_too():
    topics = QRELS.with_columns(subtopic="s" + (pl.col("doc_id").hash() % 3).cast(pl.String))
    for qrels, measures, options in (
        (QRELS, ["nDCG@5"], {"bounds": True}),
        (topics, ["alpha_nDCG@5"], {}),
        (QRELS, ["nDCG@5"], {"exclude": {"q1": ["d1", "d3"]}, "duplicates": "first"}),
    ):
        expected = each_alone(RUN, qrels, measures, **options)
        assert_frame_equal(ir.evaluate(RUN, qrels, measures, by="judge", **options), expected, check_exact=True)
    with pytest.raises(ir.IRError, match=r"by which preferences are counted anyway. Rename it, and name that: qrels"):
        ir.evaluate(RUN, QRELS, "prefs_simp", by="judge")
    renamed = ir.evaluate(RUN, QRELS.rename({"judge": "assessor"}), "prefs_simp", by="assessor")
    assert renamed["prefs_simp"].equals(each_alone(RUN, QRELS, "prefs_simp")["prefs_simp"])
    runs = {name: RUN.filter(run=name).drop("run") for name in "ab"}
    assert_frame_equal(ir.evaluate(runs, QRELS, "AP", by="judge"), each_alone(RUN, QRELS, "AP"), check_exact=True)


def test_functions_of_per_query_frames_know_the_judge_and_other_functions_of_runs_take_it():
    per_query = RUN.ir.ap(QRELS, by="judge")
    m1 = RUN.ir.ap(QRELS.filter(judge="m1").drop("judge"))
    assert per_query.columns == ["judge", "run", "query_id", "AP"]
    assert_frame_equal(ir.mean(per_query, by="judge").filter(judge="m1").drop("judge"), ir.mean(m1))
    assert ir.compare(per_query, "AP", by="judge")["judge"].to_list() == ["m1", "m2", "people"]
    assert "people AP" in str(ir.table(per_query, by="judge"))
    with pytest.raises(ir.IRError, match="name what distinguishes them: by='judge'"):
        ir.mean(per_query)
    relation = ir.judge(RUN, QRELS, by="judge").filter(judge="m2").drop("judge")
    alone = ir.judge(RUN, QRELS.filter(judge="m2").drop("judge"))
    assert_frame_equal(relation, alone.select(relation.columns), check_row_order=False)
    pandas = pytest.importorskip("pandas")
    assert isinstance(frame := ir.evaluate(RUN.to_pandas(), QRELS.to_pandas(), "AP", by="judge"), pandas.DataFrame)
    assert frame["AP"].tolist() == per_query["AP"].to_list()


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        (QRELS.with_columns(judge=pl.when(pl.col("judge") != "m1").then("judge")), "rows whose 'judge' is null"),
        (pl.concat([QRELS, QRELS.head(1)]), r"repeat the ids of another \(judge, query_id, doc_id\)"),
        (QRELS.drop("judge"), "has no column 'judge', which by says"),
    ],
)
def test_judges_that_can_not_be_are_refused(qrels, message):
    with pytest.raises(ir.IRError, match=message):
        ir.evaluate(RUN, qrels, ["AP"], by="judge")
