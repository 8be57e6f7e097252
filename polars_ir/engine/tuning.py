"""Thresholds between plans: numbers of rows, measured by tests/bench. No figure depends on them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """The thresholds between plans."""

    #: Rows in memory, of run and judgments, from which it is faster to number them than to sort the run by one plan.
    small: int = 10_000

    #: Judgments a query from which a plan is faster if it ranks the whole run than if it counts the rows above each
    #: judged one.
    deep: int = 24

    #: Judgments a query from which a large run in memory whose queries stand together is joined by row number; below
    #: this that saves little time and takes more memory. A run in no order is joined so from `deep` on, one of fewer
    #: rows than `counted` always.
    numbered: int = 8

    #: Rows of a ranking that stand together, on average, from which the rows of a query are said to do so.
    together: int = 4

    #: Rows of a ranking for each judgment of its query, up to which it is faster to number them all than to count, in
    #: runs of any size whose queries stand together: counting joins nearly as many rows as there are.
    short: int = 32

    #: Rows of a run that are searched for duplicates whole. Of a larger one, one in `sampled` of the ids is, which
    #: takes a twentieth of the time of an evaluation in memory and a quarter of that of a scan (all would take two
    #: thirds), and the documents whose judgments are read, which costs nothing; `validate` searches all.
    searched_rows: int = 1_000_000
    sampled: int = 64

    #: Rows of a run in memory from which, with fewer judgments, it is faster to count by steps if its queries are not
    #: together. Where they are, it takes less memory with `streaming_rows`.
    counted: int = 200_000

    #: Rows in memory from which the streaming engine is faster than the in-memory one.
    streaming_rows: int = 500_000

    #: Rows for each judgment, of a run that is counted, from which most of them are left out before anything is joined;
    #: with fewer that costs what it saves.
    sparse: int = 16

    #: Rows in memory from which those that match no judgment are left out before they are joined with them.
    prefiltered: int = 20_000

    #: Rows in memory, of run and judgments, from which measures that read only relevant documents are grouped apart.
    apart: int = 100_000

    #: Rankings for each one that has the same rows as another, up to which each kind is grouped once.
    alike: int = 8

    #: Slots of a table of hashes for each entry, at least, and less than twice as many: more let fewer rows through,
    #: and fewer stay in the processor's cache.
    slots: int = 16


TUNING = Tuning()
