"""`.ir` on pandas frames: the same namespace, registered as soon as pandas is there.

pandas is never imported for those who do not use it. Where it is imported later than this package, a finder that
waits for it registers the accessor then.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from polars_ir.namespace import IRNamespace, is_ours, warn_of_another


def register() -> None:
    """Put `.ir` on pandas frames now, or when pandas is imported."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        if not any(isinstance(finder, PandasFinder) for finder in sys.meta_path):
            sys.meta_path.insert(0, PandasFinder())
        return
    frame = getattr(pandas, "DataFrame", None)
    if frame is None:  # a module of the user's with that name, or one whose import failed
        return
    if not hasattr(frame, "ir"):
        pandas.api.extensions.register_dataframe_accessor("ir")(IRNamespace)
    elif not is_ours(frame.ir):
        warn_of_another("pandas")


class PandasFinder(MetaPathFinder):
    """Lets the import of pandas pass, and registers the accessor after it.

    It stays until pandas has been imported: others may only ask whether pandas can be found.
    """

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Find pandas as it would be found without us; leave every other module to the other finders."""
        if name != "pandas":
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        spec = next((spec for finder in others if (spec := finder.find_spec(name, path, target))), None)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            register()

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]  # this one loader, this one time
        return spec
