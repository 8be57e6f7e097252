"""`evaluate`: judge once, group once, one column per measure.

Conventions
    * A judged query that the run missed scores 0 and counts (`missing="zero"`, as `trec_eval -c`); `"skip"` leaves it
      out, trec_eval's default.
    * A query without a relevant document scores 0 (`undefined=0.0`); None makes it null, which every mean skips.
    * The rows of the result are sorted by system and query. Its figures are the same to the last bit whatever the
      order of the input, the engine or the number of threads.
    * In a labelled frame without document ids equal scores have no order: a measure is its mean over all orders, and
      one whose mean is not known needs `ties=` where the order matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, overload

import polars as pl

from polars_ir.engine.grouping import grouped, grouped_with_bounds
from polars_ir.engine.needs import Needs, needs_of
from polars_ir.engine.ranking import Ties, reordered
from polars_ir.engine.relation import HITS, collect_checked, judged_relation
from polars_ir.errors import MeasureError, OptionError, explain_options, option
from polars_ir.frames.columns import find
from polars_ir.frames.kinds import SameKind, give_back, to_polars
from polars_ir.language.catalog import CATALOG, spec_of
from polars_ir.language.identity import Measured
from polars_ir.language.names import Measures, resolve
from polars_ir.options import takes
from polars_ir.runs.caveats import ANSWERED, warn_of_grades, warn_of_plan, warn_of_result
from polars_ir.runs.options import Evaluating


@overload
def evaluate(run: pl.LazyFrame, qrels: Any, measures: Measures, **options: Unpack[Evaluating]) -> pl.LazyFrame: ...
@overload
def evaluate(run: pl.DataFrame, qrels: Any, measures: Measures, **options: Unpack[Evaluating]) -> pl.DataFrame: ...
@overload
def evaluate(run: Any, qrels: Any, measures: Measures, **options: Unpack[Evaluating]) -> Any: ...
@explain_options
@takes(Evaluating)
def evaluate(run: Any, qrels: Any, measures: Measures, **options: Unpack[Evaluating]) -> SameKind:
    """Measure a run against its judgments: one row per judged query, one column per measure.

    Parameters
    ----------
    run
        Polars DataFrame or LazyFrame, pandas, Arrow, a DuckDB relation, nested dicts `{query: {doc: score}}` or
        `{query: [doc, ...]}`, or a dict of systems `{name: run}`. With a `run` column every system is evaluated in the
        same pass.
    qrels
        The judgments, in the same kinds; None where the run has a relevance column of its own.
    measures
        Names in any dialect, expressions of this package, or any aggregation of the columns of `judge`; one or many.
        An aggregation that reads a column of the run sees the unjudged documents too, with null `relevance`.

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
    measured = resolve(measures)
    table = to_polars("run", run, column="score") if qrels is None else run
    ties = _ties(table, qrels, measured, options)
    needs = _needs(measured, options)
    if options["bounds"]:
        _check_names_of_bounds([measure.name for measure in measured])
    if ties == "expected":
        measured = [measure._replace(expression=_expectation(measure)) for measure in measured]
        needs = _needs(measured, options)._replace(ties=ties)
    pair, relation = judged_relation(table, qrels, measured, needs)
    if (judgments := pair.qrels or pair.run).eager:
        warn_of_grades(judgments, measured)
    ranked = relation if needs.kind == "preferences" else reordered(relation, pair.keys, ties)
    # Of a plan its own counts tell what the run answered; of a table in memory the run is asked, if need be.
    counted = not pair.run.eager and needs.kind != "preferences" and needs.counted and not needs.judged_only
    answered = [Measured(ANSWERED, (pl.col("n_retrieved").max() > 0).alias(ANSWERED), None)] if counted else []
    result = grouped(ranked, pair, [*measured, *answered], options["undefined"])
    if options["bounds"]:
        result = grouped_with_bounds(result, relation, pair, measured, ties)
    if options["missing"] == "skip":
        # Whether a query was answered is asked of the run itself: a condensed list can be empty. A semi-join with an
        # empty run, or a filter that Polars makes one of, does not run the plan that looks at the judgments.
        kept = "polars_ir: kept"
        marked = pair.run.select(*pair.run.keys).unique().with_columns(pl.lit(True).alias(kept))
        result = result.join(marked, on=pair.run.keys, how="left").filter(pl.col(kept).fill_null(False)).drop(kept)
    result = result.sort(pair.run.keys).rename({"query_id": pair.run.names["query_id"]})
    if not pair.run.eager:
        return warn_of_plan(result, pair, measured, missing=options["missing"])
    collected = collect_checked(pair, result)
    warn_of_result(collected, pair, measured, missing=options["missing"])
    return give_back(collected.drop(HITS), run)


def _ties(run: Any, qrels: Any, measures: Sequence[Measured], options: Evaluating) -> Ties:
    """The order of equal scores; all orders where documents have no ids, and every measure a mean over them."""
    if qrels is not None or options["ties"] != "doc_id" or not all(map(_is_expected, measures)):
        return options["ties"]
    has_ids = find("run", "doc_id", run.collect_schema().names()) is not None
    return "doc_id" if has_ids else "expected"


def _check_names_of_bounds(names: Sequence[str]) -> None:
    """Raise a `MeasureError` for a measure that is called like a bound of another."""
    if twice := [bound for name in names for bound in (f"{name} low", f"{name} high") if bound in names]:
        raise MeasureError.twice(twice[0])


def _needs(measures: Sequence[Measured], options: Evaluating) -> Needs:
    """What the measures need of the relation; an `OptionError` for options that do not go with them or each other."""
    ties, judges = options["ties"], options["judges"]
    if judges is not None and options["judged_only"]:
        raise OptionError(
            f"condenses one list for all judges; it does not go with {option('judges')}.",
            about=option("judged_only", True),
        )
    needs = needs_of(measures, ties=ties, judges=judges, judged_only=options["judged_only"], unjudged=options["bounds"])
    if needs.kind != "documents":
        if judges is not None:
            raise OptionError.not_for_kind(option("judges", judges), needs.kind)
        if options["bounds"] or ties == "expected":
            raise OptionError.not_for_kind(
                option("bounds", True) if options["bounds"] else option("ties", ties), needs.kind
            )
    return needs


def _is_expected(measure: Measured) -> bool:
    """Whether the mean of a measure over all orders of tied documents is known."""
    return measure.call is not None and spec_of(measure.call).expected is not None


def _expectation(measure: Measured) -> pl.Expr:
    """The mean of a measure over all orders of tied documents."""
    call = measure.call
    expected = spec_of(call).expected if call else None
    if call is None or expected is None:
        names = ", ".join(sorted(name for name, spec in list(CATALOG.items()) if spec.expected))
        mean, best, worst = (option("ties", rule) for rule in ("expected", "best", "worst"))
        raise MeasureError(
            f"the mean of {measure.name!r} over all orders of tied documents is not known; {mean} goes with "
            f"{names}. For others that rise with the grades, {best} and {worst} enclose it."
        )
    return expected(**call.arguments).alias(measure.name)
