"""`reusability`: the worth of judgments for a system outside the pool that they come from.

Conventions: a system brings its first documents, down to a depth, to the pool. Those that no system outside its group
brings would not have been judged without the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from polars_ir.engine.ranking import DOCUMENT
from polars_ir.engine.run_and_qrels import RunAndQrels, align
from polars_ir.errors import ColumnError, OptionError, check_systems
from polars_ir.frames.kinds import give_back
from polars_ir.frames.roles import required
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.names import Measures, ResolvedMeasure
from polars_ir.language.options import check, count, or_none, public
from polars_ir.runs.alternatives import DECIMALS, Frames, check_number, frames_of, in_memory, one_measure
from polars_ir.runs.evaluate import evaluate
from polars_ir.runs.rankings import ranked

SCHEMA: dict[str, Any] = {
    **dict.fromkeys(["group", "run"], pl.String),
    **dict.fromkeys(["mean", "mean_without", "change"], pl.Float64),
    **dict.fromkeys(["rank", "rank_without"], pl.UInt32),
    "passed_by": pl.List(pl.String),
    "tau": pl.Float64,
    **dict.fromkeys(["n_judgments", "n_relevant"], pl.UInt32),
}


@public()
def reusability(
    runs: Table[FrameT], qrels: Any, measure: Measures, *, by: Mapping[str, str] | None = None, depth: int | None = 100
) -> FrameT:
    """Mean of each system without the judgments that it alone brought to the pool: a row per system.

    Judgments of documents that only the system, or only systems of its group, has among its first `depth` are removed,
    and all systems evaluated anew. A system that falls far, or is overtaken, shows that the judgments are unfair to new
    systems like it: those that overtake it profit from the holes. One that keeps its place shows that they can be
    reused, for systems no more different from the pool than it is from the others.

    The pool is assumed to be that of these runs: where others took part as well, a document that only one of these has
    may have come from them too, and losses are overestimated. Judged documents that none of these runs has down to the
    depth stay judged.

    Parameters
    ----------
    runs
        The runs of several systems, in any form that `evaluate` takes; LazyFrames are collected.
    qrels
        The judgments of documents, in any form that `evaluate` takes.
    measure
        One measure: a name, an expression of this package, or an aggregation of your own. Means over queries are
        arithmetic.
    by
        The group of each system, such as the team that sent it in: systems of a group are left out together. Systems
        that it does not name are groups by themselves, as all are by default.
    depth
        The depth of the pool; None: all retrieved documents.

    Returns
    -------
    The kind of the runs
        `group`, the column of systems (String); `mean`, `mean_without` and `change`, mean_without - mean (Float64);
        `rank` and `rank_without`, among all systems (UInt32; 1 is the best, equal means share the lower number);
        `passed_by` (List of String), the systems of other groups that were behind it, and are not without its
        judgments; `tau` (Float64, from -1 to 1), Kendall's tau-b of the orders of all systems with and without them,
        null where all are tied; `n_judgments` and `n_relevant` (UInt32), how many judgments were taken away, and how
        many of them of a grade above 0. Rows go from the greatest loss to the greatest gain; for a cost (`Hole`), a
        rise is a loss.

    Raises
    ------
    IRError
        For a single system, an unknown system in `by`, a measure that `judge_next` does not take, and for what
        `evaluate` does not take.

    References
    ----------
    Zobel 1998, https://doi.org/10.1145/290941.291014 (leaving systems out); Buckley, Dimmick, Soboroff & Voorhees 2007,
    https://doi.org/10.1007/s10791-007-9032-x (groups of systems)

    Examples
    --------
    >>> import polars_ir as ir
    >>> runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d1", "d3"]}, "c": {"q": ["d1", "d2", "d4"]}}
    >>> qrels = {"q": {"d1": 1, "d2": 0, "d3": 1, "d4": 0}}
    >>> reusable = ir.reusability(runs, qrels, "P@2")
    >>> reusable.select("run", "mean", "mean_without", "rank", "rank_without", "passed_by", "n_judgments").rows()
    [('b', 1.0, 0.5, 1, 1, ['a', 'c'], 1), ('a', 0.5, 0.5, 2, 2, [], 0), ('c', 0.5, 0.5, 2, 2, [], 1)]
    """
    measured = one_measure(measure, "reusability", qrels, of_parts=False)
    depth = check("depth", depth, or_none(count()))
    frames = in_memory(frames_of(runs))
    pair = align(frames, qrels)
    if pair.qrels is None or "run" not in pair.run.dtypes:
        raise ColumnError.one_system("ir.reusability", pair.run.columns)
    judgments = pair.qrels.all_columns().collect()
    means = _means(frames, judgments, measured)
    groups = _groups(means["run"].to_list(), by)
    contributed = _only_from(pair, groups, depth)
    parts = [
        _without(group, frames, judgments, contributed.filter(group=group).select(DOCUMENT), means, groups, measured)
        for group in groups["group"].unique(maintain_order=True)
    ]
    loss = -pl.col("change") if is_cost(measured.name) else pl.col("change")
    ordered = pl.concat(parts).sort(loss, "rank", "run")
    result = ordered.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
    return give_back(result.lazy().rename(pair.run.source_names, strict=False), runs)


def _groups(systems: list[str], by: Mapping[str, str] | None) -> pl.DataFrame:
    if by is not None and not isinstance(by, Mapping):
        raise OptionError(f"must be a dict of the group of each system; got {by!r:.80}.", about="by")
    group_of = {str(system): str(group) for system, group in (by or {}).items()}
    check_systems("by", group_of, systems)
    groups = pl.DataFrame({"run": systems, "group": [group_of.get(system, system) for system in systems]})
    if groups["group"].n_unique() < 2:
        raise OptionError("must leave systems of other groups in the pool; it puts all of them into one.", about="by")
    return groups


def _only_from(pair: RunAndQrels, groups: pl.DataFrame, depth: int | None) -> pl.DataFrame:
    """Documents that only the systems of one group have down to the depth, with the group."""
    rows = ranked(pair.run).select(pl.col("run").cast(pl.String), *DOCUMENT, "rank")
    pooled = rows if depth is None else rows.filter(pl.col("rank") <= depth)
    of_groups = pooled.join(groups.lazy(), on="run").group_by(DOCUMENT)
    contributed = of_groups.agg(pl.col("group").n_unique().alias("n_groups"), pl.col("group").first())
    return contributed.filter(pl.col("n_groups") == 1).collect()


def _means(named: Any, judgments: pl.DataFrame, measure: ResolvedMeasure) -> pl.DataFrame:
    """Mean of every system over all judged queries, and its rank."""
    evaluated: pl.LazyFrame = evaluate(named, judgments, measure.expression).lazy()
    schema = evaluated.collect_schema()
    check_number(measure, schema)
    system = pl.col(required("runs", "run", schema.names()))
    per_query = evaluated.select(system.cast(pl.String).alias("run"), measure.name)
    mean = pl.col(measure.name).cast(pl.Float64).sort().mean().round(DECIMALS)
    means = per_query.group_by("run").agg(mean=mean).sort("run").collect()
    return means.with_columns(rank=pl.col("mean").rank("min", descending=not is_cost(measure.name)))


def _without(
    group: str,
    runs: Frames,
    judgments: pl.DataFrame,
    documents: pl.DataFrame,
    means: pl.DataFrame,
    groups: pl.DataFrame,
    measure: ResolvedMeasure,
) -> pl.DataFrame:
    """Rows of the systems of a group, evaluated without the judgments of some documents."""
    removed = judgments.join(documents, on=DOCUMENT, how="semi")
    after = _means(runs, _kept(judgments, documents), measure) if removed.height else means
    compared = means.join(after, on="run", suffix="_without").join(groups, on="run")
    sign = -1 if is_cost(measure.name) else 1
    means_of_both = ("mean", "mean_without")
    ahead, ahead_without = [(sign * (pl.col(name) - pl.col(f"{name}_right"))).sign() for name in means_of_both]
    pairs = compared.join(compared, how="cross", suffix="_right")
    tied = (ahead.abs().sum() * ahead_without.abs().sum()).sqrt()
    tau = pairs.select(pl.when(tied > 0).then((ahead * ahead_without).sum() / tied)).item()
    passes = (ahead > 0) & (ahead_without <= 0) & (pl.col("group_right") != group)
    passed_by = pairs.filter(group=group).group_by("run").agg(passed_by=pl.col("run_right").filter(passes).sort())
    return (
        compared.filter(group=group)
        .join(passed_by, on="run")
        .with_columns(
            change=(pl.col("mean_without") - pl.col("mean")).round(DECIMALS),
            tau=pl.lit(tau, pl.Float64),
            n_judgments=removed.height,
            n_relevant=(removed["relevance"] > 0).sum(),
        )
    )


def _kept(judgments: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Judgments of other documents; a query with none left keeps a row without document and grade."""
    remaining = judgments.join(documents, on=DOCUMENT, how="anti")
    emptied = judgments.join(remaining, on="query_id", how="anti").select("query_id").unique(maintain_order=True)
    return pl.concat([remaining, emptied], how="diagonal")
