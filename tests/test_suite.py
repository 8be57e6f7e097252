"""The quick suite has its shares, and the whole one everything."""

import suite
from hypothesis import settings


def test_shares_are_those_of_the_suite(pytestconfig):
    assert suite.is_whole() is pytestconfig.getoption("whole")
    assert suite.share(2000) == 20 * settings().max_examples
    assert suite.share(7) == (7 if suite.is_whole() else 5)
    assert suite.examples(300).max_examples == suite.share(300)
