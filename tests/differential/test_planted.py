"""The differential cases find bugs that were planted by hand."""

import functools
from collections.abc import Sequence

import pytest

from . import planted, shrinking
from .case import Case
from .comparison import differences

#: So many cases of the seed 0 are to find each of the bugs; the suite runs more.
CASES = 2000


@functools.cache
def cases(part: int) -> Sequence[Case]:
    """A hundredth of the cases."""
    size = CASES // 100
    return [case for number in range(part * size, (part + 1) * size) for case in shrinking.both(0, number)]


@pytest.mark.parametrize("bug", planted.BUGS, ids=lambda bug: bug.about)
@pytest.mark.whole("up to 2,000 cases a bug")
def test_a_planted_bug_is_found(bug: planted.Bug) -> None:
    concerned = (case for part in range(100) for case in cases(part) if bug.concerns(case))
    with planted.planted(bug):
        assert any(map(differences, concerned)), f"{CASES} cases do not find that {bug.about}"


def test_what_is_planted_is_gone_afterwards() -> None:
    bug = planted.BUGS[0]
    code = planted.found(bug.function).__code__
    with planted.planted(bug):
        assert planted.found(bug.function).__code__ is not code
    assert planted.found(bug.function).__code__ is code


def test_a_bug_that_no_longer_fits_is_told() -> None:
    with (
        pytest.raises(AssertionError, match="is 0 times in engine"),
        planted.planted(planted.BUGS[0]._replace(right="what was there once")),
    ):
        pass
