"""The noise law that residuals speak for, and the degrees of freedom that a fit has left in them."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse

from gmcr.noise.law import LAWS, NoiseLaw
from gmcr.noise.sigma import count_present
from gmcr.validation import FloatArray

# Laws are compared on the samples that at least one of them explains, to so many standard deviations, by a
# Student likelihood with few degrees of freedom, which counts what is left of strangers by its logarithm.
EXPLAINED = 6.0
STUDENT_DOF = 4.0
CUT_OFF = 1e-3  # share of entries at the smallest value from which data count as cut off there
CLEAR = 2.0  # noise units above the cut from which an entry hardly ever meets it
COMPARED_ENTRIES = 200_000
CLEAR_GAIN = 10.0  # twice the log-likelihood by which a law of several terms must beat one that is simpler


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
    if kind == "auto":
        positive = not np.nanmin(fit) < 0
        kinds = [law for law in LAWS.values() if law.automatic and (law.signed or positive)]
    else:
        kinds = [LAWS[kind]]
    residual = D - fit
    law = _estimate(kinds, D, fit, residual, dof)
    floor = np.nanmin(D)
    if (floor == D).sum() <= max(CUT_OFF * D.size, 1):
        return law
    for _ in range(2):  # the noise says which entries are clear of the cut, those say what the noise is
        clear = fit - floor > CLEAR * law.sigma(D, fit).entries
        share = clear.mean(axis=1)
        rows = share > 0
        if not rows.any():
            return law
        seen = np.where(clear, residual, np.nan)[rows]
        law = _estimate(kinds, D[rows], fit[rows], seen, np.maximum((dof * share)[rows], 1.0))
    return law


def left_per_entry(residual: FloatArray, dof: FloatArray) -> FloatArray:
    """Share of its variance that is left in each residual, of shape (samples, 1) or (samples, channels).

    dof : (samples,) degrees of freedom left in each sample's residual, or (samples, channels) shares as they are
    """
    return dof if dof.ndim == 2 else (dof / np.maximum(count_present(residual), 1))[:, None]


def likelier(law: NoiseLaw, other: NoiseLaw, D: FloatArray, fit: FloatArray, left: FloatArray) -> bool:
    """Whether residuals D − fit clearly speak for a law rather than another; left : as for `left_per_entry`."""
    costs, _ = _costs([law, other], D, fit, D - fit, left)
    return float(2.0 * np.nansum(costs[1] - costs[0])) > CLEAR_GAIN


def _estimate(
    kinds: list[type[NoiseLaw]], D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray
) -> NoiseLaw:
    laws = [kind.estimate(D, fit, residual, dof) for kind in kinds]
    return laws[0] if len(laws) == 1 else laws[_likeliest(laws, D, fit, residual, dof)]


def _likeliest(
    laws: list[NoiseLaw], D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray
) -> int:
    """Index of the law under which the residuals are the most likely."""
    rows = slice(None, None, max(1, D.size // COMPARED_ENTRIES))
    D, fit, residual, dof = D[rows], fit[rows], residual[rows], dof[rows]
    costs, squares = _costs(laws, D, fit, residual, dof)
    misfits = [np.nanmean(one, axis=1) for one in squares]
    means = [np.nanmean(one, axis=1) for one in costs]
    explained = np.min(misfits, axis=0) <= 1 + EXPLAINED * np.sqrt(2 / dof)
    return int(np.argmin(np.mean(means, axis=1, where=explained if explained.any() else True)))


def _costs(
    laws: list[NoiseLaw], D: FloatArray, fit: FloatArray, residual: FloatArray, dof: FloatArray
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Per law and entry, −log of the Student likelihood and the squared residual in noise units."""
    left = left_per_entry(residual, dof)
    costs, all_squares = [], []
    for law in laws:
        sigma = law.sigma(D, fit).entries
        squares = np.square(residual / sigma) / left
        cost = np.where(np.isnan(residual), np.nan, np.log(sigma))
        costs.append(cost + 0.5 * (STUDENT_DOF + 1) * np.log1p(squares / STUDENT_DOF))
        all_squares.append(squares)
    return costs, all_squares
