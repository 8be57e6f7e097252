"""The page of a report in a browser: it asks for nothing, does what it says, and everybody can read it.

`AXE` names the file `axe.min.js` of axe-core.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browsing import chromium

import polars_ir as ir
from polars_ir.errors import printable
from polars_ir.reports.report import report_of_change

pytestmark = pytest.mark.whole("it starts a browser")

PYDOCS = ir.datasets.load("pydocs")

#: What a browser could take for something else.
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "\u202egnp.exe\u2066",
    "nul\0 \x1b[31m",
    "=cmd()|'\"`",
    "<!-- ]]> ${alert(1)}",
    "\U0001f468\u200d\U0001f469 e\u0301" + "long" * 200,
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def report() -> Any:
    documents = {doc_id: f"What {doc_id} does. " * 40 for doc_id in PYDOCS.qrels["doc_id"].unique()}
    texts: Any = {"documents": documents, "queries": PYDOCS.queries}
    return ir.report(PYDOCS.runs, PYDOCS.qrels, ["nDCG@10", "RR"], **texts, by="category")


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """A report in the browser; whatever the page asks for, complains of or shows in a dialog fails the test."""
    noticed: list[str] = []

    def open_page(report: Any, width: int = 1280, charts: str = "#spread", address: str = "", **options: Any) -> Any:
        path = tmp_path / "report.html"
        report.write(path)
        options = {"viewport": {"width": width, "height": 900}, "reduced_motion": "reduce", **options}
        page = browser.new_context(**options).new_page()
        page.on("console", lambda message: noticed.append(message.text))
        page.on("pageerror", lambda error: noticed.append(str(error)))
        page.on("dialog", lambda dialog: noticed.append(dialog.message))
        page.on("request", lambda request: request.url.split("#")[0] == path.as_uri() or noticed.append(request.url))
        page.goto(f"{path.as_uri()}{address}")
        page.wait_for_selector(f"{charts} svg")
        return page

    yield open_page
    assert noticed == []


def open_query(row: Any) -> None:
    """Click a row once: a click that Playwright finds no proof of it repeats, by then on the open dialog."""
    row.click(force=True)
    row.page.wait_for_selector("dialog[open] .body")


def column(page: Any, number: int, table: str = "queries") -> list[str]:
    """The texts of a column."""
    return page.locator(f"[id^={table}-table] tbody tr > :nth-child({number})").all_inner_texts()


def test_the_page_shows_the_answer_and_every_part(opened, report):
    page = opened(report)
    assert page.locator("#sentences p").all_inner_texts() == report.content["answers"][0]
    assert page.locator("h2:visible").all_inner_texts() == [
        *("The answer", "Systems", "The largest drops", "What to doubt"),
        *("Charts", "Slices", "Queries", "How it was made"),
    ]
    assert page.locator("figure svg").count() == 4
    page.select_option("#measure", label="RR")
    assert page.locator("#sentences p").all_inner_texts() == report.content["answers"][1]


def test_the_largest_drops_name_the_evidence_they_lost_and_its_rank_now(opened):
    def ranked(*documents: str) -> list[str]:
        return [*documents, *(f"d{place}" for place in range(8))]

    queries = [f"q{number}" for number in range(12)]
    qrels: Any = {query: ["a", "b", "c"] for query in queries}
    old = {query: ranked("a", "b") for query in queries}
    new = old | {"q3": [*ranked()[:6], "a", "d6"], "q5": ranked("b")}
    page = opened(ir.report({"new": new, "old": old}, qrels, ["R@5"], baseline="old"))
    assert column(page, 1, "drops") == ["q3", "q5"]
    assert column(page, 2, "drops") == ["a: rank 7\nb: not retrieved\n1 in neither", "a: not retrieved\n1 in neither"]
    page.locator("#drops").get_by_role("button", name="q5").click()
    assert page.locator("#query-heading").inner_text() == "q5"


def test_systems_are_sorted_by_their_headings(opened, report):
    page = opened(report)
    assert column(page, 1, "systems") == ["bm25", "chargrams", "tfidf"]
    mean = page.locator("#systems-table thead button", has_text="nDCG@10").first
    mean.click()
    mean = page.locator("#systems-table thead button", has_text="nDCG@10").first
    mean.press("Enter")
    assert column(page, 4, "systems") == ["0.2637", "0.2794", "0.3234"]
    assert page.locator("#systems-table th[aria-sort=ascending]").inner_text().startswith("nDCG@10")
    assert page.evaluate("document.activeElement.textContent") == "nDCG@10"


def test_queries_are_searched_filtered_and_sorted(opened, report):
    page = opened(report)
    page.fill("#search", "WORD occurs")
    assert column(page, 1) == ["q02"]
    page.fill("#search", "")
    counts = dict(zip(("won", "tied", "lost"), (51, 19, 26), strict=True))
    for name, count in counts.items():
        page.select_option("#filter", name)
        assert page.locator("#found").inner_text().startswith(f"{count} of 96 queries")
    page.select_option("#filter", "all")
    page.locator("#queries-table thead button", has_text="Query").click()
    assert column(page, 1)[:2] == ["q01", "q02"]
    page.get_by_role("button", name="Next").click()
    assert column(page, 1)[0] == "q51"
    page.get_by_role("button", name="dates").click()
    assert set(column(page, 3)) == {"dates"}


def test_a_system_that_is_chosen_is_chosen_everywhere(opened, report):
    page = opened(report)
    page.locator("#systems-table").get_by_role("button", name="tfidf").click()
    assert page.locator("#system").input_value() == "2"
    assert page.locator("#differences h3").inner_text() == "Differences by nDCG@10, tfidf less chargrams"
    assert page.locator("#queries-table thead th").nth(3).inner_text().startswith("tfidf")
    page.locator("#cutoffs text.name", has_text="bm25").click()
    assert page.locator("#pair").inner_text().startswith("bm25 against chargrams by nDCG@10: +0.0440")
    page.locator("#differences .touched").click(position={"x": 2, "y": 50}, force=True)
    assert page.locator("#query-heading").inner_text() == column(page, 1)[0]


def test_an_address_opens_what_was_chosen_when_it_was_sent(opened, report):
    page = opened(report)
    assert "#" not in page.url
    page.select_option("#measure", label="RR")
    page.select_option("#system", label="tfidf")
    page.select_option("#filter", "lost")
    page.select_option("#slice", '["category","files"]')
    page.fill("#search", "file")
    open_query(page.locator("#queries-table tbody tr").nth(1))
    page.wait_for_url("**query=**")
    heading, address = page.locator("#query-heading").inner_text(), page.evaluate("location.hash")
    again = opened(report, address=address)
    assert again.locator("#query-heading").inner_text() == heading
    for id in ("measure", "system", "other", "filter", "slice", "search"):
        assert again.locator(f"#{id}").input_value() == page.locator(f"#{id}").input_value(), id
    assert again.locator("#found").inner_text() == page.locator("#found").inner_text()
    again.keyboard.press("Escape")
    again.wait_for_url(lambda url: "query=" not in url)
    assert again.locator("#differences .here").count() == 0
    again.evaluate("location.hash = '#query=q02&system=bm52'")
    again.wait_for_selector("dialog[open]")
    assert again.locator("#query-heading").inner_text() == "q02"
    assert again.locator("#unknown").inner_text() == "The address asks for what this report does not have: bm52."
    assert again.locator("#measure").input_value() == "0"


def test_a_narrow_screen_has_difference_and_p_first_and_tells_what_is_beyond_it(opened, report):
    page = opened(report, 390)
    headings = page.locator("#systems-table thead th").all_inner_texts()
    assert [" ".join(heading.split()) for heading in headings[:3]] == ["System", "Difference from bm25", "p, corrected"]
    p = page.locator("#systems-table thead th").nth(2).bounding_box()
    assert p["x"] + p["width"] <= 390
    cue = page.locator("#systems-table .cue")
    assert cue.inner_text().endswith("columns to the right \u2192")
    page.locator("#systems-table .wide").evaluate("table => table.scrollTo(table.scrollWidth, 0)")
    page.locator("#systems-table .cue", has_text="to the left").wait_for()
    wide = opened(report)
    assert not wide.locator("#systems-table .cue").is_visible()
    assert wide.locator("#systems-table thead th").nth(1).inner_text().startswith("Rank")


def test_notes_on_verdicts_stand_below_their_table_on_a_narrow_screen(opened):
    few = pl.col("query_id") <= "q60"
    per_query = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, "nDCG@10").filter(few)
    new, old = (per_query.filter(run=run).drop("run") for run in ("tfidf", "bm25"))
    verdicts = ir.gate(new, old)
    report = report_of_change(new, old, None, verdicts, {"documents": None, "queries": None})
    for width, below in ((390, 1), (1280, 0)):
        page = opened(report, width)
        headings = page.locator("#verdicts thead th").all_inner_texts()
        assert headings[:2] == ["Measure", "Verdict"]
        assert ("Note" in headings) == (not below)
        assert page.locator("#verdicts p.note:not(.cue)").count() == below
        assert verdicts["note"].item() in page.locator("#verdicts").inner_text()
        p = column_of(page, "verdicts", "p of a drop")
        assert [float(text) for text in p] == [round(verdicts["p"].item(), 4)]


def column_of(page: Any, table: str, heading: str) -> list[str]:
    """The texts of the column under a heading."""
    headings = [" ".join(text.split()) for text in page.locator(f"#{table} thead th").all_inner_texts()]
    return page.locator(f"#{table} tbody tr > :nth-child({headings.index(heading) + 1})").all_inner_texts()


def test_a_list_of_relevant_documents_is_told_once(opened):
    qrels = PYDOCS.qrels.filter(pl.col("relevance") > 0)
    page = opened(ir.report(PYDOCS.runs, qrels, ["nDCG@10"]))
    assert page.locator("#findings").inner_text().count("list relevant documents and no others") == 1
    assert "unjudged" not in page.locator("#queries").inner_text()
    assert page.locator("#filter option[value=unjudged]").count() == 0
    open_query(page.locator("#queries-table tbody tr").first)
    assert "not listed" in page.locator(".sides").inner_text()
    assert "not judged" not in page.locator(".sides").inner_text()


def test_slices_are_drawn_and_choose_their_queries(opened, report):
    page = opened(report)
    drawn = page.locator("#slices .slice")
    means = ir.summarize(
        ir.evaluate(PYDOCS.runs, PYDOCS.qrels, "nDCG@10"), by=PYDOCS.queries.select("query_id", "category")
    )
    files = means.filter(run="chargrams", category="files").row(0, named=True)
    titles = drawn.filter(has_text="files").locator("title").all_text_contents()
    assert f"chargrams: {files['mean']:.4f} ({files['low']:.4f} to {files['high']:.4f})" in titles
    drawn.filter(has_text="files").locator(".touched").click(position={"x": 5, "y": 5})
    assert page.locator("#slice").input_value() == '["category","files"]'
    assert page.locator("#found").inner_text().startswith(f"{files['n_queries']} of 96 queries")
    assert page.locator("#slices tr.chosen th").inner_text() == "files"
    assert drawn.filter(has_text="files").locator(".marked").count() == 1
    page.locator("#slices .slice .other").first.click()
    assert page.locator("#system").input_value() == "2"


def test_slices_have_the_sign_of_the_pair_and_the_worst_are_beyond_chance(opened):
    per_query = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, "nDCG@10")
    both = per_query.pivot("run", index="query_id", values="nDCG@10").sort(pl.col("bm25") - pl.col("tfidf"), "query_id")
    by = both.select("query_id", kind=pl.Series(["a"] * 20 + ["b", "c"] * 38))
    page = opened(ir.report(PYDOCS.runs, PYDOCS.qrels, ["nDCG@10"], baseline="tfidf", by=by))
    compared = ir.compare(per_query, baseline="tfidf", by=by).filter(run="bm25").sort("kind")["difference"]
    worst = ir.worst_slices(per_query, by, baseline="tfidf").filter(run="bm25").sort("value")
    beyond = [row["difference"] if row["significant"] else None for row in worst.iter_rows(named=True)]
    assert 0 < len([figure for figure in beyond if figure is not None]) < 3
    for system, sign in (("bm25", 1), ("tfidf", -1)):
        page.select_option("#system", label=system)
        for number, wanted in ((5, compared), (7, beyond)):
            shown = ["\u2013" if figure is None else f"{sign * figure:+.4f}" for figure in wanted]
            assert column(page, number, "slices") == [text.replace("-", "\N{MINUS SIGN}") for text in shown]
    of_category = PYDOCS.queries.select("query_id", "category")
    plain = opened(ir.report(PYDOCS.runs, PYDOCS.qrels, ["nDCG@10"], by=of_category))
    assert plain.locator("#slices-tables thead th").count() == 6


def test_the_keyboard_does_it_all(opened, report):
    page = opened(report)
    page.keyboard.press("/")
    page.keyboard.type("list")
    page.keyboard.press("Tab")
    page.locator("#queries-table tbody tr").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "End", "Home", "ArrowDown"):
        page.keyboard.press(key)
    second = column(page, 1)[1]
    assert page.evaluate("document.activeElement.firstChild.textContent") == second
    page.keyboard.press("Enter")
    assert page.locator("#query-heading").inner_text() == second
    page.keyboard.press("ArrowRight")
    assert page.locator("#query-heading").inner_text() == column(page, 1)[2]
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    assert page.evaluate("document.activeElement.matches('#queries-table tr')")


def test_rankings_stand_side_by_side(opened, report):
    page = opened(report)
    page.fill("#search", "q01")
    open_query(page.locator("#queries-table tbody tr"))
    assert page.locator(".sides h3").all_inner_texts()[0] == "bm25"
    explained = ir.explain(PYDOCS.runs, PYDOCS.qrels, "nDCG@10", "q01").filter(run="bm25")
    shown = page.locator(".sides > div").first.locator("ol .strong").all_inner_texts()
    assert shown == explained.filter(pl.col("rank") <= 10)["doc_id"].to_list()
    first = page.locator(".sides li").first
    assert first.get_attribute("class") == "relevant"
    assert "grade 3, relevant, contributes 0.6577, at 1 in chargrams" in first.inner_text()


def test_a_document_further_down_than_is_looked_up_is_not_called_absent(opened):
    documents = [f"d{place}" for place in range(150)]
    runs = {"a": {"q": documents, "r": ["d1"]}, "b": {"q": documents[::-1], "r": ["d2", "d1"]}}
    page = opened(ir.report(runs, {"q": {"d3": 1, "x": 0}, "r": {"d1": 1}}, ["nDCG@10"]))
    open_query(page.locator("#queries-table tbody tr", has_text="q"))
    first = page.locator(".sides > div").first.locator("ol .remarks").all_inner_texts()
    assert first[0] == "not judged, not among the first 100 of b"
    assert first[3] == "grade 1, relevant, contributes 0.4307, at 147 in b, \u2191\u2009143 here, gained"
    page.keyboard.press("Escape")
    open_query(page.locator("#queries-table tbody tr", has_text="r"))
    assert page.locator(".sides > div").last.locator("ol .remarks").first.inner_text() == "not judged, not in a"


def test_the_first_rows_open_with_rankings(opened, report):
    page = opened(report)
    for heading, falls in (("Difference", "descending"), ("Difference", "ascending")):
        if falls == "ascending":
            page.locator("#queries-table thead button", has_text=heading).click()
        assert page.locator("#queries-table th[aria-sort]").get_attribute("aria-sort") == falls
        open_query(page.locator("#queries-table tbody tr").first)
        assert page.locator("dialog .sides").count() == 1
        page.keyboard.press("Escape")


def test_long_names_that_begin_and_end_alike_are_told_apart(opened):
    names = [f"experiments/2026-11-24/cross-encoder-over-bm25-k{k}-top-1000.run.gz" for k in (10, 60)]
    runs = PYDOCS.runs.filter(pl.col("run") != "tfidf").with_columns(
        pl.col("run").replace(["bm25", "chargrams"], names)
    )
    page = opened(ir.report(runs, PYDOCS.qrels, ["RR"]))
    shown = page.locator("#spread .legend bdi").all_inner_texts()
    assert shown == ["\u202625-k10-top-1000", "\u202625-k60-top-1000"]
    assert page.locator("#systems-table tbody th").all_inner_texts() == names
    assert page.locator("#spread .legend bdi").first.get_attribute("title") == names[0]


def test_hostile_texts_change_nothing(opened):
    queries = [f"{text}{number}" for number, text in enumerate(HOSTILE)]
    queries[-1] += "x" * 100_000
    runs = {text: {query: [f"{text}d{i}" for i in range(3)] for query in queries} for text in HOSTILE}
    qrels = {query: {f"{text}d1": 1 for text in HOSTILE} for query in queries}
    texts = {query: text * 3 for query, text in zip(queries, HOSTILE, strict=True)}
    documents = {f"{text}d{i}": text + "x" * 10_000_000 * (i == 0) for text in HOSTILE for i in range(3)}
    slices = pl.DataFrame({"query_id": queries, HOSTILE[1]: [HOSTILE[n % 2] for n in range(len(queries))]})
    report = ir.report(runs, qrels, ["RR"], queries=texts, documents=documents, by=slices)
    page = opened(report)
    assert set(page.locator("#systems-table bdi").all_text_contents()) >= set(map(printable, HOSTILE))
    for query in range(len(queries)):
        open_query(page.locator("#queries-table tbody tr").nth(query))
        heading = page.locator("#query-heading").text_content()
        assert len(heading) < 3000
        assert any(printable(query).startswith(heading[:900]) for query in queries)
        page.keyboard.press("Escape")
    assert page.locator("script").count() == 1
    assert page.locator("img, a[href^=javascript]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert len(page.content()) < 1_000_000


@pytest.mark.parametrize("width", [390, 1280, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(opened, report, width, scheme):
    if not (axe := os.environ.get("AXE")):
        pytest.skip("AXE names no axe.min.js")
    page = opened(report, width, color_scheme=scheme)
    page.evaluate(f"{Path(axe).read_text(encoding='utf-8')};0")
    assert violations(page) == []
    open_query(page.locator("#queries-table tbody tr").first)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def violations(page: Any) -> list[tuple[str, list[str]]]:
    """The faults that axe-core finds, with their places."""
    found = page.evaluate("axe.run()")["violations"]
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]


def test_it_is_printed_dark_and_still(opened, report):
    light = opened(report, color_scheme="light").evaluate("getComputedStyle(document.body).backgroundColor")
    dark = opened(report, color_scheme="dark", reduced_motion="reduce")
    assert dark.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert dark.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    dark.emulate_media(media="print")
    assert dark.evaluate("getComputedStyle(document.body).backgroundColor") == light
    assert not dark.locator("#controls").is_visible()
    assert dark.pdf().startswith(b"%PDF")


def test_a_system_alone_has_a_page(opened):
    page = opened(ir.report(PYDOCS.runs.filter(run="bm25"), PYDOCS.qrels, ["RR"], n_queries=0))
    assert not page.locator("#system").is_visible()
    assert page.locator("figure:visible").count() == 2
    open_query(page.locator("#queries-table tbody tr").first)
    assert "has figures, and no rankings" in page.locator("dialog").inner_text()


def test_a_query_alone_has_no_charts_of_queries(opened):
    qrels = PYDOCS.qrels.filter(query_id="q01")
    page = opened(ir.report(PYDOCS.runs.filter(query_id="q01"), qrels, ["nDCG@10"]), charts="#cutoffs")
    assert page.locator("figure:visible").count() == 1
    open_query(page.locator("#queries-table tbody tr"))
    assert page.locator("dialog .sides").is_visible()


def test_a_notebook_shows_it_in_a_frame(browser, report):
    page = browser.new_page()
    page.set_content(report._repr_html_())
    frame = page.frame_locator("iframe")
    frame.locator("main:not([hidden])").wait_for()
    assert frame.locator("#sentences p").all_inner_texts() == report.content["answers"][0]
