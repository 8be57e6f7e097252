"""The cells of a publication table: printed means, best values, marks, side columns and the note below.

Conventions: one frame of cells holds what every format shows. A mean that prints like the best one is best, too, so
that of two equal figures both are marked or none. Marks are what `compare` found. A part beside the mean has a heading
of its own; differences and their intervals always have a sign, which is a minus and no hyphen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from string import ascii_lowercase
from typing import Any

import polars as pl

from polars_ir.errors import SHOWN, OptionError
from polars_ir.language.columns import column_of, is_cost
from polars_ir.language.options import check, one_of
from polars_ir.per_query.shared.options import TESTS
from polars_ir.per_query.shared.verdicts import p_text

#: A digit-wide space, so that decimal points align.
FIGURE_SPACE = "\N{FIGURE SPACE}"

UNDEFINED = "\N{EN DASH}"
BETTER, WORSE = "\N{DAGGER}", "\N{DOUBLE DAGGER}"

#: Names of corrections in papers; others have their names in statsmodels.
CORRECTIONS = {
    **{name: name.title() for name in ("bonferroni", "sidak", "holm", "holm-sidak", "simes-hochberg", "hommel")},
    "fdr_bh": "Benjamini-Hochberg",
    "fdr_by": "Benjamini-Yekutieli",
}


def cells_of(
    means: pl.DataFrame, compared: pl.DataFrame | None, *, baseline: str | None, digits: int, percent: bool
) -> pl.DataFrame:
    """A row per measure and system, in the order of the columns and rows of `means`.

    `run`, `label` (String: the system, with its letter where there are letters), `measure`, `heading` (String), `mean`
    (Float64), `text` (String), `best` (Boolean), `part` (String: of the mean or of what stands beside it), `marks`.
    """
    systems = means["run"].to_list()
    lettered = compared is not None and baseline is None
    labels = [f"{system} ({letter(i)})" if lettered else system for i, system in enumerate(systems)]
    return pl.concat(
        _column(means, measure, digits, percent=percent).with_columns(
            label=pl.Series(labels, dtype=pl.String),
            part=pl.lit("mean"),
            marks=pl.Series(_marks(systems, measure, compared, baseline), dtype=pl.String),
        )
        for measure in means.columns[1:]
    )


def _column(means: pl.DataFrame, measure: str, digits: int, *, percent: bool) -> pl.DataFrame:
    times = times_of(measure, percent=percent)
    values = [None if value is None else times * value for value in means[measure]]
    texts = [UNDEFINED if value is None else f"{value:z.{digits}f}" for value in values]
    width = max(map(len, texts))
    defined = [(value, text) for value, text in zip(values, texts, strict=True) if value is not None]
    # A single system is not the best of any.
    best = (min if is_cost(measure) else max)(defined)[1] if defined and len(values) > 1 else None
    return means.select(
        "run",
        pl.lit(measure).alias("measure"),
        # If all columns are percents the table says so once.
        pl.lit(f"{measure} (%)" if times == 100 and not in_percent(means.columns[1:]) else measure).alias("heading"),
        mean=pl.Series(values, dtype=pl.Float64),
        text=pl.Series([text.rjust(width, FIGURE_SPACE) for text in texts]),
        best=pl.Series([text == best for text in texts]),
    )


def times_of(measure: str, *, percent: bool) -> int:
    """The factor by which the values of a measure are printed."""
    return 100 if percent and _bounded(measure) else 1


def in_percent(measures: Iterable[str]) -> bool:
    """True where every measure can be printed in percent."""
    return all(map(_bounded, measures))


def _bounded(measure: str) -> bool:
    """True for a measure that can be printed in percent: bounded above, or user-defined."""
    named = column_of(measure)
    return named is None or math.isfinite(named.info.bounds[1])


def letter(place: int) -> str:
    """The letter of a system by its place from 0: a to z, then aa, ab, ..., as spreadsheets name their columns."""
    before, last = divmod(place, 26)
    return (letter(before - 1) if before else "") + ascii_lowercase[last]


def _marks(systems: Sequence[str], measure: str, compared: pl.DataFrame | None, baseline: str | None) -> list[str]:
    """The mark behind each mean: the sign of its relation to the baseline, or the letters of those it beats."""
    if compared is None:
        return [""] * len(systems)
    rows = compared.filter(pl.col("measure") == measure, pl.col("significant"))
    better = (pl.col("difference") > 0) != is_cost(measure)
    if baseline is not None:
        sign = pl.when(better).then(pl.lit(BETTER)).otherwise(pl.lit(WORSE))
        signs = dict(rows.select("run", sign.alias("sign")).iter_rows())
        return [signs.get(system, "") for system in systems]
    winner, loser = pl.when(better).then("run").otherwise("baseline"), pl.when(better).then("baseline").otherwise("run")
    beaten = set(rows.select(winner.alias("winner"), loser.alias("loser")).iter_rows())
    return [_letters([i for i, other in enumerate(systems) if (system, other) in beaten]) for system in systems]


def _letters(places: Sequence[int]) -> str:
    """The letters of systems, three or more in a row as a range: 40 letters fit no page."""
    in_a_row = groupby(enumerate(places), lambda each: each[1] - each[0])
    spans = [[place for _, place in each] for _, each in in_a_row]
    return ",".join(
        f"{letter(span[0])}\N{EN DASH}{letter(span[-1])}" if len(span) > 2 else ",".join(map(letter, span))
        for span in spans
    )


def note_on_best(cells: pl.DataFrame) -> Iterator[str]:
    """The note on bold figures, where there are any."""
    costs = [measure for measure in cells["measure"].unique(maintain_order=True) if is_cost(measure)]
    if cells["best"].any():
        yield f"Bold: the best; of {_first(costs)} the lowest." if costs else "Bold: the best."


def note_on_marks(compared: pl.DataFrame, baseline: str | None, options: Mapping[str, Any]) -> Iterator[str]:
    """The note on the marks: their meaning, test and number of queries, and the comparisons that could not be made."""
    used = compared["n_queries"].unique().sort().to_list()
    over = f"{used[0]:,} to {used[-1]:,} queries" if len(used) > 1 else queries(used[0])
    test, correction = TESTS[options["test"]], options["correction"]
    family = "over all measures" if options["family"] == "all" else "for each measure"
    corrected = f"{CORRECTIONS.get(correction, correction)} correction {family}" if correction else "no correction"
    # A test of all comparisons at once needs none.
    how = [test.title, f"level {options['alpha']:g}", *([] if test.of_all else [corrected]), over]
    if not compared["significant"].any():
        yield f"No difference is significant ({', '.join(how)})."
    elif baseline is None:
        yield f"Superscripts: systems that this one is significantly better than ({', '.join(how)})."
    else:
        yield f"{BETTER} significantly better than {baseline}, {WORSE} significantly worse ({', '.join(how)})."
    measures = compared.group_by("measure", maintain_order=True)
    # Behind a semicolon stands why something else is not defined either.
    reason = pl.col("note").filter(pl.col("p").is_null()).str.split("; ").list.first()
    untested = measures.agg(reason.value_counts(sort=True), pairs=pl.len())
    reasons = [
        f"{why['count']} of {pairs} pairs by {measure} ({why['note']})"
        for measure, whys, pairs in untested.iter_rows()
        for why in whys
    ]
    if reasons:
        yield f"Not tested: {_first(reasons)}."


def note_on_queries(
    rows: pl.DataFrame, systems: pl.DataFrame, measures: Sequence[str], *, missing: str, tested: bool
) -> Iterator[str]:
    """The note on the number of queries, on systems of the table that lack some or all, and on undefined values."""
    n_queries = rows["query_id"].n_unique()
    if not tested:
        yield f"{queries(n_queries).capitalize()}."
    of_systems = rows.group_by("run", maintain_order=True)
    answered = systems.join(of_systems.len(), on="run", how="left", maintain_order="left")
    lacks = n_queries - pl.col("len").cast(pl.Int64).fill_null(0)
    lacking = answered.select("run", lacks=lacks).filter(pl.col("lacks") > 0)
    if lacking.height:
        treated = "count as 0" if missing == "zero" else "are left out"
        counts = [f"{n} of {system}" for system, n in lacking.iter_rows()]
        yield f"Queries without an answer {treated}: {_first(counts)}."
    undefined = of_systems.agg(pl.col(measures).null_count())
    # A measure may share its name with one of our columns.
    if counts := [
        f"{measure} of {system} for {queries(n)}"
        for measure in measures
        for system, n in undefined.select("run", measure).iter_rows()
        if n
    ]:
        yield f"Undefined and left out: {_first(counts)}."


def queries(number: int) -> str:
    """A number of queries in words."""
    return f"{number:,} {'query' if number == 1 else 'queries'}"


def _first(texts: Sequence[str]) -> str:
    """The first few, and the count of the rest."""
    more = len(texts) - SHOWN
    return ", ".join(texts[:SHOWN]) + (f" and {more} more" if more > 0 else "")


#: The parts beside each mean, with the words behind the measure in the heading.
PARTS = {"interval": "{:.3g} % interval", "difference": "difference", "p": "p"}

MINUS = "\N{MINUS SIGN}"


def parts_of(show: object, baseline: str | None, test: str | None) -> list[str]:
    """The wanted parts, in the order of the columns; an error for those of a comparison that is not made."""
    wanted = list(show) if isinstance(show, (list, tuple, set)) else [show]
    for part in wanted:
        check("show", part, one_of(*PARTS))
    lacking = "baseline" if baseline is None else "test" if test is None else None
    for part in ("difference", "p"):
        if part in wanted and lacking is not None:
            says = f"has {part!r}, which needs a baseline and a test."
            raise OptionError(says, about="show", fix=f"Name the {lacking}")
    return [part for part in PARTS if part in wanted]


def beside(
    column: pl.DataFrame,
    parts: Sequence[str],
    figures: Mapping[str, pl.DataFrame | None],
    *,
    times: int,
    digits: int,
    alpha: float,
) -> Iterator[pl.DataFrame]:
    """The cells beside those of a measure; `figures` are rows of `summarize` and of `compare`."""
    measure, systems = column["measure"][0], column["run"].to_list()
    intervals, compared = (_by_system(figures[name], measure) for name in ("intervals", "compared"))
    for part in parts:
        if part == "interval":
            texts = _aligned([_ends(intervals.get(system, {}), times, f".{digits}f") for system in systems])
        elif part == "difference":
            texts = _differences([compared.get(system, {}) for system in systems], times, digits)
        else:
            p = [compared.get(system, {}).get("p_corrected") for system in systems]
            texts = _aligned([[UNDEFINED] if value is None else [p_text(value, alpha)] for value in p])
        yield column.with_columns(
            part=pl.lit(part),
            heading=pl.lit(f"{measure} {PARTS[part].format(100 * (1 - alpha))}"),
            mean=pl.lit(None, pl.Float64),
            text=pl.Series(texts, dtype=pl.String),
            marks=pl.lit(""),
            best=pl.lit(False),
        )


def _by_system(rows: pl.DataFrame | None, measure: str) -> dict[str, dict[str, Any]]:
    return {} if rows is None else {row["run"]: row for row in rows.filter(measure=measure).iter_rows(named=True)}


def _ends(row: Mapping[str, Any], times: int, form: str) -> list[str]:
    """Both ends of an interval, printed; a dash where it is null."""
    if row.get("low") is None:
        return [UNDEFINED]
    return [_number(times * row[end], form) for end in ("low", "high")]


def _differences(rows: Sequence[Mapping[str, Any]], times: int, digits: int) -> list[str]:
    """Differences with their intervals; a dash where they are null, as for the baseline."""
    form = f"+.{digits}f"
    none = all(row.get("difference") is None for row in rows)
    numbers = [UNDEFINED if row.get("difference") is None else _number(times * row["difference"], form) for row in rows]
    width = max(map(len, numbers), default=0)
    ends = _aligned([_ends(row, times, form) for row in rows])
    return [
        number.rjust(width, FIGURE_SPACE) + ("" if none or row.get("low") is None else f" {both}")
        for number, both, row in zip(numbers, ends, rows, strict=True)
    ]


def _number(value: float, form: str) -> str:
    # A figure that is rounded to 0 has no minus.
    return format(value, form.replace(".", "z.")).replace("-", MINUS)


def _aligned(pairs: Sequence[Sequence[str]]) -> list[str]:
    """Single texts flush right; pairs in brackets, each place of them flush right."""
    widths = [max((len(pair[place]) for pair in pairs if len(pair) == 2), default=0) for place in (0, 1)]
    printed = [
        pair[0]
        if len(pair) == 1
        else f"[{', '.join(end.rjust(width, FIGURE_SPACE) for end, width in zip(pair, widths, strict=True))}]"
        for pair in pairs
    ]
    width = max(map(len, printed), default=0)
    return [text.rjust(width, FIGURE_SPACE) for text in printed]
