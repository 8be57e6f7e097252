"""The rankings of a report, of the most telling queries, with each document's contribution, and the evidence missing.

Conventions: a document of a query stands once, with its grade and text, and its places refer to it. Kept are those that
some system has down to the depth, and the first relevant ones that none has.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Any

import polars as pl

from polars_ir.errors import IRError
from polars_ir.language.catalog import MeasureCall, info_of
from polars_ir.language.names import ResolvedMeasure, arguments_behind, call_behind, resolve
from polars_ir.language.options import is_number
from polars_ir.per_query.difficulty import hardest
from polars_ir.reports.content import Documents, Missing, Rankings
from polars_ir.reports.experiment import Experiment
from polars_ir.runs.alternatives import cutoff_of
from polars_ir.runs.explain import explain, with_text
from polars_ir.runs.missing_evidence import missing_evidence
from polars_ir.runs.options import Reporting

LOG = logging.getLogger(__name__)

#: The documents of a ranking that are shown, unless the measure has a lower cutoff, and those that are looked up.
DEPTH, LOOKED_UP = 10, 100

#: The relevant documents of a query that no system has down to the depth: the most that are kept.
MISSED = 20

#: Number of queries whose missing evidence is looked up.
DROPS = 5

#: Maximum length of a text.
LONGEST_TEXT = 600

#: Default number of queries whose rankings are kept.
N_QUERIES = 200


def kept(per_query: pl.DataFrame, measure: str, pair: Sequence[str], n: int) -> list[str]:
    """The queries whose rankings are kept: in turn where a pair or any systems differ most, the hardest, unanswered."""
    per_query = per_query.select("run", "query_id", measure)
    hard = hardest(per_query, measure, n=None)
    apart = hard.sort((pl.col("best") - pl.col("worst")).abs().round(9), "query_id", descending=[True, False])
    lacking = per_query.group_by("query_id").agg(pl.len()).filter(pl.col("len") < per_query["run"].n_unique())
    gained = [_gained(per_query, measure, *systems) for systems in (pair, pair[::-1]) if len(pair) == 2]
    turns = zip_longest(*(frame["query_id"] for frame in (*gained, apart, hard, lacking.sort("query_id"))))
    ids = [id for id in dict.fromkeys(chain.from_iterable(turns)) if id is not None]
    return ids[:n]


def _gained(per_query: pl.DataFrame, measure: str, system: str, other: str) -> pl.DataFrame:
    """Queries with a higher value of one system than of another, largest difference first."""
    both = per_query.filter(run=system).join(per_query.filter(run=other), on="query_id")
    # As in `hardest`: what only rounding makes of equal values is no gain.
    gain = (pl.col(measure) - pl.col(f"{measure}_right")).round(9)
    return both.filter(gain > 0).sort(gain, "query_id", descending=[True, False])


def rankings_of(
    experiment: Experiment, documents: Any, pair: Sequence[str], n_queries: int, options: Reporting
) -> Rankings | None:
    """The rankings of some queries, down to a depth; None where only figures are known, or nothing can be explained."""
    per_query, measures, systems, rows, qrels, *_ = experiment
    if rows is None or not n_queries:
        return None
    ids = kept(per_query, measures[0], pair, n_queries)
    LOG.info("explaining the rankings of %d queries", len(ids))
    for measure in (*experiment.resolved, *resolve("nDCG@10")):
        # What a document adds to a measure of the user's own need not be what they would expect.
        call = call_behind(measure)
        if call and (explained := _explained(rows, qrels, call, ids, options)) is not None:
            depth = min(cutoff_of(measure) or DEPTH, DEPTH)
            shown = documents_of(explained, systems, documents, depth)
            return {"measure": measure.name, "depth": depth, "queries": ids, **shown}
    return None


def _explained(
    rows: pl.DataFrame, qrels: Any, call: MeasureCall, ids: Sequence[str], options: Reporting
) -> pl.DataFrame | None:
    """The rankings with contributions to a measure; None for a measure that cannot be explained."""
    ranking: Any = {name: options[name] for name in ("ties", "judged_only")}
    ours: Any = pl.Series("query_id", ids).cast(rows.schema["query_id"]).to_list()
    # What a tool counts for a query without a relevant document is no document's contribution.
    measure = info_of(call).function(**call.arguments)
    try:
        explained: pl.DataFrame = explain(rows, qrels, measure, ours, depth=LOOKED_UP, **ranking)
    except IRError:
        return None
    return explained


def documents_of(explained: pl.DataFrame, systems: Sequence[str], documents: Any, depth: int) -> Documents:
    """The documents, and their places in the rankings."""
    id = pl.col("query_id", "doc_id").cast(pl.String)
    rows = explained.with_columns(id, pl.col("gain").fill_null(0.0))
    of_document = [pl.col("relevance", "gain").first(), pl.col("rank").min().alias("first")]
    found = rows.group_by("query_id", "doc_id", maintain_order=True).agg(of_document)
    found = found.with_columns(shown=(pl.col("first") <= depth).fill_null(False))
    missed = pl.when(~pl.col("shown")).then(pl.col("gain")).rank("ordinal", descending=True).over("query_id")
    is_missed = (pl.col("gain") > 0) & ~pl.col("shown")
    counts = found.group_by("query_id", maintain_order=True).agg(missed=is_missed.sum())
    found = found.filter(pl.col("shown") | (is_missed & (missed <= MISSED)).fill_null(False))
    found = found.select("query_id", "doc_id", "relevance", "gain").with_row_index("document")
    places = rows.join(found.select("document", "query_id", "doc_id"), on=["query_id", "doc_id"])
    system = pl.col("run").cast(pl.String).replace_strict(systems, range(len(systems)), return_dtype=pl.UInt32)
    places = places.filter(pl.col("rank").is_not_null()).select("document", system, "rank", "contribution")
    texts = with_text(found, documents, "documents", "doc_id", "doc_id", "text")
    if "text" in texts.columns:
        length = pl.col("text").str.len_chars()
        cut = pl.when(length > LONGEST_TEXT).then(length).alias("length")
        texts = texts.with_columns(cut, pl.col("text").str.slice(0, LONGEST_TEXT))
    return {
        "documents": texts.drop("document").to_dict(as_series=False),
        "places": places.to_dict(as_series=False),
        "missed": dict(counts.iter_rows()),
        "most_missed": MISSED,
        "longest_text": LONGEST_TEXT,
        "looked_up": LOOKED_UP,
    }


def missing_of(experiment: Experiment, pair: Sequence[str]) -> Missing | None:
    """The groups of evidence that the first of a pair lacks in its largest drops, and whether the other lacks them too.

    None where no runs are known, and where none lacks any.
    """
    per_query, measures, _, rows, qrels, *_ = experiment
    if rows is None or qrels is None or len(pair) < 2:
        return None
    values = per_query.select("run", "query_id", measures[0])
    drops = hardest(values, measures[0], n=DROPS, run=pair[0], baseline=pair[1])
    found = list(map(_first_relevant, experiment.resolved))
    k, rel = next((each for each in found if each[0]), found[0])
    k = k or DEPTH
    try:
        runs = (rows.filter(run=system).drop("run") for system in pair)
        missing, others = (missing_evidence(run, qrels, k, rel=rel) for run in runs)
    except IRError:  # judgments of another kind, such as preferences
        return None
    both = others.select("query_id", "subtopic", in_neither=True)
    missing = missing.join(both, on=["query_id", "subtopic"], how="left", maintain_order="left")
    lacking = missing.select(
        pl.col("query_id", "doc_id").cast(pl.String), "rank", pl.col("in_neither").fill_null(value=False)
    )
    lacking = lacking.filter(pl.col("query_id").is_in(drops["query_id"].implode()))
    # Where all was found, or no grade is relevant, there is nothing to show.
    return None if lacking.is_empty() else {"k": k, "rel": rel, "rows": lacking.to_dict(as_series=False)}


def _first_relevant(measure: ResolvedMeasure) -> tuple[int | None, float]:
    """The cutoff of a measure, and the lowest grade that is relevant to it, 1 where it names none."""
    rel = arguments_behind(measure).get("rel")
    return cutoff_of(measure), rel if is_number(rel) else 1
