"""Many weightings of one fusion measured in few passes, without a fused run of any.

Conventions: a row per candidate of a judged query, in the order that equal scores have. What a run's term is made of
stands in a frame for each run, row by row beside the candidates; a term is a column, a configuration a sum of columns,
and a measure reads no more than the ranks of judged documents. The sums are those of `fuse`, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_ir.engine.ranking import DOCUMENT
from polars_ir.fusion.dialects import Fusion
from polars_ir.fusion.fuse import added_in_order, completed, listed, with_absent, with_terms
from polars_ir.language.names import Measured
from polars_ir.runs.judge import judge

#: Values of one column that are in memory at once: candidates, or judgments, by configurations.
CELLS = 4_000_000

#: The columns of a measure that needs nothing but the ranks of judged documents.
RANKED = {"query_id", "doc_id", "relevance", "rank", "ideal_rank", "n_retrieved"}

#: The weight of each run.
Weights = Mapping[str, float]


def is_counted(fusion: Fusion, measure: Measured) -> bool:
    """True where a fusion adds up terms that are each of one row, and a measure reads nothing but ranks."""
    by_row = fusion.method.adds_terms and fusion.method.by_row and fusion.missing != "min"
    return by_row and set(measure.expression.meta.root_names()) <= RANKED


class Counting(NamedTuple):
    """The candidates of a fusion beside what each run has for them, and the judged relation but for its ranks.

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
        """The counting of the ranked rows of all runs, and of the judgments that the measure reads."""
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
        # Any scores do for what depends on the judgments, and on how many documents there are.
        relation = judge(ids.with_columns(score=0.0), qrels).drop("rank", "n_higher", "n_tied")
        judged = relation.join(ids.with_row_index("row"), on=DOCUMENT, how="left")
        judged = judged.with_columns(pl.col("n_retrieved").clip(upper_bound=top))
        candidates = candidates.select("n_runs", query=pl.col("query_id").rle_id())
        return cls(fusion, candidates, of_system, judged, top)

    def values(self, weightings: Mapping[int, Weights], measure: Measured) -> Iterator[pl.DataFrame]:
        """The values of a measure, of some weightings at a time, with the number of each in `run`."""
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
        """The ranks of the judged documents for each column of scores; null for what is not returned."""
        ranks = scores.with_columns(self.candidates["query"]).select(
            pl.col(scores.columns).rank("ordinal", descending=True).over("query")
        )
        of_judged = ranks.select(pl.all().gather(self.judged["row"]))
        return of_judged.select(pl.when(pl.all() <= self.top).then(pl.all()).cast(pl.UInt32))

    def _scores(self, weightings: Mapping[int, Weights]) -> pl.DataFrame:
        """A column of fused scores for each weighting; configurations share the terms that are the same."""
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
        """The fused scores of one weighting."""
        final = self.fusion.method.final
        summed = {"combined": names, "weights": [f"weight of {name}" for name in names]}
        read = {column: of_runs for column, of_runs in summed.items() if column in final.meta.root_names()}
        wide = added_in_order(terms.lazy(), read)
        all_weights = pl.lit(math.fsum(weights.values()))
        return wide.select("n_runs", *read, all_weights=all_weights).select(score=final.cast(pl.Float64))
