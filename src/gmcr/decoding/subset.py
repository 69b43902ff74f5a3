"""Best-subset fits from Gram matrices: the hot kernel behind decoding and the window solver.

For one sample x and a pool S the criterion of Eq. 3 is

    min over A and c > 0 on A of  ‖x − Σ_A c_j s_j‖² + λ |A| .

Everything it needs is in b = S x and G = S S', so the channels are touched once, in a matrix product
outside. A sample's state is a sweep tableau over its current support A (n = |A| slots, P = G_AA⁻¹):

    c = P b_A             concentrations            W = P G_A:            (n, slots)
    r = b − G_:A c        residual correlations     q = diag(G − G_:A W)  what A leaves of each slot

in which every single change has a closed form:

    add j           lowers the misfit by r_j² / q_j
    drop i          raises it by c_i² / P_ii
    exchange i, j   raises it by c_i² / P_ii − (r_j + c_i W_ij / P_ii)² / (q_j + W_ij² / P_ii)

These are exact while all concentrations stay positive, and otherwise bounds on what the change can gain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from gmcr.threads import deal

# A slot whose part outside the span of the support is smaller than this share of it adds nothing.
DEPENDENT = 1e-10
# A change must lower the criterion by this share of the price, so that rounding cannot cycle.
IMPROVES = 1e-9
# What a slot with nothing in the weighted channels counts as having there, so that 0/0 never arises.
TINY = 1e-290
# Rows times slots from which another thread is worth waking.
WORTH_WHILE = 4096
# No divisor here is zero; checking each one for it would keep the loops from being vectorised.
COMPILED: dict[str, Any] = {"cache": True, "error_model": "numpy"}


@njit(**COMPILED, inline="never")
def _enter(j, n, idx, c, r, q, rows, W, P, schur):
    """Sweep slot j, whose Gram row is rows[n], into a support of n slots."""
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
def _leave(i, n, idx, c, r, q, rows, W, P):
    """Sweep the slot at position i out of a support of n slots; the last position moves into its place."""
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
def _gram_row(j, G, S, weights, out):
    """Row j of the Gram matrix: of the shared one, or of this sample's own when entries are weighted."""
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


@njit(**COMPILED)
def _repair(n, idx, c, feasible, r, q, rows, W, P):
    """Drop slots until all concentrations are positive, along the line from the last feasible point.

    That is the inner loop of Lawson and Hanson's NNLS, so the misfit never rises above that point's.
    """
    while True:
        step, block = 1.0, -1
        for i in range(n):
            if c[i] <= 0.0:
                reach = feasible[i] / (feasible[i] - c[i]) if feasible[i] > 0.0 else 0.0
                if block < 0 or reach < step:
                    step, block = reach, i
        if block < 0:
            return n
        for i in range(n):
            feasible[i] += step * (c[i] - feasible[i])
        feasible[block] = feasible[n - 1]
        _leave(block, n, idx, c, r, q, rows, W, P)
        n -= 1


@njit(**COMPILED)
def _reset(b, diagonal, n, idx, G, S, weights, c, r, q, rows, W, P, schur):
    """The tableau of the n slots listed in idx, from scratch."""
    r[:] = b
    q[:] = diagonal
    for i in range(n):
        _gram_row(idx[i], G, S, weights, rows[i])
        _enter(idx[i], i, idx, c, r, q, rows, W, P, schur)


@njit(**COMPILED)
def _misfit(xx, b, n, idx, c):
    fit = 0.0
    for i in range(n):
        fit += b[idx[i]] * c[i]
    return xx - fit


@njit(**COMPILED)
def _gains(r, q, diagonal, gains):
    """By how much adding each slot lowers the misfit; negative where its concentration would be."""
    for k in range(r.size):
        gains[k] = r[k] * abs(r[k]) / max(q[k], DEPENDENT * diagonal[k])


@njit(**COMPILED)
def _best_change(n, idx, c, r, q, diagonal, W, P, price, k_max, signed, tried, gains, rise):
    """The single change that lowers the criterion most, by its bound: fall, position to drop, slot to add."""
    n_slots = r.size
    best, drop, add = -np.inf, -1, -1
    for i in range(-1, n):
        kept = 0.0
        ci, pivot = 0.0, 1.0
        if i >= 0:
            pivot = P[i, i]
            ci = c[i] / pivot
            kept = c[i] * ci
            rise[i] = kept - price
            if price - kept > best and not tried[i + 1, n_slots]:
                best, drop, add = price - kept, i, -1
        elif n >= k_max:
            continue
        if i < 0:
            _gains(r, q, diagonal, gains)
        else:
            for k in range(n_slots):
                rk = r[k] + ci * W[i, k]
                qk = q[k] + W[i, k] * W[i, k] / pivot
                gains[k] = rk * abs(rk) / max(qk, DEPENDENT * diagonal[k])
        if signed:
            gains[:] = np.abs(gains)
        for l in range(n):
            gains[idx[l]] = -np.inf
        top = -1
        top_gain = 0.0
        for k in range(n_slots):
            if gains[k] > top_gain and not tried[i + 1, k]:
                top, top_gain = k, gains[k]
        if top >= 0:
            fall = top_gain - kept - (price if i < 0 else 0.0)
            if i >= 0:
                rise[i] = min(rise[i], -fall)
            if fall > best:
                best, drop, add = fall, i, top
    return best, drop, add


@njit(**COMPILED)
def _change(b, diagonal, drop, add, n, idx, c, feasible, G, S, weights, r, q, rows, W, P, schur, signed):
    """Carry out one change and restore positivity; returns the new support size."""
    # The old concentrations, less the dropped slot's, stay feasible; they are only no longer optimal.
    for i in range(n):
        feasible[i] = c[i]
    if drop >= 0:
        feasible[drop] = feasible[n - 1]
        _leave(drop, n, idx, c, r, q, rows, W, P)
        n -= 1
    if add >= 0 and q[add] > DEPENDENT * diagonal[add] and (signed or r[add] > 0.0):
        feasible[n] = 0.0
        _gram_row(add, G, S, weights, rows[n])
        _enter(add, n, idx, c, r, q, rows, W, P, schur)
        n += 1
    return n if signed else _repair(n, idx, c, feasible, r, q, rows, W, P)


@njit(**COMPILED)
def _polish(b, n, idx, c, r, q, rows, W, P, error, signed):
    """Refine c against the rounding the sweeps have gathered; returns the support size.

    Without a price a slot may have been kept for the sake of rounding alone; it goes here.
    """
    while True:
        for _ in range(2):
            for i in range(n):
                error[i] = b[idx[i]]
                for l in range(n):
                    error[i] -= rows[i, idx[l]] * c[l]
            for i in range(n):
                for l in range(n):
                    c[i] += P[i, l] * error[l]
        lowest = -1
        for i in range(n):
            if c[i] <= 0.0 and (lowest < 0 or c[i] < c[lowest]):
                lowest = i
        if signed or lowest < 0:
            return n
        _leave(lowest, n, idx, c, r, q, rows, W, P)
        n -= 1


@njit(**COMPILED)
def _fit_sample(b, xx, diagonal, G, S, weights, price, k_max, signed, start, scratch):
    """Local optimum of Eq. 3 under single changes; returns support size, margin and misfit."""
    idx, trial, tried, c, feasible, r, q, schur, gains, rise, rows, W, P = scratch
    r[:] = b
    q[:] = diagonal
    n = 0
    for j in range(start.size):
        if start[j] and n < k_max and q[j] > DEPENDENT * diagonal[j]:
            _gram_row(j, G, S, weights, rows[n])
            _enter(j, n, idx, c, r, q, rows, W, P, schur)
            n += 1
    if not signed and n > 0:
        for i in range(n):
            feasible[i] = 0.0
        n = _repair(n, idx, c, feasible, r, q, rows, W, P)
    # Forward: by far most samples need nothing else, and the scan is n times cheaper than the full one.
    while n < k_max:
        _gains(r, q, diagonal, gains)
        if signed:
            gains[:] = np.abs(gains)
        top, top_gain = -1, price
        for k in range(r.size):
            if gains[k] > top_gain:
                top, top_gain = k, gains[k]
        if top < 0:
            break
        before = n
        n = _change(b, diagonal, -1, top, n, idx, c, feasible, G, S, weights, r, q, rows, W, P, schur, signed)
        if n <= before:  # something was dropped on the way: the full search below goes on from here
            break
    tried[: n + 1] = False  # changes that did not keep what they promised: [1 + drop position, slot to add]
    refused = np.inf  # the smallest rise of the criterion among changes that were tried and did not help
    criterion = _misfit(xx, b, n, idx, c) + price * n
    for _ in range(20 * (k_max + 1)):
        fall, drop, add = _best_change(
            n, idx, c, r, q, diagonal, W, P, price, k_max, signed, tried, gains, rise
        )
        if fall <= IMPROVES * price:
            break
        n_before = n
        for i in range(n):
            trial[i] = idx[i]
        n = _change(
            b, diagonal, drop, add, n, idx, c, feasible, G, S, weights, r, q, rows, W, P, schur, signed
        )
        new_criterion = _misfit(xx, b, n, idx, c) + price * n
        if new_criterion < criterion - 0.5 * IMPROVES * price:
            criterion = new_criterion
            tried[: n + 1] = False
            refused = np.inf
        else:  # the bound promised more than positivity allows
            refused = min(refused, new_criterion - criterion)
            n = n_before
            for i in range(n):
                idx[i] = trial[i]
            _reset(b, diagonal, n, idx, G, S, weights, c, r, q, rows, W, P, schur)
            tried[drop + 1, add if add >= 0 else r.size] = True
    margin = min(refused, -fall)
    n = _polish(b, n, idx, c, r, q, rows, W, P, schur, signed)
    return n, max(margin, 0.0), max(_misfit(xx, b, n, idx, c), 0.0)


def best_subsets(B, xx, G, S, weights, prices, k_max, signed, start, unit, removal):
    """Minimise Eq. 3 for every sample; B is overwritten with the concentrations.

    Parameters
    ----------
    B : (samples, slots), inner products of samples and profiles (weighted if `weights` is given); on return
        the concentrations, zero outside the support
    xx : (samples,), squared norm of each sample
    G : (slots, slots), Gram matrix of the pool
    S : (slots, channels), the pool; read only when `weights` is given
    weights : (samples, channels) weight of each entry, or (0, 0) for none
    prices : (samples,), price λ of a selected slot
    k_max : largest support size
    signed : whether concentrations may be negative
    start : (samples, slots) bool supports to start from, or (0, 0) for empty ones
    unit : (samples,) what margin, misfit and removal are divided by
    removal : (samples, slots) filled with the rise of the criterion when a selected slot is taken away and
        the best single other slot, if any, takes its place; or (0, 0) when that is not wanted

    Returns
    -------
    margin : (samples,), by how much the criterion rises under the best single change
    misfit : (samples,), squared residual norm
    """
    margin, misfit = np.empty(len(B)), np.empty(len(B))
    least = 1 if len(weights) else max(1, WORTH_WHILE // len(G))
    arguments = (B, xx, G, S, weights, prices, k_max, signed, start, unit, removal, margin, misfit)
    deal(_best_subsets, len(B), least, *arguments)
    return margin, misfit


@njit(**COMPILED, nogil=True)
def _best_subsets(
    B, xx, G, S, weights, prices, k_max, signed, start, unit, removal, margin, misfit, first, stop
):  # fmt: skip
    """The same for samples `first` to `stop`."""
    n_slots = B.shape[1]
    weighted = weights.shape[0] > 0
    started = start.shape[0] > 0
    cap = k_max + 1
    scratch = (
        np.empty(cap, np.int64), np.empty(cap, np.int64),
        np.empty((cap + 1, n_slots + 1), np.bool_),
        np.empty(cap), np.empty(cap), np.empty(n_slots), np.empty(n_slots),
        np.empty(n_slots), np.empty(n_slots), np.empty(cap),
        np.empty((cap, n_slots)), np.empty((cap, n_slots)), np.empty((cap, cap)),
    )  # fmt: skip
    idx, c, rise = scratch[0], scratch[3], scratch[9]
    no_start = np.zeros(0, np.bool_)
    no_weights = np.zeros(0)
    diagonal = np.diag(G).copy()
    for m in range(first, stop):
        own_weights = no_weights
        own_start = no_start
        if weighted:
            own_weights = weights[m]
            for k in range(n_slots):
                total = 0.0
                for channel in range(own_weights.size):
                    total += own_weights[channel] * S[k, channel] * S[k, channel]
                diagonal[k] = max(total, TINY)
        if started:
            own_start = start[m]
        n, margin[m], misfit[m] = _fit_sample(
            B[m], xx[m], diagonal, G, S, own_weights, prices[m], k_max, signed, own_start, scratch
        )
        B[m] = 0.0
        for i in range(n):
            B[m, idx[i]] = c[i]
            if removal.shape[0] > 0:
                removal[m, idx[i]] = rise[i] / unit[m]
        margin[m] /= unit[m]
        misfit[m] /= unit[m]
