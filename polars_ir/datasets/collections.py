"""Test collections: the small one that ships with the package, and those of the package `ir_datasets`."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from importlib.resources import as_file, files
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import polars as pl

from polars_ir.errors import ExtraError, FileError, OptionError, nearest
from polars_ir.files import read_qrels
from polars_ir.language.options import public

NAMES = ("pydocs",)

#: Dtypes of the fields of records of `ir_datasets`; a field of another type (a list, a dict) is left out.
_DTYPES: dict[object, type[pl.DataType]] = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}

#: Records of `ir_datasets` become a frame this many at a time, since as Python objects they take ten times the memory.
_BATCH = 100_000

_Part = Literal["queries", "qrels", "scoreddocs"]


class Dataset:
    """A test collection, each part of which is read on first access.

    Attributes
    ----------
    queries
        `query_id` (String), `text` (String) and other columns of the queries.
    qrels
        `query_id`, `doc_id` (String), `relevance` (Int64) and other columns of the judgments.
    runs
        `query_id`, `doc_id` (String), `score` (Float64): the run of a system, or, with a column `run` (String), of
        several.
    """

    def __init__(
        self, queries: Callable[[], pl.DataFrame], qrels: Callable[[], pl.DataFrame], runs: Callable[[], pl.DataFrame]
    ) -> None:
        self._queries, self._qrels, self._runs = queries, qrels, runs

    @cached_property
    def queries(self) -> pl.DataFrame:
        """The queries and their texts."""
        return self._queries()

    @cached_property
    def qrels(self) -> pl.DataFrame:
        """The judgments."""
        return self._qrels()

    @cached_property
    def runs(self) -> pl.DataFrame:
        """The runs."""
        return self._runs()


@public()
def load(name: str) -> Dataset:
    """A bundled test collection.

    `pydocs`: questions a programmer asks, graded 0 to 3 against entries of the Python standard library, with the runs
    of three systems (`bm25`, `tfidf`, `chargrams`) of 100 documents a query. `polars_ir/pydocs/README.md` describes how
    it was made and judged, and its limits.

    Parameters
    ----------
    name
        `"pydocs"`.

    Returns
    -------
    Dataset
        `queries` with `query_id`, `text`, `category`; `qrels` with `query_id`, `doc_id`, `relevance`; `runs` with
        `run`, `query_id`, `doc_id`, `score`.

    Raises
    ------
    IRError
        For an unknown name.

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10").ir.mean()["run"].to_list()
    ['bm25', 'chargrams', 'tfidf']
    """
    if name not in NAMES:
        raise OptionError.value("name", name, NAMES)
    folder = files("polars_ir") / name

    def read(reader: Callable[..., pl.DataFrame], file: str) -> pl.DataFrame:
        with as_file(folder / file) as path:
            return reader(path)

    return Dataset(
        queries=partial(read, partial(pl.read_csv, separator="\t", quote_char=None), "queries.tsv"),
        qrels=partial(read, read_qrels, "qrels.txt"),
        runs=partial(read, pl.read_parquet, "runs.parquet"),
    )


@public()
def from_ir_datasets(name: str) -> Dataset:
    """A test collection of the package `ir_datasets`, which downloads a part on first access.

    Parameters
    ----------
    name
        Its name there, of a set with judgments, such as `"beir/scifact/test"`.

    Returns
    -------
    Dataset
        Each part with the fields of its records that are texts or numbers, under the names they have there: `queries`
        with `query_id` and `text` or other texts, `qrels` with `query_id`, `doc_id`, `relevance` and perhaps
        `iteration`, `runs` with `query_id`, `doc_id`, `score`: the documents to rank again. A part that
        the dataset does not have, but for its judgments, is an empty frame.

    Raises
    ------
    ExtraError
        `ir_datasets` is not installed.
    OptionError
        There is no such dataset, or it has no judgments; the message names others.
    FileError
        On access to a part that cannot be downloaded or read; the message has the reason.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.datasets.from_ir_datasets("beir/scifact/test").qrels  # doctest: +SKIP
    >>> ir.datasets.from_ir_datasets("beir/scifakt/test")  # doctest: +SKIP
    Traceback (most recent call last):
    polars_ir.errors.OptionError: ir_datasets has no 'beir/scifakt/test'. Did you mean 'beir/scifact/test'?
    """
    try:
        ir_datasets = importlib.import_module("ir_datasets")
    except ImportError:
        raise ExtraError.missing("from_ir_datasets", "datasets") from None
    try:
        dataset = ir_datasets.load(name)
    except (KeyError, TypeError):
        near = nearest(name, ir_datasets.registry) if isinstance(name, str) else ""
        raise OptionError(f"ir_datasets has no {name!r}.{near}") from None
    if not dataset.has_qrels():
        raise OptionError(f"{name!r} has no judgments.{_with_judgments(name, ir_datasets)}")
    no_runs = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    return Dataset(
        queries=partial(_part, name, dataset, "queries", {"query_id": pl.String, "text": pl.String}),
        qrels=partial(_part, name, dataset, "qrels", {}),
        runs=partial(_part, name, dataset, "scoreddocs", no_runs),
    )


def _with_judgments(name: str, ir_datasets: Any) -> str:
    """The subsets of a dataset that have this component, for a message."""
    subsets = [other for other in ir_datasets.registry if other.startswith(f"{name}/")]
    judged = [repr(other) for other in subsets if ir_datasets.load(other).has_qrels()]
    return f" These have some: {', '.join(judged[:10])}." if judged else ""


def _part(name: str, dataset: Any, part: _Part, lacking: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """The records of a part of a dataset as a frame."""
    if not dataset.has(part):
        return pl.DataFrame(schema=dict(lacking))
    try:
        schema = _schema(getattr(dataset, f"{part}_cls")())
        batches = _batches(getattr(dataset, f"{part}_iter")())
        rows = ({field: [getattr(record, field) for record in batch] for field in schema} for batch in batches)
        return pl.concat([pl.DataFrame(schema=schema), *(pl.DataFrame(batch, schema=schema) for batch in rows)])
    except Exception as error:  # a download or a parser of another package may fail with anything
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]:.200}"
        raise FileError.of_file(name, f"its {part} cannot be read through ir_datasets: {reason}") from error


def _schema(record: type) -> dict[str, type[pl.DataType]]:
    """The columns of a kind of record: its fields that are texts or numbers."""
    kinds = {field: _kind(hint) for field, hint in get_type_hints(record).items()}
    return {field: _DTYPES[kind] for field, kind in kinds.items() if kind in _DTYPES}


def _kind(hint: object) -> object:
    """The type of a field; `Optional` is that of its values."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if get_origin(hint) in (Union, UnionType) and len(kinds) == 1 else hint


def _batches(records: Iterable[Any]) -> Iterator[list[Any]]:
    records = iter(records)
    while batch := list(itertools.islice(records, _BATCH)):
        yield batch
