"""Runs and qrels from tables of another shape."""

from polars_ir.inputs.from_lists import from_lists

__all__ = ["from_lists"]
