"""Where samples lie among the profiles: coordinates in the space that these span, cleaned of known noise.

Coordinates are linear in the sample, x T, with S T = 1: all of a profile, and nothing of the others. Which of
these T is best depends on the noise. Replicates show it: how their coordinates differ goes along with how what is
left of them, outside the space, differs, so that the one tells the other. It is taken off as far as it can be
told (generalised least squares, the noise's covariance learned from replicates, shrunk by marginal likelihood).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from gmcr.validation import FloatArray

SMALLEST = 1e-10  # singular values of what is left, over the largest: rounding


@dataclass(frozen=True, eq=False)
class Coordinates:
    """How samples get their coordinates.

    T : (channels, slots), or None where decoded concentrations, zero for what is not held, tell amounts better
    covariance : (slots, slots) of a single sample's own error
    """

    T: FloatArray | None
    covariance: FloatArray

    def of(self, D: FloatArray, C: FloatArray) -> FloatArray:
        """(samples, slots) of complete samples D, decoded as C."""
        return C if self.T is None else D @ self.T


def plain_map(S: FloatArray) -> FloatArray:
    """T of plain least squares over the profiles S (slots, channels): (channels, slots)."""
    return np.linalg.pinv(S).astype(np.float64)


def cleaned_map(D: FloatArray, S: FloatArray, group: np.ndarray) -> tuple[FloatArray, FloatArray] | None:
    """T learned from replicates, and the covariance (slots, slots) of a single sample's own error under it.

    D : (samples, channels) complete;  group : (samples,) number of the mixture, −1 for a sample by itself
    None where fewer replicates differ than there are coordinates.
    """
    T = plain_map(S)
    rows = group >= 0
    numbers = np.unique(group[rows], return_inverse=True)[1]
    n = int(rows.sum()) - int(numbers.max(initial=-1)) - 1
    if n <= len(S):
        return None
    apart = about_means(D[rows], numbers)
    inside = apart @ T
    outside = apart - inside @ S
    G, spent = _told_by(outside, inside, n)
    left = (inside - outside @ G) / np.maximum(1.0 - spent / n, 1.0 / n)  # as on replicates it has not seen
    return T - G + T @ (S @ G), left.T @ left / n


def about_means(values: FloatArray, group: np.ndarray) -> FloatArray:
    """Values (samples, …) about the mean of each one's group."""
    return values - group_means(values, group)[group]


def group_means(values: FloatArray, group: np.ndarray, weight: FloatArray | None = None) -> FloatArray:
    """(groups, …) means of values (samples, …)."""
    weight = np.ones(len(values)) if weight is None else weight
    sums = np.zeros((int(group.max()) + 1, values.shape[1]))
    np.add.at(sums, group, weight[:, None] * values)
    return sums / np.bincount(group, weight)[:, None]


def _told_by(outside: FloatArray, inside: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Coefficients (channels, slots) that tell `inside` from `outside`, and the parameters that each spent.

    Ridge regression; prior and noise variances are those of the largest marginal likelihood, for each column.
    """
    U, values, Vt = np.linalg.svd(outside, full_matrices=False)
    kept = (values > SMALLEST * max(values[0], np.finfo(float).tiny)) & (np.arange(len(values)) < n)
    U, values, Vt = U[:, kept], values[kept], Vt[kept]
    if not len(values):
        return np.zeros((outside.shape[1], inside.shape[1])), np.zeros(inside.shape[1])
    seen = U.T @ inside
    rest = np.maximum(np.square(inside).sum(axis=0) - np.square(seen).sum(axis=0), 0.0)
    squares = np.square(values / values[0])
    coefficients, spent = [], []
    for column, left in zip(seen.T, rest):

        def cost(log_ratio: float, column: FloatArray = column, left: float = left) -> float:
            d = 1.0 + np.exp(log_ratio) * squares
            return n * np.log(left + (column**2 / d).sum() + np.finfo(float).tiny) + np.log(d).sum()

        grid = np.linspace(-12.0, 20.0, 65)
        near = grid[int(np.argmin([cost(at) for at in grid]))]
        ratio = np.exp(minimize_scalar(cost, bounds=(near - 0.5, near + 0.5), method="bounded").x)
        share = ratio * squares / (1.0 + ratio * squares)
        coefficients.append(Vt.T @ (share / values * column))
        spent.append(share.sum())
    return np.array(coefficients).T, np.array(spent)
