"""A measure of many alternatives to the real rankings or judgments, each slightly different, at once.

Conventions: an alternative is a row with the ids of the rankings it concerns, whose relation is repeated for it.
Alternatives are taken in chunks, which limits the number of rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import polars as pl
import polars.selectors as cs

from polars_ir.engine.grouping import grouped
from polars_ir.engine.needs import RELATION, needs_of
from polars_ir.engine.ranking import reordered
from polars_ir.engine.relation import judged_relation
from polars_ir.engine.run_and_qrels import RunAndQrels, of_systems
from polars_ir.errors import MeasureError, OptionError
from polars_ir.frames.judgments import check_whole
from polars_ir.frames.kinds import holds_systems, to_polars
from polars_ir.frames.systems import named_by_text
from polars_ir.language.kinds import kind_of
from polars_ir.language.names import Measures, ResolvedMeasure, arguments_behind, resolve_one
from polars_ir.language.words import Ties
from polars_ir.runs.table_warnings import warn_of_grades

#: Maximum number of rows that the alternatives of a chunk make.
MOST_ROWS = 250_000

#: True for the rows that `evaluate` measures: judged documents or, if the measure reads the run, all.
MEASURED = "polars_ir: measured"

#: Decimals that differences of two values are rounded to.
DECIMALS = 15

#: A run in any form as Polars frames.
Frames = pl.DataFrame | pl.LazyFrame | dict[str, pl.DataFrame | pl.LazyFrame]


def one_measure(measure: Measures, what: str, qrels: object = (), *, of_parts: bool = True) -> ResolvedMeasure:
    """The one measure of a call of `what`, of a query's documents, or with `of_parts` of subtopics and the like."""
    measured = resolve_one(measure, what)
    kind = kind_of(measured.expression)
    if not kind.by_document or (kind.part and not of_parts):
        raise OptionError.not_for_kind(what, kind.name)
    if qrels is None:
        raise OptionError(f"{what} needs qrels, by which runs are measured; got None.")
    if "judged_elsewhere" in measured.expression.meta.root_names():
        raise MeasureError(
            f"{what} evaluates queries separately; {measured.name!r} reads the judgments of others. Take Judged or unj."
        )
    return measured


def cutoff_of(measure: ResolvedMeasure) -> int | None:
    """The cutoff of the measure, if it has one."""
    k = arguments_behind(measure).get("k")
    return int(k) if isinstance(k, Integral) else None


def frames_of(run: Any) -> Frames:
    """A run in any form as a Polars frame, or one for each system."""
    if isinstance(run, Mapping) and holds_systems(run):
        return {system: to_polars("run", frame, column="score") for system, frame in named_by_text(run).items()}
    return to_polars("run", run, column="score")


def in_memory(runs: Frames) -> Frames:
    """The runs with their rows, which are read more than once, and shown where they cannot be evaluated."""
    if isinstance(runs, dict):
        return {system: frame.lazy().collect() for system, frame in runs.items()}
    return runs.lazy().collect()


def check_number(measure: ResolvedMeasure, schema: pl.Schema) -> None:
    """Raise a `MeasureError` for a measure that is no number in the schema of a result."""
    dtype = schema[measure.name]
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise MeasureError(f"the measure {measure.name!r} must be a number; it is {dtype}.")


def relation_of(
    run: Frames,
    qrels: Any,
    measure: ResolvedMeasure,
    *,
    ties: Ties = "doc_id",
    judged_only: bool = False,
    by: Sequence[str] = (),
) -> tuple[RunAndQrels, pl.LazyFrame]:
    """The relation with all documents, judged or not, and whether the measure reads them all (`MEASURED`)."""
    check_whole(run if qrels is None else qrels, about="run" if qrels is None else "qrels")
    needs = needs_of([measure], ties=ties, judged_only=judged_only, unjudged=True, by=by)._replace(whole=True)
    pair, relation = judged_relation(run, qrels, [measure], needs)
    relation = of_systems(relation, pair)
    warn_of_grades(pair, [measure])
    of_all = not set(measure.expression.meta.root_names()).isdisjoint(pair.extra_columns)
    # A query without a judged document has a row without document and rank.
    measured = pl.lit(True) if of_all else pl.col("relevance").is_not_null() | pl.col("rank").is_null()
    relation = reordered(relation, pair.keys, ties)
    check_number(measure, grouped(relation, pair, [measure], undefined=None).collect_schema())
    # Unread columns may have the names of columns computed from the relation.
    read = {*pair.keys, *pair.splits, *RELATION, *measure.expression.meta.root_names()}
    return pair, relation.select(cs.by_name(*read, require_all=False), measured.alias(MEASURED))


def values_of(
    measure: ResolvedMeasure,
    relation: pl.DataFrame,
    alternatives: pl.DataFrame,
    *,
    on: Sequence[str],
    by: Sequence[str],
    changed: Callable[[pl.LazyFrame], pl.LazyFrame],
) -> pl.DataFrame:
    """The measure, as `value`, for every alternative, which is joined `on` some ids and `changed` into its relation.

    `by` are the keys of a ranking under one alternative.
    """
    value = measure.expression.cast(pl.Float64).alias("value")
    parts = [
        changed(part.lazy().join(relation.lazy(), on=on)).group_by(by).agg(value)
        for part in _parts(alternatives, relation, on)
    ]
    # One after the other: their rows must not be in memory together.
    values = pl.concat([part.collect(engine="in-memory") for part in parts])
    if values["value"].is_nan().any():
        raise MeasureError(
            f"the measure {measure.name!r} is NaN for some rankings it would be compared with, by values "
            "that are NaN or infinite or by a division by 0. Fill them, or leave those rows out; divide by ir.ratio."
        )
    return values


def _parts(alternatives: pl.DataFrame, relation: pl.DataFrame, on: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Chunks of the alternatives, none of which makes many more rows than `MOST_ROWS`."""
    size, part = "polars_ir: size", "polars_ir: part"
    sizes = relation.group_by(on).agg(pl.len().cast(pl.Int64).alias(size))
    sized = alternatives.join(sizes, on=on, maintain_order="left")
    numbered = sized.select(*alternatives.columns, (pl.col(size).cum_sum() // MOST_ROWS).alias(part))
    yield from numbered.partition_by(part, include_key=False, maintain_order=True) or [alternatives]
