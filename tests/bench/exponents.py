"""The exponents of what once grew faster than its work: each is measured while the work doubles four times.

`python exponents.py` writes a line for each, and fails where an exponent is above its limit.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial

import polars as pl

import polars_ir as ir

#: Growth that is allowed beyond that of the work itself, for a loaded machine.
SLACK = 0.35


def chain(n: int) -> Callable[[], object]:
    """Preferences of one document to the next, of which n^2 / 2 follow."""
    pairs = pl.DataFrame({"query_id": "q", "preferred": range(n), "other": range(1, n + 1)})
    return lambda: ir.evaluate({"q": [1, 2]}, pairs, "prefs_simp")


def _figures(n: int) -> pl.DataFrame:
    return pl.DataFrame({"query_id": range(50), **{f"m{i}": [(i * q % 7) / 7 for q in range(50)] for i in range(n)}})


def long(n: int) -> Callable[[], object]:
    """Figures of n measures as rows."""
    return partial(ir.long, _figures(n))


def mean_of_long(n: int) -> Callable[[], object]:
    """The mean of rows of n measures."""
    return partial(ir.mean, ir.long(_figures(n)))


def compare_of_plan(n: int) -> Callable[[], object]:
    """All pairs of n systems, of a plan."""
    rows = {"run": [f"s{i:03d}" for i in range(n) for _ in range(50)], "query_id": [*range(50)] * n}
    values = pl.DataFrame(rows).with_columns(AP=(pl.int_range(pl.len()) * 7919 % 101) / 101)
    return lambda: ir.compare(values.lazy()).collect()


def bounded_gate(n: int) -> Callable[[], object]:
    """The verdict on n queries by bounds that hold for any distribution."""
    new, old = (pl.DataFrame({"query_id": range(n), "AP": [i * of % 101 / 101 for i in range(n)]}) for of in (7, 11))
    return lambda: ir.gate(new, old, "AP", max_drop=0.05, interval="bounded")


#: Each with its first size, and the exponent of its work.
CASES = {
    chain: (300, 2.0),
    long: (100, 1.0),
    mean_of_long: (100, 1.0),
    compare_of_plan: (12, 2.0),
    bounded_gate: (600, 1.0),
}


def seconds(call: Callable[[], object]) -> float:
    """CPU-seconds of a call, the best of three."""
    found = []
    for _ in range(3):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def main() -> int:
    """Write the exponents; 1 if one is too high."""
    warnings.simplefilter("ignore", ir.IRWarning)
    failed = False
    for case, (first, limit) in CASES.items():
        times = [seconds(case(first * 2**doubled)) for doubled in range(5)]
        # The first doublings are of what any call costs.
        exponent = math.log2(times[-1] / times[-3]) / 2
        failed |= exponent > limit + SLACK
        listed = " ".join(f"{each:.3f}" for each in times)
        sys.stdout.write(f"{case.__name__:16} t^{exponent:.2f} (work {limit:g}) {listed}\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
