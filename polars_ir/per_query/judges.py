"""Judges compared with one of them, the truth: the systems that each favours, and the outcome that each gives.

Conventions: a judge is compared with the truth on the systems and queries that both have and, measure by measure, on
the queries for which both have a value of every system. The notes of a row count the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Unpack

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import ColumnError, DataError, DtypeError, OptionError, nearest, option, quoted
from polars_ir.extras import np
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table import per_query_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import column_of, is_cost
from polars_ir.language.options import public
from polars_ir.per_query.shared.attributes import null_rule
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import ComparingJudges
from polars_ir.per_query.shared.paired import scores_of

#: Columns of `favour`.
FAVOUR = {
    **dict.fromkeys(["judge", "measure", "run"], pl.String),
    **dict.fromkeys(["mean", "judged", "favour", "low", "high", "p", "p_corrected"], pl.Float64),
    "n_queries": pl.UInt32,
    "note": pl.String,
}

COUNTS = (
    "n_pairs", "n_flipped", "active_agreements", "active_disagreements", "missed", "invented", "passive", "n_queries"
)  # fmt: skip

#: Columns of `judge_effect`.
EFFECT = {
    **dict.fromkeys(["judge", "measure"], pl.String),
    **dict.fromkeys(["tau", "tau_ap", "tau_by_query"], pl.Float64),
    **dict.fromkeys(COUNTS, pl.UInt32),
    "note": pl.String,
}

#: The column of judges, as `evaluate(by="judge")` makes it.
JUDGE = "judge"

#: Columns of coefficients, with their methods.
TAUS = {"tau": "kendall", "tau_ap": "tau_ap"}


@dataclass(frozen=True)
class Judged:
    """A judge's values of a measure and the truth's, a row per query and a column per system, and notes on the rest.

    `system` is the name that the column of systems came with.
    """

    judge: str
    measure: str
    systems: tuple[str, ...]
    truth: stats.Floats
    values: stats.Floats
    notes: tuple[str, ...]
    system: str


def judged_by_each(per_query: Any, measures: Measures, truth: object, what: str) -> Iterator[Judged]:
    """The values of each other judge beside those of the truth, by judge and measure."""
    table = per_query_table(per_query)
    if JUDGE not in table.dtypes:
        says = f"has no column {JUDGE!r}, which evaluate(by={JUDGE!r}) gives; it has {quoted(table.columns)}."
        raise ColumnError(says, about="per_query", near=nearest(JUDGE, table.columns))
    if texts := [name for name, dtype in table.dtypes.items() if dtype == pl.String and column_of(name) is not None]:
        raise DtypeError.of_column("per_query", texts[0], "numbers", pl.String(), "Cast it, or leave it out.")
    rows = table.checked(*(null_rule(table, name) for name in (JUDGE, *table.keys))).collect()
    table.check_once(JUDGE, *table.keys, made=rows)
    rows = rows.with_columns(pl.col(JUDGE).cast(pl.String))
    if rows.is_empty():
        raise DataError("has no rows, and so no judges to compare.", about="per_query")
    judges = rows[JUDGE].unique().sort().to_list()
    if str(truth) not in judges:
        says = f"names {str(truth)!r}, which is not one of the judges: {quoted(judges)}."
        raise OptionError(says, about=option("truth"), near=nearest(str(truth), judges))
    if len(judges) < 2:
        says = f"{what} compares judges with {truth!r}; there is no other. Evaluate with their judgments, too."
        raise DataError(says)
    frames = {judge: rows.filter(pl.col(JUDGE) == judge).drop(JUDGE) for judge in judges}
    people, system = frames.pop(str(truth)), table.names.get("run", "run")
    for judge, frame in frames.items():
        yield from _beside(people, frame, judge, str(truth), measures, system, what)


def _beside(
    people: pl.DataFrame, frame: pl.DataFrame, judge: str, truth: str, measures: Measures, system: str, what: str
) -> Iterator[Judged]:
    keys = [key for key in ("query_id", "run") if key in people.columns]
    both, left_out = people.select(keys).join(frame.select(keys), on=keys), []
    for key, one, others in (("query_id", "query", "queries"), ("run", "system", "systems")):
        if key not in keys:
            continue
        if people.select(key).join(frame, on=key, how="semi").is_empty() or (both.is_empty() and key == keys[-1]):
            says = f"{judge!r} and {truth!r} judged no {others} in common; they have"
            first = "; ".join(f"{side[key].unique().sort().head(3).to_list()}" for side in (frame, people))
            raise DataError(f"{what}: {says} {first}. Evaluate the same ones with both, and write their names alike.")
        n_others = pl.concat([people[key], frame[key]]).n_unique() - both[key].n_unique()
        left_out += [f"left out, of one judge alone: {n_others} {one if n_others == 1 else others}"] if n_others else []
    if "run" in keys and both["run"].n_unique() == 1 < people["run"].n_unique():
        says = f"{judge!r} and {truth!r} have only one system in common: {str(both['run'][0])!r}."
        raise DataError(f"{what}: {says} Evaluate the same ones with both, and write their names alike.")
    people, frame = (side.join(both, on=keys, how="semi") for side in (people, frame))
    reference, scores = (
        scores_of(side, measures, {"missing": "skip"}, clustered=False, what=what) for side in (people, frame)
    )
    answered = reference.answered.all(axis=1)
    for measure in reference.measures:
        truths, values = reference.values[measure], scores.values[measure]
        complete = ~np.isnan(np.hstack([truths, values])).any(axis=1)
        notes = list(left_out)
        reasons = ("without a row by both of every system", ~answered), ("undefined for a system", answered)
        for why, lacking in reasons:
            if n := int((lacking & ~complete).sum()):
                notes.append(f"left out, {why}: {n} {'query' if n == 1 else 'queries'}")
        notes += filter(None, dict.fromkeys((reference.note, scores.note)))
        yield Judged(judge, measure, reference.systems, truths[complete], values[complete], tuple(notes), system)


@public(ComparingJudges)
def favour(
    per_query: Table[FrameT], measures: Measures = None, *, truth: str = "people", **options: Unpack[ComparingJudges]
) -> FrameT:
    """Favour that each judge shows a system: its value by the judge less that by the truth, against other systems.

    ::

        favour(A) = mean over queries of (judged(A) - mean(A)) - mean of the same over the other systems

    A judge who is lenient with all favours none. One who favours a system ranks it too high: mostly a system built on
    the same model, or tuned to please it. The interval and p are Student's, for n queries; p is corrected by Holm over
    the systems of a judge and measure. Of a measure whose best value is the lowest, a value below 0 is favour.

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
        A row per other judge, measure and system: `judge`, `measure`, the column of systems (String); `mean` (by the
        truth), `judged` (by the judge), `favour`, `low`, `high`, `p`, `p_corrected` (Float64; the last four are null
        for fewer than two queries, or the same favour on all), `n_queries` (UInt32) and `note` (String: what only one
        judge has, or why something is null). Queries and systems are those that both judges have, with a value of
        every system. Rows go by judge, in the order of the measures and systems.

    References
    ----------
    Panickssery et al. 2024, LLM evaluators recognize and favor their own generations,
    https://arxiv.org/abs/2404.13076; Balog et al. 2025, https://arxiv.org/abs/2503.19092

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> strict = pydocs.qrels.with_columns(pl.col("relevance") - 1, judge=pl.lit("strict"))
    >>> qrels = pl.concat([pydocs.qrels.with_columns(judge=pl.lit("people")), strict])
    >>> per_query = ir.evaluate(pydocs.runs, qrels, "RR", by="judge")
    >>> per_query.ir.favour().select("run", pl.col("favour", "low", "high", "p_corrected").round(3)).rows()
    [('bm25', 0.025, -0.013, 0.063, 0.391), ('chargrams', -0.044, -0.087, -0.0, 0.149),
     ('tfidf', 0.019, -0.018, 0.055, 0.391)]
    """
    judged = list(judged_by_each(per_query, measures, truth, "ir.favour"))
    rows = [row for of in judged for row in _favours(of, options["alpha"])]
    return give_back(pl.DataFrame(rows, schema=FAVOUR).rename({"run": judged[0].system}), per_query)


def _favours(of: Judged, alpha: float) -> Iterator[dict[str, Any]]:
    n_queries, n_systems = of.truth.shape
    above = of.values - of.truth
    others = (above.sum(axis=1, keepdims=True) - above) / (n_systems - 1)
    scale = float(np.abs(np.hstack([of.truth, of.values])).max(initial=0))
    # Rounded, so that a favour made by floats alone is none.
    favours = stats.rounded(above - others, scale)
    samples = stats.samples_of(favours)
    outcomes = stats.t_test(samples)
    corrected = stats.corrected([outcome.p for outcome in outcomes], "holm", alpha=alpha)
    found = stats.intervals.estimates([stats.Values(sample) for sample in samples], "t", 1 - alpha)
    for place, (system, outcome, p, estimate) in enumerate(zip(of.systems, outcomes, corrected, found, strict=True)):
        notes = [*of.notes]
        if n_queries < 2:
            notes.append("fewer than two queries: no interval")
        elif outcome.p is None:
            notes.append("the favour is the same on all queries: no test")
        yield {
            "judge": of.judge,
            "measure": of.measure,
            "run": system,
            "mean": float(of.truth[:, place].mean()) if n_queries else None,
            "judged": float(of.values[:, place].mean()) if n_queries else None,
            "favour": float(samples[place].mean()) if n_queries else None,
            "low": estimate.low if outcome.p is not None else None,
            "high": estimate.high if outcome.p is not None else None,
            "p": outcome.p,
            "p_corrected": p,
            "n_queries": n_queries,
            "note": "; ".join(notes) or None,
        }


@public(ComparingJudges)
def judge_effect(
    per_query: Table[FrameT], measures: Measures = None, *, truth: str = "people", **options: Unpack[ComparingJudges]
) -> FrameT:
    """Effect of each judge on the outcome: whether the same systems win, and win significantly, as by the truth.

    Agreement on documents does not tell whether the systems come out in the same order; this does. The counts are of
    the pairs of systems, each tested by Student's paired t and Holm's correction, by the judge as by the truth:
    `invented` differences are those that a reader would believe, and the truth does not show.

    Parameters
    ----------
    per_query, truth
        As in `favour`.

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
    rows = [_effect(of, options["alpha"]) for of in judged]
    return give_back(pl.DataFrame(rows, schema=EFFECT), per_query)


def _effect(of: Judged, alpha: float) -> dict[str, Any]:
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
        row |= {name: stats.rank_order.COEFFICIENTS[method](*levels)[0] for name, method in TAUS.items()}
    else:
        notes.append("all systems are tied by a judge: no tau")
    differences = [stats.differences([side], pairs) for side in sides]
    by_query = stats.rank_order.kendall_of_signs(*map(np.sign, differences))
    known = by_query[~np.isnan(by_query)]
    if len(known):
        row["tau_by_query"] = float(known.mean())
    outcomes = [stats.t_test(stats.samples_of(of_pairs)) for of_pairs in differences]
    tested = [stats.corrected([outcome.p for outcome in of_each], "holm", alpha=alpha) for of_each in outcomes]
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
