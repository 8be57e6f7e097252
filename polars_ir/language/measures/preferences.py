"""Preferences fulfilled: how often the documents that judges prefer stand above those they prefer them to.

Conventions
    * A preference is *fulfilled* when the preferred document is retrieved and stands above the other one, or the other
      one is not retrieved. Where neither is retrieved it is not fulfilled.
    * `counting` says which preferences count: `"all"`; `"implied"`, those of which a document is retrieved; or
      `"retrieved"`, those of which both are. trec_eval has a measure for each, whose name ends in `_imp` or `_ret`.
    * A measure is undefined where no judge has a preference, and 0 where none of those that there are counts.
    * Equal scores are ordered as everywhere in this package, by document id falling; trec_eval's preference measures
      alone order them by id rising.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from polars_ir.language.measure import measure
from polars_ir.language.measures.counts import INFINITY
from polars_ir.language.measures.precision_recall import TREC_EVAL
from polars_ir.language.options import Option, one_of
from polars_ir.language.words import ratio, total

Counting = Literal["all", "implied", "retrieved"]

preferred = pl.col("preferred")
preferred_rank, other_rank = pl.col("preferred_rank"), pl.col("other_rank")

#: Numbers in place of ids, of which a row per preference takes four times as much memory. A row without a preference
#: has no number of judges who have one.
judge, is_preference = pl.col("nth_judge"), pl.col("n_judges").is_not_null()

COUNTING = Option(
    "all",
    one_of("all", "implied", "retrieved"),
    "The preferences that count: 'all'; 'implied', those with at least one retrieved document; 'retrieved', those "
    "with two.",
)

#: The counting of measures without an implied variant in trec_eval.
ALL_OR_RETRIEVED = Option(
    "all",
    one_of("all", "retrieved"),
    "The preferences that count: 'all', or 'retrieved', those of which both documents are.",
)


def counted(counting: Counting) -> pl.Expr:
    """True for a preference that counts."""
    both, one = preferred_rank.is_not_null() & other_rank.is_not_null(), pl.coalesce(preferred_rank, other_rank)
    return {"all": is_preference, "implied": one.is_not_null(), "retrieved": both}[counting]


def fulfilled(counting: Counting) -> pl.Expr:
    """True for a preference that counts and whose preferred document the run ranks above the other."""
    above = (preferred_rank < other_rank).fill_null(False)
    return above if counting == "retrieved" else above | (preferred_rank.is_not_null() & other_rank.is_null())


def of_each_judge(condition: pl.Expr) -> pl.Expr:
    """Number of preferences that meet a condition, judge by judge, in the order of their first rows."""
    # Each judge once more, so that all are counted: a group cannot be grouped again.
    return judge.unique(maintain_order=True).append(judge.filter(condition)).unique_counts().cast(pl.Int64) - 1


def known_of_each_judge(column: str) -> pl.Expr:
    """A count that the rows of a judge share, judge by judge, in the order of their first rows."""
    return pl.col(column).gather(judge.arg_unique()).cast(pl.Int64)


def mean_of_judges(numerators: pl.Expr, denominators: pl.Expr) -> pl.Expr:
    """Mean ratio over all judges; 0 for a judge for whom nothing counts."""
    # Sorted, so that the sum does not depend on the names of the judges.
    return total(ratio(numerators, denominators).fill_null(0.0).sort()) / judge.n_unique()


def if_preferred(value: pl.Expr) -> pl.Expr:
    """`value` where some judge prefers something, null (undefined) where none does."""
    return pl.when(is_preference.any()).then(value.fill_null(0.0))


@measure(
    "prefs_num_prefs_poss",
    bounds=(0.0, INFINITY),
    source=f"{TREC_EVAL} (m_prefs_num_prefs_poss.c)",
    also={"trec_eval": "prefs_num_prefs_poss"},
    parameters={"counting": COUNTING},
)
def n_preferences(*, counting: Counting = "all") -> pl.Expr:
    """The number of preferences of all judges, those that follow from others included.

    ::

        prefs_num_prefs_poss = preferences that count

    What two judges prefer is counted twice. trec_eval counts all, whatever was retrieved; `counting` gives the other
    denominators of the shares below.

    Examples
    --------
    >>> ir.evaluate({"q": ["d2", "d1"]}, {"q": {"d1": 2, "d2": 1, "d3": 0}}, ir.n_preferences()).row(0)
    ('q', 3)
    """
    return preferred.filter(counted(counting)).count().cast(pl.Int64)


@measure(
    "prefs_num_prefs_ful",
    bounds=(0.0, INFINITY),
    source=f"{TREC_EVAL} (m_prefs_num_prefs_ful.c, m_prefs_num_prefs_ful_ret.c)",
    also={"trec_eval": "prefs_num_prefs_ful prefs_num_prefs_ful_ret(counting='retrieved')"},
    parameters={"counting": ALL_OR_RETRIEVED},
)
def n_preferences_fulfilled(*, counting: Literal["all", "retrieved"] = "all") -> pl.Expr:
    """The number of preferences that the run fulfils.

    ::

        prefs_num_prefs_ful = preferences that count and are fulfilled

    The preferred document stands above the other, or it is retrieved and the other is not; the latter does not count
    with `counting="retrieved"`.

    Examples
    --------
    >>> ir.evaluate({"q": ["d2", "d1"]}, {"q": {"d1": 2, "d2": 1, "d3": 0}}, ir.n_preferences_fulfilled()).row(0)
    ('q', 2)
    """
    return preferred_rank.filter(fulfilled(counting)).len().cast(pl.Int64)


@measure(
    "prefs_simp",
    source=f"{TREC_EVAL} (m_prefs_simp.c, m_prefs_simp_imp.c, m_prefs_simp_ret.c)",
    also={"trec_eval": "prefs_simp prefs_simp_imp(counting='implied') prefs_simp_ret(counting='retrieved')"},
    parameters={"counting": COUNTING},
)
def preferences_fulfilled(*, counting: Counting = "all") -> pl.Expr:
    """Preferences fulfilled: the share of the judges' preferences that the run fulfils.

    ::

        prefs_simp = fulfilled / counted

    Both are over all preferences of all judges: where two judges contradict each other the best value is below 1. 0
    when none counts; undefined when no judge has a preference.

    Examples
    --------
    >>> measures = [ir.preferences_fulfilled(), ir.preferences_fulfilled(counting="retrieved")]
    >>> ir.evaluate({"q": ["d2", "d1"]}, {"q": {"d1": 2, "d2": 1, "d3": 0}}, measures).row(0)
    ('q', 0.6666666666666666, 0.0)
    """
    return if_preferred(ratio(fulfilled(counting).sum(), counted(counting).sum()))


@measure(
    "prefs_pair",
    source=f"{TREC_EVAL} (m_prefs_pair.c, m_prefs_pair_imp.c, m_prefs_pair_ret.c)",
    also={"trec_eval": "prefs_pair prefs_pair_imp(counting='implied') prefs_pair_ret(counting='retrieved')"},
    parameters={"counting": COUNTING},
)
def preferences_fulfilled_by_pair(*, counting: Counting = "all") -> pl.Expr:
    """Preferences fulfilled by pair: the mean over pairs of documents of the share of judges the run agrees with.

    ::

        prefs_pair = mean((judges who prefer a to b) / (judges who prefer one of the two)), over pairs, a above b

    A pair of which the run puts a above b counts as much as any other. With one judge it is the share of preferences
    fulfilled. 0 when no pair counts; undefined when no judge has a preference.

    Examples
    --------
    >>> pairs = {"query_id": "q", "judge": [1, 2, 2], "preferred": ["d1", "d2", "d3"], "other": ["d2", "d1", "d4"]}
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, pl.DataFrame(pairs), ir.preferences_fulfilled_by_pair()).row(0)
    ('q', 0.75)
    """
    # Each judge has a share of the pair. The same shares above and below, in the same order, make exactly 1.
    judges = (pl.col("n_judges").filter(condition(counting)).sort() for condition in (fulfilled, counted))
    agreeing, all_shares = (total(n.unique_counts() / n.unique(maintain_order=True)) for n in judges)
    return if_preferred(ratio(agreeing, all_shares))


@measure(
    "prefs_avgjg",
    source=f"{TREC_EVAL} (m_prefs_avgjg.c, m_prefs_avgjg_imp.c, m_prefs_avgjg_ret.c)",
    also={"trec_eval": "prefs_avgjg prefs_avgjg_imp(counting='implied') prefs_avgjg_ret(counting='retrieved')"},
    parameters={"counting": COUNTING},
)
def preferences_fulfilled_by_judge(*, counting: Counting = "all") -> pl.Expr:
    """Preferences fulfilled by judge: the mean over judges of the share of their preferences that the run fulfils.

    ::

        prefs_avgjg = mean(fulfilled / counted, over the judges)

    A judge with many preferences counts as much as one with few. As in trec_eval, one for whom none counts adds 0 to
    the mean; undefined when no judge has a preference.

    Examples
    --------
    >>> pairs = {"query_id": "q", "judge": [1, 2, 2], "preferred": ["d1", "d2", "d3"], "other": ["d2", "d1", "d4"]}
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, pl.DataFrame(pairs), ir.preferences_fulfilled_by_judge()).row(0)
    ('q', 0.75)
    """
    return if_preferred(mean_of_judges(of_each_judge(fulfilled(counting)), of_each_judge(counted(counting))))


@measure(
    "prefs_avgjg_Rnonrel",
    source=f"{TREC_EVAL} (m_prefs_avgjg_Rnonrel.c, m_prefs_avgjg_Rnonrel_ret.c)",
    also={"trec_eval": "prefs_avgjg_Rnonrel prefs_avgjg_Rnonrel_ret(counting='retrieved')"},
    parameters={"counting": ALL_OR_RETRIEVED},
)
def preferences_fulfilled_balanced(*, counting: Literal["all", "retrieved"] = "all") -> pl.Expr:
    """Preferences fulfilled by judge, as if each had judged as many documents not relevant as relevant.

    ::

        prefs_avgjg_Rnonrel = mean(fulfilled / counted, over the judges),  of R relevant and R other documents

    With R documents relevant to a judge (level above 0) and N not: of more than R that are not, only the first R of the
    ranking count; where there are fewer, each retrieved relevant document stands above the R - N missing ones. With
    `counting="retrieved"`, R and N are how many of them are retrieved. Undefined when no judge has a preference or a
    relevant document.

    trec_eval differs where N > R. For a judge with a single group it also counts pairs of documents that are both not
    relevant; for one with several, `_ret` keeps as many documents as are relevant, retrieved or not. And a judge of
    whom nothing counts makes its value 0, where the judge adds 0 to the mean here.

    Examples
    --------
    >>> judgments = {"q": {"d1": 1, "d2": 1, "d3": 0, "d4": 0, "d5": 0}}
    >>> ir.evaluate({"q": ["d3", "d1", "d4", "d2"]}, judgments, ir.preferences_fulfilled_balanced()).row(0)
    ('q', 0.25)
    """
    suffix = "_retrieved" if counting == "retrieved" else ""
    first = (pl.col("nonrelevant_place") <= pl.col(f"n_relevant{suffix}")).fill_null(False)
    relevant, nonrelevant = (known_of_each_judge(f"{name}{suffix}") for name in ("n_relevant", "n_nonrelevant"))
    missing = (relevant - nonrelevant).clip(lower_bound=0)
    met = of_each_judge(fulfilled(counting) & first) + known_of_each_judge("n_relevant_retrieved") * missing
    # trec_eval lets all relevant documents, retrieved or not, be above the missing ones.
    possible = of_each_judge(counted(counting) & first) + known_of_each_judge("n_relevant") * missing
    defined = is_preference.any() | (pl.col("n_relevant") > 0).any()
    return pl.when(defined).then(mean_of_judges(met, possible))
