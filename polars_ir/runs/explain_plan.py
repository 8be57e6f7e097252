"""`explain_plan`: the strategy by which an evaluation would rank the documents, and the reason."""

from __future__ import annotations

from typing import Any, Unpack

from polars_ir.engine.relation import Plan, plan_of
from polars_ir.language.names import Measures
from polars_ir.language.options import each_once, public
from polars_ir.runs.evaluate import resolved
from polars_ir.runs.lists import reads_no_judgments, run_alone
from polars_ir.runs.options import Evaluating
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
        grades). A plan that says by `set_sorted` that its rankings stand together is read in portions, which are
        tables in memory; here it is told as a whole.

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
    run, qrels = selected(run, qrels, options, each_once(options["by"]))
    run, measured, needs = resolved(run, qrels, measures, options)
    if qrels is None and needs.lists and reads_no_judgments(measured):
        run_alone(run, needs.by)  # an error for an invalid one
        return Plan("by sorting", "measures of lists read no judgments, and rank lists where a cutoff shortens one")
    return plan_of(run, qrels, measured, needs)
