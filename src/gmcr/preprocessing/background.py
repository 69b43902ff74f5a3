"""A background that is fitted instead of removed: smooth components that belong to no sample's support.

Every sample may hold any amount, of either sign, of n smooth components, the polynomials Q (channels, n) of
order below n. Then nothing along Q tells anything of the profiles: what does is the table D(I − QQ'), of some
rank r with directions V (channels, r) and amounts U. Mixtures of r profiles that have a smooth part of their
own are U(V + QH)', with H (n, r) not told by the data, but bounded: such mixtures are not negative. The least
smooth part with which next to nothing is negative is taken, by a quantile regression. So a sample loses its
background by one linear map that is learned once,

    x  →  x(I − QQ')(I + V H' Q'),

whatever background it has: new samples, a library's spectra and training samples alike.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gmcr.errors import InputError
from gmcr.preprocessing.gaps import filled_along
from gmcr.preprocessing.step import STEPS, Step
from gmcr.rank import estimate_rank
from gmcr.validation import FloatArray, check_whole, evenly

MOST_SAMPLES = 400  # that the program sees, spread over all
MOST_PERMUTED = 25_000  # entries up to which all rank rules are asked
FEWEST = 3  # samples and channels, of which rank rules need more
BELOW = 0.003  # share of the entries of mixtures that may be below zero
ROUNDS = 200  # of the regression, at most
STANDS = 1e-6  # relative change from which it stands still
NOT_NEGATIVE = 1e-6  # of the largest entry: smaller ones are zero
SMALLEST = 1e-150
RIDGE = 1e-12


class Background(Step):
    """Fit n smooth components in every sample, beside the profiles, and leave them out of it.

    Profiles are known up to a smooth part then; the least is taken that leaves mixtures not negative. Samples
    keep the rest of their noise, with n degrees of freedom less.

    Parameters
    ----------
    n : number of smooth components: 1 for an offset, 2 with a slope, 3 with a curvature
    lifted : whether mixtures are not negative; else profiles have no smooth part at all, as goes for data of
        both signs

    Attributes
    ----------
    directions_ : (r, channels) V', what stands above the noise beside the background
    smooth_part_ : (r, n) H'
    """

    kind = "background"
    learned = ("directions_", "smooth_part_")

    def __init__(self, n: int = 3, lifted: bool = True) -> None:
        self.n = n
        self.lifted = lifted

    def check(self) -> None:
        check_whole(self.n, "background")

    def learn(self, X: FloatArray, axis: FloatArray) -> None:
        if X.shape[1] <= self.n + 1:
            raise InputError(f"background={self.n} needs more than {self.n + 1} channels, not {X.shape[1]}.")
        self.directions_, self.smooth_part_ = np.zeros((0, X.shape[1])), np.zeros((0, self.n))
        rest = self._rest(X, axis)
        if not (
            self.lifted
            and min(rest.shape) > FEWEST
            and np.abs(rest).max() > NOT_NEGATIVE * np.nanmax(np.abs(X))
        ):
            return
        U, values, Vt = scipy.linalg.svd(rest, full_matrices=False, check_finite=False)
        count = max(estimate_rank(rest, most_to_permute=MOST_PERMUTED).count, 1)
        amounts, V = U[:, :count] * values[:count], Vt[:count]
        part = least_smooth_part(amounts[evenly(len(X), MOST_SAMPLES)], V, self._basis(axis))
        self.directions_, self.smooth_part_ = V, part

    def apply(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        rest = self._rest(X, axis)
        out = rest + (rest @ self.directions_.T) @ self.smooth_part_ @ self._basis(axis).T
        return np.where(np.isnan(X), np.nan, out)

    def sentence(self) -> str:
        order = ("an offset", "and a slope", "and a curvature")
        what = " ".join(order[: self.n]) if self.n <= len(order) else f"polynomials of order below {self.n}"
        return (
            f"background of {self.n} smooth components fitted in every sample ({what}), no part of the count"
        )

    def did(self, before: FloatArray, after: FloatArray) -> str:
        size = np.sqrt(np.nanmean(np.square(before), axis=1))
        share = np.sqrt(np.nanmean(np.square(before - after), axis=1)) / np.where(size > 0, size, 1.0)
        return (
            f"It was {share.min():.0%} to {share.max():.0%} of a sample's root mean square, and took {self.n} of "
            f"its {before.shape[1]:,} degrees of freedom; what is smooth in the profiles is the least that keeps "
            "mixtures from being negative."
        )

    def spread(self, sigma: FloatArray, X: FloatArray, axis: FloatArray) -> FloatArray:
        return sigma * np.sqrt(1.0 - self.n / X.shape[1])

    def _basis(self, axis: FloatArray) -> FloatArray:
        """Q: (channels, n), orthonormal."""
        place = 2.0 * (axis - axis.min()) / max(float(np.ptp(axis)), 1e-300) - 1.0
        return np.linalg.qr(np.polynomial.legendre.legvander(place, self.n - 1))[0]

    def _rest(self, X: FloatArray, axis: FloatArray) -> FloatArray:
        """Samples without what is along Q; where entries are missing, by least squares on the others."""
        Q, gaps = self._basis(axis), np.isnan(X)
        rest = X - (X @ Q) @ Q.T
        for m in np.flatnonzero(gaps.any(axis=1)):
            there = ~gaps[m]
            amounts = np.linalg.lstsq(Q[there], X[m, there], rcond=None)[0]
            rest[m] = filled_along((X[m] - Q @ amounts)[None], axis)[0]
        return rest


def least_smooth_part(U: FloatArray, V: FloatArray, Q: FloatArray) -> FloatArray:
    """H' (r, n) with which as little as can be of U(V + H'Q') is above zero, and next to none of it below.

    Entries above zero cost BELOW each, by their size, those below the rest of one: a quantile regression, by
    least squares with weights that follow. What is negative by noise costs little that way, however little a
    sample holds.

    U : (samples, r);  V : (r, channels);  Q : (channels, n)
    """
    shape = U.shape[1], Q.shape[1]
    fixed, part = U @ V, np.zeros(shape)
    smallest = NOT_NEGATIVE * max(float(np.abs(fixed).max()), SMALLEST)
    pairs = (Q[:, :, None] * Q[:, None, :]).reshape(len(Q), -1)
    for _ in range(ROUNDS):
        now = fixed + U @ part @ Q.T
        weights = np.where(now > 0, BELOW, 1.0 - BELOW) / np.maximum(np.abs(now), smallest)
        by_sample = (weights @ pairs).reshape(-1, shape[1], shape[1])
        normal = np.einsum("mk,mp,mjq->kjpq", U, U, by_sample).reshape(part.size, part.size)
        right = -np.einsum("mk,mj->kj", U, (weights * fixed) @ Q).ravel()
        ridge = RIDGE * np.trace(normal) / part.size * np.eye(part.size)
        new: FloatArray = np.linalg.solve(normal + ridge, right).reshape(shape)
        still = np.abs(U @ (new - part)).max() < STANDS * np.abs(U @ new).max()
        part = new
        if still:
            break
    return part


STEPS.add(Background.kind, Background)
