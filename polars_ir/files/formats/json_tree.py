"""JSON as a tree whose numbers are stored in columns.

Conventions: objects whose values are all numbers, which hold nearly all of a run, become two columns of all their keys
and values, so that a large file takes about five times its size in memory and no more. A key that is repeated in an
object, of which JSON readers keep only the last, is kept as such: the reader of the object reports the position.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any, TypeAlias

import polars as pl

from polars_ir.errors import FileError, option
from polars_ir.files.finding.file import File
from polars_ir.files.formats.record import Role
from polars_ir.files.rows.blanks import Words
from polars_ir.files.rows.unreadable import FAILURES, unreadable

#: Number of values kept as Python objects before they are appended to a column.
_PIECE = 100_000

#: Longest integer, in characters, that fits Int64.
_LONGEST = 20

NOTHING = "the file is empty: no query has documents."

#: Fields of judgments that are not grades.
_NO_GRADES = ("id", "_id", "_index", "docId", "query", "name")


@dataclass(frozen=True)
class Numbers:
    """An object whose values are all numbers: those from `start` to `stop` of the tree's columns."""

    start: int
    stop: int


@dataclass(frozen=True)
class Repeated:
    """An object with a repeated key."""

    key: str


@dataclass
class Tree:
    """A JSON value, with the keys and values of all objects of numbers in it."""

    root: Any = None
    words: Words | None = None
    keys: list[pl.Series] = field(default_factory=list)
    values: list[pl.Series] = field(default_factory=list)
    _keys: list[str] = field(default_factory=list)
    _values: list[int | float] = field(default_factory=list)
    _count: int = 0

    def object(self, pairs: Sequence[tuple[str, Any]]) -> Any:
        """An object of the file as a node of the tree."""
        if self.words:
            pairs = [(key, _number(self.words, key, value)) for key, value in pairs]
        keys, values = zip(*pairs, strict=True) if pairs else ((), ())
        if len(set(keys)) < len(keys):
            return Repeated(Counter(keys).most_common(1)[0][0])
        if not pairs or not set(map(type, values)) <= {int, float}:
            return dict(pairs)
        self._keys.extend(keys)
        self._values.extend(values)
        self._count += len(keys)
        if len(self._keys) >= _PIECE:
            self.cut()
        return Numbers(self._count - len(keys), self._count)

    def cut(self) -> None:
        """Append the gathered numbers to the columns."""
        dtype = pl.Int64 if set(map(type, self._values)) <= {int} else pl.Float64
        self.keys.append(pl.Series(self._keys, dtype=pl.String))
        self.values.append(pl.Series(self._values, dtype=dtype))
        self._keys, self._values = [], []

    def numbers(self, node: Numbers) -> dict[str, int | float]:
        """An object of numbers, restored."""
        return dict(self._pairs[node.start : node.stop].rows())

    @cached_property
    def _pairs(self) -> pl.DataFrame:
        return self.columns("key", "value")

    def columns(self, key: str, value: str) -> pl.DataFrame:
        """The two columns, under these names; the values are Int64 if all are written as integers, else Float64."""
        pieces = zip(self.keys, self.values, strict=True)
        return pl.concat([pl.DataFrame({key: keys, value: values}) for keys, values in pieces], how="vertical_relaxed")


def load(file: File, words: Words | None = None) -> Tree:
    """A file's JSON value, with grades in words as numbers."""
    tree = Tree(words=words)
    decoder = json.JSONDecoder(object_pairs_hook=tree.object, parse_constant=float, parse_int=_whole)
    text = text_of(file)
    try:
        tree.root = decoder.decode(text)
    except json.JSONDecodeError as error:
        around = error.doc[max(error.pos - 30, 0) : error.pos + 30]
        ndjson = option("format", "ndjson")
        hint = f" Is it one JSON value a line? Then say {ndjson}." if error.msg == "Extra data" else ""
        problem = f"this is not JSON at column {error.colno}: {error.msg}.{hint}"
        raise FileError.at_line(file, error.lineno, around, problem) from None
    except RecursionError:
        raise FileError.of_file(file, "the JSON is nested too deeply to be a run or judgments.") from None
    tree.cut()
    return tree


#: Query id, document id, and the value read as score or grade.
Row: TypeAlias = tuple[Any, Any, Any]


def frame_of(file: File, rows: Sequence[Row], role: Role) -> pl.DataFrame:
    """The rows of a file as a table; grades are Int64 if all are whole."""
    if not rows:
        raise FileError.of_file(file, NOTHING)
    name, is_whole = "score", False
    if role == "qrels":
        name, is_whole = "relevance", all(isinstance(value, int | None) for *_, value in rows)
    schema = {"query_id": pl.String, "doc_id": pl.String, name: pl.Int64 if is_whole else pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row", strict=False)


def text_of(file: File) -> str:
    """A file's text without byte-order mark; an error for an empty file."""
    # Polars decompresses and fetches; the text of JSON has no line breaks but between its tokens.
    lines = pl.scan_lines(file, name="text", glob=False)
    try:
        text = "\n".join(lines.collect(engine="streaming").to_series().to_list()).removeprefix("\ufeff")
    except FAILURES as error:
        raise unreadable(file, error) from None
    if not text.strip():
        raise FileError.empty(file)
    return text


def inside(node: Any, *keys: str) -> Any:
    """The value at a path of keys; None where there is none."""
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def described(value: Any) -> str:
    """A value of a tree in a message."""
    if isinstance(value, Numbers):
        return "an object of numbers"
    if isinstance(value, dict | Repeated):
        return "an object"
    return "a list" if isinstance(value, list) else f"{json.dumps(value):.80}"


def _number(words: Words, key: str, value: Any) -> Any:
    """The number of a grade in words; any other value as it is."""
    if not isinstance(value, str) or key in _NO_GRADES or value not in words.words:
        return value
    number = words.numbers[words.words.index(value)]
    return int(number) if isinstance(number, Integral) else float(number)


def _whole(text: str) -> int | float:
    number = int(text) if len(text) <= _LONGEST else None
    return number if number is not None and -(2**63) <= number < 2**63 else float(text)
