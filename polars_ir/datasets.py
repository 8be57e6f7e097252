"""The test collection that ships with the package."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files

import polars as pl

from polars_ir.errors import OptionError, explain_options
from polars_ir.files import read_qrels

NAMES = ("pydocs",)


@dataclass(frozen=True)
class Dataset:
    """A test collection.

    Attributes
    ----------
    queries
        `query_id`, `text`, `category` (String).
    qrels
        `query_id`, `doc_id` (String), `relevance` (Int64).
    runs
        `run`, `query_id`, `doc_id` (String), `score` (Float64): the runs of several systems.
    """

    queries: pl.DataFrame
    qrels: pl.DataFrame
    runs: pl.DataFrame


@explain_options
def load(name: str) -> Dataset:
    """A bundled test collection.

    `pydocs`: questions a programmer asks, graded 0 to 3 against entries of the Python standard library, with the runs
    of three systems (`bm25`, `tfidf`, `chargrams`) of 100 documents a query. `polars_ir/pydocs/README.md` tells how it
    was made and judged, and what it is not good for.

    Parameters
    ----------
    name
        `"pydocs"`.

    Raises
    ------
    IRError
        For a name there is not.

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10").ir.mean()["run"].to_list()
    ['bm25', 'chargrams', 'tfidf']
    """
    if name not in NAMES:
        raise OptionError.value("name", name, NAMES)
    with as_file(files("polars_ir") / name) as folder:
        return Dataset(
            queries=pl.read_csv(folder / "queries.tsv", separator="\t", quote_char=None),
            qrels=read_qrels(folder / "qrels.txt"),
            runs=pl.read_parquet(folder / "runs.parquet"),
        )
