"""`coverage`: the overlap of a run and its judgments, as data, and as errors of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.engine.run_and_qrels import RunAndQrels, systems_of
from polars_ir.errors import DataError
from polars_ir.frames.judgments import judgment_table
from polars_ir.frames.rules import Rule, checked, guard, wrong_run_row
from polars_ir.frames.table import run_table, same_types
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, count, keys_named, public
from polars_ir.language.words import average, text
from polars_ir.runs.options import Selecting
from polars_ir.runs.selection import selected

#: Columns of the result after the keys, and those that count queries or rows.
COUNTS = ("n_judged", "n_queries", "n_met", "n_documents", "n_documents_met", "n_duplicates", "n_wrong")
COLUMNS = (*COUNTS[:5], "judged", *COUNTS[5:], "empty")

#: A column that all rows share, also of a run of one system, and one that is read so that everything is checked.
EACH, COUNTED = "polars_ir: each", "polars_ir: counted"

#: The error of a strict evaluation of nothing, and its advice.
NO_ROWS, LOOK = "has no rows, so that no system can be checked", "Look where its rows were left out"


@public(Selecting)
def coverage(
    run: Table[FrameT], qrels: Any, *, k: int = 10, by: str | Sequence[str] | None = None, **options: Unpack[Selecting]
) -> FrameT:
    """Overlap of a run and its judgments in numbers: one row per system, also of a plan.

    The checks of an evaluation as columns that can be filtered, kept and alarmed on. `evaluate(strict=True)` makes
    errors of them.

    Parameters
    ----------
    run
        A run of any kind that `evaluate` takes; also one that it refuses for its rows (duplicates, null scores).
    k
        The depth for the share of judged documents.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, nothing collected)
        The keys of `by`, the column of systems (if there is one), and

        - `n_judged`, `n_queries`, `n_met` (UInt32): the judged queries, those of the run, and those of both;
        - `n_documents`, `n_documents_met` (UInt32): the documents of the run, and those judged for their query;
        - `judged` (Float64, from 0 to 1): the mean share of the first `k` documents that is judged, over the queries of
          both; null without such;
        - `n_duplicates` (UInt32): the rows whose document occurs earlier in its ranking;
        - `n_wrong` (UInt32): the rows whose id is null, or whose score is null or NaN, which no other column counts;
        - `empty` (Boolean): true of a system that answers no judged query.

        Sorted by keys and system.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run = {"a": {"q1": ["d1", "d2"], "q2": ["d3"]}, "b": {"q9": ["d1"]}}
    >>> covered = ir.coverage(run, {"q1": {"d1": 1}, "q2": {"d9": 1}}, k=1)
    >>> covered.select("run", "n_queries", "n_met", "n_documents_met", "judged", "empty").rows()
    [('a', 2, 2, 1, 0.5, False), ('b', 1, 0, 0, None, True)]
    """
    k = check("k", k, count())
    keys = keys_named(by)
    rows, qrels = selected(run, qrels, options, keys)
    _, judged = judgment_table(qrels, check=False, by=keys)
    pair = RunAndQrels(*same_types(run_table(rows, check=False, by=keys), judged))
    return pair.run.give_back(covered(pair, k), run, "streaming")


def covered(pair: RunAndQrels, k: int = 10) -> pl.LazyFrame:
    """A row for each system with the columns of `coverage`."""
    run, (judged, shared) = pair.run, _judged(pair)
    systems, of_part, each = run.keys[:-1], shared[:-1], pl.lit(1).alias(EACH)
    queries = judged.select(shared).unique()
    right: Any = {"how": "left", "build_side": "force_right"}
    rows = run.select(*run.document, "score").with_columns(each, wrong=wrong_run_row(run.keys))
    rows = rows.join(judged.with_columns(judged=True), on=[*shared, "doc_id"], **right)
    rows = rows.join(queries.with_columns(met=True), on=shared, **right)
    rows = rows.with_columns(pl.col("judged", "met").fill_null(False))
    first = pl.col("judged").sort_by(pl.struct("score", text("doc_id")), descending=True).head(k)
    rankings = (
        rows.filter(~pl.col("wrong"))
        .group_by(*run.keys, EACH)
        .agg(
            pl.col("met").first(),
            rows=pl.len(),
            documents=pl.col("doc_id").n_unique(),
            judged=pl.col("judged").sum(),
            share=first.cast(pl.Float64).mean(),
        )
    )
    found = rankings.group_by(*systems, EACH).agg(
        n_queries=pl.len(),
        n_met=pl.col("met").sum(),
        n_documents=pl.col("rows").sum(),
        n_documents_met=pl.col("judged").sum(),
        # In a fixed order, so that the sum is the same each time.
        judged=average(pl.col("share").filter("met").sort()),
        n_duplicates=pl.col("rows").sum() - pl.col("documents").sum(),
    )
    there = (systems_of(run, systems) if systems else pl.LazyFrame({"there": [True]})).with_columns(each)
    n_judged = queries.with_columns(each).group_by(*of_part, EACH).agg(n_judged=pl.len())
    n_wrong = rows.group_by(*systems, EACH).agg(n_wrong=pl.col("wrong").sum())
    together = there.join(n_judged, on=[*of_part, EACH], how="left", nulls_equal=True)
    for part in (found, n_wrong):
        together = together.join(part, on=[*systems, EACH], how="left", nulls_equal=True)
    counts = pl.col(COUNTS).fill_null(0).cast(pl.UInt32)
    together = together.with_columns(counts).with_columns(empty=pl.col("n_met") == 0)
    return together.sort(systems or "n_met").select(*systems, *COLUMNS)


def _judged(pair: RunAndQrels) -> tuple[pl.LazyFrame, list[str]]:
    """The judged documents of queries, and the keys that they share with the run."""
    if pair.qrels is None:
        run = pair.run
        return run.select(*run.document, "relevance").drop_nulls().select(run.document).unique(), run.keys
    qrels = pair.qrels
    return qrels.select(*qrels.document).unique(), qrels.keys


def strictly(result: pl.LazyFrame, pair: RunAndQrels, *, missing: str) -> pl.LazyFrame:
    """The result of an evaluation, which fails for a run and judgments that do not overlap, and for duplicates."""
    rules = [
        Rule(pl.col("n_judged") == 0, "without judgments", "Leave them out, or look at the keys of the judgments"),
        Rule(pl.col("n_documents_met") == 0, "without a judged document", "Compare the ids of run and judgments"),
        Rule(pl.col("n_duplicates") > 0, "with documents that a ranking has twice", "Keep the best score of each"),
    ]
    if missing == "zero":
        few = 2 * pl.col("n_met") < pl.col("n_judged")
        fix = "Evaluate all queries, or leave those out that the run does not answer"
        rules.append(Rule(few, "of which fewer than half of the judged queries are answered", fix))
    found = covered(pair).with_columns(pl.col("n_met", "n_judged").cast(pl.Int64))
    keys = pair.run.keys[:-1]
    checks = checked(pair.run.computed(found), *rules, about="coverage", keys=keys, names=pair.run.names)
    if isinstance(checks, pl.DataFrame):
        if checks.is_empty():
            raise DataError(f"run {NO_ROWS}.", fix=LOOK)
        return result
    # The result depends on a column of the checked rows, which the optimizer would otherwise leave out; so does an
    # empty one, which then has a row without a query.
    each = pl.lit(1).alias(EACH)
    counted = checks.select(pl.col("n_met").count().alias(COUNTED), each)
    joined = counted.join(result.with_columns(each), on=EACH, how="left")
    joined = guard(joined, pl.col(COUNTED) == 0, f"run {NO_ROWS}. {LOOK}.")
    return joined.filter(pl.col("query_id").is_not_null()).drop(EACH, COUNTED)
