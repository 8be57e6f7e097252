"""The book's recipes for Ray and Dask give what one process gives, run as scripts in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pages
import polars as pl
import pytest

import polars_ir as ir

#: The lines of a script besides the recipe; the recipe's line for another cluster is left out.
CLUSTERS = {
    "ray": ("import ray", "ray.init(num_cpus=2, include_dashboard=False)"),
    "dask": ("import dask", ""),
    "dask.distributed": ("import dask.distributed", "dask.distributed.Client(n_workers=2, dashboard_address=None)"),
}

QUERIES = 2500


@pytest.fixture
def collection(tmp_path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A run, sorted by query as the recipe wants it, and judgments, both also as the Parquet files it reads."""
    ids = pl.DataFrame({"query_id": [f"q{number:04}" for number in range(QUERIES)]})
    run = ids.join(pl.DataFrame({"place": range(20)}), how="cross").with_row_index()
    run = run.select("query_id", doc_id=pl.format("d{}", pl.col("index") % 997), score=-pl.col("place") // 3)
    qrels = run.gather_every(7).select("query_id", "doc_id", relevance=pl.int_range(pl.len()) % 4)
    run.write_parquet(tmp_path / "run.parquet")
    qrels.write_parquet(tmp_path / "qrels.parquet")
    return run, qrels


def script(cluster: str) -> str:
    """The recipe for one cluster; what starts processes must not run again as they import it."""
    (recipe,) = (
        block for block in pages.blocks(pages.ROOT / "notebooks" / "large_runs.md", "py") if "ray.get" in block
    )
    name = cluster.partition(".")[0]
    lines = [line for line in recipe.splitlines() if f"{name}." in line or not line.startswith("per_query")]
    imports, start = CLUSTERS[cluster]
    body = indent("\n".join([start, *lines, "per_query.write_parquet('per_query.parquet')"]), "    ")
    return f"import polars as pl\nimport polars_ir as ir\n{imports}\nif __name__ == '__main__':\n{body}"


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_recipe_gives_what_one_process_gives(cluster, collection, tmp_path):
    pytest.importorskip(cluster)
    (tmp_path / "recipe.py").write_text(script(cluster), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(Path(ir.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "recipe.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert pl.read_parquet(tmp_path / "per_query.parquet").equals(ir.evaluate(*collection, ["nDCG@10", "AP"]))
