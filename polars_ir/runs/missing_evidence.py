"""`missing_evidence`: the groups of evidence that a ranking lacks, the ranks of their documents, and who had them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.engine.needs import needs_of
from polars_ir.engine.relation import judged_relation
from polars_ir.engine.run_and_qrels import RunAndQrels, of_systems
from polars_ir.errors import Fix, OptionError, Setting, quoted, warn
from polars_ir.frames.kinds import holds_systems
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.kinds import GROUP
from polars_ir.language.measures.evidence import full_recall
from polars_ir.language.names import resolve
from polars_ir.language.options import check, count, keys_named, not_negative, public, truth
from polars_ir.language.words import rank, relevance, relevant, text, top
from polars_ir.runs.options import Selecting
from polars_ir.runs.selection import selected
from polars_ir.runs.warnings import warn_of_other_ids

#: The place of a system in a pipeline, and of the last one that retrieved a document.
PLACE, LAST = "polars_ir: place", "polars_ir: last"


@public(Selecting)
def missing_evidence(
    run: Table[FrameT],
    qrels: Any,
    k: int = 5,
    *,
    rel: float = 1,
    stages: bool = False,
    by: str | Sequence[str] | None = None,
    **options: Unpack[Selecting],
) -> FrameT:
    """The groups of evidence without a document among the first `k`, each with its highest-ranked document.

    They are why `FullRecall(rel=rel)@k` is not 1: "(a or b) and c" lacks c where neither the first `k` nor the index
    have it.

    Parameters
    ----------
    qrels
        The judgments, with groups in `subtopic` as `from_lists` makes them; without, each relevant document is a group.
    k
        The number of first documents.
    rel
        The lowest grade that is relevant.
    stages
        True: `run` is a dict of the stages of a pipeline in their order, `{"retriever": run, "reranker": other}`, as
        `ir.stages` takes them; other systems have no order in which a document could be lost.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        A row per group: the keys of `by`, the column of systems (if there are several), the query column, `subtopic`,
        `doc_id` (the highest-ranked relevant document of the group; if none was retrieved, the one of the highest
        grade, then of the lowest id) and `rank` (UInt32, null if not retrieved), sorted by keys, system, query and
        group. With `stages` also `last_stage`: the last one, up to that of the row, that retrieved this document at any
        rank, null if none did; `doc_id` is then the one that was retrieved last, and rows go in the order of stages.

    Warns
    -----
    IRWarning
        For a `rel` above all grades of qrels in memory, and for runs in memory that share nothing with them.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> log = pl.DataFrame({"query_id": ["q"], "retrieved": [["b", "x", "c"]], "relevant": [[["a"], ["b"], ["c"]]]})
    >>> run, qrels = ir.from_lists(log)
    >>> ir.missing_evidence(run, qrels, k=2).rows()
    [('q', 1, 'a', None), ('q', 3, 'c', 3)]
    """
    if check("stages", stages, truth()):
        check_stages(run)
    columns = ["subtopic", "doc_id", "rank", *(["last_stage"] if stages else [])]
    by_keys = free_keys(by, ["run", *columns])
    pair, groups = evidence_of(run, qrels, check("k", k, count()), rel, by_keys, options, stages=stages)
    missing = groups.filter(~pl.col("found"))
    keys = pair.run.keys
    order = [PLACE if stages and key == "run" else key for key in keys]
    return pair.run.give_back(missing.sort(*order, "subtopic").select(*keys, *columns), run)


def check_stages(run: Any) -> None:
    """Raise an `OptionError` for what has no order of stages."""
    if not isinstance(run, Mapping) or not holds_systems(run) or len(run) < 2:
        got = quoted(run) if isinstance(run, Mapping) else type(run).__name__
        wanted = "must be a dict of two runs or more in the order of the stages, {'retriever': ..., 'reranker': ...}"
        raise OptionError(f"{wanted}; got {got}.", about="run")


def free_keys(by: str | Sequence[str] | None, columns: Sequence[str]) -> list[str]:
    """The keys of rankings, none of which is called as a column of the result."""
    keys = list(keys_named(by))
    if taken := [key for key in keys if key in columns]:
        raise OptionError(f"names {quoted(taken)}, a column of the result.", about="by", fix="Rename it in all tables")
    return keys


def evidence_of(
    run: Any, qrels: Any, k: int, rel: float, by: Sequence[str], options: Mapping[str, Any], *, stages: bool = False
) -> tuple[RunAndQrels, pl.LazyFrame]:
    """A row per ranking and group of evidence: `found` is true if one of the first `k` documents is of it.

    `doc_id` and `rank` are those of its highest-ranked document. With `stages` `last_stage` is the last system, in the
    order of a dict, that retrieved it, and a document that was retrieved later comes before others; `PLACE` is that of
    the ranking's system.
    """
    if qrels is None:
        raise OptionError("must be the judgments; got None.", about="qrels")
    rel = check("rel", rel, not_negative())
    measured = resolve(full_recall(rel=rel))
    needs = needs_of(measured, by=by)
    needs = needs._replace(columns=needs.columns | {"doc_id"})
    pair, relation = judged_relation(*selected(run, qrels, options, by), measured, needs)
    _warn_of_grades(pair, rel)
    warn_of_other_ids(pair, stages=isinstance(run, Mapping) and holds_systems(run))
    rows, of_stage = of_systems(relation, pair).filter(relevant(rel)), []
    if stages:
        place = pl.col("run").replace_strict({name: at for at, name in enumerate(pair.run.systems or ())})
        document_keys = [*(key for key in pair.run.keys if key != "run"), GROUP, "doc_id"]
        had = pl.when(rank.is_not_null()).then(PLACE).forward_fill().over(document_keys, order_by=PLACE)
        rows = rows.with_columns(place.cast(pl.Int64).alias(PLACE)).with_columns(had.alias(LAST))
        of_stage = [(-pl.col(LAST).fill_null(-1)).alias("had")]
    document = pl.struct(
        rank.is_null().alias("lost"), rank, *of_stage, -relevance.cast(pl.Float64).alias("grade"), text("doc_id")
    )
    first = pl.struct("doc_id", "rank", *([LAST] if stages else [])).sort_by(document).first().struct.unnest()
    group = pl.col(GROUP if pair.qrels and pair.qrels.per else "doc_id").alias("subtopic")
    groups = rows.group_by(*pair.run.keys, *([PLACE] if stages else []), group)
    found = groups.agg(first, found=top(k).any().fill_null(value=False)).with_columns(pl.col("rank").cast(pl.UInt32))
    if stages:
        names = pl.lit(pl.Series(list(pair.run.systems or ()), dtype=pl.String))
        found = found.with_columns(names.gather(pl.col(LAST)).alias("last_stage"))
    return pair, found


def _warn_of_grades(pair: RunAndQrels, rel: float) -> None:
    """Warn of judgments in memory, none of which has a grade that is relevant."""
    judgments = pair.judgments
    highest: Any = judgments.found(judgments.select("relevance").max())["relevance"].max()
    if highest is not None and 0 < highest < rel:
        fix = Fix("Name the lowest relevant grade, such as", Setting("rel", highest))
        warn(f"no document is relevant: the highest grade is {highest:g}, and rel is {rel:g}.", fix=fix)
