"""The labels of samples: channel axis and sample names of a DataFrame or of what `gmcr.read` returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from gmcr.io.table import Table
from gmcr.preprocessing.frames import axis_of, counts, frame_axis
from gmcr.validation import FloatArray


def channel_axis(D: Any) -> FloatArray | None:
    """The column names as numbers, or None if there are none or they only count the columns: (channels,)."""
    if isinstance(D, Table):
        return D.axis
    if is_labelled(D):
        return axis_of(_coordinate(D, 1))
    return frame_axis(D)


def channel_names(D: Any) -> tuple[str, ...] | None:
    """The names of the channels, if a file gave them names instead of positions."""
    return D.channels if isinstance(D, Table) else None


def labels_of(D: Any) -> tuple[FloatArray | None, tuple[str, ...] | None]:
    """Positions and names of the channels, where there are any."""
    return channel_axis(D), channel_names(D)


def is_labelled(D: Any) -> bool:
    """Whether D is an xarray.DataArray of samples x channels."""
    return getattr(D, "ndim", 0) == 2 and hasattr(D, "dims") and hasattr(D, "coords")


def labelled_as(D: Any, C: FloatArray, names: Sequence[str]) -> Any:
    """Values C (samples, components) of samples D: with the coordinates of D's samples, if it has such."""
    if not is_labelled(D):
        return C
    from xarray import DataArray

    dim = D.dims[0]
    along = {name: values for name, values in D.coords.items() if values.dims == (dim,)}
    return DataArray(C, dims=(dim, "component"), coords={**along, "component": list(names)})


def _coordinate(D: Any, dimension: int) -> list[Any] | None:
    name = D.dims[dimension]
    return list(D.coords[name].values.tolist()) if name in D.coords else None


def known_names(profiles: Any, count: int) -> tuple[str, ...] | None:
    """Names of `count` components, the first of which are known profiles that bring theirs along, or None."""
    given = sample_names(profiles)
    if given is None or len(set(given)) < len(given):
        return None
    return given + tuple(f"component {j}" for j in range(len(given), count))


def sample_names(D: Any) -> tuple[str, ...] | None:
    """The index as text, or None if there is none or it only counts the rows."""
    if isinstance(D, Table):
        return D.sample_names
    if is_labelled(D):
        names = _coordinate(D, 0)
        return None if names is None else tuple(map(str, names))
    index = getattr(D, "index", None)
    if not isinstance(index, pd.Index) or counts(index):
        return None
    return tuple(str(name) for name in index)
