"""Preference judgments: the documents that a judge prefers to others, and the places of both in a run.

Conventions
    * A judge compares the documents of a group by the levels they have in it: a higher level is preferred, equal
      levels are not compared. Without a `group` column all documents of a judge are one group, and without a `judge`
      column there is one judge, so that plain qrels are preference judgments too (trec_eval's `qrels_prefs`).
    * The groups of a judge add up to one partial order: who prefers a to b in one group and b to c in another prefers
      a to c. Judges may contradict each other, but not themselves.
    * A document is *relevant* to a judge when its level is above 0. That is the only thing levels of different groups
      have in common.
    * Judgments are in memory: the order that groups add up to, and its contradictions, cannot be known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polars_ir.errors import DataError
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.rules import check_duplicates
from polars_ir.language.words import PREFERENCE, text

#: Numbers of documents that the judge finds relevant and not relevant, and of those of them that were retrieved.
OF_JUDGE = ("n_relevant", "n_relevant_retrieved", "n_nonrelevant", "n_nonrelevant_retrieved")

#: All columns of the relation of preferences, beside its keys.
RELATION = ("judge", "nth_judge", *PREFERENCE, "n_judges", "nonrelevant_place", *OF_JUDGE)

#: Maximum number of pairs, which take some 70 bytes each: those of an order of 14,142 documents.
MOST_PAIRS = 100_000_000


@dataclass(frozen=True)
class Preferences:
    """Preferences of judges, and the documents they judged.

    `documents` has one row per `query_id`, `judge` and `doc_id`, with whether the judge finds the document `relevant`,
    and its number, `judgment`. `pairs` has one row per preference of a judge, the numbers of `preferred` and `other`,
    and in `n_judges` how many judges prefer one of the two documents to the other; a judge who prefers nothing has one
    row, of a document and itself, without `n_judges`. There can be many more pairs than documents: so they hold
    numbers, and no ids. `counts` is the dtype of numbers of documents.
    """

    pairs: pl.LazyFrame
    documents: pl.LazyFrame
    counts: type[pl.DataType]


def preferences_of(table: CanonicalFrame) -> Preferences:
    """Preferences of judges and those implied; an error where those of a judge contradict each other."""
    rows, judge = table.all_columns().collect(engine="in-memory"), [*table.keys, "judge"]
    check_duplicates("qrels", rows, [*judge, "group", "doc_id"], table.names)
    relevant = pl.col("relevance") > 0
    documents = rows.group_by(*judge, "doc_id").agg(relevant=relevant.any(), always=relevant.all())
    _check_relevance(rows, documents, table)
    of_judges = _numbers_to(rows["judge"].n_unique())
    nth_judge = pl.struct("judge").rank("dense").cast(of_judges)
    documents = documents.drop("always").with_columns(nth_judge=nth_judge).with_row_index("judgment")

    # Levels are paired before documents, so that no pair is made that is no preference.
    numbered = rows.join(documents, on=[*judge, "doc_id"])
    levels = numbered.drop_nulls("relevance").group_by(*judge, "group", "relevance").agg("judgment")
    levels = levels.sort(*judge, "group", "relevance").with_row_index("level")
    lower = pl.int_ranges(pl.col("level").min().over(*judge, "group"), "level", dtype=pl.UInt32)
    # One group orders its documents completely, and implies nothing more.
    levels = levels.with_columns(lower=lower, partial=pl.col("group").n_unique().over(judge) > 1)
    size = pl.col("judgment").list.len().cast(pl.Int64)
    _check_number(levels.select((size * (size.cum_sum().over(*judge, "group") - size)).sum()).item())
    complete, partial = (_of_levels(levels, pl.col("partial") == partial) for partial in (False, True))
    pairs = pl.concat([complete, _with_implied(partial.unique(), documents, table)])
    one_judge = rows.group_by(table.keys).agg(pl.col("judge").n_unique() == 1)["judge"].all()
    n_judges = pl.lit(1) if one_judge else _comparing(pairs, documents, table)
    pairs = pairs.with_columns(n_judges=n_judges.cast(of_judges))
    preferring = pairs.select(judgment="preferred").unique().join(documents, on="judgment").select(judge).unique()
    others = documents.join(preferring, on=judge, how="anti").group_by(judge).agg(preferred=pl.col("judgment").first())
    pairs = pl.concat([pairs, others.select("preferred", other="preferred")], how="diagonal")
    return Preferences(pairs.lazy(), documents.lazy(), _numbers_to(documents.height))


def relate_pairs(
    preferences: Preferences, ranks: pl.LazyFrame, keys: list[str], of_query: Sequence[str] = ("query_id",)
) -> pl.LazyFrame:
    """The relation of preferences: one row per key and preference of a judge, with the places of both documents.

    `ranks` has the `keys` of rankings, those `of_query` among them, `doc_id` and `rank` (null when not retrieved) of
    every judged document. A judge without any preference has one row, in which the documents are null.
    """
    of_judge, systems = [*keys, "judge"], [key for key in keys if key not in of_query]
    ranked = ranks.select(*keys, "doc_id", "rank")
    documents = preferences.documents.join(ranked, on=[*of_query, "doc_id"], nulls_equal=True)
    retrieved, relevant = pl.col("rank").is_not_null(), pl.col("relevant")
    nonrelevant = ~relevant & pl.col("doc_id").is_not_null()
    # Documents that were not retrieved come last, by their ids, as in trec_eval.
    order = pl.struct(pl.col("rank").fill_null(pl.UInt32.max()), text("doc_id"))
    documents = documents.with_columns(
        place=pl.when(nonrelevant).then(order).rank("ordinal").over(of_judge).fill_null(0),
        n_relevant=relevant.sum().over(of_judge),
        n_relevant_retrieved=(relevant & retrieved).sum().over(of_judge),
        n_nonrelevant=nonrelevant.sum().over(of_judge),
        n_nonrelevant_retrieved=(nonrelevant & retrieved).sum().over(of_judge),
    )
    # Both joins read them: without a cache each might read the run anew.
    documents = documents.cast(dict.fromkeys(("place", *OF_JUDGE), preferences.counts)).cache()

    def of_role(role: str, *columns: str) -> pl.LazyFrame:
        named = {role: "doc_id", f"{role}_rank": "rank", f"{role}_place": "place"}
        return documents.select(*columns, judgment="judgment", **{name: pl.col(of) for name, of in named.items()})

    # In the order of the rankings, and said to be so: they are then grouped one after the other, and the many pairs of
    # all of them are never in memory together. What rows of a query or a judge share comes last, so that it is copied
    # once.
    pairs = preferences.pairs.rename({"preferred": "judgment", "other": "other_judgment"})
    relation = (
        of_role("preferred", *keys)
        .sort(keys)
        .drop(of_query)
        .join(pairs, on="judgment", maintain_order="left")
        .join(
            of_role("other", *keys, "judge", "nth_judge", *OF_JUDGE),
            left_on=[*systems, "other_judgment"],
            right_on=[*systems, "judgment"],
            nulls_equal=True,
            maintain_order="left",
        )
    )
    of_pairs = pl.col("preferred", "preferred_rank", "other", "other_rank")
    return (
        relation.with_columns(
            pl.when(pl.col("n_judges").is_not_null()).then(of_pairs),
            nonrelevant_place=pl.max_horizontal("preferred_place", "other_place"),
        )
        .select(*keys, *RELATION)
        .set_sorted(keys)
    )


def _check_relevance(rows: pl.DataFrame, documents: pl.DataFrame, table: CanonicalFrame) -> None:
    """Raise a `DataError` for documents that a judge finds relevant in one group and not relevant in another."""
    undecided = documents.filter(pl.col("relevant") & ~pl.col("always"))
    if undecided.height:
        judge = [*table.keys, "judge"]
        shown = rows.join(undecided, on=[*judge, "doc_id"], how="semi").sort(*judge, "doc_id", "group")
        raise DataError.rows(
            "qrels",
            "in which a judge finds a document relevant (above 0) in one group and not relevant in another",
            "Give it levels that agree, or the groups to two judges.",
            shown.height,
            shown.rename(dict(table.names)),
        )


def _numbers_to(most: int) -> type[pl.DataType]:
    """The smallest dtype of numbers up to `most`, since there is a row of them for each pair."""
    return pl.UInt8 if most < 1 << 8 else pl.UInt16 if most < 1 << 16 else pl.UInt32


def _check_number(pairs: int) -> None:
    """Raise a `DataError` for more pairs than a usual machine holds, before they are made."""
    if pairs > MOST_PAIRS:
        raise DataError(
            f"qrels imply {pairs:,} preferences of one document over another; at most {MOST_PAIRS:,} are made at once.",
            fix="Evaluate the queries in portions, or judge fewer documents of each",
        )


def _of_levels(levels: pl.DataFrame, some: pl.Expr) -> pl.DataFrame:
    """Pairs of documents, those of some levels preferred to those of the levels below."""
    pairs = levels.filter(some).select("judgment", "lower").explode("lower", empty_as_null=False)
    pairs = pairs.select(preferred="judgment", other=levels["judgment"].gather(pairs["lower"]))
    return pairs.explode("preferred", empty_as_null=False).explode("other", empty_as_null=False)


def _with_implied(pairs: pl.DataFrame, documents: pl.DataFrame, table: CanonicalFrame) -> pl.DataFrame:
    """The pairs, and those implied: a over b and b over c imply a over c.

    The documents below one are the bits of a number, complete once those of all documents below it are: a closure is
    no expression, and a join of pairs with themselves makes n^3 / 6 rows of an order of n documents.
    """
    if pairs.is_empty():
        return pairs
    judge, roles = [*table.keys, "judge"], ("preferred", "other")
    named = pl.concat([pairs.select(judgment=role) for role in roles]).unique()
    places = documents.join(named, on="judgment", how="semi").sort(judge).with_row_index("place")
    of_judge = {"first": pl.col("place").min().over(judge), "width": (pl.len().over(judge) + 7) // 8}
    places = places.with_columns(**of_judge)
    numbered = pairs.select(pl.col(role).replace_strict(places["judgment"], places["place"]) for role in roles)
    own = [1 << bit for bit in places["place"] - places["first"]]
    below = _below(numbered, own)
    if circular := [place for place, documents in enumerate(below) if documents & own[place]]:
        shown = places[circular].select(*judge, "doc_id").sort(*judge, "doc_id")
        raise DataError(
            f"what a judge prefers must be an order; in qrels {shown.height} documents are in a cycle of preferences.",
            fix="Leave out a preference of each cycle, or give it to another judge",
            examples=shown.rename(dict(table.names), strict=False),
        )
    _check_number(sum(map(int.bit_count, below)))
    written = b"".join(each.to_bytes(width, "little") for each, width in zip(below, places["width"], strict=True))
    in_bytes = places.select(
        preferred=pl.col("judgment").repeat_by("width"),
        place=pl.int_ranges("first", pl.col("first") + 8 * pl.col("width"), 8, dtype=pl.UInt32),
    ).explode("preferred", "place")
    byte = pl.Series([written]).bin.reinterpret(dtype=pl.Array(pl.UInt8, len(written))).explode()
    in_bytes = in_bytes.with_columns(byte=byte).filter(pl.col("byte") > 0)
    of_bits = []
    for bit in range(8):
        ones = in_bytes.filter(pl.col("byte") & (1 << bit) > 0)
        of_bits.append(ones.select("preferred", other=places["judgment"].gather(ones["place"] + bit)))
    return pl.concat(of_bits)


def _below(pairs: pl.DataFrame, own: Sequence[int]) -> list[int]:
    """The documents below each as bits, of which each document has its `own`; those of a cycle are below themselves."""
    grouped = pairs.group_by("other").agg("preferred")
    above = dict(zip(grouped["other"], grouped["preferred"], strict=True))
    waiting = dict(pairs["preferred"].value_counts().iter_rows())
    below, complete = [0] * len(own), [place for place in range(len(own)) if place not in waiting]
    for place in complete:  # which grows
        for better in above.pop(place, ()):
            below[better] |= below[place] | own[place]
            waiting[better] -= 1
            if not waiting[better]:
                complete.append(better)
    # Documents still waiting are in a cycle, or above one.
    changed = [place for place, n in waiting.items() if n]
    while changed:
        place = changed.pop()
        for better in above.get(place, ()):
            known = below[better]
            below[better] |= below[place] | own[place]
            if below[better] != known:
                changed.append(better)
    return below


def _comparing(pairs: pl.DataFrame, documents: pl.DataFrame, table: CanonicalFrame) -> pl.Series:
    """Number of judges who prefer one of the two documents of a pair to the other."""
    # The same number for a document of a query, whoever judged it, looked up by the number of the judgment.
    of_query = documents.select(pl.struct(table.document).rank("dense")).to_series()
    first, second = (of_query.gather(pairs[role]) for role in ("preferred", "other"))
    two = pl.DataFrame({"first": first, "second": second})
    lower, upper = pl.min_horizontal("first", "second"), pl.max_horizontal("first", "second")
    return two.select(pl.len().over(lower, upper))["len"]
