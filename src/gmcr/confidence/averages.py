"""A law of concentrations averaged over a normal law: compiled, for `gmcr.confidence.neighbours`.

The law is a histogram: a density that is constant between two edges and zero outside all of them.
"""

from __future__ import annotations

from math import erfc, exp, log, sqrt

import numpy as np
from numba import njit

from gmcr.decoding.subset import COMPILED

REACH = 5.5  # standard deviations beyond which a normal law has nothing that counts
SHARPEST = 1e-6  # smallest share of its variance that a law may leave to a normal law: it must not vanish
NEVER = 1e-300  # density outside the law: nothing weighs so little that it has no logarithm


@njit(**COMPILED)
def _between(low, high):
    """Mass of the standard normal law between two points, accurate in both tails."""
    root = 0.7071067811865476
    if low > 0.0:
        return 0.5 * (erfc(low * root) - erfc(high * root))
    return 0.5 * (erfc(-high * root) - erfc(-low * root))


@njit(**COMPILED)
def _normal(z):
    return 0.3989422804014327 * exp(-0.5 * z * z)


@njit(**COMPILED)
def average(c, s, edges, heights):
    """The law's mean density under N(c, s²)."""
    total = 0.0
    for i in range(heights.size):
        low, high = (edges[i] - c) / s, (edges[i + 1] - c) / s
        if high < -REACH or heights[i] == 0.0:
            continue
        if low > REACH and total > 0.0:
            break
        total += heights[i] * _between(low, high)
    return total


@njit(**COMPILED)
def add_shares(weight, c, s, edges, heights, counts):
    """Deal `weight` out to the bins as N(c, s²) times the law is spread over them; counts : (bins,)."""
    total = average(c, s, edges, heights)
    if total <= 0.0:
        return
    for i in range(heights.size):
        low, high = (edges[i] - c) / s, (edges[i + 1] - c) / s
        if heights[i] > 0.0 and high > -REACH:
            counts[i] += weight * heights[i] * _between(low, high) / total


@njit(**COMPILED)
def _tilted(c, s, edges, heights):
    """The law's mean density under N(c, s²), and mean and variance of that normal law times the law."""
    total, first, second = 0.0, 0.0, 0.0
    for i in range(heights.size):
        low, high = (edges[i] - c) / s, (edges[i + 1] - c) / s
        if high < -REACH or heights[i] == 0.0:
            continue
        if low > REACH and total > 0.0:
            break
        mass, at_low, at_high = _between(low, high), _normal(low), _normal(high)
        total += heights[i] * mass
        first += heights[i] * (at_low - at_high)
        second += heights[i] * (mass + low * at_low - high * at_high)
    if total <= NEVER:
        return total, c, s * s
    first /= total
    second /= total
    return total, c + s * first, s * s * max(second - first * first, SHARPEST)


@njit(**COMPILED)
def log_joint_average(n, mean, cov, edges, heights, log_highest, signed, enough, work):
    """Log of the mean of Π p(c_i) under N(mean, cov), both overwritten; −inf once it must end below `enough`.

    One coordinate after the other, the one nearest to zero first: the mean of its density, then the normal law
    is replaced by the one with the moments of its product with that density (assumed-density filtering).
    Taking coordinates as independent instead makes larger supports look too good: concentrations of positive
    profiles compete for the same signal, so that several of them cannot all lie above where they are estimated.

    work : done, at, spread, each (n,) or longer; the last two are filled with each coordinate's normal law as it
        was met
    """
    done, at, spread = work
    total = 0.0
    for i in range(n):
        done[i] = False
    for step in range(n):
        i, nearest = -1, np.inf
        for k in range(n):
            if not done[k]:
                distance = (abs(mean[k]) if signed else mean[k]) / sqrt(cov[k, k])
                if i < 0 or distance < nearest:
                    i, nearest = k, distance
        done[i] = True
        variance = cov[i, i]
        at[i], spread[i] = mean[i], sqrt(variance)
        sign = -1.0 if signed and mean[i] < 0.0 else 1.0
        density, new_mean, new_variance = _tilted(sign * mean[i], spread[i], edges, heights)
        total += log((0.5 * density if signed else density) + NEVER)
        if total + (n - 1 - step) * log_highest < enough:
            return -np.inf
        shift = (sign * new_mean - mean[i]) / variance
        shrink = (new_variance - variance) / (variance * variance)
        for k in range(n):
            if not done[k]:
                mean[k] += cov[k, i] * shift
                for l in range(n):
                    if not done[l]:
                        cov[k, l] += cov[k, i] * cov[l, i] * shrink
    return total
