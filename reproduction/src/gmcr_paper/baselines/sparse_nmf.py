"""NMF with a given sparseness of its factors (Hoyer 2004, "Non-negative matrix factorization with sparseness
constraints"): projected gradient steps, each followed by his projection onto vectors of that sparseness."""

from __future__ import annotations

from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray
from gmcr_paper.baselines.base import Baseline, Factors, as_seed, check_count, check_positive
from gmcr_paper.baselines.coordinates import sweep
from gmcr_paper.baselines.nmf import nmf

START_TOLERANCE = 1e-3  # of the plain NMF to start from: near its end, where its sparseness no longer moves
SMALLEST_STEP = 1e-12
ROUNDING = (
    1e-12  # of a row's norm: closer to the middle of its plane, a row's direction from there is rounding
)


class SparseNMF(Baseline):
    """NMF whose profiles, concentrations or both have a given sparseness.

    The sparseness of a vector x of length n is (√n − ‖x‖₁/‖x‖₂) / (√n − 1): 0 where all entries are equal, 1
    where only one is not zero. It is the same for all profiles, and the same for every component's
    concentrations over the samples.

    Parameters
    ----------
    n_components : the count
    sparseness_c : sparseness of each component's concentrations over the samples, 0 to 1; None leaves it free
    sparseness_s : sparseness of each profile over the channels, 0 to 1; None leaves it free. If both are None,
        `sparseness_c` is the mean sparseness of the concentrations of plain NMF at the same count
    max_iter : most iterations
    tol : relative change of the squared error at which to stop
    signed : whether samples have both signs; they are then split, see `Baseline`
    random_state : seed, or a generator of random numbers; None is the seed 0

    Attributes
    ----------
    sparseness_ : the sparseness held: {"c": ..., "s": ...}, None where it was free

    Notes
    -----
    The paper names no sparseness, so that its fits (R² near 0.5 on the synthetic mixtures) cannot be repeated.
    The default here is near what the data have by themselves. One number for all components is a strong
    assumption: it fails where some are in many samples and others in few.

    The start is plain NMF, where Hoyer's is random, and a free factor is fitted by coordinate descent, where he
    takes a multiplicative step; both only save iterations.
    """

    def __init__(
        self,
        n_components: int,
        *,
        sparseness_c: float | None = None,
        sparseness_s: float | None = None,
        max_iter: int = 500,
        tol: float = 1e-5,
        signed: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.sparseness_c = sparseness_c
        self.sparseness_s = sparseness_s
        self.max_iter = max_iter
        self.tol = tol
        self.signed = signed
        self.random_state = random_state

    def _factorise(self, D: FloatArray) -> Factors:
        count = check_count(self.n_components)
        wanted_c = _check_sparseness(self.sparseness_c, "sparseness_c")
        wanted_s = _check_sparseness(self.sparseness_s, "sparseness_s")
        max_iter, tol = check_count(self.max_iter, "max_iter"), check_positive(self.tol, "tol")
        start = nmf(
            D,
            count,
            solver="cd",
            init="nndsvda",
            max_iter=max_iter,
            tol=START_TOLERANCE,
            seed=as_seed(self.random_state),
        )
        alive = start.C.any(axis=0) & start.S.any(axis=1)  # a vector of zeros has no sparseness
        C, S = start.C[:, alive], start.S[alive]
        if wanted_c is None and wanted_s is None:
            wanted_c = float(sparseness(C.T).mean())
        self.sparseness_ = {"c": wanted_c, "s": wanted_s}
        return sparse_nmf(D, C, S, wanted_c, wanted_s, max_iter, tol)


def sparse_nmf(
    D: FloatArray,
    C: FloatArray,
    S: FloatArray,
    sparseness_c: float | None,
    sparseness_s: float | None,
    max_iter: int,
    tol: float,
) -> Factors:
    """Hoyer's algorithm from a start C (samples, K), S (K, channels), D ≈ C S."""
    X, S = np.ascontiguousarray(C.T), S.copy()
    if sparseness_c is not None:
        X = project(X, sparseness_c)
    if sparseness_s is not None:
        S = project(S, sparseness_s)
    step_c, step_s = (1.0 / float(np.linalg.norm(Y @ Y.T, 2)) for Y in (S, X))
    power = float(np.square(D).sum())
    error = squared_error(S, X @ D, X @ X.T, power)
    for iteration in range(1, max_iter + 1):
        before = error
        X, error, step_c = _update(X, S @ D.T, S @ S.T, power, error, sparseness_c, step_c)
        S, error, step_s = _update(S, X @ D, X @ X.T, power, error, sparseness_s, step_s)
        if before - error <= tol * before:
            return Factors(X.T, S, iteration)
    return Factors(X.T, S, max_iter, converged=False)


def _update(
    X: FloatArray,
    products: FloatArray,
    gram: FloatArray,
    power: float,
    error: float,
    wanted: float | None,
    step: float,
) -> tuple[FloatArray, float, float]:
    """One factor's turn: the factor, the squared error and the length of the next step.

    X : (K, lines);  products : Y'D;  gram : Y'Y, for the other factor Y
    """
    if wanted is None:
        X = X.copy()
        sweep(X, products, gram)
        return X, squared_error(X, products, gram, power), step
    gradient = gram @ X - products
    while step > SMALLEST_STEP / np.trace(gram):
        trial = project(X - step * gradient, wanted)
        reached = squared_error(trial, products, gram, power)
        if reached <= error:
            return trial, reached, 1.2 * step
        step /= 2
    return X, error, step


def squared_error(X: FloatArray, products: FloatArray, gram: FloatArray, power: float) -> float:
    """‖D − Y X‖² from Y'D, Y'Y and ‖D‖²."""
    return max(power - 2 * float((products * X).sum()) + float((gram * (X @ X.T)).sum()), 0.0)


def sparseness(X: FloatArray) -> FloatArray:
    """Hoyer's sparseness of each row of X (rows, n), none of them zero: (rows,)."""
    root = np.sqrt(X.shape[1])
    if root == 1:
        return np.ones(len(X))
    return (root - np.abs(X).sum(axis=1) / np.linalg.norm(X, axis=1)) / (root - 1)


def project(X: FloatArray, wanted: float) -> FloatArray:
    """The non-negative rows of given sparseness, each with its row's norm, that are closest to the rows of X.

    Hoyer's projection operator, all rows at once. A row goes to the plane Σx = l1, and in it away from its
    middle to the sphere ‖x‖ = l2; entries that became negative are fixed at zero, and so on with the rest.

    X : (rows, n)
    """
    n = X.shape[1]
    l2 = np.linalg.norm(X, axis=1)
    l1 = l2 * (np.sqrt(n) - wanted * (np.sqrt(n) - 1))
    out = X.copy()
    free = np.ones(X.shape, dtype=bool)
    rows = np.arange(len(X))
    while rows.size:
        mask = free[rows]
        k = mask.sum(axis=1)
        away = away_from_the_middle(out[rows], mask)
        radius = np.sqrt(np.maximum(l2[rows] ** 2 - l1[rows] ** 2 / k, 0.0))
        x = mask * (l1[rows] / k)[:, None] + radius[:, None] * away
        negative = x < 0
        out[rows] = np.maximum(x, 0.0)
        free[rows] = mask & ~negative
        rows = rows[negative.any(axis=1)]
    return out


def away_from_the_middle(X: FloatArray, free: BoolArray) -> FloatArray:
    """Unit vectors over the free entries, from the middle of the plane Σx = constant to the rows of X: (rows, n).

    A row at the middle itself goes towards its first free entry: any direction would do.
    """
    k = free.sum(axis=1, keepdims=True)
    away = free * (X - (X * free).sum(axis=1, keepdims=True) / k)
    norms = np.linalg.norm(away, axis=1)
    at_middle = np.flatnonzero(norms <= ROUNDING * np.linalg.norm(X, axis=1))
    away[at_middle] = free[at_middle] * (-1.0 / k[at_middle])
    away[at_middle, free[at_middle].argmax(axis=1)] += 1.0
    norms[at_middle] = np.linalg.norm(away[at_middle], axis=1)
    return away / np.where(norms > 0, norms, 1.0)[:, None]


def _check_sparseness(value: Any, name: str) -> float | None:
    if value is None:
        return None
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not (good and 0 <= value <= 1):
        raise InputError(f"{name} must be a number between 0 and 1, or None, not {value!r}.")
    return float(value)
