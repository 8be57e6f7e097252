"""Information-retrieval evaluation as Polars expressions.

Importing this package puts `.ir` on Polars DataFrames and LazyFrames, and on pandas DataFrames:

>>> import polars as pl, polars_ir as ir
>>> run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["d1", "d2"], "score": [0.9, 0.5]})
>>> qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d2"], "relevance": [1]})
>>> run.ir.evaluate(qrels, ["RR", "P@2"]).row(0)
('q', 0.5, 0.5)
"""

from importlib.metadata import version

from polars_ir import datasets, fusion, namespace, pandas
from polars_ir.datasets.overlap import overlap
from polars_ir.errors import IRError, IRWarning
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
from polars_ir.frames.lists import from_lists
from polars_ir.fusion import complementarity, contribution, fuse, tune_fusion
from polars_ir.language.catalog import CATALOG, catalog, measure
from polars_ir.language.names import parse
from polars_ir.language.relevance_string import relevance_string
from polars_ir.language.words import (
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
from polars_ir.measures import *  # noqa: F403  # a new measure, and a new function, is exported in its folder alone
from polars_ir.measures import __all__ as _measures
from polars_ir.measures.continuations import cumulated, gained, place
from polars_ir.namespace import of
from polars_ir.per_query import *  # noqa: F403
from polars_ir.per_query import __all__ as _of_per_query
from polars_ir.runs import *  # noqa: F403
from polars_ir.runs import __all__ as _of_runs
from polars_ir.runs.prepared import judgments
from polars_ir.tables.table import table
from polars_ir.trec_eval.results import read_trec_eval, write_trec_eval

__version__ = version("polars_ir")

__all__ = [
    *_measures,
    *_of_runs,
    *_of_per_query,
    "CATALOG",
    "IRError",
    "IRWarning",
    "catalog",
    "complementarity",
    "contribution",
    "cumulated",
    "datasets",
    "from_lists",
    "fuse",
    "fusion",
    "gain",
    "gained",
    "hits",
    "ideal_rank",
    "if_relevant",
    "judgments",
    "measure",
    "n_relevant",
    "n_retrieved",
    "of",
    "or_zero",
    "overlap",
    "parse",
    "place",
    "rank",
    "ratio",
    "read_beir",
    "read_qrels",
    "read_run",
    "read_trec_eval",
    "relevance",
    "relevance_string",
    "relevant",
    "scan_qrels",
    "scan_run",
    "sink_qrels",
    "sink_run",
    "table",
    "top",
    "tune_fusion",
    "write_qrels",
    "write_run",
    "write_trec_eval",
]

namespace.register()
pandas.register()


def __dir__() -> list[str]:
    """What is public, and no more."""
    return sorted(__all__)
