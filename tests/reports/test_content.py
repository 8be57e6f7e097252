"""The content of a report is what its types say, to Python and to the scripts of its page."""

import json
import re
from importlib.resources import files
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.reports.content import Content

Validator = pytest.importorskip("jsonschema").Draft202012Validator

PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}


def schema_of(hint: Any) -> dict[str, Any]:
    """The JSON schema of a type."""
    if hint is Any:
        return {}
    if isinstance(hint, UnionType):
        return {"anyOf": [schema_of(each) for each in get_args(hint)]}
    if is_typeddict(hint):
        fields = {name: schema_of(of) for name, of in get_type_hints(hint).items()}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    if get_origin(hint) is list:
        return {"type": "array", "items": schema_of(get_args(hint)[0])}
    if get_origin(hint) is dict:
        return {"type": "object", "additionalProperties": schema_of(get_args(hint)[1])}
    return {"type": PLAIN[hint]}


RUNS = pl.DataFrame(
    [(s, f"q{q}", f"d{d}", d if s == "a" else -d) for s in "ab" for q in range(4) for d in range(6)],
    schema=["run", "query_id", "doc_id", "score"],
    orient="row",
)
QRELS = pl.DataFrame(
    [(f"q{q}", f"d{d}", d) for q in range(4) for d in range(3)], schema=["query_id", "doc_id", "grade"], orient="row"
)
QUERIES = pl.DataFrame({"query_id": ["q0", "q1", "q2", "q3"], "text": ["t"] * 4, "topic": ["x", "x", "y", "y"]})

REPORTS = {
    "whole": lambda: ir.report(RUNS, QRELS, ["nDCG@3", "RR"], baseline="a", queries=QUERIES, by="topic"),
    "of one system": lambda: ir.report(RUNS.filter(run="a"), QRELS, "AP", n_queries=0),
    "of preferences": lambda: ir.report(RUNS, {"q0": {"d0": 2, "d1": 1}, "q1": {"d0": 2, "d1": 1}}, "prefs_simp"),
}


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_a_report_is_of_its_schema(report):
    written = json.loads(json.dumps(report().content, allow_nan=False))
    Validator(schema_of(Content)).validate(written)


def test_what_is_not_of_the_schema_is_seen():
    content = dict(REPORTS["of one system"]().content)
    del content["pair"]
    assert not Validator(schema_of(Content)).is_valid(content | {"pears": []})


def test_the_scripts_of_the_page_read_what_there_is():
    fields = get_type_hints(Content)
    for script in files("polars_ir.reports").iterdir():
        if script.name.endswith(".js"):
            text = script.read_text("utf-8")
            found = re.findall(r"\bcontent\.(\w+)(?:\??\.(\w+))?", text)
            found += [
                (name, "") for names in re.findall(r"\{ ([\w, ]+) \} = content;", text) for name in names.split(", ")
            ]
            for name, inner in found:
                assert name in fields, (script.name, name)
                hint = fields[name]
                # A list has the names of JavaScript's arrays.
                records = [] if get_origin(hint) is list else filter(is_typeddict, (hint, *get_args(hint)))
                assert all(not inner or inner in get_type_hints(record) for record in records), (
                    script.name,
                    name,
                    inner,
                )
