"""Two suites: `pytest` leaves out what is marked `whole`, and `pytest --whole` runs everything."""

import gc
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import pytest
import suite  # noqa: F401  # registers the profiles
from hypothesis import settings


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="run everything, with all examples")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "whole(why, quick=0): left out without --whole, but for a case drawn from each of `quick` parts"
    )
    settings.load_profile("whole" if config.getoption("whole") else "quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("whole"):
        return
    cases = defaultdict(list)
    for item in items:
        if marker := item.get_closest_marker("whole"):
            cases[item.nodeid.partition("[")[0], marker.kwargs.get("quick", 0)].append(item)
    left_out = set().union(*cases.values())
    for (test, quick), of_test in cases.items():
        chance = random.Random(test)
        parts = min(quick, len(of_test))
        borders = [len(of_test) * part // parts for part in range(parts + 1)] if parts else []
        left_out -= {of_test[chance.randrange(*part)] for part in pairwise(borders)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Keep the tests out of garbage collections, of which statsmodels starts one at each correction."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def scratch_catalog() -> Iterator[None]:
    """Take out again what a test adds to the catalogue."""
    import polars_ir as ir

    ours = set(ir.CATALOG)
    yield
    for name in ir.CATALOG.keys() - ours:
        del ir.CATALOG[name]
