"""The words measures are written in: expressions over the columns of the judged relation.

Conventions
    * A document is *relevant* when its grade is at least `rel`; unjudged documents and negative grades are not.
    * A measure is *undefined* for a query without a relevant document: its expression is null there, and `evaluate`
      decides what that means (`undefined=`). Where there is one but nothing was retrieved, it is 0.
    * Every word is safe on unjudged rows (null `relevance`, null `ideal_rank`), so a measure gives the same value on
      the judged relation and on the one that also holds the unjudged documents.
    * Fractions are added up by `total`, in the order of a ranking, and nothing is divided by a constant: so a value is
      the same to the last bit whatever the order of the rows, the engine or the number of threads.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Literal

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.options import Value, check, is_number, is_whole, one_of, or_none

#: The gain of a grade: the grade itself, 2 to the grade, less 1, or 1 for every grade above 0.
Discounted = Literal["log2", "exp-log2", "binary"]

#: The divisor of the gain at a rank.
Discount = Literal["log2", "ln", "jarvelin", "rank", "none"]

#: The orders of documents with equal scores.
Ties = Literal["doc_id", "input", "best", "worst", "expected"]

#: The gains of documents: by grade, or as an expression.
Gains = Mapping[float, float] | pl.Expr


#: Relative difference up to which values are equal: sums of the same in another order differ in their last bits.
ROUNDED_TO = 1e-12

#: The values that words take.
_EXPRESSION: Value[pl.Expr] = Value("an expression", lambda value: isinstance(value, pl.Expr))
_NUMBERS: Value[pl.Expr | float] = Value(
    "an expression or a number", lambda value: isinstance(value, pl.Expr) or is_number(value)
)
_CUTOFF = or_none(
    Value("a whole number or an expression", lambda value: isinstance(value, pl.Expr) or is_whole(value, 0))
)
_GAINS = or_none(
    Value(
        "a dict of gains by grade, or an expression",
        lambda value: (
            isinstance(value, pl.Expr)
            or (isinstance(value, Mapping) and all(map(is_number, (*value, *value.values()))))
        ),
    )
)
_DISCOUNTED = one_of("log2", "exp-log2", "binary")


def of_grade(value: pl.Expr, dcg: Discounted) -> pl.Expr:
    """The gain of a grade of 0 or more.

    >>> pl.DataFrame({"grade": [0.0, 0.5, 2.0]}).select(of_grade(pl.col("grade"), "binary")).to_series().to_list()
    [0.0, 1.0, 1.0]
    """
    match dcg:
        case "log2":
            return value
        case "exp-log2":
            return 2.0**value - 1.0
        case "binary":
            return value.sign()


def discounted(place: pl.Expr, discount: Discount = "log2") -> pl.Expr:
    """The divisor of the gain at a place of a ranking.

    >>> pl.DataFrame({"rank": [1, 3]}).select(discounted(pl.col("rank"))).to_series().to_list()
    [1.0, 2.0]
    """
    match discount:
        case "log2":
            return (place + 1).log(2)
        case "ln":
            return (place + 1).log()
        case "jarvelin":
            return place.log(2).clip(lower_bound=1.0)
        case "rank":
            return place.cast(pl.Float64)
        case "none":
            return pl.lit(1.0)


#: 1-based place in the run; null when the run did not return the document.
rank = pl.col("rank")

#: 1-based place in the ideal ranking, grades falling.
ideal_rank = pl.col("ideal_rank")

#: The grade; null for an unjudged document.
relevance = pl.col("relevance")

#: Documents the run returned for the query, judged or not.
n_retrieved = pl.col("n_retrieved").first()

#: Retrieved documents with a higher score than this one's.
n_higher = pl.col("n_higher")

#: Retrieved documents that share this one's score, itself included.
n_tied = pl.col("n_tied")

#: The columns that only the relation of preferences has.
PREFERENCE = ("preferred", "other", "preferred_rank", "other_rank")

#: True for a document that was judged for some query, null for one that never was.
judged_elsewhere = pl.col("judged_elsewhere")


def relevant(rel: float = 1) -> pl.Expr:
    """True for a document whose grade makes it relevant.

    Parameters
    ----------
    rel
        The lowest relevant grade.

    Returns
    -------
    pl.Expr
        Boolean, a value per document; null for an unjudged one.

    Examples
    --------
    >>> pl.DataFrame({"relevance": [2, 0, None]}).select(relevant()).to_series().to_list()
    [True, False, None]
    """
    return relevance >= check("rel", rel, _NUMBERS)


def top(k: int | pl.Expr | None = None, *, of: pl.Expr = rank) -> pl.Expr:
    """True for a document among the first `k` of a ranking; without `k`, for one that is ranked at all.

    Parameters
    ----------
    k
        The cutoff; without it, the whole ranking. It may be an expression, such as `ir.n_relevant()`.
    of
        The ranking: `ir.rank`, or `ir.ideal_rank`.

    Returns
    -------
    pl.Expr
        Boolean, a value per document; null where it was not retrieved, and False without `k`.

    Examples
    --------
    >>> pl.DataFrame({"rank": [1, 7, None]}).select(top(5)).to_series().to_list()
    [True, False, None]
    """
    check("of", of, _EXPRESSION)
    return of.is_not_null() if check("k", k, _CUTOFF) is None else of <= k


def hits(k: int | pl.Expr | None = None, rel: float = 1) -> pl.Expr:
    """The number of relevant documents among the first `k`.

    Parameters
    ----------
    k
        The cutoff; without it, the whole ranking. It may be an expression, such as `ir.n_relevant()`.
    rel
        The lowest relevant grade.

    Returns
    -------
    pl.Expr
        UInt32, a value per query; 0 where nothing was retrieved.

    Examples
    --------
    >>> pl.DataFrame({"rank": [1, 2, 9], "relevance": [1, 0, 3]}).select(hits(5)).item()
    1
    """
    if hasattr(type(k), "columns"):
        raise OptionError.of_tables("hits")
    return (relevant(rel) & top(k)).sum()


def n_relevant(rel: float = 1) -> pl.Expr:
    """The number of relevant documents there are, retrieved or not: the R of the formulas.

    Parameters
    ----------
    rel
        The lowest relevant grade.

    Returns
    -------
    pl.Expr
        UInt32, a value per query.

    Examples
    --------
    >>> pl.DataFrame({"relevance": [2, 0, 1, None]}).select(n_relevant()).item()
    2
    """
    return relevant(rel).sum()


def gain(dcg: Discounted = "log2", gains: Gains | None = None, rel: float | None = None) -> pl.Expr:
    """The gain of a document: its grade, 2 to the grade less 1, or 1; `gains` gives other values to some grades.

    Unjudged documents, grades below `rel` and negative values are worth 0.

    Parameters
    ----------
    dcg
        `"log2"` the grade, `"exp-log2"` 2 to the grade less 1, `"binary"` 1 for a grade above 0.
    gains
        Values in place of grades, or an expression for them.
    rel
        The lowest relevant grade; without it, all judged documents count.

    Returns
    -------
    pl.Expr
        Numbers of 0 or more, a value per document.

    Examples
    --------
    >>> pl.DataFrame({"relevance": [2, -1, None]}).select(gain("exp-log2")).to_series().to_list()
    [3.0, 0.0, 0.0]
    """
    check("dcg", dcg, _DISCOUNTED)
    check("gains", gains, _GAINS)
    grade = relevance.cast(pl.Float64)
    counts = relevance.is_not_null() if rel is None else relevant(rel)
    if isinstance(gains, pl.Expr):
        # No cast: it would read numbers out of strings.
        grade = gains * 1.0
    elif gains is not None:
        grade = grade.replace(_by_grade(gains))
    # A NaN stays one, so that it shows.
    value = pl.when(counts).then(grade).clip(lower_bound=0.0).fill_null(0.0)
    return value if dcg == "log2" else of_grade(value, dcg)


def _by_grade(gains: Mapping[float, float]) -> dict[float, float]:
    """Gains by grades as Float64 holds them and, where it holds no other grade, as Float32 does: 0.1 is two numbers."""
    singles = {}
    for grade, value in gains.items():
        # Beyond the range of Float32 no grade of it can be meant.
        if abs(grade) < 3.4e38:
            singles[struct.unpack("f", struct.pack("f", grade))[0]] = float(value)
    return singles | {float(grade): float(value) for grade, value in gains.items()}


def total(values: pl.Expr) -> pl.Expr:
    """The sum of values, added one after the other in the order they have, nulls left out; 0 where there is none.

    `sum` adds the chunks of a group apart, and their borders move with the engine and the number of threads. A list
    without nulls is one chunk, which `list.sum` adds in order, at a third of the cost of `cum_sum` and `last`.

    >>> pl.DataFrame({"v": [0.5, 0.25, 4.0]}).select(total(pl.col("v").filter(pl.col("v") < 1))).item()
    0.75
    """
    # Integers become floats; the sum of an empty list of floats is -0.0.
    return values.drop_nulls().implode().list.sum().fill_null(0.0).replace(-0.0, 0.0)


def power(base: float, exponent: pl.Expr) -> pl.Expr:
    """A number to the power of each value, with the same bits in however many rows.

    Polars 2.0 and 2.1 multiply a whole exponent out where it is the only one, which changes the last bit of 0.8^5; in
    an array of two it never is.

    >>> pl.DataFrame({"rank": [5.0]}).select(power(0.8, pl.col("rank"))).item() == 0.8**5
    True
    """
    exponent = exponent.cast(pl.Float64)
    return pl.concat_arr(exponent, exponent).arr.eval(pl.lit(base, pl.Float64).pow(pl.element())).arr.first()


def ranked(values: pl.Expr, where: pl.Expr, *, by: pl.Expr = rank) -> pl.Expr:
    """Values of the documents that meet a condition, in the order of a ranking.

    >>> documents = pl.DataFrame({"rank": [3, 1, 2], "doc_id": ["c", "a", "b"]})
    >>> documents.select(ranked(pl.col("doc_id"), where=top(2))).to_series().to_list()
    ['a', 'b']
    """
    return pl.when(where).then(values).sort_by(by).drop_nulls()


def text(column: str) -> pl.Expr:
    """Ids as they are compared: as text, also integers.

    >>> pl.DataFrame({"doc_id": [9, 10]}).select(text("doc_id").max()).item()
    '9'
    """
    return pl.col(column).cast(pl.String)


def place(value: str, tie: pl.Expr | None = None) -> pl.Expr:
    """1-based place with `value` falling, equal ones by ids falling or by another `tie`; null for a null value.

    >>> pl.DataFrame({"doc_id": ["9", "10"], "score": [0.5, 0.5]}).select(place("score")).to_series().to_list()
    [1, 2]
    """
    order = pl.struct(value, text("doc_id") if tie is None else tie)
    return pl.when(pl.col(value).is_not_null()).then(order).rank("ordinal", descending=True)


def length(k: int | None = None) -> pl.Expr:
    """Denominator of a precision: the cutoff, however short the list is; without one, the documents retrieved.

    >>> pl.DataFrame({"n_retrieved": [7, 7]}).select(length(10)).item()
    10
    """
    # The cutoff as a column: Polars divides by a constant by multiplying with its reciprocal, yet 3 * 0.1 != 3 / 10.
    return n_retrieved if k is None else pl.len().clip(k, k)


def shown(k: int | pl.Expr | None = None) -> pl.Expr:
    """Number of places among the first `k` that the run filled.

    >>> pl.DataFrame({"n_retrieved": [7, 7]}).select(shown(10).unique()).item()
    7
    """
    return n_retrieved if k is None else n_retrieved.clip(upper_bound=k)


def ratio(numerator: pl.Expr, denominator: pl.Expr) -> pl.Expr:
    """`numerator / denominator`, null (undefined) where the denominator is 0 or less.

    Parameters
    ----------
    numerator, denominator
        Expressions of numbers.

    Returns
    -------
    pl.Expr
        Float64, from 0 to infinity for a numerator of 0 or more.

    Examples
    --------
    >>> pl.DataFrame({"a": [1, 1, 1], "b": [2, 0, -2]}).select(ratio(pl.col("a"), pl.col("b"))).to_series().to_list()
    [0.5, None, None]
    """
    check("numerator", numerator, _NUMBERS)
    check("denominator", denominator, _EXPRESSION)
    # Not `when(denominator > 0)`, which would compute the denominator a second time for each group.
    return numerator / denominator.clip(lower_bound=0).replace(0, None)


def per_count(numerator: pl.Expr, count: pl.Expr) -> pl.Expr:
    """As `ratio`, for a count: cheap to compute twice, and a streaming plan keeps all rows of a group to replace a 0.

    >>> pl.DataFrame({"v": [True, False]}).select(per_count(pl.col("v").sum(), pl.len())).item()
    0.5
    """
    return pl.when(count > 0).then(numerator / count)


def average(values: pl.Expr) -> pl.Expr:
    """Mean of the non-null values, added up in their order; null where there is none.

    >>> pl.DataFrame({"v": [0.5, None, 1.0]}).select(average(pl.col("v"))).item()
    0.75
    """
    return ratio(total(values.drop_nulls()), values.count())


def if_relevant(value: pl.Expr, rel: float = 1) -> pl.Expr:
    """`value` where the query has a relevant document, null (undefined) where it has none.

    Parameters
    ----------
    value
        An aggregation, such as a measure.
    rel
        The lowest relevant grade.

    Returns
    -------
    pl.Expr
        The type of `value`, a value per query.

    Examples
    --------
    >>> pl.DataFrame({"relevance": [0, 0]}).select(if_relevant(pl.lit(1.0))).item() is None
    True
    """
    return pl.when(n_relevant(rel) > 0).then(check("value", value, _NUMBERS))


def or_zero(value: pl.Expr) -> pl.Expr:
    """`value`, and 0 where the run returned nothing to compute it from.

    Parameters
    ----------
    value
        An aggregation that is null then.

    Returns
    -------
    pl.Expr
        The type of `value`, a value per query.

    Examples
    --------
    >>> pl.DataFrame({"rank": [None]}, schema={"rank": pl.Int64}).select(or_zero((1 / rank).max())).item()
    0.0
    """
    return check("value", value, _EXPRESSION).fill_null(0.0)
