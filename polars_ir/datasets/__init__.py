"""Test collections: the one that ships with the package, those of `ir_datasets`, and what two of them share."""

from polars_ir.datasets.collections import NAMES, Dataset, from_ir_datasets, load

__all__ = ["NAMES", "Dataset", "from_ir_datasets", "load"]
