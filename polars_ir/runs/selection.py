"""Rows of a run and its judgments that count: documents that are not excluded, each document once.

Conventions
    * All figures are those of tables without the other rows: documents below an excluded or repeated one move up, and a
      query whose judgments are all excluded is not judged.
    * A key that only the judgments have, such as their judge, makes each ranking one for each of its values.
    * A repeated document counts at its first place in the ranking. Among its rows with the same score the one that is
      first with `ties="input"` counts, else the one whose other columns are lowest, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from itertools import filterfalse
from typing import Any, NamedTuple

import polars as pl

from polars_ir.errors import (
    Code,
    ColumnError,
    DtypeError,
    Fix,
    OptionError,
    fold,
    nearest,
    option,
    quoted,
    table_name,
    warn,
)
from polars_ir.frames.kinds import Frame, to_polars
from polars_ir.frames.roles import PARTS, ROLE_OF, TEXT, columns_of, find, required
from polars_ir.frames.rules import Rule, checked
from polars_ir.runs.alternatives import Frames, frames_of
from polars_ir.runs.options import Selecting

#: Options of a call whose rows all count.
NEUTRAL: Selecting = {"exclude": None, "duplicates": "error"}


def selected(run: Any, qrels: Any, options: Mapping[str, Any], by: Sequence[str] = ()) -> tuple[Any, Any]:
    """The run and its judgments, as Polars frames without the rows that some options leave out; `by` are keys."""
    return selected_with_keys(run, qrels, options, by)[:2]


def selected_with_keys(
    run: Any, qrels: Any, options: Mapping[str, Any], by: Sequence[str]
) -> tuple[Any, Any, list[str]]:
    """As `selected`, with those keys that only the judgments had."""
    exclude, duplicates = options["exclude"], options["duplicates"]
    only_judged: list[str] = []
    if by and qrels is not None:
        run, qrels, only_judged = _by_judge(run, qrels, by)
    if exclude is None and duplicates == "error":
        return run, qrels, only_judged
    runs, judgments = frames_of(run), None
    if qrels is not None:
        judgments = to_polars("qrels", qrels, column="relevance")
        if not isinstance(qrels, pl.LazyFrame):
            judgments = judgments.lazy().collect()
    if exclude is not None:
        runs, judgments = _without_excluded(runs, judgments, exclude, by)
    if duplicates == "first":
        ties, labelled = options.get("ties", "doc_id"), qrels is None
        runs = _each(runs, lambda frame: _at_first_place(frame, by, in_order=ties == "input", labelled=labelled))
    return runs, judgments, only_judged


def _by_judge(run: Any, qrels: Any, by: Sequence[str]) -> tuple[Any, Any, list[str]]:
    """The run repeated for each value of those keys that only the judgments have, which are then its own."""
    runs, judgments = frames_of(run), to_polars("qrels", qrels, column="relevance")
    frames = list(runs.values()) if isinstance(runs, dict) else [runs]
    of_run = list(dict.fromkeys(name for frame in frames for name in frame.collect_schema()))
    _check_keys(by, of_run, judgments.collect_schema())
    keys = keys_of_judgments(by, of_run, judgments.collect_schema())
    if not keys:
        return run, qrels, []
    if isinstance(judgments, pl.LazyFrame) and any(isinstance(frame, pl.DataFrame) for frame in frames):
        # The evaluation of rows in memory would collect them once more.
        judgments = qrels = judgments.collect()
    values = judgments.select(keys).unique().drop_nulls().sort(keys)
    return _each(runs, lambda frame: _repeated(frame, values)), qrels, keys


def _check_keys(by: Sequence[str], of_run: Sequence[str], schema: Mapping[str, pl.DataType]) -> None:
    """Raise an error for a key that neither table has, or of a type by which no judges are distinguished."""
    for name in filterfalse(of_run.__contains__, by):
        if name not in schema:
            says = f"has no column {name!r}, which {option('by')} says distinguishes rankings; it has {quoted(of_run)}"
            says += f", and {table_name('qrels')} have {quoted(schema)}."
            raise ColumnError(says, about="run", near=nearest(name, [*of_run, *schema]))
        dtype = schema[name]
        if fold(name) not in PARTS | ROLE_OF.keys() and (dtype.is_float() or dtype == pl.Boolean or dtype.is_nested()):
            fix = Fix("Give each row one" if dtype.is_nested() else "Cast it")
            if not dtype.is_nested():
                fix = fix._replace(code=Code.as_text("qrels", name))
            raise DtypeError.of_column("qrels", name, "strings or integers, as it is one of judges", dtype, fix)


def keys_of_judgments(by: Sequence[str], of_run: Collection[str], schema: Mapping[str, pl.DataType]) -> list[str]:
    """Those keys that only the judgments have; not days, tenants and the like, which distinguish rankings, too."""
    names = [name for name in by if name in schema and name not in of_run and fold(name) not in PARTS | ROLE_OF.keys()]
    return [name for name in names if isinstance(schema[name], TEXT) or schema[name].is_integer()]


def _repeated(run: Frame, values: Frame) -> Frame:
    """The rows of a run once for each row of some values."""
    if isinstance(run, pl.LazyFrame) or isinstance(values, pl.LazyFrame):
        return values.lazy().join(run.lazy(), how="cross", maintain_order="left_right")
    # No row of the run is copied.
    dtypes = values.schema
    of_each = ([pl.lit(row[name], dtypes[name]).alias(name) for name in dtypes] for row in values.to_dicts())
    return pl.concat([run.with_columns(each) for each in of_each] or [run.join(values, how="cross")])


def excluded_as_text(exclude: Any) -> str | None:
    """Excluded documents, as provenance records them: for a table an order-free hash."""
    if exclude is None or isinstance(exclude, str):
        return exclude
    rows, *ids = _excluded(exclude)
    texts = pl.concat_str([pl.col(name).cast(pl.String) for name in ids], separator="\t")
    listed = rows.lazy().select(texts.unique().sort()).collect().to_series().drop_nulls()
    digest = sha256("\n".join(listed).encode()).hexdigest()
    return f"table {digest[:16]}"


def _each(runs: Frames, change: Callable[[Frame], Frame]) -> Frames:
    return {name: change(frame) for name, frame in runs.items()} if isinstance(runs, dict) else change(runs)


def _like(frame: Frame, rows: pl.LazyFrame) -> Frame:
    """Rows of a frame in its kind."""
    return rows.collect(engine="in-memory") if isinstance(frame, pl.DataFrame) else rows


def _without_excluded(
    runs: Frames, judgments: Frame | None, exclude: Any, by: Sequence[str]
) -> tuple[Frames, Frame | None]:
    """The runs and the judgments without some documents."""
    excluded, labelled = None if isinstance(exclude, str) else _excluded(exclude, by), judgments is None
    kept = _each(runs, lambda frame: _without("run", frame, excluded, labelled=labelled))
    judged = None if judgments is None else _without("qrels", judgments, excluded)
    if excluded is not None and isinstance(excluded.rows, pl.DataFrame) and excluded.rows.height:
        before, left = _heights(runs, judgments), _heights(kept, judged)
        if None not in before and before == left:
            first = quoted(map(str, excluded.rows.select(excluded.query, excluded.document).row(0)))
            warn(f"names no document of the run or the judgments; its first row is {first}.", about="exclude")
    _warn_of_unjudged(*((runs, kept) if judgments is None else (judgments, judged)))
    return kept, judged


def _warn_of_unjudged(before: Any, after: Any) -> None:
    """Warn of queries in memory all of whose judgments are excluded."""
    query = find("qrels", "query_id", before.columns) if isinstance(before, pl.DataFrame) else None
    if query is None or before.height == after.height:
        return
    lost = before.select(query).drop_nulls().join(after, on=query, how="anti", maintain_order="left").to_series()
    if n := lost.n_unique():
        queries = "query" if n == 1 else "queries"
        warn(f"leaves {n} {queries} without judgments, such as {lost[0]!r}; means leave them out.", about="exclude")


def _heights(runs: Frames, judgments: Frame | None) -> list[int | None]:
    """Row count of each table, None for a plan."""
    frames = [*(runs.values() if isinstance(runs, dict) else [runs]), *([] if judgments is None else [judgments])]
    return [frame.height if isinstance(frame, pl.DataFrame) else None for frame in frames]


class Excluded(NamedTuple):
    """A table of excluded documents, with the columns of their queries and of their own ids."""

    rows: Frame
    query: str
    document: str


def _excluded(exclude: Any, by: Sequence[str] = ()) -> Excluded:
    """Excluded documents of a table in any form; `by` are keys of rankings, which it must not have."""
    frame = to_polars("exclude", exclude, column="score")
    columns = frame.collect_schema().names()
    if keys := [name for name in by if name in columns]:
        says = f"is for all rankings; it has {keys[0]!r}, a key of them."
        raise OptionError(says, about="exclude", fix=Fix("Leave it out", Code.dropping("exclude", keys)))
    return Excluded(frame, *(required("exclude", role, columns) for role in ("query_id", "doc_id")))


def _without(table: str, frame: Frame, excluded: Excluded | None, *, labelled: bool = False) -> Frame:
    """Rows without excluded documents; with None, these are the queries themselves.

    A table without the columns of ids, or with columns of other types, is refused by the evaluation.
    """
    schema = frame.collect_schema()
    query, document = (find(table, role, schema) for role in ("query_id", "doc_id"))
    documents = [name for name in ("preferred", "other", document) if name and name in schema]
    rows = frame.lazy()
    if query is None:
        return frame
    if labelled and not documents:
        raise OptionError("needs document ids, and the run has none.", about="exclude")
    for name in documents:
        if not all(_is_id(schema[each]) for each in (query, name)):
            continue
        own = [_comparable(each, schema[each]) for each in (query, name)]
        if excluded is None:
            if isinstance(schema[query], TEXT) != isinstance(schema[name], TEXT):
                says = f"compares columns of the {table} of two types, {query!r} of {schema[query]} and {name!r} of "
                fix = "Cast one of them, or give a table of queries and documents"
                raise OptionError(f"{says}{schema[name]}.", about=option("exclude", "self"), fix=fix)
            rows = rows.filter(~(own[0] == own[1]).fill_null(False))
            continue
        theirs = excluded.rows.collect_schema()
        for ours, other in zip((query, name), excluded[1:], strict=True):
            if _is_id(theirs[other]) and isinstance(schema[ours], TEXT) != isinstance(theirs[other], TEXT):
                wanted = f"{schema[ours]}, as column {ours!r} of the {table}"
                raise DtypeError.of_column("exclude", other, wanted, theirs[other], "Cast one of them.")
        others = [_comparable(each, theirs[each]) for each in excluded[1:]]
        out = excluded.rows.lazy().select(others)
        rows = rows.join(out, left_on=own, right_on=excluded[1:], how="anti", maintain_order="left")
    return _like(frame, rows)


def _is_id(dtype: pl.DataType) -> bool:
    return isinstance(dtype, TEXT) or dtype.is_integer()


def _comparable(name: str, dtype: pl.DataType) -> pl.Expr:
    """Ids in a type that allows comparison with those of another table."""
    return pl.col(name).cast(pl.Int128 if dtype.is_integer() else pl.String)


def _at_first_place(frame: Frame, by: Sequence[str], *, in_order: bool, labelled: bool) -> Frame:
    """Rows of a run, with the best-scored row of a repeated document; among equal scores the first `in_order`."""
    schema = frame.collect_schema()
    roles = ("query_id", "doc_id", "score", "rank", "run", *(["relevance"] if labelled else []))
    names = columns_of("run", schema, roles)
    value = names.get("score", names.get("rank"))
    keys = [*filter(schema.__contains__, by), *(names[role] for role in ("run", "query_id", "doc_id") if role in names)]
    if value is None or "query_id" not in names or "doc_id" not in names:
        return frame
    rows, others = frame, None
    if isinstance(rows, pl.DataFrame):
        # Comparing hashes takes a third of the time of comparing keys.
        may_repeat = rows.select(keys).hash_rows().is_duplicated()
        if not may_repeat.any():
            return frame
        if not in_order:
            rows, others = rows.filter(may_repeat), rows.filter(~may_repeat)
    if labelled and "relevance" in names:
        grade = names["relevance"]
        differ = pl.col(grade).n_unique().over(keys) > 1
        once = Rule(differ, f"that give a document two {grade!r}", "Give each document of a query one grade")
        rows = checked(rows, once, about="run", keys=keys, names={})
    plan = rows.lazy()
    # An invalid score stays, and is an error of the evaluation.
    is_none = pl.col(value).is_null() | (pl.col(value).is_nan() if schema[value].is_float() else False)
    # A rank beside a score is never read.
    rest = [] if in_order else [name for name in schema if name not in (*keys, value, "rank")]
    if others is None and not in_order and not rest:
        best = pl.col(value).max() if "score" in names else pl.col(value).min()
        return _like(frame, plan.group_by(keys).agg(pl.when(~is_none.any()).then(best).alias(value)))
    order = [is_none, pl.col(value), *(pl.col(n).hash() if schema[n].is_nested() else pl.col(n) for n in rest)]
    falling = [True, "score" in names, *[False] * len(rest)]
    plan = plan.sort(order, descending=falling, maintain_order=True).unique(keys, keep="first", maintain_order=True)
    plan = plan if others is None else pl.concat([others.lazy(), plan])
    return _like(frame, plan)
