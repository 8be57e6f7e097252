"""Share of pairs of systems that a measure distinguishes on these queries."""

from __future__ import annotations

from typing import Unpack

import polars as pl

from polars_ir.frames.kinds import give_back
from polars_ir.frames.table import per_query_table
from polars_ir.frames.table_types import EagerFrameT, Table
from polars_ir.language.options import public
from polars_ir.per_query.compare import compare
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import OF_MEDIANS, TESTS, Discriminating
from polars_ir.per_query.shared.paired import scores_of

#: Columns of the result.
SCHEMA = {
    "measure": pl.String,
    "share": pl.Float64,
    **dict.fromkeys(["n_told_apart", "n_pairs"], pl.UInt32),
    "difference_needed": pl.Float64,
    "note": pl.String,
}


@public(Discriminating)
def discriminative_power(
    per_query: Table[EagerFrameT], measures: Measures = None, **options: Unpack[Discriminating]
) -> EagerFrameT:
    """Share of pairs of systems that a measure distinguishes: a row per measure.

    Every pair of systems is tested as by `compare`, without a correction for the number of pairs: the share compares
    measures with each other on the same systems and queries, and says nothing about a single pair. Among equal systems,
    alpha of the pairs would be distinguished by chance; `test="tukey"` and `"max-t"` allow for the number of pairs. A
    measure that distinguishes more pairs is more sensitive, but need not measure what users want. Queries are treated
    as independent, for each measure alike; where they share topics, give the topics' means.

    Returns
    -------
    The kind of per_query
        `measure` (String); `share` (Float64, from 0 to 1), n_told_apart / n_pairs; `n_told_apart` and `n_pairs`
        (UInt32); `difference_needed` (Float64, in units of the measure): the longest side of the intervals of all pairs
        around their difference, so that any pair with a larger difference is distinguished; null where no pair has an
        interval, and for Wilcoxon's and the sign test, which do not concern the mean; `note` (String): the number of
        pairs that were not tested, such as identical systems, and count as not distinguished; else null. Rows are in
        the order of the measures.

    References
    ----------
    Sakai 2006, Evaluating evaluation metrics based on the bootstrap, https://doi.org/10.1145/1148170.1148261

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR", "Success@1"])
    >>> ir.discriminative_power(per_query).select("measure", "n_told_apart", "n_pairs").rows()
    [('nDCG@10', 2, 3), ('RR', 1, 3), ('Success@1', 1, 3)]
    """
    # Checked first, so that errors and warnings name this function.
    scores = scores_of(per_query, measures, options, what="ir.discriminative_power")
    scores.pairs(None, "ir.discriminative_power")
    frame = per_query_table(per_query).all_columns().collect()
    pairs: pl.DataFrame = compare(frame, list(scores.values), correction=None, **options)
    test = TESTS[options["test"]]
    low, high = ("simultaneous_low", "simultaneous_high") if test.of_all else ("low", "high")
    width = pl.max_horizontal(pl.col("difference") - pl.col(low), pl.col(high) - pl.col("difference"))
    of_medians = test.interval in OF_MEDIANS
    counts = pairs.group_by("measure", maintain_order=True).agg(
        n_told_apart=pl.col("significant").sum(),
        n_pairs=pl.len(),
        difference_needed=pl.lit(None) if of_medians else width.max(),
        untested=pl.col("p").null_count(),
    )
    note = pl.format("not tested, and not distinguished: {} pairs, as compare notes", "untested")
    powers = counts.with_columns(
        share=pl.col("n_told_apart") / pl.col("n_pairs"), note=pl.when(pl.col("untested") > 0).then(note)
    )
    return give_back(powers.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items()), per_query)
