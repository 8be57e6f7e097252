"""Packages whose public names are imported from their files when they are first read, so that importing one is fast.

A file of functions is called as its function, and the function wins: importing `polars_ir.per_query.compare` binds the
name `compare` of the package to the function, where Python binds it to the file. Type checkers read the stub beside the
package, which `tests/support/stubs.py` writes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package with public names of its files: `ORIGINS` has the file of each, and its name there."""

    ORIGINS: Mapping[str, tuple[str, str]]

    def __getattr__(self, name: str) -> Any:
        if name not in self.ORIGINS:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
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
        return sorted(name for name in self.ORIGINS if not name.startswith("__"))


def lazy(package: str, names: Mapping[str, str] = {}, unlisted: Mapping[str, str] = {}, *, files: str = "") -> None:
    """Let a package have public names of files, by file, and `unlisted` ones, which `import *` leaves out.

    The names of a file are written in a row, separated by commas, one under another name as `borda as borda_norm`.
    Those under no file are packages of `polars_ir`. In `files` are the files of the package that hold a function called
    like them, and nothing else.
    """
    module = sys.modules[package]
    names = {**names, **{f"{package}.{name}": name for name in filter(None, files.split(", "))}}
    public, others = _origins(names), _origins(unlisted)
    for name in public.keys() & vars(module).keys():  # a file that was imported before
        delattr(module, name)
    module.__dict__.update(ORIGINS=others | public, __all__=sorted(public))
    module.__class__ = LazyPackage


def _origins(names: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The file of each name, and its name there; of a package no name."""
    origins: dict[str, tuple[str, str]] = {}
    for file, written in names.items():
        for name in written.split(", "):
            there, _, here = name.partition(" as ")
            origins[here or there] = (file, there) if file else (f"polars_ir.{there}", "")
    return origins
