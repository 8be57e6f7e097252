"""Documents with the same text under two ids, questions that documents hold, and gold whose twin is not judged."""

import random
import warnings
from importlib.util import find_spec
from itertools import combinations

import polars as pl
import pytest
from messages import message_of
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir import extras

needs_rensa = pytest.mark.skipif(find_spec("rensa") is None, reason="needs the extra twins")

FINDING = "relevant documents with unjudged twins"


def corpus(seed, n=60):
    """Texts of a few words, some copied as they are, some with a word or two changed."""
    draw = random.Random(seed)
    texts = {f"d{i:02}": draw.choices("abcdefghij", k=draw.randint(0, 30)) for i in range(n)}
    for number, id in enumerate(draw.sample(sorted(texts), n // 2)):
        copy = list(texts[id])
        for _ in range(min(number % 3, len(copy))):
            copy[draw.randrange(len(copy))] = "x"
        texts[f"c{number:02}"] = copy
    return {id: " ".join(words) for id, words in texts.items()}


def shingles(text):
    words = text.split()
    return {" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))}


def by_hand(texts, least):
    """The groups of connected documents, and each document's most similar other one."""
    sets = {id: shingles(text) for id, text in texts.items() if text}
    similar = {}
    for one, other in combinations(sorted(sets), 2):
        if sets[one] and (value := len(sets[one] & sets[other]) / len(sets[one] | sets[other])) >= least:
            same = texts[one] == texts[other]
            if same or least < 1:
                similar[one, other] = value
    group = {id: id for pair in similar for id in pair}
    for _ in group:
        for one, other in similar:
            group[one] = group[other] = min(group[one], group[other])
    rows = []
    for id in sorted(group):
        others = [(-v, b if a == id else a) for (a, b), v in similar.items() if id in (a, b)]
        rows.append((group[id], id, min(others)))
    numbers = {label: number for number, label in enumerate(sorted(set(group.values())), 1)}
    return sorted((numbers[label], id, other, -value) for label, id, (value, other) in rows)


@needs_rensa
@pytest.mark.parametrize("seed", range(3))
def test_twins_are_those_of_all_pairs(seed):
    texts = corpus(seed)
    found = ir.twins(texts, similarity=0.7)
    wanted = by_hand(texts, 0.7)
    assert found.drop("similarity", "twin_id").rows() == [row[:2] for row in wanted]
    assert found["similarity"].to_list() == pytest.approx([row[3] for row in wanted])


def test_the_same_text_is_found_whatever_its_form_and_in_every_kind_of_table():
    texts = {"b": "Über  uns:", "a": "ÜBER UNS", "c": "über euch", "d": "", "e": "!?", "f": "u\u0308ber uns"}
    wanted = [(1, "a", "b", 1.0), (1, "b", "a", 1.0), (1, "f", "a", 1.0)]
    assert ir.twins(texts, similarity=1).rows() == wanted
    frame = pl.DataFrame({"_id": list(texts), "title": "x", "contents": list(texts.values())})
    found = ir.twins(frame, similarity=1)
    assert found.columns == ["group", "_id", "twin_id", "similarity"]
    assert ir.twins(frame.reverse(), similarity=1).equals(found)
    assert ir.twins(frame.lazy(), similarity=1).collect().equals(found)
    assert_frame_equal(pl.from_pandas(ir.twins(frame.to_pandas(), similarity=1)), found)
    numbers = pl.DataFrame({"doc_id": [3, 1, 2], "text": ["x", "X", None]})
    assert ir.twins(numbers, similarity=1).rows() == [(1, 1, 3, 1.0), (1, 3, 1, 1.0)]
    assert ir.twins(frame.clear(), similarity=1).is_empty()


@needs_rensa
def test_none_and_many_of_one_template_are_no_error():
    assert ir.twins({"a": "", "b": "x"}).is_empty()
    words = [f"the{at}" for at in range(16)]
    texts = {f"p{i:03}": " ".join([*words, str(i)]) for i in range(150)}
    found = ir.twins(texts)
    assert found["group"].to_list() == [1] * 150
    assert ir.twins({"a": "今日は天気がいいですね東京", "b": "今日は天気がいいですね京都"}, similarity=0.5).height == 2


def test_without_the_extra_only_the_same_text_is_found_and_that_is_said(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    near = " ".join(map(str, range(40)))
    with pytest.warns(ir.IRWarning, match="only documents of the same text are found: others need pip install"):
        assert ir.twins({"a": near, "b": near + " x", "c": near})["doc_id"].to_list() == ["a", "c"]
    with pytest.warns(ir.IRWarning, match="only documents of the same text count as twins"):
        assert ir.validate({"q": ["a"]}, {"q": ["a"]}, documents={"a": near, "b": near + " x"}, only=FINDING).is_empty()


QUERIES = pl.DataFrame(
    {
        "query_id": ["q1", "q2", "q3"],
        "text": ["How do I sort a list in Python?", "what is love", "!?"],
        "answer": ["use sorted", "Paris", None],
    }
)
DOCUMENTS = {
    "d1": "In Python we sort. FAQ: how do I sort a LIST in Python: use sorted()",
    "d2": "Paris is nice",
    "d3": "how do i sort a list",
    "d4": "love is what",
    "d5": None,
}


def test_a_question_or_answer_that_a_document_holds_is_found_with_its_place():
    documents = pl.DataFrame({"doc_id": list(DOCUMENTS), "text": list(DOCUMENTS.values())})
    found = ir.overlap(QUERIES, documents=documents)
    assert found.rows() == [
        ("q1", "d1", "question", 1.0, 5, "how do i sort a list in python"),
        ("q1", "d1", "answer", 1.0, 13, "use sorted"),
        ("q2", "d2", "answer", 1.0, 0, "paris"),
    ]
    half = ir.overlap(QUERIES.drop("answer"), documents=documents, share=0.5)
    assert half.select("doc_id", "share").rows() == [("d1", 1.0), ("d3", 4 / 6)]
    assert ir.overlap(QUERIES.reverse(), documents=documents.reverse()).equals(found)
    assert ir.overlap(QUERIES.lazy(), documents=documents.lazy()).collect().equals(found)
    assert_frame_equal(pl.from_pandas(ir.overlap(QUERIES.to_pandas(), documents=documents.to_pandas())), found)
    assert ir.overlap({"q": "what is love"}, documents={"a": "x"}).is_empty()


def test_the_share_is_of_shingles_in_line():
    scattered = {"d": "a b c z b c d z c d e z d e f z e f g z f g h", "e": "x a b c d e f g h"}
    found = ir.overlap({"q": "a b c d e f g h"}, documents=scattered, share=0.1)
    assert found.select("doc_id", "share", "place").rows() == [("d", 1 / 6, 0), ("e", 1.0, 1)]


def test_queries_have_ids_as_documents_have_and_lists_of_answers():
    queries = pl.DataFrame({"_id": ["q"], "text": ["who"], "answers": [["the cat", "a dog"]]})
    found = ir.overlap(queries, documents=pl.DataFrame({"_id": ["d"], "text": ["see a dog"]}))
    assert found.select("_id", "doc_id", "contained", "place").rows() == [("q", "d", "answer", 1)]


def test_short_answers_that_stand_everywhere_are_left_out_and_told():
    documents = {f"d{i:03}": "yes it is" if i else "Paris it is" for i in range(102)}
    answers = pl.DataFrame({"query_id": ["p", "q", "r"], "answer": ["yes", "Yes!", "Paris"]})
    with pytest.warns(ir.IRWarning, match="leaves out 1 short text that more than 100 documents hold.*first: 'yes'"):
        assert ir.overlap(answers, documents=documents)["query_id"].to_list() == ["r"]


def test_gold_whose_twin_is_not_judged_is_counted_and_named():
    texts = {"a": "the same text", "b": "The same text!", "c": "another one", "d": "another one", "e": "alone"}
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 0}, "q3": {"c": 0, "e": 1}, "q4": {"c": 2}, "q5": {"b": 0}}
    run = {query: ["e"] for query in qrels}
    for given in (qrels, pl.LazyFrame([(q, d, g) for q, of in qrels.items() for d, g in of.items()],
                                      schema=["query_id", "doc_id", "relevance"], orient="row")):  # fmt: skip
        asked = pl.DataFrame({"query_id": list(run), "doc_id": "e", "score": 1.0})
        asked = asked.lazy() if isinstance(given, pl.LazyFrame) else asked
        found = validated(asked, given, texts).lazy().collect()
        assert found.select("finding", "severity", "count", "share", "examples").rows() == [
            (FINDING, "warning", 2, 0.5, ["q1 a b", "q4 c d"])
        ]
    assert validated({"q": ["a"]}, {"q": {"e": 1}}, texts).is_empty()


def test_a_twin_of_a_twin_is_none_of_gold():
    pytest.importorskip("rensa")
    words = [f"w{i}" for i in range(60)]
    chain = {id: " ".join(words[5 * n :] + [f"x{i}" for i in range(4 * n)]) for n, id in enumerate("abc")}
    assert ir.twins(chain).height == 3
    assert validated({"q": ["a"]}, {"q": {"a": 1, "b": 0}}, chain).is_empty()


@pytest.mark.filterwarnings("ignore:only documents of the same text count")
def test_texts_judged_differently_and_gold_without_a_text_are_found():
    texts = {"a": "the same text", "b": "The same text!"}
    found = ir.validate({"q": ["a"]}, {"q": {"a": 1, "b": 0, "z": 1}}, documents=texts)
    found = found.filter(pl.col("finding").str.contains("judged differently|lack"))
    assert found.select("count", "share", "examples").rows() == [(1, 1.0, ["q a b"]), (1, 0.5, ["z"])]
    with pytest.warns(ir.IRWarning, match="documents has no document that is relevant in the qrels"):
        ir.validate({"q": ["z"]}, {"q": {"z": 1}}, documents=texts)


def validated(run, qrels, documents):
    """The finding, with the extra or without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IRWarning)
        return ir.validate(run, qrels, documents=documents, only=FINDING)


REFUSED = {
    "an id twice": (
        lambda: ir.twins(pl.DataFrame({"doc_id": [1, 1], "text": ["a", "b"]})),
        "documents has 2 rows whose 'doc_id' is that of another. Keep one row of each.",
    ),
    "a null id": (
        lambda: ir.twins(pl.DataFrame({"doc_id": [None, "a"], "text": ["a", "b"]})),
        "documents has 1 row whose 'doc_id' is null. Leave them out.",
    ),
    "no text": (lambda: ir.twins(pl.DataFrame({"doc_id": [1], "x": ["a"]})), "documents has no 'text' column"),
    "no id": (lambda: ir.twins(pl.DataFrame({"x": [1], "text": ["a"]})), "documents has no 'doc_id' column"),
    "too little": (lambda: ir.twins({"a": "b"}, similarity=0.1), "similarity must be from 0.3 to 1; got 0.1"),
    "neither": (lambda: ir.overlap(QUERIES), "overlap needs a test set, or documents"),
    "both": (lambda: ir.overlap(QUERIES, QUERIES, documents=DOCUMENTS), "overlap needs a test set, or documents"),
    "no texts": (lambda: ir.overlap(["q"], documents={"a": "b"}), "queries has no 'text' column"),
    "no ids": (lambda: ir.overlap(QUERIES.select("text"), documents={"a": "b"}), "queries has no 'query_id' column"),
    "a share of no documents": (lambda: ir.overlap(QUERIES, QUERIES, share=0.1), "share is of documents"),
    "mixed ids": (lambda: ir.twins({1: "u", "2": "u"}), "documents mixes types of ids"),
    "no ids of documents": (
        lambda: ir.twins(["u", "u"]),
        "documents has texts without ids. Number them: dict(enumerate(documents))",
    ),
    "no share": (lambda: ir.overlap(QUERIES, documents={"a": "b"}, share=0), "share must be above 0, up to 1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_told(case):
    call, says = REFUSED[case]
    assert message_of(call).startswith(says)
