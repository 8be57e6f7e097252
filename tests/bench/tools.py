"""The contestants: what each makes of frames, of Parquet and of TREC text, and how it evaluates that.

All order documents by score falling, then by id falling, and give the mean of every measure over the judged queries of
all systems.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import polars as pl
from by_hand import NONE, BareJoin, DuckDB, PlainPolars
from generate import Collection
from measure import Figures

import polars_ir as ir

FAMILIES = ("nDCG", "AP", "RR", "R", "P")

#: The measures of a case, by their number.
MEASURES = {
    1: ["nDCG@10"],
    5: ["nDCG@10", "AP", "RR@10", "R@100", "P@10"],
    50: [f"{name}@{k}" for name in FAMILIES for k in (1, 3, 5, 10, 15, 20, 30, 50, 100, 1000)],
}


class Tool(Protocol):
    """A contestant: its own tables from each start, which `evaluate` takes, all of it timed."""

    needs: str  # the module it is
    own_ties: frozenset[str]  # the measures for which it orders equal scores in a way of its own

    def frames(self, data: Collection) -> Any:
        """From Polars frames."""

    def parquet(self, folder: Path) -> Any:
        """From `run.parquet` and `qrels.parquet`."""

    def text(self, folder: Path) -> Any:
        """From `run.txt` and `qrels.txt`, by the tool's own parser."""

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        """The mean of each measure."""


class Ours:
    """`evaluate`, all systems in one pass; `billion.py` is for runs larger than memory."""

    needs, own_ties = "polars_ir", NONE

    def frames(self, data: Collection) -> Any:
        return data.run, data.qrels

    def parquet(self, folder: Path) -> Any:
        return pl.read_parquet(folder / "run.parquet"), pl.read_parquet(folder / "qrels.parquet")

    def text(self, folder: Path) -> Any:
        return ir.read_run(folder / "run.txt"), ir.read_qrels(folder / "qrels.txt")

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        run, qrels = tables
        means: Figures = ir.evaluate(run, qrels, measures).select(pl.col(*measures).mean()).row(0, named=True)
        return means


class Dicts:
    """Tools that take nested dicts, which are made of frames in the fastest way we know."""

    def frames(self, data: Collection) -> Any:
        return [nested(run, "score") for run in data.runs.values()], nested(data.qrels, "relevance")

    def parquet(self, folder: Path) -> Any:
        return self.frames(parquet_frames(folder))


class PytrecEval(Dicts):
    """trec_eval's C, one evaluator for all systems; it has no cutoff for the reciprocal rank, and computes it once."""

    needs, own_ties = "pytrec_eval", NONE
    names: ClassVar = {"nDCG": "ndcg_cut", "AP": "map_cut", "R": "recall", "P": "P"}

    def text(self, folder: Path) -> Any:
        import pytrec_eval

        with (folder / "run.txt").open(encoding="utf-8") as run, (folder / "qrels.txt").open(encoding="utf-8") as qrels:
            return [pytrec_eval.parse_run(run)], pytrec_eval.parse_qrel(qrels)

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        import pytrec_eval

        runs, qrels = tables
        names = {self.name(measure): measure for measure in measures}
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {name.replace("_cut_", "_cut.") for name in names})
        sums = dict.fromkeys(names, 0.0)
        for run in runs:
            values = evaluator.evaluate(run).values()
            for name in names:
                sums[name] += sum(value[name] for value in values)
        return {measure: sums[name] / len(qrels) / len(runs) for name, measure in names.items() if name != "recip_rank"}

    def name(self, measure: str) -> str:
        """Its name of a measure in its results."""
        family, _, k = measure.partition("@")
        if family == "RR":
            return "recip_rank"
        return f"{self.names[family]}_{k}" if k else {"AP": "map"}[family]


class IRMeasures(Dicts):
    """From nested dicts: of pandas frames it makes dicts itself, and takes more than twice as long."""

    needs, own_ties = "ir_measures", frozenset({"RR"})

    def text(self, folder: Path) -> Any:
        import ir_measures as tool

        parsers: tuple[Any, Any] = tool.read_trec_run, tool.read_trec_qrels
        run, qrels = (read(str(folder / name)) for read, name in zip(parsers, ("run.txt", "qrels.txt"), strict=True))
        return [run], qrels

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        import ir_measures as tool

        runs, qrels = tables
        parsed = {tool.parse_measure(name): name for name in measures}
        evaluator = tool.evaluator(list(parsed), qrels)
        means = [evaluator.calc_aggregate(run) for run in runs]
        return {name: sum(mean[measure] for mean in means) / len(means) for measure, name in parsed.items()}


class Ranx(Dicts):
    """From nested dicts: ranx 0.3 refuses the string dtype of pandas 3, and its `from_df` makes dicts too."""

    needs, own_ties = "ranx", frozenset(FAMILIES)
    names: ClassVar = {"nDCG": "ndcg", "AP": "map", "RR": "mrr", "R": "recall", "P": "precision"}

    def text(self, folder: Path) -> Any:
        import ranx

        run, qrels = (str(folder / name) for name in ("run.txt", "qrels.txt"))
        return [ranx.Run.from_file(run, kind="trec")], ranx.Qrels.from_file(qrels, kind="trec")

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        import ranx

        runs, qrels = tables
        names = {name: self.names[name.partition("@")[0]] + "".join(name.partition("@")[1:]) for name in measures}
        judgments = qrels if isinstance(qrels, ranx.Qrels) else ranx.Qrels(qrels)
        sums = dict.fromkeys(measures, 0.0)
        for run in runs:
            ranking = run if isinstance(run, ranx.Run) else ranx.Run(run)
            means = ranx.evaluate(judgments, ranking, list(names.values()))
            for measure, name in names.items():
                sums[measure] += float(means[name] if isinstance(means, dict) else means)
        return {measure: total / len(runs) for measure, total in sums.items()}


TOOLS: dict[str, Tool] = {
    "polars_ir": Ours(),
    "bare join": BareJoin(),
    "plain Polars": PlainPolars(),
    "DuckDB": DuckDB(),
    "pytrec_eval": PytrecEval(),
    "ranx": Ranx(),
    "ir_measures": IRMeasures(),
}


def installed(name: str) -> bool:
    """True if the module of a tool is there."""
    return importlib.util.find_spec(TOOLS[name].needs) is not None


def parquet_frames(folder: Path) -> Collection:
    """A collection from its files."""
    return Collection(*(pl.read_parquet(folder / f"{name}.parquet") for name in ("run", "qrels")))


def nested(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """`{query: {document: value}}`, in the fastest way we know."""
    rows = frame.group_by("query_id").agg("doc_id", value).iter_rows()
    return {query: dict(zip(documents, values, strict=True)) for query, documents, values in rows}
