from polars_ir.chunks.qrels_from_spans import qrels_from_spans as qrels_from_spans
from polars_ir.chunks.relabel import relabel as relabel
