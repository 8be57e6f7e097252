"""The history and the items of a recommender, as tables."""

from __future__ import annotations

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.frames.catalogue import USERS, Catalogue
from polars_ir.frames.kinds import collected
from polars_ir.frames.table import run_table

RUN = run_table(pl.DataFrame({"user_id": ["u1", "u1"], "item_id": ["a", "b"], "score": [1.0, 0.5]}))
ROWS = [("u1", "a"), ("u1", "b"), ("u2", "a"), ("u2", "a")]
HISTORY = pl.DataFrame(ROWS, schema=["user_id", "item_id"], orient="row").with_columns(rating=3, timestamp=9)
ITEMS = pl.DataFrame({"item_id": ["a", "b", "z"], "genre": ["x", "y", None]})


@pytest.mark.parametrize("history", [HISTORY, HISTORY.lazy(), HISTORY.to_pandas(), {"u1": ["a", "b"], "u2": ["a"]}])
def test_a_pair_of_user_and_item_counts_once_and_other_columns_do_not_matter(history):
    catalogue = Catalogue.of(RUN, history, ITEMS)
    assert catalogue.users.sort("doc_id").collect().rows() == [("a", 2), ("b", 1)]
    assert catalogue.pairs.sort(pl.all()).collect().rows() == [("u1", "a"), ("u1", "b"), ("u2", "a")]
    assert catalogue.users.collect_schema()[USERS] == pl.Int64


def test_the_catalogue_is_the_items_or_else_those_of_the_history():
    assert Catalogue.of(RUN, HISTORY, ITEMS).ids.collect()["doc_id"].to_list() == ["a", "b", "z"]
    assert Catalogue.of(RUN, HISTORY, None).ids.sort("doc_id").collect()["doc_id"].to_list() == ["a", "b"]


def test_ids_of_other_integers_are_those_of_the_run_and_one_that_it_can_not_hold_matches_nothing():
    run = run_table(pl.DataFrame({"user_id": [1], "item_id": [7], "score": [1.0]}))
    history = pl.DataFrame({"user_id": [1, 2], "item_id": [7, 2**63]}, schema_overrides={"item_id": pl.UInt64})
    users = Catalogue.of(run, history, None).users.sort("doc_id").collect()
    assert users.schema["doc_id"] == pl.Int64
    assert users.rows() == [(None, 1), (7, 1)]


NULL = HISTORY.with_columns(pl.when(pl.int_range(pl.len()) > 0).then("item_id").alias("item_id"))


@pytest.mark.parametrize(
    ("history", "items", "says"),
    [
        (HISTORY.with_columns(item_id=7), None, "run column 'item_id' is String and history column"),
        (None, ITEMS.with_columns(item_id=pl.Series([7, 8, 9])), "items column 'item_id' is Int64. Cast one: items"),
        (NULL, None, "history has 1 row whose 'item_id' is null"),
        (NULL.lazy(), None, "the history has ids that are null"),
        (HISTORY.drop("user_id"), None, "history has no 'query_id' column"),
        (None, pl.concat([ITEMS, ITEMS]), r"items has 6 rows that repeat the ids of another"),
        (None, pl.concat([ITEMS, ITEMS]).lazy(), "the items have an item more than once"),
        (None, ITEMS.drop("item_id"), "items has no 'doc_id' column"),
        ("train.csv", None, "Read it first"),
    ],
)
def test_a_table_that_can_not_be_compared_with_the_run_is_an_error(history, items, says):
    with pytest.raises(ir.IRError, match=says):
        collected(Catalogue.of(RUN, history, items).ids)


def test_an_empty_history_has_no_users():
    assert Catalogue.of(RUN, HISTORY.head(0), None).users.collect().is_empty()
