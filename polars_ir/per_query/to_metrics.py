"""Means as a flat dict, as experiment trackers take them."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from polars_ir.errors import DataError, InputTypeError
from polars_ir.frames.kinds import to_polars
from polars_ir.language.names import Names, spelt_in_sql
from polars_ir.language.options import Value, check, one_of, public
from polars_ir.per_query.means import mean


@public()
def to_metrics(per_query: Any, *, by: Any = None, names: Names = "sql", sep: str = "/") -> dict[str, float]:
    """Mean of every measure as a flat dict, one number for each system and measure.

    `mlflow.log_metrics`, `wandb.log`, DVC's metrics files, TensorBoard's `add_scalar` and Prometheus (with `sep=":"`)
    take it unchanged.

    Parameters
    ----------
    per_query
        The result of `evaluate`, or a dict of such frames by system. A LazyFrame is refused.
    by
        Slices, or other keys, with numbers of their own, as in `mean`.
    names
        `"sql"`, where all but letters, digits and underscores become underscores, also in names of systems and slices;
        or `"canonical"`, where all names stay as they are, and which MLflow refuses for its `@`.
    sep
        The text between slice, system and measure.

    Returns
    -------
    dict
        `{"bm25/ndcg_10": 0.32}`; without the system for a frame of one that has no column of it. A mean of no values
        has no entry.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.to_metrics(ir.evaluate({"bm25": {"q": ["d1", "d2"]}}, {"q": ["d2"]}, ["RR", "P@1"]))
    {'bm25/rr': 0.5, 'bm25/p_1': 0.0}
    >>> ir.to_metrics(ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, "RR"), names="canonical")
    {'RR': 0.5}
    """
    check("names", names, one_of("canonical", "sql"))
    check("sep", sep, Value("a text", lambda value: isinstance(value, str), str))
    if isinstance(means := to_polars("per_query", mean(per_query, by=by), column="score"), pl.LazyFrame):
        raise InputTypeError.lazy("ir.to_metrics")
    return flat(means, by, names=names, sep=sep)


def flat(means: pl.DataFrame, by: Any = None, *, names: Names = "canonical", sep: str = "/") -> dict[str, float]:
    """Means of a table by the names of their rows and columns; slices and systems come first."""
    slices = [by] if isinstance(by, str) else by if isinstance(by, (list, tuple)) else getattr(by, "columns", ())
    measures = [name for name, dtype in means.schema.items() if dtype == pl.Float64 and name not in list(slices)]
    keys = [name for name in means.columns if name not in measures]
    in_sql = {measure: spelt_in_sql(measure) for measure in measures}
    found: dict[str, float] = {}
    for row in means.iter_rows(named=True):
        of_row = [str(row[key]) for key in keys]
        for measure in measures:
            parts = [*of_row, measure if names == "canonical" else in_sql[measure]]
            # In SQL's names all but letters and digits are underscores.
            name = sep.join(parts if names == "canonical" else [re.sub(r"\W", "_", p, flags=re.ASCII) for p in parts])
            if name in found:
                fix = "Rename one, or keep names as they are with names='canonical'"
                raise DataError(f"two numbers would be called {name!r}.", fix=fix)
            if row[measure] is not None:
                found[name] = row[measure]
    return found
