"""A run with its judgments: both in canonical columns, with ids of one type, checked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.evidence import once
from polars_ir.engine.prefilter import hash_of
from polars_ir.errors import Code, ColumnError, Fix, caller, closest, option
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import PreparedJudgments
from polars_ir.frames.roles import could_be, find
from polars_ir.frames.rules import guard
from polars_ir.frames.table import labelled_table, qrels_table, run_table, same_types
from polars_ir.language.kinds import PARTS_OF_DOCUMENTS, STRATUM

T = TypeVar("T")

#: The error of a plan.
TWICE_FOR_A_SUBTOPIC = "the qrels give a document of a query more than once for a subtopic; keep the highest grade"

#: A column of plans that is true where a run gives a document of a query twice.
TWICE = "polars_ir: twice"

#: A column with the hash of a row's query and document, by which its judgment is found.
HASH = "polars_ir: hash"


@dataclass(frozen=True)
class RunAndQrels:
    """A run with its judgments, both checked; `qrels` is None where the run holds its grades itself.

    `judgments` is the table with the grades. `systems` are the keys of the run that judgments lack: each system is
    judged by the same ones.
    `splits` are the columns of the judgments that make rankings of their own, such as that of the judges, `keys` those
    that make one ranking with its judgments: the run's, and the splits. `rows` is the number of rows of both in memory,
    those of a LazyFrame not counted, and of all `preferences`. `only_judged` are keys that the run has from the
    judgments, as that of their judges. `searched`: False if the run has yet to be searched for duplicates.
    `extra_columns` are columns of the run that the judged relation lacks.
    """

    run: CanonicalFrame
    qrels: CanonicalFrame | None
    prepared: PreparedJudgments | None = None
    preferences: int = 0
    only_judged: Sequence[str] = ()
    searched: bool = True
    judgments: CanonicalFrame = field(init=False)
    systems: list[str] = field(init=False)
    splits: list[str] = field(init=False)
    keys: list[str] = field(init=False)
    rows: int = field(init=False)
    extra_columns: list[str] = field(init=False)

    def __post_init__(self) -> None:
        of_qrels, splits, shared = {"relevance"}, [], ["query_id"]
        if self.qrels:
            of_qrels, shared = set(self.qrels.columns), self.qrels.keys
            splits = list(itertools.filterfalse(PARTS_OF_DOCUMENTS.__contains__, self.qrels.per))
        known = of_qrels.union(("run", "doc_id"), self.run.keys)
        extra = list(itertools.filterfalse(known.__contains__, self.run.columns))
        systems = list(itertools.filterfalse(shared.__contains__, self.run.keys))
        rows = self.run.rows + (self.qrels.rows if self.qrels else 0) + self.preferences
        vars(self).update(judgments=self.qrels or self.run, systems=systems, splits=splits)
        vars(self).update(keys=[*self.run.keys, *splits], rows=rows, extra_columns=extra)

    def kept(self, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """The result of `make`, of the judgments alone; computed once for prepared judgments."""
        if self.prepared is None or self.qrels is None:
            return make()
        return self.prepared.kept((*key, self.qrels.per, self.qrels.by), make)


def align(
    run: Any, qrels: Any = None, *, per: str | None = None, by: Sequence[str] = (), search: bool = True
) -> RunAndQrels:
    """A run and its judgments with canonical columns and ids of one type, checked; `by` are keys of rankings.

    Without `search` whoever ranks the run has yet to search it for duplicates.
    """
    if qrels is None:
        if per is not None:
            raise ColumnError(
                f"judgments per {per!r} need qrels of their own; got none.",
                fix=Fix("Pass them", Code("run.ir.evaluate(qrels, ['nDCG@10'])"), without_code=""),
            )
        labelled = labelled_table(run, by=by)
        search_duplicates(labelled)
        return RunAndQrels(labelled, None)
    prepared = qrels if isinstance(qrels, PreparedJudgments) else None
    run_side = run_table(run, by=by)
    table = prepared.kept(("table", per, by), lambda: _judged(qrels, per, by)) if prepared else _judged(qrels, per, by)
    if run_side.eager and not table.eager:
        table = _judged(qrels.collect(), per, by)
    run_side, qrels_side = same_types(run_side, table)
    if search:
        search_run(run_side)
    # Ids that were cast to the run's type are not those that were numbered.
    return RunAndQrels(run_side, qrels_side, prepared if qrels_side is table else None, searched=search)


def judged_once(qrels: Any) -> CanonicalFrame:
    """Judgments of documents in memory, each once, under the ids that a message shows."""
    return _judged(qrels.collect() if isinstance(qrels, pl.LazyFrame) else qrels, None, ())


def _judged(qrels: Any, per: str | None, by: Sequence[str]) -> CanonicalFrame:
    """Judgments as a table; those in memory are searched for duplicates."""
    table = qrels_table(qrels, per=per, by=by)
    if not per and len(table.columns) > len(table.names):
        table = _each_once(table)
    search_duplicates(table)
    return table


def _each_once(qrels: CanonicalFrame) -> CanonicalFrame:
    """Judgments of documents; for one with several subtopics, its highest grade."""
    part = find("qrels", "subtopic", [name for name in qrels.columns if name not in qrels.names])
    if part is None or not could_be("subtopic", qrels.dtypes[part]) or not qrels.may_repeat(*qrels.document):
        return qrels
    qrels.check_once(*qrels.document, part)
    repeated = (pl.len().over([*qrels.document, part]) > 1) & pl.col("doc_id").is_not_null()
    rows = qrels.guarded_by(repeated, TWICE_FOR_A_SUBTOPIC).all_columns()
    return qrels.with_frame(qrels.computed(once(rows, part, qrels.keys)))


def search_duplicates(table: CanonicalFrame) -> None:
    """Search a table in memory for several rows of a document."""
    table.check_once(*table.keys, "doc_id", *table.per, hint=lambda: _of_several(table))


def _of_several(table: CanonicalFrame) -> str:
    """The hint for several judgments of a document, by the column that may distinguish them."""
    if table.about != "qrels" or table.per:
        return ""
    columns = list(itertools.filterfalse(table.names.__contains__, table.columns))
    if not columns:
        in_shell = caller().kind == "shell"
        subtopics, judges = (option("qrels_format" if in_shell else "format", name) for name in ("subtopics", "judges"))
        return f"If they are a file's judgments of subtopics, or of judges, read it with {subtopics} or {judges}."
    of_subtopics = "If they are judgments of subtopics, use measures of these (alpha_nDCG)"
    if find("qrels", "subtopic", columns):
        return f"{of_subtopics}."
    named = [column for column in columns if could_be("judge", table.dtypes[column])]
    named = [column for column in named if column != STRATUM]
    if not named:
        return "If they are of a sample, give each document one stratum." if STRATUM in columns else ""
    judge = closest(["judge", "annotator", "assessor", "user"], named)
    mean, each = option("judges", judge), option("by", judge)
    if caller().kind in ("shell", "spark"):
        return f"{of_subtopics}; if several judges', name their column: {mean} for their mean, {each} for each."
    # Few functions besides take judges.
    of_judges = f"ir.evaluate takes {mean} for their mean, {each} for each, and ir.merge_judgments makes one grade"
    return f"{of_subtopics}; if several judges', {of_judges}."


def is_searched(run: CanonicalFrame) -> bool:
    """True for a run that is searched for duplicates whole."""
    return run.eager and run.rows <= tuning.TUNING.searched_rows


def is_sampled(hashes: pl.Expr) -> pl.Expr:
    """True for a row of a large run that is searched for duplicates, by the hash of its ids."""
    return hashes & (tuning.TUNING.sampled - 1) == 0


def hash_of_row(document: Sequence[str], systems: Sequence[str]) -> pl.Expr:
    """The hash of a row's ids, of the column `HASH` with that of its document's: each system has a sample of its own.

    Of one for all systems a few documents that repeat in each would all be missed, or all be found.
    """
    return pl.col(HASH) ^ hash_of(systems, seed=len(document)) if systems else pl.col(HASH)


def with_twice(run: CanonicalFrame, first: int = 0) -> pl.LazyFrame:
    """A row whose `TWICE` is true where a sample of a run, with its `first` rows, has a document of a query twice."""
    keys = [*run.keys, "doc_id"]
    hashed = run.select("doc_id", *run.keys).select(
        hash=pl.when(pl.all_horizontal(pl.col(keys).is_not_null())).then(
            pl.sum_horizontal(pl.col(key).hash(seed=place) for place, key in enumerate(keys))
        )
    )
    sampled = is_sampled(pl.col("hash"))
    if first:
        hashed, sampled = hashed.with_row_index("row"), sampled | (pl.col("row") < first)
    return hashed.filter(sampled).select((pl.col("hash").drop_nulls().n_unique() < pl.col("hash").count()).alias(TWICE))


def search_run(run: CanonicalFrame) -> None:
    """Raise a `DataError` for a run in memory that gives a document of a query twice; a plan is searched as it runs."""
    if run.rows <= tuning.TUNING.searched_rows or with_twice(run).collect().item():
        search_duplicates(run)


def with_null(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows and one of nulls, which meets no document: a search of no rows would find nothing."""
    nothing = pl.LazyFrame(schema=rows.collect_schema()).select(pl.all().extend_constant(None, 1))
    return pl.concat([rows, nothing])


def searched(rows: pl.LazyFrame, run: CanonicalFrame, *, or_none: bool = False) -> pl.LazyFrame:
    """Rows of a branch of a plan, which fails for a run, itself a plan, that gives a document of a query twice.

    Those that may be none are searched `with_null`.
    """
    if run.eager:
        return rows
    rows = with_null(rows) if or_none else rows
    # Nobody has counted the rows of a plan: as many as are searched of a run in memory are searched, too.
    joined = rows.join(with_twice(run, first=tuning.TUNING.searched_rows), how="cross")
    return guard(joined, pl.col(TWICE), f"{run.repeated}; validate shows which").drop(TWICE)


def retrieves_judged(pair: RunAndQrels) -> bool:
    """True if any retrieved document is judged for its query."""
    if pair.qrels is None:
        return True
    document = pair.qrels.document
    judged = pair.run.select(*document).join(pair.qrels.select(*document), on=document, how="semi")
    return judged.head(1).collect(engine=pair.run.engine).height > 0


def systems_of(run: CanonicalFrame, keys: Sequence[str] = ("run",)) -> pl.LazyFrame:
    """The systems, by some keys of a run; those of a dict exist for any other key."""
    if run.systems is None or "run" not in keys:
        return run.select(*keys).unique()
    systems = pl.LazyFrame({"run": run.systems})
    others = list(filter("run".__ne__, keys))
    return run.select(*others).unique().join(systems, how="cross") if others else systems


def of_systems(rows: pl.LazyFrame, pair: RunAndQrels, *, answered: bool = False) -> pl.LazyFrame:
    """Rows of systems that were run, by the judgments of a day on that day; or of queries that they `answered`."""
    parts = pair.run.keys[:-1]
    if answered:
        # The run itself says which queries it answers: a condensed list can be empty.
        there, on = pair.run.select(*pair.run.keys).unique(), pair.run.keys
    elif pair.qrels and pair.qrels.by:
        there, on = systems_of(pair.run, parts), parts
    else:
        return rows
    # A semi-join with an empty run, or a filter rewritten as one, would skip the guard on the qrels.
    kept = "polars_ir: kept"
    joined = rows.join(there.with_columns(pl.lit(True).alias(kept)), on=on, how="left")
    return joined.filter(pl.col(kept).fill_null(False)).drop(kept)
