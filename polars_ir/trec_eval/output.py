"""The output of trec_eval."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import IRWarning
from polars_ir.evaluation import evaluate
from polars_ir.files import read_qrels, read_run, tag_of
from polars_ir.files.incoming import as_file
from polars_ir.summary import mean
from polars_ir.trec_eval.figures import Figure, figures_of
from polars_ir.trec_eval.measures import COUNTS, OF_RUN, OF_SUMMARY, OF_TOPICS
from polars_ir.trec_eval.options import FORMATS, NOT_COMPUTED, NOTHING_SHARED, Options, TrecEvalError


def lines(options: Options) -> Iterator[str]:
    """The lines of the output."""
    figures = figures_of(options)
    qrels = read_qrels(options.files[0], format=FORMATS[options.format])
    with as_file(options.files[1]) as run_file:
        run, tag = read_run(run_file), tag_of(run_file) if "runid" in options.measures else ""
    if options.judged_only:
        qrels = qrels.filter(pl.col("relevance") >= 0)
    per_query = _evaluated(_most(run, options.most), qrels, figures, options)
    lacking = _lacking(run, qrels) if options.strict and not options.complete else None
    if options.topics:
        yield from _of_topics(per_query if lacking is None else per_query.filter(pl.col("query_id") < lacking), figures)
    if lacking is not None:
        raise TrecEvalError(
            f"the run has no result for topic {lacking!r}, which trec_eval 10 stops at; -c counts it.", NOT_COMPUTED
        )
    if per_query.is_empty():
        raise TrecEvalError("no topic has both results and judgments.", NOTHING_SHARED)
    if options.summary:
        of_run = {"runid": tag, "num_q": str(per_query.height)}
        yield from (_line(name, "all", of_run[name]) for name in OF_RUN if name in options.measures)
        yield from _of_all(per_query, figures)


def _evaluated(run: pl.DataFrame, qrels: pl.DataFrame, figures: Sequence[Figure], options: Options) -> pl.DataFrame:
    """The figures of the topics that count, by their names."""
    if not figures:
        topics = qrels.select("query_id").unique()
        return topics if options.complete else topics.join(run, on="query_id", how="semi")
    expressions = {figure.expression.meta.output_name(): figure.expression for figure in figures}
    with warnings.catch_warnings(action="ignore", category=IRWarning):  # the end of the program says it
        per_query: pl.DataFrame = evaluate(
            run,
            qrels,
            expressions.values(),
            missing="zero" if options.complete else "skip",
            # Preferences are of judged documents anyway.
            judged_only=options.judged_only and options.format in ("qrels", "qrels_jg"),
            judges="judge" if options.format == "qrels_jg" else None,
        )
    return per_query


def _lacking(run: pl.DataFrame, qrels: pl.DataFrame) -> str | None:
    """The first judged topic that the run has no result for."""
    topics = qrels.select("query_id").unique().join(run, on="query_id", how="anti")["query_id"]
    return topics.sort().head(1).to_list()[0] if len(topics) else None


def _most(run: pl.DataFrame, most: int | None) -> pl.DataFrame:
    """The first documents of each topic."""
    if most is None:
        return run
    rank = pl.struct("score", "doc_id").rank("ordinal", descending=True).over("query_id")
    return run.filter(rank <= most)


def _of_topics(per_query: pl.DataFrame, figures: Sequence[Figure]) -> Iterator[str]:
    printed = [figure for figure in figures if figure.measure not in OF_SUMMARY]
    values = [per_query[figure.expression.meta.output_name()].to_list() for figure in printed]
    for topic, *row in zip(per_query["query_id"], *values, strict=True):
        yield from (
            _line(figure.printed, topic, _text(figure, value)) for figure, value in zip(printed, row, strict=True)
        )


def _of_all(per_query: pl.DataFrame, figures: Sequence[Figure]) -> Iterator[str]:
    printed = [figure for figure in figures if figure.measure not in OF_TOPICS]
    means = mean(per_query).row(0, named=True) if printed else {}
    for figure in printed:
        column = figure.expression.meta.output_name()
        value = per_query[column].sum() if figure.measure in COUNTS else means[column]
        yield _line(figure.printed, "all", _text(figure, value))


def _text(figure: Figure, value: Any) -> str:
    if figure.measure in OF_TOPICS:
        return f"'{value or ''}'"
    return str(int(value)) if figure.measure in COUNTS else f"{value:6.4f}"


def _line(name: str, topic: str, value: str) -> str:
    return f"{name:<22}\t{topic}\t{value}\n"
