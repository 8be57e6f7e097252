"""The words of measures of diversity: the gain of a document over those above it, by the subtopics it covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from polars_ir.language.cover import Cover, greedy_rank
from polars_ir.language.measures.positions import over_places
from polars_ir.language.options import Option, Value, chance, is_number
from polars_ir.language.words import discounted, n_retrieved, rank, ratio, top, total

subtopic = pl.col("subtopic")


def _map_of_shares(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and len(value) > 0
        and all(is_number(grade) and is_number(gain) and 0 <= gain <= 1 for grade, gain in value.items())
    )


WEIGHTS = {
    "weights": Option(
        None,
        Value("the name of a column of the qrels", lambda value: isinstance(value, str) and value != ""),
        "The column of the qrels with the weights of subtopics, the same in all rows of one, as the probabilities of "
        "intents; None: all weigh the same. A weight that is null or negative makes the measure NaN.",
    ),
}
NOVELTY = {
    "alpha": Option(
        0.5,
        Value("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1),
        "The share of the need for a subtopic that a document covering it meets: 0 counts subtopics again and again, 1 "
        "only the first time.",
    ),
    "gains": Option(
        None,
        Value("a map from grades to numbers from 0 to 1, as in {1: 0.5, 2: 1}", _map_of_shares),
        "The gains of grades: a map to values from 0 to 1; a relevant document of another grade gains 1.",
    ),
    **WEIGHTS,
}
BETA = {"beta": Option(0.5, chance(), "Patience: how likely the reader goes on from one document to the next.")}

#: The weight of a gain at a place.
Discount = Callable[[pl.Expr], pl.Expr]


def by_log2(place: pl.Expr) -> pl.Expr:
    """A gain divided by the logarithm of its place."""
    return 1 / discounted(place, "log2")


def by_rank(place: pl.Expr) -> pl.Expr:
    """A gain divided by its place."""
    return 1 / discounted(place, "rank")


def by_patience(beta: float) -> Discount:
    """A gain that a reader meets who goes on to the next document with chance `beta`."""
    return lambda place: beta ** (place.cast(pl.Float64) - 1)


def covering(cover: Cover, order: pl.Expr, k: int | None, *columns: pl.Expr) -> pl.Expr:
    """The rows in which one of the first `k` documents of an order covers a subtopic, by subtopic and in that order."""
    gain = cover.gain
    rows = pl.struct(subtopic, order.alias("place"), gain.alias("gain"), (gain * cover.weight).alias("worth"), *columns)
    return rows.filter((gain > 0) & top(k, of=order)).sort()


def above(rows: pl.Expr, counted: pl.Expr) -> pl.Expr:
    """For every row how many of those above it, in its subtopic, are counted."""
    before = counted.cum_sum().cast(pl.Int64).shift(1, fill_value=0)
    start = rows.struct.field("subtopic").rank("min").cast(pl.Int64) - 1
    return before - before.gather(start)


def novelty(cover: Cover, order: pl.Expr, k: int | None, discount: Discount) -> pl.Expr:
    """The sum of the discounted gains of the first `k` documents of an order over those above each."""
    rows = covering(cover, order, k)
    gain, left = rows.struct.field("gain"), pl.lit(1.0)
    for share in sorted({1.0, *(float(gain) for gain in (cover.gains or {}).values() if gain > 0)}):
        left = left * (1 - cover.alpha * share) ** above(rows, gain == share)
    return total(rows.struct.field("worth") * left * discount(rows.struct.field("place")))


def weight_of(cover: Cover, where: pl.Expr | None = None) -> pl.Expr:
    """The weight of the subtopics that are covered at all, or by documents for which a condition holds."""
    covered = cover.gain > 0 if where is None else (cover.gain > 0) & where
    if cover.weights is None:
        return subtopic.filter(covered).n_unique().cast(pl.Float64)
    rows = pl.struct(subtopic, cover.weight.alias("weight")).filter(covered).sort()
    return total(rows.struct.field("weight").filter(rows.struct.field("subtopic").is_first_distinct()))


def defined(value: pl.Expr, cover: Cover) -> pl.Expr:
    """`value` where a subtopic is covered, null (undefined) where none is."""
    return pl.when(weight_of(cover) > 0).then(value)


def out_of_all(cover: Cover, k: int | None, discount: Discount) -> pl.Expr:
    """The novelty of a ranking, out of that of one in which every document covers every subtopic."""

    def new_at(place: pl.Expr) -> pl.Expr:
        return (1 - cover.alpha) ** (place.cast(pl.Float64) - 1) * discount(place)

    # At least one place, so that an empty ranking is not divided by 0.
    filled = pl.int_range(1, n_retrieved.clip(lower_bound=1) + 1)
    most = total(new_at(filled)) if k is None else over_places(new_at, k)
    return defined(novelty(cover, rank, k, discount) / (weight_of(cover) * most), cover)


def out_of_greedy(cover: Cover, k: int | None, discount: Discount, depth: int | None = None) -> pl.Expr:
    """The novelty of a ranking, out of that of the greedy ideal ranking, of which `depth` documents may do."""
    ideal = novelty(cover, greedy_rank(cover, k or depth), k or depth, discount)
    return ratio(novelty(cover, rank, k, discount), ideal)
