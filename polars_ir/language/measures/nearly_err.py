"""Nearly expected reciprocal rank: user models (conventions: `user_models`) of a reader satisfied by a document."""

from __future__ import annotations

import polars as pl

from polars_ir.language.measures.positions import gained, harmonic, inverse_square, over_places, place
from polars_ir.language.measures.readers import AT, Usual, expected_gain
from polars_ir.language.measures.user_models import GOAL, of_readers

NERR = "Azzopardi et al. 2021, https://doi.org/10.1145/3471158.3472239"


@of_readers("NERR8", source=f"{NERR} (equation 8)", also={"ir_measures": "NERR8"})
def nearly_err_8(*, k: int | None = None, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:
    """Nearly expected reciprocal rank: the gain of a reader who stops at a document with the probability of its gain.

    ::

        NERR8@k = sum(W(i) gain(i), i = 1 .. k),  W(i + 1) = W(i) (1 - gain(i))

    The user model with C(i) = 1 - gain(i) over the first k positions, 1000 without k.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.nearly_err_8(k=10)).row(0)
    ('q', 0.5)
    """
    return expected_gain("NERR8", 1 - gained, k=k, min_rel=min_rel, max_rel=max_rel)


def harmonic_readers(depth: int) -> Usual:
    """Readers who get to the i-th position with probability 1 / i."""
    all_read = over_places(lambda at: 1 / at, depth)
    return Usual(1 / AT, -AT.log(), harmonic(AT) - 1 / AT, (AT + 1) * (all_read - harmonic(AT)), all_read)


@of_readers("NERR9", source=f"{NERR} (equation 9)", also={"ir_measures": "NERR9"})
def nearly_err_9(*, k: int | None = None, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:
    """Nearly expected reciprocal rank with the discount of ERR: NERR8 for a reader who also loses patience.

    ::

        NERR9@k = sum(W(i) gain(i), i = 1 .. k),  W(i + 1) = W(i) i / (i + 1) (1 - gain(i))

    The user model with C(i) = i / (i + 1) * (1 - gain(i)) over the first k positions, 1000 without k.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.nearly_err_9(k=10))["NERR9@10"].round(6).item()
    0.333333
    """
    chance = place / (place + 1) * (1 - gained)
    return expected_gain("NERR9", chance, k=k, min_rel=min_rel, max_rel=max_rel, usual=harmonic_readers)


@of_readers("NERR10", source=f"{NERR} (equation 10)", also={"ir_measures": "NERR10"})
def nearly_err_10(*, p: float = 0.9, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:
    """Nearly expected reciprocal rank with the persistence of RBP: NERR8 for a reader who may give up at any document.

    ::

        NERR10 = sum(W(i) gain(i), i = 1 .. 1000),  W(i + 1) = W(i) p (1 - gain(i))

    The user model with C(i) = p * (1 - gain(i)), over 1000 positions.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.nearly_err_10())["NERR10"].round(6).item()
    0.473684
    """
    return expected_gain("NERR10", p * (1 - gained), min_rel=min_rel, max_rel=max_rel)


@of_readers("NERR11", source=f"{NERR} (equation 11)", also={"ir_measures": "NERR11"}, T=GOAL)
def nearly_err_11(*, T: float = 1, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:  # noqa: N803
    """Nearly expected reciprocal rank with the patience of INSQ: NERR8 for a reader who wants to gain T.

    ::

        NERR11 = sum(W(i) gain(i), i = 1 .. 1000),  W(i + 1) = W(i) ((i + 2 T - 1) / (i + 2 T))^2 (1 - gain(i))

    The user model with C(i) = ((i + 2T - 1) / (i + 2T))^2 * (1 - gain(i)), over 1000 positions.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.nearly_err_11())["NERR11"].round(6).item()
    0.307692
    """
    return expected_gain("NERR11", inverse_square(2 * T) * (1 - gained), min_rel=min_rel, max_rel=max_rel)
