"""`diff`: the queries, and in them the documents, that make the difference between two runs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.errors import Code, ColumnError, Fix, InputTypeError, IRWarning, OptionError, check_systems, quoted
from polars_ir.frames.kinds import Frame, give_back, to_polars
from polars_ir.frames.roles import find
from polars_ir.frames.table import run_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.names import Measures
from polars_ir.language.options import check, count, or_none, public
from polars_ir.runs.alternatives import DECIMALS, check_number, frames_of, one_measure
from polars_ir.runs.evaluate import evaluate_collected
from polars_ir.runs.explain import COUNTED, explained, keys_of, with_texts
from polars_ir.runs.options import Explaining
from polars_ir.runs.selection import selected

#: The two runs, as systems of one call.
SIDES = ("a", "b")


@public(Explaining)
def diff(
    run_a: Table[FrameT],
    run_b: Any,
    qrels: Any,
    measure: Measures,
    *systems: str,
    n_queries: int | None = 10,
    by: str | Sequence[str] | None = None,
    **options: Unpack[Explaining],
) -> FrameT:
    """The queries in which two runs differ most, and the documents that make the difference there.

    The contributions of `explain`, side by side: of two runs, or of two systems of one, which are named last:
    `runs.ir.diff(qrels, "nDCG@10", "bm25", "tfidf")`. The differences of the documents of a query add up to the
    difference of its values. All queries are evaluated, and only those shown are explained; a LazyFrame is collected
    for that. For a cost (`Fallout`) a positive difference says that `run_a` is the worse one.

    Parameters
    ----------
    measure
        One measure that `explain` takes.
    systems
        Two names, after the measure, of systems of the first argument, behind which the judgments follow at once.
    n_queries
        The number of queries to show, by falling difference; None: all that differ.

    Returns
    -------
    The kind of run_a
        A row per query and document that contributes more in one run than in the other, queries by falling size of
        their difference, and documents in them likewise: the keys of `by`, in whose order the rows are, the query
        column under its name in run_a, `query` (String, its text, with `queries`), `query_difference` (value_a -
        value_b), `value_a`, `value_b` (Float64), `doc_id`, `text` (String, with `documents`), `relevance` (the grade;
        null if unjudged), `rank_a`, `rank_b` (UInt32; null if not retrieved), `contribution_a`, `contribution_b`
        (Float64; 0 if not retrieved), `difference` (contribution_a - contribution_b) and `lost_by` (String): the run,
        `"a"` or `"b"`, that lacks a document of a positive gain, down to the measure's cutoff; else null. Without a
        difference it has no row.

    Examples
    --------
    >>> import polars_ir as ir
    >>> a, b = {"q": ["d1", "d2"], "r": ["d5"]}, {"q": ["d3", "d1"], "r": ["d5"]}
    >>> differences = ir.diff(a, b, {"q": ["d1", "d2"], "r": ["d5"]}, "P@2")
    >>> differences.select("query_id", "query_difference", "doc_id", "rank_a", "rank_b", "difference").rows()
    [('q', 0.5, 'd2', 2, None, 0.5)]
    >>> ir.of({"old": a, "new": b}).diff({"q": ["d1", "d2"]}, "P@2", "old", "new").equals(differences)
    True
    """
    runs, qrels, measure = sides_of([run_a, run_b, qrels, measure], systems)
    measured = one_measure(measure, "diff", qrels)
    n_queries = check("n_queries", n_queries, or_none(count(), "for all"))
    ranking: dict[str, Any] = {"ties": options["ties"], "judged_only": options["judged_only"]}
    keys, name = keys_of(by, runs), measured.name
    runs, qrels = selected(runs, qrels, options, keys)
    query = run_table(runs, check=False, by=keys).names["query_id"]
    with warnings.catch_warnings():
        # Two runs without an answer do not differ.
        warnings.filterwarnings("ignore", ".* answers fewer than half", IRWarning)
        values = evaluate_collected(runs, qrels, measured.expression, by=keys, **ranking)
    values = values.rename({query: "query_id"})
    check_number(measured, values.schema)
    on = [*keys, "query_id"]
    value = pl.col(name).cast(pl.Float64)
    of_a, of_b = (values.filter(run=side).select(*on, value.alias(f"value_{side}")) for side in SIDES)
    difference = (pl.col("value_a") - pl.col("value_b")).round(DECIMALS)
    values = of_a.join(of_b, on=on).select(*on, difference.alias("query_difference"), "value_a", "value_b")
    most = values.sort(pl.col("query_difference").abs(), "query_id", descending=[True, False])
    most = most.filter(pl.col("query_difference") != 0)
    first = n_queries or most.height
    most = most.filter(pl.int_range(pl.len()).over(keys) < first) if keys else most.head(first)
    judgments = to_polars("qrels", qrels, column="relevance")
    contributions = explained(runs, judgments, measured, most["query_id"], options, keys)
    contributions = contributions.rename({query: "query_id"})
    rows = most.join(_side_by_side(contributions, on), on=on).filter(pl.col("difference") != 0)
    order = dict.fromkeys(keys, False)
    order |= {"query_difference": True, "query_id": False, "difference": True, "doc_id": False}
    by_size = [pl.col(column).abs() if falling else pl.col(column) for column, falling in order.items()]
    rows = rows.sort(by_size, descending=list(order.values()))
    rows = with_texts(rows, "query_id", options, named=query).rename({"query_id": query})
    return give_back(rows.lazy(), run_a)


def _side_by_side(documents: pl.DataFrame, ranking: Sequence[str]) -> pl.DataFrame:
    """Documents of two systems, with their contributions to each; `ranking` are its keys."""
    on = [*ranking, "doc_id"]
    of_a, of_b = (
        documents.filter(run=side).select(
            *on, "relevance", "gain", pl.col("rank", "contribution", COUNTED).name.suffix(f"_{side}")
        )
        for side in SIDES
    )
    has_a, has_b = (pl.col(f"{COUNTED}_{side}").fill_null(False) for side in SIDES)
    worth = pl.coalesce("gain", "gain_right") > 0
    contribution_a, contribution_b = (pl.col(f"contribution_{side}").fill_null(0.0) for side in SIDES)
    return of_a.join(of_b, on=on, how="full", coalesce=True).select(
        *on,
        pl.coalesce("relevance", "relevance_right").alias("relevance"),
        "rank_a",
        "rank_b",
        contribution_a,
        contribution_b,
        (contribution_a - contribution_b).round(DECIMALS).alias("difference"),
        lost_by=pl.when(worth & has_b & ~has_a).then(pl.lit("a")).when(worth & has_a & ~has_b).then(pl.lit("b")),
    )


def sides_of(arguments: Sequence[Any], systems: Sequence[str]) -> tuple[Any, ...]:
    """Two runs by their sides, and the other arguments of a call.

    Where `systems` follow, the first argument is the run of both, the last one names the first of them, and all others
    are one place ahead.
    """
    run, *others = arguments
    if not systems:
        given = zip(SIDES, (run, others.pop(0)), strict=True)
        return {side: of_one_system(f"run_{side}", each, others[-1]) for side, each in given}, *others
    names = [str(others.pop()), *map(str, systems)]
    if len(names) != len(SIDES):
        raise OptionError(f"must be two, after the other arguments; got {quoted(names)}.", about="systems")
    frames = frames_of(run)
    if isinstance(frames, dict):
        check_systems("systems", names, list(frames))
        runs = [of_one_system(f"run_{side}", frames[name]) for side, name in zip(SIDES, names, strict=True)]
    elif column := find("run_a", "run", frames.collect_schema().names()):
        system = pl.col(column).cast(pl.String)
        check_systems("systems", names, frames.lazy().select(system.unique().sort()).collect()[column].to_list())
        runs = [frames.filter(system == name).drop(column) for name in names]
    else:
        raise ColumnError(f"has no column of systems; {quoted(names)} must be two of them.", about="run_a")
    return dict(zip(SIDES, runs, strict=True)), *others


def of_one_system(table: str, run: Any, last: object = None) -> Frame:
    """A run as a Polars frame, without its column of systems; an error for several systems.

    Where the `last` argument of the call is one of these, the other one is missing behind it.
    """
    frame = frames_of(run)
    if isinstance(frame, dict):
        _check_both(last, list(frame))
        raise InputTypeError.several_tables(table, list(frame))
    system = find(table, "run", frame.collect_schema().names())
    if system is None:
        return frame
    systems = frame.lazy().select(pl.col(system).unique()).collect()[system].sort()
    if len(systems) > 1:
        _check_both(last, systems.cast(pl.String).to_list())
        raise ColumnError(
            f"must be of one system; its column {system!r} has {len(systems)}: "
            f"{', '.join(map(repr, systems.head(5)))}.",
            about=table,
            fix=Fix("Take one", Code.only(table, system, systems[0])),
        )
    return frame.drop(system)


def _check_both(last: object, systems: Sequence[str]) -> None:
    """Raise an `OptionError` for a single system behind the other arguments."""
    if isinstance(last, str) and last in systems:
        other = next(system for system in systems if system != last)
        says = f"must be two, after the other arguments; got {last!r} alone. Name both, as {last!r}, {other!r}."
        raise OptionError(says, about="systems")
