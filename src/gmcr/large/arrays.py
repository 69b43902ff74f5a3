"""Lazy samples: dask arrays, and xarray's with such inside, checked without loading anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np

from gmcr.errors import InputError
from gmcr.io.cube import channel_dimension
from gmcr.preprocessing.frames import axis_of
from gmcr.validation import BoolArray, FloatArray, check_finite


@dataclass(frozen=True, eq=False, repr=False)
class LazySamples:
    """Samples in blocks.

    data : dask array (samples, channels), or (y, x, channels) and the like: all dimensions before the last one
        tell samples. The channels are in one chunk
    labelled : the xarray.DataArray that they came as
    axis : (channels,) positions of the channels, where it has them;  channels : their names, where it has those
    known_as : what tells these samples from others before any is loaded, such as the file's size and time
    axis_unit : of the axis;  notes : what had to be inferred of the file that they are in, a sentence each
    """

    data: Any
    labelled: Any = None
    axis: FloatArray | None = None
    channels: tuple[str, ...] | None = None
    known_as: str = ""
    axis_unit: str | None = None
    notes: tuple[str, ...] = ()

    def __dask_graph__(self) -> Any:
        """That of the data, by which lazy samples are known."""
        return self.data.__dask_graph__()

    def __repr__(self) -> str:
        laid = " x ".join(map(str, self.shape))
        blocks = f"{self.data.npartitions} blocks, not loaded"
        return f"<LazySamples: {laid} samples x {self.n_channels} channels in {blocks}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """How the samples are laid out: (samples,), or that of an image."""
        return tuple(map(int, self.data.shape[:-1]))

    @property
    def n_rows(self) -> int:
        return int(np.prod(self.shape))

    @property
    def n_channels(self) -> int:
        return int(self.data.shape[-1])

    def like(self, C: Any, names: Sequence[str]) -> Any:
        """Values C (samples, components) with the coordinates of the samples, where these have any."""
        if self.labelled is None:
            return C
        from xarray import DataArray

        dims = self.labelled.dims[:-1]
        along = {name: part for name, part in self.labelled.coords.items() if set(part.dims) <= set(dims)}
        return DataArray(C, dims=(*dims, "component"), coords={**along, "component": list(names)})


def lazy_samples(D: Any, name: str = "D") -> LazySamples:
    """The samples of a dask array, or of an xarray.DataArray that holds one.

    D : (samples, channels) or (y, x, channels); the channels of a DataArray of an image are the dimension whose
        name says so, else the last one
    """
    if isinstance(D, LazySamples):
        _check(D.data, name)
        return D
    labelled, axis = None, None
    if hasattr(D, "to_dask_array") and not hasattr(D, "dims"):
        raise InputError(f"{name} is a dask DataFrame; give {name}.to_dask_array(lengths=True).")
    if hasattr(D, "dims") and hasattr(D, "coords") and not hasattr(D, "data_vars"):
        dims = tuple(map(str, D.dims))
        channels = D.ndim - 1 if D.ndim <= 2 else channel_dimension(None, D.ndim, dims)[0]
        labelled = D.transpose(..., D.dims[channels])
        if (last := labelled.dims[-1]) in labelled.coords:
            axis = axis_of(labelled.coords[last].values.tolist())
        D = labelled.data
    if not isinstance(D, da.Array):
        raise InputError(
            f"{name} must be a dask array or an xarray.DataArray of one, not a {type(D).__name__} of dask."
        )
    _check(D, name)
    return LazySamples(D, labelled, axis)


def _check(D: Any, name: str) -> None:
    if D.ndim < 2:
        raise InputError(f"{name} must be samples x channels, but has shape {D.shape}.")
    if D.dtype.kind not in "fiub":
        what = {"O": "objects", "c": "complex numbers"}.get(D.dtype.kind, f"{D.dtype}, which are no numbers")
        raise InputError(f'{name} holds {what}; give real numbers, such as {name}.astype("float64").')
    if any(np.isnan(size) for chunks in D.chunks for size in chunks):
        raise InputError(
            f"the sizes of the chunks of {name} are not known; call {name}.compute_chunk_sizes() first."
        )
    if 0 in D.shape:
        raise InputError(
            f"{name} is empty: its shape is {D.shape}; give at least one sample and one channel."
        )
    if D.numblocks[-1] > 1:
        raise InputError(
            f"{name} is in {D.numblocks[-1]} chunks along the channels, and a sample must be whole in one; "
            f"give {name}.rechunk({{{D.ndim - 1}: -1}})."
        )


def rows_of(block: Any, name: str = "D", *, checked: bool = True) -> tuple[FloatArray, BoolArray]:
    """The samples of a block (..., channels) as a table, and which of its rows they are; a row of NaN is none.

    checked : whether infinite entries are refused
    """
    table = np.ascontiguousarray(block, dtype=np.float64).reshape(-1, block.shape[-1])
    kept: BoolArray = np.asarray(~np.isnan(table).all(axis=1))
    if checked:
        check_finite(table, name)
    return (table if kept.all() else table[kept]), kept
