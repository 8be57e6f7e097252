"""The judged relation as a plan, for LazyFrames and for large runs with few judgments: ids are joined as they are.

The data of a LazyFrame are its collector's: what is wrong with them is found by the plan itself, which fails.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.greedy import with_greedy_rank
from polars_ir.engine.needs import Needs
from polars_ir.engine.pairing import Pair, is_searched, systems_of
from polars_ir.engine.ranking import DOCUMENT, by_counting, by_sorting, place, pool, with_position
from polars_ir.frames.checks import BAD_QRELS, guard, nothing_judged, wrong_qrels_row, wrong_run_row, wrong_value
from polars_ir.frames.table import Table

DUPLICATES = "the run gives a judged document of a query more than once; keep the best score of each"
DUPLICATE_JUDGMENTS = "the qrels give a document of a query more than once; keep the highest grade of each"


def plan_relation(pair: Pair, qrels: Table, needs: Needs) -> pl.LazyFrame:
    """The judged relation of a pair as a plan; `qrels` are its judgments, or those of them that are read."""
    run = pair.run
    if needs.ties == "input":
        run = with_position(run)
    whole = needs.unjudged or needs.elsewhere
    if needs.judged_only:
        run = _condensed(run, qrels)
    sorting = needs.unjudged or needs.judged_only or needs.ties == "input" or _deep(qrels)
    columns = pair.extra_columns if needs.unjudged else []
    ranks = by_sorting(run, qrels, columns) if sorting else _by_depth(run, qrels, elsewhere=needs.elsewhere)
    if needs.elsewhere:
        ranks = ranks.join(
            pool(qrels).with_columns(judged_elsewhere=True), on="doc_id", how="left" if needs.unjudged else "inner"
        )
    judgments = _judgments(qrels, needs.greedy)
    if "run" in run.keys:
        judgments = systems_of(pair.run).join(judgments, how="cross")
    if whole and pair.keys != run.keys:
        # What one judge left unjudged is unjudged in the ranking as that judge sees it.
        ranks = ranks.join(qrels.select("query_id", *qrels.per).unique(), on="query_id")
    on = [*(pair.keys if whole else run.keys), "doc_id"]
    relation = judgments.join(ranks, on=on, how="full" if whole else "left", coalesce=True)
    if not is_searched(run):
        relation = guard(relation, _met_twice(pair.run, qrels), DUPLICATES)
    if not needs.counted:
        return relation
    counts = run.select(*run.keys).group_by(run.keys).agg(n_retrieved=pl.len())
    return relation.join(counts, on=run.keys, how="left").with_columns(pl.col("n_retrieved").fill_null(0))


def _met_twice(run: Table, qrels: Table) -> pl.Expr:
    """Whether a judgment met two rows of the run: then the judged relation has more grades than there are."""
    if run.eager:
        systems = systems_of(run).collect().height if "run" in run.keys else 1
        return pl.col("relevance").count() > qrels.select("relevance").collect()["relevance"].count() * systems
    # Ideal ranks are 1, 2, 3, ... but where there is one twice.
    rankings = [*run.keys, *qrels.per]
    return pl.col("ideal_rank").count().over(rankings) > pl.col("ideal_rank").max().over(rankings)


def _deep(qrels: Table) -> bool:
    """Whether the queries have so many judgments that sorting is faster; a LazyFrame is parted by `_by_depth`."""
    if not qrels.eager:
        return False
    queries = qrels.select("query_id").select(pl.col("query_id").n_unique()).collect(engine="in-memory").item()
    return qrels.rows >= tuning.TUNING.deep * int(queries)


def _by_depth(run: Table, qrels: Table, *, elsewhere: bool) -> pl.LazyFrame:
    """Ranks by counting; where nobody has counted the judgments of a query yet, by what they turn out to be."""
    # Of all queries, also where the queries are parted.
    documents = pool(qrels) if elsewhere else None
    # With the deep plans of a greedy ranking beside it, Polars 1.44 fails on a parted plan.
    if qrels.eager or qrels.per:
        return by_counting(run, qrels, documents)
    rows, deep = qrels.all_columns(), pl.len().over("query_id") >= tuning.TUNING.deep
    # Null meets no document, but the streaming engine would not search the run for wrong rows, joined with nothing.
    nothing = pl.LazyFrame(schema=rows.collect_schema()).select(pl.all().extend_constant(None, 1))
    few = pl.concat([rows.filter(~deep), nothing])
    ranks = by_counting(run, qrels.made_of(few), documents)
    return pl.concat([ranks, by_sorting(run, qrels.made_of(rows.filter(deep)), [], search=False)])


def _condensed(run: Table, qrels: Table) -> Table:
    """The run without its unjudged documents, and those of negative grade; rows of a plan that are wrong stay in it."""
    judged = qrels.select("relevance", *DOCUMENT).filter(pl.col("relevance") >= 0)
    if run.eager:
        return run.made_of(run.all_columns().join(judged, on=DOCUMENT, how="semi"))
    kept = "polars_ir: kept"
    marked = judged.select(*DOCUMENT).unique().with_columns(pl.lit(True).alias(kept))
    rows = run.all_columns().join(marked, on=DOCUMENT, how="left")
    return run.made_of(rows.filter(pl.col(kept).fill_null(False) | wrong_run_row(run.keys)).drop(kept))


def _judgments(qrels: Table, greedy: Iterable[str]) -> pl.LazyFrame:
    """The judgments with their places in the ideal rankings; a LazyFrame is searched for bad rows on the way."""
    rankings = ["query_id", *qrels.per]
    judgments = qrels.all_columns().with_columns(ideal_rank=place("relevance").over(rankings))
    judgments = with_greedy_rank(judgments, *greedy, eager=qrels.eager)
    if qrels.eager:
        return judgments
    repeated = (pl.len().over([*DOCUMENT, *qrels.per]) > 1) & ~nothing_judged()
    wrong = wrong_qrels_row() | pl.any_horizontal(False, *(wrong_value(per) & ~nothing_judged() for per in qrels.per))
    return guard(guard(judgments, wrong, BAD_QRELS), repeated, DUPLICATE_JUDGMENTS)
