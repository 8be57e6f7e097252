"""The long form of per-query figures: the same figures, in rows, and read by every function."""

import datetime as dt

import polars as pl
import pytest

import polars_ir as ir

PYDOCS = ir.datasets.load("pydocs")
PER_QUERY = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["GMAP", "nDCG@10", "NumRel", "P(rel=2)@5"])
LONG = PER_QUERY.ir.long()
BOUNDED = {
    names: ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["nDCG@10", "RBP"], bounds=True, names=names)
    for names in ("canonical", "sql")
}


def test_a_row_is_of_a_query_and_a_measure():
    assert LONG.columns == ["run", "query_id", "measure", "value", "low", "high"]
    assert LONG.height == 4 * PER_QUERY.height
    assert LONG["measure"].head(5).to_list() == ["GMAP", "nDCG@10", "NumRel", "P(rel=2)@5", "GMAP"]
    assert LONG.filter(measure="nDCG@10")["value"].equals(PER_QUERY["nDCG@10"])
    assert LONG["low"].null_count() == LONG.height


@pytest.mark.parametrize("names", BOUNDED)
def test_parts_of_a_measure_stand_beside_its_value(names):
    wide = BOUNDED[names]
    rows = wide.ir.long()
    assert rows.height == 2 * wide.height
    first = rows.row(0, named=True)
    assert (first["value"], first["low"], first["high"]) == wide.row(0)[2:5]
    assert rows.ir.mean().equals(wide.ir.mean())


def test_it_is_made_of_chosen_measures_lazily_and_in_pandas():
    assert PER_QUERY.ir.long(["ndcg_10"]).equals(LONG.filter(measure="nDCG@10"))
    assert PER_QUERY.lazy().ir.long().collect().equals(LONG)
    of_pandas = PER_QUERY.to_pandas().ir.long()
    assert pl.from_pandas(of_pandas).equals(LONG)
    assert pl.from_pandas(of_pandas.ir.mean()).equals(PER_QUERY.ir.mean())


def test_every_function_reads_it():
    both = LONG, PER_QUERY
    for call in (
        lambda frame: frame.ir.mean(),
        lambda frame: frame.sort("query_id", descending=True, maintain_order=True).ir.summarize(),
        lambda frame: frame.ir.compare(["nDCG@10"], baseline="bm25"),
        lambda frame: frame.ir.ranks("nDCG@10"),
        lambda frame: frame.ir.hardest("nDCG@10"),
        lambda frame: ir.gate(frame.filter(run="tfidf"), frame.filter(run="bm25"), "ndcg_10", max_drop=0.1),
        lambda frame: ir.mean({"a": frame.filter(run="tfidf").drop("run"), "b": frame.filter(run="bm25").drop("run")}),
    ):
        of_long, of_wide = map(call, both)
        assert of_long.equals(of_wide)


def test_rows_of_one_system_are_named_and_appended_to_those_of_others():
    one = PER_QUERY.filter(run="bm25").drop("run").ir.long(run="bm25")
    assert one.equals(LONG.filter(run="bm25"))
    later = PER_QUERY.filter(run="tfidf").select("run", "query_id", "NumRel").ir.long()
    assert pl.concat([one, later]).ir.mean().columns == ["run", *PER_QUERY.columns[2:]]
    with pytest.raises(ir.IRError, match="run is for a frame of one system; this one has a column 'run'"):
        PER_QUERY.ir.long(run="bm25")


def test_other_columns_are_kept_and_no_measures():
    kept = PER_QUERY.with_columns(day=dt.date(2026, 11, 20), kind=pl.lit("x"))
    assert kept.ir.long().columns == ["run", "query_id", "day", "kind", "measure", "value", "low", "high"]
    assert kept.ir.long().ir.mean(by="kind").equals(kept.ir.mean(by="kind"))


def test_a_measure_that_a_query_lacks_is_undefined():
    fewer = LONG.filter(~((pl.col("query_id") == "q01") & (pl.col("measure") == "nDCG@10")))
    nulls = PER_QUERY.with_columns(pl.when(pl.col("query_id") != "q01").then("nDCG@10").alias("nDCG@10"))
    assert fewer.ir.mean().select(nulls.ir.mean().columns).equals(nulls.ir.mean())


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.concat([LONG, LONG]), "rows that give a query's measure again"),
        (LONG.lazy(), r"is in long form, whose measures are unknown until it is read.*per_query\.collect\(\)"),
        (LONG.with_columns(value=pl.lit("0.5")), "column 'value' must be numbers, as a frame in long form has"),
        (LONG.with_columns(measure=pl.lit(None, pl.String)), "rows whose 'measure' is null"),
        (LONG.select("measure", "value"), "is in long form, and has no column of queries"),
    ],
)
def test_a_message_says_what_is_wrong_with_rows(frame, message):
    with pytest.raises(ir.IRError, match=message):
        ir.mean(frame)


def test_numbers_that_tell_rows_apart_are_keys_and_no_measures():
    versions = pl.concat([PER_QUERY.with_columns(version=number) for number in (1, 2)])
    assert versions.ir.long().columns == ["run", "query_id", "version", "measure", "value", "low", "high"]
    assert versions.ir.long().ir.mean(by="version").equals(versions.ir.mean(by="version"))
    with pytest.raises(ir.IRError, match="may not be called 'measure'"):
        PER_QUERY.with_columns(measure=pl.lit("x")).ir.long()


BESIDE = pl.DataFrame({"query_id": ["q1", "q2"], "AP": [0.1, 0.2], "measure": ["cos", "dot"], "value": [0.3, 0.5]})
OWN = BESIDE.rename({"AP": "mine"})


def test_a_frame_with_a_column_called_like_a_measure_is_wide():
    for frame in (BESIDE, BESIDE.lazy()):
        assert ir.mean(frame).lazy().collect().to_dicts() == [{"AP": pytest.approx(0.15), "value": 0.4}]


def test_a_frame_that_can_be_read_in_two_ways_is_an_error_whose_advices_run():
    for function in (ir.mean, ir.summarize, lambda frame: ir.compare({"a": frame, "b": frame})):
        with pytest.raises(ir.IRError, match=r"two ways.*measures 'mine'\..*leave the others out"):
            function(OWN)
        with pytest.raises(ir.IRError, match=r"two ways.*measures 'mine'\..*collect the plan"):
            function(OWN.lazy())
    with pytest.raises(ir.IRError, match=r"leave the others out: .*\.drop\('mine'\)"):
        ir.mean(OWN)
    with pytest.raises(ir.IRError, match=r"collect the plan: .*\.collect\(\)"):
        ir.mean(OWN.lazy())
    assert ir.mean(OWN.drop("mine")).to_dicts() == [{"cos": 0.3, "dot": 0.5}]
    assert ir.mean(OWN.rename({"measure": "kind"})).columns == ["mine", "value"]
    # Of one measure, or of queries that repeat over measures, it is long.
    assert "cos" in ir.mean(OWN.with_columns(measure=pl.lit("cos"))).columns
    assert "dot" in ir.mean(pl.concat([OWN, OWN.with_columns(pl.col("measure").reverse())])).columns


def test_keys_may_be_called_measure_and_value():
    run = pl.DataFrame({"measure": ["a", "b"], "value": [1, 2], "query_id": "q", "doc_id": "d", "score": 1.0})
    options = {"by": ["measure", "value"], "provenance": True}
    stored = ir.evaluate(run, {"q": ["d"]}, "RR", **options)
    assert ir.update(stored, run, {"q": ["d"]}, "RR", by=options["by"]).equals(stored)


@pytest.mark.parametrize(("name", "like"), [("query_id", "a key"), ("run", "a key"), ("nDCG@10 low", "a part")])
def test_a_measure_that_is_called_like_another_column_is_an_error(name, like):
    with_low = LONG.with_columns(pl.col("measure").replace("GMAP", name))
    with_low = with_low.with_columns(low=pl.col("value"))
    with pytest.raises(ir.IRError, match=f"has a measure called {name!r}, like {like}"):
        ir.mean(with_low)


def test_the_order_of_rows_decides_nothing():
    shuffled = LONG.sample(fraction=1, shuffle=True, seed=4)
    for call in (
        ir.mean,
        ir.compare,
        ir.ranks,
        lambda frame: ir.compare(frame, baseline="bm25"),
        lambda frame: ir.discriminative_power(frame, resamples=20),
        lambda frame: ir.level(frame, n=10, simulations=3),
        lambda frame: ir.power(frame, baseline="bm25", difference=0.05),
        lambda frame: pl.Series([ir.table(frame, format="markdown")]),
    ):
        for rows in (LONG.reverse(), shuffled):
            assert call(rows).equals(call(LONG))
