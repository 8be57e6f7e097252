"""Measures of judgments that are a probability sample: estimates of Horvitz and Thompson, with standard errors.

Conventions
    * A judged document, whose grade is 0 or more, counts 1 / `inclusion_probability` times. Others count nothing.
    * With a column `stratum` the documents of each were drawn without replacement, all with one probability: of N, n.
      Two of them are both drawn with the probability n (n - 1) / (N (N - 1)). Without, and across strata, each document
      was drawn by itself.
    * A form is a function of `FORMS`: from the parameters of a measure to its value, and to what each document adds to
      it, of whose sum the standard error is. Those of ratios are linearised.
    * Each step is a column of the judged relation: an expression that holds all of them takes seconds to plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.engine.strata import judged
from polars_ir.errors import MeasureError
from polars_ir.language.kinds import PROBABILITY, STRATUM
from polars_ir.language.measure import of_part
from polars_ir.language.measures.cascade import chance_of_reading, share_of
from polars_ir.language.measures.precision_recall import among_places
from polars_ir.language.names import ResolvedMeasure
from polars_ir.language.words import Discount, discounted, gain, rank, ranked, ratio, relevant, top, total

#: The measures that count the strata of the pool themselves.
OF_STRATA = frozenset({"xinfAP", "infNDCG"})

#: Digits to which estimated numbers of documents are whole.
DIGITS = 9

p = pl.col(PROBABILITY).cast(pl.Float64)


class Sample:
    """The judged relation of a sample, which takes a column for each step of an estimate."""

    def __init__(self, relation: pl.LazyFrame, keys: Sequence[str], *, strata: bool) -> None:
        self.relation, self.keys = relation, list(keys)
        self.stratum = [*keys, STRATUM] if strata else None
        self.n_columns = 0
        self.times = self.column(pl.when(judged).then(1 / p).otherwise(0.0))
        self.drawn = self.column(judged.sum().cast(pl.Int64), self.stratum) if self.stratum else pl.lit(None)

    def column(
        self, step: pl.Expr, over: Sequence[str] | None = None, *, by: Sequence[pl.Expr] = (), falling: bool = False
    ) -> pl.Expr:
        """A column with a step, of each group of rows in the order of other columns."""
        name = f"polars_ir: step {self.n_columns}"
        self.n_columns += 1
        if over is not None:
            step = step.over(over, order_by=by or None, descending=falling)
        self.relation = self.relation.with_columns(step.alias(name))
        return pl.col(name)

    def total(self, share: pl.Expr) -> pl.Expr:
        """Estimate of a sum over all documents."""
        return self.column(total((share * self.times).filter(judged & (share != 0)).sort()), self.keys)

    def sum(self, share: pl.Expr) -> Estimate:
        """Estimate of a sum: 0 where nothing that adds to it was drawn."""
        return self.total(share), share.fill_null(0.0)

    def error(self, share: pl.Expr) -> pl.Expr:
        """Standard error of the estimate of a sum; null where one document stands for a stratum of several."""
        z = self.column(share.fill_null(0.0))
        if self.stratum is None:
            return self.column(total(((1 - p) * (z * self.times) ** 2).filter(judged).sort()).sqrt(), self.keys)
        n = self.drawn
        mean = self.column(total(z.filter(judged).sort()), self.stratum) / n
        # A stratum that was judged whole adds nothing, and is no reason for a null.
        terms = self.column((1 - p) * n / (n - 1) * ((z - mean) * self.times) ** 2)
        squared = self.column(total(terms.filter(judged & (p < 1)).sort()), self.keys)
        unknown = self.column((judged & (p < 1) & (n == 1)).any(), self.keys)
        return pl.when(~unknown).then(squared.sqrt())


#: A value, and what each document adds to it.
Estimate = tuple[pl.Expr, pl.Expr]


def precision(of: Sample, *, k: int | None, rel: float, denominator: str, **_: object) -> Estimate:
    """Precision."""
    places = of.column(among_places(k, denominator), of.keys)
    return of.sum(pl.when(relevant(rel) & top(k)).then(1 / places))


def n_relevant(of: Sample, *, rel: float) -> Estimate:
    """Number of relevant documents."""
    return of.sum(relevant(rel).cast(pl.Float64))


def dcg(
    of: Sample, *, k: int | None, rel: float | None, dcg: Any, discount: Discount, gains: Any, **_: object
) -> Estimate:
    """Discounted cumulated gain."""
    value = gain(dcg, gains, rel)
    return of.sum(pl.when(top(k)).then(value / discounted(rank, discount)))


def rank_biased_precision(of: Sample, *, k: int | None, rel: float, p: float, gains: Any) -> Estimate:
    """Rank-biased precision."""
    worth = chance_of_reading(p) if gains is None else share_of(gains) * chance_of_reading(p)
    return of.sum(pl.when(relevant(rel) & top(k)).then((1 - p) * worth))


def recall(of: Sample, *, k: int | None, rel: float, **_: object) -> Estimate:
    """Recall: a ratio of two estimates."""
    of_all = relevant(rel).cast(pl.Float64)
    of_found = pl.when(top(k)).then(of_all).fill_null(0.0)
    n_all = of.total(of_all)
    value = of.column(ratio(of.total(of_found), n_all))
    return value, (of_found - value * of_all) / n_all


def average_precision(of: Sample, *, k: int | None, rel: float, denominator: str) -> Estimate:
    """Average precision as Aslam and Pavlu's statAP, by joint probabilities."""
    if denominator != "R":
        raise _no_form("AP", "denominator", denominator)
    found = of.column((judged & relevant(rel) & top(k)).fill_null(False))
    by = [of.column(pl.when(found).then(rank))]
    times = pl.when(found).then(of.times).otherwise(0.0)
    above = of.column(times.cum_sum() - times, of.keys, by=by)
    worth = of.column((times / rank).fill_null(0.0))
    precisions = (1 + above) * worth
    if of.stratum:
        # Pairs of a stratum: 1 / p of both is 1 / p^2 + (1 - p) / (p^2 (n - 1)), and n 2 or more.
        before = of.column(found.cum_sum().cast(pl.Int64) - 1, of.stratum, by=by)
        precisions += (1 - p) * of.times**2 / rank / (of.drawn - 1).clip(1) * before
    precisions = of.column(precisions)
    of_all = relevant(rel).cast(pl.Float64)
    n_all = of.total(of_all)
    value = of.column(ratio(total(ranked(precisions, found)), n_all), of.keys)
    # A relevant document adds its own precision, and to those of the documents below it.
    below = of.column(worth.sum() - worth.cum_sum(), of.keys, by=by)
    adds = pl.when(found).then((1 + above) / rank + below).otherwise(0.0)
    return value, (adds - value * of_all) / n_all


def ndcg(
    of: Sample, *, k: int | None, rel: float | None, dcg: Any, discount: Discount, gains: Any, denominator: str
) -> Estimate:
    """Normalised discounted cumulated gain, by the estimated number of documents of each gain.

    The best ranking has them in falling order; a fraction of a document has that of its place.
    """
    if denominator not in ("min(k,R)", "R"):
        raise _no_form("nDCG", "denominator", denominator)
    depth = k if denominator == "min(k,R)" else None
    worth = of.column(pl.when(judged).then(gain(dcg, gains, rel)).otherwise(0.0))
    by = [worth, of.times]
    end = of.column(of.times.cum_sum().round(DIGITS), of.keys, by=by, falling=True)
    end = end if depth is None else of.column(end.clip(upper_bound=depth))
    whole = of.column(end.floor().cast(pl.Int64))
    places = pl.int_range(0, whole.max() + 1)
    discounts = pl.when(places > 0).then(1 / discounted(places, discount)).otherwise(0.0).cum_sum()
    slope = 1 / discounted(whole + 1, discount)
    slope = of.column(slope if depth is None else pl.when(end < depth).then(slope).otherwise(0.0))
    upto = of.column(of.column(discounts.gather(whole), of.keys) + (end - whole) * slope)
    places_of_each = of.column(upto - upto.shift(fill_value=0.0), of.keys, by=by, falling=True)
    best = of.column(total((worth * places_of_each).filter(worth > 0).sort()), of.keys)
    gained = of.column(pl.when(judged & top(k)).then(worth / discounted(rank, discount)).fill_null(0.0))
    value = of.column(ratio(of.total(gained), best))
    # One more document moves those of lower gains down: at the end of each gain it adds the drop to the next.
    drop = of.column(slope * (worth - worth.shift(-1, fill_value=0.0)), of.keys, by=by, falling=True)
    lost = of.column(drop.cum_sum(reverse=True), of.keys, by=by, falling=True)
    return value, (gained - value * lost) / best


def _no_form(measure: str, parameter: str, value: object) -> MeasureError:
    return MeasureError(f"{measure} of sampled judgments takes no {parameter}={value!r}. Leave it out.")


#: The form of each measure that has one.
FORMS: Mapping[str, Callable[..., Estimate]] = {
    "P": precision,
    "NumRel": n_relevant,
    "DCG": dcg,
    "RBP": rank_biased_precision,
    "R": recall,
    "AP": average_precision,
    "nDCG": ndcg,
}


def with_errors(measure: ResolvedMeasure, *, strata: bool) -> list[ResolvedMeasure]:
    """A measure of a sample and its standard error, which name the columns that they read; an error for one without.

    >>> import polars_ir as ir
    >>> from polars_ir.language.names import resolve
    >>> [each.name for each in with_errors(resolve("P@5")[0], strata=False)]
    ['P@5', 'P@5 se']
    """
    call, columns = measure.call, measure.expression.meta.root_names()
    if (call and strata and call.measure in OF_STRATA) or (call is None and PROBABILITY in columns):
        return [measure]
    if call and call.measure in OF_STRATA:
        raise MeasureError(f"{measure.name!r} counts the strata of the pool; the judgments have no column {STRATUM!r}.")
    if call is None or call.measure not in FORMS:
        raise MeasureError(
            f"the judgments are a sample, with {PROBABILITY!r}, and {measure.name!r} has no estimate from one: "
            f"{', '.join(FORMS)} have. Without that column the sample is evaluated as if it were the pool."
        )
    if call.arguments.get("budget") is not None:
        raise _no_form(call.measure, "budget", call.arguments["budget"])
    read = pl.struct(measure.expression.alias(measure.name), PROBABILITY, *([STRATUM] if strata else []))
    named = {measure.name: call, of_part(measure.name, "se"): None}
    return [ResolvedMeasure(name, read.alias(name), call) for name, call in named.items()]


def estimated(
    relation: pl.LazyFrame, keys: Sequence[str], measures: Sequence[ResolvedMeasure], *, strata: bool
) -> tuple[pl.LazyFrame, list[ResolvedMeasure]]:
    """The judged relation with columns of estimates, and the measures and standard errors that read these."""
    of, made = Sample(relation, keys, strata=strata), {measure.name: measure for measure in measures}
    for name, _, call in measures:
        part = of_part(name, "se")
        if call and call.measure in FORMS and part in made:
            value, share = FORMS[call.measure](of, **call.arguments)
            error = pl.when(value.is_not_null()).then(of.error(share))
            for column, estimate in ((name, value), (part, error)):
                made[column] = ResolvedMeasure(column, of.column(estimate).first().alias(column), None)
    return of.relation, list(made.values())
