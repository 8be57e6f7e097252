"""Options of an evaluation, and of the functions that inspect one.

`evaluate`, the measures' methods of `.ir`, Spark and the command line take all options of an evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, get_args

from polars_ir.language.names import Names
from polars_ir.language.options import (
    MOST_DOCUMENTS,
    Option,
    Value,
    any_number,
    anything,
    column,
    columns,
    is_whole,
    one_of,
    options_of,
    or_none,
    truth,
)
from polars_ir.language.words import Ties

Missing = Literal["zero", "skip"]

#: The depth to which rankings are shown: the measure's cutoff, a rank, or all.
Depth = int | Literal["cutoff"] | None

#: The orders of tied documents.
ORDERS = tuple(order for order in get_args(Ties) if order != "expected")

#: The rows of a frame.
_a_table: Value[Any] = Value("a table", lambda given: not isinstance(given, (bool, int, float)))

JudgedOnly: TypeAlias = Annotated[
    bool, Option(False, truth(), "Take the unjudged documents out of the ranking first: condensed lists.")
]


Exclude: TypeAlias = Annotated[
    Any,
    Option(
        None,
        or_none(
            Value(
                "'self', or a table of queries and documents",
                lambda given: not isinstance(given, (str, bool, int, float)) or given == "self",
            ),
            "to count all documents",
        ),
        "Documents to take out of the run and the judgments first, so that lower ones move up: "
        "'self', those that have the id of their query (BEIR's `ignore_identical_ids`, but here of the judgments, "
        "too), or those of a table of queries and documents in any form, as `{query: [doc, ...]}` (BRIGHT's "
        "`excluded_ids`).",
    ),
]

Duplicates: TypeAlias = Annotated[
    Literal["error", "first"],
    Option(
        "error",
        one_of("error", "first"),
        "A document that a ranking has twice: 'error'; or 'first', to count it once, at its first place, by its best "
        "score, so that documents below its other places move up. In the judgments it is an error.",
        changes_figures=False,
    ),
]


History: TypeAlias = Annotated[
    Any,
    Option(
        None,
        or_none(_a_table, "where no measure reads it"),
        "What the users of a recommender had before: rows of user and item in any form of a run, such as the data it "
        "was trained on, whose other columns do not matter; a pair counts once. `Novelty`, `Popularity`, `Seen`, "
        "`Tail` and `Serendipity` read it.",
    ),
]

Items: TypeAlias = Annotated[
    Any,
    Option(
        None,
        or_none(_a_table, "for the items of the history"),
        "The items of the catalogue, a row each; `ILD` compares items by a column of theirs.",
    ),
]


class Selecting(TypedDict, total=False):
    """Options that select the rows of a run and its judgments that count."""

    exclude: Exclude
    duplicates: Duplicates


class Evaluating(TypedDict, total=False):
    """Options of an evaluation."""

    by: Annotated[
        str | Sequence[str] | None,
        Option(
            None,
            or_none(columns("the run"), "where there is one of each"),
            "Columns of the run that distinguish rankings of a query and system, such as 'date' or ['date', 'tenant']: "
            "keys of the result, before the system. Judgments with such a column are of its value, others of all. "
            "A column of the judgments alone, such as 'judge', makes every ranking one for each of its values. "
            "The rows are those of each value evaluated alone.",
            changes_figures=False,
        ),
    ]
    missing: Annotated[
        Missing,
        Option(
            "zero",
            one_of(*get_args(Missing)),
            "A judged query that the run did not answer: 'zero' counts it, with an empty ranking; 'skip' leaves it "
            "out.",
        ),
    ]
    undefined: Annotated[
        float | None,
        Option(
            0.0,
            or_none(any_number(), "for null"),
            "The value of a measure of this package where no document is relevant; None: null, which every mean skips. "
            "It takes the place of any null in a Float64 column, so also of those that an aggregation of your own "
            "leaves, but not where a measure of a recommender's lists has no list.",
        ),
    ]
    judged_only: JudgedOnly
    ties: Annotated[
        Ties,
        Option(
            "doc_id",
            one_of(*get_args(Ties)),
            "The order of documents with equal scores, for all measures of the call. 'doc_id': by id falling, "
            "compared as text, also integers (trec_eval), and, in a labelled frame without ids, 'expected'; 'input': "
            "in the order of the run's rows; 'best' and 'worst': the relevant ones first and last; "
            "'expected': the exact mean over all orders (McSherry and Najork 2008), which P, R, R_cap, F, Rprec, "
            "Success, RR, AP, DCG, nDCG, RBP, Judged and measures of lists but ILD have, and those that ties cannot "
            "change. The best and the worst order are so for measures that rise with the grades.",
        ),
    ]
    judges: Annotated[
        str | None,
        Option(
            None,
            or_none(column("the qrels"), "where there is one judge"),
            "A column of the qrels that distinguishes several judges of a query. Each measure is the mean over the "
            "judges of its value by the judgments of each, trec_eval's `_avgjg`; `by` gives that of each judge.",
        ),
    ]
    bounds: Annotated[
        bool,
        Option(
            False,
            truth(),
            "Add to every measure `m` columns `m low` and `m high`, what unjudged documents could make of it. They are "
            "its lowest and highest value as it is and under judgments that could be made of the unjudged retrieved "
            "documents: none of them relevant, all of the highest grade that occurs (at least `rel`), and, for a "
            "measure with a cutoff, only those above it or only those below. They are exact for measures that "
            "`catalog` calls monotone, unless a higher grade has a lower gain, and for shares of the relevant "
            "documents (R, F, R_cap) where `ties` is 'doc_id' or 'input'; for other measures, whose value can fall as "
            "a grade rises, other judgments may lead further. A query without a relevant document counts 0 here, or 1 "
            "where a tool counts it so (`xgboost map`), and a measure that is a text has no bounds. It ranks the whole "
            "run, as a measure of a run column does.",
            changes_figures=False,
        ),
    ]
    names: Annotated[
        Names,
        Option(
            "canonical",
            one_of(*get_args(Names)),
            "The names of the columns of measures: 'canonical' as in `nDCG@10` and `P(rel=2)@5`; 'sql' as in "
            "`ndcg_10` and `p_5_rel_2`, letters, digits and underscores that SQL, stores and trackers take without "
            "quotes. Either is read by `parse`, and names the column in every function of a per-query frame.",
            changes_figures=False,
        ),
    ]
    provenance: Annotated[
        bool,
        Option(
            False,
            truth(),
            "Add a column `provenance`, how the figures were made: a text that `ir.provenance` reads, of the options, "
            "the measures, the versions and a hash of the judgments; and a column `query_hash` of what each query was "
            "evaluated by. Functions that compare systems refuse figures that were made differently.",
            changes_figures=False,
        ),
    ]
    strict: Annotated[
        bool,
        Option(
            False,
            truth(),
            "Make errors of the checks of `coverage`, whichever engine runs a plan: a system, or a key, without "
            "judgments or a judged document, with a document twice, or, unless missing is 'skip', with answers to "
            "fewer than half of the judged queries.",
            changes_figures=False,
        ),
    ]
    exclude: Exclude
    duplicates: Duplicates
    history: History
    items: Items


class Judging(TypedDict, total=False):
    """Options of one judged relation, with tied documents in one order."""

    ties: Annotated[
        Ties,
        Option(
            "doc_id",
            one_of(*ORDERS)._replace(wanted=f"an order of tied documents, {one_of(*ORDERS).wanted}"),
            "The order of documents with equal scores. 'doc_id': by id falling, compared as text, also integers (9 "
            "before 10, as '9' before '10'); 'input': in the order of the run's rows; 'best' and 'worst': the relevant "
            "ones first and last. Without document ids it must be named where tied documents differ in grade.",
        ),
    ]
    judged_only: JudgedOnly
    exclude: Exclude
    duplicates: Duplicates


class Reporting(Judging, total=False):
    """The options of a report: those of its evaluation."""

    missing: Annotated[Missing, options_of(Evaluating)["missing"]]


class Explaining(Judging, total=False):
    """Options of the contributions of documents."""

    documents: Annotated[
        Any,
        Option(
            None,
            anything(),
            'Texts, which then follow the ids: a dict `{id: text}` or `{id: {"title": ..., "text": ...}}`, or a '
            "frame with a column of ids and one called `text`, before which goes a `title`, as `read_beir` has them; "
            "of a LazyFrame only the texts shown are read.",
        ),
    ]
    queries: Annotated[Any, Option(None, anything(), "Texts of the queries, likewise.")]


class Showing(Explaining, total=False):
    """Options of rankings that are shown down to a depth."""

    depth: Annotated[
        Depth,
        Option(
            "cutoff",
            Value(
                "'cutoff', a rank of 1 or more, or None for all",
                lambda depth: depth is None or is_whole(depth) or (isinstance(depth, str) and depth == "cutoff"),
                lambda depth: min(depth, MOST_DOCUMENTS) if is_whole(depth) else depth,
            ),
            "The depth to which the ranking is shown: the cutoff of the measure (`'cutoff'`; whole if it has none), a "
            "rank, or whole (None). Contributions add up to the value unless a rank cuts some off.",
        ),
    ]
