"""The top of a ranking as a string of grades, to look at: an aggregation like a measure, but no number."""

from __future__ import annotations

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.language.measure import PARAMETERS
from polars_ir.language.options import public
from polars_ir.language.words import rank, ranked, relevance, shown, top


@public()
def relevance_string(*, k: int = 10) -> pl.Expr:
    """The grades of the first k documents as a string, a character for each.

    A digit is a grade from 0 to 9 (its whole part), `>` one above 9, `.` a negative one, and `-` a document without a
    judgment: trec_eval's relstring. Empty when nothing is retrieved.

    Parameters
    ----------
    k : default 10
        Cutoff: only the first k documents of the ranking are shown.

    Returns
    -------
    pl.Expr
        An aggregation of the judged relation (`judge`) to a String, named `relstring@k`.

    Raises
    ------
    IRError
        For a cutoff that is no whole number of documents.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": {"d1": 2, "d3": 0}}, ir.relevance_string()).row(0)
    ('q', '2-0')
    """
    if not PARAMETERS["k"].value.holds(k):
        raise MeasureError.parameter("relstring", "k", PARAMETERS["k"].value.wanted, k)
    judged = top(k) & relevance.is_not_null()
    ranks, grades = ranked(rank, judged).cast(pl.Int64), ranked(relevance, judged)
    whole_grades = grades.cast(pl.Int64)
    sign = (
        pl.when(grades < 0)
        .then(pl.lit("."))
        .when(whole_grades > 9)
        .then(pl.lit(">"))
        .otherwise(whole_grades.cast(pl.String))
    )
    # Documents between two judged ones, and after the last of them, are unjudged.
    signs = sign.str.pad_start(ranks - ranks.shift(1, fill_value=0), "-").str.join("")
    return signs.str.pad_end(shown(k), "-").alias(f"relstring@{k}")
