"""The recipes of the page "Pipelines" do with the real products what the page says."""

import functools
import os
import pickle
from pathlib import Path

import pages
import polars as pl
import pytest

import polars_ir as ir

PAGE = pages.ROOT / "notebooks" / "pipelines.md"


@functools.cache
def _prepared() -> dict[str, object]:
    """The names that the blocks before the recipes define."""
    scope: dict[str, object] = {}
    for block in pages.python(PAGE)[:2]:
        pages.run(block, scope)
    return scope


def recipe_of(product: str) -> str:
    """The recipe of a product."""
    lines = f"import {product}", f"from {product}"
    (recipe,) = (block for block in pages.blocks(PAGE, "py") if block.startswith(lines))
    return recipe


def ran(product: str, folder: Path) -> dict[str, object]:
    """The names that the recipe of a product leaves, run in a folder."""
    recipe = recipe_of(product)
    scope = dict(_prepared())
    before = Path.cwd()
    os.chdir(folder)
    try:
        pages.run(pages.Block(recipe, ""), scope)
    finally:
        os.chdir(before)
    return scope


def test_delta_replaces_and_adds_rows(tmp_path):
    pytest.importorskip("deltalake")
    scope = ran("deltalake", tmp_path)
    keys = ["date", "run", "query_id"]
    stored, wanted = (scope[name].sort(keys) for name in ("stored", "per_query"))
    assert stored.select(wanted.columns).equals(wanted)
    assert ir.mean(stored, by="date").equals(ir.mean(wanted, by="date"))


@pytest.mark.whole("a tracker with its own database")
@pytest.mark.filterwarnings("default")
def test_mlflow_takes_the_metrics(tmp_path):
    pytest.importorskip("mlflow")
    scope = ran("mlflow", tmp_path)
    of_night = scope["per_query"].filter(pl.col("date") == scope["nights"][0]).drop("date")
    assert scope["logged"] == pytest.approx(ir.to_metrics(of_night), rel=1e-15)


@pytest.mark.whole("an orchestrator with its own storage")
@pytest.mark.filterwarnings("default")
def test_dagster_checks_a_partition(tmp_path, monkeypatch):
    pytest.importorskip("dagster")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    done = ran("dagster", tmp_path)["done"]
    assert done.success
    assert [check.passed for check in done.get_asset_check_evaluations()] == [True]


@pytest.mark.whole("an app with its own server")
@pytest.mark.filterwarnings("default")
def test_streamlit_shows_the_means():
    pytest.importorskip("streamlit")
    from streamlit.testing.v1 import AppTest

    setup = "\n".join(block.code for block in pages.python(PAGE)[:1])
    app = AppTest.from_string(f"{setup}\n{recipe_of('streamlit')}", default_timeout=60).run()
    assert not app.exception
    assert list(app.dataframe[0].value.columns) == ["date", "run", "ndcg_10"]
    app.selectbox[0].select("RR").run()
    assert list(app.dataframe[0].value.columns) == ["date", "run", "rr"]


def test_a_plan_is_sent_and_a_method_is_not_found_where_nothing_imports_us():
    cloudpickle = pytest.importorskip("cloudpickle")
    run, qrels = pl.LazyFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}), {"q": {"d": 1}}
    plan = ir.evaluate(run, qrels, "RR")
    assert b"polars_ir" in cloudpickle.dumps(lambda: ir.evaluate(run, qrels, "RR"))
    # A function of no file, whose path could have our name.
    assert b"polars_ir" not in cloudpickle.dumps(eval("lambda frame: frame.ir.mean()", {}))  # noqa: S307  # our own
    assert pickle.loads(pickle.dumps(plan)).collect()["RR"].item() == 1  # noqa: S301  # our own
