"""Names of measures to expressions, and names of columns to what is known of their measure.

Conventions: `taken_apart` (in `dialects`) reads a name; everything that asks what a column holds asks `column_of`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, TypeGuard

import polars as pl

from polars_ir.errors import Code, Fix, MeasureError
from polars_ir.language.catalog import spec_of
from polars_ir.language.dialects import IR_MEASURES, catalogued, fold, is_of_ir_measures, several, taken_apart
from polars_ir.language.identity import Call, Measured, call_of, members, together
from polars_ir.language.relevance_string import relevance_string
from polars_ir.language.sets import SETS
from polars_ir.language.spec import Average, Measure, Spec

#: trec_eval's `relstring_10`: no measure, since it is no number, but an aggregation all the same.
TREC_EVAL_STRING = re.compile(r"relstring(?:[._@](\d{1,9}))?", re.ASCII)

#: The sets by their names, folded.
FOLDED_SETS = {fold(name): measures for name, measures in SETS.items()}


class MeasureOfIRMeasures(Protocol):
    """A measure of ir_measures, as `from ir_measures import nDCG` has it."""

    NAME: str


#: A measure, or several of one name: a name in any dialect, an expression, a measure of ir_measures.
OneMeasure = str | pl.Expr | MeasureOfIRMeasures

#: One or many measures.
Measures = OneMeasure | Iterable[OneMeasure]


class Column(NamedTuple):
    """What the name of a column tells of its measure: the entry of the catalogue, and the arguments."""

    spec: Spec
    arguments: Mapping[str, object]

    @property
    def is_cost(self) -> bool:
        """Whether the lowest value is the best one."""
        return self.spec.best == self.spec.bounds[0]

    @property
    def out_of(self) -> pl.Expr | None:
        """What the value of a query is a share of, over columns of counts; None where it is no share of a count."""
        spec = self.spec
        return spec.out_of(**{**spec.parameters, **self.arguments}) if spec.out_of else None


def parse(name: str) -> pl.Expr:
    """The measure that a name in any dialect stands for, as an expression.

    Reads `ir_measures` (`nDCG(dcg='exp-log2')@10`), trec_eval (`ndcg_cut_10`, `recip_rank`, `ndcg.1=3,2=9`), ranx
    (`ndcg@10-l2`, `hit_rate@5`), BEIR and MTEB (`NDCG@10`, `ndcg_at_10`, `R_cap@10`), what recommender libraries call
    their classes and functions (`RetrievalMAP`, `precision_at_k`), and the functions of this package
    (`average_precision@10`). Where two tools mean different things by one word, it is what `ir_measures` means by it:
    `Accuracy@5` is not BEIR's, which is `Success@5`.

    A name with several numbers stands for a measure each (`nDCG@5,10`, `P_5,10`, `iprec_at_recall..10,.20`); so does
    that of a set: trec_eval's `official`, `all_trec`, `set`, `prefs` and `all_prefs` (numbers only), `BEIR` and `MTEB`,
    what these report by default.

    Parameters
    ----------
    name
        The name of a measure, of several cutoffs of one, or of a set.

    Returns
    -------
    pl.Expr
        An aggregation of the judged relation; its output name is the canonical name. For several measures, an
        expression of as many columns.

    Raises
    ------
    IRError
        For a name that no tool has (the nearest ones are shown), or a parameter that the measure does not take.

    Examples
    --------
    >>> import polars_ir as ir
    >>> [ir.parse(name).meta.output_name() for name in ("ndcg_cut_10", "MRR@5", "P(rel=2)@5", "recall@9-l2")]
    ['nDCG@10', 'RR@5', 'P(rel=2)@5', 'R(rel=2)@9']
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, "P@1,2").to_dicts()
    [{'query_id': 'q', 'P@1': 0.0, 'P@2': 0.5}]
    """
    if not isinstance(name, str):
        raise MeasureError.syntax(str(name), f"it is a {type(name).__name__}, not a string")
    return _parse(name.strip(), catalogued())


@functools.lru_cache(maxsize=1024)
def _parse(text: str, catalog: tuple[Measure, ...]) -> pl.Expr:
    if relstring := TREC_EVAL_STRING.fullmatch(text):
        return relevance_string(k=int(relstring[1] or 10))
    if names := several(text):
        return together(_parse(name, catalog) for name in names)
    if fold(text) in FOLDED_SETS:
        # trec_eval has some measures under two names: Rprec is Rprec_mult_1.00.
        of_set = (_parse(name, catalog) for name in FOLDED_SETS[fold(text)])
        measures = {measure.meta.output_name(): measure for measure in of_set}
        return together(measures.values())
    spec, arguments = taken_apart(text)
    try:
        return spec.function(**arguments)
    except (OverflowError, pl.exceptions.InvalidOperationError):
        raise MeasureError.syntax(text, "a number in it is too large") from None


def as_in_ir_measures(call: Call) -> pl.Expr:
    """The measure of a call whose parameters mean what they mean in ir_measures."""
    spec = spec_of(call)
    return spec.function(**IR_MEASURES.get(spec.name, dict)(call.arguments))


def expressions(measures: Measures) -> Iterator[pl.Expr]:
    """The measures one by one: names parsed, those of several cutoffs and of sets taken apart."""
    for measure, _ in _one_by_one(measures):
        yield measure


def is_one(value: object) -> TypeGuard[OneMeasure]:
    """Whether a value is of a kind that stands for a measure, or for several by one name."""
    return isinstance(value, (str, pl.Expr)) or is_of_ir_measures(value)


def listed(measures: Measures) -> list[OneMeasure]:
    """What was given for measures as a list; a `MeasureError` for what is neither one nor many."""
    if is_one(measures):
        return [measures]
    if not isinstance(measures, Iterable):
        raise MeasureError.not_a_measure(measures)
    return list(measures)


def resolve(measures: Measures) -> list[Measured]:
    """The measures of a call, each with the name of its column.

    A measure of a set is left out where it is asked for beside the set, too; else two of one name are an error.
    """
    measured: dict[str, Measured] = {}
    of_sets: set[str] = set()
    for expression, of_set in _one_by_one(measures):
        try:
            name = expression.meta.output_name()
        except pl.exceptions.PolarsError:
            raise MeasureError(
                f"the measure {expression!s:.80} stands for several columns.",
                fix=Fix("Give it one name", Code(".alias('mine')")),
            ) from None
        if name in measured and not (of_set or name in of_sets):
            raise MeasureError.twice(name)
        if of_set:
            of_sets.add(name)
        measured.setdefault(name, Measured(name, expression, call_of(expression)))
    if not measured:
        raise MeasureError.none_given()
    return list(measured.values())


def resolve_one(measure: Measures, caller: str) -> Measured:
    """The measure that `what` was asked for; a `MeasureError` for several."""
    measured, *others = resolve(measure)
    if others:
        names = ", ".join(repr(other.name) for other in (measured, *others))
        raise MeasureError(f"{caller} takes one measure; got {names}. Call it for each.")
    return measured


def column_of(name: str) -> Column | None:
    """What the name of a column of a per-query frame tells of its measure; None for a column of the user's own.

    >>> column_of("gm_map").spec.average, column_of("Hole@10 low").is_cost, column_of("mine")
    ('geometric', True, None)
    """
    try:
        # `evaluate` with bounds adds `Hole@10 low` and `Hole@10 high`.
        return Column(*taken_apart(name.removesuffix(" low").removesuffix(" high")))
    except MeasureError:
        return None


def is_cost(column: str) -> bool:
    """Whether the lowest value of a measure is its best one, as far as the name of a column tells."""
    named = column_of(column)
    return named is not None and named.is_cost


def average_of(column: str) -> Average:
    """How the values of queries become one, as far as the name of a column tells.

    >>> average_of("GMAP(rel=2) high"), average_of("mine")
    ('geometric', 'arithmetic')
    """
    named = column_of(column)
    return named.spec.average if named else "arithmetic"


def _one_by_one(measures: Measures) -> Iterator[tuple[pl.Expr, bool]]:
    """Every measure, and whether it was asked for as one of a set."""
    if _is_table(measures):
        raise MeasureError(
            "measures are names such as 'nDCG@10' or Polars expressions; got a table. Give qrels first, then measures."
        )
    for measure in listed(measures):
        of_set = isinstance(measure, str) and fold(measure.strip()) in FOLDED_SETS
        yield from ((member, of_set) for member in members(_expression(measure)))


def _is_table(measures: object) -> bool:
    """Whether judgments were given for the measures: a frame of any library, or a dict of dicts or lists."""
    if isinstance(measures, Mapping):
        return any(isinstance(documents, (Mapping, list)) for documents in measures.values())
    return hasattr(type(measures), "columns")


def _expression(measure: object) -> pl.Expr:
    """What was given for a measure, as an expression."""
    if isinstance(measure, pl.Expr):
        return measure
    if is_of_ir_measures(measure):
        expression = parse(str(measure))
        call = call_of(expression)
        return as_in_ir_measures(call) if call else expression
    if not isinstance(measure, str):
        raise MeasureError.not_a_measure(measure)
    return parse(measure)
