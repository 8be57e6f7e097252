"""Systems compared with a baseline, or with each other: differences, how sure they are, and how large.

Conventions: a difference is the system's value minus the baseline's on the same query. What is tested are its pairs,
queries for which both have a value; whatever is not defined of them is null, and the row's note says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_ir.comparison.groups import check_correction, tested
from polars_ir.comparison.pairing import Scores, scores_of
from polars_ir.conversion import give_back
from polars_ir.errors import OptionError, explain_options
from polars_ir.extras import require
from polars_ir.naming import is_cost
from polars_ir.options import INTERVALS, chance, one_of, randomness, tie
from polars_ir.samples import check_names
from polars_ir.summary import Measures

if TYPE_CHECKING:
    from polars_ir.comparison.pairing import Floats

#: The columns of the result behind those of the slices.
SCHEMA = {
    **dict.fromkeys(["run", "baseline", "measure"], pl.String),
    **dict.fromkeys(["mean", "baseline_mean", "difference", "relative_difference", "low", "high"], pl.Float64),
    **dict.fromkeys(["statistic", "p", "p_corrected"], pl.Float64),
    "significant": pl.Boolean,
    **dict.fromkeys(["cohen_d", "rank_biserial"], pl.Float64),
    **dict.fromkeys(["wins", "ties", "losses", "n_queries", "n_missing"], pl.UInt32),
    "note": pl.String,
}

#: The tests, and the kind of interval that goes with each.
INTERVAL_OF = {
    **dict.fromkeys(["t", "wilcoxon", "sign", "randomisation"], "t"),
    "bootstrap": "BCa",
    "tukey": "tukey",
}


@explain_options
def compare(
    per_query: Any,
    *,
    baseline: str | None = None,
    measures: Measures = None,
    test: str = "t",
    correction: str | None = "holm",
    alpha: float = 0.05,
    interval: str | None = None,
    tolerance: float = 0.0,
    missing: str = "zero",
    by: Any = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Any:
    """Whether systems differ from a baseline, or from each other, by more than chance: one row per pair and measure.

    Systems are aligned by the queries' ids, and tested on their differences d over n queries, two-sided:

    - `"t"`: Student's paired t, mean(d) / (std(d) / sqrt(n)).
    - `"wilcoxon"`: the signed ranks of the differences, as `scipy.stats.wilcoxon` has it; `statistic` is the lower of
      the two sums of ranks.
    - `"sign"`: the share of differences above 0 among those that are not 0, against 1/2 (binomial).
    - `"randomisation"`: Fisher's, of mean(d) if systems change places at random in each query. Exact if there are no
      more than `resamples` ways for those that differ, else (b + 1) / (m + 1), b of m random ways being as extreme.
    - `"bootstrap"`: Student's t, against those of samples of queries drawn from differences shifted to a mean of 0;
      (b + 1) / (m + 1).
    - `"tukey"`: randomised Tukey HSD of all systems of the frame. Their values change places at random in each query;
      p is the share of the ranges of their means that are as wide as |mean(d)|, (b + 1) / (m + 1). Only queries for
      which all systems have a value count. It allows for the number of pairs by itself (in each slice), so that
      `p_corrected` is `p`.

    Means are arithmetic, also of measures that `mean` averages otherwise.

    Parameters
    ----------
    per_query
        What `evaluate` returned for several systems, or a dict of such frames by system.
    baseline
        The system that the others are compared with; None compares each with each.
    measures
        Names of the measures, in any spelling; all by default.
    test
        `"t"`, `"wilcoxon"`, `"sign"`, `"randomisation"`, `"bootstrap"` or `"tukey"`.
    correction
        How p allows for the number of comparisons: a method of `statsmodels.stats.multitest.multipletests`, such as
        `"holm"`, `"bonferroni"` or `"fdr_bh"` (Benjamini-Hochberg); None leaves p as it is. The family are all rows
        of a measure whose p is defined, those of all slices together.
    alpha
        The highest corrected p that counts as significant; intervals have a confidence of 1 - alpha.
    interval
        `"t"`, `"normal"`, `"percentile"` or `"BCa"` (of the bootstrap). By default the one that goes with the test:
        `"BCa"` with bootstrap, the simultaneous one with tukey, else `"t"`.
    tolerance
        Differences up to this size are ties: neither wins nor losses, and 0 for Wilcoxon's and the sign test and for
        `rank_biserial`. Other tests take differences as they are.
    missing
        `"zero"` counts 0 for a system that lacks a query which others have; `"skip"` leaves the pair out.
    by
        Columns of `per_query`, or a frame with a query column and others: a row per slice of queries as well.
    resamples
        How many rearrangements or samples are drawn.
    seed
        Of the random numbers. The same call gives the same figures.

    Returns
    -------
    The kind of per_query
        - the columns of the slice, if there are slices;
        - `run`, `baseline`, `measure` (String); without a given baseline, `baseline` is the earlier one of two systems;
        - `mean`, `baseline_mean`, `difference`, `relative_difference` (by |baseline_mean|), `low` and `high`, the
          interval of the difference (Float64);
        - `statistic`, `p`, `p_corrected` (Float64, p from 0 to 1), `significant` (Boolean; null where p is, as by
          t and bootstrap for systems that do not differ at all);
        - `cohen_d`, mean(d) / std(d), and `rank_biserial`, from -1 to 1, the share of Wilcoxon's ranks that are of
          positive differences, minus that of negative ones (Float64); both have the sign of the difference;
        - `wins`, `ties`, `losses` (UInt32), in which for a cost such as `Hole` the lower value wins;
        - `n_queries`, pairs used, and `n_missing`, queries that only one of the two answered (UInt32);
        - `note` (String), why something is null, and how many pairs were left out since the measure is undefined for
          only one of the two; null where there is nothing to say.

        Rows are in the order of slices, measures, baselines and systems.

    Raises
    ------
    IRError
        For a single system; systems with fewer than two common queries; a baseline, measure or option that there is
        not; values that are NaN or infinite; a LazyFrame.

    References
    ----------
    Smucker, Allan & Carterette 2007, https://doi.org/10.1145/1321440.1321528 (randomisation, bootstrap and t);
    Sakai 2006, https://doi.org/10.1145/1148170.1148261 (bootstrap); Carterette 2012,
    https://doi.org/10.1145/2094072.2094076 (Tukey); Kerby 2014, https://doi.org/10.2466/11.IT.3.1 (rank-biserial)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"])
    >>> found = ir.compare(per_query, baseline="bm25", test="sign")
    >>> found.select("run", "measure", "wins", "ties", "losses", pl.col("p", "p_corrected").round(4)).rows()
    [('chargrams', 'nDCG@10', 26, 19, 51, 0.0059, 0.0059), ('tfidf', 'nDCG@10', 12, 28, 56, 0.0, 0.0),
     ('chargrams', 'RR', 18, 49, 29, 0.1439, 0.1439), ('tfidf', 'RR', 14, 40, 42, 0.0002, 0.0005)]
    >>> a, b = {"q1": 0.5, "q2": 0.25, "q3": 0.75}, {"q1": 0.75, "q2": 0.75, "q3": 0.75}
    >>> both = {name: pl.DataFrame({"query_id": list(v), "AP": list(v.values())}) for name, v in (("a", a), ("b", b))}
    >>> ir.compare(both, test="randomisation").select("run", "baseline", "difference", "p").rows()
    [('b', 'a', 0.25, 0.5)]
    """
    require("stats", "ir.compare")

    one_of("test", test, tuple(INTERVAL_OF))
    check_correction(correction)
    one_of("interval", interval, (None, *INTERVALS))
    if test == "tukey" and correction not in (None, "holm"):
        raise OptionError(
            f"test='tukey' allows for the number of comparisons by itself; got correction={correction!r} as well. "
            "Leave it out, or take another test."
        )
    alpha, tolerance = chance("alpha", alpha), tie(tolerance)
    chances = randomness(resamples, seed)
    scores = scores_of(per_query, measures, missing=missing, by=by, what="ir.compare")
    check_names(scores.slices, SCHEMA)
    pairs = scores.pairs(baseline)
    scores.check_common(pairs, "ir.compare")
    rows = [
        {**names, **row}
        for names, part in scores.each_slice()
        for row in _compared(part, pairs, test, interval or INTERVAL_OF[test], alpha, tolerance, chances)
    ]
    schema = {**{name: scores.queries.schema[name] for name in scores.slices}, **SCHEMA}
    found = tested(
        rows, schema, significant="significant", correction=None if test == "tukey" else correction, alpha=alpha
    )
    return give_back(found, per_query)


def _compared(
    scores: Scores,
    pairs: Sequence[tuple[int, int]],
    test: str,
    kind: str,
    alpha: float,
    tolerance: float,
    chances: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    """A row for each measure and pair of systems, without the correction."""
    from polars_ir.statistics import intervals, significance

    values = list(scores.values.values())
    if test == "tukey":
        values = [significance.of_all(of_measure) for of_measure in values]
        differences = significance.differences(values, pairs)
        outcomes = significance.tukey(values, differences, alpha=alpha, **chances)
    else:
        differences = significance.differences(values, pairs)
        outcomes = significance.outcomes(test, differences, tolerance=tolerance, **chances)
    places = product(zip(scores.values, values, strict=True), pairs)
    ends_of = [outcome.interval for outcome in outcomes]
    if kind != "tukey":
        samples = [column[significance.there(column)] for column in differences.T]
        ends_of = intervals.intervals(samples, kind=kind, confidence=1 - alpha, **chances)
    columns = zip(differences.T, outcomes, ends_of, strict=True)
    for ((measure, of_measure), pair), (column, outcome, ends) in zip(places, columns, strict=True):
        there = significance.there(column)
        d, both = column[there], of_measure[there][:, pair]
        run, baseline = pair
        notes = _notes(d, both, tolerance, kind, ends, of="all" if test == "tukey" else "both")
        yield {
            "run": scores.systems[run],
            "baseline": scores.systems[baseline],
            "measure": measure,
            **_means(d, both),
            **dict(zip(("low", "high"), ends or (None, None), strict=True)),
            "statistic": outcome.statistic,
            "p": outcome.p,
            "cohen_d": significance.cohen_d(d),
            "rank_biserial": significance.rank_biserial(significance.without_ties(d, tolerance)),
            **_counts(-d if is_cost(measure) else d, tolerance),
            "n_queries": len(d),
            "n_missing": scores.n_missing(pair),
            "note": "; ".join([*notes, *scores.undefined(measure, pair)]) or None,
        }


def _means(d: Floats, both: Floats) -> dict[str, float | None]:
    """The means of both systems over the pairs, and how they differ."""
    if not len(d):
        return {}
    mean, baseline_mean = both.mean(axis=0).tolist()
    difference = float(d.mean())
    return {
        "mean": mean,
        "baseline_mean": baseline_mean,
        "difference": difference,
        "relative_difference": difference / abs(baseline_mean) if baseline_mean else None,
    }


def _counts(better_by: Floats, tolerance: float) -> dict[str, int]:
    wins, losses = int((better_by > tolerance).sum()), int((better_by < -tolerance).sum())
    return {"wins": wins, "ties": len(better_by) - wins - losses, "losses": losses}


def _notes(
    d: Floats, both: Floats, tolerance: float, kind: str, ends: tuple[float, float] | None, *, of: str
) -> list[str]:
    """Why something in the row is null, if anything is."""
    from polars_ir.statistics.significance import cohen_d

    if len(d) < 2:
        return [f"fewer than two queries with a value of {of} systems"]
    notes = []
    if not d.any():
        notes.append("all differences are 0")
    elif cohen_d(d) is None:
        notes.append("all differences are the same")
    elif (abs(d) <= tolerance).all():
        notes.append("all differences are ties")
    elif ends is None:
        few = "of this confidence with so few resamples" if kind == "tukey" else "of these differences"
        notes.append(f"there is no {kind} interval {few}")
    if not both[:, 1].mean():
        notes.append("the baseline's mean is 0")
    return notes
