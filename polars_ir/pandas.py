"""`.ir` on pandas frames: the same namespace, registered as soon as pandas is there.

pandas is never imported for those who do not use it. Where it is imported later than this package, a finder that
waits for it registers the accessor then.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from polars_ir.namespace import IRNamespace


def register() -> None:
    """Put `.ir` on pandas frames now, or when pandas is imported."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        if not any(isinstance(finder, PandasFinder) for finder in sys.meta_path):
            sys.meta_path.insert(0, PandasFinder())
    elif not hasattr(pandas.DataFrame, "ir"):
        pandas.api.extensions.register_dataframe_accessor("ir")(IRNamespace)


class PandasFinder(MetaPathFinder):
    """Lets the import of pandas pass, once, and registers the accessor after it."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  # the protocol of finders has them
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Find pandas as it would be found without us; leave every other module to the other finders."""
        if name != "pandas":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("pandas")
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            register()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]  # this one loader, this one time
        return spec
