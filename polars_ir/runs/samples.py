"""Judgments that are a sample, as `evaluate` takes them: their columns, and what goes with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.engine.grouping import ranking_keys
from polars_ir.engine.needs import Needs
from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.engine.samples import FORMS, OF_STRATA, estimated, with_errors
from polars_ir.errors import Code, DtypeError, Fix, OptionError, option, quoted, table_name, warn
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import collected, has_column
from polars_ir.frames.rules import Rule, checked
from polars_ir.language.kinds import PROBABILITY, STRATUM
from polars_ir.language.measure import of_part
from polars_ir.language.names import ResolvedMeasure
from polars_ir.runs.options import Evaluating

#: Probabilities of a stratum that differ by less are one, rounded.
TOLERANCE = 1e-9

#: Share of the number of documents drawn of a stratum by which a rounded probability may miss it.
ROUNDED = 0.01

#: Number of documents of a query above which a probability is a mistake: nDCG has a place for each.
MOST = 10_000_000

#: Measures that do not take the documents of a pool that were not judged for ones that are not relevant.
NOT_OF_WHOLE = frozenset({"xinfAP", "infNDCG", "infAP", "bpref", "GMbpref"})

#: Number of measures that a warning names.
NAMED = 3

#: Options that take the judgments for all there are, with the values that do not.
WHOLE = {"ties": ("doc_id", "input"), "judges": (None,), "judged_only": (False,), "bounds": (False,)}


def check_whole(options: Mapping[str, Any], *names: str) -> None:
    """Raise an `OptionError` for options that take a sample for the whole pool."""
    for name in names or WHOLE:
        if options[name] not in WHOLE[name]:
            column = STRATUM if names else PROBABILITY
            says = f"does not go with judgments that are a sample, as their {column!r} says."
            raise OptionError(says, about=option(name, options[name]))


def of_sample(measures: Sequence[ResolvedMeasure], judgments: Any, options: Evaluating) -> list[ResolvedMeasure]:
    """The estimates of measures from a sample, each with its standard error; an error where there is none."""
    check_whole({**options})
    strata = has_column(judgments, STRATUM)
    return [estimate for measure in measures for estimate in with_errors(measure, strata=strata)]


def estimated_sample(
    relation: pl.LazyFrame, pair: RunAndQrels, measures: Sequence[ResolvedMeasure], needs: Needs
) -> tuple[pl.LazyFrame, list[ResolvedMeasure], list[str]]:
    """The judged relation, checked and with estimates, the measures that read these, and the names of their errors."""
    relation, names = checked_sample(relation, pair, measures, needs), {measure.name for measure in measures}
    if PROBABILITY not in needs.columns:
        return relation, list(measures), []
    keys = ranking_keys(relation, pair)
    relation, made = estimated(relation, keys, measures, strata=STRATUM in needs.columns)
    return relation, made, [of_part(name, "se") for name in names if of_part(name, "se") in names]


def checked_sample(
    relation: pl.LazyFrame, pair: RunAndQrels, measures: Sequence[ResolvedMeasure], needs: Needs
) -> pl.LazyFrame:
    """The judged relation of a sample; an error, in a plan when it runs, for probabilities and strata of none."""
    judgments = pair.judgments
    read = [column for column in (STRATUM, PROBABILITY) if column in needs.columns]
    if PROBABILITY in read and not judgments.dtypes[PROBABILITY].is_numeric():
        dtype = judgments.dtypes[PROBABILITY]
        raise DtypeError.of_column(judgments.about, PROBABILITY, "numbers", dtype, "Cast it.")
    counted = any(measure.call and measure.call.measure in OF_STRATA for measure in measures)
    if not judgments.eager:
        rules = _rules(read, pair.keys, counted=counted)
        return checked(relation, *rules, about=judgments.about, keys=["query_id"], names={})
    # What was drawn shows, too, whether the rest of the pool is there.
    read = [column for column in (STRATUM, PROBABILITY) if column in read or (counted and column in judgments.dtypes)]
    ids = [*judgments.keys, *([] if judgments.numbered else ["doc_id"]), "relevance"]
    rows = judgments.select(*ids, *read).collect(engine="in-memory")
    rules = _rules(read, judgments.keys, counted=counted)
    checked(rows, *rules, about=judgments.about, keys=ids, names=judgments.names)
    return relation


def _rules(read: Collection[str], keys: Sequence[str], *, counted: bool) -> list[Rule]:
    """The rules of judgments that are a sample, of the columns that are read."""
    judged, p, stratum = pl.col("relevance") >= 0, pl.col(PROBABILITY), [*keys, STRATUM]
    rules = []
    if PROBABILITY in read:
        wrong = judged & ~((p > 0) & (p <= 1)).fill_null(False)
        words = "A document that was drawn has such a probability. Leave out rows that were not"
        rules.append(Rule(wrong, f"whose {PROBABILITY!r} is not above 0 and at most 1", words))
        wrong = judged & (pl.when(judged).then(1 / p).sum().over(keys) > MOST)
        words = "A document counts for 1 / probability; give the probability with which it was drawn"
        rules.append(Rule(wrong, f"of queries whose {PROBABILITY!r} stand for more than {MOST:,} documents", words))
    if STRATUM in read:
        wrong = pl.col(STRATUM).is_null() & pl.col("relevance").is_not_null()
        rules.append(Rule(wrong, f"whose {STRATUM!r} is null", "Give each document of the pool its stratum"))
    if len(read) > 1:
        drawn = pl.when(judged).then(p)
        wrong = judged & (drawn.max().over(stratum) - drawn.min().over(stratum) > TOLERANCE)
        words = f"Documents of a stratum have one; where each was drawn by itself, drop {STRATUM!r}"
        rules.append(Rule(wrong, f"of strata with several {PROBABILITY!r}", words))
        n_drawn, n_pool = (rows.sum().over(stratum) for rows in (judged, pl.col("relevance").is_not_null()))
        # Where the documents that were not drawn are there, they tell the probability.
        wrong = judged & (n_drawn < n_pool) & ((p * n_pool - n_drawn).abs() > ROUNDED * n_drawn)
        words = f"Of N documents, n drawn, it is n / N; where each was drawn by itself, drop {STRATUM!r}"
        rules.append(Rule(wrong, f"of strata whose {PROBABILITY!r} is not their judged share", words))
    if len(read) > 1 and counted:
        wrong = judged & (p < 1) & judged.all().over(stratum)
        words = "xinfAP and infNDCG count these; give them a grade of -1"
        rules.append(Rule(wrong, "of strata without the documents that were not drawn", words))
    return rules


def measures_of_whole(judgments: CanonicalFrame, measures: Sequence[ResolvedMeasure]) -> dict[str, str]:
    """Measures that take judgments with strata for those of the whole pool, by their names in the result."""
    if PROBABILITY in judgments.dtypes:
        return {}
    called = {m.name: m.call for m in measures if m.call and "relevance" in m.expression.meta.root_names()}
    return {name: call.measure for name, call in called.items() if call.measure not in NOT_OF_WHOLE}


def warn_of_strata(judgments: CanonicalFrame, of_whole: Mapping[str, str]) -> None:
    """Warn of measures of a whole pool where documents of its strata were not judged."""
    not_judged = ((pl.col("relevance") < 0) & pl.col(STRATUM).is_not_null()).sum()
    rows = judgments.select("relevance", STRATUM).select(not_judged)
    if not (count := collected(rows, judgments.engine).item()):
        return
    table, grade = judgments.about, judgments.names["relevance"]
    keys = [judgments.names.get(key, key) for key in judgments.keys]
    chance = Code(
        f"{table}.with_columns({PROBABILITY}=(pl.col({grade!r}) >= 0).mean().over({[*keys, STRATUM]!r}))",
        f"{table}.assign({PROBABILITY}={table}[{grade!r}].ge(0).groupby([{table}[key] for key in "
        f"{[*keys, STRATUM]!r}]).transform('mean'))",
    )
    words = "Take xinfAP or infNDCG, which read the strata"
    estimated = FORMS.keys() >= set(of_whole.values())
    fix = Fix(f"{words}, or say how likely each document was judged", chance) if estimated else Fix(words)
    warn(
        f"to {quoted(list(of_whole), NAMED)} {count:,} of the documents in the strata of {table_name(table)} are not "
        "relevant because they were not judged (grades below 0); those that were stand for them.",
        fix=fix,
    )
