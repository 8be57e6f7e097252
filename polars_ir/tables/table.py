"""`table`: the mean of every system and measure, the best ones, and the significantly better ones, for a publication.

Conventions: the content of a table is one frame of cells (`cells`), which `typesetting` writes in each format.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Unpack, get_args

import polars as pl

from polars_ir.errors import ColumnError, DataError, OptionError, check_systems, nearest, option, quoted
from polars_ir.extras import require
from polars_ir.frames.roles import PROVENANCE, QUERY_HASH
from polars_ir.frames.rules import check_duplicates, check_values
from polars_ir.frames.table import per_query_table
from polars_ir.language.columns import is_cost
from polars_ir.language.names import is_one
from polars_ir.language.options import check, keys_named, one_of, public, truth, whole
from polars_ir.per_query.compare import compare
from polars_ir.per_query.means import mean, summarize
from polars_ir.per_query.provenance import warn_of_several
from polars_ir.per_query.shared.attributes import null_rule, texts_of
from polars_ir.per_query.shared.measures import Measures, measures_of
from polars_ir.per_query.shared.options import TESTS, Marking
from polars_ir.tables import typesetting
from polars_ir.tables.cells import (
    beside,
    cells_of,
    in_percent,
    note_on_best,
    note_on_marks,
    note_on_queries,
    parts_of,
    times_of,
)

Format = Literal["gt", "html", "latex", "markdown"]
FORMATS = get_args(Format)


@public(Marking)
def table(
    per_query: Any,
    measures: Measures = None,
    *,
    by: str | Sequence[str] | None = None,
    baseline: str | None = None,
    order: str | pl.Expr | None = None,
    show: str | Iterable[str] = (),
    digits: int | None = None,
    percent: bool = False,
    title: str | None = None,
    label: str | None = None,
    wide: bool | None = None,
    format: Format = "gt",
    **options: Unpack[Marking],
) -> Any:
    r"""A publication table: a row per system, a column per measure, the best mean in bold, significance marked.

    With a baseline, a dagger marks what is significantly better than it, and a double dagger what is significantly
    worse. Without one every system has a letter (a to z, then aa, ab, ...), and a mean carries the letters of the
    systems that it is significantly better than. Better is higher; for a cost such as `Hole`, lower. A note below names
    the test, the number of queries, and the missing and undefined values.

    Parameters
    ----------
    per_query
        The result of `evaluate`, or a dict of such frames by system. A single system, or query, has no marks.
    measures
        The measures to show, in this order; by default all.
    by
        Columns of per_query that distinguish rows of a query, such as 'date': each value is compared by itself in
        columns of its own; p is corrected for all of them.
    baseline
        The system that the others are compared with; by default each is compared with each.
    order
        The measure that sorts the systems, the best mean first; by default they stay as they come.
    show
        The figures beside each mean: `"interval"`, as `summarize` has it; `"difference"` to the baseline, with the
        interval of `compare`; `"p"`, corrected, `<.001` being the lowest.
    digits
        Decimal places; by default 4, or 2 in percent. All means that print like the best one are bold.
    percent
        Print means times 100, and (%); those of measures without an upper bound, such as counts, stay as they are.
    title, label
        The text above the table, and the name by which LaTeX refers to it, `\label`, which needs a title.
    wide
        True for a LaTeX float over both columns of a page, `table*`; by default where it does not fit into one. What
        still does not fit is set smaller, down to `\scriptsize`, and then broken into several tables; a warning says by
        how much a single measure is too wide.
    format
        `"gt"` is a `great_tables.GT`, for notebooks and further styling (its own `as_latex` knows no bold); printed in
        a terminal, it is the table in Markdown. The others are texts: `"html"`, `"latex"` (a float that needs no
        package but booktabs), `"markdown"` (as GitHub reads it).

    Returns
    -------
    great_tables.GT or str
        The data of the `GT` are a String column `run` and a Float64 column per measure, named by its heading.

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "R@100"])
    >>> text = ir.table(per_query, baseline="tfidf", order="nDCG@10", format="markdown")
    >>> print(text.partition("\n\n")[0])
    |           | nDCG@10                | R@100                  |
    | --------- | ---------------------- | ---------------------- |
    | bm25      | **0.3234**<sup>†</sup> | 0.5688                 |
    | chargrams | 0.2794                 | **0.6048**<sup>†</sup> |
    | tfidf     | 0.2637                 | 0.5605                 |
    """
    test, alpha, missing = options["test"], options["alpha"], options["missing"]
    check("format", format, one_of(*FORMATS))
    if title is not None and not isinstance(title, str):
        raise OptionError(f"must be a text; got {title!r:.80}.", about="title")
    usual = 2 if check("percent", percent, truth()) else 4
    places = usual if digits is None else check("digits", digits, whole(0, 15))
    if format in ("gt", "html"):
        require("table", "ir.table")
    parts = parts_of(show, baseline, test)
    _check_label(label, title)
    keys = keys_named(by, "per_query")
    rows, names = _rows(per_query, measures, keys)
    # Systems may be numbers, which are printed as text.
    baseline = None if baseline is None else str(baseline)
    compared = _compared(rows, names, baseline, options, keys)
    warn_of_several(per_query_table(rows), names)
    # Means of sections would warn again.
    rows = rows.drop(PROVENANCE, QUERY_HASH, strict=False)
    sections = _sections(rows, keys)
    headings = texts_of(list(sections))
    systems = rows.select(pl.col("run").unique(maintain_order=True))
    filled = [_filled(section, systems, names, missing) for section in sections.values()]
    lacking: Any = {"missing": missing, "tested": compared is not None}
    systems = systems if order is None else _in_order(systems, filled, _measure_to_sort_by(rows, order, names))
    form: dict[str, Any] = {"digits": places, "percent": percent}
    of_sections, of_queries = [], {}
    for heading, (value, section), values in zip(headings, sections.items(), filled, strict=True):
        own = [pl.col(key) == each for key, each in zip(keys, value, strict=True)]
        its = compared if compared is None else compared.filter(*own)
        means = systems.join(mean(values), on="run", how="left", maintain_order="left")
        cells = cells_of(means, its, baseline=baseline, **form)
        of_sections.append(_with_parts(cells, parts, values, its, alpha=alpha, **form))
        of_queries[heading] = [*note_on_queries(section, systems, names, **lacking)]
    corner = "(%)" if percent and in_percent(names) else ""
    notes = [*note_on_best(pl.concat(of_sections)), *_of_each(of_queries)]
    # The columns are called for a value of keys, too.
    cells = pl.concat(
        each.with_columns((pl.lit(f"{heading} " if heading else "") + pl.col("measure", "heading")).name.keep())
        for heading, each in zip(headings, of_sections, strict=True)
    )
    if cells["text"].filter(cells["part"].is_in(["interval", "difference"])).str.contains("[", literal=True).any():
        notes.append(f"Intervals of {1 - alpha:.3%}, each by itself.".replace(".000%", " %"))
    if compared is not None and test is not None:
        notes = [*note_on_marks(compared, baseline, options), *notes]
    if format == "latex":
        return typesetting.latex(cells, title, " ".join(notes), corner, label=label, wide=wide)
    if format == "markdown":
        return typesetting.markdown(cells, title, " ".join(notes), corner)
    from polars_ir.tables.html import great_table

    shown = great_table(cells, title, " ".join(notes), corner)
    return shown.as_raw_html() if format == "html" else shown


def _sections(rows: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[Any, ...], pl.DataFrame]:
    """Rows per key value, in order; all rows without keys."""
    if not keys:
        return {(): rows}
    return rows.sort(keys, maintain_order=True).partition_by(keys, as_dict=True, maintain_order=True, include_key=False)


def _of_each(notes: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The notes on several sections, once where all have the same."""
    first, *others = notes.values()
    if all(each == first for each in others):
        return first
    return [f"{heading}: {' '.join(each)}" for heading, each in notes.items() if each]


def _with_parts(
    cells: pl.DataFrame,
    parts: Sequence[str],
    rows: pl.DataFrame,
    compared: pl.DataFrame | None,
    *,
    alpha: float,
    digits: int,
    percent: bool,
) -> pl.DataFrame:
    """The cells of each measure, and behind them those of its interval, difference and p."""
    if not parts:
        return cells
    figures = {"intervals": summarize(rows, alpha=alpha) if "interval" in parts else None, "compared": compared}
    columns = []
    for column in cells.partition_by("measure", maintain_order=True):
        times = times_of(column["measure"][0], percent=percent)
        others = beside(column, parts, figures, times=times, digits=digits, alpha=alpha)
        columns += [column, *others]
    return pl.concat(columns)


def _compared(
    rows: pl.DataFrame, measures: Sequence[str], baseline: str | None, options: Any, keys: Sequence[str]
) -> pl.DataFrame | None:
    """The systems compared; None for a single one, of a single query, or without a test."""
    systems = rows["run"].unique(maintain_order=True).to_list()
    if baseline is not None:
        check_systems("baseline", [baseline], systems)
    if len(systems) == 1 or rows["query_id"].n_unique() == 1 or options["test"] is None:
        return None
    require("stats", "ir.table with a test")
    interval = TESTS[options["test"]].interval_of_mean
    by = list(keys) or None
    comparison: pl.DataFrame = compare(rows, measures, baseline=baseline, by=by, interval=interval, **options)
    return comparison


def _rows(per_query: Any, measures: Any, keys: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """`run`, `query_id`, keys and the measures as numbers, and these measures' names; one system may be nameless."""
    table = per_query_table(per_query)
    for key in keys:
        if key not in table.columns or key in table.keys:
            others = [name for name in table.columns if name not in table.keys]
            says = f"names {key!r}; beside its queries and systems per_query has {quoted(others)}."
            raise ColumnError(says, about=option("by"), near=nearest(key, others))
    names = measures_of(table, measures, without=keys)
    table.check_in_memory("ir.table")
    rows = table.checked(*(null_rule(table, key) for key in keys)).collect()
    check_values("per_query", rows, {key: table.names[key] for key in table.keys})
    check_duplicates("per_query", rows, [*keys, *table.keys], table.names)
    run = pl.col("run").cast(pl.String) if "run" in rows.columns else pl.lit("mean")
    made = [*keys, *filter(rows.columns.__contains__, (PROVENANCE, QUERY_HASH))]
    values = rows.select(run.alias("run"), "query_id", *(pl.col(name).cast(pl.Float64) for name in names), *made)
    if values.is_empty():
        raise DataError("a table needs at least one query; per_query has no row.")
    return values, names


def _check_label(label: object, title: str | None) -> None:
    """Raise an `OptionError` for a label that LaTeX cannot take, or that has no title to refer to."""
    if label is None:
        return
    if not isinstance(label, str) or typesetting.NO_LABEL.search(label):
        says = f"must be a name without blanks and commands, as in 'tab:main'; got {label!r:.80}."
        raise OptionError(says, about="label")
    if title is None:
        raise OptionError("refers to the number of the caption, which comes from title; give a title.", about="label")


def _filled(rows: pl.DataFrame, systems: pl.DataFrame, names: Sequence[str], missing: str) -> pl.DataFrame:
    """The rows of all systems; by `missing="zero"` with 0 for queries that a system lacks."""
    if missing != "zero":
        return rows
    every = systems.join(rows.select(pl.col("query_id").unique()), how="cross")
    answered = rows.with_columns(pl.lit(True).alias("polars_ir: answered"))
    zero = pl.col("polars_ir: answered").is_null()
    filled = every.join(answered, on=["run", "query_id"], how="left")
    return filled.select("run", "query_id", *(pl.when(zero).then(0.0).otherwise(pl.col(n)).alias(n) for n in names))


def _in_order(systems: pl.DataFrame, sections: Sequence[pl.DataFrame], measure: str) -> pl.DataFrame:
    """The systems by their means of a measure over sections, the best first."""
    means = pl.concat(mean(section).select("run", measure) for section in sections)
    of_all = means.group_by("run").agg(pl.col(measure).mean())
    means = systems.join(of_all, on="run", how="left", maintain_order="left")
    return means.sort(measure, descending=not is_cost(measure), nulls_last=True, maintain_order=True).select("run")


def _measure_to_sort_by(rows: pl.DataFrame, order: Any, names: Sequence[str]) -> str:
    """The measure of the table that sorts it, by any of its names."""
    if is_one(order):
        with suppress(ColumnError):
            return measures_of(per_query_table(rows), order)[0]
    says = f"must be one of the measures, {', '.join(map(repr, names))}; got {order!r:.80}.{nearest(str(order), names)}"
    raise OptionError(says, about="order")
