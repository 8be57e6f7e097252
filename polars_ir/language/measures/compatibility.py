"""Compatibility: overlap of a ranking with the ideal one, from the top of both."""

from __future__ import annotations

import math

import polars as pl

from polars_ir.language.measure import measure
from polars_ir.language.options import Option, Value, is_number, truth
from polars_ir.language.words import n_retrieved, power, rank, ranked, ratio, relevance, total

#: Weights below this no longer change a sum.
NEGLIGIBLE = 1e-18

#: The table of weights ends where they are negligible: after 806 places for 0.95, 414,000 for this.
HIGHEST = 0.9999

#: Rank of a document that was not retrieved.
NOT_RETRIEVED = 2**32 - 1

PERSISTENCE = Option(
    0.95,
    Value(f"a number above 0 and up to {HIGHEST}", lambda v: is_number(v) and 0 < v <= HIGHEST),
    "Persistence: how likely the reader goes on from one depth to the next.",
)
NORMALIZE = Option(True, truth(), "True: the ideal ranking has a compatibility of 1, however short it is.")


@measure(
    "Compat",
    source="Clarke et al. 2021, https://doi.org/10.1145/3451161; https://github.com/claclark/Compatibility",
    reads_nonrelevant=False,
    also={"ir_measures": "Compat"},
    parameters={"p": PERSISTENCE, "normalize": NORMALIZE},
)
def compatibility(*, p: float = 0.95, normalize: bool = True) -> pl.Expr:
    """Compatibility: the rank-biased overlap of the ranking with the ideal one, divided by the highest possible one.

    ::

        Compat = sum(p^(d - 1) overlap(d) / d, d = 1 .. end) / the same of the ideal ranking with itself

    overlap(d) counts the documents that both have among the first d. Depths go down to the end of the longer of the
    two, as in ir_measures; the authors' script goes to 1000. With `normalize=False` the sum of p^(d-1) divides it. The
    ideal ranking has the documents with a grade above 0, grades falling, equal grades in the order of the run,
    those that were not retrieved last; ir_measures gives these the score 0, so that they stand above retrieved ones
    with negative scores. Undefined when no document has such a grade.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, ir.compatibility(p=0.5)).row(0)
    ('q', 0.2)
    """
    graded = relevance > 0
    n_graded = graded.sum().cast(pl.Int64)
    places = pl.int_range(1, n_graded + 1)
    end = pl.max_horizontal(n_retrieved, n_graded).cast(pl.Int64) + 1
    # One key, for one sort: grades falling, then the order of the run, unretrieved documents last.
    ranks = rank.fill_null(NOT_RETRIEVED).cast(pl.Int64)
    in_both_from = pl.max_horizontal(ranked(ranks, graded, by=pl.struct(-relevance, ranks)), places)
    agreement = overlap(pl.min_horizontal(in_both_from, end), end, p)
    if normalize:
        return ratio(agreement, overlap(places, end, p))
    return pl.when(graded.any()).then(agreement * (1 - p) / (1 - power(p, end - 1)))


def overlap(depths: pl.Expr, end: pl.Expr, p: float) -> pl.Expr:
    """Overlap of two rankings over all depths, from the depths at which they come to share each document.

    A document shared at depth m and below adds p^(d-1) / d for every depth d from m to before the end: the sum over all
    d >= m, which a table has, less the sum over all d >= the end.
    """
    n_places = max(2, math.ceil(math.log(NEGLIGIBLE) / math.log(p)))
    place = pl.int_range(1, n_places + 1, eager=True)
    onwards = pl.lit((p ** (place - 1).cast(pl.Float64) / place).cum_sum(reverse=True))
    # Polars forgets the type of gathered values where there is no query at all; adding 0 restores it.
    shared, beyond = (onwards.gather(depth.clip(upper_bound=n_places) - 1) + 0.0 for depth in (depths, end))
    return total(shared - beyond)
