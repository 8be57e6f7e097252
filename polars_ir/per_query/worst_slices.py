"""Slices of the queries in which a system is worse than on the rest.

Conventions: a slice shares no query with the rest, so that tests are unpaired. What is not defined is null, and the
row's note says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl
import polars.selectors as cs

from polars_ir.frames.kinds import Eager, give_back
from polars_ir.language.names import is_cost
from polars_ir.language.options import takes
from polars_ir.per_query.shared.aligned import Scores, Systems, aligned, scores_of
from polars_ir.per_query.shared.attributes import column_for
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import Slicing
from polars_ir.per_query.shared.tests import check_correction, how_corrected, how_tested, tested

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from polars_ir.statistics.randomisation import Draws, Floats

#: The columns behind `run`, the deciding ones first: a terminal shows the first four and the last four.
COLUMNS = {
    "value": pl.String,
    "difference": pl.Float64,
    "significant": pl.Boolean,
    "p_corrected": pl.Float64,
    "n_queries": pl.UInt32,
    **dict.fromkeys(["mean", "rest_mean", "low", "high", "statistic", "p"], pl.Float64),
    "n_rest": pl.UInt32,
    **dict.fromkeys(["attribute", "measure", "baseline", "note"], pl.String),
}


@takes(Slicing)
def worst_slices(
    per_query: Any,
    by: Any,
    measures: Measures = None,
    *,
    baseline: str | None = None,
    **options: Unpack[Slicing],
) -> Eager:
    """The slices of the queries in which a system loses most against the rest of its queries, the worst first.

    The difference is mean(slice) - mean(all other queries): of the values or, with a baseline, of what a query gains
    or loses against it. Each column is looked at by itself, so that there may be any number of them; a slice is all the
    queries with one value in one column. Slices of different columns overlap.

    Parameters
    ----------
    per_query
        What `evaluate` returned, of one system or of several.
    by
        What queries are sliced by: columns of `per_query`, by name, or a frame with a query column and others.
    measures
        The measures to look at; without it, all numbers but the columns of `by`.
    baseline
        A system: what is ranked is then how the others differ from it.

    Returns
    -------
    The kind of per_query
        `run` (if there is one), `value` (String), `difference` (Float64), `significant` (Boolean), `p_corrected`
        (Float64), `n_queries` (UInt32), `mean`, `rest_mean`, `low`, `high` (Welch's interval of the difference),
        `statistic`, `p` (Float64), `n_rest` (UInt32), `attribute` (the column that `value` is of), `measure`,
        `baseline` (null without) and `note` (String), why there is no test. Measures are in the order they have,
        systems in that of their names, or of the dict they came in; in them the worst difference is first: the lowest
        or, for a measure whose best value is its lowest (`Hole`), the highest. Rows without a test come last.

    Raises
    ------
    IRError
        For a query without a value of `by`; an unknown baseline, measure or option; NaN values; a LazyFrame.

    References
    ----------
    Welch 1947, https://doi.org/10.1093/biomet/34.1-2.28; Mann & Whitney 1947,
    https://doi.org/10.1214/aoms/1177730491

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> ids = [f"q{i}" for i in range(12)]
    >>> per_query = pl.DataFrame({"query_id": ids, "RR": [0.1, 0.2, 0.3, 0.2] + [0.8, 0.9, 1.0, 0.9] * 2})
    >>> languages = pl.DataFrame({"query_id": ids, "language": ["de"] * 4 + ["en"] * 4 + ["fr"] * 4})
    >>> slices = ir.worst_slices(per_query, languages, min_queries=4)
    >>> slices.select("value", pl.col("difference").round(3), "significant").rows()
    [('de', -0.7, True), ('en', 0.35, False), ('fr', 0.35, False)]
    """
    check_correction(options["correction"])
    queries = aligned(per_query, measures, by=by, needs="by", what="ir.worst_slices")
    names = queries.measures
    if baseline is None:
        samples, attributes = queries.each_system(per_query), queries.slices
    else:
        what = "ir.worst_slices(baseline=...)"
        scores = scores_of(per_query, names, options, by=by, what=what)
        samples, attributes = _each_difference(scores, scores.pairs(baseline, what)), scores.slices
    columns, without_text = cs.by_name(*map(column_for, attributes)), cs.duration() | cs.binary()
    texts = [(columns & cs.duration()).dt.to_string(), (columns & cs.binary()).bin.encode("hex")]
    texts.append((columns - without_text).cast(pl.String))
    samples = [(system, frame.with_columns(texts)) for system, frame in samples]
    parts = [
        (measure, system, [_Slices.of(frame, measure, attribute) for attribute in attributes])
        for measure in names
        for system, frame in samples
    ]
    family = len(samples) * sum(len(part.names) for part in parts[0][2])
    how = how_tested(options, family=family)
    permuted = _permuted(
        [part for *_, each in parts for part in each],
        how["test"],
        how["draws"],
    )
    rows = [
        {"run": system, "baseline": baseline, "measure": measure, **row}
        for measure, system, each in parts
        for row in _ranked((row for part in each for row in part.rows(next(permuted), **how)), measure)
    ]
    if baseline is not None:
        rows = [_with_notes(row, scores) for row in rows]
    schema = {"run": pl.String, **COLUMNS} if "run" in queries.systems else COLUMNS
    return give_back(tested(rows, schema, significant="significant", **how_corrected(options, how)), per_query)


def _each_difference(scores: Scores, pairs: Sequence[tuple[int, int]]) -> Systems:
    """The differences of each system from the baseline, in the place of its values."""
    attributes = scores.queries.select(pl.col(name).alias(column_for(name)) for name in scores.slices)
    return [
        (
            str(scores.systems[system]),
            attributes.with_columns(
                pl.Series(measure, values[:, system] - values[:, against], nan_to_null=True)
                for measure, values in scores.values.items()
            ),
        )
        for system, against in pairs
    ]


@dataclass(frozen=True)
class _Slices:
    """The queries of one system that have a value, in the slices of one attribute."""

    attribute: str
    names: Sequence[str]
    values: Floats
    numbers: NDArray[np.intp]

    @classmethod
    def of(cls, frame: pl.DataFrame, measure: str, attribute: str) -> _Slices:
        column = column_for(attribute)
        names = frame[column].unique().sort()
        numbers = pl.col(column).replace_strict(names, range(len(names)), return_dtype=pl.Int64)
        defined = frame.drop_nulls(measure).select(pl.col(measure).cast(pl.Float64), numbers)
        return cls(attribute, names.to_list(), defined[measure].to_numpy(), defined[column].to_numpy())

    def rows(self, p: Sequence[float | None], **options: Any) -> Iterator[dict[str, Any]]:
        """A row per slice; `p` is what random orders of the queries say of each."""
        from polars_ir.statistics.unpaired import group_against_rest

        for number, name in enumerate(self.names):
            inside = self.numbers == number
            group, rest = self.values[inside], self.values[~inside]
            figures = group_against_rest(group, rest, drawn_p=p[number], **options)
            counts = {"n_queries": len(group), "n_rest": len(rest)}
            yield {"attribute": self.attribute, "value": name, **figures, **counts}


def _permuted(parts: Sequence[_Slices], test: str, draws: Draws) -> Iterator[Sequence[float | None]]:
    """The p-values of the slices of each part by random orders of the queries, if that is the test."""
    import numpy as np

    from polars_ir.statistics.randomisation import permutation_p

    if test != "permutation":
        yield from ([None] * len(part.names) for part in parts)
        return
    # A slice whose queries all have no value is none of those that orders make.
    numbered = [np.unique(part.numbers, return_inverse=True) for part in parts]
    samples = [(part.values, numbers) for part, (_, numbers) in zip(parts, numbered, strict=True)]
    p_values = permutation_p(samples, draws)
    for part, (numbers, _), p in zip(parts, numbered, p_values, strict=True):
        of_slice: dict[int, float] = dict(zip(numbers.tolist(), p.tolist(), strict=True))
        yield [of_slice.get(number) for number in range(len(part.names))]


def _with_notes(row: dict[str, Any], scores: Scores) -> dict[str, Any]:
    """The row, whose note also counts the queries of all slices that are undefined for one of both systems only."""
    pair = scores.index(row["run"]), scores.index(row["baseline"])
    notes = [*([row["note"]] if row["note"] else []), *scores.undefined(row["measure"], pair)]
    return {**row, "note": "; ".join(notes) or None}


def _ranked(rows: Iterable[dict[str, Any]], measure: str) -> list[dict[str, Any]]:
    """The worst difference first, and behind all others those that could not be tested."""
    sign = -1 if is_cost(measure) else 1
    return sorted(rows, key=lambda row: (row["p"] is None, row["difference"] is None, sign * (row["difference"] or 0)))
