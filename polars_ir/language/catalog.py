"""The catalogue: the facts of every measure. Everything that needs a list of measures reads `CATALOG`."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.language.kinds import LISTS, OF_POOL, kind_of
from polars_ir.language.lists import OF_HISTORY
from polars_ir.language.options import Option, Value, check, documented, one_of, or_none, truth
from polars_ir.language.sets import FAMILIES

#: Whole floats of this size or more are not written as integers: neighbours would share one.
EXACT = 2**53


#: A function that returns a measure's expression.
Measure = Callable[..., pl.Expr]


#: Denominator of a ratio of counts, by the measure's parameters; None where the value is no such ratio.
OutOf = Callable[..., pl.Expr | None]


#: Mean of a measure over all orders of tied documents, by the measure's parameters; "itself" where no order of them
#: changes the value.
Expected = Measure | Literal["itself"]


#: The kinds of mean of the values of queries.
Average = Literal["arithmetic", "geometric", "sum"]


#: A name in another tool, with the parameters it implies: `ndcg_burges(dcg='exp-log2')`.
SPELLING = re.compile(r"([^\s(]+)(?:\((.*?)\)(?=\s|$))?")


#: The facts of a measure that `measure` takes, beside its bounds.
FACTS: Mapping[str, Value[Any]] = {
    **dict.fromkeys(("name", "source", "at"), Value("a text", lambda value: isinstance(value, str) and bool(value))),
    "also": Value(
        "a dict of texts",
        lambda value: isinstance(value, Mapping) and all(isinstance(s, str) for s in (*value, *value.values())),
    ),
    **dict.fromkeys(("monotone", "falls_beyond", "reads_nonrelevant"), truth()),
    "average": one_of("arithmetic", "geometric", "sum"),
    **dict.fromkeys(("out_of", "gain", "discount"), or_none(Value("a function of the measure's parameters", callable))),
}
RECORDS: Value[Any] = Value(
    "a dict of options by parameter",
    lambda value: isinstance(value, Mapping) and all(isinstance(option, Option) for option in value.values()),
)


class MeasureCall(NamedTuple):
    """A measure by its name in the catalogue, and the arguments of the call.

    `monotone` is repeated from the catalogue, since a process that did not define the measure lacks its entry.
    """

    measure: str
    arguments: Mapping[str, Any]
    monotone: bool


@dataclass(frozen=True)
class MeasureInfo:
    """Facts of a measure, as `measure` takes them; a `MeasureError` for invalid ones.

    `function` checks the call and names the result of the wrapped function. `parameters` are that function's, with
    their defaults, `options` the records of those that are `described`. `ours` is true of a measure of this package.
    """

    name: str
    function: Measure
    bounds: tuple[float, float]
    source: str
    also: Mapping[str, str]
    described: InitVar[Mapping[str, Option]]
    best_bound: InitVar[float | None]
    expectation: InitVar[Expected | None]
    at: str
    monotone: bool
    falls_beyond: bool
    reads_nonrelevant: bool
    average: Average
    out_of: OutOf | None
    gain: Measure | None
    discount: Measure | None
    best: float = field(init=False)
    parameters: Mapping[str, object] = field(init=False)
    options: Mapping[str, Option] = field(init=False)
    expected: Measure | None = field(init=False)
    ours: bool = field(init=False)

    def __post_init__(
        self, described: Mapping[str, Option], best_bound: float | None, expectation: Expected | None
    ) -> None:
        for fact, value in FACTS.items():
            check(fact, getattr(self, fact), value)
        function: Measure = self.function.__wrapped__  # type: ignore[attr-defined]  # by functools.wraps
        defaults = {parameter.name: parameter.default for parameter in inspect.signature(function).parameters.values()}
        # None of code that is executed as text.
        ours = str(function.__module__).startswith("polars_ir.language.measures.")
        existing = CATALOG.get(self.name)
        if function.__name__ in RESERVED or (existing and existing.ours and not ours):
            says = f"{self.name!r} ({function.__name__}) is part of this package. Give your measure another name."
            raise MeasureError(says)
        if taken := sorted(RESERVED_PARAMETERS & defaults.keys()):
            raise MeasureError(
                f"{self.name}: {', '.join(map(repr, taken))} cannot be a parameter of a measure: a method of `.ir` "
                "takes the options of `evaluate` beside the measure's parameters.",
                fix=f"Give it another name than {', '.join(sorted(RESERVED_PARAMETERS))}",
            )
        _check_bounds(self.name, self.bounds, best_bound)
        vars(self).update(
            best=self.bounds[1] if best_bound is None else best_bound,
            parameters=defaults,
            options={n: described[n]._replace(default=default) for n, default in defaults.items() if n in described},
            expected=_expectation(self.name, function, expectation),
            ours=ours,
        )

    @property
    def meaning(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @functools.cached_property
    def spellings(self) -> Mapping[str, str]:
        """Its names in other tools, each with the implied parameters, as text."""
        return {name: given for names in self.also.values() for name, given in SPELLING.findall(names)}

    @functools.cached_property
    def kind(self) -> str:
        """The kind of judgments the measure reads, and a history beside them, or their strata, if it does."""
        expression = self.function()
        kind, columns = kind_of(expression), expression.meta.root_names()
        if any(column.startswith(OF_POOL) for column in columns):
            return f"{kind.name} and strata"
        return kind.name if kind is LISTS or OF_HISTORY.isdisjoint(columns) else f"{kind.name} and history"

    def column(self, arguments: Mapping[str, object]) -> str:
        """Name of the measure's column with these arguments, in the notation of `ir_measures`.

        >>> CATALOG["P"].column({"k": 5, "rel": 2})
        'P(rel=2)@5'
        """
        written, cutoff = [], arguments.get(self.at)
        for name, value in arguments.items():
            # An expression has no truth value to compare by.
            if name != self.at and (isinstance(value, pl.Expr) or value != self.parameters[name]):
                written.append(f"{name}={_literal(value)}")
        brackets = f"({','.join(written)})" if written else ""
        if cutoff is None:
            return f"{self.name}{brackets}"
        return f"{self.name}{brackets}@{cutoff if type(cutoff) is int else _literal(cutoff)}"


def documentation(info: MeasureInfo) -> str:
    """Docstring of a measure: the author's, then the facts of the record, in one form for every measure.

    The examples of this package's measures all begin with its import, added here.
    """
    written, heading, examples = (inspect.getdoc(info.function) or "").partition("Examples\n--------\n")
    heading += ">>> import polars_ir as ir\n" if info.ours else ""
    return (
        f"{documented(written.rstrip(), (), info.options)}\n\n"
        "Returns\n-------\npl.Expr\n"
        f"    An aggregation of the judged relation, named `{info.name}` with its parameters. `judge` makes the one\n"
        "    of documents; `evaluate` also what measures of subtopics, of preferences and of a whole pool read.\n"
        f"    From {info.bounds[0]:g} to {info.bounds[1]:g}; the best value is {info.best:g}.\n\n"
        "Raises\n------\nIRError\n    For a parameter that is not as described.\n\n"
        f"References\n----------\n{info.source}\n\n" + heading + examples
    )


#: Methods of `.ir` that are no measures, and the parameters that `.ir` adds to a measure's own.
RESERVED: set[str] = set()
RESERVED_PARAMETERS: set[str] = set()


#: Every measure by its canonical name, in the order of definition.
CATALOG: dict[str, MeasureInfo] = {}


def _check_bounds(name: str, bounds: Any, best: Any) -> None:
    """Raise a `MeasureError` for invalid bounds, and for a best value that is none of them."""
    are_two = isinstance(bounds, (tuple, list)) and len(bounds) == 2 and all(isinstance(end, Real) for end in bounds)
    if not are_two or not bounds[0] < bounds[1]:
        wanted = "two numbers, the lowest and the highest value, float('inf') where there is no limit"
        raise MeasureError.parameter(name, "bounds", wanted, bounds)
    if best is not None and (not isinstance(best, Real) or best not in bounds):
        raise MeasureError.parameter(name, "best", f"one of the bounds, {bounds[0]:g} or {bounds[1]:g}", best)


def _expectation(name: str, function: Callable[..., Any], expected: Expected | None) -> Measure | None:
    """The function of an expectation; a `MeasureError` for one with other parameters than the measure."""
    if expected is None or (isinstance(expected, str) and expected == "itself"):
        return function if expected else None
    if not callable(expected):
        wanted = "'itself', or a function of the measure's parameters"
        raise MeasureError.parameter(name, "expected", wanted, expected)
    parameters = inspect.signature(function).parameters
    try:
        inspect.signature(expected).bind(**dict.fromkeys(parameters))
    except (TypeError, ValueError) as error:
        raise MeasureError(
            f"{name}: expected must take the parameters of the measure by name, {', '.join(parameters) or 'none'}; "
            f"{error}. Give it the same parameters, or **parameters for those that it does not read."
        ) from None
    return expected


def info_of(call: MeasureCall) -> MeasureInfo:
    """The entry of the measure that a call made; a `MeasureError` in a process that did not define it."""
    if call.measure not in CATALOG:
        raise MeasureError(
            f"the measure {call.measure!r} was defined in another process, and this one does not know it. Import the "
            "module that defines it with @ir.measure first."
        )
    return CATALOG[call.measure]


def catalog() -> pl.DataFrame:
    """All measures of the catalogue, one row each.

    Returns
    -------
    pl.DataFrame
        `name`, `meaning`, `function` (its name in this package), `parameters` (with defaults), `low`, `high`, `best`
        (its range and best value), `monotone` (True if it cannot fall when a grade rises, so that `bounds` of
        `evaluate` are exact), `judgments` (what it reads: `documents`, `subtopics`, `preferences`, `documents and
        history`, `documents and strata`, or `none` of a recommender's lists), `also` (what other tools call it),
        `source`; String but for the three numbers, which are Float64, and the Boolean.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.catalog().filter(pl.col("name") == "AP").select("function", "parameters", "low", "high").row(0)
    ('average_precision', "k=None, rel=1, denominator='R'", 0.0, 1.0)
    """
    return pl.DataFrame(
        {
            "name": info.name,
            "meaning": info.meaning,
            "function": info.function.__name__,
            "parameters": ", ".join(f"{n}={v!r}" for n, v in info.parameters.items()),
            "low": float(info.bounds[0]),
            "high": float(info.bounds[1]),
            "best": float(info.best),
            "monotone": info.monotone,
            "judgments": info.kind,
            "also": "; ".join(f"{tool}: {', '.join(names.split())}" for tool, names in info.also.items()),
            "source": info.source,
        }
        # Another thread may register a measure meanwhile.
        for info in list(CATALOG.values())
    )


def short_names() -> dict[str, str]:
    """Functions of measures by the other names that `.ir` and `ir` have for them: `mrr`, `map`, `ap`, `hit_rate`.

    These are the canonical names and other tools' names in lower case, except names that imply parameters, and those of
    trec_eval for several cutoffs.
    """
    names: dict[str, str] = {}
    for info in list(CATALOG.values()):
        plain_names = (name for name, given in info.spellings.items() if not given and name not in FAMILIES)
        for name in (info.name, *plain_names):
            short = name.lower().replace("-", "_")
            if short.isidentifier() and (name == info.name or name.isupper() or name[1:] == short[1:]):
                names[short] = info.function.__name__
    return dict(sorted(names.items()))


def plain(value: Any) -> Any:
    """A number of any library as Python's, a whole one as an integer; a map by rising numbers; other values unchanged.

    >>> plain(2.0), plain({2.0: 3.0, 1: 0.5}), plain("log2")
    (2, {1: 0.5, 2: 3}, 'log2')
    """
    if isinstance(value, Mapping):
        items = [(plain(key), plain(item)) for key, item in value.items()]
        # The same map in another order is the same measure, with the same name.
        of_numbers = all(isinstance(key, Real) for key, _ in items)
        return dict(sorted(items, key=lambda item: item[0]) if of_numbers else items)
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < EXACT else number


def _literal(value: object) -> str:
    """A parameter's value as `ir_measures` writes it: a map of gains without blanks, a whole float without a point."""
    if isinstance(value, pl.Expr):
        return value.meta.output_name()
    if isinstance(value, tuple):
        return "(" + ",".join(map(_literal, value)) + ")"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_literal(v)}" for key, v in value.items()) + "}"
    return repr(plain(value))


def catalogued() -> tuple[Measure, ...]:
    """The functions of the catalogue as it is now: the key of a cache, since users define measures anew."""
    return tuple(map(attrgetter("function"), list(CATALOG.values())))
