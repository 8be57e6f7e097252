"""The tests of systems and of groups of queries: a record for each paired one, and the correction for their number.

Conventions: what computes them is imported when it is used: it needs an extra.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.options import check, one_of, or_none

if TYPE_CHECKING:
    from polars_ir.statistics.randomisation import Draws, Floats
    from polars_ir.statistics.significance import Outcome


#: The intervals of a median, which need not hold the mean.
OF_MEDIANS = ("median", "hodges-lehmann")


class Paired(NamedTuple):
    """The input of a test: scores of each measure, a column per system, and differences, a column per comparison.

    `widths` are the ranges of the measure of each column, and `families` the number of families of all systems.
    """

    values: Sequence[Floats]
    differences: Floats
    alpha: float
    tolerance: float
    draws: Draws
    widths: Sequence[float] = ()
    families: int = 1


class PairedTest(NamedTuple):
    """A test: its name in papers, its outcomes for each comparison, the interval that goes with it, and what it needs.

    One `of_all` allows for the number of comparisons by itself; a `complete` one takes only queries for which all
    systems have a value, and makes its own intervals; of a `resampled` one p has a lowest value.
    """

    name: str
    title: str
    interval: str
    outcomes: Callable[[Paired], list[Outcome]]
    of_all: bool = False
    complete: bool = False
    resampled: bool = False

    @property
    def interval_of_mean(self) -> str | None:
        """The interval to draw beside a mean difference, where that of the test is of a median; else its own."""
        return "t" if self.interval in OF_MEDIANS else None

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

    return significance.tukey(
        paired.values, paired.differences, paired.draws, alpha=paired.alpha, families=paired.families
    )


def _auto(paired: Paired) -> list[Outcome]:
    from polars_ir.statistics import significance

    samples = zip(significance.samples_of(paired.differences), paired.widths, strict=True)
    return [significance.automatic(sample, width) for sample, width in samples]


Test = Literal["t", "auto", "wilcoxon", "sign", "randomisation", "bootstrap", "tukey", "max-t"]

#: Tests by the names that other tools have for them.
TESTS_ELSEWHERE = {
    **dict.fromkeys(("ttest", "t-test", "ttest_rel", "paired-t", "paired t-test", "student"), "t"),
    **dict.fromkeys(("fisher", "permutation", "randomization"), "randomisation"),
    "wilcox": "wilcoxon",
}

#: Every paired test by its name.
TESTS = {
    test.name: test
    for test in (
        PairedTest("t", "paired t-test", "t", _t),
        PairedTest("auto", "t-test corrected for skewness", "auto", _auto),
        PairedTest("wilcoxon", "Wilcoxon signed-rank test", "hodges-lehmann", _wilcoxon),
        PairedTest("sign", "sign test", "median", _sign),
        PairedTest("randomisation", "paired randomisation test", "randomisation", _randomisation, resampled=True),
        PairedTest("bootstrap", "paired bootstrap test", "bootstrap-t", _bootstrap, resampled=True),
        PairedTest("tukey", "randomised Tukey HSD", "tukey", _tukey, of_all=True, complete=True),
        PairedTest("max-t", "step-down max-t test", "t", _t, of_all=True),
    )
}


def check_correction(correction: object) -> None:
    """Raise an `OptionError` unless this is a correction by one of its names, or None."""
    from polars_ir.statistics.significance import MAIN_CORRECTIONS, is_correction

    if is_correction(correction):
        return
    try:
        check("correction", correction, or_none(one_of(*MAIN_CORRECTIONS)))
    except OptionError as error:
        if (meant := f"fdr_{correction}").lower() in MAIN_CORRECTIONS:
            error.near = f"Did you mean {meant!r}?"
        raise


def tested(
    rows: Sequence[dict[str, Any]],
    schema: Mapping[str, Any],
    *,
    significant: str,
    correction: str | None,
    alpha: float,
    resamples: int | None,
    family: str,
) -> pl.DataFrame:
    """The comparisons with their p corrected, in families of a measure or of all; `significant` names the verdict.

    Where p is of so many resamples, the note says of one that could not be lower that this is why it is not
    significant.
    """
    from polars_ir.statistics.significance import corrected

    families: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        families.setdefault("" if family == "all" else row["measure"], []).append(row)
    for of_family in families.values():
        for row, p in zip(of_family, corrected([r["p"] for r in of_family], correction, alpha=alpha), strict=True):
            row.setdefault("p_corrected", p)
    for row in rows:
        p = row["p_corrected"]
        row[significant] = None if p is None else p <= alpha
        if row[significant] is False and resamples and row["p"] <= 1.5 / (resamples + 1):
            floor = f"p can not be lower with {resamples:,} resamples, too few for so many comparisons: raise them"
            row["note"] = f"{row['note']}; {floor}" if row["note"] else floor
    return pl.DataFrame(rows, schema=schema)
