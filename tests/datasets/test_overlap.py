"""Queries that a training set and a test set share, by id and by text."""

import polars as pl
import pytest
from messages import message_of

from polars_ir.datasets.overlap import normalised, overlap

TRAIN = {"t1": "How do I sort a list?", "t2": "Merge two dicts", "t3": "Read a file"}
COLUMNS = ["query_id", "train_query_id", "shared", "text", "train_text", "note"]


def pairs(train: object, test: object) -> list[tuple[object, ...]]:
    found = overlap(train, test)
    assert found.columns[1:] == COLUMNS[1:]
    return found.select(pl.nth(0, 1, 2)).rows()


def test_by_id_by_text_and_by_both():
    test = {"t3": "Read a file", "q1": "how do I sort a list", "t2": "Reverse a string", "q9": "Parse JSON"}
    assert overlap(TRAIN, test).rows() == [
        ("q1", "t1", "text", "how do I sort a list", "How do I sort a list?", None),
        ("t2", "t2", "id", "Reverse a string", "Merge two dicts", "the same id stands for another text"),
        ("t3", "t3", "both", "Read a file", "Read a file", None),
    ]


def test_an_id_without_a_text_is_no_other_text():
    assert overlap(TRAIN, ["t2"]).rows() == [("t2", "t2", "id", None, "Merge two dicts", None)]
    assert overlap(TRAIN, {"t2": "?!"})["note"].to_list() == [None]


def test_one_query_can_be_in_two_pairs():
    # t2 has the id of one training query and the text of another, which is there twice.
    train = {**TRAIN, "t9": "READ A FILE"}
    assert pairs(train, {"t2": "read a file"}) == [("t2", "t2", "id"), ("t2", "t3", "text"), ("t2", "t9", "text")]


def test_a_query_of_many_rows_is_one_query():
    qrels = pl.DataFrame({"query_id": ["a", "a", "b"], "doc_id": ["d1", "d2", "d1"]})
    assert pairs(qrels, qrels) == [("a", "a", "id"), ("b", "b", "id")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sort a LIST", "sort a list"),
        ("what's  up?\n", "What\u2019s up"),
        ("ﬁle\u00a0names", "file names"),
        ("cafe\u0301", "CAFÉ"),
        ("STRASSE", "Straße"),
        ("ΟΔΟΣ", "οδοσ"),
        ("\ufeffhello", "hel\u00adlo"),
        ("\uff11\uff10 km", "10 km"),
    ],
)
def test_texts_are_the_same_but_for_their_form(one, other):
    assert pairs({"t": one}, {"q": other}) == [("q", "t", "text")]


@pytest.mark.parametrize(("one", "other"), [("C++ list", "C list"), ("a list", "alist"), ("naive", "naïve")])
def test_other_letters_and_signs_make_another_text(one, other):
    assert pairs({"t": one}, {"q": other}) == []


@pytest.mark.parametrize("empty", ["", "  ", "?!", "\u200b", None])
def test_a_text_of_which_nothing_is_left_is_like_no_other(empty):
    assert pairs({"t": empty, "u": "text"}, {"q": empty, "r": "text"}) == [("r", "u", "text")]


def test_normalising_twice_changes_nothing():
    texts = pl.Series([*TRAIN.values(), "Straße", "ΟΔΟΣ ŉ İ \u0131", "ﬁle\u00a0…"])
    once = pl.select(normalised(pl.lit(texts))).to_series()
    assert pl.select(normalised(pl.lit(once))).to_series().equals(once)


def test_a_set_can_have_ids_or_texts_only():
    texts = pl.DataFrame({"Question": ["read a file", "another"]})
    assert pairs(TRAIN, texts) == [(None, "t3", "text")]
    assert pairs(texts, TRAIN) == [("t3", None, "text")]
    assert pairs(["a", "b"], ("b", "c")) == [("b", "b", "id")]


def test_the_query_column_keeps_its_name_and_ids_their_type():
    found = overlap(pl.DataFrame({"topic": [1, 2]}, schema={"topic": pl.Int32}), pl.DataFrame({"qid": [2, 3]}))
    assert found.columns == ["qid", *COLUMNS[1:]]
    assert found.rows() == [(2, 2, "id", None, None, None)]
    wide = pl.DataFrame({"qid": [2**63 + 1]}, schema={"qid": pl.UInt64})
    assert pairs(wide, wide) == [(2**63 + 1, 2**63 + 1, "id")]
    assert pairs([1], wide) == []


def test_categories_are_text():
    test = pl.DataFrame({"query_id": ["t1"], "text": ["read a file"]}).cast(pl.Categorical)
    assert pairs(TRAIN, test) == [("t1", "t1", "id"), ("t1", "t3", "text")]


@pytest.mark.parametrize("nothing", [[], {}, pl.DataFrame({"query_id": []}, schema={"query_id": pl.String})])
def test_an_empty_set_shares_nothing(nothing):
    for found in (overlap(TRAIN, nothing), overlap(nothing, TRAIN)):
        assert found.height == 0
        assert list(found.schema.items()) == [(column, pl.String) for column in COLUMNS]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_lazy_frame_stays_lazy(engine):
    train = pl.DataFrame({"query_id": list(TRAIN), "text": list(TRAIN.values())})
    test = pl.DataFrame({"query_id": ["t3", "q1"], "text": ["merge two dicts", "Read a file."]})
    plan = overlap(train.lazy(), test.lazy())
    assert isinstance(plan, pl.LazyFrame)
    assert plan.collect(engine=engine).equals(overlap(train, test))
    assert isinstance(overlap(train.lazy(), test), pl.DataFrame)


def test_pandas_comes_back_as_pandas():
    pandas = pytest.importorskip("pandas")
    found = overlap(TRAIN, pandas.DataFrame({"qid": ["t2"], "text": ["Merge two dicts!"]}))
    assert isinstance(found, pandas.DataFrame)
    assert found["shared"].tolist() == ["both"]


TEXTS = pl.DataFrame({"text": ["a"]})


@pytest.mark.parametrize(
    ("train", "test", "words"),
    [
        (
            TRAIN,
            pl.DataFrame({"query_id": [1]}),
            ["String in train and Int64 in test", "test.with_columns(pl.col('query_id').cast(pl.String))"],
        ),
        ({1: "a"}, {"q": "a"}, ["Int64 in train and String in test", "Cast those of one."]),
        (["a"], TEXTS, ["both have ids, or both texts; train has query_id, test text"]),
        (TEXTS.with_columns(query="text"), TRAIN, ["train has 2 columns that could be 'text': 'text', 'query'"]),
        (TRAIN, TEXTS.with_columns(qid=1, query_id=2), ["test has 2 columns that could be 'query_id'"]),
        (TRAIN, TEXTS.rename({"text": "words"}), ["test has no 'query_id' column", "question", "it has 'words'"]),
        (TRAIN, TEXTS.with_columns(qid=1.5), ["test column 'qid' must be strings or integers; it is Float64"]),
        ({"q": {"d": 1}}, TRAIN, ["train column 'text' must be strings; it is Struct"]),
        ([1, "a"], TRAIN, ["train mixes types"]),
        (TRAIN, 3, ["test must be a table"]),
        ("train.parquet", TRAIN, ["'train.parquet'"]),
    ],
)
def test_what_can_not_be_compared_is_an_error_that_says_so(train, test, words):
    message = message_of(lambda: overlap(train, test))
    assert [word for word in words if word not in message] == []
