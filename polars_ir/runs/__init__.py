"""Functions of a run, most of them with its judgments. Each is a method of `.ir` on a run."""

from polars_ir.lazy import lazy

lazy(__name__)
