"""The catalogue: what makes a function that returns an expression a measure with a name.

`@measure` checks the parameters of a call, names the expression as `ir_measures` would (`nDCG@10`, `P(rel=2)@5`) and
records what else there is to know about the measure. Everything that needs a list of measures reads `CATALOG`: the
parser of names, the `.ir` methods, `catalog()`, the README's table and the tests.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ParamSpec, get_args

import polars as pl

from polars_ir.errors import MeasureError, explain_options
from polars_ir.vocabulary import Discounted

P = ParamSpec("P")

#: A function that returns a measure's expression.
Measure = Callable[..., pl.Expr]


@dataclass(frozen=True)
class Spec:
    """What is known of a measure besides its formula."""

    name: str
    function: Measure
    bounds: tuple[float, float]
    best: float
    source: str
    also: Mapping[str, Mapping[str, object]]

    @property
    def meaning(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def ours(self) -> bool:
        """Whether the measure is part of this package."""
        return _is_ours(self.function)

    @functools.cached_property
    def parameters(self) -> Mapping[str, object]:
        """The parameters with their defaults."""
        return {n: p.default for n, p in inspect.signature(self.function).parameters.items()}


#: Methods of `.ir` that are no measures.
METHODS = ("judge", "evaluate", "validate", "mean", "summarize")

#: 2 to the power of a grade above this is no gain anyone means.
HIGHEST_GRADE = 64

#: Every measure by its canonical name, in the order of definition.
CATALOG: dict[str, Spec] = {}


def measure(
    name: str,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    best: float | None = None,
    source: str,
    also: Mapping[str, Mapping[str, object]] | None = None,
) -> Callable[[Callable[P, pl.Expr]], Callable[P, pl.Expr]]:
    """Make a function that returns an aggregation of the judged relation a measure.

    Parameters
    ----------
    name
        The canonical name, as in the column `name(parameter=value)@k`.
    bounds
        The lowest and the highest value.
    best
        The best value; without it, the highest.
    source
        Where the definition comes from: a DOI or URL.
    also
        Other names for it, each with the parameters it stands for: `{"ndcg_burges": {"dcg": "exp-log2"}}`.

    Examples
    --------
    >>> import polars_ir as ir
    >>> @ir.measure("FirstRank", bounds=(0, float("inf")), source="an example")
    ... def first_rank(*, rel: float = 1) -> pl.Expr:
    ...     return ir.rank.filter(ir.relevant(rel)).min()
    >>> first_rank(rel=2).meta.output_name()
    'FirstRank(rel=2)'
    >>> del ir.CATALOG["FirstRank"]
    """

    def register(function: Callable[P, pl.Expr]) -> Callable[P, pl.Expr]:
        signature = inspect.signature(function)

        @explain_options
        @functools.wraps(function)
        def named(*args: P.args, **kwargs: P.kwargs) -> pl.Expr:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for parameter, value in bound.arguments.items():
                check_parameter(name, parameter, value, signature.parameters[parameter].default)
            return function(*args, **kwargs).alias(canonical_name(CATALOG[name], bound.arguments))

        known = CATALOG.get(name)
        if function.__name__ in METHODS or (known and known.ours and not _is_ours(function)):
            raise MeasureError.taken(name, function.__name__)
        CATALOG[name] = spec = Spec(name, named, bounds, bounds[1] if best is None else best, source, also or {})
        named.__doc__ = documentation(spec)
        return named

    return register


def canonical_name(spec: Spec, arguments: Mapping[str, object]) -> str:
    """The name of a measure with these arguments, in the notation of `ir_measures`.

    >>> from polars_ir.registry import CATALOG
    >>> canonical_name(CATALOG["P"], {"k": 5, "rel": 2})
    'P(rel=2)@5'
    """
    defaults = spec.parameters
    given = [f"{n}={_literal(v)}" for n, v in arguments.items() if n != "k" and v != defaults[n]]
    cutoff = arguments.get("k")
    return spec.name + (f"({','.join(given)})" if given else "") + (f"@{cutoff}" if cutoff is not None else "")


def documentation(spec: Spec) -> str:
    """The docstring of a measure: what its author wrote, then what the registry knows, the same for every measure."""
    written, example, rest = (inspect.getdoc(spec.function) or "").partition("Examples\n--------\n")
    parameters = "".join(
        f"{name} : default {default!r}\n    {PARAMETERS[name].meaning}\n"
        for name, default in spec.parameters.items()
        if name in PARAMETERS
    )
    return (
        f"{written.rstrip()}\n\n"
        + (f"Parameters\n----------\n{parameters}\n" if parameters else "")
        + "Returns\n-------\npl.Expr\n"
        f"    An aggregation of the judged relation (`judge`), named `{spec.name}` with its parameters.\n"
        f"    From {spec.bounds[0]:g} to {spec.bounds[1]:g}; the best value is {spec.best:g}.\n\n"
        "Raises\n------\nIRError\n    For a parameter that is not as described.\n\n"
        f"References\n----------\n{spec.source}\n\n" + example + rest
    )


def check_parameter(measure_name: str, name: str, value: object, default: object) -> None:
    """Raise a `MeasureError` unless the value is one that the parameter of this name can have."""
    if value is None and default is None:
        return
    parameter = PARAMETERS.get(name)
    if parameter is not None and not parameter.holds(value):
        raise MeasureError.parameter(measure_name, name, parameter.wanted, value)


def catalog() -> pl.DataFrame:
    """Every measure there is, one row each.

    Returns
    -------
    pl.DataFrame
        `name`, `function` (its name in this package), `parameters` (with defaults), `low`, `high`, `best`
        (its range and best value), `also` (what other tools call it), `meaning`, `source`; String but for the three
        numbers, which are Float64.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.catalog().filter(pl.col("name") == "AP").select("function", "parameters", "low", "high").row(0)
    ('average_precision', 'k=None, rel=1', 0.0, 1.0)
    """
    return pl.DataFrame(
        {
            "name": spec.name,
            "function": spec.function.__name__,
            "parameters": ", ".join(f"{n}={v!r}" for n, v in spec.parameters.items()),
            "low": float(spec.bounds[0]),
            "high": float(spec.bounds[1]),
            "best": float(spec.best),
            "also": ", ".join(spec.also),
            "meaning": spec.meaning,
            "source": spec.source,
        }
        for spec in CATALOG.values()
    )


def _is_ours(function: Measure) -> bool:
    return function.__module__.startswith("polars_ir.measures.")


def _literal(value: object) -> str:
    """A parameter's value as `ir_measures` writes it: a map of gains without blanks, a whole float without a point."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_literal(v)}" for key, v in value.items()) + "}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)


def _whole(value: Any, low: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low


def _number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class Parameter:
    """What a parameter means and which values it can have; the same in every measure."""

    meaning: str
    wanted: str
    holds: Callable[[Any], bool]


PARAMETERS: dict[str, Parameter] = {
    "k": Parameter(
        "Cutoff: only the first k documents of the ranking count; None: all of them.",
        "a whole number of documents, 1 or more",
        lambda v: _whole(v, 1),
    ),
    "rel": Parameter("The lowest grade that counts as relevant.", "a grade above 0", lambda v: _number(v) and v > 0),
    "beta": Parameter(
        "How many times as much recall matters as precision.", "a number above 0", lambda v: _number(v) and v > 0
    ),
    "p": Parameter(
        "Persistence: how likely the reader goes on from one document to the next.",
        "a number between 0 and 1, both excluded",
        lambda v: _number(v) and 0 < v < 1,
    ),
    "max_rel": Parameter(
        "The highest grade there can be; a grade above it counts as this one.",
        f"a whole number from 1 to {HIGHEST_GRADE}",
        lambda v: _whole(v, 1) and v <= HIGHEST_GRADE,
    ),
    "dcg": Parameter(
        "The gain: 'log2' takes the grade itself, 'exp-log2' 2 to the grade less 1.",
        f"one of {', '.join(map(repr, get_args(Discounted)))}",
        lambda v: v in get_args(Discounted),
    ),
    "gains": Parameter(
        "Other values for some grades, as in {1: 1, 2: 3}; a grade that is not in the map keeps its own.",
        "a map from grades to numbers of 0 or more, as in {1: 1, 2: 3}",
        lambda v: (
            isinstance(v, dict) and len(v) > 0 and all(_whole(g, 0) and _number(x) and x >= 0 for g, x in v.items())
        ),
    ),
}
