"""The places of documents in rankings in memory, without a sort where the run has them in order.

Once rows stand by ranking, with scores falling, a place is a row's distance from the first of its ranking. Most runs
are written in that order; one look tells. A *level* is the rows of a ranking that share a score, two or more: only in
levels are ids compared, and only if the place of one of their documents is asked for.
"""

from __future__ import annotations

import polars as pl

from polars_ir.engine.numbers import Rankings, but_last, filled, repeats, row_numbers, starts_of


def places(rankings: Rankings, asked: pl.Series, *, by_id: bool) -> pl.DataFrame:
    """`rank`, `n_higher` and `n_tied` of the rows that are asked for by their numbers.

    Documents of one level stand by their ids as text, falling; without `by_id` as the rows do.
    """
    rows, ranking, score = rankings.rows, rankings.ranking, rankings.rows["score"]
    at, starts = asked, starts_of(ranking)
    order = None if _stand_in_order(ranking, score, starts) else _order(ranking, score)
    if order is not None:
        at = _inverse(order)[asked]
        ranking, score = ranking[order], score[order]
        starts = starts_of(ranking)
    first = filled(0, rankings.count).scatter(ranking[starts], starts)
    n_higher = at - first[ranking[at]]
    result = pl.DataFrame({"rank": n_higher + 1, "n_higher": n_higher, "n_tied": filled(1, len(at))})
    as_above = repeats(ranking) & repeats(score)
    tied = as_above | as_above.slice(1).append(filled(False, min(len(score), 1), pl.Boolean()))
    shared = tied[at].arg_true()
    if shared.is_empty():
        return result
    members = tied.arg_true()
    ids = rows["doc_id"][members if order is None else order[members]] if by_id else None
    levels = _levels(ranking[members], score[members], members.search_sorted(at[shared]), ids)
    n_higher = n_higher[shared] - levels["above"]
    in_level = {"rank": n_higher + levels["place"] + 1, "n_higher": n_higher, "n_tied": levels["size"]}
    return result.with_columns(result[name].scatter(shared, values) for name, values in in_level.items())


def _stand_in_order(ranking: pl.Series, score: pl.Series, starts: pl.Series) -> bool:
    """Whether rows stand by ranking, with scores falling; `starts` are the rows that another ranking is above of."""
    rising = (score.slice(1) > but_last(score)) & repeats(ranking).slice(1)
    return not rising.any() and ranking[starts].n_unique() == len(starts)


def _order(ranking: pl.Series, score: pl.Series) -> pl.Series:
    """The numbers of the rows by ranking, with scores falling, equal ones as they stand."""
    rows = pl.DataFrame({"ranking": ranking, "score": score, "row": row_numbers(len(ranking))})
    row = pl.col("row").sort_by("score", descending=True, maintain_order=True)
    return rows.select(row.over("ranking", mapping_strategy="explode")).to_series()


def _inverse(order: pl.Series) -> pl.Series:
    """Where each row stands in an order."""
    return row_numbers(len(order)).scatter(order, row_numbers(len(order)))


def _levels(ranking: pl.Series, score: pl.Series, asked: pl.Series, ids: pl.Series | None) -> pl.DataFrame:
    """Of some members of levels: how many of its level are written `above`, its `place` by ids if given, the `size`."""
    begins = ~(repeats(ranking) & repeats(score))
    level, starts = begins.cum_sum() - 1, begins.arg_true()
    ends = pl.concat([starts.slice(1), pl.Series([len(begins)], dtype=starts.dtype)])
    of_asked = level[asked]
    above, size = asked - starts[of_asked], (ends - starts)[of_asked]
    if ids is None:
        return pl.DataFrame({"above": above, "place": above, "size": size})
    # All ids of these levels are compared, as text.
    wanted = filled(False, len(starts), pl.Boolean()).scatter(of_asked, True)[level]
    compared = pl.DataFrame({"level": level.filter(wanted), "id": ids.filter(wanted).cast(pl.String)})
    place = compared.select(pl.col("id").rank("ordinal", descending=True).over("level") - 1).to_series()
    places_of_all = filled(0, len(begins)).scatter(wanted.arg_true(), place)
    return pl.DataFrame({"above": above, "place": places_of_all[asked], "size": size})
