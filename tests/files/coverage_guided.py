"""Files of any content, made of those that reach new lines of the readers: each is read the same twice, or refused.

`python -m tests.files.coverage_guided --seconds 3600 --seed 7` starts from the broken files of `corpus`, examples of
every format and what earlier runs found, and changes them. A file that leads to a line of `polars_ir/files`, or to a
message, that no other led to is changed further; with `--save` those of new lines are kept. What is not read and not
refused with a `FileError`, or is scanned otherwise than it is read, is printed; then the exit status is 1.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import re
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import polars as pl

from polars_ir import files
from polars_ir.errors import FileError
from polars_ir.files.formats import BY_NAME, FORMATS

READERS = {"run": (files.read_run, files.scan_run), "qrels": (files.read_qrels, files.scan_qrels)}
PACKAGE = str(Path(files.__file__).parent)
CORPUS = Path(__file__).with_name("corpus")
FOUND = CORPUS / "found"

#: The allowed failures of a scan that is collected; Polars panics over some damaged Arrow files.
FAILURES = (FileError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)

#: The variable parts of a message: values, and the text of a line.
_OWN = re.compile(r"'[^']*'|\"[^\"]*\"|[\d.]+|\[.*|\n.*")

#: A message holds no more.
LONGEST_MESSAGE = 4200

#: Bytes with a meaning to some reader.
TOKENS = [
    b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"#", b'"', b'""', b"'", b",", b"{", b"}", b"[", b"]",
    b":", b"\\", b"\\ud800", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe9", b"\xc2\xa0", b"\xe2\x80\xa8", b"\x0b",
    b"\x1f\x8b", b"x\x9c", b"\x28\xb5\x2f\xfd", b"PAR1", b"ARROW1", b"0", b"-1", b"1.5", b"1e400", b"nan", b"-inf",
    b"9" * 25, b"null", b"true", b"NaN", b"query_id", b"doc_id", b"score", b"rank", b"relevance", b"run", b"qid:1",
    b"# docid = d", b"query-id", b'{"q":{"d":1}}', b'"hits":', b'"responses":', b'"requests":', b'"details":',
    b'"_id":', b'"_score":', b'"ratings":', b'"mteb_model_meta":', b"Q0", b"x" * 5000,
]  # fmt: skip


class Input(NamedTuple):
    """The content of a file, how it is called, and as what it is read."""

    content: bytes
    ending: str
    role: str
    format: str | None = None

    @property
    def name(self) -> str:
        """A name that tells everything but the content, and does not repeat."""
        return f"{self.role}-{self.format or 'told'}-{sha256(self.content).hexdigest()[:12]}{self.ending}"


def named(path: Path) -> Input:
    """The input of a file that was kept."""
    role, format, rest = path.name.split("-", 2)
    return Input(path.read_bytes(), "".join(re.findall(r"\.\w+", rest)), role, None if format == "told" else format)


def beginnings() -> list[Input]:
    """The files that the first changes are made to."""
    kept = [named(path) for path in sorted(FOUND.glob("*-*"))]
    broken = [path for path in sorted(CORPUS.iterdir()) if path.is_file() and path.suffix != ".json"]
    corpus = [Input(path.read_bytes(), path.suffix, role) for path in broken for role in READERS]
    examples = [
        Input(text.encode(), ending, role, name)
        for format in FORMATS
        for role, text in format.examples.items()
        for ending, name in ((next(iter(format.extensions), ".txt"), format.name), (".txt", None))
    ]
    packed = [Input(gzip.compress(one.content), f"{one.ending}.gz", *one[2:]) for one in examples]
    return [*corpus, *examples, *packed, *_responses(), *_tables(), *kept]


def _responses() -> Iterator[Input]:
    """Answers of search engines, and MTEB's predictions."""
    hits = {"hits": {"hits": [{"_id": "d1", "_score": 1.5}, {"_id": "d2", "_score": 1}]}}
    rated = {"hits": [{"hit": {"_id": "d1", "_score": 1.5}, "rating": 2}], "unrated_docs": []}
    request = {"requests": [{"id": "q1", "ratings": [{"_id": "d1", "rating": 2}]}]}
    mteb = {"mteb_model_meta": {"model": "m"}, "default": {"test": {"q1": {"d1": 0.5}}}}
    for value in ({"q1": hits}, hits, {"responses": [hits]}, {"details": {"q1": rated}}, request, mteb):
        yield from (Input(json.dumps(value).encode(), ".json", role) for role in READERS)


def _tables() -> Iterator[Input]:
    frame = pl.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", None], "score": [0.5, 1.5], "relevance": [1, 0]})
    for name in ("parquet", "ipc", "ndjson", "csv"):
        written = io.BytesIO()
        BY_NAME[name].writer.sink(frame.lazy(), written)
        yield from (Input(written.getvalue(), BY_NAME[name].extensions[0], role) for role in READERS)
    packed = io.BytesIO()
    frame.lazy().sink_csv(packed, compression="zstd", check_extension=False)
    yield from (Input(packed.getvalue(), ".csv.zst", role) for role in READERS)


def changed(one: Input, other: Input, chance: random.Random) -> Input:
    """An input with some changes, or a part of another one; packed content is unpacked for it, mostly."""
    content = one.content
    is_packed = content.startswith(b"\x1f\x8b") and chance.random() < 0.8
    if is_packed:
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            is_packed = False
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        start, length = chance.randint(0, len(content)), chance.choice((0, 0, 1, 1, 2, 8, 40))
        part = content[start : start + length]
        new = chance.choice((
            b"", part * 2, chance.choice(TOKENS), chance.choice(TOKENS), chance.randbytes(1),
            bytes(byte ^ (1 << chance.randrange(8)) for byte in part),
            _piece(content, chance), _piece(other.content, chance),
        ))  # fmt: skip
        content = content[:start] + new + content[start + length :]
    changed = one._replace(content=gzip.compress(content, mtime=0) if is_packed else content)
    if chance.random() < 0.1:
        changed = changed._replace(ending=other.ending, role=other.role, format=other.format)
    return changed


def _piece(content: bytes, chance: random.Random) -> bytes:
    """Some lines, or some bytes, of a content."""
    lines = content.split(b"\n")
    if len(lines) > 1 and chance.random() < 0.5:
        start = chance.randrange(len(lines))
        return b"\n".join(lines[start : start + chance.randint(1, 4)]) + b"\n"
    start = chance.randint(0, len(content))
    return content[start : start + chance.choice((1, 4, 20, 100))]


class Coverage:
    """The lines of the readers that were run."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Take down what is run meanwhile."""
        if sys.version_info >= (3, 12):
            yield from self._monitored()
            return
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(before)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._trace

    def _monitored(self) -> Iterator[None]:
        monitoring: Any = vars(sys)["monitoring"]
        tool, line = monitoring.PROFILER_ID, monitoring.events.LINE

        def note(code: CodeType, number: int) -> Any:
            if code.co_filename.startswith(PACKAGE):
                self.lines.add((code.co_filename, number))
            return monitoring.DISABLE  # once is enough

        monitoring.use_tool_id(tool, "coverage_guided")
        monitoring.register_callback(tool, line, note)
        monitoring.set_events(tool, line)
        try:
            yield
        finally:
            monitoring.set_events(tool, 0)
            monitoring.free_tool_id(tool)


def outcome(path: Path, role: str, format: Any) -> tuple[str, str | None]:
    """The outcome of a file, as a message without its variable parts, and its fault."""
    read, scan = READERS[role]
    try:
        frame = read(path, format=format)
    except FileError as error:
        told = str(error)
        if str(path) not in told or len(told) > LONGEST_MESSAGE:
            return told, f"a message of {len(told)} characters, or without the file: {told:.300}"
        return told, None if _fails(lambda: scan(path, format=format).collect()) else "scanned, but not read"
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001  # whatever it is, it is a finding
        return type(error).__name__, f"{type(error).__name__}: {error!s:.300}"
    try:
        same = scan(path, format=format).collect().equals(frame)
    except pl.exceptions.InvalidOperationError as error:
        same = "with whole grades like the first lines" in str(error)
    except (Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001
        return "", f"read, but not scanned, {type(error).__name__}: {error!s:.300}"
    return str(frame.schema), None if same else "scanned otherwise than read"


def _fails(act: Callable[[], object]) -> bool:
    try:
        act()
    except FAILURES:
        return True
    return False


class Search:
    """Inputs that led to something new, and what is wrong with any."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.coverage = folder, Coverage()
        self.outcomes: set[tuple[str, str]] = set()
        self.known: list[Input] = []
        self.failures: list[str] = []
        self.tried = 0

    def attempt(self, one: Input) -> tuple[bool, bool]:
        """Read an input; whether that led to new lines, and to a new message."""
        path = self.folder / f"a{one.ending}"
        path.write_bytes(one.content)
        before = len(self.coverage.lines), len(self.outcomes)
        told, wrong = outcome(path, one.role, one.format)
        self.outcomes.add((one.role, _OWN.sub("", told.replace(str(path), ""))))
        self.tried += 1
        if wrong:
            self.failures.append(f"{one.name}: {wrong}\n    {one.content!r:.2000}")
        return len(self.coverage.lines) > before[0], len(self.outcomes) > before[1]


def search(seconds: float, seed: int, save: Path | None = None) -> tuple[int, int, list[str]]:
    """Change inputs for so much CPU time; how many were tried, how many found something new, and what is wrong."""
    chance, n_new = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        found = Search(Path(folder))
        with found.coverage.measured():
            found.known = beginnings()
            for one in found.known:
                found.attempt(one)
            end = time.process_time() + seconds
            while time.process_time() < end:
                one = changed(chance.choice(found.known), chance.choice(found.known), chance)
                lines, message = found.attempt(one)
                if lines or message:
                    found.known.append(one)
                    n_new += 1
                if lines and save:
                    (save / one.name).write_bytes(one.content)
    return found.tried, n_new, found.failures


def main() -> int:
    """Search, and tell what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.files.coverage_guided", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long (%(default)g)")
    parser.add_argument("--seed", type=int, default=0, help="what the changes are made of (%(default)s)")
    parser.add_argument("--save", type=Path, help=f"a folder for files that lead to new lines, as {FOUND.name}")
    given = parser.parse_args()
    tried, n_new, failures = search(given.seconds, given.seed, given.save)
    for failure in failures:
        sys.stdout.write(f"{failure}\n\n")
    sys.stdout.write(f"{tried} files of seed {given.seed}, {n_new} led to something new, {len(failures)} failed\n")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
