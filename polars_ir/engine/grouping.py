"""From the judged relation to a row per system and query: all measures of a call in one `group_by`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
import polars.selectors as cs

from polars_ir.engine import tuning
from polars_ir.engine.bounds import Judging, judgings, with_bounds
from polars_ir.engine.needs import columns_named, reads_only_relevant
from polars_ir.engine.numbers import RANKING
from polars_ir.engine.pairing import Pair
from polars_ir.engine.ranking import Ties, reordered
from polars_ir.engine.relation import HITS
from polars_ir.errors import Code, Fix, MeasureError, option
from polars_ir.language.identity import Measured
from polars_ir.language.ties import with_weights
from polars_ir.language.words import average


def grouped_with_bounds(
    result: pl.LazyFrame,
    relation: pl.LazyFrame,
    pair: Pair,
    measures: Sequence[Measured],
    ties: Ties,
) -> pl.LazyFrame:
    """The result with the lowest and highest values of the measures, each under the judgings it calls for."""
    judged: dict[Judging, list[Measured]] = {}
    for measure in measures:
        for judging in judgings(measure.call):
            judged.setdefault(judging, []).append(measure)
    keys, values = _ranking_keys(relation, pair), []
    for judging, of_judging in judged.items():
        frame = reordered(judging.applied(relation, keys), pair.keys, ties)
        if RANKING in keys and all(map(reads_only_relevant, of_judging)):
            frame = _relevant(frame, pair)
        # Where nothing is relevant under one judging, something is under another.
        values.append(grouped(frame, pair, of_judging, 0.0).drop(HITS))
    return with_bounds(result, values, pair.run.keys)


def grouped(relation: pl.LazyFrame, pair: Pair, measures: Sequence[Measured], undefined: float | None) -> pl.LazyFrame:
    """A row per system and query, with the measures and whether a judged document was retrieved."""
    expressions = {measure.name: measure.expression for measure in measures}
    relation = with_weights(relation, columns_named(measures))
    keys = _ranking_keys(relation, pair)
    if RANKING in keys:
        result = _grouped_by_number(relation, pair, measures, keys)
    else:
        result = relation.group_by(keys).agg(*expressions.values(), pl.col(HITS).any())
    for name, dtype in _schema(result, relation, expressions).items():
        if dtype == pl.List:
            raise MeasureError(
                f"the measure {name!r} gives a list per query, not a value.",
                fix=Fix("Aggregate it", Code(".mean()"), ", .min() or .sum()"),
            )
    if undefined is not None:
        result = result.with_columns((cs.by_name(*expressions) & cs.float()).fill_null(undefined))
    return result if pair.keys == pair.run.keys else _over_judges(result, pair, expressions)


def _grouped_by_number(
    relation: pl.LazyFrame, pair: Pair, measures: Sequence[Measured], keys: list[str]
) -> pl.LazyFrame:
    """The measures of each ranking, those that read only relevant documents from the rows of these."""
    # A number is cheaper to group by than ids, which are the same in all rows of a ranking.
    ids = [pl.col(key).first() for key in pair.run.keys]
    expressions = {measure.name: measure.expression for measure in measures}
    apart = [measure.name for measure in measures if reads_only_relevant(measure)]
    if pair.rows < tuning.TUNING.apart or len(apart) in (0, len(measures)):
        return relation.group_by(keys).agg(*ids, *expressions.values(), pl.col(HITS).any()).drop(RANKING)
    of_all = (expression for name, expression in expressions.items() if name not in apart)
    of_relevant = _relevant(relation, pair).group_by(keys).agg(expressions[name] for name in apart)
    result = relation.group_by(keys).agg(*ids, *of_all, pl.col(HITS).any()).join(of_relevant, on=keys)
    return result.select(*dict.fromkeys([*pair.run.keys, *pair.keys]), *expressions, HITS)


def _relevant(relation: pl.LazyFrame, pair: Pair) -> pl.LazyFrame:
    """The rows of relevant documents, and one of each ranking, judge and subtopic, so that none is lost."""
    per = pair.qrels.per if pair.qrels else ()
    first = (pl.struct(RANKING, *per) if per else pl.col(RANKING)).is_first_distinct()
    return relation.filter((pl.col("relevance") > 0) | first)


def _ranking_keys(relation: pl.LazyFrame, pair: Pair) -> list[str]:
    """What tells apart the rankings of a relation: by number where there is one."""
    if RANKING not in relation.collect_schema():
        return pair.keys
    return [RANKING, *(key for key in pair.keys if key not in pair.run.keys)]


def _over_judges(result: pl.LazyFrame, pair: Pair, expressions: Mapping[str, pl.Expr]) -> pl.LazyFrame:
    """The mean of every measure over the judges of a query, added up in the order of the judges."""
    for name, dtype in result.collect_schema().items():
        if name in expressions and not (dtype.is_numeric() or dtype == pl.Boolean):
            raise MeasureError(
                f"the measure {name!r} is a text, and {option('judges')} makes means of numbers. Evaluate it in "
                "another call."
            )
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
                read = ", ".join(f"{column} ({schema[column]})" for column in expression.meta.root_names())
                problem = str(error).splitlines()[0]
                raise MeasureError(f"measure {name!r} can not be computed from {read}: {problem}") from None
        raise
