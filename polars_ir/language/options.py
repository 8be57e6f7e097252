"""Options: records of meaning, possible values and default, which all their readers share.

The options of a kind of call are a `TypedDict`, whose fields carry the records. A function takes them as `**options:
Unpack[...]` under `@public(...)`, which checks them, fills in the defaults and completes signature and docstring;
`.ir`, Spark, the command line and the docs read the same records.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeGuard, TypeVar, cast, get_type_hints

from polars_ir.errors import Code, ExtraError, Fix, IRError, OptionError, called_with, did_you_mean, nearest
from polars_ir.extras import extra_of

T = TypeVar("T")

#: Message of a call in a fork, which would hang.
FORKED = "Polars was used before this process forked; its threads do not survive a fork, so this call would hang."
SPAWN = Fix("Start processes anew", Code("multiprocessing.get_context('spawn')"))

#: Largest accepted number; its square is still finite.
LARGEST = 1e100

#: Smallest probability, so that its complement, and that of a share of it, is below 1.
RAREST = 1e-9

#: Ranks and counts are 32-bit numbers.
MOST_DOCUMENTS = 2**31


class Fork:
    """State of the process: `used` is true once a function was called, `happened` in a fork of such a process."""

    used = False
    happened = False

    @classmethod
    def in_child(cls) -> None:
        """Called where a fork of this process begins."""
        cls.happened |= cls.used


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=Fork.in_child)


class Value(NamedTuple, Generic[T]):
    """Possible values of an option: in words, as a test, as choices if there are any; and the reader of their text.

    `also` are choices by their names in other tools.
    """

    wanted: str
    holds: Callable[[Any], bool]
    read: Callable[[Any], T] = lambda value: value
    choices: tuple[Any, ...] = ()
    also: Mapping[str, T] = MappingProxyType({})

    def by_our_name(self, given: Any) -> Any:
        """The choice that another tool's name stands for; any other value unchanged."""
        return self.also.get(given.lower(), given) if isinstance(given, str) else given


def is_number(value: object) -> TypeGuard[float]:
    """True for a finite number of any library that is no Boolean, and not beyond the floats."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def is_whole(value: object, least: int = 1, most: float = math.inf) -> TypeGuard[int]:
    """True for a whole number in a range that is no Boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def is_map_of_numbers(value: object) -> TypeGuard[Mapping[float, float]]:
    """True for a map from some numbers to numbers, as of grades to gains."""
    return isinstance(value, Mapping) and bool(value) and all(map(is_number, (*value, *value.values())))


def one_of(*choices: str, also: Mapping[str, str] = MappingProxyType({})) -> Value[str]:
    """One of some words."""
    wanted = f"one of {', '.join(map(repr, choices))}"
    return Value(wanted, lambda value: isinstance(value, str) and value in choices, str, choices, also)


def some_of(*choices: str) -> Value[Any]:
    """One of some words, or several of them."""
    one = one_of(*choices)
    return one._replace(
        wanted=f"{one.wanted}, or a list of such",
        holds=lambda value: (
            one.holds(value) or (isinstance(value, (list, tuple)) and bool(value) and all(map(one.holds, value)))
        ),
    )


def truth() -> Value[bool]:
    """True or False."""
    return Value("True or False", lambda value: isinstance(value, bool), bool, (True, False))


def whole(least: int, most: float = math.inf) -> Value[int]:
    """A whole number in a range."""
    wanted = f"a whole number, {least} or more" if most == math.inf else f"a whole number from {least} to {most:,}"
    return Value(wanted, functools.partial(is_whole, least=least, most=most), int)


def count() -> Value[int]:
    """A number of documents or queries, 1 or more; one beyond the size of any table stands for all."""
    return whole(1)._replace(read=lambda value: min(int(value), MOST_DOCUMENTS))


def chance(below: float = 1) -> Value[float]:
    """A probability below another one."""
    wanted = f"at least {RAREST:g} and below {below}"
    return Value(wanted, lambda value: is_number(value) and RAREST <= value < below, float)


def not_negative(most: float = LARGEST) -> Value[float]:
    """A number of 0 or more."""
    wanted = f"from 0 to {most:g}"
    return Value(wanted, lambda value: is_number(value) and 0 <= value <= most, float)


def positive(most: float = LARGEST) -> Value[float]:
    """A number above 0."""
    wanted = f"above 0, up to {most:g}"
    return Value(wanted, lambda value: is_number(value) and 0 < value <= most, float)


def any_number() -> Value[float]:
    """A finite number."""
    return Value("a number", is_number, float)


def column(of: str) -> Value[str]:
    """The name of a column."""
    return Value(f"the name of a column of {of}", lambda value: isinstance(value, str), str)


def columns(of: str) -> Value[list[str]]:
    """The name of a column, or of several."""
    return Value(
        f"the name of a column of {of}, or a list of such",
        lambda names: (
            isinstance(names, str)
            or (isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names))
        ),
    )


def each_once(names: str | Iterable[str] | None) -> list[str]:
    """The columns that such a value names, each once."""
    return [names] if isinstance(names, str) else list(dict.fromkeys(names or ()))


def keys_named(by: str | Iterable[str] | None, of: str = "the run") -> list[str]:
    """The key columns of a table, as a call names them; an `OptionError` for what names none."""
    return each_once(check("by", by, or_none(columns(of))))


def anything() -> Value[Any]:
    """Any value: the function itself checks it."""
    return Value("anything", lambda _: True)


def or_none(value: Value[T], meaning: str = "") -> Value[T | None]:
    """A value, or None, which may mean something of its own."""

    def read(given: Any) -> T | None:
        return None if isinstance(given, str) and given.lower() == "none" else value.read(given)

    wanted = f"{value.wanted}, or None {meaning}".rstrip()
    return Value(wanted, lambda given: given is None or value.holds(given), read, value.choices, value.also)


def check(name: str, given: Any, value: Value[T]) -> T:
    """The value, a number as Python's, or an `OptionError` that says what the option can be."""
    given = value.by_our_name(given) if value.also else given
    if not value.holds(given):
        # Words with another initial are not meant, such as 'zero' by 'error'.
        initial = str(given)[:1].casefold()
        words = [word for word in value.choices if isinstance(word, str) and word[:1].casefold() == initial]
        near = nearest(given, words) if isinstance(given, str) else ""
        raise OptionError(f"must be {value.wanted}; got {given!r}.", about=name, near=near)
    return value.read(given) if isinstance(given, Real) and not isinstance(given, bool) else given


F = TypeVar("F", bound=Callable[..., Any])


class Option(NamedTuple):
    """An option: default, possible values, and meaning; the first sentence is the help of the command line.

    Figures of evaluations that differ in an option that `changes_figures` are neither compared nor updated.
    """

    default: Any
    value: Value[Any]
    meaning: str
    changes_figures: bool = True


@functools.cache
def options_of(kind: type) -> Mapping[str, Option]:
    """The records of a `TypedDict` of options, by name."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


def parameters_of(kind: type) -> list[inspect.Parameter]:
    """The options of a kind as keyword-only parameters of a function."""
    hints = get_type_hints(kind)
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[name])
        for name, option in options_of(kind).items()
    ]


def public(
    kind: type | None = None, *, then: Callable[[Any], Any] | None = None, keys: bool = True
) -> Callable[[F], F]:
    """Make a function public: with the options of a kind, and `then` something done with the result.

    Without `keys` its `by`, if any, names no columns that distinguish rows of a query, and is no advice for such.

    The arguments are bound and the options checked and completed with their defaults once, an `OptionError` says what
    is wrong with them, in the words of the caller's frames, and signature and docstring have the options. An
    `ExtraError` names the extra of a package that is not installed.
    """
    options = options_of(kind) if kind else {}
    defaults = {name: check(name, option.default, option.value) for name, option in options.items()}

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        if kind:
            parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
            signature = signature.replace(parameters=[*parameters, *parameters_of(kind)])

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if Fork.happened:
                raise IRError(FORKED, fix=SPAWN)
            Fork.used = True
            with called_with(args) if "pandas" in sys.modules or "pyspark" in sys.modules else nullcontext():
                try:
                    signature.bind(*args, **kwargs)
                except TypeError as error:
                    kwargs = by_our_names(function, signature, args, kwargs, error)
                for name, option in options.items():
                    kwargs[name] = check(name, kwargs[name], option.value) if name in kwargs else defaults[name]
                try:
                    result = function(*args, **kwargs) if then is None else then(function(*args, **kwargs))
                except ModuleNotFoundError as error:
                    if extra := extra_of(error.name):
                        raise ExtraError.missing(f"ir.{function.__name__}", extra) from None
                    raise
                except IRError as error:
                    given = dict(zip(signature.parameters, args, strict=False)) | kwargs
                    error.fit(signature.parameters if keys else (), given)
                    # The message says it all: the user's line comes next to it, without our frames in between.
                    raise error.with_traceback(None)  # noqa: B904  # the same error
                return result

        call.__signature__ = signature  # type: ignore[attr-defined]  # read by help()
        call.__doc__ = with_errors(documented(inspect.getdoc(function) or "", signature.parameters, options))
        return cast(F, call)

    return decorate


#: The names of a cutoff in ir_measures, trectools, torchmetrics and others.
CUTOFFS = ("cutoff", "cutoffs", "depth", "top_k", "topk")

#: Our parameters by their names in other tools, the first that a function has.
OF_OTHER_TOOLS = {"metrics": ("measures", "measure"), "metric": ("measure", "measures"), "measure": ("measures",)}


def by_our_names(
    function: Callable[..., Any],
    signature: inspect.Signature,
    args: tuple[Any, ...],
    given: Mapping[str, Any],
    error: TypeError,
) -> dict[str, Any]:
    """The keywords of a call by our names for them; an `OptionError` for unknown ones."""
    ours = {}
    for name, value in given.items():
        names = [our_name for our_name in OF_OTHER_TOOLS.get(name, ()) if our_name in signature.parameters]
        ours[names[0] if names and name not in signature.parameters else name] = value
    try:
        signature.bind(*args, **ours)
    except TypeError:
        raise misspelt(function, signature, args, given, error) from None
    return ours


def misspelt(
    function: Callable[..., Any],
    signature: inspect.Signature,
    args: tuple[Any, ...],
    given: Mapping[str, Any],
    error: TypeError,
) -> OptionError:
    """The error for arguments that a function does not take."""
    names = [name for name in signature.parameters if name != "self"]
    unknown = next((name for name in given if name not in names), "")
    is_cutoff = unknown in ("k", *CUTOFFS)
    if is_cutoff and "measures" in names:
        measures = given.get("measures", args[names.index("measures")] if len(args) > names.index("measures") else ())
        listed = measures if isinstance(measures, (list, tuple)) else [measures]
        cutoffs = given[unknown] if isinstance(given[unknown], (list, tuple)) else [given[unknown]]
        without = [measure for measure in listed if isinstance(measure, str) and "@" not in measure]
        named = [f"{measure}@{cutoff}" for measure in without for cutoff in cutoffs]
        return OptionError(
            f"is the cutoff of a measure, and part of its name: {', '.join(map(repr, named)) or repr('nDCG@10')}.",
            about=unknown,
        )
    near = "k" if is_cutoff and "k" in names else ""
    if "too many positional" in str(error) and "k" in names and is_whole(args[-1]):
        near = f"k={args[-1]}"
    meant = did_you_mean([near]) if near else nearest(unknown, names)
    problem = str(error)
    hint = " Parameters are given by name." if "positional" in problem and "missing" not in problem else ""
    taken = ", ".join(names) or "no argument"
    return OptionError(f"{function.__name__}(): {problem}.{hint}{meant} It takes {taken}.")


#: Parameters with one meaning in every function whose docstring does not describe them.
SHARED = {
    "per_query": "The result of `evaluate`, or a dict of such frames by system.",
    "measures": "Names of the measures, in any spelling; all by default.",
    "baseline": "The system that the others are compared with.",
    "run": "A run of one or several systems, in any form that `evaluate` takes.",
    **dict.fromkeys(("run_a", "run_b"), "A run of one system, in any form that `evaluate` takes."),
    "qrels": "The judgments, in any form that `evaluate` takes.",
    "source": "A file, a glob, a URL or a list of them, all of one format.",
    "by": "Columns that distinguish rows of a query, such as 'date', or slice queries: a panel for each value.",
    "lower_is_better": "True, or a list of systems, for scores that are distances.",
}

#: The same, in functions of a run.
SHARED_OF_RUNS = SHARED | {
    "by": "Columns of the run that distinguish rankings, such as 'date', as in `evaluate`: a result for each value.",
    "measure": "One measure: a name, an expression of this package, or an aggregation of your own.",
}

#: The errors of a function whose docstring does not tell them.
RAISES = """

Raises
------
IRError
    For tables, measures and options that it cannot take; the message says which, and what to do."""


def documented(text: str, parameters: Iterable[str], options: Mapping[str, Option]) -> str:
    """A docstring with the parameters that it leaves out: shared ones in their places, and options at the end."""
    titled = "\n\nParameters\n----------\n"
    behind = re.search(r"\n\n(Returns|Raises|References|Examples)\n---", text)
    end = behind.start() if behind else len(text)
    meaning, _, written = text[:end].partition(titled)
    entries = {entry.partition("\n")[0]: entry for entry in re.split(r"\n(?=\S)", written) if entry}
    of_names = {name: head for head in entries for name in head.partition(" : ")[0].split(", ")}
    names = [name for name in parameters if name not in options]
    of_runs = "per_query" not in names and not {"run", "runs", "run_a"}.isdisjoint(names)
    shared = SHARED_OF_RUNS if of_runs else SHARED
    placed = {
        of_names.get(name, name): entries[of_names[name]] if name in of_names else f"{name}\n{indented(shared[name])}"
        for name in names
        if name in of_names or name in shared
    }
    listed = "\n".join([*(placed | entries).values(), described(options)])
    return f"{meaning}{titled if listed.strip() else ''}{listed.rstrip()}{text[end:]}"


def with_errors(text: str) -> str:
    """A docstring with a section of errors, if it has none."""
    if "\n\nRaises\n---" in text:
        return text
    behind = re.search(r"\n\n(References|Examples)\n---|\Z", text)
    end = behind.start() if behind else len(text)
    return f"{text[:end]}{RAISES}{text[end:]}"


def described(options: Mapping[str, Option]) -> str:
    """The entries of options in a docstring."""
    entries = (f"{name} : default {option.default!r}\n{indented(option.meaning)}\n" for name, option in options.items())
    return "".join(entries)


@functools.cache
def indented(meaning: str) -> str:
    """The meaning of a parameter, in lines that fit a terminal."""
    return textwrap.fill(meaning, 112, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
