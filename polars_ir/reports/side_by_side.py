"""`side_by_side`: two rankings of a query, as the report's page of that query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, cast

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.names import Measures
from polars_ir.language.options import options_of, public
from polars_ir.reports.content import Content, Rankings
from polars_ir.reports.experiment import Experiment
from polars_ir.reports.rankings import documents_of
from polars_ir.reports.report import Report, reported
from polars_ir.runs.alternatives import Frames, cutoff_of, one_measure
from polars_ir.runs.diff import SIDES, of_one_system
from polars_ir.runs.explain import explain, ids_of
from polars_ir.runs.options import Reporting, Showing


@public(Showing)
def side_by_side(
    run_a: Any,
    run_b: Any,
    qrels: Any,
    measure: Measures,
    query_id: Any,
    *,
    names: Sequence[str] = SIDES,
    **options: Unpack[Showing],
) -> Report:
    """Two rankings of a query next to each other: grades, contributions, and ranks in the other ranking.

    It is the page of a report, opened at the query. The figures are those of `explain`. Below each ranking stand the
    relevant documents that it lacks down to the depth.

    Parameters
    ----------
    measure
        One measure that `explain` takes.
    query_id
        The judged query.
    names
        The names of the two systems.

    Returns
    -------
    Report
        `write(path)` writes the page, which needs no network, and notebooks show it in a frame.

    Raises
    ------
    IRError
        For a query that was not judged, a run of several systems, and what `explain` does not take.

    Examples
    --------
    >>> import polars_ir as ir
    >>> a, b, qrels = {"q": ["d1", "d2"]}, {"q": ["d2", "d3"]}, {"q": {"d1": 0, "d2": 1}}
    >>> page = ir.side_by_side(a, b, qrels, "RR", "q", names=("old", "new"), documents={"d1": "Cats & dogs"})
    >>> page.content["rankings"]["documents"]["doc_id"]
    ['d1', 'd2', 'd3']
    """
    measured, query_ids = one_measure(measure, "side_by_side", qrels), ids_of(query_id)
    if len(query_ids) != 1:
        raise OptionError(f"must be one query here; got {query_ids.to_list()!r:.80}.", about="query_id")
    if not isinstance(names, (list, tuple)) or len({*map(str, names)}) != 2:
        raise OptionError(f"must be the names of both systems, as in ('old', 'new'); got {names!r:.80}.", about="names")
    runs: Frames = {side: of_one_system(f"run_{side}", run) for side, run in zip(SIDES, (run_a, run_b), strict=True)}
    documents, queries = options["documents"], options["queries"]
    whole: Any = {**options, "depth": None, "documents": None, "queries": None}
    rows = cast("pl.DataFrame", explain(runs, qrels, measure, query_ids, **whole))
    systems = [str(name) for name in names]
    query = rows.columns[rows.columns.index("rank") - 1]
    explained = rows.rename({query: "query_id"}).with_columns(pl.col("run").cast(pl.String).replace(SIDES, systems))
    values = dict(explained.group_by("run").agg(pl.col("contribution").sum()).iter_rows())
    id = str(query_ids[0])
    figures = [{"run": name, "query_id": id, measured.name: values.get(name) or 0.0} for name in systems]
    experiment = Experiment(pl.DataFrame(figures), [measured.name], systems)
    given: dict[str, Any] = {**options}
    evaluation: Any = {name: given.get(name, option.default) for name, option in options_of(Reporting).items()}
    shown = cutoff_of(measured) if options["depth"] == "cutoff" else options["depth"]
    depth = int(shown or explained["rank"].max() or 1)  # type: ignore[arg-type]  # a rank
    made = reported(experiment, None, {"documents": documents, "queries": queries}, None, 0, evaluation)
    call = f"ir.side_by_side(run_a, run_b, qrels, {measured.name!r}, {id!r})"
    shown_documents = documents_of(explained, systems, documents, depth)
    rankings: Rankings = {"measure": measured.name, "depth": depth, "queries": [id], **shown_documents}
    content: Content = {**made.content, "rankings": rankings, "made": {**made.content["made"], "python": call}}
    return Report(content, made.figures)
