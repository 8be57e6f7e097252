"""The contestants: what each makes of frames, and how it evaluates that.

All order documents by score falling, then by id falling, but ranx, and give the mean of every measure over the judged
queries of all systems. What has no such measure leaves it out.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import polars as pl
from by_hand import BareJoin, DuckDB, PlainPolars
from generate import Collection
from measure import Figures

import polars_ir as ir

FIVE = ["nDCG@10", "AP", "RR@10", "R@100", "P@10"]

#: For short lists.
TOP = ["nDCG@10", "R@10", "P@10", "RR@10", "Success@10"]


class Tool(Protocol):
    """A contestant: its own tables, which `evaluate` takes."""

    needs: str  # the module it is

    def frames(self, data: Collection) -> Any:
        """From Polars frames."""

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        """The mean of each measure."""


class Ours:
    """`evaluate`, all systems in one pass."""

    needs = "polars_ir"

    def frames(self, data: Collection) -> Any:
        return data.run, data.qrels

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        run, qrels = tables
        means: Figures = ir.evaluate(run, qrels, measures).select(pl.col(*measures).mean()).row(0, named=True)
        return means


class Dicts:
    """Tools that take nested dicts, which are made of frames in the fastest way we know."""

    def frames(self, data: Collection) -> Any:
        return [nested(run, "score") for run in data.runs.values()], nested(data.qrels, "relevance")


class PytrecEval(Dicts):
    """trec_eval's C, one evaluator for all systems; it has no cutoff for the reciprocal rank, and computes it once."""

    needs = "pytrec_eval"
    names: ClassVar = {"nDCG": "ndcg_cut", "AP": "map_cut", "R": "recall", "P": "P", "Success": "success"}

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        return self.prepared(tables, measures)()

    def prepared(self, tables: Any, measures: Sequence[str]) -> Callable[[], Figures]:
        """What is left to do with an evaluator and the dicts of runs, as a loop that tunes has it."""
        import pytrec_eval

        runs, qrels = tables
        asked = {self.name(measure): measure for measure in measures}
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(asked))
        names = {name.replace(".", "_"): measure for name, measure in asked.items()}

        def evaluate() -> Figures:
            sums = dict.fromkeys(names, 0.0)
            for run in runs:
                values = evaluator.evaluate(run).values()
                for name in names:
                    sums[name] += sum(value[name] for value in values)
            means = {measure: sums[name] / len(qrels) / len(runs) for name, measure in names.items()}
            return {measure: mean for measure, mean in means.items() if not measure.startswith("RR")}

        return evaluate

    def name(self, measure: str) -> str:
        """Its name of a measure."""
        family, _, k = measure.partition("@")
        if family == "RR":
            return "recip_rank"
        return f"{self.names[family]}.{k}" if k else {"AP": "map"}[family]


class IRMeasures(Dicts):
    """From nested dicts: of pandas frames it makes dicts itself, and takes more than twice as long."""

    needs = "ir_measures"

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        import ir_measures as tool

        runs, qrels = tables
        parsed = {tool.parse_measure(name): name for name in measures}
        evaluator = tool.evaluator(list(parsed), qrels)
        means = [evaluator.calc_aggregate(run) for run in runs]
        return {name: sum(mean[measure] for mean in means) / len(means) for measure, name in parsed.items()}


class Ranx(Dicts):
    """From nested dicts: ranx 0.3 refuses the string dtype of pandas 3, and its `from_df` makes dicts too."""

    needs = "ranx"
    names: ClassVar = {
        "nDCG": "ndcg", "AP": "map", "RR": "mrr", "R": "recall", "P": "precision", "Success": "hit_rate",
    }  # fmt: skip

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        import ranx

        runs, qrels = tables
        names = {name: self.names[name.partition("@")[0]] + "".join(name.partition("@")[1:]) for name in measures}
        judgments = ranx.Qrels(qrels)
        means = [ranx.evaluate(judgments, ranx.Run(run), list(names.values())) for run in runs]
        return {measure: sum(float(each[name]) for each in means) / len(means) for measure, name in names.items()}


class RagQuality(Dicts):
    """toolkit-rag-quality, plain Python, from dicts of ranked ids; all at one cutoff."""

    needs = "toolkit_rag_quality.retrieval"
    names: ClassVar = {"nDCG": "ndcg", "RR": "mrr", "R": "recall", "P": "precision", "Success": "hit_rate"}

    def frames(self, data: Collection) -> Any:
        ranked = data.run.sort("query_id", "score", descending=[False, True]).group_by("query_id").agg("doc_id")
        return dict(ranked.iter_rows()), nested(data.qrels, "relevance")

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        from toolkit_rag_quality import retrieval

        run, qrels = tables
        (k,) = {int(name.partition("@")[2]) for name in measures}
        means = retrieval.score_run(qrels=qrels, run=run, k=k).summary
        return {name: means[f"{self.names[name.partition('@')[0]]}_at_k"] for name in measures}


class RecTools:
    """From pandas frames with the rank of each row."""

    needs = "rectools.metrics"
    names: ClassVar = {"nDCG": "NDCG", "RR": "MRR", "R": "Recall", "P": "Precision", "Success": "HitRate"}

    def frames(self, data: Collection) -> Any:
        rank = pl.col("score").rank("ordinal", descending=True).over("query_id").alias("rank")
        names = {"query_id": "user_id", "doc_id": "item_id", "relevance": "weight"}
        run = data.run.with_columns(rank).rename(names, strict=False).to_pandas()
        qrels = data.qrels.rename(names).with_columns(datetime=pl.lit("2026-01-01").str.to_datetime()).to_pandas()
        return run, qrels

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        from rectools import metrics

        asked = {}
        for name in measures:
            family, _, k = name.partition("@")
            options = {"divide_by_achievable": True} if family == "nDCG" else {}
            asked[name] = getattr(metrics, self.names[family])(k=int(k), **options)
        means: Figures = metrics.calc_metrics(asked, *tables)
        return means


TOOLS: dict[str, Tool] = {
    "polars_ir": Ours(),
    "bare join": BareJoin(),
    "plain Polars": PlainPolars(),
    "DuckDB": DuckDB(),
    "pytrec_eval": PytrecEval(),
    "ranx": Ranx(),
    "ir_measures": IRMeasures(),
    "toolkit-rag-quality": RagQuality(),
    "RecTools": RecTools(),
}


def installed(name: str) -> bool:
    """True if the module of a tool is there; it is imported, which is no part of its time."""
    there = importlib.util.find_spec(TOOLS[name].needs.partition(".")[0]) is not None
    if there:
        importlib.import_module(TOOLS[name].needs)
    return there


def nested(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """`{query: {document: value}}`, in the fastest way we know."""
    rows = frame.group_by("query_id").agg("doc_id", value).iter_rows()
    return {query: dict(zip(documents, values, strict=True)) for query, documents, values in rows}
