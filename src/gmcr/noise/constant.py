"""Constant noise: the same in every entry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from gmcr.noise.law import LAWS, NoiseLaw
from gmcr.noise.sigma import Sigma, chi2_median, rounding_floor
from gmcr.validation import FloatArray


@dataclass(frozen=True)
class Constant(NoiseLaw):
    """σ = level."""

    kind = "constant"
    automatic = True
    scaling = "as is"

    def sigma(self, D: FloatArray, fit: FloatArray | None = None) -> Sigma:
        return Sigma(np.maximum(np.full(len(D), self.level), rounding_floor(D)))

    @classmethod
    def estimate(cls, D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray) -> Constant:
        squares = np.nansum(residual**2, axis=1) / chi2_median(dof)
        return cls(float(np.sqrt(np.median(squares))))

    def draw(self, mean: FloatArray, random: Generator) -> FloatArray:
        return mean + self.level * random.standard_normal(mean.shape)

    def scaled(self, factor: float) -> Constant:
        return Constant(self.level * factor)

    @classmethod
    def whitened(cls, table: FloatArray) -> FloatArray:
        return table


LAWS.add(Constant.kind, Constant)
