"""Images whose pixels are spectra: a cube becomes a table of samples, and what was found becomes maps again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gmcr.errors import InputError
from gmcr.validation import BoolArray, FloatArray, as_numbers

CHANNEL_WORDS = ("channel", "wave", "band", "lambda", "shift", "energy", "freq", "mass", "mz", "m/z", "ppm")


@dataclass(frozen=True, eq=False, repr=False)
class Pixels:
    """Where the samples of an unfolded cube stand in its image.

    Attributes
    ----------
    kept : bool, of the image's shape; true where a pixel is a sample. Samples come in the order of the pixels,
        the last dimension running fastest
    dims : names of the image's dimensions, where the cube had them
    coords : by dimension, positions of its pixels, where the cube had them
    """

    kept: BoolArray
    dims: tuple[str, ...] | None = None
    coords: dict[str, Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the image, such as (y, x)."""
        return self.kept.shape

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each sample, its pixel's position: "(y, x)", counted from 0."""
        return tuple(f"({', '.join(map(str, position))})" for position in np.argwhere(self.kept).tolist())

    def refold(self, values: Any) -> Any:
        """Values of the samples as maps; pixels that are no samples are NaN.

        Parameters
        ----------
        values : (samples,) or (samples, K), such as concentrations or supports

        Returns
        -------
        (y, x) or (y, x, K) array of floats; an xarray.DataArray if the cube was one
        """
        array = as_numbers(values, "values", copy=False)
        count = int(self.kept.sum())
        if array.ndim not in (1, 2) or len(array) != count:
            raise InputError(f"values must have {count} rows, one per sample, but has shape {array.shape}.")
        maps = np.full(self.shape + array.shape[1:], np.nan)
        maps[self.kept] = array
        if self.dims is None:
            return maps
        from xarray import DataArray

        return DataArray(maps, dims=self.dims + ("component",) * (array.ndim - 1), coords=self.coords)

    def __repr__(self) -> str:
        return f"<Pixels: {' x '.join(map(str, self.shape))}, {int(self.kept.sum())} of them samples>"


def unfold(
    cube: Any, mask: Any = None, *, channel_axis: int | str | None = None
) -> tuple[FloatArray, Pixels]:
    """A cube as a table of samples, and where each of them stood.

    Parameters
    ----------
    cube : (y, x, channels) array, masked array or xarray.DataArray; more dimensions than two may come before the
        channels
    mask : bool, of the image's shape; true where a pixel is to be left out. Pixels that are NaN or masked in
        every channel are left out in any case; a single masked entry is a missing one
    channel_axis : dimension of the channels, by number or name. Without it, that of a DataArray whose name says
        so (channel, wavelength, shift, energy, ...), else the last one

    Returns
    -------
    D : (samples, channels); shares its memory with the cube where it can
    pixels : Pixels, whose `refold` turns concentrations into maps

    Examples
    --------
    >>> import numpy as np
    >>> from gmcr import unfold
    >>> cube = np.arange(24.0).reshape(2, 3, 4)
    >>> cube[0, 1] = np.nan
    >>> D, pixels = unfold(cube)
    >>> D.shape
    (5, 4)
    >>> pixels.refold(D.max(axis=1))
    array([[ 3., nan, 11.],
           [15., 19., 23.]])
    """
    named = hasattr(cube, "dims") and hasattr(cube, "coords")
    dims = tuple(map(str, cube.dims)) if named else None
    masked = np.ma.getmask(cube) if isinstance(cube, np.ma.MaskedArray) else np.ma.nomask
    if masked is not np.ma.nomask:
        array = as_numbers(np.ma.getdata(cube), "cube")
        array[masked] = np.nan
    else:
        array = as_numbers(cube, "cube", copy=False)
    if array.ndim < 3 or 0 in array.shape:
        raise InputError(
            f"cube must be (y, x, channels), with at least one of each, but has shape {array.shape}."
        )
    channels, _ = channel_dimension(channel_axis, array.ndim, dims)
    array = np.moveaxis(array, channels, -1)
    shape = array.shape[:-1]
    kept = ~np.isnan(array[..., 0])
    if not kept.all():  # only pixels whose first entry is missing are looked at in full
        kept[~kept] = ~np.isnan(array[~kept]).all(axis=-1)
    if mask is not None:
        left_out = np.asarray(mask)
        if left_out.dtype != bool or left_out.shape != shape:
            raise InputError(
                f"mask must be bool and of shape {shape}, true where a pixel is to be left out, "
                f"but is {left_out.dtype} of shape {left_out.shape}."
            )
        kept &= ~left_out
    if not kept.any():
        raise InputError("cube has no pixel left; check the mask and the missing entries.")
    samples = array.reshape(-1, array.shape[-1]) if kept.all() else array[kept]
    if dims is None:
        return np.ascontiguousarray(samples), Pixels(kept)
    image = tuple(name for index, name in enumerate(dims) if index != channels)
    coords = {name: np.asarray(cube.coords[name]) for name in image if name in cube.coords}
    return np.ascontiguousarray(samples), Pixels(kept, image, coords)


def names_channels(name: str) -> bool:
    """Whether a dimension's name says that it holds the channels."""
    return name.lower() in ("wl", "wn", "nm") or any(word in name.lower() for word in CHANNEL_WORDS)


def channel_dimension(told: int | str | None, ndim: int, dims: tuple[str, ...] | None) -> tuple[int, str]:
    """Which dimension holds the channels, and what says so."""
    if isinstance(told, str):
        if dims is None or told not in dims:
            raise InputError(
                f"channel_axis {told!r} is no dimension of the cube; it has {dims or 'no names'}."
            )
        return dims.index(told), "as told"
    if told is not None:
        if not -ndim <= told < ndim:
            raise InputError(f"channel_axis {told} is no dimension of the cube; it has {ndim}.")
        return told % ndim, "as told"
    speaking = [index for index, name in enumerate(dims or ()) if names_channels(name)]
    return (speaking[0], "by its name") if len(speaking) == 1 else (ndim - 1, "by custom")
