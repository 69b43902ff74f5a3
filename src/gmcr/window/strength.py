"""How well states are borne out: numbers on the weakest slot of one, and on the fits at each count."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import chi2

from gmcr.noise import Sigma
from gmcr.validation import FloatArray
from gmcr.window.first_guess import singular_values
from gmcr.window.problem import Problem, State
from gmcr.window.search import Search

ALPHA = 0.05  # chance that noise alone makes any of the samples unexplained


def strength(search: Search, state: State) -> dict[str, Any]:
    """Fields of the `Evidence` on the cheapest state and on what was fitted at each count."""
    return _of_slots(search.problem, state) | {
        "agreement": {count: _agreement(pools) for count, pools in search.starts.items() if len(pools) > 1},
        "excess": _excess(search.problem, search.states),
    }


def _of_slots(problem: Problem, state: State) -> dict[str, float]:
    if not state.count:
        return {}
    holders = problem.holders(state)
    worth = problem.repeats @ state.removal / np.maximum(problem.slot_prices(holders), 1.0)
    limit = chi2.isf(ALPHA / problem.n_samples, problem.n_channels)
    cosines = state.S @ state.S.T
    np.fill_diagonal(cosines, 0.0)
    return {
        "weakest": float(worth.min()),
        "rarest": float(holders.min()),
        "unexplained": float((state.misfit > limit).mean()),
        "alike": float(np.clip(cosines.max(), 0.0, 1.0)),
    }


def _agreement(pools: list[FloatArray]) -> float:
    """The smallest cosine between matched profiles of two starts, as the median over pairs of them."""
    return float(np.median([_worst_match(*pair) for pair in combinations(pools, 2)]))


def _worst_match(S: FloatArray, other: FloatArray) -> float:
    cosines = S @ other.T
    return float(cosines[linear_sum_assignment(-cosines)].min())


def _excess(problem: Problem, states: dict[int, State]) -> dict[int, float]:
    """What the state at each count leaves, over what as many directions leave."""
    squares = np.square(singular_values(problem.X))
    plain = Sigma(np.ones(problem.n_samples))
    least = 1e-15 * float(squares.sum())
    return {
        count: float(problem.misfit(state, plain).sum()) / max(float(squares[count:].sum()), least)
        for count, state in sorted(states.items())
        if count < len(squares)
    }
