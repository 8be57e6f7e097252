"""`polars-ir trec_eval`: the options of trec_eval 10, its output and its exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polars_ir.cli.parser import PROGRAM
from polars_ir.errors import FileError, IRError, called_from, printable
from polars_ir.trec_eval.options import NOT_COMPUTED, WRONG_FILE, TrecEvalError, options_of
from polars_ir.trec_eval.output import output


def main(arguments: Sequence[str]) -> int:
    """Run trec_eval; returns its exit status."""
    try:
        with called_from(PROGRAM):
            for text in filter(None, output(options_of(arguments))):
                print(text)
    except TrecEvalError as end:
        message = f"trec_eval: {end}" if end.status else end.message
        print(message if end.shown else printable(message), file=sys.stdout if end.shown else sys.stderr)
        return end.status
    except IRError as error:
        print(f"trec_eval: {error}", file=sys.stderr)
        return WRONG_FILE if isinstance(error, FileError) else NOT_COMPUTED
    return 0
