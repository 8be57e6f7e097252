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
    """A call with tables that it can not take as they are, and its figure once what is advised is done.

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
        if "run, qrels" in code:
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
    "position",
    "pos",
    "place",
    "ranking",
    "rnk",
    "rk",
    "hit_rank",
    "result_rank",
    "relevance_rank",
    "Doc Position",
]
PLACES += ["document_position", "docPosition"]
IN_MEMORY = ("polars", "pandas")
HIGH = ["bm25", "bm25_score", "ranker_score", "cosine"]
LOW = ["distance", "l2", "L2_dist", "cost", "loss", "perplexity", "nll", "edit_distance"]

FOLLOWED = {
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
    assert len(codes) < 2


def test_a_labelled_frame_may_have_ranks_in_the_place_of_scores():
    frame = pl.DataFrame({"query_id": ["q"] * 2, "doc_id": ["a", "b"], "rank": [1, 2], "label": [1, 0]})
    assert [rr(kind) for kind in (frame, frame.lazy(), frame.to_pandas())] == [1.0, 1.0, 1.0]
    assert rr(frame.drop("doc_id")) == 1.0
    assert rr(frame.with_columns(rank=pl.Series([2, 1], dtype=pl.UInt8))) == 0.5
