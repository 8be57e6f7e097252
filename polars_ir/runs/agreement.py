"""`agreement`: how far judges agree on the grades of documents.

Conventions: the judgments are reduced to counts of patterns, the grades that all judges give a document of a query, in
one pass; everything else is made of these. Grades below 0 stand for documents that were not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, filterfalse
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_ir.errors import SHOWN, Code, ColumnError, DataError, Fix, OptionError, nearest, option, quoted, warn
from polars_ir.frames.advice import check_keys
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import collected, give_back
from polars_ir.frames.rules import ROW, check_duplicates, check_values, nothing_judged
from polars_ir.frames.table import qrels_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import any_number, check, column, keys_named, or_none, public, whole

if TYPE_CHECKING:
    from polars_ir.statistics.agreement import Coefficient, Estimate, Given, Pairs

#: Maximum number of judges, compared pairwise, of grades, whose pairs are counted, and of resamples.
MOST_JUDGES, MOST_GRADES, MOST_RESAMPLES = 50, 101, 1_000_000

#: Number of rows grouped by document at a time, which takes the most memory, and maximum number of such parts.
GROUPED, MOST_PARTS = 5_000_000, 16

#: Number of grades, and of judges, that a note lists, and of classes of grades in the advice.
LISTED, CLASSES = 8, 10

SCHEMA = {
    "judge": pl.String,
    "other": pl.String,
    "coefficient": pl.String,
    **dict.fromkeys(["value", "low", "high", "mean_by_query"], pl.Float64),
    **dict.fromkeys(["n_documents", "n_queries"], pl.UInt32),
    "note": pl.String,
}

#: Columns of documents and patterns: the numbers of rows and documents, and whether a row is invalid.
ROWS, COUNT, ODD = "polars_ir: rows", "polars_ir: documents", "polars_ir: odd"


class Asked(NamedTuple):
    """A row of the result to be: the judges, a coefficient of their pairs of grades, and notes.

    `pairs` is None for judges without a document in common.
    """

    judge: str | None
    other: str | None
    name: str
    coefficient: Coefficient
    pairs: Pairs | None
    n_documents: int
    notes: Sequence[str]

    def figures(self, found: Estimate | None, resamples: int) -> tuple[Any, ...]:
        """The row, from what was found."""
        ids = self.judge, self.other, self.name
        if found is None or self.pairs is None:
            return *ids, None, None, None, None, self.n_documents, 0, "; ".join(self.notes)
        n_queries, notes = len(self.pairs.counts), [*self.notes]
        if isnan(found.value):
            is_share = self.name in ("sensitivity", "specificity")
            why = f"{self.judge!r} gives no such grade" if is_share else "all grades are the same"
            notes.append(f"undefined, as {why}")
        elif n_queries == 1:
            notes.append("one query has no interval")
        elif found.left_out:
            notes.append(f"draws without a value, left out: {found.left_out:,} of {resamples:,}")
        if 0 < found.n_with_own < n_queries:
            notes.append(f"mean_by_query is of {found.n_with_own:,}, those with a value of their own")
        figures = found.value, found.low, found.high, found.mean_by_query
        return *ids, *figures, self.n_documents, n_queries, "; ".join(notes) or None


@public()
def agreement(
    qrels: Table[FrameT],
    *,
    judges: str = "judge",
    rel: float | None = None,
    by: str | Sequence[str] | None = None,
    resamples: int = 2_000,
    seed: int = 0,
) -> FrameT:
    """Agreement of judges on the documents that they share, with intervals over queries.

    Of p_ij, the share of documents with grades i and j, their margins a_i and b_j, and N grades given, n_i of grade i:

    - `raw`: sum(p_ii); `kappa`, `kappa linear`, `kappa quadratic` (Cohen): 1 - sum(d p_ij) / sum(d a_i b_j), d being
      [i != j], |i - j| or (i - j)^2, of the grades themselves;
    - `alpha nominal`, `alpha ordinal`, `alpha interval` (Krippendorff): 1 - (N-1) sum(d o_ij) / sum(d n_i n_j), o_ij
      being the coincidences; d ordinal: (n_i / 2 + ... + n_j / 2)^2;
    - `ac1` (Gwet): (raw - e) / (1 - e), e = sum(s_i (1 - s_i)) / (q - 1), s_i the share of one of q grades;
    - with `rel`, of grades cut there: `kappa(rel=2)`, and the `sensitivity` and `specificity` of `other`: the share of
      the documents relevant, or not relevant, by `judge` that are so by `other`; both judges take both places.

    Agreement tells little about the order of systems; `judge_effect` of figures by each judge does.

    Parameters
    ----------
    qrels
        The judgments of all judges, in any form that `evaluate` takes. Grades below 0 count as not judged.
    judges
        The column of judges.
    rel
        The lowest relevant grade, where grades are also to be cut in two.
    by
        Columns of the judgments, such as 'year': rows for each of their values, by its judgments alone.
    resamples
        How often queries are drawn with replacement for the intervals, those of 95 % between percentiles.
    seed
        The seed of the random numbers. The same call gives the same figures.

    Returns
    -------
    The kind of the judgments
        The keys of `by`; `judge`, `other` (String; of three judges or more also rows of all together, where both are
        null), `coefficient` (String), `value` (of all documents together), `low`, `high`, `mean_by_query` (the mean of
        the queries' own, mostly lower), Float64; `n_documents`, `n_queries` (UInt32: documents that both judged, of all
        judges those that two or more did), `note` (String: documents that one of both lacks, different sets of grades,
        why a figure is null).

    Raises
    ------
    IRError
        For a document judged twice by one judge, null judges, one judge, or judges without a document in common.

    References
    ----------
    Cohen 1968, https://doi.org/10.1037/h0026256; Krippendorff 2011, https://repository.upenn.edu/asc_papers/43; Gwet
    2008, https://doi.org/10.1348/000711006X126600

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> grades = {"people": [1, 0, 2, 0], "model": [1, 1, 2, 0]}
    >>> qrels = pl.concat(
    ...     pl.DataFrame({"query_id": ["q1", "q1", "q2", "q2"], "doc_id": ["a", "b", "a", "c"]}).with_columns(
    ...         judge=pl.lit(judge), relevance=pl.Series(given)
    ...     )
    ...     for judge, given in grades.items()
    ... )
    >>> ir.agreement(qrels).select("coefficient", pl.col("value", "mean_by_query").round(3)).rows()[:3]
    [('raw', 0.75, 0.75), ('kappa', 0.636, 0.5), ('kappa linear', 0.714, 0.5)]
    """
    from polars_ir.statistics.agreement import estimates
    from polars_ir.statistics.randomisation import Draws

    check("judges", judges, column("the qrels"))
    check("rel", rel, or_none(any_number(), "for whole grades"))
    draws = Draws(check("resamples", resamples, whole(2, MOST_RESAMPLES)), check("seed", seed, whole(0)))
    keys = keys_named(by, "the qrels")
    table = qrels_table(qrels, per=judges, by=keys)
    if missing := list(filterfalse(table.by.__contains__, keys)):
        says = f"have no column {missing[0]!r}, which {option('by')} names; they have {quoted(table.columns)}."
        raise ColumnError(says, about="qrels", near=nearest(missing[0], table.columns))
    check_keys("qrels", list(filter(SCHEMA.__contains__, keys)), {}, table.dtypes, tuple(SCHEMA))
    names, n_rows = _judges(table)
    patterns = _patterns(table, names, min(-(-n_rows // GROUPED), MOST_PARTS))
    parts = patterns.partition_by(keys, as_dict=True) if keys else {(): patterns}
    asked = [(part, row) for part, rows in sorted(parts.items()) for row in _asked(rows, names, rel)]
    if not any(row.pairs for _, row in asked):
        raise _nothing_shared(table)
    if alone := sorted(parts.keys() - {part for part, _ in asked}):
        shown = quoted([", ".join(f"{key} {value}" for key, value in zip(keys, each, strict=True)) for each in alone])
        warn(f"are of one judge for {shown}, which the result lacks.", about="qrels")
    of_pairs = [(row.pairs, row.coefficient) for _, row in asked if row.pairs]
    found = iter(estimates(of_pairs, draws))
    rows = [(*part, *row.figures(next(found) if row.pairs else None, draws.resamples)) for part, row in asked]
    schema = {name: table.dtypes[name] for name in keys} | SCHEMA
    return give_back(pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None).lazy(), qrels)


def _judges(table: CanonicalFrame) -> tuple[list[Any], int]:
    """The judges, in order, and the number of rows; an error for one alone, and for more than are compared."""
    (judge,) = table.per
    counts = collected(table.select(judge).group_by(judge).len(), "streaming")
    found = counts[judge].drop_nulls().sort().to_list()
    if not found:
        raise DataError("have no judgments.", about="qrels")
    if len(found) == 1:
        raise DataError(f"are of one judge, {judge!r} {found[0]!r}; agreement needs two or more.", about="qrels")
    if len(found) > MOST_JUDGES:
        says = f"names {judge!r}, which has {len(found):,} values; each is compared with each, up to {MOST_JUDGES}."
        raise OptionError(says, about="judges")
    return found, int(counts["len"].sum())


def _grade(place: int) -> str:
    """The column of patterns with the grades of a judge."""
    return f"polars_ir: grade {place}"


def _patterns(table: CanonicalFrame, judges: Sequence[Any], n_parts: int) -> pl.DataFrame:
    """A row per query and pattern of grades, with the number of its documents, from some queries at a time."""
    (judge,) = table.per
    grades = [_grade(place) for place in range(len(judges))]
    rows = table.select(*table.document, judge, "relevance").filter(~nothing_judged())
    of_judges = [
        pl.when(pl.col(judge) == value).then("relevance").max().alias(name)
        for name, value in zip(grades, judges, strict=True)
    ]
    figures = [pl.len().alias(ROWS), *of_judges]
    n_judged = pl.sum_horizontal(pl.col(grades).is_not_null())
    invalid = pl.any_horizontal(pl.col(table.document).is_null(), ~pl.col(grades).is_finite().fill_null(True))
    odd = (pl.col(ROWS) != n_judged) | invalid
    parts = []
    for number in range(n_parts):
        part = rows.filter(pl.col("query_id").hash() % n_parts == number) if n_parts > 1 else rows
        counts = part.group_by(table.document).agg(figures).group_by(*table.keys, *grades)
        parts.append(collected(counts.agg(pl.len().alias(COUNT), odd.any().alias(ODD)), "streaming"))
    patterns = pl.concat(parts)
    if patterns[ODD].any():
        wrong = rows.group_by(table.document).agg(figures).filter(odd).select(table.document)
        # The numbers of rows that the error shows are those of the table.
        every = table.all_columns().with_row_index(ROW).filter(~nothing_judged())
        joined = every.join(wrong, on=table.document, how="semi", nulls_equal=True, maintain_order="left")
        found = collected(joined, "streaming")
        check_values("qrels", found, table.names)
        check_duplicates("qrels", found, [*table.document, judge], table.names)
    given = pl.concat([patterns[name] for name in grades]).drop_nulls().unique()
    given = given.filter(given >= 0)
    if given.is_empty():
        says = "have only grades below 0, which count as not judged."
        raise DataError(says, about="qrels", fix="Give documents that are not relevant the grade 0")
    if len(given) > MOST_GRADES:
        raise _too_many(given.cast(pl.Float64), table.names["relevance"])
    return patterns.with_columns(pl.col("query_id").rank("dense"))


def _too_many(given: pl.Series, column: str) -> DataError:
    """The error for more grades than are counted."""
    lowest, step = float(given.min()), float(given.max() - given.min()) / CLASSES  # type: ignore[arg-type, operator]
    says = f"have {len(given):,} different grades; agreement counts the pairs of {MOST_GRADES} at most."
    of_range = Code(
        f"qrels.with_columns((pl.col({column!r}) - {lowest!r}) // {step!r})",
        f"qrels.assign(**{{{column!r}: (qrels[{column!r}] - {lowest!r}) // {step!r}}})",
    )
    fix = Fix("Make classes of them first, such as tenths of their range", of_range)
    return DataError(says, about="qrels", fix=fix)


def _asked(patterns: pl.DataFrame, judges: Sequence[Any], rel: float | None) -> Iterator[Asked]:
    """Rows of the result for some patterns: those of pairs of the judges that occur, and of all together."""
    from polars_ir.statistics.agreement import OF_ALL, Given

    there = [place for place in range(len(judges)) if patterns[_grade(place)].count()]
    names = [str(judges[place]) for place in there]
    columns = patterns.select(pl.col("query_id", COUNT, *map(_grade, there)).cast(pl.Float64).fill_null(nan))
    given = Given.of(*(column.to_numpy() for column in columns))
    for one, other in combinations(range(len(names)), 2):
        pairs = given.pairs(one, other)
        notes = [*([] if pairs else ["no document in common"]), *_notes(given, (one, other), names)]
        yield from _of_pair(pairs, (names[one], names[other]), rel, given.n_shared((one, other)), notes)
    everyone = range(len(names))
    if sum(map(bool, given.sets)) > 2:
        together, notes = given.coincidences(), _notes(given, everyone, names)
        for name, coefficient in OF_ALL.items():
            yield Asked(None, None, name, coefficient, together, given.n_shared(everyone), notes)


def _notes(given: Given, places: Sequence[int], names: Sequence[str]) -> list[str]:
    """Notes on some judges: documents that only one of them judged, different sets of grades, and those below 0."""
    notes = []
    for place, n in zip(places, given.alone(places), strict=True):
        if n:
            documents = f"{n:,} {'document' if n == 1 else 'documents'}"
            notes.append(f"left out, as only {names[place]!r} judged them: {documents}")
    sets = {place: given.sets[place] for place in places if given.sets[place]}
    if len(set(map(tuple, sets.values()))) > 1:
        shown = [f"{names[place]!r} {listed(grades)}" for place, grades in sets.items()]
        more = [] if len(shown) <= LISTED else [f"{len(shown) - LISTED} more"]
        notes.append(f"different sets of grades: {', '.join([*shown[:LISTED], *more])}")
    if n_below := sum(given.below[place] for place in places):
        notes.append(f"grades below 0 count as not judged: {n_below:,}")
    return notes


def _of_pair(
    pairs: Pairs | None, judges: tuple[str, str], rel: float | None, n: int, notes: Sequence[str]
) -> Iterator[Asked]:
    """Rows of two judges with n documents in common."""
    from polars_ir.statistics import agreement as of_pairs

    for name, coefficient in of_pairs.OF_TWO.items():
        yield Asked(*judges, name, coefficient, pairs, n, notes)
    if rel is None:
        return
    label = f"{rel:g}" if float(f"{rel:g}") == rel else repr(rel)
    if pairs and (pairs.grades.max() < rel or pairs.grades.min() >= rel):
        notes = [*notes, f"{'no' if pairs.grades.max() < rel else 'every'} grade of both is {label} or more"]
    cut = pairs and pairs.cut(rel)
    yield Asked(*judges, f"kappa(rel={label})", of_pairs.OF_TWO["kappa"], cut, n, notes)
    for truth, other, of_truth in ((*judges, cut), (*judges[::-1], cut and cut.turned())):
        yield Asked(truth, other, "sensitivity", of_pairs.sensitivity, of_truth, n, notes)
        yield Asked(truth, other, "specificity", of_pairs.specificity, of_truth, n, notes)


def listed(grades: Sequence[float]) -> str:
    """Some grades, in short."""
    more = " ..." if len(grades) > LISTED else ""
    return " ".join(f"{grade:g}" for grade in grades[:LISTED]) + more


def _nothing_shared(table: CanonicalFrame) -> DataError:
    """The error for judges without a document in common, with the first documents of each."""
    (judge,) = table.per
    rows = collected(table.select(judge, *table.document).drop_nulls().unique(), "streaming").sort(
        judge, *table.document
    )
    shown = rows.group_by(judge, maintain_order=True).head(2).head(2 * SHOWN)
    says = "have judges without a document of a query in common."
    fix = "Check that the judges' tables spell ids alike"
    return DataError(says, about="qrels", fix=fix, examples=shown.rename(dict(table.names), strict=False))
