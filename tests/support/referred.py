"""The figures of the slow reference (`differential/reference`) for what other tests evaluate."""

from collections.abc import Iterable
from functools import partial

from generated import Qrels, Run
from reference.catalogue import MEASURES
from reference.evaluation import evaluate
from reference.preferences import Groups, Preferred
from reference.rows import Asked, Collection, Judgment, Options, Retrieved
from reference.user_models import Continuation, gained_and_read

from polars_ir.language.dialects import taken_apart


def asked(name: str) -> Asked:
    """The measure and the arguments of a name."""
    spec, arguments, *_ = taken_apart(name)
    return Asked(spec.name, arguments)


def by_reference(run: Run, qrels: Qrels, names: Iterable[str], **options: object) -> dict[str, dict[str, float]]:
    """The values of measures, by query and name."""
    rows = (Retrieved(None, query, *scored, 0) for query, ranking in run.items() for scored in ranking.items())
    judgments = (Judgment(query, *graded) for query, judged in qrels.items() for graded in judged.items())
    collection = Collection("documents", tuple(rows), tuple(judgments))
    found = evaluate(collection, [(name, asked(name)) for name in names], Options(**options))
    return {query: values for (_, query), values in found.items()}


def of_preferences(ranking: Iterable[str], judges: dict[str, Groups], names: Iterable[str]) -> dict[str, float | None]:
    """The values of measures of preferences for one ranking."""
    preferred = Preferred({document: rank for rank, document in enumerate(ranking, 1)}, judges)
    return {name: partial(MEASURES[asked(name).name], **asked(name).arguments)(preferred) for name in names}


def expected_gain(gains: list[float], chance: Continuation, depth: int) -> float:
    """The expected gain of readers who go on by a chance of position, gain and gains so far."""
    gained, read = gained_and_read((gains + depth * [0.0])[:depth], chance)
    return gained / read
