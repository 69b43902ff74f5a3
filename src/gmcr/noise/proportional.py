"""Proportional noise: the same in every entry of a sample, as large as the sample is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from gmcr.noise.law import LAWS, NoiseLaw
from gmcr.noise.sigma import SMALLEST, Sigma, chi2_median, root_mean_square, rounding_floor
from gmcr.validation import FloatArray


@dataclass(frozen=True)
class Proportional(NoiseLaw):
    """σ_m = level · rms(x_m)."""

    kind = "proportional"
    automatic = True
    relative = True
    scaling = "rows scaled"

    def sigma(self, D: FloatArray, fit: FloatArray | None = None) -> Sigma:
        return Sigma(np.maximum(self.level * root_mean_square(D), rounding_floor(D)))

    @classmethod
    def estimate(cls, D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray) -> Proportional:
        size = np.maximum(root_mean_square(D), SMALLEST)
        squares = np.nansum(residual**2, axis=1) / chi2_median(dof) / size**2
        return cls(float(np.sqrt(np.median(squares))))

    def draw(self, mean: FloatArray, random: Generator) -> FloatArray:
        # The size of a sample, noise included, exceeds that of its mean by the noise's own share.
        level = self.level / np.sqrt(max(1.0 - self.level**2, SMALLEST))
        return mean + level * root_mean_square(mean)[:, None] * random.standard_normal(mean.shape)

    def scaled(self, factor: float) -> Proportional:
        return Proportional(self.level * factor)

    @classmethod
    def whitened(cls, table: FloatArray) -> FloatArray:
        return table / np.sqrt((table**2).mean(axis=1, keepdims=True))


LAWS.add(Proportional.kind, Proportional)
