"""Ids of a run and of its qrels, in one type."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from polars_ir.errors import DtypeError
from polars_ir.frames.table import Table


def same_types(run: Table, qrels: Table) -> tuple[Table, Table]:
    """Both tables with ids of one type; a `DtypeError` where one has integers and the other strings.

    A table in memory without any id has the type of the other: nobody said which it was to have.
    """
    for role in ("query_id", "doc_id"):
        if run.dtypes[role] == qrels.dtypes[role]:
            continue
        if run.dtypes[role].is_integer() and qrels.dtypes[role].is_integer():
            if pl.UInt128 in (run.dtypes[role], qrels.dtypes[role]):
                raise DtypeError.different_ids(run.names[role], run.dtypes[role], qrels.names[role], qrels.dtypes[role])
            run, qrels = _cast(run, role, pl.Int128()), _cast(qrels, role, pl.Int128())
            continue
        if _holds_none(qrels, role):
            qrels = _cast(qrels, role, run.dtypes[role])
        elif _holds_none(run, role):
            run = _cast(run, role, qrels.dtypes[role])
        else:
            raise DtypeError.different_ids(run.names[role], run.dtypes[role], qrels.names[role], qrels.dtypes[role])
    return run, qrels


def _holds_none(table: Table, role: str) -> bool:
    return table.eager and table.select(role).drop_nulls().collect().is_empty()


def _cast(table: Table, role: str, dtype: pl.DataType) -> Table:
    sources = tuple((frame, {**make, role: make[role].cast(dtype)}) for frame, make in table.sources)
    return replace(table, sources=sources, dtypes={**table.dtypes, role: dtype})
