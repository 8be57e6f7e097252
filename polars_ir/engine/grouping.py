"""From the judged relation to a row per system and query: all measures of a call in one `group_by`."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import polars.selectors as cs

from polars_ir.engine.bounds import Judging, with_bounds
from polars_ir.engine.numbers import RANKING
from polars_ir.engine.pairing import Pair
from polars_ir.engine.ranking import Ties, reordered
from polars_ir.engine.relation import HITS
from polars_ir.errors import Code, Fix, MeasureError, option
from polars_ir.language.words import average


def grouped_with_bounds(
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
        values = [grouped(frame, pair, measures, 0.0).drop(HITS) for frame in judged]
        result = with_bounds(result, values, pair.run.keys)
    return result


def grouped(
    relation: pl.LazyFrame, pair: Pair, expressions: Mapping[str, pl.Expr], undefined: float | None
) -> pl.LazyFrame:
    """A row per system and query, with the measures and whether a judged document was retrieved."""
    if RANKING in relation.collect_schema():
        # A number is cheaper to group by than ids, which are the same in all rows of a ranking.
        ids = (pl.col(key).first() for key in pair.run.keys)
        by = [RANKING, *(key for key in pair.keys if key not in pair.run.keys)]
        result = relation.group_by(by).agg(*ids, *expressions.values(), pl.col(HITS).any()).drop(RANKING)
    else:
        result = relation.group_by(pair.keys).agg(*expressions.values(), pl.col(HITS).any())
    for name, dtype in _schema(result, relation, expressions).items():
        if dtype == pl.List:
            raise MeasureError(
                f"the measure {name!r} gives a list per query, not a value.",
                fix=Fix("Aggregate it", Code(".mean()"), ", .min() or .sum()"),
            )
    if undefined is not None:
        result = result.with_columns((cs.by_name(*expressions) & cs.float()).fill_null(undefined))
    return result if pair.keys == pair.run.keys else _over_judges(result, pair, expressions)


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
