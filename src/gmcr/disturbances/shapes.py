"""What a single sample may have on top of what samples share: bands of all widths, and a shift of its axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.stats import norm

from gmcr.disturbances.directions import spread
from gmcr.disturbances.left_over import Part, errors_in_both
from gmcr.validation import FloatArray

NARROW = 0.25  # standard deviation in channels of a band that is a single entry
STEP = 0.7  # of a band's width, by which the next place is off: it sees 94 % of a band in between
WIDEST = 1 / 8  # of the channels
SMOOTHINGS = 0.0, 1.0, 2.0, 4.0  # channels, over which slopes are taken
MANY, MANY_OF_NOISE = (
    0.85,
    1.44,
)  # of the samples, and standard deviations that this share of noise stays below
SELDOM = 0.05  # of samples with nothing but noise, in which a band is found
ENTRIES = 65  # of which one is moved, to see what becomes of it
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


def band_scores(parts: list[Part], which: Sequence[int] | None = None) -> list[tuple[float, FloatArray]]:
    """For each width, or some of them, how far every sample stands out at every place, in standard deviations:
    (samples, places).

    Where others stand out as well it is no disturbance of one sample, but something weak that they share.
    """
    m = sum(len(one.rows) for one in parts)
    scores = []
    of_width = bands(parts[0].left.shape[1])
    for width, shapes in of_width if which is None else [of_width[at] for at in which]:
        out = np.zeros((m, len(shapes)))
        for one in parts:
            out[one.rows] = _fitted(one, shapes)[0]
        scores.append((width, out / np.maximum(spread(out), _usual(out))))
    return scores


def best_bands(parts: list[Part]) -> FloatArray:
    """Of each sample the band that stands out most, as large as it fits, in the units of what is left of it;
    nothing where noise reaches as far."""
    m, d = sum(len(one.rows) for one in parts), parts[0].left.shape[1]
    of_width = bands(d)
    chance = norm.isf(SELDOM / 2.0 / sum(len(shapes) for _, shapes in of_width))
    best, found = np.full(m, chance), np.zeros((m, d))
    for _, shapes in of_width:
        for one in parts:
            scores, sizes = _fitted(one, shapes)
            places = np.abs(scores).argmax(axis=1)
            height = np.abs(scores[np.arange(len(places)), places])
            higher = height > best[one.rows]
            rows = one.rows[higher]
            best[rows] = height[higher]
            size = sizes[np.arange(len(places)), places] * one.inflated[:, 0]
            found[rows] = (size[:, None] * shapes[places])[higher]
    return found


def shift_scores(parts: list[Part], by_channel: FloatArray) -> FloatArray:
    """How far the axis of each sample is off, in standard deviations: (ways, samples), to lower and to higher
    channels by each smoothing. Slopes of noisy directions hide in noise, and smooth ones show when smoothed."""
    scores = []
    for width, way in product(SMOOTHINGS, (-1, 1)):
        own = -float(_moved(np.eye(1, ENTRIES, ENTRIES // 2), width, way)[0, ENTRIES // 2])  # errors move too
        out = np.zeros(sum(len(one.rows) for one in parts))
        for one in parts:
            moved = _moved(one.explained * by_channel, width, way) / by_channel
            free = moved - (moved @ one.V.T) @ one.V
            norms = np.linalg.norm(free, axis=1)
            told = norms > HIDDEN * np.linalg.norm(moved, axis=1)
            chance = np.sqrt(np.square(free * one.noise).sum(axis=1))
            along = (one.left * free).sum(axis=1) - own * (errors_in_both(one) * one.along).sum(axis=1)
            out[one.rows] = np.where(told, along / np.where(told, chance, 1.0), 0.0)
        scores.append(out / max(spread(out), float(_usual(out))))
    return np.array(scores)


def _moved(X: FloatArray, width: float, way: int) -> FloatArray:
    """What is different when samples, smoothed over a width, are moved by a channel, or by a part of one."""
    X = gaussian_filter1d(X, width, axis=1) if width else X
    steps = np.diff(X, axis=1)
    return np.pad(-steps, ((0, 0), (1, 0))) if way > 0 else np.pad(steps, ((0, 0), (0, 1)))


def _usual(scores: FloatArray) -> FloatArray:
    """The standard deviation that many of the scores (samples, ...) speak for, as far as it is beyond chance."""
    beyond = MANY_OF_NOISE + CHANCE / np.sqrt(len(scores))
    return np.asarray(np.quantile(np.abs(scores), MANY, axis=0) / beyond)


def _fitted(part: Part, shapes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What is left along shapes of norm one, of which the directions have taken their part, in standard
    deviations; and how large each shape is as it fits best: (rows, places) both."""
    free = shapes - (shapes @ part.V.T) @ part.V
    norms = np.square(free).sum(axis=1)
    told = norms > HIDDEN**2
    chance = np.sqrt(np.square(part.noise) @ np.square(free).T)
    along = np.where(told, part.left @ shapes.T - errors_in_both(part) @ (shapes @ part.V.T).T, 0.0)
    return along / np.where(told, chance, 1.0), along / np.where(told, norms, 1.0)
