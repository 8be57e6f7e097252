"""Queries that are no sample of their own: clusters count once, strata count as parts."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from tests.support.suite import share

stats = pytest.importorskip("scipy.stats")
pytest.importorskip("statsmodels")

DRAWN = np.random.default_rng(12)
TOPICS = [f"t{i:02}" for i in range(20) for _ in range(1 + i % 4)]
IDS = [f"{topic}-{'abcd'[place]}" for i, topic in enumerate(dict.fromkeys(TOPICS)) for place in range(1 + i % 4)]
BY = pl.DataFrame({"query_id": IDS, "kind": TOPICS})
SYSTEMS = pl.concat(
    pl.DataFrame({"run": run, "query_id": IDS, "AP": DRAWN.beta(2, 2 + i, len(IDS))}) for i, run in enumerate("abc")
)
MEANS = SYSTEMS.join(BY, on="query_id").group_by("run", pl.col("kind").alias("query_id")).agg(pl.col("AP").mean())


def of(frame, run):
    return frame.filter(pl.col("run") == run).drop("run")


@pytest.mark.parametrize(
    "verb",
    [
        ir.compare,
        lambda frame, **options: ir.compare(frame, test="max-t", resamples=999, **options),
        lambda frame, **options: ir.compare(frame, test="tukey", resamples=999, **options),
        ir.ranks,
        lambda frame, **options: ir.risk(frame, "b", **options),
        lambda frame, **options: ir.power(frame, difference=0.05, **options),
        lambda frame, **options: ir.gate(of(frame, "a"), of(frame, "b"), "AP", max_drop=0.2, **options),
        ir.summarize,
        lambda frame, **options: ir.summarize(frame.lazy(), **options).collect(),
    ],
    ids=["compare", "max-t", "tukey", "ranks", "risk", "power", "gate", "summarize", "lazy"],
)
def test_a_cluster_counts_once_as_the_mean_of_its_queries(verb):
    found, wanted = verb(SYSTEMS, cluster=BY), verb(MEANS)
    assert found["note"].str.contains("queries are clusters of 'kind'").all()
    assert_frame_equal(found.drop("note"), wanted.drop("note"), abs_tol=1e-12)
    named = SYSTEMS.join(BY, on="query_id", maintain_order="left").rename({"kind": "topic"})
    assert verb(named, cluster="topic").drop("note").equals(found.drop("note"))


def test_values_by_query_may_stand_in_a_dict():
    by_query = dict(BY.rows())
    wanted = ir.compare(SYSTEMS, cluster=BY.rename({"kind": "cluster"}))
    assert ir.compare(SYSTEMS, cluster=by_query).equals(wanted)
    one = of(SYSTEMS, "a")
    weights = BY.select("query_id", weights=1.0 + pl.int_range(pl.len()) % 2)
    assert ir.summarize(one, weights=dict(weights.rows())).equals(ir.summarize(one, weights=weights))
    for wrong in ({}, by_query | {IDS[0]: None}):
        with pytest.raises(ir.IRError, match=r"per_query has .* without a value of cluster"):
            ir.compare(SYSTEMS, cluster=wrong)
    with pytest.raises(
        ir.IRError, match="cluster must name a column of per_query, or be values by query, in a dict or"
    ):
        ir.compare(SYSTEMS, cluster=TOPICS)


def test_a_cluster_counts_once_in_each_slice_and_bucket():
    half = pl.DataFrame({"query_id": IDS, "half": ["x" if name.endswith(("a", "b")) else "y" for name in IDS]})
    found = ir.compare(SYSTEMS, cluster=BY, by=half)
    part = SYSTEMS.join(half.filter(half="y"), on="query_id", how="semi")
    figures = ["difference", "low", "high", "p", "mean", "n_queries", "wins"]
    assert found.filter(half="y").select(figures).equals(ir.compare(part, cluster=BY).select(figures))
    course = ir.drift(of(SYSTEMS, "a"), half, cluster=BY, reference=1)
    assert course["n_queries"].to_list() == [20, 10]
    means = (
        of(SYSTEMS, "a")
        .join(half, on="query_id")
        .join(BY, on="query_id")
        .group_by("half", "kind")
        .agg(pl.col("AP").mean())
    )
    assert course["mean"].to_list() == pytest.approx([means.filter(half=x)["AP"].mean() for x in "xy"], rel=1e-12)


def test_queries_that_are_undefined_for_one_system_are_left_out_of_their_cluster_for_all():
    some = SYSTEMS.with_columns(AP=pl.when((pl.col("run") != "b") | (pl.col("query_id") != "t01-a")).then("AP"))
    found = ir.compare(some, cluster=BY, baseline="a")
    wanted = ir.compare(SYSTEMS.filter(pl.col("query_id") != "t01-a"), cluster=BY, baseline="a")
    assert found["note"][0] == "left out of clusters, without a value of all systems: 1; queries are clusters of 'kind'"
    assert_frame_equal(found.drop("note"), wanted.drop("note"), abs_tol=1e-12)


def test_a_query_that_one_system_lacks_is_0_in_its_cluster_and_counted():
    some = SYSTEMS.filter((pl.col("run") != "b") | (pl.col("query_id") != "t01-a"))
    zero = SYSTEMS.with_columns(
        AP=pl.when((pl.col("run") != "b") | (pl.col("query_id") != "t01-a")).then("AP").otherwise(0)
    )
    found, wanted = ir.compare(some, baseline="b", cluster=BY), ir.compare(zero, baseline="b", cluster=BY)
    assert found["n_missing"].to_list() == [1, 1]
    assert_frame_equal(found.drop("n_missing"), wanted.drop("n_missing"))


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        (BY.with_columns(kind=pl.lit("t")), "cluster must have two values or more; 'kind' is 't' for all queries"),
        (BY.with_columns(kind=pl.when(pl.col("kind") != "t03").then("kind")), "rows without a value of cluster"),
        (BY.with_columns(other="kind"), "cluster must be one column; got 'kind', 'other'"),
        ("topic", "cluster must name a column of per_query.*got 'topic'"),
        (
            SYSTEMS.select("run", "query_id", kind=pl.col("run") + pl.col("query_id").str.head(3)),
            "rows of queries in several clusters",
        ),
    ],
)
@pytest.mark.parametrize("verb", [ir.compare, ir.summarize])
def test_bad_clusters_are_told(verb, cluster, message):
    with pytest.raises(ir.IRError, match=message):
        verb(SYSTEMS, cluster=cluster)


def test_clusters_of_one_query_each_change_nothing():
    alone = BY.with_columns(kind="query_id")
    found = ir.compare(SYSTEMS, cluster=alone).drop("note")
    assert found.equals(ir.compare(SYSTEMS).drop("note"))


@pytest.mark.parametrize("icc", [0.2, 0.8])
def test_systems_that_differ_by_topic_are_told_apart_as_often_as_alpha(icc):
    # 20 topics of 5 variants: over queries .16 (icc .2) to .33 (icc .8).
    n, source = share(1000, 250), np.random.default_rng(3)
    topics = np.repeat(source.normal(0, icc**0.5, (20, n)), 5, axis=0)
    differences = topics + source.normal(0, (1 - icc) ** 0.5, (100, n))
    names = [f"m{i}" for i in range(n)]
    ids = pl.Series("query_id", range(100))
    both = {
        "old": pl.DataFrame(np.zeros((100, n)), schema=names).with_columns(ids),
        "new": pl.DataFrame(differences, schema=names).with_columns(ids),
    }
    kinds = pl.DataFrame({"query_id": ids, "kind": np.repeat(range(20), 5)})
    p = ir.compare(both, names, cluster=kinds)["p"]
    low, high = stats.binom.interval(0.999, n, 0.05)
    assert low <= (p <= 0.05).sum() <= high


# What looks like clusters.


@pytest.mark.parametrize("name", ["topic", "Topic_ID"])
def test_a_topic_beside_a_query_id_is_an_attribute_and_alone_the_query(name):
    topics = SYSTEMS.join(BY, on="query_id", maintain_order="left").with_columns(
        pl.col("kind").rank("dense").alias(name)
    )
    said = f"queries of one '{name}' are treated as independent; cluster='{name}' counts them once"
    found = ir.compare(topics.drop("kind"), baseline="a")
    assert (found["note"].unique().to_list(), found["measure"].unique().to_list()) == ([said], ["AP"])
    alone = MEANS.rename({"query_id": name})
    assert ir.compare(alone)["n_queries"].unique().to_list() == [20]
    with pytest.raises(ir.IRError, match="could be 'query_id'"):
        ir.compare(alone.with_columns(topic_id="topic") if name == "topic" else alone.with_columns(topic="Topic_ID"))


def test_a_run_may_have_topics_beside_its_queries():
    run = pl.DataFrame({"qid": ["q1", "q1"], "topic": ["t", "t"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    qrels = pl.DataFrame({"query-id": ["q1"], "topic": ["t"], "doc_id": ["b"], "relevance": [1]})
    assert ir.evaluate(run, qrels, "RR").rows() == [("q1", 0.5)]


@pytest.mark.parametrize(
    ("ids", "is_told"),
    [
        (["q1-a", "q1-b", "q2-a", "q2-b"], True),
        (["31_1", "31_2", "31_3", "32_1", "32_2", "32_3"], True),
        (["PLAIN-1", "PLAIN-2", "PLAIN-3", "PLAIN-4"], False),
        (["2003-1", "2003-2", "2004-3", "2004-4"], False),
        (["q1", "q2", "q1-a", "q1-b"], False),
        ([1, 2, 3, 4], False),
    ],
)
def test_ids_that_look_like_variants_are_told(ids, is_told):
    frame = pl.DataFrame({"query_id": ids, "AP": [i / 10 for i in range(len(ids))]})
    notes = ir.summarize(frame)["note"].to_list()
    assert notes == [
        "ids look like variants of 2 queries, treated as independent; cluster says what counts once"
        if is_told
        else None
    ]


# Strata.

STRATA = pl.DataFrame({"query_id": range(40), "language": np.repeat(["de", "en", "fr", "it"], 10)})
VALUES = DRAWN.beta(np.repeat([1, 2, 4, 8], 10), 4)
STRATIFIED = pl.DataFrame({"query_id": range(40), "AP": VALUES})


@pytest.mark.parametrize("weights", [np.ones(200), np.repeat([1.0, 2.0, 5.0, 2.0], 50)])
def test_an_interval_of_strata_is_of_the_spread_within_them(weights):
    values = np.random.default_rng(7).beta(np.repeat([1, 2, 4, 8], 50), 4)
    stratified = pl.DataFrame({"query_id": range(200), "AP": values})
    strata = pl.DataFrame({"query_id": range(200), "language": np.repeat(["de", "en", "fr", "it"], 50)})
    parts, weight = values.reshape(4, 50), weights.reshape(4, 50).sum(axis=1) / weights.sum()
    mean, variance = weight @ parts.mean(axis=1), weight**2 @ parts.var(axis=1, ddof=1) / 50
    weighted = pl.DataFrame({"query_id": range(200), "w": weights})
    found = ir.summarize(stratified, strata=strata, weights=weighted).row(0, named=True)
    assert found["mean"] == pytest.approx(mean, rel=1e-12)
    n, z = weights.sum() ** 2 / (weights**2).sum(), stats.norm.ppf(0.975)
    r = z**2 * (variance / (mean * (1 - mean)) + 2 / (n * (n - 1)))
    middle, half = (mean + r / 2) / (1 + r), np.sqrt(mean * (1 - mean) * r + r**2 / 4) / (1 + r)
    assert (found["low"], found["high"]) == pytest.approx((middle - half, middle + half), rel=1e-9)
    if weights.max() == 1:
        both = (ir.summarize(stratified, strata=strata, weights=given).drop("note") for given in (None, weighted))
        assert_frame_equal(*both, rel_tol=1e-12)


@pytest.mark.parametrize("kind", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_the_intervals_of_strata_make_that_of_a_mean_that_a_stratum_of_few_queries_decides(kind):
    frame = pl.DataFrame(
        {"query_id": range(100), "lang": ["de"] * 2 + ["en"] * 98, "Success@5": [1.0, 1.0] + [1.0, 0.0] * 49}
    )
    weights = pl.DataFrame({"query_id": range(100), "w": [0.25] * 2 + [0.5 / 98] * 98})
    row = ir.summarize(kind(frame), strata="lang", weights=weights).lazy().collect().row(0, named=True)
    parts = [ir.summarize(frame.filter(lang=lang)).row(0, named=True) for lang in ("de", "en")]
    low, high = (0.25 * sum((part["mean"] - part[end]) ** 2 for part in parts) for end in ("low", "high"))
    assert row["mean"] == pytest.approx(0.75)
    assert (row["low"], row["high"]) == pytest.approx((0.75 - low**0.5, 0.75 + high**0.5), rel=1e-12)
    assert (row["low"] < 0.33, row["note"]) == (True, None)
    as_drawn = weights.with_columns(w=pl.lit(0.3))
    row = ir.summarize(kind(frame), strata="lang", weights=as_drawn).lazy().collect().row(0, named=True)
    assert row["low"] < 0.51 < row["high"]


@pytest.mark.whole("half a second: five summaries of 40 strata")
def test_the_interval_of_many_strata_has_the_same_bits_in_every_call():
    frame = pl.DataFrame({"query_id": range(400), "Success@5": [float(i * i % 7 < 3) for i in range(400)]})
    strata = frame.select("query_id", stratum=pl.col("query_id") % 40)
    weights = frame.select("query_id", w=(1 + pl.col("query_id") % 40) ** 2 / 7)
    found = {ir.summarize(frame, strata=strata, weights=weights).select("low", "high").row(0) for _ in range(5)}
    assert len(found) == 1
    assert None not in found.pop()


def test_a_stratum_of_few_queries_without_spread_leaves_no_interval_of_a_measure_without_a_range():
    frame = pl.DataFrame({"query_id": range(10), "of": [0] * 2 + [1] * 8, "x": [3.0, 3.0, *range(8)]})
    weights = pl.DataFrame({"query_id": range(10), "w": [4.0] * 2 + [1.0] * 8})
    row = ir.summarize(frame, strata="of", weights=weights).row(0, named=True)
    note = "a stratum of fewer than 50 queries counts more than its share of them: no interval holds"
    assert (row["low"], row["high"], row["note"]) == (None, None, note)


def test_students_interval_of_strata_has_the_degrees_of_freedom_that_are_left_within_them():
    frame = pl.DataFrame({"query_id": range(6), "x": [1.0, 2, 3, 4, 5, 7], "of": [0, 0, 1, 1, 2, 2]})
    row = ir.summarize(frame, strata="of").row(0, named=True)
    half = stats.t.ppf(0.975, 6 - 3) * np.sqrt((0.5 + 0.5 + 2) / 2 / 9)
    assert (row["low"], row["high"]) == pytest.approx((22 / 6 - half, 22 / 6 + half), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {
                "strata": STRATA.with_columns(
                    language=pl.when(pl.col("query_id") > 0).then("language").otherwise(pl.lit("nl"))
                )
            },
            "strata must have two queries or more of each; 'language' is 'nl' for one",
        ),
        ({"strata": STRATA, "interval": "t"}, "strata go with interval='auto'; got 't'"),
        ({"strata": STRATA.head(30)}, "10 rows without a value of strata"),
        (
            {"strata": STRATA, "cluster": STRATA.select("query_id", kind=pl.col("query_id") % 7)},
            "cluster must have one stratum for all queries of each",
        ),
        (
            {"cluster": STRATA, "weights": STRATA.select("query_id", w=1)},
            "cluster takes no weights",
        ),
    ],
)
def test_bad_strata_are_told(options, message):
    with pytest.raises(ir.IRError, match=message):
        ir.summarize(STRATIFIED, **options)


def test_clusters_are_drawn_from_strata():
    pairs = STRATA.select("query_id", pair=pl.col("query_id") // 2)
    means = STRATIFIED.group_by(pl.col("query_id") // 2).agg(pl.col("AP").mean())
    strata = STRATA.group_by(pl.col("query_id") // 2).agg(pl.col("language").first())
    found, wanted = ir.summarize(STRATIFIED, strata=STRATA, cluster=pairs), ir.summarize(means, strata=strata)
    assert_frame_equal(found.drop("note"), wanted.drop("note"))


def test_a_stratum_with_one_value_has_no_interval_and_says_so():
    some = STRATIFIED.with_columns(AP=pl.when(pl.col("query_id") > 8).then("AP"))
    row = ir.summarize(some, strata=STRATA).row(0, named=True)
    assert (row["low"], row["high"], row["note"]) == (None, None, "a stratum of one query")
