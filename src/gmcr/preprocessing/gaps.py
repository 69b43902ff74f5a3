"""Missing entries, filled only while a step computes; and the pieces of an axis that something was cut out of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gmcr.validation import FloatArray

GAP = 1.5  # times the usual distance of channels, from which neighbours are none


def filled_along(X: FloatArray, axis: FloatArray) -> FloatArray:
    """The samples X (samples, channels) with missing entries on a line between their present neighbours."""
    gaps = np.isnan(X)
    if not gaps.any():
        return X
    order = np.argsort(axis, kind="stable")
    out = X.copy()
    for m in np.flatnonzero(gaps.any(axis=1)):
        there = order[~gaps[m, order]]
        if there.size:  # what is missing altogether stays so
            out[m, gaps[m]] = np.interp(axis[gaps[m]], axis[there], X[m, there])
    return out


def with_gaps(X: FloatArray, axis: FloatArray, work: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """What `work` makes of samples without gaps, missing again where X is: (samples, channels)."""
    return np.where(np.isnan(X), np.nan, work(filled_along(X, axis)))


def pieces(axis: FloatArray) -> list[slice]:
    """The stretches of channels that are next to each other along the axis."""
    steps = np.abs(np.diff(axis))
    if not steps.size:
        return [slice(0, len(axis))]
    ends = np.flatnonzero(steps > GAP * np.median(steps)) + 1
    return [slice(first, last) for first, last in zip([0, *ends], [*ends, len(axis)])]
