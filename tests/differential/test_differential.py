"""The package and the slow reference agree on random collections: DIFFERENTIAL_CASES many, of DIFFERENTIAL_SEED."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from suite import share

import polars_ir as ir

from . import generator, shrinking, thresholds
from .comparison import differences
from .reference.catalogue import EXPECTED, MEASURES

CASES = int(os.environ.get("DIFFERENTIAL_CASES", share(600, 100)))
SEED = int(os.environ.get("DIFFERENTIAL_SEED", "0"))

#: Cases are shared out among workers in so many parts.
PARTS = 10

OF_DOCUMENTS = [info.name for info in ir.CATALOG.values() if info.kind == "documents"]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.whole("a second a part", quick=4)
def test_random_collections_have_the_figures_of_the_reference(part):
    failures = [found for number in range(part, CASES, PARTS) if (found := shrinking.report(SEED, number))]
    assert not failures, "\n\n".join(failures[:3])


def test_every_measure_has_a_reference():
    # Measures of lists and of a history are counted by hand in tests/runs/test_lists.py.
    judged = {name for name, info in ir.CATALOG.items() if info.kind in ("documents", "subtopics", "preferences")}
    lacking = judged - MEASURES.keys()
    assert not lacking, f"write {sorted(lacking)} in plain Python in tests/differential/reference, and list it there"
    assert not MEASURES.keys() - ir.CATALOG.keys()


def test_the_reference_knows_which_measures_have_an_expectation():
    for name in OF_DOCUMENTS:
        try:
            ir.evaluate({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}, ir.CATALOG[name].function(), ties="expected")
        except ir.IRError:
            assert name not in EXPECTED
        else:
            assert name in EXPECTED


@pytest.mark.parametrize("name", thresholds.VALUES)
def test_the_package_has_every_threshold_that_is_set_at_random(name):
    with thresholds.set_to({name: 1}):
        assert thresholds.value_of(name) == 1
    assert thresholds.value_of(name) != 1


@pytest.mark.whole("hundreds of cases")
def test_a_wrong_figure_is_found_and_made_small(monkeypatch):
    monkeypatch.setitem(
        MEASURES, "Success", lambda ranking, **parameters: float(not parameters and bool(ranking.judged))
    )
    failing = next(case for number in range(200) if differences(case := generator.case(SEED, number)))
    small = shrinking.smallest(failing)
    assert differences(small)
    assert [asked.name for asked in small.measures] == ["Success"]
    assert len(small.collection.run) <= 2
    assert "ir.evaluate(run, qrels, ['Success'" in shrinking.as_python(small)


@pytest.mark.whole("two processes")
def test_the_number_of_threads_changes_no_bit():
    def of_process(**variables: str) -> str:
        return subprocess.run(  # noqa: S603  # this package's own command line
            [sys.executable, "-m", "tests.differential", "--cases", "60", "--seed", str(SEED), "--digest"],
            cwd=Path(__file__).parents[2],
            env={**os.environ, **variables},
            capture_output=True,
            check=True,
            text=True,
            encoding="utf-8",
        ).stdout

    one = of_process(POLARS_MAX_THREADS="1")
    assert one == of_process(POLARS_MAX_THREADS="8", POLARS_IDEAL_MORSEL_SIZE="3")
