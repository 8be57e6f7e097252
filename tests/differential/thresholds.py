"""The thresholds that decide which plan is taken: set in the package for as long as a case lasts.

This is the one place that knows how the package keeps them: as one value, `tuning.TUNING`.
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pytest

from polars_ir.engine import tuning

#: Values of each: the plan on its one side for every collection, on its other for every one, and for some.
VALUES = {
    # Rows from which on tables in memory are put together by numbers, or as a plan of large ones.
    "small": (0, 0, 20, 10**9),
    # Judgments a query from which on rankings are sorted.
    "deep": (0, 2, 4, 24, 10**9),
    # Judgments a query from which on large tables in memory are put together by numbers.
    "numbered": (0, 2, 8, 10**9),
    # Rows of a ranking that stand together from which on they are said to.
    "together": (0, 4, 10**9),
    # Rows of a ranking for each judgment up to which they are numbered.
    "short": (0, 1, 32, 10**9),
    # Rows from which on judgments are joined by the streaming engine.
    "streaming_join": (0, 20, 10**9),
    # Rows up to which a run is searched for duplicates whole.
    "searched_rows": (0, 20, 10**9),
    # Rows from which on runs are ranked by steps.
    "counted": (0, 20, 10**9),
    # Rows from which on plans are streamed.
    "streaming_rows": (0, 20, 10**9),
    # Rows for each judgment from which on rows are left out by their hashes before anything is joined or numbered.
    "sparse": (0, 1, 16, 10**9),
    # Rows from which on measures of relevant documents are grouped apart from others.
    "apart": (0, 20, 10**9),
    # Mean row count of a ranking up to which identical ones are grouped once.
    "alike": (0, 8, 10**9),
    # The size of the tables of hashes.
    "slots": (0, 1, 16),
}


#: With these a run in memory is taken for a large one with few judgments, which draws of each would seldom make it.
OF_LARGE_RUNS = {
    **dict.fromkeys(["small", "short", "searched_rows", "counted", "streaming_rows", "sparse"], 0),
    **dict.fromkeys(["deep", "numbered", "together"], 10**9),
}


def chosen(chance: random.Random) -> dict[str, int]:
    """Some thresholds at random; the others stay as they are."""
    if chance.random() < 0.1:
        return {**OF_LARGE_RUNS, "slots": chance.choice(VALUES["slots"])}
    return {name: chance.choice(values) for name, values in VALUES.items() if chance.random() < 0.7}


@contextmanager
def set_to(thresholds: Mapping[str, int]) -> Iterator[None]:
    """The package with these thresholds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "TUNING", replace(tuning.TUNING, **thresholds))
        yield


def value_of(name: str) -> int:
    """The value of a threshold."""
    value: int = getattr(tuning.TUNING, name)
    return value
