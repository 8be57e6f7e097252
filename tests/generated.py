"""Collections for tests: small ones that hypothesis makes up and shrinks, and larger ones from a seed.

All of them have what goes wrong in practice: tied scores, retrieved documents nobody judged, judged documents nobody
retrieved, negative grades, queries that the run missed, queries without a relevant document, queries nobody judged.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import polars as pl
from hypothesis import settings
from hypothesis import strategies as st

from polars_ir.registry import CATALOG, Spec

Run = Mapping[str, Mapping[str, float]]
Qrels = Mapping[str, Mapping[str, float]]

#: The same examples on every machine and in every run.
STEADY = settings(derandomize=True, database=None, deadline=None)

#: Values of the parameters of measures; each parameter also has its default.
VALUES: dict[str, list[object]] = {
    "k": [3, 10],
    "rel": [2],
    "beta": [2, 0.5],
    "p": [0.5],
    "max_rel": [3],
    "dcg": ["exp-log2"],
    "gains": [{1: 5, 2: 1}],
}


def samples(spec: Spec) -> Iterator[dict[str, object]]:
    """Arguments of a measure: every combination of its defaults and `VALUES`."""
    choices = [[{}, *({name: value} for value in VALUES[name])] for name in spec.parameters]
    for combination in product(*choices):
        yield {name: value for given in combination for name, value in given.items()}


def every_measure() -> list[pl.Expr]:
    """Every measure with every sample of its parameters."""
    return [spec.function(**arguments) for spec in CATALOG.values() for arguments in samples(spec)]


def as_dicts(frame: pl.DataFrame, value: str) -> dict[str, dict[str, float]]:
    """A run or qrels as other tools take them: `{query: {document: value}}`."""
    nested: dict[str, dict[str, float]] = {}
    for query, document, number in frame.select("query_id", "doc_id", value).iter_rows():
        nested.setdefault(query, {})[document] = number
    return nested


@st.composite
def collections(
    draw: st.DrawFn, *, grades: Sequence[float] = (-1, 0, 1, 2, 3), ties: bool = True
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """A run and its judgments: up to four queries over twelve documents, scores that float32 holds exactly.

    A judged query has at least one grade of 0 or more: trec_eval ends the process at one with negative grades only.
    """
    documents = st.sampled_from([f"d{i}" for i in range(12)])
    judgments = st.dictionaries(documents, st.sampled_from(grades), min_size=1, max_size=10)
    qrels = draw(
        st.dictionaries(
            st.sampled_from("1234"), judgments.filter(lambda of: max(of.values()) >= 0), min_size=1, max_size=4
        )
    )
    ranking = st.lists(documents, min_size=1, unique=True)
    run = {}
    for query in draw(st.sets(st.sampled_from("12345"), min_size=1)):
        ranked = draw(ranking)
        scores = draw(st.lists(st.integers(-2, 2), min_size=len(ranked), max_size=len(ranked))) if ties else range(12)
        run[query] = {document: score / 4 for document, score in zip(ranked, scores, strict=False)}
    return run, qrels


def run_frame(run: Run) -> pl.DataFrame:
    """A nested dict as a run."""
    rows = [(query, document, score) for query, ranking in run.items() for document, score in ranking.items()]
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def qrels_frame(qrels: Qrels) -> pl.DataFrame:
    """A nested dict as qrels; grades are integers if all of them are."""
    rows = [(query, document, grade) for query, judged in qrels.items() for document, grade in judged.items()]
    whole = all(isinstance(grade, int) for _, _, grade in rows)
    schema = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64 if whole else pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def collection(
    seed: int = 0, *, queries: int = 60, depth: int = 30, grades: Sequence[float] = (-1, 0, 0, 0, 1, 2, 3)
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run and its judgments of some size.

    Of seven queries one is missing from the run, one has no relevant document and one has no judgment.
    """
    chance = random.Random(seed)
    documents = [f"d{i}" for i in range(3 * depth)]
    run, qrels = {}, {}
    for number in range(queries):
        query = f"q{number}"
        if number % 7 != 1:
            ranked = chance.sample(documents, chance.randint(1, depth))
            run[query] = {document: float(chance.randint(0, depth)) for document in ranked}
        if number % 7 != 2:
            judged = [
                *chance.sample(documents, chance.randint(1, depth)),
                *chance.sample([*run.get(query, {}), "d0"], 1),
            ]
            allowed = [0, -1] if number % 7 == 3 else grades
            qrels[query] = {document: chance.choice(allowed) for document in judged}
    return run_frame(run), qrels_frame(qrels)
