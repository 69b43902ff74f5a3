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
    G, left = _told_by(outside, inside, numbers, n)
    return T - G + T @ (S @ G), left.T @ left / n


def replicate_variance(values: FloatArray, group: np.ndarray) -> FloatArray:
    """(…,) variance of values (samples, …) about their group's mean; −1 is a sample by itself."""
    rows = group >= 0
    numbers = np.unique(group[rows], return_inverse=True)[1]
    apart = about_means(values[rows], numbers)
    return np.square(apart).sum(axis=0) / (len(apart) - int(numbers.max()) - 1)


def about_means(values: FloatArray, group: np.ndarray) -> FloatArray:
    """Values (samples, …) about the mean of each one's group."""
    return values - group_means(values, group)[group]


def group_means(values: FloatArray, group: np.ndarray, weight: FloatArray | None = None) -> FloatArray:
    """(groups, …) means of values (samples, …)."""
    weight = np.ones(len(values)) if weight is None else weight
    sums = np.zeros((int(group.max()) + 1, values.shape[1]))
    np.add.at(sums, group, weight[:, None] * values)
    return sums / np.bincount(group, weight)[:, None]


def _told_by(
    outside: FloatArray, inside: FloatArray, group: np.ndarray, n: int
) -> tuple[FloatArray, FloatArray]:
    """Coefficients (channels, slots) that tell `inside` from `outside`, and what they leave of a group not seen.

    Ridge regression; prior and noise variances are those of the largest marginal likelihood, for each column.
    """
    U, values, Vt = np.linalg.svd(outside, full_matrices=False)
    kept = (values > SMALLEST * max(values[0], np.finfo(float).tiny)) & (np.arange(len(values)) < n)
    U, values, Vt = U[:, kept], values[kept], Vt[kept]
    if not len(values):
        return np.zeros((outside.shape[1], inside.shape[1])), inside
    squares = np.square(values / values[0])
    coefficients, left = [], []
    for column in inside.T:
        seen = U.T @ column
        share = _likeliest_share(seen, max(float(column @ column - seen @ seen), 0.0), squares, n)
        coefficients.append(Vt.T @ (share / values * seen))
        rest = column - U @ (share * seen)
        for rows in _rows_of(group):  # as if the group had been left out
            hat = (U[rows] * share) @ U[rows].T
            rest[rows] = np.linalg.solve(np.eye(len(rows)) - hat, rest[rows])
        left.append(rest)
    return np.array(coefficients).T, np.array(left).T


def _likeliest_share(seen: FloatArray, rest: float, squares: FloatArray, n: int) -> FloatArray:
    """How much of each direction to believe: (directions,) between 0 and 1.

    seen : (directions,) along directions whose variances are in proportion to squares;  rest : squares elsewhere
    """

    def cost(log_ratio: float) -> float:
        d = 1.0 + np.exp(log_ratio) * squares
        return float(n * np.log(rest + (seen**2 / d).sum() + np.finfo(float).tiny) + np.log(d).sum())

    grid = np.linspace(-12.0, 20.0, 65)
    near = grid[int(np.argmin([cost(at) for at in grid]))]
    ratio = np.exp(minimize_scalar(cost, bounds=(near - 0.5, near + 0.5), method="bounded").x)
    return ratio * squares / (1.0 + ratio * squares)


def _rows_of(group: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
