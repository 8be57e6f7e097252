"""The lists of a run, with columns of their items by a history and a catalogue: what measures of lists read.

Conventions
    * Every list of the run has its rows, whoever is judged. Lists are ranked where a cutoff shortens one; else an item
      has place 0, which is within every cutoff.
    * What pairs of items of a list share is a sum of vectors, squared, so that no pair is made. Vectors are whole
      multiples of `UNIT`, whose sums are the same in any order.
    * A mean similarity is of a list, and has a row of its own in the relation.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from polars_ir.engine.as_plan import by_sorting
from polars_ir.engine.ranking import tie_counts, with_position
from polars_ir.engine.relation import placed
from polars_ir.engine.run_and_qrels import searched
from polars_ir.errors import Code, ColumnError, DtypeError, Fix, nearest, quoted
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.catalogue import USERS as COUNTED
from polars_ir.frames.catalogue import Catalogue
from polars_ir.frames.rules import Rule
from polars_ir.language.lists import (
    ALL_PAIRS,
    ALL_USERS,
    LIKENESS,
    OF_HISTORY,
    PAIRS_ABOVE,
    PLACE,
    POPULARITY,
    SEEN,
    SIZE,
    USERS,
    added_up,
)
from polars_ir.language.names import ResolvedMeasure
from polars_ir.language.words import text

#: The length of a vector of items: rounded to whole numbers, it is exact to 1e-12.
UNIT = 2.0**40

#: Columns of items between two steps.
OF, WEIGHT = "polars_ir: of", "polars_ir: weight"

#: Portions of the users of a plan, each ranked by itself: a ranking keeps its rows in memory.
PORTIONS = 4

#: The number of items of a list.
LENGTH = "polars_ir: length"

#: The beginning of marks of lists, and that of a list with an item that somebody had.
OF_LISTS = "polars_ir: of lists"
WARM = f"{OF_LISTS}: warm"

#: The mark of a list whose user had something.
HAD = f"{OF_LISTS}: had"

#: The columns of the relation that are numbers of the history, and not of an item.
TOTALS = (ALL_USERS, ALL_PAIRS, SIZE)


def list_relation(
    run: CanonicalFrame, catalogue: Catalogue, measures: Sequence[ResolvedMeasure], *, in_order: bool
) -> pl.LazyFrame:
    """The rows that measures of lists read: the items of each list down to the last place that counts."""
    columns = {column for measure in measures for column in measure.expression.meta.root_names()}
    cutoffs = [measure.call.arguments.get("k") if measure.call else 0 for measure in measures]
    # An aggregation of measures does not tell its cutoff.
    shortest = min((k for k in cutoffs if k is not None), default=None)
    deepest = None if None in cutoffs or 0 in cutoffs else max(k for k in cutoffs if k is not None)
    rows = listed(run, shortest, deepest, in_order=in_order, tied="n_tied" in columns)
    alike = [
        _with_likeness(rows, run.keys, column, catalogue.items) for column in sorted(filter(LIKENESS.is_named, columns))
    ]
    if not columns.isdisjoint(OF_HISTORY):
        rows = with_history(rows, catalogue, columns)
    return pl.concat([rows.drop("doc_id"), *alike], how="diagonal")


def listed(
    run: CanonicalFrame, shortest: int | None, deepest: int | None, *, in_order: bool = False, tied: bool = False
) -> pl.LazyFrame:
    """Keys and items of the lists of a run down to the `deepest` place, with `PLACE`, which is 0 where all are short.

    They are where none has more than `shortest` items, or this is None. With `tied` items that share the last
    place are kept, with the counts of their ties. With `in_order` equal scores stand as the rows do.
    """
    keys, document = run.keys, run.document
    short: dict[str, Any] = {PLACE: pl.lit(0, pl.Int64), **({"n_higher": 0, "n_tied": 1} if tied else {})}
    if shortest is None:
        return searched(run.guarded().select(*document), run).with_columns(**short)
    last = pl.col("n_higher") < deepest if tied and deepest else pl.col(PLACE) <= (deepest or 2**62)
    if run.eager:
        rows = run.select(*document, "score")
        longest = lengths_of(run).select(pl.col(LENGTH).max())
        if (longest.collect(engine="in-memory").item() or 0) <= shortest:
            return rows.drop("score").with_columns(**short)
        ranked, _ = placed(run, rows, by_id=not in_order)
        return ranked.rename({"rank": PLACE}).select(*document, pl.col(*short).cast(pl.Int64)).filter(last)
    is_long = searched(lengths_of(run).select((pl.col(LENGTH).max() > shortest).fill_null(False)), run)
    # Either the short lists are read, or the long ones, in another order of columns: of passes that look alike the
    # optimizer would make one that keeps the run.
    of_short = run.guarded().select(*document).join(is_long.filter(~pl.col(LENGTH)), how="cross").drop(LENGTH)
    of_short = of_short.with_columns(**short).with_columns(pl.col(*short).cast(pl.Int64))
    table = with_position(run) if in_order else run
    rows, portion = table.select(*reversed(table.columns)), pl.col("query_id").hash() % PORTIONS
    ranks = ["rank", *(tie_counts(keys) if tied else ())]
    portions = []
    for number in range(PORTIONS):
        some = table.with_frame(rows.filter(portion == number)).guarded()
        long = some.all_columns().join(is_long.filter(LENGTH), how="cross").drop(LENGTH)
        ranked = by_sorting(some.with_frame(long), None, ranks, search=False).rename({"rank": PLACE})
        portions.append(ranked.select(*document, pl.col(*short).cast(pl.Int64)).filter(last))
    return pl.concat([of_short, *portions])


def lengths_of(run: CanonicalFrame) -> pl.LazyFrame:
    """The number of items of each list, `LENGTH`; the same plan in all branches, which then share its result."""
    return run.select(*run.keys).group_by(run.keys).agg(pl.len().alias(LENGTH))


def with_history(rows: pl.LazyFrame, catalogue: Catalogue, columns: Collection[str]) -> pl.LazyFrame:
    """Rows of items with the columns of `OF_HISTORY` that are named."""
    n, items = pl.col(COUNTED), catalogue.users
    made = {USERS: n}
    if PAIRS_ABOVE in columns:
        items = items.sort(COUNTED, text("doc_id"), descending=[True, False])
        made[PAIRS_ABOVE] = n.cum_sum() - n
    if POPULARITY in columns:
        made[POPULARITY] = n.rank("dense", descending=True).cast(pl.Int64)
    named = [*filter(made.__contains__, [USERS, *columns])]
    items = items.select("doc_id", **{name: made[name] for name in dict.fromkeys(named)})
    rows = rows.join(items, on="doc_id", how="left").with_columns(pl.col(USERS).fill_null(0))
    if SEEN in columns:
        pairs = catalogue.pairs.with_columns(pl.lit(True).alias(SEEN))
        rows = rows.join(pairs, on=["query_id", "doc_id"], how="left").with_columns(pl.col(SEEN).fill_null(False))
    for name in sorted(filter(columns.__contains__, TOTALS)):
        rows = rows.join(_total(name, catalogue), how="cross")
    if POPULARITY in columns:
        rows = rows.with_columns(pl.col(POPULARITY).fill_null(pl.col(SIZE) + 1))
    return rows


def _total(name: str, catalogue: Catalogue) -> pl.LazyFrame:
    """A row with the number of users, of pairs, or of items."""
    if name == SIZE:
        return catalogue.ids.select(pl.len().cast(pl.Int64).alias(SIZE))
    if name == ALL_PAIRS:
        return catalogue.users.select(pl.col(COUNTED).sum().alias(ALL_PAIRS))
    users = pl.LazyFrame({"query_id": []}) if catalogue.history is None else catalogue.history.select("query_id")
    return users.select(pl.col("query_id").n_unique().cast(pl.Int64).alias(ALL_USERS))


def without(of: str) -> str:
    """The mark of a list with items that lack a column."""
    return f"{OF_LISTS}: without {of}"


def _with_likeness(rows: pl.LazyFrame, keys: Sequence[str], column: str, items: CanonicalFrame | None) -> pl.LazyFrame:
    """A row for each list, with the mean similarity of its items, and whether some of these lack what it is of."""
    of, k = LIKENESS.parameters(column)
    if items is None:
        return rows.select(*keys)
    rows = rows.filter(pl.col(PLACE) <= k) if k is not None else rows
    rows = rows.select(*keys, "doc_id")
    table, kind = _described(items, of)
    rows = rows.join(table, on="doc_id", how="left")
    is_there = pl.col(OF).is_not_null() if kind != "vector" else pl.col(f"{OF} 0").is_not_null()
    counts = {"n": is_there.sum().cast(pl.Int64), without(of): (~is_there).any()}
    if kind == "vector":
        parts = [name for name in table.collect_schema() if name != "doc_id"]
        lists = rows.group_by(keys).agg(pl.col(parts).sum(), **counts)
        squared: pl.Expr = _squared([pl.col(name) / UNIT for name in parts])
    elif kind == "category":
        groups = rows.group_by(*keys, OF).agg(n=pl.len().cast(pl.Int64))
        of_each = pl.when(pl.col(OF).is_not_null()).then("n")
        lists = groups.group_by(keys).agg(
            (of_each * of_each).sum().alias(WEIGHT), of_each.sum(), counts[without(of)].alias(without(of))
        )
        squared = pl.col(WEIGHT)
    else:
        groups = rows.filter(is_there).explode(OF).group_by(*keys, OF).agg(pl.col(WEIGHT).sum())
        sums = groups.group_by(keys).agg(added_up((pl.col(WEIGHT) / UNIT).pow(2)).alias(WEIGHT))
        lists = rows.group_by(keys).agg(**counts).join(sums, on=keys, how="left")
        squared = pl.col(WEIGHT)
    n = pl.col("n")
    mean = ((squared - n) / (n * (n - 1)).cast(pl.Float64)).clip(-1.0, 1.0)
    return lists.select(*keys, pl.when(n > 1).then(mean).alias(column), without(of))


def _squared(values: Sequence[pl.Expr]) -> pl.Expr:
    """The sum of squares, one after the other: `sum_horizontal` adds up a single row in another order."""
    return functools.reduce(operator.add, (value * value for value in values))


def _described(items: CanonicalFrame, of: str) -> tuple[pl.LazyFrame, str]:
    """The items with what they are compared by, as multiples of `UNIT`, and the kind of it.

    A category is in `OF`; several are a list there, with the weight of each in `WEIGHT`; a vector has a column for each
    dimension.
    """
    if of not in items.dtypes or of in items.names:
        others = [name for name in items.columns if name not in items.names]
        says = f"have no column {of!r} to compare items by; they have {quoted(others) or 'ids alone'}."
        raise ColumnError(says, about="items", near=nearest(of, others))
    dtype, name = items.dtypes[of], pl.col(of)
    inner = getattr(dtype, "inner", None)
    if dtype.is_float() or (dtype if inner is None else inner).is_nested():
        wanted = "a category, a list of categories, or a vector"
        raise DtypeError.of_column("items", of, wanted, dtype, Fix("Put vectors into lists, numbers into classes"))
    if inner is None:
        return items.select("doc_id", of).rename({of: OF}), "category"
    if inner.is_integer() and not isinstance(dtype, pl.Array):
        # Ids of categories look like vectors of whole numbers.
        wanted = "lists of texts for categories, of floats for vectors"
        raise DtypeError.of_column("items", of, wanted, dtype, _as_texts(of))
    if not inner.is_numeric() and inner != pl.Boolean:
        values = (name.arr.to_list() if isinstance(dtype, pl.Array) else name).list.drop_nulls().list.unique()
        n = values.list.len()
        # Empty lists are none.
        weight = (UNIT / n.cast(pl.Float64).sqrt()).round().cast(pl.Int64)
        described = items.select("doc_id", of).select(
            "doc_id", pl.when(n > 0).then(values).alias(OF), weight.alias(WEIGHT)
        )
        return described, "categories"
    return _vectors(items, of), "vector"


def _as_texts(of: str) -> Fix:
    """The advice for lists of whole numbers."""
    of_pandas = "map(lambda ids: [*map(str, ids)], na_action='ignore')"
    code = Code.making("items", of, "cast(pl.List(pl.String))", of_pandas)
    return Fix("Make vectors floats, by pl.List(pl.Float64), or categories texts", code, without_code="Write them so")


def _vectors(items: CanonicalFrame, of: str) -> pl.LazyFrame:
    """The items with a column for each dimension of their vectors, each of the length `UNIT`."""
    dtype = items.dtypes[of]
    items, width = (items, dtype.size) if isinstance(dtype, pl.Array) else _as_arrays(items, of)
    values = [pl.col(of).arr.get(place).cast(pl.Float64) for place in range(width)]
    is_wrong = pl.col(of).is_not_null() & ~pl.all_horizontal(value.is_finite().fill_null(False) for value in values)
    rule = Rule(is_wrong, f"whose {of!r} holds a null, NaN or infinite number", "Leave it null, or give it numbers")
    # Divided by the largest first, since squares of numbers may be beyond what a Float64 holds.
    largest, parts = pl.max_horizontal(value.abs() for value in values), [f"{OF} {place}" for place in range(width)]
    # A vector of zeros has no direction, and is none.
    rows = items.checked(rule, rows=items.select("doc_id", of)).with_columns(
        pl.when(largest > 0).then(largest).alias(WEIGHT)
    )
    rows = rows.select("doc_id", **{part: value / pl.col(WEIGHT) for part, value in zip(parts, values, strict=True)})
    rows = rows.with_columns(_squared([pl.col(part) for part in parts]).sqrt().alias(WEIGHT))
    return rows.select("doc_id", (pl.col(parts) / pl.col(WEIGHT) * UNIT).round().cast(pl.Int64))


def _as_arrays(items: CanonicalFrame, of: str) -> tuple[CanonicalFrame, int]:
    """The items with lists of numbers as arrays, and their length; an error for several, or where it is not known."""
    if not items.eager:
        fix = Fix(
            "Say how long the vectors are, such as", Code(f"items.with_columns(pl.col({of!r}).list.to_array(64))")
        )
        raise DtypeError.of_column("items", of, "an Array where items is a LazyFrame", items.dtypes[of], fix)
    length = pl.col(of).list.len()
    rule = Rule(
        length != length.drop_nulls().mode().min(),
        f"whose {of!r} has another length than most",
        "Give all items vectors of one length",
    )
    # Empty lists are none.
    filled = items.select("doc_id", of).with_columns(pl.when(length > 0).then(of))
    rows = items.checked(rule, rows=filled).collect(engine="in-memory")
    width = int(rows[of].list.len().max() or 1)  # type: ignore[arg-type]  # a number
    return items.with_frame(rows.with_columns(pl.col(of).list.to_array(width))), width
