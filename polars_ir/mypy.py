"""A plugin of mypy that shows `.ir` on Polars and pandas frames: `plugins = ["polars_ir.mypy"]` in its configuration.

Conventions: every frame class gets an attribute `ir`, which mypy caches with the class. Its type is that of the stub in
modules that import `polars_ir`, which have the stub loaded, and Any in others.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version as version_of

from mypy.checker import TypeChecker
from mypy.nodes import MDEF, Import, ImportFrom, MypyFile, SymbolTableNode, TypeInfo, Var
from mypy.plugin import AttributeContext, ClassDefContext, Plugin, ReportConfigContext
from mypy.types import AnyType, Instance, Type, TypeOfAny

#: The frames that have `.ir`, and the class in the stub that it is one of.
FRAMES = {
    "polars.dataframe.frame.DataFrame": "EagerNamespace",
    "polars.lazyframe.frame.LazyFrame": "IRNamespace",
    "pandas.core.frame.DataFrame": "EagerNamespace",
}


class FramesWithIR(Plugin):
    """Shows `.ir` on frames."""

    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        """The hook that gives a frame class its attribute."""
        return _with_attribute if fullname in FRAMES else None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """The hook that knows the type of the attribute."""
        frame, _, attribute = fullname.rpartition(".")
        if attribute != "ir" or frame not in FRAMES:
            return None
        return lambda context: _namespace(context, FRAMES[frame])

    def report_config_data(self, ctx: ReportConfigContext) -> str:
        """Another version of this package makes what mypy cached worthless."""
        del ctx
        return version_of("polars_ir")


def plugin(version: str) -> type[Plugin]:
    """The plugin, which mypy asks for with its version."""
    del version
    return FramesWithIR


def _with_attribute(context: ClassDefContext) -> None:
    info = context.cls.info
    attribute = Var("ir", AnyType(TypeOfAny.explicit))
    attribute.info, attribute._fullname, attribute.is_property = info, f"{info.fullname}.ir", True  # noqa: SLF001  # mypy has no other way
    info.names["ir"] = SymbolTableNode(MDEF, attribute, plugin_generated=True)


def _namespace(context: AttributeContext, name: str) -> Type:
    checker = context.api
    if not isinstance(checker, TypeChecker) or not _imports_this_package(checker.tree):
        return context.default_attr_type
    stub = checker.modules["polars_ir.namespace"]
    namespace = stub.names[name].node
    return Instance(namespace, [context.type]) if isinstance(namespace, TypeInfo) else context.default_attr_type


def _imports_this_package(file: MypyFile) -> bool:
    """True for a module that imports this package, so that mypy has read its stub before."""
    imported = [name for node in file.imports if isinstance(node, Import) for name, _ in node.ids]
    imported += [node.id for node in file.imports if isinstance(node, ImportFrom)]
    return any(name.partition(".")[0] == "polars_ir" for name in imported)
