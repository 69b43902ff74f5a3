"""The sweep tableau of one sample: what is known of its support A, and of every slot beside it.

With G = S S' and b = S x, a support of n slots (P = G_AA⁻¹) has

    c = P b_A             concentrations            W = P G_A:            (n, slots)
    r = b − G_:A c        residual correlations     q = diag(G − G_:A W)  what A leaves of each slot

in which every single change has a closed form:

    add j           lowers the misfit by r_j² / q_j
    drop i          raises it by c_i² / P_ii
    exchange i, j   raises it by c_i² / P_ii − (r_j + c_i W_ij / P_ii)² / (q_j + W_ij² / P_ii)

The decoder (subset.py) searches with it, and confidence weighs a support's neighbours with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from gmcr.validation import FloatArray

# A slot whose part outside the span of the support is smaller than this share of it adds nothing.
DEPENDENT = 1e-10
# What a slot with nothing in the weighted channels counts as having there, so that 0/0 never arises.
TINY = 1e-290
# No divisor here is zero; checking each one for it would keep the loops from being vectorised.
COMPILED: dict[str, Any] = {"cache": True, "error_model": "numpy"}


class Tableau(NamedTuple):
    """Room for supports of up to `cap` slots; the first n places are in use.

    idx : (cap,) the slots of the support;  c : (cap,);  r, q : (slots,)
    rows : (cap, slots) Gram rows of the support;  W : (cap, slots);  P : (cap, cap);  schur : (slots,) spare
    """

    idx: np.ndarray
    c: FloatArray
    r: FloatArray
    q: FloatArray
    rows: FloatArray
    W: FloatArray
    P: FloatArray
    schur: FloatArray


class Gram(NamedTuple):
    """Where Gram rows come from: the shared matrix, or a sample's own where its entries are weighted.

    G : (slots, slots);  S : (slots, channels), read only where weighted;  weights : (channels,), or (0,) for none
    """

    G: FloatArray
    S: FloatArray
    weights: FloatArray


@njit(**COMPILED)
def new_tableau(cap, n_slots):
    return Tableau(
        np.empty(cap, np.int64),
        np.empty(cap),
        np.empty(n_slots),
        np.empty(n_slots),
        np.empty((cap, n_slots)),
        np.empty((cap, n_slots)),
        np.empty((cap, cap)),
        np.empty(n_slots),
    )


@njit(**COMPILED, inline="never")
def enter(j, n, tableau):
    """Sweep slot j, whose Gram row is rows[n], into a support of n slots."""
    idx, c, r, q, rows, W, P, schur = tableau
    n_slots = r.size
    pivot = q[j]
    for k in range(n_slots):
        schur[k] = rows[n, k]
    for i in range(n):
        w = W[i, j]
        for k in range(n_slots):
            schur[k] -= w * rows[i, k]
    cj = r[j] / pivot
    for k in range(n_slots):
        W[n, k] = schur[k] / pivot
        r[k] -= schur[k] * cj
        q[k] -= schur[k] * schur[k] / pivot
    for i in range(n):
        w = W[i, j]
        P[i, n] = P[n, i] = -w / pivot
        c[i] -= w * cj
    for i in range(n):
        w = W[i, j]
        for l in range(n):
            P[i, l] -= w * P[n, l]
        for k in range(n_slots):
            W[i, k] -= w * W[n, k]
    P[n, n] = 1.0 / pivot
    c[n] = cj
    idx[n] = j
    r[j] = 0.0
    q[j] = 0.0


@njit(**COMPILED, inline="never")
def leave(i, n, tableau):
    """Sweep the slot at position i out of a support of n slots; the last position moves into its place."""
    idx, c, r, q, rows, W, P, _ = tableau
    n_slots = r.size
    pivot = P[i, i]
    ci = c[i] / pivot
    for k in range(n_slots):
        r[k] += ci * W[i, k]
        q[k] += W[i, k] * W[i, k] / pivot
    for l in range(n):
        if l != i:
            p = P[l, i] / pivot
            c[l] -= p * c[i]
            for k in range(n_slots):
                W[l, k] -= p * W[i, k]
            for m in range(n):
                if m != i:
                    P[l, m] -= p * P[i, m]
    last = n - 1
    if i != last:
        idx[i] = idx[last]
        c[i] = c[last]
        for k in range(n_slots):
            rows[i, k] = rows[last, k]
            W[i, k] = W[last, k]
        for m in range(n):
            P[i, m] = P[last, m]
        for l in range(n):
            P[l, i] = P[l, last]


@njit(**COMPILED, fastmath=True)
def gram_row(j, gram, out):
    """Row j of the Gram matrix: of the shared one, or of this sample's own when entries are weighted."""
    G, S, weights = gram
    if weights.size == 0:
        for k in range(out.size):
            out[k] = G[j, k]
    else:
        scaled = weights * S[j]
        for k in range(out.size):
            total = 0.0
            for channel in range(scaled.size):
                total += scaled[channel] * S[k, channel]
            out[k] = total
