"""How far columns are from what they must obey, in compiled code: what limits rotations (middle.py)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gmcr.constrained.factors import Factor
from gmcr.constraints import Monotonic, Unimodal
from gmcr.constraints.isotonic import distance_rising, distance_unimodal

FREE, ONE_TOP, UP, DOWN = range(4)


class Walls(NamedTuple):
    """Places in the order of their series, and what compiled code needs.

    order : (places,) which place comes n-th
    walls : where each series ends in that order (series,); bounds (places, components), twice; shape and
        tolerance of each component's column
    """

    order: NDArray[np.intp]
    walls: tuple[Any, ...]


def walls_of(factor: Factor) -> Walls:
    """What limits columns whatever their unit: zeros, signs, and shapes that go by order."""
    n_places, n_components = factor.lower.shape
    series, shape, tolerance = (
        [np.arange(n_places)],
        np.zeros(n_components, dtype=np.int64),
        np.ones(n_components),
    )
    for j, one in enumerate(factor.shaped_by):
        if isinstance(one, Unimodal | Monotonic):
            series = one.series(n_places, factor.layout)
            shape[j] = ONE_TOP if isinstance(one, Unimodal) else UP if one.direction == "up" else DOWN
            tolerance[j] = one.tolerance if isinstance(one, Unimodal) else 1.0
    order = np.concatenate(series)
    ends = np.cumsum([len(places) for places in series])
    lower, upper = factor.lower.copy(), factor.upper.copy()
    lower[lower != 0], upper[upper != 0] = -np.inf, np.inf
    lower[(factor.lower > 0)] = 0.0
    return Walls(order, (ends, lower[order], upper[order], shape, tolerance))


@njit(cache=True, nogil=True, error_model="numpy")
def distance(x, j, walls):
    """Squared distance of component j's column x (places,) from the nearest one that obeys."""
    ends, lower, upper, shape, tolerance = walls
    total, begin = 0.0, 0
    if shape[j] == FREE:
        for m in range(len(x)):
            off = x[m] - min(max(x[m], lower[m, j]), upper[m, j])
            total += off * off
        return total
    for end in ends:
        y, low, high = x[begin:end].copy(), lower[begin:end, j].copy(), upper[begin:end, j].copy()
        if shape[j] == ONE_TOP:
            total += distance_unimodal(y, low, high, tolerance[j])
        elif shape[j] == UP:
            total += distance_rising(y, low, high, tolerance[j])
        else:
            total += distance_rising(y[::-1].copy(), low[::-1].copy(), high[::-1].copy(), tolerance[j])
        begin = end
    return total
