"""Tests and intervals over arrays of numbers, by SciPy and statsmodels: everything that needs the extra `stats`.

Its modules are imported when one is first read, so that whoever needs one can import this package at the top.
"""

from polars_ir.lazy import lazy

lazy(__name__)
