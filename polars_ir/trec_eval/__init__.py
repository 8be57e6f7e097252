"""`polars-ir trec_eval`: the options of trec_eval 10, and its output to the byte.

Conventions: measures come in trec_eval's order, in whatever order they were asked for, and topics by their ids. Where
trec_eval 10 is wrong the output is right; `--strict` gives its own figure of `rbp_resid`, which leaves out the weight
beyond a list that is wholly judged, and its end with status 4 at a judged topic that the run lacks (unless `-c`).
Its `-Z` (scores as z-scores) and `-D` (debugging) are not here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from polars_ir.errors import FileError, IRError
from polars_ir.trec_eval.options import NOT_COMPUTED, WRONG_FILE, TrecEvalError, options_of
from polars_ir.trec_eval.output import lines


def main(arguments: Sequence[str]) -> int:
    """Run trec_eval; returns its exit status."""
    try:
        for line in lines(options_of(arguments)):
            sys.stdout.write(line)
    except TrecEvalError as end:
        print(f"trec_eval: {end}" if end.status else end, file=sys.stderr if end.status else sys.stdout)
        return end.status
    except BrokenPipeError:
        raise  # the reader has seen enough, which is no fault of a file
    except (FileError, OSError) as error:
        print(f"trec_eval: {error}", file=sys.stderr)
        return WRONG_FILE
    except IRError as error:
        print(f"trec_eval: {error}", file=sys.stderr)
        return NOT_COMPUTED
    return 0
