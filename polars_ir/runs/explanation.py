"""`explain`: where the value of a query comes from, document by document.

Conventions: what a document contributes is the value of the ranking down to it, less that of the ranking down to the
document above; below there, as many unjudged documents follow as were retrieved. So the contributions
add up to the value of any measure that is 0 where nothing judged is retrieved: each is the term of a measure that is a
sum over ranks (nDCG, AP, RBP, ERR), 1/k at each hit of P@k, and all of the value at the first hit of RR.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.engine.pairing import Pair
from polars_ir.engine.ranking import Ties, place
from polars_ir.engine.relation import collect_checked
from polars_ir.errors import SHOWN, ColumnError, MeasureError, OptionError, explain_options, nearest, option
from polars_ir.frames.columns import ROLES, TEXT, find
from polars_ir.frames.kinds import Frame, SameKind, give_back, to_polars
from polars_ir.language.catalog import spec_of
from polars_ir.language.identity import Measured
from polars_ir.language.names import Measures
from polars_ir.language.words import relevant
from polars_ir.runs.alternatives import (
    DECIMALS,
    MEASURED,
    Frames,
    check_measure,
    cutoff_of,
    frames_of,
    one_measure,
    relation_of,
    values_of,
)
from polars_ir.runs.depths import Depth, lost, seen
from polars_ir.runs.texts import with_text

#: The rank that a ranking is taken down to.
DOWN_TO = "polars_ir: down to"


@explain_options
def explain(
    run: Any,
    qrels: Any,
    measure: Measures,
    query_id: Any,
    *,
    depth: Depth = "cutoff",
    documents: Any = None,
    queries: Any = None,
    ties: Ties = "doc_id",
    judged_only: bool = False,
) -> SameKind:
    """The ranking of a query, with what each document contributes to a measure.

    A document contributes the value of the ranking down to it less the value down to the one above, unjudged documents
    following. The contributions add up to what `evaluate` gives, for every measure that is 0 where nothing judged is
    retrieved. They can be negative where a document lowers the value, and for a cost (`Fallout`) they are what a
    document costs.

    Parameters
    ----------
    run
        The run, in any form that `evaluate` takes; of a LazyFrame the rows of these queries are read at once.
    qrels
        The judgments, of documents or of their subtopics; None where the run has a relevance column of its own.
    measure
        One measure: a name, an expression of this package, or an aggregation of your own. One that reads the
        judgments of other queries (`Hole`) can not be explained.
    query_id
        The judged query, or several.
    depth
        How far down the ranking is shown: as far as the measure sees (`"cutoff"`; whole if it has none), to a rank, or
        whole (None). Contributions add up to the value unless a given rank cuts some off.
    documents, queries
        Texts, which then stand behind the ids: a dict `{id: text}` or `{id: {"title": ..., "text": ...}}`, or a frame
        with a column of ids and one called `text`, before which goes a `title`, as `read_beir` has them; of a LazyFrame
        the texts that are shown are read.
    ties, judged_only
        As in `evaluate`; tied documents must have an order, so that `ties="expected"` can not be explained.

    Returns
    -------
    The kind of the run
        A row per retrieved document down to the depth, in the order of the ranks, then one per relevant document below
        it, and one per relevant document that was not retrieved, by falling grade: `run` (if there are several), the
        query column under its name in the run, `query` (String, its text, if given), `rank` (UInt32, null if not
        retrieved), `doc_id`, `text` (String, if given), `relevance` (its grade, the highest of its subtopics; null if
        unjudged), `gain` (what it is worth to the measure: for most 1 if relevant, else 0), `discount` (what that is
        divided by at this rank; null for a measure without one), `contribution`, `value` (of the ranking down to this
        rank; null if not retrieved), all Float64, `ideal_relevance` (the grade at this rank of the ideal ranking,
        grades falling), and `lost` (Boolean): worth something to the measure, and not retrieved down to the depth.
        Contribution and value are null where the measure is undefined, as where no document is relevant.

    Raises
    ------
    IRError
        For a query that was not judged, a measure that is not 0 for a ranking without judged documents (`yaap`,
        `NumRel`), and whatever `evaluate` does not take.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run, qrels = {"q": ["d1", "d2", "d3", "d4"]}, {"q": {"d2": 1, "d3": 0, "d4": 2, "d8": 1, "d9": 1}}
    >>> explanation = ir.explain(run, qrels, "AP", query_id="q")
    >>> explanation.select("rank", "doc_id", "relevance", "contribution", "ideal_relevance").rows()[:4]
    [(1, 'd1', None, 0.0, 2), (2, 'd2', 1, 0.125, 1), (3, 'd3', 0, 0.0, 1), (4, 'd4', 2, 0.125, 1)]
    >>> explanation.filter(ir.rank.is_null())["doc_id"].to_list()
    ['d9', 'd8']
    >>> explanation["contribution"].sum() == ir.evaluate(run, qrels, "AP")["AP"].item()
    True
    """
    expression = explainable(measure, ties, "explain")
    query_ids, frames = ids_of(query_id), frames_of(run)
    judgments = None if qrels is None else to_polars("qrels", qrels, column="relevance")
    if judgments is not None:
        check_judged(query_ids, judgments, frames)
    elif not isinstance(frames, dict):
        check_judged(query_ids, frames, frames)
    rows = explained(frames, judgments, expression, query_ids, ties=ties, judged_only=judged_only)
    query = rows.columns[rows.columns.index("rank") - 1]
    rows = seen(rows, depth, expression).with_columns(lost=lost(depth, expression))
    rows = with_text(rows, documents, "documents", "doc_id", "doc_id", "text")
    return give_back(with_text(rows, queries, "queries", "query_id", query, "query").lazy(), run)


def explainable(measure: Measures, ties: Ties, what: str) -> Measured:
    """The one measure to explain; an error for what can not be explained, whatever the data. `what` asks for it."""
    if ties == "expected":
        expected = option("ties", ties)
        raise OptionError(f"{what} goes with one order of tied documents; {expected} is the mean over all orders.")
    return one_measure(measure, what)


def explained(
    run: Frames, qrels: Frame | None, measure: Measured, query_ids: pl.Series, *, ties: Ties, judged_only: bool
) -> pl.DataFrame:
    """The explanation of some judged queries."""
    judgments = None if qrels is None else _of_queries("qrels", qrels, query_ids)
    rankings = _of_run(run, query_ids, labelled=qrels is None)
    check_measure(rankings, judgments, measure, ties=ties, judged_only=judged_only)
    pair, plan = relation_of(rankings, judgments, measure, ties=ties, judged_only=judged_only)
    keys, relation = pair.keys, collect_checked(pair, plan)
    retrieved = pl.col("rank").is_not_null()
    # A document that was not retrieved is worth looking at if it had something to give, and stands at no rank.
    documents = _documents(measure, relation, pair).filter(retrieved | (pl.col("gain") > 0))
    documents = documents.with_columns(pl.col("rank").fill_null(0).alias(DOWN_TO)).sort(*keys, DOWN_TO)
    values = _values(measure, relation.filter(MEASURED), keys)
    value, above = pl.col("value"), pl.col("value").shift(1).over(keys)
    valued = documents.join_asof(values, on=DOWN_TO, by=keys, check_sortedness=False).with_columns(
        contribution=pl.when(retrieved).then(value - above.fill_null(0.0)).otherwise(value).round(DECIMALS),
        value=pl.when(retrieved).then(value),
    )
    names = ("rank", "doc_id", "relevance", "gain", "discount", "contribution", "value", "ideal_relevance")
    order = {**dict.fromkeys(keys, False), "rank": False, "relevance": True, "doc_id": True}
    ordered = valued.sort(list(order), descending=list(order.values()), nulls_last=True)
    return ordered.select(*keys, *names).rename({"query_id": pair.run.names["query_id"]})


def _values(measure: Measured, relation: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The value of each ranking down to the ranks at which it can change, and of the empty one; null if undefined."""
    k = cutoff_of(measure)
    counts = pl.col("rank").is_not_null() if k is None else pl.col("rank") <= k
    ends = relation.filter(counts).select(*keys, pl.col("rank").alias(DOWN_TO))
    empty = relation.select(*keys, pl.lit(0, ends.schema[DOWN_TO]).alias(DOWN_TO))
    read = [column for column in relation.columns if column in {*keys, *measure.expression.meta.root_names()}]
    down_to = pl.col("polars_ir: rank") <= pl.col(DOWN_TO)
    # What the rank tells is of the ranking; everything else is of the document, and stays.
    of_rank = [column for column in ("rank", "n_higher", "n_tied") if column in read]
    values = values_of(
        measure,
        relation.select(*read, pl.col("rank").alias("polars_ir: rank")),
        pl.concat([empty, ends]).unique(),
        on=keys,
        by=[*keys, DOWN_TO],
        changed=lambda rows: rows.with_columns(pl.when(down_to).then(column).alias(column) for column in of_rank),
    ).sort(*keys, DOWN_TO)
    value = pl.col("value").fill_null(0.0)
    values = values.with_columns(value=pl.when(pl.col("value").last().over(keys).is_not_null()).then(value))
    start = values.filter((pl.col(DOWN_TO) == 0) & (value.round(DECIMALS) != 0))
    if start.height:
        raise MeasureError(
            f"{measure.name!r} is not a sum over the documents of a ranking: without any judged document "
            f"retrieved it is {start['value'][0]:.4g}, not 0. Explain a measure that is, such as nDCG, AP or RBP."
        )
    return values


def _documents(measure: Measured, relation: pl.DataFrame, pair: Pair) -> pl.DataFrame:
    """A row per document of each ranking, with what it is worth to the measure and what stands there at best."""
    keys, call = pair.keys, measure.call
    arguments: Mapping[str, Any] = call.arguments if call else {}
    gain, discount = relevant(arguments.get("rel") or 1).cast(pl.Float64), pl.lit(None, pl.Float64)
    spec = spec_of(call) if call else None
    if spec and spec.gain:
        gain = spec.gain(**arguments)
    if spec and spec.discount:
        discount = spec.discount(**arguments)
    documents = relation.filter(pl.col("doc_id").is_not_null())
    if pair.qrels and pair.qrels.per:
        subtopics = documents.group_by(*keys, "doc_id")
        documents = subtopics.agg(pl.col("relevance").max(), pl.col("rank").first())
    documents = documents.with_columns(gain.fill_null(0.0).over(keys).alias("gain")).with_columns(
        discount=pl.when(pl.col("rank").is_not_null()).then(discount),
    )
    judged = documents.filter(pl.col("relevance").is_not_null())
    ideal = judged.select(*keys, rank=place("relevance").over(keys), ideal_relevance="relevance")
    return documents.join(ideal, on=[*keys, "rank"], how="left")


def ids_of(query_id: Any) -> pl.Series:
    """The queries asked for; a `pl.Series` of any one or several ids."""
    several = isinstance(query_id, Iterable) and not isinstance(query_id, (str, bytes))
    try:
        ids = pl.Series("query_id", list(query_id) if several else [query_id], strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        raise OptionError(
            f"must be a query or several, ids of one type; got {query_id!r:.80}.", about="query_id"
        ) from None
    if ids.is_empty() or ids.null_count() or not (ids.dtype.is_integer() or ids.dtype == pl.String):
        raise OptionError(f"must be the id of a query, or several; got {query_id!r:.80}.", about="query_id")
    return ids


def _of_run(run: Frames, query_ids: pl.Series, *, labelled: bool) -> Frames:
    """The rankings of some queries; a system that answers none of them keeps a row of another, so as to be there."""
    if isinstance(run, dict):
        return {system: _of_queries("run", frame, query_ids) for system, frame in run.items()}
    rows = _of_queries("run", run, query_ids)
    system = find("run", "run", rows.columns)
    if system is None or labelled:
        return rows
    others = run.lazy().join(rows.lazy(), on=system, how="anti").unique(system, keep="first", maintain_order=True)
    return pl.concat([rows, others.collect()])


def _of_queries(table: str, frame: Frame, query_ids: pl.Series) -> pl.DataFrame:
    """The rows of some queries."""
    name, ids = _query_column(table, frame)
    dtype = frame.collect_schema()[name]
    if dtype != pl.Null and (query_ids.dtype == pl.String) != isinstance(dtype, TEXT):
        raise OptionError(
            f"must be of the type of {table} column {name!r}, {dtype}; got {query_ids.head(3).to_list()!r}.",
            about="query_id",
        )
    return frame.lazy().filter(ids.is_in(query_ids.implode())).collect()


def _query_column(table: str, frame: Frame) -> tuple[str, pl.Expr]:
    """The name of the query column, and its ids as strings or integers."""
    schema = frame.collect_schema()
    name = find(table, "query_id", schema.names())
    if name is None:
        raise ColumnError.missing(table, "query_id", ROLES["query_id"], schema.names())
    return name, pl.col(name).cast(pl.String) if isinstance(schema[name], TEXT) else pl.col(name)


def check_judged(query_ids: pl.Series, judgments: Frame, run: Frames) -> None:
    """Raise an error for a query without judgments, with the ids nearest to it."""
    name, ids = _query_column("qrels", judgments)
    judged = _of_queries("qrels", judgments.lazy().select(name), query_ids).select(ids).to_series()
    lacking = query_ids.filter(~query_ids.is_in(judged.implode()))
    if lacking.is_empty():
        return
    first = lacking.head(1)
    rankings = run.values() if isinstance(run, dict) else [run]
    answered = any(_of_queries("run", frame, first).height for frame in rankings)
    judged_ids = judgments.lazy().select(ids.drop_nulls().unique().sort()).collect().to_series()
    raise OptionError(
        f"must be of queries with judgments; {first[0]!r} has none"
        f"{', though the run answers it' if answered else ', and the run does not answer it'}."
        f"{nearest(str(first[0]), map(str, judged_ids))} "
        f"There are {', '.join(map(repr, judged_ids.head(SHOWN))) or 'none'}"
        f"{' and more' if len(judged_ids) > SHOWN else ''}.",
        about="query_id",
    )
