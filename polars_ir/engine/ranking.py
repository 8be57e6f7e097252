"""The order of documents, and the rules for equal scores."""

from __future__ import annotations

import polars as pl

from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.language.words import Ties, text

DOCUMENT = ["query_id", "doc_id"]

#: A column with the place of a row in its run, the first the highest.
POSITION = "polars_ir: position"


def tie_counts(keys: list[str]) -> dict[str, pl.Expr]:
    """Number of documents with a higher score, and with the same."""
    higher = pl.col("score").rank("min", descending=True).over(keys) - 1
    return {"n_higher": higher, "n_tied": pl.len().over(*keys, "score")}


def with_position(run: CanonicalFrame) -> CanonicalFrame:
    """The run with the place of each row, for the rule that equal scores keep the order of the input."""
    return run.with_frame(positioned(run.all_columns()))


def positioned(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows with `POSITION`."""
    return rows.with_columns((-pl.int_range(pl.len(), dtype=pl.Int64)).alias(POSITION))


def reordered(relation: pl.LazyFrame, keys: list[str], ties: Ties) -> pl.LazyFrame:
    """The judged relation with documents of equal scores in the order of their grades, for `"best"` and `"worst"`.

    At best the relevant ones come first, the highest grade leading, then the unjudged ones, then those judged not
    relevant; at worst it is the other way round. So the places of judged documents follow from the two ends of their
    tie, whether or not the relation holds the unjudged ones between.
    """
    if ties not in ("best", "worst"):
        return relation
    grade = pl.col("relevance").max().over([*keys, "doc_id"])  # one order, also where subtopics have grades apart
    worth = pl.when(grade.is_null()).then(0).when(grade > 0).then(grade).otherwise(grade - 1)
    tie = [*keys, "n_higher"]
    relation = relation.with_columns(polars_ir_worth=worth)
    order = pl.struct("polars_ir_worth", text("doc_id"))
    # Dense, since each subtopic of a document has a row of its own.
    from_top, from_bottom = (order.rank("dense", descending=falling).over(tie) for falling in (True, False))
    n_higher, n_tied = pl.col("n_higher"), pl.col("n_tied")
    if ties == "worst":
        from_top, from_bottom = n_tied + 1 - from_top, n_tied + 1 - from_bottom
    rank = n_higher + pl.when(pl.col("polars_ir_worth") > 0).then(from_top).otherwise(n_tied + 1 - from_bottom)
    return relation.with_columns(rank=rank.cast(pl.UInt32)).drop("polars_ir_worth")
