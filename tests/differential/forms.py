"""One call in many forms: rows of any dtype and order, lazy, by system, of pandas, beside columns of hostile names.

The first form, a DataFrame in its own order, says what the others must give: the same rows to the bit. No order of rows
decides anything here, as ties are broken by id.
"""

import random
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

import polars_ir as ir

#: Dtypes of scores, of grades and of ids.
SCORES = (pl.Float64, pl.Float32, pl.Decimal(10, 2), pl.Int64, pl.UInt64, pl.Int128, pl.UInt8)
GRADES = (pl.Int64, pl.Float64, pl.Float32, pl.Decimal(10, 2), pl.UInt8, pl.Int128)
IDS = [f"d{i}" for i in range(12)]
TEXTS = (pl.String, pl.Categorical, pl.Enum(IDS))

#: Names that plans or measures have for columns of their own, which a user's table may have for another thing.
HOSTILE = (
    *("", "literal", "len", "count", "index", "row", "query", "document", "judgment", "kept", "new", "n", "term"),
    *("rank_right", "doc_id_right", "score_right", "relevance_right", "hit", "hit_score", "hit_doc_id", "n_tied"),
    *("weight", "value", "place", "number", "was_doc", "n_runs", "first_rank", "ideal_rank", "polars_ir"),
)

Call = Callable[[Any, Any], Any]

#: Calls of a run and its judgments.
CALLS: dict[str, Call] = {
    "evaluate": lambda run, qrels: ir.evaluate(run, qrels, ["AP", "nDCG@3", "RR", "Judged@3", "NumRet"]),
    "evaluate, gains": lambda run, qrels: ir.evaluate(run, qrels, ir.dcg(k=3, gains={0.5: 3, 1: 2}).alias("DCG")),
    "evaluate, judged_only": lambda run, qrels: ir.evaluate(run, qrels, ["AP", "P@2"], judged_only=True),
    "evaluate, skip": lambda run, qrels: ir.evaluate(run, qrels, ["AP", "P@2"], missing="skip"),
    "evaluate, bounds": lambda run, qrels: ir.evaluate(run, qrels, ["P@2", "nDCG@3"], bounds=True),
    "mean": lambda run, qrels: ir.mean(ir.evaluate(run, qrels, ["AP", "P@2"])),
    "summarize": lambda run, qrels: ir.summarize(ir.evaluate(run, qrels, ["AP"])),
    "fuse, rrf": lambda run, _: ir.fuse(run, "rrf"),
    "fuse, sum": lambda run, _: ir.fuse(run, "sum", norm="min-max"),
    "fuse, condorcet": lambda run, _: ir.fuse(run, "condorcet"),
    "fuse, mnz": lambda run, _: ir.fuse(run, "mnz", norm="borda"),
    "fuse, distances": lambda run, _: ir.fuse(run, "sum", lower_is_better=True),
    "top_k": lambda run, _: ir.top_k(run, 2),
    "skip_first": lambda run, _: ir.skip_first(run, 2),
    "rerank": lambda run, _: ir.rerank(run, {"d1": {"d1": 2.0, "d3": 9.0}, "d2": {"d2": -1.0}}, depth=3),
    "condense": ir.condense,
    "collapse, sum": lambda run, _: ir.collapse(run, pl.col("doc_id").cast(pl.String).str.head(2), how="sum"),
    "deduplicate": lambda run, _: ir.deduplicate(run),
    "normalize": lambda run, _: ir.normalize(run, "z"),
    "pool": lambda run, _: ir.pool(run, depth=2),
}


def hostile(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with columns of hostile names, before its own and after."""
    names = chance.sample(HOSTILE, 8)
    values = (pl.lit(None, pl.Float64), pl.lit(False), pl.lit(7), pl.lit("d1"))
    return frame.select(
        *(chance.choice(values).alias(name) for name in names[:4]),
        pl.all(),
        *(chance.choice(values).alias(name) for name in names[4:]),
    )


def usual(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with Float64 numbers and String ids."""
    numbers = pl.selectors.numeric() | pl.selectors.decimal()
    return frame.with_columns(numbers.cast(pl.Float64), (pl.selectors.all() - numbers).cast(pl.String))


def by_system(frame: pl.DataFrame) -> Any:
    """A dict of the frames of systems; judgments are as they are."""
    if "run" not in frame.columns:
        return frame
    return {system[0]: rows.drop("run") for system, rows in frame.partition_by("run", as_dict=True).items()}


def of_pandas(frame: pl.DataFrame) -> bool:
    """True if pandas has the dtypes of a frame."""
    return not any(dtype.is_decimal() or dtype in (pl.Int128, *TEXTS[1:]) for dtype in frame.dtypes)


#: Other forms of both tables by what they are.
FORMS: dict[str, Callable[[random.Random, pl.DataFrame], Any]] = {
    "shuffled": lambda chance, frame: frame.sample(fraction=1, shuffle=True, seed=chance.randrange(99)),
    "lazy": lambda _, frame: frame.lazy(),
    "lazy, shuffled": lambda chance, frame: frame.sample(fraction=1, shuffle=True, seed=chance.randrange(99)).lazy(),
    "hostile": hostile,
    "hostile, lazy": lambda chance, frame: hostile(chance, frame).lazy(),
    "by system": lambda _, frame: by_system(frame),
    "of usual dtypes": lambda _, frame: usual(frame),
    "pandas": lambda _, frame: frame.to_pandas() if of_pandas(frame) else frame,
}


def tables(chance: random.Random) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run of two systems and judgments, of dtypes at random."""
    keys = [
        (system, query, document)
        for system in ("b", "a")
        for query in ("d1", "d2", "d3")
        for document in chance.sample(IDS, chance.randint(1, 6))
    ]
    run = pl.DataFrame(keys, schema=["run", "query_id", "doc_id"], orient="row")
    scores, grades, ids = chance.choice(SCORES), chance.choice(GRADES), chance.choice(TEXTS)
    run = run.with_columns(score=pl.Series([chance.randint(0, 5) for _ in keys]).cast(scores))
    judged = [(query, document) for query in ("d1", "d2", "d4") for document in chance.sample(IDS, 4)]
    qrels = pl.DataFrame(judged, schema=["query_id", "doc_id"], orient="row")
    steps = (0, 0.5, 1, 2) if grades in (pl.Float64, pl.Float32, pl.Decimal(10, 2)) else (0, 1, 2)
    qrels = qrels.with_columns(relevance=pl.Series([float(chance.choice(steps)) for _ in judged]).cast(grades))
    cast = pl.col("query_id", "doc_id").cast(ids)
    return run.with_columns(cast), qrels.with_columns(cast)


def rows_of(result: Any, columns: list[str] | None = None) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns of a result, and its rows in one order."""
    frame = result.collect() if isinstance(result, pl.LazyFrame) else result
    frame = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
    frame = frame if columns is None else frame.select(columns)
    return frame.columns, sorted(frame.rows(), key=repr)


def differences(seed: int, number: int, calls: Mapping[str, Call] = CALLS) -> list[str]:
    """The forms of a call, drawn by its number, that give other rows than the first."""
    chance = random.Random(f"forms/{seed}/{number}")
    run, qrels = tables(chance)
    name = chance.choice(list(calls))
    columns: list[str] | None = None
    wanted: list[tuple[Any, ...]] = []
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IRWarning)
        for form in ("first", *chance.sample(list(FORMS), 3)):
            try:
                made = FORMS.get(form, lambda _, frame: frame)
                of_form, rows = rows_of(calls[name](made(chance, run), made(chance, qrels)), columns)
                if form == "first":
                    columns, wanted = of_form, rows
            except Exception as error:  # noqa: BLE001  # no form of valid rows is an error
                found.append(f"{name} of {form} ({seed}, {number}): {type(error).__name__}: {error!s:.200}")
                continue
            if rows != wanted:
                found.append(f"{name} of {form} ({seed}, {number}): {rows[:4]}; wanted {wanted[:4]}")
    return found
