"""Judgments that outlive a chunker: from spans of source texts, or moved from old chunks to new ones."""

from polars_ir.lazy import lazy

lazy(__name__)
