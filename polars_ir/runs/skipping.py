"""Runs without the documents that stand first, such as the query's own."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_ir.errors import explain_options
from polars_ir.frames.kinds import SameKind
from polars_ir.runs.rankings import checked_run, of_ranks
from polars_ir.values import check, whole


@explain_options
def skip_first(run: Any, *, n: int = 1) -> SameKind:
    """Every ranked list without its first `n` documents, as in retrieval where the query is in the collection itself.

    MTEB's `skip_first_result` takes whatever is first. Where a query has the id of its document, leaving that out is
    more exact: `run.filter(pl.col("query_id") != pl.col("doc_id"))`, BEIR's `ignore_identical_ids`.

    Parameters
    ----------
    run
        A run of one or several systems, in any form that `evaluate` takes.
    n
        How many documents to leave out a query and system.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The columns of the run as `top_k` returns them. A list of no more than `n` documents has no row, so that its
        query is one that the run did not answer.

    Raises
    ------
    IRError
        For an `n` below 1, and a run that `evaluate` would not take.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.skip_first({"d1": {"d1": 9.0, "d2": 3.0, "d3": 2.0}}).rows()
    [('d1', 'd2', 3.0), ('d1', 'd3', 2.0)]
    """
    table = checked_run(run)
    return of_ranks(table, pl.col("rank") > check("n", n, whole(1)), run)
