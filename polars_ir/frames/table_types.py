"""The types of tables in signatures, which carry the kind of the first table to the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import polars as pl


class Foreign(Protocol):
    """A frame of narwhals."""

    def to_native(self) -> Any:
        """The frame of the library."""


class Relation(Protocol):
    """A relation of DuckDB."""

    def pl(self) -> Any:
        """The relation as a DataFrame."""


if TYPE_CHECKING:
    import pandas as pd
    import typing_extensions

    #: The kind of the first table of a call, which is that of the result.
    FrameT = typing_extensions.TypeVar("FrameT", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame", default=Any)

    #: The same, of a function that refuses a LazyFrame.
    EagerFrameT = typing_extensions.TypeVar("EagerFrameT", bound="pl.DataFrame | pd.DataFrame", default=Any)
else:
    FrameT, EagerFrameT = TypeVar("FrameT"), TypeVar("EagerFrameT")

#: A table; a dict of such by system, or nested dicts; rows; what converts to a frame. Arrow tables have no types.
Table: TypeAlias = (
    FrameT | Mapping[Any, FrameT] | Mapping[Any, Any] | list[Any] | tuple[Any, ...] | Iterator[Any] | Foreign | Relation
)
