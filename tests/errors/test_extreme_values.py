"""Values at the ends of their types are an error of ours, or give the figure that they stand for."""

import math
from fractions import Fraction

import polars as pl
import pytest

import polars_ir as ir

RUN = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
QRELS = pl.DataFrame({"query_id": ["q"], "doc_id": ["b"], "relevance": [1]})
FIGURES = pl.DataFrame({"query_id": range(8), "AP": [0.25, 0.5] * 4})
SYSTEMS = {"a": FIGURES, "b": FIGURES.with_columns(AP=pl.col("AP") + 0.25)}
HUGE = 10**400

REFUSED = {
    "alpha": lambda: ir.compare(SYSTEMS, alpha=1e-320),
    "alpha of an interval": lambda: ir.summarize(FIGURES, alpha=1e-170),
    "a range": lambda: ir.gate(FIGURES, FIGURES, "AP", ranges={"AP": (0, HUGE)}),
    "floors that are no dict": lambda: ir.assert_no_worse(FIGURES, FIGURES, floors=3),
    "a floor": lambda: ir.assert_no_worse(FIGURES, FIGURES, floors={"AP": HUGE}),
    "a fraction beyond the floats": lambda: ir.gate(FIGURES, FIGURES, "AP", max_drop=Fraction(HUGE, 3)),
    "comparisons": lambda: ir.power(std=1, n_queries=9, comparisons=HUGE),
    "draws of queries": lambda: ir.level(SYSTEMS, n=10**30),
    "a query id": lambda: ir.explain(RUN, QRELS, "AP", HUGE),
    "an impression": lambda: ir.interleave(RUN, RUN, impression=HUGE),
    "a grade": lambda: ir.parse(f"P(rel={HUGE})"),
}

#: Cutoffs beyond all that a table can have stand for all.
ALL = {
    "coverage": lambda k: ir.coverage(RUN, QRELS, k=k),
    "top_k": lambda k: ir.top_k(RUN, k),
    "hardest": lambda k: ir.hardest(FIGURES, "AP", n=k),
    "explain": lambda k: ir.explain(RUN, QRELS, "AP", "q", depth=k),
}


@pytest.mark.parametrize("value", REFUSED)
def test_a_value_beyond_its_type_is_an_error_of_ours(value):
    with pytest.raises(ir.IRError):
        REFUSED[value]()


@pytest.mark.parametrize("function", ALL)
def test_a_cutoff_beyond_all_tables_stands_for_all(function):
    assert ALL[function](10**30).equals(ALL[function](100))
    assert ALL[function](HUGE).equals(ALL[function](100))


@pytest.mark.parametrize("small", [5e-324, 1e-320, 1e-200, 1e-170, 1e-162])
def test_figures_whose_squares_are_zero_have_means(small):
    figures = FIGURES.with_columns(pl.col("AP") * small)
    assert math.isclose(ir.mean(figures)["AP"].item(), figures["AP"].mean(), rel_tol=1e-9, abs_tol=5e-324)
    assert ir.summarize(figures, interval="normal").height == 1
