"""Readers who go on from one position of a list to the next at random, and their expected gain.

Conventions
    * What a continuation reads decides how it is evaluated: of `place` alone it gives every list the same weights; of
      `gained` too, it leaps from one document with a gain to the next; and of `cumulated`, where the sum over the
      positions between two documents is known in closed form, likewise. What is left walks from position to position.
    * Where nothing is gained, readers go on as `Usual` tells: in closed form, so that a cutoff far beyond the list
      costs nothing; a continuation that reads its place in a way of its own needs a table.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.language.measures.positions import DEPTH, OUTSIDE, chance_at, chances, checked, reads, without_gains
from polars_ir.language.words import Discounted, gain, of_grade, rank, ranked, top, total

#: Longest table of positions.
LONGEST = 10_000

#: Replaces the logarithm of 0, for differences of logarithms to be numbers; exp(-800) is 0 too.
LOG_OF_ZERO = -800.0

#: Replaces 0, for a quotient of two.
TINY = 2.0**-1000

#: By the cumulated gain and the positions of two documents: the share of the readers below the first who get to the
#: second, and the number of positions between them that they read.
Passing = Callable[[pl.Expr, pl.Expr, pl.Expr], tuple[pl.Expr, pl.Expr]]

#: The document of a list, its gain, and the part of the gain that counts.
AT, GAIN, MET = (pl.element().struct.field(name) for name in ("place", "gained", "met"))


def there(table: pl.Series) -> pl.Expr:
    """Entry of a table of all positions at that of a document."""
    return pl.lit(table).gather(AT.cast(pl.Int64) - 1)


#: A statistic of the gains that readers meet, weighted by the share that gets there, and of the positions they read.
Outcome = Callable[[Any, Any], Any]


class Usual(NamedTuple):
    """Shares of readers who go down a list without gains, at the position of a document.

    The probability of getting there, and its logarithm, which never underflows; the number of positions read above; the
    number read below by a reader who goes on from there; and the total number read.
    """

    reached: pl.Expr
    logarithm: pl.Expr
    above: pl.Expr
    below: pl.Expr
    read: float


def usually(name: str, continuation: pl.Expr, depth: int) -> Usual:
    """Shares of readers down a list without gains, by a continuation without a closed form."""
    if not reads(continuation, "place"):
        return of_one_chance(chances(continuation, without_gains(1)).item(), depth)
    if depth > LONGEST:
        raise too_deep(name, depth)
    return of_table(chances(continuation, without_gains(depth)))


def too_deep(name: str, depth: int) -> MeasureError:
    """The error for a cutoff for which a table, or a walk, would be too long."""
    return MeasureError.parameter(name, "k", f"at most {LONGEST:,} for a continuation that reads ir.place", depth)


def of_one_chance(chance: float, depth: int) -> Usual:
    """Readers with a constant probability of going on: powers, and sums of geometric series."""
    if chance == 1:
        return Usual(0 * AT + 1.0, 0 * AT, AT - 1, depth - AT, float(depth))
    logarithm = math.log(chance) if chance > 0 else LOG_OF_ZERO

    def series(n: pl.Expr | float) -> pl.Expr:
        # 1 - exp(x) is lost to rounding for a small x; tanh is not.
        exponent = n * pl.lit(logarithm)
        return (1 + exponent.exp()) * (exponent / -2).tanh() / (1 - chance)

    reached = (AT - 1) * logarithm
    return Usual(reached.exp(), reached, series(AT - 1), series(depth - AT), pl.select(series(float(depth))).item())


def of_table(usual: pl.Series) -> Usual:
    """Readers whose probability of going on is known for every position."""
    reached = usual.cum_prod().shift(1, fill_value=1.0)
    logarithm = usual.log().clip(LOG_OF_ZERO).cum_sum().shift(1, fill_value=0.0)
    # The positions read from a position downwards.
    onwards = accumulate(usual[:-1].reverse(), lambda read, chance: 1 + chance * read, initial=1.0)
    below = pl.Series([*onwards]).reverse().shift(-1, fill_value=0.0)
    above = reached.cum_sum().shift(1, fill_value=0.0)
    return Usual(there(reached), there(logarithm), there(above), there(below), float(reached.sum()))


def expected_gain(
    name: str,
    continuation: pl.Expr,
    *,
    k: int | None = None,
    min_rel: float,
    max_rel: float,
    usual: Callable[[int], Usual] | None = None,
    passing: Passing | None = None,
    outcome: Outcome = operator.truediv,
    cost: pl.Expr | None = None,
) -> pl.Expr:
    """The named measure whose readers go on with probability `continuation`.

    They meet gains or, where there is a cost, a document's cost beyond 1.
    """
    check_grades(name, min_rel, max_rel)
    depth, value = DEPTH if k is None else k, share(min_rel=min_rel, max_rel=max_rel)
    # A product, since a cast would read numbers out of strings; typed, for Polars 2.0 to know the type of True * 1.0.
    chance = continuation * pl.lit(1.0, pl.Float64)
    met = (value, value > 0) if cost is None else ((cost * 1.0).fill_null(1.0) - 1.0, pl.lit(True))
    fields = (rank.cast(pl.Float64).alias("place"), value.alias("gained"), met[0].alias("met"))
    documents = ranked(pl.struct(fields), met[1] & top(depth))
    # In a list: elsewhere in an aggregation Polars does not put fields in the place of words.
    in_order = documents.implode()
    so_far = reads(chance, "cumulated")
    if so_far and passing is None and reads(chance, "place"):
        if depth > LONGEST:
            raise too_deep(name, depth)
        of_no_gain = of_table(chances(chance, without_gains(depth)))
        in_order = in_order.list.eval(positions(depth)).list.eval(pl.element().struct.with_fields(chance=chance))
        expected = walked(outcome)
    else:
        of_no_gain = usual(depth) if usual else usually(name, chance, depth)
        expected = leapt(chance, of_no_gain, outcome)
        if so_far:
            in_order = in_order.list.eval(gaps(depth)).list.eval(
                passed(chance, of_no_gain, passing or partial(steadily, chance))
            )
            expected = arrived(outcome)
    of_query = in_order.list.agg(expected).fill_null(outcome(0.0, of_no_gain.read))
    return pl.when((value > 0).any()).then(of_query)


def of_a_model_of_ones_own(name: str, continuation: pl.Expr | None, **parameters: Any) -> pl.Expr:
    """The named measure whose readers go on by a user's continuation, or always where there is none."""
    chance = pl.lit(1.0) if continuation is None else checked(name, continuation)
    value = expected_gain(name, chance, **parameters)
    # Only the engine knows the gains of a query; there, a text that is no number is an error.
    return value.cast(pl.String).str.replace("NaN", OUTSIDE.format(name), literal=True).cast(pl.Float64)


def check_grades(name: str, min_rel: float, max_rel: float) -> None:
    """Raise a `MeasureError` unless there is a grade to gain from."""
    if not min_rel < max_rel:
        raise MeasureError.parameter(name, "max_rel", f"above min_rel, {min_rel!r}", max_rel)


def share(*, min_rel: float, max_rel: float, dcg: Discounted = "log2", **_: object) -> pl.Expr:
    """Gain of a document, as a share of that of the highest grade."""
    grade = gain().clip(min_rel, max_rel) - min_rel
    # The highest gain as a column: Polars divides by a constant by multiplying with its reciprocal.
    return of_grade(grade, dcg) / of_grade(0 * grade + float(max_rel - min_rel), dcg)


def leapt(continuation: pl.Expr, usual: Usual, outcome: Outcome) -> Any:
    """Expected gain where the position and the gain there decide: from one document with a gain to the next.

    Between them the probabilities are those of a list without gains. A document at i that changes the probability c to
    C leaves that list behind: the reading below i is scaled by C / c.
    """
    if not reads(continuation, "gained"):
        return outcome(total(usual.reached * MET), 0 * GAIN.sum() + usual.read)
    chance, without = chance_at(continuation, AT, GAIN), chance_at(continuation, AT, GAIN * 0)
    change = (chance.log() - without.log().clip(LOG_OF_ZERO)).cum_sum().shift(1, fill_value=0.0)
    arrives = (usual.logarithm + change).exp()
    return outcome(total(arrives * MET), total(arrives * (chance - without) * usual.below) + usual.read)


def gaps(depth: int) -> pl.Expr:
    """Cumulated gain down to each document, and the position of the following one."""
    following = AT.shift(-1, fill_value=depth + 1.0).alias("following")
    return pl.struct(AT, GAIN, MET, GAIN.cum_sum().alias("cumulated"), following)


def passed(continuation: pl.Expr, usual: Usual, passing: Passing) -> pl.Expr:
    """Shares of readers from each document to the next, over positions without gains."""
    so_far, following = (pl.element().struct.field(name) for name in ("cumulated", "following"))
    chance = chance_at(continuation, AT, GAIN, so_far)
    still, more = passing(so_far, AT, following)
    return pl.struct(MET, onwards=chance * still, read=1 + chance * more, reached=usual.reached, above=usual.above)


def arrived(outcome: Outcome) -> Any:
    """Expected gain where the cumulated gain decides, from document to document."""
    onwards, read, reached, above = (pl.element().struct.field(n) for n in ("onwards", "read", "reached", "above"))
    arrives = onwards.cum_prod().shift(1, fill_value=1.0)
    # Of the first document, whom most readers reach after the fewest positions.
    first, before = reached.max(), above.min()
    return outcome(first * total(arrives * MET), before + first * total(arrives * read))


def steadily(continuation: pl.Expr, so_far: pl.Expr, place: pl.Expr, following: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Passing with a constant probability: a power, and the sum of a geometric series."""
    chance = chance_at(continuation, GAIN * 0, so_far)
    # 0 / 0 where all go on, unless both are a little more; 1 - exp(x) is lost to rounding for a small x, tanh is not.
    exponent = (following - place - 1) * chance.log().clip(LOG_OF_ZERO, -TINY)
    still = exponent.exp()
    return still, (1 + still) * (exponent / -2).tanh() / (1 - chance).clip(TINY)


def patiently(head_start: float, so_far: pl.Expr, place: pl.Expr, following: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Passing by `inverse_square(head_start - cumulated)`: a quotient of squares, and a sum of 1 / x^2."""
    start, end = place + (head_start - so_far), following + (head_start - 1 - so_far)
    return (start / end) ** 2, start**2 * (inverse_squares(start) - inverse_squares(end))


def inverse_squares(x: pl.Expr) -> pl.Expr:
    """Sum of 1 / y^2 over y = x, x + 1, ...: 16 terms, and the others by the Euler-Maclaurin formula."""
    z = 1 / (x + 16)
    beyond = z + z**2 * (1 / 2 + z * (1 / 6 - z**2 * (1 / 30 - z**2 * (1 / 42 - z**2 * (1 / 30 - z**2 * (5 / 66))))))
    return sum(((1 / (x + i)) ** 2 for i in range(15, -1, -1)), beyond)


def positions(depth: int) -> pl.Expr:
    """Gain at each position, from the gains of documents."""
    position = pl.int_range(1, depth + 1)
    index = AT.search_sorted(position, side="right")
    # A position has the gain of the document found there; the one before the first gains nothing.
    gains, met = (pl.lit(0.0).append(field) for field in (GAIN, MET))
    new = index != index.shift(1, fill_value=0)
    return pl.struct(
        position.cast(pl.Float64).alias("place"),
        pl.when(new).then(gains.gather(index)).otherwise(0.0).alias("gained"),
        gains.cum_sum().gather(index).alias("cumulated"),
        pl.when(new).then(met.gather(index)).otherwise(0.0).alias("met"),
    )


def walked(outcome: Outcome) -> Any:
    """Expected gain where the position and the cumulated gain decide: from position to position."""
    arrives = pl.element().struct.field("chance").cum_prod().shift(1, fill_value=1.0)
    return outcome(total(arrives * MET), total(arrives))
