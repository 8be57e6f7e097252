"""`judge_next`: the unjudged documents that could move a comparison of systems most, were they relevant.

Conventions: the effect of a judgment is computed, not estimated: the measure of every system is computed anew with the
document judged, so that it counts among the relevant ones and in the ideal ranking.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_ir.engine.bounds import least_relevant
from polars_ir.engine.ranking import DOCUMENT
from polars_ir.engine.relation import collect_checked
from polars_ir.engine.run_and_qrels import RunAndQrels, systems_of
from polars_ir.errors import OptionError, check_systems, option
from polars_ir.frames.judgments import check_whole
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.names import Measures, ResolvedMeasure, call_behind
from polars_ir.language.options import check, count, or_none, public
from polars_ir.runs import alternatives
from polars_ir.runs.alternatives import DECIMALS, MEASURED

#: Lowest rank of documents to judge, for a measure without a cutoff.
DEPTH = 10

#: The document that an alternative judges.
CANDIDATE = "polars_ir: candidate"


@public()
def judge_next(
    runs: Table[FrameT],
    qrels: Any,
    measure: Measures,
    *,
    baseline: str | None = None,
    depth: int | None = None,
    n: int | None = 100,
) -> FrameT:
    """The unjudged documents worth judging next: those that could move the comparison of systems most.

    For each unjudged document, the measure of every system is computed anew as if the document were relevant, with the
    highest occurring grade. Its swing is the largest resulting change of the difference between the means of two
    systems (with a baseline, between any system and that one); for a single system, the change of its mean. One
    document is judged at a time. Each takes a copy of the judgments of its query for every system, in chunks that fit
    into memory: the time rises with the depth and with the number of judgments.

    Parameters
    ----------
    runs
        The runs, in any form that `evaluate` takes: one frame with a column `run`, or a dict of systems. LazyFrames
        are collected.
    qrels
        The judgments of documents, in any form that `evaluate` takes.
    measure
        One measure: a name, an expression of this package, or an aggregation of your own. Means over queries are
        arithmetic.
    baseline
        The system with which the others are compared; None: each with each.
    depth
        The lowest rank of documents to judge; None: to the cutoff of the measure, or to 10.
    n
        The number of documents, by falling swing; None: all.

    Returns
    -------
    The kind of the runs
        A row per unjudged document that some system has down to the depth and that moves something, by falling swing,
        then by rank: the query column under its name in the runs, `doc_id`, `n_systems` (UInt32, how many retrieved
        it), `best_rank` (UInt32), `swing` (Float64, above 0), `favours` and `against` (String): the systems between
        which it moves most, the one that would gain on the other first; null for a single system.

    References
    ----------
    Carterette et al. 2006, Minimal test collections, https://doi.org/10.1145/1148170.1148219

    Examples
    --------
    >>> import polars_ir as ir
    >>> runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d1"]}}
    >>> ir.judge_next(runs, {"q": {"d1": 1, "d9": 0}}, "P@2").rows()
    [('q', 'd3', 1, 1, 0.5, 'b', 'a'), ('q', 'd2', 1, 2, 0.5, 'a', 'b')]
    """
    measured = alternatives.one_measure(measure, "judge_next", qrels, of_parts=False)
    check_whole(qrels, measured.expression.meta.root_names())
    depth = check("depth", depth, or_none(count()))
    n = check("n", n, or_none(count()))
    frames = alternatives.in_memory(alternatives.frames_of(runs))
    pair, plan = alternatives.relation_of(frames, qrels, measured)
    relation = collect_checked(pair, plan)
    systems = sorted(systems_of(pair.run).collect().to_series().to_list()) if "run" in pair.run.keys else []
    if baseline is not None:
        if not systems:
            says = "needs several systems; the run is of one. Give a dict of runs by system."
            raise OptionError(says, about=option("baseline", baseline))
        check_systems("baseline", [baseline], list(map(str, systems)))
    candidates = _candidates(relation, depth or alternatives.cutoff_of(measured) or DEPTH)
    changes = _changes(measured, relation, candidates, pair)
    moving = candidates.join(_swings(changes, systems, baseline), on=DOCUMENT).filter(pl.col("swing") > 0)
    ordered = moving.sort("swing", "best_rank", *DOCUMENT, descending=[True, False, False, False])
    return pair.run.give_back(ordered.head(n or ordered.height).lazy(), runs)


def _candidates(relation: pl.DataFrame, depth: int) -> pl.DataFrame:
    """The unjudged documents among the first of any system."""
    unjudged = relation.filter(pl.col("relevance").is_null() & pl.col("rank").is_not_null())
    documents = unjudged.group_by(DOCUMENT).agg(n_systems=pl.len(), best_rank=pl.col("rank").min())
    return documents.filter(pl.col("best_rank") <= depth)


def _changes(
    measure: ResolvedMeasure, relation: pl.DataFrame, candidates: pl.DataFrame, pair: RunAndQrels
) -> pl.DataFrame:
    """Change of the mean of each system with a candidate judged: `change`, for every system and candidate."""
    keys = pair.keys
    documents = candidates.select(DOCUMENT)
    rows = pl.concat(
        [relation.filter(MEASURED), relation.filter(~pl.col(MEASURED)).join(documents, on=DOCUMENT, how="semi")]
    )
    # Added to the judgments also where a system did not retrieve it.
    everywhere = rows.select(keys).unique().join(documents, on="query_id").join(rows, on=[*keys, "doc_id"], how="anti")
    rows = pl.concat([rows, everywhere.with_columns(pl.lit(False).alias(MEASURED))], how="diagonal")
    if "n_retrieved" in rows.columns:
        rows = rows.with_columns(pl.col("n_retrieved").max().over(keys))
    highest = max(relation["relevance"].max() or 0, least_relevant(call_behind(measure))) or 1
    is_candidate = pl.col("doc_id").eq_missing(pl.col(CANDIDATE))

    def judged(rows: pl.LazyFrame) -> pl.LazyFrame:
        # No grade is higher: it leads the ideal ranking.
        place = pl.when(is_candidate).then(1).otherwise(pl.col("ideal_rank") + 1)
        grade = pl.when(is_candidate).then(highest).otherwise("relevance")
        return rows.filter(pl.col(MEASURED) | is_candidate).with_columns(
            relevance=grade, ideal_rank=place.cast(pl.UInt32)
        )

    read = {*keys, "doc_id", "relevance", "ideal_rank", MEASURED, *measure.expression.meta.root_names()}
    by = [*keys, CANDIDATE]
    then = alternatives.values_of(
        measure,
        rows.select(column for column in rows.columns if column in read),
        documents.rename({"doc_id": CANDIDATE}),
        on=["query_id"],
        by=by,
        changed=judged,
    )
    now = relation.filter(MEASURED).group_by(keys).agg(measure.expression.cast(pl.Float64).fill_null(0.0).alias("now"))
    n_queries = now["query_id"].n_unique()
    change = ((pl.col("value").fill_null(0.0) - pl.col("now")) / n_queries).round(DECIMALS)
    return then.join(now, on=keys).select(*keys, pl.col(CANDIDATE).alias("doc_id"), change.alias("change"))


def _swings(changes: pl.DataFrame, systems: list[Any], baseline: str | None) -> pl.DataFrame:
    """Largest change of a difference between two systems by each candidate, and the two systems."""
    change = pl.col("change")
    if not systems:
        alone = pl.lit(None, pl.String)
        return changes.select(*DOCUMENT, swing=change.abs(), favours=alone, against=alone)
    system = pl.col("run").cast(pl.String)
    # The system that the others are compared with: the baseline, or the one that gains least.
    opponent = change.arg_min() if baseline is None else (system == str(baseline)).arg_max()
    lead = change - change.get(opponent)
    most = lead.abs().arg_max()
    pairs = changes.sort(*DOCUMENT, "run").group_by(DOCUMENT, maintain_order=True)
    swings = pairs.agg(lead=lead.get(most), system=system.get(most), other=system.get(opponent))
    gains = pl.col("lead") > 0
    return swings.select(
        *DOCUMENT,
        swing=pl.col("lead").abs().round(DECIMALS),
        favours=pl.when(gains).then("system").otherwise("other"),
        against=pl.when(gains).then("other").otherwise("system"),
    )
