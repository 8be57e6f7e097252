"""The greedy ideal ranking, against one found document by document."""

import random
from collections.abc import Sequence
from math import prod

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.engine.greedy import DEEPEST, with_greedy_rank
from polars_ir.language.cover import GREEDY, Cover, greedy_rank

COVERS = [
    Cover(0.5, 1, None, None),
    Cover(0.9, 2, None, None),
    Cover(0.1, 1, None, "p"),
    Cover(1, 1, {1: 0.3, 2: 0.8, 3: 1}, None),
    Cover(0.7, 1.5, {2: 0.5, 3: 1}, "p"),
    Cover(0, 1, None, None),
]
WEIGHTS = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}


def judgments(seed: int = 0, *, queries: int = 12) -> pl.DataFrame:
    """Judgments of up to 20 documents for four subtopics, with what must not count among them."""
    chance = random.Random(seed)
    rows = [
        (f"q{query}", subtopic, f"d{document}", chance.choice([-1, 0, 0, 1, 2, 3]))
        for query in range(queries)
        for document in range(20)
        for subtopic in chance.sample("abcd", chance.randint(0, 4))
    ]
    frame = pl.DataFrame(rows, schema=["query_id", "subtopic", "doc_id", "relevance"], orient="row")
    return frame.with_columns(p=pl.col("subtopic").replace_strict(WEIGHTS))


def greedy_by_hand(frame: pl.DataFrame, cover: Cover, k: int | None) -> dict[tuple[str, str], int]:
    """The place of every document that has one, found one place after the other."""
    places = {}
    for (query,), rows in frame.group_by("query_id"):
        gain, weight = {}, {}
        for subtopic, document, grade, p in rows.select("subtopic", "doc_id", "relevance", "p").iter_rows():
            if grade is not None and grade >= cover.rel:
                gain[document, subtopic] = 1 if cover.gains is None else cover.gains[grade]
                weight[subtopic] = 1 if cover.weights is None else p
        left, above = {document for document, _ in gain}, []

        def worth(document, gain=gain, weight=weight, above=above):
            return sum(
                weight[s] * gain[d, s] * prod(1 - cover.alpha * gain.get((other, s), 0) for other in above)
                for d, s in gain
                if d == document
            )

        while left and (k is None or len(above) < k):
            best = max(left, key=lambda document: (round(worth(document), 12), document))
            if round(worth(best), 12) == 0:
                break
            left.remove(best)
            above.append(best)
        places |= {(query, document): place for place, document in enumerate(above, 1)}
    return places


def places_of(frame: pl.DataFrame, column: str) -> dict[tuple[str, str], int]:
    """The places of documents; an assertion that all rows of a document have the same."""
    of_documents = (
        frame.filter(pl.col("subtopic").is_not_null()).group_by("query_id", "doc_id").agg(pl.col(column).unique())
    )
    assert (of_documents[column].list.len() == 1).all()
    return {(query, document): place for query, document, (place,) in of_documents.iter_rows() if place is not None}


def ranked(
    frame: pl.DataFrame,
    cover: Cover,
    k: int | None,
    *,
    eager: bool = False,
    engine: str = "in-memory",
    keys: Sequence[str] = ("query_id",),
) -> pl.DataFrame:
    """The judgments with their places, in a column `place`."""
    column = greedy_rank(cover, k).meta.output_name()
    judgments = frame if eager else frame.lazy()
    return with_greedy_rank(judgments, column, keys=keys).collect(engine=engine).rename({column: "place"})


@pytest.mark.parametrize("k", [1, 3, 30, None])
@pytest.mark.parametrize("cover", COVERS)
@pytest.mark.whole("all ways and thresholds", quick=8)
def test_places_are_those_of_a_plain_greedy_search(cover, k):
    frame = judgments(1)
    wanted = greedy_by_hand(frame, cover, k)
    assert wanted
    assert places_of(ranked(frame, cover, k, eager=True), "place") == wanted
    if k is not None:
        for engine in ("in-memory", "streaming"):
            assert places_of(ranked(frame, cover, k, engine=engine), "place") == wanted


def test_nothing_is_lost_or_changed_of_the_judgments():
    frame = judgments(2).with_row_index()
    found = ranked(frame, COVERS[0], 5, eager=True).sort("index")
    assert found.drop("place").equals(frame)


def test_of_equals_the_larger_id_comes_first():
    rows = {"query_id": "q", "subtopic": ["a", "b", "c"], "relevance": 1}
    as_text = ranked(pl.DataFrame(rows | {"doc_id": ["9", "10", "é"]}), COVERS[0], 3)
    assert dict(as_text.select("doc_id", "place").iter_rows()) == {"é": 1, "9": 2, "10": 3}
    as_numbers = ranked(pl.DataFrame(rows | {"doc_id": [9, 10, 1]}), COVERS[0], 3)
    # Numbers as their digits, as ids are compared everywhere.
    assert dict(as_numbers.select("doc_id", "place").iter_rows()) == {9: 1, 10: 2, 1: 3}


def test_sums_that_rounding_sets_apart_are_equal():
    """0.1 + 0.2 + 0.3 is not 0.6, and the larger sum has the smaller id."""
    assert 0.1 + 0.2 + 0.3 > 0.6
    frame = pl.DataFrame(
        {
            "query_id": "q",
            "subtopic": ["a", "b", "c", "d"],
            "doc_id": ["d1", "d1", "d1", "d2"],
            "relevance": 1,
            "p": [0.1, 0.2, 0.3, 0.6],
        }
    )
    found = ranked(frame, Cover(0.5, 1, None, "p"), 2)
    assert dict(found.select("doc_id", "place").iter_rows()) == {"d2": 1, "d1": 2}


def test_rows_without_a_judgment_change_nothing():
    frame = judgments(3)
    more = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d1", "new"]})
    with_more = pl.concat([frame, more], how="diagonal")
    assert places_of(ranked(with_more, COVERS[0], 9), "place") == places_of(ranked(frame, COVERS[0], 9), "place")


def test_the_order_of_the_rows_changes_nothing():
    frame = judgments(4)
    wanted = places_of(ranked(frame, COVERS[2], 20), "place")
    for seed in range(5):
        shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
        assert places_of(ranked(shuffled, COVERS[2], 20, eager=bool(seed % 2)), "place") == wanted


@pytest.mark.parametrize("eager", [True, False])
def test_several_columns_are_added_at_once(eager):
    frame = judgments(9)
    columns = [greedy_rank(cover, k).meta.output_name() for cover in COVERS for k in (3, 5)]
    found = with_greedy_rank(frame if eager else frame.lazy(), *columns).collect()
    for column in columns:
        cover = GREEDY.parameters(column)
        assert places_of(found, column) == greedy_by_hand(frame, cover, cover.k)


def test_judgments_of_several_judges_are_ranked_apart():
    one, other = judgments(5), judgments(6)
    both = pl.concat([one.with_columns(judge=pl.lit("1")), other.with_columns(judge=pl.lit("2"))])
    found = ranked(both, COVERS[0], 20, keys=["query_id", "judge"])
    for judge, alone in (("1", one), ("2", other)):
        wanted = places_of(ranked(alone, COVERS[0], 20), "place")
        assert places_of(found.filter(pl.col("judge") == judge), "place") == wanted


@pytest.mark.parametrize("eager", [True, False])
def test_without_a_relevant_document_there_is_no_place(eager):
    none = judgments(7).filter(pl.col("relevance") < 1)
    for frame in (none, none.clear()):
        found = ranked(frame, COVERS[0], 3, eager=eager)
        assert found["place"].null_count() == found.height == frame.height


@pytest.mark.parametrize("k", [None, 20])
@pytest.mark.parametrize("cover", COVERS)
def test_the_name_of_a_column_says_what_it_is(cover, k):
    column = greedy_rank(cover, k).meta.output_name()
    assert GREEDY.is_named(column)
    assert GREEDY.parameters(column) == cover._replace(k=k)
    assert not any(map(GREEDY.is_named, ["rank", "ideal_rank", "subtopic", "greedy_rank"]))


def test_a_column_of_weights_may_have_any_name():
    cover = Cover(0.5, 1, None, "P(s|q), k='é'")
    assert GREEDY.parameters(greedy_rank(cover, 3).meta.output_name()) == cover._replace(k=3)


def test_numbers_of_other_libraries_are_numbers():
    numpy = pytest.importorskip("numpy")
    cover = Cover(numpy.float64(0.5), numpy.int64(1), {numpy.int64(1): numpy.float32(0.5)}, None)
    assert greedy_rank(cover, numpy.int64(3)).meta.eq(greedy_rank(Cover(0.5, 1, {1: 0.5}, None), 3))


def test_a_plan_needs_a_cutoff_and_takes_the_highest_it_says():
    run, qrels = pl.LazyFrame({"query_id": "q0", "doc_id": ["d1", "d2"], "score": [2.0, 1.0]}), judgments(8).lazy()
    for measure, needed in (
        ("alpha_nDCG", "all"),
        (f"alpha_nDCG@{DEEPEST + 1}", DEEPEST + 1),
        ("nNRBP(beta=0.8)", 175),
    ):
        with pytest.raises(
            ir.IRError, match=rf"at most {DEEPEST} places .* qrels is a LazyFrame; wanted are {needed}\."
        ):
            ir.evaluate(run, qrels, measure)
    name = f"alpha_nDCG@{DEEPEST}"
    deep = ir.evaluate(run, qrels, name, missing="skip").collect()
    assert deep.equals(ir.evaluate(run.collect(), qrels.collect(), name, missing="skip"))
    assert ir.evaluate(run, qrels.collect(), "alpha_nDCG", missing="skip").collect()["alpha_nDCG"].max() > 0
