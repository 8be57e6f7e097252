"""The fields of a log in their roles: the query, the retrieved and the relevant documents, by ids or by texts.

Conventions: texts that stand for ids are equal after NFC, trimmed, with one blank for white space. Both sides are
compared by ids where both have them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from polars_ir.errors import Code, ColumnError, Fix, Setting, caller, fold, nearest, quoted
from polars_ir.frames.guesses import DOCUMENTS as WORDS_OF_DOCUMENTS
from polars_ir.frames.guesses import IDS as WORDS_OF_IDS
from polars_ir.frames.guesses import lists_meant, words
from polars_ir.frames.roles import ROLE_OF, could_be, find, is_rank
from polars_ir.inputs.fields import Field, depth_of, field, fields_of, first_field, innermost, paths_of
from polars_ir.inputs.from_lists import DISTANCES, read_lists
from polars_ir.inputs.log_formats import IDS, LISTS_OF_SCORES, OWN, SCORES_OF_DOCUMENTS, TEXTS, LogFormat
from polars_ir.inputs.spans import DOCUMENTS

#: The columns of lists of scores and of grades, which `tables_of` finds by these names.
SCORES, GRADES = "scores", "grades"


class Lists(NamedTuple):
    """Lists of values: their expression, the type of the values, and the number of lists around each."""

    value: pl.Expr
    dtype: pl.DataType
    depth: int = 1

    def of(self, value: pl.Expr, dtype: pl.DataType | None = None) -> Lists:
        """The lists of something of each value, which is `pl.element()`."""
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
    single = {name: dtype for name, dtype in table.schema.items() if not isinstance(dtype, pl.List)}
    questions = [each for path in format.question if (each := field(single, path)) and each.dtype == pl.String]
    question = questions[0] if questions else None
    if (path := named["query"]) is None:
        return first_field(single, format.query) or question, question
    if (query := field(table.schema, path)) is None:
        raise without_field(table, "query", named)
    if question is not None and query.path == question.path:
        return question, question
    return query, question


def side_of(
    table: pl.DataFrame, format: LogFormat, role: Literal["retrieved", "relevant"], named: Mapping[str, str | None]
) -> Side | None:
    """One side of a log, or None where it has none."""
    given = named[role]
    paths = ((given,), ()) if given else (getattr(format, role), getattr(format, f"{role}_texts"))
    raw, beside = (first_field(table.schema, each) for each in paths)
    if given and raw is None:
        raise without_field(table, role, named)
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
    if dtype == pl.String and table.select(value.str.starts_with("[{").all() & value.count().gt(0)).item():
        value, dtype = value.str.json_decode(DOCUMENTS), DOCUMENTS
    raw = Lists(value, innermost(dtype), depth_of(dtype))
    if not isinstance(raw.dtype, pl.Struct) or not raw.depth:
        # Also of a single object, which the check of lists refuses.
        of_ids = raw.cast(pl.String) if raw.dtype == pl.Null else raw
        return Side(found.path, raw, _whole(table, of_ids), None)
    fields = fields_of(raw.dtype)
    id = _used(table, raw, fields, (ids,) if ids and (strict or field(fields, ids)) else IDS)
    if ids and id is None and strict:
        raise _without_ids(found.path, ids, fields)
    text = _used(table, raw, fields, TEXTS)
    lists = [None if each is None else raw.of(each.value, each.dtype) for each in (id, text)]
    ids_of, texts_of = lists
    paths = (id and id.path, text and text.path)
    return Side(found.path, raw, None if ids_of is None else _whole(table, ids_of), texts_of, paths)


def _used(table: pl.DataFrame, raw: Lists, fields: Mapping[str, pl.DataType], paths: Sequence[str]) -> Field | None:
    """The first field of objects that holds single values, and not nulls alone."""
    for path in paths:
        each = field(fields, path, pl.element())
        if each is None or each.dtype.is_nested() or each.dtype == pl.Null:
            continue
        values = raw.of(each.value.is_not_null()).value
        values = values.list.eval(pl.element().list.any()) if raw.depth > 1 else values
        some = table.select(values.list.any().any(), objects=raw.value.list.len().sum())
        if some.item(0, 0) or not some.item(0, 1):
            return each
    return None


def _whole(table: pl.DataFrame, lists: Lists) -> Lists:
    """Lists of floats that are all whole as integers, which they were before a null stood beside them."""
    if not lists.dtype.is_float() or not lists.depth:
        return lists
    broken = lists.of(pl.element() % 1 != 0).value
    broken = broken.list.eval(pl.element().list.any()) if lists.depth > 1 else broken
    return lists if table.select(broken.list.any().any()).item() else lists.cast(pl.Int64)


def by_text(table: pl.DataFrame, sides: Sequence[Side]) -> bool:
    """True where texts stand for ids: where a side has no others, or where lists of plain texts hold blanks."""
    if all(side.ids for side in sides):
        if not all(side.plain for side in sides) or len(sides) == 1:
            return False
        blank = pl.element().str.contains(" ", literal=True)
        return any(_any(table, side.raw.of(blank)) for side in sides)
    if all(side.texts or side.plain for side in sides):
        return True
    lacks = next(side for side in sides if not side.ids)
    has = "texts alone" if lacks.texts else "neither ids nor texts"
    fields = fields_of(lacks.raw.dtype)
    others = f", and {next(side for side in sides if not side.texts).path!r} ids" if lacks.texts else ""
    raise _without_ids(lacks.path, None, fields, f"has {has} in {lacks.path!r}{others}")


def _any(table: pl.DataFrame, lists: Lists) -> bool:
    """True where a value of some lists is true."""
    value = lists.value.list.eval(pl.element().list.any()) if lists.depth > 1 else lists.value
    return bool(table.select(value.list.any().any()).item())


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
    if (score := first_field(inner, paths, pl.element())) and score.dtype.is_numeric():
        return {SCORES: found.raw.of(score.value).value}
    paths = (*named, *(LISTS_OF_SCORES if scores is None or is_distance else ()))
    lists = first_field(table.schema, paths)
    if lists is not None and innermost(lists.dtype).is_numeric() and depth_of(lists.dtype) == max(found.raw.depth, 1):
        return {SCORES: lists.value}
    if scores is None:
        return {}
    known = [*table.columns, *(f"{found.path}[].{each}" for each in paths_of(inner))]
    says = f"has no scores {scores!r}, neither beside {found.path!r} nor in it; it has {quoted(known)}."
    raise ColumnError(says, about="source", near=nearest(scores, [*table.columns, *inner]))


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


def unrecognised(table: pl.DataFrame, named: Mapping[str, str | None]) -> ColumnError:
    """The error for a log whose lists or queries are not recognised, with the call that names them."""
    lists = [name for name, dtype in table.schema.items() if isinstance(dtype, pl.List)]
    given = {role: name for role, name in named.items() if name is not None}
    meant = lists_meant(table.columns, lists, given)
    source = caller().name("source")
    options = " ".join(f"--{role} {name or '...'}" for role, name in meant._asdict().items())
    code = Code(f"ir.read_log({source if source == 'frame' else repr(source)}, {meant.named()})")
    fix = Fix("Say which they are", code, without_code=f"Say which they are: {options}")
    says = "is no log of a known format, and has no known fields of queries and documents; it has "
    return ColumnError(f"{says}{quoted(list(paths_of(table.schema)))}.", about="source", fix=fix)


def _without_ids(path: str, ids: str | None, fields: Mapping[str, pl.DataType], says: str = "") -> ColumnError:
    """The error for objects without ids and texts, or without the field that was named."""
    listed = list(paths_of(fields))
    says = says or f"has no field {ids!r} in the objects of {path!r}"
    has = f"; they have {quoted(listed)}" if listed else ""
    single = [each for each in listed if (found := field(fields, each)) and could_be("doc_id", found.dtype)]
    single.sort(key=lambda name: not words(name) & (WORDS_OF_DOCUMENTS | WORDS_OF_IDS))
    fix = Fix("Name the field of their ids", Setting("ids", single[0])) if single else Fix("Log ids on both sides")
    return ColumnError(f"{says}{has}.", about="source", near=nearest(ids, listed) if ids else "", fix=fix)
