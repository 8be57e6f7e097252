"""The commands, in the order of `--help`; each has a file that runs it."""

from polars_ir.cli import arguments as of
from polars_ir.cli.parser import Command

COMMANDS = (
    Command("evaluate", "evaluate runs against judgments", of.evaluate),
    Command("compare", "tell whether systems differ by more than chance", of.compare, "stats"),
    Command("gate", "tell whether a change may ship: no measure drops more than it may", of.gate, "stats"),
    Command("report", "write an experiment as a page: the answer, what to doubt, each query", of.report, "stats"),
    Command("table", "print a table for a publication: LaTeX, Markdown or HTML", of.table),
    Command("plot", "draw a chart", of.plot, "plot"),
    Command("fuse", "fuse runs to one, or report what tuning would gain", of.fuse),
    Command("validate", "report problems of runs and their judgments", of.validate),
    Command("convert", "read a run or judgments in one format and write them in another", of.convert),
    Command("relabel", "move judgments of old chunks to those of a new chunker", of.relabel),
    Command("measures", "list all measures", of.measures),
    Command("demo", "evaluate the three runs of the bundled test collection", of.demo),
)
