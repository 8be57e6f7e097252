"""`polars-ir`, the same functions from the command line."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import polars as pl

from polars_ir import datasets
from polars_ir.comparison import verdicts
from polars_ir.comparison.gate import gate
from polars_ir.errors import FileError, IRError, IRWarning, OptionError
from polars_ir.evaluation import evaluate
from polars_ir.files import read_qrels, read_run, tables
from polars_ir.files.sources import resolve, stem
from polars_ir.files.unreadable import FAILURES, unreadable
from polars_ir.schema import find
from polars_ir.summary import mean

DEMO_MEASURES = ["nDCG@10", "AP", "RR@10", "R@100", "Judged@10"]

#: How a result is written to a file, by the file's ending.
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".parquet": pl.DataFrame.write_parquet,
    ".arrow": pl.DataFrame.write_ipc,
    ".csv": pl.DataFrame.write_csv,
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".ndjson": pl.DataFrame.write_ndjson,
}

#: How such a file is read again: tables that know their types, and texts with a separator.
TABLES = {".parquet": "parquet", ".arrow": "ipc", ".ndjson": "ndjson"}
SEPARATORS = {".csv": ",", ".tsv": "\t"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    That is 0 for a result, 1 for a change that does not pass the gate, 2 for wrong use or input.
    """
    options = _parser().parse_args(arguments)
    status = 0
    try:
        with warnings.catch_warnings(record=True, category=IRWarning) as noticed:
            warnings.simplefilter("always", IRWarning)
            frame = COMMANDS[options.command](options)
        for notice in noticed:
            print(f"polars-ir: warning: {notice.message}", file=sys.stderr)
        if options.command == "gate":
            status = 0 if verdicts.ships(frame) else 1
            print(options.render(frame))
        else:
            _write(frame, options)
    except BrokenPipeError:
        # The reader has seen enough; what is left in the buffer must not be written at exit.
        sys.stdout = None
    except (IRError, OSError) as error:
        print(f"polars-ir: {error}", file=sys.stderr)
        return 2
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="polars-ir", description="Evaluate the results of information retrieval.")
    parser.add_argument("--version", action="version", version=f"polars-ir {version('polars_ir')}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="evaluate the three runs of the bundled test collection")
    evaluation = commands.add_parser("evaluate", help="evaluate runs against judgments")
    evaluation.add_argument("qrels", help="judgments: TREC, BEIR, Parquet, CSV, IPC or NDJSON")
    evaluation.add_argument("runs", nargs="+", metavar="run", help="runs, in the same formats")
    gating = commands.add_parser("gate", help="whether a change may ship: no measure drops more than it may")
    gating.add_argument("new", help="a file of evaluate --per-query for one system; with --qrels, its run")
    gating.add_argument("old", help="the same for the system as it was")
    gating.add_argument("--max-drop", type=float, default=0.01, help="how much a mean may drop (%(default)s)")
    gating.add_argument(
        "--alpha", type=float, default=0.05, help="how often a change that costs so much may pass (%(default)s)"
    )
    gating.add_argument("--qrels", help="judgments to evaluate both runs against")
    formats = gating.add_mutually_exclusive_group()
    gating.set_defaults(render=verdicts.as_text)
    for name, render in (("--json", verdicts.as_json), ("--markdown", verdicts.as_markdown)):
        formats.add_argument(name, dest="render", action="store_const", const=render, help=render.__doc__)
    for command in (evaluation, gating):
        command.add_argument(
            "-m", "--measure", action="append", required=True, help="a measure, such as nDCG@10; repeat"
        )
        command.add_argument("--missing", choices=["zero", "skip"], default="zero", help="queries a run lacks")
    for command in (demo, evaluation):
        command.add_argument("-q", "--per-query", action="store_true", help="a row per query instead of the means")
        command.add_argument("-o", "--output", type=Path, help=f"write to a file ({', '.join(WRITERS)})")
    return parser


def _demo(_: argparse.Namespace) -> pl.DataFrame:
    pydocs = datasets.load("pydocs")
    return evaluate(pydocs.runs, pydocs.qrels, DEMO_MEASURES)


def _evaluate(options: argparse.Namespace) -> pl.DataFrame:
    names = [stem(Path(run)) for run in options.runs]
    # Files of one name in several folders are told apart by their paths.
    names = names if len(set(names)) == len(names) else options.runs
    if len(set(names)) < len(names):
        raise OptionError(f"each run can be given once; got {', '.join(options.runs)}.")
    runs = [_read_named(run, name) for run, name in zip(options.runs, names, strict=True)]
    per_query: pl.DataFrame = evaluate(
        pl.concat(runs, how="diagonal_relaxed"), read_qrels(options.qrels), options.measure, missing=options.missing
    )
    return per_query


def _read_named(run: str, name: str) -> pl.DataFrame:
    """A run with the name of its system; a pattern that stands for several files brings their names along."""
    frame = read_run(run)
    if find("run", "run", frame.columns):
        return frame
    return frame.select(pl.lit(name).alias("run"), pl.all())


def _gate(options: argparse.Namespace) -> pl.DataFrame:
    if options.qrels is None:
        new, old = _read_per_query(options.new), _read_per_query(options.old)
    else:
        qrels = read_qrels(options.qrels)
        new, old = (
            evaluate(read_run(run), qrels, options.measure, missing=options.missing)
            for run in (options.new, options.old)
        )
    found: pl.DataFrame = gate(
        new, old, options.measure, max_drop=options.max_drop, alpha=options.alpha, missing=options.missing
    )
    return found


def _read_per_query(name: str) -> pl.DataFrame:
    """What `evaluate --per-query` wrote to a file."""
    path, *others = resolve(name)
    if others:
        raise FileError(f"{name}: figures of one system are in one file; this stands for {len(others) + 1}.")
    if path.suffix in TABLES:
        return tables.read([path], TABLES[path.suffix])
    if path.suffix not in SEPARATORS:
        raise FileError(
            f"{name}: unknown ending; figures per query are read from {', '.join(WRITERS)}. Runs go with --qrels."
        )
    separator = SEPARATORS[path.suffix]
    try:
        columns = pl.read_csv(path, separator=separator, n_rows=0).columns
        # Ids stay as they are written: 007 is not 7.
        ids = [found for role in ("query_id", "run") if (found := find(name, role, columns))]
        types = dict.fromkeys(ids, pl.String)
        return pl.read_csv(path, separator=separator, schema_overrides=types, infer_schema_length=None)
    except FAILURES as error:
        raise unreadable(path, error, separator) from None


COMMANDS = {"demo": _demo, "evaluate": _evaluate, "gate": _gate}


def _write(per_query: pl.DataFrame, options: argparse.Namespace) -> None:
    frame = per_query if options.per_query else mean(per_query)
    if options.output is not None:
        writer = WRITERS.get(options.output.suffix)
        if writer is None:
            raise FileError(f"{options.output}: unknown ending; the result can be written as {', '.join(WRITERS)}.")
        writer(frame, options.output)
    elif options.command == "demo" or sys.stdout.isatty():
        print(_as_text(frame))
    else:
        print(frame.write_csv(separator="\t"), end="")


def _as_text(frame: pl.DataFrame) -> str:
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=1000,
        fmt_str_lengths=1000,
        float_precision=4,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_formatting="UTF8_FULL_CONDENSED" if (sys.stdout.encoding or "").lower().startswith("utf") else "ASCII_FULL",
    ):
        return str(frame)
