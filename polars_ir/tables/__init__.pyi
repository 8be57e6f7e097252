from polars_ir.tables.side_by_side import side_by_side as side_by_side
from polars_ir.tables.table import table as table
