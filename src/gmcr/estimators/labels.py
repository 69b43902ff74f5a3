"""The labels of samples: channel axis and sample names of a DataFrame or of what `gmcr.read` returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from gmcr.io.table import Table
from gmcr.validation import FloatArray


def channel_axis(D: Any) -> FloatArray | None:
    """The column names as numbers, or None if there are none or they only count the columns: (channels,)."""
    if isinstance(D, Table):
        return D.axis
    columns = getattr(D, "columns", None)
    if columns is None or _counts(columns):
        return None
    try:
        axis = np.array([float(label) for label in columns])
    except (TypeError, ValueError):
        return None
    return axis if np.isfinite(axis).all() else None


def channel_names(D: Any) -> tuple[str, ...] | None:
    """The names of the channels, if a file gave them names instead of positions."""
    return D.channels if isinstance(D, Table) else None


def sample_names(D: Any) -> tuple[str, ...] | None:
    """The index as text, or None if there is none or it only counts the rows."""
    if isinstance(D, Table):
        return D.sample_names
    index = getattr(D, "index", None)
    if not isinstance(index, pd.Index) or _counts(index):
        return None
    return tuple(str(name) for name in index)


def _counts(labels: Any) -> bool:
    return isinstance(labels, pd.RangeIndex) and labels.start == 0 and labels.step == 1
