"""The book: `pip install -e '.[docs]' && sphinx-build -W notebooks site` builds it offline.

Notebooks are committed with their outputs, which `tests/test_notebooks.py` holds; the reference is generated from the
package by `building/`. A published book has a folder for each version at BOOK_URL, and leads from one to another.
"""

import os
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import polars_ir

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "polars_ir"
author = "the authors of polars_ir"
version = release = polars_ir.__version__
extensions = [
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "building.charts",
    "building.mathml",
    "building.reference",
    "building.report",
    "building.twins",
]
exclude_patterns = ["building", "**.ipynb_checkpoints"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types in signatures; links are of Markdown
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"
copybutton_exclude = ".linenos, .gp, .go"  # code without prompts and output
smartquotes = False  # quotation marks in texts of the package are those of code

nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # no widget, and nothing from the network
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["mystnb.unknown_mime_type"]

html_theme = "pydata_sphinx_theme"
html_title = f"polars_ir {version}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_sourcelink_suffix = ""  # notebooks can be downloaded as they are
html_sidebars = {"index": [], "gallery": []}
html_theme_options = {
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": [],
    "footer_end": [],
    "search_as_you_type": True,
    "icon_links": [{"name": "Repository", "url": PROJECT["urls"]["Repository"], "icon": "fa-brands fa-github"}],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
if book_url := os.environ.get("BOOK_URL", "").rstrip("/"):
    html_baseurl = f"{book_url}/{version}/"
    html_theme_options |= {
        "switcher": {"json_url": f"{book_url}/versions.json", "version_match": version},
        "check_switcher": False,  # it is written once the book is built
        "show_version_warning_banner": True,
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    }
