"""Least squares in which every column obeys what it must, all the time.

Given all else, the misfit of one component's column is its squared distance from the column that least squares
would take, times a number: the best column that obeys is the one nearest to that. So columns are taken in turn
(HALS, Cichocki & Phan 2009), each projected exactly, and the misfit never rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gmcr.constrained.factors import Factor
from gmcr.constrained.rates import Rates
from gmcr.validation import FloatArray

SWEEPS = 1000
CONVERGED = 1e-7  # relative fall of the misfit over ten sweeps


@dataclass(frozen=True)
class Fit:
    """Concentrations (samples, components), profiles (components, channels), and the squares that they leave.

    Deviations from profiles that should be near count in.
    """

    C: FloatArray
    S: FloatArray
    left: float
    rates: Rates | None = None  # of reactions that concentrations follow

    @property
    def profiles(self) -> FloatArray:
        """(components, channels) the profiles at unit norm."""
        return self.S * self.scales[:, None]

    @property
    def concentrations(self) -> FloatArray:
        """(samples, components) that go with those."""
        return self.C / self.scales

    @property
    def scales(self) -> FloatArray:
        """(components,) what turns those into C, whose unit the constraints may have settled."""
        norms: FloatArray = np.linalg.norm(self.S, axis=1)
        return 1.0 / np.where(norms > 0, norms, 1.0)


def alternate(
    D: FloatArray,
    weight: FloatArray,
    start: tuple[FloatArray, FloatArray],
    of_C: Factor,
    of_S: Factor,
    enough: float = 0.0,
) -> Fit:
    """Least squares from a start (C, S) under what both factors must obey, until it leaves `enough` or less.

    D : (samples, channels), NaN where missing;  weight : (samples,) of each sample
    """
    gaps = np.isnan(D)
    X, has_gaps = np.nan_to_num(D), bool(gaps.any())
    C, S = of_C.obeying(start[0]), of_S.obeying(start[1].T).T
    free = ~(of_C.has_unit | of_S.has_unit)
    last = np.inf
    for sweep in range(SWEEPS):
        if has_gaps:  # as the fit has them, which leaves its misfit as it is
            X[gaps] = (C @ S)[gaps]
        C = of_C.improved(C, X @ S.T, S @ S.T + np.diag(of_S.deviations(S.T)))
        weighted = C * weight[:, None]
        S = of_S.improved(S.T, X.T @ weighted, C.T @ weighted).T
        size = np.where(free, np.linalg.norm(S, axis=1), 1.0)
        size[size == 0] = 1.0
        C, S = C * size, S / size[:, None]
        if sweep % 10 == 9:
            left = left_over(D, weight, C, S) + _pulled(weight, C, S, of_S)
            if left <= enough or last - left <= CONVERGED * left:
                break
            last = left
    C = of_C.obeying(C)  # where sweeps only come near
    return Fit(C, S, left_over(D, weight, C, S) + _pulled(weight, C, S, of_S))


def _pulled(weight: FloatArray, C: FloatArray, S: FloatArray, of_S: Factor) -> float:
    """What profiles that should be near known ones cost."""
    return float((weight @ C**2) @ of_S.deviations(S.T))


def left_over(D: FloatArray, weight: FloatArray, C: FloatArray, S: FloatArray) -> float:
    """The squares that C and S leave of the samples."""
    return float(weight @ np.nansum(np.square(D - C @ S), axis=1))
