"""Short non-negative fits at each count: what they leave, whether two agree, what one more pays by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.optimize import linear_sum_assignment

from gmcr.counting.ratios import TINY, at, digits, log_ratio
from gmcr.validation import FloatArray, evenly
from gmcr.window.dense_fit import factors
from gmcr.window.first_guess import spanning_rows, unit_rows

SWEEPS = 30
STEP_SWEEPS = 12  # of a fit that goes on from another
ENOUGH = 80  # samples and channels of a rehearsal
MOST_COMPARED = 10  # counts, beyond which fits are neither compared nor rehearsed
ROUNDING = 1e-15  # of all squares: what is left is no less


@dataclass(frozen=True)
class _Fits:
    """Short fits at the counts 1, 2, …: what each leaves, and numbers of its profiles; NaN where none is."""

    left: FloatArray
    alike: FloatArray
    share: FloatArray
    agreed: FloatArray
    free: FloatArray  # entries of its factors that are not zero, less one a component
    independent: FloatArray  # entries of what it leaves


def of_fits(X: FloatArray, values: FloatArray, most: int, seed: int) -> dict[str, FloatArray]:
    """What short fits leave over what singular values do, how that falls, and what speaks against the last one.

    values : singular values of X
    """
    total = float(np.square(X).sum())
    fits = _fits(X, most + 1, ROUNDING * total)
    best = np.maximum(np.cumsum(values[::-1] ** 2)[::-1], TINY)
    excess = log_ratio(fits.left, np.maximum(at(best, most + 1, 1), ROUNDING * total))
    # Evidence after Laplace, −2 log likelihood and log n for every free entry, at the n of the larger count.
    n = np.maximum(fits.independent[1:], 2.0)
    gain = _signed_log(n * log_ratio(fits.left[:-1], fits.left[1:]) - np.diff(fits.free) * np.log(n))
    by_chance = _rehearsed(X, most, seed)
    return {
        "fit over rank": excess[:most],
        "fall of the fit": log_ratio(fits.left[:most], fits.left[1:]),
        "most alike profiles": digits(fits.alike[:most]),
        "smallest share": log_ratio(fits.share[:most], 1.0),
        "short fits agree": digits(fits.agreed[:most]),
        "one more is worth": gain[:most],
        "rehearsed": by_chance[:most],
    }


def _fits(X: FloatArray, most: int, least: float) -> _Fits:
    """A fit at each count from the samples that span the most, and one from the channels that do beside it."""
    n = min(most, *X.shape)
    rows = spanning_rows(X, n)
    channels = spanning_rows((X / np.maximum(np.abs(X).sum(axis=0), TINY)).T, n)
    left, alike, share, agreed, free, independent = np.full((6, most), np.nan)
    for k in range(1, n + 1):
        C, S = factors(X, X[rows[:k]], SWEEPS)
        residual = X - C @ S
        left[k - 1] = max(float(np.square(residual).sum()), least)
        free[k - 1] = np.count_nonzero(C) + np.count_nonzero(S) - k
        independent[k - 1] = _independent(residual)
        C, S = C * np.linalg.norm(S, axis=1), unit_rows(S)
        alike[k - 1] = np.max(S @ S.T - np.eye(k)) if k > 1 else 0.0
        sizes = np.square(C).sum(axis=0)
        share[k - 1] = sizes.min() / max(sizes.max(), TINY)
        if k > MOST_COMPARED:
            continue
        start = scipy.linalg.lstsq(X[:, channels[:k]], X, check_finite=False)[0]
        other = unit_rows(factors(X, np.maximum(start, 0.0), SWEEPS)[1])
        cosines = S @ other.T
        agreed[k - 1] = cosines[linear_sum_assignment(-cosines)].min()
    return _Fits(left, alike, share, agreed, free, independent)


def _independent(residual: FloatArray) -> float:
    """Entries of a residual that are as good as independent: fewer where neighbouring channels are correlated."""
    pairs = float((residual[:, 1:] * residual[:, :-1]).sum())
    alike = np.clip(pairs / max(float(np.square(residual).sum()), TINY), 0.0, 0.95)
    return float(residual.size * (1.0 - alike) / (1.0 + alike))


def _rehearsed(X: FloatArray, most: int, seed: int) -> FloatArray:
    """How much more one component pays than it would by chance: (counts,), logarithms.

    Rehearsed from the fit of each count: what it leaves is put back with every sample's moved along the channels
    by chance, so that it is as large and as smooth as before but nothing that samples share; and one profile
    more is fitted to that too.
    """
    rng = np.random.default_rng(seed)
    X = X[evenly(len(X), ENOUGH)][:, evenly(X.shape[1], ENOUGH)]
    places, n = np.arange(X.shape[1]), min(most, MOST_COMPARED, min(X.shape) - 1)
    found = np.full(most, np.nan)
    rows = spanning_rows(X, n)
    for k in range(1, n + 1):
        C, S = factors(X, X[rows[:k]], SWEEPS)
        fit = C @ S
        moves = rng.integers(0, len(places), (len(X), 1))
        moved = np.take_along_axis(X - fit, (places + moves) % len(places), 1)
        paid = [_one_more(fit + left, S) for left in (X - fit, moved)]
        found[k - 1] = float(log_ratio(max(paid[0], ROUNDING), max(paid[1], ROUNDING)))
    return found


def _one_more(X: FloatArray, S: FloatArray) -> float:
    """By how much the logarithm of what is left falls with one profile more: the sample explained least."""
    C, S = factors(X, S, STEP_SWEEPS, near=True)
    residual = X - C @ S
    before = float(np.square(residual).sum())
    worst = np.maximum(residual[int(np.argmax(np.square(residual).sum(axis=1)))], 0.0)
    if not worst.any():
        return 0.0
    C, S = factors(X, np.vstack([S, worst]), STEP_SWEEPS, near=True)
    return float(log_ratio(before, float(np.square(X - C @ S).sum())))


def _signed_log(values: FloatArray) -> FloatArray:
    return np.sign(values) * np.log1p(np.abs(values))
