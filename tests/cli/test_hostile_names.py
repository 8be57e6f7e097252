"""Ids and names that would act on a terminal, or be computed by a spreadsheet."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.cli.output import RENDERERS

Run = Callable[[list[str]], int]

#: Clears the screen, sets the title, turns text around, and returns to the start of the line.
ACTS = "q\x1b[2J\x1b]0;title\x07\x9b1m\u202e\u2066"
ESCAPED = "q\\u001b[2J\\u001b]0;title\\u0007\\u009b1m\\u202e\\u2066"
CONTROLS = {chr(code) for code in (*range(32), 127, *range(128, 160), 0x202E, 0x2066)} - {"\n", "\t"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judgments and two runs of a query whose id acts on a terminal."""
    (tmp_path / "qrels.txt").write_text(f"{ACTS} 0 d1 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text(f"{ACTS} Q0 d1 1 0.5 a\n", encoding="utf-8")
    (tmp_path / "b.run").write_text(f"{ACTS} Q0 d2 1 0.5 b\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def in_terminal(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command whose output goes to a terminal."""

    def run(arguments: list[str]) -> int:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        return main(arguments)

    return run


PER_QUERY = ["evaluate", "-q", "-m", "RR", "qrels.txt", "a.run"]
COMMANDS = {
    "table": PER_QUERY,
    "tsv": [*PER_QUERY, "--tsv"],
    "markdown": [*PER_QUERY, "--markdown"],
    "validate": ["validate", "qrels.txt", "a.run", "b.run"],
    "fuse": ["fuse", "a.run", "b.run"],
    "convert": ["convert", "a.run", "-"],
    "ir_measures": ["ir_measures", "-q", "qrels.txt", "a.run", "RR"],
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_that_is_shown_acts_on_a_terminal(
    name: str, in_terminal: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_terminal(COMMANDS[name]) in (0, 1)
    shown = capsys.readouterr()
    assert not CONTROLS & set(shown.out + shown.err)
    assert name == "validate" or ESCAPED in shown.out


@pytest.mark.usefixtures("folder")
def test_json_in_a_terminal_is_still_json(in_terminal: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_terminal([*PER_QUERY, "--json"]) == 0
    shown = capsys.readouterr().out
    assert not CONTROLS & set(shown)
    assert json.loads(shown)[0]["query_id"] == ACTS


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["tsv", "fuse", "convert", "ir_measures"])
def test_a_pipe_gets_the_bytes_as_they_are(name: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(COMMANDS[name]) == 0
    assert ACTS.encode() in capsysbinary.readouterr().out


@pytest.mark.usefixtures("folder")
def test_trec_eval_prints_the_bytes_as_they_are(in_terminal: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_terminal(["trec_eval", "-q", "-m", "recip_rank", "qrels.txt", "a.run"]) == 0
    assert ACTS in capsys.readouterr().out


@pytest.mark.parametrize("program", [["evaluate", "-m", "RR"], ["trec_eval"]])
def test_no_error_acts_on_a_terminal(folder: Path, program: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wrong.run").write_text(f"{ACTS} Q0 d1 1 {ACTS} a\n", encoding="utf-8")
    for name in (f"{ACTS}.run", "wrong.run"):
        assert main([*program, "qrels.txt", name]) != 0
        told = capsys.readouterr().err
        assert "[2J" in told
        assert not CONTROLS & set(told)


def test_no_message_of_a_program_acts_on_a_terminal() -> None:
    twice = pl.DataFrame({"query_id": [ACTS] * 2, "doc_id": ["d"] * 2, "score": [1.0, 2.0]})
    with pytest.raises(ir.IRError) as error:
        ir.evaluate(twice, {ACTS: {"d": 1}}, ["AP"])
    assert ESCAPED in str(error.value)
    assert not CONTROLS & set(str(error.value))
    assert message_of(lambda: ir.read_run(f"{ACTS}\r.run")).startswith(f"{ESCAPED}\\u000d.run: ")


def test_no_warning_acts_on_a_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "other.run").write_text("q9 Q0 d1 1 0.5 a\n", encoding="utf-8")
    assert main(["evaluate", "-m", "RR", "qrels.txt", "other.run"]) == 0
    told = capsys.readouterr().err
    assert "[2J" in told
    assert not CONTROLS & set(told)


FORMULAS = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)"]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_a_spreadsheet_computes_nothing_where_that_is_asked_for(tmp_path: Path, name: str) -> None:
    queries = pl.DataFrame({"query_id": [*FORMULAS, "q-1", "=\tx"], "doc_id": "d"})
    queries.with_columns(score=-0.5).write_csv(tmp_path / "a.csv")
    queries.with_columns(relevance=1).write_csv(tmp_path / "qrels.csv")
    arguments = ["evaluate", "-q", "-m", "RR", str(tmp_path / "qrels.csv"), str(tmp_path / "a.csv")]
    read = {"out.csv": pl.read_csv, "out.tsv": lambda path: pl.read_csv(path, separator="\t")}.get(
        name, pl.read_parquet
    )
    assert main([*arguments, "-o", str(tmp_path / name)]) == 0
    assert set(read(tmp_path / name)["query_id"]) == {*FORMULAS, "q-1", "=\tx"}
    assert main([*arguments, "-o", str(tmp_path / name), "--no-formulas"]) == 0
    assert set(read(tmp_path / name)["query_id"]) == {*(f"'{text}" for text in FORMULAS), "q-1", "'=\tx"}


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["=1+1", "q"])], ids=["Categorical", "Enum"])
def test_words_of_a_category_are_no_formulas_either(tmp_path: Path, dtype: Any) -> None:
    run = pl.DataFrame({"query_id": pl.Series(["=1+1", "q"], dtype=dtype), "doc_id": "d", "score": 1.0})
    run.write_parquet(tmp_path / "a.parquet")
    run.rename({"score": "relevance"}).write_parquet(tmp_path / "q.parquet")
    files = [str(tmp_path / name) for name in ("q.parquet", "a.parquet", "out.csv")]
    assert main(["evaluate", "-q", "-m", "RR", *files[:2], "-o", files[2], "--no-formulas"]) == 0
    assert set(pl.read_csv(files[2])["query_id"]) == {"'=1+1", "q"}


@given(st.text("ab|\n\r\x0b\x85\u2028", min_size=1, max_size=5), st.text("ab|\n\r\x0b\x85\u2028", max_size=5))
def test_a_table_of_markdown_has_a_line_for_each_row(name: str, text: str) -> None:
    frame = pl.DataFrame({"query_id": pl.Series(["q", text], dtype=pl.Categorical), f"x{name}": [text, "q"]})
    lines = RENDERERS["markdown"](frame).splitlines()
    assert len(lines) == 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {3}


def test_the_names_of_columns_are_no_formulas_either(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 -0.5 a\n", encoding="utf-8")
    (tmp_path / "queries.csv").write_text("query_id,=1+1\nq1,-x\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("qrels.txt", "a.run")]
    output = tmp_path / "out.csv"
    by = ["--by", "=1+1", "--queries", str(tmp_path / "queries.csv")]
    assert main(["evaluate", "-m", "RR", *files, *by, "-o", str(output), "--no-formulas"]) == 0
    with output.open(newline="", encoding="utf-8") as file:
        header, row = csv.reader(file)
    assert dict(zip(header, row, strict=True))["'=1+1"] == "'-x"
