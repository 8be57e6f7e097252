"""Names of measures to expressions, and expressions to names; `parsed_name` (in `dialects`) reads one."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeGuard, get_args

import polars as pl

from polars_ir.errors import OF_PLANS, TAKEN, Code, Fix, MeasureError, fold, warn
from polars_ir.language import sql
from polars_ir.language.catalog import Measure, MeasureCall, catalogued, info_of
from polars_ir.language.columns import canonical, column_of, measure_of, measure_part
from polars_ir.language.dialects import (
    IR_MEASURES,
    ParsedName,
    in_a_row,
    in_words_of,
    measure_named,
    parsed_name,
    several,
)
from polars_ir.language.measure import call_of, members, together
from polars_ir.language.options import check, is_number, is_whole, one_of
from polars_ir.language.relevance_string import relevance_string
from polars_ir.language.sets import FAMILIES, SETS

#: trec_eval's `relstring_10`: no measure, since it is no number, but an aggregation all the same.
TREC_EVAL_STRING = re.compile(r"relstring(?:[._@](\d{1,9}))?", re.ASCII)

#: The notations of columns' names.
Names = Literal["canonical", "sql"]

#: The sets by their names, folded.
FOLDED_SETS = {fold(name): measures for name, measures in SETS.items()}


class MeasureOfIRMeasures(Protocol):
    """A measure of ir_measures, as `from ir_measures import nDCG` has it."""

    NAME: str


#: A measure, or several of one name: a name in any dialect, an expression, a measure of ir_measures.
OneMeasure = str | pl.Expr | MeasureOfIRMeasures

#: One or many measures; by name with their cutoffs, `{"nDCG": 10}`.
Measures = OneMeasure | Iterable[OneMeasure] | Mapping[str, int | Iterable[int] | None]


class ResolvedMeasure(NamedTuple):
    """A measure of an evaluation: its column, its aggregation, and the call that made it, if one did."""

    name: str
    expression: pl.Expr
    call: MeasureCall | None


def parse(name: str) -> pl.Expr:
    """The measure of a name in any dialect, as an expression.

    Reads `ir_measures` (`nDCG(dcg='exp-log2')@10`), trec_eval (`ndcg_cut_10`, `recip_rank`, `ndcg.1=3,2=9`), ranx
    (`ndcg@10-l2`, `hit_rate@5`), BEIR and MTEB (`NDCG@10`, `ndcg_at_10`, `R_cap@10`), what recommender libraries call
    their classes and functions (`RetrievalMAP`, `precision_at_k`), and the functions of this package
    (`average_precision@10`). With a tool before it a name is what the tool means by it (`xgboost map@10`, `beir
    accuracy@5`), a column of that name where no measure of this package is the same. `accuracy@5` and `rbp` alone are
    refused, since tools mean different things by them; `Accuracy@5` and `RBP`, as this package writes them, are not.

    A name with several numbers stands for a measure each (`nDCG@5,10`, `P_5,10`, `iprec_at_recall..10,.20`); so do
    names in a row (`nDCG@10, AP`), a family of trec_eval without a cutoff (`ndcg_cut`, `recall`), and the name of a
    set: trec_eval's `official`, `all_trec`, `set`, `prefs` and `all_prefs` (numbers only), `BEIR` and `MTEB`, what
    these report by default.

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
def _parse(text: str, _catalog: tuple[Measure, ...]) -> pl.Expr:
    """The measure, or the measures, of a name by the first reader that can read it; the last reads or refuses all."""
    return next(measure for read in READERS if (measure := read(text)) is not None)


def _canonical(text: str) -> pl.Expr | None:
    return None if (column := canonical(text)) is None else _called(text, column)


def _called(text: str, column: ParsedName) -> pl.Expr:
    """The expression of a measure; a `MeasureError` for numbers of the text that it cannot hold."""
    try:
        return column.info.function(**column.arguments)
    except (OverflowError, pl.exceptions.InvalidOperationError):
        raise MeasureError.syntax(text, "a number in it is too large") from None


def _relevance_string(text: str) -> pl.Expr | None:
    matched = TREC_EVAL_STRING.fullmatch(text)
    return relevance_string(k=int(matched[1] or 10)) if matched else None


def _of_several_numbers(text: str) -> pl.Expr | None:
    names = several(text)
    return together(map(parse, names)) if names else None


def _of_a_set(text: str) -> pl.Expr | None:
    # trec_eval has some measures under two names: Rprec is Rprec_mult_1.00.
    measures = {measure.meta.output_name(): measure for measure in map(parse, set_of(text))}
    return together(measures.values()) if measures else None


def _in_a_row(text: str) -> pl.Expr | None:
    names = in_a_row(text)
    is_one = len(names) < 2 or in_words_of(text)[0] or measure_named(text)
    return None if is_one else together(map(parse, names))


def _of_any_tool(text: str) -> pl.Expr:
    found = parsed_name(text)
    if not found.undefined:
        return _called(text, found)
    measure = found.info.function(**found.arguments).fill_null(found.undefined)
    return measure.alias(f"{found.tool} {in_words_of(text)[1]}")


#: The readers of a name, in the order in which they are tried: what they return, or None where another has to try.
READERS: tuple[Callable[[str], pl.Expr | None], ...] = (
    _canonical,
    _relevance_string,
    _of_several_numbers,
    _of_a_set,
    _in_a_row,
    _of_any_tool,
)


def name(measure: OneMeasure, *, names: Names = "canonical") -> str:
    """The name of a measure, which `parse` reads back as that very measure.

    A measure is a Polars expression, which belongs to one version of Polars and is no key of a dict, since `==` of two
    expressions is a third one. What is stored, sent, hashed or compared is its name.

    Parameters
    ----------
    measure
        A name in any dialect, or an expression of this package, whatever it was renamed to.
    names
        `"canonical"`, that of its column (`P(rel=2)@5`); or `"sql"`, letters, digits and underscores that need no
        quotes in SQL: the name, the cutoff, and each other parameter that is not at its default (`p_5_rel_2`).
        `Accuracy`, `RBP` and `Success` have one more, since their names alone mean several things (`rbp_p_0_8`).

    Returns
    -------
    str
        The name. In SQL case does not matter: `P_5_REL_2` is read, too.

    Raises
    ------
    IRError
        For several measures, an aggregation that is no measure of the catalogue, and parameters that no name holds:
        expressions, in SQL also maps, tuples and texts of one's own.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.name(ir.rbp(p=0.9, k=10)), ir.name("ndcg_cut_10"), ir.name("P(rel=2)@5", names="sql")
    ('RBP(p=0.9)@10', 'nDCG@10', 'p_5_rel_2')
    """
    check("names", names, one_of(*get_args(Names)))
    measured = resolve_one(measure, "ir.name")
    if measured.call is None:
        raise MeasureError(
            f"{measured.name!r} is an aggregation of your own, which has no name.",
            fix=Fix("Define it under a name", Code("@ir.measure('Mine', source='...')")),
        )
    return in_sql(measured.call) if names == "sql" else _canonical_name(measured.call)


def _canonical_name(call: MeasureCall) -> str:
    text = info_of(call).column(call.arguments)
    if not _is_read_as(text, call):
        raise MeasureError(
            f"{text!r} cannot be named: a parameter is an expression.",
            fix=Fix("Put its values into a column first, and name that", Code("gains=pl.col('column')")),
        )
    return text


def in_sql(call: MeasureCall) -> str:
    """Name of a measure in letters, digits and underscores; a `MeasureError` for one that has none."""
    info = info_of(call)
    # An ambiguous name needs one parameter more to be read back.
    numbers = [name for name, default in info.parameters.items() if name != info.at and is_number(default)]
    for written in (None, *numbers[-1:]):
        if _is_read_as(text := sql.spelt(info, call.arguments, written=written), call):
            return text
    raise sql.no_name(repr(info.column(call.arguments)))


def _is_read_as(text: str, call: MeasureCall) -> bool:
    """True for a name that is read as this very call."""
    try:
        return bool(parse(text).meta == info_of(call).function(**call.arguments).meta)
    except MeasureError:
        return False


def is_renamed(measure: ResolvedMeasure) -> bool:
    """True for a measure that its name does not stand for."""
    if call := measure.call:
        return info_of(call).column(call.arguments) != measure.name
    try:
        return measure.expression.meta != parse(measure.name).meta
    except MeasureError:
        return True


def call_behind(measure: ResolvedMeasure) -> MeasureCall | None:
    """The call of a measure, also of one in a tool's words, which has a value for queries without a relevant document.

    None for a user's own aggregation.
    """
    if measure.call or is_renamed(measure):
        return measure.call
    named = column_of(measure.name)
    return None if named is None else call_of(named.info.function(**named.arguments))


def arguments_behind(measure: ResolvedMeasure) -> Mapping[str, Any]:
    """The arguments of the call behind a measure; none for a user's own aggregation."""
    call = call_behind(measure)
    return call.arguments if call else {}


def sql_names(columns: Iterable[str], measured: Iterable[ResolvedMeasure], keys: Iterable[str] = ()) -> dict[str, str]:
    """Names in SQL of the columns of measures and their companions; a `MeasureError` for two with one name.

    `keys` are other columns of the result.
    """
    of = {each.name: each for each in measured}
    names: dict[str, str] = {}
    for column in columns:
        measure = measure_of(column)
        base, part = (measure, column[len(measure) + 1 :]) if measure in of else (column, "")
        if base not in of:
            continue
        call = None if is_renamed(of[base]) else of[base].call
        if call is None and not sql.PLAIN.fullmatch(base):
            raise sql.no_name(repr(base))
        text = base if call is None else in_sql(call)
        names[column] = f"{text}_{part}" if part else text
    folded = {text.lower(): text for text in names.values()}
    if len(folded) < len(names):
        twice = [text for text in names.values() if sum(text.lower() == other.lower() for other in names.values()) > 1]
        raise MeasureError.twice(twice[0])
    if clash := [folded[key.lower()] for key in keys if key.lower() in folded]:
        raise MeasureError(f"a measure is named {clash[0]!r} in SQL, like a key column of the result; rename the key.")
    return names


def spelt_in_sql(column: str) -> str:
    """The SQL name of the measure, or companion, that a column is named for; for other columns their own name.

    >>> spelt_in_sql("RBP low"), spelt_in_sql("mine")
    ('rbp_p_0_8_low', 'mine')
    """
    named = column_of(column)
    if named is None:
        return column
    call = call_of(named.info.function(**named.arguments))
    try:
        text = in_sql(call) if call else column
    except MeasureError:
        return column
    part = measure_part(column)
    return f"{text}_{part}" if part else text


def as_in_ir_measures(call: MeasureCall) -> pl.Expr:
    """The measure of a call whose parameters mean what they mean in ir_measures."""
    info = info_of(call)
    return info.function(**IR_MEASURES.get(info.name, dict)(call.arguments))


def expressions(measures: Measures) -> Iterator[pl.Expr]:
    """The measures one by one: names parsed, those of several cutoffs and of sets split."""
    for measure in listed(measures):
        yield from members(_expression(measure))


def is_of_ir_measures(value: object) -> bool:
    """True for a measure of ir_measures, which need not be installed."""
    return type(value).__module__.partition(".")[0] == "ir_measures"


def is_one(value: object) -> TypeGuard[OneMeasure]:
    """True for a value of a kind that stands for a measure, or for several by one name."""
    return isinstance(value, (str, pl.Expr)) or is_of_ir_measures(value)


def listed(measures: Measures) -> list[OneMeasure]:
    """Measures of a call as a list; a `MeasureError` for a value that is neither one nor many."""
    if is_one(measures):
        return [measures]
    if isinstance(measures, Mapping):
        return [name for measure, k in measures.items() for name in _with_cutoffs(measure, k)]
    if hasattr(type(measures), "columns"):
        raise MeasureError.table()
    if not isinstance(measures, Iterable):
        raise MeasureError.not_a_measure(measures)
    return list(measures)


def _with_cutoffs(measure: object, k: object) -> list[OneMeasure]:
    """Names of a measure with its cutoffs, as a map gives them; a `MeasureError` for another map.

    >>> _with_cutoffs("ndcg", [5, 10]), _with_cutoffs("AP", None)
    (['ndcg@5', 'ndcg@10'], ['AP'])
    """
    cutoffs = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    texts = [cutoff for cutoff in cutoffs if isinstance(cutoff, str) and not cutoff.strip().isdecimal()]
    if not isinstance(measure, str) or isinstance(k, Mapping) or texts:
        raise MeasureError.table()
    if k is None:
        return [measure]
    if "@" in measure:
        raise MeasureError.syntax(f"{measure}@{k}", "it has two cutoffs")
    if not cutoffs or not all(map(is_whole, cutoffs)):
        raise MeasureError.parameter(measure, "k", "a whole number, 1 or more, several of them, or None", k)
    return [f"{measure}@{cutoff}" for cutoff in cutoffs]


def set_of(text: str) -> tuple[str, ...]:
    """Names of the measures of a set, or of a family of trec_eval, by its name; none for other names."""
    tool, name = in_words_of(text)
    return FAMILIES.get(name if tool == "trec_eval" else text) or FOLDED_SETS.get(fold(text), ())


def resolve(measures: Measures) -> list[ResolvedMeasure]:
    """Measures of a call, each with the name of its column.

    A measure that a set of the call also contains is left out; other duplicates of a name are an error.
    """
    measured: dict[str, ResolvedMeasure] = {}
    of_sets: set[str] = set()
    for measure in [measures] if isinstance(measures, pl.Expr) else listed(measures):
        found = members(_expression(measure))
        of_set = isinstance(measure, str) and len(found) > 1 and bool(set_of(measure.strip()))
        if isinstance(measure, str) and measure == "P":
            warn(
                "'P' alone is the precision of the whole list, and to trec_eval that at nine cutoffs. Write 'P@10', "
                "'SetP' for the whole list, or 'trec_eval P'."
            )
        for expression in found:
            if expression.meta.has_multiple_outputs() and _selects(expression):
                says = f"the measure {expression!s:.80} reads several columns, or those that a pattern finds."
                raise MeasureError(says, fix="Name each column that it reads, and give several measures as a list")
            name = expression.meta.output_name(raise_if_undetermined=False)
            if name is None:
                says = f"the measure {expression!s:.80} has no name of one column."
                raise MeasureError(says, fix=Fix("Give it one", Code(".alias('mine')")))
            if TAKEN.fullmatch(name):
                fix = Fix("Give it another", Code(".alias('mine')"))
                raise MeasureError(f"a measure is named {name!r}; {OF_PLANS}.", fix=fix)
            if name in measured and not (of_set or name in of_sets):
                raise MeasureError.twice(name)
            if of_set:
                of_sets.add(name)
            measured.setdefault(name, ResolvedMeasure(name, expression, call_of(expression)))
    if not measured:
        raise MeasureError.none_given()
    return list(measured.values())


def _selects(expression: pl.Expr) -> bool:
    """True for an expression of columns that are selected, whose names Polars tells only beside a table."""
    # Fields of structs may be selected, of a column that is named.
    inner = expression.meta.pop()
    return any(map(_selects, inner)) if inner else expression.meta.has_multiple_outputs()


def resolve_one(measure: Measures, caller: str, columns: Collection[str] = ()) -> ResolvedMeasure:
    """The one measure of a call; a `MeasureError` for several, and for one called like other columns of the result."""
    measured, *others = resolve(measure)
    if others:
        names = ", ".join(repr(other.name) for other in (measured, *others))
        raise MeasureError(f"{caller} takes one measure; got {names}. Call it for each.")
    if measured.name in columns:
        says = f"is named {measured.name!r}, like a column of the result of {caller}."
        raise MeasureError(says, about="measure", fix="Give it another name")
    return measured


def _expression(measure: object) -> pl.Expr:
    """The expression of a measure: itself, of a name, or of a measure of ir_measures."""
    if isinstance(measure, pl.Expr):
        return measure
    if isinstance(measure, str):
        return parse(measure)
    if not is_of_ir_measures(measure):
        raise MeasureError.not_a_measure(measure)
    expression = parse(str(measure))
    call = call_of(expression)
    return as_in_ir_measures(call) if call else expression
