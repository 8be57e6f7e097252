"""The arguments of the commands: shared ones first, then one function per command.

Conventions: formats, methods and the like are imported by the function that lists them, so that a command waits for no
other's.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polars_ir.language.catalog import CATALOG
from polars_ir.language.options import Value, options_of
from polars_ir.runs.options import Evaluating, Reporting

if TYPE_CHECKING:
    from polars_ir.files.finding.file import File

RUNS = "runs: TREC, Parquet, CSV, TSV, JSON, ...; - is standard input"
QRELS = "judgments: TREC, Parquet, CSV, TSV, JSON, BEIR, ..."
PER_QUERY = "a row per query instead of the means"
KEY = "a column of the runs that distinguishes rankings, such as date; repeat"
FILES = "files of evaluate --per-query, or of trec_eval -q, a system each or several; with --qrels, runs"

#: Metavariables of options that are not in their names.
METAVARS = {"exclude": "self|FILE", "history": "FILE", "items": "FILE"}

#: Evaluation options of commands that accept runs in place of per-query values.
OF_RANKINGS = ("exclude", "duplicates")

#: The options of `read_log`, by their parameters, and their help.
OF_LOGS = {
    "query": "of a log: the field of the query, such as inputs.query",
    "retrieved": "the field of the list of retrieved documents",
    "relevant": "the field of the list of relevant documents, or of groups",
    "ids": "the field of the id within a document, such as node.id_",
    "scores": "the field of scores, or distance; none ignores scores that contradict the order of a list",
    "step": "the number or the time of a call, of several of a query",
}

RENDERS = {
    "table": "print a table, with all columns (in a terminal, with those that fit)",
    "tsv": "print tab-separated values (in a pipe)",
    "json": "print JSON",
    "markdown": "print a Markdown table",
}

#: Columns of the Markdown output, for a pull-request comment.
SHORT = ("run", "baseline", "measure", "difference", "p_corrected", "significant")

PAGE = "report.html"

#: Text formats of a table, with their file extensions.
TEXTS = {"markdown": ".md", "latex": ".tex", "html": ".html"}

#: Charts of per-query values, with the options that each needs.
OF_FIGURES: dict[str, Sequence[str]] = {
    "distribution": (),
    "heatmap": (),
    "ranks": (),
    "forest": ("baseline",),
    "differences": ("baseline", "measure"),
    "scatter": ("x", "y", "measure"),
    "series": ("by",),
}

#: The charts of runs and judgments.
OF_RUNS = ("cutoffs", "precision_recall")

#: File extensions that Altair writes.
PICTURES = (".html", ".svg", ".png", ".pdf", ".json")


def add_options(command: argparse.ArgumentParser, kind: type, *, without: Collection[str] = ()) -> None:
    """Command-line options from the option records of a call."""
    for name, (default, value, meaning, _) in options_of(kind).items():
        if name in without:
            continue
        first = meaning.partition(". ")[0].removesuffix(".").replace("%", "%%")
        help = f"{first[0].lower()}{first[1:]}"
        flag = f"--{name.replace('_', '-')}"
        if value.choices == (True, False):
            command.add_argument(flag, action="store_true", help=help)
            continue
        if default is not None:
            help += " (%(default)s)"
        if value.choices:
            command.add_argument(flag, type=value.by_our_name, choices=value.choices, default=default, help=help)
        else:
            metavar = METAVARS.get(name, name.rpartition("_")[2].upper())
            command.add_argument(flag, type=partial(_read, value), default=default, metavar=metavar, help=help)


def _read(value: Value[Any], text: str) -> Any:
    """The value of an option that a text stands for."""
    try:
        return value.read(text)
    except ValueError:
        wanted = value.wanted.replace("None", "none")
        raise argparse.ArgumentTypeError(f"must be {wanted}; got {text!r}") from None


def add_measures(command: argparse.ArgumentParser, *, required: bool) -> None:
    """The measures of an evaluation."""
    measure = "a measure, such as nDCG@10; repeat"
    option = command.add_argument("-m", "--measure", action="append", required=required, help=measure)
    option.completer = lambda **_: list(CATALOG)  # type: ignore[attr-defined]  # argcomplete's own


def add_judged_runs(command: argparse.ArgumentParser, but: str = "") -> None:
    """Runs and their judgments; `but` is an exception."""
    first = f"without --qrels, the first is the judgments{but}"
    command.add_argument("runs", nargs="+", metavar="run", help=f"{RUNS}; {first}")
    command.add_argument("--qrels", metavar="FILE", help=QRELS)
    add_formats(command)


def add_runs_instead(command: argparse.ArgumentParser) -> None:
    """Judgments, for commands that accept runs in place of per-query values."""
    command.add_argument("--qrels", metavar="FILE", help="judgments to evaluate the runs against")
    add_formats(command)
    add_options(command, Evaluating, without=options_of(Evaluating).keys() - set(OF_RANKINGS))


def add_log(command: argparse.ArgumentParser) -> None:
    """The fields of logs, which are recognised where they are those of a known tool."""
    for name, meaning in OF_LOGS.items():
        command.add_argument(f"--{name}", metavar="FIELD", help=meaning)


def add_formats(command: argparse.ArgumentParser) -> None:
    """The formats of runs and judgments."""
    from polars_ir.files.formats import READABLE

    of_runs = f"the format of the runs, if the files do not tell: {', '.join(READABLE['run'])}"
    command.add_argument("--format", choices=READABLE["run"], metavar="FORMAT", help=of_runs)
    also = [name for name in READABLE["qrels"] if name not in READABLE["run"]]
    of_qrels = f"that of the judgments, also {', '.join(also)}"
    command.add_argument("--qrels-format", choices=READABLE["qrels"], metavar="FORMAT", help=of_qrels)
    add_grades(command)


def add_grades(command: argparse.ArgumentParser) -> None:
    """The numbers of grades in words."""
    grades = "the number of a word that grades are written in, such as L2=2; repeat"
    words = named(_grade, "{} is not a word with a number, such as L2=2")
    command.add_argument("--grades", action="append", type=words, metavar="WORD=NUMBER", help=grades)


def named(read: Callable[[str], Any], problem: str, *, also_alone: bool = False) -> Callable[[str], Any]:
    """The reader of `NAME=VALUE`, or of a value alone, too; any other text is a `problem`."""

    def value_of(text: str) -> Any:
        name, _, value = text.rpartition("=")
        with suppress(ValueError):
            if name or also_alone:
                return (name, read(value)) if name else read(value)
        raise argparse.ArgumentTypeError(problem.format(text))

    return value_of


def _grade(text: str) -> float:
    """A number, an integer if it is whole."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return int(number) if number.is_integer() else number


def add_limits(command: argparse.ArgumentParser) -> None:
    """Limits for files from untrusted sources."""
    from polars_ir.files.finding.file import MAX_RATIO

    local = "read local files only: a URL is an error"
    command.add_argument("--local-only", dest="remote", action="store_false", help=local)
    ratio = "how many times its size a compressed file may unpack to (%(default)g)"
    command.add_argument("--max-ratio", type=float, default=MAX_RATIO, metavar="RATIO", help=ratio)


def add_queries(command: argparse.ArgumentParser) -> None:
    """A table of query attributes."""
    queries = "a table with a query column, whose other columns --cluster (or --by) names; else those of the files"
    command.add_argument("--queries", metavar="FILE", help=queries)


#: The reader of numbers for all measures or one; percentages stay texts, for the error that shows both readings.
number_of_measure = named(
    lambda text: text if text.endswith("%") else float(text),
    "must be a number, or MEASURE=NUMBER; got {!r}",
    also_alone=True,
)


def add_output(command: argparse.ArgumentParser) -> None:
    """The output format: a table in a terminal, tab-separated values in a pipe, or another by option."""
    rendering = command.add_mutually_exclusive_group()
    to_a_file = f"write to a file, or to s3:// and the like ({', '.join(_endings())})"
    rendering.add_argument("-o", "--output", type=_table, metavar="FILE", help=to_a_file)
    formulas = "put ' before texts of FILE that a spreadsheet would compute (=, +, - or @ first)"
    command.add_argument("--no-formulas", action="store_true", help=formulas)
    add_renders(rendering)


def add_renders(rendering: argparse._MutuallyExclusiveGroup) -> None:
    """Add the output formats, one of which is chosen."""
    for render, meaning in RENDERS.items():
        rendering.add_argument(f"--{render}", dest="render", action="store_const", const=render, help=meaning)


def _endings() -> tuple[str, ...]:
    """File extensions of results; JSON files hold the printed text."""
    from polars_ir.files.formats import TABLES

    return (*TABLES, ".json")


def _table(name: str) -> File:
    """The path of a table, whose extension is checked before the evaluation."""
    from polars_ir.files.finding.file import STORES, located, pure, scheme

    path = located(name) if scheme(name) in STORES else Path(on_disk(name))
    if pure(path).suffix not in _endings():
        raise argparse.ArgumentTypeError(f"{name}: unknown ending; a result can be written as {', '.join(_endings())}")
    return path


def on_disk(name: str) -> str:
    """A local path."""
    from polars_ir.files.finding.file import scheme

    if scheme(name) is not None:
        raise argparse.ArgumentTypeError(f"{name}: this is written to a file, and not to a URL; copy it there")
    return name


def evaluate(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_judged_runs(command, ", but for measures of --history and --items alone, and a log")
    add_log(command)
    add_measures(command, required=True)
    command.add_argument("-q", "--per-query", action="store_true", help=PER_QUERY)
    command.add_argument("--key", action="append", metavar="COLUMN", help=KEY)
    by = "means per value of a column of --queries; repeat"
    command.add_argument("--by", action="append", metavar="COLUMN", help=by)
    queries = "a table with a query column, for --by and --weights (not of a log)"
    command.add_argument("--queries", metavar="FILE", help=queries)
    command.add_argument("--weights", nargs=1, metavar="COLUMN", help="means weighted by a column of --queries")
    add_options(command, Evaluating, without=["by"])
    add_limits(command)
    add_output(command)
    flat = "print one JSON object of numbers, by system and measure, as trackers of experiments take it"
    command.add_argument("--json=flat", dest="render", action="store_const", const="flat", help=flat)


def compare(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from polars_ir.per_query.shared.options import Comparing

    command.add_argument("files", nargs="+", metavar="file", help=FILES)
    add_measures(command, required=False)
    add_runs_instead(command)
    baseline = "the system that the others are compared with; without it, all pairs"
    command.add_argument("--baseline", metavar="SYSTEM", help=baseline)
    add_options(command, Comparing, without=["margin", "by", "reference"])
    margin = "the largest difference that counts as none, or a measure's own as NAME=MARGIN; repeat"
    command.add_argument("--margin", type=number_of_measure, action="append", metavar="MARGIN", help=margin)
    by = "a row per value of a column of --queries, or of the files, as well; repeat"
    command.add_argument("--by", action="append", metavar="COLUMN", help=by)
    add_queries(command)
    add_limits(command)
    add_output(command)
    all_columns = f"all columns of --markdown, and not only {', '.join(SHORT)}"
    command.add_argument("--all", action="store_true", help=all_columns)


def gate(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from polars_ir.per_query.shared.options import INCONCLUSIVE, Gating

    new = "a file of evaluate --per-query for one system; with --qrels, its run; or a log of questions, with judgments"
    command.add_argument("new", help=new)
    command.add_argument("old", nargs="?", help="the same for the system before the change")
    its_name = "in place of the second file, the system of the first that is the old one; --by run judges several"
    command.add_argument("--baseline", metavar="SYSTEM", help=its_name)
    add_measures(command, required=False)
    by = "columns of both, such as date, or run: a verdict for each of their values, on the pairs of it; repeat"
    command.add_argument("--by", action="append", metavar="COLUMN", help=by)
    add_options(command, Gating, without=["max_drop", "ranges", "by"])
    add_runs_instead(command)
    may_drop = "how much a mean may drop, or a measure's own drop as NAME=DROP; repeat (0.01)"
    command.add_argument("--max-drop", type=number_of_measure, action="append", metavar="DROP", help=may_drop)
    its_range = "the worst and the best value of a measure of your own, such as inf:0; repeat"
    ranges = named(_ends, "must be MEASURE=WORST:BEST; got {!r}")
    command.add_argument("--range", type=ranges, action="append", metavar="NAME=WORST:BEST", help=its_range)
    a_floor = "the lowest mean that the new system may have (the highest, where lower is better); repeat"
    command.add_argument("--floor", type=number_of_measure, action="append", metavar="NAME=MEAN", help=a_floor)
    undecided = "what becomes of an inconclusive change: status 3 (fail), 0 and a warning (warn), or 0 (pass)"
    command.add_argument("--inconclusive", choices=INCONCLUSIVE, help=undecided)
    file = "a TOML file of these options; of pyproject.toml, its table [tool.polars_ir.gate]"
    command.add_argument("--thresholds", metavar="FILE", help=file)
    add_queries(command)
    add_log(command)
    command.set_defaults(worst=None)
    slices = "show the worst slices by a column of the queries, of --queries or of logs; repeat"
    command.add_argument("--slice", action="append", dest="slices", metavar="COLUMN", help=slices)
    page = "write the change as a page, one file of HTML, as well, or for a comment (.md); with the texts of --queries"
    command.add_argument("--report", type=on_disk, metavar="FILE", help=page)
    command.add_argument("--documents", metavar="FILE", help="a table with the texts of documents, for --report")
    add_heading(command)
    add_limits(command)
    add_output(command)


def _ends(text: str) -> tuple[float, float]:
    worst, best = map(float, text.split(":"))
    return worst, best


def add_heading(command: argparse.ArgumentParser) -> None:
    """The heading of a page."""
    command.add_argument("--title", metavar="TEXT", help="the heading of the page")
    command.add_argument("--date", metavar="DATE", help="the date on the page, such as 2026-11-27 (today)")


def report(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_judged_runs(command)
    add_measures(command, required=False)
    command.add_argument("--baseline", metavar="SYSTEM", help="the system that the others are compared with")
    command.add_argument("--documents", metavar="FILE", help="a table with the texts of documents")
    command.add_argument("--queries", metavar="FILE", help="a table with the texts of queries, and columns for --by")
    command.add_argument("--by", action="append", metavar="COLUMN", help="slices by a column of --queries; repeat")
    kept = "the queries whose rankings are kept (%(default)s)"
    command.add_argument("--n-queries", type=int, default=200, metavar="N", help=kept)
    add_heading(command)
    add_options(command, Reporting)
    add_limits(command)
    page = f"the page to write, one file of HTML ({PAGE}; none beside --markdown)"
    command.add_argument("-o", dest="target", type=on_disk, metavar="FILE", help=page)
    command.add_argument("--markdown", action="store_true", help="print the report for a comment on a change")


def table(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from polars_ir.per_query.shared.options import Marking
    from polars_ir.tables.cells import PARTS

    command.add_argument("files", nargs="+", metavar="file", help=FILES)
    add_measures(command, required=False)
    add_runs_instead(command)
    command.add_argument("--baseline", metavar="SYSTEM", help="the system that the others are compared with")
    command.add_argument("--by", action="append", metavar="COLUMN", help="the column of days or collections; repeat")
    command.add_argument("--order", metavar="MEASURE", help="sort the systems by a measure, the best first")
    command.add_argument("--show", choices=PARTS, action="append", default=[], help="figures beside each mean; repeat")
    command.add_argument("--digits", type=int, metavar="N", help="decimal places (4, or 2 in percent)")
    command.add_argument("--percent", action="store_true", help="print means times 100")
    command.add_argument("--title", help="the text above the table")
    command.add_argument("--label", help="the name by which LaTeX refers to the table")
    add_options(command, Marking)
    add_limits(command)
    formats = command.add_mutually_exclusive_group()
    for format, ending in TEXTS.items():
        of_file = f"print {format}, or write it to a FILE that does not end in {ending}"
        formats.add_argument(f"--{format}", dest="text", action="store_const", const=format, help=of_file)
    to_a_file = "write to a file; its ending tells the format"
    command.add_argument("-o", dest="target", type=on_disk, metavar="FILE", help=to_a_file)


def plot(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    charts = [*OF_FIGURES, *OF_RUNS]
    command.add_argument("chart", choices=charts, metavar="chart", help=", ".join(charts))
    command.add_argument("files", nargs="+", metavar="file", help=FILES)
    endings = f"the file to write ({', '.join(PICTURES)})"
    command.add_argument("-o", dest="target", metavar="FILE", type=_picture, required=True, help=endings)
    add_measures(command, required=False)
    add_runs_instead(command)
    command.add_argument("--baseline", metavar="SYSTEM", help="of forest and differences, and for cutoffs as well")
    for axis in "xy":
        command.add_argument(f"--{axis}", metavar="SYSTEM", help=f"of scatter: the system on the {axis} axis")
    by = "of series, the column of days or times; of others, a panel for each value"
    command.add_argument("--by", metavar="COLUMN", help=by)
    add_limits(command)


def _picture(name: str) -> str:
    """The path of a chart."""
    if Path(on_disk(name)).suffix not in PICTURES:
        raise argparse.ArgumentTypeError(f"{name}: unknown ending; a chart can be written as {', '.join(PICTURES)}")
    return name


def fuse(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from polars_ir.files.formats import WRITABLE
    from polars_ir.fusion.dialects import PRODUCTS
    from polars_ir.fusion.methods import BY_NAME as METHODS
    from polars_ir.fusion.methods import TRAINED
    from polars_ir.runs.norms import BY_NAME as NORMS

    command.add_argument("files", nargs="+", metavar="run", help=RUNS)
    trained = f"or one that learns from --qrels, each query by the judgments of others: {', '.join(TRAINED)}"
    methods = f"{', '.join(METHODS)}; {trained}"
    command.add_argument("--method", choices=[*METHODS, *TRAINED], metavar="METHOD", default="rrf", help=methods)
    command.add_argument("--norm", choices=NORMS, metavar="NORM", help=f"of the scores: {', '.join(NORMS)}")
    weight = "the weight of each run, in the order of the files; repeat"
    command.add_argument("-w", "--weight", type=float, action="append", dest="weights", metavar="W", help=weight)
    command.add_argument("-k", type=float, help="the constant of RRF (60, for qdrant 2)")
    command.add_argument("--depth", type=int, metavar="N", help="use the first documents of each run")
    command.add_argument("--top", type=int, metavar="N", default=1000, help="write the first documents (%(default)s)")
    command.add_argument("--dialect", choices=PRODUCTS, metavar="PRODUCT", help=f"as in {', '.join(PRODUCTS)}")
    distances = "a run whose scores are distances, the lowest the best; repeat"
    command.add_argument("--lower-is-better", action="append", default=[], metavar="RUN", help=distances)
    command.add_argument("-o", "--output", dest="target", metavar="FILE", help="the run to write; - is standard output")
    command.add_argument("--to", choices=WRITABLE["run"], metavar="FORMAT", help="its format, if the ending tells none")
    tune = "report the out-of-fold value of weights chosen on --qrels by -m; with -o, write the run by the best ones"
    command.add_argument("--tune", action="store_true", help=tune)
    command.add_argument("--qrels", metavar="FILE", help="judgments to tune by, or to learn from")
    command.add_argument("--folds", type=int, default=5, help="the number of folds (%(default)s)")
    command.add_argument("--seed", type=int, default=0, help="the seed of the folds (%(default)s)")
    add_measures(command, required=False)
    add_formats(command)
    add_limits(command)
    add_renders(command.add_mutually_exclusive_group())


def validate(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from polars_ir.runs.findings import SEVERITIES

    add_judged_runs(command)
    command.add_argument("--key", action="append", metavar="COLUMN", help=KEY)
    only = "a finding to look for, by its whole name, such as 'duplicates in the run'; repeat"
    command.add_argument("--only", action="append", metavar="FINDING", help=only)
    history = "what the users of a recommender had before: count what leaks, cold users and items, and sampled lists"
    command.add_argument("--history", metavar="FILE", help=history)
    fail_on = "the least severe finding that makes the status 1 (%(default)s)"
    command.add_argument("--fail-on", choices=SEVERITIES, default=SEVERITIES[-1], help=fail_on)
    add_limits(command)
    add_output(command)


def convert(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from polars_ir.files.formats import READABLE, WRITABLE

    command.add_argument("source", help="the file to read; - is standard input")
    target = "the file to write; - is standard output, {run} in it stands for each system"
    command.add_argument("target", help=target)
    command.add_argument("--qrels", action="store_true", help="the file holds judgments, not a run")
    source = "the format to read, if the file does not tell"
    command.add_argument("--format", choices=READABLE["qrels"], metavar="FORMAT", help=source)
    target_format = "the format to write, if the ending does not tell"
    formats = sorted({*WRITABLE["run"], *WRITABLE["qrels"]})
    command.add_argument("--to", choices=formats, metavar="FORMAT", help=target_format)
    add_grades(command)
    command.add_argument("--tag", help="the last field of a TREC run's lines; without it, that of the source")
    add_limits(command)


def relabel(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from polars_ir.files.formats import READABLE, WRITABLE

    command.add_argument("qrels", help="the judgments of old chunks")
    table = "with the columns doc_id (or chunk_id), source, start and end; text in both tells what changed"
    command.add_argument("old_chunks", help=f"a table of the chunks that were judged, {table}")
    command.add_argument("new_chunks", help="that of the new chunks")
    command.add_argument("target", help="the judgments to write; - is standard output")
    overlap = "the least share of the shorter of two chunks that both share (%(default)s)"
    command.add_argument("--min-overlap", type=float, default=0.5, metavar="SHARE", help=overlap)
    command.add_argument("--changes", metavar="FILE", help="a table to write, with what became of each old label")
    source = "the format of the judgments, if the file does not tell"
    command.add_argument("--qrels-format", choices=READABLE["qrels"], metavar="FORMAT", help=source)
    target_format = "the format to write, if the ending does not tell"
    command.add_argument("--to", choices=WRITABLE["qrels"], metavar="FORMAT", help=target_format)
    add_grades(command)
    add_limits(command)
    add_renders(command.add_mutually_exclusive_group())


def measures(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("pattern", nargs="?", default="", help="only those with this in a name or the meaning")
    add_output(command)


def demo(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("-q", "--per-query", action="store_true", help=PER_QUERY)
    add_output(command)
