"""A case: a collection, what is asked of it, how its tables are handed over, and which plan is taken."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .reference.rows import Asked, Collection, Options
from .tables import Tables


@dataclass(frozen=True)
class Case:
    """A collection with a call of `evaluate`; `by_name` is whether measures are asked for by their names."""

    collection: Collection
    measures: tuple[Asked, ...]
    options: Options = field(default_factory=Options)
    by_name: bool = False
    tables: Tables = field(default_factory=Tables)
    thresholds: Mapping[str, int] = field(default_factory=dict)
