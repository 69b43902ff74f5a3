"""Fits at a fixed small count, every component allowed in every sample: where real data usually live.

Coarse-to-fine search earns its keep when samples hold few of many components. Where all samples hold all of a
few, plain non-negative least squares in turn (HALS) gets there at once; the window criterion then finishes.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numba import njit
from scipy.optimize import linear_sum_assignment

from gmcr.validation import FloatArray, evenly, squared_norms
from gmcr.window.first_guess import spanning_rows, unit_rows
from gmcr.window.remembering import remembered

CONVERGED = 1e-8  # relative fall of the misfit over ten sweeps
STRONG = 0.1  # of the largest sample, or of the mean channel: what is weaker is too noisy to be called pure
OFFSET = 0.05  # of the largest mean: samples that are little more than noise are not pure
START_SWEEPS = 100  # with 50 or 200, the mean cosine over 300 simulated tables differs by 0.0001
NEAR_SWEEPS = 25  # with 50, the mean cosine over the same tables differs by 0.0002
CONE_SWEEPS = 30
FILLINGS = 30
LOWEST = -np.finfo(float).max
SPLITS = 5
SPLIT_SWEEPS = 100  # enough for the halves: what differs between them differs early


@njit(cache=True, fastmath=True)
def _in_turn(rows, wanted, gram, free):
    """Least squares of each row in turn, the others as they are, twice; in place.

    rows : (slots, n);  wanted : (slots, n) and gram : (slots, slots), the products of the other factor with the
    data and with itself;  free : whether rows may be negative
    """
    n_slots, n = rows.shape
    gradient = np.empty(n)
    for _ in range(2):
        for j in range(n_slots):
            if gram[j, j] <= 0.0:
                continue
            gradient[:] = wanted[j]
            for k in range(n_slots):  # whole rows at a time, which the compiler turns into vectors
                weight = gram[j, k]
                for i in range(n):
                    gradient[i] -= weight * rows[k, i]
            step, least = 1.0 / gram[j, j], LOWEST if free else 0.0
            for i in range(n):
                rows[j, i] = max(rows[j, i] + step * gradient[i], least)


@njit(cache=True, fastmath=True)
def _hals(X, C, S, n_sweeps, tolerance, signed):
    """Hierarchical alternating least squares of C and S, in place; with `signed`, S may be negative."""
    by_slot, by_channel = np.ascontiguousarray(C.T), np.ascontiguousarray(X.T)
    last = np.inf
    for sweep in range(n_sweeps):
        _in_turn(by_slot, S @ by_channel, S @ S.T, False)
        _in_turn(S, by_slot @ X, by_slot @ by_slot.T, signed)
        if sweep % 10 == 9:
            misfit = ((X - by_slot.T @ S) ** 2).sum()
            if last - misfit < tolerance * misfit:
                break
            last = misfit
    C[:] = by_slot.T


def factorise(
    X: FloatArray, S: FloatArray, n_sweeps: int, signed: bool = False, near: bool = False
) -> FloatArray:
    """The pool that non-negative least squares in turn reaches from S, unit norm: (slots, channels).

    signed : whether profiles may be negative, where amounts may not
    near : start with the amounts that S gives, which keeps its profiles unless the data contradict; the even
        amounts of otherwise let them move, so that different starts reach different pools of the same fit
    """
    X = np.ascontiguousarray(X)
    start = unit_rows(S if signed else np.maximum(S, 0.0))
    start = np.where(
        start.any(axis=1, keepdims=True), start, unit_rows(X[[int(np.argmax(squared_norms(X)))]])
    )
    S = factors(X, S, n_sweeps, signed, near)[1]
    return np.where(S.any(axis=1, keepdims=True), unit_rows(S), start)  # a vanished profile stays as it was


def factors(
    X: FloatArray, S: FloatArray, n_sweeps: int, signed: bool = False, near: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Amounts and profiles that non-negative least squares in turn reaches from S; arguments as above."""
    X, S = np.ascontiguousarray(X), np.ascontiguousarray(unit_rows(S if signed else np.maximum(S, 0.0)))
    amounts = scipy.linalg.lstsq(S.T, X.T, check_finite=False)[0].T if near else X @ S.T / len(S)
    C = np.ascontiguousarray(np.maximum(amounts, 0.0))
    _hals(X, C, S, n_sweeps, CONVERGED, signed)
    return C, S


def leading_parts(X: FloatArray, n: int) -> FloatArray:
    """Starting pool from the leading singular vectors' positive parts (NNDSVD, Boutsidis & Gallopoulos 2008).

    It depends smoothly on the samples, so that two halves of the same data start alike; and the pool for a
    smaller count is its beginning.
    """
    U, _, Vt = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
    S = np.empty((n, X.shape[1]))
    for j in range(n):
        parts = [(np.maximum(sign * U[:, j], 0), np.maximum(sign * Vt[j], 0)) for sign in (1, -1)]
        S[j] = max(parts, key=lambda part: np.linalg.norm(part[0]) * np.linalg.norm(part[1]))[1]
    return unit_rows(S)


@remembered
def telling_samples(X: FloatArray, n: int, count: int) -> np.ndarray:
    """Indices of n samples spread over all, and of an eighth as many that these explain least."""
    rows = evenly(len(X), n)
    V = leading_vectors(X[rows], count)
    outside = squared_norms(X) - squared_norms(X @ V.T)
    return np.union1d(rows, np.argpartition(-outside, n // 8)[: n // 8])


def leading_vectors(X: FloatArray, n: int) -> FloatArray:
    """Starting pool for signed data: the leading right singular vectors."""
    return scipy.linalg.svd(X, full_matrices=False, check_finite=False)[2][:n]


def filled(D: FloatArray, n: int) -> FloatArray:
    """The samples with missing entries (NaN) as their `n` leading singular parts have them, found in turn."""
    gaps = np.isnan(D)
    if not gaps.any():
        return D
    seen = ~gaps
    means = np.where(seen, D, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    X = np.where(gaps, means, D)
    for _ in range(FILLINGS):
        U, values, Vt = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
        X = np.where(gaps, (U[:, :n] * values[:n]) @ Vt[:n], D)
    return X


def sample_sizes(X: FloatArray, signed: bool) -> FloatArray:
    """How much signal each sample has: (samples,)."""
    return (np.abs(X) if signed else X).sum(axis=1)


@remembered
def starting_pools(X: FloatArray, n: int, signed: bool = False) -> list[FloatArray]:
    """Pools worth starting from at count n, refitted far from each other."""
    return [factorise(X, S, START_SWEEPS, signed) for S in extreme_pools(X, n, signed)]


@remembered
def near_pools(X: FloatArray, n: int, signed: bool = False) -> list[FloatArray]:
    """The same, refitted only as far as the data contradict: where samples or channels are pure, they stay."""
    return [factorise(X, S, NEAR_SWEEPS, signed, near=True) for S in extreme_pools(X, n, signed)]


def extreme_pools(X: FloatArray, n: int, signed: bool = False) -> list[FloatArray]:
    """Pools of n profiles as extreme as the samples have them: those that span the most, and pure channels'.

    The samples as they are, for large ones are the least disturbed; scaled, for a pure one may be small; the
    profiles that go with the channels that span the most, for no sample need be pure; and the purest samples by
    their spread, which no single odd channel makes extreme. Channels of both signs are not amounts of anything;
    there, samples that are no sum of each other, for opposite ones span the same.
    """
    size = sample_sizes(X, signed)
    # Near-empty samples point anywhere; they must not be taken for extreme mixtures.
    scaled = X / np.maximum(size, max(STRONG * size.max(), np.finfo(float).tiny))[:, None]
    pools = [X[spanning_rows(X, n)], X[spanning_rows(scaled, n)]]
    if signed:
        pools.append(X[_cone_rows(X, n)])
    else:
        scale = np.maximum(X.sum(axis=0), max(STRONG * X.sum(axis=0).mean(), np.finfo(float).tiny))
        pure = X[:, spanning_rows(X.T / scale[:, None], n)]
        pools.append(scipy.linalg.lstsq(pure, X, check_finite=False)[0])
        pools.append(X[_purest_rows(X, n)])
    return pools


def _purest_rows(X: FloatArray, n: int) -> list[int]:
    """Indices of `n` samples that are the purest by their spread over the channels (SIMPLISMA, Windig 1991).

    Each next one also by what those before leave of it.
    """
    mean, spread = X.mean(axis=1), X.std(axis=1)
    offset = OFFSET * mean.max()
    size = np.hypot(mean, spread + offset)
    scaled = X / size[:, None]
    weight, rows = (mean**2 + spread**2) / size**2, list[int]()
    for _ in range(n):
        purity = weight * spread / (mean + offset)
        purity[rows] = -1.0
        rows.append(int(np.argmax(purity)))
        basis = np.linalg.qr(scaled[rows].T)[0]
        weight = squared_norms(scaled) - squared_norms(scaled @ basis)
    return rows


def _cone_rows(X: FloatArray, n: int) -> list[int]:
    """Indices of `n` rows, each next one the least explained by non-negative amounts of those before."""
    rows = [int(np.argmax(squared_norms(X)))]
    while len(rows) < n:
        S = X[rows]
        C, B, G = np.zeros((len(X), len(rows))), X @ S.T, S @ S.T
        for _ in range(CONE_SWEEPS):
            for j in range(len(rows)):
                C[:, j] = np.maximum(C[:, j] + (B[:, j] - C @ G[j]) / max(G[j, j], np.finfo(float).tiny), 0.0)
        rows.append(int(np.argmax(squared_norms(X - C @ S))))
    return rows


@remembered
def reproducibility(X: FloatArray, most: int, seed: int, signed: bool = False) -> dict[int, float]:
    """How well the profiles at each count up to `most` come back from two random halves: 1 means exactly.

    The smallest cosine between matched profiles of the two halves, as the median over splits. It stays near one
    up to the true count and then collapses, because what is fitted beyond it differs from half to half. Signed
    data leave the profiles free to rotate; there it is the smallest cosine between the spaces they span.
    """
    rng = np.random.default_rng(seed)
    splits = [np.array_split(rng.permutation(len(X)), 2) for _ in range(SPLITS)]
    matches = [_worst_matches([X[half] for half in split], most, signed) for split in splits]
    return {count: float(np.median([match[count - 1] for match in matches])) for count in range(1, most + 1)}


def _worst_matches(halves: list[FloatArray], most: int, signed: bool) -> list[float]:
    """The smallest cosine between matched profiles of two halves, for each count."""
    starts = [(leading_vectors if signed else leading_parts)(half, most) for half in halves]
    worst = []
    for n in range(1, most + 1):
        if signed:
            worst.append(float(scipy.linalg.svdvals(starts[0][:n] @ starts[1][:n].T)[-1]))
            continue
        pools = [factorise(half, start[:n], SPLIT_SWEEPS) for half, start in zip(halves, starts, strict=True)]
        cosines = pools[0] @ pools[1].T
        worst.append(float(cosines[linear_sum_assignment(-cosines)].min()))
    return worst
