"""Readers who go on from one position of a list to the next by chance, and what they can expect to gain.

Conventions
    * A continuation is an expression of `place`, `gained` and `cumulated`, which are fields of a struct and no columns:
      the positions of a list are made within the aggregation.
    * What a continuation reads decides how it is evaluated: of `place` alone it gives every list the same weights; of
      `gained` too, it leaps from one document with a gain to the next; and of `cumulated`, where the sum over the
      positions between two documents is known in closed form, likewise. What is left walks from position to position.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.vocabulary import Discounted, gain, rank, ranked, top, total

#: The position of the reader, 1 at the top of the list; named, for an expression of it alone to have a name.
place = pl.field("place").alias("place")

#: The gain at that position, from 0 to 1.
gained = pl.field("gained").alias("gained")

#: The gains down to that position, itself included.
cumulated = pl.field("cumulated").alias("cumulated")

#: Positions of a list without a cutoff.
DEPTH = 1000

#: In the place of the logarithm of 0, for differences of logarithms to be numbers; exp(-800) is 0 too.
LOG_OF_ZERO = -800.0

#: In the place of 0, for a quotient of two.
TINY = 2.0**-1000

#: From what was gained and the positions of two documents: which share of the readers below the first gets to the
#: second, and how many of the positions between them they read.
Passing = Callable[[pl.Expr, pl.Expr, pl.Expr], tuple[pl.Expr, pl.Expr]]

#: What the engine quotes when a continuation turns out to be no chance.
OUTSIDE = "polars_ir: CWL: continuation must be between 0 and 1 at every position"


def inverse_square(head_start: float | pl.Expr) -> pl.Expr:
    """The continuation under which attention falls with the inverse square of the position."""
    return ((place + head_start - 1) / (place + head_start)) ** 2


def checked(continuation: pl.Expr) -> pl.Expr:
    """A user's continuation, NaN where it is no chance; a `MeasureError` for one that can be none."""

    def refuse(wanted: str, got: object) -> MeasureError:
        return MeasureError.parameter("CWL", "continuation", wanted, got)

    if columns := continuation.meta.root_names():
        raise refuse("an expression of ir.place, ir.gained and ir.cumulated alone", columns)
    chance = continuation * pl.lit(1.0, pl.Float64)
    gains = pl.Series("gained", [0.0, 0.5, 1.0, 0.0, 0.25, 0.0])
    some = pl.DataFrame(
        {"place": pl.Series(range(1, 7), dtype=pl.Float64), "gained": gains, "cumulated": gains.cum_sum()}
    )
    try:
        of_some, of_three = chances(chance, some), chances(chance, some.reverse()[1:4])
    except pl.exceptions.PolarsError as error:
        raise refuse("an expression of ir.place, ir.gained and ir.cumulated alone", str(error)) from None
    if not of_some.reverse()[1:4].equals(of_three):
        raise refuse("the chance at a position, whatever stands at others", str(continuation))
    within = chance.is_between(0, 1).fill_null(False)
    of_no_gain = chances(pl.when(~within).then(place.cast(pl.Int64)), without_gains(DEPTH))
    if of_no_gain.count():
        raise refuse("between 0 and 1 at every position", f"{continuation!s} at position {of_no_gain.min()!r}")
    return pl.when(within).then(chance).otherwise(float("nan"))


def chance_at(continuation: pl.Expr, *words: pl.Expr) -> pl.Expr:
    """The continuation where its words are these."""
    return pl.struct(words).struct.with_fields(chance=continuation).struct.field("chance")


def chances(continuation: pl.Expr, positions: pl.DataFrame) -> pl.Series:
    """The continuation at given positions."""
    return positions.select(chance_at(continuation, pl.all())).to_series()


def without_gains(depth: int) -> pl.DataFrame:
    """The positions of a list without a single gain."""
    return pl.select(place=pl.int_range(1, depth + 1).cast(pl.Float64), gained=0.0, cumulated=0.0)


def reads(continuation: pl.Expr, word: str) -> bool:
    """Whether a continuation reads one of its words; an expression does not tell the fields it reads."""
    try:
        chances(continuation, without_gains(1).drop(word))
    except pl.exceptions.PolarsError:
        return True
    return False


def expected_gain(
    name: str,
    continuation: pl.Expr,
    *,
    k: int | None = None,
    min_rel: float,
    max_rel: float,
    dcg: Discounted = "log2",
    passing: Passing | None = None,
) -> pl.Expr:
    """The measure of that name whose readers go on by a chance of `continuation`."""
    if not min_rel < max_rel:
        raise MeasureError.parameter(name, "max_rel", f"above min_rel, {min_rel!r}", max_rel)
    depth = DEPTH if k is None else int(k)
    value = share(min_rel=min_rel, max_rel=max_rel, dcg=dcg)
    # A product, since a cast would read numbers out of strings; typed, for Polars 1 to know the type of True * 1.0.
    chance = continuation * pl.lit(1.0, pl.Float64)
    documents = ranked(pl.struct(rank.cast(pl.Float64).alias("place"), value.alias("gained")), (value > 0) & top(depth))
    # In a list: elsewhere in an aggregation Polars does not put fields in the place of words.
    in_order = documents.implode()
    if not reads(continuation, "cumulated"):
        expected = leapt(chance, depth)
    elif passing or not reads(continuation, "place"):
        in_order = in_order.list.eval(gaps(depth)).list.eval(
            passed(chance, depth, passing or partial(steadily, chance))
        )
        expected = arrived()
    else:
        in_order = in_order.list.eval(positions(depth)).list.eval(pl.element().struct.with_fields(chance=chance))
        expected = walked()
    # Not `list.agg`, which gives the values to other queries in Polars 1.
    return pl.when((value > 0).any()).then(in_order.list.eval(expected).list.first().fill_null(0.0))


def share(*, min_rel: float, max_rel: float, dcg: Discounted = "log2", **_: object) -> pl.Expr:
    """What a document gains, as a share of what one of the highest grade does."""
    grade, highest = gain().clip(min_rel, max_rel) - min_rel, float(max_rel - min_rel)
    if dcg == "exp-log2":
        grade, highest = 2.0**grade - 1.0, 2.0**highest - 1.0
    # The highest gain as a column: Polars divides by a constant by multiplying with its reciprocal.
    return grade / (0 * grade + highest)


#: The document of a list, and what it gains.
AT, GAIN = (pl.element().struct.field(name) for name in ("place", "gained"))


def there(table: pl.Series) -> pl.Expr:
    """The entry of a table of all positions at that of a document."""
    # Not `gather`: elsewhere than in a list Polars 1 looks up other places than asked, and in one it is slow.
    return AT.replace_strict(pl.int_range(1, len(table) + 1, eager=True).cast(pl.Float64), table)


def leapt(continuation: pl.Expr, depth: int) -> pl.Expr:
    """The expected gain where the position and the gain there decide: from one document with a gain to the next.

    Between them the chances are those of a list without gains. A document at i that makes the chance C of c leaves that
    list behind: what is read below i is C / c times as much.
    """
    usual = chances(continuation, without_gains(depth))
    if not reads(continuation, "gained"):
        reached = usual.cum_prod().shift(1, fill_value=1.0)
        return total(there(reached / reached.sum()) * GAIN)
    logarithms = usual.log().clip(LOG_OF_ZERO)
    # How many documents are read from a position on by one who is there.
    below = pl.Series(
        [*accumulate(usual[:-1].reverse(), lambda read, chance: 1 + chance * read, initial=1.0)]
    ).reverse()
    chance = chance_at(continuation, AT, GAIN)
    change = (chance.log() - there(logarithms)).cum_sum().shift(1, fill_value=0.0)
    arrives = (there(logarithms.cum_sum().shift(1, fill_value=0.0)) + change).exp()
    read: pl.Expr = total(arrives * (chance - there(usual)) * there(below.shift(-1, fill_value=0.0))) + below[0]
    return total(arrives * GAIN) / read


def gaps(depth: int) -> pl.Expr:
    """What is gained down to each document, and the position of the following one."""
    following = AT.shift(-1, fill_value=depth + 1.0).alias("following")
    return pl.struct(AT, GAIN, GAIN.cum_sum().alias("cumulated"), following)


def passed(continuation: pl.Expr, depth: int, passing: Passing) -> pl.Expr:
    """How readers get from each document to the next, over positions at which nothing more is gained."""
    reached = chances(continuation, without_gains(depth)).cum_prod().shift(1, fill_value=1.0)
    so_far, following = (pl.element().struct.field(name) for name in ("cumulated", "following"))
    chance = chance_at(continuation, AT, GAIN, so_far)
    still, more = passing(so_far, AT, following)
    return pl.struct(
        GAIN,
        onwards=chance * still,
        read=1 + chance * more,
        reached=there(reached),
        above=there(reached.cum_sum().shift(1, fill_value=0.0)),
    )


def arrived() -> pl.Expr:
    """The expected gain where what was gained before decides, from document to document."""
    onwards, read, reached, above = (pl.element().struct.field(n) for n in ("onwards", "read", "reached", "above"))
    arrives = onwards.cum_prod().shift(1, fill_value=1.0)
    # Of the first document, whom most readers reach after the fewest positions.
    first, before = reached.max(), above.min()
    return first * total(arrives * GAIN) / (before + first * total(arrives * read))


def steadily(continuation: pl.Expr, so_far: pl.Expr, place: pl.Expr, following: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Passing by the same chance everywhere: a power, and the sum of a geometric series."""
    chance = chance_at(continuation, 0 * GAIN, so_far)
    # 0 / 0 where all go on, unless both are a little more; 1 - exp(x) is lost to rounding for a small x, tanh is not.
    exponent = (following - place - 1) * chance.log().clip(LOG_OF_ZERO, -TINY)
    still = exponent.exp()
    return still, (1 + still) * (exponent / -2).tanh() / (1 - chance).clip(TINY)


def patiently(head_start: float, so_far: pl.Expr, place: pl.Expr, following: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Passing by `inverse_square(head_start - cumulated)`: a quotient of squares, and a sum of 1 / x^2."""
    start, end = place + (head_start - so_far), following + (head_start - 1 - so_far)
    return (start / end) ** 2, start**2 * (inverse_squares(start) - inverse_squares(end))


def inverse_squares(x: pl.Expr) -> pl.Expr:
    """The sum of 1 / x^2 from x on, in steps of 1: 16 terms, and the others by the formula of Euler and Maclaurin."""
    z = 1 / (x + 16)
    beyond = z + z**2 * (1 / 2 + z * (1 / 6 - z**2 * (1 / 30 - z**2 * (1 / 42 - z**2 * (1 / 30 - z**2 * (5 / 66))))))
    return sum(((1 / (x + i)) ** 2 for i in range(15, -1, -1)), beyond)


def positions(depth: int) -> pl.Expr:
    """What is gained at each position, from what is gained by documents."""
    position = pl.int_range(1, depth + 1)
    found = AT.search_sorted(position, side="right")
    # A position has the gain of the document just found there; the one before the first gains nothing.
    gains = pl.lit(0.0).append(GAIN)
    new = found != found.shift(1, fill_value=0)
    return pl.struct(
        position.cast(pl.Float64).alias("place"),
        pl.when(new).then(gains.gather(found)).otherwise(0.0).alias("gained"),
        gains.cum_sum().gather(found).alias("cumulated"),
    )


def walked() -> pl.Expr:
    """The expected gain where the position and what was gained before decide: from position to position."""
    arrives = pl.element().struct.field("chance").cum_prod().shift(1, fill_value=1.0)
    return total(arrives * GAIN) / total(arrives)
