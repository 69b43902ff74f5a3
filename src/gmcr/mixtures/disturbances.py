"""What samples, instruments and people do to a table: to the amounts, the clean signal, its noise, the readings.

Each disturbance takes a generator and a table, and gives the table disturbed and how strong it was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from scipy.ndimage import gaussian_filter1d
from scipy.signal import savgol_filter

from gmcr.noise import Instrument
from gmcr.validation import FloatArray

Change = Callable[[Generator, FloatArray], tuple[FloatArray, float]]
COUNTING = "counting"  # readings that are whole numbers


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
    """The axis moves from sample to sample, by chance or slowly."""
    x, size = np.arange(clean.shape[1]), _between(rng, 0.02, 0.5)
    moves = rng.standard_normal(len(clean))
    if rng.random() < 0.3:
        moves = gaussian_filter1d(moves, 0.15 * len(clean) + 0.5)
        moves /= max(float(moves.std()), np.finfo(float).tiny)
    return np.array([np.interp(x + size * move, x, row) for move, row in zip(moves, clean)]), size


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
    """One to three samples, each of which holds something else of its own besides."""
    m, d = clean.shape
    size = _between(rng, 0.05, 0.7)
    rows = rng.choice(m, min(int(rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15])), m), replace=False)
    places, widths = rng.uniform(0, d, (len(rows), 1)), d * rng.uniform(0.02, 0.15, (len(rows), 1)) + 0.7
    clean = clean.copy()
    clean[rows] += (
        size
        * clean.max()
        * rng.uniform(0.5, 1, (len(rows), 1))
        * np.exp(-0.5 * ((np.arange(d) - places) / widths) ** 2)
    )
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


def _with_stray_light(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """Absorbances read off with light beside that of the channel: high ones are cut short."""
    size, highest = _between(rng, 1e-3, 0.05), float(rng.uniform(1.0, 3.0))
    absorbed = clean * (highest / clean.max())
    return -np.log10((10.0**-absorbed + size) / (1.0 + size)) * (clean.max() / highest), size


def _filtered(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """Light that strong samples take away themselves, more so in some channels than in others."""
    size = _between(rng, 5e-3, 0.2)
    total = clean.sum(axis=1, keepdims=True)
    return clean * np.exp(-size * total / total.max() * _smooth(rng, clean.shape[1], 0.1)), size


def _with_fringes(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """Waves along the channels, as thin layers make them, whose phase differs from sample to sample."""
    m, d = clean.shape
    size, waves, shift = (
        _between(rng, 1e-3, 0.05),
        _between(rng, 2, max(0.15 * d, 3)),
        rng.uniform(0.1, np.pi),
    )
    phase = rng.uniform(0, 2 * np.pi) + shift * rng.standard_normal((m, 1))
    return clean * (1 + size * np.cos(2 * np.pi * waves * np.linspace(0, 1, d) + phase)), size


def _with_ridge(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """A peak that moves with the setting of the sample, as scattered light does with the excitation."""
    m, d = clean.shape
    size, settings = _between(rng, 2e-3, 0.1), int(np.clip(rng.integers(4, 25), 1, m))
    places = rng.uniform(-0.3, 0.5) * d + rng.uniform(0.2, 1.0) * d * (np.arange(m) % settings) / settings
    width = d * rng.uniform(0.01, 0.05) + 0.7
    ridge = np.exp(-0.5 * ((np.arange(d) - places[:, None]) / width) ** 2)
    return clean + size * clean.max() * rng.lognormal(0, 0.2, (m, 1)) * ridge, size


def _with_seam(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """Two detectors side by side that do not answer alike, which differs from sample to sample."""
    m, d = clean.shape
    size = _between(rng, 1e-3, 0.05)
    return clean * (
        1 + size * rng.standard_normal((m, 1)) * (np.arange(d) >= rng.integers(1, max(d, 2)))
    ), size


def _with_offset(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """Each sample lifted by chance, as a whole or along a line, or either way along something smooth."""
    m, d = clean.shape
    size, x, way = _between(rng, 1e-3, 0.1), np.linspace(-1.0, 1.0, d), int(rng.integers(3))
    along = (np.ones(d), x, 2.0 * _smooth(rng, d, 0.2))[way]
    either_way = way == 2 or rng.random() < 0.7
    lift = rng.standard_normal((m, 1)) if either_way else rng.lognormal(-1.0, 0.7, (m, 1))
    return clean + size * clean.max() * lift * along, size


def _with_scattered_light(rng: Generator, clean: FloatArray) -> tuple[FloatArray, float]:
    """Light scattered at the wavelength of the excitation and at twice that, about as strong as the signal."""
    m, d = clean.shape
    size, settings = _between(rng, 2e-2, 0.5), int(np.clip(rng.integers(4, 13), 1, m))
    setting = (np.arange(m) % settings) / settings
    first = rng.uniform(-0.4, 0.2) * d + rng.uniform(0.3, 0.8) * d * setting
    width, weaker = d * rng.uniform(0.01, 0.03) + 0.7, rng.uniform(0.0, 0.5)
    x = np.arange(d) - first[:, None]
    light = np.exp(-0.5 * (x / width) ** 2) + weaker * np.exp(
        -0.5 * ((x - rng.uniform(0.4, 0.9) * d) / width) ** 2
    )
    return clean + size * clean.max() * rng.lognormal(0, 0.3, (m, 1)) * light, size


def _smooth(rng: Generator, d: int, width: float) -> FloatArray:
    """Something smooth and positive along the channels, one at most."""
    along = np.exp(gaussian_filter1d(rng.standard_normal(d), width * d + 0.5) * np.sqrt(width * d + 1.0))
    return along / along.max()


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
    for name, shape in (("channel noise", (1, clean.shape[1])), ("sample noise", (len(clean), 1))):
        if happens(name):
            told[name] = float(rng.uniform(0.2, 0.8))
            sigma = sigma * rng.lognormal(0, told[name], shape)
    if happens("wandering"):
        wander, told["wandering"] = _wandering(rng, clean.shape)
        modes = modes + sigma * wander
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


def _wandering(rng: Generator, shape: tuple[int, int]) -> tuple[FloatArray, float]:
    """Noise that goes up and down slowly along the channels, in every sample by itself."""
    size, width = _between(rng, 0.2, 2.0), shape[1] * _between(rng, 0.02, 0.2) + 0.5
    slow = gaussian_filter1d(rng.standard_normal(shape), width, axis=1, mode="nearest")
    return size * slow / max(float(slow.std()), np.finfo(float).tiny), size


def counted(
    rng: Generator, D: FloatArray, clean: FloatArray, sigma: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """The samples as counts, the standard deviation of each, and how many the highest clean signal gives."""
    highest = _between(rng, 30.0, 1e5)
    scale = highest / clean.max()
    return (
        rng.poisson(scale * np.maximum(D, 0.0)).astype(float),
        np.sqrt(np.square(scale * sigma) + scale * np.maximum(clean, 0.0)),
        highest,
    )


# The readings


def _with_spikes(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """Single entries far too high, as cosmic rays make them."""
    n, D = max(1, int(_between(rng, 1e-4, 2e-3) * D.size)), D.copy()
    D.flat[rng.choice(D.size, n, replace=False)] += D.max() * rng.uniform(0.1, 1.0, n)
    return D, n / D.size


def _with_cosmic_rays(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """Spikes of one to three channels, up to three times as high as all signal, in one or many of the samples."""
    often, (m, d) = _between(rng, 0.02, 0.6), D.shape
    highest, D, hit = float(np.abs(D).max()), D.copy(), rng.random(m) < often
    for row in np.union1d(np.flatnonzero(hit), rng.integers(m)):
        wide = min(int(rng.integers(1, 4)), d)
        first = int(rng.integers(0, d - wide + 1))
        D[row, first : first + wide] += highest * rng.uniform(0.05, 3.0) * rng.uniform(0.3, 1.0, wide)
    return D, often


def _digitised(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """Steps of so much of the highest reading."""
    size = _between(rng, 1e-4, 1e-2)
    step = size * float(np.abs(D).max())
    return np.round(D / step) * step, size


def _clipped(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """Nothing below zero, or nothing above what the detector takes."""
    top = float(rng.uniform(0.7, 0.98))
    return (np.maximum(D, 0.0), 0.0) if rng.random() < 0.5 else (np.minimum(D, top * D.max()), top)


def _with_hot_channels(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """A few channels that are noisier than the others by far."""
    size, d, D = _between(rng, 2e-3, 0.1), D.shape[1], D.copy()
    some = rng.choice(d, min(int(rng.integers(1, 5)), d), replace=False)
    D[:, some] += (
        size * np.abs(D).max() * rng.uniform(0.3, 1.0, len(some)) * rng.standard_normal((len(D), len(some)))
    )
    return D, size


def _with_least_told(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """Readings below a threshold given as nothing, as lists of peaks do."""
    size = _between(rng, 1e-3, 0.03)
    return np.where(size * D.max() > D, 0.0, D), size


# What people do to readings before they look for components


def _less_a_reference(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """A mixture that samples are compared with is taken off all of them, as the solvent's spectrum often is."""
    size = float(rng.uniform(0.2, 0.9))
    return D - size * rng.dirichlet(np.full(len(D), 0.5)) @ D, size


def _differentiated(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """The first or second derivative along the channels, smoothed (Savitzky & Golay 1964)."""
    order = int(rng.choice([1, 2]))
    longest = D.shape[1] - 1 + D.shape[1] % 2
    window = min(2 * int(rng.integers(order + 1, 8)) + 1, longest)
    return savgol_filter(D, window, min(order + 1, window - 1), deriv=order, axis=1), float(order)


def _to_one_size(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """Each sample over its own sum, its largest reading, or its spread about its own mean (SNV)."""
    way = int(rng.integers(3))
    if way == 2:
        D = D - D.mean(axis=1, keepdims=True)
    size = (np.abs(D).sum(axis=1), np.abs(D).max(axis=1), D.std(axis=1))[way]
    return D / np.maximum(size, 1e-3 * size.max())[:, None], float(way)


def _with_baselines_off(rng: Generator, D: FloatArray) -> tuple[FloatArray, float]:
    """From each sample the line or parabola through its low readings is taken off, and often what is below it."""
    order, x = int(rng.choice([1, 2])), np.linspace(-1.0, 1.0, D.shape[1])
    low, terms = D, x[:, None] ** np.arange(order + 1)
    for _ in range(10):
        line = low @ np.linalg.pinv(terms).T @ terms.T
        low = np.minimum(low, line)
    D = D - line
    return (np.maximum(D, 0.0) if rng.random() < 0.5 else D), float(order)


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
    "stray light": _with_stray_light,
    "inner filter": _filtered,
    "fringes": _with_fringes,
    "ridge": _with_ridge,
    "seam": _with_seam,
    "offset": _with_offset,
    "scattered light": _with_scattered_light,
}
READINGS: dict[str, Change] = {
    "spikes": _with_spikes,
    "hot channels": _with_hot_channels,
    "digitised": _digitised,
    "clipping": _clipped,
    "threshold": _with_least_told,
    "cosmic rays": _with_cosmic_rays,
}
TREATMENTS: dict[str, Change] = {
    "reference taken off": _less_a_reference,
    "baselines taken off": _with_baselines_off,
    "derivative": _differentiated,
    "to one size": _to_one_size,
}

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
    "stray light": 0.08,
    "inner filter": 0.1,
    "fringes": 0.08,
    "ridge": 0.1,
    "seam": 0.08,
    "hot channels": 0.1,
    "sample noise": 0.1,
    "wandering": 0.12,
    "threshold": 0.06,
    "reference taken off": 0.06,
    "baselines taken off": 0.08,
    "derivative": 0.06,
    "to one size": 0.1,
    "offset": 0.12,
    "scattered light": 0.06,
    "cosmic rays": 0.08,
    COUNTING: 0.12,
}
