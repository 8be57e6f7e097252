"""Nested dicts, records and named tuples to Polars frames.

Conventions: a list is a ranking in a run, and the relevant documents, each of grade 1, in qrels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Reversible, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise, repeat
from numbers import Integral, Real
from typing import Any
from uuid import UUID

import polars as pl

from polars_ir.errors import Code, Fix, InputTypeError

#: The fields of a hit: Elasticsearch's and OpenSearch's, and Qdrant's.
HIT_ID, HIT_SCORE = ("_id", "id"), ("_score", "score")

#: The field of a hit that holds what Elasticsearch and OpenSearch sorted it by.
SORTED = "sort"


def from_mapping(table: str, value: Mapping[Any, Any], column: str) -> pl.DataFrame:
    """`{query: {doc: value}}` and `{query: [doc, ...]}` as rows.

    A query without documents leaves no row in a run; in qrels it leaves one that says that the query was judged.
    """
    if column == "score" and "hits" in value and hits_of(value) is not None:
        says = "is a search response, which does not say to which query."
        raise InputTypeError(says, about=table, fix=Fix("Name the query", Code(f"{{'q1': {table}}}")))
    queries: list[Any] = []
    docs: list[Any] = []
    values: list[Any] = []
    for query, documents in value.items():
        if column == "score" and (hits := hits_of(documents)) is not None:
            ids, of_query = ([_field(hit, names) for hit in hits] for names in (HIT_ID, HIT_SCORE))
            if ranks_by_place(hits, of_query):
                of_query = list(range(len(hits), 0, -1))
            if None in of_query:
                says = "has hits without a score, as a sorted search has. Search with track_scores, or give ids alone."
                raise InputTypeError(says, about=f"{table}[{query!r}]")
            docs.extend(ids)
        else:
            _check_documents(table, query, documents, column)
            of_query = _values(documents, column)
            docs.extend(documents if len(documents) else [None] * len(of_query))  # an array has no truth value
        queries.extend(repeat(query, len(of_query)))
        values.extend(of_query)
    columns = {"query_id": queries, "doc_id": docs, column: values}
    return _frame(table, columns, column, "mixes types among its ids or its values")


def hits_of(answer: Any) -> list[Any] | None:
    """The hits of a search engine's answer to a query; None for any other value.

    Elasticsearch and OpenSearch answer with `{"hits": {"hits": [{"_id", "_score"}]}}`, Qdrant with points, which have
    an `id` and a `score`; lists of their hits are answers, too.

    >>> hits_of({"hits": {"hits": [{"_id": "d", "_score": 1.5}]}}), hits_of({"d": 1.5})
    ([{'_id': 'd', '_score': 1.5}], None)
    """
    found = getattr(answer, "body", answer)
    if isinstance(found, Mapping):
        found = found.get("hits", found.get("result"))
        found = found.get("hits", found.get("points")) if isinstance(found, Mapping) else found
    hits = getattr(found, "points", found)
    if not isinstance(hits, list):
        return None
    if not hits:
        return None if hits is answer else hits
    are_hits = not isinstance(hits[0], str) and None not in (_field(hits[0], HIT_ID), _name(hits[0], HIT_SCORE))
    return hits if are_hits else None


def ranks_by_place(hits: Sequence[Any], scores: Sequence[Any]) -> bool:
    """True for hits of a search that is sorted by anything but scores that fall."""
    if not hits or not all(_field(hit, (SORTED,)) for hit in hits):
        return False
    are_scores = all(isinstance(score, Real) for score in scores)
    return not (are_scores and all(one > following for one, following in pairwise(scores)))


def _field(hit: Any, names: tuple[str, ...]) -> Any:
    """The value of a field of a hit, by the first of its names that there is."""
    name = _name(hit, names)
    if name is None:
        return None
    return hit[name] if isinstance(hit, Mapping) else getattr(hit, name)


def _name(hit: Any, names: tuple[str, ...]) -> str | None:
    """The first of some names that a hit has a field of."""
    return next((name for name in names if (name in hit if isinstance(hit, Mapping) else hasattr(hit, name))), None)


def from_records(table: str, value: Iterable[Any], column: str) -> pl.DataFrame:
    """A row for each dict of a list, or for each named tuple, such as ir_measures' `ScoredDoc` and `Qrel`."""
    rows = iter(value)
    first = next(rows, None)
    if isinstance(first, Mapping):
        names = tuple(first)
        records = [first, *rows]
        if other := next((row for row in records if not isinstance(row, Mapping)), None):
            raise InputTypeError(f"must be rows with the fields {', '.join(names)}; got {other!r:.80}.", about=table)
        every = [tuple(row.get(name) for name in names) for row in records]
    else:
        names = getattr(first, "_fields", ())
        every = [*([first] if isinstance(first, tuple) else []), *rows] if names else []
        if other := next((row for row in every if getattr(row, "_fields", None) != names), None):
            raise InputTypeError(f"must be tuples with the fields {', '.join(names)}; got {other!r:.80}.", about=table)
    if not names:
        raise InputTypeError.not_a_table(table, value)
    columns = dict(zip(names, map(list, zip(*every, strict=True)), strict=True))
    return _frame(table, columns, column, "mixes types in one of its fields")


def _frame(table: str, columns: Mapping[str, list[Any]], column: str, mixed: str) -> pl.DataFrame:
    """Ids, and the numbers of a column, as a frame; the error for several types says what is `mixed`."""
    try:
        return pl.DataFrame({name: (_numbers if name == column else _ids)(each) for name, each in columns.items()})
    except UnicodeEncodeError as error:
        raise InputTypeError.no_text(table, error) from None
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        advice = "Write ids all as texts, or all as integers, and what is no id as numbers."
        raise InputTypeError(f"{table} {mixed}: {str(error).splitlines()[0]}. {advice}") from None


def _check_documents(table: str, query: Any, documents: Any, column: str) -> None:
    """Raise an error unless a query has documents, and those of a run an order."""
    name = f"{table}[{query!r}]"
    if not isinstance(documents, Collection) or isinstance(documents, (str, bytes)):
        raise InputTypeError.not_a_table(name, documents)
    if column == "score" and isinstance(documents, AbstractSet) and not isinstance(documents, Reversible):
        fix = Fix("Give a list, best first, or a score for each document", Code("{query: {doc: score}}"))
        says = f"is a {type(documents).__name__}, which has no order, and a ranking is one."
        raise InputTypeError(says, about=name, fix=fix)
    if not isinstance(documents, Mapping) and isinstance(first := next(iter(documents), None), (Mapping, tuple, list)):
        pairs = f"{{query: dict(pairs) for query, pairs in {table}.items()}}"
        rows = f"[{{'query_id': query, **row}} for query, rows in {table}.items() for row in rows]"
        fix = Fix("Write it as", Code(rows if isinstance(first, Mapping) else pairs))
        raise InputTypeError(f"must hold ids of documents; its first is {first!r:.80}.", about=name, fix=fix)


def _values(documents: Collection[Any], column: str) -> list[Any]:
    """The scores or grades of a query's documents; None for qrels without any."""
    if column == "relevance" and not len(documents):
        return [None]
    if isinstance(documents, Mapping):
        return list(documents.values())
    return [1] * len(documents) if column == "relevance" else list(range(len(documents), 0, -1))


def _ids(values: list[Any]) -> pl.Series:
    if values and isinstance(values[0], UUID):
        values = [str(value) if isinstance(value, UUID) else value for value in values]
    series = pl.Series(values, strict=True)
    return series.cast(pl.String) if series.dtype == pl.Null else series


def _numbers(values: list[Any]) -> pl.Series:
    """Numbers as integers or, if one has a point, Float64: one dtype, whichever comes first."""
    numbers = [value for value in values if value is not None]
    if all(isinstance(value, Integral) for value in numbers):
        whole = [None if value is None else int(value) for value in values]
        long = any(not -(2**63) <= value < 2**63 for value in whole if value is not None)
        return pl.Series(whole, dtype=pl.Int128 if long else pl.Int64)
    if all(isinstance(value, Real) for value in numbers):
        return pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
    return pl.Series(values, strict=True)
