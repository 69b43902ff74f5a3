"""Decoding: which components of a known pool a sample holds, and how much of each (Eq. 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from gmcr.confidence.standard_errors import concentration_errors, interval
from gmcr.confidence.supports import support_posterior
from gmcr.constraints import Constraints
from gmcr.decoding.batch import decode_arrays
from gmcr.decoding.prices import ALPHA, lone_price, usage_price
from gmcr.errors import InputError
from gmcr.noise import (
    Correlation,
    Counts,
    ErrorCovariance,
    NoiseLaw,
    Proportional,
    Sigma,
    are_counts,
    degrees_of_freedom,
    estimate_noise,
)
from gmcr.text import decoding_html, decoding_line
from gmcr.threads import kept, threads
from gmcr.validation import (
    BoolArray,
    FloatArray,
    as_numbers,
    channel_order,
    check_per_sample,
    check_pool,
    check_samples,
)

if TYPE_CHECKING:
    from gmcr.calibration import Amounts

REWEIGHTINGS = 3  # of counts, whose noise follows from what they are decoded as
UNKNOWN_LEVEL = 0.005  # share of explained samples that `known` may wrongly flag


@dataclass(frozen=True, repr=False)
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
    amounts : Amounts, in units and with intervals, if a calibrated model decoded the samples
    find_confidence, find_errors, find_amounts : what computes these three
    left_out : names of constraints that held in the fit and cannot where samples are decoded one by one
    """

    concentrations: FloatArray
    residual: FloatArray
    misfit: FloatArray
    margin: FloatArray
    known: BoolArray
    noise: FloatArray
    find_confidence: Callable[[], FloatArray] | None = field(default=None, repr=False, compare=False)
    find_errors: Callable[[], FloatArray] | None = field(default=None, repr=False, compare=False)
    find_amounts: Callable[[], Amounts] | None = field(default=None, repr=False, compare=False)
    left_out: tuple[str, ...] = ()

    @property
    def supports(self) -> BoolArray:
        """(samples, slots): which slots each sample holds."""
        return self.concentrations != 0

    @property
    def confidence(self) -> FloatArray | None:
        """(samples,): probability that each support is right; see `gmcr.confidence.supports`."""
        return None if self.find_confidence is None else kept(self, "_confidence", self.find_confidence)

    @property
    def errors(self) -> FloatArray | None:
        """(samples, slots): standard error of each concentration, given its support; zero where not held."""
        return None if self.find_errors is None else kept(self, "_errors", self.find_errors)

    @property
    def amounts(self) -> Amounts:
        """Amounts in units: `values` and `errors` (samples, known), `intervals(level)`, `table()`."""
        if self.find_amounts is None:
            raise InputError(
                "amounts need a calibrated model: call model.calibrate(known) first, then decode."
            )
        return kept(self, "_amounts", self.find_amounts)

    def intervals(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends of the concentrations' intervals, (samples, slots) each, NaN where not held."""
        if self.errors is None:
            raise InputError("this decoding has no standard errors to make intervals of.")
        C = self.concentrations
        ends = interval(C, self.errors, level, signed=bool((C < 0).any()))
        low, high = (np.where(self.supports, end, np.nan) for end in ends)
        return low, high

    def __repr__(self) -> str:
        return f"<Decoding: {decoding_line(self)}>"

    def _repr_html_(self) -> str:
        return decoding_html(self)


def decode(
    D: ArrayLike,
    S: ArrayLike,
    noise: ArrayLike | str | NoiseLaw | Sigma | None = None,
    *,
    price: ArrayLike | None = None,
    alpha: float = ALPHA,
    weights: ArrayLike | None = None,
    k_max: int | None = None,
    signed: bool = False,
    allowed: ArrayLike | None = None,
) -> Decoding:
    """Decode samples over a fixed pool: best non-negative fit plus a price per selected component (Eq. 3).

    Parameters
    ----------
    D : (samples, channels) samples; NaN means missing
    S : (slots, channels) pool of profiles, of any norm; concentrations are in units of these very profiles. Where
        both are tables of `gmcr.read` that name their channels, these are matched by name
    noise : standard deviation of the noise: one number, one per sample, one per entry, a `NoiseLaw`,
        a law's name to estimate its level from what the pool leaves over, or None to choose the law as well
    price : usage price λ in units of the noise variance, one number or one per sample;
        by default the window's L_α² for this pool and this number of samples
    alpha : the window's error probability, when `price` is not given
    weights : relative weight of each channel, or of each entry, beside the noise; zero leaves it out
    k_max : largest number of components in a sample
    signed : whether concentrations may be negative
    allowed : (samples, slots) bool, which components a sample may hold at all

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
    order = channel_order(_channels(D), _channels(S), "the pool")
    samples = check_samples(D, copy=False)
    pool = check_pool(S, samples.shape[1])
    if order is not None:  # the pool is what moves: noise and weights may be told by entry of D
        pool = pool[:, np.argsort(order)]
    n_samples, n_slots = len(samples), len(pool)
    entry_weights = _check_weights(weights, samples)
    if entry_weights is not None:
        samples = np.where(entry_weights > 0, samples, np.nan)  # an entry without weight is a missing one
    may_hold = None if allowed is None else _check_allowed(allowed, n_samples, n_slots)
    if price is None:
        n_slots = n_slots if may_hold is None else int(may_hold.sum(axis=1).max())
        price = usage_price(n_slots, n_samples, alpha)
    prices = check_per_sample(price, n_samples, "price")

    # Unit-norm profiles inside, so that tolerances mean the same for every slot.
    norms = np.linalg.norm(pool, axis=1)
    constraints = Constraints.of(signed=signed, k_max=k_max)
    over = _Over(pool / norms[:, None], prices, constraints, entry_weights, may_hold)
    with threads():
        sigma = over.noise(noise, samples)
        C, margin, misfit = over.decode(samples, sigma)
        if noise is None and are_counts(samples):  # judged with what they vary beyond chance
            fit = C @ over.S
            law = estimate_noise(samples, fit, degrees_of_freedom(samples, C), Counts.kind)
            sigma = law.sigma(samples, fit)
            misfit = np.nansum(np.square((samples - fit) / sigma.entries), axis=1)
        residual, misfit = over.residuals(samples, C, sigma, misfit)
        known = is_explained(misfit, samples, C)
        lone = lone_price(n_slots, alpha)
        rows = np.flatnonzero(~known & (prices > lone))
        known[rows] = over.at(lone, rows).explains(samples[rows], sigma[rows])
    C /= norms
    judged = samples, pool, C, sigma.weighted(entry_weights), signed
    return Decoding(
        concentrations=C,
        residual=residual,
        misfit=misfit,
        margin=margin,
        known=known,
        noise=sigma.per_sample(samples),
        find_confidence=partial(_confidence, *judged, may_hold),
        find_errors=partial(_errors, *judged),
    )


def _channels(of: object) -> tuple[str, ...] | None:
    """The names of the channels of a table from a file; a data frame may have a column called so."""
    names = getattr(of, "channels", None)
    return names if isinstance(names, tuple) else None


def decoded_as(
    D: FloatArray, S: FloatArray, C: FloatArray, noise: NoiseLaw | Sigma, *, signed: bool = False
) -> Decoding:
    """The decoding of samples D whose concentrations C over the pool S somebody else has found."""
    fit = C @ S
    sigma, squares = noise.sigma(D, fit), np.square(D - fit)
    misfit = np.nansum(squares / np.square(sigma.entries), axis=1)
    judged = D, S, C, sigma, signed
    return Decoding(
        concentrations=C,
        residual=np.sqrt(np.nansum(squares, axis=1)),
        misfit=misfit,
        margin=np.full(len(D), np.nan),
        known=is_explained(misfit, D, C),
        noise=sigma.per_sample(D),
        find_confidence=partial(_confidence, *judged),
        find_errors=partial(_errors, *judged),
    )


def _confidence(
    D: FloatArray, S: FloatArray, C: FloatArray, sigma: Sigma, signed: bool, allowed: BoolArray | None = None
) -> FloatArray:
    """Confidence in the supports of C over the pool S, which is taken as exact: (samples,)."""
    return support_posterior(D, S, C, sigma, signed=signed, allowed=allowed).confidence


def _errors(D: FloatArray, S: FloatArray, C: FloatArray, sigma: Sigma, signed: bool) -> FloatArray:
    """Standard errors of C over the pool S, which is taken as exact: (samples, slots)."""
    return concentration_errors(S, C, sigma.where_present(D), signed=signed)


@dataclass(frozen=True)
class _Over:
    """What samples are decoded over: the pool, of unit norm, the prices (samples,), and what must be obeyed.

    weights : (samples, channels) of entries beside the noise; None for none
    allowed : (samples, slots) which ones a sample may hold; None for all
    """

    S: FloatArray
    prices: FloatArray
    constraints: Constraints
    weights: FloatArray | None
    allowed: BoolArray | None = None

    def at(self, price: float, rows: np.ndarray) -> _Over:
        """The same for some of the samples, at one price."""
        weights = None if self.weights is None else self.weights[rows]
        allowed = None if self.allowed is None else self.allowed[rows]
        return replace(self, prices=np.full(len(rows), price), weights=weights, allowed=allowed)

    def decode(self, D: FloatArray, sigma: Sigma) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Concentrations, margins and misfits of samples."""
        if self.allowed is None:
            return decode_arrays(D, self.S, sigma, self.prices, self.constraints, self.weights)
        C, margin, misfit = np.zeros((len(D), len(self.S))), np.empty(len(D)), np.empty(len(D))
        masks, which = np.unique(self.allowed, axis=0, return_inverse=True)
        for number, mask in enumerate(masks):  # samples that may hold the same, over that part of the pool
            rows = np.flatnonzero(which.ravel() == number)
            weights = None if self.weights is None else self.weights[rows]
            part = D[rows], self.S[mask], sigma[rows], self.prices[rows], self.constraints, weights
            C[np.ix_(rows, mask)], margin[rows], misfit[rows] = decode_arrays(*part)
        return C, margin, misfit

    def residuals(
        self, D: FloatArray, C: FloatArray, sigma: Sigma, misfit: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Over present entries: norm of each residual in the units of the data, and its square in noise units."""
        if not sigma.per_entry and self.weights is None:
            return np.sqrt(misfit) * sigma.values, misfit
        squares = (D - C @ self.S) ** 2
        norms = np.sqrt(np.nansum(squares, axis=1))
        if self.weights is None:
            return norms, misfit
        return norms, np.nansum(squares / np.square(sigma.entries), axis=1)

    def explains(self, D: FloatArray, sigma: Sigma) -> BoolArray:
        """Whether the pool explains samples within their noise: (samples,)."""
        if not len(D):
            return np.zeros(0, dtype=bool)
        C, _, misfit = self.decode(D, sigma)
        return is_explained(self.residuals(D, C, sigma, misfit)[1], D, C)

    def noise(self, noise: ArrayLike | str | NoiseLaw | Sigma | None, D: FloatArray) -> Sigma:
        """The standard deviations to decode with, from whatever the caller knows of the noise."""
        if noise is None or isinstance(noise, str):
            return self._estimated(D, noise or "auto")
        if not isinstance(noise, NoiseLaw):
            return Sigma.given(noise, D)
        if not noise.per_entry:
            return noise.sigma(D)
        # One noise per sample first: by entry, the data's own, low entries would weigh most for being low.
        C, _, _ = self.decode(D, Sigma(noise.sigma(D).per_sample(D)))
        for _ in range(REWEIGHTINGS if noise.common != noise else 0):
            # What a sample that is not understood yet says of its own noise would keep it from being so.
            C, _, _ = self.decode(D, noise.common.sigma(D, C @ self.S))
        return noise.sigma(D, C @ self.S)

    def _estimated(self, D: FloatArray, kind: str) -> Sigma:
        """Noise from what the pool leaves over, descending from a coarse level until it holds still.

        Counts are decoded at the noise that all counts have: what they vary beyond it is no smaller for a wrong
        support, so that it would hide what it should show.
        """
        if kind == "auto" and are_counts(D):
            sigma = Counts().sigma(D)
            for _ in range(REWEIGHTINGS):
                sigma = Counts().sigma(D, self.decode(D, sigma)[0] @ self.S)
            return sigma
        law: NoiseLaw = Proportional(0.5)
        sigma = law.sigma(D)
        for _ in range(30):
            C, _, _ = self.decode(D, sigma)
            fit = C @ self.S
            new = estimate_noise(D, fit, degrees_of_freedom(D, C), kind)
            settled = new.kind == law.kind and new.level >= 0.99 * law.level
            law, sigma = new, new.sigma(D, fit)
            if settled:
                break
        return sigma


def is_explained(
    misfit: FloatArray,
    D: FloatArray,
    C: FloatArray,
    correlation: Correlation | ErrorCovariance | None = None,
    level: float = UNKNOWN_LEVEL,
) -> BoolArray:
    """Whether noise leaves as much as this of samples D decoded as C: (samples,).

    level : chance that it leaves more of a sample
    """
    dof, inverse = np.unique(degrees_of_freedom(D, C), return_inverse=True)
    # A sum of squares of correlated noise spreads as one of fewer entries does.
    effective = (correlation or Correlation()).degrees_of_freedom(dof)
    return misfit <= (chi2.isf(level, effective) * dof / effective)[inverse]


def _check_allowed(allowed: ArrayLike, n_samples: int, n_slots: int) -> BoolArray:
    try:
        mask = np.asarray(allowed)
    except ValueError:  # rows of different lengths
        mask = np.empty(0)
    fits = mask.shape == (n_samples, n_slots)
    if not fits or not np.isin(mask, (0, 1)).all():
        other = "other values" if fits else f"shape {mask.shape}"
        raise InputError(
            f"allowed must be True or False for each of {n_samples} samples and {n_slots} components, "
            f"but has {other}."
        )
    if not mask.any(axis=1).all():
        raise InputError(
            f"allowed leaves sample {int(mask.any(axis=1).argmin())} no component; remove that sample."
        )
    return mask.astype(bool)


def _check_weights(weights: ArrayLike | None, D: FloatArray) -> FloatArray | None:
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
