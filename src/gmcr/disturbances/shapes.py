"""What a single sample may have on top of what samples share: bands of all widths, and a shift of its axis."""

from __future__ import annotations

import numpy as np

from gmcr.disturbances.left_over import Part, spread
from gmcr.validation import FloatArray

NARROW = 0.25  # standard deviation in channels of a band that is a single entry
STEP = 0.7  # of a band's width, by which the next place is off: it sees 94 % of a band in between
WIDEST = 1 / 8  # of the channels
MANY, MANY_OF_NOISE = (
    0.85,
    1.44,
)  # of the samples, and standard deviations that this share of noise stays below
HIDDEN = 0.1  # of a shape that is left by what samples share, below which it cannot be told


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
            out[one.rows] = _score(one.left, shapes, one.V)
        usual = np.quantile(np.abs(out), MANY, axis=0) / MANY_OF_NOISE
        scores.append((width, out / np.maximum(spread(out), usual)))
    return scores


def shift_scores(parts: list[Part], by_channel: FloatArray) -> FloatArray:
    """How far the axis of each sample is off, in standard deviations: (samples,); positive to higher channels."""
    out = np.zeros(sum(len(one.rows) for one in parts))
    for one in parts:
        slopes = -np.gradient(one.explained * by_channel, axis=1) / by_channel
        free = slopes - (slopes @ one.V.T) @ one.V
        norms = np.linalg.norm(free, axis=1)
        told = norms > HIDDEN * np.linalg.norm(slopes, axis=1)
        out[one.rows] = np.where(told, (one.left * free).sum(axis=1) / np.where(told, norms, 1.0), 0.0)
    return out / max(spread(out), float(np.quantile(np.abs(out), MANY)) / MANY_OF_NOISE)


def _score(left: FloatArray, shapes: FloatArray, V: FloatArray) -> FloatArray:
    """Residuals (rows, channels) along shapes of norm one, of which the directions V have taken their part."""
    norms = np.sqrt(np.maximum(1.0 - np.square(shapes @ V.T).sum(axis=1), 0.0))
    return np.where(norms > HIDDEN, (left @ shapes.T) / np.maximum(norms, HIDDEN), 0.0)
