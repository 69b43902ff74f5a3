"""Best-subset fits from Gram matrices: the hot kernel behind decoding and the window solver.

For one sample x and a pool S the criterion of Eq. 3 is

    min over A and c > 0 on A of  ‖x − Σ_A c_j s_j‖² + λ |A| .

Everything it needs is in b = S x and G = S S', so the channels are touched once, in a matrix product
outside. What single changes of a support gain is read off its tableau (tableau.py): exact while all
concentrations stay positive, and otherwise bounds on what the change can gain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from gmcr.decoding.tableau import (
    COMPILED,
    DEPENDENT,
    TINY,
    Gram,
    Tableau,
    enter,
    gram_row,
    leave,
    new_tableau,
)
from gmcr.threads import deal
from gmcr.validation import BoolArray, FloatArray

# A change must lower the criterion by this share of the price, so that rounding cannot cycle.
IMPROVES = 1e-9
# Rows times slots from which another thread is worth waking.
WORTH_WHILE = 4096


class Search(NamedTuple):
    """A sample's tableau, and room for the search over it.

    feasible : (cap,) concentrations of the last feasible point;  trial : (cap,) the support to go back to
    tried : (cap + 1, slots + 1) changes that did not keep what they promised: [1 + drop position, slot to add]
    gains : (slots,) what adding each slot gains;  rise : (cap,) what taking each selected one away costs
    """

    tableau: Tableau
    feasible: FloatArray
    trial: np.ndarray
    tried: BoolArray
    gains: FloatArray
    rise: FloatArray


@njit(**COMPILED)
def _repair(n, tableau, feasible):
    """Drop slots until all concentrations are positive, along the line from the last feasible point.

    That is the inner loop of Lawson and Hanson's NNLS, so the misfit never rises above that point's.
    """
    c = tableau.c
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
        leave(block, n, tableau)
        n -= 1


@njit(**COMPILED)
def _misfit(xx, b, n, tableau):
    fit = 0.0
    for i in range(n):
        fit += b[tableau.idx[i]] * tableau.c[i]
    return xx - fit


@njit(**COMPILED)
def _gains(r, q, diagonal, gains):
    """By how much adding each slot lowers the misfit; negative where its concentration would be."""
    for k in range(r.size):
        gains[k] = r[k] * abs(r[k]) / max(q[k], DEPENDENT * diagonal[k])


@njit(**COMPILED)
def _best_change(n, search, diagonal, price, k_max, signed):
    """The single change that lowers the criterion most, by its bound: fall, position to drop, slot to add."""
    idx, c, r, q, _, W, P, _ = search.tableau
    tried, gains, rise = search.tried, search.gains, search.rise
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
def _change(diagonal, drop, add, n, search, gram, signed):
    """Carry out one change and restore positivity; returns the new support size."""
    tableau, feasible = search.tableau, search.feasible
    # The old concentrations, less the dropped slot's, stay feasible; they are only no longer optimal.
    for i in range(n):
        feasible[i] = tableau.c[i]
    if drop >= 0:
        feasible[drop] = feasible[n - 1]
        leave(drop, n, tableau)
        n -= 1
    if add >= 0 and tableau.q[add] > DEPENDENT * diagonal[add] and (signed or tableau.r[add] > 0.0):
        feasible[n] = 0.0
        gram_row(add, gram, tableau.rows[n])
        enter(add, n, tableau)
        n += 1
    return n if signed else _repair(n, tableau, feasible)


@njit(**COMPILED)
def _polish(b, n, tableau, signed):
    """Refine c against the rounding the sweeps have gathered; returns the support size.

    Without a price a slot may have been kept for the sake of rounding alone; it goes here.
    """
    idx, c, _, _, rows, _, P, error = tableau
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
        leave(lowest, n, tableau)
        n -= 1


@njit(**COMPILED)
def _fit_sample(b, xx, diagonal, gram, price, k_max, signed, start, search):
    """Local optimum of Eq. 3 under single changes; returns support size, margin and misfit."""
    tableau, feasible, trial, tried, gains, _ = search
    idx, r, q = tableau.idx, tableau.r, tableau.q
    r[:] = b
    q[:] = diagonal
    n = 0
    for j in range(start.size):
        if start[j] and n < k_max and q[j] > DEPENDENT * diagonal[j]:
            gram_row(j, gram, tableau.rows[n])
            enter(j, n, tableau)
            n += 1
    if not signed and n > 0:
        for i in range(n):
            feasible[i] = 0.0
        n = _repair(n, tableau, feasible)
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
        n = _change(diagonal, -1, top, n, search, gram, signed)
        if n <= before:  # something was dropped on the way: the full search below goes on from here
            break
    tried[: n + 1] = False
    refused = np.inf  # the smallest rise of the criterion among changes that were tried and did not help
    criterion = _misfit(xx, b, n, tableau) + price * n
    for _ in range(20 * (k_max + 1)):
        fall, drop, add = _best_change(n, search, diagonal, price, k_max, signed)
        if fall <= IMPROVES * price:
            break
        n_before = n
        for i in range(n):
            trial[i] = idx[i]
        n = _change(diagonal, drop, add, n, search, gram, signed)
        new_criterion = _misfit(xx, b, n, tableau) + price * n
        if new_criterion < criterion - 0.5 * IMPROVES * price:
            criterion = new_criterion
            tried[: n + 1] = False
            refused = np.inf
        else:  # the bound promised more than positivity allows
            refused = min(refused, new_criterion - criterion)
            n = n_before
            r[:] = b
            q[:] = diagonal
            for i in range(n):  # the tableau of the support before, from scratch
                gram_row(trial[i], gram, tableau.rows[i])
                enter(trial[i], i, tableau)
            tried[drop + 1, add if add >= 0 else r.size] = True
    margin = min(refused, -fall)
    n = _polish(b, n, tableau, signed)
    return n, max(margin, 0.0), max(_misfit(xx, b, n, tableau), 0.0)


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
    search = Search(
        new_tableau(cap, n_slots),
        np.empty(cap),
        np.empty(cap, np.int64),
        np.empty((cap + 1, n_slots + 1), np.bool_),
        np.empty(n_slots),
        np.empty(cap),
    )
    idx, c, rise = search.tableau.idx, search.tableau.c, search.rise
    no_start = np.zeros(0, np.bool_)
    no_weights = np.zeros(0)
    diagonal = np.diag(G).copy()
    for m in range(first, stop):
        own_weights = weights[m] if weighted else no_weights
        own_start = start[m] if started else no_start
        if weighted:
            for k in range(n_slots):
                total = 0.0
                for channel in range(own_weights.size):
                    total += own_weights[channel] * S[k, channel] * S[k, channel]
                diagonal[k] = max(total, TINY)
        n, margin[m], misfit[m] = _fit_sample(
            B[m], xx[m], diagonal, Gram(G, S, own_weights), prices[m], k_max, signed, own_start, search
        )
        B[m] = 0.0
        for i in range(n):
            B[m, idx[i]] = c[i]
            if removal.shape[0] > 0:
                removal[m, idx[i]] = rise[i] / unit[m]
        margin[m] /= unit[m]
        misfit[m] /= unit[m]
