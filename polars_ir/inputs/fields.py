"""Fields by their paths: `node.id_` of a struct, also where a name itself holds points, or a text is a JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_ir.errors import SHOWN, DataError, fold
from polars_ir.frames.guesses import only

#: The levels of nested fields that an error lists.
DEEPEST = 3


class Field(NamedTuple):
    """A field: its path as it is written in the table, its value, and its type."""

    path: str
    value: pl.Expr
    dtype: pl.DataType


def field(fields: Mapping[str, pl.DataType], path: str, within: pl.Expr | None = None) -> Field | None:
    """The field at a path, of columns or of a struct; None where there is none.

    Names agree without case, `-` and `_` where none agrees exactly.

    >>> node = pl.Struct({"node": pl.Struct({"id_": pl.String})})
    >>> field(node.to_schema(), "node.id_", pl.element()).dtype
    String
    """
    words = path.split(".")
    for count in range(len(words), 0, -1):
        wanted, rest = ".".join(words[:count]), ".".join(words[count:])
        name = wanted if wanted in fields else only(each for each in fields if fold(each) == fold(wanted))
        if name is None:
            continue
        value, dtype = pl.col(name) if within is None else within.struct.field(name), fields[name]
        if not rest:
            return Field(name, value, dtype)
        if below := field(fields_of(dtype), rest, value):
            return below._replace(path=f"{name}.{below.path}")
        if dtype == pl.String and fold(name).endswith("metadata"):
            return Field(f"{name}.{rest}", value.str.json_path_match(f"$.{rest}"), pl.String())
    return None


def first_field(fields: Mapping[str, pl.DataType], paths: Sequence[str], within: pl.Expr | None = None) -> Field | None:
    """The first of some fields that there is."""
    return next((found for path in paths if (found := field(fields, path, within))), None)


def fields_of(dtype: pl.DataType) -> dict[str, pl.DataType]:
    """The fields of a struct; none of another type."""
    return dict(dtype.to_schema()) if isinstance(dtype, pl.Struct) else {}  # type: ignore[arg-type]  # never a class


def depth_of(dtype: pl.DataType) -> int:
    """The number of lists around a value: 2 for lists of lists."""
    return 1 + depth_of(dtype.inner) if isinstance(dtype, pl.List) else 0  # type: ignore[arg-type]  # never a class


def innermost(dtype: pl.DataType) -> pl.DataType:
    """The type of the values in lists, or in lists of lists."""
    return innermost(dtype.inner) if isinstance(dtype, pl.List) else dtype  # type: ignore[arg-type]  # never a class


def has(fields: Mapping[str, pl.DataType], mark: str) -> bool:
    """True where there is a field; of `a[].b` that of the elements of lists, of `a|b` one or the other."""
    if "|" in mark:
        return any(has(fields, each) for each in mark.split("|"))
    path, of_elements, rest = mark.partition("[].")
    found = field(fields, path)
    if found is None or not of_elements:
        return found is not None
    inner = innermost(found.dtype)
    return isinstance(found.dtype, pl.List) and has(fields_of(inner), rest)


def of_json(texts: pl.Series, path: str) -> pl.Series:
    """The values that texts hold as JSON; an error for texts that hold none, as those that were cut."""
    try:
        return texts.str.json_decode(infer_schema_length=None)
    except pl.exceptions.ComputeError:
        fix = "Write them as JSON, whole and with double quotes (json.dumps), or the log as JSON Lines or Parquet"
        # The root of a text that is no JSON is null, as that of null itself is.
        broken = texts.filter(texts.str.json_path_match("$").is_null() & (texts.str.strip_chars() != "null"))
        says = f"has texts in {path!r} that are not JSON, {len(broken):,} of {texts.count():,}."
        raise DataError(says, about="source", fix=fix, examples=f"{''.join(broken.head(1)):.80}") from None


def refuse(records: pl.DataFrame, problem: str, fix: str, *shown: pl.Expr | str) -> None:
    """Raise a `DataError` with the first of some records, if there are any."""
    if records.height:
        raise DataError.rows("source", problem, fix, records.height, records.select(shown).head(SHOWN))


def paths_of(fields: Mapping[str, pl.DataType], *, deepest: int = DEEPEST) -> Iterator[str]:
    """The paths of all fields, as `has` takes them."""
    for name, dtype in fields.items():
        inner = innermost(dtype)
        if (below := fields_of(inner)) and deepest > 1:
            brackets = "[]" * depth_of(dtype)
            yield from (f"{name}{brackets}.{each}" for each in paths_of(below, deepest=deepest - 1))
        else:
            yield name
