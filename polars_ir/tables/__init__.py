"""Publication tables."""

from polars_ir.lazy import lazy

lazy(__name__)
