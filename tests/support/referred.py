"""The figures of the slow reference (`differential/reference`) and of ir_measures for what other tests evaluate."""

from collections.abc import Iterable, Mapping
from functools import partial

import polars as pl
import pytest
from generated import Qrels, Run, qrels_frame, run_frame
from reference.catalogue import MEASURES
from reference.evaluation import evaluate
from reference.preferences import Groups, Preferred
from reference.rows import Asked, Collection, Judgment, Options, Retrieved
from reference.user_models import Continuation, gained_and_read

import polars_ir as ir
from polars_ir.language.dialects import parsed_name

#: Sums of a few terms in another order than those of others.
TOLERANCE = 1e-12


def asked(name: str) -> Asked:
    """The measure and the arguments of a name."""
    info, arguments, *_ = parsed_name(name)
    return Asked(info.name, arguments)


def by_reference(run: Run, qrels: Qrels, names: Iterable[str], **options: object) -> dict[str, dict[str, float]]:
    """The values of measures, by query and name."""
    rows = (Retrieved(None, query, *scored, 0) for query, ranking in run.items() for scored in ranking.items())
    judgments = (Judgment(query, *graded) for query, judged in qrels.items() for graded in judged.items())
    return of_collection(Collection("documents", tuple(rows), tuple(judgments)), names, **options)


def of_subtopics(
    ranking: Iterable[str], judged: Mapping[tuple[str, str], float], weights: Mapping[str, float], name: str
) -> float | None:
    """The value of a measure of diversity for one ranking, by grades of subtopics and documents."""
    rows = (Retrieved(None, "q", document, -float(place), 0) for place, document in enumerate(ranking))
    judgments = (Judgment("q", d, grade, subtopic=s, importance=weights[s]) for (s, d), grade in judged.items())
    return of_collection(Collection("subtopics", tuple(rows), tuple(judgments)), [name], undefined=None)["q"][name]


def of_collection(collection: Collection, names: Iterable[str], **options: object) -> dict[str, dict[str, float]]:
    """The values of measures, by query and name."""
    found = evaluate(collection, [(name, asked(name)) for name in names], Options(**options))
    return {query: values for (_, query), values in found.items()}


def by_ir_measures(run: Run, qrels: Qrels, names: Iterable[str]) -> dict[str, dict[str, float]]:
    """The values of ir_measures, by query and name."""
    oracle = pytest.importorskip("ir_measures")
    parsed = {oracle.parse_measure(name): name for name in names}
    figures: dict[str, dict[str, float]] = {}
    for metric in oracle.iter_calc(list(parsed), qrels, run):
        figures.setdefault(metric.query_id, {})[parsed[metric.measure]] = metric.value
    return figures


def assert_agree(
    run: Run, qrels: Qrels, measures: list[pl.Expr], wanted: dict[str, dict[str, float]], **options: object
) -> None:
    """Raise an error unless the queries are those of others, and each has their figures, by the measures' names."""
    found = ir.evaluate(run_frame(run), qrels_frame(qrels), measures, **options)
    rows = {row.pop("query_id"): row for row in found.iter_rows(named=True)}
    assert rows.keys() == wanted.keys()
    for query, row in rows.items():
        assert row == pytest.approx({name: wanted[query][name] for name in row}, abs=TOLERANCE, rel=0)


def of_preferences(ranking: Iterable[str], judges: dict[str, Groups], names: Iterable[str]) -> dict[str, float | None]:
    """The values of measures of preferences for one ranking."""
    preferred = Preferred({document: rank for rank, document in enumerate(ranking, 1)}, judges)
    return {name: partial(MEASURES[asked(name).name], **asked(name).arguments)(preferred) for name in names}


def expected_gain(gains: list[float], chance: Continuation, depth: int) -> float:
    """The expected gain of readers who go on by a chance of position, gain and gains so far."""
    gained, read = gained_and_read((gains + depth * [0.0])[:depth], chance)
    return gained / read
