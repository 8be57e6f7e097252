"""The rate at which ranges of ranks miss: the simulation behind `ir.ranks`.

    PYTHONPATH=. python tests/bench/ranking.py --simulations 1000

Ten systems answer queries that are drawn from one population, so that equal systems have equal true means. A case
misses if any of the ten ranges lacks the system's true rank, the best one that it shares with its equals. Seeds are
fixed, so that the same call prints the same table; the standard error of a share of .05 of 1,000 cases is .007.
"""

from __future__ import annotations

import argparse

import numpy as np

from polars_ir.statistics.randomisation import Draws
from polars_ir.statistics.rank_sets import better_than

SYSTEMS, RESAMPLES = 10, 499

#: The values that a latent quality makes, as those of measures are.
VALUES = {
    "AP": lambda quality: 1 / (1 + np.exp(0.5 - 1.5 * quality)),
    "RR": lambda quality: 1 / np.maximum(1, np.ceil(np.exp(0.6 - quality))),
    "Success": lambda quality: (quality > -0.9) * 1.0,
    "rare failures": lambda quality: (quality > -2.3) * 1.0,
}

#: The distances between the systems' true qualities.
EFFECTS = {
    "all equal": np.zeros(SYSTEMS),
    "eight near-copies and two others": np.zeros(SYSTEMS),
    "two groups": np.repeat([0.0, 0.4], SYSTEMS // 2),
    "a slope": np.linspace(0, 0.6, SYSTEMS),
}


def drawn(measure: str, systems: str, n: int, source: np.random.Generator) -> np.ndarray:
    """The values of n queries, a column per system."""
    own = source.normal(0, 1, (n, SYSTEMS))
    if systems.startswith("eight"):
        differing = source.random((n, SYSTEMS - 2)) < 0.1
        own[:, :-2] = source.normal(0, 1, (n, 1)) + differing * source.normal(0, 1, (n, SYSTEMS - 2))
    return VALUES[measure](source.normal(0, 1, (n, 1)) + 0.7 * own + EFFECTS[systems])


def shares(measure: str, systems: str, n: int, simulations: int) -> tuple[float, float]:
    """The share of trials in which any range misses, and the mean number of ranks in a range."""
    source, effects = np.random.default_rng(n), EFFECTS[systems]
    true = (effects[:, None] > effects).sum(axis=0) + 1
    missed, ranks = 0, 0.0
    for _ in range(simulations):
        better = better_than(drawn(measure, systems, n, source), confidence=0.95, draws=Draws(RESAMPLES, n))
        best, worst = better.sum(axis=0) + 1, SYSTEMS - better.sum(axis=1)
        missed += bool(((true < best) | (true > worst)).any())
        ranks += float((worst - best + 1).mean())
    return missed / simulations, ranks / simulations


def main(simulations: int) -> None:
    """Print a row for each kind of systems, of values, and number of queries."""
    print("| systems | values | n | misses | ranks in a range |\n| --- | --- | --- | --- | --- |")  # noqa: T201
    for systems in EFFECTS:
        for measure in VALUES:
            for n in (5, 10, 25, 100):
                missed, ranks = shares(measure, systems, n, simulations)
                print(f"| {systems} | {measure} | {n} | {missed:.3f} | {ranks:.1f} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000)
    main(parser.parse_args().simulations)
