"""Fusions of drawn runs: the same in every form and order, and right where runs, weights and scores are odd."""

import math
import re
from itertools import product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from suite import examples

import polars_ir as ir
from polars_ir.fusion.tuning.trials import folds_of

SCORES = st.sampled_from([-2.5, -1.0, 0.0, 0.1, 0.2, 0.30000000000000004, 1.0, 3.0, 1e6])
WEIGHTS = st.sampled_from([0.1, 0.2, 0.3, 0.5, 1.0, 2.0])
NAMES = [method().name for method in ir.fusion.METHODS]
NORMS = [None, *(norm().name for norm in ir.fusion.NORMS)]


@st.composite
def runs(draw):
    """Two to six runs, each of which answers the first of three queries and maybe others."""
    systems = draw(st.permutations("abcdef"))[: draw(st.integers(2, 6))]
    rows = [
        (system, query, document, draw(SCORES))
        for system in systems
        for query in ("q1", *draw(st.lists(st.sampled_from(["q2", "q3"]), unique=True)))
        for document in draw(st.lists(st.sampled_from("uvwxyz"), min_size=1, unique=True))
    ]
    return pl.DataFrame(rows, schema=["run", "query_id", "doc_id", "score"], orient="row")


def as_dict(table):
    return {str(run): table.filter(run=run).drop("run") for run in table["run"].unique(maintain_order=True)}


def result(call, engine="auto"):
    """The rows of a call, or that it is wrong: by an error of ours, or of a plan."""
    try:
        return call().lazy().collect(engine=engine).rows()
    except (ir.IRError, pl.exceptions.InvalidOperationError):
        return "wrong"


@given(
    runs(),
    st.sampled_from(NAMES),
    st.sampled_from(NORMS),
    st.sampled_from(["skip", "zero", "min"]),
    st.sampled_from([None, "haystack", "opensearch"]),
    st.lists(WEIGHTS, min_size=6, max_size=6),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_every_form_and_order_of_the_runs_gives_the_same(table, method, norm, missing, dialect, weights, named, draw):
    weights = dict(zip(table["run"].unique(maintain_order=True), weights, strict=False)) if named else None
    options = {"norm": norm, "missing": missing, "dialect": dialect, "weights": weights}
    rows = table.rows()
    draw.shuffle(rows)
    shuffled = pl.DataFrame(rows, schema=table.schema, orient="row")
    lazy = {run: frame.lazy() for run, frame in as_dict(table).items()}
    forms = [as_dict(table), lazy, table.lazy(), shuffled, shuffled.lazy()]
    wanted = result(lambda: ir.fuse(table, method, **options))
    for form, engine in product(forms, ("in-memory", "streaming")):
        assert result(lambda form=form: ir.fuse(form, method, **options), engine) == wanted


@examples(30)
@given(runs(), st.lists(WEIGHTS, min_size=6, max_size=6))
@pytest.mark.whole("seconds")
def test_weights_in_a_list_are_in_the_order_of_the_mapping_or_of_first_rows(table, weights):
    systems = table["run"].unique(maintain_order=True).to_list()
    weights = weights[: len(systems)]
    by_name = dict(zip(systems, weights, strict=True))
    for form in (table, as_dict(table)):
        assert ir.fuse(form, "sum", weights=weights).equals(ir.fuse(form, "sum", weights=by_name))
        contributions = [ir.contribution(form, {"q1": ["x"]}, "sum", "RR", weights=w) for w in (weights, by_name)]
        assert contributions[0].equals(contributions[1])
    for call in (ir.fuse, lambda *of, **options: ir.contribution(of[0], {"q1": ["x"]}, of[1], **options)):
        with pytest.raises(ir.IRError, match="have no order"):
            call(table.lazy(), "sum", weights=weights)


@given(runs(), st.floats(-5, 5), st.sampled_from(["g", "A", ""]))
def test_a_known_end_is_below_the_scores_and_of_a_system(table, minimum, unknown):
    first, *others = table["run"].unique(maintain_order=True).to_list()
    norm = ir.fusion.min_max(minimum={first: minimum})
    highest = table.filter(run=first).group_by("query_id").agg(pl.col("score").max())["score"].min()
    for form in (table, table.lazy()):
        if minimum >= highest:
            assert result(lambda form=form: ir.normalize(form, norm)) == "wrong"
            continue
        norms = ir.normalize(form, norm).lazy().collect()
        own = ir.normalize(form, "min-max").lazy().collect()
        assert (
            norms.filter(pl.col("run").is_in(others))
            .sort(pl.all())
            .equals(own.filter(pl.col("run").is_in(others)).sort(pl.all()))
        )
        misspelt = ir.fusion.min_max(minimum={first: minimum, unknown: 0.0})
        assert result(lambda form=form, norm=misspelt: ir.normalize(form, norm)) == "wrong"
        assert result(lambda form=form, norm=misspelt: ir.fuse(form, "sum", norm=norm)) == "wrong"
        assert result(lambda form=form: ir.fuse(form, lower_is_better=[first, unknown])) == "wrong"


def test_a_known_end_beyond_the_scores_is_named():
    runs = {"a": {"q": {"x": 3.0, "y": 1.0}}, "b": {"q": {"x": 9.0, "y": 8.0}}}
    for norm, says in (
        (ir.fusion.min_max(minimum={"a": 5}), "minimum={'a': 5}) is at or above the highest score of a list"),
        (ir.fusion.min_max(maximum={"a": 2, "b": 7}), "maximum={'b': 7}) is below the lowest score of a list"),
        (ir.fusion.min_max(minimum=5), "minimum=5) is at or above the highest score of a list"),
    ):
        with pytest.raises(ir.IRError, match=re.escape(says)):
            ir.normalize(runs, norm)
    with pytest.raises(ir.IRError, match="minimum must be a number for a run of one system"):
        ir.normalize(runs["a"], ir.fusion.min_max(minimum={"a": 0}))


@given(runs(), st.sampled_from(["geometric", "harmonic"]), st.sampled_from([None, "min-max", "z"]))
def test_means_of_scores_above_0_pass_over_the_others(table, method, norm):
    fused = {missing: ir.fuse(table, method, norm=norm, missing=missing) for missing in ("skip", "zero")}
    assert fused["zero"].equals(fused["skip"])
    assert fused["zero"]["score"].is_finite().all()


@given(runs(), st.sampled_from(["anz", "mnz"]))
def test_sum_and_divisor_count_the_same_runs(table, method):
    fused = ir.fuse(table, method, norm="borda", contributions=True)
    terms = [[term for term in row if term is not None] for row in fused.select("^term_.*$").rows()]
    counted = [math.fsum(of) / len(of) if method == "anz" else math.fsum(of) * len(of) for of in terms]
    assert fused["score"].to_list() == pytest.approx(counted)


@examples(30)
@given(runs(), st.lists(WEIGHTS, min_size=6, max_size=6))
def test_votes_that_cancel_out_are_a_tie(table, weights):
    """The wins of `condorcet` are those of exact fractions."""
    systems = table["run"].unique(maintain_order=True).to_list()
    exact = {system: round(10 * weight) for system, weight in zip(systems, weights, strict=False)}
    assert ir.fuse(table, "condorcet", weights={s: w / 10 for s, w in exact.items()}).equals(
        ir.fuse(table, "condorcet", weights=exact)
    )


@given(
    st.lists(st.integers(-5, 5), min_size=2, max_size=6),
    st.integers(-280, 280),
    st.sampled_from(["z", "dbsf", "l2", "sum"]),
)
def test_the_scale_of_scores_does_not_count(scores, exponent, norm):
    documents = [f"d{i}" for i in range(len(scores))]
    norms = [
        ir.normalize({"q": {d: float(s) * unit for d, s in zip(documents, scores, strict=True)}}, norm)
        .sort("doc_id")["score"]
        .to_list()
        for unit in (1.0, float(f"1e{exponent}"))
    ]
    assert norms[1] == pytest.approx(norms[0])


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.UInt32, pl.Int64, pl.UInt64, pl.Int128, pl.UInt128])
@pytest.mark.parametrize("lazy", [False, True])
def test_distances_of_any_type_are_turned(dtype, lazy):
    run = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["x", "y", "z"], "score": pl.Series([0, 1, 7], dtype=dtype)})
    run = run.lazy() if lazy else run
    fused = ir.fuse({"a": run, "b": run}, lower_is_better=True).lazy().collect()
    assert fused["doc_id"].to_list() == ["x", "y", "z"]


def test_a_column_of_ranks_is_no_distance():
    run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["x", "y"], "rank": [1, 50], "score": [0.1, 0.9]})
    for lower_is_better in (False, True):
        fused = ir.fuse({"a": run, "b": run}, dialect="pyserini", lower_is_better=lower_is_better)
        assert fused["doc_id"].to_list() == ["x", "y"]


def test_qdrant_has_a_constant_of_1_or_more():
    with pytest.raises(ir.IRError, match="must be 1 or more"):
        ir.fuse({"a": {"q": ["x"]}, "b": {"q": ["x"]}}, dialect="qdrant", k=0.5)


@examples(30)
@given(runs(), st.lists(WEIGHTS, min_size=6, max_size=6))
def test_a_contribution_takes_weights_by_query(table, weights):
    systems = table["run"].unique(maintain_order=True).to_list()
    by_name = dict(zip(systems, weights, strict=False))
    by_query = pl.DataFrame([(q, s, w) for q in ("q1", "q2", "q3") for s, w in by_name.items()], orient="row")
    by_query.columns = ["query_id", "run", "weight"]
    found = [ir.contribution(table, {"q1": ["x"], "q2": ["y"]}, "rrf", "RR", weights=w) for w in (by_name, by_query)]
    assert found[0].equals(found[1])


@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
@given(runs(), st.sampled_from(["posfuse", "probfuse", "mapfuse", "bayesfuse"]), st.integers(0, 9))
def test_a_fold_that_few_runs_answer_is_fused(table, method, seed):
    qrels = {query: ["x"] for query in table["query_id"].unique()}
    if len(qrels) < 2:
        return
    fused = ir.fusion.fuse_out_of_fold(table, qrels, method, folds=2, seed=seed)
    assert fused.height == table.unique(["query_id", "doc_id"]).height


@given(st.lists(st.booleans(), min_size=4, max_size=12), st.integers(0, 9))
def test_a_query_without_a_group_is_one_of_its_own(grouped, seed):
    queries = pl.DataFrame({"query_id": [f"q{i:02}" for i in range(len(grouped))]})
    by = {query: "g" if is_in else None for query, is_in in zip(queries["query_id"], grouped, strict=True)}
    table = pl.DataFrame({"query_id": list(by), "group": list(by.values())}, schema_overrides={"group": pl.String})
    if grouped.count(False) + any(grouped) < 2:
        return
    assert folds_of(queries, by, 2, seed).equals(folds_of(queries, table, 2, seed))


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt64])
def test_distances_at_the_ends_of_a_type_keep_their_order(dtype):
    lowest, highest = pl.select(low=dtype.min(), high=dtype.max()).row(0)
    run = pl.DataFrame(
        {"query_id": "q", "doc_id": ["a", "b", "c"], "score": pl.Series([lowest, 7, highest], dtype=dtype)}
    )
    ranked = ir.normalize(run, "rank", lower_is_better=True).sort("score", descending=True)
    assert ranked["doc_id"].to_list() == ["a", "b", "c"]


def test_what_runs_do_not_return_has_no_overlap():
    runs = {"a": {"q": ["x"]}, "b": {"q": ["x", "y"]}}
    assert ir.complementarity(runs, {"q": {"z": 1}}, "AP").pairs["relevant_overlap"].to_list() == [None]
    assert ir.complementarity(runs, {"q": {"x": 1, "y": 1}}, "AP").pairs["other_overlap"].to_list() == [None]
    with pytest.raises(ir.IRError, match="needs a judged query that a run answers; there is none"):
        ir.complementarity(
            {run: {"p": ["x"]} for run in runs},
            pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}),
            "AP",
        )


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("function", [ir.contribution, ir.complementarity, ir.tune_fusion])
def test_a_plan_of_fewer_than_two_runs_is_no_fusion(function, rows):
    run = pl.DataFrame({"run": "a", "query_id": "q", "doc_id": ["d"], "score": 1.0}).head(rows).lazy()
    with pytest.raises(
        ir.IRError, match=f"fuse needs several runs; got {rows}: {'no row' if rows == 0 else repr('a')}"
    ):
        function(run, {"q": ["d"]})
