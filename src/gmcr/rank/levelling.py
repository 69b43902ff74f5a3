"""Samples and channels whose noise differs, brought to the same: a scaling that leaves the rank as it is.

Noise of any law that is about a product of sample and channel is white then (Landa, Zhang & Kluger 2022).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gmcr.rank.edge import marchenko_pastur
from gmcr.validation import FloatArray

LEVELLINGS, CLIPPINGS = 5, 3
MOST_SIGNAL = 12  # directions that may be signal
LEAST_LEFT, LEAST_POWER = 0.02, 0.01  # of the noise of a sample, and of the usual noise
ROUNDING = 1e-30  # of the mean square
FAR = 9.0  # times the variance, at which squares are clipped


def levelled(table: FloatArray) -> FloatArray:
    """The table with samples and channels scaled until what is left of each beyond its signal is as large."""
    scaled = table
    for _ in range(LEVELLINGS):
        U, values, Vt = scipy.linalg.svd(scaled, full_matrices=False, check_finite=False)
        n = min(marchenko_pastur(values, scaled.shape)[0].count, MOST_SIGNAL, len(values) // 3)
        left = np.square(scaled - (U[:, :n] * values[:n]) @ Vt[:n])
        for axis, vectors in ((1, U[:, :n]), (0, Vt[:n].T)):
            share = np.expand_dims(1.0 - np.square(vectors).sum(axis=1), axis)  # of the noise, that is left
            silent = share < LEAST_LEFT  # a direction of their own says nothing of their noise
            share = np.maximum(share, LEAST_LEFT)
            power = left.mean(axis=axis, keepdims=True) / share
            for _ in range(CLIPPINGS):  # a single count far off says little of the others
                power = np.minimum(left, FAR * power).mean(axis=axis, keepdims=True) / share
            usual = float(np.median(power))
            power = np.where(silent, usual, power)
            # Of a table that has no noise but rounding, most samples may have nothing left at all.
            least = max(LEAST_POWER * usual, ROUNDING * float(np.square(scaled).mean()))
            factor = np.maximum(power, max(least, np.finfo(float).tiny))
            scaled, left = scaled / np.sqrt(factor), left / factor
    return scaled
