"""Readers and writers for the files that runs and judgments come in."""

from polars_ir.files.read_beir import Collection, read_beir
from polars_ir.files.readers import read_qrels, read_run, scan_qrels, scan_run, tag_of
from polars_ir.files.writers import sink_qrels, sink_run, write_qrels, write_run

__all__ = [
    "Collection",
    "read_beir",
    "read_qrels",
    "read_run",
    "scan_qrels",
    "scan_run",
    "sink_qrels",
    "sink_run",
    "tag_of",
    "write_qrels",
    "write_run",
]
