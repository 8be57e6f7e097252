"""Output of results: a table in a terminal, tab-separated values in a pipe, or another format by option.

Conventions: a terminal gets no control characters, whatever ids and names hold; pipes and files get their bytes.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj, get_terminal_size
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import polars.selectors as cs

from polars_ir.errors import printable
from polars_ir.files.finding.file import File, located, pure
from polars_ir.files.writers import check_path, write_lines, write_table
from polars_ir.files.writing.metadata import write_metadata
from polars_ir.files.writing.replacing import check_writable
from polars_ir.frames.roles import PROVENANCE, QUERY_HASH
from polars_ir.per_query.means import flat
from polars_ir.per_query.shared.verdicts import p_text

#: Standard output as a file name.
STDOUT = "-"

#: Arguments that name an output file.
TARGETS = ("output", "target", "report")

#: Characters that make a spreadsheet treat a cell as a formula.
FORMULA = r"^[=+\-@\t\r]"

#: Line breaks, which a Markdown cell cannot hold.
LINE_ENDS = r"\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"

#: A width for a column of numbers, and one for any table.
NUMBER, WHOLE = 12, 1000

#: Minimum number of columns shown in a narrow terminal.
FEWEST = 2

#: Escape sequence that clears the terminal's line.
ANEW = "\r\x1b[K"


def show(frame: pl.DataFrame, options: argparse.Namespace) -> None:
    """Print a result, or write it to a file, with its provenance in a second file on request."""
    made: list[str] = []
    if vars(options).get("metadata"):
        made, frame = frame[PROVENANCE].unique().to_list(), frame.drop(PROVENANCE, QUERY_HASH)
    if options.render == "flat" or (options.output is not None and pure(options.output).suffix == ".json"):
        _show_json(frame, options)
    elif options.output is not None:
        write_table(_without_formulas(_flat(frame)) if options.no_formulas else _flat(frame), options.output)
    elif options.command == "gate" and (verdict := _verdict(options.render)):
        say(verdict(frame, vars(options)))
        _show_worst_slices(options)
    elif frame.width:
        in_terminal = _fitting if sys.stdout.isatty() else _as_tsv
        render = RENDERERS.get(options.render, _as_table if options.command == "demo" else in_terminal)
        say(render(frame if render in (_as_tsv, _as_json) else _with_p(frame, options)), end="")
    # Of a pipe there are no bytes to be about.
    if len(made) == 1 and options.output.is_file():
        write_metadata(options.output, made[0])


def _show_worst_slices(options: argparse.Namespace) -> None:
    """Print the worst slices of a change, where it is sliced, below the verdict; JSON is one value, without them."""
    if (worst := vars(options).get("worst")) is None or options.render == "json":
        return
    says = "The slices that lose most: the mean difference in each (mean), in all others (rest_mean), and of the two"
    drawn = (_as_markdown if options.render == "markdown" else _as_table)(_with_p(worst, options))
    say(f"\n{says}:\n\n{drawn}" if worst.height else "\nNo slice loses more than the others.", end="")


def _show_json(frame: pl.DataFrame, options: argparse.Namespace) -> None:
    """Print a result as JSON, or write it to a file."""
    if options.render == "flat":
        text = json.dumps(flat(frame, options.by), indent=2, allow_nan=False, ensure_ascii=False)
    else:
        verdict = _verdict("json") if options.command == "gate" else None
        text = verdict(frame, vars(options)) if verdict else _as_json(frame).rstrip("\n")
    if options.output is None:
        say(text)
    else:
        write_lines([text], options.output)


def check_target(path: File) -> None:
    """Raise a `FileError` for an unwritable file before anything is read or computed."""
    check_path(path, stores=True)
    file = located(os.fspath(path))
    if isinstance(file, Path) and "{run}" not in str(file.parent):
        check_writable(file)


def say(text: str, end: str = "\n") -> None:
    """Print a text; control characters are escaped in a terminal."""
    print(printable(text) if sys.stdout.isatty() else text, end=end)


@contextmanager
def told_on_the_way() -> Iterator[None]:
    """Show the current step of a long command on stderr, if it is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    log, handler = logging.getLogger("polars_ir"), logging.StreamHandler(sys.stderr)
    handler.terminator = ""
    handler.setFormatter(logging.Formatter(f"{ANEW}%(message)s ..."))
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(before)
        log.removeHandler(handler)
        sys.stderr.write(ANEW)


@contextmanager
def as_target(name: str) -> Iterator[str]:
    """The name of a file; for `-`, of a temporary one that is copied to standard output."""
    if name != STDOUT:
        yield name
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "stdout")
        yield str(path)
        if sys.stdout.isatty():
            say(path.read_text("utf-8", errors="backslashreplace"), end="")
            return
        with path.open("rb") as file:
            copyfileobj(file, sys.stdout.buffer)


def _without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame in which `'` precedes texts that a spreadsheet would read as formulas."""
    frame = frame.with_columns((cs.categorical() | cs.enum()).cast(pl.String))
    texts = pl.col(pl.String)
    frame = frame.with_columns(pl.when(texts.str.contains(FORMULA)).then("'" + texts).otherwise(texts).name.keep())
    return frame.rename(lambda name: re.sub(FORMULA, r"'\g<0>", name))


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with lists as text."""
    return frame.with_columns(pl.col(pl.List(pl.String)).list.join(", "))


def _as_tsv(frame: pl.DataFrame) -> str:
    return _flat(frame).with_columns(cs.duration().dt.to_string()).write_csv(separator="\t")


def _as_json(frame: pl.DataFrame) -> str:
    """A list of rows; values without a JSON form are null."""
    floats = pl.col(pl.Float64)
    finite = frame.with_columns(pl.when(floats.is_finite()).then(floats), cs.temporal().dt.to_string("iso:strict"))
    return json.dumps(finite.to_dicts(), indent=2, allow_nan=False, ensure_ascii=False, default=str) + "\n"


def _as_table(frame: pl.DataFrame, columns: int = -1) -> str:
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    return _drawn(frame, "UTF8_FULL_CONDENSED" if unicode else "ASCII_FULL", _width(frame), columns)


def _fitting(frame: pl.DataFrame) -> str:
    """The first and last columns that fit the width, and the number of columns left out."""
    room = get_terminal_size().columns

    def width(columns: int) -> int:
        return max(map(len, _as_table(frame, columns).splitlines()))

    if width(frame.width) <= room:
        return _as_table(frame)
    shown = max(FEWEST, bisect_right(range(1, frame.width), room, key=width))
    if shown >= frame.width:
        return _as_table(frame)
    return f"{_as_table(frame, shown)}{frame.width - shown} of {frame.width} columns are left out: --table shows all.\n"


def _width(frame: pl.DataFrame) -> int:
    """The width of a table: in a terminal texts are broken, unless it is so narrow that numbers would be."""
    columns = get_terminal_size().columns if sys.stdout.isatty() else 0
    return columns if columns >= NUMBER * frame.width else WHOLE


def _as_markdown(frame: pl.DataFrame) -> str:
    texts = (cs.string() | cs.categorical() | cs.enum()).cast(pl.String)
    escaped = _flat(frame).with_columns(texts.str.replace_all("|", r"\|", literal=True).str.replace_all(LINE_ENDS, " "))
    escaped = escaped.rename(lambda name: re.sub(LINE_ENDS, " ", name.replace("|", r"\|")))
    return _drawn(escaped, "ASCII_MARKDOWN", WHOLE)


def _with_p(frame: pl.DataFrame, options: argparse.Namespace) -> pl.DataFrame:
    """The frame with each p as papers print it, `<.001` being the lowest, on its side of the command's alpha."""
    alpha = vars(options).get("alpha", 0.05)
    names = [name for name in ("p", "p_corrected", "p_equivalent") if frame.schema.get(name) == pl.Float64]
    texts = [[None if p is None else p_text(p, alpha) for p in frame[name]] for name in names]
    return frame.with_columns(pl.Series(name, text, pl.String) for name, text in zip(names, texts, strict=True))


def _drawn(frame: pl.DataFrame, formatting: str, width: int, columns: int = -1) -> str:
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=columns,
        tbl_width_chars=width,
        fmt_str_lengths=1000,
        fmt_table_cell_list_len=-1,
        float_precision=4,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_formatting=formatting,  # type: ignore[arg-type]  # one of its own names
    ):
        return f"{_flat(frame)}\n"


RENDERERS: dict[str, Callable[[pl.DataFrame], str]] = {
    "table": _as_table,
    "tsv": _as_tsv,
    "json": _as_json,
    "markdown": _as_markdown,
}


def _verdict(render: str | None) -> Callable[[pl.DataFrame, dict[str, Any]], str] | None:
    """The rendering of a gate's verdict, whose module no other command imports; None for that of any table."""
    from polars_ir.per_query.assert_no_worse import as_json, as_markdown, as_text

    return {None: as_text, "json": as_json, "markdown": as_markdown}.get(render)
