"""Reports of an experiment: an HTML page, and Markdown."""

from polars_ir.lazy import lazy

lazy(__name__)
