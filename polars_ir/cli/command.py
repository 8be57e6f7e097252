"""What a command is: its arguments, what it computes, and when that is a finding."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import polars as pl


class Command(NamedTuple):
    """A command of the shell: `run` gives the frame to show, and `status` the exit status that tells what was found."""

    name: str
    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], pl.DataFrame]
    status: Callable[[pl.DataFrame], int] = lambda _: 0
