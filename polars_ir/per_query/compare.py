"""Comparison of systems with a baseline, or with each other, and the share of pairs that a measure distinguishes.

Conventions: a difference is the system's value minus the baseline's on the same query. Tests use the pairs, queries for
which both have a value; figures undefined for them are null, and the row's note says why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import OptionError, option
from polars_ir.extras import np
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table import per_query_table
from polars_ir.frames.table_types import EagerFrameT, FrameT, Table
from polars_ir.language.options import check, positive, public
from polars_ir.per_query.shared import estimators
from polars_ir.per_query.shared.estimators import Procedure
from polars_ir.per_query.shared.measures import Measures, check_bounds
from polars_ir.per_query.shared.options import BOUNDED, OF_MEDIANS, ROUNDED, TESTS, Comparing, Discriminating
from polars_ir.per_query.shared.paired import PairedSystems, paired_systems, scores_of
from polars_ir.per_query.shared.queries import Pairs, schema_of
from polars_ir.per_query.shared.sums import Source
from polars_ir.per_query.shared.verdicts import (
    FEW,
    FEW_OF_FLIPS,
    OF_FEW,
    OF_FEW_FLIPS,
    SKEWED,
    check_correction,
    with_corrected_p,
    with_test,
)

#: Columns of the result after the slices, the deciding ones first. A terminal shows the first four and the last four.
SCHEMA = {
    **dict.fromkeys(["run", "baseline", "measure"], pl.String),
    **dict.fromkeys(["baseline_mean", "mean", "difference", "low", "high", "p_corrected"], pl.Float64),
    "significant": pl.Boolean,
    **dict.fromkeys(["statistic", "p", "cohen_d", "cohen_d_low", "cohen_d_high"], pl.Float64),
    **dict.fromkeys(["rank_biserial", "rank_biserial_low", "rank_biserial_high", "p_equivalent"], pl.Float64),
    "equivalent": pl.Boolean,
    "interval": pl.String,
    **dict.fromkeys(["n_queries", "n_missing", "wins", "ties", "losses"], pl.UInt32),
    "note": pl.String,
    **dict.fromkeys(["relative_difference", "simultaneous_low", "simultaneous_high"], pl.Float64),
}

#: The note on a baseline that nobody named.
BY_ALPHABET = "no baseline is named: it is the first in alphabetical order"


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

    Tests are two-sided, on the differences d of n queries. Of the mean are `"t"` (Student's paired t), `"auto"` (the
    bounds of `gate`, which allow for skewness), `"randomisation"` (Fisher's, exact if all ways are at most
    `resamples`), `"bootstrap"` (of t), and of all systems at once `"tukey"` (randomised HSD) and `"max-t"` (step-down);
    `"wilcoxon"` and `"sign"` ask for symmetry and for the median. `low` and `high` are the interval that goes with the
    test, of one row alone, and exclude 0 exactly where `p` <= alpha; beside `p_corrected` belong the simultaneous ends,
    which hold for all rows of the family. Their rates of error on small samples are in
    notebooks/evidence.md. A LazyFrame is read by moments, for `"t"` and `"auto"`: figures to within 1e-12 (ends of
    `cohen_d` 1e-9, of three million queries 1e-11). With `reference=people`, differences are estimated as means are in
    `summarize`, by the differences of people's queries and of the model's, each row with a lambda of its own; so that
    of two rows is no third one. The test is t, and means, effects, wins, ties and losses are people's.

    Parameters
    ----------
    baseline
        The system that the others are compared with; None compares each with each, the second by the alphabet, or in
        the dict, with the first.
    systems
        The column whose values are compared, in place of systems: with `"date"` and one system, days.

    Returns
    -------
    The kind of per_query
        Columns of the slice, of the system, `baseline`, `measure`; `baseline_mean`, `mean`, `difference`, `low`,
        `high`, `p_corrected` (Float64), `significant`; `statistic`, `p`, `cohen_d`, `rank_biserial` and their ends,
        `p_equivalent` (Float64), `equivalent` (with a margin), `interval` (its kind), `n_queries`, `n_missing`, `wins`,
        `ties`, `losses` (UInt32), `note` (why something is null or cannot be significant, that few queries make it so
        too often, and a baseline of two systems that the alphabet chose), `relative_difference` (by |baseline_mean|),
        `simultaneous_low`, `simultaneous_high` (Bonferroni's, of the family). With a reference there are also
        `n_model`, `lambda`, `rho`, `n_equivalent`, `people_mean` and `model_mean`, of the differences, as in
        `summarize`; `relative_difference` is the estimate by people's |baseline_mean|. Rows go by slice, measure, pair.

    Raises
    ------
    IRError
        For one system, fewer than two common queries, NaN, and a LazyFrame where the values are needed.

    References
    ----------
    Smucker et al. 2007, https://doi.org/10.1145/1321440.1321528; Carterette 2012,
    https://doi.org/10.1145/2094072.2094076 (Tukey); Romano & Wolf 2005, https://doi.org/10.1198/016214504000000539

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"])
    >>> comparison = per_query.ir.compare(baseline="bm25", test="sign")
    >>> comparison.select("run", "measure", "wins", "ties", "losses", pl.col("p", "p_corrected").round(4)).rows()
    [('chargrams', 'nDCG@10', 26, 19, 51, 0.0059, 0.0059), ('tfidf', 'nDCG@10', 12, 28, 56, 0.0, 0.0),
     ('chargrams', 'RR', 18, 49, 29, 0.1439, 0.1439), ('tfidf', 'RR', 14, 40, 42, 0.0002, 0.0005)]
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
    """Result of `compare`; a `source` has the sums of a frame whose rows a plan stands for."""
    test, correction, resamples = TESTS[options["test"]], options["correction"], options["resamples"]
    check_correction(correction)
    columns = SCHEMA
    if options["reference"] is not None:
        from polars_ir.per_query.shared.reference import ADDED, check_reference

        check_reference(options, {"test": ["t"], "interval": ["t", None]})
        columns = {**SCHEMA, **ADDED}
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
    schema = schema_of(scores.slices, scores.queries, columns)
    pairs = scores.pairs(baseline, "ir.compare")
    margins = {} if options["margin"] is None else margins_of(options["margin"], list(scores.measures))
    tails = bool(margins) or "auto" in (test.name, options["interval"])
    if tails or options["interval"] in BOUNDED:
        _check_bounds(scores, test.name, options["interval"], margins)
    missing, complete = options["missing"], test.complete
    slices = list(scores.paired(pairs, missing=missing, tolerance=tolerance, complete=complete, tails=tails))
    groups = len(slices) * (len(scores.measures) if options["family"] == "all" else 1)
    family = groups if test.complete else groups * len(pairs)
    draws = stats.Draws(
        resamples or stats.resamples_for(1 if test is TESTS["max-t"] else family, alpha), options["seed"]
    )
    how = Procedure(test, options["interval"] or test.interval, alpha, family, tolerance, margins, draws)
    rows = [row for of in slices for row in _rows(of, how)]
    if test is TESTS["max-t"]:
        together = _together(slices, len(pairs), options["family"], draws)
        # The p of a row is Student's, and no correction makes it lower.
        for row, p in zip(rows, together, strict=True):
            row["p_corrected"] = None if row["p"] is None else max(row["p"], p)
    correction, drawn = None if test.of_all else correction, draws.resamples if test.resampled else None
    found = with_corrected_p(rows, schema, "significant", correction, alpha, resamples=drawn, family=options["family"])
    found = found.rename({"run": scores.system})
    few = pl.col("significant") & (pl.col("n_queries") <= FEW) & (test.interval not in ("auto", *OF_MEDIANS))
    flips = pl.col("significant") & (pl.col("n_queries") <= FEW_OF_FLIPS) & (test is TESTS["max-t"])
    of_few = OF_FEW if columns is SCHEMA else SKEWED  # With a reference there is no other test.
    told = ["note", pl.when(few).then(pl.lit(of_few)).when(flips).then(pl.lit(OF_FEW_FLIPS))]
    if baseline is None and len(scores.systems) == 2 and not isinstance(per_query, Mapping):
        told.append(pl.lit(BY_ALPHABET))
    note = pl.concat_str(told, separator="; ", ignore_nulls=True)
    return found.with_columns(note=pl.when(note != "").then(note))


def _check_bounds(scores: PairedSystems, test: str, interval: str | None, margins: Collection[str]) -> None:
    """Raise a `DataError` for values beyond the range that a test, an interval or a margin goes by."""
    otherwise = None
    if interval in BOUNDED:
        otherwise = f"take {option('interval', 't')}"
    if test == "auto":
        otherwise = f"take {option('test', 't')}"
    without_margin = f"leave {option('margin')} out; the margin is divided, too"
    for measure in scores.measures if otherwise else margins:
        check_bounds(measure, scores.seen(measure), otherwise or without_margin)


def _together(slices: Sequence[Pairs], n_pairs: int, family: str, draws: stats.Draws) -> list[float]:
    """P of the largest |t| in each family, slice by slice, in the order of the rows."""
    of_slices = [(of.differences, of.largest) for of in slices if of.differences is not None and of.largest is not None]
    n_columns = of_slices[0][0].shape[1]
    step, found = n_columns if family == "all" else n_pairs, []
    for start in range(0, n_columns, step):
        family_of = slice(start, start + step)
        parts, largest = zip(*((columns[:, family_of], its[family_of]) for columns, its in of_slices), strict=True)
        p = stats.largest_flipped(parts, draws, largest=largest)
        found.append(p.reshape(len(slices), step))
    p_of_rows: list[float] = np.hstack(found).ravel().tolist()
    return p_of_rows


def margins_of(margin: float | Mapping[str, float], measures: Sequence[str]) -> dict[str, float]:
    """Margin of each measure that has one."""
    if not isinstance(margin, Mapping):
        return dict.fromkeys(measures, check("margin", margin, positive()))
    if missed := [name for name in margin if name not in measures]:
        raise OptionError(f"margin must be of measures that are compared; got {missed[0]!r}.")
    return {name: check("margin", its, positive()) for name, its in margin.items()}


def _rows(of: Pairs, how: Procedure) -> Iterator[dict[str, Any]]:
    outcomes, effects = estimators.outcomes(of, how), estimators.effects(of, how)
    ends = estimators.intervals([pair.sample for pair in of.pairs], how, outcomes)
    for pair, outcome, effect, *both in zip(of.pairs, outcomes, effects, *ends, strict=True):
        yield {**with_test(pair, outcome, both, how, effect), **of.slice}


#: Columns of `discriminative_power`.
SHARES = {
    "measure": pl.String,
    "share": pl.Float64,
    **dict.fromkeys(["n_told_apart", "n_pairs"], pl.UInt32),
    "difference_needed": pl.Float64,
    "note": pl.String,
}


@public(Discriminating)
def discriminative_power(
    per_query: Table[EagerFrameT], measures: Measures = None, **options: Unpack[Discriminating]
) -> EagerFrameT:
    """Share of pairs of systems that a measure distinguishes: a row per measure.

    Every pair of systems is tested as by `compare`, without a correction for the number of pairs: the share compares
    measures with each other on the same systems and queries, and says nothing about a single pair. Among equal systems,
    alpha of the pairs would be distinguished by chance; `test="tukey"` and `"max-t"` allow for the number of pairs. A
    measure that distinguishes more pairs is more sensitive, but need not measure what users want. Queries are treated
    as independent, for each measure alike; where they share topics, give the topics' means.

    Returns
    -------
    The kind of per_query
        `measure` (String); `share` (Float64, from 0 to 1), n_told_apart / n_pairs; `n_told_apart` and `n_pairs`
        (UInt32); `difference_needed` (Float64, in units of the measure): the longest side of the intervals of all pairs
        around their difference, so that any pair with a larger difference is distinguished; null where no pair has an
        interval, and for Wilcoxon's and the sign test, which do not concern the mean; `note` (String): the number of
        pairs that were not tested, such as identical systems, and count as not distinguished; else null. Rows are in
        the order of the measures.

    References
    ----------
    Sakai 2006, Evaluating evaluation metrics based on the bootstrap, https://doi.org/10.1145/1148170.1148261

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR", "Success@1"])
    >>> ir.discriminative_power(per_query).select("measure", "n_told_apart", "n_pairs").rows()
    [('nDCG@10', 2, 3), ('RR', 1, 3), ('Success@1', 1, 3)]
    """
    # Checked first, so that errors and warnings name this function.
    scores = scores_of(per_query, measures, options, what="ir.discriminative_power")
    scores.pairs(None, "ir.discriminative_power")
    frame = per_query_table(per_query).all_columns().collect()
    pairs: pl.DataFrame = compare(frame, list(scores.values), correction=None, **options)
    test = TESTS[options["test"]]
    low, high = ("simultaneous_low", "simultaneous_high") if test.of_all else ("low", "high")
    width = pl.max_horizontal(pl.col("difference") - pl.col(low), pl.col(high) - pl.col("difference"))
    of_medians = test.interval in OF_MEDIANS
    counts = pairs.group_by("measure", maintain_order=True).agg(
        n_told_apart=pl.col("significant").sum(),
        n_pairs=pl.len(),
        difference_needed=pl.lit(None) if of_medians else width.max(),
        untested=pl.col("p").null_count(),
    )
    note = pl.format("not tested, and not distinguished: {} pairs, as compare notes", "untested")
    powers = counts.with_columns(
        share=pl.col("n_told_apart") / pl.col("n_pairs"), note=pl.when(pl.col("untested") > 0).then(note)
    )
    return give_back(powers.select(pl.col(name).cast(dtype) for name, dtype in SHARES.items()), per_query)
