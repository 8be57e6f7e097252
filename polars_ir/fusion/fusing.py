"""`fuse`: several runs to one.

Conventions
    * Documents with the same score are ordered by id falling, in the runs and in the result.
    * A run that did not answer a query takes no part in it; a document that only some runs have is a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.pairing import is_searched, search_duplicates
from polars_ir.engine.ranking import DOCUMENT
from polars_ir.errors import DataError, OptionError, explain_options
from polars_ir.frames.checks import guard
from polars_ir.frames.kinds import SameKind
from polars_ir.frames.table import Table
from polars_ir.fusion.combining import DUPLICATES, LIST, combined, completed
from polars_ir.fusion.dialects import Fusion, fusion_of
from polars_ir.fusion.inputs import of_one, systems_of, table_of
from polars_ir.fusion.learners import knowing
from polars_ir.fusion.methods import Method
from polars_ir.fusion.pruning import pruned, ranked_lists
from polars_ir.fusion.weights import all_weights, weighted
from polars_ir.language.parameters import MOST_DOCUMENTS
from polars_ir.runs.norms import Norm, normalized, with_counts
from polars_ir.runs.rankings import LowerIsBetter, first, in_order, ranked, returned
from polars_ir.values import check, one_of, or_none, whole

#: What a run that lacks a document contributes: nothing, 0, or the lowest term of its list.
Missing = Literal["skip", "zero", "min"]

#: What comes of infinite scores, whose ranks are as good as any.
NOT_A_NUMBER = "a fused score is no number (NaN), as of infinite scores; leave these out, or fuse by ranks ('rrf')"


@explain_options
def fuse(
    runs: Any,
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
) -> SameKind:
    """One run of several: rank fusion by the method, norm, weights and product dialect asked for.

    A method is three expressions: the `term` of a document in a run, how terms combine over the runs, and the final
    score. `polars_ir.fusion` has them all with their formulas and parameters, and `ir.fusion.Method` makes one of your
    own. By name: `"sum"`, `"min"`, `"max"`, `"med"`, `"anz"`, `"mnz"`, `"gmnz"`, `"wsum"`, `"wmnz"`, `"mixed"`,
    `"mean"`, `"geometric"`, `"harmonic"` of scores; `"isr"`, `"log_isr"`, `"logn_isr"`, `"rrf"`, `"rbc"`, `"borda"`,
    `"condorcet"` of ranks; `"dbsf"`.

    Parameters
    ----------
    runs
        A dict of runs by name, a list of runs (named `"1"`, `"2"`, ...), or a table with a column `run`.
    method
        A name, or a `Method`; `ir.fusion.train` makes those that learn from judged queries (PosFuse, ProbFuse, ...).
    norm
        How scores are normalised first, as in `normalize`; None leaves them. Ranks are the same with every norm.
    weights
        A number for each run, in the order of a dict or list, or a dict by run; a table (`query_id`, `run`, `weight`);
        or an expression that aggregates a run's list for a query, such as
        `pl.col("score").max() - pl.col("score").median()`. 0 or more, not all 0, one for each run, and of these runs
        alone: another's name is an error (not seen where runs are one LazyFrame, or weights are).
    k
        The constant of RRF: 60, but 2 for Qdrant.
    missing
        What a run that lacks a document contributes to it: `"skip"` nothing, `"zero"` a term of 0, `"min"` the lowest
        term it gives for the query. For a sum the first two are the same.
    depth
        Use only so many documents at the top of each list.
    top
        Return only so many documents a query. For RRF and RBC documents that can not be among them are left out early,
        which changes nothing but the time: of LazyFrames and large tables, where weights are no expression.
    dialect
        What a product means by the method or the norm: `"elasticsearch"`, `"opensearch"`, `"weaviate"`,
        `"llamaindex"`, `"chroma"`, `"qdrant"`, `"haystack"`, `"pyserini"`, `"ranx"`; `ir.fusion.DIALECTS` says what.
    lower_is_better
        Whether scores are distances: of all systems (True), or of those listed.
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
        For one run alone, runs without a common query, ids of different types, weights that are not as many as runs,
        negative or all 0, unknown names, scores that rise with the ranks beside them, infinite scores of which a fused
        one would be NaN, and runs that `evaluate` would not take. What only the data of a LazyFrame can tell raises a
        Polars error with our message when it is collected. With `top` duplicates may be seen only among documents that
        can be so high, in a LazyFrame or a large run.

    References
    ----------
    Cormack, Clarke & Buettcher 2009, https://doi.org/10.1145/1571941.1572114 (RRF); Fox & Shaw 1994 (Comb*); Bruch,
    Gai & Ingber 2023, https://doi.org/10.1145/3596512 (convex combination)

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
    check_missing(missing)
    fusion = fusion_of(method, norm, dialect, k)
    check_reads_weights(fusion.method, weights)
    table = table_of(runs, fusion, lower_is_better=lower_is_better)
    systems = systems_of(table)
    depth = check("depth", depth, or_none(whole(1)))
    top = check("top", top, or_none(whole(1)))
    prunes = _prunes(fusion.method, missing, top)
    is_large = not table.eager or table.rows >= tuning.TUNING.streaming_rows
    if prunes is not None and is_large and _by_list(fusion, weights):
        lists = ranked_lists(table, lower_is_better, depth)
        rows = pruned(weighted(lists, weights, systems, table), fusion.method, prunes, systems)
    else:
        extra = [column for column in table.columns if column in read_by(fusion, weights)]
        rows = ranked(table, *extra, lower_is_better=lower_is_better)
        rows = rows if depth is None else rows.filter(pl.col("rank") <= depth)
        rows = termed(rows, fusion, weights, systems, table, missing)
    scores = scored(rows, fusion.method, weights, systems, searched=is_searched(table))
    scores = guard(scores, pl.col("score").is_nan(), NOT_A_NUMBER)
    if contributions:
        scores = scores.join(_terms(rows, systems), on=DOCUMENT)
    scores = scores if top is None else first(scores, top)
    try:
        return returned(in_order(scores, ["query_id"]), table, of_one(runs))
    except DataError as error:
        if DUPLICATES in str(error):
            search_duplicates("run", table, [*table.keys, "doc_id"])
        raise


def _prunes(method: Method, missing: Missing, top: int | None) -> int | None:
    """How many documents to prune for; None where no rank bounds a score, as of a run with a term for what it lacks."""
    bounds = method.falling and method.absent is None and missing != "min"
    return min(top, MOST_DOCUMENTS) if top is not None and bounds else None


def _by_list(fusion: Fusion, weights: Any) -> bool:
    """Whether terms are known by the rank and the weight of a list, without its scores."""
    of_ranks = {"rank", "weight"}.issuperset(fusion.method.term.meta.root_names())
    return of_ranks and fusion.norm is None and not isinstance(weights, pl.Expr)


def termed(
    rows: pl.LazyFrame,
    fusion: Fusion,
    weights: Any,
    systems: Sequence[str] | None,
    table: Table,
    missing: Missing,
) -> pl.LazyFrame:
    """Ranked rows with their normalised score, their weight and the term they contribute."""
    rows = weighted(listed(rows, fusion, systems), weights, systems, table)
    return with_terms(with_absent(rows, fusion, missing), fusion.method, missing)


def listed(rows: pl.LazyFrame, fusion: Fusion, systems: Sequence[str] | None) -> pl.LazyFrame:
    """Ranked rows with what a term reads but the weight: their normalised score, and the counts of their lists."""
    method, norm = fusion.method, fusion.norm
    rows = knowing(rows, method, systems)
    rows = rows if norm is None else normalized(rows, norm, LIST)
    for reader in (method.term, *_absents(fusion)):
        rows = with_counts(rows, reader, LIST)
    return rows


def with_absent(rows: pl.LazyFrame, fusion: Fusion, missing: Missing) -> pl.LazyFrame:
    """The rows, and where a run has a term for a document that it lacks, one for each of these without a rank."""
    is_sum = isinstance(fusion.method.combine, str) and fusion.method.combine == "sum"
    # A sum of it and 0 is one without it.
    if not _absents(fusion) and (missing == "skip" or (missing == "zero" and is_sum)):
        return rows
    rows = completed(rows)
    absent_score = None if fusion.norm is None else fusion.norm.absent
    return rows if absent_score is None else rows.with_columns(score=pl.coalesce("score", absent_score))


def with_terms(rows: pl.LazyFrame, method: Method, missing: Missing) -> pl.LazyFrame:
    """Rows that have a weight with the term that each contributes."""
    term = method.term.cast(pl.Float64)
    if method.absent is not None:
        term = pl.coalesce(term, method.absent)
    rows = rows.with_columns(term=term.fill_null(0.0) if missing == "zero" else term)
    if missing == "min":
        rows = rows.with_columns(term=pl.coalesce("term", pl.col("term").min().over(LIST)))
    return rows


def _absents(fusion: Fusion) -> list[pl.Expr]:
    """What gives a run a term, or a score, for a document that it lacks."""
    absents = [fusion.method.absent, None if fusion.norm is None else fusion.norm.absent]
    return [absent for absent in absents if absent is not None]


def scored(
    rows: pl.LazyFrame, method: Method, weights: Any, systems: Sequence[str] | None, *, searched: bool = True
) -> pl.LazyFrame:
    """The fused score of each document, and how many runs returned it."""
    documents = combined(rows, method, systems, searched=searched)
    if "all_weights" in method.final.meta.root_names():
        whole_weight = all_weights(rows, weights, systems)
        if isinstance(whole_weight, pl.Expr):
            documents = documents.with_columns(all_weights=whole_weight)
        elif weights is None:
            documents = documents.join(whole_weight, how="cross")
        else:
            documents = documents.join(whole_weight, on="query_id")
    return documents.select(*DOCUMENT, score=method.final.cast(pl.Float64), n_runs="n_runs")


def _terms(rows: pl.LazyFrame, systems: Sequence[str] | None) -> pl.LazyFrame:
    """The term of each run, in a column of its own."""
    if systems is None:
        fix = "Give a dict of LazyFrames, or collect it"
        raise OptionError(
            "needs the names of the runs, which a LazyFrame does not show.", about="contributions", fix=fix
        )
    of_run = {f"term_{system}": pl.when(pl.col("run") == system).then("term").max() for system in systems}
    return rows.group_by(DOCUMENT).agg(**of_run)


def check_missing(missing: object) -> None:
    """Raise an `OptionError` for what says nothing of a run that lacks a document."""
    check("missing", missing, one_of(*get_args(Missing)))


def check_reads_weights(method: Method, weights: Any) -> None:
    """Raise an `OptionError` for weights that a method would ignore."""
    if weights is not None and not reads_weights(method):
        raise OptionError(
            f"are ignored by the method {method.name!r} (in this dialect).",
            about="weights",
            fix="Leave them out, or take another method",
        )


def reads_weights(method: Method) -> bool:
    """Whether weights change what a method gives."""
    reads = [*method.term.meta.root_names(), *method.final.meta.root_names()]
    return not {"weight", "weights", "all_weights"}.isdisjoint(reads)


def read_by(fusion: Fusion, weights: Any) -> set[str]:
    """The columns that the expressions of a fusion read."""
    expressions = [fusion.method.term, *([] if fusion.norm is None else [fusion.norm.value])]
    expressions += [weights] if isinstance(weights, pl.Expr) else []
    return {name for expression in expressions for name in expression.meta.root_names()}
