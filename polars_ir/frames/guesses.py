"""The intended column, by the words of its name and by its values; ambiguous ones are not guessed."""

# ruff: noqa: SIM905  # words in a row are read at a glance, those in quotes are not

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_ir.frames.roles import PARTS, could_be, find

#: A word of a name, with its number: `l2`, `Position` of `docPosition`.
WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")

#: Words of columns of queries and of documents; `id` is of whichever has no other column.
QUERIES = set("query qry question topic prompt request search q qid user customer session".split())
DOCUMENTS = set(
    """
    doc document passage chunk item product article movie url uri page file filename paper node book song track pid
    sku asin candidate entity
    """.split()
)
USERS = set("user customer".split())
IDS = set("id key no nr number identifier".split())

#: Words of columns that are no ids, whatever else is missing.
NO_IDS = PARTS | set(
    "title text body content name lang language category type source model system run tag value hit result".split()
)

#: Words of places in a ranking; those that name other numbers, too, need values that are places.
PLACES = set("rank ranking rnk rk pos position place".split())
PERHAPS_PLACES = set("order ordinal index idx hit row".split())

#: Words of numbers that are best low, those that turn them round, and those of scores.
LOW = set(
    """
    distance dist loss cost l1 l2 perplexity ppl nll error divergence kl penalty euclidean manhattan hamming
    levenshtein mse rmse mae
    """.split()
)
TURNED = set("neg negative negated minus inverse inverted inv reciprocal one".split())
SCORES = set(
    """
    score sim similarity bm25 tfidf prob probability logit points confidence cosine dot pred prediction predicted
    rsv rrf weight
    """.split()
)

#: Words of what is counted in a document, of all that a document costs, and of amounts, beside which a name has that
#: of what is counted: `n_tokens`, `token_count`.
UNITS = set("token char character word byte sentence".split())
COSTS = UNITS | set("length len size price cost".split())
AMOUNTS = set("n num nr number of count total len length size".split())

#: Words of grades.
GRADES = set(
    """
    relevant relevance rel label target truth true clicked click judgment judgement gold grade rating gain gt qrel
    correct judged positive
    """.split()
)

#: Words of lists of relevant documents, and of retrieved ones.
GOLD = GRADES | set(
    """
    golden ground expected reference ref answer actual test needed ideal oracle purchased bought liked holdout
    required desired should
    """.split()
)
FOUND = set(
    """
    retrieved retrieval ranking ranked result hit top topk found candidate fetched recommended recommendation rec
    predicted prediction pred output shown got returned response search searched suggested suggestion neighbor
    neighbour impression knn
    """.split()
)


@functools.lru_cache(maxsize=1024)
def words(name: str) -> frozenset[str]:
    """The words of a name in the singular.

    >>> sorted(words("docPosition")), sorted(words("l2_distances"))
    (['doc', 'position'], ['distance', 'l2'])
    """
    found = [word.casefold() for word in WORD.findall(name)]
    return frozenset(word.removesuffix("s") if len(word) > 3 and not word.endswith("ss") else word for word in found)


def only(names: Iterable[str]) -> str | None:
    """The only one of some names; None where there are others, or none."""
    found = list(names)
    return found[0] if len(found) == 1 else None


def ids_meant(needed: Sequence[str], spare: Mapping[str, pl.DataType]) -> dict[str, str]:
    """The columns of queries and of documents among those without a role, as far as their names show."""
    could_hold = [name for name, dtype in spare.items() if could_be("doc_id", dtype)]
    could_hold = [name for name in could_hold if not words(name) & (PLACES | SCORES | LOW | GRADES)]
    of_role = {"query_id": QUERIES, "doc_id": DOCUMENTS}
    meant: dict[str, str] = {}
    for role in needed:
        others = frozenset().union(*(of_role[other] for other in of_role if other != role))
        named = [name for name in could_hold if words(name) & of_role[role] and not words(name) & others]
        # Of a question and its number, the number.
        if (name := only(named) or only(name for name in named if words(name) & IDS)) is not None:
            meant[role] = name
    left = [name for name in could_hold if name not in meant.values()]
    lacking = [role for role in needed if role not in meant]
    if len(lacking) == 1:
        taken = of_role["query_id" if lacking[0] == "doc_id" else "doc_id"]
        ids = [name for name in left if words(name) == {"id"}]
        if (name := only(ids) or only(name for name in left if not words(name) & (NO_IDS | taken))) is not None:
            meant[lacking[0]] = name
    return meant


class Value(NamedTuple):
    """The column that ranks, and its kind: a `score`, a `rank`, or `low` where the lowest is best."""

    name: str
    kind: str


def value_meant(
    spare: Mapping[str, pl.DataType], frame: pl.DataFrame | pl.LazyFrame | None, keys: Sequence[str]
) -> Value | None:
    """The ranking column among those without a role, as far as its name and its places in memory show."""
    numbers = [name for name, dtype in spare.items() if dtype.is_numeric() and not words(name) & {"page", "pagerank"}]
    kinds = {name: _kind(name, frame, keys) for name in numbers}
    for kind in ("score", "low", "rank"):
        named = [name for name in numbers if kinds[name] == kind]
        if named:
            name = only(named)
            return None if name is None else Value(name, kind)
    return None


def _kind(name: str, frame: pl.DataFrame | pl.LazyFrame | None, keys: Sequence[str]) -> str | None:
    found = words(name)
    if found & LOW and not found & TURNED:
        return "low"
    if found & SCORES and not found & (LOW | TURNED | PLACES):
        return "score"
    if found & (PLACES | PERHAPS_PLACES) and not found & (TURNED | SCORES):
        sure = bool(found & PLACES)
        if not isinstance(frame, pl.DataFrame):
            return "rank" if sure else None
        return "rank" if _are_places(frame, name, keys, gaps=sure) else None
    return None


def _are_places(frame: pl.DataFrame, name: str, keys: Sequence[str], *, gaps: bool) -> bool:
    """True of a column in memory whose values are places: whole, each once in a ranking and, without `gaps`, all."""
    value = pl.col(name).cast(pl.Float64)
    whole = (value >= 0) & (value == value.floor())
    once = value.n_unique() == pl.len()
    dense = pl.lit(value=True) if gaps else (value.min() <= 1) & (value.max() - value.min() == pl.len() - 1)
    rankings = frame.drop_nulls(name).group_by(keys or pl.lit(0)).agg(places=whole.all() & once & dense)
    return bool(rankings["places"].all())


class Lists(NamedTuple):
    """Columns of a log with a row for each query: None for unrecognised ones."""

    query: str | None
    retrieved: str | None
    relevant: str | None

    def named(self) -> str:
        """The arguments of `from_lists`, with `...` for unrecognised columns."""
        return ", ".join(f"{role}={'...' if name is None else repr(name)}" for role, name in self._asdict().items())


def lists_meant(
    columns: Iterable[str], lists: Sequence[str], given: Mapping[str, str] = {}, others: Collection[str] = ()
) -> Lists:
    """The columns of a log by the words of their names, the relevant documents first; those `given` stay.

    The remaining list beside one of relevant documents is the retrieved one; only a word marks relevant documents.
    """
    query, retrieved, relevant = (given.get(role) for role in Lists._fields)
    free = [name for name in lists if name not in given.values() and name not in others]
    if relevant is None:
        gold = [name for name in free if words(name) & GOLD]
        relevant = only(gold) or only(name for name in gold if not words(name) & FOUND) or _of_ids(gold)
    free = [name for name in free if name != relevant]
    if retrieved is None:
        found = [name for name in free if words(name) & FOUND and not words(name) & GOLD]
        rest = [name for name in free if not words(name) & GOLD]
        retrieved = only(found) or _of_ids(found)
        if relevant is not None and not found:
            retrieved = only(rest) or _of_ids(rest)
    if query is None:
        of_one = [name for name in columns if name not in lists]
        query = find("frame", "query_id", of_one)
        if query is None:
            spare: dict[str, pl.DataType] = dict.fromkeys(of_one, pl.String())
            query = ids_meant(["query_id"], spare).get("query_id")
    return Lists(query, retrieved, relevant)


def _of_ids(names: Iterable[str]) -> str | None:
    """The only one of some names that marks ids, beside texts."""
    return only(name for name in names if words(name) & IDS)


def grade_meant(spare: Mapping[str, pl.DataType]) -> str | None:
    """The column of grades among those without a role, by the words of its name."""
    return only(name for name, dtype in spare.items() if could_be("relevance", dtype) and words(name) & GRADES)
