"""A run with its judgments: both in canonical columns, with ids of one type, checked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.ranking import DOCUMENT
from polars_ir.errors import Code, ColumnError, Fix, closest, option
from polars_ir.frames.checks import check_duplicates, may_repeat
from polars_ir.frames.ids import same_types
from polars_ir.frames.prepared import PreparedJudgments
from polars_ir.frames.table import Table, labelled_table, qrels_table, run_table

T = TypeVar("T")


@dataclass(frozen=True)
class Pair:
    """A run with its judgments, both checked; `qrels` is None where the run holds its grades itself."""

    run: Table
    qrels: Table | None
    prepared: PreparedJudgments | None = None

    @property
    def keys(self) -> list[str]:
        """What makes one ranking with its judgments: system and query, and the judge where there are several."""
        return [*self.run.keys, *(key for key in (self.qrels.per if self.qrels else []) if key != "subtopic")]

    def kept(self, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """What is made of the judgments alone; of those that are prepared it is made once."""
        if self.prepared is None or self.qrels is None:
            return make()
        return self.prepared.kept((*key, self.qrels.per), make)

    @property
    def rows(self) -> int:
        """The number of rows of both in memory; those of a LazyFrame are not counted."""
        return self.run.rows + (self.qrels.rows if self.qrels else 0)

    @property
    def extra_columns(self) -> list[str]:
        """Columns of the run that the judged relation lacks."""
        known = {"run", *DOCUMENT, *(self.qrels.columns if self.qrels else ["relevance"])}
        return [column for column in self.run.columns if column not in known]


def pair_up(run: Any, qrels: Any = None, *, per: str | None = None) -> Pair:
    """A run and its judgments with canonical columns and ids of one type, checked."""
    if qrels is None:
        if per is not None:
            raise ColumnError(
                f"judgments per {per!r} need qrels of their own; got none.",
                fix=Fix("Pass them", Code("run.ir.evaluate(qrels, ['nDCG@10'])"), without_code=""),
            )
        labelled = labelled_table(run)
        search_duplicates("run", labelled, [*labelled.keys, "doc_id"])
        return Pair(labelled, None)
    prepared = qrels if isinstance(qrels, PreparedJudgments) else None
    run_side = run_table(run)
    table = prepared.kept(("table", per), lambda: _checked(qrels, per)) if prepared else qrels_table(qrels, per=per)
    if run_side.eager and not table.eager:
        table = qrels_table(qrels.collect(), per=per)
    run_side, qrels_side = same_types(run_side, table)
    if prepared is None:
        search_duplicates("qrels", qrels_side, [*DOCUMENT, *qrels_side.per])
    if is_searched(run_side):
        search_duplicates("run", run_side, [*run_side.keys, "doc_id"])
    # Ids that were cast to the run's type are not those that were numbered.
    return Pair(run_side, qrels_side, prepared if qrels_side is table else None)


def _checked(qrels: PreparedJudgments, per: str | None) -> Table:
    """Judgments as a table, searched for duplicates."""
    table = qrels_table(qrels, per=per)
    search_duplicates("qrels", table, [*DOCUMENT, *table.per])
    return table


def search_duplicates(name: str, table: Table, keys: list[str]) -> None:
    """Search a table in memory for duplicates."""
    if table.eager and may_repeat(table.select(*keys), keys):
        others = [column for column in table.columns if column not in table.names]
        hint = _of_several(others) if name == "qrels" and others and not table.per else ""
        check_duplicates(name, table.all_columns().collect(engine="in-memory"), keys, table.names, hint=hint)


def _of_several(columns: Sequence[str]) -> str:
    """What several judgments of a document may be, if one of the columns tells them apart."""
    judge = closest(["judge", "annotator", "assessor", "user"], columns)
    return (
        " If they are judgments of subtopics, use measures of these (alpha_nDCG); if several judges', name their "
        f"column: {option('judges', judge)}."
    )


def is_searched(run: Table) -> bool:
    """Whether a run has been searched for duplicates whole."""
    return run.eager and run.rows <= tuning.TUNING.searched_rows


def retrieves_judged(pair: Pair) -> bool:
    """Whether any retrieved document is judged for its query."""
    if pair.qrels is None:
        return True
    judged = pair.run.select(*DOCUMENT).join(pair.qrels.select(*DOCUMENT), on=DOCUMENT, how="semi")
    return judged.head(1).collect(engine=pair.run.engine).height > 0


def systems_of(run: Table) -> pl.LazyFrame:
    """The systems there are, as a column `run`."""
    return run.select("run").unique() if run.systems is None else pl.LazyFrame({"run": run.systems})
