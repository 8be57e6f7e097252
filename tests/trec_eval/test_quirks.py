"""`--strict`: trec_eval 10's own figures where they are not what it says it computes, beside the right ones.

The figures are those of trec_eval 10.0-rc3 for these files.
"""

import pytest

from polars_ir.cli.trec_eval import main

QRELS = "q1 0 d1 0\nq1 0 d2 2\nq1 0 d3 1\nq2 0 d1 1\nq3 0 d9 1\n"
RUN = "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.8 t\nq1 Q0 d7 3 0.7 t\nq2 Q0 d1 1 0.5 t\n"
WHOLE = f"{RUN}q3 Q0 d1 1 0.5 t\n"

# A judge of one group with two relevant documents of five, and one of two groups.
ONE_GROUP = "q1 a d1 1\nq1 a d2 1\nq1 a d3 0\nq1 a d4 0\nq1 a d5 0\n"
TWO_GROUPS = "q1 a 0 d1 1\nq1 a 0 d3 0\nq1 a 0 d4 0\nq1 a 0 d5 0\nq1 a 1 d2 1\nq1 a 1 d5 0\n"
# Judge b finds nothing relevant.
OF_NOTHING = "q1 a d1 1\nq1 a d3 0\nq1 b d3 0\nq1 b d4 0\n"


def run_of(*documents):
    """A run with these documents, best first."""
    return "".join(f"q1 Q0 {document} 1 {-place} t\n" for place, document in enumerate(documents))


TIED = "q1 Q0 d3 1 1 t\nq1 Q0 d1 1 1 t\nq1 Q0 d4 1 1 t\n"
PREFERENCES, RNONREL = ["-R", "qrels_prefs"], ["-m", "prefs_avgjg_Rnonrel"]

QUIRKS = {
    "pairs not relevant": (
        (ONE_GROUP, run_of("d3", "d1", "d4", "d2"), [*PREFERENCES, *RNONREL]),
        ["0.2000"],
        ["0.2500"],
    ),
    "pairs of a judge of one named group": (
        (ONE_GROUP.replace(" a ", " a 0 "), run_of("d3", "d1", "d4", "d2"), ["-R", "prefs", *RNONREL]),
        ["0.2000"],
        ["0.2500"],
    ),
    "as many as are relevant": (
        (TWO_GROUPS, run_of("d3", "d1", "d4", "d5"), ["-R", "prefs", "-m", "prefs_avgjg_Rnonrel_ret"]),
        ["0.5000"],
        ["0.0000"],
    ),
    "a judge of nothing": (
        (OF_NOTHING, run_of("d1", "d3", "d4"), [*PREFERENCES, *RNONREL]),
        ["0.0000"],
        ["0.5000"],
    ),
    "ties of preferences": (
        (ONE_GROUP, TIED, [*PREFERENCES, "-m", "prefs_num_prefs_ful", "-m", "prefs_simp"]),
        ["3", "0.5000"],
        ["1", "0.1667"],
    ),
    "the first of ties": ((ONE_GROUP, TIED, [*PREFERENCES, "-M", "1", "-m", "prefs_simp"]), ["0.5000"], ["0.0000"]),
    "relevant at any level": ((QRELS, RUN, ["-c", "-l", "2", "-m", "num_rel"]), ["4"], ["1"]),
    "leftovers with parameters": (
        (
            QRELS,
            RUN,
            [
                "-c",
                "-q",
                "-n",
                *["-m", "relstring.3", "-m", "utility.2,-1,0,0", "-m", "unj.2", "-m", "rbp_resid.p=0.5"],
            ],
        ),
        [
            "'02-'",
            "0.0000",
            "0.2500",
            "0.0000",
            "'1'",
            "2.0000",
            "0.0000",
            "0.0000",
            "'-'",
            "-1.0000",
            "1.0000",
            "0.0000",
        ],
        [
            "'02-'",
            "0.0000",
            "0.2500",
            "0.0000",
            "'1'",
            "2.0000",
            "0.5000",
            "0.0000",
            "''",
            "0.0000",
            "1.0000",
            "0.0000",
        ],
    ),
    "leftovers without parameters": (
        (QRELS, RUN, ["-c", "-q", "-n", *["-m", "num_ret", "-m", "relstring", "-m", "utility", "-m", "rbp_resid"]]),
        ["3", "'02-'", "-1.0000", "0.8100", "1", "'1'", "1.0000", "0.0000", "0", "''", "0.0000", "0.0000"],
        ["3", "'02-'", "-1.0000", "0.8100", "1", "'1'", "1.0000", "0.9000", "0", "''", "0.0000", "1.0000"],
    ),
    "the residual of a judged list": (
        (QRELS, WHOLE, ["-q", "-n", "-m", "rbp_resid"]),
        ["0.8100", "0.0000", "1.0000"],
        ["0.8100", "0.9000", "1.0000"],
    ),
    "one longer than its gains": (
        (QRELS, WHOLE, ["-q", "-n", "-m", "Rndcg"]),
        ["0.2398", "1.0000", "0.0000"],
        ["0.3197", "1.0000", "0.0000"],
    ),
    "no gain": ((QRELS, WHOLE, ["-m", "Rndcg.1=0,2=0"]), ["  -nan"], ["0.0000"]),
    "nothing retrieved": (
        (QRELS, WHOLE, ["-M", "0", "-m", "iprec_at_recall.0,1", "-m", "11pt_avg"]),
        ["  -nan", "0.0000", "  -nan"],
        ["0.0000", "0.0000", "0.0000"],
    ),
    "one topic of all": (
        (QRELS, RUN, ["-D", "1.q1", "-c", "-m", "num_q", "-m", "gm_map", "-m", "P.2"]),
        ["3", "0.0003", "0.1667"],
        ["1", "0.2500", "0.5000"],
    ),
}


@pytest.mark.parametrize(("given", "strict", "right"), QUIRKS.values(), ids=QUIRKS)
def test_strict_gives_the_figure_of_trec_eval(given, strict, right, tmp_path, capsys):
    qrels, run, options = given
    (tmp_path / "qrels").write_text(qrels, encoding="utf-8")
    (tmp_path / "run").write_text(run, encoding="utf-8")
    for given_strict, values in ([], right), (["--strict"], strict):
        assert main([*given_strict, *options, str(tmp_path / "qrels"), str(tmp_path / "run")]) == 0
        assert [line.split("\t")[2] for line in capsys.readouterr().out.splitlines()] == values


@pytest.mark.parametrize(
    ("measure", "mean"), [("prefs_avgjg_Rnonrel", "0.3500"), ("prefs_avgjg_Rnonrel_ret", "0.2500")]
)
def test_strict_gives_each_judge_the_counts_of_that_judge(measure, mean, tmp_path, capsys):
    """The judges of a topic come in no order: in forty topics some come first that are second in others."""
    judged = TWO_GROUPS + ONE_GROUP.replace(" a ", " b 0 ")  # 0.5 and 0.2, of which b has 0 with `_ret`
    ranked = run_of("d3", "d1", "d4", "d5")
    for name, lines in (("qrels", judged), ("run", ranked)):
        (tmp_path / name).write_text(
            "".join(lines.replace("q1 ", f"q{topic} ") for topic in range(40)), encoding="utf-8"
        )
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert main(["--strict", "-q", "-n", "-R", "prefs", "-m", measure, *files]) == 0
    assert {line.split("\t")[2] for line in capsys.readouterr().out.splitlines()} == {mean}
