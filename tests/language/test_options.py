"""The values of options."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.errors import ExtraError
from polars_ir.language.options import anything, chance, check, not_negative, one_of, or_none, positive, public, whole
from polars_ir.version import requirement


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (check("alpha", np.float32(0.5), chance()), 0.5),
        (check("alpha", Fraction(1, 4), chance()), 0.25),
        (check("tolerance", 0, not_negative()), 0.0),
        (check("std", np.int64(2), positive()), 2.0),
        (check("seed", np.uint8(7), whole(0)), 7),
        (check("top", np.uint8(7), or_none(whole(0))), 7),
        (check("margin", 0.5, anything()), 0.5),
    ],
)
def test_a_number_of_any_kind_is_made_pythons(found, value):
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("value", [True, None, "1", float("nan"), float("inf"), -1, [1], pl.col("x"), np.array([1, 2])])
@pytest.mark.parametrize(
    "wanted", [chance(), not_negative(), positive(), whole(0), one_of("a", "b")], ids=lambda value: value.wanted
)
def test_what_is_none_is_an_error_that_shows_it(wanted, value):
    with pytest.raises(ir.IRError) as error:
        check("it", value, wanted)
    assert str(error.value).startswith("it must be ")
    assert f"got {value!r}." in str(error.value)


def test_a_range_is_told():
    with pytest.raises(ir.IRError, match="n must be a whole number from 2 to 1,000; got 1001"):
        check("n", 1001, whole(2, 1000))
    with pytest.raises(ir.IRError, match=r"alpha must be at least 1e-09 and below 0.5; got 0.5\."):
        check("alpha", 0.5, chance(below=0.5))


@pytest.mark.parametrize(("module", "error"), [("scipy.stats", ExtraError), ("theirs", ModuleNotFoundError)])
def test_a_function_names_the_extra_that_is_not_installed(module, error):
    @public()
    def compare():
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    with pytest.raises(error) as caught:
        compare()
    needs = f"ir.compare needs an optional dependency: pip install {requirement('stats')}."
    assert str(caught.value) == (needs if error is ExtraError else "No module named 'theirs'")


@pytest.mark.parametrize(
    ("name", "test"), [("ttest", "t"), ("Student", "t"), ("fisher", "randomisation"), ("wilcox", "wilcoxon")]
)
def test_a_test_has_the_names_of_other_tools(name, test):
    per_query = {
        s: pl.DataFrame({"query_id": ["a", "b", "c"], "AP": values})
        for s, values in {"a": [0.1, 0.2, 0.4], "b": [0.3, 0.1, 0.5]}.items()
    }
    assert ir.compare(per_query, test=name).equals(ir.compare(per_query, test=test))
