"""The quotes of a table of text: whether they enclose fields, and the first that Polars would read otherwise.

Conventions: where no field of the file begins with a quote, quotes are text, as in `5" disk`. Where one does, quotes
are those of CSV (RFC 4180): a field that begins with one ends with one, holds others doubled, and may go on over
several lines; no other field holds any. Polars reads the one kind without a quote character and the other with it; in
a file of both it would join rows, so that such a file is an error, as is a field whose lines are rows themselves: its
quote was not meant to open one.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polars_ir.errors import FileError, fold
from polars_ir.files.finding.file import UNPACKED, File, beginning, holds
from polars_ir.files.rows.blanks import NUMERAL
from polars_ir.files.rows.unreadable import FAILURES, Dialect, unreadable
from polars_ir.frames.roles import ROLES

_NUMBER, _LINE, _COUNT, _INSIDE, _WRONG = "number", "line", "quotes", "inside a field", "wrong"

#: Names of columns of numbers.
_NUMBERS = {fold(name) for role in ("score", "relevance", "rank") for name in ROLES[role].names}


def dialect_of(file: File, separator: str) -> Dialect:
    """The dialect of a file; a `FileError` for the first line that has quotes of both kinds, or broken ones."""
    if isinstance(file, Path) and not UNPACKED.match(beginning(file)) and not holds(file, b'"'):
        return Dialect(separator, None)
    try:
        return Dialect(separator, '"' if _encloses_fields(file, separator) else None)
    except FAILURES as error:
        raise unreadable(file, error) from None


def _encloses_fields(file: File, separator: str) -> bool:
    """True if quotes enclose fields; a `FileError` where they do so in a part of the file."""
    lines = pl.scan_lines(file, name=_LINE, row_index_name=_NUMBER, row_index_offset=1, glob=False)
    lines = lines.with_columns(pl.col(_LINE).str.strip_prefix("\ufeff").str.strip_suffix("\r"))
    # The first line that is not blank.
    first = lines.filter(pl.col(_LINE) != "").select(_LINE).head(1).collect(engine="streaming")
    header = str(first.item()) if first.height else ""
    counts = lines.with_columns(pl.col(_LINE).str.count_matches('"', literal=True).alias(_COUNT))
    inside = ((pl.col(_COUNT).cum_sum() - pl.col(_COUNT)) % 2 == 1).alias(_INSIDE)
    rows = counts.with_columns(inside).with_columns(_is_wrong(separator, header).alias(_WRONG))
    whole = rows.select(
        encloses=pl.col(_LINE).str.contains(f'(?:^|{separator})"').any(),
        wrong=pl.col(_NUMBER).filter(pl.col(_WRONG)).min(),
        ends_inside=pl.col(_COUNT).sum() % 2 == 1,
    )
    encloses, wrong, ends_inside = whole.collect(engine="streaming").row(0)
    if encloses and (wrong is not None or ends_inside):
        raise _broken(file, rows, wrong)
    return bool(encloses)


def _is_wrong(separator: str, header: str) -> pl.Expr:
    """True for a line that does not go on from where the last one left off, or is a row inside a field."""
    line = pl.col(_LINE)
    field, opened = f'(?:[^"{separator}]*|"(?:[^"]|"")*")', '"(?:[^"]|"")*'
    fields = f"(?:{field}{separator})*(?:{field}|{opened})"
    goes_on = line.str.contains(f'^(?:[^"]|"")*(?:"(?:{separator}{fields})?)?$') & ~_is_row(separator, header)
    return pl.when(pl.col(_INSIDE)).then(goes_on.not_()).otherwise(line.str.contains(f"^{fields}$").not_())


def _is_row(separator: str, header: str) -> pl.Expr:
    """True for a line with as many fields as the header, and numbers where it names any."""
    names = [name.strip('"') for name in header.split(separator)]
    places = [place for place, name in enumerate(names) if fold(name) in _NUMBERS]
    # Few lines stand inside a field, and to split all would take as long as the rest.
    fields = pl.when(pl.col(_INSIDE)).then(pl.col(_LINE)).str.split(separator)
    numeral = f"(?i)^(?:{NUMERAL.pattern})$"
    numbers = [fields.list.get(place, null_on_oob=True).str.contains(numeral) for place in places]
    return pl.all_horizontal(pl.lit(bool(places)), fields.list.len() == len(names), *numbers).fill_null(False)


def _broken(file: File, rows: pl.LazyFrame, wrong: int | None) -> FileError:
    """The error of quotes: at the first wrong line, or where a field opens that goes on into it."""
    opened, where = rows.filter(pl.col(_COUNT) % 2 == 1), ""
    if wrong is not None:
        line, inside = rows.filter(number=wrong).select(_LINE, _INSIDE).collect(engine="streaming").row(0)
        if not inside:
            says = 'a quote inside a field. Put the field in quotes and double the quote in it: "5"" disk".'
            return FileError.at_line(file, wrong, line, says)
        opened = opened.filter(pl.col(_NUMBER) < wrong)
        where = f" before line {wrong}, which is a row itself or has a quote inside a field"
    number, line = opened.select(pl.col(_NUMBER, _LINE).last()).collect(engine="streaming").row(0)
    return FileError.at_line(file, number, line, f"a quote is opened here and does not end{where}.")
