"""How well a reconstruction fits the samples; missing entries (NaN) are left out."""

from __future__ import annotations

from math import nan, sqrt
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.validation import FloatArray, check_samples


def r_squared(D: Any, fit: FloatArray) -> float:
    """R² = 1 − ‖D − fit‖² / ‖D − column means‖², as the paper defines it (Checkpointing, Metrics).

    Parameters
    ----------
    D : (samples, channels) the samples
    fit : (samples, channels) their reconstruction

    Returns
    -------
    float, NaN when no channel varies
    """
    D, error = _errors(D, fit)
    present = ~np.isnan(D)
    count = np.maximum(present.sum(axis=0), 1)
    means = np.where(present, D, 0.0).sum(axis=0) / count
    return 1.0 - _ratio(error, D - means)


def nmse(D: Any, fit: FloatArray) -> float:
    """nMSE = ‖D − fit‖² / ‖D‖²; NaN when D is zero."""
    D, error = _errors(D, fit)
    return _ratio(error, D)


def lack_of_fit(D: Any, fit: FloatArray) -> float:
    """Lack of fit in per cent, 100 ‖D − fit‖ / ‖D‖: the figure MCR programs report."""
    return 100.0 * sqrt(nmse(D, fit))


def _errors(D: Any, fit: FloatArray) -> tuple[FloatArray, FloatArray]:
    D = check_samples(D)
    if D.shape != fit.shape:
        raise InputError(
            f"D has shape {D.shape} and its reconstruction {fit.shape}; give the samples fitted."
        )
    return D, D - fit


def _ratio(error: FloatArray, reference: FloatArray) -> float:
    """Sum of squares over sum of squares, over the entries present."""
    total = float(np.nansum(np.square(reference)))
    return float(np.nansum(np.square(error))) / total if total > 0 else nan
