"""Logs as their tools write them: what is recognised, what stands for what, and what is refused."""

import json
import warnings
from datetime import date

import pandas as pd
import polars as pl
import pytest
from messages import message_of

import polars_ir as ir

#: Case A of all tools.
RETRIEVED, RELEVANT = [*"axbyz"], [*"abc"]


@pytest.fixture
def write(tmp_path):
    """Writes records as JSON lines, or one value as JSON."""

    def write(records, name="log.jsonl"):
        path = tmp_path / name
        lines = map(json.dumps, records)
        path.write_text("\n".join(lines) if name.endswith("l") else json.dumps(records), "utf-8")
        return path

    return write


def langchain(text, id=None):
    """A document as LangChain dumps it, whose outer id is the path of a class."""
    inner = {"id": id, "page_content": text, "metadata": {"source": f"{text}.md"}, "type": "Document"}
    path = ["langchain", "schema", "document", "Document"]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": inner}


def span(trace, start, documents, asked, kind="RETRIEVER"):
    """A span as Phoenix exports it."""
    found = {} if documents is None else {"retrieval": {"documents": documents}}
    return {
        "context": {"trace_id": trace, "span_id": start},
        "start_time": f"2026-01-01T00:00:{start}Z",
        "span_kind": kind,
        "attributes": {"input": {"value": asked}, **found},
    }


def nodes(ids):
    return [{"node": {"id_": id, "text": f"text {id}"}, "score": 1 - place / 9} for place, id in enumerate(ids)]


#: A record of each format whose ids are those of case A.
OF_IDS = {
    "own lists": {"query_id": "q", "retrieved": RETRIEVED, "relevant": RELEVANT},
    "own objects": {
        "id": "q", "results": [{"doc_id": id} for id in RETRIEVED], "gold": [{"id": id} for id in RELEVANT]
    },
    "own numbers": {"qid": "q", "hits": RETRIEVED, "positives": RELEVANT},
    "ragas": {"user_input": "q", "retrieved_context_ids": RETRIEVED, "reference_context_ids": RELEVANT},
    "LlamaIndex": {"query": "q", "retrieved_ids": RETRIEVED, "expected_ids": RELEVANT},
    "LlamaIndex nodes": {"query": "q", "source_nodes": nodes(RETRIEVED), "relevant": RELEVANT},
    "Haystack": {
        "query": "q",
        "documents": [{"id": id, "content": id * 2, "score": None, "meta": {"a": 1}} for id in RETRIEVED],
        "ground_truth_documents": [{"id": id, "content": id * 2} for id in RELEVANT],
    },
    "LangChain": {
        "input": "q",
        "context": [{"id": id, "page_content": id * 2, "metadata": {}, "type": "Document"} for id in RETRIEVED],
        "relevant": RELEVANT,
    },
    "LangChain dumps": {
        "query": "q", "source_documents": [langchain(id * 2, id) for id in RETRIEVED], "relevant": RELEVANT
    },
    "LangSmith": {
        "id": "r", "trace_id": "q", "run_type": "retriever", "inputs": {"query": "q"}, "dotted_order": "1",
        "outputs": {"documents": [{"id": id, "page_content": id * 2} for id in RETRIEVED]}, "relevant": RELEVANT,
    },
    "OpenInference": {
        **span("q", "01", [{"document.id": id, "document.score": 0.5} for id in RETRIEVED], "q"), "relevant": RELEVANT
    },
    "OpenTelemetry": {
        "trace_id": "q", "start_time": 1, "relevant": RELEVANT,
        "attributes": {"gen_ai.retrieval.documents": json.dumps([{"id": id, "score": 0.5} for id in RETRIEVED])},
    },
    "LongMemEval": {
        "question_id": "q", "question": "?", "answer_session_ids": RELEVANT,
        "retrieval_results": {"ranked_items": [{"corpus_id": id, "text": id * 2} for id in RETRIEVED]},
    },
}  # fmt: skip

#: A record of each format that has texts alone.
TEXTS = {id: f"{id}  text\u0301\n" for id in [*RETRIEVED, *RELEVANT]}
OTHERS = {id: f" {id} tex\u0074\u0301" for id in TEXTS}
OF_TEXTS = {
    "ragas": {
        "user_input": "q",
        "retrieved_contexts": [TEXTS[id] for id in RETRIEVED],
        "reference_contexts": [OTHERS[id] for id in RELEVANT],
    },
    "DeepEval": {
        "input": "q",
        "retrievalContext": [{"context": TEXTS[id], "source": "s"} for id in RETRIEVED],
        "context": [OTHERS[id] for id in RELEVANT],
        "expectedOutput": "answer",
    },
    "LangChain": {
        "query": "q",
        "source_documents": [langchain(TEXTS[id]) for id in RETRIEVED],
        "relevant": [OTHERS[id] for id in RELEVANT],
    },
    "own lists": {
        "question": "q",
        "retrieved": [TEXTS[id] for id in RETRIEVED],
        "gold": [OTHERS[id] for id in RELEVANT],
    },
}

FIGURES = {"SetP": 0.4, "R@5": 2 / 3, "AP": 5 / 9, "RR": 1.0}


@pytest.mark.parametrize("record", OF_IDS.values(), ids=OF_IDS)
def test_each_tools_log_has_the_figures_of_its_ids(write, record):
    log = ir.read_log(write([record]))
    values = ir.evaluate(log.run, log.qrels, [*FIGURES]).row(0, named=True)
    assert values == pytest.approx({"query_id": "q", **FIGURES})


@pytest.mark.parametrize("record", OF_TEXTS.values(), ids=OF_TEXTS)
def test_texts_that_differ_by_blanks_and_normal_form_stand_for_ids_and_their_share_is_told(write, record):
    with pytest.warns(ir.IRWarning, match="2 of 3 relevant texts were retrieved"):
        log = ir.read_log(write([record]))
    values = ir.evaluate(log.run, log.qrels, [*FIGURES]).row(0, named=True)
    assert values == pytest.approx({"query_id": "q", **FIGURES})
    assert "a  text\u0301\n" in (log.documents["text"].to_list() if log.documents is not None else [])


def test_texts_and_other_single_values_are_those_of_queries_and_documents(write):
    record = {
        "id": 7,
        "question": "Who?",
        "tenant": "x",
        "retrieved": [{"id": "d1", "score": 0.5, "text": "t", "url": "u"}],
    }
    log = ir.read_log(write([record]))
    assert log.qrels is None
    assert log.queries.to_dicts() == [{"query_id": 7, "text": "Who?", "tenant": "x"}]
    assert log.documents.to_dicts() == [{"doc_id": "d1", "text": "t", "url": "u"}]


def test_without_an_id_the_question_is_the_query(write):
    asked = {"retrieved": ["a"], "relevant": ["a"]}
    log = ir.read_log(write([{"question": " Who \n is it?", **asked}]))
    assert log.run["query_id"].to_list() == log.qrels["query_id"].to_list() == ["Who is it?"]


def test_systems_are_of_the_run_and_users_are_queries_without_others(write, tmp_path):
    systems = [{"id": 1, "run": name, "tenant": "x", "cost": name, "retrieved": ["a"]} for name in "AB"]
    assert ir.read_log(write(systems)).queries.to_dicts() == [{"query_id": 1, "tenant": "x"}]
    asked = {"user_id": "u", "question": "Who?", "retrieved": ["a"]}
    assert ir.read_log(write([asked])).run["query_id"].to_list() == ["Who?"]
    (tmp_path / "users.csv").write_text("user_id,retrieved,relevant\nu,a b,b c\nv,a,b\n", "utf-8")
    with pytest.warns(ir.IRWarning, match=r"read as blank-separated ids, such as 'a b'\. [^:]*$"):
        log = ir.read_log(tmp_path / "users.csv")
    assert log.qrels.rows() == [("u", "b", 1), ("u", "c", 1), ("v", "b", 1)]


@pytest.mark.parametrize("objects", ['[{"doc_id": "a"}]', '[{"document.id": "a", "document.content": "x"}]', "[]"])
def test_a_csv_may_print_objects_as_json(tmp_path, objects):
    rows = {"query_id": ["q", "r"], "retrieved": ['[{"doc_id": "b", "document.id": "b"}]', objects]}
    pl.DataFrame({**rows, "relevant": ["['b']", "['a']"]}).write_csv(tmp_path / "log.csv")
    log = ir.read_log(tmp_path / "log.csv", ids="document.id" if "document" in objects else "doc_id")
    assert log.run["doc_id"].to_list() == ["b", "a"][: 2 - (objects == "[]")]


def test_numbers_of_retrieved_objects_are_columns_of_the_run_unless_they_play_another_role():
    beside = {"score": 0.5, "rank": 1, "year": 2020, "step": 7, "title": "t", "metadata": {"tokens": 3, "id": 4}}
    found = [{"id": id, **beside, "price": price} for id, price in (("a", 1), ("b", 2.5), ("a", None))]
    record = {"qid": "q", "retrieved": found, "relevant": ["a"]}
    log = ir.read_log([record], duplicates="first")
    assert log.run.drop("query_id").rows() == [("a", 2, 3, 1.0), ("b", 1, 3, 2.5)]
    assert log.run.columns[3:] == ["tokens", "price"]
    calls = ir.read_log([{**record, "retrieved": [found[:1], [], found[1:]]}])
    assert calls.run.select("step", "doc_id", "price").rows() == [(1, "a", 1.0), (3, "b", 2.5), (3, "a", None)]


@pytest.mark.parametrize("name", ["lc", "start_char_idx", "split_id"])
def test_numbers_that_a_tool_writes_for_itself_are_no_columns(name):
    found = [{"id": "a", "metadata": {name: 1, "tokens": 3}}]
    run = ir.read_log([{"qid": "q", "retrieved": found, "relevant": ["a"]}]).run
    assert run.columns == ["query_id", "doc_id", "score", "tokens"]


def test_a_log_without_records_is_told():
    with pytest.raises(ir.IRError, match=r"frame has no records\."):
        ir.read_log(pl.DataFrame({"query_id": [], "retrieved": []}))


@pytest.mark.parametrize("ids", [None, "text", "fact"])
def test_ids_are_not_advised_under_a_name_that_one_side_lacks(ids):
    record = {"query": "q?", "retrieval_list": [{"text": "a"}], "gold_list": [{"fact": "a"}]}
    with pytest.raises(ir.IRError, match=r"Log ids on both sides, or texts, in fields of the same name\.$"):
        ir.read_log([record], retrieved="retrieval_list", relevant="gold_list", ids=ids)
    renamed = {**record, "gold_list": [{"text": "a"}]}
    with pytest.warns(ir.IRWarning, match="1 of 1 relevant texts"):
        assert ir.read_log([renamed], retrieved="retrieval_list", relevant="gold_list").run.height == 1


@pytest.mark.parametrize(
    ("record", "tokens"),
    [
        ({"retrieved": ["a", "b"], "tokens": [300, 600]}, [300, 600]),
        ({"retrieved": [{"id": "a"}, {"id": "b"}], "n_tokens": [300, 600]}, [300, 600]),
        ({"retrieved": [{"id": "a", "tokens": "300"}, {"id": "b", "tokens": "600"}]}, [300, 600]),
        ({"retrieved": [{"id": "a", "tokens": "300"}, {"id": "b", "tokens": "many"}]}, [300, None]),
        ({"retrieved": [{"id": "a", "sentence": "Who?"}, {"id": "b", "sentence": "Me."}]}, None),
        ({"retrieved": ["a", "b"], "tokens": [300, 600, 1]}, None),
        ({"retrieved": ["a", "b"], "tokens": ["who", "is"]}, None),
        ({"retrieved": ["a", "b"], "relevant_ids": [3, 6]}, None),
        ({"retrieved": [["a"], ["b"]], "tokens": [[300], [600]]}, None),
    ],
)
def test_costs_may_be_texts_of_numbers_or_a_list_beside_the_documents(record, tokens):
    run = ir.read_log([{"qid": "q", "relevant": ["a"], **record}]).run
    found = [name for name in run.columns if name not in ("query_id", "doc_id", "score", "step")]
    assert [run[name].to_list() for name in found] == ([] if tokens is None else [tokens])


@pytest.mark.parametrize("turned", [1, -1])
def test_of_two_numbers_of_a_name_the_one_of_the_lesser_depth_counts_also_where_it_is_null(turned):
    fields = [("id", "a"), ("metadata", {"tokens": 7}), ("tokens", 3)][::turned]
    found = [dict(fields), {**dict(fields), "id": "b", "tokens": None}]
    run = ir.read_log([{"qid": "q", "retrieved": found, "relevant": ["a"]}]).run
    assert run["tokens"].to_list() == [3, None]


def test_fields_are_named_by_their_paths_and_ids_may_be_in_metadata(write):
    record = {"in": {"q": "1"}, "out": {"docs": [{"page_content": "t", "metadata": {"key": "d"}}]}, "gold": ["d"]}
    log = ir.read_log(write([record]), query="in.q", retrieved="out.docs", ids="metadata.key")
    assert log.run.rows() == [("1", "d", 1)]
    of_json = span("t", "01", [{"document.content": "x", "document.metadata": '{"key": "d"}'}], "q")
    assert ir.read_log(write([of_json]), ids="document.metadata.key").run["doc_id"].to_list() == ["d"]


def test_ids_are_text_where_one_side_has_text_and_whole_where_a_null_made_floats_of_them(write):
    assert ir.read_log(write([{"id": 1, "retrieved": [7], "relevant": ["7"]}])).run["doc_id"].to_list() == ["7"]
    frame = pl.DataFrame({"id": [1], "retrieved": [[7.0, 8.0]], "relevant": [["7"]]})
    assert ir.read_log(frame).run["doc_id"].to_list() == ["7", "8"]


# Groups, calls and traces.


def test_lists_of_relevant_documents_are_groups(write):
    log = ir.read_log(write([{"id": 1, "retrieved": [*"BxCAD"], "relevant": [["A", "B"], ["C"], ["D"]]}]))
    values = ir.evaluate(log.run, log.qrels, ["StRecall@4", "FullRecall@4", "FullRecall@5", "GroupRR", "R@4"])
    assert values.row(0)[1:] == pytest.approx((2 / 3, 0, 1, (1 + 1 / 3 + 1 / 5) / 3, 0.75))


@pytest.mark.parametrize("form", ["lists", "steps"])
def test_calls_are_lists_of_lists_or_records_with_steps(write, form):
    calls = [[*"AxB"], [*"yAC"]]
    if form == "lists":
        log = ir.read_log(write([{"id": 1, "retrieved": calls, "relevant": [*"ABC"]}]))
    else:
        records = [{"id": 1, "turn": 3 * number, "retrieved": call} for number, call in enumerate(calls)]
        log = ir.read_log(write([{**records[0], "relevant": [*"ABC"]}, records[1]]), step="turn")
    merged = ir.merge_calls(log.run)
    assert merged["doc_id"].to_list() == [*"AxByC"]
    cumulative = ir.merge_calls(log.run, cumulative=True)
    assert ir.evaluate(cumulative, log.qrels, "R", by="step")["R"].to_list() == pytest.approx([2 / 3, 1])


def test_calls_may_be_of_several_systems(write):
    records = [{"id": 1, "run": name, "turn": n, "retrieved": [name * n]} for name in "ab" for n in (2, 1)]
    assert "step='turn'" in message_of(lambda: ir.read_log(write(records)))
    merged = ir.merge_calls(ir.read_log(write(records), step="turn").run)
    assert merged.select("run", "doc_id").rows() == [("a", "a"), ("a", "aa"), ("b", "b"), ("b", "bb")]


def test_calls_of_records_with_steps_are_numbered_in_the_order_of_these(write):
    records = [{"id": 1, "turn": 2, "retrieved": [["b"], ["c"]]}, {"id": 1, "turn": 1, "retrieved": [["a"]]}]
    run = ir.read_log(write(records), step="turn").run
    assert run.select("step", "doc_id").rows() == [(1, "a"), (2, "b"), (3, "c")]


def test_a_query_without_any_call_keeps_its_judgments(write):
    log = ir.read_log(
        write([{"id": 1, "retrieved": [["a"]], "gold": ["a"]}, {"id": 2, "retrieved": [], "gold": ["b"]}])
    )
    assert ir.evaluate(log.run, log.qrels, "R").rows() == [(1, 1.0), (2, 0.0)]


def test_a_trace_is_a_query_and_its_spans_are_calls_by_their_start(write):
    found = [{"document.id": "a", "document.content": "A"}], [{"document.id": "b", "document.content": "B"}]
    records = [
        span("t", "02", found[1], "second"),
        span("t", "01.5", found[0], "first"),
        span("t", "01", None, "asked", kind="CHAIN"),
        span("nothing", "03", None, "lost"),
        span("no retriever", "03", None, "chat", kind="LLM"),
    ]
    log = ir.read_log(write(records))
    assert log.run.select("step", "query_id", "doc_id").rows() == [(1, "t", "a"), (2, "t", "b")]
    assert dict(log.queries.rows()) == {"t": "asked", "nothing": "lost"}


def attribute(key, **value):
    return {"key": key, "value": value}


def test_otlp_has_numbered_documents_in_the_order_of_their_numbers(write):
    numbered = [attribute(f"retrieval.documents.{place}.document.id", intValue=str(place)) for place in (10, 2, 0)]
    whole = [attribute("id", stringValue="z"), attribute("score", doubleValue=0.5)]
    spans = [
        {
            "traceId": "t",
            "startTimeUnixNano": "1",
            "attributes": [attribute("input.value", stringValue="q"), *numbered],
        },
        {
            "traceId": "u",
            "startTimeUnixNano": "2",
            "attributes": [
                attribute("gen_ai.retrieval.query.text", stringValue="r"),
                attribute("gen_ai.retrieval.documents", arrayValue={"values": [{"kvlistValue": {"values": whole}}]}),
            ],
        },
    ]
    log = ir.read_log(write({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}, "spans.json"))
    assert log.run["doc_id"].to_list() == ["0", "2", "10", "z"]
    assert log.queries.rows() == [("t", "q"), ("u", "r")]


ASKED, KEY = attribute("input.value", stringValue="q"), "gen_ai.retrieval.documents"
SPAN = {"traceId": "t", "startTimeUnixNano": "1", "attributes": [ASKED]}

#: Scopes of OTLP, and the retrieved ids.
SCOPES = {
    "a score in words": ([attribute(KEY, stringValue='[{"id": "a", "score": "high"}]')], ["a"]),
    "a numbered score in words": (
        [
            attribute("retrieval.documents.0.document.id", stringValue="a"),
            attribute("retrieval.documents.0.document.score", stringValue="high"),
        ],
        ["a"],
    ),
    "nothing found": ([attribute(KEY, stringValue="[]")], []),
    "an empty array": ([attribute(KEY, arrayValue={"values": []})], []),
    "an array without values": ([attribute(KEY, arrayValue={})], []),
    "no documents": ([attribute("gen_ai.operation.name", stringValue="retrieval")], []),
}


@pytest.mark.parametrize(("attributes", "ids"), SCOPES.values(), ids=SCOPES)
@pytest.mark.parametrize("lacking", ["", "startTimeUnixNano"])
def test_otlp_may_lack_values(write, attributes, ids, lacking):
    one = {name: value for name, value in {**SPAN, "attributes": attributes}.items() if name != lacking}
    log = ir.read_log(write({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}, "spans.json"))
    assert log.run["doc_id"].to_list() == ids
    assert log.queries is None or log.queries["query_id"].to_list() == ["t"]


def test_traces_of_which_nothing_says_that_they_retrieved_are_left_out_and_told(write):
    found = [ASKED, attribute(KEY, stringValue='[{"id": "a"}]')]
    empty = [ASKED, attribute(KEY, arrayValue={"values": []})]
    chat = [ASKED, attribute("openinference.span.kind", stringValue="LLM")]
    spans = [{**SPAN, "traceId": id, "attributes": of} for id, of in zip("abcd", (found, empty, [], chat), strict=True)]
    path = write({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}, "spans.json")
    with pytest.warns(ir.IRWarning, match="has 1 trace whose spans have neither documents nor a kind.*: 'c'"):
        log = ir.read_log(path)
    assert log.queries["query_id"].to_list() == ["a", "b"]


@pytest.mark.parametrize(
    ("scopes", "says"),
    [
        ([], "has no spans"),
        ([{"spans": []}], "has no spans"),
        ([{"spans": [{**SPAN, "attributes": []}]}], "has no span of a retriever"),
        ([{"spans": [{**SPAN, "attributes": [attribute(KEY, stringValue='[{"id": "a')]}]}], "not JSON, 1 of 1"),
        ([{"spans": [{**SPAN, "attributes": [attribute(KEY, stringValue='["a"]')]}]}], "must be a list of objects"),
    ],
)
def test_otlp_without_spans_or_with_documents_that_were_cut_is_refused(write, scopes, says):
    path = write({"resourceSpans": [{"scopeSpans": scopes}]}, "spans.json")
    assert says in message_of(lambda: ir.read_log(path))


def test_scores_that_openinference_numbers_may_be_words(write):
    keys = {"retrieval.documents.0.document.id": "a", "retrieval.documents.0.document.score": "high"}
    record = {"context": {"trace_id": "t"}, "start_time": "1", "attributes": {"input.value": "q", **keys}}
    assert ir.read_log(write([record])).run["doc_id"].to_list() == ["a"]


def test_attributes_that_number_documents_are_in_the_order_of_their_numbers(write):
    numbered = {f"retrieval.documents.{place}.document.id": f"d{place}" for place in (10, 2, 0)}
    record = {"context": {"trace_id": "t"}, "start_time": "1", "attributes": {"input.value": "q", **numbered}}
    assert ir.read_log(write([record])).run["doc_id"].to_list() == ["d0", "d2", "d10"]


# Data sets, which have no ranking.

HOTPOTQA = {
    "_id": "q", "question": "?", "supporting_facts": [["A", 0], ["A", 2], ["B", 1]],
    "context": [["A", ["1.", "2."]], ["B", ["3."]]],
}  # fmt: skip
COLUMNAR = {
    "id": "q", "question": "?", "supporting_facts": {"title": ["A", "A", "B"], "sent_id": [0, 2, 1]},
    "context": {"title": ["A", "B"], "sentences": [["1.", "2."], ["3."]]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("records", "name"),
    [([HOTPOTQA], "log.json"), ([HOTPOTQA], "log.jsonl"), ([COLUMNAR], "log.jsonl")],
    ids=["JSON", "lines", "columns"],
)
def test_hotpotqa_has_a_document_for_each_title(write, records, name):
    log = ir.read_log(write(records, name))
    assert log.run is None
    assert log.qrels.rows() == [("q", "A", 1), ("q", "B", 1)]
    assert log.documents.rows() == [("A", "1.2."), ("B", "3.")]


DATA_SETS = {
    "MuSiQue": (
        [
            {"id": "q", "question": "?", "answerable": can, "paragraphs": [{"idx": 0, "is_supporting": True}]}
            for can in (True, False)
        ],
        [("q", 0, 1)],
    ),
    "LongMemEval": (
        [{"question_id": id, "question": "?", "answer_session_ids": ["s"]} for id in ("q", "q_abs")],
        [("q", "s", 1)],
    ),
    "BRIGHT": ([{"id": "q", "query": "?", "gold_ids": ["d"], "excluded_ids": ["N/A"]}], [("q", "d", 1)]),
    "LlamaIndex": (
        {"queries": {"q": "?"}, "corpus": {"d": "text"}, "relevant_docs": {"q": ["d"]}, "mode": "text"},
        [("q", "d", 1)],
    ),
}


RANKED = {
    "HotpotQA": {**HOTPOTQA, "retrieved": ["X", "A"]},
    "MuSiQue": {"id": "q", "paragraphs": [{"idx": 0, "is_supporting": True}], "retrieved": [7, 0]},
    "LongMemEval": {"question_id": 1, "question": "?", "answer_session_ids": ["s"], "retrieved": ["x", "s"]},
    **{
        f"BRIGHT that excludes {excluded}": {"id": "q", "retrieved": [1, 2], "gold_ids": [2], "excluded_ids": excluded}
        for excluded in ([], None, ["N/A"], [7])
    },
    "BRIGHT of texts": {"id": "q", "retrieved": ["x", "d"], "gold_ids": ["d"], "excluded_ids": [7]},
}


@pytest.mark.parametrize("record", RANKED.values(), ids=RANKED)
def test_data_sets_may_have_rankings_beside(write, record):
    log = ir.read_log(write([record]))
    assert ir.evaluate(log.run, log.qrels, "RR")["RR"].to_list() == [0.5]


def test_titles_of_hotpotqa_are_ids_whatever_blanks_they_hold(write):
    facts = {"supporting_facts": [["Ed Wood", 0]], "context": [["Ed Wood", ["A film."]], ["Else where", ["."]]]}
    log = ir.read_log(write([{**HOTPOTQA, **facts, "retrieved": ["Some other", "Ed Wood"]}]))
    assert log.run["doc_id"].to_list() == ["Some other", "Ed Wood"]
    assert log.documents.rows()[0] == ("Ed Wood", "A film.")


@pytest.mark.parametrize(("records", "rows"), DATA_SETS.values(), ids=DATA_SETS)
def test_data_sets_have_judgments_and_no_run(write, records, rows):
    log = ir.read_log(write(records, "data.json"))
    assert log.run is None
    assert log.qrels.rows() == rows
    assert log.queries["text"].to_list() == ["?"]


def test_documents_that_bright_excludes_leave_the_run(write):
    record = {"id": "q", "mine": ["x", "d"], "gold_ids": ["d"], "excluded_ids": ["x"]}
    assert ir.read_log(write([record]), retrieved="mine").run["doc_id"].to_list() == ["d"]


# Ids, texts and times that do not agree.

SAT = {"question": "q", "retrieved": [{"id": "c1", "text": "The cat sat"}], "relevant": ["The  cat sat"]}
TITLED = {"question": "q", "retrieved": [{"id": "A title", "text": "t"}], "relevant": ["A title"]}
RAGAS = {
    "user_input": "q", "retrieved_context_ids": ["d"], "reference_context_ids": ["e"],
    "retrieved_contexts": ["T"], "reference_contexts": ["T"],
}  # fmt: skip
NO_IDS = {name: None if name.endswith("ids") else value for name, value in RAGAS.items()} | {"user_input": "r"}
NO_FIELDS = {name: value for name, value in NO_IDS.items() if value is not None}

BY_TEXT = {
    "texts beside objects": [SAT],
    "groups of texts": [{**SAT, "relevant": [["The cat sat"], ["Another"]]}],
    "texts beside whole numbers": [{**SAT, "retrieved": [{"id": 7, "text": "The cat sat"}]}],
    "texts beside titles": [SAT, {**SAT, "question": "r", "retrieved": [{"id": "A title", "text": "The cat sat"}]}],
    "ids of some records": [RAGAS, NO_FIELDS],
    "ids that are null": [NO_IDS],
    "numbers": [{"input": "q", "retrieval_context": [7], "context": ["7"]}],
    "ids that are empty": [{**RAGAS, "retrieved_context_ids": [], "reference_context_ids": []}],
}


@pytest.mark.parametrize("records", BY_TEXT.values(), ids=BY_TEXT)
def test_documents_are_compared_by_texts_where_a_side_lacks_ids(write, records):
    with pytest.warns(ir.IRWarning, match="texts stand in for them"):
        log = ir.read_log(write(records))
    assert ir.evaluate(log.run, log.qrels, "RR")["RR"].to_list() == [1.0] * len(records)


def test_the_field_of_ids_that_the_relevant_ones_are_is_named():
    retrieved = [{"page_content": "The cat", "metadata": {"source": "a.md", "page": 1}}]
    records = [{"query": "q", "source_documents": retrieved, "relevant": ["a.md"]}]
    with pytest.warns(ir.IRWarning, match=r"0 of 1 relevant texts.* Ids are in .*: ids='metadata.source'"):
        ir.read_log(records)
    log = ir.read_log(records, ids="metadata.source")
    assert ir.evaluate(log.run, log.qrels, "RR")["RR"].to_list() == [1.0]


@pytest.mark.parametrize(
    ("of_first", "of_second", "relevant"),
    [
        ({"page": 1}, {"page": 2}, ["2"]),
        ({"language": "en"}, {"language": "en"}, ["en"]),
        ({"source": "a.md"}, {"source": "a.md"}, ["a.md"]),
        ({"source": "a.md"}, {"source": "b.md"}, ["a.md", "A dog", "A cow"]),
        ({"source": "a.md"}, {"source": "b.md"}, [{"page_content": "a.md"}]),
    ],
    ids=["pages", "languages", "chunks of a document", "a minority", "relevant objects"],
)
def test_a_field_that_is_hardly_one_of_ids_is_not_named(of_first, of_second, relevant):
    retrieved = [{"page_content": "A cat", "metadata": of_first}, {"page_content": "A bird", "metadata": of_second}]
    with pytest.warns(ir.IRWarning, match=r"with one blank for white space\)\.$"):
        ir.read_log([{"query": "q", "source_documents": retrieved, "relevant": relevant}])


def test_distances_in_a_field_of_objects_are_named_by_its_path():
    retrieved = [{"id": "d1", "hit": {"distance": 0.1}}, {"id": "d2", "hit": {"distance": 0.2}}]
    log = ir.read_log([{"query": "q", "retrieved": retrieved, "relevant": ["d2"]}], scores="hit.distance")
    assert log.run["score"].to_list() == [-0.1, -0.2]


def test_ids_may_hold_blanks_beside_objects(write):
    log = ir.read_log(write([TITLED, {**TITLED, "question": "r", "relevant": ["Other"]}]))
    assert log.run["doc_id"].to_list() == ["A title"] * 2
    assert ir.evaluate(log.run, log.qrels, "RR")["RR"].to_list() == [1.0, 0.0]


@pytest.mark.parametrize("side", ["run", "qrels"])
def test_a_column_without_a_value_is_no_side(write, side):
    lacking = {"run": "retrieved", "qrels": "relevant"}[side]
    record = {"query_id": 1, "retrieved": ["a"], "relevant": ["a"]} | {lacking: None}
    for source in (write([record]), pd.DataFrame([record])):
        log = ir.read_log(source)
        assert getattr(log, side) is None
        assert log.queries is None


#: Times of two calls of which the second is earlier: by zone, by fraction, and by value.
TIMES = [
    ("2026-01-01T09:00:00+00:00", "2026-01-01T10:00:00+02:00"),
    ("2026-01-01 09:00:00.5", "2026-01-01T09:00:00Z"),
    ("2026-01-02", "2026-01-01"),
    ("10", "9"),
    (10, 9),
]


@pytest.mark.parametrize(("first", "second"), TIMES)
def test_calls_are_in_the_order_of_their_times(write, first, second):
    spans = [
        {**span("t", "", [{"document.id": id}], "q"), "start_time": at} for at, id in ((first, "b"), (second, "a"))
    ]
    calls = [{"id": "t", "timestamp": at, "retrieved": [id]} for at, id in ((first, "b"), (second, "a"))]
    for records, step in ((spans, None), (calls, "timestamp")):
        run = ir.read_log(write(records), step=step).run
        assert ir.merge_calls(run)["doc_id"].to_list() == ["a", "b"]


# What is refused, or told.

REFUSED = {
    "an unknown field": ([{"frage": 1, "treffer": ["a"], "gold_ids": ["a"]}], {}, "relevant='gold_ids')"),
    "a name that is not there": ([{"id": 1, "retrieved": ["a"]}], {"relevant": "golden"}, "'golden' (relevant)"),
    "objects without ids": ([{"id": 1, "retrieved": [{"url": "a"}], "gold": ["a"]}], {}, "ids='url'"),
    "a wrong field of ids": ([{"id": 1, "retrieved": [{"id": "a"}]}], {"ids": "idd"}, "Did you mean 'id'?"),
    "objects beside ids": (
        [{"id": 1, "retrieved": [{"id": "a"}], "gold": ["a"]}, {"id": 2, "retrieved": ["a"], "gold": ["a"]}],
        {},
        "holds JSON in the place of an id",
    ),
    "groups beside a flat list": (
        [{"id": 1, "retrieved": ["a"], "gold": [["a"]]}, {"id": 2, "retrieved": ["a"], "gold": ["a"]}],
        {},
        "gold as lists of lists in all rows or in none",
    ),
    "7 beside 7.5": ([{"id": 1, "retrieved": [7, 7.5], "relevant": [7]}], {}, "not a whole number"),
    "a null": ([{"id": 1, "retrieved": ["a", None], "relevant": ["a"]}], {}, "holds a null"),
    "an empty group": ([{"id": 1, "retrieved": ["a"], "relevant": [["a"], []]}], {}, "a group without a document"),
    "an object of scores": ([{"id": 1, "retrieved": {"a": 0.5}, "relevant": ["a"]}], {}, "must be a list"),
    "a query twice": ([{"id": 1, "turn": n, "retrieved": ["a"]} for n in (1, 2)], {}, "step='turn'"),
    "a query at two times": ([{"id": 1, "at": at, "retrieved": ["a"]} for at in TIMES[0]], {}, "step='at'"),
    "a query of two systems": (
        [{"id": 1, "model": name, "retrieved": ["a"]} for name in "ab"],
        {},
        "If 'model' names the system, rename it to 'run'; if they are its calls, add a field",
    ),
    "a query twice without more": ([{"id": 1, "retrieved": ["a"]}] * 2, {}, "If they are its calls, add a field"),
    "a step in words": ([{"id": 1, "at": "then", "retrieved": ["a"]}], {"step": "at"}, "write times in ISO 8601"),
    "no step": ([{"id": 1, "at": at, "retrieved": ["a"]} for at in (1, None)], {"step": "at"}, "1 row without 'at'"),
    "an unknown step of spans": ([span("t", "01", [{"document.id": "a"}], "q")], {"step": "at"}, "'at' (step)"),
    "texts beside bare ids": ([{**SAT, "retrieved": [{"id": "c1"}]}], {}, "ids alone in 'retrieved'"),
    "ids among texts": ([SAT, {**SAT, "question": "r", "relevant": ["c1"]}], {}, "1 row whose 'relevant' holds ids"),
    "ids of one, texts of another": (
        [{name: value for name, value in RAGAS.items() if "contexts" not in name}, NO_IDS],
        {},
        "1 row without texts of the documents in 'retrieved_context_ids'",
    ),
    "scores that rise": (
        [{"id": 1, "retrieved": [{"id": "a", "score": 1}, {"id": "b", "score": 2}]}],
        {},
        "scores=False",
    ),
    "scores that rise around a null": (
        [
            {
                "id": 1,
                "retrieved": [{"id": id, "score": score} for id, score in zip("abc", (0.5, None, 0.9), strict=True)],
            }
        ],
        {},
        "scores=False",
    ),
    "scores in texts that rise": (
        [{"id": 1, "retrieved": [{"id": "a", "score": "9"}, {"id": "b", "score": "10"}]}],
        {},
        "scores=False",
    ),
    "objects as Python prints them": (
        [{"id": 1, "retrieved": "[{'id': 'a'}]", "relevant": ["a"]}],
        {},
        "has texts in 'retrieved' that are not JSON, 1 of 1. Write them as JSON",
    ),
    "a text in the place of texts": ([{"input": "q", "retrieval_context": "a text"}], {}, "must be a list"),
    "an object in the place of texts": ([{"input": "q", "retrieval_context": {"a": 1}}], {}, "must be a list"),
    "calls without their scores": (
        [{"id": 1, "retrieved": [["a"], ["b"]], "scores": [[0.5]]}],
        {},
        "1 row whose 'retrieved' and 'scores' differ in length",
    ),
    "three lists around an id": ([{"id": 1, "retrieved": [[["a"]]]}], {}, "it is List(List(List(String)))"),
    "three lists around a relevant id": (
        [{"id": 1, "retrieved": ["a"], "relevant": [[["a"]]]}],
        {},
        "column 'relevant' must be a list of ids",
    ),
    "no query": ([{"id": 1, "retrieved": ["a"]}, {"id": None, "retrieved": ["b"]}], {}, "1 row without 'id'"),
    "lists of queries": ([{"id": 1, "retrieved": ["a"]}], {"query": "retrieved"}, "must be ids, texts or integers"),
    "scores that are not there": ([{"id": 1, "retrieved": ["a"]}], {"scores": "bm25"}, "no scores 'bm25'"),
    "ids beside texts": (
        [{"user_input": "q", "retrieved_context_ids": [1], "reference_contexts": ["a text"]}],
        {},
        "has texts alone in 'reference_contexts', and 'retrieved_context_ids' ids",
    ),
}


@pytest.mark.parametrize(("records", "options", "says"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_read_is_an_error_that_tells_what_to_do(write, records, options, says):
    path = write(records)
    message = message_of(lambda: ir.read_log(path, **options))
    assert says in message
    assert "frame" not in message.replace("pl.DataFrame", "")


def test_the_advice_on_unknown_fields_runs():
    frame = pl.DataFrame({"frage": ["q"], "treffer": [["a"]], "gold_ids": [["a"]]})
    message = message_of(lambda: ir.read_log(frame))
    log = eval(message.rpartition("Say which they are: ")[2].removesuffix("."))  # noqa: S307  # what users would paste
    assert ir.evaluate(log.run, log.qrels, "RR")["RR"].to_list() == [1.0]


def test_scores_are_ignored_used_or_distances(write):
    path = write([{"id": 1, "retrieved": [{"id": "a", "score": 1}, {"id": "b", "score": 2}]}])
    assert ir.read_log(path, scores=False).run["score"].to_list() == [2, 1]
    assert ir.read_log(path, scores="distance").run["score"].to_list() == [-1, -2]
    falling = write([{"id": 1, "retrieved": [{"id": "a", "score": 2}, {"id": "b", "score": 1}]}])
    assert ir.read_log(falling, scores="score").run["score"].to_list() == [2, 1]


def test_words_in_the_place_of_scores_are_refused_where_scores_are_used(tmp_path):
    rows = {"query_id": ["q"], "retrieved": ["['a']"], "relevant": ["['a']"], "scores": ["['high']"]}
    pl.DataFrame(rows).write_csv(tmp_path / "log.csv")
    assert ir.read_log(tmp_path / "log.csv").run["score"].to_list() == [1]
    log = ir.read_log(tmp_path / "log.csv", scores="scores")
    assert "1 row whose 'score' is null" in message_of(lambda: ir.evaluate(log.run, log.qrels, "RR"))


def test_a_repeated_document_counts_once_where_that_is_asked(write):
    path = write([{"id": 1, "retrieved": ["a", "a"], "relevant": ["a"]}])
    log = ir.read_log(path)
    assert "repeat the ids of another" in message_of(lambda: ir.evaluate(log.run, log.qrels, "RR"))
    once = ir.read_log(path, duplicates="first")
    assert ir.evaluate(once.run, once.qrels, ["SetP", "R"]).row(0) == (1, 1.0, 1.0)


def test_questions_without_gold_are_not_judged_and_empty_gold_is(write):
    records = [{"id": 1, "retrieved": ["a"], "gold": ["a"]}, {"id": 2, "retrieved": ["a"]}]
    log = ir.read_log(write([*records, {"id": 3, "retrieved": ["a"], "gold": []}]))
    assert log.qrels.rows() == [(1, "a", 1), (3, None, None)]


@pytest.mark.parametrize("kind", [pl.DataFrame.lazy, pl.DataFrame.to_pandas], ids=["lazy", "pandas"])
def test_tables_are_of_the_kind_of_the_frame(kind):
    frame = pl.DataFrame([OF_IDS["ragas"]])
    log, wanted = ir.read_log(kind(frame)), ir.read_log(frame)
    assert isinstance(log.run, type(kind(frame)))
    run = pl.from_pandas(log.run) if isinstance(log.run, pd.DataFrame) else log.run.collect()
    assert run.rows() == wanted.run.rows()


def test_dicts_are_read_as_lines_are():
    records = [
        {"question": "q", "retrieved": [7], "relevant": [7], "day": date(2026, 1, 1)},
        {"question": "r", "retrieved": ["07"], "relevant": float("nan"), "day": None},
    ]
    for given in (records, tuple(records)):
        run, qrels, *_ = ir.read_log(given)
        assert (run["doc_id"].to_list(), qrels.rows()) == (["7", "07"], [("q", "7", 1)])
    with pytest.raises(ir.IRError, match="holds a set, which has no order"):
        ir.read_log([{"question": "q", "retrieved": {"a"}, "relevant": ["a"]}])


def test_the_same_log_is_read_from_parquet_csv_and_json(tmp_path):
    frame = pl.DataFrame([OF_IDS["ragas"]])
    wanted = ir.read_log(frame).run.rows()
    frame.write_parquet(tmp_path / "log.parquet")
    (tmp_path / "log.json").write_text(json.dumps(frame.to_dicts()), "utf-8")
    frame.with_columns(pl.format("['{}']", pl.col(pl.List(pl.String)).list.join("', '"))).write_csv(
        tmp_path / "log.csv"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("log.parquet", "log.json", "log.csv"):
            assert ir.read_log(tmp_path / name).run.rows() == wanted, name
