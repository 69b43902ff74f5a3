"""What is left of each sample by what the others span: nothing can hide by being a direction of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from gmcr.disturbances.directions import n_shared, spread, strongest
from gmcr.disturbances.noise import Scales
from gmcr.validation import BoolArray, FloatArray

PARTS = 10  # that the samples are divided into; each is held against the others
HIDDEN = 0.05  # of a direction, that must be seen of it to tell where a sample is along it
BINS = 20  # of entries by how much is explained of them; noise may go with it


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the samples against all others.

    rows : which;  V : (n, channels) the directions of the others
    errors : (n,) variances of the entries of these, where those of the noise are one
    along : (rows, n) where the samples are along the directions
    explained, left : (rows, channels) of them by these directions, and the rest
    noise : (rows, channels) standard deviations of the noise in them
    inflated : (rows, 1) how much larger than by noise alone it was, as directions have errors too; taken out
    """

    rows: NDArray[np.intp]
    V: FloatArray
    errors: FloatArray
    along: FloatArray
    explained: FloatArray
    left: FloatArray
    noise: FloatArray
    inflated: FloatArray


def held_out(X: FloatArray, scales: Scales, mask: BoolArray, more: int = 0) -> list[Part]:
    """All samples of a complete table in parts; entries that are masked are left with nothing.

    Samples are dealt out in turn, so that neighbours in an order are in different parts. What is left of one has
    the errors of the directions too, the more the further it is out along them.

    more : directions beyond those that stand out of noise
    """
    scaled = X / (scales.samples * scales.channels)
    m, parts = len(X), []
    wide = m < X.shape[1]
    gram = scaled @ scaled.T if wide else scaled.T @ scaled
    squares = scipy.linalg.eigvalsh(gram, check_finite=False)[::-1]
    n = min(n_shared(np.sqrt(np.maximum(squares, 0.0)), X.shape) + more, m // 3)
    for part in range(min(PARTS, m)):
        rows = np.arange(part, m, min(PARTS, m))
        others = np.delete(np.arange(m), rows)
        of_others = gram[np.ix_(others, others)] if wide else gram - scaled[rows].T @ scaled[rows]
        values, V = strongest(scaled[others], n, of_others)
        along = _along(scaled[rows], V, mask[rows])
        errors = 1.0 / np.square(values)
        inflated = np.sqrt(1.0 + np.square(along) @ errors)[:, None]
        left = np.where(mask[rows], 0.0, scaled[rows] - along @ V) / inflated
        parts.append(Part(rows, V, errors, along, along @ V, left, scales.entries[rows], inflated))
    return _levelled_by_size(parts)


def errors_in_both(part: Part) -> FloatArray:
    """What is left of samples along a shape for no other reason than that the errors of the directions are in
    it and in what they leave of the shape: (rows, n), by how much the shape lies along each direction.

    Where directions are known badly, a component's own profile would stand out.
    """
    noise = np.square(part.noise).sum(axis=1, keepdims=True)
    return np.asarray(part.along * part.errors * noise / part.inflated)


def _along(X: FloatArray, V: FloatArray, mask: BoolArray) -> FloatArray:
    """Where samples are along directions, as their entries that are not masked say: (samples, n)."""
    out = X @ V.T
    for m in np.flatnonzero(mask.any(axis=1)):
        out[m] = np.linalg.lstsq(V[:, ~mask[m]].T, X[m, ~mask[m]], rcond=HIDDEN)[0]
    return out


def _levelled_by_size(parts: list[Part]) -> list[Part]:
    """The noise as the spread of what is left says, among entries of which as much is explained."""
    sizes = np.abs(np.concatenate([one.explained.ravel() for one in parts]))
    left = np.concatenate([(one.left / one.noise).ravel() for one in parts])
    edges = np.quantile(sizes, np.linspace(0.0, 1.0, BINS + 1)[1:-1])
    bins = np.searchsorted(edges, sizes)
    spreads = np.array([spread(left[bins == at]) for at in range(BINS)])
    return [
        replace(one, noise=one.noise * spreads[np.searchsorted(edges, np.abs(one.explained))])
        for one in parts
    ]
