"""Evidence in groups: an answer needs a document of every group, as in "(A or B) and C".

Conventions: a group is a subtopic of the qrels, which `from_lists` makes of lists of lists. Without subtopics each
relevant document is a group. A group that no relevant document is in does not count.
"""

from __future__ import annotations

import polars as pl

from polars_ir.language.budget import BUDGET, cutoff
from polars_ir.language.kinds import GROUP
from polars_ir.language.measure import measure
from polars_ir.language.words import rank, ratio, relevant, top, total

group = pl.col(GROUP)


@measure(
    "FullRecall",
    source="Wu et al. 2025 (LongMemEval), https://arxiv.org/abs/2410.10813",
    also={"LongMemEval": "recall_all", "AutoRAG-Research": "full_recall"},
    reads_nonrelevant=False,
    parameters=BUDGET,
)
def full_recall(
    *, k: int | None = None, rel: float = 1, budget: float | None = None, cost: str = "tokens", over: str = "stop"
) -> pl.Expr:
    """Full recall: whether the first k documents hold one of every group of evidence.

    ::

        FullRecall@k = 1 if every group has a document among the first k, else 0

    Groups are the subtopics of the qrels, which `from_lists` makes of lists of lists; without subtopics each relevant
    document is one. Undefined when no document is relevant.

    Examples
    --------
    >>> log = pl.DataFrame({"query_id": ["q"], "retrieved": [["b", "x", "c"]], "relevant": [[["a", "b"], ["c"]]]})
    >>> run, qrels = ir.from_lists(log)
    >>> ir.evaluate(run, qrels, ["FullRecall@2", "FullRecall@3"]).row(0)
    ('q', 0.0, 1.0)
    """
    counted = top(cutoff(k, budget, cost, over))
    n_groups, found = (group.filter(rows).n_unique() for rows in (relevant(rel), relevant(rel) & counted))
    return pl.when(n_groups > 0).then((found == n_groups).cast(pl.Float64))


@measure(
    "GroupRR",
    source="Kim et al. 2024 (AutoRAG), https://arxiv.org/abs/2410.20878",
    reads_nonrelevant=False,
    parameters=BUDGET,
)
def group_reciprocal_rank(
    *, k: int | None = None, rel: float = 1, budget: float | None = None, cost: str = "tokens", over: str = "stop"
) -> pl.Expr:
    """Reciprocal rank of groups of evidence: the mean, over the groups, of that of their first document.

    ::

        GroupRR@k = sum(1 / rank of the first document of a group, over the groups) / number of groups

    A group without a document among the first k adds 0. Groups are the subtopics of the qrels, which `from_lists` makes
    of lists of lists; without subtopics each relevant document is one. Undefined when no document is relevant.

    Examples
    --------
    >>> log = pl.DataFrame({"query_id": ["q"], "retrieved": [["b", "c"]], "relevant": [[["a", "b"], ["c"]]]})
    >>> run, qrels = ir.from_lists(log)
    >>> run.ir.group_reciprocal_rank(qrels, k=5).row(0)
    ('q', 0.75)
    """
    counts = relevant(rel) & top(cutoff(k, budget, cost, over))
    ranks, groups = (column.filter(counts).sort_by(rank.filter(counts)) for column in (rank, group))
    return ratio(total(1 / ranks.filter(groups.is_first_distinct())), group.filter(relevant(rel)).n_unique())
