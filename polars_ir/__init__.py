"""Information-retrieval evaluation as Polars expressions.

Importing this package puts `.ir` on Polars DataFrames and LazyFrames, and on pandas DataFrames:

>>> import polars as pl, polars_ir as ir
>>> run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["d1", "d2"], "score": [0.9, 0.5]})
>>> qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d2"], "relevance": [1]})
>>> run.ir.evaluate(qrels, ["RR", "P@2"]).row(0)
('q', 0.5, 0.5)
"""

import builtins

from polars_ir import namespace, pandas, per_query, runs
from polars_ir.language import measures
from polars_ir.lazy import lazy

lazy(
    __name__,
    {
        "": "datasets, fusion",
        "polars_ir.datasets.overlap": "overlap",
        "polars_ir.errors": "IRError, IRWarning",
        "polars_ir.files": (
            "read_beir, read_qrels, read_run, scan_qrels, scan_run, sink_qrels, sink_run, write_qrels, write_run"
        ),
        "polars_ir.fusion": ", ".join(namespace.OF_FUSION),
        "polars_ir.inputs": "from_lists",
        "polars_ir.language.catalog": "CATALOG, catalog",
        "polars_ir.language.measure": "measure",
        "polars_ir.language.names": "name, parse",
        "polars_ir.language.relevance_string": "relevance_string",
        "polars_ir.language.words": (
            "gain, hits, ideal_rank, if_relevant, n_relevant, n_retrieved, or_zero, rank, ratio, relevance, "
            "relevant, top"
        ),
        "polars_ir.language.measures.positions": "cumulated, gained, place",
        "polars_ir.namespace": "of",
        "polars_ir.reports": "report",
        "polars_ir.runs.judgments": "judgments",
        "polars_ir.tables": "side_by_side, table",
        "polars_ir.trec_eval.results": "read_trec_eval, write_trec_eval",
        "polars_ir.language.measures": ", ".join(measures.__all__),
        "polars_ir.per_query": ", ".join(per_query.__all__),
        "polars_ir.runs": ", ".join(runs.__all__),
        "polars_ir.runs.update": "update",
    },
    unlisted={
        "": "plots",
        "polars_ir.language": "measures",
        "polars_ir.language.measures": ", ".join(
            f"{function} as {name}" for name, function in namespace.SHORT.items() if not hasattr(builtins, name)
        ),
        "polars_ir.version": "__version__",
    },
)

namespace.register()
pandas.register()
