"""What is tried: combinations of weights, constants and norms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product
from math import comb
from typing import Any, NamedTuple

import polars as pl

from polars_ir.errors import OptionError, quoted
from polars_ir.fusion.weights import by_system
from polars_ir.runs.norms import Norm

#: Steps of the weights from 0 to 1, the finest first; a finer grid has been seen to gain nothing.
STEPS = (10, 5, 4, 3, 2, 1)

#: The most weightings of a grid made here.
MOST_WEIGHTINGS = 300

#: What a grid of one's own can name.
OPTIONS = ("weights", "k", "norm")


class Trial(NamedTuple):
    """One configuration of a fusion."""

    weights: Mapping[str, float]
    k: float | None = None
    norm: str | Norm | pl.Expr | None = None

    @property
    def norm_name(self) -> str | None:
        """What the norm is called in a table."""
        if self.norm is None or isinstance(self.norm, str):
            return self.norm
        return self.norm.name if isinstance(self.norm, Norm) else str(self.norm)


def trials_of(grid: Any, systems: Sequence[str], norm: Any) -> list[Trial]:
    """The configurations of a grid; equal weights come first, so that nothing else wins a tie with them."""
    options = {} if grid is None else grid
    if not isinstance(options, Mapping):
        options = {"weights": options}
    if unknown := [name for name in options if name not in OPTIONS]:
        raise OptionError(f"has {unknown[0]!r}; it can have {quoted(OPTIONS)}.", about="grid")
    lists = {name: _list(name, values) for name, values in options.items()}
    weightings = [by_system(weights, systems) for weights in lists.get("weights", list(simplex(systems)))]
    equal = dict.fromkeys(systems, 1.0)
    weightings = [equal, *(weights for weights in weightings if len(set(weights.values())) > 1)]
    settings = product(lists.get("k", [None]), lists.get("norm", [norm]))
    return [Trial(weights, k, of_norm) for k, of_norm in settings for weights in weightings]


def simplex(systems: Sequence[str]) -> Iterator[dict[str, float]]:
    """Weights that add up to one, in even steps: every way to part the steps among the systems.

    >>> [list(weights.values()) for weights in simplex(["a", "b"])][:3]
    [[0.0, 1.0], [0.1, 0.9], [0.2, 0.8]]
    """
    m = len(systems)
    steps = next((steps for steps in STEPS if comb(steps + m - 1, m - 1) <= MOST_WEIGHTINGS), 1)
    # The places of m - 1 bars among steps + m - 1 part the steps.
    for bars in combinations(range(steps + m - 1), m - 1):
        ends = (-1, *bars, steps + m - 1)
        parts = [right - left - 1 for left, right in pairwise(ends)]
        yield {system: part / steps for system, part in zip(systems, parts, strict=True)}


def _list(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, Mapping)) or not isinstance(values, Sequence) or not values:
        raise OptionError(f"must have a list of values to try for {name!r}; got {values!r:.80}.", about="grid")
    return list(values)
