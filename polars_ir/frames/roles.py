"""Roles of columns in a table, a record each, and the columns that play them.

Conventions: a column is recognised by its name, whatever its case, `-` and `_`; two candidates for one role are an
error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import polars as pl

from polars_ir.errors import ColumnError, fold, option


class Role(NamedTuple):
    """A role: the names it is recognised by, the canonical one first, its values, and the table that has it.

    `otherwise` are names that play it in a table without any of these, the first that is there.
    """

    name: str
    names: tuple[str, ...]
    values: Literal["id", "score", "grade"] = "id"
    of: Literal["run", "qrels", "both"] = "both"
    otherwise: tuple[str, ...] = ()


#: The query of a recommender: the user, where no column is one of queries and the documents are items.
USER = "user_id"

#: The roles by their canonical names.
ROLES = {
    role.name: role
    for role in (
        Role("run", ("run", "run_id", "system", "tag"), of="run"),
        Role(
            "query_id", ("query_id", "qid", "topic", "topic_id"), otherwise=("question_id", "query", "query_text", USER)
        ),
        Role(
            "doc_id",
            ("doc_id", "docno", "docid", "corpus_id", "pid", "passage_id", "item_id"),
            otherwise=("product_id", "movie_id"),
        ),
        Role("score", ("score", "sim", "similarity", "_score", "prediction"), "score", of="run"),
        Role("relevance", ("relevance", "rel", "label", "rating", "grade", "gain"), "grade", of="qrels"),
        Role("rank", ("rank",), "score", of="run", otherwise=("position", "doc_position")),
        Role("subtopic", ("subtopic", "subtopic_id", "aspect", "intent"), of="qrels", otherwise=("evidence",)),
    )
}

#: Columns of provenance: of the evaluation as JSON, and of the rows of each query.
PROVENANCE, QUERY_HASH = "provenance", "query_hash"

#: The keys of rankings behind those that a call names (`by`), as far as a table has them, in the order of results.
KEYS = ("run", "query_id")

#: Names of columns that distinguish rankings; dates do so under any name.
PARTS = {"date", "day", "ds", "month", "night", "time", "timestamp", "week", "year"}
PARTS |= {"batch", "collection", "corpus", "dataset", "index", "job", "partition", "snapshot", "split"}
PARTS |= {"tenant", "version"}

#: Between a note and its advice.
ADVISED = "; "

#: Names of the query that are an attribute of it, such as what several queries are variants of, beside any other name.
TOPICS = ("topic", "topicid")

#: The suffix of an id that distinguishes variants of a query: `a` of `q1-a`.
VARIANT = r"[-_.:/#]([^-_.:/#]+)$"

#: The roles that a run must have.
KEYS_OF_RUN = ("query_id", "doc_id")

#: The columns that a row of qrels must have, none of which distinguishes several judgments of a document.
KEYS_OF_QRELS = ("query_id", "doc_id", "relevance")

#: The names of lists of retrieved documents, and of relevant ones.
RETRIEVED = ("retrieved", "ranking", "results")
RELEVANT = ("relevant", "positives", "gold")

#: Ids that stand for no document: of an index without a neighbour, and of a text without an id.
NO_NEIGHBOUR, NO_IDS = -1, ("", "-1")

#: Dtypes of ids that are compared as text.
TEXT = (pl.String, pl.Categorical, pl.Enum)

#: Integers that Int64 may not hold, such as hashes.
WIDE = (pl.UInt64, pl.Int128, pl.UInt128)


#: The role that a name stands for.
ROLE_OF = {fold(name): role.name for role in ROLES.values() for name in role.names}

#: The names that play a role otherwise, by the role.
OTHERWISE = {role.name: tuple(map(fold, role.otherwise)) for role in ROLES.values() if role.otherwise}


def columns_of(table: str, schema: Iterable[str], roles: Sequence[str]) -> dict[str, str]:
    """The columns that play some roles, as far as there are such; an error where several could play one."""
    found: dict[str, list[str]] = {}
    folded: dict[str, str] = {}
    for column in schema:
        folded.setdefault(name := fold(column), column)
        role = ROLE_OF.get(name)
        if role is not None and role in roles:
            found.setdefault(role, []).append(column)
    for role in roles:
        if role not in found and not folded.keys().isdisjoint(OTHERWISE.get(role, ())):
            found[role] = _otherwise(table, role, schema, folded)
    names: dict[str, str] = {}
    for role in roles:
        columns = found.get(role, [])
        if len(columns) > 1 and role == "query_id":
            columns = [column for column in columns if fold(column) not in TOPICS] or columns
        if len(columns) > 1:
            columns = [column for column in columns if not _is_number_in_index(column, schema)]
        if len(columns) > 1:
            raise ColumnError.ambiguous(table, role, columns)
        if columns:
            names[role] = columns[0]
    return names


def _otherwise(table: str, role: str, schema: Iterable[str], folded: Mapping[str, str]) -> list[str]:
    """The columns that play a role by other names; a place is a rank if it is whole, and beside no score."""
    roles = {name: ROLE_OF.get(name) for name in folded}
    users = [column for column in schema if fold(column) == fold(USER)] if role == "query_id" else []
    # An item is what a recommender calls a document; a per-query frame has none at all.
    if users and all(of != "doc_id" or name == fold("item_id") for name, of in roles.items()):
        return users
    if table in ("queries", "documents"):
        return []  # of texts, whose `query` is one
    found = [folded[name] for name in OTHERWISE[role] if name in folded and name != fold(USER)][:1]
    if role == "rank" and found:
        broken = isinstance(schema, pl.Schema) and not schema[found[0]].is_integer()
        return [] if "score" in roles.values() or broken else found
    return found


def recognised(role: str) -> list[str]:
    """The names that play a role, for a message: last those that do so where there is none of the others."""
    names = [*ROLES[role].names, *ROLES[role].otherwise]
    return names + (recognised("rank") if role == "score" else [])


def is_rank(name: str) -> bool:
    """True of the name of a column of ranks, whose lowest is the best."""
    return fold(name) == "rank" or fold(name) in OTHERWISE["rank"]


def note_of_structure(others: Iterable[str], queries: pl.LazyFrame | None) -> str | None:
    """The note on queries that seem dependent, by another column or, if they are given, by ids."""
    for name in others:
        if name.casefold().startswith("topic") and fold(name) in TOPICS:
            return (
                f"queries of one {name!r} are treated as independent{ADVISED}{option('cluster', name)} counts them once"
            )
    if queries is None or queries.collect_schema()["query_id"].is_integer():
        return None
    query = pl.col("query_id").cast(pl.String).unique()
    ids = queries.select(stem=query.str.replace(VARIANT, ""), variant=query.str.extract(VARIANT)).collect()
    n_stems, n_variants = ids["stem"].n_unique(), ids["variant"].n_unique()
    # Several stems, each with several variants, which recur.
    if ids["variant"].null_count() or n_stems < 2 or 2 * max(n_stems, n_variants) > ids.height:
        return None
    likeness = f"ids look like variants of {n_stems} queries"
    return f"{likeness}, treated as independent{ADVISED}{option('cluster')} says what counts once"


def _is_number_in_index(name: str, schema: Iterable[str]) -> bool:
    """True of PyTerrier's integer `docid`, a document's number in an index, beside its id in `docno`."""
    if fold(name) != "docid" or not isinstance(schema, pl.Schema):
        return False
    return schema[name].is_integer() and "docno" in map(fold, schema)


def no_ids(ids: pl.Series) -> list[int | str]:
    """Those of some ids that stand for no document."""
    if ids.dtype.is_signed_integer():
        return [NO_NEIGHBOUR] if (ids == NO_NEIGHBOUR).any() else []
    return [text for text in NO_IDS if (ids == text).any()] if ids.dtype == pl.String else []


def find(table: str, role: str, columns: Iterable[str]) -> str | None:
    """The one column that plays a role, or None; an error where several could."""
    return columns_of(table, columns, [role]).get(role)


def required(table: str, role: str, columns: Sequence[str], others: Collection[str] = ()) -> str:
    """The one column that plays a role; an error for none, or where several could. `others` play another role."""
    column = find(table, role, columns)
    if column is None:
        meant = [name for name in columns if fold(name) not in ROLE_OF and name not in others]
        raise ColumnError.missing(table, role, recognised(role), columns, meant)
    return column


def find_per(per: str, columns: Sequence[str]) -> str:
    """The column that distinguishes several judgments of a document."""
    if not isinstance(per, str) or per in KEYS_OF_QRELS:
        raise ColumnError.not_per(per, KEYS_OF_QRELS)
    column = find("qrels", per, columns) if per == "subtopic" else per
    if column is None or column not in columns:
        raise ColumnError.no_per(per, ROLES[per].names if per in ROLES else (), columns)
    return column


def could_be(role: str, dtype: pl.DataType) -> bool:
    """True if a column of a dtype could play a role under its name."""
    if role in ("score", "relevance"):
        return dtype.is_numeric() or (dtype == pl.Boolean and role == "relevance")
    return isinstance(dtype, TEXT) or dtype.is_integer()
