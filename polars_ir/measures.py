"""The former place of `polars_ir.language.measures`."""

from typing import Any

from polars_ir.errors import deprecated
from polars_ir.language import measures


def __getattr__(name: str) -> Any:
    if name not in measures.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    deprecated("polars_ir.measures", "polars_ir.language.measures")
    return getattr(measures, name)
