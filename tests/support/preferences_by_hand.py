"""Preferences of judges, in plain Python."""

from collections.abc import Mapping
from itertools import product

import polars as pl

#: The levels of documents, by judge and group.
Levels = Mapping[str, Mapping[str, Mapping[str, float]]]
RunAndQrels = tuple[str, str]


class ContradictionError(Exception):
    """The preferences of a judge contradict each other."""


def levels_of(judgments: pl.DataFrame) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """The rows of preference judgments by query, judge and group."""
    nested: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for query, judge, group, document, level in judgments.iter_rows():
        nested.setdefault(query, {}).setdefault(judge, {}).setdefault(group, {})[document] = level
    return nested


def judgments_frame(levels: Mapping[str, Levels]) -> pl.DataFrame:
    """Levels by query, judge and group as a frame."""
    rows = [
        (query, judge, group, document, float(level))
        for query, judges in levels.items()
        for judge, groups in judges.items()
        for group, documents in groups.items()
        for document, level in documents.items()
    ]
    return pl.DataFrame(rows, schema=["query_id", "judge", "group", "doc_id", "relevance"], orient="row")


def preferred(groups: Mapping[str, Mapping[str, float]]) -> set[RunAndQrels]:
    """The pairs that one judge prefers, with those that follow (Warshall's algorithm)."""
    documents = sorted({document for levels in groups.values() for document in levels})
    pairs = {(a, b) for levels in groups.values() for a, b in product(levels, repeat=2) if levels[a] > levels[b]}
    for via in documents:
        for a, b in product(documents, repeat=2):
            if (a, via) in pairs and (via, b) in pairs:
                pairs.add((a, b))
    if any(a == b for a, b in pairs):
        raise ContradictionError
    return pairs


def relevant(groups: Mapping[str, Mapping[str, float]]) -> dict[str, bool]:
    """The relevance of each document to the judge."""
    found: dict[str, bool] = {}
    for levels in groups.values():
        for document, level in levels.items():
            if found.setdefault(document, level > 0) != (level > 0):
                raise ContradictionError
    return found
