"""Tests and intervals over arrays of numbers, by SciPy and statsmodels: everything that needs the extra `stats`."""

#: Numbers nearer to 0 are scaled before they are squared or cubed: the results would leave the floats.
TINY = 2.0**-200
