"""`--strict`: trec_eval 10's figures where it deviates from its own definitions.

Conventions: nothing else of this package knows of these. Figures that depend on memory which trec_eval never sets, or
on the order in which a C library sorts what it holds for equal, are not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import polars as pl

from polars_ir.language.measures.gain_ratio import mean_ndcg_of_levels
from polars_ir.language.measures.preferences import (
    Counting,
    counted,
    fulfilled,
    judge,
    known_of_each_judge,
    mean_of_judges,
    of_each_judge,
)
from polars_ir.language.words import n_relevant, n_retrieved, relevance
from polars_ir.trec_eval.lines import Figure
from polars_ir.trec_eval.options import Asked

#: Values that are put right again for such a topic: by the printed name, so that parameters in it prevent it.
CLEARED: Mapping[str, object] = {"num_ret": 0, "utility": 0.0, "rbp_resid": 0.0, "relstring": ""}

#: The prefix of the name of a judge whose judgments are of several groups.
OF_SEVERAL = "several "


def with_bogus_results(run: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """The run with an unjudged document for every topic that it lacks."""
    lacking = qrels.select("query_id").unique().join(run, on="query_id", how="anti")
    return pl.concat(
        [run, lacking.with_columns(doc_id=pl.lit("ceci_nest_pas_un_docno"), score=1.0)], how="diagonal_relaxed"
    )


def cleared(per_query: pl.DataFrame, run: pl.DataFrame, figures: Iterable[Figure]) -> pl.DataFrame:
    """The figures, corrected for topics missing from the run."""
    lacks = ~pl.col("query_id").is_in(run["query_id"].unique().implode())
    values = {
        figure.column: CLEARED.get(figure.printed, 0.0)
        for figure in figures
        if figure.printed in CLEARED or figure.printed.startswith("unj")
    }
    return per_query.with_columns(
        pl.when(lacks).then(pl.lit(value)).otherwise(pl.col(column)).cast(per_query[column].dtype).alias(column)
        for column, value in values.items()
    )


def with_other_ties(run: pl.DataFrame) -> pl.DataFrame:
    """The run as preference measures order it: ties by document id rising."""
    order = pl.struct(-pl.col("score"), "doc_id").rank("ordinal").over("query_id")
    return run.with_columns(score=-order.cast(pl.Float64))


def with_kinds_of_judges(qrels: pl.DataFrame) -> pl.DataFrame:
    """Preference judgments whose judges' names tell those of several groups, for whom trec_eval counts otherwise."""
    if "group" not in qrels.columns:
        return qrels
    several = pl.col("group").n_unique().over("query_id", "judge") > 1
    kind = pl.when(several).then(pl.lit(OF_SEVERAL)).otherwise(pl.lit(""))
    return qrels.with_columns(judge=pl.concat_str(kind, pl.col("judge").cast(pl.String)))


def _rbp_residual(expression: pl.Expr, _: Asked) -> pl.Expr:
    """0 for a list that is wholly judged: without the weight beyond it."""
    all_judged = (pl.col("rank").is_not_null() & (relevance >= 0)).sum() == n_retrieved
    return pl.when(all_judged).then(0.0).otherwise(expression)


def _r_ndcg(_: pl.Expr, asked: Asked) -> pl.Expr:
    """The end of a ranking that is longer by one does not count; a topic without gains has no number."""
    end_later = mean_ndcg_of_levels(asked.gains or None, spare=1).fill_null(float("nan"))
    return pl.when(n_relevant(asked.options.level) > 0).then(end_later).otherwise(0.0)


def _interpolated(expression: pl.Expr, asked: Asked) -> pl.Expr:
    """0 / 0 where nothing is retrieved, at recalls that need no relevant document."""
    recalls = [asked.cutoff] if asked.cutoff is not None else asked.numbers if asked.given else [0.0]
    needs_none = min(recalls) * n_relevant(asked.options.level) < 0.5
    return pl.when((n_retrieved == 0) & needs_none).then(float("nan")).otherwise(expression)


def _balanced(_: pl.Expr, __: Asked, *, of_retrieved: bool) -> pl.Expr:
    """prefs_avgjg_Rnonrel: preferences among documents that are not relevant count, too; and no judge is left out.

    Only for a judge of one group; for one of several, `_ret` takes as many documents as are relevant, retrieved or not.
    A judge of whom nothing counts makes the value of the topic 0.
    """
    counting: Counting = "retrieved" if of_retrieved else "all"
    suffix = "_retrieved" if of_retrieved else ""
    is_of_several = pl.col("judge").cast(pl.String).str.starts_with(OF_SEVERAL)
    kept = pl.when(is_of_several).then(pl.col("n_relevant")).otherwise(pl.col(f"n_relevant{suffix}"))
    more = pl.col(f"n_nonrelevant{suffix}") > pl.col(f"n_relevant{suffix}")
    first = (~more | (pl.col("nonrelevant_place") <= kept)).fill_null(False)
    relevant, nonrelevant = (known_of_each_judge(f"{name}{suffix}") for name in ("n_relevant", "n_nonrelevant"))
    several = is_of_several.filter(judge.is_first_distinct())
    missing = (relevant - nonrelevant).clip(lower_bound=0)
    # Among the first `relevant` documents that are not relevant, a retrieved one stands above each of those after it.
    above = pl.min_horizontal(relevant, known_of_each_judge("n_nonrelevant_retrieved"))
    among = pl.when(several | (nonrelevant <= relevant)).then(0)
    met = of_each_judge(fulfilled(counting) & first) + known_of_each_judge("n_relevant_retrieved") * missing
    met = met + among.otherwise(above * relevant - above * (above + 1) // 2)
    possible = of_each_judge(counted(counting) & first) + known_of_each_judge("n_relevant") * missing
    possible = possible + among.otherwise(nonrelevant * relevant)
    return pl.when((possible == 0).any()).then(0.0).otherwise(mean_of_judges(met, possible))


#: The aggregation that trec_eval 10 computes in the place of a right one.
QUIRKS: Mapping[str, Callable[[pl.Expr, Asked], pl.Expr]] = {
    "rbp_resid": _rbp_residual,
    "Rndcg": _r_ndcg,
    "iprec_at_recall": _interpolated,
    "11pt_avg": _interpolated,
    "prefs_avgjg_Rnonrel": partial(_balanced, of_retrieved=False),
    "prefs_avgjg_Rnonrel_ret": partial(_balanced, of_retrieved=True),
}
