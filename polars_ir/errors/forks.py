"""Forks of a process that had called us: the threads of Polars do not go with it, and a call would wait for them."""

from __future__ import annotations

import os


class Fork:
    """The state of the process: `used` is true once a function was called, `happened` in a fork of such a process."""

    used = False
    happened = False


def _in_child() -> None:
    Fork.happened |= Fork.used


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_in_child)
