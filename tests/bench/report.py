"""The tables, the sentence and the chart of what `ratios.py` has measured, here and on the page on speed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    import altair as alt

RECORDS = Path(__file__).with_name("ratios.jsonl")

CHART = Path(__file__).resolve().parents[2] / ".github" / "speed.png"

#: The columns that say what a record is of.
KEY = ["case", "size", "unit", "tool", "threads"]

#: The tools that use a single thread whatever there are; and ranx, which is given one.
ONE_THREAD = ["pytrec_eval", "ir_measures", "toolkit-rag-quality", "RecTools", "ranx"]

#: The load of a machine above which its clock tells how busy it was.
MOST_LOAD = 4

#: The cases of several sizes, which have a table of times each.
SIZED = ["frames in memory", "whole processes"]


def read(path: Path = RECORDS) -> pl.DataFrame:
    """The records, without the clock where the machine was busy; those of tools with one thread stand for two."""
    records = pl.read_ndjson(path, infer_schema_length=None)
    records = records.with_columns(seconds=pl.when(pl.col("load") <= MOST_LOAD).then("seconds"))
    alone = records.filter(family().is_in(ONE_THREAD), pl.col("threads").max() > 1, threads=1)
    return pl.concat([records, alone.with_columns(threads=pl.lit(2, pl.Int64))])


def family() -> pl.Expr:
    """A tool, whatever it reuses."""
    return pl.col("tool").str.split(",").list.first()


def keep(path: Path, records: list[dict[str, Any]]) -> None:
    """Write records down, in the place of those of the same."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {tuple(line[key] for key in KEY): line for line in [*map(json.loads, lines), *records]}
    path.write_text("".join(json.dumps(line) + "\n" for line in known.values()), encoding="utf-8")


def ratios(records: pl.DataFrame) -> pl.DataFrame:
    """Ours divided by theirs, by the processor and by the clock, and the memory of both where it was recorded."""
    case = ["case", "size", "unit", "threads"]
    ours = records.filter(tool="polars_ir").select(*case, "cpu", "seconds", "peak")
    theirs = records.filter(pl.col("tool") != "polars_ir", ~pl.col("case").is_in(SIZED))
    beside = theirs.join(ours, on=case, suffix="_ours", maintain_order="left")
    columns = {
        f"{name}, {threads}": (pl.col(f"{clock}_ours") / pl.col(clock)).filter(pl.col("threads") == threads).first()
        for name, clock in (("CPU", "cpu"), ("wall", "seconds"))
        for threads in (1, 2)
    }
    memory = {name: (pl.col(peak).max() / 1e6).round() for name, peak in (("MB", "peak_ours"), ("their MB", "peak"))}
    of = pl.format("{} {}", shown("size"), "unit")
    groups = beside.group_by("case", pl.col("tool").alias("against"), of.alias("of"), maintain_order=True)
    table = groups.agg(**columns, **memory).select("case", "of", "against", *columns, *memory)
    return table.select(column for column in table if column.null_count() < table.height)


def shown(name: str) -> pl.Expr:
    """A number in thousands or millions, in short."""
    number, units = pl.col(name), ((1_000_000, "M"), (1_000, "k"))
    text = number.cast(pl.String)
    for size, unit in reversed(units):
        text = pl.when(number % size == 0).then((number // size).cast(pl.String) + unit).otherwise(text)
    return text


def times(records: pl.DataFrame, case: str) -> pl.DataFrame:
    """Milliseconds of the processor with the most threads, a row for each size and a column for each tool."""
    found = records.filter(pl.col("threads") == pl.col("threads").max(), case=case).sort("size", maintain_order=True)
    return found.with_columns(rows=shown("size"), ms=pl.col("cpu") * 1000).pivot("tool", index="rows", values="ms")


def overtaken(records: pl.DataFrame, case: str, theirs: str, ours: str, threads: int) -> int | None:
    """The least size from which on ours takes less of the processor at every size that was measured, if any."""
    found = records.filter(case=case, threads=threads).pivot("tool", index="size", values="cpu").sort("size")
    if not {theirs, ours}.issubset(found.columns):
        return None
    slower = found.filter(pl.col(ours) >= pl.col(theirs))["size"].max()
    return found.filter(pl.col("size") > (slower or 0))["size"].min()


def crossings(records: pl.DataFrame) -> pl.DataFrame:
    """From which size on we take less of the processor than pytrec_eval, by start and threads."""
    reused = ("frames in memory", "pytrec_eval, dicts reused", "polars_ir, judgments reused")
    starts = {
        "frames in memory": ("frames in memory", "pytrec_eval", "polars_ir"),
        "frames or dicts in memory, judgments reused": reused,
        "whole processes, from TREC text": ("whole processes", "pytrec_eval", "polars_ir"),
    }
    return pl.DataFrame(
        {"start": start} | {f"CPU, {threads}": overtaken(records, *which, threads) for threads in (1, 2)}
        for start, which in starts.items()
    )


def sentence(records: pl.DataFrame) -> str:
    """The figures that the README quotes, with two threads; nothing where some were not measured at full size."""
    ours = records.filter(size=7_000_000, tool="polars_ir", threads=2)
    found = [*ours.filter(case="few judgments")["cpu"], *ours.filter(case="all judged")["cpu"]]
    sizes = crossings(records)["CPU, 2"]
    if len(found) < 2 or sizes.has_nulls():
        return ""
    few, every = (f"{cpu:.2g}" for cpu in found)
    frames, reused, whole = (f"{size:,}" for size in sizes)
    return (
        f"Seven million rows and five measures take {few} CPU seconds with few judged, {every} with all; with "
        f"1-2 in 100 judged, less than pytrec_eval from {frames} rows, {reused} with dicts reused, {whole} as whole "
        "processes."
    )


def circumstances(records: pl.DataFrame) -> str:
    """The machine, the days, the versions and the load, each after a semicolon."""
    load = f"load {records['load'].min():.0f} to {records['load'].max():.0f}"
    told = (", ".join(records[name].unique().sort()) for name in ("machine", "date", "version"))
    return "; ".join([*told, load])


def text(records: pl.DataFrame) -> str:
    """All tables that there are records for."""
    sized = [case for case in SIZED if case in records["case"]]
    table = ratios(records)
    tables = [
        *([table] if table.width else []),
        *([crossings(records)] if sized else []),
        *(times(records, case) for case in sized),
    ]
    shown_as: dict[str, Any] = {"tbl_formatting": "MARKDOWN", "tbl_hide_column_data_types": True, "tbl_rows": -1}
    with pl.Config(**shown_as, tbl_hide_dataframe_shape=True, tbl_cols=-1, tbl_width_chars=200, float_precision=3,
                   fmt_str_lengths=60):  # fmt: skip
        return "\n\n".join(filter(None, [*map(str, tables), sentence(records), circumstances(records)])) + "\n"


def chart(records: pl.DataFrame) -> alt.FacetChart:
    """CPU time against rows, with the most threads: a line for each tool and a panel for each start."""
    import altair as alt

    from polars_ir.plots.style import GREY, PALETTE

    found = records.filter(pl.col("threads") == pl.col("threads").max(), pl.col("case").is_in(SIZED))
    anew, reused = "all made anew", "judgments or dicts reused"
    # Else a legend of lines with points shows no line.
    stroke: Any = {"symbolType": "M-1,0L1,0", "symbolStrokeColor": "black", "symbolFillColor": "transparent"}
    families = ["polars_ir", "pytrec_eval", "ir_measures", "plain Polars", "DuckDB", "bare join"]
    points = found.select(
        "size",
        "cpu",
        "case",
        tool=family(),
        start=pl.when(pl.col("tool").str.contains("reused")).then(pl.lit(reused)).otherwise(pl.lit(anew)),
    )
    lines = (
        alt.Chart(points)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "size:Q",
                title="rows",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~s", values=sorted(set(points["size"]))),
            ),
            y=alt.Y("cpu:Q", title="CPU seconds", scale=alt.Scale(type="log")),
            color=alt.Color("tool:N", title=None, scale=alt.Scale(domain=families, range=[*PALETTE, GREY])),
            strokeDash=alt.StrokeDash(
                "start:N",
                title=None,
                legend=alt.Legend(**stroke, symbolOpacity=1, labelLimit=250),
                scale=alt.Scale(domain=[anew, reused], range=[[1, 0], [5, 3]]),
            ),
        )
    )
    machine, day, versions, load = circumstances(found).split("; ")
    under = [f"{machine}; {day}, {load}", versions]
    title = alt.Title("CPU time to evaluate a run with five measures", subtitle=under)
    column = alt.Column("case:N", title=None, sort=SIZED)
    faceted: alt.FacetChart = lines.properties(width=300, height=320).facet(column=column).properties(title=title)
    return faceted
