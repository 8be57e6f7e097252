"""Information-retrieval evaluation as Polars expressions.

Importing this package puts `.ir` on Polars DataFrames and LazyFrames, and on pandas DataFrames:

>>> import polars as pl, polars_ir as ir
>>> run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["d1", "d2"], "score": [0.9, 0.5]})
>>> qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d2"], "relevance": [1]})
>>> run.ir.evaluate(qrels, ["RR", "P@2"]).row(0)
('q', 0.5, 0.5)
"""

from importlib.metadata import version

from polars_ir import datasets, namespace, pandas
from polars_ir.abstaining import abstention, confidence
from polars_ir.analysis.difference import diff
from polars_ir.analysis.difficulty import hardest, unanswered
from polars_ir.analysis.explanation import explain
from polars_ir.analysis.judging_next import judge_next
from polars_ir.analysis.overlap import overlap
from polars_ir.comparison.correlation import rank_correlation
from polars_ir.comparison.drifting import drift
from polars_ir.comparison.gate import gate
from polars_ir.comparison.power import power
from polars_ir.comparison.risk import geo_risk, risk
from polars_ir.comparison.slices import worst_slices
from polars_ir.comparison.systems import compare
from polars_ir.continuations import cumulated, gained, place
from polars_ir.conversion import from_lists
from polars_ir.errors import IRError, IRWarning
from polars_ir.evaluation import evaluate
from polars_ir.files import (
    read_beir,
    read_qrels,
    read_run,
    scan_qrels,
    scan_run,
    sink_qrels,
    sink_run,
    write_qrels,
    write_run,
)
from polars_ir.judging import judge
from polars_ir.measures import *  # noqa: F403  # a new measure is exported in one place, its folder
from polars_ir.measures import __all__ as _measures
from polars_ir.measures.relevance_string import relevance_string
from polars_ir.naming import parse
from polars_ir.registry import CATALOG, catalog, measure
from polars_ir.summary import mean, summarize
from polars_ir.tables.table import table
from polars_ir.trec_eval.results import read_trec_eval, write_trec_eval
from polars_ir.validation import validate
from polars_ir.variants import p_mrr, robustness
from polars_ir.vocabulary import (
    gain,
    hits,
    ideal_rank,
    if_relevant,
    n_relevant,
    n_retrieved,
    or_zero,
    rank,
    ratio,
    relevance,
    relevant,
    top,
)

__version__ = version("polars_ir")

__all__ = [
    *_measures,
    "CATALOG",
    "IRError",
    "IRWarning",
    "abstention",
    "catalog",
    "compare",
    "confidence",
    "cumulated",
    "datasets",
    "diff",
    "drift",
    "evaluate",
    "explain",
    "from_lists",
    "gain",
    "gained",
    "gate",
    "geo_risk",
    "hardest",
    "hits",
    "ideal_rank",
    "if_relevant",
    "judge",
    "judge_next",
    "mean",
    "measure",
    "n_relevant",
    "n_retrieved",
    "or_zero",
    "overlap",
    "p_mrr",
    "parse",
    "place",
    "power",
    "rank",
    "rank_correlation",
    "ratio",
    "read_beir",
    "read_qrels",
    "read_run",
    "read_trec_eval",
    "relevance",
    "relevance_string",
    "relevant",
    "risk",
    "robustness",
    "scan_qrels",
    "scan_run",
    "sink_qrels",
    "sink_run",
    "summarize",
    "table",
    "top",
    "unanswered",
    "validate",
    "worst_slices",
    "write_qrels",
    "write_run",
    "write_trec_eval",
]

namespace.register()
pandas.register()
