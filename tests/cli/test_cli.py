"""`polars-ir`: the functions from the command line."""

import json
import os
import re
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.cli import inputs, main
from polars_ir.cli.commands.demo import MEASURES as DEMO_MEASURES
from polars_ir.files.writers import TABLES as WRITERS
from polars_ir.per_query.compare import compare
from polars_ir.per_query.gate import gate

QRELS = "q1 0 d2 1\nq2 0 d1 2\nq3 0 d1 1\n"
RUN = "q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 0.5 a\nq2 Q0 d1 1 0.7 a\n"
OTHER_RUN = "q1 Q0 d2 1 0.9 b\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (tmp_path / "first.run").write_text(RUN, encoding="utf-8")
    (tmp_path / "second.run").write_text(OTHER_RUN, encoding="utf-8")
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


@pytest.mark.parametrize(
    ("options", "figure"),
    [
        (["--exclude", "self"], "0.5"),
        (["--exclude", "ids.csv"], "1.0"),
        (["--exclude", "ids.qrels"], "1.0"),
        (["--exclude", "ids.txt"], "1.0"),
    ],
)
def test_documents_are_excluded_and_repeats_counted_once(options, figure, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "some.run": "q1 Q0 q1 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 b 3 1 t\nq1 Q0 a 4 0 t\n",
        "some.qrels": "q1 0 b 1\n",
        "ids.csv": "docno,qid\na,q1\nq1,q1\n",
        "ids.qrels": "q1 0 a 1\nq1 0 q1 1\n",
        "ids.txt": "q1 a\nq1 q1\n",
        "none.txt": "q1 a 1\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    call = ["evaluate", "some.run", "--qrels", "some.qrels", "-m", "RR", "--duplicates", "first"]
    assert main([*call, *options]) == 0
    assert capsys.readouterr().out == f"run\tRR\nsome\t{figure}\n"
    assert main([*call, "--exclude", "none.csv"]) == 2
    capsys.readouterr()
    assert main([*call, "--exclude", "none.txt"]) == 2
    says = (
        "none.txt: nothing tells its format. Give lines of query_id doc_id, TREC judgments, or a .csv of these columns."
    )
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compare", "gate", "table"])
def test_figures_of_runs_exclude_documents_as_evaluate_does(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, place in (("a", 1), ("b", 2)):
        rows = "".join(f"q{q} Q0 q{q} 1 3 t\nq{q} Q0 d{3 - place} 2 2 t\nq{q} Q0 d2 3 1 t\n" for q in range(3))
        Path(f"{name}.run").write_text(rows, encoding="utf-8")
    Path("some.qrels").write_text("".join(f"q{q} 0 d2 1\n" for q in range(3)), encoding="utf-8")
    call = [command, "a.run", "b.run", "-m", "RR"]
    selection = ["--exclude", "self", "--duplicates", "first"]
    assert main([*call, "--qrels", "some.qrels", *selection]) in (0, 1, 3)
    assert "1.0" in capsys.readouterr().out
    assert main([*call, *selection]) == 2
    assert "--exclude applies to runs, with --qrels" in capsys.readouterr().err


def test_advice_on_rankings_of_several_days_is_an_option_of_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("days.csv").write_text("date,query_id,doc_id,score\nd1,q,a,1\nd2,q,a,2\n", encoding="utf-8")
    Path("qrels.csv").write_text("query_id,doc_id,relevance\nq,a,1\n", encoding="utf-8")
    call = ["evaluate", "qrels.csv", "days.csv", "-m", "RR"]
    assert main(call) == 2
    advice = (
        "If 'date' distinguishes rankings, such as days, give --key date; if the systems, call it 'run'; else keep "
    )
    assert advice in (text := capsys.readouterr().err)
    assert "each document, which is MaxP where rows are passages: --duplicates first." in text
    assert main([*call, "--key", "date"]) == 0
    assert capsys.readouterr().out == "date\trun\tRR\nd1\tdays\t1.0\nd2\tdays\t1.0\n"
    assert main(["report", "qrels.csv", "days.csv", "-m", "RR"]) == 2
    text = capsys.readouterr().err
    assert "(if passages, --duplicates first keeps the best of each document)" in text
    assert "ir." not in text


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


@pytest.mark.parametrize("file", ["first.parquet", "part-*.parquet"])
@pytest.mark.filterwarnings("ignore:the run answers fewer")
def test_parquet_files_that_are_large_are_read_in_parts(folder, file, capsys, monkeypatch):
    run = ir.read_run(folder / "first.run")
    run.write_parquet(folder / "first.parquet")
    for part in (0, 1):
        run[part * 2 : part * 2 + 2].write_parquet(folder / f"part-{part}.parquet")
    command = ["evaluate", str(folder / "qrels.txt"), str(folder / file), "-m", "RR", "-m", "nDCG@10"]
    assert main([*command, "--per-query"]) == 0
    whole = capsys.readouterr()
    monkeypatch.setattr(inputs, "LARGE", 0)
    monkeypatch.setattr(inputs, "run_of", None)
    assert main([*command, "--per-query"]) == 0
    assert capsys.readouterr() == whole


def test_a_large_parquet_file_with_wrong_rows_is_an_error_of_one_line(folder, capsys, monkeypatch):
    monkeypatch.setattr(inputs, "LARGE", 0)
    ir.read_run(folder / "first.run").with_columns(score=None).cast({"score": pl.Float64}).write_parquet(
        folder / "first.parquet"
    )
    assert main(["evaluate", str(folder / "qrels.txt"), str(folder / "first.parquet"), "-m", "RR"]) == 2
    # All rows are wrong, so that any may be the example.
    wanted = (
        "the run has ids or scores that are null, or scores that are NaN; leave those rows out; for example query_id"
    )
    assert re.fullmatch(rf'polars-ir: {wanted}: "q[123]"\n', capsys.readouterr().err)


def test_an_unknown_ending_of_the_output_is_an_error(evaluating, folder, capsys):
    line = failing([*evaluating, "-o", str(folder / "result.xlsx")], capsys)
    assert (
        "result.xlsx: unknown ending; a result can be written as .parquet, .arrow, .csv, .tsv, .ndjson, .json." in line
    )


def test_an_unknown_measure_is_an_error_of_one_line(evaluating, capsys):
    line = failing([*evaluating, "-m", "ndgc@10"], capsys)
    assert "\n" not in line
    assert "no measure is called 'ndgc@10'. Did you mean 'nDCG@10'" in line


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "target"),
    [
        *((f"{command} nothing.txt nothing.run -m RR -o", "no/it.tsv") for command in ("evaluate", "compare", "gate")),
        ("gate nothing.txt nothing.txt -m RR --report", "no/it.html"),
        *((f"{command} -o", "no/it.json") for command in ("demo", "measures", "validate nothing.txt nothing.run")),
        ("fuse nothing.run nothing.run -o", "no/it.run"),
        ("plot ranks nothing.csv -o", "no/it.svg"),
        ("table nothing.csv -o", "no/it.tex"),
        ("report nothing.txt nothing.run -o", "no/it.html"),
        ("convert nothing.run", "no/{run}.run"),
    ],
)
def test_a_folder_that_does_not_exist_is_an_error_before_anything_is_read(command, target, capsys):
    assert main([*command.split(), target]) == 2
    assert capsys.readouterr().err == f"polars-ir: {target}: cannot be written: No such file or directory.\n"


def test_a_missing_file_is_an_error_of_one_line(evaluating, folder, capsys):
    evaluating[2] = str(folder / "frist.run")
    line = failing(evaluating, capsys)
    assert "\n" not in line
    assert "frist.run: there is no such file" in line


def test_a_bad_file_is_an_error_that_names_the_line(evaluating, folder, capsys):
    (folder / "first.run").write_text("q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 high a\n", encoding="utf-8")
    message, text = failing(evaluating, capsys).split("\n")
    assert "first.run, line 2: the score (field 5) must be a number; got 'high'." in message
    assert text.strip() == "'q1 Q0 d2 2 high a'"


def test_a_run_given_twice_is_an_error(evaluating, folder, capsys):
    line = failing([*evaluating[:3], str(folder / "first.run"), *evaluating[3:]], capsys)
    assert "each file can be given once" in line


OLD = pl.DataFrame({"run": "a", "query_id": ["01", "02", "03", "04"], "AP": [0.5, 0.5, 0.5, 0.5]})
NEW = OLD.with_columns(run=pl.lit("b"), AP=pl.Series([0.75, 1.0, 0.75, 1.0]))


@pytest.fixture
def gating(folder) -> list[str]:
    """The arguments that compare the figures of two systems."""
    for name, frame in (("new", NEW), ("old", OLD)):
        frame.write_csv(folder / f"{name}.csv")
    return ["gate", str(folder / "new.csv"), str(folder / "old.csv"), "-m", "map"]


def test_a_change_that_does_no_harm_passes_the_gate(gating, capsys):
    assert main([*gating, "--alpha", "0.4"]) == 0
    assert capsys.readouterr() == (
        (
            "AP: no worse: 0.8750 against 0.5000 on 4 queries, difference +0.3750, 20 % interval +0.0890 to +0.5130; "
            "a drop of 0.01 is allowed\nships: 1 of 1 measures passed\n"
        ),
        "",
    )


def test_a_change_for_the_worse_has_status_1(gating, capsys):
    gating[1:3] = reversed(gating[1:3])
    assert main([*gating, "--max-drop", "map=0.05", "--alpha", "0.4"]) == 1
    assert capsys.readouterr() == (
        (
            "AP: worse: 0.5000 against 0.8750 on 4 queries, difference -0.3750, 20 % interval -0.5130 to -0.0890; "
            "a drop of 0.05 is allowed\ndoes not ship: 0 of 1 measures passed\n"
        ),
        "",
    )


def test_a_gate_that_too_few_queries_pass_has_status_3(gating, capsys):
    assert main(gating) == 3
    assert "AP: inconclusive" in capsys.readouterr().out


def test_a_column_of_ones_own_has_its_range_in_the_shell(gating, folder, capsys):
    for name, value in (("new", 90.0), ("old", 100.0)):
        pl.DataFrame({"query_id": range(400), "ms": [value] * 400}).write_csv(folder / f"{name}.csv")
    arguments = [*gating[:4], "ms", "--max-drop", "20"]
    assert "is not a measure of the catalogue" in failing(arguments, capsys)
    assert main([*arguments, "--range", "ms=1000:0"]) == 0


def test_the_gate_speaks_json(gating, capsys):
    assert main([*gating, "--json", "--alpha", "0.1"]) == 3
    wanted = gate(NEW, OLD, "AP", alpha=0.1)
    assert json.loads(capsys.readouterr().out) == {"ships": False, "measures": wanted.to_dicts()}


def test_the_gate_takes_both_systems_from_one_file(folder, capsys):
    of_both = pl.concat([NEW.with_columns(run=pl.lit("new")), OLD.with_columns(run=pl.lit("old"))])
    of_both.write_csv(folder / "both.csv")
    file = str(folder / "both.csv")
    main(["gate", file, "--baseline", "old", "--alpha", "0.1", "--json"])
    assert json.loads(capsys.readouterr().out)["measures"] == gate(NEW, OLD, "AP", alpha=0.1).to_dicts()
    assert main(["gate", file]) == 2
    assert "old must be the figures before the change; without them --baseline" in capsys.readouterr().err


def test_the_gate_speaks_markdown(gating, capsys):
    assert main([*gating, "--markdown", "--alpha", "0.4"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "**ships: 1 of 1 measures passed**",
        "",
        "| measure | verdict | new | old | difference | low (20 %) | high (20 %) | p | may drop | queries | note |",
        "| :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | :-- |",
        "| AP | no worse | 0.8750 | 0.5000 | +0.3750 | 0.0890 | 0.5130 | 1 | 0.01 | 4 |  |",
    ]


@pytest.mark.parametrize("ending", WRITERS)
def test_the_gate_reads_what_evaluate_writes(folder, ending, capsys):
    output = str(folder / f"figures{ending}")
    run = ["evaluate", str(folder / "qrels.txt"), str(folder / "first.run"), "-m", "RR"]
    assert main([*run, "--per-query", "-o", output]) == 0
    assert main(["gate", output, output, "-m", "RR", "--max-drop", "0.9"]) == 0
    assert capsys.readouterr().out.endswith("ships: 1 of 1 measures passed\n")


def test_the_gate_evaluates_runs_if_judgments_are_given(folder, capsys):
    files = [str(folder / name) for name in ("second.run", "first.run")]
    assert main(["gate", *files, "--qrels", str(folder / "qrels.txt"), "-m", "RR", "--json"]) == 3
    row = json.loads(capsys.readouterr().out)["measures"][0]
    # RR of the second run is 1, 0 and 0, of the first one 1/2, 1 and 0.
    assert (row["mean"], row["old_mean"], row["n_queries"]) == (pytest.approx(1 / 3), 0.5, 3)


def test_figures_in_a_text_keep_their_ids(gating, folder, capsys):
    NEW.with_columns(query_id=pl.Series(["1", "02", "03", "04"])).write_csv(folder / "new.csv")
    assert main([*gating, "--missing", "skip", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["measures"][0]["n_missing"] == 2


def test_figures_between_semicolons_are_told_to_be_so(gating, folder, capsys):
    NEW.write_csv(folder / "new.csv", separator=";")
    assert "new.csv, line 1: this is one column; semicolons seem to separate" in failing(gating, capsys)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({1: "nwe.csv"}, "there is no such file"),
        (
            {1: "first.run"},
            "first.run, line 1: a line of trec_eval has three fields",
        ),
        ({1: "*.csv"}, "a table is in one file here; this stands for 2."),
        ({4: "RR"}, "new.csv has no measure 'RR'"),
        ({5: "--alpha=0.7"}, "polars-ir: --alpha must be at least 1e-09 and below 0.5; got 0.7."),
        ({5: "--range=AP"}, "--range: must be MEASURE=WORST:BEST; got 'AP'"),
        ({5: "--range=0:1"}, "--range: must be MEASURE=WORST:BEST; got '0:1'"),
        ({5: "--range=AP=1:x"}, "--range: must be MEASURE=WORST:BEST; got 'AP=1:x'"),
        ({5: "--max-drop=nan"}, "polars-ir: --max-drop must be from 0 to 1e+100"),
    ],
)
def test_wrong_input_of_the_gate_has_status_2(gating, folder, changes, words, capsys):
    arguments = dict(enumerate(gating)) | changes
    if 1 in changes:
        arguments[1] = str(folder / changes[1])
    assert words in failing(list(arguments.values()), capsys)


def test_figures_that_can_not_be_read_are_an_error_of_the_file(gating, folder, capsys):
    (folder / "new.csv").write_text("query_id,AP\nq1,0.5,0.5\n", encoding="utf-8")
    assert "new.csv, line 2: the header names 2 columns; this row has 3 fields." in failing(gating, capsys)


def test_systems_are_compared_by_their_figures(gating, folder, capsys):
    arguments = ["compare", *gating[1:3], "--baseline", "a", "--test", "sign", "--correction", "none"]
    assert main([*arguments, "-o", str(folder / "found.parquet")]) == 0
    assert capsys.readouterr() == ("", "")
    wanted = compare(pl.concat([NEW, OLD]), baseline="a", test="sign", correction=None)
    assert_frame_equal(pl.read_parquet(folder / "found.parquet"), wanted)
    assert main(arguments) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.split("\t") == wanted.columns
    assert row.split("\t")[:6] == ["b", "a", "AP", "0.5", "0.875", "0.375"]


def test_a_rendered_p_is_as_papers_print_it(folder, capsys):
    for name, shifts in (("a", [0.0]), ("b", [0.3, 0.6, 0.9]), ("c", [0.1] * 10 + [-0.1] * 2 + [0.0] * 28)):
        values = [0.4 + i % 5 / 100 + shifts[i % len(shifts)] for i in range(40)]
        pl.DataFrame({"query_id": range(40), "AP": values}).write_csv(folder / f"{name}.csv")
    arguments = ["compare", *(str(folder / f"{name}.csv") for name in "ab"), "--baseline", "a"]
    assert main([*arguments, "--markdown"]) == 0
    heading, _, row = ([cell.strip() for cell in line.split("|")] for line in capsys.readouterr().out.splitlines())
    assert dict(zip(heading, row, strict=True))["p_corrected"] == "<.001"
    assert main(arguments) == 0
    heading, row = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert 0 < float(dict(zip(heading, row, strict=True))["p_corrected"]) < 1e-9
    # Of 12 signs 10 or more are alike in 158 of 4096 ways, .03857, which is not rounded to beyond .0386.
    ten_of_twelve = ["compare", str(folder / "a.csv"), str(folder / "c.csv"), "--baseline", "a", "--test", "sign"]
    assert main([*ten_of_twelve, "--alpha", ".0386", "--markdown"]) == 0
    assert "| .03857 " in capsys.readouterr().out


def test_a_terminal_shows_the_columns_that_matter_and_how_many_it_leaves_out(gating, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    compared = ["compare", *gating[1:3], "--baseline", "a", "--test", "sign"]
    assert main(compared) == 0
    *shown, last = capsys.readouterr().out.splitlines()
    assert max(map(len, shown)) <= 100
    names = re.findall(r"\w+", shown[1])
    assert names[:3] == ["run", "baseline", "measure"]
    assert names[-2:] == ["simultaneous_low", "simultaneous_high"]
    assert last == f"{30 - len(names)} of 30 columns are left out: --table shows all."
    assert main([*compared, "--table"]) == 0
    assert len(re.findall(r"\w+", capsys.readouterr().out.splitlines()[1])) == 30


@pytest.mark.parametrize(("room", "columns"), [("10", 2), ("60", 3), ("1000", 30)])
@pytest.mark.whole("a quarter of a second a case", quick=1)
def test_a_table_has_as_many_columns_as_a_terminal_has_room_for(gating, capsys, monkeypatch, room, columns):
    monkeypatch.setenv("COLUMNS", room)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["compare", *gating[1:3], "--baseline", "a", "--test", "sign"]) == 0
    out = capsys.readouterr().out
    assert len(re.findall(r"\w+", out.splitlines()[1])) == columns
    assert ("left out" in out) == (columns < 30)


def test_figures_without_a_system_are_called_by_their_file(gating, folder, capsys):
    for name, frame in (("new", NEW), ("old", OLD)):
        frame.drop("run").write_csv(folder / f"{name}.csv")
    assert main(["compare", *gating[1:3]]) == 0
    assert capsys.readouterr().out.splitlines()[1].split("\t")[:2] == ["old", "new"]


def test_runs_are_compared_if_judgments_are_given(folder, capsys):
    runs = [str(folder / name) for name in ("first.run", "second.run")]
    assert main(["compare", *runs, "--qrels", str(folder / "qrels.txt"), "-m", "RR", "-m", "R@2"]) == 0
    rows = [line.split("\t")[:6] for line in capsys.readouterr().out.splitlines()[1:]]
    # The second run answers the first of three queries only.
    assert [row[:3] for row in rows] == [["second", "first", "RR"], ["second", "first", "R@2"]]
    assert [float(row[3]) for row in rows] == pytest.approx([0.5, 2 / 3])
    assert [float(row[5]) for row in rows] == pytest.approx([1 / 3 - 0.5, 1 / 3 - 2 / 3])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["--baseline", "c"], "baseline names 'c', which is not one of the systems"),
        (["--correction", "holms"], "correction must be one of"),
        (["--qrels", "qrels.txt"], "compare needs a measure to evaluate runs by (-m)"),
        (["-m", "RR"], "the table of figures has no measure 'RR'"),
    ],
)
def test_wrong_input_of_compare_has_status_2(gating, changes, words, capsys):
    assert words in failing(["compare", *gating[1:3], *changes], capsys)


def test_one_system_can_not_be_compared(gating, capsys):
    assert "compare needs several systems; per_query has only 'b'" in failing(["compare", gating[1]], capsys)


def test_trec_eval_has_the_options_output_and_status_of_that_program(folder, capsys):
    files = [str(folder / "qrels.txt"), str(folder / "first.run")]
    assert main(["trec_eval", "-q", "-m", "num_ret", "-m", "P.1", *files]) == 0
    wanted = [("num_ret", "q1", "2"), ("P_1", "q1", "0.0000"), ("num_ret", "q2", "1"), ("P_1", "q2", "1.0000")]
    wanted += [("num_ret", "all", "3"), ("P_1", "all", "0.5000")]
    assert capsys.readouterr() == ("".join(f"{name:<22}\t{topic}\t{value}\n" for name, topic, value in wanted), "")
    assert main(["trec_eval", files[0]]) == 1
    assert "QRELS and RUN are two files; got 1." in capsys.readouterr().err
    assert main(["trec_eval", "--strict", "-m", "map", *files]) == 4
    assert "'q3'" in capsys.readouterr().err


@pytest.mark.parametrize(("program", "measures", "status"), [("trec_eval", [], 4), ("ir_measures", ["AP"], 2)])
def test_programs_advise_no_python(folder, capsys, program, measures, status):
    (folder / "first.run").write_text("q1 Q0 d1 1 3 a\nq1 Q0 d1 2 1 a\n", encoding="utf-8")
    assert main([program, str(folder / "qrels.txt"), str(folder / "first.run"), *measures]) == status
    assert (
        " Keep the best score of each document, which is MaxP where rows are passages. The first:"
        in capsys.readouterr().err
    )


def test_the_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert [word for word in ["demo", "evaluate", "compare", "gate", "trec_eval"] if f"    {word} " not in text] == []


@pytest.mark.parametrize("command", ["demo", "evaluate", "gate", "compare", "trec_eval"])
@pytest.mark.whole("a process a case", quick=1)
def test_a_closed_pipe_ends_quietly(command, gating, evaluating, folder):
    arguments = {
        "evaluate": evaluating,
        "gate": gating,
        "compare": ["compare", *gating[1:3]],
        "trec_eval": ["trec_eval", str(folder / "qrels.txt"), str(folder / "first.run")],
    }.get(command, [command])
    reader, writer = os.pipe()
    os.close(reader)
    # Output to a pipe waits in a buffer, and fails to be written at the end.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(  # noqa: S603  # our own commands
        [sys.executable, "-m", "polars_ir", *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        env=environment,
        timeout=900,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate"],
        ["evaluate", "qrels", "run"],
        ["evalute"],
        ["compare"],
        ["compare", "new", "old", "--test", "tt"],
        ["gate", "new", "old", "--qrels", "qrels"],
        ["gate", "new", "old", "-m", "AP", "--max-drop", "little"],
        ["evaluate", "qrels", "run", "-m", "AP", "--undefined", "0,5"],
        ["gate", "new", "old", "-m", "AP", "--json", "--markdown"],
    ],
)
def test_wrong_use_is_told_in_one_line(arguments, capsys):
    known = [name for name in arguments[:1] if name != "evalute"]
    line = failing(arguments, capsys)
    assert "\n" not in line
    assert line.endswith(f"{' '.join(['polars-ir', *known])} --help tells more.")
    assert not re.search(r"invalid \w+ value|None", line)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(["evalute", "qrels", "run"], "evaluate"), (["compare", "a", "--test", "wilcoxn"], "wilcoxon")],
)
def test_a_misspelled_choice_names_the_nearest(arguments, meant, capsys):
    assert f"). Did you mean {meant!r}" in failing(arguments, capsys)


def test_without_a_command_there_is_the_help(capsys):
    assert main([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "evaluate runs against judgments" in told.err


def test_the_version_is_printed():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "polars_ir", "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=900,
        encoding="utf-8",
    )
    assert (done.stdout, done.stderr) == (f"polars-ir {ir.__version__}\n", "")


def evaluated(folder, *options):
    """The arguments that evaluate both runs."""
    files = [str(folder / name) for name in ("qrels.txt", "first.run", "second.run")]
    return ["evaluate", *files, "-m", "RR", *options]


def test_a_result_can_be_json(folder, capsys):
    assert main(evaluated(folder, "--json")) == 0
    assert json.loads(capsys.readouterr().out) == [{"run": "first", "RR": 0.5}, {"run": "second", "RR": 1 / 3}]


def test_a_result_can_be_markdown(folder, capsys):
    assert main(evaluated(folder, "--markdown")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0], *lines[2:])] == [
        ["run", "RR"],
        ["first", "0.5000"],
        ["second", "0.3333"],
    ]
    assert set(lines[1]) <= set("|-")


def test_means_can_be_taken_by_a_column_of_queries(folder, capsys):
    (folder / "queries.csv").write_text("qid,language,traffic\nq1,de,3\nq2,en,1\nq3,de,0\n", encoding="utf-8")
    options = ["--queries", str(folder / "queries.csv"), *["--by", "language"] * 2]
    assert main(evaluated(folder, *options)) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == ["de\tfirst\t0.25", "de\tsecond\t0.5"]
    assert main(evaluated(folder, "--queries", str(folder / "queries.csv"), "--weights", "traffic")) == 0
    # Of three parts 1/2, of one part 1.
    assert capsys.readouterr().out.splitlines()[1] == "first\t0.625"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--by", "language"], "--by and --weights name columns of a table of queries, --queries FILE; give both."),
        (["--queries", "queries.csv"], "--by and --weights name columns of a table of queries, --queries FILE; give"),
        (["--by", "language", "--per-query"], "--by and --weights are for means; leave out --per-query."),
        (["--queries", "none.csv", "--by", "language"], "none.csv has no 'query_id' column"),
        (["--queries", "queries.csv", "--weights", "language"], "weights column 'language' must be numbers"),
        (["--queries", "queries.csv", "--by", "langage"], "queries.csv has no column 'langage'"),
        (["--queries", "queries.csv", "--by", "qid"], "'qid' has the ids of queries. Name another column."),
        (["--queries", "queries.txt", "--by", "language"], "queries.txt: there is no such file"),
    ],
)
def test_what_is_wrong_with_the_queries_is_told(folder, monkeypatch, options, words, capsys):
    (folder / "queries.csv").write_text("qid,language\nq1,de\nq2,en\nq3,de\n", encoding="utf-8")
    (folder / "none.csv").write_text("name,language\nq1,de\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    assert words in failing(evaluated(folder, *options), capsys)


@pytest.mark.parametrize(
    "arguments", [["evaluate", "qrels.txt", "-", "-m", "RR"], ["trec_eval", "-c", "qrels.txt", "-"]]
)
@pytest.mark.whole("a process a case", quick=1)
def test_a_run_can_come_in_on_standard_input(folder, arguments):
    command = [sys.executable, "-m", "polars_ir", *arguments]
    found = subprocess.run(command, cwd=folder, input=RUN, capture_output=True, text=True, check=True, encoding="utf-8")  # noqa: S603
    assert "0.5" in found.stdout
    assert found.stderr == ""


def test_validate_has_status_1_where_it_finds_something(folder, capsys):
    assert main(["validate", str(folder / "qrels.txt"), str(folder / "first.run")]) == 1
    assert "first\tjudged queries missing from the run\twarning\t1" in capsys.readouterr().out
    (folder / "all.run").write_text("q1 Q0 d2 1 2 a\nq2 Q0 d1 1 2 a\nq3 Q0 d1 1 2 a\n", encoding="utf-8")
    assert main(["validate", str(folder / "qrels.txt"), str(folder / "all.run")]) == 0


def test_validate_finds_leaks_of_a_history(tmp_path, capsys):
    texts = {"run": "user_id,item_id,score\n1,d,2\n1,e,1\n", "train": "user_id,item_id\n1,d\n1,a\n"}
    texts["test"] = "user_id,item_id,relevance\n1,d,1\n"
    files = {name: str(tmp_path / f"{name}.csv") for name in texts}
    for name, text in texts.items():
        Path(files[name]).write_text(text, encoding="utf-8")
    assert main(["validate", files["test"], files["run"], "--history", files["train"], "--fail-on", "warning"]) == 1
    assert "run\tjudged pairs in the history\twarning\t1\t1.0\t1 d\t" in capsys.readouterr().out


def test_validate_fails_on_a_severity_and_looks_for_some_findings_only(folder, capsys):
    files = ["validate", str(folder / "qrels.txt"), str(folder / "first.run")]
    assert [main([*files, "--fail-on", severity]) for severity in ("error", "warning", "note")] == [0, 1, 1]
    capsys.readouterr()
    assert main([*files, "--only", "duplicates in the run", "--only", "tied scores"]) == 0
    assert capsys.readouterr() == ("run\tfinding\tseverity\tcount\tshare\texamples\tmeaning\n", "")
    assert main([*files, "--only", "duplicate in the run"]) == 2
    assert "--only must be one of 'ids of different types'" in capsys.readouterr().err


def test_convert_writes_what_it_reads(folder, capsys):
    assert main(["convert", str(folder / "first.run"), str(folder / "first.parquet")]) == 0
    assert main(["convert", "--qrels", str(folder / "qrels.txt"), str(folder / "qrels.csv")]) == 0
    assert capsys.readouterr() == ("", "")
    assert_frame_equal(ir.read_run(folder / "first.parquet"), ir.read_run(folder / "first.run").drop("rank"))
    assert ir.read_qrels(folder / "qrels.csv")["relevance"].to_list() == [1, 2, 1]


def test_convert_tells_what_it_can_not_write(folder, capsys):
    words = failing(["convert", "--qrels", "--tag", "t", str(folder / "qrels.txt"), "out.csv"], capsys)
    assert "--tag is for runs" in words


def test_measures_are_found_by_a_part_of_a_name(capsys):
    assert main(["measures", "ndcg_cut", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["nDCG"]
    assert main(["measures", "--tsv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(ir.CATALOG) + 1
    assert "no measure has 'ndgc'" in failing(["measures", "ndgc"], capsys)


def test_compare_takes_what_trec_eval_printed(folder, capsys):
    for name in ("first", "second"):
        main(["trec_eval", "-c", "-q", "-m", "recip_rank", str(folder / "qrels.txt"), str(folder / f"{name}.run")])
        (folder / f"{name}.eval").write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["compare", str(folder / "first.eval"), str(folder / "second.eval"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["run"], row["measure"], row["difference"]) == ("second.eval", "RR", pytest.approx(-1 / 6))


def test_debug_shows_where_an_error_comes_from(evaluating, capsys):
    assert main([*evaluating, "-m", "ndgc@10", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


def ir_measures(*arguments):
    """The output of the program that `polars-ir ir_measures` stands in for."""
    pytest.importorskip("ir_measures")
    command = [sys.executable, "-W", "ignore", "-m", "ir_measures", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout  # noqa: S603


@pytest.mark.parametrize("options", [[], ["-p", "7"], ["-q"], ["-q", "-n"]])
@pytest.mark.whole("a quarter of a second a case", quick=1)
def test_ir_measures_prints_what_ir_measures_prints(folder, options, capsys):
    pydocs = ir.datasets.load("pydocs")
    ir.write_run(pydocs.runs.filter(run="bm25").drop("run"), folder / "bm25.run")
    ir.write_qrels(pydocs.qrels, folder / "pydocs.qrels")
    arguments = [str(folder / "pydocs.qrels"), str(folder / "bm25.run"), "nDCG@10 AP", "RR", "IPrec@0.1", *options]
    assert main(["ir_measures", *arguments]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(ir_measures(*arguments).splitlines())


def test_ir_measures_speaks_json(folder, capsys):
    arguments = [str(folder / "qrels.txt"), str(folder / "first.run"), "RR", "-o", "jsonl"]
    assert main(["ir_measures", *arguments]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [{"measure": "RR", "value": 0.5}]


def test_every_judged_document_is_relevant_to_ir_measures_where_rel_is_0(folder, capsys):
    (folder / "zero.txt").write_text("q1 0 d1 0\nq2 0 d1 0\n", encoding="utf-8")
    assert main(["ir_measures", str(folder / "zero.txt"), str(folder / "first.run"), "RR(rel=0)@10"]) == 0
    assert capsys.readouterr().out == "RR(rel=0)@10\t1.0000\n"


def test_ir_measures_refuses_a_text(folder, capsys):
    words = failing(["ir_measures", str(folder / "qrels.txt"), str(folder / "first.run"), "relstring@5"], capsys)
    assert (
        words == "polars-ir: ir_measures has no measure 'relstring@5', whose value is a text; trec_eval -q prints it."
    )


@pytest.mark.filterwarnings("always::DeprecationWarning")
def test_a_look_is_one_of_several(gating, capsys):
    assert main([*gating, "--looks", "1/2", "--json"]) == 3
    assert "look 1 of 2: each bound is at a level of 0.0" in capsys.readouterr().out
    for look in ("1,2", "(1, 2)"):
        assert main([*gating, "--looks", look, "--json"]) == 3
        assert "look 1 of 2" in capsys.readouterr().out
    words = failing([*gating, "--looks", "2-5"], capsys)
    assert "(i/m on the command line)" in words
    assert "got '2-5'" in words


def test_clusters_of_the_gate_are_of_a_table_of_queries(tmp_path, capsys):
    table = pl.DataFrame({"query_id": ["q1", "q2", "q3"], "topic": ["a", "a", "b"]})
    table.write_csv(tmp_path / "queries.csv")
    figures = pl.DataFrame({"query_id": ["q1", "q2", "q3"], "AP": [0.5, 0.25, 0.5]})
    figures.write_csv(tmp_path / "a.csv")
    gating = ["gate", *[str(tmp_path / "a.csv")] * 2, "-m", "AP", "--json"]
    assert main([*gating, "--cluster", "topic", "--queries", str(tmp_path / "queries.csv")]) == 3
    row = json.loads(capsys.readouterr().out)["measures"][0]
    assert (row["n_queries"], row["note"].endswith("queries are clusters of 'topic'")) == (2, True)
    assert "give one of them" in failing([*gating, "--queries", str(tmp_path / "queries.csv")], capsys)
    assert "has no column 'topic'" in failing([*gating, "--cluster", "topic"], capsys)
    says = failing(["compare", str(tmp_path / "a.csv"), "--cluster", "topic"], capsys)
    assert "--cluster must name a column of the figures, or of --queries FILE; got 'topic'" in says


def test_a_test_has_the_names_of_other_tools_in_the_shell(tmp_path, capsys):
    for name in "ab":
        pl.DataFrame({"query_id": ["q1", "q2", "q3"], "AP": [0.5, 0.25, ord(name) / 200]}).write_csv(
            tmp_path / f"{name}.csv"
        )
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    printed = []
    for test in ("ttest", "t"):
        assert main(["compare", *files, "--test", test, "--json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_days_of_a_run_are_rows_of_their_own(tmp_path, capsys):
    run = pl.DataFrame(
        {
            "day": [date(2026, 1, 5)] * 2 + [date(2026, 1, 6)] * 2,
            "age": [timedelta(days=1, seconds=3)] * 4,
            "query_id": ["q1", "q2", "q1", "q2"],
            "doc_id": ["d1", "d9", "d1", "d2"],
            "score": [1.0] * 4,
        }
    )
    qrels = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "relevance": [1, 1]})
    run.write_parquet(tmp_path / "run.parquet")
    qrels.write_parquet(tmp_path / "qrels.parquet")
    evaluating = ["evaluate", *(str(tmp_path / f"{name}.parquet") for name in ("qrels", "run")), "-m", "AP"]
    assert main([*evaluating, "--key", "day", "--key", "day", "--key", "age", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["day"], row["age"], row["AP"]) for row in rows] == [
        ("2026-01-05", "P1DT3S", 0.5),
        ("2026-01-06", "P1DT3S", 1.0),
    ]
    figures = tmp_path / "figures.parquet"
    assert main([*evaluating, "--key", "day", "-q", "-o", str(figures)]) == 0
    assert pl.read_parquet(figures).drop("run", "provenance", "query_hash").columns == ["day", "query_id", "AP"]
    assert "has no column 'night', which --key says" in failing([*evaluating, "--key", "night"], capsys)
    gating = ["gate", str(figures), str(figures), "-m", "AP", "--json"]
    capsys.readouterr()
    assert main([*gating, "--by", "day"]) == 3
    assert [row["day"] for row in json.loads(capsys.readouterr().out)["measures"]] == ["2026-01-05", "2026-01-06"]
    assert main(gating) == 3
    assert json.loads(capsys.readouterr().out)["measures"][0]["n_queries"] == 2
    # The days of a CSV are texts, and may have other digits; its ids are texts, too.
    of_csv, stored = tmp_path / "figures.csv", pl.read_parquet(figures).with_columns(pl.col("query_id").str.tail(1))
    gating[2] = str(of_csv)
    for dtype, written, shown in (
        (pl.Date, pl.Date, "2026-01-05"),
        (pl.Datetime("ms"), pl.Datetime("us"), "2026-01-05T00:00:00.000"),
    ):
        stored.cast({"day": dtype, "query_id": pl.Int64}).write_parquet(figures)
        stored.cast({"day": written}).write_csv(of_csv)
        capsys.readouterr()
        assert main([*gating, "--by", "day"]) == 3
        assert json.loads(capsys.readouterr().out)["measures"][0]["day"] == shown
        # Those of another order than year, month and day are ambiguous.
        stored.with_columns(pl.col("day").dt.to_string("%m/%d/%Y")).write_csv(of_csv)
        assert "in new and String in old. Cast one" in failing([*gating, "--by", "day"], capsys)


def test_runs_of_several_days_are_evaluated_by_the_columns_of_by(folder, capsys):
    run = ir.read_run(folder / "first.run").drop("run", strict=False)
    days = pl.concat([run.with_columns(day=pl.lit(day)) for day in ("monday", "tuesday")])
    days.write_parquet(folder / "new.parquet")
    days.with_columns(pl.col("score") * -1).write_parquet(folder / "old.parquet")
    files = [str(folder / "new.parquet"), str(folder / "old.parquet"), "--qrels", str(folder / "qrels.txt"), "-m", "RR"]
    assert main(["compare", *files, "--by", "day", "--json"]) == 0
    assert [row["day"] for row in json.loads(capsys.readouterr().out)] == ["monday", "tuesday"]
    assert main(["gate", *files, "--by", "day", "--by", "run", "--max-drop", "0.9"]) == 2
    # Both files name their system, and these differ: what a key of the run is, the system is not.
    assert "share no value of 'day', 'run'" in capsys.readouterr().err
    assert main(["gate", *files, "--by", "day", "--json", "--max-drop", "0.9"]) == 0
    assert [row["day"] for row in json.loads(capsys.readouterr().out)["measures"]] == ["monday", "tuesday"]
