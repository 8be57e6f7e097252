"""A run, qrels or a per-query frame as a `Table`: its columns under their canonical names. Inputs are never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from polars_ir.errors import Code, ColumnError, DtypeError, Fix, InputTypeError, quoted
from polars_ir.frames.checks import check_values
from polars_ir.frames.columns import (
    ROLES,
    TEXT,
    find,
    find_all,
    find_per,
    fitting,
    fold,
    grades_in_text,
    lacking,
    mistaken,
    scores_in_text,
)
from polars_ir.frames.kinds import Frame, holds_systems, to_polars
from polars_ir.frames.scores import score_type, with_guarded_score

#: Columns of the judged relation that are made, so that a user's column of that name is left out.
MADE = ("rank", "ideal_rank", "n_retrieved", "n_higher", "n_tied", "judged_elsewhere")


@dataclass(frozen=True)
class Table:
    """A run or qrels, with the expressions that make its columns canonical ones.

    `sources` are frames that follow one another, each with its own expressions by canonical name. `select` builds a
    plan for just the columns it is asked for: were there one plan of all columns that every pass over the run starts
    from, the optimizer would see it is shared and keep the whole run in memory. `per` is the column that tells apart
    several judgments of a document, if there are such. Without document ids (`numbered`) rows have numbers in their
    place, which are no order of documents.
    """

    sources: tuple[tuple[Frame, Mapping[str, pl.Expr]], ...]
    dtypes: Mapping[str, pl.DataType]
    names: Mapping[str, str]
    systems: tuple[str, ...] | None = None
    per: tuple[str, ...] = ()
    numbered: bool = False

    @property
    def eager(self) -> bool:
        """Whether the rows are in memory."""
        return all(isinstance(frame, pl.DataFrame) for frame, _ in self.sources)

    @property
    def engine(self) -> Literal["in-memory", "streaming"]:
        """What collects a few of its rows: the rest of a LazyFrame is not to be kept meanwhile."""
        return "in-memory" if self.eager else "streaming"

    @property
    def rows(self) -> int:
        """The number of rows; 0 for a LazyFrame, whose rows are not counted yet."""
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

    def made_of(self, frame: Frame) -> Table:
        """The table with other rows, or other dtypes, of its canonical columns."""
        dtypes = frame.collect_schema()
        return replace(self, sources=((frame, {column: pl.col(column) for column in dtypes}),), dtypes=dtypes)


def run_table(run: object, *, check: bool = True) -> Table:
    """A run in any form as a table with `query_id`, `doc_id`, `score`, and `run` where it has one."""
    if isinstance(run, Mapping) and holds_systems(run):
        return _several_systems(run, check=check)
    frame = to_polars("run", run, column="score")
    names = find_all("run", frame, required=("query_id", "doc_id"), optional=("run", "score", "rank"))
    if "score" not in names:
        if "rank" not in names:
            schema = frame.collect_schema()
            spare = [name for name, dtype in schema.items() if name not in names.values() and dtype.is_numeric()]
            raise lacking("run", "score", (*ROLES["score"], "rank"), schema.names(), spare)
        names["score"] = names["rank"]
    names.pop("rank", None)
    return _table("run", frame, names, without=("relevance", *MADE), check=check)


def qrels_table(qrels: object, *, per: str | None = None, check: bool = True) -> Table:
    """Judgments in any form as a table with `query_id`, `doc_id` and `relevance`, and the column `per` if given."""
    frame = to_polars("qrels", qrels, column="relevance")
    if isinstance(frame, pl.LazyFrame) and not isinstance(qrels, pl.LazyFrame):
        frame = frame.collect()  # of an Arrow dataset or stream; only a plan of the user's own is not ours to collect
    names = find_all("qrels", frame, required=("query_id", "doc_id"), optional=("relevance",))
    if "relevance" not in names:
        columns = frame.collect_schema().names()
        # BEIR, MTEB and ranx call a grade a score.
        grade = find("qrels", "score", columns)
        if grade is None:
            raise _ungraded(columns)
        names["relevance"] = grade
    if per is not None:
        if per in names.values():
            raise ColumnError.not_per(per, names.values())
        names[per] = find_per(per, frame.collect_schema().names())
    table = _table("qrels", frame, names, without=("run", "score", *MADE), check=check)
    return table if per is None else replace(table, per=(per,))


def labelled_table(frame: object) -> Table:
    """A frame that holds scores and grades side by side; without document ids its rows are `numbered`."""
    table = to_polars("run", frame, column="score")
    columns = table.collect_schema().names()
    if find("run", "relevance", columns) is None:
        found = {role: find("run", role, columns) for role in ("query_id", "doc_id", "score", "rank")}
        if found["doc_id"] is None and (error := mistaken("run", "doc_id", found, table.collect_schema())):
            raise error
        known, fix = ", ".join(ROLES["relevance"]), Fix("Pass the qrels", Code("run.ir.ndcg(qrels, k=10)"))
        says = f"no qrels were given, and run has no column of grades (recognised names: {known}); it has"
        raise ColumnError(f"{says} {quoted(columns)}.", fix=fix)
    names = find_all("run", table, required=("query_id", "score", "relevance"), optional=("run", "doc_id"))
    numbered = "doc_id" not in names
    if numbered:
        # Falling, and all of as many digits, so that they fall as text, too.
        table = table.with_columns(doc_id=2 * 10**15 - pl.int_range(pl.len(), dtype=pl.Int64))
        names["doc_id"] = "doc_id"
    return replace(_table("run", table, names, without=MADE, ungraded=True), numbered=numbered)


def _ungraded(columns: Sequence[str]) -> ColumnError:
    """That judgments have no grades, and what these are where rows are interactions."""
    accepted = ", ".join((*ROLES["relevance"], "score"))
    fix = Fix(
        "If every row is relevant, as clicks and purchases are, say so",
        Code("qrels.with_columns(relevance=1)", "qrels.assign(relevance=1)"),
        "; else rename the column of grades to 'relevance'",
        without_code="Add a column 'relevance', of ones if every row is relevant",
    )
    says = f"has no 'relevance' column (recognised names: {accepted}); it has {quoted(columns)}."
    return ColumnError(says, about="qrels", fix=fix)


def per_query_table(per_query: object) -> Table:
    """The result of `evaluate` again: `query_id`, `run` where there is one, and measures in numeric columns.

    A dict of such frames by system is one frame with a column `run`.
    """
    if isinstance(per_query, Mapping) and not isinstance(next(iter(per_query.values()), {}), Mapping):
        per_query = _of_each_system(per_query)
    frame = to_polars("per_query", per_query, column="score")
    _check_per_query(frame.collect_schema().names())
    names = find_all("per_query", frame, required=("query_id",), optional=("run",))
    return _table("per_query", frame, names, check=False)


def _check_per_query(columns: Sequence[str]) -> None:
    """Raise a `ColumnError` for a table of documents, whose scores and ranks are no measures."""
    documents, scores, grades = (
        [column for column in columns if fold(column) in map(fold, ROLES[role])]
        for role in ("doc_id", "score", "relevance")
    )
    if documents or (scores and grades) or "ideal_rank" in columns:
        telling = [*documents, *scores, *grades, *(column for column in columns if column == "ideal_rank")]
        kind = "the judged relation" if "ideal_rank" in columns else "a run or qrels"
        fix = Fix("Measure the run first", Code("per_query = run.ir.evaluate(qrels, ['nDCG@10', 'AP'])"))
        says = f"must have a row for each query; by its columns {quoted(telling)} it is {kind}."
        raise ColumnError(says, about="per_query", fix=fix)


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
        if role == "relevance" and isinstance(schema[name], TEXT):
            raise grades_in_text(table, name, frame, schema[name])
        if role == "score" and isinstance(schema[name], TEXT):
            raise scores_in_text(table, name, frame, schema[name])
        dtypes[role] = fitting(table, role, name, schema[name])
        column = pl.col(name) if dtypes[role] == schema[name] else pl.col(name).cast(dtypes[role])
        # With a rank in the place of a score, the first is the highest. Int128 has no negation.
        make[role] = 0 - column if role == "score" and fold(name) == "rank" else column
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


def _several_systems(runs: Mapping[Any, Any], *, check: bool) -> Table:
    """`{system: run}` as one table with a `run` column; a system whose run is empty is still one."""
    tables = _with_ids_of_others({str(system): run_table(run, check=check) for system, run in runs.items()})
    if len(tables) < len(runs):
        raise InputTypeError(f"two systems have one name as text; got {', '.join(map(repr, runs))}.")
    try:
        "".join(tables).encode()
    except UnicodeEncodeError as error:
        raise InputTypeError.no_text("run", error) from None
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
    shared.setdefault("score", score_type(tables))
    guarded = {system: with_guarded_score(system, table, shared["score"]) for system, table in tables.items()}
    sources = tuple(
        (frame, {"run": pl.lit(system), **{column: make[column].cast(dtype) for column, dtype in shared.items()}})
        for system, table in guarded.items()
        for frame, make in table.sources
    )
    return Table(sources, {"run": pl.String(), **shared}, {**first.names, "run": "run"}, tuple(tables))


def _with_ids_of_others(tables: Mapping[str, Table]) -> Mapping[str, Table]:
    """The tables, in which ids of a run without rows have the dtypes of another's: an empty dict tells none."""
    filled = [table for table in tables.values() if table.rows or not table.eager]
    if not filled:
        return tables
    ids = [pl.col(role).cast(filled[0].dtypes[role]) for role in ("query_id", "doc_id")]
    return {
        system: table
        if table.rows or not table.eager
        else table.made_of(table.all_columns().with_columns(ids).collect())
        for system, table in tables.items()
    }
