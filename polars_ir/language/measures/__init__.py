"""Every measure, one file a family: the listing of this folder is the catalogue.

Conventions: a measure is a function of keyword parameters that returns an aggregation of the judged relation.
`@measure` names it, checks its parameters and completes its docstring; `words` has the expressions to write it with.
Type checkers read the stub beside this file.
"""

from importlib import import_module
from pkgutil import iter_modules

from polars_ir.language.catalog import CATALOG

for _family in iter_modules(__path__):
    import_module(f"{__name__}.{_family.name}")

_MEASURES = {info.function.__name__: info.function for info in CATALOG.values()}
# A measure with the name of its file.
globals().update(_MEASURES, __all__=sorted(_MEASURES))
