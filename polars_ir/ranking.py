"""The rank of retrieved documents: two plans that give the same ranks, and the rules for equal scores.

Conventions
    * *Counting* never ranks what nobody judged: a judged document's rank is 1 + the rows above it, found by joining
      the run with the few judged documents it holds, and memory stays that of the judgments. *Sorting* ranks the whole
      run, which is faster where many documents of a query are judged.
    * Both give `rank`, `n_higher` (documents with a higher score) and `n_tied` (documents with the same score).
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from polars_ir.checks import guard
from polars_ir.schema import Table

#: What decides among documents with the same score.
Ties = Literal["doc_id", "input", "best", "worst", "expected"]

DOCUMENT = ["query_id", "doc_id"]

DUPLICATES = "the run gives a judged document of a query more than once; keep one of each"

#: A column with the place of a row in its run, the first the highest.
POSITION = "polars_ir: position"


def place(value: str, tie: str = "doc_id") -> pl.Expr:
    """1-based place with `value` falling, equal values by another column falling; null for a null value."""
    return pl.when(pl.col(value).is_not_null()).then(pl.struct(value, tie)).rank("ordinal", descending=True)


def tie_counts(keys: list[str]) -> dict[str, pl.Expr]:
    """How many documents have a higher score, and how many the same."""
    higher = pl.col("score").rank("min", descending=True).over(keys) - 1
    return {"n_higher": higher, "n_tied": pl.len().over(*keys, "score")}


def with_position(run: Table) -> Table:
    """The run with the place of each row, for the rule that equal scores keep the order of the input."""
    return run.made_of(run.all_columns().with_columns((-pl.int_range(pl.len(), dtype=pl.Int64)).alias(POSITION)))


def by_sorting(run: Table, qrels: Table, columns: list[str]) -> pl.LazyFrame:
    """The rank of every retrieved document of the judged queries, found by ranking them all."""
    keys, judged_queries = run.keys, qrels.select("query_id").unique()
    tie = POSITION if POSITION in run.columns else "doc_id"
    needed = dict.fromkeys([*keys, "doc_id", "score", tie, *columns])
    return (
        run.select(*needed)
        .join(judged_queries, on="query_id", how="semi")
        .select(*keys, "doc_id", *columns, rank=place("score", tie).over(keys), **tie_counts(keys))
    )


def by_counting(run: Table, qrels: Table, *, elsewhere: bool = False) -> pl.LazyFrame:
    """The rank of every retrieved document that is judged, `elsewhere` for any query, found by counting those above it.

    Three passes over the run, each a streaming join with a small right side: for the judged documents that the run
    holds (hits), for the rows with a higher score than a hit, and for the rows with the same score. Each selects other
    columns, in another order: from passes that look alike the optimizer would make one that keeps the run in memory.
    """
    # The small side must be the hash table: left to choose, Polars takes the run, and all the memory there is.
    keys = run.keys
    hit_keys = [f"hit_{key}" for key in keys]
    hit = [*hit_keys, "hit_doc_id"]
    hits = _hits(run.select(*keys, "doc_id", "score"), qrels, elsewhere=elsewhere)
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


def pool(qrels: Table) -> pl.LazyFrame:
    """The documents judged for any query."""
    return qrels.select("doc_id").drop_nulls().unique()


def _hits(run: pl.LazyFrame, qrels: Table, *, elsewhere: bool) -> pl.LazyFrame:
    """The rows of the run whose documents are judged for their query, or for any query that is judged itself.

    The ids of a hit come from the right side: a string of the left one is a view that keeps its chunk of the run.
    """
    if elsewhere:
        queries = qrels.select("query_id").unique().with_columns(hit_query_id="query_id")
        hits = run.join(pool(qrels).with_columns(hit_doc_id="doc_id"), on="doc_id", build_side="force_right")
        return hits.join(queries, on="query_id", build_side="force_right")
    judged = qrels.select(*DOCUMENT) if qrels.eager and not qrels.per else qrels.select(*DOCUMENT).unique()
    judged = judged.with_columns(hit_query_id="query_id", hit_doc_id="doc_id")
    return run.join(judged, on=DOCUMENT, build_side="force_right")


def reordered(relation: pl.LazyFrame, keys: list[str], ties: Ties) -> pl.LazyFrame:
    """The judged relation with documents of equal scores in the order of their grades, for `"best"` and `"worst"`.

    At best the relevant ones come first, the highest grade leading, then those nobody judged, then those judged not
    relevant; at worst it is the other way round. So the places of judged documents follow from the two ends of their
    tie, whether or not the relation holds the unjudged ones between.
    """
    if ties not in ("best", "worst"):
        return relation
    grade = pl.col("relevance").max().over([*keys, "doc_id"])  # one order, also where subtopics have grades apart
    worth = pl.when(grade.is_null()).then(0).when(grade > 0).then(grade).otherwise(grade - 1)
    tie = [*keys, "n_higher"]
    relation = relation.with_columns(polars_ir_worth=worth)
    order = pl.struct("polars_ir_worth", "doc_id")
    # Dense, since each subtopic of a document has a row of its own.
    from_top, from_bottom = (order.rank("dense", descending=falling).over(tie) for falling in (True, False))
    n_higher, n_tied = pl.col("n_higher"), pl.col("n_tied")
    if ties == "worst":
        from_top, from_bottom = n_tied + 1 - from_top, n_tied + 1 - from_bottom
    rank = n_higher + pl.when(pl.col("polars_ir_worth") > 0).then(from_top).otherwise(n_tied + 1 - from_bottom)
    # Depending on the rank there was, which the checks of a plan's data hang on.
    rank = pl.when(pl.col("rank").is_not_null()).then(rank).cast(pl.UInt32)
    return relation.with_columns(rank=rank).drop("polars_ir_worth")
