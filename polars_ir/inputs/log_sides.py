"""The fields of a log in their roles: the query, the retrieved and the relevant documents, by ids or by texts.

Conventions: texts that stand for ids are equal after NFC, trimmed, with one blank for white space. Both sides are
compared by ids where both have them.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import polars as pl

from polars_ir.errors import (
    Code,
    ColumnError,
    DataError,
    DtypeError,
    Fix,
    IRError,
    Setting,
    caller,
    fold,
    nearest,
    quoted,
)
from polars_ir.frames.guesses import COSTS, lists_meant, words
from polars_ir.frames.guesses import DOCUMENTS as WORDS_OF_DOCUMENTS
from polars_ir.frames.guesses import IDS as WORDS_OF_IDS
from polars_ir.frames.roles import PARTS, ROLE_OF, USER, could_be, find, is_rank
from polars_ir.inputs.fields import Field, depth_of, field, fields_of, first_field, innermost, of_json, paths_of, refuse
from polars_ir.inputs.from_lists import DISTANCES, read_lists
from polars_ir.inputs.log_formats import IDS, LISTS_OF_SCORES, OFFSETS, OWN, SCORES_OF_DOCUMENTS, TEXTS, LogFormat

#: The columns of lists of scores and of grades, which `tables_of` finds by these names.
SCORES, GRADES = "scores", "grades"

#: The names of numbers of a document that would be ids, scores or keys of a run, or that a format has for itself.
OF_ROLES = {*ROLE_OF, *map(fold, (*PARTS, *IDS, *SCORES_OF_DOCUMENTS, *DISTANCES, *OFFSETS))}

#: The beginning of a text that prints objects, and the most lists around an id.
OBJECTS, DEEPEST = r"^\s*\[\s*\{", 2


class Lists(NamedTuple):
    """Lists of values: their expression, the type of the values, and the number of lists around each."""

    value: pl.Expr
    dtype: pl.DataType
    depth: int = 1

    def of(self, value: pl.Expr, dtype: pl.DataType | None = None) -> Lists:
        """The lists of something of each value, which is `pl.element()`; no lists stay as they are, to be refused."""
        if not self.depth:
            return self
        inner = pl.element().list.eval(value) if self.depth > 1 else value
        return self._replace(value=self.value.list.eval(inner), dtype=dtype or self.dtype)

    def cast(self, dtype: Any) -> Lists:
        """The lists with values of another type."""
        return self.of(pl.element().cast(dtype), dtype())


class Side(NamedTuple):
    """The retrieved or the relevant documents: the field, its lists as they are, and those of ids and of texts."""

    path: str
    raw: Lists
    ids: Lists | None
    texts: Lists | None
    #: The fields of ids and of texts within objects.
    of_objects: tuple[str | None, str | None] = (None, None)

    @property
    def plain(self) -> bool:
        """True of lists of texts, which may be ids."""
        return self.raw.depth > 0 and self.raw.dtype == pl.String


def normalised(text: pl.Expr) -> pl.Expr:
    """Texts in NFC, trimmed, with one blank for white space."""
    return text.str.normalize("NFC").str.replace_all(r"\s+", " ").str.strip_chars()


def with_lists(table: pl.DataFrame, format: LogFormat, named: Mapping[str, str | None]) -> pl.DataFrame:
    """The table with lists where texts print them, as a CSV does."""
    lists = [*format.retrieved, *format.relevant, *format.retrieved_texts, *format.relevant_texts, *OWN.retrieved]
    lists += [name for name in (named["retrieved"], named["relevant"]) if name]
    texts = {name for name, dtype in table.schema.items() if dtype == pl.String}
    found = {each.path for path in lists if (each := field(table.schema, path))}
    numbers = [name for name in LISTS_OF_SCORES if name in texts]
    return read_lists(table, ids=sorted(found & texts), numbers=numbers).lazy().collect()


def query_of(
    table: pl.DataFrame, format: LogFormat, named: Mapping[str, str | None]
) -> tuple[Field | None, Field | None]:
    """The field of the query's id, and that of its question, which may be the same."""
    single = table.select(pl.exclude(pl.List))
    questions = [each for path in format.question if (each := field(single.schema, path)) and each.dtype == pl.String]
    question = questions[0] if questions else None
    if (path := named["query"]) is None:
        # Of users last, since a user of an assistant has many questions.
        query = _with_values(single, format.query) or question or _with_values(single, (USER,))
    elif (query := field(table.schema, path)) is None:
        raise without_field(table, "query", named)
    if query is not None and not could_be("query_id", query.dtype):
        fix = "Name a field of ids or of questions, one for each record (query)"
        raise DtypeError.of_column("source", query.path, "ids, texts or integers", query.dtype, fix)
    if question is not None and query is not None and query.path == question.path:
        return question, question
    return query, question


def _with_values(table: pl.DataFrame, paths: Sequence[str]) -> Field | None:
    """The first of some fields that is not null in all records."""
    there = [each for path in paths if (each := field(table.schema, path))]
    return next((each for each in there if table.select(each.value.is_not_null().any()).item()), None)


def side_of(
    table: pl.DataFrame, format: LogFormat, role: Literal["retrieved", "relevant"], named: Mapping[str, str | None]
) -> Side | None:
    """One side of a log, or None where it has none."""
    given = named[role]
    paths = ((given,), ()) if given else (getattr(format, role), getattr(format, f"{role}_texts"))
    if given and field(table.schema, given) is None:
        raise without_field(table, role, named)
    raw, beside = (_with_values(table, each) for each in paths)
    if raw is None and format.start:
        # Spans of retrievers that found nothing.
        raw = first_field(table.schema, paths[0])
    if raw is None:
        if beside is None:
            return None
        side = _side(table, beside, None)
        return side._replace(ids=None, texts=side.texts or side.ids)
    side = _side(table, raw, named["ids"], strict=role == "retrieved" or named["retrieved"] is None)
    return side if beside is None else side._replace(texts=_side(table, beside, None).ids)


def _side(table: pl.DataFrame, found: Field, ids: str | None, *, strict: bool = False) -> Side:
    """The side that a field holds; `ids` names the field of ids within objects, which `strict` needs."""
    value, dtype = found.value, found.dtype
    if dtype == pl.String and table.select((value.str.contains(OBJECTS) | (value == "[]")).all()).item():
        dtype = of_json(table.select(value).to_series(), found.path).dtype
        value = value.str.json_decode(dtype)
    elif dtype == pl.Null:
        dtype = pl.List(pl.String())
        value = value.cast(dtype)
    raw = Lists(value, innermost(dtype), depth_of(dtype))
    if raw.depth > DEEPEST:
        fix = "Keep one list around the ids of a call, or of a group"
        raise DtypeError.of_column("source", found.path, "a list of ids, or a list of such lists", dtype, fix)
    if not isinstance(raw.dtype, pl.Struct) or not raw.depth:
        # Also of a single object, which the check of lists refuses.
        of_ids = raw.cast(pl.String) if raw.dtype == pl.Null else raw
        return Side(found.path, raw, _whole(table, of_ids), None)
    fields = fields_of(raw.dtype)
    id = _used(table, raw, fields, (ids,) if ids and (strict or field(fields, ids)) else IDS)
    if ids and id is None and strict:
        raise _without_ids(found.path, ids, fields)
    text = _used(table, raw, fields, TEXTS)
    ids_of, texts_of = (None if each is None else raw.of(each.value, each.dtype) for each in (id, text))
    paths = (id and id.path, text and text.path)
    return Side(found.path, raw, None if ids_of is None else _whole(table, ids_of), texts_of, paths)


def _used(table: pl.DataFrame, raw: Lists, fields: Mapping[str, pl.DataType], paths: Sequence[str]) -> Field | None:
    """The first field of objects that holds single values, and not nulls alone."""
    for path in paths:
        each = field(fields, path, pl.element())
        if each is None or each.dtype.is_nested() or each.dtype == pl.Null:
            continue
        some = table.select(_some(raw.of(each.value.is_not_null())).any(), objects=raw.value.list.len().sum())
        if some.item(0, 0) or not some.item(0, 1):
            return each
    return None


def _whole(table: pl.DataFrame, lists: Lists) -> Lists:
    """Lists of floats that are all whole as integers, which they were before a null stood beside them."""
    if not lists.dtype.is_float() or not lists.depth:
        return lists
    return lists if _any(table, lists.of(pl.element() % 1 != 0)) else lists.cast(pl.Int64)


def by_text(table: pl.DataFrame, sides: Sequence[Side], format: LogFormat) -> bool:
    """True where texts stand for ids: where a side lacks ids, or where lists of plain texts hold blanks.

    Titles of a format are ids where any of them was retrieved.
    """
    have_texts = all(side.texts or side.plain for side in sides)
    if all(side.ids for side in sides):
        if have_texts and any(_lacking(table, side.ids, side.texts).height for side in sides):
            return True
        bare = [side for side in sides if side.plain and not side.texts]
        blank = pl.element().str.contains(" ", literal=True)
        if len(sides) == 1 or not any(_any(table, side.raw.of(blank)) for side in bare):
            return False
        if len(bare) < len(sides):
            return _are_texts(table, bare[0], next(side for side in sides if side is not bare[0]))
        found, relevant = (_values(table, side.ids) for side in sides)
        return not (format.titles and found.is_in(relevant.implode()).any())
    if have_texts:
        return True
    lacks = min((side for side in sides if not side.ids), key=lambda side: side.texts is not None)
    other = next((side for side in sides if side is not lacks), None)
    has = "texts alone" if lacks.texts else "neither ids nor texts"
    fields = fields_of(lacks.raw.dtype)
    others = f", and {next(side for side in sides if not side.texts).path!r} ids" if lacks.texts else ""
    says = f"has {has} in {lacks.path!r}{others}"
    raise _without_ids(lacks.path, None, fields, says, fields_of(other.raw.dtype) if other else {})


def _are_texts(table: pl.DataFrame, bare: Side, other: Side) -> bool:
    """True where plain texts that hold blanks are the texts of documents of the other side, and none is an id of one.

    An error where they are neither, or both.
    """
    ids, values = _values(table, other.ids or other.raw), _values(table, bare.raw)
    is_id = pl.element().cast(pl.String).is_in(ids.implode())
    values = values.filter(values.str.contains(" ", literal=True))
    if values.is_in(ids.implode()).any():
        return False
    if ids.str.contains(" ", literal=True).any():
        # Titles, unless one of the values is a text.
        ours, theirs = (
            pl.select(normalised(pl.lit(each))).to_series() for each in (values, _values(table, other.texts))
        )
        if not ours.is_in(theirs.implode()).any():
            return False
    if other.texts is None:
        raise _without_ids(bare.path, None, {}, f"has texts in {bare.path!r}, and ids alone in {other.path!r}")
    problem = f"whose {bare.path!r} holds ids, where others hold texts"
    fix = f"Write ids in all records, as {other.path!r} has them"
    refuse(table.filter(_some(bare.raw.of(is_id))), problem, fix, bare.raw.value.alias(bare.path))
    return True


def check_complete(table: pl.DataFrame, sides: Sequence[Side], queries: pl.Expr, *, on_texts: bool) -> None:
    """Raise an error for records that lack what is compared, ids or texts, and have the other."""
    for side in sides:
        compared, other = (side.texts, side.ids) if on_texts else (side.ids, side.texts)
        has, lacks = ("ids", "texts") if on_texts else ("texts", "ids")
        problem = f"without {lacks} of the documents in {side.path!r}, whose {has} are there"
        fix = "Log ids of both sides in all records, or texts of both"
        refuse(_lacking(table, compared, other), problem, fix, queries)


def _lacking(table: pl.DataFrame, compared: Lists | None, other: Lists | None) -> pl.DataFrame:
    """The records that lack what is compared, ids or texts, and have the other."""
    if compared is None or other is None:
        return table.clear()
    lacks, has = (each.value.list.len().fill_null(0) if each.depth else pl.lit(0) for each in (compared, other))
    return table.filter((lacks == 0) & (has > 0))


def _values(table: pl.DataFrame, lists: Lists | None) -> pl.Series:
    """The values of lists, as texts."""
    if lists is None:
        return pl.Series(dtype=pl.String)
    values = table.select(lists.value).to_series()
    for _ in range(lists.depth):
        values = values.explode()
    return values.drop_nulls().cast(pl.String)


def field_of_ids(table: pl.DataFrame, side: Side, ids: pl.Series) -> str | None:
    """The field of objects with most of some ids, another in each object of a list; None where there is none."""
    fields = fields_of(side.raw.dtype)
    for path in paths_of(fields):
        each = field(fields, path, pl.element())
        # Numbers as those of pages are not compared with texts.
        if each is None or path in side.of_objects or each.dtype != pl.String:
            continue
        lists = side.raw.of(each.value, each.dtype)
        if _are_distinct(table, lists) and 2 * ids.is_in(_values(table, lists).implode()).sum() > len(ids):
            return path
    return None


def _are_distinct(table: pl.DataFrame, lists: Lists) -> bool:
    """True for lists in none of which a value repeats."""
    values = table.select(lists.value).to_series()
    for _ in range(lists.depth - 1):
        values = values.explode()
    return bool((values.list.n_unique() == values.list.len()).all())


def _any(table: pl.DataFrame, lists: Lists) -> bool:
    """True where a value of some lists is true."""
    return bool(table.select(_some(lists).any()).item())


def _some(lists: Lists) -> pl.Expr:
    """True for lists of which a value is true."""
    value = lists.value.list.eval(pl.element().list.any()) if lists.depth > 1 else lists.value
    return value.list.any()


def ids_alike(sides: Sequence[Side], *, on_texts: bool) -> list[pl.Expr]:
    """The lists of ids of each side, as text where one side has text; or those of texts that stand for them."""
    if on_texts:
        texts = [side.texts or side.ids for side in sides]
        return [each.of(normalised(pl.element().cast(pl.String))).value for each in texts if each]
    ids = [side.ids for side in sides if side.ids]
    kinds = {each.dtype.is_integer() for each in ids}
    return [(each.cast(pl.String) if len(kinds) > 1 and each.dtype.is_integer() else each).value for each in ids]


def scores_of(table: pl.DataFrame, found: Side | None, scores: str | Literal[False] | None) -> dict[str, pl.Expr]:
    """The lists of scores of the retrieved documents, as far as there are any."""
    if found is None or scores is False:
        return {}
    is_distance = scores is not None and fold(scores) in DISTANCES
    named = () if scores is None else (scores, *DISTANCES) if is_distance else (scores,)
    inner = fields_of(found.raw.dtype)
    paths = (*named, *(SCORES_OF_DOCUMENTS if scores is None or is_distance else ()))
    if score := first_field(inner, paths, pl.element()):
        numbers = _numbers(found.raw.of(score.value, score.dtype))
        if numbers is not None:
            return {SCORES: numbers}
    paths = (*named, *(LISTS_OF_SCORES if scores is None or is_distance else ()))
    beside = first_field(table.schema, paths)
    if beside is not None and depth_of(beside.dtype) == max(found.raw.depth, 1):
        numbers = _numbers(Lists(beside.value, innermost(beside.dtype), depth_of(beside.dtype)))
        if numbers is not None:
            return {SCORES: numbers}
    if scores is None:
        return {}
    known = [*table.columns, *(f"{found.path}[].{each}" for each in paths_of(inner))]
    says = f"has no scores {scores!r}, neither beside {found.path!r} nor in it; it has {quoted(known)}."
    raise ColumnError(says, about="source", near=nearest(scores, [*table.columns, *inner]))


def numbers_of(table: pl.DataFrame, found: Side | None, taken: Sequence[str]) -> dict[str, pl.Expr]:
    """The lists of other numbers of the retrieved documents, such as their tokens, by name.

    None that would be a column of another role in a run, or of the names taken. Of two of a name the one of the lesser
    depth counts, also where it is null. What is called as costs are may be texts of numbers, or a list of numbers
    beside that of the documents, as long in every record.
    """
    if found is None:
        return {}
    numbers: dict[str, tuple[int, pl.Expr]] = {}
    fields = fields_of(found.raw.dtype)
    for path in paths_of(fields):
        each, name, depth = field(fields, path, pl.element()), path.rpartition(".")[-1], path.count(".")
        free = name not in taken and fold(name) not in OF_ROLES and not is_rank(name)
        if each is None or not free or not (each.dtype.is_numeric() or words(name) & COSTS):
            continue
        value = _numbers(found.raw.of(each.value, each.dtype))
        if value is None:
            continue
        # Of texts one must be a number.
        if each.dtype == pl.String and not table.select((value.list.drop_nulls().list.len() > 0).any()).item():
            continue
        if name not in numbers or depth < numbers[name][0]:
            numbers[name] = depth, value
    values = {name: value for name, (_, value) in numbers.items()}
    for name, dtype in table.schema.items():
        if name in values or not depth_of(dtype) == found.raw.depth == 1 or not (words(name) & COSTS):
            continue
        of_document = pl.col(name).list.len().eq_missing(found.raw.value.list.len()).all()
        if innermost(dtype).is_numeric() and name != found.path and table.select(of_document).item():
            values[name] = pl.col(name)
    return values


def _numbers(lists: Lists) -> pl.Expr | None:
    """The lists of numbers, also of texts of them; None for others."""
    if lists.dtype == pl.String:
        return lists.of(pl.element().cast(pl.Float64, strict=False)).value
    return lists.value if lists.dtype.is_numeric() else None


def grades_of(table: pl.DataFrame, gold: Side) -> dict[str, pl.Expr]:
    """The lists of grades of the relevant documents, as far as there are any."""
    if isinstance(gold.raw.dtype, pl.Struct):
        fields = fields_of(gold.raw.dtype)
        name = find("source", "relevance", fields)
        return {} if name is None else {GRADES: gold.raw.of(pl.element().struct.field(name)).value}
    return {GRADES: pl.col(GRADES)} if isinstance(table.schema.get(GRADES), pl.List) else {}


def documents_of(
    table: pl.DataFrame, format: LogFormat, sides: Sequence[Side], *, on_texts: bool, dtype: pl.DataType
) -> pl.DataFrame | None:
    """The texts and other single values of documents; None where there are ids alone."""
    sources = [*sides]
    if format.candidates and (listed := field(table.schema, format.candidates)):
        sources.append(_side(table, listed, None))
    found = [rows for side in sources if (rows := _rows_of(table, side, on_texts=on_texts)) is not None]
    if not found:
        return None
    rows = pl.concat([rows.with_columns(pl.col("doc_id").cast(dtype)) for rows in found], how="diagonal_relaxed")
    rows = rows.drop_nulls("doc_id")
    rows = rows.unique("doc_id", keep="first", maintain_order=True)
    known = [name for name in rows.columns if rows[name].null_count() < rows.height]
    # Functions that take documents look for texts.
    has_texts = any(rows.schema[name] == pl.String for name in known if name != "doc_id")
    return rows.select(known) if has_texts else None


def _rows_of(table: pl.DataFrame, side: Side, *, on_texts: bool) -> pl.DataFrame | None:
    """A row for each document of one side, with its id, its text and its other single values."""
    if not isinstance(side.raw.dtype, pl.Struct):
        texts = side.texts or (side.ids if on_texts else None)
        if texts is None or texts.depth != 1:
            return None
        texts = texts.cast(pl.String)
        ids = texts.of(normalised(pl.element())) if on_texts or side.ids is None else side.ids
        rows = table.select(doc_id=ids.value, text=texts.value)
        return rows.filter(pl.col("doc_id").list.len() == pl.col("text").list.len()).explode("doc_id", "text")
    rows = table.select(document=side.raw.value)
    for _ in range(side.raw.depth):
        rows = rows.explode("document")
    fields, document = fields_of(side.raw.dtype), pl.col("document")
    id, text = (None if path is None else field(fields, path, document) for path in side.of_objects)
    taken = {path for path in side.of_objects if path} | {"doc_id", "text", *SCORES_OF_DOCUMENTS, *DISTANCES}
    taken |= {name for name in fields if ROLE_OF.get(fold(name)) in ("score", "relevance")}
    others = [
        document.struct.field(name)
        for name, dtype in fields.items()
        if name not in taken and not dtype.is_nested() and dtype != pl.Null and not is_rank(name)
    ]
    of_id = normalised(text.value) if on_texts and text else id.value if id else None
    if of_id is None or (text is None and not others):
        return None
    return rows.select(of_id.alias("doc_id"), *([text.value.alias("text")] if text else []), *others)


def without_field(table: pl.DataFrame, role: str, named: Mapping[str, str | None]) -> ColumnError:
    """The error for a field that was named and is not there."""
    fields = list(paths_of(table.schema))
    says = f"has no field {named[role]!r} ({role}); it has {quoted(fields)}."
    return ColumnError(says, about="source", near=nearest(str(named[role]), fields))


def unrecognised(table: pl.DataFrame, named: Mapping[str, str | None]) -> IRError:
    """The error for a log without records, or whose lists or queries are unknown, with the call that names them."""
    if table.is_empty():
        return DataError("has no records.", about="source")
    lists = [name for name, dtype in table.schema.items() if isinstance(dtype, pl.List)]
    given = {role: name for role, name in named.items() if name is not None}
    meant = lists_meant(table.columns, lists, given)
    source = caller().name("source")
    options = " ".join(
        f"--{role} {'...' if name is None else shlex.quote(name)}" for role, name in meant._asdict().items()
    )
    code = Code(f"ir.read_log({source if source == 'frame' else repr(source)}, {meant.named()})")
    fix = Fix("Say which they are", code, without_code=f"Say which they are: {options}")
    says = "is not a log of a known format, and has no known fields of queries and documents; it has "
    return ColumnError(f"{says}{quoted(list(paths_of(table.schema)))}.", about="source", fix=fix)


def _without_ids(
    path: str,
    ids: str | None,
    fields: Mapping[str, pl.DataType],
    says: str = "",
    other: Mapping[str, pl.DataType] = MappingProxyType({}),
) -> ColumnError:
    """The error for objects without ids and texts, or without the field that was named; `other` are those beside."""
    listed = list(paths_of(fields))
    says = says or f"has no field {ids!r} in the objects of {path!r}"
    has = f"; they have {quoted(listed)}" if listed else ""
    single = [each for each in listed if (found := field(fields, each)) and could_be("doc_id", found.dtype)]
    # One name is that of the ids on both sides.
    near = nearest(ids, listed) if ids else ""
    single = [each for each in single if (not ids or near) and (not other or field(other, each))]
    single.sort(key=lambda name: not words(name) & (WORDS_OF_DOCUMENTS | WORDS_OF_IDS))
    fix = Fix("Log ids on both sides, or texts, in fields of the same name")
    fix = Fix("Name the field of their ids", Setting("ids", single[0])) if single else fix
    return ColumnError(f"{says}{has}.", about="source", near=near, fix=fix)
