"""`exposure`: how the lists of all users together use the catalogue, a row per system.

Conventions: items outside the catalogue count nowhere, also not in the overlap of lists. A user with a list counts,
also where all of its items are outside. No pair of users is made: c lists with an item are c (c - 1) / 2 pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import polars as pl

from polars_ir.engine.lists import LENGTH, lengths_of, listed
from polars_ir.engine.run_and_qrels import search_run, systems_of
from polars_ir.errors import Code, DataError, Fix, MeasureError, option, warn
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.catalogue import Catalogue
from polars_ir.frames.table import run_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.exposure import DEFAULTS, ITEMS, LONGEST, USERS, Asked, Exposed, asked
from polars_ir.language.lists import PLACE
from polars_ir.language.names import Measures
from polars_ir.language.options import keys_named, public
from polars_ir.language.tools import CATALOGUES
from polars_ir.runs.rankings import returned

#: A column that all rows share.
EACH = "polars_ir: each"


@public()
def exposure(
    run: Table[FrameT],
    measures: Measures | None = None,
    *,
    history: Any = None,
    items: Any = None,
    by: str | Sequence[str] | None = None,
) -> FrameT:
    """The use of a catalogue by the lists of all users together: one row per system, whoever is judged.

    With c_i for the number of lists that have item i among their first k, m for the items of the catalogue and N for
    the users with a list:

    - `ItemCoverage@k`: the share of the m items that some list has;
    - `Gini@k`: sum((2 j - m - 1) c_j, j = 1 .. m) / (m sum(c)), c rising: 0 where all items are in as many lists, near
      1 where few are in all. `Gini(discount='log2')@k` and `Gini(p=0.85)@k` weigh the places of a list;
    - `Entropy@k`: -sum(p log2(p)), p = c_i / sum(c), in bits;
    - `Personalisation@k`: 1 - mean over pairs of users of overlap / k = 1 - sum(c_i (c_i - 1)) / (k N (N - 1)).

    They have no interval: a bootstrap of users draws some twice, whose lists are the same, and so lowers coverage and
    personalisation.

    Parameters
    ----------
    measures
        Names of measures, also as a kit has them (`"lenskit ExposureGini@10"`); by default the four at 10.
    history
        What the users had before: rows of user and item in any form of a run, such as the data of the training. Its
        items are the catalogue where `items` is not given.
    items
        The items of the catalogue, a row each. `ItemCoverage` and `Gini` need a catalogue; without one the others count
        all items. Kits' words need the catalogue that the kit has: RePlay's is the history's, others' are `items`.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, nothing collected)
        The keys of `by`, the column of systems (if there is one), and the measures, Float64. Where no list has an item
        of the catalogue, `Gini` and `Entropy` are null, and `ItemCoverage` is 0; `Personalisation` is null with fewer
        than two users. Sorted by keys and system.

    Warns
    -----
    IRWarning
        Of a run in memory, for items outside the catalogue, which count nowhere.

    Raises
    ------
    IRError
        For a measure of each query, a missing or empty catalogue, or another than a kit's, ids of another type than the
        run's, and runs that `evaluate` would not take.

    References
    ----------
    Castells et al. 2015, https://doi.org/10.1007/978-1-4899-7637-6_26

    Examples
    --------
    >>> import polars_ir as ir
    >>> train = {"u1": ["a", "b", "c"], "u2": ["a", "b"], "u3": ["a", "d"], "u4": ["a"]}
    >>> run = {"u1": ["d", "c"], "u2": ["c", "d"], "u3": ["b", "c"], "u4": ["b"]}
    >>> ir.exposure(run, ["ItemCoverage@2", "Personalisation@2"], history=train).row(0)
    (0.75, 0.5833333333333333)
    """
    measured, keys = asked(DEFAULTS if measures is None else measures), keys_named(by)
    table = run_table(run, by=keys)
    search_run(table)
    given = list(compress(("history", "items"), (history is not None, items is not None)))
    _check_catalogue(measured, given)
    catalogue = Catalogue.of(table, history, items) if given else None
    relation = _relation(table, catalogue, measured)
    systems = table.keys[:-1]
    result = relation.group_by(*systems, EACH).agg(measure.expression for measure in measured)
    result = result.select(*systems, *(measure.name for measure in measured))
    return returned(result.sort(systems) if systems else result, table, run)


def _check_catalogue(measures: Sequence[Asked], given: Sequence[str]) -> None:
    """Raise a `MeasureError` for a measure of a catalogue that the call lacks, or of another than it has."""
    used = given[-1] if given else ""
    for name, catalogue, needed in ((each.written, each.catalogue, each.figure.of_catalogue) for each in measures):
        if (needed and not used) or (catalogue and used and catalogue != used):
            says = {
                "": f"needs a catalogue: {option('items')}, or the items of the {option('history')}.",
                "items": f"is of all items that lists can have: those of {option('items')}.",
                "history": f"is of the items of the {option('history')}, and does not go with {option('items')}.",
            }
            fix = Fix("Give that alone", Code(f"run.ir.exposure([{name!r}], {CATALOGUES[catalogue]})"))
            raise MeasureError(f"{name!r} {says[catalogue]}", fix=fix)


def _relation(run: CanonicalFrame, catalogue: Catalogue | None, measures: Sequence[Asked]) -> pl.LazyFrame:
    """A row per system and listed item of the catalogue, with its weights; a system without one has a row, too."""
    systems, weights = run.keys[:-1], {measure.of.column: measure.of for measure in measures}
    each = pl.lit(1).alias(EACH)
    on = [*systems, EACH]
    counts = _counts(run, list(weights.values())).with_columns(each)
    there = (systems_of(run, systems) if systems else pl.LazyFrame({"there": [True]})).with_columns(each)
    if catalogue is not None:
        ids = _ids(catalogue)
        counts = run.computed(counts, "streaming").lazy()
        _warn_of_others(counts, ids, run)
        counts = counts.join(ids, on="doc_id", how="semi")
        there = there.join(ids.select(pl.len().cast(pl.Int64).alias(ITEMS), each), on=EACH, how="left")
    else:
        there = there.with_columns(pl.lit(None, pl.Int64).alias(ITEMS))
    if any(USERS in measure.expression.meta.root_names() for measure in measures):
        numbers = {USERS: pl.len(), LONGEST: pl.col(LENGTH).max()}
        of_systems = lengths_of(run).group_by(*systems, each)
        lists = of_systems.agg(n.cast(pl.Int64).alias(name) for name, n in numbers.items())
        there = there.join(lists, on=on, how="left", nulls_equal=True)
    return there.join(counts, on=on, how="left", nulls_equal=True).with_columns(pl.col(*weights).fill_null(0))


def _ids(catalogue: Catalogue) -> pl.LazyFrame:
    """The items of the catalogue, each once; a `DataError` for none in memory."""
    table = catalogue.items or catalogue.history
    if table and table.is_empty:
        raise DataError("has no rows, and so no catalogue.", about=table.about)
    return catalogue.ids


def _counts(run: CanonicalFrame, weights: Sequence[Exposed]) -> pl.LazyFrame:
    """A row per system and item of its lists, with the weights of its places."""
    cutoffs = [of.k for of in weights]
    limits = [k for k in cutoffs if k is not None]
    # Where places weigh the same, lists that no cutoff shortens need no order.
    shortest = min(limits, default=None) if all(of.is_count for of in weights) else 0
    rows = listed(run, shortest, None if None in cutoffs else max(limits))
    return rows.group_by(*run.keys[:-1], "doc_id").agg(of.of(pl.col(PLACE)).alias(of.column) for of in weights)


def _warn_of_others(counts: pl.LazyFrame, ids: pl.LazyFrame, run: CanonicalFrame) -> None:
    """Warn of items in lists that the catalogue lacks."""
    others = run.found(counts.select("doc_id").unique().join(ids, on="doc_id", how="anti").sort("doc_id"))
    if others.height:
        named = "1 item is" if others.height == 1 else f"{others.height:,} items are"
        warn(
            f"{named} in lists but not in the catalogue, and {'counts' if others.height == 1 else 'count'} nowhere; "
            f"the first by {run.names['doc_id']!r} is {others.item(0, 0)!r}."
        )
