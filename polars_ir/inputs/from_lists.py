"""`from_lists`: a run and qrels from a table with one row per query and its documents in lists, as RAG logs.

Conventions: a list is a ranking, best first. Scores beside it must fall along it, and distances rise; which of the two
is right where they contradict each other, only the user knows.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Container
from contextlib import suppress
from typing import Any, NamedTuple

import polars as pl

from polars_ir.errors import Code, ColumnError, DtypeError, Fix, closest, quoted
from polars_ir.frames.kinds import Frame, give_back, is_pandas, to_polars
from polars_ir.frames.roles import RELEVANT, RETRIEVED, ROLES, find, fold
from polars_ir.frames.rules import Rule, checked
from polars_ir.language.options import public

#: An element of a list as Python, JSON or NumPy print it: between quotes, or a word.
QUOTED, NUMBER = r"""'[^'\\]*'|"[^"\\]*\"""", r"-?\d[\d.e+-]*"
ELEMENT = rf"""{QUOTED}|[^\s,\[\]{{}}'"]+"""

#: A printed list or tuple, whose elements commas part or, of quoted ones and numbers in a list, blanks.
IN_A_ROW = rf"\s*(?:(?:{ELEMENT})(?:\s*,\s*(?:{ELEMENT}))*\s*,?)?\s*"
PRINTED = rf"^\s*(?:\[{IN_A_ROW}\]|\({IN_A_ROW}\))\s*$"
PRINTED_BY_NUMPY = rf"^\s*\[\s*(?:(?:{QUOTED}|{NUMBER})(?:\s+(?:{QUOTED}|{NUMBER}))*)?\s*\]\s*$"

#: A printed set, and the signs around the elements of any of these.
PRINTED_SET = rf"^\s*(?:\{{(?:{QUOTED}|{NUMBER})(?:\s*,\s*(?:{QUOTED}|{NUMBER}))*\}}|set\(\))\s*$"
OPENING, CLOSING = r"^\s*(?:set\(|[\[({])", r"[\])}]\s*$"

#: A missing element, which is no id, and where a printed list was cut short.
MISSING = r"\b(?:None|null|nan|NaN|NA)\b"
CUT = r"(?:^|[\s,\[(])(?:\.\.\.|…)(?:[\s,\])]|$)"

#: A cell in which there is no list.
NOTHING = r"^\s*(?:None|null|nan|NaN|NA)?\s*$"

#: Separators of ids in a text, each with its pattern for pandas.
SEPARATORS = {"|": r"\|", ";": ";", "\n": r"\n", "\t": r"\t", ",": ",", " ": " "}

#: Names of fields of ids in structs, folded, beside those of documents.
IDS = ("id", "chunkid", "nodeid")

#: Names of columns of distances, of which the lowest is the best.
DISTANCES = ("distance", "distances")


class Scores(NamedTuple):
    """The lists of scores: their column, and flags for distances, and for scores that make the ranking."""

    column: str
    distances: bool
    ranking: bool

    def contradicts(self) -> pl.Expr:
        """An expression that is true for a list along which scores rise, or distances fall."""
        rise = pl.col(self.column).list.diff().list
        return (rise.min() < 0 if self.distances else rise.max() > 0).fill_null(False)

    def problem(self, retrieved: str) -> str:
        """The problem of lists that contradict their scores."""
        moving = "as distances, fall" if self.distances else "as scores, rise"
        return f"{self.column!r}, {moving} along {retrieved!r}"

    def ways(self) -> str:
        """Advice on how to decide between a list and its scores."""
        other = (
            "name their column in scores= if they are scores"
            if self.distances
            else "give scores='distance' if they are distances"
        )
        return f"{other}, or leave them out if the list is right"


@public()
def from_lists(
    frame: Any,
    *,
    query: str = "query_id",
    retrieved: str = "retrieved",
    scores: str | None = None,
    relevant: str = "relevant",
    grades: str | None = None,
) -> tuple[Any, Any]:
    """A run and qrels from a table with one row per query and its documents in lists, as RAG logs have them.

    Parameters
    ----------
    frame
        Polars DataFrame or LazyFrame, pandas or Arrow; one row per query.
    query
        Column of query ids.
    retrieved
        List column of the retrieved ids, best first; or of structs with a field for the id, as `doc_id` or `id`. Lists
        that a CSV has as text (`['d1', 'd2']`) are read, of a table in memory; a cell without one is null.
    scores
        List column of their scores. Without it the order of the list is the ranking; a column `scores` is then checked
        against that order, but not used. `"distance"` says that the scores are distances, in the column `distance`,
        `distances` or `scores`.
    relevant
        List column of the relevant ids, or of structs with a field for the id and one for the grade. An empty list
        means that nothing is relevant, null that the query is not judged.
    grades
        List column of their grades; by default `grades` where there is one. Without grades each is 1.

    Returns
    -------
    (run, qrels)
        `query_id`, `doc_id`, `score` (that of the lists; without scores Int64, the length of the list falling to 1),
        and `query_id`, `doc_id`, `relevance` (that of the lists, or Int64). A query whose list of
        relevant ids is empty stays in the qrels, as a row without document and grade: it is evaluated, and no document
        is relevant to it. A query whose list is null has no row in the qrels.

    Raises
    ------
    IRError
        For an unknown column, or one that is no list, lists of different length in a row, a query in two rows, and
        scores that rise along a list, or distances that fall: the list would be another ranking.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> log = pl.DataFrame({"query_id": ["q"], "retrieved": [["d1", "d2"]], "relevant": [["d2", "d3"]]})
    >>> run, qrels = ir.from_lists(log)
    >>> run.ir.recall(qrels, k=2).row(0)
    ('q', 0.5)
    """
    _check_sets(frame, retrieved)
    table = to_polars("frame", frame, column="score")
    _check_sets(table, retrieved)
    named = [name for name in (scores, grades) if name is not None]
    table = _read(table, ids=[retrieved, relevant], numbers=[*named, "scores", "grades", *DISTANCES])
    own = table.collect_schema()
    table, of_structs = _unpacked(table, {retrieved: "score", relevant: "relevance"})
    columns = table.collect_schema()
    values = _scores_of(scores, columns, of_structs.get(retrieved))
    grades = grades or of_structs.get(relevant) or ("grades" if "grades" in columns else None)
    pairs = [(retrieved, values.column if values and scores else None), (relevant, grades)]
    _check_lists(table, query, pairs)
    eager = isinstance(table, pl.DataFrame)
    rules = _rules_of_memory(query, pairs) if eager else []
    if values is not None:
        rules.append(_order(own, query, retrieved, values))
    rows = checked(table.lazy(), *rules, eager=eager, about="frame", keys=[query], names={})
    score = pl.int_ranges(length_of(retrieved).cast(pl.Int64), 0, -1)
    if values and values.ranking:
        score = pl.col(values.column)
        score = score.list.eval(_negated(columns[values.column])) if values.distances else score
    run = rows.select(query_id=query, doc_id=retrieved, score=score).explode("doc_id", "score", keep_nulls=False)
    qrels = rows.select(query_id=query, doc_id=relevant, relevance=pl.lit(1, pl.Int64) if grades is None else grades)
    qrels = qrels.explode("doc_id", *(["relevance"] if grades else []), keep_nulls=False)
    nothing = rows.filter(pl.col(relevant).list.len() == 0).select(query_id=query, doc_id=None, relevance=None)
    return give_back(run, frame), give_back(pl.concat([qrels, nothing], how="vertical_relaxed"), frame)


def _read(table: Frame, *, ids: list[str], numbers: list[str]) -> Frame:
    """The table with lists in the place of texts that print them, as a CSV has them; a plan stays as it is.

    A cell without a list is null, as an empty one of a CSV is.
    """
    if not isinstance(table, pl.DataFrame):
        return table
    read = []
    for name in [name for name in dict.fromkeys([*ids, *numbers]) if name in table.columns]:
        if _prints_lists(table, name):
            elements = pl.element().str.strip_chars("'\"")
            elements = elements if name in ids else elements.cast(pl.Float64)
            text = pl.col(name).str.replace(OPENING, "").str.replace(CLOSING, "")
            there = pl.when(~pl.col(name).str.contains(NOTHING)).then(text)
            read.append(there.str.extract_all(ELEMENT).list.eval(elements))
    return table.with_columns(read)


def _prints_lists(table: Frame, name: str) -> bool:
    """True of a column in memory whose texts are printed lists, tuples or sets without a missing element."""
    if not isinstance(table, pl.DataFrame) or table.schema[name] != pl.String or not table[name].count():
        return False
    texts = table[name].drop_nulls()
    texts = texts.filter(~texts.str.contains(NOTHING))
    return not texts.is_empty() and _not_printed(texts).is_empty()


def _not_printed(texts: pl.Series) -> pl.Series:
    """The texts that are no whole printed list, or have a missing element."""
    printed = texts.str.contains(f"{PRINTED}|{PRINTED_BY_NUMPY}|{PRINTED_SET}")
    return texts.filter(~printed | texts.str.contains(MISSING) | texts.str.contains(CUT))


def _negated(dtype: pl.DataType) -> pl.Expr:
    """The elements of lists with the other sign, which unsigned numbers do not have."""
    unsigned = isinstance(dtype, pl.List) and dtype.inner is not None and dtype.inner.is_unsigned_integer()
    return 0 - pl.element().cast(pl.Int128) if unsigned else -pl.element()


def length_of(column: str) -> pl.Expr:
    """The length of a list; 0 for a missing one."""
    return pl.col(column).list.len().fill_null(0)


def _unpacked(table: Frame, roles: dict[str, str]) -> tuple[Frame, dict[str, str]]:
    """The table with lists of ids in the place of lists of structs, and the columns of their scores and grades."""
    table = table.with_columns(
        pl.col(name).arr.to_list() for name, dtype in table.collect_schema().items() if isinstance(dtype, pl.Array)
    )
    values: dict[str, str] = {}
    for name, role in roles.items():
        dtype = table.collect_schema().get(name)
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
        of_field = {name: document}
        if (value := find(name, role, fields)) is not None:
            values[name] = f"{name}.{value}"
            of_field[values[name]] = value
        table = table.with_columns(
            pl.col(name).list.eval(pl.element().struct.field(field)).alias(column) for column, field in of_field.items()
        )
    return table, values


def _scores_of(scores: str | None, columns: pl.Schema, of_structs: str | None) -> Scores | None:
    """The scores by their name or, without one, those beside a list, which only check its order."""
    if scores is not None:
        if fold(scores) not in DISTANCES:
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


def _order(columns: Container[str], query: str, retrieved: str, values: Scores) -> Rule:
    """The rule that the order of lists is that of their scores."""
    name, negative = values.column, "-" * values.distances
    code = Code(
        f"frame.select(query_id={query!r}, doc_id={retrieved!r}, score={negative}pl.col({name!r}))"
        ".explode('doc_id', 'score').drop_nulls()",
        f"frame[[{query!r}, {retrieved!r}, {name!r}]].explode([{retrieved!r}, {name!r}])"
        ".set_axis(['query_id', 'doc_id', 'score'], axis=1).dropna()",
    )
    if name not in columns:  # a field of structs
        code = Code(f"frame.select({query!r}, {retrieved!r}).explode({retrieved!r}).unnest({retrieved!r})")
    fix = Fix(f"A list is a ranking, best first: {values.ways()}; if the scores are right, make a run of them", code)
    return Rule(values.contradicts(), f"whose {values.problem(retrieved)}", fix)


def _rules_of_memory(query: str, pairs: list[tuple[str, str | None]]) -> list[Rule]:
    """The rules of a table in memory: a value for each document, and a row for each query."""
    lengths = [
        Rule(
            length_of(ids) != length_of(values),
            f"whose {ids!r} and {values!r} differ in length",
            "Give each document one value.",
        )
        for ids, values in pairs
        if values is not None
    ]
    once = Rule(pl.col(query).is_duplicated(), f"with the {query!r} of another row", "Keep one row a query.")
    return [*lengths, once]


def _naming(table: Frame, schema: pl.Schema) -> Fix:
    """Advice on how to name columns, with those closest to the expected names."""
    lists = [name for name, dtype in schema.items() if isinstance(dtype, pl.List) or _prints_lists(table, name)]
    query = closest(ROLES["query_id"].names, [name for name in schema if name not in lists])
    retrieved = closest(RETRIEVED, lists)
    relevant = closest(RELEVANT, [name for name in lists if name != retrieved])
    said = {"query": query, "retrieved": retrieved, "relevant": relevant}
    words = ", ".join(f"{name}={column!r}" for name, column in said.items() if column is not None)
    return Fix("Say which they are", Code(f"ir.from_lists(frame, {words})"))


def _listing(name: str, dtype: pl.DataType, texts: pl.Series | None) -> Fix:
    """Advice on how to make lists of a column of another type; `texts` are those in memory."""
    if texts is None and dtype == pl.String:
        return Fix("Collect it, for lists in texts to be read", Code("frame.collect()"))
    if texts is not None and dtype == pl.String:
        texts = texts.drop_nulls().filter(~texts.drop_nulls().str.contains(NOTHING))
        return _parsing(name, _not_printed(texts)) if texts.str.contains(r"^\s*[\[({]").any() else _parting(name, texts)
    if dtype == pl.Object:
        code = Code(
            f"frame.with_columns(pl.col({name!r}).map_elements(list, return_dtype=pl.List(pl.String)))",
            f"frame.assign(**{{{name!r}: frame[{name!r}].map(list)}})",
        )
        return Fix("Make lists of its objects", code)
    return _one_each(name)


def _parsing(name: str, texts: pl.Series) -> Fix:
    """Advice on how to read printed lists that are not read here: the code that reads the first."""
    text = texts[0]
    if texts.str.contains(CUT).any():
        return Fix("Lists in it were cut short as they were printed ('...'): store them whole, as JSON or in Parquet")
    for parser, called in ((json.loads, "json.loads"), (ast.literal_eval, "ast.literal_eval")):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            if isinstance(parser(text), (list, tuple)):
                code = Code(
                    f"frame.with_columns(pl.Series({name!r}, map({called}, frame[{name!r}])))",
                    f"frame.assign(**{{{name!r}: frame[{name!r}].map({called})}})",
                )
                return Fix("Parse its texts", code)
    return Fix(f'{text!r:.80} is no list that can be read; write lists as JSON, such as \'["d1", "d2"]\'')


def _parting(name: str, texts: pl.Series) -> Fix:
    """Advice on how to make lists of texts without brackets: by the first separator that they have."""
    for separator, pattern in SEPARATORS.items():
        if texts.str.contains(separator, literal=True).any():
            code = Code(
                f"frame.with_columns(pl.col({name!r}).str.split({separator!r}).list.eval(pl.element().str.strip_chars()))",
                f"frame.assign(**{{{name!r}: frame[{name!r}].str.split(r'\\s*{pattern}\\s*', regex=True)}})",
            )
            return Fix("Split it", code)
    return _one_each(name)


def _one_each(name: str) -> Fix:
    """Advice on how to make a list of each value of a column."""
    code = Code(
        f"frame.with_columns(pl.when(pl.col({name!r}).is_not_null()).then(pl.concat_list({name!r})).alias({name!r}))",
        f"frame.assign(**{{{name!r}: frame[{name!r}].map(lambda value: [value], na_action='ignore')}})",
    )
    return Fix("Make a list of each value, if it is one id", code)


def _check_lists(table: Frame, query: str, pairs: list[tuple[str, str | None]]) -> None:
    schema = table.collect_schema()
    lists = [name for pair in pairs for name in pair if name is not None]
    for name in (query, *lists):
        if name not in schema:
            raise ColumnError(
                f"frame has no column {name!r}; it has {quoted(schema.names())}.", fix=_naming(table, schema)
            )
    for name in lists:
        if not isinstance(schema[name], pl.List):
            texts = table[name] if isinstance(table, pl.DataFrame) else None
            raise DtypeError.of_column("frame", name, "a list", schema[name], _listing(name, schema[name], texts))
