"""Frames that are not per query, queries that occur twice, and numbers that are no measures."""

import polars as pl
import pytest
from messages import message_of

import polars_ir as ir

RUN = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "score": [3.0, 2.0]})
QRELS = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d1", "x"], "relevance": [1, 1]})
PER_QUERY = pl.DataFrame({"query_id": ["q1", "q2"], "RR": [1.0, 0.0], "NumRet": [9, 7]})

each_function = pytest.mark.parametrize("function", [ir.mean, ir.summarize])
each_kind = pytest.mark.parametrize("kind", [lambda frame: frame, lambda frame: frame.lazy()], ids=["eager", "lazy"])


@each_function
@each_kind
@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (RUN, "'doc_id', 'score' it is a run or qrels"),
        (QRELS, "'doc_id', 'relevance' it is a run or qrels"),
        (ir.judge(RUN, QRELS), "'doc_id', 'relevance', 'ideal_rank' it is the judged relation"),
        (RUN.drop("doc_id").with_columns(label=1), "'score', 'label' it is a run or qrels"),
    ],
)
def test_a_table_of_documents_has_no_mean(function, kind, frame, told):
    assert message_of(lambda: function(kind(frame))) == (
        f"per_query must have a row for each query; by its columns {told}. Measure the run first: "
        "per_query = run.ir.evaluate(qrels, ['nDCG@10', 'AP'])."
    )


@pytest.mark.parametrize("function", [ir.mean, ir.summarize, lambda frame: ir.compare({"a": frame, "b": frame})])
def test_a_query_that_is_there_twice_is_an_error(function):
    twice = pl.concat([PER_QUERY, PER_QUERY[:1]])
    with pytest.raises(ir.IRError, match=r"has [24] rows that repeat the ids of another \((run, )?query_id\)"):
        function(twice)


@each_function
def test_a_query_that_is_there_twice_in_a_plan_fails_it(function):
    plan = function(pl.concat([PER_QUERY, PER_QUERY[:1]]).lazy())
    with pytest.raises(pl.exceptions.InvalidOperationError, match="rows that repeat the ids of another"):
        plan.collect()


def test_a_query_of_two_systems_is_there_once_each():
    both = pl.concat([PER_QUERY.with_columns(run=pl.lit(system)) for system in "ab"])
    assert ir.mean(both)["RR"].to_list() == [0.5, 0.5]


ATTRIBUTED = PER_QUERY.with_columns(
    year=pl.Series([2019, 2021]), price=pl.Series([9.5, 0.3]), mine=pl.Series([0.1, 1.0])
)


@pytest.mark.parametrize("kind", [lambda frame: frame, lambda frame: frame.to_pandas()])
@each_function
def test_years_and_prices_are_told_of_with_advice_that_runs(function, kind):
    per_query = kind(ATTRIBUTED)
    with pytest.warns(ir.IRWarning) as caught:
        function(per_query)
    (message,) = [str(warning.message) for warning in caught]
    assert message.startswith("per_query has numbers beyond 0 to 1 under names of no measure")
    assert (
        "'year', 'price'. Define your own measures with @ir.measure, and leave out other columns: per_query.drop("
        in message
    )
    function(eval(message.partition("other columns: ")[2].removesuffix(".")))  # noqa: S307  # what the message says


def test_slices_and_weights_that_are_named_are_not_told_of():
    per_query = ATTRIBUTED.drop("price")
    assert ir.mean(per_query, by="year")["RR"].to_list() == [1.0, 0.0]
    assert ir.mean(per_query, weights="year").columns == ["RR", "NumRet", "mine"]


def test_measures_of_any_dialect_and_their_bounds_are_not_told_of():
    ir.mean(PER_QUERY.with_columns(pl.lit(3.5).alias("dcg@10 low"), pl.lit(7).alias("num_rel_ret")))


def test_systems_are_compared_on_years_with_a_warning_and_by_name_without():
    pytest.importorskip("scipy")
    systems = {"a": ATTRIBUTED, "b": ATTRIBUTED}
    with pytest.warns(ir.IRWarning, match="'year', 'price'"):
        ir.compare(systems)
    ir.compare(systems, ["RR", "price"])


SAID_TWICE = {
    "max_drop": lambda of: ir.gate(PER_QUERY, PER_QUERY, "RR", max_drop=of),
    "ranges": lambda of: ir.gate(PER_QUERY, PER_QUERY, "RR", ranges={name: (0, 1 + its) for name, its in of.items()}),
    "floors": lambda of: ir.assert_no_worse(PER_QUERY, PER_QUERY, "RR", floors=of),
}


@pytest.mark.parametrize("option", SAID_TWICE)
def test_a_measure_with_two_values_by_two_spellings_is_an_error(option):
    for spellings in (("RR", "recip_rank"), ("mrr", "RR"), ("recip_rank", "mrr")):
        given = dict(zip(spellings, (0.0, 0.9), strict=True))
        assert message_of(lambda given=given: SAID_TWICE[option](given)).startswith(
            f"{option} gives two values for 'RR'"
        )
