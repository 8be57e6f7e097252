"""Names of measures, in the spelling of any tool, to expressions.

Conventions: the canonical spelling is `ir_measures`' own, `NAME(parameter=value)@k`. Case, `-` and `_` do not matter,
except where two tools mean different things by one word; what a word means is said with each measure (`also`). Here is
only how tools write the numbers beside it. A name is taken apart, never run as code.
"""

from __future__ import annotations

import ast
import functools
import math
import re
import warnings
from collections.abc import Mapping

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.measures.relevance_string import relevance_string
from polars_ir.registry import CATALOG, Measure, Spec

#: `nDCG(dcg='exp-log2')@10`.
CANONICAL = re.compile(r"(?P<name>[^()@]+)(?:\((?P<arguments>.*)\))?(?:@(?P<at>[^@]*))?", re.DOTALL)

#: trec_eval's `P_10`, `P.10` and `iprec_at_recall_0.10`, MTEB's `ndcg_at_10`.
WITH_NUMBER = re.compile(r"(?P<name>.+?)(?:_at_|_|\.)(?P<at>\d*\.?\d+)", re.ASCII)

#: trec_eval's `ndcg.1=3,2=9` and `rbp_p=0.8`.
TREC_EVAL_GIVEN = re.compile(r"(?P<name>\w+)[._](?P<given>[^()@]*=[^()@]*)")

#: trec_eval's `set_F.4` and `set_F_4`, whose number stands for beta squared.
TREC_EVAL_F = re.compile(r"set_F[._](\d*\.?\d+)", re.ASCII)

#: trec_eval's `utility.2,-1,0,0`.
TREC_EVAL_UTILITY = re.compile(r"utility[._](-?\d*\.?\d+(?:,-?\d*\.?\d+){3})", re.ASCII)

#: trec_eval's `relstring_10`: no measure, since it is no number, but an aggregation all the same.
TREC_EVAL_STRING = re.compile(r"relstring(?:[._@](\d{1,9}))?", re.ASCII)

#: trec_eval's `P.5,10`: several measures in one name.
TREC_EVAL_SEVERAL = re.compile(r"(?P<name>\w+)\.(?P<numbers>[\d.]+(?:,[\d.]+)+)", re.ASCII)

#: ranx's `rbp.95` and `rbp@95`: p is what follows, behind a point.
RANX_RBP = re.compile(r"rbp(?P<sign>[.@])(?P<p>\d+)", re.ASCII)

#: ranx's `ndcg@10-l2`: grades from 2 on are relevant.
RANX_LEVEL = re.compile(r"(?P<name>.+)-l(?P<rel>\d+)", re.ASCII | re.DOTALL)

#: trectools' `RBP(0.80)@10`.
TRECTOOLS_RBP = re.compile(r"RBP\((\d*\.?\d+)\)", re.ASCII)

#: What a cutoff is called between the brackets by ir_measures, trectools and torchmetrics.
CUTOFFS = ("cutoff", "depth", "top_k")

#: No measure's name is longer; a limit keeps the parser of Python literals from hostile input.
LONGEST = 500


def parse(name: str) -> pl.Expr:
    """The measure that a name in any dialect stands for, as an expression.

    Reads `ir_measures` (`nDCG(dcg='exp-log2')@10`), trec_eval (`ndcg_cut_10`, `recip_rank`, `ndcg.1=3,2=9`), ranx
    (`ndcg@10-l2`, `hit_rate@5`), BEIR and MTEB (`NDCG@10`, `ndcg_at_10`, `R_cap@10`), and what recommender libraries
    call their classes and functions (`RetrievalMAP`, `precision_at_k`). Where two tools mean different things by one
    word, it is what `ir_measures` means by it: `Accuracy@5` is not BEIR's, which is `Success@5`.

    Parameters
    ----------
    name
        The name of one measure.

    Returns
    -------
    pl.Expr
        An aggregation of the judged relation; its output name is the canonical name.

    Raises
    ------
    IRError
        For a name that no tool has (the nearest ones are shown), or a parameter that the measure does not take.

    Examples
    --------
    >>> import polars_ir as ir
    >>> [ir.parse(name).meta.output_name() for name in ("ndcg_cut_10", "MRR@5", "P(rel=2)@5", "recall@9-l2")]
    ['nDCG@10', 'RR@5', 'P(rel=2)@5', 'R(rel=2)@9']
    """
    if not isinstance(name, str):
        raise MeasureError.syntax(str(name), f"it is a {type(name).__name__}, not a string")
    return _parse(name.strip(), tuple(spec.function for spec in CATALOG.values()))


@functools.lru_cache(maxsize=1024)
def _parse(text: str, _catalog: tuple[Measure, ...]) -> pl.Expr:
    # The catalogue is part of the key: what a user defines, or defines anew, must not stay unknown.
    if relstring := TREC_EVAL_STRING.fullmatch(text):
        return relevance_string(k=int(relstring[1] or 10))
    spec, arguments = taken_apart(text)
    try:
        return spec.function(**arguments)
    except (OverflowError, pl.exceptions.InvalidOperationError):
        raise MeasureError.syntax(text, "a number in it is too large") from None


def is_cost(column: str) -> bool:
    """Whether the lowest value of a measure is its best one, as far as the name of a column tells."""
    try:
        # `evaluate` with bounds adds `Hole@10 low` and `Hole@10 high`.
        spec, _ = taken_apart(column.removesuffix(" low").removesuffix(" high"))
    except MeasureError:
        return False
    return spec.best == spec.bounds[0]


def taken_apart(text: str) -> tuple[Spec, Mapping[str, object]]:
    """The measure and the parameters that a name stands for."""
    if len(text) > LONGEST:
        raise MeasureError.syntax(text, f"it is longer than {LONGEST} characters")
    level = RANX_LEVEL.fullmatch(text)
    name = level["name"] if level else text
    spec, arguments = _of_one_tool(name) or _of_any_tool(name)
    if level and "rel" in arguments:
        raise MeasureError.syntax(text, "it says twice what rel is")
    if level:
        arguments["rel"] = int(level["rel"])
    return spec, {parameter: _whole(value) for parameter, value in arguments.items()}


def _of_one_tool(text: str) -> tuple[Spec, dict[str, object]] | None:
    """The measure of a name that only one tool would write so."""
    if squared := TREC_EVAL_F.fullmatch(text):
        return CATALOG["SetF"], {"beta": math.sqrt(float(squared[1]))}
    if coefficients := TREC_EVAL_UTILITY.fullmatch(text):
        return CATALOG["utility"], {"coefficients": tuple(map(float, coefficients[1].split(",")))}
    if persistence := RANX_RBP.fullmatch(text):
        p = float(f"0.{persistence['p']}")
        if persistence["sign"] == "@":
            raise MeasureError.several(text, [f"RBP(p={p})", f"RBP@{persistence['p']}"])
        return CATALOG["RBP"], {"p": p}
    if several := TREC_EVAL_SEVERAL.fullmatch(text):
        raise MeasureError.several(text, [f"{several['name']}_{n}" for n in several["numbers"].split(",")])
    if (with_values := TREC_EVAL_GIVEN.fullmatch(text)) and (found := _find(with_values["name"])):
        spec, implied = found
        return spec, {**_arguments(text, implied), **_trec_eval_given(text, with_values["given"])}
    return None


def _of_any_tool(text: str) -> tuple[Spec, dict[str, object]]:
    """The measure of a name with parameters in brackets, or a number behind a sign."""
    matched = CANONICAL.fullmatch(TRECTOOLS_RBP.sub(r"RBP(p=\1)", text))
    if matched is None:
        raise MeasureError.syntax(text, "its brackets or its @ are out of place")
    found = _find(matched["name"])
    if found is None and matched["at"] is None and (with_number := WITH_NUMBER.fullmatch(matched["name"])):
        found = _find(with_number["name"])
        matched = with_number
    if found is None:
        raise MeasureError.unknown(text, matched["name"], _names())
    spec, implied = found
    at = matched["at"]
    if "#" in implied and at is None:
        raise MeasureError.syntax(text, f"it needs a number: {matched['name']}_{{number}}")
    filled = implied.replace("#", at or "")
    spec, given = _in_our_words(text, spec, _arguments(text, matched.groupdict().get("arguments")))
    if at is not None and filled == implied:
        if spec.at in given:
            raise MeasureError.syntax(text, f"it says twice what {spec.at} is")
        given[spec.at] = _after_the_sign(spec, at)
    return spec, {**_arguments(text, filled), **given}


def _in_our_words(text: str, spec: Spec, given: dict[str, object]) -> tuple[Spec, dict[str, object]]:
    """The measure and its parameters, where another tool has other words for them."""
    if "judged_only" in given and "judged_only" not in spec.parameters and given.pop("judged_only") is not False:
        raise MeasureError(
            "judged_only is no parameter of a measure, but an option of the ranking, which all measures of a call "
            f"share; got {text!r}. Leave it out of the name: ir.evaluate(run, qrels, [...], judged_only=True)."
        )
    if spec.name == "SetP" and isinstance(given.get("relative"), bool):
        spec = CATALOG["R_cap"] if given.pop("relative") else spec
    ours = {spec.at if word in CUTOFFS and word not in spec.parameters else word: v for word, v in given.items()}
    if len(ours) < len(given):
        raise MeasureError.syntax(text, f"it says twice what {spec.at} is")
    return spec, ours


def _trec_eval_given(text: str, given: str) -> dict[str, object]:
    """trec_eval's `p=0.8,2=1`: parameters by name, and the gains of grades."""
    pairs = [pair.partition("=")[::2] for pair in given.split(",")]
    gains = ",".join(f"{key}:{value}" for key, value in pairs if not key.isidentifier())
    named = [f"{key}={value}" for key, value in pairs if key.isidentifier()]
    return _arguments(text, ",".join([*named, f"gains={{{gains}}}"] if gains else named))


def _names() -> dict[str, tuple[Spec, str]]:
    """Every name in use, with the measure and the parameters it stands for; canonical names win, and come last."""
    others = {name: (spec, given) for spec in CATALOG.values() for name, given in spec.spellings.items()}
    return {name: found for name, found in others.items() if name not in CATALOG} | {
        name: (spec, "") for name, spec in CATALOG.items()
    }


def _find(name: str) -> tuple[Spec, str] | None:
    """The measure of this very name, or else of the same one folded."""
    names = _names()
    return names.get(name) or {_fold(other): found for other, found in names.items()}.get(_fold(name))


def _fold(name: str) -> str:
    return re.sub(r"[-_\s]", "", name.casefold())


def _arguments(text: str, arguments: str | None) -> dict[str, object]:
    """The keyword arguments between the brackets, each a literal."""
    if not arguments or not arguments.strip():
        return {}
    problem = MeasureError.syntax(text, "between the brackets it needs parameter=value, with plain values")
    try:
        with warnings.catch_warnings(action="ignore"):
            call = ast.parse(f"_({arguments})", mode="eval").body
        # One call of `_`, and nothing else: `_(k=1)(k=2)` is a call too.
        plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args
        keywords = call.keywords if isinstance(call, ast.Call) and plain else []
        given = {keyword.arg: _value(keyword.value) for keyword in keywords if keyword.arg}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise problem from None
    # Nothing but `name=value` may have been left out on the way.
    if not given or len(given) != len(keywords):
        raise problem
    return given


def _value(node: ast.expr) -> object:
    """A literal, or a column by its bare name."""
    return pl.col(node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)


def _whole(value: object) -> object:
    """A number that is whole as an integer, so that `2.0` and `2` are the same measure."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _after_the_sign(spec: Spec, text: str) -> object:
    """The number after `@`: a cutoff, but for measures that say otherwise."""
    try:
        # Python reads more as a number than what is one here: `1_000`, or the digits of other scripts.
        return (int if spec.at == "k" else float)(text if text.isascii() and "_" not in text else "")
    except ValueError:
        raise MeasureError.parameter(spec.name, spec.at, spec.parameter(spec.at).wanted, text) from None
