"""Names in a message: those there are, and those that may have been meant by another."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

#: How many names a message lists: of more the first ones, and how many others there are.
LISTED = 30


def nearest(name: str, names: Iterable[str]) -> str:
    """` Did you mean ...?` with the names closest to `name`, or nothing: those it abbreviates, or else those alike.

    >>> nearest("HR", ["R", "hit_rate"]), nearest("ndgc", ["ndcg", "P"]), nearest("q", ["P"])
    (" Did you mean 'hit_rate'?", " Did you mean 'ndcg'?", '')
    """
    return did_you_mean(alike(name, names))


def did_you_mean(names: Iterable[str]) -> str:
    """` Did you mean ...?` with some names, each once, or nothing where there are none."""
    meant = " or ".join(map(repr, dict.fromkeys(names)))
    return f" Did you mean {meant}?" if meant else ""


def alike(name: str, names: Iterable[str]) -> list[str]:
    """Those of the names that are meant by another, perhaps; at most three."""
    by_fold = {n.casefold(): n for n in names}
    abbreviated = [n for n in by_fold.values() if len(name) > 1 and _initials(n) == name.casefold()][:3]
    return abbreviated or [by_fold[m] for m in difflib.get_close_matches(name.casefold(), by_fold, n=3, cutoff=0.6)]


def _initials(name: str) -> str:
    """The first letters of the words of a name: `hr` of `hit_rate` and of `HitRate`."""
    return "".join(re.findall(r"^[a-z]|(?<=_)[a-z]|[A-Z]", name)).casefold()


def closest(accepted: Iterable[str], names: Iterable[str]) -> str | None:
    """The name that is most like one of the accepted ones, however little; None if there is no name.

    >>> closest(["score", "sim"], ["title", "bm25_score"])
    'bm25_score'
    """
    wanted = [name.casefold() for name in accepted]

    def likeness(name: str) -> float:
        return max(difflib.SequenceMatcher(None, name.casefold(), one).ratio() for one in wanted)

    return max(names, key=likeness, default=None)


def quoted(names: Iterable[object]) -> str:
    """Names in a row, for a message; of very many the first."""
    listed = list(names)
    others = f" and {len(listed) - LISTED:,} others" if len(listed) > LISTED else ""
    return ", ".join(map(repr, listed[:LISTED])) + others or "no columns"
