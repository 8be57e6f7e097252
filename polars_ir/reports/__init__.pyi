from polars_ir.reports.report import report as report
