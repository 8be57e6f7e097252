"""The options of comparisons: `compare`, its charts and tables, `gate`, and the command line take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from polars_ir.options import Option, anything, chance, not_negative, one_of, or_none, whole
from polars_ir.per_query.paired_tests import TESTS
from polars_ir.values import BOUNDED, INTERVALS, MISSING, MOST_RESAMPLES

ALPHA = "The level of significance: the highest corrected p that counts; intervals have a confidence of 1 - alpha."
SEED = "The seed of the random numbers. The same call gives the same figures."


class Testing(TypedDict, total=False):
    """What a comparison of systems on the same queries can be told."""

    test: Annotated[str, Option("t", one_of(*TESTS), f"The test: {', '.join(map(repr, TESTS))}.")]
    correction: Annotated[
        str | None,
        Option(
            "holm",
            or_none(anything(), "for none"),
            "How p allows for the number of comparisons, such as 'holm', 'bonferroni' or 'fdr_bh'. It is a method of "
            "`statsmodels.stats.multitest.multipletests`; None leaves p as it is. The family are all rows of a measure "
            "whose p is defined, those of all slices together.",
        ),
    ]
    alpha: Annotated[float, Option(0.05, chance(), ALPHA)]
    interval: Annotated[
        str | None,
        Option(
            None,
            or_none(one_of(*BOUNDED, *INTERVALS), "for the one that goes with the test"),
            "The interval of the difference; without it, the one that goes with the test. 'percentile', 'BCa' and "
            "'bootstrap-t' are of the bootstrap; 'bounded' and 'auto' hold where few queries differ, as in `gate`. "
            "With bootstrap goes 'bootstrap-t', with tukey and max-t the simultaneous one, else 't'.",
        ),
    ]
    tolerance: Annotated[
        float,
        Option(
            0.0,
            not_negative(),
            "The largest difference that is a tie. It is neither win nor loss, and 0 for Wilcoxon's and the sign test "
            "and for `rank_biserial`; other tests take differences as they are.",
        ),
    ]
    missing: Annotated[
        Literal["zero", "skip"],
        Option(
            "zero",
            one_of(*MISSING),
            "A query that one system lacks and another has: 'zero' counts 0 for it; 'skip' leaves the pair out.",
        ),
    ]
    resamples: Annotated[
        int | None,
        Option(
            None,
            or_none(whole(1, MOST_RESAMPLES), "for as many as the comparisons need"),
            "How many rearrangements or samples are drawn. By default 10,000 or, where so many could not show a p that "
            "is significant after the correction, 10 / alpha for each comparison of a measure, but no more than "
            "200,000.",
        ),
    ]
    seed: Annotated[int, Option(0, whole(0), SEED)]


class Comparing(Testing, total=False):
    """The options of `compare`."""

    margin: Annotated[
        float | Mapping[str, float] | None,
        Option(
            None,
            anything(),
            "The largest difference that is as good as none, of all measures or by measure. It adds whether systems "
            "are equivalent, by two one-sided tests against -margin and margin.",
        ),
    ]
    by: Annotated[
        Any,
        Option(
            None,
            anything(),
            "Columns of `per_query`, or a frame with a query column and others: a row per slice of queries as well.",
        ),
    ]


class Ranking(TypedDict, total=False):
    """The options of `ranks` and its chart."""

    confidence: Annotated[float, Option(0.95, chance(), "The chance that the ranges of all systems hold together.")]
    missing: Annotated[
        Literal["zero", "skip"],
        Option(
            "zero",
            one_of(*MISSING),
            "A query that one system lacks and another has: 'zero' counts 0 for it; 'skip' leaves it out for all.",
        ),
    ]
    resamples: Annotated[
        int, Option(10_000, whole(1, MOST_RESAMPLES), "How many changes of signs, and samples of queries, are drawn.")
    ]
    seed: Annotated[int, Option(0, whole(0), SEED)]


class Discriminating(TypedDict, total=False):
    """The options of `discriminative_power`."""

    test: Annotated[str, Option("bootstrap", one_of(*TESTS), f"The test: {', '.join(map(repr, TESTS))}.")]
    alpha: Annotated[float, Option(0.05, chance(), "The level at which two systems are told apart.")]
    missing: Annotated[
        Literal["zero", "skip"],
        Option(
            "zero",
            one_of(*MISSING),
            "A query that one system lacks and another has: 'zero' counts 0 for it; 'skip' leaves the pair out.",
        ),
    ]
    resamples: Annotated[int, Option(10_000, whole(1, MOST_RESAMPLES), "How many rearrangements or samples are drawn.")]
    seed: Annotated[int, Option(0, whole(0), SEED)]
