"""Measures of lists in an evaluation: beside those of judgments, or alone, where no judgments are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from polars_ir.engine.lists import HAD, OF_LISTS, WARM, list_relation, with_history
from polars_ir.engine.needs import Needs
from polars_ir.engine.relation import judged_relation
from polars_ir.engine.run_and_qrels import RunAndQrels, search_run
from polars_ir.errors import ColumnError, DataError, Fix, OptionError, option, quoted
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.catalogue import Catalogue
from polars_ir.frames.kinds import collected
from polars_ir.frames.provenance import digest_of, hashes_of
from polars_ir.frames.table import run_table
from polars_ir.language.kinds import LISTS, kind_of
from polars_ir.language.lists import LIKENESS, OF_HISTORY, SEEN, USERS
from polars_ir.language.names import ResolvedMeasure
from polars_ir.runs.options import Evaluating

#: The tables of a call that measures of lists read.
TABLES_OF_LISTS = ("history", "items")


def reads_no_judgments(measured: Sequence[ResolvedMeasure]) -> bool:
    """True for measures of lists alone."""
    return all(kind_of(measure.expression) is LISTS for measure in measured)


def check_options(needs: Needs, options: Evaluating) -> None:
    """Raise an `OptionError` for options that measures of lists, or of a history, do not go with."""
    if options["bounds"]:
        raise OptionError(f"does not go with {option('history')} or {option('items')}.", about=option("bounds", True))
    conflicting = {"judged_only": options["judged_only"], "ties": options["ties"] in ("best", "worst")}
    for name, conflicts in conflicting.items():
        if needs.lists and conflicts:
            lists = quoted([measure.name for measure in needs.lists])
            says = f"goes by the grades of documents, which {lists} do not read. Evaluate them in another call."
            raise OptionError(says, about=option(name, options[name]))  # type: ignore[literal-required]  # its very keys


class Beside(NamedTuple):
    """The tables of a call with a history or items: beside `judged_relation` the measures that read it.

    `no_list` are those of them that stay null where there is no list. `alone` says that no measure reads judgments, and
    that there are none: the relation then is the run itself.
    """

    pair: RunAndQrels
    relation: pl.LazyFrame
    catalogue: Catalogue
    judged: list[ResolvedMeasure]
    no_list: list[str]
    alone: bool


def related(run: Any, qrels: Any, measured: Sequence[ResolvedMeasure], needs: Needs, options: Evaluating) -> Beside:
    """The run with its judgments, the judged relation, and the catalogue."""
    of_lists = {measure.name for measure in needs.lists}
    judged = [measure for measure in measured if measure.name not in of_lists]
    if alone := qrels is None and not judged:
        for name in ("strict", "judges"):
            if options[name]:
                raise OptionError("is of judgments, and this call has none. Leave it out.", about=name)
        pair = run_alone(run, needs.by)
        relation = pair.run.select(*pair.run.keys)
    else:
        pair, relation = judged_relation(run, qrels, judged, needs)
    if pair.run.numbered and needs.lists:
        raise ColumnError(f"has no ids of documents, which {quoted(sorted(of_lists))} need.", about="run")
    catalogue = Catalogue.of(pair.run, options["history"], options["items"])
    if catalogue.history and catalogue.history.is_empty:
        raise DataError("has no rows.", about="history", fix=Fix("Leave it out, or look at how it was filtered"))
    if not needs.columns.isdisjoint(OF_HISTORY):
        relation = with_history(relation, catalogue, needs.columns)
    no_list = [each.name for each in judged if not OF_HISTORY.isdisjoint(each.expression.meta.root_names())]
    return Beside(pair, relation, catalogue, judged, no_list, alone)


def run_alone(run: Any, by: Sequence[str]) -> RunAndQrels:
    """A run without judgments, searched for items that a list has twice."""
    table = run_table(run, by=by)
    search_run(table)
    return RunAndQrels(table, None)


def with_lists(
    result: pl.LazyFrame, measured: Sequence[ResolvedMeasure], needs: Needs, beside: Beside, marks: dict[str, Any]
) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """The result with the measures of lists, and the marks of what its warnings are about."""
    run, keys = beside.pair.run, beside.pair.run.keys
    relation = list_relation(run, beside.catalogue, needs.lists, in_order=needs.ties == "input")
    columns = relation.collect_schema().names()
    flags = {WARM: (pl.col(USERS) > 0).any()} if USERS in columns else {}
    flags |= {name: pl.col(name).any() for name in columns if name.startswith(OF_LISTS)}
    expressions = [measure.expression.alias(measure.name) for measure in needs.lists]
    lists = relation.group_by(keys).agg(*expressions, **flags)
    if SEEN in columns and (history := beside.catalogue.history):
        had = history.select("query_id").unique().with_columns(pl.lit(True).alias(HAD))
        lists = lists.join(had, on="query_id", how="left")
        flags[HAD] = pl.col(HAD)
    result = lists if beside.alone else result.join(lists, on=keys, how="left")
    return result.select(*keys, *(measure.name for measure in measured), *marks, *flags), {**marks, **flags}


def as_text(catalogue: Catalogue, needs: Needs) -> dict[str, str | None]:
    """The history and the items, as provenance records them: a hash of what measures read, whatever its order."""
    columns = {column for measure in needs.lists for column in measure.expression.meta.root_names()}
    of = sorted({LIKENESS.parameters(column).of for column in filter(LIKENESS.is_named, columns)})
    texts: dict[str, str | None] = {"history": None, "items": None}
    if catalogue.history:
        texts["history"] = _digest(catalogue.history, catalogue.pairs)
    if catalogue.items:
        ids = pl.col("doc_id").cast(pl.String)
        values = [_as_text(name, catalogue.items.dtypes[name]) for name in of if name in catalogue.items.dtypes]
        read = pl.concat_str([pl.lit(""), *values], separator="\x1f")
        rows = catalogue.items.select("doc_id", *of).select(query_id=ids, doc_id=read)
        texts["items"] = _digest(catalogue.items, rows)
    return texts


def _as_text(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if dtype.is_nested():
        column = column.arr.to_list() if isinstance(dtype, pl.Array) else column
        column = column.cast(pl.List(pl.String)).list.join("\x1e", ignore_nulls=True)
    return column.cast(pl.String).fill_null("\x1d")


def _digest(table: CanonicalFrame, rows: pl.LazyFrame) -> str:
    """The hash of rows of two ids."""
    frame = collected(rows.with_columns(relevance=pl.lit(1, pl.Int64)), "streaming")
    hashed = replace(table.with_frame(frame), about="qrels")
    return f"table {collected(digest_of(hashes_of(hashed), hashed.keys)).item()}"
