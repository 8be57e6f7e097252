"""Provenance goes along with figures, and those that were made otherwise are not compared."""

import json
import os
import pickle
import re

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.frames.provenance import _of_texts
from polars_ir.language.options import options_of
from polars_ir.runs.options import Evaluating

PYDOCS = ir.datasets.load("pydocs")
RUNS = PYDOCS.runs.filter(pl.col("run") != "chargrams")
QRELS = PYDOCS.qrels
MEASURES = ["nDCG@10", "P@5", (1 / ir.rank).max().alias("mine")]

#: Ids and grades of pydocs, by any version of Polars.
OF_PYDOCS = "44d498dc30370ffe"


OF_PER_QUERY = ir.evaluate(RUNS, QRELS, "P@5")


def of(system, qrels=QRELS, **options):
    return ir.evaluate(RUNS.filter(run=system), qrels, MEASURES, provenance=True, **options)


def judged(qrels):
    return ir.provenance(ir.evaluate(RUNS, qrels, "P@5", provenance=True))["judgments"]


def test_it_tells_the_options_the_measures_the_version_and_the_judgments():
    assert ir.provenance(of("bm25", missing="skip", names="sql", undefined=None)) == {
        "polars_ir": ir.__version__,
        "polars": pl.__version__,
        "missing": "skip",
        "undefined": None,
        "judged_only": False,
        "ties": "doc_id",
        "judges": None,
        "exclude": None,
        "history": None,
        "items": None,
        "measures": {"nDCG@10": "nDCG@10", "P@5": "P@5", "mine": None},
        "judgments": OF_PYDOCS,
    }


#: Another value of each option of `evaluate`, for judgments with a column of judges and a run with one of nights.
OTHERWISE = {
    "by": "night",
    "missing": "skip",
    "undefined": None,
    "judged_only": True,
    "ties": "best",
    "judges": "judge",
    "bounds": True,
    "names": "sql",
    "provenance": True,
    "strict": True,
    "exclude": "self",
    "duplicates": "first",
}


# History and items change the figures of the measures that read them alone, whose tests are with those of lists.
@pytest.mark.parametrize("name", [name for name in options_of(Evaluating) if name not in ("history", "items")])
def test_figures_are_not_compared_or_updated_across_an_option_that_changes_them(name):
    runs, qrels = RUNS.with_columns(night=pl.lit("a")), QRELS.with_columns(judge=pl.lit("j"))
    new, old = runs.filter(run="bm25"), runs.filter(run="tfidf")
    other = {"provenance": True, name: OTHERWISE[name]}
    stored = ir.evaluate(new, qrels, "P@5", provenance=True)
    if options_of(Evaluating)[name].changes_figures:
        with pytest.raises(ir.IRError, match=f"was made with other options: {name} is .* now"):
            ir.update(stored, new, qrels, "P@5", **{name: OTHERWISE[name]})
        with pytest.raises(ir.IRError, match=f"must be made alike; {name} is"):
            ir.compare({"new": stored.drop("run"), "old": ir.evaluate(old.drop("run"), qrels, "P@5", **other)}, "P@5")
    else:
        figures = ir.evaluate(new, qrels, "P@5", **other).select(pl.col("^(P@5|p_5)$"), "provenance")
        assert figures.rows() == stored.select("P@5", "provenance").rows()


def test_figures_are_those_without_it_and_it_is_taken_for_no_measure():
    with_it, without = (ir.evaluate(RUNS, QRELS, MEASURES, provenance=made) for made in (True, False))
    assert with_it.drop("provenance", "query_hash").equals(without)
    assert with_it.ir.mean().equals(without.ir.mean())
    assert with_it.ir.unanswered("P@5").equals(without.ir.unanswered("P@5"))


def test_the_hash_of_judgments_is_of_ids_and_grades_alone():
    assert judged(QRELS.sample(fraction=1, shuffle=True, seed=1)) == OF_PYDOCS
    assert judged(QRELS.with_columns(pl.col("relevance").cast(pl.Float32), note=pl.lit("x"))) == OF_PYDOCS
    assert judged(QRELS.rename({"relevance": "grade"}).to_pandas()) == OF_PYDOCS
    assert judged(ir.judgments(QRELS)) == OF_PYDOCS
    assert judged(QRELS.filter(pl.int_range(pl.len()) > 0)) != OF_PYDOCS
    assert judged(QRELS.with_columns(pl.col("relevance").clip(upper_bound=2))) != OF_PYDOCS
    shares = QRELS.with_columns(relevance=pl.col("relevance") * 1.1)
    assert judged(shares) == judged(shares.reverse()) != OF_PYDOCS


@pytest.mark.parametrize(("a", "b"), [("a", "b"), ("d556426", "d52639"), ("d250321", "d567000")])
def test_grades_of_two_documents_that_change_places_are_other_judgments(a, b):
    # The sums of numbers that were mixed once were the same for some pairs in a billion, such as these.
    qrels = {"q": {a: 1, b: 2}}, {"q": {a: 2, b: 1}}
    one, other = (ir.evaluate({"q": [a, b]}, judgments, "P@1", provenance=True) for judgments in qrels)
    assert ir.provenance(one)["judgments"] != ir.provenance(other)["judgments"]
    assert one["query_hash"].item() != other["query_hash"].item()


def test_the_level_of_a_preference_counts():
    one, other = (
        ir.evaluate({"q": ["a", "b"]}, {"q": grades}, "prefs_simp", provenance=True)
        for grades in ({"a": 1, "b": 2}, {"a": 2, "b": 1})
    )
    assert ir.provenance(one)["judgments"] != ir.provenance(other)["judgments"]
    assert one["query_hash"].item() != other["query_hash"].item()


def test_the_number_of_an_id_is_its_own_however_long_others_are():
    texts = pl.Series(["", "a", "a\0", "ab", "é" * 9, "x" * 64, "x" * 65, "x" * 200, "abcdefgh", "abcdefghi"])
    numbers = _of_texts(texts)
    assert numbers.n_unique() == len(texts)
    assert [_of_texts(texts[place : place + 1]).item() for place in range(len(texts))] == numbers.to_list()


def test_means_of_figures_that_were_made_in_several_ways_are_warned_of():
    both = pl.concat([of("bm25"), of("tfidf", missing="skip")])
    thirds = pl.DataFrame({"query_id": both["query_id"].unique(), "third": pl.arange(96, eager=True) % 3})
    for call in (
        ir.mean,
        ir.summarize,
        lambda frame: ir.drift(frame, thirds, "P@5", reference=2),
        lambda frame: ir.worst_slices(frame, thirds, "P@5"),
        lambda frame: ir.table(frame, test=None, format="markdown"),
        lambda frame: ir.table(frame, test=None, show="interval", missing="skip", format="markdown"),
    ):
        with pytest.warns(ir.IRWarning, match="made with different options: missing is 'skip' and 'zero'") as told:
            call(both)
        assert len(told) == 1


def test_a_plan_tells_the_same_in_whichever_way_it_runs():
    eager = ir.evaluate(RUNS, QRELS, MEASURES, provenance=True)
    plan = ir.evaluate(RUNS.lazy(), QRELS.lazy(), MEASURES, provenance=True)
    assert plan.collect_schema() == eager.schema
    assert pickle.loads(pickle.dumps(plan)).collect().equals(eager)  # noqa: S301  # our own
    assert plan.collect(engine="streaming").equals(eager)
    assert ir.evaluate(RUNS.lazy(), QRELS, MEASURES, provenance=True).collect().equals(eager)


def test_the_hash_of_a_query_is_of_its_own_rows():
    before = of("bm25")
    changed = QRELS.with_columns(relevance=pl.when(query_id="q01").then(0).otherwise("relevance"))
    moved = RUNS.with_columns(score=pl.col("score") - pl.when(query_id="q02").then(1).otherwise(0))
    for after, query in (
        (of("bm25", changed), "q01"),
        (ir.evaluate(moved.filter(run="bm25"), QRELS, MEASURES, provenance=True), "q02"),
    ):
        differ = before.filter(before["query_hash"] != after["query_hash"])
        assert differ["query_id"].to_list() == [query]


def test_a_run_that_holds_its_grades_has_no_judgments_of_its_own():
    labelled = RUNS.join(QRELS, on=["query_id", "doc_id"])
    made = labelled.ir.ndcg(k=10, provenance=True)
    assert ir.provenance(made)["judgments"] is None
    assert made["query_hash"].n_unique() == made.height
    assert labelled.drop("doc_id").ir.ndcg(k=10, provenance=True)["query_hash"].null_count() == 0


@pytest.mark.parametrize(
    ("otherwise", "differs"),
    [
        ({"judged_only": True}, "judged_only is False and True"),
        ({"missing": "skip"}, "missing is 'zero' and 'skip'"),
        ({"undefined": None}, "undefined is 0.0 and None"),
        ({"ties": "input"}, "ties is 'doc_id' and 'input'"),
        ({"qrels": QRELS.filter(pl.col("relevance") > 1)}, f"judgments is '{OF_PYDOCS}' and "),
    ],
)
def test_what_was_made_otherwise_is_not_compared(otherwise, differs):
    new, old = of("bm25"), of("tfidf", **otherwise)
    for compared in (
        lambda: ir.gate(new, old, "P@5", max_drop=0.05),
        lambda: ir.compare(pl.concat([new, old]), "P@5"),
        lambda: ir.compare({"a": new, "b": old}, "P@5"),
        lambda: ir.table(pl.concat([new, old]), ["P@5"], format="markdown"),
    ):
        with pytest.raises(ir.IRError) as raised:
            compared()
        assert str(raised.value).startswith(f"figures that are compared must be made alike; {differs}")
        # A dict of frames has no method to drop a column of.
        assert re.search(r"leave the column out(: (per_query|new)\.drop\('provenance'\))?\.$", str(raised.value))
    with pytest.raises(ir.IRError, match="was made with different options"):
        ir.provenance(pl.concat([new, old]))
    assert ir.gate(new.drop("provenance"), old, "P@5", max_drop=0.05).height == 1


def test_what_makes_no_difference_to_the_measures_that_are_compared_is_no_obstacle():
    new, old = of("bm25", names="sql"), ir.evaluate(RUNS.filter(run="tfidf"), QRELS, "P@5", provenance=True)
    assert ir.gate(new, old, "P@5", max_drop=0.05)["note"].item() is None
    rel_2, rel_1 = (
        ir.evaluate(RUNS.filter(run=run), QRELS, ir.precision(rel=rel, k=5).alias("main"), provenance=True)
        for run, rel in (("bm25", 2), ("tfidf", 1))
    )
    with pytest.raises(ir.IRError, match=r"main is 'P\(rel=2\)@5' and 'P@5'"):
        ir.gate(rel_2, rel_1, "main", max_drop=0.05, ranges={"main": (0, 1)})


def test_another_version_and_what_is_not_told_are_noted():
    new, old = of("bm25"), of("tfidf")
    earlier = old.with_columns(pl.col("provenance").str.replace(ir.__version__, "0.2.9", literal=True))
    note = ir.gate(new, earlier, "P@5", max_drop=0.05)["note"].item()
    assert note == f"evaluated by polars_ir {ir.__version__} and 0.2.9"
    note = ir.gate(new, old.drop("provenance"), "P@5", max_drop=0.05)["note"].item()
    assert note == "some of the figures have no provenance"
    renamed = ir.evaluate(RUNS.filter(run="tfidf"), QRELS, "P@10", provenance=True).rename({"P@10": "P@5"})
    note = ir.gate(new, renamed, "P@5", max_drop=0.05)["note"].item()
    assert note == "provenance lacks 'P@5', as after renaming or from other rows"
    own = [frame.with_columns(provenance=pl.lit("crawl")) for frame in (new, old)]
    assert ir.gate(*own, "P@5", max_drop=0.05)["note"].item() is None


def test_queries_that_were_evaluated_in_several_ways_are_noted():
    nights = [
        pl.concat([of(system), of(system, judged_only=True).with_columns(query_id=pl.col("query_id") + "'")])
        for system in ("bm25", "tfidf")
    ]
    note = ir.gate(*nights, "P@5", max_drop=0.05)["note"].item()
    assert note == "queries were evaluated differently: judged_only is False and True"


def test_days_with_judgments_of_their_own_are_compared_query_by_query():
    fewer = QRELS.filter(pl.col("relevance") > 1)
    nights = [
        pl.concat([of(system), of(system, fewer).with_columns(query_id=pl.col("query_id") + "'")])
        for system in ("bm25", "tfidf")
    ]
    assert ir.gate(*nights, "P@5", max_drop=0.05)["note"].item() is None


@pytest.mark.parametrize("shown_by", ["NumRel", "query_hash"])
def test_queries_judged_by_other_judgments_are_noted_where_frames_show_it(shown_by):
    relevant = QRELS.filter(pl.col("relevance") > 0)
    fewer = relevant.filter((pl.col("query_id") > "q03") | (pl.int_range(pl.len()).over("query_id") > 0))
    new, old = (
        ir.evaluate(RUNS.filter(run=run), qrels, ["P@5", "NumRel"], provenance=True).select(
            "run", "query_id", "P@5", shown_by
        )
        for run, qrels in (("bm25", relevant), ("tfidf", fewer))
    )
    note = f"3 queries were judged differently for different systems, by {shown_by!r}: "
    assert ir.gate(new, old, "P@5", max_drop=0.05)["note"].item().endswith(f"{note}evaluate all by the same judgments")
    both = pl.concat([new, old])
    assert note in ir.compare(both, "P@5", baseline="bm25")["note"].item()
    third = pl.concat([both, new.with_columns(run=pl.lit("same"))])
    of_pairs = ir.compare(third, "P@5", baseline="bm25").select("run", told=pl.col("note").str.contains(note[2:]))
    assert of_pairs.fill_null(False).rows() == [("same", False), ("tfidf", True)]
    alike = both.filter(pl.col("query_id") > "q03")
    assert note[2:] not in str(ir.compare(alike, "P@5", baseline="bm25")["note"].item())


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (OF_PER_QUERY, "has no column 'provenance'.*provenance=True"),
        (OF_PER_QUERY.with_columns(provenance=pl.lit("{}")), "has '{}' in 'provenance', which"),
        ("nowhere.parquet", r"nowhere\.parquet: cannot be read"),
    ],
)
def test_a_frame_without_it_is_told(frame, message):
    with pytest.raises(ir.IRError, match=message):
        ir.provenance(frame)


def test_a_measure_may_not_have_the_name_of_its_column():
    with pytest.raises(ir.IRError, match="two measures are named 'provenance'"):
        ir.evaluate(RUNS, QRELS, ir.ndcg().alias("provenance"), provenance=True)


def _written(folder):
    """The command that writes the figures of a run in a folder, but for the file."""
    ir.write_run(RUNS.filter(run="bm25").drop("run"), folder / "bm25.run")
    ir.write_qrels(QRELS, folder / "qrels.txt")
    return ["evaluate", str(folder / "qrels.txt"), str(folder / "bm25.run"), "-m", "P@5", "--per-query", "-o"]


def test_files_of_the_shell_tell_it(tmp_path, capsys):
    command = _written(tmp_path)
    for file in ("q.parquet", "q.arrow", "q.tsv"):
        assert not main([*command, str(tmp_path / file)])
    assert ir.provenance(tmp_path / "q.parquet")["judgments"] == OF_PYDOCS
    assert ir.provenance(pl.read_parquet(tmp_path / "q.parquet")) == ir.provenance(tmp_path / "q.parquet")
    assert ir.provenance(pl.read_ipc(tmp_path / "q.arrow"))["measures"] == {"P@5": "P@5"}
    assert pl.read_csv(tmp_path / "q.tsv", separator="\t").columns == ["run", "query_id", "P@5"]
    pl.read_ipc(tmp_path / "q.arrow").write_parquet(tmp_path / "own.parquet")
    for file in ("q.arrow", "own.parquet"):
        assert ir.provenance(tmp_path / file) == ir.provenance(tmp_path / "q.parquet")
    OF_PER_QUERY.write_parquet(tmp_path / "other.parquet")
    with pytest.raises(ir.IRError, match="has no column 'provenance'"):
        ir.provenance(tmp_path / "other.parquet")
    assert not main([*command, str(tmp_path / "judged.parquet"), "--judged-only"])
    assert main(["gate", str(tmp_path / "q.parquet"), str(tmp_path / "judged.parquet"), "-m", "P@5"]) == 2
    assert "judged_only is False and True" in capsys.readouterr().err


def test_texts_of_the_shell_tell_it_in_a_file_beside_them(tmp_path, capsys):
    command = _written(tmp_path)
    for file in ("q.csv", "q.ndjson", "q.json"):
        assert not main([*command, str(tmp_path / file)])
        assert ir.provenance(tmp_path / file)["judgments"] == OF_PYDOCS
    assert json.loads((tmp_path / "q.csv-metadata.json").read_text(encoding="utf-8"))["url"] == "q.csv"
    assert pl.read_csv(tmp_path / "q.csv").columns == ["run", "query_id", "P@5"]
    assert not main([*command, str(tmp_path / "judged.tsv"), "--judged-only"])
    gate = ["gate", str(tmp_path / "q.csv"), str(tmp_path / "judged.tsv"), "-m", "P@5", "--max-drop", "0.9"]
    assert main(gate) == 2
    assert "judged_only is False and True" in capsys.readouterr().err
    # What was changed since is not what the file beside it tells of.
    (tmp_path / "judged.tsv").write_bytes((tmp_path / "judged.tsv").read_bytes().replace(b"q01", b"q1"))
    with pytest.raises(ir.IRError, match=r"another file than judged\.tsv-metadata\.json tells the making of: it was"):
        ir.provenance(tmp_path / "judged.tsv")
    assert main(gate) == 0
    out, err = capsys.readouterr()
    assert "another file than judged.tsv-metadata.json tells the making of" in err
    assert "some of the figures have no provenance" in out
    assert not main([*command, str(tmp_path / "asked.csv"), "--provenance"])
    assert ir.provenance(pl.read_csv(tmp_path / "asked.csv"))["measures"] == {"P@5": "P@5"}
    with pytest.raises(ir.IRError, match=r"no asked\.csv-metadata\.json beside it"):
        ir.provenance(tmp_path / "asked.csv")


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices have names")
def test_what_is_no_file_of_a_usual_size_beside_figures_is_not_read(tmp_path):
    figures, beside = tmp_path / "q.csv", tmp_path / "q.csv-metadata.json"
    OF_PER_QUERY.write_csv(figures)
    made = {
        "a pipe": lambda: os.mkfifo(beside),
        "a device": lambda: beside.symlink_to("/dev/zero"),
        "a folder": beside.mkdir,
        "brackets": lambda: beside.write_text("[" * 200_000, encoding="utf-8"),
        "more than a megabyte": lambda: beside.write_text(" " * (1 << 20) + "{}", encoding="utf-8"),
    }
    for make in made.values():
        make()
        with pytest.raises(ir.IRError, match=r"no q\.csv-metadata\.json beside it tells how it was made"):
            ir.provenance(figures)
        beside.rmdir() if beside.is_dir() else beside.unlink()
