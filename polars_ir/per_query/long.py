"""Long form of per-query figures: a row for each query and measure."""

from __future__ import annotations

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.frames.long_form import MEASURE, VALUE
from polars_ir.frames.table import per_query_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import part_of
from polars_ir.language.measure import PARTS
from polars_ir.language.options import check, or_none, public
from polars_ir.language.options import column as name_of
from polars_ir.per_query.shared.attributes import keys_found
from polars_ir.per_query.shared.measures import Measures, measures_of
from polars_ir.per_query.shared.queries import check_names


@public()
def long(per_query: Table[FrameT], measures: Measures = None, *, run: str | None = None) -> FrameT:
    """The figures with a row for each query and measure, as stores and dashboards keep them.

    A new measure then adds rows, not columns. Every function of a per-query frame also reads this form, in any row
    order: measures and systems by name.

    Parameters
    ----------
    run
        The name of the system, for a frame of one that has no column of it.

    Returns
    -------
    The kind of the input
        The keys and the other columns that are no measures, `measure` (String), `value`, `low` and `high` (Float64, the
        last two null for a measure without bounds; `se`, if a measure has one). Queries and measures keep their order.

    Examples
    --------
    >>> import polars_ir as ir
    >>> per_query = ir.evaluate({"q1": ["d1", "d2"]}, {"q1": ["d2"]}, ["RR", "P@1"])
    >>> per_query.ir.long(run="mine").select("run", "query_id", "measure", "value").rows()
    [('mine', 'q1', 'RR', 0.5), ('mine', 'q1', 'P@1', 0.0)]
    >>> per_query.ir.long().ir.mean().rows()  # measures by name: P@1, RR
    [(0.0, 0.5)]
    """
    check("run", run, or_none(name_of("systems")._replace(wanted="the name of the system")))
    table = per_query_table(per_query)
    if run is not None and "run" in table.dtypes:
        raise OptionError(f"is for a frame of one system; this one has a column {table.names['run']!r}.", about="run")
    apart = keys_found(table, without=[] if measures is None else measures_of(table, measures))
    names = measures_of(table, measures, without=apart)
    columns: dict[str, dict[str, str]] = {}
    for name in names:
        measure, part = part_of(name, names)
        columns.setdefault(measure, {})[part or VALUE] = name
    # Every row has columns of bounds, so that rows of any evaluation can be appended.
    parts = [part for part in PARTS if part in ("low", "high") or any(part in of for of in columns.values())]
    null = pl.lit(None, pl.Float64)
    rows = [
        pl.struct(
            pl.lit(measure).alias(MEASURE),
            *((pl.col(of[part]).cast(pl.Float64) if part in of else null).alias(part) for part in (VALUE, *parts)),
        )
        for measure, of in columns.items()
    ]
    left_out = {*table.keys, *measures_of(table, without=apart)}
    kept = [*table.keys, *(name for name in table.columns if name not in left_out)]
    check_names(kept, (MEASURE, VALUE, *parts))
    named = [] if run is None else [pl.lit(run).alias("run")]
    packed = table.all_columns().select(*named, *kept, pl.concat_list(rows).alias(MEASURE))
    return table.give_back(packed.explode(MEASURE).unnest(MEASURE), per_query)
