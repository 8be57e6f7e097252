"""`judge`: the one join of a run with its judgments, which every measure reads.

Conventions
    * Order: score falling, equal scores by document id falling, bytewise (numerically for integer ids): trec_eval's
      rule. A `rank` column beside a score is ignored.
    * Every judged query of every system has its rows, also when the system returned nothing for it.
    * Two plans give the same ranks. *Counting* never ranks what nobody judged: a judged document's rank is 1 + the
      rows above it, found by joining the run with the few judged documents it holds, and memory stays that of the
      judgments. *Sorting* ranks the whole run, which is faster where many documents of a query are judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_ir.checks import (
    check_duplicates,
    guard,
    nothing_judged,
    wrong_grade,
    wrong_qrels_row,
    wrong_run_row,
    wrong_value,
)
from polars_ir.conversion import collect, give_back
from polars_ir.errors import explain_options
from polars_ir.schema import MADE, Table, labelled_table, qrels_table, run_table, same_types

#: From this many judgments a query on, sorting is faster than counting (measured: see tests/bench).
DEEP = 24

#: Runs in memory up to this many rows are searched for duplicates whole; larger and lazy ones among the judged
#: documents only, which costs nothing (`validate` searches all). The whole search would double the time there.
SEARCHED_ROWS = 1_000_000

DOCUMENT = ["query_id", "doc_id"]

#: What a measure of a labelled frame can read beside the rank.
GUARDED = ("relevance", *(column for column in MADE if column != "rank"))

DUPLICATES = "the run gives a judged document of a query more than once; keep one of each"
DUPLICATE_JUDGMENTS = "the qrels give a document of a query more than once; keep one of each"
BAD_RUN = "the run has ids or scores that are null, or scores that are NaN; leave those rows out"
BAD_QRELS = "the qrels have ids or grades that are null, or grades that are not finite; leave those rows out"


@dataclass(frozen=True)
class Pair:
    """A run with its judgments, both checked; `qrels` is None where the run holds its grades itself."""

    run: Table
    qrels: Table | None

    @property
    def extra_columns(self) -> list[str]:
        """Columns of the run that the judged relation lacks."""
        known = {"run", *DOCUMENT, *(self.qrels.columns if self.qrels else ["relevance"])}
        return [column for column in self.run.columns if column not in known]


@explain_options
def judge(run: Any, qrels: Any = None, *, unjudged: bool = False, judged_only: bool = False) -> Any:
    """The judged relation: one row per judged document of every judged query, with its place in the run.

    Parameters
    ----------
    run
        Polars DataFrame or LazyFrame, pandas, Arrow, nested dicts `{query: {doc: score}}` or `{query: [doc, ...]}`,
        or a dict of systems `{name: run}`.
    qrels
        The judgments, in the same kinds; None where the run has a relevance column of its own.
    unjudged
        Bring in the retrieved documents nobody judged, with null `relevance`, and the run's other columns.
    judged_only
        Take the unjudged documents, and those of negative grade, out of the ranking first: a condensed list.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        `run` (if the run has several), `query_id`, `doc_id`; `relevance`, the grade; `rank`, 1-based place in the run,
        null when not retrieved; `ideal_rank`, 1-based place in the ideal ranking; `n_retrieved`, how many documents
        the run returned for the query; `n_higher`, how many of them have a higher score than the document; `n_tied`,
        how many share its score. Ranks and counts are UInt32. The rows have no order.

    Raises
    ------
    IRError
        For tables that can not be evaluated, with the first rows that are wrong.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.judge({"q": ["d1", "d2", "d3"]}, {"q": {"d3": 1, "d9": 2}}).sort("ideal_rank").select(
    ...     "doc_id", "relevance", "rank", "ideal_rank", "n_retrieved"
    ... ).rows()
    [('d9', 2, None, 1, 3), ('d3', 1, 3, 2, 3)]
    """
    pair = pair_up(run, qrels)
    relation = relate(pair, unjudged=unjudged, judged_only=judged_only)
    relation = relation.rename({"query_id": pair.run.names["query_id"]})
    return give_back(collect_checked(pair, relation) if pair.run.eager else relation, run)


def pair_up(run: Any, qrels: Any = None) -> Pair:
    """A run and its judgments with canonical columns and ids of one type, checked."""
    if qrels is None:
        labelled = labelled_table(run)
        _search("run", labelled, [*labelled.keys, "doc_id"])
        return Pair(labelled, None)
    run_side, qrels_side = run_table(run), qrels_table(qrels)
    if run_side.eager and not qrels_side.eager:
        qrels_side = qrels_table(qrels.collect())
    run_side, qrels_side = same_types(run_side, qrels_side)
    _search("qrels", qrels_side, DOCUMENT)
    if _searched(run_side):
        _search("run", run_side, [*run_side.keys, "doc_id"])
    return Pair(run_side, qrels_side)


def relate(pair: Pair, *, unjudged: bool = False, judged_only: bool = False, counted: bool = True) -> pl.LazyFrame:
    """The judged relation of a pair as a plan, in canonical columns.

    Counting what was retrieved for each query is a pass over the run of its own: without `counted`, and so without
    `n_retrieved`, it is left out. A LazyFrame is counted all the same, since the counts guard its data.
    """
    run, qrels = pair.run, pair.qrels
    if qrels is None:
        return _labelled(run, unjudged=unjudged, judged_only=judged_only)
    if judged_only:
        run = _condensed(run, qrels)
    sorting = unjudged or judged_only or _deep(qrels)
    ranks = _by_sorting(run, qrels, pair.extra_columns if unjudged else []) if sorting else _by_counting(run, qrels)
    judgments = _judgments(qrels)
    if "run" in run.keys:
        judgments = systems_of(pair.run).join(judgments, how="cross")
    relation = judgments.join(ranks, on=[*run.keys, "doc_id"], how="full" if unjudged else "left", coalesce=True)
    if sorting and not _searched(run):
        # Ideal ranks are 1, 2, 3, ... unless a judged document met two rows of the run.
        twice = pl.col("ideal_rank").count().over(run.keys) > pl.col("ideal_rank").max().over(run.keys)
        relation = guard(relation, "rank", twice, DUPLICATES)
    if run.eager and not counted:
        return relation
    relation = relation.join(_counts(run), on=run.keys, how="left").with_columns(pl.col("n_retrieved").fill_null(0))
    if run.eager:
        return relation
    # A plan's reader may want the ranks alone: they depend on the counts, which guard the data.
    return relation.with_columns(rank=pl.when(pl.col("n_retrieved").is_not_null()).then("rank"))


def collect_checked(pair: Pair, result: pl.LazyFrame) -> pl.DataFrame:
    """The result of a plan over tables in memory; what the plan finds wrong becomes an error that shows the rows."""
    try:
        return collect(result, pair.run.rows + (pair.qrels.rows if pair.qrels else 0))
    except pl.exceptions.InvalidOperationError as error:
        if DUPLICATES in str(error):
            _search("run", pair.run, [*pair.run.keys, "doc_id"])
        raise


def _search(name: str, table: Table, keys: list[str]) -> None:
    """Search a table in memory for duplicates."""
    if table.eager:
        check_duplicates(name, table.all_columns().collect(engine="in-memory"), keys, table.names)


def _searched(run: Table) -> bool:
    """Whether a run has been searched for duplicates whole."""
    return run.eager and run.rows <= SEARCHED_ROWS


def _place(value: str) -> pl.Expr:
    """1-based place with `value` falling, equal values by document id falling; null for a null value."""
    return pl.when(pl.col(value).is_not_null()).then(pl.struct(value, "doc_id")).rank("ordinal", descending=True)


def _ties(keys: list[str]) -> dict[str, pl.Expr]:
    """How many documents have a higher score, and how many the same."""
    higher = pl.col("score").rank("min", descending=True).over(keys) - 1
    return {"n_higher": higher, "n_tied": pl.len().over(*keys, "score")}


def _deep(qrels: Table) -> bool:
    """Whether the queries have so many judgments that sorting is faster; unknown, and so not, for a LazyFrame."""
    if not qrels.eager:
        return False
    queries = qrels.select("query_id").select(pl.col("query_id").n_unique()).collect(engine="in-memory").item()
    return qrels.rows >= DEEP * int(queries)


def systems_of(run: Table) -> pl.LazyFrame:
    """The systems there are, as a column `run`."""
    return run.select("run").unique() if run.systems is None else pl.LazyFrame({"run": run.systems})


def _condensed(run: Table, qrels: Table) -> Table:
    """The run without its unjudged documents, and those of negative grade."""
    judged = qrels.select("relevance", *DOCUMENT).filter(pl.col("relevance") >= 0)
    return run.made_of(run.all_columns().join(judged, on=DOCUMENT, how="semi"))


def _judgments(qrels: Table) -> pl.LazyFrame:
    """The judgments with their places in the ideal ranking; a LazyFrame is searched for bad rows on the way."""
    judgments = qrels.all_columns().with_columns(ideal_rank=_place("relevance").over("query_id"))
    if qrels.eager:
        return judgments
    repeated = (pl.len().over(DOCUMENT) > 1) & ~nothing_judged()
    judgments = guard(
        guard(judgments, "ideal_rank", wrong_qrels_row(), BAD_QRELS), "ideal_rank", repeated, DUPLICATE_JUDGMENTS
    )
    # A plan's reader may want the grades alone: they depend on the places, which guard them.
    return judgments.with_columns(relevance=pl.when(pl.col("ideal_rank").is_not_null()).then("relevance"))


def _counts(run: Table) -> pl.LazyFrame:
    """How many documents the run returned for each query; a LazyFrame is searched for bad rows on the way."""
    if run.eager:
        return run.select(*run.keys).group_by(run.keys).agg(n_retrieved=pl.len())
    rows = run.select("doc_id", "score", *run.keys).group_by(run.keys)
    counts = rows.agg(n_retrieved=pl.len(), wrong=(wrong_value("doc_id") | wrong_value("score")).any())
    wrong = pl.col("wrong") | wrong_value("query_id")
    return guard(counts, "n_retrieved", wrong, BAD_RUN).drop("wrong")


def _by_sorting(run: Table, qrels: Table, columns: list[str]) -> pl.LazyFrame:
    """The rank of every retrieved document of the judged queries, found by ranking them all."""
    keys, judged_queries = run.keys, qrels.select("query_id").unique()
    needed = dict.fromkeys([*keys, "doc_id", "score", *columns])
    return (
        run.select(*needed)
        .join(judged_queries, on="query_id", how="semi")
        .select(*keys, "doc_id", *columns, rank=_place("score").over(keys), **_ties(keys))
    )


def _by_counting(run: Table, qrels: Table) -> pl.LazyFrame:
    """The rank of every retrieved judged document, found by counting the rows above it.

    Three passes over the run, each a streaming join with a small right side: for the judged documents that the run
    holds (hits), for the rows with a higher score than a hit, and for the rows with the same score. Each selects other
    columns, in another order: from passes that look alike the optimizer would make one that keeps the run in memory.
    """
    # The small side must be the hash table: left to choose, Polars takes the run, and all the memory there is. The ids
    # of a hit come from the right side: a string of the left one is a view that keeps its chunk of the run in memory.
    keys = run.keys
    judged = qrels.select(*DOCUMENT) if qrels.eager else qrels.select(*DOCUMENT).unique()
    judged = judged.with_columns(hit_query_id="query_id", hit_doc_id="doc_id")
    hit_keys = [f"hit_{key}" for key in keys]
    hit = [*hit_keys, "hit_doc_id"]
    hits = run.select(*keys, "doc_id", "score").join(judged, on=DOCUMENT, build_side="force_right")
    hits = hits.rename({"run": "hit_run"} if "run" in keys else {}).select(*hit, hit_score="score")

    higher = (
        run.select(*keys, "score")
        .join(hits, left_on=keys, right_on=hit_keys, coalesce=False, build_side="force_right")
        .filter(pl.col("score") > pl.col("hit_score"))
        .group_by(hit)
        .agg(higher=pl.len())
    )
    level_on, hit_level_on = [*keys, "score"], [*hit_keys, "hit_score"]
    doc_id, hit_doc_id = pl.col("doc_id"), pl.col("hit_doc_id")
    level = (
        run.select("score", "doc_id", *keys)
        .join(hits, left_on=level_on, right_on=hit_level_on, coalesce=False, build_side="force_right")
        .group_by(hit)
        .agg(n_tied=pl.len(), before=(doc_id > hit_doc_id).sum(), same=(doc_id == hit_doc_id).sum())
    )
    level = guard(level, "before", pl.col("same") > 1, DUPLICATES)
    n_higher = pl.col("higher").fill_null(0)
    ids = (pl.col(f"hit_{column}").alias(column) for column in (*keys, "doc_id"))
    ranks = level.join(higher, on=hit, how="left")
    return ranks.select(*ids, rank=1 + n_higher + pl.col("before"), n_higher=n_higher, n_tied="n_tied")


def _labelled(run: Table, *, unjudged: bool, judged_only: bool) -> pl.LazyFrame:
    """The judged relation of a frame that holds scores and grades side by side: nothing to join."""
    ranking = run.all_columns().filter(pl.col("relevance") >= 0) if judged_only else run.all_columns()
    relation = ranking.with_columns(
        rank=_place("score").over(run.keys),
        ideal_rank=_place("relevance").over(run.keys),
        n_retrieved=pl.len().over(run.keys),
        **_ties(run.keys),
    )
    if not run.eager:
        wrong = wrong_run_row() | wrong_grade(ungraded=True)
        relation = guard(
            guard(relation, "rank", wrong, BAD_RUN), "rank", pl.len().over(*run.keys, "doc_id") > 1, DUPLICATES
        )
        # As below: what is read instead of the rank depends on it.
        relation = relation.with_columns(pl.when(pl.col("rank").is_not_null()).then(c).alias(c) for c in GUARDED)
    return relation if unjudged else relation.drop("score").filter(pl.col("relevance").is_not_null())
