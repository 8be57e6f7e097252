"""`merge_judgments`: one grade for each document, of the grades of several judges."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, get_args

import polars as pl

from polars_ir.engine.run_and_qrels import search_duplicates
from polars_ir.errors import OptionError, nearest, quoted, warn
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.roles import TEXT
from polars_ir.frames.rules import nothing_judged
from polars_ir.frames.table import qrels_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import Value, check, column, public
from polars_ir.runs.agreement import LISTED, listed

Jury = Literal["median", "majority", "mean"]

#: The grade of a document by each of these; of floats in an order, so that they are added up to the same bits.
#: A quantile would make floats of whole numbers.
_MEDIAN = pl.col("relevance").sort().get((pl.len() - 1) // 2)
_MODE = pl.col("relevance").mode()
MERGED = {
    "median": _MEDIAN,
    "majority": pl.when(_MODE.len() == 1).then(_MODE.first()).otherwise(_MEDIAN),
    "mean": pl.col("relevance").sort().mean(),
}


def _is_list_of_ids(value: object) -> bool:
    """True for a list of what may be judges."""
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(each, Hashable) for each in value)


HOW: Value[Any] = Value(
    f"one of {', '.join(map(repr, get_args(Jury)))}, or a list of judges, the most trusted first",
    lambda how: how in get_args(Jury) if isinstance(how, str) else _is_list_of_ids(how),
    choices=get_args(Jury),
)


@public()
def merge_judgments(qrels: Table[FrameT], how: Jury | Sequence[Any], *, judges: str = "judge") -> FrameT:
    """Judgments with one grade for each document, made of those of several judges.

    A jury of models is not many judges: their errors correlate, so that it can be worse than its best member.
    `agreement` with people tells.

    Parameters
    ----------
    qrels
        The judgments of all judges, in any form that `evaluate` takes. Grades below 0 count as not judged.
    how
        `"median"`: the median grade, of two the lower; `"majority"`: the grade that more judges give than any other,
        else the median; `"mean"`: the mean grade; or a list of judges, as `["people", "model"]`: the grade of the first
        of them that judged the document, so that a model fills the holes which people left. Others then do not count.
    judges
        The column of judges.

    Returns
    -------
    The kind of the judgments (a LazyFrame for a LazyFrame, nothing collected)
        The query column, `doc_id`, `relevance` (Int64 of whole and Boolean grades, else the floats' type; of `"mean"`
        Float64), `n_judges` (UInt32: the judges that count who judged it) and, where judges are listed, the `judge`
        whose grade it is; sorted by query and document.

    Warns
    -----
    IRWarning
        Of judgments in memory, for judges with other highest grades than others, as on another scale.

    Raises
    ------
    IRError
        For a document judged twice by one judge, as by subtopic, null judges, and a listed judge that is listed twice
        or, unless there is no judgment at all, not there.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> qrels = pl.DataFrame(
    ...     {"query_id": "q", "doc_id": ["a", "a", "b"], "relevance": [1, 0, 1], "judge": ["people", "model", "model"]}
    ... )
    >>> ir.merge_judgments(qrels, ["people", "model"]).rows()
    [('q', 'a', 1, 2, 'people'), ('q', 'b', 1, 1, 'model')]
    """
    how = check("how", how, HOW)
    table = qrels_table(qrels, per=check("judges", judges, column("the qrels")))
    search_duplicates(table)
    rows, grade, judge = table.guarded().all_columns(), pl.col("relevance"), pl.col(judges)
    null_judge = "the qrels have judges that are null; leave those rows out"
    rows = table.guarded_rows(rows, judge.is_null() & ~nothing_judged(), null_judge)
    if isinstance(how, str):
        rows = rows.filter(grade >= 0)
        dtype = pl.Float64() if how == "mean" else table.dtypes["relevance"]
        figures = [MERGED[how].cast(dtype).alias("relevance")]
    else:
        rows, trusted = _by_listed(rows, table, list(how))
        trust = judge.replace_strict(trusted, range(len(trusted)), return_dtype=pl.UInt32)
        figures = [grade.min_by(trust), judge.min_by(trust).alias("judge")]
    _warn_of_scales(rows, table, judges)
    counts = {"n_judges": pl.len().cast(pl.UInt32), "twice": judge.is_duplicated().any()}
    merged = rows.group_by(table.document).agg(*figures, **counts)
    twice = "the qrels give a document of a query more than once by one judge; keep the highest grade of each"
    merged = table.guarded_rows(merged, pl.col("twice"), twice)
    merged = merged.select(*table.document, "relevance", "n_judges", *(["judge"] if len(figures) > 1 else []))
    return table.give_back(merged.sort(table.document), qrels, "streaming")


def _by_listed(rows: pl.LazyFrame, table: CanonicalFrame, trusted: list[Any]) -> tuple[pl.LazyFrame, pl.Series]:
    """Grades by listed judges, and these; an error for one that is not there, in a plan when it runs."""
    (name,) = table.per
    dtype, has = table.dtypes[name], f"{name!r} is {table.dtypes[name]}"
    there = table.found(rows.select(name).unique()).to_series().sort()
    has += f", and has {quoted(there, LISTED)}" * (len(there) > 0)
    missing = [judge for judge in trusted if not _fits(judge, dtype) or (len(there) and judge not in set(there))]
    if missing:
        near = nearest(str(missing[0]), there) if isinstance(dtype, TEXT) else ""
        raise OptionError(f"lists {missing[0]!r}, who judged nothing; {has}.", about="how", near=near)
    if len(set(trusted)) < len(trusted):
        twice = next(judge for place, judge in enumerate(trusted) if judge in trusted[:place])
        raise OptionError(f"lists {twice!r} more than once; give each judge one place.", about="how")
    for judge in trusted:
        says = f"how lists {judge!r}, who judged nothing"
        rows = table.guarded_rows(rows, ~(pl.col(name) == judge).any(), says, key=None)
    judges = pl.Series(trusted, dtype=dtype)
    return rows.filter(pl.col("relevance") >= 0, pl.col(name).is_in(judges.implode())), judges


def _fits(value: object, dtype: pl.DataType) -> bool:
    """True for a value that a column of a type can have."""
    try:
        return pl.Series([value], dtype=dtype, strict=True).null_count() == 0
    except (TypeError, pl.exceptions.PolarsError):
        return False


def _warn_of_scales(rows: pl.LazyFrame, table: CanonicalFrame, judge: str) -> None:
    """Warn of judges whose highest grades differ."""
    sets = table.found(rows.group_by(judge).agg(pl.col("relevance").unique().sort()).sort(judge), "streaming")
    sets = sets.sort(pl.col("relevance").list.last(), descending=True, maintain_order=True)
    among = sets.filter(pl.col("relevance").list.last().is_first_distinct()).head(2)
    if among.height > 1:
        shown = ", ".join(f"{name!r} {listed(grades)}" for name, grades in among.iter_rows())
        warn(f"have judges with different highest grades, {shown}; check that they share a scale.", about="qrels")
