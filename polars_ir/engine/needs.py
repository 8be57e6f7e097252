"""Needs of the measures of a call: the columns of the judged relation that their expressions name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import polars as pl

from polars_ir.engine.evidence import FIRST, IDEAL, with_document, with_group
from polars_ir.engine.greedy import with_greedy_rank
from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.errors import (
    Code,
    ColumnError,
    DataError,
    DtypeError,
    Fix,
    MeasureError,
    OptionError,
    Setting,
    nearest,
    option,
    quoted,
)
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.guesses import AMOUNTS, words
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.roles import find
from polars_ir.frames.table import MADE
from polars_ir.language.budget import WITHIN
from polars_ir.language.catalog import CATALOG, info_of
from polars_ir.language.cover import GREEDY
from polars_ir.language.kinds import DOCUMENTS, GROUP, OF_POOL, PROBABILITY, TELLING, Kind, kind_of
from polars_ir.language.lists import LIKENESS, OF_HISTORY, PLACE
from polars_ir.language.names import ResolvedMeasure
from polars_ir.language.ties import COUNTS, WEIGHTS, with_counts, with_weights
from polars_ir.language.words import Ties

#: Columns that the judged relation can always give a measure.
RELATION = ("run", "query_id", "doc_id", "relevance", *MADE)

#: Columns that are read by any measure.
ALWAYS = frozenset({"relevance", "rank"})

#: Columns by which the documents of a tie are reordered.
OF_TIES = ("doc_id", "n_higher", "n_tied")


#: What a computed column is made of.
Source = Literal["judgments", "run", "relation", "grades", "history"]


class ComputedColumn(NamedTuple):
    """A column that is made where a measure names it, by a name that holds its parameters.

    `is_named` recognises the name. `add` gives the judgments, or the whole relation, with columns of such names; those
    `of` grades are made anew where other judgments take the place of these (`bounds`), those of a run are counted on
    all of its rows (`within`).
    """

    is_named: Callable[[str], bool]
    of: Source
    add: Callable[..., pl.LazyFrame] | None = None


def _with_pool(relation: pl.LazyFrame, *named: str, keys: Sequence[str]) -> pl.LazyFrame:
    """The relation with columns that are counted by stratum, which few calls need."""
    from polars_ir.engine.strata import with_pool

    return with_pool(relation, *named, keys=keys)


COMPUTED = (
    ComputedColumn(WITHIN.is_named, "run"),
    ComputedColumn(OF_HISTORY.__contains__, "history"),
    # First, as others make plans of frames: of a frame it sees at once whether a document is in two groups.
    ComputedColumn((FIRST, IDEAL).__contains__, "judgments", with_document),
    ComputedColumn(GREEDY.is_named, "judgments", with_greedy_rank),
    ComputedColumn(GROUP.__eq__, "judgments", with_group),
    ComputedColumn(WEIGHTS.is_named, "relation", with_weights),
    ComputedColumn(COUNTS.is_named, "grades", with_counts),
    ComputedColumn(lambda name: name.startswith(OF_POOL), "grades", _with_pool),
)


class Needs(NamedTuple):
    """The needs of a call.

    `columns` are those that measures name; of these some are made only for them. `whole` says that all others are kept
    too. `per` is the column of the judgments that distinguishes several of one document, `by` are the keys of rankings
    beside system and query. `unjudged` adds the documents
    that are not judged. `relevant_only` says that a document judged not relevant counts as an unjudged one. `lists` are
    measures that read no judgments, and have a relation of their own.
    """

    kind: Kind = DOCUMENTS
    per: str | None = None
    unjudged: bool = False
    ties: Ties = "doc_id"
    judged_only: bool = False
    relevant_only: bool = False
    columns: frozenset[str] = frozenset({"n_retrieved"})
    whole: bool = True
    by: tuple[str, ...] = ()
    lists: tuple[ResolvedMeasure, ...] = ()

    def read_of(self, columns: list[str]) -> list[str]:
        """The given columns that may be read."""
        return columns if self.whole else list(filter(self.columns.__contains__, columns))

    def of_judgments(self, qrels: object) -> Needs:
        """The needs where judgments without subtopics will do, as for groups of evidence, and these have none."""
        if self.kind.part is None or self.kind.part in self.columns or GROUP not in self.columns or has_parts(qrels):
            return self
        ideal = {"ideal_rank"} if IDEAL in self.columns else set()
        return self._replace(kind=DOCUMENTS, per=None, columns=(self.columns | ideal) - {FIRST, IDEAL})

    def with_derived(self, frame: pl.DataFrame | pl.LazyFrame, of: Source, *, keys: Sequence[str]) -> pl.LazyFrame:
        """The judgments, whose `keys` are those of a query, or the relation, by ranking, with the columns of them."""
        for record in COMPUTED:
            if record.add and record.of == of and (named := sorted(filter(record.is_named, self.columns))):
                frame = record.add(frame, *named, keys=keys)
        return frame.lazy()

    @property
    def budgets(self) -> list[str]:
        """The columns that are counted on all rows of a run."""
        return sorted(filter(WITHIN.is_named, self.columns.difference(RELATION)))

    @property
    def costs(self) -> list[str]:
        """The columns of a run that budgets are of."""
        return sorted({WITHIN.parameters(column).cost for column in self.budgets})


def needs_of(
    measures: Sequence[ResolvedMeasure],
    *,
    ties: Ties = "doc_id",
    judges: str | None = None,
    judged_only: bool = False,
    unjudged: bool = False,
    by: Sequence[str] = (),
    tables: Collection[str] = (),
) -> Needs:
    """Needs of measures under some options; columns of the run, which only a pair of tables has, add to them.

    `tables` are those that the call has beside run and judgments.
    """
    columns = {column for measure in measures for column in measure.expression.meta.root_names()}
    lists: list[ResolvedMeasure] = []
    if PLACE in columns or not columns.isdisjoint(OF_HISTORY):
        lists, measures = _of_lists(measures, tables)
        columns = {column for measure in measures for column in measure.expression.meta.root_names()} | {"doc_id"}
    if any(map(WITHIN.is_named, columns.difference(RELATION))):
        _check_budgets(measures, ties, judged_only=judged_only)
    kinds = {DOCUMENTS: measures} if TELLING.isdisjoint(columns) else _kinds(measures)
    kind = next(iter(kinds))
    if kind.part and DOCUMENTS in kinds:
        columns |= {FIRST, *([IDEAL] if "ideal_rank" in columns else [])}
        of_parts = (each.expression.meta.root_names() for each in measures if each.name in kinds[kind])
        columns -= {"ideal_rank"}.difference(*of_parts)
    return Needs(
        kind=kind,
        per=kind.part or judges,
        # At best and at worst the unjudged documents of a tie lie between judged ones: all are needed.
        unjudged=unjudged or ("judged_elsewhere" in columns and ties in ("best", "worst")),
        ties=ties,
        judged_only=judged_only,
        relevant_only=len(kinds) == 1 and not (unjudged or judged_only) and all(map(reads_only_relevant, measures)),
        columns=ALWAYS.union(columns, [] if judges is None else [judges], OF_TIES if ties in ("best", "worst") else []),
        whole=False,
        by=tuple(by),
        lists=tuple(lists),
    )


def _of_lists(
    measures: Sequence[ResolvedMeasure], tables: Collection[str]
) -> tuple[list[ResolvedMeasure], list[ResolvedMeasure]]:
    """Measures of lists, and the others; a `MeasureError` for one that reads a table which the call lacks."""
    lists: list[ResolvedMeasure] = []
    others: list[ResolvedMeasure] = []
    for measure in measures:
        columns = measure.expression.meta.root_names()
        reads = {"history": not OF_HISTORY.isdisjoint(columns), "items": any(map(LIKENESS.is_named, columns))}
        for table, is_read in reads.items():
            if is_read and table not in tables:
                train = "train" if table == "history" else "items"
                call = Code(f"run.ir.evaluate([{measure.name!r}], {table}={train})")
                what = "what users had before" if table == "history" else "a frame with a row per item"
                says = f"measure {measure.name!r} needs {what}, which evaluate takes as {option(table)}."
                raise MeasureError(says, fix=Fix("Give it", call))
        (lists if PLACE in columns else others).append(measure)
    return lists, others


def _check_budgets(measures: Sequence[ResolvedMeasure], ties: Ties, *, judged_only: bool) -> None:
    """Raise an `OptionError` for an option under which the documents within a budget would be others."""
    named = [each.name for each in measures if any(map(WITHIN.is_named, each.expression.meta.root_names()))]
    other = option("judged_only", True) if judged_only else option("ties", ties)
    if judged_only or ties not in ("doc_id", "input"):
        fix = Fix("Choose an order of tied documents", Setting("ties", "input")) if not judged_only else None
        raise OptionError(f"does not go with a budget, as {quoted(named)} has.", about=other, fix=fix)


def reads_only_relevant(measure: ResolvedMeasure) -> bool:
    """True for a measure that treats a document judged not relevant as an unjudged one."""
    info = CATALOG.get(measure.call.measure) if measure.call else None
    if measure.call is None or info is None or info.reads_nonrelevant:
        return False
    # The variance of an estimate is that of all sampled documents; grade 0 is relevant where `rel` says so.
    lowest = measure.call.arguments.get("rel")
    if PROBABILITY in measure.expression.meta.root_names() or (lowest is not None and lowest <= 0):
        return False
    gains = measure.call.arguments.get("gains")
    return gains is None or (isinstance(gains, Mapping) and all(grade > 0 for grade in gains))


def _kinds(measures: Sequence[ResolvedMeasure]) -> dict[Kind, list[str]]:
    """The measures of a call by the kind of judgments they read; documents, which stand last, go with their parts."""
    kinds: dict[Kind, list[str]] = {}
    for measure in measures:
        kinds.setdefault(kind_of(measure.expression), []).append(measure.name)
    others = [kind for kind in kinds if kind is not DOCUMENTS]
    if len(others) > 1 or (DOCUMENTS in kinds and not all(kind.part for kind in others)):
        each = "; ".join(f"{quoted(names)} of {kind.name}" for kind, names in kinds.items())
        raise MeasureError(
            f"measures of one call must read judgments that go together; got {each}. Evaluate each kind by itself."
        )
    return {kind: kinds[kind] for kind in (*others, *({DOCUMENTS} & kinds.keys()))}


def has_parts(qrels: object) -> bool:
    """True for judgments with a column of subtopics."""
    if qrels is None or isinstance(qrels, Mapping):
        return False
    schema = to_polars("qrels", qrels, column="relevance").collect_schema()
    # Of whichever type: groups that are no ids are refused, and never documents by themselves.
    return find("qrels", "subtopic", schema) is not None


def check_of_documents(measure: ResolvedMeasure, what: str, qrels: object) -> None:
    """Refuse a measure of anything but documents; groups of evidence are those where judgments have no subtopics."""
    kind = kind_of(measure.expression)
    needs_parts = kind.part in measure.expression.meta.root_names() or (kind.part is not None and has_parts(qrels))
    if needs_parts or not kind.by_document:
        raise OptionError.not_for_kind(what, kind.name)


def check_columns(
    pair: RunAndQrels, measures: Sequence[ResolvedMeasure], needs: Needs, *, of_relation: Iterable[str] | None = None
) -> None:
    """Raise an error for a column that is nowhere, not even `of_relation`, where the kind has one of its own."""
    keys = ("run", "query_id", *pair.run.source_names.values(), *pair.splits, *pair.run.by)
    for name, expression, call in measures:
        if name in keys:
            raise ColumnError(
                f"a measure is named {name!r}, like a key column of the result.",
                fix=Fix("Give it another", Code(f".alias('my_{name}')")),
            )
        if "run" not in pair.keys and "run" in expression.meta.root_names():
            raise ColumnError(f"measure {name!r} reads the column 'run', which a run of one system does not have.")
        if call and isinstance(weights := call.arguments.get("weights"), str):
            check_weights(name, weights, pair.judgments)
    if of_relation is None and needs.columns.issubset(RELATION):
        return
    _check_costs(pair.run, needs.costs, measures)
    relation = [*pair.keys, *of_relation] if of_relation is not None else None
    for measure in measures:
        for column in measure.expression.meta.root_names():
            if not any(record.is_named(column) for record in COMPUTED):
                _check_column(pair, measure.name, column, relation)


def _check_costs(run: CanonicalFrame, costs: Sequence[str], measures: Sequence[ResolvedMeasure]) -> None:
    """Raise an error where a run lacks the costs of a budget, or they are no numbers."""
    for cost in costs:
        _check_costs_of_systems(run, cost)
        if cost not in run.dtypes or cost in run.names or cost in run.names.values():
            others = [name for name, dtype in run.dtypes.items() if name not in run.names and dtype.is_numeric()]
            has = f"it has {quoted(others)}" if others else "it has no numbers but scores"
            if cost in run.names or cost in run.names.values():
                says = f"has ids, scores or grades in its column {cost!r}, which are not costs; {has}."
                raise ColumnError(says, about="run", fix=Fix("Name the column of the documents' costs with cost="))
            says = f"has no column {cost!r} with the costs of documents; {has}."
            raise ColumnError(says, about="run", fix=_naming_costs(cost, others, measures))
        if not run.dtypes[cost].is_numeric():
            cure = "Give each retrieved document its cost." if run.dtypes[cost] == pl.Null else "Cast it."
            raise DtypeError.of_column("run", cost, "numbers", run.dtypes[cost], cure)


def _check_costs_of_systems(run: CanonicalFrame, cost: str) -> None:
    """Raise an error for the first of several systems without the costs that another has, or with those of a type."""
    if cost in run.dtypes or run.systems is None or len(run.systems) != len(run.sources):
        return
    dtypes = {
        system: frame.collect_schema().get(cost) for system, (frame, _) in zip(run.systems, run.sources, strict=True)
    }
    known = {system: dtype for system, dtype in dtypes.items() if dtype is not None}
    lacking = next((system for system in dtypes if system not in known), None)
    if known and lacking is not None:
        says = f"has no column {cost!r} with the costs of documents, which run {next(iter(known))!r} has."
        raise ColumnError(says, about=f"run {lacking!r}", fix="Give each retrieved document its cost there")
    for system, dtype in known.items():
        if dtype != (first := next(iter(known.values()))):
            raise DtypeError.of_column(f"run {system!r}", cost, f"{first}, as in the first run", dtype, "Cast one.")


def _naming_costs(cost: str, others: Sequence[str], measures: Sequence[ResolvedMeasure]) -> Fix:
    """Advice to give documents costs, or to name the column that has them, where one is called alike."""
    give = "Give each retrieved document its cost there"
    calls = [measure.call for measure in measures if measure.call and measure.call.arguments.get("cost") == cost]
    likely = [name for name in others if words(name) - AMOUNTS == words(cost) - AMOUNTS != frozenset()]
    if not calls or not likely:
        name_it = "or name the column with cost="
        return Fix(f"{give}, {name_it}", without_code=f'{give} (in a log {{"id": "d1", "{cost}": 320}}), {name_it}')
    name = info_of(calls[0]).column({**calls[0].arguments, "cost": likely[0]})
    advice = f"{give}, or name the column that has it"
    return Fix(advice, Code(f"run.ir.evaluate(qrels, [{name!r}])"), without_code=f'{advice}: "{name}"')


def _check_column(pair: RunAndQrels, measure: str, column: str, relation: Sequence[str] | None) -> None:
    """Raise an error for a column that is not in a relation of its own or, without one, in the judged relation."""
    of_qrels = pair.qrels.columns if pair.qrels else []
    there = relation or [*RELATION, *pair.run.by, *of_qrels, *pair.extra_columns]
    if column not in there:
        roles = {table.names[role]: role for table in (pair.run, pair.qrels) if table for role in table.names}
        if column in roles:
            raise ColumnError(
                f"measure {measure!r} reads the column {column!r}.",
                fix=Fix(f"Here it is called {roles[column]!r}", Code(f"pl.col({roles[column]!r})")),
            )
        others = list(dict.fromkeys(there))
        raise ColumnError(
            f"measure {measure!r} reads the column {column!r}, which neither the judged relation nor the run "
            f"has.{nearest(column, others)} There are {quoted(others)}."
        )
    if column not in (*RELATION, *pair.run.by) and column in of_qrels and column in pair.run.columns:
        raise ColumnError(
            f"measure {measure!r} reads {column!r}, which run and qrels both have.",
            fix=Fix("Drop or rename one of them", Code.dropping("run", [column])),
        )


def check_weights(name: str, weights: str, judgments: CanonicalFrame) -> None:
    """Raise an error unless a column holds the weights of subtopics: numbers of 0 or more, one for each subtopic."""
    others = {column: dtype for column, dtype in judgments.dtypes.items() if column not in judgments.names}
    if weights not in others or not others[weights].is_numeric():
        has = ", ".join(f"{column!r} ({dtype})" for column, dtype in others.items()) or "no other column"
        raise MeasureError(
            f"measure {name!r}: weights must name a column of numbers in the qrels; got {weights!r}."
            f"{nearest(weights, others)} Beside ids and grades they have {has}."
        )
    subtopic = [*judgments.keys, "subtopic"]
    rows = judgments.found(judgments.select(*subtopic, weights).drop_nulls("subtopic"))
    weight = pl.col(weights)
    sound = (weight.is_not_null() & weight.is_finite() & (weight >= 0)).fill_null(False)
    several = weight.n_unique().over(subtopic) > 1
    for problem, wrong in {
        f"whose {weights!r} is no number of 0 or more": ~sound,
        f"of subtopics with several {weights!r}": several,
    }.items():
        found = rows.filter(wrong).unique(maintain_order=True)
        if found.height:
            raise DataError.rows("qrels", problem, "Give each subtopic of a query one weight.", found.height, found)
