"""`update`: stored figures brought up to date, by evaluating only what changed.

Conventions: a query is unchanged where the hash of its rows and judgments is the stored one. The run and its judgments
are checked as by `evaluate`; unchanged rows are only hashed.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from polars_ir.engine.run_and_qrels import RunAndQrels, align, of_systems, systems_of
from polars_ir.engine.tuning import TUNING
from polars_ir.errors import (
    Code,
    ColumnError,
    DataError,
    DtypeError,
    Fix,
    IRWarning,
    MeasureError,
    OptionError,
    Setting,
    quoted,
    warn,
)
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.catalogue import Catalogue
from polars_ir.frames.kinds import as_dtype, collected, give_back
from polars_ir.frames.provenance import (
    JUDGMENTS,
    TABLES,
    differing,
    digest_of,
    hashes_of,
    is_unanswered,
    rankings_of,
    read_made,
    tables_of,
    text_of,
    versions_of,
    with_query_hash,
)
from polars_ir.frames.roles import PROVENANCE, QUERY_HASH, TEXT
from polars_ir.frames.table import per_query_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.catalog import info_of
from polars_ir.language.columns import canonical_name
from polars_ir.language.names import Measures, ResolvedMeasure, resolve, sql_names
from polars_ir.language.names import name as name_of
from polars_ir.language.options import check, each_once, public, truth
from polars_ir.runs.coverage import strictly
from polars_ir.runs.evaluate import columns_read, evaluate_collected, made_with, resolved
from polars_ir.runs.lists import as_text, run_alone
from polars_ir.runs.options import Evaluating
from polars_ir.runs.selection import NEUTRAL, selected

#: Number of ids that a warning names.
NAMED = 3

#: Share of the queries of a plan up to which they are evaluated in memory; evaluating them as a plan would scan anew.
FEW = 0.1


@public(Evaluating)
def update(
    stored: Table[FrameT],
    run: Any,
    qrels: Any,
    measures: Measures,
    *,
    changed_only: bool = False,
    **options: Unpack[Evaluating],
) -> FrameT:
    """Current figures of a run, evaluating only those that differ from the stored ones.

    These are queries with changed rows or judgments, new queries, and measures that `stored` lacks.
    The result is that of `evaluate(run, qrels, measures, provenance=True)` to the last bit, with the same options.

    Parameters
    ----------
    stored
        What `evaluate(..., provenance=True)` or `update` returned for the same options, also read back from a store,
        with measures in either spelling; some rows of it for some rows of the run.
    run
        The current run, whole, in any form that `evaluate` takes. Of a LazyFrame the hashes of its queries are
        collected, and then the rows of the changed ones or, where these are more than a tenth, their figures.
    qrels
        All of its judgments, also the unchanged ones; None where the run holds its grades.
    measures
        The measures of the result. An aggregation of one's own is stored by name only, and evaluated anew.
    changed_only
        False: all rows. True: the rows for a MERGE: those of changed or new queries or, for new measures, all; and for
        each query that no longer exists a row whose figures and `query_hash` are null, as in `WHEN MATCHED AND
        s.query_hash IS NULL THEN DELETE`. Rows that a MERGE leaves keep their former `provenance`, with the hash of all
        judgments of that time; for a frame in memory `compare` and `gate` go by the judgments of each query, for a
        LazyFrame by all judgments.

    Returns
    -------
    The kind of `stored`
        The columns of `evaluate`, always with `provenance` and `query_hash`, sorted by keys, system and query.

    Warns
    -----
    IRWarning
        For rows of `stored` whose query is not in the run and its judgments; for figures of another version of this
        package or of Polars, whose hashes differ, so that everything is evaluated anew; and as `evaluate` warns, where
        half of a system's queries are evaluated.

    Raises
    ------
    IRError
        For figures without provenance, or made with other options; for a query that `stored` has twice; measures of
        preferences; and for what `evaluate` does not take.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run, qrels = {"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": {"d2": 1}, "q2": {"d7": 1}}
    >>> stored = ir.evaluate(run, qrels, "RR", provenance=True)
    >>> run["q1"] = ["d2", "d1"]
    >>> rows = ir.update(stored, run, qrels, "RR", changed_only=True)
    >>> rows.select("query_id", "RR").rows()
    [('q1', 1.0)]
    """
    check("changed_only", changed_only, truth())
    run, qrels = selected(run, qrels, options, each_once(options["by"]))
    as_named = resolve(measures)
    run, measured, needs = resolved(run, qrels, as_named, options)
    if not needs.kind.by_document:
        raise OptionError(f"of {needs.kind.name} are evaluated as a whole, by evaluate.", about="measures")
    # The order of ties depends on all measures together.
    ordered: Evaluating = {**options, "ties": needs.ties}
    as_one: Evaluating = {**ordered, **NEUTRAL, "names": "canonical", "provenance": False, "strict": False}
    alone = qrels is None and len(needs.lists) == len(measured)
    pair = run_alone(run, needs.by) if alone else align(run, qrels, per=needs.of_judgments(qrels).per, by=needs.by)
    keys = pair.run.keys
    made: dict[str, Any] = {**ordered}
    if options["history"] is not None or options["items"] is not None:
        made |= as_text(Catalogue.of(pair.run, options["history"], options["items"]), needs)
    queries, text = _as_they_are(pair, measured, made)
    rows = _rows_of(per_query_table(stored, "stored"), pair.run)
    # Bounds depend on the highest grade of all, and rows without ids of documents are ranked by all measures together.
    apart = not (options["bounds"] or pair.run.numbered)
    before = _made_alike(rows, keys, text, [each for each in as_named if apart and _is_of_its_query(each)])
    figures = _figures(pair, (run, qrels, as_named), queries, before, as_one)
    result = figures.join(queries, on=keys).with_columns(pl.lit(text).alias(PROVENANCE))
    columns = [name for name in figures.columns if name not in keys]
    result = result.select(*keys, *columns, PROVENANCE, QUERY_HASH)
    if changed_only and before.schema.items() >= figures.schema.items():
        result = result.join(before, on=[*keys, *columns, QUERY_HASH], how="anti", nulls_equal=True)
    deleted = rows.join(queries, on=keys, how="anti").select(keys).sort(keys)
    if deleted.height:
        first = quoted([", ".join(map(str, row)) for row in deleted.head(NAMED).rows()])
        says = f"has {deleted.height} rows of queries that the run and its judgments no longer have, the first being"
        their = "in the result their figures and query_hash are null" if changed_only else "the result lacks them"
        warn(f"{says} {first}: {their}.", about="stored")
    result = pl.concat([result, deleted], how="diagonal") if changed_only else result
    names = sql_names(columns, measured) if options["names"] == "sql" else {}
    return give_back(result.sort(keys).rename({**pair.run.source_names, **names}), stored)


def _as_they_are(
    pair: RunAndQrels, measured: Sequence[ResolvedMeasure], options: Mapping[str, Any]
) -> tuple[pl.DataFrame, str]:
    """The queries to evaluate, each with its hash, and the provenance of their figures."""
    run, qrels, read = pair.run.guarded(), pair.qrels, columns_read(measured)
    # Everything else is read off the rankings.
    rankings = rankings_of(run, read, in_order=options["ties"] == "input", beside=tables_of(options))
    small = run.eager and run.rows < TUNING.streaming_rows
    rankings = rankings.with_frame(collected(rankings.all_columns(), "in-memory" if small else "streaming"))
    if qrels is None and "relevance" not in run.dtypes:
        queries = run.select(*run.keys).unique()
    elif qrels is None:
        queries = run.select("relevance", *run.keys).filter(pl.col("relevance").is_not_null()).select(run.keys).unique()
    else:
        queries = qrels.select(*qrels.keys).unique()
        if pair.systems:
            queries = systems_of(rankings, pair.systems).join(queries, how="cross")
    queries = of_systems(queries, replace(pair, run=rankings), answered=options["missing"] == "skip")
    if options["strict"]:
        queries = strictly(queries, pair, missing=options["missing"])
    judged, digest = None, None
    if qrels is not None:
        # Hashed once; those of a plan are then in memory.
        hashes: Any = pair.kept(("hashes",), lambda: hashes_of(qrels))
        judged = collected(hashes.lazy(), qrels.engine)
        digest = collected(digest_of(judged, qrels.keys)).item()
    queries = with_query_hash(queries, rankings, qrels, judged, read)
    text = text_of(made_with(measured, options), digest)
    return collected(queries.select(*run.keys, QUERY_HASH), run.engine), text


def _rows_of(table: CanonicalFrame, run: CanonicalFrame) -> pl.DataFrame:
    """The stored rows, with keys of the types that they have in the run, each once."""
    if absent := [name for name in (PROVENANCE, QUERY_HASH) if name not in table.columns]:
        fix = Fix("Evaluate with it", Setting("provenance", True))
        raise ColumnError(f"has no column {absent[0]!r}; it has {quoted(table.columns)}.", about="stored", fix=fix)
    keys = [*filter(table.columns.__contains__, run.by), *table.keys]
    if keys != run.keys:
        says = f"distinguishes its rows by {quoted(keys)}, and the run its rankings by {quoted(run.keys)}."
        raise ColumnError(
            says, about="stored", fix="Let both have, or lack, a column of systems, and name the others: by="
        )
    rows = table.all_columns().collect(engine=table.engine)
    if not isinstance(hashes := rows.schema[QUERY_HASH], (*TEXT, pl.Null)):
        raise DtypeError.of_column("stored", QUERY_HASH, "texts, as evaluate writes them", hashes, "Evaluate all anew.")
    rows = rows.with_columns(pl.col(QUERY_HASH).cast(pl.String))
    for key in keys:
        dtype = run.dtypes[key]
        as_in_run = as_dtype(rows[key], dtype)
        if as_in_run is None:
            name, wanted = table.names.get(key, key), f"{dtype}, as in the run"
            raise DtypeError.of_column("stored", name, wanted, rows.schema[key], "Cast one.")
        rows = rows.with_columns(as_in_run)
    table.check_once(*keys, made=rows)
    return rows


def _made_alike(
    rows: pl.DataFrame, keys: Sequence[str], text: str, measured: Sequence[ResolvedMeasure]
) -> pl.DataFrame:
    """Keys, hashes and figures, by name, of rows whose provenance is the given text.

    Raise a `DataError` for other options. Rows of another version are left out, and columns of other measures.
    """
    now, stored = read_made(text) or {}, rows[PROVENANCE].drop_nulls().unique(maintain_order=True).to_list()
    made = {written: read_made(written) for written in stored}
    for written, its in made.items():
        if its is None:
            raise DataError(f"has {written!r:.60} in {PROVENANCE!r}, which evaluate did not write.", about="stored")
        if differs := differing(its, now, [], [JUDGMENTS, *TABLES]):
            fix = Fix("Update it with its own options, or evaluate all anew", Code("ir.evaluate"), without_code="")
            raise DataError(f"was made with other options: {differs} now.", about="stored", fix=fix)
    ours = versions_of(now)
    alike = {written: its["measures"] for written, its in made.items() if its and versions_of(its) == ours}
    if len(alike) < len(made):
        others = dict.fromkeys(of for of in map(versions_of, filter(None, made.values())) if of != ours)
        warn(f"has figures of {', and of '.join(others)}, which are evaluated anew.", about="stored")
    columns = {canonical_name(name): name for name in rows.columns if name not in keys}
    figures = {}
    for measure in measured:
        name = canonical_name(measure.name)
        of_each = ({canonical_name(each): of for each, of in its.items()} for its in alike.values())
        if name in columns and all(its.get(name) == now["measures"][measure.name] for its in of_each):
            figures[measure.name] = pl.col(columns[name])
    return rows.filter(pl.col(PROVENANCE).is_in(list(alike))).select(*keys, QUERY_HASH, **figures)


def _is_of_its_query(measure: ResolvedMeasure) -> bool:
    """True for a measure fully determined by its name and computed per query."""
    if measure.call is None or not info_of(measure.call).ours or "judged_elsewhere" in columns_read([measure]):
        return False
    try:
        return bool(name_of(measure.expression))
    except MeasureError:
        return False


def _figures(
    pair: RunAndQrels,
    call: tuple[Any, Any, Sequence[ResolvedMeasure]],
    queries: pl.DataFrame,
    before: pl.DataFrame,
    options: Evaluating,
) -> pl.DataFrame:
    """Keys and figures of all queries: stored ones where unchanged, and evaluated ones."""
    run, qrels, measured = call
    keys = pair.run.keys
    same = queries.join(before, on=[*keys, QUERY_HASH])
    kept = [measure for measure in measured if measure.name in before.columns and same.height]
    figures = queries.select(keys)
    if kept:
        changed = queries.join(same, on=keys, how="anti")
        # The evaluation of new rows warns of all, and a few queries do not look like the whole.
        quiet = len(kept) < len(measured) or not _are_many(changed, queries, keys[:-1])
        few = changed.height <= FEW * queries.height
        part = _of_changed(pair, changed, kept, options, quiet=quiet, few=few).join(changed, on=keys, how="semi")
        # A store may have changed the numeric types of figures.
        kept = [measure for measure in kept if part.schema[measure.name] == same.schema[measure.name]]
        together = pl.concat([rows.select(*keys, *(measure.name for measure in kept)) for rows in (same, part)])
        figures = figures.join(together, on=keys)
    names = {measure.name for measure in kept}
    if others := [measure.expression for measure in measured if measure.name not in names]:
        whole = evaluate_collected(run, qrels, others, **options).rename(pair.run.roles)
        figures = figures.join(whole, on=keys)
        if not kept:
            return figures
    return figures.select(*keys, *(measure.name for measure in measured))


def _of_changed(
    pair: RunAndQrels,
    changed: pl.DataFrame,
    measured: Sequence[ResolvedMeasure],
    options: Evaluating,
    *,
    quiet: bool,
    few: bool,
) -> pl.DataFrame:
    """Figures of changed queries, beside those of other systems, which have no rows here."""
    run, qrels, read = pair.run, pair.qrels, columns_read(measured)
    roles = {"query_id", "doc_id", "score", "relevance", *run.keys, *read} - ({"doc_id"} if run.numbered else set())
    rows = run.select(*filter(roles.__contains__, run.columns))
    # Filtering by the query first leaves few rows to be joined.
    rows_perhaps = rows.filter(pl.col("query_id").is_in(changed["query_id"].unique().implode()))
    part = rows_perhaps.join(changed.lazy(), on=run.keys, how="semi", maintain_order="left")
    systems = run.keys[:-1]
    if systems and qrels:
        # A system that answers none of these queries is still one.
        silent = changed.group_by(systems).agg(is_unanswered(pl.col(QUERY_HASH)).all()).filter(QUERY_HASH)
        if silent.height:
            part = pl.concat([part, rows.join(silent.lazy(), on=systems, how="semi").unique(systems)])
    part_of_run: Any = collected(part, run.engine) if few else run.computed(part)
    if run.systems is not None:
        part_of_run = {system: part_of_run.filter(run=system).drop("run") for system in run.systems}
    judgments: Any = None
    if qrels:
        of_qrels = [name for name in qrels.columns if name in (*qrels.document, "relevance", *qrels.per, *read)]
        judgments = qrels.computed(qrels.select(*of_qrels).join(changed.lazy(), on=qrels.keys, how="semi"))
    with warnings.catch_warnings():
        # Rows of unchanged systems are left out.
        warnings.filterwarnings("ignore", "" if quiet else ".* answers fewer than half", IRWarning)
        return evaluate_collected(part_of_run, judgments, [measure.expression for measure in measured], **options)


def _are_many(changed: pl.DataFrame, queries: pl.DataFrame, systems: list[str]) -> bool:
    """True if half of the queries of a system changed."""
    if not systems:
        return 2 * changed.height >= queries.height
    counts = queries.group_by(systems).len().join(changed.group_by(systems).len(), on=systems)
    return bool((2 * counts["len_right"] >= counts["len"]).any())
