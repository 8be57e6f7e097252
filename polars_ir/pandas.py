"""`.ir` on pandas frames: the same namespace, registered as soon as pandas is there.

pandas is never imported for those who do not use it. Where it is imported later than this package, the accessor is
registered while pandas imports its own module of accessors, `pandas.api.extensions`: the one module whose loader is
wrapped, once. There is no other notice of an import, and a pandas frame meets none of our functions before `.ir`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from polars_ir.namespace import IRNamespace, is_ours, warn_of_another

#: The module with which pandas registers accessors; its frames are there before it.
EXTENSIONS = "pandas.api.extensions"


def register() -> None:
    """Put `.ir` on pandas frames now, or when pandas is imported."""
    if "pandas" not in sys.modules:
        if not any(isinstance(finder, ExtensionsFinder) for finder in sys.meta_path):
            sys.meta_path.insert(0, ExtensionsFinder())
        return
    frame = getattr(sys.modules["pandas"], "DataFrame", None)
    if frame is None or EXTENSIONS not in sys.modules:  # a module of the user's with that name, or a failed import
        return
    if not hasattr(frame, "ir"):
        sys.modules[EXTENSIONS].register_dataframe_accessor("ir")(IRNamespace)
    elif not is_ours(frame.ir):
        warn_of_another("pandas")


class ExtensionsFinder(MetaPathFinder):
    """A finder of `pandas.api.extensions` alone, by all other finders, which lets its loader register the accessor."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the other finders, its loader wrapped; None for any other module."""
        if name != EXTENSIONS:
            return None
        others = (finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec"))
        info = next((info for finder in others if (info := finder.find_spec(name, path, target))), None)
        if info is not None and info.loader is not None:
            info.loader = RegisteringLoader(info.loader, self)
        return info


class RegisteringLoader(Loader):
    """A loader that does what another does, takes itself and its finder away, and registers the accessor."""

    def __init__(self, loader: Loader, finder: MetaPathFinder) -> None:
        self.loader, self.finder = loader, finder

    def create_module(self, info: ModuleSpec) -> ModuleType | None:
        """The module of the other loader."""
        return self.loader.create_module(info)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module as the other loader does, then register the accessor."""
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        register()
