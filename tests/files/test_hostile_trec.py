"""The short way to read a run and the long one: the same rows for any file, and the same refusals.

`test_fuzz` compares the readers with a plain reader of the rules; here the two ways are compared with each other, on
lines that are nearly clean, since those are what the short way could take for clean.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from suite import examples

from polars_ir.errors import FileError
from polars_ir.files import read_run, scan_run
from polars_ir.files.formats.trec import TREC

LINE = "q1 Q0 d1 1 0.5 tag\n"

#: One thing that is odd in an otherwise clean line, and lines that hold no data.
ODD = [
    "q1 Q0 d2 1 1e3 t\n", "q1 Q0 d2 1 -INF t\n", "q1 Q0 d2 1 nan t\n", "q1 Q0 d2 1 1_000 t\n", "q1 Q0 d2 1 0x1p3 t\n",
    "q1 Q0 d2 1 +5 t\n", "q1 Q0 d2 1 5. t\n", "q1 Q0 d2 1 1e400 t\n", "q1 Q0 d2 1.5 1 t\n", "q1 Q0 d2 -1 1 t\n",
    "q1 Q0 d2 9223372036854775808 1 t\n", "q1 Q0 d2 1 1\n", "q1 Q0 d2 1 1 t u\n", "q1 Q0 d2 1 1 t \n",
    " q1 Q0 d2 1 1 t\n", "q1 Q0  d2 1 1 t\n", "q1 Q0 d2\tx 1 1 t\n", "q1\tQ0\td2\t1\t1\tt\n", "q1 Q0 d2 1 1 t\r\n",
    "q1 Q0 d2 1 1 t\rx\n", "#q1 Q0 d2 1 1 t\n", "q#1 Q0 d#2 1 1 t\n", "\ufeffq1 Q0 d2 1 1 t\n",
    "q1 Q0 d\ufeff2 1 1 t\n", '"q1 Q0 d2 1 1 t\n', '"q1" Q0 "d2" 1 1 "t"\n', "q1 Q0 d\0 1 1 t\n",
    "q1 Q0 d\u00a02 1 1 t\n", "q1 Q0 d\u20282 1 1 t\n", "null Q0 NA 1 1 t\n", "\n", " \n",
    "q1 0 d2 1\n", "q1 Q0 d2 1 1 t", "q1\vQ0 d2 1 1 t\n", "q1 Q0 d2\f 1 1 t\n", "\v\f\n", "x^2 Q0 d2 1 1 t\n",
    "x\u0681 Q0 d2 1 1 t\n",
]  # fmt: skip


def parted(text: str, tabs: bool) -> str:
    """The text with its fields between spaces or between tabs, and the other within a field where it was."""
    return text.translate(str.maketrans(" \t", "\t ")) if tabs else text


#: A row behind a `#` is skipped with a warning, as another tag has one, which other tests hold.
COMMENTED = pytest.mark.filterwarnings(
    "ignore:.*a comment with the fields of a row", "ignore:.*the run has several tags"
)


def refused_or_read(act: Callable[[], pl.DataFrame]) -> pl.DataFrame | None:
    """The rows; None where the file is refused."""
    try:
        return act()
    except (FileError, pl.exceptions.PolarsError):
        return None


@COMMENTED
@examples(150, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.sampled_from([LINE, LINE, *ODD]), min_size=1, max_size=6),
    st.sampled_from([0, 0, 0, 999, 1000, 3000]),
    st.booleans(),
)
def test_the_short_way_gives_what_the_long_way_gives_or_nothing(lines: list[str], before: int, tabs: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.run")
        path.write_bytes(parted(LINE * before + "".join(lines), tabs).encode())
        short, read = TREC.reader.quick(path), refused_or_read(lambda: read_run(path, format="trec"))
        scanned = refused_or_read(lambda: scan_run(path, format="trec").collect())
    assert (read is None) == (scanned is None)
    if read is not None and scanned is not None:
        assert_frame_equal(read, scanned, check_exact=True)
    if short is not None:
        assert scanned is not None
        assert_frame_equal(short, scanned, check_exact=True)


@pytest.mark.parametrize("tabs", [False, True], ids=["spaces", "tabs"])
@COMMENTED
def test_clean_files_are_read_the_short_way(tmp_path: Path, tabs: bool) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(parted("\ufeff" + LINE + "q#1 Q0 d#1 1 0.5 #1\n", tabs).encode())
    short = TREC.reader.quick(path)
    assert short is not None
    assert short["query_id"].to_list() == ["q1", "q#1"]


@pytest.mark.parametrize("tabs", [False, True], ids=["spaces", "tabs"])
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.whole("large files", quick=3)
@COMMENTED
def test_an_odd_line_at_the_end_of_a_large_file_is_seen_by_both_ways(tmp_path: Path, odd: str, tabs: bool) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(parted(LINE * 100_000 + odd, tabs).encode())
    read = refused_or_read(lambda: read_run(path, format="trec"))
    scanned = refused_or_read(lambda: scan_run(path, format="trec").collect(engine="streaming"))
    assert (read is None) == (scanned is None)
    if read is not None and scanned is not None:
        assert_frame_equal(read, scanned, check_exact=True)


@pytest.mark.parametrize(
    ("content", "height"),
    [
        (gzip.compress(LINE.encode()) + gzip.compress(LINE.encode() * 2), 3),
        (gzip.compress(b"") + gzip.compress(LINE.encode()), 1),
        (gzip.compress(LINE.encode()) + gzip.compress(b""), 1),
    ],
    ids=["two members", "empty member first", "empty member last"],
)
def test_gzip_of_several_members_is_read_to_its_end(tmp_path: Path, content: bytes, height: int) -> None:
    path = tmp_path / "a.run.gz"
    path.write_bytes(content)
    assert read_run(path).height == scan_run(path).collect().height == height


PACKED = gzip.compress(LINE.encode() * 500)


@pytest.mark.parametrize(
    "content",
    [
        PACKED[:-4], PACKED[:-20], PACKED[:10], PACKED + b"garbage", PACKED + LINE.encode(), PACKED + PACKED[:-4],
        PACKED[:-6] + bytes([PACKED[-6] ^ 1]) + PACKED[-5:],
    ],
    ids=["no length", "cut", "header", "garbage", "text behind", "second member cut", "checksum"],
)  # fmt: skip
def test_damaged_gzip_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.run.gz"
    path.write_bytes(content)
    for read in (read_run, scan_run):
        with pytest.raises(FileError, match=r"a\.run\.gz: the file cannot be read"):
            read(path)


@pytest.mark.parametrize("name", ["a b", "x[1]", "q?", "s*", "{a}", "100%", "a%20b", "~", "é文", "a\nb", '"', "#", "-"])
def test_a_file_is_found_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.run"
    path.write_text(LINE, encoding="utf-8")
    (tmp_path / "x1.run").write_text(LINE * 2, encoding="utf-8")
    assert read_run(str(path)).height == scan_run(str(path)).collect().height == 1
