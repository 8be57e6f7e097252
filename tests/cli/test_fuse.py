"""`polars-ir fuse`: what `ir.fuse` and `ir.tune_fusion` give, from files."""

import json

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main

PYDOCS = ir.datasets.load("pydocs")


@pytest.fixture
def files(tmp_path) -> dict[str, str]:
    """A file for each system, and the judgments."""
    for (system,), run in PYDOCS.runs.group_by("run"):
        ir.write_run(run.drop("run"), tmp_path / f"{system}.parquet")
    ir.write_qrels(PYDOCS.qrels, tmp_path / "qrels.txt")
    names = ("bm25.parquet", "tfidf.parquet", "chargrams.parquet", "qrels.txt")
    return {name.partition(".")[0]: str(tmp_path / name) for name in names}


def _runs(files: dict[str, str]) -> list[str]:
    return [file for name, file in files.items() if name != "qrels"]


def test_runs_are_fused_to_a_file(files, tmp_path):
    out = tmp_path / "fused.parquet"
    options = ["--method", "sum", "--norm", "z", "-w", "2", "-w", "1", "-w", "1", "--top", "5", "-o", str(out)]
    assert main(["fuse", *_runs(files), *options]) == 0
    weights = {"bm25": 2, "tfidf": 1, "chargrams": 1}
    expected = ir.fuse(PYDOCS.runs, "sum", norm="z", weights=weights, top=5)
    assert pl.read_parquet(out).select("query_id", "doc_id", "score").equals(expected.drop("n_runs"))


def test_distances_are_turned_by_the_names_of_their_runs(files, tmp_path):
    nearest = PYDOCS.runs.with_columns(score=pl.when(run="bm25").then(-pl.col("score")).otherwise("score"))
    ir.write_run(nearest.filter(run="bm25").drop("run"), files["bm25"])
    out, options = tmp_path / "fused.parquet", ["--method", "sum", "--norm", "min-max", "--top", "5"]
    assert main(["fuse", *_runs(files), *options, "--lower-is-better", "bm25", "-o", str(out)]) == 0
    expected = ir.fuse(PYDOCS.runs, "sum", norm="min-max", top=5)
    assert pl.read_parquet(out).select("query_id", "doc_id", "score").equals(expected.drop("n_runs"))


def test_a_fused_run_goes_to_standard_output_as_trec_text(files, capsys):
    assert main(["fuse", *_runs(files), "--top", "1", "--dialect", "qdrant"]) == 0
    lines = capsys.readouterr().out.splitlines()
    expected = ir.fuse(PYDOCS.runs, top=1, dialect="qdrant")
    assert [line.split()[:3:2] for line in lines] == [list(row) for row in expected.select("query_id", "doc_id").rows()]
    assert lines[0].split()[-1] == "fused"


@pytest.mark.whole("two seconds")
def test_tuning_tells_what_it_is_worth(files, capsys):
    options = ["--method", "sum", "--norm", "min-max", "--tune", "--qrels", files["qrels"], "-m", "nDCG@10", "--json"]
    assert main(["fuse", *_runs(files), *options]) == 0
    out, err = capsys.readouterr()
    (summary,) = json.loads(out)
    expected = ir.tune_fusion(PYDOCS.runs, PYDOCS.qrels, "sum", "nDCG@10", norm="min-max")
    assert summary["out_of_fold"] == pytest.approx(expected.summary["out_of_fold"][0])
    assert "not significant" in err


def test_a_trained_method_learns_out_of_fold(files, tmp_path):
    out = tmp_path / "fused.parquet"
    options = ["--method", "slidefuse", "--qrels", files["qrels"], "--folds", "3", "--top", "20", "-o", str(out)]
    assert main(["fuse", *_runs(files), *options]) == 0
    expected = ir.fusion.fuse_out_of_fold(PYDOCS.runs, PYDOCS.qrels, "slidefuse", folds=3, top=20)
    assert pl.read_parquet(out).select("query_id", "doc_id", "score").equals(expected.drop("n_runs"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-w", "1"], "--weight must be repeated for each run; got 1 for 3 runs"),
        (["--tune"], "--tune needs judgments"),
        (["--method", "posfuse"], "--method posfuse learns from judgments; give them (--qrels FILE)"),
        (["--method", "posfuse", "--qrels", "none", "--tune"], "--tune is not for --method posfuse"),
        (["--method", "posfuse", "--qrels", "none", "-w", "1"], "--weight is not for --method posfuse"),
        (["--method", "max", "-w", "1", "-w", "1", "-w", "1"], "are ignored by the method 'max'"),
    ],
)
def test_what_can_not_be_fused_is_told(files, options, message, capsys):
    assert main(["fuse", *_runs(files), *options]) == 2
    assert message in capsys.readouterr().err
