"""Responses of Elasticsearch and OpenSearch that name their queries.

Conventions: these are `_rank_eval` responses (the hits of each query, with the ratings of those that have one),
`_rank_eval` requests (all ratings), and search responses under their query ids, `{query: response}`. A search response
by itself, and those of `_msearch`, do not name their queries, which is an error that says how to do it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

import polars as pl

from polars_ir.errors import SHOWN, Code, FileError, Fix, reading, warn
from polars_ir.files.finding.file import File
from polars_ir.files.formats.json_tree import Numbers, Tree, described, frame_of, inside
from polars_ir.files.formats.record import Role
from polars_ir.files.rows.blanks import hint_of_words
from polars_ir.frames.nested import ranks_by_place

_Row = tuple[str, str | None, int | float | None]


def kind(root: Any) -> Literal["request", "rank_eval", "nameless", "searches"] | None:
    """The kind of a search engine's JSON value; None for something else."""
    if not isinstance(root, dict):
        return None
    if isinstance(root.get("requests"), list):
        return "request"
    details = root.get("details")
    if isinstance(details, dict) and all(isinstance(inside(one, "hits"), list) for one in details.values()):
        return "rank_eval"
    if _is_search(root) or isinstance(root.get("responses"), list):
        return "nameless"
    return "searches" if any(map(_is_search, root.values())) else None


def is_response(columns: pl.Schema) -> bool:
    """True for a table with the columns of search responses, a line each, or of `_msearch` responses."""
    hits, responses = columns.get("hits"), columns.get("responses")
    return isinstance(responses, pl.List) or (isinstance(hits, pl.Struct) and "hits" in hits.to_schema())


def nameless(file: File) -> FileError:
    """The error of search responses that do not name their queries."""
    words = "Save them under their ids"
    code = Code("json.dump(dict(zip(query_ids, responses)), file)")
    fix = Fix(words, code, without_code=f"{words}, as {{query_id: response}}")
    return FileError.of_file(file, "search responses do not say which queries they answer.", fix=fix)


def read(file: File, tree: Tree, role: Role) -> pl.DataFrame:
    """The hits of a response as a run, or its ratings as judgments."""
    _check_whole(file, tree)
    return frame_of(file, list((_run if role == "run" else _qrels)(file, tree.root)), role)


def _check_whole(file: File, tree: Tree) -> None:
    """Raise a `FileError` for queries that failed or were cut short, whose results only look whole."""
    failed = tree.root["failures"] if isinstance(tree.root.get("failures"), dict) else {}
    responses = {query: response for query, response in tree.root.items() if _is_search(response)}
    partial = [query for query, response in responses.items() if response.get("timed_out") or _lacks(response, tree)]
    if queries := [*failed, *partial]:
        shown = ", ".join(f"{query!r:.80}" for query in queries[:SHOWN])
        problem = f"queries that failed, timed out or miss shards: {len(queries)}, such as {shown}"
        raise FileError.of_file(file, f"{problem}. Search for them again.")


def _lacks(response: dict[str, Any], tree: Tree) -> bool:
    """True if some shards did not answer."""
    shards = response.get("_shards")
    return isinstance(shards, Numbers) and tree.numbers(shards).get("failed", 0) > 0


def _run(file: File, root: dict[str, Any]) -> Iterator[_Row]:
    response_kind = kind(root)
    if response_kind == "request":
        raise FileError.of_file(file, "this request has ratings only; the response of _rank_eval has the hits.")
    if response_kind == "rank_eval":
        hits = {query: [inside(hit, "hit") for hit in one["hits"]] for query, one in root["details"].items()}
    else:
        hits = {query: response["hits"]["hits"] for query, response in _searches(file, root).items()}
    for query, of_query in hits.items():
        is_sorted = ranks_by_place(of_query, [inside(hit, "_score") for hit in of_query])
        for place, hit in zip(range(len(of_query), 0, -1), of_query, strict=True):
            document = _document(file, query, hit)
            if is_sorted:
                yield query, document, place
                continue
            if hit.get("_score") is None:
                problem = "the hit has no score, as in a search that is sorted. Search with 'track_scores': true."
                raise FileError.of_file(file, f"query {query!r:.80}, document {document!r:.80}: {problem}")
            yield query, document, _number(file, query, document, hit["_score"], "score")


def _qrels(file: File, root: dict[str, Any]) -> Iterator[_Row]:
    response_kind = kind(root)
    if response_kind not in ("request", "rank_eval"):
        raise FileError.of_file(file, f"a search response has no ratings, but hits; {reading('run')}.")
    for query, ratings in (_all_ratings if response_kind == "request" else _ratings_of_hits)(file, root):
        for document, rating in ratings:
            yield query, document, _number(file, query, document, rating, "rating")
        if not ratings:
            # The query was judged nevertheless.
            yield query, None, None


def _all_ratings(file: File, root: dict[str, Any]) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    for request in root["requests"]:
        query, ratings = inside(request, "id"), inside(request, "ratings")
        if not isinstance(query, str) or not isinstance(ratings, list):
            raise FileError.of_file(file, "every request must have an id, which is a text, and a list of ratings.")
        yield query, [(_document(file, query, rating), rating.get("rating")) for rating in ratings]


def _ratings_of_hits(file: File, root: dict[str, Any]) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    warn(
        f"{file}: a _rank_eval response has only the ratings of documents that were found, so that recall, AP and nDCG "
        "come out too high. The request has all ratings: read that."
    )
    for query, detail in root["details"].items():
        hits = [(_document(file, query, inside(hit, "hit")), inside(hit, "rating")) for hit in detail["hits"]]
        yield query, [(document, rating) for document, rating in hits if rating is not None]


def _searches(file: File, root: dict[str, Any]) -> dict[str, Any]:
    """Search responses by query."""
    if kind(root) == "nameless":
        raise nameless(file)
    for query, response in root.items():
        if not _is_search(response):
            says = f"query {query!r:.80}: wanted a search response with hits; got {described(response)}."
            raise FileError.of_file(file, says)
    return root


def _document(file: File, query: str, hit: Any) -> str:
    document = inside(hit, "_id")
    if not isinstance(document, str):
        wanted = "every hit and rating must be an object with an _id, which is a text"
        raise FileError.of_file(file, f"query {query!r:.80}: {wanted}; got {described(document or hit)}.")
    return document


def _number(file: File, query: str, document: str, value: Any, name: str) -> int | float:
    if type(value) not in (int, float) or not math.isfinite(value):
        hint = hint_of_words(value) if name == "rating" else ""
        problem = f"a {name} must be a finite number; got {described(value)}.{hint}"
        raise FileError.of_file(file, f"query {query!r:.80}, document {document!r:.80}: {problem}")
    number: int | float = value
    return number


def _is_search(value: Any) -> bool:
    return isinstance(inside(value, "hits", "hits"), list)
