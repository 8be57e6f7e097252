"""Names of systems, queries and measures that are markup do not leave the script that a page holds a chart in."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest

import polars_ir as ir

pytest.importorskip("altair")
plots = pytest.importorskip("polars_ir.plots")

MARKUP = "</script><script>alert(1)</script><!--<script>"
DOCUMENTS = {f"{MARKUP}{number}": {f"d{number}": 1.0, "other": 0.5} for number in range(4)}
QRELS = {query: {"d1": 1, "other": 1} for query in DOCUMENTS}
RUNS = {MARKUP: DOCUMENTS, "plain": {query: {"other": 1.0} for query in DOCUMENTS}}
PER_QUERY = ir.evaluate(RUNS, QRELS, [ir.parse("AP").alias(MARKUP)])
DAYS = pl.DataFrame({"query_id": list(DOCUMENTS), "day": [date(2026, 3, day) for day in range(1, 5)]})

CHARTS: dict[str, Any] = {
    "differences": lambda: plots.differences(PER_QUERY, MARKUP, baseline="plain"),
    "scatter": lambda: plots.scatter(PER_QUERY, MARKUP, x="plain", y=MARKUP),
    "forest": lambda: plots.forest(PER_QUERY, baseline="plain"),
    "distribution": lambda: plots.distribution(PER_QUERY),
    "heatmap": lambda: plots.heatmap(PER_QUERY),
    "ranks": lambda: plots.ranks(PER_QUERY),
    "series": lambda: plots.series(PER_QUERY, DAYS, every="1d", measures=MARKUP),
    "cutoffs": lambda: plots.cutoffs(RUNS, QRELS, "nDCG", k=[1, 2]),
    "precision_recall": lambda: plots.precision_recall(RUNS, QRELS),
    "stages": lambda: plots.stages(RUNS, QRELS),
}


@pytest.mark.parametrize("name", plots.__all__)
@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
@pytest.mark.whole("a page a chart", quick=3)
def test_no_name_ends_the_script_of_a_page(name: str) -> None:
    chart = CHARTS[name]()
    written = chart.to_json()
    assert "alert(1)" in written
    assert "</" not in written
    assert "<!" not in written
    assert "<script>alert" not in chart.to_html().replace("<\\u2060/script><script>alert(1)", "")


def test_a_chart_keeps_its_systems_apart_and_in_order() -> None:
    chart = plots.precision_recall({"b</": DOCUMENTS, "a</": DOCUMENTS}, QRELS)
    told = chart.to_dict()
    rows = told["datasets"][told["data"]["name"]]
    systems = list(dict.fromkeys(row["run"] for row in rows))
    assert systems == ["a<\u2060/", "b<\u2060/"]
    assert told["layer"][0]["encoding"]["color"]["scale"]["domain"] == systems
