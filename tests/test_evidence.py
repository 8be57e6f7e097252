"""The promises that docstrings and the book make of tests and intervals, by a short form of tests/bench/evidence.py."""

import runpy
from pathlib import Path

import pytest

EVIDENCE = Path(__file__).parent / "bench" / "evidence.py"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "robust03"


@pytest.mark.whole("simulations")
@pytest.mark.parametrize("part", ["comparisons", "ranks", "summaries", "plans", "looks", "gates", "choices"])
def test_what_is_promised_holds(part):
    evidence = runpy.run_path(str(EVIDENCE))
    assert part in [each.__name__ for each in evidence["PROMISES"]]
    figures = list(evidence["PARTS"][part](DATA, 8 if part == "looks" else 24))
    assert figures
    assert [figure for figure in figures if not figure.holds] == []
