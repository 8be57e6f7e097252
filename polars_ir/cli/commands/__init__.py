"""The commands of the shell, one file each: their names, in the order in which `--help` lists them."""

from polars_ir.cli.commands.compare import COMPARE
from polars_ir.cli.commands.convert import CONVERT
from polars_ir.cli.commands.demo import DEMO
from polars_ir.cli.commands.evaluate import EVALUATE
from polars_ir.cli.commands.fuse import FUSE
from polars_ir.cli.commands.gate import GATE
from polars_ir.cli.commands.measures import MEASURES
from polars_ir.cli.commands.plot import PLOT
from polars_ir.cli.commands.report import REPORT
from polars_ir.cli.commands.table import TABLE
from polars_ir.cli.commands.validate import VALIDATE

COMMANDS = (EVALUATE, COMPARE, GATE, REPORT, TABLE, PLOT, FUSE, VALIDATE, CONVERT, MEASURES, DEMO)
