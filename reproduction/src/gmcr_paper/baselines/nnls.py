"""Non-negative least squares of many samples over one pool."""

from __future__ import annotations

import numpy as np
import scipy.optimize
from scipy.linalg.lapack import dposv

from gmcr.validation import BoolArray, FloatArray

MOST_EXCHANGES = (
    100  # of block pivoting, which needs about ten; beyond, Lawson & Hanson's algorithm takes over
)
PATIENCE = 3  # exchanges of whole blocks without fewer errors before single ones
ROUNDING = 1e-10  # of the largest product: a gradient above minus this is not negative


def nnls(D: FloatArray, S: FloatArray) -> FloatArray:
    """Concentrations C ≥ 0 with the smallest ‖D − C S‖: (samples, slots).

    Block principal pivoting (Kim & Park 2011) from the signs of the unconstrained solution, sample by sample;
    where that fails, as with profiles that depend on each other, Lawson & Hanson's algorithm.

    D : (samples, channels);  S : (slots, channels)
    """
    gram, products = S @ S.T, D @ S.T
    _, free, info = dposv(gram, products.T)
    passive = free.T > 0 if info == 0 else np.ones(products.shape, dtype=bool)
    C = np.empty_like(products)
    reduced = None
    for m, product in enumerate(products):
        solved = pivot(gram, product, passive[m])
        if solved is None:
            # What a sample has outside the span of the pool no concentration can fit: as few equations as slots.
            reduced = np.linalg.qr(S.T) if reduced is None else reduced
            solved = scipy.optimize.nnls(reduced[1], reduced[0].T @ D[m], maxiter=30 * len(S))[0]
        C[m] = solved
    return C


def pivot(gram: FloatArray, product: FloatArray, passive: BoolArray) -> FloatArray | None:
    """min ½x'Gx − b'x over x ≥ 0: (K,); None where G is singular to rounding, or after too many exchanges.

    gram : G (K, K);  product : b (K,);  passive : (K,) a first guess at where x > 0
    """
    passive = passive.copy()
    tolerance = ROUNDING * max(np.abs(product).max(), np.finfo(float).tiny)
    fewest, patience = len(product) + 1, PATIENCE
    for _ in range(MOST_EXCHANGES):
        inside = np.flatnonzero(passive)
        x = np.zeros(len(product))
        if inside.size:
            _, x[inside], info = dposv(gram[np.ix_(inside, inside)], product[inside])
            if info != 0:
                return None
        wrong = np.where(passive, x < 0, gram @ x - product < -tolerance)
        n_wrong = int(wrong.sum())
        if n_wrong == 0:
            return x
        if n_wrong < fewest:
            fewest, patience = n_wrong, PATIENCE
        elif patience > 0:
            patience -= 1
        else:  # the last one alone: slow, but it cannot go round in circles
            wrong[: np.flatnonzero(wrong)[-1]] = False
        passive ^= wrong
    return None
