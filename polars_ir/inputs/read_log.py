"""`read_log`: a log of retrieval as its tool wrote it, as run, qrels, and the texts of queries and documents.

Conventions: a log is made a table of lists with a row for each ranking, which `tables_of` checks and turns into a run
and qrels. Its columns are called as the fields of the log, so that errors name these.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, NamedTuple

import polars as pl

from polars_ir.errors import (
    SHOWN,
    Code,
    DataError,
    DtypeError,
    Fix,
    InputTypeError,
    IRError,
    Setting,
    caller,
    fold,
    quoted,
    warn,
    with_names,
)
from polars_ir.files.rows.unreadable import FAILURES
from polars_ir.files.tables import read_records
from polars_ir.frames.kinds import give_back, to_polars
from polars_ir.frames.roles import could_be, find
from polars_ir.inputs.fields import Field, depth_of, field, first_field, refuse
from polars_ir.inputs.from_lists import DISTANCES, is_distance, may_distinguish, tables_of
from polars_ir.inputs.log_formats import LogFormat, recognised
from polars_ir.inputs.log_sides import (
    SCORES,
    Side,
    by_text,
    check_complete,
    documents_of,
    field_of_ids,
    grades_of,
    ids_alike,
    normalised,
    numbers_of,
    query_of,
    scores_of,
    side_of,
    unrecognised,
    with_lists,
    without_field,
)
from polars_ir.inputs.spans import KIND, OF_RETRIEVERS
from polars_ir.language.options import Value, check, one_of, or_none, public

#: The column of calls.
STEP = "step"

#: The question of a trace, which its first span has.
ASKED = "polars_ir: asked"

#: The fields that say which span is of a retriever, also one that found nothing, and the values that do.
SPAN_KINDS = {"span_kind": OF_RETRIEVERS[KIND]} | {f"attributes.{name}": kind for name, kind in OF_RETRIEVERS.items()}

#: The columns of lists that a log lacks.
LACKING = {"retrieved": "polars_ir: retrieved", "relevant": "polars_ir: relevant"}

#: The beginning of the columns of lists of other numbers of documents.
BESIDE = "polars_ir: of documents "

#: The name of a field, as an option, and that of scores.
NAME = or_none(Value("the name of a field", lambda given: isinstance(given, str) and bool(given)))
SCORING = or_none(Value("the name of a field, or False", lambda given: given is False or isinstance(given, str)))


class Log(NamedTuple):
    """The tables of a log; None for those of which it has nothing."""

    run: Any
    qrels: Any
    queries: Any
    documents: Any


@public()
def read_log(
    source: Any,
    *,
    query: str | None = None,
    retrieved: str | None = None,
    relevant: str | None = None,
    ids: str | None = None,
    scores: str | Literal[False] | None = None,
    step: str | None = None,
    duplicates: Literal["error", "first"] = "error",
) -> Log:
    """Read a log of retrieval as its tool wrote it: run, judgments, and the texts of queries and documents.

    Recognised by their fields are own lists (`query_id` or `question`, `retrieved`, `relevant` and the like), ragas,
    DeepEval, LlamaIndex, Haystack, LangChain, LangSmith, retriever spans of OpenInference and OpenTelemetry (OTLP), and
    the data sets HotpotQA, MuSiQue, LongMemEval, BRIGHT and LlamaIndex', which have judgments and no run.

    Parameters
    ----------
    source
        JSON Lines, JSON, Parquet, Arrow IPC, CSV or TSV, a list of dicts, or a frame (Polars, pandas, Arrow); a
        LazyFrame is collected.
    query
        Field of the query's id; by default an id field, else the question, else `user_id`. All names may be paths:
        `inputs.query`.
    retrieved
        Field of the retrieved documents, best first: a list of ids or of objects. A list of lists is calls.
    relevant
        Field of the relevant ones. A list of lists is groups, of each of which an answer needs one, as in `from_lists`.
    ids
        Field of the id within an object: `node.id_`, `metadata.source`. Without ids texts stand for them.
    scores
        Field of scores (of the objects, or a list beside them) to be those of the run, or `"distance"`. By default the
        order of a list is the ranking, and scores are checked against it; False ignores them, as reranking needs.
    step
        Field of the number or the time (also in ISO 8601) of a call, where several records are calls of a query.
    duplicates
        `"first"`: a document that a list repeats counts once, at its first place. `"error"`: the evaluation refuses it.

    Returns
    -------
    Log
        `(run, qrels, queries, documents)`, of the kind of a frame that was given. `run` has `query_id`, `doc_id`,
        `score`, other numbers of the retrieved objects, such as the `tokens` of `R(budget=4000)`, and, of calls, `step`
        before them (as `merge_calls` takes it): those of a trace are numbered by start. Of two numbers of a name the
        outer one counts, also where it is null; ids, ranks, dates and places in texts are not taken. What is called as
        costs are, `tokens` or `n_chars`, may be texts of numbers, or a list of numbers beside the documents.
        `queries` and `documents` have the ids, `text`, and other single values of the log. None is what a log lacks.
        Ids are text where one side has text. Unanswerable questions of MuSiQue and LongMemEval are left out.

    Warns
    -----
    IRWarning
        Where texts stand for ids: the share of relevant texts that were retrieved.

    Raises
    ------
    IRError
        For fields that are not there, or not recognised, with those that are; for objects without ids and texts, ids on
        one side and texts on the other, a query in several records without `step`, and whatever `from_lists` refuses.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> asked = {"user_input": "Who?", "retrieved_context_ids": ["d1", "d2"], "reference_context_ids": ["d2"]}
    >>> log = ir.read_log(pl.DataFrame([asked]))
    >>> log.run.ir.evaluate(log.qrels, ["RR", "R@1"]).rows()
    [('Who?', 0.5, 0.0)]
    """
    named = {"query": query, "retrieved": retrieved, "relevant": relevant, "ids": ids, "step": step}
    for name, value in named.items():
        check(name, value, NAME)
    check("scores", scores, SCORING)
    check("duplicates", duplicates, one_of("error", "first"))
    return log_of(source, named, scores=scores, duplicates=duplicates)[0]


def log_of(
    source: Any,
    named: Mapping[str, str | None],
    *,
    scores: str | Literal[False] | None = None,
    duplicates: str = "error",
    **limits: Any,
) -> tuple[Log, str]:
    """The tables of a log, and in words what was taken for what."""
    is_file = isinstance(source, str | os.PathLike)
    shown = caller().name(os.fspath(source)) if is_file else "frame"
    if is_file:
        table = read_records(source, **limits)
    elif isinstance(source, list | tuple) and source and all(isinstance(record, dict) for record in source):
        table = _of_dicts(source)
    else:
        table = to_polars("source", source, column="score").lazy().collect()
    with with_names(source=shown, frame=shown):
        log, told = _log(table, named, scores=scores, duplicates=duplicates)
    return Log(*(None if part is None else give_back(part, None if is_file else source) for part in log)), told


def _log(
    table: pl.DataFrame, named: Mapping[str, str | None], *, scores: str | Literal[False] | None, duplicates: str
) -> tuple[Log, str]:
    """The tables of the log that a frame holds."""
    format = recognised(table.schema)
    table = with_lists(format.unpack(table), format, named)
    query, question = query_of(table, format, named)
    found, gold = side_of(table, format, "retrieved", named), side_of(table, format, "relevant", named)
    if query is None or (found is None and gold is None):
        raise unrecognised(table, named)
    sides = [side for side in (found, gold) if side]
    on_texts = by_text(table, sides, format)
    check_complete(table, sides, query.value.alias(query.path), on_texts=on_texts)
    table, keys = _ranked(table, format, named, query, question, found)
    _check_values(table, query, *(side.raw.value.alias(side.path) for side in sides))
    names = {"query": query.path}
    names |= {role: side.path if side else LACKING[role] for role, side in zip(LACKING, (found, gold), strict=True)}
    columns = dict.fromkeys(names.values(), pl.lit(None, pl.List(pl.String)))
    columns[query.path] = normalised(query.value) if query is question else query.value
    columns |= {side.path: ids for side, ids in zip(sides, ids_alike(sides, on_texts=on_texts), strict=True)}
    # Lists of texts beside those of objects may have other lengths.
    of_documents = {} if on_texts and format.retrieved_texts else numbers_of(table, found, [*keys, STEP])
    beside = {name: f"{BESIDE}{name}" for name in of_documents}
    lists = table.select(
        *keys,
        **columns,
        **scores_of(table, found, scores),
        **({} if gold is None else grades_of(table, gold)),
        **{beside[name]: numbers for name, numbers in of_documents.items()},
    )
    if found and found.raw.depth > 1:
        nested = [found.path, *(name for name in (SCORES,) if name in lists.columns)]
        lists, keys = _calls(lists, nested, [query.path, *keys], [*beside.values()]), list(dict.fromkeys([*keys, STEP]))
    run, qrels = _tables(lists, names, scores=scores, duplicates=duplicates, keys=keys, beside=beside)
    excluded = field(table.schema, format.excluded)
    if found and excluded and depth_of(excluded.dtype) == 1:
        left_out = table.select(query_id=columns[query.path], doc_id=excluded.value).explode("doc_id")
        left_out = left_out.cast({"doc_id": run.schema["doc_id"]}, strict=False)
        run = run.join(left_out, on=["query_id", "doc_id"], how="anti", maintain_order="left")
    if on_texts and found and gold:
        _tell_share(table, found, gold, run, qrels)
    documents = documents_of(table, format, sides, on_texts=on_texts, dtype=run.schema["doc_id"])
    taken = [query.path, *(side.path for side in sides)]
    queries = _queries(table, format, columns[query.path], question, taken)
    log = Log(run if found else None, qrels if gold else None, queries, documents)
    told = ", ".join(f"{role} {name!r}" for role, name in names.items() if name not in LACKING.values())
    return log, f"{format.name}: {told}{', compared as texts' * on_texts}"


def _ranked(
    table: pl.DataFrame,
    format: LogFormat,
    named: Mapping[str, str | None],
    query: Field,
    question: Field | None,
    found: Side | None,
) -> tuple[pl.DataFrame, list[str]]:
    """The records that count, and the columns that distinguish several of a query."""
    kept = pl.lit(value=True) if format.kept is None else format.kept
    kept = kept if set(kept.meta.root_names()) <= set(table.columns) else pl.lit(value=True)
    step = None if named["step"] is None else field(table.schema, named["step"])
    if named["step"] is not None and step is None:
        raise without_field(table, "step", named)
    if found and format.start:
        return _of_spans(table, format, kept, query, question, found, step)
    table = table.filter(kept)
    if step is not None:
        at = _times(table, step)
        if at is None:
            fix = "Number the calls of a query in their order, or write times in ISO 8601"
            raise DtypeError.of_column("source", step.path, "integers or times", step.dtype, fix)
        _check_values(table, step, query.value.alias(query.path))
        systems = [
            name for name, dtype in table.schema.items() if find("run", "run", [name]) and could_be("run", dtype)
        ]
        return table.with_columns(at.alias(STEP)), [*systems, STEP]
    if not table.select(query.value.is_duplicated().any()).item():
        return table, []
    keys = [name for name, dtype in table.schema.items() if name != query.path and may_distinguish(name, dtype)]
    # Several times of a question may be calls, or users.
    times = {
        name for name in keys if fold(name) in ("time", "timestamp") or isinstance(table.schema[name], pl.Datetime)
    }
    keys = [name for name in keys if name not in times]
    again = table.filter(pl.struct(query.value, *keys).is_duplicated())
    if again.height:
        shown = again.select(query.value.alias(query.path), *keys).head(SHOWN)
        advice = _distinguishing(again, query, question, keys)
        raise DataError.rows("source", f"with the {query.path!r} of another one", advice, again.height, shown)
    return table, keys


def _of_spans(
    table: pl.DataFrame,
    format: LogFormat,
    kept: pl.Expr,
    query: Field,
    question: Field | None,
    found: Side,
    step: Field | None,
) -> tuple[pl.DataFrame, list[str]]:
    """The spans of retrievers, which are calls of their trace, numbered by start."""
    of_call, known = found.raw.value.is_not_null(), pl.lit(value=format.kept is not None)
    for path, kind in SPAN_KINDS.items():
        if each := field(table.schema, path):
            of_call |= (each.value == kind).fill_null(value=False)
            known |= each.value.is_not_null()
    start = step or first_field(table.schema, format.start)
    if start is not None:
        at = _times(table, start)
        table = table.sort(start.value if at is None else at, maintain_order=True)
    if question is not None:
        asked = question.value.drop_nulls().first().over(query.value)
        table = table.with_columns(asked.alias(ASKED))
    _check_calls(table, query, of_call & kept, known)
    table = table.filter(kept & of_call)
    return table.with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(query.value).alias(STEP)), [STEP]


def _check_calls(table: pl.DataFrame, query: Field, of_call: pl.Expr, known: pl.Expr) -> None:
    """An error without any call, and a warning for traces of which nothing says whether a retriever was called."""
    if not table.select(of_call.any()).item():
        fix = "Export the spans of retrievers with their attributes: their documents, or the kind of the span"
        raise DataError("has no span of a retriever.", about="source", fix=fix)
    unknown = table.filter(~(of_call | known).any().over(query.value)).select(query.value.alias("id").unique().sort())
    if unknown.height:
        some = quoted(unknown["id"].head(SHOWN).cast(pl.String).to_list())
        traces = f"{unknown.height:,} trace{'s' * (unknown.height > 1)}"
        warn(f"has {traces} whose spans have neither documents nor a kind, left out: {some}.", about="source")


def _check_values(table: pl.DataFrame, of: Field, *shown: pl.Expr) -> None:
    """Raise an error for records without a value of a field."""
    fix = "Give each record one, or name a field that all have"
    refuse(table.filter(of.value.is_null()), f"without {of.path!r}", fix, *shown)


def _times(table: pl.DataFrame, at: Field) -> pl.Expr | None:
    """The numbers or times of calls, those in ISO 8601 as times in UTC; None for other values."""
    if at.dtype != pl.String:
        return at.value if at.dtype.is_integer() or at.dtype.is_temporal() else None
    text = (
        at.value.str.replace(r"^(\d{4}-\d\d-\d\d)$", "${1}T00:00:00").str.replace(" ", "T").str.replace("Z$", "+00:00")
    )
    text = pl.when(text.str.contains(r"[+-]\d\d:?\d\d$")).then(text).otherwise(text + "+00:00")
    times = text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", time_unit="ns", strict=False).dt.replace_time_zone(None)
    for each in (at.value.cast(pl.Int64, strict=False), times):
        if table.select((each.is_null() == at.value.is_null()).all()).item():
            return each
    return None


def _distinguishing(again: pl.DataFrame, query: Field, question: Field | None, keys: Sequence[str]) -> Fix | str:
    """Advice on records with the query of another: the field of their calls, or that of systems."""
    taken = [query.path, *keys, *([question.path] if question else [])]
    spare = [
        Field(name, pl.col(name), dtype)
        for name, dtype in again.schema.items()
        if name not in taken and (could_be("run", dtype) or dtype.is_temporal())
    ]
    ids = [query.value.alias("id"), *map(pl.col, keys)]
    apart = [
        each
        for each in spare
        if again.select(
            pl.struct(*ids, each.value.alias("at")).is_unique().all() & each.value.is_not_null().all()
        ).item()
    ]
    steps = [each.path for each in apart if _times(again, each) is not None]
    most = max(2, again.select(query.value.n_unique()).item())
    systems = [each.path for each in apart if each.path not in steps and again[each.path].n_unique() <= most]
    rename = f"If {systems[0]!r} names the system, rename it to 'run'; if" if systems else "If"
    if steps:
        return Fix(f"{rename} they are its calls, name the field of their numbers or times", Setting("step", steps[0]))
    return f"{rename} they are its calls, add a field of their numbers or times, and name it (step)"


def _calls(lists: pl.DataFrame, nested: Sequence[str], keys: Sequence[str], beside: Sequence[str]) -> pl.DataFrame:
    """A row for each of the lists in lists, numbered from 1 in the order of steps; one for a query without any."""
    lengths = [pl.col(name).list.len().fill_null(0).clip(1) for name in nested]
    problem = f"whose {' and '.join(map(repr, nested))} differ in length"
    refuse(lists.filter(lengths[0] != lengths[-1]), problem, "Give each call a list", keys[0], *nested)
    calls = lists.sort(STEP, maintain_order=True) if STEP in keys else lists
    calls = calls.explode(*nested, *beside, empty_as_null=True)
    of_a_query = [name for name in keys if name != STEP]
    return calls.with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(of_a_query).alias(STEP))


def _tables(
    lists: pl.DataFrame,
    names: dict[str, str],
    *,
    scores: str | Literal[False] | None,
    duplicates: str,
    keys: list[str],
    beside: Mapping[str, str],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The run and the qrels of lists."""
    column = DISTANCES[0] if scores and is_distance(scores) else SCORES if scores else None
    if column == SCORES and scores and SCORES in lists.columns and scores not in lists.columns:
        # Errors name the field that the caller did.
        lists, column = lists.rename({SCORES: scores}), scores
    try:
        how: dict[str, Any] = {"scores": column, "duplicates": duplicates, "keys": keys, "beside": beside}
        run, qrels = tables_of(lists, names, **how, grades=None, ignoring="give scores=False")
        return run.collect(), qrels.collect()
    except IRError as error:
        # Its code would be for the lists, which the caller does not have.
        if error.fix and isinstance(error.fix.code, Code):
            error.fix = error.fix._replace(code=None)
        raise


def _tell_share(table: pl.DataFrame, found: Side, gold: Side, run: pl.DataFrame, qrels: pl.DataFrame) -> None:
    """Tell how many relevant texts were retrieved, since texts that are cut elsewhere are never equal."""
    relevant = qrels.drop_nulls("doc_id")
    met = relevant.join(run, on=["query_id", "doc_id"], how="semi").height
    # The ids of objects are in fields of their own.
    ids = field_of_ids(table, found, relevant["doc_id"].unique()) if gold.plain and not met else None
    warn(
        f"lacks ids on a side, so that texts stand in for them: {met:,} of {relevant.height:,} relevant texts "
        "were retrieved (they are equal in NFC, trimmed, with one blank for white space).",
        about="source",
        fix=Fix("Ids are in a field of the retrieved objects", Setting("ids", ids)) if ids else None,
    )


def _queries(
    table: pl.DataFrame, format: LogFormat, id: pl.Expr, question: Field | None, taken: Sequence[str]
) -> pl.DataFrame | None:
    """The texts and other single values of queries; None for ids alone."""
    texts = {} if question is None else {"text": pl.col(ASKED) if ASKED in table.columns else question.value}
    leave_out = {*taken, *texts, *([question.path] if question else []), "query_id", STEP, ASKED}
    # Other values of spans are of the call.
    others = [] if format.start else [name for name in table.columns if name not in leave_out]
    others = [name for name in others if not table.schema[name].is_nested() and table[name].count()]
    rows = table.select(pl.col(others), query_id=id, **texts)
    # What its records have several values of, as of systems, is not of the query.
    most = rows.group_by("query_id").agg(pl.col(others).drop_nulls().n_unique()).select(pl.col(others).max())
    others = [name for name in others if most[name].item() == 1]
    if not texts and not others:
        return None
    rows = rows.select("query_id", *texts, *others)
    return rows.unique("query_id", keep="first", maintain_order=True)


def _of_dicts(records: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """Records that are dicts, read as lines of a file: 7 beside "07" are texts; a frame of dicts would make both 7."""
    lines = [_line(record) for record in records]
    try:
        return pl.read_ndjson("\n".join(lines).encode(), infer_schema_length=None)
    except FAILURES:
        pass
    try:
        # Of a text beside a list this reader makes lists.
        return pl.read_json(f"[{','.join(lines)}]".encode(), infer_schema_length=None)
    except FAILURES as error:
        says = f"mixes types in one of its fields: {str(error).splitlines()[0]}."
        raise InputTypeError(says, about="source", fix="Write each field in one form in all records") from None


def _line(record: dict[str, Any]) -> str:
    """The JSON of a record; what pandas has for a missing value is null."""
    line = json.dumps(record, default=_plain)
    return json.dumps(json.loads(line, parse_constant=lambda _: None)) if "NaN" in line or "Infinity" in line else line


def _plain(value: Any) -> Any:
    """A value that JSON has no form of: a time as ISO 8601, a number or an array of NumPy as those of Python."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if callable(plain := getattr(value, "tolist", None)):
        return plain()
    if isinstance(value, set | frozenset):
        says = f"holds a set, which has no order: {str(value)[:80]}."
        raise InputTypeError(says, about="source", fix="Keep the list that the set was made of")
    says = f"holds a {type(value).__name__}, which is neither an id nor a text, number, time, list or dict."
    raise InputTypeError(says, about="source", fix="Write it as a text")
