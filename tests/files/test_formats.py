"""Every format of `FORMATS`: its record is whole, its example is read, and what is written so reads back equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.files.formats import FORMATS, READABLE, WRITABLE
from polars_ir.files.formats.record import Format

READERS: dict[str, Any] = {"run": ir.read_run, "qrels": ir.read_qrels}
SCANS: dict[str, Any] = {"run": ir.scan_run, "qrels": ir.scan_qrels}
WRITERS: dict[str, Any] = {"run": ir.write_run, "qrels": ir.write_qrels}
KEYS = ["query_id", "judge", "group", "subtopic", "doc_id"]

EXAMPLES = [
    pytest.param(format, role, text, id=f"{format.name} {role}")
    for format in FORMATS
    for role, text in format.examples.items()
]
WRITTEN = [
    pytest.param(format, role, id=f"{format.name} {role}") for format in FORMATS for role in format.writer.frames
]

RUN = pl.DataFrame({"query_id": ["q2", "q1", "q1"], "doc_id": ["d1", "d1", "é"], "score": [1.5, 0.1 + 0.2, -3.0]})
QRELS = pl.DataFrame(
    {
        "query_id": ["q2", "q1", "q1"],
        "judge": ["a", "b", "c"],
        "group": ["1", "1", "2"],
        "subtopic": ["1", "1", "2"],
        "doc_id": ["d1", "d1", "é"],
        "relevance": [1, 0, 2],
        "stratum": ["1", "1", "2"],
        "inclusion_probability": [1.0, 0.1 + 0.2, 0.5],
    }
)


def extension(format: Format) -> str:
    return format.extensions[0] if format.extensions else ".txt"


@pytest.mark.parametrize("format", FORMATS, ids=[format.name for format in FORMATS])
def test_a_record_is_whole(format: Format) -> None:
    assert set(format.holds) <= {"run", "qrels"}
    assert all(format.holds.values())
    assert set(format.writer.frames) <= set(format.holds)
    assert set(format.examples) == (set(format.holds) if format.is_text else set())
    assert [other.name for other in FORMATS if set(other.extensions) & set(format.extensions)] in ([format.name], [])


@pytest.mark.parametrize(("format", "role", "text"), EXAMPLES)
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_an_example_is_read_and_scanned(format: Format, role: str, text: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"example{extension(format)}{ending}"
    pl.LazyFrame({"": [text.removesuffix("\n")]}).sink_csv(
        path,
        include_header=False,
        quote_style="never",
        check_extension=False,
        compression={"": "uncompressed", ".gz": "gzip", ".zst": "zstd"}[ending],  # type: ignore[arg-type]
    )
    read = READERS[role](path, format=format.name)
    assert not read.is_empty()
    assert_frame_equal(SCANS[role](path, format=format.name).collect(), read, check_exact=True)
    if role in format.is_first_line or (format.has_own_extension and format.extensions):
        assert_frame_equal(READERS[role](path), read, check_exact=True)


@pytest.mark.filterwarnings("ignore:qrels '.*' is not written, without which a sample:polars_ir.IRWarning")
@pytest.mark.parametrize(("format", "role"), WRITTEN)
def test_what_is_written_reads_back_equal(format: Format, role: str, tmp_path: Path) -> None:
    path = tmp_path / f"written{extension(format)}"
    table = RUN if role == "run" else QRELS.drop({"judge", "group", "subtopic"} - {format.per, "group"}, strict=False)
    WRITERS[role](table, path, format=format.name)
    frame = READERS[role](path, format=format.name)
    columns = [
        name
        for name in (*KEYS, "score", "relevance", "stratum", "inclusion_probability")
        if name in frame.columns and name in table.columns
    ]
    assert {"query_id", "doc_id"} < set(columns)
    # Columns of a table of text are text, but for scores and grades.
    frame = frame.cast({name: pl.Float64 for name in columns if name == "inclusion_probability"})
    assert_frame_equal(
        frame.select(columns), table.select(columns), check_row_order=False, check_exact=True, check_dtypes=False
    )


@pytest.mark.parametrize("role", ["run", "qrels"])
def test_the_readers_and_writers_tell_the_formats(role: Any) -> None:
    for name in READABLE[role]:
        assert f'`"{name}"`' in (READERS[role].__doc__ or "")
    for name in WRITABLE[role]:
        assert f'`"{name}"`' in (WRITERS[role].__doc__ or "")
