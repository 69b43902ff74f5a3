"""Channel noise: a detector whose last channels are noisier than its first."""

from dataclasses import dataclass

import numpy as np

from gmcr.noise import LAWS, NoiseLaw, Sigma, rounding_floor


@dataclass(frozen=True)
class Ramp(NoiseLaw):
    """σ rises along the channels, from half the level to one and a half times it."""

    kind = "ramp"
    per_entry = True

    def sigma(self, D, fit=None):
        sigma = self.level * np.linspace(0.5, 1.5, D.shape[1])
        return Sigma(np.maximum(sigma, rounding_floor(D)[:, None]))

    @classmethod
    def estimate(cls, D, fit, residual, dof):
        scaled = residual / np.linspace(0.5, 1.5, D.shape[1])
        return cls(float(np.sqrt(np.median(np.nansum(scaled**2, axis=1) / dof))))

    def draw(self, mean, random):
        return mean + self.sigma(mean).values * random.standard_normal(mean.shape)

    def scaled(self, factor):
        return Ramp(self.level * factor)


LAWS.add(Ramp.kind, Ramp)
