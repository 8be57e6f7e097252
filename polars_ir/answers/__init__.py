"""Answers that were judged: the nuggets that they contain, and the support of their citations."""

from polars_ir.lazy import lazy

lazy(__name__)
