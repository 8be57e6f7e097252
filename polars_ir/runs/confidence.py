"""`confidence`: signals of a run's confidence in each query, from its scores alone."""

from __future__ import annotations

import polars as pl

from polars_ir.engine.run_and_qrels import searched
from polars_ir.errors import ColumnError
from polars_ir.frames.roles import find
from polars_ir.frames.rules import BAD_RUN, guard, infinite_score, wrong_run_row
from polars_ir.frames.table import run_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import public
from polars_ir.language.words import total

score = pl.col("score").cast(pl.Float64)


@public()
def confidence(run: Table[FrameT]) -> FrameT:
    """The confidence of a run in its ranking of each query: three simple signals of its scores, as in MTEB.

    Parameters
    ----------
    run
        A run in any form that `evaluate` takes, with scores: ranks alone are refused.

    Returns
    -------
    The kind of the run
        The column of systems (if the run has several), the query column under its own name, and Float64 columns `max`,
        the highest score; `std`, the standard deviation of the scores (of all there are, not of a sample); `diff1`, the
        highest score less the second, 0 for a single document.

    Raises
    ------
    IRError
        For a run that `evaluate` would not take either, one that has ranks alone, and infinite scores.

    References
    ----------
    Gisserot-Boukhlef et al. 2024, https://arxiv.org/abs/2402.12997

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.confidence({"q": {"d1": 0.5, "d2": 1.0, "d3": 0.0}}).select("max", "diff1").row(0)
    (1.0, 0.5)
    """
    table = run_table(run)
    if find("run", "score", [table.names["score"]]) is None:
        says = "has ranks but no scores, and ranks carry no confidence. Give it a 'score' column."
        raise ColumnError(says, about="run")
    name = table.names["score"]
    rows = table.checked(infinite_score(name), rows=table.select(*table.keys, "doc_id", "score"))
    table.check_once(*table.keys, "doc_id")
    falling = score.sort(descending=True)
    mean = total(falling) / pl.len()
    of_query = rows.group_by(table.keys).agg(
        max=falling.first(),
        # The mean of equal scores can differ from them in its last bit.
        std=pl.when(score.min() < score.max()).then((total((falling - mean) ** 2) / pl.len()).sqrt()).otherwise(0.0),
        diff1=(falling.first() - falling.slice(1, 1).first()).fill_null(0.0),
        wrong=wrong_run_row().any(),
    )
    signals = searched(guard(of_query, pl.col("wrong"), BAD_RUN), table).sort(table.keys)
    return table.give_back(signals.select(*table.keys, "max", "std", "diff1"), run)
