"""The rankings that the pages of measures show values of: a document on its way down, and cases at the edge."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

import polars_ir as ir
from polars_ir.language.catalog import MeasureInfo

#: The documents of the ranking in which one moves.
LENGTH = 20

#: The rank of the other relevant document of that ranking, and its grade.
FIXED, FIXED_GRADE = 8, 2

#: The grades of the moving document; no grade is no judgment.
GRADES = {"unjudged": None, "grade 0": 0, "grade 1": 1, "grade 2": 2, "grade 3": 3}

#: The part after the `@` of measures in pictures and examples, by the parameter that it sets.
AT = {"k": 10, "recall": 0.5, "negatives": 10}

#: Measures that bring their own cutoff.
WITH_THEIR_OWN = ("Rprec",)


class Case(NamedTuple):
    """A ranking, and the judgments of its query."""

    ranking: Sequence[str]
    judgments: Mapping[str, int]


CASES = {
    "the ideal ranking": Case(["d1", "d2", "d3"], {"d1": 2, "d2": 1, "d3": 0}),
    "one document retrieved, the only relevant one": Case(["d1"], {"d1": 1, "d2": 0}),
    "nothing retrieved": Case([], {"d1": 1, "d2": 0}),
    "no document is relevant": Case(["d1", "d2"], {"d1": 0, "d2": 0}),
    "no retrieved document has a judgment": Case(["d8", "d9"], {"d1": 1, "d2": 0}),
    "a negative grade at rank 1, a relevant document at rank 2": Case(["d1", "d2"], {"d1": -1, "d2": 1}),
}


def shown(info: MeasureInfo) -> pl.Expr:
    """The measure that pictures and examples show: at a cutoff, or what it has in its place."""
    if info.at not in info.parameters or info.name in WITH_THEIR_OWN:
        return info.function()
    return info.function(**{info.at: AT[info.at]})


def evaluated(info: MeasureInfo, cases: Mapping[str, Case], **options: object) -> dict[str, object]:
    """The value of a measure in each case."""
    run = [(name, doc, -place) for name, case in cases.items() for place, doc in enumerate(case.ranking)]
    judged = [(name, doc, grade) for name, case in cases.items() for doc, grade in case.judgments.items()]
    names = ["query_id", "doc_id", "score"]
    qrels = pl.DataFrame(judged, schema=["query_id", "doc_id", "relevance"], orient="row")
    if info.kind == "subtopics":
        qrels = qrels.with_columns(subtopic=pl.lit("a"))
    if info.kind == "documents and strata":
        qrels = qrels.with_columns(stratum=pl.lit("a"))
    if info.kind in ("none", "documents and history"):
        documents = dict.fromkeys(doc for case in cases.values() for doc in (*case.ranking, *case.judgments))
        had = [(f"user {user}", doc) for doc in documents for user in range(1 if doc.endswith("moving") else 4)]
        # One of the users whose lists these are, so that the history is one of theirs.
        had += [(user, "another") for user in (*(f"user {other}" for other in range(7)), next(iter(cases)))]
        options["history"] = pl.DataFrame(had, schema=names[:2], orient="row")
        categories = [doc.endswith("moving") for doc in documents]
        options["items"] = pl.DataFrame({"doc_id": list(documents), "category": categories})
    # The first of the cases is retrieved, so that no column lacks a type.
    per_query = ir.evaluate(pl.DataFrame(run, schema=names, orient="row"), qrels, shown(info), **options)
    return dict(per_query.iter_rows())


def moving(grade: int | None) -> dict[str, Case]:
    """A document of one grade at every rank among others that are judged not relevant, but for one."""
    cases = {}
    for rank in range(1, LENGTH + 1):
        others = [f"{grade} {rank} {place}" for place in range(1, LENGTH)]
        ranking = [*others[: rank - 1], f"{grade} {rank} moving", *others[rank - 1 :]]
        judgments = dict.fromkeys(others, 0) | {others[FIXED - 1]: FIXED_GRADE}
        if grade is not None:
            judgments[ranking[rank - 1]] = grade
        cases[str(rank)] = Case(ranking, judgments)
    return cases


def course(info: MeasureInfo) -> pl.DataFrame:
    """The value of a measure by the rank of the moving document, a row each: `document`, `rank`, `value`."""
    lines: dict[tuple[object, ...], list[str]] = {}
    for name, grade in GRADES.items():
        values = evaluated(info, moving(grade))
        lines.setdefault(tuple(values[str(rank)] for rank in range(1, LENGTH + 1)), []).append(name)
    rows = [
        (_together(names), rank, float(str(value)))
        for values, names in lines.items()
        for rank, value in enumerate(values, start=1)
    ]
    return pl.DataFrame(rows, schema=["document", "rank", "value"], orient="row")


def _together(names: Sequence[str]) -> str:
    """Names of grades in a few words: `unjudged or grade 0`, `grades 1, 2, 3`."""
    grades = [name.removeprefix("grade ") for name in names if name != "unjudged"]
    word = "grade" if len(grades) == 1 else "grades"
    return " or ".join(
        [*(["unjudged"] if "unjudged" in names else []), *([f"{word} {', '.join(grades)}"] if grades else [])]
    )
