"""Tables of chunks and of gold spans: half-open offsets into source texts, in characters as Python counts them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from polars_ir.errors import SHOWN, Code, ColumnError, DataError, DtypeError, Fix, fold, quoted, warn
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.roles import ROLES, columns_of, could_be
from polars_ir.frames.rules import Rule
from polars_ir.frames.table import fitting

#: The names of columns of a span, the canonical one first; LangChain and LlamaIndex have names of their own.
NAMES = {
    "chunk": ("chunk_id", "chunk", "node_id"),
    "source": ("source", "source_id", "file", "file_name", "path", "url"),
    "start": ("start", "start_index", "start_char", "start_char_idx"),
    "end": ("end", "end_index", "end_char", "end_char_idx"),
    "text": ("text", "content", "page_content", "chunk_text"),
}

#: Largest accepted place: sums of a million lengths are integers still.
LONGEST = 2**40

LENGTH = pl.col("end") - pl.col("start")

#: The largest mean of lengths, in typical ones.
OUTLYING = 30

#: True of a text of another length than its span.
MISFIT = pl.col("text").str.len_chars() != LENGTH

#: The lengths of a text in other units, with the code for a character's place of a place `n` in them.
UNITS = {
    "bytes": (pl.col("text").str.len_bytes(), "len(text.encode()[:n].decode())"),
    "units of UTF-16": (
        pl.col("text").str.len_chars() + pl.col("text").str.count_matches(r"[\x{10000}-\x{10FFFF}]"),
        "len(text.encode('utf-16-le')[:2 * n].decode('utf-16-le'))",
    ),
}


class Spans(NamedTuple):
    """A table of spans, checked: its plan, with columns under canonical names, and the user's names for these.

    `length` is the typical length of a span, `longest` the largest, and `least` the lowest of integer ids of chunks.
    """

    about: str
    rows: pl.LazyFrame
    names: dict[str, str]
    dtypes: pl.Schema
    length: float = 1
    longest: int = 1
    least: int = -1

    def shown(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The first of some rows, under the user's names."""
        return rows.head(SHOWN).rename({role: name for role, name in self.names.items() if role in rows.columns})


def typical(length: str) -> pl.Expr:
    """The geometric mean of lengths, which one without an end, of 2**31, does not raise; bins of it are few, still."""
    return pl.max_horizontal(pl.col(length).log().mean().exp(), pl.mean(length) / OUTLYING).alias(length)


def chunk_table(about: str, value: object) -> Spans:
    """Chunks as a table with `doc_id`, `source`, `start`, `end` and, where it has texts, `text`."""
    return checked(unchecked(about, value, "doc_id"), "doc_id")[0]


def unchecked(about: str, value: object, key: str) -> Spans:
    """The table of chunks, or of gold spans, by its key, of which only names, types and lengths are known."""
    frame = to_polars(about, value, column="text")
    schema = frame.collect_schema()
    names = _names(about, schema.names(), key)
    make = {role: pl.col(name).cast(_dtype(about, role, name, frame, schema[name])) for role, name in names.items()}
    if "end" not in names:
        if "text" not in names:
            spare = [name for name in schema.names() if name not in names.values()]
            raise ColumnError.missing(about, "end", NAMES["end"], schema.names(), spare)
        # LangChain's splitters note where a chunk starts alone.
        make["end"] = make["start"] + make["text"].str.len_chars().cast(pl.Int64)
    rows = frame.lazy().select(**make)
    lengths = rows.select(length=LENGTH.clip(1, LONGEST)).select(typical("length"), longest=pl.max("length"))
    length, longest = lengths.collect(engine="streaming").row(0)
    return Spans(about, rows, names, rows.collect_schema(), length or 1, longest or 1)


def _names(about: str, columns: list[str], key: str) -> dict[str, str]:
    """The columns of roles. Beside ids of chunks `doc_id` is the source, and so it is of gold, which has no chunks."""
    found = {role: [name for name in columns if fold(name) in map(fold, accepted)] for role, accepted in NAMES.items()}
    names = columns_of(about, columns, ("query_id", "doc_id", "subtopic", "relevance"))
    given = dict(names)
    ids = [name for name in found["chunk"] if fold(name) != fold("chunk")]
    if ids or ("doc_id" in names and found["source"] not in ([], [names["doc_id"]])):
        # Beside other ids, a column called so has the texts.
        found["chunk"] = ids
    if key == "doc_id":
        names = {"doc_id": names["doc_id"]} if "doc_id" in names else {}
        chunk = found["chunk"] or ([name for name in columns if name == "id"] if not names else [])
        found["source"] = found["source"] or (list(names.values()) if chunk else [])
        names = {"doc_id": _one(about, "chunk_id", chunk)} if chunk else names
    else:
        found["source"] = found["source"] or [names.pop("doc_id")] if "doc_id" in names else found["source"]
        names.pop("doc_id", None)
    for role in ("source", "start", "end", "text"):
        if found[role]:
            names[role] = _one(about, role, found[role])
    accepted = {"query_id": ROLES["query_id"].names, "doc_id": (*NAMES["chunk"], *ROLES["doc_id"].names), **NAMES}
    own = [given["doc_id"]] if "doc_id" in given else []
    is_other = (
        found["chunk"] or (own and found["source"] not in ([], own)) if key == "query_id" else "query_id" in given
    )
    if key not in names and is_other:
        kinds = ("chunks", "gold spans") if key == "doc_id" else ("gold spans", "chunks")
        raise DataError(f"must be {kinds[0]}, and are {kinds[1]}, by their columns: {quoted(columns)}.", about=about)
    for role in (key, "source", "start"):
        if role not in names:
            spare = [name for name in columns if name not in names.values()]
            raise ColumnError.missing(about, role, accepted[role], columns, spare)
    return names


def _one(about: str, role: str, columns: list[str]) -> str:
    """The only column of a role, or the one of the canonical name."""
    if len(columns) > 1 and role not in columns:
        raise ColumnError.ambiguous(about, role, columns)
    return role if role in columns else columns[0]


def _dtype(about: str, role: str, name: str, frame: pl.DataFrame | pl.LazyFrame, dtype: pl.DataType) -> pl.DataType:
    """The dtype of the column of a role; an error for one that cannot play it."""
    if role in ("start", "end"):
        if dtype.is_integer():
            return pl.Int64()
        fix = Fix("Count characters")
        if dtype.is_numeric() or dtype == pl.String:
            value = pl.col(name).cast(pl.Float64, strict=False)
            # A cast to integers would cut fractions off without a word.
            if frame.lazy().select((value == value.floor()).all()).collect(engine="streaming").item():
                fix = Fix("Cast it", Code.casting(about, name, pl.Int64))
        raise DtypeError.of_column(about, name, "integers, the places of characters", dtype, fix)
    if role == "text":
        if could_be("doc_id", dtype) and not dtype.is_integer():
            return pl.String()
        fix = Fix("Leave it out, or cast it", Code.dropping(about, [name]))
        raise DtypeError.of_column(about, name, "the texts of spans", dtype, fix)
    if role == "source" and not could_be("doc_id", dtype):
        fix = Fix("Cast it", Code.casting(about, name, pl.String))
        raise DtypeError.of_column(about, name, "strings or integers", dtype, fix)
    return fitting(about, "doc_id" if role == "source" else role, name, dtype)


def checked(table: Spans, key: str, *plans: pl.LazyFrame) -> tuple[Spans, list[pl.DataFrame]]:
    """The table, after one pass over its rows that looks for invalid ones, and other plans of its rows, collected."""
    about, names, dtypes = table.about, table.names, table.dtypes
    rules = [
        Rule(pl.col(role).is_null(), f"whose {name!r} is null", Fix("Leave them out", Code.without_nulls(about, name)))
        for role, name in names.items()
        if role != "text"
    ]
    start, end = names["start"], names.get("end", "end")
    from_0 = "Count characters from 0; LangChain's -1 is of a chunk that it did not find in its source"
    rules.append(Rule(pl.col("start") < 0, f"whose {start!r} is negative", from_0))
    rules.append(Rule(pl.col("end") > LONGEST, f"whose {end!r} is beyond any text", "Count the characters of a source"))
    # The name of a frame is not known in pandas here.
    longer = f"pl.col({start!r}) < pl.col({end!r})", f"lambda rows: rows[{start!r}] < rows[{end!r}]"
    fix = Fix("Leave them out", Code.keeping(about, *longer))
    rules.append(Rule(LENGTH <= 0, f"whose {end!r} is not behind {start!r}: spans are half-open, [start, end)", fix))
    if "relevance" in names:
        grade = names["relevance"]
        fix = Fix("Leave the others out", Code.keeping(about, f"pl.col({grade!r}) > 0", f"{about}[{grade!r}] > 0"))
        infinite = ~pl.col("relevance").is_finite()
        rules.append(Rule(infinite, f"whose {grade!r} is not finite", "Give numbers, or leave the column out"))
        rules.append(Rule(~(pl.col("relevance") > 0), f"whose {grade!r} is not above 0: gold is relevant", fix))
    ids, wrong = pl.col(key), [rule.wrong for rule in rules]
    if "text" in names and "end" in names:
        wrong.append(MISFIT)
    # Hashes take a third of the memory of texts.
    own = ids if dtypes[key].is_integer() else ids.hash()
    read = table.rows.select(own.alias(key), wrong=pl.any_horizontal(wrong))
    found, *collected = pl.collect_all([read, *plans], engine="streaming")
    if found["wrong"].any():
        for rule in rules:
            _raise_rows(table, rule, key)
        _raise_misfit(table, key)
    if key != "doc_id":
        return table, collected
    # Sorting hashes takes half the time of counting distinct ones.
    ordered = found[key].sort()
    if (ordered == ordered.shift()).any():
        _check_once(table)
    if "end" not in names:
        _check_common_text(table)
    return table._replace(least=min(-1, *ordered.head(1))) if dtypes[key].is_integer() else table, collected


def _raise_rows(table: Spans, rule: Rule, key: str) -> None:
    """Raise a `DataError` for rows that a rule forbids, if there are any."""
    columns = [key, "source", "start", "end"]
    columns += [name for name in rule.wrong.meta.root_names() if name not in columns]
    wrong = table.rows.filter(rule.wrong).select(columns).sort(columns).collect(engine="streaming")
    if wrong.height:
        raise DataError.rows(table.about, rule.problem, rule.fix, wrong.height, table.shown(wrong))


def _raise_misfit(table: Spans, key: str) -> None:
    """Raise a `DataError` for texts of another length than their spans, which may count other units."""
    start, end, text = (table.names[role] for role in ("start", "end", "text"))
    fits = [(MISFIT & (length == LENGTH)).sum().alias(unit) for unit, (length, _) in UNITS.items()]
    count = table.rows.select(MISFIT.sum().alias("all"), *fits).collect(engine="streaming").row(0, named=True)
    for unit, (_, code) in UNITS.items():
        if count[unit] == count["all"]:
            problem = f"whose {start!r} and {end!r} count {unit} of {text!r}, not characters"
            words = f"The place n of them is that of the character {code}, where text is that of the source"
            _raise_rows(table, Rule(MISFIT, problem, words), key)
    problem = f"whose {text!r} differs in length from the span from {start!r} to {end!r}"
    words = "If the offsets are right, and it was stripped or changed, leave it out"
    _raise_rows(table, Rule(MISFIT, problem, Fix(words, Code.dropping(table.about, [text]))), key)


def _check_common_text(table: Spans) -> None:
    """Raise a `DataError` for chunks that overlap with another text: their starts are wrong."""
    rows = table.rows.select("doc_id", "source", "start", "end", "text").sort("source", "start", "end", "doc_id")
    before = {f"{name} before": pl.col(name).shift().over("source") for name in ("start", "end", "text")}
    length = pl.min_horizontal("end", "end before") - pl.col("start")
    other = pl.col("text before").str.slice(pl.col("start") - pl.col("start before"), length)
    wrong = rows.with_columns(**before).filter((length > 0) & (pl.col("text").str.slice(0, length) != other))
    found = wrong.select("doc_id", "source", "start").collect(engine="streaming")
    if found.height:
        problem = f"whose {table.names['text']!r} differs from that of the chunk before where both overlap"
        words = f"Look at {table.names['start']!r}: it counts characters of the source"
        raise DataError.rows(table.about, problem, words, found.height, table.shown(found))


def _check_once(table: Spans) -> None:
    """Raise a `DataError` for ids of several chunks; hashes that are equal may be those of different ids."""
    repeated = table.rows.select("doc_id", "source", "start", "end").filter(pl.col("doc_id").is_duplicated())
    wrong = repeated.sort("doc_id", "source", "start", "end").collect(engine="streaming")
    if wrong.is_empty():
        return
    own = table.names["doc_id"]
    fix = Fix("Give each chunk an id of its own, as 'chunk_id' beside that of its source, and the run these")
    if wrong.n_unique() == wrong["doc_id"].n_unique():
        columns = [table.names[role] for role in wrong.columns if role in table.names]
        fix = Fix("Keep one row of each", Code.deduplicating(table.about, columns))
    if wrong.unique(["doc_id", "source"]).height == wrong.height:
        source = table.names["source"]
        whole = f"pl.format('{{}}#{{}}', {source!r}, {own!r})"
        of_pandas = f"{table.about}[{source!r}].astype(str) + '#' + {table.about}[{own!r}].astype(str)"
        made = Code(
            f"{table.about}.with_columns({whole}.alias({own!r}))", f"{table.about}.assign(**{{{own!r}: {of_pandas}}})"
        )
        fix = Fix("If they number the chunks of each source, make ids of both, as the run must have them, too", made)
    raise DataError.rows(table.about, f"whose {own!r} is of several chunks", fix, wrong.height, table.shown(wrong))


def own_text(name: str, dtypes: pl.Schema) -> pl.Expr:
    """A column in memory of its own: views of texts that were read would keep all of them in memory."""
    return pl.concat_str(name, pl.lit("")) if dtypes[name] == pl.String else pl.col(name)


def same_sources(one: Spans, other: Spans) -> None:
    """Raise a `DtypeError` unless sources are of one type on both sides."""
    dtypes = [table.dtypes["source"] for table in (one, other)]
    if dtypes[0].is_integer() == dtypes[1].is_integer():
        return
    table = one if dtypes[0].is_integer() else other
    names = [table.names["source"] for table in (one, other)]
    raise DtypeError(
        f"sources must have one type on both sides; {one.about} column {names[0]!r} is {dtypes[0]} and {other.about} "
        f"column {names[1]!r} is {dtypes[1]}.",
        fix=Fix("Cast one", Code.casting(table.about, table.names["source"], pl.String)),
    )


def check_sources(lacking: pl.Series, n_sources: int, chunks: Spans, about: str) -> None:
    """Warn of sources of spans, none of which meets a chunk, that have no chunk at all; an error if these are all."""
    sources = pl.LazyFrame({"source": lacking.unique()})
    there = chunks.rows.select("source").join(sources, on="source", how="semi").unique()
    without = sources.join(there, on="source", how="anti").collect(engine="streaming")["source"].sort()
    if len(without) == n_sources > 0:
        known = chunks.rows.select("source").head(3).collect(engine="streaming")["source"].unique().sort()
        says = f"and {chunks.about} share no source; sources of {about} are {_first(without)}, of {chunks.about} "
        raise DataError(f"{says}{_first(known) or 'none at all'}.", about=about)
    if len(without):
        warn(f"sources of {about} have no chunks, {len(without)} of {n_sources}: {quoted(without, 3)}.")


def _first(values: Iterable[object]) -> str:
    return ", ".join(map(repr, list(values)[:3]))
