"""Records that are dicts, read as the lines of a file are, so that the same log has the same ids."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any

import polars as pl

from polars_ir.errors import InputTypeError
from polars_ir.files.rows.unreadable import FAILURES


def of_dicts(records: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """The records as a table: 7 beside "07" are texts, where a frame of dicts would make both 7."""
    lines = [_line(record) for record in records]
    try:
        return pl.read_ndjson("\n".join(lines).encode(), infer_schema_length=None)
    except FAILURES:
        pass
    try:
        # Of a text beside a list this reader makes lists.
        return pl.read_json(f"[{','.join(lines)}]".encode(), infer_schema_length=None)
    except FAILURES as error:
        says = f"mixes types in one of its fields: {str(error).splitlines()[0]}."
        raise InputTypeError(says, about="source", fix="Write each field in one form in all records") from None


def _line(record: dict[str, Any]) -> str:
    """The JSON of a record; what pandas has for a missing value is null."""
    line = json.dumps(record, default=_plain)
    return json.dumps(json.loads(line, parse_constant=lambda _: None)) if "NaN" in line or "Infinity" in line else line


def _plain(value: Any) -> Any:
    """A value that JSON has no form of: a time as ISO 8601, a number or an array of NumPy as those of Python."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if callable(plain := getattr(value, "tolist", None)):
        return plain()
    if isinstance(value, set | frozenset):
        says = f"holds a set, which has no order: {str(value)[:80]}."
        raise InputTypeError(says, about="source", fix="Keep the list that the set was made of")
    says = f"holds a {type(value).__name__}, which is neither an id nor a text, number, time, list or dict."
    raise InputTypeError(says, about="source", fix="Write it as a text")
