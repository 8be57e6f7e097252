"""Lines of blank-separated fields, as in TREC's files, and the first line of any text.

Conventions:

* Fields are separated by any number of blanks, which are C's: space, tab, vertical tab, form feed, and no others.
  Blanks at either end of a line, CRLF and a byte-order mark mean nothing. A blank line is skipped, and so is one that
  begins with `#`: a comment, as in trec_eval 10, so that no query id can begin with `#`. One with the fields of a row
  is skipped with a warning.
* One plan reads every layout, by splitting at blanks and leaving out the empty fields. `scan_csv` is faster, but takes
  a late tab-separated line for one long query id; `clean` uses it where that cannot happen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import NamedTuple, TypeAlias

import polars as pl

from polars_ir.errors import FileError, caller, option
from polars_ir.files.finding.file import LONGEST, SHOWN, TOO_LONG_PROBLEM, File
from polars_ir.files.rows.unreadable import FAILURES, unreadable
from polars_ir.files.rows.verdicts import BAD, KEEP, NUMBER, PROBLEM, TEXT
from polars_ir.frames import guesses

#: The blanks within a line, as C's isspace has them.
BLANKS = " \t\v\f"
FIELD = f"[^{BLANKS}]+"

#: A score or a grade.
NUMERAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|[-+]?inf(inity)?", re.IGNORECASE | re.ASCII)

#: What begins with a letter and is no grade in words.
_NO_WORDS = ("nan", "inf", "infinity")

#: Longest line, in bytes, that is split without squeezing its blanks.
_LONG, _ANY = 64 << 10, 1 << 62

#: Number of characters inspected in the first line; JSON can be one line of any length.
_BEGINNING = 1_000_000

_FIELDS = "line fields"
COUNT = "line field count"
#: True where a line was too long to be split.
TOO_LONG = pl.col(COUNT).is_null()


def first_line(file: File) -> tuple[int, str]:
    """Start and number of the first data line."""
    return _line(file, last=False)


def last_line(file: File) -> tuple[int, str]:
    """Start and number of the last data line."""
    return _line(file, last=True)


def _line(file: File, *, last: bool) -> tuple[int, str]:
    text = pl.col("line").str.strip_prefix("\ufeff").str.strip_chars(BLANKS + "\r")
    # With globbing on, Polars would take a file named `x[1].run` for a pattern.
    lines = pl.scan_lines(file, name="line", row_index_name="number", row_index_offset=1, glob=False)
    holds_data = (text != "") & text.str.starts_with("#").not_()
    beginnings = lines.filter(holds_data).select("number", text.str.slice(0, _BEGINNING))
    wanted = beginnings.select(pl.all().last()).drop_nulls() if last else beginnings.head(1)
    try:
        rows = wanted.collect(engine="streaming").rows()
    except FAILURES as error:
        raise unreadable(file, error) from None
    if not rows:
        raise FileError.empty(file)
    number, line = rows[0]
    return number, line


def fields(line: str) -> list[str]:
    """The blank-separated fields of a line."""
    return re.findall(FIELD, line)


def not_a_score(score: pl.Expr) -> pl.Expr:
    """True where a Float64 holds no score; the infinities are scores."""
    return score.is_null() | score.is_nan()


class Words(NamedTuple):
    """Grades in words, by word."""

    words: tuple[str, ...]
    numbers: tuple[float, ...]

    def number(self, text: pl.Expr) -> pl.Expr:
        """The number of a word; null for any other text."""
        whole = all(isinstance(number, Integral) for number in self.numbers)
        numbers = pl.Series(self.numbers, dtype=pl.Int64 if whole else pl.Float64, strict=False)
        return text.replace_strict(pl.Series(self.words), numbers, default=None)

    def __str__(self) -> str:
        return ", ".join(map(repr, self.words))


def no_grades(columns: Iterable[str]) -> str:
    """The problem of a table whose columns the words of grades have no place in."""
    meant = guesses.only(name for name in columns if guesses.words(name) & guesses.GRADES)
    rename = "call it 'relevance'" if meant is None else f"rename {meant!r:.80} to 'relevance'"
    return f"no column of grades, whose words {option('grades')} gives numbers; {rename}."


#: Type of grades, or the words that stand for them.
Grade: TypeAlias = type[pl.DataType] | Words


def as_number(text: pl.Expr, dtype: Grade) -> pl.Expr:
    """A text as a number, null where it is none."""
    return dtype.number(text) if isinstance(dtype, Words) else text.cast(dtype, strict=False)


def grade_wanted(grade: Grade) -> str:
    """The expected grade, for a message."""
    return f"a word with a number ({grade})" if isinstance(grade, Words) else "a number"


def hint_of_words(got: object) -> str:
    """The option that gives grades in words their numbers, where what came may be one and the call has it."""
    shell = caller().kind == "shell"
    word = isinstance(got, str) and got[:1].isascii() and got[:1].isalpha() and got.lower() not in _NO_WORDS
    if not word or (shell and not option("grades").startswith("-")):
        return ""
    return f" Words have numbers by {option('grades')}{' WORD=NUMBER' if shell else '={word: number}'}."


def hint_of_column(text: pl.Expr) -> pl.Expr:
    """That option in the rows whose text may be a grade in words, else an empty text."""
    word = text.str.contains("^[A-Za-z]") & text.str.to_lowercase().is_in(_NO_WORDS).not_()
    return pl.when(word).then(pl.lit(hint_of_words("word"))).otherwise(pl.lit(""))


def no_grade(place: int, grade: Grade) -> pl.Expr:
    """The problem of an invalid grade."""
    hint = pl.lit("") if isinstance(grade, Words) else hint_of_column(shown(place))
    wanted = pl.lit(f"the grade (field {place + 1}) must be {grade_wanted(grade)}; got '")
    return pl.concat_str(wanted, shown(place).fill_null(""), pl.lit("'."), hint)


def not_a_grade(value: pl.Expr, grade: Grade) -> pl.Expr:
    """True where a value read as `grade` holds no grade."""
    return value.is_null() if grade is pl.Int64 else value.is_finite().not_().fill_null(True)


def whole_grades(grade: Grade) -> str:
    """The demand of a lazy reader that saw no fraction in the first lines, for a message."""
    if isinstance(grade, Words):
        return f" with grades {grade}"
    return " with whole grades like the first lines (read_qrels takes fractions)" if grade is pl.Int64 else ""


def rows_of(
    path: File, places: dict[str, int], dtypes: Mapping[str, Grade], bad: pl.Expr, problem: pl.Expr
) -> pl.LazyFrame:
    """The lines of a file as data columns, with those of `Checked` beside them."""
    data = [as_number(field(place), dtypes.get(name, pl.String)).alias(name) for name, place in places.items()]
    lines = _lines(path).select(*data, pl.col(_FIELDS).list.len().alias(COUNT), NUMBER, TEXT, _FIELDS)
    holds_data = (pl.col(COUNT) > 0) & pl.col("query_id").str.starts_with("#").not_()
    return lines.with_columns(
        (holds_data | TOO_LONG).alias(KEEP),
        (bad | TOO_LONG | pl.col(TEXT).str.contains("[\r\0]")).alias(BAD),
        pl.when(TOO_LONG)
        .then(pl.lit(TOO_LONG_PROBLEM))
        .when(pl.col(TEXT).str.contains("\0", literal=True))
        .then(pl.lit("a NUL byte; is this a binary file?"))
        # A lone carriage return would hide the lines after it.
        .when(pl.col(TEXT).str.contains("\r", literal=True))
        .then(pl.lit("a carriage return inside the line; lines end in \\n or \\r\\n."))
        .otherwise(problem)
        .alias(PROBLEM),
    )


def _lines(path: File) -> pl.LazyFrame:
    """Number, text and list of fields of every line; of one that is too long the beginning, and no list."""
    # With globbing on, Polars would take a file named `x[1].run` for a pattern.
    lines = pl.scan_lines(path, name=TEXT, row_index_name=NUMBER, row_index_offset=1, glob=False)
    size = pl.col(TEXT).str.len_bytes()
    usual, long, too_long = (
        pl.when(size.is_between(low, high, closed="right")).then(pl.col(TEXT))
        for low, high in ((-1, _LONG), (_LONG, LONGEST), (LONGEST, _ANY))
    )
    # Megabytes of blanks are not to become millions of empty fields; to look for them in every line costs a fifth.
    text = pl.coalesce(usual, long.str.replace_all(f"[{BLANKS}]+", " ")).str.strip_prefix("\ufeff")
    pieces = text.str.replace_all("\t", " ", literal=True).str.replace_all("[\v\f]", " ").str.split(" ")
    return lines.with_columns(
        pl.coalesce(usual, long, too_long.str.head(SHOWN)),
        pieces.list.eval(pl.element().filter(pl.element() != "")).alias(_FIELDS),
    )


def field(place: int) -> pl.Expr:
    """The n-th field of a line; null where the line is shorter."""
    return pl.col(_FIELDS).list.get(place, null_on_oob=True)


def shown(place: int) -> pl.Expr:
    """A field for a message, which no field of megabytes may fill."""
    return field(place).str.head(80)
