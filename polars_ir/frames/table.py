"""A run, qrels or a per-query frame under canonical column names: a `CanonicalFrame`. Inputs are never changed."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, InputTypeError, warn
from polars_ir.frames import advice
from polars_ir.frames.kinds import Frame, collected, give_back, holds_systems, to_polars
from polars_ir.frames.long_form import is_long, wide
from polars_ir.frames.roles import (
    PROVENANCE,
    QUERY_HASH,
    ROLE_OF,
    ROLES,
    SPLITTING,
    TEXT,
    WIDE,
    columns_of,
    find,
    find_per,
    fold,
)
from polars_ir.frames.rules import (
    BAD_RUN,
    Rule,
    check_duplicates,
    check_values,
    checked,
    duplicates_of_a_plan,
    guard,
    naming,
    wrong_run_row,
)
from polars_ir.language.names import canonical_name

#: Columns that the judged relation makes, so that a user's column of that name is left out.
MADE = ("rank", "ideal_rank", "n_retrieved", "n_higher", "n_tied", "judged_elsewhere")

#: Names that no key of rankings may have, since plans make such columns; also those that begin with `hit_`.
OF_PLANS = ("hit", "before")

#: The roles that a run must have, and those that it may have: all but those of judgments.
KEYS_OF_RUN = ("query_id", "doc_id")
OTHERS_OF_RUN = tuple(role.name for role in ROLES.values() if role.of != "qrels" and role.name not in KEYS_OF_RUN)

#: The roles that a per-query frame may have beside its query: the other keys of rankings.
OTHERS_OF_PER_QUERY = tuple(filter("query_id".__ne__, SPLITTING))

#: From so many rows on, texts are put in order by numbers.
MANY = 10_000

#: The first node of a plan that groups rows, and whether it takes them as they come.
GROUPED = re.compile(r'label="(sorted-)?group-by')

#: The column of what orders ids.
NUMBER = "polars_ir: number"


@dataclass(frozen=True)
class CanonicalFrame:
    """A run, qrels or a per-query frame (`about`), with the expressions that make its columns canonical ones.

    `sources` are frames that follow one another, each with its own expressions by canonical name. `select` builds a
    plan of just the columns that are needed: from one plan of all columns, shared by every pass over the run, the
    optimizer would keep the whole run in memory. `per` is the column that distinguishes
    several judgments of a document, if there are such. Without document ids (`numbered`) rows have numbers in their
    place, which are no order of documents.

    `by` are columns that tell rankings apart, such as that of days. `eager` is true of rows in memory, `rows` their
    number (0 for a LazyFrame, whose rows are not counted yet). `keys` are the columns that make a ranking one ranking:
    `by`, the system where there are several, and last the query; `document` are those of a row of it. `columns` are the
    canonical ones, and the others under their own names. `source_names` has the names of system and query in results,
    by their roles, and `roles` is its inverse.
    """

    about: str
    sources: tuple[tuple[Frame, Mapping[str, pl.Expr]], ...]
    dtypes: Mapping[str, pl.DataType]
    names: Mapping[str, str]
    systems: tuple[str, ...] | None = None
    per: tuple[str, ...] = ()
    numbered: bool = False
    by: tuple[str, ...] = ()
    source_names: dict[str, str] = field(init=False)
    roles: dict[str, str] = field(init=False)
    eager: bool = field(init=False)
    rows: int = field(init=False)
    keys: list[str] = field(init=False)
    document: list[str] = field(init=False)
    columns: list[str] = field(init=False)

    def __post_init__(self) -> None:
        eager, rows = True, 0
        for frame, _ in self.sources:
            if isinstance(frame, pl.DataFrame):
                rows += frame.height
            else:
                eager = False
        roles = list(filter(self.dtypes.__contains__, SPLITTING))
        keys, own = [*self.by, *roles], list(map(self.names.get, roles, roles))
        vars(self).update(source_names=dict(zip(roles, own, strict=True)), roles=dict(zip(own, roles, strict=True)))
        vars(self).update(eager=eager, rows=rows, keys=keys, document=[*keys, "doc_id"], columns=list(self.dtypes))

    @property
    def engine(self) -> Literal["in-memory", "streaming"]:
        """The engine that collects a few of its rows: the rest of a LazyFrame is not to be kept meanwhile."""
        return "in-memory" if self.eager else "streaming"

    def select(self, *columns: str) -> pl.LazyFrame:
        """A plan for some of the columns, under their canonical names."""
        plans = []
        for frame, make in self.sources:
            plans.append(frame.lazy().select(*map(make.__getitem__, columns)))
        return plans[0] if len(plans) == 1 else pl.concat(plans)

    def column(self, name: str) -> pl.Series:
        """A column of a table in memory, under its canonical name."""
        frame, make = self.sources[0]
        if len(self.sources) == 1 and isinstance(frame, pl.DataFrame) and make[name].meta.is_column():
            return frame.get_column(make[name].meta.output_name())
        return self.select(name).collect(engine="in-memory").to_series()

    def all_columns(self) -> pl.LazyFrame:
        """A plan for all of the columns."""
        return self.select(*self.columns)

    def with_frame(self, frame: Frame) -> CanonicalFrame:
        """The table with other rows, or other dtypes, of its canonical columns."""
        dtypes = frame.collect_schema()
        return replace(self, sources=((frame, {column: pl.col(column) for column in dtypes}),), dtypes=dtypes)

    def cast(self, role: str, dtype: pl.DataType) -> CanonicalFrame:
        """The table with a column of another dtype."""
        sources = tuple((frame, {**make, role: make[role].cast(dtype)}) for frame, make in self.sources)
        return replace(self, sources=sources, dtypes={**self.dtypes, role: dtype})

    def check_once(self, *keys: str, made: pl.DataFrame | None = None, hint: str = "") -> None:
        """Raise a `DataError` for rows in memory, of the table or made of it, that have the same keys."""
        if made is None and not self.eager:
            return
        if may_repeat(self.select(*keys) if made is None else made.lazy().select(*keys)):
            rows = self.all_columns() if made is None else made.lazy()
            check_duplicates(self.about, rows.collect(engine="in-memory"), keys, self.names, hint=hint)

    @property
    def repeated(self) -> str:
        """The message of a plan that meets a document of a run twice."""
        return duplicates_of_a_plan(self.dtypes, [*self.names, *self.by])

    def guarded(self) -> CanonicalFrame:
        """A run whose rows, where they are a plan's, are searched for null ids and scores."""
        if self.eager:
            return self
        return self.with_frame(
            guard(self.all_columns(), wrong_run_row(self.keys), naming(BAD_RUN, self.by), key="query_id")
        )

    def checked(self, *rules: Rule, rows: pl.LazyFrame | None = None, names: Mapping[str, str] = {}) -> pl.LazyFrame:
        """The rows of the table, or such that are made of it, of which none may be wrong by some rules.

        In memory a `DataError` shows those that are; a plan fails for one. `names` are the user's for columns of ours.
        """
        rows = self.all_columns() if rows is None else rows
        return checked(rows, *rules, eager=self.eager, about=self.about, keys=self.keys, names={**self.names, **names})

    def give_back(
        self, plan: pl.LazyFrame, like: object, engine: Literal["in-memory", "streaming"] = "in-memory"
    ) -> Any:
        """The result of a plan over the table in the kind of `like`; query and system have their names there."""
        plan = plan.rename(self.source_names, strict=False)
        return give_back(collected(plan, engine), like) if self.eager else plan


def known_order(rows: pl.LazyFrame, keys: Sequence[str]) -> list[str]:
    """The first keys that the rows of a plan rise by, as `set_sorted` says and Polars still knows: all, one or none.

    By these it groups rows as they come, and else keeps all groups in memory.
    """
    if "hint.sorted" not in rows.explain(optimized=False):
        return []
    for first in (len(keys), 1):
        grouped = rows.group_by(keys[:first]).agg()
        graph = grouped.show_graph(engine="streaming", plan_stage="physical", raw_output=True) or ""
        node = GROUPED.search(graph)
        if node and node[1] and "descending: true" not in graph:
            return list(keys[:first])
    return []


def may_repeat(keys: pl.LazyFrame) -> bool:
    """True if some rows in memory are the same, or only their hashes are."""
    # Hashes tell in a third of the time that keys take.
    hashes = keys.collect(engine="in-memory").hash_rows()
    return hashes.n_unique() < len(hashes)


def numbered(rows: pl.DataFrame, ids: str) -> pl.DataFrame:
    """The rows with `NUMBER`, which orders ids as they are ordered themselves, and tells them apart.

    Of many texts it is a number of eight of their bytes, by which they are in order in a tenth of the time.
    """
    number = pl.col(ids)
    if rows.height < MANY or rows[ids].dtype != pl.String:
        return rows.with_columns(number.alias(NUMBER))
    length = number.str.len_bytes()
    shortest, longest = rows.select(a=length.min(), b=length.max()).row(0)
    shared = _shared_start(rows[ids].gather_every(rows.height // MANY))
    if not rows[ids].str.starts_with(shared).all():
        shared = _shared_start(rows[ids])
    start, same_length = len(shared.encode()), shortest == longest >= 8
    if same_length:
        start = min(start, longest - 8)
    elif shortest < start + 8:
        number = number.str.pad_end(len(shared) + 8, "\0")
    number = number.cast(pl.Binary).bin.slice(start, 8).bin.reinterpret(dtype=pl.UInt64, endianness="big")
    rows = rows.with_columns(number.alias(NUMBER))
    return rows if same_length and longest <= start + 8 else _told_apart(rows, ids)


def _shared_start(texts: pl.Series) -> str:
    """The start of all texts: those between the first and the last in order begin as both do."""
    return os.path.commonprefix([str(texts.min()), str(texts.max())])  # noqa: RUF071  # texts, and no paths


def _told_apart(rows: pl.DataFrame, ids: str) -> pl.DataFrame:
    """The rows with other numbers where ids of one number differ, which only more of their bytes tell apart."""
    texts = rows.select(NUMBER, ids).sort(NUMBER)
    differ = (pl.col(NUMBER) == pl.col(NUMBER).shift()) & (pl.col(ids) != pl.col(ids).shift())
    several = texts.filter(differ)[NUMBER].unique()
    if several.is_empty():
        return rows
    numbers = rows.select(NUMBER, ids).unique().sort(NUMBER)
    alike = pl.col(NUMBER).is_in(several.implode())
    # Ids of one number stand together in both orders.
    numbers = pl.concat([numbers.filter(~alike), numbers.filter(alike).sort(ids)]).sort(NUMBER, maintain_order=True)
    numbers = numbers.select(ids, pl.int_range(pl.len(), dtype=pl.UInt64).alias(NUMBER))
    return rows.drop(NUMBER).join(numbers, on=ids, maintain_order="left")


def run_table(run: object, *, check: bool = True, by: Sequence[str] = ()) -> CanonicalFrame:
    """A run in any form as a table with `query_id`, `doc_id`, `score`, `run` where it has one, and the keys `by`."""
    if isinstance(run, Mapping) and holds_systems(run):
        return _several_systems(run, check=check, by=by)
    frame = to_polars("run", run, column="score")
    schema = frame.collect_schema()
    names = _names("run", schema, KEYS_OF_RUN, OTHERS_OF_RUN)
    if "score" not in names:
        if "rank" not in names:
            spare = [name for name, dtype in schema.items() if name not in names.values() and dtype.is_numeric()]
            raise advice.lacking("run", "score", (*ROLES["score"].names, "rank"), schema.names(), spare)
        names["score"] = names["rank"]
    names.pop("rank", None)
    return _table("run", frame, names, without=("relevance", *MADE), check=check, by=by)


def qrels_table(qrels: object, *, per: str | None = None, check: bool = True, by: Sequence[str] = ()) -> CanonicalFrame:
    """Judgments in any form as a table with `query_id`, `doc_id` and `relevance`, and the column `per`, if any.

    Of the keys `by` it has those that the judgments have.
    """
    frame = to_polars("qrels", qrels, column="relevance")
    if isinstance(frame, pl.LazyFrame) and not isinstance(qrels, pl.LazyFrame):
        frame = frame.collect()  # of an Arrow dataset or stream; only a plan of the user's own is not ours to collect
    schema = frame.collect_schema()
    names = _names("qrels", schema, ("query_id", "doc_id"), ("relevance",))
    if "relevance" not in names:
        # BEIR, MTEB and ranx call a grade a score.
        grade = find("qrels", "score", schema)
        if grade is None:
            raise advice.lacking_grades(schema.names())
        names["relevance"] = grade
    without = ("run", "score", *MADE)
    if per is not None:
        for taken in (names.values(), without):
            if per in taken:
                raise ColumnError.not_per(per, taken)
        names[per] = find_per(per, schema.names())
    by = tuple(filter(schema.__contains__, by))
    return _table("qrels", frame, names, without=without, check=check, per=() if per is None else (per,), by=by)


def labelled_table(frame: object, *, by: Sequence[str] = ()) -> CanonicalFrame:
    """A frame that holds scores and grades side by side; without document ids its rows are `numbered`."""
    table = to_polars("run", frame, column="score")
    schema = table.collect_schema()
    if find("run", "relevance", schema) is None:
        raise advice.not_labelled(schema)
    names = _names("run", schema, ("query_id", "score", "relevance"), ("run", "doc_id"))
    numbered = "doc_id" not in names
    if numbered:
        # Falling, and all of as many digits, so that they fall as text, too.
        table = table.with_columns(doc_id=2 * 10**15 - pl.int_range(pl.len(), dtype=pl.Int64))
        names["doc_id"] = "doc_id"
    return _table("run", table, names, without=MADE, ungraded=True, numbered=numbered, by=by)


def per_query_table(per_query: object, about: str = "per_query") -> CanonicalFrame:
    """The result of `evaluate` again: `query_id`, `run` where there is one, and measures in numeric columns.

    A dict of such frames, or tables, by system is one with a column `run`; one in long form is made wide.
    """
    if isinstance(per_query, Mapping) and not per_query:
        says = "must be a frame of measures per query, or a dict of such by system; got {}."
        raise InputTypeError(says, about=about)
    if isinstance(per_query, Mapping) and not isinstance(next(iter(per_query.values()), {}), Mapping):
        per_query = _of_each_system(per_query)
    frame = to_polars(about, per_query, column="score")
    schema = frame.collect_schema()
    if "measure" in schema and is_long(schema):
        frame = wide(about, frame)
        schema = frame.schema
    roles = set(map(ROLE_OF.get, map(fold, schema)))
    if "doc_id" in roles or {"score", "relevance"} <= roles or "ideal_rank" in schema:
        raise advice.of_documents(about, schema.names())
    return _table(about, frame, _names(about, schema, ("query_id",), OTHERS_OF_PER_QUERY), check=False)


def same_types(run: CanonicalFrame, qrels: CanonicalFrame) -> tuple[CanonicalFrame, CanonicalFrame]:
    """Both tables with ids of one type; a `DtypeError` where one has integers and the other strings.

    A table in memory without any id takes the type of the other.
    """
    for role in (*qrels.by, "query_id", "doc_id"):
        own, others = run.dtypes[role], qrels.dtypes[role]
        if own == others:
            continue
        if own.is_integer() and others.is_integer() and pl.UInt128 not in (own, others):
            run, qrels = run.cast(role, pl.Int128()), qrels.cast(role, pl.Int128())
        elif own.is_integer() != others.is_integer() and _holds_none(qrels, role):
            qrels = qrels.cast(role, own)
        elif own.is_integer() != others.is_integer() and _holds_none(run, role):
            run = run.cast(role, others)
        elif role in qrels.by:
            raise advice.of_two_types(role, own, others)
        else:
            raise DtypeError.different_ids(run.names[role], own, qrels.names[role], others)
    return run, qrels


def fitting(table: str, role: str, name: str, dtype: pl.DataType, frame: Frame | None = None) -> pl.DataType:
    """The dtype in which the column of a role can be joined, compared and added up; an error that shows the cast."""
    values = ROLES[role].values if role in ROLES else "id"
    if values == "id":
        if isinstance(dtype, TEXT) or (dtype == pl.Null and role != "run"):
            return pl.String()
        # Days tell systems and rankings apart; ids of documents and queries are also compared as text.
        is_day = dtype.is_temporal() and (role == "run" or role not in ROLES)
        if dtype.is_integer() or is_day or (dtype == pl.Boolean and role not in ROLES):
            return dtype if is_day or dtype in (*WIDE, pl.Boolean) else pl.Int64()
    elif dtype.is_numeric():
        if fold(name) == "rank" and not dtype.is_float():
            # Its negative stands for the score, which an unsigned number has not.
            return pl.Float64() if dtype.is_decimal() else pl.Int128() if dtype in WIDE else pl.Int64()
        exact = dtype.is_decimal() or dtype in WIDE  # not all of these are Float64 or Int64
        if dtype.is_float() or (exact and values == "score"):
            return dtype
        # A small grade has no room for sums.
        return pl.Float64() if exact else pl.Int64()
    elif dtype == pl.Boolean and values == "grade":
        return pl.Int64()
    raise advice.misfit(table, role, name, dtype, frame)


def _names(table: str, schema: pl.Schema, needed: Sequence[str], optional: Sequence[str]) -> dict[str, str]:
    """The columns of roles; an error for a needed one that is missing."""
    names = columns_of(table, schema, (*needed, *optional))
    for role in needed:
        if role not in names:
            raise advice.without(table, role, names, schema)
    return names


def _table(
    about: str,
    frame: Frame,
    names: Mapping[str, str],
    *,
    without: Sequence[str] = (),
    ungraded: bool = False,
    check: bool = True,
    by: Sequence[str] = (),
    **others: Any,
) -> CanonicalFrame:
    """The table of a frame, its dtypes checked, and its values where they are in memory."""
    make: dict[str, pl.Expr] = {}
    dtypes: dict[str, pl.DataType] = {}
    schema = frame.collect_schema()
    if by:
        advice.check_keys(about, by, names, schema, (*ROLES, *MADE, *OF_PLANS, PROVENANCE, QUERY_HASH))
        names = {**names, **dict(zip(by, by, strict=True))}
    taken = {*names, *names.values(), *without}
    for role, name in names.items():
        dtypes[role] = fitting(about, role, name, schema[name], frame)
        column = pl.col(name) if dtypes[role] == schema[name] else pl.col(name).cast(dtypes[role])
        # With a rank in the place of a score, the first is the highest. Int128 has no negation.
        column = 0 - column if role == "score" and fold(name) == "rank" else column
        make[role] = column if role == name else column.alias(role)
    for name, dtype in schema.items():
        if name not in taken:
            make[name], dtypes[name] = pl.col(name), dtype
    if isinstance(frame, pl.DataFrame):
        if dtypes != dict(schema):
            frame = frame.select(*make.values())
            make = dict(zip(make, map(pl.col, make), strict=True))
        for values in map(frame.get_column, names if check else ()):
            if values.null_count() or (values.dtype.is_float() and not math.isfinite(values.sum())):
                check_values(about, frame, names, ungraded=ungraded)
                break
    return CanonicalFrame(about, ((frame, make),), dtypes, dict(names), by=tuple(by), **others)


def _of_each_system(per_query: Mapping[Any, Any]) -> Frame:
    """`{system: per-query frame}` as one frame; the query column has its name in the first of them."""
    tables: dict[str, CanonicalFrame] = {}
    columns = set()
    for system, frame in named_by_text(per_query).items():
        tables[system] = table = frame if isinstance(frame, CanonicalFrame) else per_query_table(frame)
        columns.add(frozenset(table.dtypes))
        if "run" in table.dtypes and not (table.eager and table.select("run").collect().n_unique() < 2):
            raise ColumnError.systems_in_a_system(system, table.names["run"])
        if table.eager and not table.rows:
            warn(f"has no row of system {system!r}, which is in no result.", about="per_query")
    if len(columns) > 1:
        tables = _spelt_alike(tables)
    query = {"query_id": _of_one_type("per_query", tables, ["query_id"]).names["query_id"]}
    eager, named = True, []
    for system, table in tables.items():
        eager &= table.eager
        named.append(table.all_columns().with_columns(run=pl.lit(system)).rename(query))
    together = pl.concat(named, how="diagonal_relaxed")
    return together.collect() if eager else _merged(named, query["query_id"], together)


def _merged(plans: Sequence[pl.LazyFrame], key: str, together: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of plans, which are `together` in no order, in that of a key if all are known to be sorted by it."""
    schema = together.collect_schema()
    if all(plan.collect_schema() == schema and known_order(plan, [key]) for plan in plans):
        return reduce(lambda rows, others: rows.merge_sorted(others, key), plans).set_sorted(key)
    return together


def named_by_text(systems: Mapping[Any, Any]) -> dict[str, Any]:
    """The tables of systems by the texts of their names; an `InputTypeError` for two of one."""
    named = {}
    for key, table in systems.items():
        # The keys of `partition_by(as_dict=True)` are tuples.
        named[str(key[0] if isinstance(key, tuple) and len(key) == 1 else key)] = table
    if len(named) < len(systems):
        raise InputTypeError(f"two systems have one name as text; got {', '.join(map(repr, systems))}.")
    return named


def _spelt_alike(tables: Mapping[str, CanonicalFrame]) -> dict[str, CanonicalFrame]:
    """The tables with each measure under the first name that one of them has for it: `ndcg_10` is nDCG@10."""
    first: dict[str, str] = {}
    alike = {}
    for system, table in tables.items():
        names = {name: first.setdefault(canonical_name(name), name) for name in table.columns}
        # A table may hold both.
        names = {name: other for name, other in names.items() if other != name and other not in table.columns}
        rows = table.all_columns().rename(names)
        alike[system] = table.with_frame(rows.collect() if table.eager else rows) if names else table
    return alike


def _several_systems(runs: Mapping[Any, Any], *, check: bool, by: Sequence[str]) -> CanonicalFrame:
    """`{system: run}` as one table with a `run` column; a system whose run is empty is still one."""
    named = named_by_text(runs)
    tables = _with_ids_of_others({system: run_table(run, check=check, by=by) for system, run in named.items()})
    try:
        "".join(tables).encode()
    except UnicodeEncodeError as error:
        raise InputTypeError.no_text("run", error) from None
    tables = {system: _of_one_system(system, table) for system, table in tables.items()}
    first = _of_one_type("run", tables, (*KEYS_OF_RUN, *by))
    shared = {
        column: dtype
        for column, dtype in first.dtypes.items()
        if all(table.dtypes.get(column) == dtype for table in tables.values())
    }
    shared.setdefault("score", _score_type(tables))
    guarded = {system: _with_guarded_score(system, table, shared["score"]) for system, table in tables.items()}
    sources = tuple(
        (
            frame,
            {"run": pl.lit(system).alias("run"), **{name: make[name].cast(dtype) for name, dtype in shared.items()}},
        )
        for system, table in guarded.items()
        for frame, make in table.sources
    )
    names = {**first.names, "run": "run"}
    return CanonicalFrame("run", sources, {"run": pl.String(), **shared}, names, tuple(tables), by=tuple(by))


def _of_one_system(system: str, table: CanonicalFrame) -> CanonicalFrame:
    """The run of a system without a column of it; a `ColumnError` for one that holds several, or is a plan."""
    if "run" not in table.dtypes:
        return table
    if not table.eager or table.select("run").collect().n_unique() > 1:
        raise ColumnError.systems_in_a_system(system, table.names["run"])
    return replace(table, dtypes={name: dtype for name, dtype in table.dtypes.items() if name != "run"})


def _of_one_type(kind: str, tables: Mapping[str, CanonicalFrame], roles: Sequence[str]) -> CanonicalFrame:
    """The first of the tables of several systems; a `DtypeError` where the ids of another have another type."""
    first = next(iter(tables.values()))
    for system, table in tables.items():
        for role in roles:
            if (dtype := table.dtypes[role]) != first.dtypes[role]:
                wanted = f"{first.dtypes[role]}, as in the first {kind}"
                raise DtypeError.of_column(f"{kind} {system!r}", table.names[role], wanted, dtype, "Cast one.")
    return first


def _with_ids_of_others(tables: Mapping[str, CanonicalFrame]) -> Mapping[str, CanonicalFrame]:
    """The tables, in which ids of a run without rows have the dtypes of another's: an empty dict has none."""
    filled = [table for table in tables.values() if table.rows or not table.eager]
    if not filled:
        return tables
    ids = [pl.col(role).cast(filled[0].dtypes[role]) for role in KEYS_OF_RUN]
    return {
        system: table
        if table.rows or not table.eager
        else table.with_frame(table.all_columns().with_columns(ids).collect())
        for system, table in tables.items()
    }


def _score_type(tables: Mapping[str, CanonicalFrame]) -> pl.DataType:
    """The type that holds the scores of all systems: Float64 where one has floats, and no other wide integers."""
    dtypes = {table.dtypes["score"] for table in tables.values()}
    if not any(dtype.is_float() for dtype in dtypes):
        scales = [dtype.scale for dtype in dtypes if isinstance(dtype, pl.Decimal)]
        if pl.UInt128 not in dtypes:
            return pl.Decimal(38, max(scales)) if scales else pl.Int128()
    for system, table in tables.items():
        if table.eager and not table.dtypes["score"].is_float() and not _is_float64(table):
            fix = Fix("Give all systems scores of one type", Code(f"pl.col({table.names['score']!r}).cast(pl.Float64)"))
            raise DataError(f"{_rounded(system, table)}.", fix=fix)
    return pl.Float64()


def _with_guarded_score(system: str, table: CanonicalFrame, dtype: pl.DataType) -> CanonicalFrame:
    """The table; where it is a plan whose scores become Float64, it fails for a score that this rounds.

    Only all scores together would show that two of them become equal; a rounded one shows in its own row.
    """
    own = table.dtypes["score"]
    if table.eager or own.is_float() or not dtype.is_float():
        return table
    sources = []
    for frame, make in table.sources:
        score = make["score"]
        is_rounded = score.cast(pl.Float64).cast(own, strict=False).ne_missing(score)
        message = f"{_rounded(system, table)}; give all systems scores of one type"
        guarded = guard(frame.lazy(), is_rounded, message)
        sources.append((guarded, {**make, "score": score.cast(pl.Float64)}))
    return replace(table, sources=tuple(sources))


def _rounded(system: str, table: CanonicalFrame) -> str:
    """The problem of a system whose scores those of others round."""
    return f"run {system!r} has scores of {table.dtypes['score']} that Float64, the type of others, rounds"


def _is_float64(table: CanonicalFrame) -> bool:
    """True if Float64 holds the scores of a table apart."""
    score = pl.col("score")
    rounded = score.cast(pl.Float64)
    return bool(table.select("score").select(score.n_unique() == rounded.n_unique()).collect().item())


def _holds_none(table: CanonicalFrame, role: str) -> bool:
    """True of a table in memory without any id of a role."""
    return table.eager and table.select(role).drop_nulls().collect().is_empty()
