"""What a message advises is followed as it is printed, and the figure is the right one; or nothing is advised."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.errors import IRError

#: Frames of callers, and how each is made.
KINDS: dict[str, Callable[[Any], Any]] = {"polars": pl.DataFrame, "lazy": pl.LazyFrame, "pandas": pd.DataFrame}


class Followed(NamedTuple):
    """A call with tables that it cannot take as they are, and its figure once what is advised is done.

    None stands for a message that must propose no code.
    """

    call: Callable[..., Any]
    tables: dict[str, Any]
    figure: Any
    kinds: tuple[str, ...] = tuple(KINDS)


def advised(error: IRError) -> str | None:
    """The code that a message proposes, as it is printed."""
    code = error.caller.code(error.fix) if error.fix else None
    assert code is None or f": {code}." in str(error)
    return code


def follow(of: Followed, kind: str) -> tuple[Any, list[str]]:
    """The figure after the advice of each message, and the code of them; None where a message proposes none."""
    tables = {name: table if len(table) == 1 else KINDS[kind](table) for name, table in of.tables.items()}
    known, codes = {"pl": pl, "pd": pd, "ir": ir, **tables}, []
    while len(codes) < 3:
        try:
            return of.call(**tables), codes
        except IRError as raised:
            error = raised
        if (code := advised(error)) is None:
            return None, codes
        codes.append(code)
        table = error.about if error.about in tables else next(iter(tables))
        exec(code if " = " in code.partition("(")[0] else f"{table} = {code}", known)  # noqa: S102  # as it is pasted
        if isinstance(known[table], tuple):
            return rr(*known[table]), codes
        if "qrels" in known and "frame" in tables:
            return rr(known["run"], known["qrels"]), codes
        tables = {name: known[name] for name in tables}
    raise AssertionError(codes)


def rr(run: Any, qrels: Any = None) -> float:
    """The mean RR."""
    found = ir.evaluate(run, qrels, "RR")
    frame = pl.from_pandas(found) if isinstance(found, pd.DataFrame) else found.lazy().collect()
    return round(frame["RR"].mean(), 9)


def ranked_by(column: str, values: list[Any], figure: Any, **others: Any) -> Followed:
    """A run of two documents in a column of another name, of which the first is relevant."""
    return Followed(
        rr,
        {"run": {"query_id": ["q", "q"], "doc_id": ["a", "b"], column: values}, "qrels": {"q": ["a"]}},
        figure,
        **others,
    )


def labelled_by(column: str, values: list[Any], figure: Any, **others: Any) -> Followed:
    """The same with grades beside the documents."""
    run = {"query_id": ["q", "q"], "doc_id": ["a", "b"], column: values, "label": [1, 0]}
    return Followed(rr, {"run": run}, figure, **others)


PLACES = [
    "pos",
    "place",
    "ranking",
    "rnk",
    "rk",
    "hit_rank",
    "result_rank",
    "relevance_rank",
]
PLACES += ["document_position"]
IN_MEMORY = ("polars", "pandas")
HIGH = ["bm25", "bm25_score", "ranker_score", "cosine"]
LOW = ["distance", "l2", "L2_dist", "cost", "loss", "perplexity", "nll", "edit_distance"]


def logged(frame: Any, **options: Any) -> float:
    """The mean RR of a log with a row for each query."""
    return rr(*ir.from_lists(frame, **options))


def of_log(figure: Any, kinds: tuple[str, ...] = IN_MEMORY, **columns: list[Any]) -> Followed:
    """A log of one query under the names of some columns."""
    return Followed(
        logged, {"frame": {"query_id": ["q"] * len(next(iter(columns.values()))), **columns}}, figure, kinds
    )


#: Names of lists of relevant documents, and of retrieved ones.
GOLD_AND_FOUND = """
    relevant_docs docs; expected_chunks chunks; ground_truth_context_ids context_ids; references contexts;
    targets recommendations; gt_ids topk; correct_ids found; answer_ids candidate_ids; test_items top_items;
    clicked shown; retrieval_gt retrieved_ids_semantic; retrieval_labels retrieval_results; target_doc_ids
    output_doc_ids; y_true y_pred; needed_pages got_pages; gold hits; gold_ids pred_ids; truth ranking;
    ground_truth results; relevant_ids ids; positives items; relevant_doc_ids retrieved_doc_ids; labels
    predictions; purchased recommended; true_items recs; qrels run_docs; reference_ids retrieved_ids;
    GroundTruth SearchResults; goldChunks retrievedChunks; liked suggested; bought shown_items; gt pred;
    golden_nodes nodes; reference_contexts retrieved_contexts; expected_ids response_ids; relevant_passages
    passages; ideal output; holdout knn; correct_docs top_docs; target_items neighbors; rel_docs doc_list;
    expected_sources sources; actual predicted; positive_ids impressions; click_ids list_ids; label_docs
    fetched_docs; gold_pages pages; judged_relevant found_docs; answers candidates; oracle_ids search_ids;
    test_set topk_items; required_docs returned_docs; truth_ids hit_ids; gold_doc doc_ranking; gold_passages
    top_passages; expected got
"""
NAMED = [tuple(pair.split()) for pair in GOLD_AND_FOUND.split(";")]

#: Two rankings of a query.
TWICE = {"retrieved": [["x", "y"], ["y", "x"]], "relevant": [["y"], ["y"]]}

#: What takes two steps: two columns of texts.
STEPS = ("articles of a shop",)

FOLLOWED = {
    **{f"{gold}, {found}": of_log(0.5, tuple(KINDS), **{gold: [["x"]], found: [["y", "x"]]}) for gold, found in NAMED},
    **{f"{found} before {gold}": of_log(0.5, **{found: [["y", "x"]], gold: [["x"]]}) for gold, found in NAMED[::7]},
    "blanks at the ends of a cell": of_log(0.5, retrieved=[" a  b "], relevant=[["b"]]),
    "a separator at the end": of_log(0.5, retrieved=["a|b|"], relevant=[["b"]]),
    "articles of a shop": of_log(0.5, retrieved=["0706016001 0706016002"], relevant=["0706016002"]),
    "a title with blanks": of_log(1.0, retrieved=[["Ed Wood (film)"]], relevant=["Ed Wood (film)"]),
    "a title with a comma": of_log(0.5, retrieved=[["Paris", "Paris, Texas"]], relevant=["Paris, Texas"]),
    "a file with a blank": of_log(1.0, retrieved=[["A B.pdf", "C.pdf"]], relevant=["A B.pdf "]),
    "a blank behind the id": of_log(1.0, retrieved=[["b"]], relevant=["b "]),
    "a title that nothing knows": of_log(None, retrieved=[["x"]], relevant=["Ed Wood (film)"]),
    "grades in a dict": of_log(0.5, retrieved=[["x", "y"]], relevant=[{"y": 2, "z": 1}]),
    "a missing id between others": of_log(None, retrieved=[["x", None, "y"]], relevant=[["y"]]),
    "two systems under another name": of_log(0.75, experiment=["a", "b"], **TWICE),
    "a question asked twice": of_log(None, **TWICE),
    **{f"{name} from {first}": ranked_by(name, [first, first + 1], 1.0) for name in PLACES for first in (0, 1)},
    **{f"{name} beside grades": labelled_by(name, [1, 2], 1.0) for name in PLACES},
    **{
        f"{name} of each ranking": ranked_by(name, [1, 2], 1.0, kinds=IN_MEMORY)
        for name in ("order", "index", "idx", "row_number", "hit")
    },
    **{f"{name} of who knows": ranked_by(name, [1, 2], None, kinds=("lazy",)) for name in ("order", "index", "hit")},
    **{f"{name}, best low": ranked_by(name, [0.1, 0.7], 1.0) for name in LOW},
    **{f"{name}, best low, beside grades": labelled_by(name, [0.1, 0.7], 1.0) for name in LOW},
    **{f"{name}, best high": ranked_by(name, [0.7, 0.1], 1.0) for name in HIGH},
    "distances without a sign": ranked_by("hamming", pl.Series([1, 9], dtype=pl.UInt8), 1.0, kinds=IN_MEMORY),
    "a number of which nothing is known": ranked_by("x", [0.7, 0.1], None),
    "negative distances": ranked_by("neg_distance", [-0.1, -0.7], None),
    "a place that is none": ranked_by("position", [0.5, 0.25], None, kinds=IN_MEMORY),
    "an importance of pages": ranked_by("pagerank", [0.7, 0.1], None),
    "two scores": Followed(
        rr, {"run": {"query_id": ["q"], "doc_id": ["a"], "bm25": [0.5], "cosine": [0.1]}, "qrels": {"q": ["a"]}}, None
    ),
    "a place beside a score": Followed(
        rr,
        {"run": {"query_id": ["q"] * 2, "doc_id": ["a", "b"], "pos": [1, 2], "bm25": [9, 8]}, "qrels": {"q": ["a"]}},
        1.0,
    ),
    "all that is missing at once": Followed(
        rr, {"run": {"question": ["q"] * 2, "url": ["a", "b"], "position": [1, 2]}, "qrels": {"q": ["a"]}}, 1.0
    ),
    "all that is missing, of distances": Followed(
        rr, {"run": {"question": ["q"] * 2, "url": ["a", "b"], "distance": [0.1, 0.2]}, "qrels": {"q": ["a"]}}, 1.0
    ),
    "hits of a search, made flat": Followed(
        rr,
        {
            "run": {
                "query_id": ["q", "q"],
                "_index": ["docs", "docs"],
                "_id": ["a", "b"],
                "_score": [2.0, 1.0],
                "_source.title": ["A", "B"],
            },
            "qrels": {"q": ["a"]},
        },
        1.0,
    ),
    "titles are no ids": Followed(
        rr, {"run": {"query_id": ["q"], "title": ["A"], "text": ["b"], "score": [1.0]}, "qrels": {"q": ["a"]}}, None
    ),
    **{
        f"grades called {name}": Followed(
            rr, {"run": {"query_id": ["q", "q"], "doc_id": ["b", "a"], "score": [2.0, 1.0], name: [0, 1]}}, 0.5
        )
        for name in ("relevant", "is_relevant", "target", "y_true", "clicked", "judgment", "gold")
    },
    "ids that a merge made floats": Followed(
        rr, {"run": {"qid": [1.0, 1.0], "doc_id": ["a", "b"], "score": [1, 2]}, "qrels": {1: ["a"]}}, 0.5, IN_MEMORY
    ),
    "ids that lost digits": Followed(
        rr, {"run": {"qid": ["q"] * 2, "docno": [29365110542270464.0, 1.0], "score": [1, 2]}, "qrels": {"q": [1]}}, None
    ),
    "ids of qrels that lost digits": Followed(
        rr, {"run": {"q": [1]}, "qrels": {"qid": ["q"] * 2, "docno": [2.0**53, 1.0], "rel": [1, 2]}}, None
    ),
    "fractions for ids": Followed(
        rr, {"run": {"qid": ["q"] * 2, "docno": [1.5, 1.0], "score": [1, 2]}, "qrels": {"q": [1]}}, None
    ),
    "lists of ids and of scores": Followed(
        rr, {"run": {"qid": ["q"], "docno": [["b", "a"]], "score": [[2.0, 1.0]]}, "qrels": {"q": ["a"]}}, 0.5
    ),
    "lists of ids with one score": Followed(
        rr, {"run": {"qid": ["q"], "docno": [["b", "a"]], "score": [2.0]}, "qrels": {"q": ["a"]}}, None
    ),
    "grades of qrels called relevant": Followed(
        rr,
        {"run": {"q": ["b", "a"]}, "qrels": {"query_id": ["q", "q"], "doc_id": ["b", "a"], "is_relevant": [0, 1]}},
        0.5,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, of in FOLLOWED.items() for kind in of.kinds])
@pytest.mark.whole("one wording through many callers", quick=40)
def test_what_is_advised_gives_the_right_figure(name, kind):
    of = FOLLOWED[name]
    found, codes = follow(of, kind)
    assert found == of.figure, codes
    assert codes if of.figure is not None else not codes
    assert len(codes) < 2 + (name in STEPS)


def test_a_labelled_frame_may_have_ranks_in_the_place_of_scores():
    frame = pl.DataFrame({"query_id": ["q"] * 2, "doc_id": ["a", "b"], "rank": [1, 2], "label": [1, 0]})
    assert [rr(kind) for kind in (frame, frame.lazy(), frame.to_pandas())] == [1.0, 1.0, 1.0]
    assert rr(frame.drop("doc_id")) == 1.0
    assert rr(frame.with_columns(rank=pl.Series([2, 1], dtype=pl.UInt8))) == 0.5


@pytest.mark.parametrize("names", [("a", "b"), ("source_docs", "context"), ("retrieved_texts", "retrieved_ids")])
def test_where_no_name_tells_what_is_relevant_nothing_is_said_to_be(names):
    frame = pl.DataFrame({"qid": ["q"], **{name: [["x"]] for name in names}})
    with pytest.raises(IRError, match=r"relevant=\.\.\.\)") as error:
        ir.from_lists(frame)
    with pytest.raises(IRError, match=r"must be the name of a column of the frame; got Ellipsis"):
        eval(advised(error.value), {"ir": ir, "frame": frame})  # noqa: S307  # as a user pastes it


def test_what_a_call_names_stays_in_its_advice():
    frame = pl.DataFrame({"qid": ["q"], "relevant_docs": [["x"]], "docs": [["y", "x"]], "s": [[2.0, 1.0]]})
    with pytest.raises(IRError) as error:
        ir.from_lists(frame, query="qid", retrieved="docs", scores="s")
    wanted = "ir.from_lists(frame, query='qid', retrieved='docs', relevant='relevant_docs', scores='s')"
    assert advised(error.value) == wanted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["run", "system", "date", "version"])
def test_a_log_of_several_systems_or_days_has_a_ranking_for_each(kind, name):
    log = {
        name: ["a", "b"],
        "query_id": ["q", "q"],
        "retrieved": [["x", "y"], ["y", "x"]],
        "relevant": [["y", "z"], ["z", "y"]],
    }
    run, qrels = ir.from_lists(KINDS[kind](log))
    by = {} if name in ("run", "system") else {"by": name}
    found = ir.evaluate(run, qrels, "RR", **by)
    found = pl.from_pandas(found) if kind == "pandas" else found.lazy().collect()
    assert found.select(name, "RR").rows() == [("a", 0.5), ("b", 1.0)]


@pytest.mark.parametrize("kind", KINDS)
def test_systems_of_a_log_have_the_same_judgments(kind):
    log = {"run": ["a", "b"], "query_id": ["q", "q"], "retrieved": [["x"], ["y"]], "relevant": [["x"], ["y"]]}
    with pytest.raises((IRError, pl.exceptions.InvalidOperationError), match="another than that of a row of the query"):
        ir.from_lists(KINDS[kind](log))[1].lazy().collect()


@pytest.mark.parametrize("kind", IN_MEMORY)
@pytest.mark.parametrize(("ids", "relevant"), [([5, 7, -1], 7), (["5", "7", ""], "7")])
def test_what_stands_for_no_document_is_told_and_left_out_as_advised(kind, ids, relevant):
    frame = KINDS[kind]({"query_id": ["q"], "retrieved": [ids], "relevant": [[relevant]]})
    with pytest.warns(ir.IRWarning, match=f"holds the id {ids[-1]!r}") as warned:
        ir.from_lists(frame)
    better = eval(advised(warned[0].message), {"pl": pl, "frame": frame})  # noqa: S307  # as a user pastes it
    run, qrels = ir.from_lists(better)
    assert list(run.ir.evaluate(qrels, "SetP")["SetP"]) == [0.5]


WRONG = [["a"], {"a": 1}, pl.col("a"), 5, None, pl.Series(["a"]), b"a", ...]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", ["query", "retrieved", "relevant", "scores", "grades"])
def test_columns_of_a_log_are_names(name, value):
    log = pl.DataFrame({"query_id": ["q"], "retrieved": [["a"]], "relevant": [["a"]]})
    if value is None and name in ("scores", "grades"):
        return
    with pytest.raises(IRError, match=f"{name} must be the name of a column of the frame"):
        ir.from_lists(log, **{name: value})
