"""The files of a source as one table: texts checked row by row, tables that know their types, texts read whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import cast

import polars as pl

from polars_ir.errors import Code, ColumnError, FileError, Fix, called, fold, option, quoted, warn
from polars_ir.files.finding.file import File, check_size, is_remote, most_bytes
from polars_ir.files.finding.folders import Folders, folders_of
from polars_ir.files.finding.sources import names
from polars_ir.files.formats.record import Role, Rows, Typed, Whole
from polars_ir.files.rows.blanks import Words, first_line, no_grades
from polars_ir.files.rows.tags import OTHER_TAG, other_tag, tags_of, warn_of_tags, warn_of_tags_at_ends
from polars_ir.files.rows.unreadable import FAILURES, because
from polars_ir.files.rows.verdicts import FIRST_LINES, Checked
from polars_ir.frames.roles import ROLES, columns_of, find
from polars_ir.frames.rules import RowsT, Rule, checked

#: The types of scores and grades to try, narrowest first.
_DTYPES: dict[Role, tuple[type[pl.DataType], ...]] = {"run": (pl.Float64,), "qrels": (pl.Int64, pl.Float64)}

#: Bytes of a value in memory, where only their number is known.
_VALUE = 8


def in_numbers(rows: RowsT, words: Words) -> RowsT:
    """A table with grades in words as numbers; an error for other words."""
    columns = rows.collect_schema().names()
    name = find("qrels", "relevance", columns) or find("qrels", "score", columns)
    if name is None:
        raise ColumnError("has " + no_grades(columns), about="qrels")
    text = pl.col(name).cast(pl.String)
    others = Rule(
        text.is_not_null() & ~text.is_in(words.words),
        f"whose {name!r} is none of {words}",
        f"Give each word a number: {option('grades')}",
    )
    rows = checked(rows, others, about="qrels", keys=columns[:1], names={})
    return cast("RowsT", rows.with_columns(words.number(text).alias(name)))


def read_rows(files: list[File], role: Role, reader: Rows, words: Words | None, *, format_given: bool) -> pl.DataFrame:
    """The files in memory; errors show the first offending line of all files."""
    quick = [reader.quick(file) if role == "run" and isinstance(file, Path) else None for file in files]
    if len(files) == 1 and quick[0] is not None:
        return quick[0]
    for dtype in _DTYPES[role] if words is None else (words,):
        parts = [reader.rows[role](path, dtype) for path in files]
        scans = [
            part.scan(**({} if role == "qrels" or reader.tag is None else other_tag(part, reader.tag)))
            if frame is None
            else frame.lazy()
            for part, frame in zip(parts, quick, strict=True)
        ]
        together = _rows_together(parts, scans, role, reader)
        try:
            frame = together.collect(engine="streaming")
        except FAILURES as error:
            if isinstance(error, OSError) and is_remote(files[0]):
                # Each try of a store that does not answer can take a minute.
                raise because(files[0], error) from None
            failed = error
            continue
        if frame.is_empty() and parts[0].dialect is None:
            raise parts[0].nothing()
        if role == "qrels" and not format_given:
            _check_judgments(parts, reader)
        _warn_of_format(parts, reader)
        several = OTHER_TAG in frame.columns and frame.drop_in_place(OTHER_TAG).any()
        for part, already in zip(parts, quick, strict=True):
            if part.dialect is None and already is None:
                part.warn_of_comments()
                part.warn_of_left_out()
                if several and reader.tag is not None:
                    warn_of_tags(part, reader.tag)
        return frame
    raise _first_failure(parts) or because(files[0], failed)


def scan_rows(files: list[File], role: Role, reader: Rows, words: Words | None, *, format_given: bool) -> pl.LazyFrame:
    """The files as a LazyFrame, after a check of each one's first lines."""
    failures = []
    for dtype in _DTYPES[role] if words is None else (words,):
        parts = [reader.rows[role](path, dtype) for path in files]
        heads = [part.first_lines() for part in parts]
        failure = _first_failure(heads)
        if failure is None:
            if role == "qrels" and not format_given:
                _check_judgments(parts, reader)
            _warn_of_format(parts, reader)
            for part, head in zip(parts, heads, strict=True):
                if part.dialect is None:
                    part.warn_of_comments(FIRST_LINES)
                    part.warn_of_left_out(FIRST_LINES)
                if role == "run" and reader.tag is not None:
                    warn_of_tags_at_ends(part, head, reader.tag)
            return _rows_together(parts, [part.scan() for part in parts], role, reader)
        failures.append(failure)
    raise failures[-1]


def _check_judgments(parts: Sequence[Checked], reader: Rows) -> None:
    """Raise a `FileError` for a table of numbers that only its four fields make judgments."""
    for part in parts:
        if doubt := reader.doubt(part.first_lines()):
            words = (
                "If its columns are a user, an item, a rating and a time, name them; if it is TREC's after all, give"
            )
            separator = "\t" if "\t" in first_line(part.path)[1] else " "
            named = f"has_header=False, new_columns={['query_id', 'doc_id', 'relevance', 'time']}"
            code = Code(f"pl.read_csv({str(part.path)!r}, separator={separator!r}, {named})")
            fix = Fix(f"{words} {option('format', 'trec')}", code)
            raise FileError.of_file(part.path, f"by its first lines this is a table of numbers: {doubt}.", fix=fix)


def _warn_of_format(parts: Sequence[Checked], reader: Rows) -> None:
    """Warn of files whose first lines are probably of another format."""
    for part in parts:
        if reader.suspicion and (reason := reader.suspicion(part.first_lines())):
            warn(f"{called(part.path)}: {reason}")


def _first_failure(parts: Sequence[Checked]) -> FileError | None:
    return next((failure for part in parts if (failure := part.failure()) is not None), None)


def _rows_together(parts: list[Checked], scans: list[pl.LazyFrame], role: Role, reader: Rows) -> pl.LazyFrame:
    first, *others = parts
    if first.dialect is not None:
        paths = [part.path for part in parts]
        folders = zip(folders_of(paths, first.columns), scans, paths, strict=True)
        scans = [of.with_columns(scan, path) for of, scan, path in folders]
    if not others:
        return scans[0]
    _check_same([part.path for part in parts], [part.columns for part in parts])
    heads = [part.first_lines() for part in parts]
    if role == "run" and first.dialect is None:
        systems = zip(_systems(heads, reader), scans, strict=True)
        scans = [scan.select(pl.lit(name).alias("run"), pl.all()) for name, scan in systems]
    return pl.concat(scans, how="diagonal")


def _systems(heads: list[Checked], reader: Rows) -> list[str]:
    """Run names: a file's tag, or its own name where tags repeat, change within the file or are missing."""
    tags = [tags_of(head, reader.tag) for head in heads]
    one_of_each = {of_file[0] for of_file in tags if len(of_file) == 1}
    return [tag for (tag,) in tags] if len(one_of_each) == len(heads) else names([head.path for head in heads])


def read_typed(files: list[File], reader: Typed, max_ratio: float | None) -> pl.DataFrame:
    """The table in memory."""
    lazy = _typed_together(files, reader, max_ratio)
    try:
        return lazy.collect(engine="streaming")
    except FAILURES as error:
        raise _first_unreadable(files, reader) or because(files[0], error) from None


def scan_typed(files: list[File], reader: Typed, max_ratio: float | None) -> pl.LazyFrame:
    """The table as a LazyFrame, after a check of every file's columns."""
    lazy = _typed_together(files, reader, max_ratio)
    if reader.by_rows and (failure := _first_unreadable(files, reader)):
        raise failure
    return lazy


def check_ids(files: list[File], reader: Typed, frame: pl.DataFrame) -> None:
    """Raise a `FileError` for the first file of a run with null ids."""
    names_of_ids = {fold(name) for role in ("query_id", "doc_id") for name in ROLES[role].names}
    ids = [name for name in frame.columns if fold(name) in names_of_ids]
    if len(files) == 1 or not any(frame[name].null_count() for name in ids):
        return
    for path in files:
        counts = reader.scan([path]).select(pl.col(ids).null_count()).collect(engine="streaming")
        for name, count in counts.row(0, named=True).items():
            if count:
                raise FileError.of_file(path, f"rows of this part without {name}: {count}. Leave them out.")


def _typed_together(files: list[File], reader: Typed, max_ratio: float | None) -> pl.LazyFrame:
    scans = {file: reader.scan([file]) for file in files}
    schemas = [_schema(path, scan, reader, max_ratio) for path, scan in scans.items()]
    _check_same(files, schemas)
    parts: dict[Folders, list[File]] = {}
    for file, of in zip(files, folders_of(files, schemas[0]), strict=True):
        parts.setdefault(of, []).append(file)
    # A scan whose columns are known does not look for them again.
    each = [(of, part[0], scans[part[0]] if len(part) == 1 else reader.scan(part)) for of, part in parts.items()]
    return pl.concat(of.with_columns(scan, first) for of, first, scan in each)


def _schema(path: File, scan: pl.LazyFrame, reader: Typed, max_ratio: float | None) -> pl.Schema:
    if not isinstance(path, str) and path.stat().st_size == 0:
        raise FileError.empty(path)
    try:
        schema = scan.collect_schema()
    except FAILURES as error:
        raise reader.failure(path, error) from None
    reader.check(path, schema)
    if isinstance(path, Path) and max_ratio is not None and not reader.by_rows:
        _check_rows(path, reader, len(schema), max_ratio)
    return schema


def _check_rows(path: Path, reader: Typed, width: int, max_ratio: float) -> None:
    """Raise a `FileError` for a file that declares more rows than its size allows."""
    try:
        # Polars knows them without reading the columns.
        height = reader.scan([path]).select(pl.len()).collect(engine="streaming").item()
    except FAILURES as error:
        raise reader.failure(path, error) from None
    check_size(path, height * width * _VALUE, most_bytes(path, max_ratio), max_ratio)


def _first_unreadable(files: list[File], reader: Typed) -> FileError | None:
    for path in files:
        try:
            # Only the named columns are read.
            reader.scan([path]).select(pl.all().null_count()).collect(engine="streaming")
        except FAILURES as error:
            return reader.failure(path, error)
    return None


def _check_same(files: Sequence[File], columns: Sequence[list[str] | pl.Schema]) -> None:
    """Raise a `FileError` for a file whose columns differ from the first one's."""
    for file, of_file in zip(files, columns, strict=True):
        if of_file != columns[0]:
            had, wanted = map(_listed, (of_file, columns[0]))
            problem = f"its columns are {had}; those of {called(files[0])} are {wanted}."
            if (others := _renamed(of_file, columns[0])) is None:
                lone = [name for name in (*columns[0], *of_file) if name not in columns[0] or name not in of_file]
                raise FileError.of_file(file, f"{problem} Give both the same columns; only one has {quoted(lone)}.")
            frames = f"..., other.rename({others})" if others else "..."
            code = Code(f"pl.concat([{frames}], how='diagonal_relaxed')")
            fix = Fix("Read each by itself, and put them together", code)
            raise FileError.of_file(file, problem, fix=fix)


def _renamed(columns: Collection[str], first: Collection[str]) -> dict[str, str] | None:
    """The first file's names of columns of another file, by role; None where no names would make one table of both."""
    try:
        ours, theirs = (columns_of("run", names, list(ROLES)) for names in (first, columns))
    except ColumnError:
        return None
    others = {theirs[role]: name for role, name in ours.items() if theirs.get(role, name) != name}
    # A role of one file alone would be null in the rows of the other; beside scores, ranks have none.
    unused = {"rank"} if "score" in ours and "score" in theirs else set()
    clash = (ours.keys() ^ theirs.keys()) - unused or any(name in columns for name in others.values())
    return None if clash else others


def _listed(columns: list[str] | pl.Schema) -> str:
    named = [f"{name} {dtype}" for name, dtype in columns.items()] if isinstance(columns, pl.Schema) else columns
    return f"{', '.join(named):.300}"


def read_whole(files: list[File], role: Role, reader: Whole, words: Words | None = None) -> pl.DataFrame:
    """The files as one table in memory."""
    frames = [reader.read(file, role, words) for file in files]
    if len(files) > 1 and role == "run":
        systems = zip(names(files), frames, strict=True)
        frames = [frame.select(pl.lit(name).alias("run"), pl.all()) for name, frame in systems]
    _check_same(files, [frame.columns for frame in frames])
    return pl.concat(frames, how="vertical_relaxed")
