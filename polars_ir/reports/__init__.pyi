from polars_ir.reports.report import report as report
from polars_ir.reports.side_by_side import side_by_side as side_by_side
