"""Channels that read too much in every sample, or nothing."""

from __future__ import annotations

import numpy as np

from gmcr.disturbances.directions import spread
from gmcr.disturbances.left_over import Part
from gmcr.validation import BoolArray, FloatArray

HIDDEN = 0.05  # of an offset that is left by what channels share, below which it cannot be told

CLEAR = 4.0  # standard deviations of a sum of squares, up to which it is that of noise
ALIKE = 0.6  # of a channel's offset, from which on in the next one it is a band that all samples have
REST = 0.02  # of an offset's square, that may be left beside it


def dead_channels(X: FloatArray) -> BoolArray:
    """Channels that read the same in every sample, where not most of them do: (channels,)."""
    constant = np.ptp(X, axis=0) == 0
    return constant if constant.mean() < 0.5 else np.zeros_like(constant)


def offset_scores(parts: list[Part], by_sample: FloatArray) -> FloatArray:
    """How far channels read too much, by the same in every sample, in standard deviations: (channels,).

    parts : of the table turned round, channels for samples. Zero where more than an offset is left, as in a
    channel where a component stands alone
    """
    out = np.zeros(sum(len(one.rows) for one in parts))
    offset = 1.0 / by_sample[:, 0]
    offset /= np.linalg.norm(offset)
    for one in parts:
        free = offset - (offset @ one.V.T) @ one.V
        norm = float(np.linalg.norm(free))
        if norm > HIDDEN:
            scores = one.left @ free / np.sqrt(np.square(one.noise) @ np.square(free))
            beside = one.left - np.outer(one.left @ free / norm**2, free)
            rest = np.square(beside / one.noise).sum(axis=1)
            noise = len(offset) + CLEAR * np.sqrt(2.0 * len(offset))
            out[one.rows] = np.where(rest < np.maximum(noise, REST * np.square(scores)), scores, 0.0)
    next_ones = np.maximum(np.append(out[1:], 0.0), np.append(0.0, out[:-1]))
    return np.where(next_ones < ALIKE * out, out, np.minimum(out, 0.0)) / spread(out)
