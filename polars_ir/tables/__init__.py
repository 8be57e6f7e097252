"""Publication tables."""

from polars_ir.lazy import lazy

lazy(
    __name__,
    {
        "polars_ir.tables.side_by_side": "side_by_side",
        "polars_ir.tables.table": "table",
    },
)
