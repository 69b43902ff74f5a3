"""Concentrations of tables that behave like measured ones, one kind a function: samples by components."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.linalg import expm
from scipy.ndimage import gaussian_filter

from gmcr.errors import InputError
from gmcr.validation import FloatArray

Purity = Literal["any", "pure"] | float

PURE = 0.98  # share of a sample's signal from which it is pure


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


def _landscape(rng: Generator, m: int, k: int) -> FloatArray:
    """Samples measured at several settings each, as fluorescence is at several excitations."""
    settings = int(np.clip(rng.integers(4, 13), 1, m))
    x = np.linspace(0, 1, settings)[:, None]
    response = np.exp(-0.5 * ((x - rng.uniform(0, 1, k)) / rng.uniform(0.1, 0.4, k)) ** 2)
    amounts = rng.lognormal(0, rng.uniform(0.3, 1.0), (-(-m // settings), k))
    return (amounts[:, None] * response).reshape(-1, k)[:m]


def _regions(rng: Generator, m: int, k: int) -> FloatArray:
    """Pixels of an image of phases, each mostly of one component, blurred where phases meet."""
    side = int(np.ceil(np.sqrt(m)))
    fields = gaussian_filter(rng.standard_normal((k, side, side)), (0, 0.08 * side + 0.4, 0.08 * side + 0.4))
    fields /= np.maximum(fields.std(axis=(1, 2), keepdims=True), np.finfo(float).tiny)
    shares = np.exp(rng.uniform(3, 8) * (fields - fields.max(axis=0)))
    return shares.reshape(k, -1).T[:m] / shares.sum(axis=0).reshape(-1, 1)[:m]


def _replicates(rng: Generator, m: int, k: int) -> FloatArray:
    """Mixtures that are each measured several times."""
    times = int(rng.integers(2, 6, endpoint=True))
    amounts = rng.lognormal(0, rng.uniform(0.3, 1.0), (max(-(-m // times), min(k + 1, m)), k))
    return amounts[np.arange(m) % len(amounts)]


CONCENTRATIONS = {
    "lognormal": _lognormal,
    "dirichlet": _dirichlet,
    "elution": _elution,
    "reaction": _reaction,
    "few": _few,
    "image": _image,
    "titration": _titration,
    "design": _design,
    "landscape": _landscape,
    "regions": _regions,
    "replicates": _replicates,
}
ORDERED = "elution", "reaction", "titration"  # one sample after the other


def with_purity(rng: Generator, C: FloatArray, S: FloatArray, purity: Purity) -> FloatArray:
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
