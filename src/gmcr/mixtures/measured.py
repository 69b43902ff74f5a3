"""Tables that behave like measured ones: most of a few components in every sample, and what instruments do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from gmcr.errors import InputError
from gmcr.mixtures.amounts import CONCENTRATIONS, ORDERED, Purity, with_purity
from gmcr.mixtures.disturbances import (
    AMOUNTS,
    CLEAN,
    COUNTING,
    DISTURBANCES,
    READINGS,
    TREATMENTS,
    counted,
    draw_law,
    draw_noise,
)
from gmcr.mixtures.profiles import PROFILES, draw_profiles
from gmcr.noise import Instrument, NoiseLaw
from gmcr.validation import FloatArray, as_generator, check_whole, require


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
    profiles : "peaks", "bands", "sticks", "mixed", "edges" or "slopes", or several of them to draw from
    concentrations : "lognormal", "dirichlet", "elution", "reaction", "few", "image", "titration", "design",
        "landscape", "regions" or "replicates", or several of them to draw from
    purity : "any", as it comes; "pure", each component alone in some sample (at least 0.98 of its signal); a
        number, no component has a larger share of any sample's signal
    law : law of the noise; by default constant, with or without parts that go with the signal
    disturbed : whether the table may have what instruments and samples do to it, each by chance: True, False, or
        which of "shift", "skew" (where samples come one after the other), "broadening", "variability", "jump",
        "baseline", "saturation", "scatter", "drift", "foreign samples", "closure", "wide range",
        "relative noise", "correlated noise", "correlated samples", "heavy tails", "channel noise",
        "error modes", "digitised", "spikes", "clipping", "stray light", "inner filter", "fringes",
        "ridge", "seam", "hot channels", "sample noise", "wandering", "threshold", "offset",
        "scattered light", "cosmic rays", "counting" (readings are whole numbers, and C is in counts too); and
        of what people do to readings: "reference taken off", "baselines taken off", "derivative", "to one size"

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
    S = draw_profiles(rng, kind_s, k, d)
    C = np.maximum(CONCENTRATIONS[kind_c](rng, m, k), 0.0)
    C[:, rng.integers(k)] *= np.exp(rng.uniform(-3, -1)) if rng.random() < 0.2 else 1.0  # a trace
    C = with_purity(rng, C, S, purity)
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
        if (name != "skew" or kind_c in ORDERED) and happens(name):
            clean, told[name] = change(rng, clean)
    errors, sigma, how = draw_noise(rng, noise, clean, happens)
    told.update(how)
    D = clean + errors
    if happens(COUNTING):
        D, sigma, highest = counted(rng, D, clean, sigma)
        C, told[COUNTING] = C * (highest / clean.max()), highest
    for name, change in READINGS.items():
        if happens(name):
            D, told[name] = change(rng, D)
    if COUNTING in told:
        D = np.round(D)
    for name, change in TREATMENTS.items():
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
