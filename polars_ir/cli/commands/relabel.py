"""`polars-ir relabel`: judgments of old chunks to those of new ones, and what became of them."""

from __future__ import annotations

import argparse

import polars as pl

from polars_ir.chunks import relabel
from polars_ir.chunks.tables import NAMES
from polars_ir.cli.inputs import judgments_of, limits_of
from polars_ir.cli.output import as_target, check_target
from polars_ir.errors import SHOWN, DataError, fold, with_names
from polars_ir.files import write_qrels
from polars_ir.files.finding.copies import as_file, shown_name
from polars_ir.files.tables import read_records
from polars_ir.files.writers import write_table

#: Columns of places, folded; other numbers of chunks are ids, which are texts in a file of judgments.
PLACES = {fold(name) for role in ("start", "end") for name in NAMES[role]}


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Writes the judgments; the counts of changes."""
    if options.changes is not None:
        check_target(options.changes)
    old, new = (_chunks(name, options) for name in (options.old_chunks, options.new_chunks))
    names = {role: shown_name(vars(options)[role]) for role in ("old_chunks", "new_chunks")}
    with with_names(**names):
        moved = relabel(judgments_of(options), old, new, min_overlap=options.min_overlap)
    with as_target(options.target) as target, with_names(format="--to", path="the target"):
        write_qrels(moved.qrels, target, format=options.to or ("trec" if options.target == "-" else None))
    if options.changes is not None:
        write_table(moved.changes.with_columns(pl.col("new").list.join(", ")), options.changes)
    counts: pl.DataFrame = moved.changes.group_by("change").agg(labels=pl.len(), review=pl.col("review").sum())
    return pl.DataFrame() if options.target == "-" else counts.sort("change")


def _chunks(name: str, options: argparse.Namespace) -> pl.DataFrame:
    """A table of chunks from a file, with ids as texts and places as numbers."""
    with as_file(name) as file:
        table = read_records(file, **limits_of(options), texts=True)
    places = [column for column in table.columns if fold(column) in PLACES]
    for column in places:
        if table.schema[column] == pl.String:
            wrong = pl.col(column).is_not_null() & pl.col(column).cast(pl.Int64, strict=False).is_null()
            if (rows := table.filter(wrong)).height:
                problem = f"whose {column!r} is no integer"
                raise DataError.rows(shown_name(name), problem, "Count characters", rows.height, rows.head(SHOWN))
            table = table.with_columns(pl.col(column).cast(pl.Int64))
    ids = pl.col(pl.Int64, pl.Int32, pl.UInt32, pl.UInt64).exclude(places)
    return table.with_columns(ids.cast(pl.String))
