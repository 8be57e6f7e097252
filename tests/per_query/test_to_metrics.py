"""Means as trackers of experiments take them."""

import json

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.language.sql import PLAIN

PYDOCS = ir.datasets.load("pydocs")
PER_QUERY = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["nDCG@10", "RBP", ir.ndcg(k=3).alias("my nDCG")])
MEANS = PER_QUERY.ir.mean()


def test_a_number_stands_under_its_system_and_measure():
    metrics = PER_QUERY.ir.to_metrics()
    assert list(metrics)[:3] == ["bm25/ndcg_10", "bm25/rbp_p_0_8", "bm25/my_nDCG"]
    assert list(metrics.values()) == [value for row in MEANS.drop("run").rows() for value in row]
    assert all(type(value) is float for value in metrics.values())
    assert all(PLAIN.fullmatch(part) for name in metrics for part in name.split("/"))


def test_names_can_stay_as_they_are():
    assert list(PER_QUERY.ir.to_metrics(names="canonical", sep=" "))[:2] == ["bm25 nDCG@10", "bm25 RBP"]
    of_one = PER_QUERY.filter(run="bm25").drop("run").ir.to_metrics(names="canonical")
    assert of_one["nDCG@10"] == MEANS["nDCG@10"][0]


def test_slices_stand_first_also_those_of_numbers():
    years = PER_QUERY.with_columns(year=2020.5 + pl.int_range(pl.len()) % 2)
    metrics = years.ir.to_metrics(by="year", sep=":")
    assert next(iter(metrics)) == "2020_5:bm25:ndcg_10"
    assert len(metrics) == 2 * 3 * 3


def test_a_mean_of_no_values_is_left_out():
    undefined = PER_QUERY.with_columns(RBP=pl.lit(None, pl.Float64))
    assert "bm25/rbp_p_0_8" not in undefined.ir.to_metrics()


def test_two_names_that_become_one_are_an_error():
    of_one = PER_QUERY.filter(run="bm25")
    two = pl.concat([of_one.with_columns(run=pl.lit(run)) for run in ("bm25+rm3", "bm25-rm3")])
    with pytest.raises(ir.IRError, match=r"two numbers would be called 'bm25_rm3/ndcg_10'.*names='canonical'"):
        two.ir.to_metrics()
    assert len(two.ir.to_metrics(names="canonical")) == 6


def test_a_message_says_what_is_wrong():
    with pytest.raises(ir.IRError, match=r"ir\.to_metrics reads the values of all queries; got a LazyFrame"):
        PER_QUERY.lazy().ir.to_metrics()
    with pytest.raises(ir.IRError, match="sep must be a text; got 3"):
        PER_QUERY.ir.to_metrics(sep=3)
    with pytest.raises(ir.IRError, match="names must be one of 'canonical', 'sql'"):
        PER_QUERY.ir.to_metrics(names="snake")


@pytest.fixture
def command(tmp_path):
    """A command that evaluates one run."""
    ir.write_run(PYDOCS.runs.filter(run="bm25").drop("run"), tmp_path / "bm25.run")
    ir.write_qrels(PYDOCS.qrels, tmp_path / "qrels.txt")
    return ["evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "bm25.run"), "-m", "nDCG@10"]


def test_the_shell_prints_and_writes_them(command, tmp_path, capsys):
    wanted = {"bm25/nDCG@10": MEANS["nDCG@10"][0]}
    assert not main([*command, "--json=flat"])
    assert json.loads(capsys.readouterr().out) == wanted
    assert not main([*command, "--json=flat", "--names", "sql", "-o", str(tmp_path / "flat.json")])
    assert json.loads((tmp_path / "flat.json").read_text(encoding="utf-8")) == {"bm25/ndcg_10": MEANS["nDCG@10"][0]}
    assert main([*command, "--json=flat", "--per-query"]) == 2
    assert "--json=flat prints means" in capsys.readouterr().err


def test_a_file_of_json_has_what_the_shell_prints_as_json(command, tmp_path, capsys):
    assert not main([command[0], "--json", *command[1:]])
    printed = capsys.readouterr().out
    assert not main([*command, "-o", str(tmp_path / "means.json")])
    assert (tmp_path / "means.json").read_text(encoding="utf-8") == printed
    assert not main([*command, "--per-query", "-o", str(tmp_path / "q.tsv")])
    gate = ["gate", str(tmp_path / "q.tsv"), str(tmp_path / "q.tsv"), "-m", "nDCG@10", "--max-drop", "0.1"]
    assert not main([*gate, "-o", str(tmp_path / "gate.json")])
    assert json.loads((tmp_path / "gate.json").read_text(encoding="utf-8"))["ships"]
