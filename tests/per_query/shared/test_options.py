"""Options that have another name now, or none."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir import plots

PYDOCS = ir.datasets.load("pydocs")
PER_QUERY = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["nDCG@10", "RR"])

#: With weights, plans are added up in order, too.
WEIGHTS = PER_QUERY.select("query_id", weight=1).unique()


@pytest.mark.parametrize(
    "call",
    [
        lambda **level: ir.summarize(PER_QUERY, **level),
        lambda **level: PER_QUERY.lazy().ir.summarize(weights=WEIGHTS, interval="normal", **level).collect(),
        lambda **level: ir.ranks(PER_QUERY, **level),
        lambda **level: ir.rank_correlation(PER_QUERY, **level),
        lambda **level: plots.ranks(PER_QUERY, "RR", **level).data,
        lambda **level: plots.cutoffs(PYDOCS.runs, PYDOCS.qrels, k=[1, 5], **level).data,
    ],
)
def test_a_confidence_is_1_less_alpha_and_deprecated(call):
    with pytest.warns(
        DeprecationWarning, match=r"\(confidence=\) is deprecated and goes in version 0\.4; write alpha="
    ) as issued:
        former = call(confidence=0.8)
    assert [warning.filename for warning in issued] == [__file__]
    assert_frame_equal(former, call(alpha=1 - 0.8), check_exact=True)
    with pytest.raises(ir.IRError, match="confidence and alpha are one option"):
        call(confidence=0.8, alpha=0.2)
    with pytest.raises(ir.IRError, match="confidence must be between 0 and 1, both excluded; got 80"):
        call(confidence=80)


def test_a_gate_draws_nothing_and_says_so():
    new, old = (PER_QUERY.filter(run=run).drop("run") for run in ("tfidf", "bm25"))
    with pytest.warns(DeprecationWarning, match=r"gate\((resamples|seed)=\) is deprecated .* write nothing for it, as"):
        former = ir.gate(new, old, "RR", resamples=10, seed=3)
    assert_frame_equal(former, ir.gate(new, old, "RR"), check_exact=True)


@pytest.mark.parametrize("interval", ["t", "normal", "percentile", "BCa", "bootstrap-t"])
def test_a_gate_has_no_interval_that_lets_sparse_losses_pass(interval):
    with pytest.raises(ir.IRError, match=r"interval must be one of 'auto', 'bounded', 'anytime'; got"):
        ir.gate(PER_QUERY, PER_QUERY, "RR", interval=interval)


@pytest.mark.parametrize("function", [ir.worst_slices, ir.drift])
def test_former_options_of_groups_are_taken_with_a_warning(function):
    kinds = pl.DataFrame({"query_id": PER_QUERY["query_id"].unique(), "kind": 1})
    with pytest.warns(DeprecationWarning, match=r"\(test=\) is deprecated .* write nothing for it"):
        former = function(PER_QUERY, kinds, test="permutation")
    assert_frame_equal(former, function(PER_QUERY, kinds), check_exact=True)
