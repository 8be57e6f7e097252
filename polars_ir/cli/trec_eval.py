"""`polars-ir trec_eval`: the options of trec_eval 10, its output and its exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polars_ir.cli.messages import in_program
from polars_ir.errors import FileError, IRError
from polars_ir.trec_eval.options import NOT_COMPUTED, WRONG_FILE, TrecEvalError, options_of
from polars_ir.trec_eval.output import lines


def main(arguments: Sequence[str]) -> int:
    """Run trec_eval; returns its exit status."""
    try:
        for line in lines(options_of(arguments)):
            print(line)
    except TrecEvalError as end:
        print(f"trec_eval: {end}" if end.status else end, file=sys.stderr if end.status else sys.stdout)
        return end.status
    except IRError as error:
        print(f"trec_eval: {in_program(str(error))}", file=sys.stderr)
        return WRONG_FILE if isinstance(error, FileError) else NOT_COMPUTED
    return 0
