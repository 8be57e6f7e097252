"""`judge`: the one join of a run with its judgments, which every measure reads.

Conventions
    * Order: score falling, equal scores by document id falling, bytewise (numerically for integer ids): trec_eval's
      rule, unless `ties` says otherwise. A `rank` column beside a score is ignored.
    * Every judged query of every system has its rows, also when the system returned nothing for it.
    * Judgments are of documents, or, with `per`, of a document's subtopics or by several judges, a row for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_args

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
from polars_ir.errors import ColumnError, MeasureError, OptionError, explain_options
from polars_ir.greedy import with_greedy_rank
from polars_ir.ranking import (
    DOCUMENT,
    POSITION,
    Ties,
    by_counting,
    by_sorting,
    place,
    pool,
    reordered,
    tie_counts,
    with_position,
)
from polars_ir.schema import MADE, Table, labelled_table, qrels_table, run_table, same_types

#: From this many judgments a query on, sorting is faster than counting (measured: see tests/bench).
DEEP = 24

#: Runs in memory up to this many rows are searched for duplicates whole; larger and lazy ones among the judged
#: documents only, which costs nothing (`validate` searches all). The whole search would double the time there.
SEARCHED_ROWS = 1_000_000

#: What a measure of a labelled frame can read beside the rank.
GUARDED = ("relevance", *(column for column in MADE if column != "rank"))

#: What a plan that fails on purpose says: the name of the column whose cast can not succeed.
OUR_MESSAGE = re.compile(r"polars_ir: ([^\"]*)")

DUPLICATES = "the run gives a judged document of a query more than once; keep one of each"
DUPLICATE_JUDGMENTS = "the qrels give a document of a query more than once; keep one of each"
SEVERAL_JUDGMENTS = (
    " If they are judgments of subtopics, use measures of these (alpha_nDCG); if several judges', name their column: "
    "evaluate(..., judges='...')."
)
BAD_RUN = "the run has ids or scores that are null, or scores that are NaN; leave those rows out"
BAD_QRELS = "the qrels have ids or grades that are null, or grades that are not finite; leave those rows out"


@dataclass(frozen=True)
class Pair:
    """A run with its judgments, both checked; `qrels` is None where the run holds its grades itself."""

    run: Table
    qrels: Table | None

    @property
    def keys(self) -> list[str]:
        """What makes one ranking with its judgments: system and query, and the judge where there are several."""
        return [*self.run.keys, *(key for key in (self.qrels.per if self.qrels else []) if key != "subtopic")]

    @property
    def extra_columns(self) -> list[str]:
        """Columns of the run that the judged relation lacks."""
        known = {"run", *DOCUMENT, *(self.qrels.columns if self.qrels else ["relevance"])}
        return [column for column in self.run.columns if column not in known]


@explain_options
def judge(
    run: Any,
    qrels: Any = None,
    *,
    per: str | None = None,
    ties: Ties = "doc_id",
    unjudged: bool = False,
    judged_only: bool = False,
) -> Any:
    """The judged relation: one row per judged document of every judged query, with its place in the run.

    Parameters
    ----------
    run
        Polars DataFrame or LazyFrame, pandas, Arrow, nested dicts `{query: {doc: score}}` or `{query: [doc, ...]}`,
        or a dict of systems `{name: run}`.
    qrels
        The judgments, in the same kinds; None where the run has a relevance column of its own.
    per
        The column of the qrels that tells apart several judgments of one document: `"subtopic"`, or that of the judges.
    ties
        The order of equal scores: `"doc_id"` by document id falling, `"input"` as the rows of the run stand, `"best"`
        the relevant documents first, `"worst"` last.
    unjudged
        Bring in the retrieved documents nobody judged, with null `relevance`, and the run's other columns.
    judged_only
        Take the unjudged documents, and those of negative grade, out of the ranking first: a condensed list.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        `run` (if the run has several), `query_id`, `doc_id`, the column of `per`; `relevance`, the grade; `rank`,
        1-based place in the run, null when not retrieved; `ideal_rank`, 1-based place in the ideal ranking;
        `n_retrieved`, how many documents the run returned for the query; `n_higher`, how many of them have a higher
        score than the document; `n_tied`, how many share its score. Ranks and counts are UInt32. The rows have no
        order.

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
    if ties not in (choices := [rule for rule in get_args(Ties) if rule != "expected"]):
        raise OptionError.value("ties", ties, choices)
    pair = pair_up(run, qrels, per=per)
    relation = relate(pair, ties=ties, unjudged=unjudged, judged_only=judged_only)
    relation = reordered(relation, pair.keys, ties).rename({"query_id": pair.run.names["query_id"]})
    return give_back(collect_checked(pair, relation) if pair.run.eager else relation, run)


def pair_up(run: Any, qrels: Any = None, *, per: str | None = None) -> Pair:
    """A run and its judgments with canonical columns and ids of one type, checked."""
    if qrels is None:
        if per is not None:
            raise ColumnError.no_qrels_for(per)
        labelled = labelled_table(run)
        _search("run", labelled, [*labelled.keys, "doc_id"])
        return Pair(labelled, None)
    run_side, qrels_side = run_table(run), qrels_table(qrels, per=per)
    if run_side.eager and not qrels_side.eager:
        qrels_side = qrels_table(qrels.collect(), per=per)
    run_side, qrels_side = same_types(run_side, qrels_side)
    _search("qrels", qrels_side, [*DOCUMENT, *qrels_side.per])
    if _searched(run_side):
        _search("run", run_side, [*run_side.keys, "doc_id"])
    return Pair(run_side, qrels_side)


def relate(
    pair: Pair,
    *,
    ties: Ties = "doc_id",
    unjudged: bool = False,
    judged_only: bool = False,
    counted: bool = True,
    greedy: Iterable[str] = (),
    elsewhere: bool = False,
) -> pl.LazyFrame:
    """The judged relation of a pair as a plan, in canonical columns; `reordered` sees to ties at best and at worst.

    Counting what was retrieved for each query is a pass over the run of its own: without `counted`, and so without
    `n_retrieved`, it is left out. A LazyFrame is counted all the same, since the counts guard its data. `greedy` are
    columns with places in a greedy ideal ranking; `elsewhere` brings in the retrieved documents judged for any query.
    """
    run, qrels = pair.run, pair.qrels
    if ties == "input":
        run = with_position(run)
    if qrels is None:
        return _labelled(run, unjudged=unjudged or elsewhere, judged_only=judged_only)
    if judged_only:
        run = _condensed(run, qrels)
    sorting = unjudged or judged_only or ties == "input" or _deep(qrels)
    columns = pair.extra_columns if unjudged else []
    ranks = by_sorting(run, qrels, columns) if sorting else _by_depth(run, qrels, elsewhere=elsewhere)
    if elsewhere:
        ranks = ranks.join(
            pool(qrels).with_columns(judged_elsewhere=True), on="doc_id", how="left" if unjudged else "inner"
        )
    judgments = _judgments(qrels, greedy)
    if "run" in run.keys:
        judgments = systems_of(pair.run).join(judgments, how="cross")
    whole = unjudged or elsewhere
    if whole and pair.keys != run.keys:
        # What one judge left unjudged is unjudged in the ranking as that judge sees it.
        ranks = ranks.join(qrels.select("query_id", *qrels.per).unique(), on="query_id")
    on = [*(pair.keys if whole else run.keys), "doc_id"]
    relation = judgments.join(ranks, on=on, how="full" if whole else "left", coalesce=True)
    if not _searched(run):
        relation = guard(relation, "rank", _met_twice(pair.run, qrels), DUPLICATES)
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
        if told := OUR_MESSAGE.search(str(error)):
            raise MeasureError(told[1]) from None
        raise


def _met_twice(run: Table, qrels: Table) -> pl.Expr:
    """Whether a judgment met two rows of the run: then the judged relation has more grades than there are."""
    if run.eager:
        systems = systems_of(run).collect().height if "run" in run.keys else 1
        return pl.col("relevance").count() > qrels.select("relevance").collect()["relevance"].count() * systems
    # Ideal ranks are 1, 2, 3, ... but where there is one twice.
    rankings = [*run.keys, *qrels.per]
    return pl.col("ideal_rank").count().over(rankings) > pl.col("ideal_rank").max().over(rankings)


def _search(name: str, table: Table, keys: list[str]) -> None:
    """Search a table in memory for duplicates."""
    if table.eager:
        others = len(table.columns) > len(table.names)
        hint = SEVERAL_JUDGMENTS if name == "qrels" and others and not table.per else ""
        check_duplicates(name, table.all_columns().collect(engine="in-memory"), keys, table.names, hint=hint)


def _searched(run: Table) -> bool:
    """Whether a run has been searched for duplicates whole."""
    return run.eager and run.rows <= SEARCHED_ROWS


def _deep(qrels: Table) -> bool:
    """Whether the queries have so many judgments that sorting is faster; a LazyFrame is parted by `_by_depth`."""
    if not qrels.eager:
        return False
    queries = qrels.select("query_id").select(pl.col("query_id").n_unique()).collect(engine="in-memory").item()
    return qrels.rows >= DEEP * int(queries)


def _by_depth(run: Table, qrels: Table, *, elsewhere: bool) -> pl.LazyFrame:
    """Ranks by counting; where nobody has counted the judgments of a query yet, by what they turn out to be."""
    # Of all queries, also where the queries are parted.
    documents = pool(qrels) if elsewhere else None
    # With the deep plans of a greedy ranking beside it, Polars 1.44 fails on a parted plan.
    if qrels.eager or qrels.per:
        return by_counting(run, qrels, documents)
    rows, deep = qrels.all_columns(), pl.len().over("query_id") >= DEEP
    few, many = (qrels.made_of(rows.filter(which)) for which in (~deep, deep))
    return pl.concat([by_counting(run, few, documents), by_sorting(run, many, [])])


def systems_of(run: Table) -> pl.LazyFrame:
    """The systems there are, as a column `run`."""
    return run.select("run").unique() if run.systems is None else pl.LazyFrame({"run": run.systems})


def _condensed(run: Table, qrels: Table) -> Table:
    """The run without its unjudged documents, and those of negative grade."""
    judged = qrels.select("relevance", *DOCUMENT).filter(pl.col("relevance") >= 0)
    return run.made_of(run.all_columns().join(judged, on=DOCUMENT, how="semi"))


def _judgments(qrels: Table, greedy: Iterable[str]) -> pl.LazyFrame:
    """The judgments with their places in the ideal rankings; a LazyFrame is searched for bad rows on the way."""
    rankings = ["query_id", *qrels.per]
    judgments = qrels.all_columns().with_columns(ideal_rank=place("relevance").over(rankings))
    judgments = with_greedy_rank(judgments, *greedy, eager=qrels.eager)
    if qrels.eager:
        return judgments
    repeated = (pl.len().over([*DOCUMENT, *qrels.per]) > 1) & ~nothing_judged()
    wrong = wrong_qrels_row() | pl.any_horizontal(False, *(wrong_value(per) & ~nothing_judged() for per in qrels.per))
    judgments = guard(guard(judgments, "ideal_rank", wrong, BAD_QRELS), "ideal_rank", repeated, DUPLICATE_JUDGMENTS)
    # A plan's reader may want the grades alone: they depend on the places, which guard them.
    return judgments.with_columns(relevance=pl.when(pl.col("ideal_rank").is_not_null()).then("relevance"))


def _counts(run: Table) -> pl.LazyFrame:
    """How many documents the run returned for each query; a LazyFrame is searched for bad rows on the way."""
    if run.eager:
        return run.select(*run.keys).group_by(run.keys).agg(n_retrieved=pl.len())
    rows = run.select("doc_id", "score", *run.keys).group_by(run.keys)
    counts = rows.agg(n_retrieved=pl.len(), wrong=(wrong_value("doc_id") | wrong_value("score")).any())
    wrong = pl.any_horizontal("wrong", *(wrong_value(key) for key in run.keys))
    return guard(counts, "n_retrieved", wrong, BAD_RUN).drop("wrong")


def _labelled(run: Table, *, unjudged: bool, judged_only: bool) -> pl.LazyFrame:
    """The judged relation of a frame that holds scores and grades side by side: nothing to join."""
    ranking = run.all_columns().filter(pl.col("relevance") >= 0) if judged_only else run.all_columns()
    relation = ranking.with_columns(
        rank=place("score", POSITION if POSITION in run.columns else "doc_id").over(run.keys),
        ideal_rank=place("relevance").over(run.keys),
        n_retrieved=pl.len().over(run.keys),
        judged_elsewhere=pl.when(pl.col("relevance").is_not_null().any().over("doc_id")).then(True),
        **tie_counts(run.keys),
    )
    if not run.eager:
        wrong = wrong_run_row() | wrong_grade(ungraded=True) | pl.any_horizontal(map(wrong_value, run.keys))
        relation = guard(
            guard(relation, "rank", wrong, BAD_RUN), "rank", pl.len().over(*run.keys, "doc_id") > 1, DUPLICATES
        )
        # As below: what is read instead of the rank depends on it.
        relation = relation.with_columns(pl.when(pl.col("rank").is_not_null()).then(c).alias(c) for c in GUARDED)
    relation = relation.drop(POSITION, strict=False)
    return relation if unjudged else relation.drop("score").filter(pl.col("relevance").is_not_null())
