"""`missing_evidence`: the groups of evidence that a ranking lacks, the ranks of their documents, and who had them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.engine.needs import needs_of
from polars_ir.engine.relation import judged_relation
from polars_ir.engine.run_and_qrels import RunAndQrels, of_systems
from polars_ir.errors import OptionError
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.kinds import GROUP
from polars_ir.language.names import resolve
from polars_ir.language.options import check, count, keys_named, public
from polars_ir.language.words import rank, relevance, relevant, text, top
from polars_ir.runs.options import Selecting
from polars_ir.runs.selection import selected


@public(Selecting)
def missing_evidence(
    run: Table[FrameT],
    qrels: Any,
    k: int = 5,
    *,
    by: str | Sequence[str] | None = None,
    **options: Unpack[Selecting],
) -> FrameT:
    """The groups of evidence without a document among the first `k`, each with its highest-ranked document.

    They are why `FullRecall@k` is not 1: "(a or b) and c" lacks c where neither the first `k` nor the index have it.

    Parameters
    ----------
    run
        A run of one or several systems, in any form that `evaluate` takes; or the stages of a pipeline in their order,
        `{"retriever": run, "reranker": other}`, as `stages` takes them.
    qrels
        The judgments, with groups in `subtopic` as `from_lists` makes them; without, each relevant document is a group.
    k
        The number of first documents.
    by
        Columns of the run that distinguish rankings, such as 'date' or 'step', as in `evaluate`.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        A row per group: the keys of `by`, the column of systems (if there are several), the query column, `subtopic`,
        `doc_id` (the highest-ranked relevant document of the group; if none was retrieved, the one of the highest
        grade, then of the lowest id) and `rank` (UInt32, null if not retrieved), sorted by keys, system, query and
        group. For a dict of several runs also `last_stage`: the last one, up to that of the row, that retrieved a
        document of the group at any rank, null if none did.

    Raises
    ------
    IRError
        For a `k` below 1, and for what `evaluate` does not take.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> log = pl.DataFrame({"query_id": ["q"], "retrieved": [["b", "x", "c"]], "relevant": [[["a"], ["b"], ["c"]]]})
    >>> run, qrels = ir.from_lists(log)
    >>> ir.missing_evidence(run, qrels, k=2).rows()
    [('q', 1, 'a', None), ('q', 3, 'c', 3)]
    """
    pair, groups = evidence_of(run, qrels, check("k", k, count()), keys_named(by), options)
    missing = groups.filter(~pl.col("found"))
    keys, columns = pair.run.keys, ["subtopic", "doc_id", "rank"]
    if pair.run.systems and len(pair.run.systems) > 1:
        columns.append("last_stage")
    return pair.run.give_back(missing.sort(*keys, "subtopic").select(*keys, *columns), run)


def evidence_of(
    run: Any, qrels: Any, k: int, by: Sequence[str], options: Mapping[str, Any]
) -> tuple[RunAndQrels, pl.LazyFrame]:
    """A row per ranking and group of evidence: `found` is true if one of the first `k` documents is of it.

    `doc_id` and `rank` are those of its highest-ranked document, `last_stage` the last system, in the order of a dict,
    that retrieved one.
    """
    if qrels is None:
        raise OptionError("must be the judgments; got None.", about="qrels")
    measured = resolve("FullRecall")
    needs = needs_of(measured, by=by)
    needs = needs._replace(columns=needs.columns | {"doc_id"})
    pair, relation = judged_relation(*selected(run, qrels, options, by), measured, needs)
    document = pl.struct(rank.is_null().alias("lost"), rank, -relevance.cast(pl.Float64).alias("grade"), text("doc_id"))
    first = pl.struct("doc_id", "rank").sort_by(document).first().struct.unnest()
    groups = of_systems(relation, pair).filter(relevant()).group_by(*pair.run.keys, pl.col(GROUP).alias("subtopic"))
    found = groups.agg(first, found=top(k).any().fill_null(value=False)).with_columns(pl.col("rank").cast(pl.UInt32))
    if pair.run.systems and len(pair.run.systems) > 1:
        part = [*(key for key in pair.run.keys if key != "run"), "subtopic"]
        place = pl.col("run").replace_strict({name: at for at, name in enumerate(pair.run.systems)})
        had = pl.when(pl.col("rank").is_not_null()).then("run").forward_fill()
        found = found.with_columns(had.over(part, order_by=place).alias("last_stage"))
    return pair, found
