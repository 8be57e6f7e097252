"""P-values of many comparisons at once, by rearranging or resampling queries.

Conventions: differences have a row per query and a column per comparison, NaN for a missing pair. All columns share the
rearrangements, so that one matrix product serves them all; these depend on the number of queries and the seed alone. m
random ones, b of them at least as extreme as the observation, give p = (b + 1) / (m + 1): the observation is one of the
cases, and no p is 0.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from polars_ir.errors import Fix, warn
from polars_ir.statistics.student import TINY

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

#: Cells of an array of rearrangements held at once; more is no faster.
CELLS = 2_000_000

#: Relative tolerance within which sums count as equal: SciPy's.
ROUNDING = 100 * float(np.finfo(np.float64).eps)

#: Digits to which differences are rounded, of the largest value; 1/3 - 1/4 twice is not 1/2 - 1/3 to the last of them.
DIGITS = 13

#: Minimum number of non-zero differences, and of their effective number, for the normal limit of sums to be as precise
#: as draws.
LIMIT, LEAST_ALIKE = 10_000, 1_000

#: Seconds above which draws are announced, and those of the first draws, which are timed.
LONG, SHOWING = 60.0, 1.0


class Draws(NamedTuple):
    """Number of random rearrangements or samples, and the seed of the generator that draws them."""

    resamples: int = 10_000
    seed: int = 0

    def parts(self, step: int) -> Iterator[tuple[np.random.Generator, int]]:
        """The generator and a number to draw, at most `step` at once, until all are drawn."""
        generator, step = np.random.default_rng(self.seed), max(1, step)
        for start in _announced(range(0, self.resamples, step)):
            yield generator, min(step, self.resamples - start)


def _announced(parts: range) -> Iterator[int]:
    """Passes the chunks on; if the first ones show that the rest takes more than `LONG`, it warns and shows a bar.

    The bar is on stderr, if that is a terminal and tqdm is installed.
    """
    began, rest, left = time.monotonic(), iter(parts), 0.0
    for done, part in enumerate(rest, 1):
        yield part
        taken = time.monotonic() - began
        if taken >= SHOWING:
            left = taken / done * (len(parts) - done)
            break
    if left > LONG:
        advice = "Take fewer resamples, or a test and an interval that draw nothing, such as 't'"
        warn(f"these draws take about {math.ceil(left / 60)} minutes.", fix=Fix(advice))
        if sys.stderr.isatty() and find_spec("tqdm"):
            from tqdm import tqdm  # type: ignore[import-untyped]  # it brings no types

            rest = iter(tqdm(rest, total=len(parts), initial=done, unit=" parts", leave=False))
    yield from rest


def unit(values: Floats) -> Floats:
    """Divisor of each row, a power of two for rows of tiny values, whose squares and cubes would be 0; else 1.

    Such a division is exact, so that no other bit of a figure depends on it.
    """
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0)
    return np.where((largest > 0) & (largest < TINY), np.ldexp(1.0, np.frexp(largest)[1]), 1.0)


def randomisation_p(differences: Floats, draws: Draws, *, lower: bool = False, largest: Floats | None = None) -> Floats:
    """Two-sided p of each mean difference under random exchange of both systems of a pair.

    With `lower`, the one-sided p of a mean as low or lower. `largest` are the largest values that the differences of
    each column are of, which they are rounded by; without them, the largest differences. Sums count as equal within the
    rounding of their terms.

    Exact, over all 2^n changes of signs, where there are no more than `draws.resamples` of them; n leaves out
    differences of 0, whose sign changes nothing.
    """
    filled = np.nan_to_num(differences)
    unequal = np.count_nonzero(filled, axis=0)
    is_exact = unequal < draws.resamples.bit_length()
    rounding = _rounding(filled, largest)
    p = np.empty(filled.shape[1])
    for n in np.unique(unequal[is_exact]):
        columns = is_exact & (unequal == n)
        by_column = filled.T[columns]
        signed = by_column[by_column != 0].reshape(len(by_column), n).T
        p[columns] = _extreme(all_flips(signed.shape), signed, rounding[columns], lower=lower) / 2.0**n
    if not is_exact.all():
        rest, flips = filled[:, ~is_exact], random_flips((len(filled), int((~is_exact).sum())), draws)
        p[~is_exact] = (_extreme(flips, rest, rounding[~is_exact], lower=lower) + 1) / (draws.resamples + 1)
    return p


def _rounding(filled: Floats, largest: Floats | None) -> Floats:
    """Largest distance of two equal sums of each column, whose terms are rounded by up to half of their last digit."""
    largest = np.abs(filled).max(axis=0, initial=0) if largest is None else largest
    size = unit(largest[:, None])[:, 0]
    last_digit = size * 10.0 ** (np.ceil(np.log10(np.where(largest > 0, largest / size, 1.0))) - DIGITS)
    return np.asarray(np.count_nonzero(filled, axis=0) * last_digit)


def exchange_p(differences: Floats, draws: Draws, *, largest: Floats | None = None) -> Floats:
    """One-sided p of each mean difference to be as low, under random exchange of both systems of a pair.

    With `LIMIT` non-zero differences d or more, of an effective number (sum d^2)^2 / sum d^4 of at least `LEAST_ALIKE`,
    it is the normal limit, by sum d / sqrt(sum d^2). For 12,000 differences (constant in size, normal, lognormal, beta,
    reciprocal ranks) it was .0487 to .0511, .0096 to .0107 and .0007 to .0012 where 40,000 draws had .05, .01 and .001:
    within the variation of these draws.
    """
    filled = np.nan_to_num(differences)
    # As shares of the largest, differences have fourth powers that neither vanish nor overflow.
    shares = filled / np.maximum(np.abs(filled).max(axis=0, initial=0), np.finfo(float).tiny)
    squares, is_many = (shares**2).sum(axis=0), is_near_limit(shares)
    p = np.empty(filled.shape[1])
    p[is_many] = p_by_limit(shares[:, is_many].sum(axis=0), squares[is_many])
    if not is_many.all():
        largest = None if largest is None else largest[~is_many]
        p[~is_many] = randomisation_p(differences[:, ~is_many], draws, lower=True, largest=largest)
    return p


def p_by_limit(total: Floats | float, squares: Floats | float) -> Floats:
    """Normal limit of the p of a sum as low after changes of signs, by the sum of squares."""
    return np.asarray(special.ndtr(total / np.sqrt(squares)))


def is_near_limit(differences: Floats) -> NDArray[np.bool_]:
    """True for columns whose sums are normal after changes of signs, to within what draws tell; none is NaN."""
    is_many = np.count_nonzero(differences, axis=0) >= LIMIT
    is_many &= (differences**2).sum(axis=0) ** 2 >= LEAST_ALIKE * (differences**4).sum(axis=0)
    return np.asarray(is_many)


def _extreme(flips: Iterable[NDArray[np.uint8]], differences: Floats, rounding: Floats, *, lower: bool) -> Floats:
    """Number of flips whose sum is as extreme; a flip has a 1 for each difference that is kept."""
    total = differences.sum(axis=0)
    limit = (-total if lower else np.abs(total)) - rounding
    counts = np.zeros(differences.shape[1])
    for flip in flips:
        # What is kept minus what is turned is twice what is kept minus everything.
        sums = flip.astype(np.float64) @ differences
        sums = total - 2 * sums if lower else np.abs(2 * sums - total)
        counts += np.count_nonzero(sums >= limit, axis=0)
    return counts


def all_flips(shape: tuple[int, ...]) -> Iterator[NDArray[np.uint8]]:
    """All changes of signs, in chunks, as `random_flips` yields them."""
    n = shape[0]
    step = max(1, CELLS // max(1, *shape))
    for start in range(0, 2**n, step):
        numbers = np.arange(start, min(start + step, 2**n))
        yield (numbers[:, None] >> np.arange(n) & 1).astype(np.uint8)


def random_flips(shape: tuple[int, ...], draws: Draws) -> Iterator[NDArray[np.uint8]]:
    """Random changes of signs, in chunks: a row per change and a column per query, with a 1 where the sign stays.

    `shape` is the number of queries and the count of numbers computed per change.
    """
    n = shape[0]
    # A generator gives bytes by fours. Whole ones for each chunk make the flips the same for any size of chunk.
    step = max(1, CELLS // max(shape) // 32) * 32
    for generator, rows in draws.parts(step):
        bits = np.unpackbits(np.frombuffer(generator.bytes(step * n // 8), np.uint8))
        yield bits.reshape(step, n)[:rows]


def largest_flipped(
    parts: Sequence[Floats], draws: Draws, *, lower: bool = False, largest: Sequence[Floats] | None = None
) -> Floats:
    """Step-down p of |t| among the columns of all blocks, whose queries change places independently.

    With `lower` it is the one-sided p of -t, by all changes of signs where there are no more than `draws.resamples`.
    `largest` are, for each block, those of `randomisation_p`.

    A change of signs turns all columns of a query at once, which preserves their correlation. Each column is compared
    with the largest of those whose own |t| is no higher (Westfall and Young 1993, Romano and Wolf 2005,
    https://doi.org/10.1198/016214504000000539). |t| is replaced by the ratio of a sum to the root of its sum of
    squares, which rises with |t| for a fixed number of queries.
    """
    filled = [np.nan_to_num(part) for part in parts]
    side: Callable[[Floats], Floats] = np.negative if lower else np.abs
    changing = [part.any(axis=1) for part in filled]
    is_exact = lower and sum(map(np.count_nonzero, changing)) < draws.resamples.bit_length()
    if is_exact:
        filled = [part[there] for part, there in zip(filled, changing, strict=True)]
    given: Sequence[Floats | None] = largest or [None] * len(filled)
    rounding = np.concatenate(list(map(_rounding, filled, given)))
    units = [unit(part.T)[:, 0] for part in filled]
    filled = [part / its for part, its in zip(filled, units, strict=True)]
    sizes = [np.sqrt((part**2).sum(axis=0)) for part in filled]
    shares = [
        np.divide(part, size, out=np.zeros_like(part), where=size > 0) for part, size in zip(filled, sizes, strict=True)
    ]
    ends = np.cumsum([0, *map(len, filled)]).tolist()
    observed = side(np.concatenate([part.sum(axis=0) for part in shares]))
    order = np.argsort(observed, kind="stable")
    scale = np.concatenate(units) * np.concatenate(sizes)
    rounding = np.divide(rounding, scale, out=np.zeros_like(rounding), where=scale > 0)
    # Ratios are rounded themselves.
    limits = observed[order] - np.maximum(np.maximum.accumulate(rounding[order]), ROUNDING)
    counts, shape = np.zeros(len(order)), (ends[-1], max(ends[-1], len(order)))
    for flip in all_flips(shape) if is_exact else random_flips(shape, draws):
        signs = 2 * flip.astype(np.float64) - 1
        sums = [signs[:, start:end] @ part for start, end, part in zip(ends[:-1], ends[1:], shares, strict=True)]
        highest = np.maximum.accumulate(side(np.hstack(sums))[:, order], axis=1)
        counts += np.count_nonzero(highest >= limits, axis=0)
    p = np.empty(len(order))
    # No p is lower than that of a column with a larger |t|.
    shares_of_flips = counts / 2.0 ** ends[-1] if is_exact else (counts + 1) / (draws.resamples + 1)
    p[order] = np.maximum.accumulate(shares_of_flips[::-1])[::-1]
    return p


def bootstrap_p(differences: Floats, draws: Draws) -> Floats:
    """Two-sided p of studentised mean differences, by resampling centred ones; NaN for columns without a spread."""
    p = np.empty(differences.shape[1])
    patterns, pattern_of = np.unique(~np.isnan(differences), axis=1, return_inverse=True)
    for number, there in enumerate(patterns.T):
        columns = pattern_of.ravel() == number
        p[columns] = _bootstrap_p(differences[there][:, columns], draws)
    return p


def _bootstrap_p(differences: Floats, draws: Draws) -> Floats:
    n = len(differences)
    if n < 2:
        return np.full(differences.shape[1], np.nan)
    scaled = differences / unit(differences.T)[:, 0]
    mean = scaled.mean(axis=0)
    centred = scaled - mean
    squares = centred**2
    variance = squares.sum(axis=0) / (n - 1)
    counts = np.zeros(differences.shape[1])
    for generator, rows in draws.parts(CELLS // max(differences.shape)):
        drawn = counted(generator.integers(n, size=(rows, n)))
        means = drawn @ centred / n
        variances = (drawn @ squares - n * means**2) / (n - 1)
        # |t of the sample| >= |t observed|, without dividing by the spread of a sample, which can be 0.
        counts += np.count_nonzero(means**2 * variance * (1 + ROUNDING) >= mean**2 * variances, axis=0)
    p: Floats = np.where(np.ptp(differences, axis=0) > 0, (counts + 1) / (draws.resamples + 1), np.nan)
    return p


def counted(samples: NDArray[np.int64]) -> Floats:
    """Multiplicity of each query in each sample; a sample is a row of drawn query numbers."""
    rows, n = samples.shape
    places = samples + n * np.arange(rows)[:, None]
    return np.bincount(places.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def permuted_ranges(values: Floats, draws: Draws) -> Floats:
    """Range of the means of columns of systems, without NaN, under each random exchange of systems within queries."""
    ranges = []
    for generator, rows in draws.parts(CELLS // values.size):
        permuted = generator.permuted(np.broadcast_to(values, (rows, *values.shape)), axis=2)
        ranges.append(np.ptp(permuted.sum(axis=1), axis=1) / len(values))
    return np.concatenate(ranges)
