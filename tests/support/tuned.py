"""Other thresholds between plans, so that a small collection takes the way of a large one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polars_ir.engine import tuning


def tune(monkeypatch: pytest.MonkeyPatch, **thresholds: float) -> None:
    """Replace some thresholds while a test runs, and take no table for a small one, which has a way of its own."""
    monkeypatch.setattr(tuning, "TUNING", replace(tuning.TUNING, **{"small": 0, **thresholds}))
