"""How far down a ranking is looked at, and what of worth is lost behind that."""

from __future__ import annotations

from typing import Literal

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.identity import Measured
from polars_ir.runs.alternatives import cutoff_of
from polars_ir.values import is_whole

#: How far down rankings are shown: to the measure's cutoff, to a rank, or whole.
Depth = int | Literal["cutoff"] | None


def _rank_of(depth: Depth, measure: Measured) -> int | None:
    """The rank down to which a ranking is shown; None for all of it."""
    if depth == "cutoff":
        return cutoff_of(measure)
    if depth is not None and not is_whole(depth):
        raise OptionError(f"must be 'cutoff', a rank from 1 on, or None for all; got {depth!r}.", about="depth")
    return depth


def lost(depth: Depth, measure: Measured) -> pl.Expr:
    """Whether a document is worth something, and not retrieved down to the depth."""
    last = _rank_of(depth, measure)
    below = pl.lit(False) if last is None else pl.col("rank") > last
    return (pl.col("gain") > 0) & (pl.col("rank").is_null() | below)


def seen(explanation: pl.DataFrame, depth: Depth, measure: Measured) -> pl.DataFrame:
    """The rows of an explanation down to the depth, and those of documents that were lost."""
    last = _rank_of(depth, measure)
    if last is None:
        return explanation
    # What has a part in the value is shown, whatever a measure means by its cutoff.
    has_part = (pl.col("contribution") != 0).fill_null(False) & (depth == "cutoff")
    return explanation.filter((pl.col("rank") <= last).fill_null(False) | lost(depth, measure) | has_part)
