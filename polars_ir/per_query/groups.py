"""Groups of different queries side by side: what there is to compare, and with which options.

Conventions: the values of each system are a frame by themselves, with a row per query, in the order of the ids. All
comparisons of a measure are one family for the correction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import InputTypeError, OptionError
from polars_ir.extras import require
from polars_ir.frames.table import Table
from polars_ir.per_query.attributes import with_attributes
from polars_ir.per_query.columns import Measures, measures_of
from polars_ir.per_query.options import Grouping
from polars_ir.per_query.samples import check_numbers, named_in
from polars_ir.per_query.scores import check_ids, systems_of
from polars_ir.values import check, one_of, or_none

#: The values of systems, by their names; one without a name is alone.
Samples = list[tuple[str | None, pl.DataFrame]]


def check_testing(what: str, correction: object) -> None:
    """Raise an error unless there is what tests need, and this is a correction."""
    require("stats", what)
    check_correction(correction)


def how_tested(options: Grouping, *, family: int) -> dict[str, Any]:
    """What a test of two groups is told, which is one of a family of so many."""
    from polars_ir.statistics.randomisation import resamples_for

    drawn = options["resamples"] or resamples_for(family if options["correction"] else 1, options["alpha"])
    return {
        "test": options["test"],
        "confidence": 1 - options["alpha"],
        "least": options["min_queries"],
        "resamples": drawn,
        "seed": options["seed"],
    }


def how_corrected(options: Grouping, how: Mapping[str, Any]) -> dict[str, Any]:
    """What the correction of all tests of a measure is told."""
    drawn = how["resamples"] if options["test"] == "permutation" else None
    return {"correction": options["correction"], "alpha": options["alpha"], "resamples": drawn}


def check_correction(correction: object) -> None:
    """Raise an `OptionError` unless this is a correction by one of its names, or None."""
    from polars_ir.statistics.significance import CORRECTIONS, MAIN_CORRECTIONS

    if isinstance(correction, str) and correction in CORRECTIONS:
        return
    try:
        check("correction", correction, or_none(one_of(*MAIN_CORRECTIONS)))
    except OptionError as error:
        if (meant := f"fdr_{correction}").lower() in MAIN_CORRECTIONS:
            error.near = f"Did you mean {meant!r}?"
        raise


def measures_in_memory(per_query: Any, measures: Measures, by: Any, what: str) -> tuple[Table, list[str]]:
    """A per-query frame in memory, and its measures that are looked at."""
    table, names = measures_of(per_query, measures, without=named_in(by))
    if not table.eager:
        raise InputTypeError.lazy(what)
    rows = table.all_columns().collect()
    check_ids(rows, table)
    check_numbers(rows, names, table)
    return table, names


def each_system(per_query: Any, table: Table, by: Any) -> tuple[Samples, list[str]]:
    """The values of each system with the attributes of the queries, and what these are called."""
    rows, attributes = with_attributes(table, by, "by")
    frame = rows.sort("query_id").collect()
    if "run" not in table.dtypes:
        return [(None, frame)], attributes
    frame = frame.with_columns(pl.col("run").cast(pl.String))
    systems = systems_of(per_query, table.select("run").collect())
    return [(system, frame.filter(pl.col("run") == system)) for system in systems], attributes


def tested(
    rows: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any],
    *,
    significant: str,
    correction: str | None,
    alpha: float,
    resamples: int | None,
) -> pl.DataFrame:
    """The comparisons with their p corrected, those of a measure together; `significant` names the verdict.

    Where p is of so many resamples, the note says of one that could not be lower that this is why it is not
    significant.
    """
    from polars_ir.statistics.significance import corrected

    of_measure: dict[str, list[float | None]] = {}
    for row in rows:
        of_measure.setdefault(row["measure"], []).append(row["p"])
    left = {measure: iter(corrected(p, correction, alpha=alpha)) for measure, p in of_measure.items()}
    each = [(row, next(left[row["measure"]])) for row in rows]
    with_p = [
        {
            **row,
            "p_corrected": p,
            significant: None if p is None else p <= alpha,
            "note": _with_floor(row["note"], row["p"], p, alpha, resamples),
        }
        for row, p in each
    ]
    return pl.DataFrame(with_p, schema=schema)


def _with_floor(
    note: str | None, p: float | None, corrected: float | None, alpha: float, resamples: int | None
) -> str | None:
    """The note, with why a p that is as low as it can be is not significant."""
    if p is None or corrected is None or resamples is None or corrected <= alpha or p > 1.5 / (resamples + 1):
        return note
    floor = f"p can not be lower with {resamples:,} resamples, too few for so many comparisons: raise them"
    return f"{note}; {floor}" if note else floor
