"""The eigengap: where the values drop most."""

from __future__ import annotations

import numpy as np

from gmcr.rank.rules import RULES, Answer, Rule
from gmcr.rank.white_noise import expected_values, noise_edge
from gmcr.validation import FloatArray


def eigengap(values: FloatArray, shape: tuple[int, ...]) -> Answer:
    """The largest ratio of one value to the next, from the second value on, in the upper two thirds.

    The first drop is left out because non-negative samples have a large common part: their first value
    stands far above the others whatever the count. It counts only when no later drop is larger than white
    noise alone would show.
    """
    last = max(2 * len(values) // 3, 2)
    ratios = values[1:last] / values[2 : last + 1]
    n, p = max(shape) - 1, min(shape) - 1
    second_of_noise = expected_values(p, n, p)[-2]
    if ratios.max() <= noise_edge(n, p) / second_of_noise:
        return Answer(1)
    return Answer(int(np.argmax(ratios)) + 2)


RULES.add("eigengap", Rule("eigengap", lambda seen: eigengap(seen.values, seen.shape), needs_white=False))
