"""White noise: the law of its singular values, and what tells that a remainder is nothing else.

A table of unit white noise with n lines one way and p <= n the other has p squared singular values that, divided
by n, follow the Marchenko-Pastur law with ratio p / n. Once r components are taken out, the rest behaves like
noise of n - r by p - r.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.stats

from gmcr.rank.rules import Answer
from gmcr.validation import FloatArray

FALSE_ALARM = 1e-3  # chance that pure noise passes the Marchenko-Pastur edge
SMALLEST_TAIL = 3  # values left over to judge the noise from
WHITE_MISFIT = 5.0  # places, at most, that values of white noise are away from where they should be


def marchenko_pastur_quantiles(levels: FloatArray, ratio: float, grid: int = 4000) -> FloatArray:
    """Quantiles of the Marchenko-Pastur law with `ratio` in (0, 1], as eigenvalues.

    The law has density sqrt((upper - x)(x - lower)) / (2 pi ratio x) between (1 -+ sqrt(ratio))^2; with
    x = 1 + ratio - 2 sqrt(ratio) cos(t) the roots at both ends become a smooth sin(t)^2.
    """
    t = (np.arange(grid) + 0.5) * np.pi / grid
    x = 1 + ratio - 2 * np.sqrt(ratio) * np.cos(t)
    mass = np.sin(t) ** 2 / x
    below = np.cumsum(mass)
    return np.interp(levels, (below - mass / 2) / below[-1], x)


def expected_values(n_values: int, n: int, p: int, noise: float = 1.0) -> FloatArray:
    """Where the `n_values` smallest singular values of n x p white noise lie, smallest first."""
    levels = (np.arange(n_values) + 0.5) / p
    return noise * np.sqrt(n * marchenko_pastur_quantiles(levels, p / n))


def noise_level(values: FloatArray, count: int, shape: tuple[int, ...]) -> float:
    """The noise, from the lower half of the values (p,), largest first, after the first `count`.

    The lower half, because as long as `count` is too small the upper half still holds components; they then
    push the estimate up, never down, so that a count grown from zero does not overshoot.
    """
    n, p = max(shape) - count, min(shape) - count
    half = max(p // 2, 1)
    expected = expected_values(half, n, p)
    return float(np.linalg.norm(values[-half:]) / np.linalg.norm(expected))


def noise_edge(n: Any, p: Any, false_alarm: float = FALSE_ALARM) -> Any:
    """The value that the largest singular value of n x p unit white noise exceeds with chance `false_alarm`.

    The Tracy-Widom law of order one with the centring and scaling of Johnstone (2001) as sharpened by Ma
    (2012); its quantile by the shifted gamma law of Chiani (2014), which has the same first three moments.
    """
    quantile = _tracy_widom(false_alarm)
    a, b = np.sqrt(n - 0.5), np.sqrt(p - 0.5)
    return np.sqrt((a + b) ** 2 + quantile * (a + b) * (1 / a + 1 / b) ** (1 / 3))


@lru_cache
def _tracy_widom(false_alarm: float) -> float:
    return float(scipy.stats.gamma.isf(false_alarm, 46.446, scale=0.186054) - 9.84801)


def misfit(values: FloatArray, count: int, noise: float, shape: tuple[int, ...]) -> float:
    """How many places the values after the first `count` are away from those of white noise, at most.

    That is the Kolmogorov-Smirnov distance to the Marchenko-Pastur law times the number of values. Singular
    values of noise are far more evenly spaced than independent draws: it stays near 2 whatever their number,
    and was never above 4.2 in 1,000 tables of Gaussian noise of 20 to 300 values.
    """
    n, p = max(shape) - count, min(shape) - count
    remainder = values[count:][::-1]
    expected = expected_values(p, n, p, noise)
    place = np.interp(remainder, expected, np.arange(p), left=-0.5, right=p - 0.5)
    return float(np.abs(place - np.arange(p)).max())


def above_noise(
    values: FloatArray, shape: tuple[int, ...], threshold: Callable[[int, int], float]
) -> tuple[Answer, float]:
    """Grow the count from zero until no further value exceeds the threshold of what is left."""
    most = min(shape) - SMALLEST_TAIL
    count = 0
    while True:
        noise = noise_level(values, count, shape)
        cut = noise * threshold(max(shape) - count, min(shape) - count)
        # Nothing is told from values that are rounding errors (see `estimate.py`).
        above = min(int((values > max(cut, values[-1])).sum()), most)
        if above <= count:
            return Answer(count, cut), noise
        count = above
