"""Preferences of judges and the preference measures of trec_eval, in plain Python with exact fractions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

import polars as pl

#: The levels of documents, by judge and group.
Levels = Mapping[str, Mapping[str, Mapping[str, float]]]
Pair = tuple[str, str]


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


def preferred(groups: Mapping[str, Mapping[str, float]]) -> set[Pair]:
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


def ratio(numerator: int, denominator: int) -> Fraction:
    """0 where there is nothing to divide by."""
    return Fraction(numerator, denominator) if denominator else Fraction(0)


def measures(ranking: Sequence[str], levels: Levels) -> dict[str, Fraction | int | None]:
    """Every preference measure of one query by its name in trec_eval; None where it is undefined."""
    preferences = {judge: preferred(groups) for judge, groups in levels.items()}
    finds = {judge: relevant(groups) for judge, groups in levels.items()}
    judged = {document for of_judge in finds.values() for document in of_judge}
    order = [document for document in ranking if document in judged]
    retrieved = len(order)
    order += sorted(judged - set(ranking))
    place = {document: i for i, document in enumerate(order)}

    def counts(pairs: set[Pair], kind: str) -> tuple[int, int]:
        """The numbers of preferences that are fulfilled and that count."""
        places = [(place[a], place[b]) for a, b in pairs]
        if kind == "_ret":
            places = [(a, b) for a, b in places if a < retrieved and b < retrieved]
        if kind == "_imp":
            places = [(a, b) for a, b in places if a < retrieved or b < retrieved]
        return sum(a < b and a < retrieved for a, b in places), len(places)

    def balanced(judge: str, kind: str) -> Fraction:
        """The ratio of a judge with as many documents not relevant as relevant."""
        seen = order[:retrieved] if kind == "_ret" else order
        good = [document for document in seen if finds[judge].get(document) is True]
        bad = [document for document in seen if finds[judge].get(document) is False]
        left_out = set(bad[len(good) :])
        met, all_of_them = counts({pair for pair in preferences[judge] if not left_out & set(pair)}, kind)
        missing = max(len(good) - len(bad), 0)
        of_judge = [document for document in order if finds[judge].get(document)]
        met += missing * sum(place[document] < retrieved for document in of_judge)
        return ratio(met, all_of_them + missing * len(of_judge))

    everything = [counts(pairs, "") for pairs in preferences.values()]
    some = any(preferences.values())
    found: dict[str, Fraction | int | None] = {
        "prefs_num_prefs_poss": sum(count for _, count in everything),
        "prefs_num_prefs_ful": sum(met for met, _ in everything),
        "prefs_num_prefs_ful_ret": sum(counts(pairs, "_ret")[0] for pairs in preferences.values()),
    }
    directions = Counter((place[a], place[b]) for pairs in preferences.values() for a, b in pairs)
    for kind in ("", "_imp", "_ret"):
        of_judges = [counts(pairs, kind) for pairs in preferences.values()]
        shares = [
            Fraction(directions[a, b], directions[a, b] + directions[b, a]) if a < retrieved else Fraction(0)
            for a, b in combinations(range(len(order)), 2)
            if directions[a, b] + directions[b, a]
            and not (kind == "_ret" and b >= retrieved)
            and not (kind == "_imp" and a >= retrieved)
        ]
        values = {
            "prefs_simp": ratio(*map(sum, zip(*of_judges, strict=True))),
            "prefs_pair": sum(shares, Fraction(0)) / max(len(shares), 1),
            "prefs_avgjg": sum((ratio(*each) for each in of_judges), Fraction(0)) / len(levels),
        }
        found |= {name + kind: value if some else None for name, value in values.items()}
    defined = some or any(is_good for of_judge in finds.values() for is_good in of_judge.values())
    for kind in ("", "_ret"):
        mean = sum((balanced(judge, kind) for judge in levels), Fraction(0)) / len(levels)
        found[f"prefs_avgjg_Rnonrel{kind}"] = mean if defined else None
    return found
