"""Folders of BEIR: a corpus, queries, and judgments for each split.

Conventions: `corpus.jsonl` and `queries.jsonl` (`_id`, `title`, `text`), `qrels/{split}.tsv`; each may end in `.gz` or
`.zst`. The corpus, which can be large, is scanned.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, Unpack

import polars as pl

from polars_ir.errors import FileError, InputTypeError
from polars_ir.files.finding.file import COMPRESSED, SHOWN, one_file
from polars_ir.files.finding.sources import MaxRatio, resolve, stem
from polars_ir.files.readers import read_qrels
from polars_ir.files.rows.unreadable import FAILURES, because
from polars_ir.language.options import public


@dataclass(frozen=True)
class Collection:
    """A test collection with its documents.

    Attributes
    ----------
    corpus
        `doc_id`, `title`, `text` (String), not yet read.
    queries
        `query_id`, `text` (String): the queries of the split.
    qrels
        `query_id`, `doc_id` (String), `relevance` (Int64, or Float64 where a grade is a fraction).
    """

    corpus: pl.LazyFrame
    queries: pl.DataFrame
    qrels: pl.DataFrame


class ReadingFolder(TypedDict, total=False):
    """The options of the reader of BEIR's folders."""

    max_ratio: MaxRatio


@public(ReadingFolder)
def read_beir(folder: str | os.PathLike[str], *, split: str = "test", **options: Unpack[ReadingFolder]) -> Collection:
    r"""Read a folder of the BEIR benchmark: the corpus, and the queries and judgments of a split.

    Parameters
    ----------
    folder
        A folder that holds `corpus.jsonl`, `queries.jsonl` and `qrels/`, as BEIR's downloads do.
    split
        The file of `qrels/` to read: `"test"`, `"dev"` or `"train"`, if the folder has it.

    Returns
    -------
    Collection
        `corpus` is a LazyFrame of `doc_id`, `title`, `text`; `queries` a DataFrame of `query_id`, `text`, those that
        have judgments in the split; `qrels` a DataFrame of `query_id`, `doc_id`, `relevance`.

    Raises
    ------
    FileError
        A file is missing or cannot be read; a query has no id, occurs twice, or is judged but missing. The corpus is
        not read: a document without id fails when it is collected, with file and text in the message, and a line that
        is no JSON with Polars' own, which names no file.
    InputTypeError
        `folder` is no path.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polars_ir.files import read_beir
    >>> temporary = tempfile.TemporaryDirectory()
    >>> folder = pathlib.Path(temporary.name)
    >>> _ = (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "Cats", "text": ""}\n', encoding="utf-8")
    >>> _ = (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "who purrs"}\n', encoding="utf-8")
    >>> (folder / "qrels").mkdir()
    >>> _ = (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")
    >>> beir = read_beir(folder)
    >>> beir.qrels.rows()
    [('q1', 'd1', 1)]
    >>> beir.corpus.join(beir.qrels.lazy(), on="doc_id").select("title").collect().item()
    'Cats'
    >>> temporary.cleanup()
    """
    if not isinstance(folder, str | os.PathLike):
        says = f"must be the path of a folder; got {type(folder).__name__}: {folder!r:.80}."
        raise InputTypeError(says, about="folder")
    place = Path(os.path.expanduser(folder))  # noqa: PTH111  # Path's method fails for a user there is not
    if not os.path.isdir(place):  # noqa: PTH112  # Path's method fails for a name that cannot be
        raise FileError.of_file(folder, "there is no such folder.")
    max_ratio = options["max_ratio"]
    corpus = _with_ids(_file(place, "corpus.jsonl"), max_ratio)
    qrels = read_qrels(_file(place / "qrels", f"{split}.tsv"), format="beir", max_ratio=max_ratio)
    return Collection(corpus, _queries(_file(place, "queries.jsonl"), qrels, max_ratio), qrels)


def _queries(file: Path, qrels: pl.DataFrame, max_ratio: float | None) -> pl.DataFrame:
    try:
        queries = _scan_texts(file, max_ratio, "query_id", "text").collect(engine="streaming")
    except FAILURES as error:
        raise because(file, error) from None
    if queries.is_empty():
        raise FileError.empty(file)
    if nameless := queries["query_id"].null_count():
        raise FileError.of_file(file, f"queries without _id: {nameless}.")
    for again in queries.filter(pl.col("query_id").is_duplicated())["query_id"].head(1):
        raise FileError.of_file(file, f"the query {again!r:.80} occurs more than once; keep one.")
    absent = qrels.join(queries, on="query_id", how="anti")["query_id"].unique(maintain_order=True)
    if len(absent):
        raise FileError.of_file(file, f"judged queries missing from it: {len(absent)}, such as {absent[0]!r:.80}.")
    return queries.join(qrels, on="query_id", how="semi", maintain_order="left")


def _with_ids(file: Path, max_ratio: float | None) -> pl.LazyFrame:
    """The documents; collecting them fails natively where one has no id."""
    corpus = _scan_texts(file, max_ratio, "doc_id", "title", "text")
    text = pl.coalesce("title", "text", pl.lit("")).str.head(SHOWN)
    problem = pl.concat_str(pl.lit(f"polars_ir: {file}: a document has no _id: "), text)
    # As in `checked`: a cast from text to a number fails for certain.
    verdict = pl.when(pl.col("doc_id").is_null()).then(problem).otherwise(pl.lit("1")).cast(pl.UInt8)
    return corpus.filter(verdict == 1)


def _scan_texts(file: Path, max_ratio: float | None, id: str, *columns: str) -> pl.LazyFrame:
    """The texts of a file, as it names them, with their id first."""
    # Other fields than those of the schema are left out, and an id that is written as a number becomes text.
    schema = dict.fromkeys(("_id", *columns), pl.String)
    (path,) = resolve(file, max_ratio=max_ratio)
    return pl.scan_ndjson(one_file(path), schema=schema).rename({"_id": id})


def _file(folder: Path, name: str) -> Path:
    """A file of the folder, compressed or not."""
    for ending in ("", *COMPRESSED):
        path = folder / f"{name}{ending}"
        if path.is_file():
            return path
    file_names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    problem = f"there is no such file; the folder holds {', '.join(file_names) or 'nothing'}."
    if folder.name == "qrels":
        splits = ", ".join(repr(stem(Path(file_name))) for file_name in file_names) or "none"
        problem = f"there is no such file; the splits are {splits}."
    raise FileError.of_file(folder / name, problem)
