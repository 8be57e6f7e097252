"""Random cases: what goes wrong in practice, and more of it than in practice.

Tied scores and scores that almost are, gaps, unjudged documents, judged ones nobody retrieved, negative, fractional and
large grades, queries that a run missed or nobody judged, systems that retrieved nothing, ids of every kind, several
judges, subtopics and preferences, in tables of every kind and for every option.
"""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

import polars_ir as ir

from . import asking, tables, thresholds
from .case import Case
from .reference.catalogue import EXPECTED, MEASURES, OWN
from .reference.evaluation import ties_of
from .reference.rows import Asked, Collection, Id, Judgment, Options, Retrieved

#: Ids of documents and queries, by the style of a case.
IDS: dict[str, Sequence[Id]] = {
    "plain": [f"d{i}" for i in range(60)],
    "numbers as text": [*map(str, range(40)), *(f"0{i}" for i in range(10)), *(f"{i}.0" for i in range(10))],
    "long": [f"a-prefix-of-some-length-{i % 7}{i}" for i in range(60)],
    "of the world": [
        *"äöüéßàЖ中文字🙂🚀ﬁzZ",
        "e\u0301",
        "a b",
        "a,b",
        '"',
        "",
        "NaN",
        "null",
        *map(chr, range(97, 119)),
    ],
    "integers": range(60),
    "around zero": range(-30, 30),
    "large": [2**53 + i for i in range(40)] + [-(2**62) + i for i in range(20)],
    "beyond Int64": [2**63 + 3 * i for i in range(30)] + list(range(30)),
}

#: Grades by the style of a case.
GRADES: dict[str, Sequence[float]] = {
    "binary": (0, 1),
    "only relevant": (1,),
    "graded": (0, 0, 1, 2, 3),
    "with negative": (-2, -1, 0, 0, 1, 2),
    "nothing relevant": (-1, 0),
    "fractions": (-0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.25),
    "of a judge between 0 and 1": (0.0, 0.25, 0.5, 0.75, 1.0),
    "large": (0, 1, 7, 10, 30),
}

#: Scores by the style of a case.
SCORES: dict[str, Sequence[float]] = {
    "tied": (0, 1, 2, 3),
    "all the same": (1,),
    "quarters": tuple(i / 4 for i in range(-8, 9)),
    "integers": tuple(range(-50, 50)),
    "almost equal": (1.0, math.nextafter(1, 2), math.nextafter(1, 0), 1 + 1e-9, 0.1 + 0.2, 0.3),
    "extreme": (math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308),
    "large": tuple(2**53 + i for i in range(-2, 5)),
}


def case(seed: int, number: int) -> Case:
    """The case of a number; the same for the same seed, whatever was made before."""
    chance = random.Random(f"{seed}/{number}")
    kind = chance.choices(("documents", "subtopics", "preferences"), (14, 4, 3))[0]
    collection = a_collection(chance, kind)
    options = some_options(chance, collection)
    if ties_of(collection, options.ties) == "expected":
        collection = collection._replace(run=with_few_orders(collection.run))
    if options.judges:
        collection = collection._replace(judgments=several_judges(chance, collection.judgments))
    handing = tables.chosen(chance, collection, judges=options.judges)
    measures = some_measures(chance, collection, options, handing)
    return Case(collection, measures, options, chance.random() < 0.5, handing, thresholds.chosen(chance))


def a_collection(chance: random.Random, kind: str) -> Collection:
    """A run and its judgments."""
    documents, queries = ids(chance), ids(chance)[: chance.choice((1, 2, 4, 7))]
    large = chance.random() < 0.05
    labelled = kind == "documents" and chance.random() < 0.12
    systems = chance.choices(((None,), ("a",), ("b", "a"), ("bm25", "Z", "é")), (12, 1, 3, 2))[0]
    run = a_run(chance, queries, documents, systems, depth=80 if large else 14)
    judgments = some_judgments(chance, kind, queries, documents, depth=60 if large else 12)
    collection = Collection(kind, run, judgments, systems, labelled)
    return with_labels(chance, collection) if labelled else collection


def ids(chance: random.Random) -> list[Id]:
    pool = list(chance.choice(list(IDS.values())))
    chance.shuffle(pool)
    return pool


def a_run(
    chance: random.Random, queries: Sequence[Id], documents: Sequence[Id], systems: Sequence[str | None], *, depth: int
) -> tuple[Retrieved, ...]:
    """Rows of a run; some systems miss some queries, and some of them retrieve nothing at all."""
    scores = chance.choice(list(SCORES.values()))
    rows = [
        Retrieved(system, query, document, chance.choice(scores), chance.randint(0, 9))
        for system in systems
        if chance.random() > 0.06
        for query in queries
        if chance.random() > 0.15
        for document in chance.sample(documents, min(chance.randint(1, depth), len(documents)))
    ]
    if chance.random() < 0.1:
        # As lists have it: the first of the rows is the best.
        return tuple(row._replace(score=len(rows) - at) for at, row in enumerate(rows))
    if chance.random() < 0.5:
        chance.shuffle(rows)
    return tuple(rows)


def some_judgments(
    chance: random.Random, kind: str, queries: Sequence[Id], documents: Sequence[Id], *, depth: int
) -> tuple[Judgment, ...]:
    """Judgments of a kind; some queries have none, and some rows that say so, which others may contradict."""
    grades = chance.choice(list(GRADES.values()))
    few = chance.choice((1, len(documents) // 2, len(documents)))
    rows = []
    for query in queries:
        if chance.random() < 0.1:
            continue
        if chance.random() < 0.06:
            rows += [Judgment(query, None, None, subtopic="e", judge="j1", group="g0")] * chance.choice((1, 1, 2))
            if chance.random() < 0.7:
                continue
        judged = chance.sample(documents[:few], min(chance.randint(1, depth), few))
        rows += {"documents": by_judges, "subtopics": by_subtopics, "preferences": by_groups}[kind](
            chance, query, judged, grades
        )
    chance.shuffle(rows)
    return tuple(rows)


def by_judges(chance: random.Random, query: Id, documents: Sequence[Id], grades: Sequence[float]) -> list[Judgment]:
    """Grades by one judge; `several_judges` adds others."""
    return [
        Judgment(query, document, chance.choice(grades), judge="j1", trust=chance.choice((0.0, 0.5, 1.0)))
        for document in documents
    ]


def several_judges(chance: random.Random, judgments: Sequence[Judgment]) -> tuple[Judgment, ...]:
    """The judgments with those of others, who judged some of the same documents."""
    grades = [judgment.grade for judgment in judgments if judgment.document is not None]
    others = [
        judgment._replace(judge=judge, grade=chance.choice(grades))
        for judge in ("j0", "j2")
        for judgment in judgments
        if judgment.document is not None and chance.random() < 0.6
    ]
    return (*judgments, *others)


def by_subtopics(chance: random.Random, query: Id, documents: Sequence[Id], grades: Sequence[float]) -> list[Judgment]:
    """Grades for one to three subtopics of each document, which have weights."""
    importance = {subtopic: chance.choice((0.0, 0.1, 0.25, 0.5, 1.0)) for subtopic in "abcd"}
    return [
        Judgment(query, document, chance.choice(grades), subtopic, importance=importance[subtopic])
        for document in documents
        for subtopic in chance.sample("abcd", chance.randint(1, 3))
    ]


def by_groups(chance: random.Random, query: Id, documents: Sequence[Id], _: Sequence[float]) -> list[Judgment]:
    """Levels by one to three judges, who do not contradict themselves, in one to three groups of documents."""
    rows = []
    for judge in chance.sample(("j0", "j1", "j2"), chance.randint(1, 3)):
        # The document's worth to a judge keeps the groups from contradicting each other.
        worth = {document: chance.choice((0, 0, 1, 2, 3)) for document in documents}
        if chance.random() < 0.15:
            # A chain of pairs, of which most preferences follow.
            rows += [
                Judgment(query, document, level, judge=judge, group=f"g{number}")
                for number, pair in enumerate(pairwise(documents))
                for document, level in zip(pair, (2, 1), strict=True)
            ]
            continue
        for group in range(chance.choice((1, 1, 2, 3))):
            scale = chance.choice((0.5, 1, 3))
            judged = chance.sample(documents, chance.randint(1, len(documents)))
            rows += [Judgment(query, d, scale * worth[d], judge=judge, group=f"g{group}") for d in judged]
    return rows


def with_labels(chance: random.Random, collection: Collection) -> Collection:
    """The collection as one frame of scores and grades; without ids, no document is in it twice."""
    with_ids = chance.random() < 0.6
    run, judgments = collection.run, collection.judgments
    if not with_ids:
        # Nobody sees these ids; those of earlier rows are higher.
        run = tuple(row._replace(document=f"row {len(run) - at:05}") for at, row in enumerate(run))
        if chance.random() < 0.5:
            # Without ties every measure is known.
            scores = chance.sample(range(len(run)), len(run))
            run = tuple(row._replace(score=score) for row, score in zip(run, scores, strict=True))
        judged = [row for row in run if chance.random() < 0.6]
        grades = [judgment.grade for judgment in judgments if judgment.document is not None] or [1]
        judgments = tuple(Judgment(row.query, row.document, chance.choice(grades)) for row in judged)
    retrieved = {(row.query, row.document) for row in run}
    judgments = tuple(judgment for judgment in judgments if (judgment.query, judgment.document) in retrieved)
    systems = tuple(system for system in collection.systems if any(row.system == system for row in run))
    return collection._replace(run=run, judgments=judgments, systems=systems or (None,), with_ids=with_ids)


def some_options(chance: random.Random, collection: Collection) -> Options:
    """Options of `evaluate` that go with each other and with the judgments."""
    options = Options(
        missing=chance.choice(("zero", "zero", "skip")),
        undefined=chance.choice((0.0, 0.0, None, 1, 0.5, -1.0)),
        ties=chance.choice(("doc_id", "doc_id", "input", "best", "worst")),
    )
    if collection.kind == "preferences":
        return options._replace(ties=chance.choice(("doc_id", "input")))
    if collection.kind == "subtopics":
        return options._replace(judged_only=chance.random() < 0.2)
    judges = not collection.labelled and chance.random() < 0.12
    return options._replace(
        ties="expected" if chance.random() < 0.2 else options.ties,
        judges=judges,
        judged_only=not judges and chance.random() < 0.2,
        bounds=chance.random() < 0.25,
    )


def with_few_orders(run: Sequence[Retrieved], most: int = 120) -> tuple[Retrieved, ...]:
    """The run, its longest rankings cut until the orders of their ties can be counted out."""
    kept: list[Retrieved] = []
    ranking_of = lambda row: (str(row.system), str(row.query))  # noqa: E731
    for _, rows in groupby(sorted(run, key=ranking_of), key=ranking_of):
        tied: dict[float, int] = {}
        for row in rows:
            tied[row.score] = tied.get(row.score, 0) + 1
            if math.prod(map(math.factorial, tied.values())) <= most:
                kept.append(row)
            else:
                tied[row.score] -= 1
    return tuple(row for row in run if row in set(kept))


def has_ties(collection: Collection) -> bool:
    """True if some documents of a ranking have the same score."""
    return len({(row.system, row.query, row.score) for row in collection.run}) < len(collection.run)


def in_one_plan(name: str, given: Mapping[str, object]) -> bool:
    """True if a plan can hold the greedy ideal ranking that a measure needs, and takes no minute to make."""
    return name != "nNRBP" and (name not in ("alpha_nDCG", "nERR_IA") or given.get("k") in (1, 2, 3, 5))


def some_measures(
    chance: random.Random, collection: Collection, options: Options, handing: tables.Tables
) -> tuple[Asked, ...]:
    """One to nine measures of the kind of judgments, no two of one name."""
    names = [name for name in MEASURES if ir.CATALOG[name].kind == collection.kind]
    if options.ties == "expected" or (ties_of(collection, options.ties) == "expected" and has_ties(collection)):
        names = [name for name in names if name in EXPECTED]
    elif collection.kind == "documents":
        unfit = {"relstring"} if options.judges else set()
        names += [name for name in OWN if tables.holds(handing, collection, name) and name not in unfit]
    grades = [judgment.grade for judgment in collection.judgments if judgment.grade is not None]
    trust, weights = (tables.holds(handing, collection, column) for column in ("trust", "importance"))
    asked: dict[str, Asked] = {}
    for name in chance.choices(names, k=chance.randint(1, 9)):
        given = asking.arguments(chance, name, grades, trust=trust)
        if not weights:
            given.pop("weights", None)
        if not tables.eager(handing) and not in_one_plan(name, given):
            continue
        measure = Asked(name, given)
        asked.setdefault(asking.expression(measure).meta.output_name(), measure)
    return tuple(asked.values()) or (Asked(names[0], {}),)
