"""The origin of a report: versions, options, and the calls that remake it."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import polars as pl

from polars_ir.language.options import options_of
from polars_ir.reports.content import Made
from polars_ir.reports.rankings import N_QUERIES
from polars_ir.runs.options import Reporting

#: Packages whose versions determine the results.
PACKAGES = ("polars_ir", "polars", "numpy", "scipy", "statsmodels")


def made_of(
    measures: Sequence[str],
    baseline: str | None,
    attributes: pl.DataFrame | None,
    n_queries: int,
    options: Mapping[str, Any],
    texts: Mapping[str, Any],
) -> Made:
    """Versions and options of a report; the command line adds files and command."""
    chosen: dict[str, Any] = {"measures": list(measures), "baseline": baseline, "n_queries": n_queries, **options}
    chosen = {name: value for name, value in chosen.items() if value is not None or name not in ("title", "date")}
    given = [name for name, table in texts.items() if table is not None]
    if attributes is not None:
        chosen["by"] = attributes.columns[1:]
    return {
        "versions": {"Python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "options": chosen,
        "test": "Student's paired t-test, Holm's correction; nothing is drawn at random, so that there is no seed",
        "files": [],
        "command": None,
        "python": call(chosen, given),
    }


def call(options: Mapping[str, Any], given: Sequence[str]) -> str:
    """The call that remakes a report, with tables named like its parameters."""
    defaults = {"n_queries": N_QUERIES} | {name: option.default for name, option in options_of(Reporting).items()}
    named = {name: value for name, value in options.items() if name != "measures" and defaults.get(name) != value}
    texts = [f"{name}={name}" for name in given] + [f"{name}={value!r}" for name, value in named.items()]
    return f"ir.report({', '.join(['runs', 'qrels', repr(options['measures']), *texts])})"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
