"""Judgments and results in JSON of search tools, other than Elasticsearch's own.

Conventions: these are lists of ids (`{query: [doc, ...]}`: a ranking, or the relevant documents, each of grade 1),
Solr's and Vespa's responses under their query ids, the judgments of OpenSearch's Search Relevance Workbench, and those
of the Rated Ranking Evaluator, documents by their grade (`{query: {grade: [doc, ...]}}`). Ids stay as they are written.
Hits without a score are ranked by their place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.finding.file import File
from polars_ir.files.formats.json_tree import Numbers, Row, Tree, described, frame_of, inside
from polars_ir.files.formats.record import Role
from polars_ir.files.rows.blanks import NUMERAL, hint_of_words

#: Placeholder of a hit without id.
NO_ID = ["no id"]


class Shape(NamedTuple):
    """A shape of JSON: its test, by the value of a query or the whole, and its rows."""

    role: Role | None
    is_one: Callable[[Any], bool]
    rows: Callable[[str, Any, Tree], Iterable[Row]]
    #: The field of the whole that holds the queries; without it they are its keys.
    queries: str = ""


def read(file: File, tree: Tree, role: Role) -> pl.DataFrame | None:
    """The rows of a file of one of the shapes; None of any other."""
    found = _shape(tree.root, role)
    if found is None:
        return None
    value = "score" if role == "run" else "relevance"
    rows = [_checked(file, row, value) for row in _rows(file, tree, found)]
    return frame_of(file, [row for row in rows if role == "qrels" or row[1] is not None], role)


def _shape(root: Any, role: Role) -> Shape | None:
    """The shape of a value, by its first query."""
    if not isinstance(root, dict):
        return None
    first = next(iter(root.values()), None)
    for shape in SHAPES:
        if shape.role in (None, role) and shape.is_one(root.get(shape.queries, first)):
            return shape if not shape.queries or shape.queries in root else None
    return None


def _rows(file: File, tree: Tree, shape: Shape) -> Iterator[Row]:
    """The rows of all queries; a `FileError` for a query of another shape."""
    if shape.queries:
        yield from shape.rows("", tree.root[shape.queries], tree)
        return
    for query, node in tree.root.items():
        if not shape.is_one(node):
            says = f"query {query!r:.80} is of another shape than the first: {described(node)}."
            raise FileError.of_file(file, says)
        yield from shape.rows(query, node, tree)


def _checked(file: File, row: Row, name: str) -> tuple[str, str | None, int | float | None]:
    """A row with ids that are texts and a finite number; a `FileError` for what is none."""
    query, document, value = row
    if document is NO_ID:
        raise FileError.of_file(file, f"query {query!r:.80}: an id must be a text; a hit or rating has none.")
    if isinstance(value, str) and NUMERAL.fullmatch(value):
        value = float(value)
    if document is None and value is None:
        return str(query), None, None
    if type(document) not in (str, int) or type(query) not in (str, int):
        raise FileError.of_file(file, f"query {query!r:.80}: an id must be a text; got {described(document)}.")
    if type(value) not in (int, float) or not math.isfinite(value):
        called = name.replace("relevance", "grade")
        says = f"query {query!r:.80}, document {document!r:.80}: a {called} must be a number; got {described(value)}."
        says += hint_of_words(value) if name == "relevance" else ""
        raise FileError.of_file(file, says)
    return str(query), str(document), value


def _fields(node: Any, tree: Tree) -> dict[str, Any]:
    """An object's fields; none for other values."""
    if isinstance(node, Numbers):
        # Among fractions an integer, as an id is, has become one.
        numbers = tree.numbers(node).items()
        return {key: int(value) if float(value).is_integer() else value for key, value in numbers}
    return node if isinstance(node, dict) else {}


def _ids(query: str, node: Any, _tree: Tree) -> Iterator[Row]:
    """A list of ids, best first."""
    yield from ((query, document, place) for place, document in zip(range(len(node), 0, -1), node, strict=True))


def _relevant(query: str, node: Any, _tree: Tree) -> Iterator[Row]:
    yield from ((query, document, 1) for document in node) if node else [(query, None, None)]


def _by_grade(query: str, node: Any, tree: Tree) -> Iterator[Row]:
    """Lists of ids by their grade; a word without a number is refused as the grade."""
    numbers = dict(zip(*tree.words, strict=True)) if tree.words else {}
    for grade, documents in node.items():
        number = numbers.get(grade, float(grade) if NUMERAL.fullmatch(grade) else grade)
        whole = isinstance(number, float) and number.is_integer()
        yield from ((query, document, int(number) if whole else number) for document in documents)


def _hits(query: str, hits: list[Any], tree: Tree, score: str) -> Iterator[Row]:
    """Hits with an `id`, and a score or, where none has one, a place."""
    each = [_fields(hit, tree) for hit in hits]
    scored = any(score in hit for hit in each)
    for place, hit in zip(range(len(each), 0, -1), each, strict=True):
        yield query, hit.get("id", NO_ID), hit.get(score) if scored else place


def _workbench(_query: str, node: Any, tree: Tree) -> Iterator[Row]:
    """The ratings of the queries of Search Relevance Workbench, which are known by their texts."""
    for one in node:
        fields = _fields(one, tree)
        ratings = [_fields(rating, tree) for rating in fields.get("ratings") or []]
        rows = [(fields.get("query"), rating.get("docId", NO_ID), rating.get("rating")) for rating in ratings]
        yield from rows or [(fields.get("query"), None, None)]


def _is_list_of_ids(node: Any) -> bool:
    return isinstance(node, list) and all(type(document) in (str, int) for document in node)


def _is_by_grade(node: Any) -> bool:
    is_object = isinstance(node, dict) and bool(node)
    return is_object and all(map(_is_list_of_ids, node.values()))


SHAPES = (
    Shape("run", _is_list_of_ids, _ids),
    Shape("qrels", _is_list_of_ids, _relevant),
    Shape("qrels", _is_by_grade, _by_grade),
    Shape(
        "run",
        lambda node: isinstance(inside(node, "response", "docs"), list),
        lambda query, node, tree: _hits(query, node["response"]["docs"], tree, "score"),
    ),
    Shape(
        "run",
        lambda node: isinstance(inside(node, "root"), dict),
        lambda query, node, tree: _hits(query, inside(node, "root", "children") or [], tree, "relevance"),
    ),
    Shape("qrels", lambda node: isinstance(node, list), _workbench, "judgmentRatings"),
)
