"""What is left of each sample by what the others span: nothing can hide by being a direction of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from gmcr.rank import levelled, marchenko_pastur
from gmcr.validation import BoolArray, FloatArray

PARTS = 10  # that the samples are divided into; each is held against the others
MOST = 15  # directions that samples share
FAR, MOST_TAKEN = 8.0, 8  # times the usual residual of sample and channel; directions taken out for that
FILLINGS = 3
ROUNDING = 1e-12  # of the largest square, from which on one is more than rounding
HIDDEN = 0.05  # of a direction, that must be seen of it to tell where a sample is along it
BINS = 20  # of entries by how much is explained of them; noise may go with it
USUAL = 1.4826  # standard deviations of noise to a median of absolute values


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the samples against all others.

    rows : which;  V : (n, channels) the directions of the others
    explained, left : (rows, channels) of them by these directions, the rest in standard deviations
    """

    rows: NDArray[np.intp]
    V: FloatArray
    explained: FloatArray
    left: FloatArray


def n_shared(values: FloatArray, shape: tuple[int, int]) -> int:
    """Directions that stand out of noise."""
    return min(marchenko_pastur(values, shape)[0].count, MOST, len(values) // 3)


def filled(X: FloatArray, mask: BoolArray) -> FloatArray:
    """The table with masked entries as its own strongest directions have them; it comes with a guess in them."""
    for _ in range(FILLINGS if mask.any() else 0):
        U, values, Vt = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
        n = max(n_shared(values, X.shape), 1)
        X = np.where(mask, (U[:, :n] * values[:n]) @ Vt[:n], X)
    return X


def in_noise_units(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A complete table over its noise, and what its samples (samples, 1) and channels (1, channels) are
    divided by."""
    usual = _without_far_entries(X)
    scaled = levelled(usual)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(scaled != 0, usual / scaled, np.nan)
    by_channel = np.nan_to_num(np.nanmedian(factors, axis=0, keepdims=True), nan=1.0)
    by_sample = np.nan_to_num(np.nanmedian(factors / by_channel, axis=1, keepdims=True), nan=1.0)
    return X / (by_sample * by_channel), by_sample, by_channel


def _without_far_entries(X: FloatArray) -> FloatArray:
    """The table for a look at its noise: entries far off, at any number of directions, are as those say."""
    Y = X
    for n in range(1, min(MOST_TAKEN, min(X.shape) // 3) + 1):
        _, V = _strongest(Y, n)
        fit = (Y @ V.T) @ V
        left = np.abs(X - fit)
        by_row, by_channel = (USUAL * np.median(left, axis=axis, keepdims=True) for axis in (1, 0))
        Y = np.where(left > FAR * np.maximum(by_row, by_channel), fit, X)
    return Y


def held_out(scaled: FloatArray, mask: BoolArray) -> list[Part]:
    """All samples of a table in noise units, in parts; entries that are masked are left with nothing.

    Samples are dealt out in turn, so that neighbours in an order are in different parts. What is left of one has
    the errors of the directions too, the more the further it is out along them.
    """
    m, parts = len(scaled), []
    n = n_shared(scipy.linalg.svdvals(scaled, check_finite=False), scaled.shape)
    for part in range(min(PARTS, m)):
        rows = np.arange(part, m, min(PARTS, m))
        values, V = _strongest(np.delete(scaled, rows, axis=0), n)
        along = _along(scaled[rows], V, mask[rows])
        leverage = np.square(along / values).sum(axis=1, keepdims=True)
        left = np.where(mask[rows], 0.0, scaled[rows] - along @ V) / np.sqrt(1.0 + leverage)
        parts.append(Part(rows, V, along @ V, left))
    return _levelled_by_size(parts)


def _strongest(X: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """The n largest singular values and their directions (n, channels), by the smaller of two Gram matrices."""
    wide = X.shape[0] < X.shape[1]
    gram = X @ X.T if wide else X.T @ X
    if n == 0:
        return np.zeros(0), np.zeros((0, X.shape[1]))
    at = len(gram) - n, len(gram) - 1
    squares, vectors = scipy.linalg.eigh(gram, subset_by_index=at, check_finite=False)
    there = squares > ROUNDING * squares[-1]
    values, vectors = np.sqrt(squares[there]), vectors[:, there]
    return values, (vectors.T @ X) / values[:, None] if wide else vectors.T


def _along(X: FloatArray, V: FloatArray, mask: BoolArray) -> FloatArray:
    """Where samples are along directions, as their entries that are not masked say: (samples, n)."""
    out = X @ V.T
    for m in np.flatnonzero(mask.any(axis=1)):
        out[m] = np.linalg.lstsq(V[:, ~mask[m]].T, X[m, ~mask[m]], rcond=HIDDEN)[0]
    return out


def _levelled_by_size(parts: list[Part]) -> list[Part]:
    """What is left, over its spread among entries of which as much is explained."""
    sizes, left = (
        np.concatenate([getattr(one, name).ravel() for one in parts]) for name in ("explained", "left")
    )
    sizes = np.abs(sizes)
    edges = np.quantile(sizes, np.linspace(0.0, 1.0, BINS + 1)[1:-1])
    bins = np.searchsorted(edges, sizes)
    spreads = np.array([spread(left[bins == at]) for at in range(BINS)])
    return [
        Part(
            one.rows, one.V, one.explained, one.left / spreads[np.searchsorted(edges, np.abs(one.explained))]
        )
        for one in parts
    ]


def spread(values: FloatArray) -> float:
    """The standard deviation of most of the values about zero, at least that of noise of size one."""
    return max(1.0, USUAL * float(np.median(np.abs(values)))) if values.size else 1.0
