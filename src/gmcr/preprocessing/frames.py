"""The channel axis of a DataFrame: its column names, where they are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from gmcr.validation import FloatArray


def frame_axis(D: Any) -> FloatArray | None:
    """The column names as numbers, or None if there are none or they only count the columns: (channels,)."""
    columns = getattr(D, "columns", None)
    if columns is None or counts(columns):
        return None
    return axis_of(columns)


def axis_of(labels: Any) -> FloatArray | None:
    """Labels as numbers, or None if they are none: (channels,)."""
    if labels is None:
        return None
    try:
        axis = np.array([float(label) for label in labels])
    except (TypeError, ValueError):
        return None
    return axis if np.isfinite(axis).all() else None


def counts(labels: Any) -> bool:
    """Whether labels only count what they stand for."""
    return isinstance(labels, pd.RangeIndex) and labels.start == 0 and labels.step == 1
