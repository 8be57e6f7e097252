"""Optional dependencies, and the extra to install when one is missing.

Conventions: a module that needs an optional dependency imports it at its top, and is itself imported inside the
functions that use it, or by a package that is `lazy`, as `statistics` is. So the package can be imported with Polars
alone. A function under `public` says which extra it lacks where such an import fails; what has to say so earlier asks
for it (`require`).
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from polars_ir.errors import ExtraError

#: The packages of each extra, by the names they are imported by.
EXTRAS = {
    "stats": ("numpy", "scipy", "statsmodels"),
    "plot": ("altair",),
    "table": ("great_tables",),
    "twins": ("rensa", "numpy"),
}


def require(extra: str, what: str) -> None:
    """Raise an `ExtraError` that names the extra unless its packages are installed; `what` needs them."""
    if any(find_spec(module) is None for module in EXTRAS[extra]):
        raise ExtraError.missing(what, extra)


def lacks(extra: str) -> str:
    """The command that installs an extra; nothing where its packages are there."""
    from polars_ir.version import requirement

    there = all(find_spec(module) is not None for module in EXTRAS[extra])
    return "" if there else f"pip install {requirement(extra)}"


def extra_of(module: str | None) -> str | None:
    """The extra that has a package, by the name of a module in it; None for one of no extra."""
    package = str(module).partition(".")[0]
    return next((extra for extra, packages in EXTRAS.items() if package in packages), None)


class Deferred:
    """A package that is imported when an attribute of it is first read."""

    def __init__(self, package: str) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # What copies and pickles ask for, before there is a package.
            raise AttributeError(name)
        value = getattr(import_module(self._package), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy as np
else:
    #: NumPy, for modules that are imported without it.
    np = Deferred("numpy")

__all__ = ["Deferred", "extra_of", "lacks", "np", "require"]
