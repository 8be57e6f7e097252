"""The origin of the figures of a per-query frame, and whether those that are compared were made alike."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, FileError, Fix, Setting, dropping, quoted
from polars_ir.frames.roles import PROVENANCE
from polars_ir.frames.table import Table, per_query_table
from polars_ir.language.names import canonical_name
from polars_ir.language.options import takes

#: What the figures do not depend on, and a note tells.
NOTED = ("polars_ir",)


@takes()
def provenance(per_query: Any) -> dict[str, Any]:
    """The options, the judgments and the version by which the figures of a per-query frame were made.

    Parameters
    ----------
    per_query
        What `evaluate(..., provenance=True)` returned, also stored and read back; or the path of a Parquet file that
        the shell wrote, of which only the metadata is read.

    Returns
    -------
    dict
        `polars_ir`, the version; `missing`, `undefined`, `judged_only`, `ties` and `judges`, the options of `evaluate`;
        `measures`, the canonical name of each column's measure, None for an aggregation of one's own; and `judgments`,
        a hash of their ids and grades, the same in any order, on any machine and under any version of Polars, None
        where the run held them itself.

    Raises
    ------
    IRError
        For a frame without it, or one whose rows were made in several ways, which the message tells apart.

    Examples
    --------
    >>> import polars_ir as ir
    >>> per_query = ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, "P@1,2", missing="skip", provenance=True)
    >>> made = ir.provenance(per_query)
    >>> made["missing"], made["measures"], made["judgments"]
    ('skip', {'P@1': 'P@1', 'P@2': 'P@2'}, '33ec1a9f33c140a5')
    """
    if isinstance(per_query, (str, os.PathLike)):
        return _of_file(Path(per_query))
    table = per_query_table(per_query)
    texts = _texts(table) if PROVENANCE in table.columns else []
    if not texts:
        fix = Fix("Evaluate with it", Setting("provenance", True))
        raise ColumnError(f"has no column {PROVENANCE!r}; it has {quoted(table.columns)}.", about="per_query", fix=fix)
    made = [its for its in map(_read, texts) if its is not None]
    if len(made) < len(texts):
        fix = Fix("Rename a column of your own", Code(f".rename({{{PROVENANCE!r}: 'source'}})"))
        says = f"has {texts[0]!r:.60} in {PROVENANCE!r}, which evaluate did not write."
        raise DataError(says, about="per_query", fix=fix)
    first, *others = made
    for other in others:
        if differing := _differing(first, other, first["measures"]):
            raise DataError(f"was made in several ways: {differing}. Ask for a part of it.", about="per_query")
    return first


def check_made_alike(table: Table, rows: pl.DataFrame, measures: Sequence[str]) -> str | None:
    """Raise a `DataError` for queries whose systems were evaluated otherwise; the note of what makes no difference."""
    texts = rows[PROVENANCE].drop_nulls().unique(maintain_order=True).to_list()
    made = [its for its in map(_read, texts) if its is not None]
    if len(made) < len(texts):  # a column of the user's own
        return None
    kinds = [_first_like(its, made, measures) for its in made]
    if any(kinds):
        kind = pl.col(PROVENANCE).replace_strict(dict(zip(texts, kinds, strict=True)), default=None)
        keys = [key for key in table.keys if key != "run"]
        of_query = rows.group_by(keys, maintain_order=True).agg(kind.drop_nulls().unique(maintain_order=True))
        several = of_query.filter(pl.col(PROVENANCE).list.len() > 1)
        if several.height:
            one, other = several[PROVENANCE][0][:2]
            fix = Fix(
                "Evaluate all in one way, or, if the difference is meant, leave the column out",
                dropping("per_query", [PROVENANCE]),
            )
            says = f"figures that are compared must be made alike; {_differing(made[one], made[other], measures)}."
            raise DataError(says, fix=fix)
    versions = dict.fromkeys(its["polars_ir"] for its in made)
    if len(versions) > 1:
        return f"evaluated by polars_ir {' and '.join(versions)}"
    return "how some of the figures were made is not told" if made and rows[PROVENANCE].null_count() else None


def _first_like(its: Mapping[str, Any], made: Sequence[Mapping[str, Any]], measures: Sequence[str]) -> int:
    """The place of the first evaluation that is like one of them."""
    return next(place for place, other in enumerate(made) if not _differing(other, its, measures))


def _texts(table: Table) -> list[str]:
    rows = table.select(PROVENANCE).unique(maintain_order=True).drop_nulls()
    return [str(text) for text in rows.collect(engine=table.engine)[PROVENANCE]]


def _of_file(path: Path) -> dict[str, Any]:
    try:
        text = pl.read_parquet_metadata(path).get(PROVENANCE)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FileError.of_file(path, f"its metadata can not be read: {error}.") from None
    if (made := _read(text)) is None:
        raise FileError.of_file(path, "its metadata do not tell how it was made.")
    return made


def _read(text: object) -> dict[str, Any] | None:
    """The entries of a text; None for one that `evaluate` did not write."""
    try:
        made = json.loads(str(text))
    except ValueError:
        return None
    return made if isinstance(made, dict) and isinstance(made.get("measures"), dict) and "polars_ir" in made else None


def _differing(one: Mapping[str, Any], other: Mapping[str, Any], measures: Sequence[str]) -> str:
    """The differences between two evaluations, of what the values of some measures depend on; nothing for none."""
    ours, theirs = ({canonical_name(name): of for name, of in made["measures"].items()} for made in (one, other))
    names = [name for name in map(canonical_name, measures) if name in ours and name in theirs]
    pairs = {name: (one.get(name), other.get(name)) for name in one if name not in (*NOTED, "measures")}
    pairs |= {name: (ours[name], theirs[name]) for name in names}
    parts = (f"{name} is {a!r} and {b!r}" for name, (a, b) in pairs.items() if a != b)
    return ", ".join(parts)
