"""Risk of a change: losses against a baseline, which weigh more than wins of the same size.

Conventions: a win is a better value, which is a lower one where the lowest is the best. Queries without a value of both
systems are left out; undefined figures are null, and the row's note says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Any, Unpack

import polars as pl

from polars_ir import statistics as stats
from polars_ir.extras import np
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import EagerFrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.options import check, not_negative, public
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import MISSING, Risking
from polars_ir.per_query.shared.paired import scores_of
from polars_ir.per_query.shared.verdicts import check_correction

#: Name in messages of alpha, which is a level elsewhere.
ALPHA = "alpha, the weight of a loss beyond that of a win,"

#: Level for corrections that need one.
LEVEL = 0.05

#: Columns of `risk`.
RISK = {
    **dict.fromkeys(["run", "baseline", "measure"], pl.String),
    **dict.fromkeys(["URisk", "TRisk", "p", "p_corrected"], pl.Float64),
    **dict.fromkeys(["wins", "ties", "losses", "n_queries", "n_missing"], pl.UInt32),
    "note": pl.String,
}

#: Columns of `geo_risk`.
GEO_RISK = {
    **dict.fromkeys(["run", "measure"], pl.String),
    **dict.fromkeys(["mean", "ZRisk", "GeoRisk"], pl.Float64),
    **dict.fromkeys(["n_queries", "n_missing"], pl.UInt32),
    "note": pl.String,
}


@public(Risking)
def risk(
    per_query: Table[EagerFrameT],
    baseline: str,
    measures: Measures = None,
    *,
    alpha: float = 1.0,
    **options: Unpack[Risking],
) -> EagerFrameT:
    """Gain of systems over a baseline with losses weighted more than wins: one row per system and measure.

    Each query counts as its difference d to the baseline if that is a win, and as (1 + alpha) d if it is a loss.
    URisk is the mean over the queries, TRisk that mean by its standard error: Student's t. With alpha = 0, URisk is
    the difference of the means, and TRisk the t of the paired test.

    Equally good systems do not have a URisk of 0, but of -alpha * mean(|d|) / 2: what one of two loses to the other
    weighs more than what it gains. So p is by exchange: the share of exchanges of both systems' values, query by query,
    whose URisk is as low or lower; over all exchanges where there are no more than `resamples`, else (b + 1) / (m + 1),
    with b of m random ones. With 10,000 differing queries or more, of an effective number (sum(d^2)^2 / sum(d^4)) of at
    least 1,000, it is the normal limit, Phi(sum(d) / sqrt(sum(d^2))). An exchange leaves |d| unchanged, so that this is
    the one-sided randomisation test of the mean, for every alpha: a low p says that the system is worse than the
    baseline.

    Parameters
    ----------
    alpha
        How much more a loss weighs than a win; 0 or more.

    Returns
    -------
    The kind of per_query
        The column of systems, `baseline`, `measure` (String); `URisk` and `TRisk` (Float64, higher is better; below 0
        the losses, each 1 + alpha times, are more than the wins); `p`, and `p_corrected` for all systems of a measure
        (Float64); `wins`, `ties`, `losses`, `n_queries`, pairs used, and `n_missing`, queries that only one of the two
        answered (UInt32); `note` (String): why something is null, how many pairs were left out since the measure is
        undefined for only one of the two, and of clusters as in `compare`.

    References
    ----------
    Wang, Bennett and Collins-Thompson 2012, https://doi.org/10.1145/2348283.2348385 (URisk, which TREC's gdeval prints
    with `-baseline` and `-riskAlpha`); Dincer, Macdonald and Ounis 2014, https://doi.org/10.1145/2600428.2609625
    (TRisk); Fisher 1935, The Design of Experiments (exchange)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> old = pl.DataFrame({"query_id": ["q1", "q2", "q3"], "AP": [0.5, 0.5, 0.5]})
    >>> new = pl.DataFrame({"query_id": ["q1", "q2", "q3"], "AP": [1.0, 0.75, 0.25]})
    >>> risks = ir.risk({"old": old, "new": new}, "old")
    >>> risks.select("run", pl.col("URisk", "TRisk", "p").round(4), "wins", "losses").rows()
    [('new', 0.0833, 0.2774, 0.875, 2, 1)]
    """
    alpha = check(ALPHA, alpha, not_negative())
    check_correction(correction := options["correction"])
    draws = stats.Draws(options["resamples"], options["seed"])
    scores = scores_of(per_query, measures, options, cluster=options["cluster"], what="ir.risk")
    pairs = scores.pairs(baseline, "ir.risk")
    scores = scores.of_clusters()
    rows = []
    for measure, values in scores.values.items():
        # How much better than the baseline the system was on each query.
        improvements = (-1 if is_cost(measure) else 1) * stats.differences([values], pairs)
        n, largest = stats.there(improvements).sum(axis=0), stats.largest_values([values], pairs)
        p = [
            float(value) if number > 1 else None
            for value, number in zip(stats.exchange_p(improvements, draws, largest=largest), n, strict=True)
        ]
        columns = zip(pairs, p, stats.corrected(p, correction, alpha=LEVEL), improvements.T, strict=True)
        for pair, of_pair, among_all, d in columns:
            run, against = (scores.systems[place] for place in pair)
            names = {"run": run, "baseline": against, "measure": measure, "n_missing": scores.n_missing(pair)}
            figures = _risk(d, alpha, scores.undefined(measure, pair))
            rows.append({**names, **figures, "p": of_pair, "p_corrected": among_all})
    return give_back(pl.DataFrame(rows, schema=RISK).rename({"run": scores.system}), per_query)


def _risk(improvements: stats.Floats, alpha: float, notes: Sequence[str]) -> dict[str, Any]:
    """Figures of a pair by its improvements, NaN for missing pairs."""
    improvements = improvements[stats.there(improvements)]
    wins, losses, n = int((improvements > 0).sum()), int((improvements < 0).sum()), len(improvements)
    counts = {"wins": wins, "ties": n - wins - losses, "losses": losses, "n_queries": n}
    if not n:
        return {**counts, "note": "; ".join(["no query with a value of both systems", *notes])}
    weighed = improvements * (1 + alpha * (improvements < 0))
    t = stats.t_test([weighed])[0].statistic
    if t is None:
        few = "fewer than two queries with a value of both systems"
        notes = [few if n < 2 else "all differences are the same", *notes]
    return {"URisk": float(weighed.mean()), "TRisk": t, **counts, "note": "; ".join(notes) or None}


@public()
def geo_risk(
    per_query: Table[EagerFrameT], measures: Measures = None, *, alpha: float = 1.0, missing: str = "zero"
) -> EagerFrameT:
    """Mean and evenness of systems against all of them together: one row per system and measure.

    A system's value x on a query has the expectation e = (sum of the system) * (sum of the query) / (sum of all), which
    gives z = (x - e) / sqrt(e), and 0 if e is 0. ZRisk is the sum of z over the queries, negative ones times 1 + alpha;
    GeoRisk = sqrt(mean * Phi(ZRisk / n)), Phi being the normal distribution function. Both depend on the set of
    systems.

    Parameters
    ----------
    alpha
        How much more a value below its expectation weighs than one above; 0 or more.
    missing
        `"zero"` counts 0 for a system that lacks a query which others have; `"skip"` leaves the query out.

    Returns
    -------
    The kind of per_query
        The column of systems, `measure` (String); `mean`, over the queries that all systems have a value for; `ZRisk`,
        `GeoRisk` (Float64, higher is better; GeoRisk is 0 or more); `n_queries`, those used, and `n_missing`, those
        that a system lacks (UInt32); `note` (String): why something is null, as for measures whose lowest value is the
        best, and values below 0, and how many queries were left out since the measure is undefined for some of the
        systems only.

    References
    ----------
    Dincer, Macdonald and Ounis 2016, https://doi.org/10.1145/2911451.2911511

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> even = pl.DataFrame({"query_id": ["q1", "q2"], "AP": [0.5, 0.5]})
    >>> uneven = pl.DataFrame({"query_id": ["q1", "q2"], "AP": [0.9, 0.1]})
    >>> risks = ir.geo_risk({"even": even, "uneven": uneven})
    >>> risks.select("run", "mean", pl.col("ZRisk", "GeoRisk").round(4)).rows()
    [('even', 0.5, -0.1129, 0.4886), ('uneven', 0.5, -0.4913, 0.4489)]
    """
    alpha = check(ALPHA, alpha, not_negative())
    scores = scores_of(per_query, measures, {"missing": check("missing", missing, MISSING)}, what="ir.geo_risk")
    scores.pairs(None, "ir.geo_risk")
    everywhere: stats.Booleans = np.asarray(scores.answered.all(axis=1))
    n_missing = int((~everywhere).sum())
    rows = [
        {"run": system, "measure": measure, "n_missing": n_missing, **row}
        for measure, values in scores.values.items()
        for system, row in zip(scores.systems, _geo_risks(measure, values, everywhere, alpha), strict=True)
    ]
    return give_back(pl.DataFrame(rows, schema=GEO_RISK).rename({"run": scores.system}), per_query)


def _geo_risks(
    measure: str, values: stats.Floats, everywhere: stats.Booleans, alpha: float
) -> Iterator[dict[str, Any]]:
    """Mean and risks of each system; `everywhere` holds the queries that all systems answered."""
    undefined = np.isnan(values)
    some_only = int((everywhere & undefined.any(axis=1) & ~undefined.all(axis=1)).sum())
    left_out = [f"undefined for some systems only: {some_only}, left out"] if some_only else []
    complete = values[~undefined.any(axis=1)]
    n, note = len(complete), None
    if not n:
        note = "no query with a value of all systems"
    elif is_cost(measure):
        note = "the lowest value of this measure is its best"
    elif complete.min() < 0:
        note = "some values are below 0"
    counts = {"n_queries": n, "note": "; ".join([*([note] if note else []), *left_out]) or None}
    if note:
        for mean in complete.mean(axis=0).tolist() if n else [None] * values.shape[1]:
            yield {"mean": mean, **counts}
        return
    expected = np.outer(complete.sum(axis=1), complete.mean(axis=0) / (complete.mean(axis=0).sum() or 1))
    z = np.divide(complete - expected, np.sqrt(expected), out=np.zeros_like(expected), where=expected > 0)
    z_risks = (z * (1 + alpha * (z < 0))).sum(axis=0)
    for mean, z_risk in zip(complete.mean(axis=0).tolist(), z_risks.tolist(), strict=True):
        geo_risk = math.sqrt(mean * NormalDist().cdf(z_risk / n))
        yield {"mean": mean, "ZRisk": z_risk, "GeoRisk": geo_risk, **counts}
