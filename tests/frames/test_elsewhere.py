"""Values that are no table or file of ours: tables of other packages, the dtypes that came, stores and open files."""

import gzip
import io
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import polars as pl
import pytest
from serving import Quiet, serving

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.files.writers import check_path

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


def test_a_url_that_can_not_be_written_is_refused_before_any_work(capsys):
    with pytest.raises(ir.IRError, match=r"https://x\.org/x\.parquet: this URL cannot be written to"):
        ir.write_run(RUN, "https://x.org/x.parquet")
    with pytest.raises(ir.IRError, match=r"s3://b/x\.html: this is written to a file, and not to a URL"):
        check_path("s3://b/x.html")
    with pytest.raises(ir.IRError, match=r"s3://b/a\.parquet: cannot be written: invalid value for 'max_retries'"):
        ir.write_run(PYDOCS.runs.filter(run="bm25"), "s3://b/a.parquet", storage_options={"max_retries": "one"})
    for command, end in (("evaluate", "parquet"), ("plot forest", "png"), ("report", "html"), ("table", "tex")):
        assert main([*command.split(), "nowhere", "none", "-m", "AP", "-o", f"https://x.org/x.{end}"]) == 2
        assert "this is written to a file, and not to a URL; copy it there" in capsys.readouterr().err


class Store(Quiet, BaseHTTPRequestHandler):
    """Keeps what is put there, as S3 does; a bucket called `none` is not there."""

    kept: ClassVar[dict[str, bytes]] = {}

    def do_PUT(self) -> None:
        self.kept[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(404 if self.path.startswith("/none/") else 200)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", "0")
        self.end_headers()


def test_files_are_written_to_a_store():
    run, kept = RUN, Store.kept
    with serving(Store) as address:
        store = {"aws_endpoint_url": address, "aws_access_key_id": "a", "aws_secret_access_key": "b"}
        store |= {"aws_region": "us-east-1", "aws_allow_http": "true"}
        ir.write_run(run.lazy(), "s3://bucket/a.parquet", storage_options=store)
        ir.write_run({"a": run, "b": run}, "s3://bucket/{run}.run.gz", storage_options=store)
        ir.write_qrels(PYDOCS.qrels, "s3://bucket/qrels.txt", storage_options=store)
        with pytest.raises(ir.IRError, match=r"s3://none/a\.parquet: cannot be written: object-store error"):
            ir.write_run(run, "s3://none/a.parquet", storage_options=store)
    assert kept.keys() >= {"/bucket/a.parquet", "/bucket/a.run.gz", "/bucket/b.run.gz", "/bucket/qrels.txt"}
    assert pl.read_parquet(kept["/bucket/a.parquet"]).equals(run)
    assert gzip.decompress(kept["/bucket/b.run.gz"]).splitlines()[0].endswith(b" b")
    assert ir.read_qrels(io.BytesIO(kept["/bucket/qrels.txt"])).height == PYDOCS.qrels.height


def test_an_open_file_is_read_now(tmp_path):
    path = tmp_path / "bm25.run.gz"
    ir.write_run(RUN, path, tag="a")
    run = ir.read_run(path)
    with path.open("rb") as file:
        assert ir.read_run(file).equals(run)
    with gzip.open(path, "rt", encoding="utf-8") as text:
        assert ir.read_run(text, format="trec").equals(run)
    with pytest.raises(ir.IRError, match="file, line 2: "):
        ir.read_run(io.BytesIO(b"q Q0 d 1 2 a\nwrong\n"))
    with pytest.raises(ir.IRError, match=r"An open file is read now: ir\.read_run\(file\)"):
        ir.scan_run(io.BytesIO(b""))
    with pytest.raises(ir.IRError, match=r"Polars writes a table into an open file: frame\.write_parquet\(file\)"):
        ir.write_run(RUN, io.BytesIO())
