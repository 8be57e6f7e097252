"""The order of rows that a plan is known to have."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

#: First node of a plan that groups rows, and whether it takes them as they come.
GROUPED = re.compile(r'label="(sorted-)?group-by')


def known_order(rows: pl.LazyFrame, keys: Sequence[str]) -> list[str]:
    """The first keys that a plan is sorted by, as `set_sorted` says and Polars still knows: all, one or none.

    By these it groups rows as they come, and else keeps all groups in memory.
    """
    if "hint.sorted" not in rows.explain(optimized=False):
        return []
    for first in (len(keys), 1):
        grouped = rows.group_by(keys[:first]).agg()
        graph = grouped.show_graph(engine="streaming", plan_stage="physical", raw_output=True) or ""
        node = GROUPED.search(graph)
        if node and node[1] and "descending: true" not in graph:
            return list(keys[:first])
    return []
