"""Multivariate curve resolution by alternating least squares (Tauler 1995), run by pyMCR."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from gmcr.errors import InputError
from gmcr.validation import FloatArray
from gmcr_paper.baselines.base import Baseline, Factors, check_choice, check_count, check_positive, unit_rows
from gmcr_paper.baselines.ica import least_squares
from gmcr_paper.baselines.nnls import nnls

STARTS = ("purest_samples", "purest_channels")
PURITY_OFFSET = 0.05  # of the largest mean; Windig & Guilment advise 1 to 15 per cent


class MCRALS(Baseline):
    """MCR-ALS with non-negativity and profiles of unit norm, as pyMCR has it.

    Parameters
    ----------
    n_components : the count
    init : "purest_samples" starts from the purest samples as profiles, "purest_channels" from the purest channels
        as concentrations; both chosen as SIMPLISMA does
    max_iter : most iterations, one of which updates both factors
    tol : change of the mean squared error, relative to the variance of D, at which to stop
    signed : whether samples have both signs; profiles are then free of the constraint, as one would have it for
        derivative spectra, and concentrations stay non-negative

    Notes
    -----
    pyMCR runs the iterations and checks; the regressions it is given are the same non-negative least squares as
    its own, but on reduced equations, which is many times faster. The normalisation keeps profiles at unit norm.
    """

    takes_any_sign = True

    def __init__(
        self,
        n_components: int,
        *,
        init: str = "purest_samples",
        max_iter: int = 200,
        tol: float = 1e-6,
        signed: bool = False,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.signed = signed

    def _factorise(self, D: FloatArray) -> Factors:
        check_choice(self.init, "init", STARTS)
        count = check_count(self.n_components)
        available = D.shape[STARTS.index(self.init)]
        if count > available:
            raise InputError(
                f"n_components is {count}, but D has only {available} {self.init.removeprefix('purest_')} "
                "to start from."
            )
        max_iter, tol = check_count(self.max_iter, "max_iter"), check_positive(self.tol, "tol")
        samples_first = self.init == "purest_samples"
        S = unit_rows(D[purest(D, count)]) if samples_first else None
        C = None if samples_first else as_concentrations(D[:, purest(D.T, count)])
        return mcr_als(D, C, S, max_iter, tol * float(D.var()), bool(self.signed))


def mcr_als(
    D: FloatArray, C: FloatArray | None, S: FloatArray | None, max_iter: int, change: float, signed: bool
) -> Factors:
    """pyMCR from a start C (samples, K) or S (K, channels), until the error changes by less than `change`."""
    from pymcr.constraints import ConstraintNonneg
    from pymcr.mcr import McrAR

    model = McrAR(
        c_regr=_Regressor(signed=False),
        st_regr=_Regressor(signed=signed),
        c_constraints=[ConstraintNonneg()],
        st_constraints=[*([] if signed else [ConstraintNonneg()]), _UnitNorm()],
        max_iter=max_iter,
        # Scaling profiles to unit norm raises the error until concentrations follow, half an iteration later, so
        # that an increase means nothing; the best pair is kept in any case.
        tol_increase=None,
        tol_n_increase=None,
        tol_n_above_min=None,
        tol_err_change=change,
    )
    with _quiet("pymcr"):
        model.fit(D, C=C, ST=S)
    return Factors(model.C_opt_, model.ST_opt_, int(model.n_iter), not model.exit_max_iter_reached)


def purest(X: FloatArray, count: int) -> NDArray[np.intp]:
    """The purest rows of X by SIMPLISMA (Windig & Guilment 1991), purest first: (count,).

    The purity of a row is its standard deviation over its mean, times what is left of the row, scaled to unit
    length, after projecting out the rows already chosen: that is the determinant of their weights. A small offset
    in the denominator keeps rows of mere noise from looking pure.
    """
    mean, spread = np.abs(X.mean(axis=1)), X.std(axis=1)
    offset = PURITY_OFFSET * mean.max() if mean.any() else 1.0
    left = X / np.sqrt(X.shape[1] * (mean**2 + (spread + offset) ** 2))[:, None]
    purity = spread / (mean + offset)
    chosen: list[int] = []
    for _ in range(count):
        score = np.square(left).sum(axis=1) * purity
        score[chosen] = -1.0
        best = int(np.argmax(score))
        chosen.append(best)
        norm = np.linalg.norm(left[best])
        if norm > 0:
            direction = left[best] / norm
            left -= np.outer(left @ direction, direction)
    return np.array(chosen)


def as_concentrations(C: FloatArray) -> FloatArray:
    """Channels as a first guess at concentrations (samples, K): turned to positive sums, and cut at zero."""
    return np.maximum(C * np.where(C.sum(axis=0) < 0, -1.0, 1.0), 0.0)


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Within this, that package's logger, to which it has tied the screen, shows no more than warnings."""
    handlers = logging.getLogger(name).handlers
    before = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(max(handler.level, logging.WARNING))
    try:
        yield
    finally:
        for handler, level in zip(handlers, before):
            handler.setLevel(level)


class _Regressor:
    """Least squares of A X = B as pyMCR wants it: coef_ is X'."""

    coef_: FloatArray

    def __init__(self, signed: bool) -> None:
        self.signed = signed

    def fit(self, A: FloatArray, B: FloatArray) -> None:
        self.coef_ = least_squares(B.T, A.T) if self.signed else nnls(B.T, A.T)


class _UnitNorm:
    """The normalisation: pyMCR's own makes entries sum to one, which means nothing for profiles of both signs."""

    def transform(self, S: FloatArray) -> FloatArray:
        return unit_rows(S)
