"""Writers, whose files are read back equal.

Conventions: what a format cannot hold (an id with a blank in a TREC file) is an error before anything is written. A
LazyFrame of a run is never held as a whole but for JSON: tables stream, and where ranks rise, in TREC files and MS
MARCO's, some queries are sorted at a time. Numbers read back are equal in the dtype that was written: texts hold the
shortest decimals of a Float32, and Float64 the nearest numbers to Decimals of up to 15 digits.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypedDict, Unpack

import polars as pl

from polars_ir.errors import Code, DataError, FileError, Fix, InputTypeError, OptionError, Setting, table_name
from polars_ir.files.finding.file import COMPRESSED, STORES, File, is_remote, is_text, located, pure, scheme
from polars_ir.files.finding.sources import by_extension
from polars_ir.files.formats import BY_NAME, TABLES, WRITABLE, FormatName
from polars_ir.files.formats.columnar import PARQUET
from polars_ir.files.formats.record import Format, Role
from polars_ir.files.formats.trec import TREC
from polars_ir.files.writing.checks import sink_fields
from polars_ir.files.writing.replacing import written
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.roles import PROVENANCE
from polars_ir.frames.table import qrels_table, run_table
from polars_ir.language.options import Option, Value, one_of, or_none, public

#: In bytes, as all usual file systems have it.
LONGEST_NAME = 255

#: A path with one file per system.
EACH = "{run}.run"

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def _written(role: Role) -> Option:
    """The output format."""
    formats = ", ".join(f'`"{name}"`' for name in WRITABLE[role])
    meaning = f"If the extension does not tell; what each holds, the reader says: {formats}."
    return Option(None, or_none(one_of(*WRITABLE[role])), meaning)


Storage: TypeAlias = Annotated[
    dict[str, Any] | None,
    Option(
        None,
        or_none(Value("a dict of options", lambda value: isinstance(value, Mapping), dict)),
        "For a URL, the options of its store as Polars takes them (`{'aws_region': 'eu-central-1'}`); by default "
        "those of the environment, as for the readers.",
    ),
]


class WritingRun(TypedDict, total=False):
    """The options of the writer of runs."""

    format: Annotated[FormatName | None, _written("run")]
    tag: Annotated[
        str | None,
        Option(
            None,
            or_none(
                Value("text without an unpaired surrogate", lambda tag: isinstance(tag, str) and is_text(tag), str)
            ),
            "The last field of a TREC file's lines; by default the system's name, or `polars_ir`.",
        ),
    ]
    storage_options: Storage


class WritingQrels(TypedDict, total=False):
    """The options of the writer of judgments."""

    format: Annotated[FormatName | None, _written("qrels")]
    storage_options: Storage


@public(WritingRun)
def write_run(run: Any, path: str | os.PathLike[str], **options: Unpack[WritingRun]) -> None:
    """Write a run to a file, or several systems to one file each.

    `sink_run` is the same function, under the name that Polars gives to the writing of a LazyFrame.

    Parameters
    ----------
    run
        A run in any form that `evaluate` takes. A LazyFrame may be larger than memory; for a TREC file it is run
        several times, to check it and to write some of its queries at a time.
    path
        The file, or a URL that Polars writes to (`s3://`, `gs://`, `az://`). Its extension tells the format (`.gz` and
        `.zst` may follow that of a text); without a known one it is TREC. Several systems are written to a file each
        where the path holds `{run}`, as in `"runs/{run}.run.gz"`; a table holds them in a column, and no other file
        holds more than one.

    Raises
    ------
    IRError
        For a table that is no run, ids that a TREC file cannot hold (blanks, nothing at all, `#` first), or a file
        that cannot be written. The file that was there stays as it was. Documents that a query has twice, which
        cannot be evaluated, are written as they are, but in JSON, which cannot hold them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars_ir as ir
    >>> file = pathlib.Path(tempfile.mkdtemp(), "mine.run")
    >>> ir.write_run({"q1": {"d1": 0.5, "d2": 2}}, file, tag="mine")
    >>> print(file.read_text(encoding="utf-8"), end="")
    q1 Q0 d2 1 2.0 mine
    q1 Q0 d1 2 0.5 mine
    """
    of_file, tag, storage = _format(path, options["format"]), options["tag"], options["storage_options"]
    table, system = _only_system(run_table(run), of_file, path)
    if "{run}" in os.fspath(path):
        for name, file, of_system in each_system("run", table, path):
            _write("run", of_system, file, of_file, tag or name, storage)
    elif "run" in table.dtypes and not of_file.writer.table:
        fix = Fix("Write each to its own", Setting("path", EACH), without_code=f"Write each to its own: {EACH}")
        raise OptionError(f"a file of {of_file.name} holds one system.", fix=fix)
    else:
        _write("run", table, located(os.fspath(path)), of_file, tag or system or "polars_ir", storage)


sink_run = write_run


@public(WritingQrels)
def write_qrels(qrels: Any, path: str | os.PathLike[str], **options: Unpack[WritingQrels]) -> None:
    """Write judgments to a file; `sink_qrels` is the same function, as `sink_run` is `write_run`.

    Parameters
    ----------
    qrels
        Judgments in any form that `evaluate` takes.
    path
        The file; its extension tells the format, as for `write_run`.

    Raises
    ------
    IRError
        For judgments that cannot be evaluated; ids or grades that the format cannot hold, or a document that is
        there twice in a text that is no table; a file that cannot be written. The file that was there stays as it was.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars_ir as ir
    >>> file = pathlib.Path(tempfile.mkdtemp(), "qrels.txt")
    >>> ir.write_qrels({"q1": {"d1": 0, "d2": 2}}, file)
    >>> print(file.read_text(encoding="utf-8"), end="")
    q1 0 d1 0
    q1 0 d2 2
    """
    of_file = _format(path, options["format"])
    table = qrels_table(qrels, per=of_file.per)
    by_query = table.with_frame(table.all_columns().sort("query_id", maintain_order=True))
    _write("qrels", by_query, located(os.fspath(path)), of_file, "", options["storage_options"])


sink_qrels = write_qrels


def write_table(frame: pl.DataFrame, path: File) -> None:
    """Write any table to a file, in the format of its ending, which is one of `TABLES`.

    The metadata of Parquet tell how figures were made, too.
    """
    of_file = TABLES[pure(path).suffix]
    made = frame[PROVENANCE].unique().to_list() if of_file is PARQUET and PROVENANCE in frame.columns else []
    sink([frame.lazy()], path, of_file, **({"metadata": {PROVENANCE: made[0]}} if len(made) == 1 else {}))


def each_system(
    name: str, table: CanonicalFrame, path: str | os.PathLike[str]
) -> Iterator[tuple[str, File, CanonicalFrame]]:
    """Systems with their files and rows, for a path with `{run}`.

    A `DataError` for one whose name would be that of a file in another folder, before the first is yielded.
    """
    text = os.fspath(path)
    if "run" not in table.dtypes:
        says = f"holds {{run}}, and {table_name(name)} has no column of systems; got {text!r}."
        raise OptionError(says, about="path")
    systems = table.select("run").unique().sort("run").collect(engine="streaming").to_series()
    names = systems.cast(pl.String).to_list()
    for system in names:
        if system is None or not _is_part_of_a_name(system, text):
            polars, pandas = "str.replace_all('/', '-', literal=True)", "str.replace('/', '-', regex=False)"
            code = Code.making(name, table.names["run"], polars, pandas) if "/" in (system or "") else None
            says = f"has a system {system!r:.80}, which cannot be in a file name."
            raise DataError(says, about=name, fix=Fix("Rename it", code))
    for value, system in zip(systems, names, strict=True):
        rows = table.all_columns().filter(pl.col("run") == value).drop("run")
        yield system, located(text.replace("{run}", system)), table.with_frame(rows)


def _only_system(
    table: CanonicalFrame, format: Format, path: str | os.PathLike[str]
) -> tuple[CanonicalFrame, str | None]:
    """A run of one system without the column that names it, and the name, where the format has no such column."""
    if "run" not in table.dtypes or format.writer.table or "{run}" in os.fspath(path):
        return table, None
    names = table.select("run").unique().head(2).collect(engine="streaming").to_series().cast(pl.String).to_list()
    if len(names) > 1 or None in names:
        return table, None
    return table.with_frame(table.all_columns().drop("run")), next(iter(names), None)


def _write(
    role: Role, table: CanonicalFrame, path: File, format: Format, tag: str, storage_options: dict[str, Any] | None
) -> None:
    storage = {"storage_options": storage_options} if is_remote(path) else {}
    sink(format.writer.frames[role](table, tag), path, format, **storage)


def _is_part_of_a_name(system: str, path: str) -> bool:
    """True if a path with a system's name is a valid file of the same folder."""
    names = Path(path.replace("{run}", system)).parts
    is_name = Path(system).name == system and system not in ("", "..") and "\0" not in system
    return is_name and all(len(os.fsencode(name)) <= LONGEST_NAME for name in names)


def check_path(path: object, *, stores: bool = False) -> None:
    """Raise an `InputTypeError` for a value that is not a path, and a `FileError` for an invalid path.

    Where Polars writes, a URL may be that of one of its `stores`.
    """
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        to_open = Fix("Polars writes a table into an open file", Code("frame.write_parquet(file)"))
        fix = to_open if hasattr(path, "write") else None
        problem = f"must be the path of a file; got {type(path).__name__}: {path!r:.80}."
        raise InputTypeError(problem, about="path", fix=fix)
    kind = scheme(os.fspath(path))
    if kind is not None and not (stores and kind in STORES):
        known = f"this URL cannot be written to; those that can begin with {', '.join(STORES)}."
        problem = known if stores else "this is written to a file, and not to a URL."
        raise FileError.of_file(path, problem, fix=Fix("Write a file, and copy it there"))
    if "\0" in os.fspath(path) or not is_text(os.fspath(path)):
        raise FileError.of_file(path, "no file can have this name: it has a NUL, or is not text.")


def _format(path: str | os.PathLike[str], name: FormatName | None) -> Format:
    check_path(path, stores=True)
    file = located(os.fspath(path))
    format = BY_NAME[name] if name is not None else by_extension(file) or TREC
    if not format.is_text and pure(file).suffix.lower() in COMPRESSED:
        problem = f"{format.name} compresses its columns itself; leave out {pure(file).suffix}."
        raise FileError.of_file(path, problem)
    return format


def sink(frames: Iterable[pl.LazyFrame], path: File, format: Format, **options: Any) -> None:
    """Write frames to a file in turn; texts are compressed by the file's last extension."""
    options |= _options(path) if format.is_text else {}
    # The object at a URL cannot be appended to.
    parts = [pl.concat(frames)] if is_remote(path) else frames
    with written(path) as file:
        for frame in parts:
            format.writer.sink(frame, file, **options)


def write_lines(lines: Iterable[str], path: File) -> None:
    """Write lines of text to a file, compressed by its extension."""
    with written(path) as file:
        sink_fields(pl.LazyFrame({"line": list(lines)}), file, **_options(path))


def _options(path: File) -> dict[str, Any]:
    return {"compression": _COMPRESSIONS.get(pure(path).suffix.lower(), "uncompressed"), "check_extension": False}
