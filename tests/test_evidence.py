"""The simulations of notebooks/evidence.md run, hold in a quick form what the page says, and have made its tables."""

from pathlib import Path

import pytest

from tests.bench import evidence
from tests.bench.figures import TOLD, WRONG, Figure, read, tables, unsimulated

stats = pytest.importorskip("scipy.stats")
pytest.importorskip("statsmodels")

ROOT = Path(__file__).parents[1]
RESULTS = read(ROOT / "tests/bench/evidence.jsonl")


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, marks=[] if part == "effects" else pytest.mark.whole("simulations"))
        for part in evidence.PARTS
    ],
)
def test_what_is_promised_holds_but_for_chance(part, tmp_path):
    n = min(evidence.SIZES_OF[evidence.PARTS[part]], key=lambda size: abs(size - 10))
    figures = list(evidence.PARTS[part](tmp_path / "no data", n, 10))
    assert figures
    for figure in figures:
        least, most = figure.promised
        spread = 5 * max(figure.error, (0.05 * 0.95 / figure.simulations) ** 0.5)
        assert least - spread <= figure.share <= most + spread, figure


def test_the_page_has_the_tables_of_the_results():
    page = (ROOT / "notebooks/evidence.md").read_text(encoding="utf-8")
    parts = {part for part, _ in RESULTS}
    assert parts <= set(evidence.PARTS)
    for part in parts:
        assert tables(part, evidence.PARTS[part].__doc__, RESULTS).strip() in page, part


def test_each_promise_is_simulated_and_holds():
    figures = [figure for of_part in RESULTS.values() for figure in of_part]
    assert not [figure for figure in figures if not figure.holds]
    assert not unsimulated(figures)
    assert unsimulated([figure for figure in figures if "ranks" not in figure.promise]) == ["ranks"]
    table = (ROOT / "notebooks/evidence.md").read_text(encoding="utf-8").split("that no part simulates:\n\n")[1]
    assert table.startswith("| promise | where |\n| --- | --- |\n\n")


def test_what_does_not_hold_is_marked():
    figures = [Figure("gate", "x", promised, 0.2, 0.01, 1000) for promised in (WRONG, TOLD)]
    assert [figure.holds for figure in figures] == [False, True]
    assert ".200 (10) **!**" in tables("gates", "", {("gates", 5): figures[:1]})
