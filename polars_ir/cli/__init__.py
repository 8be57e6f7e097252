"""`polars-ir`, the same functions from the command line."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence

import polars as pl

from polars_ir import trec_eval
from polars_ir.cli import ir_measures
from polars_ir.cli.arguments import parser
from polars_ir.cli.commands import COMMANDS, found_something
from polars_ir.cli.output import show
from polars_ir.errors import IRError, IRWarning

#: Commands that stand in for another program, and read their arguments as it does.
PROGRAMS = {"trec_eval": trec_eval.main, "ir_measures": ir_measures.main}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    That is 0 for a result, 1 for a finding (of `validate`; a change that does not pass the `gate`), 2 for wrong use or
    input; `trec_eval` and `ir_measures` have those of the programs they stand in for.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in given
    try:
        status = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; what is left in the buffer must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (IRError, OSError, pl.exceptions.PolarsError) as error:
        if debug:
            traceback.print_exc()
        print(f"polars-ir: {error}", file=sys.stderr)
        return 2
    return status


def _run(given: list[str]) -> int:
    if given[:1] and given[0] in PROGRAMS:
        return PROGRAMS[given[0]](given[1:])
    options = parser(PROGRAMS).parse_args(given)
    with warnings.catch_warnings(record=True, category=IRWarning) as noticed:
        warnings.simplefilter("always", IRWarning)
        frame = COMMANDS[options.command](options)
    for notice in noticed:
        print(f"polars-ir: warning: {notice.message}", file=sys.stderr)
    show(frame, options)
    return int(found_something(frame, options))
