"""What is advised where no column plays a role: nothing that would rank a run the wrong way round."""

import pandas as pd
import polars as pl
import pytest

import polars_ir as ir

RUN = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7]})
QRELS = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "relevance": [1, 2]})


def message_of(run: object, qrels: object) -> str:
    with pytest.raises(ir.IRError) as error:
        ir.evaluate(run, qrels, "RR")
    return str(error.value)


@pytest.mark.parametrize("name", ["distance", "_distance", "cosine_distance", "l2_dist"])
@pytest.mark.parametrize("labelled", [False, True], ids=["with qrels", "labelled"])
@pytest.mark.parametrize("in_pandas", [False, True], ids=["Polars", "pandas"])
def test_of_distances_the_negative_is_advised(name, labelled, in_pandas):
    run = RUN.select("query_id", "doc_id", (1 - pl.col("score")).alias(name))
    run = run.with_columns(relevance=pl.Series([0, 1, 2])) if labelled else run
    run = run.to_pandas() if in_pandas else run
    qrels = None if labelled else QRELS
    code = message_of(run, qrels).partition("so take the negative: ")[2].removesuffix(".")
    scored = eval(code, {"pl": pl, "pd": pd, "run": run})  # noqa: S307  # what the message says
    assert list(ir.evaluate(scored, qrels, "RR")["RR"]) == [0.5, 1.0]


def test_whoever_exchanges_run_and_qrels_is_told_so():
    assert message_of(QRELS, RUN).endswith(
        "it has 'query_id', 'doc_id', 'relevance'. It looks like qrels; give the run first, and then the qrels: "
        "run.ir.evaluate(qrels, ['nDCG@10', 'AP']); or, if 'relevance' is what ranks, rename it to 'score'."
    )


def test_float_ids_of_pandas_with_gaps_can_be_cast_as_advised():
    run = RUN.to_pandas().assign(doc_id=[1.0, float("nan"), 1.0])
    code = message_of(run, QRELS).partition("whole numbers: ")[2].partition(", and these")[0]
    whole = eval(code, {"run": run})  # noqa: S307  # what the message says
    assert "run has 1 row whose 'doc_id' is null" in message_of(whole, {1: {1: 1}})
