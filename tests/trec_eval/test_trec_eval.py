"""`polars-ir trec_eval`: the output of trec_eval 10, to the byte."""

import gzip
from pathlib import Path

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli.trec_eval import main
from polars_ir.trec_eval.measures import COUNTS, MEASURES, formats_of

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"
RUNS = ["pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc"]
OFFICIAL = ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"]
SETS = ["utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"]

QRELS = "q1 0 d1 0\nq1 0 d2 2\nq1 0 d3 1\nq2 0 d1 1\nq3 0 d9 1\n"
RUN = "q1 Q0 d1 1 0.9 mine\nq1 Q0 d2 2 0.8 mine\nq1 Q0 d7 3 0.7 mine\nq2 Q0 d1 1 0.5 mine\nq9 Q0 d1 1 0.5 mine\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS, encoding="utf-8")
    (tmp_path / "run").write_text(RUN, encoding="utf-8")
    return [str(tmp_path / "qrels"), str(tmp_path / "run")]


@pytest.fixture
def printed(capsys, files):
    """The output of trec_eval for options, split into fields."""

    def run(*options, status=0):
        assert main([*options, *files]) == status
        return [tuple(line.split("\t")) for line in capsys.readouterr().out.splitlines()]

    return run


def test_the_output_is_that_of_trec_eval_to_the_byte(capsys, files):
    assert main(["-q", "-m", "map", "-m", "num_ret", "-m", "P.2,1", *files]) == 0
    assert capsys.readouterr().out == (
        "num_ret               \tq1\t3\n"
        "map                   \tq1\t0.2500\n"
        "P_1                   \tq1\t0.0000\n"
        "P_2                   \tq1\t0.5000\n"
        "num_ret               \tq2\t1\n"
        "map                   \tq2\t1.0000\n"
        "P_1                   \tq2\t1.0000\n"
        "P_2                   \tq2\t0.5000\n"
        "num_ret               \tall\t4\n"
        "map                   \tall\t0.6250\n"
        "P_1                   \tall\t0.5000\n"
        "P_2                   \tall\t0.5000\n"
    )


def line(measure, topic, value):
    """A line of trec_eval, from 12 digits of the value."""
    if measure in (*COUNTS, "num_q", "runid", "relstring"):
        return f"{measure:<22}\t{topic}\t{value}\n"
    return f"{measure:<22}\t{topic}\t{float(value):6.4f}\n"


def same(found, wanted, value):
    """True if a line is the wanted one; half a unit of the last place may have been rounded either way."""
    if found == wanted:
        return True
    half = abs(abs(float(value) * 1e4 % 1) - 0.5) < 1e-7
    return half and found.split("\t")[:2] == wanted.split("\t")[:2] and _near(found, wanted)


def _near(found, wanted):
    return abs(float(found.split("\t")[2]) - float(wanted.split("\t")[2])) < 1.1e-4


@pytest.mark.skipif(not DATA.exists(), reason="the real data are not here")
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("measures", ["all_trec", "official", "set"])
@pytest.mark.whole("a third of a second a case", quick=3)
def test_the_output_on_real_runs_is_that_of_trec_eval(name, measures, capsys):
    asked = {"official": [*OFFICIAL, "iprec_at_recall", "P"], "set": [*OFFICIAL[:5], *SETS]}.get(measures)
    with gzip.open(DATA / "expected" / f"{name}.trec_eval-10.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [row.rstrip("\n").split("\t") for row in lines]
    roots = {"P": "P_", "iprec_at_recall": "iprec_at_recall_"}
    if asked:
        rows = [row for row in rows if any(row[0] == a or row[0].startswith(roots.get(a, "none")) for a in asked)]
    options = ["-q", "-m", measures, "--strict", str(DATA / "qrels.txt.gz"), str(DATA / f"{name}.run.gz")]
    assert main(options) == 0
    found = capsys.readouterr().out.splitlines(keepends=True)
    wanted = [line(*row) for row in rows]
    assert len(found) == len(wanted)
    assert [
        pair for pair, row in zip(zip(found, wanted, strict=True), rows, strict=True) if not same(*pair, row[2])
    ] == []
    assert sum(f != w for f, w in zip(found, wanted, strict=True)) < 5


def test_without_a_measure_the_official_ones_are_printed(printed):
    found = printed()
    assert [name.strip() for name, *_ in found[:10]] == OFFICIAL
    assert found[0] == ("runid                 ", "all", "mine")
    assert [name.strip() for name, *_ in found[-9:]] == [f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]


def test_topics_that_the_run_lacks_count_with_c_and_not_without(printed):
    assert printed("-m", "num_q", "-m", "P.1") == [
        ("num_q                 ", "all", "2"),
        ("P_1                   ", "all", "0.5000"),
    ]
    assert printed("-c", "-m", "num_q", "-m", "P.1")[1] == ("P_1                   ", "all", "0.3333")


def test_the_relevance_string_of_a_topic_that_the_run_lacks_is_empty(printed):
    found = printed("-q", "-c", "-m", "relstring")
    assert [value for _, _, value in found] == ["'02-'", "'1'", "''"]


OPTIONS = {
    "the level of relevance": (["-l", "2", "-m", "num_rel"], "1"),
    "the summary is left out": (["-n", "-m", "map"], None),
    "the first documents": (["-M", "1", "-m", "num_ret"], "2"),
    "judged documents only": (["-J", "-m", "num_ret"], "3"),
    "long options": (["--strict", "-c", "-m", "num_q"], "3"),
    "documents in the collection": (["-N", "100", "-m", "utility.0,0,0,1"], "97.5000"),
    "gains": (["-m", "ndcg.1=1,2=4"], "0.7725"),
    "persistence": (["-m", "rbp.p=0.5"], "0.3750"),
    "beta": (["-m", "set_F.0.5"], "0.6875"),
}


@pytest.mark.parametrize(("options", "value"), OPTIONS.values(), ids=OPTIONS)
def test_an_option_does_what_it_does_in_trec_eval(options, value, printed):
    assert [figure for _, _, figure in printed(*options)] == ([] if value is None else [value])


def test_parameters_stand_in_the_name(printed):
    names = ["ndcg.1=1,2=4", "rbp.p=0.5", "set_F.0.5", "iprec_at_recall..10,.2", "relstring.2", "success.3"]
    found = printed("-q", "-n", *(option for name in names for option in ("-m", name)))
    assert [name.strip() for name, topic, _ in found if topic == "q1"] == [
        "iprec_at_recall_0.10",
        "iprec_at_recall_0.20",
        "relstring_2",
        "ndcg_1=1,2=4",
        "success_3",
        "set_F_0.5",
        "rbp_p=0.5",
    ]


def test_the_first_parameters_of_a_measure_hold(printed):
    assert [name.strip() for name, *_ in printed("-m", "P.3", "-m", "P.5,1", "-m", "P")] == ["P_3"]


JUDGES = "q1 a d1 1\nq1 a d2 0\nq1 b d1 0\nq1 b d2 1\nq1 b d7 -1\nq2 a d1 1\nq2 b d9 1\nq2 c d1 -1\nq3 a d1 1\n"


@pytest.mark.parametrize(
    ("options", "of_first", "of_second", "of_all"),
    [
        # Judge a has d1, d2, ...: 1/1; judge b d1, d2, d7: 1/2. In the second topic, a has all, b and c nothing.
        ([], "0.7500", "0.3333", "0.5417"),
        # Of the second's three judges, c judged nothing, and still is one.
        (["-J"], "0.7500", "0.3333", "0.5417"),
        (["-J", "-c"], "0.7500", "0.3333", "0.3611"),
        (["-J", "-l", "2"], "0.0000", "0.0000", "0.0000"),
    ],
)
def test_judges_condense_the_list_each_for_themselves(options, of_first, of_second, of_all, files, printed):
    Path(files[0]).write_text(JUDGES, encoding="utf-8")
    found = printed("-R", "qrels_jg", "-m", "map_avgjg", "-q", *options)
    values = {topic: value for _, topic, value in found}
    assert (values["q1"], values["q2"], values["all"]) == (of_first, of_second, of_all)


def test_documents_that_another_judge_saw_leave_the_list(files, printed):
    Path(files[0]).write_text("q1 a d2 1\nq1 b d7 1\nq1 b d1 -1\n", encoding="utf-8")
    assert [value for *_, value in printed("-R", "qrels_jg", "-m", "map_avgjg")] == ["0.4167"]
    assert [value for *_, value in printed("-R", "qrels_jg", "-m", "map_avgjg", "-J")] == ["1.0000"]
    assert [value for *_, value in printed("-R", "qrels_jg", "-m", "P_avgjg.1,2", "-J")] == ["1.0000", "0.5000"]


def test_a_topic_that_nobody_judged_counts_with_judged_documents_only(files, printed):
    Path(files[0]).write_text("q1 0 d1 -1\nq1 0 d2 -1\nq2 0 d1 1\n", encoding="utf-8")
    for options in ([], ["-J"]):
        assert [value for *_, value in printed("-m", "num_q", "-m", "map", *options)] == ["2", "0.5000"]
    assert [value for *_, value in printed("-m", "num_ret", "-J")] == ["1"]


OF_OTHER_FORMATS = {
    "preferences of documents": ("qrels", "prefs_simp", "it needs -R prefs or qrels_prefs."),
    "judges of documents": ("qrels", "map_avgjg", "it needs -R qrels_jg."),
    "documents of judges": ("qrels_jg", "map", "it needs -R qrels."),
    "documents of preferences": ("qrels_prefs", "map", "it needs -R qrels."),
}


@pytest.mark.parametrize(("form", "measure", "remedy"), OF_OTHER_FORMATS.values(), ids=OF_OTHER_FORMATS)
def test_a_measure_of_judgments_of_another_format_ends_with_status_4(form, measure, remedy, files, capsys):
    assert main(["-q", "-R", form, "-m", "num_q", "-m", measure, *files]) == 4
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"trec_eval: can't calculate measure {measure!r} of -R {form}; {remedy}\n"


@pytest.mark.parametrize("form", ["qrels", "qrels_jg", "qrels_prefs"])
def test_the_number_of_topics_is_of_any_format(form, printed):
    assert printed("-R", form, "-m", "num_q") == [("num_q                 ", "all", "2")]


def test_several_judges(tmp_path, capsys):
    (tmp_path / "qrels").write_text("q1 a d1 1\nq1 b d1 0\nq1 b d2 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n", encoding="utf-8")
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert main(["-R", "qrels_jg", "-m", "map_avgjg", *files]) == 0
    assert capsys.readouterr().out == "map_avgjg             \tall\t0.7500\n"


PREFERENCES = {
    # Judge a prefers d1 to d2, which the run does; judge b d2 to d7 to d1, of which the run has d2 before d7.
    "qrels_prefs": "q1 a d1 1\nq1 a d2 0\nq1 b d2 2\nq1 b d1 0\nq1 b d7 1\nq2 a d1 1\nq2 a d2 0\n",
    "prefs": "q1 a 0 d1 1\nq1 a 0 d2 0\nq1 b 0 d2 2\nq1 b 0 d7 1\nq1 b 0 d1 0\nq2 a 0 d1 3\nq2 a 0 d2 2.5\n",
}


@pytest.mark.parametrize("form", PREFERENCES)
@pytest.mark.parametrize("options", [[], ["-J"]], ids=["all", "judged"])
def test_preferences_are_counted_and_their_counts_added_up(form, options, files, printed):
    Path(files[0]).write_text(PREFERENCES[form], encoding="utf-8")
    found = printed("-R", form, "-m", "prefs", "-q", *options)
    assert [(name.strip(), topic, value) for name, topic, value in found] == [
        ("prefs_num_prefs_poss", "q1", "4"),
        ("prefs_num_prefs_ful", "q1", "2"),
        ("prefs_num_prefs_ful_ret", "q1", "2"),
        ("prefs_simp", "q1", "0.5000"),
        ("prefs_pair", "q1", "0.5000"),
        ("prefs_avgjg", "q1", "0.6667"),
        ("prefs_num_prefs_poss", "q2", "1"),
        ("prefs_num_prefs_ful", "q2", "1"),
        ("prefs_num_prefs_ful_ret", "q2", "0"),
        ("prefs_simp", "q2", "1.0000"),
        ("prefs_pair", "q2", "1.0000"),
        ("prefs_avgjg", "q2", "1.0000"),
        ("runid", "all", "mine"),
        ("num_q", "all", "2"),
        ("prefs_num_prefs_poss", "all", "5"),
        ("prefs_num_prefs_ful", "all", "3"),
        ("prefs_num_prefs_ful_ret", "all", "2"),
        ("prefs_simp", "all", "0.7500"),
        ("prefs_pair", "all", "0.7500"),
        ("prefs_avgjg", "all", "0.8333"),
    ]
    assert len(printed("-R", form, "-m", "all_prefs")) == 16


def test_the_name_of_the_run_and_the_number_of_topics_need_no_measure(printed):
    assert printed("-q", "-m", "runid") == [("runid                 ", "all", "mine")]
    assert printed("-c", "-m", "num_q", "-m", "runid")[1] == ("num_q                 ", "all", "3")


def test_an_average_over_other_recalls_is_the_mean_of_their_precisions(printed):
    # 1/2, 1/2 and 0 in the first topic, 1 in the second.
    assert printed("-m", "11pt_avg.0,0.5,1") == [("11pt_avg_0,0.5,1      ", "all", "0.6667")]


def test_options_have_long_names(printed):
    found = printed("--query_eval_wanted", "--measure=num_ret", "--level_for_rel", "2", "--nosummary")
    assert [value for _, _, value in found] == ["3", "1"]


def test_the_run_may_come_in(files, monkeypatch, capsys):
    with Path(files[1]).open(encoding="utf-8") as run:
        monkeypatch.setattr("sys.stdin", run)
        assert main(["-m", "runid", "-m", "map", files[0], "-"]) == 0
    assert [line.split("\t")[2] for line in capsys.readouterr().out.splitlines()] == ["mine", "0.6250"]


def test_help_and_version_are_printed_where_trec_eval_prints_them(capsys):
    assert main(["-h"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Usage: polars-ir trec_eval")
    assert captured.err == ""
    assert main(["--version", "-x"]) == 1
    assert main(["--version"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("trec_eval version 10.0, as polars_ir has it\n")


def test_help_describes_the_measures_and_the_format_that_are_named(capsys):
    assert main(["-h", "-m", "P.5", "-m", "prefs", "-m", "iprec_at_recall", "-m", "relstring", "-R", "prefs"]) == 0
    text = capsys.readouterr().out
    assert "QRELS with -R prefs: topic judge group document relevance" in text
    assert "\nP\n    Precision: the share of the first k documents that is relevant.\n" in text
    assert "\niprec_at_recall\n    Interpolated precision" in text
    assert text.count("\nprefs_") == 6
    assert "Parameters" not in text


def test_every_measure_has_a_description(capsys):
    assert main(["-h", *(option for name in MEASURES for option in ("-m", name))]) == 0
    text = capsys.readouterr().out
    assert all(f"\n{name}\n    " in text for name in MEASURES)


# Figures of trec_eval 10.0-rc3.
FORMS = {
    "cutoffs with a point": ("-m P.5.,1 -m ndcg_cut.1,2.9", ["0.3333", "0.1333", "0.3333", "0.4932"]),
    "gains of some levels": (
        "-m ndcg.1=2 -m G.2=5 -m ndcg_rel.1=3 -m Rndcg.0=1",
        ["0.5086", "0.4623", "0.4320", "0.5371"],
    ),
    "a beta of 0": ("-m set_F.0", ["0.4444"]),
    "the lowest level": ("-l 0 -m num_rel -m map -m bpref -m ndcg", ["5", "0.5556", "0.5556", "0.4932"]),
    "no document": ("-M 0 -m num_q -m num_ret -m map -m num_rel", ["3", "0", "4", "0.0000"]),
    "nothing at the level": ("-l 3 -m Rndcg -m num_rel_ret", ["0", "0.0000"]),
    "a topic": ("-D 0.q2 -q -m map -m num_q", ["1.0000", "1", "1.0000"]),
    "all coefficients negative": ("-m utility.-1,-1,-1,-1 -M 0", ["0.0000"]),
}


@pytest.mark.parametrize(("options", "values"), FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("strict", [[], ["--strict"]], ids=["", "strict"])
def test_what_trec_eval_allows_is_allowed(options, values, strict, files, printed):
    with Path(files[1]).open("a", encoding="utf-8") as run:
        run.write("q3 Q0 d1 1 0.5 mine\n")
    assert [value for *_, value in printed(*strict, *options.split())] == values


def test_rbp_does_not_obey_the_level_of_relevance(printed):
    # Gains 0 and 1 of 2 at the ranks 1 and 2 of the first topic, 1 at the first of the second: .1 * .9 and .1.
    figures = {level: printed("-q", "-m", "rbp", "-l", level) for level in ("1", "2", "5")}
    assert [value for *_, value in figures["1"]] == ["0.0900", "0.1000", "0.0950"]
    assert figures["1"] == figures["2"] == figures["5"]


def test_gains_of_rbp_are_shares_of_the_highest(printed):
    # Level 1 gains 4, and level 2 its own 2: .5 at the second rank; alone a 1 of 4.
    assert [value for *_, value in printed("-q", "-n", "-m", "rbp.p=0.5,1=4")] == ["0.1250", "0.5000"]


def test_set_measures_round_as_in_trec_eval(tmp_path):
    # 5 of 14 retrieved, of 8 relevant: 25 / 112 and 10 / 22; nothing in the last digit comes of rounding twice.
    (tmp_path / "qrels").write_text("".join(f"q 0 d{i} 1\n" for i in range(8)), encoding="utf-8")
    (tmp_path / "run").write_text("".join(f"q Q0 d{i + 3} 1 {-i} t\n" for i in range(14)), encoding="utf-8")
    run, qrels = ir.read_run(tmp_path / "run"), ir.read_qrels(tmp_path / "qrels")
    found = ir.evaluate(run, qrels, ["SetAP", "SetF"]).row(0)[1:]
    p, r = 5 / 14, 5 / 8
    assert found == (25 / 112, 2 * p * r / (p + r))


WRONG = {
    "no files": ([], 1, "two files"),
    "an unknown option": (["-x", "a", "b"], 1, "-x"),
    "an unknown measure": (["-m", "mapp", "a", "b"], 1, "illegal measure 'mapp'. Did you mean 'map'"),
    "a measure without its parameter": (["-m", "P.", "a", "b"], 1, "illegal measure 'P.'. Did you mean 'P'"),
    "an unknown measure with parameters": (["-m", "ndgc_cut.10", "a", "b"], 1, "Did you mean 'ndcg_cut.10'"),
    "a level below 0": (["-l", "-1", "a", "b"], 1, "-l must be a whole number, 0 or more; got '-1'"),
    "coefficients that are not four": (
        ["-m", "utility.1,2", "a", "b"],
        2,
        "utility: coefficients must be a tuple of four",
    ),
    "an unknown format": (["-R", "trec", "a", "b"], 2, "-R must be one of qrels"),
    "a level that is no number": (["-l", "high", "a", "b"], 1, "-l must be a whole number, 0 or more; got 'high'"),
    "a file that is not there": (["no qrels", "no run"], 2, "no such file"),
    "a cutoff that is no number": (
        ["-m", "P.five", "a", "b"],
        2,
        "cutoffs must be different whole numbers, 1 or more, as in P.1,2",
    ),
    "a cutoff twice": (["-m", "P.5,10,5", "a", "b"], 2, "cutoffs must be different whole numbers"),
    "a recall twice": (["-m", "iprec_at_recall.0.5,.5", "a", "b"], 2, "cutoffs must be different numbers"),
    "a parameter that is no pair": (["-m", "ndcg.1", "a", "b"], 2, "parameters must be pairs, as in ndcg.1=2"),
    "a cutoff below 1": (["-m", "P.0", "a", "b"], 2, "1 or more"),
}


@pytest.mark.parametrize(("arguments", "status", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_the_status_of_trec_eval(arguments, status, message, capsys):
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_nothing_in_common_ends_with_status_7(tmp_path, capsys):
    (tmp_path / "qrels").write_text("q1 0 d1 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("q2 Q0 d1 1 2 t\n", encoding="utf-8")
    assert main([str(tmp_path / "qrels"), str(tmp_path / "run")]) == 7
    assert "no topic has both" in capsys.readouterr().err


def test_a_topic_that_the_run_lacks_ends_a_strict_run_with_status_4(printed):
    assert printed("--strict", "-q", "-m", "num_ret", status=4) == [
        ("num_ret               ", "q1", "3"),
        ("num_ret               ", "q2", "1"),
    ]


def test_a_bad_line_is_told_with_file_and_number(tmp_path, files, capsys):
    bad = tmp_path / "bad"
    bad.write_text("q1 Q0 d1 1 high t\n", encoding="utf-8")
    assert main([files[0], str(bad)]) == 2
    assert "bad, line 1" in capsys.readouterr().err


OF_QRELS = [name for name in MEASURES if "qrels" in formats_of(name)]
COMBINATIONS = [
    [],
    ["-l", "2"],
    ["-M", "1", "-c"],
    ["-J", "-N", "100"],
    ["-c", "-J", "-l", "2", "-M", "2", "-N", "9", "-o"],
]


@pytest.mark.parametrize("options", COMBINATIONS, ids=" ".join)
@pytest.mark.whole("half a second a case", quick=1)
def test_a_measure_prints_by_itself_what_it_prints_among_all(options, printed):
    together = printed("-q", *options, *(option for name in OF_QRELS for option in ("-m", name)))
    alone = {name: printed("-q", *options, "-m", name) for name in OF_QRELS}
    assert all(alone[name] for name in OF_QRELS)
    assert sorted(line for lines in alone.values() for line in lines) == sorted(together)


@pytest.mark.skipif(not DATA.exists(), reason="the real data are not here")
@pytest.mark.parametrize("name", ["MU03rob01", "humR03dc"])
@pytest.mark.whole("a second a case", quick=1)
def test_options_change_what_is_looked_at(name, tmp_path, capsys):
    run, qrels = ir.read_run(DATA / f"{name}.run.gz"), ir.read_qrels(DATA / "qrels.txt.gz")
    sources = str(DATA / "qrels.txt.gz"), str(DATA / f"{name}.run.gz")
    rank = pl.struct("score", "doc_id").rank("ordinal", descending=True).over("query_id")
    ir.write_run(run.filter(rank <= 7), tmp_path / "first", tag=name)
    ir.write_run(run.join(qrels, on=["query_id", "doc_id"], how="semi"), tmp_path / "judged", tag=name)
    ir.write_qrels(qrels.with_columns(relevance=(pl.col("relevance") >= 2).cast(pl.Int8)), tmp_path / "level")

    def lines(*arguments):
        assert main(["-q", "-c", "-m", "official", *map(str, arguments)]) == 0
        return capsys.readouterr().out

    assert lines("-M", "7", *sources) == lines(sources[0], tmp_path / "first")
    assert lines("-J", *sources) == lines(sources[0], tmp_path / "judged")
    assert lines("-l", "2", *sources) == lines(tmp_path / "level", sources[1])
