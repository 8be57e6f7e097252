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
from polars_ir.continuations import cumulated, gained, place
from polars_ir.conversion import from_lists
from polars_ir.errors import IRError, IRWarning
from polars_ir.evaluation import evaluate
from polars_ir.files import read_qrels, read_run, scan_qrels, scan_run, write_qrels, write_run
from polars_ir.judging import judge
from polars_ir.measures import *  # noqa: F403  # a new measure is exported in one place, its folder
from polars_ir.measures import __all__ as _measures
from polars_ir.measures.relevance_string import relevance_string
from polars_ir.naming import parse
from polars_ir.registry import CATALOG, catalog, measure
from polars_ir.summary import mean, summarize
from polars_ir.trec_eval.results import read_trec_eval
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
    "confidence",
    "cumulated",
    "datasets",
    "evaluate",
    "from_lists",
    "gain",
    "gained",
    "hits",
    "ideal_rank",
    "if_relevant",
    "judge",
    "mean",
    "measure",
    "n_relevant",
    "n_retrieved",
    "or_zero",
    "p_mrr",
    "parse",
    "place",
    "rank",
    "ratio",
    "read_qrels",
    "read_run",
    "read_trec_eval",
    "relevance",
    "relevance_string",
    "relevant",
    "robustness",
    "scan_qrels",
    "scan_run",
    "summarize",
    "top",
    "validate",
    "write_qrels",
    "write_run",
]

namespace.register()
pandas.register()
