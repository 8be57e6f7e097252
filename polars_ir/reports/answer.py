"""The answer of a report in two sentences: the best system, those tied with it, and in how many queries.

Conventions: tied with the first are the systems whose difference from it is not beyond chance by `compare` of all pairs
(Student's paired t, corrected by Holm), and than which `ranks` calls no system better. What is first, second and equal
is what `ranks` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from polars_ir.errors import printable
from polars_ir.language.columns import column_of, is_cost
from polars_ir.per_query.shared.verdicts import BEYOND

#: How systems are distinguished, in words.
TEST = "paired t-test, Holm's correction for {family}, level 0.05"

#: Maximum number of systems named in a sentence.
NAMED = 5

#: Maximum length of a name or a text.
CHARACTERS = 80

#: Characters that hide or reorder others, or end a line.
HIDDEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+")

Rows = Mapping[str, Sequence[Any]]


def plain(text: object) -> str:
    r"""A text on one line with visible characters; the middle of a long one is left out.

    >>> plain("a\u200bb"), plain(""), plain("\u202etxt.exe")
    ('a b', '""', '\\u202etxt.exe')
    """
    line = HIDDEN.sub(" ", printable(" ".join(str(text).splitlines()))).strip() or '""'
    if len(line) <= CHARACTERS:
        return line
    # Names of one series often begin alike.
    return f"{line[: CHARACTERS // 2]}\N{HORIZONTAL ELLIPSIS}{line[-CHARACTERS // 2 + 1 :]}"


def rows_of(columns: Rows | None, **values: Any) -> Iterator[dict[str, Any]]:
    """The rows with given values."""
    for row in zip(*columns.values(), strict=True) if columns else ():
        named = dict(zip(columns or (), row, strict=True))
        if all(named[name] == value for name, value in values.items()):
            yield named


def against(pairs: Rows | None, measure: str, run: str, other: str) -> dict[str, Any] | None:
    """The comparison of two systems, in either direction of `compare`; None without one."""
    for row in rows_of(pairs, measure=measure):
        if (row["run"], row["baseline"]) == (run, other):
            return row
        if (row["run"], row["baseline"]) == (other, run):
            turned = {"run": run, "baseline": other, "wins": row["losses"], "losses": row["wins"]}
            ends = {"difference": "difference", "low": "high", "high": "low"}
            signs = {end: None if row[source] is None else -row[source] for end, source in ends.items()}
            return {**row, **turned, **signs}
    return None


def figures(values: Iterable[float | None], *, signed: bool = False) -> list[str]:
    """Numbers with four decimals, or as many as keep different ones different; none becomes 0."""
    values = list(values)
    # Values that differ by rounding alone are one.
    different = {float(f"{value:.13g}") for value in values if value is not None}
    places = 4
    while places < 13 and len({f"{value:.{places}f}" for value in different}) < len(different):
        places += 1
    sign, texts = "+" if signed else "", []
    for value in values:
        text = "\N{EN DASH}" if value is None else f"{value:{sign}.{places}f}"
        if value and not float(text):
            text = f"{value:{sign}.1e}"
        texts.append(text.replace("-", "\N{MINUS SIGN}"))
    return texts


def answer(
    tested: Mapping[str, Any], measure: str, baseline: str | None, name: Callable[[str], str] = plain
) -> list[str]:
    """The sentences on a measure; `name` formats system names."""
    # The names of the catalogue are plain; those of users can be anything.
    shown = measure if column_of(measure) else name(measure)
    ranking = list(rows_of(tested["ranks"], measure=measure))
    if not ranking or ranking[0]["rank"] is None:
        return [_alone(list(rows_of(tested["summary"], measure=measure)), shown, name)]
    first, second = ranking[0]["run"], ranking[1]["run"]
    pairs = {row["run"]: against(tested["pairs"], measure, first, row["run"]) for row in ranking[1:]}
    sentences = [_first(ranking, pairs, shown, name)]
    compared = pairs[second]
    if baseline is not None:
        sentences.append(_from_baseline(list(rows_of(tested["against"], measure=measure)), baseline, measure, name))
    elif compared is None:
        sentences.append("Differences from it are tested by the first measure only, as there are so many pairs.")
    elif not compared["wins"] and not compared["losses"]:
        queries = "the query" if compared["n_queries"] == 1 else f"all {compared['n_queries']:,} queries"
        sentences.append(f"{name(first)} and {name(second)} are equal in {queries}.")
    else:
        what = "second" if ranking[1]["rank"] == 2 else "other"
        sentences.append(f"{name(first)} is better than the {what}, {name(second)}, in {_queries(compared)}.")
    return sentences


def verdict(rows: Rows | None, name: Callable[[str], str] = plain) -> str | None:
    """The sentence on a change, by the rows of `gate`; None where there are none."""
    if rows is None:
        return None
    kinds = ("worse", "dropped", BEYOND, "inconclusive")
    of = {kind: [name(row["measure"]) for row in rows_of(rows, verdict=kind)] for kind in kinds}
    refused = []
    if worse := of["worse"]:
        refused.append(f"The change is worse: {_listed(worse)} drop{'s' * (len(worse) == 1)} more than allowed.")
    if fell := of["dropped"]:
        refused.append(f"The change may not ship: {_listed(fell)} dropped beyond chance, by more than may be lost.")
    if short := of[BEYOND]:
        verb, floor = ("misses", "its floor") if len(short) == 1 else ("miss", "their floors")
        refused.append(f"The change may not ship: {_listed(short)} {verb} {floor}.")
    if refused:
        return " ".join(refused)
    if of["inconclusive"]:
        return f"These queries cannot tell whether the change may ship: {_listed(of['inconclusive'])} may drop too far."
    return "The change may ship: no measure drops more than it may."


def _alone(rows: Sequence[Mapping[str, Any]], measure: str, name: Callable[[str], str]) -> str:
    """The sentence on systems that cannot be compared: one, or several with a single query."""
    parts = []
    for row, mean in zip(rows, figures(row["mean"] for row in rows), strict=True):
        value = "no value" if row["mean"] is None else f"a mean {measure} of {mean}"
        low, high = figures([row["low"], row["high"]])
        ends = "" if row["low"] is None else f", with a 95 % interval from {low} to {high}"
        parts.append(f"{name(row['run'])} has {value} over {_counted(row['n_queries'], 'query')}{ends}")
    return f"{_listed(parts, '; ')}."


def _first(
    ranking: Sequence[Mapping[str, Any]],
    pairs: Mapping[str, dict[str, Any] | None],
    measure: str,
    name: Callable[[str], str],
) -> str:
    """The sentence on the first system, and on those tied with it."""
    best, others = ranking[0], [row["run"] for row in ranking[1:]]
    level = [row["run"] for row in ranking if row["rank"] == 1]
    mean = f"with a mean of {figures([best['mean']])[0]} over {_counted(best['n_queries'], 'query')}"
    if len(level) > 1:
        head = f"{_listed(list(map(name, level)))} are first by {measure} together, {mean}"
    else:
        head = f"{name(best['run'])} is first by {measure}, {mean}"
    beaten = [run for run in others if (row := pairs[run]) and row["significant"]]
    untested = [run for run in others if (row := pairs[run]) and row["p"] is None and row["difference"]]
    may_be_first = {row["run"] for row in ranking if row["tied_with_first"]}
    tied = [run for run in others if run in may_be_first and run not in (*beaten, *untested, *level)]
    how = f"({TEST.format(family='all pairs') if len(others) > 1 else 'paired t-test, level 0.05'})"
    if not any(pairs.values()):
        return f"{head}."
    if len(beaten) == len(others):
        each = f"better than {'each of the ' if len(others) > 1 else ''}"
        what = f"{len(others)} others" if len(others) > 1 else name(others[0])
        return f"{head}, {each}{what} beyond chance {how}."
    parts = []
    if tied and len(tied) == len(others):
        parts.append(f"but no other system differs from it beyond chance {how}")
    elif tied:
        verb, differs = ("is", "its difference is") if len(tied) == 1 else ("are", "their differences are")
        parts.append(f"and {_listed(list(map(name, tied)))} {verb} tied with it: {differs} not beyond chance {how}")
    elif beaten:
        parts.append(f"and {_listed(list(map(name, beaten)))} differ{'s' * (len(beaten) == 1)} beyond chance {how}")
    if untested:
        parts.append(f"{_listed(list(map(name, untested)))} could not be tested against it")
    return f"{', '.join([head, *parts])}."


def _from_baseline(rows: Sequence[Mapping[str, Any]], baseline: str, measure: str, name: Callable[[str], str]) -> str:
    beyond = sorted((row for row in rows if row["significant"]), key=lambda row: -abs(row["difference"]))
    untested = [row for row in rows if row["p"] is None and row["difference"]]
    sides = {
        side: [name(row["run"]) for row in beyond if ((row["difference"] > 0) != is_cost(measure)) == is_better]
        for side, is_better in (("better", True), ("worse", False))
    }
    than = f" than the baseline {name(baseline)} beyond chance"
    heads = [f"{_listed(runs)} {'is' if len(runs) == 1 else 'are'} {side}" for side, runs in sides.items() if runs]
    if heads:
        head = ", ".join([f"{heads[0]}{than}", *heads[1:]])
    elif untested:
        runs = _listed([name(row["run"]) for row in untested])
        head = f"{runs} could not be tested against the baseline {name(baseline)}"
    else:
        runs = f"{name(rows[0]['run'])} does not differ" if len(rows) == 1 else "No system differs"
        head = f"{runs} from the baseline {name(baseline)} beyond chance"
    told = beyond or sorted(rows, key=lambda row: -abs(row["difference"] or 0))
    parts = [f"{'it' if len(rows) == 1 else name(row['run'])} is better in {_queries(row)}" for row in told]
    return f"{head}: {_listed(parts, '; ')}."


def _queries(row: Mapping[str, Any]) -> str:
    """The queries in which a system is better, worse and equal."""
    better, worse, equal = (f"{row[outcome]:,}" for outcome in ("wins", "losses", "ties"))
    return f"{better} of {_counted(row['n_queries'], 'query')}, worse in {worse} and equal in {equal}"


def _counted(number: int, noun: str) -> str:
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"


def _listed(names: Sequence[str], separator: str = ", ") -> str:
    """The first names, and the number of others."""
    if len(names) > NAMED:
        return f"{separator.join(names[:NAMED])}{separator.rstrip()} and {len(names) - NAMED} more"
    if len(names) < 2 or separator != ", ":
        return separator.join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
