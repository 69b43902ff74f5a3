"""Readings that stop at what the detector takes: the largest of all comes again and again."""

from __future__ import annotations

import numpy as np

from gmcr.validation import BoolArray, FloatArray

FEWEST = 3  # readings that are the largest of all: noise makes none twice
BEYOND = 5.0  # times as often as the next ones come, where readings come in steps
MOST = 0.5  # of the samples
NEXT = 10  # readings below the largest


def clipped_entries(D: FloatArray) -> BoolArray:
    """The entries at the top of what a detector takes, none if it does not show: (samples, channels)."""
    none = np.zeros(D.shape, dtype=bool)
    values, times = np.unique(D[~np.isnan(D)], return_counts=True)
    if len(values) <= 2 * NEXT or times[-1] < FEWEST:
        return none
    usual = times[-1 - NEXT : -1]
    often = usual.max() == 1 or times[-1] > BEYOND * usual.mean()
    at_top = np.equal(D, values[-1])
    by_sample = at_top.sum(axis=1)
    normalised = (by_sample == 1).mean() > MOST  # to the same largest reading
    return at_top if often and not normalised else none
