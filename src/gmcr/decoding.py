"""Decoding: which components of a known pool a sample holds, and how much of each (Eq. 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import chi2

from gmcr.errors import InputError
from gmcr.noise import NoiseLaw, degrees_of_freedom, estimate_noise, root_mean_square
from gmcr.subset import best_subsets
from gmcr.threads import kept, product, threads
from gmcr.validation import (
    BoolArray,
    FloatArray,
    as_numbers,
    check_per_sample,
    check_pool,
    check_samples,
    squared_norms,
)

ALPHA = 0.05  # probability that the window's noise event fails anywhere in the data set (Theorem 1)
UNKNOWN_LEVEL = 0.005  # share of explained samples that `known` may wrongly flag
CHUNK = 16_384  # samples decoded at a time where they are copied: bounds the memory beside the input

_NO_START = np.zeros((0, 0), dtype=bool)
_NO_WEIGHTS = np.zeros((0, 0))
_NO_REMOVAL = np.zeros((0, 0))


@dataclass(frozen=True)
class Decoding:
    """What each sample holds, one row per sample.

    Attributes
    ----------
    concentrations : (samples, slots), zero where a slot is not selected
    residual : (samples,) norm of what is left of each sample
    misfit : (samples,) its square in noise units
    margin : (samples,) by how much the criterion, in noise units, rises under the best single change
    known : (samples,) whether the pool explains the sample within its noise: a chi-squared test of what is left,
        wrong for one explained sample in two hundred
    noise : (samples,) standard deviation assumed for each sample
    confidence : (samples,) probability that the support is right; it takes several times as long as decoding, so
        it is computed when it is first asked for
    errors : (samples, slots) standard errors of the concentrations; also computed when first asked for
    judge, spread : what computes these two
    """

    concentrations: FloatArray
    residual: FloatArray
    misfit: FloatArray
    margin: FloatArray
    known: BoolArray
    noise: FloatArray
    judge: Callable[[], FloatArray] | None = field(default=None, repr=False, compare=False)
    spread: Callable[[], FloatArray] | None = field(default=None, repr=False, compare=False)

    @property
    def supports(self) -> BoolArray:
        """(samples, slots): which slots each sample holds."""
        return self.concentrations != 0

    @property
    def confidence(self) -> FloatArray | None:
        """(samples,): probability that each support is right; see `gmcr.theory.confidence`."""
        return None if self.judge is None else kept(self, "_confidence", self.judge)

    @property
    def errors(self) -> FloatArray | None:
        """(samples, slots): standard error of each concentration, given its support; zero where not held."""
        return None if self.spread is None else kept(self, "_errors", self.spread)

    def intervals(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of the concentrations' intervals, (samples, slots) each, NaN where not held."""
        from gmcr.theory.standard_errors import interval

        if self.errors is None:
            raise InputError("this decoding has no standard errors to make intervals of.")
        C = self.concentrations
        ends = interval(C, self.errors, level, signed=bool((C < 0).any()))
        low, high = (np.where(self.supports, end, np.nan) for end in ends)
        return low, high

    def _repr_html_(self) -> str:
        from gmcr.summary import decoding_html

        return decoding_html(self)


def usage_price(n_components: int, n_samples: int, alpha: float = ALPHA) -> float:
    """The price λ of a selection in noise units: L_α² = 2 log(6NM/α), the window's lower end (Theorem 1)."""
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1, not {alpha}.")
    return 2.0 * np.log(6.0 * n_components * n_samples / alpha)


def lone_price(n_components: int, alpha: float = ALPHA) -> float:
    """The price of a selection in a sample that is looked at by itself.

    A component that the price for a whole data set makes the decoder leave out stays in the residual, and would
    make a stranger of a sample that the pool explains. Whether it is one is asked of each sample alone.
    """
    return usage_price(n_components, 1, alpha)


def decode(
    D: Any,
    S: Any,
    noise: Any = None,
    *,
    price: Any = None,
    alpha: float = ALPHA,
    weights: Any = None,
    k_max: int | None = None,
    signed: bool = False,
) -> Decoding:
    """Decode samples over a fixed pool: best non-negative fit plus a price per selected component (Eq. 3).

    Parameters
    ----------
    D : (samples, channels) samples; NaN means missing
    S : (slots, channels) pool of profiles, of any norm
    noise : standard deviation of the noise: one number, one per sample, one per entry, a `NoiseLaw`,
        a law's name to estimate its level from what the pool leaves over, or None to choose the law as well
    price : usage price λ in units of the noise variance, one number or one per sample;
        by default the window's L_α² for this pool and this number of samples
    alpha : the window's error probability, when `price` is not given
    weights : relative weight of each channel, or of each entry, beside the noise; zero leaves it out
    k_max : largest number of components in a sample
    signed : whether concentrations may be negative

    Returns
    -------
    Decoding

    Examples
    --------
    >>> from gmcr import decode, make_mixtures
    >>> mix = make_mixtures(n_components=8, n_samples=20, snr_db=30, random_state=0)
    >>> out = decode(mix.D, mix.S, noise=mix.sigma)
    >>> bool((out.supports == mix.supports).all())
    True
    """
    samples = check_samples(D, copy=False)
    pool = check_pool(S, samples.shape[1])
    n_samples, n_slots = len(samples), len(pool)
    entry_weights = _check_weights(weights, samples)
    if entry_weights is not None:
        samples = np.where(entry_weights > 0, samples, np.nan)  # an entry without weight is a missing one
    limit = _check_k_max(k_max, n_slots, samples.shape[1])
    prices = check_per_sample(
        usage_price(n_slots, n_samples, alpha) if price is None else price, n_samples, "price"
    )

    # Unit-norm profiles inside, so that tolerances mean the same for every slot.
    norms = np.linalg.norm(pool, axis=1)
    unit = pool / norms[:, None]
    with threads():
        sigma = _noise_of(noise, samples, unit, prices, entry_weights, limit, signed)
        C, margin, misfit = decode_arrays(samples, unit, sigma, prices, entry_weights, limit, signed)
        residual, misfit = _residuals(samples, C, unit, sigma, misfit, entry_weights)
        known = is_explained(misfit, samples, C)
        doubtful = np.flatnonzero(~known & (prices > lone_price(n_slots, alpha)))
        known[doubtful] = _explained_for_less(
            samples[doubtful],
            unit,
            sigma[doubtful],
            lone_price(n_slots, alpha),
            None if entry_weights is None else entry_weights[doubtful],
            limit,
            signed,
        )
    C /= norms
    return Decoding(
        concentrations=C,
        residual=residual,
        misfit=misfit,
        margin=margin,
        known=known,
        noise=sigma if sigma.ndim == 1 else root_mean_square(np.where(np.isnan(samples), np.nan, sigma)),
        judge=partial(_confidence, samples, pool, C, sigma, entry_weights, signed),
        spread=partial(_errors, samples, pool, C, sigma, entry_weights, signed),
    )


def _confidence(
    D: FloatArray,
    S: FloatArray,
    C: FloatArray,
    sigma: FloatArray,
    weights: FloatArray | None,
    signed: bool,
) -> FloatArray:
    """Confidence in the supports of C over the pool S, which is taken as exact: (samples,)."""
    from gmcr.theory.confidence import support_confidence  # it is built on this module

    return support_confidence(D, S, C, _weighted_noise(sigma, weights), signed=signed)


def _errors(
    D: FloatArray,
    S: FloatArray,
    C: FloatArray,
    sigma: FloatArray,
    weights: FloatArray | None,
    signed: bool,
) -> FloatArray:
    """Standard errors of C over the pool S, which is taken as exact: (samples, slots)."""
    from gmcr.theory.standard_errors import concentration_errors

    return concentration_errors(S, C, where_present(_weighted_noise(sigma, weights), D), signed=signed)


def _weighted_noise(sigma: FloatArray, weights: FloatArray | None) -> FloatArray:
    """As much noise as weighs the entries alike."""
    if weights is None:
        return sigma
    return (sigma[:, None] if sigma.ndim == 1 else sigma) / np.sqrt(np.where(weights > 0, weights, 1.0))


def where_present(sigma: FloatArray, D: FloatArray) -> FloatArray:
    """The noise of samples D, by entry and NaN where one is missing; as it is where none is."""
    if not np.isnan(squared_norms(D)).any():
        return sigma
    return np.where(np.isnan(D), np.nan, sigma[:, None] if sigma.ndim == 1 else sigma)


def is_explained(misfit: FloatArray, D: FloatArray, C: FloatArray) -> BoolArray:
    """Whether noise leaves as much as this of samples D decoded as C: (samples,)."""
    dof, inverse = np.unique(degrees_of_freedom(D, C), return_inverse=True)
    return misfit <= chi2.ppf(1 - UNKNOWN_LEVEL, dof)[inverse]


def _explained_for_less(
    D: FloatArray,
    S: FloatArray,
    sigma: FloatArray,
    price: float,
    weights: FloatArray | None,
    k_max: int,
    signed: bool,
) -> BoolArray:
    """Whether the pool explains samples once their selections cost this much only: (samples,)."""
    if not len(D):
        return np.zeros(0, dtype=bool)
    C, _, misfit = decode_arrays(D, S, sigma, np.full(len(D), price), weights, k_max, signed)
    return is_explained(_residuals(D, C, S, sigma, misfit, weights)[1], D, C)


def decode_arrays(
    D: FloatArray,
    S: FloatArray,
    sigma: FloatArray,
    prices: FloatArray,
    weights: FloatArray | None = None,
    k_max: int | None = None,
    signed: bool = False,
    start: BoolArray | None = None,
    removal: FloatArray | None = None,
    gram: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The decoder on checked arrays: concentrations, margins and misfits (both in noise units).

    removal : (samples, slots) of zeros, when given, is filled with what taking a selected slot away costs.
    gram : (slots, slots) S S', where the caller has it already.

    Rows with a noise of their own per entry, with weights or with missing entries have a Gram matrix of
    their own; all others share one.
    """
    n_samples, n_slots = len(D), len(S)
    k_max = min(n_slots, D.shape[1]) if k_max is None else k_max
    C = np.empty((n_samples, n_slots))
    margin = np.empty(n_samples)
    misfit = np.empty(n_samples)
    G = S @ S.T if gram is None else gram
    squares = squared_norms(D)
    own_gram = np.isnan(squares)
    own_gram[:] |= sigma.ndim == 2 or weights is not None
    for rows in (np.flatnonzero(~own_gram), np.flatnonzero(own_gram)):
        # Consecutive rows that share a Gram matrix need no memory of their own: all of them at once.
        step = CHUNK if own_gram[rows].any() or not isinstance(_as_slice(rows), slice) else n_samples
        for first in range(0, len(rows), step):
            part = _as_slice(rows[first : first + step])
            X, scale, price = D[part], sigma[part], prices[part]
            own_start = _NO_START if start is None else start[part]
            own_removal = _NO_REMOVAL if removal is None else removal[part]
            if own_gram[rows[0]]:
                W, variance = (
                    _entry_weights(X, scale, None if weights is None else weights[part]),
                    np.ones(len(X)),
                )
                X = np.nan_to_num(X)
                WX = W * X
                xx = np.einsum("ml,ml->m", WX, X)
            else:
                W, variance, WX, xx = _NO_WEIGHTS, scale**2, X, squares[part]
            B = product(WX, S, C[part])  # a view of C where rows are consecutive, else a copy
            margin[part], misfit[part] = best_subsets(
                B,
                xx,
                G,
                S,
                W,
                price * variance,
                k_max,
                signed,
                own_start,
                variance,
                own_removal,
            )
            if not isinstance(part, slice):
                C[part] = B
                if removal is not None:
                    removal[part] = own_removal
    return C, margin, misfit


def _as_slice(rows: np.ndarray) -> Any:
    """The same rows as a slice where they are consecutive, so that no copy is made of them."""
    consecutive = len(rows) > 0 and rows[-1] - rows[0] + 1 == len(rows)
    return slice(int(rows[0]), int(rows[-1]) + 1) if consecutive else rows


def _entry_weights(X: FloatArray, sigma: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Weight of each entry, (samples, channels): relative weight over variance, zero where missing."""
    variance = np.square(sigma[:, None] if sigma.ndim == 1 else sigma)
    return np.where(np.isnan(X), 0.0, (1.0 if weights is None else weights) / variance)


def _noise_of(
    noise: Any,
    D: FloatArray,
    S: FloatArray,
    prices: FloatArray,
    weights: FloatArray | None,
    k_max: int,
    signed: bool,
) -> FloatArray:
    """The standard deviations to decode with, from whatever the caller knows of the noise."""
    if noise is None or isinstance(noise, str):
        return _estimated_sigma(D, S, prices, weights, k_max, signed, noise or "auto")
    if isinstance(noise, NoiseLaw):
        if not noise.per_entry:
            return noise.sigma(D)
        # One noise per sample first: by entry, the data's own, low entries would weigh most for being low.
        C, _, _ = decode_arrays(D, S, noise.per_sample(D), prices, weights, k_max, signed)
        return noise.sigma(D, C @ S)
    return check_noise(noise, D)


def check_noise(noise: Any, D: FloatArray) -> FloatArray:
    """Standard deviations as given, never below rounding: (samples,), or (samples, channels) if per entry."""
    given = as_numbers(noise, "noise")
    if given.ndim == 2:
        if given.shape != D.shape:
            raise InputError(
                f"noise per entry must have the samples' shape {D.shape}, but has shape {given.shape}."
            )
        bad = np.argwhere(~(np.isfinite(given) & (given > 0)) & ~np.isnan(D))
        if bad.size:
            row, column = bad[0]
            raise InputError(
                f"noise is {given[row, column]} at row {row}, column {column}, but must be positive; "
                "to leave an entry out, mark it as missing with NaN in D."
            )
        return given
    given = check_per_sample(given, len(D), "noise")
    return np.maximum(given, NoiseLaw("constant", 0.0).sigma(D))


def _estimated_sigma(
    D: FloatArray,
    S: FloatArray,
    prices: FloatArray,
    weights: FloatArray | None,
    k_max: int,
    signed: bool,
    kind: str,
) -> FloatArray:
    """Noise from what the pool leaves over, descending from a coarse level until it holds still."""
    law = NoiseLaw("proportional", 0.5)
    sigma = law.sigma(D)
    for _ in range(30):
        C, _, _ = decode_arrays(D, S, sigma, prices, weights, k_max, signed)
        fit = C @ S
        new = estimate_noise(D, fit, degrees_of_freedom(D, C), kind)
        settled = new.kind == law.kind and new.level >= 0.99 * law.level
        law, sigma = new, new.sigma(D, fit)
        if settled:
            break
    return sigma


def _residuals(
    D: FloatArray,
    C: FloatArray,
    S: FloatArray,
    sigma: FloatArray,
    misfit: FloatArray,
    weights: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Over present entries: norm of each residual in the units of the data, and its square in noise units."""
    if sigma.ndim == 1 and weights is None:
        return np.sqrt(misfit) * sigma, misfit
    squares = (D - C @ S) ** 2
    norms = np.sqrt(np.nansum(squares, axis=1))
    if weights is None:
        return norms, misfit
    return norms, np.nansum(squares / np.square(sigma[:, None] if sigma.ndim == 1 else sigma), axis=1)


def _check_weights(weights: Any, D: FloatArray) -> FloatArray | None:
    if weights is None:
        return None
    array, shape = as_numbers(weights, "weights"), D.shape
    if array.shape not in (shape, shape[1:]) or not (np.isfinite(array) & (array >= 0)).all():
        raise InputError(
            f"weights must be finite and not negative, one per channel {shape[1:]} or one per entry {shape}, "
            f"but came with shape {array.shape}."
        )
    array = np.array(np.broadcast_to(array, shape))
    idle = np.flatnonzero(~(array.astype(bool) & ~np.isnan(D)).any(axis=1))
    if idle.size:
        raise InputError(f"weights are zero on every present entry of sample {idle[0]}; remove that sample.")
    return array


def _check_k_max(k_max: int | None, n_slots: int, n_channels: int) -> int:
    limit = min(n_slots, n_channels)
    if k_max is None:
        return limit
    if isinstance(k_max, bool) or not isinstance(k_max, int | np.integer) or k_max < 1:
        raise InputError(f"k_max must be a whole number of at least 1, not {k_max!r}.")
    return min(int(k_max), limit)
