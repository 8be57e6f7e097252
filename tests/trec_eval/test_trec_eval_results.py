"""The output of trec_eval is read as a per-query frame, and a per-query frame is written as that output."""

import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of
from polars.testing import assert_frame_equal
from suite import examples

import polars_ir as ir
from polars_ir.cli.trec_eval import main
from polars_ir.trec_eval.measures import COUNTS, MEASURES, our_name, trec_eval_name
from polars_ir.trec_eval.results import write_trec_eval

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"
PRINTED = "runid \tall\tmine\nmap                   \tq1\t0.2500\nP_5  q1  0.4\n\nmap\tq2\t1\nmap\tall\t0.6250\n"


def test_figures_of_topics_are_a_row_per_topic_under_our_names(tmp_path):
    (tmp_path / "a.eval").write_text(PRINTED, encoding="utf-8")
    found = ir.read_trec_eval(tmp_path / "a.eval")
    assert found.to_dict(as_series=False) == {"query_id": ["q1", "q2"], "AP": [0.25, 1.0], "P@5": [0.4, None]}


def test_several_files_are_several_systems(tmp_path):
    (tmp_path / "a.eval").write_text(PRINTED, encoding="utf-8")
    (tmp_path / "b.eval").write_text(PRINTED.replace("mine", "other"), encoding="utf-8")
    assert ir.read_trec_eval(tmp_path / "*.eval").select("run", "AP").rows() == [
        ("mine", 0.25),
        ("mine", 1.0),
        ("other", 0.25),
        ("other", 1.0),
    ]
    (tmp_path / "b.eval").write_text(PRINTED, encoding="utf-8")
    assert ir.read_trec_eval(tmp_path / "*.eval")["run"].unique(maintain_order=True).to_list() == ["a.eval", "b.eval"]


def test_what_we_print_is_what_we_evaluate(tmp_path, capsys):
    pydocs = ir.datasets.load("pydocs")
    run = pydocs.runs.filter(run="bm25").drop("run")
    ir.write_run(run, tmp_path / "bm25.run")
    ir.write_qrels(pydocs.qrels, tmp_path / "qrels.txt")
    assert (
        main(["-c", "-q", "-m", "map", "-m", "ndcg_cut.10", str(tmp_path / "qrels.txt"), str(tmp_path / "bm25.run")])
        == 0
    )
    (tmp_path / "bm25.eval").write_text(capsys.readouterr().out, encoding="utf-8")
    wanted = run.ir.evaluate(pydocs.qrels, ["AP", "nDCG@10"])
    assert_frame_equal(ir.read_trec_eval(tmp_path / "bm25.eval"), wanted, abs_tol=5.1e-5)


@pytest.mark.skipif(not DATA.exists(), reason="the real data are not here")
def test_the_output_of_trec_eval_on_a_real_run_is_read_whole():
    source = DATA / "expected" / "humR03dc.trec_eval-10.tsv.gz"
    found = ir.read_trec_eval(source)
    assert found.shape == (100, 96)
    assert found["Rprec"].equals(found["Rprec_mult_1.00"])
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        values = {tuple(line.split("\t")[:2]): line.split("\t")[2].strip() for line in lines}
    assert found.filter(query_id="601").select("AP", "nDCG@10", "IPrec@0.1").row(0) == tuple(
        float(values[name, "601"]) for name in ("map", "ndcg_cut_10", "iprec_at_recall_0.10")
    )


WRONG = {
    "two fields": ("map q1\n", "line 1: a line of trec_eval has three fields"),
    "no number": ("map q1 0.5\nmap q2 high\n", "line 2: the value of a measure must be a number"),
    "a figure twice": ("map q1 0.5\nmap q1 0.5\n", "line 2: this figure occurs twice"),
    "a summary alone": ("map all 0.5\n", "trec_eval prints them with -q"),
    "nothing": ("\n", "the file is empty"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_output_of_trec_eval_is_told(text, message, tmp_path):
    (tmp_path / "a.eval").write_text(text, encoding="utf-8")
    assert message in message_of(lambda: ir.read_trec_eval(tmp_path / "a.eval"))


def test_a_measure_that_is_not_known_keeps_its_name(tmp_path):
    (tmp_path / "a.eval").write_text("mine q1 0.5\n", encoding="utf-8")
    assert ir.read_trec_eval(tmp_path / "a.eval").equals(pl.DataFrame({"query_id": ["q1"], "mine": [0.5]}))


PER_QUERY = pl.DataFrame(
    {"query_id": ["q1", "q2"], "nDCG@10": [0.5, None], "AP": [0.25, 1.0], "NumRel": [2, 1], "mine": [True, False]}
)


def test_a_frame_is_written_as_trec_eval_prints_it(tmp_path):
    write_trec_eval(PER_QUERY, tmp_path / "a.eval", tag="bm25")
    assert (tmp_path / "a.eval").read_text(encoding="utf-8") == (
        "num_rel               \tq1\t2\n"
        "map                   \tq1\t0.2500\n"
        "ndcg_cut_10           \tq1\t0.5000\n"
        "mine                  \tq1\t1.0000\n"
        "num_rel               \tq2\t1\n"
        "map                   \tq2\t1.0000\n"
        "mine                  \tq2\t0.0000\n"
        "runid                 \tall\tbm25\n"
        "num_q                 \tall\t2\n"
        "num_rel               \tall\t3\n"
        "map                   \tall\t0.6250\n"
        "ndcg_cut_10           \tall\t0.5000\n"
        "mine                  \tall\t0.5000\n"
    )


def fields_of(file):
    return [tuple(line.split()) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_geometric_mean_is_in_the_summary_only(tmp_path):
    frame = pl.DataFrame({"query_id": ["q1", "q2"], "GMAP": [0.25, 1.0], "GMAP(rel=2)": [0.0, 1.0], "NumQ": [1, 1]})
    write_trec_eval(frame, tmp_path / "a.eval", tag="t")
    assert fields_of(tmp_path / "a.eval") == [
        ("runid", "all", "t"),
        ("num_q", "all", "2"),
        ("gm_map", "all", "0.5000"),
        ("GMAP(rel=2)", "all", "0.0032"),
    ]


def test_counts_of_any_level_are_added_up_and_their_means_are_fractions(tmp_path):
    frame = pl.DataFrame({"query_id": ["q1", "q2"], "NumRel(rel=2)": [2, 1], "NumRet": [1.5, 2.0]})
    write_trec_eval(frame, tmp_path / "a.eval")
    values = {fields[:2]: fields[2] for fields in fields_of(tmp_path / "a.eval")}
    assert values["NumRel(rel=2)", "all"] == "3"
    assert [values["num_ret", topic] for topic in ("q1", "q2", "all")] == ["1.5000", "2", "3.5000"]


@pytest.mark.parametrize("digits", [1, 4, 12])
def test_digits_are_as_many_as_were_asked_for(digits, tmp_path):
    write_trec_eval(pl.DataFrame({"query_id": ["q1"], "AP": [2 / 3]}), tmp_path / "a.eval", digits=digits)
    assert fields_of(tmp_path / "a.eval")[0] == ("map", "q1", f"{2 / 3:.{digits}f}")


def test_several_systems_have_a_file_each(tmp_path):
    frame = pl.concat([PER_QUERY.select(pl.lit(name).alias("run"), pl.all()) for name in ("a", "b")])
    write_trec_eval(frame, tmp_path / "{run}.eval")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.eval", "b.eval"]
    assert ("runid", "all", "b") in fields_of(tmp_path / "b.eval")
    found = ir.read_trec_eval(tmp_path / "*.eval")
    assert found.select("run", "query_id", "AP").equals(frame.select("run", "query_id", "AP"))


def test_one_system_in_a_column_names_the_file(tmp_path):
    write_trec_eval(PER_QUERY.select(pl.lit("a").alias("system"), pl.all()), tmp_path / "one.eval")
    assert ("runid", "all", "a") in fields_of(tmp_path / "one.eval")


@pytest.mark.parametrize("kind", [pl.DataFrame.lazy, pl.DataFrame.to_pandas], ids=["lazy", "pandas"])
def test_every_kind_of_frame_is_written(kind, tmp_path):
    frame = PER_QUERY.select("query_id", "AP")
    write_trec_eval(kind(frame), tmp_path / "a.eval.gz")
    assert gzip.decompress((tmp_path / "a.eval.gz").read_bytes()).startswith(b"map ")
    assert_frame_equal(ir.read_trec_eval(tmp_path / "a.eval.gz"), frame)


def canonical():
    """Names of measures that `evaluate` gives to columns, and users' own."""
    plain = [name for name in MEASURES if MEASURES[name] == "" and name not in ("runid", "num_q", "gm_map", "gm_bpref")]
    several = [f"{name}_{number}" for name, usual in MEASURES.items() if usual for number in usual.split(",")]
    given = ["ndcg_1=1,2=4", "rbp_p=0.5", "set_F_0.5", "utility_2,-1,0,0", "P(rel=2)@5", "ERR@20", "RBP", "mine", "é"]
    return sorted({our_name(name) for name in [*plain, *several, *given]})


WORDS = st.text(st.characters(blacklist_categories=["Z", "C"]), min_size=1).filter(lambda word: word != "all")
VALUES = st.none() | st.floats(0, 1)


@examples(60)
@given(
    names=st.lists(st.sampled_from(canonical()), min_size=1, max_size=8, unique=True),
    topics=st.lists(WORDS, min_size=1, max_size=4, unique=True),
    digits=st.integers(1, 17),
    data=st.data(),
)
def test_what_is_written_reads_back_to_the_digits(names, topics, digits, data, tmp_path):
    counts = [trec_eval_name(name)[0] in COUNTS for name in names]
    columns = {
        name: data.draw(st.lists(st.integers(0, 9) if count else VALUES, min_size=len(topics), max_size=len(topics)))
        for name, count in zip(names, counts, strict=True)
    }
    wanted = pl.DataFrame({"query_id": topics, **columns}).with_columns(pl.col(names).cast(pl.Float64))
    wanted = wanted.filter(pl.any_horizontal(pl.col(names).is_not_null()))
    wanted = wanted.drop(name for name in names if wanted[name].null_count() == wanted.height)
    if wanted.is_empty():
        return
    write_trec_eval(wanted, tmp_path / "a.eval", digits=digits)
    found = ir.read_trec_eval(tmp_path / "a.eval")
    assert_frame_equal(found, wanted, check_column_order=False, rel_tol=0, abs_tol=0.5 * 10**-digits + 1e-15)


def test_what_was_read_is_written_again_under_the_same_names(tmp_path):
    text = "".join(f"{name:<22}\tq1\t0.5000\n" for name in ("Rprec", "Rprec_mult_1.00", "P_5", "P_10", "ndcg_cut_5"))
    (tmp_path / "a.eval").write_text(text, encoding="utf-8")
    write_trec_eval(ir.read_trec_eval(tmp_path / "a.eval"), tmp_path / "b.eval")
    written = (tmp_path / "b.eval").read_text(encoding="utf-8").splitlines(keepends=True)
    assert sorted(line for line in written if "\tall\t" not in line) == sorted(text.splitlines(keepends=True))


@pytest.mark.skipif(not DATA.exists(), reason="the real data are not here")
@pytest.mark.parametrize("name", ["pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc"])
@pytest.mark.whole("more than half a second a case", quick=1)
def test_what_is_written_of_a_real_run_is_what_the_command_prints(name, tmp_path, capsys):
    # A graded rbp has no name for its gains; what two names stand for has one column.
    left_out = ("relstring", "rbp", "Rprec_mult_1.00")
    run, qrels = DATA / f"{name}.run.gz", DATA / "qrels.txt.gz"
    assert main(["-q", "-m", "all_trec", str(qrels), str(run)]) == 0
    wanted = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(left_out)]
    measures = sorted({line.split()[0] for line in wanted} - {"runid", "num_q"})
    per_query = ir.read_run(run).ir.evaluate(ir.read_qrels(qrels), measures, missing="skip")
    write_trec_eval(per_query, tmp_path / "a.eval", tag=name)
    assert (tmp_path / "a.eval").read_text(encoding="utf-8").splitlines() == wanted


def spoilt(**columns):
    return PER_QUERY.with_columns(pl.Series(name, values) for name, values in columns.items())


NOT_WRITTEN = {
    "a topic with a blank": (
        spoilt(query_id=["a b", "c"]),
        {},
        "per_query has 1 row whose topic is no field of a line of trec_eval (empty, with a blank, or 'all'). Rename it",
    ),
    "a topic called all": (spoilt(query_id=["all", "c"]), {}, "whose topic is no field"),
    "a topic that is null": (spoilt(query_id=[None, "c"]), {}, "whose topic is no field"),
    "a topic twice": (spoilt(query_id=["c", "c"]), {}, "per_query has 2 rows of a topic that occurs twice."),
    "no row": (PER_QUERY.clear(), {}, "per_query has no row"),
    "no measure": (PER_QUERY.select("query_id"), {}, "per_query has no measure"),
    "a value that is NaN": (spoilt(AP=[float("nan"), 1.0]), {}, "NaN"),
    "a measure with a blank": (
        PER_QUERY.rename({"AP": "AP low"}),
        {},
        "which is no name for a line of trec_eval. Rename it: per_query.rename({'AP low': 'mine'}).",
    ),
    "a measure that would be a text": (PER_QUERY.rename({"AP": "relstring"}), {}, "which is no name for a line"),
    "a measure under two names": (
        PER_QUERY.with_columns(map=0.5),
        {},
        "per_query has the measure map twice, in 'AP' and 'map'. Drop one of them.",
    ),
    "several systems in one file": (
        pl.DataFrame({"run": ["a", "b"], "query_id": ["q", "q"], "AP": [1.0, 0.5]}),
        {},
        "trec_eval prints one system. Write each to its own file: path='{run}.eval'.",
    ),
    "a tag of two words": (PER_QUERY, {"tag": "my run"}, "the runid must be a word; got 'my run'. Name it: tag='mine'"),
    "no digits": (PER_QUERY, {"digits": 0}, "digits must be a whole number from 1 to 17; got 0."),
    "digits that are no number": (PER_QUERY, {"digits": "4"}, "digits must be a whole number from 1 to 17; got '4'."),
    "a misspelt option": (PER_QUERY, {"digit": 4}, "digits"),
}


@pytest.mark.parametrize(("frame", "options", "message"), NOT_WRITTEN.values(), ids=NOT_WRITTEN)
def test_what_can_not_be_written_is_told_and_the_old_file_stays(frame, options, message, tmp_path):
    (tmp_path / "a.eval").write_text("what was there", encoding="utf-8")
    assert message in message_of(lambda: write_trec_eval(frame, tmp_path / "a.eval", **options))
    assert [file.read_text(encoding="utf-8") for file in tmp_path.iterdir()] == ["what was there"]


def test_a_system_that_can_not_be_written_leaves_the_files_of_all(tmp_path):
    frame = pl.DataFrame({"run": ["a", "b", "b"], "query_id": ["q", "q", "q"], "AP": [1.0, 0.5, 0.5]})
    with pytest.raises(ir.IRError, match="per_query has 2 rows of a topic that occurs twice"):
        write_trec_eval(frame, tmp_path / "{run}.eval")
    assert list(tmp_path.iterdir()) == []


def test_a_file_each_needs_systems(tmp_path):
    with pytest.raises(ir.IRError, match="per_query has no column of systems"):
        write_trec_eval(PER_QUERY, tmp_path / "{run}.eval")
    with pytest.raises(ir.IRError, match="path must be the path of a file; got int"):
        write_trec_eval(PER_QUERY, 3)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("map q1 nan", ", line 1: the value of a measure must be a number."),
        ("map q1 0.1\n\0 x 0.1", ", line 2: a NUL byte; is this a binary file?"),
        ("map q1 0.1\ntopic q1 1", ", line 2: this cannot name a measure; rename it."),
        ("query_id q1 1", ", line 1: this cannot name a measure; rename it."),
        ("run q1 1", ", line 1: this cannot name a measure; rename it."),
        ("map q1 0.1\nAP q1 0.2", ": the measure AP occurs under two names; leave one of them out."),
    ],
)
def test_what_is_no_figure_is_refused(tmp_path, lines, said):
    (path := tmp_path / "a.eval").write_text(f"\ufeff{lines}\n", encoding="utf-8")
    with pytest.raises(ir.IRError) as error:
        ir.read_trec_eval(path)
    assert str(error.value).partition("\n")[0] == f"{path}{said}"


def test_a_byte_order_mark_is_no_part_of_a_measure(tmp_path):
    (path := tmp_path / "a.eval").write_text("\ufeffmap q1 0.1\n", encoding="utf-8")
    assert ir.read_trec_eval(path).to_dicts() == [{"query_id": "q1", "AP": 0.1}]
    with pytest.raises(ir.IRError, match="source names this file twice"):
        ir.read_trec_eval([path, path])
