"""Optional dependencies, and the extra to install when one is missing.

Conventions: a module that needs an optional dependency imports it at its top, and is itself imported inside the
functions that use it, after `require`. So the package can be imported with Polars alone.
"""

from __future__ import annotations

from importlib.util import find_spec

from polars_ir.errors import ExtraError

#: The packages of each extra, by the names they are imported by.
EXTRAS = {
    "stats": ("numpy", "scipy", "statsmodels"),
    "plot": ("altair",),
    "table": ("great_tables",),
}


def require(extra: str, what: str) -> None:
    """Raise an `ExtraError` that names the extra unless its packages are installed; `what` needs them."""
    if any(find_spec(module) is None for module in EXTRAS[extra]):
        raise ExtraError.missing(what, extra)
