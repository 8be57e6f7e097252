"""The rank of retrieved documents: two plans that give the same ranks, and the rules for equal scores.

Conventions
    * *Counting* never ranks unjudged documents: a judged document's rank is 1 + the rows above it, found by joining
      the run with the few judged documents it holds, and memory stays that of the judgments. *Sorting* ranks the whole
      run, which is faster where many documents of a query are judged.
    * Both give `rank`, `n_higher` (documents with a higher score) and `n_tied` (documents with the same score).
"""

from __future__ import annotations

from typing import Any, Literal

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.prefilter import among, reaches
from polars_ir.frames.checks import BAD_RUN, guard, wrong_run_row
from polars_ir.frames.table import Table

#: What decides among documents with the same score.
Ties = Literal["doc_id", "input", "best", "worst", "expected"]

DOCUMENT = ["query_id", "doc_id"]

#: The small side must be the hash table: left to choose, Polars takes the run, and all the memory there is.
SMALL_RIGHT: Any = {"coalesce": False, "build_side": "force_right"}

#: A column with the place of a row in its run, the first the highest.
POSITION = "polars_ir: position"


def text(column: str) -> pl.Expr:
    """Ids as they are compared: as text, also integers."""
    return pl.col(column).cast(pl.String)


def place(value: str, tie: pl.Expr | None = None) -> pl.Expr:
    """1-based place with `value` falling, equal ones by ids falling or by another `tie`; null for a null value."""
    order = pl.struct(value, text("doc_id") if tie is None else tie)
    return pl.when(pl.col(value).is_not_null()).then(order).rank("ordinal", descending=True)


def tie_counts(keys: list[str]) -> dict[str, pl.Expr]:
    """How many documents have a higher score, and how many the same."""
    higher = pl.col("score").rank("min", descending=True).over(keys) - 1
    return {"n_higher": higher, "n_tied": pl.len().over(*keys, "score")}


def with_position(run: Table) -> Table:
    """The run with the place of each row, for the rule that equal scores keep the order of the input."""
    return run.made_of(run.all_columns().with_columns((-pl.int_range(pl.len(), dtype=pl.Int64)).alias(POSITION)))


def by_sorting(run: Table, qrels: Table, columns: list[str], *, search: bool = True) -> pl.LazyFrame:
    """The rank of every retrieved document of the judged queries, found by ranking them all.

    Where another part of the plan searches the run for wrong rows, this one need not read what is no judged query's.
    """
    keys, judged_queries = run.keys, qrels.select("query_id").unique()
    tie = POSITION if POSITION in run.columns else None
    # In an order that `by_counting`, which may be in the same plan, does not select in.
    needed = dict.fromkeys(["doc_id", *keys, "score", *([tie] if tie else []), *columns])
    rows = (guarded(run) if search else run).select(*needed)
    return rows.join(judged_queries, on="query_id", how="semi").select(
        *keys, "doc_id", *columns, rank=place("score", pl.col(tie) if tie else None).over(keys), **tie_counts(keys)
    )


def by_counting(run: Table, qrels: Table, documents: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """The rank of every retrieved document that is judged, or is one of some `documents`, by counting those above it.

    Three passes over the run, each a streaming join with a small right side: for the judged documents that the run
    holds (hits), for the rows with at least the score of a hit, and for the documents with that very score. Each
    selects other columns, in another order: from passes that look alike the optimizer would make one that keeps the run
    in memory. Of a large run in memory each is collected before the next, which may then have nothing to do, and if few
    of its rows are judged most are left out before the joins.
    """
    keys = run.keys
    hit_keys = [f"hit_{key}" for key in keys]
    hit = ["hit", *(key for key in hit_keys if key == "hit_run")]
    limits = tuning.TUNING
    by_steps = run.eager and run.rows >= limits.counted
    # With more judgments the tables of hashes take as long as they save.
    sparse = by_steps and run.rows >= limits.sparse * qrels.rows
    hits = _hits(run, qrels, documents, sparse=sparse).pipe(_known, by_steps=by_steps)
    above = _above(run, hits, hit, sparse=sparse).pipe(_known, by_steps=by_steps)
    tied = hits.join(above.filter(pl.col("n_tied") > 1), on=hit, how="semi").pipe(_known, by_steps=by_steps)
    rows = run.select("score", "doc_id", *keys)
    if sparse:
        rows = rows.filter(among(["score", *keys], tied.select("hit_score", *hit_keys).collect()))
    level = (
        rows.join(tied, left_on=[*keys, "score"], right_on=[*hit_keys, "hit_score"], **SMALL_RIGHT)
        .group_by(hit)
        .agg(before=(text("doc_id") > text("hit_doc_id")).sum())
    )
    ids = (pl.col(f"hit_{column}").alias(column) for column in (*keys, "doc_id"))
    rank = 1 + pl.col("n_higher") + pl.col("before").fill_null(0)
    ranks = hits.join(above, on=hit).join(level, on=hit, how="left")
    return ranks.select(*ids, rank=rank, n_higher="n_higher", n_tied="n_tied")


def guarded(run: Table) -> Table:
    """A run whose rows, where they are a plan's, are searched for null ids and scores."""
    if run.eager:
        return run
    return run.made_of(guard(run.all_columns(), wrong_run_row(run.keys), BAD_RUN))


def _known(plan: pl.LazyFrame, *, by_steps: bool) -> pl.LazyFrame:
    """What a plan gives, collected before what follows if it goes by steps, and else kept: it is read several times.

    Left to itself the optimizer does not see that hits are shared, as each of their readers takes other columns.
    """
    return plan.collect(engine="streaming").lazy() if by_steps else plan.cache()


def _hits(run: Table, qrels: Table, documents: pl.LazyFrame | None, *, sparse: bool) -> pl.LazyFrame:
    """The rows of the run whose documents are judged for their query or, of the judged queries, given.

    Each has the number of its judgment in `hit`, which is cheaper to group by than ids. The ids of a hit come from the
    right side: a string of the left one is a view that keeps its chunk of the run.
    """
    rows = guarded(run).select(*run.keys, "doc_id", "score")
    if sparse:
        wanted = (qrels.select(*DOCUMENT) if documents is None else documents).collect()
        rows = rows.filter(among(wanted.columns, wanted))
    rows = rows.rename({"score": "hit_score", **({"run": "hit_run"} if "run" in run.keys else {})})
    if documents is not None:
        queries = _numbered("query", qrels.select("query_id").unique().sort("query_id"))
        given = _numbered("document", documents.sort("doc_id"))
        hits = rows.join(given, on="doc_id", build_side="force_right")
        hits = hits.join(queries, on="query_id", build_side="force_right")
        return hits.with_columns(hit=pl.col("query").cast(pl.UInt64) * 2**32 + pl.col("document"))
    judged = qrels.select(*DOCUMENT)
    if qrels.per or not qrels.eager:
        judged = judged.unique().sort(DOCUMENT)
    return rows.join(_numbered("hit", judged), on=DOCUMENT, build_side="force_right")


def _numbered(name: str, ids: pl.LazyFrame) -> pl.LazyFrame:
    """Ids with their numbers, and as hits have them; in a fixed order, since a plan can be run several times."""
    return ids.with_columns(pl.all().name.prefix("hit_")).with_row_index(name)


def _above(run: Table, hits: pl.LazyFrame, hit: list[str], *, sparse: bool) -> pl.LazyFrame:
    """How many documents have a higher score than each hit, and how many the same."""
    hit_keys = [f"hit_{key}" for key in run.keys]
    score, hit_score = pl.col("score"), pl.col("hit_score")
    rows = run.select(*run.keys, "score")
    if sparse:
        lowest = hits.group_by(hit_keys).agg(hit_score.min()).collect()
        rows = rows.filter(reaches(run.keys, "score", lowest))
    return (
        rows.join(hits.select(*hit_keys, "hit", "hit_score"), left_on=run.keys, right_on=hit_keys, **SMALL_RIGHT)
        .filter(score >= hit_score)
        .group_by(hit)
        .agg(n_higher=(score > hit_score).sum(), n_tied=(score == hit_score).sum())
    )


def pool(qrels: Table) -> pl.LazyFrame:
    """The documents judged for any query, and null where nothing was judged for one.

    Null meets no document, but joined with nothing at all the run would not be read, nor its wrong rows be found.
    """
    return qrels.select("doc_id").unique()


def reordered(relation: pl.LazyFrame, keys: list[str], ties: Ties) -> pl.LazyFrame:
    """The judged relation with documents of equal scores in the order of their grades, for `"best"` and `"worst"`.

    At best the relevant ones come first, the highest grade leading, then the unjudged ones, then those judged not
    relevant; at worst it is the other way round. So the places of judged documents follow from the two ends of their
    tie, whether or not the relation holds the unjudged ones between.
    """
    if ties not in ("best", "worst"):
        return relation
    grade = pl.col("relevance").max().over([*keys, "doc_id"])  # one order, also where subtopics have grades apart
    worth = pl.when(grade.is_null()).then(0).when(grade > 0).then(grade).otherwise(grade - 1)
    tie = [*keys, "n_higher"]
    relation = relation.with_columns(polars_ir_worth=worth)
    order = pl.struct("polars_ir_worth", text("doc_id"))
    # Dense, since each subtopic of a document has a row of its own.
    from_top, from_bottom = (order.rank("dense", descending=falling).over(tie) for falling in (True, False))
    n_higher, n_tied = pl.col("n_higher"), pl.col("n_tied")
    if ties == "worst":
        from_top, from_bottom = n_tied + 1 - from_top, n_tied + 1 - from_bottom
    rank = n_higher + pl.when(pl.col("polars_ir_worth") > 0).then(from_top).otherwise(n_tied + 1 - from_bottom)
    return relation.with_columns(rank=rank.cast(pl.UInt32)).drop("polars_ir_worth")
