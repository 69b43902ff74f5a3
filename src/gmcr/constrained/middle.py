"""The middle of all pools that fit equally well and obey: window/rotations.py with constraints.

C S stays the same when profile j becomes s_j + ε s_i and amount i becomes c_i − ε c_j. What columns must obey
limits such ε, and what is left is a range that no fit can choose from. As there, its mean is taken: of draws in
which a column is as unlikely as noise makes its distance from the nearest one that obeys.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numba import njit
from scipy.optimize import linear_sum_assignment

from gmcr.constrained.factors import Factor
from gmcr.constrained.walls import distance, walls_of
from gmcr.validation import FloatArray
from gmcr.window.first_guess import unit_rows
from gmcr.window.rotations import (
    FARTHEST,
    ILL,
    MANY,
    PRIOR_SAMPLES,
    SETTLED,
    SIGNED_PRIOR_SAMPLES,
    noise_left,
    rotate,
    to_unit_norm,
)

SWEEPS = 600  # over all pairs of components from each start, up to MANY components
BURN_IN = 90  # sweeps on the way from where a chain starts
THINNING = 3  # sweeps to a draw that is kept


def middle_of(
    X: FloatArray, weight: FloatArray, starts: list[FloatArray], of_C: Factor, of_S: Factor
) -> FloatArray:
    """The mean of the pools that fit the samples X equally well and obey: (components, channels), unit norm.

    weight : (samples,);  starts : pools to start from, the first of which is returned where the data do not
        settle the space of the profiles
    """
    n, weights = len(starts[0]), np.sqrt(weight)[:, None]
    U, values, Vt = scipy.linalg.svd(X * weights, full_matrices=False, check_finite=False)
    if n >= len(values) or values[n - 1] <= max(ILL * values[0], SETTLED * values[n]):
        return starts[0]
    V, scores = Vt[:n], U[:, :n] * values[:n] / np.where(weights > 0, weights, 1.0)
    variance = noise_left(values, n, float(weight.sum()), X.shape[1])
    on_C, on_S = walls_of(of_C), walls_of(of_S)
    signed = bool((of_S.lower < 0).any())
    prior = (SIGNED_PRIOR_SAMPLES if signed else PRIOR_SAMPLES) / len(X)
    still = np.arange(n) < of_S.n_fixed
    total, mean = np.zeros((n, n)), unit_rows(starts[0] @ V.T)
    draws = np.empty((max(int(SWEEPS / THINNING * min(MANY / n, 1.0) ** 2), 1), n, n))
    kept = slice(len(draws) * BURN_IN // SWEEPS, None)
    for number, S in enumerate(starts):
        T = unit_rows(S @ V.T)
        if np.linalg.cond(T) * ILL >= 1.0:
            continue
        amounts, pool = np.linalg.solve(T.T, scores.T), T @ V
        amounts, pool = amounts[:, on_C.order], pool[:, on_S.order]
        random = np.random.default_rng(number)
        try:
            _draw(
                amounts, pool, V[:, on_S.order], variance, prior, still, on_C.walls, on_S.walls, random, draws
            )
        except np.linalg.LinAlgError:
            continue
        own = draws[kept][np.isfinite(draws[kept]).all(axis=(1, 2))]
        if len(own):
            added = unit_rows(own.mean(axis=0))
            if of_C.is_uniform and of_S.is_uniform:
                added = added[linear_sum_assignment(-(mean @ added.T))[1]]
            total += added
            mean = unit_rows(total)
    if not total.any():
        return starts[0]
    S = unit_rows(mean @ V if signed else np.maximum(mean @ V, 0.0))
    return np.where(S.any(axis=1, keepdims=True) & ~still[:, None], S, starts[0])


@njit(cache=True, nogil=True, error_model="numpy")
def _draw(C, S, V, variance, prior, still, on_C, on_S, random, draws):
    """Slice sampling of one ε after the other; C : (slots, samples), S : (slots, channels), both in place."""
    n_slots = len(S)
    width = np.full((n_slots, n_slots), 0.1)
    for sweep in range(len(draws) * THINNING):
        # (S S')⁻¹ and (C C')⁻¹: the covariances of amounts and of profiles' entries, in units of the variance.
        G, H = np.linalg.inv(S @ S.T) * variance, np.linalg.inv(C @ C.T) * variance
        for j in range(n_slots):
            if still[j]:
                continue
            for i in range(n_slots):
                if i != j:
                    step = _slice(C, S, G, H, i, j, prior, on_C, on_S, width[i, j], random)
                    width[i, j] = 0.9 * width[i, j] + 0.1 * (3.0 * abs(step) + 1e-6)
                    rotate(C, S, G, H, i, j, step)
            to_unit_norm(C, S, G, H, j)
        draws[sweep // THINNING] = S @ V.T  # the last of so many


@njit(cache=True, nogil=True, error_model="numpy")
def _slice(C, S, G, H, i, j, prior, on_C, on_S, width, random):
    """A draw of ε by slice sampling with stepping out (Neal 2003)."""
    level = _cost(0.0, C, S, G, H, i, j, prior, on_C, on_S) - np.log(1.0 - random.random())
    low = -width * random.random()
    high = low + width
    while low > -FARTHEST and _cost(low, C, S, G, H, i, j, prior, on_C, on_S) <= level:
        low -= width
    while high < FARTHEST and _cost(high, C, S, G, H, i, j, prior, on_C, on_S) <= level:
        high += width
    for _ in range(60):
        step = low + (high - low) * random.random()
        if _cost(step, C, S, G, H, i, j, prior, on_C, on_S) <= level:
            return step
        if step < 0.0:
            low = step
        else:
            high = step
    return 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _cost(step, C, S, G, H, i, j, prior, on_C, on_S):
    """−log density of the pool with s_j + ε s_i and c_i − ε c_j, up to a constant."""
    noise = np.sqrt(G[i, i] - 2.0 * step * G[i, j] + step * step * G[j, j])
    c = (C[i] - step * C[j]) / noise
    logs = np.log(np.maximum(c, 0.0) + 1.0).sum() + len(c) * np.log(noise)
    spread = H[j, j] + 2.0 * step * H[i, j] + step * step * H[i, i]
    outside = distance(S[j] + step * S[i], j, on_S) / spread
    return 0.5 * distance(c, i, on_C) + 0.5 * outside + prior * logs
