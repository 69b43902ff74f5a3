"""How well a reconstruction fits the samples; missing entries (NaN) are left out."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from gmcr.errors import InputError
from gmcr.validation import FloatArray, check_samples

BLOCK = 4096  # samples looked at at a time


def r_squared(D: ArrayLike, fit: FloatArray) -> float:
    """R² = 1 − ‖D − fit‖² / ‖D − column means‖², as the paper defines it (Checkpointing, Metrics).

    Parameters
    ----------
    D : (samples, channels) the samples
    fit : (samples, channels) their reconstruction

    Returns
    -------
    float, NaN when no channel varies
    """
    D = _checked(D, fit)
    if np.isnan(D).any():
        present = ~np.isnan(D)
        means = np.where(present, D, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    else:
        means = D.mean(axis=0)
    return 1.0 - _ratio(_squares(D, fit), _squares(D, np.broadcast_to(means, D.shape)))


def nmse(D: ArrayLike, fit: FloatArray) -> float:
    """nMSE = ‖D − fit‖² / ‖D‖²; NaN when D is zero."""
    D = _checked(D, fit)
    return _ratio(_squares(D, fit), _squares(D, np.broadcast_to(0.0, D.shape)))


def lack_of_fit(D: ArrayLike, fit: FloatArray) -> float:
    """Lack of fit in per cent, 100 ‖D − fit‖ / ‖D‖: the figure MCR programs report."""
    return 100.0 * sqrt(nmse(D, fit))


def _checked(D: ArrayLike, fit: FloatArray) -> FloatArray:
    D = check_samples(D, copy=False)
    if D.shape != fit.shape:
        raise InputError(
            f"D has shape {D.shape} and its reconstruction {fit.shape}; give the samples fitted."
        )
    return D


def _squares(D: FloatArray, reference: FloatArray) -> float:
    """Sum of squares of D − reference over the entries present; in blocks, so that an image is not copied."""
    blocks = (slice(first, first + BLOCK) for first in range(0, len(D), BLOCK))
    return float(sum(np.nansum(np.square(D[rows] - reference[rows])) for rows in blocks))


def _ratio(error: float, total: float) -> float:
    return error / total if total > 0 else nan
