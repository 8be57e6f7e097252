"""The version of this package, of those that are installed."""

from importlib.metadata import version

__version__ = version("polars_ir")
