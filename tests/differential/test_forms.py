"""One call in many forms gives the same rows: FORMS_CASES many, and bugs of each kind are found."""

import os

import pytest
from suite import share

from . import forms, planted

CASES = int(os.environ.get("FORMS_CASES", share(600, 100)))
SEED = int(os.environ.get("DIFFERENTIAL_SEED", "0"))

#: Cases are shared out among workers in so many parts.
PARTS = 5


@pytest.mark.parametrize("part", range(PARTS))
def test_every_form_of_a_call_gives_the_same_rows(part):
    found = [line for number in range(part, CASES, PARTS) for line in forms.differences(SEED, number)]
    assert not found, "\n".join(found[:3])


@pytest.mark.parametrize("bug", planted.OF_FORMS, ids=lambda bug: bug.about)
@pytest.mark.whole("up to a hundred cases a bug")
def test_a_planted_bug_of_a_form_is_found(bug):
    with planted.planted(bug):
        assert any(forms.differences(0, number) for number in range(800)), f"800 cases do not find that {bug.about}"
