"""The catalogue: what makes a function that returns an expression a measure with a name.

`@measure` checks the parameters of a call, names the expression as `ir_measures` would (`nDCG@10`, `P(rel=2)@5`) and
records what else there is to know about the measure. Everything that needs a list of measures reads `CATALOG`: the
parser of names, the `.ir` methods, `catalog()`, the README's table and the tests.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, ParamSpec

import polars as pl

from polars_ir.errors import MeasureError, explain_options
from polars_ir.parameters import PARAMETERS, Parameter
from polars_ir.vocabulary import PREFERENCE

P = ParamSpec("P")

#: A function that returns a measure's expression.
Measure = Callable[..., pl.Expr]

#: What the value of a query is a share of, by the measure's parameters; None where it is no share of a count.
OutOf = Callable[..., pl.Expr | None]

#: How the values of queries become one.
Average = Literal["arithmetic", "geometric", "sum"]

#: The kinds of judgments there are: of documents, of the subtopics of documents, and of one document against another.
Kind = Literal["documents", "subtopics", "preferences"]

#: A name of another tool, with the parameters it stands for: `ndcg_burges(dcg='exp-log2')`.
SPELLING = re.compile(r"([^\s(]+)(?:\((.*?)\)(?=\s|$))?")


@dataclass(frozen=True)
class Spec:
    """What is known of a measure besides its formula."""

    name: str
    function: Measure
    bounds: tuple[float, float]
    best: float
    source: str
    also: Mapping[str, str]
    own: Mapping[str, Parameter]
    at: str
    monotone: bool
    average: Average
    out_of: OutOf | None
    gain: Measure | None
    discount: Measure | None

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

    @functools.cached_property
    def spellings(self) -> Mapping[str, str]:
        """What other tools call it, each name with the parameters it stands for, as text."""
        return {name: given for names in self.also.values() for name, given in SPELLING.findall(names)}

    @functools.cached_property
    def kind(self) -> Kind:
        """The kind of judgments the measure reads."""
        return kind_of(self.function())

    def parameter(self, name: str) -> Parameter:
        """What a parameter means in this measure."""
        return self.own.get(name) or PARAMETERS[name]


@dataclass(frozen=True)
class Call:
    """A measure, and the arguments it was called with."""

    spec: Spec
    arguments: Mapping[str, object]


#: Methods of `.ir` that are no measures.
METHODS = (
    *("judge", "evaluate", "validate", "confidence", "p_mrr", "explain", "diff", "judge_next"),
    *("mean", "summarize", "compare", "power", "risk", "geo_risk", "gate", "rank_correlation", "worst_slices", "drift"),
    *("hardest", "unanswered", "abstention", "robustness", "table", "plot"),
)

#: Every measure by its canonical name, in the order of definition.
CATALOG: dict[str, Spec] = {}

#: The latest calls of measures, by a digest of their expressions: an expression does not tell how it was made.
_CALLS: dict[bytes, Call] = {}

#: So many calls are remembered.
REMEMBERED = 10_000


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
    average: Average = "arithmetic",
    out_of: OutOf | None = None,
    gain: Measure | None = None,
    discount: Measure | None = None,
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
        What other tools call it, by tool: `{"trec_eval": "ndcg ndcg_cut", "ranx": "ndcg_burges(dcg='exp-log2')"}`;
        brackets hold the parameters that a name stands for, and `#` there the number that follows the name.
    parameters
        What parameters mean that only this measure has, or that mean something else in it.
    at
        The parameter that the number after `@` sets.
    monotone
        Whether no document's grade can rise and the value fall (or, for a cost, the value rise): then `bounds` of
        `evaluate` are exact.
    average
        How `mean` puts the values of queries together.
    out_of
        For a ratio of counts, a function from the parameters to its denominator, over the columns of counts that
        `evaluate` makes (`NumRel`): what a query counts in a micro average.
    gain, discount
        What a document is worth, and what that is divided by at its rank, as functions of the measure's parameters:
        columns of `explain`. Without them a relevant document is worth 1, and nothing divides it.

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
                check_parameter(CATALOG[name], parameter, value)
            expression = function(*args, **kwargs).alias(canonical_name(CATALOG[name], bound.arguments))
            remember(expression, Call(CATALOG[name], dict(bound.arguments)))
            return expression

        known = CATALOG.get(name)
        if function.__name__ in METHODS or (known and known.ours and not _is_ours(function)):
            raise MeasureError.taken(name, function.__name__)
        highest = bounds[1] if best is None else best
        facts = (bounds, highest, source, also or {}, parameters or {}, at, monotone, average, out_of, gain, discount)
        CATALOG[name] = Spec(name, named, *facts)
        named.__doc__ = documentation(CATALOG[name])
        return named

    return register


def call_of(expression: pl.Expr) -> Call | None:
    """The measure and the arguments that an expression was made with, whatever its name; None for a user's own.

    >>> import polars_ir as ir
    >>> call_of(ir.precision(k=5).alias("mine")).arguments
    {'k': 5, 'rel': 1}
    """
    return _CALLS.get(_digest(expression)) or _CALLS.get(_digest(expression.meta.undo_aliases()))


def remember(expression: pl.Expr, call: Call) -> None:
    """Keep the call that an expression was made by."""
    if len(_CALLS) >= REMEMBERED:
        _CALLS.pop(next(iter(_CALLS)))
    _CALLS[_digest(expression)] = call
    # The formula without its name; of measures that share one, such as AP and GMAP, either will do.
    _CALLS.setdefault(_digest(expression.meta.undo_aliases()), call)


def _digest(expression: pl.Expr) -> bytes:
    try:
        return sha256(expression.meta.serialize()).digest()
    except pl.exceptions.ComputeError:  # it holds a Python function
        return b""


def canonical_name(spec: Spec, arguments: Mapping[str, object]) -> str:
    """The name of a measure with these arguments, in the notation of `ir_measures`.

    >>> from polars_ir.registry import CATALOG
    >>> canonical_name(CATALOG["P"], {"k": 5, "rel": 2})
    'P(rel=2)@5'
    """
    defaults = spec.parameters
    given = [f"{n}={_literal(v)}" for n, v in arguments.items() if n != spec.at and _differs(v, defaults[n])]
    at = arguments.get(spec.at)
    return spec.name + (f"({','.join(given)})" if given else "") + (f"@{_literal(at)}" if at is not None else "")


def documentation(spec: Spec) -> str:
    """The docstring of a measure: what its author wrote, then what the registry knows, the same for every measure."""
    written, example, rest = (inspect.getdoc(spec.function) or "").partition("Examples\n--------\n")
    parameters = "".join(
        f"{name} : default {default!r}\n    {spec.parameter(name).meaning}\n"
        for name, default in spec.parameters.items()
        if name in PARAMETERS or name in spec.own
    )
    return (
        f"{written.rstrip()}\n\n"
        + (f"Parameters\n----------\n{parameters}\n" if parameters else "")
        + "Returns\n-------\npl.Expr\n"
        f"    An aggregation of the judged relation, named `{spec.name}` with its parameters. `judge` makes the one\n"
        "    of documents; `evaluate` also what measures of subtopics, of preferences and of a whole pool read.\n"
        f"    From {spec.bounds[0]:g} to {spec.bounds[1]:g}; the best value is {spec.best:g}.\n\n"
        "Raises\n------\nIRError\n    For a parameter that is not as described.\n\n"
        f"References\n----------\n{spec.source}\n\n" + example + rest
    )


def kind_of(expression: pl.Expr) -> Kind:
    """The kind of judgments that a measure reads, by the columns that only one kind has.

    >>> kind_of(pl.col("subtopic").n_unique())
    'subtopics'
    """
    read = expression.meta.root_names()
    if "subtopic" in read:
        return "subtopics"
    return "documents" if set(PREFERENCE).isdisjoint(read) else "preferences"


def check_parameter(spec: Spec, name: str, value: object) -> None:
    """Raise a `MeasureError` unless the value is one that the parameter of this name can have."""
    if value is None and spec.parameters[name] is None:
        return
    # A user's measure may have parameters that nobody described.
    if (name in PARAMETERS or name in spec.own) and not spec.parameter(name).holds(value):
        raise MeasureError.parameter(spec.name, name, spec.parameter(name).wanted, value)


def catalog() -> pl.DataFrame:
    """Every measure there is, one row each.

    Returns
    -------
    pl.DataFrame
        `name`, `function` (its name in this package), `judgments` (`documents`, `subtopics` or `preferences`: what it
        reads), `parameters` (with defaults), `low`, `high`, `best`
        (its range and best value), `monotone` (whether it can not fall when a grade rises, so that `bounds` of
        `evaluate` are exact), `also` (what other tools call it), `meaning`, `source`; String but for the three
        numbers, which are Float64, and the Boolean.

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
        for spec in CATALOG.values()
    )


def _is_ours(function: Measure) -> bool:
    return function.__module__.startswith("polars_ir.measures.")


def _literal(value: object) -> str:
    """A parameter's value as `ir_measures` writes it: a map of gains without blanks, a whole float without a point."""
    if isinstance(value, pl.Expr):
        return value.meta.output_name()
    if isinstance(value, tuple):
        return "(" + ",".join(map(_literal, value)) + ")"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_literal(v)}" for key, v in value.items()) + "}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)


def _differs(value: object, default: object) -> bool:
    """Whether a value is not the default; expressions have no truth value to tell."""
    return isinstance(value, pl.Expr) or value != default
