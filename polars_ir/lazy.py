"""Packages whose public names are imported from their files when they are first read, so that importing one is fast.

Conventions: the stub beside a package is the list of its names, for type checkers and for Python. `from ... import`
makes a name public, `from .` a module that `import *` leaves out, and `spelling = name` a second spelling, which is
found and not listed.

A file of functions is called as its function, and the function wins: importing `polars_ir.per_query.compare` binds the
name `compare` of the package to the function, where Python binds it to the file.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import get_data
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package with public names of its files: `ORIGINS` has the file of each, and its name there."""

    ORIGINS: Mapping[str, tuple[str, str]]
    LISTED: list[str]
    HINT: Callable[[str, list[str]], str]

    def __getattr__(self, name: str) -> Any:
        if name not in self.ORIGINS:
            hint = "" if name.startswith("_") else self.HINT(name, self.LISTED)
            # With an object in the error, Python would add a guess of its own.
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}.{hint}", name=name)
        file, there = self.ORIGINS[name]
        value = getattr(import_module(file), there) if there else import_module(file)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # The import system binds a file to its name in the package once the file is loaded.
        if isinstance(value, ModuleType) and name in self.ORIGINS:
            self.__getattr__(name)
        else:
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """A package by its name: cloudpickle does so by itself for no subclass of a module."""
        return import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        """The public names, also those that `import *` leaves out."""
        return self.LISTED


def lazy(package: str, hint: Callable[[str, list[str]], str] = lambda _name, _listed: "") -> None:
    """Let a package have the names of its stub; `hint` words which of the listed may be meant by another."""
    module = sys.modules[package]
    public: dict[str, tuple[str, str]] = {}
    others: dict[str, tuple[str, str]] = {}
    spellings: dict[str, str] = {}
    for node in ast.parse(get_data(package, "__init__.pyi") or "").body:
        match node:
            case ast.ImportFrom(module=str(file), names=[ast.alias(name="*")]):
                public |= {name: (file, name) for name in import_module(file).__all__}
            case ast.ImportFrom(module=file, names=names, level=1):
                others |= {alias.name: (".".join(filter(None, (package, file, alias.name))), "") for alias in names}
            case ast.ImportFrom(module=str(file), names=names) if file == package:
                public |= {alias.name: (f"{file}.{alias.name}", "") for alias in names}
            case ast.ImportFrom(module=str(file), names=names):
                public |= {alias.asname or alias.name: (file, alias.name) for alias in names}
            case ast.Assign(targets=[ast.Name(id=spelling)], value=ast.Name(id=name)):
                spellings[spelling] = name
    for name in public.keys() & vars(module).keys():  # a file that was imported before
        delattr(module, name)
    listed = sorted(name for name in public if not name.startswith("__"))
    module.__dict__.update(
        ORIGINS=public | others | {spelling: public[name] for spelling, name in spellings.items()},
        LISTED=sorted([*listed, *others]),
        HINT=hint,
        __all__=listed,
    )
    module.__class__ = LazyPackage
