"""Names of columns of per-query frames: their measure, its facts, and companions such as `AP low`."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from typing import Literal

from polars_ir.errors import MeasureError
from polars_ir.language import sql
from polars_ir.language.catalog import CATALOG, Average, Measure, catalogued
from polars_ir.language.dialects import ParsedName, measure_named
from polars_ir.language.measure import PARTS, of_part

#: The suffix of a companion column at the end of a name in SQL: `ndcg_10_low`.
PART_IN_SQL = re.compile(rf"_(?:{'|'.join(PARTS)})$", re.IGNORECASE)


#: The cutoff after the `@` of a canonical name.
CUTOFF = re.compile(r"\d{1,10}", re.ASCII)


def canonical(name: str) -> ParsedName | None:
    """The measure of a canonical name with at most a cutoff; None for any other notation, which `dialects` reads.

    >>> canonical("nDCG@10").arguments, canonical("ndcg@10"), canonical("P(rel=2)@5")
    ({'k': 10}, None, None)
    """
    measure, at, cutoff = name.partition("@")
    info = CATALOG.get(measure)
    if info is None:
        return None
    if not at:
        return ParsedName(info, {})
    takes_cutoff = info.at == "k" and "k" in info.parameters
    return ParsedName(info, {"k": int(cutoff)}) if takes_cutoff and CUTOFF.fullmatch(cutoff) else None


def column_of(name: str) -> ParsedName | None:
    """The measure of a column of a per-query frame, by its name; None for a column of the user's own.

    >>> column_of("gm_map").info.average, column_of("Hole@10 low").info.best, column_of("mine")
    ('geometric', 0.0, None)
    """
    measure = measure_of(name)
    return canonical(measure) or _column(measure, catalogued())


@functools.lru_cache(maxsize=1 << 14)  # the columns of a frame, which calls name in turns
def _column(measure: str, _catalog: tuple[Measure, ...]) -> ParsedName | None:
    return measure_named(measure) or measure_named(PART_IN_SQL.sub("", measure))


def is_cost(column: str) -> bool:
    """True where the lowest value of a measure is its best one, as far as the name of a column shows."""
    named = column_of(column)
    return named is not None and named.info.best == named.info.bounds[0]


def average_of(column: str, columns: Collection[str] = ()) -> Average | Literal["error"]:
    """The mean of the values of queries, as far as the name of a column shows; for standard errors, that of the mean.

    These belong to a measure of the catalogue, or to another one among the columns of the frame.

    >>> average_of("GMAP(rel=2) high"), average_of("ours se"), average_of("mine se", ["mine", "mine se"])
    ('geometric', 'arithmetic', 'error')
    """
    named = column_of(column)
    if named is None:
        return "error" if part_of(column, columns)[1] == "se" else "arithmetic"
    return "error" if column.casefold().endswith((" se", "_se")) else named.info.average


def canonical_name(column: str) -> str:
    """The canonical name of the measure, or companion, that a column is named for; for other columns their own name.

    >>> canonical_name("ndcg_10"), canonical_name("RBP_P_0_9_LOW"), canonical_name("mine")
    ('nDCG@10', 'RBP(p=0.9) low', 'mine')
    """
    if not isinstance(column, str):
        raise MeasureError(f"the name of a measure must be a text; got {column!r}.")
    named = column_of(column)
    if named is None:
        return column
    measure = named.info.column({**named.info.parameters, **named.arguments})
    part = measure_part(column)
    return of_part(measure, part) if part else measure


def measure_of(column: str) -> str:
    """Name of a column without its companion suffix.

    >>> measure_of("AP high"), measure_of("AP"), measure_of("high")
    ('AP', 'AP', 'high')
    """
    measure, _, part = column.rpartition(" ")
    return measure if measure and part in PARTS else column


def measure_part(column: str) -> str | None:
    """The companion suffix at the end of a column's name."""
    return next((part for part in PARTS if re.search(rf"[ _]{part}$", column, re.IGNORECASE)), None)


def part_of(column: str, columns: Collection[str]) -> tuple[str, str | None]:
    """The measure that a column accompanies, among others, and the suffix; else the column itself.

    >>> part_of("ndcg_10_low", ["ndcg_10", "ndcg_10_low"]), part_of("AP low", ["AP low"])
    (('ndcg_10', 'low'), ('AP low', None))
    """
    part = measure_part(column)
    measure = column[: -len(part) - 1] if part else ""
    return (measure, part) if measure in columns else (column, None)


def sql_part(measure: str, part: str) -> str | None:
    """Name of a companion column of a measure named in SQL; None for another name.

    >>> sql_part("ndcg_10", "low"), sql_part("nDCG@10", "low")
    ('ndcg_10_low', None)
    """
    return f"{measure}_{part}" if sql.PLAIN.fullmatch(measure) and canonical_name(measure) != measure else None
