"""What a single sample may have on top of what samples share: bands of all widths, and a shift of its axis."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.ndimage import gaussian_filter1d

from gmcr.disturbances.directions import spread
from gmcr.disturbances.left_over import Part
from gmcr.validation import FloatArray

NARROW = 0.25  # standard deviation in channels of a band that is a single entry
STEP = 0.7  # of a band's width, by which the next place is off: it sees 94 % of a band in between
WIDEST = 1 / 8  # of the channels
SMOOTHINGS = 0.0, 1.0, 2.0, 4.0  # channels, over which slopes are taken
MANY, MANY_OF_NOISE = (
    0.85,
    1.44,
)  # of the samples, and standard deviations that this share of noise stays below
CHANCE = 2.5  # two standard deviations of that quantile, over the root of the number of samples
HIDDEN = 0.1  # of a shape that is left by what samples share, below which it cannot be told


@lru_cache(maxsize=4)
def bands(n_channels: int) -> list[tuple[float, FloatArray]]:
    """Widths, and all places of a band that wide as shapes of norm one: (places, channels)."""
    widths = [NARROW]
    width = 0.7
    while width <= max(WIDEST * n_channels, 0.7):
        widths.append(width)
        width *= 1.6
    x = np.arange(float(n_channels))
    out = []
    for width in widths:
        places = np.arange(0.0, n_channels, 1.0 if width < 1 else STEP * width)
        shapes = np.exp(-0.5 * np.square((x - places[:, None]) / width))
        out.append((width, shapes / np.linalg.norm(shapes, axis=1, keepdims=True)))
    return out


def band_scores(parts: list[Part]) -> list[tuple[float, FloatArray]]:
    """For each width, how far every sample stands out at every place, in standard deviations: (samples, places).

    Where others stand out as well it is no disturbance of one sample, but something weak that they share.
    """
    m = sum(len(one.rows) for one in parts)
    scores = []
    for width, shapes in bands(parts[0].left.shape[1]):
        out = np.zeros((m, len(shapes)))
        for one in parts:
            out[one.rows] = _score(one, shapes)
        scores.append((width, out / np.maximum(spread(out), _usual(out))))
    return scores


def shift_scores(parts: list[Part], by_channel: FloatArray) -> FloatArray:
    """How far the axis of each sample is off, in standard deviations: (smoothings, samples); positive to higher
    channels. Slopes of noisy directions hide in noise, and smooth ones show when smoothed."""
    scores = []
    for width in SMOOTHINGS:
        out = np.zeros(sum(len(one.rows) for one in parts))
        for one in parts:
            slopes = -_slopes(one.explained * by_channel, width) / by_channel
            free = slopes - (slopes @ one.V.T) @ one.V
            norms = np.linalg.norm(free, axis=1)
            told = norms > HIDDEN * np.linalg.norm(slopes, axis=1)
            chance = np.sqrt(np.square(free * one.noise).sum(axis=1))
            out[one.rows] = np.where(told, (one.left * free).sum(axis=1) / np.where(told, chance, 1.0), 0.0)
        scores.append(out / max(spread(out), float(_usual(out))))
    return np.array(scores)


def _slopes(X: FloatArray, width: float) -> FloatArray:
    return gaussian_filter1d(X, width, order=1, axis=1) if width else np.gradient(X, axis=1)


def _usual(scores: FloatArray) -> FloatArray:
    """The standard deviation that many of the scores (samples, ...) speak for, as far as it is beyond chance."""
    beyond = MANY_OF_NOISE + CHANCE / np.sqrt(len(scores))
    return np.asarray(np.quantile(np.abs(scores), MANY, axis=0) / beyond)


def _score(part: Part, shapes: FloatArray) -> FloatArray:
    """What is left along shapes of norm one, of which the directions have taken their part: (rows, places)."""
    free = shapes - (shapes @ part.V.T) @ part.V
    told = np.square(free).sum(axis=1) > HIDDEN**2
    chance = np.sqrt(np.square(part.noise) @ np.square(free).T)
    return np.where(told, (part.left @ shapes.T) / np.where(told, chance, 1.0), 0.0)
