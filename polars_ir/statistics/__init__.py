"""Tests and intervals on arrays of numbers, by SciPy and statsmodels: all that needs the extra `stats`."""
