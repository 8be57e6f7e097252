"""The simulations of notebooks/evidence.md run, and hold in a quick form what the page says."""

import re

import pytest

from tests.bench import evidence

stats = pytest.importorskip("scipy.stats")

#: The columns of each part that are shares of wrong verdicts, nominally .05.
LEVELS = {
    "risk": slice(2, None),
    "drift": slice(4, 6),
    "interleaving": slice(1, None),
    "clusters": slice(3, None),
}


@pytest.mark.parametrize("part", LEVELS)
@pytest.mark.whole("simulations")
def test_a_share_of_wrong_verdicts_is_no_higher_than_chance_makes_it(part, capsys, tmp_path):
    evidence.PARTS[part](tmp_path / "no data", 40)
    rows = [re.split(r" *\| *", line)[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    shares = [float(cell) for row in rows[2:] for cell in row[LEVELS[part]]]
    assert shares
    assert max(shares) <= stats.binom.ppf(1 - 1e-4 / len(shares), 40, evidence.LEVEL) / 40


@pytest.mark.whole("simulations")
def test_intervals_of_slices_and_strata_hold_what_they_should(capsys, tmp_path):
    for part, columns in (("slices", slice(4, 5)), ("strata", slice(3, 4))):
        evidence.PARTS[part](tmp_path / "no data", 40)
        rows = [
            re.split(r" *\| *", line)[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("|")
        ]
        held = [float(cell) for row in rows[2:] for cell in row[columns] if cell]
        assert held
        assert min(held) >= stats.binom.ppf(1e-4, 40, 1 - evidence.LEVEL) / 40
