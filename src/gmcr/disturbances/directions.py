"""The strongest directions of a table, and how many stand out of noise."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gmcr.rank import marchenko_pastur
from gmcr.validation import BoolArray, FloatArray

MOST = 15  # directions that samples share
FILLINGS = 3
ROUNDING = 1e-12  # of the largest square, from which on one is more than rounding
USUAL = 1.4826  # standard deviations of noise to a median of absolute values


def n_shared(values: FloatArray, shape: tuple[int, int]) -> int:
    """Directions that stand out of noise."""
    return min(marchenko_pastur(values, shape)[0].count, MOST, len(values) // 3)


def shared(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The directions that stand out of noise: samples (samples, n), values (n,), channels (n, channels)."""
    wide = X.shape[0] < X.shape[1]
    squares, vectors = scipy.linalg.eigh(X @ X.T if wide else X.T @ X, check_finite=False)
    values = np.sqrt(np.maximum(squares[::-1], 0.0))
    n = min(n_shared(values, X.shape), int((squares > ROUNDING * squares[-1]).sum()))
    own, values = vectors[:, ::-1][:, :n], values[:n]
    return (own, values, (own.T @ X) / values[:, None]) if wide else ((X @ own) / values, values, own.T)


def filled(X: FloatArray, mask: BoolArray) -> FloatArray:
    """The table with masked entries as its own strongest directions have them; it comes with a guess in them."""
    for _ in range(FILLINGS if mask.any() else 0):
        U, values, Vt = shared(X)
        X = np.where(mask, (U * values) @ Vt, X) if len(values) else X
    return X


def strongest(X: FloatArray, n: int, gram: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """The n largest singular values and their directions (n, channels), by a Gram matrix.

    gram : that of the samples or that of the channels, where it is known; by default the smaller one
    """
    if n == 0:
        return np.zeros(0), np.zeros((0, X.shape[1]))
    if gram is None:
        gram = X @ X.T if X.shape[0] < X.shape[1] else X.T @ X
    wide = len(gram) == X.shape[0] != X.shape[1]
    at = len(gram) - n, len(gram) - 1
    squares, vectors = scipy.linalg.eigh(gram, subset_by_index=at, check_finite=False)
    there = squares > ROUNDING * squares[-1]
    values, vectors = np.sqrt(squares[there]), vectors[:, there]
    return values, (vectors.T @ X) / values[:, None] if wide else vectors.T


def spread(values: FloatArray) -> float:
    """The standard deviation of most of the values about zero, at least that of noise of size one."""
    return max(1.0, USUAL * float(np.median(np.abs(values)))) if values.size else 1.0
