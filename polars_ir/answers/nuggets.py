"""`nugget_recall`: the share of the nuggets of a query that an answer contains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from polars_ir.answers.missing import with_missing
from polars_ir.answers.records import underscored
from polars_ir.errors import SHOWN, DataError
from polars_ir.frames.rules import Rule
from polars_ir.frames.table import answers_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, one_of, public, truth
from polars_ir.language.words import ratio, total

#: The value of a nugget, by what the answer does to it.
ASSIGNMENTS = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}

#: The weights of nuggets that count, by the importance that is asked for.
WEIGHTS = {"vital": {"vital": 1.0}, "all": {"vital": 1.0, "okay": 1.0}, "weighted": {"vital": 1.0, "okay": 0.5}}


@public()
def nugget_recall(
    frame: Table[FrameT],
    *,
    importance: Literal["vital", "all", "weighted"] = "vital",
    strict: bool = False,
    missing: Any = None,
) -> FrameT:
    r"""Share of the nuggets of a query that an answer contains, as TREC RAG scores answers.

    $$\frac{\sum_n w_n v_n}{\sum_n w_n}$$

    with the value $v_n$ of a nugget 1 (`support`), 1/2 (`partial_support`; 0 if `strict`) or 0 (`not_support`).

    Parameters
    ----------
    frame
        A row per nugget of each answer, as `read_nuggets` makes it: `query_id`, `run` where there are several systems,
        `nugget` (its number, or another id), `importance` (`vital` or `okay`), `assignment`.
    importance
        `"vital"` leaves the other nuggets out, `"all"` counts each once, `"weighted"` those that are okay by half.
    strict
        True: a nugget that is partly supported counts 0.
    missing
        The queries to be answered: ids in a list, or any table with a query column. A system without an answer to one
        has 0 there; by default only the answers that are in the frame count.

    Returns
    -------
    The kind of frame (a LazyFrame for a LazyFrame, pandas for pandas)
        A per-query frame, which `compare` and `gate` take: the columns of system and query, and the measure (Float64,
        0 to 1) under nuggetizer's name for it: `vital_score`, `strict_vital_score`, `all_score`, `strict_all_score`;
        `weighted_score`. It is null, and nuggetizer's is 0, for a query without a nugget that counts;
        an answer of `missing`, whose nuggets are unknown, has null where all others to the query have it.

    Raises
    ------
    IRError
        For a nugget without importance or assignment, or with other words, one that an answer has twice, and one that
        is not in all answers to its query, or differs in `importance`, or in `text` where there is one.

    References
    ----------
    Pradeep et al. 2025, https://arxiv.org/abs/2504.15068 (AutoNuggetizer)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> words = {"importance": ["vital", "vital", "okay"], "assignment": ["support", "partial_support", "not_support"]}
    >>> frame = pl.DataFrame({"query_id": ["q"] * 3, "nugget": [1, 2, 3], **words})
    >>> ir.nugget_recall(frame).rows(), ir.nugget_recall(frame, importance="all").rows()
    ([('q', 0.75)], [('q', 0.5)])
    """
    check("importance", importance, one_of(*WEIGHTS))
    check("strict", strict, truth())
    table = answers_table(frame, "nugget", "importance", "assignment")
    table.check_once(*table.keys, "nugget")
    rows = table.checked(
        Rule(pl.col("nugget").is_null(), "whose 'nugget' is null", "Number the nuggets of a query"),
        _other_words("importance", list(WEIGHTS["all"]), "Give each nugget one"),
        _other_words("assignment", list(ASSIGNMENTS), "Judge those nuggets, or say 'not_support'"),
    )
    rows = rows.with_columns(underscored(pl.col(name)).alias(name) for name in ("importance", "assignment"))
    twice = "the frame has a nugget of an answer more than once; keep one row of each"
    rows = table.guarded_rows(rows, pl.struct(*table.keys, "nugget").is_duplicated(), twice)
    if "run" in table.keys:
        others = [name for name in ("importance", "text") if name in rows.collect_schema()]
        check_lists(table.found(rows), "frame", others, answer="run")
        differ = "the frame has nuggets that differ between answers to their query; judge all by one list"
        rows = table.guarded_rows(rows, not_alike(others, "run"), differ)
    values = {**ASSIGNMENTS, "partial_support": 0.0 if strict else ASSIGNMENTS["partial_support"]}
    weight, value = _number("importance", WEIGHTS[importance]), _number("assignment", values)
    name = f"{'strict_' * strict}{importance}_score"
    figures = rows.group_by(table.keys).agg(ratio(total(weight * value), total(weight)).alias(name))
    return table.give_back(with_missing(figures, table, missing, by_query=True).sort(table.keys), frame)


def not_alike(others: Sequence[str], answer: str | None) -> pl.Expr:
    """True for a nugget that differs between answers to its query; with `answer`, for one that some lack, too."""
    nugget = ("query_id", "nugget")
    differs = [pl.col(name).n_unique().over(nugget) > 1 for name in others]
    if answer is not None:
        answers = pl.col(answer)
        differs.append(answers.n_unique().over(nugget) < answers.n_unique().over("query_id"))
    return pl.any_horizontal(differs)


def check_lists(rows: pl.DataFrame, about: str, others: Sequence[str], answer: str | None) -> None:
    """Raise a `DataError` for answers to a query that are judged by different lists of nuggets."""
    wrong = rows.filter(not_alike(others, answer))
    if wrong.is_empty():
        return
    values = [pl.col(name).cast(pl.String).unique().sort().drop_nulls().str.join(" | ") for name in others]
    having = [] if answer is None else [pl.col(answer).cast(pl.String).unique().sort().str.join(", ").alias("answers")]
    shown = wrong.group_by("query_id", "nugget").agg(*values, *having).sort("query_id", "nugget")
    problem = "of nuggets that differ between answers to their query"
    fix = "Judge all answers to a query by one list of nuggets, in one order"
    raise DataError.rows(about, problem, fix, wrong.height, shown.head(SHOWN))


def _other_words(column: str, words: list[str], fix: str) -> Rule:
    is_one = underscored(pl.col(column)).is_in(words).fill_null(value=False)
    return Rule(~is_one, f"whose {column!r} is none of {', '.join(words)}", fix)


def _number(column: str, numbers: dict[str, float]) -> pl.Expr:
    """The numbers of words; 0 for others."""
    return pl.col(column).replace_strict(numbers, default=0.0, return_dtype=pl.Float64)
