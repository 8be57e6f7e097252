"""Rows of a text file and their checks, in one plan that fails on invalid rows.

Conventions: every row carries its line number, its text, whether it holds data (a blank line and a comment do not)
and whether it breaks the layout. Rows without data are left out; a row of data that breaks the layout makes the plan
fail. `scan()` fails inside Polars, when it is collected; `failure()` finds the first offending line and says it as a
`FileError`.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import polars as pl

from polars_ir.errors import FileError, called, shown, warn
from polars_ir.files.finding.file import SHOWN, UNPACKED, File, beginning, holds
from polars_ir.files.rows.unreadable import FAILURES, Dialect, unreadable

#: Columns beside each row's data, under reserved names.
NUMBER = "polars_ir: line number"
TEXT = "polars_ir: line text"
KEEP = "polars_ir: line holds data"
BAD = "polars_ir: line is wrong"
PROBLEM = "polars_ir: line problem"

#: True for a line that a format leaves out, which is told.
LEFT_OUT = "polars_ir: line is left out"

#: Number of lines that a lazy reader checks before it returns.
FIRST_LINES = 1000


@dataclasses.dataclass(frozen=True)
class Checked:
    """One file's rows, with the five columns above, and the data columns among them.

    A table has a dialect, and its header alone is an empty table; a file without header must hold data. `left_out` says
    which lines the format leaves out, those of the column `LEFT_OUT`.
    """

    path: File
    rows: pl.LazyFrame
    columns: list[str]
    wanted: str
    dialect: Dialect | None = None
    left_out: str | None = None

    def scan(self, **others: pl.Expr) -> pl.LazyFrame:
        """The data columns, and others; collecting them fails natively, naming file and line, where a row is wrong."""
        # The line of a table's row depends on all lines before it.
        unit = "line" if self.dialect is None else "row"
        place = pl.concat_str(pl.lit(f"polars_ir: {shown(str(self.path))}, {unit} "), pl.col(NUMBER).cast(pl.String))
        offender = pl.concat_str(place, pl.lit(f": wanted {self.wanted}; got "), pl.col(TEXT).str.head(SHOWN))
        # Only a cast from text to a number fails for certain: the optimizer turns `cast(UInt8) == 1` over an
        # integer into a plain comparison, and the wrong line would be left out without a word.
        verdict = pl.when(KEEP, BAD).then(offender).when(KEEP).then(pl.lit("1")).otherwise(pl.lit("0"))
        judged = self.rows.with_columns((verdict.cast(pl.UInt8) == 1).alias(KEEP))
        # Every column is made from the verdict: a filter of the user's on a column that was not would be moved before
        # it, and leave out the wrong line unseen.
        columns = [pl.when(KEEP).then(pl.col(name)).alias(name) for name in self.columns]
        columns += [pl.when(KEEP).then(value).alias(name) for name, value in others.items()]
        return judged.select(*columns, KEEP).filter(KEEP).drop(KEEP)

    def first_lines(self) -> Checked:
        """The same check of the first data lines, in memory."""
        try:
            head = self.rows.filter(KEEP).head(FIRST_LINES).collect(engine="streaming")
        except FAILURES as error:
            raise unreadable(self.path, error, self.dialect) from None
        if head.is_empty() and self.dialect is None:
            raise self.nothing()
        return dataclasses.replace(self, rows=head.lazy())

    def nothing(self) -> FileError:
        """The error of a file none of whose lines is read."""
        if self.left_out is None:
            return FileError.empty(self.path)
        return FileError.of_file(self.path, f"no line holds data, or of each the {self.left_out}.")

    def warn_of_comments(self, first: int | None = None) -> None:
        """Warn of lines that begin with `#` and are rows but for that, of remote files in the first lines only."""
        if isinstance(self.path, str):
            first = first or FIRST_LINES
        elif not _holds(self.path, "#"):
            return
        rows = self.rows if first is None else self.rows.head(first)
        rows = rows.filter(~pl.col(KEEP), ~pl.col(BAD), pl.col("query_id").str.contains("^#."))
        try:
            found = rows.select(pl.col(NUMBER, TEXT).first(), pl.len()).collect(engine="streaming")
        except FAILURES:
            return  # the rows tell it
        for number, text, count in found.filter(pl.col("len") > 0).rows():
            others = "" if count == 1 else f" (and {count - 1} more)"
            warn(
                f"{called(self.path)}, line {number}{others}: a comment with the fields of a row was skipped, "
                f"{shown(text[:SHOWN])!r}. No query id can begin with # here; if it is one, give it another."
            )

    def warn_of_left_out(self, first: int | None = None) -> None:
        """Warn of lines that the format leaves out, if only among the first ones, with their number."""
        if self.left_out is None:
            return
        rows = self.rows if first is None else self.rows.head(first)
        found = rows.filter(LEFT_OUT).select(pl.col(NUMBER).first(), pl.len()).collect(engine="streaming")
        for number, count in found.filter(pl.col("len") > 0).rows():
            among = "" if first is None else f" of the first {first}"
            lines = f"{count} {'line' if count == 1 else 'lines'}{among}"
            warn(f"{called(self.path)}, line {number}: skipped {lines}, whose {self.left_out}.")

    def failure(self) -> FileError | None:
        """The error of the first offending line; None if there is none."""
        # A quoted field of a table can go on over several lines.
        breaks = pl.col(TEXT).str.count_matches("\n", literal=True)
        rows = self.rows.filter(KEEP).with_columns(pl.col(NUMBER) + breaks.cum_sum() - breaks)
        offenders = rows.filter(BAD).select(NUMBER, TEXT, PROBLEM)
        try:
            offender = offenders.select(pl.all().first(), pl.len()).collect(engine="streaming")
        except FAILURES as error:
            return unreadable(self.path, error, self.dialect)
        number, text, problem, count = offender.row(0)
        if count == 0:
            return None
        before = 0 if self.dialect is None else _blank_lines(self.path)
        others = {1: "", 2: " One more line is wrong."}.get(count, f" {count - 1} more lines are wrong.")
        return FileError.at_line(self.path, number + before, text, problem + others)


def _holds(path: Path, character: str) -> bool:
    """True if a file holds an ASCII character; bytes are much cheaper to search than rows."""
    if UNPACKED.match(beginning(path)):
        lines = pl.scan_lines(path, name="line", glob=False)
        found = lines.select(pl.col("line").str.contains(character, literal=True).any())
        return bool(found.collect(engine="streaming").item())
    return holds(path, character.encode())


def _blank_lines(table: File) -> int:
    """The number of blank lines before the header of a table."""
    lines = pl.scan_lines(table, name="line", row_index_name="number", glob=False)
    header = lines.filter(pl.col("line").str.strip_prefix("\ufeff").str.strip_suffix("\r") != "")
    before: int = header.select(pl.col("number").first()).collect(engine="streaming").item()
    return before
