"""Tables of counts, whose noise grows with the mean: the scaling under which it is white, and how much it varies.

The variance of counts that vary beyond chance is μ + s μ². An entry x tells of it without bias, by
(x + s x²) / (1 + s); samples and channels are scaled until these are one on average along each, and the noise has
the singular values of white noise then, of level one where s is right (Landa, Zhang & Kluger 2022). Where s
differs from sample to sample, what is left of each levels them.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gmcr.noise import balanced
from gmcr.rank.edge import marchenko_pastur
from gmcr.rank.levelling import levelled
from gmcr.validation import FloatArray

LEAST, MOST = 1e-5, 4.0  # of s that is looked for
HALVINGS = 12
SMALLEST = 1e-3  # of the mean variance: an empty entry says little
EXCESS = 1.03  # noise over that of chance alone, up to which there is no more


def whitened_counts(table: FloatArray) -> tuple[FloatArray, float]:
    """The table of counts scaled so that its noise is white, of level one, and s."""
    scaled = _scaled(table, 0.0)
    if _noise(scaled) <= EXCESS:
        return levelled(scaled), 0.0
    low, high = np.log(LEAST), np.log(MOST)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _noise(_scaled(table, np.exp(middle))) > 1.0:
            low = middle
        else:
            high = middle
    s = float(np.exp(0.5 * (low + high)))
    return levelled(_scaled(table, s)), s


def _scaled(table: FloatArray, s: float) -> FloatArray:
    variance = (table + s * np.square(table)) / (1.0 + s)
    variance = np.maximum(variance, SMALLEST * variance.mean())
    samples, channels = balanced(variance)
    return table / np.sqrt(samples)[:, None] / np.sqrt(channels)


def _noise(scaled: FloatArray) -> float:
    return marchenko_pastur(scipy.linalg.svdvals(scaled, check_finite=False), scaled.shape)[1]
