"""The posterior of a sample's support over its neighbours: the compiled kernel behind confidence.

For a support A of n slots the evidence is prior(A) ∫ N(x; Σ_A c_j s_j, v I) Π p(c_j) dc. The Gaussian in c has
mean ĉ = P b_A and covariance v P, with P = G_AA⁻¹, so that up to what all supports share

    log evidence = log prior(A) + b_A·ĉ / 2v + n/2 log 2πv + ½ log det P + log E[Π_j p(c_j)] ,

the last a mean over N(ĉ, v P) (averages.py). Since the law p vanishes below its floor, that mean also
cuts the Gaussian off where concentrations would be negative or too small to count.

The search goes best first: the returned support is opened, which weighs all its single changes and exchanges;
then the heaviest support not opened yet, as long as it matters. Two-change neighbours are thus weighed where a
one-change neighbour is plausible, and cost nothing elsewhere. The tableau is that of `gmcr.decoding`.
"""

from __future__ import annotations

from math import exp, log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gmcr.confidence.averages import NEVER, add_shares, average, log_joint_average
from gmcr.confidence.support_law import SupportLaw
from gmcr.decoding.tableau import COMPILED, DEPENDENT, TINY, Gram, enter, gram_row, leave, new_tableau
from gmcr.threads import deal
from gmcr.validation import BoolArray, FloatArray

NEGLIGIBLE = 9.0  # log of the weight, below the heaviest, from which a support is left out (a share of 1e-4)
MATTERS = 1e-2  # share of the weight from which a support's own neighbours are weighed as well
OPENED = 12  # most supports opened for one sample
STORED = 256  # most supports remembered for one sample
TABLE = 1024  # places for the keys of remembered supports: a power of two, well above STORED
DEEPER = 4  # slots that a neighbour may have more than the largest returned support
COUNTED = 1e-3  # share of the weight from which a support enters the counts
SPARSE = 1e-2  # of the highest density: a bin with less is all but empty
BLOCKS = 64  # parts of the samples counted apart: so many whatever the threads, so that sums are the same
# A slot whose part outside the support's span is smaller than this cannot be told from it. A hundred times the
# decoder's: the evidence has ½ log q, and what rounding leaves of so small a q would weigh like a component.
NEAR = 100 * DEPENDENT


@njit(**COMPILED)
def _own_gram_row(j, gram, pool, out):
    """Row j of the sample's Gram matrix, less what errors of the pool, and the sample's own share in it, add."""
    covariance, excess, own, own_r = pool
    gram_row(j, gram, out)
    if covariance.size > 0:
        for k in range(out.size):
            out[k] -= excess * covariance[j, k]
    if own.size > 0:
        for k in range(out.size):
            out[k] -= own[j] * own_r[k] + own_r[j] * own[k]


@njit(**COMPILED)
def _weigh(key, weight, n, idx, law, nodes, work):
    """Complete the weight of the n slots in idx, whose concentrations are N(mean, cov), and remember them.

    Nothing is remembered that is known already, or for which there is no room.
    """
    edges, heights, _, _, log_highest, _, signed = law[:7]
    mean, cov, done, at, spread = work
    count, top, found, keys, table, sizes, members, amounts, spreads = nodes
    enough = top[0] - NEGLIGIBLE
    weight += log_joint_average(
        n, mean, cov, edges, heights, log_highest, signed, enough - weight, (done, at, spread)
    )
    if not weight > enough:
        return
    place = np.int64(key & np.uint64(TABLE - 1))
    while table[place] >= 0:
        if keys[table[place]] == key:
            return
        place = (place + 1) & (TABLE - 1)
    number = count[0]
    if number >= STORED:
        return
    table[place] = number
    keys[number] = key
    found[number] = weight
    top[0] = max(top[0], weight)
    count[0] += 1
    sizes[number] = n
    for i in range(n):
        members[number, i] = idx[i]
        amounts[number, i] = at[i]
        spreads[number, i] = spread[i]


@njit(**COMPILED)
def _weigh_additions(key, base, n, tableau, diagonal, v, law, nodes, work, alone):
    """Weigh every support with one slot more than the tableau's, and the tableau's own where `alone`.

    base : log odds + b·ĉ/2v + ½ log det P + n/2 log 2πv of the tableau's support
    """
    idx, c, r, q, _, W, P, _ = tableau
    edges, heights, log_sizes, log_odds, log_highest, names, signed = law[:7]
    start, log_low, highest_odds = law[7:]
    mean, cov = work[0], work[1]
    entry = base + 0.5 * log(2.0 * pi * v)
    roughly = entry + n * log_highest + highest_odds + (log_sizes[n + 1] if n + 1 < log_sizes.size else 0.0)
    for j in range(-1 if alone else 0, r.size):
        if j < 0:  # nothing is added
            for i in range(n):
                mean[i] = c[i]
                for l in range(n):
                    cov[i, l] = v * P[i, l]
            _weigh(key, base + log_sizes[n], n, idx, law, nodes, work)
            continue
        if n + 1 >= log_sizes.size or n >= nodes[6].shape[1]:
            break
        if q[j] <= NEAR * diagonal[j]:
            continue
        cj, share = r[j] / q[j], v / q[j]
        gain = 0.5 * cj * cj / share
        # Without a logarithm first, as −log q ≤ 1/q − 1: most slots have nothing to gain. Below `start` the law
        # is at most `low`; what it has above, a normal law about cj reaches by no more than its tail.
        at_most = roughly + 0.5 / q[j] - 0.5
        tail = 0.5 * start * (2.0 * cj - start) / share if cj < start else gain
        if not signed and max(gain + log_low if cj > 0.0 else log_low, tail + log_highest) + at_most < (
            nodes[1][0] - NEGLIGIBLE - 0.7
        ):
            continue
        weight = entry + log_sizes[n + 1] + log_odds[j] - 0.5 * log(q[j])
        enough = nodes[1][0] - NEGLIGIBLE
        # A negative concentration pays its gain back in the law, which has nothing there.
        if weight + (gain if cj > 0.0 or signed else 0.0) + (n + 1) * log_highest < enough:
            continue
        density = average(abs(cj) if signed else cj, sqrt(share), edges, heights)
        if weight + gain + log(density + NEVER) + n * log_highest < enough:
            continue
        inside = False
        for i in range(n):
            inside |= idx[i] == j
        if inside:
            continue
        for i in range(n):
            w = W[i, j]
            mean[i] = c[i] - w * cj
            for l in range(n):
                cov[i, l] = v * P[i, l] + share * w * W[l, j]
            cov[i, n] = cov[n, i] = -share * w
        mean[n] = cj
        cov[n, n] = share
        idx[n] = j
        _weigh(key ^ names[j], weight + gain, n + 1, idx, law, nodes, work)


@njit(**COMPILED)
def _hopeless(i, base, n, tableau, diagonal, v, law, top):
    """Whether neither leaving out position i nor any exchange of it can weigh anything."""
    _, c, r, q, _, W, P, _ = tableau
    _, _, log_sizes, log_odds, log_highest, _, signed = law[:7]
    pivot, ci = P[i, i], c[i] / P[i, i]
    without = base - 0.5 * c[i] * ci / v - 0.5 * log(pivot) - 0.5 * log(2.0 * pi * v) - log_odds.min()
    if without + log_sizes[n - 1] + (n - 1) * log_highest > top - NEGLIGIBLE:
        return False
    entry = without + 0.5 * log(2.0 * pi * v) + log_sizes[n] + log_odds.max() + n * log_highest
    needed = 2.0 * v * (top - NEGLIGIBLE - entry)
    # The logarithm of q enters the weight: first at its lowest, and as it is only where that is not enough.
    least = needed + v * log(NEAR * diagonal.min())
    for k in range(r.size):
        rk = r[k] + ci * W[i, k]
        qk = max(q[k] + W[i, k] * W[i, k] / pivot, NEAR * diagonal[k])
        if (rk > 0.0 or signed) and rk * rk > least * qk and rk * rk > (needed + v * log(qk)) * qk:
            return False
    return needed > 0.0


@njit(**COMPILED)
def _log_det(P, n, L):
    """Log determinant of the leading n × n part of P, by Cholesky; L : room for the factor."""
    total = 0.0
    for i in range(n):
        for j in range(i + 1):
            value = P[i, j]
            for k in range(j):
                value -= L[i, k] * L[j, k]
            if i == j:
                value = max(value, TINY)
                total += log(value)
                L[i, i] = sqrt(value)
            else:
                L[i, j] = value / L[j, j]
    return total


@njit(**COMPILED)
def _open(key, n, b, tableau, diagonal, order, v, law, nodes, work):
    """Weigh the tableau's support and its neighbours: additions, removals, exchanges."""
    idx, c, _, _, rows, _, P, schur = tableau
    log_odds, names = law[3], law[5]
    whole = 0.5 * n * log(2.0 * pi * v) + 0.5 * _log_det(P, n, work[1])
    for i in range(n):
        whole += log_odds[idx[i]] + 0.5 * b[idx[i]] * c[i] / v
        order[i] = idx[i]
    for step in range(-1, n):
        slot, rest, own_key, base = -1, n, key, whole
        if step >= 0:
            i = 0
            while idx[i] != order[step]:
                i += 1
            if _hopeless(i, whole, n, tableau, diagonal, v, law, nodes[1][0]):
                continue
            slot, rest, own_key = idx[i], n - 1, key ^ names[idx[i]]
            base -= log_odds[slot] + 0.5 * log(2.0 * pi * v)
            base -= 0.5 * c[i] * c[i] / P[i, i] / v + 0.5 * log(P[i, i])
            schur[:] = rows[i]  # its Gram row, for when it comes back
            leave(i, n, tableau)
        _weigh_additions(own_key, base, rest, tableau, diagonal, v, law, nodes, work, True)
        if step >= 0:
            rows[n - 1] = schur
            enter(slot, n - 1, tableau)


@njit(**COMPILED)
def _explore(b, diagonal, support, gram, pool, v, law, scratch, nodes, work):
    """Weigh the support and its neighbours, best first; returns how many supports were weighed."""
    order, is_open, tableau = scratch
    q = tableau.q
    count, top, found, _, table, sizes, members, _, _ = nodes
    names = law[5]
    count[0] = 0
    top[0] = -np.inf
    table[:] = -1
    is_open[:] = False
    n = 0
    for j in range(support.size):
        if support[j]:
            order[n] = j
            n += 1
    for _ in range(OPENED):
        tableau.r[:] = b
        q[:] = diagonal
        key = np.uint64(0)
        size, n = n, 0
        for i in range(size):
            j = order[i]
            if q[j] > NEAR * diagonal[j]:
                _own_gram_row(j, gram, pool, tableau.rows[n])
                enter(j, n, tableau)
                key ^= names[j]
                n += 1
        _open(key, n, b, tableau, diagonal, order, v, law, nodes, work)
        is_open[0] = True
        best, total = -1, 0.0
        for number in range(count[0]):
            total += exp(found[number] - top[0])
            if not is_open[number] and (best < 0 or found[number] > found[best]):
                best = number
        if best < 0 or exp(found[best] - top[0]) < MATTERS * total or count[0] >= STORED:
            break
        is_open[best] = True
        n = sizes[best]
        for i in range(n):
            order[i] = members[best, i]
    return count[0]


@njit(**COMPILED)
def _fill_diagonal(m, G, S, weights, pool, diagonal):
    """Diagonal of sample m's Gram matrix, as `_own_gram_row` has it."""
    covariance, excess, own, own_r = pool
    for k in range(diagonal.size):
        total = G[k, k]
        if weights.shape[0] > 0:
            total = 0.0
            for channel in range(S.shape[1]):
                total += weights[m, channel] * S[k, channel] * S[k, channel]
        if covariance.size > 0:
            total -= excess * covariance[k, k]
        if own.size > 0:
            total -= 2.0 * own[k] * own_r[k]
        diagonal[k] = max(total, TINY)


class Part(NamedTuple):
    """Some samples with their supports, and the pool they are judged over.

    B : (samples, slots), inner products of samples and profiles (weighted if `weights` is given)
    supports : (samples, slots) bool, the supports as returned
    largest : size of the largest of them
    G, S, weights : as in `gmcr.decoding.subset.best_subsets`
    variance : (samples,) v, the variance of a sample's entries about its fit, times their weight
    covariance, excess : (slots, slots) of the pool's errors in one channel, and (samples,) how many channels of
        them to take from the Gram matrix; or (0, 0), (0,)
    own, own_r : (samples, slots) each sample's own share in the pool, and its residual's inner products with the
        profiles; or (0, 0)
    signed : whether concentrations may be negative
    """

    B: FloatArray
    supports: BoolArray
    largest: int
    G: FloatArray
    S: FloatArray
    weights: FloatArray
    variance: FloatArray
    covariance: FloatArray
    excess: FloatArray
    own: FloatArray
    own_r: FloatArray
    signed: bool


class Prior(NamedTuple):
    """A `SupportLaw` as the kernel wants it.

    edges, heights : (bins + 1,), (bins,) the law of concentrations
    log_sizes : (sizes,) log of the prior of a support's size, less that of what all supports of it have of odds
    log_odds : (slots,) log odds of each slot
    names : (slots,) random numbers of 64 bits; those of its members together name a support
    """

    edges: FloatArray
    heights: FloatArray
    log_sizes: FloatArray
    log_odds: FloatArray
    names: NDArray[np.uint64]


def weigh_supports(part: Part, law: SupportLaw, counted: bool, presence: FloatArray) -> Any:
    """Posterior weight of every sample's support among its neighbours, under a law.

    counted : whether the counts are wanted
    presence : (samples, slots) of zeros, filled with the posterior probability of each slot; or (0, 0)

    Returns
    -------
    confidence : (samples,) posterior of the returned support
    highest : (samples,) posterior of the heaviest support
    size_counts, slot_counts, bin_counts : posterior numbers of samples by size, of selections by slot and by bin
    """
    log_sizes = law.log_sizes
    unseen = max(part.largest + 1 - len(log_sizes), 0)  # sizes that the law has not seen go on as it ends
    log_sizes = np.concatenate([log_sizes, np.full(unseen, log_sizes[-1] - np.log(2.0))])
    n_samples, n_slots = part.B.shape
    names = np.random.default_rng(0).integers(1, 2**63, len(part.S), dtype=np.uint64)
    prior = Prior(law.edges, law.heights, log_sizes, np.log(law.odds), names)
    confidence, highest = np.empty(n_samples), np.empty(n_samples)
    n_blocks = min(n_samples, BLOCKS)
    counts = tuple(np.zeros((n_blocks, n)) for n in (log_sizes.size, n_slots, law.heights.size))
    deal(_weigh_supports, n_blocks, 1, part, prior, counted, presence, confidence, highest, counts)
    return confidence, highest, *(count.sum(axis=0) for count in counts)


@njit(**COMPILED, nogil=True)
def _weigh_supports(part, prior, counted, presence, confidence, highest, counts, start, stop):
    """The same for blocks `start` to `stop` of the samples, each with a row of the counts."""
    B, supports, largest, G, S, weights, variance, covariance, excess, own, own_r, signed = part
    edges, heights, log_sizes, log_odds, names = prior
    size_counts, slot_counts, bin_counts = counts
    n_samples, n_slots = B.shape
    n_blocks = len(size_counts)
    weighted, learned, apart = weights.shape[0] > 0, covariance.shape[0] > 0, own.shape[0] > 0
    cap = largest + DEEPER
    tableau = new_tableau(cap + 1, n_slots)
    scratch = np.empty(cap + 1, np.int64), np.empty(STORED, np.bool_), tableau
    nodes = (
        np.zeros(1, np.int64), np.zeros(1), np.empty(STORED), np.empty(STORED, np.uint64),
        np.empty(TABLE, np.int64), np.empty(STORED, np.int64), np.empty((STORED, cap), np.int64),
        np.empty((STORED, cap)), np.empty((STORED, cap)),
    )  # fmt: skip
    work = (
        np.empty(cap + 1), np.empty((cap + 1, cap + 1)), np.empty(cap + 1, np.bool_),
        np.empty(cap + 1), np.empty(cap + 1),
    )  # fmt: skip
    place = 0  # of the first bin that is not all but empty
    while heights[place] < SPARSE * heights.max():
        place += 1
    low = NEVER + (heights[:place].max() if place > 0 else 0.0)
    law = (
        edges, heights, log_sizes, log_odds, log(heights.max()), names, signed,
        edges[place], log(low), log_odds.max(),
    )  # fmt: skip
    _, top, found, _, _, sizes, members, amounts, spreads = nodes
    none = np.zeros(0)
    diagonal = np.empty(n_slots)
    for block in range(start, stop):
        for m in range(block * n_samples // n_blocks, (block + 1) * n_samples // n_blocks):
            pool = (
                covariance, excess[m] if learned else 0.0, own[m] if apart else none, own_r[m] if apart else none,
            )  # fmt: skip
            _fill_diagonal(m, G, S, weights, pool, diagonal)
            gram = Gram(G, S, weights[m] if weighted else none)
            n_found = _explore(
                B[m], diagonal, supports[m], gram, pool, variance[m], law, scratch, nodes, work
            )
            total = 0.0
            for number in range(n_found):
                total += exp(found[number] - top[0])
            confidence[m] = exp(found[0] - top[0]) / total
            highest[m] = 1.0 / total
            for number in range(n_found):
                posterior = exp(found[number] - top[0]) / total
                if presence.shape[0] > 0:
                    for i in range(sizes[number]):
                        presence[m, members[number, i]] += posterior
                if counted and posterior > COUNTED:
                    size_counts[block, sizes[number]] += posterior
                    for i in range(sizes[number]):
                        slot_counts[block, members[number, i]] += posterior
                        amount = abs(amounts[number, i]) if signed else amounts[number, i]
                        add_shares(posterior, amount, spreads[number, i], edges, heights, bin_counts[block])
