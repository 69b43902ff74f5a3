"""Whether samples that are alike in some directions are alike in others: signal changes slowly from one sample to
the next like it, noise does not. Which samples are neighbours is told by the data, whatever their order.
"""

from __future__ import annotations

import numpy as np

from gmcr.counting.left_over import Parts
from gmcr.validation import FloatArray, evenly

NEAREST = 2
ENOUGH = 150  # samples, to tell how alike neighbours are
FEWEST, MOST = 2, 12  # directions that tell neighbours, where noise shows how many are signal


def of_neighbours(parts: Parts, signal: int, most: int) -> dict[str, FloatArray]:
    """How alike neighbours are: along single directions, and in all that is left.

    parts : singular value decomposition of the table;  signal : directions that stand out of the noise
    """
    U, values, _ = parts
    U = U[evenly(len(U), ENOUGH)]
    n = min(most + 3, len(values))
    told = int(np.clip(signal, FEWEST, min(MOST, n - 1)))
    amounts = U[:, :n] * values[:n]
    size = np.linalg.norm(amounts[:, :told], axis=1, keepdims=True)
    found = {"neighbours: beyond those that tell": np.arange(1.0, most + 1) - told}
    for name, scores in (("amounts", amounts), ("shares", amounts / np.maximum(size, np.finfo(float).tiny))):
        apart = [np.square(scores[:, j, None] - scores[:, j]) for j in range(n)]
        found |= _beyond_the_first(apart, U, values, most, name)
        found |= _beside_the_others(apart, U, scores, told, most, name)
    return found


def _beyond_the_first(
    apart: list[FloatArray], U: FloatArray, values: FloatArray, most: int, name: str
) -> dict[str, FloatArray]:
    """Neighbours in the first k directions: how alike they are in the next ones, and in all that is left."""
    next_ones, left = np.full((3, most + 1), np.nan), np.full(most + 1, np.nan)
    distance = np.zeros_like(apart[0])
    for k in range(1, min(most, len(apart) - 1) + 1):
        distance += apart[k - 1]
        near = _nearest(distance)
        for j in range(min(3, len(values) - k)):
            next_ones[j, k] = _alike(U[:, k + j], near)
        rest = U[:, k:] * values[k:]
        mean = rest[near].mean(axis=1)
        left[k] = np.vdot(rest, mean) / max(float(np.vdot(rest, rest)), np.finfo(float).tiny)
    return {
        f"neighbours: next by {name}": next_ones[0, 1:],
        f"neighbours: next but one by {name}": next_ones[1, 1:],
        f"neighbours: third by {name}": next_ones[2, 1:],
        f"neighbours: left by {name}": left[1:],
    }


def _beside_the_others(
    apart: list[FloatArray], U: FloatArray, scores: FloatArray, told: int, most: int, name: str
) -> dict[str, FloatArray]:
    """Neighbours in all directions that tell them but one: how alike they are along that one."""
    along, scaled = np.full((2, max(most, len(apart))), np.nan)
    together = np.sum(apart[:told], axis=0)
    in_all = _nearest(together)
    for j in range(len(apart)):
        near = _nearest(together - apart[j]) if j < told else in_all
        along[j], scaled[j] = _alike(U[:, j], near), _alike(scores[:, j], near)
    return {
        f"neighbours: by other {name}": along[:most],
        f"neighbours: share by other {name}": scaled[:most],
    }


def _nearest(distance: FloatArray) -> np.ndarray:
    """The nearest others of each sample: (samples, NEAREST)."""
    distance = distance.copy()
    np.fill_diagonal(distance, np.inf)
    return np.argpartition(distance, NEAREST, axis=1)[:, :NEAREST]


def _alike(along: FloatArray, near: np.ndarray) -> float:
    """One where samples are as far along a direction as their neighbours are, about zero for noise."""
    return float(along @ along[near].mean(axis=1)) / max(float(along @ along), np.finfo(float).tiny)
