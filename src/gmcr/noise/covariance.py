"""Errors that channels share: what is each channel's own, and a few modes in which all of them are off together.

Lamps, cells and temperature make such modes; replicates show them as they are. What residuals show of them may be
components that are missing, so residuals tell of correlation between neighbours alone (correlation.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from gmcr.noise.replicates import deviations
from gmcr.validation import FloatArray

EDGE = 1.1  # of the largest eigenvalue that chance makes of white noise: what stands above it is a mode
MOST_MODES = 5
ROUNDS = 10
FEWEST = 5.0  # independent errors in a half of them, to try what is told on the others
UNKNOWN = 1.5  # times the edge of white noise, where that cannot be tried
PRIOR = 10.0  # replicates that the usual variance counts for beside a channel's own


@dataclass(frozen=True, eq=False)
class ErrorCovariance:
    """Σ = diag(own) + modes' modes, of the errors of one sample along the channels.

    own : (channels,) variances
    modes : (modes, channels), each as large as its standard deviation
    excess : the largest singular value of errors that were whitened by what others tell, over that of white noise
    """

    own: FloatArray
    modes: FloatArray
    excess: float = 1.0

    @classmethod
    def of_replicates(cls, D: FloatArray, replicates: ArrayLike) -> ErrorCovariance:
        """That which the spread between samples of the same label speaks for.

        D : (samples, channels), NaN where missing, which counts as no error
        replicates : (samples,) labels, as for `law_of_replicates`
        """
        errors, left, means = deviations(D, replicates)
        errors, dof = np.nan_to_num(errors), left.mean(axis=1)
        found = cls.of_errors(errors, max(float(dof.sum()), 1.0))
        # Measurements of one thing share their mean; every other thing is the one half.
        half = np.unique(means, axis=0, return_inverse=True)[1] % 2 == 0
        ratios = [
            cls.of_errors(errors[one], float(dof[one].sum()))._over_the_edge(
                errors[~one], float(dof[~one].sum())
            )
            for one in (half, ~half)
            if min(dof[one].sum(), dof[~one].sum()) >= FEWEST
        ]
        return replace(found, excess=max(1.0, *ratios) if ratios else UNKNOWN)

    @classmethod
    def of_errors(cls, errors: FloatArray, dof: float) -> ErrorCovariance:
        """That of errors (samples, channels), of which so many are independent.

        Variances and modes in turn: modes stand out of white noise once each channel is in units of its own
        variance. Of few errors the largest eigenvalues are too large; they are shrunk as chance has made them
        grow (spiked covariances; Donoho, Gavish & Johnstone 2018), and single variances towards the usual.
        """
        squares = np.square(errors).sum(axis=0) / dof
        squares = np.maximum(squares, 1e-12 * squares.mean() + np.finfo(float).tiny)
        own, modes, ratio = squares, np.zeros((0, errors.shape[1])), errors.shape[1] / dof
        for _ in range(ROUNDS):
            values, vectors = _leading(errors / np.sqrt(own * dof), ratio)
            spikes = _unspiked(values, ratio)
            modes = np.sqrt(np.maximum(spikes - 1.0, 0.0))[:, None] * vectors * np.sqrt(own)
            rest = np.maximum(squares - np.square(modes).sum(axis=0), 0.05 * squares)
            own = (dof * rest + PRIOR * np.exp(np.log(rest).mean())) / (dof + PRIOR)
        return cls(own, modes)

    @property
    def variances(self) -> FloatArray:
        """Of each channel, modes and all: (channels,)."""
        return self.own + np.square(self.modes).sum(axis=0)

    def whitened(self, table: FloatArray) -> FloatArray:
        """A complete table whose errors are white and of size one: times Σ^(−1/2)."""
        scaled = table / np.sqrt(self.own)
        _, values, vectors = scipy.linalg.svd(self.modes / np.sqrt(self.own), full_matrices=False)
        factors = 1.0 / np.sqrt(1.0 + np.square(values)) - 1.0
        return scaled + (scaled @ vectors.T * factors) @ vectors

    def _over_the_edge(self, errors: FloatArray, dof: float) -> float:
        """How far the largest singular value of other errors, whitened, is above that of white noise."""
        values = scipy.linalg.svdvals(self.whitened(errors), check_finite=False)
        return float(values[0] / (np.sqrt(dof) + np.sqrt(errors.shape[1])))

    @property
    def length(self) -> float:
        """Channels that tell as much as one independent one would, (tr Σ²) channels / (tr Σ)²."""
        return len(self.own) * self._trace_of_square / float(self.variances.sum()) ** 2

    def inflation(self, S: FloatArray) -> float:
        """By how much errors weigh more on amounts of profiles (slots, channels) than white ones as large do."""
        along = float((self.own @ np.square(S).T).sum() + np.square(self.modes @ S.T).sum())
        return max(along / float(self.variances.mean() * np.square(S).sum()), 1.0)

    def degrees_of_freedom(self, n: FloatArray | float) -> FloatArray | float:
        """Effective degrees of freedom of a sum of squares of n entries (Satterthwaite)."""
        return n / self.length

    def sentence(self) -> str:
        """For people, behind a law's: ", channels off together in 1 way (85 % of the noise)", or nothing."""
        if not len(self.modes):
            return ""
        share = float(np.mean(np.square(self.modes).sum(axis=0) / self.variances))  # in the usual channel
        ways = f"{len(self.modes)} way{'s' if len(self.modes) > 1 else ''}"
        return f", channels off together in {ways} ({share:.0%} of the noise)".replace("%", " %")

    def as_arrays(self) -> dict[str, FloatArray]:
        """What a file stores of it."""
        return {"noise_own": self.own, "noise_modes": self.modes, "noise_excess": np.array([self.excess])}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, FloatArray]) -> ErrorCovariance:
        return cls(arrays["noise_own"], arrays["noise_modes"], float(arrays["noise_excess"][0]))

    @property
    def _trace_of_square(self) -> float:
        gram = self.modes @ self.modes.T
        shared = float((np.square(self.modes) @ self.own).sum())
        return float(np.square(self.own).sum() + np.square(gram).sum()) + 2.0 * shared


def _leading(scaled: FloatArray, ratio: float) -> tuple[FloatArray, FloatArray]:
    """The largest eigenvalues of a table's covariance that chance would not make, and their vectors."""
    _, values, vectors = scipy.linalg.svd(scaled, full_matrices=False, check_finite=False)
    values = np.square(values[:MOST_MODES])
    n = int((values > EDGE * (1.0 + np.sqrt(ratio)) ** 2).sum())
    return values[:n], vectors[:n]


def _unspiked(values: FloatArray, ratio: float) -> FloatArray:
    """The variance along a mode whose eigenvalue is seen this large where channels over errors are `ratio`."""
    middle = values + 1.0 - ratio
    return 0.5 * (middle + np.sqrt(np.maximum(np.square(middle) - 4.0 * values, 0.0)))
