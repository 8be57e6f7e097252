"""Origin of the figures of a per-query frame, and a check that compared figures were made alike."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import Code, ColumnError, DataError, FileError, Fix, Setting, quoted, warn
from polars_ir.extras import np
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.provenance import JUDGMENTS, VERSION, differing, judged_of, read_made
from polars_ir.frames.roles import PROVENANCE, QUERY_HASH
from polars_ir.frames.table import per_query_table
from polars_ir.language.columns import canonical_name, column_of, measure_of, measure_part
from polars_ir.language.options import public


@public()
def provenance(per_query: Any) -> dict[str, Any]:
    """Options, judgments and version behind the figures of a per-query frame.

    Parameters
    ----------
    per_query
        What `evaluate(..., provenance=True)` returned, also stored and read back; or the path of a file that the
        command line wrote: Parquet, whose metadata is read, or text such as CSV, with its metadata beside it
        (`figures.csv-metadata.json`); or of an Arrow file, which Polars writes without metadata: of it only this column
        is read.

    Returns
    -------
    dict
        `polars_ir` and `polars`, the versions; `missing`, `undefined`, `judged_only`, `ties` and `judges`, the options
        of `evaluate`; `measures`, the canonical name of each column's measure, None for an aggregation of one's own;
        and `judgments`, a hash of their ids and grades, the same in any order, on any machine and under any version of
        Polars, None where the run held them itself.

    Raises
    ------
    IRError
        For a frame without provenance, or one whose rows were made differently, with the differences.

    Examples
    --------
    >>> import polars_ir as ir
    >>> per_query = ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, "P@1,2", missing="skip", provenance=True)
    >>> made = ir.provenance(per_query)
    >>> made["missing"], made["measures"], made["judgments"]
    ('skip', {'P@1': 'P@1', 'P@2': 'P@2'}, 'db57aae99c4a3add')
    """
    if isinstance(per_query, (str, os.PathLike)):
        return _of_file(Path(per_query))
    table = per_query_table(per_query)
    there = PROVENANCE in table.columns
    texts = sorted(map(str, _texts(table).collect(engine=table.engine)[PROVENANCE])) if there else []
    if not texts:
        fix = Fix("Evaluate with it", Setting("provenance", True))
        raise ColumnError(f"has no column {PROVENANCE!r}; it has {quoted(table.columns)}.", about="per_query", fix=fix)
    made = [its for its in map(read_made, texts) if its is not None]
    if len(made) < len(texts):
        fix = Fix("Rename a column of your own", Code(f".rename({{{PROVENANCE!r}: 'source'}})"))
        says = f"has {texts[0]!r:.60} in {PROVENANCE!r}, which evaluate did not write."
        raise DataError(says, about="per_query", fix=fix)
    first, *others = made
    for other in others:
        if differs := differing(first, other, first["measures"]):
            raise DataError(f"was made with different options: {differs}. Keep the rows of one.", about="per_query")
    return first


def check_made_alike(table: CanonicalFrame, rows: pl.DataFrame, measures: Sequence[str]) -> str | None:
    """Raise a `DataError` for systems that were evaluated differently; return the notes on harmless differences."""
    texts = rows[PROVENANCE].drop_nulls().unique(maintain_order=True).to_list()
    made = [its for its in map(read_made, texts) if its is not None]
    if len(made) < len(texts):  # A column of the user's own.
        return None
    # The place of the first evaluation that each is like.
    kinds = [next(i for i, other in enumerate(made) if not differing(other, its, measures)) for its in made]
    if any(kinds):
        kind = pl.col(PROVENANCE).replace_strict(dict(zip(texts, kinds, strict=True)), default=None)
        keys = [key for key in table.keys if key != "run"]
        # Other judgments of other queries make no difference to a query.
        judged = judged_of(pl.col(QUERY_HASH)) if QUERY_HASH in rows.columns else pl.lit(None)
        alike = (judged.n_unique() == 1) & judged.is_not_null().all()
        of_query = rows.group_by(keys, maintain_order=True).agg(
            kind.drop_nulls().unique(maintain_order=True), alike.alias(QUERY_HASH)
        )
        several = of_query.filter(pl.col(PROVENANCE).list.len() > 1)
        for (one, *others), judged_alike in several.select(PROVENANCE, QUERY_HASH).unique(maintain_order=True).rows():
            without = [JUDGMENTS] if judged_alike else []
            differs = next(filter(None, (differing(made[one], made[it], measures, without) for it in others)), "")
            if differs:
                fix = Fix(
                    "Evaluate all alike or, if the difference is intended, leave the column out",
                    Code.dropping("per_query", [PROVENANCE]),
                )
                raise DataError(f"figures that are compared must be made alike; {differs}.", fix=fix)
    notes = []
    if differs := _options_differing(made, measures):
        notes.append(f"queries were evaluated differently: {differs}")
    versions = dict.fromkeys(its[VERSION] for its in made)
    if len(versions) > 1:
        notes.append(f"evaluated by polars_ir {' and '.join(versions)}")
    if made and rows[PROVENANCE].null_count():
        notes.append("some of the figures have no provenance")
    told = [set(map(canonical_name, its["measures"])) for its in made]
    named = {name: measure_of(canonical_name(name)) for name in measures if column_of(name)}
    if untold := [name for name, measure in named.items() if any(measure not in its for its in told)]:
        notes.append(f"provenance lacks {quoted(untold)}, as after renaming or from other rows")
    return "; ".join(notes) or None


def of_judgments(columns: Sequence[str]) -> list[str]:
    """The columns of a per-query frame that show by what a query was judged, beside its provenance."""
    named = [(name, column) for name in columns if not measure_part(name) and (column := column_of(name))]
    counts = [name for name, column in named if column.info.name == "NumRel"]
    return [name for name in (QUERY_HASH, *counts) if name in columns]


def codes_of_judgments(table: CanonicalFrame, rows: pl.LazyFrame) -> dict[str, stats.Floats]:
    """Numbers of the judgments of each row in memory, the same for the same, by hashes or counts of relevant ones."""
    names = of_judgments([name for name in table.columns if name not in table.keys])
    judged = [judged_of(pl.col(name)).alias(name) if name == QUERY_HASH else pl.col(name) for name in names]
    codes = rows.select(judged).select(pl.col(names).rank("dense").cast(pl.Float64)).collect()
    return {name: codes[name].fill_null(float("nan")).to_numpy() for name in names}


def note_of_other_judgments(judged: Mapping[str, stats.Floats], systems: Sequence[int]) -> str | None:
    """The note on queries that were judged differently for some systems, by their `codes_of_judgments`."""
    for name, codes in judged.items():
        of_systems = codes[:, list(systems)]
        if several := int((np.fmax.reduce(of_systems, axis=1) > np.fmin.reduce(of_systems, axis=1)).sum()):
            queries = "1 query was" if several == 1 else f"{several:,} queries were"
            return (
                f"{queries} judged differently for different systems, by {name!r}: evaluate all by the same judgments"
            )
    return None


def warn_of_several(table: CanonicalFrame, measures: Sequence[str]) -> None:
    """Warn of means over figures in memory that were made differently; other judgments may be those of a later day."""
    if PROVENANCE not in table.columns:
        return
    texts = sorted(map(str, table.found(_texts(table))[PROVENANCE]))
    if differs := _options_differing(list(filter(None, map(read_made, texts))), measures):
        warn(f"has figures made with different options: {differs}. Keep the rows of one.", about="per_query")


def warn_of_other_judgments(table: CanonicalFrame, query: str) -> None:
    """Warn of queries, in a column, that were judged differently in two rows."""
    if QUERY_HASH not in table.columns:
        return
    # A run that holds its grades has one hash for both.
    judged = judged_of(pl.col(QUERY_HASH).filter(pl.col(QUERY_HASH).str.contains("-", literal=True)))
    of_queries = table.select(query, QUERY_HASH).group_by(query).agg(judged.n_unique())
    if several := of_queries.filter(pl.col(QUERY_HASH) > 1).collect().height:
        says = f"has {several} queries with different judgments in different rows, which figures reflect."
        warn(says, about="per_query", fix=Fix("Evaluate all by the same judgments", Code("ir.update")))


def _options_differing(made: Sequence[Mapping[str, Any]], measures: Sequence[str]) -> str:
    """The first difference between evaluations other than that of judgments; nothing for none."""
    return next(filter(None, (differing(made[0], its, measures, [JUDGMENTS]) for its in made[1:])), "")


def _texts(table: CanonicalFrame) -> pl.LazyFrame:
    """The texts of provenance, each once."""
    return table.select(PROVENANCE).unique().drop_nulls()


def _of_file(path: Path) -> dict[str, Any]:
    """Entries of the metadata of a Parquet file, or else of the column of a Parquet or an Arrow file."""
    # Imported here: no other function of a frame needs formats of files.
    from polars_ir.files.formats.columnar import IPC, PARQUET
    from polars_ir.files.writing.metadata import METADATA, read_metadata

    if path.suffix.lower() not in (*PARQUET.extensions, *IPC.extensions) and path.exists():
        fix = Fix("Read the table, and give that, if it has a column of it")
        if (found := read_metadata(path)) is None:
            raise FileError.of_file(path, f"no {path.name}{METADATA} beside it tells how it was made.", fix=fix)
        if found.changed:
            raise FileError(f"{found.changed}: it was changed since.", fix="Evaluate anew")
        return _read(path, found.made)
    of_arrow = path.suffix.lower() in IPC.extensions
    try:
        text = None if of_arrow else pl.read_parquet_metadata(path).get(PROVENANCE)
        if text is None:
            rows = pl.scan_ipc(path, glob=False) if of_arrow else pl.scan_parquet(path, glob=False)
            rows.collect_schema()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FileError.of_file(path, f"cannot be read: {error}.") from None
    if text is None:
        return provenance(rows)
    return _read(path, text)


def _read(path: Path, text: str) -> dict[str, Any]:
    if (made := read_made(text)) is None:
        raise FileError.of_file(path, "its metadata has no provenance.")
    return made
