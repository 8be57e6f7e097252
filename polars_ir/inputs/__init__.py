"""Runs and qrels from tables of another shape."""

from polars_ir.lazy import lazy

lazy(__name__)
