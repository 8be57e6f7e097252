"""Bad input ends in one error that says what is wrong, where, and what to do; and changes nothing."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from messages import message_of
from tuned import tune

import polars_ir as ir
from polars_ir.engine import as_plan as planned
from polars_ir.frames import rules

RUN = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7]})
QRELS = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "relevance": [1, 2]})

WANTED_CUTOFF = "k must be a whole number of documents, from 1 to 2,147,483,648"

TABLE_OF_MEASURES = (
    "measures are names such as 'nDCG@10', Polars expressions, or names with cutoffs, {'nDCG': 10}; got a table. Give "
    "the qrels first, then the measures: evaluate(qrels, ['nDCG@10', 'AP'])."
)

INFINITY = float("inf")
NAN = float("nan")


def evaluating(run: object = RUN, qrels: object = QRELS, measures: object = "RR", **options: object) -> Callable:
    """A call of `evaluate`, to be made later."""
    return lambda: ir.evaluate(run, qrels, measures, **options)


def with_rows(sentence: str, *cells: str) -> str:
    """A message that ends in a table."""
    head, *body = cells
    edge = "+" + "+".join("-" * len(cell) for cell in head[1:-1].split("|")) + "+"
    return "\n".join([sentence, edge, head, edge.replace("-", "=").replace("=+=", "==="), *body, edge])


WHOLE_MESSAGES = {
    "a missing column": (
        evaluating(RUN.rename({"doc_id": "document"})),
        (
            "run has no 'doc_id' column (recognised names: doc_id, docno, docid, corpus_id, pid, passage_id, item_id, "
            "product_id, movie_id); it has 'query_id', 'document', 'score'. Rename the one that is meant: "
            "run.rename({'document': 'doc_id'})."
        ),
    ),
    "a run without scores": (
        evaluating(RUN.drop("score")),
        (
            "run has no 'score' column (recognised names: score, sim, similarity, _score, prediction, rank, "
            "position, doc_position); it has 'query_id', 'doc_id'. Give it one."
        ),
    ),
    "a system of a dict without scores": (
        evaluating({"a": RUN, "b": RUN.drop("score")}),
        (
            "run 'b' has no 'score' column (recognised names: score, sim, similarity, _score, prediction, rank, "
            "position, doc_position); it has 'query_id', 'doc_id'. Give it one."
        ),
    ),
    "qrels without grades": (
        evaluating(qrels=QRELS.drop("relevance")),
        (
            "qrels has no 'relevance' column (recognised names: relevance, rel, label, rating, grade, gain, score); "
            "it has 'query_id', 'doc_id'. Rename the column of grades to 'relevance', or, if every row is relevant, as "
            "clicks and purchases are, say so: qrels.with_columns(relevance=1)."
        ),
    ),
    "two candidates for the query": (
        evaluating(RUN.with_columns(qid="query_id")),
        ("run has 2 columns that could be 'query_id': 'query_id', 'qid'. Rename one, or drop it: run.drop('qid')."),
    ),
    "two candidates for the grade": (
        evaluating(qrels=QRELS.with_columns(label="relevance")),
        (
            "qrels has 2 columns that could be 'relevance': 'relevance', 'label'. Rename one, or drop "
            "it: qrels.drop('label')."
        ),
    ),
    "a grade beside the one that is called so": (
        evaluating(qrels=QRELS.with_columns(rating="relevance")),
        (
            "qrels has 2 columns that could be 'relevance': 'relevance', 'rating'. Rename one, or drop "
            "it: qrels.drop('rating')."
        ),
    ),
    "a grade before the one that is called so": (
        evaluating(qrels=QRELS.select(rating="relevance", **{name: pl.col(name) for name in QRELS.columns})),
        (
            "qrels has 2 columns that could be 'relevance': 'rating', 'relevance'. Rename one, or drop "
            "it: qrels.drop('rating')."
        ),
    ),
    "integer documents in the run alone": (
        evaluating(RUN.with_columns(doc_id=pl.Series([1, 2, 1]))),
        (
            "ids must have one type on both sides; run column 'doc_id' is Int64 and qrels column 'doc_id' is String. "
            "Cast one: run.with_columns(pl.col('doc_id').cast(pl.String))."
        ),
    ),
    "integer queries in the qrels alone": (
        evaluating(qrels=QRELS.with_columns(query_id=pl.Series([1, 2])).rename({"query_id": "qid"})),
        (
            "ids must have one type on both sides; run column 'query_id' is String and qrels column 'qid' is Int64. "
            "Cast one: qrels.with_columns(pl.col('qid').cast(pl.String))."
        ),
    ),
    "ids with a decimal point": (
        evaluating(RUN.with_columns(doc_id=pl.Series([1.0, 2.0, 1.0]))),
        (
            "run column 'doc_id' must be strings or integers; it is Float64. Cast it to whole numbers, and "
            "these to text if the other table's ids are text: run.with_columns(pl.col('doc_id').cast(pl.Int64))."
        ),
    ),
    "ids that are decimals": (
        evaluating(RUN.with_columns(doc_id=pl.Series([1, 2, 1], dtype=pl.Decimal(10, 2)))),
        (
            "run column 'doc_id' must be strings or integers; it is Decimal(precision=10, scale=2). Cast it to whole "
            "numbers, and these to text if the other table's ids are text: "
            "run.with_columns(pl.col('doc_id').cast(pl.Int64))."
        ),
    ),
    "documents in lists beside scores": (
        evaluating(RUN.with_columns(doc_id=pl.concat_list("doc_id"))),
        (
            "run column 'doc_id' must be strings or integers; it is List(String). Give each document a row with its "
            "own score, or the lists alone, best first, as {query: [id]}."
        ),
    ),
    "scores with a decimal comma": (
        evaluating(RUN.with_columns(score=pl.Series(["1", "3,5", "2,5"]))),
        (
            "run column 'score' must be numbers; it is String. '3,5' is not a number. Use a decimal point and no "
            "separators, then cast: run.with_columns(pl.col('score').cast(pl.Float64))."
        ),
    ),
    "scores that are text": (
        evaluating(RUN.cast({"score": pl.String})),
        (
            "run column 'score' must be numbers; it is String. Cast it: "
            "run.with_columns(pl.col('score').cast(pl.Float64))."
        ),
    ),
    "grades that are text": (
        evaluating(qrels=QRELS.cast({"relevance": pl.String}).rename({"relevance": "label"})),
        (
            "qrels column 'label' must be numbers; it is String. Cast it: "
            "qrels.with_columns(pl.col('label').cast(pl.Float64))."
        ),
    ),
    "a duplicate in the run": (
        evaluating(pl.concat([RUN, RUN[:1]])),
        with_rows(
            "run has 2 rows that repeat the ids of another (query_id, doc_id). Keep the best score of each document, "
            "which is MaxP where rows are passages: ir.deduplicate(run). The first:",
            "| row | query_id | doc_id | score |",
            "| 0   | q1       | d1     | 0.9   |",
            "| 3   | q1       | d1     | 0.9   |",
        ),
    ),
    "a document with two scores": (
        evaluating(pl.concat([RUN, RUN[:1].with_columns(score=0.1)]).rename({"query_id": "qid"})),
        with_rows(
            "run has 2 rows that repeat the ids of another (qid, doc_id). Keep the best score of each document, "
            "which is MaxP where rows are passages: ir.deduplicate(run). The first:",
            "| row | qid | doc_id | score |",
            "| 0   | q1  | d1     | 0.9   |",
            "| 3   | q1  | d1     | 0.1   |",
        ),
    ),
    "systems in a column of another name": (
        evaluating(pl.concat([RUN[:1].with_columns(model=pl.lit("a")), RUN[:1].with_columns(model=pl.lit("b"))])),
        with_rows(
            "run has 2 rows that repeat the ids of another (query_id, doc_id). If 'model' names the systems, rename "
            "it; if it distinguishes rankings, such as days, give by='model' (if passages, run.ir.deduplicate() keeps "
            "the best of each document): run.rename({'model': 'run'}). The first:",
            "| row | query_id | doc_id | model | score |",
            "| 0   | q1       | d1     | a     | 0.9   |",
            "| 1   | q1       | d1     | b     | 0.9   |",
        ),
    ),
    "a column that does not tell duplicates apart": (
        evaluating(pl.concat([RUN[:1], RUN[:1]]).with_columns(model=pl.lit("a"))),
        with_rows(
            "run has 2 rows that repeat the ids of another (query_id, doc_id). Keep the best score of each document, "
            "which is MaxP where rows are passages: ir.deduplicate(run). The first:",
            "| row | query_id | doc_id | score |",
            "| 0   | q1       | d1     | 0.9   |",
            "| 1   | q1       | d1     | 0.9   |",
        ),
    ),
    "a duplicate in the qrels": (
        evaluating(qrels=pl.concat([QRELS, QRELS[1:]])),
        with_rows(
            "qrels has 2 rows that repeat the ids of another (query_id, doc_id). If they are a file's judgments of "
            "subtopics, or of judges, read it with format='subtopics' or format='judges'. Else keep the highest "
            "grade of each document: qrels.group_by('query_id', 'doc_id').agg(pl.col('relevance').max()). The first:",
            "| row | query_id | doc_id | relevance |",
            "| 1   | q2       | d1     | 2         |",
            "| 2   | q2       | d1     | 2         |",
        ),
    ),
    "a document with two grades": (
        evaluating(qrels=pl.concat([QRELS, QRELS[1:].with_columns(relevance=pl.lit(0, pl.Int64))])),
        with_rows(
            "qrels has 2 rows that repeat the ids of another (query_id, doc_id). If they are a file's judgments of "
            "subtopics, or of judges, read it with format='subtopics' or format='judges'. Else keep the highest "
            "grade of each document: qrels.group_by('query_id', 'doc_id').agg(pl.col('relevance').max()). The first:",
            "| row | query_id | doc_id | relevance |",
            "| 1   | q2       | d1     | 2         |",
            "| 2   | q2       | d1     | 0         |",
        ),
    ),
    "scores that are not numbers": (
        evaluating(RUN.with_columns(score=pl.Series([NAN, None, 0.1], dtype=pl.Float64))),
        with_rows(
            "run has 2 rows whose 'score' is null or NaN. Leave them out: "
            "run.filter(pl.col('score').is_not_null() & pl.col('score').is_not_nan()). The first:",
            "| row | query_id | doc_id | score |",
            "| 0   | q1       | d1     | NaN   |",
            "| 1   | q1       | d2     | null  |",
        ),
    ),
    "a null document": (
        evaluating(RUN.with_columns(doc_id=pl.Series(["d1", None, "d1"]))),
        with_rows(
            "run has 1 row whose 'doc_id' is null. Leave them out: run.filter(pl.col('doc_id').is_not_null()). "
            "The first:",
            "| row | query_id | doc_id | score |",
            "| 1   | q1       | null   | 0.5   |",
        ),
    ),
    "a null query": (
        evaluating(qrels=QRELS.with_columns(query_id=pl.Series(["q1", None]))),
        with_rows(
            "qrels has 1 row whose 'query_id' is null. Leave them out: qrels.filter(pl.col('query_id').is_not_null()). "
            "The first:",
            "| row | query_id | doc_id | relevance |",
            "| 1   | null     | d1     | 2         |",
        ),
    ),
    "a row of qrels without any value": (
        evaluating(
            qrels=pl.concat([QRELS, QRELS[:1].select(pl.lit(None, QRELS[c].dtype).alias(c) for c in QRELS.columns)])
        ),
        with_rows(
            "qrels has 1 row whose 'query_id' is null. Leave them out: qrels.filter(pl.col('query_id').is_not_null()). "
            "The first:",
            "| row | query_id | doc_id | relevance |",
            "| 2   | null     | null   | null      |",
        ),
    ),
    "a null grade": (
        evaluating(qrels=QRELS.with_columns(relevance=pl.Series([1, None]))),
        with_rows(
            "qrels has 1 row whose 'relevance' is null. Leave them out: "
            "qrels.filter(pl.col('relevance').is_not_null()). The first:",
            "| row | query_id | doc_id | relevance |",
            "| 1   | q2       | d1     | null      |",
        ),
    ),
    "an unknown measure": (
        evaluating(measures="nDGC@10"),
        (
            "no measure is called 'nDGC@10'. Did you mean 'nDCG@10' or '\N{GREEK SMALL LETTER ALPHA}_nDCG@10'? "
            "`ir.catalog()` lists them all."
        ),
    ),
    "no measure": (
        evaluating(measures=[]),
        "measures must name at least one measure, as in ['nDCG@10', 'AP']; got none.",
    ),
    "two measures of one name": (
        evaluating(measures=["nDCG@10", "ndcg_cut_10"]),
        "two measures are named 'nDCG@10'. Leave one out, or give it another name: .alias('my nDCG@10').",
    ),
    "a misspelt option of a function": (
        evaluating(mising="skip"),
        (
            "evaluate(): got an unexpected keyword argument 'mising'. Did you mean 'missing'? It takes run, qrels, "
            "measures, by, missing, undefined, judged_only, ties, judges, bounds, names, provenance, strict, exclude, "
            "duplicates, history, items."
        ),
    ),
    "a misspelt option of a measure": (
        lambda: ir.ndcg(gain={1: 2}),
        (
            "ndcg(): got an unexpected keyword argument 'gain'. Did you mean 'gains'? It takes k, rel, dcg, "
            "discount, gains, denominator."
        ),
    ),
    "a misspelt option of a method": (
        lambda: RUN.ir.ndcg(QRELS, gain={1: 2}),
        (
            "ndcg(): got an unexpected keyword argument 'gain'. Did you mean 'gains'? It takes qrels, k, rel, dcg, "
            "discount, gains, denominator, by, missing, undefined, judged_only, ties, judges, bounds, names, "
            "provenance, strict, exclude, duplicates, history, items."
        ),
    ),
    "a misspelt option in a name": (
        evaluating(measures="P(rell=2)@5"),
        (
            "P has no parameter 'rell'; got 'P(rell=2)@5'. Did you mean 'rel'? It takes k, rel, denominator, budget, "
            "cost, over."
        ),
    ),
    "a cutoff given by position": (
        lambda: ir.ndcg(10),
        (
            "ndcg(): too many positional arguments. Parameters are given by name. Did you mean 'k=10'? It takes k, "
            "rel, dcg, discount, gains, denominator."
        ),
    ),
    "a cutoff by another name": (
        lambda: ir.ndcg(cutoffs=[5, 10]),
        (
            "ndcg(): got an unexpected keyword argument 'cutoffs'. Did you mean 'k'? It takes k, rel, dcg, "
            "discount, gains, denominator."
        ),
    ),
    "tables in a call of a word that measures are written in": (
        lambda: ir.hits(RUN, QRELS),
        "hits() makes an expression, and takes no tables: write run.ir.hits(qrels).",
    ),
    "tables in a call of a measure": (
        lambda: ir.mrr(RUN, QRELS),
        "reciprocal_rank() makes an expression, and takes no tables: write run.ir.reciprocal_rank(qrels).",
    ),
    "a bad value of an option": (
        evaluating(missing="Skip"),
        "missing must be one of 'zero', 'skip'; got 'Skip'. Did you mean 'skip'?",
    ),
    "a bad value of an option that looks like one of its values": (
        evaluating(missing="error"),
        "missing must be one of 'zero', 'skip'; got 'error'.",
    ),
    "a bad value of a parameter": (
        lambda: ir.ndcg(dcg="exp"),
        "nDCG: dcg must be one of 'log2', 'exp-log2', 'binary'; got 'exp'.",
    ),
    "a run that is a path": (
        evaluating("bm25.run"),
        "run must be a table; got the path 'bm25.run'. Read it first: ir.read_run('bm25.run').",
    ),
    "qrels that are a path": (
        evaluating(qrels=Path("qrels.txt")),
        "qrels must be a table; got the path 'qrels.txt'. Read it first: ir.read_qrels('qrels.txt').",
    ),
    "a run that is None": (
        evaluating(None),
        "run must be a table (Polars, pandas, Arrow) or nested dicts; got NoneType: None.",
    ),
    "qrels that are a number": (
        evaluating(qrels=5),
        "qrels must be a table (Polars, pandas, Arrow) or nested dicts; got int: 5.",
    ),
    "measures before the qrels": (
        evaluating(qrels="RR", measures=QRELS),
        TABLE_OF_MEASURES,
    ),
    "measures before qrels that are a dict": (
        evaluating(qrels="RR", measures={"q1": {"d1": 1}}),
        TABLE_OF_MEASURES,
    ),
    "a measure that is a number": (
        evaluating(measures=[5]),
        "a measure is a name such as 'nDCG@10' or a Polars expression; got 5.",
    ),
    "an expression of an unknown column": (
        evaluating(measures=pl.col("ranks").sum().alias("mine")),
        (
            "measure 'mine' reads the column 'ranks', which neither the judged relation nor the run has. Did you mean "
            "'rank'? There are 'run', 'query_id', 'doc_id', 'relevance', 'rank', 'ideal_rank', 'n_retrieved', "
            "'n_higher', 'n_tied', 'judged_elsewhere', 'score'."
        ),
    ),
    "a measure named like a key": (
        evaluating(measures=ir.rank.min().alias("query_id")),
        "a measure is named 'query_id', like a key column of the result. Give it another: .alias('my_query_id').",
    ),
    "a run without qrels and grades": (
        lambda: RUN.ir.ndcg(k=10),
        (
            "no qrels were given, and run has no column of grades (recognised names: relevance, rel, label, rating, "
            "grade, gain); it has 'query_id', 'doc_id', 'score'. Pass the qrels: run.ir.ndcg(qrels, k=10)."
        ),
    ),
    "an alpha in percent": (
        lambda: ir.summarize(ir.evaluate(RUN, QRELS, "RR"), alpha=5),
        "alpha must be at least 1e-09 and below 1; got 5.",
    ),
    "code in a name": (
        evaluating(measures="nDCG(__import__('os').system('x'))@5"),
        (
            "\"nDCG(__import__('os').system('x'))@5\" is not a measure name: between the brackets it needs "
            "parameter=value, with plain values. Write NAME, NAME@k or NAME(parameter=value)@k, as in 'nDCG@10' or "
            "'P(rel=2)@5'."
        ),
    ),
}


@pytest.mark.parametrize(("call", "message"), WHOLE_MESSAGES.values(), ids=WHOLE_MESSAGES)
def test_a_message_says_what_where_and_what_to_do(call, message):
    assert message_of(call) == message


PARTS = {
    **{
        f"an expression of columns that are not named: {measure}": (
            evaluating(measures=[measure.alias("mine"), pl.col("relevance").max()]),
            ["reads several columns, or those that a pattern finds. Name each column that it reads, and give several"],
        )
        for measure in (
            pl.all().sum(),
            pl.col("^rel.*$").max(),
            pl.max_horizontal("^rel.*$").max(),
            pl.struct(pl.all()).n_unique(),
            pl.col("rank").filter(pl.selectors.numeric() > 1).sum(),
        )
    },
    "an aggregation that reads no column": (
        evaluating(measures=pl.lit("a").sum().alias("mine")),
        ["measure 'mine' cannot be computed: "],
    ),
    "a measure that was not called": (evaluating(measures=ir.ndcg), ["<function ndcg", "Call it: ir.ndcg()."]),
    "a value that is code": (evaluating(measures="P(k=__import__('os'))"), ["plain values"]),
    "10,000 brackets": (evaluating(measures="(" * 10_000), ["longer than 500 characters"]),
    "nested brackets": (evaluating(measures=f"P(k={'[' * 240}{']' * 240})"), ["plain values"]),
    "NUL in a name": (evaluating(measures="nDCG\0@10"), [r"'nDCG\x00@10'", "'nDCG@10'"]),
    "NUL in the brackets": (evaluating(measures="nDCG(k=\0)"), [r"nDCG(k=\x00)", "plain values"]),
    "a name that is empty": (evaluating(measures=""), ["''", "not a measure name"]),
    "a document list that is a string": (evaluating({"q": "d1"}, {"q": ["d1"]}), ["run['q']", "str: 'd1'"]),
    "ids of two types in a dict": (
        evaluating({"q": {"d1": 0.5, 3: 0.1}}, {"q": ["d1"]}),
        ["run mixes types", "Write ids all as texts, or all as integers, and what is no id as numbers."],
    ),
    "NaN among the grades": (
        evaluating(qrels=QRELS.with_columns(relevance=pl.Series([1.0, NAN]))),
        ["qrels has 1 row whose 'relevance' is null, NaN or infinite", "| 1   | q2"],
    ),
    "a misspelt option of evaluate in a method": (lambda: RUN.ir.ndcg(QRELS, mising="skip"), ["mising", "'missing'"]),
    "a value for undefined that is no number": (evaluating(undefined="zero"), ["undefined", "'zero'"]),
    "a value for judged_only that is no truth value": (evaluating(judged_only="no"), ["judged_only", "'no'"]),
}


@pytest.mark.parametrize(("call", "parts"), PARTS.values(), ids=PARTS)
def test_a_message_names_what_is_wrong(call, parts):
    message = message_of(call)
    assert [part for part in parts if part not in message] == []


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "10", 99_999_999_999])
@pytest.mark.parametrize(
    "call", [lambda k: ir.ndcg(k=k), lambda k: RUN.ir.ndcg(QRELS, k=k), lambda k: ir.parse(f"nDCG(k={k!r})")]
)
def test_a_cutoff_is_a_whole_number_of_documents(call, k):
    assert message_of(lambda: call(k)) == f"nDCG: {WANTED_CUTOFF}; got {k!r}."


@pytest.mark.parametrize(
    "name", ["nDCG@0", "nDCG@-1", "nDCG@2.5", "nDCG@True", "nDCG@", "ndcg_cut_0", "ndcg_at_0", "nDCG@99999999999"]
)
def test_a_cutoff_in_a_name_is_a_whole_number_of_documents(name):
    assert message_of(lambda: ir.parse(name)).startswith(f"nDCG: {WANTED_CUTOFF}; got")


def test_a_message_shows_the_first_five_rows():
    run = pl.DataFrame({"query_id": "q", "doc_id": [f"d{i}" for i in range(9)], "score": [NAN] * 9})
    message = message_of(evaluating(run))
    assert message.startswith("run has 9 rows ")
    assert [f"d{i}" in message for i in range(9)] == [True] * 5 + [False] * 4


def test_a_spark_frame_is_not_collected_behind_the_users_back():
    def refuse(_self: object, _schema: object = None) -> None:
        raise AssertionError

    spark_frame = type("DataFrame", (), {"__module__": "pyspark.sql.classic", "__arrow_c_stream__": refuse})()
    wanted = "run is a Spark frame. polars_ir.spark.evaluate keeps it on the cluster; bring it here: run.toArrow()."
    assert message_of(evaluating(spark_frame)) == wanted


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        (RUN, QRELS),
        (pl.concat([RUN, RUN[:1]]), QRELS),
        (RUN, QRELS.with_columns(relevance=pl.Series([1, None]))),
        (RUN.rename({"query_id": "Topic", "score": "sim"}), QRELS.cast({"relevance": pl.Float32})),
    ],
)
def test_inputs_are_unchanged(run, qrels):
    before = run.clone(), qrels.clone()
    with suppress(ir.IRError):
        ir.evaluate(run, qrels, ["nDCG", "AP"])
    for table, clone in zip((run, qrels), before, strict=True):
        assert table.schema == clone.schema
        assert table.equals(clone)


# A LazyFrame's data are seen when it is collected.

DUPLICATES = "the run gives a document of a query more than once; keep the best score of each"

LAZILY_WRONG = {
    "NaN": (RUN.with_columns(score=pl.Series([NAN, 0.3, 0.1])), rules.BAD_RUN),
    "null": (RUN.with_columns(score=pl.Series([None, 0.3, 0.1])), rules.BAD_RUN),
    "a null document": (RUN.with_columns(doc_id=pl.Series([None, "d2", "d1"])), rules.BAD_RUN),
    "a null query": (RUN.with_columns(query_id=pl.Series([None, "q1", "q2"])), rules.BAD_RUN),
    "a judged document twice": (pl.concat([RUN, RUN[1:2].with_columns(score=0.1)]), DUPLICATES),
    "a judged document twice with one score": (pl.concat([RUN, RUN[1:2]]), DUPLICATES),
    "an unjudged document twice": (pl.concat([RUN, RUN[:1].with_columns(score=0.1)]), DUPLICATES),
    "systems in a column of another name": (
        pl.concat([RUN.with_columns(model=pl.lit("a")), RUN.with_columns(model=pl.lit("b"))]),
        (
            f"{DUPLICATES.partition(';')[0]}; if 'model' names the systems, rename it to 'run'; if 'model' "
            "distinguishes rankings, give by=['model']; else keep"
        ),
    ),
}

LAZILY_WRONG_QRELS = {
    "NaN": (QRELS.with_columns(relevance=pl.Series([NAN, *[1.0] * (QRELS.height - 1)])), rules.BAD_QRELS),
    "null": (QRELS.with_columns(relevance=pl.Series([None, *[1] * (QRELS.height - 1)])), rules.BAD_QRELS),
    "infinite": (QRELS.with_columns(relevance=pl.Series([INFINITY, *[1.0] * (QRELS.height - 1)])), rules.BAD_QRELS),
    "a document twice": (pl.concat([QRELS, QRELS[:1]]), planned.DUPLICATE_JUDGMENTS),
    "an unretrieved document twice": (
        pl.concat([QRELS, *[QRELS[:1].with_columns(doc_id=pl.lit("elsewhere"))] * 2]),
        planned.DUPLICATE_JUDGMENTS,
    ),
}

LABELLED = RUN.with_columns(relevance=pl.Series([1.0, 0.0, 1.0]))

LAZILY_WRONG_LABELLED = {
    "NaN grade": (LABELLED.with_columns(relevance=pl.Series([NAN, 0.0, 1.0])), rules.BAD_RUN),
    "null score": (LABELLED.with_columns(score=pl.Series([None, 0.0, 1.0])), rules.BAD_RUN),
    "a document twice": (pl.concat([LABELLED, LABELLED[:1]]), DUPLICATES),
}


def check_fails(plan: pl.LazyFrame, engine: str, sentence: str) -> None:
    """A plan fails with a sentence of ours."""
    with pytest.raises(pl.exceptions.PolarsError) as error:
        plan.collect(engine=engine)
    assert f"polars_ir: {sentence}" in str(error.value)


@pytest.mark.parametrize(("run", "sentence"), LAZILY_WRONG.values(), ids=LAZILY_WRONG)
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("deep", [0, 10**9])
@pytest.mark.parametrize("measure", ["nDCG@10", "NumRel", "NumRet"])
@pytest.mark.whole("many cases", quick=24)
def test_collecting_a_wrong_lazy_run_fails_with_our_sentence(run, sentence, engine, deep, measure, monkeypatch):
    tune(monkeypatch, deep=deep)
    check_fails(run.lazy().ir.evaluate(QRELS, measure), engine, sentence)


@pytest.mark.parametrize(("qrels", "sentence"), LAZILY_WRONG_QRELS.values(), ids=LAZILY_WRONG_QRELS)
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "NumRel", "P@10"])
@pytest.mark.whole("many cases", quick=20)
def test_collecting_wrong_lazy_qrels_fails_with_our_sentence(qrels, sentence, engine, measure):
    check_fails(RUN.lazy().ir.evaluate(qrels.lazy(), measure), engine, sentence)


@pytest.mark.parametrize(("qrels", "sentence"), LAZILY_WRONG_QRELS.values(), ids=LAZILY_WRONG_QRELS)
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_wrong_lazy_qrels_are_seen_where_an_empty_run_leaves_every_query_out(qrels, sentence, engine):
    nothing = RUN.lazy().filter(pl.col("score") > 1)
    check_fails(nothing.ir.evaluate(qrels.lazy(), "nDCG@10", missing="skip"), engine, sentence)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_run_is_not_reranked_by_wrong_lazy_scores(engine):
    check_fails(ir.rerank(RUN.lazy(), LAZILY_WRONG["NaN"][0].lazy()), engine, rules.BAD_RUN)


@pytest.mark.parametrize("case", ["NaN", "null", "infinite"])
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_list_is_not_condensed_by_wrong_lazy_qrels(case, engine):
    qrels, sentence = LAZILY_WRONG_QRELS[case]
    check_fails(ir.condense(RUN.lazy(), qrels.lazy()), engine, sentence)


@pytest.mark.parametrize(("frame", "sentence"), LAZILY_WRONG_LABELLED.values(), ids=LAZILY_WRONG_LABELLED)
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("measure", ["nDCG@10", "NumRel", "NumRet"])
def test_collecting_a_wrong_lazy_labelled_frame_fails_with_our_sentence(frame, sentence, engine, measure):
    check_fails(frame.lazy().ir.evaluate(None, measure), engine, sentence)


# Nothing in common is no error, and hardly ever what was meant.


def test_an_empty_run_gives_zeros_and_a_warning():
    with pytest.warns(ir.IRWarning, match="ids of the run are none at all, of the qrels 'q1', 'q2'"):
        found = ir.evaluate(RUN.clear(), QRELS, "nDCG")
    assert found.rows() == [("q1", 0.0), ("q2", 0.0)]


def test_empty_qrels_give_an_empty_frame_and_a_warning():
    with pytest.warns(ir.IRWarning, match="ids of the run are 'q1', 'q2', of the qrels none at all"):
        found = ir.evaluate(RUN, QRELS.clear(), "nDCG")
    assert found.schema == {"query_id": pl.String, "nDCG": pl.Float64}
    assert found.is_empty()


@pytest.mark.parametrize("grade", [0, -1, -0.5])
@pytest.mark.parametrize("plan", [False, True])
def test_judgments_that_find_nothing_relevant_give_zeros_and_a_warning(grade, plan):
    qrels = QRELS.with_columns(relevance=pl.lit(grade))
    run = RUN.lazy() if plan else RUN
    with pytest.warns(ir.IRWarning, match="^no grade of the qrels is above 0, so that no document is relevant"):
        result = run.ir.evaluate(qrels, "RR").lazy().collect()
    assert result["RR"].to_list() == [0.0, 0.0]


def test_judgments_that_find_nothing_relevant_are_warned_of_where_figures_are_null():
    with pytest.warns(ir.IRWarning, match="^no grade of the qrels is above 0"):
        assert RUN.ir.evaluate(QRELS.with_columns(relevance=0), "RR", undefined=None)["RR"].to_list() == [None, None]


def test_every_judged_document_is_relevant_from_grade_0_on(recwarn):
    """So that zeros of such a measure say nothing of the judgments."""
    found = ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d2": 0}}, ["P(rel=0)@1", "P(rel=0)@2"])
    assert found.rows() == [("q", 0.0, 0.5)]
    # Nor do those of a measure that asks whether documents are judged.
    assert ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 0, "d2": 0}}, "Hole@2").rows() == [("q", 0.0)]
    assert not recwarn.list


def test_no_query_in_common_gives_zeros_and_a_warning_with_queries_of_both_sides():
    with pytest.warns(ir.IRWarning, match="ids of the run are 'q1', 'q2', of the qrels 'Q1', 'Q2'"):
        found = ir.evaluate(RUN, QRELS.with_columns(pl.col("query_id").str.to_uppercase()), "nDCG")
    assert found.rows() == [("Q1", 0.0), ("Q2", 0.0)]


def test_no_document_in_common_gives_zeros_and_a_warning_with_documents_of_both_sides():
    with pytest.warns(ir.IRWarning, match="ids of the run are 'd1', 'd2', of the qrels 'D2', 'D1'"):
        found = ir.evaluate(RUN, QRELS.with_columns(pl.col("doc_id").str.to_uppercase()), "nDCG")
    assert found.rows() == [("q1", 0.0), ("q2", 0.0)]


def test_rows_that_have_a_column_row_are_shown():
    run = RUN.with_columns(row=pl.lit(1))
    message = message_of(evaluating(pl.concat([run, run[:1]]), by="row"))
    assert "| number of the row | row | query_id | doc_id | score |" in message
    assert "| row | query_id | doc_id | score |" in message_of(evaluating(run.with_columns(score=pl.lit(NAN))))


@pytest.mark.parametrize("plan", [False, True])
def test_that_nothing_was_judged_may_be_said_twice(plan):
    nothing = pl.DataFrame({"query_id": ["q3"] * 2, "doc_id": None, "relevance": None}, schema=QRELS.schema)
    once, twice = (pl.concat([QRELS, rows]) for rows in (nothing[:1], nothing))
    run = RUN.lazy() if plan else RUN
    found = [ir.evaluate(run, qrels.lazy() if plan else qrels, ["nDCG@10", "P@5"]) for qrels in (once, twice)]
    assert found[0].lazy().collect().equals(found[1].lazy().collect())


def test_wrong_rows_beside_those_without_documents_have_their_numbers():
    nothing = pl.DataFrame({"query_id": ["q0"], "doc_id": [None], "relevance": [None]}, schema=QRELS.schema)
    wrong = QRELS.with_columns(relevance=pl.Series([1, None]))
    assert "| 2   | q2       | d1     | null      |" in message_of(evaluating(qrels=pl.concat([nothing, wrong])))


def test_the_warning_points_at_the_line_of_the_caller():
    for call in (lambda: ir.evaluate(RUN.clear(), QRELS, "nDCG"), lambda: RUN.clear().ir.ndcg(QRELS)):
        with pytest.warns(ir.IRWarning) as caught:
            call()
        assert caught[0].filename == __file__
