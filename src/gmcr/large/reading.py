"""Samples of a file that is larger than memory: which array holds them, and in which blocks it is read."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np

from gmcr.errors import FileError, InputError
from gmcr.io.cells import Cells
from gmcr.io.cube import channel_dimension
from gmcr.io.formats import Asked
from gmcr.io.limits import spoken
from gmcr.io.opening import FilePath, check_exists
from gmcr.io.variables import axis_for, chosen_among
from gmcr.large.arrays import LazySamples
from gmcr.large.stores import Part, arrays_of, is_zarr, known_as

BLOCK = 32_000_000  # bytes of a block, as numbers of double precision, where nothing else is said
MOST_NATIVE = 16  # times that: what a file has in one piece must be read as one


def read_lazily(
    path: FilePath,
    samples_in: str = "auto",
    *,
    name: str | None = None,
    channel_axis: int | None = None,
    block: float = BLOCK,
) -> LazySamples:
    """The samples of a zarr folder, or of an HDF5, NPY or Parquet file, in blocks; none is read yet.

    Parameters
    ----------
    path, name, channel_axis : as in `gmcr.read`
    samples_in : "rows" or "auto"; samples in columns cannot be read in parts
    block : bytes of a block, about

    Returns
    -------
    LazySamples, which `GMCR.fit`, `decode` and `transform` take; its `data` is a dask array

    Examples
    --------
    >>> from gmcr import GMCR
    >>> from gmcr.large.reading import read_lazily
    >>> samples = read_lazily("cube.zarr")  # doctest: +SKIP
    >>> model = GMCR().fit(samples)  # doctest: +SKIP
    """
    place = Path(path) if is_zarr(Path(path)) else check_exists(path)
    asked = Asked(samples_in, name=name, channel_axis=channel_axis)
    variables = arrays_of(place)
    chosen = chosen_among(path, variables, asked)
    part: Any = chosen.values
    if not isinstance(part, Part) or 0 in part.shape or part.ndim < 2:
        raise InputError(
            f"{path} {chosen.name!r} has shape {part.shape}; give samples x channels, or a cube."
        )
    told = [f"The array {chosen.name!r} was taken." if chosen.name else "The array was taken."]
    axis = axis_for(chosen, [one for one in variables if one is not chosen], told)
    where, why = part.ndim - 1, "by custom"
    if part.ndim > 2 or channel_axis is not None:
        where, why = channel_dimension(channel_axis, part.ndim, chosen.dims or None)
    if why == "by custom" and axis is not None:
        where = axis.dimension
    if part.ndim == 2 and (where == 0 or samples_in == "columns"):
        raise InputError(
            f"{path} has its samples in columns, of which no part can be read by itself; "
            "store it as samples x channels."
        )
    part = replace(part, channels=where)
    values = axis.values if axis is not None and axis.values.size == part.shape[-1] else None
    names = chosen.labels[1]
    if names is not None:
        numbers = Cells.parse(names).numbers
        values, names = (numbers, None) if np.isfinite(numbers).all() else (None, names)
    laid = " x ".join(map(str, part.shape[:-1]))
    told.append(f"It has {laid} {'pixels' if part.ndim > 2 else 'samples'} of {part.shape[-1]} channels.")
    data = blocks_of(part, block, known := known_as(place))
    told.append(f"It is read in {data.npartitions} blocks of up to {spoken(8 * prod(data.chunksize))}.")
    unit = None if axis is None or values is None else axis.unit
    labels = None if names is None else tuple(names)
    return LazySamples(data, None, values, labels, known, unit, tuple(told))


def blocks_of(part: Part, block: float, known: str) -> Any:
    """A dask array of a part of a file, in blocks that are whole native chunks and of about so many bytes."""
    shape, native = part.shape[:-1], part.chunks[:-1]
    each = 8 * part.shape[-1]  # bytes of a sample
    own = prod(native) * each
    if own > MOST_NATIVE * block:
        raise FileError(
            f"{part.path} is stored in pieces of {spoken(own)}, which are read whole; "
            "store it in smaller chunks, or allow more with --memory."
        )
    if getattr(part, "ends", ()):
        chunks: Any = (_row_groups(part, block // each), -1)
    else:
        sizes = list(native)
        for dimension in reversed(range(len(shape))):  # whole lines first
            times = max(int(block // (prod(sizes) * each)), 1)
            sizes[dimension] = min(sizes[dimension] * times, shape[dimension])
        chunks = (*sizes, -1)
    return da.from_array(
        part,
        chunks=chunks,
        name=f"gmcr-{dask_name(known, part)}",
        lock=False,
        asarray=False,
        inline_array=True,
        meta=np.empty((0,) * part.ndim, part.dtype),
    )


def dask_name(known: str, part: Part) -> str:
    from dask.base import tokenize

    return str(tokenize(known, part.name, part.channels))


def _row_groups(part: Any, most: float) -> tuple[int, ...]:
    """Row groups put together up to so many rows."""
    sizes, held = list[int](), 0
    for size in np.diff((0, *part.ends)).tolist():
        if held and held + size > most:
            sizes.append(held)
            held = 0
        held += size
    return (*sizes, held)
