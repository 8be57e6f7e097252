"""The writers: what they write, the readers read back equal.

Conventions: what a format can not hold (an id with a blank in a TREC file) is an error before anything is written. A
LazyFrame of a run is never held as a whole but for JSON: tables stream, and where ranks rise, in TREC files and MS
MARCO's, some queries are sorted at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.errors import SHOWN, ColumnError, DataError, FileError, InputTypeError, OptionError, explain_options
from polars_ir.files.formats import COMPRESSED, Format, by_extension
from polars_ir.files.sinks import BINARY, sink
from polars_ir.files.trec import QRELS_FIELDS
from polars_ir.schema import Table, qrels_table, run_table

#: The endings of tables.
TABLES = {".parquet": "parquet", ".arrow": "ipc", ".csv": "csv", ".tsv": "tsv", ".ndjson": "ndjson"}

#: So many rows of a TREC run are sorted at a time, and more only of a query that has more: about 1 GB of memory. Each
#: time is a pass over what is written, so that fewer would make it slow.
ROWS_AT_ONCE = 5_000_000


_TABLES: tuple[Format, ...] = ("parquet", "csv", "tsv", "ipc", "ndjson")

#: What can be written.
RUN_FORMATS: tuple[Format, ...] = ("trec", "msmarco", "json", *_TABLES)
QRELS_FORMATS: tuple[Format, ...] = (
    "trec", "subtopics", "judges", "preferences", "msmarco", "beir", "json", *_TABLES
)  # fmt: skip

#: Texts without a column of systems, and those that hold fields between blanks.
_OF_ONE_SYSTEM = ("trec", "msmarco", "json")
_FIELDS = ("trec", "subtopics", "judges", "preferences", "msmarco")


@explain_options
def write_run(run: Any, path: str | os.PathLike[str], *, format: Format | None = None, tag: str | None = None) -> None:
    """Write a run to a file, or the runs of several systems to a file each.

    `sink_run` is the same function, under the name that Polars gives to the writing of a LazyFrame.

    Parameters
    ----------
    run
        A run in any form that `evaluate` takes. A LazyFrame may be larger than memory; for a TREC file it is run
        several times, to check it and to write some of its queries at a time.
    path
        The file. Its extension tells the format (`.gz` and `.zst` may follow that of a text); whatever has none that is
        known is TREC. Several systems are written to a file each where the path holds `{run}`, as in
        `"runs/{run}.run.gz"`; a table holds them in a column.
    format
        `"trec"`, `"parquet"`, `"csv"`, `"tsv"`, `"ipc"`, `"ndjson"`, `"json"` (`{query: {document: score}}`, as
        pytrec_eval and ranx read it) or `"msmarco"` (`query_id doc_id rank score`), if the extension does not tell.
    tag
        The last field of a TREC file's lines; by default the system's name, or `polars_ir`.

    Raises
    ------
    IRError
        For a table that is no run, ids that a TREC file can not hold (blanks, nothing at all, `#` first), or a file
        that can not be written. The file that was there stays as it was. Documents that a query has twice, which can
        not be evaluated, are written as they are, but in JSON, which can not hold them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars_ir as ir
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "mine.run")
    >>> ir.write_run({"q1": {"d1": 0.5, "d2": 2}}, file, tag="mine")
    >>> print(file.read_text(), end="")
    q1 Q0 d2 1 2.0 mine
    q1 Q0 d1 2 0.5 mine
    >>> folder.cleanup()
    """
    table = run_table(run)
    kind = _format(path, format, RUN_FORMATS)
    if "{run}" in os.fspath(path):
        for system, file, of_system in each_system("run", table, path):
            _write_run(of_system, file, kind, tag or system)
    elif kind in _OF_ONE_SYSTEM and "run" in table.dtypes:
        raise OptionError(f"a file of {kind} holds one system; write each to its own: path='runs/{{run}}.run'.")
    else:
        _write_run(table, Path(path), kind, tag or "polars_ir")


sink_run = write_run


@explain_options
def write_qrels(qrels: Any, path: str | os.PathLike[str], *, format: Format | None = None) -> None:
    """Write judgments to a file; `sink_qrels` is the same function, as `sink_run` is `write_run`.

    Parameters
    ----------
    qrels
        Judgments in any form that `evaluate` takes.
    path
        The file; its extension tells the format, as for `write_run`.
    format
        `"trec"`, `"beir"`, `"msmarco"` (TREC's fields between tabs), `"json"` (`{query: {document: grade}}`),
        `"parquet"`, `"csv"`, `"tsv"`, `"ipc"` or `"ndjson"`; also `"subtopics"`, `"judges"` and `"preferences"`, which
        are TREC files with the columns that `read_qrels` reads from them.

    Raises
    ------
    IRError
        For judgments that can not be evaluated; ids or grades that the format can not hold, or a document that is
        there twice in a text that is no table; a file that can not be written. The file that was there stays as it was.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars_ir as ir
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "qrels.txt")
    >>> ir.write_qrels({"q1": {"d1": 0, "d2": 2}}, file)
    >>> print(file.read_text(), end="")
    q1 0 d1 0
    q1 0 d2 2
    >>> folder.cleanup()
    """
    kind = _format(path, format, QRELS_FORMATS)
    per = {"subtopics": "subtopic", "judges": "judge", "preferences": "judge"}.get(kind)
    table = qrels_table(qrels, per=per)
    rows = table.all_columns().sort("query_id", maintain_order=True)
    fields = _fields_of_qrels(kind, table)
    if kind not in _TABLES:
        keys = list(QRELS_FIELDS.get(kind, QRELS_FIELDS["trec"]))[:-1]
        remedy = "Keep one of each; of subtopics or judges, write that format or a table (.parquet, .csv)."
        _check_once("qrels", rows, keys, remedy)
    if kind in _FIELDS:
        _check_fields("qrels", rows.select(fields[:-1]), table)
        sink([rows.select(fields)], Path(path), "msmarco" if kind == "msmarco" else "trec")
    elif kind == "beir":
        nothing = rows.select("query_id", "doc_id").filter(pl.col("doc_id").is_null())
        _raise_if_any("qrels", nothing, "without a document", "Leave them out, or write a table (.parquet).", {})
        names = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
        sink([rows.select(list(names)).rename(names)], Path(path), "tsv")
    else:
        sink([rows.select("query_id", "doc_id", "relevance") if kind == "json" else rows], Path(path), kind)


def _fields_of_qrels(kind: str, table: Table) -> list[pl.Expr]:
    """The fields of a line of judgments, the grade last."""
    layout = QRELS_FIELDS.get(kind, QRELS_FIELDS["trec"])
    for name in layout:
        if name not in table.dtypes:
            raise ColumnError.no_per(name, (), list(table.dtypes))
    fields = [pl.col(name) for name in layout]
    return fields if 1 in layout.values() else [fields[0], pl.lit("0").alias("iteration"), *fields[1:]]


sink_qrels = write_qrels


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write any table to a file, in the format of its ending, which is one of `TABLES`."""
    sink([frame.lazy()], path, TABLES[path.suffix])


def each_system(name: str, table: Table, path: str | os.PathLike[str]) -> Iterator[tuple[str, Path, Table]]:
    """Every system with its file and its rows, for a path that holds `{run}`.

    A `DataError` for one whose name would be that of a file in another folder, before the first is given.
    """
    text = os.fspath(path)
    if "run" not in table.dtypes:
        raise OptionError(f"path holds {{run}}, and {name} has no column of systems; got {text!r}.")
    systems = table.select("run").unique().sort("run").collect(engine="streaming").to_series()
    names = systems.cast(pl.String).to_list()
    for system in names:
        if system is None or Path(system).name != system or system in ("", ".."):
            raise DataError(
                f"{name} has a system {system!r}, which is no part of a file's name. Rename it, as in "
                f"{name}.with_columns(pl.col('run').str.replace_all('/', '-'))."
            )
    for value, system in zip(systems, names, strict=True):
        rows = table.all_columns().filter(pl.col("run") == value).drop("run")
        yield system, Path(text.replace("{run}", system)), table.made_of(rows)


def _write_run(table: Table, path: Path, kind: str, tag: str) -> None:
    if kind in ("json", "ndjson"):
        _check_scores(table, ~pl.col("score").is_finite(), "whose score is NaN or infinite, which JSON can not hold")
    if kind in ("trec", "msmarco"):
        sink(_ranked(table, kind, tag), path, kind)
    elif kind == "json":
        rows = table.select("query_id", "doc_id", "score").sort("query_id", "score", descending=[False, True])
        _check_once("run", rows, ["query_id", "doc_id"], "Keep one of each, or write a table (.parquet, .csv).")
        sink([rows], path, kind)
    else:
        sink([table.all_columns()], path, kind)


def _ranked(table: Table, kind: str, tag: str) -> list[pl.LazyFrame]:
    """The lines of a run in the order of its ranking, some queries at a time."""
    rows = table.select("query_id", "doc_id", "score")
    _check_fields("run", rows.select("query_id", "doc_id", tag=pl.lit(tag)), table)
    _check_scores(table, pl.col("score").is_null() | pl.col("score").is_nan(), "whose score is null or NaN")
    parts = _some_queries_at_a_time(rows)
    if not parts:
        raise DataError("run has no row, and a TREC file without one can not be told from a broken one; write a table.")
    rank = pl.struct("score", "doc_id").rank("ordinal", descending=True).over("query_id")
    fields: dict[str, list[Any]] = {
        "trec": ["query_id", pl.lit("Q0"), "doc_id", "rank", "score", pl.lit(tag).alias("tag")],
        "msmarco": ["query_id", "doc_id", "rank", "score"],
    }
    return [part.with_columns(rank=rank).sort("query_id", "rank").select(fields[kind]) for part in parts]


def _some_queries_at_a_time(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """The rows in parts that can be sorted in memory, by rising ids of queries."""
    sizes = rows.group_by("query_id").len().sort("query_id").collect(engine="streaming")
    before = pl.col("len").cast(pl.Int64).cum_sum() - pl.col("len")
    query = pl.col("query_id")
    parts = sizes.group_by(before // ROWS_AT_ONCE, maintain_order=True).agg(first=query.first(), last=query.last())
    ends = parts.select("first", "last").rows()
    if len(ends) == 1:
        return [rows]
    return [rows.filter(query.is_between(pl.lit(first), pl.lit(last))) for first, last in ends]


def _check_scores(table: Table, wrong: pl.Expr, problem: str) -> None:
    """Raise a `DataError` for scores that a format can not hold."""
    bad = table.select(*table.keys, "doc_id", "score").filter(wrong)
    _raise_if_any("run", bad, problem, "Leave them out, or write Parquet.", {})


def _raise_if_any(name: str, bad: pl.LazyFrame, problem: str, remedy: str, names: dict[str, str]) -> None:
    shown = bad.head(SHOWN).collect(engine="streaming")
    if shown.height:
        count = bad.select(pl.len()).collect(engine="streaming").item()
        raise DataError.rows(name, problem, remedy, count, shown.rename(names))


def _check_fields(name: str, fields: pl.LazyFrame, table: Table) -> None:
    """Raise a `DataError` for what would not be one field of a line again."""
    first, *_ = columns = fields.collect_schema().names()
    text = [pl.col(column).cast(pl.String) for column in columns]
    broken = pl.any_horizontal(field.is_null() | (field == "") | field.str.contains(r"[\s\x00]") for field in text)
    bad = fields.filter(broken | text[0].str.starts_with("#") | text[0].str.starts_with("\ufeff"))
    names = {role: user for role, user in table.names.items() if role in columns and user not in columns}
    problem = f"that are no fields of a TREC file (empty, with a blank, or {first!r} begins with #)"
    _raise_if_any(name, bad, problem, "Write a table instead (.parquet, .tsv), or give them other ids.", names)


def _check_once(name: str, rows: pl.LazyFrame, keys: list[str], remedy: str) -> None:
    """Raise a `DataError` for documents that are there several times, where the format would not tell why."""
    again = rows.filter(pl.len().over(keys) > 1).select(keys)
    problem = f"that repeat the ids of another ({', '.join(keys)})"
    _raise_if_any(name, again, problem, remedy, {})


def check_path(path: object) -> None:
    """Raise an `InputTypeError` for what is no path."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"path must be the path of a file; got {type(path).__name__}: {path!r:.80}.")


def _format(path: str | os.PathLike[str], format: Format | None, choices: tuple[Format, ...]) -> str:
    check_path(path)
    if format is not None and format not in choices:
        raise OptionError.value("format", format, choices)
    kind = format or by_extension(Path(path)) or "trec"
    if kind not in choices:
        raise FileError.of_file(path, f"{kind} is read, but not written; write {', '.join(choices)}.")
    if kind in BINARY and Path(path).suffix.lower() in COMPRESSED:
        raise FileError.of_file(path, f"{kind} compresses its columns itself; leave out {Path(path).suffix}.")
    return kind
