"""The README is true: its code runs, its table of measures is the catalogue, its commands are those that exist."""

import re
from pathlib import Path

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.frames.columns import ROLES

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

#: What measures are of, each with a table.
KINDS = ir.catalog()["judgments"].unique(maintain_order=True).to_list()


def blocks(language: str) -> list[str]:
    """The README's blocks of code in a language, as it names that."""
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert len(found) == README.count(f"```{language}\n")
    return found


def table_of_measures(judgments: str) -> str:
    """The catalogue as the README shows it; `python tests/test_readme.py` prints it."""
    rows = [
        f"| `{row['name']}` | `ir.{row['function']}` | {row['parameters']} | {row['low']:.3g} to {row['high']:.3g}"
        f"{', best low' if row['best'] < row['high'] else ''} | {row['also']} | {row['meaning']} |"
        for row in ir.catalog().filter(pl.col("judgments") == judgments).iter_rows(named=True)
    ]
    head = ["| name | function | parameters | range | elsewhere | meaning |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def test_the_code_of_the_readme_runs_from_top_to_bottom(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    catalog = dict(ir.CATALOG)
    try:
        for block in blocks("python"):
            exec(compile(block, "README.md", "exec"), globals())  # noqa: S102  # blocks of our own README, in one scope
    finally:
        ir.CATALOG.clear()
        ir.CATALOG.update(catalog)


@pytest.mark.parametrize("judgments", KINDS)
def test_the_table_of_measures_is_the_catalogue(judgments):
    assert table_of_measures(judgments) in README


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
    print(*map(table_of_measures, KINDS), sep="\n\n")  # noqa: T201
