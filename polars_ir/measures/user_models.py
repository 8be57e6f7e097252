"""Measures of a reader who goes on from one position to the next by chance: each is one line, its continuation.

Conventions (C/W/L; cwl_eval computes the same)
    * A continuation C is the chance that a reader goes on from a position to the next: an expression of `place`,
      `gained` and `cumulated`, and of nothing else.
    * The reader begins at position 1, so that W(i), the share of attention that position i has, is
      C(1) * ... * C(i - 1) over the sum of these products. The measure is the sum of W(i) * gain(i).
    * A list has `k` positions, or 1000 as in cwl_eval, however many documents were retrieved. A document that was not
      judged gains nothing.
    * A gain is (grade - min_rel) / (max_rel - min_rel); grades outside count as the nearer of the two. Undefined when
      no document has a gain.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.parameters import Parameter, number, positive
from polars_ir.registry import measure
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

CWL = "Moffat et al. 2017, https://doi.org/10.1145/3052768; cwl_eval, https://github.com/ireval/cwl"
#: From what was gained and the positions of two documents: which share of the readers below the first gets to the
#: second, and how many of the positions between them they read.
Passing = Callable[[pl.Expr, pl.Expr, pl.Expr], tuple[pl.Expr, pl.Expr]]

NERR = "Azzopardi et al. 2021, https://doi.org/10.1145/3471158.3472239"

MIN_REL = Parameter(
    "The grade that gains nothing, as lower ones do not either; below `max_rel`.",
    "a number of 0 or more",
    lambda v: number(v) and v >= 0,
)
GOAL = Parameter(
    "How much the reader wants to gain in all; one document gains at most 1.", "a number above 0", positive
)
# Below 0.25 the continuation of INST would exceed 1 after a document that gains 1.
INST_GOAL = Parameter(GOAL.meaning, "a number of 0.25 or more", lambda v: number(v) and v >= 0.25)
CONTINUATION = Parameter(
    "The chance that the reader goes on, a Polars expression of `ir.place`, `ir.gained` and `ir.cumulated`; None: "
    "every reader does. The name of its output stands in the name of the measure, so give it one: `.alias('...')`.",
    "a Polars expression",
    lambda v: isinstance(v, pl.Expr),
)

#: What the engine quotes when a continuation turns out to be no chance.
OUTSIDE = "polars_ir: CWL: continuation must be between 0 and 1 at every position"


@measure(
    "CWL",
    source=CWL,
    parameters={"continuation": CONTINUATION, "min_rel": MIN_REL},
)
def user_model(
    *, continuation: pl.Expr | None = None, k: int | None = None, min_rel: float = 0, max_rel: int = 1
) -> pl.Expr:
    """Expected gain per document of readers who go on by a chance of your own.

    The sum of W(i) * gain(i), with W(i + 1) = W(i) * C(i) and W adding up to 1 over the first k positions, 1000 without
    k. The continuation C is the chance to go on from position `ir.place`, where `ir.gained` was gained and
    `ir.cumulated` from the top to there; one that leaves 0 to 1 is an error. Without one every reader goes on: the mean
    gain of the first k. Gains are (grade - min_rel) / (max_rel - min_rel), from 0 to 1. Undefined when no document has
    a gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> impatient = ir.user_model(continuation=(0.5 * (1 - ir.gained)).alias("impatient"), k=2)
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, impatient)["CWL(continuation=impatient)@2"].round(6).item()
    0.333333
    """
    chance = pl.lit(1.0) if continuation is None else checked(continuation)
    value = expected_gain("CWL", chance, k=k, min_rel=min_rel, max_rel=max_rel)
    # What the gains of a query make of it is known to the engine alone, where a text that is no number is an error.
    return value.cast(pl.String).str.replace("NaN", OUTSIDE, literal=True).cast(pl.Float64)


@measure(
    "SDCG",
    source=f"Jarvelin and Kekalainen 2002, https://doi.org/10.1145/582415.582418; {CWL}",
    also={"ir_measures": "SDCG"},
    parameters={"min_rel": MIN_REL},
    monotone=True,
)
def scaled_dcg(*, k: int | None = None, dcg: Discounted = "log2", min_rel: float = 0, max_rel: int = 1) -> pl.Expr:
    """Scaled discounted cumulated gain: DCG out of that of k documents of the highest grade.

    The user model with C(i) = log(i + 1) / log(i + 2): unlike nDCG it compares with what no query may have, k perfect
    documents (1000 without k). Gains are (grade - min_rel) / (max_rel - min_rel), from 0 to 1; with `dcg="exp-log2"`,
    which ir_measures has not, 2 to the power of both, less 1. Undefined when no document has a gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, ir.scaled_dcg(k=2))["SDCG@2"].round(6).item()
    0.386853
    """
    chance = (place + 1).log() / (place + 2).log()
    return expected_gain("SDCG", chance, k=k, min_rel=min_rel, max_rel=max_rel, dcg=dcg)


@measure(
    "BPM",
    source=f"Zhang et al. 2017, https://doi.org/10.1145/3077136.3080841; {CWL}",
    also={"ir_measures": "BPM"},
    parameters={"T": GOAL, "min_rel": MIN_REL},
)
def bejeweled_player(
    *,
    k: int | None = None,
    T: float = 1,  # noqa: N803
    min_rel: float = 0,
    max_rel: int = 1,
) -> pl.Expr:
    """Bejeweled player model: the mean gain of a reader who stops on having gained T, or after k documents.

    The user model with C(i) = 1 while less than T is cumulated, and 0 then: the static model of the paper. 1000
    documents without k. Gains are (grade - min_rel) / (max_rel - min_rel), from 0 to 1. Undefined when no document has
    a gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.bejeweled_player(k=10)).row(0)
    ('q', 0.5)
    """
    return expected_gain("BPM", cumulated < T, k=k, min_rel=min_rel, max_rel=max_rel)


@measure(
    "INSQ",
    source=f"Moffat et al. 2012, https://doi.org/10.1145/2407085.2407092; {CWL}",
    also={"ir_measures": "INSQ"},
    parameters={"T": GOAL, "min_rel": MIN_REL},
    monotone=True,
)
def insq(*, T: float = 1, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:  # noqa: N803
    """INSQ: the gain of a reader whose patience grows with the number of documents already read.

    The user model with C(i) = ((i + 2T - 1) / (i + 2T))^2, over 1000 positions: attention falls with the inverse square
    of the position. Gains are (grade - min_rel) / (max_rel - min_rel), from 0 to 1. Undefined when no document has a
    gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1"]}, ir.insq())["INSQ"].round(6).item()
    0.388238
    """
    return expected_gain("INSQ", inverse_square(2 * T), min_rel=min_rel, max_rel=max_rel)


@measure(
    "INST",
    source=f"Moffat et al. 2015, https://doi.org/10.1145/2838931.2838938; {CWL}",
    also={"ir_measures": "INST"},
    parameters={"T": INST_GOAL, "min_rel": MIN_REL},
)
def inst(*, T: float = 1, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:  # noqa: N803
    """INST: INSQ for a reader who needs less and less to stop the more was gained.

    The user model with C(i) = ((i + 2T - G - 1) / (i + 2T - G))^2, G being what is cumulated down to i, over 1000
    positions. Gains are (grade - min_rel) / (max_rel - min_rel), from 0 to 1. Undefined when no document has a gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1"]}, ir.inst())["INST"].round(6).item()
    0.608297
    """
    chance, passing = inverse_square(2 * T - cumulated), partial(patiently, 2 * T)
    return expected_gain("INST", chance, min_rel=min_rel, max_rel=max_rel, passing=passing)


@measure(
    "NERR8",
    source=f"{NERR} (equation 8)",
    also={"ir_measures": "NERR8"},
    parameters={"min_rel": MIN_REL},
)
def nearly_err_8(*, k: int | None = None, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:
    """Nearly expected reciprocal rank: the gain of a reader whom each document satisfies by the chance of its gain.

    The user model with C(i) = 1 - gain(i) over the first k positions, 1000 without k. Gains are
    (grade - min_rel) / (max_rel - min_rel), from 0 to 1. Undefined when no document has a gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.nearly_err_8(k=10)).row(0)
    ('q', 0.5)
    """
    return expected_gain("NERR8", 1 - gained, k=k, min_rel=min_rel, max_rel=max_rel)


@measure(
    "NERR9",
    source=f"{NERR} (equation 9)",
    also={"ir_measures": "NERR9"},
    parameters={"min_rel": MIN_REL},
)
def nearly_err_9(*, k: int | None = None, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:
    """Nearly expected reciprocal rank with the discount of ERR: NERR8 for a reader who also loses patience.

    The user model with C(i) = i / (i + 1) * (1 - gain(i)) over the first k positions, 1000 without k. Gains are
    (grade - min_rel) / (max_rel - min_rel), from 0 to 1. Undefined when no document has a gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.nearly_err_9(k=10))["NERR9@10"].round(6).item()
    0.333333
    """
    return expected_gain("NERR9", place / (place + 1) * (1 - gained), k=k, min_rel=min_rel, max_rel=max_rel)


@measure(
    "NERR10",
    source=f"{NERR} (equation 10)",
    also={"ir_measures": "NERR10"},
    parameters={"min_rel": MIN_REL},
)
def nearly_err_10(*, p: float = 0.9, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:
    """Nearly expected reciprocal rank with the persistence of RBP: NERR8 for a reader who may give up at any document.

    The user model with C(i) = p * (1 - gain(i)), over 1000 positions. Gains are
    (grade - min_rel) / (max_rel - min_rel), from 0 to 1. Undefined when no document has a gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.nearly_err_10())["NERR10"].round(6).item()
    0.473684
    """
    return expected_gain("NERR10", p * (1 - gained), min_rel=min_rel, max_rel=max_rel)


@measure(
    "NERR11",
    source=f"{NERR} (equation 11)",
    also={"ir_measures": "NERR11"},
    parameters={"T": GOAL, "min_rel": MIN_REL},
)
def nearly_err_11(*, T: float = 1, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:  # noqa: N803
    """Nearly expected reciprocal rank with the patience of INSQ: NERR8 for a reader who wants to gain T.

    The user model with C(i) = ((i + 2T - 1) / (i + 2T))^2 * (1 - gain(i)), over 1000 positions. Gains are
    (grade - min_rel) / (max_rel - min_rel), from 0 to 1. Undefined when no document has a gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.nearly_err_11())["NERR11"].round(6).item()
    0.307692
    """
    return expected_gain("NERR11", inverse_square(2 * T) * (1 - gained), min_rel=min_rel, max_rel=max_rel)


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
    grade, highest = gain().clip(min_rel, max_rel) - min_rel, float(max_rel - min_rel)
    if dcg == "exp-log2":
        grade, highest = 2.0**grade - 1.0, 2.0**highest - 1.0
    # The highest gain as a column: Polars divides by a constant by multiplying with its reciprocal.
    value = grade / (0 * grade + highest)
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
