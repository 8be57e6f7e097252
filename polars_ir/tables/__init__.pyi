from polars_ir.tables.table import table as table
