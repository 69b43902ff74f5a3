"""From evidence on each count to a probability of each."""

from __future__ import annotations

import numpy as np

from gmcr.counting.forest import Learned
from gmcr.counting.gathered import Gathered
from gmcr.validation import FloatArray
from gmcr.window.evidence import FIRM

MASS = FIRM  # of the range that is told: where it is one count, that is firm
LEAST = 1e-9  # probability of a count, whose logarithm is taken


def probabilities(gathered: Gathered, learned: Learned) -> dict[int, float]:
    """Of each candidate count; they sum to one."""
    order = [gathered.names.index(name) for name in learned.stop.names.tolist()]
    values = gathered.values[:, order]
    ways = stopping(learned.stop.score(values)), choosing(learned.choice.score(values))
    return dict(zip(gathered.counts.tolist(), combined(ways, learned.weights).tolist(), strict=True))


def stopping(log_odds: FloatArray) -> FloatArray:
    """The distribution over counts whose odds to stop at each, given that it is reached, are these."""
    stop = 1.0 / (1.0 + np.exp(-np.clip(log_odds, -30, 30)))
    reached = np.concatenate([[1.0], np.cumprod(1.0 - stop)[:-1]])
    return stop * reached / (stop * reached).sum()


def choosing(scores: FloatArray) -> FloatArray:
    """The distribution over counts whose logarithms, but for a constant, are these."""
    chances = np.exp(scores - scores.max())
    return chances / chances.sum()


def combined(ways: tuple[FloatArray, ...], weights: FloatArray) -> FloatArray:
    """The product of distributions, each to the power of its weight."""
    logs = [weight * np.log(np.maximum(way, LEAST)) for way, weight in zip(ways, weights, strict=True)]
    return choosing(np.sum(logs, axis=0))


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
