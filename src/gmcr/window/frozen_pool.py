"""Decoding over a learned pool, whose own errors must not be taken for components."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gmcr.confidence.pool_errors import least_squares_covariance
from gmcr.confidence.standard_errors import concentration_errors
from gmcr.constraints import Constraints
from gmcr.decoder import Decoding, decode, is_explained
from gmcr.decoding.prices import lone_price
from gmcr.noise import Correlation, ErrorCovariance, NoiseLaw, Sigma, degrees_of_freedom, estimate_noise
from gmcr.validation import BoolArray, FloatArray

Noise = NoiseLaw | Sigma  # a law that gives each sample its noise, or the noise itself


@dataclass(frozen=True)
class FrozenPool:
    """What a run has learned, as far as new samples need it.

    S : (slots, channels) profiles of unit norm
    covariance : (slots, slots) of the profiles' errors in one channel
    price : λ, what a selection costs in noise units
    constraints : what decoded samples obey, and which profiles were known beforehand
    correlation : of the noise along the channels
    """

    S: FloatArray
    covariance: FloatArray
    price: float
    constraints: Constraints
    correlation: Correlation | ErrorCovariance = field(default_factory=Correlation)

    def with_errors_of(self, C: FloatArray, sigma: FloatArray) -> FrozenPool:
        """The same with the errors of a pool that least squares learned from concentrations C at noise sigma."""
        free = slice(self.constraints.n_fixed, None)
        return self._with_covariance(least_squares_covariance(C[:, free], sigma))

    def with_response(self, response: FloatArray) -> FrozenPool:
        """The same, from C'C of these concentrations, each sample in units of its noise: (slots, slots)."""
        free = slice(self.constraints.n_fixed, None)
        inverse = np.linalg.pinv(response[free, free], hermitian=True)
        return self._with_covariance(np.asarray(inverse, dtype=np.float64))

    def _with_covariance(self, of_free: FloatArray) -> FrozenPool:
        free, covariance = slice(self.constraints.n_fixed, None), np.zeros((len(self.S), len(self.S)))
        covariance[free, free] = of_free
        return replace(self, covariance=covariance)

    def decode(self, samples: FloatArray, noise: Noise) -> Decoding:
        """Decode samples (samples, channels).

        The residual of a sample has the noise's variance times one plus the leverage of its concentrations among
        those learned from. Where that could change a selection, the sample is decoded again at a price as much
        higher.
        """
        return self.allow_for_errors(samples, noise, self.decode_plain(samples, noise))

    def decode_plain(self, samples: FloatArray, noise: Noise) -> Decoding:
        """Decode samples as if the pool had no errors."""
        return self._decode_at(self.price, samples, noise)

    def estimated_law(self, samples: FloatArray, kind: str) -> NoiseLaw:
        """The law of this name, at the level that these samples speak for."""
        C = self._decode_at(self.price, samples, kind).concentrations
        return estimate_noise(samples, C @ self.S, degrees_of_freedom(samples, C), kind)

    def allow_for_errors(self, samples: FloatArray, noise: Noise, out: Decoding) -> Decoding:
        """The plain decoding `out` of samples, those decoded again to which the pool's errors matter."""
        leverage = self.leverage(out)
        rows = np.flatnonzero(out.margin < self.price * leverage)
        if rows.size:
            again = self._decode_at(
                self.price * (1.0 + leverage[rows]), samples[rows], _noise_of(noise, rows)
            )
            for name in ("concentrations", "residual", "misfit", "margin", "noise"):
                getattr(out, name)[rows] = getattr(again, name)
        return replace(out, known=self._known(samples, out, noise), find_confidence=None, find_errors=None)

    def errors(self, C: FloatArray, sigma: Sigma, learned: BoolArray) -> FloatArray:
        """Standard errors of concentrations, the pool's own errors counted in: (samples, slots).

        sigma : NaN where an entry is missing;  learned : which samples the pool was learned from
        """
        out = np.zeros_like(C)
        for own in (False, True):
            rows = np.flatnonzero(learned == own)
            if rows.size:
                out[rows] = concentration_errors(
                    self.S,
                    C[rows],
                    sigma[rows],
                    learned=own,
                    pool_covariance=self.covariance,
                    signed=self.constraints.signed_amounts,
                )
        return out

    def _known(self, samples: FloatArray, out: Decoding, noise: Noise) -> BoolArray:
        """Whether the pool explains samples decoded as `out`, or else at the price of a sample by itself."""
        known = self._explains(samples, out, noise)
        lone = lone_price(len(self.S))
        rows = np.flatnonzero(~known) if self.price > lone else np.zeros(0, dtype=int)
        if rows.size:
            price, own = lone * (1.0 + self.leverage(out)[rows]), _noise_of(noise, rows)
            known[rows] = self._explains(samples[rows], self._decode_at(price, samples[rows], own), own)
        return known

    def _explains(self, samples: FloatArray, out: Decoding, noise: Noise) -> BoolArray:
        """Whether noise and the pool's errors, of variance c'Vc in every channel, leave as much as this."""
        C, leverage = out.concentrations, self.leverage(out)
        if noise.per_entry:
            fit = C @ self.S
            variance = (
                np.square(noise.sigma(samples, fit).values) + (leverage * np.square(out.noise))[:, None]
            )
            misfit = np.nansum(np.square(samples - fit) / variance, axis=1)
            return is_explained(misfit, samples, C, self.correlation)
        return is_explained(out.misfit / (1.0 + leverage), samples, C, self.correlation)

    @property
    def inflation(self) -> float:
        """By how much the noise's correlation makes amounts less certain, as a factor on variances."""
        return self.correlation.inflation(self.S)

    def _decode_at(self, price: Any, samples: FloatArray, noise: Noise | str) -> Decoding:
        k_max, signed = self.constraints.k_max, self.constraints.signed_amounts
        return decode(samples, self.S, noise, price=price, k_max=k_max, signed=signed)

    def leverage(self, out: Decoding) -> FloatArray:
        """Variance that the pool's errors add to each sample's residual, in units of its noise: (samples,)."""
        scaled = out.concentrations / out.noise[:, None]
        return np.einsum("mi,mi->m", scaled @ self.covariance, scaled)


def _noise_of(noise: Noise, rows: Any) -> Noise:
    """The noise of some of the samples."""
    return noise[rows] if isinstance(noise, Sigma) else noise
