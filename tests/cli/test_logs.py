"""Logs in the shell: one file with rankings and judgments, and two of them in a gate."""

import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

from polars_ir.cli import main


def record(number, *, lost=False):
    """A question of a help desk with two needs, the second of which may be lost, at rank 12 or altogether."""
    documents = [f"x{number}-{place}" for place in range(12)]
    documents[number % 4] = f"a{number}"
    documents[11 if lost else 4] = f"c{number}"
    if lost and number % 2:
        documents.remove(f"c{number}")
    return {
        "question": f"How do I reset {number}?",
        "tenant": "small" if number % 5 == 0 else "big",
        "retrieved": [{"id": id, "score": 1 - place / 20, "page": place} for place, id in enumerate(documents)],
        "relevant": [[f"a{number}", f"b{number}"], [f"c{number}"]],
    }


@pytest.fixture
def write(tmp_path):
    """Writes a log, and returns the name of its file."""

    def write(records, name):
        (tmp_path / name).write_text("\n".join(map(json.dumps, records)), "utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture
def new(write):
    return write([record(number, lost=number % 5 == 0) for number in range(60)], "new.jsonl")


@pytest.fixture
def old(write):
    return write([record(number) for number in range(60)], "old.jsonl")


def test_a_log_alone_has_rankings_and_judgments(new, capsys):
    assert main(["evaluate", new, "-m", "R@5", "-m", "FullRecall@5"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "run\tR@5\tFullRecall@5\nnew\t0.6\t0.8\n"
    assert printed.err.rpartition("/")[2] == (
        "new.jsonl is read as own lists: query 'question', retrieved 'retrieved', relevant 'relevant'.\n"
    )


def test_a_budget_is_of_the_numbers_in_the_documents_of_a_log(write, capsys):
    found = [{"id": id, "n_tokens": tokens} for id, tokens in (("x", 300), ("a", 600), ("b", 200))]
    log = write([{"qid": "q", "retrieved": found, "relevant": ["a", "b"]}], "log.jsonl")
    assert main(["evaluate", log, "-m", "R(budget=1000)"]) == 2
    pasted = capsys.readouterr().err.rpartition(': "')[2].partition('"')[0]
    assert main(["evaluate", log, "-m", pasted]) == 0
    assert capsys.readouterr().out == "run\tR(budget=1000,cost='n_tokens')\nlog\t0.5\n"
    bare = write([{"qid": "q", "retrieved": ["x"], "relevant": ["a"]}], "bare.jsonl")
    assert main(["evaluate", bare, "-m", "R(budget=1000)"]) == 2
    assert '(in a log {"id": "d1", "tokens": 320})' in capsys.readouterr().err


def test_the_first_record_of_a_log_may_lack_lists(write, capsys):
    log = write([{"question": "Who?"}, *(record(number) for number in range(60))], "log.jsonl")
    assert main(["evaluate", log, "-m", "R@5"]) == 0
    assert capsys.readouterr().out.startswith("run\tR@5\nlog\t0.6666")


def test_messages_about_logs_quote_their_fields_and_name_their_judgments(write, capsys):
    log = write([{"my question": "Who?", "found docs": ["a"], "right ones": ["a"]}], "odd.jsonl")
    assert main(["evaluate", log, "-m", "R@2"]) == 2
    assert "--query 'my question' --retrieved 'found docs' --relevant ..." in capsys.readouterr().err
    log = write([{"qid": "q", "retrieved": ["b"], "relevant": ["a"]}], "b.jsonl")
    assert main(["evaluate", log, "-m", "R@2"]) == 0
    err = capsys.readouterr().err
    assert "--qrels" not in err
    assert re.search(r"are 'b', of the judgments of \S*b.jsonl 'a'", err)


def test_a_document_that_a_log_repeats_is_not_of_rankings_by_its_tokens(write, capsys):
    found = [{"id": id, "tokens": tokens} for id, tokens in (("x", 300), ("a", 310), ("b", 200), ("a", 320))]
    log = write([{"qid": "q", "retrieved": found, "relevant": ["a", "b"]}], "log.jsonl")
    assert main(["evaluate", log, "-m", "R@2"]) == 2
    err = capsys.readouterr().err
    assert "Keep the best score of each document, which is MaxP where rows are passages: --duplicates first." in err
    assert "--key" not in err


def test_a_log_may_come_from_standard_input(new, capsys, monkeypatch):
    for words in ([], ["--relevant", "relevant"]):
        with open(new, encoding="utf-8") as file:  # noqa: PTH123  # as a shell opens it
            monkeypatch.setattr("sys.stdin", file)
            assert main(["evaluate", "-", "-m", "R@5", *words]) == 0
        printed = capsys.readouterr()
        assert printed.out == "run\tR@5\nstdin\t0.6\n"
        assert printed.err.startswith("polars-ir: standard input is read as own lists")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"q Q0 a 1 0.5 x"), encoding="utf-8"))
    assert main(["evaluate", "-", "-m", "R@5"]) == 2
    assert "If it is a run, give judgments, too: --qrels FILE" in capsys.readouterr().err


def test_means_of_a_log_are_by_columns_of_its_queries(new, capsys):
    assert main(["evaluate", new, "-m", "FullRecall@5", "--by", "tenant"]) == 0
    assert capsys.readouterr().out == "tenant\trun\tFullRecall@5\nbig\tnew\t1.0\nsmall\tnew\t0.0\n"


def test_calls_are_merged_unless_they_are_a_key(write, capsys):
    log = write([{"id": 1, "retrieved": [[*"AxB"], [*"yAC"]], "relevant": [*"ABC"]}], "log.jsonl")
    assert main(["evaluate", log, "-m", "R"]) == 0
    printed = capsys.readouterr()
    assert printed.out.endswith("\t1.0\n")
    assert "the calls of a query are merged in the order of reading" in printed.err
    assert main(["evaluate", log, "-m", "R", "--key", "step"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_fields_are_named_and_judgments_of_a_file_override_those_of_logs(write, tmp_path, capsys):
    log = write([{"q": "1", "docs": [{"key": "b", "score": 1}, {"key": "a", "score": 2}], "gold": ["a"]}], "log.jsonl")
    named = ["--query", "q", "--retrieved", "docs", "--ids", "key", "--scores", "none"]
    assert main(["evaluate", log, "-m", "RR", *named]) == 0
    assert capsys.readouterr().out == "run\tRR\nlog\t0.5\n"
    (tmp_path / "qrels.txt").write_text("1 0 b 1\n", "utf-8")
    assert main(["evaluate", "--qrels", str(tmp_path / "qrels.txt"), log, "-m", "RR", *named]) == 0
    assert capsys.readouterr().out == "run\tRR\nlog\t1.0\n"


def test_the_gate_of_two_logs_shows_the_worst_slices(new, old, capsys):
    assert main(["gate", new, old, "-m", "FullRecall@5", "--slice", "tenant"]) == 1
    out = capsys.readouterr().out
    assert "does not ship: 0 of 1 measures passed" in out
    assert re.search(r"tenant .* small .* FullRecall@5 .* 12 .* -1.0000", out)
    assert " big " not in out


@pytest.mark.whole("four gates")
def test_slices_and_comments_go_by_a_range_that_the_catalogue_does_not_have(tmp_path, capsys):
    new, old, queries, comment = (str(tmp_path / name) for name in ("new.csv", "old.csv", "queries.csv", "comment.md"))
    before = pl.DataFrame({"query_id": range(40), "AP": [0.5] * 40}).with_columns(ms=100 + pl.col("query_id") % 3)
    is_fast = pl.col("query_id") < 20
    before.write_csv(old)
    before.with_columns(pl.col("ms") - pl.when(is_fast).then(50).otherwise(10)).write_csv(new)
    halves = pl.when(is_fast).then(pl.lit("fast")).otherwise(pl.lit("slow"))
    before.select("query_id", half=halves).write_csv(queries)
    words = ["gate", new, old, "-m", "ms", "--range", "ms=200:0", "--max-drop", "5", "--queries", queries]
    assert main([*words, "--slice", "half"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"slow .* ms .* 20 .* -10.0000 .* -50.0000 .* 40.0000", out)
    assert "fast" not in out
    assert main([*words, "--report", comment]) == 0
    verdict, warning = capsys.readouterr()
    assert "ships: 1 of 1 measures passed" in verdict
    assert "no report is written: the direction of 'ms' is known from --range alone" in warning
    assert not Path(comment).exists()
    drops = ["--max-drop", "ms=5", "--max-drop", "AP=.1"]
    assert main([*words[:7], *drops, "-m", "AP", "--report", comment]) == 0
    text = Path(comment).read_text("utf-8")
    assert re.search("For ms, whose direction comes from .*range, only the verdict is shown", text)
    assert "| <code>ms</code> | no worse |" in text
    assert "worse than the baseline" not in text


def test_a_comment_names_the_missing_evidence_and_where_it_went(new, old, tmp_path, capsys):
    comment = tmp_path / "comment.md"
    words = ["-m", "FullRecall@5", "--slice", "tenant", "--report", str(comment)]
    assert main(["gate", new, old, *words]) == 1
    text = comment.read_text("utf-8")
    assert text.startswith("<!-- polars-ir -->\n")
    assert "| lost from the first 5 |" in text
    assert "<code>c0</code>: rank 12" in text
    assert "<code>c15</code>: not retrieved" in text
    assert "<code>tenant</code>: <code>small</code>" in text
    capsys.readouterr()


@pytest.mark.whole("a report")
def test_a_report_of_a_budget_has_no_bounds(write, tmp_path, capsys):
    records = [record(number) for number in range(60)]
    files = []
    for name, tokens in (("dear.jsonl", 200), ("cheap.jsonl", 100)):
        costly = [[{**one, "tokens": tokens} for one in each["retrieved"]] for each in records]
        logged = [{**each, "retrieved": found} for each, found in zip(records, costly, strict=True)]
        files.append(write(logged, name))
    comment = tmp_path / "comment.md"
    assert main(["gate", *files, "-m", "R(budget=500)", "--report", str(comment)]) == 1
    assert "<code>R&#40;budget&#61;500&#41;</code> | worse" in comment.read_text("utf-8")
    capsys.readouterr()


def test_gold_that_differs_between_logs_is_an_error_that_names_queries(new, write, tmp_path, capsys):
    records = [record(number) for number in range(60)]
    records[3]["relevant"] = [["c3"], ["b3", "a3"]]  # the same groups in another order
    records[7]["relevant"] = [["c7"]]
    other = write(records, "other.jsonl")
    assert main(["gate", new, other, "-m", "R@5"]) == 2
    assert "differ in the relevant documents of 1 query: 'How do I reset 7?'" in capsys.readouterr().err
    qrels = tmp_path / "qrels.csv"
    lines = [f"How do I reset {number}?,a{number},1" for number in range(60)]
    qrels.write_text("\n".join(["query_id,doc_id,relevance", *lines]), "utf-8")
    assert main(["gate", new, other, "-m", "R@5", "--qrels", str(qrels), "--inconclusive", "pass"]) == 0
    capsys.readouterr()


def test_queries_that_one_log_lacks_are_left_out_and_told(new, write, capsys):
    fewer = write([record(number) for number in range(40)], "old.jsonl")
    main(["gate", new, fewer, "-m", "R@5"])
    assert "on 40 queries" in (out := capsys.readouterr().out)
    assert "queries that only new has: 20" in out


def test_a_csv_may_print_lists_and_a_row_with_a_document_is_no_log(tmp_path, capsys):
    (tmp_path / "log.csv").write_text("question,retrieved,relevant\nq,\"['a', 'b']\",\"['b']\"\n", "utf-8")
    assert main(["evaluate", str(tmp_path / "log.csv"), "-m", "RR"]) == 0
    assert capsys.readouterr().out == "run\tRR\nlog\t0.5\n"
    row = {"query_id": "q", "doc_id": "b", "score": 1.0, "meta": {"page": 1}}
    (tmp_path / "some.jsonl").write_text(json.dumps(row), "utf-8")
    (tmp_path / "qrels.txt").write_text("q 0 b 1\n", "utf-8")
    assert main(["evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "some.jsonl"), "-m", "RR"]) == 0
    assert capsys.readouterr() == ("run\tRR\nsome\t1.0\n", "")


REFUSED = {
    "no gold": (["evaluate", "{bare}"], "no query has relevant documents"),
    "no rankings": (["evaluate", "{gold}"], "has judgments and no rankings"),
    "no log": (["evaluate", "{run}"], "evaluate needs judgments, too"),
    "one log of two": (["gate", "{bare}", "{run}"], "is a log, and"),
    "one log": (["gate", "{bare}"], "give the log of the old one as well"),
    "an unknown slice": (
        ["gate", "{own}", "{own}.jsonl", "--slice", "nope"],
        "polars-ir: the queries of logs have no column 'nope'; they have 'query_id'",
    ),
    "two logs to evaluate": (["evaluate", "{own}", "{own}.jsonl"], "compare two logs by polars-ir gate NEW OLD"),
}


@pytest.mark.parametrize(("words", "says"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_says_what_is_needed(words, says, write, new, capsys):
    files = {
        "bare": write([{"id": 1, "retrieved": ["a"]}], "bare.jsonl"),
        "gold": write([{"id": 1, "gold_ids": ["a"], "excluded_ids": []}], "gold.jsonl"),
        "run": write([], "some.run"),
        "own": new,
    }
    write([record(number) for number in range(60)], "new.jsonl.jsonl")
    assert main([*(word.format(**files) for word in words), "-m", "R@5"]) == 2
    assert says in capsys.readouterr().err
