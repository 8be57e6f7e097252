"""The p of drops: whether a mean fell beyond chance, for all rows of a gate together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from polars_ir.per_query.shared.measures import Range
from polars_ir.per_query.shared.queries import Pairs

if TYPE_CHECKING:
    from polars_ir.statistics.samples import Sample

#: The most queries whose signs are changed for a p; of more it is that of the normal limit.
MOST_FLIPPED = 100_000


def p_of_drops(slices: Sequence[Pairs], ranges: Mapping[str, Range], interval: str) -> list[float | None]:
    """The one-sided p that the mean gain of each pair would be as low if systems changed places, corrected for all.

    It is by changes of signs that all measures of a slice have in common, by their normal limit of moments and of many
    queries, and by a bet for an interval `"anytime"`, both by Holm. But for a bet, none is below that of Student's t,
    corrected for skewness, which sees that few queries make the mean. None of fewer than two queries.
    """
    import numpy as np

    from polars_ir.statistics.bounds import p_of_signs
    from polars_ir.statistics.randomisation import Draws, is_near_limit, largest_flipped
    from polars_ir.statistics.significance import corrected

    gains, parts = [], []
    for of in slices:
        signs = np.array([-1.0 if ranges[pair.measure].is_cost else 1.0 for pair in of.pairs])
        own = [pair.sample.scaled(sign) for pair, sign in zip(of.pairs, signs.tolist(), strict=True)]
        if of.differences is not None:
            parts.append((of.differences * signs)[:, [each.n > 1 for each in own]])
        gains += own
    if interval == "anytime":
        bets = [None if d.values is None or d.n < 2 else p_of_signs(d.values, d.support[1]) for d in gains]
        return corrected(bets, "holm", alpha=0.0)
    is_many = sum(map(len, parts)) > MOST_FLIPPED or all(is_near_limit(np.nan_to_num(part)).all() for part in parts)
    if len(parts) == len(slices) and not is_many:
        flipped = iter(largest_flipped(parts, Draws(), lower=True).tolist())
        p = [next(flipped) if d.n > 1 else None for d in gains]
    else:
        p = corrected([_p_by_limit(d) for d in gains], "holm", alpha=0.0)
    by_t = [tail and tail.p_above(0.0) for tail in (d.scaled(-1).tail(whole=True) for d in gains)]
    return [None if a is None or b is None else max(a, b) for a, b in zip(p, by_t, strict=True)]


def _p_by_limit(gains: Sample) -> float | None:
    """The p of as low a sum after changes of signs, by its normal limit."""
    import numpy as np
    from scipy import special

    from polars_ir.statistics.randomisation import unit

    if gains.n < 2:
        return None
    figures = np.array([gains.std, gains.mean])
    std, mean = (figures / unit(figures)).tolist()
    squares = std**2 * (gains.n - 1) + gains.n * mean**2
    return float(special.ndtr(gains.n * mean / math.sqrt(squares))) if squares else 1.0
