"""Tests and intervals over arrays of numbers, by SciPy and statsmodels: everything that needs the extra `stats`."""
