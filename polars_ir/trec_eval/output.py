"""The figures and the output of trec_eval, also as z-scores (`-Z`): deviations from means that a file has by topic."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import FileError, IRWarning, MeasureError
from polars_ir.files import read_qrels, read_run, tag_of
from polars_ir.files.finding.copies import as_file
from polars_ir.files.finding.sources import format_of, resolve
from polars_ir.files.formats import FormatName
from polars_ir.files.formats.letor import LETOR
from polars_ir.files.formats.trec import TREC
from polars_ir.files.rows.blanks import first_line
from polars_ir.language.dialects import parsed_name
from polars_ir.language.measures.cascade import chance_of_reading
from polars_ir.language.measures.whole_set import harmonic_mean
from polars_ir.language.relevance_string import relevance_string
from polars_ir.language.sets import TREC_EVAL as MEASURES
from polars_ir.language.words import gain, n_relevant, ranked, relevance, top, total
from polars_ir.per_query.shared.averages import FLOOR
from polars_ir.runs.evaluate import evaluate
from polars_ir.trec_eval import quirks
from polars_ir.trec_eval.lines import Figure, Format, of_all, of_run, of_topics, read_fields, summary_of
from polars_ir.trec_eval.measures import OF_RUN, OF_SUMMARY, OF_TOPICS, WITH_PAIRS, formats_of
from polars_ir.trec_eval.options import (
    FORMATS,
    NOT_COMPUTED,
    NOTHING_SHARED,
    WRONG_FILE,
    Asked,
    Options,
    TrecEvalError,
    leading_number,
)

PREFERENCES = ("prefs", "qrels_prefs")

#: The fields of a line of the file of `-Z`.
FIELDS = ("query_id", "measure", "mean", "std")

#: The z-score of a figure whose mean is not in the file.
MISSING = -1_000_000.0


def output(options: Options) -> Iterator[str]:
    """The text of the topics, and then that of the summary."""
    expressions, form = figures_of(options), Format(zscores=options.zscores is not None)
    figures = list(expressions)
    qrels = read_qrels(options.files[0], format=FORMATS[options.format] or _trec_or_other(options.files[0]))
    with as_file(options.files[1]) as run_file:
        run, tag = read_run(run_file), tag_of(run_file) if "runid" in options.measures else ""
    zscores = read_zscores(options.zscores) if options.zscores is not None else None
    _check_format(options)
    # Of another topic than -D names nothing is computed, and yet -c divides by the number of all.
    n_topics = qrels["query_id"].n_unique()
    judged = qrels.filter(pl.col("query_id") == options.topic) if options.topic is not None else qrels
    per_query = _of_topics_that_count(run, judged, expressions, options)
    if zscores is not None:
        per_query = as_zscores(per_query, figures, zscores)
    lacking: Any = None
    if options.strict and not options.complete:
        lacking = judged.join(run, on="query_id", how="anti")["query_id"].min()
    if options.topics:
        before = per_query if lacking is None else per_query.filter(pl.col("query_id") < lacking)
        yield "\n".join(of_topics(before, figures, form))
    if lacking is not None:
        says = f"the run has no result for topic {lacking!r}, which trec_eval 10 stops at; -c counts it."
        raise TrecEvalError(says, NOT_COMPUTED)
    if per_query.is_empty():
        raise TrecEvalError("no topic has both results and judgments.", NOTHING_SHARED)
    if options.summary:
        n_averaged = n_topics if options.strict and options.complete else per_query.height
        head = [line for name, line in of_run(n_averaged, tag, form).items() if name in options.measures]
        values = summary_of(_filled(per_query, n_averaged, figures), figures)
        if options.strict and options.complete and "num_rel" in values:
            # Whatever the level, the documents above 0.
            values["num_rel"] = qrels.filter(pl.col("relevance") > 0).height
        yield "\n".join([*head, *of_all(values, figures, form)])


def figures_of(options: Options) -> dict[Figure, pl.Expr]:
    """The figures of a topic or the summary, in trec_eval's order, each with its aggregation."""
    return {
        Figure(name, printed, printed): _expression(asked).alias(printed)
        for name in MEASURES
        if name in options.measures and name not in OF_RUN
        for printed, asked in _printed(name, options.measures[name], options)
    }


def _printed(name: str, given: str | None, options: Options) -> Iterator[tuple[str, Asked]]:
    """The names that a measure is printed under, each with its parameters."""
    usual = MEASURES[name]
    if usual:
        fractions = "." in usual
        for number in _cutoffs(name, given or usual, float if fractions else int):
            printed = f"{name}_{number:.2f}" if fractions else f"{name}_{number}"
            yield printed, Asked(name, given, options, number)
    elif usual is None and given is not None:
        yield f"{name}_{given}", Asked(name, given, options)
    else:
        yield name, Asked(name, None, options)


def _cutoffs(name: str, given: str, kind: type[int | float]) -> list[float]:
    """The cutoffs of a measure, rising."""
    numbers = [leading_number(number, kind) for number in given.split(",")]
    cutoffs = sorted(number for number in numbers if number is not None)
    if len(set(cutoffs)) == len(numbers) and (kind is float or cutoffs[0] >= 1):
        return cutoffs
    wanted = "different numbers" if kind is float else "different whole numbers, 1 or more"
    raise TrecEvalError(f"{name}: cutoffs must be {wanted}, as in {name}.1,2; got {given!r}.", WRONG_FILE)


def _expression(asked: Asked) -> pl.Expr:
    """The aggregation of a measure at the level of relevance of the options."""
    quirk = quirks.QUIRKS.get(asked.name) if asked.options.strict else None
    try:
        expression = BY_HAND.get(asked.name, _measure)(asked)
        return quirk(expression, asked) if quirk else expression
    except MeasureError as error:
        text = asked.name if asked.given is None else f"{asked.name}.{asked.given}"
        raise TrecEvalError(f"cannot initialize measure {text!r}: {error}", WRONG_FILE) from None


def _measure(asked: Asked, **parameters: object) -> pl.Expr:
    """The catalogue's measure of a trec_eval name."""
    name = asked.name if asked.cutoff is None else f"{asked.name}_{asked.cutoff}"
    info, implied = parsed_name(f"trec_eval {name}")[:2]
    arguments = {**implied, **parameters}
    if isinstance(info.parameters.get("rel"), int):
        arguments["rel"] = asked.options.level
    if asked.name in WITH_PAIRS and "gains" in info.parameters and asked.gains:
        arguments["gains"] = asked.gains
    return info.function(**arguments)


def _rbp(asked: Asked) -> pl.Expr:
    """RBP of gains divided by the topic's or parameters' highest gain where that exceeds 1.

    The level of relevance does not matter to it.
    """
    value, highest = gain(gains=asked.gains or None), relevance.max()
    for level in sorted(asked.gains, reverse=True):
        highest = pl.when(highest == level).then(highest - 1).otherwise(highest)
    highest = pl.max_horizontal(highest.cast(pl.Float64), *(pl.lit(float(given)) for given in asked.gains.values()))
    share = pl.when(highest > 1).then(value / highest).otherwise(value)
    p = asked.pairs.get("p", 0.9)
    return (1 - p) * total(ranked(share * chance_of_reading(p), top() & (value > 0)))


def _r_ndcg(asked: Asked) -> pl.Expr:
    """Rndcg, 0 where no document reaches the level of relevance."""
    return pl.when(n_relevant(asked.options.level) > 0).then(_measure(asked)).otherwise(0.0)


def _utility(asked: Asked) -> pl.Expr:
    coefficients = {"coefficients": tuple(asked.numbers)} if asked.given else {}
    return _measure(asked, n_docs=asked.options.n_docs or None, **coefficients)


def _eleven_point_average(asked: Asked) -> pl.Expr:
    """The mean precision at the recalls of the parameters, or else at the usual eleven."""
    if asked.given is None:
        return _measure(asked)
    recalls = _cutoffs("11pt_avg", asked.given, float)
    precisions = (_measure(asked._replace(name="iprec_at_recall", cutoff=recall)) for recall in recalls)
    return pl.sum_horizontal(precisions) / len(recalls)


def _relevance_string(asked: Asked) -> pl.Expr:
    length = int(asked.numbers[0]) if asked.given else 10
    return relevance_string(k=length) if length > 0 else pl.lit("")


#: Measures whose parameters differ from this package's.
BY_HAND: Mapping[str, Callable[[Asked], pl.Expr]] = {
    "rbp": _rbp,
    "rbp_resid": lambda asked: _measure(asked, p=asked.pairs.get("p", 0.9)),
    "Rndcg": _r_ndcg,
    "set_F": lambda asked: harmonic_mean(asked.numbers[0] if asked.given else 1.0, asked.options.level),
    "utility": _utility,
    "11pt_avg": _eleven_point_average,
    "relstring": _relevance_string,
}


def _trec_or_other(name: str) -> FormatName | None:
    """TREC's format for a file with its fields, whatever these hold; None for other formats that are read here."""
    (file, *_) = resolve(name)
    found = format_of(file, "qrels")
    if found is LETOR:
        number, _ = first_line(file)
        raise TrecEvalError(f"{name}: malformed line {number}, which holds no judgment of trec_eval's.", WRONG_FILE)
    return "trec" if found is TREC else None


def _check_format(options: Options) -> None:
    """Raise a `TrecEvalError` for the first measure that needs judgments of another format."""
    for name in filter(options.measures.__contains__, MEASURES):
        if options.format not in (formats := formats_of(name)):
            says = f"can't calculate measure {name!r} of -R {options.format}; it needs -R {' or '.join(formats)}."
            raise TrecEvalError(says, NOT_COMPUTED)


def _of_topics_that_count(
    run: pl.DataFrame, qrels: pl.DataFrame, expressions: Mapping[Figure, pl.Expr], options: Options
) -> pl.DataFrame:
    """Figures per counted topic; logarithms for geometric means."""
    ranked, figures = run, list(expressions)
    if options.strict and options.complete:
        ranked = quirks.with_bogus_results(ranked, qrels)
    if options.strict and options.format in PREFERENCES:
        ranked, qrels = quirks.with_other_ties(ranked), quirks.with_kinds_of_judges(qrels)
    topics = qrels.select("query_id").unique().sort("query_id")
    topics = topics if options.complete else topics.join(run, on="query_id", how="semi", maintain_order="left")
    if figures and len(topics):
        per_query = _evaluated(_most(ranked, options.most), qrels, list(expressions.values()), options)
        topics = topics.join(per_query, on="query_id", how="left", maintain_order="left")
    else:
        topics = topics.with_columns(pl.lit(None, pl.Float64).alias(figure.column) for figure in figures)
    if options.strict and options.complete:
        topics = quirks.cleared(topics, run, figures)
    return topics.with_columns(
        pl.col(figure.column).clip(lower_bound=FLOOR).log() for figure in figures if figure.measure in OF_SUMMARY
    )


def _evaluated(run: pl.DataFrame, qrels: pl.DataFrame, measures: list[pl.Expr], options: Options) -> pl.DataFrame:
    """The figures of all judged topics, by the names that are printed."""
    # Preferences are of judged documents anyway.
    judged_only = options.judged_only and options.format not in PREFERENCES
    judges = "judge" if options.format == "qrels_jg" else None
    if judged_only:
        qrels = _judged(qrels)
        if judges:
            run, qrels = _by_judge(run, qrels)
    with warnings.catch_warnings(action="ignore", category=IRWarning):  # the end of the program says it
        per_query: pl.DataFrame = evaluate(
            run, qrels, measures, judged_only=judged_only, judges=None if judged_only else judges
        )
    if not (judges and judged_only):
        return per_query
    topic = pl.col("query_id").str.split(" ").list.first()
    return per_query.group_by(topic, maintain_order=True).mean().sort("query_id")


def _judged(qrels: pl.DataFrame) -> pl.DataFrame:
    """The judgments without negative grades; a topic or judge left without any is an empty row."""
    keys = [key for key in ("query_id", "judge") if key in qrels.columns]
    is_judged = pl.when(pl.col("relevance") >= 0)
    judged = qrels.with_columns(is_judged.then(name).alias(name) for name in ("doc_id", "relevance"))
    return judged.filter(pl.col("doc_id").is_not_null() | pl.struct(*keys, "doc_id").is_first_distinct())


def _by_judge(run: pl.DataFrame, qrels: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Run and judgments with a query per judge and topic, each list condensed to that judge's documents."""
    topic = pl.concat_str("query_id", "judge", separator=" ").alias("query_id")
    judges = qrels.select("query_id", "judge").unique()
    return run.join(judges, on="query_id").with_columns(topic), qrels.select(topic, "doc_id", "relevance")


def _most(run: pl.DataFrame, most: int | None) -> pl.DataFrame:
    """The first documents of each topic."""
    if most is None:
        return run
    rank = pl.struct("score", "doc_id").rank("ordinal", descending=True).over("query_id")
    return run.filter(rank <= most)


def _filled(per_query: pl.DataFrame, n_topics: int, figures: Sequence[Figure]) -> pl.DataFrame:
    """The figures, with those of an empty ranking for missing topics."""
    numbers = [figure for figure in figures if figure.measure not in OF_TOPICS]
    lowest = {each.column: math.log(FLOOR) if each.measure in OF_SUMMARY else 0 for each in numbers}
    others = pl.DataFrame([lowest] * (n_topics - per_query.height), schema={c: per_query.schema[c] for c in lowest})
    return pl.concat([per_query, others], how="diagonal")


def read_zscores(path: str) -> pl.DataFrame:
    """The means and standard deviations of a file, of lines `topic measure mean deviation`."""
    numbers = [pl.col(name).cast(pl.Float64, strict=False) for name in FIELDS[2:]]
    rows = read_fields(path, FIELDS).with_columns(numbers)
    wrong = rows.filter((pl.col("n_fields") != len(FIELDS)) | pl.any_horizontal(pl.col(FIELDS[2:]).is_null()))
    for line, content in wrong.select("line", "text").head(1).rows():
        raise FileError.at_line(path, line, content, "a line has a topic, a measure, a mean and a standard deviation.")
    return rows.select(FIELDS).unique(FIELDS[:2], keep="first")


def as_zscores(per_query: pl.DataFrame, figures: Sequence[Figure], zscores: pl.DataFrame) -> pl.DataFrame:
    """Figures per topic as z-scores."""
    numbers = [figure for figure in figures if figure.measure not in OF_TOPICS]
    if not numbers:
        return per_query
    values = per_query.select("query_id", *(pl.col(figure.column).cast(pl.Float64) for figure in numbers))
    long = values.unpivot(index="query_id", variable_name="measure", value_name="value")
    long = long.join(zscores, on=FIELDS[:2], how="left", maintain_order="left")
    value, mean, std = pl.col("value"), pl.col("mean"), pl.col("std")
    constant = pl.when(value == mean).then(0.0).otherwise(MISSING)
    score = pl.when(mean.is_null()).then(MISSING).when(std == 0).then(constant).otherwise((value - mean) / std)
    wide = long.with_columns(value=score).pivot("measure", index="query_id", values="value", maintain_order=True)
    rest = per_query.drop(figure.column for figure in numbers)
    return rest.join(wide, on="query_id", how="left", maintain_order="left")
