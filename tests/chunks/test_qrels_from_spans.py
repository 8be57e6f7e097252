"""Judgments of chunks from gold spans: shares, segments, spans that no chunk covers, and tables that are wrong."""

import random
import warnings

import pandas as pd
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.chunks.interval_join import overlapping
from polars_ir.chunks.tables import OUTLYING, chunk_table

CHUNKS = pl.DataFrame({"doc_id": ["a", "b"], "source": "s", "start": [0, 800], "end": [1000, 1800]})
GOLD = pl.DataFrame({"query_id": ["q"], "source": ["s"], "start": [900], "end": [1100]})
READ = [f"StRecall(weights='length')@{k}" for k in (1, 2)]


def spans(*rows: tuple, key: str = "query_id") -> pl.DataFrame:
    return pl.DataFrame(rows, {key: pl.String, "source": pl.String, "start": pl.Int64, "end": pl.Int64}, orient="row")


def chunks(*rows: tuple) -> pl.DataFrame:
    return spans(*rows, key="doc_id")


def quietly(*args, **kwargs) -> pl.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IRWarning)
        return ir.qrels_from_spans(*args, **kwargs)


def test_segments_give_the_share_of_characters_read_each_once():
    qrels = ir.qrels_from_spans(CHUNKS, GOLD, segments=True)
    assert ir.evaluate({"q": ["a", "b"]}, qrels, READ).row(0) == ("q", 0.5, 1.0)
    assert qrels.select("doc_id", "length").rows() == [("a", 100), ("b", 100), ("b", 100)]


def test_a_share_is_no_grade_and_covers_what_all_chunks_do():
    qrels = ir.qrels_from_spans(CHUNKS, GOLD)
    assert qrels.select("doc_id", "relevance", "share", "covered").rows() == [("a", 1, 0.5, 1.0), ("b", 1, 1.0, 1.0)]
    assert ir.evaluate({"q": ["a", "b"]}, qrels, ["RR", "R@1", "StRecall@1"]).row(0) == ("q", 1.0, 0.5, 1.0)


def test_a_span_that_no_chunk_covers_counts_and_is_told_with_its_best_chunk():
    cut = chunks(("a", "s", 0, 1000), ("b", "s", 1000, 2000))
    gold = spans(("q", "s", 900, 1100), ("q", "s", 100, 200), ("q", "s", 5000, 5010))
    with pytest.warns(ir.IRWarning, match=r"2 of 3 spans .*\[900, 1100\) of 's' for 'q': 'a' has 0.5 of it, all .* 1"):
        qrels = ir.qrels_from_spans(cut, gold, min_overlap=0.6)
    assert qrels["doc_id"].is_in(["a", "b"]).to_list() == [True, False, False]
    assert qrels.select("share", "covered", "chunk").rows() == [(1.0, 1.0, "a"), (0.5, 1.0, "a"), (0.0, 0.0, None)]
    found = ir.evaluate({"q": ["a", "b"]}, qrels, ["StRecall@2", "FullRecall@2", "R@2"]).row(0)
    assert found == ("q", pytest.approx(1 / 3), 0.0, pytest.approx(1 / 3))


@pytest.mark.parametrize(
    ("threshold", "found"), [(0, ["a", "b"]), (0.25, ["b"]), (0.5, ["b"]), (0.75, ["b"]), (0.76, None)]
)
def test_the_threshold_is_met_by_its_own_share(threshold, found):
    gold = spans(("q", "s", 960, 1120))
    cut = chunks(("a", "s", 0, 990), ("b", "s", 1000, 1800))
    assert quietly(cut, gold, min_overlap=threshold)["doc_id"].to_list() == (
        found or ["no chunk of s from 960 to 1120"]
    )


def test_spans_of_one_subtopic_are_alternatives():
    gold = spans(("q", "s", 0, 10), ("q", "t", 0, 10), ("q", "u", 0, 10)).with_columns(evidence=pl.Series([4, 4, 9]))
    cut = chunks(("a", "t", 0, 20), ("b", "t", 0, 9))
    qrels = quietly(cut, gold)
    assert qrels.select("subtopic", "doc_id").rows() == [(4, "a"), (4, "b"), (9, "no chunk of u from 0 to 10")]
    assert ir.evaluate({"q": ["b"]}, qrels, "StRecall")["StRecall"].item() == 0.5
    of_two = spans(("q", "t", 0, 10), ("q", "t", 0, 10)).with_columns(subtopic=pl.Series(["m", "n"]))
    assert ir.qrels_from_spans(cut, of_two)["subtopic"].to_list() == ["m", "m", "n", "n"]


@pytest.mark.parametrize("integers", [False, True])
def test_ids_of_no_chunk_are_no_ids_of_a_run(integers):
    ids = pl.Series([-7, 3]) if integers else pl.Series(["a", "b"])
    gold = spans(("q", "s", 5000, 5010), ("q", "s", 0, 10), ("r", "s", 6000, 6100))
    for segments in (False, True):
        qrels = quietly(CHUNKS.with_columns(doc_id=ids), gold, segments=segments)
        assert qrels["doc_id"].is_in(ids.implode()).to_list() == [True, False, False]
        assert qrels["doc_id"].n_unique() == 3


def test_ids_of_chunks_so_low_that_none_is_left_below_are_refused():
    low = CHUNKS.with_columns(doc_id=pl.Series([-(2**63), 3]))
    with pytest.raises(ir.IRError, match="ids are so low that none is left"):
        quietly(low, spans(("q", "s", 5000, 5010)))


def test_a_span_that_overlaps_one_before_the_last_is_counted():
    with pytest.warns(ir.IRWarning, match=r"gold has 2 spans .* first is \[10, 20\)"):
        ir.qrels_from_spans(CHUNKS, spans(("q", "s", 0, 100), ("q", "s", 10, 20), ("q", "s", 50, 60), ("r", "s", 5, 9)))


def brute(cut: list, gold: list, k: int, run: list) -> float:
    """The share of gold characters of a query in the first k chunks."""
    wanted = {(source, place) for _, source, start, end in gold for place in range(start, end)}
    read = {(s, place) for name, s, start, end in cut if name in run[:k] for place in range(start, end)}
    return len(wanted & read) / len(wanted)


@pytest.mark.parametrize("seed", range(8))
def test_both_kinds_equal_the_quadratic_join(seed):
    rng = random.Random(seed)

    def span() -> tuple[str, int, int]:
        start = rng.randrange(60)
        return rng.choice("st"), start, start + rng.choice([1, 3, 9, 40])

    cut = [(f"c{number}", *span()) for number in range(12)]
    gold = sorted({(rng.choice("qr"), *span()) for _ in range(9)})
    run = {query: rng.sample([name for name, *_ in cut], 8) for query in "qr"}
    shares = {
        (query, source, start, end, name): share
        for query, source, start, end in gold
        for name, other, first, last in cut
        if source == other and (share := (min(end, last) - max(start, first)) / (end - start)) > 0
    }
    made = quietly(pl.DataFrame(cut, CHUNKS.schema, orient="row"), spans(*gold), min_overlap=0)
    made = made.filter(pl.col("share") > 0)
    key = ["query_id", "source", "start", "end", "doc_id"]
    assert dict(zip(made.select(key).rows(), made["share"], strict=True)) == shares
    union = {
        tuple(own): sum(any(s == own[1] and a <= p < e for _, s, a, e in cut) for p in range(own[2], own[3]))
        for own in gold
    }
    whole = made.with_columns(covered=pl.col("covered") * (pl.col("end") - pl.col("start")))
    assert {row[:4]: round(row[4]) for row in whole.select(*key[:4], "covered").rows()} == {
        own: count for own, count in union.items() if count
    }
    qrels = quietly(pl.DataFrame(cut, CHUNKS.schema, orient="row"), spans(*gold), segments=True)
    found = ir.evaluate(run, qrels, [f"StRecall(weights='length')@{k}" for k in (1, 4, 8)])
    for query, *values in found.rows():
        own = [each for each in gold if each[0] == query]
        assert values == pytest.approx([brute(cut, own, k, run[query]) for k in (1, 4, 8)])


@pytest.mark.parametrize("length", [1, 4, 50, 900])
def test_pairs_are_those_of_the_quadratic_join_however_long_spans_are_beside_a_bin(length):
    rng = random.Random(length)
    rows = [(rng.choice("st"), start := rng.randrange(500), start + rng.choice([1, 2, 12, 400])) for _ in range(120)]
    tables = [
        pl.LazyFrame(half, ["source", "start", "end"], orient="row").with_row_index(name)
        for name, half in (("one", rows[:70]), ("other", rows[70:]))
    ]
    found = overlapping(*tables, length, 400).select("one", "other", "start", "end").collect()
    assert sorted(found.rows()) == [
        (i, j, max(a, c), min(b, d))
        for i, (s, a, b) in enumerate(rows[:70])
        for j, (t, c, d) in enumerate(rows[70:])
        if s == t and max(a, c) < min(b, d)
    ]


def test_a_frame_comes_back_in_its_kind_whatever_the_order_of_rows():
    gold = spans(("q", "s", 900, 1100), ("q", "s", 20, 90), ("p", "s", 1, 4))
    qrels = ir.qrels_from_spans(CHUNKS, gold)
    assert ir.qrels_from_spans(CHUNKS[::-1], gold[::-1]).equals(qrels)
    plan = ir.qrels_from_spans(CHUNKS.lazy(), gold.lazy())
    assert isinstance(plan, pl.LazyFrame)
    assert plan.collect().equals(qrels)
    table = ir.qrels_from_spans(CHUNKS.to_pandas(), gold.to_pandas())
    assert isinstance(table, pd.DataFrame)
    assert pl.from_pandas(table).equals(qrels)


def test_names_of_langchain_and_llamaindex_are_known():
    named = {"start": "start_index", "doc_id": "chunk_id", "source": "doc_id"}
    texts = CHUNKS.rename(named).drop("end").with_columns(page_content=pl.Series(["x" * 1000, "x" * 1000]))
    gold = GOLD.rename({"source": "doc_id", "start": "start_char_idx", "end": "end_char_idx"})
    assert ir.qrels_from_spans(texts, gold).equals(ir.qrels_from_spans(CHUNKS, GOLD))


TEXTS = pl.DataFrame({"doc_id": ["a", "b"], "source": "s", "start": [0, 2], "text": ["ab", "é😀"]})


@pytest.mark.parametrize(
    ("length", "problem"),
    [(6, "count bytes of 'text', not characters"), (3, "count units of UTF-16 of 'text'"), (9, "differs in length")],
)
def test_offsets_that_are_not_of_characters_are_told_by_their_length(length, problem):
    wrong = TEXTS.with_columns(end=pl.Series([2, 2 + length]))
    with pytest.raises(ir.IRError, match=problem):
        ir.qrels_from_spans(wrong, GOLD)


@pytest.mark.parametrize(
    ("cut", "gold", "problem"),
    [
        (CHUNKS.with_columns(end="start"), GOLD, "2 rows whose 'end' is not behind 'start'"),
        (CHUNKS, spans(("q", "s", 9, 3)), "gold has 1 row whose 'end' is not behind"),
        (CHUNKS.with_columns(start=-1), GOLD, "whose 'start' is negative"),
        (CHUNKS.with_columns(end=2**62), GOLD, "2 rows whose 'end' is beyond any text"),
        (CHUNKS.with_columns(source=pl.lit(None, pl.String)), GOLD, "whose 'source' is null"),
        (CHUNKS.with_columns(doc_id=pl.lit("a")), GOLD, "is of several chunks. Give each chunk"),
        (chunks(("1", "s", 0, 9), ("1", "t", 0, 9)), GOLD, "make ids of both"),
        (CHUNKS, GOLD.with_columns(source=pl.lit("x")), "share no source; sources of gold are 'x', of chunks 's'"),
        (CHUNKS.clear(), GOLD, "of chunks none at all"),
        (CHUNKS, GOLD.with_columns(source=1), "sources must have one type"),
        (CHUNKS, pl.concat([GOLD, GOLD]), "1 row of a span that the query has already"),
        (CHUNKS, GOLD.with_columns(relevance=0), "whose 'relevance' is not above 0"),
        (CHUNKS, GOLD.with_columns(relevance=float("nan")), "whose 'relevance' is not finite"),
        (CHUNKS.with_columns(start=-1), GOLD, "LangChain's -1 is of a chunk that it did not find"),
        (CHUNKS.with_columns(start=0.5), GOLD, "'start' must be integers.*Count characters"),
        (CHUNKS.with_columns(start=True), GOLD, "'start' must be integers.*Count characters"),
        (CHUNKS.drop("end"), GOLD, "has no 'end' column"),
        (CHUNKS.drop("source"), GOLD, "has no 'source' column"),
        (CHUNKS, GOLD.drop("query_id"), "has no 'query_id' column"),
        (CHUNKS.with_columns(file=pl.lit("x")).rename({"source": "path"}), GOLD, "2 columns that could be 'source'"),
    ],
)
def test_tables_that_are_wrong_are_refused(cut, gold, problem):
    for each in (cut, cut.lazy()):
        with pytest.raises(ir.IRError, match=problem):
            ir.qrels_from_spans(each, gold)


def test_what_one_side_lacks_and_what_overlaps_is_told():
    gold = spans(("q", "s", 10, 20), ("q", "s", 15, 30), ("q", "x", 0, 5))
    with pytest.warns(ir.IRWarning) as noticed:
        ir.qrels_from_spans(CHUNKS, gold)
    told = [str(each.message) for each in noticed]
    assert [text.partition(";")[0][:40] for text in told] == [
        "sources of gold have no chunks, 1 of 2: ",
        "gold has 1 span that overlaps another of",
        "1 of 3 spans of gold have no chunk that ",
    ]
    with pytest.warns(ir.IRWarning) as noticed:
        ir.qrels_from_spans(CHUNKS, gold, segments=True)
    assert "5 of 25 characters of gold are in no chunk" in str(noticed[1].message)


def test_gold_whose_text_stands_elsewhere_is_told():
    cut = chunks(("a", "s", 0, 10)).with_columns(text=pl.lit("éé is best"))
    gold = spans(("q", "s", 6, 10)).with_columns(text=pl.lit("best"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ir.qrels_from_spans(cut, gold)
    wrong = gold.with_columns(text=pl.lit("is b"))
    with pytest.warns(ir.IRWarning, match=r"1 of 1 spans of gold have another text .*Offsets of bytes or of UTF-16"):
        ir.qrels_from_spans(cut, wrong)


def test_chunks_without_an_end_that_disagree_where_they_overlap_are_refused():
    cut = pl.DataFrame({"doc_id": ["a", "b"], "source": "s", "start_index": [0, 4], "text": ["abcdefgh", "efghij"]})
    assert ir.qrels_from_spans(cut, spans(("q", "s", 4, 8)))["doc_id"].to_list() == ["a", "b"]
    with pytest.raises(ir.IRError, match="whose 'text' differs from that of the chunk before"):
        ir.qrels_from_spans(cut.with_columns(start_index=pl.Series([0, 5])), GOLD)


def test_tables_that_are_swapped_and_rows_that_are_twice_are_told():
    for given in ((GOLD, CHUNKS), (GOLD, GOLD)):
        with pytest.raises(ir.IRError, match="chunks must be chunks, and are gold spans"):
            ir.qrels_from_spans(*given)
    with pytest.raises(ir.IRError, match="gold must be gold spans, and are chunks"):
        ir.qrels_from_spans(CHUNKS, CHUNKS)
    with pytest.raises(ir.IRError, match=r"Keep one row of each: chunks.unique\("):
        ir.qrels_from_spans(pl.concat([CHUNKS, CHUNKS]), GOLD)


def test_judged_documents_of_retrieved_chunks_are_met_by_collapse():
    run = pl.DataFrame({"query_id": ["q", "q"], "docno": ["a#1", "b#2"], "score": [2.0, 1.0]})
    with pytest.warns(ir.IRWarning, match="turn the former into the latter: ir.collapse") as noticed:
        ir.evaluate(run, {"q": ["b"]}, "RR")
    code = "ir.collapse(run, pl.coalesce(pl.col('doc_id').str.extract('^(.+)#'), 'doc_id'))"
    assert str(noticed[0].message).endswith(f"{code}.")
    for each in (run, {"q": {"a#1": 2.0, "c": 1.5, "b#2": 1.0}}):
        whole = eval(code, {"ir": ir, "pl": pl, "run": each})  # noqa: S307  # what the message says
        assert ir.evaluate(whole, {"q": ["b"]}, "RR")["RR"].item() == (0.5 if each is run else pytest.approx(1 / 3))


def test_a_column_chunk_beside_ids_and_sources_has_the_texts():
    named = {"doc_id": ["a", "b"], "source": "s", "chunk": ["one.", "two."], "start": [0, 4], "end": [4, 8]}
    gold = pl.DataFrame({"query_id": ["q"], "source": ["s"], "start": [4], "end": [8]})
    assert ir.qrels_from_spans(pl.DataFrame(named), gold)["doc_id"].to_list() == ["b"]
    beside = pl.DataFrame(named).rename({"doc_id": "chunk_id", "source": "doc_id"})
    assert ir.qrels_from_spans(beside, gold)["doc_id"].to_list() == ["b"]
    numbered = pl.DataFrame(named).drop("doc_id").rename({"source": "doc_id"})
    assert ir.qrels_from_spans(numbered, gold)["doc_id"].to_list() == ["two."]


def test_without_a_least_overlap_a_span_lacks_a_chunk_that_meets_it():
    far = GOLD.clear().vstack(GOLD.head(1).with_columns(start=pl.lit(10**6), end=pl.lit(10**6 + 5)).cast(GOLD.schema))
    with pytest.warns(ir.IRWarning, match="1 of 1 spans of gold have no chunk that meets them, and count as not found"):
        ir.qrels_from_spans(CHUNKS, far, min_overlap=0)


def test_one_chunk_without_an_end_leaves_bins_narrow():
    rows = [(f"c{n}", "s", n * 100, n * 100 + 100) for n in range(1000)]
    frame = pl.DataFrame(rows, ["doc_id", "source", "start", "end"], orient="row")
    endless = frame.with_columns(end=pl.when(doc_id="c999").then(2**31 - 1).otherwise("end"))
    lengths = [chunk_table("chunks", each).length for each in (frame, endless)]
    assert lengths[0] == pytest.approx(100)
    # The mean is 2 million.
    assert lengths[1] == pytest.approx(2**31 / 1000 / OUTLYING, rel=0.01)
