"""Imports go one way, and Polars is all that is needed."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import polars_ir

SOURCE = Path(polars_ir.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

#: What each part of the package may import of it. A folder is one part.
ALLOWED = {
    "errors": set(),
    "vocabulary": set(),
    "checks": {"errors"},
    "conversion": {"errors"},
    "schema": {"errors", "checks", "conversion"},
    "parameters": {"vocabulary"},
    "registry": {"errors", "parameters", "vocabulary"},
    "continuations": {"errors", "vocabulary"},
    "measures": {"continuations", "errors", "greedy", "parameters", "registry", "vocabulary"},
    "naming": {"errors", "measures", "registry"},
    "prefilter": set(),
    "ranking": {"conversion", "prefilter", "schema"},
    "greedy": {"errors"},
    "judging": {"errors", "checks", "conversion", "greedy", "ranking", "schema"},
    "preferences": {"errors", "checks", "conversion", "schema", "vocabulary"},
    "relations": {"errors", "greedy", "judging", "preferences", "ranking", "registry", "schema"},
    "bounds": {"registry"},
    "expected": {"errors", "measures", "parameters", "vocabulary"},
    "files": {"errors", "schema"},
    "datasets": {"errors", "files"},
    "evaluation": {
        "errors",
        "bounds",
        "conversion",
        "expected",
        "judging",
        "naming",
        "ranking",
        "registry",
        "relations",
        "schema",
        "vocabulary",
    },
    "binding": set(),
    "extras": {"errors"},
    "options": {"errors"},
    "progress": set(),
    "averages": {"errors", "naming", "registry", "vocabulary"},
    "samples": {"errors", "attributes", "checks", "options", "schema"},
    "summary": {"errors", "averages", "conversion", "extras", "naming", "options", "samples", "schema", "statistics"},
    "statistics": {"errors"},
    "comparison": {
        "errors",
        "attributes",
        "checks",
        "conversion",
        "extras",
        "naming",
        "options",
        "samples",
        "schema",
        "statistics",
        "summary",
    },
    "analysis": {
        "errors",
        "bounds",
        "checks",
        "conversion",
        "evaluation",
        "judging",
        "naming",
        "parameters",
        "ranking",
        "registry",
        "relations",
        "schema",
        "summary",
        "vocabulary",
    },
    "plots": {
        "errors",
        "binding",
        "comparison",
        "conversion",
        "evaluation",
        "extras",
        "measures",
        "naming",
        "options",
        "summary",
    },
    "tables": {"errors", "checks", "comparison", "extras", "naming", "options", "summary"},
    "attributes": {"errors", "checks", "conversion", "schema"},
    "abstaining": {
        "errors",
        "attributes",
        "checks",
        "conversion",
        "judging",
        "naming",
        "samples",
        "schema",
        "summary",
        "vocabulary",
    },
    "variants": {"errors", "attributes", "conversion", "judging", "naming", "schema", "summary", "vocabulary"},
    "validation": {"errors", "checks", "conversion", "ranking", "schema", "measures", "judging"},
    "namespace": {
        "errors",
        "registry",
        "judging",
        "evaluation",
        "analysis",
        "binding",
        "comparison",
        "extras",
        "plots",
        "summary",
        "tables",
        "abstaining",
        "variants",
        "validation",
    },
    "pandas": {"namespace"},
    "spark": {"errors", "conversion", "evaluation", "options", "ranking", "registry", "schema", "summary"},
    "trec_eval": {"errors", "evaluation", "files", "naming", "schema", "summary", "vocabulary"},
    "cli": {
        "errors",
        "comparison",
        "datasets",
        "evaluation",
        "files",
        "naming",
        "progress",
        "ranking",
        "registry",
        "schema",
        "summary",
        "trec_eval",
        "validation",
    },
    "__main__": {"cli"},
    "__init__": {
        "errors",
        "continuations",
        "conversion",
        "vocabulary",
        "registry",
        "measures",
        "naming",
        "judging",
        "files",
        "datasets",
        "evaluation",
        "analysis",
        "comparison",
        "summary",
        "tables",
        "abstaining",
        "trec_eval",
        "variants",
        "validation",
        "namespace",
        "pandas",
    },
}

#: Modules, or folders of them, that import what is not always there; they are themselves imported in functions only.
WITH_EXTRAS = {
    "statistics": {"numpy", "scipy", "statsmodels"},
    "plots": {"altair"},
    "tables.html": {"great_tables"},
}

#: The order of the layers, the lowest first; a part may import lower ones only.
LAYERS = [
    {"errors"},
    {"binding", "checks", "conversion", "extras", "options", "prefilter", "progress", "statistics"},
    {"schema", "vocabulary", "greedy"},
    {"parameters", "continuations"},
    {"registry"},
    {"measures", "ranking", "preferences"},
    {"judging", "naming", "files", "expected", "bounds"},
    {"relations", "attributes", "averages"},
    {"samples"},
    {"datasets", "evaluation", "summary", "validation"},
    {"abstaining", "variants", "analysis", "comparison"},
    {"plots", "tables"},
    {"namespace"},
    {"pandas", "spark", "trec_eval"},
    {"cli"},
    {"__init__", "__main__"},
]


def part_of(path: Path) -> str:
    """The part of the package that a module belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def name_of(path: Path) -> str:
    """The name of a module within the package."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def is_in(module: str, name: str) -> bool:
    """Whether a name is that of a module, or of something in it."""
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
    """What is imported outside functions: whenever the module is."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from imported_at_the_top(node)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _is_for_type_checkers(node):
            yield from imported(node)


def _is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


EVERY = pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(SOURCE)) for path in MODULES])


@EVERY
def test_a_module_imports_only_what_its_part_may(path):
    part = part_of(path)
    own = {name.split(".")[1] for name in imported(ast.parse(path.read_text("utf-8"))) if name.startswith("polars_ir.")}
    assert own - {part} <= ALLOWED[part]


@pytest.mark.parametrize("part", ALLOWED)
def test_a_part_may_import_only_lower_ones(part):
    height = {name: level for level, layer in enumerate(LAYERS) for name in layer}
    assert [other for other in ALLOWED[part] if height[other] >= height[part]] == []


def test_every_part_is_in_the_map_and_in_the_layers():
    parts = {part_of(path) for path in MODULES}
    assert parts == ALLOWED.keys()
    assert parts == set().union(*LAYERS)


@EVERY
def test_polars_is_the_only_other_package_that_is_imported_at_once(path):
    names = {name.split(".")[0] for name in imported_at_the_top(ast.parse(path.read_text("utf-8")))}
    extra = next((names for module, names in WITH_EXTRAS.items() if is_in(module, name_of(path))), set())
    assert names - sys.stdlib_module_names - {"polars", "polars_ir"} <= extra


@EVERY
def test_what_needs_an_extra_is_imported_when_it_is_used(path):
    names = imported_at_the_top(ast.parse(path.read_text("utf-8")))
    early = {module for name in names for module in WITH_EXTRAS if is_in(f"polars_ir.{module}", name)}
    assert not early or any(is_in(module, name_of(path)) for module in WITH_EXTRAS)


@EVERY
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))
