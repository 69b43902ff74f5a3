"""How samples and channels differ in noise, where that is known: counts, replicates, standard deviations given.

Least squares weighs by it: noise that is about a product of one factor per sample and one per channel is the same
in all entries of a table divided by both, which changes neither its rank nor a sign. What residuals alone say of
the noise is no such knowledge, since what grows with the signal there is misfit more than noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gmcr.noise import Sigma, balanced
from gmcr.validation import FloatArray
from gmcr.window.first_guess import unit_rows

MOST = 30.0  # times the median: noise that is said to be farther from it has the weight of noise there


@dataclass(frozen=True, eq=False)
class Levels:
    """Noise of sample m in channel l, about samples[m] · channels[l]; None where all are alike."""

    samples: FloatArray | None = None
    channels: FloatArray | None = None

    @classmethod
    def of(cls, sigma: Sigma) -> Levels:
        """Those for which the variances over their squares are one on average along each sample and channel."""
        if not sigma.per_entry:
            alike = np.ptp(sigma.values) <= 1e-9 * sigma.values.max()
            return cls() if alike else cls(_bounded(sigma.values))
        variance = np.square(sigma.values)
        variance = np.where(np.isnan(variance), np.nanmean(variance), variance)
        samples, channels = balanced(variance)
        return cls(_bounded(np.sqrt(samples)), _bounded(np.sqrt(channels)))

    @classmethod
    def of_given(cls, sigma: Sigma) -> Levels:
        """Those of noise that was given, where a few entries may be said to tell nothing.

        They must not decide how much the other entries of their sample and channel weigh.
        """
        return cls.of(Sigma(np.minimum(sigma.values, MOST * np.nanmedian(sigma.values))))

    def __getitem__(self, rows: Any) -> Levels:
        return self if self.samples is None else Levels(self.samples[rows], self.channels)

    def evened(self, X: FloatArray) -> FloatArray:
        """The table with about the same noise in all entries."""
        X = X if self.samples is None else X / self.samples[:, None]
        return X if self.channels is None else X / self.channels

    def evened_pool(self, S: FloatArray) -> FloatArray:
        """The pool of such a table."""
        return S if self.channels is None else unit_rows(S / self.channels)

    def pool(self, S: FloatArray) -> FloatArray:
        """The pool of the table itself."""
        return S if self.channels is None else unit_rows(S * self.channels)

    def sigma(self, level: float, shape: tuple[int, ...]) -> Sigma:
        """Noise of this level in the median sample and channel."""
        samples = np.full(shape[0], level) if self.samples is None else level * self.samples
        return Sigma(samples if self.channels is None else samples[:, None] * self.channels)


def _bounded(levels: FloatArray) -> FloatArray:
    levels = levels / np.median(levels)
    return np.clip(levels, 1.0 / MOST, MOST)
