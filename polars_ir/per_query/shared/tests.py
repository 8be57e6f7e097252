"""Paired tests of systems, a record each."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from polars_ir import statistics as stats

#: Intervals of a median, which need not hold the mean.
OF_MEDIANS = ("median", "hodges-lehmann")

#: Number of queries up to which tests of the mean but `"auto"` reject too often for skewed differences, and the note.
FEW = 10
SKEWED = f"of {FEW} queries or fewer, skewed differences are significant too often"
OF_FEW = f"{SKEWED}: compare(test='auto') holds"

#: Number of queries up to which max-t does, and the note.
FEW_OF_FLIPS = 50
OF_FEW_FLIPS = f"of {FEW_OF_FLIPS} queries or fewer, max-t finds skewed differences significant too often: t holds"


class PairedTest(NamedTuple):
    """A test of `significance.PAIRED`: its name in papers, its interval, and its requirements.

    An `of_all` test allows for the number of comparisons by itself; a `complete` one takes only queries for which all
    systems have a value, and makes its own intervals; for a `resampled` one p has a lowest value.
    """

    name: str
    title: str
    interval: str
    of_all: bool = False
    complete: bool = False
    resampled: bool = False

    @property
    def interval_of_mean(self) -> str | None:
        """The interval to draw beside a mean difference, where the test's own is of a median; else its own."""
        return "t" if self.interval in OF_MEDIANS else None

    def corrected(self, correction: str | None) -> str:
        """Its name, and that of the correction, if any."""
        return self.name if self.of_all or correction is None else f"{self.name}, {correction}"

    def lowest_p(self, differing: int, n: int) -> float:
        """The lowest p of any outcome in which so many of n queries differ, as far as the test has a simple one."""
        if self.name in ("wilcoxon", "sign", "randomisation"):
            return 2.0 ** (1 - differing)
        if self.name in ("t", "max-t") and differing < n:
            # All that differ do so by the same.
            return stats.student.two_sided(math.sqrt(differing * (n - 1) / (n - differing)), n - 1)
        return 0.0


Test = Literal["t", "auto", "wilcoxon", "sign", "randomisation", "bootstrap", "tukey", "max-t"]

#: Tests by their names in other tools.
TESTS_ELSEWHERE = {
    **dict.fromkeys(("ttest", "t-test", "ttest_rel", "paired-t", "paired t-test", "student"), "t"),
    **dict.fromkeys(("fisher", "permutation", "randomization"), "randomisation"),
    "wilcox": "wilcoxon",
}

#: Every paired test by its name.
TESTS = {
    test.name: test
    for test in (
        PairedTest("t", "paired t-test", "t"),
        PairedTest("auto", "t-test corrected for skewness", "auto"),
        PairedTest("wilcoxon", "Wilcoxon signed-rank test", "hodges-lehmann"),
        PairedTest("sign", "sign test", "median"),
        PairedTest("randomisation", "paired randomisation test", "randomisation", resampled=True),
        PairedTest("bootstrap", "paired bootstrap test", "bootstrap-t", resampled=True),
        PairedTest("tukey", "randomised Tukey HSD", "tukey", of_all=True, complete=True),
        PairedTest("max-t", "step-down max-t test", "t", of_all=True),
    )
}
