"""The labels of samples: channel axis and sample names of a DataFrame or of what `gmcr.read` returns."""

from __future__ import annotations

from typing import Any

import pandas as pd

from gmcr.io.table import Table
from gmcr.preprocessing.frames import counts, frame_axis
from gmcr.validation import FloatArray


def channel_axis(D: Any) -> FloatArray | None:
    """The column names as numbers, or None if there are none or they only count the columns: (channels,)."""
    if isinstance(D, Table):
        return D.axis
    return frame_axis(D)


def channel_names(D: Any) -> tuple[str, ...] | None:
    """The names of the channels, if a file gave them names instead of positions."""
    return D.channels if isinstance(D, Table) else None


def sample_names(D: Any) -> tuple[str, ...] | None:
    """The index as text, or None if there is none or it only counts the rows."""
    if isinstance(D, Table):
        return D.sample_names
    index = getattr(D, "index", None)
    if not isinstance(index, pd.Index) or counts(index):
        return None
    return tuple(str(name) for name in index)
