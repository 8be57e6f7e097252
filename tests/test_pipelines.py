"""The recipes of the page "Pipelines" do with the real products what the page says."""

import datetime as dt
import functools
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pages
import polars as pl
import pytest

import polars_ir as ir

PAGE = pages.ROOT / "notebooks" / "pipelines.md"
ROBUST = pages.ROOT.parent / "shared" / "data" / "robust03"


@functools.cache
def _prepared() -> dict[str, object]:
    """The names that the blocks before the recipes define."""
    scope: dict[str, object] = {}
    for block in pages.python(PAGE)[:2]:
        pages.run(block, scope)
    return scope


def recipe_of(begins: str, language: str = "py") -> str:
    """The recipe with a line that begins so."""
    (recipe,) = (block for block in pages.blocks(PAGE, language) if f"\n{begins}" in f"\n{block}")
    return recipe


def ran(begins: str, folder: Path, **names: object) -> dict[str, object]:
    """The names that a recipe leaves, run in a folder, some names given."""
    scope = {**_prepared(), **names}
    before = Path.cwd()
    os.chdir(folder)
    try:
        pages.run(pages.Block(recipe_of(begins), ""), scope)
    finally:
        os.chdir(before)
    return scope


def shell(command: str, folder: Path, **variables: str) -> str:
    """The output of a command, which finds what stands beside this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, **variables}
    parts = ["bash", "-c", command]
    done = subprocess.run(parts, check=False, cwd=folder, capture_output=True, text=True, env=given, encoding="utf-8")  # noqa: S603  # our own
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_lake(folder: Path, nights: int = 2) -> None:
    """The first nights of the page's rankings as a lake, and their judgments in a file."""
    scope = _prepared()
    for night in scope["nights"][:nights]:
        (folder / "lake" / f"date={night}").mkdir(parents=True, exist_ok=True)
        of_night = scope["runs"].filter(pl.col("date") == night).drop("date")
        of_night.write_parquet(folder / "lake" / f"date={night}" / "runs.parquet")
    scope["qrels"].write_parquet(folder / "qrels.parquet")
    ir.write_qrels(scope["qrels"], folder / "qrels.txt")


def means_of(night: dt.date, **options: str) -> dict[str, float]:
    """The metrics of a night of the page."""
    return ir.to_metrics(_prepared()["per_query"].filter(pl.col("date") == night).drop("date"), **options)


@pytest.mark.whole("thirty nights")
@pytest.mark.skipif(not ROBUST.exists(), reason="the runs of TREC 2003 are not there")
def test_a_nightly_job_stops_where_a_night_is_wrong_and_goes_on_once_it_is_mended(tmp_path):
    files = {"MU03rob01": "dense", "UIUC03Rd1": "lm", "pircRBa1": "hybrid"}
    runs = pl.concat(
        ir.read_run(ROBUST / f"{name}.run.gz").ir.top_k(50).with_columns(system=pl.lit(system))
        for name, system in files.items()
    )
    nights = [dt.date(2026, 10, 20) + dt.timedelta(number) for number in range(30)]
    lake = {night: tmp_path / "lake" / f"date={night}" for night in nights}

    def load(number: int, **columns: pl.Expr) -> None:
        """A night of an index that lacks a fiftieth of its documents, and from the twentieth on more for one system."""
        lacking = (pl.col("doc_id").hash(number) % 50 == 0) | (
            (pl.col("system") == "dense") & (pl.col("doc_id").hash() % 3 == 0) & (number >= 20)
        )
        lake[nights[number]].mkdir(parents=True, exist_ok=True)
        runs.filter(~lacking).with_columns(**columns).write_parquet(lake[nights[number]] / "runs.parquet")

    for number in range(30):
        load(number)
    load(12, query_id=pl.format("q{}", "query_id"))  # no judgments have such ids
    doubled = lake[nights[7]] / "runs.parquet"
    doubled.with_name("retry.parquet").write_bytes(doubled.read_bytes())

    qrels = ir.read_qrels(ROBUST / "qrels.txt.gz")
    job = functools.partial(ran, "def evaluate_night", tmp_path, qrels=qrels)
    first = job()
    assert sorted(first["stopped"]) == [str(nights[7]), str(nights[12])]
    assert "rows that repeat the ids of another (date, system, query_id, doc_id)" in first["stopped"][str(nights[7])]
    assert "ir.deduplicate(run, by='date')" in first["stopped"][str(nights[7])]
    assert "without a judged document" in first["stopped"][str(nights[12])]

    loaded = pl.read_parquet(lake[nights[7]] / "*.parquet", hive_partitioning=True)
    single = ir.deduplicate(loaded, by="date")
    single.select(runs.columns).write_parquet(doubled)
    doubled.with_name("retry.parquet").unlink()
    load(12)
    load(5)  # loaded again
    again = job()
    assert not again["stopped"]
    figures = again["figures"]
    assert figures.height == 30 * 3 * 100
    drifted = again["drifted"]
    assert set(drifted["system"]) == {"dense"}
    assert drifted["bucket"].min() >= nights[20]
    assert "Mean over queries" in again["chart"].to_json()
    assert again["verdicts"]["system"].to_list() == ["dense", "hybrid", "lm"]
    part = functools.partial(figures.filter, system="dense")
    new, old = (part(pl.col("date") == nights[number]) for number in (29, 5))
    assert not ir.gate(new, old, "nDCG@10", max_drop=0.01)["passed"].item()
    alone = ir.evaluate(pl.read_parquet(lake[nights[7]] / "*.parquet"), qrels, ["nDCG@10", "RR"], names="sql")
    keys = ["system", "query_id"]
    of_night = figures.filter(pl.col("date") == nights[7]).select(alone.columns)
    assert of_night.sort(keys).equals(alone.sort(keys))
    for source in ("lake/*", "lake"):
        said = shell(f"polars-ir evaluate {ROBUST}/qrels.txt.gz '{source}' -m nDCG@10 --key date", tmp_path)
        assert len(said.splitlines()) == 1 + 30 * 3


def test_delta_replaces_and_adds_rows(tmp_path):
    pytest.importorskip("deltalake")
    scope = ran("from deltalake", tmp_path)
    assert_stored(scope["stored"])


@pytest.mark.whole("a lake with its own catalog")
@pytest.mark.filterwarnings("default")
def test_iceberg_replaces_and_adds_rows(tmp_path):
    pytest.importorskip("pyiceberg")
    (tmp_path / "warehouse").mkdir()
    assert_stored(ran("from pyiceberg", tmp_path)["stored"])


def assert_stored(stored: pl.DataFrame) -> None:
    """A table holds what the page evaluated."""
    keys = ["date", "run", "query_id"]
    stored, wanted = (frame.sort(keys) for frame in (stored, _prepared()["per_query"]))
    assert stored.select(wanted.columns).equals(wanted)
    assert ir.mean(stored, by="date").equals(ir.mean(wanted, by="date"))


@pytest.mark.whole("a project of dbt's")
def test_dbt_evaluates_new_nights(tmp_path):
    pytest.importorskip("dbt.adapters.duckdb")
    import duckdb

    models = tmp_path / "models"
    models.mkdir()
    (models / "figures.py").write_text(recipe_of("def model"), encoding="utf-8")
    (models / "runs.sql").write_text(recipe_of("SELECT", "sql"), encoding="utf-8")
    (models / "qrels.sql").write_text("SELECT * FROM 'qrels.parquet'", encoding="utf-8")
    (models / "schema.yml").write_text(recipe_of("models:", "yaml"), encoding="utf-8")
    (tmp_path / "dbt_project.yml").write_text("{name: search, profile: search}", encoding="utf-8")
    (tmp_path / "profiles.yml").write_text(
        "search: {target: dev, outputs: {dev: {type: duckdb, path: search.duckdb}}}", encoding="utf-8"
    )
    for nights in (1, 2):
        write_lake(tmp_path, nights)
        said = shell("dbt build --no-use-colors", tmp_path, DBT_SEND_ANONYMOUS_USAGE_STATS="0")
        assert "PASS=4" in said
        assert "python incremental model" in said
    with duckdb.connect(str(tmp_path / "search.duckdb")) as database:
        counted = database.sql("SELECT date, count(*), avg(ndcg_10) FROM figures WHERE run = 'bm25' GROUP BY ALL")
        rows = counted.fetchall()
    assert {night: (count, pytest.approx(mean)) for night, count, mean in rows} == {
        night: (96, means_of(night)["bm25/ndcg_10"]) for night in _prepared()["nights"]
    }


@pytest.mark.whole("a tracker with its own database")
@pytest.mark.filterwarnings("default")
def test_mlflow_takes_the_metrics(tmp_path):
    pytest.importorskip("mlflow")
    scope = ran("import mlflow", tmp_path)
    assert scope["logged"] == pytest.approx(means_of(scope["nights"][0]), rel=1e-15)


@pytest.mark.whole("a tracker with its own process")
@pytest.mark.filterwarnings("default")
def test_wandb_takes_the_metrics(tmp_path):
    pytest.importorskip("wandb")
    scope = ran("import wandb", tmp_path)
    assert means_of(scope["nights"][0]).items() <= scope["logged"].items()


@pytest.mark.whole("a tracker with its own files")
@pytest.mark.filterwarnings("default")
def test_tensorboard_takes_the_metrics(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    scope = ran("from tensorboard", tmp_path)
    events = EventAccumulator(str(tmp_path / "logs"))
    events.Reload()
    assert set(events.Tags()["tensors"]) == set(means_of(scope["nights"][0]))
    assert [event.step for event in events.Tensors("bm25/ndcg_10")] == [0, 1]


@pytest.mark.whole("a product that is not installed")
def test_prometheus_takes_the_metrics(tmp_path):
    pytest.importorskip("prometheus_client")
    scope = ran("from prometheus_client", tmp_path)
    exposed = dict(line.split() for line in scope["exposed"].splitlines() if not line.startswith("#"))
    assert {name: float(value) for name, value in exposed.items()} == means_of(scope["nights"][0], sep=":")


@pytest.mark.whole("a repository of its own")
def test_dvc_shows_the_metrics(tmp_path):
    pytest.importorskip("dvc")
    write_lake(tmp_path)
    (tmp_path / "runs").mkdir()
    bm25 = ir.datasets.load("pydocs").runs.filter(run="bm25").drop("run")
    ir.write_run(bm25, tmp_path / "runs" / "bm25.run")
    (tmp_path / "dvc.yaml").write_text(recipe_of("stages:", "yaml"), encoding="utf-8")
    shell("git init -q . && dvc init -q && dvc repro -q && git add . && git commit -qm first", tmp_path, **AUTHOR)
    shown = json.loads(shell("dvc metrics show --json", tmp_path))[""]["data"]["metrics.json"]["data"]
    assert shown["bm25/nDCG@10"] == means_of(_prepared()["nights"][0])["bm25/ndcg_10"]
    ir.write_run(bm25.ir.top_k(1), tmp_path / "runs" / "bm25.run")
    shell("dvc repro -q", tmp_path)
    assert "bm25/nDCG@10" in shell("dvc metrics diff", tmp_path)


AUTHOR = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.mark.whole("three processes")
def test_the_commands_of_github_actions_run_in_a_shell(tmp_path):
    yaml = pytest.importorskip("yaml")
    runs = ir.datasets.load("pydocs").runs
    write_lake(tmp_path)
    for file, system in (("new.run", "bm25"), ("base.run", "tfidf")):
        ir.write_run(runs.filter(run=system).drop("run"), tmp_path / file)
    (tmp_path / "pyproject.toml").write_text(recipe_of(r"[tool.polars_ir.gate]", "toml"), encoding="utf-8")
    workflow = yaml.safe_load(recipe_of("on: pull_request", "yaml"))
    install, *commands = [step["run"] for step in workflow["jobs"]["search"]["steps"] if "run" in step]
    assert install.startswith("pip install 'polars_ir[stats]")
    shell(commands[0].replace("new.", "base."), tmp_path)
    for command in commands:
        shell(command, tmp_path, GITHUB_STEP_SUMMARY="summary.md")
    assert re.search(r"\| *nDCG@10 *\| *no worse", (tmp_path / "summary.md").read_text(encoding="utf-8"))


@pytest.mark.whole("an orchestrator with its own storage")
@pytest.mark.filterwarnings("default")
def test_dagster_checks_a_partition(tmp_path, monkeypatch):
    pytest.importorskip("dagster")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    done = ran("import dagster", tmp_path)["done"]
    assert done.success
    assert [check.passed for check in done.get_asset_check_evaluations()] == [True]


@pytest.mark.whole("an orchestrator with its own server")
@pytest.mark.filterwarnings("default")
def test_prefect_maps_systems(tmp_path, monkeypatch):
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    monkeypatch.setenv("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "300")
    pytest.importorskip("prefect")
    scope = ran("from prefect", tmp_path)
    of_night = scope["runs"].filter(pl.col("date") == scope["nights"][0])
    wanted = ir.mean(ir.evaluate(of_night, scope["qrels"], ["nDCG@10", "RR"], by="date"), by="date")
    assert scope["means"].sort("run").equals(wanted.sort("run"))


@pytest.mark.whole("an orchestrator with its own database")
def test_airflow_runs_a_night(tmp_path):
    pytest.importorskip("airflow")
    write_lake(tmp_path)
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags" / "nightly.py").write_text(recipe_of("from airflow"), encoding="utf-8")
    options = {"AIRFLOW_HOME": str(tmp_path), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    said = shell("airflow db migrate && airflow dags test nightly 2026-11-18 2>&1", tmp_path, **options)
    assert "state=success" in said
    figures = pl.read_parquet(tmp_path / "figures-2026-11-18.parquet")
    means = means_of(dt.date(2026, 11, 18))
    assert ir.to_metrics(figures) == {name: means[name] for name in ("bm25/ndcg_10", "tfidf/ndcg_10")}


@pytest.mark.whole("an app with its own kernel")
@pytest.mark.filterwarnings("default")
def test_marimo_shows_what_a_click_selects(tmp_path):
    pytest.importorskip("marimo")
    import runpy

    (tmp_path / "notebook.py").write_text(recipe_of("import marimo"), encoding="utf-8")
    app = runpy.run_path(str(tmp_path / "notebook.py"))["app"]
    _, names = app.run()
    assert names["means"].equals(names["per_query"].ir.mean())
    names["chart"]._update({"system": {"vlPoint": [1], "run": ["bm25"]}})  # noqa: SLF001  # as its page does
    assert names["chart"].apply_selection(names["means"])["run"].to_list() == ["bm25"]


@pytest.mark.whole("an app with its own server")
@pytest.mark.filterwarnings("default")
def test_streamlit_shows_the_means():
    pytest.importorskip("streamlit")
    from streamlit.testing.v1 import AppTest

    setup = "\n".join(block.code for block in pages.python(PAGE)[:1])
    app = AppTest.from_string(f"{setup}\n{recipe_of('import streamlit')}", default_timeout=900).run()
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
