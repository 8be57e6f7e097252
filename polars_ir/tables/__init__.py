"""Publication tables."""

from polars_ir.lazy import lazy

lazy(__name__, files="side_by_side, table")
