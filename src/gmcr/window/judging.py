"""The law of the noise by which an answer is judged, where no law is known.

Profiles are fitted by plain least squares, and where noise grows with the signal, that fit follows the noise of
strong entries, whose errors then pass for noise of weak ones. So for the law alone the samples are projected once
more, weighted by the law found so far (maximum-likelihood projection, Wentzell et al. 1997), and each entry
has as much of its noise left as the projection leaves it. What grows with the signal in measured residuals may be
misfit instead: a law is not believed that says more noise than plain least squares leaves.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.special import log_ndtr

from gmcr.noise import LAWS, Counts, Instrument, NoiseLaw, Poisson, Sigma, are_counts, likelier
from gmcr.noise.instrument import CHI2_MEDIAN
from gmcr.validation import FloatArray, evenly
from gmcr.window.dense_fit import filled
from gmcr.window.descent import NoiseModel
from gmcr.window.evidence import is_white
from gmcr.window.levels import Levels
from gmcr.window.problem import ENOUGH_ENTRIES, Problem, State
from gmcr.window.remembering import remembered

ROUNDS = 3  # of law and projection in turn
SWEEPS = 2  # of profiles and amounts in turn, in a projection
A_FEW = 10  # slots, which leave little but noise of most tables
MOST_SLOTS = 20  # the work grows with their square
OVERSTATED = 1.5  # times the squares left by plain least squares
LARGE = 0.8  # quantile of the fit, from which entries are large
FAR_OVERSTATED = (
    10.0  # times the squares left of the median large entry: then whole numbers are no counts at all
)
EXPLAINED = 3.0  # times the noise's variance, left of the median sample
SMALLEST = 1e-2  # of the typical noise: smaller noise would give an entry all the weight
BOUND = 0.1  # the same, where a law is checked against what least squares leaves
FARTHEST_OFF = 3.0  # noise units; what is farther is an entry by itself, and no component
LEAST_LEFT = 0.05  # of an entry's noise
FARTHEST_BELOW, FARTHEST_ABOVE = -5.0, 30.0  # zero, in errors of the fit


@remembered
def judged_law(problem: Problem, state: State, noise: NoiseModel) -> NoiseLaw:
    """The law that the residuals of a state speak for, once noise and misfit are told apart."""
    found, asked = noise.sigma(problem, state)[1], noise.law
    if noise.given is not None or not isinstance(asked, str):
        return found
    # Whole numbers may be counts, or readings of a converter, whose noise is another.
    families = [Counts, Instrument] if are_counts(problem.D) else [Instrument]
    if asked != "auto":
        families = [kind for kind in (LAWS[asked],) if issubclass(kind, Instrument)]
    if not 0 < state.count <= min(MOST_SLOTS, min(problem.D.shape) // 3):
        return found
    rows = evenly(problem.n_samples, max(ENOUGH_ENTRIES // problem.n_channels, 3 * state.count))
    D = problem.D[rows]
    tried = (_by_projection(D, state.count, family) for family in families)
    projection = next((one for one in tried if one is not None), None)
    if projection is None:
        return found
    law, fit, left = projection
    if asked != "auto" or isinstance(law, Counts):
        return law
    if not law.composed or not _explains(problem, state, law):
        return found
    # Constant and counting noise are among the family; that which goes by sample is not.
    return law if not found.relative or likelier(law, found, D, fit, left) else found


def tells_of_counts(D: FloatArray) -> bool:
    """Whether a table of whole numbers has noise as counts have it, rather than a converter's readings.

    Counts vary by chance at least, and large ones as much beyond it as smaller ones do: what a few directions
    leave of a converter's readings is far less than that.
    """
    rows = evenly(len(D), max(ENOUGH_ENTRIES // D.shape[1], 3 * A_FEW))
    count = min(A_FEW, min(len(rows), D.shape[1]) // 3)
    if count == 0 or not are_counts(D):
        return False
    D = D[rows]
    # Small counts, of which plain least squares knows nothing, would pass for overdispersed.
    levels = Levels.of(Poisson(1.0).sigma(D))
    fit, left = _leading(levels.evened(filled(D, count)), count)[1:]
    fit = fit * levels.sigma(1.0, D.shape).entries
    told = Counts.estimate(D, fit, D - fit, left).variance(fit) * left
    large = ~np.isnan(D) & (fit >= np.quantile(fit, LARGE))
    # The median, since a few directions follow the noise of the very largest.
    seen = np.median(np.square(D - fit)[large] / told[large]) if large.any() else 0.0
    return bool(FAR_OVERSTATED * seen >= CHI2_MEDIAN)


def _explains(problem: Problem, state: State, law: NoiseLaw) -> bool:
    """Whether what the state itself leaves of the samples is about as much as the law says."""
    sigma = law.sigma(problem.D, state.C @ state.S).entries
    misfit = problem.misfit(state, Sigma(_bounded(sigma)))
    return float(np.median(misfit)) <= EXPLAINED * problem.n_channels


def _bounded(sigma: FloatArray, least: float = BOUND) -> FloatArray:
    """Entries of all but no noise would decide alone, by errors of a fit that are far below the others' noise."""
    return np.maximum(sigma, least * np.sqrt(np.mean(np.square(sigma))))


def _leading(X: FloatArray, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The leading directions, the projection on them, and the share of each entry's variance that it leaves."""
    U, values, Vt = scipy.linalg.svd(X, full_matrices=False, check_finite=False)
    U, S = U[:, :count], Vt[:count]
    left = np.outer(1.0 - np.square(U).sum(axis=1), 1.0 - np.square(S).sum(axis=0))
    return S, (U * values[:count]) @ S, np.maximum(left, LEAST_LEFT)


def _by_projection(
    D: FloatArray, count: int, family: type[Instrument]
) -> tuple[Instrument, FloatArray, FloatArray] | None:
    """The law, the projection it was told from, and the share of each entry's variance left there.

    None where it says more noise than plain least squares leaves.
    """
    X = filled(D, count)
    S, fit, left = _leading(X, count)
    plain, present, squares = left, ~np.isnan(D), float(np.nansum(np.square(D - fit)))
    law = family.estimate(D, fit, D - fit, left)
    for _ in range(ROUNDS):
        fit, S, left = _projected(X, S, _weights(law, D, fit))
        law = family.estimate(D, fit, D - fit, left)
    if float(np.sum(law.variance(fit) * plain, where=present)) > OVERSTATED * squares:
        return None
    mean = _expected(fit, law, left)
    law = family.estimate(D, mean, D - fit, left)
    told = law.by_channel(D, mean, D - fit, left)
    if told is law:
        return law, fit, left
    for _ in range(ROUNDS):
        again, S, rest = _projected(X, S, _weights(told, D, mean))
        mean = _expected(again, told, rest)
        told = told.by_channel(D, mean, D - again, rest)
    # Channels in which a component is missing look noisy, too; but what is left there is not white.
    residual = np.nan_to_num((D - again) / _bounded(told.sigma(D, mean).entries))
    white = is_white(np.clip(residual, -FARTHEST_OFF, FARTHEST_OFF))
    return (told, again, rest) if white else (law, fit, left)


def _weights(law: Instrument, D: FloatArray, fit: FloatArray) -> FloatArray:
    """Of the entries in a projection, zero where one is missing."""
    return np.where(np.isnan(D), 0.0, 1.0 / np.square(_bounded(law.sigma(D, fit).entries, SMALLEST)))


def _expected(fit: FloatArray, law: Instrument, left: FloatArray) -> FloatArray:
    """The signal to be expected where a fit that leaves so much of the noise says so much, and none is negative.

    Where the noise is larger than the signal, a fit of zero is that of a signal that is not, and its noise would
    pass for a level.
    """
    error = np.sqrt(np.maximum((1.0 - left) * law.variance(fit), np.finfo(float).tiny))
    z = np.clip(fit / error, FARTHEST_BELOW, FARTHEST_ABOVE)
    return np.maximum(fit, error * z) + error * np.exp(-0.5 * z**2 - log_ndtr(z)) / np.sqrt(2.0 * np.pi)


def _projected(X: FloatArray, S: FloatArray, W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weighted least squares of as many slots as S has: the fit, profiles, and the share left of each entry."""
    for _ in range(SWEEPS):
        C = _solved(W, S, X)[0]
        S, by_channel = (part.T if part.ndim == 2 else part for part in _solved(W.T, C.T, X.T))
    C, by_sample = _solved(W, S, X)
    spent_on_C = W * np.einsum("il,mij,jl->ml", S, by_sample, S, optimize=True)
    spent_on_S = W * np.einsum("mi,lij,mj->ml", C, by_channel, C, optimize=True)
    return C @ S, S, np.maximum((1.0 - spent_on_C) * (1.0 - spent_on_S), LEAST_LEFT)


def _solved(W: FloatArray, S: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted least squares of each row of X on S, and the inverse of each row's normal matrix."""
    normal = np.einsum("ml,il,jl->mij", W, S, S, optimize=True)
    size = np.trace(normal, axis1=1, axis2=2)[:, None, None]
    inverse = np.linalg.inv(normal + (1e-12 * size + np.finfo(float).tiny) * np.eye(len(S)))
    return np.einsum("mij,mj->mi", inverse, (W * X) @ S.T), inverse
