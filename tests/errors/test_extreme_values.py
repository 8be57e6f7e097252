"""Values at the ends of their types are an error of ours, or give the figure that they stand for."""

import math
import random
from fractions import Fraction

import polars as pl
import polars.selectors as cs
import pytest
from polars.testing import assert_frame_equal

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


def drawn(seed, shift):
    draw = random.Random(seed)
    values = [abs(draw.random() + shift + draw.gauss(0, 0.1)) for _ in range(100)]
    return pl.DataFrame({"query_id": range(100), "latency": values, "lang": ["de", "en"] * 50})


#: Two systems by a measure without a range, and their figures times a power of two, whose squares are 0.
SIZED, UNIT = {"a": drawn(1, 0.0), "b": drawn(2, 0.05)}, 2.0**-570
TINY = {name: frame.with_columns(pl.col("latency") * UNIT) for name, frame in SIZED.items()}

#: Figures without the unit of the measure, beside those of names, counts and notes.
WITHOUT_UNIT = ("n_effective", "p", "power", "TRisk", "statistic", "relative_difference", "cohen_d", "rank_biserial")


def gate(systems, **options):
    verdict = ir.gate(systems["a"], systems["b"], "latency", max_drop=0, **options)
    return verdict.select("verdict", "passed", "difference", "low", "high", "p")


SCALED = {
    **{f"{kind} interval": (ir.summarize, {"interval": kind}) for kind in ("auto", "normal", "t")},
    **{f"{kind} interval": (ir.summarize, {"interval": kind, "resamples": 999}) for kind in ("BCa", "bootstrap-t")},
    **{test: (ir.compare, {"test": test}) for test in ("auto", "t", "wilcoxon")},
    **{test: (ir.compare, {"test": test, "resamples": 999}) for test in ("max-t", "bootstrap")},
    "power": (ir.power, {"n_queries": 50}),
    "pilot": (ir.power, {"n_queries": 50, "method": "pilot"}),
    "risk": (ir.risk, {"baseline": "a"}),
    "hardest": (ir.hardest, {"measure": "latency"}),
    "gate": (gate, {"ranges": {"latency": (0, math.inf)}}),
}


@pytest.mark.parametrize("name", SCALED)
def test_tiny_figures_have_the_results_of_larger_ones(name):
    function, options = SCALED[name]
    wanted, found = function(SIZED, **options), function(TINY, **options)
    of_unit = cs.float() - cs.matches(rf"^({'|'.join(WITHOUT_UNIT)})(_|$)")
    assert_frame_equal(found, wanted.with_columns(of_unit * UNIT), rel_tol=1e-6, abs_tol=1e-250)


@pytest.mark.parametrize("small", [1e-170, 1e-310])
def test_sums_of_a_plan_that_would_be_zero_say_so(small):
    plans = {name: frame.lazy().with_columns(pl.col("latency") * small) for name, frame in SIZED.items()}
    with pytest.raises(ir.IRError, match=r"too small to be .*Collect it first"):
        ir.compare(plans).collect()
    assert set(ir.summarize(plans).collect()["note"].str.contains("too small to be squared")) == {True}
    worst = ir.worst_slices(plans["a"], "lang", "latency").collect()
    assert set(worst["note"]) == {"the values are too small to be squared"}
