from polars_ir.files.read_beir import Collection as Collection, read_beir as read_beir
from polars_ir.files.readers import (
    read_qrels as read_qrels,
    read_run as read_run,
    scan_qrels as scan_qrels,
    scan_run as scan_run,
    tag_of as tag_of,
)
from polars_ir.files.writers import (
    sink_qrels as sink_qrels,
    sink_run as sink_run,
    write_qrels as write_qrels,
    write_run as write_run,
)
