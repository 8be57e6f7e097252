"""A JSON object a line: a table, or an error with the line that is none."""

from __future__ import annotations

import gzip
import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import Reader, Write, message, run_readers
from suite import examples

from polars_ir.errors import FileError, IRError
from polars_ir.files import read_qrels, read_run, scan_run

LINE = '{"query_id": "q", "docno": "d", "score": 1}\n'


@run_readers
@pytest.mark.parametrize("blank", ["\n", "\r\n", " \t\n"])
def test_blank_lines_between_objects_are_skipped(write: Write, reader: Reader, blank: str) -> None:
    assert reader(write(LINE + blank + LINE, "a.ndjson")).lazy().collect().rows() == [("q", "d", 1)] * 2


# Errors that Polars meets when it looks at the columns, and those when it reads them.
WRONG = {
    '{"query_id": "q", "docno": "d", "score": x}': "this is not JSON at column 42: Expecting value.",
    '{"query_id": "q"': "this is not JSON at column 17: Expecting ',' delimiter.",
    '{"query_id": "q"},': "this is not JSON at column 18: Extra data.",
    '{"query_id": "q", "score": NaN}': "this is not JSON: NaN is a number that cannot be held.",
    '{"query_id": "q", "score": 1e999}': "this is not JSON: 1e999 is a number that cannot be held.",
    "[1, 2]": "a line of NDJSON must be an object, {...}.",
    "5": "a line of NDJSON must be an object, {...}.",
    "null": "a line of NDJSON must be an object, {...}.",
    "q1 Q0 d1 1 0.5 tag": "this is not JSON at column 1: Expecting value.",
}


@run_readers
@pytest.mark.parametrize("name", ["a.ndjson", "a.jsonl.gz"])
@pytest.mark.parametrize("line", WRONG)
@pytest.mark.whole("many cases", quick=12)
def test_a_line_that_is_no_object_is_told_before_a_plan_is_made(
    write: Write, reader: Reader, name: str, line: str
) -> None:
    content = (LINE * 2000 + "\n" + line + "\n" + LINE).encode()
    path = write(gzip.compress(content) if name.endswith("gz") else content, name)
    assert message(reader, path) == f"{name}, line 2002: {WRONG[line]}\n    {line!r}"


@run_readers
def test_a_line_that_is_no_text_is_an_error(write: Write, reader: Reader) -> None:
    path = write(LINE.encode() + b'{"query_id": "\xe9"}\n', "a.ndjson")
    assert message(reader, path).startswith("a.ndjson, line 2: this is not UTF-8 text; ")


@run_readers
def test_a_value_of_another_kind_names_the_file(write: Write, reader: Reader) -> None:
    path = write(LINE + '{"query_id": "q", "docno": "e", "score": true}\n', "a.ndjson")
    assert message(reader, path) == "a.ndjson: the file cannot be read: cannot parse 'true' (bool) as Int64."


@run_readers
def test_the_second_file_is_the_one_named(write: Write, reader: Reader) -> None:
    write(LINE, "a.ndjson")
    write(LINE + "5\n", "b.ndjson")
    with pytest.raises(FileError, match=r"b\.ndjson, line 2: a line of NDJSON must be an object"):
        reader(write(LINE, "a.ndjson").parent / "*.ndjson")


@run_readers
@pytest.mark.parametrize("content", ["\n", " \r\n\n"])
def test_blank_lines_alone_are_an_empty_file(write: Write, reader: Reader, content: str) -> None:
    assert message(reader, write(content, "a.ndjson")) == "a.ndjson: the file is empty: no line holds data."


SEARCH = {"took": 1, "hits": {"total": {"value": 1}, "hits": [{"_id": "a", "_score": 1.5}]}}


@pytest.mark.parametrize("reader", [read_run, scan_run, read_qrels])
@pytest.mark.parametrize("response", [SEARCH, {"took": 1, "responses": [SEARCH]}])
def test_search_responses_a_line_do_not_name_their_queries(write: Write, reader: Reader, response: Any) -> None:
    assert message(reader, write(f"{json.dumps(response)}\n" * 2, "a.ndjson")) == (
        "a.ndjson: search responses do not say which queries they answer. Save them under their ids: "
        "json.dump(dict(zip(query_ids, responses)), file)."
    )


@examples(100)
@given(st.lists(st.sampled_from([LINE.strip(), "", "5", "{", '{"a": 1}', "{} {}", '{"a": [1]}', "x", "\r"])))
def test_what_can_be_scanned_can_be_collected(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.ndjson"
    path.write_text("\n".join(lines), newline="", encoding="utf-8")
    try:
        plan = scan_run(path)
    except IRError:
        with pytest.raises(IRError):
            read_run(path)
    else:
        assert isinstance(plan.collect(), pl.DataFrame)
        assert read_run(path).equals(plan.collect())


@run_readers
@pytest.mark.parametrize("id", [r"\ud800", r"q\uDC00", r"\ud83d\ude00\ud83d", r"\\\ud800"])
def test_half_of_a_character_is_an_error(write: Write, reader: Any, id: str) -> None:
    line = f'{{"query_id":"{id}","doc_id":"d","score":1}}'
    with pytest.raises(FileError, match=r"a\.jsonl(, line 2)?: "):
        reader(write(line.replace(id, "q") + f"\n{line}\n", "a.jsonl"))


def test_whole_characters_and_a_byte_order_mark_are_read(write: Write) -> None:
    ids = {r"\ud83d\ude00": "\U0001f600", r"\\ud800": r"\ud800", r"\u00e9": "\u00e9"}
    lines = "".join(f'{{"query_id":"{id}","doc_id":"d","score":1}}\n' for id in ids)
    path = write(f"\ufeff{lines}", "a.jsonl")
    assert read_run(path)["query_id"].to_list() == list(ids.values())
    assert scan_run(path).collect().equals(read_run(path))
