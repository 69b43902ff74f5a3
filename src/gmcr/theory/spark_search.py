"""Branch and bound for the spark margin: is the smallest eigenvalue of every `size` slots above a level τ?

A subset A is bad when G_A − τI is not positive definite. With some slots I of it chosen, that is so when the
Schur complement of (G − τI)_I is not positive definite on the t slots still to choose, which is the same
question again. Two bounds end a branch.

The relaxation (`spark_relaxation`) is tight and dear: it rules where many subsets are left.

Gershgorin's is cheap. A matrix of unit diagonal that is not positive definite has a row whose other entries
sum to at least one in magnitude. So every bad completion holds a *heavy* row, one whose t − 1 largest entries
sum to that much: where there is none the branch is done, and otherwise only heavy rows are branched on, each
without those before it. At t = 1 and t = 2 the test is exact. It rules in the compiled search of small cases.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gmcr.theory.spark_relaxation import Relaxation
from gmcr.validation import FloatArray

PRECISE = 1e-12  # row sums this close to the threshold count as heavy
SMALL = 3e7  # subsets that the compiled search takes in well under a second
TRIED = 40  # iterations of the relaxation before a branch is split
LOOKS = 24  # times that the rest is looked at as a whole while its slots are taken out
COMPILED: dict[str, Any] = {"cache": True, "error_model": "numpy"}
ANSWERS = ("none", "found", "unfinished")


def find_below(G: FloatArray, size: int, level: float, work: float) -> tuple[str, tuple[int, ...], float]:
    """Look for a subset of at most `size` slots whose Gram matrix has an eigenvalue below `level`.

    Parameters
    ----------
    G : (slots, slots) Gram matrix, unit diagonal
    work : entries of matrices to visit, at most

    Returns
    -------
    "none" (there is no such subset), "found" or "unfinished"; the subset found; the work done
    """
    budget = [float(work)]
    H = G - level * np.eye(len(G))
    if not (H.diagonal() > 0).all():
        return "found", (int(H.diagonal().argmin()),), 0.0
    answer, subset = _cover(H, np.arange(len(G)), size, budget, None)
    return answer, subset, work - budget[0]


def _cover(
    H: FloatArray,
    slots: NDArray[np.intp],
    t: int,
    budget: list[float],
    start: tuple[FloatArray, FloatArray] | None,
) -> tuple[str, tuple[int, ...]]:
    """Is H, positive on its diagonal, positive definite on every t of its slots? Answers as in `find_below`.

    The heaviest slot is chosen, the question with it put to the rest, and the slot left out for good; now and
    then the relaxation is asked whether what remains is covered as a whole.
    """
    pause = 0
    while len(slots) >= t:
        if t < 3 or comb(len(slots), t) <= SMALL:
            chosen = np.zeros(t, dtype=np.intp)
            status, depth, done = _search(np.ascontiguousarray(H), t, budget[0], chosen)
            budget[0] -= done
            return ANSWERS[status], tuple(slots[chosen[:depth]].tolist())
        scale = np.sqrt(H.diagonal())
        H = H / scale / scale[:, None]
        if pause == 0:
            whole = Relaxation(H, t, start)
            whole.run(TRIED, target=0.0)
            budget[0] -= whole.work
            if whole.bound > 0:
                return "none", ()
            state = whole.Y, whole.step * whole.W
            pause = max(1, len(slots) // LOOKS)
        if budget[0] < 0:
            return "unfinished", ()
        heaviest = int(np.sort(np.abs(H), axis=1)[:, -t:].sum(axis=1).argmax())
        rest = np.delete(np.arange(len(slots)), heaviest)
        start = (state[0][np.ix_(rest, rest)], state[1][np.ix_(rest, rest)])
        below = H[np.ix_(rest, rest)] - np.outer(H[rest, heaviest], H[heaviest, rest])
        budget[0] -= 4.0 * len(slots) ** 2
        if not (below.diagonal() > 0).all():
            return "found", (int(slots[heaviest]), int(slots[rest[below.diagonal().argmin()]]))
        answer, found = _cover(below, slots[rest], t - 1, budget, start)
        if answer != "none":
            return answer, (int(slots[heaviest]), *found) if found else ()
        H, slots = H[np.ix_(rest, rest)], slots[rest]
        state, pause = start, pause - 1
    return "none", ()


@njit(**COMPILED)
def _heavy_rows(M, n, t, top, scale, rows, sums):
    """Heavy rows of M (n, n), lightest first, into `rows`; how many, or −1 − k where M_kk ≤ 0."""
    for k in range(n):
        if M[k, k] <= 0.0:
            return -1 - k
        scale[k] = 1.0 / np.sqrt(M[k, k])
    if t == 1 or n < t:
        return 0
    # A part θ11' that all rows share may be taken off: what is left is smaller, yet if it is positive
    # definite so is M. Profiles that are all positive share most of their overlap.
    shift = 0.0
    if t > 2 and n > 1:
        total = 0.0
        magnitude = 0.0
        for k in range(n):
            for l in range(k):
                value = M[k, l] * scale[k] * scale[l]
                total += value
                magnitude += abs(value)
        if total > 0.25 * magnitude:
            shift = min(total / (n * (n - 1) / 2), 0.99)
    threshold = 1.0 - shift - PRECISE
    count = 0
    for k in range(n):
        for r in range(t - 1):
            top[r] = 0.0
        for l in range(n):
            value = abs(M[k, l] * scale[k] * scale[l] - shift)
            if l != k and value > top[0]:
                r = 0
                while r + 1 < t - 1 and top[r + 1] < value:
                    top[r] = top[r + 1]
                    r += 1
                top[r] = value
        heavy = 0.0
        for r in range(t - 1):
            heavy += top[r]
        if heavy >= threshold:
            r = count
            while r > 0 and sums[r - 1] > heavy:
                sums[r] = sums[r - 1]
                rows[r] = rows[r - 1]
                r -= 1
            sums[r] = heavy
            rows[r] = k
            count += 1
    return count


@njit(**COMPILED)
def _search(H, size, work, chosen):
    """Depth first over the heavy rows of H = G − τI: (status, number of slots in `chosen`, work done)."""
    n = H.shape[0]
    M = np.empty((size, n, n))
    slots = np.empty((size, n), dtype=np.int64)
    count = np.zeros(size, dtype=np.int64)
    rows = np.empty((size, n), dtype=np.int64)
    n_rows = np.zeros(size, dtype=np.int64)
    cursor = np.zeros(size, dtype=np.int64)
    keep = np.empty(n, dtype=np.int64)
    gone = np.zeros((size, n), dtype=np.bool_)
    top = np.zeros(size)
    scale = np.empty(n)
    sums = np.empty(n)
    M[0] = H
    for k in range(n):
        slots[0, k] = k
    count[0] = n
    done = float(n) * n
    n_rows[0] = _heavy_rows(M[0], n, size, top, scale, rows[0], sums)
    if n_rows[0] < 0:
        chosen[0] = -1 - n_rows[0]
        return 1, 1, done
    depth = 0
    while depth >= 0:
        if cursor[depth] == n_rows[depth]:
            depth -= 1
            continue
        if done > work:
            return 2, 0, done
        p = rows[depth, cursor[depth]]
        cursor[depth] += 1
        gone[depth, p] = True  # what follows at this depth goes without p
        chosen[depth] = slots[depth, p]
        below = depth + 1
        m = 0
        for k in range(count[depth]):
            if not gone[depth, k]:
                keep[m] = k
                slots[below, m] = slots[depth, k]
                m += 1
        if m < size - below:
            continue
        pivot = M[depth, p, p]
        for a in range(m):
            k = keep[a]
            factor = M[depth, k, p] / pivot
            for b in range(m):
                M[below, a, b] = M[depth, k, keep[b]] - factor * M[depth, p, keep[b]]
        done += float(m) * m * (1.0 if size - below == 1 else 2.0) + 100.0
        count[below] = m
        found = _heavy_rows(M[below], m, size - below, top, scale, rows[below], sums)
        if found < 0:
            chosen[below] = slots[below, -1 - found]
            return 1, below + 1, done
        if found > 0 and below < size - 1:
            n_rows[below] = found
            cursor[below] = 0
            gone[below, :m] = False
            depth = below
    return 0, 0, done
