"""Interpolated precision: the curve of precision over recall, at a point of it or on average."""

from __future__ import annotations

import polars as pl

from polars_ir.language.measure import measure
from polars_ir.language.measures.average_precision import precisions
from polars_ir.language.measures.precision_recall import TREC_EVAL
from polars_ir.language.options import Option, Value, is_number, one_of
from polars_ir.language.words import hits, if_relevant, n_relevant, ratio, total

RECALL = Option(
    None,
    Value("a number from 0 to 1", lambda v: is_number(v) and 0 <= v <= 1),
    "The recall from which on the precision counts; None: 0, at which the whole ranking counts.",
)

ROUNDING = Option(
    "nearest",
    one_of("nearest", "up"),
    "The relevant documents of a recall: 'nearest' rounds recall * R, halves up (trec_eval 10); 'up' takes the "
    "whole part of recall * R + 0.9 (trec_eval 9, ir_measures, ranx).",
)


def interpolated(recalls: pl.Expr, rel: float, rounding: str) -> pl.Expr:
    """Highest precision at each recall or above, for the recalls that the ranking reaches."""
    from_each_on = precisions(rel).cast(pl.Float64).cum_max(reverse=True)
    documents = recalls * n_relevant(rel)
    documents = documents.round(mode="half_away_from_zero") if rounding == "nearest" else (documents + 0.9).floor()
    # A recall of 0 needs no document: as high as at the first relevant one or below.
    place = documents.clip(lower_bound=1).cast(pl.Int64) - 1
    # Polars forgets the type of gathered values where there is no query at all; adding 0 restores it.
    return from_each_on.gather(place.filter(place < hits(None, rel))) + 0.0


@measure(
    "IPrec",
    source=f"{TREC_EVAL} (m_iprec_at_recall.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "iprec_at_recall(recall)", "ir_measures": "IPrec"},
    parameters={"recall": RECALL, "rounding": ROUNDING},
    at="recall",
)
def interpolated_precision(*, recall: float | None = None, rel: float = 1, rounding: str = "nearest") -> pl.Expr:
    """Interpolated precision: the highest precision at any rank from a given recall on.

    ::

        IPrec@recall = max(P@i, over the ranks i from that of the c-th relevant document on),  c = recall * R

    c is rounded, R is the number of relevant documents; 0 when fewer than c are retrieved. Taken at several recalls
    it is the curve of precision over recall. trec_eval 10 rounds to the nearest; trec_eval 9, and ir_measures and
    pytrec_eval with it, nearly always up (`rounding="up"`). Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": ["d1", "d3", "d4"]}, ["IPrec@0.5", "IPrec@1"]).row(0)
    ('q', 0.75, 0.75)
    """
    return if_relevant(total(interpolated(pl.lit(float(recall or 0)), rel, rounding)), rel)


@measure(
    "11pt_avg",
    source=f"{TREC_EVAL} (m_11pt_avg.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "11pt_avg"},
    parameters={"rounding": ROUNDING},
)
def eleven_point_average(*, rel: float = 1, rounding: str = "nearest") -> pl.Expr:
    """Eleven-point average: the mean interpolated precision at the recalls 0, 0.1, ... and 1.

    ::

        11pt_avg = (IPrec@0 + IPrec@0.1 + ... + IPrec@1) / 11

    Like AP it is an estimate of the area under the curve of precision over recall. Undefined when no document
    is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.eleven_point_average())["11pt_avg"].round(6).item()
    0.727273
    """
    # The divisor as a column: Polars divides by a constant by multiplying with its reciprocal, yet 3 * 0.1 != 3 / 10.
    points = pl.int_range(0, 11)
    recalls = points / points.clip(10, 10)
    return if_relevant(ratio(total(interpolated(recalls, rel, rounding)), recalls.len()), rel)
