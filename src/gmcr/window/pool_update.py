"""The pool update: weighted (non-negative) least squares of the profiles, supports and amounts held fixed.

From samples in memory by sweeps over what is left of them; from many by their sums alone, which is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from gmcr.threads import deal
from gmcr.validation import FloatArray
from gmcr.window.remembering import storable

LEAST = 16  # channels that one thread takes at a time: two cache lines,
WORTH_WHILE = 50_000  # and so many times of selections, less than which is not worth another thread
SWEEPS = 4


@njit(cache=True, nogil=True, fastmath=True)
def _sweep(S, X, W, first, users, amounts, free, n_sweeps, signed, low, high):
    """Cyclic coordinate descent over slots `free`, in place, for channels `low` to `high`; each is on its own.

    first, users, amounts : slot j is held by samples users[first[j]:first[j+1]], in these amounts
    W : (samples, channels) or (samples, 1) weights of the entries
    """
    n_slots = len(S)
    per_entry = W.shape[1] > 1
    width = high - low
    residual = X[:, low:high].copy()
    top, bottom = np.empty(width), np.empty(width)
    for j in range(n_slots):
        for e in range(first[j], first[j + 1]):
            for l in range(width):
                residual[users[e], l] -= amounts[e] * S[j, low + l]
    for _ in range(n_sweeps):
        for j in free:
            top[:] = 0.0
            bottom[:] = 0.0
            for e in range(first[j], first[j + 1]):
                m, c = users[e], amounts[e]
                if per_entry:
                    for l in range(width):
                        cw = c * W[m, low + l]
                        top[l] += cw * residual[m, l]
                        bottom[l] += cw * c
                else:
                    cw = c * W[m, 0]
                    for l in range(width):
                        top[l] += cw * residual[m, l]
                        bottom[l] += cw * c
            for l in range(width):
                old = S[j, low + l]
                new = old + top[l] / bottom[l] if bottom[l] > 0.0 else old
                if new < 0.0 and not signed:
                    new = 0.0
                S[j, low + l] = new
                top[l] = old - new
            for e in range(first[j], first[j + 1]):
                m, c = users[e], amounts[e]
                for l in range(width):
                    residual[m, l] += c * top[l]


@njit(cache=True)
def _by_slot(C):
    """Slot j is held by samples users[first[j]:first[j+1]], in these amounts."""
    n_samples, n_slots = C.shape
    first = np.zeros(n_slots + 1, np.int64)
    for m in range(n_samples):
        for j in range(n_slots):
            first[j + 1] += C[m, j] != 0.0
    first = np.cumsum(first)
    users, amounts, at = np.empty(first[-1], np.int64), np.empty(first[-1]), first.copy()
    for m in range(n_samples):
        for j in range(n_slots):
            if C[m, j] != 0.0:
                users[at[j]], amounts[at[j]] = m, C[m, j]
                at[j] += 1
    return first, users, amounts


@njit(cache=True)
def count_holders(C, repeats):
    """Number of samples that hold each slot, a sample counting `repeats` times: (slots,)."""
    holders = np.zeros(C.shape[1])
    for m in range(C.shape[0]):
        for j in range(C.shape[1]):
            if C[m, j] != 0.0:
                holders[j] += repeats[m]
    return holders


def update_pool(
    S: FloatArray,
    X: FloatArray,
    C: FloatArray,
    W: FloatArray,
    *,
    n_sweeps: int = SWEEPS,
    free: np.ndarray | None = None,
    signed: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Improve profiles by a few sweeps of coordinate descent, then return to unit norm.

    Parameters
    ----------
    S : (slots, channels) unit-norm profiles
    X : (samples, channels) samples, any finite value where missing
    C : (samples, slots) concentrations
    W : (samples, 1) or (samples, channels) weights, 1/σ² and zero where missing
    free : slots to improve, by default all; the others are kept as they are

    Returns
    -------
    S : the new profiles; a slot that nobody holds is kept as it was
    sizes : (slots,) what they were before they were brought to unit norm, by which C is to be multiplied;
        zero for a slot that vanished
    """
    free, new = np.arange(len(S)) if free is None else free, S.copy()
    first, users, amounts = _by_slot(C)
    least = max(LEAST, WORTH_WHILE // max(len(users), 1))
    deal(_sweep, S.shape[1], least, new, X, W, first, users, amounts, free, n_sweeps, signed)
    return _of_unit_norm(S, new, free)


@storable
@dataclass(frozen=True, eq=False)
class Sums:
    """All that the update needs of samples, however many there are: sums over them.

    gram : C'WC, (slots, slots, 1), or (slots, slots, channels) where the entries of a sample weigh differently
    products : C'WX, (slots, channels)
    """

    gram: FloatArray
    products: FloatArray

    @classmethod
    def of(cls, X: FloatArray, C: FloatArray, W: FloatArray) -> Sums:
        """Of samples; X, C, W as for `update_pool`, and X zero where an entry is missing."""
        n = C.shape[1]
        gram = np.empty((n, n, W.shape[1]))
        for j in range(n):
            held = np.flatnonzero(C[:, j])
            own = C[held, j : j + 1] * C[held, j:]
            gram[j, j:] = own.T @ W[held]
            gram[j:, j] = gram[j, j:]
        return cls(gram, C.T @ (W * X))

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.gram + other.gram, self.products + other.products)

    def __mul__(self, factor: float) -> Sums:
        return Sums(self.gram * factor, self.products * factor)


def update_from_sums(
    S: FloatArray, sums: Sums, *, n_sweeps: int = SWEEPS, free: np.ndarray | None = None, signed: bool = False
) -> tuple[FloatArray, FloatArray]:
    """What `update_pool` does, from the sums of the samples alone; arguments and what is returned as there."""
    free, new = np.arange(len(S)) if free is None else free, S.copy()
    for _ in range(n_sweeps):
        for j in free:
            top = sums.products[j] - (sums.gram[j] * new).sum(axis=0)
            bottom = sums.gram[j, j]
            step = np.divide(top, bottom, out=np.zeros(S.shape[1]), where=bottom > 0)
            new[j] = new[j] + step if signed else np.maximum(new[j] + step, 0.0)
    return _of_unit_norm(S, new, free)


def _of_unit_norm(S: FloatArray, new: FloatArray, free: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Refitted profiles at unit norm, those that vanished as they were in S; and their sizes before."""
    sizes = np.ones(len(S))
    sizes[free] = np.linalg.norm(new[free], axis=1)
    vanished = sizes == 0
    new[vanished] = S[vanished]
    new[free] /= np.where(vanished, 1.0, sizes)[free, None]
    return new, sizes
