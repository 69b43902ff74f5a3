"""The pool update: weighted (non-negative) least squares of the profiles, supports and amounts held fixed."""

from __future__ import annotations

import numpy as np
from numba import get_num_threads, njit, prange

from gmcr.validation import FloatArray


@njit(cache=True, parallel=True, fastmath=True)
def _sweep(S, X, W, first, users, amounts, n_fixed, n_sweeps, signed, n_blocks):
    """Cyclic coordinate descent over slots, in place; each block of channels on its own.

    first, users, amounts : slot j is held by samples users[first[j]:first[j+1]], in these amounts
    W : (samples, channels) or (samples, 1) weights of the entries
    """
    n_slots, n_channels = S.shape
    per_entry = W.shape[1] > 1
    for block in prange(n_blocks):
        low, high = block * n_channels // n_blocks, (block + 1) * n_channels // n_blocks
        width = high - low
        residual = X[:, low:high].copy()
        top, bottom = np.empty(width), np.empty(width)
        for j in range(n_slots):
            for e in range(first[j], first[j + 1]):
                for l in range(width):
                    residual[users[e], l] -= amounts[e] * S[j, low + l]
        for _ in range(n_sweeps):
            for j in range(n_fixed, n_slots):
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
    n_sweeps: int = 4,
    n_fixed: int = 0,
    signed: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Improve every profile by a few sweeps of coordinate descent, then return to unit norm.

    Parameters
    ----------
    S : (slots, channels) unit-norm profiles; the first `n_fixed` are kept as they are
    X : (samples, channels) samples, any finite value where missing
    C : (samples, slots) concentrations
    W : (samples, 1) or (samples, channels) weights, 1/σ² and zero where missing

    Returns
    -------
    S : the new profiles; a slot that nobody holds is kept as it was
    sizes : (slots,) what they were before they were brought to unit norm, by which C is to be multiplied;
        zero for a slot that vanished
    """
    samples, slots = np.nonzero(C)
    amounts = C[samples, slots]
    order = np.argsort(slots, kind="stable")
    samples, slots, amounts = samples[order], slots[order], amounts[order]
    first = np.searchsorted(slots, np.arange(len(S) + 1))
    new = S.copy()
    n_blocks = max(1, min(S.shape[1] // 16, 4 * get_num_threads()))
    _sweep(new, X, W, first, samples, amounts, n_fixed, n_sweeps, signed, n_blocks)
    sizes = np.linalg.norm(new, axis=1)
    vanished = sizes == 0
    new[vanished] = S[vanished]
    return new / np.where(vanished, 1.0, sizes)[:, None], sizes
