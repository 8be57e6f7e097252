"""The Markdown pages: their code, and what it is said to show; as a script, write what it shows today into them."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"

#: The README and the book's pages that are no notebooks; code in `python` blocks runs, that in `py` blocks does not.
PAGES = [README, *sorted((ROOT / "notebooks").glob("*.md"))]

#: Code, and what is shown under it.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """Code of a page, and what the page says that it shows; empty where it says nothing."""

    code: str
    shown: str


def text(page: Path) -> str:
    """The text of a page."""
    return page.read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of code of a page in a language, as it names that."""
    found = re.findall(rf"```{language}\n(.*?)```", text(page), re.DOTALL)
    assert len(found) == text(page).count(f"```{language}\n")
    return found


def python(page: Path) -> list[Block]:
    """The code of a page that runs."""
    found = [Block(*match) for match in BLOCK.findall(text(page))]
    assert [block.code for block in found] == blocks(page, "python")
    return found


def results(page: Path) -> Iterator[tuple[Block, str]]:
    """The blocks of a page, run one after the other, with what each shows; settings of Polars end with the page."""
    scope: dict[str, object] = {}
    with pl.Config():
        for block in python(page):
            yield block, run(block, scope)


def run(block: Block, scope: dict[str, object]) -> str:
    """The output of a block, and the value of its last line, as an interpreter shows it."""
    tree = ast.parse(block.code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "page", "exec"), scope)  # noqa: S102  # blocks of our own pages, in one scope
        value = eval(compile(ast.Expression(last.value), "page", "eval"), scope) if last else None  # noqa: S307
    return printed.getvalue() + ("" if value is None else f"{value!r}\n")


def with_results(page: Path) -> str:
    """The page with what its code shows today in the place of what it says."""
    shown = iter([result for _, result in results(page)])

    def renewed(match: re.Match[str]) -> str:
        result = next(shown)
        return f"```python\n{match[1]}```\n" + (f"\n```text\n{result}```\n" if match[2] else "")

    return BLOCK.sub(renewed, text(page))


if __name__ == "__main__":
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page.write_text(with_results(page), encoding="utf-8")
