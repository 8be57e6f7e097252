"""Systems compared with a baseline, or with each other: differences, how sure they are, and how large.

Conventions: a difference is the system's value minus the baseline's on the same query. What is tested are its pairs,
queries for which both have a value; whatever is not defined of them is null, and the row's note says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from polars_ir.errors import OptionError, option
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, positive, public
from polars_ir.per_query.shared import estimators
from polars_ir.per_query.shared.estimators import Procedure
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import ROUNDED, Comparing
from polars_ir.per_query.shared.paired import paired_systems
from polars_ir.per_query.shared.pairs import Pairs
from polars_ir.per_query.shared.queries import check_names
from polars_ir.per_query.shared.sums import Source
from polars_ir.per_query.shared.tests import FEW, OF_FEW, OF_MEDIANS, TESTS, check_correction, tested
from polars_ir.per_query.shared.verdicts import with_test

if TYPE_CHECKING:
    from polars_ir.statistics.randomisation import Draws

#: The columns of the result behind those of the slices. A terminal shows the first four and the last four.
SCHEMA = {
    **dict.fromkeys(["run", "baseline", "measure"], pl.String),
    **dict.fromkeys(["difference", "mean", "baseline_mean", "relative_difference"], pl.Float64),
    **dict.fromkeys(["simultaneous_low", "simultaneous_high", "statistic", "p"], pl.Float64),
    **dict.fromkeys(["cohen_d", "cohen_d_low", "cohen_d_high"], pl.Float64),
    **dict.fromkeys(["rank_biserial", "rank_biserial_low", "rank_biserial_high", "p_equivalent"], pl.Float64),
    "equivalent": pl.Boolean,
    "interval": pl.String,
    **dict.fromkeys(["wins", "ties", "losses", "n_queries", "n_missing"], pl.UInt32),
    "note": pl.String,
    **dict.fromkeys(["low", "high", "p_corrected"], pl.Float64),
    "significant": pl.Boolean,
}


@public(Comparing)
def compare(
    per_query: Table[FrameT],
    measures: Measures = None,
    *,
    baseline: str | None = None,
    systems: str | None = None,
    **options: Unpack[Comparing],
) -> FrameT:
    """Differences of systems from a baseline, or from each other, with tests of them: one row per pair and measure.

    Systems are aligned by the queries' ids, and tested on their differences d over n queries, two-sided:

    - `"t"`: Student's paired t, mean(d) / (std(d) / sqrt(n)).
    - `"auto"`: twice the smaller one-sided p of the bounds of `gate(interval="auto")`: t corrected for skewness or,
      where few queries differ, a bound by the range of the measure.
    - `"wilcoxon"`: the signed ranks of the differences, as `scipy.stats.wilcoxon` has it; `statistic` is the lower of
      the two sums of ranks.
    - `"sign"`: the share of differences above 0 among those that are not 0, against 1/2 (binomial).
    - `"randomisation"`: Fisher's, of mean(d) if systems change places at random in each query. Exact if there are no
      more than `resamples` ways for those that differ, else (b + 1) / (m + 1), b of m random ways being as extreme.
    - `"bootstrap"`: Student's t, against those of samples of queries drawn from differences shifted to a mean of 0;
      (b + 1) / (m + 1).
    - `"tukey"`: randomised Tukey HSD of all systems of the frame. Their values change places at random in each query;
      p is the share of the ranges of their means that are as wide as |mean(d)|, (b + 1) / (m + 1). Only queries for
      which all systems have a value count. `p_corrected` is p times the number of slices (and of measures, with
      `family="all"`).
    - `"max-t"`: Student's t, whose p is corrected by the step-down test of the largest |t|: the differences of a query
      change their signs all together at random, and each |t| is compared with the largest of those no higher, of all
      slices and, with `family="all"`, of all measures. `p_corrected` is never below p. The simultaneous intervals are
      Bonferroni's of t, so that one can exclude 0 where `significant` is false, and hold it where it is true.

    p, low and high are of a row by itself and never contradict each other: the interval of the test excludes 0 exactly
    where p is alpha or less; where ties would make them contradict, there is none. It is the t interval, the inverted
    randomisation, the bootstrap-t or Tukey's, of the mean difference; for the sign test that of the median of the
    differences that are not 0, and for Wilcoxon's test Hodges and Lehmann's of their pseudo-median.

    Wilcoxon's and the sign test do not test the mean: they ask whether differences are symmetric about 0, or as often
    above as below, and reject equal means far more often than alpha where differences are skewed. Tukey's test holds
    its level over all pairs only if no two systems differ from the others in spread or likeness: near-copies of one
    system beside others made it reject among equal systems in 21 of 100 cases; `"max-t"` did in 5.

    Tests of the mean have a blind spot: rare large differences among many small ones, none of which came up. Where 2 %
    of the queries fail wholly and the others gain .02 with a standard deviation of .02, so that means are equal, t
    finds a difference in .65, .60, .38 and .14 of cases (n = 10, 25, 50, 100). `"auto"` reckons with it where fewer
    than 20 queries are on a side (.00, .00, .37, .13), and `gate(interval="bounded")` always. In a family the tails
    count most: of 19 exponential differences with a mean of 0, Holm's correction of t rejects some in .43, .27, .25 and
    .11 of cases, and of `"auto"` in .02 or less. Four real runs with equal means are told apart by t and Holm in .10 of
    samples of 5 queries and in .08 of 10 by AP, in .06 or less by P@10, R@100 and nDCG@10, and of 25 to 400 queries;
    four systems of equal means, one of them all or nothing and the others calm, in .19 of 5, and in .06 or less of 10
    to 400. By max-t the four runs are told apart more often, in .09 of 10 queries, .08 of 25, .07 of 50 and .06 of 100
    and more by AP and R@100, and in as many by five measures at once (`family="all"`).

    Means are arithmetic, also of measures that `mean` averages otherwise.

    A LazyFrame, or a dict of such by system, is read at once, by moments: twice in a pass of the streaming engine, of
    which one makes a row per query, as much as is in memory at once. That is for `"t"` and `"auto"` with interval
    `"t"`, `"normal"` or `"auto"`; figures are those of the values to within 1e-12 (ends of `cohen_d`, and three
    million queries, 1e-11) of the largest value, a standard deviation to within 1e-15 of it or of the mean.
    `rank_biserial` is null.

    Parameters
    ----------
    baseline
        The system that the others are compared with; None compares each with each.
    systems
        The column whose values are compared, in place of systems: with `"date"` and one system, days, and the same
        queries of them.

    Returns
    -------
    The kind of per_query
        - the columns of the slice, if there are slices;
        - the column of systems, `baseline`, `measure` (String); without a given baseline, `baseline` is the earlier
          one of two systems;
        - `mean`, `baseline_mean`, `difference`, `relative_difference` (by |baseline_mean|), `low` and `high`, the
          interval of the difference, and `simultaneous_low` and `simultaneous_high`, those that hold for all
          comparisons of the family together with this confidence, whatever the correction (Bonferroni's, of the same
          kind) (Float64); null where all differences are the same, and show no spread;
        - `statistic`, `p`, `p_corrected` (Float64, p from 0 to 1), `significant` (Boolean; null where p is, as by
          t and bootstrap for systems that do not differ at all);
        - `interval` (String), the kind of `low` and `high`, such as `"t"`, `"median"` or `"hodges-lehmann"`;
        - `cohen_d`, mean(d) / std(d), and `rank_biserial`, from -1 to 1, the share of Wilcoxon's ranks that are of
          positive differences, minus that of negative ones (Float64); both have the sign of the difference, and an
          interval, `cohen_d_low` and so on: by the noncentral t distribution, and Wilson's of the ranks;
        - `p_equivalent` (Float64) and `equivalent` (Boolean, p_equivalent <= alpha, not corrected), with a margin, else
          null: the larger p of both one-sided tests, which are those of `gate(interval="auto")`;
        - `wins`, `ties`, `losses` (UInt32), in which for a cost such as `Hole` the lower value wins;
        - `n_queries`, pairs used, and `n_missing`, queries that only one of the two answered (UInt32);
        - `note` (String), why something is null, how many pairs were left out since the measure is undefined for
          only one of the two, and that 10 queries or fewer with a significant mean difference may be skewed; null
          where there is nothing to say.

        Rows are in the order of slices, measures, baselines and systems. The difference comes first of the figures, and
        its interval, `p_corrected` and `significant` last, so that a narrow terminal shows them.

    Raises
    ------
    IRError
        For a single system; systems with fewer than two common queries; an unknown baseline, measure or
        option; values that are NaN or infinite; a LazyFrame where the values are needed: other tests and intervals,
        `cluster` and `systems`, and `"auto"` or a margin where fewer than 20 queries are on a side.

    References
    ----------
    Smucker, Allan & Carterette 2007, https://doi.org/10.1145/1321440.1321528 (randomisation, bootstrap and t);
    Sakai 2006, https://doi.org/10.1145/1148170.1148261 (bootstrap); Carterette 2012,
    https://doi.org/10.1145/2094072.2094076 (Tukey); Romano & Wolf 2005, https://doi.org/10.1198/016214504000000539
    (max-t); Hodges & Lehmann 1963, https://doi.org/10.1214/aoms/1177704172 (the interval of Wilcoxon's
    test); Kerby 2014, https://doi.org/10.2466/11.IT.3.1 (rank-biserial); Schuirmann 1987,
    https://doi.org/10.1007/BF01068419 (equivalence)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"])
    >>> comparison = ir.compare(per_query, baseline="bm25", test="sign")
    >>> comparison.select("run", "measure", "wins", "ties", "losses", pl.col("p", "p_corrected").round(4)).rows()
    [('chargrams', 'nDCG@10', 26, 19, 51, 0.0059, 0.0059), ('tfidf', 'nDCG@10', 12, 28, 56, 0.0, 0.0),
     ('chargrams', 'RR', 18, 49, 29, 0.1439, 0.1439), ('tfidf', 'RR', 14, 40, 42, 0.0002, 0.0005)]
    >>> a, b = {"q1": 0.5, "q2": 0.25, "q3": 0.75}, {"q1": 0.75, "q2": 0.75, "q3": 0.75}
    >>> both = {name: pl.DataFrame({"query_id": list(v), "AP": list(v.values())}) for name, v in (("a", a), ("b", b))}
    >>> ir.compare(both, test="randomisation").select("run", "baseline", "difference", "p").rows()
    [('b', 'a', 0.25, 0.5)]
    """
    return give_back(compared_systems(per_query, measures, options, baseline, systems), per_query)


def compared_systems(
    per_query: Any,
    measures: Measures,
    options: Comparing,
    baseline: str | None,
    systems: str | None,
    source: Source | None = None,
) -> pl.DataFrame:
    """The result of `compare`; a `source` has the sums of a frame whose rows a plan stands for."""
    from polars_ir.statistics.randomisation import Draws
    from polars_ir.statistics.significance import resamples_for

    test, correction, resamples = TESTS[options["test"]], options["correction"], options["resamples"]
    check_correction(correction)
    if test.of_all and correction not in (None, "holm"):
        raise OptionError(
            f"allows for the number of comparisons by itself; got {option('correction', correction)} as well. Leave it "
            "out, or take another test.",
            about=option("test", test.name),
        )
    alpha, tolerance = float(options["alpha"]), options["tolerance"] * ROUNDED
    only = {"test": ("t", "auto"), "interval": ("t", "auto", "normal", None)}
    named = {**options, "systems": systems}
    scores = paired_systems(per_query, measures, named, what="ir.compare", only=only, source=source)
    check_names(scores.slices, SCHEMA)
    pairs = scores.pairs(baseline, "ir.compare")
    margins = {} if options["margin"] is None else margins_of(options["margin"], list(scores.measures))
    tails = bool(margins) or "auto" in (test.name, options["interval"])
    missing, complete = options["missing"], test.complete
    slices = list(scores.paired(pairs, missing=missing, tolerance=tolerance, complete=complete, tails=tails))
    groups = len(slices) * (len(scores.measures) if options["family"] == "all" else 1)
    family = groups if test.complete else groups * len(pairs)
    draws = Draws(resamples or resamples_for(1 if test is TESTS["max-t"] else family, alpha), options["seed"])
    how = Procedure(test, options["interval"] or test.interval, alpha, family, tolerance, margins, draws)
    rows = [row for of in slices for row in _rows(of, how)]
    if test is TESTS["max-t"]:
        together = _together(slices, len(pairs), options["family"], draws)
        # The p of a row is Student's, and no correction makes it lower.
        for row, p in zip(rows, together, strict=True):
            row["p_corrected"] = None if row["p"] is None else max(row["p"], p)
    schema = {**{name: scores.queries.collect_schema()[name] for name in scores.slices}, **SCHEMA}
    found = tested(
        rows,
        schema,
        significant="significant",
        correction=None if test.of_all else correction,
        alpha=alpha,
        resamples=draws.resamples if test.resampled else None,
        family=options["family"],
    ).rename({"run": scores.system})
    if test.interval in ("auto", *OF_MEDIANS):
        return found
    told = pl.concat_str("note", pl.lit(OF_FEW), separator="; ", ignore_nulls=True)
    few = pl.col("significant") & (pl.col("n_queries") <= FEW)
    return found.with_columns(note=pl.when(few).then(told).otherwise("note"))


def _together(slices: Sequence[Pairs], n_pairs: int, family: str, draws: Draws) -> list[float]:
    """The p of the largest |t| in each family, slice by slice, as the rows are."""
    import numpy as np

    from polars_ir.statistics.randomisation import largest_flipped

    of_slices = [of.differences for of in slices if of.differences is not None]
    n_columns = of_slices[0].shape[1]
    step, found = n_columns if family == "all" else n_pairs, []
    for start in range(0, n_columns, step):
        p = largest_flipped([columns[:, start : start + step] for columns in of_slices], draws)
        found.append(p.reshape(len(slices), step))
    p_of_rows: list[float] = np.hstack(found).ravel().tolist()
    return p_of_rows


def margins_of(margin: float | Mapping[str, float], measures: Sequence[str]) -> dict[str, float]:
    """The margin of each measure that has one."""
    if not isinstance(margin, Mapping):
        return dict.fromkeys(measures, check("margin", margin, positive()))
    if missed := [name for name in margin if name not in measures]:
        raise OptionError(f"margin must be of measures that are compared; got {missed[0]!r}.")
    return {name: check("margin", its, positive()) for name, its in margin.items()}


def _rows(of: Pairs, how: Procedure) -> Iterator[dict[str, Any]]:
    """A row for each measure and pair of systems of a slice."""
    outcomes, effects = estimators.outcomes(of, how), estimators.effects(of, how)
    ends = estimators.intervals([pair.sample for pair in of.pairs], how, outcomes)
    for pair, outcome, effect, *both in zip(of.pairs, outcomes, effects, *ends, strict=True):
        yield {**with_test(pair, outcome, both, how, effect), **of.slice}
