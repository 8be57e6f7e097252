"""`explain`: the contributions of documents to the value of a query.

Conventions: the contribution of a document is the value of the ranking down to it, less that of the ranking down to the
document above; below there, as many unjudged documents follow as were retrieved. So the contributions add up to the
value of any measure that is 0 where nothing judged is retrieved: each is the term of a measure that is a sum over ranks
(nDCG, AP, RBP, ERR), 1/k at each hit of P@k, and the whole value at the first hit of RR.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.engine.relation import collect_checked
from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.errors import SHOWN, Code, ColumnError, Fix, MeasureError, OptionError, fold, nearest, quoted
from polars_ir.frames.advice import check_keys
from polars_ir.frames.kinds import Frame, give_back, to_polars
from polars_ir.frames.roles import KEYS, ROLES, TEXT, columns_of, find, required
from polars_ir.frames.table import run_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.budget import BUDGET, cutoff
from polars_ir.language.catalog import info_of
from polars_ir.language.names import Measures, ResolvedMeasure, arguments_behind, call_behind
from polars_ir.language.options import keys_named, public
from polars_ir.language.words import place, relevant, top
from polars_ir.runs import alternatives
from polars_ir.runs.alternatives import DECIMALS, MEASURED, Frames
from polars_ir.runs.options import Explaining, Showing
from polars_ir.runs.pooled import warn_of_pooled_rows
from polars_ir.runs.selection import selected

#: The last rank of a truncated ranking; and true for a document down to the cutoff of the measure, or in its budget.
DOWN_TO, COUNTED = "polars_ir: down to", "polars_ir: counted"

#: Columns of explained or compared rows, whose names no key of rankings may have.
MADE = (
    *("query", "text", "gain", "discount", "contribution", "value", "ideal_relevance", "lost", "lost_by"),
    *("query_difference", "value_a", "value_b", "rank_a", "rank_b", "contribution_a", "contribution_b", "difference"),
)

#: Names of the ids in files of texts, besides those of their role: BEIR's and others'.
IDS = ("_id", "id")

#: Names of texts; a title precedes the text.
TEXTS, TITLE = ("text", "contents", "body", "passage", "query", "description"), "title"


@public(Showing)
def explain(
    run: Table[FrameT],
    qrels: Any,
    measure: Measures,
    query_id: Any,
    *,
    by: str | Sequence[str] | None = None,
    **options: Unpack[Showing],
) -> FrameT:
    """The ranking of a query, with the contribution of each document to a measure.

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
        One measure: a name, an expression of this package, or an aggregation of your own. One that reads the judgments
        of other queries (`Hole`) cannot be explained.
    query_id
        The judged query, or several.

    Returns
    -------
    The kind of the run
        A row per retrieved document down to the depth, in the order of the ranks, then one per relevant document below
        it, and one per relevant document that was not retrieved, by falling grade: the keys of `by`, the column of
        systems (if there are several), the query column under its name in the run, `query` (String, its text, with
        `queries`), `rank` (UInt32, null if not retrieved), `doc_id`, `text` (String, with `documents`), `relevance`
        (its grade, the highest of its subtopics; null if unjudged), `gain` (its worth to the measure: for most 1 if
        relevant, else 0), `discount` (the divisor of the gain at this rank; null for a measure without one),
        `contribution`, `value` (of the ranking down to this rank; null if not retrieved), all Float64,
        `ideal_relevance` (the grade at this rank of the ideal ranking, grades falling), and `lost` (Boolean): a
        positive gain, and not retrieved down to the depth. Contribution and value are null where the measure is
        undefined, as where no document is relevant.

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
    measured, depth = alternatives.one_measure(measure, "explain"), options["depth"]
    query_ids, frames = ids_of(query_id), alternatives.frames_of(run)
    keys = keys_of(by, frames)
    frames, qrels = selected(frames, qrels, options, keys)
    judgments = None if qrels is None else to_polars("qrels", qrels, column="relevance")
    if judgments is not None:
        check_judged(query_ids, judgments, frames)
    elif not isinstance(frames, dict):
        check_judged(query_ids, frames, frames)
    rows = explained(frames, judgments, measured, query_ids, options, keys)
    if qrels is not None:
        # The whole run shows whether a column is of its documents.
        table = run_table(frames, check=False, by=keys)
        warn_of_pooled_rows(table)
    query = rows.columns[rows.columns.index("rank") - 1]
    of_rank = pl.col("rank").is_not_null() if depth is None else pl.col("rank") <= depth
    is_shown = pl.col(COUNTED) if depth == "cutoff" else of_rank.fill_null(False)
    rows = rows.with_columns(lost=(pl.col("gain") > 0) & ~is_shown)
    # Always show documents that contribute, and those that were lost.
    has_part = (pl.col("contribution") != 0).fill_null(False) & (depth == "cutoff")
    rows = rows.filter(is_shown | pl.col("lost") | has_part).drop(COUNTED)
    return give_back(with_texts(rows, query, options).lazy(), run)


def keys_of(by: str | Sequence[str] | None, run: Frames) -> list[str]:
    """Keys of rankings beside system and query; an error where a run lacks one, or the result has its name."""
    keys = keys_named(by)
    for frame in run.values() if isinstance(run, dict) else [run]:
        schema = frame.collect_schema()
        check_keys("run", keys, columns_of("run", schema, KEYS), schema, MADE)
    return keys


def explained(
    run: Frames,
    qrels: Frame | None,
    measure: ResolvedMeasure,
    query_ids: pl.Series,
    options: Explaining,
    by: Sequence[str] = (),
) -> pl.DataFrame:
    """The explanation of some judged queries; `by` are keys of rankings."""
    ties, judged_only = options["ties"], options["judged_only"]
    judgments = None if qrels is None else _of_queries("qrels", qrels, query_ids)
    rankings = _of_run(run, query_ids, by, labelled=qrels is None)
    pair, plan = alternatives.relation_of(rankings, judgments, measure, ties=ties, judged_only=judged_only, by=by)
    keys, relation = pair.keys, collect_checked(pair, plan)
    retrieved = pl.col("rank").is_not_null()
    # A document that was not retrieved is shown if its gain is positive, and has no rank.
    documents = _documents(measure, relation, pair).filter(retrieved | (pl.col("gain") > 0))
    documents = documents.with_columns(pl.col("rank").fill_null(0).alias(DOWN_TO)).sort(*keys, DOWN_TO)
    values = _values(measure, relation.filter(MEASURED), keys)
    value, above = pl.col("value"), pl.col("value").shift(1).over(keys)
    valued = documents.join_asof(values, on=DOWN_TO, by=keys, check_sortedness=False).with_columns(
        contribution=pl.when(retrieved).then(value - above.fill_null(0.0)).otherwise(value).round(DECIMALS),
        value=pl.when(retrieved).then(value),
    )
    names = ("rank", "doc_id", "relevance", "gain", "discount", "contribution", "value", "ideal_relevance", COUNTED)
    order = {**dict.fromkeys(keys, False), "rank": False, "relevance": True, "doc_id": True}
    ordered = valued.sort(list(order), descending=list(order.values()), nulls_last=True)
    return ordered.select(*keys, *names).rename(pair.run.source_names)


def _values(measure: ResolvedMeasure, relation: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Value of each ranking down to the ranks at which it can change, and of the empty one; null if undefined."""
    k = alternatives.cutoff_of(measure)
    counts = pl.col("rank").is_not_null() if k is None else pl.col("rank") <= k
    ends = relation.filter(counts).select(*keys, pl.col("rank").alias(DOWN_TO))
    empty = relation.select(*keys, pl.lit(0, ends.schema[DOWN_TO]).alias(DOWN_TO))
    read = [column for column in relation.columns if column in {*keys, *measure.expression.meta.root_names()}]
    down_to = pl.col("polars_ir: rank") <= pl.col(DOWN_TO)
    # Columns made of ranks change with the depth; the others belong to the document.
    of_rank = list(filter(read.__contains__, ("rank", "n_higher", "n_tied")))
    values = alternatives.values_of(
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


def _documents(measure: ResolvedMeasure, relation: pl.DataFrame, pair: RunAndQrels) -> pl.DataFrame:
    """A row per document of each ranking, with its gain, its discount and the ideal grade at its rank."""
    keys, call = pair.keys, call_behind(measure)
    arguments: Mapping[str, Any] = call.arguments if call else {}
    rel = arguments.get("rel")
    gain, discount = relevant(1 if rel is None else rel).cast(pl.Float64), pl.lit(None, pl.Float64)
    info = info_of(call) if call else None
    if info and info.gain:
        gain = info.gain(**arguments)
    if info and info.discount:
        discount = info.discount(**arguments)
    counted = top(_cut(measure)).over(keys).fill_null(False).alias(COUNTED)
    documents = relation.filter(pl.col("doc_id").is_not_null()).with_columns(counted)
    if pair.qrels and pair.qrels.per:
        subtopics = documents.group_by(*keys, "doc_id")
        documents = subtopics.agg(pl.col("relevance").max(), pl.col("rank", COUNTED).first())
    documents = documents.with_columns(gain.fill_null(0.0).over(keys).alias("gain"))
    documents = documents.with_columns(discount=pl.when(pl.col("rank").is_not_null()).then(discount))
    judged = documents.filter(pl.col("relevance").is_not_null())
    ideal = judged.select(*keys, rank=place("relevance").over(keys), ideal_relevance="relevance")
    documents = documents.select(*keys, "rank", "doc_id", "relevance", "gain", "discount", COUNTED)
    return documents.join(ideal, on=[*keys, "rank"], how="left")


def ids_of(query_id: Any) -> pl.Series:
    """One query id, or several, as a `pl.Series`."""
    several = isinstance(query_id, Iterable) and not isinstance(query_id, (str, bytes))
    try:
        ids = pl.Series("query_id", list(query_id) if several else [query_id], strict=True)
    except (TypeError, OverflowError, RuntimeError, pl.exceptions.PolarsError):
        says = f"must be a query or several, ids of one type; got {query_id!r:.80}."
        raise OptionError(says, about="query_id") from None
    if ids.is_empty() or ids.null_count() or not (ids.dtype.is_integer() or ids.dtype == pl.String):
        raise OptionError(f"must be the id of a query, or several; got {query_id!r:.80}.", about="query_id")
    return ids


def _of_run(run: Frames, query_ids: pl.Series, by: Sequence[str], *, labelled: bool) -> Frames:
    """Rankings of some queries; a system that answers none of them keeps a row of another, so as to appear."""
    if isinstance(run, dict):
        return {system: _of_frame(frame, query_ids, by) for system, frame in run.items()}
    if labelled:
        return _of_queries("run", run, query_ids)
    system = find("run", "run", run.collect_schema().names())
    return _of_frame(run, query_ids, [*by, *([] if system is None else [system])])


def _of_frame(run: Frame, query_ids: pl.Series, systems: Sequence[str]) -> pl.DataFrame:
    """Rankings of some queries, and a row of each system, by the columns that distinguish them, that answers none."""
    rows = _of_queries("run", run, query_ids)
    if not systems:
        return rows
    others = run.lazy().join(rows.lazy(), on=systems, how="anti").unique(systems, keep="first", maintain_order=True)
    return pl.concat([rows, others.collect()])


def _of_queries(table: str, frame: Frame, query_ids: pl.Series) -> pl.DataFrame:
    name, ids = _query_column(table, frame)
    dtype = frame.collect_schema()[name]
    if dtype != pl.Null and (query_ids.dtype == pl.String) != isinstance(dtype, TEXT):
        raise OptionError(
            f"must be of the type of {table} column {name!r}, {dtype}; got {query_ids.head(3).to_list()!r}.",
            about="query_id",
        )
    return frame.lazy().filter(ids.is_in(query_ids.implode())).collect()


def _query_column(table: str, frame: Frame) -> tuple[str, pl.Expr]:
    """Name of the query column, and its ids as strings or integers."""
    schema = frame.collect_schema()
    name = required(table, "query_id", schema.names())
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
        f"must be judged queries; {first[0]!r} has no judgments"
        f"{', though the run answers it' if answered else ', and the run does not answer it'}."
        f"{nearest(str(first[0]), map(str, judged_ids))} "
        f"There are {', '.join(map(repr, judged_ids.head(SHOWN))) or 'none'}"
        f"{' and more' if len(judged_ids) > SHOWN else ''}.",
        about="query_id",
    )


def _cut(measure: ResolvedMeasure) -> int | pl.Expr | None:
    """The cutoff of a measure, also of one with a budget."""
    given = arguments_behind(measure)
    if given.get("budget") is None or not BUDGET.keys() <= given.keys():
        return alternatives.cutoff_of(measure)
    budget: dict[str, Any] = {name: given.get(name, option.default) for name, option in BUDGET.items()}
    return cutoff(alternatives.cutoff_of(measure), **budget)


def with_texts(rows: pl.DataFrame, query: str, options: Explaining, *, named: str = "") -> pl.DataFrame:
    """The rows with the texts of their documents, and of the queries in the column `query`, `named` in the result."""
    if (named or query) == "query" and options["queries"] is not None:
        fix = Fix("Rename it", Code.renaming("run", {"query": "query_id"}))
        raise ColumnError("has query ids in a column 'query', which holds texts in the result.", about="run", fix=fix)
    rows = with_text(rows, options["documents"], "documents", "doc_id", "doc_id", "text")
    return with_text(rows, options["queries"], "queries", "query_id", query, "query")


def with_text(frame: pl.DataFrame, source: Any, table: str, role: str, column: str, name: str) -> pl.DataFrame:
    """The frame with the texts of the ids in `column` after it, as `name`; null for ids without one."""
    if source is None:
        return frame
    ids = frame.select(pl.col(column).cast(pl.String).alias("polars_ir: id"))
    texts = _texts(source, table, role, ids["polars_ir: id"].unique())
    joined = ids.join(texts, left_on="polars_ir: id", right_on="id", how="left", maintain_order="left")
    return frame.insert_column(frame.columns.index(column) + 1, joined["text"].alias(name))


def _texts(source: Any, table: str, role: str, ids: pl.Series) -> pl.DataFrame:
    """`id` and `text` (String) of some ids."""
    if isinstance(source, Mapping) and all(isinstance(text, str | None) for text in source.values()):
        entries = [(id, source[id]) for id in source if str(id) in set(ids)]
        return pl.DataFrame(
            {"id": [str(id) for id, _ in entries], "text": [text for _, text in entries]},
            schema={"id": pl.String, "text": pl.String},
        )
    if isinstance(source, Mapping) and all(isinstance(parts, Mapping) for parts in source.values()):
        source = _of_parts(source)
    frame = to_polars(table, source, column="text")
    schema = frame.collect_schema()
    id = _first(schema, (*ROLES[role].names, *IDS))
    texts = [name for name in schema if schema[name] == pl.String and name != id]
    text, title = _first(texts, TEXTS), _first(texts, (TITLE,))
    shown = [pl.col(name) for name in (title, text or (None if title else next(iter(texts), None))) if name]
    if id is None or not shown:
        lacks = "ids" if id is None else "texts"
        names = (*ROLES[role].names, *IDS) if id is None else (TITLE, *TEXTS)
        says = f"has no column of {lacks} (recognised names: {', '.join(names)}); it has {quoted(schema.names())}."
        raise ColumnError(says, about=table)
    rows = frame.lazy().select(
        pl.col(id).cast(pl.String).alias("id"), text=pl.concat_str(shown, separator=" ", ignore_nulls=True)
    )
    rows = rows.filter(pl.col("id").is_in(ids.implode()))
    return rows.unique("id", keep="first", maintain_order=True).collect().with_columns(pl.col("text").str.strip_chars())


def _of_parts(corpus: Mapping[Any, Mapping[str, Any]]) -> pl.DataFrame:
    """`{id: {"title": ..., "text": ...}}`, as BEIR holds a corpus, as a frame."""
    names = dict.fromkeys(str(name) for parts in corpus.values() for name in parts)
    rows = [{"_id": str(id), **{name: parts.get(name) for name in names}} for id, parts in corpus.items()]
    return pl.DataFrame(rows, strict=False, infer_schema_length=None)


def _first(columns: Any, names: tuple[str, ...]) -> str | None:
    by_name = {fold(column): column for column in columns}
    return next((by_name[fold(name)] for name in names if fold(name) in by_name), None)
