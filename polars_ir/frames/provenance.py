"""The origin of a per-query frame, in two columns of text: one for all of its rows, and one of each query's own rows.

Conventions: the hash of judgments is the same for the same ids and grades in any order and on any machine, and stays so
in other versions of Polars, whose own hashes do not: another hash is an alarm. The hash of a query is by Polars, since
all that another one does is to have the query evaluated anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.frames.roles import PROVENANCE, QUERY_HASH
from polars_ir.frames.table import Table

#: The place of the hash in the text of a plan, which comes to it when the plan is run.
DIGEST = "{}"


def with_provenance(
    result: pl.LazyFrame,
    run: Table,
    qrels: Table | None,
    made: Mapping[str, Any],
    digest: str | pl.LazyFrame | None,
    read: Collection[str],
) -> pl.LazyFrame:
    """The result with columns of what it was `made` with, and of each query's rows, in which `read` counts, too."""
    from polars_ir.version import __version__  # it reads the metadata of installed packages

    plan = digest if isinstance(digest, pl.LazyFrame) else None
    text = json.dumps({"polars_ir": __version__, **made, "judgments": digest if plan is None else DIGEST})
    if plan is None:
        result = result.with_columns(pl.lit(text).alias(PROVENANCE))
    else:
        before, _, after = text.rpartition(DIGEST)
        column = pl.concat_str(pl.lit(before), PROVENANCE, pl.lit(after)).alias(PROVENANCE)
        result = result.join(plan.with_columns(column), how="cross")
    hashed = {"of_run": _hash_of_rows(run, read)} | ({} if qrels is None else {"of_qrels": _hash_of_rows(qrels, read)})
    for name, (keys, rows) in hashed.items():
        result = result.join(rows.rename({QUERY_HASH: name}), on=keys, how="left")
    hashes = [pl.col(name).fill_null(0).cast(pl.String) for name in hashed]
    return result.with_columns(pl.concat_str(hashes, separator="-").alias(QUERY_HASH)).drop(*hashed)


def digest_of(judgments: Table) -> str | pl.LazyFrame:
    """The hash of the ids and grades of judgments, whatever their order; of a plan as a plan of one row."""
    ids = [*judgments.keys, "doc_id", *judgments.per]
    grade = pl.col("relevance")
    written = grade.cast(pl.String)
    if judgments.dtypes["relevance"].is_float():  # 1.0 is 1
        whole = grade.cast(pl.Int64, strict=False)
        written = pl.when(whole == grade).then(whole.cast(pl.String)).otherwise(grade.cast(pl.Float64).cast(pl.String))
    texts = [*(pl.col(name).cast(pl.String).fill_null("") for name in ids), written.fill_null("")]
    rows = judgments.select(*ids, "relevance")
    lines = pl.concat_str(texts, separator="\x1f").sort().str.join("\n")
    digests = pl.map_batches([PROVENANCE], _digests, return_dtype=pl.String).alias(PROVENANCE)
    digest = rows.select(lines.alias(PROVENANCE)).select(digests)
    return str(digest.collect(engine="in-memory").item()) if judgments.eager else digest


def _digests(texts: Sequence[pl.Series]) -> pl.Series:
    """The hash of each text; a function with a name, so that a plan with it can be pickled."""
    return pl.Series([hashlib.blake2b((text or "").encode(), digest_size=8).hexdigest() for text in texts[0]])


def _hash_of_rows(table: Table, read: Collection[str]) -> tuple[list[str], pl.LazyFrame]:
    """The keys of a table's rankings, and the hash of the rows of each, whatever their order."""
    counts = {"doc_id", "score", "relevance", *table.per, *read}
    columns = [name for name in table.columns if name in counts and not (table.numbered and name == "doc_id")]
    values = pl.sum_horizontal(pl.col(name).hash(seed=place) for place, name in enumerate(columns))
    # A sum of hashes would not tell which score is of which document.
    rows = table.select(*table.keys, *columns).group_by(table.keys).agg(values.hash().sum().alias(QUERY_HASH))
    return table.keys, rows
