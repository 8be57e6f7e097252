"""Lists in texts: the readable ones, and advice on unreadable ones, or on columns that hold something else."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

import polars as pl

from polars_ir.errors import Code, Fix, warn
from polars_ir.frames.guesses import lists_meant
from polars_ir.frames.kinds import Frame

#: An element of a list as Python, JSON or NumPy print it: between quotes, or a word.
QUOTED, NUMBER = r"""'[^'\\]*'|"[^"\\]*\"""", r"-?\d[\d.e+-]*"
ELEMENT = rf"""{QUOTED}|[^\s,\[\]{{}}'"]+"""

#: A printed list or tuple, whose elements commas part or, of quoted ones and numbers in a list, blanks.
IN_A_ROW = rf"\s*(?:(?:{ELEMENT})(?:\s*,\s*(?:{ELEMENT}))*\s*,?)?\s*"
PRINTED = rf"^\s*(?:\[{IN_A_ROW}\]|\({IN_A_ROW}\))\s*$"
PRINTED_BY_NUMPY = rf"^\s*\[\s*(?:(?:{QUOTED}|{NUMBER})(?:\s+(?:{QUOTED}|{NUMBER}))*)?\s*\]\s*$"

#: A printed set, and the signs around the elements of any of these.
PRINTED_SET = rf"^\s*(?:\{{(?:{QUOTED}|{NUMBER})(?:\s*,\s*(?:{QUOTED}|{NUMBER}))*\}}|set\(\))\s*$"
OPENING, CLOSING = r"^\s*(?:set\(|[\[({])", r"[\])}]\s*$"

#: A missing element, which is no id, and where a printed list was cut short.
MISSING = r"\b(?:None|null|nan|NaN|NA)\b"
CUT = r"(?:^|[\s,\[(])(?:\.\.\.|…)(?:[\s,\])]|$)"

#: A cell in which there is no list.
NOTHING = r"^\s*(?:None|null|nan|NaN|NA)?\s*$"

#: Separators of ids in a text, the least likely within one first.
SEPARATORS = ("|", ";", "\n", "\t", ",", " ")


def prints_lists(table: Frame, name: str) -> bool:
    """True of a column in memory whose texts are printed lists, tuples or sets without a missing element."""
    if not isinstance(table, pl.DataFrame) or table.schema[name] != pl.String or not table[name].count():
        return False
    texts = table[name].drop_nulls()
    texts = texts.filter(~texts.str.contains(NOTHING))
    return not texts.is_empty() and not_printed(texts).is_empty()


def not_printed(texts: pl.Series) -> pl.Series:
    """The texts that are no whole printed list, or have a missing element."""
    printed = texts.str.contains(f"{PRINTED}|{PRINTED_BY_NUMPY}|{PRINTED_SET}")
    return texts.filter(~printed | texts.str.contains(MISSING) | texts.str.contains(CUT))


def at_blanks(table: Frame, retrieved: str, relevant: str) -> Frame:
    """A table of users with lists of the ids that both columns have apart by blanks, as Kaggle's submissions.

    Any other table stays as it is: of cells with another separator, of none with a blank, and where cells are titles,
    which hold blanks and are one id. Then one of the relevant ones is a retrieved one as a whole, and, of those without
    a blank, none is within another.
    """
    names = [retrieved, relevant]
    if not isinstance(table, pl.DataFrame) or any(table.schema.get(name) != pl.String for name in names):
        return table
    found, gold = (table[name].str.strip_chars().replace("", None).drop_nulls() for name in names)
    others = r"[\[\](){},;|]"
    if not found.str.contains(r"\s").any() or pl.concat([found, gold]).str.contains(others).any():
        return table
    whole = gold.filter(gold.is_in(found.implode()))
    ids, of_lists = (
        texts.str.extract_all(r"\S+").explode() for texts in (gold, found.filter(found.str.contains(r"\s")))
    )
    if whole.str.contains(r"\s").any() or (whole.len() and not ids.is_in(of_lists.implode()).any()):
        return table
    code = Code(
        f"frame.with_columns(pl.col({retrieved!r}, {relevant!r}).str.strip_chars().replace('', None)"
        ".str.extract_all(r'\\S+'))",
        f"frame.assign(**{{name: frame[name].map(lambda text: text.split() or None, na_action='ignore') "
        f"for name in {names!r}}})",
    )
    says = f"columns {retrieved!r} and {relevant!r} are texts, read as blank-separated ids, such as {found[0]!r:.40}."
    warn(says, about="frame", fix=Fix("Lists say so without a warning", code))
    text = pl.col(names).str.strip_chars().replace("", None)
    return table.with_columns(text.str.extract_all(r"\S+"))


def naming(columns: Sequence[str], lists: Sequence[str], given: Mapping[str, str], others: Sequence[str]) -> Fix:
    """Advice on how to name columns: those that are `given` stay, and `...` stands for unrecognised ones."""
    options = {role: name for role, name in given.items() if role in ("scores", "grades")}
    meant = lists_meant(columns, lists, given, [name for name in others if name in options.values()])
    words = ", ".join([meant.named(), *(f"{role}={name!r}" for role, name in options.items())])
    return Fix("Say which they are", Code(f"ir.from_lists(frame, {words})"))


def listing(table: Frame, name: str, dtype: pl.DataType, named: Mapping[str, str]) -> Fix:
    """Advice on how to make lists of a column of another type; `named` are the columns by their roles."""
    if dtype == pl.String and not isinstance(table, pl.DataFrame):
        return Fix("Collect it, for lists in texts to be read", Code("frame.collect()"))
    if dtype == pl.String and isinstance(table, pl.DataFrame):
        texts = table[name].drop_nulls()
        texts = texts.filter(~texts.str.contains(NOTHING))
        if texts.str.contains(r"^\s*[\[({]").any():
            return _parsing(name, not_printed(texts))
        other = named["relevant" if name == named["retrieved"] else "retrieved"]
        return _parting(name, texts.str.strip_chars(), table[other] if other in table.columns else pl.Series())
    if isinstance(dtype, pl.Struct) and name == named["relevant"] and isinstance(table, pl.DataFrame):
        of_query, found = named["query"], named["retrieved"]
        graded = (
            "qrels = {query: {doc: grade for doc, grade in (of or {}).items() if grade is not None} "
            f"for query, of in zip(frame[{of_query!r}], frame[{name!r}])}}"
        )
        code = Code(
            f"run = dict(frame.select({of_query!r}, {found!r}).iter_rows()); {graded}",
            f"run = dict(zip(frame[{of_query!r}], frame[{found!r}])); {graded}",
        )
        return Fix("It holds a grade for each id: make judgments of it, and a run of the other", code)
    if dtype == pl.Object:
        code = Code.making("frame", name, "map_elements(list, return_dtype=pl.List(pl.String))", "map(list)")
        return Fix("Make lists of its objects", code)
    return _one_each(name)


def of_calls(name: str, query: str) -> Fix:
    """Advice on lists of lists of retrieved documents, which are the calls of a query: a row, and a step, for each."""
    rank = f"rank=pl.int_ranges(1, pl.col({name!r}).list.len() + 1)"
    code = Code(
        f"run = frame.with_columns(step=pl.int_ranges(pl.col({name!r}).list.len())).explode({name!r}, 'step')"
        f".with_columns({rank}).explode({name!r}, 'rank')"
        f".select(pl.col('step', 'rank'), query_id={query!r}, doc_id={name!r}); ir.merge_calls(run)",
        "",
    )
    return Fix("If each list is a call", code)


def _parsing(name: str, texts: pl.Series) -> Fix:
    """Advice on how to read printed lists that are not read here: the code that reads the first."""
    text = texts[0]
    if texts.str.contains(CUT).any():
        return Fix("Lists in it were cut short as they were printed ('...'): store them whole, as JSON or in Parquet")
    for parser, called in ((json.loads, "json.loads"), (ast.literal_eval, "ast.literal_eval")):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            if isinstance(parser(text), (list, tuple)):
                code = Code(
                    f"frame.with_columns(pl.Series({name!r}, map({called}, frame[{name!r}])))",
                    f"frame.assign(**{{{name!r}: frame[{name!r}].map({called})}})",
                )
                return Fix(f"Parse its texts, after import {called.partition('.')[0]}", code)
    return Fix(f'{text!r:.80} cannot be read as a list; write lists as JSON, such as \'["d1", "d2"]\'')


def _parting(name: str, texts: pl.Series, others: pl.Series) -> Fix:
    """Advice on how to make lists of texts without brackets: split at a separator, or whole, as the `others` tell.

    A title or the name of a file holds blanks and commas, and is one id.
    """
    separator = next((each for each in SEPARATORS if texts.str.contains(each, literal=True).any()), None)
    if separator is None:
        return _one_each(name, of_texts=True)
    cells = texts.filter(texts.str.contains(separator, literal=True))
    parts = cells.str.split(separator).list.eval(pl.element().str.strip_chars().replace("", None)).list.drop_nulls()
    look_like_ids = bool(parts.explode().str.contains(r"\d").all()) or separator not in (" ", ",")
    known = others.explode() if isinstance(others.dtype, pl.List) else others
    of_lists = isinstance(others.dtype, pl.List)
    known = pl.Series() if known.dtype.is_nested() or known.dtype == pl.Object else known.cast(pl.String)
    known = known.drop_nulls().str.strip_chars() if known.len() else pl.Series(dtype=pl.String)
    whole = cells.is_in(known.implode())
    split = ~whole & parts.list.eval(pl.element().is_in(known.implode())).list.any() if of_lists else ~whole
    if whole.any() and not split.any() and (of_lists or not look_like_ids):
        return _one_each(name, of_texts=True)
    if look_like_ids or (of_lists and split.any() and not whole.any()):
        strip, split_it = "str.strip_chars().replace('', None)", f"split({separator!r})"
        of_polars = f"{strip}.str.{split_it}.list.eval(pl.element().{strip}).list.drop_nulls()"
        of_pandas = (
            f"map(lambda text: [id.strip() for id in text.{split_it} if id.strip()] or None, na_action='ignore')"
        )
        return Fix("Split it", Code.making("frame", name, of_polars, of_pandas))
    sign = {" ": "blanks", ",": "commas"}.get(separator, repr(separator))
    return Fix(f"{cells[0]!r:.80} may be one id, or several with {sign} between; make lists of whichever it is")


def _one_each(name: str, *, of_texts: bool = False) -> Fix:
    """Advice on how to make a list of each value of a column, of a text without blanks at its ends."""
    value = f"pl.col({name!r}).str.strip_chars()" if of_texts else repr(name)
    code = Code(
        f"frame.with_columns(pl.when(pl.col({name!r}).is_not_null()).then(pl.concat_list({value})).alias({name!r}))",
        f"frame.assign(**{{{name!r}: frame[{name!r}].map(lambda value: [value{'.strip()' * of_texts}], "
        "na_action='ignore')})",
    )
    return Fix("Make a list of each value, if it is one id", code)
