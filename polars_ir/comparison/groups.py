"""Groups of different queries side by side: what there is to compare, and with which options.

Conventions: the values of each system are a frame by themselves, with a row per query, in the order of the ids. All
comparisons of a measure are one family for the correction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import polars as pl

from polars_ir.attributes import with_attributes
from polars_ir.errors import DataError, InputTypeError, OptionError
from polars_ir.extras import require
from polars_ir.samples import check_numbers, named_in
from polars_ir.schema import Table
from polars_ir.summary import measures_of

#: The tests of two groups of queries.
TESTS = ("t", "mann-whitney", "permutation")

Test = Literal["t", "mann-whitney", "permutation"]
Measures = str | pl.Expr | Iterable[str | pl.Expr] | None

#: The values of systems, by their names; one without a name is alone.
Samples = list[tuple[str | None, pl.DataFrame]]


def checked_options(
    what: str, test: object, correction: object, alpha: object, min_queries: object, resamples: object, seed: object
) -> dict[str, Any]:
    """The options of a test of two groups, checked."""
    require("stats", what)
    from polars_ir.statistics.significance import CORRECTIONS

    for option, value, choices in (("test", test, TESTS), ("correction", correction, (None, *CORRECTIONS))):
        if value not in choices:
            raise OptionError.value(option, value, choices)
    if not isinstance(alpha, (int, float)) or not 0 < alpha < 1:
        raise OptionError(f"alpha must be between 0 and 1, both excluded; got {alpha!r}.")
    for option, number, least in (("min_queries", min_queries, 2), ("resamples", resamples, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise OptionError(f"{option} must be a whole number from {least} on; got {number!r}.")
    return {"test": test, "confidence": 1 - alpha, "least": min_queries, "resamples": resamples, "seed": seed}


def measures_in_memory(per_query: Any, measures: Measures, by: Any, what: str) -> tuple[Table, list[str]]:
    """A per-query frame in memory, and its measures that are looked at."""
    table, names = measures_of(per_query, measures, without=named_in(by))
    if not table.eager:
        raise InputTypeError.lazy(what)
    rows = table.all_columns().collect()
    if rows.is_empty():
        raise DataError("per_query has no row, and so no queries to compare; it must have some.")
    check_numbers(rows, names, table)
    return table, names


def each_system(table: Table, by: Any) -> tuple[Samples, list[str]]:
    """The values of each system with the attributes of the queries, and what these are called."""
    rows, attributes = with_attributes(table, by, "by")
    frame = rows.sort("query_id").collect()
    if "run" not in table.dtypes:
        return [(None, frame)], attributes
    systems = table.select("run").collect()["run"].unique(maintain_order=True)
    return [(str(system), frame.filter(pl.col("run") == system)) for system in systems], attributes


def tested(
    families: Iterable[Sequence[Mapping[str, Any]]],
    schema: Mapping[str, Any],
    *,
    significant: str,
    correction: str | None,
    alpha: float,
) -> pl.DataFrame:
    """The comparisons of each measure as rows, with their p corrected; `significant` names the verdict."""
    from polars_ir.statistics.significance import corrected

    rows = [
        {**row, "p_corrected": p, significant: None if p is None else p <= alpha}
        for family in families
        for row, p in zip(family, corrected([row["p"] for row in family], correction, alpha=alpha), strict=True)
    ]
    return pl.DataFrame(rows, schema=schema)
