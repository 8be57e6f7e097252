"""Errors for a table whose columns do not fit, with advice: it may be of another kind, or lack a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polars_ir.errors import Code, ColumnError, DtypeError, Fix, fold, nearest, option, quoted, table_name
from polars_ir.frames import guesses
from polars_ir.frames.roles import RELEVANT, RETRIEVED, ROLE_OF, ROLES, TEXT, could_be, find, recognised
from polars_ir.frames.rules import unscored
from polars_ir.language.columns import column_of
from polars_ir.language.kinds import kind_shown

#: Most distinct text grades for which the error suggests a mapping.
MOST_WORDS = 12


def without(
    table: str,
    needed: Sequence[str],
    names: Mapping[str, str],
    schema: Mapping[str, pl.DataType],
    frame: pl.DataFrame | pl.LazyFrame | None = None,
) -> ColumnError:
    """The error for a table that lacks columns of some roles; `names` has the others. One advice covers all."""
    if error := mistaken(table, needed[0], names, schema):
        return error
    if table == "qrels" and "doc_id" in needed and not (kind := kind_shown(schema)).by_document:
        says = f"are {kind.name}, which the measures of this call do not read; they have {quoted(schema)}."
        code = f"ir.catalog().filter(pl.col('judgments') == {kind.name!r})"
        return ColumnError(says, about=table, fix=Fix("Name measures that do", Code(code)))
    lacks = " and ".join(f"no {role!r} column (recognised names: {', '.join(recognised(role))})" for role in needed)
    says = f"has {lacks}; it has {quoted(schema)}."
    spare = {name: dtype for name, dtype in schema.items() if name not in names.values()}
    if table == "per_query" and not any(could_be("query_id", dtype) for dtype in spare.values()):
        fix = Fix("Give what evaluate returned, a row for each query, and not its means")
        return ColumnError(says, about=table, fix=fix)
    ids = guesses.ids_meant([role for role in needed if role in ("query_id", "doc_id")], spare)
    return ColumnError(says, about=table, fix=_renaming(table, needed, ids, names, spare, frame))


def _renaming(
    table: str,
    needed: Sequence[str],
    meant: Mapping[str, str],
    names: Mapping[str, str],
    spare: Mapping[str, pl.DataType],
    frame: pl.DataFrame | pl.LazyFrame | None,
) -> Fix:
    """Advice that renames all intended columns; places become ranks, and lowest-is-best numbers negative scores.

    Distances, grades or places renamed to scores would be ranked by, the worst first.
    """
    columns = {name: role for role, name in meant.items()}
    left = {name: dtype for name, dtype in spare.items() if name not in columns}
    open_roles = [role for role in needed if role not in meant]
    if "score" in open_roles:
        keys = [name for role in ("run", "query_id") if (name := names.get(role) or meant.get(role))]
        value = guesses.value_meant(left, frame, keys)
        grade = next((name for name in left if fold(name) in map(fold, ROLES["relevance"].names)), None)
        if value and value.kind == "low":
            negated = Code.negating(table, value.name, "score", unsigned=spare[value.name].is_unsigned_integer())
            return Fix("The nearest is the best, so take the negative", negated.after_renaming(table, columns))
        if value:
            columns[value.name] = value.kind
            open_roles.remove("score")
        elif grade is not None and "relevance" not in names.values() and "relevance" not in names:
            words = (
                f"Rename {grade!r} to 'score' if it is what ranks. Else it looks like qrels; give these after the run"
            )
            return Fix(words, Code("run.ir.evaluate(qrels, ['nDCG@10', 'AP'])"))
    renaming = Code.renaming(table, columns) if columns else None
    if not open_roles:
        return Fix("Rename the one that is meant" if len(columns) == 1 else "Rename those that are meant", renaming)
    lacking = " and ".join(map(repr, open_roles))
    if any(could_be(role, dtype) for role in open_roles for dtype in left.values()):
        of_ranks = "; what ranks is a 'score' if its highest value is the best, a 'rank' if 1 is"
        words = f"Rename the column that is meant to {lacking}{of_ranks if 'score' in open_roles else ''}"
        return Fix(f"{words}. Of the others", renaming) if renaming else Fix(words)
    return Fix(f"Give it {lacking} too. Rename the others", renaming) if renaming else Fix("Give it one")


def mistaken(table: str, role: str, names: Mapping[str, str], schema: Mapping[str, pl.DataType]) -> ColumnError | None:
    """The error for a table without ids of documents that is of another kind; None if it is of none."""
    query = names.get("query_id")
    lists = [
        name
        for name, dtype in schema.items()
        # In a CSV the lists are texts.
        if isinstance(dtype, (pl.List, pl.Array)) or (dtype == pl.String and fold(name) in (*RETRIEVED, *RELEVANT))
    ]
    if "_id" in schema:
        lists = []  # a hit of Elasticsearch, with the list of what it was sorted by
    if lists and "doc_id" not in names and role in ("query_id", "doc_id"):
        query = query or guesses.lists_meant(schema, lists).query
        return _in_lists(table, query, lists, schema) if query else None
    if role != "doc_id" or query is None:
        return None
    others = {name: dtype for name, dtype in schema.items() if name not in names.values()}
    measures = [name for name, dtype in others.items() if dtype.is_numeric()]
    # Documents may be in a column of another name, unless all names are those of measures.
    documents = [] if any("@" in name for name in measures) else [n for n in others if could_be(role, others[n])]
    if table != "run" or not measures or documents or names.get("score") or names.get("rank"):
        return None
    fix = Fix(
        "Evaluate the run itself; for a per-query frame there are .ir.summarize(), .ir.compare(...) and the means",
        Code("run.ir.mean()"),
        without_code="Give the run itself; compare and gate read per-query files",
    )
    says = (
        f"has no 'doc_id' column, but a row for each query and the numbers {quoted(measures)}: it looks like a "
        "per-query frame, which evaluate returned."
    )
    return ColumnError(says, about=table, fix=fix)


def _in_lists(table: str, query: str, lists: Sequence[str], schema: Mapping[str, pl.DataType]) -> ColumnError:
    """The error for a table with a row for each query and its documents in lists, and the code that makes a run."""
    meant = guesses.lists_meant(schema, lists, {"query": query})
    retrieved = guesses.only(lists) or meant.retrieved
    inner = getattr(schema[retrieved], "inner", None) if retrieved else None
    code: Code | None = None
    if len(lists) > 1:
        code = Code(f"run, qrels = ir.from_lists({table}, {meant.named()})")
    elif isinstance(inner, pl.Struct):
        code = Code(
            f"{table} = {table}.explode({retrieved!r}).unnest({retrieved!r})",
            f"{table} = pd.DataFrame([{{{query!r}: query, **row}} for query, rows in zip({table}[{query!r}], "
            f"{table}[{retrieved!r}]) for row in rows])",
        )
    else:
        code = Code(
            f"{table} = dict({table}.lazy().select({query!r}, {retrieved!r}).collect().iter_rows())",
            f"{table} = dict(zip({table}[{query!r}], {table}[{retrieved!r}]))",
        )
    fix = Fix("Make one of them", code, without_code="Give a file with a row for each document")
    says = f"has a row for each query, and lists in {quoted(lists)}, where a row for each document is wanted."
    return ColumnError(says, about=table, fix=fix)


def lacking_grades(names: Mapping[str, str], schema: Mapping[str, pl.DataType]) -> ColumnError:
    """The error for judgments without grades: where rows are interactions, every row is relevant."""
    accepted = ", ".join((*ROLES["relevance"].names, "score"))
    says = f"has no 'relevance' column (recognised names: {accepted}); it has {quoted(schema)}."
    grade = guesses.grade_meant({name: dtype for name, dtype in schema.items() if name not in names.values()})
    if grade is not None:
        fix = Fix("Rename the column of grades", Code.renaming("qrels", {grade: "relevance"}))
        return ColumnError(says, about="qrels", fix=fix)
    fix = Fix(
        "Rename the column of grades to 'relevance', or, if every row is relevant, as clicks and purchases are, say so",
        Code("qrels.with_columns(relevance=1)", "qrels.assign(relevance=1)"),
        without_code="Add a column 'relevance', of ones if every row is relevant",
    )
    return ColumnError(says, about="qrels", fix=fix)


def not_labelled(schema: pl.Schema) -> ColumnError:
    """The error for a run without qrels and without grades of its own."""
    names = {role: name for role in ("query_id", "doc_id", "score", "rank") if (name := find("run", role, schema))}
    if "doc_id" not in names and (error := mistaken("run", "doc_id", names, schema)):
        return error
    known, fix = ", ".join(ROLES["relevance"].names), Fix("Pass the qrels", Code("run.ir.ndcg(qrels, k=10)"))
    grade = guesses.grade_meant({name: dtype for name, dtype in schema.items() if name not in names.values()})
    if grade is not None:
        words = f"If {grade!r} holds the grades of the documents, rename it; else pass the qrels"
        fix = Fix(words, Code.renaming("run", {grade: "relevance"}))
    says = f"no qrels were given, and run has no column of grades (recognised names: {known}); it has"
    return ColumnError(f"{says} {quoted(schema)}.", fix=fix)


def of_documents(table: str, columns: Sequence[str]) -> ColumnError:
    """The error for a table of documents, whose scores and ranks are no measures, given as a per-query frame."""
    roles = ("doc_id", "score", "relevance")
    telling = [column for role in roles for column in columns if ROLE_OF.get(fold(column)) == role]
    telling += [column for column in columns if column == "ideal_rank"]
    kind = "the judged relation" if "ideal_rank" in columns else "a run or qrels"
    fix = Fix("Measure the run first", Code("per_query = run.ir.evaluate(qrels, ['nDCG@10', 'AP'])"))
    says = f"must have a row for each query; by its columns {quoted(telling)} it is {kind}."
    return ColumnError(says, about=table, fix=fix)


def misfit(
    table: str, role: str, name: str, dtype: pl.DataType, frame: pl.DataFrame | pl.LazyFrame | None
) -> DtypeError:
    """The error for a column whose dtype does not fit its role, and the code that makes a valid one."""
    if role not in ("score", "relevance"):
        wanted = "strings, integers, dates, times or Booleans"
        if role in ROLES:
            wanted = "strings, integers, dates or times" if role == "run" else "strings or integers"
        return DtypeError.of_column(table, name, wanted, dtype, _as_id(table, name, dtype, frame))
    if role == "score" and isinstance(frame, pl.DataFrame) and 0 < frame.height == frame[name].null_count():
        fix = unscored(table, name, find(table, "query_id", frame.schema))
        return DtypeError.of_column(table, name, "numbers", dtype, fix)
    categorical = dtype == pl.Binary or (dtype != pl.String and isinstance(dtype, TEXT))
    cast = Code.casting(table, name, pl.Float64, categorical=categorical)
    if dtype.is_temporal():
        cast = cast._replace(pandas="")  # which has no such cast
    if dtype == pl.Object:
        numbers = f"pl.col({name!r}).map_elements(float, return_dtype=pl.Float64)"
        cast = cast._replace(polars=f"{table}.with_columns({numbers})")
    fix = Fix("Cast it", cast)
    if dtype.is_nested():
        fix = Fix("Give each row one number")
    if isinstance(dtype, TEXT):
        texts = frame[name].cast(pl.String).drop_nulls() if isinstance(frame, pl.DataFrame) else None
        fix = (_grades_of if role == "relevance" else _scores_of)(table, name, texts, fix)
    return DtypeError.of_column(table, name, "numbers", dtype, fix)


def check_keys(
    table: str, by: Sequence[str], names: Mapping[str, str], schema: Mapping[str, pl.DataType], taken: Sequence[str]
) -> None:
    """Raise a `ColumnError` for keys that are no columns of a table, or columns of another meaning."""
    for name in by:
        if name not in schema:
            says = f"has no column {name!r}, which {option('by')} says distinguishes rankings; it has {quoted(schema)}."
            near = nearest(name, [column for column in schema if column not in names.values()])
            raise ColumnError(says, about=table, near=near)
        role = next((role for role, column in names.items() if column == name), None)
        if role in ("run", "query_id"):
            raise ColumnError(f"names {name!r}, which distinguishes rankings anyway; leave it out.", about=option("by"))
        if role or name in taken or name.startswith("hit_") or column_of(name):
            meaning = "the name of a measure" if column_of(name) else "another meaning here"
            says = f"names a column {name!r} of {table_name(table)}, which has {meaning}."
            fix = Fix("Rename it", Code.renaming(table, {name: f"{name}_key"}))
            raise ColumnError(says, about=option("by"), fix=fix)


def of_two_types(name: str, run: pl.DataType, qrels: pl.DataType) -> DtypeError:
    """The error for a key of rankings whose type differs between run and judgments."""
    says = f"a key must have one type on both sides; column {name!r} is {run} in the run and {qrels} in the qrels."
    return DtypeError(says, fix=Fix("Convert one", _converting(name, run, qrels)))


def _converting(name: str, run: pl.DataType, qrels: pl.DataType) -> Code | None:
    """Code that gives a key the type of the other side; None for types that have no conversion."""
    # A time has a day, and a day no time.
    of_run = isinstance(run, TEXT) or (isinstance(run, pl.Datetime) and qrels == pl.Date)
    side, dtype, wanted = ("run", run, qrels) if of_run else ("qrels", qrels, run)
    is_text, unit = isinstance(dtype, TEXT), getattr(wanted, "time_unit", None)
    if is_text and wanted.is_integer():
        # Any number is a text, and not any text a number.
        return Code.casting("qrels" if side == "run" else "run", name, pl.String)
    made: tuple[str, str] | None = None
    if is_text and wanted == pl.Date:
        made = "cast(pl.String).str.to_date()", "pd.to_datetime({}).dt.date"
    elif is_text and wanted == pl.Time:
        made = "cast(pl.String).str.to_time()", "pd.to_datetime({}, format='%H:%M:%S').dt.time"
    elif isinstance(dtype, pl.Datetime) and wanted == pl.Date:
        made = "cast(pl.Date)", "{}.dt.date"
    elif isinstance(wanted, pl.Datetime) and wanted.time_zone is None:
        if is_text:
            made = f"cast(pl.String).str.to_datetime(time_unit={unit!r})", f"pd.to_datetime({{}}).dt.as_unit({unit!r})"
        elif isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
            made = f"dt.cast_time_unit({unit!r})", f"{{}}.dt.as_unit({unit!r})"
    if made is None:
        return None
    pandas = made[1].format(f"{side}[{name!r}]")
    return Code(f"{side}.with_columns(pl.col({name!r}).{made[0]})", f"{side}.assign(**{{{name!r}: {pandas}}})")


def _grades_of(table: str, name: str, texts: pl.Series | None, cast: Fix) -> Fix:
    """Code that makes grades of texts: a cast, or for words a map."""
    if texts is None:
        return cast._replace(words="Make numbers of words by replace_strict; cast texts that hold numbers")
    words = texts.unique().sort()
    numbers = words.cast(pl.Float64, strict=False)
    if not numbers.has_nulls():
        return cast
    if len(words) > MOST_WORDS:
        return Fix(f"It holds {len(words):,} texts, such as {quoted(words.head(3))}; name a column of numbers so")
    grades = zip(words, numbers.fill_null(0.0), strict=True)
    mapping = "{" + ", ".join(f"{word!r}: {grade:g}" for word, grade in grades) + "}"
    code = Code.making(table, name, f"replace_strict({mapping})", f"map({mapping})")
    return Fix("Give each word its grade, instead of 0", code)


def _scores_of(_table: str, _name: str, texts: pl.Series | None, cast: Fix) -> Fix:
    """The cast of scores in text, and the first that no cast can read."""
    odd = pl.Series() if texts is None else texts.filter(texts.cast(pl.Float64, strict=False).is_null())
    if odd.is_empty():
        return cast
    return cast._replace(words=f"{odd[0]!r:.80} is not a number. Use a decimal point and no separators, then cast")


def _as_id(table: str, name: str, dtype: pl.DataType, frame: pl.DataFrame | pl.LazyFrame | None) -> Fix:
    """Code that makes ids of a column of another type, where its values can identify."""
    column = f"pl.col({name!r})"
    if dtype.is_float() or dtype.is_decimal():
        return _of_floats(table, name, frame)
    if isinstance(dtype, (pl.List, pl.Array)):
        return _of_lists(table, name, {} if frame is None else frame.collect_schema())
    if isinstance(dtype, pl.Struct):
        fields = f"{column}.struct.unnest()"
        joined = f"{table}.with_columns(pl.concat_str({fields}, separator='/').alias({name!r}))"
        as_one = Code.as_text(table, name)._replace(polars=joined)
        return Fix("An id is one value: take the field that it is, or write them as one text", as_one)
    if dtype == pl.Binary:
        text = Code.making(table, name, "bin.encode('hex')", "map(lambda id: getattr(id, 'bytes', id).hex())")
        return Fix("Write its bytes as text, in both tables", text)
    if dtype == pl.Object:
        return Fix("Write its objects as text, in both tables", Code.as_text(table, name))
    return Fix("Cast it", Code.casting(table, name, pl.String))


def _of_floats(table: str, name: str, frame: pl.DataFrame | pl.LazyFrame | None) -> Fix:
    """Code that makes whole numbers of ids, unless they have lost digits."""
    # As text at once, 1.0 would be "1.0", which is no id of the other table.
    words = "Cast it to whole numbers, and these to text if the other table's ids are text"
    again = "Read the table again with these ids as text"
    if not isinstance(frame, pl.DataFrame):
        return Fix(f"{words}. Beyond 2^53 floats have lost digits: {again[0].lower()}{again[1:]}")
    ids = frame[name].drop_nulls()
    ids = ids.drop_nans() if ids.dtype.is_float() else ids
    if ids.dtype.is_float() and ids.is_infinite().any():
        return Fix("It holds infinite values, which are no ids: name the column of ids")
    if not (ids == ids.floor()).all():
        return Fix("It holds fractions, which are no ids: name the column of ids")
    largest = 2**24 if ids.dtype == pl.Float32 else 2**53 if ids.dtype.is_float() else None
    if largest is not None and (ids.abs() >= largest).any():
        return Fix(f"Digits of ids are lost: floats hold whole numbers up to {largest:,}. {again}")
    code = Code.casting(table, name, pl.Int64)
    if ids.len() + frame[name].null_count() < frame.height:
        code = code._replace(polars=code.polars.replace(".cast", ".fill_nan(None).cast"))
    return Fix(words, code)


def _of_lists(table: str, name: str, schema: Mapping[str, pl.DataType]) -> Fix:
    """Code that gives each id of lists a row; those of a run with the scores beside them."""
    beside = [each for each, dtype in schema.items() if each != name and isinstance(dtype, (pl.List, pl.Array))]
    if table == "run" and not beside:
        return Fix("Give each document a row with its own score, or the lists alone, best first, as {query: [id]}")
    columns = [name, *beside] if table == "run" else [name]
    of_pandas = f"{table}.explode({columns if len(columns) > 1 else name!r})"
    return Fix("Give each of them a row", Code(f"{table}.explode({', '.join(map(repr, columns))})", of_pandas))
