"""Tables of other libraries as their users have them: the same figures, or an error that says what to type."""

import gc
import uuid
import warnings

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from messages import message_of

import polars_ir as ir

RUN = pl.DataFrame(
    {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7], "price": [1, 2, 3]}
)
QRELS = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "relevance": [1, 2]})
WANTED = [("q1", 0.5), ("q2", 1.0)]
OF_PANDAS = RUN.to_pandas()


def rows(found: object) -> list[tuple]:
    if isinstance(found, pd.DataFrame):
        return list(found.itertuples(index=False, name=None))
    return found.lazy().collect().rows()


# pandas.


def test_a_column_of_mixed_types_that_no_measure_needs_is_left_alone():
    run = OF_PANDAS.assign(note=[1, "two", None])
    assert rows(run.ir.evaluate(QRELS, "RR")) == WANTED


def test_a_measure_that_needs_a_column_of_mixed_types_is_told_its_name_and_type():
    run = OF_PANDAS.assign(note=[1, "two", None])
    message = message_of(lambda: run.ir.evaluate(QRELS, (pl.col("note") * 2.5).sum().alias("mine")))
    assert message.startswith("measure 'mine' cannot be computed from note (String)")


def test_ids_of_mixed_types_are_named_with_advice_that_runs():
    run = OF_PANDAS.assign(doc_id=["d1", "d2", 3])
    message = message_of(lambda: run.ir.evaluate(QRELS, "RR"))
    assert message.startswith("run column 'doc_id' has values without a common Arrow type: ")
    run = eval(message.partition("Make them one: ")[2].removesuffix("."))  # noqa: S307  # what the message says
    assert rows(run.ir.evaluate(QRELS, "RR")) == [("q1", 0.5), ("q2", 0.0)]


def test_sparse_columns_are_columns():
    sparse = OF_PANDAS.assign(score=pd.arrays.SparseArray([0.9, 0.5, 0.7]), clicks=pd.arrays.SparseArray([0, 0, 3]))
    assert rows(sparse.ir.evaluate(QRELS, ["RR", pl.col("clicks").sum().alias("clicked")])) == [
        ("q1", 0.5, 0),
        ("q2", 1.0, 3),
    ]


@pytest.mark.parametrize("drop", [True, False])
def test_ids_may_be_the_index(drop):
    run = OF_PANDAS.set_index("query_id", drop=drop)
    qrels = QRELS.to_pandas().set_index(["query_id", "doc_id"], drop=drop)
    per_query = run.ir.evaluate(qrels, "RR")
    assert rows(per_query) == WANTED
    assert rows(per_query.set_index("query_id").ir.mean()) == [(0.75,)]


def test_a_series_is_qrels_and_a_run():
    qrels = QRELS.to_pandas().set_index(["query_id", "doc_id"])["relevance"]
    run = OF_PANDAS.set_index(["query_id", "doc_id"])["score"]
    assert rows(OF_PANDAS.ir.evaluate(qrels, "RR")) == WANTED
    found = ir.evaluate(run, qrels.rename(None), "RR")
    assert isinstance(found, pd.DataFrame)
    assert rows(found) == WANTED


def test_a_series_without_names_in_its_index_is_an_error_whose_advice_runs():
    qrels = QRELS.to_pandas().set_index(["query_id", "doc_id"])["relevance"].rename_axis([None, None])
    message = message_of(lambda: OF_PANDAS.ir.evaluate(qrels, "RR"))
    assert "a Series whose index has no name" in message
    qrels = eval(message.partition("Say what its index holds: ")[2].removesuffix("."))  # noqa: S307
    assert rows(OF_PANDAS.ir.evaluate(qrels, "RR")) == WANTED


def test_a_series_tells_slices_apart_by_its_index_or_by_its_rows():
    per_query = OF_PANDAS.ir.evaluate(QRELS, "RR").assign(tenant=["x", "y"])
    wanted = [("x", 0.5), ("y", 1.0)]
    plain = per_query.drop(columns="tenant")
    assert rows(plain.ir.mean(by=per_query.set_index("query_id")["tenant"])) == wanted
    assert rows(plain.ir.mean(by=per_query["tenant"])) == wanted
    assert pl.from_pandas(plain).ir.mean(by=pl.Series("tenant", ["x", "y"])).rows() == wanted


def test_a_series_that_lacks_rows_is_an_error():
    per_query = OF_PANDAS.ir.evaluate(QRELS, "RR")
    message = message_of(lambda: per_query.ir.mean(by=pd.Series(["x"], name="tenant")))
    assert message == (
        "by is a Series whose index lacks 1 of the index of per_query. Give one with the index of per_query, or a "
        "frame with a query column."
    )


def test_two_columns_of_one_name_are_an_error_whose_advice_runs():
    run = pd.concat([OF_PANDAS, OF_PANDAS[["score"]]], axis=1)
    message = message_of(lambda: run.ir.evaluate(QRELS, "RR"))
    assert message.startswith("run has several columns 'score'.")
    run = eval(message.partition("Keep the first of each: ")[2].removesuffix("."))  # noqa: S307
    assert rows(run.ir.evaluate(QRELS, "RR")) == WANTED


# Recommenders.


@pytest.mark.parametrize("name", ["user_id", "userId", "userID"])
@pytest.mark.parametrize("item", ["item_id", "itemId"])
def test_users_beside_items_are_queries(name, item):
    names = {"query_id": name, "doc_id": item}
    found = RUN.rename(names).ir.evaluate(QRELS.rename(names), "RR")
    assert found.columns == [name, "RR"]
    assert found.ir.mean().item() == 0.75
    assert found.ir.mean(by=found.select(name, tenant=pl.lit("x"))).rows() == [("x", 0.75)]


def test_users_beside_queries_or_documents_are_not_queries():
    found = RUN.with_columns(user_id=pl.lit("u")).ir.evaluate(QRELS, "RR")
    assert found.columns == ["query_id", "RR"]
    assert "has no 'query_id' column" in message_of(
        lambda: RUN.rename({"query_id": "user_id"}).ir.evaluate(QRELS, "RR")
    )


@pytest.mark.parametrize("kind", [lambda frame: frame, lambda frame: frame.to_pandas()])
def test_interactions_without_grades_are_an_error_whose_advice_runs(kind):
    qrels = kind(QRELS.select(user_id="query_id", item_id="doc_id"))
    run = kind(RUN.rename({"query_id": "user_id", "doc_id": "item_id"}))
    message = message_of(lambda: ir.evaluate(run, qrels, "RR"))
    assert "if every row is relevant, as clicks and purchases are, say so: " in message
    qrels = eval(message.partition("say so: ")[2].removesuffix("."))  # noqa: S307  # what the message says
    assert rows(ir.evaluate(run, qrels, "RR")) == WANTED


# narwhals and Arrow.


def test_frames_of_narwhals_are_the_frames_in_them():
    assert rows(ir.evaluate(nw.from_native(RUN), nw.from_native(QRELS.lazy()), "RR")) == WANTED
    assert isinstance(ir.evaluate(nw.from_native(RUN.lazy()), QRELS, "RR"), pl.LazyFrame)
    assert isinstance(ir.evaluate(nw.from_native(OF_PANDAS), QRELS, "RR"), pd.DataFrame)


def test_a_lazy_frame_of_narwhals_over_another_engine_is_read():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        relation = nw.from_native(connection.from_arrow(RUN.to_arrow()))
        assert rows(ir.evaluate(relation, QRELS, "RR")) == WANTED


def as_dataset(frame: pl.DataFrame, folder: object) -> ds.Dataset:
    for part, rows_of_part in enumerate(frame.iter_slices(2)):
        rows_of_part.write_parquet(folder / f"{part}.parquet")
    return ds.dataset(folder)


def as_stream(frame: pl.DataFrame, _folder: object) -> pa.RecordBatchReader:
    table = frame.to_arrow()
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1))


@pytest.mark.parametrize("make", [as_dataset, as_stream])
@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_arrow_datasets_and_streams_are_plans(make, engine, tmp_path):
    table = make(RUN, tmp_path)
    plan = ir.evaluate(table, QRELS, ["RR", pl.col("price").sum().alias("cost")])
    assert isinstance(plan, pl.LazyFrame)
    wanted = [("q1", 0.5, 3), ("q2", 1.0, 3)]
    assert plan.collect(engine=engine).rows() == wanted
    assert plan.collect(engine=engine).rows() == wanted  # a stream can be read once, and its plan often


@pytest.mark.parametrize("make", [as_dataset, as_stream])
def test_arrow_datasets_and_streams_are_qrels(make, tmp_path):
    found = ir.evaluate(RUN, make(QRELS, tmp_path), "RR")
    assert isinstance(found, pl.DataFrame)
    assert found.rows() == WANTED


def test_a_plan_over_a_dataset_reads_the_columns_it_needs(tmp_path):
    asked = []

    dataset = as_dataset(RUN, tmp_path)
    to_batches = type(dataset).to_batches

    class Dataset:
        schema = dataset.schema

        def to_batches(self, columns=None, **options):
            asked.append(columns)
            return to_batches(dataset, columns=columns, **options)

    from polars_ir.frames.kinds import scan_arrow_dataset

    plan = scan_arrow_dataset("run", Dataset(), "score")
    assert ir.evaluate(plan, QRELS, "RR").collect().rows() == WANTED
    assert asked
    assert all(columns is not None and "price" not in columns for columns in asked)


def test_the_file_of_a_stream_goes_with_its_plan(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    plan = ir.evaluate(as_stream(RUN, None), QRELS, "RR")
    assert len(list(tmp_path.iterdir())) == 1
    assert plan.collect().rows() == WANTED
    del plan
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_names_hold_the_systems_is_a_run_of_several(tmp_path):
    for system in ("a", "b"):
        folder = tmp_path / f"run={system}"
        folder.mkdir()
        RUN.write_parquet(folder / "part.parquet")
    found = ir.evaluate(pl.scan_parquet(tmp_path, hive_partitioning=True), QRELS, "RR").collect()
    assert found.rows() == [(system, *row) for system in "ab" for row in WANTED]
    of_arrow = ir.evaluate(ds.dataset(tmp_path, partitioning="hive"), QRELS, "RR").collect()
    assert of_arrow.rows() == found.rows()


# Types of ids.


@pytest.mark.parametrize("kind", [lambda frame: frame, lambda frame: frame.to_pandas()])
def test_float_ids_are_an_error_whose_advice_helps(kind):
    numbers = {"query_id": "query_id", "doc_id": pl.col("doc_id").str.slice(1).cast(pl.Float64)}
    run, qrels = kind(RUN.with_columns(**{k: v for k, v in numbers.items() if k == "doc_id"})), QRELS
    qrels = qrels.with_columns(pl.col("doc_id").str.slice(1))
    message = message_of(lambda: ir.evaluate(run, qrels, "RR"))
    run = eval(message.partition("ids are text: ")[2].removesuffix("."))  # noqa: S307
    message = message_of(lambda: ir.evaluate(run, qrels, "RR"))
    assert message.startswith("ids must have one type on both sides")
    run = run.cast({"doc_id": pl.String}) if isinstance(run, pl.DataFrame) else run.astype({"doc_id": str})
    assert rows(ir.evaluate(run, qrels, "RR")) == WANTED


IDS = {"d1": uuid.UUID(int=1), "d2": uuid.UUID(int=2**127)}


def test_ids_of_bytes_are_an_error_whose_advice_runs():
    ids = pl.col("doc_id").replace_strict({key: value.bytes for key, value in IDS.items()}, return_dtype=pl.Binary)
    run, qrels = RUN.with_columns(ids), QRELS.with_columns(ids)
    message = message_of(lambda: ir.evaluate(run, qrels, "RR"))
    assert message.startswith("run column 'doc_id' must be strings or integers; it is Binary.")
    code = message.partition("in both tables: ")[2].removesuffix(".")
    texts = [eval(code, {"pl": pl, "run": table}) for table in (run, qrels)]  # noqa: S307  # what the message says
    assert rows(ir.evaluate(*texts, "RR")) == WANTED


@pytest.mark.parametrize("as_text", [False, True], ids=["UUIDs", "their text"])
def test_uuids_in_pandas_are_ids(as_text):
    run, qrels = OF_PANDAS.assign(doc_id=OF_PANDAS["doc_id"].map(IDS)), QRELS.to_pandas()
    qrels["doc_id"] = qrels["doc_id"].map({key: str(value) for key, value in IDS.items()} if as_text else IDS)
    assert rows(run.ir.evaluate(qrels, "RR")) == WANTED
    first = run.index[0]
    run.loc[first, "doc_id"] = None
    assert "1 row whose 'doc_id' is null" in message_of(lambda: run.ir.evaluate(qrels, "RR"))


def test_uuids_as_objects_are_an_error_whose_advice_runs():
    run = RUN.with_columns(pl.Series("doc_id", [IDS[document] for document in RUN["doc_id"]], dtype=pl.Object))
    message = message_of(lambda: ir.evaluate(run, QRELS, "RR"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.exceptions.PolarsInefficientMapWarning)
        run = eval(message.partition("in both tables: ")[2].removesuffix("."))  # noqa: S307
    assert run["doc_id"][0] == str(IDS["d1"])


def test_uuids_in_dicts_are_ids():
    run = {IDS["d1"]: {IDS["d1"]: 1.0, IDS["d2"]: 0.5}}
    assert ir.evaluate(run, {IDS["d1"]: {IDS["d2"]: 1}}, "RR").rows() == [(str(IDS["d1"]), 0.5)]
