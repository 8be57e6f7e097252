"""Two rankings of a query as a page."""

import shutil
import subprocess

import polars as pl
import pytest
from messages import message_of

import polars_ir as ir

A = {"q": ["d1", "d2", "d3", "d4"], "other": ["x"]}
B = {"q": ["d2", "d5", "d1"]}
QRELS = {"q": {"d1": 1, "d2": 0, "d5": 2, "d4": 1, "d9": 1}, "other": {"x": 1}}
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def test_the_page_has_both_rankings_down_to_the_cutoff_and_what_they_lack():
    rankings = ir.side_by_side(A, B, QRELS, "nDCG@3", "q", names=("old", "new")).content["rankings"]
    assert rankings["depth"] == 3
    documents = rankings["documents"]
    grades = dict(zip(documents["doc_id"], documents["relevance"], strict=True))
    assert grades == {"d1": 1, "d2": 0, "d3": None, "d4": 1, "d5": 2, "d9": 1}
    places = zip(*(rankings["places"][name] for name in ("run", "document", "rank")), strict=True)
    found = sorted((run, documents["doc_id"][document], rank) for run, document, rank in places)
    old = [(0, "d1", 1), (0, "d2", 2), (0, "d3", 3), (0, "d4", 4)]
    assert found == [*old, (1, "d1", 3), (1, "d2", 1), (1, "d5", 2)]


@pytest.mark.parametrize(
    ("measure", "query", "depth"), [("nDCG@3", "q", 1), ("RR", "other", "cutoff"), ("AP", "q", None)]
)
def test_the_figures_are_those_of_evaluate_at_any_depth(measure, query, depth):
    page = ir.side_by_side(A, B, QRELS, measure, query, depth=depth)
    runs = {"a": A, "b": B}
    values = dict(ir.evaluate(runs, QRELS, measure).filter(query_id=query).select("run", measure).iter_rows())
    assert dict(zip(page.content["summary"]["run"], page.content["summary"]["mean"], strict=True)) == pytest.approx(
        values
    )


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_a_browser_opens_the_query(tmp_path):
    texts = {"documents": {"d1": "<b>bold</b>"}, "queries": {"q": "what?"}}
    ir.side_by_side(A, B, QRELS, "RR", "q", **texts).write(tmp_path / "page.html")
    arguments = [
        "--headless",
        "--no-sandbox",
        "--virtual-time-budget=5000",
        "--dump-dom",
        (tmp_path / "page.html").as_uri(),
    ]
    shown = subprocess.run([BROWSER, *arguments], capture_output=True, encoding="utf-8", timeout=900, check=True).stdout  # noqa: S603  # our own page
    dialog = shown.partition("<dialog")[2]
    assert "open" in dialog.partition(">")[0]
    assert all(text in dialog for text in ("what?", "&lt;b&gt;bold", "d5"))


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (("q", QRELS), {"names": 3}, "names must be the names of both systems"),
        (("q", QRELS), {"names": "ab"}, "names must be the names of both systems"),
        (("q", QRELS), {"names": ("x", "x")}, "names must be the names of both systems"),
        ((["q", "other"], QRELS), {}, "must be one query here"),
        (("r", QRELS), {}, "'r' has no judgments"),
        (("q", None), {}, "side_by_side needs qrels"),
        (("q", QRELS), {"depth": 0}, "depth must be"),
        (("q", QRELS), {"ties": "expected"}, "ties must be an order of tied documents"),
    ],
)
def test_wrong_input_is_told(given, options, words):
    query, qrels = given
    assert words in message_of(lambda: ir.side_by_side(A, B, qrels, "RR", query, **options))


def test_runs_may_be_plans_and_ids_integers():
    run = pl.DataFrame({"query_id": [7, 7], "doc_id": ["d1", "d2"], "score": [2.0, 1.0]})
    page = ir.side_by_side(run.lazy(), run.lazy(), {7: {"d1": 1}}, "RR", 7)
    assert page.content["summary"]["mean"] == [1.0, 1.0]
    assert page.content["made"]["python"] == "ir.side_by_side(run_a, run_b, qrels, 'RR', 7)"


def test_two_systems_of_one_run_are_named_last():
    runs = ir.of({"new": B, "old": A})
    page = runs.side_by_side(QRELS, "nDCG@3", "q", "old", "new")
    wanted = ir.side_by_side(A, B, QRELS, "nDCG@3", "q", names=("old", "new"))
    assert page.content["rankings"] == wanted.content["rankings"]
    assert page.content["made"]["python"] == "runs.ir.side_by_side(qrels, 'nDCG@3', 'q', 'old', 'new')"
    assert runs.side_by_side(QRELS, "nDCG@3", "q", "old", "new", names=("x", "y")).content["summary"]["run"] == [
        "x",
        "y",
    ]
    assert "systems names 'now'" in message_of(lambda: runs.side_by_side(QRELS, "RR", "q", "old", "now"))
