"""What options can be."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import polars_ir as ir
from polars_ir import values


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (values.chance("alpha", np.float32(0.5)), 0.5),
        (values.chance("alpha", Fraction(1, 4)), 0.25),
        (values.not_negative("tolerance", 0), 0.0),
        (values.positive("std", np.int64(2)), 2.0),
        (values.whole("seed", np.uint8(7), 0), 7),
    ],
)
def test_a_number_of_any_kind_is_made_pythons(found, value):
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("value", [True, None, "1", float("nan"), float("inf"), -1, [1], pl.col("x"), np.array([1, 2])])
@pytest.mark.parametrize(
    "check",
    [
        lambda value: values.chance("it", value),
        lambda value: values.not_negative("it", value),
        lambda value: values.positive("it", value),
        lambda value: values.whole("it", value, 0),
        lambda value: values.one_of("it", value, ("a", "b")),
    ],
)
def test_what_is_none_is_an_error_that_shows_it(check, value):
    with pytest.raises(ir.IRError) as error:
        check(value)
    assert str(error.value).startswith("it must be ")
    assert f"got {value!r}." in str(error.value)


def test_a_range_is_told():
    with pytest.raises(ir.IRError, match="n must be a whole number from 2 to 1,000; got 1001"):
        values.whole("n", 1001, 2, 1000)
    with pytest.raises(ir.IRError, match=r"alpha must be between 0 and 0.5, both excluded; got 0.5\."):
        values.chance("alpha", 0.5, below=0.5)
