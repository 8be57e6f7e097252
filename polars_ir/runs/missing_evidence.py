"""`missing_evidence`: the groups of evidence that a ranking lacks, and the ranks of their documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.engine.needs import needs_of
from polars_ir.engine.relation import judged_relation
from polars_ir.engine.run_and_qrels import of_systems
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
        A run of one or several systems, in any form that `evaluate` takes.
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
        group.

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
    if qrels is None:
        raise OptionError("must be the judgments; got None.", about="qrels")
    k, keys = check("k", k, count()), keys_named(by)
    measured = resolve("FullRecall")
    needs = needs_of(measured, by=keys)
    needs = needs._replace(columns=needs.columns | {"doc_id"})
    pair, relation = judged_relation(*selected(run, qrels, options, keys), measured, needs)
    document = pl.struct(rank.is_null().alias("lost"), rank, -relevance.cast(pl.Float64).alias("grade"), text("doc_id"))
    first = pl.struct("doc_id", "rank").sort_by(document).first().struct.unnest()
    groups = of_systems(relation, pair).filter(relevant()).group_by(*pair.run.keys, pl.col(GROUP).alias("subtopic"))
    missing = groups.agg(first, found=top(k).any()).filter(~pl.col("found").fill_null(False))
    columns = ("subtopic", "doc_id", pl.col("rank").cast(pl.UInt32))
    return pair.run.give_back(missing.sort(*pair.run.keys, "subtopic").select(*pair.run.keys, *columns), run)
