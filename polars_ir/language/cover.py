"""Worth of a document by the subtopics it covers, and the column of its place in the greedy ideal ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from polars_ir.language.parametrised import ParametrisedColumns


class Cover(NamedTuple):
    """Worth of a document by a subtopic it is relevant for: the parameters that measures of diversity share.

    `k` is the depth of a greedy ideal ranking; None for all that adds something.
    """

    alpha: float
    rel: float
    gains: Mapping[float, float] | None
    weights: str | None
    k: int | None = None

    @property
    def gain(self) -> pl.Expr:
        """Share of the need for a subtopic that a document meets, from 0 to 1; all of it for grades outside `gains`.

        >>> pl.DataFrame({"relevance": [2, 0, None]}).select(Cover(0.5, 1, {1: 0.25, 2: 0.75}, None).gain).rows()
        [(0.75,), (0.0,), (0.0,)]
        """
        relevant = pl.col("relevance") >= self.rel
        if self.gains is None:
            return relevant.fill_null(False).cast(pl.Float64)
        grade = pl.col("relevance").cast(pl.Float64)
        of_grades = {float(grade): float(gain) for grade, gain in self.gains.items()}
        return (
            pl.when(relevant).then(grade.replace_strict(of_grades, default=1.0, return_dtype=pl.Float64)).otherwise(0.0)
        )

    @property
    def weight(self) -> pl.Expr:
        """Weight of the subtopic; NaN, so that it shows, where it is null or negative.

        >>> pl.DataFrame({"p": [0.75, None, -1]}).select(Cover(0.5, 1, None, "p").weight).rows()
        [(0.75,), (nan,), (nan,)]
        """
        if self.weights is None:
            return pl.lit(1.0)
        weight = pl.col(self.weights)
        return pl.when(weight >= 0).then(weight * 1.0).otherwise(float("nan"))


#: Columns of greedy ranks.
GREEDY = ParametrisedColumns("greedy_rank", Cover)


def greedy_rank(cover: Cover, k: int | None) -> pl.Expr:
    """Column of the 1-based place of a document in the greedy ideal ranking; null beyond the first `k` places.

    >>> greedy_rank(Cover(0.5, 1, None, None), 20).meta.output_name()
    'greedy_rank(alpha=0.5, rel=1.0, gains=None, weights=None, k=20)'
    """
    # Numbers of other libraries are not printed as literals.
    gains = None if cover.gains is None else {float(grade): float(gain) for grade, gain in cover.gains.items()}
    depth = None if k is None else int(k)
    return GREEDY.column(Cover(float(cover.alpha), float(cover.rel), gains, cover.weights, depth))
