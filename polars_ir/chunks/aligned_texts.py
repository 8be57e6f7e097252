"""Places of old chunks in new texts, by the texts of both: the same places, but where a source changed."""

from __future__ import annotations

import difflib
import os.path
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import polars as pl

from polars_ir.chunks.interval_join import overlapping
from polars_ir.chunks.tables import Spans
from polars_ir.errors import quoted, warn

#: What stands for a gap between chunks in old and in new texts: no characters, and never the same on both sides.
OLD_GAP, NEW_GAP = "\uffff", "\ufffe"
GAP = f"{NEW_GAP}{OLD_GAP}"

#: The units in which texts are aligned, each within what changed in those before: lines, sentences, words.
UNITS = tuple(
    map(
        re.compile,
        (
            rf"[{GAP}]|[^\n{GAP}]*\n+|[^\n{GAP}]+",
            rf"[{GAP}]|[^{GAP}]+?(?:[.!?]+\s+|[。！？]+\s*|(?=[{GAP}])|\Z)",  # noqa: RUF001  # not those of ASCII
            rf"[{GAP}]|\s*[^\s{GAP}]+\s*|\s+",
        ),
    )
)

#: A number in a unit, and what stands for the characters of a unit that no part of another is like.
NUMBER, UNLIKE = re.compile(r"\d+"), "\ufdd0"

#: Minimum share of the shorter of two texts that must be the same; below it, common words are chance.
ALIKE = 0.5

#: Number of pairs of equal parts above which frequent parts are taken for junk: each pair is looked at repeatedly.
MOST_PAIRS = 1_000_000

#: Largest number of characters that are aligned one by one.
MOST_CHARACTERS = 3000


class Known(NamedTuple):
    """The known text of a source: `starts` of its parts in the source, and their `places` in `text`, with gaps."""

    starts: list[int]
    places: list[int]
    text: str

    def parts(self) -> list[tuple[int, str]]:
        """The parts, with the place of each in the source."""
        ends = [place - 1 for place in self.places[1:]] + [len(self.text)]
        return [(s, self.text[a:b]) for s, a, b in zip(self.starts, self.places, ends, strict=True)]

    def shift(self, place: int) -> int:
        """Offset from a place in `text` to that in the source."""
        number = bisect_right(self.places, place) - 1
        return self.starts[number] - self.places[number]


def aligned(chunks: pl.DataFrame, old: Spans, new: Spans) -> pl.DataFrame:
    """The pieces of old chunks in new texts: the number of the chunk, `source`, `start`, `end`, `place` in it.

    `compared` is false of sources without texts on both sides.
    """
    same = chunks.with_columns(place=pl.lit(0, pl.Int64), compared=pl.lit(value=False)).drop("doc_id")
    lacking = [table.about for table in (old, new) if "text" not in table.names]
    if lacking or chunks.is_empty():
        if len(lacking) == 1:
            warn(
                f"{lacking[0]} has no text, so changed texts are not seen, and offsets are taken to be into "
                "the same text."
            )
        return same
    sources = chunks.lazy().select("source").unique()
    texts = _texts(old, sources).join(_texts(new, sources), on="source", suffix="_new")
    # A text without gaps that equals the other needs no Python.
    whole = [pl.col(f"end{side}") - pl.col(f"starts{side}").list.first() for side in ("", "_new")]
    length, first = pl.col("text").str.len_chars(), pl.col("starts").list.first()
    equal = pl.all_horizontal(each == length for each in whole) & (pl.col("text") == pl.col("text_new"))
    equal &= first == pl.col("starts_new").list.first()
    rest = pl.when(~equal).then(pl.struct("text", "starts", "lengths", "text_new", "starts_new", "lengths_new"))
    found = texts.select("source", rest=rest).collect(engine="streaming")
    without = sources.collect().join(found, on="source", how="anti")["source"].sort()
    if len(without):
        warn(
            f"{old.about} and {new.about} do not both have the text of {len(without)} {_noun(len(without))}: offsets "
            f"are taken to be into the same text: {quoted(without, 3)}."
        )
    same = same.with_columns(compared=~pl.col("source").is_in(without.implode()))
    moves = _moves(found.drop_nulls("rest").sort("source"), chunks.schema["source"])
    if moves.is_empty():
        return same
    is_changed = pl.col("source").is_in(moves["source"].unique().implode())
    blocks = moves.filter(pl.col("start") < pl.col("end")).lazy()
    met = overlapping(same.filter(is_changed).lazy(), blocks, old.length, old.longest)
    shifted = met.select(
        same.columns[0],
        "source",
        start=pl.col("start") + pl.col("shift"),
        end=pl.col("end") + pl.col("shift"),
        place=pl.col("start") - pl.col("start_left"),
        compared=pl.lit(value=True),
    )
    return pl.concat([same.filter(~is_changed), shifted.collect(engine="streaming")], how="vertical_relaxed")


def _moves(texts: pl.DataFrame, dtype: pl.DataType) -> pl.DataFrame:
    """The places of what is in both texts of changed sources: `source`, `start`, `end` and `shift` to the new text."""
    blocks, n_characters, n_aligned = [], 0, 0
    for source, both in texts.iter_rows():
        text, other = (
            _known(both[f"text{side}"], both[f"starts{side}"], both[f"lengths{side}"], gap)
            for side, gap in (("", OLD_GAP), ("_new", NEW_GAP))
        )
        if _unchanged(text.parts(), other.parts()):
            continue
        found = list(matching(text.text, other.text))
        found += moved(text.text, other.text, found)
        for place, other_place, length in found:
            start = place + text.shift(place)
            blocks.append((source, start, start + length, other_place + other.shift(other_place) - start))
        blocks += [] if found else [(source, 0, 0, 0)]
        n_characters += len(text.text) - text.text.count(OLD_GAP)
        n_aligned += sum(length for *_, length in found)
    schema: dict[str, Any] = {"source": dtype, "start": pl.Int64, "end": pl.Int64, "shift": pl.Int64}
    moves = pl.DataFrame(blocks, schema, orient="row")
    if blocks:
        n_sources, share = moves["source"].n_unique(), 1 - n_aligned / max(1, n_characters)
        warn(
            f"the text of {n_sources} {_noun(n_sources)} changed, of which {share:.1%} could not be aligned with the "
            "new one."
        )
    return moves


def _noun(n_sources: int) -> str:
    return "source" if n_sources == 1 else "sources"


def _texts(chunks: Spans, sources: pl.LazyFrame) -> pl.LazyFrame:
    """The known text of each source, each character once, with the places of its parts in the source."""
    rows = chunks.rows.select("source", "start", "end", "text").drop_nulls("text")
    rows = rows.join(sources, on="source", how="semi").sort("source", "start", "end")
    before = pl.col("end").cum_max().shift(1, fill_value=0).over("source")
    start = pl.max_horizontal("start", before)
    new = rows.select("source", "end", start=start, text=pl.col("text").str.slice(start - pl.col("start")))
    parts = new.filter(pl.col("start") < pl.col("end")).group_by("source", maintain_order=True)
    return parts.agg(
        pl.col("text").str.join(""), pl.col("end").max(), starts="start", lengths=pl.col("end") - pl.col("start")
    )


def _known(text: str, starts: list[int], lengths: list[int], gap: str) -> Known:
    """The known text with a character for each gap."""
    known, places, pieces, place, end = [starts[0]], [0], [], 0, starts[0]
    for start, length in zip(starts, lengths, strict=True):
        if start > end:
            pieces.append(gap)
            known.append(start)
            places.append(place + len(known) - 1)
        pieces.append(text[place : place + length])
        place, end = place + length, start + length
    return Known(known, places, "".join(pieces))


def _unchanged(parts: list[tuple[int, str]], others: list[tuple[int, str]]) -> bool:
    """True of texts that are the same wherever both are known, and of which the new one is as long as the old."""
    one = other = 0
    while one < len(parts) and other < len(others):
        (start, text), (first, new) = parts[one], others[other]
        begin, end = max(start, first), min(start + len(text), first + len(new))
        if begin < end and text[begin - start : end - start] != new[begin - first : end - first]:
            return False
        if start + len(text) <= first + len(new):
            one += 1
        else:
            other += 1
    last = others[-1][0] + len(others[-1][1])
    return not any(text[max(0, last - start) :].strip() for start, text in parts)


def matching(text: str, other: str, units: tuple[re.Pattern[str], ...] = UNITS) -> Iterator[tuple[int, int, int]]:
    """The blocks that two texts share, in order: the place in each, and the length.

    >>> list(matching("one two three", "one 2 three"))
    [(0, 0, 4), (8, 6, 5)]
    """
    unit, *finer = units
    parts, others = unit.findall(text), unit.findall(other)
    places, other_places = _places(parts), _places(others)
    counts = Counter(others)
    n_pairs = sum(count * counts[part] for part, count in Counter(parts).items())
    opcodes = difflib.SequenceMatcher(None, parts, others, autojunk=n_pairs > MOST_PAIRS).get_opcodes()
    for kind, start, end, first, last in opcodes:
        place, other_place = places[start], other_places[first]
        if kind == "equal":
            yield place, other_place, places[end] - place
        elif kind == "replace":
            old, new = parts[start:end], others[first:last]
            inner = "".join(_unlike(old, new) if len(finer) == 1 else old), "".join(new)
            yield from ((place + one, other_place + two, size) for one, two, size in _refined(*inner, tuple(finer)))


def moved(text: str, other: str, blocks: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The blocks of lines and sentences that stand once in each text, in another order, and are in none of `blocks`."""
    taken, other_taken = bytearray(len(text)), bytearray(len(other))
    found: list[tuple[int, int, int]] = []
    new = blocks
    for unit in UNITS[:2]:
        for place, other_place, length in new:
            taken[place : place + length] = other_taken[other_place : other_place + length] = b"\1" * length
        places, other_places = _once(text, unit, taken), _once(other, unit, other_taken)
        new = [(place, other_places[each], len(each)) for each, place in places.items() if each in other_places]
        found += new
    return found


def _once(text: str, unit: re.Pattern[str], taken: bytearray) -> dict[str, int]:
    """The places of units that stand once in a text, without the blanks around them, and have no character taken."""
    places: dict[str, list[int]] = {}
    for each in unit.finditer(text):
        places.setdefault(each[0].strip(), []).append(each.end() - len(each[0].lstrip()))
    return {
        each: place
        for each, (place, *others) in places.items()
        if each not in GAP and not others and taken.find(1, place, place + len(each)) < 0
    }


def _unlike(sentences: list[str], others: list[str]) -> Iterator[str]:
    """Sentences without those that differ from another one by numbers alone, as the items of a list do."""
    known, numbered = ("\0".join(of(each.strip()) for each in others) for of in (str, _numbered))
    whole = set(numbered.split("\0"))
    for before, each, after in zip(["", *sentences], sentences, [*sentences[1:], ""], strict=False):
        own = each.strip()
        is_other = NUMBER.search(own) and _numbered(own) in whole
        # Beside a gap or an end a sentence may be cut, and what is left of it may be a number.
        if NUMBER.search(own) and not own.isdigit() and not {before, after}.isdisjoint(("", OLD_GAP)):
            is_other = own not in known and _numbered(own) in numbered
        yield re.sub(r"\S", UNLIKE, each) if is_other else each


def _numbered(unit: str) -> str:
    """A unit with one number for all."""
    return NUMBER.sub("0", unit)


def _refined(text: str, other: str, units: tuple[re.Pattern[str], ...]) -> list[tuple[int, int, int]]:
    """The blocks that two texts without a common unit share, if these are enough."""
    head = _common(text, other)
    # Beside a gap a unit is cut, and the same as far as it goes.
    head = head if _is_cut(text[head:], 0) or _is_cut(other[head:], 0) else 0
    tail = _common(text[head:][::-1], other[head:][::-1])
    rest, new = text[head : len(text) - tail], other[head : len(other) - tail]
    if not (_is_cut(rest, -1) or _is_cut(new, -1)):
        tail, rest, new = 0, text[head:], other[head:]
    inner = list(matching(rest, new, units)) if units and rest and new else _by_characters(rest, new)
    found = [(0, 0, head), *((head + one, head + two, size) for one, two, size in inner)]
    found = [each for each in (*found, (len(text) - tail, len(other) - tail, tail)) if each[2]]
    shorter = min(sum(each not in GAP for each in side) for side in (text, other))
    return found if sum(size for *_, size in found) >= ALIKE * shorter else []


def _is_cut(rest: str, side: int) -> bool:
    """True of a text that is at its end, or at a gap, on a side."""
    return not rest or rest[side] in GAP


def _common(text: str, other: str) -> int:
    """The length of the common beginning of two texts."""
    return len(os.path.commonprefix([text, other]))  # noqa: RUF071  # by characters is meant


def _by_characters(text: str, other: str) -> list[tuple[int, int, int]]:
    """The blocks that two words share, which may be a text in a script without spaces."""
    if not text or not other or len(text.split()) > 1 or len(other.split()) > 1:
        return []
    head = _common(text, other)
    tail = _common(text[head:][::-1], other[head:][::-1])
    rest, new = text[head : len(text) - tail], other[head : len(other) - tail]
    found = [(0, 0, head)]
    if max(len(rest), len(new)) <= MOST_CHARACTERS:
        blocks = difflib.SequenceMatcher(None, rest, new, autojunk=False).get_matching_blocks()
        found += [(head + one, head + two, size) for one, two, size in blocks]
    found = [each for each in (*found, (len(text) - tail, len(other) - tail, tail)) if each[2]]
    # Single characters are in any long word.
    return found if sum(size for *_, size in found) >= ALIKE * max(len(text), len(other)) else []


def _places(parts: list[str]) -> list[int]:
    """The places where parts begin, and the end."""
    places = [0]
    for part in parts:
        places.append(places[-1] + len(part))
    return places
