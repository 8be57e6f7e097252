"""`polars-ir ir_measures` against ir_measures."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main


@pytest.fixture
def pydocs(tmp_path, monkeypatch) -> Path:
    collection = ir.datasets.load("pydocs")
    ir.write_run(collection.runs.filter(run="bm25").drop("run"), tmp_path / "bm25.run")
    ir.write_qrels(collection.qrels, tmp_path / "qrels.txt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def there(*arguments: str) -> list[str]:
    """The output of ir_measures."""
    pytest.importorskip("ir_measures")
    command = [sys.executable, "-W", "ignore", "-m", "ir_measures", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout.splitlines()  # noqa: S603


def figures(lines: list[str]) -> dict[str, float]:
    """The figures by what stands before them."""
    return {name: float(value) for name, value in (line.rsplit("\t", 1) for line in lines)}


@pytest.mark.usefixtures("pydocs")
@pytest.mark.parametrize("options", [["-p", "-1"], ["-q", "-p", "9"]])
@pytest.mark.parametrize(
    "measures",
    [
        [
            "Bpref BPref MAP MRR NDCG@10 Precision@5 RPrec",
            "NumRet NumRel NumQ NumRet(rel=1) P(rel=2)@5",
            "SetF SetF(beta=0.5) SetF(rel=2,beta=1.5) SetP SetP(relative=True)",
            "IPrec@0.0 IPrec@0.3 IPrec@1.0",
        ],
        # Beside these, ir_measures sometimes counts judged documents only for NumRet.
        ["AP AP(judged_only=True) P(rel=2,judged_only=True)@10 nDCG(judged_only=True)@10"],
    ],
)
@pytest.mark.whole("a quarter of a second a case", quick=1)
def test_names_counts_and_figures_are_those_of_ir_measures(measures, options, capsys):
    arguments = ["qrels.txt", "bm25.run", *measures, *options]
    assert main(["ir_measures", *arguments]) == 0
    ours, theirs = figures(capsys.readouterr().out.splitlines()), figures(there(*arguments))
    assert ours.keys() == theirs.keys()
    assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-9)


def test_measures_of_subtopics_read_the_second_field(pydocs, capsys):
    (pydocs / "subtopics.txt").write_text("q1 1 d1 1\nq1 2 d1 1\nq1 2 d2 1\nq2 1 d3 1\nq2 2 d4 0\n", encoding="utf-8")
    (pydocs / "some.run").write_text(
        "q1 Q0 d2 1 3 a\nq1 Q0 d1 2 2 a\nq2 Q0 d4 1 2 a\nq2 Q0 d3 2 1 a\n", encoding="utf-8"
    )
    arguments = ["subtopics.txt", "some.run", "alpha_nDCG@10", "StRecall@10", "ERR_IA@10", "-p", "5"]
    assert main(["ir_measures", *arguments]) == 0
    pytest.importorskip("pyndeval")
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(there(*arguments))


@pytest.mark.parametrize("name", ["subtopics.pq", "subtopics.csv.gz"])
def test_measures_of_subtopics_read_the_column_of_a_table(pydocs, capsys, name):
    qrels = pl.DataFrame({"query_id": ["q1"] * 2, "subtopic": ["1", "2"], "doc_id": ["d1", "d2"], "relevance": [1, 1]})
    ir.write_qrels(qrels, pydocs / name, format="csv" if name.endswith(".gz") else "parquet")
    (pydocs / "some.run").write_text("q1 Q0 d2 1 3 a\nq1 Q0 d1 2 2 a\n", encoding="utf-8")
    assert main(["ir_measures", name, "some.run", "StRecall@1"]) == 0
    assert capsys.readouterr().out == "StRecall@1\t0.5000\n"


def test_measures_of_subtopics_need_the_column_of_a_table(pydocs, capsys):
    (pydocs / "plain.csv").write_text("query_id,doc_id,relevance\nq1,d1,1\n", encoding="utf-8")
    assert main(["ir_measures", "plain.csv", "bm25.run", "StRecall@2"]) == 2
    assert "qrels has no 'subtopic' column" in capsys.readouterr().err


@pytest.mark.usefixtures("pydocs")
def test_places_are_of_text(capsys):
    arguments = ["ir_measures", "qrels.txt", "bm25.run", "RR"]
    assert main([*arguments, "-o", "jsonl", "-p", "2"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["value"] > 0.5
    assert err == "--places is ignored when using --output jsonl\n"
    assert main([*arguments, "-p", "-2"]) == 2
    assert "--places must be -1 or more; got -2." in capsys.readouterr().err


@pytest.mark.usefixtures("pydocs")
def test_a_warning_is_a_line(capsys):
    Path("other.qrels").write_text("nobody 0 d1 1\n", encoding="utf-8")
    assert main(["ir_measures", "other.qrels", "bm25.run", "RR"]) == 0
    assert capsys.readouterr().err.startswith("polars-ir: warning: the run and the qrels share no query; ids of")


@pytest.mark.usefixtures("pydocs")
def test_a_call_without_measures_is_an_error(capsys):
    assert main(["ir_measures", "qrels.txt", "bm25.run", " "]) == 2
    assert "measures must name at least one measure" in capsys.readouterr().err


#: Documents tied, in single precision too; queries without a relevant document, unjudged, and not in the run.
SMALL_QRELS = "2 0 d1 1\n2 0 d3 0\n2 0 d4 1\n10 0 d2 2\n10 0 d1 0\n1 0 d9 1\n5 0 d1 0\n"
SMALL_RUN = (
    "2 Q0 d3 1 1 t\n2 Q0 d1 2 1 t\n2 Q0 d4 3 .5 t\n2 Q0 d7 4 .50000000001 t\n10 Q0 d7 1 3 t\n10 Q0 d2 2 2 t\n"
    "5 Q0 d1 1 1 t\n5 Q0 d2 2 0.5 t\n77 Q0 d1 1 1 t\n"
)


@pytest.fixture
def small(tmp_path, monkeypatch) -> None:
    (tmp_path / "qrels").write_text(SMALL_QRELS, encoding="utf-8")
    (tmp_path / "run").write_text(SMALL_RUN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("options", [["-q"], ["-q", "-n"], ["-p", "9"]], ids=" ".join)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "measures",
    [
        "nDCG@10 AP RR P@5 P@1 R@2 Bpref Rprec NumRet NumQ NumRel SetP SetR SetF SetAP Success@1 IPrec@0.5 infAP",
        "AP Accuracy",
        "Judged@2 AP",
        "SetF(beta=2.0)",
        "SetP(relative=True)",
        "NumRet(rel=1)",
        "SetRelP MAP MRR NumRelRet RPrec Precision@5 Recall@5 BPref NDCG@3",
        "P(rel=2)@5 AP(rel=2,judged_only=False)",
        "P(judged_only=True,rel=2)@5",
        "nDCG(gains={0:0,1:2,2:2})@3",
        "IPrec(recall=0.5) P(cutoff=3)",
        "INST(T=2.0,max_rel=1)",
        "RBP(p=0.8,rel=1)",
    ],
)
@pytest.mark.whole("many cases", quick=12)
def test_the_lines_are_those_of_ir_measures(measures, options, capsys, monkeypatch):
    arguments = ["qrels", "run", measures, *options]
    assert main(["ir_measures", *arguments]) == 0
    found = capsys.readouterr().out.splitlines()
    pytest.importorskip("ir_measures")
    monkeypatch.setattr(sys, "argv", ["ir_measures", *arguments])
    importlib.import_module("ir_measures.__main__").main_cli()
    assert sorted(found) == sorted(capsys.readouterr().out.splitlines())


@pytest.mark.usefixtures("small")
def test_figures_come_in_the_order_of_measures_for_each_query_of_the_run(capsys):
    assert main(["ir_measures", "qrels", "run", "RR@1 P@1", "AP", "-q"]) == 0
    found = [tuple(line.split("\t")[:2]) for line in capsys.readouterr().out.splitlines()]
    assert found == [(query, name) for query in ("2", "10", "5", "1", "all") for name in ("RR@1", "P@1", "AP")]


@pytest.mark.usefixtures("small")
def test_an_object_of_json_is_that_of_ir_measures(capsys):
    arguments = ["qrels", "run", "AP", "RR", "NumRet", "-q", "-o", "jsonl"]
    assert main(["ir_measures", *arguments]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(there(*arguments))


@pytest.mark.usefixtures("small")
def test_every_measure_sees_tied_documents_in_the_order_of_trec_eval(capsys):
    # Query 2 has d3, not relevant, before d1: RR and RR@2 agree, where ir_measures prints 0.5 and 1.
    assert main(["ir_measures", "qrels", "run", "RR RR@2 P@1", "-q", "-n"]) == 0
    found = [line for line in capsys.readouterr().out.splitlines() if line.startswith("2\t")]
    assert found == ["2\tRR\t0.5000", "2\tRR@2\t0.5000", "2\tP@1\t0.0000"]


@pytest.mark.usefixtures("small")
def test_an_argument_may_stand_for_several_measures(capsys):
    assert main(["ir_measures", "qrels", "run", "P@1,5", "official"]) == 0
    names = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]
    assert names[:7] == ["P@1", "P@5", "NumQ", "NumRet", "NumRel", "NumRet(rel=1)", "AP"]
