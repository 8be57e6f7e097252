"""The decorator that makes a function of an expression a measure with a name, and the parameters of measures.

`@measure` checks the parameters of a call, names the expression as `ir_measures` would (`nDCG@10`, `P(rel=2)@5`) and
records the other facts of the measure in the catalogue.

Conventions: a measure's expression has two aliases, one on the other: the name of its column, which anyone may change,
and below it a mark, which holds the measure's name and arguments as JSON. Polars reads the outer one alone. Nothing is
remembered outside of the expression, so that it is the same measure in another process, on another machine, or years
later. Expressions that are made of it are Polars' own again.
"""

from __future__ import annotations

import base64
import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, ParamSpec, Self, get_args

import polars as pl

from polars_ir.errors import MeasureError, OptionError
from polars_ir.language.catalog import (
    CATALOG,
    RECORDS,
    Average,
    Expected,
    Measure,
    MeasureCall,
    MeasureInfo,
    OutOf,
    documentation,
    plain,
)
from polars_ir.language.options import (
    MOST_DOCUMENTS,
    Option,
    Value,
    chance,
    check,
    is_map_of_numbers,
    misspelt,
    not_negative,
    one_of,
    or_none,
    whole,
)
from polars_ir.language.words import Discount, Discounted

#: The beginning of a mark.
MARK = "polars_ir measure "

#: The mark of several measures in one expression.
SEVERAL = "polars_ir measures"

#: Values of which there is one spelling.
SIMPLE = frozenset({int, str, bool, type(None)})

#: The highest grade whose power of 2 is a plausible gain.
HIGHEST_GRADE = 64

#: Largest value of a parameter.
HIGHEST = 1e9

#: No collection has more documents; all numbers up to here are whole as floats, too.
LARGEST_COLLECTION = 2**53


def named(value: Any) -> bool:
    """True for an expression that its name identifies: a bare column, or one with a name of its own."""
    if not isinstance(value, pl.Expr) or value.meta.has_multiple_outputs():
        return False
    return value.meta.is_column() or value.meta.output_name() not in {*value.meta.root_names(), "literal"}


#: Parameters with one meaning in every measure, each with its usual default.
PARAMETERS: dict[str, Option] = {
    "k": Option(
        None,
        whole(1, MOST_DOCUMENTS)._replace(wanted=f"a whole number of documents, from 1 to {MOST_DOCUMENTS:,}"),
        "Cutoff: only the first k documents of the ranking count; None: all of them.",
    ),
    "rel": Option(
        1,
        not_negative(HIGHEST)._replace(wanted=f"a grade from 0 to {HIGHEST:g}"),
        "The lowest grade that counts as relevant, 0 for every judged document; None, where grades are gains: any "
        "grade above 0.",
    ),
    "beta": Option(
        1,
        not_negative(HIGHEST)._replace(wanted=f"a number from 0 to {HIGHEST:g}"),
        "The weight of recall against that of precision, which is 1; at 0 only precision counts.",
    ),
    "p": Option(0.8, chance(), "Persistence: how likely the reader goes on from one document to the next."),
    "max_rel": Option(
        4, whole(1, HIGHEST_GRADE), "The highest grade there can be; a grade above it counts as this one."
    ),
    "dcg": Option(
        "log2",
        one_of(*get_args(Discounted)),
        "The gain: 'log2' takes the grade itself, 'exp-log2' 2 to the grade less 1, 'binary' 1 for all above 0.",
    ),
    "discount": Option(
        "log2",
        one_of(*get_args(Discount)),
        "The divisor of the gain at a rank: 'log2' is log2(1 + rank), 'ln' its natural logarithm, 'jarvelin' "
        "max(1, log2(rank)), 'rank' the rank itself, 'none' 1.",
    ),
    "gains": Option(
        None,
        Value(
            "a map from grades to numbers of 0 or more, as in {1: 1, 2: 3}, a column, or a Polars expression with a "
            "name of its own, as in (pl.col('relevance') * pl.col('trust')).alias('trusted')",
            lambda v: named(v) or (is_map_of_numbers(v) and all(x >= 0 for x in v.values())),
        ),
        "The gains of grades: a map, which leaves a grade that it does not name its own value, or a Polars "
        "expression over columns of run or qrels, such as `pl.col('relevance') * pl.col('trust')`. Unjudged documents "
        "and negative values are worth 0. A column of the run is null for documents that the run did not return, so "
        "that they are missing from an ideal ranking.",
    ),
}


class Outputs(NamedTuple):
    """Value of a measure, with companion columns: `m low`, `m high`, `m se`.

    A measure's function returns it instead of an expression to give the ends of an interval, or a standard error,
    beside the value.
    """

    value: pl.Expr
    low: pl.Expr | None = None
    high: pl.Expr | None = None
    se: pl.Expr | None = None


#: Suffixes of companion columns.
PARTS = Outputs._fields[1:]


def of_part(measure: str, part: str) -> str:
    """Name of a companion column."""
    return f"{measure} {part}"


P = ParamSpec("P")


def measure(
    name: str,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    best: float | None = None,
    source: str,
    also: Mapping[str, str] | None = None,
    parameters: Mapping[str, Option] | None = None,
    at: str = "k",
    monotone: bool = False,
    falls_beyond: bool = False,
    reads_nonrelevant: bool = True,
    average: Average = "arithmetic",
    out_of: OutOf | None = None,
    gain: Measure | None = None,
    discount: Measure | None = None,
    expected: Expected | None = None,
) -> Callable[[Callable[P, pl.Expr | Outputs]], Callable[P, pl.Expr]]:
    """Register a function that returns an aggregation of the judged relation as a measure.

    Parameters
    ----------
    name
        The canonical name, as in the column `name(parameter=value)@k`.
    bounds
        The lowest and the highest value.
    best
        The best value, which is one of the bounds; without it, the highest.
    source
        The DOI or URL of the definition.
    also
        Its names in other tools, by tool: `{"trec_eval": "ndcg ndcg_cut", "ranx": "ndcg_burges(dcg='exp-log2')"}`;
        brackets hold the parameters that a name stands for, or the bare one that the number behind the name sets.
    parameters
        The records of parameters that only this measure has, or that have another meaning in it.
    at
        The parameter that the number after `@` sets.
    monotone
        True where the value cannot fall (or, for a cost, rise) as the grade of a document rises: then `bounds` of
        `evaluate` are exact.
    falls_beyond
        True where the value cannot rise as the grade of a document beyond the cutoff does, which adds to what there is
        to find only: then `bounds` leave out the judging that makes all documents relevant.
    reads_nonrelevant
        True where a document with a grade of 0 or less counts otherwise than an unjudged one; else it is left out.
    average
        The mean of the values of queries, which `mean` computes.
    out_of
        For a ratio of counts, a function from the parameters to its denominator, over the columns of counts that
        `evaluate` makes (`NumRel`): the weight of a query in a micro average.
    gain, discount
        The gain of a document, and the discount that divides it at its rank, as functions of the measure's parameters:
        columns of `explain`. Without them a relevant document has a gain of 1, without a discount.
    expected
        The measure for `ties="expected"`: the mean over all orders of tied documents (`n_higher` and `n_tied` have the
        places they share), as a function of the measure's parameters, or `"itself"` where no order changes the value.

    Returns
    -------
    Callable
        A decorator, which registers the function in the catalogue, as a method of `.ir` and for `parse`, and gives it
        back with its parameters checked and its result named.

    Raises
    ------
    MeasureError
        For a name or a function of this package, bounds that are no range, a parameter called like an option of
        `evaluate`, and an `expected` that is no function of the parameters.

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
    check("parameters", parameters, or_none(RECORDS))

    def register(function: Callable[P, pl.Expr | Outputs]) -> Callable[P, pl.Expr]:
        CATALOG[name] = info = MeasureInfo(
            name=name,
            function=_named(name, function),
            bounds=bounds,
            best_bound=best,
            source=source,
            also={} if also is None else also,
            described={**PARAMETERS, **(parameters or {})},
            at=at,
            monotone=monotone,
            falls_beyond=falls_beyond,
            reads_nonrelevant=reads_nonrelevant,
            average=average,
            out_of=out_of,
            gain=gain,
            discount=discount,
            expectation=expected,
        )
        info.function.__doc__ = documentation(info)
        return info.function

    return register


def _named(name: str, function: Callable[P, pl.Expr | Outputs]) -> Callable[P, pl.Expr]:
    """Function of a measure in the catalogue, which checks the parameters of a call and names the result."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def named(*args: P.args, **kwargs: P.kwargs) -> pl.Expr:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            if args and hasattr(type(args[0]), "columns"):
                raise OptionError.of_tables(function.__name__) from None
            problem = _of_budget(name, signature, kwargs) or misspelt(function, signature, args, kwargs, error)
            raise problem from None
        info = CATALOG[name]
        if isinstance(bound.arguments.get(info.at), Iterable) and (cutoffs := _several(info, bound.arguments[info.at])):
            return together(info.function(**{**bound.arguments, info.at: cutoff}) for cutoff in cutoffs)
        bound.apply_defaults()
        for parameter, value in bound.arguments.items():
            if value is info.parameters[parameter] and type(value) in SIMPLE:
                continue
            bound.arguments[parameter] = argument = value if type(value) in SIMPLE else plain(value)
            # A user's measure may have undescribed parameters.
            option = info.options.get(parameter)
            if option and not option.value.holds(argument):
                raise MeasureError.parameter(name, parameter, option.value.wanted, argument)
        made: pl.Expr | Outputs = function(*bound.args, **bound.kwargs)
        call, column = MeasureCall(name, bound.arguments, info.monotone), info.column(bound.arguments)
        return _in_columns(made, call, column, info.average)

    return named


def _of_budget(name: str, signature: inspect.Signature, given: Mapping[str, object]) -> MeasureError | None:
    """The error for a measure without a budget that is given one: its ideal ranking would be a knapsack."""
    if "budget" not in given or "budget" in signature.parameters:
        return None
    others = [info.name for info in list(CATALOG.values()) if "budget" in info.parameters]
    return MeasureError(f"{name} is not defined within a budget; {', '.join(others)} are.")


def _several(info: MeasureInfo, value: Iterable[object]) -> list[object]:
    """The several values after the `@`, as in `k=[5, 10]`; none for a single one."""
    if isinstance(value, (str, bytes, Mapping)):
        return []
    option = info.options.get(info.at)
    return list(value) if option and not option.value.holds(value) else []


def _in_columns(outputs: pl.Expr | Outputs, call: MeasureCall, column: str, average: Average) -> pl.Expr:
    """Value of a measure in its column, and its companions, if any, in columns of their own."""
    value = marked(outputs if isinstance(outputs, pl.Expr) else outputs.value, call).alias(column)
    value.__class__ = MeasureExpression
    if isinstance(outputs, pl.Expr):
        return value
    if outputs.se is not None and average != "arithmetic":
        raise MeasureError(f"{call.measure}: a standard error goes with average='arithmetic'; got {average!r}.")
    parts = [(part, output) for part, output in zip(PARTS, outputs[1:], strict=True) if output is not None]
    return together([value, *(output.alias(of_part(column, part)) for part, output in parts)])


class MeasureExpression(pl.Expr):
    """An expression that is printed as its columns are named, and pickled by the calls of its measures.

    A pickle then serves another version of Polars, and a cache that hashes it (Streamlit's). Measures of a user's own,
    which another process may not know, are pickled as expressions; so are those with an expression for a parameter.
    """

    def __new__(cls, *pickled: Any) -> Self:
        """The expression that was pickled."""
        return _unpickled(*pickled) if pickled else super().__new__(cls)

    def __repr__(self) -> str:
        return ", ".join(str(each.meta.output_name(raise_if_undetermined=False)) for each in members(self))

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return f"<code>{repr(self).replace('&', '&amp;').replace('<', '&lt;')}</code>"

    def alias(self, name: str) -> pl.Expr:
        """The same measure in a column of another name."""
        renamed = super().alias(name)
        renamed.__class__ = type(self)
        return renamed

    def __reduce__(self) -> tuple[type[MeasureExpression], tuple[Any, ...]]:
        # Caches that hash this know how to hash a class, and not a function.
        calls = []
        for member in members(self):
            call = call_of(member)
            info = CATALOG.get(call.measure) if call else None
            if call is None or info is None or not info.ours:
                return MeasureExpression, (bytes(self.meta.serialize()),)
            if any(isinstance(value, pl.Expr) for value in call.arguments.values()):
                return MeasureExpression, (bytes(self.meta.serialize()),)
            given = {name: value for name, value in call.arguments.items() if value != info.parameters[name]}
            calls.append((info.name, given, member.meta.output_name()))
        return MeasureExpression, tuple(calls)

    def __reduce_ex__(self, _protocol: object) -> tuple[type[MeasureExpression], tuple[Any, ...]]:
        return self.__reduce__()


def _unpickled(*pickled: Any) -> Any:
    """The expression of measures by their calls and the names of their columns, or as it was written whole."""
    if isinstance(pickled[0], bytes):
        whole = pl.Expr.deserialize(pickled[0])
        whole.__class__ = MeasureExpression
        return whole
    by_call = ((CATALOG[measure].function(**given), column) for measure, given, column in pickled)
    expressions = [made if made.meta.output_name() == column else made.alias(column) for made, column in by_call]
    return expressions[0] if len(expressions) == 1 else together(expressions)


def marked(expression: pl.Expr, call: MeasureCall) -> pl.Expr:
    """The expression with a mark of its call; a `MeasureError` for arguments that cannot be written.

    >>> marked(pl.col("rank").min(), MeasureCall("First", {"rel": 2}, False)).meta.output_name()
    'polars_ir measure {"measure": "First", "arguments": {"rel": 2}, "monotone": false}'
    """
    arguments = dict(call.arguments)
    for name, value in arguments.items():
        if type(value) not in SIMPLE:
            arguments[name] = _written(call.measure, name, value)
    return expression.alias(MARK + json.dumps(call._replace(arguments=arguments)._asdict()))


def call_of(expression: pl.Expr) -> MeasureCall | None:
    """The call that made an expression, whatever its name; None for a user's own aggregation.

    >>> import polars_ir as ir
    >>> call_of(ir.average_precision(k=5).alias("mine")).measure
    'AP'
    >>> call_of(ir.precision(k=5).round(2)) is None
    True
    """
    while len(inner := expression.meta.pop()) == 1:
        name = inner[0].meta.output_name(raise_if_undetermined=False) or ""
        if name.startswith(MARK):
            mark = json.loads(name.removeprefix(MARK))
            for parameter, value in mark["arguments"].items():
                if isinstance(value, dict):
                    mark["arguments"][parameter] = _read(value)
            return MeasureCall(**mark)
        # Any other step than a change of the name makes another aggregation.
        if expression.meta.undo_aliases().meta != inner[0].meta.undo_aliases().meta:
            return None
        expression = inner[0]
    return None


def together(measures: Iterable[pl.Expr]) -> pl.Expr:
    """One expression of several measures, a column each; a `MeasureError` for two of one name."""
    expressions = list(measures)
    # Those of one measure with several outputs have no name together.
    names = [expression.meta.output_name(raise_if_undetermined=False) for expression in expressions]
    if repeated := [name for place, name in enumerate(names) if name and name in names[:place]]:
        raise MeasureError.twice(repeated[0])
    expression = pl.struct(expressions).alias(SEVERAL).struct.field("*")
    expression.__class__ = MeasureExpression
    return expression


def members(measure: pl.Expr) -> list[pl.Expr]:
    """The expressions in one that `together` made, else the expression alone.

    >>> import polars_ir as ir
    >>> [member.meta.output_name() for member in members(ir.precision(k=[1, 5]))]
    ['P@1', 'P@5']
    """
    if measure.meta.has_multiple_outputs():
        (fields,) = measure.meta.pop()[:1] or [measure]
        if fields.meta.output_name(raise_if_undetermined=False) == SEVERAL:
            (struct,) = fields.meta.pop()
            return [member for each in struct.meta.pop()[::-1] for member in members(each)]
    return [measure]


def _written(measure: str, name: str, value: Any) -> Any:
    """A value as JSON has it; other kinds of values as an object of one key."""
    if isinstance(value, pl.Expr):
        try:
            return {"expression": base64.b64encode(value.meta.serialize()).decode()}
        except pl.exceptions.ComputeError:
            raise MeasureError(
                f"{measure}: {name} holds a Python function, which no other process can read. Put its values into a "
                "column first, and name that."
            ) from None
    if isinstance(value, Mapping):
        return {"map": [[_written(measure, name, part) for part in pair] for pair in value.items()]}
    if isinstance(value, (tuple, list)):
        return {type(value).__name__: [_written(measure, name, part) for part in value]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    wanted = "a number, a string, True, False, None, a tuple, list or map of these, or a Polars expression"
    raise MeasureError.parameter(measure, name, wanted, value)


def _read(written: Any) -> Any:
    """A value as it was before it was written as JSON."""
    if not isinstance(written, dict):
        return written
    ((kind, value),) = written.items()
    if kind == "expression":
        return pl.Expr.deserialize(base64.b64decode(value))
    values = [_read(part) if kind != "map" else tuple(map(_read, part)) for part in value]
    return {"map": dict, "tuple": tuple, "list": list}[kind](values)
