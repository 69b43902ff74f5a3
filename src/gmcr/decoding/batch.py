"""Decoding many samples over one pool: what they share, chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.constraints import Constraints
from gmcr.decoding.subset import best_subsets
from gmcr.noise import Sigma
from gmcr.threads import product
from gmcr.validation import BoolArray, FloatArray, squared_norms

CHUNK = 16_384  # samples decoded at a time where they are copied: bounds the memory beside the input

_NO_START = np.zeros((0, 0), dtype=bool)
_NONE = np.zeros((0, 0))


def decode_arrays(
    D: FloatArray,
    S: FloatArray,
    sigma: Sigma,
    prices: FloatArray,
    constraints: Constraints,
    weights: FloatArray | None = None,
    start: BoolArray | None = None,
    removal: FloatArray | None = None,
    gram: FloatArray | None = None,
    products: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The decoder on checked arrays: concentrations, margins and misfits (both in noise units).

    removal : (samples, slots) of zeros, when given, is filled with what taking a selected slot away costs.
    gram, products : (slots, slots) S S' and (samples, slots) D S', where the caller has them already.

    Rows with a noise of their own per entry, with weights or with missing entries have a Gram matrix of
    their own; all others share one.
    """
    n_samples, n_slots = len(D), len(S)
    k_max = constraints.most(n_slots, D.shape[1])
    C = np.empty((n_samples, n_slots))
    margin = np.empty(n_samples)
    misfit = np.empty(n_samples)
    G = S @ S.T if gram is None else gram
    squares = squared_norms(D)
    own_gram = np.isnan(squares)
    own_gram[:] |= sigma.per_entry or weights is not None
    for rows in (np.flatnonzero(~own_gram), np.flatnonzero(own_gram)):
        # Consecutive rows that share a Gram matrix need no memory of their own: all of them at once.
        step = CHUNK if own_gram[rows].any() or not isinstance(_as_slice(rows), slice) else n_samples
        for first in range(0, len(rows), step):
            part = _as_slice(rows[first : first + step])
            X, scale, price = D[part], sigma[part], prices[part]
            own_start = _NO_START if start is None else start[part]
            own_removal = _NONE if removal is None else removal[part]
            if own_gram[rows[0]]:
                relative = 1.0 if weights is None else weights[part]
                W = np.where(np.isnan(X), 0.0, relative / np.square(scale.entries))
                X, variance = np.nan_to_num(X), np.ones(len(X))
                WX = W * X
                xx = np.einsum("ml,ml->m", WX, X)
            else:
                W, variance, WX, xx = _NONE, scale.values**2, X, squares[part]
            B = C[part]  # a view where rows are consecutive, else a copy
            if products is None or own_gram[rows[0]]:
                B = product(WX, S, B)
            else:
                B[:] = products[part]
            arrays, allowed = (B, xx, G, S, W, price * variance), (k_max, constraints.signed_amounts)
            margin[part], misfit[part] = best_subsets(*arrays, *allowed, own_start, variance, own_removal)
            if not isinstance(part, slice):
                C[part] = B
                if removal is not None:
                    removal[part] = own_removal
    return C, margin, misfit


def _as_slice(rows: np.ndarray) -> Any:
    """The same rows as a slice where they are consecutive, so that no copy is made of them."""
    consecutive = len(rows) > 0 and rows[-1] - rows[0] + 1 == len(rows)
    return slice(int(rows[0]), int(rows[-1]) + 1) if consecutive else rows
