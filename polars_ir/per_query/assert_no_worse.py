"""The gate as an assertion: nothing where a change ships, else an error whose text is the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Unpack

import polars as pl

from polars_ir.errors import warn
from polars_ir.language.options import check, one_of, public
from polars_ir.per_query.gate import judged_change
from polars_ir.per_query.gate_formats import as_text
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import INCONCLUSIVE, Gating


@public(Gating)
def assert_no_worse(
    new: Any,
    old: Any = None,
    measures: Measures = None,
    *,
    baseline: str | None = None,
    floors: Mapping[str, float] | None = None,
    inconclusive: Literal["fail", "warn", "pass"] = "fail",
    **options: Unpack[Gating],
) -> None:
    """Raise an `AssertionError` unless a new system is no worse than an old one, by `gate`: a test of pytest's.

    Its text is the verdict on every measure, with the notes of `gate`.

    Parameters
    ----------
    new, old, measures, baseline
        As in `gate`.
    floors
        The lowest mean that new may have, by measure, whatever old has; the highest of a measure whose lowest value is
        the best. A mean is below its floor if the upper end of its interval (that of `summarize`, of confidence 1 - 2
        alpha) is; if the mean alone is, these queries cannot tell.
    inconclusive
        What becomes of a change of which these queries cannot tell, the usual verdict with 50 of them: `"fail"`,
        `"warn"` with an `IRWarning`, or `"pass"`. One that is worse, dropped or beyond a floor always fails.

    Raises
    ------
    AssertionError
        For a change that does not ship.
    IRError
        As `gate`, and for floors of measures that it does not judge.

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"]).partition_by("run", as_dict=True)
    >>> ir.assert_no_worse(per_query["tfidf",], per_query["bm25",], "nDCG@10", max_drop=0.1, floors={"nDCG@10": 0.2})
    >>> ir.assert_no_worse(per_query["tfidf",], per_query["bm25",], "nDCG@10")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    AssertionError: nDCG@10: worse: 0.2637 against 0.3234 on 96 queries, ...
    """
    check("inconclusive", inconclusive, one_of(*INCONCLUSIVE))
    verdict = judged_change(new, old, measures, options, floors=floors, baseline=baseline)
    if fails(verdict, inconclusive):
        raise AssertionError(as_text(verdict, options))
    if inconclusive == "warn" and not verdict["passed"].all():
        warn(f"these queries cannot tell whether the change is harmless. {as_text(verdict, options)}")


def fails(verdict: pl.DataFrame, inconclusive: str) -> bool:
    """True for a verdict that stops a change."""
    undecided = pl.col("verdict") == "inconclusive" if inconclusive != "fail" else pl.lit(False)
    return not verdict.select((pl.col("passed") | undecided).all()).item()
