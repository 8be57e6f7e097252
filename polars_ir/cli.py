"""`polars-ir`, the same functions from the command line."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import polars as pl

from polars_ir import datasets, trec_eval
from polars_ir.comparison import verdicts
from polars_ir.comparison.gate import gate
from polars_ir.comparison.systems import INTERVAL_OF, compare
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

    That is 0 for a result, 1 for a change that does not pass the gate, 2 for wrong use or input; `trec_eval` has those
    of the program it stands in for.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    status = 0
    try:
        # Its options are for it to read: argparse would take those that it knows for its own.
        if given[:1] == ["trec_eval"]:
            status = trec_eval.main(given[1:])
        else:
            options = _parser().parse_args(given)
            frame = _computed(options)
            status = 1 if options.command == "gate" and not verdicts.ships(frame) else 0
            _show(frame, options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; what is left in the buffer must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (IRError, OSError) as error:
        print(f"polars-ir: {error}", file=sys.stderr)
        return 2
    return status


def _computed(options: argparse.Namespace) -> pl.DataFrame:
    """The result of a command, with the warnings told before it is shown."""
    with warnings.catch_warnings(record=True, category=IRWarning) as noticed:
        warnings.simplefilter("always", IRWarning)
        frame = COMMANDS[options.command](options)
    for notice in noticed:
        print(f"polars-ir: warning: {notice.message}", file=sys.stderr)
    return frame


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="polars-ir", description="Evaluate the results of information retrieval.")
    parser.add_argument("--version", action="version", version=f"polars-ir {version('polars_ir')}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="evaluate the three runs of the bundled test collection")
    evaluation = commands.add_parser("evaluate", help="evaluate runs against judgments")
    evaluation.add_argument("qrels", help="judgments: TREC, BEIR, Parquet, CSV, IPC or NDJSON")
    evaluation.add_argument("runs", nargs="+", metavar="run", help="runs, in the same formats")
    comparison = commands.add_parser("compare", help="whether systems differ by more than chance")
    comparison.add_argument(
        "files", nargs="+", metavar="file", help="files of evaluate --per-query, a system each or several; or runs"
    )
    comparison.add_argument("--baseline", help="the system that the others are compared with; without it, all pairs")
    comparison.add_argument("--test", choices=INTERVAL_OF, default="t", help="the test (%(default)s)")
    comparison.add_argument(
        "--correction", default="holm", help="for the number of comparisons, such as bonferroni; or none (%(default)s)"
    )
    comparison.add_argument("--alpha", type=float, default=0.05, help="the level of significance (%(default)s)")
    gating = commands.add_parser("gate", help="whether a change may ship: no measure drops more than it may")
    gating.add_argument("new", help="a file of evaluate --per-query for one system; with --qrels, its run")
    gating.add_argument("old", help="the same for the system as it was")
    gating.add_argument("--max-drop", type=float, default=0.01, help="how much a mean may drop (%(default)s)")
    gating.add_argument(
        "--alpha", type=float, default=0.05, help="how often a change that costs so much may pass (%(default)s)"
    )
    formats = gating.add_mutually_exclusive_group()
    gating.set_defaults(render=verdicts.as_text)
    for name, render in (("--json", verdicts.as_json), ("--markdown", verdicts.as_markdown)):
        formats.add_argument(name, dest="render", action="store_const", const=render, help=render.__doc__)
    for command in (comparison, gating):
        command.add_argument("--qrels", help="judgments to evaluate the runs against")
    for command in (evaluation, comparison, gating):
        command.add_argument(
            "-m",
            "--measure",
            action="append",
            required=command is not comparison,
            help="a measure, such as nDCG@10; repeat",
        )
        command.add_argument("--missing", choices=["zero", "skip"], default="zero", help="queries a run lacks")
    for command in (demo, evaluation):
        command.add_argument("-q", "--per-query", action="store_true", help="a row per query instead of the means")
    for command in (demo, evaluation, comparison):
        command.add_argument("-o", "--output", type=Path, help=f"write to a file ({', '.join(WRITERS)})")
    commands.add_parser("trec_eval", add_help=False, help="trec_eval 10 with its own options; trec_eval -h tells them")
    return parser


def _demo(options: argparse.Namespace) -> pl.DataFrame:
    pydocs = datasets.load("pydocs")
    return _averaged(evaluate(pydocs.runs, pydocs.qrels, DEMO_MEASURES), options)


def _evaluate(options: argparse.Namespace) -> pl.DataFrame:
    return _averaged(_evaluated(options.runs, options.qrels, options), options)


def _averaged(per_query: pl.DataFrame, options: argparse.Namespace) -> pl.DataFrame:
    return per_query if options.per_query else mean(per_query)


def _evaluated(runs: Sequence[str], qrels: str, options: argparse.Namespace) -> pl.DataFrame:
    """The figures of runs, each per query."""
    per_query: pl.DataFrame = evaluate(
        _systems(runs, read_run), read_qrels(qrels), options.measure, missing=options.missing
    )
    return per_query


def _systems(files: Sequence[str], read: Callable[[str], pl.DataFrame]) -> pl.DataFrame:
    """Files of a system each, told apart by their names; one that holds several brings their names along."""
    names = [stem(Path(file)) for file in files]
    # Files of one name in several folders are told apart by their paths.
    names = names if len(set(names)) == len(names) else list(files)
    if len(set(names)) < len(names):
        raise OptionError(f"each file can be given once; got {', '.join(files)}.")
    frames = [_named(read(file), name) for file, name in zip(files, names, strict=True)]
    return pl.concat(frames, how="diagonal_relaxed")


def _named(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """A frame with the name of its system."""
    if find("run", "run", frame.columns):
        return frame
    return frame.select(pl.lit(name).alias("run"), pl.all())


def _compare(options: argparse.Namespace) -> pl.DataFrame:
    if options.qrels is None:
        per_query = _systems(options.files, _read_per_query)
    elif options.measure is None:
        raise OptionError("compare needs a measure to evaluate runs by (-m); without --qrels, files bring theirs.")
    else:
        per_query = _evaluated(options.files, options.qrels, options)
    found: pl.DataFrame = compare(
        per_query,
        baseline=options.baseline,
        measures=options.measure,
        test=options.test,
        correction=None if options.correction == "none" else options.correction,
        alpha=options.alpha,
        missing=options.missing,
    )
    return found


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
        raise FileError(f"{name}: figures are in one file; this stands for {len(others) + 1}.")
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


COMMANDS = {"demo": _demo, "evaluate": _evaluate, "compare": _compare, "gate": _gate}


def _show(frame: pl.DataFrame, options: argparse.Namespace) -> None:
    """Print a result, or write it to a file."""
    if options.command == "gate":
        print(options.render(frame))
        return
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
