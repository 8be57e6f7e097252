"""Blocks that an old and a new text share: lines, then sentences, words and characters of what changed in those."""

from __future__ import annotations

import difflib
import os.path
import re
from collections import Counter
from collections.abc import Iterator

#: What stands for a gap between chunks in old and in new texts: no characters, and never the same on both sides.
OLD_GAP, NEW_GAP = "\uffff", "\ufffe"
GAP = f"{NEW_GAP}{OLD_GAP}"

#: The units in which texts are aligned, each within what changed in those before: lines, sentences, words.
UNITS = tuple(
    map(
        re.compile,
        (
            rf"[{GAP}]|[^\n{GAP}]*\n+|[^\n{GAP}]+",
            rf"[{GAP}]|[^{GAP}]+?(?:[.!?]+\s+|[。！？]+\s*|(?=[{GAP}])|\Z)",  # noqa: RUF001  # not those of ASCII
            rf"[{GAP}]|\s*[^\s{GAP}]+\s*|\s+",
        ),
    )
)

#: A number in a unit, and what stands for the characters of a unit that no part of another is like.
NUMBER, UNLIKE = re.compile(r"\d+"), "\ufdd0"

#: Minimum share of the shorter of two texts that must be the same; below it, common words are chance.
ALIKE = 0.5

#: Number of pairs of equal parts above which frequent parts are taken for junk: each pair is looked at repeatedly.
MOST_PAIRS = 1_000_000

#: Largest number of characters that are aligned one by one.
MOST_CHARACTERS = 3000


def matching(text: str, other: str, units: tuple[re.Pattern[str], ...] = UNITS) -> Iterator[tuple[int, int, int]]:
    """The blocks that two texts share, in order: the place in each, and the length.

    >>> list(matching("one two three", "one 2 three"))
    [(0, 0, 4), (8, 6, 5)]
    """
    unit, *finer = units
    parts, others = unit.findall(text), unit.findall(other)
    places, other_places = _places(parts), _places(others)
    counts = Counter(others)
    n_pairs = sum(count * counts[part] for part, count in Counter(parts).items())
    opcodes = difflib.SequenceMatcher(None, parts, others, autojunk=n_pairs > MOST_PAIRS).get_opcodes()
    for kind, start, end, first, last in opcodes:
        place, other_place = places[start], other_places[first]
        if kind == "equal":
            yield place, other_place, places[end] - place
        elif kind == "replace":
            old, new = parts[start:end], others[first:last]
            inner = "".join(_unlike(old, new) if len(finer) == 1 else old), "".join(new)
            yield from ((place + one, other_place + two, size) for one, two, size in _refined(*inner, tuple(finer)))


def moved(text: str, other: str, blocks: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The blocks of lines and sentences that stand once in each text, in another order, and are in none of `blocks`."""
    taken, other_taken = bytearray(len(text)), bytearray(len(other))
    found: list[tuple[int, int, int]] = []
    new = blocks
    for unit in UNITS[:2]:
        for place, other_place, length in new:
            taken[place : place + length] = other_taken[other_place : other_place + length] = b"\1" * length
        places, other_places = _once(text, unit, taken), _once(other, unit, other_taken)
        new = [(place, other_places[each], len(each)) for each, place in places.items() if each in other_places]
        found += new
    return found


def _once(text: str, unit: re.Pattern[str], taken: bytearray) -> dict[str, int]:
    """The places of units that stand once in a text, without the blanks around them, and have no character taken."""
    places: dict[str, list[int]] = {}
    for each in unit.finditer(text):
        places.setdefault(each[0].strip(), []).append(each.end() - len(each[0].lstrip()))
    return {
        each: place
        for each, (place, *others) in places.items()
        if each not in GAP and not others and taken.find(1, place, place + len(each)) < 0
    }


def _unlike(sentences: list[str], others: list[str]) -> Iterator[str]:
    """Sentences without those that differ from another one by numbers alone, as the items of a list do."""
    known, numbered = ("\0".join(of(each.strip()) for each in others) for of in (str, _numbered))
    whole = set(numbered.split("\0"))
    for before, each, after in zip(["", *sentences], sentences, [*sentences[1:], ""], strict=False):
        own = each.strip()
        is_other = NUMBER.search(own) and _numbered(own) in whole
        # Beside a gap or an end a sentence may be cut, and what is left of it may be a number.
        if NUMBER.search(own) and not own.isdigit() and not {before, after}.isdisjoint(("", OLD_GAP)):
            is_other = own not in known and _numbered(own) in numbered
        yield re.sub(r"\S", UNLIKE, each) if is_other else each


def _numbered(unit: str) -> str:
    """A unit with one number for all."""
    return NUMBER.sub("0", unit)


def _refined(text: str, other: str, units: tuple[re.Pattern[str], ...]) -> list[tuple[int, int, int]]:
    """The blocks that two texts without a common unit share, if these are enough."""
    head = _common(text, other)
    # Beside a gap a unit is cut, and the same as far as it goes.
    head = head if _is_cut(text[head:], 0) or _is_cut(other[head:], 0) else 0
    tail = _common(text[head:][::-1], other[head:][::-1])
    rest, new = text[head : len(text) - tail], other[head : len(other) - tail]
    if not (_is_cut(rest, -1) or _is_cut(new, -1)):
        tail, rest, new = 0, text[head:], other[head:]
    inner = list(matching(rest, new, units)) if units and rest and new else _by_characters(rest, new)
    found = [(0, 0, head), *((head + one, head + two, size) for one, two, size in inner)]
    found = [each for each in (*found, (len(text) - tail, len(other) - tail, tail)) if each[2]]
    shorter = min(sum(each not in GAP for each in side) for side in (text, other))
    return found if sum(size for *_, size in found) >= ALIKE * shorter else []


def _is_cut(rest: str, side: int) -> bool:
    """True of a text that is at its end, or at a gap, on a side."""
    return not rest or rest[side] in GAP


def _common(text: str, other: str) -> int:
    """The length of the common beginning of two texts."""
    return len(os.path.commonprefix([text, other]))  # noqa: RUF071  # by characters is meant


def _by_characters(text: str, other: str) -> list[tuple[int, int, int]]:
    """The blocks that two words share, which may be a text in a script without spaces."""
    if not text or not other or len(text.split()) > 1 or len(other.split()) > 1:
        return []
    head = _common(text, other)
    tail = _common(text[head:][::-1], other[head:][::-1])
    rest, new = text[head : len(text) - tail], other[head : len(other) - tail]
    found = [(0, 0, head)]
    if max(len(rest), len(new)) <= MOST_CHARACTERS:
        blocks = difflib.SequenceMatcher(None, rest, new, autojunk=False).get_matching_blocks()
        found += [(head + one, head + two, size) for one, two, size in blocks]
    found = [each for each in (*found, (len(text) - tail, len(other) - tail, tail)) if each[2]]
    # Single characters are in any long word.
    return found if sum(size for *_, size in found) >= ALIKE * max(len(text), len(other)) else []


def _places(parts: list[str]) -> list[int]:
    """The places where parts begin, and the end."""
    places = [0]
    for part in parts:
        places.append(places[-1] + len(part))
    return places
