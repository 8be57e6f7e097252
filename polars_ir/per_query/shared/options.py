"""Options of functions of a per-query frame, which their charts, tables and commands take as well."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

from polars_ir.language.options import (
    Option,
    Value,
    anything,
    chance,
    columns,
    is_whole,
    not_negative,
    one_of,
    options_of,
    or_none,
    whole,
)

#: The intervals of a mean.
INTERVALS = ("normal", "t", "percentile", "BCa", "bootstrap-t")

#: Those that need the lowest and the highest value, and hold for few queries: by one method, or the best one.
BOUNDED = ("auto", "bounded")

#: Consequences of a change that these queries cannot decide.
INCONCLUSIVE = ("fail", "warn", "pass")

#: Treatment of a query that a system lacks: it counts 0, or is left out.
MISSING = one_of("zero", "skip")

#: Maximum number of rearrangements: more take longer than anybody waits.
MOST_RESAMPLES = 10_000_000

#: Factor by which a difference may exceed its limit: 0.4 - 0.3 is no larger than 0.1, despite floats.
ROUNDED = 1 + 1e-9

Interval = Literal["auto", "bounded", "normal", "t", "percentile", "BCa", "bootstrap-t"]

#: Maximum number of planned looks.
MOST_LOOKS = 50


def _is_look(value: object) -> bool:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        return False
    return is_whole(value[1], 1, MOST_LOOKS) and is_whole(value[0], 1, value[1])


#: A look as typed on the command line.
LOOK_IN_TEXT = re.compile(r"\s*\(?\s*(\d+)\s*[/,]\s*(\d+)\s*\)?\s*", re.ASCII)

#: One of several planned looks.
LOOK = Value(
    f"(i, m), look i of m planned ones (i/m on the command line), i from 1 to m and m up to {MOST_LOOKS}",
    _is_look,
    lambda text: tuple(map(int, look.groups())) if (look := LOOK_IN_TEXT.fullmatch(text)) else text,
)


def unchecked(meaning: str) -> Option:
    """An option that functions check themselves; None by default."""
    return Option(None, anything(), meaning)


ALPHA = "The level of significance: the highest corrected p that counts; intervals have a confidence of 1 - alpha."
CLUSTER = unchecked(
    "Groups of queries that are no independent sample, such as the topic of variants, the user of "
    "sessions, a conversation. It is a column of the figures (in `gate`, of both frames), or a frame with a query "
    "column and one other. Each cluster counts once, as the mean of its queries, and `n_queries` counts clusters.",
)
RESAMPLES = Option(10_000, whole(1, MOST_RESAMPLES), "How many rearrangements or samples are drawn.")
SEED = "The seed of the random numbers. The same call gives the same figures."


#: People's figures beside a model's.
REFERENCE = unchecked(
    "People's figures of some of the queries, of the same measures and systems, where those of `per_query` are by a "
    "model's judgments: the mean is then people's, estimated from both (PPI++, amended for few queries), and never "
    "less surely than by people alone. Their queries must be drawn at random; do not expect much: models of 2024 "
    "narrow intervals by 2 to 8 %.",
)

#: Slices of queries.
SLICES = unchecked(
    "Slices of the queries, each with figures of its own: columns of `per_query`, by name, or a frame with a query "
    "column and the columns to slice by.",
)

#: Intervals of a median, which need not hold the mean.
OF_MEDIANS = ("median", "hodges-lehmann")


class PairedTest(NamedTuple):
    """A test of `significance.PAIRED`: its name in papers, its interval, and its requirements.

    An `of_all` test allows for the number of comparisons by itself; a `complete` one takes only queries for which all
    systems have a value, and makes its own intervals; for a `resampled` one p has a lowest value.
    """

    name: str
    title: str
    interval: str
    of_all: bool = False
    complete: bool = False
    resampled: bool = False

    @property
    def interval_of_mean(self) -> str | None:
        """The interval to draw beside a mean difference, where the test's own is of a median; else its own."""
        return "t" if self.interval in OF_MEDIANS else None

    def corrected(self, correction: str | None) -> str:
        """Its name, and that of the correction, if any."""
        return self.name if self.of_all or correction is None else f"{self.name}, {correction}"


Test = Literal["t", "auto", "wilcoxon", "sign", "randomisation", "bootstrap", "tukey", "max-t"]

#: Tests by their names in other tools.
TESTS_ELSEWHERE = {
    **dict.fromkeys(("ttest", "t-test", "ttest_rel", "paired-t", "paired t-test", "student"), "t"),
    **dict.fromkeys(("fisher", "permutation", "randomization"), "randomisation"),
    "wilcox": "wilcoxon",
}

#: Every paired test by its name.
TESTS = {
    test.name: test
    for test in (
        PairedTest("t", "paired t-test", "t"),
        PairedTest("auto", "t-test corrected for skewness", "auto"),
        PairedTest("wilcoxon", "Wilcoxon signed-rank test", "hodges-lehmann"),
        PairedTest("sign", "sign test", "median"),
        PairedTest("randomisation", "paired randomisation test", "randomisation", resampled=True),
        PairedTest("bootstrap", "paired bootstrap test", "bootstrap-t", resampled=True),
        PairedTest("tukey", "randomised Tukey HSD", "tukey", of_all=True, complete=True),
        PairedTest("max-t", "step-down max-t test", "t", of_all=True),
    )
}

#: A paired test, also by its names in other tools.
TEST = one_of(*TESTS, also=TESTS_ELSEWHERE)


class Testing(TypedDict, total=False):
    """The options of a comparison of systems on the same queries."""

    test: Annotated[Test, Option("t", TEST, f"The test: {', '.join(map(repr, TESTS))}.")]
    correction: Annotated[
        str | None,
        Option(
            "holm",
            or_none(anything(), "for none"),
            "How p allows for the number of comparisons, such as 'holm', 'bonferroni' or 'fdr_bh'. It is a method of "
            "`statsmodels.stats.multitest.multipletests`; None leaves p as it is.",
        ),
    ]
    family: Annotated[
        Literal["measure", "all"],
        Option(
            "measure",
            one_of("measure", "all"),
            "The comparisons that `p_corrected` and the simultaneous intervals allow for: those of a 'measure', of all "
            "systems and slices, or 'all' of the result, those of other measures too.",
        ),
    ]
    alpha: Annotated[float, Option(0.05, chance(), ALPHA)]
    interval: Annotated[
        str | None,
        Option(
            None,
            or_none(one_of(*BOUNDED, *INTERVALS), "for the test's default"),
            "The interval of the difference; by default that of the test, which excludes 0 where p is up to alpha. "
            "'percentile', 'BCa' and 'bootstrap-t' are of the bootstrap; 'bounded' and 'auto' hold where few queries "
            "differ, as in `gate`.",
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
    missing: MissingOfPair
    resamples: Annotated[
        int | None,
        Option(
            None,
            or_none(whole(1, MOST_RESAMPLES), "for as many as the comparisons need"),
            "How many rearrangements or samples are drawn. By default 10,000 or, where these could not show a p that "
            "is significant after the correction, 10 / alpha for each comparison of a measure, but no more than "
            "200,000.",
        ),
    ]
    seed: Annotated[int, Option(0, whole(0), SEED)]


#: The option of a query that one system of a pair lacks.
MissingOfPair = Annotated[
    Literal["zero", "skip"],
    Option(
        "zero",
        MISSING,
        "A query that one system lacks and another has: 'zero' counts 0 for it, also where both of a pair lack it; "
        "'skip' leaves the pair out.",
    ),
]


class Comparing(Testing, total=False):
    """The options of `compare`."""

    margin: Annotated[
        float | Mapping[str, float] | None,
        unchecked(
            "The largest difference that counts as none, for all measures or by measure. It adds whether systems "
            "are equivalent, by two one-sided tests against -margin and margin.",
        ),
    ]
    by: Annotated[Any, SLICES]
    cluster: Annotated[Any, CLUSTER]
    reference: Annotated[Any, REFERENCE]


TESTING = options_of(Testing)


class Marking(TypedDict, total=False):
    """The options of `compare` that decide which means of a table are marked."""

    test: Annotated[
        Test | None,
        Option("t", or_none(TEST, "for no marks"), f"{TESTING['test'].meaning} None leaves the marks out."),
    ]
    correction: Annotated[str | None, TESTING["correction"]]
    family: Annotated[Literal["measure", "all"], TESTING["family"]]
    alpha: Annotated[float, TESTING["alpha"]]
    missing: Annotated[Literal["zero", "skip"], TESTING["missing"]]
    resamples: Annotated[int | None, TESTING["resamples"]]
    seed: Annotated[int, TESTING["seed"]]


class Tying(TypedDict, total=False):
    """The options of `compare` that decide which queries are tied."""

    tolerance: Annotated[float, TESTING["tolerance"]]
    missing: Annotated[Literal["zero", "skip"], TESTING["missing"]]


class Risking(TypedDict, total=False):
    """The options of `risk`."""

    correction: Annotated[str | None, TESTING["correction"]]
    missing: Annotated[Literal["zero", "skip"], TESTING["missing"]]
    resamples: Annotated[int, RESAMPLES]
    seed: Annotated[int, TESTING["seed"]]
    cluster: Annotated[Any, CLUSTER]


class Grouping(TypedDict, total=False):
    """The options of a comparison of a group of queries with the others, in `worst_slices` and `drift`."""

    correction: Annotated[
        str | None,
        Option(
            "holm",
            or_none(anything(), "for none"),
            "How p allows for the number of groups, by its name in statsmodels ('holm', 'bonferroni', 'fdr_bh', ...). "
            "The family is all rows of a measure.",
        ),
    ]
    alpha: Annotated[float, Option(0.05, chance(), ALPHA)]
    min_queries: Annotated[
        int,
        Option(
            5,
            whole(2),
            "The fewest queries of a test. Groups of fewer, or with fewer outside, have means but no test and are not "
            "counted by the correction.",
        ),
    ]


class Slicing(Grouping, total=False):
    """The options of `worst_slices`."""

    missing: Annotated[
        Literal["zero", "skip"],
        Option(
            "zero",
            MISSING,
            "With a baseline, what a query counts that a system lacks: 0 ('zero'), or it is left out ('skip').",
        ),
    ]


#: Weights of queries.
WEIGHTS = unchecked(
    "The weight of each query, such as how often it is asked: a column of `per_query`, by name, or a frame with a "
    "query column and one other. Numbers of 0 or more; a query of weight 0 is left out. A bootstrap draws a query with "
    "its weight.",
)


class Averaging(TypedDict, total=False):
    """The options of `mean`."""

    by: Annotated[Any, SLICES]
    weights: Annotated[Any, WEIGHTS]
    average: Annotated[
        Literal["macro", "micro"],
        Option(
            "macro",
            one_of("macro", "micro"),
            "'macro', the mean over the queries, or 'micro', over their pooled counts. A micro average needs the "
            'counts beside the measures: `ir.evaluate(run, qrels, ["R@100", "NumRel"])`; the frame may hold nothing '
            "else.",
        ),
    ]
    reference: Annotated[Any, REFERENCE]


class Estimating(TypedDict, total=False):
    """The interval of a mean."""

    alpha: Annotated[
        float,
        Option(
            0.05,
            chance(),
            "The share of such intervals that miss the mean of all queries: their confidence is 1 - alpha.",
        ),
    ]
    interval: Annotated[
        Interval,
        Option(
            "auto",
            one_of(*BOUNDED, *INTERVALS),
            "The interval of the mean. 'auto' is the one described above; then 'normal', 't', or a bootstrap over "
            "queries: 'percentile', 'BCa' (bias-corrected and accelerated), 'bootstrap-t'; 'bounded', Gaffke's, which "
            "is Clopper and Pearson's of values 0 and 1, wide, and of equal weights only. All but 'auto' and 'normal' "
            "need SciPy (`pip install 'polars_ir[stats]'`) and the values in memory.",
        ),
    ]
    resamples: Annotated[int, Option(10_000, whole(1, MOST_RESAMPLES), "How often a bootstrap draws.")]
    seed: Annotated[int, Option(0, whole(0), SEED)]
    reference: Annotated[Any, REFERENCE]


class Summarizing(Estimating, total=False):
    """The options of `summarize`."""

    by: Annotated[Any, SLICES]
    weights: Annotated[Any, WEIGHTS]
    cluster: Annotated[
        Any,
        unchecked(
            "Groups of queries that are no independent sample, such as the topic of variants: a "
            "column of `per_query`, or a frame with a query column and one other. Each cluster counts once, as the "
            "mean of its queries (their sum, for a measure that is added up), without weights.",
        ),
    ]
    strata: Annotated[
        Any,
        unchecked(
            "The groups from which queries were sampled separately, such as languages: as `cluster`. The interval "
            "is of the spread within them, so for `interval='auto'`. With `weights`, a group counts as those of its "
            "queries together, else as it has queries; where one of fewer than 50 counts for more than its share of "
            "the queries, the intervals of the groups make that of the mean. A group of one query is an error.",
        ),
    ]


class Gating(TypedDict, total=False):
    """The options of `gate`."""

    by: Annotated[
        str | Sequence[str] | None,
        Option(
            None,
            or_none(columns("both frames")),
            "Columns of both frames, such as 'date', or 'run': a verdict for each of their values, on its pairs. "
            "Other columns that distinguish rows of a query pair the rows, too, and each query counts once, as the "
            "mean of its rows: on thirty nights it is not thirty queries.",
        ),
    ]
    max_drop: Annotated[
        float | Mapping[str, float],
        Option(
            0.01,
            anything(),
            "How much the mean of a measure may drop, in its units; from 0 to less than its range. A dict gives each "
            "measure its own.",
        ),
    ]
    alpha: Annotated[
        float,
        Option(0.05, chance(below=0.5), "The probability with which a change that costs `max_drop` may pass."),
    ]
    interval: Annotated[
        str,
        Option(
            "auto",
            one_of(*BOUNDED, "anytime"),
            "The bound of the mean difference. 'bounded' is Gaffke's, for any differences within the range; 'anytime' "
            "is by betting, which holds however often the same change is looked at while queries are added, and takes "
            "two to four times as many.",
        ),
    ]
    looks: Annotated[
        tuple[int, int] | None,
        Option(
            None,
            or_none(LOOK),
            "The look that this is, and the number of looks that are planned while queries are added, as many at each: "
            "(2, 5), or 2/5 on the command line. They share alpha by O'Brien and Fleming's boundary, little of it "
            "early; the first one that passes a change decides.",
        ),
    ]
    ranges: Annotated[
        Mapping[str, tuple[float, float]] | None,
        unchecked(
            "The worst and the best value of a measure that the catalogue does not have, by its name: `{'latency': "
            "(2000, 0)}`; infinite where there is no limit, without which few queries have no bounds.",
        ),
    ]
    missing: Annotated[
        Literal["zero", "skip"],
        Option(
            "zero",
            MISSING,
            "A query of `old` that `new` lacks, or for which a measure is undefined (null) in `new` only: it counts 0 "
            "for it ('zero') or is left out ('skip'), as it always is of a measure whose best value is the lowest, "
            "where 0 would help. One that only `new` has, or has a value for, could not have dropped, and is left out. "
            "The note counts all of them.",
        ),
    ]
    cluster: Annotated[Any, CLUSTER]


class Ranking(TypedDict, total=False):
    """The options of `ranks` and its chart."""

    alpha: Annotated[
        float,
        Option(0.05, chance(), "The probability that the range of any system misses its rank: they hold together."),
    ]
    missing: Annotated[
        Literal["zero", "skip"],
        Option(
            "zero",
            MISSING,
            "A query that one system lacks and another has: 'zero' counts 0 for it; 'skip' leaves it out for all.",
        ),
    ]
    cluster: Annotated[Any, CLUSTER]


class RankingBySlice(Ranking, total=False):
    """The options of `ranks`."""

    by: Annotated[Any, SLICES]


class ComparingJudges(TypedDict, total=False):
    """The options of functions that compare judges."""

    alpha: Annotated[float, Option(0.05, chance(), ALPHA)]


class Discriminating(TypedDict, total=False):
    """The options of `discriminative_power`."""

    test: Annotated[Test, Option("bootstrap", TEST, f"The test: {', '.join(map(repr, TESTS))}.")]
    alpha: Annotated[float, Option(0.05, chance(), "The level at which two systems are distinguished.")]
    missing: MissingOfPair
    resamples: Annotated[int, RESAMPLES]
    seed: Annotated[int, Option(0, whole(0), SEED)]
