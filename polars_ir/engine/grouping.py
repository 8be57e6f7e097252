"""From the judged relation to a row per system and query: all measures of a call in one `group_by`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
import polars.selectors as cs

from polars_ir.engine import tuning
from polars_ir.engine.bounds import NONE_RELEVANT, Judging, judgings, with_bounds
from polars_ir.engine.evidence import FIRST, of_documents
from polars_ir.engine.in_memory import RANKING, Judgments, Rankings
from polars_ir.engine.needs import Needs, reads_only_relevant
from polars_ir.engine.ranking import reordered
from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.errors import Code, Fix, MeasureError, option
from polars_ir.language.catalog import CATALOG
from polars_ir.language.kinds import DOCUMENTS, kind_of
from polars_ir.language.names import ResolvedMeasure
from polars_ir.language.words import average

#: Number of the first ranking with the same rows: most short lists hold few judged documents, at few ranks.
ALIKE = "polars_ir: alike"

#: True for a ranking that the run has, a column of the relation of several systems; others are of missing queries.
ANSWERED = "polars_ir: answered"


def grouped_with_bounds(
    relation: pl.LazyFrame,
    pair: RunAndQrels,
    measures: Sequence[ResolvedMeasure],
    needs: Needs,
    undefined: float | None,
    marks: Mapping[str, pl.Expr],
) -> pl.LazyFrame:
    """As `grouped`, with the lowest and highest values of the measures, each under its own judgings."""
    judged: dict[Judging, list[ResolvedMeasure]] = {}
    keys, values = ranking_keys(relation, pair), []
    in_memory = RANKING in keys
    deepest = relation.select(pl.col("rank").max()).collect().item() if in_memory else None
    for measure in measures:
        ranges = (judging.within(deepest) if deepest else judging for judging in judgings(measure, needs.ties))
        for judging in dict.fromkeys(ranges):
            # Where no unjudged document is relevant, these have their actual values.
            if not (judging == NONE_RELEVANT and undefined == 0 and reads_only_relevant(measure)):
                judged.setdefault(judging, []).append(measure)
    # Joining by a number is cheaper than by ids, but the rankings of several judges become one.
    ids = [RANKING] if in_memory and not pair.splits else pair.run.keys
    ranked = reordered(relation, pair.keys, needs.ties)
    result = grouped(ranked, pair, measures, undefined, marks, unjudged=True, ids=[*ids, *pair.run.keys])
    by = pair.qrels.by if pair.qrels else pair.run.by
    for judging, of_judging in judged.items():
        frame = reordered(judging.applied(relation, keys, by), pair.keys, needs.ties)
        frame = needs.with_derived(frame, "grades", keys=keys)
        if relevant_only := in_memory and all(map(reads_only_relevant, of_judging)):
            frame = _relevant(frame, pair)
        # Where nothing is relevant under one judging, something is under another.
        values.append(grouped(frame, pair, of_judging, 0.0, relevant_only=relevant_only, unjudged=True, ids=ids))
    return with_bounds(result, values, ids).drop(RANKING, strict=False)


def grouped(
    relation: pl.LazyFrame,
    pair: RunAndQrels,
    measures: Sequence[ResolvedMeasure],
    undefined: float | None,
    marks: Mapping[str, pl.Expr] | None = None,
    *,
    relevant_only: bool = False,
    unjudged: bool = False,
    ids: Sequence[str] = (),
    no_list: Sequence[str] = (),
) -> pl.LazyFrame:
    """A row per system and query, with the measures and flags: whether something is true of any of its rows.

    With `relevant_only` the relation holds no more than measures that read only relevant documents need, and with
    `unjudged` also documents that no measure asks for. `ids` are the columns that identify a row; without them, those
    of system and query. Measures of `no_list` stay null where they are, whatever is undefined.
    """
    schema = relation.collect_schema()
    ids = list(dict.fromkeys([*(ids or pair.run.keys), *([ANSWERED] if marks and ANSWERED in schema else [])]))
    expressions = {measure.name: measure.expression for measure in measures}
    others = [mark.any().alias(name) for name, mark in (marks or {}).items()]
    keys, rankings = ranking_keys(relation, pair), None
    if ALIKE in schema:
        # One of several identical rankings is grouped, and the others take its values.
        rankings = relation.filter(_begins_ranking()).select(ALIKE, *ids)
        relation = relation.filter(pl.col(ALIKE) == pl.col(RANKING))
    elif RANKING in keys:
        # A number is cheaper to group by than ids, which are the same in all rows of a ranking.
        others.append(pl.col([key for key in ids if key != RANKING]).first())
    apart = _apart(relation, pair, measures, relevant_only=relevant_only, unjudged=unjudged)
    of_all = expressions.keys() - {name for names, _ in apart for name in names}
    result = relation.group_by(keys).agg(*others, *(expressions[name] for name in expressions if name in of_all))
    for names, rows in apart:
        result = result.join(rows.group_by(keys).agg(expressions[name] for name in names), on=keys)
    if rankings is not None:
        result = rankings.join(result, left_on=ALIKE, right_on=RANKING, how="left")
    if not are_ours(measures):
        _check_types(result, relation, expressions, averaged=bool(pair.splits))
    result = result.select(*dict.fromkeys([*ids, *pair.splits]), *expressions, *(marks or ()))
    if undefined is not None:
        filled = cs.by_name(*expressions) & cs.float()
        result = result.with_columns((filled - cs.by_name(*no_list) if no_list else filled).fill_null(undefined))
    if not pair.splits:
        return result
    # The mean over the judges of a query, added up in their order.
    means = (average(pl.col(name).cast(pl.Float64)).alias(name) for name in expressions)
    of_query = result.sort(pair.keys).group_by(pair.run.keys, maintain_order=True)
    return of_query.agg(*means, *(pl.col(name).any() for name in marks or ()))


def _apart(
    relation: pl.LazyFrame,
    pair: RunAndQrels,
    measures: Sequence[ResolvedMeasure],
    *,
    relevant_only: bool,
    unjudged: bool,
) -> list[tuple[list[str], pl.LazyFrame]]:
    """The measures that read other rows than all of the relation, and these rows, some of each ranking."""
    schema = relation.collect_schema()
    by_document = [FIRST in schema and kind_of(each.expression) is DOCUMENTS for each in measures]
    beyond = {"judged_elsewhere", *pair.extra_columns}
    judged = [False] * len(measures)
    if unjudged or not beyond.isdisjoint(schema):
        # Aggregations of a user's see the unjudged documents only if they name a column that these are there for.
        judged = [not (_is_ours(each) or beyond & {*each.expression.meta.root_names()}) for each in measures]
    groups: dict[tuple[bool, bool], list[str]] = {}
    for measure, is_by_document, is_judged in zip(measures, by_document, judged, strict=True):
        groups.setdefault((is_by_document, is_judged), []).append(measure.name)
    of_all = groups.pop((False, False), [])
    apart = []
    for (is_by_document, is_judged), names in groups.items():
        rows = of_documents(relation) if is_by_document else relation
        of_judged = pl.col("relevance").is_not_null() | pl.col("rank").is_null()
        apart.append((names, rows.filter(of_judged) if is_judged else rows))
    if FIRST in schema or RANKING not in schema or relevant_only or pair.rows < tuning.TUNING.apart:
        return apart
    # Measures that read only relevant documents have all they need in the rows of these.
    of_relevant = [each.name for each in measures if each.name in of_all and reads_only_relevant(each)]
    return [*apart, (of_relevant, _relevant(relation, pair))] if of_relevant else apart


def _is_ours(measure: ResolvedMeasure) -> bool:
    """True for a measure of the catalogue of the package."""
    info = CATALOG.get(measure.call.measure) if measure.call else None
    return info is not None and info.ours


def are_ours(measures: Sequence[ResolvedMeasure]) -> bool:
    """True for measures of the catalogue without expressions as arguments: numbers, the same for the same rows."""
    for measure in measures:
        if measure.call is None or not _is_ours(measure):
            return False
        if any(isinstance(argument, pl.Expr) for argument in measure.call.arguments.values()):
            return False
    return True


def seeks_alike(pair: RunAndQrels, judgments: Judgments, needs: Needs, measures: Sequence[ResolvedMeasure]) -> bool:
    """True where rankings have few rows in the relation, so that many are the same, as far as measures read them."""
    few = 0 < judgments.rows.height <= tuning.TUNING.alike * len(judgments.queries)
    read_alone = needs.columns.isdisjoint(pair.run.keys) and not (needs.whole or needs.unjudged or pair.splits)
    return few and read_alone and bool(measures) and are_ours(measures)


def with_alike(relation: pl.DataFrame, run: Rankings, pair: RunAndQrels) -> pl.DataFrame:
    """The relation with `ANSWERED` and `ALIKE`, by which each of several identical rankings is grouped once."""
    ranking = relation[RANKING]
    read = relation.select(cs.exclude(*pair.run.keys))
    if run.systems is not None:
        relation = relation.with_columns(run.answered()[ranking].alias(ANSWERED))
    # Zeros of both signs are grouped as one, but the sum of one zero has its sign.
    signed = any((1 / zeros.filter(zeros == 0) < 0).any() for zeros in read.select(cs.float()))
    if signed or not ranking.flags["SORTED_ASC"]:
        return relation
    # Rankings are the same where the lists of their rows' values are.
    lists = read.group_by(RANKING, maintain_order=True).agg(pl.all())
    first = lists.select(pl.col(RANKING).first().over(lists.columns[1:])).to_series()
    return relation.with_columns(first[ranking.rle_id()].alias(ALIKE))


def _check_types(
    result: pl.LazyFrame, relation: pl.LazyFrame, expressions: Mapping[str, pl.Expr], *, averaged: bool
) -> None:
    """Raise a `MeasureError` for a measure that is no value or, where it is averaged, no number."""
    schema = _schema(result, relation, expressions)
    for name in expressions:
        if schema[name] == pl.List:
            raise MeasureError(
                f"the measure {name!r} gives a list per query, not a value.",
                fix=Fix("Aggregate it, as in", Code(".mean()")),
            )
        if averaged and not (schema[name].is_numeric() or schema[name] == pl.Boolean):
            raise MeasureError(
                f"the measure {name!r} is a text, and {option('judges')} makes means of numbers. Evaluate it in "
                "another call."
            )


def _relevant(relation: pl.LazyFrame, pair: RunAndQrels) -> pl.LazyFrame:
    """Rows of relevant documents, and one or more of each ranking, judge and subtopic, so that none is lost."""
    # Measures of groups of evidence do not read the subtopics that the groups are made of.
    per = [name for name in pair.qrels.per if name in relation.collect_schema()] if pair.qrels else []
    first = pl.struct(RANKING, *per).is_first_distinct() if per else _begins_ranking()
    return relation.filter((pl.col("relevance") > 0) | first)


def _begins_ranking() -> pl.Expr:
    """True for a row of another ranking than the row before."""
    # Rows mostly come by ranking, and comparing with the row before costs a tenth of comparing all of them.
    ranking = pl.col(RANKING)
    return ranking.ne_missing(ranking.shift())


def ranking_keys(relation: pl.LazyFrame, pair: RunAndQrels) -> list[str]:
    """The columns that distinguish the rankings of a relation: their number where there is one."""
    return [RANKING, *pair.splits] if RANKING in relation.collect_schema() else pair.keys


def _schema(result: pl.LazyFrame, relation: pl.LazyFrame, expressions: Mapping[str, pl.Expr]) -> pl.Schema:
    """Schema of the result; a `MeasureError` for a measure that the columns' types do not allow."""
    try:
        return result.collect_schema()
    except pl.exceptions.PolarsError:
        for name, expression in expressions.items():
            try:
                relation.select(expression).collect_schema()
            except pl.exceptions.PolarsError as error:
                schema = relation.collect_schema()
                read = ", ".join(f"{column} ({schema[column]})" for column in expression.meta.root_names())
                of_columns = f" from {read}" if read else ""
                problem = str(error).splitlines()[0]
                raise MeasureError(f"measure {name!r} cannot be computed{of_columns}: {problem}") from None
        raise
