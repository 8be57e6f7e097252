"""Tables of other packages: the line that makes one of them, and the dtypes that came."""

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main

PYDOCS = ir.datasets.load("pydocs")
RUN = PYDOCS.runs.filter(run="bm25").drop("run")


@pytest.mark.parametrize(
    ("package", "kind", "line"),
    [
        ("deltalake.table", "DeltaTable", r"pl\.scan_delta\(run\)"),
        ("pyiceberg.table", "Table", r"pl\.scan_iceberg\(run\)"),
        ("lancedb.table", "LanceTable", r"run\.to_polars\(\)"),
        ("dask.dataframe.dask_expr._collection", "DataFrame", r"run\.compute\(\)"),
        ("ray.data.dataset", "Dataset", r"run\.to_pandas\(\)"),
    ],
)
def test_what_is_kept_elsewhere_is_told_the_line_that_makes_it_a_table(package, kind, line):
    value = type(kind, (), {"__module__": package})()
    with pytest.raises(
        ir.IRError, match=f"run must be a table here; got a {kind} of {package.partition('.')[0]}.*{line}"
    ):
        ir.evaluate(value, PYDOCS.qrels, "AP")


def test_a_delta_table_is_told_and_the_line_works(tmp_path):
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(tmp_path / "run", RUN.to_arrow())
    table = deltalake.DeltaTable(tmp_path / "run")
    with pytest.raises(ir.IRError, match=r"pl\.scan_delta\(run\)"):
        ir.evaluate(table, PYDOCS.qrels, "AP")
    assert ir.evaluate(pl.scan_delta(table), PYDOCS.qrels, "AP").collect().equals(RUN.ir.evaluate(PYDOCS.qrels, "AP"))


def test_columns_of_arrow_in_pandas_stay_such():
    pandas = pytest.importorskip("pandas")
    of_arrow, plain = (RUN.to_pandas(use_pyarrow_extension_array=arrow) for arrow in (True, False))
    per_query = of_arrow.ir.ndcg(PYDOCS.qrels, k=10)
    assert all(isinstance(dtype, pandas.ArrowDtype) for dtype in per_query.dtypes)
    assert all(isinstance(dtype, pandas.ArrowDtype) for dtype in per_query.ir.mean().dtypes)
    assert pl.from_pandas(per_query).equals(RUN.ir.ndcg(PYDOCS.qrels, k=10))
    assert not any(isinstance(dtype, pandas.ArrowDtype) for dtype in plain.ir.ndcg(PYDOCS.qrels, k=10).dtypes)


def test_a_url_is_refused_before_any_work(capsys):
    with pytest.raises(ir.IRError, match=r"s3://bucket/x\.parquet: URLs are only read\. Polars writes a table there"):
        ir.write_run(RUN, "s3://bucket/x.parquet")
    assert main(["evaluate", "nowhere", "none", "-m", "AP", "-o", "s3://bucket/x.parquet"]) == 2
    assert "s3://bucket/x.parquet: URLs are only read" in capsys.readouterr().err
