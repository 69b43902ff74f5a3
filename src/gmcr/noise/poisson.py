"""Counting noise: the variance of an entry is its mean, times the size of one count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from gmcr.noise.balancing import balanced
from gmcr.noise.law import LAWS, NoiseLaw
from gmcr.noise.sigma import SMALLEST, Sigma, chi2_median, rounding_floor
from gmcr.validation import FloatArray


@dataclass(frozen=True)
class Poisson(NoiseLaw):
    """σ_ml² = level · x̂_ml; level is the size of one count."""

    kind = "poisson"
    per_entry = True
    automatic = True
    signed = False
    scaling = "poisson scaled"

    def sigma(self, D: FloatArray, fit: FloatArray | None = None) -> Sigma:
        mean = np.nan_to_num(D) if fit is None else fit
        # A channel expecting less than one count is given one: its variance must not vanish.
        sigma = np.sqrt(self.level * np.maximum(mean, self.level))
        return Sigma(np.maximum(sigma, rounding_floor(D)[:, None]))

    @classmethod
    def estimate(cls, D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray) -> Poisson:
        usual = chi2_median(dof)
        level = 1e-3 * float(np.nanmean(np.abs(D)))
        for _ in range(3):  # the level sets the floor of the variance, the floor moves the level a little
            mean = np.maximum(fit, max(level, SMALLEST))
            level = float(np.median(np.nansum(residual**2 / mean, axis=1) / usual))
        return cls(level)

    def draw(self, mean: FloatArray, random: Generator) -> FloatArray:
        if self.level == 0:
            return mean.copy()
        return random.poisson(mean / self.level).astype(np.float64) * self.level

    def scaled(self, factor: float) -> Poisson:
        return Poisson(self.level * factor**2)

    @classmethod
    def whitened(cls, table: FloatArray) -> FloatArray | None:
        if not (table >= 0).all():
            return None
        samples, channels = balanced(table)  # a count's variance is its mean
        return table / np.sqrt(np.outer(samples, channels))

    @classmethod
    def of_white(cls, sigma: float) -> Poisson:
        return cls(sigma**2)


LAWS.add(Poisson.kind, Poisson)
