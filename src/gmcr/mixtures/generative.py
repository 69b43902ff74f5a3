"""The generative model: synthetic mixtures with known truth (Algorithm 2 of the paper, and variations)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.random import Generator

from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray, as_generator, check_not_negative, check_pool, check_whole

ProfileKind = Literal["orthonormal", "peaks", "bands"]
NoiseKind = Literal["proportional", "constant", "poisson"]
PeakShape = Literal["gaussian", "lorentzian"]

CLAMP = 1e-6  # the smallest entry of unsigned samples, Algorithm 2
FLOOR = 1e-12  # of a smooth profile's highest entry: keeps its tails from underflowing to exact zeros


@dataclass(frozen=True, eq=False, repr=False)
class Mixtures:
    """Synthetic samples and the truth behind them.

    Attributes
    ----------
    D : (samples, channels) the samples as measured
    C : (samples, components) concentrations, zero where a component is absent
    S : (components, channels) profiles of unit norm
    sigma : (samples,) standard deviation of each sample's noise; where it differs between channels
        (Poisson), its root mean square over them
    supports : (samples, components) bool, which components a sample holds
    clean : (samples, channels) the samples without noise, C @ S + offset
    noise : the noise model the samples were drawn with, None when they are free of noise
    """

    D: FloatArray
    C: FloatArray
    S: FloatArray
    sigma: FloatArray
    supports: BoolArray
    clean: FloatArray
    noise: NoiseKind | None

    def __repr__(self) -> str:
        (n_samples, n_channels), n_components = self.D.shape, len(self.S)
        return (
            f"Mixtures({n_samples} samples x {n_channels} channels, {n_components} components, "
            f"{self.supports.sum()} selections, noise {self.noise or 'none'})"
        )


def make_mixtures(
    n_components: int,
    n_samples: int,
    snr_db: float | None = 20.0,
    n_features: int = 512,
    active: tuple[int, int] = (1, 4),
    concentration: tuple[float, float] = (1, 10),
    random_state: int | Generator | None = None,
    *,
    profiles: ProfileKind | Any = "orthonormal",
    noise: NoiseKind = "proportional",
    counts: float = 1000.0,
    offset: float = 0.0,
    signed: bool = False,
    closure: bool = False,
    occurrence: Any = None,
    peaks: tuple[int, int] = (3, 9),
    width: tuple[float, float] = (3.0, 12.0),
    peak_shape: PeakShape = "gaussian",
) -> Mixtures:
    """Draw synthetic mixtures; the defaults are the paper's benchmark (Algorithm 2).

    Profiles, supports, concentrations and noise are drawn in this order from one stream, so that the same
    seed at another noise level gives the same mixtures.

    Parameters
    ----------
    n_components : number of components N
    n_samples : number of samples M
    snr_db : signal-to-noise ratio in decibel; None for samples without noise, whatever `noise` says
    n_features : number of channels d; an array given as `profiles` brings its own
    active : smallest and largest number of components in a sample, drawn uniformly between them; the
        largest is cut to `n_components`
    concentration : bounds of the concentrations, drawn uniformly from [low, high)
    random_state : seed, generator or None
    profiles : "orthonormal" (random orthonormal rows, absolute values; with more components than
        channels, independent Gaussian rows), "peaks" (smooth spectra, each a sum of peaks), "bands" (one to
        three broad bands on a decaying slope, as in UV-Vis), or a pool of one's own,
        (components, channels), whose rows are scaled to unit norm
    noise : "proportional" (per sample, variance = its mean square over nonzero entries / 10^(snr_db/10), on
        those entries only), "constant" (one variance, on every entry, such that the sample of median power
        has `snr_db`) or "poisson" (counting noise; takes its level from `counts` instead of `snr_db`)
    counts : Poisson noise: mean number of counts over all entries
    offset : constant added to every entry of the clean samples
    signed : profiles of any sign, and no clamping of the samples at 1e-6
    closure : concentrations of a sample sum to one
    occurrence : (samples, components) bool, supports to use instead of drawn ones; a row may be empty
    peaks : smallest and largest number of peaks of a profile, for `profiles="peaks"`
    width : bounds of a peak's width in channels (Gaussian: standard deviation; Lorentzian: half width at
        half maximum), for `profiles="peaks"`
    peak_shape : "gaussian" or "lorentzian", for `profiles="peaks"`

    Returns
    -------
    Mixtures

    Examples
    --------
    >>> from gmcr import make_mixtures
    >>> make_mixtures(n_components=16, n_samples=64, snr_db=30, random_state=0).D.shape
    (64, 512)
    """
    check_whole(n_components, "n_components")
    check_whole(n_samples, "n_samples")
    _check_noise(snr_db, noise, counts, offset, signed)
    low, high = _check_range(concentration, "concentration", least=0.0)
    rng = as_generator(random_state)

    if isinstance(profiles, str):
        check_whole(n_features, "n_features")
        S = _draw_profiles(rng, profiles, (n_components, n_features), signed, peaks, width, peak_shape)
    else:
        S = check_pool(profiles, name="profiles")
        if not signed:
            check_not_negative(S, "profiles")
    if len(S) != n_components:
        raise InputError(f"profiles has {len(S)} rows, but n_components is {n_components}; they must agree.")
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    if occurrence is None:
        supports = _draw_supports(rng, n_samples, n_components, active)
    else:
        supports = _given_supports(occurrence, n_samples, n_components)

    C = np.where(supports, rng.uniform(low, high, supports.shape), 0.0)
    if closure:
        C /= np.maximum(C.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    clean = C @ S + offset
    D, sigma = _add_noise(rng, clean, snr_db, noise, counts)
    if not signed:
        np.maximum(D, CLAMP, out=D)
    return Mixtures(D, C, S, sigma, supports, clean, None if snr_db is None else noise)


# Profiles


def _draw_profiles(
    rng: Generator, kind: str, shape: tuple[int, int], signed: bool, peaks: Any, width: Any, peak_shape: str
) -> FloatArray:
    """A random pool of profiles, (components, channels)."""
    n_components, n_channels = shape
    if kind == "orthonormal":
        S = _direction_rows(rng, n_components, n_channels)
        return S if signed else np.abs(S)
    if kind == "peaks":
        number = _check_range(peaks, "peaks", least=1, whole=True)
        bounds = _check_range(width, "width", least=0.5)  # narrower ones fall between two channels
        _check_choice(peak_shape, "peak_shape", get_args(PeakShape))
        heights = _heights(rng, n_components, number, signed)
        widths = rng.uniform(*bounds, heights.shape)
        return _peak_rows(rng, heights, widths, n_channels, peak_shape) + FLOOR
    if kind == "bands":
        return _band_rows(rng, n_components, n_channels, signed)
    names = ", ".join(map(repr, get_args(ProfileKind)))
    raise InputError(f"profiles must be one of {names} or an array, but is {kind!r}.")


def _direction_rows(rng: Generator, n_components: int, n_channels: int) -> FloatArray:
    """Orthonormal rows, uniformly distributed; plain Gaussian rows when there are too many for that."""
    if n_components > n_channels:
        return rng.standard_normal((n_components, n_channels))
    Q, R = np.linalg.qr(rng.standard_normal((n_channels, n_components)))
    # QR leaves the signs of the columns to the algorithm; R's diagonal gives them back.
    return (Q * np.copysign(1.0, np.diag(R))).T


def _heights(rng: Generator, n_rows: int, number: tuple[float, float], signed: bool) -> FloatArray:
    """Peak heights, (rows, most peaks); a row's unused places are zero."""
    fewest, most = int(number[0]), int(number[1])
    heights = rng.uniform(0.2, 1.0, (n_rows, most))
    if signed:
        heights *= rng.choice([-1.0, 1.0], heights.shape)
    used = rng.integers(fewest, most, n_rows, endpoint=True)
    return np.where(np.arange(most) < used[:, None], heights, 0.0)


def _peak_rows(
    rng: Generator, heights: FloatArray, widths: FloatArray, n_channels: int, shape: str
) -> FloatArray:
    """Sums of peaks at random centres, (rows, channels); `heights` and `widths` are (rows, peaks)."""
    axis = np.arange(n_channels)
    centres = rng.uniform(-0.5, n_channels - 0.5, heights.shape)
    rows = np.zeros((len(heights), n_channels))
    for height, centre, wide in zip(heights.T, centres.T, widths.T):  # over peaks: at most a dozen
        squared = ((axis - centre[:, None]) / wide[:, None]) ** 2
        rows += height[:, None] * (np.exp(-squared / 2) if shape == "gaussian" else 1 / (1 + squared))
    return rows


def _band_rows(rng: Generator, n_rows: int, n_channels: int, signed: bool) -> FloatArray:
    """Broad bands on a slope that decays along the axis, as absorbance does in UV-Vis."""
    heights = _heights(rng, n_rows, (1, 3), signed)
    widths = n_channels * rng.uniform(0.04, 0.15, heights.shape)
    slope = rng.uniform(0.1, 0.6, (n_rows, 1))
    decay = n_channels * rng.uniform(0.15, 0.5, (n_rows, 1))
    bands = _peak_rows(rng, heights, widths, n_channels, "gaussian")
    return bands + slope * np.exp(-np.arange(n_channels) / decay)


# Supports


def _draw_supports(rng: Generator, n_samples: int, n_components: int, active: tuple[int, int]) -> BoolArray:
    """Supports J_i of Algorithm 2: a uniform size, then a uniform subset of that size."""
    fewest, most = (int(bound) for bound in _check_range(active, "active", least=1, whole=True))
    if fewest > n_components:
        raise InputError(
            f"active asks for at least {fewest} components a sample, but n_components is {n_components}."
        )
    most = min(most, n_components)
    size = rng.integers(fewest, most, n_samples, endpoint=True)
    # The components with the k smallest of N random keys are a uniform subset of size k.
    keys = rng.random((n_samples, n_components))
    smallest = np.partition(keys, np.arange(most), axis=1)[:, :most]
    return keys <= np.take_along_axis(smallest, size[:, None] - 1, axis=1)


def _given_supports(occurrence: Any, n_samples: int, n_components: int) -> BoolArray:
    supports = np.asarray(occurrence)
    if supports.shape != (n_samples, n_components):
        raise InputError(
            f"occurrence must have shape (n_samples, n_components) = {(n_samples, n_components)}, "
            f"but has {supports.shape}."
        )
    if supports.dtype != bool and not np.isin(supports, (0, 1)).all():
        raise InputError("occurrence must hold only True and False (or 1 and 0).")
    return supports.astype(bool)


# Noise


def _add_noise(
    rng: Generator, clean: FloatArray, snr_db: float | None, noise: str, counts: float
) -> tuple[FloatArray, FloatArray]:
    """Noisy samples, (samples, channels), and the noise of each, (samples,)."""
    if snr_db is None or (noise == "poisson" and clean.mean() == 0):
        return clean.copy(), np.zeros(len(clean))
    if noise == "poisson":  # the variance of an entry is clean / scale
        scale = counts / clean.mean()
        return rng.poisson(clean * scale) / scale, np.sqrt(clean.mean(axis=1) / scale)
    present = clean != 0
    power = (clean**2).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    variance = power / 10 ** (snr_db / 10)
    if noise == "constant":
        # A blank sample has no signal to take the noise from, but has noise like any other.
        filled = power > 0
        variance = np.full(len(clean), np.median(variance[filled]) if filled.any() else 0.0)
        present = np.ones_like(present)
    sigma = np.sqrt(variance)
    return clean + np.where(present, sigma[:, None] * rng.standard_normal(clean.shape), 0.0), sigma


# Checks


def _check_noise(snr_db: float | None, noise: str, counts: float, offset: float, signed: bool) -> None:
    _check_choice(noise, "noise", get_args(NoiseKind))
    if snr_db is not None and not _is_number(snr_db):
        raise InputError(f"snr_db must be a finite number of decibels, or None for no noise, not {snr_db!r}.")
    if not _is_number(counts) or counts <= 0:
        raise InputError(f"counts must be a positive number, but is {counts!r}.")
    if not _is_number(offset):
        raise InputError(f"offset must be a finite number, but is {offset!r}.")
    if offset < 0 and not signed:
        raise InputError(
            f"offset is {offset:g}, which clamping would cut off; pass signed=True to allow that."
        )
    if signed and noise == "poisson":
        raise InputError(
            'noise="poisson" needs samples without negative entries; it cannot go with signed=True.'
        )


def _check_range(value: Any, name: str, *, least: float, whole: bool = False) -> tuple[float, float]:
    """A pair (low, high) with least <= low <= high and 0 < high."""
    kind = "whole numbers" if whole else "numbers"
    try:
        low, high = value
    except (TypeError, ValueError):
        raise InputError(f"{name} must be two {kind}, (low, high), but is {value!r}.") from None
    good = _is_number(low) and _is_number(high) and least <= low <= high and high > 0
    if not good or (whole and (low != int(low) or high != int(high))):
        raise InputError(f"{name} must be two {kind} with {least:g} <= low <= high, but is {value!r}.")
    return low, high


def _check_choice(value: str, name: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, but is {value!r}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and bool(np.isfinite(value))
