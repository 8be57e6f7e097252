"""Two rankings of a query as a page."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from messages import message_of

import polars_ir as ir
from polars_ir.tables.side_by_side import side_by_side

A = {"q": ["d1", "d2", "d3", "d4"], "other": ["x"]}
B = {"q": ["d2", "d5", "d1"]}
QRELS = {"q": {"d1": 1, "d2": 0, "d5": 2, "d4": 1, "d9": 1}, "other": {"x": 1}}
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Rows(HTMLParser):
    """The rows of the table, each cell as its class and its text; and every tag there is."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows, self.tags, self.open = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "col":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append([dict(attrs).get("class", ""), ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1][1] += data


def test_rankings_stand_side_by_side_with_what_was_lost():
    parsed = Rows(side_by_side(A, B, QRELS, "nDCG@3", "q", names=("old", "new")))
    assert parsed.open == []
    heading, first, second, third, lost_heading, *lost = parsed.rows
    assert [text for _, text in heading] == ["", "old", "new"]
    assert [(kind, re.match("d[0-9]", text)[0]) for kind, text in first[1:]] == [("relevant", "d1"), ("judged", "d2")]
    assert [(kind, re.match("d[0-9]", text)[0]) for kind, text in third[1:]] == [("unjudged", "d3"), ("relevant", "d1")]
    assert "at 3 in new (higher here by 2)" in first[1][1]
    assert "not judged, not in new" in third[1][1]
    assert "grade 2, relevant, contributes" in second[2][1]
    assert "not in old" in second[2][1]
    assert lost_heading[1][1].startswith("Lost: ")
    assert [re.match("d[0-9]", text)[0] for row in lost for _, text in row[1:2]] == ["d4", "d5", "d9"]
    assert "here at 4" in lost[0][1][1]
    assert "not retrieved" in lost[1][1][1]


def test_the_values_are_those_of_evaluate():
    page = side_by_side(A, B, QRELS, "nDCG@3", "q")
    values = [ir.evaluate(run, QRELS, "nDCG@3").filter(query_id="q")["nDCG@3"].item() for run in (A, B)]
    assert f"nDCG@3: {values[0]:.4f} of a, {values[1]:.4f} of b" in page


def test_a_ranking_that_is_empty_is_shown_as_such():
    page = side_by_side(A, B, QRELS, "RR", "other")
    assert "RR: 1.0000 of a, 0.0000 of b" in page
    assert "not retrieved" in Rows(page).rows[-1][2][1]


EVIL = "<script>alert('x')</script> & \"q\" <b>"


def test_every_text_is_escaped():
    run, qrels = {EVIL: [EVIL, "d2"]}, {EVIL: {EVIL: 1}}
    texts = {"documents": {EVIL: EVIL, "d2": EVIL * 20}, "queries": {EVIL: EVIL}, "names": (EVIL, EVIL)}
    parsed = Rows(side_by_side(run, run, qrels, "RR", EVIL, **texts))
    assert set(parsed.tags) <= {"div", "style", "h3", "p", "table", "col", "tr", "th", "td", "b", "details", "summary"}
    assert parsed.tags.count("b") == 4
    assert EVIL in parsed.rows[1][1][1]
    assert parsed.rows[0][1][1] == EVIL


def test_a_long_text_opens_with_a_click_and_is_whole():
    text = " ".join(["word"] * 100)
    page = side_by_side(A, B, QRELS, "P@1", "q", documents={"d1": text}, queries={"q": "what?"})
    assert "<h3>q: what?</h3>" in page
    cell = Rows(page).rows[1][1][1]
    assert cell.endswith(text[:160] + "\N{HORIZONTAL ELLIPSIS}" + text[160:])


def test_notebooks_show_it_and_files_hold_it(tmp_path):
    page = side_by_side(A, B, QRELS, "RR", "q")
    assert page._repr_html_() == page
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert "src=" not in page
    assert "http" not in page


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_a_browser_shows_it(tmp_path):
    (tmp_path / "page.html").write_text(side_by_side(A, B, QRELS, "RR", "q"), encoding="utf-8")
    arguments = ["--headless", "--no-sandbox", "--dump-dom", (tmp_path / "page.html").as_uri()]
    shown = subprocess.run([BROWSER, *arguments], capture_output=True, text=True, timeout=900, check=True)  # noqa: S603  # our own page
    assert shown.stdout.count("<td") >= 9


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (("q", QRELS), {"names": 3}, "names must be the names of both systems"),
        (("q", QRELS), {"names": "ab"}, "names must be the names of both systems"),
        ((["q", "other"], QRELS), {}, "must be one query here"),
        (("r", QRELS), {}, "'r' has none"),
        (("q", None), {}, "side_by_side needs qrels"),
        (("q", QRELS), {"depth": 0}, "depth must be"),
        (("q", QRELS), {"ties": "expected"}, "ties must be an order of tied documents"),
    ],
)
def test_wrong_input_is_told(given, options, words):
    query, qrels = given
    assert words in message_of(lambda: side_by_side(A, B, qrels, "RR", query, **options))
