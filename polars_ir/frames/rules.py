"""The rules that rows must keep for a figure to mean something: no null ids, no duplicates, numbers that are numbers.

Conventions: a table in memory is checked at once, and the error shows its first wrong rows. What can only be known by
reading a LazyFrame is checked by the plan itself (`guard`). `checked` does either, by one `Rule`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar, cast

import polars as pl

from polars_ir.errors import SHOWN, Code, DataError, Fix, Setting, caller, fold, option
from polars_ir.frames.guesses import UNITS, words
from polars_ir.frames.roles import NO_NEIGHBOUR, PARTS, PROVENANCE, QUERY_HASH, ROLES, could_be, is_rank, no_ids

#: Messages of plans that find an invalid row.
BAD_RUN = "the run has ids or scores that are null, or scores that are NaN; leave those rows out"
BAD_QRELS = "the qrels have ids or grades that are null, or grades that are not finite; leave those rows out"

#: Text before the key of invalid rows in a message of a plan.
EXAMPLES = "; for example"

#: Roles whose value decides which of several rows of a document is the best.
VALUES = ("score", "relevance")

#: Column of the numbers of rows.
ROW = "polars_ir: row"

#: What a message calls it, the second where another column has the first name.
NUMBERS = ("row", "number of the row")

#: Rows in memory, or a plan.
RowsT = TypeVar("RowsT", bound="pl.DataFrame | pl.LazyFrame")

#: The type that no value has.
NOTHING = pl.Enum([])


class Rule(NamedTuple):
    """Rows that cannot be evaluated: the condition, the problem (`whose 'weight' is null`), and the advice.

    The message shows the columns that `wrong` reads.
    """

    wrong: pl.Expr
    problem: str
    fix: Fix | str


def infinite_score(name: str) -> Rule:
    """The rule that scores, of the column `name`, are finite, as differences between them need."""
    return Rule(pl.col("score").cast(pl.Float64).is_infinite(), f"whose {name!r} is infinite", "Leave them out")


def checked(rows: RowsT, *rules: Rule, about: str, keys: Sequence[str], names: Mapping[str, str]) -> RowsT:
    """The rows, of which none may be invalid: in memory a `DataError` shows those that are, a plan fails for one.

    `about` is the table at fault, `keys` distinguish its rows, and `names` are the user's for our columns.
    """
    if isinstance(rows, pl.LazyFrame):
        messages = [(rule.wrong, f"{about} has rows {rule.problem}; {_words(rule.fix)}") for rule in rules]
        guarded = guard(rows, *messages[0], *messages[1:], key=keys[-1] if keys else None) if messages else rows
        return cast("RowsT", guarded)
    # All at once, since an invalid row is rare.
    wrongs = []
    for number, rule in enumerate(rules):
        wrongs.append(rule.wrong.any().alias(str(number)))
    broken = rows.select(wrongs)
    for rule, is_broken in zip(rules, broken, strict=True):
        if is_broken.any():
            wrong = rows.filter(rule.wrong)
            columns = dict.fromkeys([*keys, *rule.wrong.meta.root_names()])
            shown = wrong.sort(keys, maintain_order=True).select(*columns).head(SHOWN)
            named = {column: names[column] for column in columns if column in names}
            raise DataError.rows(about, rule.problem, rule.fix, wrong.height, shown.rename(named))
    return rows


def _words(fix: Fix | str) -> str:
    """An advice without its code, as the end of a sentence."""
    words = fix if isinstance(fix, str) else fix.words
    if isinstance(fix, Fix) and fix.without_code and caller().kind == "shell":
        words = fix.without_code
    return words[0].lower() + words[1:].removesuffix(".")


def guard(
    frame: pl.LazyFrame, wrong: pl.Expr, message: str, *others: tuple[pl.Expr, str], key: str | None = None
) -> pl.LazyFrame:
    """The frame unchanged; its plan fails with a message if `wrong` is true for a row, whichever column is read.

    A LazyFrame is collected by its user, so nothing of ours runs when its data turn out to be bad. A cast that cannot
    succeed fails inside the engine, without a Python callback, and the first line of its error quotes the name of the
    column and some values, which are the `key` of wrong rows. The casts are a step of their own, since Polars prints
    their expression after that line, and would print whatever it is a part of as well.

    Every column depends on it: one that did not could be read alone, and a filter on it, such as Polars makes of what a
    join needs, would be moved to the scan and leave wrong rows out unseen.
    """
    of_key, shown = ("", pl.lit("a row")) if key is None else (f"{EXAMPLES} {key}", pl.col(key).cast(pl.String))
    wrongs = {f"polars_ir: {says}{of_key}": is_wrong for is_wrong, says in ((wrong, message), *others)}
    poisoned = (pl.when(is_wrong).then(shown.fill_null("null")).alias(text) for text, is_wrong in wrongs.items())
    is_sound = functools.reduce(operator.and_, (pl.col(text).is_null() for text in wrongs))
    guarded = pl.when(is_sound).then(pl.exclude(*wrongs))
    cast = frame.with_columns(poisoned).with_columns(pl.col(*wrongs).cast(NOTHING))
    return cast.with_columns(guarded).drop(wrongs)


def naming(message: str, by: Sequence[str]) -> str:
    """The message of a plan on wrong ids, which names keys of rankings beside these."""
    return message.replace(" ids ", f" ids, {', '.join(map(repr, by))} ", 1) if by else message


def check_values(table: str, frame: pl.DataFrame, names: Mapping[str, str], *, ungraded: bool = False) -> None:
    """Raise a `DataError` for null ids, and for scores or grades that are null or NaN.

    A row of qrels with neither document nor grade is valid: it stands for a query without any judged document.
    """
    excused = nothing_judged() if table == "qrels" and frame["doc_id"].null_count() else pl.lit(False)
    for role, name in names.items():
        bad = wrong_grade(ungraded=ungraded) if role == "relevance" else wrong_value(role)
        if role != "query_id":
            bad &= ~excused
        if count := frame.select(bad.sum()).item():
            shown = _shown(_numbered_rows(frame).filter(bad), [*names], names)
            number = frame[role].dtype.is_float()
            problem, sound, of_pandas = "is null", f"pl.col({name!r}).is_not_null()", f"{table}[{name!r}].notna()"
            if number:
                problem, sound = "is null or NaN", f"{sound} & pl.col({name!r}).is_not_nan()"
            if role == "relevance" and number:
                problem, sound = "is null, NaN or infinite", f"pl.col({name!r}).is_finite()"
                of_pandas = f"{table}[{name!r}].abs() < float('inf')"
            fix = Fix("Leave them out", Code.keeping(table, sound, of_pandas))
            if role == "score" and 0 < frame.height == frame[role].null_count():
                fix = unscored(table, name, names.get("query_id"))
            raise DataError.rows(table, f"whose {name!r} {problem}", fix, count, shown)


def unscored(table: str, name: str, query: str | None) -> Fix:
    """The advice for a run of which no row has a score."""
    words = "No row has one, as of a sorted search without track_scores. If each query's rows are in order, number them"
    return Fix(words, numbered(table, name, query) if query else None)


def numbered(table: str, name: str, query: str) -> Code:
    """The code that ranks the rows of each query by their order, in place of a score."""
    drop = Code.dropping(table, [name])
    return Code(
        f"{drop.polars}.with_columns(rank=pl.int_range(1, pl.len() + 1).over({query!r}))",
        f"{drop.pandas}.assign(rank={table}.groupby({query!r}).cumcount() + 1)",
    )


def _numbered_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows with their numbers; a part of a table has those of the table already."""
    return frame if ROW in frame.columns else frame.with_row_index(ROW)


def _shown(
    rows: pl.DataFrame, keys: Sequence[str], names: Mapping[str, str], values: Sequence[str] = ()
) -> pl.DataFrame:
    """The first rows, for a message, with their numbers as `row`, unless they have a column of this name."""
    shown = rows.select(ROW, *keys, *values).head(SHOWN).rename({key: names[key] for key in keys if key in names})
    return shown.rename({ROW: NUMBERS[1] if NUMBERS[0] in shown.columns else NUMBERS[0]})


def without_numbers(shown: pl.DataFrame) -> pl.DataFrame:
    """Rows of a message without their numbers, for a part of a table that is not numbered as the table is."""
    first = shown.columns[0]
    return shown.drop(first) if first in NUMBERS else shown


def check_duplicates(
    table: str, frame: pl.DataFrame, keys: Sequence[str], names: Mapping[str, str], *, hint: str = ""
) -> None:
    """Raise a `DataError` for rows that have the same keys; `names` are the user's for our columns.

    Rows that stand for a query without any judged document may repeat.
    """
    if frame.height < 2:
        return
    repeated = _numbered_rows(frame).filter(frame.select(keys).is_duplicated())
    if table == "qrels":
        repeated = repeated.filter(~nothing_judged())
    if repeated.is_empty():
        return
    if table == "run" and "doc_id" in keys and (ids := no_ids(repeated["doc_id"])):
        wrong = repeated.filter(pl.col("doc_id") == ids[0])
        problem = f"of the id {ids[0]!r}, which stands for no document"
        left_out = rows_without_id(names.get("doc_id", "doc_id"), ids[0])
        raise DataError.rows(table, problem, left_out, wrong.height, _shown(wrong, keys, names))
    spare = keys_perhaps(repeated.drop(ROW).schema, [*names, *keys]) if table in ("run", "per_query", "qrels") else []
    if table == "qrels":
        # Any other column is one of judges, or of subtopics.
        spare = [name for name in spare if fold(name) in PARTS or frame.schema[name].is_temporal()]
    spare = [name for name in spare if not _is_of_documents(frame, name, keys)]
    apart = distinguishing(repeated, keys, spare)
    if not apart and (several := _distinguishing_but_for_copies(repeated, keys, spare)):
        # Keeping one row of each id would leave out all nights but one.
        check_duplicates(table, frame, [*several, *keys], names, hint=hint)
    values = [column for column in (*apart, *VALUES) if column in frame.columns]
    _, problem, fix = once(table, keys, names, hint=hint)
    if apart:
        given = [key for key in keys if key not in names and not frame.schema[key].is_float()]
        fix = _keyed(table, apart, names, _words(fix), given)
    raise DataError.rows(table, problem, fix, repeated.height, _shown(repeated.sort(keys), keys, names, values))


def without_id(value: object, code: Code, what: str = "these rows") -> Fix:
    """The advice for an id that stands for no document."""
    stands = "where an index finds no neighbour" if str(value) == str(NO_NEIGHBOUR) else "where there is no id"
    return Fix(f"If it stands {stands}, leave {what} out", code)


def rows_without_id(column: str, value: object) -> Fix:
    """The advice for rows of a run with such an id."""
    return without_id(value, Code.keeping("run", f"pl.col({column!r}) != {value!r}", f"run[{column!r}] != {value!r}"))


def _is_of_documents(frame: pl.DataFrame, name: str, keys: Sequence[str]) -> bool:
    """True of integers that are a number of each document: most rankings by them would have a single one."""
    if not frame.schema[name].is_integer() or fold(name) in PARTS or "doc_id" not in keys:
        return False
    others = [key for key in keys if key != "doc_id"]
    without, rankings = (frame.select(*columns).n_unique() for columns in (others, [*others, name]))
    # Lists of a single document say nothing.
    return 2 * rankings > frame.height > 2 * without


def distinguishing(rows: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The smallest set of columns that makes the keys unique: one, or those that do together."""

    def tell(names: Sequence[str]) -> bool:
        # A key that few rows lack is one, and they are another error.
        there = rows.select(*keys, *names).drop_nulls(names)
        return bool(names) and 2 * there.height > rows.height and not there.is_duplicated().any()

    for name in columns:
        if tell([name]):
            return [name]
    needed = list(columns) if tell(columns) else []
    for name in columns:
        others = list(filter(name.__ne__, needed))
        needed = others if tell(others) else needed
    return needed


def _distinguishing_but_for_copies(rows: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The columns that distinguish rows with the same keys, except for some that are identical in these, too."""
    distinct = rows.unique([*keys, *columns])
    if not distinct.select(keys).is_duplicated().any():
        return []
    apart = distinguishing(distinct, keys, columns)
    return apart if rows.select(*apart, *keys).is_duplicated().any() else []


PASSAGES = "(if passages, {deduplicate} keeps the best of each document)"
ONE_OF_QRELS = "If {columns} judgments, such as those of days, keep one"
SYSTEMS = "If {listed} names the systems, rename it"

#: The advice for rows that columns distinguish, by table: to name these, where no code is shown, and without `by`.
#: Other tables are runs, of which one column may be that of systems where none is yet.
KEY_ADVICE = {
    "per_query": (
        "They are of several {listed}: keep one, or name what distinguishes them",
        "",
        "They are of several {listed}: keep one, such as the last",
    ),
    "qrels": (f"{ONE_OF_QRELS} or, where the run has it too, name that", ONE_OF_QRELS, ONE_OF_QRELS),
}
OF_RUN = (
    f"If {{columns}} rankings, such as days, name that {PASSAGES}",
    "If {columns} rankings, evaluate each part; else {otherwise}",
    f"If {{columns}} rankings, such as days, keep one {PASSAGES}",
)
OF_SYSTEMS = (
    f"{SYSTEMS}; if it distinguishes rankings, such as days, give {{by}} {PASSAGES}",
    "If {columns} rankings, such as days, give {by}; if the systems, call it 'run'; else {otherwise}",
    f"{SYSTEMS} to 'run'; if it distinguishes rankings, such as days, keep one {PASSAGES}",
)


def _keyed(table: str, apart: Sequence[str], names: Mapping[str, str], otherwise: str, given: Sequence[str]) -> Fix:
    """The advice for rows of one id that some columns distinguish: to name them, beside those that the call names."""
    key = apart[0] if len(apart) == 1 and not given else [*given, *apart]
    # Of whatever type they are, one of the values is the last.
    last = ").filter(".join(f"pl.col({name!r}) == pl.col({name!r}).max()" for name in apart)
    of_pandas = "][lambda rows: ".join(f"rows[{name!r}] == rows[{name!r}].max()" for name in apart)
    kept = Code.keeping(table, last, f"lambda rows: {of_pandas}")
    may_be_systems = table not in KEY_ADVICE and "run" not in names and len(apart) == 1
    code = Code.renaming(table, {apart[0]: "run"}) if may_be_systems else Setting("by", key)
    advice = KEY_ADVICE.get(table, OF_SYSTEMS if may_be_systems else OF_RUN)
    listed = ", ".join(map(repr, apart))
    columns = f"{listed} {'distinguishes' if len(apart) == 1 else 'distinguish'}"
    deduplicate = option("duplicates", "first") if caller().kind == "shell" else "run.ir.deduplicate()"
    known = {"listed": listed, "columns": columns, "otherwise": otherwise, "deduplicate": deduplicate}
    name, without_code, keep = (text.format(**known, by=option("by", key)) for text in advice)
    return Fix(name, code, without_code=without_code or None, without_by=Fix(keep, kept))


def keys_perhaps(dtypes: Mapping[str, pl.DataType], known: Sequence[str]) -> list[str]:
    """Columns of unknown meaning that may distinguish rankings: texts first, then days, then numbers."""
    spare = {name: dtype for name, dtype in dtypes.items() if name not in (*known, PROVENANCE, QUERY_HASH)}
    ids = [name for name, dtype in spare.items() if could_be("run", dtype)]
    days = [name for name, dtype in spare.items() if dtype.is_temporal()]
    texts = [name for name in ids if not dtypes[name].is_integer()]
    return [*texts, *days, *(name for name in ids if dtypes[name].is_integer())]


def duplicates_of_a_plan(dtypes: Mapping[str, pl.DataType], known: Sequence[str]) -> str:
    """Message of a plan that meets a document of a run twice; columns that are `known` have a meaning."""
    integers = {name for name, dtype in dtypes.items() if dtype.is_integer()}
    spare = [name for name in keys_perhaps(dtypes, known) if name not in integers or not words(name) & UNITS][:SHOWN]
    is_named = "run" not in known
    systems = [name for name in spare if is_named and name not in integers and could_be("run", dtypes[name])]
    rename = f"if {' or '.join(map(repr, systems))} names the systems, rename it to 'run'; " if systems else ""
    tell = "distinguishes" if len(spare) == 1 else "distinguish"
    by = option("by", spare)
    rankings = f"if {' and '.join(map(repr, spare))} {tell} rankings, give {by}; else " if spare else ""
    best = "keep the best score of each, and no id of '' or -1"
    return f"the run gives a document of a query more than once; {rename}{rankings}{best}"


def once(table: str, keys: Sequence[str], names: Mapping[str, str], *, hint: str = "") -> Rule:
    """The rule that no two rows have the same keys."""
    named = [names.get(key, key) for key in keys]
    fix = _one_of_each(table, named, names, hint)
    return Rule(pl.len().over(keys) > 1, f"that repeat the ids of another ({', '.join(named)})", fix)


def _one_of_each(table: str, keys: list[str], names: Mapping[str, str], hint: str) -> Fix:
    """The advice for rows with the same keys: keep the best score of a document of a run, its highest grade in qrels.

    Rows of passages are the common case: the score of a document is then that of its best passage (MaxP).
    """
    best = {name: "min" if is_rank(name) else "max" for role, name in names.items() if role in VALUES}
    if not best or table not in ("run", "qrels"):
        several = "If they are of several systems, name these in a column 'run'; else keep one of each"
        words = "Keep one of each" if table != "per_query" or "run" in names else several
        return Fix(words, Code.deduplicating(table, keys))
    listed = ", ".join(map(repr, keys))
    code = Code(
        f"{table}.group_by({listed}).agg({', '.join(f'pl.col({name!r}).{how}()' for name, how in best.items())})",
        f"{table}.groupby({keys!r}, as_index=False).agg({best!r})",
    )
    if table == "qrels":
        keep = f"{hint} Else keep" if hint else "Keep"
        return Fix(f"{keep} the highest grade of each document", code)
    # Keys of other verbs than `evaluate` have no name, and are unknown to `deduplicate`.
    by = [role for role in names if role not in ROLES]
    keyed = f", {option('by', by[0] if len(by) == 1 else by)}" if by else ""
    code = code if set(keys) - set(names.values()) else Code(f"ir.deduplicate(run{keyed})")
    words = "Keep the best score of each document, which is MaxP where rows are passages"
    flag = caller().name("duplicates")
    return Fix(words, code, without_code=f"{words}: {flag} first" if flag.startswith("-") else words)


@functools.cache
def wrong_row(table: str, by: tuple[str, ...], *keys: str) -> tuple[pl.Expr, str]:
    """True for a row of a run, or of qrels, that cannot be evaluated, and the message of a plan."""
    wrong, says = (wrong_qrels_row, BAD_QRELS) if table == "qrels" else (wrong_run_row, BAD_RUN)
    return wrong(keys), naming(says, by)


def wrong_run_row(keys: Sequence[str] = ()) -> pl.Expr:
    """True for a row of a run that cannot be evaluated; `keys` are those of its rankings beside the query."""
    return pl.any_horizontal(map(wrong_value, dict.fromkeys(("query_id", "doc_id", "score", *keys))))


def wrong_qrels_row(keys: Sequence[str] = ("query_id",)) -> pl.Expr:
    """True for a row of qrels that cannot be evaluated; `keys` are those that it meets rankings by."""
    wrong_key = pl.any_horizontal(map(wrong_value, keys))
    return wrong_key | (~nothing_judged() & (wrong_value("doc_id") | wrong_grade()))


def wrong_value(role: str) -> pl.Expr:
    """True for a value that cannot be evaluated: a null id, a score that is null or NaN."""
    value = pl.col(role)
    # A Decimal is never NaN, and has no `is_nan`.
    return value.is_null() | (value.cast(pl.Float64).is_nan().fill_null(False) if role == "score" else False)


def wrong_grade(*, ungraded: bool = False) -> pl.Expr:
    """True for a grade that cannot be evaluated: not finite or, unless documents may be `ungraded`, null."""
    grade = pl.col("relevance")
    return ~grade.is_finite() & grade.is_not_null() if ungraded else grade.is_null() | ~grade.is_finite()


def nothing_judged() -> pl.Expr:
    """True for a row of qrels that stands for a query without any judged document."""
    return pl.col("doc_id").is_null() & pl.col("relevance").is_null()
