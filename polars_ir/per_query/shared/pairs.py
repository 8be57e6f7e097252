"""Pairs of systems on the same queries: differences, counts and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from polars_ir.errors import OptionError

if TYPE_CHECKING:
    from polars_ir.statistics.randomisation import Floats
    from polars_ir.statistics.samples import Sample


class Pair(NamedTuple):
    """Two systems by a measure; the sample has the differences, `run` less `baseline`, of queries with both values.

    `one_sided` counts the queries that only the baseline has, that only the run has, and those undefined for the run
    only and for the baseline only; `error` is the standard error of the run's mean.
    """

    measure: str
    run: str
    baseline: str
    sample: Sample
    mean: float | None
    baseline_mean: float | None
    wins: int
    losses: int
    n_missing: int
    notes: Sequence[str]
    one_sided: tuple[int, int, int, int] = (0, 0, 0, 0)
    error: float | None = None


class Pairs(NamedTuple):
    """Pairs of a slice, measure by measure.

    With values there are also those of all systems, by measure, and the differences, a column per pair.
    """

    slice: Mapping[str, Any]
    pairs: Sequence[Pair]
    values: Sequence[Floats] = ()
    differences: Floats | None = None


def pairs_of(systems: Sequence[str], baseline: object) -> list[tuple[int, int]]:
    """Places of (system, baseline) to compare: every other one with the baseline, or each with each."""
    if baseline is None:
        return [(system, against) for against, system in combinations(range(len(systems)), 2)]
    if str(baseline) not in systems:
        raise OptionError.not_a_system("baseline", str(baseline), systems)
    against = systems.index(str(baseline))
    return list(zip([*range(against), *range(against + 1, len(systems))], repeat(against)))


def notes_of_lacking(
    measure: str, systems: Sequence[str], lacking: Sequence[int], of_one: Sequence[int], n: int
) -> list[str]:
    """Notes on missing values of a pair, of n queries that both answered: per system, and of one system alone."""
    notes = []
    for system, missing, alone in zip(systems, lacking, of_one, strict=True):
        if missing == n and any(lacking):
            notes.append(f"{system!r} has no value of {measure!r}")
        elif alone:
            notes.append(f"undefined for {system!r} only: {alone}, left out")
    return notes
