"""The catalogue: what makes a function that returns an expression a measure with a name.

`@measure` checks the parameters of a call, names the expression as `ir_measures` would (`nDCG@10`, `P(rel=2)@5`) and
records what else there is to know about the measure. Everything that needs a list of measures reads `CATALOG`: the
parser of names, the `.ir` methods, `catalog()`, the book and the tests.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec

import polars as pl

from polars_ir.errors import MeasureError, explain_options
from polars_ir.language.identity import Call, marked, plain, together
from polars_ir.language.parameters import PARAMETERS, Parameter
from polars_ir.language.spec import Average, Expected, Measure, OutOf, Spec, documentation, is_ours

P = ParamSpec("P")


#: Names that are methods of `.ir` already; `.ir` says which.
RESERVED: set[str] = set()

#: Every measure by its canonical name, in the order of definition.
CATALOG: dict[str, Spec] = {}


def measure(
    name: str,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    best: float | None = None,
    source: str,
    also: Mapping[str, str] | None = None,
    parameters: Mapping[str, Parameter] | None = None,
    at: str = "k",
    monotone: bool = False,
    reads_nonrelevant: bool = True,
    average: Average = "arithmetic",
    out_of: OutOf | None = None,
    gain: Measure | None = None,
    discount: Measure | None = None,
    expected: Expected | None = None,
) -> Callable[[Callable[P, pl.Expr]], Callable[P, pl.Expr]]:
    """Register a function that returns an aggregation of the judged relation as a measure.

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
        What other tools call it, by tool: `{"trec_eval": "ndcg ndcg_cut", "ranx": "ndcg_burges(dcg='exp-log2')"}`;
        brackets hold the parameters that a name stands for, and `#` there the number that follows the name.
    parameters
        What parameters mean that only this measure has, or that mean something else in it.
    at
        The parameter that the number after `@` sets.
    monotone
        Whether no document's grade can rise and the value fall (or, for a cost, the value rise): then `bounds` of
        `evaluate` are exact.
    reads_nonrelevant
        Whether a document judged not relevant, with a grade of 0 or less, counts otherwise than an unjudged one.
        Where no measure of a call reads them, the judgments of such documents are left out, which is faster.
    average
        How `mean` puts the values of queries together.
    out_of
        For a ratio of counts, a function from the parameters to its denominator, over the columns of counts that
        `evaluate` makes (`NumRel`): the weight of a query in a micro average.
    gain, discount
        The gain of a document, and the discount that divides it at its rank, as functions of the measure's parameters:
        columns of `explain`. Without them a relevant document has a gain of 1, without a discount.
    expected
        What `ties="expected"` takes in its place: the mean over all orders of tied documents, as a function of the
        measure's parameters to an aggregation, or `"itself"` for a measure whose value no order of them changes.
        `n_higher` and `n_tied` of the judged relation tell the places that tied documents share.

    Returns
    -------
    Callable
        A decorator, which registers the function in the catalogue, as a method of `.ir` and for `parse`, and gives it
        back with its parameters checked and its result named.

    Raises
    ------
    MeasureError
        For a name or a function of this package, and for an `expected` that is no function of the parameters.

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
            arguments = {parameter: plain(value) for parameter, value in bound.arguments.items()}
            spec = CATALOG[name]
            if cutoffs := _several_values(spec, arguments.get(at)):
                return together(spec.function(**{**arguments, at: cutoff}) for cutoff in cutoffs)
            bound.arguments.update(arguments)
            for parameter, value in arguments.items():
                check_parameter(spec, parameter, value)
            expression = marked(function(*bound.args, **bound.kwargs), Call(name, arguments, spec.monotone))
            return expression.alias(spec.column(arguments))

        existing = CATALOG.get(name)
        if function.__name__ in RESERVED or (existing and existing.ours and not is_ours(function)):
            raise MeasureError(
                f"{name!r} ({function.__name__}) is part of this package. Give your measure another name."
            )
        highest = bounds[1] if best is None else best
        facts = (bounds, highest, source, also or {}, parameters or {}, at, monotone, reads_nonrelevant)
        more = (average, out_of, gain, discount, _expectation(name, function, expected))
        CATALOG[name] = Spec(name, named, *facts, *more)
        named.__doc__ = documentation(CATALOG[name])
        return named

    return register


def spec_of(call: Call) -> Spec:
    """The entry of the measure that a call made; a `MeasureError` in a process that did not define it."""
    if call.measure not in CATALOG:
        raise MeasureError(
            f"the measure {call.measure!r} was defined in another process, and this one does not know it. Import the "
            "module that defines it with @ir.measure first."
        )
    return CATALOG[call.measure]


def check_parameter(spec: Spec, name: str, value: object) -> None:
    """Raise a `MeasureError` unless the value is one that the parameter of this name can have."""
    if value is None and spec.parameters[name] is None:
        return
    # A user's measure may have parameters that nobody described.
    if (name in PARAMETERS or name in spec.own) and not spec.parameter(name).holds(value):
        raise MeasureError.parameter(spec.name, name, spec.parameter(name).wanted, value)


def catalog() -> pl.DataFrame:
    """All measures of the catalogue, one row each.

    Returns
    -------
    pl.DataFrame
        `name`, `function` (its name in this package), `judgments` (`documents`, `subtopics` or `preferences`: what it
        reads), `parameters` (with defaults), `low`, `high`, `best` (its range and best value), `monotone` (whether it
        can not fall when a grade rises, so that `bounds` of `evaluate` are exact), `also` (what other tools call it),
        `meaning`, `source`; String but for the three numbers, which are Float64, and the Boolean.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.catalog().filter(pl.col("name") == "AP").select("function", "parameters", "low", "high").row(0)
    ('average_precision', "k=None, rel=1, denominator='R'", 0.0, 1.0)
    """
    return pl.DataFrame(
        {
            "name": spec.name,
            "function": spec.function.__name__,
            "judgments": spec.kind,
            "parameters": ", ".join(f"{n}={v!r}" for n, v in spec.parameters.items()),
            "low": float(spec.bounds[0]),
            "high": float(spec.bounds[1]),
            "best": float(spec.best),
            "monotone": spec.monotone,
            "also": "; ".join(f"{tool}: {', '.join(names.split())}" for tool, names in spec.also.items()),
            "meaning": spec.meaning,
            "source": spec.source,
        }
        # Another thread may register a measure meanwhile.
        for spec in list(CATALOG.values())
    )


def _expectation(name: str, function: Measure, expected: Expected | None) -> Measure | None:
    """The function of an expectation; a `MeasureError` for one that can not be called as the measure is."""
    if expected is None or expected == "itself":
        return function if expected else None
    parameters = inspect.signature(function).parameters
    try:
        inspect.signature(expected).bind(**dict.fromkeys(parameters))
    except TypeError as error:
        raise MeasureError(
            f"{name}: expected must take the parameters of the measure by name, {', '.join(parameters) or 'none'}; "
            f"{error}. Give it the same parameters, or **parameters for those that it does not read."
        ) from None
    return expected


def _several_values(spec: Spec, value: object) -> list[object]:
    """The values of what follows the `@` that was given several, as in `k=[5, 10]`; none for a single one."""
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, Mapping)):
        return []
    is_described = spec.at in PARAMETERS or spec.at in spec.own
    return list(value) if is_described and not spec.parameter(spec.at).holds(value) else []
