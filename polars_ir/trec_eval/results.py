"""What trec_eval printed for each topic, as a per-query frame."""

from __future__ import annotations

import polars as pl

from polars_ir.errors import FileError, MeasureError, explain_options
from polars_ir.files.locations import File
from polars_ir.files.sources import Source, resolve, stem
from polars_ir.files.unreadable import FAILURES, unreadable
from polars_ir.naming import parse

#: The fields of a line.
FIELDS = ("measure", "topic", "value")

#: What trec_eval prints that is no number.
TEXTS = r"^(runid|relstring(_\d+)?)$"


@explain_options
def read_trec_eval(source: Source) -> pl.DataFrame:
    r"""Read what `trec_eval -q` printed: a row per topic, a column per measure, as `evaluate` has them.

    Parameters
    ----------
    source
        A file, a glob, or a list of them, of lines `measure topic value`. The summary, topic `all`, is left out.

    Returns
    -------
    pl.DataFrame
        `run` (String) if there are several files: the `runid` in each or, where two are the same or one lacks it, the
        names of the files; `query_id` (String), and a Float64 column for every measure, under the name that `evaluate`
        gives it, or its own if this package does not know it. A measure that a topic lacks is null.

    Raises
    ------
    IRError
        For a line without three fields, a value that is no number, a figure that is there twice, a file without
        topics (made without `-q`).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars_ir as ir
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "mine.eval")
    >>> _ = file.write_text("map \tq1\t0.2500\nndcg_cut_10 \tq1\t0.5000\nmap \tall\t0.2500\n")
    >>> ir.read_trec_eval(file).to_dicts()
    [{'query_id': 'q1', 'AP': 0.25, 'nDCG@10': 0.5}]
    >>> folder.cleanup()
    """
    files = resolve(source)
    rows = [_rows(path) for path in files]
    frames = [_per_topic(path, lines) for path, lines in zip(files, rows, strict=True)]
    if len(files) == 1:
        return frames[0]
    named = zip(_systems(files, rows), frames, strict=True)
    return pl.concat([frame.select(pl.lit(name).alias("run"), pl.all()) for name, frame in named], how="diagonal")


def _systems(files: list[File], rows: list[pl.DataFrame]) -> list[str]:
    """A name for every file: its runid, or its file name where one lacks it or two are the same, or its path."""
    ids = [lines.filter(pl.col("measure") == "runid")["value"].to_list() for lines in rows]
    tags = [found[0] if found else "" for found in ids]
    names = [stem(path) for path in files]
    choices = ([*tags] if all(tags) else names, names, [str(path) for path in files])
    return next(choice for choice in choices if len(set(choice)) == len(choice))


def _per_topic(path: File, rows: pl.DataFrame) -> pl.DataFrame:
    """The figures of topics, a column per measure."""
    figures = rows.filter(pl.col("topic") != "all", ~pl.col("measure").str.contains(TEXTS))
    if figures.is_empty():
        raise FileError.of_file(path, "there is no figure of a topic; trec_eval prints them with -q.")
    figures = figures.with_columns(number=pl.col("value").cast(pl.Float64, strict=False))
    _check(path, figures, pl.col("number").is_null(), "the value of a measure must be a number.")
    again = ~pl.struct("measure", "topic").is_first_distinct()
    _check(path, figures, again, "this figure is here for the second time; is the file the output of several runs?")
    table = figures.pivot("measure", index="topic", values="number")
    ours: dict[str, str] = {}
    for name in table.columns[1:]:
        # Rprec and Rprec_mult_1.00 have one name here; the second keeps that of trec_eval.
        ours[name] = name if _our_name(name) in ours.values() else _our_name(name)
    return table.rename({"topic": "query_id", **ours})


def _rows(path: File) -> pl.DataFrame:
    """Number and text of every line, and its three fields."""
    lines = pl.scan_lines(path, name="text", row_index_name="line", row_index_offset=1, glob=False)
    words = pl.col("text").str.strip_chars().str.replace_all(r"\s+", " ").str.split(" ")
    fields = [words.list.get(place, null_on_oob=True).alias(name) for place, name in enumerate(FIELDS)]
    held = lines.filter(pl.col("text").str.strip_chars() != "")
    try:
        rows = held.select("line", "text", *fields, words.list.len().alias("fields")).collect()
    except FAILURES as error:
        raise unreadable(path, error) from None
    if rows.is_empty():
        raise FileError.empty(path)
    _check(path, rows, pl.col("fields") != len(FIELDS), f"a line of trec_eval has three fields ({' '.join(FIELDS)}).")
    return rows


def _check(path: File, rows: pl.DataFrame, wrong: pl.Expr, problem: str) -> None:
    for number, text in rows.filter(wrong).select("line", "text").head(1).rows():
        raise FileError.at_line(path, number, text, problem)


def _our_name(name: str) -> str:
    try:
        return parse(name).meta.output_name()
    except MeasureError:
        return name
