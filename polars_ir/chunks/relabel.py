"""`relabel`: judgments of the chunks of one chunker, moved to those of another by the text that both share."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple

import polars as pl

from polars_ir.chunks.aligned_texts import aligned
from polars_ir.chunks.interval_join import covered_length, overlapping
from polars_ir.chunks.tables import LENGTH, Spans, check_sources, chunk_table, own_text, same_sources, typical
from polars_ir.errors import SHOWN, Code, DataError, DtypeError, Fix, OptionError, warn
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.judgments import judgment_table
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, positive, public

#: The numbers of labels and of old chunks.
LABEL, OLD = "polars_ir: label", "polars_ir: old"


class Relabelled(NamedTuple, Generic[FrameT]):
    """Moved judgments, and what became of each old one."""

    qrels: FrameT
    changes: FrameT


@public()
def relabel(qrels: Table[FrameT], old_chunks: Any, new_chunks: Any, *, min_overlap: float = 0.5) -> Relabelled[FrameT]:
    """Judgments of old chunks moved to new ones: `moved = ir.relabel(...)` has `moved.qrels` and `moved.changes`.

    A new chunk takes the grade of each old one in the same source with which it shares `min_overlap` of the shorter of
    both, the highest of several; grade 0 moves, too. Never across sources, however equal the words; text that moved
    within its source is followed by lines and sentences that stand once before and after. A line or sentence in which
    numbers alone changed is followed where as many of its kind stand there as before; else it may be another item.

    Parameters
    ----------
    qrels
        The judgments of old chunks, with or without subtopics.
    old_chunks
        `doc_id` (or `chunk_id`), `source`, `start`, `end`, as in `qrels_from_spans`; all chunks with a label.
    new_chunks
        The chunks of the new chunker, likewise. Where both have a `text`, sources whose text changed are aligned by it;
        without, offsets are taken to be into the same text.
    min_overlap
        The least share of the shorter chunk, above 0 and up to 1.

    Returns
    -------
    NamedTuple of `qrels` and `changes`, both of the kind of `qrels` (lazy ones are read at once)
        `qrels`: the query column, `subtopic` if any, `doc_id` of new chunks and `relevance`; rows of queries without
        any judged document stay. `changes`, a row per old label: these columns, and `change` (`"kept"`: the same span,
        `"moved"`, `"split"`: to several chunks, `"merged"`: with another label of the query, `"gone"`), `new` (the
        chunks that took the grade), `covered` (the share of the old chunk in these), `aligned` (the share that the new
        text has still, null without texts to compare) and `review`: gone, or relevant and in no new chunk as a whole
        and as it was, which may lack the answer.

    Warns
    -----
    IRWarning
        For labels that need a person, sources without new chunks, the share of changed text that was not aligned, and
        a `text` on one side alone, where changes are not seen.

    Raises
    ------
    IRError
        For labels without an old chunk, and tables of chunks that `qrels_from_spans` would not take.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> old = pl.DataFrame({"doc_id": ["a", "b"], "source": "s", "start": [0, 500], "end": [500, 1000]})
    >>> new = pl.DataFrame({"doc_id": ["c"], "source": "s", "start": [0], "end": [1000]})
    >>> moved = ir.relabel({"q": {"a": 0, "b": 2}}, old, new)
    >>> moved.qrels.rows()
    [('q', 'c', 2)]
    >>> moved.changes.select("doc_id", "change", "covered").rows()
    [('a', 'merged', 1.0), ('b', 'merged', 1.0)]
    """
    check("min_overlap", min_overlap, positive(1))
    kind, table = judgment_table(qrels)
    if kind.name not in ("documents", "subtopics"):
        says = f"must be judgments of documents; these are {kind.name}."
        raise OptionError(says, about="qrels", fix="Give preferences of the new chunks anew")
    keys = [*table.keys, *table.per]
    if not table.eager:
        table = table.with_frame(table.guarded().select(*keys, "doc_id", "relevance").collect(engine="streaming"))
    _check_judges(table, keys)
    table.check_once(*keys, "doc_id")
    judged = table.select(*keys, "doc_id", "relevance").collect(engine="in-memory")
    labels = judged.drop_nulls("doc_id").sort(*keys, "doc_id").with_row_index(LABEL)
    old, new = chunk_table("old_chunks", old_chunks), chunk_table("new_chunks", new_chunks)
    same_sources(old, new)
    of_labels = _chunks_of(labels, old, new, table.names["doc_id"])
    labels = labels.join(of_labels.select("doc_id", OLD), on="doc_id", maintain_order="left")
    pieces = aligned(of_labels, old, new)
    taken = _taken(of_labels, pieces, new, min_overlap)
    without = of_labels.filter(~pl.col(OLD).is_in(taken[OLD].unique().implode()))
    if without.height:
        check_sources(without["source"], of_labels["source"].n_unique(), new, "old_chunks")
    pairs = labels.join(taken.unique([OLD, "new"]), on=OLD)
    moved = pairs.group_by(*keys, pl.col("new").alias("doc_id")).agg(pl.col("relevance").max())
    nothing = judged.filter(pl.col("doc_id").is_null()).with_columns(pl.col("doc_id").cast(new.dtypes["doc_id"]))
    made = pl.concat([moved.select(judged.columns), nothing]).sort(*keys, "doc_id")
    lengths = of_labels.select(LENGTH).to_series()
    found = pieces.group_by(OLD).agg(pl.col("compared").all(), aligned=LENGTH.sum())
    shares = of_labels.select(OLD, length=lengths, covered=covered_length(taken, OLD, lengths))
    shares = shares.join(found, on=OLD, how="left")
    changes = _changes(labels, shares, pairs, keys)
    _warn_of_people(changes)
    return Relabelled(*(give_back(each.rename(table.source_names), qrels) for each in (made, changes)))


def _check_judges(table: CanonicalFrame, keys: list[str]) -> None:
    """Raise a `DataError` for judgments of several judges, which have several grades of a document."""
    if "judge" in table.columns:
        judges = table.select(*keys, "doc_id", "judge")
        found = judges.filter(pl.struct(*keys, "doc_id").is_duplicated()).collect(engine="streaming")
        if found["judge"].n_unique() > 1:
            fix = Fix("Make one grade of them", Code("ir.merge_judgments(qrels, 'majority')"))
            shown = found.sort(pl.all()).head(SHOWN)
            problem = "of a document with several judges, by column 'judge'"
            raise DataError.rows("qrels", problem, fix, found.height, shown)


def _chunks_of(labels: pl.DataFrame, old: Spans, new: Spans, own: str) -> pl.DataFrame:
    """The old chunks with a label, numbered; a `DataError` for labels without one."""
    dtypes = labels.schema["doc_id"], old.dtypes["doc_id"]
    if dtypes[0].is_integer() != dtypes[1].is_integer() and labels.height:
        names = own, dtypes[0], old.names["doc_id"], dtypes[1]
        raise DtypeError.different_ids(*names, table="qrels", of="old_chunks")
    ids = labels.select("doc_id").unique()
    # Left to itself, Polars may hold the larger side in memory.
    there = old.rows.select("doc_id", "source", "start", "end")
    there = there.join(ids.lazy(), on="doc_id", how="semi", build_side="force_right")
    owned = there.with_columns(own_text(name, old.dtypes) for name in ("doc_id", "source"))
    chunks = owned.collect(engine="streaming").sort("source", "start", "end", "doc_id").with_row_index(OLD)
    if chunks.height < ids.height:
        lost = labels.join(chunks, on="doc_id", how="anti").drop(LABEL)
        name = old.names["doc_id"]
        if lost.height == labels.height and new.dtypes["doc_id"] == labels.schema["doc_id"]:
            known = new.rows.select("doc_id").collect(engine="streaming")["doc_id"]
            if lost["doc_id"].is_in(known.implode()).all():
                says = "of labels are those of new_chunks, and none is of old_chunks: the two tables are swapped."
                raise DataError(f"ids {says}", about="qrels", fix=Fix("Give the chunks that were judged first"))
        code = Code(
            f"qrels.join(old_chunks, left_on={own!r}, right_on={name!r}, how='semi')",
            f"qrels[qrels[{own!r}].isin(old_chunks[{name!r}])]",
        )
        fix = Fix("Give the chunks that were judged; if these are gone, leave their labels out", code)
        raise DataError.rows("qrels", "whose document is none of old_chunks", fix, lost.height, lost.head(SHOWN))
    return chunks


def _taken(chunks: pl.DataFrame, pieces: pl.DataFrame, new: Spans, min_overlap: float) -> pl.DataFrame:
    """The pairs of old chunks and new ones that take their grades, with the places in the old one that both share."""
    length = max(new.length, pieces.select(length=LENGTH).select(typical("length")).item() or 1)
    met = overlapping(new.rows.select("source", "start", "end", "doc_id"), pieces.lazy(), length, new.longest)
    # Places in the old text, from the start of its chunk.
    first = pl.col("start") - pl.col("start_right") + pl.col("place")
    own, n = own_text("doc_id", new.dtypes).alias("new"), pl.col("end_left") - pl.col("start_left")
    places = met.select(OLD, own, start=first, end=first + LENGTH, n=n, run="run")
    pairs = places.collect(engine="streaming").join(chunks.select(OLD, length=LENGTH), on=OLD)
    shared = pairs.with_columns(shared=LENGTH.sum().over(OLD, "new"))
    shorter = pl.min_horizontal("n", "length")
    taken = shared.filter(pl.col("shared") / shorter >= min_overlap)
    # Pieces with other text between them, or in another order, are not what was judged.
    one_piece = pl.col("run").min().over(OLD, "new") == pl.col("run").max().over(OLD, "new")
    whole = (pl.col("shared") == pl.col("length")) & one_piece
    return taken.with_columns(whole=whole, same=whole & (pl.col("shared") == pl.col("n")))


def _changes(labels: pl.DataFrame, shares: pl.DataFrame, pairs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """A row for each label: what became of it."""
    # Sorted once, which sorting the chunks of each label would do at thrice the cost.
    ordered = pairs.with_columns(n_labels=pl.len().over(*keys, "new")).sort(LABEL, "new")
    of_label = ordered.group_by(LABEL, maintain_order=True).agg(
        pl.col("new"),
        n=pl.len(),
        same=pl.col("same").any(),
        whole=pl.col("whole").any(),
        merged=(pl.col("n_labels") > 1).any(),
    )
    made = labels.join(of_label, on=LABEL, how="left").join(shares, on=OLD, how="left").sort(LABEL)
    change = pl.coalesce(
        pl.when(pl.col("n").is_null()).then(pl.lit("gone")),
        pl.when("same").then(pl.lit("kept")),
        pl.when(pl.col("n") > 1).then(pl.lit("split")),
        pl.when("merged").then(pl.lit("merged")),
        pl.lit("moved"),
    )
    parts = (pl.col("covered", "aligned").fill_null(0) / pl.col("length")).clip(0, 1)
    aligned = pl.when(pl.col("compared").fill_null(value=True)).then("aligned").alias("aligned")
    lost = pl.col("n").is_null() | ((pl.col("relevance") > 0) & ~pl.col("whole").fill_null(False))
    nothing = pl.col("new").fill_null(pl.lit([], made.schema["new"]))
    return made.select(*keys, "doc_id", "relevance", "compared", nothing, parts, change=change, review=lost).select(
        *keys, "doc_id", "relevance", "change", "new", "covered", aligned, "review"
    )


def _warn_of_people(changes: pl.DataFrame) -> None:
    """Warn, in a line, of labels that a person must look at."""
    count, gone = changes.filter("review").height, changes.filter(pl.col("change") == "gone").height
    if not count:
        return
    lost = [f"{gone} gone"] if gone else []
    if count > gone:
        lost.append(f"{count - gone} relevant, but whole in no new chunk, and a part need not hold the answer")
    code = Code("moved.changes.filter(pl.col('review'))", "moved.changes[moved.changes['review']]")
    fix = Fix("These", code, without_code="--changes FILE lists them")
    warn(f"{count} of {changes.height} labels need a human decision: {'; '.join(lost)}.", fix=fix)
