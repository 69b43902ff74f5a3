"""What a learned pool's own errors do to a sample decoded over it.

Profiles learned by weighted least squares from concentrations C have errors with covariance V = (C'WC)⁺ in every
channel. Three things follow for a sample with concentrations c:

- its residual has the noise's variance times 1 + c'Vc/σ²;
- the Gram matrix of the profiles is too large by V for every channel, so that concentrations come out too small
  and what is left of the sample looks like weak components (errors in variables): V is taken off again;
- if the pool was learned from the sample too, it has followed the sample's noise; without it the profiles would
  be S − V c ρ'/σ²(1 − h), with ρ what is left of the sample and h its leverage, as in any leave-one-out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gmcr.confidence.uncut import cut_moments
from gmcr.validation import FloatArray

LARGEST_SHARE = (
    0.9  # of a sample in the pool: without the only one that has a component, nothing is left of it
)
LARGEST_EXCESS = 0.5  # of a profile's squared norm that may be error: more of it cannot be taken off again


@dataclass(frozen=True)
class PoolErrors:
    """Covariances of the profiles' errors in one channel, (slots, slots); zero for profiles that were known.

    response : of least squares: how the pool follows the samples
    covariance : what is left of it where profiles cannot be negative; taken off the Gram matrix
    """

    response: FloatArray
    covariance: FloatArray

    def leverage(self, C: FloatArray, variance: FloatArray) -> FloatArray:
        """Variance that the pool's errors add to each sample's residual, in units of its noise: (samples,)."""
        return np.einsum("mi,mi->m", C @ self.response, C) / variance

    def own_shares(
        self, X: FloatArray, S: FloatArray, C: FloatArray, W: FloatArray, variance: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What samples that the pool was learned from have put into it.

        X : (samples, channels), zero where missing;  W : weights of their entries, or (0, 0)
        variance : (samples,) of the noise

        Returns
        -------
        own : (samples, slots) how much of its residual each sample has put into each profile
        own_r : (samples, slots) inner products of residual and profiles
        along : (samples,) inner product of residual and sample
        """
        share = np.minimum(self.leverage(C, variance), LARGEST_SHARE)
        residual = X - C @ S
        weighted = residual * W if W.size else residual
        own = (C @ self.response) / (variance * (1.0 - share))[:, None]
        return own, weighted @ S.T, np.einsum("ml,ml->m", weighted, X)


def least_squares_covariance(C: FloatArray, sigma: FloatArray) -> FloatArray:
    """(C' diag(1/σ²) C)⁺, the covariance of least-squares profiles in one channel: (slots, slots)."""
    scaled = C / sigma[:, None]
    return np.asarray(np.linalg.pinv(scaled.T @ scaled, hermitian=True), dtype=np.float64)


def pool_errors(S: FloatArray, response: FloatArray, *, signed: bool) -> PoolErrors:
    """The errors of unit-norm profiles S (slots, channels) whose least-squares covariance is `response`."""
    variances = np.maximum(np.diag(response), 1e-300)
    free = np.ones(len(S))
    if not signed:
        # An entry held at zero or near it errs less: as much as a normal law cut off at zero.
        free = cut_moments(S / np.sqrt(variances)[:, None])[1].mean(axis=1)
    errors = free * variances * S.shape[1]
    kept = np.sqrt(free * np.minimum(1.0, LARGEST_EXCESS / np.maximum(errors, LARGEST_EXCESS)))
    return PoolErrors(response, response * kept[:, None] * kept)


def without_own_share(leverage: FloatArray) -> FloatArray:
    """Leverage of samples over the pool learned without each of them, from that over the pool with them."""
    share = np.minimum(leverage, LARGEST_SHARE)
    return share / (1.0 - share)
