"""Notations of other tools: the measure and the parameters of a name.

Conventions: the canonical spelling is `ir_measures`' own, `NAME(parameter=value)@k`. Case, `-` and `_` do not matter,
except where two tools use one word for different measures; each measure lists its words (`also`), and `tools` has those
that need their tool before them. A name is parsed, never run as code.
"""

from __future__ import annotations

import ast
import functools
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import polars as pl

from polars_ir.errors import Code, Fix, MeasureError, Setting, alike, did_you_mean, fold, nearest, option, quoted
from polars_ir.language import sql
from polars_ir.language.catalog import CATALOG, SPELLING, Measure, MeasureInfo, catalogued, plain
from polars_ir.language.measure import PARAMETERS
from polars_ir.language.options import CUTOFFS
from polars_ir.language.tools import (
    AFFIXES,
    AMBIGUOUS,
    CALLED,
    CATALOGUES,
    ELSEWHERE,
    OF_EXPOSURE,
    PLAIN,
    TOOLS,
    ToolName,
)

#: `nDCG(dcg='exp-log2')@10`.
CANONICAL = re.compile(r"(?P<name>[^()@]+)(?:\((?P<arguments>.*)\))?(?:@(?P<at>[^@]*))?", re.DOTALL)

#: trec_eval's `P_10`, `P.10`, `P.5.` and `iprec_at_recall_0.10`, MTEB's `ndcg_at_10`.
WITH_NUMBER = re.compile(r"(?P<name>.+?)(?P<sign>_at_|_|\.)(?P<at>\d*\.?\d+|\d+\.)", re.ASCII)

#: `P10`, `ndcg10`: the cutoff of a measure without another number that could be meant, as the beta of `F2` is.
WITH_CUTOFF = re.compile(r"(?P<name>\w*[^\W\d_])(?P<at>\d+)", re.ASCII)

#: `nDCG@5,10`, `P_5,10` and trec_eval's `ndcg_cut.10,23.4`: several measures in one name.
SEVERAL = re.compile(
    r"(?P<head>.*?(?:@|_at_|_|\.))(?P<numbers>\.?\d[\d.]*(?:,\s*\.?\d[\d.]*)+)(?P<level>-l\d+)?", re.ASCII | re.DOTALL
)

#: trec_eval's `utility.2,-1,0,0`.
TREC_EVAL_UTILITY = re.compile(r"utility[._](-?\d*\.?\d+(?:,-?\d*\.?\d+)*)", re.ASCII)

#: `xgboost map@10`: a name in the words of a tool.
OF_TOOL = re.compile(r"(?P<tool>[A-Za-z][\w-]*)\s+(?P<name>\S.*)", re.DOTALL)

#: CatBoost's `NDCG:top=10`.
CATBOOST_TOP = re.compile(r"(\w+):top=(\d+)", re.ASCII)

#: XGBoost's `ndcg@10-`: a query without a relevant document counts 0.
XGBOOST_MINUS = re.compile(r"(ndcg|map)(@\d+)?-", re.ASCII)

#: The separator of names in a row: a comma or a blank outside of brackets.
APART = re.compile(r"[,\s]+(?![^()]*\))")

#: A number that belongs to the name before it.
NUMBER = re.compile(r"\.?\d[\d.]*(?:-l\d+)?", re.ASCII)

#: trectools' `RBP(0.80)@10`.
TRECTOOLS_RBP = re.compile(r"RBP\((\d*\.?\d+)\)", re.ASCII)

#: Parameters with another meaning in ir_measures: IPrec rounds up, and the beta of SetF stands for its square.
IR_MEASURES: Mapping[str, Any] = {
    "IPrec": lambda arguments: {**arguments, "rounding": "up"},
    "SetF": lambda arguments: {**arguments, "beta": arguments["beta"] ** 0.5},
}

#: Longest name of a measure: a limit keeps the parser of Python literals from hostile input.
LONGEST = 500


class ParsedName(NamedTuple):
    """The measure of a name, with its parameters; `tool` is the one whose words it is in, if that stands before it.

    `undefined` is the value of a query without a relevant document.
    """

    info: MeasureInfo
    arguments: dict[str, object]
    tool: str = ""
    undefined: float = 0.0


#: The measure by the match of a name and the tool before it, or None.
Reader = Callable[[re.Match[str], str], ParsedName | None]


class UnknownNameError(Exception):
    """A name of no measure: the text, the name in it, and the tool before it."""


def parsed_name(text: str) -> ParsedName:
    """The measure and the parameters that a name stands for; a `MeasureError` for a name that is of no measure."""
    try:
        return _parsed_name(text)
    except UnknownNameError as unknown:
        raise _unknown(*unknown.args) from None


def measure_named(text: str) -> ParsedName | None:
    """The measure and the parameters of a name; None for a name that is of no measure, without a search for others."""
    try:
        return _parsed_name(text)
    except (MeasureError, UnknownNameError):
        return None


def _parsed_name(text: str) -> ParsedName:
    if len(text) > LONGEST:
        raise MeasureError.syntax(text, f"it is longer than {LONGEST} characters")
    tool, text = in_words_of(text)
    return _read(text, tool)


def in_words_of(text: str) -> tuple[str, str]:
    """The tool before a name, which is then in its words, and the name; no tool for a name alone.

    >>> in_words_of("sbert accuracy@3"), in_words_of("CatBoost NDCG:top=5"), in_words_of("nDCG @10")
    (('sentence-transformers', 'accuracy@3'), ('CatBoost', 'NDCG@5'), ('', 'nDCG @10'))
    """
    words = OF_TOOL.fullmatch(text)
    tool = _tools(catalogued()).get(fold(words["tool"]), "") if words else ""
    if not words or not tool:
        return "", text
    name = re.sub(AFFIXES[tool], "", words["name"]) if tool in AFFIXES else words["name"]
    return tool, XGBOOST_MINUS.sub(r"\1-\2", CATBOOST_TOP.sub(r"\1@\2", name))


def several(text: str) -> list[str]:
    """The names of the measures that one name with several numbers stands for; none for a name of one measure.

    >>> several("nDCG(rel=2)@5,10"), several("P.5,10"), several("utility.1,-1,0,0")
    (['nDCG(rel=2)@5', 'nDCG(rel=2)@10'], ['P.5', 'P.10'], [])
    """
    matched = SEVERAL.fullmatch(text) if len(text) <= LONGEST and not TREC_EVAL_UTILITY.fullmatch(text) else None
    if matched is None:
        return []
    return [f"{matched['head']}{number.strip()}{matched['level'] or ''}" for number in matched["numbers"].split(",")]


def in_a_row(text: str) -> list[str]:
    """The names that a text holds in a row, apart by commas or blanks; a number belongs to the name before it.

    >>> in_a_row("nDCG@10, P(rel=2, k=5)"), in_a_row("AP RR@5,10")
    (['nDCG@10', 'P(rel=2, k=5)'], ['AP', 'RR@5,10'])
    """
    names: list[str] = []
    for name in APART.split(text) if len(text) <= LONGEST else []:
        if names and NUMBER.fullmatch(name):
            names[-1] += f",{name}"
        elif name:
            names.append(name)
    return names if all(name.count("(") == name.count(")") for name in names) else []


def parts_of(text: str) -> tuple[str, dict[str, object], str | None]:
    """The name, the parameters in their order, and what follows the `@`, in the canonical notation.

    >>> parts_of("P(rel=2)@5")
    ('P', {'rel': 2}, '5')
    """
    matched = CANONICAL.fullmatch(TRECTOOLS_RBP.sub(r"RBP(p=\1)", text))
    if matched is None:
        raise MeasureError.syntax(text, "its brackets or its @ are out of place")
    return matched["name"], _arguments(text, matched["arguments"]), matched["at"]


def measure_names() -> list[str]:
    """Every name of a measure in use, in the spelling of each tool."""
    return list(_names(catalogued()))


def _read(text: str, tool: str) -> ParsedName:
    """The measure of a name by the first reader that can read it."""
    # The last reads or refuses every name.
    reads = (read(matched, tool) for pattern, read in READERS if (matched := pattern.fullmatch(text)))
    found = next(filter(None, reads))
    info, arguments = found.info, found.arguments
    for parameter, value in arguments.items():
        if parameter not in info.parameters:
            raise MeasureError.no_parameter(info.name, parameter, info.parameters, text)
        arguments[parameter] = plain(value)
    return found


def _in_sql(matched: re.Match[str], tool: str) -> ParsedName | None:
    found = None if tool else sql.read(matched[0], catalogued())
    return ParsedName(*found) if found else None


def _above_a_level(matched: re.Match[str], tool: str) -> ParsedName:
    found = _read(matched["name"], tool)
    if "rel" in found.arguments:
        raise MeasureError.syntax(matched[0], "it gives rel twice")
    found.arguments["rel"] = int(matched["rel"])
    return found


def _of_numbers(measure: str, parameter: str, value: Callable[[str], object]) -> Reader:
    """The reader of a name whose numbers stand for the value of one parameter."""
    return lambda matched, tool: ParsedName(CATALOG[measure], {parameter: value(matched[1])}, tool)


def _rbp_at(matched: re.Match[str], tool: str) -> ParsedName:
    p = float(f"0.{matched[1]}")
    if tool == "ranx":
        return ParsedName(CATALOG["RBP"], {"p": p}, tool)
    meant = [f"RBP(p={p})", f"RBP@{matched[1]}"]
    raise MeasureError(f"{matched[0]!r} can mean {len(meant)} measures. Name one: {quoted(meant)}.")


def _refuse_two_numbers(matched: re.Match[str], tool: str) -> None:
    """Raise a `MeasureError` for several cutoffs that no comma parts; a number that begins with 0 is a fraction."""
    spelling, numbers = _find(matched["name"], tool), matched["numbers"].split("_")
    if spelling is None or spelling.info.at != "k" or not int(numbers[0]):
        return
    found = (_read(f"{matched['name']}{matched['sign']}{number}", tool) for number in numbers if int(number))
    listed = [one.info.column({**one.info.parameters, **one.arguments}) for one in found]
    raise MeasureError(f"{matched[0]!r} has {len(numbers)} numbers. Name each measure: {listed!r}.")


def _refuse_several(matched: re.Match[str], _tool: str) -> ParsedName:
    names = several(matched[0])
    says = f"{matched[0]!r} stands for {len(names)} measures, where one is wanted. Name one: {quoted(names)}."
    raise MeasureError(says)


def _with_values(matched: re.Match[str], tool: str) -> ParsedName | None:
    spelling = _find(matched["name"], tool)
    if spelling is None:
        return None
    implied = _arguments(matched[0], spelling.implied)
    return ParsedName(spelling.info, {**implied, **_trec_eval_given(matched[0], matched["given"])}, tool)


def _of_any_tool(matched: re.Match[str], tool: str) -> ParsedName:
    """The measure of a name with parameters in brackets, or a number behind a sign."""
    text = matched[0]
    name, parameters, at = parts_of(text)
    spelling = _find(name, tool)
    if spelling is None and (with_number := WITH_NUMBER.fullmatch(name)):
        spelling = _find(with_number["name"], tool)
        if spelling and at is not None:
            raise MeasureError.syntax(text, "it has several numbers")
        name, at = with_number["name"], with_number["at"] if at is None else at
        if spelling and with_number["sign"] == "." and spelling.info.at == "k" and not spelling.sets_one:
            at = at.partition(".")[0]  # as C reads a whole number: `P.5.` and `ndcg_cut.23.4`
    if spelling is None and at is None and (with_cutoff := WITH_CUTOFF.fullmatch(name)):
        spelling = _with_cutoff_alone(with_cutoff["name"], tool)
        name, at = (with_cutoff["name"], with_cutoff["at"]) if spelling else (name, at)
    if spelling is None:
        raise _unread(text, name, tool)
    info, implied = spelling.info, spelling.implied
    if spelling.sets_one and at is None:
        raise MeasureError.syntax(text, f"it needs a number: {name}_{{number}}")
    implied_arguments = _arguments(text, f"{implied}={at}" if spelling.sets_one else implied)
    info, arguments = _in_our_words(text, info, parameters)
    if not tool and name != info.name and fold(name) in AMBIGUOUS and not implied_arguments.keys() & arguments.keys():
        raise _of_several_tools(text, AMBIGUOUS[fold(name)])
    if at is not None and not spelling.sets_one:
        if info.at in arguments:
            raise MeasureError.syntax(text, f"it gives {info.at} twice")
        arguments[info.at] = _after_the_sign(info, at)
    return ParsedName(info, {**implied_arguments, **spelling.given, **arguments}, tool, spelling.undefined)


def _unread(text: str, name: str, tool: str) -> Exception:
    """The error for a text whose `name` is of no measure, or of one with more numbers than it takes."""
    while with_number := WITH_NUMBER.fullmatch(name):
        name = with_number["name"]
    if _find(name, tool):
        return MeasureError.syntax(text, "it has several numbers")
    return UnknownNameError(text, name, tool)


def _with_cutoff_alone(name: str, tool: str) -> ToolName | None:
    """The measure of a name whose number can be nothing but its cutoff; None for other names."""
    spelling = _find(name, tool)
    numbers = {"k"} if spelling is None else {*spelling.info.parameters} & {"k", "beta", "p", "alpha"}
    return spelling if numbers == {"k"} and spelling and not spelling.implied else None


#: The readers of a name of one measure, in the order in which they are tried: the pattern of the name, and the measure
#: with its parameters by the match and the tool before the name, or None where another reader has to try.
READERS: tuple[tuple[re.Pattern[str], Reader], ...] = (
    # `recall_5_10`, whose numbers are two cutoffs or a fraction.
    (re.compile(r"(?P<name>.+?)(?P<sign>_at_|_|\.)(?P<numbers>\d+(?:_\d+)+)", re.ASCII), _refuse_two_numbers),
    (sql.PLAIN, _in_sql),
    # ranx's `ndcg@10-l2`: grades from 2 on are relevant.
    (re.compile(r"(?P<name>.+)-l(?P<rel>\d+)", re.ASCII | re.DOTALL), _above_a_level),
    # trec_eval's `set_F.4` and `set_F_4`, whose number stands for beta squared.
    (re.compile(r"set_F[._](\d*\.?\d+|\d+\.)", re.ASCII), _of_numbers("SetF", "beta", lambda n: math.sqrt(float(n)))),
    (TREC_EVAL_UTILITY, _of_numbers("utility", "coefficients", lambda texts: tuple(map(float, texts.split(","))))),
    # ranx's `rbp.95` and `rbp@95`, whose number is p, where others have a cutoff.
    (re.compile(r"rbp(\.\d+)", re.ASCII), _of_numbers("RBP", "p", float)),
    (re.compile(r"rbp@(\d+)", re.ASCII), _rbp_at),
    (SEVERAL, _refuse_several),
    # trec_eval's `ndcg.1=3,2=9` and `rbp_p=0.8`.
    (re.compile(r"(?P<name>\w+)[._](?P<given>[^()@]*=[^()@]*)"), _with_values),
    (re.compile(".*", re.DOTALL), _of_any_tool),
)


def elsewhere(name: str) -> str:
    """The note on a name that is of no measure here, but of some elsewhere; nothing of others.

    >>> elsewhere("unexpectedness"), elsewhere("ndcg")
    ('compares two runs: run.ir.similarity(other)', '')
    """
    return next((says for known, says in ELSEWHERE.items() if fold(known) == fold(name)), "")


def _unknown(text: str, name: str, tool: str) -> MeasureError:
    """The error for a name of no measure, or of several."""
    if not tool and fold(name) in AMBIGUOUS:
        return _of_several_tools(text, AMBIGUOUS[fold(name)])
    meanings = (meaning for known, meaning in TOOLS.get(tool, {}).items() if fold(known) == fold(name))
    of_tool = [meaning.catalogue for meaning in meanings if meaning.of_exposure]
    if of_tool or (not tool and fold(name) in OF_EXPOSURE):
        whole = f"{tool} {text}" if tool else text
        fix = Fix("Call it", Code(f"run.ir.exposure([{whole!r}], {CATALOGUES[''.join(of_tool)]})"))
        says = "has a value for each system, of all its users together: use exposure for it."
        return MeasureError(f"{whole!r} {says}", fix=fix)
    if tool:
        names = _names_in(tool, catalogued())
        says = f"{tool} has no measure {name!r} that is known here.{nearest(name, names)}"
        return MeasureError(f"{says} Known are {quoted(names)}.")
    if says := elsewhere(name):
        return MeasureError(f"{text!r} {says}.")
    near = did_you_mean(_nearest(text, name))
    return MeasureError(f"no measure is called {text!r}.{near} {option('`ir.catalog()`')} lists them all.")


def _of_several_tools(text: str, tools: Iterable[str]) -> MeasureError:
    """The error for a name by which tools mean different measures."""
    meant: dict[str, list[str]] = {}
    for tool in tools:
        found = parsed_name(f"{tool} {text}")
        meant.setdefault(found.info.column({**found.info.parameters, **found.arguments}), []).append(tool)
    listed = ", ".join(f"{name!r} to {' and '.join(by)}" for name, by in meant.items())
    return MeasureError(
        f"{text!r} means {listed}. Name one of these, or the tool before it: {f'{[*meant.values()][-1][0]} {text}'!r}."
    )


def _nearest(text: str, name: str) -> list[str]:
    """The nearest names of measures to a text whose `name` is of none, each with the parameters of the text."""
    names = alike(name, _names(catalogued()))
    with_parameters = [close + text[len(name) :] for close in names]
    # A measure that lacks these parameters was not meant, unless all lack them.
    return [whole for whole in with_parameters if measure_named(whole)] or names


def _in_our_words(text: str, info: MeasureInfo, arguments: dict[str, object]) -> tuple[MeasureInfo, dict[str, object]]:
    """The measure and its parameters, where another tool has other words for them."""
    if arguments.pop("judged_only", False) is not False:
        raise MeasureError(
            "judged_only is no parameter of a measure, but an option of the ranking, which all measures of a call "
            f"share; got {text!r}.",
            fix=Fix("Leave it out of the name, and give it to the call", Setting("judged_only", True)),
        )
    if info.name == "SetP" and isinstance(arguments.get("relative"), bool):
        info = CATALOG["R_cap"] if arguments.pop("relative") else info
    for word in CUTOFFS:
        if word in arguments and word not in info.parameters:
            if info.at in arguments:
                raise MeasureError.syntax(text, f"it gives {info.at} twice")
            arguments[info.at] = arguments.pop(word)
    return info, arguments


def _trec_eval_given(text: str, parameters: str) -> dict[str, object]:
    """trec_eval's `p=0.8,2=1`: parameters by name, and the gains of grades."""
    pairs = [pair.partition("=")[::2] for pair in parameters.split(",")]
    gains = ",".join(f"{key}:{value}" for key, value in pairs if not key.isidentifier())
    named = [f"{key}={value}" for key, value in pairs if key.isidentifier()]
    return _arguments(text, ",".join([*named, f"gains={{{gains}}}"] if gains else named))


@functools.lru_cache(maxsize=4)
def _names(_catalog: tuple[Measure, ...]) -> Mapping[str, ToolName]:
    """Every name that is read without its tool.

    Canonical names win, and come last; names of this package's functions are read where no tool has the word.
    """
    catalog = dict(CATALOG)  # another thread may register a measure meanwhile
    functions = {info.function.__name__: ToolName(info.name) for info in catalog.values()}
    others = {
        name: ToolName(f"{info.name}({given})") for info in catalog.values() for name, given in info.spellings.items()
    }
    return {name: found for name, found in (functions | others).items() if name not in catalog} | {
        name: ToolName(name) for name in catalog
    }


@functools.lru_cache(maxsize=4)
def _tools(_catalog: tuple[Measure, ...]) -> Mapping[str, str]:
    """The tools whose names are known, folded."""
    listed = (tool for info in list(CATALOG.values()) for tool in info.also)
    return {fold(tool): tool for tool in (*listed, *TOOLS)} | {fold(name): tool for name, tool in CALLED.items()}


@functools.lru_cache(maxsize=64)
def _names_in(tool: str, _catalog: tuple[Measure, ...]) -> Mapping[str, ToolName]:
    """The names of a tool: those that measures list, and what the tool alone means by a name."""
    listed = {
        name: ToolName(f"{info.name}({given})")
        for info in list(CATALOG.values())
        for name, given in SPELLING.findall(info.also.get(tool, ""))
    } | {name: meaning for name, meaning in TOOLS.get(tool, {}).items() if meaning.measure and not meaning.of_exposure}
    return {name.removesuffix("_at_k"): found for name, found in listed.items()} | listed


@functools.lru_cache(maxsize=64)
def _folded(tool: str, catalog: tuple[Measure, ...]) -> Mapping[str, ToolName]:
    names = _names_in(tool, catalog) if tool else _names(catalog)
    return {fold(name): found for name, found in names.items()}


def _find(name: str, tool: str = "") -> ToolName | None:
    """The measure of this very name, or else of the same one folded; of a tool, by its names alone."""
    catalog = catalogued()
    for known, meaning in TOOLS.get(tool, {}).items():
        if not meaning.measure and fold(known) == fold(name):
            raise MeasureError(f"{known!r} of {tool} {meaning.note}.")
    names = _names_in(tool, catalog) if tool else _names(catalog)
    folded = _folded(tool, catalog)
    return names.get(name) or folded.get(fold(name)) or folded.get(PLAIN.get(fold(name), ""))


def _arguments(text: str, arguments: str | None) -> dict[str, object]:
    """The keyword arguments between the brackets, each a literal."""
    if not arguments or not arguments.strip():
        return {}
    problem = MeasureError.syntax(text, "between the brackets it needs parameter=value, with plain values")
    try:
        with warnings.catch_warnings(action="ignore"):
            call = ast.parse(f"_({arguments})", mode="eval").body
        # One call of `_`, and nothing else: `_(k=1)(k=2)` is a call too.
        bare = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args
        keywords = call.keywords if isinstance(call, ast.Call) and bare else []
        # A literal each, or a column by its bare name.
        nodes = {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
        values = {n: pl.col(v.id) if isinstance(v, ast.Name) else ast.literal_eval(v) for n, v in nodes.items()}
        twice = any(
            isinstance(node, ast.Dict) and len(node.keys) > len(ast.literal_eval(node)) for node in nodes.values()
        )
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise problem from None
    if twice:
        raise MeasureError.syntax(text, "it gives a value of gains twice")
    # Nothing but `name=value` may have been left out on the way.
    if not values or len(values) != len(keywords):
        raise problem
    return values


def _after_the_sign(info: MeasureInfo, text: str) -> object:
    """The number after `@`: a cutoff, but for measures that say otherwise."""
    if text in ("R", "r") and info.at == "k":
        raise MeasureError(
            f"{info.name}@R cuts each list at its own number R of relevant documents. 'Rprec' is P@R; no other measure "
            "here does so."
        )
    try:
        # Python reads more as numbers than this package: `1_000`, or the digits of other scripts.
        return (int if info.at == "k" else float)(text if text.isascii() and "_" not in text else "")
    except ValueError:
        raise MeasureError.parameter(
            info.name, info.at, info.options.get(info.at, PARAMETERS["k"]).value.wanted, text
        ) from None
