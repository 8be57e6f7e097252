"""Counts by stratum of the pool, as measures of judgments that are a sample by strata read them.

Conventions (NIST's sample_eval): a document of the pool that was not judged has a grade below 0. Only the first
`DEPTH` documents of a ranking count. Columns are named by `OF_POOL` and a word:

- `weight`: documents of the stratum, by those of it that were judged;
- `share`: the same among those that were retrieved;
- `above 1`: the precision expected above a document, times the number of documents there, with grades from 1;
- `best`: the discounted gain of all documents of a grade in the best ranking of the pool, in a row of that grade.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_ir.language.kinds import OF_POOL, STRATUM
from polars_ir.language.measures.average_precision import EPSILON
from polars_ir.language.measures.positions import DEPTH
from polars_ir.language.words import rank, relevance

ABOVE, BEST = f"{OF_POOL}above ", f"{OF_POOL}best"

#: True for a document of the pool that was judged.
judged = (relevance >= 0).fill_null(False)

place, found, text = (pl.col(f"polars_ir: {name}") for name in ("place", "found", "text"))


def with_pool(relation: pl.LazyFrame, *named: str, keys: Sequence[str]) -> pl.LazyFrame:
    """The judged relation, by ranking, with columns of such names."""
    stratum, in_pool = [*keys, STRATUM], relevance.is_not_null()
    there = (in_pool & (rank <= DEPTH)).fill_null(False)
    rows = relation.with_columns(there.alias("polars_ir: found"))
    rows = rows.with_columns(
        pl.when(found).then(rank).alias("polars_ir: place"),
        (in_pool.sum() / judged.sum()).over(stratum).alias(f"{OF_POOL}weight"),
        (found.sum() / (found & judged).sum()).over(stratum).alias(f"{OF_POOL}share"),
    )
    for name in named:
        if name.startswith(ABOVE):
            rows = _with_above(rows, name, keys)
    rows = _with_best(rows, keys) if BEST in named else rows
    return rows.drop(column.meta.output_name() for column in (place, found))


def _with_above(rows: pl.LazyFrame, name: str, keys: Sequence[str]) -> pl.LazyFrame:
    """The rows with the sum over the strata, of the documents above each."""
    counted = {"seen": found, "judged": found & judged, "hits": found & (relevance >= float(name.removeprefix(ABOVE)))}
    rows = rows.with_columns(
        value.fill_null(False).cast(pl.Int64).alias(f"polars_ir: {kind}") for kind, value in counted.items()
    )
    own = {kind: pl.col(f"polars_ir: {kind}") for kind in counted}
    # Documents without a place come first, and count nothing.
    rows = rows.with_columns(
        each.cum_sum().over([*keys, STRATUM], order_by=place).alias(f"polars_ir: {kind} down to")
        for kind, each in own.items()
    )
    after = {kind: pl.col(f"polars_ir: {kind} down to") for kind in counted}
    before = {kind: after[kind] - own[kind] for kind in counted}
    expected_after, expected_before = (
        n["seen"] * (n["hits"] + EPSILON) / (n["judged"] + 3 * EPSILON) for n in (after, before)
    )
    added = pl.col("polars_ir: added")
    rows = rows.with_columns(
        pl.when(found).then(expected_after - expected_before).otherwise(0.0).alias("polars_ir: added")
    )
    rows = rows.with_columns((added.cum_sum() - added).over(keys, order_by=place).alias(name))
    return rows.drop("polars_ir: added", *(f"polars_ir: {kind}{of}" for kind in counted for of in ("", " down to")))


def _with_best(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """The rows with the discounted gains of each grade, of as many documents as the sample lets expect."""
    schema = rows.collect_schema()
    rows = rows.with_columns(pl.when(relevance > 0).then(relevance.cast(pl.String)).alias("polars_ir: text"))
    number, before, beyond = (pl.col(f"polars_ir: {name}") for name in ("number", "before", "beyond"))
    # Sums of quotients: without the digits of their rounding, a half is one.
    # Only documents with a grade are counted: a stratum without any judged one has no weight.
    weight = pl.when(relevance > 0).then(pl.col(f"{OF_POOL}weight"))
    of_grade = (weight.sum().round(6) + 0.5).floor().cast(pl.Int64)
    is_first = pl.int_range(pl.len()) == 0
    rows = rows.with_columns(pl.when(is_first).then(of_grade).over([*keys, text]).alias("polars_ir: number"))
    rows = rows.with_columns(pl.when(text.is_not_null()).then(number).fill_null(0).alias("polars_ir: number"))
    rows = rows.with_columns(
        (number.cum_sum() - number).over(keys, order_by=text, descending=True).alias("polars_ir: before")
    )
    rows = rows.with_columns(((before >= DEPTH) & (number > 0)).alias("polars_ir: beyond"))
    # Beyond the depth each grade has one more document, at a place of its own.
    extra = DEPTH + beyond.cum_sum().over(keys, order_by=text, descending=True).cast(pl.Int64)
    at = pl.int_range(1, DEPTH + 1, eager=True)
    discounts = pl.lit(pl.concat([pl.Series([0.0]), (1 / (at + 1).log(2)).cum_sum()]))
    sums = discounts.gather((before + number).clip(0, DEPTH)) - discounts.gather(before.clip(0, DEPTH))
    worth = pl.when(beyond).then(1 / (extra + 1).log(2)).otherwise(sums)
    rows = rows.with_columns(pl.when(number > 0).then(relevance * worth).otherwise(0.0).alias(BEST))
    return rows.select(*schema, BEST)
