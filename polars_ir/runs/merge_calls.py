"""`merge_calls`: the rankings of several calls of a query as the one that a reader of all of them has seen."""

from __future__ import annotations

import polars as pl

from polars_ir.errors import Code, ColumnError, DtypeError, Fix, fold, nearest, quoted
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.roles import ROLE_OF
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, column, count, or_none, public, truth
from polars_ir.runs.rankings import checked_run, ranked, returned

#: The step in which a document was found first.
FOUND = "polars_ir: found"


@public()
def merge_calls(run: Table[FrameT], step: str = "step", *, k: int | None = None, cumulative: bool = False) -> FrameT:
    """The calls of each query, as an agent makes them, merged into one ranking in the order of reading.

    A document stands at its first place: by call, and then by its rank in the call. Scores of several calls do not
    compare, and a cutoff on the calls one after the other would hide the later ones; so `k` is of each call.

    Parameters
    ----------
    run
        A run of one or several systems, in any form that `evaluate` takes; a document may be in several calls.
    step
        The column of calls: integers, or times, in the order of the calls; they may begin anywhere and have gaps.
    k
        The number of first documents of each call that are read; None: all.
    cumulative
        True: a ranking for each step, of all that was found up to there, to be evaluated with `by="step"`. Every query
        has the steps of all; one that made fewer calls stays as it ended. Times are those of a run with one clock for
        all queries; where each has its own, number the calls first.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The column of systems (if there are several), the query column, `doc_id`, `score` (Int64, the length of the
        ranking falling to 1), the column of calls and the other columns of the run, of the row that stands first. With
        `by="step"` it is evaluated as what each call added.

    Raises
    ------
    IRError
        For steps that are text or null, a document that a call has twice, a `k` below 1, and a run that `evaluate`
        would not take.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> calls = pl.DataFrame({"query_id": 7, "step": [1] * 3 + [2] * 3, "doc_id": [*"AxByAC"], "rank": [1, 2, 3] * 2})
    >>> ir.merge_calls(calls).select("doc_id", "score", "step").rows()
    [('A', 5, 1), ('x', 4, 1), ('B', 3, 1), ('y', 2, 2), ('C', 1, 2)]
    >>> found = ir.merge_calls(calls, cumulative=True)
    >>> found.ir.evaluate({7: ["A", "B", "C"]}, "R", by="step")["R"].round(3).to_list()
    [0.667, 1.0]
    """
    check("step", step, column("the run"))
    check("k", k, or_none(count()))
    check("cumulative", cumulative, truth())
    table = _of_calls(run, step)
    keys = table.keys[1:]
    others = [name for name in table.columns if name not in (*table.keys, "doc_id", "score")]
    rows = ranked(table, *others, whole=True)
    read = rows if k is None else rows.filter(pl.col("rank") <= k)
    once = read.sort(*keys, step, "rank").unique([*keys, "doc_id"], keep="first", maintain_order=True)
    rankings = keys
    if cumulative:
        steps, rankings = rows.select(step).unique(), [*keys, step]
        once = once.rename({step: FOUND}).join(steps, how="cross").filter(pl.col(FOUND) <= pl.col(step))
        once = once.sort(*rankings, FOUND, "rank")
    below = pl.int_range(pl.len(), 0, -1, dtype=pl.Int64).over(rankings)
    merged = once.select(*keys, "doc_id", below.alias("score"), step, *others)
    return returned(merged, table, run)


def _of_calls(run: Table[FrameT], step: str) -> CanonicalFrame:
    """A run whose rankings are those of calls, each of which has a document once."""
    schema = to_polars("run", run, column="score").collect_schema()
    dtype = schema.get(step)
    if dtype is None:
        says = f"has no column {step!r} with the number or the time of each call; it has {quoted(schema)}."
        raise ColumnError(says, about="run", near=nearest(step, schema), fix="Name the column of calls (step)")
    if not (dtype.is_integer() or dtype.is_temporal()):
        raise DtypeError.of_column("run", step, "integers or times", dtype, _numbering(run, step, dtype))
    return checked_run(run, (step,))


def _numbering(run: Table[FrameT], step: str, dtype: pl.DataType) -> Fix:
    """The advice for calls that are neither integers nor times, with code where it keeps their order."""
    fix = Fix("Number the calls of a query in their order")
    frame = to_polars("run", run, column="score")
    if not isinstance(frame, pl.DataFrame) or not (dtype.is_numeric() or dtype == pl.String) or fold(step) in ROLE_OF:
        return fix
    steps = frame[step].drop_nulls()
    numbers = steps.cast(pl.Int64, strict=False)
    if not numbers.null_count() and (dtype == pl.String or (numbers == steps).all()):
        return fix._replace(code=Code.casting("run", step, pl.Int64))
    if dtype == pl.String or not steps.cast(pl.Float64).is_finite().all():
        return fix
    code = Code.making("run", step, "rank('dense').cast(pl.Int64)", "rank(method='dense').astype('Int64')")
    return fix._replace(code=code)
