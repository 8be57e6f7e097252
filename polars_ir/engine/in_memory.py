"""The judged relation of tables in memory, put together by numbers: no string is joined twice, nothing sorted in vain.

Conventions
    * Queries are numbered in the order in which the judgments name them, judgments by their rows, systems as they come.
      The ranking of a system for a query has the number `system * queries + query`. A query is what run and judgments
      meet on, and a system what only the run has of its keys: of several columns an id is a struct.
    * Tables mostly come in runs of rows, consecutive rows with the same ids. An id is looked up once a run of rows.
    * The judgments are repeated for each system, and what is known of the documents it retrieved is scattered among
      them. So the relation has a row for each judgment of each system, and then one for each other document that
      is needed.
    * Once rows stand by ranking, with scores falling, a place is a row's distance from the first of its ranking. Most
      runs are written in that order; one look tells. A *tie group* is the rows of a ranking that share a score,
      two or more: only there are ids compared, and only if the place of one of their documents is needed.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.needs import Needs
from polars_ir.engine.prefilter import among, hash_of
from polars_ir.engine.run_and_qrels import (
    HASH,
    RunAndQrels,
    hash_of_row,
    is_sampled,
    is_searched,
    search_duplicates,
    systems_of,
)
from polars_ir.errors import DataError
from polars_ir.language.words import place

#: Number of a ranking, a column of the relation that is cheaper to group by than ids.
RANKING = "polars_ir: ranking"

#: Rows per looked-up row from which binary search beats a full pass.
FEW = 16

#: Rows that are compared with those before at a time; more take memory.
ROWS_AT_A_TIME = 1_000_000

#: Rows from which finding true ones takes longer than the overhead of an expression.
MANY = 1_000_000

#: Maximum row count of a table in Polars, and of row numbers.
MOST_ROWS = 2**32 - 1


@dataclass(frozen=True)
class Judgments:
    """Judgments in memory, the number of each one's query, and the ids of queries by their numbers.

    `per` is the column that distinguishes several judgments of a document, if any.
    """

    rows: pl.DataFrame
    query: pl.Series
    queries: pl.Series
    per: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, rows: pl.DataFrame, keys: Sequence[str], per: tuple[str, ...] = (), *, relevant_only: bool = False
    ) -> Judgments:
        """Judgments with their queries numbered, which some columns distinguish.

        With `relevant_only` without those of documents judged not relevant, except one, so that no query or judge is
        lost.
        """
        row_runs = RowRuns.of(*map(rows.get_column, keys))
        ids = row_runs.ids(rows, keys)
        queries = ids.unique(maintain_order=True)
        query = row_runs.spread(numbers_of(ids, queries))
        if len(row_runs.starts) > len(queries):
            # So the relation is sorted by ranking, too, and is grouped without a hash of each row.
            order = in_order(query)
            rows, query = rows[order], query[order]
        if relevant_only:
            of_each = rows.select(query.alias(RANKING), *per).to_struct() if per else query
            kept = (rows["relevance"] > 0) | of_each.is_first_distinct()
            rows, query = rows.filter(kept), query.filter(kept)
        # Rows are gathered by number, which takes ten times as long of columns in pieces.
        return cls(rows.rechunk(), query, queries, per)

    def with_ideal_rank(self) -> Judgments:
        """With the places in the ideal ranking of each query, or of each judge and subtopic."""
        ideal_rank = place("relevance").over(RANKING, *self.per)
        rows = self.rows.with_columns(self.query.alias(RANKING)).with_columns(ideal_rank=ideal_rank).drop(RANKING)
        return Judgments(rows, self.query, self.queries, self.per)


@dataclass(frozen=True)
class Rankings:
    """Rows of a run, its `row_runs`, runs of rows with the same keys, and ids by their numbers.

    `of_runs`: ranking number per run of rows, null of a query that has none. The ranking of a system for a query has
    the number `system * queries + query`.
    """

    rows: pl.DataFrame
    row_runs: RowRuns
    of_runs: pl.Series
    queries: pl.Series
    systems: pl.Series | None

    @classmethod
    def of(
        cls,
        rows: pl.DataFrame,
        keys: Sequence[str],
        of_systems: Sequence[str],
        queries: pl.Series | None = None,
        systems: pl.Series | None = None,
    ) -> Rankings:
        """The rows, with numbers for some queries, or for all; the systems are those of the rows unless passed.

        `keys` are those of rankings; some are `of_systems`, and the others of queries.
        """
        row_runs = RowRuns.of(*map(rows.get_column, keys))
        ids = row_runs.ids(rows, list(itertools.filterfalse(of_systems.__contains__, keys)))
        queries = ids.unique(maintain_order=True) if queries is None else queries
        of_runs = query = numbers_of(ids, queries)
        if of_systems:
            of_row_runs = row_runs.ids(rows, of_systems)
            systems = of_row_runs.unique(maintain_order=True) if systems is None else systems
            fits = len(systems) * len(queries) < MOST_ROWS
            of_runs = numbers_of(of_row_runs, systems).cast(pl.UInt32 if fits else pl.UInt64) * len(queries) + query
        return cls(rows, row_runs, of_runs, queries, systems)

    @functools.cached_property
    def ranking(self) -> pl.Series:
        """The ranking of each row."""
        return self.row_runs.spread(self.of_runs)

    def ranking_at(self, rows: pl.Series) -> pl.Series:
        """The ranking of some rows."""
        return self.row_runs.at(rows, self.of_runs)

    @functools.cached_property
    def stand_in_order(self) -> bool:
        """True where the rows stand by ranking, with scores falling."""
        return _stand_in_order(self.row_runs, self.of_runs, self.rows["score"])

    @functools.cached_property
    def order(self) -> pl.Series | None:
        """Row numbers by ranking, with scores falling, equal ones in their order; None where the rows stand so."""
        return None if self.stand_in_order else _order(self.ranking, self.rows["score"])

    def order_of(self, wanted: pl.Series) -> pl.Series | None:
        """As `order`, where some rows suffice: all of the rankings of those that are wanted."""
        if self.stand_in_order:
            return None
        found = self.ranking_at(wanted).unique()
        return self.order if 2 * len(found) >= self.n_rankings else _order(self.ranking, self.rows["score"], found)

    def known_rows(self) -> pl.Series:
        """Numbers of the rows whose ranking has a number."""
        return where(self.ranking.is_not_null()) if self.of_runs.null_count() else row_numbers(self.rows.height)

    def known(self) -> Rankings:
        """The rows whose ranking has a number."""
        return self.only(self.ranking.is_not_null()) if self.of_runs.null_count() else self

    def only(self, kept: pl.Series) -> Rankings:
        """Some of the rows."""
        ranking = self.ranking.filter(kept)
        row_runs = RowRuns.of(ranking)
        return Rankings(self.rows.filter(kept), row_runs, ranking[row_runs.starts], self.queries, self.systems)

    @property
    def n_rankings(self) -> int:
        """Count of numbers of rankings, also of those that the run lacks."""
        return len(self.queries) * (1 if self.systems is None else len(self.systems))

    def answered(self) -> pl.Series:
        """True for the numbers of rankings that the run has."""
        return filled(False, self.n_rankings, pl.Boolean()).scatter(self.of_runs.drop_nulls(), True)

    def counts(self, rankings: pl.Series) -> pl.Series:
        """Row count per ranking."""
        counts = self.ranking.alias("ranking").value_counts(name="rows")
        joined = rankings.to_frame("ranking").join(counts, on="ranking", how="left", maintain_order="left")
        return joined["rows"].fill_null(0)


@dataclass(frozen=True)
class RowRuns:
    """Consecutive rows with the same ids: whether each row begins a run, and the numbers of those that do."""

    begins: pl.Series
    starts: pl.Series

    @classmethod
    def of(cls, *columns: pl.Series) -> RowRuns:
        """The runs of rows that agree in some columns."""
        begins = ~functools.reduce(operator.and_, map(repeats, columns))
        return cls(begins, where(begins))

    @functools.cached_property
    def number(self) -> pl.Series:
        """The number of each row's run, from 1."""
        return self.begins.cum_sum()

    def ids(self, rows: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
        """Ids of the runs, in some columns of the rows."""
        if len(columns) == 1:
            return rows[columns[0]][self.starts]
        return rows.select(columns)[self.starts].to_struct("ids")

    def spread(self, values: pl.Series) -> pl.Series:
        """The value of each run, in all of its rows."""
        if len(values) == len(self.begins):
            return values
        return filled(None, 1, values.dtype).append(values)[self.number]

    def at(self, rows: pl.Series, values: pl.Series) -> pl.Series:
        """The value of each run, in some rows."""
        if len(values) == len(self.begins):
            return values[rows]
        few = FEW * len(rows) <= len(self.begins)
        number = self.starts.search_sorted(rows, side="right") if few else self.number[rows]
        return values[number - 1]


def where(condition: pl.Series) -> pl.Series:
    """Rows for which a condition is true."""
    # `arg_true` is an expression: of few rows its overhead is the most of it.
    return condition.arg_true() if len(condition) > MANY else row_numbers(len(condition)).filter(condition)


def repeats(column: pl.Series) -> pl.Series:
    """True where a row has the value of the row before."""
    return beside_before(column, pl.Series.eq_missing if column.null_count() else operator.eq)


def beside_before(column: pl.Series, compare: Callable[[pl.Series, pl.Series], pl.Series]) -> pl.Series:
    """Comparison of each row with the row before; False for the first."""
    result = filled(False, min(len(column), 1), pl.Boolean())
    # Rows in chunks are copied to be compared, so some at a time.
    for start in range(0, len(column) - 1, ROWS_AT_A_TIME):
        before = column.slice(start, min(ROWS_AT_A_TIME, len(column) - 1 - start))
        result.append(compare(column.slice(start + 1, len(before)), before))
    return result


def filled(value: int | None, length: int, dtype: pl.DataType | None = None) -> pl.Series:
    """A value repeated n times."""
    return _one(value, dtype or pl.UInt32()).new_from_index(0, length)


@functools.cache
def _one(value: int | None, dtype: pl.DataType) -> pl.Series:
    # Making a Series of a list takes longer than repeating its value.
    return pl.Series([value], dtype=dtype)


def row_numbers(height: int) -> pl.Series:
    """The numbers of n rows."""
    return pl.int_range(height, dtype=pl.UInt32, eager=True)


def numbers_of(ids: pl.Series, known: pl.Series) -> pl.Series:
    """Places of ids among known ones, each once; null for an unknown id."""
    numbers = row_numbers(len(known))
    if ids.equals(known):
        return numbers
    numbered = pl.DataFrame({"id": known, "number": numbers})
    return ids.to_frame("id").join(numbered, on="id", how="left", maintain_order="left")["number"]


def places(rankings: Rankings, wanted: pl.Series, *, by_id: bool) -> pl.DataFrame:
    """`rank`, `n_higher` and `n_tied` of the rows with some numbers.

    Documents of one tie group are ordered by their ids as text, falling; without `by_id` as the rows are.
    """
    rows, score, row_runs, of_runs = rankings.rows, rankings.rows["score"], rankings.row_runs, rankings.of_runs
    at = wanted
    order = rankings.order_of(wanted)
    if order is not None:
        at = filled(0, rows.height).scatter(order, row_numbers(len(order)))[wanted]
        ranking, score = rankings.ranking[order], score[order]
        row_runs = RowRuns.of(ranking)
        of_runs = ranking[row_runs.starts]
    n_higher = at - row_runs.at(at, row_runs.starts)
    result = pl.DataFrame({"rank": n_higher + 1, "n_higher": n_higher, "n_tied": filled(1, len(at))})
    as_above = ~row_runs.begins & repeats(score)
    tied = as_above | as_above.slice(1).append(filled(False, min(len(score), 1), pl.Boolean()))
    shared = where(tied[at])
    if shared.is_empty():
        return result
    members = where(tied)
    ids = rows["doc_id"][members if order is None else order[members]] if by_id else None
    groups = _tie_groups(row_runs.at(members, of_runs), score[members], members.search_sorted(at[shared]), ids)
    n_higher = n_higher[shared] - groups["above"]
    in_group = {"rank": n_higher + groups["place"] + 1, "n_higher": n_higher, "n_tied": groups["size"]}
    return result.with_columns(result[name].scatter(shared, values) for name, values in in_group.items())


def _stand_in_order(row_runs: RowRuns, of_runs: pl.Series, score: pl.Series) -> bool:
    """True where rows stand by ranking, with scores falling; rankings without a number may stand apart."""
    rising = beside_before(score, operator.gt) & ~row_runs.begins
    known = of_runs.drop_nulls()
    return not rising.any() and known.n_unique() == len(known)


def _order(ranking: pl.Series, score: pl.Series, found: pl.Series | None = None) -> pl.Series:
    """Numbers of the rows of all rankings, or of some, by ranking, with scores falling, equal ones in their order."""
    rows = pl.DataFrame({"ranking": ranking, "score": score, "row": row_numbers(len(ranking))})
    if ranking.null_count():
        rows = rows.drop_nulls("ranking")
    if found is not None:
        rows = rows.filter(pl.col("ranking").is_in(found.implode()))
        if rows.height <= tuning.TUNING.together * len(found):
            # Sorting them all is faster than each of many short lists.
            by_score = rows.sort("score", descending=True, maintain_order=True)
            return by_score.sort("ranking", maintain_order=True)["row"]
    row = pl.col("row").sort_by("score", descending=True, maintain_order=True)
    return rows.select(row.over("ranking", mapping_strategy="explode")).to_series()


def _tie_groups(ranking: pl.Series, score: pl.Series, wanted: pl.Series, ids: pl.Series | None) -> pl.DataFrame:
    """Rows `above` some members of tie groups in their group, their `place` by ids if there are any, and its `size`."""
    begins, starts = (row_runs := RowRuns.of(ranking, score)).begins, row_runs.starts
    group = begins.cum_sum() - 1
    ends = pl.concat([starts.slice(1), pl.Series([len(begins)], dtype=starts.dtype)])
    group_of = group[wanted]
    above, size = wanted - starts[group_of], (ends - starts)[group_of]
    if ids is None:
        return pl.DataFrame({"above": above, "place": above, "size": size})
    # All ids of these groups are compared, as text.
    compared_groups = filled(False, len(starts), pl.Boolean()).scatter(group_of, True)[group]
    compared = pl.DataFrame({"group": group.filter(compared_groups), "id": ids.filter(compared_groups).cast(pl.String)})
    place = compared.select(pl.col("id").rank("ordinal", descending=True).over("group") - 1).to_series()
    places_of_all = filled(0, len(begins)).scatter(where(compared_groups), place)
    return pl.DataFrame({"above": above, "place": places_of_all[wanted], "size": size})


def relate_by_number(pair: RunAndQrels, judgments: Judgments, needs: Needs) -> tuple[pl.DataFrame, Rankings]:
    """The judged relation with `RANKING`, and those of its columns that are read; and the run with its numbers.

    Each column is gathered from the judgments, or from the rows of the run that the relation holds (`kept`). Each row
    of the relation has a number for that: `judgment`, that of its judgment, and `kept_row`, that of its row among
    those kept. With a query, judgments of d1 and d2, a run of d9, d1 and d8, and with the unjudged documents:

        judgments    run             kept    relation   doc_id   judgment   kept_row   rank
        0   d1       0   d9   0.9    0                  d1              0          1      2
        1   d2       1   d1   0.5    1                  d2              1       null   null   not retrieved
                     2   d8   0.4    2                  d9           null          0      1   not judged
                                                        d8           null          2      3   not judged

    Without the unjudged documents only row 1 is kept, d1 has kept_row 0, and the relation ends with d2.
    """
    extra = (
        [column for column in pair.extra_columns if needs.whole or column in needs.columns] if needs.unjudged else []
    )
    columns = dict.fromkeys([*pair.run.keys, "doc_id", "score", *extra, *needs.costs])
    rows = pair.run.select(*columns).collect(engine="in-memory")
    systems = None if pair.run.systems is None else _systems(pair)
    run = whole = Rankings.of(rows, pair.run.keys, pair.systems, judgments.queries, systems)
    matches = _matches(pair, run, judgments, search=not pair.searched)
    if needs.judged_only:
        grades = judgments.rows["relevance"][matches["judgment"]]
        run = run.only(_holds(run, matches["row"].filter(grades >= 0)))
        matches = _matches(pair, run, judgments)
    judged = _holds(run, matches["row"])
    of_pool = [key for key in pair.run.by if key not in pair.systems]
    pooled = _pooled(run, judgments, [*of_pool, "doc_id"]) if "judged_elsewhere" in needs.columns else None
    kept = where(judged if pooled is None else judged | (pooled & run.ranking.is_not_null()))
    kept = run.known_rows() if needs.unjudged else kept
    ranking, judgment, kept_row = _rows(run, judgments, matches, kept, judged)
    if kept_row.count() - judgment.null_count() < matches.height:
        search_duplicates(pair.run)
    kept_ranks = places(run, kept, by_id=needs.ties != "input")
    kept_ranks = kept_ranks.hstack(run.rows.select(extra)[kept]) if extra else kept_ranks
    if pooled is not None:
        kept_ranks = kept_ranks.with_columns(judged_elsewhere=pooled[kept].replace(False, None))
    if needs.whole or "ideal_rank" in needs.columns:
        judgments = judgments.with_ideal_rank()
    relation: dict[str, pl.Series] = {}
    for table, numbers in ((judgments.rows, judgment), (kept_ranks, kept_row)):
        for name in needs.read_of(table.columns):
            relation[name] = table[name][numbers]
    if "doc_id" in relation and (needs.unjudged or pooled is not None):
        relation["doc_id"] = relation["doc_id"].zip_with(judgment.is_not_null(), run.rows["doc_id"][kept][kept_row])
    if "n_retrieved" in needs.columns:
        relation["n_retrieved"] = run.counts(ranking)
    query = ranking
    if run.systems is not None:
        n_queries = max(len(judgments.queries), 1)
        relation = _columns(pair.systems, run.systems[ranking // n_queries]) | relation
        query = ranking % n_queries
    relation |= _columns(
        list(itertools.filterfalse(pair.systems.__contains__, pair.run.keys)), judgments.queries[query]
    )
    # Rows known to be in the order of their rankings are grouped without a hash of each.
    relation[RANKING] = ranking.set_sorted() if ranking.is_sorted() else ranking
    return pl.DataFrame(relation), whole


def _systems(pair: RunAndQrels) -> pl.Series:
    """Systems of a dict, also those whose run is empty."""
    systems = systems_of(pair.run, pair.systems).collect(engine="in-memory")
    return systems.to_series() if len(pair.systems) == 1 else systems.select(pair.systems).to_struct("ids")


def _columns(names: Sequence[str], ids: pl.Series) -> dict[str, pl.Series]:
    """The columns of ids."""
    return {names[0]: ids} if len(names) == 1 else dict(zip(names, ids.struct.unnest(), strict=True))


def _matches(pair: RunAndQrels, run: Rankings, judgments: Judgments, *, search: bool = False) -> pl.DataFrame:
    """Numbers of the rows whose documents are judged, and of the judgments: `row` and `judgment`.

    The run can be searched for duplicates by the same hashes.
    """
    limits, document, height = tuning.TUNING, pair.judgments.document, run.rows.height
    known = judgments.rows.select(hash=hash_of(document)).with_row_index("judgment")
    rows = run.rows.lazy().select(*pair.run.document).with_row_index("polars_ir: row")
    rows, ids = rows.with_columns(hash_of(document).alias(HASH)), hash_of_row(document, pair.systems)
    whole = search and is_searched(pair.run)
    if sparse := height >= limits.counted and height >= limits.sparse * known.height and not whole:
        is_judged = among(pl.col(HASH), judgments.rows.select(document))
        rows = rows.filter(is_judged | is_sampled(ids) if search else is_judged)
    read = {"row": "polars_ir: row", "hash": HASH} | ({"ids": ids} if search else {})
    hashed = rows.select(**read).collect(engine="streaming" if sparse else "in-memory")
    if search:
        searched = hashed["ids"] if whole else hashed["ids"].filter(hashed.select(is_sampled(pl.col("ids")))["ids"])
        if searched.n_unique() < len(searched):
            search_duplicates(pair.run)
    # A join by one number takes half the time of one by query and document; what only shares it is taken out.
    met = hashed.lazy().join(known.lazy(), on="hash", build_side="force_right").select("row", "judgment")
    matches = met.collect(engine="streaming" if hashed.height >= limits.streaming_join else "in-memory")
    row, judgment = matches
    same_query = run.ranking_at(row) % max(len(run.queries), 1) == judgments.query[judgment]
    return matches.filter(same_query, run.rows["doc_id"][row] == judgments.rows["doc_id"][judgment])


def _pooled(run: Rankings, judgments: Judgments, columns: Sequence[str]) -> pl.Series:
    """True where the document of a row is judged for any query that agrees in some columns."""
    pool = judgments.rows.select(columns).drop_nulls()
    rows = run.rows.select(columns).with_row_index("polars_ir: row").filter(among(pool.columns, pool))
    return _holds(run, rows.join(pool, on=columns, how="semi")["polars_ir: row"])


def _holds(run: Rankings, rows: pl.Series) -> pl.Series:
    """True for the rows of the run with some numbers."""
    return filled(False, run.rows.height, pl.Boolean()).scatter(rows, True)


def _rows(
    run: Rankings, judgments: Judgments, matches: pl.DataFrame, kept: pl.Series, judged: pl.Series
) -> tuple[pl.Series, pl.Series, pl.Series]:
    """The ranking, the judgment and the kept row of each row of the relation, as in `relate_by_number`.

    A row for each judgment of each system and one for each unjudged row of the run that is kept; then by ranking.
    """
    n_queries, n_judgments = max(len(judgments.queries), 1), judgments.rows.height
    judgment, ranking, of_matches = row_numbers(n_judgments), judgments.query, matches["judgment"]
    if run.systems is not None:
        # The judgments are repeated for each system.
        if n_judgments * len(run.systems) >= MOST_ROWS:
            says = f"have {n_judgments:,} rows for each of {len(run.systems):,} systems, more than a table holds."
            raise DataError(says, about="qrels", fix="Evaluate some systems at a time, or a frame with their grades")
        number = row_numbers(n_judgments * len(run.systems))
        judgment = number % max(n_judgments, 1)
        ranking = number // max(n_judgments, 1) * n_queries + ranking[judgment]
        of_matches = run.ranking_at(matches["row"]) // n_queries * n_judgments + of_matches
    rows = matches["row"]
    if FEW * len(kept) <= run.rows.height:
        rows = kept.search_sorted(rows)
    elif len(kept) < run.rows.height:
        rows = filled(None, run.rows.height).scatter(kept, row_numbers(len(kept)))[rows]
    kept_row = filled(None, len(judgment)).scatter(of_matches, rows)
    others = ~judged[kept]
    if others.any():
        ranking = ranking.clone().append(run.ranking_at(kept.filter(others)))
        judgment = judgment.append(filled(None, int(others.sum())))
        kept_row = kept_row.append(where(others))
        # Rows in the order of their rankings are grouped without a hash of each, and they are grouped more than once.
        order = in_order(ranking)
        ranking, judgment, kept_row = ranking[order], judgment[order], kept_row[order]
    return ranking, judgment, kept_row


def in_order(numbers: pl.Series) -> pl.Series:
    """The rows by their numbers, equal ones in their order."""
    rows = pl.DataFrame({"number": numbers, "row": row_numbers(len(numbers))})
    return rows.sort("number", maintain_order=True)["row"]
