"""The judged relation as a plan, for LazyFrames and large, sparsely judged runs in no order: ids are joined unchanged.

Conventions
    * The data of a LazyFrame are its collector's: what is wrong with them is found by the plan itself, which fails.
    * *Counting* never ranks unjudged documents: a judged document's rank is 1 + the rows above it, found by joining
      the run with the few judged documents it holds, and memory stays that of the judgments. *Sorting* ranks the whole
      run, which is faster where many documents of a query are judged.
    * Both give `rank`, `n_higher` (documents with a higher score) and `n_tied` (documents with the same score).
"""

from __future__ import annotations

import functools
import itertools
from typing import Any, Literal

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.needs import RELATION, Needs
from polars_ir.engine.prefilter import among, hash_of, reaches
from polars_ir.engine.ranking import POSITION, tie_counts, with_position
from polars_ir.engine.run_and_qrels import (
    HASH,
    RunAndQrels,
    hash_of_row,
    is_sampled,
    is_searched,
    search_duplicates,
    search_run,
    searched,
    systems_of,
    with_null,
)
from polars_ir.frames.canonical_frame import CanonicalFrame, may_repeat
from polars_ir.frames.rules import BAD_QRELS, guard, naming, nothing_judged, wrong_qrels_row, wrong_run_row, wrong_value
from polars_ir.language.words import place, text

#: The small side must be the hash table: left to choose, Polars takes the run, and all the memory there is.
SMALL_RIGHT: Any = {"coalesce": False, "build_side": "force_right"}

#: The columns that ranking adds to a document.
RANKS = ("rank", "n_higher", "n_tied")

#: Strategies for the judged relation: tables in memory by number; a plan that counts the rows above each judged one,
#: ranks the whole run, or splits the queries by their judgments; none where the run holds its grades.
Strategy = Literal["by number", "by counting", "by sorting", "by depth", "labelled"]

#: Number of a ranking's judgments, by which `_met_twice` searches a LazyFrame.
JUDGED = "polars_ir: judged"

DUPLICATE_JUDGMENTS = "the qrels give a document of a query more than once; keep the highest grade of each"


def is_small(pair: RunAndQrels, needs: Needs) -> bool:
    """True for tables in memory so small that numbering their rows takes longer than ranking them all in one plan.

    Columns that are made of the judgments are kept with prepared ones, by number.
    """
    in_memory = pair.run.eager and (pair.qrels is None or pair.qrels.eager)
    return in_memory and pair.rows < tuning.TUNING.small and needs.columns.issubset(RELATION)


def plan_relation(pair: RunAndQrels, qrels: CanonicalFrame, needs: Needs, strategy: Strategy) -> pl.LazyFrame:
    """The judged relation of a pair as a plan; `qrels` are its judgments, or those of them that are read."""
    run = pair.run
    if needs.ties == "input":
        run = with_position(run)
    whole = needs.unjudged or "judged_elsewhere" in needs.columns
    if needs.judged_only:
        run = _condensed(run, qrels)
    documents = pool(qrels) if "judged_elsewhere" in needs.columns else None
    if strategy == "by sorting":
        # Of a small run all documents are ranked; the join with the judgments drops those of other queries.
        queries = None if is_small(pair, needs) and not whole else qrels
        read = needs.read_of([*RANKS, *(pair.extra_columns if needs.unjudged else [])])
        ranks = by_sorting(run, queries, read)
    elif strategy == "by counting":
        ranks = by_counting(run, qrels, documents, search=not (run.eager and pair.searched))
    else:
        ranks = _by_depth(run, qrels, documents)
    if documents is not None:
        elsewhere, on = documents.with_columns(judged_elsewhere=True), [*qrels.by, "doc_id"]
        ranks = ranks.join(elsewhere, on=on, how="left" if needs.unjudged else "inner")
    judgments = _judgments(qrels, needs, run)
    if pair.systems:
        judgments = systems_of(pair.run, pair.systems).join(judgments, how="cross")
    if whole and pair.splits:
        # What one judge left unjudged is unjudged in the ranking as that judge sees it.
        ranks = ranks.join(qrels.select(*qrels.keys, *qrels.per).unique(), on=qrels.keys)
    on = [*(pair.keys if whole else run.keys), "doc_id"]
    relation = judgments.join(ranks, on=on, how="full" if whole else "left", coalesce=True)
    if not is_searched(pair.run):
        relation = guard(relation, _met_twice(pair, qrels), run.repeated, key="query_id")
        relation = relation.drop(JUDGED, strict=False)
    if "n_retrieved" not in needs.columns:
        return relation
    counts = run.select(*run.keys).group_by(run.keys).agg(n_retrieved=pl.len())
    return relation.join(counts, on=run.keys, how="left").with_columns(pl.col("n_retrieved").fill_null(0))


def _met_twice(pair: RunAndQrels, qrels: CanonicalFrame) -> pl.Expr:
    """True where a judgment met two rows of the run: the judged relation then has more grades than the judgments."""
    if pair.run.eager:
        systems = systems_of(pair.run, pair.systems).collect().height if pair.systems else 1
        return pl.col("relevance").count() > qrels.select("relevance").collect()["relevance"].count() * systems
    rankings = [*pair.run.keys, *qrels.per]
    return pl.col("relevance").count().over(rankings) > pl.col(JUDGED).max().over(rankings)


def _by_depth(run: CanonicalFrame, qrels: CanonicalFrame, documents: pl.LazyFrame | None) -> pl.LazyFrame:
    """Ranks by counting, and by sorting for queries with many judgments: the plan splits them when it runs."""
    # Both branches read the judgments, and so the one search for duplicates that they wait for.
    rows = searched(qrels.all_columns(), run).cache()
    deep = pl.len().over(qrels.keys) >= tuning.TUNING.deep
    # The streaming engine would not search the run for wrong rows, joined with nothing.
    ranks = by_counting(run, qrels.with_frame(with_null(rows.filter(~deep))), documents, search=False)
    return pl.concat([ranks, by_sorting(run, qrels.with_frame(rows.filter(deep)), list(RANKS), search=False)])


def _condensed(run: CanonicalFrame, qrels: CanonicalFrame) -> CanonicalFrame:
    """The run without its unjudged documents, and those of negative grade; invalid rows of a plan stay in it."""
    document = qrels.document
    judged = qrels.select("relevance", *document).filter(pl.col("relevance") >= 0)
    if run.eager:
        return run.with_frame(run.all_columns().join(judged, on=document, how="semi"))
    kept = "polars_ir: kept"
    marked = judged.select(*document).unique().with_columns(pl.lit(True).alias(kept))
    rows = run.all_columns().join(marked, on=document, how="left")
    return run.with_frame(rows.filter(pl.col(kept).fill_null(False) | wrong_run_row(run.keys)).drop(kept))


def _judgments(qrels: CanonicalFrame, needs: Needs, run: CanonicalFrame) -> pl.LazyFrame:
    """The judgments with their places in the ideal rankings; a LazyFrame is searched for invalid rows on the way."""
    rankings = [*qrels.keys, *qrels.per]
    judgments = qrels.all_columns()
    if needs.whole or "ideal_rank" in needs.columns:
        judgments = judgments.with_columns(ideal_rank=place("relevance").over(rankings))
    if not run.eager:
        judgments = judgments.with_columns(pl.col("relevance").count().over(rankings).alias(JUDGED))
    if not needs.columns.issubset(RELATION):
        judgments = needs.with_derived(qrels.computed(judgments), "judgments", keys=qrels.keys)
    wrong, repeated = _wrong_judgments(qrels.by, qrels.per, *qrels.keys)
    judgments = qrels.guarded_rows(judgments, *wrong)
    return qrels.guarded_rows(judgments, *repeated)


@functools.cache
def _wrong_judgments(by: tuple[str, ...], per: tuple[str, ...], *keys: str) -> tuple[tuple[pl.Expr, str], ...]:
    """True for invalid judgments, and for those that are there more than once, each with the message of a plan."""
    wrong_per = pl.any_horizontal(False, *(wrong_value(each) & ~nothing_judged() for each in per))
    repeated = (pl.len().over(*keys, "doc_id", *per) > 1) & ~nothing_judged()
    return (wrong_qrels_row(keys) | wrong_per, naming(BAD_QRELS, by)), (repeated, DUPLICATE_JUDGMENTS)


def by_sorting(
    run: CanonicalFrame, qrels: CanonicalFrame | None, columns: list[str], *, search: bool = True
) -> pl.LazyFrame:
    """`RANKS`, and other columns, of every retrieved document of the queries of `qrels`, found by ranking them all.

    Where another branch of the plan searches the run for invalid rows, this one need not read rows of unjudged queries.
    """
    keys, tie = run.keys, POSITION if POSITION in run.columns else None
    others = list(itertools.filterfalse(RANKS.__contains__, columns))
    # Another column order than `by_counting`, so that the optimizer does not merge the two where one plan has both.
    needed = dict.fromkeys(["doc_id", *keys, "score", *([tie] if tie else []), *others])
    rows = (run.guarded() if search else run).select(*needed)
    if qrels is not None:
        judged_queries = qrels.select(*qrels.keys).unique()
        rows = rows.join(searched(judged_queries, run) if search else judged_queries, on=qrels.keys, how="semi")
    # Not `place`: the score of a run is never null.
    order = pl.struct("score", pl.col(tie) if tie else text("doc_id"))
    ranks = {"rank": order.rank("ordinal", descending=True).over(keys)}
    if "n_higher" in columns or "n_tied" in columns:
        ranks |= tie_counts(keys)
    return rows.select(*keys, "doc_id", *others, **ranks)


def by_counting(
    run: CanonicalFrame, qrels: CanonicalFrame, documents: pl.LazyFrame | None = None, *, search: bool = True
) -> pl.LazyFrame:
    """Rank of every retrieved document that is judged, or is one of some `documents`, by counting those above it.

    Three passes over the run, each a streaming join with a small right side: for the judged documents that the run
    holds (hits), for the rows with at least the score of a hit, and for the documents with that very score. Each
    selects other columns, in another order: from passes that look alike the optimizer would make one that keeps the run
    in memory. Of a large run in memory each is collected before the next, which may then have nothing to do, and if few
    of its rows are judged most are left out before the joins.
    """
    keys = run.keys
    hit_keys = [f"hit_{key}" for key in keys]
    hit = ["hit", *(f"hit_{key}" for key in keys if key not in qrels.keys)]
    limits = tuning.TUNING
    by_steps = run.eager and run.rows >= limits.counted
    # With more judgments the tables of hashes take as long as they save.
    sparse = by_steps and run.rows >= limits.sparse * qrels.rows
    # The rows that are searched are among those that are left, except for documents judged for other queries.
    with_hits = search and sparse and documents is None and not is_searched(run)
    if search and not with_hits:
        search_run(run)
    hits = _hits(run, qrels, documents, sparse=sparse, search=with_hits)
    # Cached together: else this pass would share the scan with the last one, which has to wait for others.
    hits = (searched(hits, run, or_none=True) if search else hits).pipe(_known, by_steps=by_steps)
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


def _known(plan: pl.LazyFrame, *, by_steps: bool) -> pl.LazyFrame:
    """The result of a plan, collected if it goes by steps, and else cached: its readers take other columns each."""
    return plan.collect(engine="streaming").lazy() if by_steps else plan.cache()


def _hits(
    run: CanonicalFrame, qrels: CanonicalFrame, documents: pl.LazyFrame | None, *, sparse: bool, search: bool
) -> pl.LazyFrame:
    """Rows of the run whose documents are judged for their query or, for judged queries, are among `documents`.

    Each has the number of its judgment in `hit`, which is cheaper to group by than ids. The ids of a hit come from the
    right side: a string of the left one is a view that keeps its chunk of the run.
    """
    rows = run.guarded().select(*run.keys, "doc_id", "score")
    if sparse:
        wanted = (qrels.select(*qrels.document) if documents is None else documents).collect()
        rows = rows.with_columns(hash_of(wanted.columns).alias(HASH))
        is_wanted = among(pl.col(HASH), wanted)
        if search:
            systems = list(itertools.filterfalse(qrels.keys.__contains__, run.keys))
            sampled = is_sampled(hash_of_row(qrels.document, systems))
            rows = rows.filter(is_wanted | sampled).collect(engine="streaming").lazy()
            if may_repeat(rows.filter(sampled).select(*run.document)):
                search_duplicates(run)
        else:
            rows = rows.filter(is_wanted)
        rows = rows.drop(HASH)
    rows = rows.rename({key: f"hit_{key}" for key in ("score", *run.keys) if key not in qrels.keys})
    if documents is not None:
        pooled, queries = documents.sort(pl.all()), qrels.select(*qrels.keys).unique().sort(qrels.keys)
        hits = rows.join(_numbered("hit_in_pool", pooled), on=[*qrels.by, "doc_id"], build_side="force_right")
        queries = _numbered("hit_query", queries).drop(f"hit_{key}" for key in qrels.by)
        hits = hits.join(queries, on=qrels.keys, build_side="force_right")
        return hits.with_columns(hit=pl.col("hit_query").cast(pl.UInt64) * 2**32 + pl.col("hit_in_pool"))
    judged = qrels.select(*qrels.document)
    if qrels.per or not qrels.eager:
        judged = judged.unique().sort(qrels.document)
    return rows.join(_numbered("hit", judged), on=qrels.document, build_side="force_right")


def _numbered(name: str, ids: pl.LazyFrame) -> pl.LazyFrame:
    """Ids with their numbers, and as matches have them; in a fixed order, since a plan can be run several times."""
    return ids.with_columns(pl.all().name.prefix("hit_")).with_row_index(name)


def _above(run: CanonicalFrame, hits: pl.LazyFrame, hit: list[str], *, sparse: bool) -> pl.LazyFrame:
    """Number of documents with a higher score than each match, and number of those with the same."""
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


def pool(qrels: CanonicalFrame) -> pl.LazyFrame:
    """The documents judged for any query, and null where nothing was judged for one.

    Null meets no document, but joined with nothing at all the run would not be read, nor its invalid rows found.
    """
    return qrels.select(*qrels.by, "doc_id").unique()
