"""A wrong row of a file is found whatever is read of the plan, by every engine, though its query may match nothing.

The run is much larger than the judgments, as Polars then leaves out at the scan what a join would.
"""

import itertools

import polars as pl
import pytest
from tuned import tune

import polars_ir as ir
from polars_ir.frames.rules import BAD_RUN, guard

QUERIES, DEPTH = 10, 400

WRONG = {
    "query": {"query_id": None},
    "document": {"doc_id": None},
    "score": {"score": float("nan")},
    "of another query": {"query_id": "unjudged", "score": None},
}

VERBS = {
    "top": lambda run, _: ir.top_k(run, 3),
    "condense": ir.condense,
    "deduplicate": lambda run, _: ir.deduplicate(run),
    "collapse": lambda run, _: ir.collapse(run, by=pl.col("doc_id").str.slice(0, 3)),
    "normalize": lambda run, _: ir.normalize(run),
    "fuse": lambda run, _: ir.fuse({"a": run, "b": run}, "rrf"),
    "fuse top": lambda run, _: ir.fuse({"a": run, "b": run}, "rrf", top=3),
    "confidence": lambda run, _: ir.confidence(run),
}


@pytest.fixture(scope="module")
def qrels() -> pl.DataFrame:
    judged = [(f"q{query}", f"d{document}", document % 3) for query in range(QUERIES) for document in range(30)]
    return pl.DataFrame(judged, schema=["query_id", "doc_id", "relevance"], orient="row")


@pytest.fixture(params=WRONG)
def run(request, tmp_path) -> pl.LazyFrame:
    """A scanned run with one wrong row among the last ones."""
    rows = [(f"q{query}", f"d{document}", -float(document)) for query in range(QUERIES) for document in range(DEPTH)]
    rows.append(tuple(({"query_id": "q0", "doc_id": "d", "score": -1.0} | WRONG[request.param]).values()))
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    frame.write_parquet(tmp_path / "run.parquet")
    return pl.scan_parquet(tmp_path / "run.parquet")


def assert_refused(plan: pl.LazyFrame) -> None:
    *_, last = plan.collect_schema()
    for read, engine in itertools.product((plan, plan.select(last)), ("streaming", "in-memory")):
        with pytest.raises(pl.exceptions.InvalidOperationError, match=BAD_RUN):
            read.collect(engine=engine)


@pytest.mark.parametrize("deep", [0, 10**9], ids=["sorting", "counting"])
@pytest.mark.parametrize("measure", ["nDCG", "utility", "NumRet", "AP@10", "NumRel"])
@pytest.mark.parametrize("lazy", [False, True], ids=["judgments in memory", "judgments of a plan"])
@pytest.mark.whole("four a measure", quick=8)
def test_a_measure_read_alone_tells_of_a_wrong_row(run, qrels, measure, deep, lazy, monkeypatch):
    tune(monkeypatch, deep=deep)
    assert_refused(ir.evaluate(run, qrels.lazy() if lazy else qrels, [measure]))


@pytest.mark.parametrize("ties", ["best", "worst", "expected", "input"])
@pytest.mark.whole("many cases", quick=4)
def test_so_it_does_with_every_order_of_ties(run, qrels, ties):
    assert_refused(ir.evaluate(run, qrels.lazy(), ["P@5"], ties=ties))


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.whole("many cases", quick=12)
def test_verbs_that_make_runs_tell_of_a_wrong_row(run, qrels, verb):
    assert_refused(VERBS[verb](run, qrels))


def test_the_message_names_wrong_rows():
    rows = pl.LazyFrame({"run": ["a", "a", "b"], "query_id": [1, None, 3], "score": [0.5, 0.5, None]})
    plan = guard(rows, pl.any_horizontal(pl.all().is_null()), "a null", key="query_id")
    # In the streaming engine rows are looked at in parts.
    message = r"polars_ir: a null; for example query_id' for \d out of \d values: \[\"(null|3)\""
    for engine in ("streaming", "in-memory"):
        with pytest.raises(pl.exceptions.InvalidOperationError, match=message):
            plan.collect(engine=engine)


@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_the_first_line_of_an_error_of_a_plan_says_what_is_wrong_and_what_follows_advises_nothing(engine):
    run = pl.LazyFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [None]}, schema_overrides={"score": pl.Float64})
    with pytest.raises(pl.exceptions.InvalidOperationError) as error:
        ir.evaluate(run, {"q1": ["a"]}, "RR").collect(engine=engine)
    first, *others = str(error.value).splitlines()
    assert f"{BAD_RUN}; for example query_id" in first
    # Polars prints the expression, which can only be that of a column.
    assert "\n".join(others).count(BAD_RUN) == 1
    assert "larger expression" not in str(error.value)


def test_a_filter_is_not_moved_before_a_guard():
    rows = pl.LazyFrame({"id": ["a", None], "value": [1, 2]})
    with pytest.raises(pl.exceptions.InvalidOperationError, match="polars_ir: no id"):
        guard(rows, pl.col("id").is_null(), "no id").filter(pl.col("id") == "a").select("value").collect()


@pytest.mark.parametrize("ties", ["doc_id", "input"])
@pytest.mark.parametrize("qrels", [pl.DataFrame, pl.LazyFrame])
def test_a_scanned_run_without_judged_documents_is_searched_for_duplicates(qrels, ties):
    run = pl.LazyFrame({"query_id": ["q"] * 2, "doc_id": ["x", "x"], "score": [2.0, 1.0]})
    judged = qrels({"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})
    with pytest.raises(pl.exceptions.InvalidOperationError, match="more than once"):
        ir.evaluate(run, judged, ["NumRet"], ties=ties).collect()
