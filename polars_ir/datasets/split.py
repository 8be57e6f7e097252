"""`split`: training and test rows of a log of interactions, by their times.

Conventions: of rows with equal times the lower one in the log is the later. No test row is a row of train.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from datetime import time as midnight
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, OptionError, Setting, fold, option, warn
from polars_ir.frames.guesses import words
from polars_ir.frames.kinds import give_back, is_pandas, to_polars
from polars_ir.frames.roles import required
from polars_ir.frames.rules import Rule, checked
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, column, each_once, is_number, one_of, or_none, public, some_of, whole

Strategy = Literal["time", "last"]
Target = Literal["all", "first", "last"]

#: Names of columns of times.
TIMES = ("time", "timestamp", "datetime", "date", "event_time")

#: Test rows that may be left out: those of users and of items that train lacks, and pairs that it has.
Dropped = Literal["cold_users", "cold_items", "seen"]

#: What a warning calls them.
WORDS = {"cold_users": "users that train lacks", "cold_items": "items that train lacks", "seen": "pairs that train has"}

#: Columns of the plan: true for a row of the test and false for one of train, and the number of the row.
IS_TEST, ROW = "polars_ir: is test", "polars_ir: row"


#: The advice for a test that is no later than train.
IN_TIME = Fix("A cut in time does not", Code("ir.split(log, 'time', share=0.2)"))


@public()
def split(
    log: Table[FrameT],
    strategy: Strategy,
    *,
    at: date | float | str | None = None,
    share: float | None = None,
    target: Target = "all",
    n: int | None = None,
    time: str | None = None,
    drop: Dropped | Sequence[Dropped] = (),
) -> tuple[FrameT, FrameT]:
    """A log of interactions as training and test rows: `"time"` cuts at a moment, `"last"` holds out each user's last.

    Parameters
    ----------
    log
        A row per interaction: a table with columns of users and items, as of queries and documents in a run, and of
        times (Date, Datetime or a number).
    strategy
        `"time"`: rows from a moment on are test, which leaks nothing. `"last"`: the last `n` rows of each user are; of
        a user with no more than `n` rows all are, as in RecTools and LensKit. Models then train on what others did
        after the test.
    at
        The moment of `"time"`, which is of the test: a date or datetime, also as ISO text, in the time zone of the
        column where it has none itself; or a number for times that are numbers.
    share
        The share of rows that `"time"` makes test in place of `at`, rounded up; rows of equal times stay together.
    target
        The test rows of a user from the moment on: `"all"`, the `"first"` or the `"last"`. The others are in neither
        table: models must not see them.
    n
        The number of rows per user that `"last"` holds out, 1 by default.
    time
        The column of times; by default the one that is called time, timestamp, datetime, date or event_time.
    drop
        Test rows to leave out, of one kind or several: those of `"cold_users"` and of `"cold_items"`, which train
        lacks, and those whose user and item train has, `"seen"`.

    Returns
    -------
    (train, test)
        Rows of the log as they are, in their order, in its kind: two LazyFrames for a LazyFrame; of pandas with their
        index.

    Warns
    -----
    IRWarning
        With counts, of a table in memory: for cold users, cold items and seen pairs that stay in the test, and for rows
        of train that are later than the first of the test.

    Raises
    ------
    IRError
        For null users, items or times, times that are texts, and, of a table in memory, a split without a row on one
        side.

    References
    ----------
    Ji et al. 2023, https://doi.org/10.1145/3569930 (leaks of the future)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> log = pl.DataFrame({"user_id": [1, 1, 2, 2], "item_id": [7, 8, 8, 7], "time": [10, 20, 30, 40]})
    >>> train, test = ir.split(log, "time", at=40)
    >>> train.height, test.row(0)
    (3, (2, 7, 40))
    """
    _check_options(strategy, at, share, n)
    check("target", target, one_of(*get_args(Target)))
    if strategy == "last" and target != "all":
        raise OptionError("goes with the strategy 'time'.", about="target")
    given = None if isinstance(drop, (list, tuple)) and not drop else drop
    dropped = each_once(check("drop", given, or_none(some_of(*get_args(Dropped)))))
    check("time", time, or_none(column("the log")))
    frame = to_polars("log", log, column="score")
    schema = frame.collect_schema()
    times = [name for name in schema if name == time or fold(name) in map(fold, TIMES)]
    user, item = (required("log", role, schema, times) for role in ("query_id", "doc_id"))  # type: ignore[arg-type]  # a schema knows more than its names
    if time in (user, item):
        says = f"must name the column of times; {time!r} is that of the {'users' if time == user else 'items'}."
        raise OptionError(says, about="time")
    moment = _time_of(schema, time)
    unknown = pl.col(moment).is_null() | (pl.col(moment).is_finite().not_() if schema[moment].is_float() else False)
    rules = [
        Rule(pl.col(user).is_null() | pl.col(item).is_null(), f"whose {user!r} or {item!r} is null", "Leave them out"),
        Rule(unknown, f"whose {moment!r} is {'no number' if schema[moment].is_float() else 'null'}", "Leave them out"),
    ]
    later = _later(at, share, moment, schema[moment]) if strategy == "time" else None
    is_test = _is_test(user, moment, later, target, 1 if n is None else n)
    # In memory the rows that count are found by number, and taken from the log as it came.
    rows = frame.select(user, item, moment).with_row_index(ROW) if isinstance(frame, pl.DataFrame) else frame
    rows = checked(rows, *rules, about="log", keys=[user, item], names={}).with_columns(is_test.alias(IS_TEST)).lazy()
    train, test = (rows.filter(part).drop(IS_TEST) for part in (~pl.col(IS_TEST), pl.col(IS_TEST)))
    keys = {"cold_users": [user], "cold_items": [item], "seen": [user, item]}
    kept = test
    for kind in dropped:
        kept = _joined(kept, train, keys[kind], "anti" if kind == "seen" else "semi")
    if not isinstance(frame, pl.DataFrame):
        if strategy == "last":
            warn("'last' trains on the future of others.", fix=IN_TIME)
        return give_back(train, log), give_back(kept, log)
    trained, tested = train.collect(engine="in-memory"), kept.collect(engine="in-memory")
    _check_parts(frame, moment, trained, tested, strategy, dropped)
    _warn(trained, tested, keys, moment, strategy)
    return _rows_of(log, frame, trained[ROW]), _rows_of(log, frame, tested[ROW])


def _check_options(strategy: Any, at: Any, share: Any, n: Any) -> None:
    """Raise an `OptionError` for options that a strategy does not have, or lacks."""
    check("strategy", strategy, one_of(*get_args(Strategy)))
    check("n", n, or_none(whole(1)))
    if strategy == "last":
        for name, value in {"at": at, "share": share}.items():
            if value is not None:
                raise OptionError("goes with the strategy 'time'; 'last' takes n.", about=name)
        return
    if n is not None:
        raise OptionError("goes with the strategy 'last'; 'time' takes at or share.", about="n")
    if (at is None) == (share is None):
        says = "'time' takes one of at, the first moment of the test, and share, its share of the rows; got"
        raise OptionError(f"{says} {'none' if at is None else 'both'}.", fix=Fix("Such as", Setting("share", 0.2)))
    if share is not None and not (is_number(share) and 0 < share < 1):
        raise OptionError(f"must be a number above 0 and below 1; got {share!r}.", about="share")


def _time_of(schema: pl.Schema, time: str | None) -> str:
    """The column of times, named or recognised, of a type that has an order in time."""
    if time is not None and time not in schema:
        raise ColumnError.missing("log", time, [time], schema.names())
    known = [name for name in schema if fold(name) in map(fold, TIMES)] if time is None else [time]
    if len(known) != 1:
        may_be = known or [
            name for name, dtype in schema.items() if dtype.is_temporal() or words(name) & {*TIMES, "at"}
        ]
        says = f"has {len(known) or 'no'} column{'s' * (len(known) != 1)} of times by name (recognised: "
        fix = Fix("Say which it is", Setting("time", (may_be or ["..."])[0]))
        raise ColumnError(f"{says}{', '.join(TIMES)}); it has {', '.join(map(repr, schema))}.", about="log", fix=fix)
    name = known[0]
    dtype = schema[name]
    if dtype.is_numeric() or dtype == pl.Date or isinstance(dtype, pl.Datetime):
        return name
    parsing = Code(
        f"log.with_columns(pl.col({name!r}).str.to_datetime())",
        f"log.assign(**{{{name!r}: pd.to_datetime(log[{name!r}])}})",
    )
    parse = Fix("Parse it, since texts may have another order", parsing)
    wanted = "Date, Datetime or numbers"
    raise DtypeError.of_column("log", name, wanted, dtype, parse if dtype == pl.String else "Cast it")


def _later(at: Any, share: float | None, name: str, dtype: pl.DataType) -> pl.Expr:
    """True for a row from the moment of `"time"` on."""
    time = pl.col(name)
    if share is not None:
        # Rounded first: 0.07 * 100 is above 7.
        n_test = (pl.len() * share).round(9).ceil().cast(pl.Int64)
        return time >= time.sort().get(pl.len() - n_test, null_on_oob=True)
    if not dtype.is_numeric():
        return _from(_moment(at, name), name, dtype)
    if not is_number(at):
        raise OptionError(f"must be a number, as column {name!r} has; got {at!r}.", about="at")
    # Nanoseconds since 1970 have more digits than Float64.
    return time.cast(pl.Int128) >= pl.lit(math.ceil(at), pl.Int128) if dtype.is_integer() else time >= float(at)


def _moment(at: Any, name: str) -> datetime:
    """A date or a datetime, also as ISO text; a date is its midnight."""
    moment = at
    if isinstance(at, str):
        with suppress(ValueError):
            moment = datetime.fromisoformat(at)
    # The missing time of pandas is a datetime, and the only one without a year.
    if not isinstance(moment, date) or not moment.year >= 1:
        says = f"must be a date or datetime, as column {name!r} has, or its ISO text; got {at!r}."
        raise OptionError(says, about="at")
    return moment if isinstance(moment, datetime) else datetime.combine(moment, midnight())


def _from(moment: datetime, name: str, dtype: pl.DataType) -> pl.Expr:
    time, zone = pl.col(name), getattr(dtype, "time_zone", None)
    if moment.tzinfo is not None and zone is None:
        raise OptionError(f"has a time zone, which column {name!r} lacks; got {str(moment)!r}.", about="at")
    if dtype == pl.Datetime("ms"):
        time = time.dt.cast_time_unit("us")  # where it meets microseconds Polars compares milliseconds
    if zone is None:
        return time >= pl.lit(moment)
    moment = moment.replace(tzinfo=ZoneInfo(zone)) if moment.tzinfo is None else moment
    instant = pl.lit(moment.astimezone(UTC).replace(tzinfo=None), pl.Datetime("us"))
    return time.dt.convert_time_zone("UTC").dt.replace_time_zone(None) >= instant


def _is_test(user: str, time: str, later: pl.Expr | None, target: str, n: int) -> pl.Expr:
    """True for a row of the test, false for one of train, null for one of neither."""
    place, rows = pl.col(time).rank("ordinal").over(user), pl.len().over(user)
    if later is None:
        # Ranks rise, since falling ones put the first of equal times last.
        return rows.cast(pl.Int64) - place < n
    if target == "all":
        return later
    chosen = place == (rows if target == "last" else (~later).sum().over(user) + 1)
    return pl.when(~later).then(pl.lit(False)).when(chosen).then(pl.lit(True))


def _joined(test: pl.LazyFrame, train: pl.LazyFrame, keys: list[str], how: Literal["semi", "anti"]) -> pl.LazyFrame:
    """The test rows whose keys train has, or lacks."""
    return test.join(train.select(keys).unique(), on=keys, how=how, maintain_order="left")


def _check_parts(
    log: pl.DataFrame, time: str, train: pl.DataFrame, test: pl.DataFrame, strategy: str, dropped: list[str]
) -> None:
    """Raise a `DataError` for a log of which one part has no row."""
    if log.is_empty():
        raise DataError("has no rows.", about="log")
    if train.height and test.height:
        return
    if train.height and dropped:
        raise DataError(f"has no test row that {option('drop', dropped)} keeps.", about="log")
    first, last = log.select(first=pl.col(time).min().cast(pl.String), last=pl.col(time).max().cast(pl.String)).row(0)
    why = f"times are from {first} to {last}" if strategy == "time" else "no user has more rows than are held out"
    raise DataError(f"is left without a row to {'test' if train.height else 'train on'}: {why}.", about="log")


def _warn(train: pl.DataFrame, kept: pl.DataFrame, keys: Mapping[str, list[str]], time: str, strategy: str) -> None:
    """Warn of test rows that are often left out, and of rows of train that are later than the first of the test."""
    says = []
    n_known = {kind: _joined(kept.lazy(), train.lazy(), on, "semi").collect().height for kind, on in keys.items()}
    counts = {kind: n if kind == "seen" else kept.height - n for kind, n in n_known.items()}
    if found := {kind: f"{count:,} of {WORDS[kind]}" for kind, count in counts.items() if count}:
        says = [
            f"of {kept.height:,} test rows are {', '.join(found.values())}; {option('drop', list(found))} drops them"
        ]
    n_later = (train[time] > kept[time].min()).sum() if strategy == "last" else 0
    if n_later:
        later = f"{n_later:,} of {train.height:,} rows are later than the first of the test"
        says.append(f"'last' trains on the future of others: {later}")
    if says:
        text = "; ".join(says)
        warn(f"{text[0].upper()}{text[1:]}.", fix=IN_TIME if n_later else None)


def _rows_of(log: Table[FrameT], frame: pl.DataFrame, numbers: pl.Series) -> FrameT:
    """Some rows of a log in memory, of pandas with their index."""
    if is_pandas(log):
        rows: FrameT = log.iloc[numbers.to_numpy()]  # type: ignore[union-attr]  # it is pandas
        return rows
    return give_back(frame[numbers], log)
