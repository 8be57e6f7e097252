"""`citation_precision`, `citation_recall`: the support that the citations of an answer give its sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import polars as pl

from polars_ir.answers.missing import with_missing
from polars_ir.answers.records import folded
from polars_ir.errors import Code, DtypeError, Fix
from polars_ir.frames.rules import Rule
from polars_ir.frames.table import answers_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import check, one_of, public, truth
from polars_ir.language.words import average, ratio, total

#: The grade of a citation that nobody judged, the others, and that of full support.
UNJUDGED, GRADES, FULL = -1, (2, 1, 0), 2

#: The grades of citations in words, and as text.
WORDS = {"full support": 2, "partial support": 1, "no support": 0, "2": 2, "1": 1, "0": 0, "-1": -1}


@public()
def citation_precision(
    frame: Table[FrameT], *, of: Literal["first", "mean"] = "first", strict: bool = False, missing: Any = None
) -> FrameT:
    """Mean support of the sentences of an answer that cite a document, as TREC RAG scores citations.

    A sentence has 1 where its citation supports it fully (2), 1/2 where partially (1; 0 if `strict`), and 0 where not.

    Parameters
    ----------
    frame
        A row per citation of each sentence, as `read_support` makes it: `query_id`, `run` where there are several
        systems, `sentence` and `citation` (numbers in their order), and `support`: 2, 1, 0, or -1 for not judged, or
        the words of `read_support`. A sentence without citations has one row, in which `citation` and `support` are
        null.
    of
        `"first"`: of several citations of a sentence the first counts. `"mean"`: the mean of those that were judged.
    strict
        True: partial support counts 0.
    missing
        The queries to be answered: ids in a list, or any table with a query column. A system without an answer to one
        has 0 there; by default only the answers that are in the frame count.

    Returns
    -------
    The kind of frame (a LazyFrame for a LazyFrame, pandas for pandas)
        A per-query frame, which `compare` and `gate` take: the columns of system and query, and `citation_precision`
        (Float64, 0 to 1), with `strict_` and `mean_` before it where they are chosen; null for an answer none of whose
        sentences has a judged citation. A sentence whose first citation (whose every one, with `"mean"`) was not judged
        counts nowhere.

    Raises
    ------
    IRError
        For a citation with another grade, or without one, one that a sentence has twice, and for sentences or
        citations that are no numbers, whose order as text is another.

    References
    ----------
    Thakur et al. 2025, https://arxiv.org/abs/2504.15205

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> support = {"sentence": [1, 2, 2, 3], "citation": [1, 1, 2, None], "support": [2, 0, 1, None]}
    >>> ir.citation_precision(pl.DataFrame({"query_id": ["q"] * 4, **support})).rows()
    [('q', 0.5)]
    """
    return _figures(frame, "citation_precision", average, of=of, strict=strict, missing=missing)


@public()
def citation_recall(
    frame: Table[FrameT], *, of: Literal["first", "mean"] = "first", strict: bool = False, missing: Any = None
) -> FrameT:
    """Support of all sentences of an answer, also of those that cite nothing, as TREC RAG scores citations.

    It is the sum of what `citation_precision` averages, out of all sentences but those whose citations were not judged;
    a sentence that needs no citation counts, too.

    Parameters
    ----------
    frame, of, strict, missing
        As of `citation_precision`.

    Returns
    -------
    The kind of frame (a LazyFrame for a LazyFrame, pandas for pandas)
        As of `citation_precision`, in a column `citation_recall`; 0 for an answer that cites nothing.

    Raises
    ------
    IRError
        As of `citation_precision`.

    References
    ----------
    Thakur et al. 2025, https://arxiv.org/abs/2504.15205

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> support = {"sentence": [1, 2, 2, 3, 4], "citation": [1, 1, 2, None, None], "support": [2, 0, 1, None, None]}
    >>> ir.citation_recall(pl.DataFrame({"query_id": ["q"] * 5, **support})).rows()
    [('q', 0.25)]
    """

    def of_all(value: pl.Expr) -> pl.Expr:
        return ratio(total(value.drop_nulls()), pl.len())

    return _figures(frame, "citation_recall", of_all, of=of, strict=strict, missing=missing)


def _figures(
    frame: Table[FrameT],
    name: str,
    summary: Callable[[pl.Expr], pl.Expr],
    *,
    of: Literal["first", "mean"],
    strict: bool,
    missing: Any,
) -> FrameT:
    """A summary of the support of the sentences of each answer; a sentence that cites nothing has null."""
    check("of", of, one_of("first", "mean"))
    check("strict", strict, truth())
    table = answers_table(frame, "sentence", "citation", "support")
    _check_types(table.all_columns().collect_schema())
    table.check_once(*table.keys, "sentence", "citation")
    support, cites = pl.col("support"), pl.col("citation").is_not_null()
    grade = grade_of(support)
    known = grade.is_not_null()
    grades = ", ".join(map(str, (*GRADES, UNJUDGED)))
    rows = table.checked(
        Rule(pl.col("sentence").is_null(), "whose 'sentence' is null", "Number the sentences of an answer"),
        Rule(cites & ~known, f"whose 'support' is none of {grades}", f"Write {UNJUDGED} for what was not judged"),
        Rule(~cites & support.is_not_null(), "with 'support' and no 'citation'", "Number the citations of a sentence"),
    )
    sentence = [*table.keys, "sentence"]
    twice = "the frame has a citation of a sentence more than once; keep one row of each"
    rows = table.guarded_rows(rows, pl.struct(*sentence, "citation").is_duplicated(), twice)
    value = pl.when(grade != UNJUDGED).then((grade == FULL).cast(pl.Float64) if strict else grade / FULL)
    cited = value.filter(cites)
    chosen = cited.first() if of == "first" else average(cited)
    sentences = rows.sort(*sentence, "citation").group_by(sentence, maintain_order=True)
    judged = sentences.agg(value=chosen, cites=cites.any()).filter(pl.col("value").is_not_null() | ~pl.col("cites"))
    column = f"{'strict_' * strict}{'mean_' * (of == 'mean')}{name}"
    answers = judged.group_by(table.keys, maintain_order=True).agg(summary(pl.col("value")).alias(column))
    # An answer of which nothing was judged is one, too.
    figures = table.select(*table.keys).unique().join(answers, on=table.keys, how="left")
    return table.give_back(with_missing(figures, table, missing).sort(table.keys), frame)


def grade_of(support: pl.Expr) -> pl.Expr:
    """The grade of a citation, given as a number or in words; null for another value."""
    return folded(support).str.strip_suffix(".0").replace_strict(WORDS, default=None, return_dtype=pl.Int64)


def _check_types(schema: pl.Schema) -> None:
    """Raise a `DtypeError` for numbers that are text, whose order would be another, and for support that is Boolean."""
    for name in ("sentence", "citation"):
        if not (schema[name].is_numeric() or schema[name] == pl.Null):
            cast = Fix("Cast it", Code.casting("frame", name, pl.Int64))
            raise DtypeError.of_column("frame", name, "numbers in their order", schema[name], cast)
    if schema["support"] == pl.Boolean:
        fix = f"Write {FULL} for full support, {FULL // 2} for partial"
        raise DtypeError.of_column("frame", "support", "the grades of citations", schema["support"], fix)
