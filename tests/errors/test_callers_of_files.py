"""Every error of files through every caller it can pass: Python, where a LazyFrame is read, and the shell.

What the message advises is taken, and then the file is read. The file is long by its tables of what can be wrong.
"""

import gzip
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pytest
from callers import check_words, never_made, noted
from serving import Quiet, serving

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.files import scan_qrels, scan_run, tag_of

RUN, QRELS = b"q1 Q0 d1 1 0.5 a\n", b"q1 0 d1 1\n"
HITS = {"hits": {"hits": [{"_id": "d1", "_score": 1.5}]}}
RATED = {"id": "q1", "ratings": [{"_id": "d1", "rating": 2}]}
ANSWERED = {"hit": {"_id": "d1", "_score": 1.5}, "rating": 2}


def as_json(value: object) -> bytes:
    """A value as the file that holds it."""
    return json.dumps(value).encode()


class Wrong(NamedTuple):
    """A file that cannot be read as a run or as judgments, and what is other once the advice is taken."""

    role: str
    content: bytes
    name: str = "a.txt"
    format: str | None = None
    right: dict[str, Any] | None = None


NEST = b"[" * 100_000

FILES = {
    "no format is told": Wrong("run", b"q1\td1\t1\n", right={"format": "msmarco"}),
    "judgments for a run": Wrong("run", QRELS, right={"role": "qrels"}),
    "a run for judgments": Wrong("qrels", RUN, right={"role": "run"}),
    "three fields": Wrong("qrels", b"query-id\tcorpus-id\tscore\nq1\td1\t1\n", format="trec", right={"format": "beir"}),
    "five fields": Wrong("qrels", b"q1 ann 1 d1 2\n", format="trec", right={"format": "preferences"}),
    "a sample by strata": Wrong("qrels", b"q1 0 d1 1 2\n", format="trec", right={"format": "sample_eval"}),
    "a sample by chance": Wrong("qrels", b"q1 d1 2 1 0.5\n", format="trec", right={"format": "prels"}),
    "chances that are not known": Wrong("qrels", b"q1 d1 2 1 NA\n", format="prels"),
    "a chance of nothing": Wrong("qrels", b"q1 d1 2 1 0\n", format="prels"),
    "ratings for judgments": Wrong("qrels", b"0\t25\t5\t978824351\n", right={"format": "trec"}),
    "a comment without a document": Wrong("qrels", b"2 qid:1 # inc = 1\n", "ltr.txt"),
    "a comment that recurs": Wrong("qrels", b"2 qid:1 # doc 1\n0 qid:1 # doc 2\n", "ltr.txt"),
    "a score in words": Wrong("run", RUN + b"q1 Q0 d2 2 high a\n"),
    "nothing": Wrong("run", b""),
    "nothing in .gz": Wrong("run", b"", "a.run.gz"),
    "comments": Wrong("run", b"# nothing\n", "a.run", "trec"),
    "a table of nothing": Wrong("run", b"", "a.csv"),
    "a header of numbers": Wrong("run", b"1,2\n3,4\n", "a.csv", right={"content": b"query_id,doc_id,score\nq,d,4\n"}),
    "a column too many": Wrong("run", b"query_id,doc_id,score\nq,d,1,2\n", "a.csv"),
    "another encoding": Wrong("run", "query_id,doc_id,score\nq,é,1\n".encode("latin-1"), "a.csv"),
    "a carriage return": Wrong("run", b"query_id,doc_id,score\nq,d,1\nq,e\r,2,f\n", "a.csv"),
    "a quote in a field": Wrong(
        "run",
        b'query_id,doc_id,score\n"q",5" d,1\n',
        "a.csv",
        right={"content": b'query_id,doc_id,score\n"q","5"" d",1\n'},
    ),
    "a quote without end": Wrong("run", b'query_id,doc_id,score\nq,"d,1\n', "a.csv"),
    "another header": Wrong("qrels", b"q\td\tg\nq1\td1\t1\n", "a.tsv", "beir"),
    "another compression": Wrong("run", RUN, "a.run.gz", right={"name": "a.run"}),
    "bzip2": Wrong("run", b"BZh91AY&SY" + bytes(30)),
    "LZ4": Wrong("run", b"\x04\x22M\x18" + bytes(30), "a.lz4"),
    "too much in little": Wrong("run", gzip.compress(RUN * 5_000_000, 1), "a.run.gz"),
    "a line too long": Wrong("run", gzip.compress(bytes(17 << 20)), "a.run.gz"),
    "damaged gzip": Wrong("run", gzip.compress(os.urandom(1 << 17))[:50_000] + bytes(1 << 16), "a.run.gz"),
    "more than Zstandard": Wrong("run", b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00" + b"more of it", "a.run.zst"),
    "a damaged table": Wrong("run", b"PAR1" + bytes(40) + b"PAR1", "a.parquet"),
    "an empty table": Wrong("run", b"", "a.parquet"),
    "no object a line": Wrong("run", b'{"query_id": "q"}\n[1]\n', "a.ndjson"),
    "no line of objects": Wrong("run", b"\n", "a.ndjson"),
    "half a character a line": Wrong("run", b'{"query_id": "\\ud800", "doc_id": "d", "score": 1}\n', "a.ndjson"),
    "broken JSON": Wrong("run", b'{"q1": {"d1": 0.5}', "a.json"),
    "objects in JSON": Wrong(
        "run", b'{"query_id": "q", "doc_id": "d", "score": 1}\n' * 2, "a.json", right={"format": "ndjson"}
    ),
    "deep JSON": Wrong("run", NEST, "a.json"),
    "no JSON at all": Wrong("run", b" ", "a.json"),
    "no query in JSON": Wrong("run", b"{}", "a.json"),
    "half a character": Wrong("run", b'{"q": {"\\ud800": 1}}', "a.json"),
    "a text for a score": Wrong("run", as_json({"q": {"d": "high"}}), "a.json"),
    "an infinite score": Wrong("run", b'{"q": {"d": 1e999}}', "a.json"),
    "a query twice": Wrong("run", b'{"q": {"d": 1}, "q": {"d": 2}}', "a.json"),
    "rows in JSON": Wrong(
        "run",
        as_json([{"query_id": "q", "doc_id": "d", "score": 1}]),
        "a.json",
        right={"content": as_json({"query_id": "q", "doc_id": "d", "score": 1}), "format": "ndjson"},
    ),
    "a run of MTEB": Wrong(
        "qrels", as_json({"mteb_model_meta": {}, "s": {"t": {"q": {"d": 1}}}}), "a.json", right={"role": "run"}
    ),
    "a search": Wrong("run", as_json(HITS), "a.json", right={"content": as_json({"q1": HITS})}),
    "searches a line": Wrong("run", as_json(HITS), "a.ndjson"),
    "a request": Wrong("run", as_json({"requests": [RATED]}), "a.json", right={"role": "qrels"}),
    "hits for judgments": Wrong("qrels", as_json({"q1": HITS}), "a.json", right={"role": "run"}),
    "no hit": Wrong("run", as_json({"q1": {"hits": {"hits": []}}}), "a.json"),
    "a search cut short": Wrong("run", as_json({"q1": {**HITS, "timed_out": True}}), "a.json"),
    "a hit without score": Wrong("run", as_json({"q1": {"hits": {"hits": [{"_id": "d", "_score": None}]}}}), "a.json"),
    "a hit without id": Wrong("run", as_json({"q1": {"hits": {"hits": [{"_score": 1}]}}}), "a.json"),
    "a text for a hit's score": Wrong(
        "run", as_json({"q1": {"hits": {"hits": [{"_id": "d", "_score": "1"}]}}}), "a.json"
    ),
    "another thing beside": Wrong("run", as_json({"q1": HITS, "q2": 3}), "a.json"),
    "a query of another shape": Wrong("run", as_json({"q1": ["a"], "q2": {"d": 1}}), "a.json"),
    "no document in lists": Wrong("run", as_json({"q1": []}), "a.json"),
    "an id that is a list": Wrong("run", as_json({"q1": {"response": {"docs": [{"id": ["d"]}]}}}), "a.json"),
    "a document of Solr without id": Wrong("run", as_json({"q1": {"response": {"docs": [{"score": 1}]}}}), "a.json"),
    "a rating in words": Wrong(
        "qrels",
        as_json({"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "good"}]}]}),
        "a.json",
    ),
    "a request without id": Wrong("qrels", as_json({"requests": [{"ratings": []}]}), "a.json"),
}


READ = {"run": (ir.read_run, scan_run), "qrels": (ir.read_qrels, scan_qrels)}


def converted(path: Path, role: str, format: str | None) -> int:
    """The error of the shell for a file."""
    options = [*(["--qrels"] if role == "qrels" else []), *(["--format", format] if format else [])]
    return main(["convert", *options, str(path), str(path.parent / "written.parquet")])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.whole("one wording through many callers", quick=20)
def test_a_file_says_what_is_wrong_in_the_words_of_the_door(name, tmp_path, capsys):
    wrong = FILES[name]
    path = tmp_path / wrong.name
    path.write_bytes(wrong.content)
    read, scan = READ[wrong.role]
    with pytest.raises(ir.IRError) as error:
        read(path, format=wrong.format)
    assert wrong.name in str(error.value)
    assert not re.search(r"(?<![\w-])--[a-z]", str(error.value))
    with pytest.raises((ir.IRError, pl.exceptions.PolarsError), match=re.escape(wrong.name)):
        scan(path, format=wrong.format).collect()
    assert converted(path, wrong.role, wrong.format) == 2
    message = capsys.readouterr().err
    assert wrong.name in message
    check_words(message)


@pytest.mark.parametrize("name", [name for name, wrong in FILES.items() if wrong.right])
def test_a_file_is_read_as_its_message_advises(name, tmp_path):
    wrong = FILES[name]
    right = wrong._replace(**wrong.right)
    path = tmp_path / right.name
    path.write_bytes(right.content)
    read, scan = READ[right.role]
    assert read(path, format=right.format).height > 0
    assert scan(path, format=right.format).collect().height > 0
    assert converted(path, right.role, right.format) == 0


def code_of(call: Callable[[], object]) -> str:
    """The code that an error advises."""
    with pytest.raises(ir.IRError) as error:
        call()
    code = error.value.caller.code(error.value.fix)
    assert code in str(error.value)
    return code


def test_the_code_of_an_advice_runs_and_helps(tmp_path):
    rows, searches, lake = tmp_path / "rows.json", tmp_path / "searches.json", tmp_path / "lake"
    rows.write_bytes(FILES["rows in JSON"].content)
    run = eval(code_of(lambda: ir.read_run(rows)), {"pl": pl})  # noqa: S307  # our own advice, as a user types it
    assert ir.evaluate(run, {"q": {"d": 1}}, "RR")["RR"].to_list() == [1.0]
    searches.write_bytes(as_json(HITS))
    code = code_of(lambda: ir.read_run(searches))
    with searches.open("w", encoding="utf-8") as file:
        exec(code, {"json": json, "query_ids": ["q1"], "responses": [HITS], "file": file})  # noqa: S102
    assert ir.read_run(searches).rows() == [("q1", "d1", 1.5)]
    (lake / "run=a").mkdir(parents=True)
    pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}).write_parquet(lake / "run=a" / "0.parquet")
    assert ir.evaluate(ir.read_run(lake), {"q": {"d": 1}}, "RR").rows() == [("a", "q", 1.0)]


@pytest.mark.whole("ranx")
def test_a_run_of_ranx_is_saved_as_advised(tmp_path):
    ranx = pytest.importorskip("ranx")
    path = tmp_path / "a.lz4"
    ranx.Run({"q1": {"d1": 0.5}}).save(str(path))
    exec(code_of(lambda: ir.read_run(path)), {"ranx": ranx})  # noqa: S102  # our own advice, as a user types it
    assert ir.read_run(tmp_path / "a.json").rows() == [("q1", "d1", 0.5)]


#: Names of no readable file, as typed in Python and in the shell, in a folder with a run `a.run`.
NAMES = {
    "a name like another": "b.run",
    "no match": "x*.run",
    "a folder": ".",
    "a folder at a URL": "https://example.org/a/",
    "a pattern at a URL": "https://example.org/*.run",
    "another kind of URL": "ftp://example.org/a.run",
    "a URL that is none": "https://[::1/a.run",
    "another machine": "file://example.org/a.run",
    "a name too long": "a" * 5000,
    "a link to nothing": "link.run",
    "no name": "",
    "a device": "/dev/null",
    "a file that fails": "/proc/self/mem",
    "a name that is no text": os.fsdecode(b"\xff.run"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="links, devices and such names are other things elsewhere")
@pytest.mark.parametrize("name", NAMES)
def test_a_name_says_what_is_wrong_in_the_words_of_the_door(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = in_a_folder(tmp_path, NAMES[name])
    for read in (ir.read_run, scan_run, ir.read_qrels, scan_qrels):
        with pytest.raises(ir.IRError):
            read(source)
    assert main(["convert", source, "written.parquet"]) == 2
    check_words(capsys.readouterr().err)


def in_a_folder(folder: Path, name: str) -> str:
    """A name, in a folder with a run, a link that leads nowhere, a lake, and a file whose name is no text."""
    (folder / "a.run").write_bytes(RUN)
    (folder / "link.run").symlink_to("nowhere")
    for system in "ab":
        (folder / "lake" / f"run={system}").mkdir(parents=True)
        (folder / "lake" / f"run={system}" / "0.csv").write_text(
            "query_id,doc_id,score,relevance\nq,d,1,1\n", encoding="utf-8"
        )
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.run")).write_bytes(RUN)
    return name


def test_a_url_is_refused_in_the_words_of_the_door(tmp_path, capsys):
    with pytest.raises(ir.IRError, match=r"Allow it: remote=True\.$"):
        ir.read_run("https://example.org/a.run", remote=False)
    assert main(["convert", "--local-only", "https://example.org/a.run", str(tmp_path / "a.parquet")]) == 2
    message = capsys.readouterr().err
    assert "leave out --local-only" in message
    check_words(message)


#: Lengths of a run in the headers of servers, and their faults.
LENGTHS = {
    "/no.run": "Content-Length",
    "/1000.run": f"the server sent {len(RUN)} of 1000",
    f"/{10**15}.run": "free for a copy",
}


class Server(Quiet, BaseHTTPRequestHandler):
    """Sends a run, and says that it has as many bytes as its name says."""

    def do_GET(self) -> None:
        self.send_response(200)
        length = self.path[1:].removesuffix(".run")
        if length.isdecimal():
            self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(RUN)


@pytest.fixture
def server() -> Iterator[str]:
    with serving(Server) as address:
        yield address


@pytest.mark.parametrize("path", LENGTHS)
def test_a_body_of_another_length_is_refused_in_the_words_of_the_door(server, path, tmp_path, capsys):
    with pytest.raises(ir.IRError, match=LENGTHS[path]):
        ir.read_run(server + path)
    assert main(["convert", server + path, str(tmp_path / "a.parquet")]) == 2
    check_words(message := capsys.readouterr().err)
    assert LENGTHS[path] in message


#: A run or judgments that cannot be written so, whether the shell can be asked for it, and how the path is mended.
TABLES = {
    "run": {"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [0.5, 0.25]},
    "empty": {"query_id": ["q"], "doc_id": ["d"], "score": [0.5]},
    "blank": {"query_id": ["q 1"], "doc_id": ["d1"], "score": [0.5]},
    "infinite": {"query_id": ["q1"], "doc_id": ["d1"], "score": [float("inf")]},
    "systems": {"run": ["a", "b"], "query_id": ["q1"] * 2, "doc_id": ["d1"] * 2, "score": [0.5, 0.25]},
    "paths": {"run": ["a/1", "b/1"], "query_id": ["q1"] * 2, "doc_id": ["d1"] * 2, "score": [0.5, 0.25]},
}
JUDGED = pl.DataFrame({"query_id": ["q"], "judge": ["x"], "doc_id": ["d"], "relevance": [1]})
WRITTEN = {
    "ids with blanks": ("blank", "a.run", "a.parquet"),
    "infinity in JSON": ("infinite", "a.json", "a.parquet"),
    "systems in one file": ("systems", "a.run", "{run}.run"),
    "no system to name a file by": ("run", "{run}.run", "a.run"),
    "paths for names": ("paths", "{run}.run", None),
    "a table in .gz": ("run", "a.parquet.gz", "a.parquet"),
    "no such folder": ("run", "nowhere/a.run", "a.run"),
}


@pytest.mark.parametrize("library", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.whole("one wording through many callers", quick=8)
def test_a_writer_says_what_is_wrong_in_the_words_of_the_door(name, library, tmp_path, capsys):
    table, wrong, right = WRITTEN[name]
    run = library(TABLES[table])
    with pytest.raises(ir.IRError) as error:
        ir.write_run(run, tmp_path / wrong)
    if right is None:
        run = eval(error.value.caller.code(error.value.fix), {"pl": pl, "run": run})  # noqa: S307  # our own advice
    ir.write_run(run, tmp_path / (right or wrong))
    source = tmp_path / "source.parquet"
    pl.DataFrame(TABLES[table]).write_parquet(source)
    assert main(["convert", str(source), str(tmp_path / wrong)]) == 2
    check_words(capsys.readouterr().err)
    if right is not None:
        assert main(["convert", str(source), str(tmp_path / right)]) == 0


#: The options of a store that does not answer, and is not asked again.
NO_STORE = {"aws_endpoint_url": "http://127.0.0.1:1", "aws_region": "x", "aws_allow_http": "true", "max_retries": 0}
NO_STORE |= {"aws_access_key_id": "a", "aws_secret_access_key": "b"}

#: Errors that only a program can get: what is given is no path or no format, or the shell has no such function.
OF_PROGRAMS: dict[str, Callable[[Path], object]] = {
    "no path": lambda _: ir.read_run(3),
    "no name in a list": lambda _: ir.read_run([]),
    "a file twice": lambda folder: ir.read_run([folder / "a.run"] * 2),
    "no format": lambda folder: ir.read_run(folder / "a.run", format="trek"),
    "two formats": lambda folder: ir.read_run([folder / "a.run", folder / "a.parquet"]),
    "other columns": lambda folder: ir.read_run([folder / "a.csv", folder / "b.csv"]),
    "other columns in tables": lambda folder: ir.read_run([folder / "a.parquet", folder / "b.parquet"]),
    "other columns in JSON": lambda folder: ir.read_run([folder / "a.json", folder / "b.json"]),
    "a part with a null id": lambda folder: ir.read_run([folder / "a.parquet", folder / "c.parquet"]),
    "no tag": lambda folder: tag_of(folder / "short.run"),
    "a tag that is no text": lambda folder: ir.write_run(pl.DataFrame(TABLES["run"]), folder / "b.run", tag="\ud800"),
    "no path to write": lambda _: ir.write_run(pl.DataFrame(TABLES["run"]), 3),
    "a URL to write to": lambda _: ir.write_run(pl.DataFrame(TABLES["run"]), "https://example.org/a.run"),
    "no store": lambda _: ir.write_run(pl.DataFrame(TABLES["run"]), "s3://bucket/a.run", storage_options=NO_STORE),
    "a NUL in a path": lambda _: ir.write_run(pl.DataFrame(TABLES["run"]), "a\0.run"),
    "no format to write": lambda folder: ir.write_run(pl.DataFrame(TABLES["run"]), folder / "a", format="letor"),
    "nothing to write": lambda folder: ir.write_run(pl.DataFrame(TABLES["run"]).head(0), folder / "b.run"),
    "no judge": lambda folder: ir.write_qrels({"q": {"d": 1}}, folder / "q", format="preferences"),
    "no group": lambda folder: ir.write_qrels(JUDGED, folder / "q", format="preferences"),
    "no folder of BEIR": lambda _: ir.files.read_beir(3),
    "no such folder of BEIR": lambda folder: ir.files.read_beir(folder / "nowhere"),
    "no corpus": ir.files.read_beir,
    "no query": lambda folder: ir.files.read_beir(beir(folder, "\n")),
    "a query without id": lambda folder: ir.files.read_beir(beir(folder, '{"text": "a"}\n')),
    "a query twice": lambda folder: ir.files.read_beir(beir(folder, '{"_id": "q1", "text": "a"}\n' * 2)),
    "a judged query that is not there": lambda folder: ir.files.read_beir(beir(folder, '{"_id": "q2", "text": "a"}\n')),
}


def beir(folder: Path, queries: str) -> Path:
    """A folder of BEIR with such queries."""
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "A", "text": "a"}\n', encoding="utf-8")
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")
    return folder


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A folder with files that do not go together."""
    run = pl.DataFrame(TABLES["run"])
    (tmp_path / "a.run").write_bytes(RUN)
    (tmp_path / "short.run").write_bytes(b"q1 Q0 d1\n")
    run.write_csv(tmp_path / "a.csv")
    run.with_columns(rank=1).write_csv(tmp_path / "b.csv")
    run.write_parquet(tmp_path / "a.parquet")
    run.with_columns(tag=pl.lit("a")).write_parquet(tmp_path / "b.parquet")
    run.with_columns(doc_id=pl.lit(None, pl.String)).write_parquet(tmp_path / "c.parquet")
    (tmp_path / "a.json").write_bytes(as_json({"q1": {"d1": 1}}))
    (tmp_path / "b.json").write_bytes(FILES["a run of MTEB"].content)
    return tmp_path


@pytest.mark.parametrize("name", OF_PROGRAMS)
def test_what_only_a_program_can_get_wrong_is_an_error(name, parts):
    with pytest.raises(ir.IRError) as error:
        OF_PROGRAMS[name](parts)
    assert not re.search(r"(?<![\w-])--[a-z]", str(error.value))


def test_ratings_of_hits_are_warned_of_in_the_words_of_the_door(tmp_path, capsys):
    path = tmp_path / "a.json"
    path.write_bytes(as_json({"details": {"q1": {"hits": [ANSWERED]}}}))
    with pytest.warns(ir.IRWarning, match="The request has all ratings"):
        assert ir.read_qrels(path).rows() == [("q1", "d1", 2)]
    assert converted(path, "qrels", None) == 0
    check_words(capsys.readouterr().err)


def test_no_file_of_figures_and_no_input_are_errors_of_the_shell(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.csv").write_bytes(b"")
    assert main(["compare", str(tmp_path / "a.csv")]) == 2
    assert "the file is empty" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["convert", "-", str(tmp_path / "a.parquet")]) == 2
    check_words(message := capsys.readouterr().err)
    assert "standard input is closed" in message


@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
@pytest.mark.skipif(sys.platform != "linux", reason="links, devices and such names are other things elsewhere")
def test_every_error_of_files_is_provoked(parts, monkeypatch, server):
    """Whoever adds an error to `files/` adds what provokes it above, so that each of its callers is tried."""
    monkeypatch.chdir(parts)
    with noted(monkeypatch) as lines:
        for name, wrong in FILES.items():
            path = parts / f"{sorted(FILES).index(name)}{wrong.name}"
            path.write_bytes(wrong.content)
            for read in READ[wrong.role]:
                tried(lambda read=read, path=path, wrong=wrong: read(path, format=wrong.format).lazy().collect())
        for call in OF_PROGRAMS.values():
            tried(lambda call=call: call(parts))
        (parts / "sample.qrels").write_bytes(b"q1 0 d1 1 2\nq1 0 d2 2 0\n")
        ir.read_qrels(parts / "sample.qrels", format="preferences")
        in_a_folder(parts, "")
        for source in NAMES.values():
            tried(lambda source=source: ir.read_run(source))
        (parts / "other" / "run=a").mkdir(parents=True)
        (parts / "other" / "run=a" / "0.csv").write_text("run,query_id,doc_id,score\nb,q,d,1\n", encoding="utf-8")
        tried(lambda: ir.read_run("other"))
        rows = "run,query_id,doc_id,score\na,q,d,1\nb,q,d,1\n"
        (parts / "other" / "run=a" / "0.csv").write_text(rows, encoding="utf-8")
        tried(lambda: ir.read_run("other"))
        for path in LENGTHS:
            tried(lambda path=path: ir.read_run(server + path))
        tried(lambda: ir.read_run("https://example.org/a.run", remote=False))
        (parts / "hits.json").write_bytes(as_json({"details": {"q1": {"hits": [ANSWERED]}}}))
        ir.read_qrels(parts / "hits.json")
        tried(lambda: ir.read_qrels(parts / "hits.json", grades={"good": 1}))
        (parts / "esci.csv").write_bytes(b"query_id,product_id,esci_label\nq1,a,E\n")
        tried(lambda: ir.read_qrels(parts / "esci.csv", grades={"E": 1}))
        pl.DataFrame({"query_id": ["q1"], "doc_id": ["a"]}).write_parquet(parts / "ids.parquet")
        tried(lambda: ir.read_qrels(parts / "ids.parquet", grades={"E": 1}))
        (parts / "comment.run").write_bytes(RUN + b"#" + RUN)
        ir.read_run(parts / "comment.run")
        (parts / "not_drawn.prels").write_bytes(b"q1 d1 1 1 NA\nq1 d2 1 1 0.5\n")
        ir.read_qrels(parts / "not_drawn.prels", format="prels")
        drawn = pl.DataFrame({**TABLES["blank"], "relevance": 1, "inclusion_probability": 0.5})
        tried(lambda: ir.write_qrels(drawn, parts / "drawn.qrels"))
        (parts / "tags.run").write_bytes(RUN + RUN.replace(b"d1", b"d9").rstrip() + b"b\n")
        ir.read_run(parts / "tags.run")
        (parts / "empty.csv").write_bytes(b"")
        main(["compare", str(parts / "empty.csv")])
        (parts / "no_rows.csv").write_bytes(b"query_id,AP\n")
        main(["compare", str(parts / "no_rows.csv")])
        (parts / "lists.csv").write_text("query_id,retrieved,relevant\nq,\"['a', 'b']\",['a']\n", encoding="utf-8")
        tried(lambda: ir.read_run(parts / "lists.csv"))
        (parts / "text.json").write_bytes(b'"a text"')
        (parts / "texts.odt").write_bytes(b"no table")
        for log in ("text.json", "texts.odt", "*.csv"):
            tried(lambda log=log: ir.read_log(parts / log))
        main(["report", str(parts / "tags.run"), "--qrels", str(parts / "tags.run"), "--queries", "texts.odt"])
        (parts / "empty.csv-metadata.json").write_bytes(as_json({"provenance": {}, "sha256": "of another"}))
        tried(lambda: ir.provenance(parts / "empty.csv"))
        monkeypatch.setattr(sys, "stdin", None)
        main(["convert", "-", "written.parquet"])
        for table, wrong, _ in WRITTEN.values():
            tried(lambda table=table, wrong=wrong: ir.write_run(pl.DataFrame(TABLES[table]), parts / wrong))
    assert not (never := never_made("files", lines)), ", ".join(never)


def tried(call: Callable[[], object]) -> None:
    """A call that fails, or only warns."""
    with suppress(ir.IRError, pl.exceptions.PolarsError):
        call()
