"""`validate`: anomalies of a run and its judgments, to check before any figure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from polars_ir.engine.needs import Needs
from polars_ir.engine.prefilter import among
from polars_ir.engine.relation import placed, relate
from polars_ir.engine.run_and_qrels import RunAndQrels, of_systems
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.judgments import judgment_table
from polars_ir.frames.kinds import PreparedJudgments
from polars_ir.frames.rules import wrong_qrels_row, wrong_run_row
from polars_ir.frames.table import run_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, each_once, keys_named, or_none, public, some_of
from polars_ir.runs import findings
from polars_ir.runs.leaks import LEAKS
from polars_ir.runs.twins_of_gold import TWINS

#: Columns of the relation that findings read, beside the keys.
READ = ("doc_id", "relevance", "rank", "n_higher", "n_tied")


@public()
def validate(
    run: Table[FrameT],
    qrels: Any,
    *,
    by: str | Sequence[str] | None = None,
    only: str | Sequence[str] | None = None,
    history: Any = None,
    documents: Any = None,
) -> FrameT:
    """Anomalies of a run and its judgments: one row per finding, none for clean tables.

    Parameters
    ----------
    run
        A run of any kind that `evaluate` takes; also one that it refuses for its rows (duplicates, null scores).
    by
        Columns of the run that distinguish rankings, such as 'date', as in `evaluate`: ids then begin with these.
    only
        The findings to look for, by name, such as 'duplicates in the run', or one; None looks for all.
    history
        What the users of a recommender had before, such as the data of the training: rows of user and item in any form
        of a run. It adds findings: judged pairs that it has, and lists that look sampled (`warning`); recommended pairs
        that it has, judged users and items that it lacks (`note`).
    documents
        The texts of documents, as `twins` takes them. It adds findings (`warning`): queries with a relevant
        document whose text stands under another id, too, that is not judged, or is judged by another grade; and
        relevant documents that are not among these.

    Returns
    -------
    The kind of the run
        `finding` and `severity` (String), `count` (UInt32) of rows or queries, `share` (Float64) of all of them,
        `examples` (List(String)) and `meaning` (String). The findings, by severity:

        - `error`, which `evaluate` refuses: ids of different types; null ids, and null or NaN scores and grades;
          duplicates;
        - `warning`, where something went wrong upstream: a run and qrels that look like each other; ids that are empty
          or -1; ids that only look different on the two sides; rankings of several days or tenants; judged queries
          missing from the run; grades between 0 and 1; a rank column with gaps, or one that contradicts the scores or
          is in their place;
        - `note`, to bear in mind: queries without judgments, or without a relevant document; queries that retrieve the
          document of their own id; tied scores, and the largest move of the mean P@10 and nDCG@10 by another order of
          the ties (in `share`); unjudged documents in the top 10.

    Examples
    --------
    >>> import polars_ir as ir
    >>> findings = ir.validate({"q1": {"d1": 0.9, "d2": 0.9}, "q2": {"d3": 1.0}}, {"q1": {"d2": 1}})
    >>> findings.select("finding", "severity", "count").rows()[:3]
    [('queries without judgments', 'note', 1), ('tied scores', 'note', 2), ('nDCG@10 moved by ties', 'note', 1)]
    """
    known = findings.FINDINGS | ({} if history is None else LEAKS) | ({} if documents is None else TWINS)
    names = each_once(check("only", only, or_none(some_of(*known)))) or list(known)
    keys = keys_named(by)
    kind, judged = judgment_table(qrels, check=False, by=keys)
    if not kind.by_document:
        names = [name for name in names if name not in (findings.OF_GRADES | TWINS.keys())]
    given = run_table(run, check=False, by=keys)
    of_types, run_rows, qrels_rows = findings.id_types(given, judged)
    run_side = _side(run_rows, wrong_run_row(run_rows.keys))
    # Findings of the judgments alone are made once for judgments prepared for many runs.
    prepared = qrels if isinstance(qrels, PreparedJudgments) and qrels_rows is judged else None
    side = partial(_side, qrels_rows, wrong_qrels_row(qrels_rows.keys))
    qrels_side = prepared.kept(("side", qrels_rows.by), side) if prepared else side()
    top = _top(RunAndQrels(run_side.sound, qrels_side.sound, prepared), names)
    tables = findings.Tables(run, run_side, qrels_side, prepared, top, history, documents)
    found = [
        one
        for of_check, make in findings.checks(of_types, tables)
        if not of_check.keys().isdisjoint(names)
        for name, one in zip(of_check, make(), strict=False)
        if name in names
    ]
    if tables.in_memory:
        # One after the other: their rows must not be in memory together.
        found = [each.collect(engine="in-memory").lazy() for each in found]
    return given.give_back(pl.concat([of_types.clear(), *found]).filter(pl.col("count") > 0), run)


def _top(pair: RunAndQrels, names: Collection[str]) -> findings.Top:
    """The rows that the named findings on the tops of rankings read."""
    top, run = findings.Top(), pair.run
    if not {*findings.SCORES, *findings.TIES, *findings.UNJUDGED}.isdisjoint(names):
        rows, _ = placed(run, run.select(*run.document, "score"), by_id=False)
        top = top._replace(placed=rows, may_tie=run.may_hold(rows.filter(findings.TIED)))
    if not {*findings.UNJUDGED, *(findings.TIES if top.may_tie else ())}.isdisjoint(names):
        if run.eager and pair.judgments.eager:
            relation = _judged(_of_top(pair, top.placed, pair.judgments)).collect(engine="in-memory").lazy()
        else:
            relation = _judged(pair).cache()
        top = top._replace(relation=relation)
    return top


def _of_top(pair: RunAndQrels, placed: pl.LazyFrame, qrels: CanonicalFrame) -> RunAndQrels:
    """A pair in memory with the documents whose score can bring them to the top, and the judgments that measures read.

    That is their judgments, those of relevant documents, which an ideal ranking holds, and one of each query.
    """
    top = placed.filter(findings.IN_TOP).select(*pair.run.document, "score").collect(engine="in-memory")
    of_query = pl.col(qrels.keys[0]) if len(qrels.keys) == 1 else pl.struct(qrels.keys)
    read = (pl.col("relevance") > 0) | among(qrels.document, top.select(qrels.document)) | of_query.is_first_distinct()
    judged = qrels.select(*qrels.document, "relevance").filter(read).collect(engine="in-memory")
    return RunAndQrels(pair.run.with_frame(top), qrels.with_frame(judged))


def _judged(pair: RunAndQrels) -> pl.LazyFrame:
    """Whatever is judged, whatever is at the top, and a row of each ranking."""
    read = pl.col("relevance").is_not_null() | pl.col("rank").is_null() | (pl.col("rank") <= findings.DEPTH)
    needs = Needs(unjudged=True, columns=frozenset({*pair.run.keys, *READ}), whole=False, by=pair.run.by)
    return of_systems(relate(pair, needs), pair).filter(read).select(*pair.run.keys, *READ)


def _side(table: CanonicalFrame, wrong: pl.Expr) -> findings.Side:
    """A table as findings read it; `wrong` is true for rows that `evaluate` refuses."""
    rows, ids = table.all_columns().filter(~wrong), [*table.document, *table.per]
    whole = once = table.with_frame(table.computed(rows))
    repeated = pl.lit(False)
    # Searching for repeated rows takes several times their memory; rows without any are spared it.
    if table.may_repeat(*ids):
        once, repeated = table.with_frame(table.computed(rows.unique(ids))), pl.struct(ids).is_duplicated()
    return findings.Side(table, repeated, whole, _by_document(once))


def _by_document(qrels: CanonicalFrame) -> CanonicalFrame:
    """Judgments with each document once, with its highest grade; a run, and judgments that are so, unchanged."""
    if not qrels.per:
        return qrels
    rows = qrels.select(*qrels.document, "relevance").group_by(qrels.document).agg(pl.col("relevance").max())
    return replace(qrels.with_frame(qrels.computed(rows)), per=())
