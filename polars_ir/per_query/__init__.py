"""Functions of a per-query frame: means, and systems, slices and periods compared. Each is a method of `.ir` on it."""

from polars_ir.lazy import lazy

lazy(__name__)
