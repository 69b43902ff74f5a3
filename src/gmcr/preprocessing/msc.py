"""Multiplicative scatter correction: offset and slope of each sample against a reference taken away."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from gmcr.preprocessing.step import STEPS, Step
from gmcr.validation import FloatArray, check_axis


class MSC(Step):
    """Multiplicative scatter correction: a sample a + b · reference + rest becomes (sample − a) / b.

    Parameters
    ----------
    reference : (channels,) what samples are compared with; None for the mean of the training samples, which
        is learned and stored
    """

    kind = "msc"
    learned = ("reference_",)
    keeps_noise = False

    def __init__(self, reference: ArrayLike | None = None) -> None:
        self.reference = reference

    def learn(self, X: FloatArray, axis: FloatArray) -> None:
        if self.reference is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # a channel that no sample has stays missing
                self.reference_ = np.nanmean(X, axis=0)
        else:
            self.reference_ = check_axis(self.reference, X.shape[1], "reference of MSC")

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        offsets, slopes = self._lines(X)
        astray = np.flatnonzero(slopes <= 0)
        if astray.size:
            warnings.warn(
                f"{astray.size} sample(s), the first is {astray[0]}, do not go with MSC's reference (slope "
                f"{slopes[astray[0]]:.2g}); they were left as they are.",
                stacklevel=3,
            )
        return (X - np.where(slopes > 0, offsets, 0.0)[:, None]) / self._scales(slopes)

    def spread(self, sigma: FloatArray, X: FloatArray, axis: FloatArray) -> FloatArray:
        return sigma / self._scales(self._lines(X)[1])

    def sentence(self) -> str:
        of = "the training samples' mean" if self.reference is None else "a given reference"
        return f"multiplicative scatter corrected against {of}"

    def did(self, before: FloatArray, after: FloatArray) -> str:
        slopes = self._lines(before)[1]
        return f"Slopes against the reference were {slopes.min():.3g} to {slopes.max():.3g}."

    def _lines(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Offset and slope of each sample by least squares over the entries that it and the reference have."""
        there = ~np.isnan(X) & ~np.isnan(self.reference_)
        n = np.maximum(there.sum(axis=1), 1)
        R = np.where(there, self.reference_, 0.0)
        Y = np.where(there, X, 0.0)
        mean_r, mean_y = R.sum(axis=1) / n, Y.sum(axis=1) / n
        about = np.where(there, R - mean_r[:, None], 0.0)
        squares = np.square(about).sum(axis=1)
        slopes = (about * Y).sum(axis=1) / np.where(squares > 0, squares, np.inf)
        return mean_y - slopes * mean_r, slopes

    def _scales(self, slopes: FloatArray) -> FloatArray:
        return np.where(slopes > 0, slopes, 1.0)[:, None]


STEPS.add(MSC.kind, MSC)
