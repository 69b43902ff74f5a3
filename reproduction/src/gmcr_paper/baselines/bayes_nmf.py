"""Bayesian NMF (Schmidt, Winther & Hansen 2009): exponential priors, Gaussian noise of unknown variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import log_ndtr, ndtri_exp

from gmcr.validation import FloatArray
from gmcr_paper.baselines.base import Baseline, Factors, as_seed, check_choice, check_count, check_positive
from gmcr_paper.baselines.coordinates import optimum, sweep
from gmcr_paper.baselines.nmf import nmf
from gmcr_paper.baselines.sparse_nmf import squared_error

METHODS = ("gibbs", "icm")
START_ITERATIONS = 50  # of plain NMF, to start from
FAR = 1e4  # standard deviations below zero from which the normal's tail is an exponential to rounding
NOISE_FLOOR = 1e-12  # of the mean square of D: noise below cannot be told from rounding


class BayesNMF(Baseline):
    """NMF with exponential priors on both factors and Gaussian noise whose variance is drawn or fitted as well.

    Parameters
    ----------
    n_components : the count
    method : "gibbs" returns posterior means over draws of Gibbs sampling; "icm" the posterior's mode, by iterated
        conditional modes
    n_burn : draws that are thrown away first (Gibbs)
    n_draws : draws that are averaged (Gibbs)
    max_iter : most iterations (ICM)
    tol : change of the log posterior, relative to the number of entries of D, at which to stop (ICM)
    rate_c, rate_s : rates of the exponential priors on concentrations and profiles; None sets both to √(K / mean
        of D), for which the prior mean of C S is the mean of D
    signed : whether samples have both signs; they are then split, see `Baseline`
    random_state : seed, or a generator of random numbers; None is the seed 0

    Attributes
    ----------
    noise_variance_ : the noise's variance, its posterior mean or its mode
    history_ : negative log posterior, up to a constant, after each iteration (ICM) or each draw (Gibbs)

    Notes
    -----
    The noise's prior is the improper 1/σ². The start is a few iterations of plain NMF. Draws are averaged with
    their profiles scaled to unit norm, since the scale between the two factors is not identified by the data and
    wanders from draw to draw. A posterior mean has no exact zeros: `supports_` are then full.
    """

    def __init__(
        self,
        n_components: int,
        *,
        method: str = "gibbs",
        n_draws: int = 200,
        n_burn: int = 200,
        max_iter: int = 2000,
        tol: float = 1e-7,
        rate_c: float | None = None,
        rate_s: float | None = None,
        signed: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.n_draws = n_draws
        self.n_burn = n_burn
        self.max_iter = max_iter
        self.tol = tol
        self.rate_c = rate_c
        self.rate_s = rate_s
        self.signed = signed
        self.random_state = random_state

    def _factorise(self, D: FloatArray) -> Factors:
        check_choice(self.method, "method", METHODS)
        count, seed = check_count(self.n_components), as_seed(self.random_state)
        default = float(np.sqrt(count / D.mean()))
        rates = (
            default if self.rate_c is None else check_positive(self.rate_c, "rate_c"),
            default if self.rate_s is None else check_positive(self.rate_s, "rate_s"),
        )
        n_draws, n_burn = check_count(self.n_draws, "n_draws"), check_count(self.n_burn, "n_burn")
        max_iter, tol = check_count(self.max_iter, "max_iter"), check_positive(self.tol, "tol")
        start = nmf(D, count, solver="cd", init="nndsvda", max_iter=START_ITERATIONS, tol=tol, seed=seed)
        X, S = balance(np.ascontiguousarray(start.C.T), start.S.copy(), rates)
        if self.method == "icm":
            factors, self.noise_variance_, self.history_ = icm(D, X, S, rates, max_iter, tol)
        else:
            rng = np.random.default_rng(seed)
            factors, self.noise_variance_, self.history_ = gibbs(D, X, S, rates, n_burn, n_draws, rng)
        return factors


def icm(
    D: FloatArray, X: FloatArray, S: FloatArray, rates: tuple[float, float], max_iter: int, tol: float
) -> tuple[Factors, float, FloatArray]:
    """Iterated conditional modes from X = C' (K, samples) and S (K, channels); both are overwritten.

    Returns the factors, the noise's variance and the negative log posterior after each iteration.
    """
    power = float(np.square(D).sum())
    error = squared_error(S, X @ D, X @ X.T, power)
    history: list[float] = []
    converged = False
    while len(history) < max_iter and not converged:
        # Given the rest it is inverse gamma with shape D.size / 2 and scale error / 2; this is the mode.
        variance = max(error / (D.size + 2), NOISE_FLOOR * power / D.size)
        sweep(X, S @ D.T, S @ S.T, rates[0] * variance)
        products, gram = X @ D, X @ X.T
        sweep(S, products, gram, rates[1] * variance)
        error = squared_error(S, products, gram, power)
        history.append(negative_log_posterior(error, variance, X, S, rates, D.size))
        converged = len(history) > 1 and history[-2] - history[-1] <= tol * D.size
    return Factors(X.T, S, len(history), converged), variance, np.array(history)


def gibbs(
    D: FloatArray,
    X: FloatArray,
    S: FloatArray,
    rates: tuple[float, float],
    n_burn: int,
    n_draws: int,
    rng: Generator,
) -> tuple[Factors, float, FloatArray]:
    """Gibbs sampling from X = C' (K, samples) and S (K, channels); both are overwritten.

    Returns posterior means of factors and noise variance, and the negative log posterior of every draw.
    """
    power = float(np.square(D).sum())
    floor = NOISE_FLOOR * power / D.size
    error = squared_error(S, X @ D, X @ X.T, power)
    mean_X, mean_S, mean_variance = np.zeros_like(X), np.zeros_like(S), 0.0
    history = np.empty(n_burn + n_draws)
    for draw in range(n_burn + n_draws):
        # Inverse gamma with shape D.size / 2 and scale error / 2.
        variance = max(error / 2 / rng.gamma(D.size / 2), floor)
        draw_factor(X, S @ D.T, S @ S.T, variance, rates[0], rng)
        products, gram = X @ D, X @ X.T
        draw_factor(S, products, gram, variance, rates[1], rng)
        error = squared_error(S, products, gram, power)
        history[draw] = negative_log_posterior(error, variance, X, S, rates, D.size)
        if draw >= n_burn:
            norms = np.linalg.norm(S, axis=1, keepdims=True)
            mean_X += X * norms / n_draws
            mean_S += S / norms / n_draws
            mean_variance += variance / n_draws
    return Factors(mean_X.T, mean_S, n_burn + n_draws), mean_variance, history


def draw_factor(
    X: FloatArray, products: FloatArray, gram: FloatArray, variance: float, rate: float, rng: Generator
) -> None:
    """Draw each row of X ≥ 0 given everything else, in place.

    Given the rest, an entry of row k is normal with the least-squares optimum less `rate · variance / gram_kk` as
    its mean and `variance / gram_kk` as its variance, cut off below zero (a rectified normal).

    X : (K, lines);  products : Y'D (K, lines);  gram : Y'Y (K, K)
    """
    for k in range(len(X)):
        if gram[k, k] > 0:
            mean = optimum(X, k, products, gram, rate * variance)
            X[k] = draw_rectified(mean, np.sqrt(variance / gram[k, k]), rng)
        else:
            X[k] = rng.exponential(1 / rate, X.shape[1])


def draw_rectified(mean: FloatArray, sigma: float, rng: Generator) -> FloatArray:
    """Draws from normals cut off below zero: (n,).

    By inverting P(x > t | x > 0) = Φ((mean − t) / σ) / Φ(mean / σ), in logarithms, so that means far below zero
    are no trouble; very far below, what is left of the normal is an exponential.
    """
    log_u = np.log1p(-rng.random(mean.shape))
    t = mean / sigma
    near = np.maximum(t, -FAR)
    inverted = near - ndtri_exp(log_u + log_ndtr(near))
    return sigma * np.maximum(np.where(t > -FAR, inverted, log_u / np.minimum(t, -1.0)), 0.0)


def negative_log_posterior(
    error: float, variance: float, X: FloatArray, S: FloatArray, rates: tuple[float, float], size: int
) -> float:
    """Up to a constant; the noise's prior is 1/variance."""
    fit = error / (2 * variance) + (size / 2 + 1) * np.log(variance)
    return float(fit + rates[0] * X.sum() + rates[1] * S.sum())


def balance(X: FloatArray, S: FloatArray, rates: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """The scale between the factors that the priors like best: both cost the same for every component."""
    cost_x, cost_s = rates[0] * X.sum(axis=1), rates[1] * S.sum(axis=1)
    alive = (cost_x > 0) & (cost_s > 0)
    scale = np.sqrt(np.where(alive, cost_s, 1.0) / np.where(alive, cost_x, 1.0))[:, None]
    return X * scale, S / scale
