"""A Chromium for tests of pages; `CHROMIUM` names another than the one on the path."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")

#: For machines without a display, and for browsers that would call home.
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; without one the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("no Chromium is installed; CHROMIUM names one")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield opened
        opened.close()
