"""The content of a report, which its page and its Markdown read: a mapping for JSON, in which NaN is null.

Conventions: the schema of the page is made of these types by the tests, which hold reports and `page.js` to it.
"""

from __future__ import annotations

from typing import Any, TypedDict

#: A frame by its columns.
Columns = dict[str, list[Any]]


class Measure(TypedDict):
    """A measure by its column; the lowest value of a `cost` is its best one."""

    name: str
    cost: bool


class Queries(TypedDict):
    """The ids of the queries, and by their order the texts and the columns that slice them."""

    ids: list[str]
    texts: list[str | None] | None
    attributes: Columns


class Slice(TypedDict):
    """The slices by one attribute: means, differences from the reference, and the worst slices."""

    attribute: str
    reference: str
    means: Columns
    compared: Columns | None
    worst: Columns


class Cutoffs(TypedDict):
    """The means of a measure at several cutoffs, in columns `run`, `k` and `mean`."""

    measure: str
    rows: Columns


class Finding(TypedDict):
    """A finding of `validate`, with its count, share and examples in each system that has it."""

    finding: str
    severity: str
    meaning: str
    systems: list[dict[str, Any]]


class Doubts(TypedDict):
    """The findings, the worst first, and the bounds of the first measure, `without_bounds` for runs too large.

    `only_relevant` are judgments without a grade of 0, in which a document that is not listed was not forgotten.
    """

    findings: list[Finding]
    bounds: Columns | None
    without_bounds: bool
    checked: bool
    only_relevant: bool


class Documents(TypedDict):
    """The documents of rankings, their ranks, and the number of relevant ones that each query misses."""

    documents: Columns
    places: Columns
    missed: dict[str, int]
    most_missed: int
    longest_text: int
    looked_up: int


class Rankings(Documents):
    """The kept rankings, down to a depth, with contributions to a measure."""

    measure: str
    depth: int
    queries: list[str]


class Missing(TypedDict):
    """The relevant documents, or groups, that are not among the first `k` of the pair's first system.

    `rel` is the lowest relevant grade. Those `in_neither` are not among those of the other, either.
    """

    k: int
    rel: float
    rows: Columns


class Made(TypedDict):
    """The origin of a report; `files` and `command` are told by the command line."""

    versions: dict[str, str]
    options: dict[str, Any]
    test: str
    files: list[dict[str, Any]]
    command: str | None
    python: str


class Tested(TypedDict):
    """The means with their intervals, the ranks, and the differences: of pairs, and from the baseline."""

    summary: Columns
    ranks: Columns | None
    pairs: Columns | None
    against: Columns | None


class Content(Tested):
    """The content of a report. `pair` has the places of the systems that are compared first."""

    title: str
    date: str | None

    measures: list[Measure]
    counts: list[str]
    systems: list[str]
    left_out: list[str]
    baseline: str | None
    pair: list[int]
    queries: Queries
    verdicts: Columns | None
    verdict: str | None
    answers: list[list[str]]
    slices: list[Slice]
    cutoffs: Cutoffs | None
    doubts: Doubts
    rankings: Rankings | None
    missing: Missing | None
    made: Made
