"""Tables that behave like measured ones: most of a few components in every sample, and what instruments do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.linalg import expm
from scipy.ndimage import gaussian_filter

from gmcr.errors import InputError
from gmcr.mixtures.disturbances import AMOUNTS, CLEAN, DISTURBANCES, READINGS, draw_law, draw_noise
from gmcr.noise import Instrument, NoiseLaw
from gmcr.validation import FloatArray, as_generator, check_whole, require

Purity = Literal["any", "pure"] | float

PURE = 0.98  # share of a sample's signal from which it is pure
SIMILAR = 0.25, (0.1, 0.6)  # how often a profile is all but another one, and its own part then


@dataclass(frozen=True, eq=False, repr=False)
class Measured:
    """A table that behaves like a measured one, and the truth behind it.

    Attributes
    ----------
    D : (samples, channels) the samples as measured
    C : (samples, components) concentrations
    S : (components, channels) profiles of unit norm
    law : the law of the noise
    sigma : (samples, channels) its standard deviation, before anything is read off
    kinds : what was drawn: kind of profiles and of concentrations, and how strong each disturbance is
    """

    D: FloatArray
    C: FloatArray
    S: FloatArray
    law: Instrument
    sigma: FloatArray
    kinds: dict[str, str | float]

    def __repr__(self) -> str:
        told = ", ".join(
            f"{name} {value:.2g}" if isinstance(value, float) else value for name, value in self.kinds.items()
        )
        n_samples, n_channels = self.D.shape
        return f"Measured({n_samples} samples x {n_channels} channels, {len(self.S)} components: {told})"


def make_measured(
    n_components: int | None = None,
    n_samples: int | None = None,
    n_features: int | None = None,
    random_state: int | Generator | None = None,
    *,
    profiles: str | Collection[str] | None = None,
    concentrations: str | Collection[str] | None = None,
    purity: Purity = "any",
    law: Instrument | None = None,
    disturbed: bool | Collection[str] = True,
) -> Measured:
    """Draw a table that behaves like a measured one; what is not given is drawn too.

    Parameters
    ----------
    n_components : number of components; by default two to six
    n_samples, n_features : samples and channels; by default up to 400 and 500, on a logarithmic scale
    random_state : seed, generator or None
    profiles : "peaks", "bands", "sticks" or "mixed", or several of them to draw from
    concentrations : "lognormal", "dirichlet", "elution", "reaction", "few", "image", "titration" or "design",
        or several of them to draw from
    purity : "any", as it comes; "pure", each component alone in some sample (at least 0.98 of its signal); a
        number, no component has a larger share of any sample's signal
    law : law of the noise; by default constant, with or without parts that go with the signal
    disturbed : whether the table may have what instruments and samples do to it, each by chance: True, False, or
        which of "shift", "baseline", "saturation", "scatter", "drift", "foreign samples", "closure",
        "wide range", "correlated noise", "correlated samples", "heavy tails", "channel noise", "spikes",
        "clipping"

    Returns
    -------
    Measured

    Examples
    --------
    >>> from gmcr import make_measured
    >>> make_measured(3, 50, 100, random_state=0).D.shape
    (50, 100)
    """
    rng = as_generator(random_state)
    k = (
        int(rng.integers(2, 6, endpoint=True))
        if n_components is None
        else check_whole(n_components, "n_components")
    )
    m = _log_uniform(rng, max(4 * k, 16), 400) if n_samples is None else check_whole(n_samples, "n_samples")
    d = _log_uniform(rng, 40, 500) if n_features is None else check_whole(n_features, "n_features")
    kind_s, kind_c = (
        _kind(rng, profiles, PROFILES, "profiles"),
        _kind(rng, concentrations, CONCENTRATIONS, "concentrations"),
    )
    S = _profiles(rng, kind_s, k, d)
    C = np.maximum(CONCENTRATIONS[kind_c](rng, m, k), 0.0)
    C[:, rng.integers(k)] *= np.exp(rng.uniform(-3, -1)) if rng.random() < 0.2 else 1.0  # a trace
    C = _with_purity(rng, C, S, purity)
    allowed, told = _allowed(disturbed), dict[str, str | float](profiles=kind_s, concentrations=kind_c)

    def happens(name: str) -> bool:
        return name in allowed and rng.random() < DISTURBANCES[name]

    for name, change in AMOUNTS.items():
        if happens(name):
            C, told[name] = change(rng, C)
    C /= (C @ S).max()
    clean = C @ S
    noise = draw_law(rng) if law is None else law
    require(isinstance(noise, NoiseLaw), "law", "an object of gmcr.noise", law)
    for name, change in CLEAN.items():
        if happens(name):
            clean, told[name] = change(rng, clean)
    errors, sigma, how = draw_noise(rng, noise, clean, happens)
    told.update(how)
    D = clean + errors
    for name, change in READINGS.items():
        if happens(name):
            D, told[name] = change(rng, D)
    return Measured(D, C, S, noise, sigma, told)


def _allowed(disturbed: bool | Collection[str]) -> Collection[str]:
    if isinstance(disturbed, bool):
        return DISTURBANCES if disturbed else ()
    unknown = [name for name in disturbed if name not in DISTURBANCES]
    if unknown or isinstance(disturbed, str):
        names = ", ".join(map(repr, DISTURBANCES))
        raise InputError(f"disturbed must be True, False or some of {names}, but is {disturbed!r}.")
    return disturbed


def _kind(
    rng: Generator,
    asked: str | Collection[str] | None,
    kinds: dict[str, Callable[..., FloatArray]],
    name: str,
) -> str:
    some = list(kinds) if asked is None else [asked] if isinstance(asked, str) else list(asked)
    if not some or not set(some) <= set(kinds):
        raise InputError(f"{name} must be one of {', '.join(map(repr, kinds))}, but is {asked!r}.")
    return some[0] if len(some) == 1 else str(rng.choice(some))


def _log_uniform(rng: Generator, low: float, high: float) -> int:
    return int(np.exp(rng.uniform(np.log(low), np.log(max(high, low + 1)))))


# Profiles


def _profiles(rng: Generator, kind: str, k: int, d: int) -> FloatArray:
    """Profiles of unit norm; some share a common part, some are all but another one, some have an offset."""
    S = np.vstack([PROFILES[kind](rng, np.arange(float(d))) for _ in range(k)])
    S /= S.max(axis=1, keepdims=True)
    if rng.random() < 0.4:
        common = _bands(rng, np.arange(float(d)))
        S += rng.uniform(0.05, 0.6) * common / common.max()
    often, own = SIMILAR
    if k > 1 and rng.random() < often:
        i, j = rng.choice(k, 2, replace=False)
        share = rng.uniform(*own)
        S[j] = (1 - share) * S[i] + share * S[j]
    if rng.random() < 0.15:
        S += rng.uniform(0.02, 0.3)
    return S / np.linalg.norm(S, axis=1, keepdims=True)


def _peaks(rng: Generator, x: FloatArray) -> FloatArray:
    """Narrow peaks, as in Raman, infrared or NMR."""
    n = int(rng.integers(3, 15, endpoint=True))
    squared = ((x - rng.uniform(0, len(x), (n, 1))) / (len(x) * rng.uniform(0.004, 0.03, (n, 1)) + 0.7)) ** 2
    shapes = np.where(rng.random((n, 1)) < 0.5, np.exp(-squared / 2), 1 / (1 + squared))
    return rng.lognormal(0, 0.8, n) @ shapes


def _bands(rng: Generator, x: FloatArray) -> FloatArray:
    """Broad bands, with or without a slope, as in UV-Vis, fluorescence or near infrared."""
    n = int(rng.integers(1, 4, endpoint=True))
    squared = ((x - rng.uniform(0, len(x), (n, 1))) / (len(x) * rng.uniform(0.04, 0.2, (n, 1)))) ** 2
    slope = rng.uniform(0.05, 0.6) * np.exp(-x / (len(x) * rng.uniform(0.15, 0.6)))
    return rng.lognormal(0, 0.5, n) @ np.exp(-squared / 2) + slope * (rng.random() < 0.5)


def _sticks(rng: Generator, x: FloatArray) -> FloatArray:
    """Single channels, as in mass spectra."""
    n = int(rng.integers(min(5, len(x)), max(6, len(x) // 4)))
    profile = np.zeros(len(x))
    n = min(n, len(x))
    profile[rng.choice(len(x), n, replace=False)] = rng.lognormal(0, 1.2, n)
    return profile


def _mixed(rng: Generator, x: FloatArray) -> FloatArray:
    return (_peaks, _bands, _sticks)[rng.integers(3)](rng, x)


PROFILES = {"peaks": _peaks, "bands": _bands, "sticks": _sticks, "mixed": _mixed}


# Concentrations


def _lognormal(rng: Generator, m: int, k: int) -> FloatArray:
    return rng.lognormal(0, rng.uniform(0.3, 1.3), (m, k))


def _dirichlet(rng: Generator, m: int, k: int) -> FloatArray:
    return rng.dirichlet(np.full(k, rng.uniform(0.3, 3.0)), m) * rng.lognormal(0, rng.uniform(0, 0.5), (m, 1))


def _elution(rng: Generator, m: int, k: int) -> FloatArray:
    """Peaks that elute one after the other, with tails, in one to four runs."""
    runs = np.array_split(np.arange(m), min(int(rng.integers(1, 4, endpoint=True)), m))
    centres, widths = np.sort(rng.uniform(0.25, 0.75, k)), rng.uniform(0.03, 0.12, k)
    tails = rng.uniform(1, 2, k)
    parts = []
    for rows in runs:
        z = (np.linspace(0, 1, len(rows))[:, None] - centres - rng.normal(0, 0.01)) / widths
        parts.append(np.exp(-0.5 * np.where(z > 0, z / tails, z) ** 2) * rng.lognormal(0, 0.7, k))
    return np.vstack(parts)


def _reaction(rng: Generator, m: int, k: int) -> FloatArray:
    """A → B → C → …, first order, followed over time."""
    rates = np.append(np.exp(rng.uniform(np.log(0.3), np.log(4), k - 1)), 0.0)
    flow = np.diag(-rates) + np.diag(rates[:-1], -1)
    step = expm(flow * rng.uniform(3, 8) / max(m - 1, 1))
    C = np.zeros((m, k))
    C[0, 0] = 1.0
    for row in range(1, m):
        C[row] = step @ C[row - 1]
    return C


def _few(rng: Generator, m: int, k: int) -> FloatArray:
    """One to four of the components in each sample."""
    order = rng.random((m, k)).argsort(axis=1).argsort(axis=1)
    held = order < rng.integers(1, min(k, 4), (m, 1), endpoint=True)
    return np.where(held, rng.lognormal(0, 0.5, (m, k)), 0.0)


def _image(rng: Generator, m: int, k: int) -> FloatArray:
    """Shares that vary smoothly over the pixels of a square."""
    side = int(np.ceil(np.sqrt(m)))
    fields = gaussian_filter(rng.standard_normal((k, side, side)), (0, 0.12 * side + 0.5, 0.12 * side + 0.5))
    fields /= np.maximum(fields.std(axis=(1, 2), keepdims=True), np.finfo(float).tiny)
    C = np.exp(rng.uniform(0.8, 2.0) * fields).reshape(k, -1).T[:m]
    return C / C.sum(axis=1, keepdims=True)


def _titration(rng: Generator, m: int, k: int) -> FloatArray:
    """Species that turn into the next one after the other, as over a range of pH."""
    rise = rng.uniform(5, 20, k - 1) * (np.linspace(0, 1, m)[:, None] - np.sort(rng.uniform(0, 1, k - 1)))
    passed = np.minimum.accumulate(1 / (1 + np.exp(-rise)), axis=1)
    return -np.diff(np.hstack([np.ones((m, 1)), passed, np.zeros((m, 1))]), axis=1)


def _design(rng: Generator, m: int, k: int) -> FloatArray:
    """Mixtures weighed in at a few levels each, as a chemist designs them."""
    levels = int(rng.integers(3, 6, endpoint=True))
    return rng.integers(0, levels, (m, k)) / (levels - 1) + np.eye(k)[np.arange(m) % k] / levels


CONCENTRATIONS = {
    "lognormal": _lognormal,
    "dirichlet": _dirichlet,
    "elution": _elution,
    "reaction": _reaction,
    "few": _few,
    "image": _image,
    "titration": _titration,
    "design": _design,
}


def _with_purity(rng: Generator, C: FloatArray, S: FloatArray, purity: Purity) -> FloatArray:
    """The concentrations with pure samples put in, or with shares that are too large brought down."""
    if purity == "any":
        return C
    size = S.sum(axis=1)
    total = np.maximum((C * size).sum(axis=1, keepdims=True), np.finfo(float).tiny)
    shares, k = C * size / total, C.shape[1]
    if purity == "pure" and len(C) >= k:
        for j, row in enumerate(rng.permutation(len(C))[:k]):
            if shares[:, j].max() < PURE:
                shares[row] = 0.75 * (1 - PURE) * rng.dirichlet(np.ones(k))
                shares[row, j] += 1 - shares[row].sum()
    elif not isinstance(purity, str) and 1 / k < purity <= 1:
        middle = np.minimum(0.5 / k + 0.5 * shares.mean(axis=0), 0.9 * purity)
        middle /= middle.sum()
        for _ in range(200):  # towards the middle, as far as it takes
            over = shares.max(axis=1) > purity
            shares[over] = 0.9 * shares[over] + 0.1 * middle
    else:
        raise InputError(
            f'purity must be "any", "pure" (with {k} samples or more) or a number above 1/{k}, but is {purity!r}.'
        )
    return shares * total / size
