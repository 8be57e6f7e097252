"""Advice where no column plays a role: nothing that would rank a run the wrong way round."""

import pandas as pd
import polars as pl
import pytest

import polars_ir as ir

RUN = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7]})
QRELS = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "relevance": [1, 2]})


def message_of(run: object, qrels: object) -> str:
    with pytest.raises(ir.IRError) as error:
        ir.evaluate(run, qrels, "RR")
    return str(error.value)


@pytest.mark.parametrize("name", ["distance", "_distance", "cosine_distance", "l2_dist"])
@pytest.mark.parametrize("labelled", [False, True], ids=["with qrels", "labelled"])
@pytest.mark.parametrize("in_pandas", [False, True], ids=["Polars", "pandas"])
def test_of_distances_the_negative_is_advised(name, labelled, in_pandas):
    run = RUN.select("query_id", "doc_id", (1 - pl.col("score")).alias(name))
    run = run.with_columns(relevance=pl.Series([0, 1, 2])) if labelled else run
    run = run.to_pandas() if in_pandas else run
    qrels = None if labelled else QRELS
    code = message_of(run, qrels).partition("so take the negative: ")[2].removesuffix(".")
    scored = eval(code, {"pl": pl, "pd": pd, "run": run})  # noqa: S307  # what the message says
    assert list(ir.evaluate(scored, qrels, "RR")["RR"]) == [0.5, 1.0]


def test_whoever_exchanges_run_and_qrels_is_told_so():
    assert message_of(QRELS, RUN).endswith(
        "it has 'query_id', 'doc_id', 'relevance'. Rename 'relevance' to 'score' if it is what ranks. Else it looks "
        "like qrels; give these after the run: run.ir.evaluate(qrels, ['nDCG@10', 'AP'])."
    )


def test_float_ids_of_pandas_with_gaps_can_be_cast_as_advised():
    run = RUN.to_pandas().assign(doc_id=[1.0, float("nan"), 1.0])
    code = message_of(run, QRELS).partition("ids are text: ")[2].removesuffix(".")
    whole = eval(code, {"run": run})  # noqa: S307  # what the message says
    assert "run has 1 row whose 'doc_id' is null" in message_of(whole, {1: {1: 1}})


PER_QUERY = ir.evaluate(RUN, QRELS, ["nDCG@10", "RR", "NumRet"])


@pytest.mark.parametrize(
    "frame",
    [
        PER_QUERY,
        PER_QUERY.select("query_id", "RR"),
        PER_QUERY.with_columns(run=pl.lit("a"), tenant=pl.lit("b")),
        PER_QUERY.lazy(),
        PER_QUERY.to_pandas(),
    ],
    ids=["counts", "one measure", "systems and slices", "lazy", "pandas"],
)
@pytest.mark.parametrize("qrels", [QRELS, None], ids=["with qrels", "without"])
def test_a_per_query_frame_is_told_to_be_one(frame, qrels):
    message = message_of(frame, qrels)
    assert "it looks like a per-query frame, which evaluate returned" in message
    means = eval(message.partition("and the means: ")[2].removesuffix("."), {"run": frame})  # noqa: S307
    assert "RR" in (means.collect_schema() if isinstance(means, pl.LazyFrame) else means.columns)


@pytest.mark.parametrize("document", [["d1"], [1]], ids=["text", "number"])
def test_documents_in_a_column_of_another_name_are_not_taken_for_measures(document):
    run = pl.DataFrame({"query_id": ["q1"], "movie": document, "prediction": [0.5]})
    assert message_of(run, QRELS).endswith("Rename the one that is meant: run.rename({'movie': 'doc_id'}).")
    unscored = run.rename({"prediction": "bm25"})
    assert message_of(unscored, QRELS).endswith("are meant: run.rename({'movie': 'doc_id', 'bm25': 'score'}).")


IN_LISTS = {
    "ids": {"query_id": ["q1", "q2"], "found": [["d1", "d2"], ["d1"]]},
    "structs": {
        "query_id": ["q1", "q2"],
        "found": [[{"doc_id": d, "score": s} for d, s in docs] for docs in ([("d2", 0.5), ("d1", 0.9)], [("d1", 0.7)])],
    },
}


@pytest.mark.parametrize("lists", IN_LISTS)
@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame], ids=["Polars", "pandas"])
def test_documents_in_lists_become_a_run_as_advised(lists, kind):
    run = kind(IN_LISTS[lists])
    advice = message_of(run, QRELS).partition("Make one of them: ")[2].removesuffix(".")
    names = {"pd": pd, "run": run}
    exec(advice, names)  # noqa: S102  # what the message says
    assert list(ir.evaluate(names["run"], QRELS, "RR")["RR"]) == [0.5, 1.0]


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame], ids=["Polars", "pandas"])
def test_a_log_becomes_run_and_qrels_as_advised(kind):
    log = kind({"query_id": ["q1", "q2"], "retrieved": [["d1", "d2"], ["d1"]], "relevant": [["d2"], ["d1"]]})
    advice = message_of(log, None).partition("Make one of them: ")[2].removesuffix(".")
    names = {"ir": ir, "run": log}
    exec(advice, names)  # noqa: S102  # what the message says
    assert list(ir.evaluate(names["run"], names["qrels"], "RR")["RR"]) == [0.5, 1.0]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical], ids=str)
@pytest.mark.parametrize("in_pandas", [False, True], ids=["Polars", "pandas"])
def test_grades_in_words_become_numbers_as_advised(dtype, in_pandas):
    qrels = QRELS.with_columns(relevance=pl.Series(["partially", "highly"]).cast(dtype))
    qrels = qrels.to_pandas() if in_pandas else qrels
    message = message_of(RUN.to_pandas() if in_pandas else RUN, qrels)
    assert "{'highly': 0, 'partially': 0}" in message
    code = message.partition("instead of 0: ")[2].removesuffix(".")
    code = code.replace("'highly': 0, 'partially': 0", "'highly': 2, 'partially': 1")
    graded = eval(code, {"pl": pl, "qrels": qrels})  # noqa: S307  # what the message says
    assert list(ir.evaluate(RUN, graded, "RR")["RR"]) == [0.5, 1.0]


@pytest.mark.parametrize(
    ("grades", "advice"),
    [
        (["1", "2"], "Cast it: qrels.with_columns(pl.col('relevance').cast(pl.Float64))."),
        (["1", "n/a"], "replace_strict({'1': 1, 'n/a': 0}))."),
    ],
)
def test_grades_that_are_numbers_in_text_are_those_numbers(grades, advice):
    assert message_of(RUN, QRELS.with_columns(relevance=pl.Series(grades))).endswith(advice)


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["2", "1"])], ids=str)
@pytest.mark.parametrize("in_pandas", [False, True], ids=["Polars", "pandas"])
@pytest.mark.parametrize("role", ["relevance", "score"])
def test_numbers_in_text_become_numbers_as_advised(dtype, in_pandas, role):
    tables = {"run": RUN, "qrels": QRELS}
    name = "qrels" if role == "relevance" else "run"
    texts = pl.Series(["1", "2", "1"][: tables[name].height], dtype=dtype)
    tables[name] = tables[name].with_columns(texts.alias(role))
    if in_pandas:
        tables = {name: table.to_pandas() for name, table in tables.items()}
    code = message_of(tables["run"], tables["qrels"]).partition("Cast it: ")[2].removesuffix(".")
    tables[name] = eval(code, {"pl": pl, **tables})  # noqa: S307  # what the message says
    assert list(ir.evaluate(tables["run"], tables["qrels"], "RR")["RR"])


def test_a_list_is_no_grade():
    lists = QRELS.with_columns(relevance=pl.concat_list("relevance"))
    assert message_of(RUN, lists).endswith("it is List(Int64). Give each row one number.")


def test_texts_are_no_grades():
    qrels = pl.DataFrame({"query_id": "q1", "doc_id": [f"d{i}" for i in range(20)]}).with_columns(
        relevance=pl.format("text {}", "doc_id")
    )
    assert "It holds 20 texts, such as 'text d0', 'text d1'" in message_of(RUN, qrels)
    lazy = message_of(RUN, qrels.lazy())
    assert "Make numbers of words by replace_strict; cast texts that hold numbers: qrels.with_columns(" in lazy
