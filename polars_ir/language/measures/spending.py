"""Total gain and costs of the readers of a user model: the other outputs of C/W/L.

The model is given by its continuation, as to `user_model`: RBP's is `pl.lit(p)`, and INST's with T = 1 `((ir.place + 1
- ir.cumulated) / (ir.place + 2 - ir.cumulated)) ** 2`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import polars as pl

from polars_ir.language.measure import Outputs, P, measure, named
from polars_ir.language.measures.readers import of_a_model_of_ones_own, share
from polars_ir.language.measures.user_models import CONTINUATION, CWL, MIN_REL, of_readers
from polars_ir.language.options import Option, Value

COST = Option(
    None,
    Value("a column, or a Polars expression with a name of its own", named),
    "The cost of reading a document, a column of the run or an expression with a name of its own; None: 1. What has no "
    "cost, and every position below the list, costs 1.",
)


def of_costs(name: str) -> Callable[[Callable[P, pl.Expr | Outputs]], Callable[P, pl.Expr]]:
    """Register a measure of what readers spend, whose best value is 0."""
    parameters = {"continuation": CONTINUATION, "min_rel": MIN_REL, "cost": COST}
    return measure(name, bounds=(0.0, math.inf), best=0.0, source=CWL, parameters=parameters, gain=share)


@of_readers("CWL_total", bounds=(0.0, math.inf), source=CWL, continuation=CONTINUATION)
def expected_total_gain(
    *, continuation: pl.Expr | None = None, k: int | None = None, min_rel: float = 0, max_rel: int = 1
) -> pl.Expr:
    """Expected total gain: the gain down to where readers stop, who continue by a probability of your own.

    ::

        CWL_total@k = sum(C(1) * ... * C(i - 1) * gain(i), i = 1 .. k)

    k is 1000 without a cutoff. It is `user_model` times the positions that readers expect to read. Whoever gets to the
    last of them stops there; cwl_eval, whose EU this is, leaves those out.

    Examples
    --------
    >>> half = pl.lit(0.5).alias("half")
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d2"]}, ir.expected_total_gain(continuation=half)).row(0)
    ('q', 1.5)
    """
    grades = {"min_rel": min_rel, "max_rel": max_rel}
    return of_a_model_of_ones_own("CWL_total", continuation, k=k, outcome=lambda met, _: met, **grades)


@of_costs("CWL_cost")
def expected_cost(
    *,
    continuation: pl.Expr | None = None,
    cost: pl.Expr | None = None,
    k: int | None = None,
    min_rel: float = 0,
    max_rel: int = 1,
) -> pl.Expr:
    """Expected cost per document of readers who continue by a probability of your own: seconds, characters or money.

    ::

        CWL_cost@k = sum(W(i) cost(i), i = 1 .. k)

    W as in `user_model`: cwl_eval's EC/I. `user_model` divided by it is the gain per unit of cost. 1 without a cost;
    undefined when no document has a gain.

    Examples
    --------
    >>> run = pl.DataFrame({"query_id": "q", "doc_id": ["d1", "d2"], "score": [2, 1], "seconds": [9, 3]})
    >>> ir.evaluate(run, {"q": ["d1"]}, ir.expected_cost(cost=pl.col("seconds"), k=2)).row(0)
    ('q', 6.0)
    """
    parameters = {"cost": pl.lit(1.0) if cost is None else cost, "min_rel": min_rel, "max_rel": max_rel}
    # Each position costs 1, and a document there what it costs beyond.
    return of_a_model_of_ones_own("CWL_cost", continuation, k=k, outcome=lambda met, read: 1 + met / read, **parameters)


@of_costs("CWL_total_cost")
def expected_total_cost(
    *,
    continuation: pl.Expr | None = None,
    cost: pl.Expr | None = None,
    k: int | None = None,
    min_rel: float = 0,
    max_rel: int = 1,
) -> pl.Expr:
    """Expected total cost: what readers spend down to where they stop; without a cost, how many documents they read.

    ::

        CWL_total_cost@k = sum(C(1) * ... * C(i - 1) * cost(i), i = 1 .. k)

    k is 1000 without a cutoff. It is cwl_eval's EC, and its I without a cost. Whoever gets to the last of them stops
    there; cwl_eval leaves those out of EC.

    Examples
    --------
    >>> satisfied = (1 - ir.gained).alias("satisfied")
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, ir.expected_total_cost(continuation=satisfied)).row(0)
    ('q', 2.0)
    """
    parameters = {"cost": pl.lit(1.0) if cost is None else cost, "min_rel": min_rel, "max_rel": max_rel}
    return of_a_model_of_ones_own("CWL_total_cost", continuation, k=k, outcome=operator.add, **parameters)
