"""Measures of how a run uses the catalogue, over all its users: `Gini(p=0.85)@10`, and what kits call them.

Conventions
    * An expression aggregates the items of the lists of one system: a row per item, with the number of lists that it is
      in, or their weight (`Exposed`). Items of the catalogue that no list has, have no row; `ITEMS` counts all.
    * Their names are none of the catalogue of measures, which have a value per query.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, get_args

import polars as pl

from polars_ir.errors import Code, Fix, MeasureError, fold, nearest, quoted
from polars_ir.language.dialects import in_a_row, in_words_of, measure_named, parts_of, several
from polars_ir.language.measure import PARAMETERS
from polars_ir.language.names import Measures, listed
from polars_ir.language.options import Option, chance, one_of, or_none, whole
from polars_ir.language.tools import OF_EXPOSURE, TOOLS
from polars_ir.language.words import Discount, discounted, power, ratio, total

#: The number of items of the catalogue; that of users with a list, and of the items of the longest one.
ITEMS, USERS, LONGEST = "exposure(items)", "exposure(users)", "exposure(longest)"

#: Weights are whole multiples of this, whose sums are the same in any order.
UNIT = 2.0**40


class Exposed(NamedTuple):
    """The weight of an item at the places of lists: 1 for each of the first k, or by a discount or persistence."""

    k: int | None
    discount: str = "none"
    p: float | None = None

    @property
    def is_count(self) -> bool:
        """True where every place has the same weight."""
        return self.discount == "none" and self.p is None

    @property
    def column(self) -> str:
        """The name of the column of the relation."""
        return f"exposure(k={self.k}, discount={self.discount}, p={self.p})"

    def of(self, place: pl.Expr) -> pl.Expr:
        """The weight of an item in the rows of its lists, an aggregation over their places."""
        within = pl.lit(True) if self.k is None else place <= self.k
        if self.is_count:
            return within.sum().cast(pl.Int64) if self.k is not None else pl.len().cast(pl.Int64)
        weight = 1 / discounted(place, self.discount) if self.p is None else power(self.p, place - 1)  # type: ignore[arg-type]  # a choice
        return pl.when(within).then((weight * UNIT).round().cast(pl.Int64)).otherwise(0).sum()


def exposed(column: pl.Expr) -> pl.Expr:
    """The positive weights of items, the lowest first."""
    return column.filter(column > 0).sort()


def item_coverage(of: Exposed, *, extra: int) -> pl.Expr:
    """The share of the items that some list has."""
    return ratio((pl.col(of.column) > 0).sum(), pl.col(ITEMS).max() + extra)


def gini(of: Exposed, *, extra: int) -> pl.Expr:
    """The Gini coefficient of the weights, of which the m - n zeros of items in no list come first."""
    weights, m = exposed(pl.col(of.column)), pl.col(ITEMS).max() + extra
    place = m - weights.len() + weights.cum_count()
    weights = weights.cast(pl.Float64)
    return ratio(total((2 * place - m - 1) * weights), m * total(weights))


def entropy(of: Exposed) -> pl.Expr:
    """The entropy of the weights in bits."""
    weights = exposed(pl.col(of.column)).cast(pl.Float64)
    share = weights / weights.sum()
    return pl.when(weights.len() > 0).then(total(-share * share.log(2)))


def personalisation(of: Exposed) -> pl.Expr:
    """1 less the mean overlap of two lists, of which sum(c (c - 1)) / 2 items are in both, divided by k."""
    n, users = pl.col(of.column), pl.col(USERS).max()
    length = pl.col(LONGEST).max() if of.k is None else pl.lit(of.k, pl.Int64)
    return 1 - ratio((n * (n - 1)).sum(), length * users * (users - 1))


class Figure(NamedTuple):
    """A measure of exposure: its aggregation, its parameters beside the cutoff, and whether it counts the catalogue."""

    make: Callable[..., pl.Expr]
    parameters: Mapping[str, Option]
    of_catalogue: bool


EXTRA = Option(0, whole(0, 1000), "Items beside those of the catalogue that no list can have, as a kit's padding.")
WEIGHTS = {
    "discount": Option("none", one_of(*get_args(Discount)), PARAMETERS["discount"].meaning),
    "p": Option(None, or_none(chance()), "Persistence: a place weighs p times the one above."),
}

#: The measures by name.
FIGURES: Mapping[str, Figure] = {
    "ItemCoverage": Figure(item_coverage, {"extra": EXTRA}, of_catalogue=True),
    "Gini": Figure(gini, {**WEIGHTS, "extra": EXTRA}, of_catalogue=True),
    "Entropy": Figure(entropy, {}, of_catalogue=False),
    "Personalisation": Figure(personalisation, {}, of_catalogue=False),
}

#: Those of a call that names none.
DEFAULTS = tuple(f"{name}@10" for name in FIGURES)


class Asked(NamedTuple):
    """A measure of a call: its column, its aggregation, and the weights of items that this reads.

    It is `written` as a text, and `catalogue` is the table whose items it is of, where a kit's word says so.
    """

    name: str
    expression: pl.Expr
    of: Exposed
    figure: Figure
    written: str
    catalogue: str


def asked(measures: Measures) -> list[Asked]:
    """The measures of a call; a `MeasureError` for one that is of each query, or unknown."""
    found: dict[str, Asked] = {}
    for measure in listed(measures):
        if not isinstance(measure, str):
            raise MeasureError(f"measures of exposure are names, such as 'Gini@10'; got {measure!r:.80}.")
        for name in _names(measure.strip()):
            one = _read(name)
            if one.name in found:
                raise MeasureError.twice(one.name)
            found[one.name] = one
    if not found:
        raise MeasureError.none_given()
    return list(found.values())


def _names(text: str) -> Iterable[str]:
    """The names in a text: one, or one with several cutoffs, or several in a row."""
    if in_words_of(text)[0]:
        return [text]
    return [each for name in in_a_row(text) or [text] for each in several(name) or [name]]


@functools.lru_cache(maxsize=256)
def _read(text: str) -> Asked:
    name, given, at, catalogue = _meaning(text)
    figure = FIGURES[name]
    if at is not None:
        given["k"] = int(at) if at.isascii() and at.isdigit() else at
    arguments = {"k": None, **{each: record.default for each, record in figure.parameters.items()}}
    for parameter, value in given.items():
        if parameter not in arguments:
            raise MeasureError.no_parameter(name, parameter, arguments, text)
        wanted = or_none(PARAMETERS["k"].value) if parameter == "k" else figure.parameters[parameter].value
        if not wanted.holds(value):
            raise MeasureError.parameter(name, parameter, wanted.wanted, value)
        arguments[parameter] = value
    if arguments.get("p") is not None and arguments["discount"] != "none":
        raise MeasureError(f"{name} takes discount or p; got {text!r}.")
    written = [f"{n}={v!r}" for n, v in arguments.items() if n != "k" and v != figure.parameters[n].default]
    of = Exposed(arguments["k"], arguments.get("discount", "none"), arguments.get("p"))
    others = {n: v for n, v in arguments.items() if n not in Exposed._fields}
    brackets, cutoff = f"({','.join(written)})" * bool(written), "" if of.k is None else f"@{of.k}"
    column = f"{name}{brackets}{cutoff}"
    return Asked(column, figure.make(of, **others).alias(column), of, figure, text, catalogue)


def _meaning(text: str) -> tuple[str, dict[str, Any], str | None, str]:
    """The measure that a text means, its parameters, the cutoff, and the table of its catalogue; else an error."""
    tool, words = in_words_of(text)
    name, given, at = parts_of(words)
    for known, meaning in TOOLS.get(tool, {}).items():
        if fold(known) != fold(name):
            continue
        if not meaning.measure:
            raise MeasureError(f"{known!r} of {tool} {meaning.note}.")
        if meaning.of_exposure:
            ours, implied, _ = parts_of(meaning.measure)
            return ours, {**implied, **given}, at, meaning.catalogue
    if not tool and fold(name) in OF_EXPOSURE:
        return OF_EXPOSURE[fold(name)], given, at, ""
    if found := measure_named(text):
        of_lists = found.info.kind == "none"
        call = f"run.ir.evaluate([{text!r}], history=train)" if of_lists else f"run.ir.evaluate(qrels, [{text!r}])"
        raise MeasureError(f"{text!r} has a value for each query: use evaluate for it.", fix=Fix("Call it", Code(call)))
    near = "" if tool else nearest(name, FIGURES)
    raise MeasureError(f"no measure of exposure is called {text!r}.{near} It has {quoted(FIGURES)}.")
