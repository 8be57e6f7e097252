"""Files that stand for far more than their size are refused before Polars unpacks them."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from messages import message_of
from reading import Write, run_readers

import polars_ir as ir
from polars_ir.errors import FileError, OptionError
from polars_ir.files import read_beir, read_qrels, read_run, scan_qrels, scan_run, tag_of, write_run
from polars_ir.files.finding.file import SMALL, _blocks

Pack = Callable[[bytes], bytes]

RUN = b"q1 Q0 d1 1 0.5 bm25\n"
MANY_LINES = RUN + (b"# " + b"0" * 997 + b"\n") * (SMALL // 1000 + 1000)
ONE_LINE = b"q1 Q0 " + b"0" * (17 << 20)


def zstandard(content: bytes) -> bytes:
    """The bytes as frames of Zstandard, a frame each of three megabytes."""
    pyarrow = pytest.importorskip("pyarrow")
    step = 3 << 20
    parts = [content[start : start + step] for start in range(0, len(content), step)] or [b""]
    return b"".join(pyarrow.compress(part, codec="zstd", asbytes=True) for part in parts)


def in_members(content: bytes) -> bytes:
    """The bytes as many members of gzip."""
    step = 1 << 20
    return b"".join(gzip.compress(content[start : start + step]) for start in range(0, len(content), step))


#: The ways of packing files; the large contents only once.
PACKS: dict[str, Pack] = {
    "a.run.gz": cache(gzip.compress),
    "b.run.gz": cache(in_members),
    "a.run.zst": cache(zstandard),
}
every_pack = pytest.mark.parametrize("name", PACKS)
every_reader = pytest.mark.parametrize("reader", [read_run, scan_run, read_qrels, scan_qrels, tag_of])


@pytest.fixture
def nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polars may not look into a file."""

    def fail(*_: object, **__: object) -> None:
        pytest.fail("Polars was asked to read it")

    for name in ("scan_lines", "scan_csv", "read_csv", "scan_ndjson"):
        monkeypatch.setattr(pl, name, fail)


@every_reader
@every_pack
@pytest.mark.usefixtures("nothing_is_read")
@pytest.mark.whole("large files", quick=3)
def test_a_text_that_unpacks_to_a_hundred_times_its_size_is_refused(write: Write, name: str, reader: Any) -> None:
    path = write(PACKS[name](MANY_LINES), name)
    assert message_of(lambda: reader(path), FileError) == (
        f"{path}: it would unpack to more than 100 times its {path.stat().st_size} bytes. If you trust where it "
        "comes from, allow more: max_ratio=1000."
    )


@every_pack
@pytest.mark.parametrize("ratio", [1e6, None])
@pytest.mark.whole("large files", quick=1)
def test_a_higher_ratio_lets_it_be_read(write: Write, name: str, ratio: float | None) -> None:
    path = write(PACKS[name](MANY_LINES), name)
    assert read_run(path, max_ratio=ratio).rows() == [("q1", "d1", 1, 0.5)]
    assert scan_run(path, max_ratio=ratio).collect().rows() == [("q1", "d1", 1, 0.5)]
    assert tag_of(path, max_ratio=ratio) == "bm25"


@every_pack
@pytest.mark.whole("large files")
def test_64_megabytes_are_read_from_any_file(write: Write, name: str) -> None:
    content = MANY_LINES[: SMALL - (1 << 20)]
    assert read_run(write(PACKS[name](content), name), max_ratio=1).height == 1


@every_reader
@pytest.mark.usefixtures("nothing_is_read")
@pytest.mark.parametrize("before", [b"", b"\n" * 3, b"# comment\n" * 200_000])
@pytest.mark.whole("large files", quick=5)
def test_a_line_of_more_than_16_megabytes_is_refused_while_gzip_is_unpacked(
    write: Write, before: bytes, reader: Any
) -> None:
    path = write(gzip.compress(before + ONE_LINE + b"\n" + RUN), "a.gz")
    with pytest.raises(FileError) as error:
        reader(path)
    number = before.count(b"\n") + 1
    told = f"{path}, line {number}: the line has more than 16 MB; lines end in \\n.\n    'q1 Q0 000"
    assert str(error.value).startswith(told)


@pytest.mark.whole("a large file")
def test_a_line_of_nearly_16_megabytes_is_none_too_long(write: Write) -> None:
    line = b"q1 Q0 d1 1 0.5 " + b"0" * (15 << 20) + b"\n"
    assert read_run(write(gzip.compress(line * 2), "a.gz")).height == 2


@pytest.mark.whole("a large file")
def test_json_may_be_a_single_line_of_any_length(write: Write) -> None:
    content = json.dumps({"q1": {f"document {number:070}": 1.0 for number in range(200_000)}}).encode()
    assert len(content) > 16 << 20
    assert read_run(write(gzip.compress(b"\xef\xbb\xbf \n" + content), "a.json.gz")).height == 200_000


@pytest.mark.parametrize("size", [0, 1, 131_072, 131_073, 5_000_000])
def test_the_blocks_of_zstandard_tell_the_size_of_usual_files(size: int) -> None:
    generator = pl.Series(range(size // 8 + 1)).hash().to_numpy().tobytes()[:size]
    for content in (generator, bytes(size), generator[: size // 2] + bytes(size - size // 2)):
        packed = zstandard(content)
        # The last block of each frame may stand for less than it says.
        assert 0 <= sum(_blocks(Path(), io.BytesIO(packed))) - size <= (1 + size // (3 << 20)) << 17


def test_what_polars_writes_in_zstandard_is_within_its_blocks(tmp_path: Path) -> None:
    run = pl.DataFrame({"query_id": "q", "doc_id": pl.Series(range(300_000)).hash(), "score": range(300_000)})
    path = tmp_path / "a.run.zst"
    write_run(run, path)
    write_run(run, tmp_path / "a.run")
    with path.open("rb") as file:
        assert 0 <= sum(_blocks(path, file)) - (tmp_path / "a.run").stat().st_size <= 1 << 18


def test_frames_that_are_skipped_count_nothing(write: Write) -> None:
    skipped = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"12345"
    path = write(zstandard(RUN) + skipped + zstandard(RUN), "a.run.zst")
    assert read_run(path).height == 2


def test_what_follows_zstandard_and_is_none_is_refused(write: Write) -> None:
    path = write(zstandard(RUN) + b"\x27\xb5\x2f\xfd" + bytes(20), "a.run.zst")
    with pytest.raises(FileError, match=r"a\.run\.zst: the file cannot be read: other bytes follow"):
        read_run(path)


def test_damage_in_gzip_is_told_while_it_is_looked_at(write: Write) -> None:
    packed = bytearray(gzip.compress(pl.Series(range(9_000)).hash().to_numpy().tobytes()))
    packed[20_000:20_100] = bytes(100)
    packed[-8:-4] = bytes(4)
    with pytest.raises(FileError, match=r"a\.run\.gz: the file cannot be read: its gzip is damaged, "):
        scan_run(write(bytes(packed), "a.run.gz"))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
@run_readers
def test_a_table_of_more_rows_than_it_could_hold_is_refused(tmp_path: Path, name: str, reader: Any) -> None:
    path, rows = tmp_path / name, SMALL // 24 + 1
    frame = pl.select(query_id=pl.repeat("q", rows), doc_id=pl.repeat("d", rows), score=pl.repeat(1.0, rows))
    if name == "a.parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path, compression="zstd")
    with pytest.raises(FileError, match=r"it would unpack to more than 100 times its \d+ bytes\. .* max_ratio=1000\.$"):
        reader(path)
    assert reader(path, max_ratio=None).lazy().select(pl.len()).collect().item() == rows


@pytest.mark.parametrize("ratio", [0, -1, float("nan"), float("inf"), "100", True])
@pytest.mark.parametrize("reader", [read_run, scan_qrels])
def test_a_ratio_is_a_number_above_0(write: Write, reader: Any, ratio: object) -> None:
    with pytest.raises(OptionError, match=r"^max_ratio must be above 0, up to 1e.100, or None for no limit; got"):
        reader(write(RUN), max_ratio=ratio)


@pytest.mark.whole("a large file")
def test_collections_and_results_of_trec_eval_are_not_unpacked_without_limit_either(
    write: Write, tmp_path: Path
) -> None:
    write(gzip.compress(b'{"_id": "d1", "text": "' + b"0" * SMALL + b'"}\n'), "corpus.jsonl.gz")
    with pytest.raises(FileError, match=r"corpus\.jsonl\.gz: it would unpack"):
        read_beir(tmp_path)
    with pytest.raises(FileError, match=r"a\.eval\.gz: it would unpack"):
        ir.read_trec_eval(write(gzip.compress(b"map\tq1\t0.5\n" * (SMALL // 10)), "a.eval.gz"))
