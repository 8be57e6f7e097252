"""How often intervals by people's judgments of some queries and a model's of all hold (`summarize(reference=people)`).

    PYTHONPATH=. python tests/bench/judges.py                     # both collections, 2,000 draws, as Markdown

Draws of N queries, of which n have people's judgments, are from those of a collection, whose means by people are the
truth: four runs of TREC 2003 Robust, judged by eight made judges, and six rankings of the judged passages of TREC Deep
Learning 2019 and 2020, judged by three models and by their median. A draw is a row of counts of queries, so that
moments of all draws are products of matrices; estimates and intervals are the package's. Seeds are fixed; both need
about half a minute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

import polars_ir as ir
from polars_ir.per_query.shared.averages import Averaging
from polars_ir.per_query.shared.reference import estimated
from polars_ir.statistics.prediction import MOMENTS

DATA = Path(__file__).resolve().parents[3] / "shared/data"
MODELS = ("llama70b", "llama8b", "flant5")
SEED, LEVEL = 20261127, 0.05
SIZES = ((10, 100), (12, 100), (15, 100), (25, 100), (50, 100), (10, 1000), (15, 1000), (25, 1000), (50, 1000))

#: Made judges: the chance that the grade of a relevant and of another document is 1.
MADE = {"good": (0.9, 0.05), "lenient": (0.95, 0.3), "strict": (0.4, 0.02), "poor": (0.6, 0.3), "worthless": (0.3, 0.3)}

#: The run that a made judge favours.
FAVOURED = "pircRBa1"


class Judged(NamedTuple):
    """Values by people and by each judge: arrays of queries by measures by systems."""

    measures: tuple[str, ...]
    people: np.ndarray
    judges: Mapping[str, np.ndarray]


def _values(runs: pl.DataFrame, qrels: pl.DataFrame, measures: tuple[str, ...], queries: pl.Series) -> np.ndarray:
    """Values of measures, of queries without a relevant document 0."""
    found = ir.evaluate(runs, qrels, list(measures), undefined=0)
    each = found.sort("query_id", "run").filter(pl.col("query_id").is_in(queries.implode()))
    values = each.select(measures).to_numpy().reshape(len(queries), -1, len(measures))
    return values.swapaxes(1, 2)


def robust(data: Path = DATA) -> Judged:
    """Four runs of TREC 2003 Robust by made judges: also one that favours a run, a perfect and a constant one."""
    source, measures = np.random.default_rng(SEED), ("AP", "nDCG@10", "P@10", "RR")
    folder = data / "robust03"
    of_each = {path.name.removesuffix(".run.gz"): ir.read_run(path) for path in sorted(folder.glob("*.run.gz"))}
    runs = pl.concat(run.with_columns(run=pl.lit(name)) for name, run in of_each.items())
    qrels = ir.read_qrels(folder / "qrels.txt.gz").sort("query_id", "doc_id")
    is_relevant, chance = qrels["relevance"].to_numpy() > 0, source.random((len(MADE) + 1, len(qrels)))
    grades = {name: draw < np.where(is_relevant, *MADE[name]) for name, draw in zip(MADE, chance, strict=False)}
    top = of_each[FAVOURED].filter(pl.col("rank") < 20).select("query_id", "doc_id", top=pl.lit(True))
    of_top = qrels.join(top, on=["query_id", "doc_id"], how="left", maintain_order="left")["top"]
    grades["biased"] = np.where(of_top.fill_null(False).to_numpy(), chance[-1] < 0.8, grades["good"])
    grades |= {"perfect": is_relevant, "constant": np.ones(len(qrels), bool)}
    queries = qrels["query_id"].unique().sort()
    judged = {
        name: _values(runs, qrels.with_columns(relevance=pl.Series(of.astype(np.int64))), measures, queries)
        for name, of in grades.items()
    }
    return Judged(measures, _values(runs, qrels, measures, queries), judged)


def deep_learning(data: Path = DATA) -> Judged:
    """Rankings of the judged passages by the grades of models and by sums of two, judged by these and their median."""
    measures, keys = ("AP(rel=2)", "nDCG@10", "P(rel=2)@10", "RR(rel=2)"), ["query_id", "doc_id"]

    def read(judge: str) -> pl.DataFrame:
        years = (ir.read_qrels(data / f"judges/dl{year}.{judge}.txt.gz") for year in (19, 20))
        return pl.concat(years).select(*keys, pl.col("relevance").alias(judge))

    grades = read("people")
    for judge in MODELS:
        grades = grades.join(read(judge), on=keys)
    scores = {judge: pl.col(judge) for judge in MODELS}
    scores |= {f"{a} and {b}": pl.col(a) + pl.col(b) for a, b in combinations(MODELS, 2)}
    runs = pl.concat(grades.select(*keys, run=pl.lit(name), score=of.cast(pl.Float64)) for name, of in scores.items())
    grades = grades.with_columns(median=pl.concat_list(MODELS).list.median())
    queries = grades["query_id"].unique().sort()
    by_judge = {
        judge: _values(runs, grades.select(*keys, relevance=judge), measures, queries)
        for judge in ("people", *MODELS, "median")
    }
    return Judged(measures, by_judge.pop("people"), by_judge)


def moments(y: np.ndarray, f: np.ndarray, of_people: np.ndarray, of_model: np.ndarray) -> pl.DataFrame:
    """Moments of each draw, whose counts of queries are the rows of `of_people` and `of_model`, and system."""
    n, m = of_people[0].sum(), of_model[0].sum()

    def of(counts: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = counts[0].sum()
        mean = counts @ values / total
        return mean, (counts @ values**2 - total * mean**2).clip(0) / (total - 1)

    figures = {"n": np.full((len(of_people), y.shape[1]), n), "m": np.full((len(of_people), y.shape[1]), m)}
    for name, counts, values in (("y", of_people, y), ("f", of_people, f), ("u", of_model, f)):
        figures[name], figures[f"var_{name}"] = of(counts, values)
    figures["covariance"] = (of(of_people, y + f)[1] - figures["var_y"] - figures["var_f"]) / 2
    figures["n_f"] = figures["n"]
    figures["unmatched"] = np.zeros_like(figures["n"])
    order, systems = np.argsort(y, axis=0), np.arange(y.shape[1])
    drawn = of_people > 0
    first, last = (
        np.stack([drawn[:, of[:, s]].argmax(axis=1) for s in systems], axis=1) for of in (order, order[::-1])
    )
    figures |= {"lowest": y[order[first, systems], systems], "highest": y[order[::-1][last, systems], systems]}
    found = pl.DataFrame({name: values.ravel() for name, values in figures.items()})
    return found.cast({name: dtype for name, dtype in MOMENTS.items() if name in found.columns})


def held(moments: pl.DataFrame, truth: np.ndarray, between: tuple[float, float]) -> dict[str, float]:
    """Shares of intervals that hold the truth, with the reference and by people alone, and their mean widths."""
    rows = moments.lazy().with_columns(truth=pl.Series(np.tile(truth, len(moments) // len(truth))))
    truth_held = ((pl.col("low") <= pl.col("truth")) & (pl.col("truth") <= pl.col("high"))).fill_null(False)
    shares, is_wider = {}, 0
    for kind in ("t", "auto"):
        widths = []
        # Without other queries by the model, figures are people's alone.
        for name, of in (("", rows), ("people ", rows.with_columns(m=pl.lit(0)))):
            found = estimated(of, Averaging("", "arithmetic", between), kind, LEVEL)
            # Equal values have no interval of Student's, which then misses the truth.
            width = (pl.col("high") - pl.col("low")).fill_null(0.0)
            ends = found.select(truth_held.alias("held"), width.alias("width")).collect()
            shares[f"{name}{kind}"], shares[f"{name}{kind} width"] = ends.mean().row(0)
            widths.append(ends["width"])
        is_wider += int((widths[0] > widths[1] * (1 + 1e-12)).sum())
    return {**shares, "wider": is_wider}


def coverage(judged: Judged, n: int, total: int, draws: int, seed: int = SEED) -> Iterator[dict[str, object]]:
    """Shares for each judge and measure, of means of systems and of differences of pairs."""
    source, queries = np.random.default_rng(seed + n + total), len(judged.people)
    even = np.full(queries, 1 / queries)
    of_people, of_model = (source.multinomial(size, even, draws).astype(float) for size in (n, total - n))
    pairs = np.array(list(combinations(range(judged.people.shape[2]), 2)))
    kinds = {"mean": lambda of: of, "difference": lambda of: of[:, pairs[:, 0]] - of[:, pairs[:, 1]]}
    for judge, values in judged.judges.items():
        for place, measure in enumerate(judged.measures):
            y, f = judged.people[:, place], values[:, place]
            for kind, make in kinds.items():
                rows = moments(make(y), make(f), of_people, of_model)
                between = (0.0, 1.0) if kind == "mean" else (-np.inf, np.inf)
                shares = held(rows, make(y).mean(axis=0), between)
                yield {"n": n, "N": total, "figure": kind, "judge": judge, "measure": measure, **shares}


def main() -> None:
    """Print the table of each collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    for made in (robust, deep_learning):
        judged = made(options.data)
        rows = [row for n, total in SIZES for row in coverage(judged, n, total, options.draws)]
        frame = pl.DataFrame(rows).with_columns(
            less=pl.col("t") - pl.col("people t"), width=pl.col("t width") / pl.col("people t width")
        )
        table = frame.group_by("N", "n", "figure", maintain_order=True).agg(
            pl.col("people t").mean().alias("people"),
            pl.col("people t").min().alias("lowest people"),
            pl.col("t").mean(),
            pl.col("t").min().alias("lowest"),
            pl.col("less").min().alias("lowest less people"),
            pl.col("width").mean(),
            pl.col("auto").mean(),
            pl.col("auto").min().alias("lowest auto"),
            pl.col("wider").sum(),
        )
        with pl.Config(
            tbl_formatting="ASCII_MARKDOWN",
            tbl_rows=-1,
            tbl_cols=-1,
            tbl_width_chars=200,
            float_precision=3,
            tbl_hide_column_data_types=True,
            tbl_hide_dataframe_shape=True,
        ):
            sys.stdout.write(f"\n{made.__doc__}\n\n{table}\n")
            worst = (
                frame.filter(figure="mean")
                .sort("auto")
                .head(4)
                .select("N", "n", "judge", "measure", "auto", "people auto")
            )
            sys.stdout.write(f"\nLowest of auto\n\n{worst}\n")
            by_judge = (
                frame.filter(n=15, N=100)
                .group_by("figure", "judge", maintain_order=True)
                .agg(pl.col("t", "width").mean())
            )
            sys.stdout.write(f"\nBy judge, 15 of 100\n\n{by_judge}\n")


if __name__ == "__main__":
    main()
