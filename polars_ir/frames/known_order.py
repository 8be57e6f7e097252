"""The order of rows that a plan says it has."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

#: Lines of an explained plan whose nodes keep the order of rows: projections, filters and slices.
KEEPS_ORDER = re.compile(r"SELECT \[|WITH_COLUMNS:$|\[.*\]$|FILTER |FROM$|SLICE\[")

#: A column of a hint, and whether it falls.
HINTED = re.compile(r"'([^']+)': \{ descending: (true|false)")


def known_order(rows: pl.LazyFrame, keys: Sequence[str]) -> list[str]:
    """The first keys that a plan is sorted by, as its last `set_sorted` says: all, one or none.

    By these Polars groups rows as they come, and else keeps all groups in memory. A plan that sorts, joins or
    concatenates later, or computes a key, no longer says so: rows that are in another order would be an error.
    """
    later, hint, rest = rows.explain(optimized=False).partition("hint.sorted(")
    if not hint:
        return []
    hinted = HINTED.findall(rest.partition("\n")[0])
    rising = [name for name, falls in hinted if falls == "false"]
    first = next((n for n in (len(keys), 1) if rising[:n] == [name for name, _ in hinted[:n]] == [*keys[:n]]), 0)
    return list(keys[:first]) if all(_keeps(line.strip(), keys[:first]) for line in later.splitlines()) else []


def _keeps(line: str, keys: Sequence[str]) -> bool:
    """True for a line of an explained plan that changes neither the order of rows nor the values of keys."""
    if not line or line.startswith(("FILTER ", "SLICE[")):
        return True
    computed = re.sub(r'(?<=\[|\s)col\("[^"]+"\)(?=[,\]])', "", line)
    return bool(KEEPS_ORDER.match(line)) and not any(re.search(rf"\b{re.escape(key)}\b", computed) for key in keys)
