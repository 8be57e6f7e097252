"""The gate for a change: a test that it costs no more of a measure than is allowed.

Conventions: a change has to show that it does no harm; too few queries are no reason to let it pass. A drop is a change
for the worse, which is a rise where the lowest value is the best; a gain is a difference for the better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from typing import Any, Unpack

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import (
    Code,
    ColumnError,
    DataError,
    Fix,
    OptionError,
    Setting,
    check_systems,
    nearest,
    option,
    quoted,
    warn,
    with_names,
)
from polars_ir.frames.canonical_frame import CanonicalFrame, may_repeat
from polars_ir.frames.kinds import collected, give_back
from polars_ir.frames.roles import PROVENANCE
from polars_ir.frames.rules import keys_perhaps
from polars_ir.frames.table import per_query_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import canonical_name, column_of
from polars_ir.language.options import any_number, check, each_once, not_negative, public
from polars_ir.per_query.provenance import of_judgments
from polars_ir.per_query.shared.attributes import check_one_type, keys_found, null_rule, parts_of
from polars_ir.per_query.shared.measures import (
    Measures,
    Range,
    by_column,
    check_range,
    is_percentage,
    measures_of,
    ranges_of,
    readings,
    warn_of_attributes,
)
from polars_ir.per_query.shared.options import Gating
from polars_ir.per_query.shared.paired import Scores, paired_systems
from polars_ir.per_query.shared.queries import Pairs, check_names, systems_of
from polars_ir.per_query.shared.sums import Source
from polars_ir.per_query.shared.verdicts import judged, p_of_drops, with_floor

#: Measures that count what is there, and say nothing of its quality.
COUNTS = ("NumQ", "NumRel", "NumRet")

#: Columns of the result, the deciding ones first: a terminal shows the first four and the last four.
SCHEMA = {
    **dict.fromkeys(["measure", "verdict"], pl.String),
    "passed": pl.Boolean,
    **dict.fromkeys(["difference", "low", "high", "p", "max_drop", "mean", "old_mean"], pl.Float64),
    **dict.fromkeys(["n_queries", "n_missing"], pl.UInt32),
    "note": pl.String,
}


@public(Gating)
def gate(
    new: Table[FrameT],
    old: Any = None,
    measures: Measures = None,
    *,
    baseline: str | None = None,
    **options: Unpack[Gating],
) -> FrameT:
    """Verdict that a new system is no worse than an old one, up to an allowed drop: one row per measure.

    A test of non-inferiority on the differences new - old of the same queries: `low` and `high` are bounds of their
    mean, each at alpha, and together an interval of confidence 1 - 2 alpha. The verdict is

    - `"no worse"`, which passes, if low is -max_drop or more: a change that costs so much passes with at most alpha;
    - `"worse"` if high is below -max_drop, also after Bonferroni's correction for the number of measures;
    - `"dropped"` if it neither passes nor is worse, the mean dropped by more than max_drop, and p is alpha or less: the
      loss of these queries is no chance, though its size may be within what is allowed;
    - `"inconclusive"` otherwise: the note says which drop they would have found four times out of five, and how many
      fresh queries would decide. To add some to these is to look again: plan `looks`, or take `interval="anytime"`.

    `p` is the one-sided p that the mean gain would be as low if both systems changed places at random in each query: by
    all exchanges for 13 queries that differ or fewer, else by 10,000 fixed ones, for very many or LazyFrames by the
    normal limit. It is no lower than that of Student's t, corrected for skewness, and is corrected for all rows of the
    call: by step-down; of LazyFrames, and by `"anytime"`, where it is that of a bet on signs, by Holm.

    `"auto"` is Student's t, corrected for skewness, where 20 queries or more are below both mean and median of the
    differences, and `"bounded"` elsewhere: then no query can be assumed to lose less than the range of the measure.
    With no query changed, it takes ln(alpha) / ln(1 - max_drop / range) of them to pass, 299 for a drop of 0.01 of 1.
    Two LazyFrames are read by moments: for `"auto"`, where 20 queries or more are on both sides. Rates by simulation
    are in notebooks/evidence.md. By default counts (`NumQ`, `NumRel`, `NumRet`) are not judged.
    A change ships if all measures pass, `gate(...)["passed"].all()`, which needs no correction for their number. For
    measures whose lowest value is the best (`Hole`), a drop is a rise: they pass if high is max_drop or less.

    Parameters
    ----------
    new, old
        What `evaluate` returned for the changed system, and for the one before; of several with `by="run"`.
    baseline
        The system of `new` that is the old one, in place of `old`; of several others each has a row with `by="run"`.

    Returns
    -------
    The kind of new
        `measure`, `verdict` (String); `passed` (Boolean); `difference`, `low`, `high`, `p` (of a drop), `max_drop`,
        `mean` (of new), `old_mean` (Float64); `n_queries`, `n_missing` (UInt32: queries of one side only); `note`
        (String).

    Raises
    ------
    IRError
        For frames without a query in common or of several systems, a measure that one lacks or whose values are beyond
        its range or without one, and LazyFrames where the values are needed.

    References
    ----------
    Schuirmann 1987, https://doi.org/10.1007/BF01068419; Berger 1982, https://doi.org/10.1080/00401706.1982.10487790;
    Hall 1992, https://doi.org/10.1111/j.2517-6161.1992.tb01878.x (skewness); Learned-Miller & Thomas 2019,
    https://arxiv.org/abs/1905.06208; Waudby-Smith & Ramdas 2024, https://arxiv.org/abs/2010.09686

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"]).partition_by("run", as_dict=True)
    >>> verdicts = ir.gate(per_query["tfidf",], per_query["bm25",], ["nDCG@10", "RR"], max_drop=0.1)
    >>> verdicts.select("measure", pl.col("difference", "low", "high").round(4), "passed", "verdict").rows()
    [('nDCG@10', -0.0597, -0.0797, -0.041, True, 'no worse'),
     ('RR', -0.1017, -0.1572, -0.0367, False, 'dropped')]
    """
    return give_back(judged_change(new, old, measures, options, baseline=baseline), new)


@public(Gating)
def gate_with_floors(
    new: Any, old: Any, measures: Any, *, floors: Any, baseline: str | None = None, **options: Unpack[Gating]
) -> pl.DataFrame:
    """The result of `gate` as a Polars frame, with the floors of `assert_no_worse`."""
    return judged_change(new, old, measures, options, floors=floors, baseline=baseline)


def judged_change(
    new: Any,
    old: Any,
    measures: Measures,
    options: Gating,
    source: Source | None = None,
    floors: Mapping[str, float] | None = None,
    baseline: str | None = None,
) -> pl.DataFrame:
    """Result of `gate`, with floors if there are some; a `source` has the sums of frames that plans stand for."""
    cluster, by = options["cluster"], each_once(options["by"])
    if by:
        check_names(by, SCHEMA)
    with with_names(per_query=option("new")):
        after, before = _sides(new, old, baseline, by)
    is_plan = not after.eager and (isinstance(new, pl.LazyFrame) or baseline is not None)
    counts: list[str] = []
    names = _of_one_system(after, measures, cluster, by, is_plan=is_plan, given=new, old=before)
    if measures is None:
        names, counts = _without_counts(names)
        warn_of_attributes(after, names)
    of_old = _of_one_system(before, names if measures is None else measures, cluster, by, is_plan=is_plan)
    by = list(map(after.roles.get, by, by))
    its_range = ranges_of(names, options["ranges"])
    allowed = _allowed(after, before, its_range, options["max_drop"])
    floor_of, largest = {} if floors is None else _floors(floors, names), dict.fromkeys(names, 0.0)
    keys: dict[str, None] = {}
    for table in (after, before):
        if not is_plan:
            keys |= dict.fromkeys(_keys_of(table, by, without=[*names, *counts]))
    others = ["topic", "topic_id", PROVENANCE, *by, cluster if isinstance(cluster, str) else None]
    others += of_judgments(after.columns)
    if is_plan:  # of which an error names the columns that may distinguish its rows
        perhaps = keys_perhaps(after.dtypes, [*after.keys, *names, *counts])
        others += [name for name in perhaps if before.dtypes.get(name) == after.dtypes[name]]
    if keys:
        check_one_type({"new": after, "old": before}, keys)
    sides = {"new": _kept(after, names, others, keys), "old": _kept(before, of_old, others, keys)}
    options = {**options, "alpha": level_of(options)}
    as_0 = [name for name, its in its_range.items() if options["missing"] == "zero" and not its.is_cost]
    only, common = {"interval": ("auto",)}, (1, "new and old must have the same queries; they share none.")
    how = {**options, "by": by if by and is_plan else None, "missing": "skip"}
    slices: list[tuple[Pairs, str | None]] = []
    # Both sides are one frame from here.
    with with_names(per_query=f"{option('new')} or {option('old')}"):
        for of_part, part in parts_of(sides, by) if by and not is_plan else [({}, sides)]:
            apart = list(filterfalse(of_part.__contains__, keys))
            scores = paired_systems(
                part, names, how, keys=apart, what="ir.gate", only=only, source=source, common=common
            )
            if isinstance(scores, Scores) and not scores.answered.all(axis=1).any():
                raise _nothing_shared(scores, apart)
            for name in scores.measures:
                check_range(name, seen := scores.seen(name), its_range[name])
                largest[name] = float(abs(seen).max(initial=largest[name]))
            found = scores.paired([(0, 1)], missing="skip", tails=True, as_0=as_0, ranges=its_range)
            note = "; ".join(scores.notes((0, 1))) or None
            slices += [(of._replace(slice={**of_part, **of.slice}), note) for of in found]
        rounded = {name: (floor, stats.ROUNDING * largest[name]) for name, floor in floor_of.items()}
        rows = list(_rows(slices, its_range, allowed, rounded, options))
    verdicts = pl.DataFrame(rows, schema={**dict(zip(by, map(after.dtypes.get, by), strict=True)), **SCHEMA})
    return verdicts.rename(after.source_names, strict=False)


def _rows(
    slices: Sequence[tuple[Pairs, str | None]],
    ranges: Mapping[str, Range],
    allowed: Mapping[str, float],
    floors: Mapping[str, tuple[float, float]],
    options: Gating,
) -> Iterator[dict[str, Any]]:
    drops = p_of_drops([of for of, _ in slices], ranges, options["interval"])
    pairs = [(of.slice, pair, note) for of, note in slices for pair in of.pairs]
    # Of slices in which as many queries differ, each is as likely to have the lowest p by chance.
    n_slices = Counter(differing for of, _ in slices for differing in {pair.differing for pair in of.pairs})
    for (names, pair, note), p in zip(pairs, drops, strict=True):
        its = ranges[pair.measure]
        lowest_p = 1 - (1 - 2.0**-pair.differing) ** n_slices[pair.differing]
        row = judged(pair, its, allowed[pair.measure], options, len(pairs), p, lowest_p, note)
        yield {**names, **with_floor(row, pair, its, floors.get(pair.measure), options["alpha"])}


def check_one_of(old: Any, baseline: str | None) -> None:
    """Raise an `OptionError` unless there is either an old frame or the name of a baseline."""
    if old is None and baseline is None:
        says = f"must be the figures before the change; without them {option('baseline')} names a system of new."
        raise OptionError(says, about="old")
    if old is not None and baseline is not None:
        beside = f"must be left out beside {option('baseline', baseline)}, a system of new"
        is_measures = isinstance(old, (str, pl.Expr)) or (isinstance(old, list) and old)
        meant = f"; measures are given by name: {option('measures', old)}" if is_measures else ""
        raise OptionError(f"{beside}{meant}.", about="old")


def _sides(new: Any, old: Any, baseline: str | None, by: Sequence[str]) -> tuple[CanonicalFrame, CanonicalFrame]:
    """The queries of both systems: of two frames, or of one in which `baseline` names the old one."""
    check_one_of(old, baseline)
    table = per_query_table(new, "new")
    if baseline is None:
        if isinstance(old, str) and old in _systems(table):
            fix = Fix("Name it", Setting("baseline", old))
            raise OptionError(f"must be a table; {old!r} is a system of new.", about="old", fix=fix)
        return table, per_query_table(old, "old")
    if "run" not in table.dtypes:
        raise ColumnError.one_system(f"ir.gate with {option('baseline')}", table.columns)
    own, rows = table.names["run"], table.checked(null_rule(table, "run"))
    there = systems_of(new, rows.select("run").unique().collect(engine=table.engine))
    check_systems("baseline", [baseline], there)
    others = [system for system in there if system != str(baseline)]
    if not others:
        raise ColumnError.one_system("ir.gate", table.columns, there)
    is_old = pl.col("run").cast(pl.String) == str(baseline)
    of_new, of_old = rows.filter(~is_old), rows.filter(is_old).drop("run")
    if own in by or "run" in by:
        table.check_in_memory(f"ir.gate with {option('by', own)}")
        each = pl.LazyFrame({"run": others}).cast({"run": table.dtypes["run"]})
        of_old = of_old.join(each, how="cross")
    elif len(others) > 1:
        says = f"must have one system beside {baseline!r}; it has {len(others)}: {', '.join(map(repr, others[:5]))}."
        by_each = Setting("by", [*by, own] if by else own)
        in_memory = Fix(f"Judge each, which is by {option(*by_each)}, in memory", Code.collecting("new"))
        raise ColumnError(says, about="new", fix=Fix("Judge each", by_each) if table.eager else in_memory)
    after, before = (table.with_frame(table.computed(each)) for each in (of_new, of_old))
    return after, before


def _of_one_system(
    table: CanonicalFrame,
    measures: Measures,
    cluster: Any,
    by: Sequence[str],
    *,
    is_plan: bool,
    given: Any = None,
    old: CanonicalFrame | None = None,
) -> list[str]:
    """The columns of these measures of a frame, whose queries are of a single system."""
    role = table.about
    if not is_plan:
        table.check_in_memory("ir.gate")
    by = list(map(table.roles.get, by, by))
    runs = table.select("run").unique() if "run" in table.dtypes and (is_plan or "run" not in by) else None
    found = None if runs is None else runs.collect(engine=table.engine)
    if found is not None and found["run"].null_count():
        collected(table.checked(null_rule(table, "run")).select("run"), table.engine)
    if found is not None and len(systems := systems_of(None, found)) > 1:
        says = f"must be of one system; it has {len(systems)}: {', '.join(map(repr, systems[:5]))}."
        raise ColumnError(says, about=role, fix=_one_or_each(table, given, systems, old, is_plan=is_plan))
    if not table.rows and not is_plan:
        raise DataError("has no rows, and so no queries to compare.", about=role)
    for named in (cluster, *by):
        if isinstance(named, str) and named not in table.columns:
            says = f"has no column {named!r}; it has {quoted(table.columns)}."
            raise ColumnError(says, about=role, near=nearest(named, table.columns))
    return measures_of(table, measures, without=[*by, *([cluster] if isinstance(cluster, str) else [])])


def _one_or_each(
    table: CanonicalFrame, given: Any, systems: Sequence[str], old: CanonicalFrame | None, *, is_plan: bool
) -> Fix:
    run = table.names["run"]
    is_dict = isinstance(given, Mapping)
    keep_one = Code(f"{table.about}[{systems[0]!r}]") if is_dict else Code.only(table.about, run, systems[0])
    if is_plan:
        return Fix("Keep one", keep_one)
    before = [] if old is None else _systems(old) or ["old"]
    if old is None or len(before) > 1 or before[0] in systems:
        return Fix(f"Give {option('by', run)} for a verdict on each, or keep one", keep_one)
    each = f"For a verdict on each give {option('baseline', before[0])} and {option('by', run)}, and"
    together = Code(f"{{**new, {before[0]!r}: old}}") if is_dict else _with_baseline(table, old, before[0])
    return Fix(f"{each} both frames as new", together, f"{each} one file of all systems")


def _systems(table: CanonicalFrame) -> list[str]:
    if "run" not in table.dtypes:
        return []
    return systems_of(None, table.select("run").unique().drop_nulls().collect(engine=table.engine))


def _with_baseline(new: CanonicalFrame, old: CanonicalFrame, baseline: str) -> Code:
    """Code that adds the frame of a baseline to that of several systems, under the names of its columns."""
    names = {old.names[key]: new.names[key] for key in ("query_id", "run") if key in old.dtypes}
    names = {name: other for name, other in names.items() if name != other}
    polars, pandas = Code.renaming("old", names)[:2] if names else ("old", "old")
    if "run" not in old.dtypes:
        run = new.names["run"]
        polars = f"{polars}.with_columns(pl.lit({baseline!r}).alias({run!r}))"
        pandas = f"{pandas}.assign(**{{{run!r}: {baseline!r}}})"
    return Code(f"pl.concat([new, {polars}], how='diagonal_relaxed')", f"pd.concat([new, {pandas}])")


def _without_counts(measures: Sequence[str]) -> tuple[list[str], list[str]]:
    """The measures without counts of judgments or ranks, which no change makes worse, and these; a warning of some."""
    named = {name: column.info.name for name in measures if (column := column_of(name))}
    counts = [name for name in measures if named.get(name) in COUNTS]
    if not counts or len(counts) == len(measures):
        return list(measures), []
    warn(f"has counts, which are not judged unless {option('measures')} names them: {quoted(counts)}.", about="new")
    return [name for name in measures if name not in counts], counts


def _keys_of(table: CanonicalFrame, by: Sequence[str], without: Sequence[str]) -> list[str]:
    """The columns that distinguish rows of a query, in memory; an error for rows that none does."""
    if not may_repeat(table.select("query_id")):
        return []
    found = keys_found(table, without)
    if not found:
        table.check_once(*dict.fromkeys([*by, *table.keys]))
    return found


def _kept(table: CanonicalFrame, measures: Sequence[str], others: Sequence[Any], keys: Iterable[str]) -> CanonicalFrame:
    """A side with the columns that are read, including the keys of either side."""
    if lacking := set(keys).difference(table.columns):
        says = f"has no column {min(lacking)!r}, which distinguishes the rows of a query in the other frame."
        raise ColumnError(says, about=table.about, fix="Keep the rows of one value there, or give this one the column")
    kept = dict.fromkeys(("query_id", *measures, *filter([*others, *keys].__contains__, table.columns)))
    return replace(table, dtypes=dict(zip(kept, map(table.dtypes.__getitem__, kept), strict=True)))


def _allowed(
    new: CanonicalFrame, old: CanonicalFrame, ranges: Mapping[str, Range], max_drop: float | Mapping[str, float]
) -> dict[str, float]:
    if not isinstance(max_drop, Mapping):
        allowed = dict.fromkeys(ranges, max_drop)
    else:
        allowed = by_column("max_drop", max_drop, lambda name: measures_of(new, name))
        if missed := [name for name in ranges if name not in allowed]:
            raise OptionError(f"must have every measure, or be one number; it lacks {missed[0]!r}.", about="max_drop")
    for name, drop in allowed.items():
        if is_percentage(drop):
            mean = old.select(name).select(pl.col(name).mean()).collect().item()
            raise readings(drop, name, ranges[name], mean or 0, "its old mean")
    for name, its in ranges.items():
        allowed[name] = check("max_drop", allowed[name], not_negative())
        if allowed[name] >= its.width:
            raise OptionError(
                f"must be below {its.width:g} for {name!r}, which cannot drop by more; got "
                f"{allowed[name]:g}. It is in units of the measure: {its.width / 100:g} is a hundredth of its range.",
                about="max_drop",
            )
    return allowed


def _floors(floors: Mapping[str, float], measures: Sequence[str]) -> dict[str, float]:
    if not isinstance(floors, Mapping):
        says = f"must be a dict of a mean by measure, as {{'nDCG@10': 0.3}}; got {floors!r}."
        raise OptionError(says, about="floors")
    by_column("floors", floors, lambda name: [canonical_name(name)])
    found: dict[str, float] = {}
    for name, given in floors.items():
        judged_too = [measure for measure in measures if canonical_name(measure) == canonical_name(name)]
        if not judged_too:
            says = f"names {name!r}, which is not judged: {quoted(measures)}."
            raise OptionError(says, about="floors", near=nearest(name, measures))
        found |= dict.fromkeys(judged_too, check(f"floors[{name!r}]", given, any_number()))
    return found


def level_of(options: Mapping[str, Any]) -> float:
    """The probability of each bound to be beyond the true mean: alpha, or what a look spends of it."""
    alpha: float = options["alpha"]
    if options["looks"] is None:
        return alpha
    if options["interval"] == "anytime":
        raise OptionError("are not planned with interval='anytime', which holds at any; leave one out.", about="looks")
    return stats.planning.level_of_look(*options["looks"], alpha=alpha)


def _nothing_shared(scores: Scores, keys: Sequence[str]) -> DataError:
    if keys:
        return DataError(f"new and old must have the same queries and {quoted(keys)}; they share none.")
    says = f"new and old must have the same queries; they share none: {scores.examples([0, 1])}. Write their ids alike."
    return DataError(says)
