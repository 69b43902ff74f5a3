"""From evidence on each count to a probability of each."""

from __future__ import annotations

import numpy as np

from gmcr.counting.gathered import Gathered
from gmcr.counting.net import Net
from gmcr.window.evidence import FIRM

MASS = FIRM  # of the range that is told: where it is one count, that is firm


def probabilities(gathered: Gathered, learned: Net) -> dict[int, float]:
    """Of each candidate count; they sum to one."""
    order = [gathered.names.index(name) for name in learned.names.tolist()]
    chances = learned.chances(gathered.values[:, order])
    return dict(zip(gathered.counts.tolist(), chances.tolist(), strict=True))


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
