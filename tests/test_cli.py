"""`polars-ir`: the functions from the command line."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import DEMO_MEASURES, WRITERS, main

QRELS = "q1 0 d2 1\nq2 0 d1 2\nq3 0 d1 1\n"
RUN = "q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 0.5 a\nq2 Q0 d1 1 0.7 a\n"
OTHER_RUN = "q1 Q0 d2 1 0.9 b\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "first.run").write_text(RUN)
    (tmp_path / "second.run").write_text(OTHER_RUN)
    return tmp_path


@pytest.fixture
def evaluating(folder) -> list[str]:
    """The arguments that evaluate one run."""
    return ["evaluate", str(folder / "qrels.txt"), str(folder / "first.run"), "-m", "RR", "-m", "recall_2"]


def test_the_demo_prints_a_table_of_three_systems(capsys):
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [word for word in ["run", "bm25", "chargrams", "tfidf", *DEMO_MEASURES] if word not in out] == []


def test_evaluate_prints_means_as_tab_separated_values(evaluating, capsys):
    assert main(evaluating) == 0
    # RR 1/2, 1 and 0, and R@2 1, 1 and 0; the last query was not answered.
    assert capsys.readouterr().out == "run\tRR\tR@2\nfirst\t0.5\t0.6666666666666666\n"


def test_missing_queries_can_be_skipped(evaluating, capsys):
    assert main([*evaluating, "--missing", "skip"]) == 0
    assert capsys.readouterr().out == "run\tRR\tR@2\nfirst\t0.75\t1.0\n"


@pytest.mark.parametrize("option", ["-q", "--per-query"])
def test_figures_of_every_query_can_be_printed(evaluating, option, capsys):
    assert main([*evaluating, option]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "run\tquery_id\tRR\tR@2",
        "first\tq1\t0.5\t1.0",
        "first\tq2\t1.0\t1.0",
        "first\tq3\t0.0\t0.0",
    ]


def test_several_runs_are_told_apart_by_their_files(folder, capsys):
    arguments = ["evaluate", folder / "qrels.txt", folder / "first.run", folder / "second.run", "-m", "NumRet"]
    assert main([str(argument) for argument in arguments]) == 0
    assert capsys.readouterr().out == f"run\tNumRet\nfirst\t1.0\nsecond\t{1 / 3}\n"


READERS = {
    ".parquet": pl.read_parquet,
    ".arrow": pl.read_ipc,
    ".csv": pl.read_csv,
    ".tsv": lambda path: pl.read_csv(path, separator="\t"),
    ".ndjson": pl.read_ndjson,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_the_result_can_be_written_in_every_format(evaluating, folder, ending, capsys):
    output = folder / f"result{ending}"
    assert main([*evaluating, "-o", str(output)]) == 0
    assert capsys.readouterr() == ("", "")
    assert READERS[ending](output).rows() == [("first", 0.5, 2 / 3)]


def failing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a command which fails prints."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("polars-ir: ")
    assert err.endswith("\n")
    return err.removesuffix("\n")


def test_an_unknown_ending_of_the_output_is_an_error(evaluating, folder, capsys):
    line = failing([*evaluating, "-o", str(folder / "result.xlsx")], capsys)
    assert line.endswith("unknown ending; the result can be written as .parquet, .arrow, .csv, .tsv, .ndjson.")


def test_an_unknown_measure_is_an_error_of_one_line(evaluating, capsys):
    line = failing([*evaluating, "-m", "ndgc@10"], capsys)
    assert "\n" not in line
    assert "no measure is called 'ndgc@10'. Did you mean 'nDCG'" in line


def test_a_missing_file_is_an_error_of_one_line(evaluating, folder, capsys):
    evaluating[2] = str(folder / "frist.run")
    line = failing(evaluating, capsys)
    assert "\n" not in line
    assert "frist.run: there is no such file" in line


def test_a_bad_file_is_an_error_that_names_the_line(evaluating, folder, capsys):
    (folder / "first.run").write_text("q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 high a\n")
    message, text = failing(evaluating, capsys).split("\n")
    assert "first.run, line 2: the score (field 5) must be a number; got 'high'." in message
    assert text.strip() == "'q1 Q0 d2 2 high a'"


def test_a_run_given_twice_is_an_error(evaluating, folder, capsys):
    line = failing([*evaluating[:3], str(folder / "first.run"), *evaluating[3:]], capsys)
    assert "each run can be given once" in line


@pytest.mark.parametrize("arguments", [[], ["evaluate"], ["evaluate", "qrels", "run"], ["evalute"]])
def test_wrong_use_has_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2
    assert capsys.readouterr().err.startswith("usage: polars-ir")


def test_the_version_is_printed():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "polars_ir", "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == (f"polars-ir {ir.__version__}\n", "")
