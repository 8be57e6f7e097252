"""Tables of every kind, under every name, with every type of id and grade: the same figures."""

from datetime import date

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_ir as ir
from polars_ir.frames.kinds import as_dtype

NESTED_RUN = {"q1": {"d1": 0.9, "d2": 0.5, "d3": 0.2}, "q2": {"d1": 0.7, "d2": 0.1}}
NESTED_QRELS = {"q1": {"d2": 1, "d9": 2}, "q2": {"d1": 1, "d3": 0}}
RUN = pl.DataFrame([(q, d, s) for q, docs in NESTED_RUN.items() for d, s in docs.items()], orient="row").rename(
    {"column_0": "query_id", "column_1": "doc_id", "column_2": "score"}
)
QRELS = pl.DataFrame([(q, d, g) for q, docs in NESTED_QRELS.items() for d, g in docs.items()], orient="row").rename(
    {"column_0": "query_id", "column_1": "doc_id", "column_2": "relevance"}
)
MEASURES = ["RR", "R@2", "NumRet"]

#: q1: first hit at 2, one of two found, three retrieved; q2: first hit at 1, the only one, two retrieved.
WANTED = [("q1", 0.5, 0.5, 3), ("q2", 1.0, 1.0, 2)]


def evaluated(run: object, qrels: object = QRELS) -> pl.DataFrame:
    """The result as a Polars DataFrame."""
    found = ir.evaluate(run, qrels, MEASURES)
    return pl.from_pandas(found) if isinstance(found, pd.DataFrame) else found.lazy().collect()


KINDS = {
    "Polars": lambda frame: frame,
    "lazy Polars": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas with a named index": lambda frame: frame.to_pandas().set_index("query_id"),
    "pandas with two named indices": lambda frame: frame.to_pandas().set_index(["query_id", "doc_id"]),
    "pandas with the index of a selection": lambda frame: frame[::-1].to_pandas().iloc[::-1],
    "Arrow": lambda frame: frame.to_arrow(),
}


@pytest.mark.parametrize("of_run", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("of_qrels", KINDS.values(), ids=KINDS)
@pytest.mark.whole("every pair of kinds", quick=10)
def test_tables_of_every_kind_go_together(of_run, of_qrels):
    assert evaluated(of_run(RUN), of_qrels(QRELS)).rows() == WANTED


def test_a_duckdb_relation_is_a_table():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        run = connection.from_arrow(RUN.to_arrow())
        qrels = connection.from_arrow(QRELS.to_arrow())
        assert evaluated(run, qrels).rows() == WANTED


#: A run in the SQL of DuckDB, whose numbers are Decimals.
IN_SQL = "select 'q1' as query_id, unnest(['a', 'b']) as doc_id, unnest([1.5, 2.25]) as score"


def test_a_duckdb_relation_is_lazy_where_that_is_asked_for():
    # Earlier ones close a relation that a plan reads twice.
    duckdb = pytest.importorskip("duckdb", minversion="2.0")
    with duckdb.connect() as connection:
        lazy = connection.sql(IN_SQL).pl(lazy=True).ir.evaluate({"q1": {"a": 1}}, "RR")
        assert isinstance(lazy, pl.LazyFrame)
        assert lazy.collect().rows() == [("q1", 0.5)]


def test_a_duckdb_relation_is_evaluated_and_written(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        assert ir.evaluate(connection.sql(IN_SQL), {"q1": {"a": 1}}, "RR").rows() == [("q1", 0.5)]
        ir.write_run(connection.sql(IN_SQL), tmp_path / "a.run")
    assert ir.read_run(tmp_path / "a.run").rows() == [("q1", "b", 1, 2.25), ("q1", "a", 2, 1.5)]


def test_nested_dicts_are_tables():
    assert evaluated(NESTED_RUN, NESTED_QRELS).rows() == WANTED


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset])
def test_collections_of_relevant_documents_are_qrels(kind):
    qrels = {"q1": kind(["d2", "d9"]), "q2": kind(["d1"])}
    assert evaluated(RUN, qrels).rows() == WANTED


def test_lists_are_rankings_in_a_run():
    run = {query: list(documents) for query, documents in NESTED_RUN.items()}
    assert evaluated(run).rows() == WANTED


def test_whole_and_fractional_scores_in_one_dict_are_numbers():
    assert evaluated({"q1": {"d1": 2, "d2": 1.5, "d3": 1}, "q2": {"d1": 3, "d2": 0.5}}).rows() == WANTED


def test_a_query_without_documents_stays_judged():
    assert ir.evaluate({"q": ["d1"]}, {"q": ["d1"], "empty": []}, "RR").rows() == [("empty", 0.0), ("q", 1.0)]


@pytest.mark.parametrize("kind", [lambda frame: frame, lambda frame: frame.to_pandas(), lambda _: NESTED_RUN])
def test_a_dict_of_systems_gives_a_run_column(kind):
    found = ir.evaluate({"a": kind(RUN), "b": kind(RUN)}, QRELS, MEASURES)
    rows = found.rows() if isinstance(found, pl.DataFrame) else list(found.itertuples(index=False, name=None))
    assert rows == [(system, *row) for system in "ab" for row in WANTED]


def test_a_dict_of_lazy_systems_stays_lazy():
    found = ir.evaluate({"a": RUN.lazy(), "b": RUN.lazy()}, QRELS, MEASURES)
    assert isinstance(found, pl.LazyFrame)
    assert found.collect().height == 4


def test_a_system_whose_run_is_empty_is_still_one():
    with pytest.warns(ir.IRWarning, match="the run of 'b' and the qrels share no query"):
        found = ir.evaluate({"a": RUN, "b": RUN.clear()}, QRELS, "RR")
    assert found.rows() == [("a", "q1", 0.5), ("a", "q2", 1.0), ("b", "q1", 0.0), ("b", "q2", 0.0)]


# Types of ids and grades.


def with_integers(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the numbers of its ids."""
    return frame.with_columns(pl.col("query_id", "doc_id").str.slice(1).cast(pl.Int64))


@pytest.mark.parametrize(("run_type", "qrels_type"), [(pl.Int64, pl.Int64), (pl.Int32, pl.Int64), (pl.UInt8, pl.Int16)])
def test_integer_ids_of_any_width_match(run_type, qrels_type):
    ids = pl.col("query_id", "doc_id")
    run, qrels = (with_integers(f).with_columns(ids.cast(t)) for f, t in ((RUN, run_type), (QRELS, qrels_type)))
    assert evaluated(run, qrels).rows() == [(1, *WANTED[0][1:]), (2, *WANTED[1][1:])]


DOCUMENTS = pl.Enum([f"d{number}" for number in range(10)])


@pytest.mark.parametrize("run_type", [pl.String, pl.Categorical, DOCUMENTS])
@pytest.mark.parametrize("qrels_type", [pl.String, pl.Categorical, DOCUMENTS])
def test_text_categorical_and_enum_ids_match(run_type, qrels_type):
    assert evaluated(RUN.cast({"doc_id": run_type}), QRELS.cast({"doc_id": qrels_type})).rows() == WANTED


def test_ties_of_an_enum_are_broken_by_its_text():
    order = pl.Enum(["b", "a"])
    run = pl.DataFrame({"query_id": "q", "doc_id": pl.Series(["a", "b"], dtype=order), "score": [1.0, 1.0]})
    assert ir.evaluate(run, {"q": ["b"]}, "RR").item(0, 1) == 1.0


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int32, pl.UInt8, pl.UInt64, pl.Float32, pl.Float64])
def test_grades_of_any_number_type_are_the_same(dtype):
    measures = ["nDCG@10", "AP", "ERR", "bpref"]
    wanted = ir.evaluate(RUN, QRELS, measures)
    assert ir.evaluate(RUN, QRELS.cast({"relevance": dtype}), measures).equals(wanted)


def test_true_and_false_are_grades():
    qrels = QRELS.with_columns(pl.col("relevance") > 0)
    assert evaluated(RUN, qrels).rows() == WANTED


@pytest.mark.parametrize("dtype", [pl.Int32, pl.UInt8, pl.Float32])
def test_scores_of_any_number_type_rank(dtype):
    assert evaluated(RUN.with_columns((pl.col("score") * 10).cast(dtype))).rows() == WANTED


# Names of columns.


@pytest.mark.parametrize(
    "names",
    [
        {"query_id": "qid", "doc_id": "docno", "score": "sim"},
        {"query_id": "query-id", "doc_id": "corpus-id", "score": "similarity"},
        {"query_id": "Topic_ID", "doc_id": "DocID", "score": "_score"},
        {"query_id": "q_id", "doc_id": "passage_id", "score": "prediction"},
    ],
)
def test_columns_are_known_by_other_names_and_the_query_keeps_its_own(names):
    found = evaluated(RUN.rename(names))
    assert found.columns == [names["query_id"], *MEASURES]
    assert found.rows() == WANTED


@pytest.mark.parametrize("grade", ["rel", "label", "rating", "Grade", "gain", "score"])
def test_grades_are_known_by_other_names(grade):
    assert evaluated(RUN, QRELS.rename({"relevance": grade, "query_id": "qid"})).rows() == WANTED


@pytest.mark.parametrize("name", ["run_id", "system", "tag"])
def test_a_column_of_systems_keeps_its_name(name):
    found = evaluated(RUN.with_columns(pl.lit("a").alias(name)))
    assert found.columns[0] == name
    assert found.rows() == [("a", *row) for row in WANTED]


#: The run of two systems.
SYSTEMS = pl.concat([RUN.select(pl.lit(name).alias("run"), pl.all()) for name in ("a", "b")])


def figures(run, **options):
    return ir.evaluate(run, QRELS, MEASURES, **options)


#: What is called on a run of two systems, and gives rows of systems.
OF_SYSTEMS = {
    "evaluate": figures,
    "evaluate a plan": lambda run: figures(run.lazy()),
    "evaluate in pandas": lambda run: pl.from_pandas(figures(run.to_pandas())),
    "evaluate labelled": lambda run: ir.evaluate(run.join(QRELS, on=["query_id", "doc_id"], how="left"), MEASURES),
    "evaluate with bounds": lambda run: ir.evaluate(run, QRELS, "RR", bounds=True),
    "evaluate for SQL": lambda run: figures(run, names="sql", provenance=True),
    "evaluate strictly": lambda run: figures(run.lazy(), strict=True),
    "evaluate with keys": lambda run: figures(run.with_columns(date=pl.lit("monday")), by="date"),
    "a measure's method": lambda run: run.ir.reciprocal_rank(QRELS),
    "judge": lambda run: ir.judge(run, QRELS).sort(pl.all()),
    "judge with a like column": lambda run: ir.judge(run, QRELS.with_columns(pl.lit("x").alias(run.columns[0]))).sort(
        pl.all()
    ),
    "explain": lambda run: ir.explain(run, QRELS, "RR", query_id="q1"),
    "coverage": lambda run: ir.coverage(run, QRELS),
    "top_k": lambda run: run.ir.top_k(1),
    "confidence": ir.confidence,
    "update": lambda run: ir.update(figures(SYSTEMS, provenance=True), run, QRELS, [*MEASURES, "P@1"]),
    "mean": lambda run: ir.mean(figures(run)),
    "mean of a plan": lambda run: ir.mean(figures(run.lazy())),
    "mean of a long frame": lambda run: ir.mean(ir.long(figures(run))),
    "summarize": lambda run: ir.summarize(figures(run)),
    "long": lambda run: ir.long(figures(run)),
    "ranks": lambda run: ir.ranks(figures(run), "RR"),
    "compare": lambda run: ir.compare(figures(run), "RR"),
    "compare a plan": lambda run: ir.compare(figures(run.lazy()), "RR"),
    "risk": lambda run: ir.risk(figures(run), "a", "RR"),
    "risk of clusters": lambda run: ir.risk(figures(run).with_columns(of="query_id"), "a", "RR", cluster="of"),
    "geo_risk": lambda run: ir.geo_risk(figures(run), "RR"),
    "power": lambda run: ir.power(figures(run), "RR"),
    "power of a plan": lambda run: ir.power(figures(run.lazy()), "RR"),
    "drift": lambda run: ir.drift(figures(run).with_columns(day="query_id"), "day", "RR", min_queries=2),
    "worst_slices": lambda run: ir.worst_slices(figures(run).with_columns(of="query_id"), "of", "RR", min_queries=2),
    "similarity": ir.similarity,
    "reusability": lambda run: ir.reusability(run, QRELS, "RR"),
    "contribution": lambda run: ir.contribution(run, QRELS, "rrf", "RR"),
    "complementarity": lambda run: ir.complementarity(run, QRELS, "RR").systems,
    "pairs of complementarity": lambda run: ir.complementarity(run, QRELS, "RR").pairs,
    "gate": lambda run: ir.gate(figures(run), figures(run), "RR", max_drop=0.1, by=run.columns[0]),
    "gate by the role": lambda run: ir.gate(figures(run), figures(run), "RR", max_drop=0.1, by="run"),
}


@pytest.mark.parametrize("call", OF_SYSTEMS.values(), ids=OF_SYSTEMS)
def test_the_column_of_systems_keeps_its_name(call):
    wanted, found = (call(SYSTEMS.rename({"run": name})).lazy().collect() for name in ("run", "system"))
    assert found.equals(wanted.rename({"run": "system"}))


def test_a_table_is_the_same_whatever_the_column_of_systems_is_called():
    wanted, found = (ir.table(figures(SYSTEMS.rename({"run": name})), test=None) for name in ("run", "system"))
    assert str(found) == str(wanted)


def test_a_measure_can_not_be_called_as_the_column_of_systems():
    with pytest.raises(ir.IRError, match="a measure is named 'system', like a key column"):
        ir.evaluate(SYSTEMS.rename({"run": "system"}), QRELS, ir.rank.max().alias("system"))


def test_judges_can_not_be_in_a_column_that_is_called_as_that_of_systems():
    with pytest.raises(ir.IRError, match="beside system, query_id, doc_id, relevance; got 'system'"):
        ir.judge(SYSTEMS.rename({"run": "system"}), QRELS.with_columns(system=pl.lit("x")), judges="system")


@pytest.mark.parametrize("kind", [pl.DataFrame.lazy, pl.DataFrame.clone])
def test_warnings_name_systems_of_any_column(kind):
    run = SYSTEMS.rename({"run": "system"}).filter((pl.col("system") == "a") | (pl.col("query_id") == "q2"))
    qrels = QRELS.vstack(QRELS.with_columns(query_id="other " + pl.col("query_id")).head(1))
    with pytest.warns(ir.IRWarning, match="the run of 'b' answers fewer than half"):
        ir.evaluate(kind(run), qrels, MEASURES).lazy().collect()


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt32])
def test_without_scores_the_lowest_rank_is_the_first(dtype):
    rank = pl.col("score").rank("ordinal", descending=True).over("query_id").cast(dtype)
    assert evaluated(RUN.select("query_id", "doc_id", rank=rank)[::-1]).rows() == WANTED


def test_a_rank_beside_a_score_is_ignored():
    with pytest.warns(ir.IRWarning, match="column 'rank' contradicts 'score' throughout"):
        assert evaluated(RUN.with_columns(rank=pl.int_range(pl.len(), 0, -1))).rows() == WANTED


# The kind of a result.


@pytest.mark.parametrize(
    ("run", "kind"),
    [
        (RUN, pl.DataFrame),
        (RUN.lazy(), pl.LazyFrame),
        (RUN.to_pandas(), pd.DataFrame),
        (RUN.to_arrow(), pl.DataFrame),
        (NESTED_RUN, pl.DataFrame),
        ({"a": RUN, "b": RUN.lazy()}, pl.LazyFrame),
    ],
)
def test_the_kind_that_goes_in_comes_out(run, kind):
    per_query = ir.evaluate(run, QRELS, MEASURES)
    results = [per_query, ir.judge(run, QRELS), ir.validate(run, QRELS), ir.mean(per_query), ir.summarize(per_query)]
    assert [type(result) for result in results] == [kind] * 5


def test_the_kind_of_the_qrels_does_not_matter():
    assert isinstance(ir.evaluate(RUN, QRELS.lazy(), "RR"), pl.DataFrame)
    assert isinstance(ir.evaluate(RUN.lazy(), QRELS.to_pandas(), "RR"), pl.LazyFrame)


def test_inputs_of_other_kinds_are_unchanged():
    table, frame = RUN.to_arrow(), RUN.to_pandas().set_index("query_id")
    before = pa.table(table), frame.copy(deep=True)
    ir.evaluate(table, QRELS, MEASURES)
    ir.evaluate(frame, QRELS, MEASURES)
    assert table.equals(before[0])
    pd.testing.assert_frame_equal(frame, before[1])


@pytest.mark.parametrize("lazy", [False, True])
def test_frames_of_pyterrier_are_evaluated_by_docno_and_not_by_the_number_in_the_index(lazy):
    run = pl.DataFrame({"qid": ["1"] * 2, "docid": [10, 11], "docno": ["a", "b"], "rank": [0, 1], "score": [2.0, 1.0]})
    qrels = pl.DataFrame({"qid": ["1"], "docno": ["b"], "label": [1]})
    run, qrels = (run.lazy(), qrels.lazy()) if lazy else (run, qrels)
    assert ir.evaluate(run, qrels, "RR").lazy().collect().rows() == [("1", 0.5)]


def test_two_columns_of_document_ids_are_an_error_even_if_one_is_called_docno():
    run = pl.DataFrame({"qid": ["1"], "docid": ["10"], "docno": ["a"], "score": [2.0]})
    with pytest.raises(ir.IRError, match="run has 2 columns that could be 'doc_id': 'docid', 'docno'"):
        ir.evaluate(run, run.rename({"score": "label"}), "RR")


@pytest.mark.parametrize("name", ["subtopic", "subtopic_id", "aspect", "intent"])
def test_subtopics_are_known_by_the_names_others_give_them(name):
    qrels = pl.DataFrame({"query_id": ["q"] * 2, name: ["1", "2"], "doc_id": ["d", "e"], "relevance": [1, 1]})
    assert ir.evaluate({"q": {"d": 1.0}}, qrels, "StRecall@5").rows() == [("q", 0.5)]


NAMES = ("*", "^.*$", *(f"polars_ir: {name}" for name in ("kept", "ranking", "position", "seen", "")))


@given(st.sampled_from(NAMES), st.booleans())
def test_a_column_whose_name_means_another_is_refused(name, lazy):
    run, qrels = (frame.with_columns(pl.lit(False).alias(name)) for frame in (RUN, QRELS))
    per_query = run.rename({"score": "AP"}).drop("doc_id")
    run, qrels, per_query = (frame.lazy() if lazy else frame for frame in (run, qrels, per_query))
    calls = (
        lambda: ir.evaluate(run, QRELS, "RR", judged_only=True),
        lambda: ir.evaluate(RUN, qrels, "RR"),
        lambda: ir.judge(run, QRELS),
        lambda: ir.top_k(run, 1),
        lambda: ir.fuse({"a": run, "b": RUN}),
        lambda: ir.mean(per_query),
    )
    for call in calls:
        with pytest.raises(ir.IRError, match="have a meaning in plans"):
            call()


def test_pandas_scores_of_a_width_that_arrow_lacks_are_refused():
    run = RUN.to_pandas().astype({"score": "longdouble"})
    with pytest.raises(ir.IRError, match="column 'score' has values without a common Arrow type"):
        ir.evaluate(run, QRELS, "RR")


#: Tables with the columns of shops, question answering and MovieLens, by the query column of the result.
OTHERWISE = {
    "query": pl.DataFrame({"query": ["q", "q"], "product_id": ["b", "a"], "position": [0, 1]}),
    "question_id": pl.DataFrame({"question_id": ["q"] * 2, "query": "text", "docid": ["b", "a"], "score": [2, 1]}),
    "userId": pl.DataFrame({"userId": ["q"] * 2, "movieId": ["b", "a"], "prediction": [0.9, 0.1], "position": [2, 1]}),
    "query_id": pl.DataFrame({"query_id": ["q"] * 2, "query": "text", "doc_id": ["b", "a"], "rank": [1, 2]}),
}


@pytest.mark.parametrize("query", OTHERWISE)
def test_other_names_play_a_role_where_no_column_has_one_of_its_own(query):
    run, qrels = OTHERWISE[query], {"q": ["a"]}
    for of in (run, run.lazy(), run.to_pandas()):
        found = ir.evaluate(of, qrels, "RR")
        found = found.collect() if isinstance(found, pl.LazyFrame) else found
        assert list(found.columns) == [query, "RR"]
        assert found["RR"][0] == 0.5
    assert ir.mean(ir.evaluate(run, qrels, "RR"))["RR"].item() == 0.5


def test_a_place_beside_scores_stays_a_column_of_its_own():
    run = OTHERWISE["userId"]
    assert ir.evaluate(run, {"q": ["a"]}, [pl.col("position").min()])["position"].item() == 1


def test_texts_of_queries_are_no_ids():
    texts = pl.DataFrame({"_id": ["q"], "query": ["what is it"]})
    shown = ir.explain(OTHERWISE["query_id"], {"q": ["a"]}, "RR", "q", queries=texts)
    assert shown["query"].to_list() == ["what is it"] * 2
    with pytest.raises(ir.IRError, match="has query ids in a column 'query'"):
        ir.explain(OTHERWISE["query"], {"q": ["a"]}, "RR", "q", queries=texts)


@pytest.mark.parametrize(
    ("text", "day"),
    [(text, date(2026, 1, 5)) for text in ("2026-01-05", "2026-1-5", "2026/01/05", "2026.01.05")]
    + [(text, None) for text in ("01/05/2026", "5.1.2026", "2026-13-05", "2026", "monday")],
)
def test_days_of_texts_are_read_where_the_year_is_first(text, day):
    for dtype in (pl.Date(), pl.Datetime("us")):
        made = as_dtype(pl.Series([text]), dtype)
        assert (None if made is None else made.cast(pl.Date).item()) == day
