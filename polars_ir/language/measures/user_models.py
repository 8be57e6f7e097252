"""Measures of a reader who goes on from one position to the next at random: each is one line, its continuation.

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

from collections.abc import Callable, Mapping
from functools import partial

import polars as pl

from polars_ir.language.measure import HIGHEST, Outputs, P, measure
from polars_ir.language.measures.positions import DEPTH, cumulated, inverse_square, over_places
from polars_ir.language.measures.readers import check_grades, expected_gain, of_a_model_of_ones_own, patiently, share
from polars_ir.language.options import Option, Value, is_number, not_negative, positive
from polars_ir.language.words import Discounted, discounted, rank, ranked, top, total

CWL = "Moffat et al. 2017, https://doi.org/10.1145/3052768; cwl_eval, https://github.com/ireval/cwl"

MIN_REL = Option(
    0,
    not_negative(HIGHEST),
    "The grade that gains nothing, as lower ones do not either; below `max_rel`. Gains are (grade - min_rel) / "
    "(max_rel - min_rel), from 0 to 1. Without a document that has a gain the measure is undefined.",
)
GOAL = Option(1, positive(HIGHEST), "The total gain that the reader wants; one document gains at most 1.")

# Below 0.25 the continuation of INST would exceed 1 after a document that gains 1.
INST_GOAL = Option(
    1, Value(f"a number from 0.25 to {HIGHEST:g}", lambda v: is_number(v) and 0.25 <= v <= HIGHEST), GOAL.meaning
)
CONTINUATION = Option(
    None,
    Value("a Polars expression", lambda v: isinstance(v, pl.Expr)),
    "The chance that the reader goes on, a Polars expression of `ir.place`, `ir.gained` and `ir.cumulated`; None: "
    "every reader does. The name of its output stands in the name of the measure, so give it one: `.alias('...')`.",
)


def of_readers(
    name: str,
    *,
    source: str,
    bounds: tuple[float, float] = (0.0, 1.0),
    also: Mapping[str, str] | None = None,
    monotone: bool = False,
    **parameters: Option,
) -> Callable[[Callable[P, pl.Expr | Outputs]], Callable[P, pl.Expr]]:
    """Register a measure of readers' gains, with a document's share of the highest grade as its gain."""
    return measure(
        name,
        bounds=bounds,
        source=source,
        also=also,
        parameters={"min_rel": MIN_REL, **parameters},
        monotone=monotone,
        reads_nonrelevant=False,
        gain=share,
    )


@of_readers("CWL", source=CWL, continuation=CONTINUATION)
def user_model(
    *, continuation: pl.Expr | None = None, k: int | None = None, min_rel: float = 0, max_rel: int = 1
) -> pl.Expr:
    """User model (C/W/L): the expected gain per document of readers who continue by a probability of your own.

    ::

        CWL@k = sum(W(i) gain(i), i = 1 .. k),  W(i + 1) = W(i) C(i),  W(1) + ... + W(k) = 1

    k is 1000 without a cutoff. The continuation C is the chance to go on from position `ir.place`, where `ir.gained`
    was gained and `ir.cumulated` from the top to there; one that leaves 0 to 1 is an error. Without one every reader
    goes on: the mean gain of the first k.

    Examples
    --------
    >>> impatient = ir.user_model(continuation=(0.5 * (1 - ir.gained)).alias("impatient"), k=2)
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, impatient)["CWL(continuation=impatient)@2"].round(6).item()
    0.333333
    """
    return of_a_model_of_ones_own("CWL", continuation, k=k, min_rel=min_rel, max_rel=max_rel)


@of_readers(
    "SDCG",
    source=f"Jarvelin and Kekalainen 2002, https://doi.org/10.1145/582415.582418; {CWL}",
    also={"ir_measures": "SDCG"},
    monotone=True,
)
def scaled_dcg(*, k: int | None = None, dcg: Discounted = "log2", min_rel: float = 0, max_rel: int = 1) -> pl.Expr:
    """Scaled discounted cumulated gain: DCG divided by that of k documents of the highest grade.

    ::

        SDCG@k = sum(gain(i) / log2(1 + i), i = 1 .. k) / sum(1 / log2(1 + i), i = 1 .. k)

    The user model with C(i) = log(i + 1) / log(i + 2): unlike nDCG it compares with what no query may have, k perfect
    documents (1000 without k). Gains are (grade - min_rel) / (max_rel - min_rel), from 0 to 1; with `dcg="exp-log2"`,
    which ir_measures has not, 2 to the power of both, less 1.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, ir.scaled_dcg(k=2))["SDCG@2"].round(6).item()
    0.386853
    """
    check_grades("SDCG", min_rel, max_rel)
    depth, value = DEPTH if k is None else k, share(min_rel=min_rel, max_rel=max_rel, dcg=dcg)
    found = total(ranked(value / discounted(rank), (value > 0) & top(depth)))
    # The divisor as a column: Polars divides by a constant by multiplying with its reciprocal.
    return pl.when((value > 0).any()).then(found / (0 * found + over_places(lambda at: 1 / discounted(at), depth)))


@of_readers(
    "BPM",
    source=f"Zhang et al. 2017, https://doi.org/10.1145/3077136.3080841; {CWL}",
    also={"ir_measures": "BPM"},
    T=GOAL,
)
def bejeweled_player(*, k: int | None = None, T: float = 1, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:  # noqa: N803
    """Bejeweled player model: the mean gain of a reader who stops once T is cumulated, or after k documents.

    ::

        BPM@k = (gain of the first n documents) / n,  n = min(k, rank at which T is gained)

    The user model with C(i) = 1 while less than T is cumulated, and 0 then: the static model of the paper. 1000
    documents without k.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2"]}, ir.bejeweled_player(k=10)).row(0)
    ('q', 0.5)
    """
    return expected_gain("BPM", cumulated < T, k=k, min_rel=min_rel, max_rel=max_rel)


@of_readers(
    "INSQ",
    source=f"Moffat et al. 2012, https://doi.org/10.1145/2407085.2407092; {CWL}",
    also={"ir_measures": "INSQ"},
    monotone=True,
    T=GOAL,
)
def insq(*, T: float = 1, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:  # noqa: N803
    """INSQ: the expected gain of a reader whose probability to continue grows with the rank.

    ::

        INSQ = sum(W(i) gain(i), i = 1 .. 1000),  W(i) ~ 1 / (i + 2 T - 1)^2

    The user model with C(i) = ((i + 2T - 1) / (i + 2T))^2, over 1000 positions: attention falls with the inverse square
    of the position.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1"]}, ir.insq())["INSQ"].round(6).item()
    0.388238
    """
    return expected_gain("INSQ", inverse_square(2 * T), min_rel=min_rel, max_rel=max_rel)


@of_readers(
    "INST",
    source=f"Moffat et al. 2015, https://doi.org/10.1145/2838931.2838938; {CWL}",
    also={"ir_measures": "INST"},
    T=INST_GOAL,
)
def inst(*, T: float = 1, min_rel: float = 0, max_rel: int = 1) -> pl.Expr:  # noqa: N803
    """INST: INSQ for a reader whose target T shrinks by the gain that is already cumulated.

    ::

        INST = sum(W(i) gain(i), i = 1 .. 1000),  W(i + 1) = W(i) ((i + 2 T - G(i) - 1) / (i + 2 T - G(i)))^2

    The user model with C(i) = ((i + 2T - G - 1) / (i + 2T - G))^2, G(i) being what is gained down to i, over 1000
    positions.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1"]}, ir.inst())["INST"].round(6).item()
    0.608297
    """
    chance, passing = inverse_square(2 * T - cumulated), partial(patiently, 2 * T)
    return expected_gain("INST", chance, min_rel=min_rel, max_rel=max_rel, passing=passing)
