"""`polars-ir`, the same functions from the command line."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

import polars as pl

from polars_ir.cli.commands import COMMANDS
from polars_ir.cli.parser import PROGRAM, Command, caller_of, judgments_first, parser
from polars_ir.errors import IRError, IRWarning, called_from, printable
from polars_ir.extras import require

#: Commands that emulate another program and its arguments; the file of the name has `main`.
PROGRAMS = ("trec_eval", "ir_measures")

#: The exit status after Ctrl-C.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    That is 0 for a result, 1 for a finding (of `validate`; a change that is worse or dropped, of the `gate`), 2 for
    wrong use or input, 3 where the `gate` is inconclusive, 130 where Ctrl-C ended it; `trec_eval` and `ir_measures`
    have those of the programs they stand in for.
    """
    argv = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in argv
    _open_streams()
    try:
        status = _run([argument for argument in argv if argument != "--debug"])
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()  # the reader has seen enough
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001  # a shell shows no traceback
        if isinstance(error, OSError):
            _drop_output()
        if debug:
            traceback.print_exc()
        print(f"polars-ir: {printable(_message(error))}", file=sys.stderr)
        return 2
    return status


def _run(argv: list[str]) -> int:
    try:
        if argv and argv[0] in PROGRAMS:
            with called_from(PROGRAM), _telling_warnings():
                status: int = import_module(f"polars_ir.cli.{argv[0]}").main(argv[1:])
                return status
        return _command(argv)
    except SystemExit as end:
        # So argparse ends, having printed a help text.
        return int(end.code or 0)


def _command(argv: list[str]) -> int:
    argv = _with_an_option_each(argv)
    whole = parser(COMMANDS, PROGRAMS, argv)
    if not argv:
        whole.print_help(sys.stderr)
        return 2
    options = whole.parse_args(argv, argparse.Namespace(argv=tuple(argv)))
    command: Command = options.record
    judgments_first(options)
    if command.extra:
        require(command.extra, f"polars-ir {command.name}")
    from polars_ir.cli.inputs import check_stdin
    from polars_ir.cli.output import STDOUT, TARGETS, check_target, show

    check_stdin(options)
    for target in map(vars(options).get, TARGETS):
        if target is not None and target != STDOUT:
            check_target(target)
    with called_from(caller_of(options)), _telling_warnings():
        frame = command.file.run(options)
    show(frame, options)
    status: int = command.file.status(frame, options) if hasattr(command.file, "status") else 0
    return status


def _with_an_option_each(argv: list[str]) -> list[str]:
    """The arguments of a command, one option for each of several measures: `-m nDCG@10 AP`."""
    words: list[str] = []
    for word in argv:
        follows = len(words) > 1 and words[-2] in ("-m", "--measure") and not word.startswith("-")
        words += ["-m", word] if follows and _is_measure(word) and not Path(word).exists() else [word]
    return words


def _is_measure(word: str) -> bool:
    from polars_ir.language.columns import column_of  # most calls need none of it

    return column_of(word) is not None


@contextmanager
def _telling_warnings() -> Iterator[None]:
    """Print each warning as a line on stderr, once."""
    with warnings.catch_warnings(record=True, category=IRWarning) as noticed:
        warnings.simplefilter("always", IRWarning)
        yield
    for notice in dict.fromkeys(str(notice.message) for notice in noticed):
        print(f"polars-ir: warning: {notice}", file=sys.stderr)


def _message(error: BaseException) -> str:
    """The message of an error, in a line, and the offending rows."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, (IRError, pl.exceptions.PolarsError, OSError)):
        return str(error)
    reason = str(error).partition("\n")[0].removesuffix(".")
    return f"{type(error).__name__}: {reason}. This is a bug in polars-ir; --debug shows where."


def _drop_output() -> None:
    """Discard buffered output that could not be written at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_streams() -> None:
    """Escape characters that the encoding of a stream lacks, and discard output where a shell closed them (`>&-`)."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # it is open to the end
        elif isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
