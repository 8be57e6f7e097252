"""`polars-ir table` and `polars-ir plot`: what is made for papers and slides."""

import json

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main

pytest.importorskip("altair")

RUNS = {
    "first": {"q1": ["d1", "d2"], "q2": ["d1"], "q3": ["d3", "d1"]},
    "second": {"q1": ["d2"], "q2": ["d2"], "q3": ["d1"]},
}
QRELS = {"q1": {"d2": 1}, "q2": {"d1": 2}, "q3": {"d1": 1}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, run in RUNS.items():
        ir.write_run(run, tmp_path / f"{name}.run", tag=name)
    ir.write_qrels(QRELS, tmp_path / "qrels.txt")
    ir.evaluate(RUNS, QRELS, ["RR", "P@1"]).write_csv(tmp_path / "figures.csv")
    nights = [ir.evaluate(RUNS, QRELS, "RR").with_columns(date=pl.lit(f"2026-11-{day}")) for day in range(18, 24)]
    pl.concat(nights).write_csv(tmp_path / "nights.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("format", ["markdown", "latex", "html"])
def test_a_table_is_that_of_the_function(format, capsys):
    assert main(["table", "figures.csv", f"--{format}", "--baseline", "first"]) == 0
    wanted = ir.table(ir.evaluate(RUNS, QRELS, ["RR", "P@1"]), format=format, baseline="first")
    assert capsys.readouterr().out.rstrip("\n") == str(wanted).rstrip("\n")


def test_a_table_is_written_in_the_format_of_its_ending(folder, capsys):
    assert main(["table", "figures.csv", "-o", "table.tex", "-m", "RR"]) == 0
    assert r"\begin{tabular}" in (folder / "table.tex").read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""
    assert main(["table", "figures.csv", "-o", "no/table.tex"]) == 2
    assert capsys.readouterr().err == "polars-ir: no/table.tex: cannot be written: No such file or directory.\n"


CHARTS = {
    "distribution": ["figures.csv", "-m", "RR"],
    "forest": ["figures.csv", "--baseline", "first"],
    "differences": ["figures.csv", "--baseline", "first", "-m", "RR"],
    "scatter": ["figures.csv", "--x", "first", "--y", "second", "-m", "RR"],
    "series": ["nights.csv", "--by", "date", "-m", "RR"],
    "cutoffs": ["first.run", "second.run", "--qrels", "qrels.txt"],
}


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.whole("a second a chart", quick=1)
def test_a_chart_is_written(chart, folder):
    assert main(["plot", chart, *CHARTS[chart], "-o", "chart.json"]) == 0
    assert json.loads((folder / "chart.json").read_text(encoding="utf-8"))["$schema"].startswith(
        "https://vega.github.io/schema/"
    )


@pytest.mark.parametrize(("ending", "first"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF"), ("html", b"<")])
@pytest.mark.whole("a picture a case", quick=1)
def test_a_chart_is_a_picture_of_its_ending(ending, first, folder):
    assert main(["plot", "distribution", "figures.csv", "-m", "RR", "-o", f"chart.{ending}"]) == 0
    assert (folder / f"chart.{ending}").read_bytes().lstrip().startswith(first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scatter", "figures.csv", "-m", "RR"], "plot scatter needs --x, --y."),
        (
            ["differences", "figures.csv", "--baseline", "first", "-m", "RR", "-m", "P@1"],
            "plot differences shows one measure; got RR, P@1.",
        ),
        (["cutoffs", "first.run"], "plot cutoffs needs runs and their judgments (--qrels FILE)."),
    ],
)
def test_a_chart_says_what_it_needs(arguments, message, folder, capsys):
    assert main(["plot", *arguments, "-o", "chart.svg"]) == 2
    assert capsys.readouterr().err == f"polars-ir: {message}\n"
    assert not (folder / "chart.svg").exists()


def test_a_chart_that_can_not_be_written_leaves_the_old_one(folder, capsys):
    assert main(["plot", "ranks", "figures.csv", "-o", "no/chart.json"]) == 2
    assert capsys.readouterr().err == "polars-ir: no/chart.json: cannot be written: No such file or directory.\n"
    (folder / "chart.json").write_text("old", encoding="utf-8")
    assert main(["plot", "ranks", "figures.csv", "-m", "nope", "-o", "chart.json"]) == 2
    assert (folder / "chart.json").read_text(encoding="utf-8") == "old"
