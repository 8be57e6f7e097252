"""The tests of systems and of groups of queries: a record for each paired one, and the correction for their number.

Conventions: what computes them is imported when it is used: it needs an extra.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.options import check, one_of, or_none

if TYPE_CHECKING:
    from polars_ir.statistics.randomisation import Draws, Floats
    from polars_ir.statistics.significance import Outcome


class Paired(NamedTuple):
    """The input of a test: scores of each measure, a column per system, and differences, a column per comparison."""

    values: Sequence[Floats]
    differences: Floats
    alpha: float
    tolerance: float
    draws: Draws


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

    return significance.t_test(significance.samples_of(paired.differences))


def _wilcoxon(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.of_each(significance.wilcoxon, paired.differences, paired.tolerance)


def _sign(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.of_each(significance.sign_test, paired.differences, paired.tolerance)


def _randomisation(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.randomisation(paired.differences, paired.draws)


def _bootstrap(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.bootstrap(paired.differences, paired.draws)


def _tukey(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.tukey(paired.values, paired.differences, paired.draws, alpha=paired.alpha)


def _max_t(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    return significance.max_t(paired.differences, paired.draws, measures=len(paired.values), alpha=paired.alpha)


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
    left = dict(of_measure)
    for measure, values in of_measure.items():
        left[measure] = corrected(values, correction, alpha=alpha)[::-1]
    with_p = []
    for row in rows:
        p, note = left[row["measure"]].pop(), row["note"]
        is_significant = None if p is None else p <= alpha
        if is_significant is False and resamples and row["p"] <= 1.5 / (resamples + 1):
            floor = f"p can not be lower with {resamples:,} resamples, too few for so many comparisons: raise them"
            note = f"{note}; {floor}" if note else floor
        with_p.append({**row, "p_corrected": p, significant: is_significant, "note": note})
    return pl.DataFrame(with_p, schema=schema)
