"""Per-query figures in long form, a row for each query and measure, as the wide form that functions read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, InputTypeError, fold, quoted
from polars_ir.frames.roles import ROLE_OF, TEXT, TOPICS
from polars_ir.language.columns import column_of, sql_part
from polars_ir.language.measure import PARTS, of_part

#: Columns of the long form beside the keys: the measure, its value, and its companions.
MEASURE, VALUE = "measure", "value"


def is_long(about: str, frame: pl.DataFrame | pl.LazyFrame) -> bool:
    """True of a frame with the names of measures in one column, and their values in another.

    Both may be attributes of queries, too: they are where another column is called like a measure. Other numbers tell
    nothing; rows of one measure, or of a query in several, are in long form, and those of neither an error, as are
    those of a plan, which are not read for it.
    """
    schema = frame.collect_schema()
    if VALUE not in schema or not isinstance(schema.get(MEASURE), TEXT):
        return False
    ids = {"query_id", "run", "doc_id"}
    others = [
        name
        for name, dtype in schema.items()
        if (dtype.is_numeric() or dtype == pl.Boolean)
        and name not in (VALUE, *PARTS)
        and ROLE_OF.get(fold(name)) not in ids
        and fold(name) not in TOPICS
    ]
    if any(map(column_of, others)):
        return False
    if not others:
        return True
    says = (
        f"can be read in two ways: {MEASURE!r} and {VALUE!r} hold measures and their values, or are columns beside the "
        f"measures {quoted(others)}."
    )
    if isinstance(frame, pl.LazyFrame):
        words = f"Rename {MEASURE!r} if it is one beside them; if it holds measures, collect the plan"
        raise ColumnError(says, about=about, fix=Fix(words, Code(f"{about}.collect()")))
    if frame[MEASURE].n_unique() <= 1:
        return True
    of_query = [name for name in schema if ROLE_OF.get(fold(name)) in ids or fold(name) in TOPICS]
    if of_query and frame.group_by(of_query).agg(pl.col(MEASURE).n_unique() > 1)[MEASURE].any():
        return True
    words = f"Rename {MEASURE!r} if it is one beside them; if it holds measures, leave the others out"
    says += f" No query has two of {MEASURE!r}."
    raise ColumnError(says, about=about, fix=Fix(words, Code.dropping(about, others)))


def wide(about: str, frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """The frame with a column for each measure, and for each of its companions that has values.

    A table has no order of rows: measures come by name, and rows by keys.
    """
    if isinstance(frame, pl.LazyFrame):
        says = "is in long form, whose measures are unknown until it is read; got a LazyFrame."
        raise InputTypeError(says, about=about, fix=Fix("Collect it first", Code(f"{about}.collect()")))
    parts = [part for part in PARTS if part in frame.columns]
    for name in (VALUE, *parts):
        if not (frame.schema[name].is_numeric() or frame.schema[name] in (pl.Boolean, pl.Null)):
            fix = Fix("Cast it", Code.casting(about, name, pl.Float64))
            raise DtypeError.of_column(about, name, "numbers, as a frame in long form has", frame.schema[name], fix)
    if not frame.width > len(parts) + 2:
        says = f"is in long form, and has no column of queries beside {quoted(frame.columns)}."
        raise ColumnError(says, about=about)
    keys = [name for name in frame.columns if name not in (MEASURE, VALUE, *parts)]
    if count := int(frame[MEASURE].null_count()):
        shown = frame.filter(pl.col(MEASURE).is_null())
        raise DataError.rows(about, f"whose {MEASURE!r} is null", "Leave them out.", count, shown)
    again = frame.select(*keys, MEASURE).is_duplicated()
    if again.any():
        shown = frame.filter(again)
        keep = "Keep one of each, or, if they are of several days, name the column that distinguishes them."
        raise DataError.rows(about, "that give a query's measure again", keep, shown.height, shown)
    measure = pl.col(MEASURE).cast(pl.String)
    names = sorted(frame.select(measure.unique()).to_series(), key=lambda name: (name.casefold(), name))
    values = frame.with_columns(measure, pl.col(VALUE, *parts).cast(pl.Float64))
    of_parts = []
    for part in (VALUE, *parts):
        column = {name: name if part == VALUE else sql_part(name, part) or of_part(name, part) for name in names}
        there = values.select(*keys, measure.replace(column), pl.col(part).alias(VALUE))
        of_parts.append(there if part == VALUE else there.drop_nulls(VALUE))
    _check_names(about, keys, of_parts)
    rows = pl.concat(of_parts).pivot(MEASURE, index=keys, values=VALUE, maintain_order=True)
    # Each measure precedes its companions.
    made = set(rows.columns)
    order = [name for column in names for name in (column, *(c(column, p) for p in PARTS for c in (sql_part, of_part)))]
    in_order = [key for key in keys if not (frame.schema[key].is_nested() or frame.schema[key] == pl.Object)]
    return rows.select(*keys, *(name for name in order if name in made)).sort(in_order)


def _check_names(about: str, keys: Sequence[str], parts: Sequence[pl.DataFrame]) -> None:
    """Raise a `ColumnError` for a measure with the name of a key, or of a companion of another measure."""
    columns = [*keys, *(name for part in parts for name in part[MEASURE].unique(maintain_order=True))]
    if twice := [name for name, count in Counter(columns).items() if count > 1]:
        like = "a key" if twice[0] in keys else "a part of another measure"
        says = f"has a measure called {twice[0]!r}, like {like}."
        renamed = f"pl.col({MEASURE!r}).replace({twice[0]!r}, 'mine')"
        raise ColumnError(says, about=about, fix=Fix("Rename it", Code(f"{about}.with_columns({renamed})")))
