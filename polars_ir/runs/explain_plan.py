"""`explain_plan`: the strategy by which an evaluation would rank the documents, and the reason."""

from __future__ import annotations

from typing import Any, Unpack

from polars_ir.engine import tuning
from polars_ir.engine.needs import Needs
from polars_ir.engine.relation import Plan, plan_of
from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.language.names import Measures, resolve
from polars_ir.language.options import each_once, public
from polars_ir.runs.evaluate import resolved
from polars_ir.runs.lists import reads_no_judgments, run_alone
from polars_ir.runs.options import Evaluating
from polars_ir.runs.portions import claimed_order, reason_for_whole
from polars_ir.runs.selection import selected


@public(Evaluating)
def explain_plan(run: Any, qrels: Any = None, measures: Measures = "nDCG@10", **options: Unpack[Evaluating]) -> Plan:
    """The strategy by which `evaluate` would rank the judged documents, and the reason for it.

    All strategies give the same figures. They differ in time and memory, by the number of rows and of judgments a
    query, and by what the measures and options need. In memory only the judgments of relevant documents are read, and
    counted, where the measures need no others; a plan reads all.

    Parameters
    ----------
    run
        The run, in any form that `evaluate` takes. Nothing of a LazyFrame is read.
    qrels
        The judgments, in the same forms; None where the run has a relevance column of its own, and for measures of
        lists alone.
    measures
        The measures, as `evaluate` takes them.

    Returns
    -------
    Plan
        A tuple of `strategy` and `reason`, whose text is `strategy: reason`. The strategies are `"by number"` (tables
        in memory, with numbers in the place of ids), `"by counting"` (a plan that counts the rows above each judged
        document), `"by sorting"` (a plan that ranks the whole run), `"by depth"` (a plan that sorts for queries with
        many judgments and counts for others, where only its run tells which), and `"labelled"` (the run holds its
        grades). The strategy is that of the whole run; where a plan says by `set_sorted` that its rankings stand
        together, the reason ends with whether it is read in portions, which are tables in memory, in step with the
        judgments where these are a sorted plan, and if not, why.

    Examples
    --------
    >>> import polars as pl
    >>> import polars_ir as ir
    >>> run = pl.DataFrame({"query_id": "q", "doc_id": ["d1", "d2"], "score": [2.0, 1.0]})
    >>> qrels = pl.DataFrame({"query_id": "q", "doc_id": ["d2"], "relevance": 1})
    >>> print(ir.explain_plan(run, qrels))
    by sorting: all is in memory, in fewer than 10,000 rows
    >>> print(ir.explain_plan(run.lazy(), qrels))
    by counting: the run is not in memory, and judgments a query: 1, fewer than 24
    """
    given = run
    run, qrels = selected(run, qrels, options, each_once(options["by"]))
    run, measured, needs = resolved(run, qrels, resolve(measures), options)
    if qrels is None and needs.lists and reads_no_judgments(measured):
        run_alone(run, needs.by)  # an error for an invalid one
        return Plan("by sorting", "measures of lists read no judgments, and rank lists where a cutoff shortens one")
    pair, plan = plan_of(run, qrels, measured, needs)
    return plan._replace(reason=plan.reason + _of_portions(given, qrels, pair, needs, options))


def _of_portions(run: Any, qrels: Any, pair: RunAndQrels, needs: Needs, options: Evaluating) -> str:
    """The end of the reason for a plan that claims to be sorted: in portions, or why not; empty for other runs."""
    order = claimed_order(run, pair)
    if not order:
        return ""
    if why := reason_for_whole(run, qrels, pair, needs, options):
        return f"; not in portions, though sorted: {why}"
    beside = "" if pair.judgments.eager else ", in step with the judgments"
    return f"; in portions of {tuning.TUNING.portion:,} rows, sorted by {', '.join(order)}{beside}"
