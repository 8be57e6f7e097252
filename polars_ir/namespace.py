"""`.ir` on frames: the public functions and the measures, bound to a frame. There is no logic here.

A type checker does not see a registered namespace. `of` is its typed spelling: `namespace.pyi`, generated from the
catalogue and the functions' signatures, says what each method takes and gives back. The plugin `polars_ir.mypy` shows
`.ir` itself to mypy.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

import polars as pl

from polars_ir import fusion, per_query, reports, runs, tables
from polars_ir.errors import Code, Fix, alike, did_you_mean, fold, intended, nearest, quoted, warn
from polars_ir.extras import require
from polars_ir.language import measures
from polars_ir.language.catalog import CATALOG, RESERVED, RESERVED_PARAMETERS, Measure, short_names
from polars_ir.language.options import documented, options_of, parameters_of, public
from polars_ir.runs.options import Evaluating

#: The docstring of the parameter that a measure's method has besides the measure's.
QRELS = """qrels : default None
    The judgments, in any form that `evaluate` takes; None where the run has grades itself.
"""

#: The docstring of the result of a measure's method.
RETURNS = """Returns
-------
The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
    `run` (if the run has several), the query column, and the measure: what `evaluate` gives for it."""


class LazyMethod:
    """A function of a package as a method, imported when it is first read."""

    def __init__(self, package: ModuleType, name: str) -> None:
        self.package, self.name = package, name

    @property
    def function(self) -> Callable[..., Any]:
        """The function, which takes the frame as its first argument."""
        function: Callable[..., Any] = getattr(self.package, self.name)
        return function

    def __set_name__(self, owner: type, name: str) -> None:
        self.method = name

    def __get__(self, instance: Any, owner: type) -> Callable[..., Any]:
        setattr(owner, self.method, bound(self.function))
        method: Callable[..., Any] = getattr(owner if instance is None else instance, self.method)
        return method


#: The functions of fusion that are public in the package itself, and methods of a run.
OF_FUSION = ("complementarity", "contribution", "fuse", "tune_fusion")

#: The methods of a run and of a per-query frame.
OF_RUN = {name: LazyMethod(runs, name) for name in dir(runs) if name != "update"}
OF_RUN |= {name: LazyMethod(fusion, name) for name in OF_FUSION}
OF_RUN |= {"report": LazyMethod(reports, "report"), "side_by_side": LazyMethod(reports, "side_by_side")}
OF_PER_QUERY = {name: LazyMethod(per_query, name) for name in dir(per_query)} | {
    "table": LazyMethod(tables, "table"),
    "update": LazyMethod(runs, "update"),
}


def bound(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that passes the frame of its object to a function, as the first argument."""

    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(self._frame, *args, **kwargs)

    return method


class Bound:
    """The holder of a frame, for methods that read it."""

    def __init__(self, frame: Any) -> None:
        # Polars keeps a namespace on its frame, so that holding the frame itself would be a cycle of references.
        self._frame = frame.clone() if isinstance(frame, (pl.DataFrame, pl.LazyFrame)) else frame


class Charts:
    """Charts of the frame: `per_query.ir.plot.forest(baseline="bm25")`; `polars_ir.plots` has them all.

    It is no property, of which completers read the annotation alone, and so see no chart.
    """

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        require("plot", ".ir.plot")
        return PlotNamespace(instance._frame)  # noqa: SLF001  # a part of the class that has it


class IRNamespace(Bound):
    """Information-retrieval evaluation of a run, or of the per-query frame that `evaluate` returned.

    Every measure of the catalogue is a method: `run.ir.ndcg(qrels, k=10)`, with the options of `evaluate`; so it is by
    the names that tools have for it (`run.ir.mrr(qrels, k=10)`), and its column has the canonical one.
    """

    plot = Charts()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        # Another thread may register a measure meanwhile.
        measure_of = {info.function.__name__: info.function for info in list(CATALOG.values())}
        measure = measure_of.get(name) or measure_of.get(SHORT.get(name.lower(), name))
        if measure is not None:
            method: Callable[..., Any] = measuring(measure, name).__get__(self)
            return method
        meant = hint(name, [*OF_RUN, *OF_PER_QUERY], "ir.{}").replace("ir.plots.", "plot.")
        raise AttributeError(f".ir has no method {name!r}.{meant}", name=name)

    def __dir__(self) -> list[str]:
        return sorted({"plot", *itertools.chain(*_fitting(self._frame).values())})

    def __repr__(self) -> str:
        first = f".ir: evaluation of this {type(self._frame).__name__}, with charts in .ir.plot"
        lines = (f"{kind}: {', '.join(sorted(names))}" for kind, names in _fitting(self._frame).items())
        folded = (textwrap.fill(line, 100, initial_indent="  ", subsequent_indent="    ") for line in lines)
        return "\n".join((first, *folded))


def of(frame: Any) -> IRNamespace:
    """The namespace `.ir` of a table, in a spelling that type checkers and editors know.

    Parameters
    ----------
    frame
        A run, or what `evaluate` returned: any table that the functions take, also those without `.ir`, such as a dict
        of systems.

    Returns
    -------
    IRNamespace
        `frame.ir`. To a type checker its methods give back the kind of the frame: a LazyFrame for a LazyFrame, pandas
        for pandas, else a DataFrame; those that refuse a LazyFrame are errors on one.

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> ir.of(pydocs.runs).ndcg(pydocs.qrels, k=10).columns
    ['run', 'query_id', 'nDCG@10']
    """
    return IRNamespace(frame)


class PlotNamespace(Bound):
    """Charts of a run (`cutoffs`, `precision_recall`), or of the per-query frame that `evaluate` returned."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from polars_ir import plots

        if name not in plots.OF_FRAMES:
            meant = [each.removeprefix("plots.") for each in intended(name) if each.startswith("plots.")]
            near, charts = did_you_mean(meant) or nearest(name, plots.OF_FRAMES), quoted(plots.OF_FRAMES)
            raise AttributeError(f".ir.plot has no chart {name!r}.{near} It has {charts}.")
        chart: Callable[..., Any] = bound(getattr(plots, name)).__get__(self)
        return chart

    def __dir__(self) -> list[str]:
        from polars_ir import plots

        of_kind = {"run": "of a run", "per_query": "of a per-query frame"}
        first = {name: next(iter(inspect.signature(getattr(plots, name)).parameters)) for name in plots.OF_FRAMES}
        fitting = _fitting(self._frame)
        return [name for name, parameter in first.items() if of_kind[parameter] in fitting]

    def __repr__(self) -> str:
        return f".ir.plot: charts of this {type(self._frame).__name__}: {', '.join(dir(self))}"


for _name, _method in (OF_RUN | OF_PER_QUERY).items():
    setattr(IRNamespace, _name, _method)
    _method.__set_name__(IRNamespace, _name)

#: The methods of measures by other names of theirs; one of a user's called so goes before.
SHORT = {
    name: function
    for name, function in short_names().items()
    if name not in measures.__all__ and name not in OF_RUN | OF_PER_QUERY
}

#: No measure of a user's may hide a method.
RESERVED.update(OF_RUN, OF_PER_QUERY, ["plot"])
RESERVED_PARAMETERS.update(["qrels"], Evaluating.__annotations__)


def register() -> None:
    """Put `.ir` on Polars frames; once, since Polars warns of a name that is taken."""
    for frame, registration in (
        (pl.DataFrame, pl.api.register_dataframe_namespace),
        (pl.LazyFrame, pl.api.register_lazyframe_namespace),
    ):
        if not hasattr(frame, "ir"):
            registration("ir")(IRNamespace)
        elif not is_ours(frame.ir):
            warn_of_another("Polars")
            return


def is_ours(namespace: Any) -> bool:
    """True for a namespace of this package, also of before it was loaded anew."""
    return getattr(namespace, "__module__", None) == IRNamespace.__module__


def warn_of_another(library: str) -> None:
    """Say that `.ir` on a library's frames is another package's, which keeps it."""
    fix = Fix("The functions do the same", Code("ir.evaluate(run, qrels, [...])"))
    warn(f".ir on frames of {library} is already taken by another package, and left alone.", fix=fix)


@functools.lru_cache(maxsize=256)
def measuring(measure: Measure, name: str) -> Callable[..., Any]:
    """A measure as a method of a name: of qrels, the measure's parameters and the options of `evaluate`."""
    from polars_ir.runs import evaluate

    def method(self: Any, qrels: Any = None, **parameters: Any) -> Any:
        evaluating: Evaluating = {}
        for option in Evaluating.__annotations__.keys() & parameters.keys():
            evaluating[option] = parameters.pop(option)  # type: ignore[literal-required]  # its very keys
        return evaluate(self._frame, qrels, measure(**parameters), **evaluating)

    first = list(inspect.signature(method).parameters.values())[:2]
    of_measure = inspect.signature(measure).parameters.values()
    functools.update_wrapper(method, measure)
    method.__name__ = name
    method.__signature__ = inspect.Signature([*first, *of_measure, *parameters_of(Evaluating)])  # type: ignore[attr-defined]  # read by help()
    method.__doc__ = documented(_described(measure), (), options_of(Evaluating))
    return public()(method)


def _fitting(frame: Any) -> dict[str, list[str]]:
    """The methods of a frame: of a run, of a per-query frame, or of both where its columns leave that open."""
    from polars_ir.frames.roles import ROLE_OF
    from polars_ir.language.columns import column_of

    columns = _columns(frame)
    has_documents = any(ROLE_OF.get(fold(column)) == "doc_id" for column in columns)
    has_measures = any(column_of(column) for column in columns)
    listed = {}
    if has_documents or not has_measures:
        listed["of a run"] = list(OF_RUN)
        listed["measures, of a run and its qrels"] = [info.function.__name__ for info in list(CATALOG.values())]
    if has_measures or not has_documents:
        listed["of a per-query frame"] = list(OF_PER_QUERY)
    return listed


def _columns(frame: Any) -> list[str]:
    """The names of the columns of a frame, of a dict of frames those of the first; none of a plan that fails."""
    first = next(iter(frame.values()), None) if isinstance(frame, Mapping) else frame
    try:
        columns = first.collect_schema().names() if isinstance(first, pl.LazyFrame) else getattr(first, "columns", ())
    except (pl.exceptions.PolarsError, OSError):
        return []
    return [column for column in columns if isinstance(column, str)]


def hint(name: str, listed: Iterable[str], other: str = "{}") -> str:
    """A hint at the listed names that are meant, or at others of the package as `other` spells them.

    The measure which some tool calls so goes first, then what does what the name says, then names spelt alike.
    """
    from polars_ir.language.columns import column_of
    from polars_ir.language.dialects import elsewhere, measure_names

    if says := elsewhere(name):
        return f" {name!r} {says}."
    if column := column_of(name):
        return did_you_mean([column.info.function.__name__])
    known = set(listed)
    if intents := intended(name):
        return did_you_mean(each if each in known else other.format(each) for each in intents)
    columns = {each: None if each in known else column_of(each) for each in alike(name, [*known, *measure_names()])}
    return did_you_mean(column.info.function.__name__ if column else each for each, column in columns.items())


def _described(measure: Measure) -> str:
    """The docstring of a measure, with the judgments and the result of its method."""
    text = inspect.getdoc(measure) or ""
    head, _, rest = text.partition("Returns\n-------\n")
    meaning, _, parameters = head.rstrip().partition("Parameters\n----------\n")
    described = f"{meaning.rstrip()}\n\nParameters\n----------\n{QRELS}{parameters}".rstrip()
    _, _, rest = rest.partition("\n\n")
    return f"{described}\n\n{RETURNS}\n\n{rest}"
