"""Functions of a per-query frame: means, comparisons of systems, slices and periods. Each is a method of `.ir`."""

from polars_ir.lazy import lazy

lazy(__name__)
