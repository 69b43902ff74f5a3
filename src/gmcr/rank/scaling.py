"""The scalings under which a table is looked at: each makes a usual kind of noise white."""

from __future__ import annotations

import numpy as np

from gmcr.validation import FloatArray


def scalings(table: FloatArray) -> dict[str, FloatArray]:
    """The table under each scaling that whitens a usual kind of noise."""
    scaled = {"as is": table, "rows scaled": table / np.sqrt((table**2).mean(axis=1, keepdims=True))}
    if (table >= 0).all():
        scaled["poisson scaled"] = table / np.sqrt(_outer_mean(table))
    return scaled


def _outer_mean(table: FloatArray, rounds: int = 20) -> FloatArray:
    """The outer product a b' for which table / (a b') has mean one in every row and column (Sinkhorn).

    A count's variance is its mean, so that dividing by sqrt(a b') gives noise whose variance averages to one
    over every row and column, which is all the Marchenko-Pastur law needs (Landa, Zhang & Kluger 2022). One
    round is the classical scaling by the root of row and column mean (Keenan & Kotula 2004).
    """
    b = table.mean(axis=0)
    for _ in range(rounds):
        a = (table / b).mean(axis=1)
        b = (table / a[:, None]).mean(axis=0)
    return np.outer(a, b)
