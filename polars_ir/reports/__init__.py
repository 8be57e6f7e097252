"""Reports: an experiment as a page that one opens, and as Markdown."""

from polars_ir.lazy import lazy

lazy(__name__)
