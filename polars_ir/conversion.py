"""Tables of any kind to Polars frames, and results back to the kind that came.

Conventions: a LazyFrame stays lazy, pandas comes back as pandas, every other table as a Polars DataFrame. pandas,
Arrow and Hugging Face's datasets are recognised without being imported.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from itertools import repeat
from numbers import Integral, Real
from os import PathLike
from typing import Any

import polars as pl

from polars_ir.errors import ColumnError, DataError, DtypeError, ExtraError, InputTypeError, explain_options

Frame = pl.DataFrame | pl.LazyFrame

#: From how many rows on the streaming engine is faster than the in-memory one on data in memory (measured).
STREAMING_ROWS = 500_000


#: The modules whose classes are datasets; a module of the user's may be called `datasets`, too.
HUGGING_FACE = ("datasets.arrow_dataset", "datasets.iterable_dataset", "datasets.dataset_dict")


def to_polars(table: str, value: object, *, column: str) -> Frame:
    """Any table as a Polars frame; nested dicts, and named tuples, become rows with their values in `column`."""
    if isinstance(value, (pl.DataFrame, pl.LazyFrame)):
        return value
    if isinstance(value, (str, PathLike)):
        raise InputTypeError.path(table, value)
    if _is_hugging_face(value):
        return _from_hugging_face(table, value)
    if isinstance(value, Mapping):
        if holds_systems(value):
            raise InputTypeError.several_tables(table, list(value))
        return _from_mapping(table, value, column)
    if is_pandas(value):
        return _from_pandas(table, value)
    if type(value).__module__.startswith("pyspark"):
        raise InputTypeError(
            f"{table} is a Spark frame: polars_ir.spark.evaluate keeps it on the cluster; .toArrow() brings it here."
        )
    if hasattr(value, "__arrow_c_stream__"):
        return pl.DataFrame(value)
    if isinstance(value, Iterable):
        return _from_named_tuples(table, value, column)
    raise InputTypeError.not_a_table(table, value)


def give_back(result: Frame, like: object) -> Any:
    """A result in the kind of the input: a LazyFrame for a LazyFrame, pandas for pandas, else a DataFrame."""
    first = next(iter(like.values()), None) if isinstance(like, Mapping) else like
    if isinstance(first, pl.LazyFrame):
        return result
    frame = result.lazy().collect(engine="in-memory") if isinstance(result, pl.LazyFrame) else result
    if not is_pandas(first):
        return frame
    # Ids of UInt64 and Int64 meet in Int128, which pandas does not have.
    wide = {name: frame[name] for name, dtype in frame.schema.items() if dtype == pl.Int128}
    casts = {name: ids.cast(pl.UInt64 if (ids >= 0).all() else pl.Int64) for name, ids in wide.items()}
    return frame.with_columns(**casts).to_pandas()


def collect(frame: pl.LazyFrame, rows: int) -> pl.DataFrame:
    """Collect a plan over data in memory with the engine that is faster at this number of rows."""
    return frame.collect(engine="streaming" if rows >= STREAMING_ROWS else "in-memory")


def is_pandas(value: object) -> bool:
    """Whether a value is a pandas frame, without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _is_hugging_face(value: object) -> bool:
    """Whether a value is a dataset or a dict of splits of the package `datasets`, without importing it."""
    return type(value).__module__ in HUGGING_FACE


def holds_systems(value: Mapping[Any, Any]) -> bool:
    """Whether a mapping is from systems to runs, not from queries to documents or from splits to their rows."""
    if _is_hugging_face(value):
        return False
    for one in value.values():
        if isinstance(one, (pl.DataFrame, pl.LazyFrame)) or is_pandas(one) or hasattr(one, "__arrow_c_stream__"):
            return True
        if _is_hugging_face(one):
            return True
        if isinstance(one, Mapping) and one:
            return isinstance(next(iter(one.values())), (Mapping, list, tuple, set, frozenset))
    return False


@explain_options
def from_lists(
    frame: Any,
    *,
    query: str = "query_id",
    retrieved: str = "retrieved",
    scores: str | None = None,
    relevant: str = "relevant",
    grades: str | None = None,
) -> tuple[Any, Any]:
    """A run and qrels from a table with one row per query and its documents in lists, as RAG logs have them.

    Parameters
    ----------
    frame
        Polars DataFrame or LazyFrame, pandas or Arrow; one row per query.
    query
        Column of query ids.
    retrieved
        List column of the retrieved ids, best first.
    scores
        List column of their scores; by default `scores` where there is one. Without scores the order of the list is
        the ranking.
    relevant
        List column of the relevant ids.
    grades
        List column of their grades; by default `grades` where there is one. Without grades each is 1.

    Returns
    -------
    (run, qrels)
        `query_id`, `doc_id`, `score` (that of the lists; without scores Int64, the length of the list falling to 1),
        and `query_id`, `doc_id`, `relevance` (that of the lists, or Int64). A query whose list of
        relevant ids is empty stays in the qrels, as a row without document and grade: it is evaluated, and no document
        is relevant to it.

    Raises
    ------
    IRError
        For a column that is not there or is not a list, lists of different length in a row, or a query given twice.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> log = pl.DataFrame({"query_id": ["q"], "retrieved": [["d1", "d2"]], "relevant": [["d2", "d3"]]})
    >>> run, qrels = ir.from_lists(log)
    >>> run.ir.recall(qrels, k=2).row(0)
    ('q', 0.5)
    """
    table = to_polars("frame", frame, column="score")
    columns = table.collect_schema()
    scores = scores or ("scores" if "scores" in columns else None)
    grades = grades or ("grades" if "grades" in columns else None)
    table = table.with_columns(pl.col(name).arr.to_list() for name, dtype in columns.items() if dtype == pl.Array)
    _check_lists(table, query, [(retrieved, scores), (relevant, grades)])
    rows = table.lazy()
    falling = pl.int_ranges(pl.col(retrieved).list.len().cast(pl.Int64), 0, -1)
    run = _exploded(rows, query, doc_id=pl.col(retrieved), score=falling if scores is None else pl.col(scores))
    if grades is None:
        qrels = _exploded(rows, query, doc_id=pl.col(relevant)).with_columns(relevance=1)
    else:
        qrels = _exploded(rows, query, doc_id=pl.col(relevant), relevance=pl.col(grades))
    nothing = rows.filter(length_of(relevant) == 0).select(query_id=query, doc_id=None, relevance=None)
    return give_back(run, frame), give_back(pl.concat([qrels, nothing], how="vertical_relaxed"), frame)


def _exploded(rows: pl.LazyFrame, query: str, **lists: pl.Expr) -> pl.LazyFrame:
    """A row per element of the lists; none for an empty list."""
    # Polars 1 and 2 differ in what they make of an empty list, so that none may come to `explode`.
    columns = rows.select(pl.col(query).alias("query_id"), **lists).filter(length_of("doc_id") > 0)
    return columns.explode(*lists, empty_as_null=False)


def length_of(column: str) -> pl.Expr:
    """The length of a list; 0 for a missing one."""
    return pl.col(column).list.len().fill_null(0)


def _check_lists(table: Frame, query: str, pairs: list[tuple[str, str | None]]) -> None:
    schema = table.collect_schema()
    lists = [name for pair in pairs for name in pair if name is not None]
    for name in (query, *lists):
        if name not in schema:
            raise ColumnError.no_list(name, schema.names())
    for name in lists:
        if not isinstance(schema[name], pl.List):
            raise DtypeError.of_column("frame", name, "a list", schema[name], "Split it: .str.split(',').")
    if not isinstance(table, pl.DataFrame):
        return
    for ids, values in pairs:
        unequal = pl.lit(False) if values is None else length_of(ids) != length_of(values)
        if count := int(table.select(unequal.sum()).item()):
            shown = table.filter(unequal).select(query, ids, str(values))
            raise DataError.rows(
                "frame", f"whose {ids!r} and {values!r} differ in length", "Give each document one value.", count, shown
            )
    if count := int(table[query].is_duplicated().sum()):
        shown = table.filter(pl.col(query).is_duplicated()).select(query, *lists)
        raise DataError.rows("frame", f"with the {query!r} of another row", "Keep one row a query.", count, shown)


def _from_pandas(table: str, value: Any) -> pl.DataFrame:
    """A pandas frame as a Polars one; an index with a name counts as a column, since `set_index` makes ids one."""
    if any(name is not None for name in value.index.names):
        value = value.reset_index()
    try:
        return pl.from_pandas(value)
    except ImportError:
        raise ExtraError.missing("a pandas frame", "pandas") from None
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InputTypeError(
            f"{table} has a column with values of several types: {error}. Make it one: {table}.astype({{'...': str}})."
        ) from None


def _from_hugging_face(table: str, value: Any) -> pl.DataFrame:
    """A split of a Hugging Face dataset, with the selections and the order that were made of its rows."""
    if isinstance(value, Mapping):
        splits = ", ".join(map(repr, value))
        raise InputTypeError(f"{table} is a {type(value).__name__} with the splits {splits}. Take one: {table}['...'].")
    frame: pl.DataFrame = value.to_polars()
    return frame


def _from_named_tuples(table: str, value: Iterable[Any], column: str) -> pl.DataFrame:
    """Named tuples, such as ir_measures' `ScoredDoc` and `Qrel`, a row each."""
    rows = iter(value)
    first = next(rows, None)
    names = getattr(first, "_fields", None)
    if names is None:
        raise InputTypeError.not_a_table(table, value)
    every = [first, *rows]
    if other := next((row for row in every if getattr(row, "_fields", None) != names), None):
        raise InputTypeError(f"{table} must be tuples with the fields {', '.join(names)}; got {other!r:.80}.")
    columns = zip(names, zip(*every, strict=True), strict=True)
    try:
        return pl.DataFrame({name: (_numbers if name == column else _ids)(list(values)) for name, values in columns})
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise InputTypeError(f"{table} mixes types in one of its fields: {error}") from None


def _from_mapping(table: str, value: Mapping[Any, Any], column: str) -> pl.DataFrame:
    """`{query: {doc: value}}` and `{query: [doc, ...]}` as rows.

    A list is a ranking in a run, and the relevant documents, each of grade 1, in qrels. A query without documents
    leaves no row in a run; in qrels it leaves one that says that the query was judged.
    """
    queries: list[Any] = []
    docs: list[Any] = []
    values: list[Any] = []
    for query, documents in value.items():
        if not isinstance(documents, Collection) or isinstance(documents, (str, bytes)):
            raise InputTypeError.not_a_table(f"{table}[{query!r}]", documents)
        of_query = _values(documents, column)
        queries.extend(repeat(query, len(of_query)))
        docs.extend(documents or [None] * len(of_query))
        values.extend(of_query)
    try:
        return pl.DataFrame({"query_id": _ids(queries), "doc_id": _ids(docs), column: _numbers(values)})
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise InputTypeError(f"{table} mixes types among its ids or its values: {error}") from None


def _values(documents: Collection[Any], column: str) -> list[Any]:
    """The scores or grades of a query's documents; None for qrels without any."""
    if column == "relevance" and not documents:
        return [None]
    if isinstance(documents, Mapping):
        return list(documents.values())
    return [1] * len(documents) if column == "relevance" else list(range(len(documents), 0, -1))


def _ids(values: list[Any]) -> pl.Series:
    series = pl.Series(values, strict=True)
    return series.cast(pl.String) if series.dtype == pl.Null else series


def _numbers(values: list[Any]) -> pl.Series:
    """Numbers as Int64 or, if one has a point, Float64: one dtype, whichever comes first."""
    given = [value for value in values if value is not None]
    if all(isinstance(value, Integral) for value in given):
        return pl.Series([None if value is None else int(value) for value in values], dtype=pl.Int64)
    if all(isinstance(value, Real) for value in given):
        return pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
    return pl.Series(values, strict=True)
