"""The files of a source, and their formats."""

from __future__ import annotations

import os
import sys
import zlib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from reading import Write, readers, run_readers

from polars_ir.errors import FileError, InputTypeError, OptionError
from polars_ir.files import read_qrels, read_run, scan_run

LINE = "q1 Q0 d1 1 0.5 tag\n"


@readers
def test_a_missing_file_names_the_nearest_ones(write: Write, tmp_path: Path, reader: Any) -> None:
    write(LINE, "bm25.run")
    with pytest.raises(FileError, match=r"bm52\.run: there is no such file\. Did you mean 'bm25\.run'\?$"):
        reader(tmp_path / "bm52.run")


@readers
def test_a_file_in_a_missing_folder_is_an_error(tmp_path: Path, reader: Any) -> None:
    with pytest.raises(FileError, match=r"there is no such file\.$"):
        reader(tmp_path / "nowhere" / "a.run")


@readers
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LINE * 1000, r": this path cannot be read: File name too long\."),
        ("a\0b", r": this path cannot be read: embedded null byte\."),
        ("\ud800", r"\\ud800: this path cannot be read: .*surrogates not allowed\."),
        ("", r"source is an empty text; name a file\."),
        ("~nobody-of-this-name/a.run", r"there is no such file\."),
        ("file://elsewhere/a.run", r"this file is on another machine; copy it here first\."),
    ],
)
def test_text_in_place_of_a_path_is_an_error(reader: Any, text: str, said: str) -> None:
    with pytest.raises(FileError, match=f"{said}$") as error:
        reader(text)
    assert len(str(error.value)) < 500


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.run"
    with open(path, "wb") as file:  # noqa: PTH123  # its name is bytes
        file.write(LINE.encode())
    with pytest.raises(FileError, match=r"\\udcff\.run: the name of this file is not UTF-8; rename it\.$"):
        read_run(os.fsdecode(path))


@pytest.mark.skipif(sys.platform == "win32", reason="links need permission")
@readers
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("link", r"b\.run: this is a link to 'nowhere', where there is no file\."),
        ("loop", r"b\.run: this path cannot be read: Too many levels of symbolic links\."),
        ("folder", r"b\.run: this is a directory; name its files, .*"),
        ("pipe", r"b\.run: this is a pipe or a device, .*"),
    ],
)
def test_no_part_of_a_glob_is_left_out(write: Write, tmp_path: Path, reader: Any, kind: str, said: str) -> None:
    write(LINE, "a.run"), write(LINE, "c.run")
    part = tmp_path / "b.run"
    {
        "link": lambda: part.symlink_to("nowhere"),
        "loop": lambda: part.symlink_to(part.name),
        "folder": part.mkdir,
        "pipe": lambda: os.mkfifo(part),
    }[kind]()
    for source in (tmp_path / "*.run", part):
        with pytest.raises(FileError, match=f"{said}$"):
            reader(source)


@readers
def test_a_file_named_twice_is_an_error(write: Write, tmp_path: Path, reader: Any) -> None:
    path = write(LINE)
    for source in ([path, path], [path, str(tmp_path / "*.run")]):
        with pytest.raises(FileError, match=r"a\.run: source names this file twice; each is read once\.$"):
            reader(source)


@readers
def test_a_directory_is_an_error(tmp_path: Path, reader: Any) -> None:
    with pytest.raises(FileError, match=r"this is a directory; name its files"):
        reader(tmp_path)


@readers
def test_a_glob_that_matches_nothing_is_an_error(tmp_path: Path, reader: Any) -> None:
    with pytest.raises(FileError, match=r"\*\.run: no file matches this glob\.$"):
        reader(tmp_path / "*.run")


ZLIB = "it begins as zlib does. Unpack it; before a text that merely begins so ('x^'), put an empty line."
PACKED = {
    b"BZh91AY&SY\x8a": "bzip2 is not read; unpack it with bunzip2.",
    b"\xfd7zXZ\0\0": "xz is not read; unpack it with unxz.",
    b"PK\x03\x04\x14": "an archive (zip) or a workbook (Excel) is not read; unpack it, or save it as CSV.",
    zlib.compress(LINE.encode()): ZLIB,
    b"x^2 Q0 d1 1 0.5 tag\n": ZLIB,
    b"x\xda\x81": ZLIB,
    b"\x50\x2a\x4d\x18": "zstd with a skippable frame first is not read; unpack it with unzstd.",
    b"\x04\x22M\x18@": (
        "LZ4 is not read. Unpack it with unlz4; a run of ranx, save as JSON: "
        "ranx.Run.from_file('{path}').save('{json}')."
    ),
}


@readers
@pytest.mark.parametrize("name", ["a", "a.run", "a.lz4", "a.csv"])
@pytest.mark.parametrize("begin", PACKED)
@pytest.mark.whole("many cases", quick=16)
def test_a_file_that_must_be_unpacked_says_how(write: Write, reader: Any, name: str, begin: bytes) -> None:
    with pytest.raises(FileError) as error:
        reader(path := write(begin + bytes(30), name))
    said = PACKED[begin].format(path=path, json=path.with_suffix(".json"))
    assert str(error.value) == f"{path}: {said}"


@pytest.mark.parametrize("name", ["a", "a.2019", "a.parq", "a.dat"])
@run_readers
def test_parquet_and_arrow_are_known_by_their_first_bytes(tmp_path: Path, name: str, reader: Any) -> None:
    frame = pl.DataFrame({"q_id": ["q"], "doc_id": ["d"], "score": [1.0]})
    for write_table in [frame.write_parquet] + ([frame.write_ipc] if name != "a.parq" else []):
        write_table(tmp_path / name)
        assert_frame_equal(reader(tmp_path / name).lazy().collect(), frame)


@pytest.mark.parametrize("name", ["x[1].ndjson", "x?.ndjson", "x*.ndjson"])
@run_readers
def test_a_table_whose_name_is_a_pattern_is_read_and_no_other(tmp_path: Path, name: str, reader: Any) -> None:
    frame = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]})
    frame.write_ndjson(tmp_path / name)
    frame.with_columns(doc_id=pl.lit("other")).write_ndjson(tmp_path / "x1.ndjson")
    assert_frame_equal(reader(tmp_path / name).lazy().collect(), frame)


def test_an_id_may_begin_as_a_packed_file_does(write: Write) -> None:
    ids = ["PAR1", "ARROW1", "BZh9", "PK", "7zXZ"]
    assert read_run(write("".join(f"{id} Q0 d 1 1 a\n" for id in ids), "a.txt"))["query_id"].to_list() == ids
    assert read_run(write("\nx^2 Q0 d 1 1 a\n", "a.txt"))["query_id"].to_list() == ["x^2"]
    assert all(read_run(write(f"{id} Q0 d 1 1 a\n", "a.txt")).height == 1 for id in ids)


@readers
def test_no_file_at_all_is_an_error(reader: Any) -> None:
    with pytest.raises(FileError, match="source is an empty list"):
        reader([])


@readers
@pytest.mark.parametrize("source", [None, 7, b"a.run", {"a": 1}, ["a.run", 7]])
def test_what_is_no_path_is_an_error(reader: Any, source: Any) -> None:
    with pytest.raises(InputTypeError, match="source must be a path, a glob or a list of them; got"):
        reader(source)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_a_pipe_is_an_error_that_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="this is a pipe or a device"):
        read_run(tmp_path / "pipe")


@run_readers
def test_an_unknown_format_names_those_there_are(write: Write, reader: Any) -> None:
    with pytest.raises(
        OptionError, match=r"format must be one of 'trec', 'msmarco', .*; got 'parkett'\. Did you mean 'parquet'"
    ):
        reader(write(LINE), format="parkett")


@run_readers
def test_a_run_is_never_beir(write: Write, reader: Any) -> None:
    with pytest.raises(OptionError, match="got 'beir'"):
        reader(write(LINE), format="beir")


def test_a_name_like_a_glob_is_the_file_of_that_name(write: Write) -> None:
    write("other Q0 d 1 0.5 tag\n", "a1.run")
    assert read_run(write(LINE, "a[1].run"))["query_id"].to_list() == ["q1"]


def test_the_files_of_a_glob_come_in_the_order_of_their_names(write: Write, tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write(f"q Q0 d 1 0.5 {name}\n", f"{name}.run")
    assert read_run(str(tmp_path / "*.run"))["run"].to_list() == ["a", "b", "c"]


def test_files_of_several_formats_are_an_error(write: Write) -> None:
    paths = [write(LINE, "a.run"), write("qid,docno,score\nq,d,1\n", "b.csv")]
    with pytest.raises(FileError, match=r"b\.csv: this file is csv, but .*a\.run is trec; read files of one format"):
        read_run(paths)


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.run", "a", "a.2019.v1"])
def test_what_has_no_header_is_trec(write: Write, name: str) -> None:
    assert read_run(write(LINE.replace(" ", "\t"), name)).columns == ["query_id", "doc_id", "rank", "score"]
    assert read_qrels(write("q1\t0\td1\t1\n", name)).rows() == [("q1", "d1", 1)]


def test_a_tsv_with_a_header_is_a_table(write: Write) -> None:
    assert read_run(write("docno\tqid\tscore\nd1\t1\t0.5\n", "a.tsv")).rows() == [("d1", "1", 0.5)]


def test_a_tag_that_is_a_column_name_makes_no_header(write: Write) -> None:
    assert read_run(write("q1\tQ0\td1\t1\t0.5\trun\n", "a.tsv"))["query_id"].to_list() == ["q1"]


def test_the_format_can_be_said(write: Write) -> None:
    assert read_run(write(LINE, "a.csv"), format="trec")["query_id"].to_list() == ["q1"]
    assert read_qrels(write("query-id\tcorpus-id\tscore\nq\td\t1\n", "a.txt"), format="beir").rows() == [("q", "d", 1)]


def test_a_lake_is_a_run_of_the_systems_that_its_folders_hold(tmp_path: Path) -> None:
    for system in ("a", "b%20c"):
        folder = tmp_path / "lake" / f"run={system}" / "day=01"
        folder.mkdir(parents=True)
        pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}).write_parquet(folder / "part.parquet")
        (folder / "_SUCCESS").touch()
        (folder / ".part.parquet.crc").touch()
    lake = tmp_path / "lake"
    wanted = [("a", "q", 1.0), ("b c", "q", 1.0)]
    for source in (lake, f"{lake}/", lake / "*", lake / "*" / "*" / "*.parquet", lake / "**" / "*.parquet"):
        assert scan_run(source).ir.evaluate({"q": ["d"]}, "RR").collect().rows() == wanted
    assert read_run(lake / "run=a").rows() == read_run(lake / "run=a" / "day=01" / "part.parquet").rows()
    assert read_run(lake / "run=a").rows() == [("a", "01", "q", "d", 1.0)]


#: A folder, the value of a column of the files in it, and whether both say the same.
AGAIN = [
    ("run=x", "x", True),
    ("run=zz", "x", False),
    ("RUN=zz", "x", False),
    ("run=__HIVE_DEFAULT_PARTITION__", "x", False),
    ("run=__HIVE_DEFAULT_PARTITION__", None, True),
    ("run=x", None, False),
    ("date=2026-01-01", date(2026, 1, 1), True),
    ("date=2026-01-02", date(2026, 1, 1), False),
    ("date=2026-01-01", datetime(2026, 1, 1, 7, tzinfo=UTC), True),
    ("date=2026-01-02", datetime(2026, 1, 1, 7, tzinfo=UTC), False),
    ("month=01", 1, True),
    ("month=02", 1, False),
    ("month=new", 1, False),
]


@pytest.mark.parametrize("name", ["part.parquet", "part.csv"])
@pytest.mark.parametrize(("folder", "value", "agree"), AGAIN)
def test_a_folder_and_a_file_in_it_that_disagree_are_an_error(
    tmp_path: Path, folder: str, value: object, agree: bool, name: str
) -> None:
    column = folder.partition("=")[0].lower()
    rows = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0], column: [value]})
    path = tmp_path / folder / name
    path.parent.mkdir()
    if name.endswith("csv") and (value is None or isinstance(value, (int, datetime))):
        pytest.skip("these are texts, and no nulls")
    rows.write_csv(path) if name.endswith("csv") else rows.write_parquet(path)
    if agree:
        assert scan_run(path).collect().equals(read_run(path))
        return
    says = f"in a folder {column}=.*, and has rows of another; move it, or leave out its column"
    with pytest.raises(FileError, match=says):
        read_run(path)
    with pytest.raises(FileError, match=says):
        scan_run(path)


@pytest.mark.parametrize("name", ["part.parquet", "part.csv"])
def test_a_later_row_of_another_folder_makes_a_plan_fail(tmp_path: Path, name: str) -> None:
    rows = pl.DataFrame({"query_id": ["q", "r"], "doc_id": ["d", "d"], "score": [1.0, 1.0], "run": ["x", "y"]})
    path = tmp_path / "run=x" / name
    path.parent.mkdir()
    rows.write_csv(path) if name.endswith("csv") else rows.write_parquet(path)
    with pytest.raises(pl.exceptions.PolarsError, match="has rows of another; move it"):
        scan_run(path).collect()


@pytest.mark.parametrize("name", ["part.parquet", "part.csv"])
def test_the_days_of_a_lake_are_a_column_beside_its_systems(tmp_path: Path, name: str) -> None:
    for day in ("2026-11-01", "2026-11-02"):
        folder = tmp_path / f"date={day}"
        folder.mkdir()
        part = pl.DataFrame({"system": ["a"], "query_id": ["q"], "doc_id": ["d"], "score": [1.0]})
        getattr(part, f"write_{Path(name).suffix[1:]}")(folder / name)
    for source in (tmp_path, tmp_path / "*" / name, tmp_path / "date=2026-11-01"):
        rows = read_run(source)
        assert (rows["date"][0], rows["system"].unique().to_list()) == (date(2026, 11, 1), ["a"])
    assert scan_run(tmp_path).ir.evaluate({"q": ["d"]}, "RR", by="date").collect()["RR"].to_list() == [1, 1]
    (tmp_path / "date=yesterday").mkdir()
    (tmp_path / "date=2026-11-02").rename(tmp_path / "date=yesterday" / "date=2026-11-02")
    assert read_run(tmp_path)["date"].to_list() == [date(2026, 11, 1), date(2026, 11, 2)]


def test_a_lake_whose_systems_have_another_name_says_which(tmp_path: Path) -> None:
    for model in ("a", "b"):
        folder = tmp_path / f"model={model}"
        folder.mkdir()
        pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}).write_parquet(folder / "part.parquet")
    run = scan_run(tmp_path)
    with pytest.raises(pl.exceptions.InvalidOperationError, match="if 'model' names the systems, rename it to 'run'"):
        run.ir.evaluate({"q": ["d"]}, "RR").collect()
    named = run.rename({"model": "run"}).ir.evaluate({"q": ["d"]}, "RR")
    assert named.collect().rows() == [("a", "q", 1.0), ("b", "q", 1.0)]


@pytest.mark.parametrize("name", ["part.parquet", "part.csv", "part.ndjson"])
def test_folders_that_hold_no_system_are_parts_of_one_table(tmp_path: Path, name: str) -> None:
    for day in (1, 2):
        folder = tmp_path / f"day={day}"
        folder.mkdir()
        part = pl.DataFrame({"query_id": [f"q{day}"], "doc_id": ["d"], "score": [1.0]})
        getattr(part, f"write_{Path(name).suffix[1:]}")(folder / name)
    assert read_run(tmp_path / "*" / name)["query_id"].to_list() == ["q1", "q2"]


@pytest.mark.parametrize("name", ["part.csv", "part.ndjson"])
def test_folders_hold_the_system_of_every_table(tmp_path: Path, name: str) -> None:
    for system in ("a", "b"):
        folder = tmp_path / f"system={system}"
        folder.mkdir()
        part = pl.DataFrame({"query_id": [f"q{system}"], "doc_id": ["d"], "score": [1.0]})
        getattr(part, f"write_{Path(name).suffix[1:]}")(folder / name)
    assert read_run(tmp_path / "*" / name).rows() == [("a", "qa", "d", 1.0), ("b", "qb", "d", 1.0)]
