"""Nearest series that rise, fall, or rise and then fall, within bounds of their own at every place.

Exact: pooling of adjacent violators, where a pool's value is its mean brought within the bounds of all its places
(Best, Chakravarti & Ubhaya 2000), for every beginning of the series at once (Stout 2008). With a tolerance t ≥ 1
a step may go the wrong way by this factor: x[i] ≤ t x[i+1] where the series rises, which is the same problem in
x[i] tⁱ; a pool's sums refer to its first place, so that no power of t overflows.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_rising(y, lower, upper, tolerance=1.0):
    """The series nearest to y (places,) that rises, within bounds; NaN where there is none."""
    x = np.full(len(y), np.nan)
    _rise(y, lower, upper, tolerance, len(y), x)
    return x


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_falling(y, lower, upper, tolerance=1.0):
    """The same, falling."""
    return nearest_rising(y[::-1].copy(), lower[::-1].copy(), upper[::-1].copy(), tolerance)[::-1].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_unimodal(y, lower, upper, tolerance=1.0):
    """The series nearest to y (places,) with a single maximum, within bounds; NaN where there is none."""
    n, nothing = len(y), np.empty(0)
    back, back_lower, back_upper = y[::-1].copy(), lower[::-1].copy(), upper[::-1].copy()
    rising = _rise(y, lower, upper, tolerance, n, nothing)
    falling = _rise(back, back_lower, back_upper, tolerance, n, nothing)
    top = np.argmin(rising + falling[::-1])  # so many places rise, the others fall
    x, rest = np.full(n, np.nan), np.full(n - top, np.nan)
    _rise(y, lower, upper, tolerance, top, x[:top])
    _rise(back, back_lower, back_upper, tolerance, n - top, rest)
    x[top:] = rest[::-1]
    return x


@njit(cache=True, nogil=True, error_model="numpy")
def distance_rising(y, lower, upper, tolerance):
    """Squared distance of y (places,) from the nearest rising series."""
    return _rise(y, lower, upper, tolerance, len(y), np.empty(0))[-1]


@njit(cache=True, nogil=True, error_model="numpy")
def distance_unimodal(y, lower, upper, tolerance):
    """Squared distance of y (places,) from the nearest series with a single maximum."""
    rising = _rise(y, lower, upper, tolerance, len(y), np.empty(0))
    falling = _rise(y[::-1].copy(), lower[::-1].copy(), upper[::-1].copy(), tolerance, len(y), np.empty(0))
    return (rising + falling[::-1]).min()


@njit(cache=True, nogil=True, error_model="numpy")
def _rise(y, lower, upper, tolerance, n, x):
    """Squared distances of the first 0, 1, … n places from the nearest rising series; that of all n into x.

    Infinite from where there is none. A pool that begins at place a with the value v has v t^(a − i) at place i.
    """
    costs = np.zeros(n + 1)
    begin, ahead = np.empty(n + 1, dtype=np.int64), np.empty(n)  # first place; what the pools before cost
    weight, total, square = np.empty(n), np.empty(n), np.empty(n)
    low, high, value = np.empty(n), np.empty(n), np.empty(n)
    pools = 0
    for i in range(n):
        begin[pools], ahead[pools] = i, costs[i]
        weight[pools], total[pools], square[pools] = 1.0, y[i], y[i] * y[i]
        low[pools], high[pools] = lower[i], upper[i]
        value[pools] = min(max(y[i], lower[i]), upper[i])
        while pools > 0:
            a, b = pools - 1, pools
            shrunk = tolerance ** float(begin[a] - begin[b])
            if value[a] * shrunk <= value[b]:
                break
            weight[a] += weight[b] * shrunk * shrunk
            total[a] += total[b] * shrunk
            square[a] += square[b]
            if low[b] != 0.0 or shrunk > 0.0:
                low[a] = max(low[a], low[b] / shrunk)
            if high[b] != 0.0 or shrunk > 0.0:
                high[a] = min(high[a], high[b] / shrunk)
            if low[a] > high[a]:
                costs[i + 1 :] = np.inf
                return costs
            value[a] = min(max(total[a] / weight[a], low[a]), high[a])
            pools -= 1
        v = value[pools]
        costs[i + 1] = ahead[pools] + max(square[pools] - 2.0 * v * total[pools] + v * v * weight[pools], 0.0)
        pools += 1
    begin[pools] = n
    for p in range(pools if len(x) else 0):
        for i in range(begin[p], begin[p + 1]):
            x[i] = value[p] * tolerance ** float(begin[p] - i)
    return costs
