"""A rank rule: singular values above five times their median tell of components."""

import numpy as np

from gmcr.rank import RULES, Answer, Rule


def ask(seen):
    """How many stand above the threshold."""
    threshold = 5 * float(np.median(seen.values))
    return Answer(int((seen.values > threshold).sum()), threshold)


RULES.add("five-medians", Rule("five medians", ask))
