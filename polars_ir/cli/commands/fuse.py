"""`polars-ir fuse`: several runs to one, and the gain of tuning."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import polars as pl

from polars_ir.cli.inputs import alike, judgments_of, limits_of, run_of, systems_of
from polars_ir.cli.output import as_target
from polars_ir.errors import OptionError, printable, with_names
from polars_ir.files import write_run
from polars_ir.fusion import fuse, fuse_out_of_fold, tune_fusion
from polars_ir.fusion.methods import TRAINED


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The gain of tuning, or nothing where the fused run is written."""
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
        ours, qrels = alike(runs, judgments_of(options))
        grid = {} if k is None else {"k": [k]}
        chances = {"folds": options.folds, "seed": options.seed}
        tuned = tune_fusion(ours, qrels, options.method, options.measure, grid=grid, **how, **chances)
        print(printable(str(tuned)), file=sys.stderr)
        weights, summary = tuned.weights, tuned.summary
    if options.target is not None or not options.tune:
        _write(fuse(runs, options.method, k=k, weights=weights, **how), options)
    return summary


def _learnt(runs: pl.DataFrame, options: argparse.Namespace) -> pl.DataFrame:
    """The runs fused by a trained method; each judged query by training on the others."""
    if options.qrels is None:
        raise OptionError(f"--method {options.method} learns from judgments; give them (--qrels FILE).")
    for name in ("tune", "weights", "k", "dialect"):
        if getattr(options, name):
            raise OptionError(f"--{name.removesuffix('s')} is not for --method {options.method}; leave it out.")
    ours, qrels = alike(runs, judgments_of(options))
    how = {name: getattr(options, name) for name in ("norm", "depth", "top", "folds", "seed")}
    fused: pl.DataFrame = fuse_out_of_fold(ours, qrels, options.method, **how)
    return fused


def _weights(runs: pl.DataFrame, options: argparse.Namespace) -> dict[str, float] | None:
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
