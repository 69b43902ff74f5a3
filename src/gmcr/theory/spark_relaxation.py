"""The semidefinite relaxation of the spark margin: a lower bound on the smallest eigenvalue of any few slots.

A unit vector v on at most `size` slots has Σ_{i≠j} |v_i v_j| ≤ size − 1. Hence for every U with zero diagonal

    v'Gv = v'(G − U)v + v'Uv ≥ λ_min(G − U) − (size − 1) max|U| .

The best U is the multiplier of the relaxation of sparse PCA (d'Aspremont et al., 2007),

    min tr GX   over   X ⪰ 0, tr X = 1, Σ_{i≠j} |X_ij| ≤ size − 1,

found by alternating projections (ADMM). The bound holds wherever they stop.
"""

from __future__ import annotations

import numpy as np

from gmcr.validation import FloatArray

EPS = float(np.finfo(float).eps)
CHECKED = 5  # iterations between two looks at the bound
EIGEN_WORK = 0.2  # an eigendecomposition of n x n costs as much as visiting this many times n³ entries


class Relaxation:
    """The iterations on one matrix.

    Attributes
    ----------
    G : (slots, slots) symmetric
    bound : the best lower bound so far, possibly negative
    work : entries visited
    """

    def __init__(self, G: FloatArray, size: int, start: tuple[FloatArray, FloatArray] | None = None) -> None:
        self.G, self.size, self.bound, self.work = G, size, -np.inf, 0.0
        n = len(G)
        self.off = ~np.eye(n, dtype=bool)
        # The scale on which the multiplier moves: a random matrix of this spread has a norm of 2√n of it.
        self.step = 10.0 * float(np.std(G[self.off])) * n**0.5 + 1e-6 if n > 1 else 1.0
        if start is None:
            self.Y, self.W = np.eye(n) / n, np.zeros((n, n))
        else:
            self.Y, self.W = start[0].copy(), start[1] / self.step

    def run(self, iterations: int, target: float = np.inf) -> float:
        """Iterate until the bound passes `target`, or clearly will not; the bound."""
        n, last = len(self.G), -np.inf
        for iteration in range(1, iterations + 1):
            values, vectors = np.linalg.eigh(self.Y - self.W - self.G / self.step)
            X = (vectors * _onto_simplex(values, 1.0)) @ vectors.T
            Y = X + self.W
            outside = Y[self.off]
            if np.abs(outside).sum() > self.size - 1:
                Y[self.off] = np.copysign(_onto_simplex(np.abs(outside), self.size - 1.0), outside)
            self.W += X - Y
            self.Y = Y
            self.work += EIGEN_WORK * n**3 + 10 * n**2
            if iteration % CHECKED == 0 or iteration == iterations:
                now = self.evaluate()
                left = (iterations - iteration) / CHECKED
                # Gains shrink from one look to the next, so the last gain bounds those to come.
                if self.bound > target or (np.isfinite(target) and now + left * max(now - last, 0) < target):
                    break
                last = now
        return self.bound

    def evaluate(self) -> float:
        """The bound for the multiplier as it stands."""
        n = len(self.G)
        U = np.where(self.off, -(self.step / 2) * (self.W + self.W.T), 0.0)
        spectrum = np.linalg.eigvalsh(self.G - U)
        rounding = 4 * EPS * n * float(np.abs(spectrum).max() + n)
        now = float(spectrum[0]) - (self.size - 1) * float(np.abs(U).max()) - rounding
        self.work += EIGEN_WORK * n**3 / 2
        self.bound = max(self.bound, now)
        return now


def _onto_simplex(values: FloatArray, total: float) -> FloatArray:
    """The nearest vector that is not negative and sums to `total`."""
    if total <= 0:
        return np.zeros_like(values)
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    return np.maximum(values - excess[np.flatnonzero(falling > excess)[-1]], 0.0)
