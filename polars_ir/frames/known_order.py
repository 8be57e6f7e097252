"""The order of rows that a plan says it has, and the rule that each row of it occurs once.

Conventions: rows that are sorted by query are grouped as they come, so that memory holds no row per query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import polars as pl
import polars.selectors as cs

from polars_ir.errors import option
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import collected
from polars_ir.frames.rules import Rule, keys_perhaps, once

#: Lines of an explained plan whose nodes keep the order of rows: projections, filters and slices.
KEEPS_ORDER = re.compile(r"SELECT \[|WITH_COLUMNS:$|\[.*\]$|FILTER |FROM$|SLICE\[")

#: A column of a hint, and whether it falls.
HINTED = re.compile(r"'([^']+)': \{ descending: (true|false)")

#: Row count of a ranking, which must be one.
ROWS = "polars_ir: rows"


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


def rows_of_plan(
    table: CanonicalFrame,
    rows: pl.LazyFrame,
    measures: Sequence[str],
    keys: Sequence[str],
    *,
    as_they_come: bool,
    repeated: bool,
) -> tuple[pl.LazyFrame, list[str]]:
    """Rows of a plan, and the keys, the query first, that they are sorted by if they stay as they come.

    Unless rows may be `repeated`, the plan fails if two of them are of the same ranking.
    """
    order = known_order(table.all_columns(), _query_first(table.keys)) if as_they_come else []
    rows = rows.set_sorted(*order) if order else rows
    if not repeated:
        return _once(table, rows, order, measures, keys), order
    if order:
        # A separate pass: between a scan and a group_by Polars would keep all rows for a shift.
        rises = table.checked(_sorted(table, order), rows=table.select(*table.keys))
        collected(rises.select(pl.all().null_count()), "streaming")
    return rows, order


def once_of_plan(table: CanonicalFrame, keys: Sequence[str], measures: Sequence[str]) -> Rule:
    """The rule that no two rows of a plan have the same keys; its advice names columns that may distinguish them."""
    rule = once(table.about, keys, table.names)
    spare = keys_perhaps({name: dtype for name, dtype in table.dtypes.items() if name not in measures}, keys)
    named = " or ".join(option("by", name) for name in spare)
    return rule._replace(fix=f"Name what distinguishes them: {named}.") if spare else rule


def _once(
    table: CanonicalFrame, rows: pl.LazyFrame, order: Sequence[str], measures: Sequence[str], keys: Sequence[str]
) -> pl.LazyFrame:
    """Rows of a plan, which fails if two of them are of the same ranking, or if they are not in a known order."""
    keys = list(dict.fromkeys([*keys, *table.keys]))
    rule = once_of_plan(table, keys, measures)
    # There is one of each; a maximum takes half the time of a first value, and keeps as much as a row of each.
    ordered = cs.numeric() | cs.boolean() | cs.temporal() | cs.string()
    values = (cs.exclude(keys) & ordered).max(), (cs.exclude(keys) - ordered).first()
    # Grouped by more keys than are in order, they are unordered. The engine in memory keeps an order only if told to.
    has_order = len(order) == len(keys)
    found = rows.group_by(_query_first(keys), maintain_order=has_order).agg(*values, pl.len().alias(ROWS))
    # Rows without a key are an error of their own.
    several = (pl.col(ROWS) > 1) & pl.all_horizontal(pl.col(keys).is_not_null())
    rules = [rule._replace(wrong=several), *([_sorted(table, order)] if has_order else [])]
    return table.checked(*rules, rows=found).drop(ROWS)


def _query_first(keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(["query_id", *keys]))


def _sorted(table: CanonicalFrame, order: Sequence[str]) -> Rule:
    """The rule that rows are sorted by some keys, as a plan claims: a query with scattered rows would be several."""
    falls, same = pl.lit(False), pl.lit(True)
    for key in map(pl.col, order):
        falls |= same & (key < key.shift())
        same &= key == key.shift()
    listed = ", ".join(repr(table.names[key]) for key in order)
    wrong = f"out of order, where its plan says that it is sorted by {listed}"
    return Rule(falls, wrong, "Sort them, or leave set_sorted out")
