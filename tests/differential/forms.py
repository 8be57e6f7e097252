"""One call in many forms: rows of any dtype and order, lazy, by system, of pandas, beside columns of hostile names.

The first form, a DataFrame in its own order, says what the others must give: the same rows to the bit. No order of rows
decides anything here, as ties are broken by id. What plans add up as they stream differs by rounding.
"""

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import polars as pl

import polars_ir as ir

from . import thresholds

#: Dtypes of scores, of grades and of ids.
SCORES = (pl.Float64, pl.Float32, pl.Decimal(10, 2), pl.Int64, pl.UInt64, pl.Int128, pl.UInt8)
GRADES = (pl.Int64, pl.Float64, pl.Float32, pl.Decimal(10, 2), pl.UInt8, pl.Int128, pl.Boolean)
IDS = [f"d{i}" for i in range(12)]
TEXTS = (pl.String, pl.Categorical, pl.Enum(IDS))

#: Names that plans or measures have for columns of their own, which a user's table may have for another thing.
HOSTILE = (
    *("", "literal", "len", "count", "index", "row", "query", "document", "judgment", "kept", "new", "n", "term"),
    *("rank_right", "doc_id_right", "score_right", "relevance_right", "hit", "hit_score", "hit_doc_id", "n_tied"),
    *("weight", "value", "place", "number", "was_doc", "n_runs", "first_rank", "ideal_rank", "polars_ir"),
)

Call = Callable[..., Any]

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
    "similarity": lambda run, _: ir.similarity(run, k=2),
}

#: Calls of a run that holds its grades.
OF_LABELLED: dict[str, Call] = {
    "labelled": lambda run: ir.evaluate(run, None, ["AP", "nDCG@3", "RR", "NumRet"]),
    "labelled, condensed": lambda run: ir.evaluate(run, None, ["P@2", "bpref"], judged_only=True),
    "labelled, expected": lambda run: ir.evaluate(run, None, ["AP", "P@2"], ties="expected"),
    "labelled, bounds": lambda run: ir.evaluate(run, None, ["P@2", "nDCG@3"], bounds=True),
}

#: Calls of figures per query; systems are named, since those of a table have the order of their rows.
OF_PER_QUERY: dict[str, Call] = {
    "mean, by": lambda frame: ir.mean(frame, by="lang"),
    "mean, weights": lambda frame: ir.mean(frame, weights="weight"),
    "summarize, by": lambda frame: ir.summarize(frame, by="lang", interval="t"),
    "summarize, BCa": lambda frame: ir.summarize(frame, interval="BCa", resamples=200, weights="weight"),
    "compare": lambda frame: ir.compare(frame, baseline="a"),
    "compare, randomisation": lambda frame: ir.compare(
        frame, measures="AP", baseline="a", test="randomisation", resamples=100
    ),
    "compare, by": lambda frame: ir.compare(frame, measures="RR", baseline="a", by="lang", test="sign"),
    "risk": lambda frame: ir.risk(frame, "a", resamples=100),
    "ranks": lambda frame: ir.ranks(frame, measures="AP"),
    "robustness": lambda frame: ir.robustness(frame, "base"),
    "abstention": lambda frame: ir.abstention(frame, "confidence"),
    "worst_slices": lambda frame: placed(ir.worst_slices(frame, "lang", measures="AP")),
}


def hostile(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with columns of hostile names, before its own and after."""
    names = chance.sample(HOSTILE, 16)
    values = (pl.lit(None, pl.Float64), pl.lit(False), pl.lit(7), pl.lit("d1"))
    return frame.select(
        *(chance.choice(values).alias(name) for name in names[:8]),
        pl.all(),
        *(chance.choice(values).alias(name) for name in names[8:]),
    )


def usual(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with Float64 numbers and String ids."""
    numbers = pl.selectors.numeric() | pl.selectors.decimal() | pl.selectors.boolean()
    return frame.with_columns(numbers.cast(pl.Float64), (pl.selectors.all() - numbers).cast(pl.String))


def by_system(frame: pl.DataFrame) -> Any:
    """A dict of the frames of systems; judgments are as they are."""
    if "run" not in frame.columns:
        return frame
    return {system[0]: rows.drop("run") for system, rows in frame.partition_by("run", as_dict=True).items()}


def plain(frame: pl.DataFrame) -> Any:
    """Nested dicts of the only value of a query and document, by system; a table with others is a list of its rows."""
    if "run" in frame.columns and {*frame.columns} == {"run", "query_id", "doc_id", "score"}:
        return {system: plain(rows) for system, rows in by_system(frame).items()}
    if frame.width == 3 and "doc_id" in frame.columns:
        nested: dict[str, dict[str, Any]] = {}
        for query, document, value in frame.rows():
            nested.setdefault(query, {})[document] = value
        return nested
    return frame.to_dicts()


def as_sorted(frame: pl.DataFrame) -> pl.DataFrame | pl.LazyFrame:
    """A run as a plan that says by what its rankings are sorted; judgments as they are."""
    if "run" not in frame.columns:
        return frame
    return frame.sort("run", "query_id", maintain_order=True).lazy().set_sorted("run", "query_id")


def in_pieces(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame in chunks of some rows."""
    size = chance.randint(1, 4)
    return pl.concat([*frame.iter_slices(size), frame.clear()], rechunk=False)


def of_pandas(frame: pl.DataFrame) -> bool:
    """True if pandas has the dtypes of a frame."""
    return not any(dtype.is_decimal() or dtype in (pl.Int128, *TEXTS[1:]) for dtype in frame.dtypes)


#: Other forms of both tables by what they are.
FORMS: dict[str, Callable[[random.Random, pl.DataFrame], Any]] = {
    "shuffled": lambda chance, frame: frame.sample(fraction=1, shuffle=True, seed=chance.randrange(99)),
    "lazy": lambda _, frame: frame.lazy(),
    "lazy, shuffled": lambda chance, frame: frame.sample(fraction=1, shuffle=True, seed=chance.randrange(99)).lazy(),
    "lazy, sorted": lambda _, frame: as_sorted(frame),
    "hostile": hostile,
    "hostile, lazy": lambda chance, frame: hostile(chance, frame).lazy(),
    "by system": lambda _, frame: by_system(frame),
    "by system, lazy": lambda _, frame: lazily(by_system(frame)),
    "plain": lambda _, frame: plain(frame),
    "in pieces": in_pieces,
    "of usual dtypes": lambda _, frame: usual(frame),
    "long, shuffled": lambda chance, frame: ir.long(frame).sample(fraction=1, shuffle=True, seed=chance.randrange(99)),
    "pandas": lambda _, frame: frame.to_pandas() if of_pandas(frame) else frame,
    "pandas, indexed": lambda chance, frame: indexed(chance, frame) if of_pandas(frame) else frame,
}

#: The forms of a run that holds its grades, which is one table.
FORMS_OF_LABELLED = tuple(form for form in FORMS if not form.startswith(("by system", "long")))

#: The forms of a run and its judgments.
OF_TABLES = tuple(form for form in FORMS if not form.startswith("long"))

#: The forms of figures per query, whose other columns are attributes or measures.
FORMS_OF_PER_QUERY = (
    "long, shuffled",
    "shuffled",
    "lazy",
    "by system",
    "by system, lazy",
    "in pieces",
    "pandas",
    "pandas, indexed",
)


def placed(result: Any) -> Any:
    """The rows of each system with their places, where their order is told."""
    if hasattr(result, "assign"):
        return result.sort_values("run", kind="stable").assign(place=range(len(result)))
    return result.sort("run", maintain_order=True).with_row_index("place")


def lazily(frames: Any) -> Any:
    """The frames of systems, or the one frame, as plans."""
    return {system: rows.lazy() for system, rows in frames.items()} if isinstance(frames, dict) else frames.lazy()


def indexed(chance: random.Random, frame: pl.DataFrame) -> Any:
    """A pandas frame of shuffled rows, which keep their index."""
    return frame.to_pandas().sample(frac=1, random_state=chance.randrange(99))


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


def labelled(chance: random.Random) -> tuple[pl.DataFrame]:
    """A run of two systems that holds its grades, some of them null."""
    run, qrels = tables(chance)
    joined = run.join(qrels, on=["query_id", "doc_id"], how="left", maintain_order="left")
    # Rows of dicts without any grade say nothing of its dtype.
    return (joined,) if joined["relevance"].count() else labelled(chance)


def per_query(chance: random.Random) -> tuple[pl.DataFrame]:
    """Figures of two systems by query, with attributes of the queries."""
    queries = [f"q{i}" for i in range(chance.randint(5, 12))]
    of_query = pl.DataFrame(
        {
            "query_id": queries,
            "lang": [chance.choice(["de", "en"]) for _ in queries],
            "base": [chance.choice(["u", "v"]) for _ in queries],
            "weight": [chance.choice([1.0, 0.5, 2.0]) for _ in queries],
            "confidence": [chance.random() for _ in queries],
        }
    )
    figures = [(run, q, *(chance.choice([0, 0.25, 0.5, 1 / 3, 1]) for _ in "AR")) for run in "ba" for q in queries]
    frame = pl.DataFrame(figures, schema=["run", "query_id", "AP", "RR"], orient="row", strict=False)
    return (frame.join(of_query, on="query_id", maintain_order="left"),)


def rows_of(result: Any, columns: list[str] | None = None) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns of a result, and its rows in one order."""
    frame = result.collect() if isinstance(result, pl.LazyFrame) else result
    frame = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
    frame = frame if columns is None else frame.select(columns)
    return frame.columns, sorted(frame.rows(), key=repr)


#: The calls that add up figures of queries, and the columns that those of plans have otherwise.
SUMMING = ("mean", "summarize", *OF_PER_QUERY)
OF_VALUES = ("rank_biserial", "rank_biserial_low", "rank_biserial_high")


def nearly(columns: list[str], rows: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> bool:
    """True if the numbers of rows are those wanted but for rounding, and all that needs no values is the same."""

    def same(column: str, value: Any, other: Any) -> bool:
        if isinstance(value, float) and isinstance(other, float):
            # SciPy finds the ends of the interval of d to some 8 digits.
            return math.isclose(value, other, rel_tol=1e-6 if column.startswith("cohen_d_") else 1e-11, abs_tol=1e-12)
        return value == other or (value is None and column in OF_VALUES) or column == "note"

    return len(rows) == len(wanted) and all(
        all(map(same, columns, row, other)) for row, other in zip(rows, wanted, strict=True)
    )


def drawn(chance: random.Random) -> tuple[str, Call, tuple[pl.DataFrame, ...], list[str]]:
    """A call with its tables, and the names of the forms that these may have."""
    made, calls, forms = chance.choices(
        (
            (tables, CALLS, (*OF_TABLES, "hostile", "hostile, lazy")),
            (labelled, OF_LABELLED, FORMS_OF_LABELLED),
            (per_query, OF_PER_QUERY, FORMS_OF_PER_QUERY),
        ),
        (6, 1, 1),
    )[0]
    name = chance.choice(list(calls))
    return name, calls[name], made(chance), list(forms)


def differences(seed: int, number: int) -> list[str]:
    """The forms of a call, drawn by its number, that give other rows than the first."""
    chance = random.Random(f"forms/{seed}/{number}")
    name, call, given, forms = drawn(chance)
    columns: list[str] | None = None
    wanted: list[tuple[Any, ...]] = []
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IRWarning)
        for form in ("first", *chance.sample(forms, 2)):
            try:
                made = FORMS.get(form, lambda _, frame: frame)
                # The first is put together by numbers, however small it is.
                with thresholds.set_to({"small": 0} if form == "first" else {"portion": 4}):
                    of_form, rows = rows_of(call(*(made(chance, table) for table in given)), columns)
                if form == "first":
                    columns, wanted = of_form, rows
            except ir.IRError as error:
                if "lazy" not in form or "LazyFrame" not in str(error):
                    found.append(f"{name} of {form} ({seed}, {number}): {type(error).__name__}: {error!s:.200}")
                continue
            except Exception as error:  # noqa: BLE001  # no form of valid rows is an error
                found.append(f"{name} of {form} ({seed}, {number}): {type(error).__name__}: {error!s:.200}")
                continue
            is_summed = "lazy" in form and name.startswith(SUMMING)
            if rows != wanted and not (is_summed and nearly(columns or [], rows, wanted)):
                found.append(f"{name} of {form} ({seed}, {number}): {rows[:4]}; wanted {wanted[:4]}")
    return found
