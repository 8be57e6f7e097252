"""What rows must be for a figure to mean something: no null ids, no duplicates, numbers that are numbers.

Conventions: a table in memory is checked at once, and the error shows its first wrong rows. What can only be known by
reading a LazyFrame is checked by the plan itself (`guard`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polars_ir.errors import SHOWN, Code, DataError, Fix, keeping
from polars_ir.frames.columns import fold

#: What a plan says that finds a row of a run which can not be evaluated.
BAD_RUN = "the run has ids or scores that are null, or scores that are NaN; leave those rows out"
BAD_QRELS = "the qrels have ids or grades that are null, or grades that are not finite; leave those rows out"

#: The roles whose value says which of several rows of a document is the best.
VALUES = ("score", "relevance")


def check_values(table: str, frame: pl.DataFrame, names: Mapping[str, str], *, ungraded: bool = False) -> None:
    """Raise a `DataError` for null ids, and for scores or grades that are null or NaN.

    A row of qrels that has neither document nor grade is right: it stands for a query nothing was judged for.
    """
    excused = nothing_judged() if table == "qrels" and frame["doc_id"].null_count() else pl.lit(False)
    for role, name in names.items():
        if _is_sound(frame[role]):
            continue
        bad = wrong_grade(ungraded=ungraded) if role == "relevance" else wrong_value(role)
        if role != "query_id":
            bad &= ~excused
        if count := frame.select(bad.sum()).item():
            shown = frame.with_row_index("row").filter(bad).select("row", *names).head(SHOWN).rename(dict(names))
            number = frame[role].dtype.is_float()
            problem, sound, of_spark = "is null", f"pl.col({name!r}).is_not_null()", f"`{name}` IS NOT NULL"
            of_pandas = f"{table}[{name!r}].notna()"
            if number:
                problem, sound = "is null or NaN", f"{sound} & pl.col({name!r}).is_not_nan()"
                of_spark = f"{of_spark} AND NOT isnan(`{name}`)"
            if role == "relevance" and number:
                problem, sound = "is null, NaN or infinite", f"pl.col({name!r}).is_finite()"
                of_pandas = f"{table}[{name!r}].abs() < float('inf')"
                of_spark = f"{of_spark} AND abs(`{name}`) < double('Infinity')"
            fix = Fix("Leave them out", keeping(table, sound, of_pandas, of_spark))
            raise DataError.rows(table, f"whose {name!r} {problem}", fix, count, shown)


def _is_sound(column: pl.Series) -> bool:
    """Whether no value of a column can be wrong, whatever its role."""
    return not column.null_count() and (not column.dtype.is_float() or bool(column.is_finite().all()))


def check_duplicates(
    table: str, frame: pl.DataFrame, keys: Sequence[str], names: Mapping[str, str], *, hint: str = ""
) -> None:
    """Raise a `DataError` for rows that have the same keys; `names` are the user's for our columns.

    That nothing was judged for a query may be said more than once.
    """
    if not may_repeat(frame.lazy(), keys) or (ids := frame.select(keys)).n_unique() == ids.height:
        return
    repeated = frame.with_row_index("row").filter(ids.is_duplicated())
    if table == "qrels" and (repeated := repeated.filter(~nothing_judged())).is_empty():
        return
    named = {key: names.get(key, key) for key in keys}
    values = [column for column in VALUES if column in frame.columns]
    raise DataError.rows(
        table,
        f"that repeat the ids of another ({', '.join(named.values())})",
        _one_of_each(table, list(named.values()), names, hint),
        repeated.height,
        repeated.sort(keys).select("row", *keys, *values).head(SHOWN).rename(named),
    )


def may_repeat(rows: pl.LazyFrame, keys: Sequence[str]) -> bool:
    """Whether two rows may have the same keys: their hashes tell in a third of the time that keys take."""
    keys_of_rows = pl.sum_horizontal(pl.col(key).hash(seed=place) for place, key in enumerate(keys))
    hashes = rows.select(keys_of_rows).collect(engine="in-memory").to_series()
    return hashes.n_unique() < len(hashes)


def _one_of_each(table: str, keys: list[str], names: Mapping[str, str], hint: str) -> Fix:
    """What to keep of rows with the same keys: of a run the best score of a document, of qrels the highest grade.

    Rows of passages are the common case: the score of a document is then that of its best passage (MaxP).
    """
    hint = f".{hint.removesuffix('.')}" if hint else ""
    best = {name: "min" if fold(name) == "rank" else "max" for role, name in names.items() if role in VALUES}
    if not best or table not in ("run", "qrels"):
        several = "If they are of several systems, name these in a column 'run'; else keep one of each"
        words = "Keep one of each" if table != "per_query" or "run" in names else several
        return Fix(words, Code(f"{table}.unique({keys!r}, keep='first')", f"{table}.drop_duplicates({keys!r})"), hint)
    listed = ", ".join(map(repr, keys))
    aggregated = ", ".join(f"F.{how}({name!r}).alias({name!r})" for name, how in best.items())
    code = Code(
        f"{table}.group_by({listed}).agg({', '.join(f'pl.col({name!r}).{how}()' for name, how in best.items())})",
        f"{table}.groupby({keys!r}, as_index=False).agg({best!r})",
        f"{table}.groupBy({listed}).agg({aggregated})",
    )
    if table == "qrels":
        return Fix("Keep the highest grade of each document", code, hint)
    words = "Keep the best score of each document, which is MaxP where rows are passages"
    return Fix(words, code, f", as run.ir.deduplicate() does{hint}", without_code=words)


def guard(frame: pl.LazyFrame, wrong: pl.Expr, message: str) -> pl.LazyFrame:
    """The frame as it is, whose plan fails with a message if `wrong` is true of a row, whichever column is read.

    A LazyFrame is collected by its user, so nothing of ours runs when its data turn out to be bad. A cast that can not
    succeed fails inside the engine, without a Python callback, and its error quotes the name of the column.

    Every column hangs on it: one that did not could be read alone, and a filter on it, such as Polars makes of what a
    join needs, would be moved to the scan and leave wrong rows out unseen.
    """
    text = f"polars_ir: {message}"
    poisoned = pl.when(wrong).then(pl.lit(-1, pl.Int8)).otherwise(pl.lit(0, pl.Int8))
    is_sound = pl.col(text).cast(pl.UInt8) == 0
    guarded = pl.when(is_sound).then(pl.exclude(text))
    return frame.with_columns(poisoned.alias(text)).with_columns(guarded).drop(text)


def wrong_run_row(keys: Sequence[str] = ()) -> pl.Expr:
    """Whether a row of a run can not be evaluated; `keys` are those of its rankings beside the query."""
    return pl.any_horizontal(map(wrong_value, dict.fromkeys(("query_id", "doc_id", "score", *keys))))


def wrong_qrels_row() -> pl.Expr:
    """Whether a row of qrels can not be evaluated."""
    return wrong_value("query_id") | (~nothing_judged() & (wrong_value("doc_id") | wrong_grade()))


def wrong_value(role: str) -> pl.Expr:
    """Whether the value of a role can not be evaluated: a null id, a score that is null or NaN."""
    value = pl.col(role)
    # A Decimal is never NaN, and can not be asked.
    return value.is_null() | (value.cast(pl.Float64).is_nan().fill_null(False) if role == "score" else False)


def wrong_grade(*, ungraded: bool = False) -> pl.Expr:
    """Whether a grade can not be evaluated: it is not finite or, unless documents may be `ungraded`, null."""
    grade = pl.col("relevance")
    return ~grade.is_finite() & grade.is_not_null() if ungraded else grade.is_null() | ~grade.is_finite()


def nothing_judged() -> pl.Expr:
    """Whether a row of qrels stands for a query without any judged document."""
    return pl.col("doc_id").is_null() & pl.col("relevance").is_null()
