"""Columns as users name them, found by the role they play, in dtypes that can be joined and compared.

Conventions: a column is recognised by its name, whatever its case, `-` and `_`; two candidates for one role are an
error.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from polars_ir.errors import Code, ColumnError, DtypeError, Fix, casting, closest, quoted

#: The names each role is recognised by, the canonical one first.
ROLES: dict[str, tuple[str, ...]] = {
    "run": ("run", "run_id", "system", "tag"),
    "query_id": ("query_id", "qid", "topic", "topic_id"),
    "doc_id": ("doc_id", "docno", "docid", "corpus_id", "pid", "passage_id", "item_id"),
    "score": ("score", "sim", "similarity", "_score", "prediction"),
    "relevance": ("relevance", "rel", "label", "rating", "grade", "gain"),
    "rank": ("rank",),
    "subtopic": ("subtopic", "subtopic_id", "aspect", "intent"),
}

#: What a query is where no column is one of queries, and the documents are items: the user of a recommender.
USER = "user_id"

#: What a row of qrels must have; no other column tells judgments apart by these.
KEYS_OF_QRELS = ("query_id", "doc_id", "relevance")


#: What lists of retrieved documents, and of relevant ones, are called.
RETRIEVED = ("retrieved", "ranking", "results")
RELEVANT = ("relevant", "positives", "gold")

#: Of how many words a message shows a map to grades; more are texts of another kind.
MOST_WORDS = 12

#: Dtypes of ids that are compared as text.
TEXT = (pl.String, pl.Categorical, pl.Enum)


#: Integers that Int64 may not hold, such as hashes.
WIDE = (pl.UInt64, pl.Int128, pl.UInt128)


def find(table: str, role: str, columns: Sequence[str]) -> str | None:
    """The one column that plays a role, or None; an error where several could."""
    accepted = {fold(name) for name in ROLES[role]}
    candidates = [column for column in columns if fold(column) in accepted]
    if role == "query_id" and not candidates and _documents_are_items(columns):
        candidates = [column for column in columns if fold(column) == fold(USER)]
    if len(candidates) > 1:
        raise ColumnError.ambiguous(table, role, candidates)
    return candidates[0] if candidates else None


def find_per(per: str, columns: Sequence[str]) -> str:
    """The column that tells several judgments of a document apart."""
    if not isinstance(per, str) or per in KEYS_OF_QRELS:
        raise ColumnError.not_per(per, KEYS_OF_QRELS)
    column = find("qrels", per, columns) if per == "subtopic" else per
    if column is None or column not in columns:
        raise ColumnError.no_per(per, ROLES.get(per, ()), columns)
    return column


def find_all(
    table: str, frame: pl.DataFrame | pl.LazyFrame, required: Iterable[str], optional: Iterable[str]
) -> dict[str, str]:
    """The column of each role that there is."""
    schema = frame.collect_schema()
    columns = [name for name, dtype in schema.items() if not _is_number_in_index(name, dtype, schema)]
    names = {role: find(table, role, columns) for role in (*required, *optional)}
    for role in required:
        if names[role] is None:
            spare = [name for name in columns if name not in names.values() and _could_be(role, schema[name])]
            raise mistaken(table, role, names, schema) or lacking(table, role, ROLES[role], columns, spare)
    return {role: name for role, name in names.items() if name is not None}


def lacking(
    table: str, role: str, accepted: Sequence[str], columns: Sequence[str], spare: Sequence[str]
) -> ColumnError:
    """That no column plays a role. To rename distances or grades to scores would rank by them, the worst first."""
    error = ColumnError.missing(table, role, accepted, columns, spare)
    if role != "score":
        return error
    distance = next((name for name in spare if fold(name).endswith(("distance", "distances", "dist"))), None)
    grade = next((name for name in spare if fold(name) in map(fold, ROLES["relevance"])), None)
    if distance is not None:
        polars = f"{table}.with_columns(score=-pl.col({distance!r}))"
        fix = Fix(
            "The nearest is the best, so take the negative",
            Code(polars, f"{table}.assign(score=-{table}[{distance!r}])"),
        )
    elif grade is not None:
        evaluated = Code("run.ir.evaluate(qrels, ['nDCG@10', 'AP'])")
        ranks = f"; or, if {grade!r} is what ranks, rename it to 'score'"
        fix = Fix("It looks like qrels; give the run first, and then the qrels", evaluated, ranks)
    else:
        return error
    return ColumnError(error.says, about=table, fix=fix)


def mistaken(
    table: str, role: str, names: Mapping[str, str | None], schema: Mapping[str, pl.DataType]
) -> ColumnError | None:
    """That a table without ids of documents is of another kind, and what to do with that; None if it is of none."""
    query = names["query_id"]
    if role != "doc_id" or query is None:
        return None
    lists = [name for name, dtype in schema.items() if isinstance(dtype, (pl.List, pl.Array))]
    if lists:
        return _in_lists(table, query, lists, schema)
    others = {name: dtype for name, dtype in schema.items() if name not in names.values()}
    measures = [name for name, dtype in others.items() if dtype.is_numeric()]
    # Documents may stand in a column of another name, unless there is only what a measure is called.
    documents = [] if any("@" in name for name in measures) else [n for n in others if _could_be(role, others[n])]
    if table != "run" or not measures or documents or names.get("score") or names.get("rank"):
        return None
    fix = Fix(
        "Evaluate the run itself; of a per-query frame take the means",
        Code("run.ir.mean()"),
        ", or .ir.summarize() and .ir.compare(...)",
        without_code="Give the run itself; compare and gate read per-query files",
    )
    says = (
        f"has no 'doc_id' column, but a row for each query and the numbers {quoted(measures)}: it looks like a "
        "per-query frame, which evaluate returned."
    )
    return ColumnError(says, about=table, fix=fix)


def _in_lists(table: str, query: str, lists: Sequence[str], schema: Mapping[str, pl.DataType]) -> ColumnError:
    """That a table has a row for each query and its documents in lists, and how to make a run of them."""
    retrieved = closest(RETRIEVED, lists)
    relevant = closest(RELEVANT, [name for name in lists if name != retrieved])
    code = Code(
        f"{table} = dict({table}.select({query!r}, {retrieved!r}).iter_rows())",
        f"{table} = dict(zip({table}[{query!r}], {table}[{retrieved!r}]))",
    )
    inner = getattr(schema[lists[0]], "inner", None)
    if relevant is not None:
        given = {"query": query, "retrieved": retrieved, "relevant": relevant}
        words = ", ".join(f"{name}={column!r}" for name, column in given.items())
        code = Code(f"run, qrels = ir.from_lists({table}, {words})")
    elif isinstance(inner, pl.Struct):
        code = Code(
            f"{table} = {table}.explode({retrieved!r}, empty_as_null=False).unnest({retrieved!r})",
            f"{table} = pd.DataFrame([{{{query!r}: query, **row}} for query, rows in zip({table}[{query!r}], "
            f"{table}[{retrieved!r}]) for row in rows])",
        )
    fix = Fix("Make one of them", code, without_code="Give a file with a row for each document")
    says = f"has a row for each query, and lists in {quoted(lists)}, where a row for each document is wanted."
    return ColumnError(says, about=table, fix=fix)


def grades_in_text(table: str, name: str, frame: pl.DataFrame | pl.LazyFrame, dtype: pl.DataType) -> DtypeError:
    """That grades are text, and how to make numbers of them: by a cast, or where they are words by a map."""
    fix = Fix("Cast it", casting(table, name, pl.Float64), "; of words make numbers by replace_strict")
    if isinstance(frame, pl.DataFrame):
        words = frame[name].cast(pl.String).drop_nulls().unique().sort()
        numbers = words.cast(pl.Float64, strict=False)
        grades = dict(zip(words, numbers.fill_null(0.0).to_list(), strict=True))
        if not numbers.has_nulls():
            fix = Fix("Cast it", casting(table, name, pl.Float64))
        elif len(grades) <= MOST_WORDS:
            mapping = "{" + ", ".join(f"{word!r}: {grade:g}" for word, grade in grades.items()) + "}"
            code = Code(
                f"{table}.with_columns(pl.col({name!r}).replace_strict({mapping}))",
                f"{table}.assign(**{{{name!r}: {table}[{name!r}].map({mapping})}})",
            )
            fix = Fix("Give each word its grade, in the place of 0", code)
        else:
            fix = Fix(f"It holds {len(grades):,} texts, such as {quoted(words.head(3))}; name a column of numbers so")
    return DtypeError.of_column(table, name, "numbers", dtype, fix)


def scores_in_text(table: str, name: str, frame: pl.DataFrame | pl.LazyFrame, dtype: pl.DataType) -> DtypeError:
    """That scores are text, and which of them is no number that a cast can read."""
    words = "Cast it"
    if isinstance(frame, pl.DataFrame):
        texts = frame[name].cast(pl.String).drop_nulls()
        if (odd := texts.filter(texts.cast(pl.Float64, strict=False).is_null())).len():
            words = f"{odd[0]!r:.80} is none: write all with a point and without other signs, and then cast them"
    return DtypeError.of_column(table, name, "numbers", dtype, Fix(words, casting(table, name, pl.Float64)))


def _could_be(role: str, dtype: pl.DataType) -> bool:
    """Whether a column of a dtype could play a role under its name."""
    if role in ("score", "relevance"):
        return dtype.is_numeric() or (dtype == pl.Boolean and role == "relevance")
    return isinstance(dtype, TEXT) or dtype.is_integer()


def _documents_are_items(columns: Sequence[str]) -> bool:
    """Whether no column of documents is called otherwise than by a recommender; a per-query frame has none at all."""
    documents = set(map(fold, ROLES["doc_id"])) & set(map(fold, columns))
    return documents <= {"itemid"}


def _is_number_in_index(name: str, dtype: pl.DataType, schema: Mapping[str, pl.DataType]) -> bool:
    """Whether a column is PyTerrier's integer `docid`, a document's number in an index, beside its id in `docno`."""
    return fold(name) == "docid" and dtype.is_integer() and "docno" in map(fold, schema)


def fitting(table: str, role: str, name: str, dtype: pl.DataType) -> pl.DataType:
    """The dtype in which the column of a role can be joined and compared, or an error that shows the cast."""
    if role in ("score", "relevance"):
        return _fitting_number(table, role, name, dtype)
    if isinstance(dtype, TEXT) or (dtype == pl.Null and role != "run"):
        return pl.String()
    if not dtype.is_integer():
        raise DtypeError.of_column(table, name, "strings or integers", dtype, _as_id(table, name, dtype))
    return dtype if dtype in WIDE else pl.Int64()


def _fitting_number(table: str, role: str, name: str, dtype: pl.DataType) -> pl.DataType:
    """The dtype of scores, which are compared, and of grades, which are calculated with."""
    if dtype == pl.Boolean and role == "relevance":
        return pl.Int64()
    if not dtype.is_numeric():
        raise DtypeError.of_column(table, name, "numbers", dtype, Fix("Cast it", casting(table, name, pl.Float64)))
    if fold(name) == "rank" and not dtype.is_float():
        # What stands for the score is its negative, which an unsigned number has not.
        return pl.Float64() if dtype.is_decimal() else pl.Int128() if dtype in WIDE else pl.Int64()
    if dtype.is_float() or (role == "score" and (dtype.is_decimal() or dtype in WIDE)):
        return dtype  # Float64 does not hold all Decimals, nor Int64 all wide integers
    # A small grade has no room for sums.
    return pl.Float64() if dtype.is_decimal() or dtype in WIDE else pl.Int64()


def _as_id(table: str, name: str, dtype: pl.DataType) -> Fix:
    """How to make ids of a column of another type."""
    column = f"pl.col({name!r})"
    if dtype.is_float() or dtype.is_decimal():
        # As text at once, 1.0 would be "1.0", which is no id of the other table.
        return Fix(
            "Cast it to whole numbers", casting(table, name, pl.Int64), ", and these to text if the other's are text"
        )
    if isinstance(dtype, (pl.List, pl.Array)):
        rows = Code(f"{table}.explode({name!r}, empty_as_null=False)", f"{table}.explode({name!r})")
        return Fix("Give each of them a row", rows)
    if dtype == pl.Binary:
        text = Code(
            f"{table}.with_columns({column}.bin.encode('hex'))",
            f"{table}.assign(**{{{name!r}: {table}[{name!r}].map(lambda id: getattr(id, 'bytes', id).hex())}})",
        )
        return Fix("Write its bytes as text, in both tables", text)
    if dtype == pl.Object:
        text = Code(
            f"{table}.with_columns({column}.map_elements(str, return_dtype=pl.String))",
            f"{table}.astype({{{name!r}: str}})",
        )
        return Fix("Write its objects as text, in both tables", text)
    return Fix("Cast it", casting(table, name, pl.String))


@functools.lru_cache(maxsize=1024)
def fold(name: str) -> str:
    """A name without what does not matter in it: case, `-`, `_` and blanks."""
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")
