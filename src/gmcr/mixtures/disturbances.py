"""What instruments and samples do to a table: to the amounts, to the clean signal, to its noise, to the readings.

Each disturbance takes a generator and a table, and gives the table disturbed and how strong it was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from scipy.ndimage import gaussian_filter1d

from gmcr.noise import Instrument
from gmcr.validation import FloatArray

Change = Callable[[Generator, FloatArray], tuple[FloatArray, float]]


def _between(rng: Generator, low: float, high: float) -> float:
    """A size, on a logarithmic scale."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


# The amounts


def _closed(rng: Generator, C: FloatArray) -> tuple[FloatArray, float]:
    """Amounts that sum to one, as shares do."""
    total = C.sum(axis=1, keepdims=True)
    return C / np.where(total > 0, total, 1.0), 1.0


def _of_wide_range(rng: Generator, C: FloatArray) -> tuple[FloatArray, float]:
    """Samples of very different sizes."""
    size = float(rng.uniform(0.7, 2.0))
    return C * rng.lognormal(0, size, (len(C), 1)), size


# The clean signal


def _shifted(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    x, size = np.arange(clean.shape[1]), _between(rng, 0.02, 0.3)
    return np.array([np.interp(x + rng.normal(0, size), x, row) for row in clean]), size


def _with_baseline(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    size = float(np.exp(rng.uniform(-7, -3.5)))
    x = np.linspace(-1, 1, clean.shape[1]) ** np.arange(3)[:, None]
    drift = np.abs(gaussian_filter1d(rng.standard_normal((len(clean), 3)), 3, axis=0) @ x)
    return clean + size * clean.max() * drift / drift.max(), size


def _saturated(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    size = float(rng.uniform(0.01, 0.1))
    return clean / (1 + size * clean / clean.max()), size


def _scattered(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """Each sample brighter or darker, more so towards one end, and lifted as a whole."""
    size, ramp = _between(rng, 3e-3, 0.1), np.linspace(-1, 1, clean.shape[1])
    factor, tilt, lift = size * rng.standard_normal((3, len(clean), 1))
    return np.maximum(
        clean * (1 + factor + tilt * ramp) + lift * clean.mean(axis=1, keepdims=True), 0.0
    ), size


def _drifted(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """A response that changes slowly from sample to sample, differently along the channels."""
    m, d = clean.shape
    size = _between(rng, 3e-3, 0.1)
    along = np.cos(np.linspace(0, np.pi * rng.uniform(0.5, 2), d) + rng.uniform(0, 2 * np.pi))
    return clean * (1 + size * np.linspace(-1, 1, m)[:, None] * along), size


def _with_foreign_samples(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """One to three samples that hold something else besides."""
    m, d = clean.shape
    size = _between(rng, 0.05, 0.7)
    rows = rng.choice(m, min(int(rng.integers(1, 4)), m), replace=False)
    foreign = np.exp(-0.5 * ((np.arange(d) - rng.uniform(0, d)) / (d * rng.uniform(0.02, 0.15) + 0.7)) ** 2)
    clean = clean.copy()
    clean[rows] += size * clean.max() * foreign * rng.uniform(0.5, 1, (len(rows), 1))
    return clean, size


def _skewed(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """Samples that come one after the other, their channels read one after the other: later ones lag behind."""
    size, x = _between(rng, 0.05, 1.0), np.arange(float(len(clean)))
    lags = size * np.linspace(-0.5, 0.5, clean.shape[1])
    return np.array([np.interp(x + lag, x, column) for lag, column in zip(lags, clean.T)]).T, size


def _broadened(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """Profiles that are a little broader in some samples than in others, as with temperature."""
    size, width = _between(rng, 0.02, 0.5), _between(rng, 0.5, 3.0)
    return clean + size * rng.random((len(clean), 1)) * (
        gaussian_filter1d(clean, width, axis=1) - clean
    ), size


def _varied(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """A response that differs from sample to sample in two or three smooth ways, as surroundings change it."""
    m, d = clean.shape
    size, n = _between(rng, 2e-3, 0.1), int(rng.integers(2, 4))
    ways = gaussian_filter1d(rng.standard_normal((n, d)), 0.1 * d, axis=1)
    ways /= np.maximum(np.abs(ways).max(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.maximum(clean * (1 + size * rng.standard_normal((m, n)) @ ways), 0.0), size


def _with_jump(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """From some sample on the instrument answers differently along the channels."""
    m, d = clean.shape
    size = _between(rng, 3e-3, 0.1)
    along = gaussian_filter1d(rng.standard_normal(d), 0.15 * d)
    along /= max(float(np.abs(along).max()), np.finfo(float).tiny)
    return clean * (1 + size * along * (np.arange(m) >= rng.integers(1, max(m, 2)))[:, None]), size


# The noise


def draw_law(rng: Generator) -> Instrument:
    """Constant noise of 0.01 to 1.5 % of the highest signal, often with parts that go with the signal."""
    level = _between(rng, 1e-4, 1.5e-2)
    gain = float(0.05 * level * np.exp(rng.uniform(-2, 1))) if rng.random() < 0.4 else 0.0
    slope = _between(rng, 5e-4, 1.5e-2) if rng.random() < 0.4 else 0.0
    return Instrument(level, gain, slope)


def draw_noise(
    rng: Generator, law: Instrument, clean: FloatArray, happens: Callable[[str], bool]
) -> tuple[FloatArray, FloatArray, dict[str, float]]:
    """Noise under the law, the standard deviation of each entry, and what is odd about it."""
    told = dict[str, float]()
    if happens("relative noise"):
        told["relative noise"] = _between(rng, 1.5e-2, 0.12)
        law = replace(law, slope=told["relative noise"])
    modes = np.zeros_like(clean)
    if happens("error modes"):
        modes, told["error modes"] = _modes(rng, law.sigma(clean, clean).entries, clean.shape)
    if happens("correlated noise"):
        told["correlated noise"] = float(rng.uniform(0.5, 2.5))
    if happens("correlated samples"):
        told["correlated samples"] = float(rng.uniform(0.5, 2.0))
    if happens("heavy tails"):
        told["heavy tails"] = float(rng.uniform(2.5, 5))
    sigma = np.broadcast_to(law.sigma(clean, clean).entries, clean.shape)
    if happens("channel noise"):
        told["channel noise"] = float(rng.uniform(0.2, 0.8))
        sigma = sigma * rng.lognormal(0, told["channel noise"], clean.shape[1])
    if not told:
        return law.draw(clean, rng) - clean, sigma, told
    tails = told.get("heavy tails")
    white = rng.standard_normal(clean.shape) if tails is None else rng.standard_t(tails, clean.shape)
    for axis, name in ((1, "correlated noise"), (0, "correlated samples")):
        white = gaussian_filter1d(white, told[name], axis=axis) if name in told else white
    return sigma * white / white.std() + modes, sigma, told


def _modes(rng: Generator, sigma: FloatArray, shape: tuple[int, int]) -> tuple[FloatArray, float]:
    """One or two shapes by which every sample is off by chance, as lamps and cells make them."""
    (m, d), size = shape, _between(rng, 0.2, 4.0)
    ways = np.cumsum(
        gaussian_filter1d(rng.standard_normal((int(rng.integers(1, 3)), d)), 0.05 * d, axis=1), axis=1
    )
    ways /= np.maximum(np.sqrt(np.square(ways).mean(axis=1, keepdims=True)), np.finfo(float).tiny)
    return size * float(np.mean(sigma)) * rng.standard_normal((m, len(ways))) @ ways, size


# The readings


def _with_spikes(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """Single entries far too high, as cosmic rays make them."""
    n, D = max(1, int(_between(rng, 1e-4, 2e-3) * D.size)), D.copy()
    D.flat[rng.choice(D.size, n, replace=False)] += D.max() * rng.uniform(0.1, 1.0, n)
    return D, n / D.size


def _digitised(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """Steps of so much of the highest reading."""
    size = _between(rng, 1e-4, 1e-2)
    step = size * float(np.abs(D).max())
    return np.round(D / step) * step, size


def _clipped(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """Nothing below zero, or nothing above what the detector takes."""
    top = float(rng.uniform(0.7, 0.98))
    return (np.maximum(D, 0.0), 0.0) if rng.random() < 0.5 else (np.minimum(D, top * D.max()), top)


AMOUNTS: dict[str, Change] = {"closure": _closed, "wide range": _of_wide_range}
CLEAN: dict[str, Change] = {
    "skew": _skewed,
    "broadening": _broadened,
    "variability": _varied,
    "jump": _with_jump,
    "shift": _shifted,
    "baseline": _with_baseline,
    "saturation": _saturated,
    "scatter": _scattered,
    "drift": _drifted,
    "foreign samples": _with_foreign_samples,
}
READINGS: dict[str, Change] = {"spikes": _with_spikes, "digitised": _digitised, "clipping": _clipped}

# How often each happens, where it may.
DISTURBANCES = {
    "shift": 0.2,
    "skew": 0.15,
    "broadening": 0.08,
    "variability": 0.12,
    "jump": 0.08,
    "baseline": 0.25,
    "saturation": 0.15,
    "correlated noise": 0.25,
    "scatter": 0.15,
    "drift": 0.15,
    "foreign samples": 0.1,
    "closure": 0.15,
    "wide range": 0.1,
    "correlated samples": 0.1,
    "heavy tails": 0.1,
    "channel noise": 0.15,
    "relative noise": 0.08,
    "error modes": 0.15,
    "digitised": 0.08,
    "spikes": 0.1,
    "clipping": 0.1,
}
