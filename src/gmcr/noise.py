"""Noise laws: how large the noise of a sample is, one law for a data set, so that new samples have one too.

A law gives the standard deviation of every entry from the data alone:

    constant       σ = level
    proportional   σ_m = level · rms(x_m), one value per sample
    poisson        σ_ml² = level · x̂_ml, one value per entry; level is the size of one count
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.stats import chi2

from gmcr.errors import InputError
from gmcr.validation import FloatArray, squared_norms

KINDS = ("constant", "proportional", "poisson")

# Noise below 1e-6 of a sample's size (120 dB) cannot be told from rounding in the normal equations.
ROUNDING = 1e-6
SMALLEST = 1e-150  # noise of a sample that is zero throughout: its square is still a number

# Laws are compared on the samples that at least one of them explains, to so many standard deviations, by a
# Student likelihood with few degrees of freedom, which counts what is left of strangers by its logarithm.
EXPLAINED = 6.0
STUDENT_DOF = 4.0
CUT_OFF = 1e-3  # share of entries at the smallest value from which data count as cut off there
CLEAR = 2.0  # noise units above the cut from which an entry hardly ever meets it
COMPARED_ENTRIES = 200_000


@dataclass(frozen=True)
class NoiseLaw:
    """A noise model with its level."""

    kind: str
    level: float

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"noise must be one of {', '.join(KINDS)}, not {self.kind!r}.")
        if not (np.isfinite(self.level) and self.level >= 0):
            raise InputError(f"the noise level must be finite and not negative, not {self.level}.")

    @property
    def per_entry(self) -> bool:
        """Whether the variance differs between the channels of one sample."""
        return self.kind == "poisson"

    def sigma(self, D: FloatArray, fit: FloatArray | None = None) -> FloatArray:
        """Standard deviations: (samples,), or (samples, channels) for a per-entry law.

        D : (samples, channels), NaN where missing; fit : its reconstruction, where there is one.
        """
        size = root_mean_square(D)
        if self.kind == "constant":
            sigma = np.full(D.shape[0], self.level)
        elif self.kind == "proportional":
            sigma = self.level * size
        else:
            mean = np.nan_to_num(D) if fit is None else fit
            # A channel expecting less than one count is given one: its variance must not vanish.
            sigma = np.sqrt(self.level * np.maximum(mean, self.level))
            size = size[:, None]
        return np.maximum(sigma, np.maximum(ROUNDING * size, SMALLEST))

    def per_sample(self, D: FloatArray, fit: FloatArray | None = None) -> FloatArray:
        """Standard deviation of each sample (root mean square over its channels): (samples,)."""
        sigma = self.sigma(D, fit)
        return sigma if sigma.ndim == 1 else root_mean_square(np.where(np.isnan(D), np.nan, sigma))

    def as_dict(self) -> dict[str, str | float]:
        return {"kind": self.kind, "level": self.level}


def root_mean_square(D: FloatArray) -> FloatArray:
    """Root mean square of each row over its present entries: (samples,)."""
    mean = squared_norms(D) / D.shape[1]
    gaps = np.isnan(mean)
    if gaps.any():
        mean[gaps] = np.nanmean(np.square(D[gaps]), axis=1)
    return np.sqrt(mean)


def count_present(D: FloatArray) -> NDArray[np.intp]:
    """Number of present entries of each row: (samples,)."""
    present = np.full(len(D), D.shape[1])
    gaps = np.isnan(squared_norms(D))
    present[gaps] -= np.isnan(D[gaps]).sum(axis=1)
    return present


def leverage(C: FloatArray, weights: FloatArray | None = None, rows: slice = slice(None)) -> FloatArray:
    """Share of each sample's own noise that a least-squares pool follows: h_m = w_m c_m' (C'WC)⁺ c_m.

    C : (samples, slots) concentrations; weights : (samples,) as in the pool's fit, e.g. 1/σ²;
    rows : the samples for which it is wanted
    """
    scaled = C if weights is None else C * np.sqrt(weights)[:, None]
    gram = _gram(scaled)
    wanted = scaled[rows]
    try:
        root = scipy.linalg.cholesky(gram, lower=True, check_finite=False)
        if np.diag(root).min() <= 1e-7 * np.diag(root).max():
            raise np.linalg.LinAlgError
        half = scipy.linalg.solve_triangular(root, wanted.T, lower=True, check_finite=False)
        shares = np.einsum("im,im->m", half, half)
    except np.linalg.LinAlgError:  # slots that nobody holds, or that always come together
        shares = np.einsum("mi,mi->m", wanted @ np.linalg.pinv(gram, hermitian=True), wanted)
    return np.clip(shares, 0.0, 1.0)


def _gram(C: FloatArray) -> FloatArray:
    """C'C, by way of the entries that are not zero where these are few."""
    if np.count_nonzero(C) > 0.1 * C.size:
        return C.T @ C
    sparse = scipy.sparse.csr_array(C)
    return (sparse.T @ sparse).toarray()


def degrees_of_freedom(
    D: FloatArray,
    C: FloatArray,
    S: FloatArray | None = None,
    weights: FloatArray | None = None,
    rows: slice = slice(None),
) -> FloatArray:
    """Degrees of freedom left in each sample's residual: (samples,), or of the samples `rows` only.

    Each sample pays for its own concentrations; when the pool was learned from the same samples (S given),
    also for its share of the pool's free entries (those not held at zero by non-negativity).
    """
    present = count_present(D[rows])
    spent = np.count_nonzero(C[rows], axis=1).astype(float)
    if S is not None:
        free_share = np.count_nonzero(S) / S.size
        spent += free_share * present * leverage(C, weights, rows)
    return np.maximum(present - spent, 1.0)


def estimate_noise(D: FloatArray, fit: FloatArray, dof: FloatArray, kind: str = "auto") -> NoiseLaw:
    """The noise law that the residuals D − fit speak for.

    D, fit : (samples, channels), NaN in D where missing
    dof : (samples,) degrees of freedom left in each residual
    kind : a law's name, or "auto" for the law under which the residuals are the most likely

    The level is the median over samples, so a minority of samples that are not explained does not move it. Where
    the data are cut off from below (negative values set to zero, say), noise shows in full only well above the
    cut, and only entries there are used.
    """
    kinds: tuple[str, ...] = KINDS if kind == "auto" else (kind,)
    if kind == "auto" and np.nanmin(fit) < 0:
        kinds = ("constant", "proportional")
    residual = D - fit
    law = _estimate(kinds, D, fit, residual, dof)
    floor = np.nanmin(D)
    if (floor == D).sum() <= max(CUT_OFF * D.size, 1):
        return law
    for _ in range(2):  # the noise says which entries are clear of the cut, those say what the noise is
        sigma = law.sigma(D, fit)
        clear = fit - floor > CLEAR * (sigma if sigma.ndim == 2 else sigma[:, None])
        share = clear.mean(axis=1)
        rows = share > 0
        if not rows.any():
            return law
        seen = np.where(clear, residual, np.nan)[rows]
        law = _estimate(kinds, D[rows], fit[rows], seen, np.maximum((dof * share)[rows], 1.0))
    return law


def _estimate(
    kinds: tuple[str, ...], D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray
) -> NoiseLaw:
    laws = [_fit_level(one, D, fit, residual, dof) for one in kinds]
    return laws[0] if len(laws) == 1 else laws[_likeliest(laws, D, fit, residual, dof)]


def _fit_level(kind: str, D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray) -> NoiseLaw:
    usual = chi2.median(dof)
    if kind == "constant":
        level = np.sqrt(np.median(np.nansum(residual**2, axis=1) / usual))
    elif kind == "proportional":
        size = np.maximum(root_mean_square(D), SMALLEST)
        level = np.sqrt(np.median(np.nansum(residual**2, axis=1) / usual / size**2))
    else:
        level = 1e-3 * float(np.nanmean(np.abs(D)))
        for _ in range(3):  # the level sets the floor of the variance, the floor moves the level a little
            mean = np.maximum(fit, max(level, SMALLEST))
            level = float(np.median(np.nansum(residual**2 / mean, axis=1) / usual))
    return NoiseLaw(kind, float(level))


def _likeliest(
    laws: list[NoiseLaw], D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray
) -> int:
    """Index of the law under which the residuals are the most likely."""
    rows = slice(None, None, max(1, D.size // COMPARED_ENTRIES))
    D, fit, residual, dof = D[rows], fit[rows], residual[rows], dof[rows]
    share = np.sqrt(count_present(residual) / dof)[:, None]
    misfits, costs = [], []
    for law in laws:
        sigma = law.sigma(D, fit)
        sigma = sigma[:, None] if sigma.ndim == 1 else sigma
        squares = (residual / sigma * share) ** 2
        misfits.append(np.nanmean(squares, axis=1))
        cost = np.where(np.isnan(residual), np.nan, np.log(sigma))
        cost += 0.5 * (STUDENT_DOF + 1) * np.log1p(squares / STUDENT_DOF)
        costs.append(np.nanmean(cost, axis=1))
    explained = np.min(misfits, axis=0) <= 1 + EXPLAINED * np.sqrt(2 / dof)
    return int(np.argmin(np.mean(costs, axis=1, where=explained if explained.any() else True)))
