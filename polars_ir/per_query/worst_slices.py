"""Slices of the queries in which a system is worse than on the rest.

Conventions: a slice shares no query with the rest. Undefined figures are null, and the row's note says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from typing import Any, NamedTuple, Unpack

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import Code, ColumnError, Fix, quoted
from polars_ir.frames.kinds import give_back
from polars_ir.frames.roles import note_of_structure
from polars_ir.frames.rules import distinguishing
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.options import public
from polars_ir.per_query.provenance import warn_of_several
from polars_ir.per_query.shared.attributes import QUERY, column_for
from polars_ir.per_query.shared.groups import Group, against_rest, all_others, shift_of, shrinkage, values_by
from polars_ir.per_query.shared.measures import Measures, Range, range_of
from polars_ir.per_query.shared.options import Slicing
from polars_ir.per_query.shared.paired import Scores, scores_of
from polars_ir.per_query.shared.queries import Queries, Systems, check_names, queries_of
from polars_ir.per_query.shared.sums import Source, as_texts, slice_moments
from polars_ir.per_query.shared.verdicts import check_correction, with_corrected_p

#: Number of queries up to which those of a rest are added up one after the other; more are sums of slices, to 1e-12.
IN_ORDER = 100_000

#: Columns after the systems, the deciding ones first: a terminal shows the first four and the last four.
COLUMNS = {
    "value": pl.String,
    "difference": pl.Float64,
    "significant": pl.Boolean,
    "p_corrected": pl.Float64,
    "n_queries": pl.UInt32,
    **dict.fromkeys(["shrunk_difference", "mean", "rest_mean", "low", "high", "statistic", "p"], pl.Float64),
    "n_rest": pl.UInt32,
    **dict.fromkeys(["attribute", "measure", "baseline", "note"], pl.String),
}


@public(Slicing)
def worst_slices(
    per_query: Table[FrameT],
    by: Any,
    measures: Measures = None,
    *,
    baseline: str | None = None,
    **options: Unpack[Slicing],
) -> FrameT:
    """Slices of the queries in which a system loses most against the rest of its queries, the worst first.

    The difference is mean(slice) - mean(all other queries): of the values or, with a baseline, of what a query gains or
    loses against it. Each column is examined by itself, so that there may be any number of them; a slice is all queries
    with one value in one column. Slices of different columns overlap.

    Interval and p compare two means of possibly different spread: Newcombe's, from Clopper and Pearson's exact
    intervals of shares, for the effective number of queries with all values at the ends. The ends are the lowest and
    highest possible value of the measure or, where unknown and with a baseline, the lowest and highest observed. A
    slice with few values off the end that its mean is near shows little of its spread, and is assumed to spread as all
    queries do, the more the fewer these are. p is 1 - the confidence of the interval that ends at 0. What is
    significant by chance, and which failures it cannot see, is in notebooks/evidence.md.

    Queries are treated as independent. There is no `cluster=`, since the queries of a topic may be in several slices:
    for variants of a topic, give the topics' means instead, as by `per_query.group_by("topic").agg(...)`.

    The worst of many slices looks worse than it is, since chance has chosen it too. `shrunk_difference` is shrunk as if
    the slices of a column were a sample: times t / (t + v / n), v being the variance within slices of n queries and t
    that of their true means, by the moments; null where each slice has one query.

    Parameters
    ----------
    by
        What queries are sliced by: columns of `per_query`, by name, or a frame with a query column and others. Columns
        that distinguish rankings of a query, such as nights of a benchmark, are keys of the result, and slices are
        those of each of their values: `["date", "category"]`.
    measures
        The measures to look at; without it, all numbers but the columns of `by`.
    baseline
        A system: the others are then ranked by their differences from it.

    Returns
    -------
    The kind of per_query
        The keys, if there are some; the column of systems, `value` (String), `difference` (Float64), `significant`
        (Boolean), `p_corrected` (Float64), `n_queries` (UInt32), `shrunk_difference`, `mean`, `rest_mean`, `low`,
        `high`, `statistic` (the width, in standard deviations, of the interval that ends at 0), `p` (Float64), `n_rest`
        (UInt32), `attribute`, `measure`, `baseline` and `note` (String, why there is no test). The worst difference of
        each system is first: the lowest, or of a cost (`Hole`) the highest. Rows without a test come last.

    Raises
    ------
    IRError
        For a query without a value of `by`, slices that share queries, several rows of a query that `by` does not
        distinguish, NaN values, and a LazyFrame with a baseline. Without one it is read by moments, to within 1e-12.

    References
    ----------
    Newcombe 1998, https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I; Korn & Graubard
    1998, Survey Methodology 24; Efron & Morris 1975, https://doi.org/10.1080/01621459.1975.10479864 (shrinking)

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
    return give_back(ranked_slices(per_query, by, measures, baseline, options), per_query)


def ranked_slices(
    per_query: Any, by: Any, measures: Measures, baseline: str | None, options: Slicing, source: Source | None = None
) -> pl.DataFrame:
    """Result of `worst_slices`; a `source` has the sums of a frame whose rows a plan stands for."""
    check_correction(options["correction"])
    if isinstance(per_query, pl.LazyFrame) and baseline is None:
        queries = queries_of(per_query, measures, by=by, needs="by", repeated=True)
        found = slice_moments(queries, source)[0].items()
        slices = [
            {"run": system, "baseline": None, "measure": measure, "scores": None, **each}
            for (system, attribute, measure), parts in sorted(found, key=lambda part: queries.slices.index(part[0][1]))
            for each in _of_moments(parts, all_others(list(parts.values())), attribute, range_of(measure))
        ]
        return _ranked(slices, queries, [], options)
    queries = queries_of(per_query, measures, by=by, needs="by", what="ir.worst_slices")
    warn_of_several(queries.table, queries.measures)
    names, keys = queries.measures, keys_among(queries)
    attributes = list(filterfalse(keys.__contains__, queries.slices))
    baseline = None if baseline is None else str(baseline)
    texts = as_texts(list(map(column_for, attributes)))
    if baseline is None:
        samples = _each_part(queries.each_system(per_query), keys)
    else:
        what = "ir.worst_slices(baseline=...)"
        scores = scores_of(per_query, names, options, by=by, what=what)
        pairs = scores.pairs(baseline, what)
        samples = [
            _Sample(part, system, frame, of_part)
            for part, of_part in replace(scores, slices=tuple(keys), note=None).each_slice()
            for system, frame in _each_difference(of_part, queries.slices, pairs)
        ]
    samples = [sample._replace(frame=sample.frame.with_columns(texts)) for sample in samples]
    slices = [
        {**sample.part, "run": sample.system, "baseline": baseline, "measure": measure, "scores": sample.scores, **each}
        for measure in names
        for sample in samples
        for attribute in attributes
        for each in _slices(sample.frame, measure, attribute, range_of(measure) if baseline is None else None)
    ]
    return _ranked(slices, queries, keys, options)


def _ranked(slices: Sequence[dict[str, Any]], queries: Queries, keys: Sequence[str], options: Slicing) -> pl.DataFrame:
    """The slices with their tests, the worst first."""
    groups = [each.pop("group") for each in slices]
    found = against_rest(groups, alpha=options["alpha"], least=options["min_queries"])
    systems = list(dict.fromkeys(each["run"] for each in slices))
    rows = sorted(map(_shrunk, slices, found), key=_worst_first(keys, queries.measures, systems))
    for row in rows:
        if (scores := row["scores"]) is not None:
            # Of the queries of all slices.
            pair = scores.index(row["run"]), scores.index(row["baseline"])
            row["note"] = "; ".join(filter(None, [row["note"], *scores.undefined(row["measure"], pair)])) or None
    others = sorted({*queries.table.columns}.difference(queries.table.keys, queries.slices))
    if said := note_of_structure(others, None):
        # There is no cluster= here to advise.
        rows = [{**row, "note": "; ".join(filter(None, (row["note"], said.split("; ")[0])))} for row in rows]
    schema: dict[str, Any] = {name: queries.table.dtypes[name] for name in keys}
    schema |= {"run": pl.String, **COLUMNS} if "run" in queries.systems else COLUMNS
    tests = with_corrected_p(rows, schema, "significant", options["correction"], options["alpha"])
    return tests.rename(queries.table.source_names, strict=False)


class _Sample(NamedTuple):
    """Queries of a system, of one value of keys if there are any, and the scores that they are differences of."""

    part: Mapping[str, Any]
    system: str | None
    frame: pl.DataFrame
    scores: Scores | None = None


def _each_part(systems: Systems, keys: Sequence[str]) -> list[_Sample]:
    if not keys:
        return [_Sample({}, system, frame) for system, frame in systems]
    return [
        _Sample(dict(zip(keys, part, strict=True)), system, rows)
        for system, frame in systems
        for part, rows in frame.partition_by(list(map(column_for, keys)), as_dict=True).items()
    ]


def keys_among(queries: Queries) -> list[str]:
    """The slices that distinguish rows of the same query and system, such as days; an error if no others are left."""
    if QUERY not in queries.table.dtypes:
        return []
    columns = {column_for(name): name for name in queries.slices}
    systems = [*queries.systems, QUERY]
    rows = queries.rows.select(*systems, *columns).collect()
    keys = [columns[column] for column in distinguishing(rows, systems, list(columns))]
    check_names(keys, ["run", *COLUMNS])
    if len(keys) == len(columns):
        of_time = queries.table.dtypes[keys[0]].is_temporal()
        instead = f"per_query.ir.drift({keys[0]!r})" if of_time else f"per_query.ir.compare(systems={keys[0]!r})"
        says = f"names {quoted(keys)}, whose values share queries, which slices must not."
        fix = Fix("Name what slices queries, too; to compare its values query by query there is", Code(instead))
        raise ColumnError(says, about="by", fix=fix)
    return keys


def _each_difference(scores: Scores, slices: Sequence[str], pairs: Sequence[tuple[int, int]]) -> Systems:
    """Differences of each system from the baseline, instead of its values."""
    attributes = scores.queries.select(pl.col(name).alias(column_for(name)) for name in slices).collect()
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


def _slices(frame: pl.DataFrame, measure: str, attribute: str, its: Range | None) -> list[dict[str, Any]]:
    """Slices of an attribute, each with its values and those of all other queries of a system."""
    column = column_for(attribute)
    names = frame[column].unique().sort().to_list()
    (values,) = values_by(frame, column, measure)
    shift = shift_of(frame[measure].min(), frame[measure].max()) if its is None else 0.0
    parts = [stats.Moments.of(values.get(name, ()), shift) for name in names]
    if frame.height > IN_ORDER:
        rests = all_others(parts)
    else:
        defined = frame.drop_nulls(measure)
        columns = [defined.filter(pl.col(column) != name)[measure] for name in names]
        rests = [stats.Moments.of(rest.cast(pl.Float64).to_numpy(), shift) for rest in columns]
    return _of_moments(dict(zip(names, parts, strict=True)), rests, attribute, its)


def _of_moments(
    parts: Mapping[Any, stats.Moments], rests: Sequence[stats.Moments], attribute: str, its: Range | None
) -> list[dict[str, Any]]:
    """Slices of an attribute, by their moments and those of all other queries."""
    return [
        {
            "attribute": attribute,
            "value": name,
            "shrunk_difference": share,
            "n_queries": part.n,
            "n_rest": rest.n,
            "group": Group(part, rest, its),
        }
        for (name, part), rest, share in zip(parts.items(), rests, shrinkage(list(parts.values())), strict=True)
    ]


def _shrunk(row: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    difference, share = found["difference"], row["shrunk_difference"]
    if share is None:
        unshrunk = "slices of one query each do not show how much of a difference is chance"
        found = {**found, "note": "; ".join(filter(None, (found["note"], unshrunk)))}
    # Adding 0.0 turns -0.0 into 0.0.
    shrunk = None if difference is None or share is None else difference * share + 0.0
    return {**row, **found, "shrunk_difference": shrunk}


def _worst_first(
    keys: Sequence[str], measures: Sequence[str], systems: Sequence[str | None]
) -> Callable[[dict[str, Any]], Any]:
    """Order of rows: within each block and system the worst difference first; untested ones last.

    To ten digits, since the last digits of a plan's sums vary from run to run; equal ones stay in the order of names.
    """

    def place(row: dict[str, Any]) -> Any:
        sign = -1 if is_cost(row["measure"]) else 1
        worse = row["p"] is None, row["difference"] is None, sign * float(f"{row['difference'] or 0:.9e}")
        part = [row[key] for key in keys]
        return part, measures.index(row["measure"]), systems.index(row["run"]), *worse

    return place
