"""`stages`: the relevant documents that each stage of a pipeline has among its first, gained and lost."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.errors import quoted, warn
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, count, public
from polars_ir.runs.missing_evidence import check_stages, evidence_of, free_keys
from polars_ir.runs.options import Selecting


@public(Selecting)
def stages(
    run: Mapping[str, Table[FrameT]],
    qrels: Any,
    *,
    k: int = 10,
    rel: float = 1,
    by: str | Sequence[str] | None = None,
    **options: Unpack[Selecting],
) -> FrameT:
    """Relevant documents among the first `k` of each stage of a pipeline, and those gained and lost at each stage.

    A stage with fewer of them than the one before is where to look; `missing_evidence` with the same `rel` and `k`,
    which is 5 there by default, and `stages=True` names the documents.

    Parameters
    ----------
    run
        The runs in the order of the stages, `{"retriever": run, "filter": other, "reranker": last}`, each of one
        system. A query that a stage has no row for has lost all there, which a warning tells of runs in memory.
    qrels
        The judgments; where they have groups (`subtopic`), groups with a document among the first `k` are counted.
    k
        The number of first documents.
    rel
        The lowest grade that is relevant.

    Returns
    -------
    The kind of the runs (a LazyFrame for LazyFrames, pandas for pandas)
        A row per stage of each query with a relevant document: the keys of `by`, the query column, `stage` (String),
        `n_relevant` (Int64, among the first `k`), and `gained` and `lost` (Int64): those that the stage before did not
        have among its first `k`, and those that it alone had. The first stage gains all it has. Sorted by keys and
        query, then in the order of the stages.

    Warns
    -----
    IRWarning
        For queries that a stage lacks, a `rel` above all grades of qrels in memory, and stages in memory that share
        nothing with these.

    Raises
    ------
    IRError
        For what is no dict of two runs or more, keys or types of ids that differ between stages, and for what
        `evaluate` does not take.

    Examples
    --------
    >>> import polars_ir as ir
    >>> found = {"q": ["a", "x", "b", "c"]}
    >>> ir.stages({"retriever": found, "reranker": {"q": ["c", "a", "x"]}}, {"q": ["a", "b", "c"]}, k=3).rows()
    [('q', 'retriever', 2, 2, 0), ('q', 'reranker', 2, 1, 1)]
    """
    check_stages(run)
    keys = free_keys(by, ["run", "subtopic", "stage", "n_relevant", "gained", "lost"])
    pair, groups = evidence_of(run, qrels, check("k", k, count()), rel, keys, options)
    names = pair.run.systems or ()
    _tell_lacking(pair, names)
    keys = [key for key in pair.run.keys if key != "run"]
    has = [(pl.col("found") & (pl.col("run") == name)).any().alias(f"{at}") for at, name in enumerate(names)]
    # A column for each stage, so that a stage meets the one before in the row of a group.
    queries = groups.group_by(*keys, "subtopic").agg(has).group_by(keys).agg(_counts(len(names)))
    rows = [
        queries.select(
            *keys, pl.lit(name).alias("stage"), pl.col(f"{at}").struct.unnest(), pl.lit(at, pl.Int64).alias("at")
        )
        for at, name in enumerate(names)
    ]
    found = pl.concat(rows).sort(*keys, "at").drop("at")
    given_back: FrameT = pair.run.give_back(found, run)
    return given_back


def _counts(n_stages: int) -> list[pl.Expr]:
    """The counts of each stage, of groups in rows."""
    counts = []
    for at in range(n_stages):
        now, before = pl.col(f"{at}"), pl.col(f"{at - 1}") if at else pl.lit(value=False)
        of_stage = {"n_relevant": now, "gained": now & ~before, "lost": before & ~now}
        sums = [each.sum().cast(pl.Int64).alias(name) for name, each in of_stage.items()]
        counts.append(pl.struct(sums).alias(f"{at}"))
    return counts


def _tell_lacking(pair: RunAndQrels, names: Sequence[str]) -> None:
    """Warn of queries that a stage in memory lacks, and the one before has."""
    rows = pair.run.found(pair.run.select(*pair.run.keys).unique())
    keys = [key for key in pair.run.keys if key != "run"]
    for before, name in itertools.pairwise(names):
        has, lacks = (rows.filter(pl.col("run") == stage).drop("run") for stage in (before, name))
        lost = has.join(lacks, on=keys, how="anti").sort(keys)
        if lost.height:
            queries = f"{lost.height:,} quer{'y' if lost.height == 1 else 'ies'}"
            some = quoted(lost["query_id"].head(3).to_list())
            says = f"has no row of stage {name!r} for {queries} of {before!r}, which count as lost"
            warn(f"{says}; the first: {some}.", about="run")
