"""Budgets: a cutoff by what the documents cost, such as the tokens of a prompt, in the place of their number.

Conventions: in rank order the costs of all retrieved documents add up, judged or not. The number of documents that
count is a column of the relation whose *name* says of which budget; to skip a document that does not fit is no choice,
since recall would then fall where the budget grows.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.language.options import Option, Value, is_number, one_of
from polars_ir.language.parametrised import ParametrisedColumns

#: The largest budget.
HIGHEST = 1e15

#: The parameters of measures with a budget.
BUDGET = {
    "budget": Option(
        None,
        Value(f"a number above 0, to {HIGHEST:g}", lambda value: is_number(value) and 0 < value <= HIGHEST),
        "The most that the documents that count may cost together; None: no limit. With k both hold.",
    ),
    "cost": Option(
        "tokens",
        Value("the name of a column of the run", lambda value: isinstance(value, str) and value != ""),
        "The column of the run with what each document costs.",
    ),
    "over": Option(
        "stop",
        one_of("stop", "include")._replace(
            wanted="one of 'stop', 'include' (to skip a document and go on would lower recall as the budget grows)"
        ),
        "The document that crosses the budget: 'stop' counts those above it, 'include' that one, too. Below documents "
        "that cost just the budget it is the next.",
    ),
}


class Budget(NamedTuple):
    """A budget, the column of costs, and what counts of the document that crosses it."""

    budget: float
    cost: str
    over: str


#: Columns of the number of documents of a ranking within a budget.
WITHIN = ParametrisedColumns("within", Budget)


def cutoff(k: int | None, budget: float | None, cost: str, over: str) -> int | pl.Expr | None:
    """The number of documents that count.

    >>> cutoff(5, None, "tokens", "stop"), cutoff(None, 4000, "tokens", "stop").meta.root_names()
    (5, ["within(budget=4000, cost='tokens', over='stop')"])
    """
    if budget is None:
        given = [
            f"{name}={value!r}" for name, value in (("cost", cost), ("over", over)) if value != BUDGET[name].default
        ]
        if given:
            raise MeasureError(f"a measure with {' and '.join(given)} needs a budget.", fix="Give one: budget=4000")
        return k
    within = WITHIN.column(Budget(budget, cost, over)).first()
    return within if k is None else within.clip(upper_bound=k)
