"""The format of a file: by its extension, and without one that tells by its beginning.

Conventions: blank lines and comments (`#`) are not looked at. What fits no format is an error, never a guess.
"""

from __future__ import annotations

from pathlib import Path

from polars_ir.errors import FileError, OptionError, called, option
from polars_ir.files.formats import FORMATS, FormatName, by_name, readable
from polars_ir.files.formats.msmarco import MSMARCO
from polars_ir.files.lines import first_line
from polars_ir.files.locations import File, is_pattern, pure
from polars_ir.files.record import Format, Role, Typed
from polars_ir.files.signatures import COMPRESSED, beginning


def one_format(files: list[File], role: Role, name: FormatName | None) -> Format:
    """The format that was asked for, or the one all files have."""
    asked = asked_for(role, name)
    for file in files:
        known = asked or by_extension(file)
        if is_pattern(file) and not (known and isinstance(known.reader, Typed)):
            typed = ", ".join(sorted(format.name for format in FORMATS if isinstance(format.reader, Typed)))
            raise FileError.of_file(file, f"a pattern at a URL is followed for {typed} only; list these files.")
    return asked or _common_format(files, role)


def asked_for(role: Role, name: FormatName | None) -> Format | None:
    """The format of a name, if one is given."""
    if name is not None and name not in readable(role):
        raise OptionError.value("format", name, readable(role))
    return None if name is None else by_name(name)


def _common_format(files: list[File], role: Role) -> Format:
    """The format that all files tell."""
    formats = {file: format_of(file, role) for file in files}
    first = files[0]
    for file, other in formats.items():
        if other.name != formats[first].name:
            had, wanted = other.name, formats[first].name
            problem = f"this file is {had}, but {called(first)} is {wanted}; read files of one format at a time."
            raise FileError.of_file(file, problem)
    return formats[first]


def by_extension(file: File) -> Format | None:
    """The format whose extension a file has."""
    path = pure(file)
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return next((format for format in FORMATS if plain.suffix.lower() in format.extensions), None)


def format_of(file: File, role: Role) -> Format:
    """The format of a file, by its extension or its beginning."""
    format = by_extension(file)
    if format is not None and format.told_by_extension:
        return format
    if isinstance(file, Path) and (format := _by_signature(file)):
        return format
    number, line = first_line(file)
    if format := _by_line(line, role):
        return format
    raise FileError.at_line(file, number, line, _unknown(role))


def _by_signature(path: Path) -> Format | None:
    begin = beginning(path)
    return next((format for format in FORMATS if format.signature and begin.startswith(format.signature)), None)


def _by_line(line: str, role: Role) -> Format | None:
    return next(
        (format for format in reversed(FORMATS) if format.told_by_line and format.told_by_line(line, role)), None
    )


def _unknown(role: Role) -> str:
    """What to do with a line that tells no format."""
    tried = ", ".join(format.name for format in FORMATS if format.told_by_line and role in format.holds)
    # Its two or three fields could as well be grades, scores or texts.
    msmarco = f"{option('format', 'msmarco')} for lines of {MSMARCO.holds[role]}"
    choices = ", ".join(map(repr, readable(role)))
    unknown = f"neither the name nor the first line tells the format; tried {tried}"
    return f"{unknown}. Give it: {msmarco}; all are {choices}."
