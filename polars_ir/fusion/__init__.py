"""Rank fusion: several runs to one.

`ir.fuse` does it. Here are its parts: `Method`, the methods and norms with their parameters
(`ir.fusion.rrf(k=10)`, `ir.fusion.min_max(minimum=0)`), `train` for the methods that learn from judged queries,
`fuse_out_of_fold` to measure these, and `DIALECTS`, what products mean by their names.
"""

from polars_ir.lazy import lazy

lazy(__name__)
