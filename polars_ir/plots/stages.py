"""The stages of a pipeline: the relevant documents that each keeps, gains and loses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from polars_ir.language.options import public
from polars_ir.plots import style
from polars_ir.plots.lines import in_polars
from polars_ir.runs.stages import stages as stages_of

#: What a stage does with relevant documents, with its colour.
KINDS = {"gained": style.OUTCOMES["win"], "kept": style.OUTCOMES["tie"], "lost": style.OUTCOMES["loss"]}


@public(then=style.without_markup)
def stages(run: Mapping[str, Any], qrels: Any, *, k: int = 10, rel: float = 1) -> style.Chart:
    """The relevant documents among the first `k` of each stage of a pipeline: kept and gained above, lost below 0.

    The numbers at the bars are the relevant documents of all queries that the stage has.

    Parameters
    ----------
    run
        The runs in the order of the stages, as `ir.stages` takes them.
    k
        The number of first documents.
    rel
        The lowest grade that is relevant.

    Returns
    -------
    alt.LayerChart
        `stage`, `kind` (kept, gained or lost) and `documents`: sums over the queries of `ir.stages`.

    Examples
    --------
    >>> from polars_ir import plots
    >>> chart = plots.stages({"retriever": {"q": ["a", "b"]}, "reranker": {"q": ["b", "x"]}}, {"q": ["a", "b"]}, k=2)
    >>> chart.layer[0].data.filter(stage="reranker").select("kind", "documents").rows()
    [('gained', 0), ('kept', 1), ('lost', -1)]
    """
    per_query = in_polars(stages_of(run, qrels, k=k, rel=rel))
    sums = per_query.group_by("stage", maintain_order=True).agg(pl.col("n_relevant", "gained", "lost").sum())
    parts = {"gained": pl.col("gained"), "kept": pl.col("n_relevant") - pl.col("gained"), "lost": -pl.col("lost")}
    bars = sums.select("stage", **parts).unpivot(index="stage", variable_name="kind", value_name="documents")
    order = sums["stage"].to_list()
    base = alt.Chart(style.drawn(bars, "Draw fewer stages."))
    x = alt.X("stage:N", sort=order, title=None, axis=style.axis(labelAngle=0))
    title = f"relevant documents among the first {k}"
    y = alt.Y("sum(documents):Q", title=title, axis=style.axis(tickMinStep=1), stack="zero")
    colours = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    drawn = base.mark_bar().encode(
        x=x,
        y=y,
        color=alt.Color("kind:N", scale=colours, title=None),
        order=alt.Order("kind:N", sort="descending"),
        tooltip=["stage:N", "kind:N", "documents:Q"],
    )
    labels = alt.Chart(sums).mark_text(dy=-8, color=style.FOREGROUND)
    labels = labels.encode(x=x, y=alt.Y("n_relevant:Q"), text="n_relevant:Q")
    zero = alt.Chart(pl.DataFrame({"zero": [0]})).mark_rule(color=style.FOREGROUND).encode(y="zero:Q")
    n_queries = per_query.height // max(len(order), 1)
    below = f"{n_queries:,} queries with a relevant document; lost: the stage before had them among its first {k}"
    panel = alt.LayerChart(layer=[drawn, labels, zero])
    return panel.properties(width=alt.Step(90), height=260, title=style.titled("Where documents are lost", below))
