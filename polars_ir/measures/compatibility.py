"""Compatibility: how much a ranking overlaps with the ideal one, from the top of both."""

from __future__ import annotations

import math

import polars as pl

from polars_ir.parameters import Parameter, number
from polars_ir.registry import measure
from polars_ir.vocabulary import n_retrieved, rank, ratio, relevance, total

#: What a weight below adds to a sum no longer.
NEGLIGIBLE = 1e-18

#: The table of weights ends where they are negligible: after 806 places for 0.95, 414,000 for this.
HIGHEST = 0.9999

PERSISTENCE = Parameter(
    "Persistence: how likely the reader goes on from one depth to the next.",
    f"a number above 0 and up to {HIGHEST}",
    lambda v: number(v) and 0 < v <= HIGHEST,
)
NORMALIZE = Parameter(
    "Whether the ideal ranking has a compatibility of 1, however short it is.",
    "True or False",
    lambda v: isinstance(v, bool),
)


@measure(
    "Compat",
    source="Clarke et al. 2021, https://doi.org/10.1145/3451161; https://github.com/claclark/Compatibility",
    also={"ir_measures": "Compat"},
    parameters={"p": PERSISTENCE, "normalize": NORMALIZE},
)
def compatibility(*, p: float = 0.95, normalize: bool = True) -> pl.Expr:
    """Compatibility: the rank-biased overlap of the ranking with the ideal one, out of the most there can be.

    The sum over depths d of p^(d-1) * overlap(d) / d, out of the same sum for the ideal ranking with itself; overlap(d)
    counts the documents that both have among the first d. Depths go down to the end of the longer of the two, as in
    ir_measures; the authors' script goes to 1000. With `normalize=False` it is out of the sum of p^(d-1). The ideal
    ranking has the documents with a grade above 0, grades falling, equal grades in the order of the run, those that
    were not retrieved last. Undefined when no document has such a grade.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, ir.compatibility(p=0.5)).row(0)
    ('q', 0.2)
    """
    graded = relevance > 0
    # One key after the other: Polars 1 does not sort by two where a group is empty.
    grades = relevance.filter(graded).sort_by(rank.filter(graded), nulls_last=True)
    in_order = rank.filter(graded).sort(nulls_last=True).cast(pl.Int64)
    ranks = in_order.sort_by(grades, descending=True, maintain_order=True)
    places = pl.int_range(1, ranks.len() + 1)
    deepest = pl.max_horizontal(n_retrieved, ranks.len()).cast(pl.Int64)
    found = overlap(pl.max_horizontal(ranks, places).filter(ranks.is_not_null()), deepest, p)
    if normalize:
        return ratio(found, overlap(places, deepest, p))
    return pl.when(graded.any()).then(found * (1 - p) / (1 - p ** deepest.cast(pl.Float64)))


def overlap(depths: pl.Expr, deepest: pl.Expr, p: float) -> pl.Expr:
    """The overlap of two rankings over all depths, from the depths at which they come to share each document.

    A document shared from depth m on adds p^(d-1) / d for every depth d from m to the deepest: the sum from m on, of
    which a table has every one, less the sum below the deepest.
    """
    places = max(2, math.ceil(math.log(NEGLIGIBLE) / math.log(p)))
    place = pl.int_range(1, places + 1).cast(pl.Float64)
    onwards = pl.lit(pl.select((p ** (place - 1) / place).cum_sum(reverse=True)).to_series())
    # In a list: elsewhere in an aggregation Polars 1 looks up other places in a constant column than it is asked to.
    with_end = depths.append(deepest + 1).implode()
    from_there_on = onwards.gather(pl.element().clip(upper_bound=places) - 1)
    return with_end.list.eval(total(from_there_on - from_there_on.last())).list.first()
