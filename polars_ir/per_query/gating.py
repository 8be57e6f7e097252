"""Whether a change may ship: whether it costs no more of a measure than is allowed, beyond doubt.

Conventions: a change has to show that it does no harm; too few queries are no reason to let it pass. A drop is a change
for the worse, which is a rise where the lowest value is the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_ir.comparison.pairing import Scores, scores_of
from polars_ir.comparison.power import POWER, queries_needed
from polars_ir.conversion import give_back, to_polars
from polars_ir.errors import ColumnError, DataError, InputTypeError, OptionError, explain_options
from polars_ir.extras import require
from polars_ir.naming import is_cost
from polars_ir.options import INTERVALS, MISSING, ROUNDED, chance, not_negative, one_of, randomness
from polars_ir.schema import ROLES, find
from polars_ir.summary import measures_of

if TYPE_CHECKING:
    from polars_ir.comparison.pairing import Booleans, Floats

#: The columns of the result.
SCHEMA = {
    "measure": pl.String,
    **dict.fromkeys(["mean", "old_mean", "difference", "low", "high", "max_drop"], pl.Float64),
    "passed": pl.Boolean,
    "verdict": pl.String,
    **dict.fromkeys(["n_queries", "n_missing"], pl.UInt32),
    "note": pl.String,
}


@explain_options
def gate(
    new: Any,
    old: Any,
    measures: str | pl.Expr | Iterable[str | pl.Expr],
    *,
    max_drop: float | Mapping[str, float] = 0.01,
    alpha: float = 0.05,
    interval: str = "t",
    missing: str = "zero",
    resamples: int = 10_000,
    seed: int = 0,
) -> Any:
    """Whether a new system is no worse than an old one, but for what a measure may drop: one row per measure.

    A test of non-inferiority on the differences new - old of the same queries. `low` and `high` are bounds of their
    mean, each of which is beyond the true one with a probability of alpha: together they are an interval of confidence
    1 - 2 alpha. The verdict is

    - `"no worse"` if low is -max_drop or more, which passes: a change that truly costs max_drop or more passes with a
      probability of no more than alpha;
    - `"worse"` if high is below -max_drop;
    - `"inconclusive"` otherwise: these queries can not tell.

    A change ships if all measures pass: `gate(...)["passed"].all()`. That needs no correction for their number, since
    every one of them must pass; more measures make a gate stricter. For measures whose lowest value is the best
    (`Hole`), a drop is a rise: they pass if high is max_drop or less.

    Parameters
    ----------
    new
        What `evaluate` returned for the changed system; of one system, whatever it is called.
    old
        The same for the system as it was.
    measures
        Names of the measures, in any spelling.
    max_drop
        How much the mean of a measure may drop, in its units; 0 or more. A dict gives each measure its own.
    alpha
        The probability, below 0.5, with which a change that costs max_drop may pass.
    interval
        `"t"`, `"normal"`, `"percentile"` or `"BCa"` (of the bootstrap).
    missing
        A query of `old` that `new` lacks, or for which a measure is undefined (null) in `new` only, counts 0 for it
        (`"zero"`) or is left out (`"skip"`), as it always is of a measure whose best value is the lowest: 0 would help
        there. One that only `new` has, or has a value for, could not have dropped, and is left out. The note counts all
        of them.
    resamples
        How many samples a bootstrap draws.
    seed
        Of its random numbers.

    Returns
    -------
    The kind of new
        `measure` (String); `mean` (of new), `old_mean`, `difference`, `low`, `high`, `max_drop` (Float64); `passed`
        (Boolean); `verdict` (String); `n_queries`, `n_missing` (UInt32: the queries that only one of the two has);
        `note` (String, null if there is nothing to say): why there are no bounds, for an inconclusive verdict how many
        queries it takes to pass a change without any drop four times out of five, and which queries only one of the two
        has, or has a value for.

    Raises
    ------
    IRError
        For frames of several systems or without a query in common, a measure that one of them lacks, or options
        outside their range.

    References
    ----------
    Schuirmann 1987, https://doi.org/10.1007/BF01068419 (one-sided tests at level alpha by an interval of confidence
    1 - 2 alpha); Berger 1982, https://doi.org/10.1080/00401706.1982.10487790 (why several measures need no correction)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"]).partition_by("run", as_dict=True)
    >>> found = ir.gate(per_query["tfidf",], per_query["bm25",], ["nDCG@10", "RR"], max_drop=0.1)
    >>> found.select("measure", pl.col("difference", "low", "high").round(4), "passed", "verdict").rows()
    [('nDCG@10', -0.0597, -0.0783, -0.0412, True, 'no worse'),
     ('RR', -0.1017, -0.154, -0.0493, False, 'inconclusive')]
    """
    require("stats", "ir.gate")
    one_of("interval", interval, INTERVALS)
    one_of("missing", missing, MISSING)
    alpha = chance("alpha", alpha, below=0.5)
    options = {"kind": interval, "confidence": 1 - 2 * alpha, **randomness(resamples, seed)}
    found, measures = _of_one_system("new", new, measures)
    before, measures = _of_one_system("old", old, measures)
    allowed = _allowed(found, measures, max_drop)
    scores = scores_of({"new": found, "old": before}, measures, missing="skip", what="ir.gate")
    _check_common(scores)
    rows = [{**_judged(scores, name, allowed[name], alpha, options, missing), "measure": name} for name in measures]
    return give_back(pl.DataFrame(rows, schema=SCHEMA), new)


def _of_one_system(role: str, per_query: Any, measures: Any) -> tuple[pl.DataFrame, list[str]]:
    """The queries and the measures that are asked for, of a frame of a single system; the measures' columns."""
    frame = to_polars(role, per_query, column="score")
    if isinstance(frame, pl.LazyFrame):
        raise InputTypeError.lazy("ir.gate")
    query, run = find(role, "query_id", frame.columns), find(role, "run", frame.columns)
    if query is None:
        raise ColumnError.missing(role, "query_id", ROLES["query_id"], frame.columns)
    if run is not None and (several := frame[run].unique().sort()).len() > 1:
        raise ColumnError(
            f"{role} must be of one system; it has {several.len()}: {', '.join(map(repr, several.head(5)))}. Keep one: "
            f"{role}.filter(pl.col({run!r}) == {several[0]!r})."
        )
    if frame.is_empty():
        raise DataError(f"{role} has no row, and so no queries to compare; it must have some.")
    try:
        names = measures_of(frame, measures)[1]
    except ColumnError as error:
        raise ColumnError(f"{role}: {error}") from None
    return frame.select(query, *names), names


def _allowed(new: pl.DataFrame, measures: Iterable[str], max_drop: float | Mapping[str, float]) -> dict[str, float]:
    """How much each measure may drop."""
    if not isinstance(max_drop, Mapping):
        allowed = dict.fromkeys(measures, max_drop)
    else:
        allowed = {name: drop for given, drop in max_drop.items() for name in measures_of(new, given)[1]}
        if missed := [name for name in measures if name not in allowed]:
            raise OptionError(f"max_drop must have every measure, or be one number; it lacks {missed[0]!r}.")
    return {name: not_negative("max_drop", drop) for name, drop in allowed.items()}


def _check_common(scores: Scores) -> None:
    """Raise a `DataError` if no query is in both frames."""
    if scores.answered.all(axis=1).any():
        return
    raise DataError(
        f"new and old must be of the same queries; they share none: {scores.examples([0, 1])}. Write their ids alike."
    )


def _one_sided(scores: Scores, there: Booleans, treated: str) -> list[str]:
    """What there is to say of queries that only one of the two has, or has a value for."""
    both = scores.answered.all(axis=1)
    kinds = {
        "queries that only old has": (scores.answered[:, 1] & ~scores.answered[:, 0], treated),
        "queries that only new has": (scores.answered[:, 0] & ~scores.answered[:, 1], "left out"),
        "queries undefined for new only": (both & there[:, 1] & ~there[:, 0], treated),
        "queries undefined for old only": (both & there[:, 0] & ~there[:, 1], "left out"),
    }
    return [f"{kind}: {queries.sum()}, {done}" for kind, (queries, done) in kinds.items() if queries.any()]


def _judged(
    scores: Scores, measure: str, max_drop: float, alpha: float, options: Mapping[str, Any], missing: str
) -> dict[str, Any]:
    """The row of a measure."""
    from polars_ir.statistics import significance

    values = scores.values[measure].copy()
    there = significance.there(values)
    # A change does no better by having no value where the old system had one: neither a lower n nor the best value.
    as_0 = missing == "zero" and not is_cost(measure)
    if as_0:
        values[there[:, 1] & ~there[:, 0], 0] = 0
    notes = _one_sided(scores, there, "counted as 0" if as_0 else "left out")
    differences = significance.differences([values], [(0, 1)])[:, 0]
    pairs = significance.there(differences)
    both, differences = values[pairs], differences[pairs]
    n = len(differences)
    means = both.mean(axis=0).tolist() if n else [None, None]
    bounds, note = _bounds(differences, options)
    verdict = "inconclusive"
    if bounds is not None:
        worst, best = (-bounds[1], -bounds[0]) if is_cost(measure) else bounds
        lowest = -max_drop * ROUNDED
        verdict = "no worse" if worst >= lowest else "worse" if best < lowest else verdict
        if verdict == "inconclusive":
            note = _plan(max_drop / float(differences.std(ddof=1)), alpha, n)
    return {
        **dict(zip(("mean", "old_mean"), means, strict=True)),
        "difference": float(differences.mean()) if n else None,
        **dict(zip(("low", "high"), bounds or (None, None), strict=True)),
        "max_drop": max_drop,
        "passed": verdict == "no worse",
        "verdict": verdict,
        "n_queries": n,
        "n_missing": scores.n_missing((0, 1)),
        "note": "; ".join([*([note] if note else []), *notes]) or None,
    }


def _bounds(differences: Floats, options: Mapping[str, Any]) -> tuple[tuple[float, float] | None, str | None]:
    """The bounds of the mean difference, and what there is to say of them."""
    from polars_ir.statistics.intervals import interval

    if len(differences) < 2:
        return None, "fewer than two queries with a value of both systems"
    first = float(differences[0])
    if (differences == first).all():
        return (first, first), "all differences are the same"
    bounds = interval(differences, **options)
    return bounds, None if bounds else f"there is no {options['kind']} interval of these differences"


def _plan(effect: float, alpha: float, n: int) -> str:
    """How many queries it takes to pass a change without a drop; the effect is what may drop, by the spread of n."""
    if not effect:
        return "no number of queries shows that nothing at all is lost: allow a max_drop above 0"
    needed = queries_needed(effect, alpha=alpha, power=POWER, alternative="larger")
    if needed is not None and needed <= n:
        return "the difference is close to what may be lost: these queries would mostly pass a change without any drop"
    number = "more than a billion" if needed is None else f"{needed:,}"
    return f"it takes {number} queries to pass a change without any drop 4 times out of 5"
