"""The configurations of a fusion, the folds of its queries, and the values of a measure for each configuration.

Conventions: a fusion here returns its first `top` documents. Candidates are ranked once; ids of documents are numbered
in their own order, so that equal scores are ordered as everywhere. A group of variants of a query is never in two
folds.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby, pairwise, product
from math import comb
from typing import Any, NamedTuple

import polars as pl

from polars_ir.engine.needs import reads_only_relevant
from polars_ir.engine.ranking import DOCUMENT
from polars_ir.engine.run_and_qrels import judged_once
from polars_ir.errors import ColumnError, IRWarning, OptionError, quoted
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.judgments import check_whole
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.roles import required
from polars_ir.frames.table import same_types
from polars_ir.fusion.dialects import Fusion, Missing, fusion_of
from polars_ir.fusion.fuse import added_in_order, completed, listed, scored, termed, with_absent, with_terms
from polars_ir.fusion.inputs import check_collected, systems_of
from polars_ir.fusion.methods import Method
from polars_ir.fusion.weights import by_system
from polars_ir.language.names import ResolvedMeasure
from polars_ir.language.options import check, count, or_none
from polars_ir.language.words import text
from polars_ir.runs.evaluate import evaluate
from polars_ir.runs.judge import judge
from polars_ir.runs.norms import Norm, check_ends
from polars_ir.runs.rankings import LowerIsBetter, collected, first, ranked

#: Rows that are measured together, to bound the memory.
ROWS = 5_000_000

#: Steps of the weights from 0 to 1, the finest first; a finer grid has been seen to gain nothing.
STEPS = (10, 5, 4, 3, 2, 1)

#: The most weightings of the default grid.
MOST_WEIGHTINGS = 300

#: The options that a grid can list.
OPTIONS = ("weights", "k", "norm")


class Trial(NamedTuple):
    """One configuration of a fusion."""

    weights: Mapping[str, float]
    k: float | None = None
    norm: str | Norm | pl.Expr | None = None

    @property
    def norm_name(self) -> str | None:
        """The name of the norm in a table."""
        if self.norm is None or isinstance(self.norm, str):
            return self.norm
        return self.norm.name if isinstance(self.norm, Norm) else str(self.norm)


def trials_of(grid: Any, table: CanonicalFrame, norm: Any) -> list[Trial]:
    """The configurations of a grid; equal weights come first, so that nothing else wins a tie with them."""
    options, systems = {} if grid is None else grid, systems_of(table)
    if not isinstance(options, Mapping):
        options = {"weights": options}
    if unknown := [name for name in options if name not in OPTIONS]:
        raise OptionError(f"has {unknown[0]!r}; it can have {quoted(OPTIONS)}.", about="grid")
    lists = {name: _listed(name, values) for name, values in options.items()}
    for weights in lists.get("weights", []):
        if not isinstance(weights, (Mapping, Sequence)):
            says = f"must have a dict or a list of numbers for each run in 'weights'; got {weights!r:.80}."
            raise OptionError(says, about="grid")
    weightings = [by_system(weights, table) for weights in lists.get("weights", list(simplex(systems)))]
    equal = dict.fromkeys(systems, 1.0)
    weightings = [equal, *(weights for weights in weightings if len(set(weights.values())) > 1)]
    settings = product(lists.get("k", [None]), lists.get("norm", [norm]))
    return [Trial(weights, k, of_norm) for k, of_norm in settings for weights in weightings]


def simplex(systems: Sequence[str]) -> Iterator[dict[str, float]]:
    """Weights that add up to one in even steps: every composition of the steps among the systems.

    >>> [list(weights.values()) for weights in simplex(["a", "b"])][:3]
    [[0.0, 1.0], [0.1, 0.9], [0.2, 0.8]]
    """
    m = len(systems)
    steps = next((steps for steps in STEPS if comb(steps + m - 1, m - 1) <= MOST_WEIGHTINGS), 1)
    # Stars and bars: m - 1 bars among steps + m - 1 places.
    for bars in combinations(range(steps + m - 1), m - 1):
        ends = (-1, *bars, steps + m - 1)
        parts = [right - left - 1 for left, right in pairwise(ends)]
        yield {system: part / steps for system, part in zip(systems, parts, strict=True)}


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Sequence) or not values:
        raise OptionError(f"must have a list of values to try for {name!r}; got {values!r:.80}.", about="grid")
    return list(values)


class Candidates(NamedTuple):
    """The ranked rows of all runs, in memory, and their judgments, both with numbered documents."""

    rows: pl.DataFrame
    table: CanonicalFrame
    qrels: pl.DataFrame
    systems: Sequence[str]


def candidates_of(
    table: CanonicalFrame, systems: Sequence[str], qrels: Any, *, depth: int | None, lower_is_better: LowerIsBetter
) -> Candidates:
    """The rows that all the fusions start from."""
    depth = check("depth", depth, or_none(count()))
    check_whole(qrels)
    table, judgments = same_types(replace(table, systems=tuple(systems)), judged_once(qrels))
    ranking = collected(ranked(table, lower_is_better=lower_is_better, depth=depth), table.rows)
    check_collected(table, ranking)
    judged = judgments.select("query_id", "doc_id", "relevance").collect()
    ids = pl.concat([ranking.select("doc_id"), judged.select("doc_id").drop_nulls()]).unique().sort(text("doc_id"))
    # All of one length, since ids are compared as text: 9 comes after 10.
    start = 10 ** len(str(ids.height))
    numbers = ids.with_columns(number=start + pl.int_range(pl.len(), dtype=pl.Int64))
    numbered = (
        frame.join(numbers, on="doc_id", how="left", maintain_order="left").with_columns(doc_id="number").drop("number")
        for frame in (ranking, judged)
    )
    return Candidates(next(numbered), table, next(numbered), systems)


class Experiment(NamedTuple):
    """The settings that trials share: a fusion but for weights, norm and constant, and the measure of its `top`."""

    method: str | Method
    dialect: str | None
    missing: Missing
    top: int
    measure: ResolvedMeasure

    def fusion(self, norm: str | Norm | pl.Expr | None, k: float | None = None) -> Fusion:
        """The fusion with a norm and a constant of RRF."""
        return fusion_of(self.method, norm, self.dialect, k, self.missing)


def measured(trials: Sequence[Trial], candidates: Candidates, experiment: Experiment) -> pl.DataFrame:
    """A row per trial and query: `run` (the number of the trial), `query_id` and the value of the measure."""
    parts = []
    for _, alike in groupby(enumerate(trials), lambda each: (each[1].k, id(each[1].norm))):
        some = dict(alike)
        one = next(iter(some.values()))
        fusion = experiment.fusion(one.norm, one.k)
        check_ends(fusion.norm, candidates.systems)
        if is_counted(fusion, experiment.measure):
            weightings = {number: trial.weights for number, trial in some.items()}
            parts.append(_counted(fusion, weightings, candidates, experiment))
        else:
            rows = candidates.rows.lazy()
            lists = (
                _fused(rows, number, fusion, trial.weights, candidates.table, experiment.top)
                for number, trial in some.items()
            )
            parts.append(_of_lists(lists, candidates, experiment.measure))
    return pl.concat(parts).sort("run", "query_id")


def measured_subsets(
    subsets: Sequence[Sequence[str]], weights: Any, candidates: Candidates, experiment: Experiment, norm: Any
) -> pl.DataFrame:
    """A row per subset of the runs and query, as `measured` has it, each fused by itself."""
    fusion = experiment.fusion(norm)
    check_ends(fusion.norm, candidates.systems)

    def lists() -> Iterator[pl.DataFrame]:
        for number, subset in enumerate(subsets):
            rows = candidates.rows.lazy().filter(pl.col("run").cast(pl.String).is_in(list(subset)))
            own = {system: weights[system] for system in subset} if isinstance(weights, Mapping) else weights
            table = replace(candidates.table, systems=tuple(subset))
            if isinstance(own, pl.LazyFrame) and len(subset) < len(candidates.systems):
                # Queries for which no run of the subset has a weight have no fused documents.
                weighs = pl.col("run").is_in(list(subset)) & (pl.col("weight") > 0)
                rows = rows.join(own.filter(weighs), on="query_id", how="semi")
            yield _fused(rows, number, fusion, own, table, experiment.top)

    return _of_lists(lists(), candidates, experiment.measure).sort("run", "query_id")


def figures(rows: pl.DataFrame, candidates: Candidates, measure: ResolvedMeasure) -> pl.DataFrame:
    """The values of runs or fused lists, without the warnings of lists that have no judged document."""
    check_whole(candidates.qrels, measure.expression.meta.root_names())
    with warnings.catch_warnings(action="ignore", category=IRWarning):
        values: pl.DataFrame = evaluate(rows, candidates.qrels, measure.expression)
    return values


def _of_lists(lists: Iterable[pl.DataFrame], candidates: Candidates, measure: ResolvedMeasure) -> pl.DataFrame:
    """The values of fused lists, several at a time."""
    values, waiting = [], []
    for fused in lists:
        waiting.append(fused)
        if sum(frame.height for frame in waiting) >= ROWS:
            values.append(figures(pl.concat(waiting), candidates, measure))
            waiting = []
    if waiting:
        values.append(figures(pl.concat(waiting), candidates, measure))
    return pl.concat(values)


def _fused(
    rows: pl.LazyFrame, number: int, fusion: Fusion, weights: Any, table: CanonicalFrame, top: int
) -> pl.DataFrame:
    """The first documents of a fusion of some runs, with a number in the place of its name."""
    fused = first(scored(termed(rows, fusion, weights, table), fusion, weights, table), top)
    return fused.select("query_id", "doc_id", "score", run=pl.lit(number, pl.Int64)).collect()


def _counted(
    fusion: Fusion, weightings: Mapping[int, Weights], candidates: Candidates, experiment: Experiment
) -> pl.DataFrame:
    """Values of weightings without materialised lists: per judged query, 0 where undefined, as in `evaluate`."""
    measure = experiment.measure
    # As in `evaluate`, but for one of each query, so that none is lost.
    read = (pl.col("relevance") > 0) | pl.col("query_id").is_first_distinct()
    qrels = candidates.qrels.filter(read) if reads_only_relevant(measure) else candidates.qrels
    counting = Counting.from_rankings(fusion, candidates.rows, candidates.systems, qrels, experiment.top)
    values = pl.concat(counting.values(weightings, measure))
    queries = candidates.qrels.select("query_id").unique()
    grid = pl.DataFrame({"run": list(weightings)}, schema={"run": pl.Int64}).join(queries, how="cross")
    complete = grid.join(values, on=["run", "query_id"], how="left")
    return complete.select("run", "query_id", pl.col(measure.name).cast(pl.Float64).fill_null(0.0))


def folds_of(queries: pl.DataFrame, by: Any, folds: int, seed: int) -> pl.DataFrame:
    """Fold per query; a group stays in one fold."""
    queries = queries.select("query_id").unique().sort("query_id")
    own_group = pl.format("query {}", pl.col("query_id"))
    if by is None:
        groups = queries.with_columns(group=own_group)
    else:
        column = _groups(by, queries.schema["query_id"])
        if column.height and column.join(queries, on="query_id", how="semi").is_empty():
            ids = quoted(column["query_id"].head(3)), quoted(queries["query_id"].head(3))
            raise OptionError(f"has none of the judged queries; its ids are {ids[0]}, and theirs {ids[1]}.", about="by")
        groups = queries.join(column, on="query_id", how="left").with_columns(
            group=pl.coalesce(pl.format("group {}", pl.col("group")), own_group)
        )
    names = groups["group"].unique().sort().to_list()
    if len(names) < folds:
        says = f"must be no more than the {len(names)} queries or groups of them; got {folds}."
        raise OptionError(says, about="folds")
    random.Random(seed).shuffle(names)  # noqa: S311  # it parts queries, and hides nothing
    fold = pl.DataFrame({"group": names}).with_row_index("fold").with_columns(pl.col("fold") % folds + 1)
    return groups.join(fold, on="group").select("query_id", "fold")


def _groups(by: Any, dtype: pl.DataType) -> pl.DataFrame:
    if isinstance(by, Mapping):
        # NaN is what pandas has in place of null.
        is_nan = [isinstance(group, float) and math.isnan(group) for group in by.values()]
        groups = [None if nan or group is None else str(group) for nan, group in zip(is_nan, by.values(), strict=True)]
        frame = pl.DataFrame({"query_id": list(by), "group": groups}, strict=False)
        return frame.with_columns(pl.col("query_id").cast(dtype))
    frame = to_polars("by", by, column="group").lazy().collect()
    query = required("by", "query_id", frame.columns)
    others = [column for column in frame.columns if column != query]
    if len(others) != 1 or frame[query].is_duplicated().any():
        says = f"must have one other column beside {query!r}, and a query once; it has {quoted(others)}."
        raise ColumnError(says, about="by")
    return frame.select(pl.col(query).cast(dtype).alias("query_id"), pl.col(others[0]).cast(pl.String).alias("group"))


#: Values of one column that are in memory at once: candidates, or judgments, by configurations.
CELLS = 4_000_000

#: The columns of a measure that needs nothing but the ranks of judged documents.
RANKED = {"query_id", "doc_id", "relevance", "rank", "ideal_rank", "n_retrieved"}

#: The weight of each run.
Weights = Mapping[str, float]


def is_counted(fusion: Fusion, measure: ResolvedMeasure) -> bool:
    """True where fusion sums row-wise terms and the measure reads ranks alone."""
    by_row = fusion.method.adds_terms and fusion.method.by_row and fusion.missing != "min"
    return by_row and set(measure.expression.meta.root_names()) <= RANKED


class Counting(NamedTuple):
    """Fusion candidates with each run's terms, and the judged relation without its ranks.

    `judged` has in `row` the place of a document among the candidates; null where no run returned it.
    """

    fusion: Fusion
    candidates: pl.DataFrame
    of_system: Mapping[str, pl.DataFrame]
    judged: pl.DataFrame
    top: int

    @classmethod
    def from_rankings(
        cls, fusion: Fusion, ranking: pl.DataFrame, systems: Sequence[str], qrels: pl.DataFrame, top: int
    ) -> Counting:
        """Row counts of all runs' rankings, and of the judgments that the measure reads."""
        lists = ranking.lazy().join(qrels.lazy(), on="query_id", how="semi")
        lists = listed(lists.with_columns(pl.col("run").cast(pl.String)), fusion, systems)
        rows = with_absent(lists, fusion, completed).with_columns(there=True).collect()
        # Numbers of documents fall with their ids, so that an ordinal rank decides among equal scores.
        candidates = rows.group_by(DOCUMENT).agg(
            n_runs=pl.col("score" if fusion.scores_absent else "rank").count().cast(pl.UInt32)
        )
        candidates = candidates.sort(DOCUMENT, descending=[False, True])
        ids = candidates.select(DOCUMENT)
        of_system = {
            system: ids.join(rows.filter(run=system).drop("run"), on=DOCUMENT, how="left", maintain_order="left")
            for system in systems
        }
        # Any scores do for what depends on judgments and list lengths alone.
        relation = judge(ids.with_columns(score=0.0), qrels).drop("rank", "n_higher", "n_tied")
        judged = relation.join(ids.with_row_index("row"), on=DOCUMENT, how="left")
        judged = judged.with_columns(pl.col("n_retrieved").clip(upper_bound=top))
        candidates = candidates.select("n_runs", query=pl.col("query_id").rle_id())
        return cls(fusion, candidates, of_system, judged, top)

    def values(self, weightings: Mapping[int, Weights], measure: ResolvedMeasure) -> Iterator[pl.DataFrame]:
        """Values of a measure for a batch of weightings, numbered in `run`."""
        numbers = list(weightings)
        at_once = max(CELLS // max(self.candidates.height, self.judged.height, 1), 1)
        for start in range(0, len(numbers), at_once):
            some = {number: weightings[number] for number in numbers[start : start + at_once]}
            ranks = self._ranks(self._scores(some))
            relations = [
                self.judged.lazy().with_columns(of_number.alias("rank"), run=pl.lit(number, pl.Int64))
                for number, of_number in zip(some, ranks, strict=True)
            ]
            yield pl.concat(relations).group_by("run", "query_id").agg(measure.expression).collect()

    def _ranks(self, scores: pl.DataFrame) -> pl.DataFrame:
        """Ranks of the judged documents per score column; null where not returned."""
        ranks = scores.with_columns(self.candidates["query"]).select(
            pl.col(scores.columns).rank("ordinal", descending=True).over("query")
        )
        of_judged = ranks.select(pl.all().gather(self.judged["row"]))
        return of_judged.select(pl.when(pl.all() <= self.top).then(pl.all()).cast(pl.UInt32))

    def _scores(self, weightings: Mapping[int, Weights]) -> pl.DataFrame:
        """A column of fused scores per weighting; equal terms are shared."""
        used = dict.fromkeys(item for weights in weightings.values() for item in weights.items())
        names = {item: f"term {number}" for number, item in enumerate(used)}
        plans = [self._term(*item, name) for item, name in names.items()]
        terms = self.candidates.with_columns(column for frame in pl.collect_all(plans) for column in frame)
        scores = [
            self._score(terms, [names[item] for item in weights.items()], weights) for weights in weightings.values()
        ]
        columns = zip(weightings, pl.collect_all(scores), strict=True)
        return pl.DataFrame([score.to_series().alias(str(number)) for number, score in columns])

    def _term(self, system: str, weight: float, name: str) -> pl.LazyFrame:
        """The term of a run with a weight for each candidate, and the weight where there is a term."""
        rows = self.of_system[system].lazy().with_columns(run=pl.lit(system), weight=pl.lit(weight, pl.Float64))
        rows = with_terms(rows, self.fusion)
        term = pl.when("there").then("term")
        counted = pl.when(term.is_not_null()).then("weight")
        return rows.select(term.fill_null(0.0).alias(name), counted.fill_null(0.0).alias(f"weight of {name}"))

    def _score(self, terms: pl.DataFrame, names: Sequence[str], weights: Weights) -> pl.LazyFrame:
        final = self.fusion.method.final
        summed = {"combined": names, "weights": [f"weight of {name}" for name in names]}
        read = {column: of_runs for column, of_runs in summed.items() if column in final.meta.root_names()}
        wide = added_in_order(terms.lazy(), read)
        all_weights = pl.lit(math.fsum(weights.values()))
        return wide.select("n_runs", *read, all_weights=all_weights).select(score=final.cast(pl.Float64))
