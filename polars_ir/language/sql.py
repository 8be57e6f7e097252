"""Names of measures in letters, digits and underscores, which SQL, stores and trackers take without quotes.

Conventions: name, cutoff, then each parameter by its name, all in lower case (`ndcg_10`, `rbp_10_p_0_9`); a point and
every other character that is no letter or digit is an underscore. Case does not matter, since many stores fold it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from decimal import Decimal

from polars_ir.errors import Code, Fix, MeasureError, option
from polars_ir.language.catalog import CATALOG, Measure, MeasureInfo
from polars_ir.language.options import is_number

#: A name that SQL takes without quotes.
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

#: A number: `0_9` is 0.9.
NUMBER = r"(?:minus_)?\d+(?:_\d+)?"

#: A text that is a value as it is.
TEXT = r"[a-z][a-z0-9_]*"

#: Values with a word for them.
WORDS: Mapping[str, object] = {"none": None, "true": True, "false": False}


def spelt(info: MeasureInfo, arguments: Mapping[str, object], *, written: str | None = None) -> str:
    """Name of a measure, with one parameter `written` also at its default; a `MeasureError` for one without a name.

    >>> spelt(CATALOG["P"], {"k": 5, "rel": 2}), spelt(CATALOG["nDCG"], {"k": 10, "dcg": "exp-log2"})
    ('p_5_rel_2', 'ndcg_10_dcg_exp_log2')
    """
    cutoff = arguments.get(info.at)
    parts = [_folded(info.name), *([] if cutoff is None else [_of_number(cutoff)])]
    for name, value in arguments.items():
        default = info.parameters[name]
        if name == info.at or (name != written and type(value) is type(default) and value == default):
            continue
        value_spelt = _value(info, name, value)
        if value_spelt is None:
            raise no_name(f"{name}={value!s:.60} of {info.name}")
        parts += [_folded(name), value_spelt]
    text = "_".join(parts)
    return text if PLAIN.fullmatch(text) else f"_{text}"


def read(text: str, catalog: tuple[Measure, ...]) -> tuple[MeasureInfo, dict[str, object]] | None:
    """The measure and the parameters of a name that no other tool would write; None for any other name.

    >>> from polars_ir.language.catalog import catalogued
    >>> read("RBP_10_P_0_9", catalogued())[1], read("iprec_0_1", catalogued())[1], read("ndcg_10", catalogued())
    ({'k': 10, 'p': 0.9}, {'recall': 0.1}, None)
    """
    if "_" not in text or not PLAIN.fullmatch(text):
        return None
    folded = text.lower()
    for info, pattern in _patterns(catalog):
        if not (matched := pattern.fullmatch(folded)):
            continue
        at, rest = matched["at"], matched["rest"]
        if not (rest or folded.startswith("_") or (at and "_" in at)):
            continue
        given = [each.group("name", "value") for each in re.finditer(_one(info), rest)]
        by_name = _parameters(info)
        texts = _of_text(info)
        if all(name in texts or value in by_name[name][1] or re.fullmatch(NUMBER, value) for name, value in given):
            if len({name for name, _ in given}) < len(given):
                raise MeasureError.syntax(text, "it gives a parameter twice")
            cutoff = {} if at is None else {info.at: _number(at)}
            values = ((*by_name[name], value) for name, value in given)
            arguments = {name: words[value] if value in words else _read(value) for name, words, value in values}
            return info, {**cutoff, **arguments}
    return None


def no_name(what: str) -> MeasureError:
    """The error for a measure that has no such name."""
    fix = Fix("Give the measure one", Code(".alias('mine')"))
    says = f"{what} has no name of letters, digits and underscores, which {option('names', 'sql')} gives."
    return MeasureError(says, fix=fix)


def _folded(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def _of_number(value: object) -> str:
    """A number without a sign: 0.9 is `0_9`, 1e-05 is `0_00001`."""
    return format(Decimal(repr(value)), "f").replace(".", "_").replace("-", "minus_")


def _number(text: str) -> float:
    number = text.replace("minus_", "-").replace("_", ".")
    return float(number) if "." in number else int(number)


def _read(value: str) -> object:
    """The number or the text of a value without a word."""
    return _number(value) if re.fullmatch(NUMBER, value) else value


def _value(info: MeasureInfo, name: str, value: object) -> str | None:
    """A parameter's value as a component of a name; None where it has no such spelling."""
    if is_number(value):
        return _of_number(value)
    if _folded(name) in _of_text(info) and isinstance(value, str) and re.fullmatch(TEXT, value):
        return value
    # The same object or type: `pl.Expr` compares to an expression, and True to 1.
    return next((text for text, known in _parameters(info)[_folded(name)][1].items() if _same(known, value)), None)


def _same(known: object, value: object) -> bool:
    return known is value or (isinstance(known, str) and isinstance(value, str) and known == value)


def _parameters(info: MeasureInfo) -> dict[str, tuple[str, Mapping[str, object]]]:
    """The parameters of a measure except its cutoff, folded: each with its values that have a word."""
    by_name: dict[str, tuple[str, Mapping[str, object]]] = {}
    for name in info.parameters:
        if name != info.at:
            choices = info.options[name].value.choices if name in info.options else ()
            words = {_folded(choice): choice for choice in choices if isinstance(choice, str)}
            by_name[_folded(name)] = (name, {**WORDS, **words})
    return by_name


def _of_text(info: MeasureInfo) -> set[str]:
    """The parameters of a measure, folded, that are texts of the user's, as the name of a column."""
    return {
        _folded(name) for name, option in info.options.items() if option.value.holds("a") and not option.value.choices
    }


def _one(info: MeasureInfo) -> str:
    """The pattern of one parameter with its value."""
    parameters = _parameters(info)
    if not parameters:
        return r"(?!)(?P<name>)(?P<value>)"
    words = {word for _, values in parameters.values() for word in values}
    names, values = ("|".join(sorted(map(re.escape, texts), key=len, reverse=True)) for texts in (parameters, words))
    of_text = "|".join(rf"(?<=_{name}_)" for name in sorted(_of_text(info)))
    # Up to the next parameter, since the name of a column has underscores, too.
    text = rf"|(?:{of_text}){TEXT}?(?=_(?:{names})_|$)" if of_text else ""
    return rf"_(?P<name>{names})_(?P<value>(?:{NUMBER}|{values})(?=_|$){text})"


@functools.lru_cache(maxsize=4)
def _patterns(_catalog: tuple[Measure, ...]) -> list[tuple[MeasureInfo, re.Pattern[str]]]:
    """The pattern of each measure's names, the longest name first."""
    specs = sorted(CATALOG.values(), key=lambda info: len(info.name), reverse=True)
    patterns = []
    for info in specs:
        one = re.sub(r"\?P<\w+>", "?:", _one(info))
        patterns.append((info, re.compile(rf"_?{_folded(info.name)}(?:_(?P<at>{NUMBER}))?(?P<rest>(?:{one})*)")))
    return patterns
