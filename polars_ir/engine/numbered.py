"""The judged relation of tables in memory, put together by numbers: nothing as large as the run is joined.

The judgments are repeated for each system, and what is known of the documents it retrieved is scattered among them. So
the relation has a row for each judgment of each system, and then one for each other document that is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.needs import Needs
from polars_ir.engine.numbers import RANKING, Judgments, Rankings, filled, row_numbers
from polars_ir.engine.pairing import Pair, search_duplicates
from polars_ir.engine.placing import places
from polars_ir.engine.prefilter import among


@dataclass(frozen=True)
class Retrieved:
    """The rankings of a run for judged queries, and the judgments."""

    rankings: Rankings
    judgments: Judgments

    @property
    def rows(self) -> pl.DataFrame:
        """The rows of the run."""
        return self.rankings.rows

    @cached_property
    def hits(self) -> pl.DataFrame:
        """The numbers of the rows whose documents are judged, and of the judgments: `row` and `judgment`."""
        known = pl.DataFrame({"query": self.judgments.query, "doc_id": self.judgments.rows["doc_id"]})
        rows = pl.DataFrame({"query": self.rankings.query, "doc_id": self.rows["doc_id"]}).with_row_index("row")
        if self.rows.height >= tuning.TUNING.prefiltered:
            rows = rows.filter(among(known.columns, known))
        return rows.join(known.with_row_index("judgment"), on=known.columns).select("row", "judgment")

    @cached_property
    def judged(self) -> pl.Series:
        """Whether the document of a row is judged for its query."""
        return self.are(self.hits["row"])

    @cached_property
    def pooled(self) -> pl.Series:
        """Whether the document of a row is judged for any query."""
        pool = self.judgments.rows.select("doc_id").drop_nulls()
        rows = self.rows.select("doc_id").with_row_index("row").filter(among(pool.columns, pool))
        return self.are(rows.join(pool, on="doc_id", how="semi")["row"])

    def are(self, rows: pl.Series) -> pl.Series:
        """Whether a row is one of some, given by their numbers."""
        return filled(False, self.rows.height, pl.Boolean()).scatter(rows, True)

    def condensed(self) -> Retrieved:
        """Only the rows whose documents are judged, and not below 0."""
        grades = self.judgments.rows["relevance"][self.hits["judgment"]]
        return Retrieved(self.rankings.only(self.are(self.hits["row"].filter(grades >= 0))), self.judgments)

    def counts(self, rankings: pl.Series) -> pl.Series:
        """How many rows each of some rankings has."""
        counts = self.rankings.ranking.alias("ranking").value_counts(name="rows")
        joined = rankings.to_frame("ranking").join(counts, on="ranking", how="left", maintain_order="left")
        return joined["rows"].fill_null(0)


@dataclass(frozen=True)
class Rows:
    """What the rows of a relation are made of, by numbers: their rankings, judgments and lines.

    A line is a row of the run that is asked for. A document that was not retrieved has no line, an unjudged one
    no judgment.
    """

    ranking: pl.Series
    judgment: pl.Series
    line: pl.Series

    @property
    def met(self) -> int:
        """How many rows are of judged documents that were retrieved."""
        return self.line.count() - self.judgment.null_count()

    @classmethod
    def of(cls, run: Retrieved, asked: pl.Series) -> Rows:
        """A row for each judgment of each system, then one for each unjudged row of the run that is asked for."""
        n_queries, n_judgments = max(len(run.judgments.queries), 1), run.judgments.rows.height
        systems, of_run = run.rankings.systems, run.rankings.ranking
        judgment, ranking, of_hits = row_numbers(n_judgments), run.judgments.query, run.hits["judgment"]
        if systems is not None:
            number = row_numbers(n_judgments * len(systems))
            judgment = number % max(n_judgments, 1)
            ranking = number // max(n_judgments, 1) * n_queries + ranking[judgment]
            of_hits = of_run[run.hits["row"]] // n_queries * n_judgments + of_hits
        lines = filled(None, run.rows.height).scatter(asked, row_numbers(len(asked)))
        line = filled(None, len(judgment)).scatter(of_hits, lines[run.hits["row"]])
        others = ~run.judged[asked]
        if others.any():
            ranking = ranking.clone().append(of_run[asked.filter(others)])
            judgment = judgment.append(filled(None, int(others.sum())))
            line = line.append(others.arg_true())
        return cls(ranking, judgment, line)


def relate_by_number(pair: Pair, judgments: Judgments, needs: Needs) -> pl.DataFrame:
    """The judged relation with `RANKING`, and of its columns those that are read."""
    extra = [column for column in pair.extra_columns if needs.reads(column)] if needs.unjudged else []
    read = dict.fromkeys([*pair.run.keys, "doc_id", "score", *extra])
    systems = None if pair.run.systems is None else pl.Series(pair.run.systems, dtype=pl.String)
    run = Retrieved(
        Rankings.of(pair.run.select(*read).collect(engine="in-memory"), judgments.queries, systems), judgments
    )
    run = run.condensed() if needs.judged_only else run
    asked = (run.judged | run.pooled if needs.elsewhere else run.judged).arg_true()
    asked = row_numbers(run.rows.height) if needs.unjudged else asked
    rows = Rows.of(run, asked)
    if rows.met < run.hits.height:
        search_duplicates("run", pair.run, [*pair.run.keys, "doc_id"])
    of_lines = run.rows.select("doc_id", *(name for name in extra if name != "doc_id"))[asked]
    lines = of_lines.hstack(places(run.rankings, asked, by_id=needs.ties != "input"))
    if needs.elsewhere:
        lines = lines.with_columns(judged_elsewhere=run.pooled[asked].replace(False, None))
    if needs.reads("ideal_rank"):
        judgments = judgments.with_ideal_rank()
    columns = {
        **_gathered(judgments.rows, rows.judgment, needs),
        **_gathered(lines.drop("doc_id"), rows.line, needs),
    }
    if needs.unjudged or needs.elsewhere:
        ids = lines["doc_id"][rows.line]
        columns["doc_id"] = columns["doc_id"].zip_with(rows.judgment.is_not_null(), ids)
    if needs.reads("n_retrieved"):
        columns["n_retrieved"] = run.counts(rows.ranking)
    n_queries = max(len(judgments.queries), 1)
    query = rows.ranking
    if run.rankings.systems is not None:
        columns = {"run": run.rankings.systems[rows.ranking // n_queries], **columns}
        query = query % n_queries
    columns["query_id"] = judgments.queries[query]
    # Rows known to be in the order of their rankings are grouped without a hash of each.
    ranking = rows.ranking.set_sorted() if rows.ranking.is_sorted() else rows.ranking
    return pl.DataFrame({**columns, RANKING: ranking})


def _gathered(frame: pl.DataFrame, numbers: pl.Series, needs: Needs) -> dict[str, pl.Series]:
    """The columns that are read, of the rows with some numbers."""
    return {column.name: column[numbers] for column in frame if needs.reads(column.name)}
