"""How differently the profiles of a pool could look and fit as well: draws from the range that no fit chooses in.

The same range whose middle rotations.py takes, walked from a pool that is there. Cheap beside the exact ends of
the range (theory/ambiguity.py), and it says how likely what is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gmcr.validation import FloatArray
from gmcr.window.first_guess import unit_rows
from gmcr.window.rotations import ILL, aligned, continued, noise_left

CHAINS = 2  # from the pool itself, after
BURN_IN = 1  # batches of draws on the way,
BATCHES = 4  # so many that count


@dataclass(frozen=True)
class Spread:
    """Of each profile among pools that fit equally well.

    cosines : (slots,) with the profile of the pool, in the mean over draws; one where nothing else fits
    farthest : (slots, channels) the drawn profile that is the least like it
    """

    cosines: FloatArray
    farthest: FloatArray


def spread_of_pool(
    X: FloatArray, S: FloatArray, repeats: FloatArray, n_fixed: int = 0, signed: bool = False
) -> Spread | None:
    """The spread about a pool S (slots, channels) of unit norm; None where the data do not span its space.

    X : (samples, channels) without gaps;  repeats : (samples,) how often each counts
    n_fixed : the first so many profiles are known;  signed : whether profiles may be negative
    """
    n, weights = len(S), np.sqrt(repeats)[:, None]
    U, values, Vt = scipy.linalg.svd(X * weights, full_matrices=False, check_finite=False)
    if n >= len(values) or values[n - 1] <= ILL * values[0]:
        return None
    V, scores = Vt[:n], U[:, :n] * values[:n] / weights
    T = unit_rows(S @ V.T)
    if np.linalg.cond(T) * ILL >= 1.0:
        return None
    variance = noise_left(values, n, repeats.sum(), X.shape[1])
    total, n_draws = np.zeros(n), 0
    least, farthest = np.ones(n), T.copy()
    for number in range(CHAINS):
        chain = np.linalg.solve(T.T, scores.T), T @ V, np.random.default_rng(number)
        for batch in range(BURN_IN + BATCHES):
            draws = aligned(continued(chain, V, repeats, variance, n_fixed, signed), T)
            if batch < BURN_IN or not len(draws):
                continue
            cosines = np.einsum("nij,ij->ni", draws, T) / np.linalg.norm(draws, axis=2)
            total, n_draws = total + cosines.sum(axis=0), n_draws + len(draws)
            worst = cosines.argmin(axis=0)
            further = cosines[worst, np.arange(n)] < least
            least = np.where(further, cosines[worst, np.arange(n)], least)
            farthest[further] = draws[worst, np.arange(n)][further]
    if not n_draws:
        return None
    found = farthest @ V if signed else np.maximum(farthest @ V, 0.0)
    return Spread(np.clip(total / n_draws, 0.0, 1.0), unit_rows(found))
