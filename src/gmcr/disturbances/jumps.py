"""A jump: from one sample on, in the order in which they stand, all have something on top.

What changes from sample to sample is known from before the jump and from after it, each by itself. A difference
of the two means that is not among that is no matter of amounts. Where amounts of neighbours are alike, as in a
course of time, something weak that comes and goes would look the same, and no jump is told.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import dct

from gmcr.disturbances.directions import shared, spread
from gmcr.disturbances.noise import Scales
from gmcr.disturbances.shapes import bands
from gmcr.validation import BoolArray, FloatArray

SIDE = 6  # samples at least, before and after
CANDIDATES = 4  # places that are looked at closely, by what is left and by what is shared
ALIKE = 3.0  # standard deviations of chance, beyond which amounts of neighbours are alike
LOCATINGS = 3
PLACES = 400  # at most; of more samples, not every one is a place
WAVES = 2, 8  # slowest ones of either side
SLOW = 0.1  # of the square of a jump, that slow changes beside it may have: a ramp has a third
HIDDEN = 0.1  # of a shape that is left by what changes, below which it cannot be told


def jump_score(X: FloatArray, scales: Scales, mask: BoolArray) -> tuple[int, float, int]:
    """The sample from which on a jump is likeliest, its height in standard deviations, and of how many tests."""
    m, d = X.shape
    if m < 2 * SIDE:
        return 0, 0.0, 1
    scaled = np.where(mask, 0.0, X / (scales.samples * scales.channels))
    shapes = np.vstack([places for _, places in bands(d)])
    starts = np.unique(np.linspace(SIDE, m - SIDE, PLACES).round().astype(int))
    after = np.arange(m) >= starts[:, None]  # (places, samples)
    heights = {at: _difference(scaled, after[at], shapes)[0] for at in _candidates(scaled, after, shapes)}
    best = max(heights, key=lambda at: heights[at])
    score, course, U, shape = _difference(scaled, after[best], shapes)
    for _ in range(LOCATINGS):
        place = _located(scaled, shape, after)
        found = _difference(scaled, after[place], shapes)
        if found[0] <= score:
            break
        best, (score, course, U, shape) = place, found
    alike = (U[1:] * U[:-1]).sum(axis=0).max(initial=0.0) > ALIKE / np.sqrt(m)
    told = not alike and not _goes_on(course, after[best], score)
    return int(starts[best]), score if told else 0.0, 2 * len(after) * len(shapes)


def _candidates(scaled: FloatArray, after: BoolArray, shapes: FloatArray) -> set[int]:
    """Places where steps show best in what is left, and where they are most of what samples share."""
    U, values, Vt = shared(scaled)
    steps = after - after.mean(axis=1, keepdims=True)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    inside = np.square(steps @ U).sum(axis=1)
    left = scaled - (U * values) @ Vt
    outside = np.square(steps @ left @ shapes.T).max(axis=1) / np.maximum(1.0 - inside, HIDDEN)
    return {int(at) for by in (inside, outside) for at in np.argsort(-by, kind="stable")[:CANDIDATES]}


def _difference(
    scaled: FloatArray, after: BoolArray, shapes: FloatArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """How far the means of both sides differ, at the best band, by what does not change within them; the course
    of that band over the samples, about these means; the amounts of what does change: (samples, n); the band."""
    means = np.array([scaled[~after].mean(axis=0), scaled[after].mean(axis=0)])
    within = scaled - means[after.astype(int)]
    U, values, V = shared(within)
    along = (means[1] - means[0]) @ V.T
    noise = 1.0 / after.sum() + 1.0 / (~after).sum() + float(np.square(along / values).sum())
    left = (means[1] - means[0] - along @ V) / np.sqrt(noise)
    norms = np.sqrt(np.maximum(1.0 - np.square(shapes @ V.T).sum(axis=1), 0.0))
    heights = np.where(norms > HIDDEN, np.abs(left @ shapes.T) / np.maximum(norms, HIDDEN), 0.0)
    best = int(heights.argmax())
    shape = (shapes[best] - (shapes[best] @ V.T) @ V) / max(norms[best], HIDDEN)
    beside = left - (left @ shape) * shape  # a wide band would pass for noise
    return float(heights[best]) / spread(beside), within @ shape, U, shape


def _located(scaled: FloatArray, shape: FloatArray, after: BoolArray) -> int:
    """The place of the step that the course of a shape over the samples has."""
    steps = after - after.mean(axis=1, keepdims=True)
    return int(np.abs(steps @ (scaled @ shape) / np.linalg.norm(steps, axis=1)).argmax())


def _goes_on(course: FloatArray, after: BoolArray, height: float) -> bool:
    """Whether on either side what differs changes slowly too: then it is something that comes and goes.

    course : (samples,) of noise of size one, about the mean of its side
    """
    for n_waves in WAVES:
        waves = [dct(course[side], norm="ortho")[1 : n_waves + 1] for side in (after, ~after)]
        slow = np.square(np.concatenate(waves))
        if slow.sum() > len(slow) + 2.0 * np.sqrt(2.0 * len(slow)) + SLOW * height**2:
            return True
    return False
