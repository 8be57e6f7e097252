"""Collections for tests: small ones that hypothesis makes up and shrinks, and larger ones from a seed.

All of them have what goes wrong in practice: tied scores, retrieved documents nobody judged, judged documents nobody
retrieved, negative grades, queries that the run missed, queries without a relevant document, queries nobody judged.
"""

import random
from collections.abc import Mapping, Sequence
from itertools import combinations

import polars as pl
from hypothesis import strategies as st
from suite import is_whole, share

from polars_ir.language.catalog import CATALOG, MeasureInfo

Run = Mapping[str, Mapping[str, float]]
Qrels = Mapping[str, Mapping[str, float]]


#: Values of the parameters of measures, by `measure.parameter` or by parameter; each also has its default.
VALUES: dict[str, list[object]] = {
    "k": [3, 10],
    "rel": [2],
    "beta": [2, 0.5],
    "p": [0.5],
    "max_rel": [3],
    "min_rel": [0.5],
    "T": [2, 0.5],
    "normalize": [False],
    "dcg": ["exp-log2", "binary"],
    "counting": ["implied", "retrieved"],
    "discount": ["ln", "jarvelin", "rank", "none"],
    "denominator": ["min(k,R)", "R", "k", "hits"],
    "P.denominator": ["min(k,n)"],
    "gains": [{0.5: 1, 1: 5, 1.5: 2, 2: 1, 2.25: 3, 3: 4, 4: 6}],
    "RBP.gains": [{0.5: 0.2, 1: 1, 1.5: 0.4, 2: 0.1, 2.25: 0.6, 3: 0.8, 4: 0.3}],
    "recall": [0.0, 0.3, 1],
    "rounding": ["up"],
    "multiple": [0.4, 2],
    "coefficients": [(2, -1, -0.5, 0.25)],
    "n_docs": [1000],
    "negatives": [1, 3, 10],
    "alpha": [0.9, 0, 1],
    "NRBP.beta": [0.8],
    "nNRBP.beta": [0.8],
    "weights": ["importance"],
    **{
        f"{name}.gains": [{0.5: 0.2, 1: 1, 1.5: 0.4, 2: 0.1, 2.25: 0.6, 3: 0.8, 4: 0.3}]
        for name in ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP")
    },
}


def samples(info: MeasureInfo) -> list[dict[str, object]]:
    """Arguments of a measure: its defaults, each of `VALUES` alone, and the first values of any two together.

    The quick suite has the defaults and the first value of each parameter.
    """
    values = {
        name: [
            value
            for value in VALUES.get(f"{info.name}.{name}", VALUES.get(name, []))
            if value != default and info.options[name].value.holds(value)
        ]
        for name, default in info.parameters.items()
    }
    alone = [{name: value} for name, of_name in values.items() for value in of_name[: share(len(of_name), 1)]]
    firsts = [(name, of_name[0]) for name, of_name in values.items() if of_name]
    return [{}, *alone, *(dict(pair) for pair in combinations(firsts, 2) if is_whole())]


def every_measure(kind: str = "documents") -> list[pl.Expr]:
    """Every measure of a kind of judgments: in the whole suite with every sample of its parameters, else with one."""
    measures = [info for info in CATALOG.values() if info.kind == kind]
    if is_whole():
        return [info.function(**arguments) for info in measures for arguments in samples(info)]
    return [info.function(**of[number % len(of)]) for number, info in enumerate(measures) if (of := samples(info))]


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
    retrievable = [*documents, *(f"x{i}" for i in range(depth // 3))]  # the last are in no pool
    run, qrels = {}, {}
    for number in range(queries):
        query = f"q{number}"
        if number % 7 != 1:
            ranked = chance.sample(retrievable, chance.randint(1, depth))
            run[query] = {document: float(chance.randint(0, depth)) for document in ranked}
        if number % 7 != 2:
            judged = [
                *chance.sample(documents, chance.randint(1, depth)),
                *chance.sample([d for d in [*run.get(query, {}), "d0"] if d in documents], 1),
            ]
            allowed = [0, -1] if number % 7 == 3 else grades
            qrels[query] = {document: chance.choice(allowed) for document in judged}
    return run_frame(run), qrels_frame(qrels)


def collection_of(
    kind: str, seed: int = 0, *, grades: Sequence[float] = (-1, 0, 0, 0, 1, 2, 3)
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run and judgments of a kind."""
    if kind == "preferences":
        return preference_collection(seed)
    run, qrels = collection(seed, grades=grades)
    return (run, qrels) if kind == "documents" else (run, of_subtopics(qrels, seed))


def of_subtopics(qrels: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """Judgments of up to three subtopics for every judged document, the first with the grade it has."""
    chance = random.Random(seed)
    rows = []
    for query, document, grade in qrels.select("query_id", "doc_id", "relevance").iter_rows():
        subtopics = chance.sample("abcd", chance.randint(1, 3))
        grades = [grade, *(chance.choice([0, grade]) for _ in subtopics[1:])]
        rows += [(query, s, document, g) for s, g in zip(subtopics, grades, strict=True)]
    schema = {"query_id": pl.String, "subtopic": pl.String, "doc_id": pl.String, "relevance": qrels["relevance"].dtype}
    importance = pl.col("subtopic").replace_strict({"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1})
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(importance=importance)


def preference_collection(seed: int = 0, *, queries: int = 21, depth: int = 16) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run and preference judgments of up to three judges, each with up to three groups of levels.

    Of seven queries one is missing from the run, one has no judgment, one only judges who find nothing relevant, and
    so prefer nothing, and one such a judge among others.
    """
    chance = random.Random(seed)
    documents = [f"d{i}" for i in range(2 * depth)]
    run: dict[str, dict[str, float]] = {}
    rows = []
    for number in range(queries):
        query = f"q{number}"
        if number % 7 != 1:
            ranked = chance.sample(documents, chance.randint(1, depth))
            run[query] = {document: float(chance.randint(0, depth)) for document in ranked}
        for judge in range(1 + number % 3 if number % 7 != 2 else 0):
            # The document's worth to a judge keeps the groups from contradicting each other.
            nothing = number % 7 == 3 or (number % 7 == 4 and judge == 0)
            allowed = [0] if nothing else [0, 0, 0, 1, 2, 3, 4]
            worth = {document: chance.choice(allowed) for document in documents}
            for group in range(chance.randint(1, 3)):
                scale = chance.choice([0.5, 1.0, 3.0])
                judged = chance.sample(documents, chance.randint(2, depth // 2))
                rows += [(query, f"j{judge}", f"g{group}", document, scale * worth[document]) for document in judged]
    schema = ["query_id", "judge", "group", "doc_id", "relevance"]
    return run_frame(run), pl.DataFrame(rows, schema=schema, orient="row")
