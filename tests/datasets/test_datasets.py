"""Test collections: what the bundled one holds, those of ir_datasets, and the objects of other packages as tables."""

import sys
from collections import namedtuple
from types import SimpleNamespace
from typing import NamedTuple

import polars as pl
import pytest
from messages import message_of

import polars_ir as ir
from polars_ir.frames.kinds import to_polars
from polars_ir.version import requirement


@pytest.fixture(scope="module")
def pydocs() -> ir.datasets.Dataset:
    return ir.datasets.load("pydocs")


def test_there_are_enough_queries_with_a_text(pydocs):
    assert pydocs.queries.columns == ["query_id", "text", "category"]
    assert pydocs.queries.height >= 60
    assert pydocs.queries["query_id"].is_unique().all()
    assert pydocs.queries.filter(pl.any_horizontal(pl.all().fill_null("").str.strip_chars() == "")).is_empty()


def test_grades_go_from_0_to_3(pydocs):
    assert pydocs.qrels.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    assert sorted(pydocs.qrels["relevance"].unique()) == [0, 1, 2, 3]


def test_two_queries_have_no_relevant_document_as_the_description_says(pydocs):
    relevant = pydocs.qrels.filter(pl.col("relevance") > 0)
    assert set(pydocs.queries["query_id"]) - set(relevant["query_id"]) == {"q43", "q74"}


def test_three_systems_give_at_most_100_documents_a_query(pydocs):
    assert pydocs.runs.schema == {"run": pl.String, "query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert sorted(pydocs.runs["run"].unique()) == ["bm25", "chargrams", "tfidf"]
    assert pydocs.runs.group_by("run", "query_id").len()["len"].max() <= 100


def test_every_judged_or_retrieved_query_is_one_of_the_queries(pydocs):
    queries = set(pydocs.queries["query_id"])
    assert set(pydocs.qrels["query_id"]) <= queries
    assert set(pydocs.runs["query_id"]) <= queries


def test_the_top_10_of_every_run_is_judged(pydocs):
    judged = pydocs.runs.ir.judged(pydocs.qrels, k=10)
    assert judged["Judged@10"].unique().to_list() == [1.0]


def test_the_collection_has_no_other_findings_than_what_all_collections_have(pydocs):
    found = ir.validate(pydocs.runs, pydocs.qrels)["finding"].to_list()
    assert [name for name in found if "null" in name or "duplicates" in name or "different" in name] == []


@pytest.mark.parametrize("name", ["pydoc", "PYDOCS"])
def test_an_unknown_name_shows_the_names_there_are(name):
    with pytest.raises(ir.IRError) as error:
        ir.datasets.load(name)
    assert str(error.value) == f"name must be one of 'pydocs'; got {name!r}. Did you mean 'pydocs'?"


# Through ir_datasets.

TOPICS = {"q1": "one", "q2": "two"}


class Query(NamedTuple):
    """A query with a field that is no scalar."""

    query_id: str
    text: str
    year: int | None
    authors: list[str]


class Qrel(NamedTuple):
    """A judgment."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Scored(NamedTuple):
    """A row of a run, by ir_measures' and ir_datasets' names."""

    query_id: str
    doc_id: str
    score: float


class Source:
    """A dataset in the form of ir_datasets: judgments, queries and documents to rank."""

    def queries_handler(self):
        return self

    qrels_handler = scoreddocs_handler = queries_handler

    def queries_cls(self):
        return Query

    def queries_iter(self):
        return (Query(name, text, None if name == "q1" else 2003, []) for name, text in TOPICS.items())

    def qrels_cls(self):
        return Qrel

    def qrels_iter(self):
        return iter([Qrel("q1", "d1", 2, "0"), Qrel("q2", "d1", 0, "0")])

    def scoreddocs_cls(self):
        return Scored

    def scoreddocs_iter(self):
        return iter([Scored("q1", "d1", 1), Scored("q1", "d2", 0.5)])


class Judgments:
    """A dataset of judgments alone, whose download fails."""

    qrels_cls = Source.qrels_cls

    def qrels_handler(self):
        return self

    def qrels_iter(self):
        raise ConnectionError("no route to host\nmore")


class Nothing:
    """A dataset without judgments."""

    queries_cls, queries_iter, queries_handler = Source.queries_cls, Source.queries_iter, Source.queries_handler


class Stub:
    """A dataset as ir_datasets hands it out."""

    def __init__(self, source):
        self.source = source

    def __getattr__(self, name):
        return getattr(self.source, name)

    def has(self, part):
        return hasattr(self.source, f"{part}_handler")

    def has_qrels(self):
        return self.has("qrels")


SOURCES = {
    "polars_ir_test": Nothing(),
    "polars_ir_test/all": Source(),
    "polars_ir_test/offline": Judgments(),
}


@pytest.fixture(params=["stub", "ir_datasets"])
def sources(request, monkeypatch):
    """The datasets above, registered in ir_datasets, or in a module of that name where it is not installed."""
    if request.param == "stub":
        registry = {name: Stub(source) for name, source in SOURCES.items()}
        monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(registry=registry, load=registry.__getitem__))
        return
    ir_datasets = pytest.importorskip("ir_datasets")
    registered = {name: ir_datasets.Dataset(source) for name, source in SOURCES.items()}
    for dataset in registered.values():
        dataset.metadata = None  # what ir_datasets would look up in its own list
    every = vars(ir_datasets.registry)["_registered"]
    monkeypatch.setattr(ir_datasets.registry, "_registered", {**every, **registered})


@pytest.mark.usefixtures("sources")
def test_a_dataset_has_the_scalar_fields_of_its_records():
    dataset = ir.datasets.from_ir_datasets("polars_ir_test/all")
    assert dataset.queries.schema == {"query_id": pl.String, "text": pl.String, "year": pl.Int64}
    assert dataset.queries.rows() == [("q1", "one", None), ("q2", "two", 2003)]
    assert dataset.qrels.rows() == [("q1", "d1", 2, "0"), ("q2", "d1", 0, "0")]
    assert dataset.runs.rows() == [("q1", "d1", 1.0), ("q1", "d2", 0.5)]
    assert ir.evaluate(dataset.runs, dataset.qrels, "RR").rows() == [("q1", 1.0), ("q2", 0.0)]


@pytest.mark.usefixtures("sources")
def test_many_records_are_read_in_batches(monkeypatch):
    monkeypatch.setattr("polars_ir.datasets.collections._BATCH", 1)
    assert ir.datasets.from_ir_datasets("polars_ir_test/all").qrels.height == 2


@pytest.mark.usefixtures("sources")
def test_a_dataset_that_can_not_be_downloaded_is_an_error_with_the_reason():
    dataset = ir.datasets.from_ir_datasets("polars_ir_test/offline")
    assert dataset.queries.schema == {"query_id": pl.String, "text": pl.String}
    assert dataset.runs.schema == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    with pytest.raises(ir.IRError) as error:
        _ = dataset.qrels
    assert str(error.value) == (
        "polars_ir_test/offline: its qrels cannot be read through ir_datasets: ConnectionError: no route to host"
    )


@pytest.mark.usefixtures("sources")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("polars_ir_test/al", "ir_datasets has no 'polars_ir_test/al'. Did you mean 'polars_ir_test/all'"),
        (7, "ir_datasets has no 7."),
        (
            "polars_ir_test",
            "'polars_ir_test' has no judgments. These have some: 'polars_ir_test/all', 'polars_ir_test/offline'.",
        ),
    ],
)
def test_a_name_without_judgments_shows_others(name, said):
    assert message_of(lambda: ir.datasets.from_ir_datasets(name)).startswith(said)


def test_without_ir_datasets_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(ir.IRError) as error:
        ir.datasets.from_ir_datasets("beir/scifact/test")
    assert str(error.value) == f"from_ir_datasets needs an optional dependency: pip install {requirement('datasets')}."


# Objects of other packages.

RUN = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7]})
QRELS = pl.DataFrame(
    {"query_id": ["q1", "q1", "q2", "q2"], "doc_id": ["d2", "d9", "d1", "d3"], "relevance": [1, 2, 1, 0]}
)

#: q1: first hit at 2, one of two found; q2: first hit at 1, the only one.
WANTED = [("q1", 0.5, 0.5), ("q2", 1.0, 1.0)]


def evaluated(run, qrels=QRELS):
    """The figures of each query."""
    return pl.DataFrame(ir.evaluate(run, qrels, ["RR", "R@2"]))


def test_named_tuples_of_ir_measures_are_tables():
    ir_measures = pytest.importorskip("ir_measures")
    run = [ir_measures.ScoredDoc(*row) for row in RUN.iter_rows()]
    qrels = [ir_measures.Qrel(*row) for row in QRELS.iter_rows()]
    assert evaluated(run, qrels).rows() == WANTED
    assert evaluated(iter(run), (qrel for qrel in qrels)).rows() == WANTED


def test_named_tuples_keep_their_other_fields_and_one_type_of_number():
    qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "subtopic"])  # noqa: PYI024
    frame = to_polars("qrels", [qrel("q", "d", 1, "s"), qrel("q", "e", 0.5, "t")], column="relevance")
    assert frame.rows() == [("q", "d", 1.0, "s"), ("q", "e", 0.5, "t")]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "run must be a table (Polars, pandas, Arrow) or nested dicts; got list: []."),
        (
            [("q", "d", 1.0)],
            (
                "run must be a table (Polars, pandas, Arrow) or nested dicts; got list: [('q', 'd', 1.0)]. "
                "If it has a list for each query, number them: dict(enumerate(run))."
            ),
        ),
        (
            [Scored("q", "d", 1.0), ("q", "e", 1.0)],
            "run must be tuples with the fields query_id, doc_id, score; got ('q', 'e', 1.0).",
        ),
    ],
)
def test_other_lists_are_no_tables(rows, said):
    assert message_of(lambda: ir.evaluate(rows, QRELS, "RR")) == said


def test_ids_of_several_types_among_named_tuples_are_an_error():
    with pytest.raises(ir.IRError, match="run mixes types in one of its fields: "):
        ir.evaluate([Scored("q", "d", 1.0), Scored(1, "d", 1.0)], QRELS, "RR")


def test_frames_of_pyterrier_are_tables():
    run = RUN.rename({"query_id": "qid", "doc_id": "docno"}).with_columns(query=pl.lit("text"))
    run = run.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("qid") - 1)
    qrels = QRELS.rename({"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    assert evaluated(run.to_pandas(), qrels.to_pandas()).rows() == WANTED


@pytest.fixture
def hugging_face():
    """A split of a dataset in BEIR's layout."""
    datasets = pytest.importorskip("datasets")
    rows = QRELS.rename({"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"})
    return datasets.Dataset.from_dict(rows.to_dict(as_series=False))


def test_hugging_face_datasets_are_tables_with_their_selections(hugging_face):
    assert evaluated(RUN, hugging_face).rows() == WANTED
    assert evaluated(RUN, hugging_face.select([3, 1, 0, 2])).rows() == WANTED
    assert to_polars("qrels", hugging_face.select([1]), column="relevance").rows() == [("q1", "d9", 2)]


def test_hugging_face_datasets_by_system_are_runs(hugging_face):
    run = type(hugging_face).from_dict(RUN.to_dict(as_series=False))
    assert evaluated({"a": run, "b": run}).height == 4


def test_a_dict_of_splits_names_them(hugging_face):
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"dev": hugging_face, "test": hugging_face})
    for run, qrels, name in ((RUN, splits, "qrels"), (splits, QRELS, "run")):
        with pytest.raises(ir.IRError) as error:
            ir.evaluate(run, qrels, "RR")
        assert str(error.value) == f"{name} is a DatasetDict with the splits 'dev', 'test'. Take one: {name}['...']."


def test_a_dataset_that_streams_is_loaded_whole(hugging_face):
    assert evaluated(RUN, hugging_face.to_iterable_dataset()).rows() == WANTED
