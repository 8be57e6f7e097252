"""Helpers for tests of messages: the words allowed in a shell, and the lines of the package seen to raise."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sources import PACKAGE, trees

from polars_ir import errors
from polars_ir.cli.commands import COMMANDS
from polars_ir.cli.parser import parser

#: Signs of Python: a call, an argument with its value, a module, a function of ours.
PYTHON = re.compile(r"\w\.\w+\(|\b\w+='|=True|=False|\b(?:pl|pd|ir)\.|\b(?:read|scan|write|sink)_(?:run|qrels)\b|`")

#: The makers of an error or a warning: an exception of ours, or one of its makers.
MAKERS = {name for name in vars(errors) if name.endswith("Error")} | {"IRWarning", "warn"}


def flags() -> set[str]:
    """Every option that some command has."""
    commands = next(each.choices for each in parser(COMMANDS, ())._actions if each.dest == "command")  # noqa: SLF001
    return {flag for command in commands.values() for flag in command._option_string_actions}  # noqa: SLF001


def check_words(message: str) -> None:
    """A message of the shell holds no Python but what is shown of data, and options that there are."""
    told = re.sub(r"got '.*?'(?=[.;])", "got", message.partition("\n")[0])
    assert not PYTHON.search(told.replace("`polars-ir measures`", ""))
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", told)) <= flags()


def places(folder: str) -> set[tuple[str, int, int]]:
    """The places where modules of a folder make an error or a warning: the file, and its first and last line."""
    found = set()
    for path, tree in trees().items():
        if not path.is_relative_to(PACKAGE / folder):
            continue
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        name = str(path.relative_to(PACKAGE))
        found |= {(name, call.lineno, call.end_lineno or call.lineno) for call in calls if _maker(call) in MAKERS}
    return found


def _maker(call: ast.Call) -> str:
    function = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return function.id if isinstance(function, ast.Name) else ""


@contextmanager
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[str, int]]]:
    """The file and the line of each error and warning that is made meanwhile, below `errors/` itself."""
    lines: set[tuple[str, int]] = set()
    with monkeypatch.context() as patch:
        for kind in (errors.IRError, errors.IRWarning):
            patch.setattr(kind, "__init__", _noting(kind.__init__, lines))
        yield lines


def _noting(make: object, lines: set[tuple[str, int]]) -> object:
    def init(*args: object, **kwargs: object) -> None:
        frame = sys._getframe(1)  # noqa: SLF001  # there is no other way to see who calls
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(PACKAGE) and path.parent != PACKAGE / "errors":
                lines.add((str(path.relative_to(PACKAGE)), frame.f_lineno))
                break
            frame = frame.f_back  # type: ignore[assignment]
        make(*args, **kwargs)  # type: ignore[operator]

    return init


def never_made(folder: str, lines: set[tuple[str, int]]) -> list[str]:
    """The places of a folder that no noted error came from."""
    return sorted(
        f"{name}:{start}"
        for name, start, end in places(folder)
        if not any(path == name and start <= line <= end for path, line in lines)
    )


def advice_places() -> set[tuple[str, str, int, int]]:
    """The calls of functions that make an advice: the file, the function, and the first and the last line."""
    found = set()
    for path, tree in trees().items():
        if not path.is_relative_to(PACKAGE):
            continue
        name = str(path.relative_to(PACKAGE))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
                of_fixes = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Fix"]
                found |= {(name, function.name, call.lineno, call.end_lineno or call.lineno) for call in of_fixes}
    return found


@contextmanager
def noting_advice(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[str, int]]]:
    """The file and the line of each advice that is made meanwhile."""
    lines: set[tuple[str, int]] = set()
    make = errors.Fix.__new__

    def new(kind: type, *args: object, **kwargs: object) -> object:
        frame = sys._getframe(1)  # noqa: SLF001  # there is no other way to see who calls
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE):
            lines.add((str(path.relative_to(PACKAGE)), frame.f_lineno))
        return make(kind, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(errors.Fix, "__new__", new)
        yield lines
