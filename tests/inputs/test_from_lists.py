"""One row per query, documents in lists: a list is a ranking, whatever stands beside it."""

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of

import polars_ir as ir

LOG = pl.DataFrame(
    {
        "query_id": ["q1", "q2", "q3", "q4"],
        "retrieved": [["d1", "d2"], ["d1"], [], ["d4"]],
        "scores": [[0.9, 0.2], [0.5], [], [0.3]],
        "relevant": [["d2", "d3"], ["d1"], ["d1"], []],
        "grades": [[1, 2], [3], [1], []],
    }
)


def test_the_order_of_a_list_is_the_ranking():
    run, qrels = ir.from_lists(LOG.drop("scores", "grades"))
    assert ir.evaluate(run, qrels, "RR").rows() == [("q1", 0.5), ("q2", 1.0), ("q3", 0.0), ("q4", 0.0)]


def test_scores_that_are_asked_for_are_those_of_the_run():
    run, _ = ir.from_lists(LOG, scores="scores")
    assert run.rows() == [("q1", "d1", 0.9), ("q1", "d2", 0.2), ("q2", "d1", 0.5), ("q4", "d4", 0.3)]


def test_scores_that_nobody_asked_for_rank_nothing():
    run, _ = ir.from_lists(LOG.with_columns(scores=[[0.5, 0.5], [0.5], [], [0.3]]))
    assert run["score"].to_list() == [2, 1, 1, 1]


RISING = LOG.with_columns(scores=pl.Series([[0.1, 0.2], [0.5], [], [0.3]]))

CONTRADICTION = (
    "frame has 1 row whose 'scores', as scores, rise along 'retrieved'. A list is a ranking, best first: give "
    "scores='distance' if they are distances, or leave them out if the list is right; if the scores are right, make a "
    "run of them: "
)


@pytest.mark.parametrize("options", [{}, {"scores": "scores"}])
def test_scores_against_the_order_of_a_list_are_an_error_and_its_advice_runs(options):
    frame = RISING
    with pytest.raises(ir.IRError) as error:
        ir.from_lists(frame, **options)
    advice = (
        "frame.select(query_id='query_id', doc_id='retrieved', score=pl.col('scores'))"
        ".explode('doc_id', 'score').drop_nulls()"
    )
    assert str(error.value).startswith(f"{CONTRADICTION}{advice}. The first:")
    run = eval(advice)  # noqa: S307  # what the message tells its reader to type
    assert ir.evaluate(run, {"q1": ["d2"]}, "RR").item(0, 1) == 1.0


@pytest.mark.parametrize(
    ("read", "far", "distance"),
    [
        (ir.from_lists, "far", "distance"),
        (ir.from_lists, "hit.far", "hit.distance"),
        (ir.read_log, "far", "distance"),
        (ir.read_log, "hit.far", "hit.distance"),
    ],
)
def test_distances_of_another_name_are_to_be_called_so(read, far, distance):
    frame = RISING.rename({"scores": far})
    with pytest.raises(
        ir.IRError, match=rf"'{far}', as scores, rise.* call them '{distance}' and give scores='{distance}'"
    ):
        read(frame, scores=far)
    run, *_ = read(frame.rename({far: distance}), scores=distance)
    assert run["score"].to_list() == [-0.1, -0.2, -0.5, -0.3]


def test_the_advice_for_pandas_runs():
    frame = RISING.to_pandas()
    with pytest.raises(ir.IRError) as error:
        ir.from_lists(frame)
    advice = str(error.value).removeprefix(CONTRADICTION).partition(". The first:")[0]
    run = eval(advice)  # noqa: S307  # what the message tells its reader to type
    assert ir.evaluate(run.astype({"score": float}), {"q1": ["d2"]}, "RR")["RR"].tolist() == [1.0]


def test_a_plan_fails_for_scores_against_the_order_of_a_list():
    run, _ = ir.from_lists(RISING.lazy())
    with pytest.raises(pl.exceptions.InvalidOperationError, match="give scores='distance' if they are distances"):
        run.collect()


def test_distances_rise_along_a_list():
    run, qrels = ir.from_lists(RISING, scores="distance")
    assert run["score"].to_list() == [-0.1, -0.2, -0.5, -0.3]
    assert ir.evaluate(run, qrels, "RR").item(0, 1) == 0.5
    renamed, _ = ir.from_lists(RISING.rename({"scores": "distances"}), scores="distances")
    assert renamed.equals(run)


def test_distances_that_fall_along_a_list_are_an_error():
    with pytest.raises(ir.IRError, match="whose 'scores', as distances, fall along 'retrieved'"):
        ir.from_lists(LOG, scores="distance")


@pytest.mark.parametrize("kind", [lambda frame: frame, lambda frame: frame.lazy(), lambda frame: frame.to_pandas()])
def test_a_null_list_of_relevant_documents_is_not_judged_and_an_empty_one_is(kind):
    log = pl.DataFrame({"query_id": ["q", "r", "s"], "retrieved": [["a"], ["b"], ["c"]], "relevant": [["a"], None, []]})
    run, qrels = ir.from_lists(kind(log))
    found = ir.evaluate(run, qrels, "RR")
    rows = found.to_dict("list") if isinstance(found, pd.DataFrame) else found.lazy().collect().to_dict(as_series=False)
    assert rows == {"query_id": ["q", "s"], "RR": [1.0, 0.0]}


STRUCTS = pl.DataFrame(
    {
        "query_id": ["q"],
        "retrieved": [[{"id": "d1", "score": 0.9}, {"id": "d2", "score": 0.3}]],
        "relevant": [[{"docno": "d2", "grade": 2}, {"docno": "d3", "grade": 1}]],
    }
)


@pytest.mark.parametrize("kind", [lambda frame: frame, lambda frame: frame.lazy(), lambda frame: frame.to_pandas()])
def test_lists_of_structs_hold_ids_and_grades(kind):
    run, qrels = ir.from_lists(kind(STRUCTS))
    run, qrels = (pl.from_pandas(t) if isinstance(t, pd.DataFrame) else t.lazy().collect() for t in (run, qrels))
    assert run.rows() == [("q", "d1", 2), ("q", "d2", 1)]
    assert qrels.rows() == [("q", "d2", 2), ("q", "d3", 1)]


def test_scores_in_structs_must_fall_and_distances_rise():
    turned = STRUCTS.with_columns(pl.col("retrieved").list.reverse())
    with pytest.raises(ir.IRError, match=r"'retrieved.score', as scores, rise along .*\.unnest\('retrieved'\)"):
        ir.from_lists(turned)
    assert ir.from_lists(turned, scores="distance")[0]["score"].to_list() == [-0.3, -0.9]


def test_structs_without_an_id_are_an_error_whose_advice_runs():
    frame = pl.DataFrame({"query_id": ["q"], "retrieved": [[{"key": "d1"}]], "relevant": [["d1"]]})
    with pytest.raises(
        ir.IRError, match="column 'retrieved' holds structs without a field doc_id, id or chunk_id"
    ) as error:
        ir.from_lists(frame)
    code = str(error.value).partition("as in: ")[2].removesuffix(".")
    run, qrels = ir.from_lists(eval(code))  # noqa: S307  # what the message tells its reader to type
    assert ir.evaluate(run, qrels, "RR").item(0, 1) == 1.0


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.DataFrame.to_dicts], ids=["pandas", "Polars", "dicts"])
def test_sets_in_a_column_are_no_rankings(kind):
    log = {"query_id": ["q"], "retrieved": [{"d1", "d2"}], "relevant": [["d1"]]}
    log = kind(pl.DataFrame(log) if kind is pl.DataFrame.to_dicts else log)
    with pytest.raises(ir.IRError, match="'retrieved' must hold lists, best first; it has sets, which have no order"):
        ir.from_lists(log)


def test_sets_of_relevant_documents_become_lists_as_advised():
    frame = pl.DataFrame({"query_id": ["q"], "retrieved": [["d1"]], "relevant": [{"d1"}]})
    assert frame.schema["relevant"] == pl.Object
    with pytest.raises(ir.IRError) as error:
        ir.from_lists(frame)
    code = str(error.value).partition("Make lists of its objects: ")[2].removesuffix(".")
    run, qrels = ir.from_lists(eval(code, {"pl": pl, "frame": frame}))  # noqa: S307  # what the message says
    assert ir.evaluate(run, qrels, "RR").rows() == [("q", 1.0)]


def test_grades_in_a_list_are_the_grades():
    _, qrels = ir.from_lists(LOG, grades="grades")
    assert qrels.rows() == [("q1", "d2", 1), ("q1", "d3", 2), ("q2", "d1", 3), ("q3", "d1", 1), ("q4", None, None)]


def test_a_query_with_an_empty_list_of_relevant_documents_is_undefined():
    run, qrels = ir.from_lists(LOG.drop("scores", "grades"))
    assert ir.evaluate(run, qrels, "RR", undefined=None)["RR"].to_list() == [0.5, 1.0, 0.0, None]


@pytest.mark.parametrize(
    ("kind", "wanted"), [("lazy", pl.LazyFrame), ("to_pandas", pd.DataFrame), ("to_arrow", pl.DataFrame)]
)
def test_lists_of_every_kind_of_table(kind, wanted):
    run, qrels = ir.from_lists(getattr(LOG[:2].drop("scores", "grades"), kind)())
    assert (type(run), type(qrels)) == (wanted, wanted)
    assert ir.mean(evaluated_rr(run, qrels)).item() == 0.75


def evaluated_rr(run: object, qrels: object) -> pl.DataFrame:
    """RR as a Polars DataFrame."""
    found = ir.evaluate(run, qrels, "RR")
    return pl.from_pandas(found) if isinstance(found, pd.DataFrame) else found.lazy().collect()


def test_lists_under_other_names():
    log = LOG.rename({"query_id": "qid", "retrieved": "found", "relevant": "truth"})
    run, qrels = ir.from_lists(log, query="qid", retrieved="found", relevant="truth")
    assert (run.columns, qrels.columns) == (["query_id", "doc_id", "score"], ["query_id", "doc_id", "relevance"])


@pytest.mark.parametrize(
    ("log", "options", "message"),
    [
        (LOG.drop("relevant"), {}, "frame has no column 'relevant'"),
        (LOG.with_columns(retrieved=pl.lit("d1,d2")), {}, "frame column 'retrieved' must be a list; it is String"),
        (
            LOG.with_columns(scores=pl.lit([0.5])),
            {"scores": "scores"},
            "frame has 2 rows whose 'retrieved' and 'scores' differ in length",
        ),
        (pl.concat([LOG, LOG[:1]]), {}, "frame has 2 rows with the 'query_id' of another row"),
    ],
)
def test_lists_that_can_not_be_read(log, options, message):
    with pytest.raises(ir.IRError, match=message):
        ir.from_lists(log, **options)


def test_the_lists_that_are_most_like_the_names_looked_for_are_proposed():
    frame = pl.DataFrame({"question_id": ["q"], "my_results": [["d"]], "gold_docs": [["d"]], "tags": [["x"]]})
    assert "retrieved='my_results', relevant='gold_docs'" in message_of(lambda: ir.from_lists(frame))


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int8, pl.Int64, pl.UInt8, pl.UInt64, pl.Decimal(10, 2)])
@given(st.lists(st.integers(0, 100), min_size=1, max_size=5))
@pytest.mark.whole("many cases", quick=3)
def test_distances_of_any_type_make_the_ranking_of_the_list(dtype, distances):
    distances.sort()
    documents = [f"d{9 - i}" for i in range(len(distances))]  # of equal scores the highest id stands first
    log = pl.DataFrame({"query_id": ["q"], "retrieved": [documents], "relevant": [documents[:1]]})
    log = log.with_columns(pl.Series("distance", [distances], dtype=pl.List(dtype)))
    run, _ = ir.from_lists(log, scores="distance")
    assert ir.top_k(run, 5)["doc_id"].to_list() == documents
    assert run.cast({"score": pl.Float64})["score"].to_list() == [-distance for distance in distances]
    assert ir.from_lists(log.lazy(), scores="distance")[0].collect().equals(run)


PRINTED = {
    "Python": ("['d1', 'd 2']", ["d1", "d 2"]),
    "JSON": ('["d1","d2"]', ["d1", "d2"]),
    "NumPy": ("['d1' 'd2']", ["d1", "d2"]),
    "NumPy's integers": ("[ 1 12]", ["1", "12"]),
    "integers": ("[1, 2]", ["1", "2"]),
    "words": ("[d1, d2]", ["d1", "d2"]),
    "an apostrophe": ("""["it's", 'd2']""", ["it's", "d2"]),
    "one": ("['d1']", ["d1"]),
    "a tuple": ("('d1', 'd(2)')", ["d1", "d(2)"]),
    "a tuple of one": ("('d1',)", ["d1"]),
}


@pytest.mark.parametrize(("text", "ids"), PRINTED.values(), ids=PRINTED)
def test_a_list_that_a_csv_has_as_text_is_read(text, ids):
    log = pl.DataFrame({"query_id": ["q", "r"], "retrieved": [text, "[]"], "relevant": ["['d1']", None]})
    run, qrels = ir.from_lists(log)
    assert run["doc_id"].to_list() == ids
    assert qrels.rows() == [("q", "d1", 1)]


def test_scores_and_grades_that_are_texts_are_read():
    log = pl.DataFrame(
        {
            "query_id": ["q"],
            "retrieved": ["['a', 'b']"],
            "scores": ["[0.9, 5e-1]"],
            "relevant": ["['b']"],
            "grades": ["[2]"],
        }
    )
    run, qrels = ir.from_lists(log, scores="scores")
    assert run.rows() == [("q", "a", 0.9), ("q", "b", 0.5)]
    assert qrels.rows() == [("q", "b", 2.0)]


def test_chunks_are_known_by_their_ids():
    chunks = [{"chunk_id": "a#1", "text": "x", "score": 0.9}, {"chunk_id": "b#2", "text": "y", "score": 0.7}]
    log = pl.DataFrame({"id": [1], "chunks": [chunks], "gold": [["b#2"]]})
    run, qrels = ir.from_lists(log, query="id", retrieved="chunks", relevant="gold")
    assert run.rows() == [(1, "a#1", 2), (1, "b#2", 1)]
    assert qrels.schema == {"query_id": pl.Int64, "doc_id": pl.String, "relevance": pl.Int64}
    with pytest.raises(ir.IRError, match=r"from_lists\(run, query='id', retrieved='chunks', relevant='gold'\)"):
        log.ir.evaluate("RR")


@pytest.mark.parametrize("cell", ["", " ", "None", "nan", "null"])
def test_a_cell_without_a_list_is_a_missing_one(cell):
    log = pl.DataFrame({"query_id": ["q", "r"], "retrieved": ["['d1']", cell], "relevant": ["['d1']", cell]})
    run, qrels = ir.from_lists(log)
    assert run.rows() == [("q", "d1", 1)]
    assert qrels.rows() == [("q", "d1", 1)]


def test_sets_that_are_texts_are_read_where_no_order_is_needed():
    log = pl.DataFrame({"query_id": ["q", "r"], "retrieved": ["['d1']"] * 2, "relevant": ["{'d1', 'd2'}", "set()"]})
    assert ir.from_lists(log)[1].rows() == [("q", "d1", 1), ("q", "d2", 1), ("r", None, None)]
    with pytest.raises(ir.IRError, match="it has sets, which have no order"):
        ir.from_lists(log.rename({"retrieved": "relevant", "relevant": "retrieved"}))


NOT_PRINTED = {
    "JSON's objects": ('[{"id": 1}]', "map(json.loads, frame['retrieved'])"),
    "dicts": ("[{'id': 1}]", "map(ast.literal_eval, frame['retrieved'])"),
    "an escape": (r"['it\'s']", "map(ast.literal_eval"),
    "words of several": ("[doc one, doc two]", "'[doc one, doc two]' cannot be read as a list"),
    "a missing one": ("['d1', None]", "map(ast.literal_eval"),
    "an ellipsis of NumPy": ("['d1' ... 'd9']", "cut short"),
    "an ellipsis": ("['d1', ...]", "cut short"),
    "half a list": ("['d1', 'd2'", "cannot be read as a list"),
    "commas": ("d1, d2", "str.split(',')"),
    "bars": ("d1|d2", "str.split('|')"),
    "semicolons": ("d1; d2", "str.split(';')"),
    "blanks": ("d1 d2", "str.split(' ')"),
    "one id": ("d1", "then(pl.concat_list(pl.col('retrieved').str.strip_chars()))"),
}


@pytest.mark.parametrize(("text", "advice"), NOT_PRINTED.values(), ids=NOT_PRINTED)
def test_another_text_is_an_error_whose_advice_parses_it(text, advice):
    log = pl.DataFrame({"query_id": ["q"], "retrieved": [text], "relevant": [["d1"]]})
    assert advice in message_of(lambda: ir.from_lists(log))
    with pytest.raises(ir.IRError, match=r"for lists in texts to be read: frame.collect\(\)"):
        ir.from_lists(log.lazy())


def test_lists_in_texts_are_among_the_columns_that_may_be_meant():
    log = pl.DataFrame({"question": [1], "retrieved_ids": ["['a']"], "gold_ids": ["['a']"], "scores": ["[0.9]"]})
    assert "ir.from_lists(frame, query='question', retrieved='retrieved_ids', relevant='gold_ids')" in message_of(
        lambda: ir.from_lists(log)
    )


# Users, and ids apart by blanks.

KAGGLE = {"user_id": ["u1", "u2", "u3"], "retrieved": ["a b  c", " b d", "d"], "relevant": ["d", "c None", " "]}


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
def test_users_have_ids_apart_by_blanks_which_is_told_with_code_that_says_so(kind):
    frame = kind(KAGGLE)
    with pytest.warns(ir.IRWarning, match="read as blank-separated ids, such as 'a b  c'") as told:
        run, qrels = map(pl.DataFrame, ir.from_lists(frame))
    rows = [("u1", "a", 3), ("u1", "b", 2), ("u1", "c", 1), ("u2", "b", 2), ("u2", "d", 1), ("u3", "d", 1)]
    assert run.sort("query_id", "doc_id").rows() == rows
    assert qrels.rows() == [("u1", "d", 1), ("u2", "c", 1), ("u2", "None", 1)]
    lists = eval(str(told[0].message).rpartition("warning: ")[2].removesuffix("."), {"frame": frame, "pl": pl})  # noqa: S307  # code of ours
    for part, of_lists in zip((run, qrels), ir.from_lists(lists), strict=True):
        assert part.equals(pl.DataFrame(of_lists))


@pytest.mark.parametrize(
    "columns",
    [
        {"retrieved": ["The Thing", "Up", "Heat"], "relevant": ["The Thing", "Big", "Up"]},
        {"retrieved": ["The Thing", "Up", "Heat"], "relevant": ["Alien", "Big", "Up"]},
        {"retrieved": ["a, b", "c", "d"]},
        {"retrieved": ["a|b", "c d", "d"]},
        {"retrieved": ["a", "b", "d"]},
        {"retrieved": [["a"], ["b"], []]},
        {"relevant": [["a"], ["b"], []]},
        {"query_id": ["q1", "q2", "q3"]},
    ],
)
def test_other_texts_of_users_are_refused_as_elsewhere(columns):
    with pytest.raises(ir.IRError, match="must be a list; it is String"):
        ir.from_lists(pl.DataFrame(KAGGLE | columns))


def test_lists_of_users_need_no_name_of_their_column():
    log = pl.DataFrame({"userID": [1], "retrieved": [[7, 8]], "relevant": [[8]]})
    for lists in (log, log.to_pandas()):
        assert [pl.DataFrame(part).rows() for part in ir.from_lists(lists)] == [[(1, 7, 2), (1, 8, 1)], [(1, 8, 1)]]
    assert ir.from_lists(log.lazy())[1].collect().rows() == [(1, 8, 1)]


# Groups of relevant documents.


GROUPED = pl.DataFrame({"query_id": ["q", "p"], "retrieved": [["a"], ["b"]], "relevant": [[["b", "a"], ["a"]], []]})


@pytest.mark.parametrize("kind", [lambda log: log, pl.DataFrame.lazy])
def test_lists_of_lists_are_groups_and_a_document_may_be_in_two(kind):
    _, qrels = ir.from_lists(kind(GROUPED))
    rows = [("q", 1, "a", 1), ("q", 1, "b", 1), ("q", 2, "a", 1), ("p", 0, None, None)]
    assert qrels.lazy().collect().rows() == rows


def test_groups_of_structs_have_their_grades():
    gold = [[[{"id": "a", "grade": 2}], [{"id": "b", "grade": 1}]]]
    _, qrels = ir.from_lists(pl.DataFrame({"query_id": ["q"], "retrieved": [["a"]], "relevant": gold}))
    assert qrels.rows() == [("q", 1, "a", 2), ("q", 2, "b", 1)]


@pytest.mark.parametrize("group", [[], None])
def test_a_group_without_a_document_is_an_error(group):
    log = GROUPED.with_columns(relevant=pl.Series([[["a"], group], []]))
    with pytest.raises(ir.IRError, match="1 row whose 'relevant' holds a group without a document"):
        ir.from_lists(log)
    with pytest.raises(pl.exceptions.PolarsError, match="holds a group without a document"):
        ir.from_lists(log.lazy())[1].collect()


def test_systems_share_the_groups_of_a_query_in_any_order_of_ids():
    log = pl.DataFrame({"run": ["x", "y"], "query_id": "q", "retrieved": [["a"], ["b"]]})
    alike = log.with_columns(relevant=pl.Series([[["a", "b"], ["c"]], [["b", "a"], ["c"]]]))
    assert ir.from_lists(alike)[1].height == 3
    with pytest.raises(ir.IRError, match="another than that of a row of the query"):
        ir.from_lists(log.with_columns(relevant=pl.Series([[["a", "b"], ["c"]], [["a"], ["b", "c"]]])))


# Logs whose lines differ, as Polars reads them.


def read_as_lines(*rows: str) -> pl.DataFrame:
    return pl.read_ndjson("\n".join(rows).encode())


MIXED = {
    "holds JSON in the place of an id": (
        '{"query_id": "p", "retrieved": ["a"], "relevant": ["a"]}',
        '{"query_id": "q", "retrieved": [{"id": "a", "score": 1}], "relevant": ["a"]}',
    ),
    "'relevant' holds JSON in the place of an id": (
        '{"query_id": "p", "retrieved": ["a"], "relevant": ["a"]}',
        '{"query_id": "q", "retrieved": ["a"], "relevant": [["a", "b"], ["c"]]}',
    ),
    "holds an id that is not a whole number": (
        '{"query_id": "p", "retrieved": [7], "relevant": [7]}',
        '{"query_id": "q", "retrieved": [7.5], "relevant": [7]}',
    ),
}


@pytest.mark.parametrize("says", MIXED)
def test_lines_that_differ_in_the_form_of_their_ids_are_an_error(says):
    with pytest.raises(ir.IRError, match=says):
        ir.from_lists(read_as_lines(*MIXED[says]))


def test_the_class_path_of_a_dump_is_no_id():
    dumped = {"lc": 1, "type": "constructor", "id": ["langchain", "Document"], "kwargs": {"id": "a"}}
    log = pl.DataFrame({"query_id": ["q"], "retrieved": [[dumped]], "relevant": [["a"]]})
    with pytest.raises(ir.IRError, match="LangChain dumps the path of a class there") as error:
        ir.from_lists(log)
    code = str(error.value).partition("as in: ")[2].removesuffix(".")
    run, qrels = ir.from_lists(eval(code, {"frame": log, "pl": pl}))  # noqa: S307  # the advice is code to paste
    assert ir.evaluate(run, qrels, "RR")["RR"].item() == 1.0


def test_lists_of_retrieved_lists_are_calls_by_the_code_of_the_advice():
    log = pl.DataFrame({"query_id": ["q"], "retrieved": [[["A", "x", "B"], ["y", "A", "C"]]], "relevant": [["A"]]})
    with pytest.raises(ir.IRError, match="If each list is a call") as error:
        ir.from_lists(log)
    code = str(error.value).partition("If each list is a call: ")[2].removesuffix(".").partition("; ")
    names = {"frame": log, "pl": pl}
    exec(code[0], names)  # noqa: S102  # the advice is code to paste
    assert ir.merge_calls(names["run"])["doc_id"].to_list() == [*"AxByC"]
