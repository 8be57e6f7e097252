"""Scores made comparable among systems: a norm is an expression over one ranked list.

Conventions: a list is the result of one system for one query (`per="query"`), or for all queries (`per="run"`).
Fractions are added up by size, so that a sum has the same bits whatever the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import polars as pl

from polars_ir.errors import OptionError, check_systems, nearest, quoted
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.rules import guard
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, is_number, one_of, public
from polars_ir.language.words import total
from polars_ir.runs.rankings import LowerIsBetter, checked_run, of_known_systems, ranked, returned

#: The extent of a list: the documents of one query, or of all queries of a system.
Per = Literal["query", "run"]

score, rank = pl.col("score"), pl.col("rank")

#: Document counts: of the list, and of all lists of the query.
n_retrieved, n_candidates = pl.col("n_retrieved"), pl.col("n_candidates")

COUNTS = frozenset(("n_retrieved", "n_candidates"))


class Norm(NamedTuple):
    """A norm: the new score of a document as an expression over its list.

    `value` reads `score`, `rank`, `n_retrieved` and `n_candidates`, and may aggregate the list, as in `pl.col("score")
    / pl.col("score").max()`. `absent` is the score of a document that the list lacks, for norms that define one. `ends`
    has the known ends that are by system, and `wrong` is true for a list whose scores are not between the known ends.
    """

    name: str
    value: pl.Expr
    absent: pl.Expr | None = None
    per: Per = "query"
    ends: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    wrong: Mapping[str, pl.Expr] = MappingProxyType({})


def _each(divisor: pl.Expr) -> pl.Expr:
    """A value of the list for each of its rows: some of Polars' engines divide by a single number otherwise."""
    return pl.when(score.is_not_null()).then(divisor)


_largest = score.abs().max()

#: The score, in units of the largest one where squares or sums would overflow.
scaled = score / _each(pl.when(_largest.is_between(1e-100, 1e100) | (_largest == 0)).then(1.0).otherwise(_largest))


def min_max(
    minimum: float | Mapping[str, float] | None = None,
    maximum: float | Mapping[str, float] | None = None,
    constant: float | None = 1.0,
    per: Per = "query",
) -> Norm:
    """Min-max: `(s - min) / (max - min)`; `constant` where all scores are equal, None to leave them as they are.

    `minimum` and `maximum` are known ends in place of the list's own, one for all systems or by system; a system that
    a dict does not name has its own. With a `minimum` it is the theoretical min-max of TM2C2 (0 for BM25, -1 for a
    cosine). A minimum at or above the highest score of a list is an error, and a maximum below the lowest. Bruch, Gai
    & Ingber 2023, https://doi.org/10.1145/3596512

    >>> pl.DataFrame({"score": [3.0, 2.0, 1.0]}).select(min_max().value).to_series().to_list()
    [1.0, 0.5, 0.0]
    """
    (low, is_low), (high, is_high) = _end("minimum", minimum, score.min()), _end("maximum", maximum, score.max())
    level = score if constant is None else pl.lit(float(constant))
    value = pl.when(high > low).then((score - low) / _each(high - low)).otherwise(level)
    ends = {"minimum": minimum, "maximum": maximum}
    by_system = {option: dict(end) for option, end in ends.items() if isinstance(end, Mapping)}
    # A list of one score at its highest is valid, and one at its lowest has no scale.
    wrong = _beyond("minimum", minimum, "at or above the highest", is_low & (high <= low))
    wrong |= _beyond("maximum", maximum, "below the lowest", is_high & (high < low))
    return Norm("min-max", value, per=per, ends=by_system, wrong=wrong)


def min_max_inverted(per: Per = "query") -> Norm:
    """Min-max of distances: `(max - s) / (max - min)`, 1 for the nearest; 1 where all scores are equal.

    Ranks go by the given scores, so that methods of ranks take `lower_is_better` instead, with any norm.

    >>> pl.DataFrame({"score": [3.0, 2.0, 1.0]}).select(min_max_inverted().value).to_series().to_list()
    [0.0, 0.5, 1.0]
    """
    apart = pl.when(_spread()).then((score.max() - score) / _each(score.max() - score.min()))
    return Norm("min-max-inverted", apart.otherwise(1.0), per=per)


def largest(per: Per = "query") -> Norm:
    """Max: `s / max`; 0 in a list without a score above 0, since the quotient would reverse its order.

    >>> pl.DataFrame({"score": [4.0, 1.0]}).select(largest().value).to_series().to_list()
    [1.0, 0.25]
    """
    return Norm("max", pl.when(score.max() > 0).then(score / _each(score.max())).otherwise(0.0), per=per)


def shares(per: Per = "query") -> Norm:
    """Sum: `(s - min) / sum of (s - min)`; equal shares where all scores are equal.

    Montague & Aslam 2001, https://doi.org/10.1145/502585.502657

    >>> pl.DataFrame({"score": [4.0, 2.0, 1.0]}).select(shares().value).to_series().to_list()
    [0.75, 0.25, 0.0]
    """
    above = scaled - scaled.min()
    whole = total((scaled.sort()) - scaled.min())
    return Norm("sum", pl.when(whole > 0).then(above / _each(whole)).otherwise(1 / pl.len()), per=per)


def z(ddof: int = 0, per: Per = "query") -> Norm:
    """Z-scores: `(s - mean) / std`, zero mean and unit variance; 0 where all scores are equal.

    >>> pl.DataFrame({"score": [3.0, 1.0]}).select(z().value).to_series().to_list()
    [1.0, -1.0]
    """
    mean, deviation = _mean(), _deviation(ddof)
    return Norm("z", pl.when(_spread()).then((scaled - mean) / _each(deviation)).otherwise(0.0), per=per)


def dbsf(ddof: int = 1, constant: float | None = 0.5, per: Per = "query") -> Norm:
    """Distribution-based: `(s - (mean - 3 std)) / (6 std)`, three deviations about the mean as the unit interval.

    Nothing is clipped. `constant` where all scores are equal, None for 1 above 0 and 0 elsewhere.

    >>> pl.DataFrame({"score": [2.0, 0.0]}).select(dbsf(ddof=0).value.round(4)).to_series().to_list()
    [0.6667, 0.3333]
    """
    mean, deviation = _mean(), _deviation(ddof)
    level = (score.max() > 0).cast(pl.Float64) if constant is None else pl.lit(float(constant))
    value = (scaled - mean + 3 * deviation) / _each(6 * deviation)
    return Norm("dbsf", pl.when(_spread()).then(value).otherwise(level), per=per)


def l2(per: Per = "query") -> Norm:
    """L2: `s / sqrt(sum of s^2)`; 0 where every score is.

    >>> pl.DataFrame({"score": [4.0, 0.0]}).select(l2().value).to_series().to_list()
    [1.0, 0.0]
    """
    length = total((scaled**2).sort()).sqrt()
    return Norm("l2", pl.when(length > 0).then(scaled / _each(length)).otherwise(0.0), per=per)


def ranks() -> Norm:
    """Rank: `1 - (rank - 1) / n`, n being the documents of the list.

    >>> pl.DataFrame({"rank": [1, 2], "n_retrieved": 2}).select(ranks().value).to_series().to_list()
    [1.0, 0.5]
    """
    return Norm("rank", 1 - (rank.cast(pl.Float64) - 1) / n_retrieved)


def borda() -> Norm:
    """Borda: `1 - (rank - 1) / |C|`; a document the list lacks has `1/2 - (n - 1) / (2 |C|)`, C being the candidates.

    >>> pl.DataFrame({"rank": [1, 2], "n_candidates": 4}).select(borda().value).to_series().to_list()
    [1.0, 0.75]
    """
    absent = 0.5 - (n_retrieved.cast(pl.Float64) - 1) / (2 * n_candidates)
    return Norm("borda", 1 - (rank.cast(pl.Float64) - 1) / n_candidates, absent)


def _mean() -> pl.Expr:
    return total(scaled.sort()) / pl.len()


def _deviation(ddof: int) -> pl.Expr:
    # The squares sorted themselves: equal scores have equal squares, but -1 and 1 may come in either order.
    squares = ((scaled - _mean()) ** 2).sort()
    return (total(squares) / (pl.len().cast(pl.Float64) - ddof)).sqrt()


def _spread() -> pl.Expr:
    return score.max() > score.min()


def _end(option: str, value: Any, own_end: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """An end of the scale (the list's own, a number, or one by system), and whether it is a known one."""
    if value is None:
        return own_end, pl.lit(False)
    if isinstance(value, Mapping) and all(map(is_number, value.values())):
        ends = {str(system): float(end) for system, end in value.items()}
        known = pl.col("run").cast(pl.String).replace_strict(ends, return_dtype=pl.Float64, default=None)
        return pl.coalesce(known, own_end), known.is_not_null()
    if not is_number(value):
        raise OptionError(f"must be a number, or a dict of numbers by system; got {value!r}.", about=option)
    return pl.lit(float(value)), pl.lit(True)


def _beyond(option: str, value: Any, where: str, wrong: pl.Expr) -> dict[str, pl.Expr]:
    """For a known end, or that of each system, the message for a list beyond it, and the problem."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return {f"min_max({option}={value}) is {where} score of a list; mend it": wrong}
    return {
        f"min_max({option}={{{str(system)!r}: {end}}}) is {where} score of a list of its system; mend it": wrong
        & (pl.col("run").cast(pl.String) == str(system))
        for system, end in value.items()
    }


#: The norms, each with its default parameters.
NORMS: tuple[Callable[..., Norm], ...] = (min_max, min_max_inverted, largest, shares, z, dbsf, l2, ranks, borda)

BY_NAME = {norm().name: norm() for norm in NORMS}


def norm_of(norm: str | Norm | pl.Expr) -> Norm:
    """A norm by its name, of one's own as an expression, or a `Norm` unchanged."""
    if isinstance(norm, Norm):
        check("per", norm.per, one_of(*get_args(Per)))
        return norm
    if isinstance(norm, pl.Expr):
        return Norm("own", norm)
    if not isinstance(norm, str) or norm not in BY_NAME:
        names = ", ".join(map(repr, BY_NAME))
        says = f"must be one of {names}, an expression over a list's scores, or a Norm; got {norm!r}."
        raise OptionError(says, about="norm", near=nearest(str(norm), BY_NAME))
    return BY_NAME[norm]


def check_ends(norm: Norm | None, systems: Sequence[str]) -> None:
    """Raise an `OptionError` for ends of a name that is no system."""
    for option, ends in ({} if norm is None else norm.ends).items():
        check_systems(option, ends, systems)


def with_known_ends(rows: pl.LazyFrame, norm: Norm | None, run: CanonicalFrame) -> pl.LazyFrame:
    """Rows of a run that has the systems that the ends of the norm name."""
    for option, ends in ({} if norm is None else norm.ends).items():
        if "run" not in run.dtypes:
            says = f"must be a number for a run of one system, which has no name; got {dict(ends)!r}."
            raise OptionError(says, about=option)
        rows = of_known_systems(rows, option, ends, run)
    return rows


def normalized(rows: pl.LazyFrame, norm: Norm, keys: list[str]) -> pl.LazyFrame:
    """Ranked rows with their scores normalised; `keys` make a list."""
    of_list = keys if norm.per == "query" else [key for key in keys if key == "run"]
    # By `over` even where one list is all: a plain division by a scalar multiplies by its reciprocal, another number.
    value = norm.value.cast(pl.Float64).over(of_list or pl.lit(True))
    rows = with_counts(rows, norm.value.meta.root_names(), keys)
    if BY_NAME.get(norm.name) is not norm:
        check_over_list("norm", norm.value, rows)
    for message, wrong in norm.wrong.items():
        rows = guard(rows, wrong.over(of_list or pl.lit(True)), message)
    return rows.with_columns(score=value)


def with_counts(rows: pl.LazyFrame, read: Iterable[str], keys: list[str]) -> pl.LazyFrame:
    """The rows with those of the counts of documents, of the list and of the query, that are `read`."""
    counts = {"n_retrieved": pl.len().over(keys), "n_candidates": pl.col("doc_id").n_unique().over("query_id")}
    lacking = set(read) & counts.keys() - set(rows.collect_schema().names())
    return rows.with_columns(counts[name].alias(name) for name in sorted(lacking))


def check_over_list(option: str, expression: pl.Expr, rows: pl.LazyFrame) -> None:
    """Raise an `OptionError` for an expression that does not make numbers of the columns of a list."""
    columns = [*dict.fromkeys([*rows.collect_schema().names(), "n_retrieved", "n_candidates"])]
    if unknown := [name for name in expression.meta.root_names() if name not in columns]:
        says = f"reads the column {unknown[0]!r}, which a list does not have; it has {quoted(columns)}."
        raise OptionError(says, about=option, near=nearest(unknown[0], columns))
    try:
        dtype = rows.select(expression).collect_schema().dtypes()[0]
    except pl.exceptions.PolarsError as error:
        problem = str(error).splitlines()[0]
        raise OptionError(f"cannot be computed of a list: {problem}", about=option) from None
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise OptionError(f"must give numbers; the expression gives {dtype}.", about=option)


@public()
def normalize(
    run: Table[FrameT], norm: str | Norm | pl.Expr = "min-max", *, lower_is_better: LowerIsBetter = False
) -> FrameT:
    """The run with its scores normalised, so that the scores of different systems can be compared.

    Per list, the result of a system for a query: `"min-max"` (s - min) / (max - min), `"min-max-inverted"`
    (max - s) / (max - min), of distances, `"max"` s / max,
    `"sum"` (s - min) / sum of (s - min), `"z"` (s - mean) / std, `"dbsf"` (s - mean + 3 std) / (6 std), `"l2"`
    s / sqrt(sum of s^2), `"rank"` 1 - (rank - 1) / n, `"borda"` 1 - (rank - 1) / |C|, C being the documents that any
    system returned for the query. Other deviations, known ends of the scale and lists of all queries are parameters of
    the norms in `polars_ir.fusion`: `ir.fusion.min_max(minimum=0)`, `ir.fusion.z(per="run")`.

    Parameters
    ----------
    norm
        A name; a norm of `polars_ir.fusion`; or an expression over a list's `score`, `rank` and `n_retrieved`, such as
        `pl.col("score") / pl.col("score").max()`.
    lower_is_better
        True, or a list of systems, for scores that are distances; their signs are changed first.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The column of systems (if there are several), the query column, `doc_id` and `score` (Float64), in no order.
        Where all scores of a list are equal: 1 by min-max, 0.5 by DBSF, 0 by z, equal shares by sum. One document alone
        is such a list.

    Raises
    ------
    IRError
        For an unknown norm, one that gives NaN, as of infinite scores, and a run that `evaluate` would not take. What
        only the data of a LazyFrame can tell raises a Polars error with our message when it is collected.

    References
    ----------
    Montague & Aslam 2001, https://doi.org/10.1145/502585.502657; Bruch, Gai & Ingber 2023,
    https://doi.org/10.1145/3596512 (how little the norm matters)

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.normalize({"q": {"a": 9.0, "b": 6.0, "c": 5.0}}).sort("doc_id").rows()
    [('q', 'a', 1.0), ('q', 'b', 0.25), ('q', 'c', 0.0)]
    """
    record = norm_of(norm)
    table = checked_run(run)
    rows = with_known_ends(ranked(table, lower_is_better=lower_is_better), record, table)
    rows = normalized(rows, record, table.keys)
    nan = "a normalised score is NaN, as of infinite scores; leave these out, or normalise by 'rank'"
    rows = guard(rows, score.is_nan(), nan)
    return returned(rows.select(*table.keys, "doc_id", "score"), table, run)
