"""What numbers of counts are made of: ratios, and cosines by their digits."""

from __future__ import annotations

import numpy as np

from gmcr.validation import FloatArray

DIGITS = 12.0  # cosines are told from one to so many digits at most
TINY = np.finfo(float).tiny


def at(values: FloatArray, most: int, first: int) -> FloatArray:
    """values[first], values[first + 1], …: `most` of them, NaN beyond their end and before their start."""
    padded = np.concatenate([np.full(max(-first, 0), np.nan), values[max(first, 0) :], np.full(most, np.nan)])
    return padded[:most]


def log_ratio(top: FloatArray | float, bottom: FloatArray | float) -> FloatArray:
    return np.log(np.maximum(top, TINY)) - np.log(np.maximum(bottom, TINY))


def digits(cosines: FloatArray) -> FloatArray:
    """How many digits cosines agree to one: 0.99 is as far from 0.9 as that is from 0."""
    return -np.log10(np.maximum(1.0 - cosines, 10.0**-DIGITS))
