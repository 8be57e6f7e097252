"""The judged relation: the one join of a run with its judgments, which every measure reads.

Conventions
    * Order: score falling, equal scores by document id falling, as text and bytewise (9 before 10, as "9" before "10"):
      trec_eval's rule, unless `ties` says otherwise. A `rank` column beside a score is ignored.
    * Every judged query of every system has its rows, also when the system returned nothing for it.
    * Judgments are of documents, or, with `per`, of a document's subtopics or by several judges, a row for each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.greedy import with_greedy_rank
from polars_ir.engine.labelled import labelled_relation
from polars_ir.engine.needs import Needs, check_arguments, columns_read
from polars_ir.engine.numbered import relate_by_number
from polars_ir.engine.numbers import Judgments, starts_of
from polars_ir.engine.pairing import Pair, pair_up, search_duplicates
from polars_ir.engine.planned import DUPLICATES, plan_relation
from polars_ir.engine.preferences import RELATION as OF_PREFERENCES
from polars_ir.engine.preferences import preference_table, preferences_of, relate_pairs
from polars_ir.engine.ranking import DOCUMENT, reordered
from polars_ir.errors import MeasureError, OptionError, option
from polars_ir.frames.table import Table
from polars_ir.language.identity import Measured

#: A column that tells whether a query has a retrieved document among the judgments that are read; it is made and
#: dropped on the way. Of tables in memory these may be those of relevant documents: `retrieves_judged` asks of all.
HITS = "polars_ir: hits"

#: What a plan that fails on purpose says: the name of the column whose cast can not succeed.
OUR_MESSAGE = re.compile(r"polars_ir: (.*?)(?:' for \d+ out of|\")")


def judged_relation(run: Any, qrels: Any, measures: Sequence[Measured], needs: Needs) -> tuple[Pair, pl.LazyFrame]:
    """The run with its judgments, and the relation that measures of this kind read, with `HITS`."""
    if needs.kind == "preferences":
        return _of_preferences(run, qrels, measures, needs)
    pair = pair_up(run, qrels, per=needs.per)
    check_arguments(pair, measures)
    if not columns_read(pair, measures).isdisjoint(pair.extra_columns):
        needs = needs._replace(unjudged=True)
    hits = pl.col("rank").is_not_null() & pl.col("relevance").is_not_null()
    return pair, relate(pair, needs).with_columns(hits.alias(HITS))


def _of_preferences(run: Any, judgments: Any, measures: Sequence[Measured], needs: Needs) -> tuple[Pair, pl.LazyFrame]:
    """The run with the documents that preferences are about, and the relation of preferences."""
    if needs.judged_only:
        raise OptionError(
            "goes with judgments of documents; preferences already leave out others.", about=option("judged_only", True)
        )
    preferences = preferences_of(preference_table(judgments))
    relevance = pl.when(pl.col("doc_id").is_not_null()).then(1)
    documents = preferences.documents.select("query_id", "doc_id").unique().with_columns(relevance=relevance)
    pair = pair_up(run, documents.collect())
    columns_read(pair, measures, of_relation=OF_PREFERENCES)
    ranks = reordered(relate(pair, Needs(ties=needs.ties)), pair.keys, needs.ties)
    # Ids of the two sides may have met in another type.
    ids = (pl.col(column).cast(pair.run.dtypes[column]) for column in DOCUMENT)
    preferences = replace(preferences, documents=preferences.documents.with_columns(ids))
    hits = pl.col("preferred_rank").is_not_null() | pl.col("other_rank").is_not_null()
    return pair, relate_pairs(preferences, ranks, pair.keys).with_columns(hits.alias(HITS))


def relate(pair: Pair, needs: Needs) -> pl.LazyFrame:
    """The judged relation of a pair, in canonical columns; `reordered` sees to ties at best and at worst.

    Of tables in memory it is known already, with `RANKING`; the rest is a plan.
    """
    if pair.qrels is None:
        return labelled_relation(pair.run, needs)
    if not (pair.run.eager and pair.qrels.eager):
        return plan_relation(pair, pair.qrels, needs)
    qrels = pair.qrels
    judgments = pair.kept(("numbers", needs.greedy, needs.relevant_only), lambda: _numbered(qrels, needs))
    # What one judge left unjudged is unjudged in the ranking as that judge sees it, which numbers do not tell.
    of_judges = (needs.unjudged or needs.elsewhere) and pair.keys != pair.run.keys
    if of_judges or _is_sparse(pair.run, judgments, needs):
        return plan_relation(pair, qrels.made_of(judgments.rows) if needs.relevant_only else qrels, needs)
    return relate_by_number(pair, judgments, needs).lazy()


def _numbered(qrels: Table, needs: Needs) -> Judgments:
    """The judgments that are read, by number, with the places in greedy ideal rankings."""
    rows = with_greedy_rank(qrels.all_columns(), *needs.greedy, eager=True).collect(engine="in-memory")
    judgments = Judgments.of(rows, qrels.per)
    return judgments.relevant() if needs.relevant_only else judgments


def _is_sparse(run: Table, judgments: Judgments, needs: Needs) -> bool:
    """Whether a run is so large, and so few of it is judged, that to count is faster than to number its rows."""
    limits = tuning.TUNING
    if needs.unjudged or needs.judged_only or needs.ties == "input" or run.rows < limits.counted:
        return False
    if judgments.rows.height >= limits.deep * len(judgments.queries):
        return False
    # Rows that stand together by query are numbered without a look at each, and ranked without a sort.
    few = judgments.rows.height < limits.numbered * len(judgments.queries)
    return not _in_pieces(run) or (few and run.rows >= limits.streaming_rows)


def _in_pieces(run: Table) -> bool:
    """Whether the rows of a query mostly stand together, by the first of them."""
    first = run.select("query_id").head(10_000).collect(engine="in-memory").to_series()
    return 4 * starts_of(first).len() <= first.len()


def collect_checked(pair: Pair, result: pl.LazyFrame) -> pl.DataFrame:
    """The result of a plan over tables in memory; what the plan finds wrong becomes an error that shows the rows."""
    try:
        return result.collect(engine="streaming" if pair.rows >= tuning.TUNING.streaming_rows else "in-memory")
    except pl.exceptions.InvalidOperationError as error:
        if DUPLICATES in str(error):
            search_duplicates("run", pair.run, [*pair.run.keys, "doc_id"])
        if ours := OUR_MESSAGE.search(str(error)):
            raise MeasureError(ours[1]) from None
        raise
