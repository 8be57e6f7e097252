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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any, Unpack

import polars as pl

from polars_ir.engine.grouping import grouped, grouped_with_bounds
from polars_ir.engine.needs import Needs, needs_of
from polars_ir.engine.ranking import reordered
from polars_ir.engine.relation import collect_checked, given_back, judged_relation
from polars_ir.engine.run_and_qrels import RunAndQrels, of_systems
from polars_ir.errors import MeasureError, OptionError, option
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.judgments import TABLES
from polars_ir.frames.kinds import has_column, to_polars
from polars_ir.frames.provenance import hashes_of, with_provenance
from polars_ir.frames.roles import PROVENANCE, QUERY_HASH, find
from polars_ir.frames.table import same_types
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.budget import WITHIN
from polars_ir.language.catalog import CATALOG, info_of
from polars_ir.language.kinds import GROUP, PROBABILITY, STRATUM
from polars_ir.language.measure import of_part
from polars_ir.language.names import Measures, ResolvedMeasure, resolve, sql_names
from polars_ir.language.options import each_once, options_of, public
from polars_ir.language.words import Ties
from polars_ir.runs.coverage import strictly
from polars_ir.runs.lists import TABLES_OF_LISTS, as_text, check_options, reads_no_judgments, related, with_lists
from polars_ir.runs.options import Evaluating
from polars_ir.runs.pooled import with_pooled
from polars_ir.runs.selection import excluded_as_text, selected_with_keys
from polars_ir.runs.table_warnings import warn_of_tables
from polars_ir.runs.warnings import Warner, marks_of, warned, warner, with_warnings


@public(Evaluating)
def evaluate(
    run: Table[FrameT], qrels: Any = None, measures: Measures | None = None, **options: Unpack[Evaluating]
) -> FrameT:
    """Measure a run against its judgments: one row per judged query, one column per measure.

    Parameters
    ----------
    run
        Polars DataFrame or LazyFrame, pandas, Arrow, a DuckDB relation, nested dicts `{query: {doc: score}}` or
        `{query: [doc, ...]}`, or a dict of systems `{name: run}`. With a `run` column every system is evaluated in the
        same pass. A LazyFrame whose rankings stand together, as `set_sorted("query_id")` or
        `set_sorted("run", "query_id")` says, is evaluated in portions, whose results come as they are made.
    qrels
        The judgments, in the same kinds; None where the run has a relevance column of its own, or the measures alone.
        A LazyFrame with `set_sorted("query_id")` is read in step with such a run without a column of systems.
    measures
        Names in any dialect, expressions of this package, or any aggregation of the columns of `judge`; one or many.
        An aggregation that reads a column of the run sees the unjudged documents too, with null `relevance`; others
        see the judged ones alone, whatever else the call measures.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, nothing collected; pandas for pandas)
        The keys of `by`, the columns of systems (String, if the run has several; `run` for a dict) and of queries under
        their names in the run, and a column per measure (Float64; counts are Int64), sorted by keys, system and query.

    Warns
    -----
    IRWarning
        For a result that is probably unintended: ids that never match, a run that answers fewer than half of the
        queries, grades that no measure finds relevant, a run and judgments, or a rank and a score, that look like each
        other, NaN, days or tenants that are pooled into one ranking, days without judgments, judges of unlike queries.
        For a LazyFrame the first comes when the plan runs, by any engine, and so does the second if a measure reads the
        number of retrieved documents; warnings of grades need the judgments in memory, and there is none of NaN. In
        portions they come after the last, so not where only the first rows are read.

    Raises
    ------
    IRError
        For invalid tables, measures or options; the message says which and what to do. Invalid rows of a LazyFrame
        raise a Polars error with our message when it is collected.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d7": 0.2}}
    >>> qrels = {"q1": {"d2": 1}, "q2": {"d7": 2}, "q3": {"d1": 1}}
    >>> ir.evaluate(run, qrels, ["nDCG@10", "RR", (1 / ir.rank).max().alias("mine")]).rows()
    [('q1', 0.6309297535714574, 0.5, 0.5), ('q2', 1.0, 1.0, 1.0), ('q3', 0.0, 0.0, 0.0)]
    """
    if measures is None:
        qrels, measures = None, qrels
    plan, pair, measured = _planned(run, qrels, resolve(measures), options)
    return given_back(pair, plan, run, partial(warned, pair=pair, measures=measured, missing=options["missing"]))


@public(Evaluating)
def evaluate_collected(run: Any, qrels: Any, measures: Measures, **options: Unpack[Evaluating]) -> pl.DataFrame:
    """The result of `evaluate` in memory, also of a LazyFrame, with the warnings that depend on its rows."""
    plan, pair, measured = _planned(run, qrels, resolve(measures), options, marked=True)
    return warned(collect_checked(pair, plan), pair, measured, missing=options["missing"])


def resolved(
    run: Any, qrels: Any, measured: list[ResolvedMeasure], options: Evaluating
) -> tuple[Any, list[ResolvedMeasure], Needs]:
    """The run, the measures and their needs; an `OptionError` for options that conflict with these or each other."""
    tables = list(compress(TABLES_OF_LISTS, (options["history"] is not None, options["items"] is not None)))
    ties, judges, judged_only = options["ties"], options["judges"], options["judged_only"]
    if qrels is None and not (tables and reads_no_judgments(measured)):
        run = to_polars("run", run, column="score")
        ties = _ties_of_labelled(run, measured, ties)
    if judges is not None and judged_only:
        says = f"condenses one list for all judges; it does not go with {option('judges')}."
        raise OptionError(says, about=option("judged_only", True))
    measured = _estimates(measured, run if qrels is None else qrels, options)
    by = each_once(options["by"])
    if judges is not None and judges in by:
        says = f"names {judges!r}, as {option('judges')} does; name it in one of them: {option('judges', judges)} for"
        raise OptionError(f"{says} the mean over judges, {option('by', judges)} for each.", about=option("by"))
    of_call: Any = {"ties": ties, "judges": judges, "judged_only": judged_only, "unjudged": options["bounds"], "by": by}
    of_call["tables"] = tables
    needs = needs_of(measured, **of_call)
    if tables:
        check_options(needs, options)
    if options["bounds"] and needs.budgets:
        raise OptionError("does not go with a budget.", about=option("bounds", True))
    if needs.kind.refuses:
        values = {"judges": judges, "bounds": options["bounds"], "judged_only": judged_only}
        values["ties"] = "expected" if ties == "expected" else None
        for name, value in values.items():
            if value and name in needs.kind.refuses:
                of_groups = GROUP in needs.columns and needs.kind.part not in needs.columns
                kind = "groups of evidence" if of_groups else needs.kind.name
                raise OptionError.not_for_kind(option(name, value), kind)
    if ties == "expected":
        measured = [measure._replace(expression=_expectation(measure)) for measure in measured]
        needs = needs_of(measured, **of_call)
    return run, measured, needs


def _ties_of_labelled(run: pl.DataFrame | pl.LazyFrame, measured: Sequence[ResolvedMeasure], ties: Ties) -> Ties:
    """The order of ties of a labelled run: all, where documents have no ids, and every measure has a mean over them."""
    if ties != "doc_id" or has_column(run, PROBABILITY):
        return ties
    if not all(each.call and info_of(each.call).expected for each in measured):
        return ties
    return "expected" if find("run", "doc_id", run.collect_schema().names()) is None else ties


def _estimates(measured: list[ResolvedMeasure], judgments: Any, options: Evaluating) -> list[ResolvedMeasure]:
    """The measures, of judgments that are a sample as estimates with their standard errors."""
    if not has_column(judgments, PROBABILITY):
        return measured
    from polars_ir.runs.samples import of_sample

    return of_sample(measured, judgments, options)


def _of_sample(
    relation: pl.LazyFrame, pair: RunAndQrels, measured: list[ResolvedMeasure], needs: Needs, options: Evaluating
) -> tuple[pl.LazyFrame, list[ResolvedMeasure], Sequence[str]]:
    """The judged relation of a sample with its estimates, the measures that read these, and the names of errors."""
    if needs.columns.isdisjoint((PROBABILITY, STRATUM)):
        return relation, measured, ()
    from polars_ir.runs.samples import check_whole, estimated_sample

    if STRATUM in needs.columns and (options["bounds"] or options["judged_only"]):
        check_whole({**options}, "bounds", "judged_only")
    return estimated_sample(relation, pair, measured, needs)


def _selected(run: Any, qrels: Any, options: Evaluating) -> tuple[Any, Any, list[str]]:
    """The run and its judgments as some options leave them, with those keys that only the judgments had."""
    if options["exclude"] is None and options["duplicates"] == "error" and options["by"] is None:
        return run, qrels, []
    return selected_with_keys(run, qrels, options, each_once(options["by"]))


def _planned(
    run: Any,
    qrels: Any,
    measures: list[ResolvedMeasure],
    options: Evaluating,
    *,
    marked: bool = False,
    of_portion: bool = False,
) -> tuple[pl.LazyFrame, RunAndQrels, list[ResolvedMeasure]]:
    """The result as a plan; in memory, or `marked`, with columns for the warnings that depend on its rows.

    That `of_portion` warns of nothing: its tables are parts of others.
    """
    run, qrels, only_judged = _selected(run, qrels, options)
    run, measured, needs = resolved(run, qrels, measures, options)
    has_tables = options["history"] is not None or options["items"] is not None
    beside = related(run, qrels, measured, needs, options) if has_tables else None
    pair, relation = beside[:2] if beside else judged_relation(run, qrels, measured, needs)
    if only_judged:
        pair = replace(pair, only_judged=only_judged)
    relation, estimates, errors = _of_sample(relation, pair, measured, needs, options)
    if not of_portion and (marked or pair.judgments.eager):
        warn_of_tables(run, pair, measured)
    by_grade = needs.kind.by_document and needs.ties in ("best", "worst")
    marks: dict[str, Any] = marks_of(pair, needs) if pair.qrels else {}
    undefined = options["undefined"]
    if options["bounds"]:
        names = [measure.name for measure in measured]
        if twice := [part for name in names for part in (of_part(name, "low"), of_part(name, "high")) if part in names]:
            raise MeasureError.twice(twice[0])
        result = grouped_with_bounds(relation, pair, measured, needs, undefined, marks)
    else:
        ranked = reordered(relation, pair.keys, needs.ties) if by_grade else relation
        judged, no_list = (beside.judged, beside.no_list) if beside else (estimates, errors)
        result = grouped(ranked, pair, judged, undefined, marks, relevant_only=needs.relevant_only, no_list=no_list)
    if beside and needs.lists:
        result, marks = with_lists(result, measured, needs, beside, marks)
    result = _of_queries(result, pair, options)
    if options["provenance"]:
        # For other kinds the pair has the documents alone, without their judgments.
        hashed = pair.qrels if needs.kind.by_document else TABLES[needs.kind.name](qrels, by=needs.by)
        texts = as_text(beside.catalogue, needs) if beside else {}
        result = _with_provenance(result, pair, hashed, measured, {**options, "ties": needs.ties, **texts})
    if len(pair.run.columns) > len(pair.run.names):
        result, marks = with_pooled(result, pair.run, needs.columns, marks)
    columns = pair.run.source_names
    if options["names"] == "sql":
        columns |= sql_names(result.collect_schema(), measured, pair.run.by)
    result = result.sort(pair.run.keys).rename(columns)
    if not pair.run.eager:
        warn = warner(pair, measured, missing=options["missing"]) if marks and not marked else None
        result = _of_plan(result, (run, qrels, measures), pair, needs, options, marks, warn)
    return result, pair, measured


def _of_queries(result: pl.LazyFrame, pair: RunAndQrels, options: Evaluating) -> pl.LazyFrame:
    """The result for the queries that it is to have."""
    answered = options["missing"] == "skip"
    if answered or (pair.qrels and pair.qrels.by):
        result = of_systems(result, pair, answered=answered)
    return strictly(result, pair, missing=options["missing"]) if options["strict"] else result


def _of_plan(
    result: pl.LazyFrame,
    given: tuple[Any, Any, list[ResolvedMeasure]],
    pair: RunAndQrels,
    needs: Needs,
    options: Evaluating,
    marks: Mapping[str, Any],
    warn: Warner | None,
) -> pl.LazyFrame:
    """The result of a plan, which issues its warnings, if it is to; in portions, where `given` are known to be sorted.

    Each portion is evaluated as a run in memory.
    """
    from polars_ir.runs.portions import Portions, order_of

    run, qrels, measures = given
    order, table = order_of(run, qrels, pair, needs, options), pair.qrels
    if not order or table is None:
        return with_warnings(result, pair, marks, warn) if warn else result
    if table.eager:
        # No column is copied.
        query, judgments = "query_id", table.all_columns().collect(engine="in-memory")
    else:
        query = table.names["query_id"]
        judgments = qrels.with_columns(pl.col(query).cast(table.dtypes["query_id"]))
    own, grade = pair.run.source_names, pl.col("relevance")
    # Bounds read the highest grade of all queries; they are not in portions where judgments are a plan.
    highest = judgments.filter(grade == grade.max()).head(1) if options["bounds"] else None

    def evaluate_portion(rows: pl.DataFrame, its: pl.DataFrame) -> pl.DataFrame:
        others = None if highest is None else highest.join(its, on="query_id", how="anti")
        judged = its if others is None else pl.concat([its, others])
        plan, of_rows, _ = _planned(rows, judged, measures, options, marked=True, of_portion=True)
        found = collect_checked(of_rows, plan)
        return found if others is None else found.join(others, left_on=own["query_id"], right_on="query_id", how="anti")

    read = {*pair.run.names.values(), *columns_read(measures)}
    rows = run.select(name for name in run.collect_schema() if name in read)
    names = {pair.run.names[key]: own[key] for key in pair.run.keys}
    portions = Portions(rows, order, names, judgments, query, options["missing"], evaluate_portion, warn)
    columns = result.drop(marks) if warn else result
    return portions.plan(columns.collect_schema())


def _with_provenance(
    result: pl.LazyFrame,
    pair: RunAndQrels,
    judgments: CanonicalFrame | None,
    measured: list[ResolvedMeasure],
    options: Mapping[str, Any],
) -> pl.LazyFrame:
    """The result with columns of its provenance."""
    if twice := [measure.name for measure in measured if measure.name in (PROVENANCE, QUERY_HASH)]:
        raise MeasureError.twice(twice[0])
    run, qrels = (pair.run, None) if judgments is None else same_types(pair.run, judgments)
    judged = None if qrels is None else pair.kept(("hashes",), lambda: hashes_of(qrels))
    return with_provenance(result, run, qrels, judged, made_with(measured, options), columns_read(measured))


def made_with(measured: Sequence[ResolvedMeasure], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that figures depend on beside run and judgments, and the measure of each column."""
    made = {name: options[name] for name, record in options_of(Evaluating).items() if record.changes_figures}
    made["exclude"] = excluded_as_text(options["exclude"])
    measures = {m.name: info_of(m.call).column(m.call.arguments) if m.call else None for m in measured}
    return {**made, "measures": measures}


def columns_read(measured: Sequence[ResolvedMeasure]) -> set[str]:
    """The columns that measures name, also as the costs of a budget."""
    names = {name for measure in measured for name in measure.expression.meta.root_names()}
    return names | {WITHIN.parameters(name).cost for name in filter(WITHIN.is_named, names)}


def _expectation(measure: ResolvedMeasure) -> pl.Expr:
    """Mean of a measure over all orders of tied documents."""
    call = measure.call
    expected = info_of(call).expected if call else None
    if call is None or expected is None:
        names = ", ".join(sorted(name for name, info in list(CATALOG.items()) if info.expected))
        mean, best, worst = (option("ties", rule) for rule in ("expected", "best", "worst"))
        raise MeasureError(
            f"the mean of {measure.name!r} over all orders of tied documents is not known; {mean} goes with "
            f"{names}. For others that rise with the grades, {best} and {worst} enclose it."
        )
    return expected(**call.arguments).alias(measure.name)
