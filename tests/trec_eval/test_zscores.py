"""`-Z`: figures as standard deviations from a mean. The lines are those of trec_eval 10.0-rc3 for these files."""

from pathlib import Path

import pytest

from polars_ir.cli.trec_eval import main

QRELS = "q1 0 d1 0\nq1 0 d2 2\nq1 0 d3 1\nq2 0 d1 1\nq3 0 d9 1\n"
RUN = "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq1 Q0 d7 3 0.7 t\nq2 Q0 d1 1 0.5 t\nq3 Q0 d1 1 0.5 t\n"
MEANS = (
    "q1 map 0.5 0.25\nq1 num_ret 2 2\nq2  map 1 0\nq3 map 0.5 0\nq1 gm_map -1 2\n"
    "q1 P_2 0.25 0.5\nq2 P_2 0.25 0.5\nq3 P_2 0.25 0.5\nzz map 0 1\n"
)

PRINTED = """\
Znum_ret               \tq1\t0.5000
Zmap                   \tq1\t-1.0000
ZP_2                   \tq1\t0.5000
relstring             \tq1\t'02-'
Znum_ret               \tq2\t-1000000.0000
Zmap                   \tq2\t0.0000
ZP_2                   \tq2\t0.5000
relstring             \tq2\t'1'
Znum_ret               \tq3\t-1000000.0000
Zmap                   \tq3\t-1000000.0000
ZP_2                   \tq3\t-0.5000
relstring             \tq3\t'-'
Znum_q                 \tall\t3.0000
Znum_ret               \tall\t-1999999.5000
Zmap                   \tall\t-333333.6667
Zgm_map                \tall\t0.0000
ZP_2                   \tall\t0.1667
"""


@pytest.fixture
def files(tmp_path):
    for name, text in {"qrels": QRELS, "run": RUN, "means": MEANS}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [str(tmp_path / name) for name in ("means", "qrels", "run")]


@pytest.mark.parametrize("options", [[], ["--strict"]])
def test_figures_are_deviations_from_the_means_of_a_file(options, files, capsys):
    names = ["num_q", "num_ret", "map", "gm_map", "P.2", "relstring"]
    measures = [option for name in names for option in ("-m", name)]
    assert main(["-q", *options, *measures, "-Z", *files]) == 0
    assert capsys.readouterr().out == PRINTED


@pytest.mark.parametrize("line", ["q1 map 0.5", "q1 map 0.5 high", "q1 map 0.5 1 2"])
def test_a_line_that_tells_no_mean_is_an_error(line, files, capsys):
    with Path(files[0]).open("a", encoding="utf-8") as means:
        means.write(f"{line}\n")
    assert main(["-Z", *files]) == 2
    assert "means, line 10: a line has a topic, a measure, a mean and a standard deviation." in capsys.readouterr().err


def test_a_file_of_means_that_is_not_there_is_an_error(files, capsys):
    assert main(["-Z", f"{files[0]}s", *files[1:]]) == 2
    assert "no such file" in capsys.readouterr().err.lower()
