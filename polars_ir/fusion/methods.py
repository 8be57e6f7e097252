"""The methods of fusion: each is three expressions.

Conventions
    * `term`: the contribution of a run to a document. It reads `score` (normalised, with a norm), `rank`,
      `weight` (the run's, 1 without weights) and the counts `n_retrieved` (of the list) and `n_candidates` (of all the
      query's lists). A null term is left out.
    * `combine`: what the terms of a document become: `"sum"`, an aggregation of `term`, or `"wins"`, by pairs.
    * `final`: the fused score. It reads `combined`, `n_runs` (runs that returned the document), `weights` (the sum of
      theirs) and `all_weights` (of all the runs).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import isfunction
from typing import Literal, NamedTuple

import polars as pl

from polars_ir.language.options import chance, check, not_negative, positive
from polars_ir.language.words import power
from polars_ir.runs.norms import Norm
from polars_ir.runs.norms import dbsf as dbsf_norm

score, weight, combined = pl.col("score"), pl.col("weight"), pl.col("combined")
n_retrieved, n_candidates = pl.col("n_retrieved").cast(pl.Float64), pl.col("n_candidates").cast(pl.Float64)

#: A mean is a sum times this: Polars' engines differ in the last bit of a division by a constant.
one_of_all_weights = 1 / pl.col("all_weights")

#: Ranks as floats.
rank = pl.col("rank").cast(pl.Float64)

#: Runs that returned the document.
n_runs = pl.col("n_runs").cast(pl.Float64)


class Method(NamedTuple):
    """A method of fusion: `term` per run, `combine` over the runs, `final` per document.

    `absent` is the term of a run that lacks the document, for methods that give it one; `norm` the norm of a method
    that has its own. `by_row` says that `term` and `absent` read their own row alone, so that weights are tuned without
    a fused list of each; `falling`, that terms are in proportion to the weight, not negative, fall with the rank, and
    their sum is the score: then `top` leaves out early what cannot be among the first. `of_positive` says that scores
    of 0 have no term, nor do documents that a run lacks, so that `missing="zero"` is `"skip"`. `table` is what a method
    of `train` has learnt.
    """

    name: str
    term: pl.Expr
    combine: pl.Expr | Literal["sum", "wins"] = "sum"
    final: pl.Expr = combined
    absent: pl.Expr | None = None
    norm: Norm | None = None
    by_row: bool = False
    falling: bool = False
    of_positive: bool = False
    table: pl.DataFrame | None = None

    @property
    def adds_terms(self) -> bool:
        """True where terms are combined by their sum."""
        return isinstance(self.combine, str) and self.combine == "sum"

    @property
    def reads_weights(self) -> bool:
        """True where weights change the scores."""
        read = {*self.term.meta.root_names(), *self.final.meta.root_names()}
        return not read.isdisjoint(("weight", "weights", "all_weights"))


def comb_sum() -> Method:
    """CombSUM, with weights the weighted sum (convex combination): `sum of w s`. Fox & Shaw 1994."""
    return Method("sum", weight * score, by_row=True)


def comb_min() -> Method:
    """CombMIN: the lowest score. Fox & Shaw 1994, https://trec.nist.gov/pubs/trec2/papers/txt/23.txt."""
    return Method("min", score, pl.col("term").min())


def comb_max() -> Method:
    """CombMAX: the highest score. Fox & Shaw 1994."""
    return Method("max", score, pl.col("term").max())


def comb_med() -> Method:
    """CombMED: the median of the scores. Fox & Shaw 1994."""
    return Method("med", score, pl.col("term").median())


def comb_anz() -> Method:
    """CombANZ: `(sum of w s) / m`, the mean over the m runs that have the document. Fox & Shaw 1994."""
    return Method("anz", weight * score, final=combined / n_runs, by_row=True)


def comb_mnz() -> Method:
    """CombMNZ: `m sum of w s`. Fox & Shaw 1994; Lee 1997, https://doi.org/10.1145/258525.258587."""
    return Method("mnz", weight * score, final=combined * n_runs, by_row=True)


def comb_gmnz(gamma: float = 0.5) -> Method:
    """CombGMNZ: `m^gamma sum of w s`. Lee 1997, https://doi.org/10.1145/258525.258587."""
    return Method("gmnz", weight * score, final=combined * n_runs ** check("gamma", gamma, not_negative()), by_row=True)


def weighted_sum() -> Method:
    """The weighted sum under ranx's name: `sum of w s`."""
    return comb_sum()._replace(name="wsum")


def weighted_mnz() -> Method:
    """Weighted MNZ: `(sum of s) (sum of w over the runs that have the document)`.

    Wu & Crestani 2002, https://doi.org/10.1145/584792.584908.
    """
    return Method("wmnz", score, final=combined * pl.col("weights"), by_row=True)


def mixed() -> Method:
    """Mixed: `sqrt(m) sum of w s`. Wu & Crestani 2002, https://doi.org/10.1145/584792.584908."""
    return Method("mixed", weight * score, final=combined * n_runs.sqrt(), by_row=True)


def mean() -> Method:
    """The weighted arithmetic mean, `sum of w s / sum of w` over all runs: a run that lacks the document counts 0."""
    return Method("mean", weight * score, final=combined * one_of_all_weights, by_row=True)


def geometric_mean() -> Method:
    """The weighted geometric mean, `exp(sum of w ln s / sum of w)`, over runs that score it above 0; else 0."""
    term = pl.when(score > 0).then(weight * score.log())
    return Method(
        "geometric", term, final=_over_weights((combined / pl.col("weights")).exp()), by_row=True, of_positive=True
    )


def harmonic_mean() -> Method:
    """The weighted harmonic mean, `sum of w / sum of (w / s)`, over runs that score it above 0; else 0."""
    term = pl.when(score > 0).then(weight / score)
    return Method("harmonic", term, final=_over_weights(pl.col("weights") / combined), by_row=True, of_positive=True)


def _over_weights(value: pl.Expr) -> pl.Expr:
    """A mean over the runs that count; 0 where none does."""
    return pl.when(pl.col("weights") > 0).then(value).otherwise(0.0)


def isr() -> Method:
    """ISR: `m sum of w / rank^2`. Mourao et al. 2015, https://doi.org/10.1016/j.compmedimag.2014.05.006."""
    return Method("isr", weight / rank**2, final=combined * n_runs, by_row=True)


def log_isr() -> Method:
    """Log ISR: `ln(m) sum of w / rank^2`; 0 for what one run alone has. Mourao et al. 2015, as `isr`."""
    return Method("log_isr", weight / rank**2, final=combined * n_runs.log(), by_row=True)


def logn_isr(sigma: float = 0.01) -> Method:
    """LogN ISR: `ln(m + sigma) sum of w / rank^2`. Mourao et al. 2015, as `isr`."""
    check("sigma", sigma, positive())
    return Method("logn_isr", weight / rank**2, final=combined * (n_runs + sigma).log(), by_row=True)


def rrf(k: float = 60) -> Method:
    """Reciprocal rank fusion: `sum of w / (k + rank)`.

    Cormack, Clarke & Buettcher 2009, https://doi.org/10.1145/1571941.1572114.
    """
    return Method("rrf", weight / (check("k", k, not_negative()) + rank), by_row=True, falling=True)


def rbc(phi: float = 0.8) -> Method:
    """Rank-biased centroids: `sum of w (1 - phi) phi^(rank - 1)`.

    Bailey, Moffat, Scholer & Thomas 2017, https://doi.org/10.1145/3077136.3080839.
    """
    phi = check("phi", phi, chance())
    return Method("rbc", weight * ((1 - phi) * power(phi, rank - 1)), by_row=True, falling=True)


def borda() -> Method:
    """Borda count: `sum of w (|C| - rank + 1)`, C being the candidates; a run that lacks it: `w (|C| - n + 1) / 2`.

    Aslam & Montague 2001, https://doi.org/10.1145/383952.384007.
    """
    points, absent_points = n_candidates - rank + 1, (n_candidates - n_retrieved + 1) / 2
    return Method("borda", weight * points, absent=weight * absent_points, by_row=True)


def condorcet() -> Method:
    """Condorcet, as Copeland wins: candidates that most runs rank lower, and half of those that as many rank higher.

    A run votes for what it has against what it lacks. Wins make an order, which the majorities need not. It takes time
    and memory by the square of a query's candidates: give a `depth`. Montague & Aslam 2002,
    https://doi.org/10.1145/584792.584881; Copeland 1951.
    """
    return Method("condorcet", weight, "wins")


def dbsf() -> Method:
    """Distribution-based score fusion: the sum of scores by three deviations about their list's mean (norm `dbsf`)."""
    return Method("dbsf", weight * score, norm=dbsf_norm(), by_row=True)


#: The methods, in the order of this file.
METHODS: tuple[Callable[..., Method], ...] = tuple(
    make for make in list(globals().values()) if isfunction(make) and make.__annotations__.get("return") == "Method"
)

BY_NAME = {method.name: method for method in (make() for make in METHODS)}

#: The methods that `train` makes.
TRAINED = ("posfuse", "slidefuse", "probfuse", "segfuse", "mapfuse", "bayesfuse")
