"""Solutions that fit as well, spread over all of them."""

from __future__ import annotations

import numpy as np

from gmcr.theory.extremes import BOX, Problem
from gmcr.theory.transformations import Block
from gmcr.validation import FloatArray

FAR, HALVINGS = 100.0, 12  # of a step: how far, and how finely at most, its end is looked for
FINE = 0.05  # of a step's length, within which its end is found


def drawn(block: Block, n_draws: int, seed: int = 0) -> list[FloatArray]:
    """T of so many solutions that fit as well, spread over all of them: hit and run (Smith 1984).

    It forgets where it was in about as many steps as the square of the dimension; with fewer, draws stay near
    the solution that was found.
    """
    problem, random = Problem(block), np.random.default_rng(seed)
    x, found = np.zeros(block.n_variables), list[FloatArray]()
    for _ in range(n_draws):
        for _ in range(block.n_variables**2):
            direction = random.standard_normal(len(x))
            direction /= np.linalg.norm(direction)
            low, high = (_reach(problem, x, sign * direction) for sign in (-1.0, 1.0))
            x = x + random.uniform(-low, high) * direction
        found.append(block.transformation(x))
    return found


def _reach(problem: Problem, x: FloatArray, direction: FloatArray) -> float:
    """How far one can go from x before something is no longer met."""
    low, high = 0.0, BOX
    while high < FAR and problem.is_feasible(x + high * direction):
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        if high - low < FINE * low:
            break
        middle = 0.5 * (low + high)
        low, high = (middle, high) if problem.is_feasible(x + middle * direction) else (low, middle)
    return low
