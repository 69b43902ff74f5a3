"""Successive projection for near-separable data: the profiles are samples, the purest of them."""

from __future__ import annotations

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from gmcr.validation import FloatArray
from gmcr_paper.baselines.base import Baseline, Factors, check_count, unit_rows
from gmcr_paper.baselines.nnls import nnls

NOTHING_LEFT = 1e-10  # of the largest norm: what is left of a sample below this is rounding
SUM_WEIGHT = 1e4  # of the equation that makes weights sum to one, against unit norms of the others


class SPA(Baseline):
    """Successive projection algorithm (Araújo 2001; Gillis & Vavasis 2014) at a given count.

    The sample with the largest norm is taken for pure, all samples are projected onto what is orthogonal to it,
    and so on. Right up to noise where every component has a pure sample among those given (separability).

    Parameters
    ----------
    n_components : the count
    signed : whether samples have both signs

    Attributes
    ----------
    indices_ : (n_components_,) the samples chosen, in the order of choice

    Notes
    -----
    Samples are first scaled to sum one, so that mixtures lie between pure samples whatever their concentrations.
    With `signed=True`, where sums mean nothing, they are left as they are: the total concentration should then
    not vary much. Profiles are the chosen samples with their noise; negative entries are set to zero unless
    `signed`. Concentrations are those of non-negative least squares.
    """

    takes_any_sign = True

    def __init__(self, n_components: int, *, signed: bool = False) -> None:
        self.n_components = n_components
        self.signed = signed

    def _factorise(self, D: FloatArray) -> Factors:
        count = check_count(self.n_components)
        X = D if self.signed else scaled_to_sum_one(np.maximum(D, 0.0))
        self.indices_ = self._choose(X, count)
        S = unit_rows(D[self.indices_] if self.signed else np.maximum(D[self.indices_], 0.0))
        return Factors(nnls(D, S), S)

    def _choose(self, X: FloatArray, count: int) -> NDArray[np.intp]:
        return successive_projection(X, count)


class SNPA(SPA):
    """Successive non-negative projection (Gillis 2014) at a given count.

    As SPA, but what is left of a sample is its distance from the convex hull of zero and the samples chosen so
    far. It bears more noise, and works with fewer channels than components.

    Parameters, attributes and notes are those of `SPA`.
    """

    def _choose(self, X: FloatArray, count: int) -> NDArray[np.intp]:
        return successive_nonnegative_projection(X, count)


def successive_projection(X: FloatArray, count: int) -> NDArray[np.intp]:
    """The rows of X that SPA chooses, at most `count`; fewer where nothing is left."""
    left = X.copy()
    norms = np.square(left).sum(axis=1)
    smallest = NOTHING_LEFT**2 * norms.max()
    chosen: list[int] = []
    while len(chosen) < count and norms.max() > smallest:
        best = int(np.argmax(norms))
        chosen.append(best)
        direction = left[best] / np.linalg.norm(left[best])
        left -= np.outer(left @ direction, direction)
        norms = np.square(left).sum(axis=1)
        norms[chosen] = 0.0
    return np.array(chosen)


def successive_nonnegative_projection(X: FloatArray, count: int) -> NDArray[np.intp]:
    """The rows of X that SNPA chooses, at most `count`; fewer where nothing is left.

    A sample's distance from the hull can only shrink as the hull grows. So an old distance is an upper bound, and
    only samples whose bound is the largest need to be measured again.
    """
    X = X / np.linalg.norm(X, axis=1).max()
    distance = np.linalg.norm(X, axis=1)
    measured = np.zeros(len(X), dtype=int)  # how many rows had been chosen when the distance was measured
    chosen: list[int] = []
    while len(chosen) < count:
        best = int(np.argmax(distance))
        if distance[best] <= NOTHING_LEFT:
            break
        if measured[best] < len(chosen):
            distance[best] = min(distance[best], distance_from_hull(X[best], X[chosen]))
            measured[best] = len(chosen)
        else:
            chosen.append(best)
            distance[best] = 0.0
    return np.array(chosen)


def distance_from_hull(x: FloatArray, vertices: FloatArray) -> float:
    """Distance of x (channels,) from the convex hull of vertices (K, channels) and zero.

    Non-negative least squares with one more equation, of great weight: all weights, that of zero too, sum to one.
    """
    K, n_channels = vertices.shape
    A = np.zeros((n_channels + 1, K + 1))
    A[:-1, :K] = vertices.T
    A[-1] = SUM_WEIGHT
    weights = scipy.optimize.nnls(A, np.append(x, SUM_WEIGHT), maxiter=30 * (K + 1))[0]
    return float(np.linalg.norm(x - weights[:K] @ vertices))


def scaled_to_sum_one(D: FloatArray) -> FloatArray:
    """Samples without negative entries, scaled to sum one; a sample of zeros stays."""
    sums = D.sum(axis=1, keepdims=True)
    return D / np.where(sums > 0, sums, 1.0)
