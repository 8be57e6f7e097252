"""The findings of `validate`: their names and severities, and a plan of a row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from polars_ir.engine.ranking import DOCUMENT, reordered
from polars_ir.engine.run_and_qrels import RunAndQrels, systems_of
from polars_ir.errors import SHOWN, DtypeError, option
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.guesses import USERS, words
from polars_ir.frames.kinds import PreparedJudgments, holds_systems, to_polars
from polars_ir.frames.roles import NO_IDS, NO_NEIGHBOUR, find
from polars_ir.frames.rules import nothing_judged, wrong_qrels_row, wrong_run_row
from polars_ir.frames.table import same_types
from polars_ir.language.measures import ndcg, precision
from polars_ir.language.words import average
from polars_ir.runs.leaks import LEAKS, Leak, leaks
from polars_ir.runs.lookalikes import lookalikes
from polars_ir.runs.pooled import fixed_by_document, perhaps_pooled, several
from polars_ir.runs.table_warnings import exchanged
from polars_ir.runs.twins_of_gold import TWINS, twins_of_gold

#: Cutoff of the findings on the top of a ranking.
DEPTH = 10

#: True for a document that shares its score within its ranking, and for one whose score can bring it to the top.
TIED, IN_TOP = pl.col("n_tied") > 1, pl.col("n_higher") < DEPTH

#: Severities, the worst first: `evaluate` refuses it; something went wrong upstream, so that figures mislead; or it is
#: a fact to bear in mind when reading figures.
SEVERITIES = ("error", "warning", "note")

#: The findings, by the function that makes them, each with its severity.
TYPES = {"ids of different types": "error"}
ROWS = {
    "null ids or scores in the run": "error",
    "null ids or grades in the qrels": "error",
    "duplicates in the run": "error",
    "duplicates in the qrels": "error",
}
EMPTY = {"empty ids in the run": "warning", "empty ids in the qrels": "warning"}
EXCHANGED = {"run and qrels exchanged": "warning"}
POOLED = {"rankings of several days or tenants": "warning"}
QUERIES = {
    "queries without judgments": "note",
    "judged queries missing from the run": "warning",
    "queries without a relevant document": "note",
}
ITSELF = {"queries that retrieve themselves": "note"}
SHARES = {"grades between 0 and 1": "warning"}
LOOKALIKES = {role: {f"{role} that only looks different": "warning"} for role in DOCUMENT}
SCORES = {"tied scores": "note"}
TIES = {f"P@{DEPTH} moved by ties": "note", f"nDCG@{DEPTH} moved by ties": "note"}
UNJUDGED = {f"unjudged documents in the top {DEPTH}": "note"}
RANKS = dict.fromkeys(
    ("rank column with gaps", "rank column against the scores", "score and rank exchanged"), "warning"
)

#: Findings that read grades, which judgments of some kinds lack.
OF_GRADES = {"queries without a relevant document", *SHARES, *TIES, *EXCHANGED}

FINDINGS = TYPES | EXCHANGED | POOLED | ROWS | EMPTY | QUERIES | ITSELF | SHARES
FINDINGS |= LOOKALIKES["query_id"] | LOOKALIKES["doc_id"] | SCORES | TIES | UNJUDGED | RANKS


class Side(NamedTuple):
    """A run or qrels: the table, true for `repeated` rows, a table with all ids, and one of sound rows, each once.

    The former, which may repeat rows, is for findings that count queries or distinct ids whatever repeats, so that a
    plan is not searched for repeated rows only for them: that takes longer than all else.
    """

    table: CanonicalFrame
    repeated: pl.Expr
    ids: CanonicalFrame
    sound: CanonicalFrame


class Top(NamedTuple):
    """Rows that several findings read: of a run with the numbers of ties, and of the judged relation at its top."""

    placed: pl.LazyFrame = pl.LazyFrame()
    relation: pl.LazyFrame = pl.LazyFrame()
    may_tie: bool = True


class Tables(NamedTuple):
    """The tables under validation: the run as given, both sides, histories of users and texts of documents."""

    given: Any
    run: Side
    qrels: Side
    prepared: PreparedJudgments | None
    top: Top
    history: Any
    documents: Any

    @property
    def in_memory(self) -> bool:
        """True where neither side is a plan."""
        return self.run.table.eager and self.qrels.table.eager


def checks(
    of_types: pl.LazyFrame, tables: Tables
) -> list[tuple[Mapping[str, str], Callable[[], Sequence[pl.LazyFrame]]]]:
    """The findings, each group with the function that makes them."""
    run, qrels, top, keys = tables.run, tables.qrels, tables.top, tables.run.table.keys
    ids = RunAndQrels(run.ids, qrels.ids, tables.prepared)
    return [
        (TYPES, lambda: [of_types]),
        (EXCHANGED, lambda: _exchanged(run.sound, qrels.sound)),
        (POOLED, lambda: _pooled(run.table)),
        (ROWS, lambda: _rows(run, qrels)),
        (EMPTY, lambda: [_empty(run.table), _empty(qrels.table)]),
        (QUERIES, lambda: _queries(run.ids, qrels.ids)),
        (ITSELF, lambda: _itself(run.sound, qrels.table)),
        (SHARES, lambda: [_shares(qrels.sound)]),
        *((LOOKALIKES[role], partial(_lookalikes, ids, role)) for role in DOCUMENT),
        (SCORES, lambda: [_tied(keys, top.placed)] if top.may_tie else []),
        (TIES, lambda: _ties(keys, top.relation, in_memory=tables.in_memory) if top.may_tie else []),
        (UNJUDGED, lambda: [_unjudged(keys, top.relation)]),
        (RANKS, lambda: _rank_column(tables.given, run.table)),
        (LEAKS, lambda: _of_leaks(leaks(run.sound, qrels.sound, tables.history), LEAKS)),
        (TWINS, lambda: _of_leaks(twins_of_gold(qrels.sound, tables.documents), TWINS)),
    ]


def finding(
    name: str, rows: pl.LazyFrame, wrong: pl.Expr, example: pl.Expr, meaning: str, share: pl.Expr | None = None
) -> pl.LazyFrame:
    """One finding: the number of invalid rows, their share of all (or another mean), and a few of them."""
    read = [column for column in example.meta.root_names() if column != "wrong"]
    # A sum of fractions depends on their order, and Polars leaves out the sort of a mean.
    mean = pl.col("wrong").mean() if share is None else average(pl.col("share").sort())
    return rows.select(*dict.fromkeys(read), wrong=wrong, share=share).select(
        finding=pl.lit(name),
        severity=pl.lit((FINDINGS | LEAKS | TWINS)[name]),
        count=pl.col("wrong").sum().cast(pl.UInt32),
        share=mean,
        examples=example.unique().bottom_k(SHOWN).sort().implode(),
        meaning=pl.lit(meaning),
    )


def _wrong(column: str) -> pl.Expr:
    """Values of invalid rows, as texts."""
    return pl.col(column).filter("wrong").cast(pl.String)


def _id(*columns: str) -> pl.Expr:
    """Ids of each invalid row as one text."""
    return pl.concat_str([_wrong(column).fill_null("null") for column in columns], separator=" ")


def id_types(run: CanonicalFrame, qrels: CanonicalFrame) -> tuple[pl.LazyFrame, CanonicalFrame, CanonicalFrame]:
    """The finding of ids of different types, and both sides with comparable ids."""
    problem: list[str] = []
    try:
        run, qrels = same_types(run, qrels)
    except DtypeError as error:
        problem = [str(error)]
        ids = pl.col(*qrels.document).cast(pl.String)
        run, qrels = (t.with_frame(t.all_columns().with_columns(ids)) for t in (run, qrels))
    rows = pl.LazyFrame({"problem": problem}, schema={"problem": pl.String})
    meaning = "evaluate refuses this pair; the other findings compare the ids as text"
    return finding("ids of different types", rows, pl.lit(True), _wrong("problem"), meaning), run, qrels


def _rows(run_side: Side, qrels_side: Side) -> list[pl.LazyFrame]:
    """The findings of rows that `evaluate` refuses."""
    run, qrels = run_side.table, qrels_side.table
    refused = "evaluate refuses these rows; leave them out"
    once = "evaluate refuses a document that a query has twice; keep the best score, or the highest grade"
    run_id, qrels_id = _id(*run.document), _id(*qrels.document)
    return [
        finding("null ids or scores in the run", run.all_columns(), wrong_run_row(run.keys), run_id, refused),
        finding("null ids or grades in the qrels", qrels.all_columns(), wrong_qrels_row(qrels.keys), qrels_id, refused),
        finding("duplicates in the run", run.all_columns(), run_side.repeated, run_id, once),
        finding("duplicates in the qrels", qrels.all_columns(), qrels_side.repeated, qrels_id, once),
    ]


def _exchanged(run: CanonicalFrame, qrels: CanonicalFrame) -> list[pl.LazyFrame]:
    """The finding of tables in each other's place."""
    rows = exchanged(run, qrels).with_columns(example=pl.lit("scores as of grades, grades as of scores"))
    meaning = "scores are small whole numbers, and grades are fractions or large: the run comes first"
    return [finding(next(iter(EXCHANGED)), rows, pl.col("exchanged"), _wrong("example"), meaning)]


def _empty(table: CanonicalFrame) -> pl.LazyFrame:
    """The finding of ids that stand for no document or query."""
    wrong = pl.lit(False)
    for role in DOCUMENT:
        if table.dtypes[role] == pl.String:
            values = NO_IDS if role == "doc_id" else NO_IDS[:1]
            wrong |= pl.any_horizontal(pl.col(role) == value for value in values)
        elif table.dtypes[role].is_signed_integer() and role == "doc_id":
            wrong |= pl.col(role) == NO_NEIGHBOUR
    meaning = "an empty text, or -1 where an index finds no neighbour, counts as a document; leave these rows out"
    name = f"empty ids in the {table.about}"
    return finding(name, table.select(*table.document), wrong.fill_null(False), _id(*table.document), meaning)


def _pooled(run: CanonicalFrame) -> list[pl.LazyFrame]:
    """The finding of rankings with several values of a column that may distinguish rankings and that no call named."""
    names = perhaps_pooled(run)
    if not names:
        return []
    rows = run.select(*run.keys, *names).group_by(run.keys).agg(map(several, names))
    for name in names:
        rows = rows.join(fixed_by_document(run, name).rename({"fixed": f"fixed {name}"}), how="cross")
    wrong = pl.any_horizontal(pl.col(name) & ~pl.col(f"fixed {name}") for name in names)
    meaning = f"documents of all of them are ranked together; {option('by', names)} distinguishes them"
    return [finding(next(iter(POOLED)), rows, wrong, _id(*run.keys), meaning)]


def _queries(run: CanonicalFrame, qrels: CanonicalFrame) -> list[pl.LazyFrame]:
    """The findings of queries that one side lacks, or that no document answers."""
    retrieved, judged = (table.computed(table.select(*table.keys).unique()).lazy() for table in (run, qrels))
    is_judged, is_retrieved = judged.with_columns(there=True), retrieved.with_columns(there=True)
    systems, expected = run.keys[:-1], judged
    if qrels.by:
        expected = judged.join(systems_of(run, systems), on=qrels.by)
    elif systems:
        expected = systems_of(run, systems).join(judged, how="cross")
    absent = pl.col("there").is_null()
    best = qrels.all_columns().group_by(qrels.keys).agg(pl.col("relevance").max().fill_null(0))
    return [
        finding(
            "queries without judgments",
            retrieved.join(is_judged, on=qrels.keys, how="left"),
            absent,
            _id(*run.keys),
            "evaluate ignores these queries of the run",
        ),
        finding(
            "judged queries missing from the run",
            expected.join(is_retrieved, on=run.keys, how="left"),
            absent,
            _id(*run.keys),
            f"they score 0 and count; {option('missing', 'skip')} leaves them out",
        ),
        finding(
            "queries without a relevant document",
            best,
            pl.col("relevance") <= 0,
            _id(*qrels.keys),
            "no grade is above 0, so that no run can do better than 0 here; "
            f"{option('undefined', None)} leaves them out of means",
        ),
    ]


def _itself(run: CanonicalFrame, qrels: CanonicalFrame) -> list[pl.LazyFrame]:
    """The finding of queries that are documents of the collection, as ArguAna's are, and users are not."""
    if any(words(table.names["query_id"]) & USERS for table in (run, qrels)):
        return []
    if run.dtypes["query_id"].is_integer() != run.dtypes["doc_id"].is_integer():
        return []
    meaning = "they take the place of an answer: " + option("exclude", "self") + " leaves them out, as BEIR does"
    rows = run.select(*run.document)
    return [finding(next(iter(ITSELF)), rows, pl.col("query_id") == pl.col("doc_id"), _id(*run.keys), meaning)]


def _shares(qrels: CanonicalFrame) -> pl.LazyFrame:
    """The finding of grades that are shares of the best one, as of language models and normalised ratings."""
    grade = pl.col("relevance")
    return finding(
        "grades between 0 and 1",
        qrels.select(*qrels.document, "relevance").filter(~nothing_judged()),
        (grade > 0) & (grade < 1) & (grade.max() <= 1),
        _id(*qrels.document),
        "they count in nDCG, and not in measures of relevant documents (P, R, AP, RR), for which a grade of 1 is; "
        "name the lowest relevant grade, as in 'RR(rel=0.5)'",
    )


def _lookalikes(pair: RunAndQrels, role: str) -> list[pl.LazyFrame]:
    """The finding of ids of the run that only look different from those of the qrels."""
    pairs = lookalikes(pair, role)
    if pairs is None:
        return []
    meaning = (
        "the run's id and that of the qrels differ in blanks, case, leading zeros, a decimal point or the form of "
        "accents (NFC, NFD), so that they do not match"
    )
    example = pl.format("'{}' ~ '{}'", _wrong(role), _wrong("judged"))
    return [finding(f"{role} that only looks different", pairs, pl.col("judged").is_not_null(), example, meaning)]


def _tied(keys: list[str], placed: pl.LazyFrame) -> pl.LazyFrame:
    """The finding of documents that share their score."""
    meaning = "rows that share their score with another document of the query"
    return finding("tied scores", placed, TIED, _id(*keys), meaning)


def _ties(keys: list[str], relation: pl.LazyFrame, *, in_memory: bool) -> list[pl.LazyFrame]:
    """The findings of means that another order of tied documents moves."""
    measures = {f"{name}@{DEPTH}": measure for name, measure in (("P", precision(k=DEPTH)), ("nDCG", ndcg(k=DEPTH)))}
    # Only judged documents in a tie that begins in the top move a value.
    moving = relation.filter(pl.col("relevance").is_not_null())
    moving = moving.join(moving.filter(TIED & IN_TOP).select(keys), on=keys, how="semi")
    # Below the top the order does not matter, and finding it takes long.
    starts_in_top = IN_TOP.fill_null(False)
    below = moving.filter(~starts_in_top)
    best, worst = (
        pl.concat([reordered(moving.filter(starts_in_top), keys, ties), below])
        .group_by(keys)
        .agg(measure.fill_null(0.0) for measure in measures.values())
        for ties in ("best", "worst")
    )
    moved = best.join(worst, on=keys, suffix=" at worst")
    extremes = relation.select(keys).unique().join(moved, on=keys, how="left")
    # Ids keep their type.
    extremes = extremes.with_columns(pl.exclude(keys).fill_null(0.0))
    extremes = extremes.collect(engine="in-memory").lazy() if in_memory else extremes.cache()
    return [
        finding(
            f"{name} moved by ties",
            extremes,
            pl.col(name) > pl.col(f"{name} at worst"),
            _id(*keys),
            "queries whose value depends on the order of equal scores; share: how far the mean could move",
            share=pl.col(name) - pl.col(f"{name} at worst"),
        )
        for name in measures
    ]


def _unjudged(keys: list[str], relation: pl.LazyFrame) -> pl.LazyFrame:
    """The finding of unjudged documents at the top."""
    top = relation.filter(pl.col("rank") <= DEPTH)
    return finding(
        f"unjudged documents in the top {DEPTH}",
        top,
        pl.col("relevance").is_null(),
        _id(*keys, "doc_id"),
        "they count as not relevant; Judged@k and unj@k measure how many there are",
    )


def _of_leaks(found: Iterable[Leak], names: Iterable[str]) -> list[pl.LazyFrame]:
    """The findings of a history, or of documents."""
    named = zip(names, found, strict=True)
    return [finding(name, one.rows, one.wrong, _id(*one.ids), one.meaning) for name, one in named]


def _rank_column(run: Any, table: CanonicalFrame) -> list[pl.LazyFrame]:
    """The findings of gaps in a column of ranks, and of an order that contradicts the scores beside it."""
    if isinstance(run, Mapping) and holds_systems(run):
        return []
    frame = to_polars("run", run, column="score")
    name = find("run", "rank", frame.collect_schema().names())
    if name is None:
        return []
    rank = pl.col("rank")
    ids = (pl.col(table.names[role]).alias(role) for role in (*table.keys, "score"))
    # Non-numeric values are no ranks.
    every = frame.lazy().select(*ids, rank=pl.col(name).cast(pl.Float64, strict=False))
    rows = every.drop_nulls("rank")
    gaps = finding(
        "rank column with gaps",
        rows.group_by(table.keys).agg(first=rank.min(), last=rank.max(), n=rank.n_unique()),
        (pl.col("first") > 1) | (pl.col("last") - pl.col("first") >= pl.col("n")),
        _id(*table.keys),
        "ranks are missing, perhaps of documents that were left out; evaluate closes the ranking up, as trec_eval does",
    )
    if name == table.names["score"]:
        return [gaps]
    higher = pl.col("score") > pl.col("score").shift(1).over(table.keys, order_by="rank")
    meaning = "rows that the rank column puts below a lower score; evaluate goes by the scores"
    against = finding("rank column against the scores", rows, higher.fill_null(False), _id(*table.keys), meaning)
    score = pl.col("score")
    of_queries = every.group_by(table.keys).agg(
        rank.count(), pl.len(), lowest=score.min(), highest=score.max(), n=score.n_unique()
    )
    places = (pl.col("lowest") == 1) & (pl.col("highest") == pl.col("n")) & (pl.col("n") == pl.col("len"))
    exchanged_columns = places & (pl.col("rank") == 0) & (pl.col("n") > 1)
    meaning = "scores are 1, 2, 3, and no rank is a number: evaluate puts the highest score first"
    wrong = exchanged_columns.fill_null(False)
    return [gaps, against, finding("score and rank exchanged", of_queries, wrong, _id(*table.keys), meaning)]
