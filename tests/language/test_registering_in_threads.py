"""Measures are registered by some threads while others read the catalogue."""

import sys
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

import polars_ir as ir


@pytest.fixture
def _restless():
    """Threads that take turns as often as can be, and a catalogue that is as before in the end."""
    catalog, interval = dict(ir.CATALOG), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    ir.CATALOG.clear()
    ir.CATALOG.update(catalog)


def register(thread: int) -> None:
    for number in range(40):

        @ir.measure(f"Mine {thread} {number}", bounds=(0, 1), source="nobody's")
        def _mine() -> pl.Expr:
            return (1 / ir.rank).max()


def read(_: int) -> None:
    for number in range(1, 20):
        assert ir.parse(f"P@{number}").meta.output_name() == f"P@{number}"
        assert ir.catalog().height >= 70


@pytest.mark.usefixtures("_restless")
def test_the_catalogue_is_read_while_measures_are_registered():
    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(register if thread % 2 else read, thread) for thread in range(8)]
        for future in futures:
            future.result()
