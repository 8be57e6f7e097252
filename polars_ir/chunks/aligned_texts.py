"""Places of old chunks in new texts, by the texts of both: the same places, but where a source changed."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import polars as pl

from polars_ir.chunks.interval_join import overlapping
from polars_ir.chunks.tables import Spans
from polars_ir.errors import warn

#: A place of a source in no chunk, whose character is not known.
UNKNOWN = "\0"

#: The units in which texts are aligned, each within what changed in those before: lines, sentences, words.
UNITS = tuple(map(re.compile, (r"[^\n]*\n+|[^\n]+", r".+?(?:[.!?]+\s+|$)", r"\s*\S+\s*|\s+")))

#: Minimum share of the shorter of two texts that must be the same; below it, common words are chance.
ALIKE = 0.5

#: Number of pairs of equal parts above which frequent parts are taken for junk: each pair is looked at repeatedly.
MOST_PAIRS = 1_000_000


def aligned(chunks: pl.DataFrame, old: Spans, new: Spans) -> pl.DataFrame:
    """The pieces of old chunks in new texts: the number of the chunk, `source`, `start`, `end` and `place` in it."""
    same = chunks.with_columns(place=pl.lit(0, pl.Int64)).drop("doc_id")
    if "text" not in old.names or "text" not in new.names or chunks.is_empty():
        return same
    sources = chunks.lazy().select("source").unique()
    texts = _texts(old, sources).join(_texts(new, sources), on="source", suffix="_new")
    changed = texts.filter(pl.col("text") != pl.col("text_new")).collect(engine="streaming").sort("source")
    blocks, n_characters, n_aligned = [], 0, 0
    for source, text, other in changed.iter_rows():
        if _same_but_for_gaps(text, other):
            continue
        found = list(matching(text, other))
        blocks += [(source, start, start + length, place - start) for start, place, length in found]
        blocks += [] if found else [(source, 0, 0, 0)]
        n_characters += len(text) - text.count(UNKNOWN)
        n_aligned += sum(length - text.count(UNKNOWN, start, start + length) for start, _, length in found)
    if not blocks:
        return same
    schema: dict[str, Any] = {"source": chunks.schema["source"], "start": pl.Int64, "end": pl.Int64, "shift": pl.Int64}
    moves = pl.DataFrame(blocks, schema, orient="row")
    n_sources = moves["source"].n_unique()
    share, noun = 1 - n_aligned / max(1, n_characters), "source" if n_sources == 1 else "sources"
    warn(f"the text of {n_sources} {noun} changed, of which {share:.1%} could not be aligned with the new one.")
    is_changed = pl.col("source").is_in(moves["source"].unique().implode())
    met = overlapping(same.filter(is_changed).lazy(), moves.filter(pl.col("start") < pl.col("end")).lazy(), old.length)
    shifted = met.select(
        same.columns[0],
        "source",
        start=pl.col("start") + pl.col("shift"),
        end=pl.col("end") + pl.col("shift"),
        place=pl.col("start") - pl.col("start_left"),
    )
    return pl.concat([same.filter(~is_changed), shifted.collect(engine="streaming")], how="vertical_relaxed")


def _texts(chunks: Spans, sources: pl.LazyFrame) -> pl.LazyFrame:
    """The text of each source, put together of its chunks, each character once; what is in none is unknown."""
    rows = chunks.rows.select("source", "start", "end", "text").join(sources, on="source", how="semi")
    rows = rows.sort("source", "start", "end")
    before = pl.col("end").cum_max().shift(1, fill_value=0).over("source")
    gap = pl.lit(UNKNOWN).repeat_by((pl.col("start") - before).clip(0)).list.join("")
    unknown = pl.lit(UNKNOWN).repeat_by(pl.col("end") - pl.col("start")).list.join("")
    new = pl.coalesce("text", unknown).str.slice((before - pl.col("start")).clip(0))
    return (
        rows.select("source", text=gap + new).group_by("source", maintain_order=True).agg(pl.col("text").str.join(""))
    )


def _same_but_for_gaps(text: str, other: str) -> bool:
    """True of texts that differ in what is known of both nowhere, and in length alone."""
    if UNKNOWN not in text and UNKNOWN not in other:
        return text.startswith(other) or other.startswith(text)
    return all(one == two or UNKNOWN in (one, two) for one, two in zip(text, other, strict=False))


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
        length, other_length = places[end] - place, other_places[last] - other_place
        if kind == "equal":
            yield place, other_place, length
        elif kind == "replace" and finer:
            inner = text[place : place + length], other[other_place : other_place + other_length]
            found = list(matching(*inner, tuple(finer)))
            if sum(size for *_, size in found) >= ALIKE * min(length, other_length):
                yield from ((place + one, other_place + two, size) for one, two, size in found)


def _places(parts: list[str]) -> list[int]:
    """The places where parts begin, and the end."""
    places = [0]
    for part in parts:
        places.append(places[-1] + len(part))
    return places
