"""The door of the shell: what parameters and tables are called there, for errors and warnings to name them so."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from polars_ir.cli.parser import flag_of
from polars_ir.errors import Door
from polars_ir.files.incoming import shown_name
from polars_ir.options import options_of
from polars_ir.runs.options import Evaluating

#: What tables are where they come from no file of their own, and where all measures are listed.
ELSEWHERE = {"per_query": "the table of figures", "`ir.catalog()`": "`polars-ir measures`"}

#: Parameters that take several values, and options that are given once for each.
SEVERAL = {"measures": "measure", "ranges": "range"}

#: What a command lacks of the options of `evaluate`, its figures can be made with.
OF_EVALUATE = {name: f"evaluate {flag_of(name)}" for name in (*options_of(Evaluating), "by", "weights")}

#: The door of what stands in for another program, and has no option for the format as `convert` has.
PROGRAM = Door("shell", {**ELSEWHERE, "format": "polars-ir convert --format"})


def door_of(options: argparse.Namespace) -> Door:
    """The door of a command: a parameter is its option there, and a table the file that was given."""
    values, flags = vars(options), dict(options.flags)
    flags.update({several: flags[one] for several, one in SEVERAL.items() if one in flags})
    files = {
        name: shown_name(values[name]) for name in ("qrels", "queries", "new", "old") if _is_file(values.get(name))
    }
    return Door("shell", {**ELSEWHERE, **OF_EVALUATE, **flags, **files, **_figures(values.get("files"), files)})


def _is_file(value: object) -> bool:
    """Whether an argument was given that is a file; `convert --qrels` is none."""
    return isinstance(value, str)


def _figures(files: Sequence[str] | None, others: object) -> dict[str, str]:
    """The file of all figures, where there is a single one that holds them."""
    return {"per_query": shown_name(files[0])} if files and len(files) == 1 and not others else {}
