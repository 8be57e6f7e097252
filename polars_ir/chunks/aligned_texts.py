"""Places of old chunks in new texts, by the texts of both: the same places, but where a source changed."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

import polars as pl

from polars_ir.chunks.interval_join import overlapping
from polars_ir.chunks.matching import GOES_ON, NEW_GAP, OLD_GAP, aligned_blocks
from polars_ir.chunks.tables import Spans
from polars_ir.errors import quoted, warn


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

    Pieces of one `run` have blanks between them, if anything. `compared` is false of sources without texts on both
    sides.
    """
    same = chunks.with_columns(place=pl.lit(0, pl.Int64), compared=pl.lit(value=False), run=pl.lit(0, pl.Int64))
    same = same.drop("doc_id")
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
    met = overlapping(same.filter(is_changed).drop("run").lazy(), blocks, old.length, old.longest)
    shifted = met.select(
        same.columns[0],
        "source",
        start=pl.col("start") + pl.col("shift"),
        end=pl.col("end") + pl.col("shift"),
        place=pl.col("start") - pl.col("start_left"),
        compared=pl.lit(value=True),
        run="run",
    )
    return pl.concat([same.filter(~is_changed), shifted.collect(engine="streaming")], how="vertical_relaxed")


def _moves(texts: pl.DataFrame, dtype: pl.DataType) -> pl.DataFrame:
    """The places of what both texts of changed sources have: `source`, `start`, `end`, `shift` to the new, `run`."""
    blocks, n_characters, n_aligned = [], 0, 0
    for source, both in texts.iter_rows():
        text, other = (
            _known(both[f"text{side}"], both[f"starts{side}"], both[f"lengths{side}"], gap)
            for side, gap in (("", OLD_GAP), ("_new", NEW_GAP))
        )
        if _unchanged(text.parts(), other.parts()):
            continue
        found = aligned_blocks(text.text, other.text)
        one = two = run = 0
        for place, other_place, length in sorted(found):
            run += place != one or other_place < two or bool(other.text[two:other_place].strip())
            start = place + text.shift(place)
            blocks.append((source, start, start + length, other_place + other.shift(other_place) - start, run))
            one, two = place + length, other_place + length
        blocks += [] if found else [(source, 0, 0, 0, 0)]
        n_characters += len(text.text) - text.text.count(OLD_GAP)
        n_aligned += sum(length for *_, length in found)
    schema: dict[str, Any] = {"source": dtype, "start": pl.Int64, "end": pl.Int64, "shift": pl.Int64, "run": pl.Int64}
    moves = pl.DataFrame(blocks, schema, orient="row")
    if blocks:
        n_sources, lost = moves["source"].n_unique(), n_characters - n_aligned
        share = f"{lost / max(1, n_characters):.1%}" if 1000 * lost >= n_characters else "less than 0.1%"
        says = f", of which {share} could not be aligned with the new one" if lost else ": text was inserted, or moved"
        warn(f"the text of {n_sources} {_noun(n_sources)} changed{says}.")
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
    start, text = parts[-1]
    end = start + len(text)
    # "90" at the end of a text that goes on as "900" or "90.5" may be another number.
    added = "".join(new[end - first : end - first + 2] for first, new in others if first <= end)
    if text[-1].isdecimal() and GOES_ON.match(added):
        return False
    last = others[-1][0] + len(others[-1][1])
    return not any(text[max(0, last - start) :].strip() for start, text in parts)
