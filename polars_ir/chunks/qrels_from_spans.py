"""`qrels_from_spans`: judgments of chunks, by the share of gold spans that they cover."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_ir.chunks.interval_join import covered_length, overlapping
from polars_ir.chunks.tables import LENGTH, Spans, check_sources, checked, own_text, same_sources, unchecked
from polars_ir.errors import Code, DataError, Fix, OptionError, Setting, warn
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, not_negative, public, truth

SPAN = ["query_id", "source", "start", "end"]

#: The columns of judgments in the result.
RESULT = ["query_id", "subtopic", "doc_id", "relevance"]

#: The numbers of gold spans, and of needs (spans, or alternatives with one subtopic).
GOLD, NEED = "polars_ir: gold", "polars_ir: need"

#: Lowest integer id of a chunk, below which gold spans have their numbers.
LOWEST = -(2**63) + 2**32

#: The number of a border of segments.
PLACE = "polars_ir: place"


@public()
def qrels_from_spans(chunks: Any, gold: Table[FrameT], *, min_overlap: float = 0.5, segments: bool = False) -> FrameT:
    """Qrels of chunks from gold spans of source texts, which stay right whatever chunker is next.

    A chunk is relevant that covers the share `min_overlap` of a span. Each span is a subtopic: `StRecall@k` is the
    share of spans found, `FullRecall@k` tells whether all are, and measures of documents count relevant chunks.

    Parameters
    ----------
    chunks
        `doc_id` (or `chunk_id`; the ids of the run), `source`, `start`, `end`: half-open offsets in characters; without
        `end`, LangChain's `start_index` and the chunk's `text`. Where there is a `text`, its length must fit. Beside a
        `chunk_id`, `doc_id` is the source.
    gold
        `query_id`, `source`, `start`, `end`; spans with one `subtopic` are alternatives. `relevance`, if any, is kept:
        the highest of the alternatives that a chunk covers, and then the largest share.
    min_overlap
        The least share of a span, from 0 (any overlap) to 1 (all of it).
    segments
        True: gold is cut at the borders of chunks, and each segment is a subtopic with its `length`, so that
        `StRecall(weights='length')@k` is the share of characters read, each once. `min_overlap` is not used.

    Returns
    -------
    The kind of gold (a LazyFrame for a LazyFrame, pandas for pandas); tables are read at once
        `query_id`, `subtopic` (Int64 by place, or as in gold), `doc_id`, `relevance` (Int64 1, or that of gold),
        `share` of the span in the chunk, `covered`: that in all chunks together, `chunk`: the one of the share, and
        `source`, `start`, `end` of the span. A span that no chunk covers so far has a row whose `doc_id` no run has,
        so that it counts, and the best `chunk`. Segments have `length` in place of `share`, `covered` and `chunk`.

    Warns
    -----
    IRWarning
        For spans that no chunk covers so far, sources without chunks, spans of a query that overlap, and gold whose
        `text` is not that of the chunks at its offsets.

    Raises
    ------
    IRError
        For empty and reversed spans, ids of several chunks, a span twice, offsets that do not fit a text (such as those
        of bytes), and no source in common.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> chunks = pl.DataFrame({"doc_id": ["a", "b"], "source": "s", "start": [0, 800], "end": [1000, 1800]})
    >>> gold = pl.DataFrame({"query_id": ["q"], "source": ["s"], "start": [900], "end": [1150]})
    >>> ir.qrels_from_spans(chunks, gold).select("doc_id", "relevance", "share").rows()
    [('b', 1, 1.0)]
    >>> qrels = ir.qrels_from_spans(chunks, gold, segments=True)
    >>> ir.evaluate({"q": ["a", "b"]}, qrels, ["StRecall(weights='length')@1", "StRecall(weights='length')@2"]).row(0)
    ('q', 0.4, 1.0)
    """
    check("min_overlap", min_overlap, not_negative(1))
    check("segments", segments, truth())
    table, wanted = unchecked("chunks", chunks, "doc_id"), checked(unchecked("gold", gold, "query_id"), "query_id")[0]
    if segments and "subtopic" in wanted.names:
        words = "Segments are subtopics themselves; leave it out"
        fix = Fix(words, Code.dropping("gold", [wanted.names["subtopic"]]))
        raise OptionError("does not go with alternatives, the 'subtopic' of gold.", about="segments", fix=fix)
    same_sources(table, wanted)
    spans = _numbered(wanted)
    # Chunks are read once.
    table, (pairs,) = checked(table, "doc_id", _pairs(spans, table, wanted))
    if "text" in wanted.names and "text" in table.names:
        _warn_of_other_texts(pairs, spans, table)
    met_nothing = spans.select("source", GOLD).filter(~pl.col(GOLD).is_in(pairs[GOLD].unique().implode()))
    if met_nothing.height:
        check_sources(met_nothing["source"], spans["source"].n_unique(), table, "gold")
    if segments:
        made = _of_segments(spans, pairs, table)
    else:
        if "subtopic" not in wanted.names:
            _warn_of_overlaps(spans)
        made = _of_needs(spans, pairs, table, min_overlap)
    return give_back(made.rename({"query_id": wanted.names["query_id"]}), gold)


def _pairs(spans: pl.DataFrame, chunks: Spans, gold: Spans) -> pl.LazyFrame:
    """The gold spans and chunks that overlap, with the place that both share."""
    places = chunks.rows.select("source", "start", "end", "doc_id")
    length = max(chunks.length, gold.length)
    met = overlapping(places, spans.lazy().select("source", "start", "end", GOLD), length, chunks.longest)
    return met.select(GOLD, own_text("doc_id", chunks.dtypes), "start", "end")


def _numbered(gold: Spans) -> pl.DataFrame:
    """The spans in memory, by query and place, with the numbers of each, of its need and its subtopic."""
    own = [role for role in ("subtopic", "relevance", "text") if role in gold.names]
    spans = gold.rows.select(*SPAN, *own).collect(engine="streaming").sort(*SPAN, *own)
    # A span may be of several subtopics.
    keys = [*SPAN, *(["subtopic"] if "subtopic" in own else [])]
    same = pl.all_horizontal(pl.col(name) == pl.col(name).shift() for name in keys)
    if (again := spans.filter(same)).height:
        fix = Fix(
            "Keep one of each", Code.deduplicating("gold", [gold.names[key] for key in keys if key in gold.names])
        )
        shown = gold.shown(again.select(keys))
        raise DataError.rows("gold", "of a span that the query has already", fix, again.height, shown)
    spans = spans.with_row_index(GOLD).with_columns(pl.col(GOLD).cast(pl.Int64))
    if "subtopic" in own:
        return spans.with_columns(pl.struct("query_id", "subtopic").rank("dense").cast(pl.Int64).alias(NEED))
    return spans.with_columns(_number_in_query(), pl.col(GOLD).alias(NEED))


def _number_in_query() -> pl.Expr:
    """The numbers of rows of each query, in the order of queries: `subtopic`."""
    row = pl.int_range(pl.len(), dtype=pl.Int64)
    is_first = (pl.col("query_id") != pl.col("query_id").shift()).fill_null(True)
    return (row - pl.when(is_first).then(row).forward_fill() + 1).alias("subtopic")


def _warn_of_other_texts(pairs: pl.DataFrame, spans: pl.DataFrame, chunks: Spans) -> None:
    """Warn of spans whose text is not that of the chunks at their offsets, which then may count other units."""
    met = pairs.lazy().join(spans.lazy().select(GOLD, "text", first="start"), on=GOLD)
    met = met.join(chunks.rows.select("doc_id", there="text", begin="start"), on="doc_id")
    said = pl.col("text").str.slice(pl.col("start") - pl.col("first"), LENGTH)
    differs = said != pl.col("there").str.slice(pl.col("start") - pl.col("begin"), LENGTH)
    other = met.filter(differs).select(GOLD).unique().sort(GOLD).collect(engine="streaming")[GOLD]
    if len(other):
        says = f"{len(other)} of {spans.height} spans of gold have another text than the chunks at their offsets"
        fix = Fix("Offsets of bytes or of UTF-16 units are not those of characters, nor are those into a changed text")
        warn(f"{says}; the first is {_place(spans.row(other[0], named=True))}.", fix=fix)


def _warn_of_overlaps(spans: pl.DataFrame) -> None:
    """Warn of spans of a query that overlap, whose common text counts for each."""
    # Texts laid end to end need no groups, which take thirty times as long.
    is_next = pl.any_horizontal(pl.col(name) != pl.col(name).shift() for name in ("query_id", "source"))
    far = is_next.fill_null(False).cum_sum().cast(pl.Int64) * pl.col("end").max()
    again = spans.filter(pl.col("start") + far < (pl.col("end") + far).cum_max().shift())
    if again.height:
        first = _place(again.row(0, named=True))
        fix = Fix("Segments count each character once", Setting("segments", value=True))
        one, more = "span that overlaps another of its query", "spans that overlap others of their query"
        those = one if again.height == 1 else more
        warn(f"gold has {again.height} {those}, and each counts; the first is {first}.", fix=fix)


def _place(span: dict[str, Any]) -> str:
    """A span in words."""
    return f"[{span['start']}, {span['end']}) of {span['source']!r} for {span['query_id']!r}"


def _of_needs(spans: pl.DataFrame, pairs: pl.DataFrame, chunks: Spans, min_overlap: float) -> pl.DataFrame:
    """A row for each need and chunk that covers enough of a span of it, and one for a need without such a chunk."""
    lengths, starts = spans.select(LENGTH).to_series(), spans["start"]
    pairs = pairs.with_columns(pl.col("start", "end") - starts.gather(pairs[GOLD]))
    shares = pairs.select(GOLD, "doc_id", share=LENGTH / lengths.gather(pairs[GOLD]), chunk="doc_id")
    kept = shares.filter(pl.col("share") >= min_overlap)
    covered_needs = spans[NEED].gather(kept[GOLD].unique()).unique()
    uncovered = spans.filter(~pl.col(NEED).is_in(covered_needs.implode()))
    lacking = _best_chunks(shares, uncovered).with_columns(doc_id=_no_chunk(chunks, NEED))
    rows = pl.concat([kept, lacking.select(kept.columns)], how="vertical_relaxed").sort(GOLD, "doc_id")
    covered = (covered_length(pairs, GOLD, lengths) / lengths).gather(rows[GOLD])
    rows = pl.concat([rows.drop(GOLD), spans[rows[GOLD]]], how="horizontal")
    rows = rows.with_columns(_relevance(spans), covered=covered)
    if not spans[NEED].is_sorted() or spans[NEED].n_unique() < spans.height:
        # A chunk that covers several alternatives counts once.
        rows = rows.sort(NEED, "doc_id", "relevance", "share", GOLD, descending=[False, False, True, True, False])
        rows = rows.unique([NEED, "doc_id"], keep="first", maintain_order=True)
    if lacking.height:
        uncovered = rows.filter(pl.col(GOLD).is_in(lacking[GOLD].implode()))
        _warn_of_uncovered(uncovered, spans[NEED].n_unique(), min_overlap)
    return rows.select(*RESULT, "share", "covered", "chunk", "source", "start", "end")


def _best_chunks(shares: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """A row per need, with the span and chunk of the largest share."""
    best = shares.drop("doc_id").join(spans, on=GOLD, how="semi")
    chunks = spans.join(best, on=GOLD, how="left").with_columns(pl.col("share").fill_null(0.0))
    ordered = chunks.sort(NEED, "share", GOLD, "chunk", descending=[False, True, False, False])
    return ordered.unique(NEED, keep="first", maintain_order=True)


def _relevance(spans: pl.DataFrame) -> pl.Expr:
    """The grade of a span, 1 unless gold has grades."""
    return pl.col("relevance") if "relevance" in spans.columns else pl.lit(1, pl.Int64).alias("relevance")


def _no_chunk(chunks: Spans, number: str) -> pl.Expr:
    """An id that no run has: below those of all chunks, or words that name a place."""
    if chunks.dtypes["doc_id"].is_integer():
        if chunks.least < LOWEST:
            fix = Fix("Cast them, and those of the run", Code.casting("chunks", chunks.names["doc_id"], pl.String))
            raise DataError("ids are so low that none is left for what no chunk covers.", about="chunks", fix=fix)
        return chunks.least - 1 - pl.col(number)
    return pl.format("no chunk of {} from {} to {}", "source", "start", "end")


def _warn_of_uncovered(rows: pl.DataFrame, n_needs: int, min_overlap: float) -> None:
    """Warn of spans that no chunk covers so far, with the best chunk of the first."""
    lacking = rows.sort(NEED)
    first = lacking.row(0, named=True)
    best = f"{first['chunk']!r} has {first['share']:.2g} of it, all chunks together {first['covered']:.2g}"
    so_far = f"covers {min_overlap:g} of them" if min_overlap else "meets them"
    says = (
        f"{lacking.height} of {n_needs} spans of gold have no chunk that {so_far}, and count as "
        f"not found. The first is {_place(first)}: {best if first['share'] else 'no chunk meets it'}."
    )
    share = "qrels['share']"
    code = Code.keeping("qrels", f"pl.col('share') < {min_overlap!r}", f"{share} < {min_overlap!r}")
    warn(says, fix=Fix("All of them", code) if min_overlap else None)


def _of_segments(spans: pl.DataFrame, pairs: pl.DataFrame, chunks: Spans) -> pl.DataFrame:
    """A row for each segment of gold between two borders of spans or chunks, and chunk that covers it."""
    texts = spans.select(pl.struct("query_id", "source").rle_id()).to_series()
    # Texts laid end to end, so that a place is one number.
    extent = spans.group_by(texts, maintain_order=True).agg(first=pl.col("start").min(), last=pl.col("end").max())
    before = ((extent["last"] - extent["first"]).cum_sum() - extent["last"]).gather(texts)
    gold = spans.select(GOLD, pl.col("start", "end") + before, _relevance(spans))
    pieces = pairs.select("doc_id", pl.col("start", "end") + before.gather(pairs[GOLD]))
    borders = pl.concat([table[side] for table in (gold, pieces) for side in ("start", "end")]).unique().sort()
    # An overlap of two spans is one segment, of the higher grade.
    wanted = _segments(gold, borders).group_by(PLACE).agg(pl.col("relevance").max(), pl.col(GOLD).min()).sort(PLACE)
    start, end = (borders.gather(wanted[PLACE] + side) - before.gather(wanted[GOLD]) for side in (0, 1))
    cut = wanted.with_columns(spans.select("query_id", "source")[wanted[GOLD]], start=start, end=end)
    cut = cut.with_columns(_number_in_query(), length=LENGTH)
    covering = _segments(pieces, borders).select(PLACE, "doc_id").unique()
    rows = cut.join(covering, on=PLACE, how="left").sort(PLACE, "doc_id")
    lacking = rows.filter(pl.col("doc_id").is_null())
    if lacking.height:
        first = _place(lacking.row(0, named=True))
        count, total = lacking["length"].sum(), cut["length"].sum()
        warn(f"{count:,} of {total:,} characters of gold are in no chunk, and count as not found; the first: {first}.")
    rows = rows.with_columns(pl.coalesce("doc_id", _no_chunk(chunks, PLACE)).alias("doc_id"))
    return rows.select(*RESULT, "length", "source", "start", "end")


def _segments(spans: pl.DataFrame, borders: pl.Series) -> pl.DataFrame:
    """A row for each segment of spans, by the number of the border where it starts: `PLACE`."""
    first, end = (borders.search_sorted(spans[side]).cast(pl.Int64) for side in ("start", "end"))
    return spans.with_columns(pl.int_ranges(first, end).alias(PLACE)).explode(PLACE)
