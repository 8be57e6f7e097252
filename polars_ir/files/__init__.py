"""Readers and writers for the files that runs and judgments come in."""

from polars_ir.lazy import lazy

lazy(__name__)
