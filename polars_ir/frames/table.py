"""A run, qrels or a per-query frame, in any form, as a `CanonicalFrame`. Inputs are never changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import ColumnError, DtypeError, InputTypeError, caller, fold, quoted, with_names
from polars_ir.frames import advice
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import Frame, holds_systems, to_polars
from polars_ir.frames.long_form import is_long, wide
from polars_ir.frames.roles import (
    KEYS_OF_RUN,
    PROVENANCE,
    QUERY_HASH,
    ROLE_OF,
    ROLES,
    TEXT,
    WIDE,
    columns_of,
    find,
    find_per,
    is_rank,
)
from polars_ir.frames.rules import check_values, wrong_value
from polars_ir.frames.systems import named_by_text, systems_of_figures, systems_of_runs

#: Columns that the judged relation makes, so that a user's column of that name is left out.
MADE = ("rank", "ideal_rank", "n_retrieved", "n_higher", "n_tied", "judged_elsewhere")

#: Names that no key of rankings may have, since plans make such columns; also those that begin with `hit_`.
OF_PLANS = ("hit", "before")

#: Roles that a run may have beside its required ones: all except those of judgments.
OTHERS_OF_RUN = tuple(role.name for role in ROLES.values() if role.of != "qrels" and role.name not in KEYS_OF_RUN)


def run_table(run: object, *, check: bool = True, by: Sequence[str] = ()) -> CanonicalFrame:
    """A run in any form as a table with `query_id`, `doc_id`, `score`, `run` where it has one, and the keys `by`."""
    if isinstance(run, Mapping) and holds_systems(run):
        tables = {}
        for system, each in named_by_text(run).items():
            with with_names(run=caller().names.get("run", f"run {system!r}")):
                tables[system] = run_table(each, check=check, by=by)
        return systems_of_runs(tables, by)
    frame = to_polars("run", run, column="score")
    names = _names("run", frame, (*KEYS_OF_RUN, "score"), OTHERS_OF_RUN)
    return _table("run", frame, names, without=("relevance", *MADE), check=check, by=by)


def qrels_table(qrels: object, *, per: str | None = None, check: bool = True, by: Sequence[str] = ()) -> CanonicalFrame:
    """Judgments in any form as a table with `query_id`, `doc_id` and `relevance`, and the column `per`, if any.

    Of the keys `by` it has those that the judgments have.
    """
    frame = to_polars("qrels", qrels, column="relevance")
    if isinstance(frame, pl.LazyFrame) and not isinstance(qrels, pl.LazyFrame):
        frame = frame.collect()  # of an Arrow dataset or stream; only a plan of the user's own is not ours to collect
    schema = frame.collect_schema()
    names = _names("qrels", frame, ("query_id", "doc_id"), ("relevance",))
    if "relevance" not in names:
        # BEIR, MTEB and ranx call a grade a score.
        grade = find("qrels", "score", schema)
        if grade is None:
            raise advice.lacking_grades(names, schema)
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
    names = _names("run", table, ("query_id", "score", "relevance"), ("run", "doc_id", "rank"))
    numbered = "doc_id" not in names
    if numbered:
        # Falling, and all of as many digits, so that they fall as text, too.
        table = table.with_columns(doc_id=2 * 10**15 - pl.int_range(pl.len(), dtype=pl.Int64))
        names["doc_id"] = "doc_id"
    return _table("run", table, names, without=MADE, ungraded=True, numbered=numbered, by=by)


def history_table(history: object) -> CanonicalFrame:
    """What users had before, in any form of a run, as a table with `query_id` and `doc_id`; other columns are left out.

    A pair can have several rows. Those of a LazyFrame are searched for null ids by its plan.
    """
    frame = to_polars("history", history, column="score")
    names = _names("history", frame, KEYS_OF_RUN, ())
    return _searched(_table("history", frame, names, without=frame.collect_schema().names()))


def items_table(items: object) -> CanonicalFrame:
    """The items of a catalogue, a row each, as a table with `doc_id` and their other columns."""
    frame = to_polars("items", items, column="score")
    table = _searched(_table("items", frame, _names("items", frame, ("doc_id",), ())))
    table.check_once("doc_id")
    twice = "the items have an item more than once; keep one row of each"
    return table.guarded_by(pl.col("doc_id").is_duplicated(), twice, key="doc_id")


def _searched(table: CanonicalFrame) -> CanonicalFrame:
    """The table whose ids, where its rows are a plan's, are searched for nulls."""
    wrong = pl.any_horizontal(map(wrong_value, table.names))
    says = f"the {table.about} has ids that are null; leave those rows out"
    return table.guarded_by(wrong, says, key=next(iter(table.names)))


def per_query_table(per_query: object, about: str = "per_query") -> CanonicalFrame:
    """The result of `evaluate` again: `query_id`, `run` where there is one, and measures in numeric columns.

    A dict of such frames, or tables, by system is one with a column `run`; one in long form is made wide.
    """
    if isinstance(per_query, Mapping) and not per_query:
        says = "must be a frame of measures per query, or a dict of such by system; got {}."
        raise InputTypeError(says, about=about)
    if isinstance(per_query, Mapping) and not isinstance(next(iter(per_query.values()), {}), Mapping):
        systems = named_by_text(per_query).items()
        per_query = systems_of_figures(
            {
                system: frame if isinstance(frame, CanonicalFrame) else per_query_table(frame)
                for system, frame in systems
            }
        )
    frame = to_polars(about, per_query, column="score")
    schema = frame.collect_schema()
    if "measure" in schema and is_long(about, frame):
        frame = wide(about, frame)
        schema = frame.schema
    roles = set(map(ROLE_OF.get, map(fold, schema)))
    if "doc_id" in roles or {"score", "relevance"} <= roles or "ideal_rank" in schema:
        raise advice.of_documents(about, schema.names())
    return _table(about, frame, _names(about, frame, ("query_id",), ("run",)), check=False)


def answers_table(frame: object, *columns: str) -> CanonicalFrame:
    """Judged parts of answers, in any form: `query_id`, `run` where there are several, and the columns named."""
    rows = to_polars("frame", frame, column=columns[-1])
    schema = rows.collect_schema()
    table = _table("frame", rows, _names("frame", rows, ("query_id",), ("run",)))
    if lacking := [name for name in columns if name not in schema]:
        says = f"has no {quoted(lacking)} column{'s' * (len(lacking) > 1)}; it has {quoted(schema)}."
        raise ColumnError(says, about="frame", fix="Rename those that are meant")
    if nested := [f"{name!r} is {schema[name]}" for name in columns if schema[name].is_nested()]:
        raise DtypeError(f"must have one value per row; {', '.join(nested)}.", about="frame", fix="Explode it")
    return _searched(table)


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
        elif own.is_integer() != others.is_integer() and qrels.holds_none(role):
            qrels = qrels.cast(role, own)
        elif own.is_integer() != others.is_integer() and run.holds_none(role):
            run = run.cast(role, others)
        elif role in qrels.by:
            raise advice.of_two_types(role, own, others)
        else:
            raise DtypeError.different_ids(run.names[role], own, qrels.names[role], others)
    return run, qrels


def fitting(table: str, role: str, name: str, dtype: pl.DataType, frame: Frame | None = None) -> pl.DataType:
    """Dtype in which the column of a role can be joined, compared and added up; an error that shows the cast."""
    values = ROLES[role].values if role in ROLES else "id"
    if values == "id":
        if isinstance(dtype, TEXT) or (dtype == pl.Null and role != "run"):
            return pl.String()
        # Days distinguish systems and rankings; ids of documents and queries are also compared as text.
        is_day = dtype.is_temporal() and (role == "run" or role not in ROLES)
        if dtype.is_integer() or is_day or (dtype == pl.Boolean and role not in ROLES):
            return dtype if is_day or dtype in (*WIDE, pl.Boolean) else pl.Int64()
    elif dtype.is_numeric():
        if is_rank(name) and not dtype.is_float():
            # Its negative stands for the score, which unsigned numbers lack.
            return pl.Float64() if dtype.is_decimal() else pl.Int128() if dtype in WIDE else pl.Int64()
        exact = dtype.is_decimal() or dtype in WIDE  # not all of these are Float64 or Int64
        if dtype.is_float() or (exact and values == "score"):
            return dtype
        # A small grade has no room for sums.
        return pl.Float64() if exact else pl.Int64()
    elif dtype == pl.Boolean and values == "grade":
        return pl.Int64()
    raise advice.misfit(table, role, name, dtype, frame)


def _names(table: str, frame: Frame, needed: Sequence[str], optional: Sequence[str]) -> dict[str, str]:
    """The columns of roles, a rank instead of a missing score; an error for required ones that are missing."""
    schema = frame.collect_schema()
    names = columns_of(table, schema, (*needed, *optional))
    rank = names.pop("rank", None)
    if rank is not None and "score" in needed:
        names.setdefault("score", rank)
    if not set(needed) <= names.keys():
        raise advice.without(table, [role for role in needed if role not in names], names, schema, frame)
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
        column = 0 - column if role == "score" and is_rank(name) else column
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
