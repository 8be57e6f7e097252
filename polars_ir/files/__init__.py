"""Readers for the files that runs and judgments come in."""

from polars_ir.files.readers import read_qrels, read_run, scan_qrels, scan_run

__all__ = ["read_qrels", "read_run", "scan_qrels", "scan_run"]
