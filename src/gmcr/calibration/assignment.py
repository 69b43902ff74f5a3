"""Which known amounts are which component's: the assignment under which they go along best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from gmcr.errors import InputError
from gmcr.validation import FloatArray

CLOSE = np.log(3.0)  # log-likelihoods nearer than this do not tell two assignments apart (Jeffreys)
EXACT = 1e-12  # share of the squares that is rounding


def assigned(
    X: FloatArray, amounts: FloatArray, names: tuple[str, ...], given: Any = None
) -> tuple[NDArray[np.intp], FloatArray]:
    """The component of each column of known amounts, and how well both go along: (known,), (known,) correlations.

    X : (mixtures, components) coordinates;  amounts : (mixtures, known), NaN where not known
    given : component by name, for those that the caller knows
    """
    along, score = _likenesses(X, amounts)
    told = _check_given(given, names, X.shape[1])
    for a, component in told.items():
        score[a] = -np.inf
        score[:, component] = -np.inf
        score[a, component] = 0.0
    score = np.maximum(score, -1e9)
    rows, columns = linear_sum_assignment(-score)
    best = float(score[rows, columns].sum())
    for a in rows:  # the best one that does otherwise here
        if a in told or score.shape[1] == 1:
            continue
        other = score.copy()
        other[a, columns[a]] = -1e9
        at = linear_sum_assignment(-other)
        if best - float(other[at].sum()) < CLOSE:
            raise InputError(
                f"known does not tell which component is {names[a]!r}: {columns[a]} and {at[1][a]} go along with "
                f"it about as well (correlations {along[a, columns[a]]:.4f} and {along[a, at[1][a]]:.4f}); say "
                f'it with components={{"{names[a]}": {columns[a]}}}, or give amounts of more mixtures.'
            )
    return columns.astype(np.intp), along[rows, columns]


def _likenesses(X: FloatArray, amounts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Correlations through zero, and the log-likelihood of amounts in proportion: (known, components) both."""
    along = np.zeros((amounts.shape[1], X.shape[1]))
    score = np.zeros_like(along)
    for a, y in enumerate(amounts.T):
        rows = ~np.isnan(y)
        size = np.linalg.norm(X[rows], axis=0) * np.linalg.norm(y[rows])
        along[a] = (y[rows] @ X[rows]) / np.where(size > 0, size, 1.0)
        # A component that falls where the amount rises is not it, however well both go along.
        left = np.maximum(1.0 - np.square(np.maximum(along[a], 0.0)), EXACT)
        score[a] = -0.5 * rows.sum() * np.log(left)
    return along, score


def _check_given(given: Any, names: tuple[str, ...], n_components: int) -> dict[int, int]:
    if given is None:
        return {}
    fine = isinstance(given, Mapping) and set(given) <= set(names)
    fine = fine and all(isinstance(j, int | np.integer) and 0 <= j < n_components for j in given.values())
    if not fine or len(set(given.values())) < len(given):
        raise InputError(
            f"components must give each of {', '.join(names)} a component of its own, 0 to {n_components - 1}, "
            f"by name, not {given!r:.60}."
        )
    return {names.index(name): int(j) for name, j in given.items()}
