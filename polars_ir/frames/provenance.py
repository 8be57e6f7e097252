"""Origin of a per-query frame, in two columns of text: one for all of its rows, and one of each query's own rows.

Conventions: the hash of judgments is the same for the same ids and grades in any order and on any machine, and stays so
in other versions of Polars, whose own hashes do not: another hash is an alarm. It is of the hashes of the queries'
judgments, which are sums of a number of each row, so that nothing is sorted but queries. The hash of a query is that of
its rows in the run, and that of its judgments. The first is by Polars, a twentieth of the time of one of our own, and
another one in other versions of it, all that comes of which is that queries are evaluated anew.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import Frame, collected
from polars_ir.frames.roles import PROVENANCE, QUERY_HASH
from polars_ir.language.columns import canonical_name

#: Place of the hash in the text of a plan, which is filled in when the plan runs.
DIGEST = "{}"

#: The entries of what figures do not depend on, and that of what those of a query depend on only by its own judgments.
VERSION, POLARS, JUDGMENTS = "polars_ir", "polars", "judgments"

#: The entries of tables beside run and judgments.
TABLES = ("history", "items")

#: Column of the hashes of the judgments of each query.
JUDGED = "polars_ir: judged"

#: An odd number, multiplication by which changes all higher bits.
SPREAD = 0x9E3779B97F4A7C15

#: Bytes of texts that are read at a time.
PIECE = 64


def with_provenance(
    result: pl.LazyFrame,
    run: CanonicalFrame,
    qrels: CanonicalFrame | None,
    judged: Frame | None,
    made: Mapping[str, Any],
    read: Collection[str],
) -> pl.LazyFrame:
    """The result with columns of what it was `made` with, and of each query's rows, in which `read` counts, too.

    `judged` are the hashes of the queries of qrels.
    """
    digest = None if judged is None or qrels is None else digest_of(judged, qrels.keys)
    if digest is None or isinstance(judged, pl.DataFrame):
        text = text_of(made, None if digest is None else collected(digest).item())
        result = result.with_columns(pl.lit(text).alias(PROVENANCE))
    else:
        before, _, after = text_of(made, DIGEST).rpartition(DIGEST)
        column = pl.concat_str(pl.lit(before), PROVENANCE, pl.lit(after)).alias(PROVENANCE)
        result = result.join(digest.with_columns(column), how="cross")
    rankings = rankings_of(run, read, in_order=made["ties"] == "input", beside=tables_of(made))
    return with_query_hash(result, rankings, qrels, judged, read)


def tables_of(made: Mapping[str, Any]) -> str:
    """The hashes of a history and of items, on which the figures of every query depend; nothing without such."""
    return "-".join(str(made[name]) for name in TABLES if made.get(name))


def text_of(made: Mapping[str, Any], digest: str | None) -> str:
    """Text of the options of figures, and of the hash of the judgments."""
    from polars_ir.version import __version__  # it reads the metadata of installed packages

    return json.dumps({VERSION: __version__, POLARS: pl.__version__, **made, JUDGMENTS: digest})


def versions_of(made: Mapping[str, Any]) -> str:
    """Versions that figures were made by, on which the hashes of queries depend."""
    return " and ".join(f"{name} {made[name]}" for name in (VERSION, POLARS) if name in made)


def rankings_of(run: CanonicalFrame, read: Collection[str], *, in_order: bool, beside: str = "") -> CanonicalFrame:
    """The rankings of a run, each with the hash of its rows; `in_order` says that the order of these counts.

    The hash of what is `beside` the run goes into each.
    """
    rows = _hash_of_rows(run, read, in_order=in_order)
    if beside:
        seed = int(hashlib.blake2b(beside.encode(), digest_size=8).hexdigest(), 16)
        rows = rows.with_columns(pl.col(QUERY_HASH).hash(seed=seed))
    return run.with_frame(rows)


def with_query_hash(
    rows: pl.LazyFrame,
    rankings: CanonicalFrame,
    qrels: CanonicalFrame | None,
    judged: Frame | None,
    read: Collection[str],
) -> pl.LazyFrame:
    """Rows with keys of rankings, and the hash of each query, by those of the rankings and their judgments."""
    hashed = {"of_run": (rankings.keys, rankings.all_columns())}
    if qrels is not None and judged is not None:
        hashed["of_qrels"] = qrels.keys, judged.lazy().rename({JUDGED: QUERY_HASH})
        others = set(qrels.columns).difference(qrels.document, qrels.per, ["relevance"])
        if not others.isdisjoint(read):
            hashed["of_others"] = qrels.keys, _hash_of_rows(qrels, read)
    for name, (keys, of_keys) in hashed.items():
        rows = rows.join(of_keys.rename({QUERY_HASH: name}), on=keys, how="left")
    hashes = [pl.col(name).fill_null(0).cast(pl.String) for name in hashed]
    return rows.with_columns(pl.concat_str(hashes, separator="-").alias(QUERY_HASH)).drop(*hashed)


def judged_of(query_hash: pl.Expr) -> pl.Expr:
    """The hash of the judgments of a query, of its whole hash; of a run that holds its grades, of the run."""
    return query_hash.str.extract(r"^(?:\d+-)?(.*)$")


def is_unanswered(query_hash: pl.Expr) -> pl.Expr:
    """True where the run has no row of a query, by its hash."""
    return query_hash.str.starts_with("0-")


def hashes_of(judgments: CanonicalFrame) -> Frame:
    """The keys of judgments, and the hash of the ids and grades of each query, whatever their order."""
    read = ["doc_id", *judgments.per, "relevance"]
    rows = judgments.select(*judgments.keys, *read)
    number = pl.map_batches(read, _numbers, return_dtype=pl.UInt64, is_elementwise=True)
    hashes = rows.with_columns(number.alias(JUDGED)).group_by(judgments.keys).agg(pl.col(JUDGED).sum())
    return judgments.computed(hashes, "streaming")


def digest_of(judged: Frame, keys: Sequence[str]) -> pl.LazyFrame:
    """The hash of judgments, of those of their queries, as a plan of one row."""
    texts = [pl.col(name).cast(pl.String).fill_null("") for name in (*keys, JUDGED)]
    lines = pl.concat_str(texts, separator="\x1f").sort().str.join("\n")
    digests = pl.map_batches([PROVENANCE], _digests, return_dtype=pl.String).alias(PROVENANCE)
    return judged.lazy().select(lines.alias(PROVENANCE)).select(digests)


def read_made(text: object) -> dict[str, Any] | None:
    """The entries of a text; None for one that `evaluate` did not write."""
    try:
        made = json.loads(str(text))
    except ValueError:
        return None
    return made if isinstance(made, dict) and isinstance(made.get("measures"), dict) and VERSION in made else None


def differing(
    one: Mapping[str, Any], other: Mapping[str, Any], measures: Sequence[str], without: Collection[str] = ()
) -> str:
    """The differences between two evaluations, of what the values of some measures depend on; nothing for none."""
    ours, theirs = ({canonical_name(name): of for name, of in made["measures"].items()} for made in (one, other))
    names = [name for name in map(canonical_name, measures) if name in ours and name in theirs]
    pairs = {
        name: (one.get(name), other.get(name)) for name in one if name not in (VERSION, POLARS, "measures", *without)
    }
    pairs |= {name: (ours[name], theirs[name]) for name in names}
    parts = (f"{name} is {a!r} and {b!r}" for name, (a, b) in pairs.items() if a != b)
    return ", ".join(parts)


def _digests(texts: Sequence[pl.Series]) -> pl.Series:
    """The hash of each text; a function with a name, so that a plan with it can be pickled."""
    return pl.Series([hashlib.blake2b((text or "").encode(), digest_size=8).hexdigest() for text in texts[0]])


def _numbers(columns: Sequence[pl.Series]) -> pl.Series:
    """A number of each row of ids and a grade, in the last column."""
    *ids, grades = columns
    number = _of_grades(grades)
    for values in ids:
        rows = pl.DataFrame([number.alias("number"), _of_texts(values.cast(pl.String)).alias("id")])
        # Once is too few for numbers that are added up: exchanged grades of two documents go unseen, 5 times in 1e9.
        number = rows.select(_mixed(_mixed(pl.col("number") * _whole(SPREAD) + pl.col("id")))).to_series()
    return number


def _of_grades(grades: pl.Series) -> pl.Series:
    """The number of each grade: 1.0 is 1."""
    if grades.dtype.is_integer():
        return grades.fill_null(-(2**62)).cast(pl.Int64).reinterpret(signed=False)
    whole = grades.cast(pl.Int64, strict=False)
    numbers = whole.fill_null(-(2**62)).reinterpret(signed=False)
    if (whole == grades).all(ignore_nulls=False):
        return numbers
    is_whole = (whole == grades).fill_null(False) | grades.is_null()
    return numbers.zip_with(is_whole, _of_texts(grades.cast(pl.Float64).cast(pl.String)))


def _of_texts(texts: pl.Series) -> pl.Series:
    """The number of each text: a sum over its bytes, eight at a time, and its length."""
    rows = pl.DataFrame([texts.fill_null("").alias("text")]).with_row_index("row")
    rows = rows.with_columns(pl.col("text").str.len_bytes().cast(pl.UInt64).alias("length"))
    longest, sums = int(rows["length"].max() or 1), []  # type: ignore[arg-type]  # a number
    n_words = math.ceil(min(longest, PIECE) / 8)
    width = 8 * n_words
    words = pl.col("text").bin.reinterpret(dtype=pl.Array(pl.UInt64, n_words), endianness="little")
    for start in range(0, longest, PIECE):
        # Few texts are long enough for all to be padded to their length.
        rows = rows.filter(pl.col("length") > start) if start else rows
        padded = rows.with_columns(pl.col("text").str.pad_end(start + width, "\0").cast(pl.Binary))
        if padded["text"].bin.size().max() != width:
            padded = padded.with_columns(pl.col("text").bin.slice(start, width))
        numbers = padded.with_columns(words)
        # The number of no bytes is 0, so that a text has one number, however long others are.
        of_words = [
            _mixed(pl.col("text").arr.get(word)) * _whole((start + 8 * word) * SPREAD | 1) for word in range(n_words)
        ]
        sums.append(numbers.select("row", number=sum(of_words, _whole(0) if start else _mixed(pl.col("length")))))
    if len(sums) == 1:
        return sums[0]["number"]
    return pl.concat(sums).group_by("row").agg(pl.col("number").sum()).sort("row")["number"]


def _mixed(number: pl.Expr) -> pl.Expr:
    """Another number of 64 bits for each, in which every bit depends on all."""
    spread = number * _whole(SPREAD)
    return (spread ^ (spread // _whole(2**32))) * _whole(SPREAD)


def _whole(number: int) -> pl.Expr:
    return pl.lit(number % 2**64, pl.UInt64)


def _hash_of_rows(table: CanonicalFrame, read: Collection[str], *, in_order: bool = False) -> pl.LazyFrame:
    """The keys of a table's rankings, and the hash of the rows of each, whatever their order if that does not count."""
    counts = {"doc_id", "score", "relevance", *table.per, *read}
    columns = [name for name in table.columns if name in counts and not (table.numbered and name == "doc_id")]
    values = pl.sum_horizontal(pl.col(name).hash(seed=place) for place, name in enumerate(columns))
    if in_order:
        values = values + pl.int_range(pl.len(), dtype=pl.UInt64)
    # A sum of hashes would not tell which score is of which document.
    return table.select(*table.keys, *columns).group_by(table.keys).agg(values.hash().sum().alias(QUERY_HASH))
