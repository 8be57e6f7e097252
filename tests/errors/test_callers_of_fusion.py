"""Every error of fusion through every caller it can pass: Polars, pandas, a LazyFrame, the shell.

The file is long by its tables of what can be wrong.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pytest
from callers import check_words, never_made, noted

import polars_ir as ir
from polars_ir.cli import main

Tables = Mapping[str, Any]

A = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7]}
B = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d3", "d2"], "score": [0.8, 0.4, 0.6]}
QRELS = {"query_id": ["q1", "q2"], "doc_id": ["d1", "d1"], "relevance": [1, 1]}
WEIGHTS = {"query_id": ["q1", "q1", "q2", "q2"], "run": ["a", "b"] * 2, "weight": [1.0, 2.0, 2.0, 1.0]}
GROUPS = {"query_id": ["q1", "q2"], "group": ["x", "y"]}
TABLES = {"a": A, "b": B, "qrels": QRELS, "weights": WEIGHTS, "by": GROUPS}


def other(table: str, **columns: list | None) -> dict[str, dict[str, list]]:
    """The tables, one of them with some columns changed, or without those that are None."""
    changed = {**TABLES[table], **columns}
    return {**TABLES, table: {name: values for name, values in changed.items() if values is not None}}


def runs(tables: Tables) -> dict[str, Any]:
    """The runs of a fusion by name."""
    return {"a": tables["a"], "b": tables["b"]}


def fused(tables: Tables, *method: Any, **options: Any) -> Any:
    """The runs, fused; a LazyFrame is collected."""
    run = ir.fuse(runs(tables), *method, **options)
    return run.collect() if isinstance(run, pl.LazyFrame) else run


def tuned(tables: Tables, method: Any = "rrf", **options: Any) -> Any:
    """The runs, tuned for their mean reciprocal rank."""
    return ir.tune_fusion(runs(tables), tables["qrels"], method, "RR", **{"folds": 2, **options})


def trained(tables: Tables, method: Any = "posfuse", **options: Any) -> Any:
    """A method that learns from the runs."""
    return ir.fusion.train(method, runs(tables), tables["qrels"], **options)


def contributed(tables: Tables, method: str = "rrf", **options: Any) -> Any:
    """The contribution of each run to the fusion."""
    return ir.contribution(runs(tables), tables["qrels"], method, "RR", **options)


class Wrong(NamedTuple):
    """A call that fails, tables it fails with, and how the shell is asked for the same; whether a plan can tell."""

    call: Callable[[Tables], object]
    tables: Mapping[str, Mapping[str, list]] = TABLES
    typed: str = ""
    lazily: bool = True


FUSIONS = {
    "one run": Wrong(lambda t: ir.fuse(t["a"])),
    "nothing is judged": Wrong(lambda t: ir.complementarity(runs(t), t["qrels"].head(0), "AP"), lazily=False),
    "one run of a dict": Wrong(lambda t: ir.fuse({"a": t["a"]}), typed="a"),
    "no query in common": Wrong(fused, other("b", query_id=["x", "x", "y"]), typed="a b", lazily=False),
    "distances": Wrong(fused, other("b", score=None, distance=[0.1, 0.2, 0.3]), typed="a b"),
    "scores that rise": Wrong(fused, other("b", score=[0.1, 0.2, 0.3], rank=[1, 2, 1]), typed="a b", lazily=False),
    "no ranks": Wrong(lambda t: fused(t, dialect="pyserini"), typed="a b --dialect pyserini"),
    "no dialect": Wrong(lambda t: fused(t, dialect="lucene"), typed="a b --dialect lucene"),
    "no method of a dialect": Wrong(
        lambda t: fused(t, "borda", dialect="pyserini"), typed="a b --method borda --dialect pyserini"
    ),
    "no method": Wrong(lambda t: fused(t, "rff"), typed="a b --method rff"),
    "a method that learns": Wrong(lambda t: fused(t, "posfuse"), typed="a b --method posfuse"),
    "k of a product": Wrong(lambda t: fused(t, dialect="qdrant", k=0.5), typed="a b --dialect qdrant -k 0.5"),
    "k of another method": Wrong(lambda t: fused(t, "sum", k=3), typed="a b --method sum -k 3"),
    "weights that are ignored": Wrong(
        lambda t: fused(t, "rrf", dialect="ranx", weights=[1, 2]), typed="a b --dialect ranx -w 1 -w 2"
    ),
    "too few weights": Wrong(lambda t: fused(t, weights=[1]), typed="a b -w 1"),
    "no weight for a run": Wrong(lambda t: fused(t, weights={"a": 1})),
    "a weight of no run": Wrong(lambda t: fused(t, weights={"a": 1, "bm25": 2})),
    "a weight below 0": Wrong(lambda t: fused(t, weights=[1, -1]), typed="a b -w 1 -w -1"),
    "no weight above 0": Wrong(lambda t: fused(t, weights=[0, 0]), typed="a b -w 0 -w 0"),
    "weights that are none": Wrong(lambda t: fused(t, weights="equal")),
    "weights that are texts": Wrong(
        lambda t: fused(t, weights=t["weights"]), other("weights", weight=["1", "2", "2", "1"])
    ),
    "weights of other ids": Wrong(lambda t: fused(t, weights=t["weights"]), other("weights", query_id=[1, 1, 2, 2])),
    "a table without weights": Wrong(
        lambda t: fused(t, weights=t["weights"]), other("weights", weight=None, worth=[1.0, 2.0, 2.0, 1.0])
    ),
    "runs that were not learnt": Wrong(lambda t: ir.fuse({"a": t["a"], "c": t["b"]}, trained(t))),
    "an option of another learner": Wrong(lambda t: trained(t, segments=3)),
    "ends that fall": Wrong(lambda t: trained(t, "segfuse", ends=[5, 3])),
    "ends that are none": Wrong(lambda t: trained(t, "segfuse", ends="5")),
    "a run without a judged query": Wrong(
        trained, {**other("b", query_id=["q1", "q1", "x"]), "qrels": {name: ids[1:] for name, ids in QRELS.items()}}
    ),
    "more folds than queries": Wrong(lambda t: tuned(t, folds=5), typed="a b --tune --qrels qrels -m RR --folds 5"),
    "tuning of what learns": Wrong(
        lambda t: tuned(t, "posfuse"), typed="a b --tune --qrels qrels -m RR --method posfuse"
    ),
    "tuning of what has no weights": Wrong(
        lambda t: tuned(t, dialect="ranx"), typed="a b --tune --qrels qrels -m RR --dialect ranx"
    ),
    "groups without queries": Wrong(lambda t: tuned(t, by=t["by"]), other("by", query_id=None, question=["q1", "q2"])),
    "groups of other queries": Wrong(lambda t: tuned(t, by=t["by"]), other("by", query_id=["x1", "x2"])),
    "groups of two kinds": Wrong(lambda t: tuned(t, by=t["by"]), other("by", kind=["x", "y"])),
    "an unknown grid": Wrong(lambda t: tuned(t, grid={"depth": [1]})),
    "a grid of no list": Wrong(lambda t: tuned(t, grid={"k": 60})),
    "a grid of weights that are one number": Wrong(lambda t: tuned(t, grid={"weights": [1.0]})),
    "too many runs": Wrong(lambda t: ir.contribution(dict.fromkeys(map(str, range(9)), t["a"]), t["qrels"])),
    "a cost for one run": Wrong(lambda t: contributed(t, cost={"a": 1})),
}

#: Words of the messages in Python.
SAYS = {
    "one run of a dict": "fuse needs several runs; got 1: 'a'",
    "one run": "fuse needs several runs",
    "no query in common": "no query in common",
    "too few weights": "must be as many as runs; got 1 for the 2 runs",
    "a weight below 0": "must be numbers of 0 or more; got -1 for",
    "no weight above 0": "must not all be 0",
    "no method": "Did you mean 'rrf'",
    "no dialect": "dialect must be one of.*got 'lucene'",
    "no method of a dialect": "is known for",
    "k of another method": "is the constant of method='rrf'",
    "weights that are ignored": "are ignored by the method 'rrf'",
    "a weight of no run": "weights names 'bm25', which is not one of the systems",
    "a method that learns": r"'posfuse' learns from judged queries.*ir\.fusion\.train\('posfuse'",
    "runs that were not learnt": "trained for the runs 'a', 'b', and not for 'c'",
    "an option of another learner": "segments.* is not for 'posfuse', which takes none",
    "ends that fall": "must be ranks that rise",
    "a run without a judged query": "'b' answers no judged query; its queries are 'q1', 'x', those of the qrels 'q2'",
    "tuning of what has no weights": "has no weights to choose",
    "tuning of what learns": r"no weights to choose.*fuse_out_of_fold\(runs, qrels, 'posfuse'\)",
    "an unknown grid": "it can have 'weights', 'k', 'norm'",
    "more folds than queries": "must be no more than the 2",
    "a cost for one run": "must be a dict with a number for each",
    "distances": r"run 'b' has distances in 'distance'.*lower_is_better=\['b'\]",
    "scores that rise": "scores that rise with the rank",
}

LIBRARIES = {"polars": pl.DataFrame, "lazy": pl.LazyFrame, "pandas": pd.DataFrame}

#: The imports of a user, and the tables of `TABLES`.
IMPORTED = {"pl": pl, "pd": pd, "ir": ir}


def of_library(tables: Mapping[str, Mapping[str, list]], library: str) -> dict[str, Any]:
    """Tables as the frames of a library."""
    return {name: LIBRARIES[library](columns) for name, columns in tables.items()}


def check_said(error: ir.IRError, library: str) -> None:
    """A message is in the words of its caller: no option of the shell, and of pandas no method of Polars."""
    assert error.caller.kind == ("pandas" if library == "pandas" else "polars")
    assert not re.search(r"(?<![\w-])--[a-z]", str(error))
    if library == "pandas":
        assert not re.search(r"with_columns|pl\.|\.collect\(|\.rename\(\{", str(error))


#: The provoked errors and their frames: a plan does not know its rows before it is collected.
PASSED = [(name, library) for name in FUSIONS for library in LIBRARIES if library != "lazy" or FUSIONS[name].lazily]


@pytest.mark.parametrize(("name", "says"), SAYS.items())
def test_a_fusion_says_what_is_wrong(name, says):
    with pytest.raises(ir.IRError, match=says):
        FUSIONS[name].call(of_library(FUSIONS[name].tables, "polars"))


@pytest.mark.parametrize(("name", "library"), PASSED)
@pytest.mark.whole("one wording through many callers", quick=30)
def test_a_fusion_says_what_is_wrong_in_the_words_of_the_door(name, library):
    call, tables, _, _ = FUSIONS[name]
    with pytest.raises(ir.IRError) as error:
        call(of_library(tables, library))
    check_said(error.value, library)


#: Advice that is code about a table, or the value of an option, and the call that takes it.
ADVISED = {
    "weights that are texts": lambda t, advice: fused(t, weights=advice),
    "weights of other ids": None,
    "a table without weights": lambda t, advice: fused(t, weights=advice),
    "groups without queries": lambda t, advice: tuned(t, by=advice),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ADVISED)
@pytest.mark.whole("a fifth of a second a case", quick=6)
def test_the_code_of_an_advice_runs_and_helps(name, library):
    call, tables, _, _ = FUSIONS[name]
    frames = of_library(tables, library)
    with pytest.raises(ir.IRError) as error:
        call(frames)
    code = error.value.caller.code(error.value.fix)
    assert code in str(error.value)
    better = eval(code, {**IMPORTED, **frames})  # noqa: S307  # our own advice, as a user types it
    assert type(better) is LIBRARIES[library]
    if ADVISED[name] is None:  # of the right type now, but other queries still
        with pytest.raises(ir.IRError, match="one for each run and query"):
            fused({**frames, "weights": better} | of_library({"a": A, "b": B}, "polars"), weights=better)
    else:
        ADVISED[name](frames, better)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_distances_are_turned_as_advised_and_no_other_scores(library):
    for name in ("distances", "scores that rise"):
        frames = of_library(FUSIONS[name].tables, library)
        with pytest.raises(ir.IRError) as error:
            fused(frames)
        advice = error.value.caller.setting(error.value.fix.code)
        assert advice in str(error.value)
        near = LIBRARIES[library]({**B, "score": [0.1, 0.2, 0.3]})
        better = eval(f"ir.fuse({{'a': a, 'b': b}}, {advice})", {**IMPORTED, "a": frames["a"], "b": near})  # noqa: S307
        (best,) = pl.DataFrame(better).filter(query_id="q1").head(1)["doc_id"]
        assert best == "d1"


def test_a_system_among_others_that_has_distances_is_seen():
    rising = pl.DataFrame({**B, "score": [0.1, 0.2, 0.3], "rank": [1, 2, 1]}).select(pl.lit("b").alias("run"), pl.all())
    falling = pl.DataFrame({**A, "rank": [1, 2, 1]}).select(pl.lit("a").alias("run"), pl.all())
    both = pl.concat([falling, rising])
    with pytest.raises(ir.IRError, match=r"^run 'b' has scores that rise.*Say so: lower_is_better=\['b'\]\.$"):
        ir.fuse(both)
    assert ir.fuse(both, lower_is_better=["b"]).head(1)["doc_id"].to_list() == ["d1"]
    assert ir.fuse(falling.vstack(rising.with_columns(score=-pl.col("score")))).head(1)["doc_id"].to_list() == ["d1"]


@pytest.mark.parametrize("name", [name for name, wrong in FUSIONS.items() if wrong.typed])
@pytest.mark.whole("one wording through many callers", quick=6)
def test_a_fusion_of_files_says_it_in_the_words_of_the_shell(name, tmp_path, capsys):
    wrong = FUSIONS[name]
    assert main(["fuse", *arguments(wrong, tmp_path)]) == 2
    message = capsys.readouterr().err
    check_words(message)
    if name in ("distances", "scores that rise"):
        (advice,) = re.findall(r"Say so: (--lower-is-better b)\.", message)
        right = wrong._replace(tables=other("b", score=[0.1, 0.2, 0.3], rank=[1, 2, 1]))
        assert main(["fuse", *arguments(right, tmp_path), *advice.split()]) == 0


def arguments(wrong: Wrong, folder: Path) -> list[str]:
    """The tables as files, and what is typed."""
    files = {name: str(folder / f"{name}.parquet") for name in wrong.tables}
    for name, file in files.items():
        pl.DataFrame(wrong.tables[name]).write_parquet(file)
    output = [] if "--tune" in wrong.typed else ["-o", str(folder / "fused.run")]
    return [*(files.get(word, word) for word in wrong.typed.split()), *output]


def test_weights_in_order_and_contributions_want_names_of_a_plan():
    both = pl.concat([pl.DataFrame(A).with_columns(run=pl.lit("a")), pl.DataFrame(B).with_columns(run=pl.lit("b"))])
    with pytest.raises(ir.IRError, match=r"Give them by name: weights=\{'bm25': 2, 'dense': 1\}\.$"):
        ir.fuse(both.lazy(), weights=[1, 2])
    with pytest.raises(ir.IRError, match="Give a dict of LazyFrames, or collect it"):
        ir.fuse(both.lazy(), contributions=True)
    assert ir.fuse(both.lazy().collect(), contributions=True).height == 5


def test_every_error_of_fusion_is_provoked(monkeypatch):
    """Whoever adds an error to `fusion/` adds what provokes it above, so that each of its callers is tried."""
    with noted(monkeypatch) as lines:
        for call, tables, _, _ in FUSIONS.values():
            with suppress(ir.IRError):
                call(of_library(tables, "polars"))
        test_weights_in_order_and_contributions_want_names_of_a_plan()
    assert not (never := never_made("fusion", lines)), ", ".join(never)
