"""Plans of sorted runs, evaluated one portion of their rankings after the other, each in memory.

Conventions: a plan says that a run, or its judgments, are sorted by `set_sorted`; that they are not is an error when it
runs. The figures are those of the run as a whole. Python makes the portions as the plan asks for them, in one pass over
the run. A portion has the judgments of its own queries and of those before them that no portion had, so that queries
without an answer stand in their place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.in_memory import ANSWERED
from polars_ir.engine.needs import Needs
from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.errors import DataError
from polars_ir.frames.known_order import known_order
from polars_ir.language.options import each_once
from polars_ir.runs.pooled import perhaps_pooled
from polars_ir.runs.warnings import HITS

#: Rows of a batch, which portions are made of.
BATCH = 100_000

#: Row count of rankings with the same flags.
COUNT = "polars_ir: count"


def order_of(run: Any, qrels: Any, pair: RunAndQrels, needs: Needs, options: Mapping[str, Any]) -> list[str]:
    """Keys by which the rankings of a plan are known to stand together and rise; none where it is read as a whole."""
    order = claimed_order(run, pair)
    return [] if order and reason_for_whole(run, qrels, pair, needs, options) else order


def claimed_order(run: Any, pair: RunAndQrels) -> list[str]:
    """Keys by which a plan says that its rankings stand together and rise."""
    # Plans of several systems in a dict are no plan with an order.
    if not isinstance(run, pl.LazyFrame):
        return []
    # Renamed columns would not be known to be sorted.
    names = pair.run.names
    orders = (keys for keys in (["run", "query_id"], ["query_id"]) if {*keys} <= {*pair.run.keys})
    return next((keys for keys in orders if known_order(run, its := [names[key] for key in keys]) == its), [])


def reason_for_whole(
    run: pl.LazyFrame, qrels: Any, pair: RunAndQrels, needs: Needs, options: Mapping[str, Any]
) -> str | None:
    """Why a plan is read as a whole, whatever its order, if it is."""
    as_a_whole = {
        "strict": options["strict"],
        "provenance": options["provenance"],
        "exclude": options["exclude"] is not None,
        "duplicates": options["duplicates"] != "error",
        "ties": options["ties"] == "input",
        "by": bool(each_once(options["by"])) or bool(pair.splits) or bool(pair.run.by),
        # Tables of lists, and days or tenants that may be pooled, are looked at whole.
        "history": options["history"] is not None,
        "items": options["items"] is not None,
    }
    if names := [name for name, given in as_a_whole.items() if given]:
        return f"{names[0]} needs the whole run"
    if pooled := perhaps_pooled(pair.run, needs.columns):
        return f"several {pooled[0]!r} in a ranking would be a mistake, which is sought in the whole run"
    if pair.qrels is None:
        return "the run holds its grades"
    ids, in_memory = run.select(pair.run.names[key] for key in pair.run.keys).collect_schema(), pair.qrels.eager
    sorts = in_memory or known_order(qrels, query := [pair.qrels.names["query_id"]]) == query
    reasons = {
        f"measures of {needs.kind.name} need the whole run": not needs.kind.by_document,
        "a measure reads the judgments of all queries": "judged_elsewhere" in needs.columns,
        "ids that are an Enum have another order than their text": pl.Enum in ids.dtypes(),
        "bounds need the highest grade, and the judgments are not in memory": options["bounds"] and not in_memory,
        "the judgments are not in memory, and several systems need them": bool(pair.systems) and not in_memory,
        "the judgments are neither in memory nor known to be sorted": not sorts,
    }
    return next((says for says, holds in reasons.items() if holds), None)


class Judgments:
    """Judgments in the order of the ids in a column, which are taken from the first on."""

    def __init__(self, given: pl.DataFrame | pl.LazyFrame, query: str) -> None:
        """Those in memory are put in order; a plan must be, as it claims."""
        if isinstance(given, pl.DataFrame) and not given[query].is_sorted():
            given = given.sort(query)
        self.given, self.query = given, query
        self._begin()

    def _begin(self) -> None:
        given, self._rest = self.given, [pl.DataFrame(schema=self.given.collect_schema())]
        self._batches = iter([given]) if isinstance(given, pl.DataFrame) else in_order(given, [self.query], "qrels")

    def upto(self, last: Any) -> pl.DataFrame:
        """The next judgments, up to those of a query; None for the rest, after which they begin again."""
        while last is None or not self._reach_beyond(last):
            batch = next(self._batches, None)
            if batch is None:
                break
            self._rest.append(batch)
        rows = pl.concat(self._rest)
        end = rows.height if last is None else int(rows[self.query].search_sorted(last, side="right"))
        self._rest = [rows[end:]]
        if last is None:
            self._begin()
        return rows[:end]

    def _reach_beyond(self, last: Any) -> bool:
        # None of no rows, and of an invalid one.
        query: Any = self._rest[-1][self.query].last()
        return query is not None and bool(query > last)


@dataclass
class Portions:
    """The portions of a run, sorted by the keys `order`.

    `names` are the columns of keys by their roles, in the run, and `own` in results; `query` is that of the judgments.
    `evaluate` makes the result of some rows with flags, which `warn` reads of all; None where they stay in the result.
    """

    rows: pl.LazyFrame
    order: Sequence[str]
    names: Mapping[str, str]
    own: Mapping[str, str]
    judgments: pl.DataFrame | pl.LazyFrame
    query: str
    missing: str
    evaluate: Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]
    warn: Callable[[pl.DataFrame], object] | None

    def plan(self, schema: pl.Schema) -> pl.LazyFrame:
        """The results of all portions, sorted by keys."""

        def source(columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _: int | None) -> Any:
            left, flags = n_rows, []
            for result in self._results():
                if self.warn:
                    flags.append(result.group_by(*self._systems(self.own), HITS, ANSWERED).len(COUNT))
                found = result.select(schema.names())
                found = found if predicate is None else found.filter(predicate)
                found = found if columns is None else found.select(columns)
                found = found if left is None else found.head(left)
                left = left if left is None else left - found.height
                yield found
                if left == 0:
                    return
            if self.warn:
                counted = pl.concat(flags)
                self.warn(counted.select(pl.exclude(COUNT).repeat_by(COUNT)).explode(*counted.columns[:-1]))

        plan = pl.io.plugins.register_io_source(source, schema=schema)
        keys = list(self.own.values())
        return plan.set_sorted(*keys) if len(self.order) == len(keys) else plan.sort(keys)

    def _results(self) -> Iterator[pl.DataFrame]:
        """Results with flags of all judged rankings, whether the run has them or not."""
        judgments, systems = Judgments(self.judgments, self.query), self._systems(self.names)
        portions: list[tuple[pl.DataFrame, pl.DataFrame]] = []
        examples = pl.DataFrame()
        for rows, last in self._pieces():
            its = judgments.upto(last)
            yield self.evaluated(rows, its)
            if len(self.order) < len(self.names) and self.missing == "zero":
                # Where systems stand together by query alone, some may come only later.
                first = rows.unique(systems)
                examples = pl.concat([*([examples] if portions else []), first]).unique(systems, keep="first")
                portions.append((first.select(systems), its))
        for there, its in portions:
            lacking = examples.join(there, on=systems, how="anti")
            if lacking.height:
                # A row of each, which is of another query than these judgments.
                yield self.evaluated(lacking, its)

    @staticmethod
    def _systems(names: Mapping[str, str]) -> list[str]:
        return [name for role, name in names.items() if role != "query_id"]

    def evaluated(self, rows: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
        """The result of some rows, with flags and without warnings."""
        with warnings.catch_warnings(action="ignore"):
            # The plan warns of all rows together.
            result = self.evaluate(rows, judgments).drop(ANSWERED, strict=False)
        own = self.own.items()
        there = rows.select(pl.col(self.names[role]).cast(result.schema[name]).alias(name) for role, name in own)
        there = there.unique().with_columns(pl.lit(True).alias(ANSWERED))
        marked = result.join(there, on=list(self.own.values()), how="left", maintain_order="left")
        return marked.with_columns(pl.col(ANSWERED).fill_null(False))

    def _pieces(self) -> Iterator[tuple[pl.DataFrame, Any]]:
        """Rows of whole rankings, and the query that their judgments reach; None where their systems end."""
        order = [self.names[key] for key in self.order]
        begun, held = False, [pl.DataFrame(schema=self.rows.collect_schema())]
        for batch in chain(in_order(self.rows, order, "run"), [None]):
            if batch is not None:
                held.append(batch)
                if sum(each.height for each in held) < tuning.TUNING.portion:
                    continue
            rows, start = pl.concat(held), 0
            others = _changes(rows, order[:-1])
            if begun and others:
                yield rows[: others[0]], None
                begun, start = False, others[0]
            if batch is None:
                yield rows[start:], None
            elif others:
                # The last system has just begun: all of it follows.
                if others[-1] > start:
                    yield rows[start : others[-1]], None
                held = [rows[others[-1] :]]
            else:
                of_last = rows.select(pl.all_horizontal(pl.col(key) == pl.col(key).last() for key in order)).to_series()
                if end := of_last.arg_max() or 0:
                    yield rows[:end], rows[order[-1]][end - 1]
                    begun = True
                held = [rows[end:]]


def _changes(rows: pl.DataFrame, systems: Sequence[str]) -> list[int]:
    """Numbers of the rows that begin another system than the first."""
    if not systems:
        return []
    return (
        rows.select(pl.any_horizontal(pl.col(key) != pl.col(key).shift() for key in systems))
        .to_series()
        .arg_true()
        .to_list()
    )


def in_order(plan: pl.LazyFrame, keys: Sequence[str], about: str) -> Iterator[pl.DataFrame]:
    """Rows of a plan as they come, in batches; a `DataError` for those that are not sorted by some keys."""
    falls, same = pl.lit(False), pl.lit(True)
    for key in map(pl.col, keys):
        falls |= same & (key < key.shift())
        same &= key == key.shift()
    before = pl.DataFrame()
    for batch in plan.collect_batches(maintain_order=True, chunk_size=BATCH, engine="streaming"):
        if not batch.height:
            continue
        ids = batch.select(keys)
        rows = pl.concat([before, ids]) if before.height else ids
        if (wrong := rows.select(rows=falls).to_series()).any():
            shown = rows.filter(wrong)
            problem = f"out of order, where its plan says that it is sorted by {', '.join(map(repr, keys))}"
            raise DataError.rows(about, problem, "Sort them, or leave set_sorted out.", shown.height, shown.head(5))
        before = ids[-1:]
        yield batch
