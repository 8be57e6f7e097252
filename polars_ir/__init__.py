"""Information-retrieval evaluation as Polars expressions.

Importing this package puts `.ir` on Polars DataFrames and LazyFrames, and on pandas DataFrames:

>>> import polars as pl, polars_ir as ir
>>> run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["d1", "d2"], "score": [0.9, 0.5]})
>>> qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d2"], "relevance": [1]})
>>> run.ir.evaluate(qrels, ["RR", "P@2"]).row(0)
('q', 0.5, 0.5)
"""

from polars_ir import namespace, pandas
from polars_ir.lazy import lazy

lazy(__name__, namespace.hint)

namespace.register()
pandas.register()
