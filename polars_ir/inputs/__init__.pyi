from polars_ir.inputs.from_lists import from_lists as from_lists
from polars_ir.inputs.read_log import read_log as read_log
