"""Runs and judgments in JSON: objects in objects, as pytrec_eval, ranx and MTEB have them.

Conventions: `{query: {document: score}}`; MTEB's predictions are those of each split of each subset, beside a
description of the model. A query without documents leaves no row in a run; in judgments it leaves one that says that it
was judged. What search engines answer is JSON as well, see `elasticsearch`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any

import polars as pl

from polars_ir.errors import Code, FileError, Fix, reading
from polars_ir.files.finding.file import File
from polars_ir.files.formats import answers, elasticsearch, trec
from polars_ir.files.formats.json_tree import NOTHING, Numbers, Repeated, Tree, described, load
from polars_ir.files.formats.record import Format, Role, Whole, Writer
from polars_ir.files.rows.blanks import Words, hint_of_words
from polars_ir.files.writing.checks import (
    check_any,
    check_finite,
    check_judged_once,
    check_once,
    check_precise,
    sink_fields,
)
from polars_ir.frames.canonical_frame import CanonicalFrame

#: Keys by level, down to the documents.
_QUERIES = {"query_id": "query"}
_MTEB = {"subset": "subset", "split": "split", "query_id": "query"}

#: The key under which MTEB describes the model.
_META = "mteb_model_meta"

#: Start of JSON. An id can begin so, too; then TREC's number follows.
_BEGINNINGS: dict[Role, re.Pattern[str]] = {
    role: re.compile(rf"(?!{line})[\[{{]\s*([\[{{}}\]\"]|$)") for role, line in trec.LINES.items()
}

_VALUES: dict[Role, str] = {"run": "score", "qrels": "relevance"}


def read(file: File, role: Role, words: Words | None = None) -> pl.DataFrame:
    """A file in memory, with grades in words as numbers."""
    try:
        return _read(file, role, words)
    except UnicodeEncodeError as error:
        # JSON can write unpaired surrogates, which are no text.
        raise FileError.of_file(file, f"an id is not text: {error.object!r:.80} has an unpaired surrogate.") from None


def _read(file: File, role: Role, words: Words | None) -> pl.DataFrame:
    tree = load(file, words)
    if elasticsearch.kind(tree.root):
        return elasticsearch.read(file, tree, role)
    if (found := answers.read(file, tree, role)) is not None:
        return found
    if role == "qrels" and isinstance(tree.root, dict) and _META in tree.root:
        raise FileError.of_file(file, f"these are predictions of MTEB, which are a run; {reading('run')}.")
    levels = _levels(tree.root)
    objects = list(_objects(file, tree.root, levels, role))
    if not objects:
        raise FileError.of_file(file, NOTHING)
    frame = _rows(tree, objects, list(levels), role)
    _check_finite(file, frame, levels, role)
    return frame


def _levels(root: Any) -> dict[str, str]:
    """The keys of the objects, level by level; MTEB has two levels more."""
    if not isinstance(root, dict):
        return _QUERIES
    first = _first_of({key: value for key, value in root.items() if key != _META})
    for _ in range(2):
        first = _first_of(first)
    return _MTEB if _META in root or isinstance(first, Numbers) else _QUERIES


def _first_of(node: Any) -> Any:
    """The first value of an object that is not empty."""
    return next((value for value in node.values() if value != {}), None) if isinstance(node, dict) else None


def _objects(
    file: File, node: Any, levels: dict[str, str], role: Role, keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Numbers | None]]:
    """The objects that hold documents, each with its path of keys; None for one without documents."""
    place = ", ".join(f"{name} {key!r:.80}" for name, key in zip(levels.values(), keys, strict=False)) or "the whole"
    below = [*levels.values(), "document"][len(keys)]
    if isinstance(node, Repeated):
        problem = f"{place}: the {below} {node.key!r:.80} occurs twice. Leave one out."
        raise FileError.of_file(file, problem)
    if len(keys) == len(levels) and (isinstance(node, Numbers) or node == {}):
        yield keys, node or None
    elif len(keys) < len(levels) and isinstance(node, dict):
        for key, value in node.items():
            if keys or key != _META:
                yield from _objects(file, value, levels, role, (*keys, key))
    else:
        raise _misplaced(file, place, node, below, role)


def _misplaced(file: File, place: str, node: Any, below: str, role: Role) -> FileError:
    """The error for a value of another kind than its place in the tree has."""
    value = _VALUES[role].replace("relevance", "grade")
    if below == "document" and isinstance(node, dict):
        document, got = next((key, one) for key, one in node.items() if type(one) not in (int, float))
        hint = hint_of_words(got) if role == "qrels" else ""
        return FileError.of_file(
            file, f"{place}, document {document!r:.80}: a {value} must be a number; got {described(got)}.{hint}"
        )
    inner = f"{{document: {value}}}" if below == "document" else f"{{query: {{document: {value}}}}}"
    is_rows = isinstance(node, list) and place == "the whole"
    rows = Code(f"pl.read_json({str(file)!r})")
    fix = Fix("If they are rows, read them", rows, without_code="If they are rows, write one a line, as NDJSON")
    problem = f"{place} must be an object, {inner}; got {described(node)}."
    return FileError.of_file(file, problem, fix=fix if is_rows else None)


def _rows(
    tree: Tree, objects: list[tuple[tuple[str, ...], Numbers | None]], levels: list[str], role: Role
) -> pl.DataFrame:
    """A row for every document; in judgments also one for every query without."""
    value = _VALUES[role]
    columns = tree.columns("doc_id", value)
    spans = pl.DataFrame(
        [(*keys, span.start, span.stop) for keys, span in objects if span],
        schema=dict.fromkeys(levels, pl.String) | {"start": pl.Int64, "stop": pl.Int64},
        orient="row",
    )
    rows = spans.select(*levels, pl.int_ranges("start", "stop").alias("row")).explode("row")
    frame = rows.drop("row").hstack(columns[rows["row"]])
    if role == "run":
        return frame.with_columns(pl.col(value).cast(pl.Float64))
    nothing = pl.DataFrame(
        [keys for keys, span in objects if not span], schema=dict.fromkeys(levels, pl.String), orient="row"
    )
    return pl.concat([frame, nothing], how="diagonal")


def _check_finite(file: File, frame: pl.DataFrame, levels: dict[str, str], role: Role) -> None:
    """Raise a `FileError` for NaN and the infinities, which are no numbers of JSON."""
    # A number that is too large for Float64 is an infinity here.
    wrong = frame.filter(pl.col(_VALUES[role]).cast(pl.Float64).is_finite().not_()).head(1).to_dicts()
    for row in wrong:
        place = ", ".join(f"{name} {row[column]!r:.80}" for column, name in (levels | {"doc_id": "document"}).items())
        value = _VALUES[role].replace("relevance", "grade")
        raise FileError.of_file(
            file, f"{place}: a {value} must be a finite number; got {json.dumps(row[_VALUES[role]])}."
        )


def _sink(frame: pl.LazyFrame, file: IO[bytes] | str, **options: Any) -> None:
    sink_fields(pl.LazyFrame({"": _lines(frame)}), file, **options)


def _lines(frame: pl.LazyFrame) -> Iterator[str]:
    """The lines of `{query: {document: value}}`, of a frame with these columns; no document is an empty query."""
    queries = frame.group_by(pl.first(), maintain_order=True).agg(pl.all()).collect(engine="streaming")
    yield "{"
    for number, (query, documents, values) in enumerate(queries.iter_rows(), start=1):
        of_query = {
            str(document): value for document, value in zip(documents, values, strict=True) if document is not None
        }
        comma = "," if number < queries.height else ""
        # A number of JSON is a float to all that read it, so that a Decimal becomes one.
        rows = json.dumps(of_query, ensure_ascii=False, default=float)
        yield f"{json.dumps(str(query), ensure_ascii=False)}: {rows}{comma}"
    yield "}"


def _scores(table: CanonicalFrame, _tag: str) -> list[pl.LazyFrame]:
    check_finite(table)
    check_precise(table)
    check_any("run", table.select("query_id"))
    rows = table.select("query_id", "doc_id", "score").sort("query_id", "score", descending=[False, True])
    check_once("run", rows, ["query_id", "doc_id"], "Keep one of each, or write a table (.parquet, .csv).")
    return [rows]


def _grades(table: CanonicalFrame, _tag: str) -> list[pl.LazyFrame]:
    check_any("qrels", table.select("query_id"))
    check_judged_once(table.all_columns(), ["query_id", "doc_id"])
    return [table.select("query_id", "doc_id", "relevance")]


JSON = Format(
    "json",
    {
        "run": (
            "{query: {document: score}} as of pytrec_eval and ranx, MTEB's predictions, or the _rank_eval response or "
            "{query: search response} of Elasticsearch and OpenSearch, Solr and Vespa, or {query: [document, ...]}"
        ),
        "qrels": (
            "{query: {document: grade}}, or the _rank_eval request of Elasticsearch and OpenSearch (the response has "
            "ratings too, but only of what was found), judgments of Search Relevance Workbench and the Rated Ranking "
            "Evaluator, or {query: [relevant document, ...]}"
        ),
    },
    Whole(read),
    Writer({"run": _scores, "qrels": _grades}, _sink),
    {"run": '{"q1": {"d3": 14.5, "d1": 9.25}}\n', "qrels": '{"q1": {"d1": 2, "d2": 0}}\n'},
    extensions=(".json",),
    is_first_line={role: beginning.match for role, beginning in _BEGINNINGS.items()},
)
