"""Tests of systems and of groups of queries: a record for each paired one, and the correction for their number.

Conventions: implementations are imported when used, since they need an extra.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.options import check, one_of, or_none

#: Intervals of a median, which need not hold the mean.
OF_MEDIANS = ("median", "hodges-lehmann")

#: Number of queries up to which tests of the mean but `"auto"` reject too often for skewed differences, and the note.
FEW = 10
OF_FEW = f"of {FEW} queries or fewer, skewed differences are significant too often: compare(test='auto') holds"


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


def check_correction(correction: object) -> None:
    """Raise an `OptionError` unless this is a known name of a correction, or None."""
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

    Where a p of resamples could not be lower, the note gives this as the reason why it is not significant.
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
