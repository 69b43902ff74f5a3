"""Malinowski's indicator: the error of each count, weighed by how many values are left to tell it."""

from __future__ import annotations

import numpy as np

from gmcr.rank.rules import RULES, Answer, Rule
from gmcr.rank.white_noise import SMALLEST_TAIL
from gmcr.validation import FloatArray


def malinowski(values: FloatArray, shape: tuple[int, ...]) -> Answer:
    """The minimum of the factor indicator function, IND = RE / (p - k)^2 (Malinowski 1977).

    RE = sqrt(sum of the squares after the k-th value / (n (p - k))) is the real error of k components.
    """
    n, p = max(shape), min(shape)
    k = np.arange(1, p)
    after = np.cumsum(values[::-1] ** 2)[::-1][1:]
    indicator = np.sqrt(after / (n * (p - k))) / (p - k) ** 2
    # The very last ones rest on a handful of values and can fall by chance.
    usable = max(p - SMALLEST_TAIL, 1)
    return Answer(int(np.argmin(indicator[:usable])) + 1)


RULES.add(
    "malinowski",
    Rule("Malinowski's indicator", lambda seen: malinowski(seen.values, seen.shape), needs_white=False),
)
