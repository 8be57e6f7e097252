"""A report holds the figures of the functions it is made of; its answer says what they say, whatever data hold."""

import json
import re
import sys
import zlib
from base64 import b64decode, b64encode
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

import numpy as np
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.reports.answer import HIDDEN, answer, figures
from polars_ir.reports.experiment import order_of
from polars_ir.reports.page import page
from polars_ir.reports.rankings import kept
from polars_ir.reports.report import Report, report_of_change

PYDOCS = ir.datasets.load("pydocs")
MEASURES = ["nDCG@10", "RR"]
REPORT = ir.report(PYDOCS.runs, PYDOCS.qrels, MEASURES, queries=PYDOCS.queries, by="category", n_queries=6)

#: What pages, terminals, spreadsheets and Markdown could take for something else.
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "\u202egnp.exe\u2066",
    "nul\0 and \x1b[31m",
    "=cmd()|@team #1 `x` **b** [l](http://a.example)",
    "]]> <!-- ${x} $content {{x}}",
    "\U0001f600 e\u0301",
]


def read(text: str, name: str) -> bytes:
    """The content of a page under a name."""
    return zlib.decompress(b64decode(re.search(rf'id="{name}">(.*?)</script>', text)[1]))


def small(n_queries: int = 4, systems: tuple[str, ...] = ("a", "b")) -> tuple[dict, dict]:
    """Runs, of which each is worse than the one before, and their judgments."""
    queries = [f"q{i}" for i in range(n_queries)]
    qrels = {query: {"d0": 2, "d1": 1, "d2": 0} for query in queries}
    order = ["d0", "d1", "d2", "d3", "d4", "d5"]
    runs = {
        system: {query: (order[-place * (n % 3 > 0) - place :] + order)[:5] for n, query in enumerate(queries)}
        for place, system in enumerate(systems)
    }
    return runs, qrels


def test_every_figure_of_the_page_is_that_of_the_function_it_comes_from():
    text = page(REPORT.content, REPORT.figures)
    content = json.loads(read(text, "content"))
    assert content == json.loads(json.dumps(REPORT.content))
    per_query = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, [*MEASURES, "NumRet", "unj@10"])
    values = np.frombuffer(read(text, "figures"), "<f8").reshape(4, 3, 96)
    assert content["counts"] == ["NumRet", "unj@10"]
    for place, system in enumerate(content["systems"]):
        of_system = per_query.filter(run=system).sort("query_id")
        assert of_system["query_id"].to_list() == content["queries"]["ids"]
        assert (values[:, place] == of_system.select(*MEASURES, "NumRet", "unj@10").to_numpy().T).all()
    figures = per_query.select("run", "query_id", *MEASURES)
    # The interval beside a corrected p is that of all pairs; a pair is shown from either side.
    pairs = ir.compare(figures).with_columns(low="simultaneous_low", high="simultaneous_high", note=None)
    for part, frame in (
        ("summary", ir.summarize(figures)),
        ("ranks", ir.ranks(figures)),
        ("pairs", pairs),
    ):
        assert content[part] == frame.select(*content[part]).to_dict(as_series=False), part


def test_the_first_measure_is_drawn_at_its_cutoffs():
    drawn = pl.DataFrame(REPORT.content["cutoffs"]["rows"])
    wanted = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["nDCG@3", "nDCG@100"]).ir.mean()
    for k in (3, 100):
        assert drawn.filter(k=k).select("run", "mean").sort("run").rows() == wanted.select("run", f"nDCG@{k}").rows()
    of_five = ir.report(*small(), ["AP"]).content["cutoffs"]
    assert (of_five["measure"], sorted(set(of_five["rows"]["k"]))) == ("AP", [1, 3, 5])  # the end of the rankings
    assert ir.report(*small(), ["bpref"]).content["cutoffs"] is None
    assert ir.report({"q": ["d1"]}, {"q": {"d1": 1}}, ["RR"]).content["cutoffs"] is None


def test_rankings_of_the_page_are_those_of_explain():
    rankings = REPORT.content["rankings"]
    assert (rankings["measure"], rankings["depth"], len(rankings["queries"])) == ("nDCG@10", 10, 6)
    documents = pl.DataFrame(rankings["documents"]).with_row_index("document")
    places = pl.DataFrame(rankings["places"]).join(documents, on="document")
    explained = ir.explain(PYDOCS.runs, PYDOCS.qrels, "nDCG@10", rankings["queries"])
    names = pl.DataFrame({"run": range(3), "system": REPORT.content["systems"]}, schema_overrides={"run": pl.UInt32})
    found = places.cast({"run": pl.UInt32}).join(names, on="run").filter(pl.col("rank") <= 10)
    columns = ["rank", "doc_id", "relevance", "contribution"]
    wanted = explained.filter(pl.col("rank") <= 10).rename({"run": "system"}).select("system", "query_id", *columns)
    assert (
        found.select(wanted.columns)
        .cast(wanted.schema)
        .sort(wanted.columns[:3])
        .equals(wanted.sort(wanted.columns[:3]))
    )


@pytest.mark.whole("each makes a report", quick=1)
@pytest.mark.parametrize("baseline", ["bm25", None])
def test_rankings_are_kept_of_the_queries_in_which_the_pair_differs_most(baseline):
    content = ir.report(PYDOCS.runs, PYDOCS.qrels, MEASURES, baseline=baseline, n_queries=20).content
    pair = [content["systems"][place] for place in content["pair"]]
    assert pair == (["bm25", "chargrams"] if baseline is None else ["chargrams", "bm25"])
    per_query = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, MEASURES[:1])
    ours, theirs = (per_query.filter(run=system).sort("query_id") for system in pair)
    apart = ours.select("query_id", difference=pl.col("nDCG@10") - theirs["nDCG@10"]).sort("difference", "query_id")
    assert {*apart["query_id"].head(4), *apart["query_id"].tail(4)} <= set(content["rankings"]["queries"])


def test_figures_that_differ_are_not_rounded_to_equal():
    assert figures([0.45721, 0.45719, None]) == ["0.45721", "0.45719", "\N{EN DASH}"]
    assert figures([0.1 + 0.2, 0.3, 1 / 3]) == ["0.3000", "0.3000", "0.3333"]
    assert figures([0.00001, -0.25], signed=True) == ["+1.0e\N{MINUS SIGN}05", "\N{MINUS SIGN}0.2500"]
    new, old = (pl.DataFrame({"query_id": ["q", "r"], "AP": [value, 0.2]}) for value in (0.45719, 0.45722))
    texts = {"documents": None, "queries": None}
    comment = report_of_change(new, old, None, ir.gate(new, old, ["AP"]), texts).markdown()
    assert "| <code>q</code> | 0.45719 | 0.45722 | \N{MINUS SIGN}3.0e\N{MINUS SIGN}05 |" in comment


def test_the_answer_is_that_of_ranks_and_compare():
    answers = dict(zip(MEASURES, REPORT.content["answers"], strict=True))
    assert answers["nDCG@10"] == [
        (
            "bm25 is first by nDCG@10, with a mean of 0.3234 over 96 queries, better than each of the 2 others beyond "
            "chance (paired t-test, Holm's correction for all pairs, level 0.05)."
        ),
        "bm25 is better than the second, chargrams, in 51 of 96 queries, worse in 26 and equal in 19.",
    ]
    assert "and chargrams is tied with it: its difference is not beyond chance" in answers["RR"][0]
    compared = ir.compare(ir.evaluate(PYDOCS.runs, PYDOCS.qrels, "RR")).filter(baseline="bm25")
    assert dict(compared.select("run", "significant").rows()) == {"chargrams": False, "tfidf": True}


def found_of(rows: list[tuple[str, float, int]], pairs: list[tuple]) -> dict:
    """Ranks and comparisons as a report has them."""
    ranks = {"run": [r for r, *_ in rows], "mean": [m for _, m, _ in rows], "rank": [p for *_, p in rows]}
    n = {"measure": ["AP"] * len(rows), "n_queries": [9] * len(rows), "tied_with_first": [r != "d" for r, *_ in rows]}
    names = ("run", "baseline", "difference", "p", "significant")
    columns = {name: [pair[i] for pair in pairs] for i, name in enumerate(names)}
    others = {"low": -1.0, "high": 1.0, "wins": 5, "ties": 1, "losses": 3, "n_queries": 9, "measure": "AP"}
    against = {**columns, **{name: [value] * len(pairs) for name, value in others.items()}}
    return {"ranks": {**ranks, **n}, "pairs": against, "against": against, "summary": None}


@pytest.mark.parametrize(
    ("rows", "pairs", "sentence"),
    [
        (
            [("a", 0.5, 1), ("b", 0.4, 2)],
            [("b", "a", -0.1, 0.2, False)],
            (
                "a is first by AP, with a mean of 0.5000 over 9 queries, but no other system differs from it beyond "
                "chance (paired t-test, level 0.05)."
            ),
        ),
        (
            [("a", 0.5, 1), ("b", 0.5, 1), ("c", 0.2, 3)],
            [("b", "a", 0.0, None, None), ("c", "a", -0.3, 0.01, True), ("c", "b", -0.3, 0.01, True)],
            (
                "a and b are first by AP together, with a mean of 0.5000 over 9 queries, and c differs beyond chance "
                "(paired t-test, Holm's correction for all pairs, level 0.05)."
            ),
        ),
        (
            [("a", 0.5, 1), ("b", 0.4, 2), ("c", 0.2, 3)],
            [("a", "b", 0.1, None, None), ("a", "c", 0.3, 0.3, False), ("b", "c", 0.2, 0.01, True)],
            (
                "a is first by AP, with a mean of 0.5000 over 9 queries, and c is tied with it: its difference is not "
                "beyond chance (paired t-test, Holm's correction for all pairs, level 0.05), b could not be tested "
                "against it."
            ),
        ),
        (
            [("a", 0.5, 1), ("b", 0.4, 2), ("d", 0.2, 3)],  # b is better than d
            [("a", "b", 0.1, 0.2, False), ("a", "d", 0.3, 0.3, False), ("b", "d", 0.2, 0.01, True)],
            (
                "a is first by AP, with a mean of 0.5000 over 9 queries, and b is tied with it: its difference is not "
                "beyond chance (paired t-test, Holm's correction for all pairs, level 0.05)."
            ),
        ),
    ],
)
def test_the_answer_tells_ties_and_what_was_not_tested(rows, pairs, sentence):
    first, second = answer(found_of(rows, pairs), "AP", None)
    assert first == sentence
    turned = (pairs[0][0], pairs[0][1]) == ("b", "a")
    assert second.endswith(
        "3 of 9 queries, worse in 5 and equal in 1." if turned else "5 of 9 queries, worse in 3 and equal in 1."
    )


def test_a_baseline_is_what_differences_are_from():
    content = ir.report(*small(), ["RR"], baseline="b").content
    assert content["answers"][0][1] == (
        "a is better than the baseline b beyond chance: it is better in 4 of 4 queries, worse in 0 and equal in 0."
    )
    assert content["against"]["baseline"] == ["b"]
    assert content["pair"] == [0, 1]
    of_worst = ir.report(*small(), ["RR"], baseline="a").content
    assert of_worst["answers"][0][1].startswith("b is worse than the baseline a beyond chance: it is better in 0 of 4 ")
    assert of_worst["pair"] == [1, 0]


def test_a_system_without_letters_is_named_in_quotes_and_compared_like_any_other():
    runs, qrels = small()
    report, named = (ir.report({"a": runs["a"], b: runs["b"]}, qrels, ["RR"], baseline=b) for b in ("", "b"))
    assert report.content["answers"][0][1] == named.content["answers"][0][1].replace("baseline b", 'baseline ""')
    assert report.markdown() == named.markdown().replace("<code>b</code>", "<code>&#34;&#34;</code>")


def test_a_measure_under_the_name_of_another_is_none_the_less_itself():
    runs, qrels = small()
    content = ir.report(runs, qrels, [ir.precision(k=2, rel=2).alias("P@5")]).content
    means = dict(zip(content["summary"]["run"], content["summary"]["mean"], strict=True))
    assert means == dict(ir.evaluate(runs, qrels, "P(rel=2)@2").ir.mean().rows())
    assert dict(pl.DataFrame(content["cutoffs"]["rows"]).filter(k=2).select("run", "mean").rows()) == means
    assert {run: means[run] for run in content["doubts"]["bounds"]["run"]} == dict(
        zip(content["doubts"]["bounds"]["run"], content["doubts"]["bounds"]["mean"], strict=True)
    )
    assert set(content["rankings"]["places"]["contribution"]) == {0.0, 0.5}
    assert content["made"]["python"] == "ir.report(runs, qrels, measures)"
    # Their names are those of others which would be drawn and counted.
    content = ir.report(
        runs, qrels, [ir.ndcg(k=1).alias("nDCG@3"), ir.precision(k=1).alias("NumRet")], n_queries=0
    ).content
    assert (content["cutoffs"], content["counts"]) == (None, [])


def test_a_measure_in_the_words_of_a_tool_and_a_count_are_reported_like_others():
    runs, qrels = small(2)
    qrels["q0"] = dict.fromkeys(qrels["q0"], 0)  # which such a tool counts 1, whatever is retrieved
    report = ir.report(runs, qrels, ["xgboost map@7", "NumRet"], n_queries=2)
    content, names = report.content, ["XGBoost map@7", "NumRet"]
    drawn = pl.DataFrame(content["cutoffs"]["rows"])
    assert sorted(set(drawn["k"])) == [1, 3, 5, 7]  # its own beyond the end of the rankings
    assert drawn.filter(k=3).select("run", "mean").rows() == ir.evaluate(runs, qrels, "XGBoost map@3").ir.mean().rows()
    assert (content["rankings"]["measure"], content["rankings"]["depth"]) == (names[0], 7)
    assert content["doubts"]["bounds"]["mean"]
    assert content["made"]["python"] == f"ir.report(runs, qrels, {names}, n_queries=2)"
    per_query = ir.evaluate(runs, qrels, [*names, "unj@10"]).sort("run", "query_id")
    values = [value for name in (*names, *content["counts"]) for value in per_query[name]]
    assert np.frombuffer(report.figures, "<f8").tolist() == values


def test_the_comment_has_the_largest_drop_where_queries_lack_a_value():
    order = ["d1", "d2", "d3", "d4"]
    runs = {"a": {f"q{n}": order for n in (0, 2, 3, 5)}, "b": {f"q{n}": order for n in (0, 1, 3, 4, 5)}}
    runs["b"]["q5"], runs["a"]["q3"] = order[::-1], order[1:]
    qrels = {f"q{n}": ["d1" if n else "d4"] for n in range(6)}
    comment = ir.report(runs, qrels, ["RR"], missing="skip", baseline="b", n_queries=0).markdown()
    assert "<code>q3</code>" in comment.partition("The largest drops of <code>a</code>")[2]


def test_rankings_are_kept_where_costs_differ_most():
    values = {"query_id": ["p", "p", "q", "q"], "run": ["a", "b"] * 2, "Hole@10": [0.5, 0.4, 0.9, 0.0]}
    assert kept(pl.DataFrame(values), "Hole@10", ["a"], 1) == ["q"]
    equal_in_p = {"query_id": ["p", "p", "q", "q"], "run": ["a", "b"] * 2, "RR": [0.1 + 0.2, 0.3, 0.1, 0.5]}
    assert kept(pl.DataFrame(equal_in_p), "RR", ["a", "b"], 1) == ["q"]


def test_systems_of_equal_means_stand_by_name():
    values = {"run": ["a", "a", "b", "b"], "query_id": ["p", "q"] * 2, "RR": [0.3, 0.0, 0.1, 0.2]}
    assert order_of(pl.DataFrame(values), "RR") == ["a", "b"]


def test_a_measure_of_ones_own_is_shown_as_it_is_called():
    measure = ir.rank.max().fill_null(0).alias("<b>\u202edeep")
    report = ir.report(*small(), [measure], n_queries=0)
    assert "first by <b>\\u202edeep, with" in report.content["answers"][0][0]
    assert "<b>" not in report.markdown()


def test_a_measure_of_ones_own_says_what_is_taken_for_better():
    deepest = ir.rank.max().fill_null(0).alias("deepest")
    sentences, of_catalogue = ir.report(*small(), [deepest, "RR"], n_queries=0).content["answers"]
    assert sentences[-1].startswith("A higher value of deepest is taken for a better one")
    assert not any("taken for" in sentence for sentence in of_catalogue)


def test_a_system_alone_is_summarized():
    runs, qrels = small()
    (sentence,) = ir.report(runs["a"], qrels, ["RR"]).content["answers"][0]
    assert sentence.startswith("run has a mean RR of 1.0000 over 4 queries, with a 95 % interval from ")


def test_the_page_asks_for_nothing_and_runs_what_is_its_own():
    text = page(REPORT.content, REPORT.figures)
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text)[1]
    (script,), (style,) = (re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL) for tag in ("script", "style"))
    for of_it in (script, style):
        assert f"'sha256-{b64encode(sha256(of_it.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not re.search(
        r"\b(?:https?:|src=|href=[^\"]*[^#\"]|import\b|fetch\()",
        text.replace('href="#queries"', "").replace("http://www.w3.org/2000/svg", ""),
    )
    assert len(text.replace(re.search(r'id="content">(.*?)<', text)[1], "")) < 1_500_000


def hostile_report() -> Report:
    queries = [f"{text}{number}" for number, text in enumerate(HOSTILE)]
    runs = {text: {query: [f"{text}d{i}" for i in range(3)] for query in queries} for text in HOSTILE[:3]}
    qrels = {query: {**{f"{text}d1": 1 for text in HOSTILE[:3]}, f"{HOSTILE[4]}d9": 2} for query in queries}
    texts = dict.fromkeys(queries, HOSTILE[1])
    slices = pl.DataFrame({"query_id": queries, HOSTILE[5]: [HOSTILE[n % 2] for n in range(len(queries))]})
    documents = {f"{text}d{i}": text * 100 for text in HOSTILE for i in range(3)}
    return ir.report(runs, qrels, ["RR"], queries=texts, documents=documents, by=slices)


def test_hostile_texts_are_texts():
    report = hostile_report()
    assert "alert" not in page(report.content, report.figures)
    assert set(report.content["systems"]) == set(HOSTILE[:3])
    long = ir.report(*small(), ["RR"], queries={"q0": "x" * 10_000, "q1": "x" * 600}).content["queries"]["texts"]
    assert long[:2] == ["x" * 600 + "\N{HORIZONTAL ELLIPSIS}", "x" * 600]
    hidden = ir.report(*small(4, ("a\u202eb\u2069", "c\0\x1b[1m")), ["RR"]).content["answers"][0]
    assert not any(HIDDEN.search(sentence.replace(" ", "")) for sentence in hidden)
    comment = report.markdown()
    assert not re.search(r"[\0\x1b\u202a-\u202e\u2066-\u2069]", comment)
    outside = re.sub(r"</?(?:code|details|summary)>|^<!-- polars-ir -->", "", comment)
    assert not re.search(r"[<>`\[\]@]", outside)
    assert all(line.count("|") in (0, 6, 7) for line in comment.splitlines())


@pytest.mark.whole("thirty systems make 435 pairs")
def test_the_comment_is_short_whatever_it_is_of():
    names = [f"{n:02}{'<' * 500}" for n in range(40)]
    queries = [f"{n}{'&' * 500}" for n in range(12)]
    runs = {
        name: {query: ["d1", "d2"][:: 1 if n % (place + 2) else -1] for n, query in enumerate(queries)}
        for place, name in enumerate(names)
    }
    report = ir.report(
        runs,
        {query: {"d1": 1} for query in queries},
        ["RR"],
        by=pl.DataFrame({"query_id": queries, "#" * 300: ["|" * 400, "*" * 400] * 6}),
    )
    assert len(report.content["systems"]) == 30
    assert len(report.content["left_out"]) == 10
    assert report.content["answers"][0][-1] == "30 of 40 systems are compared, the best by RR."
    comment = report.markdown()
    assert len(comment) < 65_536
    assert "10 more systems are left out." in comment


@pytest.mark.whole("a second")
def test_all_kinds_of_tables_make_the_same_report():
    runs, qrels = small()
    run = pl.concat(
        pl.DataFrame({"run": name, "query_id": query, "doc_id": docs, "score": [-i for i in range(len(docs))]})
        for name, of in runs.items()
        for query, docs in of.items()
    )
    judged = pl.DataFrame(
        [(q, d, r) for q, of in qrels.items() for d, r in of.items()],
        schema=["query_id", "doc_id", "relevance"],
        orient="row",
    )
    wanted = ir.report(runs, qrels, ["RR"]).figures
    pytest.importorskip("pandas")
    for of_runs, of_qrels in ((run, judged), (run.lazy(), judged.lazy()), (run.to_pandas(), judged.to_pandas())):
        assert ir.report(of_runs, of_qrels, ["RR"]).figures == wanted
    labelled = run.join(judged, on=["query_id", "doc_id"], how="left")
    assert ir.report(labelled, measures=["RR"]).figures[: 8 * 8] == wanted[: 8 * 8]


@pytest.mark.whole("each type makes two reports")
def test_slices_may_be_durations_and_no_lists():
    ids, values = [f"q{i}" for i in range(4)], [timedelta(seconds=90), timedelta(0)] * 2
    report = ir.report(*small(), ["RR"], by=pl.DataFrame({"query_id": ids, "took": values}))
    assert report.content["queries"]["attributes"] == {"took": ["1m 30s", "0µs"] * 2}
    with pytest.raises(ir.IRError, match="by column 'topics' must be texts, numbers, Booleans or times; it is List"):
        ir.report(*small(), ["RR"], by=pl.DataFrame({"query_id": ids, "topics": [[1]] * 4}))


@pytest.mark.parametrize("type", [pl.Int64, pl.Categorical])
@pytest.mark.whole("a second a case", quick=1)
def test_systems_have_names_of_any_type(type):
    numbered = PYDOCS.runs.with_columns(pl.col("run").replace(["bm25", "chargrams", "tfidf"], ["1", "2", "3"]))
    found, wanted = (
        ir.report(runs, PYDOCS.qrels, ["RR"], n_queries=3, baseline=runs["run"][0]).content
        for runs in (numbered.with_columns(pl.col("run").cast(type)), numbered)
    )
    assert found["doubts"] == wanted["doubts"]
    assert found["against"] == wanted["against"]
    assert found["rankings"] == wanted["rankings"]


def test_tables_without_rows_are_told():
    runs, qrels = pl.concat(PYDOCS.runs.filter(run=run).head(2) for run in ("bm25", "tfidf")), PYDOCS.qrels
    for empty in ((runs.clear(), qrels), (runs, qrels.clear())):
        with pytest.raises(ir.IRError, match="give no ranking to report"), pytest.warns(ir.IRWarning):
            ir.report(*empty, ["RR"])


def test_judgments_of_preferences_are_reported():
    qrels = pl.DataFrame({"query_id": ["q0", "q1"], "preferred": ["d0", "d1"], "other": ["d1", "d2"]})
    content = ir.report(small()[0], qrels, ["prefs_simp"]).content
    assert content["answers"][0][0].startswith("a and b are first by prefs_simp")
    assert "unjudged documents in the top 10" in {each["finding"] for each in content["doubts"]["findings"]}
    assert (content["counts"], content["doubts"]["bounds"], content["rankings"]) == ([], None, None)


def test_judgments_of_subtopics_are_reported():
    runs, _ = small()
    rows = [(f"q{q}", f"d{d}", d, 1) for q in range(4) for d in range(2)]
    qrels = pl.DataFrame(rows, schema=["query_id", "doc_id", "subtopic", "relevance"], orient="row")
    content = ir.report(runs, qrels, ["alpha_nDCG@10"]).content
    assert content["answers"][0][0].startswith("a is first by alpha_nDCG@10")
    assert content["rankings"]["measure"] == "alpha_nDCG@10"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"baseline": "c"}, "baseline names 'c', which is not one of the systems: 'a', 'b'."),
        ({"by": "topic"}, "by names a column of queries, the table that has it; got 'topic' without."),
        (
            {"by": "topics", "queries": pl.DataFrame({"query_id": ["q0"], "topic": ["x"]})},
            "queries has no column 'topics'; it has 'query_id', 'topic'. Did you mean 'topic'?",
        ),
        (
            {"by": pl.DataFrame({"query_id": ["q0", "q1", "q2"], "topic": ["x", "y", None]})},
            "by has no 'topic' for 2 of 4 queries: 'q2', 'q3'. Give each query one, such as 'other'.",
        ),
        (
            {"by": "query_id", "queries": pl.DataFrame({"query_id": ["q0"], "topic": ["x"]})},
            "by must name a column of slices; 'query_id' has the ids of queries.",
        ),
        ({"n_queries": -1}, "n_queries must be"),
        ({"title": " "}, "title must be a text, or None for that of every report; got ' '."),
        ({"date": "27/11/2026"}, "date must be a date, as '2026-11-27' or of `datetime`; got '27/11/2026'."),
        ({"measures": ["nDGC@10"]}, "nDGC"),
        ({"measures": [ir.rank.max().cast(pl.String).alias("deepest")]}, "the measure 'deepest' must be a number"),
    ],
)
def test_wrong_use_is_told(wrong, message):
    with pytest.raises(ir.IRError, match=re.escape(message)):
        ir.report(*small(), **{"measures": ["RR"], **wrong})


def test_a_page_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(ir.IRError):
        REPORT.write(tmp_path)
    with pytest.raises(ir.IRError):
        ir.report(*small(), ["RR"], by="topic").write(path)
    assert main(["report", "absent", "missing", "-o", str(path)]) == 2
    assert path.read_text(encoding="utf-8") == "before"
    REPORT.write(path)
    assert path.read_text(encoding="utf-8") == page(REPORT.content, REPORT.figures)
    assert "sandbox" in REPORT._repr_html_()


def test_the_shell_writes_the_page_and_prints_the_answer(tmp_path, capsys, monkeypatch):
    runs, qrels = small()
    names = {"qrels.txt": None, **{f"{name}.run": run for name, run in runs.items()}}
    ir.write_qrels(qrels, tmp_path / "qrels.txt")
    for name, run in runs.items():
        ir.write_run(run, tmp_path / f"{name}.run")
    files, target = [str(tmp_path / name) for name in names], tmp_path / "report.html"
    assert main(["report", *files, "-m", "RR", "-o", str(target)]) == 0
    assert capsys.readouterr().out.startswith("a is first by RR, with a mean of 1.0000 over 4 queries")
    made = json.loads(read(target.read_text(encoding="utf-8"), "content"))["made"]
    assert [file["name"] for file in made["files"]] == [*names]
    assert made["files"][0]["sha256"] == sha256((tmp_path / "qrels.txt").read_bytes()).hexdigest()
    assert made["command"] == "polars-ir report qrels.txt a.run b.run -m RR -o report.html"
    scope: dict = {}
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        exec(made["python"], scope)  # noqa: S102  # what the page tells to run
    assert (
        scope["report"].figures == np.frombuffer(read(target.read_text(encoding="utf-8"), "figures"), "<f8").tobytes()
    )
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d0", "title": "T", "text": "x"}\n', encoding="utf-8")
    assert main(["report", *files, "-m", "RR", "--documents", str(tmp_path / "corpus.jsonl"), "-o", str(target)]) == 0
    assert "T x" in json.loads(read(target.read_text(encoding="utf-8"), "content"))["rankings"]["documents"]["text"]
    capsys.readouterr()
    assert main(["report", *files, "-m", "RR", "--markdown"]) == 0
    assert "\n**<code>a</code> is first by RR" in capsys.readouterr().out
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        target.unlink()
        assert main(["report", *files]) == 0
    assert capsys.readouterr().out.endswith("\nThe page is report.html.\n")
    assert json.loads(read(target.read_text(encoding="utf-8"), "content"))["measures"][0]["name"] == "nDCG@10"


@pytest.mark.whole("it makes five reports")
def test_a_dated_report_is_the_same_file_whenever_it_is_made(tmp_path, capsys):
    runs, qrels = small(40)
    pages = []
    for day in ("2026-11-20", date(2026, 11, 20), datetime(2026, 11, 20, 13, tzinfo=UTC)):
        ir.report(runs, qrels, ["RR"], title="Every <night>", date=day).write(tmp_path / "page.html")
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1] == pages[2]
    content = json.loads(read(pages[0].decode(), "content"))
    assert (content["title"], content["date"]) == ("Every <night>", "2026-11-20")
    assert b"<title>Every &lt;night&gt;</title>" in pages[0]
    assert content["made"]["python"].endswith("['RR'], title='Every <night>', date='2026-11-20')")
    undated = ir.report(runs, qrels, ["RR"])
    assert abs(date.fromisoformat(undated.content["date"]) - date.today()) <= timedelta(days=1)  # noqa: DTZ011
    assert "date=" not in undated.content["made"]["python"]
    assert f"- {undated.content['date']}\n" in undated.markdown()
    ir.write_qrels(qrels, tmp_path / "qrels.txt")
    ir.write_run(runs["a"], tmp_path / "a.run")
    files = [str(tmp_path / name) for name in ("qrels.txt", "a.run")]
    options = ["-m", "RR", "--title", "T", "--date", "2026-11-20", "-o", str(tmp_path / "page.html")]
    assert main(["report", *files, *options]) == 0
    of_shell = json.loads(read((tmp_path / "page.html").read_text(encoding="utf-8"), "content"))
    assert (of_shell["title"], of_shell["date"]) == ("T", "2026-11-20")
    assert capsys.readouterr().err == ""


def test_a_terminal_sees_the_steps_of_a_report_and_nothing_of_them_stays(tmp_path, capsys, monkeypatch):
    runs, qrels = small()
    ir.write_qrels(qrels, tmp_path / "qrels.txt")
    for name, run in runs.items():
        ir.write_run(run, tmp_path / f"{name}.run")
    files = [str(tmp_path / name) for name in ("qrels.txt", "a.run", "b.run")]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["report", *files, "-m", "RR", "--markdown"]) == 0
    told = capsys.readouterr().err
    assert "\r\x1b[Kcomparing 2 systems ..." in told
    assert told.endswith("\r\x1b[K")
    assert "\n" not in told[told.index("evaluating") :]


def test_only_slices_that_lose_beyond_chance_are_called_the_worst():
    assert "The worst slices" not in REPORT.markdown()
    figures = {f"q{i}": 0.9 - (i % 4 == 0) * 0.8 + i % 3 / 50 for i in range(40)}
    runs = {
        name: {q: ["d1"] if i % 4 or name == "b" else ["x"] * 1 for i, q in enumerate(figures)} for name in ("a", "b")
    }
    qrels = {q: {"d1": 1} for q in figures}
    by = pl.DataFrame({"query_id": list(figures), "kind": ["lost" if i % 4 == 0 else "found" for i in range(40)]})
    comment = ir.report(runs, qrels, ["RR"], by=by).markdown()
    assert "<code>kind&#58; lost</code>" in comment or "<code>kind</code>: <code>lost</code>" in comment
    assert "<code>found</code>" not in comment


@pytest.mark.whole("a second")
def test_judgments_without_a_grade_of_0_are_known():
    runs, qrels = small()
    assert not ir.report(runs, qrels, ["RR"]).content["doubts"]["only_relevant"]
    listed = {query: {"d0": 2, "d1": 1} for query in qrels}
    # Also where a measure has the name of a count.
    named = ["RR", ir.precision(k=1).alias("NumRet")]
    assert ir.report(runs, listed, named).content["doubts"]["only_relevant"]


@pytest.mark.whole("a second")
def test_the_gate_writes_a_change_as_a_page(tmp_path, capsys):
    runs, qrels = small(12)
    ir.write_qrels(qrels, tmp_path / "qrels.txt")
    for name, run in (("old", runs["a"]), ("new", runs["b"])):
        ir.write_run(run, tmp_path / f"{name}.run")
        ir.evaluate(run, qrels, ["RR"]).write_parquet(tmp_path / f"{name}.parquet")
    target, qrels_file = tmp_path / "change.html", str(tmp_path / "qrels.txt")
    for ending, by in ((".run", ["--qrels", qrels_file]), (".parquet", [])):
        files = [str(tmp_path / f"{name}{ending}") for name in ("new", "old")]
        assert main(["gate", *files, *by, "-m", "RR", "--report", str(target)]) == 1
        content = json.loads(read(target.read_text(encoding="utf-8"), "content"))
        assert content["verdict"] == "The change is worse: RR drops more than allowed."
        assert (content["verdicts"]["verdict"], content["baseline"]) == (["worse"], "old")
        assert (content["rankings"] is None) == (not by)
        assert [file["name"] for file in content["made"]["files"]][:2] == [f"new{ending}", f"old{ending}"]
    queries, corpus = tmp_path / "queries.csv", tmp_path / "corpus.jsonl"
    pl.DataFrame({"query_id": [f"q{i}" for i in range(12)], "topic": [f"t{i // 2}" for i in range(12)]}).with_columns(
        text=pl.lit("a question")
    ).write_csv(queries)
    corpus.write_text('{"_id": "d0", "title": "T", "text": "x"}\n', encoding="utf-8")
    files = [*(str(tmp_path / f"{name}.run") for name in ("new", "old")), "-m", "RR", "--report", str(target)]
    texts = ["--queries", str(queries), "--documents", str(corpus)]
    assert main(["gate", *files, "--qrels", qrels_file, *texts, "--cluster", "topic"]) in (1, 3)
    content = json.loads(read(target.read_text(encoding="utf-8"), "content"))
    assert content["queries"]["texts"] == ["a question"] * 12
    assert "T x" in content["rankings"]["documents"]["text"]
    assert (
        content["answers"][0][-1] == "The verdict counts each topic once; the other figures of this page count queries."
    )
    assert [file["name"] for file in content["made"]["files"]][-2:] == ["queries.csv", "corpus.jsonl"]
    comment = tmp_path / "comment.md"
    assert main(["gate", *files[:-1], str(comment), "--qrels", qrels_file, *texts, "--cluster", "topic"]) in (1, 3)
    assert "The verdict counts each topic once; the other figures of this page count queries" in comment.read_text()
    # Of three files only the old run has ids as texts.
    new, judged, page_of_ids = (str(tmp_path / name) for name in ("ids.parquet", "qrels.parquet", "ids.md"))
    ids = pl.col("query_id", "doc_id").str.slice(1)
    ir.read_run(files[0]).select(ids.cast(pl.Int64), "score").write_parquet(new)
    ir.read_qrels(qrels_file).select(ids.cast(pl.Int64), "relevance").write_parquet(judged)
    ir.read_run(files[1]).with_columns(ids).write_csv(old := str(tmp_path / "ids.csv"))
    assert main(["gate", new, old, "--qrels", judged, "-m", "RR", "--report", page_of_ids]) == 1
    assert "drops more than allowed" in (tmp_path / "ids.md").read_text()
    assert main(["gate", *files[:4], "--qrels", qrels_file, "--documents", str(corpus)]) == 2
    assert "does not ship" in capsys.readouterr().out
    figures = [str(tmp_path / f"{name}.parquet") for name in ("new", "old")]
    short = ["--max-drop", "0.99", "--floor", "RR=0.99", "--report", str(target)]
    assert main(["gate", *figures, "-m", "RR", *short]) == 1
    says = json.loads(read(target.read_text(encoding="utf-8"), "content"))["verdict"]
    assert says == "The change may not ship: RR misses its floor."
    headed = ["--title", "Night", "--date", "2026-11-20"]
    assert main(["gate", *figures, "-m", "RR", "--report", str(target), *headed]) == 1
    content = json.loads(read(target.read_text(encoding="utf-8"), "content"))
    assert (content["title"], content["date"]) == ("Night", "2026-11-20")
    assert main(["gate", *figures, "-m", "RR", *headed]) == 2
    assert "give --report FILE" in capsys.readouterr().err
    target.unlink()
    assert main(["gate", *figures, "-m", "RR", "--by", "date", "--report", str(target)]) == 2
    assert "leave --by out" in capsys.readouterr().err
    assert not target.exists()
