"""The output of trec_eval for each topic, as a per-query frame and back."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.errors import SHOWN, Code, ColumnError, DataError, FileError, Fix, OptionError, Setting
from polars_ir.files.finding.copies import downloaded
from polars_ir.files.finding.file import File, located
from polars_ir.files.finding.sources import Limits, Source, names, resolve
from polars_ir.files.writers import check_path, each_system, write_lines
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.table import per_query_table
from polars_ir.language.options import public
from polars_ir.per_query.means import mean
from polars_ir.per_query.shared.measures import measures_of
from polars_ir.trec_eval.lines import DIGITS, Figure, Format, of_all, of_run, of_topics, read_fields
from polars_ir.trec_eval.measures import COUNTS, our_name, place, trec_eval_name

FIELDS = ("measure", "topic", "value")

#: Lines of trec_eval whose values are texts.
TEXTS = r"^(runid|relstring(_\d+)?)$"

#: Digits that distinguish Float64 values.
MOST_DIGITS = 17


@public(Limits)
def read_trec_eval(source: Source, **options: Unpack[Limits]) -> pl.DataFrame:
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
    >>> file = pathlib.Path(tempfile.mkdtemp(), "mine.eval")
    >>> _ = file.write_text("map \tq1\t0.2500\nndcg_cut_10 \tq1\t0.5000\nmap \tall\t0.2500\n", encoding="utf-8")
    >>> ir.read_trec_eval(file).to_dicts()
    [{'query_id': 'q1', 'AP': 0.25, 'nDCG@10': 0.5}]
    """
    files = resolve(source, **options)
    with downloaded(files, None, options["max_ratio"]) as local:
        rows = [_rows(path) for path in local]
        frames = [_per_topic(path, lines) for path, lines in zip(local, rows, strict=True)]
    if len(files) == 1:
        return frames[0]
    named = zip(_systems(files, rows), frames, strict=True)
    return pl.concat([frame.select(pl.lit(name).alias("run"), pl.all()) for name, frame in named], how="diagonal")


@public()
def write_trec_eval(
    per_query: Any, path: str | os.PathLike[str], *, digits: int = DIGITS, tag: str | None = None
) -> None:
    """Write a per-query frame as `trec_eval -q` prints it, or those of several systems to a file each.

    Lines `measure topic value`: of every topic, in the order of the rows, and then of all, the summary. There the
    first are `runid` and `num_q`, counts are added up, `gm_map` and `gm_bpref` are geometric means, and the others
    are means. `read_trec_eval` reads it back.

    Parameters
    ----------
    per_query
        The result of `evaluate`, in any form. Measures are its numeric and Boolean columns, each under the name that
        trec_eval has for it or else its own; they stand in trec_eval's order. A null has no line. `GMAP`, `GMbpref`
        and `NumQ` are of the summary only, as in trec_eval.
    path
        The file, compressed if it ends in `.gz` or `.zst`. Several systems are written to a file each where the path
        holds `{run}`, as in `"runs/{run}.eval"`.
    digits
        The digits after the point, 1 to 17; trec_eval prints 4. Counts are whole numbers.
    tag
        The `runid`; by default the system's name, or `polars_ir`.

    Raises
    ------
    IRError
        For a frame without measures or rows, with a topic twice, with values that are NaN or infinite, or with names
        that are no fields of a line (blanks, nothing at all, a topic `all`); several systems without a file each; a
        file that cannot be written. The file that was there stays as it was.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars_ir as ir
    >>> file = pathlib.Path(tempfile.mkdtemp(), "mine.eval")
    >>> per_query = ir.evaluate({"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": ["d2"], "q2": ["d7"]}, ["RR", "NumRel"])
    >>> ir.write_trec_eval(per_query, file, tag="mine")
    >>> print(file.read_text(encoding="utf-8").expandtabs(1), end="")
    num_rel                q1 1
    recip_rank             q1 0.5000
    num_rel                q2 1
    recip_rank             q2 1.0000
    runid                  all mine
    num_q                  all 2
    num_rel                all 2
    recip_rank             all 0.7500
    """
    check_path(path, stores=True)
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= MOST_DIGITS:
        raise OptionError(f"must be a whole number from 1 to {MOST_DIGITS}; got {digits!r}.", about="digits")
    table = per_query_table(per_query)
    measures = measures_of(table)
    figures = _figures(measures)
    file = located(os.fspath(path))
    several = "{run}" in str(file)
    systems = each_system("per_query", table, path) if several else [(_only_system(table), file, table)]
    texts = {
        file: _lines(rows.select("query_id", *measures).collect(), figures, tag or system, digits)
        for system, file, rows in systems
    }
    for file, lines in texts.items():
        write_lines(lines, file)


def _lines(topics: pl.DataFrame, figures: Sequence[Figure], tag: str, digits: int) -> list[str]:
    if not isinstance(tag, str) or re.search(r"[\s\x00]", tag):
        raise OptionError(f"the runid must be a word; got {tag!r}.", fix=Fix("Name it", Setting("tag", "mine")))
    _check_topics(topics)
    form = Format(digits)
    values = mean(topics).row(0, named=True) if figures else {}
    sums = {figure.column: topics[figure.column].sum() for figure in figures if figure.measure in COUNTS}
    summary = {column: value if value is None else sums.get(column, value) for column, value in values.items()}
    return [
        *of_topics(topics, figures, form),
        *of_run(topics.height, tag, form).values(),
        *of_all(summary, figures, form),
    ]


def _figures(measures: Sequence[str]) -> list[Figure]:
    """Figures in trec_eval's order; an error for two of one name, or a name that is no field."""
    found: dict[str, Figure] = {}
    for column in measures:
        measure, printed = trec_eval_name(column)
        if measure == "num_q":
            continue
        if not printed or re.search(rf"[\s\x00\ufeff]|{TEXTS}", printed):
            says = f"has a measure {printed!r}, which is no name for a line of trec_eval."
            fix = Fix("Rename it", Code.renaming("per_query", {column: "mine"}))
            raise ColumnError(says, about="per_query", fix=fix)
        if printed in found:
            both = f"{found[printed].column!r} and {column!r}"
            raise ColumnError(f"has the measure {printed} twice, in {both}. Drop one of them.", about="per_query")
        found[printed] = Figure(measure, printed, column)
    return sorted(found.values(), key=lambda figure: place(figure.measure, figure.printed))


def _only_system(table: CanonicalFrame) -> str:
    """The system's name, or the package's without one."""
    if "run" not in table.dtypes:
        return "polars_ir"
    systems = table.select("run").unique().collect().to_series().cast(pl.String).to_list()
    if len(systems) > 1:
        fix = Fix("Write each to its own file", Setting("path", "{run}.eval"))
        raise OptionError("trec_eval prints one system.", fix=fix)
    return str(systems[0]) if systems else "polars_ir"


def _check_topics(topics: pl.DataFrame) -> None:
    """Raise a `DataError` for topics that are no fields of a line, or there twice."""
    if topics.is_empty():
        raise DataError("has no row; trec_eval prints what topics there are.", about="per_query")
    topic = pl.col("query_id").cast(pl.String)
    no_field = topic.is_null() | (topic == "all") | (topic == "") | topic.str.contains(r"[\s\x00]")
    for wrong, problem, remedy in (
        (no_field, "whose topic is no field of a line of trec_eval (empty, with a blank, or 'all')", "Rename it."),
        (topic.is_duplicated(), "of a topic that occurs twice", "Keep one of each, or write a file for each slice."),
    ):
        bad = topics.filter(wrong)
        if bad.height:
            raise DataError.rows("per_query", problem, remedy, bad.height, bad.select("query_id").head(SHOWN))


def _systems(files: list[File], rows: list[pl.DataFrame]) -> list[str]:
    """A name per file: its runid, else its file name, else its path, whichever are distinct."""
    ids = [lines.filter(pl.col("measure") == "runid")["value"].to_list() for lines in rows]
    tags = {found[0] for found in ids if found}
    return [found[0] for found in ids] if len(tags) == len(files) else names(files)


def _per_topic(path: File, rows: pl.DataFrame) -> pl.DataFrame:
    """The figures of topics, a column per measure."""
    figures = rows.filter(pl.col("topic") != "all", ~pl.col("measure").str.contains(TEXTS))
    if figures.is_empty():
        raise FileError.of_file(path, "the file has no figures of topics; trec_eval prints them with -q.")
    figures = figures.with_columns(number=pl.col("value").cast(pl.Float64, strict=False).fill_nan(None))
    _check(path, figures, pl.col("number").is_null(), "the value of a measure must be a number.")
    _check(
        path, figures, pl.col("measure").is_in(("run", "query_id", "topic")), "this cannot name a measure; rename it."
    )
    again = ~pl.struct("measure", "topic").is_first_distinct()
    _check(path, figures, again, "this figure occurs twice; is the file the output of several runs?")
    table = figures.pivot("measure", index="topic", values="number")
    ours: dict[str, str] = {}
    for name in table.columns[1:]:
        # Rprec and Rprec_mult_1.00 have one name here; the second keeps that of trec_eval.
        ours[name] = name if our_name(name) in ours.values() else our_name(name)
        if list(ours.values()).count(ours[name]) > 1:
            raise FileError.of_file(path, f"the measure {name:.80} occurs under two names; leave one of them out.")
    return table.rename({"topic": "query_id", **ours})


def _rows(path: File) -> pl.DataFrame:
    """Number and text of every line, and its three fields."""
    rows = read_fields(path, FIELDS).filter(pl.col("text").str.strip_chars() != "")
    if rows.is_empty():
        raise FileError.empty(path)
    _check(path, rows, pl.col("text").str.contains("\0", literal=True), "a NUL byte; is this a binary file?")
    _check(path, rows, pl.col("n_fields") != len(FIELDS), f"a line of trec_eval has three fields ({' '.join(FIELDS)}).")
    return rows


def _check(path: File, rows: pl.DataFrame, wrong: pl.Expr, problem: str) -> None:
    for number, text in rows.filter(wrong).select("line", "text").head(1).rows():
        raise FileError.at_line(path, number, text, problem)
