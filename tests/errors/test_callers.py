"""Every error through every caller it can pass: what is advised runs as it stands, and helps."""

import ast
import re
from collections.abc import Callable, Mapping
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pytest
from callers import check_words
from sources import trees

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.errors import Caller, Code, Fix, IRError, Setting

RUN = {
    "query_id": ["q1", "q1", "q2", "q2", "q3"],
    "doc_id": ["d1", "d2", "d1", "d3", "d2"],
    "score": [0.9, 0.5, 0.7, 0.6, 0.3],
}
QRELS = {"query_id": ["q1", "q2", "q3"], "doc_id": ["d2", "d1", "d2"], "relevance": [1, 2, 1]}
PER_QUERY = {
    "run": ["a", "a", "a", "b", "b", "b"],
    "query_id": ["q1", "q2", "q3"] * 2,
    "AP": [0.1, 0.5, 0.9, 0.2, 0.4, 0.8],
}


def renamed(table: Mapping[str, list], **names: str) -> dict[str, list]:
    """A table with other names of columns."""
    return {names.get(name, name): values for name, values in table.items()}


def evaluated(tables: Mapping[str, Any], measures: Any = "nDCG@10", **options: Any) -> object:
    """The run and the qrels of some tables, evaluated."""
    return ir.evaluate(tables["run"], tables["qrels"], measures, **options)


class Provocation(NamedTuple):
    """A call that cannot work, the tables it is made with, and whether its columns are a matter of the shell, too."""

    call: Callable[[Mapping[str, Any]], object]
    tables: Mapping[str, Mapping[str, list]]
    shell: tuple[str, ...] = ()


def of_run(run: Mapping[str, list], **others: Any) -> Provocation:
    """An evaluation of a run that is wrong, which the shell can do, too."""
    return Provocation(evaluated, {"run": run, "qrels": QRELS}, ("evaluate", "qrels", "run", "-m", "nDCG@10"), **others)


def of_qrels(qrels: Mapping[str, list]) -> Provocation:
    """An evaluation against judgments that are wrong."""
    return Provocation(evaluated, {"run": RUN, "qrels": qrels}, ("evaluate", "qrels", "run", "-m", "nDCG@10"))


def of_per_query(call: Callable[[Any], object], **columns: list) -> Provocation:
    """A call with figures of queries that are wrong."""
    return Provocation(lambda tables: call(tables["per_query"]), {"per_query": {**PER_QUERY, **columns}})


QRELS_BY_QUERY = {"q1": ["d2"], "q2": ["d1"], "q3": ["d2"]}

WITH_NULL = [0.9, None, 0.7, 0.6, 0.3]

PROVOCATIONS = {
    "a run without doc_id": of_run(renamed(RUN, doc_id="document")),
    "a run without query_id": of_run(renamed(RUN, query_id="question")),
    "a run without scores": of_run(renamed(RUN, score="bm25_points")),
    "two columns of queries": of_run({**RUN, "qid": RUN["query_id"]}),
    "scores that are null": of_run({**RUN, "score": WITH_NULL}),
    "scores that are texts": of_run({**RUN, "score": list(map(str, RUN["score"]))}),
    "ids that are null": of_run({**RUN, "doc_id": ["d1", None, "d1", "d3", "d2"]}),
    "a document twice": of_run({**RUN, "doc_id": ["d1", "d1", "d1", "d3", "d2"]}),
    "qrels without grades": of_qrels(renamed(QRELS, relevance="worth")),
    "grades that are infinite": of_qrels({**QRELS, "relevance": [1.0, float("inf"), 2.0]}),
    "a judgment twice": of_qrels({name: values + values[:1] for name, values in QRELS.items()}),
    "ids of two types": Provocation(
        evaluated, {"run": {**RUN, "doc_id": [1, 2, 1, 3, 2]}, "qrels": {**QRELS, "doc_id": ["2", "1", "2"]}}
    ),
    "a key of numbers beside texts": Provocation(
        lambda tables: evaluated(tables, by="k"), {"run": {**RUN, "k": [1] * 5}, "qrels": {**QRELS, "k": ["1"] * 3}}
    ),
    "scores that are bytes": Provocation(
        evaluated, {"run": {**RUN, "score": [b"3", b"2", b"3", b"2", b"1"]}, "qrels": QRELS}
    ),
    "new scores without doc_id": Provocation(
        lambda tables: ir.rerank(tables["run"], tables["scores"]),
        {"run": RUN, "scores": renamed(RUN, doc_id="document")},
    ),
    "reranked scores that are null": Provocation(
        lambda tables: ir.rerank_gain(tables["run"], tables["reranked"], QRELS_BY_QUERY),
        {"run": RUN, "reranked": {**RUN, "score": WITH_NULL}},
    ),
    "ids of two types in interleaved runs": Provocation(
        lambda tables: ir.interleave(tables["run_a"], tables["run_b"]),
        {"run_a": {**RUN, "query_id": ["1", "1", "2", "2", "3"]}, "run_b": {**RUN, "query_id": [1, 1, 2, 2, 3]}},
    ),
    "a changed run with a document twice": Provocation(
        lambda tables: ir.p_mrr(tables["original"], tables["changed"], {"q1": ["d1"]}),
        {"original": RUN, "changed": {**RUN, "doc_id": ["d1", "d1", "d1", "d3", "d2"]}},
    ),
    "no measure that is a number": of_per_query(ir.mean, AP=list(map(str, PER_QUERY["AP"]))),
    "a measure that is a text": of_per_query(
        lambda per_query: ir.mean(per_query) if "P" in per_query else ir.compare(per_query, measures="RR"),
        RR=list(map(str, PER_QUERY["AP"])),
    ),
    "figures of a null query": of_per_query(ir.compare, query_id=["q1", "q2", None] * 2),
    "several systems where one is": Provocation(
        lambda tables: ir.diff(tables["run_a"], {"q1": ["d9"]}, {"q1": {"d1": 1, "d9": 0}}, "P@1"),
        {"run_a": {"system": ["a", "b"], "query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [1.0, 2.0]}},
    ),
    "a gate of several systems": Provocation(
        lambda tables: ir.gate(tables["new"], tables["old"], "AP"),
        {"new": PER_QUERY, "old": {name: values[:3] for name, values in PER_QUERY.items()}},
        ("gate", "new", "old", "-m", "AP"),
    ),
    "a slice that is a list": of_per_query(
        lambda per_query: ir.mean(per_query, by="tags"), tags=[["x"], ["y"], ["x"]] * 2
    ),
    "weights that are texts": of_per_query(lambda per_query: ir.mean(per_query, weights="n"), n=["1", "2", "3"] * 2),
    "a micro average of what is no ratio": Provocation(
        lambda tables: ir.mean(tables["per_query"], average="micro"),
        {"per_query": {"query_id": ["q1", "q2"], "P@5": [0.2, 0.4], "RR": [1.0, 0.5]}},
    ),
    "a slice called like a result": of_per_query(
        lambda per_query: ir.summarize(per_query, by="mean" if "mean" in per_query else "my_mean"),
        mean=["x", "y", "z"] * 2,
    ),
    "times that are texts": of_per_query(
        lambda per_query: ir.drift(per_query, by="day", every="1d"), day=["2024-01-01", "2024-01-01", "2024-01-02"] * 2
    ),
    "ids in qrels of preferences": Provocation(
        lambda tables: evaluated(tables, "prefs_simp"),
        {
            "run": RUN,
            "qrels": {"query_id": ["q1", "q2"], "preferred": ["d1", "d1"], "other": ["d2", "d3"], "relevance": [1, 1]},
        },
    ),
    "a pair of one document": Provocation(
        lambda tables: evaluated(tables, "prefs_simp"),
        {"run": RUN, "qrels": {"query_id": ["q1", "q2"], "preferred": ["d1", "d1"], "other": ["d2", "d1"]}},
    ),
    "a list that is a text": Provocation(
        lambda tables: ir.from_lists(tables["frame"]),
        {"frame": {"query_id": ["q1", "q2"], "retrieved": ["d1,d2", "d2"], "relevant": [["d1"], ["d2"]]}},
    ),
    "ids of train that are numbers": Provocation(
        lambda tables: ir.overlap(tables["train"], {"q1": "a text"}),
        {"train": {"query_id": [1, 2], "text": ["a text", "b"]}},
    ),
}  # fmt: skip

#: Frames of a library, and what is imported where its users type.
DOORS = {"polars": (pl.DataFrame, {"pl": pl, "ir": ir}), "pandas": (pd.DataFrame, {"pd": pd, "pl": pl, "ir": ir})}


@pytest.mark.parametrize("library", DOORS)
@pytest.mark.parametrize("name", PROVOCATIONS)
@pytest.mark.whole("one wording through many callers", quick=20)
def test_what_is_advised_runs_and_helps(name, library):
    call, tables, _ = PROVOCATIONS[name]
    frame_of, imported = DOORS[library]
    frames = {table: frame_of(columns) for table, columns in tables.items()}
    with pytest.raises(IRError) as raised:
        call(frames)
    error = raised.value
    assert error.caller.kind == library
    code = error.caller.code(error.fix)
    assert code is not None
    assert code in str(error)
    if code.startswith("."):  # of the frame that was given, whatever its name
        (table,) = frames
        code = f"{table}{code}"
    better = eval(code, {**imported, **frames})  # noqa: S307  # our own advice, as a user types it
    assert type(better) is frame_of
    table = next(table for table in frames if re.search(rf"\b{table}\b", code))
    call({**frames, table: better})


#: Provocations whose advice is an expression, a setting or a call, and how it is taken.
OTHERS: dict[str, tuple[Callable[[Mapping[str, Any]], object], Callable[[Any, str], object]]] = {
    "two measures of one name": (
        lambda tables: evaluated(tables, [ir.reciprocal_rank(), ir.reciprocal_rank()]),
        lambda tables, code: evaluated(tables, [ir.reciprocal_rank(), eval(f"ir.reciprocal_rank(){code}")]),  # noqa: S307
    ),
    "a measure called like a key": (
        lambda tables: evaluated(tables, ir.reciprocal_rank().alias("query_id")),
        lambda tables, code: evaluated(tables, eval(f"ir.reciprocal_rank(){code}")),  # noqa: S307
    ),
    "a measure that is a list": (
        lambda tables: evaluated(tables, ir.rank.alias("ranks")),
        lambda tables, code: evaluated(tables, eval(f"ir.rank.alias('ranks'){code}", {"ir": ir})),  # noqa: S307
    ),
    "a column by its other name": (
        lambda tables: evaluated(
            {**tables, "qrels": type(tables["run"])(renamed(QRELS, relevance="grade"))},
            pl.col("grade").max().alias("m"),
        ),
        lambda tables, code: evaluated(
            {**tables, "qrels": type(tables["run"])(renamed(QRELS, relevance="grade"))},
            eval(code).max().alias("m"),  # noqa: S307
        ),
    ),
    "a measure that was not called": (
        lambda tables: evaluated(tables, ir.ndcg),
        lambda tables, code: evaluated(tables, eval(code, {"ir": ir})),  # noqa: S307
    ),
    "a text without quotes": (
        lambda tables: evaluated(tables, ir.ndcg(dcg=pl.col("exp-log2"))),
        lambda tables, code: evaluated(tables, eval(f"ir.ndcg({code})", {"ir": ir})),  # noqa: S307
    ),
    "an option of the ranking": (
        lambda tables: evaluated(tables, "nDCG(judged_only=True)@10"),
        lambda tables, code: eval(f"evaluated(tables, 'nDCG@10', {code})", {"evaluated": evaluated, "tables": tables}),  # noqa: S307
    ),
    "no qrels": (
        lambda tables: ir.evaluate(tables["run"], None, "nDCG@10"),
        lambda tables, code: eval(code, tables),  # noqa: S307
    ),
    "no qrels for subtopics": (
        lambda tables: ir.evaluate(tables["run"], None, "alpha_nDCG@10"),
        lambda tables, code: eval(code, tables),  # noqa: S307
    ),
    "figures of one system": (
        lambda tables: ir.compare(evaluated(tables)),
        lambda tables, code: ir.compare(eval(code, {**tables, "ir": ir, "other": tables["run"]})),  # noqa: S307
    ),
}


@pytest.mark.parametrize("library", DOORS)
@pytest.mark.parametrize("name", OTHERS)
def test_other_advice_runs_and_helps(name, library):
    frame_of, _ = DOORS[library]
    tables = {"run": frame_of(RUN), "qrels": frame_of(QRELS)}
    wrong, right = OTHERS[name]
    with pytest.raises(IRError) as raised:
        wrong(tables)
    fix, caller = raised.value.fix, raised.value.caller
    code = caller.setting(fix.code) if isinstance(fix.code, Setting) else caller.code(fix)
    assert code in str(raised.value)
    right(tables, code)


def test_no_text_is_advised_where_a_number_is_wanted():
    with pytest.raises(IRError, match=r"2,147,483,648; got the expression .*\.$") as raised:
        ir.ndcg(k=pl.col("x"))
    assert raised.value.fix is None


def written(folder: Path, tables: Mapping[str, Mapping[str, list]]) -> dict[str, str]:
    """The files of some tables."""
    files = {}
    for name, columns in tables.items():
        files[name] = str(folder / f"{name}.parquet")
        pl.DataFrame(columns).write_parquet(files[name])
    return files


@pytest.mark.parametrize("name", [name for name, provocation in PROVOCATIONS.items() if provocation.shell])
def test_the_shell_has_its_own_words(name, tmp_path, capsys):
    _, tables, arguments = PROVOCATIONS[name]
    files = written(tmp_path, tables)
    assert main([files.get(argument, argument) for argument in arguments]) == 2
    message = capsys.readouterr().err
    check_words(message)
    assert any(file in message for file in files.values())


#: Wrong options and measures, as typed in a shell, and the advice that is taken.
TYPED = {
    "an option of the ranking": ("-m nDCG(judged_only=True)@10", "--judged-only", "-m nDCG@10 --judged-only"),
    "a measure there is not": ("-m nDGC@10", "`polars-ir measures`", "-m nDCG@10"),
    "a mean that is not known": ("-m infAP --ties expected", "--ties best", "-m infAP --ties best"),
    "judges and one list": ("-m RR --judges judge --judged-only", "--judges", "-m RR --judges judge"),
    "a wrong format": ("-m RR --format csv", "query_id", "-m RR"),
}


@pytest.mark.parametrize("name", TYPED)
def test_what_is_advised_can_be_typed(name, tmp_path, capsys):
    wrong, advice, right = TYPED[name]
    files = written(tmp_path, {"run": RUN, "qrels": {**QRELS, "judge": ["x"] * 3}})
    assert main(["evaluate", files["qrels"], files["run"], *wrong.split()]) == 2
    message = capsys.readouterr().err
    if "format" not in name:
        assert advice in message
    check_words(message)
    assert main(["evaluate", files["qrels"], files["run"], *right.split()]) == 0


def test_a_format_is_said_with_an_option_of_the_shell(tmp_path, capsys):
    run, qrels = tmp_path / "a.txt", tmp_path / "qrels.txt"
    run.write_text("q1\td1\t1\nq2\td1\t1\n", encoding="utf-8")
    qrels.write_text("q1 0 d1 1\nq2 0 d1 1\n", encoding="utf-8")
    assert main(["evaluate", str(qrels), str(run), "-m", "RR"]) == 2
    message = capsys.readouterr().err
    assert "Give it: --format msmarco for lines of" in message
    check_words(message)
    assert main(["evaluate", str(qrels), str(run), "-m", "RR", "--format", "msmarco"]) == 0
    assert main(["evaluate", str(run), str(run), "-m", "RR"]) == 2
    assert "--qrels-format msmarco" in capsys.readouterr().err


def test_a_program_without_a_format_points_to_convert(tmp_path, capsys):
    run, qrels, made = tmp_path / "a.txt", tmp_path / "qrels.txt", tmp_path / "a.run"
    run.write_text("q1\td1\t1\n", encoding="utf-8")
    qrels.write_text("q1 0 d1 1\n", encoding="utf-8")
    for program in (["trec_eval", str(qrels), str(run)], ["ir_measures", str(qrels), str(run), "RR"]):
        main(program)
        assert "polars-ir convert --format msmarco" in capsys.readouterr().err
    assert main(["convert", "--format", "msmarco", str(run), str(made)]) == 0
    assert main(["trec_eval", str(qrels), str(made)]) == 0


def test_what_comes_by_standard_input_is_called_so(tmp_path, monkeypatch, capsys):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(), encoding="utf-8"))
    assert main(["evaluate", str(tmp_path / "qrels.txt"), "-", "-m", "RR"]) == 2
    assert capsys.readouterr().err == "polars-ir: standard input: the file is empty: no line holds data.\n"


#: A method of a frame, called.
OF_A_FRAME = re.compile(r"\.(filter|with_columns|rename|drop|unique|cast|collect|drop_duplicates|astype|assign)\(")

#: The makers of code for several callers.
DATA = {"Code", "keeping", "casting", "dropping", "renaming", "only", "without_nulls", "deduplicating", "replacing"}


def called(node: ast.AST) -> str:
    """The name of a function that is called; empty for anything else."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def texts(node: ast.AST) -> list[str]:
    """The texts in what is raised or warned of, without those of code."""
    if called(node) in DATA:
        return []
    if isinstance(node, ast.FormattedValue):
        return []
    own = [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
    return own + [text for child in ast.iter_child_nodes(node) for text in texts(child)]


def is_said(node: ast.AST) -> bool:
    """True if a node raises something or makes an error, a warning or an advice."""
    return isinstance(node, ast.Raise) or called(node) in ("warn", "IRWarning", "Fix") or called(node).endswith("Error")


def test_no_message_holds_code_of_a_frame():
    for path, tree in trees().items():
        said = [text for node in ast.walk(tree) if is_said(node) for text in texts(node)]
        assert [text for text in said if OF_A_FRAME.search(text)] == [], path


def test_no_message_is_edited():
    """A message is put together once, by its caller: nothing else takes `str(error)` of ours apart."""
    for path, tree in trees().items():
        for handler in (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.type):
            caught = ast.unparse(handler.type)
            if not re.search(r"\bIR|File|Data|Column|Option", caught) or re.search("PolarsError|OSError", caught):
                continue
            raised = [ast.unparse(node) for node in ast.walk(handler) if is_said(node)]
            assert not [text for text in raised if re.search(r"str\(error\)|\{error\}|re\.sub", text)], path


def test_an_advice_is_code_for_each_door():
    code = Code("run.head()", "run.head(5)")
    assert (code.polars, code.pandas) == ("run.head()", "run.head(5)")
    advice = Fix("Keep one", Code.only("run", "a.b", 1))
    assert [Caller(kind).code(advice) for kind in ("polars", "pandas", "spark")] == [
        "run.filter(pl.col('a.b') == 1)",
        "run[run['a.b'] == 1]",
        "run.filter(run['`a.b`'] == 1)",
    ]
