"""Charts of the book, drawn by the browser in the colours of the page's theme: they show tooltips, and take clicks.

Conventions: a page holds a chart as it was written by Altair, and a picture of it for where no script runs. Vega is
bundled with the book, so that nothing comes from the network.
"""

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

#: The type by which notebooks know charts of Vega-Lite; its version follows.
VEGALITE = re.compile(r"application/vnd\.vegalite\.v\d+\+json")

#: The page that begins with small pictures.
GALLERY = "gallery"

#: The class of a chart's element.
CLASS = "vega-chart"


def image(picture: str, told: str) -> str:
    """A picture by itself: names within it meet none of the page's other pictures."""
    data = base64.b64encode(picture.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{html.escape(told)}">'


def chart_html(info: Mapping[str, Any], picture: str) -> str:
    """A chart as HTML: its specification, and its picture until a script has drawn it."""
    # No text within can end the script.
    text = json.dumps(info).replace("<", r"\u003c")
    return f'<div class="{CLASS}">\n<script type="application/json">{text}</script>\n{image(picture, "chart")}\n</div>'


def of_chart(chart: Any, told: str) -> str:
    """A chart as Markdown, with a text for those who do not see it."""
    info = chart.to_dict()
    shown = chart_html(info, vl_convert.vegalite_to_svg(info))
    return f'```{{raw}} html\n<figure role="img" aria-label="{html.escape(told)}">{shown}</figure>\n```'


def draw_both(chart: alt.Chart, path: Path, told: str) -> str:
    """Write a chart as SVG for the light and for the dark theme, and return the Markdown that shows the right one."""
    shown = []
    for theme, name in (("light", path.name), ("dark", f"{path.stem}_dark.svg")):
        with alt.theme.enable("default" if theme == "light" else "dark"):
            chart.properties(background="transparent").save(path.with_name(name))
        shown.append(f"```{{image}} {name}\n:class: only-{theme}\n:alt: {told}\n```")
    return "\n".join(shown)


def with_charts(_app: Any, name: str, source: list[str]) -> None:
    """Show the charts of a notebook as HTML, and those of the gallery at its top, small."""
    if '"nbformat"' not in source[0]:
        return
    notebook = json.loads(source[0])
    if name == GALLERY:
        notebook["cells"].insert(1, thumbnails(notebook["cells"]))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            kinds = [kind for kind in output.get("data", {}) if VEGALITE.fullmatch(kind)]
            if kinds:
                data = output["data"]
                output["data"] = {"text/html": chart_html(data[kinds[0]], "".join(data["image/svg+xml"]))}
    source[0] = json.dumps(notebook)


def thumbnails(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A cell with a small picture of each section, which leads there; of a table the name alone."""
    from docutils.nodes import make_id  # tests of the book's builders do without Sphinx

    shown = []
    for heading, below in pairwise(cells):
        title = re.match(r"## (?:\d+\. )?(.+)", "".join(heading["source"]))
        if not title:
            continue
        pictures = [output.get("data", {}).get("image/svg+xml") for output in below.get("outputs", [])]
        picture = next((image("".join(one), "") for one in pictures if one), "")
        shown.append(f'<a href="#{make_id(title[1])}">{picture}<span>{html.escape(title[1])}</span></a>')
    text = "\n".join(shown)
    source = f'```{{raw}} html\n<nav class="thumbnails">\n{text}\n</nav>\n```'
    return {"cell_type": "markdown", "metadata": {}, "id": "thumbnails", "source": source}


def with_scripts(app: Any, _name: str, _template: str, context: Mapping[str, Any], _tree: object) -> None:
    """Load Vega into the pages that have a chart."""
    if f'class="{CLASS}"' in context.get("body", ""):
        app.add_js_file("vega.js", loading_method="defer")
        app.add_js_file("charts.js", loading_method="defer")


def bundle(app: Any, failure: Exception | None) -> None:
    """Write Vega beside the pages."""
    if not failure and app.builder.format == "html":
        # Its names are its own.
        script = f"(() => {{\n{vl_convert.javascript_bundle()}\n}})();\n"
        (Path(app.outdir) / "_static" / "vega.js").write_text(script, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Replace charts as pages are read, and load scripts as they are written."""
    app.connect("source-read", with_charts)
    app.connect("html-page-context", with_scripts)
    app.connect("build-finished", bundle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
