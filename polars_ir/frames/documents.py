"""Documents with their texts, in any form, as a frame of `doc_id` and `text`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from polars_ir.errors import SHOWN, Code, ColumnError, DataError, DtypeError, Fix, InputTypeError, fold
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.roles import ROLES, TEXT, find
from polars_ir.frames.table import fitting

#: Names of ids where no column is called as those of runs are, and those of texts, the first that is there.
IDS, TEXTS = ("id", "_id"), ("text", "contents", "content", "body", "passage", "document")


def documents_of(documents: Any) -> tuple[pl.DataFrame, str]:
    """The ids and texts of documents in memory, and the name of the column of ids; each id once."""
    if isinstance(documents, Mapping) and all(isinstance(text, str) for text in documents.values()):
        try:
            frame: Any = pl.DataFrame({"doc_id": list(documents), "text": list(documents.values())})
        except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
            raise InputTypeError.mixed("documents", "ids", error) from None
    elif isinstance(documents, list | tuple) and documents and all(isinstance(text, str) for text in documents):
        numbered = Fix("Number them", Code("dict(enumerate(documents))"))
        raise InputTypeError("has texts without ids.", about="documents", fix=numbered)
    else:
        frame = to_polars("documents", documents, column="text")
    schema = frame.collect_schema()
    folded = {fold(name): name for name in reversed(schema.names())}
    name = find("documents", "doc_id", schema) or next(
        (folded[each] for each in map(fold, IDS) if each in folded), None
    )
    text = next((folded[each] for each in TEXTS if each in folded), None)
    if name is None:
        raise ColumnError.missing("documents", "doc_id", (*ROLES["doc_id"].names, *IDS), schema.names())
    if text is None:
        raise ColumnError.missing("documents", "text", TEXTS, schema.names(), [each for each in schema if each != name])
    if not isinstance(schema[text], (*TEXT, pl.Null)):
        cast = Fix("Cast it", Code.casting("documents", text, pl.String))
        raise DtypeError.of_column("documents", text, "strings", schema[text], cast)
    ids = pl.col(name).cast(fitting("documents", "doc_id", name, schema[name], frame))
    rows: pl.DataFrame = frame.lazy().select(doc_id=ids, text=pl.col(text).cast(pl.String)).collect()
    for wrong, problem, fix in (
        (pl.col("doc_id").is_null(), f"whose {name!r} is null", "Leave them out"),
        (pl.col("doc_id").is_duplicated(), f"whose {name!r} is that of another", "Keep one row of each"),
    ):
        if (bad := rows.filter(wrong)).height:
            raise DataError.rows("documents", problem, fix, bad.height, bad.rename({"doc_id": name}).head(SHOWN))
    return rows, name
