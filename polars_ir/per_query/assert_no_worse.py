"""The gate as an assertion: nothing where a change ships, else an error whose text is the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Unpack

import polars as pl

from polars_ir.errors import OptionError, nearest, quoted, warn
from polars_ir.frames.kinds import to_polars
from polars_ir.language.names import canonical_name
from polars_ir.language.options import any_number, check, one_of, public
from polars_ir.per_query.gate import as_text, gate
from polars_ir.per_query.shared.measures import by_column, range_of
from polars_ir.per_query.shared.options import INCONCLUSIVE, Gating

#: The verdict of a mean beyond its floor.
BEYOND = "below its floor"


@public(Gating)
def assert_no_worse(
    new: Any,
    old: Any,
    measures: str | pl.Expr | Iterable[str | pl.Expr],
    *,
    floors: Mapping[str, float] | None = None,
    inconclusive: Literal["fail", "warn", "pass"] = "fail",
    **options: Unpack[Gating],
) -> None:
    """Raise an `AssertionError` unless a new system is no worse than an old one, by `gate`: a test of pytest's.

    Its text is the verdict on every measure, with the notes of `gate`.

    Parameters
    ----------
    new, old, measures
        As in `gate`.
    floors
        The lowest mean that new may have, by measure, whatever old has; the highest of a measure whose lowest value is
        the best.
    inconclusive
        What becomes of a change of which these queries can not tell, the usual verdict with 50 of them: `"fail"`,
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
    judged = to_polars("verdict", gate(new, old, measures, **options), column="score").lazy().collect()
    verdict = with_floors(judged, {} if floors is None else floors, options["ranges"] or {})
    if fails(verdict, inconclusive):
        raise AssertionError(as_text(verdict))
    if inconclusive == "warn" and not verdict["passed"].all():
        warn(f"these queries can not tell whether the change is harmless. {as_text(verdict)}")


def fails(verdict: pl.DataFrame, inconclusive: str) -> bool:
    """True for a verdict that stops a change."""
    undecided = pl.col("verdict") == "inconclusive" if inconclusive != "fail" else pl.lit(False)
    return not verdict.select((pl.col("passed") | undecided).all()).item()


def with_floors(
    verdict: pl.DataFrame, floors: Mapping[str, float], ranges: Mapping[str, tuple[float, float]]
) -> pl.DataFrame:
    """The verdict, in which a measure whose mean is beyond its floor does not pass; the note says by what."""
    rows = verdict.to_dicts()
    if not isinstance(floors, Mapping):
        raise OptionError(
            f"must be a dict of a mean by measure, as {{'nDCG@10': 0.3}}; got {floors!r}.", about="floors"
        )
    by_column("floors", floors, lambda name: [canonical_name(name)])
    for name, given in floors.items():
        judged = [row for row in rows if canonical_name(row["measure"]) == canonical_name(name)]
        if not judged:
            measures = list(dict.fromkeys(row["measure"] for row in rows))
            says = f"names {name!r}, which is not judged: {quoted(measures)}."
            raise OptionError(says, about="floors", near=nearest(name, measures))
        floor = check(f"floors[{name!r}]", given, any_number())
        own = ranges.get(judged[0]["measure"]) or range_of(judged[0]["measure"])
        is_cost = own is not None and own[1] < own[0]
        for row in judged:
            mean = row["mean"]
            if mean is None or (mean > floor if is_cost else mean < floor):
                note = f"its mean must be {floor:g} or {'less' if is_cost else 'more'}"
                row.update(verdict=BEYOND, passed=False, note="; ".join(filter(None, [note, row["note"]])))
    return pl.DataFrame(rows, schema=verdict.schema)
