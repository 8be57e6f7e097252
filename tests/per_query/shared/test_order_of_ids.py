"""Numbers of ids order them as the ids themselves do, and distinguish them."""

import polars as pl
import pytest

from polars_ir.per_query.shared import queries
from polars_ir.per_query.shared.queries import NUMBER, numbered

IDS = {
    "of one length": [f"user-{i * 7919 % 1000:08d}" for i in range(300)],
    "of several lengths": [f"u{i}" for i in range(300)],
    "longer than a number": [f"{'é' if i % 3 else 'a'}{'x' * (i % 13)}{i}" for i in range(300)],
    "that begin alike": [f"{'a' if i % 2 else 'b'}-the-same-beginning-{i % 150}" for i in range(300)],
    "that end in zeros": [f"k{i // 3}" + "\0" * (i % 3) for i in range(300)],
    "that are all the same": ["q"] * 20,
    "of integers": [i * 7 % 31 for i in range(31)],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_numbers_order_ids_and_tell_them_apart(ids, monkeypatch):
    monkeypatch.setattr(queries, "MANY", 2)
    rows = pl.DataFrame({"query_id": [*ids, *reversed(ids)]})
    found = numbered(rows, "query_id")
    assert found.drop(NUMBER).equals(rows)
    assert found[NUMBER].rank("dense").equals(rows["query_id"].rank("dense").rename(NUMBER))
