"""A table without what single entries and odd samples add to it: spikes, and samples that hold something else.

Directions are taken out one after the other, the strongest first. What stands far out of what is left is not
explained by what samples share, before a direction of its own could be spent on it. That costs a few good samples
where components differ in strength, which matters less than a bad one.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gmcr.validation import FloatArray

STEPS = 1, 2, 3, 5, 8, 12  # directions
FAR = 8.0  # times the usual residual of its sample and channel, from which an entry is no noise
ODD = 5.0  # times the usual residual of samples, from which a sample is odd
MOST_ODD = 0.1  # of the samples
USUAL = 1.4826  # standard deviations of noise to a median of absolute values


def cleaned(X: FloatArray) -> FloatArray:
    """The samples that are not odd, entries that are not noise replaced by what the strongest directions say."""
    Y, rows = X, np.ones(len(X), dtype=bool)
    for n in STEPS:
        if n > min(X.shape) // 3:
            break
        fit = _strongest(Y, n)
        left = np.abs(X - fit)
        by_row, by_channel = (USUAL * np.median(left, axis=axis, keepdims=True) for axis in (1, 0))
        rows &= by_row[:, 0] <= ODD * np.median(by_row)
        Y = np.where(left > FAR * np.maximum(by_row, by_channel), fit, X)
    enough = rows.mean() >= 1.0 - MOST_ODD and rows.sum() > min(X.shape[1], len(X)) // 2
    return Y[rows] if enough else Y


def _strongest(Y: FloatArray, n: int) -> FloatArray:
    """The part of a table along its n strongest directions, by the smaller of its two Gram matrices."""
    if Y.shape[0] < Y.shape[1]:
        return _strongest(Y.T, n).T
    d = Y.shape[1]
    _, V = scipy.linalg.eigh(Y.T @ Y, subset_by_index=(d - n, d - 1), check_finite=False)
    return (Y @ V) @ V.T
