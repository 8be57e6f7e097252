"""Texts of documents and queries, where their user has them, beside the ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from polars_ir.errors import ColumnError, quoted
from polars_ir.frames.columns import ROLES, fold
from polars_ir.frames.kinds import to_polars

#: What ids are called in files of texts, besides the names of their role: BEIR's and others'.
IDS = ("_id", "id")

#: What texts are called; a title stands before the text.
TEXT, TITLE = ("text", "contents", "body", "passage", "query", "description"), "title"


def with_text(frame: pl.DataFrame, texts_given: Any, table: str, role: str, column: str, name: str) -> pl.DataFrame:
    """The frame with the texts of the ids in `column` behind it, as `name`; null where there is none."""
    if texts_given is None:
        return frame
    ids = frame.select(pl.col(column).cast(pl.String).alias("polars_ir: id"))
    texts = _texts(texts_given, table, role, ids["polars_ir: id"].unique())
    joined = ids.join(texts, left_on="polars_ir: id", right_on="id", how="left", maintain_order="left")
    return frame.insert_column(frame.columns.index(column) + 1, joined["text"].alias(name))


def _texts(source: Any, table: str, role: str, ids: pl.Series) -> pl.DataFrame:
    """`id` and `text` (String) of the ids that are wanted."""
    if isinstance(source, Mapping) and all(isinstance(text, str | None) for text in source.values()):
        entries = [(id, source[id]) for id in source if str(id) in set(ids)]
        return pl.DataFrame(
            {"id": [str(id) for id, _ in entries], "text": [text for _, text in entries]},
            schema={"id": pl.String, "text": pl.String},
        )
    if isinstance(source, Mapping) and all(isinstance(parts, Mapping) for parts in source.values()):
        source = _of_parts(source)
    frame = to_polars(table, source, column="text")
    schema = frame.collect_schema()
    id = _first(schema, (*ROLES[role], *IDS))
    texts = [name for name in schema if schema[name] == pl.String and name != id]
    text, title = _first(texts, TEXT), _first(texts, (TITLE,))
    shown = [pl.col(name) for name in (title, text or (None if title else next(iter(texts), None))) if name]
    if id is None or not shown:
        lacks = "ids" if id is None else "texts"
        names = (*ROLES[role], *IDS) if id is None else (TITLE, *TEXT)
        says = f"has no column of {lacks} (recognised names: {', '.join(names)}); it has {quoted(schema.names())}."
        raise ColumnError(says, about=table)
    rows = frame.lazy().select(
        pl.col(id).cast(pl.String).alias("id"), text=pl.concat_str(shown, separator=" ", ignore_nulls=True)
    )
    rows = rows.filter(pl.col("id").is_in(ids.implode()))
    return rows.unique("id", keep="first", maintain_order=True).collect().with_columns(pl.col("text").str.strip_chars())


def _of_parts(corpus: Mapping[Any, Mapping[str, Any]]) -> pl.DataFrame:
    """`{id: {"title": ..., "text": ...}}`, as BEIR holds a corpus, as a frame."""
    names = dict.fromkeys(str(name) for parts in corpus.values() for name in parts)
    rows = [{"_id": str(id), **{name: parts.get(name) for name in names}} for id, parts in corpus.items()]
    return pl.DataFrame(rows, strict=False, infer_schema_length=None)


def _first(columns: Any, names: tuple[str, ...]) -> str | None:
    """The column that has the first of these names that any has."""
    by_name = {fold(column): column for column in columns}
    return next((by_name[fold(name)] for name in names if fold(name) in by_name), None)
