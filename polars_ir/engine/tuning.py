"""Thresholds between plans: numbers of rows, measured by tests/bench. No figure of a measure depends on them.

An expression of the user's that reads the order of a ranking's rows, such as `pl.col("relevance").first()`, can differ:
those rows have no order.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """The thresholds between plans."""

    #: Row count in memory, of run and judgments, at which numbering becomes faster than sorting the run by one plan.
    small: int = 10_000

    #: Judgments per query at which a plan becomes faster by ranking the whole run than by counting the rows above each
    #: judged one.
    deep: int = 24

    #: Judgments per query at which a large run in memory is joined by row number though its rows are in no order, if it
    #: has several systems or few rows for each judgment. One of fewer rows than `counted`, or with contiguous ones,
    #: always is.
    numbered: int = 8

    #: Mean number of contiguous rows of a ranking at which the rows of a query count as contiguous.
    together: int = 4

    #: Rows of a run per judgment, up to which numbering them all is faster than counting if it has several systems or
    #: many judgments a query: counting joins nearly as many rows as there are.
    short: int = 32

    #: Rows of a run that are searched for duplicates whole. Of a larger one, one in `sampled` of the ids is, which
    #: takes a twentieth of the time of an evaluation in memory and a quarter of that of a scan (all would take two
    #: thirds), and the documents whose judgments are read, which costs nothing; `validate` searches all.
    #: `sampled` is a power of two.
    searched_rows: int = 1_000_000
    sampled: int = 64

    #: Row count in memory of a run at which, with fewer judgments, counting by steps becomes faster if its queries are
    #: not contiguous.
    counted: int = 200_000

    #: Row count in memory at which the streaming engine becomes faster than the in-memory one.
    streaming_rows: int = 500_000

    #: Rows per judgment, of a run that is counted, at which most of them are left out before anything is joined; with
    #: fewer that costs what it saves.
    sparse: int = 16

    #: Row count of the portions in which a sorted plan is evaluated.
    portion: int = 300_000

    #: Row count in memory at which the streaming engine becomes faster for a join with judgments by hash.
    streaming_join: int = 20_000

    #: Row count in memory, of run and judgments, at which measures that read only relevant documents are grouped
    #: separately.
    apart: int = 100_000

    #: Mean row count of a ranking in the judged relation up to which identical ones are sought, to group each once.
    alike: int = 8

    #: Minimum slots of a table of hashes per entry; at most twice as many: more let fewer rows through, and fewer stay
    #: in the processor's cache.
    slots: int = 16


TUNING = Tuning()
