"""The figures of trec_eval, as aggregations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.language.dialects import taken_apart
from polars_ir.language.measures.cascade import chance_of_reading
from polars_ir.language.measures.whole_set import harmonic_mean
from polars_ir.language.relevance_string import relevance_string
from polars_ir.language.sets import TREC_EVAL as MEASURES
from polars_ir.language.words import gain, n_relevant, ranked, relevance, top, total
from polars_ir.trec_eval.lines import Figure
from polars_ir.trec_eval.measures import OF_RUN, WITH_PAIRS
from polars_ir.trec_eval.options import WRONG_FILE, Asked, Options, TrecEvalError, leading_number
from polars_ir.trec_eval.quirks import QUIRKS


def figures_of(options: Options) -> dict[Figure, pl.Expr]:
    """The figures of a topic or the summary, in trec_eval's order, each with its aggregation."""
    return {
        Figure(name, printed, printed): _expression(asked).alias(printed)
        for name in MEASURES
        if name in options.measures and name not in OF_RUN
        for printed, asked in _printed(name, options.measures[name], options)
    }


def _printed(name: str, given: str | None, options: Options) -> Iterator[tuple[str, Asked]]:
    """The names that a measure is printed under, each with what it is."""
    usual = MEASURES[name]
    if usual:
        fractions = "." in usual
        for number in _cutoffs(name, given or usual, float if fractions else int):
            printed = f"{name}_{number:.2f}" if fractions else f"{name}_{number}"
            yield printed, Asked(name, given, options, number)
    elif usual is None and given is not None:
        yield f"{name}_{given}", Asked(name, given, options)
    else:
        yield name, Asked(name, None, options)


def _cutoffs(name: str, given: str, kind: type[int | float]) -> list[float]:
    """The cutoffs of a measure, rising."""
    numbers = [leading_number(number, kind) for number in given.split(",")]
    cutoffs = sorted(number for number in numbers if number is not None)
    if len(set(cutoffs)) == len(numbers) and (kind is float or cutoffs[0] >= 1):
        return cutoffs
    wanted = "different numbers" if kind is float else "different whole numbers, 1 or more"
    raise TrecEvalError(f"{name}: cutoffs must be {wanted}, as in {name}.1,2; got {given!r}.", WRONG_FILE)


def _expression(asked: Asked) -> pl.Expr:
    """The aggregation of a measure at the level of relevance of the options."""
    quirk = QUIRKS.get(asked.name) if asked.options.strict else None
    try:
        expression = BY_HAND.get(asked.name, _measure)(asked)
        return quirk(expression, asked) if quirk else expression
    except MeasureError as error:
        text = asked.name if asked.given is None else f"{asked.name}.{asked.given}"
        raise TrecEvalError(f"cannot initialize measure {text!r}: {error}", WRONG_FILE) from None


def _measure(asked: Asked, **parameters: object) -> pl.Expr:
    """The measure of the catalogue that trec_eval calls so."""
    name = asked.name if asked.cutoff is None else f"{asked.name}_{asked.cutoff}"
    spec, implied = taken_apart(f"trec_eval {name}")[:2]
    arguments = {**implied, **parameters}
    if isinstance(spec.parameters.get("rel"), int):
        arguments["rel"] = asked.options.level
    if asked.name in WITH_PAIRS and "gains" in spec.parameters and asked.gains:
        arguments["gains"] = asked.gains
    return spec.function(**arguments)


def _rbp(asked: Asked) -> pl.Expr:
    """RBP of gains, as shares of the highest that a level of the topic or a parameter has, if that is above 1.

    The level of relevance does not matter to it.
    """
    value, highest = gain(gains=asked.gains or None), relevance.max()
    for level in sorted(asked.gains, reverse=True):
        highest = pl.when(highest == level).then(highest - 1).otherwise(highest)
    highest = pl.max_horizontal(highest.cast(pl.Float64), *(pl.lit(float(given)) for given in asked.gains.values()))
    share = pl.when(highest > 1).then(value / highest).otherwise(value)
    p = asked.pairs.get("p", 0.9)
    return (1 - p) * total(ranked(share * chance_of_reading(p), top() & (value > 0)))


def _r_ndcg(asked: Asked) -> pl.Expr:
    """Rndcg, 0 where no document reaches the level of relevance."""
    return pl.when(n_relevant(asked.options.level) > 0).then(_measure(asked)).otherwise(0.0)


def _utility(asked: Asked) -> pl.Expr:
    coefficients = {"coefficients": tuple(asked.numbers)} if asked.given else {}
    return _measure(asked, n_docs=asked.options.n_docs or None, **coefficients)


def _eleven_point_average(asked: Asked) -> pl.Expr:
    """The mean precision at the recalls of the parameters, or else at the usual eleven."""
    if asked.given is None:
        return _measure(asked)
    precisions = [
        _measure(asked._replace(name="iprec_at_recall", cutoff=recall))
        for recall in _cutoffs("11pt_avg", asked.given, float)
    ]
    return pl.sum_horizontal(precisions) / len(precisions)


def _relevance_string(asked: Asked) -> pl.Expr:
    length = int(asked.numbers[0]) if asked.given else 10
    return relevance_string(k=length) if length > 0 else pl.lit("")


#: Measures that take their parameters otherwise than this package's do.
BY_HAND: Mapping[str, Callable[[Asked], pl.Expr]] = {
    "rbp": _rbp,
    "rbp_resid": lambda asked: _measure(asked, p=asked.pairs.get("p", 0.9)),
    "Rndcg": _r_ndcg,
    "set_F": lambda asked: harmonic_mean(asked.numbers[0] if asked.given else 1.0, asked.options.level),
    "utility": _utility,
    "11pt_avg": _eleven_point_average,
    "relstring": _relevance_string,
}
