"""Effect of a judge on the outcome: the order of systems, and which of them differ significantly."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Unpack

import polars as pl

from polars_ir import statistics as stats
from polars_ir.extras import np
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.options import public
from polars_ir.per_query.shared.judges import Judged, judged_by_each
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import Judging

COUNTS = (
    "n_pairs", "n_flipped", "active_agreements", "active_disagreements", "missed", "invented", "passive", "n_queries"
)  # fmt: skip

#: Columns of the result.
SCHEMA = {
    **dict.fromkeys(["judge", "measure"], pl.String),
    **dict.fromkeys(["tau", "tau_ap", "tau_by_query"], pl.Float64),
    **dict.fromkeys(COUNTS, pl.UInt32),
    "note": pl.String,
}


@public(Judging)
def judge_effect(
    per_query: Table[FrameT], measures: Measures = None, *, truth: str = "people", **options: Unpack[Judging]
) -> FrameT:
    """Effect of each judge on the outcome: whether the same systems win, and win significantly, as by the truth.

    Agreement on documents does not tell whether the systems come out in the same order; this does. The counts are of
    the pairs of systems, each tested by Student's paired t and Holm's correction, by the judge as by the truth:
    `invented` differences are those that a reader would believe, and the truth does not show.

    Parameters
    ----------
    per_query
        What `evaluate(by="judge")` returned for several systems, a row per judge, system and query; or a dict of such
        frames by system. A LazyFrame is collected.
    truth
        The judge that the others are compared with.

    Returns
    -------
    The kind of per_query
        A row per other judge and measure: `judge`, `measure` (String); `tau` (Kendall's tau-b of the systems' means),
        `tau_ap` (with the truth as reference) and `tau_by_query` (the mean of each query's tau-b, over those that do
        not tie all systems), all Float64, from -1 to 1; `n_pairs`, `n_flipped` (pairs whose means are in the opposite
        order), `active_agreements`, `active_disagreements` (significant by both, in the same or the opposite order),
        `missed` (significant by the truth alone), `invented` (by the judge alone), `passive` (by neither), `n_queries`
        (UInt32), and `note` (String: what only one judge has, or why something is null). Queries and systems are those
        that both judges have, with a value of every system. Rows go by judge, in the order of the measures.

    Raises
    ------
    IRError
        For a truth that is not one of the judges, one judge alone, fewer than two systems, or nothing in common.

    References
    ----------
    Otero, Parapar and Ferro 2023, How discriminative are your qrels?, https://arxiv.org/abs/2308.09340 (the counts);
    Yilmaz, Aslam, Robertson 2008, https://doi.org/10.1145/1390334.1390435 (tau_AP)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> strict = pydocs.qrels.with_columns(pl.col("relevance") - 1, judge=pl.lit("strict"))
    >>> qrels = pl.concat([pydocs.qrels.with_columns(judge=pl.lit("people")), strict])
    >>> per_query = ir.evaluate(pydocs.runs, qrels, "RR", by="judge")
    >>> per_query.ir.judge_effect().select("judge", "tau", "n_flipped", "active_agreements", "missed").rows()
    [('strict', 1.0, 0, 1, 0)]
    """
    judged = judged_by_each(per_query, measures, truth, "ir.judge_effect")
    rows = [_row(of, options["alpha"]) for of in judged]
    return give_back(pl.DataFrame(rows, schema=SCHEMA), per_query)


def _row(of: Judged, alpha: float) -> dict[str, Any]:
    """The row of a judge and measure."""
    sign = -1 if is_cost(of.measure) else 1
    sides, notes = [sign * of.truth, sign * of.values], list(of.notes)
    pairs = list(combinations(range(len(of.systems)), 2))
    row: dict[str, Any] = {"judge": of.judge, "measure": of.measure, "n_pairs": len(pairs), "n_queries": len(of.truth)}
    if not len(of.truth):
        return {**row, "note": "; ".join([*notes, "no query has values of all systems by both"])}
    levels = [stats.rank_order.levels(side.mean(axis=0)) for side in sides]
    first, second = np.array(pairs).T
    orders = [np.sign(level[first] - level[second]) for level in levels]
    if all((level != level[0]).any() for level in levels):
        row |= {"tau": stats.rank_order.kendall(*levels)[0], "tau_ap": stats.rank_order.tau_ap(*levels)[0]}
    else:
        notes.append("all systems are tied by a judge: no tau")
    differences = [stats.differences([side], pairs) for side in sides]
    by_query = stats.rank_order.kendall_of_signs(*map(np.sign, differences))
    known = by_query[~np.isnan(by_query)]
    if len(known):
        row["tau_by_query"] = float(known.mean())
    tested = [_p_values(of_pairs, alpha) for of_pairs in differences]
    if untested := sum(None in of_pair for of_pair in zip(*tested, strict=True)):
        those = "1 pair" if untested == 1 else f"{untested} pairs"
        notes.append(f"the same difference on all queries by a judge, so no test by that one: {those}")
    by_truth, by_judge = (np.array([p is not None and p <= alpha for p in of_each]) for of_each in tested)
    both, opposite = by_truth & by_judge, orders[0] * orders[1] < 0
    cells = {
        "n_flipped": opposite,
        "active_agreements": both & ~opposite,
        "active_disagreements": both & opposite,
        "missed": by_truth & ~by_judge,
        "invented": by_judge & ~by_truth,
        "passive": ~by_truth & ~by_judge,
    }
    return {**row, **{name: int(cell.sum()) for name, cell in cells.items()}, "note": "; ".join(notes) or None}


def _p_values(differences: stats.Floats, alpha: float) -> list[float | None]:
    """P-values of the pairs of systems by Student's t, after Holm's correction; None for the same difference always."""
    outcomes = stats.t_test(stats.samples_of(differences))
    return stats.corrected([outcome.p for outcome in outcomes], "holm", alpha=alpha)
