"""Ids of a run and its judgments that differ in blanks, case or zeros only, so that they do not match."""

from __future__ import annotations

from functools import partial
from itertools import compress

import polars as pl

from polars_ir.engine.prefilter import among
from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.frames.canonical_frame import CanonicalFrame

#: What makes different texts look alike, by any of its characters: other than ASCII, stripped characters, and letters
#: of both cases.
FORMS = {
    "other": (pl.all().str.len_bytes() != pl.all().str.len_chars()).any(),
    "stripped": pl.all().str.contains(r"^\s|\s$|\.0$|^0\d").any(),
    "upper": pl.all().str.contains("[A-Z]").any(),
    "lower": pl.all().str.contains("[a-z]").any(),
}


def lookalikes(pair: RunAndQrels, role: str) -> pl.LazyFrame | None:
    """Ids of the run that no id of the qrels matches, but would without blanks, case, leading zeros or `.0`.

    Or with accents as one character (NFC), which others write as two (NFD). Each has the `judged` id that it looks
    like, if any; None where none can be there.
    """
    eager = pair.run.eager and pair.judgments.eager
    run_ids, of_run = _ids(pair.run, role)
    judged_ids, of_judged = pair.kept(("ids", role), partial(_ids, pair.judgments, role))
    form = of_run | of_judged
    if form.isdisjoint(("other", "stripped")) and not form.issuperset(("upper", "lower")):
        return None
    # ASCII text has no other form, and searching for one takes longer than all the rest.
    alike = pl.col(role).str.normalize("NFC") if "other" in form else pl.col(role)
    alike = alike.str.to_lowercase()
    if not form.isdisjoint(("other", "stripped")):
        alike = alike.str.strip_chars().str.strip_suffix(".0").str.replace(r"^0+(\d)", "$1")
    if eager and not _any_alike(run_ids, judged_ids.with_columns(alike=alike), alike):
        run_ids, judged_ids = run_ids.clear(), judged_ids.clear()
    run_ids, judged_ids = run_ids.unique(), judged_ids.unique()
    unmatched = judged_ids.join(run_ids, on=role, how="anti").select(pl.col(role).alias("judged"), alike=alike)
    alone = run_ids.join(judged_ids, on=role, how="anti").with_columns(alike=alike)
    return alone.join(unmatched.group_by("alike").agg(pl.col("judged").min()), on="alike", how="left")


def _ids(table: CanonicalFrame, role: str) -> tuple[pl.LazyFrame, set[str]]:
    """Ids of a table as texts, and the names in `FORMS` of their variations, all of `FORMS` for a plan.

    Queries are there once, since there are few of them and many documents.
    """
    ids = table.select(role).unique() if role == "query_id" else table.select(role)
    ids = ids.select(pl.col(role).cast(pl.String))
    if not table.eager:
        return ids, set(FORMS)
    ids = ids.collect(engine="in-memory").lazy()
    forms = ids.select(**FORMS).collect(engine="in-memory")
    return ids, set(compress(forms.columns, forms.row(0)))


def _any_alike(run_ids: pl.LazyFrame, judged_ids: pl.LazyFrame, stripped: pl.Expr) -> bool:
    """True if an unmatched id of the run in memory is alike a judged one; a third of the time of counting them."""
    judged = judged_ids.collect(engine="in-memory")
    role, _ = judged.columns
    alone = run_ids.join(judged.lazy().select(role), on=role, how="anti").with_columns(alike=stripped)
    alone = alone.filter(among(["alike"], judged.select("alike")))
    alike = alone.join(judged.lazy().select("alike"), on="alike", how="semi")
    return not alike.head(1).collect(engine="in-memory").is_empty()
