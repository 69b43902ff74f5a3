"""Standard errors of concentrations and profiles, and intervals from them.

Given its support, a sample's concentrations are least squares: covariance σ² G_AA⁻¹. Given the concentrations, so
are the profiles: covariance (C' diag(1/σ²) C)⁻¹ in every channel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy.stats import norm

from gmcr.confidence.pool_errors import least_squares_covariance, pool_errors, without_own_share
from gmcr.decoding.tableau import COMPILED, DEPENDENT
from gmcr.errors import InputError
from gmcr.noise import Sigma
from gmcr.threads import deal, threads
from gmcr.validation import FloatArray, as_numbers, check_pool, check_samples, check_share

LEAST = 64  # samples that one thread takes at a time
_NONE = np.zeros((0, 0))
_NO_EXCESS = np.zeros(0)


def concentration_errors(
    S: Any, C: Any, noise: Any, *, learned: bool = False, pool_covariance: Any = None, signed: bool = False
) -> FloatArray:
    """Standard error of each concentration: (samples, slots), zero where a sample does not hold a component.

    Parameters
    ----------
    S : (slots, channels) pool of profiles, of any norm
    C : (samples, slots) concentrations
    noise : standard deviation of the noise: one number, one per sample, or one per entry (NaN where missing)
    learned : whether the pool was learned from these very samples
    pool_covariance : (slots, slots) covariance of the profiles' errors in one channel, for samples that the pool
        was not learned from; see `gmcr.confidence.pool_errors`
    signed : whether profiles may be negative

    Returns
    -------
    (samples, slots); infinite where profiles of a support depend on each other
    """
    profiles, amounts = check_pool(S), check_samples(C, "C")
    if amounts.shape[1] != len(profiles):
        raise InputError(
            f"C has {amounts.shape[1]} columns and S has {len(profiles)} rows; they must be as many."
        )
    sigma = _check_noise(noise, len(amounts), profiles.shape[1])
    norms = np.linalg.norm(profiles, axis=1)
    unit, scaled = profiles / norms[:, None], amounts * norms
    level, W = sigma.per_sample(), sigma.entry_weights()
    variance = np.ones(len(scaled)) if W.size else level**2
    covariance, excess = _NONE, _NO_EXCESS
    if learned or pool_covariance is not None:
        response = (
            least_squares_covariance(scaled, level)
            if pool_covariance is None
            else as_numbers(pool_covariance, "pool_covariance") / (norms[:, None] * norms)
        )
        pool = pool_errors(unit, response, signed=signed)
        leverage = pool.leverage(scaled, level**2)
        variance = variance * (1.0 + (without_own_share(leverage) if learned else leverage))
        covariance, excess = pool.covariance, channels(W, unit, len(scaled))
    with threads():
        return spreads(scaled, unit, W, variance, covariance, excess) / norms


def profile_errors(C: Any, noise: Any, *, n_fixed: int = 0) -> FloatArray:
    """Standard error of the profiles' entries, given the concentrations.

    Parameters
    ----------
    C : (samples, slots) concentrations
    noise : standard deviation of the noise: one number, one per sample, or one per entry (NaN where missing)
    n_fixed : number of profiles, the first ones, that were known beforehand

    Returns
    -------
    (slots,), the same in every channel; (slots, channels) where the noise differs between channels. Infinite for
    a profile that no sample holds
    """
    amounts = check_samples(C, "C")
    sigma = _check_noise(noise, len(amounts))
    free = amounts[:, n_fixed:]
    if not sigma.per_entry:
        errors = np.sqrt(np.diag(least_squares_covariance(free, sigma.values)))
    else:
        grams = np.einsum("mi,ml,mj->lij", free, sigma.entry_weights(), free, optimize=True)
        errors = np.sqrt(np.diagonal(np.linalg.pinv(grams, hermitian=True), axis1=1, axis2=2)).T
    errors = np.where((free != 0).any(axis=0)[(...,) + (None,) * (errors.ndim - 1)], errors, np.inf)
    return np.concatenate([np.zeros((n_fixed, *errors.shape[1:])), errors])


def interval(
    values: Any, errors: Any, level: float = 0.95, *, signed: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end of the interval of each value, given its standard error.

    Where values cannot be negative the lower end is at least zero. A value that was held at zero has an interval
    on one side only, from zero to the one-sided quantile, and so keeps its level.

    Parameters
    ----------
    values, errors : arrays of one shape, or errors that broadcast to it; an error of zero means that nothing is
        to be estimated there
    level : probability that the interval covers the truth
    signed : whether values may be negative
    """
    check_share(level, "level")
    centre, error = as_numbers(values, "values"), as_numbers(errors, "errors")
    if error.ndim == 1 and centre.ndim == 2 and len(error) == len(centre):
        error = error[:, None]  # one per profile
    reach = norm.ppf(0.5 + level / 2) * error
    low, high = centre - reach, centre + reach
    if not signed:
        low = np.maximum(low, 0.0)
        high = np.where(centre == 0, norm.ppf(level) * error, high)
    return low, high


# Arrays


def channels(W: FloatArray, S: FloatArray, n_samples: int) -> FloatArray:
    """Number of channels by their weight: (samples,)."""
    return W.sum(axis=1) if W.size else np.full(n_samples, float(S.shape[1]))


def spreads(
    C: FloatArray,
    S: FloatArray,
    W: FloatArray,
    variance: FloatArray,
    covariance: FloatArray = _NONE,
    excess: FloatArray = _NO_EXCESS,
) -> FloatArray:
    """√(v (G_AA⁻¹)_ii) for each selection of each sample, zero elsewhere: (samples, slots).

    W : weights of the entries, or (0, 0);  variance : (samples,) v, times their weight
    covariance, excess : what is taken off the Gram matrix; see `gmcr.confidence.neighbours`
    """
    largest = int(np.count_nonzero(C, axis=1).max(initial=0))
    out = np.zeros(C.shape)
    deal(_spreads, len(C), LEAST, C, largest, S @ S.T, S, W, variance, covariance, excess, out)
    return out


@njit(**COMPILED, nogil=True)
def _spreads(C, largest, G, S, weights, variance, covariance, excess, out, start, stop):
    idx = np.empty(largest, np.int64)
    A = np.empty((largest, largest))
    for m in range(start, stop):
        n = 0
        for j in range(C.shape[1]):
            if C[m, j] != 0.0:
                idx[n] = j
                n += 1
        for i in range(n):
            for l in range(n):
                A[i, l] = G[idx[i], idx[l]]
                if weights.shape[0] > 0:
                    A[i, l] = 0.0
                    for channel in range(S.shape[1]):
                        A[i, l] += weights[m, channel] * S[idx[i], channel] * S[idx[l], channel]
                if covariance.shape[0] > 0:
                    A[i, l] -= excess[m] * covariance[idx[i], idx[l]]
        _invert(A, n)
        for i in range(n):
            out[m, idx[i]] = np.sqrt(variance[m] * A[i, i]) if A[i, i] > 0.0 else np.inf


@njit(**COMPILED)
def _invert(A, n):
    """Invert the leading n × n part of a symmetric positive matrix in place, by sweeps.

    The diagonal ends negative where a pivot vanishes: profiles depend on each other there.
    """
    for k in range(n):
        pivot = A[k, k]
        if pivot <= DEPENDENT:
            for i in range(n):
                A[i, i] = -1.0
            return
        for i in range(n):
            if i != k:
                factor = A[i, k] / pivot
                for l in range(n):
                    if l != k:
                        A[i, l] -= factor * A[k, l]
                A[i, k] = -factor
        for l in range(n):
            if l != k:
                A[k, l] /= pivot
        A[k, k] = 1.0 / pivot


def _check_noise(noise: Any, n_samples: int, n_channels: int | None = None) -> Sigma:
    if isinstance(noise, Sigma):
        return noise
    sigma = as_numbers(noise, "noise")
    if sigma.ndim < 2:
        sigma = np.array(np.broadcast_to(sigma, n_samples)) if sigma.size in (1, n_samples) else sigma
    wanted = (n_samples,) if sigma.ndim < 2 else (n_samples, n_channels or sigma.shape[1])
    if sigma.shape != wanted or not (sigma[~np.isnan(sigma)] > 0).all():
        raise InputError(
            f"noise must be positive, one number, one per sample ({n_samples}) or one per entry, "
            f"but came with shape {np.shape(noise)}."
        )
    return Sigma(sigma)
