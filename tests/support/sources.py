"""The sources of the package, each parsed once."""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import polars_ir

PACKAGE = Path(polars_ir.__file__).parent


@cache
def trees() -> Mapping[Path, ast.Module]:
    """The syntax tree of every module."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
