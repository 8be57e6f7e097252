"""The simulations of evidence.py: values of real runs, shapes of values and differences, and simulated frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

import polars_ir as ir

MEASURES = ["P@10", "R@100", "RR", "AP", "nDCG@10", "Success@10"]


@cache
def populations(data: Path) -> dict[str, list[np.ndarray]]:
    """The values of queries by measure, an array per run."""
    if not data.exists():
        source = np.random.default_rng(0)
        made = {name: [source.beta(0.8, 1.2, 100) for _ in range(4)] for name in MEASURES[:-1]}
        return {**made, "Success@10": [(source.random(100) < 0.88) * 1.0 for _ in range(4)]}
    qrels = ir.read_qrels(data / "qrels.txt.gz")
    runs = [ir.read_run(path).ir.evaluate(qrels, MEASURES) for path in sorted(data.glob("*.run.gz"))]
    return {name: [run.sort("query_id")[name].to_numpy() for run in runs] for name in MEASURES}


def of_runs(data: Path) -> pl.DataFrame:
    """The per-query frame of the runs."""
    values = populations(data)
    n = len(values["AP"][0])
    return pl.concat(
        pl.DataFrame({"run": f"run {i}", "query_id": range(n), **{name: values[name][i] for name in MEASURES}})
        for i in range(len(values["AP"]))
    )


def made_equal(data: Path, measure: str) -> np.ndarray:
    """The values of queries, a column per run, each moved to the mean of all."""
    values = np.column_stack(populations(data)[measure])
    return values - values.mean(axis=0) + values.mean()


def drawn(values: np.ndarray, n: int, simulations: int) -> np.ndarray:
    """Samples of n of the queries, which are the rows of values."""
    return values[np.random.default_rng(n).integers(len(values), size=(simulations, n))]


#: Values from 0 to 1, or without ends, by how to draw them; and their mean.
VALUES: dict[str, tuple[Callable[[np.random.Generator, tuple[int, ...]], np.ndarray], float]] = {
    "Beta(.5, 1.5)": (lambda source, size: source.beta(0.5, 1.5, size), 0.25),
    "Success .88": (lambda source, size: (source.random(size) < 0.88) * 1.0, 0.88),
    "60 % zeros": (lambda source, size: np.where(source.random(size) < 0.6, 0.0, source.random(size)), 0.2),
    "90 % zeros": (lambda source, size: np.where(source.random(size) < 0.9, 0.0, source.random(size)), 0.05),
}
UNBOUNDED: dict[str, tuple[Callable[[np.random.Generator, tuple[int, ...]], np.ndarray], float]] = {
    "normal": (lambda source, size: source.normal(0, 1, size), 0.0),
    "lognormal": (lambda source, size: source.lognormal(0, 1, size), float(np.exp(0.5))),
}

#: Differences with a mean of 0.
DIFFERENCES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "normal": lambda source, size: source.normal(0, 0.1, size).clip(-0.5, 0.5),
    "80 % equal": lambda source, size: (source.random(size) < 0.2) * source.choice([-0.4, -0.1, 0.1, 0.4], size),
    "exponential": lambda source, size: (source.exponential(0.05, size) - 0.05).clip(-0.5, 0.5),
    "2 % fail wholly": lambda source, size: (
        np.where(source.random(size) < 0.02, -0.392, 0.008) + source.normal(0, 0.008, size)
    ),
}


# Many simulations at once: each is a measure with a range from 0 to 1, and so a family of its own.


def measures_of(values: np.ndarray, name: str = "P@") -> pl.DataFrame:
    """A column for each simulation, which are the rows of values."""
    columns = {f"{name}{number}": row for number, row in enumerate(values, 1)}
    return pl.DataFrame(columns).with_columns(query_id=pl.int_range(pl.len()))


def systems_of(samples: np.ndarray, name: str = "P@") -> dict[str, pl.DataFrame]:
    """The frames of systems, which are the last axis of samples: simulations by queries by systems."""
    return {f"s{system:02}": measures_of(samples[:, :, system], name) for system in range(samples.shape[2])}


def pair(differences: np.ndarray) -> dict[str, pl.DataFrame]:
    """Two systems with these differences: a row per simulation."""
    return systems_of(np.stack([np.full_like(differences, 0.5), 0.5 + differences], axis=2))


def in_each(found: pl.DataFrame, any_row: pl.Expr) -> pl.Series:
    """True for the simulations in which this is so of any row."""
    return found.group_by("measure").agg(any_row.any().alias("is"))["is"]
