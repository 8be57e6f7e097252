"""Rows as the tables that users have: of every library, with columns of every name and dtype."""

import io
import random
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

import polars_ir as ir

from . import dtypes
from .reference.rows import Collection, Id

#: Kinds of tables that have columns, judgments made ready for many calls, and what has ids and a number only.
FRAMES = ("polars", "lazy", "scan", "pandas", "arrow")
PREPARED = "prepared"
LISTS = ("dict", "lists", "tuples")

#: Names by which columns are recognised.
NAMES = {
    "run": ("run", "run_id", "system", "tag"),
    "query": ("query_id", "qid", "query-id", "topic", "Topic_ID"),
    "document": ("doc_id", "docno", "docid", "corpus-id", "pid", "item_id"),
    "score": ("score", "sim", "similarity", "_score", "prediction"),
    "grade": ("relevance", "rel", "label", "rating", "grade"),
    "subtopic": ("subtopic", "aspect", "intent"),
}


@dataclass(frozen=True)
class Tables:
    """The form of tables; by default Polars frames with canonical columns.

    `run` and `qrels` are kinds of tables, and the kinds of a dict of systems, `by_system`, may be `mixed`; `by_rank` is
    whether a rank stands in the place of scores; `types` and `names` are dtypes and columns by role; `pieces` is in how
    many chunks frames come, and `extra` whether they have columns that nothing reads.
    """

    run: str = "polars"
    qrels: str = "polars"
    by_system: bool = False
    mixed: bool = False
    by_rank: bool = False
    run_types: Mapping[str, str] = field(default_factory=dict)
    qrels_types: Mapping[str, str] = field(default_factory=dict)
    run_names: Mapping[str, str] = field(default_factory=dict)
    qrels_names: Mapping[str, str] = field(default_factory=dict)
    pieces: int = 1
    extra: bool = False


def chosen(chance: random.Random, collection: Collection, *, judges: bool) -> Tables:
    """Tables at random that can hold a collection."""
    run = chance.choice([*FRAMES, *FRAMES, *(kind for kind in LISTS if fits_run(kind, collection))])
    lists = [kind for kind in LISTS if fits_qrels(kind, collection) and not judges]
    qrels = run if collection.labelled else chance.choice([*FRAMES, *FRAMES, PREPARED, *lists])
    if collection.kind == "preferences" and qrels in ("lazy", "scan"):
        qrels = "polars"
    several = collection.systems != (None,) and not collection.labelled
    needed = run in ("dict", "lists") or not every_system_answers(collection)
    return Tables(
        run,
        qrels,
        by_system=several and (needed or chance.random() < 0.4),
        mixed=run == "polars" and chance.random() < 0.3,
        by_rank=run in FRAMES and are_ranks(collection) and chance.random() < 0.2,
        run_types=dtypes.chosen(chance, run, collection.run, ("query", "document", "score"), collection.judgments),
        qrels_types=dtypes.chosen(chance, qrels, collection.judgments, ("query", "document", "grade"), collection.run),
        run_names=names(chance, ("run", "query", "document", "score", "grade")),
        qrels_names=names(chance, ("query", "document", "grade", "subtopic")),
        pieces=chance.choice((1, 1, 2, 5)),
        extra=chance.random() < 0.3,
    )


def every_system_answers(collection: Collection) -> bool:
    """True if all systems have rows, as those of a column have."""
    return {row.system for row in collection.run} >= set(collection.systems)


def are_ranks(collection: Collection) -> bool:
    """True if ranks can stand in the place of scores."""
    return not collection.labelled and all(
        isinstance(row.score, int) and abs(row.score) < 2**31 for row in collection.run
    )


def fits_run(kind: str, collection: Collection) -> bool:
    """True if a run can be dicts, lists, or tuples."""
    if collection.labelled or any(isinstance(i, int) and i >= 2**63 for row in collection.run for i in row[1:3]):
        return False
    # Ids of no row are taken for strings, which those of another system may not be.
    if collection.systems != (None,) and (kind == "tuples" or not every_system_answers(collection)):
        return False
    if kind == "tuples" and not collection.run:
        return False
    return kind != "lists" or all(later.score < row.score for row, later in neighbours(collection))


def neighbours(collection: Collection) -> Iterable[tuple[Any, Any]]:
    """Each row of a run with the next one of its ranking."""
    last: dict[tuple[str | None, Id], Any] = {}
    for row in collection.run:
        key = row.system, row.query
        if key in last:
            yield last[key], row
        last[key] = row


def fits_qrels(kind: str, collection: Collection) -> bool:
    """True if judgments can be dicts, lists, or tuples."""
    if any(isinstance(i, int) and i >= 2**63 for judgment in collection.judgments for i in judgment[:2]):
        return False
    if kind == "tuples" and not collection.judgments:
        return False
    if collection.kind == "preferences":
        # One judge with one group needs no columns for them.
        return kind == "tuples" and {(row.judge, row.group) for row in collection.judgments} == {("j0", "g0")}
    judged, not_judged = (
        {row.query for row in collection.judgments if (row.grade is None) is none} for none in (False, True)
    )
    if judged & not_judged:
        return kind == "tuples" and collection.kind == "documents"
    ones = all(judgment.grade in (1, None) for judgment in collection.judgments)
    return collection.kind == "documents" and (kind != "lists" or ones)


def names(chance: random.Random, roles: Sequence[str]) -> dict[str, str]:
    return {role: chance.choice(NAMES[role]) if chance.random() < 0.3 else NAMES[role][0] for role in roles}


def holds(tables: Tables, collection: Collection, column: str) -> bool:
    """True if the tables have a column of the user's own, which a measure can read."""
    if column in ("trust", "importance"):
        return (tables.run if collection.labelled else tables.qrels) in (*FRAMES, PREPARED)
    return column != "price" or tables.run in FRAMES


def eager(tables: Tables) -> bool:
    """True if all rows are in memory, or the judgments will be since the run is."""
    return not is_planned(tables) or tables.qrels not in ("lazy", "scan")


def is_planned(tables: Tables) -> bool:
    """True if the run, or one of its systems, is a LazyFrame."""
    return tables.mixed or tables.run in ("lazy", "scan")


def is_searched(
    collection: Collection, tables: Tables, thresholds: Mapping[str, int], *, judged_only: bool = False
) -> bool:
    """True if a run is searched for duplicates whole.

    A plan may leave that out where nothing relevant is retrieved, and of documents without judgments, where these are
    taken out.
    """
    if is_planned(tables) and judged_only:
        return False
    relevant = {(judgment.query, judgment.document) for judgment in collection.judgments if (judgment.grade or 0) > 0}
    if is_planned(tables) and relevant.isdisjoint((row.query, row.document) for row in collection.run):
        return False
    return collection.labelled or len(collection.run) <= thresholds.get("searched_rows", 10**6)


def handed_over(collection: Collection, tables: Tables, *, judges: bool = False) -> tuple[Any, Any]:
    """The run and the judgments as `evaluate` takes them."""
    qrels = None if collection.labelled else judgments_of(collection, tables, judges=judges)
    if not tables.by_system:
        return run_of(collection, tables, collection.run, column=collection.systems != (None,)), qrels
    of_systems = {system: [row for row in collection.run if row.system == system] for system in collection.systems}
    runs = {system: run_of(collection, tables, rows, column=False) for system, rows in of_systems.items()}
    if tables.mixed:
        runs = {system: run.lazy() if at % 2 else run for at, (system, run) in enumerate(runs.items())}
    return runs, qrels


def run_of(collection: Collection, tables: Tables, rows: Sequence[Any], *, column: bool) -> Any:
    """A run of one kind of table."""
    if tables.run in LISTS:
        return listed(tables.run, [(row.query, row.document, row.score) for row in rows], "score")
    named = tables.run_names
    types = tables.run_types or dtypes.usual(collection.run, ("query", "document", "score"), collection.judgments)
    roles = ("query", "document", "score") if collection.with_ids else ("query", "score")
    columns = {role: dtypes.series([getattr(row, role) for row in rows], types[role]) for role in roles}
    if column:
        columns["run"] = pl.Series([row.system for row in rows], dtype=pl.String)
    if collection.labelled:
        of_document = {(judgment.query, judgment.document): judgment for judgment in collection.judgments}
        judged = [of_document.get((row.query, row.document)) for row in rows]
        grade = tables.qrels_types.get("grade", "Float64")
        columns["grade"] = dtypes.series([judgment.grade if judgment else None for judgment in judged], grade)
        columns["trust"] = pl.Series([judgment.trust if judgment else None for judgment in judged], dtype=pl.Float64)
    columns["price"] = pl.Series([row.price for row in rows], dtype=pl.Int64)
    if tables.by_rank:
        columns["rank"] = -columns.pop("score").cast(pl.Int64)
    if tables.extra:
        columns |= {"Q0": pl.repeat("Q0", len(rows), eager=True)}
        columns.setdefault("rank", pl.int_range(len(rows), eager=True))
    frame = pl.DataFrame({named.get(role, NAMES.get(role, (role,))[0]): values for role, values in columns.items()})
    return of_kind(tables.run, frame, tables.pieces)


def judgments_of(collection: Collection, tables: Tables, *, judges: bool) -> Any:
    """Judgments of one kind of table."""
    rows = collection.judgments
    if tables.qrels in LISTS:
        return listed(tables.qrels, [(row.query, row.document, row.grade) for row in rows], "relevance")
    types = tables.qrels_types or dtypes.usual(rows, ("query", "document", "grade"), collection.run)
    columns = {role: dtypes.series([getattr(row, role) for row in rows], types[role]) for role in types}
    others: dict[str, tuple[str, ...]] = {
        "documents": ("trust", *(("judge",) if judges else ())),
        "subtopics": ("subtopic", "importance"),
        "preferences": ("judge", "group"),
    }
    for role in others[collection.kind]:
        columns[role] = pl.Series(
            [getattr(row, role) for row in rows], dtype=pl.Float64 if role in ("trust", "importance") else pl.String
        )
    if tables.extra:
        columns["note"] = pl.repeat("a note", len(rows), eager=True)
    named = tables.qrels_names
    frame = pl.DataFrame({named.get(role, NAMES.get(role, (role,))[0]): values for role, values in columns.items()})
    return of_kind(tables.qrels, frame, tables.pieces)


def listed(kind: str, rows: Sequence[tuple[Id, Id | None, float | None]], number: str) -> Any:
    """Rows as dicts of dicts, dicts of lists, or named tuples."""
    if kind == "tuples":
        row_of: Callable[..., Any] = namedtuple("Row", ["query_id", "doc_id", number])  # noqa: PYI024
        return [row_of(*row) for row in rows]
    nested: dict[Id, dict[Id, float | None]] = {}
    for query, document, value in rows:
        of_query = nested.setdefault(query, {})
        if document is not None:
            of_query[document] = value
    return {query: list(of_query) for query, of_query in nested.items()} if kind == "lists" else nested


def of_kind(kind: str, frame: pl.DataFrame, pieces: int) -> Any:
    """A frame as a table of another library, or as a plan."""
    if kind == "pandas":
        return frame.to_pandas(use_pyarrow_extension_array=any(frame.null_count().row(0)))
    frame = in_pieces(frame, pieces)
    if kind == "arrow":
        return frame.to_arrow()
    if kind == PREPARED:
        return ir.judgments(frame)
    # Polars 2.0.0 panics where it joins groups of a Parquet file without rows, also in plain queries.
    if kind == "scan" and (frame.height or not pl.__version__.startswith("2.0.")):
        file = io.BytesIO()
        frame.write_parquet(file, row_group_size=3)
        file.seek(0)
        return pl.scan_parquet(file)
    return frame.lazy() if kind in ("lazy", "scan") else frame


def in_pieces(frame: pl.DataFrame, pieces: int) -> pl.DataFrame:
    """The frame in chunks."""
    size = max(1, -(-frame.height // pieces))
    return pl.concat([*frame.iter_slices(size), frame.clear()], rechunk=False)
