"""Tables in memory by numbers: what query, ranking and judgment a row is of, so that no string is joined twice.

Conventions
    * Queries are numbered in the order in which the judgments name them, judgments by their rows, systems as they come.
      The ranking of a system for a query has the number `system * queries + query`.
    * Tables mostly come in pieces, consecutive rows with the same ids. An id is looked up once a piece.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polars_ir.engine.ranking import place

#: The number of a ranking, a column of the relation that is cheaper to group by than ids.
RANKING = "polars_ir: ranking"


@dataclass(frozen=True)
class Judgments:
    """Judgments in memory, the number of each one's query, and the ids of queries by their numbers.

    `per` is the column that tells apart several judgments of a document, if there are such.
    """

    rows: pl.DataFrame
    query: pl.Series
    queries: pl.Series
    per: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: pl.DataFrame, per: tuple[str, ...] = ()) -> Judgments:
        """Judgments with their queries numbered."""
        pieces = Pieces.of(rows, ["query_id"])
        ids = rows["query_id"][pieces.starts]
        queries = ids.unique(maintain_order=True)
        return cls(rows, pieces.spread(numbers_of(ids, queries)), queries, per)

    def relevant(self) -> Judgments:
        """Without those of documents judged not relevant, but for one, so that no query or judge is lost."""
        of_each = self.rows.select(self.query.alias(RANKING), *self.per).to_struct() if self.per else self.query
        kept = (self.rows["relevance"] > 0) | of_each.is_first_distinct()
        return Judgments(self.rows.filter(kept), self.query.filter(kept), self.queries, self.per)

    def with_ideal_rank(self) -> Judgments:
        """With the places in the ideal ranking of each query, or of each judge and subtopic."""
        ideal_rank = place("relevance").over(RANKING, *self.per)
        rows = self.rows.with_columns(self.query.alias(RANKING)).with_columns(ideal_rank=ideal_rank).drop(RANKING)
        return Judgments(rows, self.query, self.queries, self.per)


@dataclass(frozen=True)
class Rankings:
    """The rows of a run, of which query and of which ranking each is, and the ids by their numbers.

    The ranking of a system for a query has the number `system * queries + query`.
    """

    rows: pl.DataFrame
    query: pl.Series
    ranking: pl.Series
    queries: pl.Series
    systems: pl.Series | None

    @property
    def count(self) -> int:
        """How many rankings there are, the empty ones included."""
        return len(self.queries) * (1 if self.systems is None else len(self.systems))

    @classmethod
    def of(cls, rows: pl.DataFrame, queries: pl.Series | None = None, systems: pl.Series | None = None) -> Rankings:
        """The rows whose queries are among some, or all; the systems are those of the rows, or they are given."""
        several = "run" in rows.columns
        pieces = Pieces.of(rows, ["run", "query_id"] if several else ["query_id"])
        ids = rows["query_id"][pieces.starts]
        queries = ids.unique(maintain_order=True) if queries is None else queries
        ranking = query = numbers_of(ids, queries)
        if several:
            of_pieces = rows["run"][pieces.starts]
            systems = of_pieces.unique(maintain_order=True) if systems is None else systems
            ranking = numbers_of(of_pieces, systems) * len(queries) + query
        of_rows = pieces.spread(ranking)
        if ranking.null_count():
            known = of_rows.is_not_null()
            rows, of_rows = rows.filter(known), of_rows.filter(known)
        query = of_rows % max(len(queries), 1) if several else of_rows
        return cls(rows, query, of_rows, queries, systems)

    def only(self, kept: pl.Series) -> Rankings:
        """Some of the rows."""
        rows, query, ranking = self.rows.filter(kept), self.query.filter(kept), self.ranking.filter(kept)
        return Rankings(rows, query, ranking, self.queries, self.systems)


@dataclass(frozen=True)
class Pieces:
    """The pieces of a table: the number of each row's, which rises from piece to piece, and where they start."""

    number: pl.Series
    starts: pl.Series

    @classmethod
    def of(cls, rows: pl.DataFrame, columns: Sequence[str]) -> Pieces:
        """The pieces of rows that agree in some columns."""
        number = functools.reduce(operator.add, (rows[column].rle_id() for column in columns))
        return cls(number, starts_of(number))

    def spread(self, values: pl.Series) -> pl.Series:
        """The value of each piece, in all of its rows."""
        if len(values) == len(self.number):
            return values
        of_numbers = filled(None, (self.number[-1] if len(self.number) else 0) + 1)
        return of_numbers.scatter(self.number[self.starts], values)[self.number]


def starts_of(numbers: pl.Series) -> pl.Series:
    """The rows whose number is another than that of the row before."""
    return (~repeats(numbers)).arg_true()


def repeats(column: pl.Series) -> pl.Series:
    """Whether a row has the value of the row before."""
    return filled(False, min(len(column), 1), pl.Boolean()).append(column.slice(1) == but_last(column))


def but_last(column: pl.Series) -> pl.Series:
    """A column without its last row, which is for each of the others but the first the row before."""
    return column.slice(0, max(len(column) - 1, 0))


def filled(value: int | None, length: int, dtype: pl.DataType | None = None) -> pl.Series:
    """A value so many times."""
    return _one(value, dtype or pl.UInt32()).new_from_index(0, length)


@functools.cache
def _one(value: int | None, dtype: pl.DataType) -> pl.Series:
    # To make a Series of a list takes longer than to repeat its value.
    return pl.Series([value], dtype=dtype)


def row_numbers(height: int) -> pl.Series:
    """The numbers of so many rows."""
    return pl.int_range(height, dtype=pl.UInt32, eager=True)


def numbers_of(ids: pl.Series, known: pl.Series) -> pl.Series:
    """The places of ids among some that are known, each once; null for one that is not."""
    numbers = row_numbers(len(known))
    if ids.equals(known):
        return numbers
    numbered = pl.DataFrame({"id": known, "number": numbers})
    return ids.to_frame("id").join(numbered, on="id", how="left", maintain_order="left")["number"]
