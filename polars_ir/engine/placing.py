"""The places of documents in rankings in memory, without a sort where the run has them in order.

Once rows stand by ranking, with scores falling, a place is a row's distance from the first of its ranking. Most runs
are written in that order; one look tells. A *level* is the rows of a ranking that share a score, two or more: only in
levels are ids compared, and only if the place of one of their documents is asked for.
"""

from __future__ import annotations

import polars as pl

from polars_ir.engine.numbers import Rankings, filled, row_numbers, starts_of


def places(rankings: Rankings, asked: pl.Series, *, by_id: bool) -> pl.DataFrame:
    """`rank`, `n_higher` and `n_tied` of the rows that are asked for by their numbers.

    Documents of one level stand by their ids as text, falling; without `by_id` as the rows do.
    """
    rows, ranking = rankings.rows, rankings.ranking
    ordered = rows.select("score").with_columns(ranking=ranking)
    order = _order(ordered)
    ordered = ordered if order is None else ordered[order]
    at = asked if order is None else _inverse(order).gather(asked)
    starts = starts_of(ordered["ranking"])
    first = filled(0, rankings.count).scatter(ordered["ranking"].gather(starts), starts)
    n_higher = at - first.gather(ranking.gather(asked))
    result = pl.DataFrame({"rank": n_higher + 1, "n_higher": n_higher, "n_tied": filled(1, len(at))})
    tied = _tied(ordered)
    shared = tied.gather(at).arg_true()
    if shared.is_empty():
        return result
    members = tied.arg_true()
    ids = rows["doc_id"].gather(members if order is None else order.gather(members)) if by_id else None
    levels = _levels(ordered[members], members.search_sorted(at.gather(shared)), ids)
    n_higher = n_higher.gather(shared) - levels["above"]
    in_level = {"rank": n_higher + levels["place"] + 1, "n_higher": n_higher, "n_tied": levels["size"]}
    return result.with_columns(result[name].scatter(shared, values) for name, values in in_level.items())


def _order(rows: pl.DataFrame) -> pl.Series | None:
    """The numbers of the rows by ranking, with scores falling, equal ones as they stand; None if they all stand so."""
    ranking, score = pl.col("ranking"), pl.col("score")
    if not rows.select(((ranking == ranking.shift(1)) & (score > score.shift(1))).any()).item():
        found = rows["ranking"].gather(starts_of(rows["ranking"]))
        if found.n_unique() == found.len():
            return None
    row = pl.col("row").sort_by("score", descending=True, maintain_order=True)
    numbered = rows.with_columns(row=row_numbers(rows.height))
    return numbered.select(row.over("ranking", mapping_strategy="explode")).to_series()


def _inverse(order: pl.Series) -> pl.Series:
    """Where each row stands in an order."""
    return row_numbers(len(order)).scatter(order, row_numbers(len(order)))


def _tied(ordered: pl.DataFrame) -> pl.Series:
    """Whether a row shares its score with a neighbour in its ranking."""
    ranking, score = pl.col("ranking"), pl.col("score")
    as_above = (ranking == ranking.shift(1)) & (score == score.shift(1))
    return ordered.select((as_above | as_above.shift(-1)).fill_null(False)).to_series()


def _levels(members: pl.DataFrame, asked: pl.Series, ids: pl.Series | None) -> pl.DataFrame:
    """Of some members of levels: how many of its level are written `above`, its `place` by ids if given, the `size`."""
    ranking, score = pl.col("ranking"), pl.col("score")
    new = (ranking != ranking.shift(1)) | (score != score.shift(1))
    begins = members.select(new.fill_null(True)).to_series()
    level, starts = begins.cum_sum() - 1, begins.arg_true()
    ends = pl.concat([starts.slice(1), pl.Series([len(begins)], dtype=starts.dtype)])
    of_asked = level.gather(asked)
    above, size = asked - starts.gather(of_asked), (ends - starts).gather(of_asked)
    if ids is None:
        return pl.DataFrame({"above": above, "place": above, "size": size})
    # All ids of these levels are compared, as text.
    wanted = filled(False, len(starts), pl.Boolean()).scatter(of_asked, True).gather(level)
    compared = pl.DataFrame({"level": level.filter(wanted), "id": ids.filter(wanted).cast(pl.String)})
    place = compared.select(pl.col("id").rank("ordinal", descending=True).over("level") - 1).to_series()
    places_of_all = filled(0, len(begins)).scatter(wanted.arg_true(), place)
    return pl.DataFrame({"above": above, "place": places_of_all.gather(asked), "size": size})
