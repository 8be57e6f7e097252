"""The greedy ideal ranking of documents that cover subtopics: the divisor of the normalised measures of diversity.

Conventions
    * A document is worth what it adds to those above it: the sum, over its subtopics, of weight * gain * product of
      (1 - alpha * gain) over the documents above that cover the subtopic too. The best ranking is not to be found in
      general; the greedy one takes, place by place, the document worth most (Clarke et al. 2008).
    * Of documents worth the same the one with the larger id comes first, as in ndeval.
    * The rank depends on the parameters of a measure and no aggregation can find it, so it is a column of the judged
      relation whose *name* says what it is: `greedy_rank` names it, `with_greedy_rank` adds it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import polars as pl

from polars_ir.errors import Code, Fix, IRError
from polars_ir.language.cover import GREEDY, Cover
from polars_ir.language.words import ROUNDED_TO, text

#: Maximum number of places filled in one plan: each makes it deeper, and at some 1000 Polars runs out of stack.
DEEPEST = 100


def with_greedy_rank(
    judgments: pl.DataFrame | pl.LazyFrame, *columns: str, keys: Sequence[str] = ("query_id",)
) -> pl.LazyFrame:
    """Judgments of subtopics with columns of greedy ranks, the same in all rows of a document.

    A document has no place where it adds nothing to those above it, nor beyond the cutoff. Of judgments in memory the
    search ends when no document is left that adds something, and needs no cutoff; the plan of a LazyFrame has to know
    before how many places it fills.

    >>> judgments = pl.LazyFrame({"query_id": 1, "subtopic": ["a", "b", "a"], "doc_id": [7, 7, 8], "relevance": 1})
    >>> from polars_ir.language.cover import greedy_rank
    >>> name = greedy_rank(Cover(0.5, 1, None, None), 20).meta.output_name()
    >>> with_greedy_rank(judgments, name).sort("doc_id").collect()[name].to_list()
    [1, 1, 2]
    """
    ranked, eager = judgments.lazy(), isinstance(judgments, pl.DataFrame)
    for column in columns:
        # Each from the judgments themselves: a plan that held the columns before would double with every one.
        places = _places(judgments.lazy(), column, list(keys), eager=eager)
        ranked = ranked.join(places, on=[*keys, "doc_id"], how="left")
    return ranked


def _places(judgments: pl.LazyFrame, column: str, keys: list[str], *, eager: bool) -> pl.LazyFrame:
    """A row for every document that has a place in a greedy ideal ranking."""
    cover = GREEDY.parameters(column)
    k = cover.k
    places = _covering(judgments, cover, keys)
    if eager:
        places = _filled(places.collect(engine="in-memory"), cover.alpha, k).lazy()
    elif k is None or k > DEEPEST:
        raise IRError(
            f"a greedy ideal ranking fills at most {DEEPEST} places where qrels is a LazyFrame; wanted are "
            f"{k or 'all'}.",
            fix=Fix("Give a lower cutoff, as in 'alpha_nDCG@20', or collect the qrels first", Code.collecting("qrels")),
        )
    else:
        for place in range(1, k + 1):
            places = _with_place(places, cover.alpha, place)
    return places.select(*keys, "doc_id", pl.col("place").alias(column)).drop_nulls(column).unique()


def _covering(judgments: pl.LazyFrame, cover: Cover, keys: list[str]) -> pl.LazyFrame:
    """A row for every subtopic that a document covers, with numbers instead of ids."""
    needed = dict.fromkeys([*keys, "doc_id", "subtopic", *([cover.weights] if cover.weights else []), "relevance"])
    covering = (
        judgments.select(*needed)
        .filter(pl.col("relevance") >= cover.rel)
        .select(*keys, "doc_id", "subtopic", gain=cover.gain, worth=cover.gain * cover.weight)
        .filter(pl.col("gain") > 0)
        .sort(*keys, text("doc_id"), "subtopic")
    )
    return covering.select(
        *keys,
        "doc_id",
        "gain",
        "worth",
        query=pl.struct(keys).rle_id(),
        # The larger id has the larger number.
        document=pl.struct(*keys, "doc_id").rle_id(),
        need=pl.struct(*keys, "subtopic").rank("dense"),
        place=pl.lit(None, pl.UInt32),
    )


def _filled(places: pl.DataFrame, alpha: float, k: int | None) -> pl.DataFrame:
    """The documents with their places: the first `k`, or all that add something to those above them."""
    for place in itertools.count(1) if k is None else range(1, k + 1):
        places = _with_place(places.lazy(), alpha, place).collect(engine="in-memory")
        if not places["taken"].any():
            break
    return places


def _with_place(places: pl.LazyFrame, alpha: float, place: int) -> pl.LazyFrame:
    """One more place filled, in every query, and the remaining need for the subtopics that it covers."""
    added = pl.col("worth").sum().over("document")
    # Gains are sums of products, of which rounding would make the largest chance.
    best = pl.col("added").max().over("query") * (1 - ROUNDED_TO)
    first = pl.col("document").filter("tied").max().over("query")
    met = pl.when("taken").then(pl.col("gain")).otherwise(0.0).max().over("need")
    return (
        places.with_columns(added=pl.when(pl.col("place").is_null() & (added > 0)).then(added))
        .with_columns(tied=pl.col("added") >= best)
        .with_columns(taken=pl.col("document") == first)
        .with_columns(
            worth=pl.col("worth") * (1 - alpha * met),
            place=pl.when("taken").then(pl.lit(place, pl.UInt32)).otherwise("place"),
        )
    )
