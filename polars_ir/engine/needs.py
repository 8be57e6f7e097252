"""What the measures of a call need of the judged relation, told by the columns that their expressions name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_ir.engine.pairing import Pair
from polars_ir.engine.ranking import DOCUMENT, Ties
from polars_ir.errors import Code, ColumnError, DataError, Fix, MeasureError, dropping, nearest, quoted
from polars_ir.frames.table import MADE, Table
from polars_ir.language.catalog import CATALOG
from polars_ir.language.cover import is_greedy
from polars_ir.language.identity import Measured
from polars_ir.language.spec import Kind, kind_of
from polars_ir.language.ties import is_weights

#: What the judged relation can always give a measure.
RELATION = ("run", *DOCUMENT, "relevance", *MADE)

#: The columns that are read whatever the measures are.
ALWAYS = frozenset({"run", *DOCUMENT, "relevance", "rank", "n_higher", "n_tied"})


class Needs(NamedTuple):
    """What is needed of the judged relation.

    `kind` of judgments, `per` which column they are told apart; the documents that are not judged; `counted` what was
    retrieved for each query, a pass over the run of its own; what is judged for any query (`elsewhere`); the places in
    `greedy` ideal rankings; and which ranking it is of. `relevant_only` says that a document judged not relevant counts
    as an unjudged one, `columns` which of them are read, where that is known.
    """

    kind: Kind = "documents"
    per: str | None = None
    unjudged: bool = False
    counted: bool = True
    elsewhere: bool = False
    greedy: tuple[str, ...] = ()
    ties: Ties = "doc_id"
    judged_only: bool = False
    relevant_only: bool = False
    columns: frozenset[str] | None = None

    def reads(self, column: str) -> bool:
        """Whether a column of the relation may be read."""
        return self.columns is None or column in self.columns


def needs_of(
    measures: Sequence[Measured],
    *,
    ties: Ties = "doc_id",
    judges: str | None = None,
    judged_only: bool = False,
    unjudged: bool = False,
) -> Needs:
    """What measures need under some options; columns of the run, which only a pair of tables has, add to it."""
    kind = kind_of_all(measures)
    columns = columns_named(measures)
    elsewhere = "judged_elsewhere" in columns
    return Needs(
        kind=kind,
        per="subtopic" if kind == "subtopics" else judges,
        # At best and at worst the unjudged documents of a tie stand between those that were: all are needed.
        unjudged=unjudged or (elsewhere and ties in ("best", "worst")),
        counted="n_retrieved" in columns,
        elsewhere=elsewhere,
        greedy=tuple(column for column in columns if is_greedy(column)),
        ties=ties,
        judged_only=judged_only,
        relevant_only=not (unjudged or judged_only) and all(map(reads_only_relevant, measures)),
        columns=frozenset({*columns, *ALWAYS, *([judges] if judges else [])}),
    )


def reads_only_relevant(measure: Measured) -> bool:
    """Whether a document judged not relevant counts for a measure as an unjudged one."""
    spec = CATALOG.get(measure.call.measure) if measure.call else None
    if measure.call is None or spec is None or spec.reads_nonrelevant:
        return False
    gains = measure.call.arguments.get("gains")
    return gains is None or (isinstance(gains, Mapping) and all(grade > 0 for grade in gains))


def kind_of_all(measures: Sequence[Measured]) -> Kind:
    """The one kind of judgments that the measures of a call read."""
    kinds: dict[Kind, list[str]] = {}
    for measure in measures:
        kinds.setdefault(kind_of(measure.expression), []).append(measure.name)
    if len(kinds) > 1:
        each = "; ".join(f"{quoted(names)} of {kind}" for kind, names in kinds.items())
        raise MeasureError(
            f"measures of one call must read one kind of judgments; got {each}. Evaluate each kind by itself."
        )
    return next(iter(kinds))


def columns_read(pair: Pair, measures: Sequence[Measured], *, of_relation: Iterable[str] | None = None) -> set[str]:
    """The columns that the measures read; an error for one that is nowhere: not even in a relation of its own."""
    of_qrels = pair.qrels.columns if pair.qrels else []
    there = [*RELATION, *of_qrels, *pair.extra_columns] if of_relation is None else [*pair.keys, *of_relation]
    names = {table.names[role]: role for table in (pair.run, pair.qrels) if table for role in table.names}
    for measure, expression, _ in measures:
        if measure in ("run", "query_id", pair.run.names["query_id"]):
            raise ColumnError(
                f"a measure is named {measure!r}, like a key column of the result.",
                fix=Fix("Give it another", Code(f".alias('my_{measure}')")),
            )
        for column in expression.meta.root_names():
            if is_greedy(column) or is_weights(column):
                continue
            if column not in there and column in names:
                raise ColumnError(
                    f"measure {measure!r} reads the column {column!r}.",
                    fix=Fix(f"Here it is called {names[column]!r}", Code(f"pl.col({names[column]!r})")),
                )
            if column not in there:
                others = list(dict.fromkeys(there))
                raise ColumnError(
                    f"measure {measure!r} reads the column {column!r}, which neither the judged relation nor the run "
                    f"has.{nearest(column, others)} There are {quoted(others)}."
                )
            if column not in RELATION and column in of_qrels and column in pair.run.columns:
                raise ColumnError(
                    f"measure {measure!r} reads {column!r}, which run and qrels both have.",
                    fix=Fix("Drop or rename one of them", dropping("run", [column])),
                )
    return columns_named(measures)


def columns_named(measures: Sequence[Measured]) -> set[str]:
    """The columns that the expressions of measures name."""
    return {column for measure in measures for column in measure.expression.meta.root_names()}


def check_arguments(pair: Pair, measures: Sequence[Measured]) -> None:
    """Raise a `MeasureError` for a column of weights that the judgments do not have, or not as numbers."""
    judgments = pair.qrels or pair.run
    for name, _, call in measures:
        weights = call.arguments.get("weights") if call else None
        if isinstance(weights, str):
            check_weights(name, weights, judgments)


def check_weights(name: str, weights: str, judgments: Table) -> None:
    """Raise an error unless a column holds the weights of subtopics: numbers of 0 or more, one for each subtopic."""
    others = {column: dtype for column, dtype in judgments.dtypes.items() if column not in judgments.names}
    if weights not in others or not others[weights].is_numeric():
        has = ", ".join(f"{column!r} ({dtype})" for column, dtype in others.items()) or "no other column"
        raise MeasureError(
            f"measure {name!r}: weights must name a column of numbers in the qrels; got {weights!r}."
            f"{nearest(weights, others)} Beside ids and grades they have {has}."
        )
    if not judgments.eager:
        return
    subtopic = ["query_id", "subtopic"]
    rows = judgments.select(*subtopic, weights).drop_nulls("subtopic").collect(engine="in-memory")
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
