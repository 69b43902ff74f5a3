"""Fewer points for the eye: what a screen cannot show is left out, and peaks are not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gmcr.validation import FloatArray

POINTS = 1_200  # of a line, at most: about as many as a screen has columns


def thinned(values: FloatArray, most: int) -> NDArray[np.intp]:
    """Which of the values (points,) to draw, at most `most`: the smallest and the largest of each stretch.

    Of a narrow peak, so much at least is drawn that it stands as high as it should. NaN is drawn only where a
    whole stretch is NaN.
    """
    n = len(values)
    if n <= most:
        return np.arange(n)
    stretches = np.array_split(np.arange(1, n - 1), max((most - 2) // 2, 1))
    kept = {0, n - 1}
    for stretch in stretches:
        part = values[stretch]
        if np.isnan(part).all():
            kept.add(int(stretch[0]))
        else:
            kept |= {int(stretch[np.nanargmin(part)]), int(stretch[np.nanargmax(part)])}
    return np.array(sorted(kept), dtype=np.intp)


def spread(n: int, most: int) -> NDArray[np.intp]:
    """At most `most` of n places, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))


def block_means(picture: FloatArray, most: int) -> FloatArray:
    """A picture (rows, columns) of at most `most` pixels, by means over squares; NaN means no pixel."""
    rows, columns = picture.shape
    step = 1
    while -(-rows // step) * -(-columns // step) > most:
        step += 1
    if step == 1:
        return picture
    padded = np.full((-(-rows // step) * step, -(-columns // step) * step), np.nan)
    padded[:rows, :columns] = picture
    squares = padded.reshape(len(padded) // step, step, -1, step)
    present = ~np.isnan(squares)
    count = present.sum(axis=(1, 3))
    total = np.where(present, squares, 0.0).sum(axis=(1, 3))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
