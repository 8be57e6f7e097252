"""`report`: an experiment on one page.

Conventions: a report holds figures that other functions return (`evaluate`, `summarize`, `ranks`, `compare`,
`worst_slices`, `validate`, `explain`), whole, and computes none itself; its page and its Markdown print them. Systems
stand in the order of their ranks by the first measure, queries in that of their ids.
"""

from __future__ import annotations

import datetime as dt
import logging
import os
import platform
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack

import polars as pl

from polars_ir.errors import ColumnError, DataError, IRWarning, OptionError, nearest, quoted
from polars_ir.extras import require
from polars_ir.files.writers import check_path
from polars_ir.files.writing.replacing import replaced
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.roles import required
from polars_ir.frames.table import per_query_table
from polars_ir.language.columns import column_of, is_cost
from polars_ir.language.names import Measures, is_renamed
from polars_ir.language.options import Value, check, each_once, options_of, or_none, public, whole
from polars_ir.per_query.compare import BY_ALPHABET, compare
from polars_ir.per_query.means import mean, summarize
from polars_ir.per_query.ranks import ranks
from polars_ir.per_query.shared.attributes import check_types
from polars_ir.per_query.worst_slices import worst_slices
from polars_ir.reports.answer import answer, plain, rows_of, verdict
from polars_ir.reports.content import Columns, Content, Cutoffs, Made, Queries, Slice, Tested
from polars_ir.reports.doubts import doubts_of
from polars_ir.reports.experiment import Experiment, evaluated, order_of
from polars_ir.reports.markdown import markdown
from polars_ir.reports.page import framed, page
from polars_ir.reports.rankings import LONGEST_TEXT, N_QUERIES, missing_of, rankings_of
from polars_ir.runs.explain import with_text
from polars_ir.runs.options import Reporting
from polars_ir.runs.selection import selected

LOG = logging.getLogger(__name__)

#: Default measures of a report.
MEASURES = ("nDCG@10", "AP", "RR@10", "R@100")

#: The most systems that are compared with each other; of more the best are, and the report tells which are left out.
MOST_SYSTEMS = 30

#: The most systems that are compared with each other by all measures; more, by the first.
MOST_PAIRED = 10

#: Packages whose versions determine the results.
PACKAGES = ("polars_ir", "polars", "numpy", "scipy", "statsmodels")

#: Shown columns of comparisons; the interval beside a corrected p also holds for all comparisons.
COMPARED: list[str | pl.Expr] = [
    *("run", "baseline", "measure", "difference"),
    pl.col("simultaneous_low").alias("low"),
    pl.col("simultaneous_high").alias("high"),
    *("p", "p_corrected", "significant", "wins", "ties", "losses", "n_queries", "n_missing"),
    # A pair is shown from either side.
    pl.col("note").str.strip_suffix(BY_ALPHABET).str.strip_suffix("; ").replace("", None),
]


@dataclass(frozen=True, repr=False)
class Report:
    """An experiment, its figures and the documents behind them: a page of HTML, or a text in Markdown.

    `content` is what the page shows beside the figures of queries; `figures` holds these: a Float64 for each measure,
    system and query, NaN where there is none.
    """

    content: Content
    figures: bytes

    def __repr__(self) -> str:
        return f"<report: {' '.join(self.content['answers'][0])}>"

    def _repr_html_(self) -> str:
        return framed(self.content, self.figures)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which needs no other file and no network; it is replaced when the page is whole."""
        check_path(path)
        text = page(self.content, self.figures).encode()
        with replaced(Path(path)) as file:
            file.write(text)

    def markdown(self) -> str:
        """The report for a comment on a change: the answer, a table, the worst slices and the largest drops."""
        return markdown(self.content, self.figures)


@public(Reporting, keys=False)
def report(
    runs: Any,
    qrels: Any = None,
    measures: Measures | None = None,
    *,
    baseline: str | None = None,
    documents: Any = None,
    queries: Any = None,
    by: Any = None,
    n_queries: int = N_QUERIES,
    title: str | None = None,
    date: str | dt.date | None = None,
    **options: Unpack[Reporting],
) -> Report:
    """The report of an experiment: a page that answers who is first, what to doubt, and what happened in each query.

    The page is one file of HTML that needs no network. It has the answer in two sentences, the systems with intervals,
    ranks and p, the findings of `validate`, charts, slices, all queries with their figures, and the rankings of some
    side by side, with texts and what each document contributes. All figures are those of `evaluate`, `summarize`,
    `ranks`, `compare`, `worst_slices` and `explain`, with their defaults: systems are compared by the paired t-test,
    p being corrected by Holm for all pairs or, with a baseline, for all comparisons with it.

    Parameters
    ----------
    runs
        The runs of one system or several, in any form that `evaluate` takes. Of more than 30 systems the best by the
        first measure are compared, and the baseline; from 11 on they are compared with each other by the first measure
        only.
    qrels
        The judgments; None where the runs have grades themselves.
    measures
        The measures, the one that decides first; without it, nDCG@10, AP, RR@10 and R@100.
    documents
        Texts, as `explain` takes them.
    queries
        Texts of the queries, likewise, and the columns that `by` names.
    by
        What queries are sliced by: a column of `queries`, or several, each by itself; or a frame with a query column
        and others.
    n_queries
        The number of queries whose rankings are kept: in turn those in which the best system gains and loses most
        against the baseline or the second, those in which any systems differ most, the hardest, and the unanswered.
    title
        The heading of the page, and of its tab.
    date
        The date on the page, as `"2026-11-27"`; None is today. With a date the same call writes the same bytes.

    Returns
    -------
    Report
        `write(path)` writes the page, `markdown()` is a text for a comment on a change (below 65,536 characters), and
        notebooks show the page in a frame.

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> report = ir.report(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"], queries=pydocs.queries, by="category")
    >>> print(report.content["answers"][0][1])
    bm25 is better than the second, chargrams, in 51 of 96 queries, worse in 26 and equal in 19.
    """
    require("stats", "ir.report")
    check("n_queries", n_queries, whole(0))
    heading = heading_of(title, date)
    attributes = attributes_of(by, queries)
    runs, qrels = selected(runs, qrels, options)
    exclude = options["exclude"]
    named = isinstance(exclude, str)
    # The excluded documents of a table are a table of the call, as texts are.
    texts = {"documents": documents, "queries": queries, "exclude": None if named else exclude}
    options = {**options, "exclude": exclude if named else None}
    experiment = evaluated(runs, qrels, MEASURES if measures is None else measures, options)
    return reported(experiment, baseline, texts, attributes, n_queries, options, heading=heading)


def heading_of(title: str | None = None, date: str | dt.date | None = None) -> dict[str, str | None]:
    """The title and the date of a page, each None where it was not given."""
    text = Value[Any]("a text", lambda given: isinstance(given, str) and bool(given.strip()))
    check("title", title, or_none(text, "for that of every report"))
    return {"title": title, "date": None if date is None else day_of(date)}


def day_of(date: str | dt.date | None) -> str:
    """A date as ISO 8601 writes it; of none, that of today."""
    if date is None:
        return dt.date.today().isoformat()  # noqa: DTZ011  # the calendar on the reader's wall
    text = date.isoformat()[:10] if isinstance(date, dt.date) else date
    try:
        return dt.date.fromisoformat(text).isoformat()
    except (TypeError, ValueError):
        raise OptionError(f"must be a date, as '2026-11-27' or of `datetime`; got {date!r}.", about="date") from None


def attributes_of(by: Any, queries: Any) -> pl.DataFrame | None:
    """The columns that queries are sliced by, as texts behind `query_id`; None without any."""
    if by is None:
        return None
    named = isinstance(by, str) or (isinstance(by, Sequence) and all(isinstance(name, str) for name in by))
    if named and queries is None:
        fix = "Give queries; a report is of one night, or one tenant, whose rows of runs are filtered before"
        raise OptionError(f"names a column of queries, the table that has it; got {by!r} without.", about="by", fix=fix)
    about = "queries" if named else "by"
    frame = to_polars(about, queries if named else by, column="text").lazy().collect()
    query = required(about, "query_id", frame.columns)
    given = each_once(by) if named else frame.columns
    names = [name for name in given if name != query]
    if given and not names:
        raise ColumnError(f"must name a column of slices; {query!r} has the ids of queries.", about="by")
    for name in names:
        if name not in frame.columns:
            says = f"has no column {name!r}; it has {quoted(frame.columns)}."
            raise ColumnError(says, about=about, near=nearest(name, frame.columns))
    check_types(frame.schema, names, "by", about)
    texts = [
        pl.col(name).dt.to_string("polars") if frame.schema[name] == pl.Duration else pl.col(name).cast(pl.String)
        for name in names
    ]
    return frame.select(pl.col(query).cast(pl.String).alias("query_id"), *texts)


def report_of_change(
    new: Any,
    old: Any,
    qrels: Any,
    verdicts: pl.DataFrame,
    texts: Mapping[str, Any],
    cluster: str | None = None,
    attributes: pl.DataFrame | None = None,
    heading: Mapping[str, str | None] = MappingProxyType(heading_of()),
    turned: Sequence[str] = (),
) -> Report:
    """The report of a change that `gate` judged: of two runs with their judgments, or of their figures without.

    Of measures that are `turned`, whose direction comes from given ranges, it has the verdict alone; others are needed.
    """
    measures, both = [name for name in verdicts["measure"] if name not in turned], {"new": new, "old": old}
    options: Any = {name: option.default for name, option in options_of(Reporting).items()}
    if qrels is None:
        tables = {name: per_query_table(frame) for name, frame in both.items()}
        parts = [
            table.all_columns().select(run=pl.lit(name), query_id=pl.col("query_id").cast(pl.String), **values)
            for name, table in tables.items()
            for values in [{measure: pl.col(measure).cast(pl.Float64) for measure in measures}]
        ]
        per_query = pl.concat(parts).collect()
        experiment = Experiment(per_query, measures, order_of(per_query, measures[0]))
    else:
        experiment = evaluated(both, qrels, measures, options)
    made = reported(experiment, "old", texts, attributes, N_QUERIES, options, verdicts, heading)
    counted = f"The verdict counts each {cluster} once; the other figures of this page count queries."
    said = [] if cluster is None else [counted]
    if turned:
        names = ", ".join(map(plain, turned))
        said.append(f"For {names}, whose direction comes from --range, only the verdict is shown.")
    if not said:
        return made
    answers = [[*sentences, *said] for sentences in made.content["answers"]]
    return Report({**made.content, "answers": answers}, made.figures)


def reported(
    experiment: Experiment,
    baseline: str | None,
    texts: Mapping[str, Any],
    attributes: pl.DataFrame | None,
    n_queries: int,
    options: Reporting,
    verdicts: pl.DataFrame | None = None,
    heading: Mapping[str, str | None] = MappingProxyType(heading_of()),
) -> Report:
    """The report of an experiment, or of a change with the verdicts on it; its heading is a title and a date."""
    baseline = None if baseline is None else str(baseline)
    if baseline is not None and baseline not in experiment.systems:
        raise OptionError.not_a_system("baseline", baseline, experiment.systems)
    experiment, left_out = _shown(experiment, baseline)
    per_query, measures, systems, *_ = experiment
    ids = per_query["query_id"].unique().sort()
    query = ids.to_frame("query_id")
    compared = f"{len(systems)} of {len(systems) + len(left_out)} systems are compared, the best by {measures[0]}."
    of_all = [compared] if left_out else []
    judged = None if verdicts is None else columns_of(verdicts)
    with warnings.catch_warnings():
        # What is odd of these tables is told by the evaluation, and by the findings.
        warnings.simplefilter("ignore", IRWarning)
        tested = _tested(experiment, baseline, options)
        pair = _pair(tested["ranks"], measures[0], systems, baseline)
        content: Content = {
            "title": heading["title"] or ("Report of an experiment" if verdicts is None else "Report of a change"),
            "date": heading["date"] or day_of(None),
            "measures": [{"name": name, "cost": is_cost(name)} for name in measures],
            "counts": list(experiment.counts),
            "systems": systems,
            "left_out": left_out,
            "baseline": baseline,
            "pair": [systems.index(system) for system in pair],
            "queries": _queries(query, texts["queries"], attributes),
            **tested,
            "verdicts": judged,
            "verdict": verdict(judged),
            "answers": [[*answer(tested, name, baseline), *of_all, *_assumed(name)] for name in measures],
            "slices": _slices(experiment, baseline, attributes, options),
            "cutoffs": _cutoffs(experiment),
            "doubts": doubts_of(experiment, options),
            "rankings": rankings_of(experiment, texts["documents"], pair, n_queries, options),
            "missing": missing_of(experiment, pair),
            "made": _made(experiment, baseline, attributes, n_queries, {**heading, **options}, texts),
        }
    return Report(content, _figures(experiment, ids))


def _shown(experiment: Experiment, baseline: str | None) -> tuple[Experiment, list[str]]:
    """The experiment of the systems that are compared, and the names of the others."""
    shown = experiment.systems[:MOST_SYSTEMS]
    if baseline is not None and baseline not in shown:
        shown[-1] = baseline
    if len(shown) == len(experiment.systems):
        return experiment, []
    of_shown = pl.col("run").is_in(shown)
    rows = None if experiment.rows is None else experiment.rows.filter(of_shown)
    others = [system for system in experiment.systems if system not in shown]
    return experiment._replace(per_query=experiment.per_query.filter(of_shown), systems=shown, rows=rows), others


def _tested(experiment: Experiment, baseline: str | None, options: Reporting) -> Tested:
    """The means with their intervals, the ranks, and the differences: of pairs, and from the baseline."""
    per_query, measures, systems, *_ = experiment
    per_query = per_query.select("run", "query_id", *measures)
    found: Tested = {"summary": columns_of(summarize(per_query)), "ranks": None, "pairs": None, "against": None}
    if len(systems) > 1 and per_query["query_id"].n_unique() > 1:
        LOG.info("comparing %d systems", len(systems))
        missing = options["missing"]
        found["ranks"] = columns_of(ranks(per_query, measures, missing=missing))
        of_pairs = measures if len(systems) <= MOST_PAIRED else measures[:1]
        found["pairs"] = columns_of(compare(per_query, of_pairs, missing=missing).select(COMPARED))
        if baseline is not None:
            compared = compare(per_query, measures, baseline=baseline, missing=missing)
            found["against"] = columns_of(compared.select(COMPARED))
    return found


def _assumed(measure: str) -> list[str]:
    """The sentence on a measure that the catalogue does not have."""
    if column_of(measure) is not None:
        return []
    return [f"A higher value of {plain(measure)} is taken for a better one; the catalogue has no measure of this name."]


def _pair(
    ranks: Mapping[str, Sequence[Any]] | None, measure: str, systems: list[str], baseline: str | None
) -> list[str]:
    """The systems that are compared first: the best one with the baseline or, without it, with the second."""
    ranked = [row["run"] for row in rows_of(ranks, measure=measure)] or systems
    other = ranked[1] if baseline is None and len(ranked) > 1 else baseline
    return ranked if len(ranked) == 1 else [next(system for system in ranked if system != other), str(other)]


def _cutoffs(experiment: Experiment) -> Cutoffs | None:
    if not experiment.cutoffs:
        return None
    means = mean(experiment.per_query.select("run", "query_id", *experiment.cutoffs))
    rows = means.unpivot(index="run", variable_name="k", value_name="mean")
    rows = rows.with_columns(pl.col("k").replace_strict(experiment.cutoffs, return_dtype=pl.Int64))
    return {"measure": experiment.measures[0].partition("@")[0], "rows": columns_of(rows)}


def _queries(query: pl.DataFrame, texts: Any, attributes: pl.DataFrame | None) -> Queries:
    with_texts = with_text(query.clone(), texts, "queries", "query_id", "query_id", "text")
    described: Queries = {"ids": query["query_id"].to_list(), "texts": None, "attributes": {}}
    if "text" in with_texts.columns:
        text, ellipsis = pl.col("text"), pl.lit("\N{HORIZONTAL ELLIPSIS}")
        cut = pl.when(text.str.len_chars() > LONGEST_TEXT).then(text.str.slice(0, LONGEST_TEXT) + ellipsis)
        described["texts"] = with_texts.select(cut.otherwise(text))["text"].to_list()
    if attributes is not None:
        sliced = query.join(attributes.unique("query_id"), on="query_id", how="left", maintain_order="left")
        described["attributes"] = sliced.drop("query_id").to_dict(as_series=False)
    return described


def _slices(
    experiment: Experiment, baseline: str | None, attributes: pl.DataFrame | None, options: Reporting
) -> list[Slice]:
    """Of each column of slices the means, the differences from the baseline or the first, and the worst slices."""
    per_query, measures, systems, *_ = experiment
    per_query, slices = per_query.select("run", "query_id", *measures), []
    if attributes is None:
        return []
    ids = per_query["query_id"].unique().sort()
    for name in attributes.columns[1:]:
        LOG.info("comparing the slices by %s", plain(name))
        by = attributes.select("query_id", name)
        _check_valued(by.drop_nulls(), ids)
        of_one: Slice = {
            "attribute": name,
            "reference": systems[0] if baseline is None else baseline,
            "means": columns_of(summarize(per_query, by=by).rename({name: "value"})),
            "compared": None,
            "worst": columns_of(worst_slices(per_query, by, measures, baseline=baseline)),
        }
        if len(systems) > 1 and len(ids) > 1:
            how: Any = {"baseline": of_one["reference"], "by": by, "missing": options["missing"]}
            compared = compare(per_query, measures, **how)
            of_one["compared"] = columns_of(compared.rename({name: "value"}).select("value", *COMPARED))
        slices.append(of_one)
    return slices


def _check_valued(by: pl.DataFrame, ids: pl.Series) -> None:
    """Raise a `DataError` for queries that are in no slice."""
    lacking = ids.filter(~ids.is_in(by["query_id"].implode()))
    if len(lacking):
        says = f"has no {by.columns[-1]!r} for {len(lacking):,} of {len(ids):,} queries: {quoted(lacking, 3)}."
        raise DataError(says, about="by", fix="Give each query one, such as 'other'")


def _figures(experiment: Experiment, ids: pl.Series) -> bytes:
    """The values of each measure and count, system and query, in this order; NaN where there is none."""
    per_query, measures, systems, *_ = experiment
    order = pl.DataFrame({"run": systems}).join(ids.to_frame("query_id"), how="cross", maintain_order="left_right")
    grid = order.join(per_query, on=["run", "query_id"], how="left", maintain_order="left")
    values = grid.with_columns(pl.col(*measures, *experiment.counts).fill_null(float("nan")))
    # A count may also be one of the measures.
    columns = (values[name] for name in (*measures, *experiment.counts))
    return b"".join(column.to_numpy().astype("<f8").tobytes() for column in columns)


def _made(
    experiment: Experiment,
    baseline: str | None,
    attributes: pl.DataFrame | None,
    n_queries: int,
    options: Mapping[str, Any],
    texts: Mapping[str, Any],
) -> Made:
    """Versions and options of a report; the command line adds files and command."""
    chosen: dict[str, Any] = {
        "measures": list(experiment.measures),
        "baseline": baseline,
        "n_queries": n_queries,
        **options,
    }
    chosen = {name: value for name, value in chosen.items() if value is not None or name not in ("title", "date")}
    given = [name for name, table in texts.items() if table is not None]
    if attributes is not None:
        chosen["by"] = attributes.columns[1:]
    return {
        "versions": {"Python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "options": chosen,
        "test": "Student's paired t-test, Holm's correction; nothing is drawn at random, so that there is no seed",
        "files": [],
        "command": None,
        "python": _call(experiment, chosen, given),
    }


def _call(experiment: Experiment, options: Mapping[str, Any], given: Sequence[str]) -> str:
    """The call that remakes a report, with tables, and measures that their names do not stand for, as parameters."""
    defaults = {"n_queries": N_QUERIES} | {name: option.default for name, option in options_of(Reporting).items()}
    named = {name: value for name, value in options.items() if name != "measures" and defaults.get(name) != value}
    texts = [f"{name}={name}" for name in given] + [f"{name}={value!r}" for name, value in named.items()]
    measures = "measures" if any(map(is_renamed, experiment.resolved)) else repr(options["measures"])
    return f"ir.report({', '.join(['runs', 'qrels', measures, *texts])})"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def columns_of(frame: pl.DataFrame) -> Columns:
    """The columns of a frame for JSON; NaN and infinities are null."""
    floats = pl.col(pl.Float64)
    return frame.with_columns(pl.when(floats.is_finite()).then(floats)).to_dict(as_series=False)
