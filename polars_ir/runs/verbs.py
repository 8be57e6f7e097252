"""Verbs that turn a run into another: its first documents, its best duplicates, its documents of passages, its pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import polars as pl

from polars_ir.engine.ranking import DOCUMENT
from polars_ir.engine.run_and_qrels import align, searched
from polars_ir.errors import ColumnError, OptionError, nearest, quoted, with_names
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.rules import Rule, guard
from polars_ir.frames.table import fitting, run_table, same_types
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, count, keys_named, one_of, public
from polars_ir.language.words import text, total
from polars_ir.runs.pooled import warn_of_pooled_rows
from polars_ir.runs.rankings import checked_run, in_order, of_ranks, ranked, returned

#: How the scores of passages make that of their document.
How = Literal["max", "sum", "first"]

#: Largest absolute score with room for others beyond it.
LARGEST = 1.7e308


@public()
def top_k(run: Table[FrameT], k: int) -> FrameT:
    """The first `k` documents of every ranked list.

    Parameters
    ----------
    k
        The number of documents to keep per query and system.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The column of systems (if there are several), the query column, `doc_id`, `score` and the other columns of the
        run, each list by falling score. Every function of this package ranks it as it ranked the run.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.top_k({"q": {"a": 1.0, "b": 3.0, "c": 2.0}}, 2).rows()
    [('q', 'b', 3.0), ('q', 'c', 2.0)]
    """
    table = checked_run(run)
    return of_ranks(table, pl.col("rank") <= check("k", k, count()), run)


@public()
def skip_first(run: Table[FrameT], n: int = 1) -> FrameT:
    """Every ranked list without its first `n` documents, as in retrieval where the query is in the collection itself.

    MTEB's `skip_first_result` takes whatever is first. Where a query has the id of its document, leaving that out is
    more exact: `run.filter(pl.col("query_id") != pl.col("doc_id"))`, BEIR's `ignore_identical_ids`.

    Parameters
    ----------
    n
        The number of documents to leave out per query and system.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The columns of the run as `top_k` returns them. A list of no more than `n` documents has no row, so that its
        query is one that the run did not answer.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.skip_first({"d1": {"d1": 9.0, "d2": 3.0, "d3": 2.0}}).rows()
    [('d1', 'd2', 3.0), ('d1', 'd3', 2.0)]
    """
    table = checked_run(run)
    return of_ranks(table, pl.col("rank") > check("n", n, count()), run)


@public()
def deduplicate(run: Table[FrameT], *, by: str | Sequence[str] | None = None) -> FrameT:
    """The run with the best-scored row of each document of a query.

    Parameters
    ----------
    run
        A run of one or several systems, in any form that `evaluate` takes, but that it may repeat documents.
    by
        Columns of the run that distinguish rankings, such as 'date', as in `evaluate`: a document of two nights stays
        in both. Without it, such columns of a run in memory are warned of.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The columns of the run, each list by falling score. Among rows with the same score the one whose other columns
        are lowest, in their order, stays.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> run = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "a"], "score": [1.0, 2.0, 3.0]})
    >>> run.ir.deduplicate().rows()
    [('q', 'a', 3.0), ('q', 'b', 2.0)]
    """
    table = run_table(run, by=keys_named(by)).guarded()
    warn_of_pooled_rows(table)
    others = [column for column in table.columns if column not in (*table.keys, "doc_id", "score")]
    falling = [*[False] * len(table.keys), True, True, *[False] * len(others)]
    rows = table.all_columns().sort(*table.keys, "score", text("doc_id"), *others, descending=falling)
    unique = rows.unique([*table.keys, "doc_id"], keep="first", maintain_order=True)
    return returned(unique, table, run)


@public()
def collapse(run: Table[FrameT], by: str | pl.Expr | Mapping[str, str | pl.Expr], *, how: How = "max") -> FrameT:
    """The run with documents in place of their passages, or queries in place of their variants.

    Rows of one new document become one, whose score is by `how`: `"max"` (MaxP, and the maximum over sub-queries),
    `"sum"` (SumP), or `"first"` (FirstP), the score of the row whose passage, or sub-query, has the lowest id.

    Parameters
    ----------
    by
        The new `doc_id`: a column of the run, or an expression over its columns, such as
        `pl.col("doc_id").str.split("#").list.first()`. `{"query_id": "topic"}` replaces the query by a column.
    how
        How to combine the scores of rows that become one.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The column of systems (if there are several), the query column, `doc_id` and `score` (a sum is Float64), each
        list by falling score.

    References
    ----------
    Dai & Callan 2019, https://doi.org/10.1145/3331184.3331303

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> passages = {"q": {"a#1": 1.0, "a#2": 3.0, "b#1": 2.0}}
    >>> ir.collapse(passages, by=pl.col("doc_id").str.split("#").list.first()).rows()
    [('q', 'a', 3.0), ('q', 'b', 2.0)]
    """
    check("how", how, one_of(*get_args(How)))
    table = checked_run(run).guarded()
    new = {"doc_id": by} if isinstance(by, (str, pl.Expr)) else by
    was = {role: f"polars_ir: {role}" for role in DOCUMENT}
    rows = table.all_columns().with_columns(pl.col(role).alias(name) for role, name in was.items())
    rows = rows.with_columns(_new_id(table, column).alias(role) for role, column in _roles(new).items())
    schema = rows.collect_schema()
    rows = rows.with_columns(pl.col(role).cast(fitting("run", role, str(new[role]), schema[role])) for role in new)
    for role in new:
        null = pl.col(role).is_null() & pl.col(was[role]).is_not_null()
        rule = Rule(null, f"whose new {role!r} is null", "Give each row one, its old id where nothing is to change")
        rows = table.checked(rule, rows=rows, names={was[role]: f"old {role}"})
    score = pl.col("score")
    # Integers are added exactly, and cast once.
    exact = score.cast(pl.Int128 if table.dtypes["score"].is_integer() else pl.Float64)
    summed = total(exact.sort()).cast(pl.Float64)
    scores = {"max": score.max(), "sum": summed, "first": score.sort_by(*was.values()).first()}
    collapsed = rows.group_by(*table.keys, "doc_id").agg(score=scores[how])
    return returned(in_order(collapsed, table.keys), table, run)


@public()
def condense(run: Table[FrameT], qrels: Any) -> FrameT:
    """The run without its unjudged documents, and those of negative grade: a condensed list.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The columns of the run, each list by falling score. `evaluate` gives for it what `judged_only=True` gives for
        the run.

    References
    ----------
    Sakai 2007, https://doi.org/10.1145/1277741.1277756

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.condense({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 0, "c": 1}}).rows()
    [('q', 'a', 3.0), ('q', 'c', 1.0)]
    """
    pair = align(run, qrels)
    table, judgments = pair.run.guarded(), pair.qrels
    if judgments is None:
        raise OptionError("must be the judgments; got None.", about="qrels")
    grades = judgments.guarded().select("relevance", *DOCUMENT)
    rows = searched(table.all_columns(), table).join(grades.filter(pl.col("relevance") >= 0), on=DOCUMENT, how="semi")
    return returned(in_order(rows, table.keys), table, run)


@public()
def pool(runs: Table[FrameT], *, depth: int) -> FrameT:
    """The pool: the documents to judge, among the first `depth` of any system.

    Parameters
    ----------
    runs
        A dict of runs by name, a table with a column `run`, or one run.
    depth
        The number of documents of each list that go into the pool.

    Returns
    -------
    The kind of the runs (a LazyFrame for a LazyFrame, pandas for pandas)
        The query column, `doc_id`, `rank` (UInt32, the best one) and `n_runs` (UInt32, the systems that have it among
        their first `depth`), sorted by query and document, so that judges do not see which system it came from.

    References
    ----------
    Sparck Jones & van Rijsbergen 1975; Voorhees & Harman 2005, TREC

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.pool({"bm25": {"q": ["a", "b", "c"]}, "dense": {"q": ["b", "d"]}}, depth=2).rows()
    [('q', 'a', 1, 1), ('q', 'b', 1, 2), ('q', 'd', 2, 1)]
    """
    table = checked_run(runs)
    rows = ranked(table, depth=check("depth", depth, count()))
    n_systems = pl.col("run").n_unique() if "run" in table.dtypes else pl.lit(1)
    pooled = rows.group_by(DOCUMENT).agg(
        rank=pl.col("rank").min().cast(pl.UInt32), n_runs=pl.len().cast(pl.UInt32), twice=pl.len() > n_systems
    )
    pooled = guard(pooled, pl.col("twice"), table.repeated).drop("twice")
    return returned(pooled.sort(DOCUMENT), table, runs)


@public()
def rerank(
    run: Table[FrameT], scores: Any, *, depth: int | None = None, unscored: Literal["below", "drop"] = "below"
) -> FrameT:
    """The run in the order of other scores, as by a second stage.

    Parameters
    ----------
    scores
        Another score for some of its documents, in the form of a run; documents that the run lacks are left out. If it
        has a column `run`, each system has its own.
    depth
        Rerank only the first n documents of each list; the others count as unscored.
    unscored
        `"below"`: documents without a new score follow the others in the order they had. `"drop"`: they are left out.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The column of systems (if there are several), the query column, `doc_id`, `score` (Float64: the new one; of an
        unscored document the list's lowest new score less its place among the unscored) and `first_rank` (UInt32, the
        rank it had), each list by falling score. Above unscored documents -inf is -1.7e308, and a list of integers that
        a Float64 merges has its places, from the last, as scores.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.rerank({"q": ["a", "b", "c", "d"]}, {"q": {"c": 0.75, "a": 0.5}}).rows()
    [('q', 'c', 0.75, 3), ('q', 'a', 0.5, 1), ('q', 'b', -0.5, 2), ('q', 'd', -1.5, 4)]
    """
    check("unscored", unscored, one_of("below", "drop"))
    table, second = checked_run(run), checked_run(scores, run="scores")
    with with_names(qrels="scores"):
        table, second = same_types(table, second)
    on = [*(key for key in table.keys if key in second.dtypes), "doc_id"]
    if "run" in second.dtypes and "run" not in table.dtypes:
        raise ColumnError("has a column 'run', and the run has none.", about="scores")
    rows = ranked(table).join(second.guarded().select(*on, "score").rename({"score": "new"}), on=on, how="left")
    if depth is not None:
        in_reach = pl.col("rank") <= check("depth", depth, count())
        rows = rows.with_columns(new=pl.when(in_reach).then("new"))
    if unscored == "drop":
        rows = rows.filter(pl.col("new").is_not_null())
    first_rank = pl.col("rank").cast(pl.UInt32)
    score = _reranked(table.keys, second.dtypes["score"])
    rows = rows.select(*table.keys, "doc_id", score=score, first_rank=first_rank)
    return returned(in_order(rows, table.keys), table, run)


def _reranked(keys: list[str], dtype: pl.DataType) -> pl.Expr:
    """Scores of lists in the order of `new` scores, with unscored documents below in their order."""
    new, unscored = pl.col("new"), pl.col("new").is_null()
    number, place = new.cast(pl.Float64), pl.when(unscored).then("rank").rank("ordinal").over(keys)
    lowest = number.min().over(keys).fill_null(0.0).clip(-LARGEST, LARGEST)
    # Neighbouring large floats differ by more than one.
    below = lowest - place * (lowest.abs() * 2.0**-51).clip(1.0)
    above = pl.when(unscored.any().over(keys)).then(number.clip(-LARGEST)).otherwise(number)
    score = pl.coalesce(above, below)
    if dtype.is_float():
        return score
    is_merged = new.n_unique().over(keys) > number.n_unique().over(keys)
    n_unscored = unscored.sum().over(keys)
    by_place = pl.when(unscored).then(n_unscored - place + 1).otherwise(n_unscored + new.rank("dense").over(keys))
    return pl.when(is_merged).then(by_place.cast(pl.Float64)).otherwise(score)


def _roles(new: object) -> dict[str, str | pl.Expr]:
    """The columns, or expressions, that replace ids, by role."""
    if not isinstance(new, Mapping) or not new or not set(new) <= set(DOCUMENT):
        says = f"must be a column, an expression, or a dict of these for 'doc_id' or 'query_id'; got {new!r:.80}."
        raise OptionError(says, about="by")
    return dict(new)


def _new_id(table: CanonicalFrame, column: str | pl.Expr) -> pl.Expr:
    read = column.meta.root_names() if isinstance(column, pl.Expr) else [column]
    for name in read:
        if name not in table.columns:
            near = nearest(str(name), table.columns)
            raise ColumnError(f"has no column {name!r}; it has {quoted(table.columns)}.", about="run", near=near)
    return column if isinstance(column, pl.Expr) else pl.col(column)
