"""Sums are those of fractions, rounded once, in any order and by either engine."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.statistics.exact import exact_sum

DRAW = np.random.default_rng(3)


@pytest.mark.parametrize(
    "values",
    [
        DRAW.random(300),
        DRAW.normal(0, 1, 300),
        DRAW.normal(0, 1e-99, 300),
        np.exp(DRAW.normal(0, 9, 300)),
        DRAW.random(300) * 2.0**-1060,
        [1e100, 1.0, 1e100, 0.0],
        [1e8, 0.1, -1e8],
        [0.0, -0.0],
    ],
)
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_sum_is_rounded_once(values, engine):
    rows = pl.DataFrame({"key": 1, "value": values})
    wanted = float(sum(map(Fraction, rows["value"]), Fraction()))
    for some in (rows, rows.reverse(), pl.concat([rows.tail(2), rows.head(-2)], rechunk=False)):
        found = some.lazy().group_by("key").agg(exact_sum(pl.col("value"))).collect(engine=engine)
        assert found["value"].item() == wanted


def test_what_is_no_number_is_not_left_out():
    with pytest.raises(pl.exceptions.InvalidOperationError):
        pl.DataFrame({"value": [0.5, float("nan"), 1.0]}).select(exact_sum(pl.col("value")))


@pytest.mark.parametrize(
    "values", [[0.1, 0.2, 0.3], [1e-30, 0.2, 0.3], [1e-30, 2e-30, 3e-30], [7.5, -0.25, 1e60], [0, 0, 0]]
)
def test_means_by_any_unit_are_exact_in_memory_and_close_as_a_plan(values):
    frame = pl.DataFrame({"query_id": range(3), "AP": pl.Series(values, dtype=pl.Float64)})
    wanted = float(sum(map(Fraction, frame["AP"]), Fraction())) / 3
    assert ir.mean(frame).item() == ir.summarize(frame)["mean"].item() == wanted
    assert ir.mean(frame.lazy()).collect().item() == pytest.approx(wanted, rel=1e-15)
