"""A bar where somebody watches, and nothing elsewhere."""

import io
import sys

import pytest

from polars_ir.cli.inputs import progress

FILES = ["a.run", "b.run", "c.run"]


class Stderr(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def taken(monkeypatch: pytest.MonkeyPatch, things: list[str], *, terminal: bool) -> str:
    """The text of stderr once the things were taken."""
    stderr = Stderr(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stderr)
    assert list(progress(things, "files")) == things
    return stderr.getvalue()


def test_a_terminal_shows_how_far_it_is(monkeypatch):
    pytest.importorskip("tqdm")
    assert "0/3" in taken(monkeypatch, FILES, terminal=True)


def test_nothing_is_shown_where_nobody_watches(monkeypatch):
    assert taken(monkeypatch, FILES, terminal=False) == ""


def test_one_thing_needs_no_bar(monkeypatch):
    assert taken(monkeypatch, FILES[:1], terminal=True) == ""


def test_the_bar_is_left_out_without_tqdm(monkeypatch):
    monkeypatch.setattr("polars_ir.cli.inputs.find_spec", lambda _: None)
    assert taken(monkeypatch, FILES, terminal=True) == ""
