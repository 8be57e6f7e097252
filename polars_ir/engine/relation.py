"""The judged relation: the one join of a run with its judgments, which every measure reads.

Conventions
    * Order: score falling, equal scores by document id falling, as text and bytewise (9 before 10, as "9" before "10"):
      trec_eval's rule, unless `ties` says otherwise. A `rank` column beside a score is ignored.
    * Every judged query of every system has its rows, also when the system returned nothing for it.
    * Judgments are of documents, or, with `per`, of a document's subtopics or by several judges, a row for each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from typing import Any, NamedTuple, cast

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.as_plan import Strategy, is_small, plan_relation
from polars_ir.engine.grouping import ranking_keys, seeks_alike, with_alike
from polars_ir.engine.in_memory import (
    RANKING,
    Judgments,
    Rankings,
    RowRuns,
    places,
    relate_by_number,
    row_numbers,
)
from polars_ir.engine.needs import RELATION, Needs, check_columns
from polars_ir.engine.preferences import RELATION as OF_PREFERENCES
from polars_ir.engine.preferences import preferences_of, relate_pairs
from polars_ir.engine.ranking import POSITION, positioned, reordered, tie_counts
from polars_ir.engine.run_and_qrels import RunAndQrels, align, is_searched, search_duplicates, search_run, systems_of
from polars_ir.errors import DataError, MeasureError
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.judgments import preference_table
from polars_ir.frames.kinds import collected, give_back
from polars_ir.frames.rules import BAD_RUN, guard, naming, wrong_grade, wrong_run_row
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.names import ResolvedMeasure
from polars_ir.language.words import place, text


class Plan(NamedTuple):
    """The strategy by which a call makes the judged relation, and the reason."""

    strategy: Strategy
    reason: str

    def __str__(self) -> str:
        return f"{self.strategy}: {self.reason}"


def judged_relation(
    run: Any, qrels: Any, measures: Sequence[ResolvedMeasure], needs: Needs
) -> tuple[RunAndQrels, pl.LazyFrame]:
    """The run with its judgments, and the relation that measures of this kind read."""
    if needs.kind.name in RELATIONS:
        return RELATIONS[needs.kind.name](run, qrels, measures, needs)
    pair, needs = _paired(run, qrels, measures, needs)
    relation = relate(pair, needs, measures)
    if not needs.columns.issubset(RELATION):
        keys = ranking_keys(relation, pair)
        if needs.budgets and not set(needs.budgets).issubset(relation.collect_schema()):
            from polars_ir.engine.within import with_within  # for calls with budgets alone

            in_order = needs.ties == "input" or pair.run.numbered
            relation = with_within(relation, pair.run, needs.budgets, in_order=in_order)
        relation = needs.with_derived(needs.with_derived(relation, "relation", keys=keys), "grades", keys=keys)
    return pair, relation


def plan_of(run: Any, qrels: Any, measures: Sequence[ResolvedMeasure], needs: Needs) -> tuple[RunAndQrels, Plan]:
    """The run with its judgments, and the plan by which `judged_relation` ranks; nothing of a LazyFrame is read."""
    if needs.kind.name in RELATIONS:
        pair, _ = judged_relation(run, qrels, measures, needs)
        needs = Needs(ties=needs.ties)
    else:
        pair, needs = _paired(run, qrels, measures, needs)
        search_run(pair.run)
    judgments = _judgments(pair, needs)
    plan = _plan(pair, needs, judgments)
    if judgments and plan.strategy == "by number" and seeks_alike(pair, judgments, needs, measures):
        return pair, plan._replace(reason=f"{plan.reason}; identical rankings are grouped once")
    return pair, plan


def relate(pair: RunAndQrels, needs: Needs, measures: Sequence[ResolvedMeasure] = ()) -> pl.LazyFrame:
    """The judged relation of a pair, in canonical columns; `reordered` handles ties at best and at worst.

    For tables in memory it is known already, with `RANKING`; the rest is a plan.
    """
    if pair.qrels is None:
        return labelled_relation(pair.run, needs)
    judgments = _judgments(pair, needs)
    strategy, _ = _plan(pair, needs, judgments)
    if judgments and strategy == "by number":
        relation, rankings = relate_by_number(pair, judgments, needs)
        if needs.budgets:
            from polars_ir.engine.within import with_counts  # for calls with budgets alone

            relation = with_counts(relation, rankings, pair.run, needs.budgets, in_order=needs.ties == "input")
        if seeks_alike(pair, judgments, needs, measures):
            relation = with_alike(relation, rankings, pair)
        return relation.lazy()
    if strategy == "by sorting" and not pair.searched:
        search_run(pair.run)
    read = pair.qrels.with_frame(judgments.rows) if judgments and needs.relevant_only else pair.qrels
    return plan_relation(pair, read, needs, strategy)


TIED = (
    "tied documents differ in grade, and there are no document ids to break the tie; choose an order: "
    "ties='input' for the order of the rows, ties='best' or ties='worst' for the ends of what it can be (measures with "
    "a mean over all orders, such as P, R, RR, AP and nDCG, need none)"
)


def labelled_relation(run: CanonicalFrame, needs: Needs) -> pl.LazyFrame:
    """The judged relation; without ids, and with ties in input order, equal scores keep the order of rows."""
    by_id = needs.ties != "input" and not run.numbered
    wrong, repeated = _wrong_labelled(run.by, *run.keys)
    rows = run.guarded_rows(run.guarded_rows(run.all_columns(), *wrong), repeated, lambda: run.repeated)
    if needs.judged_only:
        left_out, rows = rows.filter(pl.col("relevance") < 0), rows.filter(pl.col("relevance") >= 0)
    relation, keys = placed(run, rows, by_id=by_id)
    relation = relation.with_columns(n_retrieved=pl.len().over(keys))
    if needs.judged_only:
        relation, keys = _with_judgments(relation, left_out, run.keys), run.keys
    relation = relation.with_columns(
        ideal_rank=place("relevance").over(keys),
        judged_elsewhere=pl.when(pl.col("relevance").is_not_null().any().over(*run.by, "doc_id")).then(True),
    )
    whole = needs.unjudged or "judged_elsewhere" in needs.columns
    others = list(filterfalse({*run.keys, "doc_id", "score", "relevance"}.__contains__, run.columns))
    if run.numbered and needs.ties == "doc_id":
        relation = guard(relation, _unlike_in_ties(run.keys, ["relevance", *(others if whole else [])]), TIED)
    relation, judged = relation.drop(POSITION, strict=False), pl.col("relevance").is_not_null()
    if whole:
        if needs.judged_only:
            relation = relation.with_columns(score=pl.when(pl.col("rank").is_not_null()).then("score"))
        return relation.filter(judged.any().over(keys))
    return relation.drop("score", *others).filter(judged)


@functools.cache
def _wrong_labelled(by: tuple[str, ...], *keys: str) -> tuple[tuple[pl.Expr, str], pl.Expr]:
    """True for invalid rows of a run with grades, with the message of a plan, and for those of repeated documents."""
    wrong = wrong_run_row(keys) | wrong_grade(ungraded=True)
    return (wrong, naming(BAD_RUN, by)), pl.len().over(*keys, "doc_id") > 1


def _unlike_in_ties(keys: list[str], columns: list[str]) -> pl.Expr:
    """True for documents that share their score and differ in a column that a measure can read."""
    return pl.any_horizontal(pl.col(column).n_unique().over(*keys, "score") > 1 for column in columns)


def placed(run: CanonicalFrame, plan: pl.LazyFrame, *, by_id: bool) -> tuple[pl.LazyFrame, list[str]]:
    """Rows of a run with their places, and the columns that distinguish rankings, in memory a number, `RANKING`."""
    keys = run.keys
    if not run.eager:
        plan, tie = (plan, text("doc_id")) if by_id else (positioned(plan), pl.col(POSITION))
        return plan.with_columns(rank=place("score", tie).over(keys), **tie_counts(keys)), keys
    rows = plan.collect(engine="in-memory")
    rankings = Rankings.of(rows, keys, keys[:-1], rows["query_id"].unique())
    found = places(rankings, row_numbers(rows.height), by_id=by_id)
    return rows.hstack([*found, rankings.ranking.alias(RANKING)]).lazy(), [RANKING]


def _with_judgments(relation: pl.LazyFrame, left_out: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """The relation with the judged documents that condensed lists leave out, as documents that were not retrieved."""
    together = pl.concat([relation.drop(RANKING, strict=False), left_out], how="diagonal")
    return together.with_columns(n_retrieved=pl.col("n_retrieved").max().over(keys).fill_null(0))


def _plan(pair: RunAndQrels, needs: Needs, judgments: Judgments | None) -> Plan:
    """The fastest strategy, or the one of least memory, with the reason; results do not depend on it.

    By number where run and judgments are in memory, unless they are small, or the run is so large and so sparsely
    judged, with its rows in no order, that counting is faster than numbering them. Otherwise by a plan: by sorting for
    small tables, where it ranks the whole run anyway, or where many documents of a query are judged, and else by
    counting.
    """
    if pair.qrels is None:
        return Plan("labelled", "the run holds its grades, so that nothing is joined")
    if is_small(pair, needs):
        return Plan("by sorting", f"all is in memory, in fewer than {tuning.TUNING.small:,} rows")
    if judgments is None:
        return _plan_of_plans(pair.qrels, _ranked_whole(needs))
    # Where a document judged not relevant counts as unjudged, its judgment is not read; a plan reads all of them.
    read = "judgments of relevant documents" if needs.relevant_only else "judgments"
    summed = "a budget adds up the costs of all documents" if needs.budgets else None
    whole, counting = _ranked_whole(needs) or summed, _by_judgments(judgments.rows.height, len(judgments.queries), read)
    # What one judge left unjudged is unjudged in the ranking as that judge sees it, which numbers do not record.
    if pair.splits and (needs.unjudged or "judged_elsewhere" in needs.columns):
        reason = f"the unjudged documents are read for each {pair.splits[0]!r}"
        return Plan("by sorting" if whole else counting.strategy, reason)
    if whole or counting.strategy == "by sorting":
        return Plan("by number", f"all is in memory, and {whole or counting.reason}")
    return _plan_of_few(pair, counting, judgments)


def _plan_of_plans(qrels: CanonicalFrame, ranked_whole: str | None) -> Plan:
    """The strategy where the run, or all, is a LazyFrame."""
    if ranked_whole:
        return Plan("by sorting", f"not all is in memory, and {ranked_whole}")
    if qrels.eager:
        # The distinct keys themselves take ten times the memory of their hashes.
        queries = qrels.select(*qrels.keys).collect(engine="in-memory").hash_rows().n_unique()
        strategy, reason = _by_judgments(qrels.rows, queries)
        return Plan(strategy, f"the run is not in memory, and {reason}")
    # A split plan would make a greedy ranking once for each branch.
    if qrels.per:
        return Plan("by counting", f"the judgments are a plan, with several of a document by {qrels.per[0]!r}")
    return Plan("by depth", "the judgments are a plan, and those of a query are not counted before it runs")


def _by_judgments(judgments: int, queries: int, read: str = "judgments") -> Plan:
    """By sorting or by counting, by the mean number of judgments a query that are `read`."""
    mean, least = f"{judgments / max(queries, 1):,.1f}".removesuffix(".0"), tuning.TUNING.deep
    if judgments >= least * queries:
        return Plan("by sorting", f"{read} a query: {mean}, {least} or more")
    return Plan("by counting", f"{read} a query: {mean}, fewer than {least}")


def _ranked_whole(needs: Needs) -> str | None:
    """The reason for ranking all documents of a run, if there is one."""
    if needs.unjudged:
        return "the unjudged documents are read"
    if needs.judged_only:
        return "unjudged documents are taken out"
    return "ties keep the order of the rows" if needs.ties == "input" else None


def _plan_of_few(pair: RunAndQrels, counting: Plan, judgments: Judgments) -> Plan:
    """By number or by counting, where all is in memory and few documents of a query are judged."""
    limits, run = tuning.TUNING, pair.run
    if run.rows < limits.counted:
        return Plan("by number", f"all is in memory, and the run has fewer than {limits.counted:,} rows")
    of_query = judgments.rows.height / max(len(judgments.queries), 1)
    signs = {
        "several systems": bool(pair.systems),
        f"{limits.short} rows or fewer for each judgment": run.rows <= limits.short * judgments.rows.height,
        f"{limits.numbered} judgments or more a query": of_query >= limits.numbered,
    }
    # Two of these make it faster in any order of the rows: counting compares each row with each judgment of its query.
    if sum(signs.values()) >= 2:
        reason = " and ".join(sign for sign, is_so in signs.items() if is_so)
        return Plan("by number", f"all is in memory, with {reason}")
    length = _rows_together(run)
    if length < limits.together:
        return counting._replace(reason=f"{counting.reason}, and the rows of a query are not adjacent")
    # Contiguous rows of a query are numbered without a look at each, and ranked without a sort.
    return Plan("by number", "all is in memory, and the rows of a query stand together")


def _judgments(pair: RunAndQrels, needs: Needs) -> Judgments | None:
    """The judgments that are read, by number, where both tables are in memory, and not small."""
    qrels = pair.qrels
    if qrels is None or is_small(pair, needs) or not (pair.run.eager and qrels.eager):
        return None

    def numbered() -> Judgments:
        rows = qrels.all_columns().collect(engine="in-memory")
        if made:
            rows = needs.with_derived(rows, "judgments", keys=qrels.keys).collect(engine="in-memory")
        return Judgments.of(rows, qrels.keys, qrels.per, relevant_only=needs.relevant_only)

    made = needs.columns.difference(RELATION)
    return pair.kept(("numbers", made, needs.relevant_only), numbered)


def _rows_together(run: CanonicalFrame) -> float:
    """Mean number of contiguous rows of a ranking, by the first rows."""
    first = run.select(*run.keys).head(10_000).collect(engine="in-memory")
    return first.height / max(len(RowRuns.of(*first).starts), 1)


def _paired(run: Any, qrels: Any, measures: Sequence[ResolvedMeasure], needs: Needs) -> tuple[RunAndQrels, Needs]:
    """The run with its judgments, and the needs with the unjudged documents where a column of the run is read."""
    needs = needs.of_judgments(qrels)
    pair = align(run, qrels, per=needs.per, by=needs.by, search=False)
    check_columns(pair, measures, needs)
    return pair, needs if needs.columns.isdisjoint(pair.extra_columns) else needs._replace(unjudged=True)


def _of_preferences(
    run: Any, judgments: Any, measures: Sequence[ResolvedMeasure], needs: Needs
) -> tuple[RunAndQrels, pl.LazyFrame]:
    """The run with the documents that preferences are about, and the relation of preferences."""
    table = preference_table(judgments, by=needs.by)
    preferences = preferences_of(table)
    relevance = pl.when(pl.col("doc_id").is_not_null()).then(1)
    documents = preferences.documents.select(*table.document).unique().with_columns(relevance=relevance)
    pair = align(run, documents.collect(), by=needs.by)
    check_columns(pair, measures, needs, of_relation=OF_PREFERENCES)
    ranks = reordered(relate(pair, Needs(ties=needs.ties)), pair.keys, needs.ties)
    # Ids of the two sides may have been cast to another type.
    ids = (pl.col(column).cast(pair.run.dtypes[column]) for column in table.document)
    preferences = replace(preferences, documents=preferences.documents.with_columns(ids))
    systems = pair.run.found(systems_of(pair.run, pair.systems)).height if pair.systems else 1
    pair = replace(pair, preferences=systems * pair.run.found(preferences.pairs).height)
    return pair, relate_pairs(preferences, ranks, pair.keys, table.keys)


#: Relations of kinds of judgments that are not documents and grades.
RELATIONS: Mapping[str, Callable[[Any, Any, Sequence[ResolvedMeasure], Needs], tuple[RunAndQrels, pl.LazyFrame]]] = {
    "preferences": _of_preferences
}


def given_back(
    pair: RunAndQrels,
    plan: pl.LazyFrame,
    like: Table[FrameT],
    then: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> FrameT:
    """The result in the kind of the run: checked rows, passed through `then`; for a LazyFrame its plan."""
    if not pair.run.eager:
        return cast("FrameT", plan)
    rows = collect_checked(pair, plan)
    return give_back(then(rows) if then else rows, like)


def collect_checked(pair: RunAndQrels, result: pl.LazyFrame) -> pl.DataFrame:
    """The result of a plan; invalid rows become an error, which shows those in memory."""
    small = pair.run.eager and pair.rows < tuning.TUNING.streaming_rows
    kind = MeasureError if pair.run.eager else DataError
    try:
        return collected(result, "in-memory" if small else "streaming", kind)
    except kind:
        if not is_searched(pair.run):
            search_duplicates(pair.run)
        raise
