"""Columns as users name them, to the canonical ones, in dtypes that can be joined and compared.

Conventions: a column is recognised by its name, whatever its case, `-` and `_`; two candidates for one role are an
error. Inputs are never changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polars_ir.checks import check_values
from polars_ir.conversion import Frame, holds_systems, to_polars
from polars_ir.errors import ColumnError, DtypeError, InputTypeError

#: The names each role is recognised by, the canonical one first.
ROLES: dict[str, tuple[str, ...]] = {
    "run": ("run", "run_id", "system", "tag"),
    "query_id": ("query_id", "qid", "topic", "topic_id"),
    "doc_id": ("doc_id", "docno", "docid", "corpus_id", "pid", "passage_id", "item_id"),
    "score": ("score", "sim", "similarity", "_score", "prediction"),
    "relevance": ("relevance", "rel", "label", "rating", "grade", "gain"),
    "rank": ("rank",),
    "subtopic": ("subtopic", "subtopic_id", "aspect", "intent"),
}

#: What a row of qrels must have; no other column tells judgments apart by these.
KEYS_OF_QRELS = ("query_id", "doc_id", "relevance")

#: Columns of the judged relation that are made, so that a user's column of that name is left out.
MADE = ("rank", "ideal_rank", "n_retrieved", "n_higher", "n_tied", "judged_elsewhere")

#: Dtypes of ids that are compared as text.
TEXT = (pl.String, pl.Categorical, pl.Enum)

#: Integers that Int64 may not hold, such as hashes.
WIDE = (pl.UInt64, pl.Int128)


@dataclass(frozen=True)
class Table:
    """A run or qrels, with the expressions that make its columns canonical ones.

    `sources` are frames that follow one another, each with its own expressions by canonical name. `select` builds a
    plan for just the columns it is asked for: were there one plan of all columns that every pass over the run starts
    from, the optimizer would see it is shared and keep the whole run in memory. `per` is the column that tells apart
    several judgments of a document, if there are such.
    """

    sources: tuple[tuple[Frame, Mapping[str, pl.Expr]], ...]
    dtypes: Mapping[str, pl.DataType]
    names: Mapping[str, str]
    systems: tuple[str, ...] | None = None
    per: tuple[str, ...] = ()

    @property
    def eager(self) -> bool:
        """Whether the rows are in memory."""
        return all(isinstance(frame, pl.DataFrame) for frame, _ in self.sources)

    @property
    def rows(self) -> int:
        """The number of rows; 0 for a LazyFrame, whose rows nobody has counted."""
        return sum(frame.height for frame, _ in self.sources if isinstance(frame, pl.DataFrame))

    @property
    def columns(self) -> list[str]:
        """The canonical columns, and the others under their own names."""
        return list(self.dtypes)

    @property
    def keys(self) -> list[str]:
        """What makes a ranking one ranking: the query, and the system where there are several."""
        return [key for key in ("run", "query_id") if key in self.dtypes]

    def select(self, *columns: str) -> pl.LazyFrame:
        """A plan for some of the columns, under their canonical names."""
        plans = [frame.lazy().select(make[column].alias(column) for column in columns) for frame, make in self.sources]
        return plans[0] if len(plans) == 1 else pl.concat(plans)

    def all_columns(self) -> pl.LazyFrame:
        """A plan for all of the columns."""
        return self.select(*self.columns)

    def made_of(self, frame: pl.LazyFrame) -> Table:
        """The table with other rows, or other dtypes, of its canonical columns."""
        dtypes = frame.collect_schema()
        return replace(self, sources=((frame, {column: pl.col(column) for column in dtypes}),), dtypes=dtypes)


def run_table(run: object, *, check: bool = True) -> Table:
    """A run in any form as a table with `query_id`, `doc_id`, `score`, and `run` where it has one."""
    if isinstance(run, Mapping) and holds_systems(run):
        return _several_systems(run, check=check)
    frame = to_polars("run", run, column="score")
    names = _find_all("run", frame, required=("query_id", "doc_id"), optional=("run", "score", "rank"))
    if "score" not in names:
        if "rank" not in names:
            raise ColumnError.missing("run", "score", (*ROLES["score"], "rank"), frame.collect_schema().names())
        names["score"] = names["rank"]
    names.pop("rank", None)
    return _table("run", frame, names, without=("relevance", *MADE), check=check)


def qrels_table(qrels: object, *, per: str | None = None, check: bool = True) -> Table:
    """Judgments in any form as a table with `query_id`, `doc_id` and `relevance`, and the column `per` if given."""
    frame = to_polars("qrels", qrels, column="relevance")
    names = _find_all("qrels", frame, required=("query_id", "doc_id"), optional=("relevance",))
    if "relevance" not in names:
        columns = frame.collect_schema().names()
        # BEIR, MTEB and ranx call a grade a score.
        grade = find("qrels", "score", columns)
        if grade is None:
            raise ColumnError.missing("qrels", "relevance", (*ROLES["relevance"], "score"), columns)
        names["relevance"] = grade
    if per is not None:
        if per in names.values():
            raise ColumnError.not_per(per, names.values())
        names[per] = _find_per(per, frame.collect_schema().names())
    table = _table("qrels", frame, names, without=("run", "score", *MADE), check=check)
    return table if per is None else replace(table, per=(per,))


def labelled_table(frame: object) -> Table:
    """A frame that holds scores and grades side by side; without document ids, equal scores keep the frame's order."""
    table = to_polars("run", frame, column="score")
    columns = table.collect_schema().names()
    if find("run", "relevance", columns) is None:
        raise ColumnError.no_grades(ROLES["relevance"], columns)
    names = _find_all("run", table, required=("query_id", "score", "relevance"), optional=("run", "doc_id"))
    if "doc_id" not in names:
        table = table.with_columns(doc_id=-pl.int_range(pl.len(), dtype=pl.Int64))
        names["doc_id"] = "doc_id"
    return _table("run", table, names, without=MADE, ungraded=True)


def per_query_table(per_query: object) -> Table:
    """The result of `evaluate` again: `query_id`, `run` where there is one, and measures in numeric columns.

    A dict of such frames by system is one frame with a column `run`.
    """
    if isinstance(per_query, Mapping) and not isinstance(next(iter(per_query.values()), {}), Mapping):
        per_query = _of_each_system(per_query)
    frame = to_polars("per_query", per_query, column="score")
    names = _find_all("per_query", frame, required=("query_id",), optional=("run",))
    return _table("per_query", frame, names, check=False)


def _of_each_system(per_query: Mapping[Any, Any]) -> pl.LazyFrame | pl.DataFrame:
    """`{system: per-query frame}` as one frame; the query column has its name in the first of them."""
    # The keys of `partition_by(as_dict=True)` are tuples.
    systems = [system[0] if isinstance(system, tuple) and len(system) == 1 else system for system in per_query]
    tables = {str(system): per_query_table(frame) for system, frame in zip(systems, per_query.values(), strict=True)}
    for system, table in tables.items():
        if "run" in table.dtypes and not (table.eager and table.select("run").collect().n_unique() < 2):
            raise ColumnError.systems_in_a_system(system, table.names["run"])
    first = next(iter(tables.values()))
    for system, table in tables.items():
        if (dtype := table.dtypes["query_id"]) != first.dtypes["query_id"]:
            wanted = f"{first.dtypes['query_id']}, as in the first per_query"
            raise DtypeError.of_column(f"per_query {system!r}", table.names["query_id"], wanted, dtype, "Cast one.")
    query = {"query_id": first.names["query_id"]}
    named = [table.all_columns().with_columns(run=pl.lit(system)).rename(query) for system, table in tables.items()]
    together = pl.concat(named, how="diagonal_relaxed")
    return together.collect() if all(table.eager for table in tables.values()) else together


def same_types(run: Table, qrels: Table) -> tuple[Table, Table]:
    """Both tables with ids of one type; a `DtypeError` where one has integers and the other strings.

    A table in memory without any id has the type of the other: nobody said which it was to have.
    """
    for role in ("query_id", "doc_id"):
        if run.dtypes[role] == qrels.dtypes[role]:
            continue
        if run.dtypes[role].is_integer() and qrels.dtypes[role].is_integer():
            run, qrels = _cast(run, role, pl.Int128()), _cast(qrels, role, pl.Int128())
            continue
        if _holds_none(qrels, role):
            qrels = _cast(qrels, role, run.dtypes[role])
        elif _holds_none(run, role):
            run = _cast(run, role, qrels.dtypes[role])
        else:
            raise DtypeError.different_ids(run.names[role], run.dtypes[role], qrels.names[role], qrels.dtypes[role])
    return run, qrels


def _holds_none(table: Table, role: str) -> bool:
    return table.eager and table.select(role).drop_nulls().collect().is_empty()


def _cast(table: Table, role: str, dtype: pl.DataType) -> Table:
    sources = tuple((frame, {**make, role: make[role].cast(dtype)}) for frame, make in table.sources)
    return replace(table, sources=sources, dtypes={**table.dtypes, role: dtype})


def find(table: str, role: str, columns: Sequence[str]) -> str | None:
    """The one column that plays a role, or None; an error where several could."""
    accepted = {_fold(name) for name in ROLES[role]}
    candidates = [column for column in columns if _fold(column) in accepted]
    if len(candidates) > 1:
        raise ColumnError.ambiguous(table, role, candidates)
    return candidates[0] if candidates else None


def _find_per(per: str, columns: Sequence[str]) -> str:
    """The column that tells several judgments of a document apart."""
    if not isinstance(per, str) or per in KEYS_OF_QRELS:
        raise ColumnError.not_per(per, KEYS_OF_QRELS)
    found = find("qrels", per, columns) if per == "subtopic" else per
    if found is None or found not in columns:
        raise ColumnError.no_per(per, ROLES.get(per, ()), columns)
    return found


def _find_all(table: str, frame: Frame, required: Iterable[str], optional: Iterable[str]) -> dict[str, str]:
    """The column of each role that there is."""
    schema = frame.collect_schema()
    columns = [name for name, dtype in schema.items() if not _is_number_in_index(name, dtype, schema)]
    names = {role: find(table, role, columns) for role in (*required, *optional)}
    for role in required:
        if names[role] is None:
            raise ColumnError.missing(table, role, ROLES[role], columns)
    return {role: name for role, name in names.items() if name is not None}


def _is_number_in_index(name: str, dtype: pl.DataType, schema: Mapping[str, pl.DataType]) -> bool:
    """Whether a column is PyTerrier's integer `docid`, a document's number in an index, beside its id in `docno`."""
    return _fold(name) == "docid" and dtype.is_integer() and "docno" in map(_fold, schema)


def _table(
    table: str,
    frame: Frame,
    names: Mapping[str, str],
    *,
    without: Iterable[str] = (),
    ungraded: bool = False,
    check: bool = True,
) -> Table:
    """The table of a frame, its dtypes checked, and its values where they are in memory."""
    schema = frame.collect_schema()
    make: dict[str, pl.Expr] = {}
    dtypes: dict[str, pl.DataType] = {}
    for role, name in names.items():
        dtypes[role] = _fitting(table, role, name, schema[name])
        column = pl.col(name) if dtypes[role] == schema[name] else pl.col(name).cast(dtypes[role])
        # With a rank in the place of a score, the first is the highest.
        make[role] = -column if role == "score" and _fold(name) == "rank" else column
    taken = {*names, *names.values(), *without}
    others = {name: dtype for name, dtype in schema.items() if name not in taken}
    make |= {name: pl.col(name) for name in others}
    dtypes |= others
    if isinstance(frame, pl.DataFrame):
        frame = frame.select(expression.alias(name) for name, expression in make.items())
        make = {name: pl.col(name) for name in make}
        if check:
            check_values(table, frame, names, ungraded=ungraded)
    return Table(((frame, make),), dtypes, dict(names))


def _fitting(table: str, role: str, name: str, dtype: pl.DataType) -> pl.DataType:
    """The dtype in which the column of a role can be joined and compared, or an error that shows the cast."""
    cast = f"Cast it: {table}.with_columns(pl.col({name!r}).cast(pl.{{}}))."
    if role in ("score", "relevance"):
        if dtype == pl.Boolean and role == "relevance":
            return pl.Int64()
        if not dtype.is_numeric():
            raise DtypeError.of_column(table, name, "numbers", dtype, cast.format("Float64"))
        if dtype.is_decimal():
            return pl.Float64()
        # An unsigned rank has no negative, a small grade no room for sums.
        return dtype if dtype.is_float() or dtype in WIDE else pl.Int64()
    if isinstance(dtype, TEXT) or (dtype == pl.Null and role != "run"):
        return pl.String()
    if not dtype.is_integer():
        raise DtypeError.of_column(table, name, "strings or integers", dtype, cast.format("String"))
    return dtype if dtype in WIDE else pl.Int64()


def _fold(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")


def _several_systems(runs: Mapping[Any, Any], *, check: bool) -> Table:
    """`{system: run}` as one table with a `run` column; a system whose run is empty is still one."""
    tables = {str(system): run_table(run, check=check) for system, run in runs.items()}
    if len(tables) < len(runs):
        raise InputTypeError(f"two systems have one name as text; got {', '.join(map(repr, runs))}.")
    for system, table in tables.items():
        if "run" in table.dtypes:
            raise ColumnError.systems_in_a_system(system, table.names["run"])
    first = next(iter(tables.values()))
    for system, table in tables.items():
        for role in ("query_id", "doc_id"):
            if table.dtypes[role] != first.dtypes[role]:
                wanted = f"{first.dtypes[role]}, as in the first run"
                raise DtypeError.of_column(
                    f"run {system!r}", table.names[role], wanted, table.dtypes[role], "Cast one."
                )
    shared = {
        column: dtype
        for column, dtype in first.dtypes.items()
        if all(table.dtypes.get(column) == dtype for table in tables.values())
    }
    # Integer scores stay integers, which Float64 can not all hold, unless another system has fractions.
    shared.setdefault("score", pl.Float64())
    sources = tuple(
        (frame, {"run": pl.lit(system), **{column: make[column].cast(dtype) for column, dtype in shared.items()}})
        for system, table in tables.items()
        for frame, make in table.sources
    )
    return Table(sources, {"run": pl.String(), **shared}, {**first.names, "run": "run"}, tuple(tables))
