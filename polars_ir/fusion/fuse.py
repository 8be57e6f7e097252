"""`fuse`: several runs to one.

Conventions
    * Documents with the same score are ordered by id falling, in the runs and in the result.
    * A run that did not answer a query takes no part in it; a document that only some runs have is a candidate.
    * Floating-point addition is not associative, so the terms of a document are added in the order of their size: the
      sum is the same to the last bit for every order of rows and runs, and documents with the same terms are tied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.ranking import DOCUMENT
from polars_ir.engine.run_and_qrels import is_searched, search_duplicates
from polars_ir.errors import DataError, OptionError
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.rules import guard
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.fusion.dialects import Fusion, Missing, fusion_of
from polars_ir.fusion.inputs import LIST, MOST_COLUMNS, of_one, repeated, table_of
from polars_ir.fusion.methods import Method
from polars_ir.fusion.pruning import pruned, ranked_lists
from polars_ir.fusion.weights import all_weights, check_reads_weights, weighted
from polars_ir.language.options import check, count, or_none, public, truth
from polars_ir.runs.norms import COUNTS, Norm, normalized, with_counts, with_known_ends
from polars_ir.runs.rankings import LowerIsBetter, first, in_order, ranked, returned

#: Marks documents that occur twice in a run.
REPEATED = "polars_ir: repeated"

#: Term count, and count of runs that returned the document, where the two differ.
N_TERMS, N_RUNS = "polars_ir: terms", "polars_ir: runs"

#: Message for fused scores that are NaN, as infinite scores make them.
NOT_A_NUMBER = "a fused score is NaN, as it is for infinite scores; leave these out, or fuse by ranks ('rrf')"


@public()
def fuse(
    runs: Table[FrameT],
    method: str | Method = "rrf",
    *,
    norm: str | Norm | pl.Expr | None = None,
    weights: Any = None,
    k: float | None = None,
    missing: Missing = "skip",
    depth: int | None = None,
    top: int | None = None,
    dialect: str | None = None,
    lower_is_better: LowerIsBetter = False,
    contributions: bool = False,
) -> FrameT:
    """One run of several: rank fusion by a method, a norm, weights and the dialect of a product.

    A method is three expressions: the `term` of a document in a run, how terms combine over the runs, and the final
    score. `polars_ir.fusion` has them with their formulas; `ir.fusion.Method` makes one of your own.

    Parameters
    ----------
    runs
        A dict of runs by name, a list of runs (named `"1"`, `"2"`, ...), or a table with a column `run`.
    method
        A name of `ir.fusion.METHODS`, or a `Method`; `ir.fusion.train` makes those that learn from judged queries.
    norm
        The norm of the scores, as in `normalize`; None leaves these. Ranks are the same with every norm.
    weights
        A number for each run, in the order of a dict or list of runs, or of first rows in a table (an error for a
        LazyFrame); a dict by run; a table (`query_id`, `run`, `weight`); or an expression that aggregates a run's list
        for a query, such as `pl.col("score").max() - pl.col("score").min()`. 0 or more, not all 0.
    k
        The constant of RRF: 60, but 2 for Qdrant.
    missing
        The contribution of a run to a document that it lacks: `"skip"` none, `"zero"` 0, `"min"` its lowest for the
        query.
    depth
        Use only the first n documents of each list.
    top
        Return at most n documents a query.
    dialect
        The product whose meaning the names of method and norm have, such as `"elasticsearch"`, `"qdrant"` or `"ranx"`;
        `ir.fusion.DIALECTS` has them all.
    contributions
        Add a column `term_{run}` (Float64) for each run: the term it contributed, null where it has none.

    Returns
    -------
    The kind of the runs (a LazyFrame for a LazyFrame, nothing collected; pandas for pandas)
        The query column under its name in the first run, `doc_id`, `score` (Float64), `n_runs` (UInt32, how many runs
        returned the document), sorted by query and falling score. The figures are the same to the last bit whatever the
        order of rows and of runs.

    Raises
    ------
    IRError
        For one run alone, runs without a common query, ids of different types, invalid weights, scores that rise with
        the ranks beside them or fuse to NaN, and runs that `evaluate` would not take; for LazyFrames mostly when
        collected. With `top` duplicates may be seen only among documents that can be so high.

    References
    ----------
    Cormack et al. 2009, https://doi.org/10.1145/1571941.1572114 (RRF); Fox & Shaw 1994 (Comb*); Bruch et al. 2023,
    https://doi.org/10.1145/3596512

    Examples
    --------
    >>> import polars_ir as ir
    >>> bm25, dense = {"q": ["a", "b", "c"]}, {"q": ["c", "a"]}
    >>> ir.fuse({"bm25": bm25, "dense": dense}, top=2).rows()
    [('q', 'a', 0.03252247488101534, 2), ('q', 'c', 0.032266458495966696, 2)]
    >>> scores = {"bm25": {"q": {"a": 30.0, "b": 20.0}}, "dense": {"q": {"a": 0.5, "b": 0.75}}}
    >>> ir.fuse(scores, "sum", norm="min-max", weights={"bm25": 0.25, "dense": 0.75}).select("doc_id", "score").rows()
    [('b', 0.75), ('a', 0.25)]
    """
    fusion = fusion_of(method, norm, dialect, k, missing)
    if weights is not None:
        check_reads_weights(fusion.method)
    table = table_of(runs, fusion, lower_is_better=lower_is_better)
    lower_is_better = False if fusion.by_rank_column else lower_is_better
    depth = check("depth", depth, or_none(count()))
    top, contributions = check("top", top, or_none(count())), check("contributions", contributions, truth())
    is_large = not table.eager or table.rows >= tuning.TUNING.streaming_rows
    if is_large and top is not None and _bounds_scores(fusion, weights):
        lists = weighted(ranked_lists(table, lower_is_better, depth), weights, table)
        rows = pruned(lists, fusion.method, top, table.systems)
    else:
        read = fusion.read if not isinstance(weights, pl.Expr) else fusion.read.union(weights.meta.root_names())
        others = [column for column in table.columns if column in read]
        rows = ranked(table, *others, lower_is_better=lower_is_better, depth=depth)
        rows = with_known_ends(rows, fusion.norm, table)
        rows = termed(rows, fusion, weights, table, whole=contributions)
    scores = scored(rows, fusion, weights, table, searched=is_searched(table))
    scores = guard(scores, pl.col("score").is_nan(), NOT_A_NUMBER)
    if contributions:
        scores = scores.join(_terms(rows, table.systems), on=DOCUMENT)
    scores = scores if top is None else first(scores, top)
    try:
        return returned(in_order(scores, ["query_id"]), table, of_one(runs))
    except DataError:
        if not is_searched(table):
            search_duplicates(table)
        raise


def _bounds_scores(fusion: Fusion, weights: Any) -> bool:
    """True where ranks and weight alone, without scores, bound the fused scores."""
    method = fusion.method
    by_list = fusion.norm is None and not isinstance(weights, pl.Expr)
    of_ranks = by_list and {"rank", "weight"}.issuperset(method.term.meta.root_names())
    return of_ranks and method.falling and method.absent is None and fusion.missing != "min"


def termed(
    rows: pl.LazyFrame, fusion: Fusion, weights: Any, table: CanonicalFrame, *, whole: bool = False
) -> pl.LazyFrame:
    """Ranked rows with their normalised score, their weight and the term they contribute.

    Documents that a run lacks have rows, too, where such documents have terms; where these are the same for all of a
    list, it has one row for them, without a `doc_id`, unless the `whole` is wanted.
    """
    rows = weighted(listed(rows, fusion, table.systems), weights, table)
    by_list = not whole and _absent_by_list(fusion, table.systems)
    return with_terms(with_absent(rows, fusion, _with_absent_document if by_list else completed), fusion)


def _absent_by_list(fusion: Fusion, systems: Sequence[str] | None) -> bool:
    """True where one row per list stands for all documents missing from it."""
    method = fusion.method
    one_term = bool(fusion.absents) and fusion.missing != "min" and method.by_row and method.adds_terms
    return one_term and systems is not None and len(systems) <= MOST_COLUMNS


def listed(rows: pl.LazyFrame, fusion: Fusion, systems: Sequence[str] | None) -> pl.LazyFrame:
    """Ranked rows with a term's inputs except the weight: normalised score and list counts."""
    if fusion.method.table is not None:
        from polars_ir.fusion.learned.learners import knowing

        rows = knowing(rows, fusion.method.name, fusion.method.table, systems)
    rows = rows if fusion.norm is None else normalized(rows, fusion.norm, LIST)
    return rows if COUNTS.isdisjoint(fusion.read) else with_counts(rows, fusion.read, LIST)


def with_absent(rows: pl.LazyFrame, fusion: Fusion, complete: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.LazyFrame:
    """The rows plus those of documents missing from a run, where these have terms."""
    # A sum is the same without terms of 0.
    adds_zeros = fusion.missing == "zero" and fusion.method.adds_terms
    if not fusion.absents and (fusion.missing == "skip" or adds_zeros):
        return rows
    rows = complete(rows)
    absent_score = None if fusion.norm is None else fusion.norm.absent
    return rows if absent_score is None else rows.with_columns(score=pl.coalesce("score", absent_score))


def with_terms(rows: pl.LazyFrame, fusion: Fusion) -> pl.LazyFrame:
    """Weighted rows with the term each contributes."""
    term = fusion.method.term.cast(pl.Float64)
    if fusion.method.absent is not None:
        term = pl.coalesce(term, fusion.method.absent)
    if fusion.missing == "zero":
        # The null term of a retrieved document is left out, as in every strategy.
        term = pl.when(pl.col("rank").is_null()).then(term.fill_null(0.0)).otherwise(term)
    rows = rows.with_columns(term=term)
    if fusion.missing == "min":
        rows = rows.with_columns(term=pl.coalesce("term", pl.col("term").min().over(LIST)))
    return rows


def scored(
    rows: pl.LazyFrame, fusion: Fusion, weights: Any, table: CanonicalFrame, *, searched: bool = True
) -> pl.LazyFrame:
    """The fused score of each document, and the number of runs that returned it.

    The plan fails for duplicates where rows have not been `searched` for them.
    """
    method = fusion.method
    read = method.final.meta.root_names()
    counts = {"n_runs": pl.col("rank").count().cast(pl.UInt32)}
    if fusion.scores_absent:
        counts[N_TERMS] = pl.col("term").count().cast(pl.UInt32)
    if not searched:
        counts[REPEATED] = repeated(table.systems)
    columns = ["term", "weight"] if "weights" in read else ["term"]
    by_list = _absent_by_list(fusion, table.systems)
    documents = _combined(rows, method, table.systems, columns, counts, by_list=by_list)
    if not searched:
        twice = "a run gives a document of a query more than once; keep the best score of each"
        documents = guard(documents, pl.col(REPEATED), twice)
    if "all_weights" in read:
        whole_weight = all_weights(rows, weights, table)
        if isinstance(whole_weight, pl.Expr):
            documents = documents.with_columns(all_weights=whole_weight)
        elif weights is None:
            documents = documents.join(whole_weight, how="cross")
        else:
            documents = documents.join(whole_weight, on="query_id")
    score = method.final.cast(pl.Float64)
    if fusion.scores_absent:
        # Sum and divisor count the same runs.
        documents = documents.rename({"n_runs": N_RUNS, N_TERMS: "n_runs"}).with_columns(score=score)
        return documents.select(*DOCUMENT, "score", n_runs=N_RUNS)
    return documents.select(*DOCUMENT, score=score, n_runs="n_runs")


def _terms(rows: pl.LazyFrame, systems: Sequence[str] | None) -> pl.LazyFrame:
    if systems is None:
        fix = "Give a dict of LazyFrames, or collect it"
        says = "needs the names of the runs, which a LazyFrame does not show."
        raise OptionError(says, about="contributions", fix=fix)
    of_run = {f"term_{system}": pl.when(pl.col("run") == system).then("term").max() for system in systems}
    return rows.group_by(DOCUMENT).agg(**of_run)


def _combined(
    rows: pl.LazyFrame,
    method: Method,
    systems: Sequence[str] | None,
    columns: list[str],
    counts: dict[str, pl.Expr],
    *,
    by_list: bool,
) -> pl.LazyFrame:
    """A row per query and document: `combined`, counts of its rows and, where it is summed, its `weights`."""
    # A run whose term is null does not count among the weights.
    rows = rows.with_columns(pl.when(pl.col("term").is_not_null()).then(name).alias(name) for name in columns[1:])
    if isinstance(method.combine, pl.Expr):
        added = {"weights": pl.col("weight").sort().cum_sum().last()} if "weight" in columns else {}
        return rows.group_by(DOCUMENT).agg(combined=method.combine, **counts, **added)
    if method.combine == "wins":
        wins = _wins(rows, systems)
        return wins.join(rows.group_by(DOCUMENT).agg(**counts), on=DOCUMENT)
    sums = summed(rows, DOCUMENT, columns, systems, counts, by_list=by_list)
    return sums.rename({"term": "combined", "weight": "weights"}, strict=False)


def summed(
    rows: pl.LazyFrame,
    keys: list[str],
    columns: list[str],
    systems: Sequence[str] | None,
    others: dict[str, pl.Expr],
    *,
    by_list: bool = False,
) -> pl.LazyFrame:
    """Columns summed over runs by key; a run has at most one row per key.

    With `by_list` the row of a list without a `doc_id` has the values of all documents that it lacks.
    """
    if systems is None or len(systems) > MOST_COLUMNS:
        lists = rows.group_by(keys).agg(pl.col(columns), **others)
        return lists.with_columns(pl.col(columns).list.drop_nulls().list.sort().list.sum())
    slots = {column: [f"polars_ir: {column} {i}" for i in range(len(systems))] for column in columns}
    of_run = {
        slot: (pl.col("run") == system, pl.col(column))
        for column in columns
        for slot, system in zip(slots[column], systems, strict=True)
    }
    if by_list:
        wide = _filled(rows, of_run, others)
    else:
        wide = rows.group_by(keys).agg(
            **{slot: pl.when(own).then(v).sum() for slot, (own, v) in of_run.items()}, **others
        )
    return added_in_order(wide, slots).select(*keys, *others, *slots)


def _filled(
    rows: pl.LazyFrame, of_run: Mapping[str, tuple[pl.Expr, pl.Expr]], others: Mapping[str, pl.Expr]
) -> pl.LazyFrame:
    """Values per document, a column per run, including those of lists missing it."""
    is_absent = pl.col("doc_id").is_null()
    # A retrieved document with a null term has no term, and not that of missing documents.
    values = {
        slot: pl.when(own & is_absent).then(value).when(own).then(value.fill_null(0.0)).max()
        for slot, (own, value) in of_run.items()
    }
    wide = rows.group_by(DOCUMENT).agg(**values, **others)
    of_list = {slot: pl.when(is_absent).then(slot).max().over("query_id") for slot in of_run}
    if N_TERMS in others:
        terms = [slot for slot, (_, value) in of_run.items() if value.meta.output_name() == "term"]
        wide = wide.with_columns(
            pl.col(N_TERMS) + pl.sum_horizontal(pl.col(slot).is_null() & of_list[slot].is_not_null() for slot in terms)
        )
    filled = wide.with_columns(**{slot: pl.coalesce(slot, value, 0.0) for slot, value in of_list.items()})
    return filled.filter(~is_absent)


def added_in_order(wide: pl.LazyFrame, slots: Mapping[str, Sequence[str]]) -> pl.LazyFrame:
    """The sum of each group of columns in order of size, sorted by exchanging neighbours, as many times as columns."""
    most = max(map(len, slots.values()))
    # Two need no order: their sum is the same either way.
    for step in range(most if most > 2 else 0):
        starts = (names[step % 2 :] for names in slots.values())
        pairs = [pair for names in starts for pair in zip(names[::2], names[1::2], strict=False)]
        lower = [pl.min_horizontal(pair).alias(pair[0]) for pair in pairs]
        wide = wide.with_columns(lower + [pl.max_horizontal(pair).alias(pair[1]) for pair in pairs])
    return wide.with_columns(reduce(add, map(pl.col, names)).alias(name) for name, names in slots.items())


def _with_absent_document(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows plus one per list, without document, rank or score, for all documents missing from it."""
    return pl.concat([rows, rows.unique(LIST).with_columns(doc_id=None, score=None, rank=None)], how="vertical_relaxed")


def completed(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows plus one, without rank or score, per candidate missing from a list of its query."""
    of_list = [column for column in ("weight", "n_retrieved", "n_candidates") if column in rows.collect_schema()]
    lists = rows.select(*LIST, *of_list).unique(LIST)
    candidates = rows.select(DOCUMENT).unique()
    retrieved = rows.select(*LIST, "doc_id", "score", "rank")
    return candidates.join(lists, on="query_id").join(retrieved, on=[*LIST, "doc_id"], how="left")


def _wins(rows: pl.LazyFrame, systems: Sequence[str] | None) -> pl.LazyFrame:
    """Candidates of its query that a document beats, ties counting half."""
    grid = completed(rows).select(
        *LIST, "doc_id", "weight", place=pl.col("rank").cast(pl.Float64).fill_null(float("inf"))
    )
    opponents = grid.select(*LIST, other="doc_id", other_place="place")
    lead = (pl.col("other_place") > pl.col("place")).cast(pl.Float64) - (pl.col("other_place") < pl.col("place"))
    pairs = grid.join(opponents, on=LIST).with_columns(term=pl.col("weight") * lead)
    # A sum of n weights is off by less than this where it should be 0.
    rounding = (pl.col("weight").max() * pl.len() ** 2 * 2.0**-52).alias("rounding")
    margins = summed(pairs, [*DOCUMENT, "other"], ["term"], systems, {"rounding": rounding})
    margin = pl.when(pl.col("term").abs() > pl.col("rounding")).then("term").otherwise(0.0)
    # A document is tied with itself, which is no half of a win.
    wins = (margin > 0).sum() + (margin == 0).sum() / 2 - 0.5
    return margins.group_by(DOCUMENT).agg(combined=wins)
