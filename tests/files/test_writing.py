"""Written files read back equal, and a write that fails changes nothing."""

import gzip
import json
import math
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of
from polars.testing import assert_frame_equal
from suite import examples

import polars_ir as ir
from polars_ir.files import tag_of, writers
from polars_ir.files.formats import FORMATS
from polars_ir.files.writing import checks

RUN = pl.DataFrame(
    {"query_id": ["q2", "q1", "q1"], "doc_id": ["d1", "d1", 'd"2'], "score": [1e-7, 0.1 + 0.2, float("inf")]}
)
QRELS = pl.DataFrame({"query_id": ["q2", "q1", "q1"], "doc_id": ["d1", "d3", "d2"], "relevance": [1, -1, 2]})
ENDINGS = [".run", ".run.gz", ".run.zst", ".parquet", ".csv", ".csv.gz", ".tsv", ".arrow", ".ndjson", ".jsonl.zst"]

IDS = st.text(st.characters(blacklist_categories=["Z", "C"]), min_size=1).filter(lambda name: name[0] != "#")
RUNS = st.dictionaries(IDS, st.dictionaries(IDS, st.floats(allow_nan=False), min_size=1), min_size=1)


def ids(frame, *columns):
    return frame.select("query_id", "doc_id", *columns).sort("query_id", "doc_id")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("lazy", [False, True])
def test_a_run_reads_back_equal(ending, lazy, tmp_path):
    run = RUN.head(2) if "json" in ending else RUN  # JSON has no infinity
    ir.write_run(run.lazy() if lazy else run, tmp_path / f"a{ending}")
    assert_frame_equal(ids(ir.read_run(tmp_path / f"a{ending}"), "score"), ids(run, "score"), check_exact=True)


@pytest.mark.parametrize("ending", [*ENDINGS, ".txt"])
def test_judgments_read_back_equal(ending, tmp_path):
    ir.write_qrels(QRELS, tmp_path / f"a{ending}")
    assert_frame_equal(ids(ir.read_qrels(tmp_path / f"a{ending}"), "relevance"), ids(QRELS, "relevance"))


@pytest.mark.parametrize("format", ["json", "msmarco"])
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_other_tools_formats_read_back_equal(format, ending, tmp_path):
    run, file = RUN.head(2), tmp_path / f"a.txt{ending}"
    ir.write_run(run.lazy(), file, format=format)
    assert_frame_equal(ids(ir.read_run(file, format=format), "score"), ids(run, "score"), check_exact=True)
    ir.write_qrels(QRELS, file, format=format)
    assert_frame_equal(ids(ir.read_qrels(file, format=format), "relevance"), ids(QRELS, "relevance"))


def test_json_is_what_ranx_and_pytrec_eval_take(tmp_path):
    ir.write_run(RUN.head(2), tmp_path / "run.json")
    ir.write_qrels(pl.concat([QRELS, pl.DataFrame({"query_id": "q3"})], how="diagonal"), tmp_path / "qrels.json")
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == {
        "q1": {"d1": 0.1 + 0.2},
        "q2": {"d1": 1e-7},
    }
    wanted = {"q1": {"d3": -1, "d2": 2}, "q2": {"d1": 1}, "q3": {}}
    assert json.loads((tmp_path / "qrels.json").read_text(encoding="utf-8")) == wanted
    assert ir.read_qrels(tmp_path / "qrels.json").filter(query_id="q3").rows() == [("q3", None, None)]


def test_preferences_read_back_equal(tmp_path):
    columns = {"query_id": ["q", "q"], "judge": ["a", "a"], "group": ["1", "2"], "doc_id": ["d1", "d1"]}
    preferences = pl.DataFrame({**columns, "relevance": [2, 1]})
    ir.write_qrels(preferences, tmp_path / "a.txt", format="preferences")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "q a 1 d1 2\nq a 2 d1 1\n"
    assert_frame_equal(ir.read_qrels(tmp_path / "a.txt", format="preferences"), preferences)
    with pytest.raises(ir.IRError, match="no 'group' column"):
        ir.write_qrels(preferences.drop("group"), tmp_path / "a.txt", format="preferences")


@pytest.mark.parametrize("format", ["trec", "json", "msmarco"])
def test_several_systems_are_no_file_of_one(format, tmp_path):
    two = pl.concat([RUN.with_columns(run=pl.lit(name)) for name in ("a", "b")])
    with pytest.raises(ir.IRError, match=f"a file of {format} holds one system"):
        ir.write_run(two, tmp_path / "a", format=format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.DataFrame.lazy, lambda frame: {"mine": frame.drop("run")}])
@pytest.mark.parametrize("format", ["trec", "json", "msmarco"])
def test_a_run_whose_column_of_systems_holds_one_is_written(kind, format, tmp_path):
    run = pl.DataFrame({"run": "mine", "query_id": ["q1", "q2"], "doc_id": "d", "score": [1.0, 2.0]})
    ir.write_run(kind(run), tmp_path / "a", format=format)
    assert ids(ir.read_run(tmp_path / "a", format=format), "score").rows() == [("q1", "d", 1.0), ("q2", "d", 2.0)]
    if format == "trec":
        assert tag_of(tmp_path / "a") == "mine"
        ir.write_run(run, tmp_path / "a", tag="another")
        assert tag_of(tmp_path / "a") == "another"


def test_no_rows_of_systems_are_still_no_file(tmp_path):
    run = pl.DataFrame(schema={"run": pl.String, "query_id": pl.String, "doc_id": pl.String, "score": pl.Float64})
    with pytest.raises(ir.IRError, match="run has no row"):
        ir.write_run(run, tmp_path / "a.run")
    ir.write_run(run, tmp_path / "a.parquet")
    assert set(ir.read_run(tmp_path / "a.parquet").columns) == set(run.columns)


@pytest.mark.parametrize("ending", ["run", "json", "ndjson", "csv", "parquet", "arrow"])
@pytest.mark.parametrize("dtype", [pl.Decimal(20, 4), pl.Float32, pl.Int8, pl.UInt64])
def test_scores_of_any_number_type_are_written(dtype, ending, tmp_path):
    run = pl.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": pl.Series([3, 2]).cast(dtype)})
    ir.write_run(run, tmp_path / f"a.{ending}")
    found = ir.read_run(tmp_path / f"a.{ending}")
    assert found.select("doc_id", pl.col("score").cast(pl.Float64)).rows() == [("a", 3.0), ("b", 2.0)]


@examples(60)
@given(run=RUNS)
def test_any_ids_and_scores_read_back_equal(run, tmp_path):
    wanted = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    frame = pl.DataFrame(wanted, schema=RUN.schema, orient="row")
    for ending in (".run", ".csv"):
        ir.write_run(frame, tmp_path / f"a{ending}")
        found = ir.read_run(tmp_path / f"a{ending}")
        assert_frame_equal(ids(found, "score"), ids(frame, "score"), check_exact=True)


def test_a_run_is_written_in_the_order_of_its_ranking(tmp_path):
    ir.write_run(RUN, tmp_path / "a.run", tag="mine")
    assert (tmp_path / "a.run").read_text(encoding="utf-8").splitlines() == [
        'q1 Q0 d"2 1 inf mine',
        "q1 Q0 d1 2 0.30000000000000004 mine",
        "q2 Q0 d1 1 1e-7 mine",
    ]


def test_a_compressed_file_is_compressed(tmp_path):
    ir.write_run(RUN, tmp_path / "a.run.gz")
    assert gzip.decompress((tmp_path / "a.run.gz").read_bytes()).startswith(b"q1 Q0")


def test_several_systems_are_written_to_a_file_each(tmp_path):
    ir.write_run({"a": RUN, "b": RUN.head(1)}, tmp_path / "{run}.run.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.run.gz", "b.run.gz"]
    found = ir.read_run(tmp_path / "*.run.gz")
    assert found.group_by("run").len().sort("run").rows() == [("a", 3), ("b", 1)]


def test_several_systems_are_a_column_of_a_table(tmp_path):
    ir.write_run({"a": RUN, "b": RUN.head(1)}, tmp_path / "both.parquet")
    assert ir.read_run(tmp_path / "both.parquet")["run"].value_counts().sort("run").rows() == [("a", 3), ("b", 1)]


def test_beir_is_written_under_beirs_names(tmp_path):
    ir.write_qrels(QRELS, tmp_path / "test.tsv", format="beir")
    assert (tmp_path / "test.tsv").read_text(encoding="utf-8").splitlines()[0] == "query-id\tcorpus-id\tscore"
    assert_frame_equal(ids(ir.read_qrels(tmp_path / "test.tsv"), "relevance"), ids(QRELS, "relevance"))


def test_subtopics_read_back_equal(tmp_path):
    qrels = QRELS.with_columns(subtopic=pl.Series(["1", "2", "1"]))
    ir.write_qrels(qrels, tmp_path / "a.txt", format="subtopics")
    found = ir.read_qrels(tmp_path / "a.txt", format="subtopics")
    assert_frame_equal(ids(found, "subtopic", "relevance"), ids(qrels, "subtopic", "relevance"))


def test_a_document_twice_is_not_written_where_one_of_it_would_be_lost(tmp_path):
    run = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["d1", "d2", "d1"], "score": [3.0, 2.0, 1.0]})
    assert message_of(lambda: ir.write_run(run, tmp_path / "run.json")).startswith(
        "run has 2 rows that repeat the ids of another (query_id, doc_id). Keep one of each, or write a table "
        "(.parquet, .csv). The first:\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format", ["trec", "beir"])
def test_judgments_of_subtopics_are_not_written_as_if_of_documents(format, tmp_path):
    qrels = pl.DataFrame({"query_id": ["q"] * 2, "subtopic": ["1", "2"], "doc_id": ["d"] * 2, "relevance": [1, 0]})
    assert message_of(lambda: ir.write_qrels(qrels, tmp_path / "qrels", format=format)).startswith(
        "qrels has 2 rows that repeat the ids of another (query_id, doc_id). Keep one of each; of subtopics or judges, "
        "write that format or a table (.parquet, .csv). The first:\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_query_without_documents_is_no_row_of_beir(tmp_path):
    with pytest.raises(ir.IRError, match=r"^qrels has 1 row without a document\. Leave them out, or write a table"):
        ir.write_qrels({"q": {}}, tmp_path / "test.tsv", format="beir")


def test_integer_ids_and_dicts_are_written(tmp_path):
    ir.write_run(pl.DataFrame({"qid": [1], "docno": [7], "sim": [2]}), tmp_path / "a.run")
    ir.write_qrels({"1": {"7": 1}}, tmp_path / "a.qrels")
    assert (tmp_path / "a.run").read_text(encoding="utf-8") == "1 Q0 7 1 2 polars_ir\n"
    assert (tmp_path / "a.qrels").read_text(encoding="utf-8") == "1 0 7 1\n"


@pytest.mark.parametrize("at_once", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("ending", [".run", ".run.gz", ".run.zst"])
@pytest.mark.whole("many cases", quick=8)
def test_a_run_written_in_parts_is_the_run_written_at_once(at_once, lazy, ending, tmp_path, monkeypatch):
    queries = [f"q{i}" for i in range(12) for _ in range(i % 4)]
    run = pl.DataFrame({"query_id": queries}).with_columns(
        doc_id=pl.format("d{}", pl.int_range(pl.len())), score=pl.int_range(pl.len()).hash(0) % 3
    )
    ir.write_run(run, tmp_path / "whole.run")
    monkeypatch.setattr(checks, "ROWS_AT_ONCE", at_once)
    ir.write_run(run.lazy() if lazy else run, tmp_path / f"parts{ending}")
    parts, whole = (ir.read_run(tmp_path / name) for name in (f"parts{ending}", "whole.run"))
    assert parts.equals(whole)


def test_integer_queries_are_written_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "ROWS_AT_ONCE", 1)
    ir.write_run(pl.LazyFrame({"query_id": [10, 9], "doc_id": ["a", "b"], "score": [1, 2]}), tmp_path / "a.run")
    assert (tmp_path / "a.run").read_text(encoding="utf-8") == "9 Q0 b 1 2 polars_ir\n10 Q0 a 1 1 polars_ir\n"


def test_systems_named_by_numbers_have_a_file_each(tmp_path):
    run = pl.DataFrame({"run": [1, 2], "query_id": "q", "doc_id": "d", "score": 1.0})
    ir.write_run(run, tmp_path / "{run}.run")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.run", "2.run"]
    assert (tmp_path / "2.run").read_text(encoding="utf-8") == "q Q0 d 1 1.0 2\n"


def test_a_sink_is_a_writer():
    assert writers.sink_run is ir.write_run
    assert writers.sink_qrels is ir.write_qrels


@pytest.mark.parametrize("score", [None, float("nan")])
def test_a_score_that_is_none_is_told_of_a_plan_too(score, tmp_path):
    (tmp_path / "a.run").write_text("what was there", encoding="utf-8")
    run = pl.LazyFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, score]})
    with pytest.raises(ir.IRError, match="run has 1 row whose score is null or NaN"):
        ir.write_run(run, tmp_path / "a.run")
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["what was there"]


def spoilt(**columns):
    return RUN.with_columns(pl.Series(name, values) for name, values in columns.items())


WRONG = {
    "an id with a blank": (spoilt(doc_id=["a b", "c", "d"]), "a.run", {}, ["1 row", "no fields of a TREC file", "a b"]),
    "an id with a newline": (spoilt(doc_id=["a\nb", "c", "d"]), "a.run", {}, ["no fields of a TREC file"]),
    "an empty id": (spoilt(doc_id=["", "c", "d"]), "a.run", {}, ["no fields of a TREC file"]),
    "a query that looks like a comment": (spoilt(query_id=["#1", "c", "d"]), "a.run", {}, ["begins with #"]),
    "a tag with a blank": (RUN, "a.run", {"tag": "my run"}, ["no fields of a TREC file", "my run"]),
    "a folder that is not there": (RUN, "no/a.run", {}, ["a.run", "cannot be written"]),
    "a score that is null": (spoilt(score=[None, 1.0, 2.0]), "a.run", {}, ["whose 'score' is null"]),
    "an infinite score in JSON": (RUN, "a.jsonl", {}, ["1 row", "infinite", "JSON"]),
    "an unknown format": (RUN, "a.run", {"format": "treck"}, ["format must be one of 'trec'", "'treck'"]),
    "a table that is compressed twice": (RUN, "a.parquet.gz", {}, ["leave out .gz"]),
    "systems without a file each": ({"a": RUN, "b": RUN}, "a.run", {}, ["one system", "{run}"]),
    "a file each without systems": (RUN, "{run}.run", {}, ["no column of systems"]),
}


@pytest.mark.parametrize(("run", "path", "options", "parts"), WRONG.values(), ids=WRONG)
def test_a_write_that_fails_says_why_and_leaves_the_old_file(run, path, options, parts, tmp_path):
    old = tmp_path / path
    if old.parent.exists():
        old.write_text("what was there", encoding="utf-8")
    with pytest.raises(ir.IRError) as error:
        ir.write_run(run, old, **options)
    assert all(part in str(error.value) for part in parts), str(error.value)
    assert [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*")] == (
        ["what was there"] if old.parent.exists() else []
    )


def test_a_plan_that_fails_leaves_the_old_file(tmp_path):
    (tmp_path / "bad.csv").write_text("query_id,doc_id,score\nq,d,1\n" + "q,d,high\n" * 2000, encoding="utf-8")
    (tmp_path / "a.parquet").write_text("what was there", encoding="utf-8")
    bad = pl.scan_csv(tmp_path / "bad.csv", infer_schema_length=1)
    with pytest.raises(pl.exceptions.PolarsError):
        ir.write_run(bad, tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").read_text(encoding="utf-8") == "what was there"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["a/b", "../b", "..", ""])
def test_a_system_does_not_name_a_file_elsewhere(name, tmp_path):
    (tmp_path / "runs").mkdir()
    run = pl.DataFrame({"run": ["a", name], "query_id": "q", "doc_id": "d", "score": 1.0})
    with pytest.raises(ir.IRError, match="which cannot be in a file name"):
        ir.write_run(run, tmp_path / "runs" / "{run}")
    assert list((tmp_path / "runs").iterdir()) == []
    assert list(tmp_path.iterdir()) == [tmp_path / "runs"]


def test_a_link_stays_and_leads_to_what_was_written(tmp_path):
    (tmp_path / "old").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "old")
    ir.write_run({"q": {"d": 1}}, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "old").read_text(encoding="utf-8") == "q Q0 d 1 1 polars_ir\n"


@pytest.mark.parametrize("format", ["trec", "tsv"])
def test_a_pipe_is_written_into(format, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as other:
        read = other.submit(pipe.read_text, encoding="utf-8")
        ir.write_run({"q": {"d": 1}}, pipe, format=format)
        assert read.result(timeout=900).splitlines()[-1].startswith("q")
    assert pipe.is_fifo()


@pytest.mark.parametrize("path", ["a\0b.run", "a\ud800.run"])
def test_a_name_that_no_file_can_have_is_an_error(path):
    with pytest.raises(ir.IRError, match=r"no file can have this name: it has a NUL, or is not text\.$"):
        ir.write_run(RUN, path)
    with pytest.raises(ir.IRError, match="no file can have this name"):
        ir.write_trec_eval(pl.DataFrame({"query_id": "q", "AP": 0.5}), path)


def test_a_name_that_is_too_long_is_an_error(tmp_path):
    path = tmp_path / ("x" * 300 + ".run")
    with pytest.raises(ir.IRError, match=r": cannot be written: File name too long\.$"):
        ir.write_run(RUN, path)
    for read in (ir.read_run, ir.scan_run, ir.read_qrels, ir.read_trec_eval, ir.read_beir):
        with pytest.raises(ir.IRError, match=r"this path cannot be read|no such folder"):
            read(path)


@pytest.mark.parametrize("name", ["a\0b", "x" * 252, "é" * 126])
def test_a_system_of_which_no_file_can_be_named_is_told_before_any_is_written(name, tmp_path):
    run = pl.DataFrame({"run": ["a", name], "query_id": "q", "doc_id": "d", "score": 1.0})
    with pytest.raises(ir.IRError, match=r"which cannot be in a file name\. Rename it\.$"):
        ir.write_run(run, tmp_path / "{run}.run")
    assert list(tmp_path.iterdir()) == []


def test_a_system_of_the_longest_name_has_a_file(tmp_path):
    run = pl.DataFrame({"run": ["x" * 251], "query_id": "q", "doc_id": "d", "score": 1.0})
    ir.write_run(run, tmp_path / "{run}.run")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


def test_a_tag_that_is_no_text_is_an_error(tmp_path):
    with pytest.raises(ir.IRError, match="tag must be text without an unpaired surrogate, or None"):
        ir.write_run(RUN, tmp_path / "a.run", tag="a\ud800")


EMPTY = [(format.name, role) for format in FORMATS for role in format.writer.frames]


@pytest.mark.parametrize(("format", "role"), EMPTY)
def test_a_table_without_rows_is_written_so_that_it_can_be_read_or_not_at_all(format, role, tmp_path):
    table, path = (RUN if role == "run" else QRELS).clear(), tmp_path / "a"
    table = table.with_columns(pl.lit("").alias(name) for name in ("subtopic", "judge", "group", "stratum"))
    table = table.with_columns(inclusion_probability=pl.lit(0.5))
    write, read = (ir.write_run, ir.read_run) if role == "run" else (ir.write_qrels, ir.read_qrels)
    try:
        write(table, path, format=format)
    except ir.IRError as error:
        assert str(error) == (  # noqa: PT017  # an error is one of two ways
            f"{role} has no rows, and an empty file of this format cannot be read. Write a table (.parquet, .csv)."
        )
        assert not path.exists()
    else:
        assert read(path, format=format).is_empty()
        assert format in ("parquet", "ipc", "csv", "tsv", "beir")


#: Ids that break lines, fields, quotes and comments, and scores at the ends of what types hold.
HOSTILE_IDS = st.one_of(
    st.sampled_from(["q1", "d1"]), st.text("aé \t\n\r\0\"',#|{[\\\ufeff\x85\u2028\x0b0.", max_size=3)
)
HOSTILE_SCORES = {
    pl.Int64: st.sampled_from([0, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**60 + 1, 2**63 - 1, -(2**63)]),
    pl.UInt64: st.sampled_from([0, 2**53 + 1, 2**63, 2**64 - 1]),
    pl.Int128: st.sampled_from([0, 2**53 + 1, 2**100 + 1]),
    pl.Decimal(38, 20): st.sampled_from(
        [Decimal(d) for d in ("0.1", "-3", "9007199254740993", "0.12345678901234567891")]
    ),
    pl.Float64: st.sampled_from([0.1 + 0.2, 1e300, 5e-324, -0.0, math.inf]),
    pl.Float32: st.floats(width=32, allow_nan=False),
}
HOSTILE_GRADES = {
    pl.Int64: HOSTILE_SCORES[pl.Int64],
    pl.UInt8: st.integers(0, 255),
    pl.Boolean: st.booleans(),
    pl.Float64: st.floats(allow_nan=False, allow_infinity=False),
    pl.Float32: st.floats(width=32, allow_nan=False, allow_infinity=False),
    pl.Decimal(15, 3): st.decimals(-(10**11), 10**11, places=3),
}


@given(st.data(), st.dictionaries(st.tuples(HOSTILE_IDS, HOSTILE_IDS), st.none(), min_size=1, max_size=3))
def test_what_is_written_reads_back_equal_or_is_refused(data, pairs):
    dtype = data.draw(st.sampled_from(list(HOSTILE_SCORES)))
    format = data.draw(st.sampled_from([format for format in FORMATS if "run" in format.writer.frames]))
    scores = [data.draw(HOSTILE_SCORES[dtype]) for _ in pairs]
    rows = sorted((query, document, score) for (query, document), score in zip(pairs, scores, strict=True))
    run = pl.DataFrame(rows, schema={"query_id": pl.String, "doc_id": pl.String, "score": dtype}, orient="row")
    with tempfile.TemporaryDirectory() as folder:
        try:
            ir.write_run(run, Path(folder, "a"), format=format.name)
        except ir.IRError:
            return
        found = ir.read_run(Path(folder, "a"), format=format.name).select("query_id", "doc_id", "score").sort(pl.all())
    assert found["score"].dtype.is_numeric()
    assert_frame_equal(found.drop("score"), run.drop("score"))
    if dtype == pl.Float32:
        # The shortest decimals that are these numbers.
        assert found["score"].cast(dtype).equals(run["score"])
        return
    # The nearest number of Float64 is equal to a Decimal of fifteen digits.
    exact = [Fraction(score) if math.isfinite(score) else score for score in found["score"]]
    near = dtype.is_decimal() and found["score"].dtype == pl.Float64
    wanted = [Fraction(float(score) if near else score) if math.isfinite(score) else score for *_, score in rows]
    assert exact == wanted


@given(st.data(), st.dictionaries(st.tuples(HOSTILE_IDS, HOSTILE_IDS), st.none(), min_size=1, max_size=3))
def test_grades_that_are_written_read_back_equal_or_are_refused(data, pairs):
    dtype = data.draw(st.sampled_from(list(HOSTILE_GRADES)))
    format = data.draw(st.sampled_from([format for format in FORMATS if "qrels" in format.writer.frames]))
    rows = sorted((query, document, data.draw(HOSTILE_GRADES[dtype])) for query, document in pairs)
    qrels = pl.DataFrame(rows, schema={"query_id": pl.String, "doc_id": pl.String, "relevance": dtype}, orient="row")
    with tempfile.TemporaryDirectory() as folder:
        try:
            ir.write_qrels(qrels, Path(folder, "a"), format=format.name)
        except ir.IRError:
            return
        found = ir.read_qrels(Path(folder, "a"), format=format.name).select(qrels.columns).sort(pl.all())
    assert_frame_equal(found.with_columns(pl.col("relevance").cast(dtype)), qrels)


@pytest.mark.parametrize(
    ("scores", "name"),
    [
        ([2**53, 2**53 + 1], "a.run"),
        ([2**53, 2**53 + 1], "a.csv"),
        ([Decimal("1.0000000000000001"), Decimal(1)], "a.ndjson"),
    ],
)
def test_scores_that_would_be_read_back_tied_are_refused(scores, name, tmp_path):
    run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": scores})
    with pytest.raises(ir.IRError, match=r"has 1 row whose score has more digits than Float64"):
        ir.write_run(run, tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz"])
def test_an_id_with_a_line_end_is_refused(name, tmp_path):
    with pytest.raises(ir.IRError, match="whose id has a line end or a NUL"):
        ir.write_run({"q": {"a\nb": 1.0}}, tmp_path / name)
