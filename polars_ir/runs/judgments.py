"""`judgments`: judgments for many runs, checked and numbered once."""

from __future__ import annotations

from typing import Any

from polars_ir.frames.kinds import PreparedJudgments, to_polars
from polars_ir.language.options import public


@public()
def judgments(qrels: Any) -> PreparedJudgments:
    """Judgments that every function takes as qrels, checked, numbered and hashed only once.

    For many calls with the same judgments, such as a tuning loop. The figures are the same.

    Parameters
    ----------
    qrels
        The judgments: Polars DataFrame or LazyFrame (which is collected), pandas, Arrow, or nested dicts
        `{query: {doc: grade}}`.

    Returns
    -------
    PreparedJudgments
        A value that every function takes as qrels. Later changes of `qrels` do not reach it.

    Raises
    ------
    IRError
        For a value that is not a table. Rows are checked by the first call that reads them.

    Examples
    --------
    >>> import polars_ir as ir
    >>> qrels = ir.judgments({"q": {"d1": 1, "d2": 0}})
    >>> [ir.evaluate({"q": ranking}, qrels, "RR")["RR"].item() for ranking in (["d1", "d2"], ["d2", "d1"])]
    [1.0, 0.5]
    """
    if isinstance(qrels, PreparedJudgments):
        return qrels
    return PreparedJudgments(to_polars("qrels", qrels, column="relevance").lazy().collect(engine="in-memory"))
