"""`from_lists`: a run and qrels from a table with one row per query and its documents in lists, as RAG logs.

Conventions: a list is a ranking, best first. Scores beside it must fall along it, and distances rise; which of the two
is right where they contradict each other, only the user knows.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from polars_ir.errors import Code, ColumnError, DtypeError, Fix, fold, quoted, warn
from polars_ir.frames.kinds import Frame, give_back, is_pandas, to_polars
from polars_ir.frames.roles import PARTS, ROLE_OF, USER, could_be, find, no_ids
from polars_ir.frames.rules import Rule, checked, distinguishing, keys_perhaps, without_id
from polars_ir.inputs.lists_in_texts import (
    CLOSING,
    ELEMENT,
    NOTHING,
    OPENING,
    PRINTED_SET,
    at_blanks,
    listing,
    naming,
    of_calls,
    prints_lists,
)
from polars_ir.language.options import check, column, one_of, or_none, public

#: Names of fields of ids in structs, folded, beside those of documents.
IDS = ("id", "chunkid", "nodeid")

#: An object or a list as JSON in the place of an id, as Polars reads one that stands beside texts.
NESTED_TEXT = r'^(?:\{"[^"]*":.*\}|\["[^"]*"(?:,"[^"]*")*\]|\[\d+(?:,\d+)*\])$'

#: The lists of the numbers of groups.
GROUPS = "polars_ir: groups"

#: Names of columns of distances, of which the lowest is the best.
DISTANCES = ("distance", "distances")


def is_distance(name: str) -> bool:
    """True for the name of distances, also as a field of objects: `hit.distance`."""
    return fold(name.rpartition(".")[2]) in DISTANCES


class Scores(NamedTuple):
    """Lists of scores: their column, and flags for distances, and for scores that make the ranking."""

    column: str
    distances: bool
    ranking: bool


@public()
def from_lists(
    frame: Any,
    *,
    query: str = "query_id",
    retrieved: str = "retrieved",
    scores: str | None = None,
    relevant: str = "relevant",
    grades: str | None = None,
    duplicates: Literal["error", "first"] = "error",
) -> tuple[Any, Any]:
    """A run and qrels from a table with one row per query and its documents in lists, as RAG logs have them.

    Parameters
    ----------
    frame
        Polars DataFrame or LazyFrame, pandas or Arrow; one row per query.
    query
        Column of query ids; `user_id` where there is no `query_id`.
    retrieved
        List column of the retrieved ids, best first; or of structs with a field for the id, as `doc_id` or `id`. Lists
        that a CSV has as text (`['d1', 'd2']`) are read, of a table in memory; a cell without one is null. Where the
        queries are in a column `user_id`, texts in it and in `relevant` are ids apart by blanks (Kaggle's submissions),
        unless a cell of both is the same, as titles are.
    scores
        List column of their scores. Without it the order of the list is the ranking; a column `scores` is then checked
        against that order, but not used. `"distance"` says that the scores are distances, in the column `distance`,
        `distances` or `scores`.
    relevant
        List column of the relevant ids, or of structs with a field for the id and one for the grade. An empty list
        means that nothing is relevant, null that the query is not judged. Lists of lists are groups, of each of which
        an answer needs one document: `[["a", "b"], ["c"]]` is "(a or b) and c".
    grades
        List column of their grades; by default `grades` where there is one. Without grades each is 1.
    duplicates
        `"first"`: a document that a list retrieves repeatedly, as the document of several chunks, counts once, at its
        first place. `"error"`: it stays, and is an error of the evaluation.

    Returns
    -------
    (run, qrels)
        `query_id`, `doc_id`, `score` (that of the lists; without scores Int64, the length of the list falling to 1),
        and `query_id`, `doc_id`, `relevance` (that of the lists, or Int64). Qrels of groups have their numbers, too:
        `subtopic`, Int64, 1 for the first and 0 where nothing is relevant; a document may be in several. Columns that
        distinguish rankings of a query (`run` or another name of systems, days, `version` and the like) are columns of
        the run, before these.
        A query whose list of relevant ids is empty stays in the qrels, as a row without document and grade: it is
        evaluated, and no document is relevant to it. A query whose list is null has no row in the qrels.

    Warns
    -----
    IRWarning
        For ids of -1, as where an index finds no neighbour, and empty texts, of a table in memory; for texts that are
        read as ids apart by blanks.

    Raises
    ------
    IRError
        For an unknown column, or one that is no list, lists of different length in a row, a null in a list, a group
        without a document, a ranking in two rows, relevant documents that differ between rows of a query, and scores
        that rise along a list, or distances that fall: the list would be another ranking.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> log = pl.DataFrame({"query_id": ["q"], "retrieved": [["d1", "d2"]], "relevant": [["d2", "d3"]]})
    >>> run, qrels = ir.from_lists(log)
    >>> run.ir.recall(qrels, k=2).row(0)
    ('q', 0.5)
    """
    named = {"query": query, "retrieved": retrieved, "relevant": relevant}
    for role, name in named.items():
        check(role, name, column("the frame"))
    for role, values_of in {"scores": scores, "grades": grades}.items():
        if check(role, values_of, or_none(column("the frame"))) is not None:
            named[role] = str(values_of)
    check("duplicates", duplicates, one_of("error", "first"))
    _check_sets(frame, retrieved)
    table = to_polars("frame", frame, column="score")
    run, qrels = tables_of(table, named, scores=scores, grades=grades, duplicates=duplicates, beside={})
    return give_back(run, frame), give_back(qrels, frame)


def tables_of(
    table: Frame,
    named: dict[str, str],
    *,
    scores: str | None,
    grades: str | None,
    duplicates: str,
    beside: Mapping[str, str],
    keys: Sequence[str] = (),
    ignoring: str = "leave them out",
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """A run and qrels of lists; `keys` distinguish rankings of a query, as columns of systems and days do.

    `beside` are columns of the run, and the lists of their values, as long as those of the retrieved documents.
    `ignoring` are the words on how to ignore scores that contradict a list.
    """
    query, retrieved, relevant = (named[role] for role in ("query", "retrieved", "relevant"))
    _check_sets(table, retrieved)
    query = named["query"] = _query_column(table, query)
    numbers = [name for name in (scores, grades) if name is not None]
    table = read_lists(table, ids=[retrieved, relevant], numbers=[*numbers, "scores", "grades", *DISTANCES])
    table = at_blanks(table, retrieved, relevant) if fold(query) == fold(USER) else table
    own = table.collect_schema()
    table, of_structs = _unpacked(table, {retrieved: "score", relevant: "relevance"})
    columns = table.collect_schema()
    values = _scores_of(scores, columns, of_structs.get(retrieved))
    grades = grades or of_structs.get(relevant) or ("grades" if "grades" in columns else None)
    if groups := _is_nested(columns.get(relevant)):
        table = _flat(table, query, relevant, grades)
        columns = table.collect_schema()
    pairs = [(retrieved, values.column if values and scores else None), (relevant, grades)]
    _check_lists(table, named, pairs)
    taken = [query, *(name for pair in pairs for name in pair if name)]
    apart = [name for name, dtype in columns.items() if name not in taken and may_distinguish(name, dtype)]
    apart = list(dict.fromkeys([*apart, *keys]))
    rules = _rules_of_memory(table, [*apart, query], pairs) if isinstance(table, pl.DataFrame) else []
    if values is not None:
        rules.append(_order(own, query, retrieved, values, ignoring))
    table = checked(table, *rules, about="frame", keys=[query], names={})
    if isinstance(table, pl.DataFrame):
        _warn_of_no_ids(table, retrieved)
    rows = table.lazy()
    if duplicates == "first":
        first = pl.col(retrieved).list.eval(pl.element().arg_unique())
        of_scores = [values.column] if values and values.ranking else []
        lists = (retrieved, *of_scores, *beside.values())
        rows = rows.with_columns(pl.col(name).list.gather(first) for name in lists)
    score = pl.int_ranges(length_of(retrieved).cast(pl.Int64), 0, -1)
    if values and values.ranking:
        score = pl.col(values.column)
        score = score.list.eval(_negated(columns[values.column])) if values.distances else score
    run = rows.select(*apart, query_id=query, doc_id=retrieved, score=score, **beside)
    run = run.explode("doc_id", "score", *beside, keep_nulls=False)
    return run, _judged(table, query, relevant, grades, groups=groups, repeated=bool(apart))


def _judged(
    table: Frame, query: str, relevant: str, grades: str | None, *, groups: bool, repeated: bool
) -> pl.LazyFrame:
    """The qrels of lists of relevant documents, with the numbers of their groups."""
    lists = [relevant, *([GROUPS] if groups else [])]
    judged = (_judged_once(table, query, lists, grades) if repeated else table).lazy()
    subtopic = dict.fromkeys(("subtopic",), GROUPS) if groups else {}
    relevance = pl.lit(1, pl.Int64) if grades is None else pl.col(grades)
    qrels = judged.select(query_id=query, **subtopic, doc_id=relevant, relevance=relevance)
    qrels = qrels.explode("doc_id", *subtopic, *(["relevance"] if grades else []), keep_nulls=False)
    # As a number, since pandas would make floats of the others beside a null.
    no_group = dict.fromkeys(subtopic, pl.lit(0, pl.Int64))
    nothing = judged.filter(pl.col(relevant).list.len() == 0)
    nothing = nothing.select(query_id=query, **no_group, doc_id=None, relevance=None)
    return pl.concat([qrels, nothing], how="vertical_relaxed")


def _query_column(table: Frame, query: str) -> str:
    """The column of queries: that of users where there is none by its own name."""
    columns = table.collect_schema()
    users = [name for name in columns if fold(name) == fold(USER)]
    return users[0] if query == "query_id" and query not in columns and users else query


def may_distinguish(name: str, dtype: pl.DataType) -> bool:
    """True for a column of systems, days or tenants, each with its own rankings of a query."""
    is_key = could_be("run", dtype) or dtype.is_temporal()
    return is_key and (ROLE_OF.get(fold(name)) == "run" or fold(name) in PARTS or dtype.is_temporal())


def _is_nested(dtype: pl.DataType | None) -> bool:
    """True for lists of lists."""
    return isinstance(dtype, pl.List) and isinstance(dtype.inner, (pl.List, pl.Array))


def _flat(table: Frame, query: str, relevant: str, grades: str | None) -> Frame:
    """The table with one list of the documents of all groups, and beside it their numbers."""
    group = pl.element()
    empty = pl.col(relevant).list.eval(group.list.len().fill_null(0) == 0).list.any().fill_null(False)
    words = "A group is documents of which any will do: leave it out, or give it the document that is missing"
    rule = Rule(empty, f"whose {relevant!r} holds a group without a document", words)
    table = checked(table, rule, about="frame", keys=[query], names={})
    numbers = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).repeat_by(group.list.len()).explode()
    nested = [name for name in (relevant, grades) if name and _is_nested(table.collect_schema().get(name))]
    # Groups of ids alone have no order, and rows of a query may have them in several.
    documents = group.list.sort() if grades is None else group
    return table.with_columns(
        pl.col(relevant).list.eval(numbers).alias(GROUPS),
        *(pl.col(name).list.eval(documents.explode()) for name in nested),
    )


def _judged_once(table: Frame, query: str, lists: Sequence[str], grades: str | None) -> Frame:
    """The relevant documents of each query, which all of its systems and days must share."""
    relevant, *groups = lists
    gold = [*lists, *([grades] if grades else [])]
    judged = table.filter(pl.col(relevant).is_not_null()).select(query, *gold)
    if grades is None and not groups:
        judged = judged.with_columns(pl.col(relevant).list.sort())
    judged = judged.unique(maintain_order=True)
    words = "Judgments are of a query, whatever system answers it: give it one list, or make ids of queries of both"
    rule = Rule(pl.col(query).is_duplicated(), f"whose {relevant!r} is another than that of a row of the query", words)
    return checked(judged, rule, about="frame", keys=[query], names={})


def _warn_of_no_ids(table: pl.DataFrame, retrieved: str) -> None:
    """Warn of ids that stand for no document: -1, as where an index finds no neighbour, and empty texts."""
    found = no_ids(table[retrieved].explode())
    if not found:
        return
    no_id = found[0]
    of_polars = f"list.eval(pl.element().filter(pl.element() != {no_id!r}))"
    of_pandas = f"map(lambda ids: [id for id in ids if id != {no_id!r}], na_action='ignore')"
    code = Code.making("frame", retrieved, of_polars, of_pandas)
    says = f"{retrieved!r} holds the id {no_id!r}, which counts as a document that was retrieved."
    warn(says, about="frame", fix=without_id(no_id, code, "it"))


def read_lists(table: Frame, *, ids: list[str], numbers: list[str]) -> Frame:
    """The table with lists instead of texts that print them, as in a CSV; a plan is unchanged.

    A cell without a list is null, as an empty one of a CSV is.
    """
    if not isinstance(table, pl.DataFrame):
        return table
    read = []
    for name in [name for name in dict.fromkeys([*ids, *numbers]) if name in table.columns]:
        if prints_lists(table, name):
            elements = pl.element().str.strip_chars("'\"")
            elements = elements if name in ids else elements.cast(pl.Float64, strict=False)
            text = pl.col(name).str.replace(OPENING, "").str.replace(CLOSING, "")
            there = pl.when(~pl.col(name).str.contains(NOTHING)).then(text)
            read.append(there.str.extract_all(ELEMENT).list.eval(elements))
    return table.with_columns(read)


def _negated(dtype: pl.DataType) -> pl.Expr:
    """The elements of lists with the other sign, which unsigned numbers do not have."""
    unsigned = isinstance(dtype, pl.List) and dtype.inner is not None and dtype.inner.is_unsigned_integer()
    return 0 - pl.element().cast(pl.Int128) if unsigned else -pl.element()


def length_of(column: str) -> pl.Expr:
    """The length of a list; 0 for a missing one."""
    return pl.col(column).list.len().fill_null(0)


def _unpacked(table: Frame, roles: dict[str, str]) -> tuple[Frame, dict[str, str]]:
    """The table with lists of ids instead of lists of structs, and the columns of their scores and grades."""
    table = table.with_columns(
        pl.col(name).arr.to_list() for name, dtype in table.collect_schema().items() if isinstance(dtype, pl.Array)
    )
    values: dict[str, str] = {}
    for name, role in roles.items():
        dtype, of_groups = table.collect_schema().get(name), False
        if role == "relevance" and isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.List):
            dtype, of_groups = dtype.inner, True
        if not (isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Struct)):
            continue
        fields = [field.name for field in dtype.inner.fields]
        document = find(name, "doc_id", fields) or next((field for field in fields if fold(field) in IDS), None)
        if document is None:
            ids = Code(
                f"frame.with_columns(pl.col({name!r}).list.eval(pl.element().struct.field({fields[0]!r})))",
                f"frame.assign(**{{{name!r}: [[row[{fields[0]!r}] for row in rows] for rows in frame[{name!r}]]}})",
            )
            says = f"column {name!r} holds structs without a field doc_id, id or chunk_id; they have {quoted(fields)}."
            raise ColumnError(says, about="frame", fix=Fix("Take the field of ids, as in", ids))
        of_ids = dtype.inner.to_schema()[document]
        if of_ids.is_nested():
            raise _no_id(name, document, of_ids, fields)
        of_field = {name: document}
        if (value := find(name, role, fields)) is not None:
            values[name] = f"{name}.{value}"
            of_field[values[name]] = value
        table = table.with_columns(
            _field(pl.col(name), field, of_groups=of_groups).alias(column) for column, field in of_field.items()
        )
    return table, values


def _no_id(name: str, field: str, dtype: Any, fields: Sequence[str]) -> DtypeError:
    """The error for a field of ids that holds something else, as LangChain's dump does the path of a class."""
    words, code = "Take the field that holds ids", None
    if "kwargs" in fields:
        words = "LangChain dumps the path of a class there, and the document under 'kwargs'; take it, as in"
        inner = "pl.element().struct.field('kwargs')"
        code = Code(
            f"frame.with_columns(pl.col({name!r}).list.eval({inner}))",
            f"frame.assign(**{{{name!r}: [[row['kwargs'] for row in rows] for rows in frame[{name!r}]]}})",
        )
    return DtypeError.of_column("frame", f"{name}.{field}", "ids", dtype, Fix(words, code) if code else Fix(words))


def _field(lists: pl.Expr, field: str, *, of_groups: bool) -> pl.Expr:
    """The lists of a field of structs, or of groups of them."""
    value = pl.element().struct.field(field)
    return lists.list.eval(pl.element().list.eval(value) if of_groups else value)


def _scores_of(scores: str | None, columns: pl.Schema, of_structs: str | None) -> Scores | None:
    """The scores by their name or, without one, those beside a list, which only check its order."""
    if scores is not None:
        if not is_distance(scores):
            return Scores(scores, distances=False, ranking=True)
        names = [scores, *DISTANCES, *([of_structs] if of_structs else []), "scores"]
        return Scores(next((name for name in names if name in columns), scores), distances=True, ranking=True)
    name = of_structs or "scores"
    dtype = columns.get(name)
    if isinstance(dtype, pl.List) and dtype.inner is not None and dtype.inner.is_numeric():
        return Scores(name, distances=False, ranking=False)
    return None


def _check_sets(frame: Any, retrieved: str) -> None:
    """Raise a `DtypeError` for sets, which a column of Python objects can hold, in the place of rankings."""
    if not (is_pandas(frame) or isinstance(frame, pl.DataFrame)) or retrieved not in frame.columns:
        return
    values = frame[retrieved]
    of_objects = values.dtype in (object, pl.Object) and any(isinstance(each, (set, frozenset)) for each in values)
    if of_objects or (values.dtype == pl.String and values.str.contains(PRINTED_SET).any()):
        says = f"column {retrieved!r} must hold lists, best first; it has sets, which have no order."
        raise DtypeError(says, about="frame", fix="Keep the list that the set was made of")


def _order(columns: Container[str], query: str, retrieved: str, values: Scores, ignoring: str) -> Rule:
    """The rule that lists are in the order of their scores."""
    name, negative = values.column, "-" * values.distances
    code = Code(
        f"frame.select(query_id={query!r}, doc_id={retrieved!r}, score={negative}pl.col({name!r}))"
        ".explode('doc_id', 'score').drop_nulls()",
        f"frame[[{query!r}, {retrieved!r}, {name!r}]].explode([{retrieved!r}, {name!r}])"
        ".set_axis(['query_id', 'doc_id', 'score'], axis=1).dropna()",
    )
    if name not in columns:  # a field of structs
        code = Code(f"frame.select({query!r}, {retrieved!r}).explode({retrieved!r}).unnest({retrieved!r})")
    other = "give scores='distance' if they are distances"
    if values.distances:
        other = "name their column in scores= if they are scores"
    elif name in columns and name != "scores":
        within, dot, _ = name.rpartition(".")
        called = f"{within}{dot}{DISTANCES[0]}"
        other = f"call them {called!r} and give scores={called!r} if they are distances"
    words = f"A list is a ranking, best first: {other}, or {ignoring} if the list is right"
    rise = pl.col(name).list.drop_nulls().list.diff().list
    wrong = (rise.min() < 0 if values.distances else rise.max() > 0).fill_null(False)
    moving = "as distances, fall" if values.distances else "as scores, rise"
    problem = f"whose {name!r}, {moving} along {retrieved!r}"
    return Rule(wrong, problem, Fix(f"{words}; if the scores are right, make a run of them", code))


def _rules_of_memory(table: pl.DataFrame, keys: list[str], pairs: list[tuple[str, str | None]]) -> list[Rule]:
    """The rules of a table in memory: no null id, a value for each document, and a row for each ranking."""
    rules = []
    for ids, values in pairs:
        if values is not None:
            differ = length_of(ids) != length_of(values)
            problem = f"whose {ids!r} and {values!r} differ in length"
            rules.append(Rule(differ, problem, "Give each document one value."))
    inner: dict[str, Any] = {ids: table.schema[ids].inner for ids, _ in pairs}  # type: ignore[attr-defined]  # all are lists
    own = "Give a document without an id one of its own, so that those below stay in their places; else leave it out"
    one_form = "Lines of the log differ: write all ids in one form, and gold as lists of lists in all rows or in none"
    as_texts = "Numbers beside texts of numbers were read as floats: write ids as texts in all rows"
    for may_hold, wrong, what, words in (
        (lambda _: True, pl.element().is_null(), "a null", own),
        (
            lambda dtype: dtype == pl.String,
            pl.element().str.contains(NESTED_TEXT),
            "JSON in the place of an id",
            one_form,
        ),
        (lambda dtype: dtype.is_float(), pl.element() % 1 != 0, "an id that is not a whole number", as_texts),
    ):
        held = {ids: pl.col(ids).list.eval(wrong).list.any() for ids, dtype in inner.items() if may_hold(dtype)}
        rules += [Rule(holds, f"whose {ids!r} holds {what}", words) for ids, holds in held.items()]
    again = table.filter(pl.struct(keys).is_duplicated())
    spare = [name for name in keys_perhaps(again.schema, keys) if not again.schema[name].is_nested()]
    apart = distinguishing(again, keys, spare) if again.height else []
    fix = Fix("Keep one row of each ranking")
    # As many answers as rows are no names of systems.
    if len(apart) == 1 and again[apart[0]].n_unique() <= max(2, again[keys[-1]].n_unique()):
        words = f"If {apart[0]!r} names the system or the turn, rename it, so that each has a ranking of its own"
        fix = Fix(words, Code.renaming("frame", {apart[0]: "run"}))
    once = Rule(pl.struct(keys).is_duplicated(), f"with the {keys[-1]!r} of another row", fix)
    return [*rules, once]


def _check_lists(table: Frame, named: Mapping[str, str], pairs: list[tuple[str, str | None]]) -> None:
    """Raise an error for unknown columns, or columns without lists of single values."""
    schema = table.collect_schema()
    lists = [name for pair in pairs for name in pair if name is not None]
    for name in (named["query"], *lists):
        if name not in schema:
            candidates = [name for name in schema if _could_be_ids(table, name, schema[name])]
            fix = naming(
                schema.names(), candidates, {role: name for role, name in named.items() if name in schema}, lists
            )
            raise ColumnError(f"frame has no column {name!r}; it has {quoted(schema.names())}.", fix=fix)
    for name in lists:
        dtype = schema[name]
        if not isinstance(dtype, pl.List):
            fix = listing(table, name, dtype, named)
            raise DtypeError.of_column("frame", name, "a list", dtype, fix)
        if isinstance(dtype.inner, (pl.List, pl.Array)):
            raise DtypeError.of_column("frame", name, "a list of ids", dtype, of_calls(name, named["query"]))


def _could_be_ids(table: Frame, name: str, dtype: pl.DataType) -> bool:
    """True for a column whose lists, or printed lists, could hold ids."""
    if isinstance(dtype, pl.List):
        return not isinstance(dtype.inner, pl.DataType) or not (dtype.inner.is_float() or dtype.inner.is_decimal())
    return prints_lists(table, name)
