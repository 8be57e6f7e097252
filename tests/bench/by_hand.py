"""The contestants without a measure library: a query in DuckDB and a Polars script, as one would write them by hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import polars as pl
from generate import Collection
from measure import Figures

#: Deeper than any ranking: where a measure has no cutoff.
ALL = 1_000_000


class DuckDB:
    """One SQL query over views of frames."""

    needs = "duckdb"

    @cached_property
    def connection(self) -> Any:
        """A database in memory, opened once."""
        import duckdb

        return duckdb.connect(config={"threads": pl.thread_pool_size()})

    def frames(self, data: Collection) -> Any:
        self.connection.register("run_frame", data.run)
        self.connection.register("qrels_frame", data.qrels)
        return data.run.columns

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        (values,) = self.connection.execute(self.query(measures, several="run" in tables)).fetchall()
        return dict(zip(measures, values, strict=True))

    def query(self, measures: Sequence[str], *, several: bool) -> str:
        """The query; `n` is the position of a measure."""
        keys = "run, query_id" if several else "query_id"
        systems = "CROSS JOIN (SELECT DISTINCT run FROM run_frame)" if several else ""
        found, ideal, values = [], [], []
        for n, measure in enumerate(measures):
            family, _, k = measure.partition("@")
            top = f"FILTER (relevance > 0 AND rank <= {k or ALL})"
            gain = "sum(relevance / log2(rank + 1))"
            sums = {"nDCG": gain, "AP": "sum(nth / rank)", "RR": "max(1 / rank)", "R": "count(*)", "P": "count(*)"}
            out_of = {"nDCG": f"ideal{n}", "AP": "relevant", "RR": "1", "R": "relevant", "P": k}
            found.append(f"{sums[family]} {top} AS found{n}")
            ideal += [f"{gain} {top} AS ideal{n}"] if family == "nDCG" else []
            values.append(f"avg(coalesce(found{n} / nullif({out_of[family]}, 0), 0))")
        return f"""
            WITH ranked AS (
                SELECT {keys}, doc_id, row_number() OVER (PARTITION BY {keys} ORDER BY score DESC, doc_id DESC) AS rank
                FROM run_frame
            ), hits AS (
                SELECT {keys}, rank, relevance,
                       sum((relevance > 0)::INT) OVER (PARTITION BY {keys} ORDER BY rank) AS nth
                FROM ranked JOIN qrels_frame USING (query_id, doc_id)
            ), found AS (
                SELECT {keys}, {", ".join(found)} FROM hits GROUP BY {keys}
            ), places AS (
                SELECT query_id, relevance,
                       row_number() OVER (PARTITION BY query_id ORDER BY relevance DESC) AS rank
                FROM qrels_frame
            ), ideal AS (
                SELECT {", ".join(["query_id", "count(*) FILTER (relevance > 0) AS relevant", *ideal])}
                FROM places GROUP BY query_id
            )
            SELECT {", ".join(values)} FROM ideal {systems} LEFT JOIN found USING ({keys})"""  # noqa: S608  # our own words


class Lazily:
    """Polars without us, as lazy frames."""

    def frames(self, data: Collection) -> Any:
        return data.run.lazy(), data.qrels.lazy()


class PlainPolars(Lazily):
    """A window for the rank, a join, and sums for each query."""

    needs = "polars"

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:
        run, qrels = tables
        keys = [key for key in ("run", "query_id") if key in run.collect_schema()]
        order = pl.struct("score", "doc_id").rank("ordinal", descending=True)
        hits = run.with_columns(rank=order.over(keys)).join(qrels, on=["query_id", "doc_id"])
        hits = hits.filter(pl.col("relevance") > 0).with_columns(nth=pl.col("rank").rank("ordinal").over(keys))
        places = qrels.with_columns(rank=pl.col("relevance").rank("ordinal", descending=True).over("query_id"))
        places = places.filter(pl.col("relevance") > 0)
        found, ideal, values = [], [], []
        for measure in measures:
            family, _, k = measure.partition("@")
            top = pl.col("rank") <= int(k or ALL)
            gain = (pl.col("relevance") / (pl.col("rank") + 1).log(2)).filter(top).sum()
            sums = {
                "nDCG": gain,
                "AP": (pl.col("nth") / pl.col("rank")).filter(top).sum(),
                "RR": (1 / pl.col("rank")).filter(top).max(),
                "R": top.sum(),
                "P": top.sum(),
            }
            out_of = {"AP": pl.col("relevant"), "R": pl.col("relevant"), "P": pl.lit(int(k or ALL)), "RR": pl.lit(1)}
            found.append(sums[family].alias(measure))
            ideal += [gain.alias(f"ideal {measure}")] if family == "nDCG" else []
            values.append(pl.col(measure) / out_of.get(family, pl.col(f"ideal {measure}")))
        queries = qrels.select("query_id").unique()
        if "run" in keys:
            queries = run.select("run").unique().join(queries, how="cross")
        table = (
            queries.join(places.group_by("query_id").agg(*ideal, relevant=pl.len()), on="query_id", how="left")
            .join(hits.group_by(keys).agg(found), on=keys, how="left")
            .select(pl.when(value.is_finite()).then(value).otherwise(0).mean() for value in values)
        )
        return dict(zip(measures, table.collect().row(0), strict=True))


class BareJoin(Lazily):
    """No measure at all: one Polars join, and a count for each query."""

    needs = "polars"

    def evaluate(self, tables: Any, measures: Sequence[str]) -> Figures:  # noqa: ARG002  # it has none
        run, qrels = tables
        run.join(qrels, on=["query_id", "doc_id"]).group_by("query_id").len().collect()
        return {}
