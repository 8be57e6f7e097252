"""What is known of a measure besides its formula, and its documentation."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from polars_ir.language.identity import canonical_name
from polars_ir.language.parameters import PARAMETERS, Parameter
from polars_ir.language.words import PREFERENCE

#: A function that returns a measure's expression.
Measure = Callable[..., pl.Expr]


#: What the value of a query is a share of, by the measure's parameters; None where it is no share of a count.
OutOf = Callable[..., pl.Expr | None]


#: The mean of a measure over all orders of tied documents, by the measure's parameters; "itself" where no order of them
#: changes the value.
Expected = Measure | Literal["itself"]


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
    reads_nonrelevant: bool
    average: Average
    out_of: OutOf | None
    gain: Measure | None
    discount: Measure | None
    expected: Measure | None

    @property
    def meaning(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def ours(self) -> bool:
        """Whether the measure is part of this package."""
        return is_ours(self.function)

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

    def column(self, arguments: Mapping[str, object]) -> str:
        """The name of the measure's column with these arguments."""
        return canonical_name(self.name, arguments, self.parameters, self.at)

    def parameter(self, name: str) -> Parameter:
        """What a parameter means in this measure."""
        return self.own.get(name) or PARAMETERS[name]


def documentation(spec: Spec) -> str:
    """The docstring of a measure: what its author wrote, then what the registry knows, the same for every measure."""
    written, example, examples = (inspect.getdoc(spec.function) or "").partition("Examples\n--------\n")
    parameters = "".join(
        f"{name} : default {default!r}\n{_indented(spec.parameter(name).meaning)}\n"
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
        f"References\n----------\n{spec.source}\n\n" + example + examples
    )


def _indented(meaning: str) -> str:
    """The meaning of a parameter, in lines that a terminal holds."""
    return textwrap.fill(meaning, 112, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def kind_of(expression: pl.Expr) -> Kind:
    """The kind of judgments that a measure reads, by the columns that only one kind has.

    >>> kind_of(pl.col("subtopic").n_unique())
    'subtopics'
    """
    read = expression.meta.root_names()
    if "subtopic" in read:
        return "subtopics"
    return "documents" if set(PREFERENCE).isdisjoint(read) else "preferences"


def is_ours(function: Measure) -> bool:
    """Whether a measure is part of this package."""
    return function.__module__.startswith("polars_ir.measures.")
