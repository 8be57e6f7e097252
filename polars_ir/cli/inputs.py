"""The input files of commands, and their evaluation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from polars_ir.cli.arguments import OF_RANKINGS
from polars_ir.errors import ColumnError, FileError, OptionError, caller, fold, nearest, quoted, warn, with_names
from polars_ir.files import read_qrels, read_run, scan_run
from polars_ir.files.finding.copies import STDIN, as_file, shown_name
from polars_ir.files.finding.file import File, located
from polars_ir.files.finding.sources import Limits, by_extension, format_of, names, resolve
from polars_ir.files.formats import TABLES, FormatName
from polars_ir.files.rows.blanks import fields, first_line
from polars_ir.files.writing.metadata import read_metadata
from polars_ir.frames.roles import PROVENANCE, ROLE_OF, find, required
from polars_ir.language.names import resolve as measures_of
from polars_ir.language.options import check, each_once, options_of
from polars_ir.runs.evaluate import evaluate_collected
from polars_ir.runs.lists import TABLES_OF_LISTS
from polars_ir.runs.options import Evaluating
from polars_ir.trec_eval.results import read_trec_eval

#: Parquet files of this size in bytes are read by the plan of an evaluation, in parts; in memory they take six times as
#: many, which is faster where there is room.
LARGE = 500_000_000

T = TypeVar("T")
Given = TypeVar("Given", pl.DataFrame, pl.LazyFrame)


def check_stdin(options: argparse.Namespace) -> None:
    """Raise an `OptionError` if standard input, which can be read once, is named twice."""
    values: list[object] = []
    for name, value in vars(options).items():
        if name != "target":
            values += value if isinstance(value, list) else [value]
    if values.count(STDIN) > 1:
        raise OptionError("standard input (-) can be read once; give files for the others.")


def limits_of(options: argparse.Namespace) -> dict[str, Any]:
    """The limits of the files that are read."""
    return {name: check(name, getattr(options, name), limit.value) for name, limit in options_of(Limits).items()}


def grades_of(options: argparse.Namespace) -> dict[str, float] | None:
    """The numbers of grades in words, as --grades gives them; None without any."""
    return dict(options.grades) if options.grades else None


def qrels_of(
    name: str, format: FormatName | None = None, *, option: str = "qrels_format", **limits: Any
) -> pl.DataFrame:
    """Judgments, from a file or standard input; `option` sets their format."""
    shell_names = {"qrels": shown_name(name), "format": caller().names.get(option, caller().name("format"))}
    with as_file(name) as file, with_names(**shell_names):
        return read_qrels(file, format=format, **limits)


def judgments_of(options: argparse.Namespace) -> pl.DataFrame:
    """The judgments of a command."""
    grades = grades_of(options)
    return qrels_of(options.qrels, options.qrels_format, grades=grades, **limits_of(options))


def run_of(name: str, format: FormatName | None = None, **limits: Any) -> pl.DataFrame:
    """A run, from a file or standard input."""
    with as_file(name) as file, with_names(run=shown_name(name)):
        return read_run(file, format=format, **limits)


def run_or_plan_of(name: str, format: FormatName | None = None, **limits: Any) -> Any:
    """A run, from a file or standard input; a LazyFrame of Parquet files too large for memory."""
    if name != STDIN and (format or Path(name).suffix.removeprefix(".")) == "parquet":
        with with_names(run=shown_name(name)):
            files = [Path(file) for file in resolve(name, **limits)]
            if sum(file.stat().st_size for file in files if file.exists()) >= LARGE:
                return scan_run(name, format=format, **limits)
    return run_of(name, format, **limits)


def alike(left: Given, right: pl.DataFrame) -> tuple[Given, pl.DataFrame]:
    """Two tables with ids cast to text where one of them, such as a text file, has text."""
    for role in ("query_id", "doc_id"):
        of_left, of_right = left.collect_schema(), right.schema
        ours, theirs = find("run", role, of_left.names()), find("qrels", role, of_right.names())
        if ours and theirs and of_left[ours].is_integer() != of_right[theirs].is_integer():
            left, right = left.cast({ours: pl.String}), right.cast({theirs: pl.String})
    return left, right


def all_alike(run: Given, tables: Mapping[str, Any]) -> tuple[Given, dict[str, Any]]:
    """A run and others with ids of one type, as `alike`; other values are left unchanged."""
    made: dict[str, Any] = dict(tables)
    # Twice, since the last of them may make the run's ids texts.
    for name in (*made, *made):
        if isinstance(made[name], pl.DataFrame):
            run, made[name] = alike(run, made[name])
    return run, made


def systems_of(files: Sequence[str], read: Callable[[str], pl.DataFrame]) -> pl.DataFrame:
    """Tables by system: a file's name, or the names of the systems in it.

    The query column is called as in the first. Files of one name in several folders are called by their paths.
    """
    if len(set(files)) < len(files):
        raise OptionError(f"each file can be given once; got {', '.join(files)}.")
    systems = names([Path("stdin") if file == STDIN else located(file) for file in files])
    frames: list[pl.DataFrame] = []
    query = None
    for file, system in progress(list(zip(files, systems, strict=True)), "files"):
        with with_names(run=shown_name(file)):
            frame = read(file)
        named = find("run", "run", frame.columns)
        frame = frame.rename({named: "run"}) if named else frame.select(pl.lit(system).alias("run"), pl.all())
        own = find("run", "query_id", frame.columns)
        query = query or own
        frames.append(frame.rename({own: query}) if own and query else frame)
    return pl.concat(frames, how="diagonal_relaxed")


def per_query_of(name: str, **limits: Any) -> pl.DataFrame:
    """Per-query values: a table of `evaluate --per-query`, or trec_eval's output."""
    with as_file(name) as file, with_names(per_query=shown_name(name)):
        if Path(file).suffix in TABLES:
            return _with_metadata(file, table_of(file, **limits))
        try:
            return read_trec_eval(file, **limits)
        except FileError as error:
            fix = (
                f"Figures of queries come from evaluate --per-query ({', '.join(TABLES)}), or as trec_eval -q prints "
                "them; runs go with --qrels"
            )
            raise FileError(error.says, about=error.about, near=error.near, fix=fix, examples=error.examples) from None


def _with_metadata(name: str, figures: pl.DataFrame) -> pl.DataFrame:
    """A file's per-query values, with provenance from the metadata file beside it."""
    file = located(name)
    found = read_metadata(file) if isinstance(file, Path) and PROVENANCE not in figures.columns else None
    if found and found.changed:
        warn(f"{found.changed}, which is left out.")
    return figures.with_columns(pl.lit(found.made).alias(PROVENANCE)) if found and found.made else figures


def table_of(name: str, **limits: Any) -> pl.DataFrame:
    """A table with a query column, by a reader that few calls need."""
    from polars_ir.files.tables import read_one_table

    return read_one_table(name, **limits)


def excluded_of(options: argparse.Namespace) -> Any:
    """The documents of --exclude: 'self', a table or judgments, or None."""
    name = vars(options).get("exclude")
    if name is None or name == "self":
        return name
    limits = limits_of(options)
    with with_names(exclude=shown_name(name)):
        if Path(name).suffix in TABLES:
            return table_of(name, **limits)
        with as_file(name) as file, with_names(qrels=shown_name(name)):
            return read_qrels(file, format=_format_of_excluded(resolve(file, **limits)[0]), **limits)


def _format_of_excluded(file: File) -> FormatName | None:
    """MS MARCO's for lines of two ids; None where the file tells its format, and an error where nothing does."""
    if by_extension(file) is None and len(fields(first_line(file)[1])) == 2:
        return "msmarco"
    try:
        format_of(file, "qrels")
    except FileError:
        says = "nothing tells its format. Give lines of query_id doc_id, TREC judgments, or a .csv of these columns."
        raise FileError.of_file(file, says) from None
    return None


def tables_of_lists(options: argparse.Namespace) -> dict[str, pl.DataFrame]:
    """The history and the items that --history and --items name."""
    found = {}
    for option in TABLES_OF_LISTS:
        if name := vars(options).get(option):
            with with_names(**{option: shown_name(name)}):
                is_table = option == "items" or Path(name).suffix in TABLES
                found[option] = table_of(name, **limits_of(options)) if is_table else run_of(name)
    return found


def queries_of(
    options: argparse.Namespace, wanted: Sequence[str], of_logs: pl.DataFrame | None = None
) -> pl.DataFrame | None:
    """The query attributes of --queries, else of logs; an error where they lack a column that an option names."""
    queries = of_logs if options.queries is None else table_of(options.queries, **limits_of(options))
    if queries is None:
        return None
    required("queries", "query_id", queries.columns)
    for name in wanted:
        if name == find("queries", "query_id", queries.columns):
            raise ColumnError(f"{name!r} has the ids of queries. Name another column.")
        if name not in queries.columns:
            have, they, about = "has", "it has", "queries"
            if queries is of_logs:
                have, they, about = "the queries of logs have", "they have", ""
            says = f"{have} no column {name!r}; {they} {quoted(queries.columns)}."
            raise ColumnError(says, about=about, near=nearest(name, queries.columns))
    return queries


def slices_of(
    per_query: pl.DataFrame, options: argparse.Namespace, *, by: str = "by", of_logs: pl.DataFrame | None = None
) -> tuple[pl.DataFrame, Any]:
    """Per-query values, and the columns of an option, from them or from a table of query attributes, or of logs."""
    named = getattr(options, by)
    columns = each_once(named)
    if named is None or (queries := queries_of(options, columns, of_logs)) is None:
        return per_query, named
    per_query, queries = alike(per_query, queries)
    return per_query, queries.select(find("queries", "query_id", queries.columns), *columns)


def progress(items: Sequence[T], unit: str) -> Iterable[T]:
    """The items, with a progress bar on stderr if it is a terminal and tqdm is installed."""
    if len(items) < 2 or not sys.stderr.isatty() or not find_spec("tqdm"):
        return items
    from tqdm import tqdm  # type: ignore[import-untyped]  # it brings no types

    bar: Iterable[T] = tqdm(items, unit=f" {unit}", leave=False)
    return bar


def by_measure(option: str, values: Sequence[Any]) -> Any:
    """One number for all measures, or a dict of numbers by measure."""
    if all(isinstance(value, tuple) for value in values):
        return dict(values)
    if len(values) == 1:
        return values[0]
    raise OptionError("must be one number, or NAME=NUMBER for every measure.", about=option)


def _keys_of(options: argparse.Namespace) -> list[str]:
    """The run columns of --by that distinguish rankings, unless they belong to a table of query attributes."""
    given = vars(options)
    named = each_once(given.get("by") if given.get("queries") is None else None)
    return [name for name in named if ROLE_OF.get(fold(name)) != "run"]


def figures_of(
    runs: Sequence[str], qrels: pl.DataFrame | None, options: argparse.Namespace, logs: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    """Per-query values of runs, evaluated one at a time to hold one in memory, but for `logs`."""
    measures = [measure.expression for measure in measures_of(options.measure)]
    # Where --by makes slices of means, --key is the other.
    keys = (options.key and each_once(options.key)) if "key" in options else _keys_of(options)
    given = {**vars(options), "by": keys}
    evaluating: Any = {name: value for name, value in given.items() if name in options_of(Evaluating)}

    tables = {"qrels": qrels, "exclude": excluded_of(options), **tables_of_lists(options)}

    def figures(name: str) -> pl.DataFrame:
        log = logs.get(name) if logs else None
        run = run_or_plan_of(name, options.format, **limits_of(options)) if log is None else log.run
        run, given = all_alike(run, tables)
        of_logs = f"the judgments of {' and '.join(map(shown_name, logs))}" if logs and options.qrels is None else ""
        with with_names(**({"qrels": of_logs} if of_logs else {})):
            return evaluate_collected(run, given.pop("qrels"), measures, **{**evaluating, **given})

    return systems_of(runs, figures)


def refuse_selection(options: argparse.Namespace, where: str) -> None:
    """Raise an error for options that would leave out no document."""
    for name in OF_RANKINGS:
        if getattr(options, name) != options_of(Evaluating)[name].default:
            raise OptionError(f"applies to runs, with --qrels; {where}.", about=name)


def figures_of_files(options: argparse.Namespace) -> pl.DataFrame:
    """Per-query values by system, from files or, with judgments, from runs."""
    limits = limits_of(options)
    if options.qrels is None:
        refuse_selection(options, "these files hold figures")
        return systems_of(options.files, partial(per_query_of, **limits))
    if options.measure is None:
        wanted = f"{options.command} needs a measure to evaluate runs by (-m)"
        raise OptionError(f"{wanted}; without --qrels, files bring theirs.")
    return figures_of(options.files, judgments_of(options), options)
