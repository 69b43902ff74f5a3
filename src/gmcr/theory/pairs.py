"""Isolating pairs (C6), how diversely they are served (Conjecture R), and what no pair singles out.

Two samples isolate component i when their supports meet in i alone, J_m ∩ J_m' = {i}: they pin the component
to one profile. Everything here works on distinct supports, of which there are far fewer than samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray, as_numbers

IntArray = NDArray[np.intp]

BLOCK = 4_096  # supports met with all others at a time: bounds the memory
ENUMERATED = 2_000  # choices of samples looked at one by one; beyond that, pivoting and exchanges
SWEEPS = 20  # of exchanges, at most


@dataclass(frozen=True, eq=False)
class IsolatingPairs:
    """Which components some pair of samples isolates.

    Attributes
    ----------
    count : (slots,) number of pairs of distinct supports that isolate each component, a pure one that may
        pair with itself counting once
    example : (slots, 2) two samples of such a pair, −1 where there is none; the best served where levels count
    level : (slots,) γ_c, the level at which the best served pair is served, 0 where there is none; NaN where
        concentrations were not given
    active : (slots,) whether any sample holds the component
    """

    count: IntArray
    example: IntArray
    level: FloatArray
    active: BoolArray

    @property
    def isolated(self) -> BoolArray:
        """(slots,) whether a pair isolates the component: C6."""
        return self.count > 0

    @property
    def served(self) -> BoolArray:
        """(slots,) whether a pair does so whose supports are both spanned, at some level γ_c: Conjecture R."""
        return self.level > 0


def isolating_pairs(supports: Any, *, pure: bool = False) -> IsolatingPairs:
    """The isolating pairs of each component (C6).

    Parameters
    ----------
    supports : (samples, slots) bool
    pure : whether a pure sample isolates its component by itself, as the proofs allow (m = m'); by default a
        pair is two samples, which is how the paper counts
    """
    held, samples = _distinct(_check(supports, "supports") != 0)
    return _pairs(held, samples, np.ones(len(held)), pure, np.nan)


def diverse_pairs(C: Any) -> IsolatingPairs:
    """The isolating pairs of each component and the level γ_c at which the best of them is served.

    A pair is served at the lower level of its two supports. Candidate sets are taken to be the supports, as in
    a solution that is to be checked; levels are lower bounds, since any samples of a support certify one.

    Parameters
    ----------
    C : (samples, slots) concentrations, zero where a component is absent
    """
    concentrations = _check(C, "C")
    held, samples = _distinct(concentrations != 0)
    return _pairs(held, samples, _levels(concentrations, held, samples), False, 1.0)


def never_separated(supports: Any) -> list[tuple[int, ...]]:
    """Groups of components that the samples never separate.

    For each component that no pair isolates, nor a pure sample, its group is everything that occurs in every
    sample that holds it: wherever the component is, all of them are, so that a share of the others may be
    counted to it and the samples still fit. Components that always occur together are one group; one that
    always comes with a common companion (a solvent) is a group with it, though the companion may be isolated
    on its own. A group of one is a component that nothing always accompanies, yet no two samples single out.

    Parameters
    ----------
    supports : (samples, slots) bool

    Returns
    -------
    groups of slots, each sorted; components that no sample holds are in none
    """
    held = _check(supports, "supports") != 0
    found = isolating_pairs(held, pure=True)
    together = held.T.astype(np.float64) @ held
    never_without = together == together.diagonal()[:, None]
    lonely = np.flatnonzero(found.active & ~found.isolated)
    return sorted({tuple(np.flatnonzero(never_without[i]).tolist()) for i in lonely})


def span_distance(size: int, error: Any, margin: Any, level: Any) -> Any:
    """How far the profiles of a spanned support can be from the true span: span proximity; with k, f of Thm 2(c).

    ϰ ε̄ / (s γ − √ϰ ε̄), infinite where that is not positive. Arrays are taken entry by entry.

    Parameters
    ----------
    size : ϰ, number of components in the support
    error : ε̄, by how much the noiseless samples may be missed
    margin : s, smallest singular value of the support's true profiles
    level : γ, diversity level of the support
    """
    room = np.asarray(margin * level - np.sqrt(size) * error, dtype=float)
    return np.divide(size * error, room, out=np.full(room.shape, np.inf), where=room > 0)[()]


def profile_distance(k: int, near: Any, far: Any, margin: Any) -> Any:
    """How far a profile near the spans of both supports of an isolating pair can be from the component's line.

    The pinch, δ₁ + √(2k) (δ₁ + δ₂) / s_min; with δ₁ = δ₂ = f it is f' of Theorem 2(c).

    Parameters
    ----------
    k : 2k bounds the number of components in both supports together
    near, far : δ₁ and δ₂, distances of the profile from the two spans
    margin : smallest singular value of the true profiles of both supports
    """
    return near + np.sqrt(2 * k) * (near + far) / margin


def _pairs(
    held: BoolArray, samples: list[IntArray], levels: FloatArray, pure: bool, unit: float
) -> IsolatingPairs:
    """The pairs of distinct supports, best served first; `unit` times their levels is reported."""
    occurs = np.array([len(group) for group in samples])
    alone = (held.sum(axis=1) == 1) & ((occurs > 1) | pure)
    n_slots = held.shape[1]
    count, example, best = np.zeros(n_slots, np.intp), np.full((n_slots, 2), -1), np.zeros(n_slots)
    for slot in range(n_slots):
        holders = np.flatnonzero(held[:, slot])
        # Best first, so that the first pattern that meets another is the best for it.
        holders = holders[np.argsort(-levels[holders], kind="stable")]
        # Overlaps are small whole numbers, exact in single precision, and a product of floats is the fast one.
        rows = held[holders][:, held[holders].any(axis=0)].astype(np.float32)
        for first in range(0, len(rows), BLOCK):
            block = np.arange(first, min(first + BLOCK, len(rows)))
            meet = rows[block] @ rows.T == 1  # which patterns meet those of the block in this slot alone
            meet[block - first, block] &= alone[holders[block]]
            count[slot] += np.triu(meet, block[0]).sum()
            partner = meet.argmax(axis=1)
            block, partner = block[meet.any(axis=1)], partner[meet.any(axis=1)]
            lower = np.minimum(levels[holders[block]], levels[holders[partner]])
            if lower.size and (example[slot, 0] < 0 or lower.max() > best[slot]):
                one, other = holders[block[lower.argmax()]], holders[partner[lower.argmax()]]
                best[slot] = lower.max()
                example[slot] = samples[one][0], samples[other][-1]
    return IsolatingPairs(count, example, unit * best, np.asarray(held.any(axis=0)))


def _levels(C: FloatArray, held: BoolArray, samples: list[IntArray]) -> FloatArray:
    """The level at which each distinct support is spanned, of Conjecture R: (patterns,).

    For a support of ϰ components: the largest σ_min over ϰ samples of that support of their ϰ x ϰ matrix of
    concentrations; zero where the support occurs less than ϰ times, infinite where it is empty. Exact where
    the choices can be enumerated, and otherwise a lower bound.
    """
    sizes = held.sum(axis=1)
    levels = np.where(sizes == 0, np.inf, 0.0)
    for pattern, rows in enumerate(samples):
        if len(rows) >= sizes[pattern] > 0:
            levels[pattern] = most_diverse(C[np.ix_(rows, np.flatnonzero(held[pattern]))])
    return levels


def most_diverse(rows: FloatArray) -> float:
    """The largest smallest singular value of a square choice of rows (samples, ϰ), or a lower bound on it."""
    n_rows, size = rows.shape
    if size == 1:
        return float(np.abs(rows).max())
    if comb(n_rows, size) <= ENUMERATED:
        return float(_smallest(rows[np.array(list(combinations(range(n_rows), size)))]).max())
    # The rows that span the largest volume, nearly: pivoting; then exchanges by what counts.
    chosen = scipy.linalg.qr(rows.T, mode="r", pivoting=True)[1][:size]
    level = float(_smallest(rows[chosen]))
    for _ in range(SWEEPS):
        tried = np.repeat(chosen[None, None], size * n_rows, axis=0).reshape(size, n_rows, size)
        tried[np.arange(size)[:, None], np.arange(n_rows), np.arange(size)[:, None]] = np.arange(n_rows)
        found = _smallest(rows[tried])
        place = np.unravel_index(found.argmax(), found.shape)
        if found[place] <= level * (1 + 1e-12):
            break
        level, chosen = float(found[place]), tried[place]
    return level


def _smallest(matrices: FloatArray) -> NDArray[np.floating[Any]]:
    return np.linalg.svd(matrices, compute_uv=False)[..., -1]


def _distinct(supports: BoolArray) -> tuple[BoolArray, list[IntArray]]:
    """The distinct supports, (patterns, slots), and the samples of each."""
    packed = np.packbits(supports, axis=1)
    # Whole rows as single values sort much faster than rows of bytes.
    rows = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    inverse = inverse.ravel()
    samples = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))[:-1])
    return supports[first], samples


def _check(table: Any, name: str) -> FloatArray:
    array = as_numbers(table, name, copy=False)
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise InputError(
            f"{name} must be a complete table, samples x slots, with at least one of each, "
            f"but has shape {array.shape}."
        )
    return array
