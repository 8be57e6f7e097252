"""The book's reference has an entry for everything public, and its pages of measures show values that are right."""

import ast
import json
import re
import tomllib
from pathlib import Path

import polars as pl
import pytest
from browsing import chromium
from building import charts, measure_pages, rankings, reference, twins, versions
from building.docstrings import fields, markdown, paragraph
from sources import trees

import polars_ir as ir
from polars_ir import fusion, plots, spark
from polars_ir.cli import PROGRAMS
from polars_ir.cli.commands import COMMANDS
from polars_ir.files.formats import FORMATS
from polars_ir.language.dialects import parsed_name
from polars_ir.language.names import resolve
from polars_ir.language.options import options_of

ROOT = Path(__file__).resolve().parents[1]
MEASURES = [info for info in ir.CATALOG.values() if info.ours]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> str:
    """All pages of names, options, formats, commands and extras; those of measures are tested one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure_pages, "write", lambda _folder, _names: None)
        folder = tmp_path_factory.mktemp("reference")
        reference.write(folder)
    return "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("**/*.md"))


of_all_pages = pytest.mark.whole("writes all pages")


def entries(name: str, pages: str) -> int:
    """The number of entries of a name: an object of the Python domain, or a section."""
    found = re.escape(name.removeprefix("ir."))
    return len(re.findall(rf"^`{{5}}{{py:\w+}} polars_ir\.{found}\b(?!\.)|^## ir\.{found}$", pages, re.MULTILINE))


@of_all_pages
def test_every_public_name_has_one_entry(pages):
    measures = {info.function.__name__ for info in MEASURES}
    for name in set(ir.__all__) - measures:
        assert entries(f"ir.{name}", pages) == 1, name


@pytest.mark.parametrize("module", [fusion, ir.datasets, plots, spark], ids=lambda module: module.__name__)
@of_all_pages
def test_every_public_name_of_a_module_has_one_entry(module, pages):
    prefix = module.__name__.rpartition(".")[2]
    for name in module.__all__:
        entry = f"ir.{name}" if getattr(ir, name, None) is getattr(module, name) else f"ir.{prefix}.{name}"
        assert entries(entry, pages) == 1, name


@of_all_pages
def test_a_group_has_a_table_of_its_functions_and_a_function_a_page_with_types(pages):
    assert "| [`ir.compare`](#ir.compare) | " in pages
    assert "(ir.compare)=\n# compare\n\n```{index} !compare, !significance, " in pages
    assert "`````{py:function} polars_ir.compare(per_query: Table[FrameT], measures: Measures = None, *, " in pages


@of_all_pages
def test_every_chart_of_the_reference_is_drawn(pages):
    assert pages.count(f'<div class="{charts.CLASS}">') == len(plots.__all__)


@pytest.mark.parametrize("kind", reference.kinds_of_options())
@of_all_pages
def test_every_option_has_an_entry(kind, pages):
    for name, option in options_of(kind).items():
        entries = re.findall(rf"\(option\.\w+\.{name}\)=\n### {name}\n\nDefault `(.*)`; ", pages)
        assert repr(option.default) in entries


def test_the_kinds_of_options_are_those_that_calls_take():
    assert {"Evaluating", "Comparing", "Gating"} <= {kind.__name__ for kind in reference.kinds_of_options()}


@of_all_pages
def test_every_format_command_and_extra_has_an_entry(pages):
    entries = [f"(format.{each.name})=" for each in FORMATS]
    entries += [f"(command.{name})=" for name in [*(each.name for each in COMMANDS), *PROGRAMS]]
    entries += [f"(extra.{name})=" for name in EXTRAS]
    for entry in entries:
        assert f"{entry}\n" in pages, entry


@pytest.mark.filterwarnings("ignore:'P' alone")
def test_names_of_other_tools_stand_beside_the_columns_that_they_parse_to():
    page = measure_pages.by_tool(MEASURES)
    assert "| `ndcg_burges` | [nDCG(dcg='exp-log2')](#ir.ndcg) |" in page
    for of_tool in page.split("\n## ")[1:]:
        tool = "trec_eval " if of_tool.startswith("trec_eval") else ""
        for there, here in re.findall(r"\| `([^`#]+)` \| \[([^\]]+)\]", of_tool):
            info, *_ = parsed_name(resolve(tool + there)[0].name)
            assert info.name == re.match(r"\w+", here)[0], there


def test_there_is_a_formula_for_every_measure_and_for_no_other():
    assert measure_pages.FORMULAS.keys() == {info.name for info in MEASURES}


@pytest.mark.parametrize("info", MEASURES, ids=lambda info: info.name)
@pytest.mark.whole("a page a measure", quick=12)
def test_the_page_of_a_measure_is_whole(info):
    page = measure_pages.page(info, "", frozenset(ir.__all__))
    for part in ("```{math}", "## How it moves", "## Example", "## Parameters", "## Edge cases", "## In other tools"):
        assert part in page, part
    assert "::" not in page.partition("## How it moves")[0].replace("```{math}", "")
    assert page.rpartition("## Source")[2].strip()


def test_a_docstring_has_at_most_sixty_lines():
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                assert len((ast.get_docstring(node) or "").splitlines()) <= 60, (path.name, getattr(node, "name", ""))


def test_the_docstring_of_a_measure_has_a_formula_and_an_example():
    for info in MEASURES:
        written, _, example = info.function.__doc__.partition("Examples\n--------\n")
        assert "\n::\n\n    " in written, info.name
        assert "ir.evaluate(" in example or ".ir." in example, info.name


def test_the_picture_of_a_measure_shows_what_it_is_at_every_rank():
    course = rankings.course(ir.CATALOG["RR"]).pivot("document", index="rank", values="value")
    relevant = [1 / min(rank, 8) for rank in range(1, 21)]
    assert course["grades 1, 2, 3"].to_list() == relevant
    assert course["unjudged or grade 0"].to_list() == [1 / 9] * 8 + [1 / 8] * 12


def test_a_case_at_the_edge_shows_what_the_measure_is():
    cases = measure_pages.edge_cases(ir.CATALOG["P"])
    assert "| one document retrieved, the only relevant one | 0.1000 |" in cases
    assert "| no document is relevant | undefined" in cases


def test_text_of_a_docstring_keeps_what_markdown_would_take_for_marks():
    assert paragraph("a *b and <c> at https://x.org/y.", frozenset()) == r"a \*b and \<c> at <https://x.org/y>."
    assert paragraph("`evaluate` of k * R", frozenset({"evaluate"})) == "[`evaluate`](#ir.evaluate) of k * R"


def test_sections_of_a_docstring_become_lists_and_blocks():
    text = markdown(ir.condense, frozenset())
    assert "**Parameters**\n\n- **`run`**: " in text
    assert "```pycon\n>>> import polars_ir as ir" in text


def test_paragraphs_and_lists_of_a_field_stay_apart():
    text = "Returns\n-------\nA frame\n    - `a` (String);\n    - `b`, over\n      two lines.\n\n    Rows are sorted."
    body = fields(text.partition("-------\n")[2], frozenset(), "Returns")
    assert body == "- *A frame*:\n\n  - `a` (String);\n\n  - `b`, over two lines.\n\n  Rows are sorted."


def test_a_measure_is_found_by_its_names_in_other_tools():
    found = measure_pages.searched(ir.CATALOG["RR"])
    assert {"!mrr", "!recip_rank", "!mrr@k"} <= {name.lower() for name in re.findall(r"![^,\n]+", found)}


def test_a_chart_of_a_notebook_becomes_html_that_no_text_of_it_ends():
    pytest.importorskip("docutils")
    info = {"title": "</script><b>"}
    data = {"application/vnd.vegalite.v6+json": info, "image/svg+xml": ["<svg/>"], "text/plain": "[chart]"}
    cells = [{"source": "# Gallery"}, {"source": "## 1. A chart"}, {"source": "f()", "outputs": [{"data": data}]}]
    source = [json.dumps({"nbformat": 4, "cells": cells})]
    charts.with_charts(None, "gallery", source)
    first, thumbnails, _, code = json.loads(source[0])["cells"]
    assert first["source"] == "# Gallery"
    assert re.search('<a href="#a-chart"><img src="[^"]+" alt=""><span>A chart</span></a>', thumbnails["source"])
    shown = code["outputs"][0]["data"]["text/html"]
    assert shown.count("</script>") == 1
    assert shown.count("<img ") == 1


def test_pages_are_listed_in_the_order_of_reading():
    includes = {"index": ["chapters", "reference"], "chapters": ["first", "second"]}
    assert twins.reading_order(includes) == ["index", "chapters", "first", "second", "reference"]


def test_the_twin_of_a_notebook_has_its_code_and_what_it_shows_as_text(tmp_path):
    cells = [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Title"},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {},
            "execution_count": 1,
            "source": "1 + 1",
            "outputs": [
                {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": "2"}},
                {"output_type": "display_data", "metadata": {}, "data": {"image/png": "", "text/plain": "Chart"}},
            ],
        },
    ]
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    assert twins.markdown_of(path) == "# Title\n\n```python\n1 + 1\n```\n\n```text\n2\n[chart]\n```\n"


def test_versions_of_the_book_are_listed_the_newest_first_and_the_latest_final_one_is_preferred(tmp_path):
    for name in ("0.2.0", "0.10.0", "0.9.1", "0.11.0rc1", "assets"):
        (tmp_path / name).mkdir()
    (tmp_path / "1.0.0").touch()  # a file is no version
    versions.write(tmp_path, "https://x.org/book/")
    listed = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert [entry["version"] for entry in listed] == ["0.11.0rc1", "0.10.0", "0.9.1", "0.2.0"]
    assert [entry["version"] for entry in listed if entry["preferred"]] == ["0.10.0"]
    assert listed[1] == {
        "name": "0.10.0 (latest)",
        "version": "0.10.0",
        "url": "https://x.org/book/0.10.0/",
        "preferred": True,
    }
    assert 'url=0.10.0/"' in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_a_candidate_is_the_latest_version_until_there_is_a_final_one(tmp_path):
    (tmp_path / "0.3.0rc1").mkdir()
    (tmp_path / "0.3.0rc2").mkdir()
    versions.write(tmp_path, "https://x.org")
    assert json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))[0]["name"] == "0.3.0rc2 (latest)"


@pytest.mark.whole("it starts a browser")
def test_charts_of_the_book_are_as_wide_as_a_screen_has_room(tmp_path):
    vega = pytest.importorskip("vl_convert")
    frame = pl.DataFrame(
        {"run": [f"a system of a name, {n}" for n in range(3) for _ in range(20)], "query_id": [*range(20)] * 3}
    )
    frame = frame.with_columns(AP=pl.col("query_id") / 20, RR=pl.col("query_id") % 3 / 3)
    drawn = [plots.distribution(frame), plots.cutoffs({"q": ["d1", "d2"]}, {"q": ["d2"]}, k=[1, 2])]
    static = ROOT / "notebooks" / "_static"
    elements = "".join(charts.chart_html(chart.to_dict(), "<svg/>") for chart in drawn)
    style, script = ((static / name).read_text(encoding="utf-8") for name in ("book.css", "charts.js"))
    page = f"<!doctype html><meta charset='utf-8'><style>{style}</style>{elements}"
    page += f"<script>(() => {{ {vega.javascript_bundle()} }})();</script><script>{script}</script>"
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with chromium() as browser:
        for width in (390, 1280):
            opened = browser.new_page(viewport={"width": width, "height": 900})
            opened.goto((tmp_path / "page.html").as_uri())
            opened.locator(".vega-chart svg").nth(1).wait_for()
            room = opened.locator(".vega-chart").first.evaluate("element => element.clientWidth")
            widths = [float(svg.get_attribute("width")) for svg in opened.locator(".vega-chart svg").all()]
            assert max(widths) <= room < width
            assert (max(widths) == room) == (width == 390)
            size = opened.locator(".vega-chart svg text").first.evaluate("text => text.getBoundingClientRect().height")
            assert size >= 10
