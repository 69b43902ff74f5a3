"""Standard deviations of a table's entries, as one type that knows whether they are per sample or per entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv

from gmcr.errors import InputError
from gmcr.validation import LARGEST, FloatArray, as_numbers, check_per_sample, require, squared_norms

# Noise below 1e-6 of a sample's size (120 dB) cannot be told from rounding in the normal equations.
ROUNDING = 1e-6
LOW, FARTHEST_BELOW = 0.1, 10.0  # quantile of the noise, and how many times less is not believed of fewer
SMALLEST = 1e-150  # noise of a sample that is zero throughout: its square is still a number

_NO_WEIGHTS = np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class Sigma:
    """Standard deviations of the noise of a table (samples, channels).

    values : (samples,), or (samples, channels) where they differ between the channels of a sample
    """

    values: FloatArray

    @classmethod
    def given(cls, noise: ArrayLike | Sigma, D: FloatArray) -> Sigma:
        """As given for the samples D, never below rounding: one number, one per sample, or one per entry."""
        if isinstance(noise, Sigma):
            shape = noise.values.shape
            require(shape in (D.shape, D.shape[:1]), "noise", f"for samples of shape {D.shape}", shape)
            return noise
        values = as_numbers(noise, "noise")
        if values.ndim < 2:
            values = check_per_sample(values, len(D), "noise")
            require(values.max() <= LARGEST, "noise", f"at most {LARGEST:g}", float(values.max()))
            return cls(np.maximum(values, rounding_floor(D)))
        if values.shape != D.shape:
            raise InputError(
                f"noise must be one number, one per sample ({len(D)}), or one per entry (shape {D.shape}), "
                f"but has shape {values.shape}."
            )
        bad = np.argwhere(~((values > 0) & (values <= LARGEST)) & ~np.isnan(D))
        if bad.size:
            row, column = bad[0]
            raise InputError(
                f"noise is {values[row, column]} at row {row}, column {column}, but must be positive and at most "
                f"{LARGEST:g}; to leave an entry out, mark it as missing with NaN in D."
            )
        values = np.maximum(values, rounding_floor(D)[:, None])
        missing = np.isnan(D)
        if missing.any():  # whatever is said of their noise must not matter
            usual = root_mean_square(np.where(missing, np.nan, values))
            values = np.where(missing, usual[:, None], values)
        return cls(values)

    def bounded(self) -> Sigma:
        """None far below the others: a few that are said to have next to no noise would decide alone."""
        return Sigma(np.maximum(self.values, np.nanquantile(self.values, LOW) / FARTHEST_BELOW))

    @property
    def per_entry(self) -> bool:
        """Whether they may differ between the channels of one sample."""
        return self.values.ndim == 2

    @property
    def entries(self) -> FloatArray:
        """(samples, channels), or (samples, 1) where one per sample does: what a table is divided by."""
        return self.values if self.per_entry else self.values[:, None]

    @property
    def typical(self) -> float:
        """One number for all: the root of the median square."""
        return float(np.sqrt(np.median(np.square(self.values))))

    def per_sample(self, D: FloatArray | None = None) -> FloatArray:
        """(samples,) of each sample, root mean square over its channels, or over those present in D."""
        if not self.per_entry:
            return self.values
        return root_mean_square(self.values if D is None else np.where(np.isnan(D), np.nan, self.values))

    def where_present(self, D: FloatArray) -> Sigma:
        """The same by entry and NaN where an entry of D is missing; as it is where none is."""
        if not np.isnan(squared_norms(D)).any():
            return self
        return Sigma(np.where(np.isnan(D), np.nan, self.entries))

    def weighted(self, weights: FloatArray | None) -> Sigma:
        """As much noise as gives the entries these weights (samples, channels) beside their own."""
        return self if weights is None else Sigma(self.entries / np.sqrt(np.where(weights > 0, weights, 1.0)))

    def entry_weights(self, D: FloatArray | None = None) -> FloatArray:
        """Weight 1/σ² of each entry, (samples, channels), zero where missing; (0, 0) if one per sample does."""
        missing = np.isnan(self.values if D is None else D)
        if not self.per_entry and (D is None or not missing.any()):
            return _NO_WEIGHTS
        values = np.broadcast_to(self.entries, missing.shape)
        return np.where(missing, 0.0, 1.0 / np.square(np.where(missing, 1.0, values)))

    def sigma(self, D: FloatArray, fit: FloatArray | None = None) -> Sigma:
        """Itself: noise that is given stands where a law may stand."""
        return self

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Sigma:
        """The same of some of the samples."""
        return Sigma(self.values[rows])

    def __mul__(self, factor: float) -> Sigma:
        return Sigma(self.values * factor)

    def __truediv__(self, factor: float) -> Sigma:
        return Sigma(self.values / factor)


def rounding_floor(D: FloatArray) -> FloatArray:
    """The smallest noise that each sample can be said to have: (samples,)."""
    return np.maximum(ROUNDING * root_mean_square(D), SMALLEST)


def root_mean_square(D: FloatArray) -> FloatArray:
    """Root mean square of each row over its present entries: (samples,)."""
    mean = squared_norms(D) / D.shape[1]
    gaps = np.isnan(mean)
    if gaps.any():
        mean[gaps] = np.nanmean(np.square(D[gaps]), axis=1)
    return np.sqrt(mean)


def count_present(D: FloatArray) -> NDArray[np.intp]:
    """Number of present entries of each row: (samples,)."""
    present = np.full(len(D), D.shape[1])
    gaps = np.isnan(squared_norms(D))
    present[gaps] -= np.isnan(D[gaps]).sum(axis=1)
    return present


def chi2_median(dof: FloatArray) -> FloatArray:
    """Median of χ² with `dof` degrees of freedom, without what scipy.stats adds to it in time."""
    return 2.0 * gammaincinv(dof / 2.0, 0.5)
