"""`overlap`: queries that a test set shares with a training set, or that documents hold.

Conventions: ids are the same as they stand; texts are the same after Unicode compatibility composition (NFKC), case
folding, and the removal of invisible characters, punctuation and surplus blanks. Signs that are not punctuation stay,
so that `C++` is not `C`. A text of which nothing is left is the same as no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from polars_ir.engine.shingles import MANY, contained_in, normalised
from polars_ir.errors import SHOWN, Code, ColumnError, DtypeError, Fix, InputTypeError, OptionError, fold, quoted, warn
from polars_ir.frames.documents import IDS, documents_of
from polars_ir.frames.kinds import Frame, give_back, to_polars
from polars_ir.frames.roles import ROLES, TEXT, WIDE, find
from polars_ir.language.options import Value, check, is_number, or_none, public

#: The column of answers, and the least share of a text that documents hold.
ANSWER, ANSWERS, DEFAULT = "answer", ("answer", "answers"), 0.8
SHARE = Value("above 0, up to 1", lambda given: is_number(given) and 0 < given <= 1, float)

#: The names a column of query texts is recognised by; case, `-` and `_` do not matter.
TEXTS = ("text", "query", "query_text", "question")


@public()
def overlap(train: Any, test: Any = None, *, documents: Any = None, share: float | None = None) -> Any:
    """The queries that a test set shares with a training set, or that documents hold: a row per pair.

    Texts are the same if they differ only in case, punctuation, white space and the form of characters (NFKC). Ids are
    often assigned anew, so an id that stands for another text in the other set is noted. A test query has several rows
    where several training queries are like it: `found["query_id"].n_unique()` counts the test queries. With `documents`
    in place of a test set the question, or the answer, of a query is looked for in them, as a leak of the test.

    Parameters
    ----------
    train
        The queries of the training set: a table with a query column, a column of texts (`text`, `query`, `query_text`
        or `question`), or both; a dict from ids to texts; or a list of ids. A query may be in several rows, as in
        qrels. For `documents` ids, texts, and answers in a column `answer` (strings, or lists of them).
    test
        The queries of the test set, likewise.
    documents
        A table with a column of ids (`doc_id`, ...) and one of texts (`text`, `contents`, ...), or a dict from ids to
        texts.
    share
        The least share of the distinct shingles of a question or answer (three words in a row; a shorter one whole)
        that a document must hold in line, in one place; .8 by default. Shorter ones that stand in more than 100
        documents, such as "yes", are left out, as a warning says.

    Returns
    -------
    The kind of test
        A row per pair, in the order of the test set's ids: the query column of `test`, `train_query_id`, `shared`
        (String: `"id"`, `"text"`, or `"both"`), `text`, `train_text` (String; null where there is none), and `note`
        (String), which says of a shared id that the texts under it differ.
    The kind of train, of documents
        A row per document that holds a question or answer, in the order of queries and documents: the query column,
        `doc_id`, `contained` (`"question"` or `"answer"`), `share` (Float64), `place` (Int64, the words before it)
        and `excerpt`, as many of the normalised words from there as the question or answer has.

    Raises
    ------
    IRError
        For a test set and documents, or neither; two sets that do not both have ids or both have texts, two columns
        that could be either, or ids that are integers in one set and strings in the other, which are never the same.

    Examples
    --------
    >>> import polars_ir as ir
    >>> train = {"t1": "How do I sort a list?", "t2": "Merge two dicts", "t3": "Read a file"}
    >>> test = {"q1": "how do I sort a list", "t2": "Reverse a string", "q3": "Parse JSON"}
    >>> ir.overlap(train, test).select("query_id", "train_query_id", "shared").rows()
    [('q1', 't1', 'text'), ('t2', 't2', 'id')]
    """
    if (test is None) == (documents is None):
        raise OptionError("overlap needs a test set, or documents.", fix="Give one of them")
    if documents is not None:
        given = check("share", share, or_none(SHARE))
        return give_back(_contained(train, documents, DEFAULT if given is None else given), train)
    if share is not None:
        raise OptionError("is of documents: train and test share whole texts.", about="share", fix="Leave it out")
    (train_queries, _), (test_queries, name) = _queries("train", train), _queries("test", test)
    ids = _common_type(train_queries.collect_schema(), test_queries.collect_schema())
    train_rows = _comparable(train_queries, ids).rename(lambda column: f"train_{column}")
    test_rows = _comparable(test_queries, ids)
    keys = ("query_id", "normalised")
    pairs = [test_rows.join(train_rows, left_on=key, right_on=f"train_{key}", coalesce=False) for key in keys]
    same_id, same_text = (pl.col(key) == pl.col(f"train_{key}") for key in keys)
    shared = pl.concat(pairs).unique().sort("query_id", "text", "train_query_id", "train_text", nulls_last=True)
    result = shared.select(
        pl.col("query_id").alias(name),
        "train_query_id",
        pl.when(same_id & same_text)
        .then(pl.lit("both"))
        .when(same_id)
        .then(pl.lit("id"))
        .otherwise(pl.lit("text"))
        .alias("shared"),
        "text",
        "train_text",
        pl.when(same_id & ~same_text).then(pl.lit("the same id stands for another text")).alias("note"),
    )
    return give_back(result, test)


def _contained(queries: Any, documents: Any, share: float) -> pl.DataFrame:
    """Questions and answers of queries that documents hold."""
    frame = _frame("queries", queries)
    rows, doc_id = documents_of(documents)
    asked, name = _asked(frame)
    if doc_id == name:
        doc_id = "doc_id"
    rows = rows.sort("doc_id")
    found, common = contained_in(asked.select("text_row", "text"), rows, share)
    if common:
        n = f"{len(common):,} short text{'s' * (len(common) > 1)}"
        many = f"more than {MANY} documents hold, which is no sign of a leak"
        warn(f"overlap leaves out {n} that {many}; the first: {quoted(common[:SHOWN])}.")
    named = asked.select("text_row", pl.col("query_id").alias(name), "contained")
    ids = rows.select(pl.col("doc_id").alias(doc_id)).with_row_index("doc_row")
    found = found.sort("text_row", "doc_row")
    found = found.join(named, on="text_row", maintain_order="left").join(ids, on="doc_row", maintain_order="left")
    return found.select(name, doc_id, "contained", "share", "place", "excerpt")


def _asked(frame: Frame) -> tuple[pl.DataFrame, str]:
    """The questions and answers of queries in order, each once, and the name of the column of ids."""
    schema = frame.collect_schema()
    answers = [column for column in schema if column.casefold() in ANSWERS]
    if len(answers) > 1:
        raise ColumnError.ambiguous("queries", ANSWER, answers)
    query = _id_of("queries", schema)
    if query is None:
        raise ColumnError.missing("queries", "query_id", (*ROLES["query_id"].names, *IDS), schema.names())
    if answers and isinstance(schema[answers[0]], pl.List | pl.Array):
        frame = frame.explode(answers[0])
        schema = frame.collect_schema()
    texts, name = _queries("queries", frame)
    parts = {"question": texts.select("query_id", "text")}
    if answers:
        _check_strings("queries", answers[0], schema[answers[0]], "strings")
        parts[ANSWER] = frame.lazy().select(query_id=query, text=answers[0])
    elif texts.collect_schema()["text"] == pl.Null:
        raise ColumnError.missing("queries", "text", (*TEXTS, ANSWER), schema.names())
    kinds = [
        part.select("query_id", pl.col("text").cast(pl.String), contained=pl.lit(kind)) for kind, part in parts.items()
    ]
    asked = pl.concat(kinds).unique().collect()
    return asked.sort("query_id", "contained", "text", descending=[False, True, False]).with_row_index("text_row"), name


def _queries(side: str, source: Any) -> tuple[pl.LazyFrame, str]:
    """Ids and texts of a set, of type Null where there are none; and the name of the column of ids."""
    frame = _frame(side, source)
    schema = frame.collect_schema()
    query_id = _id_of(side, schema)
    texts = [column for column in schema if column.casefold().replace("-", "_") in TEXTS]
    if len(texts) > 1:
        raise ColumnError.ambiguous(side, "text", texts)
    if query_id is None and not texts:
        raise ColumnError.missing(side, "query_id", (*ROLES["query_id"].names, *TEXTS), schema.names())
    if query_id is not None and not schema[query_id].is_integer():
        _check_strings(side, query_id, schema[query_id], "strings or integers")
    for text in texts:
        _check_strings(side, text, schema[text], "strings")
    columns = {"query_id": query_id, "text": texts[0] if texts else None}
    made = {role: pl.lit(None) if name is None else pl.col(name) for role, name in columns.items()}
    return frame.lazy().select(**made), query_id or "query_id"


def _id_of(side: str, schema: pl.Schema) -> str | None:
    """The column of ids, which is taken as that of documents is."""
    found = find(side, "query_id", schema.names())
    return found or next((name for name in schema if fold(name) in map(fold, IDS)), None)


def _frame(side: str, source: Any) -> Frame:
    """The queries of a set, in any form, as a frame."""
    if isinstance(source, Mapping):
        columns = {"query_id": list(source), "text": list(source.values())}
    elif isinstance(source, (list, tuple, set, frozenset)):
        columns = {"query_id": list(source)}
    else:
        return to_polars(side, source, column="text")
    try:
        return pl.DataFrame(columns, schema=None if source else dict.fromkeys(columns, pl.String))
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise InputTypeError.mixed(side, "ids or of texts" if len(columns) > 1 else "ids", error) from None


def _check_strings(side: str, name: str, dtype: pl.DataType, wanted: str) -> None:
    if not isinstance(dtype, (*TEXT, pl.Null)):
        raise DtypeError.of_column(side, name, wanted, dtype, Fix("Cast it", Code.casting(side, name, pl.String)))


def _common_type(train: pl.Schema, test: pl.Schema) -> pl.DataType:
    """The common type of both sets' ids; an error where the sets cannot be compared."""
    if all(pl.Null in (train[column], test[column]) for column in ("query_id", "text")):
        names = ", ".join((*ROLES["query_id"].names, *TEXTS))
        has = [" and ".join(column for column in side if side[column] != pl.Null) for side in (train, test)]
        raise ColumnError(
            f"train and test must both have ids, or both texts; train has {has[0] or 'neither'}, test "
            f"{has[1] or 'neither'}. Columns are recognised by the names {names}."
        )
    known = [side["query_id"] for side in (train, test) if side["query_id"] != pl.Null]
    numbers = [dtype for dtype in known if dtype.is_integer()]
    if not numbers:
        return pl.String()
    if len(numbers) < len(known):
        side = "train" if train["query_id"].is_integer() else "test"
        raise DtypeError(
            f"ids must have one type in both sets; they are {train['query_id']} in train and {test['query_id']} in "
            "test.",
            fix=Fix("Cast those of one", Code.casting(side, "query_id", pl.String)),
        )
    return pl.Int128() if any(dtype in WIDE for dtype in numbers) else pl.Int64()


def _comparable(queries: pl.LazyFrame, ids: pl.DataType) -> pl.LazyFrame:
    """Distinct queries of a set, with normalised texts."""
    distinct = queries.select(pl.col("query_id").cast(ids), pl.col("text").cast(pl.String)).unique()
    return distinct.with_columns(normalised=normalised(pl.col("text")))
