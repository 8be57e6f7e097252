"""The stages of a pipeline: what each has, gains and loses, against a count by hand."""

import functools
import random
import re

import polars as pl
import pytest
from messages import message_of
from polars.testing import assert_frame_equal

import polars_ir as ir

FOUND = {"p": ["x", "d"], "q": ["a", "x", "b", "c", "y"]}
FILTERED = {"p": ["x"], "q": ["x", "c", "y"]}
RERANKED = {"p": ["x"], "q": ["c", "a", "y", "x"]}
QRELS = {"p": ["d"], "q": ["a", "b", "c", "n"], "r": ["z"]}
PIPELINE = {"retriever": FOUND, "filter": FILTERED, "reranker": RERANKED}


def test_each_stage_has_gains_and_loses():
    assert ir.stages(PIPELINE, QRELS, k=3).rows() == [
        ("p", "retriever", 1, 1, 0),
        ("p", "filter", 0, 0, 1),
        ("p", "reranker", 0, 0, 0),
        ("q", "retriever", 2, 2, 0),
        ("q", "filter", 1, 1, 2),
        ("q", "reranker", 2, 1, 0),
        ("r", "retriever", 0, 0, 0),
        ("r", "filter", 0, 0, 0),
        ("r", "reranker", 0, 0, 0),
    ]


def test_missing_evidence_names_the_last_stage_that_had_a_document():
    missing = ir.missing_evidence(PIPELINE, QRELS, k=1, stages=True).filter(run="reranker").drop("run")
    assert missing.rows() == [
        ("p", "d", "d", None, "retriever"),
        ("q", "a", "a", 2, "reranker"),
        ("q", "b", "b", None, "retriever"),
        ("q", "n", "n", None, None),
        ("r", "z", "z", None, None),
    ]
    assert "last_stage" not in ir.missing_evidence(PIPELINE, QRELS).columns


def test_the_order_of_a_dict_is_that_of_the_stages():
    turned = dict(reversed(PIPELINE.items()))
    assert ir.stages(turned, QRELS, k=3)["stage"].to_list() == ["reranker", "filter", "retriever"] * 3
    last = ir.missing_evidence(turned, QRELS, k=1, stages=True).filter(run="retriever", query_id="p")
    assert last["last_stage"].to_list() == ["retriever"]


def drawn(seed, n_queries=8):
    """Four stages and judgments of groups."""
    draw = random.Random(seed)
    queries, docs = range(n_queries), [f"d{i}" for i in range(9)]
    runs = {s: {f"q{q}": draw.sample(docs, draw.randint(1, 9)) for q in queries} for s in "zaby"}
    rows = [(f"q{q}", g, d, 1) for q in queries for g in range(3) for d in draw.sample(docs, draw.randint(1, 3))]
    return runs, pl.DataFrame(rows, schema=["query_id", "subtopic", "doc_id", "relevance"], orient="row")


def by_hand(runs, qrels, k):
    groups = qrels.group_by("query_id", "subtopic").agg("doc_id").sort("query_id", "subtopic").rows()
    found, last = [], []
    for query in sorted(set(qrels["query_id"])):
        before = set()
        for stage, run in runs.items():
            now = {g for q, g, docs in groups if q == query and set(docs) & set(run[query][:k])}
            found.append((query, stage, len(now), len(now - before), len(before - now)))
            before = now
    for at, stage in enumerate(runs):
        for query, group, docs in groups:
            if not set(docs) & set(runs[stage][query][:k]):
                had = [s for s in [*runs][: at + 1] if set(docs) & set(runs[s][query])]
                last.append((stage, query, group, had[-1] if had else None))
    return found, last


@pytest.mark.parametrize("seed", range(3))
def test_groups_are_counted_as_by_hand_eager_lazy_and_in_pandas(seed):
    runs, qrels = drawn(seed)
    found, last = by_hand(runs, qrels, 3)
    frames = {
        stage: pl.DataFrame(
            [(q, d, -i) for q, docs in run.items() for i, d in enumerate(docs)],
            schema=["query_id", "doc_id", "score"],
            orient="row",
        ).sample(fraction=1, shuffle=True, seed=1)
        for stage, run in runs.items()
    }
    eager = ir.stages(frames, qrels, k=3)
    assert eager.rows() == found
    missing = ir.missing_evidence(frames, qrels, 3, stages=True)
    assert missing.select("run", "query_id", "subtopic", "last_stage").rows() == last
    plans = {stage: frame.lazy() for stage, frame in frames.items()}
    for engine in ("in-memory", "streaming"):
        assert_frame_equal(ir.stages(plans, qrels.lazy(), k=3).collect(engine=engine), eager)
        assert_frame_equal(ir.missing_evidence(plans, qrels.lazy(), 3, stages=True).collect(engine=engine), missing)
    of_pandas = ir.stages({stage: frame.to_pandas() for stage, frame in frames.items()}, qrels.to_pandas(), k=3)
    assert_frame_equal(pl.from_pandas(of_pandas), eager)
    dated = {stage: frame.with_columns(day=pl.lit("d1")) for stage, frame in frames.items()}
    assert ir.stages(dated, qrels, k=3, by="day").drop("day").equals(eager)


def test_a_stage_that_lacks_a_query_has_lost_all_of_it_and_says_so():
    with pytest.warns(
        ir.IRWarning, match="no row of stage 'b' for 1 query of 'a', which count as lost; the first: 'q'"
    ):
        found = ir.stages({"a": FOUND, "b": {"p": ["d"]}}, QRELS)
    assert found.filter(query_id="q").rows() == [("q", "a", 3, 3, 0), ("q", "b", 0, 0, 3)]


@pytest.mark.filterwarnings("ignore:no retrieved document of 'a', 'z'")
def test_the_last_stage_is_of_the_document_that_is_named_and_rows_go_in_the_order_of_stages():
    groups = pl.DataFrame({"query_id": ["q"] * 2, "doc_id": ["a", "z"], "subtopic": ["s"] * 2, "relevance": [2, 1]})
    found = ir.missing_evidence({"z": {"q": ["x"]}, "y": {"q": ["x", "z"]}, "a": {"q": ["x"]}}, groups, 1, stages=True)
    assert found.drop("query_id", "subtopic").rows() == [
        ("z", "a", None, None), ("y", "z", 2, "y"), ("a", "z", None, "y")
    ]  # fmt: skip


@pytest.mark.parametrize("rel", [0.5, 1, 2])
def test_documents_are_relevant_from_rel_on_as_to_full_recall(rel):
    graded = {"p": {"d": 1}, "q": {"a": 2, "b": 1, "c": 2, "n": 0}, "r": {"z": 2}}
    kept = {q: {d: grade for d, grade in docs.items() if grade >= rel} for q, docs in graded.items()}
    kept = {q: docs for q, docs in kept.items() if docs}
    assert ir.stages(PIPELINE, graded, k=3, rel=rel).rows() == ir.stages(PIPELINE, kept, k=3).rows()
    missing = ir.missing_evidence(PIPELINE, graded, k=3, rel=rel, stages=True)
    assert missing.equals(ir.missing_evidence(PIPELINE, kept, k=3, stages=True))
    full = ir.evaluate(PIPELINE, graded, f"FullRecall(rel={rel})@3", undefined=None).drop_nulls()
    lacking = full.join(missing, on=["run", "query_id"], how="semi")
    assert lacking.equals(full.filter(pl.last() == 0))


@pytest.mark.parametrize(("chunk", "pattern"), [("c#1", "^(.+)#"), ("doc1_chunk_3", "^(.+?)_")])
def test_stages_of_chunks_whose_documents_are_judged_are_told_and_met_by_the_collapse(chunk, pattern):
    run, qrels = {"a": {"q": {chunk: 1.0}}, "b": {"q": {chunk: 2.0}}}, {"q": {re.match(pattern, chunk)[1]: 1}}
    code = f"{{name: ir.collapse(each, pl.coalesce(pl.col('doc_id').str.extract({pattern!r}), 'doc_id')) "
    code += "for name, each in run.items()}"
    for call in (ir.stages, functools.partial(ir.missing_evidence, stages=True)):
        with pytest.warns(ir.IRWarning, match="no retrieved document is judged for its query") as noticed:
            call(run, qrels)
        assert str(noticed[0].message).endswith(f"the latter: {code}.")
    whole = eval(code, {"ir": ir, "pl": pl, "run": run})  # noqa: S307  # what the message says
    assert ir.stages(whole, qrels)["n_relevant"].to_list() == [1, 1]
    with pytest.warns(ir.IRWarning, match="the run and the qrels share no query"):
        ir.missing_evidence(run["a"], {"r": {"c": 1}})


def test_a_rel_above_all_grades_is_told():
    for call in (ir.stages, ir.missing_evidence):
        with pytest.warns(ir.IRWarning, match=r"the highest grade is 1, and rel is 2. Name the lowest .* rel=1"):
            assert call(PIPELINE, QRELS, rel=2).is_empty()


REFUSED = {
    "a key called as a result": (
        lambda: ir.stages(PIPELINE, QRELS, by="stage"), "by names 'stage', a column of the result. Rename it"
    ),
    "another key called as a result": (
        lambda: ir.missing_evidence(PIPELINE, QRELS, by="rank"), "by names 'rank', a column of the result."
    ),
    "stages of one run": (
        lambda: ir.missing_evidence(FOUND, QRELS, stages=True), "run must be a dict of two runs or more in the order"
    ),
    "one run": (lambda: ir.stages({"a": FOUND}, QRELS), "run must be a dict of two runs or more in the order"),
    "a frame": (lambda: ir.stages(pl.DataFrame({"run": ["a"]}), QRELS), "run must be a dict of two runs or more"),
    "queries": (lambda: ir.stages(FOUND, QRELS), "run must be a dict of two runs or more"),
    "no depth": (lambda: ir.stages(PIPELINE, QRELS, k=0), "k must be a whole number"),
    "a negative grade": (lambda: ir.stages(PIPELINE, QRELS, rel=-1), "rel must be from 0 to 1e+100; got -1"),
    "no judgments": (lambda: ir.stages(PIPELINE, None), "qrels must be the judgments"),
    "ids of two types": (
        lambda: ir.stages({"a": FOUND, "b": {"q": {1: 0.5}}}, QRELS), "run 'b' column 'doc_id' must be String"
    ),
    "a key that one lacks": (
        lambda: ir.stages(
            {
                "a": pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1], "day": ["x"]}),
                "b": pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1]}),
            },
            QRELS,
            by="day",
        ),
        "run 'b' has no column 'day', which by says distinguishes rankings",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_pipeline_is_told(case):
    call, says = REFUSED[case]
    assert message_of(call).startswith(says)


@pytest.mark.whole("a chart, drawn")
def test_the_chart_has_the_sums(tmp_path):
    plots = pytest.importorskip("polars_ir.plots", exc_type=ImportError)
    chart = plots.stages(PIPELINE, QRELS, k=3)
    bars = chart.layer[0].data.filter(stage="filter")
    assert bars.select("kind", "documents").rows() == [("gained", 1), ("kept", 0), ("lost", -3)]
    chart.save(tmp_path / "stages.png")
    assert (tmp_path / "stages.png").stat().st_size > 5000
