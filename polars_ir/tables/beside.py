"""The columns beside the means of a publication table: intervals, differences to the baseline, and p.

Conventions: as in `cells`, a frame of cells in the same columns, with a heading of its own for each part. Differences
and their intervals always have a sign, which is a minus and no hyphen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.options import check, one_of
from polars_ir.tables.cells import FIGURE_SPACE, UNDEFINED

#: The parts beside each mean, with the words behind the measure in the heading.
PARTS = {"interval": "{:.3g} % interval", "difference": "difference", "p": "p"}

MINUS = "\N{MINUS SIGN}"


def parts_of(show: object) -> list[str]:
    """The wanted parts, in the order of the columns."""
    wanted = list(show) if isinstance(show, (list, tuple, set)) else [show]
    for part in wanted:
        check("show", part, one_of(*PARTS))
    return [part for part in PARTS if part in wanted]


def check_parts(parts: Sequence[str], baseline: str | None, test: str | None) -> None:
    """Raise an `OptionError` for parts that are of a comparison which is not made."""
    lacking = "baseline" if baseline is None else "test" if test is None else None
    for part in ("difference", "p"):
        if part in parts and lacking is not None:
            says = f"has {part!r}, which needs a baseline and a test."
            raise OptionError(says, about="show", fix=f"Name the {lacking}")


def p_text(p: float) -> str:
    """A p as papers print it.

    >>> p_text(0.02349), p_text(0.0004), p_text(1.0)
    ('.023', '<.001', '1.000')
    """
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def beside(
    column: pl.DataFrame,
    parts: Sequence[str],
    figures: Mapping[str, pl.DataFrame | None],
    *,
    times: int,
    digits: int,
    confidence: float,
) -> Iterator[pl.DataFrame]:
    """The cells beside those of a measure; `figures` are rows of `summarize` and of `compare`."""
    measure, systems = column["measure"][0], column["run"].to_list()
    intervals, compared = (_by_system(figures[name], measure) for name in ("intervals", "compared"))
    for part in parts:
        if part == "interval":
            texts = _aligned([_ends(intervals.get(system, {}), times, f".{digits}f") for system in systems])
        elif part == "difference":
            texts = _differences([compared.get(system, {}) for system in systems], times, digits)
        else:
            p = [compared.get(system, {}).get("p_corrected") for system in systems]
            texts = _aligned([[UNDEFINED] if value is None else [p_text(value)] for value in p])
        yield column.with_columns(
            part=pl.lit(part),
            heading=pl.lit(f"{measure} {PARTS[part].format(100 * confidence)}"),
            mean=pl.lit(None, pl.Float64),
            text=pl.Series(texts, dtype=pl.String),
            marks=pl.lit(""),
            best=pl.lit(False),
        )


def _by_system(rows: pl.DataFrame | None, measure: str) -> dict[str, dict[str, Any]]:
    """The rows of a measure by their systems."""
    return {} if rows is None else {row["run"]: row for row in rows.filter(measure=measure).iter_rows(named=True)}


def _ends(row: Mapping[str, Any], times: int, form: str) -> list[str]:
    """Both ends of an interval, printed; a dash where it is null."""
    if row.get("low") is None:
        return [UNDEFINED]
    return [_number(times * row[end], form) for end in ("low", "high")]


def _differences(rows: Sequence[Mapping[str, Any]], times: int, digits: int) -> list[str]:
    """Differences with their intervals; a dash where they are null, as for the baseline."""
    form = f"+.{digits}f"
    none = all(row.get("difference") is None for row in rows)
    numbers = [UNDEFINED if row.get("difference") is None else _number(times * row["difference"], form) for row in rows]
    width = max(map(len, numbers), default=0)
    ends = _aligned([_ends(row, times, form) for row in rows])
    return [
        number.rjust(width, FIGURE_SPACE) + ("" if none or row.get("low") is None else f" {both}")
        for number, both, row in zip(numbers, ends, rows, strict=True)
    ]


def _number(value: float, form: str) -> str:
    # A figure that is rounded to 0 has no minus.
    return format(value, form.replace(".", "z.")).replace("-", MINUS)


def _aligned(pairs: Sequence[Sequence[str]]) -> list[str]:
    """Single texts flush right; pairs in brackets, each place of them flush right."""
    widths = [max((len(pair[place]) for pair in pairs if len(pair) == 2), default=0) for place in (0, 1)]
    printed = [
        pair[0]
        if len(pair) == 1
        else f"[{', '.join(end.rjust(width, FIGURE_SPACE) for end, width in zip(pair, widths, strict=True))}]"
        for pair in pairs
    ]
    width = max(map(len, printed), default=0)
    return [text.rjust(width, FIGURE_SPACE) for text in printed]
