"""`fuse`: by hand, by brute force, and the same to the last bit in every order, kind and engine."""

import math
import random
from statistics import median

import polars as pl
import pytest
from tuned import tune

import polars_ir as ir
from polars_ir.errors import DataError
from polars_ir.fusion.pruning import pruned

A = {"q1": {"x": 9.0, "y": 6.0, "z": 5.0}, "q2": {"x": 1.0}}
B = {"q1": {"y": 3.0, "w": 2.0}, "q3": {"x": 1.0}}
C = {"q1": {"z": 0.75, "x": 0.5}, "q2": {"a": 3.0}}


def _random_runs(seed: int = 0, n_runs: int = 5) -> dict[str, dict[str, dict[str, float]]]:
    """Runs with ties, of different depth, some without some queries."""
    chance = random.Random(seed)
    return {
        f"run {name}": {
            f"q{query}": {
                f"d{doc}": round(chance.gauss(5, 2), 1) + 10 for doc in chance.sample(range(40), chance.randint(1, 30))
            }
            for query in range(8)
            if chance.random() < 0.9 or query == 0
        }
        for name in range(n_runs)
    }


RUNS = _random_runs()


def _ranks(docs: dict[str, float]) -> dict[str, int]:
    order = sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)
    return {doc: rank for rank, doc in enumerate(order, 1)}


def _brute_force(term, final, runs=RUNS) -> dict[tuple[str, str], float]:
    """`final(terms)` of the terms of each document, a term being `term(score, rank, scores of the list)`."""
    terms: dict[tuple[str, str], list[float]] = {}
    for run in runs.values():
        for query, docs in run.items():
            for doc, rank in _ranks(docs).items():
                terms.setdefault((query, doc), []).append(term(docs[doc], rank, docs))
    return {key: final(values) for key, values in terms.items()}


def _scores(fused: pl.DataFrame) -> dict[tuple[str, str], float]:
    return {(query, doc): score for query, doc, score in fused.select("query_id", "doc_id", "score").rows()}


def _score(score, _rank, _docs):
    return score


BY_HAND = {
    "sum": (_score, math.fsum),
    "min": (_score, min),
    "max": (_score, max),
    "med": (_score, median),
    "anz": (_score, lambda t: math.fsum(t) / len(t)),
    "mnz": (_score, lambda t: math.fsum(t) * len(t)),
    "gmnz": (_score, lambda t: math.fsum(t) * len(t) ** 0.5),
    "wmnz": (_score, lambda t: math.fsum(t) * len(t)),
    "mixed": (_score, lambda t: math.fsum(t) * math.sqrt(len(t))),
    "mean": (_score, lambda t: math.fsum(t) / 5),
    "geometric": (lambda s, _r, _d: math.log(s), lambda t: math.exp(math.fsum(t) / len(t))),
    "harmonic": (lambda s, _r, _d: 1 / s, lambda t: len(t) / math.fsum(t)),
    "isr": (lambda _s, r, _d: 1 / r**2, lambda t: math.fsum(t) * len(t)),
    "log_isr": (lambda _s, r, _d: 1 / r**2, lambda t: math.fsum(t) * math.log(len(t))),
    "logn_isr": (lambda _s, r, _d: 1 / r**2, lambda t: math.fsum(t) * math.log(len(t) + 0.01)),
    "rrf": (lambda _s, r, _d: 1 / (60 + r), math.fsum),
    "rbc": (lambda _s, r, _d: 0.2 * 0.8 ** (r - 1), math.fsum),
}


@pytest.mark.parametrize("method", BY_HAND)
def test_a_method_is_its_formula(method):
    assert _scores(ir.fuse(RUNS, method)) == pytest.approx(_brute_force(*BY_HAND[method]), rel=1e-12)


def test_borda_gives_what_a_run_lacks_the_mean_of_the_points_that_are_left():
    """Four candidates; A ranks x, y, z, B ranks y, w, C ranks z, x; a run with n has (4 - n + 1) / 2 for the others."""
    fused = ir.fuse([A, B, C], "borda").filter(query_id="q1")
    x, y = 4 + (4 - 2 + 1) / 2 + 3, 3 + 4 + (4 - 2 + 1) / 2
    z, w = 2 + (4 - 2 + 1) / 2 + 4, (4 - 3 + 1) / 2 + 3 + (4 - 2 + 1) / 2
    assert {(doc, score) for doc, score in fused.select("doc_id", "score").rows()} == {
        ("x", x),
        ("y", y),
        ("z", z),
        ("w", w),
    }


def test_condorcet_is_copeland_wins():
    """Every pair by a vote of the runs that have one of the two: what a run lacks is below what it has."""
    for runs in (RUNS, {"A": A, "B": B, "C": C}):
        found = _scores(ir.fuse(runs, "condorcet"))
        for query in {query for query, _ in found}:
            lists = [_ranks(run[query]) for run in runs.values() if query in run]
            docs = [doc for q, doc in found if q == query]
            places = {doc: [ranks.get(doc, math.inf) for ranks in lists] for doc in docs}
            for doc in docs:
                wins = 0.0
                for other in docs:
                    if other != doc:
                        votes = sum((o > d) - (o < d) for d, o in zip(places[doc], places[other], strict=True))
                        wins += 1 if votes > 0 else 0.5 if votes == 0 else 0
                assert found[query, doc] == wins


def test_a_method_of_ones_own_is_three_expressions():
    own = ir.fusion.Method("own", 1 / pl.col("rank"), pl.col("term").max(), pl.col("combined") * pl.col("n_runs"))
    expected = _brute_force(lambda _s, r, _d: 1 / r, lambda t: max(t) * len(t))
    assert _scores(ir.fuse(RUNS, own)) == pytest.approx(expected)


def test_what_a_run_lacks_can_count_zero_or_its_lowest():
    runs = {"a": {"q": {"x": 3.0, "y": 1.0}}, "b": {"q": {"x": 2.0}}}
    assert _scores(ir.fuse(runs, "min", missing="zero"))["q", "y"] == 0.0
    assert _scores(ir.fuse(runs, "sum", missing="min"))["q", "y"] == 1.0 + 2.0
    assert _scores(ir.fuse(runs, "min"))["q", "y"] == 1.0


# To the last bit.

METHODS = [method().name for method in ir.fusion.METHODS]


def _frame(runs=RUNS) -> pl.DataFrame:
    rows = [(run, q, d, s) for run, queries in runs.items() for q, docs in queries.items() for d, s in docs.items()]
    return pl.DataFrame(rows, schema=["run", "query_id", "doc_id", "score"], orient="row")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.whole("many cases", quick=7)
def test_ranks_by_number_change_no_bit(method, monkeypatch):
    """As those of large runs in memory are found."""
    expected = ir.fuse(RUNS, method)
    tune(monkeypatch, streaming_rows=0)
    assert ir.fuse(RUNS, method).equals(expected)
    assert ir.fuse(_frame().sample(fraction=1, shuffle=True, seed=2), method).equals(expected)


def test_ranks_by_number_of_lists_in_pieces_change_no_bit(monkeypatch):
    """Of frames in many chunks, whose lists are in order, turned about, or have their queries between each other."""
    frames = {name: _frame({name: run}).drop("run") for name, run in RUNS.items()}
    in_order = {name: frame.sort("query_id", "score", descending=[False, True]) for name, frame in frames.items()}
    orders = [in_order, {n: f.reverse() for n, f in in_order.items()}, {n: f.sort("doc_id") for n, f in frames.items()}]
    expected = ir.fuse(RUNS)
    tune(monkeypatch, streaming_rows=0)
    for runs in orders:
        chunks = {name: pl.concat(frame.iter_slices(7), rechunk=False) for name, frame in runs.items()}
        assert min(frame.n_chunks() for frame in chunks.values()) > 1
        assert ir.fuse(chunks).equals(expected)


def test_the_order_of_a_list_of_weighted_runs_changes_no_bit():
    weights = dict(zip(RUNS, [0.1, 0.7, 0.3, 0.9, 0.2], strict=True))
    expected = ir.fuse(RUNS, weights=weights)
    names = sorted(RUNS, reverse=True)
    assert ir.fuse([RUNS[n] for n in names], weights=[weights[n] for n in names]).equals(expected)


def test_the_scale_of_scores_does_not_matter_to_a_norm():
    """A factor that is a power of 2 changes no bit."""
    scaled = {"a": {q: {d: s * 1024 for d, s in docs.items()} for q, docs in RUNS["run 0"].items()}, "b": RUNS["run 1"]}
    for norm in ("min-max", "max", "sum", "z", "dbsf", "l2", "rank", "borda"):
        plain = {"a": RUNS["run 0"], "b": RUNS["run 1"]}
        assert ir.fuse(scaled, "sum", norm=norm).equals(ir.fuse(plain, "sum", norm=norm))


# Top, depth, weights.


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("streaming_rows", [0, 10**9])
@pytest.mark.whole("a third of a second a case", quick=1)
def test_pruning_changes_nothing(seed, streaming_rows, monkeypatch):
    tune(monkeypatch, streaming_rows=streaming_rows)
    chance = random.Random(seed)
    runs = _random_runs(seed, n_runs=chance.randint(2, 5))
    method = chance.choice(["rrf", "rbc"])
    weights = {name: chance.choice([0.25, 1, 3, 8]) for name in runs}
    for options in ({"method": method}, {"dialect": "weaviate"}, {"k": 1}, {"method": method, "missing": "min"}):
        whole = ir.fuse(runs, weights=weights, **options)
        for top in (1, 3, 7, 100):
            first = whole.group_by("query_id", maintain_order=True).head(top)
            assert ir.fuse(runs, weights=weights, **options, top=top).equals(first)
            plans = {name: _frame({name: run}).drop("run").lazy() for name, run in runs.items()}
            assert ir.fuse(plans, weights=weights, **options, top=top).collect().equals(first)


def test_pruning_leaves_most_out():
    """Two lists of 1000 with nothing in common: the tenth has 1 / (60 + 5), so that others need r <= 2 * 65 - 60."""
    ids = [[f"{run}{rank}" for rank in range(1000)] for run in "ab"]
    lists = pl.LazyFrame({"run": ["a", "b"], "query_id": "q", "weight": 1.0, "doc_id": ids})
    kept = pruned(lists, ir.fusion.rrf(), 10, ["a", "b"]).collect()
    assert kept["rank"].max() == 70
    assert kept.height == 140


def _tied_runs(seed: int) -> dict[str, pl.DataFrame]:
    """Lists of few scores, so that ties are cut by every bound; some queries have one run, or hardly a document."""
    chance = random.Random(seed)
    rows = [
        (run, f"q{query}", f"d{doc}", float(chance.randint(0, 3)) - (query == 3) * doc)
        for run in "abc"
        for query in range(6)
        if (run, query) != ("c", 0) and (run == "a" or query != 1)
        for doc in chance.sample(range(200), 2 if query == 2 else 150)
    ]
    frame = pl.DataFrame(rows, schema=["run", "query_id", "doc_id", "score"], orient="row")
    return {run: frame.filter(run=run).drop("run") for run in "abc"}


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize("method", ["rrf", "rbc"])
@pytest.mark.whole("a quarter of a second a case", quick=3)
def test_a_plan_prunes_nothing_that_is_tied_or_alone(method, stacked, engine):
    runs = _tied_runs(5)
    rows = [
        (f"q{q}", run, weight + q % 2) for q in range(6) for run, weight in zip("abc", (1.0, 3.0, 0.5), strict=True)
    ]
    by_query = pl.DataFrame(rows, schema=["query_id", "run", "weight"], orient="row")
    plans = {name: run.lazy() for name, run in runs.items()}
    if stacked:
        plans = pl.concat(plan.with_columns(run=pl.lit(name)) for name, plan in plans.items())
    for options in (
        {},
        {"weights": {"a": 0, "b": 5, "c": 1}},
        {"weights": by_query},
        {"weights": pl.col("score").max() + 1000},
        {"depth": 20},
        {"norm": "min-max"},
        {"missing": "zero"},
        {"lower_is_better": ["b"]},
    ):
        whole = ir.fuse(runs, method, **options)
        for top in (1, 5, 40):
            first = whole.group_by("query_id", maintain_order=True).head(top)
            assert ir.fuse(plans, method, **options, top=top).collect(engine=engine).equals(first), (options, top)


@pytest.mark.parametrize("plan", [False, True])
def test_a_document_that_a_run_repeats_raises_no_floor(plan, monkeypatch):
    """Its terms add up to more than any document can have, which would leave all out, itself too."""
    tune(monkeypatch, streaming_rows=0, searched_rows=0)
    scores = [float(-rank) for rank in range(20)]
    repeating = pl.DataFrame({"query_id": ["q"] * 20, "doc_id": ["x"] * 10 + [*"abcdefghij"], "score": scores})
    runs = {"a": repeating, "b": repeating[10:]}
    with pytest.raises((DataError, pl.exceptions.InvalidOperationError), match=r"more than once|repeat the ids"):
        ir.fuse({name: run.lazy() for name, run in runs.items()} if plan else runs, top=1).lazy().collect()


@pytest.mark.parametrize("plan", [False, True])
def test_a_term_for_what_a_run_lacks_is_not_left_out(plan, monkeypatch):
    tune(monkeypatch, streaming_rows=0)
    method = ir.fusion.rrf()._replace(absent=pl.col("weight") / 50)
    runs = {name: run.lazy() if plan else run for name, run in _tied_runs(8).items()}
    first = ir.fuse(runs, method).lazy().collect().group_by("query_id", maintain_order=True).head(5)
    assert ir.fuse(runs, method, top=5).lazy().collect().equals(first)


@pytest.mark.parametrize("plan", [False, True])
def test_more_than_there_can_be_are_all(plan, monkeypatch):
    tune(monkeypatch, streaming_rows=0)
    runs = _tied_runs(9)
    whole = ir.fuse(runs)
    runs = {name: run.lazy() for name, run in runs.items()} if plan else runs
    assert ir.fuse(runs, top=10**18).lazy().collect().equals(whole)


@pytest.mark.parametrize("plan", [False, True])
@pytest.mark.parametrize("other_query", ["q1", "q9"])
def test_a_query_that_only_runs_of_weight_0_answer_keeps_all(other_query, plan, monkeypatch):
    """Its documents are tied at 0, and ordered by their ids."""
    tune(monkeypatch, streaming_rows=0)
    lists = {"a": ("q1", "abcdefgh"), "b": ("q1", "bacdefghijk"), "c": (other_query, "xyz")}
    runs = {
        name: pl.LazyFrame({"query_id": query, "doc_id": [*ids], "score": range(0, -len(ids), -1)})
        for name, (query, ids) in lists.items()
    }
    runs["c"] = runs["c"].filter(query_id="q9")
    found = ir.fuse(runs if plan else pl.collect_all(runs.values()), weights=[0, 0, 1], top=2)
    rows = found.lazy().collect().filter(query_id="q1")
    assert rows.select("doc_id", "score").rows() == [("k", 0.0), ("j", 0.0)]


def test_equal_terms_of_zero_leave_nothing_out():
    """From rank 163 on 0.01^(rank - 1) is no number but 0: those documents are ordered by their ids."""
    ids = [f"d{i:04}" for i in range(5000)]
    runs = {n: pl.DataFrame({"query_id": "q", "doc_id": ids, "score": range(0, -5000, -1)}) for n in "ab"}
    method = ir.fusion.rbc(phi=0.01)
    first = ir.fuse(runs, method).head(200)
    assert first["doc_id"][-1] == "d4962"
    assert ir.fuse({name: run.lazy() for name, run in runs.items()}, method, top=200).collect().equals(first)


@pytest.mark.parametrize("top", [None, 1])
def test_a_plan_of_several_runs_finds_one_without_a_weight(top):
    stacked = _frame({"a": A, "b": B}).lazy()
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"weights must be .* one for each run"):
        ir.fuse(stacked, weights={"a": 1}, top=top).collect()


def test_terms_beyond_those_that_a_plan_knows_leave_nothing_out(monkeypatch):
    monkeypatch.setattr("polars_ir.fusion.pruning.LADDER", 3)
    runs = _tied_runs(6)
    first = ir.fuse(runs).group_by("query_id", maintain_order=True).head(5)
    assert ir.fuse({name: run.lazy() for name, run in runs.items()}, top=5).collect().equals(first)


@pytest.mark.parametrize(
    ("column", "value"), [("score", None), ("score", math.nan), ("query_id", None), ("doc_id", None)]
)
def test_a_pruned_plan_sees_wrong_rows_that_are_low(column, value):
    """Also of a row that is left out, and of a query whose others are right."""
    runs = _tied_runs(7)
    last = pl.int_range(pl.len()) == pl.len() - 1
    wrong = runs["b"].with_columns(pl.when(last).then(pl.lit(value)).otherwise(column).alias(column))
    for plans in (
        {**runs, "b": wrong.lazy()},
        pl.concat([runs["a"].with_columns(run=pl.lit("a")), wrong.with_columns(run=pl.lit("b"))]).lazy(),
    ):
        plan = ir.fuse(plans, top=1)
        for asked in (plan, plan.select("score"), plan.select("doc_id"), plan.select("n_runs")):
            with pytest.raises(
                pl.exceptions.InvalidOperationError, match="scores that are null, or scores that are NaN"
            ):
                asked.collect()


def test_the_depth_cuts_the_lists_before_anything_else():
    cut = {
        name: {q: dict(sorted(d.items(), key=lambda i: (i[1], i[0]))[-3:]) for q, d in run.items()}
        for name, run in RUNS.items()
    }
    assert ir.fuse(RUNS, "sum", norm="z", depth=3).equals(ir.fuse(cut, "sum", norm="z"))


def test_weights_by_query_are_a_table_or_an_expression():
    runs = {"a": {"q1": ["x", "y"], "q2": ["x", "y"]}, "b": {"q1": ["y", "x"], "q2": ["y", "x"]}}
    table = pl.DataFrame({"query_id": ["q1", "q2"] * 2, "run": ["a", "a", "b", "b"], "weight": [2.0, 1.0, 1.0, 2.0]})
    by_table = ir.fuse(runs, weights=table, top=1)
    assert by_table.select("query_id", "doc_id").rows() == [("q1", "x"), ("q2", "y")]
    first = pl.when((pl.col("query_id") == "q1").first() == (pl.col("run") == "a").first()).then(2.0).otherwise(1.0)
    assert ir.fuse(runs, weights=first, top=1).equals(by_table)


def test_a_margin_can_be_the_weight():
    runs = {"a": {"q": {"x": 9.0, "y": 1.0}}, "b": {"q": {"y": 2.0, "x": 1.0}}}
    margin = pl.col("score").max() - pl.col("score").min()
    assert _scores(ir.fuse(runs, weights=margin)) == pytest.approx(
        {("q", "x"): 8 / 61 + 1 / 62, ("q", "y"): 8 / 62 + 1 / 61}
    )


def test_contributions_are_the_terms_of_each_run():
    fused = ir.fuse({"a": A, "b": B}, contributions=True).filter(query_id="q1")
    assert fused.columns == ["query_id", "doc_id", "score", "n_runs", "term_a", "term_b"]
    assert dict(fused.select("doc_id", "term_a").rows())["x"] == 1 / 61
    assert dict(fused.select("doc_id", "term_b").rows())["x"] is None
    assert fused["score"].to_list() == fused.select(pl.sum_horizontal("term_a", "term_b")).to_series().to_list()


# Kinds of tables and ids.


def test_pandas_comes_back_as_pandas():
    pandas = pytest.importorskip("pandas")
    frames = {
        name: _frame({name: run}).drop("run").rename({"query_id": "qid"}).to_pandas() for name, run in RUNS.items()
    }
    found = ir.fuse(frames, top=3)
    assert isinstance(found, pandas.DataFrame)
    assert pl.from_pandas(found).rows() == ir.fuse(RUNS, top=3).rows()
    assert list(found.columns) == ["qid", "doc_id", "score", "n_runs"]


def test_a_stacked_frame_has_the_method():
    assert _frame().ir.fuse("sum", norm="z", top=2).equals(ir.fuse(RUNS, "sum", norm="z", top=2))
    assert isinstance(_frame().lazy().ir.fuse(), pl.LazyFrame)


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Categorical, pl.Int32])
def test_ids_of_any_type(dtype):
    ids = _frame().with_columns(pl.col("query_id", "doc_id").str.slice(1).cast(pl.Int64))
    ids = ids.with_columns(
        pl.col("query_id", "doc_id").cast(pl.String).cast(dtype)
        if dtype == pl.Categorical
        else pl.col("query_id", "doc_id").cast(dtype)
    )
    found = ir.fuse(ids, "sum", norm="min-max")
    texts = {(f"q{q}", f"d{d}"): s for (q, d), s in _scores(found).items()}
    assert texts == _scores(ir.fuse(RUNS, "sum", norm="min-max"))


def _numbered() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Runs whose names are integers, and the same as text; as numbers they have another order."""
    number = pl.col("run").str.extract(r"(\d+)").cast(pl.Int64) * 7
    frame = _frame().with_columns(run=number)
    return frame, frame.with_columns(pl.col("run").cast(pl.String))


@pytest.mark.parametrize("streaming_rows", [0, 10**9])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"contributions": True},
        {"weights": {"0": 1, "7": 2, "14": 3, "21": 1, "28": 2}},
        {"lower_is_better": ["14"]},
        {"method": "condorcet"},
        {"method": "sum", "norm": ir.fusion.min_max(minimum=dict.fromkeys(["0", "7", "14", "21", "28"], 0.0))},
        {
            "weights": pl.DataFrame(
                {"query_id": [f"q{i // 5}" for i in range(40)], "run": [0, 7, 14, 21, 28] * 8}
            ).select("query_id", "run", weight=pl.col("run") + 1.0)
        },
    ],
)
@pytest.mark.whole("many cases", quick=5)
def test_integers_name_systems_as_their_text_does(options, streaming_rows, monkeypatch):
    tune(monkeypatch, streaming_rows=streaming_rows)
    numbered, named = _numbered()
    expected = ir.fuse(named, **options)
    assert ir.fuse(numbered, **options).equals(expected)
    assert ir.fuse(numbered.to_pandas(), **options).equals(expected.to_pandas())
    if not options.keys() & {"contributions", "method"}:
        assert ir.fuse(numbered.lazy(), **options).collect().equals(expected)


@pytest.mark.whole("two seconds")
def test_integers_name_systems_in_the_other_functions_too():
    numbered, named = _numbered()
    qrels = {f"q{query}": {"d1": 1, "d2": 2, "d30": 1} for query in range(8)}
    for of in (
        lambda runs: ir.complementarity(runs, qrels, "AP").pairs,
        lambda runs: ir.contribution(runs, qrels, "rrf", "AP"),
        lambda runs: ir.tune_fusion(runs, qrels, "sum", "AP", norm="z", folds=2).trials,
        lambda runs: ir.fusion.fuse_out_of_fold(runs, qrels, "posfuse", folds=2),
        lambda runs: ir.normalize(runs, ir.fusion.min_max(maximum={str(7 * i): 30 for i in range(5)}))["score"],
    ):
        assert of(numbered).equals(of(named))


def test_a_plan_holds_no_python_function():
    plan = ir.fuse(_frame().lazy(), "sum", norm="z", top=5).explain()
    assert "python" not in plan.lower()


# Runs that cannot be fused.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ir.fuse(RUNS, ["rrf"]), "or a Method of your own; got ['rrf']"),
        (lambda: ir.fuse(RUNS, "sum", norm=["z"]), "or a Norm; got ['z']"),
        (lambda: ir.fuse({"bm25": A, "b": B}, weights={"bm52": 1, "b": 1}), "Did you mean 'bm25'"),
        (
            lambda: ir.fuse(
                {"bm25": A, "b": B},
                weights=pl.DataFrame({"query_id": "q1", "run": ["bm25", "bm52", "b"], "weight": 1.0}),
            ),
            "weights names 'bm52', which is not one of the systems: 'bm25', 'b'. Did you mean 'bm25'",
        ),
        (lambda: ir.fuse([A, B], "sum", norm="minmax"), "Did you mean 'min-max'"),
        (lambda: ir.fuse([A, B], dialect="qdrantt"), "Did you mean 'qdrant'"),
        (lambda: ir.fuse([A, B], "max", weights=[1, 2]), "are ignored by the method 'max'"),
        (lambda: ir.fuse([A, {1: {2: 0.5}}]), "must be String, as in the first run"),
        (lambda: ir.fuse([A, B], top=0), "top must be a whole number"),
        (lambda: ir.fuse([A, B], lower_is_better=["3"]), "names '3', which is not one of the systems"),
        (
            lambda: ir.fuse([A, B], weights=pl.DataFrame({"query_id": ["q1"], "run": ["1"], "weight": [1.0]})),
            "one for each run and query",
        ),
    ],
)
def test_what_can_not_be_fused_is_an_error(call, message):
    with pytest.raises(ir.IRError) as error:
        call()
    assert message in str(error.value)


@pytest.mark.parametrize(("method", "norm"), [("sum", "min-max"), ("sum", "z"), ("sum", None)])
def test_infinite_scores_make_no_nan(method, norm):
    """Their ranks are fused; what is computed of them is an error where it is no number."""
    runs = {"a": {"q": {"x": math.inf, "y": 1.0}}, "b": {"q": {"x": -math.inf, "y": 2.0}}}
    plans = {name: _frame({name: run}).drop("run").lazy() for name, run in runs.items()}
    assert ir.fuse(runs)["doc_id"].to_list() == ["y", "x"]
    with pytest.raises(ir.IRError, match="a fused score is NaN"):
        ir.fuse(runs, method, norm=norm)
    for columns in (["query_id", "doc_id", "score", "n_runs"], ["score"], ["doc_id"]):
        with pytest.raises(pl.exceptions.InvalidOperationError, match="a fused score is NaN"):
            ir.fuse(plans, method, norm=norm).select(columns).collect()


def test_distances_are_turned_where_it_is_said():
    near = {"q": {"x": 0.1, "y": 0.9}}
    scores = {"q": {"x": 2.0, "y": 1.0}}
    fused = ir.fuse({"dense": near, "bm25": scores}, "sum", norm="min-max", lower_is_better=["dense"])
    assert fused.select("doc_id", "score").rows() == [("x", 2.0), ("y", 0.0)]


# Duplicates of what is not searched beforehand.

TWICE = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["x", "y", "x"], "score": [3.0, 2.0, 1.0]})
ONCE = pl.DataFrame({"query_id": ["q"] * 2, "doc_id": ["x", "z"], "score": [3.0, 2.0]})


@pytest.mark.parametrize("method", ["rrf", "min", "med", "geometric", "wmnz", "condorcet", "borda"])
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.whole("many cases", quick=5)
def test_a_plan_fails_for_a_document_that_a_run_gives_twice(method, engine):
    several = pl.concat(run.with_columns(run=pl.lit(name)) for name, run in (("a", TWICE), ("b", ONCE)))
    for runs in ({"a": TWICE.lazy(), "b": ONCE.lazy()}, several.lazy()):
        for options in ({}, {"top": 1}):
            plan = ir.fuse(runs, method, **options)
            for asked in (plan, plan.select("score"), plan.select("doc_id")):
                with pytest.raises(pl.exceptions.InvalidOperationError, match="a document of a query more than once"):
                    asked.collect(engine=engine)


def test_a_large_run_that_gives_a_document_twice_is_an_error_that_shows_it(monkeypatch):
    tune(monkeypatch, searched_rows=0, streaming_rows=0)
    with pytest.raises(ir.IRError, match="run has 2 rows that repeat the ids of another") as error:
        ir.fuse({"a": TWICE, "b": ONCE})
    assert str(error.value).count("| q        | x      |") == 2


def test_more_runs_than_columns_are_searched_too():
    """Of many runs the terms are lists."""
    runs = {f"run {number}": ONCE.lazy() for number in range(20)}
    assert ir.fuse(runs).collect()["n_runs"].to_list() == [20, 20]
    with pytest.raises(pl.exceptions.InvalidOperationError, match="more than once"):
        ir.fuse({**runs, "run 7": TWICE.lazy()}).collect()


@pytest.mark.parametrize("call", [ir.tune_fusion, ir.complementarity, lambda r, q: ir.fusion.train("posfuse", r, q)])
def test_runs_that_are_collected_are_searched_for_duplicates(call):
    with pytest.raises(ir.IRError, match="repeat the ids of another"):
        call({"a": TWICE.lazy(), "b": ONCE.lazy()}, {"q": {"x": 1}})


OVER_A_LIST = [
    (pl.col("nope"), "reads the column 'nope', which a list does not have"),
    (pl.col("scores"), "Did you mean 'score'"),
    (pl.col("doc_id"), "must give numbers; the expression gives String"),
    (pl.col("score") + "x", "cannot be computed of a list"),
]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("option", ["weights", "norm"])
@pytest.mark.parametrize(("expression", "says"), OVER_A_LIST, ids=["none", "near", "text", "types"])
def test_an_expression_over_a_list_makes_numbers_of_its_columns(expression, says, option, lazy):
    run = pl.DataFrame({"query_id": "q", "doc_id": ["x", "y"], "score": [2.0, 1.0]})
    runs = dict.fromkeys("ab", run.lazy() if lazy else run)
    with pytest.raises(ir.IRError, match=f"^{option} .*{says}"):
        ir.fuse(runs, method="wsum", **{"norm": "max", option: expression})


def test_distances_are_normalised_by_the_inverted_min_max_and_names_have_any_case():
    near = {"q": {"d1": 0.1, "d2": 0.9, "d3": 0.3}}
    assert dict(ir.normalize(near, "min-max-inverted").select("doc_id", "score").iter_rows()) == pytest.approx(
        {"d1": 1.0, "d2": 0.0, "d3": 0.75}
    )
    inverted = ir.normalize(near, "min-max", lower_is_better=True).sort("doc_id")
    assert ir.normalize(near, "min-max-inverted").sort("doc_id")["score"].to_list() == pytest.approx(
        inverted["score"].to_list()
    )
    assert ir.fuse({"a": near, "b": near}, "RRF", k=60).equals(ir.fuse({"a": near, "b": near}, "rrf", k=60))
