"""Standard normal variate: every sample to mean zero and standard deviation one."""

from __future__ import annotations

import numpy as np

from gmcr.preprocessing.step import STEPS, Step
from gmcr.validation import FloatArray


class SNV(Step):
    """Standard normal variate: subtract a sample's mean over its channels and divide by its standard
    deviation.

    A constant sample becomes zero. The data have both signs then, and amounts are relative to the sample.
    """

    kind = "snv"
    keeps_noise = False

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        return (X - np.nanmean(X, axis=1, keepdims=True)) / _deviations(X)

    def spread(self, sigma: FloatArray, X: FloatArray, axis: FloatArray) -> FloatArray:
        return sigma / _deviations(X)

    def sentence(self) -> str:
        return "standard normal variate"

    def did(self, before: FloatArray, after: FloatArray) -> str:
        scales = _deviations(before)
        return f"Samples were divided by {scales.min():.3g} to {scales.max():.3g}, their standard deviations."


def _deviations(X: FloatArray) -> FloatArray:
    """(samples, 1), one where nothing varies."""
    with np.errstate(invalid="ignore", divide="ignore"):
        left = np.count_nonzero(~np.isnan(X), axis=1, keepdims=True) - 1
        about = X - np.nanmean(X, axis=1, keepdims=True)
        found = np.sqrt(np.nansum(np.square(about), axis=1, keepdims=True) / np.maximum(left, 1))
    return np.where(found > 0, found, 1.0)


STEPS.add(SNV.kind, SNV)
