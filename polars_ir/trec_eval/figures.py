"""The figures of trec_eval, as aggregations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.naming import parse, taken_apart
from polars_ir.trec_eval.lines import Figure
from polars_ir.trec_eval.measures import MEASURES, OF_RUN, WITH_PAIRS
from polars_ir.trec_eval.options import WRONG_FILE, Options, TrecEvalError
from polars_ir.vocabulary import relevance


def figures_of(options: Options) -> list[Figure]:
    """The lines for a topic or the summary, in trec_eval's order."""
    return [
        Figure(name, printed, _expression(name, text, options))
        for name in MEASURES
        if name in options.measures and name not in OF_RUN
        for printed, text in _printed(name, options.measures[name])
    ]


def _printed(name: str, given: str | None) -> Iterator[tuple[str, str]]:
    """The names that a measure is printed under, each with the name that `parse` reads."""
    usual = MEASURES[name]
    if usual is None:
        if given and name in WITH_PAIRS and not all("=" in pair for pair in given.split(",")):
            raise TrecEvalError(f"{name}: parameters must be pairs, as in {name}.1=2; got {given!r}.", WRONG_FILE)
        yield (name, name) if given is None else (f"{name}_{given}", f"{name}.{given}")
    elif not usual:
        yield name, name
    else:
        fractions = "." in usual
        for number in _cutoffs(name, given or usual, float if fractions else int):
            yield f"{name}_{number:.2f}" if fractions else f"{name}_{number}", f"{name}_{number}"


def _cutoffs(name: str, given: str, kind: type[int | float]) -> list[float]:
    """The cutoffs of a measure, rising."""
    with suppress(ValueError):
        numbers = sorted(kind(number) for number in given.split(","))
        if len(set(numbers)) == len(numbers) and (kind is float or numbers[0] >= 1):
            return numbers
    wanted = "different numbers" if kind is float else "different whole numbers, 1 or more"
    raise TrecEvalError(f"{name}: cutoffs must be {wanted}, as in {name}.1,2; got {given!r}.", WRONG_FILE)


def _expression(name: str, text: str, options: Options) -> pl.Expr:
    """The aggregation of a measure at the level of relevance that was asked for."""
    try:
        if name == "relstring":
            return parse(text)
        if name == "11pt_avg" and text != name:
            points = _cutoffs(name, text.removeprefix(f"{name}."), float)
            precisions = [_measure("iprec_at_recall", f"iprec_at_recall_{point}", options) for point in points]
            return (pl.sum_horizontal(precisions) / len(precisions)).alias(text)
        return _measure(name, text, options)
    except MeasureError as error:
        raise TrecEvalError(f"cannot initialize measure {text!r}: {error}", WRONG_FILE) from None


def _measure(name: str, text: str, options: Options) -> pl.Expr:
    spec, arguments = taken_apart(text)
    given = dict(arguments)
    if isinstance(spec.parameters.get("rel"), int):
        given["rel"] = options.level
    if name == "utility":
        given["n_docs"] = options.n_docs or None
    if name == "rbp" and "gains" not in given:
        given["gains"] = (
            pl.when(relevance.max() > 1).then(relevance / relevance.max()).otherwise(relevance).alias("share")
        )
    expression = spec.function(**given)
    if name == "rbp_resid" and options.strict:
        all_judged = (pl.col("rank").is_not_null() & (relevance >= 0)).sum() == pl.col("n_retrieved").first()
        beyond = pl.lit(given["p"]) ** pl.col("n_retrieved").first()
        return expression - pl.when(all_judged).then(beyond).otherwise(0.0)
    return expression
