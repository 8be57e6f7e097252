"""`polars-ir fuse`: several runs to one, and the gain of tuning."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import polars as pl

from polars_ir.cli import parser
from polars_ir.cli.inputs import alike, limits_of, qrels_of, run_of, systems_of
from polars_ir.cli.output import as_target
from polars_ir.errors import OptionError, printable, with_names
from polars_ir.files import write_run
from polars_ir.files.formats import WRITABLE
from polars_ir.fusion import PRODUCTS, fuse, fuse_out_of_fold, tune_fusion
from polars_ir.fusion.methods import BY_NAME as METHODS
from polars_ir.fusion.methods import TRAINED
from polars_ir.runs.norms import BY_NAME as NORMS


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("files", nargs="+", metavar="run", help=parser.RUNS)
    trained = f"or one that learns from --qrels, each query by the judgments of others: {', '.join(TRAINED)}"
    methods = f"{', '.join(METHODS)}; {trained}"
    command.add_argument("--method", choices=[*METHODS, *TRAINED], metavar="METHOD", default="rrf", help=methods)
    command.add_argument("--norm", choices=NORMS, metavar="NORM", help=f"of the scores: {', '.join(NORMS)}")
    weight = "the weight of each run, in the order of the files; repeat"
    command.add_argument("-w", "--weight", type=float, action="append", dest="weights", metavar="W", help=weight)
    command.add_argument("-k", type=float, help="the constant of RRF (60, for qdrant 2)")
    command.add_argument("--depth", type=int, metavar="N", help="use the first documents of each run")
    command.add_argument("--top", type=int, metavar="N", default=1000, help="write the first documents (%(default)s)")
    command.add_argument("--dialect", choices=PRODUCTS, metavar="PRODUCT", help=f"as in {', '.join(PRODUCTS)}")
    distances = "a run whose scores are distances, the lowest the best; repeat"
    command.add_argument("--lower-is-better", action="append", default=[], metavar="RUN", help=distances)
    command.add_argument("-o", "--output", dest="target", metavar="FILE", help="the run to write; - is standard output")
    command.add_argument("--to", choices=WRITABLE["run"], metavar="FORMAT", help="its format, if the ending tells none")
    tune = "report the out-of-fold value of weights chosen on --qrels by -m; with -o, write the run by the best ones"
    command.add_argument("--tune", action="store_true", help=tune)
    command.add_argument("--qrels", metavar="FILE", help="judgments to tune by, or to learn from")
    command.add_argument("--folds", type=int, default=5, help="in how many folds (%(default)s)")
    command.add_argument("--seed", type=int, default=0, help="the seed of the folds (%(default)s)")
    parser.add_measures(command, required=False)
    parser.add_formats(command)
    parser.add_limits(command)
    rendering = command.add_mutually_exclusive_group()
    for render, meaning in parser.RENDERS.items():
        rendering.add_argument(
            f"--{render}", dest="render", action="store_const", const=render, help=f"print {meaning}"
        )


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The gain of tuning; or nothing to show, since the fused run is written."""
    runs = systems_of(options.files, partial(run_of, format=options.format, **limits_of(options)))
    if options.method in TRAINED:
        _write(_learnt(runs, options), options)
        return pl.DataFrame()
    how: dict[str, Any] = {name: getattr(options, name) for name in ("norm", "depth", "top", "dialect")}
    how["lower_is_better"] = options.lower_is_better or False
    weights, k, summary = _weights(runs, options), options.k, pl.DataFrame()
    if options.tune:
        if options.qrels is None or options.measure is None or len(options.measure) != 1:
            raise OptionError("--tune needs judgments (--qrels FILE) and one measure to choose by (-m).")
        if weights is not None:
            raise OptionError("--tune chooses the weights; leave out --weight.")
        ours, qrels = alike(runs, qrels_of(options.qrels, options.qrels_format, **limits_of(options)))
        grid = {} if k is None else {"k": [k]}
        chances = {"folds": options.folds, "seed": options.seed}
        tuned = tune_fusion(ours, qrels, options.method, options.measure, grid=grid, **how, **chances)
        print(printable(str(tuned)), file=sys.stderr)
        weights, summary = tuned.weights, tuned.summary
    if options.target is not None or not options.tune:
        _write(fuse(runs, options.method, k=k, weights=weights, **how), options)
    return summary


def _learnt(runs: pl.DataFrame, options: argparse.Namespace) -> pl.DataFrame:
    """The runs fused by a trained method, each judged query by what the others teach."""
    if options.qrels is None:
        raise OptionError(f"--method {options.method} learns from judgments; give them (--qrels FILE).")
    for name in ("tune", "weights", "k", "dialect"):
        if getattr(options, name):
            raise OptionError(f"--{name.removesuffix('s')} is not for --method {options.method}; leave it out.")
    ours, qrels = alike(runs, qrels_of(options.qrels, options.qrels_format, **limits_of(options)))
    how = {name: getattr(options, name) for name in ("norm", "depth", "top", "folds", "seed")}
    fused: pl.DataFrame = fuse_out_of_fold(ours, qrels, options.method, **how)
    return fused


def _weights(runs: pl.DataFrame, options: argparse.Namespace) -> dict[str, float] | None:
    """The weights by the names of the runs."""
    if options.weights is None:
        return None
    names = runs["run"].unique(maintain_order=True).to_list()
    if len(names) != len(options.weights):
        raise OptionError(f"--weight must be repeated for each run; got {len(options.weights)} for {len(names)} runs.")
    return dict(zip(names, options.weights, strict=True))


def _write(fused: pl.DataFrame, options: argparse.Namespace) -> None:
    """The fused run, as a file or on standard output."""
    target = options.target or "-"
    with as_target(target) as file, with_names(format="--to", path="the target"):
        write_run(fused.drop("n_runs"), file, format=options.to or ("trec" if target == "-" else None), tag="fused")


FUSE = parser.Command("fuse", "fuse runs to one, or report what tuning would gain", arguments, run)
