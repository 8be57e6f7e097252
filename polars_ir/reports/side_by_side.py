"""`side_by_side`: two rankings of a query, as the report's page of that query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, cast

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.names import Measures, is_renamed
from polars_ir.language.options import options_of, public
from polars_ir.reports.content import Content, Made, Rankings
from polars_ir.reports.experiment import Experiment
from polars_ir.reports.rankings import documents_of
from polars_ir.reports.report import Report, reported
from polars_ir.runs.alternatives import cutoff_of, one_measure
from polars_ir.runs.diff import SIDES, sides_of
from polars_ir.runs.explain import explain, ids_of
from polars_ir.runs.options import Reporting, Showing


@public(Showing)
def side_by_side(
    run_a: Any,
    run_b: Any,
    qrels: Any,
    measure: Measures,
    query_id: Any,
    *systems: str,
    names: Sequence[str] | None = None,
    **options: Unpack[Showing],
) -> Report:
    """Two rankings of a query next to each other: grades, contributions, and ranks in the other ranking.

    They are of two runs, or of two systems of one, which are named last: `runs.ir.side_by_side(qrels, "nDCG@10", "q1",
    "bm25", "tfidf")`. It is the page of a report, opened at the query. The figures are those of `explain`. Below each
    ranking stand the relevant documents that it lacks down to the depth.

    Parameters
    ----------
    measure
        One measure that `explain` takes.
    query_id
        The judged query.
    systems
        Two names, after the query, of systems of the first argument, behind which the judgments follow at once.
    names
        What the page calls both: by default as they are named, or else 'a' and 'b'.

    Returns
    -------
    Report
        `write(path)` writes the page, which needs no network, and notebooks show it in a frame.

    Examples
    --------
    >>> import polars_ir as ir
    >>> a, b, qrels = {"q": ["d1", "d2"]}, {"q": ["d2", "d3"]}, {"q": {"d1": 0, "d2": 1}}
    >>> page = ir.side_by_side(a, b, qrels, "RR", "q", names=("old", "new"), documents={"d1": "Cats & dogs"})
    >>> page.content["rankings"]["documents"]["doc_id"]
    ['d1', 'd2', 'd3']
    """
    of_call = (query_id, *systems) if systems else SIDES
    called = of_call if names is None else names
    runs, qrels, measure, query_id = sides_of([run_a, run_b, qrels, measure, query_id], systems)
    measured, query_ids = one_measure(measure, "side_by_side", qrels), ids_of(query_id)
    if len(query_ids) != 1:
        raise OptionError(f"must be one query here; got {query_ids.to_list()!r:.80}.", about="query_id")
    if not isinstance(called, (list, tuple)) or len({*map(str, called)}) != 2:
        says = f"must be the names of both systems, as in ('old', 'new'); got {called!r:.80}."
        raise OptionError(says, about="names")
    documents, queries = options["documents"], options["queries"]
    whole: Any = {**options, "depth": None, "documents": None, "queries": None}
    rows = cast("pl.DataFrame", explain(runs, qrels, measure, query_ids, **whole)).lazy().collect()
    shown = [str(name) for name in called]
    query = rows.columns[rows.columns.index("rank") - 1]
    explained = rows.rename({query: "query_id"}).with_columns(pl.col("run").cast(pl.String).replace(SIDES, shown))
    values = dict(explained.group_by("run").agg(pl.col("contribution").sum()).iter_rows())
    id = str(query_ids[0])
    figures = [{"run": name, "query_id": id, measured.name: values.get(name) or 0.0} for name in shown]
    experiment = Experiment(pl.DataFrame(figures), [measured.name], shown)
    given: dict[str, Any] = {**options}
    evaluation: Any = {name: given.get(name, option.default) for name, option in options_of(Reporting).items()}
    depth = cutoff_of(measured) if options["depth"] == "cutoff" else options["depth"]
    depth = int(depth or explained["rank"].max() or 1)  # type: ignore[arg-type]  # a rank
    made = reported(experiment, None, {"documents": documents, "queries": queries}, None, 0, evaluation)
    in_code = "measure" if is_renamed(measured) else repr(measured.name)
    call = f"ir.side_by_side(run_a, run_b, qrels, {in_code}, {query_ids[0]!r})"
    if systems:
        call = f"runs.ir.side_by_side(qrels, {in_code}, {', '.join(map(repr, [query_ids[0], *shown]))})"
    shown_documents = documents_of(explained, shown, documents, depth)
    rankings: Rankings = {"measure": measured.name, "depth": depth, "queries": [id], **shown_documents}
    described: Made = {**made.content["made"], "python": call}
    content: Content = {**made.content, "date": None, "rankings": rankings, "made": described}
    return Report(content, made.figures)
