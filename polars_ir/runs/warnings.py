"""Warnings of a result that is right, and probably unintended.

Conventions: a warning says what to look at and what to do. Rows in memory are warned of at once, a plan's when it runs,
by any engine: its measures depend on a `Warner`, which sees flags of each query. It warns by these flags, and reads the
tables again only where there is something to warn of.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from polars_ir.engine.grouping import ANSWERED
from polars_ir.engine.lists import HAD, OF_LISTS, WARM, without
from polars_ir.engine.needs import Needs
from polars_ir.engine.run_and_qrels import RunAndQrels, retrieves_judged, systems_of
from polars_ir.errors import Code, Fix, Setting, caller, option, quoted, table_name, warn, with_keys
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.language.kinds import STRATUM
from polars_ir.language.measures.cumulated_gain import HIGHEST_EXPONENT
from polars_ir.language.names import ResolvedMeasure
from polars_ir.runs.pooled import pooled, warn_of_pooled
from polars_ir.runs.table_warnings import NAMED, extremes_of

#: Temporary column beside `ANSWERED`: whether the run retrieved a judged document of a query. The judgments of tables
#: in memory may be those of relevant documents: `retrieves_judged` reads all.
HITS = "polars_ir: hits"

#: A column that is true once the warnings of a plan are issued.
WARNED = "polars_ir: warned"

#: A system, by the values of its keys.
System = tuple[Any, ...]

#: What stands between the id of a document and that of a chunk, as a pattern, the surest first.
SEPARATORS = ("#", "::", "[|]", "@", ":", "/", "_", "-", "[.]")

#: Rows of a plan from which a warning takes its examples.
FIRST = 10_000


def marks_of(pair: RunAndQrels, needs: Needs) -> dict[str, pl.Expr]:
    """The columns that `warned` reads, with the condition for any row of a query in the judged relation."""
    # A plan counts what the run answered; in memory `ANSWERED` may tell, and else the run is read, if need be.
    counted = not pair.run.eager and needs.kind.by_document and "n_retrieved" in needs.columns and not needs.judged_only
    return {HITS: needs.kind.hits, **({ANSWERED: pl.col("n_retrieved") > 0} if counted else {})}


def warned(
    result: pl.DataFrame, pair: RunAndQrels, measures: Sequence[ResolvedMeasure], *, missing: str
) -> pl.DataFrame:
    """The result without the columns of `marks_of`, after the warnings that its rows call for."""
    _warn_of_marks(result, pair, missing=missing)
    for mark in result.columns:
        if mark.startswith("polars_ir: "):
            result.drop_in_place(mark)
    for values in result:
        # A sum is not finite if a value is not, or where infinite values of both signs meet.
        if values.dtype.is_float() and not math.isfinite(values.sum()):
            _warn_of_no_numbers(result, values, pair, measures)
    return result


def _warn_of_no_numbers(
    result: pl.DataFrame, values: pl.Series, pair: RunAndQrels, measures: Sequence[ResolvedMeasure]
) -> None:
    """Warn of figures that are NaN or, for gains of 2 to the grade, infinite."""
    calls = [measure.call for measure in measures if measure.name == values.name]
    of_powers = any(call is not None and call.arguments.get("dcg") == "exp-log2" for call in calls)
    wrong = values.is_nan() | (values.is_infinite() & of_powers)
    if not (count := int(wrong.sum())):
        return
    first = result.filter(wrong)[pair.run.names["query_id"]][0]
    says = f"{values.name!r} is not a number for {count} of {result.height} queries{of_file()}, such as {first!r}"
    highest = extremes_of(pair.judgments)[1] if of_powers else None
    if highest is not None and highest > HIGHEST_EXPONENT:
        fix = Fix("Give such grades gains, by gains=, or take nDCG, which divides them")
        warn(f"{says}: 2 to the grade {highest:g} is beyond what a Float64 holds.", fix=fix)
        return
    warn(f"{says}: a column that it reads holds NaN or infinite values. Fill them, or leave those rows out.")


@dataclass(frozen=True)
class Warner:
    """The function in a plan that issues the warnings by the flags of its rows, and for measures `of_whole` pools."""

    pair: RunAndQrels
    missing: str
    of_whole: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, marked: Sequence[pl.Series] | pl.DataFrame) -> pl.Series:
        """True, after the warnings by the keys and flags of a result."""
        if self.pair.qrels and self.of_whole:
            from polars_ir.runs.samples import warn_of_strata

            warn_of_strata(self.pair.qrels, self.of_whole)
        _warn_of_marks(pl.DataFrame(marked), self.pair, missing=self.missing)
        return pl.Series([True])


def warner(pair: RunAndQrels, measures: Sequence[ResolvedMeasure], *, missing: str) -> Warner:
    """The function that issues the warnings of a plan."""
    of_whole: Mapping[str, str] = {}
    if pair.qrels and STRATUM in pair.qrels.dtypes and not pair.qrels.eager:
        from polars_ir.runs.samples import measures_of_whole

        of_whole = measures_of_whole(pair.qrels, measures)
    return Warner(replace(pair, prepared=None), missing, of_whole)  # What is kept must not be pickled with a plan.


def with_warnings(result: pl.LazyFrame, pair: RunAndQrels, marks: Iterable[str], warn_of: Warner) -> pl.LazyFrame:
    """The result of a plan without its flags, and with measures that depend on the warnings."""
    own = pair.run.source_names
    read = [*(own.get(key, key) for key in pair.run.keys), *marks]
    # A method of an expression would wrap it in a function that cannot be imported, and so not be pickled.
    done = pl.map_batches(read, warn_of, return_dtype=pl.Boolean, returns_scalar=True)
    figures = pl.when(WARNED).then(pl.exclude(*read, WARNED))
    return result.with_columns(done.alias(WARNED)).with_columns(figures).drop(WARNED, *marks)


def _warn_of_marks(result: pl.DataFrame, pair: RunAndQrels, *, missing: str) -> None:
    """Warn of systems that share nothing with the judgments, or answer few queries."""
    for mark in result.columns:
        if mark.startswith(OF_LISTS):
            warn_of_lists(result, mark, pair.run.source_names["query_id"])
    if pair.qrels is None:
        return
    result = result.rename(pair.run.roles, strict=False)
    if len(pair.run.columns) > len(pair.run.names):
        warn_of_pooled(pair.run, [name for name in pair.run.columns if pooled(name) in result.columns], result)
    if pair.qrels.by:
        _warn_of_no_judgments(pair.run, pair.qrels)
    if pair.only_judged:
        _warn_of_other_queries(pair.qrels, pair.only_judged)
    systems = _without_hits(result, pair)
    if systems != []:
        _warn_of_nothing_shared(pair, pair.qrels, systems)
    elif missing == "zero":
        _warn_of_few_answers(result, pair)


def warn_of_lists(result: pl.DataFrame, mark: str, query: str) -> None:
    """Warn of a history that shares no item or user with the lists, or of items that lack what they are compared by."""
    if mark == WARM:
        if result[mark].count() and not result[mark].any():
            warn("no item of a list is in the history, so that all count as new; compare the ids of both.")
    elif mark == HAD:
        if result.height and not result[mark].any():
            warn("no user of a list is in the history, so that nothing counts as seen; compare the ids of both.")
    elif result[mark].any():
        lacking = result.filter(mark)[query]
        warn(
            f"lists of {lacking.n_unique()} queries, the first being {lacking[0]!r}, hold items without "
            f"{mark.removeprefix(without(''))!r}, which their similarity leaves out."
        )


def _without_hits(result: pl.DataFrame, pair: RunAndQrels) -> list[System] | None:
    """Systems that retrieved no judged document; None if there is no other, or none at all."""
    if not result[HITS].any():
        return [] if retrieves_judged(pair) else None
    if not (systems := pair.run.keys[:-1]):
        return []
    silent = result.group_by(systems).agg(pl.col(HITS).fill_null(value=False).any()).filter(~pl.col(HITS)).sort(systems)
    return [system for system in silent.select(systems).rows() if not retrieves_judged(_of_systems(pair, [system]))]


def _of_systems(pair: RunAndQrels, systems: Sequence[System]) -> RunAndQrels:
    keys = pair.run.keys[:-1]
    named = pl.LazyFrame(systems, {key: pair.run.dtypes[key] for key in keys}, orient="row")
    rows = pair.run.all_columns().join(named, on=keys, how="semi")
    return RunAndQrels(pair.run.with_frame(rows), pair.qrels)


def _named(pair: RunAndQrels, systems: Sequence[System]) -> str:
    """The first of some systems, by the values of their keys, and the number of others."""
    keys = pair.run.keys[:-1]
    if keys == ["run"]:
        return quoted([name for (name,) in systems], NAMED)
    return quoted(with_keys(keys, systems), NAMED)


def warn_of_other_ids(pair: RunAndQrels, *, stages: bool) -> None:
    """Warn of systems in memory that share nothing with the judgments; `stages` must stay a dict of runs."""
    if pair.qrels is None or not (pair.run.eager and pair.qrels.eager):
        return
    keys, document = pair.run.keys[:-1], pair.qrels.document
    judged = pair.run.select(*dict.fromkeys([*keys, *document])).join(
        pair.qrels.select(*document), on=document, how="semi"
    )
    hits = judged.select((pl.len() > 0).alias(HITS))
    if keys:
        hits = judged.group_by(keys).agg((pl.len() > 0).alias(HITS))
        hits = systems_of(pair.run, keys).join(hits, on=keys, how="left")
    systems = _without_hits(hits.collect(engine="in-memory"), pair)
    if systems != []:
        _warn_of_nothing_shared(pair, pair.qrels, systems, stages=stages)


def _warn_of_nothing_shared(
    pair: RunAndQrels, qrels: CanonicalFrame, systems: list[System] | None, *, stages: bool = False
) -> None:
    """Warn of ids that probably differ in form: every figure would be 0, and look like a bad run."""
    judged = qrels.select("query_id", "doc_id").head(1).collect(engine=qrels.engine)
    if judged.height and qrels.select("doc_id").drop_nulls().head(1).collect(engine=qrels.engine).is_empty():
        return  # The qrels say on purpose that nothing is relevant.
    run, of_systems = pair.run, ""
    if systems is not None:
        run = _of_systems(pair, systems).run
        if qrels.by:
            of_systems_alone = qrels.all_columns().join(run.select(*qrels.by).unique(), on=list(qrels.by), how="semi")
            qrels = qrels.with_frame(of_systems_alone)
        of_systems = f" of {_named(pair, systems)}"
    queries = run.select("query_id").join(qrels.select("query_id"), on="query_id", how="semi")
    role = "doc_id" if queries.head(1).collect(engine=run.engine).height else "query_id"
    problem = {
        "doc_id": f"no retrieved document{of_systems or of_file()} is judged for its query",
        "query_id": f"{table_name('run')}{of_systems} and {table_name('qrels')} share no query",
    }[role]
    if not judged.height:
        problem = f"{table_name('qrels')} hold no judgments"
    of_run, of_qrels = (_examples(table, role) for table in (run, qrels))
    fix = _of_parts(run, qrels, stages=stages) if role == "doc_id" and judged.height else None
    warn(f"{problem}; ids of {table_name('run')} are {of_run}, of {table_name('qrels')} {of_qrels}.", fix=fix)


def _of_parts(run: CanonicalFrame, qrels: CanonicalFrame, *, stages: bool) -> Fix | None:
    """The advice for judged documents whose chunks the run has: the ids of these go on behind a separator."""
    if pl.String not in (run.dtypes["doc_id"], qrels.dtypes["doc_id"]):
        return None
    ids = run.select("query_id", "doc_id").head(FIRST)
    # The longest part first: ids of documents may have the separator, too, and so may the numbers of chunks.
    for pattern in (f"^({part}){separator}" for separator in SEPARATORS for part in (".+", ".+?")):
        whole = ids.with_columns(pl.col("doc_id").str.extract(pattern)).drop_nulls("doc_id")
        if (
            whole.join(qrels.select("query_id", "doc_id"), on=["query_id", "doc_id"], how="semi")
            .head(1)
            .collect(engine=run.engine)
            .height
        ):
            made = "ir.collapse({}, pl.coalesce(pl.col('doc_id').str.extract({!r}), 'doc_id'))"
            made = made.format("each" if stages else "run", pattern)
            made = f"{{name: {made} for name, each in run.items()}}" if stages else made
            words = "If the run has ids of chunks and the qrels of documents, turn the former into the latter"
            return Fix(words, Code(made), without_code=f"{words}, in Python: {made}")
    return None


def _warn_of_no_judgments(run: CanonicalFrame, qrels: CanonicalFrame) -> None:
    """Warn of key values of a run for which the judgments, which have this key, have no rows."""
    by = list(qrels.by)
    without = run.select(*by).unique().join(qrels.select(*by).unique(), on=by, how="anti").sort(by)
    if parts := without.collect(engine=run.engine).rows():
        fix = Fix(f"If they hold for all, leave {quoted(by)} out of them", Code.dropping("qrels", by))
        warn(
            f"{table_name('qrels')} have no rows of {quoted(with_keys(by, parts), NAMED)}, which the result lacks.",
            fix=fix,
        )


def _warn_of_other_queries(qrels: CanonicalFrame, judges: Sequence[str]) -> None:
    """Warn of judges some of whom judged other queries than others: their means are not of the same ones."""
    others = list(itertools.filterfalse(judges.__contains__, qrels.keys))
    same = pl.struct(others[:-1]) if len(others) > 1 else pl.lit(0)
    queries = qrels.select(*judges, *others).drop_nulls().unique()
    judged = queries.with_columns(pl.len().over(others).alias("n"), pl.struct(judges).n_unique().over(same).alias("of"))
    found = judged.select("query_id", "of", has_all=pl.col("n") == pl.col("of")).unique().sort("query_id")
    rows = found.collect(engine=qrels.engine)
    first = rows.filter(~pl.col("has_all"))["query_id"].unique(maintain_order=True)
    if first.is_empty():
        return
    fix = None
    if len(qrels.keys) == 2 and rows["has_all"].any():
        n, query, judge = rows["of"][0], qrels.names["query_id"], judges[0]
        code = Code(
            f"qrels.filter(pl.col({judge!r}).n_unique().over({query!r}) == {n})",
            f"qrels[qrels.groupby({query!r})[{judge!r}].transform('nunique') == {n}]",
        )
        fix = Fix("To compare their means, keep the queries of all", code)
    warn(
        f"some queries lack judgments by some values of {quoted(judges)}, so that means are over different queries; "
        f"there are {len(first):,}, the first being {quoted(map(str, first.head(NAMED)))}.",
        fix=fix,
    )


def _warn_of_few_answers(result: pl.DataFrame, pair: RunAndQrels) -> None:
    """Warn of runs that answer fewer than half of the judged queries: most of a mean is then made of zeros.

    The message holds no numbers, so that Python shows it once where a loop evaluates many slices.
    """
    systems = pair.run.keys[:-1]
    if not _few(result, HITS, systems):
        return  # A run with judged documents for half of the queries answers these.
    if few := _few(result, ANSWERED, systems) if ANSWERED in result.columns else _few_in_run(result, pair):
        fix = Fix(
            "If they are a slice of the queries, evaluate all of them at once and take the means by slice "
            f"({option('by')}), or leave the others out",
            Setting("missing", "skip"),
        )
        run = f"{table_name('run')} of {_named(pair, few)}" if systems else table_name("run")
        warn(f"{run} answers fewer than half of the judged queries; missing queries score 0.", fix=fix)


def _few(result: pl.DataFrame, column: str, systems: list[str]) -> list[Any]:
    """The systems, or True for the only one, for which a column is true of fewer than half of the queries."""
    if not systems:
        return [True] if 2 * int(result[column].sum()) < result.height else []
    share = pl.col(column).cast(pl.Float64).fill_null(0).mean()
    return result.group_by(systems).agg(share).filter(pl.col(column) < 0.5).select(systems).sort(systems).rows()


def _few_in_run(result: pl.DataFrame, pair: RunAndQrels) -> list[Any]:
    """As `_few`, by the rows of the run: counting the queries of a system is cheaper than looking each of them up."""
    systems, queries = pair.run.keys[:-1], list(filter(pair.run.keys.__contains__, pair.judgments.keys))
    rows = pair.run.select(*pair.run.keys).join(result.lazy().select(queries).unique(), on=queries, how="semi")
    n = pl.col("query_id").n_unique().alias(ANSWERED)
    if not systems:
        return [True] if 2 * rows.select(n).collect(engine=pair.run.engine).item() < result.height else []
    answers = rows.group_by(systems).agg(n).collect(engine=pair.run.engine)
    counts = result.group_by(systems).len().join(answers, on=systems, how="left")
    few = 2 * pl.col(ANSWERED).fill_null(0) < pl.col("len")
    return counts.filter(few).select(systems).sort(systems).rows()


def of_file() -> str:
    """The run that a warning is about, where runs are files."""
    return f" of {table_name('run')}" if "run" in caller().names else ""


def _examples(table: CanonicalFrame, role: str) -> str:
    # The first rows are enough, and of a plan mostly the same each time.
    rows = table.select(role).head(FIRST).collect(engine=table.engine)
    first = rows[role].drop_nulls().unique(maintain_order=True).head(3)
    return ", ".join(map(repr, first)) or "none at all"
