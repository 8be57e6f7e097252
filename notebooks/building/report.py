"""The report of the bundled collection, as a page of the book; as a script, its pictures.

`python notebooks/building/report.py` draws them anew with Playwright and a Chromium (`CHROMIUM`, or on the path).
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars_ir as ir

#: The name of the page in the book.
PAGE = "report_of_pydocs.html"

STATIC = Path(__file__).parents[1] / "_static"

#: The widths and the colours in which the page is shown.
WIDTHS, SCHEMES = {"wide": (1280, 900), "narrow": (390, 844)}, ("light", "dark")


def write(folder: Path) -> Path:
    """Write the page into a folder."""
    pydocs = ir.datasets.load("pydocs")
    measures = ["nDCG@10", "AP", "RR@10", "R@100"]
    report = ir.report(pydocs.runs, pydocs.qrels, measures, queries=pydocs.queries, by="category")
    report.write(folder / PAGE)
    return folder / PAGE


def draw(folder: Path) -> None:
    """Draw the page as it opens, its slices, and one query of it, into a folder."""
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        path = write(Path(place))
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        for name, (width, height) in WIDTHS.items():
            for scheme in SCHEMES:
                page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(path.as_uri())
                page.wait_for_selector("#slices-0 svg")
                page.screenshot(path=folder / f"report_{name}_{scheme}.png")
                if (name, scheme) == ("wide", "light"):
                    page.locator("#slices-0").screenshot(path=folder / "report_slices.png")
                    page.locator("#queries-table tbody tr").first.click(force=True)
                    page.screenshot(path=folder / "report_query.png")
        chromium.close()


def write_at_the_end(app: Any, failure: Exception | None) -> None:
    """Write the page beside the others, once these are built."""
    if failure is None and app.builder.name == "html":
        write(Path(app.outdir))


def setup(app: Any) -> dict[str, bool]:
    """Write the page at the end."""
    app.connect("build-finished", write_at_the_end)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    draw(STATIC)
