"""From evidence on each count to a probability of each: the chance to stop at it, given that it is reached."""

from __future__ import annotations

import numpy as np

from gmcr.counting.forest import Forest
from gmcr.counting.gathered import Gathered
from gmcr.validation import FloatArray
from gmcr.window.evidence import FIRM

MASS = FIRM  # of the range that is told: where it is one count, that is firm


def probabilities(gathered: Gathered, forest: Forest) -> dict[int, float]:
    """Of each candidate count; they sum to one."""
    order = [gathered.names.index(name) for name in forest.names.tolist()]
    return spread(gathered.counts, forest.log_odds(gathered.values[:, order]))


def spread(counts: np.ndarray, log_odds: FloatArray) -> dict[int, float]:
    """The distribution over counts whose odds to stop at each, given that it is reached, are these."""
    stop = 1.0 / (1.0 + np.exp(-np.clip(log_odds, -30, 30)))
    reached = np.concatenate([[1.0], np.cumprod(1.0 - stop)[:-1]])
    chances = stop * reached
    return {int(k): float(p) for k, p in zip(counts, chances / chances.sum(), strict=True)}


def smallest_range(chances: dict[int, float], mass: float = MASS) -> tuple[int, int]:
    """The lowest and highest count of the shortest run of candidates that has so much probability."""
    counts, p = list(chances), np.array(list(chances.values()))
    total = np.concatenate([[0.0], np.cumsum(p)])
    for length in range(1, len(counts) + 1):
        inside = total[length:] - total[:-length]
        best = int(np.argmax(inside))
        if inside[best] >= min(mass, total[-1]) - 1e-12:
            return counts[best], counts[best + length - 1]
    return counts[0], counts[-1]
