"""The gate as an assertion, and its verdicts as text, JSON and Markdown, and as an exit status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, Unpack

import polars as pl
import polars.selectors as cs

from polars_ir.errors import warn
from polars_ir.language.options import check, one_of, public
from polars_ir.per_query.gate import SCHEMA, judged_change, level_of
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import INCONCLUSIVE, Gating

#: Figures of a table, by their heading in Markdown.
FIGURES = {"new": "mean", "old": "old_mean", "difference": "difference", "low": "low", "high": "high"}


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


def ships(result: pl.DataFrame) -> bool:
    """True if every measure passed."""
    return bool(result["passed"].all())


def status(result: pl.DataFrame) -> int:
    """Exit status: 0 for a change that ships, 3 where the queries are too few to decide, 1 for a harmful change."""
    return 0 if ships(result) else 3 if set(result["verdict"]) <= {"no worse", "inconclusive"} else 1


def as_text(result: pl.DataFrame, options: Mapping[str, Any]) -> str:
    """A line per measure, and whether the change ships; `options` are those of the gate."""
    lines, confidence = [], _confidence(options)
    for row in result.iter_rows(named=True):
        compared = f"{_number(row['mean'])} against {_number(row['old_mean'])} on {row['n_queries']} queries"
        bounds = "" if row["low"] is None else f", {confidence} interval {row['low']:+.4f} to {row['high']:+.4f}"
        difference = f"difference {_number(row['difference'], '+')}{bounds}; a drop of {row['max_drop']:g} is allowed"
        note = f" ({row['note']})" if row["note"] else ""
        lines.append(f"{_named(row)}: {row['verdict']}: {compared}, {difference}{note}")
    return "\n".join([*lines, _conclusion(result)])


def _confidence(options: Mapping[str, Any]) -> str:
    return f"{100 * (1 - 2 * level_of(options)):.3g} %"


def as_json(result: pl.DataFrame, _: Mapping[str, Any]) -> str:
    """One object: whether the change ships, and the rows of the result."""
    rows = result.with_columns(cs.temporal().dt.to_string("iso:strict")).to_dicts()
    return json.dumps({"ships": ships(result), "measures": rows}, indent=2, allow_nan=False, default=str)


def as_markdown(result: pl.DataFrame, options: Mapping[str, Any]) -> str:
    """A table in GitHub's Markdown, and whether the change ships."""
    ends = {end: f"{end} ({_confidence(options)})" for end in ("low", "high")}
    headings = ["measure", "verdict", *(ends.get(name, name) for name in FIGURES), "p", "may drop", "queries", "note"]
    lines = [_cells(headings), _cells([":--", ":--", *["--:"] * (len(FIGURES) + 3), ":--"])]
    for row in result.iter_rows(named=True):
        figures = [_number(row[column], "+" if column == "difference" else "") for column in FIGURES.values()]
        texts = [" ".join(_named(row).replace("|", "\\|").splitlines()), row["verdict"], *figures]
        p = "none" if row["p"] is None else f"{row['p']:.2g}"
        lines.append(_cells([*texts, p, f"{row['max_drop']:g}", str(row["n_queries"]), row["note"] or ""]))
    return "\n".join([f"**{_conclusion(result)}**", "", *lines])


def _named(row: Mapping[str, Any]) -> str:
    """The measure of a row, after the keys of the verdict."""
    return " ".join(str(row[name]) for name in (*(name for name in row if name not in SCHEMA), "measure"))


def _conclusion(result: pl.DataFrame) -> str:
    passed = f"{result['passed'].sum()} of {result.height} measures passed"
    return f"ships: {passed}" if ships(result) else f"does not ship: {passed}"


def _number(value: float | None, sign: str = "") -> str:
    return "none" if value is None else f"{value:{sign}.4f}"


def _cells(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"
