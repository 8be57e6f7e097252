"""`evaluate`: judge once, group once, one column per measure.

Conventions
    * A judged query that the run missed scores 0 and counts (`missing="zero"`, as `trec_eval -c`); `"skip"` leaves it
      out, trec_eval's default.
    * A query without a relevant document scores 0 (`undefined=0.0`); None makes it null, which every mean skips.
    * The rows of the result are sorted by system and query. Its figures are the same to the last bit whatever the
      order of the input, the engine or the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, overload

import polars as pl
import polars.selectors as cs

from polars_ir.bounds import Judging, with_bounds
from polars_ir.conversion import give_back
from polars_ir.errors import MeasureError, OptionError, explain_options, warn
from polars_ir.expected import EXPECTED
from polars_ir.judging import Pair, collect_checked
from polars_ir.naming import parse
from polars_ir.ranking import Ties, reordered
from polars_ir.registry import call_of
from polars_ir.relations import HITS, kind_of_all, related
from polars_ir.schema import Table
from polars_ir.vocabulary import average

Measures = str | pl.Expr | Iterable[str | pl.Expr]
Missing = Literal["zero", "skip"]


@overload
def evaluate(
    run: pl.LazyFrame,
    qrels: Any,
    measures: Measures,
    *,
    missing: Missing = ...,
    undefined: float | None = ...,
    judged_only: bool = ...,
    ties: Ties = ...,
    judges: str | None = ...,
    bounds: bool = ...,
) -> pl.LazyFrame: ...
@overload
def evaluate(
    run: pl.DataFrame,
    qrels: Any,
    measures: Measures,
    *,
    missing: Missing = ...,
    undefined: float | None = ...,
    judged_only: bool = ...,
    ties: Ties = ...,
    judges: str | None = ...,
    bounds: bool = ...,
) -> pl.DataFrame: ...
@overload
def evaluate(
    run: Any,
    qrels: Any,
    measures: Measures,
    *,
    missing: Missing = ...,
    undefined: float | None = ...,
    judged_only: bool = ...,
    ties: Ties = ...,
    judges: str | None = ...,
    bounds: bool = ...,
) -> Any: ...
@explain_options
def evaluate(
    run: Any,
    qrels: Any,
    measures: Measures,
    *,
    missing: Missing = "zero",
    undefined: float | None = 0.0,
    judged_only: bool = False,
    ties: Ties = "doc_id",
    judges: str | None = None,
    bounds: bool = False,
) -> Any:
    """Measure a run against its judgments: one row per judged query, one column per measure.

    Parameters
    ----------
    run
        Polars DataFrame or LazyFrame, pandas, Arrow, nested dicts `{query: {doc: score}}` or `{query: [doc, ...]}`,
        or a dict of systems `{name: run}`. With a `run` column every system is evaluated in the same pass.
    qrels
        The judgments, in the same kinds; None where the run has a relevance column of its own.
    measures
        Names in any dialect, expressions of this package, or any aggregation of the columns of `judge`; one or many.
        An aggregation that reads a column of the run sees the unjudged documents too, with null `relevance`.
    missing
        `"zero"`: a judged query that the run did not answer counts, with an empty ranking. `"skip"`: it is left out.
    undefined
        What a measure of this package is where no document is relevant; None for null, which every mean skips. It
        takes the place of any null in a Float64 column, so also of those that an aggregation of your own leaves.
    judged_only
        Take the unjudged documents out of the ranking first: condensed lists.
    ties
        The order of documents with equal scores, for all measures of the call: `"doc_id"` by id falling (trec_eval),
        `"input"` as the rows of the run stand, `"best"` and `"worst"` the relevant ones first and last, and
        `"expected"` the exact mean over all orders (McSherry and Najork 2008), which P, R, R_cap, F, Rprec, Success,
        RR, AP, DCG, nDCG, RBP and Judged have, and those that ties can not change. The best and the worst order are so
        for measures that rise with the grades.
    judges
        A column of the qrels that tells several judges of a query apart: each measure is the mean over the judges of
        its value by the judgments of each, trec_eval's `_avgjg`.
    bounds
        Add to every measure `m` columns `m low` and `m high`: its lowest and highest value as it is and under judgments
        that could be made of the retrieved documents nobody judged: none of them relevant, all of the highest grade
        that occurs (at least `rel`), and, for a measure with a cutoff, only those above it or only those below. They
        are exact for measures that `catalog` calls monotone, unless a higher grade has a lower gain, and for shares of
        the relevant documents (R, F, R_cap); for other measures, whose value can fall as a grade rises, other
        judgments may lead further. A query without a relevant document counts 0 here, and a measure that is a text has
        no bounds. It ranks the whole run, as a measure of a run column does.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, nothing collected; pandas for pandas)
        `run` (String, if the run has several), the query column under its name in the run, and a column per measure
        (Float64; counts are Int64), sorted by system and query.

    Raises
    ------
    IRError
        For tables, measures or options that can not be used; the message says which and what to do. What only the data
        of a LazyFrame can tell raises a Polars error with our message when it is collected.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d7": 0.2}}
    >>> qrels = {"q1": {"d2": 1}, "q2": {"d7": 2}, "q3": {"d1": 1}}
    >>> ir.evaluate(run, qrels, ["nDCG@10", "RR", (1 / ir.rank).max().alias("mine")]).rows()
    [('q1', 0.6309297535714574, 0.5, 0.5), ('q2', 1.0, 1.0, 1.0), ('q3', 0.0, 0.0, 0.0)]
    """
    _check_options(
        missing=missing, undefined=undefined, judged_only=judged_only, ties=ties, judges=judges, bounds=bounds
    )
    expressions = resolve(measures)
    kind = kind_of_all(expressions)
    asked = {f"judges={judges!r}": judges is not None, "bounds=True": bounds, "ties='expected'": ties == "expected"}
    if kind != "documents" and any(asked.values()):
        raise OptionError.not_for_kind(next(option for option, is_asked in asked.items() if is_asked), kind)
    judgings = {name: Judging.of(expression) for name, expression in expressions.items()} if bounds else {}
    if twice := [bound for name in judgings for bound in (f"{name} low", f"{name} high") if bound in judgings]:
        raise MeasureError.twice(twice[0])
    if ties == "expected":
        expressions = {name: _expectation(name, expression).alias(name) for name, expression in expressions.items()}
    pair, relation = related(run, qrels, expressions, kind, ties, judges, unjudged=bounds, judged_only=judged_only)
    keys = pair.run.keys
    ranked = relation if kind == "preferences" else reordered(relation, pair.keys, ties)
    result = _measured(ranked, pair, expressions, undefined)
    if bounds:
        result = _bounded(result, relation, pair, expressions, judgings, ties)
    if missing == "skip":
        # Whether a query was answered is asked of the run itself: a condensed list can be empty.
        result = result.join(pair.run.select(*keys).unique(), on=keys, how="semi")
    result = result.sort(keys).rename({"query_id": pair.run.names["query_id"]})
    if not pair.run.eager:
        # Whoever collects a plan reads only the columns that are left: what guards its data must be among the reasons.
        return result.filter(pl.col(HITS).is_not_null()).drop(HITS)
    collected = collect_checked(pair, result)
    _warn_if_nothing_is_shared(pair, collected)
    _warn_of_nan(collected)
    return give_back(collected.drop(HITS), run)


def _check_options(**options: Any) -> None:
    choices = {
        "missing": get_args(Missing),
        "ties": get_args(Ties),
        "judged_only": (True, False),
        "bounds": (True, False),
    }
    for option, values in choices.items():
        if options[option] not in values:
            raise OptionError.value(option, options[option], values)
    undefined, judges = options["undefined"], options["judges"]
    if undefined is not None and not isinstance(undefined, (int, float)):
        raise OptionError(f"undefined must be a number, or None for null; got {undefined!r}.")
    if judges is not None and not isinstance(judges, str):
        raise OptionError(f"judges must be the name of a column of the qrels; got {judges!r}.")
    if judges is not None and options["judged_only"]:
        raise OptionError("judged_only=True condenses one list for all judges; it does not go with judges=.")


def _expectation(name: str, expression: pl.Expr) -> pl.Expr:
    """The mean of a measure over all orders of tied documents."""
    call = call_of(expression)
    if call is None or call.spec.name not in EXPECTED:
        raise MeasureError.no_expectation(name, EXPECTED)
    return EXPECTED[call.spec.name](**call.arguments)


def _bounded(
    result: pl.LazyFrame,
    relation: pl.LazyFrame,
    pair: Pair,
    expressions: Mapping[str, pl.Expr],
    judgings: Mapping[str, Judging],
    ties: Ties,
) -> pl.LazyFrame:
    """The result with the lowest and highest values of the measures, each under the judgings it calls for."""
    for judging in dict.fromkeys(judgings.values()):
        measures = {name: expressions[name] for name, of_measure in judgings.items() if of_measure == judging}
        judged = (reordered(frame, pair.keys, ties) for frame in judging.relations(relation, pair.keys))
        # Where nothing is relevant under one judging, something is under another.
        values = [_measured(frame, pair, measures, 0.0).drop(HITS) for frame in judged]
        result = with_bounds(result, values, pair.run.keys)
    return result


def _measured(
    relation: pl.LazyFrame, pair: Pair, expressions: Mapping[str, pl.Expr], undefined: float | None
) -> pl.LazyFrame:
    """A row per system and query, with the measures and whether a judged document was retrieved."""
    result = relation.group_by(pair.keys).agg(*expressions.values(), pl.col(HITS).any())
    for name, dtype in _schema(result, relation, expressions).items():
        if dtype == pl.List:
            raise MeasureError.no_aggregation(name)
    if undefined is not None:
        result = result.with_columns((cs.by_name(*expressions) & cs.float()).fill_null(undefined))
    return result if pair.keys == pair.run.keys else _over_judges(result, pair, expressions)


def _over_judges(result: pl.LazyFrame, pair: Pair, expressions: Mapping[str, pl.Expr]) -> pl.LazyFrame:
    """The mean of every measure over the judges of a query, added up in the order of the judges."""
    for name, dtype in result.collect_schema().items():
        if name in expressions and not (dtype.is_numeric() or dtype == pl.Boolean):
            raise MeasureError.no_number(name, "judges=")
    means = (average(pl.col(name).cast(pl.Float64)).alias(name) for name in expressions)
    return result.sort(pair.keys).group_by(pair.run.keys, maintain_order=True).agg(*means, pl.col(HITS).any())


def _schema(result: pl.LazyFrame, relation: pl.LazyFrame, expressions: Mapping[str, pl.Expr]) -> pl.Schema:
    """The schema of the result; a `MeasureError` for a measure that the columns' types do not allow."""
    try:
        return result.collect_schema()
    except pl.exceptions.PolarsError:
        for name, expression in expressions.items():
            try:
                relation.select(expression).collect_schema()
            except pl.exceptions.PolarsError as error:
                schema = relation.collect_schema()
                read = {column: schema[column] for column in expression.meta.root_names()}
                raise MeasureError.wrong_types(name, read, str(error)) from None
        raise


def resolve(measures: Measures) -> dict[str, pl.Expr]:
    """Measures by the names of their columns; names are parsed, expressions taken as they are."""
    if isinstance(measures, (str, pl.Expr)):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise MeasureError.not_a_measure(measures)
    expressions: dict[str, pl.Expr] = {}
    for measure in measures:
        expression = parse(measure) if isinstance(measure, str) else measure
        if not isinstance(expression, pl.Expr):
            raise MeasureError.not_a_measure(measure)
        try:
            name = expression.meta.output_name()
        except pl.exceptions.PolarsError:
            raise MeasureError.nameless(expression) from None
        if name in expressions:
            raise MeasureError.twice(name)
        expressions[name] = expression
    if not expressions:
        raise MeasureError.none_given()
    return expressions


def _warn_if_nothing_is_shared(pair: Pair, result: pl.DataFrame) -> None:
    """Warn of ids that probably differ in form: every figure would be 0, and look like a bad run."""
    if pair.qrels is None or result[HITS].any():
        return
    if pair.qrels.rows and pair.qrels.select("doc_id").drop_nulls().collect().is_empty():
        return  # the qrels say on purpose that nothing is relevant
    queries = pair.run.select("query_id").join(pair.qrels.select("query_id"), on="query_id", how="semi")
    shared = queries.head(1).collect().height > 0
    problem = "no retrieved document is judged for its query" if shared else "the run and the qrels share no query"
    role = "doc_id" if shared else "query_id"
    of_run, of_qrels = (_examples(table, role) for table in (pair.run, pair.qrels))
    warn(f"{problem}; ids of the run are {of_run}, of the qrels {of_qrels}.")


def _warn_of_nan(result: pl.DataFrame) -> None:
    """Warn of values that are no numbers, which every mean would carry on."""
    counts = result.select(cs.float().is_nan().sum()).to_dict(as_series=False)
    for name, (count,) in counts.items():
        if count:
            bad = result.filter(pl.col(name).is_nan())
            warn(
                f"{name!r} is NaN for {count} of {result.height} queries, the first being "
                f"{bad.item(0, bad.columns.index('query_id') if 'query_id' in bad.columns else 0)!r}: "
                "a column that it reads holds NaN or infinite values. Fill them, or leave those rows out."
            )


def _examples(table: Table, role: str) -> str:
    return (
        ", ".join(map(repr, table.select(role).drop_nulls().unique(maintain_order=True).head(3).collect()[role]))
        or "none at all"
    )
