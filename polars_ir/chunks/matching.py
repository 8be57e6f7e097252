"""Blocks that an old and a new text share: lines, then sentences, words and characters of what changed in those."""

from __future__ import annotations

import difflib
import os.path
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

#: The place of a block in the old text and in the new one, and its length.
Block = tuple[int, int, int]

#: What stands for a gap between chunks in old and in new texts: no characters, and never the same on both sides.
OLD_GAP, NEW_GAP = "\uffff", "\ufffe"
GAP = f"{NEW_GAP}{OLD_GAP}"

#: What stands for each character of an old and of a new text that is aligned with nothing, or is aligned already.
OLD_MASK, NEW_MASK = "\ufdd0", "\ufdd1"
MASK = f"{OLD_MASK}{NEW_MASK}"

#: The units in which texts are aligned, each within what changed in those before: lines, sentences, words.
UNITS = tuple(
    map(
        re.compile,
        (
            rf"[{GAP}]|[{MASK}]+|[^\n{GAP}{MASK}]*\n+|[^\n{GAP}{MASK}]+",
            rf"[{GAP}]|[{MASK}]+|[^{GAP}{MASK}]+?(?:[.!?]+\s+|[。！？]+\s*|(?=[{GAP}{MASK}])|\Z)",  # noqa: RUF001  # not those of ASCII
            rf"[{GAP}]|[{MASK}]+|\s*[^\s{GAP}{MASK}]+\s*|\s+",
        ),
    )
)

#: A number, one that ends a text so far, what goes on with it, and numbers or characters.
NUMBER, CUT = re.compile(r"\d+(?:[.,]\d+)*"), re.compile(r"\d[\d.,]*\Z")
GOES_ON, CHARACTER = re.compile(r"[.,]?\d"), re.compile(r"\d+(?:[.,]\d+)*|\D")

#: Minimum share of the shorter of two texts that must be the same; below it, common words are chance.
ALIKE = 0.5

#: Minimum length of a beginning, or an end, cut by a gap, that is the same text whatever the rest of its unit is.
LONG = 20

#: Number of pairs of equal parts above which frequent parts are taken for junk: each pair is looked at repeatedly.
MOST_PAIRS = 1_000_000

#: Number of parts of both texts above which these are cut at the parts that stand once in both.
MOST_PARTS = 1000

#: Largest number of characters that are aligned one by one.
MOST_CHARACTERS = 3000


def aligned_blocks(text: str, other: str) -> list[Block]:
    """The blocks that two texts share: lines and sentences that stand once in each, wherever, and what is between them.

    >>> aligned_blocks("One. Two. Three. ", "Two. Three! One. ")
    [(0, 12, 5), (5, 0, 5), (10, 5, 5), (16, 11, 1)]
    """
    # What changed in its place must take no part of a line that is elsewhere as it was.
    sides = [*text], [*other]
    found = _exact(text, other, sides)
    one = two = 0
    for place, other_place, size in [*_in_order(sorted(found)), (len(text), len(other), 0)]:
        between = "".join(sides[0][one:place]), "".join(sides[1][two:other_place])
        found += _shifted(matching(*between, cut=(not one, place == len(text))), one, two)
        one, two = place + size, other_place + size
    return found


def matching(
    text: str, other: str, units: tuple[re.Pattern[str], ...] = UNITS, cut: tuple[bool, bool] = (True, True)
) -> Iterator[Block]:
    """The blocks that two texts share in the same order; `cut` is true of the sides on which the text may go on.

    >>> list(matching("one two three", "one 2 three"))
    [(0, 0, 4), (8, 6, 5)]
    """
    unit, *finer = units
    parts, others = unit.findall(text), unit.findall(other)
    places, other_places = _places(parts), _places(others)
    for kind, start, end, first, last in _steps(parts, others):
        place, other_place = places[start], other_places[first]
        if kind == "equal":
            yield place, other_place, places[end] - place
        elif kind == "replace":
            before = parts[start - 1] == OLD_GAP if start else cut[0]
            after = parts[end] == OLD_GAP if end < len(parts) else cut[1]
            inner = _replaced(parts[start:end], others[first:last], tuple(finer), (before, after))
            yield from _shifted(inner, place, other_place)


def _steps(parts: list[str], others: list[str]) -> list[tuple[str, int, int, int, int]]:
    """The opcodes of difflib; long lists are cut at parts that stand once in both, as it takes quadratic time."""
    counts, other_counts = Counter(parts), Counter(others)
    n_pairs = sum(count * other_counts[part] for part, count in counts.items())
    anchors = []
    if min(len(parts), len(others)) > MOST_PARTS:
        places = {part: place for place, part in enumerate(others) if other_counts[part] == counts[part] == 1}
        anchors = _in_order([(place, places[part], 1) for place, part in enumerate(parts) if part in places])
    steps: list[tuple[str, int, int, int, int]] = []
    one = two = 0
    for place, other_place, size in [*anchors, (len(parts), len(others), 0)]:
        between = parts[one:place], others[two:other_place]
        matcher = difflib.SequenceMatcher(None, *between, autojunk=n_pairs > MOST_PAIRS)
        found: list[tuple[str, int, int, int, int]] = [*matcher.get_opcodes()]
        found += [("equal", place - one, place - one + size, other_place - two, other_place - two + size)] * size
        steps += [(kind, one + start, one + end, two + first, two + last) for kind, start, end, first, last in found]
        one, two = place + size, other_place + size
    return steps


def _exact(text: str, other: str, sides: tuple[list[str], list[str]]) -> list[Block]:
    """The blocks of lines, and of sentences in no such line, that stand once in each text; masks them in `sides`."""
    found: list[Block] = []
    for unit in UNITS[:2]:
        places, other_places = _once(text, unit, sides[0]), _once(other, unit, sides[1])
        for each, place in places.items():
            if each in other_places:
                found.append(_with_blanks(sides, (place, other_places[each], len(each))))
                for side, start, mask in zip(sides, found[-1], MASK, strict=False):
                    side[start : start + found[-1][2]] = [mask] * found[-1][2]
    return found


def _once(text: str, unit: re.Pattern[str], masked: list[str]) -> dict[str, int]:
    """The places of units that stand once in a text, without the blanks around them, and have no character masked."""
    places: dict[str, list[int]] = {}
    for each in unit.finditer(text):
        places.setdefault(each[0].strip(), []).append(each.end() - len(each[0].lstrip()))
    return {
        each: place
        for each, (place, *others) in places.items()
        if each not in GAP and not others and "".join(masked[place : place + len(each)]) == each
    }


def _in_order(pairs: list[Block]) -> list[Block]:
    """The longest part of blocks, sorted by their place in one text, that has its order in the other one, too."""
    ends: list[int] = []
    numbers: list[int] = []
    before: list[int] = []
    for number, (_, place, _) in enumerate(pairs):
        at = bisect_left(ends, place)
        ends[at : at + 1], numbers[at : at + 1] = [place], [number]
        before.append(numbers[at - 1] if at else -1)
    chain = numbers[-1:]
    while chain and before[chain[-1]] >= 0:
        chain.append(before[chain[-1]])
    return [pairs[number] for number in reversed(chain)]


def _with_blanks(sides: tuple[list[str], list[str]], block: Block) -> Block:
    """A block, with what is the same and not masked of the blanks behind it, and of an indentation before it."""
    (text, other), (one, two, size) = sides, block
    room = min(len(text) - one, len(other) - two)
    while size < room and text[one + size] == other[two + size] and text[one + size].isspace():
        size += 1
    indent = 0
    # A line break before is that of another line.
    while indent < min(one, two) and text[one - indent - 1] == other[two - indent - 1] in (" ", "\t"):
        indent += 1
    indent = indent if indent == one or text[one - indent - 1] == "\n" else 0
    return one - indent, two - indent, size + indent


def _replaced(
    old: list[str], new: list[str], finer: tuple[re.Pattern[str], ...], cut: tuple[bool, bool]
) -> Iterator[Block]:
    """The blocks of units that were replaced: twins by numbers one by one, and what is between them together."""
    # Of words, numbers alone say nothing.
    twins = _twins(old, new) if finer else []
    old = list(_unlike(old, new, cut)) if finer else old
    places, other_places = _places(old), _places(new)
    one = two = 0
    for last, other_last, n in [*twins, (len(old), len(new), 0)]:
        for start, end, first, final in ((one, last, two, other_last), (last, last + n, other_last, other_last + n)):
            sides = cut[0] and not start, cut[1] and end == len(old)
            found = _refined("".join(old[start:end]), "".join(new[first:final]), finer, sides)
            yield from _shifted(found, places[start], other_places[first])
        one, two = last + n, other_last + n


def _shifted(blocks: Iterator[Block] | list[Block], place: int, other_place: int) -> Iterator[Block]:
    """The blocks of texts that begin at these places."""
    yield from ((place + one, other_place + two, size) for one, two, size in blocks)


def _twins(old: list[str], new: list[str]) -> list[Block]:
    """The numbers of units that differ by numbers alone, of which there are as many in both, as blocks of one each."""
    forms: tuple[dict[str, list[int]], dict[str, list[int]]] = {}, {}
    for side, units in zip(forms, (old, new), strict=True):
        for number, each in enumerate(units):
            if NUMBER.search(each):
                side.setdefault(_numbered(each), []).append(number)
    of_both = ((ours, forms[1].get(form, [])) for form, ours in forms[0].items())
    pairs = [(*pair, 1) for ours, theirs in of_both if len(ours) == len(theirs) for pair in zip(ours, theirs)]  # noqa: B905
    return _in_order(sorted(pairs))


def _unlike(units: list[str], others: list[str], cut: tuple[bool, bool]) -> Iterator[str]:
    """Units without those that differ from others by numbers alone, as the items of a list do.

    Where as many of them are on both sides, the numbers changed, and no item was deleted.
    """
    known, numbered = ("\0".join(of(each.strip()) for each in others) for of in (str, _numbered))
    counts = [Counter(map(_numbered, side)) for side in (units, others)]
    ends = [OLD_GAP if is_cut else "" for is_cut in cut]
    for before, each, after in zip([ends[0], *units], units, [*units[1:], ends[1]], strict=False):
        own, form = each.strip(), _numbered(each)
        count, n_others = (side[form] for side in counts)
        is_other = NUMBER.search(own) and n_others not in (0, count)
        # Beside a gap or an end a unit may be cut, and what is left of it may be a number.
        if NUMBER.search(own) and not own.isdigit() and OLD_GAP in (before, after) and count != n_others:
            start, end = "" if before == OLD_GAP else r"(?<!\d)", "" if after == OLD_GAP else r"(?!\d)"
            is_other = numbered.count(form) > 1 and not re.search(f"{start}{re.escape(own)}{end}", known)
        yield re.sub(r"\S", OLD_MASK, each) if is_other else each


def _numbered(unit: str) -> str:
    """A unit with one number for all, without the blanks around it."""
    return NUMBER.sub("0", unit.strip())


def _refined(text: str, other: str, units: tuple[re.Pattern[str], ...], cut: tuple[bool, bool]) -> list[Block]:
    """The blocks that two texts without a common unit share, if these are enough."""
    # What is aligned already stands between no words that are not.
    starts = [len(side) - len(side.lstrip(MASK)) for side in (text, other)]
    text, other = text.strip(MASK), other.strip(MASK)
    head = _common(text, other)
    # Beside a gap a unit is cut, and the same as far as it goes.
    head = head if _is_cut(text[head:]) or _is_cut(other[head:]) else 0
    tail = _common(text[head:][::-1], other[head:][::-1])
    rest, new = text[head : len(text) - tail], other[head : len(other) - tail]
    if not (_is_cut(rest[::-1]) or _is_cut(new[::-1])):
        tail, rest, new = 0, text[head:], other[head:]
    sides = cut[0] and not head, cut[1] and not tail
    inner = list(matching(rest, new, units, sides)) if units and rest and new else _by_characters(rest, new)
    first, last = (0, 0, head), (len(text) - tail, len(other) - tail, tail)
    found = [each for each in (first, *_shifted(inner, head, head), last) if each[2]]
    shorter = min(len(side) - sum(map(side.count, (*GAP, *MASK))) for side in (text, other))
    if sum(size for *_, size in found) < ALIKE * shorter:
        found = [each for each in (first, last) if each[2] >= LONG]
    return list(_shifted(found, *starts))


def _is_cut(rest: str) -> bool:
    """True of a text that is at its end, or at a gap."""
    return not rest or rest[0] in GAP


def _common(text: str, other: str) -> int:
    """The length of the common beginning of two texts, at the end of which no number is cut."""
    size = len(os.path.commonprefix([text, other]))  # noqa: RUF071  # by characters is meant
    if GOES_ON.match(text, size) or GOES_ON.match(other, size):
        number = CUT.search(text, 0, size)
        return number.start() if number else size
    return size


def _by_characters(text: str, other: str) -> list[Block]:
    """The blocks that two words share, which may be a text in a script without spaces; numbers are not cut."""
    if not text or not other or len(text.split()) > 1 or len(other.split()) > 1:
        return []
    head = _common(text, other)
    tail = _common(text[head:][::-1], other[head:][::-1])
    rest, new = text[head : len(text) - tail], other[head : len(other) - tail]
    found = [(0, 0, head)]
    if max(len(rest), len(new)) <= MOST_CHARACTERS:
        parts, others = CHARACTER.findall(rest), CHARACTER.findall(new)
        places, other_places = _places(parts), _places(others)
        blocks = difflib.SequenceMatcher(None, parts, others, autojunk=False).get_matching_blocks()
        inner = ((places[one], other_places[two], places[one + size] - places[one]) for one, two, size in blocks)
        found += _shifted(inner, head, head)
    found = [each for each in (*found, (len(text) - tail, len(other) - tail, tail)) if each[2]]
    # Single characters are in any long word.
    return found if sum(size for *_, size in found) >= ALIKE * max(len(text), len(other)) else []


def _places(parts: list[str]) -> list[int]:
    """The places where parts begin, and the end."""
    places = [0]
    for part in parts:
        places.append(places[-1] + len(part))
    return places
