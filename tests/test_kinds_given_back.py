"""Each method of each kind of frame: the same results, of the type in its annotation, and the same errors."""

import inspect
import math
import re
from functools import cache, partial
from itertools import filterfalse

import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir import namespace
from polars_ir.language.options import options_of

PYDOCS = ir.datasets.load("pydocs")
QUERIES = PYDOCS.runs["query_id"].unique().sort().head(20)
RUNS = PYDOCS.runs.filter(pl.col("query_id").is_in(QUERIES.implode()))
QRELS = PYDOCS.qrels.filter(pl.col("query_id").is_in(QUERIES.implode()))
RUN, OTHER = (RUNS.filter(pl.col("run") == system).drop("run") for system in ("bm25", "tfidf"))
PER_QUERY = ir.evaluate(RUNS, QRELS, ["nDCG@10", "RR"])
OF_ONE = ir.evaluate(RUN, QRELS, ["nDCG@10", "RR"])
OLD = pl.DataFrame({"query_id": range(80), "RR": [0.25, 1.0] * 40})
BY_JUDGE = pl.concat([PER_QUERY.with_columns(pl.col("RR") * x, judge=pl.lit(f"{x}")) for x in (1, 2)])
WEEKS = pl.DataFrame({"query_id": QUERIES, "week": [number % 3 for number in range(20)]})

#: A call of every method, on a frame that it takes.
CALLS = {
    "abstention": (OF_ONE.with_columns(sure=pl.col("RR")), lambda frame: frame.abstention("sure")),
    "collapse": (RUN, lambda frame: frame.collapse(pl.col("doc_id").str.slice(0, 9))),
    "compare": (PER_QUERY, lambda frame: frame.compare(baseline="bm25")),
    "complementarity": (RUNS, lambda frame: frame.complementarity(QRELS)),
    "condense": (RUN, lambda frame: frame.condense(QRELS)),
    "confidence": (RUN, lambda frame: frame.confidence()),
    "contribution": (RUNS, lambda frame: frame.contribution(QRELS)),
    "coverage": (RUN, lambda frame: frame.coverage(QRELS)),
    "deduplicate": (RUN, lambda frame: frame.deduplicate()),
    "skip_first": (RUN, lambda frame: frame.skip_first()),
    "discriminative_power": (PER_QUERY, lambda frame: frame.discriminative_power(resamples=99)),
    "diff": (RUN, lambda frame: frame.diff(OTHER, QRELS, "nDCG@10")),
    "drift": (OF_ONE.join(WEEKS, on="query_id"), lambda frame: frame.drift("week")),
    "evaluate": (RUN, lambda frame: frame.evaluate(QRELS, "AP")),
    "explain": (RUN, lambda frame: frame.explain(QRELS, "nDCG@10", QUERIES[0])),
    "exposure": (RUNS, lambda frame: frame.exposure("Entropy@10, Personalisation@10")),
    "favour": (BY_JUDGE, lambda frame: frame.favour(truth="1")),
    "fuse": (RUNS, lambda frame: frame.fuse()),
    "gate": (OLD, lambda frame: frame.gate(OLD.with_columns(RR=0.5), ["RR"])),
    "geo_risk": (PER_QUERY, lambda frame: frame.geo_risk()),
    "hardest": (PER_QUERY, lambda frame: frame.hardest("RR")),
    "interleave": (RUN, lambda frame: frame.interleave(OTHER)),
    "interleaving": (ir.interleave(RUN, OTHER).with_columns(clicks=1), lambda frame: frame.interleaving()),
    "judge": (RUN, lambda frame: frame.judge(QRELS)),
    "judge_effect": (BY_JUDGE, lambda frame: frame.judge_effect(truth="1")),
    "judge_next": (RUN, lambda frame: frame.judge_next(QRELS, "nDCG@10")),
    "level": (PER_QUERY, lambda frame: frame.level(n=10, simulations=5)),
    "long": (PER_QUERY, lambda frame: frame.long()),
    "mean": (PER_QUERY, lambda frame: frame.mean()),
    "merge_calls": (RUN.with_columns(step=1), lambda frame: frame.merge_calls()),
    "missing_evidence": (RUN, lambda frame: frame.missing_evidence(QRELS)),
    "normalize": (RUN, lambda frame: frame.normalize()),
    "p_mrr": (RUN, lambda frame: frame.p_mrr(OTHER, QRELS)),
    "pool": (RUNS, lambda frame: frame.pool(depth=10)),
    "power": (PER_QUERY, lambda frame: frame.power(baseline="bm25", difference=0.05)),
    "rank_correlation": (PER_QUERY, lambda frame: frame.rank_correlation()),
    "ranks": (PER_QUERY, lambda frame: frame.ranks()),
    "rerank": (RUN, lambda frame: frame.rerank(OTHER)),
    "rerank_gain": (RUN, lambda frame: frame.rerank_gain(OTHER, QRELS)),
    "reusability": (RUNS, lambda frame: frame.reusability(QRELS, "nDCG@10")),
    "risk": (PER_QUERY, lambda frame: frame.risk("bm25")),
    "robustness": (OF_ONE.join(WEEKS, on="query_id"), lambda frame: frame.robustness("week")),
    "similarity": (RUNS, lambda frame: frame.similarity()),
    "summarize": (PER_QUERY, lambda frame: frame.summarize()),
    "top_k": (RUN, lambda frame: frame.top_k(5)),
    "tune_fusion": (RUNS, lambda frame: frame.tune_fusion(QRELS, folds=2)),
    "unanswered": (PER_QUERY, lambda frame: frame.unanswered()),
    "update": (ir.evaluate(RUN, QRELS, "AP", provenance=True), lambda frame: frame.update(RUN, QRELS, "AP")),
    "validate": (RUN, lambda frame: frame.validate(QRELS)),
    "worst_slices": (OF_ONE, lambda frame: frame.worst_slices(WEEKS)),
}

#: The columns of results that plans have, too; `test_of_plans` has the notes on the others.
KNOWN = cs.exclude("^rank_biserial.*$", "note")

#: Methods that return neither a frame nor a tuple of frames.
OTHERS = {"assert_no_worse", "provenance", "to_metrics", "table", "side_by_side", "explain_plan", "report"}


def given_back(name: str) -> str:
    """The return annotation of the function of a method."""
    function = (namespace.OF_RUN | namespace.OF_PER_QUERY)[name].function
    return str(inspect.unwrap(function).__annotations__["return"])


def frames_of(result: object) -> list:
    """The frames of a result."""
    fields = result if isinstance(result, tuple) else (result,)
    return [field for field in fields if not isinstance(field, (str, float, dict, type(None)))]


class Functions:
    """The functions of the package in the place of the methods of a frame."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __getattr__(self, name: str) -> partial:
        return partial(getattr(ir, name), self.frame)


@cache
def in_memory(name: str) -> list[pl.DataFrame]:
    """The frames of a result of Polars frames in memory."""
    frame, call = CALLS[name]
    return frames_of(call(frame.ir))


def test_every_method_is_called_here():
    assert CALLS.keys() | OTHERS == namespace.OF_RUN.keys() | namespace.OF_PER_QUERY.keys()


def by_system(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The frames of the systems of a frame."""
    return {run: frame.filter(run=run).drop("run") for run in frame["run"].unique(maintain_order=True)}


def turned(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows from last to first, but for the order of the systems."""
    parts = frame.partition_by("run", maintain_order=True) if "run" in frame.columns else [frame]
    return pl.concat(map(pl.DataFrame.reverse, parts))


#: The methods of a frame in another form, and the results of these in memory.
FORMS = {
    "DataFrame": (lambda frame: turned(frame).ir, lambda found: [found]),
    "LazyFrame": (
        lambda frame: frame.reverse().lazy().ir,
        lambda found: [found.select(KNOWN).collect(engine=engine) for engine in ("in-memory", "streaming")],
    ),
    "pandas": (lambda frame: frame.to_pandas().ir, lambda found: [pl.from_pandas(found)]),
    "dict": (lambda frame: ir.of(by_system(frame)), lambda found: [found]),
    "function": (Functions, lambda found: [found]),
}
KINDS = {"LazyFrame": pl.LazyFrame, "pandas": pd.DataFrame}


@pytest.mark.parametrize(
    ("form", "name"),
    [(form, name) for form in FORMS for name, (frame, _) in CALLS.items() if form != "dict" or "run" in frame.columns],
)
def test_a_method_gives_back_what_its_function_says_and_the_same_in_every_form(form, name):
    frame, call = CALLS[name]
    methods, collected = FORMS[form]
    assert "FrameT" in given_back(name)
    if form == "LazyFrame" and given_back(name) == "EagerFrameT":
        with pytest.raises(ir.IRError, match="got a LazyFrame"):
            call(methods(frame))
        return
    for found, wanted in zip(frames_of(call(methods(frame))), in_memory(name), strict=True):
        assert type(found) is KINDS.get(form, pl.DataFrame)
        for result in collected(found):
            if form in ("DataFrame", "function"):
                assert_frame_equal(result, wanted, check_row_order=False, check_exact=True)
            else:
                # The p of a drop is by moments in plans, and by flips of signs in memory.
                known = KNOWN - cs.by_name("p") if name == "gate" else KNOWN
                plan = form == "LazyFrame"
                assert_alike(result.select(known) if plan else result, wanted.select(known) if plan else wanted)


def assert_alike(found: pl.DataFrame, wanted: pl.DataFrame) -> None:
    """Raise an error unless frames hold the same but for rounding, and the integers that pandas has floats for."""
    numbers = cs.numeric().cast(pl.Float64)
    found, wanted = found.with_columns(numbers), wanted.with_columns(numbers)
    assert_frame_equal(found, wanted, check_row_order=False, check_dtypes=False, rel_tol=1e-12, abs_tol=1e-12)


def test_the_typed_spelling_does_what_the_namespace_does():
    assert ir.of(RUN).ndcg(QRELS, k=10).equals(RUN.ir.ndcg(QRELS, k=10))
    both = {"bm25": RUN, "tfidf": OTHER}
    assert ir.of(both).evaluate(QRELS, "AP").equals(ir.evaluate(both, QRELS, "AP"))


#: Calls of functions of systems, and the option that names one by the value that it has in their column.
OF_ALL_SYSTEMS = {
    "compare": (PER_QUERY, {}, "baseline"),
    "power": (PER_QUERY, {"difference": 0.05}, "baseline"),
    "risk": (PER_QUERY, {}, "baseline"),
    "worst_slices": (PER_QUERY, {"by": WEEKS}, "baseline"),
    "judge_next": (RUNS, {"qrels": QRELS, "measure": "RR", "depth": 5}, "baseline"),
    "ranks": (PER_QUERY, {}, None),
    "rank_correlation": (PER_QUERY, {}, None),
    "fuse": (RUNS, {"depth": 5}, None),
    "contribution": (RUNS, {"qrels": QRELS, "depth": 5}, None),
    "complementarity": (RUNS, {"qrels": QRELS, "depth": 5}, None),
}


@pytest.mark.parametrize("type", [pl.Int64, pl.Date])
@pytest.mark.parametrize("name", OF_ALL_SYSTEMS)
def test_numbers_and_days_name_systems_as_their_texts_do(name, type):
    (frame, given, option), found = OF_ALL_SYSTEMS[name], []
    number = pl.col("run").rank("dense").cast(pl.Int32).cast(type)
    for system in (number, number.cast(pl.String)):
        named = frame.with_columns(system)
        options = given if option is None else {**given, option: named["run"].min()}
        result, *_ = frames_of(getattr(ir, name)(named, **options))
        names = pl.col({"run", "baseline", "other"}.intersection(result.columns))
        found.append(result.with_columns(names.cast(pl.String)))
    assert_frame_equal(*found, check_exact=True)


#: The calls of functions of figures, and of those with options.
TOLD = CALLS | {"table": (PER_QUERY, lambda frame: frame.table(format="markdown"))}

#: Faults of rows, and the words of their errors, in memory and of a plan.
OF_ROWS = {
    "a value that is no number": (
        lambda f: f.with_columns(RR=math.nan),
        "rows (whose 'RR'|with a measure that) is NaN",
    ),
    "a row twice": (lambda f: pl.concat([f, f.head(1)]), "rows that repeat the ids of another"),
    "a null for a query": (lambda f: f.with_columns(query_id=f["query_id"].shift()), "rows? whose 'query_id' is null"),
    "a null for a system": (lambda f: f.with_columns(run=f["run"].shift()), "rows? whose 'run' is null"),
}

#: Faults of frames of figures, which a plan cannot have or tells of in other words.
OF_FRAMES = {
    "no query": (lambda f: f.drop("query_id"), "has no 'query_id' column"),
    "texts": (
        lambda f: f.cast(pl.String),
        "has no measure, which is a numeric or Boolean column|must be numbers; it is String",
    ),
    "a path": (lambda _: "a.parquet", "must be a table; got the path 'a.parquet'"),
    "no row": (lambda f: f.clear(), "has no row"),
    "one system": (lambda f: f.filter(run=f["run"][0]), "needs several systems; per_query has only 'bm25'"),
}

#: Faults of runs.
BAD_RUN = r"row whose '(score|doc_id)' is null|ids(, '\w+')? or scores that are null"
OF_RUNS = {
    "a null for a score": (lambda f: f.with_columns(score=f["score"].shift()), BAD_RUN),
    "NaN": (
        lambda f: f.with_columns(score=pl.when(pl.int_range(pl.len()) > 0).then("score").otherwise(math.nan)),
        BAD_RUN,
    ),
    "a null for a document": (
        lambda f: f.with_columns(doc_id=pl.when(pl.int_range(pl.len()) > 0).then("doc_id")),
        BAD_RUN,
    ),
    "a document twice": (lambda f: pl.concat([f, f.head(1)]), "2 rows that repeat the ids of another"),
    "no document": (lambda f: f.drop("doc_id"), "has no 'doc_id' column"),
    "no score": (lambda f: f.drop("score"), "has no 'score' column"),
    "texts for scores": (lambda f: f.cast({"score": pl.String}), "column 'score' must be numbers; it is String"),
}

#: Functions of figures that need several systems, or rows; `long` and `update` read keys only.
OF_SYSTEMS = {"compare", "discriminative_power", "geo_risk", "level", "power", "rank_correlation", "ranks", "risk"}
WITH_ROWS = OF_SYSTEMS | {"drift", "gate", "table", "worst_slices"}
OF_FIGURES = TOLD.keys() & {*namespace.OF_PER_QUERY, "table"} - {"long", "update"}

#: Functions of runs, all of which but `validate` and `coverage`, which count them, refuse wrong rows.
WITH_RUNS = {name for name, (frame, _) in CALLS.items() if "score" in frame.columns} - {"interleaving"}


#: Those that plans do not have: most verbs of a LazyFrame do not look for documents that stand there twice.
IN_MEMORY = {*OF_FRAMES, "a document twice"}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("fault", [*OF_ROWS, *OF_FRAMES, *OF_RUNS])
def test_a_fault_is_told_by_every_function(fault, lazy):
    change, says = (OF_ROWS | OF_FRAMES | OF_RUNS)[fault]
    names = {"no row": WITH_ROWS, "one system": OF_SYSTEMS}.get(fault, WITH_RUNS if fault in OF_RUNS else OF_FIGURES)
    if says in (BAD_RUN, OF_RUNS["a document twice"][1]):
        names = names - {"validate", "coverage", *(["deduplicate"] if says != BAD_RUN else [])}
    for name in sorted(names):
        frame, call = TOLD[name]
        is_eager = fault in IN_MEMORY or name == "table" or given_back(name) == "EagerFrameT"
        if (lazy and is_eager) or (fault == "a null for a system" and "run" not in frame.columns):
            continue
        wrong = change(frame).lazy() if lazy else change(frame)
        with pytest.raises((ir.IRError, pl.exceptions.InvalidOperationError), match=says):
            pl.collect_all([found.lazy() for found in frames_of(call(ir.of(wrong)))])


def options(name: str) -> dict:
    """The records of the options of a function, by name."""
    function = inspect.unwrap((namespace.OF_RUN | namespace.OF_PER_QUERY)[name].function)
    kind = re.fullmatch(r"Unpack\[(\w+)\]", str(function.__annotations__.get("options")))
    return options_of(function.__globals__[kind[1]]) if kind else {}


@pytest.mark.parametrize("name", list(filter(options, TOLD)))
def test_every_option_refuses_what_it_can_not_be_and_a_misspelt_one(name):
    parameters = inspect.signature(getattr(ir, name)).parameters.values()
    needed = [TOLD[name][0] for each in parameters if each.default is each.empty]
    for option, record in options(name).items():
        value = record.value
        for wrong in filterfalse(value.holds, (-1, 0.5, math.nan, True, "no such", [], None, 10**400, pl.col("x"))):
            with pytest.raises(ir.IRError, match=re.escape(f"{option} must be {value.wanted}")):
                getattr(ir, name)(*needed, **{option: value.by_our_name(wrong)})
        with pytest.raises(ir.IRError, match=rf"'{option}s?x'.*Did you mean '\w+'"):
            getattr(ir, name)(*needed, **{f"{option}x": value})
