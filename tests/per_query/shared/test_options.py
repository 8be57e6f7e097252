"""Options that a function does not have."""

import pytest

import polars_ir as ir

PYDOCS = ir.datasets.load("pydocs")
PER_QUERY = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["nDCG@10", "RR"])


@pytest.mark.parametrize("interval", ["t", "normal", "percentile", "BCa", "bootstrap-t"])
def test_a_gate_has_no_interval_that_lets_sparse_losses_pass(interval):
    with pytest.raises(ir.IRError, match=r"interval must be one of 'auto', 'bounded', 'anytime'; got"):
        ir.gate(PER_QUERY, PER_QUERY, "RR", interval=interval)
