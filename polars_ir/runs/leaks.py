"""The findings of `validate` about what users had before: leaks of the test, cold ids, and lists of sampled items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from polars_ir.engine.ranking import DOCUMENT
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.catalogue import Catalogue

#: The findings, each with its severity.
LEAKS = {
    "judged pairs in the history": "warning",
    "recommended pairs in the history": "note",
    "judged users without a history": "note",
    "judged items that nobody had": "note",
    "lists that look sampled": "warning",
}

#: Columns between two steps.
SEEN, SAMPLED, LENGTH = "polars_ir: seen", "polars_ir: sampled", "polars_ir: length"
N_JUDGED, N_FOUND, SIZE = "polars_ir: judged", "polars_ir: found", "polars_ir: size"


class Leak(NamedTuple):
    """A finding: its rows, true for those it is about, the columns that name one, and what it means."""

    rows: pl.LazyFrame
    wrong: pl.Expr
    ids: tuple[str, ...]
    meaning: str


def leaks(run: CanonicalFrame, qrels: CanonicalFrame, history: object) -> Iterator[Leak]:
    """The findings in the order of `LEAKS`."""
    catalogue = Catalogue.of(run, history, None)
    pairs, is_new = catalogue.pairs, pl.col(SEEN).is_null()
    had = {role: pairs.select(role).unique() for role in DOCUMENT}
    judged = qrels.select(*qrels.document).drop_nulls("doc_id")

    def with_seen(rows: pl.LazyFrame, known: pl.LazyFrame, *on: str) -> pl.LazyFrame:
        return rows.join(known.with_columns(pl.lit(True).alias(SEEN)), on=on, how="left")

    leaked = "a model saw these answers as it was trained; drop='seen' of ir.split leaves them out of the test"
    yield Leak(with_seen(judged, pairs, *DOCUMENT), ~is_new, tuple(qrels.document), leaked)
    again = "right where items are consumed again; else leave out of the lists what a user had: Seen@k is their share"
    yield Leak(with_seen(run.select(*run.document), pairs, *DOCUMENT), ~is_new, tuple(run.document), again)
    for role, meaning in (
        ("query_id", "no model can know these users; drop='cold_users' of ir.split leaves them out"),
        ("doc_id", "models of ids alone cannot recommend them; drop='cold_items' of ir.split leaves them out"),
    ):
        yield Leak(with_seen(judged.select(role).unique(), had[role], role), is_new, (role,), meaning)
    yield _sampled(run, qrels, had["doc_id"])


def _sampled(run: CanonicalFrame, qrels: CanonicalFrame, items: pl.LazyFrame) -> Leak:
    """Lists of systems all of whose lists are equally long, shorter than the catalogue, and hold every judged item."""
    keys, shared, systems = run.keys, qrels.keys, run.keys[:-1]
    judged = qrels.select(*qrels.document).drop_nulls("doc_id").unique()
    lists = run.select(*keys).group_by(keys).agg(pl.len().alias(LENGTH))
    of_query = judged.group_by(shared).agg(pl.len().alias(N_JUDGED))
    found = run.select(*run.document).join(judged, on=qrels.document, how="semi").unique()
    found = found.group_by(keys).agg(pl.len().alias(N_FOUND))
    rows = lists.join(of_query, on=shared, how="inner").join(found, on=keys, how="left")
    rows = rows.join(items.select(pl.len().alias(SIZE)), how="cross")
    length = pl.col(LENGTH)
    same = (length.min() == length.max()) & (pl.len() > 1) & (length.max() > 1) & (length.max() < pl.col(SIZE).max())
    sampled = same & (pl.col(N_FOUND).fill_null(0) == pl.col(N_JUDGED)).all()
    meaning = (
        "equally long, and every judged item in each: figures at a cutoff among sampled items are not those of full "
        "rankings, nor in their order; rank all items"
    )
    rows = rows.with_columns((sampled.over(systems) if systems else sampled).alias(SAMPLED))
    return Leak(rows, pl.col(SAMPLED), tuple(keys), meaning)
