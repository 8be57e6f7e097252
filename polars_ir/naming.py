"""Names of measures, in the spelling of any tool, to expressions.

Conventions: the canonical spelling is `ir_measures`' own, `NAME(parameter=value)@k`. Case, `-` and `_` do not matter,
except where two tools mean different things by one word. A name is taken apart, never run as code.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Mapping

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.registry import CATALOG, Measure, Spec

#: `nDCG(dcg='exp-log2')@10`, and ranx's `ndcg@10-l2`: the grades from 2 on are relevant.
CANONICAL = re.compile(r"(?P<name>[^()@]+)(?:\((?P<arguments>.*)\))?(?:@(?P<k>[^@]*?)(?:-l(?P<rel>\d+))?)?", re.DOTALL)

#: trec_eval's `P_10` and `P.10`, MTEB's `ndcg_at_10`.
WITH_CUTOFF = re.compile(r"(?P<name>.+?)(?:_at_|_|\.)(?P<k>\d+)")

#: trec_eval's `set_F.4` and `set_F_4`, whose number stands for beta squared.
TREC_EVAL_F = re.compile(r"set_F[._](\d+(?:\.\d+)?)")

#: ranx's `rbp.95`, whose p is what follows the point, and the point.
RANX_RBP = re.compile(r"rbp(\.\d+)")

#: No measure's name is longer; a limit keeps the parser of Python literals from hostile input.
LONGEST = 500


def parse(name: str) -> pl.Expr:
    """The measure that a name in any dialect stands for, as an expression.

    Reads `ir_measures` (`nDCG(dcg='exp-log2')@10`), trec_eval (`ndcg_cut_10`, `recip_rank`), ranx (`ndcg@10-l2`,
    `hit_rate@5`), BEIR and MTEB (`NDCG@10`, `ndcg_at_10`, `R_cap@10`).

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
    spec, arguments = _taken_apart(text)
    return spec.function(**arguments)


def _taken_apart(text: str) -> tuple[Spec, Mapping[str, object]]:
    if len(text) > LONGEST:
        raise MeasureError.syntax(text, f"it is longer than {LONGEST} characters")
    if squared := TREC_EVAL_F.fullmatch(text):
        return CATALOG["SetF"], {"beta": math.sqrt(float(squared[1]))}
    if persistence := RANX_RBP.fullmatch(text):
        return CATALOG["RBP"], {"p": float(persistence[1])}
    matched = CANONICAL.fullmatch(text)
    if matched is None:
        raise MeasureError.syntax(text, "its brackets or its @ are out of place")
    found = _find(matched["name"])
    if found is None and matched["k"] is None and (with_cutoff := WITH_CUTOFF.fullmatch(matched["name"])):
        found = _find(with_cutoff["name"])
        matched = with_cutoff
    if found is None:
        raise MeasureError.unknown(text, matched["name"], _names())
    spec, implied = found
    given = matched.groupdict()
    arguments = {**implied, **_arguments(text, given.get("arguments"))}
    if given["k"] is not None:
        arguments["k"] = _cutoff(spec, given["k"])
    if given.get("rel"):
        arguments |= _from_level(spec, int(given["rel"]))
    return spec, arguments


def _names() -> dict[str, tuple[Spec, Mapping[str, object]]]:
    """Every name in use, with the measure and the parameters it stands for; canonical names win over others."""
    others = {name: (spec, implied) for spec in CATALOG.values() for name, implied in spec.also.items()}
    return others | {name: (spec, {}) for name, spec in CATALOG.items()}


def _find(name: str) -> tuple[Spec, Mapping[str, object]] | None:
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
        call = ast.parse(f"_({arguments})", mode="eval").body
        keywords = call.keywords if isinstance(call, ast.Call) and not call.args else []
        given = {keyword.arg: ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise problem from None
    # Nothing but `name=value` may have been left out on the way.
    if not given or len(given) != len(keywords):
        raise problem
    return given


def _cutoff(spec: Spec, k: str) -> int:
    try:
        return int(k)
    except ValueError:
        raise MeasureError.parameter(spec.name, "k", "a whole number of documents, 1 or more", k) from None


def _from_level(spec: Spec, level: int) -> dict[str, object]:
    """What ranx means by `-l2`: lower grades are not relevant, and where grades are gains they gain nothing."""
    if "rel" in spec.parameters:
        return {"rel": level}
    return {"gains": dict.fromkeys(range(1, level), 0)} if level > 1 else {}
