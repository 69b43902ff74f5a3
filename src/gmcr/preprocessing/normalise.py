"""Every sample divided by its own size: area, maximum or norm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gmcr.preprocessing.step import STEPS, Step
from gmcr.validation import FloatArray, require

SIZES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "area": lambda X: np.nanmean(np.abs(X), axis=1, keepdims=True) * X.shape[1],
    "maximum": lambda X: np.nanmax(np.abs(X), axis=1, keepdims=True),
    "norm": lambda X: np.sqrt(np.nanmean(np.square(X), axis=1, keepdims=True) * X.shape[1]),
}


class Normalise(Step):
    """Divide each sample by its size, so that amounts are relative to the sample.

    Parameters
    ----------
    by : "area", the sum of absolute values; "maximum", the largest of them; "norm", the root of the sum of
        squares. Missing entries count as the sample's mean does, for area and norm. A sample that is zero
        stays so
    """

    kind = "normalise"
    keeps_noise = False

    def __init__(self, by: str = "area") -> None:
        self.by = by

    def check(self) -> None:
        fine = isinstance(self.by, str) and self.by in SIZES
        require(fine, "by of Normalise", f"one of {', '.join(SIZES)}", self.by)

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        return X / self._sizes(X)

    def spread(self, sigma: FloatArray, X: FloatArray, axis: FloatArray) -> FloatArray:
        return sigma / self._sizes(X)

    def sentence(self) -> str:
        return f"normalised by {self.by}"

    def did(self, before: FloatArray, after: FloatArray) -> str:
        sizes = self._sizes(before)
        return f"Samples were divided by {sizes.min():.3g} to {sizes.max():.3g}."

    def _sizes(self, X: FloatArray) -> FloatArray:
        """(samples, 1)"""
        sizes = SIZES[self.by](X)
        return np.where(sizes > 0, sizes, 1.0)


STEPS.add(Normalise.kind, Normalise)
