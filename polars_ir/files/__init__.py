"""Readers for the files that runs and judgments come in."""

from polars_ir.files.readers import read_qrels, read_run, scan_qrels, scan_run, tag_of

__all__ = ["read_qrels", "read_run", "scan_qrels", "scan_run", "tag_of"]
