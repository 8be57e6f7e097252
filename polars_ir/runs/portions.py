"""Plans of sorted runs, evaluated one portion of their rankings after the other, each in memory.

Conventions: a plan says that a run is sorted by `set_sorted`; that it is not is an error when it runs. The figures are
those of the run as a whole. Python makes the portions as the plan asks for them, in one pass over the run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

#: Rows of a batch, which portions are made of.
BATCH = 100_000

#: Column of the number of a judged query.
NUMBER = "polars_ir: number"

#: Evaluates rows of a run with some judgments, and with an option `missing`.
Evaluate = Callable[[pl.DataFrame, pl.DataFrame, str], pl.DataFrame]


def order_of(run: Any, pair: RunAndQrels, needs: Needs, options: Mapping[str, Any]) -> list[str]:
    """Keys by which the rankings of a plan are known to stand together and rise; none where it is read as a whole."""
    return [] if reason_for_whole(pair, needs, options) else claimed_order(run, pair)


def claimed_order(run: Any, pair: RunAndQrels) -> list[str]:
    """Keys by which a plan says that its rankings stand together and rise."""
    # Plans of several systems in a dict are no plan with an order.
    if not isinstance(run, pl.LazyFrame):
        return []
    # Renamed columns would not be known to be sorted.
    names = pair.run.names
    orders = (keys for keys in (["run", "query_id"], ["query_id"]) if {*keys} <= {*pair.run.keys})
    return next((keys for keys in orders if known_order(run, its := [names[key] for key in keys]) == its), [])


def reason_for_whole(pair: RunAndQrels, needs: Needs, options: Mapping[str, Any]) -> str | None:
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
    if not needs.kind.by_document:
        return f"measures of {needs.kind.name} need the whole run"
    if pair.qrels is None:
        return "the run holds its grades"
    return None if pair.qrels.eager else "the judgments are not in memory"


@dataclass
class Portions:
    """The portions of a run; `names` are the columns of its keys, by role, and `order` those it is sorted by."""

    rows: pl.LazyFrame
    names: Mapping[str, str]
    order: Sequence[str]
    judgments: pl.DataFrame
    missing: str
    evaluate: Evaluate

    def plan(self, schema: pl.Schema) -> pl.LazyFrame:
        """The results of all portions, in the order in which they are made."""

        def source(columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _: int | None) -> Any:
            left = n_rows
            for result, answered in self._results():
                # In memory there is no such mark.
                marked = result.with_columns(pl.lit(answered).alias(ANSWERED)).select(schema.names())
                found = marked if predicate is None else marked.filter(predicate)
                found = found if columns is None else found.select(columns)
                found = found if left is None else found.head(left)
                left = left if left is None else left - found.height
                yield found
                if left == 0:
                    return

        return pl.io.plugins.register_io_source(source, schema=schema)

    def _results(self) -> Iterator[tuple[pl.DataFrame, bool]]:
        """Results of rankings, and of the judged queries that the run missed, which it did not answer."""
        query = self.names["query_id"]
        numbers = self.judgments.select(pl.col("query_id").unique()).with_row_index(NUMBER)
        seen: list[pl.DataFrame] = []
        last: list[pl.DataFrame] = []
        for portion in self._portions():
            # Numbers, since ids would keep the memory of their batches.
            rankings = portion.select(*self._systems, pl.col(query).cast(pl.String)).unique()
            its = self._of_queries(numbers, portion[query]).with_columns(pl.col("query_id").cast(pl.String))
            seen.append(its.join(rankings, left_on="query_id", right_on=query).drop("query_id"))
            last = [pl.concat([*last, portion]).unique(self._systems, keep="last") if self._systems else portion[-1:]]
            yield self.evaluated(portion, self._of_queries(self.judgments, portion[query]), "skip"), True
        if not seen:
            yield self.evaluated(self.rows.head(0).collect(), self.judgments, self.missing), False
        elif self.missing == "zero":
            # A system with one of its rows, which judgments of other queries leave out.
            answered = pl.concat(seen)
            systems = last[0].partition_by(self._systems) if self._systems else last
            for row in systems:
                its = answered.join(row, on=self._systems, how="semi") if self._systems else answered
                missed = numbers.join(its, on=NUMBER, how="anti")["query_id"]
                yield self.evaluated(row, self._of_queries(self.judgments, missed), "zero"), False

    @property
    def _systems(self) -> list[str]:
        return [name for role, name in self.names.items() if role != "query_id"]

    @staticmethod
    def _of_queries(table: pl.DataFrame, queries: pl.Series) -> pl.DataFrame:
        """The rows of a table that are of some queries."""
        ids, key = queries.unique(), pl.col("query_id")
        if ids.dtype == table.schema["query_id"] and len(ids):
            # A join would look for each row of the table, for each portion.
            table = table.filter(key.is_between(pl.lit(ids.min()), pl.lit(ids.max())))
        its = ids.cast(pl.String).to_frame("query_id")
        return table.join(its, left_on=key.cast(pl.String), right_on="query_id", how="semi")

    def evaluated(self, rows: pl.DataFrame, judgments: pl.DataFrame, missing: str) -> pl.DataFrame:
        """The result of some rows, without warnings."""
        with warnings.catch_warnings(action="ignore"):
            # The plan warns of all rows together.
            return self.evaluate(rows, judgments, missing)

    def _portions(self) -> Iterator[pl.DataFrame]:
        """Rows of whole rankings, as many as a portion has."""
        rows: list[pl.DataFrame] = []
        order = [pl.col(self.names[key]) for key in self.order]
        falls, same = pl.lit(False), pl.lit(True)
        for key in order:
            falls |= same & (key < key.shift())
            same &= key == key.shift()
        for batch in self.rows.collect_batches(maintain_order=True, chunk_size=BATCH, engine="streaming"):
            rows.append(batch)
            if sum(each.height for each in rows) >= tuning.TUNING.portion:
                frame = self._in_order(pl.concat(rows), falls)
                of_last = frame.select(pl.all_horizontal(key == key.last() for key in order)).to_series()
                start = of_last.arg_max() or 0
                rows = [frame[start:]]
                if start:
                    yield frame[:start]
        if sum(each.height for each in rows):
            yield self._in_order(pl.concat(rows), falls)

    def _in_order(self, frame: pl.DataFrame, falls: pl.Expr) -> pl.DataFrame:
        wrong = frame.select(rows=falls).to_series()
        if wrong.any():
            names = [self.names[key] for key in self.order]
            problem = f"out of order, where its plan says that it is sorted by {', '.join(map(repr, names))}"
            shown = frame.filter(wrong).select(names)
            raise DataError.rows("run", problem, "Sort them, or leave set_sorted out.", shown.height, shown.head(5))
        return frame
