"""The README and the pages of the book are true: their code runs, and shows what they say.

After a change that moves an output, `python tests/support/pages.py` writes what the code shows into the pages.
"""

import json
import re

import pages
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.frames.roles import ROLES

#: The most characters of the README, which a newcomer reads before anything else.
LONGEST_README = 9_000


@pytest.fixture
def own_catalogue():
    """Measures that a page defines are gone after it."""
    catalog = dict(ir.CATALOG)
    yield
    ir.CATALOG.clear()
    ir.CATALOG.update(catalog)


@pytest.mark.usefixtures("own_catalogue")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[pytest.mark.whole("seconds")] * (page.stem == "large_runs"))
        for page in pages.PAGES
    ],
)
def test_the_code_of_a_page_runs_from_top_to_bottom_and_shows_what_it_says(page, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    for block, shown in pages.results(page):
        # Another major version of Polars may draw tables in another way.
        if block.shown and pl.__version__.startswith("2."):
            assert shown == block.shown


def test_links_between_pages_lead_to_files():
    for page in pages.PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", pages.text(page)):
            # The reference is generated as the book is built, where Sphinx follows its links.
            assert (page.parent / target).exists() or target.startswith("reference/"), f"{page.name}: {target}"


def test_the_readme_is_short():
    assert len(pages.text(pages.README).encode()) <= LONGEST_README


def test_the_readme_quotes_what_the_page_on_speed_prints_of_its_records():
    cells = json.loads(pages.text(pages.ROOT / "notebooks" / "speed.ipynb"))["cells"]
    shown = ["".join(output.get("text", "")) for cell in cells for output in cell.get("outputs", [])]
    (quoted,) = (" ".join(text.split()) for text in shown if "CPU seconds" in text)
    assert f"- **Fast.** {quoted} [Speed](notebooks/speed.ipynb)" in " ".join(pages.text(pages.README).split())


def test_the_recognised_columns_are_those_of_the_schema():
    exactly = pages.text(pages.ROOT / "notebooks" / "exactly.md")
    for names in (role.names for role in ROLES.values()):
        assert all(f"`{name}`" in exactly for name in names)


def test_the_changelog_names_this_version():
    assert f"## {ir.__version__}" in (pages.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_demo_prints_what_the_readme_shows(capsys):
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    assert printed.strip() in pages.text(pages.README) or not pl.__version__.startswith("2.")
