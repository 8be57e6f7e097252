"""A bar for what takes long, where somebody watches.

Conventions: only the command line asks for one; a call in a program or a notebook prints nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TypeVar

T = TypeVar("T")


def progress(items: Sequence[T], unit: str) -> Iterable[T]:
    """The same things, with a bar on stderr as they are taken, if that is a terminal and tqdm is installed."""
    if len(items) < 2 or not sys.stderr.isatty() or not find_spec("tqdm"):
        return items
    from tqdm import tqdm  # type: ignore[import-untyped]  # it brings no types

    bar: Iterable[T] = tqdm(items, unit=f" {unit}", leave=False)
    return bar
