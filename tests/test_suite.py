"""The quick suite has its shares, and the whole one everything."""

import suite
from hypothesis import settings


def test_shares_are_those_of_the_suite(pytestconfig):
    whole = pytestconfig.getoption("whole")
    assert suite.is_whole() is whole
    assert suite.share(2000) == (2000 if whole else 200)
    assert suite.share(7) == (7 if whole else 5)
    assert suite.examples(300).max_examples == 3 * settings().max_examples
    assert suite.examples(4).max_examples == 4
