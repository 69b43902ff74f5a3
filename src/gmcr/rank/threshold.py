"""Gavish and Donoho's threshold: values worth keeping rather than dropping."""

from __future__ import annotations

import numpy as np

from gmcr.rank.rules import RULES, Answer, Rule
from gmcr.rank.white_noise import above_noise
from gmcr.validation import FloatArray


def gavish_donoho(values: FloatArray, shape: tuple[int, ...]) -> Answer:
    """Values above the hard threshold that loses least when the rest is dropped (Gavish & Donoho 2014).

    Their rule for unknown noise takes the noise from the median of all values, which is right for a count far
    below the smaller side; here it comes from the remainder.
    """

    def optimal(n: int, p: int) -> float:
        b = p / n
        return float(np.sqrt(n * (2 * (b + 1) + 8 * b / (b + 1 + np.sqrt(b**2 + 14 * b + 1)))))

    return above_noise(values, shape, optimal)[0]


RULES.add(
    "gavish-donoho", Rule("Gavish-Donoho threshold", lambda seen: gavish_donoho(seen.values, seen.shape))
)
