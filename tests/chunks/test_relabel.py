"""Judgments that are moved from old chunks to new ones: six chunkers, texts that changed, and what is refused."""

import difflib
import itertools
import random
import warnings

import pandas as pd
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.chunks.matching import NEW_GAP, OLD_GAP, UNITS, aligned_blocks, matching
from polars_ir.cli import main

SCHEMA = {"doc_id": pl.String, "source": pl.String, "start": pl.Int64, "end": pl.Int64}

#: Lengths of the two sources, and the ends of their paragraphs.
LENGTHS = {"s": 3000, "t": 1850}
PARAGRAPHS = {"s": [120, 900, 1000, 1730, 2400, 3000], "t": [40, 800, 1210, 1850]}


def fixed(size: int, step: int | None = None) -> list[tuple[str, str, int, int]]:
    return [
        (f"{source}-{start}", source, start, min(start + size, length))
        for source, length in LENGTHS.items()
        for start in range(0, length, step or size)
    ]


def by_paragraphs() -> list[tuple[str, str, int, int]]:
    return [
        (f"{source}-{start}", source, start, end)
        for source, ends in PARAGRAPHS.items()
        for start, end in zip([0, *ends], ends, strict=False)
    ]


def table(rows: list) -> pl.DataFrame:
    return pl.DataFrame(rows, SCHEMA, orient="row")


#: The six changes of a chunker: the old chunks, and the new ones.
SIX = {
    "500 to 1000": (fixed(500), fixed(1000)),
    "1000 to 500": (fixed(1000), fixed(500)),
    "500 to 700": (fixed(500), fixed(700)),
    "500 to 300": (fixed(500), fixed(300)),
    "with overlap": (fixed(500), fixed(500, 250)),
    "by paragraphs": (fixed(500), by_paragraphs()),
}


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IRWarning)
        return function(*args, **kwargs)


def shared(one: tuple, other: tuple) -> int:
    return max(0, min(one[3], other[3]) - max(one[2], other[2])) if one[1] == other[1] else 0


def length(chunk: tuple) -> int:
    return chunk[3] - chunk[2]


@pytest.mark.parametrize("name", SIX)
def test_labels_move_as_worked_out_pair_by_pair(name):
    old, new = SIX[name]
    grades = {f"q{number % 4}": {} for number in range(4)}
    for number, chunk in enumerate(old):
        grades[f"q{number % 4}"][chunk[0]] = number % 3
        grades[f"q{(number + 1) % 4}"][chunk[0]] = 1
    moved = quietly(ir.relabel, grades, table(old), table(new))
    takes = {a[0]: [b for b in new if shared(a, b) >= 0.5 * min(length(a), length(b))] for a in old}
    right: dict[tuple[str, str], int] = {}
    for query, of_query in grades.items():
        for chunk, grade in of_query.items():
            for taker in takes[chunk]:
                right[query, taker[0]] = max(right.get((query, taker[0]), 0), grade)
    assert {row[:2]: row[2] for row in moved.qrels.rows()} == right
    places = {chunk[0]: chunk for chunk in old}
    assert moved.changes.height == sum(map(len, grades.values()))
    for query, chunk, grade, change, own, covered, aligned, review in moved.changes.rows():
        at, takers = places[chunk], takes[chunk]
        assert own == sorted(taker[0] for taker in takers)
        assert covered == pytest.approx(
            sum(any(b[2] <= place < b[3] for b in takers) for place in range(at[2], at[3])) / length(at)
        )
        assert aligned is None
        assert review == (grade > 0 and not any(shared(at, taker) == length(at) for taker in takers))
        same = any(taker[1:] == at[1:] for taker in takers)
        alone = not any(takers[0] in takes[other] for other in grades[query] if other != chunk)
        assert change == ("kept" if same else "split" if len(takers) > 1 else "moved" if alone else "merged")
    assert "gone" not in moved.changes["change"]


@pytest.mark.parametrize("name", SIX)
def test_spans_keep_a_label_wherever_a_chunk_holds_half(name):
    gold = [("q", source, start, start + 90) for source, end in LENGTHS.items() for start in range(0, end - 90, 110)]
    columns = {"query_id": pl.String, **dict(list(SCHEMA.items())[1:])}
    for chunks in SIX[name]:
        qrels = quietly(ir.qrels_from_spans, table(chunks), pl.DataFrame(gold, columns, orient="row"))
        held = {span[1:] for span in gold if any(2 * shared(span, chunk) >= length(span) for chunk in chunks)}
        kept = qrels.filter(pl.col("share") >= 0.5).select("source", "start", "end").rows()
        lost = qrels.filter(pl.col("share") < 0.5).select("source", "start", "end").rows()
        assert set(kept) == held
        assert set(lost) == {span[1:] for span in gold} - held


def test_a_warning_counts_the_labels_that_need_a_person():
    old = table([("a", "s", 0, 100), ("b", "s", 100, 200), ("c", "t", 0, 50), ("d", "s", 300, 400)])
    new = table([("x", "s", 0, 100), ("y", "s", 100, 160), ("z", "s", 160, 220), ("w", "s", 300, 340)])
    with pytest.warns(ir.IRWarning) as noticed:
        moved = ir.relabel({"q": {"a": 1, "b": 2, "c": 0, "d": 0}}, old, new)
    says = "1 gone; 1 relevant, but whole in no new chunk, and a part need not hold the answer"
    assert [str(each.message) for each in noticed] == [
        "sources of old_chunks have no chunks, 1 of 2: 't'.",
        f"2 of 4 labels need a human decision: {says}. These: moved.changes.filter(pl.col('review')).",
    ]
    columns = moved.changes.select("change", "new", "covered", "review")
    assert columns.rows() == [
        ("kept", ["x"], 1.0, False),
        ("split", ["y", "z"], 1.0, True),
        ("gone", [], 0.0, True),
        ("moved", ["w"], 0.4, False),
    ]


OLD = "First part. Second part is here. Third part ends it. The last part."
NEW = "A new beginning. First part. Second part is here. And the fourth. The last part."


def chunked(text: str, *borders: int, source: str = "s", name: str = "n") -> pl.DataFrame:
    ends = [*borders, len(text)]
    places = list(zip([0, *borders], ends, strict=True))
    rows = [(f"{name}{number}", source, start, end) for number, (start, end) in enumerate(places)]
    return table(rows).with_columns(text=pl.Series([text[start:end] for start, end in places]))


def test_labels_follow_a_text_that_changed():
    old = chunked(OLD, 12, 33, 53, name="o")
    new = pl.concat([chunked(NEW, 17, 29, 50, 66), chunked(OLD, 12, 33, 53, source="copy", name="c")])
    with pytest.warns(ir.IRWarning) as noticed:
        moved = ir.relabel({"q": {"o0": 1, "o1": 2, "o2": 3, "o3": 1}}, old, new)
    assert "the text of 1 source changed, of which 29.9% could not be aligned" in str(noticed[0].message)
    assert moved.changes.select("change", "new", "aligned").rows() == [
        ("kept", ["n1"], 1.0),
        ("kept", ["n2"], 1.0),
        ("gone", [], 0.0),
        ("kept", ["n4"], 1.0),
    ]


def test_a_text_on_one_side_alone_is_told_since_places_may_be_those_of_another_text():
    old, new = chunked(OLD, 12, 33, 53, name="o"), chunked(NEW, 17, 29, 50, 66)
    for tables, about in [((old.drop("text"), new), "old_chunks"), ((old, new.drop("text")), "new_chunks")]:
        with pytest.warns(ir.IRWarning, match=f"{about} has no text, so changed texts are not seen"):
            moved = ir.relabel({"q": {"o0": 0}}, *tables)
        assert moved.qrels["doc_id"].to_list() == ["n0"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ir.relabel({"q": {"o0": 0}}, old.drop("text"), new.drop("text"))


def test_what_is_between_chunks_is_no_change():
    old = chunked(OLD, 12, 33, 53, name="o")
    gaps = chunked(OLD, 11, 12, 32, 33, 52, 53)[::2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moved = ir.relabel({"q": {"o0": 0, "o3": 1}}, old, gaps)
    assert moved.changes.select("change", "new", "aligned").rows() == [("moved", ["n0"], 1.0), ("kept", ["n6"], 1.0)]
    without = old.with_columns(text=pl.when(doc_id="o1").then(None).otherwise("text"))
    assert quietly(ir.relabel, {"q": {"o0": 0, "o3": 1}}, without, gaps).changes.equals(moved.changes)


def test_blocks_are_the_same_text_on_both_sides():
    lines = [f"Line {number} says that {number * 7 % 13} is no {number}.\n" for number in range(300)]
    changed = [*lines[:40], "Nothing of this was there.\n", *lines[55:200], "word " * 60, *lines[200:]]
    text, other = "".join(lines), "".join(changed)
    blocks = list(matching(text, other))
    assert all(text[one : one + size] == other[two : two + size] for one, two, size in blocks)
    assert sum(size for *_, size in blocks) == len(text) - len("".join(lines[40:55]))
    assert list(matching("ab " * 9, "xy z" * 9)) == []


def test_units_tile_any_text_and_blocks_hold_no_gap():
    rng = random.Random(1)
    for _ in range(60):
        text = "".join(rng.choice("ab. \n。!x" + OLD_GAP) for _ in range(rng.randrange(80)))
        pieces = list(text.replace(OLD_GAP, NEW_GAP))
        for _ in range(rng.randrange(6) if pieces else 0):
            pieces[rng.randrange(len(pieces))] = rng.choice(["", "\n", "q. ", "ab"])
        other = "".join(pieces)
        assert all("".join(unit.findall(text)) == text for unit in UNITS)
        last = (0, 0)
        for one, two, size in matching(text, other):
            assert text[one : one + size] == other[two : two + size]
            assert OLD_GAP not in text[one : one + size]
            assert one >= last[0]
            assert two >= last[1]
            last = (one + size, two + size)
        blocks = aligned_blocks(text, other)
        assert all(text[one : one + size] == other[two : two + size] for one, two, size in blocks)
        for side in (0, 1):
            places = [block[side] + at for block in blocks for at in range(block[2])]
            assert len(set(places)) == len(places)


def cut(text: str, size: int, name: str) -> pl.DataFrame:
    start = pl.int_ranges(0, pl.lit(len(text)), size)
    rows = pl.select(start=start.explode()).with_columns(text=pl.lit(text).str.slice("start", size), source=pl.lit("s"))
    return rows.with_columns(
        doc_id=pl.format("{}{}", pl.lit(name), "start"), end=pl.col("start") + pl.col("text").str.len_chars()
    )


TOLD = "".join(f"Sentence number {number} tells of thing {number * 7 % 13}. " for number in range(40))


def test_a_tail_that_was_deleted_is_gone_and_told_and_one_that_was_added_is_no_change():
    labels = {"q": {"o0": 1, "o1300": 1}}
    with pytest.warns(ir.IRWarning) as noticed:
        moved = ir.relabel(labels, cut(TOLD, 100, "o"), cut(TOLD[:700], 100, "n"))
    assert "the text of 1 source changed, of which 52.7%" in str(noticed[0].message)
    assert moved.changes.select("change", "aligned").rows() == [("kept", 1.0), ("gone", 0.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        longer = ir.relabel(labels, cut(TOLD, 100, "o"), cut(TOLD + "More. ", 100, "n"))
    assert longer.changes["change"].to_list() == ["kept", "kept"]


def test_a_character_in_a_text_without_spaces_moves_what_follows():
    moved = quietly(
        ir.relabel, {"q": {"o0": 1, "o100": 1}}, cut("Z" * 200, 100, "o"), cut("Z" * 50 + "新" + "Z" * 150, 100, "n")
    )
    assert moved.changes.select("new", "aligned").rows() == [(["n0"], 1.0), (["n100", "n200"], 1.0)]


def test_labelled_chunks_alone_align_as_all_do():
    labels = {"q": {"o0": 1, "o400": 0, "o900": 1}}
    old, new = cut(TOLD, 100, "o"), cut(TOLD[:230] + "An insertion! " + TOLD[230:], 90, "n")
    changes = quietly(ir.relabel, labels, old, new).changes
    assert changes["aligned"].to_list() == [1.0] * 3
    alone = old.filter(pl.col("doc_id").is_in(["o0", "o400", "o900"]))
    found = quietly(ir.relabel, labels, alone, new).changes
    # The last begins within a number.
    assert found["aligned"].to_list() == [1, 1, 0.98]
    assert found.drop("aligned", "covered").equals(changes.drop("aligned", "covered"))


def test_a_deleted_item_of_a_list_is_not_the_next_which_differs_by_its_number_alone():
    items = [f"Item {number} of this list is a thing to look at.\n" for number in range(10, 30)]
    old = table([(f"o{n}", "s", n * len(items[0]), (n + 1) * len(items[0])) for n in range(20)])
    old = old.with_columns(text=pl.Series(items))
    new = cut("".join(items[:7] + items[8:]), 60, "n")
    for chunks in (old, old.filter(doc_id="o7")):
        changes = quietly(ir.relabel, {"q": {"o7": 1}}, chunks, new).changes
        assert changes.select("change", "aligned").rows() == [("gone", 0.0)]


@pytest.mark.parametrize("seed", range(20))
def test_lines_and_sentences_that_stand_once_in_both_texts_are_aligned_wherever_they_are(seed):
    draw = random.Random(seed)

    def line() -> str:
        return f"{draw.choice('abcdefgh')} is here. And {draw.choice('ijklmnop')} is there.\n"

    lines = [line() for _ in range(draw.randint(1, 12))]
    others = [*draw.sample(lines, draw.randint(1, len(lines))), line(), line()]
    text, other = "".join(lines), "".join(others)
    found = aligned_blocks(text, other)
    pairs = [(one + at, two + at) for one, two, size in found for at in range(size)]
    assert all(text[one] == other[two] for one, two in pairs)
    assert all(len(set(side)) == len(pairs) for side in zip(*pairs, strict=True))
    for unit in (each.strip() for each in lines if text.count(each) == other.count(each) == 1):
        places = text.index(unit), other.index(unit)
        assert {(places[0] + at, places[1] + at) for at in range(len(unit))} <= set(pairs)


def of_texts(texts: list[str], name: str) -> pl.DataFrame:
    ends = list(itertools.accumulate(map(len, texts)))
    rows = [(f"{name}{n}", "s", end - len(text), end) for n, (text, end) in enumerate(zip(texts, ends, strict=True))]
    return table(rows).with_columns(text=pl.Series(texts))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.whole("a text a seed", quick=2)
def test_paragraphs_in_another_order_are_followed_however_alike_they_are(seed):
    draw = random.Random(seed)
    subjects, places = ("Dogs", "Cats", "Birds", "Bikes"), ("garden", "cellar", "yard", "hall")
    rules = ("are allowed", "are not allowed", "are, on demand, allowed")
    all_texts = [f"{who} {may} in the {where} of the house.\n" for who in subjects for may in rules for where in places]
    texts = draw.sample(all_texts, 14)
    order = draw.sample(range(14), 14)
    changes = quietly(
        ir.relabel,
        {"q": {f"o{n}": 1 for n in range(14)}},
        of_texts(texts, "o"),
        of_texts(
            ["Rules.\n", *(texts[n] for n in order), draw.choice([each for each in all_texts if each not in texts])],
            "n",
        ),
    ).changes
    right = [(f"o{n}", [f"n{order.index(n) + 1}"], False) for n in range(14)]
    found = changes.select("doc_id", "new", "review").rows()
    assert sorted(found) == sorted(right)


WORDS = ["rent", "is", "due", "in", "May", "and", "bins", "are", "emptied", "pets", "live", "number", "7", "or", "12"]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.whole("a text a seed", quick=2)
def test_relevant_labels_whose_text_is_in_no_new_chunk_as_it_was_are_to_review(seed):
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(3, 9))) + f" {n}.\n" for n in range(20)]
    edited = []
    for text in texts:
        words = text.split(" ")
        if draw.random() < 0.3:
            words.insert(draw.randrange(len(words)), draw.choice(["not", "90", *WORDS]))
        edited.append(" ".join(words))
    size = draw.choice([1, 2, 3])
    new = of_texts(["".join(edited[at : at + size]) for at in range(0, 20, size)], "n")
    held = dict(new.select("doc_id", "text").rows())
    old = of_texts(texts, "o")
    changes = quietly(ir.relabel, {"q": {f"o{n}": 1 for n in range(20)}}, old, new).changes
    texts_of = dict(old.select("doc_id", "text").rows())
    for chunk, takers, review in changes.select("doc_id", "new", "review").rows():
        assert review == (not any(texts_of[chunk] in held[taker] for taker in takers))


@pytest.mark.parametrize(
    ("old", "new", "covered"),
    [
        ("It is legal.\n", "It is illegal.\n", 1),
        ("Dogs are allowed.\n", "Dogs are not allowed.\n", 1),
        ("Price: 90\n", "Price: 900\n", 0.7),
        ("Room 1\n", "Room 12\n", 5 / 7),
        (
            "In 2024 the firm had 12 shops and 3,400 people.\n",
            "In 2025 the firm had 12 shops and 3,900 people.\n",
            37 / 48,
        ),
        ("Fee is 5 euros\n", "Fee is 1.5 euros\n", 13 / 15),
    ],
)
def test_a_text_that_was_edited_in_its_place_moves_and_is_to_review(old, new, covered):
    around = "Keys are at the door.\n", "Bins are emptied on Monday.\n"
    tables = (of_texts([around[0], text, around[1]], name) for text, name in ((old, "o"), (new, "n")))
    changes = quietly(ir.relabel, {"q": {"o1": 1}}, *tables).changes
    assert changes.select("change", "new", "review").rows() == [("moved", ["n1"], True)]
    assert changes["covered"].item() == pytest.approx(covered, abs=0.01)


@pytest.mark.parametrize("longer", ["Price 900", "Price 90.5", "Price 90,000 euros"])
def test_a_number_at_the_end_of_a_text_that_grew_is_to_review(longer):
    changes = quietly(ir.relabel, {"q": {"o0": 1}}, of_texts(["Price 90"], "o"), of_texts([longer], "n")).changes
    assert changes["review"].item()


@pytest.mark.parametrize("line_end", ["\r\n", "\n\n"])
def test_blanks_alone_between_lines_are_no_other_text(line_end):
    lines = [f"{which} lines of prose about {what}.\n" for which in ("First", "Next") for what in ("cats", "dogs")]
    old, new = (
        of_texts(["".join(some[:2]), "".join(some[2:])], name)
        for some, name in ((lines, "o"), ([line.replace("\n", line_end) for line in lines], "n"))
    )
    changes = quietly(ir.relabel, {"q": {"o0": 1, "o1": 1}}, old, new).changes
    assert changes.select("new", "covered", "review").rows() == [(["n0"], 1.0, False), (["n1"], 1.0, False)]


def test_a_number_at_the_end_of_a_text_that_grew_is_to_review_and_other_text_added_there_is_not():
    for added, review in [("0 euros.\n", True), (" euros.\n", False)]:
        tables = of_texts(["Keys.\n", "The price is 90"], "o"), of_texts(["Keys.\n", f"The price is 90{added}"], "n")
        assert quietly(ir.relabel, {"q": {"o1": 1}}, *tables).changes["review"].item() == review


def test_long_texts_are_compared_between_words_that_stand_once(monkeypatch):
    compared = []

    class Counting(difflib.SequenceMatcher):
        def __init__(self, junk, one, other, autojunk):
            compared.append(len(one) * len(other))
            super().__init__(junk, one, other, autojunk)

    monkeypatch.setattr(difflib, "SequenceMatcher", Counting)
    lines = [f"Line {n} is one of many that say {n % 7} or {n % 5}.\n" for n in range(200)]
    edited = [line.replace(" is ", " was ") for line in lines]
    text, other = "".join(lines), "".join(edited)
    same = sum(
        size for one, two, size in aligned_blocks(text, other) if text[:one].count("\n") == other[:two].count("\n")
    )
    assert same > 0.9 * len(text)
    # Of words there are 2,400.
    assert max(compared) <= 200**2


def test_numbers_that_changed_in_each_line_are_told_from_lines_that_were_deleted():
    lines = [f"In 2024 the firm had {n} shops, a new office and 3,{n} people.\n" for n in range(100, 120)]
    updated = [line.replace("2024", "2025") for line in lines]
    labels = {"q": {f"o{n}": 1 for n in range(20)}}
    for before in ([], ["Figures.\n"]):
        changes = quietly(ir.relabel, labels, of_texts(lines, "o"), of_texts([*before, *updated], "n")).changes
        shift = len(before)
        assert set(changes.select("doc_id", pl.col("new").list.first()).rows()) == {
            (f"o{n}", f"n{n + shift}") for n in range(20)
        }
        assert changes.select("change", "review").unique().rows() == [("moved", True)]
    fewer = quietly(ir.relabel, labels, of_texts(lines, "o"), of_texts(updated[:7] + updated[8:], "n")).changes
    assert fewer["change"].unique().to_list() == ["gone"]


def test_labels_follow_paragraphs_that_moved_within_a_source_and_never_to_another_one():
    paragraphs = [f"The {word} of this text are told in a paragraph of their own.\n" for word in (*"abcd", "rest")]
    size = len(paragraphs[0])

    def chunks_of(texts: list[str], name: str, source: str = "s") -> pl.DataFrame:
        rows = [(f"{name}{n}", source, n * size, n * size + len(text)) for n, text in enumerate(texts)]
        return table(rows).with_columns(text=pl.Series(texts))

    old = chunks_of(paragraphs, "o")
    new = chunks_of([paragraphs[2], paragraphs[3], paragraphs[0], paragraphs[1], paragraphs[4]], "n")
    labels = {"q": {f"o{n}": n for n in range(5)}}
    for chunks in (old, old.reverse()):
        changes = quietly(ir.relabel, labels, chunks, new).changes
        assert changes["new"].to_list() == [["n2"], ["n3"], ["n0"], ["n1"], ["n4"]]
        assert changes["aligned"].to_list() == [1.0] * 5
        assert not changes["review"].any()
    twice = chunks_of([*paragraphs[1:4], paragraphs[0], paragraphs[0]], "n")
    assert quietly(ir.relabel, {"q": {"o0": 1}}, old, twice).changes["change"].to_list() == ["gone"]
    elsewhere = pl.concat([chunks_of(paragraphs[1:4], "n"), chunks_of(paragraphs[:1], "m", "t")])
    assert quietly(ir.relabel, {"q": {"o0": 1}}, old, elsewhere).changes["change"].to_list() == ["gone"]


def test_texts_of_one_side_are_told_and_places_may_be_far():
    old = table([("a", "s", 10**10, 10**10 + 10)]).with_columns(text=pl.lit("abcdefghij"))
    for new in (old.drop("text"), old.with_columns(text=pl.lit(None, pl.String))):
        with pytest.warns(ir.IRWarning, match="offsets are taken to be into the same text"):
            assert ir.relabel({"q": {"a": 1}}, old, new).changes["aligned"].to_list() == [None]
    moved = quietly(ir.relabel, {"q": {"a": 1}}, old, old.with_columns(text=pl.lit("abcdexghij")))
    assert moved.changes["aligned"].to_list() == [0.9]


def test_subtopics_and_queries_without_documents_stay_and_kinds_come_back():
    old, new = table(fixed(500)), table(fixed(1000))
    qrels = pl.DataFrame(
        {"qid": ["q", "q", "r"], "subtopic": [1, 2, 0], "doc_id": ["s-0", "s-500", None], "relevance": [1, 2, None]}
    )
    moved = ir.relabel(qrels, old, new)
    assert moved.qrels.rows() == [("q", 1, "s-0", 1), ("q", 2, "s-0", 2), ("r", 0, None, None)]
    assert moved.changes.columns[:4] == ["qid", "subtopic", "doc_id", "relevance"]
    plans = ir.relabel(qrels.lazy(), old.lazy(), new.lazy())
    assert all(isinstance(plan, pl.LazyFrame) for plan in plans)
    assert plans.qrels.collect().equals(moved.qrels)
    assert plans.changes.collect().equals(moved.changes)
    frames = ir.relabel(qrels.drop_nulls().to_pandas(), old.to_pandas(), new.to_pandas())
    assert all(isinstance(frame, pd.DataFrame) for frame in frames)
    assert frames.changes["new"].map(list).to_list() == [["s-0"], ["s-0"]]


@pytest.mark.parametrize(
    ("qrels", "old", "new", "problem"),
    [
        ({"q": {"x": 1}}, table(fixed(500)), table(fixed(300)), "qrels has 1 row whose document is none of old_chunks"),
        ({"q": {7: 1}}, table(fixed(500)), table(fixed(300)), "ids must have one type on both sides"),
        ({"q": {"s-0": 1}}, table(fixed(500)), table([("a", "u", 0, 9)]), "old_chunks and new_chunks share no source"),
        ({"q": {"s-0": 1}}, table(fixed(500)), table(fixed(300) * 2), "new_chunks has .* is of several chunks"),
        ({"q": {"s-0": 1}}, table([("s-0", "s", 5, 5)]), table(fixed(300)), "old_chunks has 1 row whose 'end' is not"),
        ({"q": {"s-0": 1}}, table([("a", "s", 0, 9)]), table(fixed(300)), "the two tables are swapped"),
        (
            pl.DataFrame({"query_id": "q", "judge": ["x", "y"], "doc_id": "s-0", "relevance": [1, 0]}),
            table(fixed(500)),
            table(fixed(300)),
            "several judges, by column 'judge'. Make one grade of them: ir.merge_judgments",
        ),
        (pl.DataFrame({"query_id": ["q"], "preferred": ["a"], "other": ["b"]}), table([]), table([]), "preferences"),
    ],
)
def test_what_cannot_be_moved_is_refused(qrels, old, new, problem):
    with pytest.raises(ir.IRError, match=problem):
        ir.relabel(qrels, old, new)
    with pytest.raises(ir.IRError, match="min_overlap must be above 0"):
        ir.relabel(qrels, old, new, min_overlap=0)


@pytest.mark.whole("files read by three commands")
def test_the_shell_moves_the_labels_of_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.qrels").write_text("q 0 1 1\nq 0 2 2\n", "utf-8")
    (tmp_path / "old.csv").write_text("chunk_id,source,start,end\n1,s,0,500\n2,s,500,1000\n", "utf-8")
    (tmp_path / "new.jsonl").write_text('{"id": "x", "source": "s", "start": 0, "end": 1000}\n', "utf-8")
    call = ["relabel", "old.qrels", "old.csv", "new.jsonl"]
    assert main([*call, "new.qrels", "--changes", "changes.csv"]) == 0
    assert capsys.readouterr().out == "change\tlabels\treview\nmerged\t2\t0\n"
    assert (tmp_path / "new.qrels").read_text("utf-8") == "q 0 x 2\n"
    assert (tmp_path / "changes.csv").read_text("utf-8").splitlines()[2] == "q,2,2,merged,x,1.0,,false"
    assert main([*call, "-"]) == 0
    assert capsys.readouterr().out == "q 0 x 2\n"
    (tmp_path / "old.csv").write_text("chunk_id,source,start,end\n1,s,0,500\n", "utf-8")
    assert main([*call, "-"]) == 2
    assert "old.qrels has 1 row whose document is none of old_chunks" in capsys.readouterr().err
    (tmp_path / "old.qrels").write_text("q 0 0012 1\nq 0 12 2\n", "utf-8")
    (tmp_path / "old.csv").write_text("chunk_id,source,start,end\n0012,007,0,50\n12,7,0,50\n", "utf-8")
    (tmp_path / "new.csv").write_text("chunk_id,source,start,end\n01,007,0,50\n1,7,0,50\n", "utf-8")
    assert main(["relabel", "old.qrels", "old.csv", "new.csv", "-"]) == 0
    assert capsys.readouterr().out == "q 0 01 1\nq 0 1 2\n"
    (tmp_path / "new.csv").write_text("chunk_id,source,start,end\n01,007,0,1x\n", "utf-8")
    assert main(["relabel", "old.qrels", "old.csv", "new.csv", "-"]) == 2
    told = capsys.readouterr().err
    assert "new.csv has 1 row whose 'end' is no integer" in told
    assert "1x" in told
