"""Profiles of tables that behave like measured ones, one kind a function: from channels to one profile."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.ndimage import gaussian_filter1d

from gmcr.validation import FloatArray

SIMILAR = 0.25, (0.1, 0.6)  # how often a profile is all but another one, and its own part then


def draw_profiles(rng: Generator, kind: str, k: int, d: int) -> FloatArray:
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


def _edges(rng: Generator, x: FloatArray) -> FloatArray:
    """A step with a line on top of it and waves that fade, as in X-ray absorption: all are much alike."""
    u = x / len(x)
    past = u - rng.uniform(0.25, 0.35)
    step = 0.5 + np.arctan(past / rng.uniform(0.005, 0.03)) / np.pi
    line = rng.uniform(0.1, 1.0) * np.exp(-0.5 * ((past - 0.02) / rng.uniform(0.01, 0.04)) ** 2)
    waves = (
        rng.uniform(0.02, 0.15) * np.sin(rng.uniform(20, 60) * past) * np.exp(-4.0 * np.maximum(past, 0.0))
    )
    return np.maximum(step * (1.0 + waves) + line, 0.0)


def _slopes(rng: Generator, x: FloatArray) -> FloatArray:
    """Something smooth without a shape of its own, with a few dips, as in reflectance."""
    n = len(x)
    rises = np.exp(
        rng.uniform(0.2, 0.6) * np.cumsum(gaussian_filter1d(rng.standard_normal(n), 0.05 * n)) / np.sqrt(n)
    )
    places = rng.uniform(0, n, (3, 1))
    dips = np.exp(-0.5 * ((x - places) / (n * rng.uniform(0.01, 0.05, (3, 1)))) ** 2)
    return rises * (1.0 - rng.uniform(0.0, 0.6, 3) @ dips / 3)


def _mixed(rng: Generator, x: FloatArray) -> FloatArray:
    return (_peaks, _bands, _sticks)[rng.integers(3)](rng, x)


PROFILES = {
    "peaks": _peaks,
    "bands": _bands,
    "sticks": _sticks,
    "mixed": _mixed,
    "edges": _edges,
    "slopes": _slopes,
}
