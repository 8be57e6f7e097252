"""Plans of sorted runs, evaluated one portion of their rankings after the other, each in memory.

Conventions: a plan says that a run, or its judgments, are sorted by `set_sorted`; that they are not is an error when it
runs. The figures are those of the run as a whole. Python makes the portions as the plan asks for them, in one pass over
the run. A portion has the judgments of its own queries and of those before them that no portion had, so that queries
without an answer stand in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.grouping import ANSWERED
from polars_ir.engine.needs import Needs
from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.errors import DataError
from polars_ir.frames.known_order import known_order
from polars_ir.frames.rules import without_numbers
from polars_ir.language.options import each_once
from polars_ir.runs.pooled import perhaps_pooled
from polars_ir.runs.warnings import HITS

#: Rows of a batch, which portions are made of.
BATCH = 100_000

#: Why a run is read as a whole where its judgments would have to be read for each system.
OF_SYSTEMS = (
    "the judgments are not in memory, and the run has a column of systems, each of which needs them: collect them"
)

#: Row count of rankings with the same flags.
COUNT = "polars_ir: count"


def order_of(run: Any, qrels: Any, pair: RunAndQrels, needs: Needs, options: Mapping[str, Any]) -> list[str]:
    """Columns by which a plan's rankings are known to stand together and rise; none where it is read as a whole."""
    order = claimed_order(run, pair)
    return [] if order and reason_for_whole(run, qrels, pair, needs, options) else order


def claimed_order(run: Any, pair: RunAndQrels) -> list[str]:
    """Columns by which a plan says that its rankings stand together and rise."""
    # Plans of several systems in a dict are no plan with an order.
    if not isinstance(run, pl.LazyFrame):
        return []
    # Renamed columns would not be known to be sorted.
    keys = [pair.run.names[key] for key in ("run", "query_id") if key in pair.run.keys]
    return next((order for order in (keys, keys[-1:]) if known_order(run, order) == order), [])


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
        "by": bool(each_once(options["by"])) or bool(pair.run.by),
        "judges": bool(pair.splits),
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
    query, in_memory = pair.qrels.names["query_id"], pair.qrels.eager
    types = [run.collect_schema()[pair.run.names[key]] for key in pair.run.keys]
    types += [] if in_memory else [qrels.collect_schema()[query]]
    reasons = {
        f"measures of {needs.kind.name} need the whole run": not needs.kind.by_document,
        "a measure reads the judgments of all queries": "judged_elsewhere" in needs.columns,
        "Enum ids are sorted by category, not as text": pl.Enum in types,
        "bounds need the highest grade, and the judgments are not in memory": options["bounds"] and not in_memory,
        OF_SYSTEMS: bool(pair.systems) and not in_memory,
        "the judgments are neither in memory nor known to be sorted": not (in_memory or known_order(qrels, [query])),
    }
    return next((says for says, holds in reasons.items() if holds), None)


class Judgments:
    """Judgments in the order of the ids in a column, which are taken from the first on."""

    def __init__(self, given: pl.DataFrame | pl.LazyFrame, query: str) -> None:
        """Those in memory are put in order; a plan must be, as it claims."""
        sorts = isinstance(given, pl.DataFrame) and not given[query].is_sorted()
        self.given, self.query = given.sort(query) if sorts else given, query
        self._begin()

    def _begin(self) -> None:
        self._rest, given = [pl.DataFrame(schema=self.given.collect_schema())], self.given
        self._batches = iter([given]) if isinstance(given, pl.DataFrame) else in_order(given, [self.query], "qrels")

    def upto(self, last: Any) -> pl.DataFrame:
        """The next judgments, up to those of a query; None for the rest, after which they begin again."""
        while last is None or not (self._rest[-1][self.query].tail(1) > last).any():
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


@dataclass
class Portions:
    """The portions of a run, sorted by the columns `order`.

    `names` are those of results by the keys of the run, the query last; `query` is the column of the judgments.
    `evaluate` makes the result of some rows with flags, and warns of nothing. `warn` issues the warnings of all flags;
    None keeps the flags in the result.
    """

    rows: pl.LazyFrame
    order: Sequence[str]
    names: Mapping[str, str]
    judgments: pl.DataFrame | pl.LazyFrame
    query: str
    missing: str
    evaluate: Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame]
    warn: Callable[[pl.DataFrame], object] | None

    def plan(self, schema: pl.Schema) -> pl.LazyFrame:
        """The results of all portions, sorted by keys."""
        keys = list(self.names.values())

        def source(columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _: int | None) -> Any:
            left, flags = n_rows, []
            for result in self._results():
                if self.warn:
                    flags.append(result.group_by(*keys[:-1], HITS, ANSWERED).len(COUNT))
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
        return plan.set_sorted(*keys) if len(self.order) == len(keys) else plan.sort(keys)

    def _results(self) -> Iterator[pl.DataFrame]:
        """Results with flags of all judged rankings, whether the run has them or not."""
        judgments, systems = Judgments(self.judgments, self.query), list(self.names)[:-1]
        portions, examples = list[tuple[pl.DataFrame, pl.DataFrame]](), pl.DataFrame()
        for rows, last in self._pieces():
            its = judgments.upto(last)
            yield self.evaluated(rows, its)
            if len(self.order) < len(self.names) and self.missing == "zero":
                # Where rows are sorted by query alone, some systems may come only later.
                first = rows.unique(systems)
                examples = pl.concat([*([examples] if portions else []), first]).unique(systems, keep="first")
                portions.append((first.select(systems), its))
        for there, its in portions:
            # A row of each other system, of another query than these judgments.
            lacking = examples.join(there, on=systems, how="anti")
            if lacking.height:
                yield self.evaluated(lacking, its)

    def evaluated(self, rows: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
        """The result of some rows, with flags."""
        try:
            result = self.evaluate(rows, judgments).drop(ANSWERED, strict=False)
        except DataError as error:
            # Numbers of rows would be those in the portion.
            if isinstance(error.examples, pl.DataFrame):
                error.examples = without_numbers(error.examples)
            raise
        keys = (pl.col(name).cast(result.schema[own]).alias(own) for name, own in self.names.items())
        there = rows.select(keys).unique().with_columns(pl.lit(True).alias(ANSWERED))
        marked = result.join(there, on=list(self.names.values()), how="left", maintain_order="left")
        return marked.with_columns(pl.col(ANSWERED).fill_null(False))

    def _pieces(self) -> Iterator[tuple[pl.DataFrame, Any]]:
        """Rows of whole rankings, and the query that their judgments reach; None where their systems end."""
        begun, held = False, [pl.DataFrame(schema=self.rows.collect_schema())]
        changes = pl.any_horizontal(False, *(pl.col(key) != pl.col(key).shift() for key in self.order[:-1]))
        is_last = pl.all_horizontal(pl.col(key) == pl.col(key).last() for key in self.order)
        for batch in chain(in_order(self.rows, self.order, "run"), [None]):
            if batch is not None:
                held.append(batch)
                if sum(each.height for each in held) < tuning.TUNING.portion:
                    continue
            rows, start = pl.concat(held), 0
            others = rows.select(changes).to_series().arg_true().to_list()
            if begun and others:
                yield rows[: others[0]], None
                begun, start = False, others[0]
            if batch is None:
                yield rows[start:], None
            elif others:
                # The last system has just begun, and all of it is of the next portion.
                if others[-1] > start:
                    yield rows[start : others[-1]], None
                held = [rows[others[-1] :]]
            else:
                if end := rows.select(is_last).to_series().arg_max() or 0:
                    yield rows[:end], rows[self.order[-1]][end - 1]
                    begun = True
                held = [rows[end:]]


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
