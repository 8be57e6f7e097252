"""Effects of a shell on a program: streams that are closed, full, of another encoding; Ctrl-C; terminals."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main

QRELS = "q1 0 d2 1\nq2 0 d1 2\nq3 0 d1 1\n"
RUN = "q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 0.5 a\nq2 Q0 d1 1 0.7 a\n"
EVALUATE = ["evaluate", "qrels.txt", "first.run", "-m", "RR"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (tmp_path / "first.run").write_text(RUN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The process of a command line in a shell; `polars-ir` is this package."""
    # Output to a pipe waits in a buffer, and fails to be written at the end.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    program = f'polars-ir() {{ "{sys.executable}" -m polars_ir "$@"; }}; {command}'
    return subprocess.run(  # noqa: S603  # our own commands
        ["/bin/bash", "-c", program], capture_output=True, check=False, env=kept | environment, timeout=900
    )


def failing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The output of a command that fails."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err.removesuffix("\n")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("arguments", ["--help", "--version", "evaluate --help", "convert first.run -"])
@pytest.mark.whole("a process a case")
def test_a_closed_pipe_ends_quietly(arguments):
    # The reader is gone before anything is written.
    done = shell(f"{{ sleep 0.1; polars-ir {arguments}; echo $? > status; }} | true; cat status")
    assert (done.stdout, done.stderr) == (b"0\n", b"")


@pytest.mark.usefixtures("folder")
def test_a_full_disk_is_told():
    done = shell("polars-ir evaluate qrels.txt first.run -m RR > /dev/full")
    assert (done.returncode, done.stderr) == (2, b"polars-ir: No space left on device.\n")


@pytest.mark.usefixtures("folder")
@pytest.mark.whole("two processes")
def test_closed_streams_do_no_harm():
    assert shell("polars-ir evaluate qrels.txt first.run -m RR >&-").returncode == 0
    done = shell("polars-ir evaluate qrels.txt none.run -m RR 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


@pytest.mark.whole("a process")
def test_what_an_encoding_lacks_is_escaped(folder):
    (folder / "é.run").write_text(RUN, encoding="utf-8")
    done = shell("polars-ir evaluate qrels.txt é.run -m RR", PYTHONIOENCODING="ascii")
    assert (done.stdout, done.stderr) == (b"run\tRR\n\\xe9\t0.5\n", b"")


def test_ctrl_c_has_the_status_of_shells_and_no_traceback(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("polars_ir.cli.commands.evaluate.judgments_of", interrupted)
    assert main(EVALUATE) == 130
    assert capsys.readouterr() == ("", "")


def test_a_fault_of_the_program_is_told_in_one_line(monkeypatch, capsys):
    def broken(*_, **__):
        raise TypeError("first.\nsecond")

    monkeypatch.setattr("polars_ir.cli.commands.evaluate.judgments_of", broken)
    wanted = "polars-ir: TypeError: first. This is a bug in polars-ir; --debug shows where."
    assert failing(EVALUATE, capsys) == wanted
    assert main(["--debug", *EVALUATE]) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["evaluate", "-", "-", "-m", "RR"], ["gate", "-", "-", "-m", "RR"], ["ir_measures", "-", "-", "RR"]],
)
def test_standard_input_is_read_once(arguments, capsys):
    assert failing(arguments, capsys) == "polars-ir: standard input (-) can be read once; give files for the others."


@pytest.mark.usefixtures("folder")
def test_the_output_is_a_file_or_printed(capsys):
    assert "argument --json: not allowed with argument -o" in failing([*EVALUATE, "-o", "x.csv", "--json"], capsys)


def test_a_table_without_rows_is_empty(folder, capsys):
    (folder / "a.csv").write_text("query_id,RR\n", encoding="utf-8")
    (folder / "b.csv").write_text("", encoding="utf-8")
    for name in ("a.csv", "b.csv"):
        assert failing(["gate", name, name, "-m", "RR"], capsys).endswith(
            f"{name}: the file is empty: no line holds data."
        )


@pytest.mark.usefixtures("folder")
def test_swapped_files_are_told(capsys):
    words = failing(["evaluate", "first.run", "qrels.txt", "-m", "RR"], capsys)
    assert "first.run, line 1: 6 fields; this looks like a run; give it as a run; judgments come first" in words


def test_an_unknown_format_names_the_option(folder, capsys):
    (folder / "three").write_text("q1 d1 1\n", encoding="utf-8")
    assert "Give it: --format msmarco" in failing(["evaluate", "qrels.txt", "three", "-m", "RR"], capsys)
    assert "Give it: --qrels-format msmarco" in failing(["evaluate", "three", "first.run", "-m", "RR"], capsys)
    assert "--format msmarco" in failing(["convert", "--qrels", "three", "x.csv"], capsys)
    assert "argument --to: invalid choice: 'letor'" in failing(
        ["convert", "first.run", "x.csv", "--to", "letor"], capsys
    )
    assert failing(["convert", "first.run", "x.csv", "--to", "beir"], capsys).startswith(
        "polars-ir: --to must be one of"
    )


def test_comparing_runs_takes_their_format(folder, capsys):
    (folder / "a").write_text("q1 d2 1\nq2 d1 1\nq3 d1 1\n", encoding="utf-8")
    (folder / "b").write_text("q1 d2 1\nq2 d1 1\nq3 d1 1\n", encoding="utf-8")
    arguments = ["gate", "a", "b", "--qrels", "qrels.txt", "-m", "RR", "--format", "msmarco", "--json"]
    assert main(arguments) == 3  # three queries cannot tell
    assert json.loads(capsys.readouterr().out)["measures"][0]["mean"] == 1


@pytest.fixture
def numbered(folder) -> Path:
    """A run with numbers as ids, and its judgments in a text."""
    (folder / "numbered.txt").write_text("1 0 12 1\n2 0 11 2\n", encoding="utf-8")
    run = pl.DataFrame({"qid": [1, 1, 2], "docno": [11, 12, 11], "score": [0.9, 0.5, 0.7]})
    run.write_parquet(folder / "numbered.parquet")
    return folder


@pytest.mark.usefixtures("numbered")
@pytest.mark.parametrize("command", ["evaluate", "ir_measures"])
def test_numbers_are_the_ids_of_a_text(command, capsys):
    measure = ["-m", "RR"] if command == "evaluate" else ["RR"]
    assert main([command, "numbered.txt", "numbered.parquet", *measure]) == 0
    assert "0.75" in capsys.readouterr().out


@pytest.mark.usefixtures("numbered")
def test_validate_takes_numbers_as_the_ids_of_a_text(capsys):
    assert main(["validate", "numbered.txt", "numbered.parquet"]) == 1
    assert "ids of different types" not in capsys.readouterr().out


def test_runs_of_several_formats_go_together(folder, capsys):
    rows = {"qid": ["q1", "q2"], "docno": ["d2", "d1"], "score": [1.0, 1.0]}
    pl.DataFrame({"run": ["x", "y"], **rows}).write_parquet(folder / "two.parquet")
    assert main(["evaluate", "qrels.txt", "first.run", "two.parquet", "-m", "RR", "-q", "--json"]) == 0
    found = [tuple(row.values()) for row in json.loads(capsys.readouterr().out)]
    assert found == [("first", "q1", 0.5), ("first", "q2", 1), ("first", "q3", 0),
                     ("x", "q1", 1), ("x", "q2", 0), ("x", "q3", 0),
                     ("y", "q1", 0), ("y", "q2", 1), ("y", "q3", 0)]  # fmt: skip


def test_an_error_in_one_of_several_runs_names_its_file(folder, capsys):
    (folder / "twice.run").write_text("q1 Q0 d1 1 1 a\nq1 Q0 d1 2 0.5 a\n", encoding="utf-8")
    words = failing(["evaluate", "qrels.txt", "first.run", "twice.run", "-m", "RR"], capsys)
    wanted = (
        "twice.run has 2 rows that repeat the ids of another (query_id, doc_id). Keep the best score of each document"
    )
    assert wanted in words


def test_a_run_that_shares_no_query_is_named(folder, capsys):
    (folder / "other.run").write_text("x1 Q0 d1 1 1 a\n", encoding="utf-8")
    assert main(["evaluate", "qrels.txt", "first.run", "other.run", "-m", "RR"]) == 0
    assert capsys.readouterr().err.startswith("polars-ir: warning: other.run and qrels.txt share no query")


def test_validate_tells_of_each_system_of_a_file(folder, capsys):
    rows = {"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "score": [1.0, 1.0]}
    pl.DataFrame({"system": ["x", "y"], **rows}).write_parquet(folder / "two.parquet")
    assert main(["validate", "qrels.txt", "two.parquet", "--json"]) == 1
    found = [(row["run"], row["finding"], row["count"]) for row in json.loads(capsys.readouterr().out)]
    assert found == [("x", "judged queries missing from the run", 2), ("y", "judged queries missing from the run", 2)]


def test_convert_keeps_the_tag(folder):
    assert main(["convert", "first.run", "copy.run"]) == 0
    assert (folder / "copy.run").read_text(encoding="utf-8") == RUN
    assert main(["convert", "first.run", "my bm25.parquet"]) == 0
    assert main(["convert", "my bm25.parquet", "back.run"]) == 0
    assert (folder / "back.run").read_text(encoding="utf-8") == RUN.replace(" a\n", " my_bm25\n")
    assert main(["convert", "first.run", "first.run", "--tag", "b"]) == 0
    assert (folder / "first.run").read_text(encoding="utf-8") == RUN.replace(" a\n", " b\n")


def test_convert_names_the_files_of_several_systems(folder):
    rows = {"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "score": [1.0, 1.0]}
    pl.DataFrame({"run": ["x", "y"], **rows}).write_parquet(folder / "two.parquet")
    assert main(["convert", "two.parquet", "{run}.txt"]) == 0
    assert (folder / "y.txt").read_text(encoding="utf-8") == "q2 Q0 d1 1 1.0 y\n"


@pytest.mark.usefixtures("folder")
@pytest.mark.whole("a process")
def test_convert_prints_to_standard_output():
    done = shell("cat first.run | polars-ir convert - - --tag b >> out.txt; cat out.txt")
    assert (done.stdout.decode(), done.stderr) == (RUN.replace(" a\n", " b\n"), b"")


def test_a_table_fits_the_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["measures", "ndcg"]) == 0
    assert {len(line) for line in capsys.readouterr().out.splitlines()} == {80}


def test_numbers_are_never_broken(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    assert main(["demo"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 7


def test_ir_measures_takes_one_system(folder, capsys):
    ir.datasets.load("pydocs").runs.write_parquet(folder / "three.parquet")
    words = failing(["ir_measures", "qrels.txt", "three.parquet", "RR"], capsys)
    assert words == "polars-ir: three.parquet holds several systems, and ir_measures evaluates one; use evaluate."


@pytest.mark.usefixtures("folder")
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
@pytest.mark.parametrize(
    "command",
    [
        "polars-ir evaluate qrels.txt <(cat first.run) -m RR",
        "polars-ir evaluate <(cat qrels.txt) first.run -m RR",
        "cat first.run | polars-ir evaluate qrels.txt /dev/stdin -m RR",
        "mkfifo pipe.run; cat first.run > pipe.run & polars-ir evaluate qrels.txt pipe.run -m RR",
    ],
)
@pytest.mark.whole("a process a case", quick=1)
def test_pipes_are_read(command):
    done = shell(command)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.split()[-1] == b"0.5"


@pytest.mark.usefixtures("folder")
@pytest.mark.whole("a process")
def test_standard_input_that_has_nothing_is_told_by_its_name():
    done = shell("polars-ir evaluate qrels.txt - -m RR < /dev/null")
    assert (done.returncode, done.stderr) == (2, b"polars-ir: standard input: the file is empty: no line holds data.\n")
    done = shell("polars-ir evaluate qrels.txt - -m RR <&-")
    of_pipe = shell("polars-ir evaluate qrels.txt <(true) -m RR")
    assert of_pipe.stderr.endswith(b": the file is empty: no line holds data.\n")
    assert of_pipe.stderr.startswith(b"polars-ir: /dev/fd/")
    wanted = b"polars-ir: standard input is closed; pipe the file into it, or name the file.\n"
    assert (done.returncode, done.stderr) == (2, wanted)


def test_a_name_that_is_too_long_is_told(capsys):
    assert "File name too long" in failing(["evaluate", "x" * 5000, "y", "-m", "RR"], capsys)
