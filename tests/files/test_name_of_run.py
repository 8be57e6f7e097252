"""The name that a run gives itself."""

from __future__ import annotations

import gzip

import pytest
from reading import Write

from polars_ir.errors import FileError
from polars_ir.files import tag_of


@pytest.mark.parametrize(
    "content",
    [
        "q Q0 d 1 2 first\nq Q0 e 2 1 last",
        "q Q0 d 1 2 first\r\nq\tQ0\te  2\t1\tlast\t\r\n\r\n \t\n# q Q0 e 2 1 comment\n",
        "\ufeffq Q0 d 1 1 last of these words\n",
    ],
)
def test_it_is_the_tag_in_the_last_line_as_in_trec_eval(write: Write, content: str) -> None:
    assert tag_of(write(content)) == "last"
    assert tag_of(write(gzip.compress(content.encode()), "a.run.gz")) == "last"


def test_a_last_line_without_tag_is_an_error(write: Write) -> None:
    with pytest.raises(FileError) as error:
        tag_of(path := write("q Q0 d 1 2 tag\nq Q0 d 1 2\n"))
    assert str(error.value) == (f"{path}, line 2: a run line has 6 fields, the tag last; it has 5.\n    'q Q0 d 1 2'")


def test_a_file_without_tags_has_its_own_name(write: Write) -> None:
    assert tag_of(write("qid,docno,score\nq,d,1\n", "bm25.k1=0.9.csv")) == "bm25.k1=0.9"
