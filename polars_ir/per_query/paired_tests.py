"""The paired tests of systems, one record each; what computes them is imported when it is used: it needs an extra."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from polars_ir.per_query.scores import Floats
    from polars_ir.statistics.significance import Outcome


class Paired(NamedTuple):
    """What is tested: scores of each measure, a column per system, and differences, a column per comparison."""

    values: Sequence[Floats]
    differences: Floats
    alpha: float
    tolerance: float
    chances: Mapping[str, Any]


class PairedTest(NamedTuple):
    """A test: what papers call it, what it tells of each comparison, the interval that goes with it, what it asks for.

    One `of_all` allows for the number of comparisons by itself, and makes its own intervals; a `complete` one takes
    only queries for which all systems have a value; of a `resampled` one p has a lowest value.
    """

    name: str
    title: str
    interval: str
    outcomes: Callable[[Paired], list[Outcome]]
    of_all: bool = False
    complete: bool = False
    resampled: bool = False

    def corrected(self, correction: str | None) -> str:
        """Its name, and that of the correction where one is made."""
        return self.name if self.of_all or correction is None else f"{self.name}, {correction}"


def _t(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.of_each(significance.t_test, paired.differences)


def _wilcoxon(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.of_each(significance.wilcoxon, paired.differences, tolerance=paired.tolerance)


def _sign(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.of_each(significance.sign_test, paired.differences, tolerance=paired.tolerance)


def _randomisation(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.randomisation(paired.differences, **paired.chances)


def _bootstrap(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.bootstrap(paired.differences, **paired.chances)


def _tukey(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.tukey(paired.values, paired.differences, alpha=paired.alpha, **paired.chances)


def _max_t(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.max_t(paired.differences, measures=len(paired.values), alpha=paired.alpha, **paired.chances)


#: Every paired test by its name.
TESTS = {
    test.name: test
    for test in (
        PairedTest("t", "paired t-test", "t", _t),
        PairedTest("wilcoxon", "Wilcoxon signed-rank test", "t", _wilcoxon),
        PairedTest("sign", "sign test", "t", _sign),
        PairedTest("randomisation", "paired randomisation test", "t", _randomisation, resampled=True),
        PairedTest("bootstrap", "paired bootstrap test", "bootstrap-t", _bootstrap, resampled=True),
        PairedTest("tukey", "randomised Tukey HSD", "tukey", _tukey, of_all=True, complete=True),
        PairedTest("max-t", "step-down max-t test", "max-t", _max_t, of_all=True),
    )
}
