"""The output of trec_eval."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import polars as pl

from polars_ir.errors import IRWarning
from polars_ir.evaluation import evaluate
from polars_ir.files import read_qrels, read_run, tag_of
from polars_ir.files.incoming import as_file
from polars_ir.trec_eval.figures import figures_of
from polars_ir.trec_eval.lines import Figure, of_all, of_run, of_topics
from polars_ir.trec_eval.measures import MEASURES, formats_of
from polars_ir.trec_eval.options import FORMATS, NOT_COMPUTED, NOTHING_SHARED, Options, TrecEvalError


def lines(options: Options) -> Iterator[str]:
    """The lines of the output."""
    figures = figures_of(options)
    qrels = read_qrels(options.files[0], format=FORMATS[options.format])
    with as_file(options.files[1]) as run_file:
        run, tag = read_run(run_file), tag_of(run_file) if "runid" in options.measures else ""
    _check_format(options)
    per_query = _evaluated(_most(run, options.most), qrels, figures, options)
    lacking = _lacking(run, qrels) if options.strict and not options.complete else None
    if options.topics:
        yield from of_topics(per_query if lacking is None else per_query.filter(pl.col("query_id") < lacking), figures)
    if lacking is not None:
        raise TrecEvalError(
            f"the run has no result for topic {lacking!r}, which trec_eval 10 stops at; -c counts it.", NOT_COMPUTED
        )
    if per_query.is_empty():
        raise TrecEvalError("no topic has both results and judgments.", NOTHING_SHARED)
    if options.summary:
        yield from (line for line in of_run(per_query, tag) if line.split()[0] in options.measures)
        yield from of_all(per_query, figures)


def _check_format(options: Options) -> None:
    """Raise a `TrecEvalError` for the first measure that needs judgments of another format."""
    for name in (name for name in MEASURES if name in options.measures):
        if options.format not in (formats := formats_of(name)):
            raise TrecEvalError(
                f"can't calculate measure {name!r} of -R {options.format}; it needs -R {' or '.join(formats)}.",
                NOT_COMPUTED,
            )


def _evaluated(run: pl.DataFrame, qrels: pl.DataFrame, figures: Sequence[Figure], options: Options) -> pl.DataFrame:
    """The figures of the topics that count, by their names."""
    if not figures:
        topics = qrels.select("query_id").unique()
        return topics if options.complete else topics.join(run, on="query_id", how="semi")
    # Preferences are of judged documents anyway.
    judged_only = options.judged_only and options.format in ("qrels", "qrels_jg")
    of_each_judge = judged_only and options.format == "qrels_jg"
    if judged_only:
        qrels = _judged(qrels)
    if of_each_judge:
        run, qrels = _by_judge(run, qrels)
    with warnings.catch_warnings(action="ignore", category=IRWarning):  # the end of the program says it
        per_query: pl.DataFrame = evaluate(
            run,
            qrels,
            {figure.column: figure.expression for figure in figures}.values(),
            missing="zero" if options.complete else "skip",
            judged_only=judged_only,
            judges="judge" if options.format == "qrels_jg" and not of_each_judge else None,
        )
    return _over_judges(per_query) if of_each_judge else per_query


def _judged(qrels: pl.DataFrame) -> pl.DataFrame:
    """The judgments but those below 0, which are none; a topic or judge without others is a row that says so."""
    keys = [key for key in ("query_id", "judge") if key in qrels.columns]
    is_judged = pl.when(pl.col("relevance") >= 0)
    judged = qrels.with_columns(is_judged.then(name).alias(name) for name in ("doc_id", "relevance"))
    return judged.filter(pl.col("doc_id").is_not_null() | pl.struct(*keys, "doc_id").is_first_distinct())


def _by_judge(run: pl.DataFrame, qrels: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Run and judgments with a query for each judge of a topic, whose list is condensed to what that one judged."""
    topic = pl.concat_str("query_id", "judge", separator=" ").alias("query_id")
    judges = qrels.select("query_id", "judge").unique()
    return run.join(judges, on="query_id").with_columns(topic), qrels.select(topic, "doc_id", "relevance")


def _over_judges(per_query: pl.DataFrame) -> pl.DataFrame:
    """The means over the judges of each topic."""
    topic = pl.col("query_id").str.split(" ").list.first()
    return per_query.group_by(topic, maintain_order=True).mean().sort("query_id")


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
