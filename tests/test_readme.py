"""The README is true: its code runs, its table of measures is the catalogue, its commands are those that exist."""

import re
from pathlib import Path

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.schema import ROLES

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def table_of_measures() -> str:
    """The catalogue as the README shows it; `python tests/test_readme.py` prints it."""
    rows = [
        f"| `{row['name']}` | `ir.{row['function']}` | {row['parameters']} | {row['meaning']} |"
        for row in ir.catalog().iter_rows(named=True)
    ]
    return "\n".join(["| name | function | parameters | meaning |", "|---|---|---|---|", *rows])


def test_the_code_of_the_readme_runs_from_top_to_bottom(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    catalog = dict(ir.CATALOG)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == README.count("```python")
    for block in blocks:
        exec(compile(block, "README.md", "exec"), globals())  # noqa: S102  # the blocks of our own README, in one scope
    ir.CATALOG.clear()
    ir.CATALOG.update(catalog)


def test_the_table_of_measures_is_the_catalogue():
    assert table_of_measures() in README


def test_the_recognised_columns_are_those_of_the_schema():
    for names in ROLES.values():
        assert all(f"`{name}`" in README for name in names)


def test_the_changelog_names_this_version():
    assert f"## {ir.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_demo_prints_what_the_readme_shows(capsys):
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    assert printed.strip() in README or not pl.__version__.startswith("2.")


if __name__ == "__main__":
    print(table_of_measures())  # noqa: T201
