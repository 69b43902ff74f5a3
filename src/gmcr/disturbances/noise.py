"""How large the noise of samples and channels is, told so that a disturbance does not pass for noise.

A sample's own residuals tell its noise badly where they hold a disturbance, and a channel's where a direction has
taken most of them. So what samples of about the same size have in common counts as much as there is of it: each
is drawn to its neighbours by size, the more so the less all differ from theirs beyond chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter
from scipy.optimize import nnls

from gmcr.disturbances.directions import USUAL, shared, strongest
from gmcr.validation import BoolArray, FloatArray

FAR, MOST_TAKEN = 8.0, 8  # times the usual residual of sample and channel; directions taken out for that
ROUNDS, CLIPPINGS = 4, 3
CLIPPED = 9.0  # times the variance, at which squares are clipped
OF_CLIPPED = 0.9733  # what that leaves of the variance of normal noise: E min(z², 9)
LEAST_LEFT, LEAST_POWER = 0.02, 1e-4  # of the noise of a sample, and of the usual noise
BINS, LARGEST = (
    20,
    20,
)  # of entries by signal, ever smaller towards the largest ones, of which so many are one
ENOUGH = 200  # entries of a bin; beyond them it is the law's form that is wrong, not chance
WEIGHTINGS = 4
HIDDEN = 0.05  # of an offset that is left by what samples share, below which it is theirs
NEIGHBOURS = 5, 0.1  # to either side by size: at least so many, at least that share of all


@dataclass(frozen=True, eq=False)
class Scales:
    """The noise of a table as a product of samples (samples, 1) and channels (1, channels), which leaves what
    samples share as it is, and of entries: how far the noise of each is from that product."""

    samples: FloatArray
    channels: FloatArray
    entries: FloatArray

    def turned(self) -> Scales:
        """Channels for samples."""
        return Scales(self.channels.T, self.samples.T, self.entries.T)

    def of_samples(self, rows: NDArray[np.intp]) -> Scales:
        """Those of some samples, or of all in another order."""
        return Scales(self.samples[rows], self.channels, self.entries[rows])


def noise_scales(X: FloatArray) -> Scales:
    """The noise of a complete table: a law of the signal, and what samples and channels differ from it.

    What a channel reads too much in every sample is no noise.
    """
    usual = _without_far_entries(X)
    rows: FloatArray = np.zeros((len(X), 1))
    columns: FloatArray = np.zeros((1, X.shape[1]))
    law: FloatArray = np.zeros(X.shape)
    product = rows, columns  # logarithms all
    for _ in range(ROUNDS):
        scales = np.exp(product[0] + product[1])
        U, values, Vt = shared(usual / scales)
        signal, n = (U * values) @ Vt * scales, len(values)
        beside = np.column_stack([U, _offset_beside(U, rows)])
        fit = beside @ (beside.T @ (usual / scales)) * scales
        taken = [np.square(vectors).sum(axis=1) for vectors in (beside, Vt.T)]
        share = [np.maximum(1.0 - one, LEAST_LEFT) for one in taken]
        squares = np.square(usual - fit) / np.outer(*share)
        whole = np.square(X - fit) / np.outer(*share)  # large signals may have noise that looks far off
        law = _law_of_signal(whole / np.exp(2.0 * (rows + columns)), np.abs(signal))
        for axis in (1, 0):
            other = columns if axis else rows
            told = 0.5 * np.log(_power(squares / np.exp(2.0 * (law + other)), axis))
            sizes = np.linalg.norm(signal, axis=axis)
            blind = taken[1 - axis] > 1.0 - LEAST_LEFT
            freedom = max(X.shape[axis] - n, 1)
            drawn = _drawn_to_neighbours(told.ravel(), sizes, freedom, blind).reshape(told.shape)
            rows, columns = (drawn, columns) if axis else (rows, drawn)
        middle = law.mean(axis=1, keepdims=True), law.mean(axis=0, keepdims=True) - law.mean()
        product = rows + middle[0], columns + middle[1]
    entries = np.exp(law + rows + columns - product[0] - product[1])
    return Scales(np.exp(product[0]), np.exp(product[1]), entries)


def _offset_beside(U: FloatArray, rows: FloatArray) -> FloatArray:
    """The direction of an offset that is the same in all samples, beside what they share: (samples, 0 or 1)."""
    offset = np.exp(-rows) / np.linalg.norm(np.exp(-rows))
    offset = offset - U @ (U.T @ offset)
    size = float(np.linalg.norm(offset))
    return offset / size if size > HIDDEN else offset[:, :0]


def _law_of_signal(squares: FloatArray, signal: FloatArray) -> FloatArray:
    """Logarithms of the noise by how large the signal is, a constant and parts that go with it: as `signal`."""
    order = np.argsort(signal, axis=None)
    edges = np.unique(np.round(signal.size * (1.0 - np.geomspace(1.0, LARGEST / signal.size, BINS + 1))))
    parts = [part for part in np.split(order, edges[1:].astype(int)) if len(part)]
    top = max(float(signal.max()), np.finfo(float).tiny)
    at = np.array([signal.flat[part].mean() for part in parts]) / top
    seen = np.array([USUAL**2 * np.median(squares.flat[part]) for part in parts])
    seen = np.maximum(seen, max(LEAST_POWER * float(np.median(seen)), np.finfo(float).tiny))
    many = np.sqrt([min(len(part), ENOUGH) for part in parts])
    powers, law_there = at[:, None] ** np.arange(3), seen
    for _ in range(WEIGHTINGS):  # by what the law says: what is small by chance would weigh too much
        weights = many / law_there
        terms = nnls(weights[:, None] * powers, weights * seen)[0]
        law_there = np.maximum(powers @ terms, LEAST_POWER * float(np.median(seen)))
    law = terms[0] + (signal / top) * (terms[1] + (signal / top) * terms[2])
    return np.asarray(0.5 * np.log(np.maximum(law, LEAST_POWER * float(np.median(seen)))))


def _power(squares: FloatArray, axis: int) -> FloatArray:
    """Mean squares along an axis; a single one far off says little."""
    power = squares.mean(axis=axis, keepdims=True)
    for _ in range(CLIPPINGS):
        power = np.minimum(squares, CLIPPED * power).mean(axis=axis, keepdims=True) / OF_CLIPPED
    return np.asarray(np.maximum(power, max(LEAST_POWER * float(np.median(power)), np.finfo(float).tiny)))


def _drawn_to_neighbours(logs: FloatArray, sizes: FloatArray, freedom: int, blind: BoolArray) -> FloatArray:
    """Logarithms of noise, each told with so many degrees of freedom, with what those of like sizes say.

    blind : those that are a direction of their own, of which nothing is left over: their neighbours say it alone
    """
    order = np.argsort(sizes, kind="stable")
    reach = max(NEIGHBOURS[0], int(NEIGHBOURS[1] * len(logs)))
    near = np.empty_like(logs)
    near[order] = median_filter(logs[order], size=2 * reach + 1, mode="reflect")
    own = logs - near
    chance = 1.0 / (2.0 * freedom)
    beyond = max((USUAL * float(np.median(np.abs(own)))) ** 2 - chance, 0.0)
    return near + np.where(blind, 0.0, own * beyond / (beyond + chance))


def _without_far_entries(X: FloatArray) -> FloatArray:
    """The table for a look at its noise: entries far off, at any number of directions, are as those say."""
    Y = X
    for n in range(1, min(MOST_TAKEN, min(X.shape) // 3) + 1):
        _, V = strongest(Y, n)
        fit = (Y @ V.T) @ V
        left = np.abs(X - fit)
        by_row, by_channel = (USUAL * np.median(left, axis=axis, keepdims=True) for axis in (1, 0))
        Y = np.where(left > FAR * np.maximum(by_row, by_channel), fit, X)
    return Y
