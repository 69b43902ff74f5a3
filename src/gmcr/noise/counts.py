"""Counts of something, and what varies beyond chance, by as much in every sample or by more in some."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gmcr.noise.estimation import left_per_entry
from gmcr.noise.instrument import BEYOND, LEAST_FACTOR, Instrument
from gmcr.noise.law import LAWS
from gmcr.noise.sigma import SMALLEST, Sigma, rounding_floor
from gmcr.validation import FloatArray

MOST_COUNTED = 1e5  # median from which whole numbers are readings of a converter rather than counts
FARTHEST = (
    3.0  # standard deviations between samples, beyond which one is not believed to be as noisy as it looks
)
CLIPPINGS = 5
CLEAR = 4.0  # standard errors of the sum of squares, from which samples differ in how much they vary


@dataclass(frozen=True)
class Counts(Instrument):
    """σ_ml² = x̂_ml + s_m x̂_ml², s_m about slope², by so many times of which it differs from sample to sample.

    What a sample's own s is follows from its own residuals, as far as they tell.
    """

    level: float = 0.0
    gain: float = 1.0
    spread: float = 0.0

    kind = "counts"
    signed = False
    least_gain = 1.0
    doublings = 20

    def sigma(self, D: FloatArray, fit: FloatArray | None = None) -> Sigma:
        if fit is None or not self.spread:
            return super().sigma(D, fit)
        mean = np.maximum(fit, 0.0)
        usual, factors = self.slope**2, self.factors(D.shape[1])
        left = np.maximum(np.square(factors), LEAST_FACTOR)[None]
        own, error = _of_samples(D, mean, left, usual)
        between = (self.spread * usual) ** 2
        # One that is farther off is not explained rather than noisy.
        beyond = np.minimum(own - usual, FARTHEST * np.sqrt(between + error))
        s = usual + beyond * between / (between + error)
        by_chance = replace(self, slope=0.0).variance(mean, self.least_gain)
        variance = by_chance + np.maximum(s, 0.0)[:, None] * np.square(mean)
        return Sigma(np.maximum(np.sqrt(variance) * factors, rounding_floor(D)[:, None]))

    @classmethod
    def estimate(cls, D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray) -> Self:
        law = super().estimate(D, fit, residual, dof)
        if not law.slope:
            return law
        s = law.slope**2
        left = np.broadcast_to(left_per_entry(residual, dof), residual.shape)
        mean = np.maximum(fit, 0.0)
        own, error = _of_samples(mean + residual, mean, left, s)
        # Random effects after DerSimonian & Laird (1986): what samples differ by beyond the errors of each.
        weights = 1.0 / error
        for _ in range(CLIPPINGS):
            usual = float(weights @ own / weights.sum())
            beyond = float((weights * np.square(own - usual)).sum()) - (len(own) - 1)
            between = beyond / max(float(weights.sum() - np.square(weights).sum() / weights.sum()), SMALLEST)
            own = np.minimum(own, usual + FARTHEST * np.sqrt(max(between, 0.0) + error))
        if beyond < CLEAR * np.sqrt(2.0 * len(own)):
            return law
        return replace(law, spread=float(np.sqrt(between)) / s)

    @property
    def common(self) -> Counts:
        return replace(self, spread=0.0)

    def scaled(self, factor: float) -> Self:
        return replace(super().scaled(factor), spread=self.spread)

    def sentence(self) -> str:
        beyond = f", overdispersed by {self.slope:.2%} of the mean" if self.slope else ""
        return "counts" + beyond + (", more in some samples than in others" if self.spread else "")


def _of_samples(D: FloatArray, mean: FloatArray, left: FloatArray, s: float) -> tuple[FloatArray, FloatArray]:
    """What each sample by itself says of s, (samples,), and the square of that one's error where s is the same.

    (x − μ)² − μ is s μ² on average; entries weigh by how well they tell, at about s. Squares of such counts
    scatter more than those of normal noise: their excess kurtosis is 6 s + 1/σ², as negative binomials have it.
    """
    variance = np.maximum(mean, 1.0) + s * np.square(mean)
    squares = np.minimum(np.square(D - mean) / left, BEYOND**2 * variance)
    weights = np.where(np.isnan(D), 0.0, np.square(mean / variance))
    total = np.maximum((weights * np.square(mean)).sum(axis=1), SMALLEST)
    own = (weights * np.where(np.isnan(D), 0.0, squares - mean)).sum(axis=1) / total
    scatter = np.square(weights * variance) * (2.0 + 6.0 * s + 1.0 / variance)
    return own, scatter.sum(axis=1) / np.square(total) + SMALLEST


def are_counts(D: FloatArray) -> bool:
    """Whether a table holds counts: whole numbers, none negative, most of them small enough to be told apart."""
    present = D[~np.isnan(D)]
    whole = present.size > 0 and present.min() >= 0 and present.max() > 1
    return bool(whole and np.median(present) < MOST_COUNTED and (present == np.round(present)).all())


LAWS.add(Counts.kind, Counts)
