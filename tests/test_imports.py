"""Imports go one way, and Polars is all that is needed."""

import ast
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from sources import PACKAGE, trees

#: The parts of the package, the lowest line first: a part imports parts of earlier lines only, never of its own.
LINES = """
version
errors lazy
extras statistics
language
frames
engine files
chunks inputs runs per_query datasets
answers fusion plots tables spark trec_eval
reports
namespace cli
pandas __main__ mypy
__init__
"""

HEIGHT = {part: height for height, line in enumerate(LINES.strip().splitlines()) for part in line.split()}

#: Modules, or folders of them, that import what is not always there; they are themselves imported in functions only.
WITH_EXTRAS = {
    "statistics": {"numpy", "scipy", "statsmodels"},
    "plots": {"altair"},
    "tables.html": {"great_tables"},
    "mypy": {"mypy"},
}


def part_of(path: Path) -> str:
    """The part of the package that a module belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_of(path: Path) -> str:
    """The name of a module within the package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def is_in(module: str, name: str) -> bool:
    """True if a name is that of a module, or of something in it."""
    return f"{name}.".startswith(f"{module}.")


def imported(tree: ast.AST) -> Iterator[str]:
    """Full names of the modules, and of what is imported from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_at_the_top(tree: ast.Module | ast.ClassDef) -> Iterator[str]:
    """The names imported outside functions: whenever the module is."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from imported_at_the_top(node)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _is_for_type_checkers(node):
            yield from imported(node)


def _is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_a_part_imports_parts_of_earlier_lines_only():
    for path, tree in trees().items():
        part = part_of(path)
        others = {name.split(".")[1] for name in imported(tree) if is_in("polars_ir", name)} - {part, "polars_ir"}
        assert {other for other in others if HEIGHT[other] >= HEIGHT[part]} == set(), path


def test_every_part_has_a_line():
    assert {part_of(path) for path in trees()} == HEIGHT.keys()


def lazy_exports() -> dict[str, str]:
    """The full names that packages export lazily, each with the full name of what it is."""
    packages = [name_of(path).removesuffix("__init__").rstrip(".") for path in trees() if path.name == "__init__.py"]
    exports = {}
    for package in (f"polars_ir.{name}".rstrip(".") for name in packages):
        for name, (file, there) in getattr(import_module(package), "ORIGINS", {}).items():
            exports[f"{package}.{name}"] = f"{file}.{there}".rstrip(".")
    return exports


def in_circles(modules: Mapping[str, ast.AST], exports: Mapping[str, str]) -> set[str]:
    """The modules that import themselves by way of others, and those that import such ones.

    Imports count wherever they stand: at the top, in functions, for type checkers, or as the lazy export of a package.
    """

    def module_of(name: str) -> str:
        while exports.get(name, name) != name:
            name = exports[name]
        return max((module for module in modules if is_in(f"polars_ir.{module}", name)), key=len, default="__init__")

    needed = {
        module: {module_of(name) for name in imported(tree) if is_in("polars_ir", name)}
        for module, tree in modules.items()
    }
    for export in exports:
        needed[export.rpartition(".")[0].partition(".")[2] or "__init__"].add(module_of(export))
    needed = {module: others - {module} for module, others in needed.items()}
    while free := {module for module, others in needed.items() if not others & needed.keys()}:
        needed = {module: others for module, others in needed.items() if module not in free}
    return set(needed)


def test_no_imports_go_round_in_a_circle():
    """Not within a part either."""
    modules = {name_of(path).removesuffix(".__init__"): tree for path, tree in trees().items()}
    assert in_circles(modules, lazy_exports()) == set()


def test_circles_through_functions_type_checkers_and_lazy_exports_are_seen():
    sources = {
        "a": "def f():\n    import polars_ir.b",
        "b": "if TYPE_CHECKING:\n    from polars_ir.c import C",
        "c": "from polars_ir.package import exported",
        "package": "",
        "d": "from polars_ir.e import E",
        "e": "",
    }
    modules = {name: ast.parse(source) for name, source in sources.items()}
    assert in_circles(modules, {"polars_ir.package.exported": "polars_ir.a.f"}) == {"a", "b", "c", "package"}
    assert in_circles(modules, {"polars_ir.package.exported": "polars_ir.d.D"}) == set()


def test_polars_is_the_only_other_package_that_is_imported_at_once():
    for path, tree in trees().items():
        names = {name.split(".")[0] for name in imported_at_the_top(tree)}
        extra = next((names for module, names in WITH_EXTRAS.items() if is_in(module, name_of(path))), set())
        assert names - sys.stdlib_module_names - {"polars", "polars_ir"} <= extra, path


def test_what_needs_an_extra_is_imported_when_it_is_used():
    """A lazy package of such modules may stand at the top: it imports them when they are read."""
    assert hasattr(import_module("polars_ir.statistics"), "ORIGINS")
    for path, tree in trees().items():
        names = set(imported_at_the_top(tree)) - {"polars_ir.statistics"}
        early = {module for name in names for module in WITH_EXTRAS if is_in(f"polars_ir.{module}", name)}
        assert not early or any(is_in(module, name_of(path)) for module in WITH_EXTRAS), path


def test_every_module_says_what_it_is_for():
    assert [path for path, tree in trees().items() if not ast.get_docstring(tree)] == []
